"""Kind "play": an algorithm is played on a problem, and the claim is false there.

The certificate has the claim as its author wrote it (sentence, assumptions, relations, definitions), the algorithm as
data, and an instance. Checked: the instance satisfies every assumption with the given constants and every relation, and
lies in the domains of the parameters and of the algorithm's operations; both sides at the given indices, from all
outcomes of all draws with their probabilities, are the printed ones; and the relation between them is false. Where
``by`` is "moments", expectations are found from means and covariances, which this program computes round by round: for
algorithms that are linear given their draws, on quadratics, and sides that are E of squares and products. Where it is
"intervals", numbers that grow long go on as intervals around them.

What remains for the reader: sentence, assumptions, relations, definitions, domains and the algorithm are those of the
paper. All of them are printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .arguments import OutsideRun, whole
from .assumed import holds
from .checks import Checks, Report
from .intervals import Interval
from .moments import Moments
from .parameters import MOST_ROUNDS, MOST_TERMS, point_of, read_parameters, read_start, read_vectors
from .playing import Game
from .points import check_points
from .problems import read_any_problem
from .quadratics import read_vector
from .reading import FormatError, Uncheckable, fields, integer, list_of, number, shown
from .scalars import ZERO, Number, Vector, Work, sure, surely_not
from .sentences import Node, Sentence
from .shapes import check_domains, check_shapes
from .spoken import World
from .spoken_by_moments import WorldByMoments
from .stated import Claimed, introduce, read_claim, steps_of
from .steps import OF_CLIENTS, Program, Step
from .still import Still
from .vocabulary import Vocabulary

NEEDED = (
    "format kind claim statement assumptions relations definitions program parameters problem start rounds at left "
    "right"
)
OPTIONAL = "standing domains over vectors xstar xstar_n by origin quick note"
METHODS = ("play", "moments", "intervals")
LONGEST = 2_000  # bits of numerator and denominator that "intervals" keep
COARSEST = Fraction(1, 10**6)


def verify_play(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind.

    Raises:
        FormatError: when it is malformed or too large to be checked.
    """
    told, checks = Checks(), Checks()
    try:
        try:
            _verify(told, checks, data)
        except Uncheckable as reason:
            checks.check(False, f"it cannot be checked: {shown(str(reason))}")
    except (RecursionError, OverflowError, MemoryError):
        raise FormatError("the certificate is nested too deeply, or its numbers are too large") from None
    return Report(checks.valid, tuple(checks.lines), tuple(told.lines))


def read_world(data: dict[str, Any], work: Work) -> tuple[Claimed, World]:
    """The claim of a certificate, and its instance.

    Raises:
        FormatError: when they are malformed.
    """
    fields(data, "the certificate", NEEDED, OPTIONAL)
    claimed = read_claim(data)
    problem = None if data["problem"] is None else read_any_problem(data["problem"], work)
    rounds = integer(data["rounds"], "rounds", 1, MOST_TERMS if data["program"] is None else MOST_ROUNDS)
    vectors = read_vectors(data.get("vectors", {}), problem)
    parameters = read_parameters(data["parameters"])
    start = read_start(data["start"], problem)
    if claimed.words.vectors != frozenset(vectors):
        raise FormatError("the free vectors have no values")
    xstar = None if data.get("xstar") is None else point_of(read_vector(data["xstar"], "xstar"), problem)
    xstar_n = None
    if data.get("xstar_n") is not None:
        xstar_n = tuple(point_of(read_vector(v, "xstar_n"), problem) for v in list_of(data["xstar_n"], "xstar_n"))
        if problem is None or len(xstar_n) != problem.N:
            raise FormatError("xstar_n is not one point for each client")
    by = data.get("by", "play")
    if by not in METHODS or (by == "moments" and claimed.program is None):
        raise FormatError(f"by={shown(by)} is none of {list(METHODS)}, or there is no algorithm")
    if by == "intervals":
        work.longest = LONGEST
    kind = WorldByMoments if by == "moments" else World
    world = kind(claimed.words, parameters, problem, start, rounds, vectors, work, xstar, xstar_n)
    return claimed, world


def _verify(told: Checks, checks: Checks, data: dict[str, Any]) -> None:
    claimed, world = read_world(data, Work())
    parameters = world.parameters
    introduce(told, data, claimed, world.problem, world.rounds)
    check_points(checks, world.problem)
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


def set_up(program: Program, world: World) -> bool:
    """Makes the game: the state before the first round, and the arguments of the operations.

    Raises:
        Uncheckable: where there is no such instance.
    """
    problem = world.given_problem()
    kind = Moments if isinstance(world, WorldByMoments) else Game
    game = kind(program, problem, world.parameters, world.rounds, world.work)
    points = (world.xstar, world.xstar_n)
    still = Still(Vocabulary(), world.parameters, problem, world.start, world.rounds, {}, world.work, *points)
    begin: list[Any] = []
    for s in program.state:
        zero = s.initial.op == "number" and s.initial.value == 0

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
    if not _narrow(low, high) or low > high:
        raise FormatError(f"{name} is not told to six digits")
    return low, high


def _narrow(low: Fraction, high: Fraction) -> bool:
    return high - low <= max(COARSEST * min(abs(low), abs(high)), COARSEST**2)


def _agree(printed: Fraction | tuple[Fraction, Fraction], value: Number) -> bool:
    low, high = (value, value) if isinstance(value, Fraction) else value.ends
    if isinstance(printed, Fraction):
        return low <= printed <= high and _narrow(low, high)
    return printed[0] <= low and high <= printed[1]


def _number(value: Number) -> str:
    return shown(value) if isinstance(value, Fraction) else repr(Interval(value.low, value.high))
