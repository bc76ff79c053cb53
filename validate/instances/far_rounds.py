"""Does a claim compare vectors of rounds far apart? Then nothing is supported: runs may turn farther than is tried.

On quadratics, and along a line, gradient descent hardly turns. On other convex functions it may project itself on one
half-plane after another, each far less steep than the last: it comes to point anywhere, nearly as far from the
minimiser as it began, after as many rounds as the largest curvature is a multiple of the least (`validate.batch.turned`
makes such runs of hundreds of rounds, which are few).
"""

from __future__ import annotations

from collections.abc import Iterator

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.predicates import Quadratic
from theory.program import LINEAR_GIVEN_DRAWS, Loop, Program
from theory.sentence import At, Expression, everything, everything_meant, parts
from validate.instances.affordable import meant
from validate.instances.pool import starts_at

OVER_ROUNDS = ("sum_k", "mean_k")
OF_FUNCTIONS = ("gradient", "full gradient", "prox")
"""Operations by which functions move a run."""


def turns(claim: Claim) -> list[str]:
    """Why runs that turn far may break a claim though none was met that does; nothing where they hardly can."""
    if compares_far_rounds(claim):
        return ["vectors of rounds far apart stand in one product, and runs may turn farther than is tried"]
    if claim.of is None or not claim.has_sentence:
        return []
    if not _of_quadratics(claim) and _compares_apart(claim, claim.of.program):
        return ["states that do not hang on each other stand in one product, and one may turn before the other moves"]
    if _adds_lengths(claim):
        return ["lengths of all steps are added up, and runs may turn, or slow down, more often than is tried"]
    return []


def compares_far_rounds(claim: Claim) -> bool:
    """Whether an inner product or a norm in it has models or gradients of rounds that may be any number apart.

    Such as of x0 and of x[k], also where x0 is 0 and not written, or kept in the state. On quadratics too where samples
    are drawn and each outcome is spoken of. What no function moves does not turn: clients that average.
    """
    if claim.of is None or not claim.has_sentence:
        return False
    of_quadratics = _of_quadratics(claim)
    if of_quadratics and (not claim.of.program.random or _is_identity(claim)):
        return False
    words, at_origin, unchanged = claim.vocabulary, starts_at(claim, frozenset({"x0"})), claim.of.program.unchanged
    moved = _moved_by_functions(claim.of.program)

    def names(e: Expression) -> frozenset[str]:
        return frozenset(part.name for part in everything(e) if isinstance(part, Name))

    def rounds(e: Expression) -> set[frozenset[str]]:
        """What the rounds in a vector are counted from: nothing for x0 and x[1], k for x[k+1]."""
        every = list(everything_meant(e, words))
        if not any(isinstance(part, At) and part.name in moved for part in every):
            return set()
        early = frozenset[str]()
        found = {early if part.name in unchanged else names(part.indices[0]) for part in every if isinstance(part, At)}
        from_origin = at_origin and not any(isinstance(part, Name) and part.name.startswith("xstar") for part in every)
        return found | {frozenset() for part in every if from_origin or (isinstance(part, Name) and part.name == "x0")}

    def spoken(e: Expression) -> Iterator[Expression]:
        """The parts of a side; of quadratics, whose moments the search knows, those that are no expectation."""
        e = meant(e, words)
        yield e
        if isinstance(e, Apply) and not (of_quadratics and e.operation == "E"):
            for part in parts(e):
                yield from spoken(part)

    return any(
        isinstance(part, Apply) and part.operation in ("dot", "norm", "norm2") and len(rounds(part)) > 1
        for side in claim.sentence.sides
        for part in spoken(side)
    )


