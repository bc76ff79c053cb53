"""Who takes part in a round, and the moments of the weights with which the server adds up what they send.

The server's step is theta+ = theta + sum_n c_n (w_n - theta), where c_n = 0 for those who are absent; a round in which
nobody takes part leaves theta as it is ("keep"), makes it 0 ("zero"), or is left out by conditioning ("condition").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, rational_array, to_float

Array = NDArray[Any]
Aggregation = Literal["unbiased", "normalised"]
Empty = Literal["keep", "zero", "condition"]


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """Client n takes part in round k with probability p_n^k, independently of all else.

    Attributes:
        p: probabilities in (0, 1]: one for all, (N,), or (K, N). Kept as a read-only array: of fractions when every
            entry given is an integer, a Fraction or text such as ``"1/2"``, and of float64 as soon as one is a float.

    Raises:
        ValueError: a probability outside (0, 1] (the message gives its index), or more than two axes.
    """

    p: Any

    def __post_init__(self) -> None:
        p = rational_array("p", self.p, "(0, 1]") if _rational(self.p) else float_array("p", self.p, "(0, 1]")
        if p.ndim > 2 or p.size == 0:
            raise ValueError(f"p has shape {p.shape}, not (), (N,) or (K, N)")
        outside = np.argwhere((p <= 0) | (p > 1))
        if len(outside):
            index = tuple(int(i) for i in outside[0])
            where = f"[{', '.join(map(str, index))}]" if index else ""
            raise ValueError(f"p{where}={p[index]} is outside (0, 1]")
        p.flags.writeable = False
        object.__setattr__(self, "p", p)

    @property
    def exact(self) -> bool:
        """Whether the probabilities are fractions."""
        return bool(self.p.dtype == object)


@dataclass(frozen=True)
class UniformChoice:
    """S of the N clients take part, all subsets of that size being equally likely.

    Attributes:
        size: S, an integer in 1..N (N is known, and checked, only when it is used).
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer("size", self.size, 1))


Participation = Bernoulli | UniformChoice


@dataclass(frozen=True, eq=False)
class WeightMoments:
    """Moments of the aggregation weights c_n of one round (0 for those absent).

    Attributes:
        mean: (N,), E[c_n].
        second: (N, N), E[c_n c_m].
        empty: P(nobody takes part); 0 after conditioning.
    """

    mean: Array
    second: Array
    empty: Any


def full() -> Bernoulli:
    """Everybody takes part in every round."""
    return Bernoulli(1)


def round_probabilities(participation: Participation, clients: int, round: int) -> Array:
    """(N,), P(client n takes part in this round); fractions where `participation` is exact.

    Raises:
        ValueError: when p or S does not fit `clients`, or p has no row for `round`.
    """
    clients, round = integer("clients", clients, 1), integer("round", round, 0)
    if isinstance(participation, UniformChoice):
        size = _size(participation, clients)
        return np.full(clients, Fraction(size, clients), dtype=object)
    if not isinstance(participation, Bernoulli):
        raise ValueError(f"participation={participation!r} is neither Bernoulli nor UniformChoice")
    p: Array = participation.p
    if p.ndim and p.shape[-1] != clients:
        raise ValueError(f"p has shape {p.shape}, which does not fit clients={clients}")
    if p.ndim == 2:
        if round >= len(p):
            raise ValueError(f"round={round} is outside the integers in [0, {len(p) - 1}], the rows of p")
        return p[round].copy()
    return np.broadcast_to(p, (clients,)).copy()


def probabilities(participation: Participation, clients: int, rounds: int) -> Array:
    """(K, N) float64, P(client n takes part in round k), for k < K = `rounds`.

    S/N for `UniformChoice`. A schedule p of shape (K', N) must have K' >= K.

    Raises:
        ValueError: as `round_probabilities`.
    """
    rounds = integer("rounds", rounds, 0)
    if isinstance(participation, Bernoulli) and participation.p.ndim == 2:
        if rounds > len(participation.p):
            raise ValueError(f"rounds={rounds} is outside the integers in [0, {len(participation.p)}], the rows of p")
        round_probabilities(participation, clients, 0)
        return to_float(participation.p[:rounds]).copy()
    row = to_float(round_probabilities(participation, clients, 0))
    return np.tile(row, (rounds, 1))


