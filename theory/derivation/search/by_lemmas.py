"""Ways to a claim from what other claims of its paper say of a round: summed over the rounds, or carried over them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from theory.claim import Claim
from theory.derivation.polynomials import Monomial
from theory.derivation.search.atoms import deep
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.derivation.search.field import Field
from theory.derivation.search.induction import induction
from theory.derivation.search.lemmas import Lemma, lemmas
from theory.derivation.search.settings import worth
from theory.derivation.search.strategies import joined
from theory.derivation.spoken import monomial
from theory.derivation.writing import telescope
from theory.formula import Apply, Name, Number
from theory.sentence import (
    At,
    Expression,
    Sentence,
    applied,
    everything,
    exchanged,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)

_MOST_POTENTIALS = 10
"""Numbers whose growth over a run is looked at."""
ONE = Number(Fraction(1))
NOW, NEXT, BEFORE = "k", text_of(applied("+", (Name("k"), ONE))), text_of(applied("-", (Name("k"), ONE)))


def from_lemmas(context: Context) -> list[Line] | None:
    """From the claims of the paper that have a derivation; else from those of one round for which one is found."""
    if (
        not context.claim.beside
        or context.claim.program is None
        or not (_over_rounds(context.claim) or _long(context.claim))
    ):
        return None
    some: list[Lemma] = []
    for searched in (False, True):
        more = list(lemmas(context, searched))
        if not more:
            continue
        some += more
        for lean in (True, False):
            one = replace(context, lean=lean, plain=not lean, stage=0 if lean else 1)
            lines = _from(one, some)
            context.used = one.used
            if lines is not None:
                return lines
    return None


def _from(context: Context, some: Sequence[Lemma]) -> list[Line] | None:
    given = [one.known for one in some]
    way = summed if _over_rounds(context.claim) else carried
    lines = way(context, given)
    return None if lines is None else [*_used(some, lines), *lines]


def _used(some: Sequence[Lemma], lines: Sequence[Line]) -> list[Line]:
    """The derivations of the lemmas that lines name, each line once."""
    names = set(_named(lines))
    found: list[Line] = []
    for one in some:
        if one.known.name in names:
            found += [line for line in one.lines if line not in found]
    return found


def _named(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        yield from (str(part["line"]) for part in line.get("parts", ()))
        for key in ("base", "step", "first", "second"):
            yield from _named(line.get(key, ()))


def _over_rounds(claim: Claim) -> bool:
    """Whether it speaks of all rounds together: of a sum, a mean, or the least of what they have."""
    sides = [replaced(s, claim.definitions) for s in (claim.sentence.left, claim.sentence.right)]
    operations = {e.operation for s in sides for e in everything(s) if isinstance(e, Apply)}
    return "k" not in claim.free and bool(operations & {"sum_k", "mean_k", "min_k"})


def _long(claim: Claim) -> bool:
    """Whether it speaks of a state any number of rounds after the start: at k or at K."""
    sides = [replaced(s, claim.definitions) for s in (claim.sentence.left, claim.sentence.right)]
    rounds = {text_of(e.indices[0]) for s in sides for e in everything(s) if isinstance(e, At)}
    return rounds <= {NOW, "K", "0"} and bool(rounds & {NOW, "K"})


# --- sums ---


def summed(context: Context, given: Sequence[Known]) -> list[Line] | None:
    """What is said of each round, taken over the rounds; what grows from one to the next is what it is at the end."""
    claim = context.claim
    known = [*given]
    for e in itertools.islice(dict.fromkeys(p for one in given for p in _potentials(claim, one)), _MOST_POTENTIALS):
        known += _growth(context, e)
    return combine(context, claim.statement, claim.label, known)


def _growth(context: Context, e: Expression) -> Iterator[Known]:
    """That the sum of what a number grows by is what it is at the end less what it is at first."""
    line = telescope("", text_of(e), "sum_k", "K")
    fields = {key: value for key, value in line.items() if key not in ("name", "sentence")}
    yield Known(f"growth of {text_of(e)}", line["sentence"], fields)
    yield from _copied(context, e)


def _copied(context: Context, e: Expression) -> Iterator[Known]:
    """What a number is after a round, where states are then what others were before."""
    after = replaced(e, {"k": applied("+", (Name("k"), ONE))})
    old = _put(after, lambda a: _before(context.claim, a))
    if old != after:
        yield Known(f"{text_of(e)} after a round", f"{text_of(after)} == {text_of(old)}", {"by": "step"})


def _potentials(claim: Claim, lemma: Known) -> Iterator[Expression]:
    """The numbers of round k of which a lemma speaks, at k or at k + 1, without what they are multiplied by."""
    tree = parse_sentence(lemma.sentence)
    if tree.relation == "==":
        return
    found = [e for side in (tree.left, tree.right) for e in _terms(side)]
    for e in found:
        rounds = {text_of(p.indices[0]) for p in everything(e) if isinstance(p, At)}
        if not rounds or not rounds <= {NOW, NEXT}:
            continue
        if NEXT in rounds:
            e = replaced(e, {"k": applied("-", (Name("k"), ONE))})
            e = _put(e, lambda a: _after(claim, a))
        if {text_of(p.indices[0]) for p in everything(e) if isinstance(p, At)} == {NOW}:
            yield e


def _terms(e: Expression) -> Iterator[Expression]:
    """What is added up, without factors that are no states, and E and means drawn into sums."""
    if not isinstance(e, Apply) or not any(isinstance(p, At) for p in everything(e)):
        return
    if e.operation in ("+", "-", "*", "/", "neg"):
        for a in parts(e):
            yield from _terms(a)
    elif e.operation in ("E", "mean_n", "mean_i", "sum_n"):
        for a in _terms(parts(e)[0]):
            yield applied(e.operation, (a,))
    else:
        yield e


def _put(e: Expression, new: Callable[[At], Expression]) -> Expression:
    """A tree with other states."""
    return exchanged(e, lambda part: new(part) if isinstance(part, At) else None)


def _copies(claim: Claim) -> dict[str, str]:
    """States that after a round are what another state was before it: their names, to that one's."""
    program = claim.program
    if program is None:
        return {}
    inputs = dict(zip(program.inputs, (s.name for s in program.state), strict=True))
    pairs = zip((s.name for s in program.state), program.result, strict=True)
    return {name: inputs[value] for name, value in pairs if value in inputs and inputs[value] != name}


