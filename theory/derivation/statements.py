"""Lines that are accepted, what rules know of them, and how far they carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from theory.derivation.quotients import Quotient
from theory.derivation.reading import Place, Reader
from theory.formula import Apply, Name
from theory.sentence import OVER, TURNS, At, Expression, Sentence, index_of, parts


class NotProvedError(ValueError):
    """A derivation that is not accepted.

    Attributes:
        line: the name of the line at which it fails.
        why: what is wrong there.
        where: which line that is of those that were written, such as ``line 3`` or ``line 3, step, line 1``; empty
            where it is none of them.
        sentence: what the line says; empty where it says what the claim does, or says nothing.
    """

    def __init__(self, line: str, why: str, where: str = "", sentence: str = "") -> None:
        super().__init__(f"{line}: {why}")
        self.line, self.why, self.where, self.sentence = line, why, where, sentence

    @property
    def told(self) -> str:
        """Which line, what it says, and what is wrong, in one line."""
        if not self.where:
            return f"{self.line}: {self.why}"
        name = "" if self.where.endswith(self.line) else f", {self.line!r}"
        return f"{self.where}{name}{f', {self.sentence}' if self.sentence else ''}: {self.why}"


@dataclass(frozen=True, eq=False)
class Line:
    """A line that is accepted, or a hypothesis.

    Attributes:
        name: of the line.
        sentence: what it says.
        place: at which indices.
        gap: right minus left (of ``>=`` left minus right), in normal form.
        rule: by which it follows.
        parts: the lines and hypotheses that it uses, by name.
        hypotheses: the claim's, as text, on which it rests.
        fixed: indices, and K, for which it does not hold in general.
        reach: of k, h and j, how far: with ``{"k": 1}`` it holds for k + 1 <= K; nothing where it holds for all.
        citations: what it takes from elsewhere without a proof.
    """

    name: str
    sentence: Sentence
    place: Place
    gap: Quotient
    rule: str = "hypothesis"
    parts: tuple[str, ...] = ()
    hypotheses: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    reach: Mapping[str, int] = field(default_factory=dict)
    citations: frozenset[str] = frozenset()

    @property
    def relation(self) -> str:
        """The sentence's."""
        return self.sentence.relation


@dataclass(frozen=True)
class Goal:
    """What the last line of a list has to say; with `exact`, tree for tree."""

    sentence: Sentence
    place: Place
    exact: bool = False


@dataclass(frozen=True)
class Found:
    """What a rule knows of a line that it accepts, beside the lines that it used.

    Attributes:
        lines: the last ones of lists of its own.
        hypotheses: assumptions that it used.
        freed: indices for which those lines do not hold in general, and it does.
        reach: how far it carries by itself, and by those lines.
        citations: see `Line`.
    """

    lines: tuple[Line, ...] = ()
    hypotheses: frozenset[str] = frozenset()
    freed: frozenset[str] = frozenset()
    reach: Mapping[str, int] = field(default_factory=dict)
    citations: frozenset[str] = frozenset()


def same(gap: Quotient, relation: str, line: Line) -> bool:
    """Whether a line says that a gap is at least 0 (more, for a strict relation; 0 for ``==``)."""
    one, other = gap.direction, line.gap.direction
    if one[1] != other[1]:
        return False
    if relation == "==":
        return line.relation == "=="
    if relation in ("<", ">") and line.relation not in ("<", ">"):
        return False
    return line.relation == "==" or one[1] == "" or (one[0] > 0) == (other[0] > 0)


def shifts(s: Sentence, reader: Reader) -> dict[str, int]:
    """Of a sentence in which k, h or j is free, how far its rounds and turns go: 1 for ``x[k+1]`` and ``y[k, h]``."""
    found: dict[str, int] = {}

    def note(index: str, value: int, bound: frozenset[str]) -> None:
        if index in ("k", *TURNS) and index not in bound:
            found[index] = max(found.get(index, 0), value)

    def walk(e: Expression, bound: frozenset[str]) -> None:
        if isinstance(e, At):
            tap = e.name in reader.words.taps
            for place, index in enumerate(e.indices):
                base, c = reader.index(reader.value(index))
                note(base[len("number(") : -1], c + int(tap or place > 0), bound)
        elif isinstance(e, Name) and e.name in reader.words.definitions:
            walk(reader.words.definitions[e.name], bound)
        elif isinstance(e, Name):
            note(e.name, 0, bound)
            note(index_of(e.name)[1], 1, bound)
        else:
            own = OVER[e.operation][1] if isinstance(e, Apply) and e.operation in OVER else ""
            for part in parts(e):
                walk(part, bound | {own})

    walk(s.left, frozenset())
    walk(s.right, frozenset())
    return found


def furthest(some: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """How far what uses several lines carries."""
    found: dict[str, int] = {}
    for reach in some:
        for index, value in reach.items():
            found[index] = max(found.get(index, 0), value)
    return found
