"""When can the theorem on local Adam's radius be applied, its gradient bound taken on the ball that it speaks of?

"On the Stability Analysis of Open Federated Learning Systems" (Sun, Fernando, Chen, Shahrampour), Theorem 3 with (12):
Assumption 4 bounds every sampled gradient by sigma, Assumption 1 makes f mu-strongly convex, and the radius R of (5) is
to hold for every x in B(0, R). The ball contains a point at distance at least R from the minimiser, so sigma >= mu R.
With r = 0, which is the best case, and

    s = sqrt(eps + sigma^2),  tau = 2 mu eta/s = 1 - C1,  theta = eps/s^2,
    G = (1+beta1)/((1-beta1)(1-beta2)(1-beta1^2/beta2)),

the ratio rho = (mu R/sigma)^2, which has to be at most 1, depends on kappa, tau, theta, beta1, beta2 and d alone:

    rho = (tau^2 kappa d G/(4(1-theta)) + (tau/(1-beta1)) ((d + tau d beta1 + beta1 (2-tau))/sqrt(theta) - d))
          / (1 - kappa + kappa tau).

A radius exists where 1 - kappa C1 = 1 - kappa + kappa tau > 0, and the proof needs C1 >= 0, so tau is in
((kappa-1)/kappa, 1]. Some tau and theta make rho <= 1 at kappa = 1 if and only if beta1 < 1/3 (and beta1^2 < beta2, as
everywhere). It is necessary because, with D = 1 - kappa + kappa tau and w = sqrt(theta), D (rho - 2 beta1/(1-beta1)) is
tau^2 kappa d G/(4(1-theta)) plus 1/(1-beta1) times

    tau d (1/w - 1) + tau^2 beta1 (d - 1)/w + 2 beta1 tau (1/w - 1) + 2 beta1 (kappa - 1)(1 - tau),

none of which is negative, and the first is positive. It is sufficient because rho -> ((d + 2 beta1)/sqrt(theta) -
d)/(1-beta1) as tau -> 0, which goes on to 2 beta1/(1-beta1) < 1 as theta -> 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

THIRD = 1 / 3
# The maximum over sqrt(theta) is taken on a grid that shrinks about the best point, by a factor of 16 each round.
_GRID = 65
_ROUNDS = 12


@dataclass(frozen=True)
class Condition:
    """One condition of Theorem 3.

    Attributes:
        name: the condition.
        holds: whether it does, decided exactly, which it does not where it has no value; None where it is about
            functions, not numbers.
        why: the condition, or what implies it; where it fails, C1, kappa C1 and R too.
    """

    name: str
    holds: bool | None
    why: str


@dataclass(frozen=True)
class Applicability:
    """Whether Theorem 3 can be applied at some numbers.

    Attributes:
        conditions: those that compare numbers, in the claim's order.
        radius: (5), or nan where it has no real value.
        terms: C1..C5, kappa and one_minus_kappa_C1; empty where one of them has no value.
    """

    conditions: tuple[Condition, ...]
    radius: float
    terms: Mapping[str, float]

    @property
    def holds(self) -> bool:
        return all(condition.holds is True for condition in self.conditions)

    @property
    def failed(self) -> tuple[Condition, ...]:
        """Those that do not hold."""
        return tuple(condition for condition in self.conditions if condition.holds is not True)


def largest_condition_number(beta1: Any, beta2: Any, d: Any) -> Array:
    """The largest kappa for which some tau and theta make rho <= 1.

    rho <= 1 is affine in kappa, so this is the maximum over tau and theta of

        (1 - (tau/(1-beta1)) ((d + tau d beta1 + beta1 (2-tau))/sqrt(theta) - d))
        / (tau^2 d G/(4(1-theta)) + 1 - tau).

    Returns:
        float64, of the broadcast shape; above 1 where beta1 < 1/3, nan where not even kappa = 1 is possible
        (beta1 >= 1/3). Below d G/(d G - 1) always.

    Raises:
        ValueError: beta1 outside [0, 1), beta2 outside (beta1^2, 1), d outside the integers in [1, inf).
    """
    beta1, beta2, d = _checked(beta1, beta2, d)
    beta1, beta2, d = np.broadcast_arrays(beta1, beta2, d)
    found = np.empty(beta1.shape)
    for i in np.ndindex(beta1.shape):
        found[i] = math.nan if beta1[i] >= THIRD else _largest(float(beta1[i]), float(beta2[i]), float(d[i]))
    return found


def applicable(
    mu: Any, L: Any, eta: Any, beta1: Any, beta2: Any, eps: Any, sigma: Any, d: Any, r: Any = 0
) -> Applicability:
    """Each condition of Theorem 3 at some numbers, its gradient bound taken on the ball; decided exactly.

    Args:
        mu, L, eta, beta1, beta2, eps, sigma, d, r: the theorem's parameters, as in `theory.evaluate.bound`: numbers,
            fractions or text. Floats count at their binary value.

    Raises:
        ValueError: a parameter outside its domain.
    """
    from theory.calculator import in_numbers
    from theory.catalog import claim as find
    from theory.evaluate import UndefinedError, bound, hypotheses, terms
    from theory.papers.radii import ADAM_ON_THE_BALL

    claim = find(ADAM_ON_THE_BALL)
    numbers, given = in_numbers(
        claim,
        {"mu": mu, "L": L, "eta": eta, "beta1": beta1, "beta2": beta2, "eps": eps, "sigma": sigma, "d": d, "r": r},
    )
    definitions = {name: text for name, text in numbers.definitions.items() if name != numbers.right}
    constants = replace(numbers, hypotheses=(), standing=(), definitions=definitions, right="0")
    values: dict[str, float] = {}
    radius = math.nan
    try:
        found = terms(constants, given)
        values = {name: float(found[name]) for name in claim.where if name in found}
        radius = float(bound(numbers, given))
    except UndefinedError:  # beta2 = 0, kappa C1 = 1, or a radius that is not real
        pass
    conditions = []
    for hypothesis, entry in zip(numbers.conditions, hypotheses(numbers, given), strict=True):
        if hypothesis.relation is None:
            continue
        why = hypothesis.statement
        if entry["holds"] is not True and values:
            why += f"; C1 = {values['C1']:.6g}, kappa C1 = {values['kappa'] * values['C1']:.6g}"
            why += ", (5) is not real" if math.isnan(radius) else f", R = {radius:.6g}"
        conditions.append(Condition(hypothesis.name, entry["holds"], why))
    return Applicability(tuple(conditions), radius, values)


def _growth(beta1: Any, beta2: Any) -> Any:
    """G."""
    return (1 + beta1) / ((1 - beta1) * (1 - beta2) * (1 - beta1**2 / beta2))


def _largest(beta1: float, beta2: float, d: float) -> float:
    """The maximum over tau in (0, 1] and w = sqrt(theta) in (0, 1); beta1 < 1/3.

    With g = d G/(4(1-w^2)) and the momentum term S0 + tau S1, kappa - 1 <= tau (A - tau B)/(1 - tau + g tau^2), where
    A = 1 - S0 and B = S1 + g. In tau its maximum is where A - 2 B tau + (B - A g) tau^2 = 0; over w it is searched,
    where A > 0.
    """
    growth = d * _growth(beta1, beta2)

    def excess(root: Array) -> Array:
        A = 1 - ((d + 2 * beta1) / root - d) / (1 - beta1)
        g = growth / (4 * (1 - root) * (1 + root))
        B = beta1 * (d - 1) / (root * (1 - beta1)) + g
        tau = np.minimum(1.0, A / (B + np.sqrt(np.maximum(B * B - A * (B - A * g), 0.0))))
        return np.asarray(tau * (A - tau * B) / (1 - tau + g * tau * tau))

    low, high = (d + 2 * beta1) / (d + 1 - beta1), 1.0
    best = 0.0
    for _ in range(_ROUNDS):
        roots = np.linspace(low, high, _GRID)[1:-1]
        roots = roots[(roots > low) & (roots < high)]  # the interval may have shrunk to neighbouring floats
        if not len(roots):
            break
        values = excess(roots)
        i = int(np.argmax(values))
        best = max(best, float(values[i]))
        width = 2 * (high - low) / (_GRID - 1)
        low, high = max(low, float(roots[i]) - width), min(high, float(roots[i]) + width)
    return 1 + best


def _checked(beta1: Any, beta2: Any, d: Any) -> tuple[Array, Array, Array]:
    beta1, beta2, d = (np.asarray(value, dtype=np.float64) for value in (beta1, beta2, d))
    _require("beta1", beta1, (beta1 >= 0) & (beta1 < 1), "[0, 1)")
    _require("beta2", beta2, (beta2 > beta1**2) & (beta2 < 1), "(beta1^2, 1)")
    _require("d", d, (d >= 1) & (d == np.floor(d)) & np.isfinite(d), "the integers in [1, inf)")
    return beta1, beta2, d


def _require(name: str, value: Array, inside: Any, domain: str) -> None:
    if not np.all(inside):
        worst = np.broadcast_to(value, np.shape(inside))[~np.asarray(inside)] if np.ndim(inside) else value
        raise ValueError(f"{name}={float(np.ravel(worst)[0])} is outside {domain}")
