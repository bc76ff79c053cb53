"""The normal form: sums of products of atoms, with binders of their own; what equals what without any hypothesis.

One type serves scalars and vectors: a vector v is kept as the linear form <v, .>, so that every monomial of it has one
atom ``vec``, which may stand inside a binder. Binders (sums over k and h, means over clients and samples) hold one
product whose factors hang together by their indices; whatever does not hang on the index stands outside, and an
expectation holds only what is random, and stands inside of all other binders. Bound indices have the names that make
the text least, so that equal texts mean equal values whatever the author called them, and none is ever captured:
while a binder is open its index has a name that occurs nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from theory.derivation.atoms import FIRST, Binder, Index, Renaming, atom, fresh, level
from theory.derivation.quotients import (
    ONE,
    ZERO,
    Atom,
    Monomial,
    Quotient,
    RejectedError,
    constant,
    mapped,
    monomial,
    of_atom,
)

MOST_BINDERS = 5
"""Of one kind, in one product."""


@dataclass(frozen=True)
class Change:
    """What becomes of free indices, and of atoms of vectors; None where one stays.

    Attributes:
        indices: new names; two indices may get the same one.
        vector: what a vector's atom is replaced by.
    """

    indices: Mapping[str, Index] = field(default_factory=dict)
    vector: Callable[[Atom], Quotient | None] | None = None

    def touches(self, x: Atom | Quotient) -> bool:
        """Whether something in it may become something else."""
        return self.vector is not None or bool(x.free & set(self.indices))

    def of(self, x: Any) -> Any:
        """Data of an atom."""
        if isinstance(x, tuple):
            return tuple(map(self.of, x))
        if isinstance(x, Index):
            return self.indices.get(x, x)
        return changed(x, self) if isinstance(x, Quotient) else x


def renamed(x: Quotient, new: Renaming) -> Quotient:
    """With free indices renamed; two of them may get the same name."""
    return changed(x, Change({str(old): name for old, name in new.items()}))


def changed(x: Quotient, change: Change) -> Quotient:
    """With free indices, and atoms of vectors, changed, everywhere in it."""
    return mapped(x, lambda a: _changed(a, change)) if change.touches(x) else x


def _changed(a: Atom, change: Change) -> Quotient:
    if not change.touches(a):
        return of_atom(a)
    match a.kind:
        case "vec":
            return as_vector(a.data[0], change)
        case "entry":
            return coordinate(as_vector(a.data[0], change), change.of(a.data[1]))
        case "dot":
            return dot(as_vector(a.data[0], change), as_vector(a.data[1], change))
        case "E":
            return expectation(_product(a.data[0], change))
        case "bind":
            binders, body = opened(a)  # whose indices are nobody else's
            inside = _product(body, change)
            for b in reversed(binders):
                upper = None if b.upper is None else changed(b.upper, change)
                inside = bind(Binder(b.kind, b.index, change.of(b.owner), upper), inside)
            return inside
        case "sqrt":
            return root(change.of(a.data[0]))
        case "abs":
            return absolute(change.of(a.data[0]))
        case "power":
            return power(*change.of(a.data))
        case "max" | "min":
            return extremum(a.kind, change.of(a.data[0]))
        case "over all":
            op, index, owner, upper, body = a.data
            here = fresh(op[-1])
            inside = changed(renamed(body, {index: here}), change)
            return over_all(op, here, change.of(owner), change.of(upper), inside)
        case "weight":
            index, *numbers, client = a.data
            here = fresh("n")
            costs, curvatures = (changed(renamed(q, {index: here}), change) for q in numbers)
            return weight(here, costs, curvatures, change.of(client))
        case "draw":
            return drawn(*change.of(a.data))
    return of_atom(atom(a.kind, *change.of(a.data), random=None if change.vector else a.random))


def _product(m: Monomial, change: Change) -> Quotient:
    found = ONE
    for a, e in m:
        found = found * _changed(a, change).power(e)
    return found


def as_vector(a: Atom, change: Change | None = None) -> Quotient:
    """A vector's atom as a vector."""
    if change is not None and change.touches(a):
        found = None if change.vector is None else change.vector(a)
        if found is not None:
            return found
        if a.kind == "E vec":
            return expectation(_product(a.data[0], change))
        if a.kind == "kept":  # of a vector that may not be one atom any more
            draw, client, m = change.of(a.data[:3])
            return kept(draw, client, m, as_vector(a.data[3], change))
        if a.kind == "least":
            name, weights, radius = a.data
            here = fresh("n")
            return least(here, changed(renamed(weights, {name: here}), change), change.of(radius))
        if a.kind == "each":
            binder, q = a.data
            here = fresh("c")
            return each(here, changed(renamed(q, {binder.index: here}), change))
        if a.kind in ("grad", "sampled") and isinstance(a.data[-1], Atom):  # what a quadratic's gradient adds for it
            kind, client = a.kind, change.of(a.data[:-1])
            return linear(as_vector(a.data[-1], change), lambda b: as_vector(atom(kind, *client, b)))
        a = atom(a.kind, *change.of(a.data), random=a.random if a.kind == "state" else None)
    return of_atom(atom("vec", a))


