"""Kind "play": an algorithm is played on a problem, and the claim is false there.

The certificate has the claim as its author wrote it (sentence, assumptions, relations, definitions), the algorithm as
data, and an instance. Checked: the instance satisfies every assumption with the given constants and every relation, and
lies in the domains of the parameters and of the algorithm's operations; both sides at the given indices, from all
outcomes of all draws with their probabilities, are the printed ones; and the relation between them is false.

What remains for the reader: sentence, assumptions, relations, definitions, domains and the algorithm are those of the
paper. All of them are printed.

    sentences, scalars, quadratics        texts to trees; fractions and intervals; problems
    programs, arguments                   algorithms as data, and the domains of what they are given
    draws, running, playing               all choices of a draw; a round; all outcomes of a run
    spoken, assumed                       what sentences come to; assumptions
    stated, listing                       what is printed for the reader
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .arguments import OutsideRun, whole
from .assumed import holds
from .checks import Checks, Report
from .formulas import Uncheckable
from .intervals import Interval
from .playing import Game, Given, Schedule
from .programs import OF_CLIENTS, Program, Step
from .quadratics import MOST_COORDINATES, Problem, read_problem, read_vector
from .reading import FormatError, fields, integer, limit_length, list_of, number, shown
from .scalars import ZERO, Number, Vector, Work, sure, surely_not
from .sentences import (
    INDICES,
    WORDS,
    Node,
    Sentence,
    Vocabulary,
    everything,
    index_of,
    names_in,
)
from .spoken import World
from .stated import MOST_TEXTS, Claimed, introduce, read_claim, steps_of

NEEDED = (
    "format kind claim statement assumptions relations definitions program parameters problem start rounds at left "
    "right"
)
OPTIONAL = "standing domains over vectors xstar xstar_n origin quick note"
COUNTS = ("H", "S", "m", "b", "N", "d", "K", "J")
"""Parameters that are integers, at least 1, unless the claim says otherwise."""
MOST_ROUNDS = 5_000
COARSEST = Fraction(1, 10**6)


def verify_play(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind.

    Raises:
        FormatError: when it is malformed or too large to be checked.
    """
    checks = Checks()
    try:
        try:
            _verify(checks, data)
        except Uncheckable as reason:
            checks.check(False, f"it cannot be checked: {shown(str(reason))}")
    except (RecursionError, OverflowError, MemoryError):
        raise FormatError("the certificate is nested too deeply, or its numbers are too large") from None
    return Report(checks.valid, tuple(checks.lines))


def _verify(checks: Checks, data: dict[str, Any]) -> None:
    fields(data, "the certificate", NEEDED, OPTIONAL)
    work = Work()
    claimed = read_claim(data)
    problem = None if data["problem"] is None else read_problem(data["problem"], work)
    rounds = integer(data["rounds"], "rounds", 1, MOST_ROUNDS)
    vectors = read_vectors(data.get("vectors", {}), problem)
    parameters = read_parameters(data["parameters"])
    start = _start(data["start"], problem)
    introduce(checks, data, claimed, problem, rounds)
    if claimed.words.vectors != frozenset(vectors):
        raise FormatError("the free vectors have no values")
    xstar = None if data.get("xstar") is None else _sized(read_vector(data["xstar"], "xstar"), problem)
    xstar_n = None
    if data.get("xstar_n") is not None:
        xstar_n = tuple(_sized(read_vector(v, "xstar_n"), problem) for v in list_of(data["xstar_n"], "xstar_n"))
        if problem is None or len(xstar_n) != problem.N:
            raise FormatError("xstar_n is not one point for each client")
    world = World(claimed.words, parameters, problem, start, rounds, vectors, work, None, xstar, xstar_n)
    check_shapes(checks, claimed, world)
    check_domains(checks, claimed, parameters)
    if claimed.program is not None:
        checks.attempt("the algorithm on this instance", set_up, claimed.program, world)
        if world.game is None:
            return
        checks.check(True, "the arguments of the algorithm's operations are in their domains")
    for assumption in claimed.assumptions:
        true = checks.attempt(f"assumption {shown(assumption.text)}", holds, assumption, world)
        if true is not None:
            checks.check(true, f"assumption {shown(assumption.text)}: {shown(assumption.meaning)}")
    for relation in claimed.relations:
        true = checks.attempt(f"relation {shown(relation.text)}", _true, relation, world)
        if true is not None:
            checks.check(true, f"relation {shown(relation.text)}")
    if checks.valid:
        check_sides(checks, data, claimed.sentence, world)


