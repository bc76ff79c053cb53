"""What refutes two readings about SGD: a chain that leaves its ball, and weights that depend on the iterates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate import certificate
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]
Law = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class Chain:
    """Two steps of SGD on f with f'(x) = L (x - a) below a and mu (x - a) above it, in exact numbers.

    Attributes:
        minimiser, mu, L: of f; |minimiser| = r.
        eta: step.
        sigma2: bound on the variance of the gradient.
        R: radius, the start, at which Definition 1 holds.
        noise: point -> the law of the next iterate as (probability, value).
    """

    minimiser: Fraction
    mu: Fraction
    L: Fraction
    eta: Fraction
    sigma2: Fraction
    R: Fraction
    noise: dict[Fraction, Law]

    def ahead(self, x: Fraction) -> Fraction:
        """x - eta f'(x)."""
        return x - self.eta * (self.L if x < self.minimiser else self.mu) * (x - self.minimiser)

    def second_moments(self, steps: int) -> list[Fraction]:
        """E (x^k)^2 for k = 0..steps."""
        law = {self.R: Fraction(1)}
        found = [self.R**2]
        for _ in range(steps):
            after: dict[Fraction, Fraction] = {}
            for x, mass in law.items():
                for p, y in self.noise[x]:
                    after[y] = after.get(y, Fraction(0)) + mass * p
            law = after
            found.append(sum((mass * x**2 for x, mass in law.items()), Fraction(0)))
        return found


def leaving_chain(R: Fraction = Fraction(351, 100)) -> Chain:
    """A chain that is stable in the sense of Definition 1 at R and leaves the ball in mean square at its second step.

    mu = 1/4, L = eta = r = 1, sigma^2 = 4: the least one-step radius of this f is about 3.5058. From R the noise puts
    the next iterate at 0 or at y > R; from 0 the step goes to the minimiser 1, from y it stays outside.

    Args:
        R: in [3.506, 3.52], about; the verifier decides.
    """
    f = Chain(Fraction(1), Fraction(1, 4), Fraction(1), Fraction(1), Fraction(4), R, {})
    mean, spread = f.ahead(R), f.eta**2 * f.sigma2
    y = mean + spread / mean  # two values of this variance, one of them 0
    noise: dict[Fraction, Law] = {R: ((1 - mean / y, Fraction(0)), (mean / y, y))}
    for x in (Fraction(0), y):
        middle = f.ahead(x)
        noise[x] = ((Fraction(1, 2), middle - 2), (Fraction(1, 2), middle + 2))
    return Chain(f.minimiser, f.mu, f.L, f.eta, f.sigma2, R, noise)


def chain_certificate(claim: Claim) -> certificate.Certificate:
    """The certificate against definition-1/for-all-time."""
    chain = leaving_chain()
    return certificate.chain_certificate(
        claim,
        {"minimiser": chain.minimiser, "mu": chain.mu, "L": chain.L},
        eta=chain.eta,
        r=abs(chain.minimiser),
        sigma2=chain.sigma2,
        start=chain.R,
        noise={x: list(law) for x, law in chain.noise.items()},
        steps=2,
        left=chain.second_moments(2)[-1],
        R=chain.R,
        note="f is mu-strongly convex and L-smooth; the same function with a second coordinate is two-dimensional",
    )


def for_all_time(claim: Claim, out: Path) -> Found:
    """Evidence against definition-1/for-all-time, and the certificate's path."""
    made = chain_certificate(claim)
    path = certificate.write(made, out / "certificates")
    left, right = Fraction(made["left_value"]), Fraction(made["right_value"])
    text = (
        f"kappa=4, eta=1/L, r=1, sigma/L=2 in one dimension: Definition 1 holds at R={made['R']}, and after two steps "
        f"E||x||^2 = {float(left):.6g} > R^2 = {float(right):.6g}; the stand-alone verifier agrees"
    )
    return [Evidence("certificate", "refuted", text, tightness=float(left / right))], path


def larger_of_two() -> list[dict[str, Any]]:
    """Two clients, each at 0 or 1 with equal chances; the server selects the one that is farther out."""
    half = [Fraction(0), Fraction(1)]
    return [
        {"p": Fraction(1, 4), "x": [[a], [b]], "weights": [Fraction(int(a >= b)), Fraction(int(b > a))]}
        for a in half
        for b in half
    ]


def finite_certificate(claim: Claim) -> certificate.Certificate:
    """The certificate against proposition-1/dependent-weights."""
    outcomes = larger_of_two()
    left = Fraction(0)
    for outcome in outcomes:
        total = sum(outcome["weights"])
        average = sum(w * x[0] for w, x in zip(outcome["weights"], outcome["x"], strict=True)) / total
        left += outcome["p"] * average**2
    return certificate.finite_certificate(claim, outcomes, Fraction(1, 2), left)


def dependent_weights(claim: Claim, out: Path) -> Found:
    """Evidence against proposition-1/dependent-weights, and the certificate's path."""
    made = finite_certificate(claim)
    path = certificate.write(made, out / "certificates")
    left, right = Fraction(made["left_value"]), Fraction(made["right_value"])
    text = (
        f"two independent clients at 0 or 1, of second moment {right} each; selecting the one farther out gives "
        f"{left}; "
        "the stand-alone verifier agrees"
    )
    return [Evidence("certificate", "refuted", text, tightness=float(left / right))], path
