"""Derivations of other claims of the same paper, as lines of a claim's own: their hypotheses have to hold here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theory.claim import Claim
from theory.derivation.named import lines
from theory.derivation.search.context import Context, Known, Line
from theory.domain import Domain
from theory.for_every import ForEvery, predicate_of
from theory.predicates import Predicate
from theory.sentence import (
    FUNCTION_NAMES,
    At,
    Sentence,
    everything,
    index_of,
    parse_sentence,
    read,
    replaced,
    text_of,
)

LISTS = ("base", "step", "first", "second")
_OF_MEANS = ("smooth", "convex", "strongly_convex", "lipschitz", "bounded_gradients")
"""What is assumed of each function, and with it of their mean."""
_UNITS = 150
"""Of work for a lemma that has no derivation of its own."""
_MOST_SEARCHED = 4


@dataclass(frozen=True)
class Lemma:
    """Another claim that is proved, as it can be used.

    Attributes:
        known: its sentence here, without its definitions, under the name of its last line.
        lines: its derivation in this claim's words.
    """

    known: Known
    lines: tuple[Line, ...]


def lemmas(context: Context, searched: bool) -> Iterator[Lemma]:
    """Of the claims beside a claim those about its algorithm that hold under its hypotheses.

    Args:
        context: of the claim.
        searched: those of one round that have no derivation written, which are searched for; else those that have one.
    """
    claim, count = context.claim, 0
    for other in claim.beside:
        if not other.has_sentence or other.over or claim.over or not _about_the_same(claim, other):
            continue
        if (other.proof is None) != searched or other.id == claim.id:
            continue
        words = _words(claim, other)
        if words is None:
            continue
        if searched:
            count += 1
            if count > _MOST_SEARCHED or not one_round(other):
                continue
            derivation = _searched(other)
        else:
            derivation = other.proof if isinstance(other.proof, list | tuple) else None
        if not derivation:
            continue
        shown = _relations(context, other, words)
        if shown is not None:
            yield _here(claim, other, [*shown], derivation, words)


def one_round(claim: Claim) -> bool:
    """Whether it says of a state after a round what it is at most, for every round."""
    sides = [replaced(side, claim.definitions) for side in (claim.sentence.left, claim.sentence.right)]
    rounds = {text_of(e.indices[0]) for side in sides for e in everything(side) if isinstance(e, At)}
    return claim.sentence.relation != "==" and claim.free == {"k"} and rounds == {"k", "k + 1"}


def _about_the_same(claim: Claim, other: Claim) -> bool:
    if other.program is None or claim.program is None:
        return False
    return other.program == claim.program and set(other.vectors) <= set(claim.vectors)


def _words(claim: Claim, other: Claim) -> dict[str, str] | None:
    """What predicates of the other claim are here, by their texts; None where its numbers or functions are others."""
    for symbol in other.symbols:
        name = index_of(symbol)[0]
        if symbol not in claim.symbols or not _within(claim.domains[name], other.domains[name]):
            return None
    words: dict[str, str] = {}
    for text, one in zip((*other.assuming, *other.standing), other.assumptions, strict=True):
        if not isinstance(one, Predicate):
            continue
        own = next((mine for mine in claim.predicates if _gives(claim, mine, other, one)), None)
        if own is None:
            return None
        words[text] = own.text
        words[one.text] = own.text
    return words


def _within(inner: Domain, outer: Domain) -> bool:
    if outer.integer and not inner.integer:
        return False
    for a, b, a_open, b_open, sign in (
        (inner.lower, outer.lower, inner.lower_open, outer.lower_open, 1),
        (inner.upper, outer.upper, inner.upper_open, outer.upper_open, -1),
    ):
        if b is not None and (a is None or sign * (a - b) < 0 or (a == b and b_open and not a_open)):
            return False
    return True


def _gives(claim: Claim, mine: Predicate, other: Claim, one: Predicate) -> bool:
    constants = [tuple(replaced(c, c_.definitions) for c in p.constants) for p, c_ in ((mine, claim), (one, other))]
    if type(mine) is not type(one) or constants[0] != constants[1]:
        return False
    if isinstance(mine, ForEvery):
        return mine == one
    if mine.function == one.function:
        return True
    names = FUNCTION_NAMES
    indexed = any(index_of(s)[1] for c in one.constants for e in everything(c) for s in (getattr(e, "name", ""),))
    finer = mine.function in names and one.function in names and names.index(mine.function) > names.index(one.function)
    return one.name in _OF_MEANS and finer and not indexed


def _relations(context: Context, other: Claim, words: dict[str, str]) -> list[Line] | None:
    """Lines that say what the other claim assumes of numbers, where no hypothesis does; None where they are not found.

    What a hypothesis here says is put into `words`.
    """
    from theory.derivation.search.combining import combine

    claim = context.claim
    mine = {str(_unfolded(claim, parse_sentence(t))): t for t in _relation_texts(claim)}
    found: list[Line] = []
    for text in _relation_texts(other):
        said = str(_unfolded(other, parse_sentence(text)))
        if said in mine:
            words[text] = mine[said]
            continue
        tree = parse_sentence(said)
        if any(read(side, claim.vocabulary).free for side in (tree.left, tree.right)):
            return None
        made = combine(replace(context, lean=True), said, said)
        if made is None:
            return None
        words[text] = said
        found += made
    return found


def _relation_texts(claim: Claim) -> list[str]:
    texts = zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True)
    return [text for text, one in texts if isinstance(one, Sentence)]


def _unfolded(claim: Claim, sentence: Sentence) -> Sentence:
    left, right = (replaced(side, claim.definitions) for side in (sentence.left, sentence.right))
    return Sentence(left, sentence.relation, right)


def _searched(other: Claim) -> Sequence[Mapping[str, Any]] | None:
    """What a search finds without further claims; kept with the claim."""
    from theory.derivation.search.searching import search

    kept = _kept.get(other)
    if kept is None or kept[0] is not other:
        kept = _kept[other] = (other, search(replace(other, beside=()), _UNITS).lines)
    return kept[1]


_kept: dict[Claim, tuple[Claim, Sequence[Mapping[str, Any]] | None]] = {}


def _here(
    claim: Claim, other: Claim, before: list[Line], derivation: Sequence[Mapping[str, Any]], words: Mapping[str, str]
) -> Lemma:
    """The other claim's lines, their names with its label before them, its definitions and hypotheses put into them."""
    written = lines(other, [dict(one) for one in derivation])
    names = {name: f"{other.label} {name}" for name in _names(written)}
    names[written[-1]["name"]] = last = other.label
    sentence = str(_unfolded(other, other.sentence))
    made = _renamed(written, {**words, **names}, {n: f"({t})" for n, t in _texts(other).items()})
    made[-1] = {**made[-1], "name": last, "sentence": sentence}
    return Lemma(Known(last, sentence, cost=0.3), (*before, *made))


