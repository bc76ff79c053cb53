"""Relations between numbers: what is so of roots, largest and least numbers, exponentials, logarithms and powers.

A root that stands alone on one side is compared by squares; the largest of some numbers is at most what each is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product

from theory.derivation.quotients import Quotient
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.derivation.search.field import Element, Field
from theory.derivation.search.forms import Form
from theory.derivation.search.induction import ONE, ZERO, induction
from theory.derivation.search.powers import of_real_powers
from theory.derivation.search.settings import worth
from theory.formula import Apply, Name
from theory.sentence import (
    Expression,
    Sentence,
    applied,
    everything,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)

_DEPTH = 4
"""Of roots within roots, and of largest numbers."""
_MOST_TERMS, _A_ROOT = 16, 8
"""Of what stands beside a root that is left alone, whose square has as many more; and what to try it costs, in work."""
_SETTINGS = 24
_MOST_PAIRED = 4
"""Exponentials, and logarithms, of which each is held against each other one."""


def between_numbers(context: Context) -> list[Line] | None:
    """The sentence, where it is about numbers alone and has what is no rational function of them."""
    claim = context.claim
    if not context.first or not about_numbers(context, claim.statement):
        return None
    return shown(replace(context, signs=True), claim.statement, claim.label)


def shown(context: Context, sentence: str, name: str, depth: int = _DEPTH) -> list[Line] | None:
    """Lines that end with a relation between numbers; None where none are found.

    Args:
        context: of the claim.
        sentence: which, with ``<=``, ``>=`` or ``==`` as its relation.
        name: of the last line.
        depth: how many more roots and extremes may be taken apart.
    """
    if parse_sentence(sentence).relation not in ("<=", ">=", "==") or not _holds(context, sentence):
        return None
    there = {one.name for one in context.known}
    given = {one.name: one for one in elementary(context, sentence) if one.name not in there}
    lines = combine(context, sentence, name, list(given.values()))
    if lines is not None or depth == 0:
        return lines
    return _of_an_extreme(context, sentence, name, depth) or _of_a_root(context, sentence, name, depth)


def elementary(context: Context, sentence: str, lengths: Sequence[str] = ("K",)) -> Iterator[Known]:
    """What is so of the exponentials, logarithms and powers in a sentence, as lines to be.

    Args:
        context: of the claim.
        sentence: which.
        lengths: what K stands for in it, as formulas.
    """
    forms = context.forms
    found: dict[str, tuple[str, list[str]]] = {}
    for K in lengths:
        try:
            found |= _made(context, forms.gap(sentence, put={} if K == "K" else {"K": K}))
        except ValueError:
            continue
    # exponentials, logarithms and powers in what is assumed
    found |= {a: of for a, of in _assumed(context).items() if of[0] in ("exp", "log", "real power")}
    for of in [of for kind, of in found.values() if kind in ("max", "min")]:
        for inner in of:
            found |= _made(context, forms.expanded(inner))
    exponents, logarithms = (
        [of[0] for kind, of in found.values() if kind == asked][:_MOST_PAIRED] for asked in ("exp", "log")
    )
    for one, other in permutations(exponents, 2):
        yield from _of_sum(one, forms.simplified(f"({other}) - ({one})"))
    for e in exponents:
        yield _exponential(e)
        yield from _of_sum(e, forms.simplified(f"-({e})"))
    for e, g in product(exponents, logarithms):
        yield from _with_logarithm(forms.simplified(f"({e}) + log({g})"), e, g)
    for one, other in permutations(logarithms, 2):
        yield from _of_quotient(forms.simplified(f"({other})/({one})"), other, one)
    for e in logarithms:
        yield _logarithm(e)
        yield from _of_quotient(forms.simplified(f"1/({e})"), "1", e)
    yield from _related(context, [a for a, (kind, _) in found.items() if kind == "sqrt"][:_MOST_PAIRED])
    for kind, of in found.values():
        if kind == "log" and f"sqrt({of[0]})" in found:
            yield from _of_quotient(f"sqrt({of[0]})", of[0], f"sqrt({of[0]})")
        if kind in ("max", "min") and len(of) == 2:
            yield _one_of_two(kind, *of)
        if kind == "power":
            base, exponent = of
            said = f"(1 + (({base}) - 1))**({exponent}) >= 1 + ({exponent})*(({base}) - 1)"
            yield Known(said, said, {"by": "axiom", "schema": "bernoulli", "of": [f"({base}) - 1", exponent]}, 0.4)
    yield from _of_powers(context, found)


def powers(context: Context, sentence: str) -> Iterator[Known]:
    """What is so of the powers in a sentence, and in what is assumed, whose exponents may be no integers."""
    with suppress(ValueError):
        yield from _of_powers(context, {**_made(context, context.forms.gap(sentence)), **_assumed(context)})


def _of_powers(context: Context, made: Mapping[str, tuple[str, list[str]]]) -> Iterator[Known]:
    some, roots = ([of for kind, of in made.values() if kind == one] for one in ("real power", "sqrt"))
    yield from of_real_powers(context, some[:_MOST_PAIRED], [of[0] for of in roots])


def _assumed(context: Context) -> dict[str, tuple[str, list[str]]]:
    """What is made of other numbers in the claim's relations."""
    found: dict[str, tuple[str, list[str]]] = {}
    for relation in context.claim.relations:
        with suppress(ValueError):
            found |= _made(context, context.forms.gap(str(relation)))
    return found


