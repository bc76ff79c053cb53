"""Who takes part in a round: chances and choices, as `validate.strategies` draws them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, rational_array, to_float

Array = NDArray[Any]


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
