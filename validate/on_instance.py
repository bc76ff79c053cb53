"""A claim on one instance: its hypotheses there, the constants of its assumptions, both its sides, its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from theory.claim import Claim
from theory.domain import COUNT
from theory.predicates import Connected
from theory.program import LINEAR_GIVEN_DRAWS
from theory.sentence import evaluate, index_of
from validate import satisfied
from validate.both_sides import Measured, Row, sides
from validate.expected import Line, NoPolynomialError, lines
from validate.instances.constants import best_constants
from validate.instances.engines import in_floats
from validate.instances.instance import Instance
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.relations import relation_satisfied
from validate.instances.scalars import Schedule
from validate.instances.setting import Setting, schedules_of
from validate.play import LIMIT
from validate.rounds import TooManyOutcomesError

How: TypeAlias = Literal["exact", "moments", "floats"]
Verdict: TypeAlias = Literal["holds", "broken", "violated", "silent", "undecided"]


@dataclass(frozen=True)
class OnInstance:
    """What an instance says of a claim.

    Attributes:
        claim: the claim.
        drawn: the instance, with the values of all names.
        hypotheses: each as the claim writes it, and whether it is true there; None where nobody has told how to decide.
        measured: both sides for every value of the free indices.
        how: by exact play, by exact moments where there are too many outcomes to play, or by moments in floats.
    """

    claim: Claim
    drawn: Drawn
    hypotheses: tuple[tuple[str, bool | None], ...]
    measured: Measured
    how: How

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
    drawn = valued(claim, instance, constants or {})
    measured, how = both(claim, drawn)
    return OnInstance(claim, drawn, hypotheses_of(setting_of(claim, drawn)), measured, how)


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
        numbers = satisfied.best(one, problem) if one.binds else None
        if numbers is not None:
            bests.append((one, numbers))
    for name, best in best_constants(claim, bests).items():
        if name not in names or name in given:
            continue
        if best > 0 or claim.domains[name].contains(best):
            values[name] = best
        elif claim.constants[name] == "up":
            values[name] = Fraction(1)  # every positive number is a constant


def functions_of(instance: Instance) -> Any:
    """The functions, as assumptions are decided of them."""
    return instance.problem.quadratic if isinstance(instance.problem, Quadratics) else instance.problem


def setting_of(claim: Claim, drawn: Drawn) -> Setting:
    """The claim's names on an instance, before the algorithm runs."""
    import numpy as np

    instance = drawn.instance
    free = {
        name: [np.array(v, dtype=object) for v in w] if name.endswith("_n") else np.array(w, dtype=object)
        for name, w in instance.vectors.items()
    }
    start = np.array(instance.start, dtype=object)
    return Setting(functions_of(instance), start, dict(drawn.values), instance.rounds, claim, free)


def _true(one: Any, world: Setting) -> bool | None:
    try:
        numbers = [evaluate(c, world, {"n": 0, "i": 0, "k": 0}, world.claim.vocabulary) for c in one.constants]
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


__all__ = ["OnInstance", "both", "hypotheses_of", "on_instance", "setting_of", "valued"]
