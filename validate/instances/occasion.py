"""A claim that says what it means, on one instance: are its assumptions true there, and what are both its sides?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.arithmetic import decimals
from theory.predicates import Connected
from theory.sentence import Sentence, index_of
from theory.written import Claim
from validate import satisfied
from validate.both_sides import Measured, Row
from validate.both_sides import sides as measured_sides
from validate.bounds import Sides, nearest_float
from validate.instances.choices import Setting, outward, relation_satisfied, roles_of, schedules_of
from validate.instances.instance import Instance, read_instance
from validate.instances.numbers import entries, number
from validate.instances.pool import Drawn, instance_of_values
from validate.instances.problems import Quadratics
from validate.instances.scalars import Schedule

GIVEN_BY_THE_INSTANCE = ("N", "d", "K")


@dataclass(frozen=True, eq=False)
class Occasion:
    """A claim on an instance.

    Attributes:
        claim: the claim.
        drawn: the instance, and the values of the names that its algorithm does not have.
        setting: the claim's names there, before the algorithm runs.
    """

    claim: Claim
    drawn: Drawn
    setting: Setting

    @property
    def unmet(self) -> tuple[str, ...]:
        """The assumptions, as they are written, that are not true on the instance, and domains that a value is not in.

        An assumption of which nobody can tell whether it is true of such a problem counts as unmet.
        """
        claim, setting = self.claim, self.setting
        found = []
        texts = (*claim.assuming, *claim.standing)
        for text, one in zip(texts, claim.assumptions, strict=True):
            if not (relation_satisfied(one, setting, claim) if isinstance(one, Sentence) else _is_true(one, setting)):
                found.append(text)
        roles = roles_of(claim.program)
        for symbol in claim.symbols:
            name = index_of(symbol)[0]
            if name in GIVEN_BY_THE_INSTANCE or name in roles.matrices | roles.weights:
                continue
            value = setting.values[name]
            domain = claim.domains[name]
            if not all(domain.contains(v) for v in (value if isinstance(value, list) else [value])):
                found.append(f"{symbol} in {domain}")
        return tuple(found)

    def measured(self) -> Measured:
        """Both sides at every value of the free indices.

        Raises:
            TooManyOutcomesError: where there are more outcomes than can be played.
        """
        drawn = self.drawn
        return measured_sides(self.claim.sentence, self.claim.vocabulary, drawn.instance, drawn.constants)

    def sides(self) -> Sides:
        """Both sides as numbers, in Fractions; a root is a decimal that is rounded in the claim's favour.

        Where a side is undefined the instance says nothing, and the case is left out. Where f has several minimisers,
        ``minimiser`` is among the indices.

        Raises:
            ValueError: where the claim does not speak of the instance at all, or all cases are undefined.
            TooManyOutcomesError: as `measured`.
        """
        claim, both = self.claim, self.measured()
        if both.silent:
            raise ValueError(f"{claim.id} does not speak of the instance: {both.silent}")
        rows = [row for row in both.rows if row.left is not None]
        if not rows:
            why = next((row.why for row in both.rows if row.why), "a side is undefined")
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
        instance: one, or its JSON form. The form may have ``constants`` beside: values of the claim's names that are no
            parameters of its algorithm (they may stand among the parameters, too). A name that an assumption binds has
            the best value of the problem where none is given.

    Raises:
        ValueError: for what is no instance, one of another algorithm, or a name of the claim without a value.
    """
    if isinstance(instance, Drawn):
        return _of_values(claim, instance.instance, dict(instance.values))
    constants: dict[str, Any] = {}
    if not isinstance(instance, Instance):
        if isinstance(instance, str):
            import json

            try:
                instance = json.loads(instance, parse_float=str)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"the instance is no JSON: {error}") from None
        if not isinstance(instance, Mapping):
            raise ValueError(
                f"{claim.id} is put to an instance, an object with algorithm, parameters, problem, start and rounds, "
                f"not to a {type(instance).__name__}"
            )
        instance, constants = _read(claim, instance)
    elif instance.program is not None and (claim.program is None or instance.program != claim.program):
        raise ValueError(f"the instance is one of {instance.program.name}, of which {claim.id} does not speak")
    return _of_values(claim, instance, constants)