def root(inside: Quotient) -> Quotient:
    """The square root: a rational square stands before it."""
    content, _ = inside.direction
    if not content:
        return ZERO
    outer = Fraction(1)
    for end, sign in ((abs(content.numerator), 1), (content.denominator, -1)):
        whole = 1
        for prime in range(2, 100):
            while end % (prime * prime) == 0:
                end, whole = end // (prime * prime), whole * prime
        if (exact := _exact_root(end)) is not None:
            whole *= exact
        outer *= Fraction(whole) ** sign
    inner = inside * constant(1 / outer**2)
    return constant(outer) if inner.number == 1 else constant(outer) * of_atom(atom("sqrt", inner, square=inner))


def _exact_root(end: int) -> int | None:
    from math import isqrt

    return isqrt(end) if isqrt(end) ** 2 == end else None


def absolute(inside: Quotient) -> Quotient:
    """The absolute value: a rational factor stands before it."""
    content, _ = inside.direction
    if not content:
        return ZERO
    inner = inside * constant(1 / content)
    if inner.number is not None:
        return constant(abs(content))
    return constant(abs(content)) * of_atom(atom("abs", inner, square=inner * inner))


def extremum(op: str, of: Iterable[Quotient]) -> Quotient:
    """The greatest, or the least, of some numbers, whatever their order; that of such is that of all of them."""
    flat: dict[str, Quotient] = {}
    for q in of:
        inner = _only(q, op)
        flat |= {x.text: x for x in (inner.data[0] if inner is not None else (q,))}
    ordered = tuple(flat[t] for t in sorted(flat))
    return ordered[0] if len(ordered) == 1 else of_atom(atom(op, ordered))


def _only(q: Quotient, kind: str) -> Atom | None:
    """The one atom of this kind that a quotient is, or None."""
    if len(q.over) != 1 or q.under:
        return None
    ((m, c),) = q
    return m[0][0] if c == 1 and len(m) == 1 and m[0][1] == 1 and m[0][0].kind == kind else None


def drawn(*data: Any) -> Quotient:
    """A draw of 0 and 1, which is its own square: of an instruction, a round (and turn), and a client."""
    made = atom("draw", *data)
    return of_atom(atom("draw", *data, square=Quotient({((made, 1),): Fraction(1)}, {})))


def power(base: Quotient, exponent: Quotient) -> Quotient:
    """A power whose exponent is a product of names of integers >= 0, as ``b**k``; 0**0 is 1."""
    if base.number == 1:
        return ONE
    if len(base.over) == 1 and not base.under:
        ((mono, c),) = base
        if c == 1 and len(mono) == 1 and mono[0][1] == 1 and mono[0][0].kind == "power":  # (b**h)**k is b**(h*k)
            inner, e = mono[0][0].data
            return of_atom(atom("power", inner, e * exponent))
    return of_atom(atom("power", base, exponent))


# --- vectors ---------------------------------------------------------------------------------------------------------