def _made(context: Context, form: Form) -> dict[str, tuple[str, list[str]]]:
    """The atoms of numbers that are functions of others: which, and of what."""
    made = {a: context.forms.made_of(a) for a in context.forms.number_atoms(form)}
    return {a: of for a, of in made.items() if of is not None}


def _of_sum(one: str, other: str) -> Iterator[Known]:
    """That the exponential of a sum is the product, as two inequalities, and what is so of the second."""
    yield from _both(f"exp(({one}) + ({other}))", f"exp({one})*exp({other})", "exp sum", one, other)
    yield _exponential(other)


def _with_logarithm(total: str, e: str, g: str) -> Iterator[Known]:
    """That g times the exponential of e is that of e + log(g), which is at most 1 where that is not positive."""
    yield from _both(f"exp(log({g}))", g, "exp log", g)
    yield from _both(f"exp({total})", f"exp({e})*exp(log({g}))", "exp sum", e, f"log({g})")
    yield from _of_sum(total, f"-({total})")


def _of_quotient(quotient: str, one: str, other: str) -> Iterator[Known]:
    """That the logarithm of a quotient is the difference, as two inequalities, and what is so of the quotient."""
    yield from _both(f"log({quotient})", f"log({one}) - log({other})", "log quotient", one, other)
    yield _logarithm(quotient)


def _related(context: Context, roots: Sequence[str]) -> Iterator[Known]:
    """Of two roots whose quotient is none, as ``sqrt(a*b)`` and ``sqrt(a/b)``, that one is so many times the other."""
    forms = context.forms
    insides = {root: q for root in roots if (q := forms.squared(root)) is not None}
    for one, other in permutations(insides, 2):
        quotient = _root(context, insides[one] / insides[other])
        if quotient is None or one > other:
            continue
        low, high = forms.simplified(f"({one})**2"), f"({quotient})**2*({forms.simplified(f'({other})**2')})"
        equal = f"{low} == {high}"
        yield Known(equal, equal, {"by": "combination", "parts": []}, 0.4)
        for said in (f"{one} <= {quotient}*{other}", f"{quotient}*{other} <= {one}"):
            yield Known(said, said, {"by": "root", "line": equal}, 0.4)


def root_of(context: Context, text: str) -> str | None:
    """The root of a number, where it is a rational function squared."""
    forms = context.forms
    try:
        form = forms.expanded(text)
        if set(form) != {()}:
            return None
        return _root(context, form[()])
    except ValueError:
        return None


def _root(context: Context, q: Quotient) -> str | None:
    """The root of a number in normal form, where it is a rational function squared."""
    field = Field(tuple(context.forms.number_atoms({(): q})))
    like = _values(context, field)
    made = field.root(context.forms.element(field, q), like)
    return None if made is None else field.text(made, like)


