"""Both sides of a claim by moments, recorded: where outcomes are too many to be gone through one by one.

The engine (`sim.moments`) and the reader (`validate.expected`) are those that measure many rounds in fractions; what
they are handed are numbers that record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sim.moments import Schedule as ByRound
from sim.moments import moments_of
from sim.moments.numbers import rationals, recording
from sim.problems import Quadratic
from theory.arithmetic import to_element
from theory.claim import Claim
from theory.formula import UndefinedError
from theory.program import with_taps
from validate.batch.recorded import Array, Recorded
from validate.expected import Expected, indices, side_of, taps_of
from validate.instances.instance import Instance
from validate.instances.scalars import Schedule
from validate.instances.world import Still


def ordered_by_moments(
    claim: Claim, instance: Instance, others: Mapping[str, Any], functions: tuple[Array, Array]
) -> Iterator[tuple[Any, Any]]:
    """Both sides in every row, the one that is to be the smaller first.

    Args:
        claim: with an algorithm.
        instance: with numbers that record.
        others: the claim's other names.
        functions: its quadratics, as of `validate.batch.layout.Layout.functions`.

    Raises:
        ValueError: where moments do not tell.
    """
    world = _Recording(claim, instance, others, _quadratic(*functions))
    for at in indices(claim.sentence, world):
        try:
            left, right = (side_of(side, world, at) for side in claim.sentence.sides)
        except UndefinedError:  # such a row says nothing
            continue
        yield (left, right) if claim.sentence.relation in ("<=", "<") else (right, left)


def _quadratic(hessian: Array, linear: Array) -> Quadratic:
    """With numbers that record; it was checked with those that it has."""
    N, n = hessian.shape[:2]
    made: Quadratic = object.__new__(Quadratic)
    fields = {
        "hessian": hessian,
        "linear": linear,
        "offset": np.full((N, n), to_element(0), dtype=object),
        "counts": np.full(N, n),
        "features": None,
        "targets": None,
    }
    for name, values in fields.items():
        object.__setattr__(made, name, values)
    return made


class _Names(Still):
    """What is not random, as `validate.expected.Expected` asks for it of a setting."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Parameters by name."""
        return self.given

    @property
    def rounds(self) -> int:
        """K."""
        return self.instance.rounds

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """As `Still`, (d,)."""
        return _array(super().point(name, at))

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """As `Still`, (d,)."""
        return _array(super().least(weights, radius))


class _Recording(Expected):
    """A claim's names on an instance with numbers that record."""

    def __init__(self, claim: Claim, instance: Instance, others: Mapping[str, Any], problem: Quadratic) -> None:
        assert claim.program is not None
        parameters = {
            name: ByRound(value.values) if isinstance(value, Schedule) else value
            for name, value in instance.parameters.items()
        }
        moments = moments_of(
            with_taps(claim.program, taps_of(claim)), problem, parameters, start=instance.start,
            rounds=instance.rounds, numbers=recording(rationals(), Recorded),
        )  # fmt: skip
        names: Any = _Names(instance, others, claim.vocabulary)
        super().__init__(claim, problem, names, moments)

    def constant(self, value: Fraction) -> Any:
        """As `World`."""
        return to_element(value)

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return self.setting.parameter(name, at)

    def plain(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """An operation on numbers that are not random."""
        return self.setting.numbers(operation, arguments)


def _array(vector: Any) -> Array:
    found = np.empty(len(vector), dtype=object)
    found[:] = vector
    return found
