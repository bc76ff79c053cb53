"""Lines of derivations, written shortly: each function gives a line as plain data.

A part of a combination may be an instance of assumptions without a line of its own: it is named by the schema, the
function and the points, ``"smooth convex f_ni (x[k], xstar)"``, and `theory.derivation.named` writes the line. Before a
part's name stand the indices that it is taken over, the outermost first, and after it what it is taken times:
``"E mean_n mean_i: one-step times 2*eta"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from theory.claim import Claim
from theory.sentence import Expression, Sentence, parse_expression, text_of
from theory.sentence import replaced as replaced_by

Data: TypeAlias = dict[str, Any]
TIMES = " times "
"""Before the multiplier of a part of a combination."""


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
    "markov": "quantile({0}, 1 - ({1})) <= E({0})/({1})",
    "quantile norm": "quantile(norm({0}), {1})**2 == quantile(norm2({0}), {1})",
    "exp": "exp({0}) >= 1 + ({0})",
    "exp sum": "exp(({0}) + ({1})) == exp({0})*exp({1})",
    "exp power": "exp(({0})*({1})) == exp({0})**({1})",
    "log product": "log(({0})*({1})) == log({0}) + log({1})",
    "log quotient": "log(({0})/({1})) == log({0}) - log({1})",
    "exp log": "exp(log({0})) == {0}",
    "log exp": "log(exp({0})) == {0}",
    "power sum": "({0})**(({1}) + ({2})) == ({0})**({1})*({0})**({2})",
    "power product": "(({0})*({1}))**({2}) == ({0})**({2})*({1})**({2})",
    "power power": "(({0})**({1}))**({2}) == ({0})**(({1})*({2}))",
}
"""What axioms say that say one thing."""


def axiom(name: str, sentence: str | None, schema: str, *of: str, over: str = "") -> Data:
    """What is so of any numbers and vectors; where an axiom says one thing, the sentence may be left out."""
    said = _SAID.get(f"{schema} over" if over else schema)
    if sentence is None and said is not None:
        with suppress(IndexError):  # too few expressions: the rule tells how many it takes
            sentence = said.format(*of, over=over)
    return _line(name, "axiom", sentence, schema=schema, of=list(of), over=over)


def operated(name: str, sentence: str, schema: str, *of: str, using: str = "") -> Data:
    """What is so of a vector that the program makes by an operation: that vector, what it is applied to, others."""
    return _line(name, "operation", sentence, schema=schema, of=list(of), using=using)


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
