"""The methods whose worst case can be asked for, and the reading of numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

Real: TypeAlias = "int | float | str | Fraction | Decimal"


@dataclass(frozen=True)
class GradientDescent:
    """x_{k+1} = x_k - step_k grad f(x_k).

    Attributes:
        steps: K, at least 1.
        step: one positive number, or K of them.
    """

    steps: int
    step: Real | Sequence[Real]

    def __post_init__(self) -> None:
        at_least("steps", self.steps, 1)
        schedule(self.step, self.steps)


@dataclass(frozen=True)
class FedAvg:
    """Local SGD with exact local gradients: clients take local gradient steps from the model, then the mean is taken.

    y_{i,0} = x_r, y_{i,e+1} = y_{i,e} - step_r grad f_i(y_{i,e}), and x_{r+1} is the mean of the last y_i of those that
    take part in round r.

    Attributes:
        clients: N, at least 1.
        rounds: R, at least 1.
        local_steps: at least 1, for all clients or for each.
        step: one positive number, or one a round.
        participating: clients drawn uniformly without replacement in each round, in [1, N]; None is all of them. The
            metric is then the expectation, over all outcomes. Local steps 1 and participating 1 is SGD on a finite sum.
    """

    clients: int
    rounds: int
    local_steps: int | Sequence[int]
    step: Real | Sequence[Real]
    participating: int | None = None

    def __post_init__(self) -> None:
        at_least("clients", self.clients, 1)
        at_least("rounds", self.rounds, 1)
        for count in each("local_steps", self.local_steps, self.clients):
            at_least("local_steps", count, 1)
        schedule(self.step, self.rounds)
        if self.participating is not None:
            at_least("participating", self.participating, 1)
            if self.participating > self.clients:
                raise ValueError(f"participating={self.participating} is outside [1, clients={self.clients}]")


@dataclass(frozen=True)
class StochasticGradientDescent:
    """x_{k+1} = x_k - step_k (grad f(x_k) + noise), the noise one of equally probable vectors with mean zero.

    The worst case is over noises of at most `outcomes` values, E|noise|^2 <= variance at every iterate.

    Attributes:
        steps: K, at least 1.
        step: one positive number, or K of them.
        outcomes: at least 2.
    """

    steps: int
    step: Real | Sequence[Real]
    outcomes: int = 2

    def __post_init__(self) -> None:
        at_least("steps", self.steps, 1)
        at_least("outcomes", self.outcomes, 2)
        schedule(self.step, self.steps)


Method: TypeAlias = "GradientDescent | FedAvg | StochasticGradientDescent"


def number(name: str, given: Any) -> Fraction:
    """A finite real number, exactly."""
    if not isinstance(given, bool):
        try:
            if isinstance(given, numbers.Rational):
                return Fraction(int(given.numerator), int(given.denominator))
            if isinstance(given, str | Decimal):
                return Fraction(given)
            if isinstance(given, numbers.Real):
                return Fraction(float(given))
        except (ValueError, OverflowError, ZeroDivisionError):
            pass
    raise ValueError(f"{name}={given!r} is outside the finite numbers (int, float, Fraction, Decimal, '1/10' or '0.1')")


def positive(name: str, given: Any) -> Fraction:
    """A number above zero."""
    value = number(name, given)
    if value <= 0:
        raise ValueError(f"{name}={given} is outside (0, inf)")
    return value


def non_negative(name: str, given: Any) -> Fraction:
    """A number from zero on."""
    value = number(name, given)
    if value < 0:
        raise ValueError(f"{name}={given} is outside [0, inf)")
    return value


def at_least(name: str, given: Any, least: int) -> None:
    """Refuses what is not an integer from `least` on."""
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < least:
        raise ValueError(f"{name}={given!r} is outside {{{least}, {least + 1}, ...}}")


def each(name: str, given: Any, count: int) -> list[Any]:
    """One value for all, or a sequence with one for each."""
    if isinstance(given, str) or not hasattr(given, "__len__"):
        return [given] * count
    if len(given) != count:
        raise ValueError(f"{name}={given!r} has {len(given)} entries, outside {{{count}}}")
    return list(given)


def schedule(given: Any, count: int) -> list[Fraction]:
    """The steps, one for each of `count` iterations."""
    return [positive("step", h) for h in each("step", given, count)]