def vector_parts(m: Monomial) -> tuple[list[Binder], Quotient, Atom]:
    """The one vector atom of a monomial of a vector, the binders around it, and the product of everything else."""
    rest: list[tuple[Atom, int]] = []
    prefix: list[Binder] = []
    inside: Monomial = ()
    core: Atom | None = None
    for a, e in m:
        if a.kind == "vec":
            if core is not None or e != 1:
                raise RejectedError("a product of two vectors")
            core = a.data[0]
        elif a.kind == "bind" and _holds_vector(a):
            if core is not None or e != 1:
                raise RejectedError("a product of two vectors")
            prefix, inside = opened(a)
            core = next(b.data[0] for b, _ in inside if b.kind == "vec")
        else:
            rest.append((a, e))
    if core is None:
        raise RejectedError("a number where a vector is needed")
    return prefix, monomial(tuple(sorted(rest))) * monomial(tuple((b, e) for b, e in inside if b.kind != "vec")), core


def _holds_vector(a: Atom) -> bool:
    return any(b.kind == "vec" for b, _ in a.data[1])


def dot(u: Quotient, v: Quotient) -> Quotient:
    """The inner product of two vectors."""
    found = ZERO
    for m, c in u:
        for n, d in v:
            (first, rest, a), (second, other, b) = vector_parts(m), vector_parts(n)
            term = rest * other * _of_two(a, b)
            for binder in reversed([*first, *second]):
                term = bind(binder, term)
            found = found + constant(c * d) * term
    return found * _under(u) * _under(v)


def _of_two(a: Atom, b: Atom) -> Quotient:
    """The inner product of two atoms; of what is made coordinate by coordinate, a sum over these."""
    if "each" not in (a.kind, b.kind):
        x, y = sorted((a, b))
        return of_atom(atom("dot", x, y))
    here = fresh("c")
    return bind(coordinates(here), _entry(a, here) * _entry(b, here))


def _under(q: Quotient) -> Quotient:
    return Quotient({(): Fraction(1)}, q.under)


def linear(v: Quotient, new: Callable[[Atom], Quotient]) -> Quotient:
    """What a linear map makes of a vector, given what it makes of its atoms."""
    found = ZERO
    for m, c in v:
        prefix, rest, a = vector_parts(m)
        term = rest * new(a)
        for binder in reversed(prefix):
            term = bind(binder, term)
        found = found + constant(c) * term
    return found * _under(v)


def affine(of: Callable[[Any], Atom], at: Quotient) -> Quotient:
    """What an affine map makes of a vector: `of` gives its value at 0, a `Quotient`, and what it adds for an atom."""
    return as_vector(of(ZERO)) + linear(at, lambda a: as_vector(of(a)))


def kept(draw: Any, client: Any, m: Quotient, v: Quotient) -> Quotient:
    """Coordinates of a vector that are kept at random, scaled so that E is the vector: linear, given the draw."""
    return linear(v, lambda a: of_atom(atom("vec", atom("kept", draw, client, m, a))))


# --- coordinates -----------------------------------------------------------------------------------------------------


def coordinates(c: Index) -> Binder:
    """The sum over all coordinates."""
    return Binder("c", c, None, of_atom(atom("parameter", "d")))


def coordinate(v: Quotient, c: Index) -> Quotient:
    """A coordinate of a vector: linear."""
    return linear(v, lambda a: _entry(a, c))


def _entry(a: Atom, c: Index) -> Quotient:
    if a.kind == "each":
        binder, q = a.data
        return renamed(q, {binder.index: c})
    return of_atom(atom("entry", a, c))


def each(c: Index, q: Quotient) -> Quotient:
    """The vector with these coordinates: linear, and that of the coordinates of a vector is the vector."""
    within = {p: e for p, e in q.under.items() if any(c in a.free for m, _ in p for a, _ in m)}
    found = ZERO
    for m, s in q:
        inside = tuple((a, e) for a, e in m if c in a.free)
        prefix, body = _all_opened(inside)
        if body.under:
            raise RejectedError("a product of roots over different indices")
        for opened_, t in body:
            own = tuple((a, e) for a, e in opened_ if c in a.free)
            rest = monomial(tuple((a, e) for a, e in opened_ if c not in a.free))
            if len(own) == 1 and not within and own[0][0].kind == "entry" and own[0][1] == 1:
                term = rest * of_atom(atom("vec", own[0][0].data[0]))
            else:
                name = Index(f"c#{1 + max(level(own), level(Quotient(ONE.over, within)))}.0")
                inner = renamed(Quotient({own: Fraction(1)}, within), {c: name})
                term = rest * of_atom(atom("vec", atom("each", coordinates(name), inner)))
            for b in reversed(prefix):
                term = bind(b, term)
            outside = monomial(tuple((a, e) for a, e in m if c not in a.free), s)
            found = found + constant(t) * outside * term
    return found * Quotient(ONE.over, {p: e for p, e in q.under.items() if p not in within})


