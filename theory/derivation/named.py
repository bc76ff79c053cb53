"""The instances of assumptions that a derivation's lines name, as lines of their own (`theory.derivation.writing`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from theory.claim import Claim
from theory.derivation.polynomials import RejectedError
from theory.derivation.schemas import SCHEMAS
from theory.derivation.statements import NotProvedError
from theory.derivation.writing import Data, assumed
from theory.for_every import ForEvery, predicate_of
from theory.predicates import Predicate
from theory.sentence import FUNCTION_NAMES, parse_call, text_of

BLOCKS = ("base", "step", "first", "second")
"""Where a line has lines of its own."""
_INSTANCE = re.compile(
    r"\s*(?P<schema>[a-z_ -]+?)(\s+(?P<number>[0-9]+))?(\s+(?P<function>f|f_n|f_ni))?\s*(?P<points>\(.*\))?\s*\Z",
    re.ASCII,
)


def lines(claim: Claim, written: Sequence[Data]) -> list[Data]:
    """A derivation in which instances of assumptions that lines name have lines of their own.

    `check` does this itself; what the verifier reads has every line.

    Raises:
        NotProvedError: for what is no sequence of lines, and for an instance of what the claim does not assume.
    """
    return numbered(claim, written)[0]


def numbered(claim: Claim, written: Any) -> tuple[list[Data], dict[int, str]]:
    """`lines`, and, by the id of each line's data, which of the author's lines it is: ``line 3, step, line 1``.

    Raises:
        NotProvedError: as `lines`.
    """
    if isinstance(written, str | Mapping) or not isinstance(written, Sequence) or not written:
        raise NotProvedError(claim.id, "there is no derivation: it is a sequence of lines")
    where: dict[int, str] = {}
    return _expanded(claim, written, frozenset(), "", where), where


def _expanded(
    claim: Claim, written: Sequence[Any], known: frozenset[str], inside: str, where: dict[int, str]
) -> list[Data]:
    found: list[Data] = []
    names = {*known, *claim.assuming, *claim.standing}
    names |= {str(one.get("name")) for one in written if isinstance(one, Mapping)}
    for number, one in enumerate(written, 1):
        place = f"{inside}line {number}"
        if not isinstance(one, Mapping):  # the kernel refuses it
            where[id(one)] = place
            found.append(one)
            continue
        made = dict(one)
        for key in BLOCKS:
            if isinstance(made.get(key), list | tuple):
                made[key] = _expanded(claim, made[key], frozenset(names), f"{place}, {key}, ", where)
        for name in _named_in(made):
            if name in names:
                continue
            try:
                line = _instance(claim, name)
            except ValueError as error:
                raise NotProvedError(str(one.get("name", place)), str(error), place) from None
            if line is not None:
                found.append(line)
                where[id(line)] = place
                names.add(name)
        where[id(made)] = place
        found.append(made)
    return found


def _named_in(line: Mapping[str, Any]) -> list[str]:
    """The lines that a line names."""
    parts = line.get("parts")
    some = [part.get("line") for part in parts if isinstance(part, Mapping)] if isinstance(parts, list | tuple) else []
    return [name for name in (*some, line.get("line")) if isinstance(name, str)]


def _instance(claim: Claim, name: str) -> Data | None:
    """The line that a name such as ``smooth convex f_ni (x[k], xstar)`` stands for; None for one that is no instance.

    Raises:
        RejectedError: for one that the claim does not assume, or of another number of points.
    """
    match = _INSTANCE.match(name)
    if match is None or match["schema"] not in (*SCHEMAS, "every") or (match["number"] and match["schema"] != "every"):
        return None
    points = None if match["points"] is None else parse_call(f"at{match['points']}")
    texts = [] if points is None else [text_of(e) for e in points[1]]
    if match["schema"] == "every":
        return _everywhere(claim, name, int(match["number"] or 0), match["function"] or "", texts)
    schemas, function = SCHEMAS[match["schema"]], match["function"] or ""
    for schema in schemas:
        of = [_satisfying(claim, kind, len(constants), function) for kind, constants in schema.needs]
        elsewhere = function and schema.only not in ((), ("",)) and function not in schema.only
        if None in of or elsewhere or len(texts) != len(schema.points):
            continue
        at = dict(zip(schema.points, texts, strict=True))
        own = {one.function for one in of if one is not None and one.function}
        on = function if function and own and own != {function} else ""
        return assumed(name, None, [one.text for one in of if one is not None], match["schema"], on, **at)
    sizes = {len(schema.points) for schema in schemas}
    if len(texts) not in sizes:
        points_of = f"({', '.join(schemas[0].points)})" if schemas[0].points else "no points"
        raise RejectedError(f"{name!r}: {match['schema']} is at {points_of}, and not at {len(texts)}")
    asked = [schema for schema in schemas if schema.needs]
    if not asked:
        there = " or ".join(only or "no function" for only in schemas[0].only)
        raise RejectedError(f"{name!r}: {match['schema']} is of {there}, and not of {function}")
    needs = " or ".join(dict.fromkeys(" and ".join(kind for kind, _ in schema.needs) for schema in asked))
    of_it = f" of {function}, or of what it is the mean of" if function else ""
    free = next(
        (f"; {match['schema']} of {schema.only[0]} needs nothing" for schema in schemas if not schema.needs), ""
    )
    raise RejectedError(f"{name!r}: the claim does not assume {needs}{of_it}{free}")


def _everywhere(claim: Claim, name: str, number: int, function: str, at: Sequence[str]) -> Data:
    """The line of ``every 2 (x[k])``: the second of the sentences that are assumed for every point, or the only one."""
    sentences = [one for one in claim.predicates if isinstance(one, ForEvery)]
    fitting = sentences[number - 1 : number] if number else [one for one in sentences if len(one.points) == len(at)]
    if function or len(fitting) != 1 or len(fitting[0].points) != len(at):
        why = f"{len(fitting)} sentences are assumed for every {len(at)} points" if not number else "it is at others"
        raise RejectedError(f"{name!r}: {why}, of {len(sentences)} in all; write every 1 (x), every 2 (x)")
    return {**assumed(name, None, [fitting[0].text], "every"), "at": dict(zip(fitting[0].points, at, strict=True))}


def _satisfying(claim: Claim, kind: str, constants: int, function: str) -> Predicate | None:
    """The claim's assumption of a kind, the one about this function first, then about those of which it is the mean."""
    kinds = ("convex", "strongly_convex") if kind == "convex" else (kind,)
    depth = FUNCTION_NAMES.index(function) if function else 0
    fitting = [
        one
        for text in (*claim.assuming, *claim.standing)
        if (one := predicate_of(text)) is not None
        and one.name in kinds
        and (len(one.constants) == constants or kind == "convex")
        and (not one.function or FUNCTION_NAMES.index(one.function) >= depth)
    ]
    fitting.sort(key=lambda one: (kinds.index(one.name), FUNCTION_NAMES.index(one.function) if one.function else 0))
    return fitting[0] if fitting else None
