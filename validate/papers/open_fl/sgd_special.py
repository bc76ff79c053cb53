"""Proofs of the claims about SGD.

The proofs are identities between inner products, checked by algebra for every mu, L and eta; what is left of each is a
sum of terms whose sign is plain, and the signs are checked too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.algebra import at_most, checked_lines, same
from validate.papers.open_fl.sgd_instances import worst_instance
from validate.papers.open_fl.sgd_refutations import dependent_weights, for_all_time
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]


def special(claim: Claim, out: Path) -> Found:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    find = _SPECIAL.get(claim.label)
    return find(claim, out) if find is not None else ([], None)


# --- proofs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Vector:
    """A combination of x, x* and g (or of others), coefficients as formulas."""

    coefficients: tuple[Any, ...]

    def __add__(self, other: _Vector) -> _Vector:
        return _Vector(tuple(a + b for a, b in zip(self.coefficients, other.coefficients, strict=True)))

    def __sub__(self, other: _Vector) -> _Vector:
        return self + other * -1

    def __mul__(self, factor: Any) -> _Vector:
        return _Vector(tuple(a * factor for a in self.coefficients))


def _basis(size: int) -> list[_Vector]:
    return [_Vector(tuple(int(i == j) for j in range(size))) for i in range(size)]


def _product(one: _Vector, other: _Vector) -> Any:
    """<one, other> in symbols for the inner products of the basis."""
    import sympy

    size = len(one.coefficients)
    gram = [[sympy.Symbol(f"G{min(i, j)}{max(i, j)}") for j in range(size)] for i in range(size)]
    return sum(a * b * gram[i][j] for i, a in enumerate(one.coefficients) for j, b in enumerate(other.coefficients))


def _zero(expression: Any) -> bool:
    """Whether a rational function is 0: the numerator over a common denominator, multiplied out."""
    import sympy

    numerator, _ = sympy.fraction(sympy.together(expression))
    return bool(sympy.expand(numerator) == 0)


@cache
def affine_lines() -> dict[str, bool]:
    """||x - eta g||^2 <= (1+q) (c ||x||^2 + (1-c) ||x*||^2) on the whole class, by an identity and its signs."""
    import sympy

    mu, L, eta = sympy.symbols("mu L eta", positive=True)
    x, star, g = _basis(3)
    u = x - star
    c, s = 1 - eta * (L + mu) / 2, eta * (L - mu) / 2
    q = s**2 / (c * (1 - c))
    p, e = x * c + star * (1 - c), g - u * ((L + mu) / 2)
    left = _product(x - g * eta, x - g * eta)
    right = (1 + q) * (c * _product(x, x) + (1 - c) * _product(star, star))
    ball = _product(g - u * mu, u * L - g)
    rest = p * q + e * eta
    identity = left - (right - (1 + 1 / q) * eta**2 * ball - _product(rest, rest) / q)
    a = eta * L  # kappa = 1: g = L u
    alike = _product(x - u * a, x - u * a) - ((1 - a) * _product(x, x) + a * _product(star, star))
    return {
        "the identity, kappa > 1": _zero(identity),
        "its ball is the class: <g-mu u, Lu-g> = ((L-mu)/2)^2 ||u||^2 - ||e||^2": _zero(
            ball - ((L - mu) / 2) ** 2 * _product(u, u) + _product(e, e)
        ),
        # mu = L - gap, eta = 1/(L + more)
        "c >= 0": at_most("0", "1 - (2*mu + gap)/(2*(mu + gap + more))"),
        "kappa = 1": _zero(alike + a * (1 - a) * _product(u, u)),
    }


@cache
def fixed_point_lines() -> dict[str, bool]:
    """The affine bound keeps R(eta) and every larger radius; R(eta) increases to R(1/L)."""
    import sympy

    mu, L, eta, r2, s2 = sympy.symbols("mu L eta r2 sigma2", positive=True)
    c, s = 1 - eta * (L + mu) / 2, eta * (L - mu) / 2
    slope, shift = c + s**2 / (1 - c), (1 - c) + s**2 / c
    A = (L + mu) / 2
    square = A * (A - eta * mu * L) / ((1 - eta * A) * mu * L) * r2 + eta * A / (mu * L) * s2
    growth = A / (mu * L) * ((L - mu) / 2) ** 2 / (1 - eta * A) ** 2 * r2 + A / (mu * L) * s2
    return {
        "fixed point": _zero(slope * square + shift * r2 + eta**2 * s2 - square),
        "slope below 1": _zero(1 - slope - 2 * eta * mu * L / (L + mu)),
        "slope not negative": at_most("0", "1 - 2*mu*(mu+gap)/((2*mu+gap)*(mu+gap+more))"),
        "R(eta) increases": _zero(sympy.diff(square, eta) - growth),
        "R(1/L)": _zero(square.subs(eta, 1 / L) - (L / mu + 1) / 2 * (r2 + s2 / L**2)),
    }


def attained_lines() -> dict[str, bool]:
    """The angle at which the affine bound is attained, and when there is one (eta = 1/L, two or more dimensions)."""
    import sympy

    c, s, R, r, t, W = sympy.symbols("c s R r t W", positive=True)
    P = c**2 * R**2 + (1 - c) ** 2 * r**2 + 2 * c * (1 - c) * R * r * t
    Q = R**2 + r**2 - 2 * R * r * t
    m = c * (1 - c)
    root_p, root_q = sympy.sqrt(W) * m / sympy.sqrt(m * (m + s**2)), sympy.sqrt(W) * s / sympy.sqrt(m * (m + s**2))
    return {
        "P + c(1-c)Q = W": _zero(P + m * Q - (c * R**2 + (1 - c) * r**2)),
        "both norms lie on it": _zero(root_p**2 + m * root_q**2 - W),
        "their sum attains the bound": _zero((root_p + s * root_q) ** 2 - (1 + s**2 / m) * W),
        # c = s = (1 - 1/kappa)/2
        "the cosine is R/((kappa+1) r)": same(
            "(R**2 + r**2 - 2*kappa/(kappa+1)*((1-1/kappa)/2*R**2 + (1+1/kappa)/2*r**2))/(2*R*r)", "R/((kappa+1)*r)"
        ),
        "at most 1 up to sigma^2 = (2 kappa+1) L^2 r^2": same(
            "(kappa+1)**2*r**2 - (kappa+1)/2*(r**2+s2)", "(kappa+1)/2*((2*kappa+1)*r**2 - s2)"
        ),
    }


def printed_lines() -> dict[str, bool]:
    """Printed radius >= corrected radius; T = R - r, T^2 = max(3, kappa)(2 r^2 + s2), s2 = (sigma/L)^2."""
    small = "((1+3*b)/(1+b))"  # kappa in [1, 3)
    return {
        "kappa >= 3": at_most("(4+z)/2*(r**2+s2)", "r**2 + 2*r*T + (3+z)*(2*r**2+s2)"),
        "kappa < 3": at_most(f"({small}+1)/2*(r**2+s2)", "r**2 + 2*r*T + 3*(2*r**2+s2)"),
    }


def _convexity(count: int = 2) -> bool:
    """(1-t)||a||^2 + t||b||^2 - ||(1-t)a + tb||^2 = t(1-t) ||a-b||^2."""
    import sympy

    t = sympy.Symbol("t")
    a, b = _basis(count)
    mixed = a * (1 - t) + b * t
    gap = (1 - t) * _product(a, a) + t * _product(b, b) - _product(mixed, mixed)
    return _zero(gap - t * (1 - t) * _product(a - b, a - b))


_SHARE = "one more client of weight w: the average moves by the share w/(W+w)"


def _averages() -> dict[str, bool]:
    return {
        "the ball is convex": _convexity(),
        _SHARE: same("(W*a + w*b)/(W+w)", "(1 - w/(W+w))*a + w/(W+w)*b"),
    }


_ONE_STEP = "E||x-eta g||^2 = ||x-eta grad f||^2 + eta^2 Var by unbiasedness; the affine bound of the class"


def _theorem(claim: Claim, out: Path) -> Found:
    lines = affine_lines() | fixed_point_lines() | printed_lines()
    how = f"{_ONE_STEP}, kept from a radius on that the printed one is never below"
    return [checked_lines(lines, how), _ratios(claim)], None


def _corrected(claim: Claim, out: Path) -> Found:
    lines = affine_lines() | fixed_point_lines() | attained_lines()
    proof = checked_lines(lines, f"{_ONE_STEP}; its fixed point; the instance that attains it")
    return [proof, _attained()], None


def _uniform(claim: Claim, out: Path) -> Found:
    lines = affine_lines() | fixed_point_lines() | _averages()
    how = f"{_ONE_STEP}, in expectation over a random iterate; averages by convexity and independence, client by client"
    return [checked_lines(lines, how)], None


def _ratios(claim: Claim) -> Evidence:
    """Printed over exact, in two or more dimensions and in one; r = 1, L = 1, eta = 1/L."""
    from theory.stability import exact_radius

    kappas, noises = (1.0, 3.0, 10.0, 100.0, 1000.0), (0.0, 0.1, 1.0)
    table: dict[str, list[float]] = {}
    for kappa in kappas:
        own: dict[str, Any] = {"mu": 1 / kappa, "L": 1.0, "r": 1.0}
        ratios = [float(claim.bound(**own, sigma=s)) / float(exact_radius(**own, sigma=s)) for s in noises]
        table[f"{kappa:g}"] = [round(ratio, 4) for ratio in ratios]
    rows = "; ".join(f"kappa={kappa}: {', '.join(map(str, row))}" for kappa, row in table.items())
    text = f"the printed radius over the least one of the class (d >= 2, r=1, sigma/L = 0, 0.1, 1): {rows}"
    return Evidence("exact", "holds", text, data={"sigma/L": list(noises), "printed/exact": table})


def _attained() -> Evidence:
    """At 0.99 of the radius an explicit quadratic leaves the ball, where it is claimed to be the least."""
    from theory.stability import noise_threshold, uniform_radius

    broken, tried, best = 0, 0, 0.0
    for kappa in (1.0, 1.5, 3.0, 10.0, 100.0, 1000.0):
        own: dict[str, Any] = {"mu": 1 / kappa, "L": 1.0, "r": 1.0}
        for sigma in (0.0, 0.1, 1.0, float(noise_threshold(**own))):
            radius = float(uniform_radius(**own, sigma=sigma))
            for share in (0.99, 1.0):
                start = share * radius
                scenario = worst_instance(**own, sigma=sigma, R=start)
                norm = float(np.sqrt(scenario.moments().squared_iterate_norm[1]))
                if share < 1:
                    broken, tried = broken + (norm > start), tried + 1
                else:
                    best = max(best, norm / radius)
    text = (
        f"at 0.99 of the radius {broken} of {tried} explicit quadratics of two dimensions leave the ball (kappa 1 to "
        f"1000, sigma up to L r sqrt(2 kappa+1)); from the radius itself the step reaches {best:.9f} of it"
    )
    return Evidence("exact", "holds" if broken == tried else "fails", text, tightness=best)


def _lemma4(claim: Claim, out: Path) -> Found:
    lines = {
        "a convex combination": same("x - eta*D", "(1-eta*L)*x + eta*L*(x - D/L)"),
        "the ball is convex": _convexity(),
    }
    return [checked_lines(lines, "x - eta D lies between x and x - D/L, with the share eta L in (0, 1]")], None


def _proposition(claim: Claim, out: Path) -> Found:
    how = "by induction over the clients that are selected; where nobody is, the model is kept"
    return [checked_lines(_averages(), how)], None


def _second_moments(claim: Claim, out: Path) -> Found:
    how = "E of sum_i (share of i) ||x_i||^2 factors by independence, and the shares sum to 1"
    return [checked_lines(_averages(), how)], None


def _definition(claim: Claim, out: Path) -> Found:
    text = (
        "a definition has nothing to be proved; SGD on the class has it exactly from theory.stability.exact_radius on "
        "(theorem-2/corrected)"
    )
    return [Evidence("algebra", "undecided", text)], None


_SPECIAL: dict[str, Callable[[Claim, Path], Found]] = {
    "definition-1": _definition,
    "definition-1/for-all-time": for_all_time,
    "proposition-1": _proposition,
    "proposition-1/second-moments": _second_moments,
    "proposition-1/dependent-weights": dependent_weights,
    "lemma-4": _lemma4,
    "theorem-2": _theorem,
    "theorem-2/corrected": _corrected,
    "theorem-2/corrected-2": _uniform,
    "theorem-2/corrected-3": _uniform,
}