def _true(relation: Sentence, world: World) -> bool:
    return all(sure(left, relation.relation, right) for left, right in world.everywhere(relation))


# --- the instance -----------------------------------------------------------------------------------------------------


def _start(data: Any, problem: Problem | None) -> Vector:
    if problem is None:
        if data:
            raise FormatError("there is a start, and no problem")
        return ()
    return _sized(read_vector(data, "start"), problem)


def _sized(v: tuple[Fraction, ...], problem: Problem | None) -> Vector:
    if problem is None or len(v) != problem.d:
        raise FormatError("a point has not as many coordinates as the problem")
    return v


def read_vectors(data: Any, problem: Problem | None) -> dict[str, Any]:
    """The free vectors; of ``a_n`` one for each client."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        many = name.endswith("_n")
        found[name] = tuple(read_vector(v, name) for v in list_of(value, name)) if many else read_vector(value, name)
        if many and not found[name]:
            raise FormatError(f"{name} has no vectors")
    counts = {len(v) for name, v in found.items() if name.endswith("_n")} | ({problem.N} if problem else set())
    rows = [v for name, value in found.items() for v in (value if name.endswith("_n") else (value,))]
    sizes = {len(row) for row in rows} | ({problem.d} if problem else set())
    if len(counts) > 1 or len(sizes) > 1:
        raise FormatError("the free vectors have different sizes, or another one than the problem")
    limit_length(x for row in rows for x in row)
    return found


def read_parameters(data: Any) -> dict[str, Given]:
    """Numbers by name: one, a list, the rows of a matrix, or ``{"k": [...]}`` for one a round."""
    if not isinstance(data, dict) or len(data) > MOST_TEXTS:
        raise FormatError("parameters is not an object of numbers")
    found: dict[str, Given] = {}
    for name, value in data.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", name) or name in WORDS - {"h"} or name in (*INDICES, "K"):
            raise FormatError(f"{shown(name)} is no name of a parameter")
        if isinstance(value, dict):
            found[name] = Schedule(_numbers(fields(value, name, "k")["k"], name, MOST_ROUNDS))
        elif isinstance(value, list) and value and isinstance(value[0], list):
            if len(value) > MOST_TEXTS:
                raise FormatError(f"{name} has more than {MOST_TEXTS} rows")
            found[name] = tuple(_numbers(row, name, MOST_TEXTS) for row in value)
        else:
            found[name] = _numbers(value, name, 10_000) if isinstance(value, list) else number(value, name)
    return found


def _numbers(data: Any, name: str, most: int) -> tuple[Fraction, ...]:
    if not 1 <= len(list_of(data, name)) <= most:
        raise FormatError(f"{name} has not between 1 and {most} entries")
    found = tuple(number(x, name) for x in data)
    limit_length(found)
    return found


def _spoken(claimed: Claimed) -> set[str]:
    """All names in the claim's texts, as they are written."""
    trees = [claimed.sentence.left, claimed.sentence.right, *claimed.words.definitions.values()]
    for relation in claimed.relations:
        trees += [relation.left, relation.right]
    for assumption in claimed.assumptions:
        trees += assumption.constants
    return {node.name for tree in trees for node in everything(tree) if node.op == "name"}


def check_shapes(checks: Checks, claimed: Claimed, world: World) -> None:
    """That parameters are numbers, lists and matrices where the claim and the algorithm allow it."""
    written = {index_of(name) for name in _spoken(claimed)}
    program, N = claimed.program, None if world.problem is None else world.problem.N
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