def _read(claim: Claim, data: Mapping[str, Any]) -> tuple[Instance, dict[str, Any]]:
    """The instance of a JSON form, and the values that it has beside."""
    known = {index_of(symbol)[0] for symbol in claim.symbols}
    own = set() if claim.of is None else set(claim.of.parameters)
    parameters, beside = data.get("parameters", {}), data.get("constants", {})
    for name, value in (("parameters", parameters), ("constants", beside)):
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} is to be an object with a value for each name, not {type(value).__name__}")
    moved = {name: value for name, value in parameters.items() if name not in own and name in known}
    constants = {**moved, **beside}
    unknown = sorted(set(constants) - known)
    if unknown:
        raise ValueError(f"constants has {unknown[0]!r}, which {claim.id} does not have; it has {', '.join(known)}")
    rest = {key: value for key, value in data.items() if key not in ("constants", "parameters")}
    kept = {name: value for name, value in parameters.items() if name not in moved}
    if kept or claim.of is not None:
        rest["parameters"] = kept
    called = rest.pop("algorithm", "")
    if called and claim.of is None:
        raise ValueError(f"algorithm={called!r}, and {claim.id} speaks of no algorithm")
    if called and claim.of is not None and _name_in(str(called)) != claim.of.name:
        raise ValueError(f"algorithm={called!r}, and {claim.id} speaks of {claim.of.name}")
    if called:
        rest["algorithm"] = called
    instance = read_instance(rest, claim.of, schedules_of(claim))
    return instance, {name: _value(name, value) for name, value in constants.items()}


def _name_in(called: str) -> str:
    """The algorithm's name in ``paper/name`` or ``file.py:name``."""
    return called.replace(":", "/").rpartition("/")[2]


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"k"}:
        return entries(name, value["k"])
    return entries(name, value) if isinstance(value, list | tuple) else number(name, value)


def _of_values(claim: Claim, instance: Instance, values: dict[str, Any]) -> Occasion:
    """The occasion with values for all names: given ones, the instance's, the best ones that assumptions bind."""
    problem: Any = None
    if instance.problem is not None:
        problem = instance.problem.quadratic if isinstance(instance.problem, Quadratics) else instance.problem
    for name, given in instance.parameters.items():
        values[name] = _plain(given)
    for one in claim.predicates:
        if isinstance(one, Connected) and one.matrix in values:
            values.setdefault("rho", outward(satisfied.second_eigenvalue(values[one.matrix]), up=True))
        if isinstance(one, Connected) or not one.constants or set(one.binds) <= set(values):
            continue
        bests = satisfied.best(one, problem)
        for constant, value, direction in zip(one.constants, bests or (), one.directions, strict=bests is not None):
            name = getattr(constant, "name", "")
            if name and name not in values:
                # 0 where every positive number is a constant
                values[name] = outward(value, up=direction == "up") if value > 0 else Fraction(1)
    for symbol in claim.symbols:
        name = index_of(symbol)[0]
        if name not in values and name not in GIVEN_BY_THE_INSTANCE:
            if name in claim.constants:
                raise ValueError(f"{claim.id}: no {name} is a constant of its assumptions on this instance")
            raise ValueError(f"{claim.id}: {symbol} has no value on this instance; give it among the constants")
    if "K" in claim.symbols:
        values["K"] = Fraction(instance.rounds)
    start = np.array(instance.start, dtype=object)
    vectors = {
        name: [np.array(v, dtype=object) for v in given] if name.endswith("_n") else np.array(given, dtype=object)
        for name, given in instance.vectors.items()
    }
    missing = [name for name in claim.vectors if name not in vectors]
    if missing:
        raise ValueError(f"{claim.id}: the free vector {missing[0]} has no value; give it under vectors")
    drawn = instance_of_values(claim, problem, start, instance.rounds, values, vectors)
    if drawn is None:
        raise ValueError(f"{claim.id}: these are no arguments of {getattr(claim.of, 'name', 'its names')}")
    setting = Setting(problem, start, drawn.values, instance.rounds, claim, vectors)
    return Occasion(claim, drawn, setting)


def _plain(given: Any) -> Any:
    if isinstance(given, Schedule):
        return list(given.values)
    return [_plain(v) for v in given] if isinstance(given, tuple) else given


def _is_true(one: Any, setting: Setting) -> bool:
    network = setting.values.get(one.matrix) if isinstance(one, Connected) else None
    names = [*one.constants]
    try:
        numbers = [setting.expectation(c, {"n": 0, "i": 0, "k": 0}) for c in names]
    except (ValueError, KeyError, IndexError):
        return False
    if isinstance(one, Connected):
        numbers = [setting.values.get("rho")] if "rho" in setting.values else []
    exact = [Fraction(v) if isinstance(v, float) else v for v in numbers]
    return satisfied.true(one, setting.problem, exact, network) is True


def _one(value: Any, *, up: bool) -> Fraction:
    """A number as a Fraction: of a ball an end."""
    if isinstance(value, Fraction):
        return value
    lower, upper = decimals(value)
    return Fraction(upper if up else lower)


def _indices(rows: list[Row]) -> dict[str, Any]:
    names = [name for name in rows[0].at if not name.startswith("*")]
    found = {name: np.array([row.at[name] for row in rows]) for name in names}
    choices = np.array([row.minimiser for row in rows])
    return {**found, "minimiser": choices} if choices.any() else found


__all__ = ["Occasion", "occasion"]
