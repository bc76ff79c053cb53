"""Is support earned? What the instances that did not break a claim varied, and what they left as it was."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number, UndefinedError, names_in
from theory.predicates import Connected, Convex, PolyakLojasiewicz, Quadratic, StronglyConvex
from theory.program import LINEAR_GIVEN_DRAWS, Instruction, Program
from theory.program.altering import altered
from theory.sentence import (
    FUNCTION_NAMES,
    At,
    Expression,
    Sentence,
    everything,
    everything_meant,
    index_of,
    parts,
)
from validate.counted import counted
from validate.instances.affordable import everything_said, meant
from validate.instances.candidates import candidate_of, realised
from validate.instances.far_rounds import turns
from validate.instances.fixed import fixed_numbers
from validate.instances.growth import still_growing
from validate.instances.in_floats import between_integers
from validate.instances.longer import ROUNDS
from validate.instances.pieces import Pieces
from validate.instances.points import Points
from validate.instances.pool import Drawn, drawn, fitting_sizes, has_functions
from validate.instances.problems import Quadratics
from validate.instances.reached import chances_in, chances_of, longest
from validate.instances.ridges import Ridges
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt, Seen, is_telling, measured, numbers_of
from validate.instances.together import with_its_start
from validate.play import Play
from validate.rounds import TooManyOutcomesError
from validate.verdict import NOTHING_COVERED, Coverage

LEAST = 20
"""Instances with sides that are not 0."""
DIFFERENT = 5
"""Instances of numbers alone that are not the same."""
STILL = 40
"""Runs from the minimiser that are to say nothing, before it is taken that none does."""
MOVED = 200
"""Instances that are moved to their minimiser for it."""
SHORT = 1000
"""A denominator that is written out."""
TRIES = 60
"""Instances on which a changed program, or a claim without one of its relations, is tried."""


def coverage(claim: Claim, found: Hunt, quick: bool, bounded: bool = False) -> Coverage:
    """Whether what did not break a claim could have.

    Asked of the instances on which it says something: at least `LEAST` whose sides are not both 0, every name of the
    claim with two values or more, and, as far as its relations leave it free, two dimensions or more, three clients or
    more, loops of two turns or more, starts at and off the minimiser. A claim whose sides are all 0 by its text counts
    if a changed program, or the claim without one of its relations, is broken on instances made the same way.

    Where some gradients vary, instances of linear functions do not count for dimensions and clients: they are the only
    quadratics that are Lipschitz, and what is true of them, and of all functions in one dimension, may be false.

    Args:
        claim: the claim.
        found: what the pool and the search saw.
        quick: whether the budget was the quick one.
        bounded: whether the worst case over all functions that satisfy its sentences for every point at the points of
            the run proves it at small sizes.
    """
    if not found.seen or found.broken is not None:
        return NOTHING_COVERED
    missing, told = closed(claim), []
    spelled = [one.text for one in claim.predicates if isinstance(one, ForEvery)]
    if spelled and not bounded:  # a search alone knows few functions: no curved valleys
        missing.append(
            f"functions with {'; '.join(map(repr, spelled))} are more than a search knows, and no bound over all that "
            "satisfy it at the points of a run was proved at small sizes"
        )
    elif spelled:
        told.append("bounded at small sizes over all functions that satisfy its sentences at the points of the run")
    missing += turns(claim)
    reached = dict(found.reached.sizes)
    telling = [seen for seen in found.seen if is_telling(seen)]
    if few_tell(found):
        missing.append(f"only {counted(len(telling), 'instance')} with a side that is not 0")
    elif len(telling) < LEAST and not _is_zero_by_text(claim):
        missing.append(f"only {counted(len(telling), 'instance')} with a side that is not 0, and its text says no 0")
    elif len(telling) < LEAST:
        how, few = _would_break(claim), f"only {counted(len(telling), 'instance')} with a side that is not 0"
        if how is None:
            missing.append(few if telling else f"{few}, and no changed program breaks it either")
        else:
            told.append(f"both sides are 0 on {'all' if not telling else 'nearly all'} of them, and it breaks {how}")
    if _same_numbers(claim, telling):
        missing.append("most numbers that it speaks of were the same")
    if telling and _less_is_nothing(claim, telling):
        missing.append("the side that is to be less was 0 throughout")
    at_start = _room_at_the_start(found, telling)
    if at_start is not None:
        missing.append(f"at k = 0 left over right is {at_start:.3g} whatever the run is, and no round comes near to 1")
    instances = [*(seen.drawn for seen in found.seen), *found.far]
    missing += still_growing(found.reached.rungs, ROUNDS, found.reached.cut)
    missing += {
        name: f"it is missed by {by:.3g} in the end, as {name} grows" for name, by in found.reached.ends
    }.values()
    between = between_integers(claim, found)
    if between is not None:
        at = ", ".join(f"{name} = {value:.6g}" for name, value in between.items())
        missing.append(f"between integers it is false (near {at}), and no integers that were tried tell of others")
    fixed = fixed_numbers(claim)
    for symbol in claim.symbols:
        name = index_of(symbol)[0]
        values = {_key(one, name) for one in instances}
        if len(values) < 2 and name not in fixed:
            missing.append(f"{symbol} had one value throughout")
    if has_functions(claim) or claim.vectors:
        sizes = fitting_sizes(claim)
        curved = [one for one in instances if not _is_linear(one)]
        sized = curved or instances
        d = {_dim(one) for one in sized}
        N = {_clients(one) for one in sized}
        if max(d) < 2 and any(size.dim > 1 for size in sizes):
            missing.append(
                "one dimension only" + ("" if len(sized) == len(instances) else ", but for linear functions")
            )
        if _is_over_a_ball(claim) and any(size.dim > 1 for size in sizes):
            missing.append("where a ball binds, its minimiser is known in one dimension only")
        if max(N) < 3 and any(size.clients > 2 for size in sizes) and _speaks_of_clients(claim):
            missing.append("fewer than three clients")
        if has_functions(claim):
            told.append(_kinds(instances))
        told.append(f"d up to {max(max(d), reached.pop('d', 0))}")
        if _speaks_of_clients(claim):
            told.append(f"N up to {max(max(N), reached.pop('N', 0))}")
        if has_functions(claim):
            samples = max(map(_samples, instances))
            most = max(samples, reached.pop("samples", 0))
            draws = claim.program is not None and "sample" in claim.program.operations
            if draws and most < 2 and any(size.samples > 1 for size in sizes):
                missing.append("one sample a client only, of which the algorithm draws")
            told += [f"up to {counted(most, 'sample')} a client"] if most > 1 else []
    roles = roles_in(claim)
    for name in sorted(roles.turns):
        most = max(one.values[name] for one in instances)
        if most < 2 and name not in fixed:
            missing.append(f"{name} was 1 throughout")
        told.append(f"{name} up to {max(most, reached.pop(name, 0))}")
    if claim.of is not None:
        starts = {_is_at_minimiser(one) for one in instances} - {None}
        if starts == {True} and not _start_is_tied(claim):
            missing.append("every start was at the minimiser")
        if starts == {False} and not _start_is_tied(claim):
            if _is_silent_at_minimiser(claim, found):
                told.append("nothing said where a run begins at the minimiser")
            else:
                missing.append("no start was at the minimiser")
        if not _start_is_tied(claim) and not any(map(_moves, instances)):
            missing.append("no run left its start")
        told.append(_rounds(claim, instances, found))
        reached.pop("K", None)
    elif "K" in reached:
        told.append(f"K up to {max(reached.pop('K'), *(one.instance.rounds for one in instances))}")
    told += [f"{name} up to {max(value, _largest(instances, name))}" for name, value in reached.items()]
    word = "quick" if quick else "full"
    if missing:
        return Coverage(False, f"not called supported: {'; '.join(missing)}")
    told = [counted(len(telling) or len(found.seen), "instance"), *told]
    searched = f", of which {counted(found.evaluations, 'instance')} came near enough to be measured exactly"
    return Coverage(True, f"{', '.join(told)}; {word} search{searched if found.evaluations else ''}")


def _same_numbers(claim: Claim, telling: list[Seen]) -> bool:
    """Whether a claim about numbers alone was seen at few of them, as its relations have few small solutions."""
    if claim.of is not None or has_functions(claim) or claim.vectors or fixed_numbers(claim).keys() >= {*claim.symbols}:
        return False
    different = {repr((seen.drawn.instance.rounds, sorted(seen.drawn.values.items()))) for seen in telling}
    return len(different) < DIFFERENT and len(telling) >= LEAST


def _is_over_a_ball(claim: Claim) -> bool:
    """Whether a sentence speaks of a minimiser over a ball."""
    return any(
        isinstance(part, Apply) and part.operation == "argmin_n" and len(part.arguments) == 2
        for part in everything_said(claim)
    )


def _is_zero_by_text(claim: Claim) -> bool:
    """Whether a side is the number 0: then sides that are all 0 may be what is claimed."""
    sides = (meant(side, claim.vocabulary) for side in claim.sentence.sides)
    return any(isinstance(side, Number) and side.value == 0 for side in sides)


def _room_at_the_start(found: Hunt, telling: list[Seen]) -> float | None:
    """Left over right before the first round, where that is one number on all instances, and nowhere more than a half:
    with so much room rounds tell nothing. None where it is not so.
    """
    first, later = set[float](), {ratio for _, rungs in found.reached.rungs for _, ratio in rungs}
    for seen in telling:
        for row in seen.measured.rows:
            if row.left is None or row.right is None or "k" not in row.at:
                continue
            low, high = sorted(map(abs, numbers_of(row)))
            if 0 < high < math.inf:
                (first.add if row.at["k"] == 0 else later.add)(float(low / high))
    if not first or not later or max(first | later) > ROOM or max(first) - min(first) > SAME * max(first):
        return None
    return max(first)


ROOM, SAME = 1 / 2, 1e-6
"""Left over right that is far from 1; of itself, by which a number may differ from another that is the same."""


def _less_is_nothing(claim: Claim, telling: list[Seen]) -> bool:
    """Whether the side that is to be less speaks of something, and was 0 on every instance."""
    if claim.sentence.relation == "==":
        return False
    less = claim.sentence.relation in (">=", ">")
    speaks = any(isinstance(part, Name | At) for part in everything(claim.sentence.sides[less]))
    rows = (row for seen in telling for row in seen.measured.rows if row.left is not None)
    return speaks and all((row.right if less else row.left) == 0 for row in rows)


def closed(claim: Claim) -> list[str]:
    """Why nothing that is seen earns support for a claim; nothing where it may."""
    found = []
    if claim.over:
        found.append(
            f"what is assumed where {claim.over} only was asked everywhere, and no instance was tried on which it is "
            "true there alone"
        )
    if claim.program is not None and "noise" in claim.program.operations and not _is_of_second_moments(claim):
        found.append("it hangs on more of the noise than its second moments, and one law of each was tried")
    wild = [one.text for one in claim.predicates if isinstance(one, PolyakLojasiewicz) and not _is_convex(claim, one)]
    if wild:
        found.append(f"functions with {'; '.join(wild)} need not be convex, and no search knows their curved valleys")
    tied = [str(one) for one in claim.relations if one.relation == "==" and _has_length(claim, one)]
    if tied and has_functions(claim) and not any(isinstance(one, Quadratic) for one in claim.predicates):
        found.append(f"fractions satisfy {tied[0]} where a run begins on an axis only, and no worst case was sought")
    if any(isinstance(one, Connected) for one in claim.predicates) and _is_of_single_clients(claim):
        found.append("what a network does to single clients hangs on more of it than rho, and few networks were tried")
    return found


def _has_length(claim: Claim, relation: Sentence) -> bool:
    """Whether a distance without a square stands in it: most vectors of fractions have no length that is a fraction."""
    words = claim.vocabulary
    applied = [e for side in relation.sides for e in everything_meant(side, words) if isinstance(e, Apply)]
    lengths = [[*everything_meant(e, words)] for e in applied if e.operation == "norm"]
    return any(not any(isinstance(e, Apply) and e.operation.startswith("grad ") for e in inner) for inner in lengths)


def _is_of_single_clients(claim: Claim) -> bool:
    """Whether more than mean squares over the clients is compared: the largest, the first, lengths without a square."""
    spoken = [part for side in claim.sentence.sides for part in everything_meant(side, claim.vocabulary)]
    return any(isinstance(part, Apply) and part.operation in (*SINGLE, "norm") for part in spoken)


SINGLE = ("max_n", "min_n", "first_n")
"""Of the clients."""


SQUARED = ("norm2", "dot")
"""What is of degree two in vectors."""


def _is_of_second_moments(claim: Claim) -> bool:
    """Whether what is random stands in E, no more than squared, and its algorithm is linear given its draws.

    Of noise of whose variance nothing is said any vector is a value: then a sentence of every outcome is one too.
    """
    program = claim.program
    if program is None or not program.operations <= LINEAR_GIVEN_DRAWS:
        return False
    words = claim.vocabulary

    def degree(e: Expression) -> int:
        """In the states, 3 for more than 2; of an expectation 0."""
        e = meant(e, words)
        if isinstance(e, At):
            return 1
        if not isinstance(e, Apply):
            return 0
        of = [degree(part) for part in parts(e)]
        most = max(of, default=0)
        if e.operation == "E":
            return 0 if most <= 2 else 3
        if most == 0:
            return 0
        if e.operation in SQUARED or e.operation in FUNCTION_NAMES:
            return 2 if most <= 1 else 3
        if e.operation == "*":
            return min(3, sum(of))
        plain = e.operation in ("+", "-", "neg") or e.operation.startswith("grad ") or e.operation in SUMS
        return most if plain or (e.operation == "/" and of[1] == 0) else 3

    sizes = {name for step in program.steps if isinstance(step, Instruction) and step.op == "noise"
             for formula in step.numbers for name in names_in(formula)}  # fmt: skip
    said = [*claim.sentence.sides, *(side for relation in claim.relations for side in relation.sides)]
    spoken = [part for side in said for part in everything_meant(side, words)]
    if any(isinstance(part, Name) and part.name in sizes for part in spoken):
        return all(degree(side) == 0 for side in claim.sentence.sides)
    return all(degree(part) == 0 for part in spoken if isinstance(part, Apply) and part.operation == "E")


SUMS = frozenset(f"{how}_{index}" for how in ("sum", "mean", "first") for index in "nikh")


def _is_convex(claim: Claim, one: PolyakLojasiewicz) -> bool:
    """Whether its function is assumed convex, or those are of which it is the mean."""
    kinds = (Convex, StronglyConvex, Quadratic)
    return any(isinstance(other, kinds) and other.function.startswith(one.function) for other in claim.predicates)


def few_tell(found: Hunt) -> bool:
    """Whether too few instances were seen with a side that is not 0, although most of those that were seen have one."""
    telling = sum(map(is_telling, found.seen))
    return telling < LEAST and 2 * telling >= len(found.seen)


def is_earned(claim: Claim, found: Hunt) -> bool:
    """Whether what was seen so far earns support; whether a changed program is broken is asked where few tell."""
    return coverage(claim, found, quick=True, bounded=True).earned


def _key(one: Drawn, name: str) -> Any:
    value = one.instance.rounds if name == "K" else one.values[name]
    return repr(value)


def _kinds(instances: list[Drawn]) -> str:
    """Which functions were tried."""
    kinds = {type(one.instance.problem) for one in instances}
    words = ["quadratics"] if Quadratics in kinds else []
    where = ["in one dimension"] * (Pieces in kinds) + ["along directions"] * (Ridges in kinds)
    words += [f"piecewise quadratics {' and '.join(where)}"] if where else []
    words += ["functions given by points"] if Points in kinds else []
    return " and ".join(words)


def _dim(one: Drawn) -> int:
    return one.instance.dim or 1


def _rounds(claim: Claim, instances: list[Drawn], found: Hunt) -> str:
    """How many rounds were gone through, and with which chances; what is rare shows in long runs only."""
    run = longest(claim, instances + ([] if found.reached.longest is None else [found.reached.longest]))
    words = [f"up to {counted(run.instance.rounds, 'round')}"]
    for name in chances_in(claim):
        all_of, there = chances_of(name, [*instances, run]), chances_of(name, [run])
        ends = min(all_of), max(all_of), min(there)
        least, most, rare = (v if v.denominator < SHORT else f"{float(v):.2g}" for v in ends)
        words.append(f"{name} from {least} to {most}, in the longest runs from {rare}")
    return ", ".join(words)


def _largest(instances: list[Drawn], name: str) -> int:
    """The largest value of an integer among instances."""
    values = [one.values.get(name, 0) for one in instances]
    return max(int(max(value) if isinstance(value, list) else value) for value in values)


def _samples(one: Drawn) -> int:
    problem = one.instance.problem
    return 1 if problem is None else max(problem.samples(n) for n in range(problem.clients))


def _is_linear(one: Drawn) -> bool:
    """Whether every gradient is the same everywhere."""
    problem = one.instance.problem
    if isinstance(problem, Quadratics):
        return not (problem.quadratic.hessian != 0).any()
    if isinstance(problem, Pieces):
        return all(f.slopes == (0,) for own in problem.functions for f in own)
    if isinstance(problem, Ridges):
        return not any(f.terms for own in problem.functions for f in own)
    return False


def _clients(one: Drawn) -> int:
    return one.instance.clients or 1


def _speaks_of_clients(claim: Claim) -> bool:
    """Whether the number of clients can matter."""
    if claim.program is not None and claim.program.operations & {
        "mean",
        "sum",
        "average",
        "mix",
        "visit",
        "full gradient",
    }:
        return True
    return any(v.endswith("_n") for v in claim.vectors) or any(p.function != "f" for p in claim.predicates)


def _moves(one: Drawn) -> bool:
    """Whether a state is another after one round; also where that is not known."""
    if one.instance.program is None or one.instance.problem is None or not one.instance.rounds:
        return False
    try:
        play = Play(one.instance)
        return any(state != play.start for _, state in play.law(1))
    except (ValueError, ArithmeticError, TooManyOutcomesError):
        return True


def _is_at_minimiser(one: Drawn) -> bool | None:
    from theory.arithmetic import to_element

    problem = one.instance.problem
    if problem is None:
        return None
    try:
        return all(x == 0 for x in problem.gradient(tuple(map(to_element, one.instance.start))))
    except UndefinedError:  # a function that is not known there
        return None


def _is_silent_at_minimiser(claim: Claim, found: Hunt) -> bool:
    """Whether a claim says nothing of any run that begins at the minimiser, as sides are undefined there."""
    tried = Hunt()
    count = 0
    for seen in found.seen[:MOVED]:
        moved = with_its_start(candidate_of(seen.drawn))
        one = None if moved is None else realised(claim, moved)
        if one is None:
            continue
        count += 1
        if measured(claim, one, tried) is not None or count == STILL:
            break
    return count >= LEAST and tried.silent == count


def _start_is_tied(claim: Claim) -> bool:
    return any("x0" in str(relation) for relation in claim.relations)


# --- claims whose sides are 0 ----------------------------------------------------------------------------------------


def _would_break(claim: Claim) -> str | None:
    """What would break a claim whose sides are all 0: one of its relations less, or a term of its program less."""
    for i, text in enumerate(claim.assuming):
        less = replace(claim, assuming=(*claim.assuming[:i], *claim.assuming[i + 1 :]))
        if _breaks(less):
            return f"without {text}"
    program = claim.program
    if program is None or claim.of is None:
        return None
    for _, changed in altered(program, (Fraction(0),)):
        if _breaks(claim, changed):
            return "when a term of the algorithm is left out"
    return None


def _breaks(claim: Claim, program: Program | None = None) -> bool:
    for seed in range(TRIES):
        one = drawn(claim, seed)
        if one is None:
            continue
        if program is not None:
            try:
                one = replace(one, instance=replace(one.instance, program=program))
            except ValueError:
                continue
        seen = measured(claim, one)
        if seen is not None and seen.measured.broken:
            return True
    return False