def _before(claim: Claim, a: At) -> Expression:
    """A state after a round as one before it, where it is such."""
    old = _copies(claim).get(a.name)
    if old is None or text_of(a.indices[0]) != NEXT:
        return a
    return At(old, (Name("k"), *a.indices[1:]))


def _after(claim: Claim, a: At) -> Expression:
    """A state of round k - 1, or of k written as k - 1 + 1, as one of round k where it is such."""
    if text_of(a.indices[0]) != BEFORE:
        return At(a.name, (Name("k"), *a.indices[1:]))
    new = next((name for name, old in _copies(claim).items() if old == a.name), None)
    return a if new is None else At(new, (Name("k"), *a.indices[1:]))


# --- over rounds ---


def carried(context: Context, given: Sequence[Known]) -> list[Line] | None:
    """What is said of a round, carried on from the start; of the last round what is so of every one."""
    claim = context.claim
    copied = [line for one in given for e in _potentials(claim, one) for line in _copied(context, e)]
    name, sentence = claim.label, claim.statement
    last: list[Line] = []
    if "k" not in claim.free:
        left, right = (replaced(side, {"K": Name("k")}) for side in (claim.sentence.left, claim.sentence.right))
        name, sentence = "every round", str(Sentence(left, claim.sentence.relation, right))
        last = [{"name": claim.label, "sentence": claim.statement, "by": "at", "line": name, "put": {"k": "K"}}]
    lines = induction(context, sentence, name, "k", 0, [*given, *copied])
    return [*lines, *last] if lines is not None else _from_unrolled(context, given, copied)