def set_up(program: Program, world: World) -> bool:
    """Makes the game: the state before the first round, and the arguments of the operations.

    Raises:
        Uncheckable: where there is no such instance.
    """
    problem = world.given_problem()
    if problem.d > MOST_COORDINATES:
        raise FormatError("the problem has too many coordinates")
    game = Game(program, problem, world.parameters, world.rounds, world.work)
    points = (world.xstar, world.xstar_n)
    still = World(Vocabulary(), world.parameters, problem, world.start, world.rounds, {}, world.work, None, *points)
    begin: list[Any] = []
    for s in program.state:
        reading = still.words.read(s.initial)
        allowed = {"client": "n", "client past": "n", "table": "ni"}.get(s.kind, "")
        zero = s.initial.op == "number" and s.initial.value == 0
        if reading.free - set(allowed) or not (reading.vector or zero):
            raise FormatError(f"{s.name} begins at {shown(s.text)}, which is no vector there")

        def first(at: dict[str, int], tree: Node = s.initial, zero: bool = zero) -> Vector:
            return (ZERO,) * problem.d if zero else still.value(tree, at, None)

        value: Any
        if s.kind == "table":
            sizes = [range(len(own)) for own in problem.samples]
            value = tuple(tuple(first({"n": n, "i": i}) for i in size) for n, size in enumerate(sizes))
        else:
            value = tuple(first({"n": n}) for n in range(problem.N)) if s.kind in OF_CLIENTS else first({})
        if s.length is not None:
            J = _length(s.length.tree, program, world)
            value = tuple((v,) * J for v in value) if s.kind in OF_CLIENTS else (value,) * J
        begin.append(value)
    game.begin = tuple(begin)
    game.check_arguments()
    world.game = game
    return True


def _length(tree: Node, program: Program, world: World) -> int:
    """How many vectors are remembered; where nothing else says it, the weights do."""
    if tree.op == "name" and tree.name not in world.parameters:
        lists = [world.parameters[s.label] for s in steps_of(program.body) if isinstance(s, Step) and s.op == "combine"]
        sizes = {len(v) for v in lists if isinstance(v, tuple)}
        if len(sizes) != 1:
            raise FormatError(f"{tree.name} has no value")
        return sizes.pop()
    return whole(world.value(tree, {}, None), "the number of remembered vectors", 1, 100)


# --- both sides -------------------------------------------------------------------------------------------------------


def check_sides(checks: Checks, data: Mapping[str, Any], sentence: Sentence, world: World) -> None:
    """That both sides are the printed ones, and the relation between them is false."""
    sides = (sentence.left, sentence.right)
    free = frozenset[str]().union(*(world.words.read(side).free for side in sides))
    given = data["at"]
    if not isinstance(given, dict) or set(given) != free:
        raise FormatError(f"at={shown(given)} is not a number for each of {sorted(free)}")
    at = {key: integer(given[key], f"the index {key}", 0, MOST_ROUNDS) for key in given}
    for key in ("n", "i"):
        if key in at and at[key] not in world.range_of(key, (), at):
            raise FormatError(f"the index {key} is out of range")
    if at.get("k", 0) > world.rounds:
        raise OutsideRun("the index k is not in the run")
    printed = (_printed(data["left"], "left"), _printed(data["right"], "right"))
    found, nearest = 0, None
    for pair in world.both(sentence, at):
        agrees = all(_agree(p, value) for p, value in zip(printed, pair, strict=True))
        if nearest is None or agrees:
            nearest = pair
        if agrees and surely_not(pair[0], sentence.relation, pair[1]):
            found += 1
            break
    if nearest is None:
        raise Uncheckable("there is no outcome")
    for name, tree, p, value in zip(("left", "right"), sides, printed, nearest, strict=True):
        random = " in one outcome" if world.words.read(tree).random else ""
        same = _agree(p, value)
        checks.check(same, f"the {name} side{random} is {_number(value)}{'' if same else ', not as printed'}")
    wrong = surely_not(nearest[0], sentence.relation, nearest[1])
    checks.check(bool(found), f"the statement is {'false' if wrong else 'true, or may be,'} there")


def _printed(data: Any, name: str) -> Fraction | tuple[Fraction, Fraction]:
    if not isinstance(data, dict):
        return number(data, name)
    fields(data, name, "lower upper")
    low, high = number(data["lower"], name), number(data["upper"], name)
    if high - low > max(COARSEST * min(abs(low), abs(high)), COARSEST**2) or low > high:
        raise FormatError(f"{name} is not told to six digits")
    return low, high


def _agree(printed: Fraction | tuple[Fraction, Fraction], value: Number) -> bool:
    if isinstance(printed, Fraction):
        return isinstance(value, Fraction) and printed == value
    low, high = (value, value) if isinstance(value, Fraction) else value.ends
    return printed[0] <= low and high <= printed[1]


def _number(value: Number) -> str:
    return shown(value) if isinstance(value, Fraction) else repr(Interval(value.low, value.high))
