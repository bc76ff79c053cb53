"""A claim on one instance: its hypotheses there, the constants of its assumptions, both its sides, its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from theory.arithmetic import decimals
from theory.claim import Claim
from theory.domain import COUNT
from theory.predicates import Connected
from theory.program import LINEAR_GIVEN_DRAWS
from theory.sentence import evaluate, index_of
from validate import satisfied
from validate.both_sides import Measured, Row, sides
from validate.expected import Line, NoPolynomialError, lines
from validate.instances.constants import best_constants, bests_of, values_in
from validate.instances.instance import Instance
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics, in_floats
from validate.instances.relations import relation_satisfied
from validate.instances.roles import roles_in
from validate.instances.scalars import Schedule
from validate.instances.setting import Setting, schedules_of
from validate.play import LIMIT
from validate.rounds import TooManyOutcomesError
from validate.sides import Sides, nearest_float

How: TypeAlias = Literal["exact", "moments", "floats"]
Verdict: TypeAlias = Literal["holds", "broken", "violated", "silent", "undecided"]


@dataclass(frozen=True, eq=False)
class OnInstance:
    """What an instance says of a claim; both sides are worked out when they are asked for.

    Attributes:
        claim: the claim.
        drawn: the instance, with the values of all names.
    """

    claim: Claim
    drawn: Drawn

    @cached_property
    def setting(self) -> Setting:
        """The claim's names there, before the algorithm runs."""
        return setting_of(self.claim, self.drawn)

    @cached_property
    def hypotheses(self) -> tuple[tuple[str, bool | None], ...]:
        """Each as the claim writes it, and whether it is true; None where nobody has told how to decide."""
        return hypotheses_of(self.setting)

    @cached_property
    def _both(self) -> tuple[Measured, How]:
        return both(self.claim, self.drawn)

    @property
    def measured(self) -> Measured:
        """Both sides for every value of the free indices."""
        return self._both[0]

    @property
    def how(self) -> How:
        """By exact play, by exact moments where there are too many outcomes to play, or by moments in floats."""
        return self._both[1]

    @property
    def verdict(self) -> Verdict:
        """`holds`, or `broken` with all hypotheses true; `violated` where one is false, whatever the sides are;
        `silent` where the claim says nothing there; `undecided` where intervals, or a hypothesis, are not decided."""
        if any(true is False for _, true in self.hypotheses):
            return "violated"
        if self.measured.broken:
            return "broken" if all(true for _, true in self.hypotheses) and self.how != "floats" else "undecided"
        if self.measured.holds:
            return "holds"
        return "undecided" if self.measured.undecided else "silent"

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


def on_instance(claim: Claim, instance: Instance, constants: Mapping[str, Any] | None = None) -> OnInstance:
    """A claim on an instance of its algorithm.

    Args:
        claim: the claim.
        instance: with the claim's algorithm, or without one if the claim has none.
        constants: values of the claim's names that are no parameters of the algorithm; those that its assumptions bind
            are the best of the instance where they are not given (the smallest L, the largest mu).

    Raises:
        ValueError: for a name that the claim does not have, one outside its domain, and one that is missing.
    """
    if claim.program != instance.program:
        raise ValueError(f"instance is of another algorithm than that of {claim.id}")
    found = OnInstance(claim, valued(claim, instance, constants or {}))
    _ = found.measured  # errors are those of this call
    return found


def hypotheses_of(world: Setting) -> tuple[tuple[str, bool | None], ...]:
    """Whether each of a claim's assumptions is true, in the claim's order, assumptions on functions first."""
    claim = world.claim
    found: list[tuple[str, bool | None]] = [(one.text, _true(one, world)) for one in claim.predicates]
    return (*found, *((str(relation), relation_satisfied(relation, world, claim)) for relation in claim.relations))


def valued(claim: Claim, instance: Instance, given: Mapping[str, Any]) -> Drawn:
    """The instance with a value for every name of the claim; arguments and errors as of `on_instance`."""
    instance, sizes_given, given = _sized(instance, given)
    own = {} if instance.program is None else instance.parameters
    values, names = values_of(claim, functions_of(instance), own, given)
    schedules = schedules_of(claim)
    constants = {name: _frozen(values[name], name in schedules) for name in names}
    if instance.program is None and instance.clients is None:
        sizes = {name: len(values[name]) for name in names if isinstance(values[name], list) and name not in schedules}
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{name} has {size}" for name, size in sizes.items())
            raise ValueError(f"{said} numbers; {claim.id} needs one a client of each")
        if sizes:  # nothing else says how many clients there are
            values["N"] = constants["N"] = Fraction(next(iter(sizes.values())))
    for name, size in sizes_given.items():
        known = {"N": instance.clients, "d": instance.dim}[name]
        known = values.get(name) if known is None else known
        if known is not None and known != size:
            raise ValueError(f"{name}={size} is given, and the instance has {name}={known}")
        if instance.program is None and instance.problem is None:
            values[name] = constants[name] = size
    return Drawn(instance, constants, values)


def _sized(instance: Instance, given: Mapping[str, Any]) -> tuple[Instance, dict[str, Fraction], dict[str, Any]]:
    """The instance of a given K, which one without an algorithm may have; the N and d that are given; other values."""
    rest = {name: value for name, value in given.items() if name not in ("K", "N", "d")}
    sizes = {name: given[name] for name in ("K", "N", "d") if name in given}
    for name, size in sizes.items():
        if not COUNT.contains(size):
            raise ValueError(f"{name}={size} is outside {COUNT}")
    rounds = sizes.pop("K", None)
    if rounds is not None and instance.program is None:
        instance = replace(instance, rounds=int(rounds))
    elif rounds is not None and rounds != instance.rounds:
        raise ValueError(f"K={rounds} is given, and the instance has rounds={instance.rounds}")
    return instance, sizes, rest