# --- binders ---------------------------------------------------------------------------------------------------------


def opened(a: Atom) -> tuple[list[Binder], Monomial]:
    """The binders of a bound term, with indices that occur nowhere else, and what is inside."""
    binders, body = a.data
    own = {b.index: fresh(b.kind) for b in binders}
    new = [
        Binder(b.kind, own[b.index], None if b.owner is None else own.get(b.owner, b.owner), b.upper) for b in binders
    ]
    inside = _product(body, Change({str(old): name for old, name in own.items()}))
    if len(inside.over) != 1 or inside.under or next(iter(inside))[1] != 1:
        raise RejectedError("a root of what a binder holds")
    return new, next(iter(inside))[0]


def _all_opened(factors: Monomial) -> tuple[list[Binder], Quotient]:
    """The binders of all bound terms of a product, and the product of what is inside of them and of everything else."""
    prefix: list[Binder] = []
    body = ONE
    for a, e in factors:
        if a.kind == "bind" and e >= 1:
            for _ in range(e):
                binders, m = opened(a)
                prefix += binders
                body = body * monomial(m)
        else:
            body = body * of_atom(a, e)
    return prefix, body


def _sunk(q: Quotient, hangs: Callable[[Atom], bool]) -> Quotient:
    """With factors of the denominator that hang on something as atoms of the numerator."""
    kept_, found = {}, ONE
    for p, e in q.under.items():
        if any(hangs(a) for m, _ in p for a, _ in m):
            found = found * of_atom(atom("inverse", Quotient(dict(p), {})), e)
        else:
            kept_[p] = e
    return q if len(kept_) == len(q.under) else Quotient(q.over, kept_) * found


def bind(b: Binder, q: Quotient) -> Quotient:
    """A mean or a sum over an index of what hangs on it."""
    q = _sunk(q, lambda a: b.index in a.free)
    found = ZERO
    for m, c in q:
        inside = tuple((a, e) for a, e in m if b.index in a.free)
        outside = monomial(tuple((a, e) for a, e in m if b.index not in a.free), c)
        found = found + outside * (_closed(b, inside) if inside else b.size)
    return found * _under(q)


def _closed(b: Binder, inside: Monomial) -> Quotient:
    inner, body = _all_opened(inside)
    prefix = [b, *inner]
    if len(body.over) != 1 or body.under:
        raise RejectedError("a product of roots over different indices")
    ((m, c),) = body
    own = [(a, e) for a, e in m if b.kind == "c" and b.index in a.free]
    if own and all(a.kind == "entry" for a, _ in own) and [e for _, e in own] in ([2], [1, 1]):
        (one, _), (other, _) = own[0], own[-1]
        term = monomial(tuple(x for x in m if x not in own)) * _of_two(one.data[0], other.data[0])
        for binder in reversed(inner):
            term = bind(binder, term)
        return constant(c) * term
    return constant(c) * of_atom(_canonical(prefix, m))


def _canonical(prefix: list[Binder], body: Monomial) -> Atom:
    """The bound term, its indices named so that its text is least."""
    deepest = 1 + max(level(body), level(tuple(b.upper for b in prefix if b.upper is not None)))
    kinds = {kind: [b for b in prefix if b.kind == kind] for kind in "khjcni"}
    if any(len(some) > MOST_BINDERS for some in kinds.values()):
        raise RejectedError("too many sums in one product")
    best: Atom | None = None
    for orders in product(*(permutations(some) for some in kinds.values())):
        order = [b for some in orders for b in some]
        new: dict[str, Index] = {
            b.index: Index(f"{kind}#{deepest}.{j}")
            for kind, some in zip(kinds, orders, strict=True)
            for j, b in enumerate(some)
        }
        inside = _product(body, Change(new))
        if len(inside.over) != 1 or inside.under or next(iter(inside))[1] != 1:
            raise RejectedError("a root of what a binder holds")
        names = tuple(
            Binder(b.kind, new[b.index], None if b.owner is None else new.get(b.owner, b.owner), b.upper) for b in order
        )
        one = atom("bind", names, next(iter(inside))[0])
        if best is None or one.text < best.text:
            best = one
    assert best is not None
    return best