def weight_moments(
    participation: Participation,
    clients: int,
    round: int,
    aggregation: Aggregation = "unbiased",
    empty: Empty = "keep",
    *,
    exact: bool | None = None,
) -> WeightMoments:
    """Mean and second moments of the aggregation weights of one round.

    Unbiased: c_n = 1_n/(N p_n) (1_n/S under `UniformChoice`, where p_n = S/N). Normalised: c_n = 1_n/|A|.
    For "keep" and "zero" the moments are the unconditional ones, with c = 0 in an empty round; for "condition" they are
    conditional on somebody taking part.

    Normalised Bernoulli weights need E[c_n c_m] = p_n p_m E[(2 + X)^-2], X the number of the others present. In
    fractions, the Poisson-binomial law of |A| comes from dynamic programming, and that of X by dividing out two factors
    of the generating function (O(N^3), each pair of distinct probabilities once). In float64,
    E[(2 + X)^-2] = int_0^inf u e^(-2u) E[e^(-uX)] du by a double-exponential rule, for all pairs in one matrix product.

    Args:
        participation: `Bernoulli` or `UniformChoice`.
        clients: N.
        round: k, the row of a (K, N) schedule.
        aggregation: "unbiased" or "normalised".
        empty: "keep", "zero" or "condition".
        exact: fractions (True), float64 (False), or fractions iff the participation is exact (None): integers,
            Fractions and text in p count as exact, and so does `UniformChoice`. Floats are taken at their binary value.

    Raises:
        ValueError: an unknown name, or a participation that does not fit `clients` and `round`.
    """
    for name, value, kind in (("aggregation", aggregation, Aggregation), ("empty", empty, Empty)):
        if value not in get_args(kind):
            raise ValueError(f"{name}={value!r} is outside {{{', '.join(get_args(kind))}}}")
    p = round_probabilities(participation, clients, round)
    if exact is not None:
        p = rational_array("p", p) if exact else to_float(p)
    if isinstance(participation, UniformChoice):
        return _uniform(participation.size, p)
    missing, present = _empty_probability(p)
    mean, second = (_unbiased if aggregation == "unbiased" else _normalised)(p)
    if empty == "condition":
        return WeightMoments(mean / present, second / present, 0 * missing)
    return WeightMoments(mean, second, missing)


def _uniform(size: int, p: Array) -> WeightMoments:
    clients = len(p)
    number: Callable[[Fraction], Any] = Fraction if p.dtype == object else float
    together = Fraction(size - 1, size * clients * (clients - 1)) if clients > 1 else Fraction(0)
    second = np.full((clients, clients), number(together), dtype=p.dtype)
    np.fill_diagonal(second, number(Fraction(1, size * clients)))
    return WeightMoments(np.full(clients, number(Fraction(1, clients)), dtype=p.dtype), second, number(Fraction(0)))


def _empty_probability(p: Array) -> tuple[Any, Any]:
    """P(nobody) and P(somebody), the second without cancellation."""
    if p.dtype == object:
        missing = math.prod(1 - q for q in p)
        return Fraction(missing), Fraction(1 - missing)
    if np.any(p == 1):
        return 0.0, 1.0
    log = math.fsum(np.log1p(-p))
    return math.exp(log), -math.expm1(log)


def _unbiased(p: Array) -> tuple[Array, Array]:
    clients = len(p)
    share = Fraction(1, clients) if p.dtype == object else 1 / clients
    second = np.full((clients, clients), share * share, dtype=p.dtype)
    with np.errstate(over="ignore"):  # beyond float64 the moments diverge, which is noticed there
        np.fill_diagonal(second, share * share / p)
    return np.full(clients, share, dtype=p.dtype), second


