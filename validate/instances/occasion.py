"""A claim that says what it means, put to one instance: are its assumptions true there, and what are both its sides?

`validate.on_instance` measures; here its sides become numbers, as those of any other claim on a scenario are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from theory.arithmetic import decimals
from theory.claim import Claim
from theory.predicates import Connected, base_of
from theory.sentence import index_of
from validate import satisfied
from validate.both_sides import Measured, Row
from validate.instances.instance import Instance
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.roles import roles_in
from validate.instances.setting import Setting
from validate.instances.specs import instance_from, with_constants
from validate.on_instance import How, both, hypotheses_of, setting_of, valued
from validate.sides import Sides, nearest_float


@dataclass(frozen=True, eq=False)
class Occasion:
    """A claim on an instance, not measured yet.

    Attributes:
        claim: the claim.
        drawn: the instance, and the values of all names.
        setting: the claim's names there, before the algorithm runs.
    """

    claim: Claim
    drawn: Drawn
    setting: Setting

    @property
    def hypotheses(self) -> tuple[tuple[str, bool | None], ...]:
        """The assumptions, and whether each is true; None where nobody has told how to decide."""
        return hypotheses_of(self.setting)

    @property
    def unmet(self) -> tuple[str, ...]:
        """The assumptions that are not true, or not known to be, and the domains that a parameter is outside."""
        found = [text for text, true in self.hypotheses if true is not True]
        roles = roles_in(self.claim)
        for symbol in self.claim.symbols:
            name = index_of(symbol)[0]
            value = self.setting.values.get(name)
            if value is None or name in roles.matrices | roles.weights:
                continue
            domain = self.claim.domains[name]
            if not all(domain.contains(v) for v in (value if isinstance(value, list) else [value])):
                found.append(f"{symbol} in {domain}")
        return tuple(found)

    @cached_property
    def _both(self) -> tuple[Measured, How]:
        return both(self.claim, self.drawn)

    @property
    def measured(self) -> Measured:
        """Both sides at every value of the free indices, as `validate.on_instance.both`."""
        return self._both[0]

    @property
    def exact(self) -> bool:
        """Whether they are exact; else they are moments in floats, as there are too many outcomes to play."""
        return self._both[1] != "floats"

    def sides(self) -> Sides:
        """Both sides as numbers, in Fractions; a root is a decimal that is rounded in the claim's favour.

        Where a side is undefined the instance says nothing, and the case is left out. Where f has several minimisers,
        ``minimiser`` is among the indices.

        Raises:
            ValueError: where the claim does not speak of the instance at all, or all cases are undefined.
            TooManyOutcomesError: where there are more outcomes than can be played, and moments do not tell.
        """
        claim, found = self.claim, self.measured
        if found.silent:
            raise ValueError(f"{claim.id} does not speak of the instance: {found.silent}")
        rows = [row for row in found.rows if row.left is not None]
        if not rows:
            why = next((row.why for row in found.rows if row.why), "a side is undefined")
            raise ValueError(f"{claim.id} says nothing of the instance: {why}")
        relation = claim.sentence.relation
        below = relation in ("<=", "<", "==")
        left = np.array([_one(row.left, up=not below) for row in rows], dtype=object)
        right = np.array([_one(row.right, up=below) for row in rows], dtype=object)
        broken = np.array([row.status == "broken" for row in rows])
        ratios = {i: left[i] / right[i] for i in range(len(rows)) if right[i] > 0}
        sizes = {i: abs(left[i] - right[i]) for i in range(len(rows)) if broken[i]} or ratios
        worst = max(sizes, key=lambda i: sizes[i], default=0)
        bounded = bool(ratios) and relation in ("<=", "<")
        tightness = max(0.0, nearest_float(max(ratios.values()))) if bounded else None
        return Sides(left, self._parameters(), _indices(rows), claim.id, right, broken, worst, tightness)

    def _parameters(self) -> dict[str, Any]:
        found = {name: value for name, value in self.setting.values.items() if name != "K"}
        return {name: value for name, value in found.items() if not isinstance(value, list)} | {
            symbol: tuple(found[index_of(symbol)[0]])
            for symbol in self.claim.symbols
            if isinstance(found.get(index_of(symbol)[0]), list)
        }


def occasion(claim: Claim, instance: Instance | Drawn | Mapping[str, Any] | str) -> Occasion:
    """A claim on an instance.

    Args:
        claim: as its author wrote it.
        instance: one, or its JSON form (`validate.instances.specs.instance_from`), as plain data or as text. The form
            may have ``constants`` beside: values of the claim's names that are no parameters of its algorithm. A name
            that an assumption binds has the best value of the problem where none is given.

    Raises:
        ValueError: for what is no instance, one of another algorithm, or a name of the claim without a value.
    """
    if isinstance(instance, Drawn):
        constants: dict[str, Any] = {name: v for name, v in instance.constants.items() if name not in ("N", "d", "K")}
        instance = instance.instance
    elif isinstance(instance, Instance):
        constants = {}
    else:
        instance, constants = _read(claim, instance)
    if instance.program != claim.program:
        raise ValueError(f"the instance is of another algorithm than that of {claim.id}")
    missing = [name for name in claim.vectors if name not in instance.vectors]
    if missing:
        raise ValueError(f"{claim.id}: the free vector {missing[0]} has no value; give it under vectors")
    for name in _without_constant(claim, instance):
        constants.setdefault(name, Fraction(1))  # any number: the assumption is not true with it
    drawn = valued(claim, instance, constants)
    return Occasion(claim, drawn, setting_of(claim, drawn))


def _read(claim: Claim, given: Any) -> tuple[Instance, dict[str, Any]]:
    """The instance of a JSON form, and the constants that stand beside it."""
    if isinstance(given, str):
        import json

        try:
            given = json.loads(given, parse_float=str)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the instance is no JSON: {error}") from None
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{claim.id} is put to an instance, an object with algorithm, parameters, problem, start and rounds, not "
            f"to a {type(given).__name__}"
        )
    form, constants = with_constants(given, claim)
    return instance_from(form, claim), constants


def _without_constant(claim: Claim, instance: Instance) -> list[str]:
    """The names that assumptions bind of which the instance has no value at all, such as mu where f is flat."""
    problem = instance.problem.quadratic if isinstance(instance.problem, Quadratics) else instance.problem
    own = {} if instance.program is None else instance.parameters
    found = []
    for one in claim.predicates:
        if isinstance(one, Connected) or not one.binds or problem is None:
            continue
        bests = satisfied.best(one, problem)
        for i, (constant, direction) in enumerate(zip(one.constants, one.directions, strict=True)):
            base = base_of(constant)
            name = "" if base is None else base[0]
            if name and name not in own and (bests is None or (direction == "down" and not bests[i] > 0)):
                found.append(name)
    return found


def _one(value: Any, *, up: bool) -> Fraction:
    """A number as a Fraction: of a ball an end, of a float its value."""
    if isinstance(value, int | float | Fraction):
        return Fraction(value)
    lower, upper = decimals(value)
    return Fraction(upper if up else lower)


def _indices(rows: list[Row]) -> dict[str, Any]:
    names = [name for name in rows[0].at if not name.startswith("*")]
    found = {name: np.array([row.at[name] for row in rows]) for name in names}
    choices = np.array([row.minimiser for row in rows])
    return {**found, "minimiser": choices} if choices.any() else found


__all__ = ["Occasion", "occasion"]
