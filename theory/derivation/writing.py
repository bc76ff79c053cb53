"""Lines of derivations, written shortly: each function gives a line as plain data.

A part of a combination may be an instance of assumptions without a line of its own: it is named by the schema, the
function and the points, ``"smooth convex f_ni (x[k], xstar)"``, and `lines` writes the line. Before a part's name stand
the indices that it is taken over, the outermost first, and after it what it is taken times:
``"E mean_n mean_i: one-step times 2*eta"``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from theory.claim import Claim
from theory.derivation.polynomials import RejectedError
from theory.derivation.schemas import SCHEMAS
from theory.derivation.statements import NotProvedError
from theory.predicates import Predicate, predicate
from theory.sentence import FUNCTION_NAMES, Expression, Sentence, parse_call, parse_expression, text_of
from theory.sentence import replaced as replaced_by

Data: TypeAlias = dict[str, Any]
BLOCKS = ("base", "step", "first", "second")
"""Where a line has lines of its own."""
TIMES = " times "
"""Before the multiplier of a part of a combination."""
_INSTANCE = re.compile(r"\s*(?P<schema>[a-z_ -]+?)(\s+(?P<function>f|f_n|f_ni))?\s*(?P<points>\(.*\))?\s*\Z", re.ASCII)


def _line(name: str, by: str, sentence: str | None, **more: Any) -> Data:
    said = {} if sentence is None else {"sentence": sentence}
    return {"name": name, **said, "by": by, **{key: value for key, value in more.items() if value not in (None, "")}}


def step(name: str, sentence: str | None = None, using: Sequence[str] = ()) -> Data:
    """A line that is so by what the algorithm does in a round, and by lines ``norm2(u - v) <= 0``."""
    return _line(name, "step", sentence, using=list(using) or None)


def drawn(name: str, line: str, sentence: str | None = None) -> Data:
    """A line that is so in every outcome of one sample, as another line says it of every sample."""
    return _line(name, "drawn", sentence, line=line)


def averaged(name: str, sentence: str | None = None) -> Data:
    """A bound on E(norm2(v)) of what a round makes with an average of clients, by convexity."""
    return _line(name, "average", sentence)


def replaced(name: str, line: str, sentence: str | None = None) -> Data:
    """A line whose sides are the same when a vector is replaced by what another line says is equal to it."""
    return _line(name, "replace", sentence, line=line)


def hypothesis(name: str, sentence: str) -> Data:
    """A relation that the claim assumes."""
    return _line(name, "hypothesis", sentence)


def domain(name: str, sentence: str | None = None) -> Data:
    """What is so by the domains of parameters."""
    return _line(name, "domain", sentence)


def assumed(name: str, sentence: str | None, of: Sequence[str], schema: str, on: str = "", **at: str) -> Data:
    """What assumptions say at points; without a sentence it says what the schema says."""
    return _line(name, "assumption", sentence, of=list(of), schema=schema, at=dict(at), on=on)


_SAID = {
    "cauchy": "dot({0}, {1}) <= norm({0})*norm({1})",
    "triangle": "norm(({0}) + ({1})) <= norm({0}) + norm({1})",
    "triangle over": "norm({over}({0})) <= {over}(norm({0}))",
    "jensen over": "norm2({over}(({0})*({1}))) <= {over}({0})*{over}(({0})*norm2({1}))",
    "coordinate": "coordinate({0})**2 <= norm2({0})",
    "exp": "exp({0}) >= 1 + ({0})",
    "exp sum": "exp(({0}) + ({1})) == exp({0})*exp({1})",
}
"""What axioms say that say one thing."""


def axiom(name: str, sentence: str | None, schema: str, *of: str, over: str = "") -> Data:
    """What is so of any numbers and vectors; where an axiom says one thing, the sentence may be left out."""
    said = _SAID.get(f"{schema} over" if over else schema)
    if sentence is None and said is not None:
        with suppress(IndexError):  # too few expressions: the rule tells how many it takes
            sentence = said.format(*of, over=over)
    return _line(name, "axiom", sentence, schema=schema, of=list(of), over=over)


def telescope(name: str, e: str, over: str, end: str, until: str = "") -> Data:
    """A number's growth, taken over the turns (before turn `until`), is what it is at the end less what it is at first.

    Args:
        name: of the line.
        e: the number, with the index of `over` free.
        over: ``sum_k``, ``sum_h`` or ``sum_j``.
        end: how many terms there are.
        until: how many of them are meant; all where it is empty.
    """
    index = over.removeprefix("sum_")

    def there(value: str) -> str:
        return text_of(replaced_by(parse_expression(e), {index: parse_expression(value)}))

    growth = f"{there(f'{index} + 1')} - ({e})"
    weighted = f"max(0, min(1, {until} - {index}))*({growth})" if until else growth
    sentence = f"{over}({weighted}) == {there(until or end)} - ({there('0')})"
    return axiom(name, sentence, "telescope", e, *([until] if until else []), over=over)


Entries: TypeAlias = str | Mapping[str, str] | Sequence[Data]


def combined(name: str, sentence: str | None = None, parts: Entries = (), squares: Entries = ()) -> Data:
    """A combination of lines and squares, each with its multiplier, 1 where none stands there.

    They are text, ``"round; E mean_n: descent times 2*eta"``, or, where they are computed, a mapping
    ``{"round": "1", "E mean_n: descent": "2*eta"}``.
    """
    return _line(
        name,
        "combination",
        sentence,
        parts=_entries("line", parts),
        squares=_entries("of", squares),
    )


def _entries(key: str, entries: Entries) -> list[Data]:
    if not entries:
        return []
    if isinstance(entries, str):
        each = (one.rpartition(TIMES) for one in entries.split(";"))
        pairs = [(text, times.strip()) if mark else (times, "1") for text, mark, times in each]
    elif isinstance(entries, Mapping):
        pairs = list(entries.items())
    else:
        return [dict(one) for one in entries]
    found = []
    for text, times in pairs:
        before, colon, after = text.partition(":")
        one: Data = {key: (after if colon else before).strip()}
        if colon:
            one["over"] = before.split()
        if times != "1":
            one["times"] = times
        found.append(one)
    return found


def at(name: str, line: str, sentence: str | None = None, **put: str) -> Data:
    """A line at other rounds or turns: ``at("later", "one-step", k="k + 1")``."""
    return _line(name, "at", sentence, line=line, put=put)


def mean(name: str, line: str, over: str | Sequence[str], sentence: str | None = None) -> Data:
    """A line taken over indices, or in expectation: ``mean("all", "one", "E mean_n")``."""
    return _line(name, "mean", sentence, line=line, over=over.split() if isinstance(over, str) else list(over))


def induction(
    name: str,
    sentence: str | None,
    base: Sequence[Data],
    step: Sequence[Data],
    on: str = "k",
    sentences: Sequence[str] = (),
) -> Data:
    """A line that is so at the beginning, and after a round whenever before it, when it is called ``IH``."""
    return _line(
        name, "induction", sentence, on=on, sentences=list(sentences) or None, base=list(base), step=list(step)
    )


def cases(name: str, sentence: str | None, on: str, first: Sequence[Data], second: Sequence[Data]) -> Data:
    """A line that is so whether ``on`` (a <= b) holds or its opposite (b < a, b <= a); the lists use them by text."""
    return _line(name, "cases", sentence, on=on, first=list(first), second=list(second))


def zero(name: str, line: str, of: str, with_: str, over: str = "", sentence: str | None = None) -> Data:
    """A vector whose squared norm is 0 by a line (over the same indices): its inner product with another is 0."""
    if sentence is None:
        sentence = f"dot({of}, {with_}) == 0"
        for name_ in reversed(over.split()):
            sentence = f"{name_}({sentence.removesuffix(' == 0')}) == 0"
    return _line(name, "zero", sentence, line=line, of=of, over=over.split(), **{"with": with_})


def single(name: str, sentence: str | None = None, unfold: bool = False) -> Data:
    """What is so because there is one client, N <= 1; unfolded, by what it does in a round."""
    return _line(name, "single", sentence, unfold=unfold or None)


def root(name: str, line: str, sentence: str | None = None) -> Data:
    """A line whose squares are in the relation of another line."""
    return _line(name, "root", sentence, line=line)


def jensen(name: str, v: str, over: str = "E") -> tuple[Data, Data]:
    """Two lines: the mean of a norm, over means and E, is at most the root of the mean of its square."""
    of, squared = f"norm({v})", f"norm2({v})"
    for how in reversed(over.split()):
        of, squared = f"{how}({of})", f"{how}({squared})"
    squares = f"{name} squared"
    return (
        combined(squares, f"({of})**2 <= {squared}", (), {f"{over}: norm({v}) - {of}": "1"}),
        root(name, squares, f"{of} <= sqrt({squared})"),
    )


def power(name: str, line: str, exponent: str, sentence: str | None = None) -> Data:
    """A line raised to a power."""
    return _line(name, "power", sentence, line=line, exponent=exponent)


def citation(name: str, sentence: str | None, source: str) -> Data:
    """What is taken from elsewhere; the verdict names the source."""
    return _line(name, "citation", sentence, source=source)


def claimed(name: str, other: Claim, put: Mapping[str, str] | None = None, sentence: str | None = None) -> Data:
    """What another claim with a derivation says, other parameters and vectors put for its own."""
    new = {key: parse_expression(text) for key, text in (put or {}).items()}
    said = sentence or str(instantiated(other, other.sentence, new))
    return _line(name, "claim", said, derivation=other, put=dict(put or {}))


def instantiated(other: Claim, sentence: Sentence, new: Mapping[str, Expression]) -> Sentence:
    """A sentence of a claim without its definitions, trees put for names all at once."""
    left, right = (replaced_by(replaced_by(side, other.definitions), new) for side in (sentence.left, sentence.right))
    return Sentence(left, sentence.relation, right)


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
    if match is None or match["schema"] not in SCHEMAS:
        return None
    points = None if match["points"] is None else parse_call(f"at{match['points']}")
    texts = [] if points is None else [text_of(e) for e in points[1]]
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
    needs = " or ".join(dict.fromkeys(" and ".join(kind for kind, _ in schema.needs) for schema in schemas))
    of_it = f" of {function}, or of what it is the mean of" if function else ""
    raise RejectedError(f"{name!r}: the claim does not assume {needs or 'it'}{of_it}")


def _satisfying(claim: Claim, kind: str, constants: int, function: str) -> Predicate | None:
    """The claim's assumption of a kind, the one about this function first, then about those of which it is the mean."""
    kinds = ("convex", "strongly_convex") if kind == "convex" else (kind,)
    depth = FUNCTION_NAMES.index(function) if function else 0
    fitting = [
        one
        for text in (*claim.assuming, *claim.standing)
        if (call := parse_call(text)) is not None
        and (one := predicate(*call)).name in kinds
        and (len(one.constants) == constants or kind == "convex")
        and (not one.function or FUNCTION_NAMES.index(one.function) >= depth)
    ]
    fitting.sort(key=lambda one: (kinds.index(one.name), FUNCTION_NAMES.index(one.function) if one.function else 0))
    return fitting[0] if fitting else None
