"""The rules that combine lines, take them over indices, and say them of other rounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from theory.derivation.atoms import FIRST, Binder, Index, atom
from theory.derivation.changes import renamed
from theory.derivation.expectations import expectation
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import Quotient, of_atom
from theory.derivation.reading import ENTRY, PLAIN, Place, parameter, put
from theory.derivation.statements import Found, Line, same
from theory.derivation.telling import left_over, unsigned
from theory.derivation.terms import bind, coordinates, dot
from theory.formula import Apply, Name
from theory.sentence import (
    OVER,
    TURNS,
    Expression,
    everything_meant,
    read,
    text_of,
)


def list_of(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise RejectedError(f"{key} is {value!r}, and not a list")
    return list(value)


def mapping_of(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, Mapping):
        raise RejectedError(f"{key} is {value!r}, and no names with what they stand for")
    return value


def entries_of(data: Mapping[str, Any], key: str, *keys: str) -> list[Mapping[str, Any]]:
    """A list of mappings that have no other keys than these."""
    found = list_of(data, key)
    for one in found:
        if not isinstance(one, Mapping) or set(one) - set(keys):
            raise RejectedError(f"{key}: {one!r} has not just {', '.join(keys)}")
    return found


def bound_over(kernel: Kernel, q: Quotient, over: Sequence[Any], used: Sequence[Line], e: bool = True) -> Quotient:
    """What is at least 0 for all values of indices, taken over them, the last named innermost.

    Raises:
        RejectedError: where an index is not there, or the lines do not hold for all its values.
    """
    for name in reversed(over):
        if name == "E":
            q = kernel.reader.integrable(expectation(q))
            continue
        how, index = ("sum", ENTRY) if name == "coordinates" else OVER.get(name, ("", ""))
        if how not in ("mean", "sum", "first"):
            raise RejectedError(
                f"over {name!r}: E, mean or sum over an index, coordinates, or first_n, with spaces between"
            )
        if index not in q.free:
            raise RejectedError(f"over {name}: nothing in it has the index {index}")
        if any(index in line.fixed or line.reach.get(index, 0) > 1 for line in used):
            raise RejectedError(f"over {name}: it does not hold for every {index}")
        if index == "n" and "i" in q.free:
            raise RejectedError("over n before i")
        if index == ENTRY:
            q = bind(coordinates(ENTRY), q)
            continue
        if how == "first":
            q = renamed(q, {"n": FIRST})
            continue
        upper = None if index in "ni" else turns_of(kernel, index)
        q = bind(Binder(index, Index(index), Index("n") if index == "i" else None, upper), q)
        if upper is not None and how == "mean":
            q = q / upper
        if upper is None and how == "sum":
            q = q * (parameter("N") if index == "n" else of_atom(atom("samples", Index("n"))))
    return q


def turns_of(kernel: Kernel, index: str) -> Quotient:
    """The number of terms of a sum over rounds, or over turns.

    Raises:
        RejectedError: where it is a numeral, and the sum is written out.
    """
    upper = parameter("K") if index == "k" else kernel.reader.turns_of(index)
    if upper.number is not None:
        raise RejectedError("a loop of so many turns is written out")
    return upper


def multiplier_of(kernel: Kernel, data: Mapping[str, Any]) -> Expression:
    found = kernel.expression(data.get("times", "1"))
    if read(found, kernel.claim.vocabulary).shape != "scalar":
        raise RejectedError(f"the multiplier {text_of(found)} is a vector")
    return found


def combination(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a combination of lines and squares with multipliers that are not negative."""
    rest, strict = line.gap, False
    for part in entries_of(data, "parts", "line", "put", "over", "times"):
        before = len(kernel.signs.used)
        used, gap = put_at(kernel, part)
        multiplier = multiplier_of(kernel, part)
        term = kernel.reader.value(multiplier) * gap
        if used.relation != "==":
            if line.relation == "==":
                raise RejectedError(f"an equation does not follow from {used.name}, which is none")
            if not kernel.signs.nonnegative(multiplier):
                raise RejectedError(unsigned(multiplier, used.name))
            strict = strict or (used.relation in ("<", ">") and kernel.signs.positive(multiplier))
        rest = rest - bound_over(kernel, term, list_of(part, "over"), [used, *kernel.signs.used[before:]])
    for square in entries_of(data, "squares", "of", "over", "times"):
        before = len(kernel.signs.used)
        of, multiplier = kernel.expression(square.get("of")), multiplier_of(kernel, square)
        if line.relation == "==" or not kernel.signs.nonnegative(multiplier):
            raise RejectedError(unsigned(multiplier, "a square"))
        q = kernel.reader.value(of)
        squared = dot(q, q) if read(of, kernel.claim.vocabulary).shape == "vector" else q * q
        term = kernel.reader.value(multiplier) * squared
        rest = rest - bound_over(kernel, term, list_of(square, "over"), kernel.signs.used[before:])
    if line.relation in ("<", ">") and not strict:
        raise RejectedError("nothing in it is strict: a part has to be, such as the line domain('one', '1 > 0')")
    if not rest.zero:
        raise RejectedError(f"left over: {left_over(rest, kernel.claim)}")
    return Found()