def _one_of_two(kind: str, a: str, b: str) -> Known:
    """That the largest, or the least, of two numbers is one of them: ``(a - m)*(b - m) <= 0``, by cases."""
    m = f"{kind}({a}, {b})"

    def case(one: str, other: str) -> list[Line]:
        """Where `one` is it: it is beyond neither, and `one` not beyond it."""
        low, high = (m, other) if kind == "min" else (other, m)
        below = {
            "name": f"{m} and {other}",
            "sentence": f"{low} <= {high}",
            "by": "axiom",
            "schema": kind,
            "of": [a, b],
        }
        low, high = (one, m) if kind == "min" else (m, one)
        same = {
            "name": f"{m} and {one}",
            "sentence": f"{low} <= {high}",
            "by": "axiom",
            "schema": "bounds",
            "of": [a, b, one],
        }
        gap = f"({other}) - {m}" if kind == "min" else f"{m} - ({other})"
        last = {"name": f"{m} is {one}", "sentence": said, "by": "combination"}
        return [below, same, {**last, "parts": [{"line": same["name"], "times": f"({gap})"}]}]

    said = f"(({a}) - {m})*(({b}) - {m}) <= 0"
    first, second = case(a, b), case(b, a)
    if kind == "max":
        first, second = second, first
    return Known(said, said, {"by": "cases", "on": f"{a} <= {b}", "first": first, "second": second}, 0.4)


def _both(whole: str, pieces: str, schema: str, *of: str) -> Iterator[Known]:
    for said in (f"{whole} <= {pieces}", f"{pieces} <= {whole}"):
        yield Known(said, said, {"by": "axiom", "schema": schema, "of": list(of)}, 0.4)


def _exponential(e: str) -> Known:
    said = f"exp({e}) >= 1 + ({e})"
    return Known(said, said, {"by": "axiom", "schema": "exp", "of": [e]}, 0.4)


def _logarithm(e: str) -> Known:
    said = f"log({e}) <= ({e}) - 1"
    return Known(said, said, {"by": "axiom", "schema": "log", "of": [e]}, 0.4)


def about_numbers(context: Context, sentence: str) -> bool:
    """Whether a sentence is about numbers alone, among them one that is no rational function of others."""
    try:
        form = context.forms.gap(sentence)
    except ValueError:
        return False
    return set(form) <= {()} and bool(_made(context, form))


def _holds(context: Context, sentence: str) -> bool:
    """Whether it does, to rounding, wherever it is tried."""
    said = parse_sentence(sentence)
    left, right = (replaced(side, context.claim.definitions) for side in said.sides)
    if said.relation == ">=":
        left, right = right, left
    for at in context.settings(_SETTINGS, (), context.supposed):
        try:
            low, high = worth(left, at), worth(right, at)
        except ValueError:
            continue
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        if low > high + slack or (said.relation == "==" and high > low + slack):
            return False
    return True


def _of_an_extreme(context: Context, sentence: str, name: str, depth: int) -> list[Line] | None:
    """The largest of some numbers is at most what each of them is at most, and likewise the least."""
    said = parse_sentence(sentence)
    sides = [replaced(side, context.claim.definitions) for side in said.sides]
    if said.relation == ">=":
        sides.reverse()
    low, high = sides
    for extreme, other, operation in ((low, high, "max"), (high, low, "min")):
        if said.relation == "==" or not isinstance(extreme, Apply) or extreme.operation != operation:
            continue
        lines: list[Line] = []
        some = parts(extreme)
        for one in some:
            pair = (one, other) if operation == "max" else (other, one)
            found = shown(context, str(Sentence(pair[0], "<=", pair[1])), context.name("each"), depth - 1)
            if found is None:
                break
            lines += found
        else:
            of = [*map(text_of, some), text_of(other)]
            return [*lines, {"name": name, "sentence": sentence, "by": "axiom", "schema": "bounds", "of": of}]
    return None