def least(index: Index, weights: Quotient, radius: Quotient) -> Quotient:
    """The minimiser of sum_n(q_n*f_n) over a ball, n being an index."""
    name = Index(f"n#{1 + level((weights,))}.0")
    made = atom("least", name, renamed(weights, {index: name}), radius)
    return of_atom(atom("vec", replace(made, free=made.free - {name})))


def over_all(op: str, index: Index, owner: Index | None, upper: Quotient | None, body: Quotient) -> Quotient:
    """The largest or least over an index, ``max_n`` and its like: nothing is known of it but what it is of."""
    if index not in body.free:
        return body
    name = Index(f"{op[-1]}#{1 + max(level((body,)), level((upper,)))}.0")
    inside = renamed(body, {index: name})
    made = atom("over all", op, name, owner or "", upper if upper is not None else "", inside)
    return of_atom(Atom(made.kind, made.data, made.text, made.free - {name}, made.random, made.moments, made.draws))


def weight(index: Index, costs: Quotient, curvatures: Quotient, client: Index) -> Quotient:
    """A client's weight in the point of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least, n being an index."""
    name = Index(f"n#{1 + level((costs, curvatures))}.0")
    made = atom("weight", name, *(renamed(q, {index: name}) for q in (costs, curvatures)), client)
    free = made.free - {name} | ({client} - {FIRST})
    return of_atom(Atom(made.kind, made.data, made.text, frozenset(free), made.random, made.moments, made.draws))


# --- expectations ----------------------------------------------------------------------------------------------------


def expectation(q: Quotient, of_draws: Callable[[Monomial, list[Binder]], Quotient] | None = None) -> Quotient:
    """E of a scalar or a vector.

    Args:
        q: which.
        of_draws: what E makes of a product with draws in it, given the binders around it.
    """
    q = _sunk(q, lambda a: a.random)
    found = ZERO
    for m, c in q:
        chance = tuple((a, e) for a, e in m if a.random)
        fixed = monomial(tuple((a, e) for a, e in m if not a.random), c)
        found = found + fixed * (_expected(chance, of_draws) if chance else ONE)
    return found * _under(q)


def _expected(chance: Monomial, of_draws: Callable[[Monomial, list[Binder]], Quotient] | None) -> Quotient:
    prefix, body = _all_opened(chance)
    body = _sunk(body, lambda a: a.random)
    found = ZERO
    for m, c in body:
        if of_draws is not None and any(a.draws for a, _ in m):
            found = found + constant(c) * of_draws(m, prefix)
            continue
        inside = tuple((a, e) for a, e in m if a.random)
        fixed = monomial(tuple((a, e) for a, e in m if not a.random), c)
        found = found + fixed * (_of_random(inside) if inside else ONE)
    found = found * _under(body)
    for binder in reversed(prefix):
        found = bind(binder, found)
    return found


def _of_random(m: Monomial) -> Quotient:
    """E of a product of random factors, none of them a draw; of a vector, that vector."""
    vectors = [a for a, _ in m if a.kind == "vec"]
    if vectors:
        return of_atom(atom("vec", atom("E vec", m)))
    if len(m) == 1 and m[0][0].kind == "dot" and m[0][1] == 1:  # E<a, X> is <a, E X>
        a, b = m[0][0].data
        if a.random != b.random:
            still, moving = (b, a) if a.random else (a, b)
            return dot(as_vector(still), _of_random(((atom("vec", moving), 1),)))
    return of_atom(atom("E", m))


def indices_of(prefix: Iterable[Binder]) -> frozenset[str]:
    """The indices that binders bind."""
    return frozenset(b.index for b in prefix)