def _from_unrolled(context: Context, given: Sequence[Known], copied: Sequence[Known]) -> list[Line] | None:
    """The claim from one of the lemmas, as it is k rounds after the start."""
    claim = context.claim
    put = None if "k" in claim.free else {"k": "K"}
    for one in given:
        name = f"{one.name} unrolled"
        for unrolled in _unrolled(context, one):
            lines = induction(context, unrolled, name, "k", 0, [one, *copied])
            if lines is None:
                continue
            for lean in (True, False):
                inner = replace(context, lean=lean, plain=not lean, stage=0 if lean else 1)
                last = combine(inner, claim.statement, claim.label, [Known(name, unrolled, cost=0.3, put=put)])
                context.used = inner.used
                if last is not None:
                    return [*lines, *last]
    return None


def _unrolled(context: Context, lemma: Known) -> Iterator[str]:
    """Of ``psi(k + 1) <= rho*psi(k) + c`` what it says of psi(k), with what it is at the start."""
    tree = parse_sentence(lemma.sentence)
    left, right = (tree.left, tree.right) if tree.relation in ("<=", "<") else (tree.right, tree.left)
    if tree.relation == "==":
        return
    claim, forms = context.claim, context.forms
    kept = [t for t in _added(left) if {text_of(p.indices[0]) for p in everything(t) if isinstance(p, At)} != {NOW}]
    psi = replaced(joined(kept, "+"), {"k": applied("-", (Name("k"), ONE))})
    psi = _put(psi, lambda a: _after(claim, a))
    if {text_of(p.indices[0]) for p in everything(psi) if isinstance(p, At)} != {NOW}:
        return
    try:
        old, new = forms.expanded(text_of(psi)), forms.expanded(text_of(right))
        start = replaced(psi, {"k": Number(Fraction(0))})
        field = Field(tuple(dict.fromkeys((*forms.number_atoms(old), *forms.number_atoms(new)))))
        at = [tuple(worth(parse_expression(a), v, claim.definitions) for a in field.atoms) for v in context.settings(6)]
    except ValueError:
        return
    moving = [key for key in old if any(a.kind == "state" for a in deep(key))]
    ratios = [forms.element(field, new[key]) / forms.element(field, old[key]) for key in moving if key in new]
    for rho in dict.fromkeys(ratios):
        rest = {key: forms.element(field, c) for key, c in new.items() if key not in moving}
        for key in old:
            if key not in moving:
                rest[key] = rest.get(key, field.inner.zero) - rho * forms.element(field, old[key])
        rest = {key: c for key, c in rest.items() if c}
        if rho == 1:
            more = [_times(f"k*({field.text(c, at)})", key) for key, c in rest.items()]
            yield f"{text_of(psi)} <= {' + '.join([text_of(start), *more])}"
            continue
        power = f"({field.text(rho, at)})**k"
        more = [_times(field.text(c / (1 - rho), at), key) for key, c in rest.items()]
        yield f"{text_of(psi)} <= {' + '.join([f'{power}*({text_of(start)})', *more])}"
        if more:
            yield f"{text_of(psi)} <= {power}*({text_of(start)}) + (1 - {power})*({' + '.join(more)})"


def _times(factor: str, key: Monomial) -> str:
    return factor if key == () else f"({factor})*{monomial(key)}"


def _added(e: Expression, sign: int = 1) -> Iterator[Expression]:
    if isinstance(e, Apply) and e.operation in ("+", "-"):
        a, b = parts(e)
        yield from _added(a, sign)
        yield from _added(b, sign if e.operation == "+" else -sign)
    elif isinstance(e, Apply) and e.operation == "neg":
        yield from _added(parts(e)[0], -sign)
    else:
        yield e if sign > 0 else applied("neg", (e,))