def _normalised(p: Array) -> tuple[Array, Array]:
    return _normalised_exactly(p) if p.dtype == object else _normalised_in_floats(p)


def _normalised_exactly(p: Array) -> tuple[Array, Array]:
    law = [Fraction(1)]
    for q in p:
        law = _convolve(law, q)
    values = sorted(set(p))
    count = {q: int(np.sum(p == q)) for q in values}
    without = {q: _deconvolve(law, q) for q in values}
    mean = {q: q * sum(w / (1 + x) for x, w in enumerate(without[q])) for q in values}
    square = {q: q * sum(w / (1 + x) ** 2 for x, w in enumerate(without[q])) for q in values}
    pair: dict[tuple[Fraction, Fraction], Fraction] = {}
    for i, q in enumerate(values):
        for r in values[i:]:
            if q == r and count[q] == 1:
                continue
            others = _deconvolve(without[q], r)
            pair[q, r] = pair[r, q] = q * r * sum((w / (2 + x) ** 2 for x, w in enumerate(others)), Fraction(0))
    clients = len(p)
    second = np.empty((clients, clients), dtype=object)
    for n in range(clients):
        for m in range(clients):
            second[n, m] = square[p[n]] if n == m else pair[p[n], p[m]]
    return np.array([mean[q] for q in p], dtype=object), second


def _convolve(law: list[Fraction], q: Fraction) -> list[Fraction]:
    return [
        (law[x] * (1 - q) if x < len(law) else Fraction(0)) + (law[x - 1] * q if x else Fraction(0))
        for x in range(len(law) + 1)
    ]


def _deconvolve(law: list[Fraction], q: Fraction) -> list[Fraction]:
    """The law of the sum without one of its terms, which is 1 with probability q."""
    if q == 1:
        return law[1:]
    rest: list[Fraction] = []
    for x in range(len(law) - 1):
        rest.append((law[x] - (q * rest[x - 1] if x else 0)) / (1 - q))
    return rest


def _normalised_in_floats(p: Array) -> tuple[Array, Array]:
    # E e^(-uX) without the factors of n and m, times p_n p_m, is G(u) a_n(u) a_m(u). All terms are positive, so nothing
    # cancels, whatever the probabilities
    u, weights = _quadrature(1 / (1 + float(p.sum())))
    e = np.exp(-u)
    factors = (1 - p)[:, None] + p[:, None] * e
    logs = np.where(u < 1, np.log1p(p[:, None] * np.expm1(-np.minimum(u, 1))), np.log(factors))
    generating = np.exp(logs.sum(axis=0))
    ratio = p[:, None] / factors
    mean = ratio @ (weights * e * generating)
    second = (ratio * (weights * u * e * e * generating)) @ ratio.T
    np.fill_diagonal(second, ratio @ (weights * u * e * generating))
    return mean, (second + second.T) / 2


def _quadrature(scale: float) -> tuple[Array, Array]:
    """Nodes u and weights of the double-exponential rule u = scale exp(s - exp(-s)) for int_0^inf g(u) du.

    The trapezoidal rule in s, step 1/16; for g analytic on a scale between `scale` and 1 that decays at least as
    exp(-u), its error is below the rounding. g is cut off at u = 60.
    """
    s = np.arange(-4.0, math.log(60 / scale), 1 / 16)
    u = scale * np.exp(s - np.exp(-s))
    return u, u * (1 + np.exp(-s)) / 16


def _rational(p: Any) -> bool:
    if isinstance(p, np.ndarray) and p.dtype != object:
        return p.dtype.kind in "iuU"
    if isinstance(p, (list, tuple, np.ndarray)):
        return all(_rational(entry) for entry in (p.ravel() if isinstance(p, np.ndarray) else p))
    return isinstance(p, (int, Fraction, str, np.integer)) and not isinstance(p, bool)


def _size(choice: UniformChoice, clients: int) -> int:
    if choice.size > clients:
        raise ValueError(f"size={choice.size} is outside the integers in [1, {clients}], 1..N")
    return choice.size
