"""A claim at numbers, as forms in inner products and values: what it says, and what its assumptions ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from theory import predicates as p
from theory.arithmetic import balls, to_element
from theory.claim import Claim
from theory.formula import Apply, Name, UndefinedError
from theory.operations import UndecidedError
from theory.program import LINEAR_GIVEN_DRAWS, OPERATIONS
from theory.sentence import ALL_CLIENTS, TURNS, SentenceError, everything, read
from theory.worst_case.assembly import Meeting, fraction
from theory.worst_case.classes import Classes, NoClassError, classes
from theory.worst_case.forms import (
    Extreme,
    Form,
    Lengths,
    Linear,
    NotLinearError,
    Root,
    plus,
    squared_sides,
)
from validate.both_sides import in_outcomes, indices_of, relation_holds
from validate.instances.instance import Instance
from validate.instances.pool import needs_minimiser, starts_at
from validate.rounds import TooManyOutcomesError
from validate.worst_case.apart import across
from validate.worst_case.at_points import of_sentences
from validate.worst_case.numbers import Numbers
from validate.worst_case.unknown import Law, TooLargeError, Unknown, Zero
from validate.worst_case.world import OUTCOMES, Constants, FormWorld, constants_of

ROOM = 48
"""Basis vectors of a program, unless more are asked for."""
REFUSED = OPERATIONS - LINEAR_GIVEN_DRAWS | {"ones"}
"""Operations that are not linear in vectors, or speak of coordinates."""
BEYOND = frozenset({"quantile", *ALL_CLIENTS})
"""What a sentence takes over all clients or outcomes, and no form in inner products is."""


SHARES = "sums of lengths at some of their shares"


class NoReadingError(ValueError):
    """A claim that has no such form, or not at these numbers; it may be true all the same."""


class NoCaseError(NoReadingError):
    """Indices of which a sentence does not speak."""


class LargeReadingError(NoReadingError):
    """A claim that has one in more room."""


@dataclass(frozen=True)
class Case:
    """The sentence for one value of its free indices, in one outcome: ``left <= right``.

    Attributes:
        at: the indices.
        left: what is to be small (the right side of ``>=``).
        right: what it is to be smaller than.
        squared: whether both are the squares of what is claimed.
    """

    at: Mapping[str, int]
    left: Linear
    right: Linear
    squared: bool = False


@dataclass(frozen=True)
class Reading:
    """A claim at numbers.

    Attributes:
        claim: which.
        values: the parameters, and what else the claim needs.
        instance: what was played: the functions are not known.
        unknown: where they were met.
        met: the same as data.
        cases: what is claimed.
        classes: of the functions.
    """

    claim: Claim
    values: Numbers
    instance: Instance
    unknown: Unknown
    met: Meeting
    cases: tuple[Case, ...]
    classes: Classes

    @property
    def larger(self) -> bool:
        """Whether more is read than the claim allows: then a bound is one for the claim, and a solution no instance."""
        return bool(self.classes.across or self.unknown.spread)


def refusal(claim: Claim) -> str:
    """Why a claim has no Gram reading at any numbers; empty where nothing speaks against one."""
    if claim.over:
        return "its assumptions are asked on a part of the space only"
    if any(isinstance(one, p.Quadratic) for one in claim.predicates):
        return "its functions are quadratics"
    trees = [*claim.sentence.sides, *claim.definitions.values()]
    trees += [side for relation in claim.relations for side in relation.sides]
    beyond = {part.operation for tree in trees for part in everything(tree) if isinstance(part, Apply)} & BEYOND
    if beyond:
        return f"{min(beyond)} is not linear in inner products"
    if claim.program is not None:
        found = sorted(claim.program.operations & REFUSED)
        if found:
            return f"{found[0]} is not linear in inner products"
    elif not claim.predicates:
        return "it has neither an algorithm nor functions"
    return ""


def read_claim(
    claim: Claim,
    values: Numbers,
    samples: tuple[int, ...],
    rounds: int,
    room: int = ROOM,
    law: Law = "any",
    at: Mapping[str, int] | None = None,
) -> Reading:
    """A claim at numbers.

    Args:
        claim: which.
        values: numbers for all its names.
        samples: of each client.
        rounds: K.
        room: basis vectors that there may be.
        law: of noise: any, for bounds, or one, for instances.
        at: where given, only the first of the last cases that have these indices is read, if no assumption across
            functions is asked at what the others meet.

    Raises:
        NoReadingError: where it has no such form, or is too large, or the sentence no such case.
    """
    why = refusal(claim)
    if why:
        raise NoReadingError(why)
    try:
        nearby = False
        for _ in range(2):
            reader = _Reader(claim, values, samples, rounds, room, nearby, law)
            conditions = reader.conditions()
            if nearby or not any(_is_start(form) for _, form in conditions):
                break
            nearby = True  # the start is the minimiser: one point, not two at no distance
        conditions = [(name, form) for name, form in conditions if form.gram or form.values or form.constant]
        if reader.unknown.spread or reader.unknown.line is not None:
            raise NotLinearError("an assumption on a run with noise")
        cases = tuple(reader.cases(at))
        conditions += [*reader.of_noise(), *across(reader.unknown, reader.classes, reader.numbers)]
        with balls(64):
            conditions += of_sentences(reader.unknown, reader.classes, reader.world, claim)
        met = reader.meeting(conditions)
        if reader.unknown.narrowed and any(own.mu <= 0 for own in met.classes.values()):
            reader.narrow("one minimiser for f and its only client")
        return Reading(claim, values, reader.instance, reader.unknown, met, cases, reader.classes)
    except NoCaseError:
        raise
    except TooLargeError as error:
        raise LargeReadingError(str(error)) from None
    except (NotLinearError, NoClassError, TooManyOutcomesError) as error:
        raise NoReadingError(str(error)) from None
    except (UndefinedError, UndecidedError, SentenceError, ZeroDivisionError, OverflowError) as error:
        raise NoReadingError(f"not at these numbers: {error}") from None
    except ValueError as error:
        raise NoReadingError(f"not at these numbers: {error}") from None


def _is_start(form: Form) -> bool:
    """Whether a form that is not positive says that the start is the minimiser."""
    return not form.values and not form.constant and list(form.gram) == [(1, 1)] and form.gram[1, 1] > 0


def _zero(claim: Claim) -> Zero:
    """What a relation says to be 0."""
    if starts_at(claim, frozenset({"x0"})):
        return "x0"
    return "xstar" if starts_at(claim, frozenset({"xstar"})) else ""


class _Reader:
    def __init__(
        self, claim: Claim, values: Numbers, samples: tuple[int, ...], rounds: int, room: int, nearby: bool, law: Law
    ) -> None:
        self.claim, self.values, self.samples = claim, values, samples
        with balls(64):
            self.numbers = Constants(claim, values.parameters, values.constants, len(samples), rounds)
            self.classes = classes(claim.predicates, samples, self.numbers.constant)
        minimiser = needs_minimiser(claim)
        if self.classes.same_minimiser and not minimiser:
            minimiser = True
            self.narrow("functions with a minimiser")
        convex = all(own.mu >= 0 for own in self.classes.of.values())
        if minimiser and not convex and len(self.classes.of) > 1:
            raise NoClassError("a minimiser of functions that need not be convex; with convex(f_ni) it is")
        d = values.parameters.get("d", values.constants.get("d"))
        self.unknown = Unknown(
            samples,
            room,
            minimiser=minimiser,
            same=self.classes.same_minimiser,
            nearby=nearby,
            convex=convex,
            law=law,
            coordinates=None if d is None else int(d),
            zero=_zero(claim),
        )
        free = {name: self._free(name) for name in claim.vectors}
        parameters = {name: v for name, v in values.parameters.items() if name != "N"}
        start = tuple(map(fraction, self.unknown.start))
        self.instance = Instance(claim.program, parameters, self.unknown, start, rounds, free, values.algorithm)
        constants = constants_of(values.constants, rounds)
        self.world = FormWorld(self.instance, claim, {k: v for k, v in constants.items() if k != "d"}, self.unknown)
        if d is not None:
            self.world.given["d"] = to_element(Fraction(d))

    def narrow(self, note: str) -> None:
        """Note in what the functions that are read are fewer than those that are allowed."""
        self.classes = replace(self.classes, whole=False, notes=(*self.classes.notes, note))

    def _free(self, name: str) -> Any:
        """A free vector: of ``a_n`` one a client."""

        def one(text: str) -> tuple[Fraction, ...]:
            vector = self.unknown.plus(self.unknown.origin, self.unknown.new(text, root=True))
            return tuple(map(fraction, vector))

        return tuple(one(f"{name} {n + 1}") for n in range(len(self.samples))) if name.endswith("_n") else one(name)

    def conditions(self) -> list[tuple[str, Form]]:
        """What the relations between vectors and values ask."""
        found: list[tuple[str, Form]] = []
        with balls(64):
            for relation in self.claim.relations:
                for at in indices_of(relation, self.world, self._free_indices(relation)):
                    found += self._condition(relation, at)
        return found

    def _free_indices(self, sentence: Any) -> frozenset[str]:
        words = self.claim.vocabulary
        named = {e.name for side in sentence.sides for e in everything(side) if isinstance(e, Name)}
        hidden = frozenset(self.world.many(name) for name in named) - {""}
        return read(sentence.left, words).free | read(sentence.right, words).free | hidden

    def _condition(self, relation: Any, at: Mapping[str, int]) -> list[tuple[str, Form]]:
        outcomes = list(in_outcomes(relation, self.world, at))
        if len(outcomes) > 1:
            raise NotLinearError(f"the assumption {relation}, of what is drawn")
        ((_, left, right),) = outcomes
        if not any(isinstance(side, Form | Extreme | Root | Lengths) for side in (left, right)):
            if not relation_holds(left, relation.relation, right):
                raise NoReadingError(f"{relation} does not hold at these numbers")
            return []
        sides = (left, right) if relation.relation in ("<=", "<") else (right, left)
        small, large = squared_sides(*sides)
        gap = plus(small, large, -1)
        if relation.relation == "==" or not isinstance(gap, Form):
            raise NotLinearError(f"the assumption {relation}")
        if gap.is_number and gap.constant > 0:
            raise NoReadingError(f"{relation} does not hold at these numbers")
        return [] if gap.is_number else [(str(relation), gap)]

    def cases(self, wanted: Mapping[str, int] | None) -> list[Case]:
        """What is claimed, for every value of the free indices and every outcome; or only `read_claim`'s at."""
        sentence = self.claim.sentence
        found: list[Case] = []
        with balls(64):
            every = [dict(at) for at in indices_of(sentence, self.world, self._free_indices(sentence))]
            if wanted is not None:
                every = [at for at in every if dict(wanted).items() <= at.items()]
                every.sort(key=_earlier)
                if not every:
                    raise NoCaseError(f"at={dict(wanted)} are no indices of which {self.claim.id} speaks")
            for at in every:
                found += self._cases(at)
                if wanted is not None and found and not self.classes.across:
                    break
        if not found:
            raise NoReadingError("no round and no turn of this run is one of which the sentence speaks")
        return found

    def _cases(self, at: Mapping[str, int]) -> list[Case]:
        """Those at some indices."""
        sentence = self.claim.sentence
        try:
            left, right = (self.world.bind(side, at) for side in sentence.sides)
        except UndefinedError:  # it says nothing there
            return []
        items = left.items | right.items
        outcomes: list[Any] = [{}]
        if items:
            outcomes = [outcome for _, outcome in self.world.play.joint(items)]
        if len(outcomes) > OUTCOMES:
            raise TooManyOutcomesError(f"more than {OUTCOMES} outcomes")
        found = []
        for outcome in outcomes:
            if any(map(self.unknown.is_random, outcome.values())):
                raise NotLinearError("what is random outside of E, with noise")
            one, other = left.at(outcome), right.at(outcome)
            squared = isinstance(one, Root | Lengths) or isinstance(other, Root | Lengths)
            if SHARES not in self.classes.notes and (isinstance(one, Lengths) or isinstance(other, Lengths)):
                self.narrow(SHARES)
            if sentence.relation in ("<=", "<", "=="):
                found.append(Case(dict(at), *squared_sides(one, other), squared))
            if sentence.relation in (">=", ">", "=="):
                found.append(Case(dict(at), *squared_sides(other, one), squared))
        return found

    def of_noise(self) -> list[tuple[str, Form]]:
        """That noise is no longer than its law says; that it is no shorter is not asked."""
        found = [
            (f"variance of {self.unknown.basis[j]}", Form({(j, j): to_element(Fraction(1))}).plus(spread, -1))
            for j, spread in self.unknown.spread.items()
        ]
        line = self.unknown.line
        if line is not None:
            found.append(("direction of the noise", Form({(line, line): to_element(Fraction(1))}, constant=-1)))
        return found

    def meeting(self, conditions: list[tuple[str, Form]]) -> Meeting:
        """What was met, as data."""
        unknown = self.unknown
        size = len(unknown.basis)
        functions = {
            key: tuple(replace(point, x=point.x[:size], g=point.g[:size]) for point in own.values())
            for key, own in unknown.points.items()
        }
        roots = {place: Fraction(1) for place in (0, *unknown.roots)}
        for place, key in unknown.gradient_roots.items():
            roots[place] = 1 / self.classes.of[key].L ** 2
        gradients = frozenset(j for j, name in enumerate(unknown.basis) if name.startswith("grad"))
        return Meeting(
            tuple(unknown.basis),
            functions,
            unknown.values,
            tuple(conditions),
            roots,
            gradients,
            dict(self.classes.of),
            unknown.has_minimiser,
            unknown.orthogonal(),
        )


def last_first(cases: tuple[Case, ...]) -> Iterator[Case]:
    """The cases of the last rounds first, of these those of the last turns: the others are cases of shorter runs."""
    yield from sorted(cases, key=lambda case: _earlier(case.at))


def _earlier(at: Mapping[str, int]) -> tuple[int, int]:
    return -at.get("k", 0), -sum(at.get(turn, 0) for turn in TURNS)