def _texts(claim: Claim) -> dict[str, str]:
    return {name: text_of(tree) for name, tree in claim.definitions.items()}


def _names(written: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for line in written:
        yield str(line["name"])
        for key in LISTS:
            yield from _names(line.get(key, ()))


def _renamed(value: Any, names: Mapping[str, str], definitions: Mapping[str, str], key: str = "") -> Any:
    """Plain data with other names of lines and hypotheses, and without definitions."""
    if isinstance(value, Mapping):
        made = {k: _renamed(v, names, definitions, k) for k, v in value.items()}
        if value.get("by") == "assumption" and "on" not in value and len(value.get("of", ())) > 0:
            made |= _meant(value, made)
        return made
    if isinstance(value, list | tuple):
        return [_renamed(v, names, definitions, key) for v in value]
    if not isinstance(value, str) or key in ("by", "schema", "over", "source"):
        return value
    if value in names:
        return names[value]
    return re.sub(r"[A-Za-z]\w*", lambda m: definitions.get(m[0], m[0]), value)


def _meant(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """The function that an instance of an assumption is about, where the assumption is here about finer ones."""
    calls = [[p for t in one["of"] if (p := predicate_of(t)) is not None] for one in (old, new)]
    before, after = ([one.function for one in some if one.function] for some in calls)
    if before == after or not before:
        return {}
    return {"on": min(before, key=FUNCTION_NAMES.index)}
