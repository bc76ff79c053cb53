"""Whether parameters are what the claim says that they are: numbers, lists, matrices, in their domains."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .checks import Checks
from .parameters import Given, Schedule
from .reading import FormatError
from .sentences import everything, index_of, names_in
from .spoken import World
from .stated import Claimed, steps_of
from .steps import Step

COUNTS = ("H", "S", "m", "b", "N", "d", "K", "J")
"""Parameters that are integers, at least 1, unless the claim says otherwise."""


def _spoken(claimed: Claimed) -> set[str]:
    """All names in the claim's texts, as they are written."""
    trees = [claimed.sentence.left, claimed.sentence.right, *claimed.words.definitions.values()]
    for relation in claimed.relations:
        trees += [relation.left, relation.right]
    for assumption in claimed.assumptions:
        trees += assumption.constants
    return {node.name for tree in trees for node in everything(tree) if node.op == "name"}


def _clients(world: World) -> int | None:
    """N, of the problem or of free vectors a_n; None where nothing says it."""
    if world.problem is not None:
        return world.problem.N
    alone = world.parameters.get("N")
    given = int(alone) if isinstance(alone, Fraction) else None
    return next((len(value) for name, value in world.vectors.items() if name.endswith("_n")), given)


def check_shapes(checks: Checks, claimed: Claimed, world: World) -> None:
    """That parameters are numbers, lists and matrices where the claim and the algorithm allow it."""
    written = {index_of(name) for name in _spoken(claimed)}
    program, N = claimed.program, _clients(world)
    steps = [] if program is None else [s for s in steps_of(program.body) if isinstance(s, Step)]
    matrices = {s.label for s in steps if s.op == "mix"} | {a.matrix for a in claimed.assumptions if a.matrix}
    weights = {s.label for s in steps if s.op == "combine"}
    delays = {name for s in steps if s.op == "before" for name in names_in(s.numbers[1].tree)}
    for name, value in world.parameters.items():
        base, index = index_of(name)
        words = claimed.words
        if name in {*words.states, *words.taps, *words.definitions, *world.vectors}:
            raise FormatError(f"{name} means two things")
        if name in ("N", "d") and value != world.size(name):
            raise FormatError(f"{name} is not the problem's")
        matrix = isinstance(value, tuple) and isinstance(value[0], tuple)
        if (name in matrices) != matrix or (name in weights and not isinstance(value, tuple)):
            raise FormatError(f"{name} is a matrix, or a list of weights, or is to be one")
        many = (name, "n") in written or (index == "n" and (base, "n") in written) or name in delays
        if isinstance(value, tuple) and not matrix and name not in weights and (len(value) != N or not many):
            raise FormatError(f"{name} is not one number for each client, or the claim does not write {name}_n")
        if isinstance(value, Schedule) and (len(value.values) < world.rounds or (name, "k") not in written):
            raise FormatError(f"{name} is not one number for each round, or the claim does not write {name}_k")
    missing = [p for p in (program.parameters if program else ()) if p not in world.parameters and p not in ("N", "d")]
    if missing:
        raise FormatError(f"the parameter {missing[0]} of the algorithm has no value")
    used = {base for base, _ in written} | _spoken(claimed) | set(program.parameters if program else ()) | matrices
    used |= {"rho"} if any(a.name == "connected" for a in claimed.assumptions) else set()
    used |= {name for s in (program.state if program else ()) if s.length for name in names_in(s.length.tree)}
    unused = [name for name in world.parameters if name not in used and name not in ("N", "d")]
    if unused:
        raise FormatError(f"nothing speaks of the parameter {unused[0]}")


def check_domains(checks: Checks, claimed: Claimed, parameters: Mapping[str, Given]) -> None:
    """That every number is in the domain of its parameter."""
    weights = set()
    if claimed.program is not None:
        weights = {s.label for s in steps_of(claimed.program.body) if isinstance(s, Step) and s.op == "combine"}
    outside = []
    for name, value in parameters.items():
        domain = claimed.domains.get(name, claimed.domains.get(index_of(name)[0]))
        if isinstance(value, tuple) and isinstance(value[0], tuple) and domain is None:
            continue
        values: tuple[Any, ...] = (value,)
        if isinstance(value, Schedule | tuple):
            values = value.values if isinstance(value, Schedule) else value
        for x in (x for row in values for x in (row if isinstance(row, tuple) else (row,))):
            if domain is None:
                inside = x >= 1 and x.denominator == 1 if name in COUNTS else x > 0 or (x == 0 and name in weights)
            else:
                inside = _inside(x, domain)
            if not inside:
                outside.append(name)
                break
    checks.check(not outside, f"the parameters are in their domains{': not ' + ', '.join(outside) if outside else ''}")


def _inside(x: Fraction, domain: Mapping[str, Any]) -> bool:
    low, high = domain["lower"], domain["upper"]
    if low is not None and (x < low or (domain["lower_open"] and x == low)):
        return False
    if high is not None and (x > high or (domain["upper_open"] and x == high)):
        return False
    return not domain["integer"] or x.denominator == 1