def _of_a_root(context: Context, sentence: str, name: str, depth: int) -> list[Line] | None:
    """One root is left alone on its side, and both sides are compared by their squares."""
    forms = context.forms
    try:
        form = forms.gap(sentence)
        roots = {a: q for a in forms.number_atoms(form) if (q := forms.squared(a)) is not None}
        atoms = dict.fromkeys(forms.number_atoms(form))
        for q in roots.values():
            atoms |= dict.fromkeys(forms.number_atoms({(): q}))
        field = Field(tuple(atoms))
        gap = forms.element(field, form[()])
        insides = {a: forms.element(field, q) for a, q in roots.items()}
    except (ValueError, KeyError):
        return None
    like, written = _values(context, field), _as_written(context, sentence)
    for root, inside in insides.items():
        alone = _alone(field, gap, root, inside, like)
        if alone is None:
            continue
        rest, factor, below = alone
        if max(len(e.numer) for e in (rest, factor)) > _MOST_TERMS:
            continue
        context.work.spend(_A_ROOT)
        lines = _by_squares(context, sentence, depth, field, like, written.get(root, root), inside, rest, factor)
        if lines is not None:
            last = {"line": lines[-1]["name"], "times": field.text(1 / below, like)}
            return [*lines, {"name": name, "sentence": sentence, "by": "combination", "parts": [last]}]
    return None


def _as_written(context: Context, sentence: str) -> dict[str, str]:
    """Roots and absolute values by their text as atoms: as the sentence has them, whose domains are its own."""
    found: dict[str, str] = {}
    for side in parse_sentence(sentence).sides:
        for e in everything(replaced(side, context.claim.definitions)):
            if isinstance(e, Apply) and e.operation in ("sqrt", "abs"):
                with suppress(ValueError):
                    found.setdefault(context.forms.simplified(text_of(e)), text_of(e))
    return found


def _values(context: Context, field: Field) -> list[tuple[float, ...]]:
    """Of the field's atoms, where the hypotheses hold."""
    trees = [replaced(parse_expression(a), context.claim.definitions) for a in field.atoms]
    found = []
    for at in context.settings(_SETTINGS, (), context.supposed):
        try:
            found.append(tuple(worth(tree, at) for tree in trees))
        except ValueError:
            continue
    return found