def mean(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line taken over indices, or in expectation."""
    part = {key: data[key] for key in ("line", "over", "put") if key in data}
    return combination(kernel, {"parts": [part]}, line)


def lasting(kernel: Kernel, *lines: Line) -> None:
    """Nothing where hypotheses and algorithm do not speak of K.

    Raises:
        RejectedError: where they do, so that another K is another claim.
    """
    claim = kernel.claim
    sides = [side for r in claim.relations for side in (r.left, r.right)]
    sides += [constant_ for one in claim.predicates for constant_ in one.constants]
    for side in sides:
        for part in everything_meant(side, claim.vocabulary):
            over = isinstance(part, Apply) and part.operation in OVER and OVER[part.operation][1] == "k"
            if part == Name("K") or over:
                raise RejectedError("the hypotheses speak of K")
    if claim.program is not None and re.search(r"\bK\b", str(claim.program.to_json())):
        raise RejectedError("the algorithm speaks of K")
    if any(line.reach for line in lines):
        raise RejectedError("what is assumed of rounds ends at K")


def at_other_indices(kernel: Kernel, data: Mapping[str, Any]) -> tuple[Line, Place]:
    """A line, and the place with other rounds and turns at which it is meant.

    Raises:
        RejectedError: where it does not hold there.
    """
    line, touched = kernel.line(data.get("line")), len(kernel.touched) - 1
    new = mapping_of(data, "put")
    if not new:
        return line, line.place
    if line.place != PLAIN:
        raise RejectedError(f"{line.name} is not to be said of other rounds")
    place, reach = PLAIN, dict(line.reach)
    for name, text in new.items():
        if name not in ("k", *TURNS, "K") or name in line.fixed:
            raise RejectedError(f"{line.name} holds for this {name} only, or {name} is nothing to put anything for")
        value = kernel.reader.value(kernel.expression(text))
        base, c = kernel.reader.index(value)
        if base.startswith("number(") and base != f"number({name})":
            raise RejectedError(f"{text} for {name}: an index is not put to another one")
        if name == "K":
            lasting(kernel, line)
            if base != "parameter(K)" or c < 0:
                raise RejectedError("K is put to K and more")
        place = put(place, name, value)
        if name in reach:
            reach |= _carried(name, base, reach.pop(name) + c, kernel)
    carried = replace(line, reach=reach)
    kernel.touched[touched] = carried
    return carried, place


def put_at(kernel: Kernel, data: Mapping[str, Any]) -> tuple[Line, Quotient]:
    """A line, and what is at least 0 by it, at other rounds and turns."""
    line, place = at_other_indices(kernel, data)
    return line, line.gap if place == line.place else kernel.reader.difference(line.sentence, place)


def _carried(index: str, base: str, reach: int, kernel: Kernel) -> dict[str, int]:
    """How far a line carries in which index was put to a name and a constant."""
    if base == f"number({index})":
        return {index: reach}
    if not base and reach <= 1:  # there is a first round
        return {}
    ends = turns_of(kernel, index)
    if reach <= 0 and (of_atom(a := next(iter(ends.atoms))).text == ends.text) and base == a.text:
        return {}
    raise RejectedError(f"what is assumed of rounds does not carry so far in {index}")


def at(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line at other rounds or turns."""
    used, gap = put_at(kernel, data)
    if not same(line.gap, line.relation, replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say so there")
    return Found()