def values_of(
    claim: Claim, problem: Any, own: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Values of all names of a claim, numbers or lists of them, and the names that are not its algorithm's parameters.

    Args:
        claim: the claim.
        problem: of which the constants of assumptions are the best; in fractions or in floats.
        own: the algorithm's parameters.
        given: of the other names.

    Raises:
        ValueError: as of `on_instance`.
    """
    symbols = {index_of(symbol)[0]: symbol for symbol in claim.symbols}
    names = [name for name in symbols if name not in own and name not in ("N", "d", "K")]
    given = {index_of(name)[0] if index_of(name)[0] in symbols else name: value for name, value in given.items()}
    for name in given:
        if name not in names:
            what = "is the algorithm's, and is in the instance" if name in own else "is no name of the claim"
            raise ValueError(f"{name} {what}; {claim.id} has {', '.join(names) or 'no other names'}")
    values = {name: _listed(value) for name, value in {**own, **given}.items()}
    _bind(claim, problem, values, names, given)
    missing = [symbols[name] for name in names if name not in values]
    if missing:
        wanted = ", ".join(f"{symbol} in {claim.domains[index_of(symbol)[0]]}" for symbol in missing)
        raise ValueError(f"{claim.id} needs values for {wanted}; for example: --set {missing[0]}=1")
    for name in names:
        for value in values[name] if isinstance(values[name], list) else [values[name]]:
            if not isinstance(value, list) and not claim.domains[name].contains(value):
                raise ValueError(f"{name}={value} is outside {claim.domains[name]}")
    return values, names


def _bind(claim: Claim, problem: Any, values: dict[str, Any], names: list[str], given: Mapping[str, Any]) -> None:
    """The constants of assumptions that are not given: the best of the problem."""
    bests = []
    for one in claim.predicates:
        if isinstance(one, Connected):
            if "rho" in names and "rho" not in given and one.matrix in values:
                values["rho"] = Fraction(satisfied.second_eigenvalue(values[one.matrix]))
            continue
        numbers = bests_of(one, Setting(problem, None, values, 1, claim)) if one.binds else None
        if numbers is not None:
            bests.append((one, numbers))
    for name, best in best_constants(claim, bests).items():
        if name not in names or name in given:
            continue
        each = best if isinstance(best, list) else [best]
        allowed = [value > 0 or claim.domains[name].contains(value) for value in each]
        if all(allowed) or claim.constants[name] == "up":  # upwards every positive number is a constant
            found = [value if may else Fraction(1) for value, may in zip(each, allowed, strict=True)]
            values[name] = found if isinstance(best, list) else found[0]


def functions_of(instance: Instance) -> Any:
    """The functions, as assumptions are decided of them."""
    return instance.problem.quadratic if isinstance(instance.problem, Quadratics) else instance.problem


def setting_of(claim: Claim, drawn: Drawn) -> Setting:
    """The claim's names on an instance, before the algorithm runs."""
    instance = drawn.instance
    free = {
        name: [np.array(v, dtype=object) for v in w] if name.endswith("_n") else np.array(w, dtype=object)
        for name, w in instance.vectors.items()
    }
    start = np.array(instance.start, dtype=object)
    return Setting(functions_of(instance), start, dict(drawn.values), instance.rounds, claim, free)


def _true(one: Any, world: Setting) -> bool | None:
    try:
        words = world.claim.vocabulary
        numbers = values_in(one, world, lambda c, n: evaluate(c, world, {"n": n, "i": 0, "k": 0}, words))
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return None
    network = world.values.get(one.matrix) if isinstance(one, Connected) else None
    if isinstance(one, Connected) and "rho" in world.values:
        numbers = [world.values["rho"]]
    return satisfied.true(one, world.problem, numbers, network)


MOST_PLAYED = 2000
"""Outcomes of one round that are played before moments are tried."""


def both(claim: Claim, drawn: Drawn) -> tuple[Measured, How]:
    """Both sides, by exact play; where that has many outcomes by moments, in fractions or else in floats.

    Raises:
        ValueError: where none of them tells.
    """
    instance, words = drawn.instance, claim.vocabulary
    program, problem = claim.program, instance.problem
    linear = program is not None and program.operations <= LINEAR_GIVEN_DRAWS and isinstance(problem, Quadratics)
    try:
        limit = MOST_PLAYED if linear else LIMIT
        return sides(claim.sentence, words, instance, drawn.constants, limit), "exact"
    except TooManyOutcomesError:
        if not linear:
            raise
    assert isinstance(problem, Quadratics)
    world = setting_of(claim, drawn)
    try:
        found = lines(claim, problem.quadratic, world)
        if all(line.status == "undefined" or isinstance(line.left + line.right, Fraction) for line in found):
            return _measured(found), "moments"
        return _measured(lines(claim, in_floats(problem.quadratic), world)), "floats"
    except NoPolynomialError:
        return sides(claim.sentence, words, instance, drawn.constants), "exact"


def _measured(found: Sequence[Line]) -> Measured:
    silent = "" if found else "no round of this run is one of which the sentence speaks"
    return Measured(tuple(Row(line.at, line.left, line.right, line.status) for line in found), silent, by="moments")


def _listed(value: Any) -> Any:
    if isinstance(value, Schedule):
        return list(value.values)
    return [_listed(v) for v in value] if isinstance(value, tuple | list) else value


def _frozen(value: Any, schedule: bool) -> Any:
    if isinstance(value, list):
        frozen = tuple(_frozen(v, False) for v in value)
        return Schedule(frozen) if schedule else frozen
    return value


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


__all__ = ["OnInstance", "both", "hypotheses_of", "on_instance", "setting_of", "valued"]