def _alone(
    field: Field, gap: Element, root: str, inside: Element, like: Sequence[Sequence[float]]
) -> tuple[Element, Element, Element] | None:
    """``rest``, ``factor`` and ``below``, the last positive: the gap is ``(rest + factor*root)/below``."""
    place = field.places[root]
    sides: list[Element] = [field.inner.zero, field.inner.zero]
    for m, c in gap.numer.terms():
        term = field.inner.field_new(field.inner.ring.from_dict({(*m[:place], 0, *m[place + 1 :]): c}))
        sides[m[place] % 2] += term * inside ** (m[place] // 2)
    rest, factor = sides
    below = field.inner.field_new(gap.denom)
    for e in (rest.denom, factor.denom):
        cleared = field.inner.field_new(e)
        if cleared != 1:
            rest, factor, below = rest * cleared, factor * cleared, below * cleared
    signs = {field.value(below, at) > 0 for at in like}
    if not factor or len(signs) != 1:
        return None
    return (rest, factor, below) if signs == {True} else (-rest, -factor, -below)


def _by_squares(
    context: Context,
    sentence: str,
    depth: int,
    field: Field,
    like: Sequence[Sequence[float]],
    root: str,
    inside: Element,
    rest: Element,
    factor: Element,
) -> list[Line] | None:
    """Lines that end with ``-factor*root <= rest``, or ``-rest <= factor*root``, from the squares."""
    signs = {field.value(factor, at) > 0 for at in like if abs(field.value(factor, at)) > 1e-12}
    if len(signs) != 1:
        return None
    size = factor if signs == {True} else -factor
    squared = field.text(size**2 * inside, like)
    if signs == {True}:
        low, high, greater = field.text(-rest, like), f"{field.text(size, like)}*{root}", size
        ends = (field.text(rest**2, like), squared)
    else:
        low, high, greater = f"{field.text(size, like)}*{root}", field.text(rest, like), rest
        ends = (squared, field.text(rest**2, like))
    relation = "==" if parse_sentence(sentence).relation == "==" else "<="
    first, own = context.name("squares"), context.name("root")
    lines = shown(context, f"{ends[0]} {relation} {ends[1]}", first, depth - 1)
    if lines is None:
        return None
    if any(c < 0 for _, c in greater.numer.terms()):
        sure = shown(context, f"0 <= {field.text(greater, like)}", context.name("not negative"), depth - 1)
        if sure is None:
            return None
        lines = [*sure, *lines]
    return [*lines, {"name": own, "sentence": f"{low} {relation} {high}", "by": "root", "line": first}]


def over_powers(context: Context) -> list[Line] | None:
    """Induction over K, the exponent of powers or within exponentials, of a sentence about numbers alone."""
    claim = context.claim
    if (
        not context.first
        or claim.of is not None
        or "K" not in claim.symbols
        or not about_numbers(context, claim.statement)
    ):
        return None
    facts = elementary(context, claim.statement, ("K", "K + 1"))
    known = list({one.name: one for one in (*context.known, *facts)}.values())
    return induction(replace(context, known=known), claim.statement, claim.label, "K", 1)


def through_exponentials(context: Context) -> list[Line] | None:
    """With ``b**K <= exp(-(1 - b)*K)`` for the powers in a sentence about numbers alone."""
    claim = context.claim
    if not context.first or not about_numbers(context, claim.statement):
        return None
    inside = replace(context, signs=True)
    for kind, of in _made(context, context.forms.gap(claim.statement)).values():
        if kind != "power":
            continue
        base, exponent = of
        sure = shown(inside, f"0 <= {base}", inside.name("base"))
        if sure is None:
            continue
        less = context.forms.simplified(f"({base}) - 1")
        e = context.forms.simplified(f"({less})*({exponent})")
        lemma = Known("power and exponential", f"({base})**({exponent}) <= exp({e})", cost=0.2)
        lines: list[Line] = [
            *sure,
            {"name": "once", "sentence": f"{base} <= exp({less})", "by": "axiom", "schema": "exp", "of": [less]},
            {
                "name": "all times",
                "sentence": f"({base})**({exponent}) <= exp({less})**({exponent})",
                "by": "power",
                "line": "once",
                "exponent": exponent,
            },
            {
                "name": "in one",
                "sentence": f"exp({e}) == exp({less})**({exponent})",
                "by": "axiom",
                "schema": "exp power",
                "of": [less, exponent],
            },
            {
                "name": lemma.name,
                "sentence": lemma.sentence,
                "by": "combination",
                "parts": [{"line": "all times"}, {"line": "in one", "times": "-1"}],
            },
        ]
        known = {one.name: one for one in (*context.known, lemma, *elementary(context, lemma.sentence))}
        last = shown(replace(inside, known=list(known.values()), used=inside.used), claim.statement, claim.label)
        if last is not None:
            return [*lines, *last]
    return None


def term_by_term(context: Context) -> list[Line] | None:
    """Induction over K of a sum, or mean, of numbers, from what one more term is at most, or at least."""
    claim = context.claim
    sides = at_most(claim)
    if not context.first or claim.of is not None or sides is None:
        return None
    above = _over_rounds(sides[0])
    total, bound = sides if above else sides[::-1]
    if not isinstance(total, Apply) or not _over_rounds(total):
        return None

    def bounded(less: Expression, more: Expression) -> str:
        return str(Sentence(less, "<=", more) if above else Sentence(more, "<=", less))

    if total.operation == "mean_k":
        bound = applied("*", (Name("K"), bound))
    term = parts(total)[0]
    first, last = (replaced(term, {"k": k}) for k in (ZERO, Name("K")))
    left = applied("*", (bound, applied("-", (ONE, applied("/", (last, first))))))  # of a geometric series
    for potential in (bound, left):
        following = replaced(potential, {"K": applied("+", (Name("K"), ONE))})
        one = Known("one more", bounded(last, applied("-", (following, potential))))
        begun = Known("the first", bounded(first, replaced(potential, {"K": ONE})))
        more = shown(context, one.sentence, one.name)
        if more is None:
            continue
        whole = Known("all", bounded(applied("sum_k", (term,)), potential))
        lines = induction(context, whole.sentence, whole.name, "K", 1, [one])
        begins = [] if lines is not None else shown(context, begun.sentence, begun.name)
        if begins:
            lines = induction(context, whole.sentence, whole.name, "K", 1, [one, begun])
        end = None if lines is None else combine(context, claim.statement, claim.label, [whole])
        if lines is not None and end is not None:
            return [*more, *(begins or []), *lines, *end]
    return None


def _over_rounds(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operation in ("sum_k", "mean_k")


__all__ = [
    "between_numbers",
    "elementary",
    "over_powers",
    "powers",
    "root_of",
    "shown",
    "term_by_term",
    "through_exponentials",
]
