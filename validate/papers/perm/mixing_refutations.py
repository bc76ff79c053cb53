"""Certificates against the claims about mixing weights that are false, from an exact computation of their own.

Both sides are computed here by `theory.mixing.exact`; the verifier has its own code. Lemma 3: the change of the weights
is of first order in w^R - w*, the printed bound of second. The rates: with z = 0 the error of the descent does not
depend on lam, the printed bounds do. Theorem 1, Lemmas 14 and 15: clients whose gradients agree at w* and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.claim import Claim
from theory.evaluate import exact
from theory.mixing import exact_projected_gradient, exact_weights
from validate import certificate
from validate.verdict import Evidence

Weights = Sequence[Fraction]
Found = tuple[list[Evidence], Path | None]


@dataclass(frozen=True)
class Instance:
    """Clients f_j = h_j/2 w^2 - b_j w without noise, a run of local SGD, and the descent on the first client's weights.

    Attributes:
        h, b, n, lam: of the clients and of program (2).
        start, step, local_steps, rounds: w^0, gamma, K, R.
        weight_steps: T_a.
    """

    h: tuple[Fraction, ...]
    b: tuple[Fraction, ...]
    n: tuple[Fraction, ...]
    lam: Fraction
    start: Fraction
    step: Fraction = Fraction(1, 4)
    local_steps: int = 1
    rounds: int = 0
    weight_steps: int = 1

    @property
    def minimiser(self) -> Fraction:
        return sum(self.b, Fraction(0)) / sum(self.h, Fraction(0))

    def z(self, w: Fraction) -> list[Fraction]:
        gradients = [h * w - b for h, b in zip(self.h, self.b, strict=True)]
        return [(gradients[0] - g) ** 2 for g in gradients]

    def path(self) -> list[Fraction]:
        points = [self.start]
        for _ in range(self.rounds):
            # K steps on f_j shrink the distance from its minimiser by (1 - gamma h)^K
            shrunk = [(1 - self.step * h) ** self.local_steps for h in self.h]
            ends = [q * points[-1] + (1 - q) * b / h for q, h, b in zip(shrunk, self.h, self.b, strict=True)]
            points.append(sum(ends, Fraction(0)) / len(ends))
        return points

    def best(self, w: Fraction) -> Weights:
        return exact_weights(self.z(w), self.n, self.lam).weights

    def descended(self, w: Fraction, start: Weights | None = None) -> Weights:
        return exact_projected_gradient(self.z(w), self.n, self.lam, self.weight_steps, start)[-1]

    def as_data(self) -> dict[str, Any]:
        functions = [{"h": h, "b": b} for h, b in zip(self.h, self.b, strict=True)]
        own = {key: value for key, value in vars(self).items() if key not in ("h", "b")}
        return {"functions": functions, "client": 0, **own}


def squared(x: Weights, y: Weights) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


def _fractions(*texts: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(text) for text in texts)


# Gradients agree at w* = 0; n = (1, 1), for which one step of the descent is exact.
ALIKE_AT_BEST = Instance(
    _fractions("1", "2"), _fractions("0", "0"), _fractions("1", "1"), Fraction(1, 4), Fraction(1), rounds=2
)
NEAR_BEST = Instance(
    _fractions("1", "2"), _fractions("0", "2"), _fractions("1", "1"), Fraction(2), Fraction(2, 3) + Fraction(1, 100)
)
NO_COSTS = Instance(_fractions("1", "1"), _fractions("0", "0"), _fractions("1", "10"), Fraction(5), Fraction(0))


def made(claim: Claim) -> certificate.Certificate:
    """The certificate against a claim of `REFUTED`."""
    return REFUTED[claim.label](claim)


def _lemma_3(claim: Claim) -> certificate.Certificate:
    i = NEAR_BEST
    parameters: dict[str, Any] = {
        "L": max(i.h),
        "lam": i.lam,
        "n": i.n,
        "zeta": tuple(i.z(i.minimiser)),
        "dist2": (i.start - i.minimiser) ** 2,
    }
    left = math.sqrt(squared(i.best(i.start), i.best(i.minimiser)))
    note = (
        "The left side is of first order in w^R - w*, the right side of second. With the left side squared the claim "
        "is still false: multiply the functions by 100 and lam by 100^2."
    )
    return certificate.mixing_certificate(claim, i.as_data(), parameters, left, exact(claim, parameters), note=note)


def _rate(lam: Fraction) -> Callable[[Claim], certificate.Certificate]:
    def make(claim: Claim) -> certificate.Certificate:
        i = Instance(**{**vars(NO_COSTS), "lam": lam})
        parameters: dict[str, Any] = {"n": i.n, "lam": i.lam, "T_a": Fraction(i.weight_steps)}
        left = squared(i.descended(i.start), i.best(i.start))
        try:
            right: Fraction | float = exact(claim, parameters)
        except ValueError:  # an exponential
            right = float(claim.bound(**parameters))
        note = "All gradients are equal, so z = 0, and a* is proportional to n; lam cancels in the descent."
        return certificate.mixing_certificate(claim, i.as_data(), parameters, left, right, note=note)

    return make


def _order(
    ratio: str, definitions: Mapping[str, str], coefficient: int, instance: Instance, note: str
) -> Callable[[Claim], certificate.Certificate]:
    def make(claim: Claim) -> certificate.Certificate:
        i, points = instance, instance.path()
        if claim.label == "lemma-14":
            before = exact_projected_gradient(i.z(points[1]), i.n, i.lam, i.weight_steps)[-1]
            left = squared(i.descended(points[2], before), before)
        else:
            left = squared(i.descended(points[-1]), i.best(i.minimiser))
        name = next(iter(definitions))
        kappa = {"kappa_modulus": max(i.n) / (2 * i.lam), "kappa_theorem_1": 1 / (i.lam * min(i.n))}[name]
        right: Fraction | float = coefficient * (1 - 1 / kappa) ** i.weight_steps
        if ratio.startswith("exp"):
            right = coefficient * math.exp(-i.weight_steps / kappa)
        return certificate.mixing_certificate(
            claim,
            i.as_data(),
            {},
            left,
            right,
            coefficient=str(coefficient),
            ratio=ratio,
            definitions=definitions,
            note=note,
        )

    return make


_MODULUS = {"kappa_modulus": "amax(n)/(2*lam)"}
_THEOREM_1 = {"kappa_theorem_1": "1/(lam*amin(n))"}
_SAME = "All gradients are 0 at w* = 0, so zbar_i(w*) = 0, and there is no noise: only the term in T_a is left."


def _with(**changes: Any) -> Instance:
    return Instance(**{**vars(ALIKE_AT_BEST), **changes})


REFUTED: dict[str, Callable[[Claim], certificate.Certificate]] = {
    "lemma-3": _lemma_3,
    "theorem-1-alpha-rate": _rate(Fraction(10)),
    "lemma-14-alpha-rate": _rate(Fraction(5)),
    "theorem-1": _order(
        "exp(-1/kappa_theorem_1)",
        _THEOREM_1,
        1,
        _with(lam=Fraction(1), weight_steps=6),
        _SAME + " gamma = Theta(log(RK)/(mu RK)) is any positive number at a given R and K.",
    ),
    "lemma-14": _order("1-1/kappa_modulus", _MODULUS, 6, _with(start=Fraction(8, 5), weight_steps=8), _SAME),
    "lemma-15": _order("1-1/kappa_modulus", _MODULUS, 2, _with(weight_steps=9), _SAME),
}


def refutation(claim: Claim, out: Path) -> Found:
    """Evidence against a claim of `REFUTED`, and the certificate's path."""
    data = made(claim)
    path = certificate.write(data, out / "certificates")
    left, right = (float(Fraction(data[side])) for side in ("left_value", "right_value"))
    clients = ", ".join(f"({f['h']}, {f['b']})" for f in data["functions"])
    text = (
        f"clients f_j = h_j/2 w^2 - b_j w with (h, b) = {clients}, n = ({', '.join(data['n'])}), lam = {data['lam']}, "
        f"w^0 = {data['start']}, R = {data['rounds']}: left side {left:.6g}, right side {right:.6g}"
    )
    if "ratio" in data:
        text += (
            f" at T_a = {data['weight_steps']}; zbar_i(w*) = 0 and delta = 0, so that what is left of it tends to 0 "
            f"with T_a, whatever constants it hides, and the left side stays"
        )
    ratio = left / right if right > 0 and "ratio" not in data else None
    return [Evidence("certificate", "refuted", f"{text}; the stand-alone verifier agrees", tightness=ratio)], path
