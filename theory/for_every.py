"""The assumption that a sentence is true for every point: ``for every x: norm2(grad(f_n, x)) <= G2``.

What every other assumption is a name of: dissimilarity, expected smoothness, star-convexity, weak convexity, growth.
The points are vectors of any kind; n and i that are free in the sentence are for all, too, and may be listed with them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from theory.domain import POSITIVE, Domain
from theory.formula import Apply, Name, Number
from theory.predicates import PREDICATES, Direction, Predicate, predicate
from theory.program import NAME
from theory.sentence import (
    ALL_CLIENTS,
    COORDINATE,
    OVER,
    POINTS,
    SPECIAL,
    At,
    Expression,
    Sentence,
    SentenceError,
    Vocabulary,
    everything,
    everything_meant,
    index_of,
    parse_call,
    parse_sentence,
    parts,
    read,
    text_of,
)

_EVERY = re.compile(r"\s*for\s+every\b(?P<over>[^:]*):(?P<sentence>.*)\Z", re.DOTALL)
_COUNTED = ("n", "i")
_CLOSED = ("<=", ">=", "==")


@dataclass(frozen=True)
class ForEvery(Predicate):
    """A sentence that is true for every x, or every x and y; of every client n and sample i that is free in it.

    Attributes:
        points: the vectors that it is for every one of.
        sentence: what is true; its parameters are the constants, whose directions are read off it.
        fixed: those of them that are no parameters, but defined.
        signed: those of them that may be negative.
    """

    points: tuple[str, ...]
    sentence: Sentence
    fixed: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    name = "for every"
    about = "gradients"
    meaning = "as it says"

    @cached_property
    def over(self) -> tuple[str, ...]:
        """The indices that are free in it, and its points."""
        words = Vocabulary(vectors=self.points)
        free = {index for side in self.sentence.sides for index in read(side, words).free}
        return (*(index for index in _COUNTED if index in free), *self.points)

    @cached_property
    def text(self) -> str:
        """As a claim writes it, with the indices that are free in it."""
        return f"for every {', '.join(self.over)}: {self.sentence}"

    @cached_property
    def directions(self) -> tuple[Direction, ...]:  # type: ignore[override]
        """Of its constants, where the form shows them: "up" where it is weaker with a larger one."""
        names = [one.name for one in self.constants if isinstance(one, Name)]
        return tuple(_direction(self.sentence, name, self.signed) for name in names)

    @property
    def binds(self) -> Mapping[str, Direction]:
        """The constants of which larger, or smaller ones do too; others are numbers of the claim."""
        free = {name: way for name, way in super().binds.items() if name not in self.fixed}
        return {name: way for name, way in free.items() if way != "exact" and not index_of(name)[1]}

    def within(self, defined: Collection[str], domains: Mapping[str, Domain]) -> ForEvery:
        """The assumption in a claim that defines these names, and says of these parameters where they lie."""
        names = [text_of(c) for c in self.constants]
        lowest = {name: domains.get(name, domains.get(index_of(name)[0], POSITIVE)).lower for name in names}
        signed = tuple(name for name, lower in lowest.items() if lower is None or lower < 0)
        return replace(self, fixed=tuple(name for name in names if name in defined), signed=signed)

    def words(self, claim: Vocabulary) -> Vocabulary:
        """What its names mean, in a claim with this vocabulary."""
        return Vocabulary(vectors=self.points, definitions=claim.definitions, numbers=claim.numbers)

    def check(self, claim: Vocabulary) -> None:
        """Nothing where it says something in a claim with this vocabulary.

        Raises:
            SentenceError: for states, expectations, vectors in the place of numbers, and what is not listed.
        """
        words = self.words(claim)
        for side in self.sentence.sides:
            for part in everything_meant(side, words):
                known = isinstance(part, At) or (isinstance(part, Name) and part.name in ("x0", "K", "k", "h", "j"))
                if known or (isinstance(part, Apply) and part.operation in _NOT_OF_FUNCTIONS):
                    raise SentenceError(f"{self}: it is about functions, and {text_of(part)} is of a run")
                if isinstance(part, Name) and part.name in claim.free_vectors and part.name not in self.points:
                    raise SentenceError(f"{self}: {part.name} is a vector of the claim, and not one of {self.points}")
            if read(side, words).shape != "scalar":
                raise SentenceError(f"{self}: {text_of(side)} is a vector")
        for name, tree in claim.definitions.items():
            if any(isinstance(part, Name) and part.name in self.points for part in everything(tree)):
                raise SentenceError(f"{self}: the definition of {name} speaks of another {' or '.join(self.points)}")

    def to_json(self) -> dict[str, Any]:
        return {"predicate": self.name, "points": list(self.points), "sentence": str(self.sentence)}

    def __str__(self) -> str:
        return self.text


_NOT_OF_FUNCTIONS = {"E", "quantile", COORDINATE, *ALL_CLIENTS, *(op for op, (_, i) in OVER.items() if i in "khj")}


def for_every(points: Sequence[str], sentence: Sentence) -> ForEvery:
    """The assumption that a sentence is true for every one of these vectors; errors as of `assumption`."""
    parts_ = [part for side in sentence.sides for part in everything(side)]
    names = dict.fromkeys(part.name for part in parts_ if isinstance(part, Name))
    constants = [Name(name) for name in names if name not in SPECIAL and name not in points]
    return ForEvery("", tuple(constants), tuple(points), sentence)


def assumption(text: str) -> Predicate | Sentence:
    """What a claim writes among its assumptions: a relation, a predicate, or a sentence for every point.

    Raises:
        SentenceError: for text that is none.
    """
    match = _EVERY.match(text)
    if match is None:
        try:
            found = parse_call(text) or parse_sentence(text)
        except SentenceError as error:
            told = str(error)
            raise SentenceError(told if "; " in told else told + _predicate_meant(text)) from None
        return found if isinstance(found, Sentence) else predicate(*found)
    listed, sentence = [name.strip() for name in match["over"].split(",")], parse_sentence(match["sentence"])
    points = [name for name in listed if name not in _COUNTED]
    for name in points:
        if not NAME.match(name) or name in SPECIAL or name.endswith("_n"):
            raise SentenceError(f"{text.strip()}: {name!r} is no name of a point; write for every x: SENTENCE")
    if len(set(listed)) < len(listed) or not points:
        raise SentenceError(f"{text.strip()}: it is for every of one or more points, each listed once")
    one = for_every(points, sentence)
    words = Vocabulary(vectors=one.points)
    spoken = {part.name for side in sentence.sides for part in everything(side) if isinstance(part, Name)}
    free = {index for side in sentence.sides for index in read(side, words).free}
    for name in listed:
        if name not in (free if name in _COUNTED else spoken):
            raise SentenceError(f"{text.strip()}: nothing in it has {name}")
    if free - {*_COUNTED}:
        raise SentenceError(f"{text.strip()}: the index {min(free - {*_COUNTED})} is of a run")
    if sentence.relation not in _CLOSED:
        raise SentenceError(f"{text.strip()}: the relation is one of <= >= ==, not {sentence.relation}")
    return one


def _predicate_meant(text: str) -> str:
    """How an assumption is written that a text speaks of in other words, such as ``L-smooth(f)``, ``f is convex``."""
    if re.search(r"[<>=]", text):  # a relation
        return ""
    words = re.sub(r"[\s-]+", "_", text).lower()
    said = [name for name in PREDICATES if re.search(rf"(?<![a-z]){name}(?![a-z])", words)]
    return f"; an assumption is written {PREDICATES[max(said, key=len)].written}" if said else ""


def predicate_of(text: str) -> Predicate | None:
    """The predicate that a claim writes as this text; None for a relation. Errors as of `assumption`."""
    one = assumption(text)
    return one if isinstance(one, Predicate) else None


# --- the direction of a constant --------------------------------------------------------------------------------------


def _direction(sentence: Sentence, name: str, signed: Collection[str]) -> Direction:
    """Which way a parameter may be wrong, all but the signed ones being positive."""
    left, right = (_monotone(side, name, signed) for side in sentence.sides)
    ways = {left if left is None else -left, right} - {0}
    if sentence.relation == "==" or len(ways) != 1 or None in ways:
        return "exact"
    return "up" if (ways == {1}) == (sentence.relation == "<=") else "down"


def _monotone(e: Expression, name: str, signed: Collection[str]) -> int | None:
    """1 where a number grows with a parameter, -1 where it falls, 0 where it does not have it; None for all else."""
    if isinstance(e, Name):
        return int(index_of(e.name)[0] == name)
    if not isinstance(e, Apply) or all(_monotone_in(part, name) == 0 for part in parts(e)):
        return 0
    inner = [_monotone(part, name, signed) for part in parts(e)]
    op, signs = e.operation, [_sign(part, signed) for part in parts(e)]
    if None in inner:
        return None
    ways = [one or 0 for one in inner]
    if op in ("neg", "-"):
        ways[-1] = -ways[-1]
    if op == "/":
        ways[1] = -ways[1]
        if ways[1] and not signs[1]:  # it jumps at 0
            return None
    if op in ("*", "/"):
        for at, other in ((0, 1), (1, 0)):
            if ways[at] and not signs[other]:
                return None
            ways[at] *= signs[other] or 0
    if op == "**":
        power = parts(e)[1]
        if not isinstance(power, Number) or signs[0] != 1:
            return None
        ways[0] *= 1 if power.value > 0 else -1
    elif op not in ("neg", "+", "-", "*", "/", "sqrt", "exp", "log", "min", "max", *OVER):
        return None
    there = set(ways) - {0}
    return there.pop() if len(there) == 1 else None


def _monotone_in(e: Expression, name: str) -> int:
    return int(any(isinstance(part, Name) and index_of(part.name)[0] == name for part in everything(e)))


def _sign(e: Expression, signed: Collection[str]) -> int | None:
    """1 for a number that is not negative, -1 for one that is not positive; None where the form does not show it."""
    if isinstance(e, Number):
        return -1 if e.value < 0 else 1
    if isinstance(e, Name):
        return 1 if e.name not in POINTS and e.name != "fstar" and e.name not in signed else None
    if not isinstance(e, Apply):
        return None
    op, inner = e.operation, [_sign(part, signed) for part in parts(e)]
    if op in ("norm2", "norm", "sqrt", "exp", "abs"):
        return 1
    if op == "neg":
        return None if inner[0] is None else -inner[0]
    if op == "-" and text_of(parts(e)[1]) in ("fstar", "f(xstar)") and getattr(parts(e)[0], "operation", "") == "f":
        return 1
    if op in ("*", "/"):
        return None if None in inner else (inner[0] or 0) * (inner[1] or 0)
    if op == "**":
        return 1 if inner[0] == 1 else None
    known = op in ("+", "max", "min", *OVER) and len(set(inner)) == 1
    return inner[0] if known and op in ("+", "max", "min", *OVER) else None


__all__ = ["ForEvery", "assumption", "for_every", "predicate_of"]
