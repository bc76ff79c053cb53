"""What a claim's left side bounds: a distance, a gap or a gradient, and at which points of the run.

``E(norm2(x[k] - xstar)) + c*E(norm2(h[k] - g)) <= R`` bounds the distance: the other summand is not negative. The
factor before a quantity (``K*(K + 1)/2*(E(f(ag[K])) - fstar)``) goes to the other side, and of a sum over rounds the
weights, so that what is left is a mean. A claim about one round, from ``V[k]`` to ``V[k+1]``, is carried over the run.
All of it is read off the sentence; nothing is asked by a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from theory.calculator.signs import is_excess, never_negative
from theory.calculator.terms import ONE, terms_of
from theory.claim import Claim
from theory.domain import NONNEGATIVE
from theory.formula import Apply, Name
from theory.sentence import (
    OVER,
    At,
    Expression,
    Sentence,
    applied,
    everything,
    exchanged,
    index_of,
    parse_expression,
    parts,
    read,
    replaced,
    text_of,
)

Measure: TypeAlias = Literal["distance", "gap", "gradient"]
"""norm2(p - xstar), f(p) - fstar, norm2(grad(f, p)), each in expectation."""
Where: TypeAlias = Literal["last", "average", "mean"]
"""p is an iterate, or a mean of iterates; or the mean of the values at the iterates is taken."""
ROUNDS = ("k", "h", "j")
NEXT = parse_expression("k + 1")


@dataclass(frozen=True)
class Quantity:
    """A quantity that a left side bounds: the side is at least `factor` times it.

    Attributes:
        measure: what it is.
        where: at which points.
        tree: the quantity, in the claim's names.
        factor: a number, in the claim's parameters.
        positive: weights of a mean, of which the least is to be positive.
    """

    measure: Measure
    where: Where
    tree: Expression
    factor: Expression = ONE
    positive: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Bounded:
    """A quantity at the end of a run, and what bounds it.

    Attributes:
        quantity: which; its tree has numbers of rounds in terms of K.
        claim: ``quantity <= right side``, with the conditions of the claim that says it.
        last: the last k of which it speaks is K less this.
        step: of a claim about one round, how the number `carried` is bounded after it; else None.
        carried: the name of this number, a parameter of `claim` and `step`; else empty.
        start: what it is before the first round.
    """

    quantity: Quantity
    claim: Claim
    last: int = 0
    step: Claim | None = None
    carried: str = ""
    start: Expression | None = None


@lru_cache(maxsize=1024)
def bounded(claim: Claim) -> tuple[Bounded, ...]:
    """The quantities that a claim bounds from above after all rounds; none where it bounds something else.

    Parameters that are one number a client or a round are one number for all of them. What a relation fixes by others
    is defined by these.
    """
    if claim.of is None or not claim.has_sentence or claim.in_words or claim.sentence.relation in (">", ">="):
        return ()
    alike: dict[str, Expression] = {
        s: Name(index_of(s)[0]) for s in claim.symbols if index_of(s)[1] in ("n", "k") and s not in claim.definitions
    }
    known = {name: replaced(tree, alike) for name, tree in claim.definitions.items()}
    states = {name: tree for name, tree in known.items() if any(isinstance(p, At) for p in everything(tree))}
    left, right = (_over_alike(replaced(replaced(side, alike), states), claim) for side in claim.sentence.sides)
    if not read(left, claim.vocabulary).free <= {"k"}:
        return ()
    found = list(_quantities(replaced(left, known), claim))
    if not found:
        return ()
    plain, last, before = _plain(claim, alike), _last(left, claim), _earlier(left)
    step, start, name = None, None, ""
    if before is not None:
        name = _fresh(claim)
        carried = exchanged(right, {before: Name(name)}.get)
        if carried == right:
            name = ""
        else:
            step = _said(plain, left, carried, carried=name)
            right, start = Name(name), _put_index(before, Name("k"), parse_expression("0"))
    result = []
    for one in found:
        tree = _put_index(_put_index(one.tree, NEXT, _rounds(last - 1)), Name("k"), _rounds(last))
        tree = one.tree if "k" not in read(left, claim.vocabulary).free else tree
        bound = right if one.factor == ONE else applied("/", (right, one.factor))
        conditions = tuple(f"{text_of(e)} > 0" for e in (one.factor, *one.positive) if e != ONE)
        said = _said(plain, tree, bound, conditions, name)
        result.append(Bounded(replace(one, tree=tree), said, last, step, name, start))
    return tuple(result)


def _plain(claim: Claim, alike: Mapping[str, Expression]) -> Claim:
    """The claim with one number for what is one a client or a round; what a relation fixes is among `where`."""
    where = {
        name: text_of(_over_alike(replaced(parse_expression(text), alike), claim)) for name, text in claim.where.items()
    }
    assuming, fixed = [], {*claim.of.parameters, *claim.constants, "N", "K", "d"} if claim.of is not None else set()
    for text, one in zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True):
        if not isinstance(one, Sentence):
            assuming.append(text)
            continue
        left, right = (_over_alike(replaced(side, alike), claim) for side in one.sides)
        if one.relation == "==" and isinstance(left, Name) and left.name not in {*fixed, *where}:
            where[left.name] = text_of(right)
        else:
            assuming.append(f"{text_of(left)} {one.relation} {text_of(right)}")
    domains = {index_of(name)[0]: domain for name, domain in claim.parameters.items()}
    return replace(
        claim, assuming=tuple(assuming), standing=(), where=where, parameters=domains, printed={}, proof=None, given=(),
        amends=None, beside=(),
    )  # fmt: skip


def _over_alike(e: Expression, claim: Claim) -> Expression:
    """The tree with what is taken over clients of numbers that are the same for all written without the clients."""
    if not isinstance(e, Apply):
        return e
    inner = tuple(_over_alike(a, claim) for a in parts(e))
    how, index = OVER.get(e.operation, ("", ""))
    if index == "n" and how != "first" and not _speaks(inner[0]) and "n" not in read(inner[0], claim.vocabulary).free:
        return applied("*", (Name("N"), inner[0])) if how == "sum" else inner[0]
    return applied(e.operation, inner)


def _said(
    plain: Claim, left: Expression, right: Expression, conditions: tuple[str, ...] = (), carried: str = ""
) -> Claim:
    """``left <= right`` with the conditions of a claim, and more of them."""
    domains = {**plain.parameters, **({carried: NONNEGATIVE} if carried else {})}
    assuming = (*plain.assuming, *conditions)
    found = replace(plain, statement=f"{text_of(left)} <= {text_of(right)}", assuming=assuming, parameters={})
    used = {name: domain for name, domain in domains.items() if name in {*found.domains, *found.where}}
    return replace(found, parameters=used)


def _fresh(claim: Claim) -> str:
    name = "before"
    while name in {*claim.symbols, *claim.where, *claim.vocabulary.states, *claim.vocabulary.taps}:
        name += "_"
    return name


# --- rounds ----------------------------------------------------------------------------------------------------------


def _last(left: Expression, claim: Claim) -> int:
    """K less the largest k for which all that the left side speaks of lies in the run."""
    states = [p for p in everything(left) if isinstance(p, At)]
    return max((p.indices[0] == NEXT) + (p.name in claim.vocabulary.taps) for p in states) if states else 0


def _rounds(less: int) -> Expression:
    return Name("K") if less == 0 else parse_expression(f"K - {less}" if less > 0 else f"K + {-less}")


def _earlier(e: Expression) -> Expression | None:
    """The tree one round earlier; None where a state has another index than k+1."""
    indices = [part.indices[0] for part in everything(e) if isinstance(part, At)]
    return _put_index(e, NEXT, Name("k")) if indices and all(i == NEXT for i in indices) else None


def _put_index(e: Expression, old: Expression, new: Expression) -> Expression:
    """The tree with an index of its states replaced, where no sum or mean binds it."""

    def put(part: Expression) -> Expression | None:
        if isinstance(part, At):
            return At(part.name, tuple(new if i == old else i for i in part.indices))
        return part if isinstance(part, Apply) and OVER.get(part.operation, ("", ""))[1] == "k" else None

    return exchanged(e, put)


# --- what a tree bounds ----------------------------------------------------------------------------------------------


def _quantities(e: Expression, claim: Claim) -> Iterator[Quantity]:
    """The quantities of which a tree without definitions is at least a multiple."""
    if not isinstance(e, Apply) or not any(isinstance(p, At) for p in everything(e)):
        return
    how, index = ("mean", "") if e.operation == "E" else OVER.get(e.operation, ("", ""))
    if how in ("mean", "sum"):
        for one in _quantities(parts(e)[0], claim):
            yield from _collected(one, e.operation, how, index, claim)
    elif e.operation in ("*", "/"):
        first, second = parts(e)
        for value, number, turned in ((first, second, False), (second, first, True)):
            if not _speaks(number) and not (turned and e.operation == "/"):
                for one in _quantities(value, claim):
                    factor = (
                        number
                        if one.factor == ONE and e.operation == "*"
                        else applied(e.operation, (one.factor, number))
                    )
                    yield replace(one, factor=factor)
    elif e.operation == "norm2":
        yield from _of_vector(e)
    elif e.operation in ("+", "-"):
        yield from _of_sum(e, claim)


def _of_vector(e: Apply) -> Iterator[Quantity]:
    v = parts(e)[0]
    if isinstance(v, Apply) and v.operation == "grad f":
        yield Quantity("gradient", _where(parts(v)[0]), e)
    elif isinstance(v, Apply) and v.operation == "-" and Name("xstar") in parts(v):
        first, second = parts(v)
        yield Quantity("distance", _where(second if first == Name("xstar") else first), e)


def _of_sum(e: Apply, claim: Claim) -> Iterator[Quantity]:
    """Of a sum whose terms are not negative: those of each."""
    left = list(terms_of(e))
    values: list[Expression] = []
    for sign, term in list(left):
        for other in left if sign > 0 else ():
            if (sign, term) in left and other[0] < 0 and is_excess(term, other[1], claim):
                values.append(applied("-", (term, other[1])))
                left.remove((sign, term))
                left.remove(other)
                break
    if len(left) == 0 and len(values) == 1:
        yield from _of_excess(values[0])
        return
    terms = [*values, *(term for _, term in left)]
    if all(sign > 0 and (never_negative(term, claim) or _in_excess(term, claim)) for sign, term in left):
        for term in terms:
            yield from _quantities(term, claim)


def _in_excess(e: Expression, claim: Claim) -> bool:
    """Whether a tree is a number that is not negative times what is not."""
    if isinstance(e, Apply) and e.operation == "E":
        return _in_excess(parts(e)[0], claim)
    if isinstance(e, Apply) and e.operation in ("*", "/"):
        return all(never_negative(part, claim) or _in_excess(part, claim) for part in parts(e))
    return never_negative(e, claim)


def _of_excess(e: Expression) -> Iterator[Quantity]:
    """Of values of f less its infimum."""
    value = parts(e)[0]
    points = [parts(p)[0] for p in everything(value) if isinstance(p, Apply) and p.operation == "f"]
    if len(points) == 1 and _speaks(points[0]):
        means = any(OVER.get(p.operation, ("", ""))[1] in ROUNDS for p in _outside(value))
        yield Quantity("gap", "mean" if means else _where(points[0]), e)


def _outside(e: Expression) -> Iterator[Apply]:
    """What is taken of a value of f."""
    while isinstance(e, Apply) and e.operation != "f":
        yield e
        e = parts(e)[0]


def _collected(one: Quantity, operation: str, how: str, index: str, claim: Claim) -> Iterator[Quantity]:
    """A quantity inside of an expectation, a mean or a sum."""
    factor, whole = one.factor, one.factor
    weighted = bool(index) and index in read(factor, claim.vocabulary).free
    where: Where = "mean" if index in ROUNDS else one.where
    if not weighted and how == "mean":
        yield replace(one, where=where, tree=applied(operation, (one.tree,)))
    elif weighted:
        total = applied(f"sum_{index}", (factor,))
        tree = applied("/", (applied(f"sum_{index}", (applied("*", (factor, one.tree)),)), total))
        whole = total if how == "sum" else applied(f"mean_{index}", (factor,))
        yield replace(
            one, where=where, tree=tree, factor=whole, positive=(*one.positive, applied(f"min_{index}", (factor,)))
        )
    else:
        sizes: dict[str, Expression] = {"k": Name("K"), "n": Name("N")}
        count = sizes.get(index) or applied(f"sum_{index}", (ONE,))
        whole = applied("*", (count, factor)) if factor != ONE else count
        yield replace(one, where=where, tree=applied(f"mean_{index}", (one.tree,)), factor=whole)


def _where(point: Expression) -> Where:
    """Whether a point is an iterate, or made of several."""
    over = {OVER[p.operation][1] for p in everything(point) if isinstance(p, Apply) and p.operation in OVER}
    return "average" if over & set(ROUNDS) else "last"


def _speaks(e: Expression) -> bool:
    """Whether a tree speaks of states."""
    return any(isinstance(part, At) for part in everything(e))
