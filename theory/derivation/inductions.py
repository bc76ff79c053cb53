"""The rules with lists of lines of their own: induction, and cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.derivation.combinations import lasting, list_of
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import ONE, Quotient, constant
from theory.derivation.reading import ENTRY, PLAIN, Place, put
from theory.derivation.statements import Found, Goal, Line, furthest, same
from theory.sentence import INDICES, TURNS, Sentence, applied, parse_expression


def induction(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds at the beginning, and after a round (a turn, one more K) whenever before."""
    index = data.get("on")
    if index not in ("k", *TURNS, "K"):
        raise RejectedError(f"induction on {index!r}, and not k, h, j or K")
    texts = list_of(data, "sentences")
    sentences = [kernel.sentence(str(text)) for text in texts] or [line.sentence]
    if line.place != PLAIN or line.sentence not in sentences:
        raise RejectedError("the line is none of the sentences that are shown by induction")
    if any(index in one.fixed for one in kernel.known.values()):
        raise RejectedError(f"induction on {index} inside of what is so for one {index}")
    if index == "K":
        lasting(kernel, *kernel.known.values(), *kernel.hypotheses)
    first = data.get("from", int(index == "K"))
    if first != int(index == "K"):
        raise RejectedError(f"induction on {index} begins at {int(index == 'K')}")
    names = ["IH"] if len(sentences) == 1 else [f"IH {j + 1}" for j in range(len(sentences))]
    given = []
    for name, said in zip(names, sentences, strict=True):
        if name in kernel.known:
            raise RejectedError(f"{name} is the name of another line")
        given.append(Line(name, said, PLAIN, kernel.reader.difference(said), "induction", fixed=frozenset({index})))
    last: list[Line] = []
    now: Quotient = getattr(PLAIN, index)
    for key, value, known in (("base", constant(int(first)), ()), ("step", now + ONE, given)):
        place = put(PLAIN, index, value)
        last += _all_of(kernel, list_of(data, key), sentences, place, known)
    reach = furthest(one.reach for one in last)
    if index in reach:
        if reach[index] > 1:
            raise RejectedError(f"its step needs more than one {index} at a time")
        reach[index] = 0
    return Found(tuple(last), freed=frozenset({index}), reach=reach)


def _all_of(
    kernel: Kernel, lines: list[Any], sentences: Sequence[Sentence], place: Place, given: Sequence[Line]
) -> list[Line]:
    """The lines of a list that ends with several sentences."""
    made = kernel.block(lines, Goal(sentences[-1], place), given)
    found = [made[-1]]
    for other in sentences[:-1]:
        gap = kernel.reader.difference(other, place)
        one = next((line for line in reversed(made) if same(gap, other.relation, line)), None)
        if one is None:
            raise RejectedError(f"no line says {other} there")
        found.append(one)
    return found


def cases(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds whether one number is at most another, or more than it."""
    said = kernel.sentence(str(data.get("on")))
    gap = kernel.reader.difference(said)
    if said.relation != "<=" or gap.random:
        raise RejectedError("cases are on a <= b, neither of them random")
    fixed = (gap.free & {*INDICES, ENTRY}) | ({"K"} if "parameter(K)" in gap.text else set())
    others = [Sentence(said.right, relation, said.left) for relation in ("<=", "<")]
    if kernel.reader.whole(gap):
        more = applied("+", (said.right, parse_expression("1")))
        others.append(Sentence(more, "<=", said.left))
    last = []
    for key, known in (("first", [said]), ("second", others)):
        given = [Line(str(one), one, PLAIN, kernel.reader.difference(one), "cases", fixed=fixed) for one in known]
        if any(one.name in kernel.known for one in given):
            raise RejectedError(f"{given[0].name} is the name of another line")
        last.append(kernel.block(list_of(data, key), Goal(line.sentence, line.place), given)[-1])
    freed = fixed.difference(*(one.fixed for one in kernel.known.values()))
    return Found(tuple(last), freed=freed, reach=furthest(one.reach for one in last))