def _compares_apart(claim: Claim, program: Program) -> bool:
    """Whether an inner product or a norm has vectors of several states that begin alike and have no part in each other.

    Two runs from two starts are compared for how they come nearer, of which the worst cases tell.
    """
    begin = [state.initial for state in program.state]
    alone = {s.name for s in program.state if begin.count(s.initial) > 1} & _alone(program)

    def states(e: Expression) -> set[str]:
        return {part.name for part in everything_meant(e, claim.vocabulary) if isinstance(part, At)} & alone

    return len(alone) > 1 and any(
        isinstance(part, Apply) and part.operation in ("dot", "norm", "norm2") and len(states(part)) > 1
        for side in claim.sentence.sides
        for part in everything_meant(side, claim.vocabulary)
    )


def _alone(program: Program) -> set[str]:
    """The states whose next value hangs on no other, and that no other hangs on."""
    hangs_on = {state: {name for name, own in _reads(program).items() if own & one} for state, one in _made(program)}
    return {
        name
        for name, on in hangs_on.items()
        if on <= {name} and not any(name in other for state, other in hangs_on.items() if state != name)
    }


def _moved_by_functions(program: Program) -> set[str]:
    """The states whose next value hangs on a gradient or a proximal point, and the taps; also through other states."""
    of_functions = {step.to for step in program.steps if not isinstance(step, Loop) and step.op in OF_FUNCTIONS}
    made, inputs = dict(_made(program)), _reads(program)
    found = {state for state, values in made.items() if values & of_functions}
    while more := {state for state, values in made.items() if any(values & inputs[s] for s in found)} - found:
        found |= more
    return found | {*program.taps}


def _reads(program: Program) -> dict[str, set[str]]:
    """The value that a state is before a round."""
    return {state.name: {before} for state, before in zip(program.state, program.inputs, strict=True)}


def _made(program: Program) -> list[tuple[str, set[str]]]:
    """Each state with all values of which its next one is made."""
    uses: dict[str, set[str]] = {}
    for step in program.steps:
        if isinstance(step, Loop):
            for carried in step.carried:
                uses.setdefault(carried.name, set()).update((carried.first, carried.following))
        elif step.to:
            uses.setdefault(step.to, set()).update(step.of)
    found = []
    for state, result in zip(program.state, program.result, strict=True):
        reached, left = set[str](), [result]
        while left:
            one = left.pop()
            if one not in reached:
                reached.add(one)
                left += uses.get(one, ())
        found.append((state.name, reached))
    return found


def _adds_lengths(claim: Claim) -> bool:
    """Whether lengths of steps, not squared, are added up over the rounds, against what does not grow with these."""
    words = claim.vocabulary
    each = [list(everything_meant(side, words)) for side in claim.sentence.sides]
    of_steps = [
        isinstance(part, Apply) and part.operation in OVER_ROUNDS and any(map(_is_step, everything_meant(part, words)))
        for parts_ in each for part in parts_
    ]  # fmt: skip
    grows = [
        any(part == Name("K") or (isinstance(part, Apply) and part.operation in OVER_ROUNDS) for part in parts_)
        for parts_ in each
    ]
    return any(of_steps) and not all(grows)


def _is_step(e: Expression) -> bool:
    """Whether it is the length of a difference of one state's values in two rounds."""
    if not (isinstance(e, Apply) and e.operation == "norm"):
        return False
    rounds: dict[str, set[Expression]] = {}
    for part in everything(e):
        if isinstance(part, At):
            rounds.setdefault(part.name, set()).add(part.indices[0])
    return any(len(own) > 1 for own in rounds.values())


def _of_quadratics(claim: Claim) -> bool:
    return any(isinstance(one, Quadratic) for one in claim.predicates)


def _is_identity(claim: Claim) -> bool:
    """Whether it says of quadratics that a vector is 0, and all is affine given the draws.

    Then what is said to be 0 is a polynomial in the numbers that are drawn, so that a run on which it is not 0 is met
    by nearly all.
    """
    left, right = (meant(side, claim.vocabulary) for side in claim.sentence.sides)
    zero = isinstance(right, Number) and right.value == 0 and claim.sentence.relation in ("<=", "==")
    length = isinstance(left, Apply) and left.operation in ("norm", "norm2")
    return zero and length and claim.of is not None and claim.of.program.operations <= LINEAR_GIVEN_DRAWS
