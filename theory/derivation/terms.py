"""The normal form: sums of products of atoms, with binders of their own; what equals what without any hypothesis.

One type serves scalars and vectors: a vector v is kept as the linear form <v, .>, so that every monomial of it has one
atom ``vec``, which may stand inside a binder. Binders (sums over k and h, means over clients and samples) hold one
product whose factors hang together by their indices; whatever does not hang on the index stands outside, and an
expectation holds only what is random, and stands inside of all other binders (`theory.derivation.expectations`). What
is bound is opened where something is multiplied with it: its indices then have names that nothing around them has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Any

from theory.derivation.atoms import Binder, Index, atom, closing, fresh
from theory.derivation.polynomials import Atom, Monomial, Rational, RejectedError, remembered
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, monomial, of_atom
from theory.derivation.renaming import canonical, monomial_with_names, with_names


def as_vector(a: Atom) -> Quotient:
    """A vector's atom as a vector."""
    return of_atom(atom("vec", a))


# --- vectors ---------------------------------------------------------------------------------------------------------


Parts = tuple[list[Binder], Quotient, Atom]


def vector_parts(m: Monomial, taken: Collection[str] | None = None) -> Parts:
    """The binders around the one vector atom of a monomial of a vector, the product of everything else, and that atom.

    Args:
        m: the monomial.
        taken: names that the binders' indices must not have; where none are given they occur nowhere else.
    """
    rest: list[tuple[Atom, int]] = []
    prefix: list[Binder] = []
    core: Atom | None = None
    for a, e in m:
        if a.kind == "vec" or (a.kind == "bind" and any(b.kind == "vec" for b, _ in a.data[1])):
            if core is not None or e != 1:
                raise RejectedError("a product of two vectors")
            inside: Monomial = ((a, 1),)
            if a.kind == "bind":
                prefix, inside = opened(a, taken)
            core = next(b.data[0] for b, _ in inside if b.kind == "vec")
            rest += [(b, power) for b, power in inside if b.kind != "vec"]
        else:
            rest.append((a, e))
    if core is None:
        raise RejectedError("a number where a vector is needed")
    powers = ONE
    for a, e in rest:
        powers = powers * of_atom(a, e)
    return prefix, powers, core


def _parts(v: Quotient, taken: set[str]) -> list[tuple[Parts, Rational]]:
    """The parts of all terms, with indices that have other names than some, which are added to these."""
    found = []
    for m, c in v:
        parts = vector_parts(m, taken)
        taken.update(b.index for b in parts[0])
        found.append((parts, c))
    return found


def dot(u: Quotient, v: Quotient) -> Quotient:
    """The inner product of two vectors."""
    taken = {*u.free, *v.free}
    left, right = _parts(u, taken), _parts(v, taken)
    found = ZERO
    for i, ((first, rest, a), c) in enumerate(left):
        for j, ((second, other, b), d) in enumerate(right):
            if u is v and j < i:  # it is that of j and i
                continue
            twice = 2 if u is v and j > i else 1
            term = constant(twice * c * d) * rest * other * _of_two(a, b)
            found = found + bound([*first, *second], term)
    return found * under_of(u) * under_of(v)


def _of_two(a: Atom, b: Atom) -> Quotient:
    """The inner product of two atoms; of what is made coordinate by coordinate, a sum over these."""
    if "each" not in (a.kind, b.kind):
        x, y = sorted((a, b))
        return of_atom(atom("dot", x, y))
    here = fresh("c")
    return bind(coordinates(here), _entry(a, here) * _entry(b, here))


def under_of(q: Quotient) -> Quotient:
    """1 over its denominator."""
    return Quotient(ONE.over, q.under) if q.under else ONE


@closing
def linear(v: Quotient, new: Callable[[Atom], Quotient]) -> Quotient:
    """What a linear map makes of a vector, given what it makes of its atoms."""
    found = ZERO
    for m, c in v:
        prefix, rest, a = vector_parts(m)
        found = found + constant(c) * bound(prefix, rest * new(a))
    return found * under_of(v)


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
        from theory.derivation.changes import renamed

        binder, q = a.data
        return renamed(q, {binder.index: c})
    return of_atom(atom("entry", a, c))


def each(c: Index, q: Quotient) -> Quotient:
    """The vector with these coordinates: linear, and that of the coordinates of a vector is the vector."""
    within = {p: e for p, e in q.under.items() if any(c in a.free for m, _ in p for a, _ in m)}
    found = ZERO
    for m, s in q:
        inside = tuple((a, e) for a, e in m if c in a.free)
        outside = monomial(tuple((a, e) for a, e in m if c not in a.free), s)
        prefix, body = all_opened(inside, local=True)
        if body.under:
            raise RejectedError("a product of roots over different indices")
        for opened_, t in body:
            own = tuple((a, e) for a, e in opened_ if c in a.free)
            rest = monomial(tuple((a, e) for a, e in opened_ if c not in a.free))
            if len(own) == 1 and not within and own[0][0].kind == "entry" and own[0][1] == 1:
                term = rest * as_vector(own[0][0].data[0])
            else:
                of = Quotient({own: 1}, within)
                name = Index(f"c#{1 + of.height}.0")
                term = rest * as_vector(atom("each", coordinates(name), with_names(of, {c: name})))
            found = found + constant(t) * outside * bound(prefix, term)
    return found * Quotient(ONE.over, {p: e for p, e in q.under.items() if p not in within})


# --- binders ---------------------------------------------------------------------------------------------------------


def opened(a: Atom, taken: Collection[str] | None = None) -> tuple[list[Binder], Monomial]:
    """The binders of a bound term and what is inside of them.

    Args:
        a: the bound term.
        taken: names that the indices must not have, those free in it among them; where none are given they occur
            nowhere else.
    """
    binders, body = a.data
    if taken is None:
        new = {str(b.index): fresh(b.kind) for b in binders}
    else:
        new = {}
        for b in binders:
            free = (Index(f"{b.kind}?{j}") for j in count())
            new[str(b.index)] = next(name for name in free if name not in taken and name not in new.values())
    named = [
        Binder(b.kind, new[b.index], b.owner and new.get(b.owner, b.owner), b.upper and with_names(b.upper, new))
        for b in binders
    ]
    return named, monomial_with_names(body, new)


def all_opened(factors: Monomial, local: bool = False) -> tuple[list[Binder], Quotient]:
    """The binders of all bound terms of a product, and the product of what is inside of them and of everything else.

    Args:
        factors: the product.
        local: whether the indices need names only that occur nowhere else in it, as everything is bound again before it
            is multiplied with anything.
    """
    prefix: list[Binder] = []
    body = ONE
    taken = {name for a, _ in factors for name in a.free} if local else None
    for a, e in factors:
        if a.kind == "bind" and e >= 1:
            for _ in range(e):
                binders, m = opened(a, taken)
                prefix += binders
                body = body * monomial(m)
                if taken is not None:
                    taken.update(b.index for b in binders)
        else:
            body = body * of_atom(a, e)
    return prefix, body


def sunk(q: Quotient, hangs: Callable[[Atom], bool]) -> Quotient:
    """With factors of the denominator that hang on something as atoms of the numerator."""
    staying, found = {}, ONE
    for p, e in q.under.items():
        if any(hangs(a) for m, _ in p for a, _ in m):
            found = found * of_atom(atom("inverse", Quotient(dict(p), {})), e)
        else:
            staying[p] = e
    return q if len(staying) == len(q.under) else Quotient(q.over, staying) * found


def bind(b: Binder, q: Quotient) -> Quotient:
    """A mean or a sum over an index of what hangs on it."""
    return bound([b], q)


def bound(prefix: Sequence[Binder], q: Quotient) -> Quotient:
    """Means and sums, the first outermost, of what hangs on their indices."""
    if not prefix:
        return q
    names = {b.index for b in prefix}
    if len(prefix) > 1 and any(b.kind == "c" or (b.upper is not None and b.upper.free & names) for b in prefix):
        for b in reversed(prefix):
            q = bound([b], q)
        return q
    q = sunk(q, lambda a: not names.isdisjoint(a.free))
    found = ZERO
    for m, c in q:
        inside = tuple((a, e) for a, e in m if not names.isdisjoint(a.free))
        term = monomial(tuple((a, e) for a, e in m if names.isdisjoint(a.free)), c)
        left = list(prefix)
        for binders, factors in _connected(prefix, inside):
            term = term * _closed(binders, factors)
            left = [b for b in left if b not in binders]
        for b in left:
            term = term * b.size
        found = found + term
    return found * under_of(q)


def _connected(prefix: Sequence[Binder], inside: Monomial) -> list[tuple[tuple[Binder, ...], Monomial]]:
    """The binders that hold something, and what they hold, apart where no index connects them."""
    if len(prefix) == 1:
        return [(tuple(prefix), inside)] if inside else []
    groups: list[tuple[set[str], list[tuple[Atom, int]]]] = []
    names = {b.index for b in prefix}
    owners = {b.index: b.owner for b in prefix if b.owner in names}
    for a, e in inside:
        own = {str(name) for name in a.free & names}
        own |= {str(owners[name]) for name in own if name in owners}  # type: ignore[index]
        factors = [(a, e)]
        for group in [one for one in groups if one[0] & own]:
            groups.remove(group)
            own, factors = own | group[0], [*group[1], *factors]
        groups.append((own, factors))
    return [(tuple(b for b in prefix if b.index in own), tuple(sorted(factors))) for own, factors in groups]


@remembered
def _closed(prefix: tuple[Binder, ...], inside: Monomial) -> Quotient:
    inner, body = all_opened(inside, local=True)
    if len(body.over) != 1 or body.under:
        raise RejectedError("a product of roots over different indices")
    ((m, c),) = body
    b = prefix[0]
    own = [(a, e) for a, e in m if b.kind == "c" and b.index in a.free]
    if own and all(a.kind == "entry" for a, _ in own) and [e for _, e in own] in ([2], [1, 1]):
        (one, _), (other, _) = own[0], own[-1]
        rest = monomial(tuple(x for x in m if x not in own))
        return constant(c) * bound(inner, rest * _of_two(one.data[0], other.data[0]))
    return constant(c) * of_atom(canonical((*prefix, *inner), m))


# --- what has an index of its own ------------------------------------------------------------------------------------


def least(index: Index, weights: Quotient, radius: Quotient) -> Quotient:
    """The minimiser of sum_n(q_n*f_n) over a ball, n being an index."""
    name = Index(f"n#{1 + max(weights.height, radius.height)}.0")
    return as_vector(atom("least", name, with_names(weights, {index: name}), radius, own=name))


def mixed(matrix: str, index: Index, of: Quotient, client: Index) -> Quotient:
    """A client's row of a matrix times the clients' vectors, n being an index."""
    name = Index(f"n#{1 + of.height}.0")
    return as_vector(atom("mixed", name, matrix, with_names(of, {index: name}), client, own=name))


def over_all(op: str, index: Index, owner: Index | None, upper: Quotient | None, body: Quotient) -> Quotient:
    """The largest or least over an index, ``max_n`` and its like: nothing is known of it but what it is of."""
    if index not in body.free:
        return body
    name = Index(f"{op[-1]}#{1 + max(body.height, 0 if upper is None else upper.height)}.0")
    inside = with_names(body, {index: name})
    return of_atom(atom("over all", op, name, owner or "", "" if upper is None else upper, inside, own=name))


def weight(index: Index, costs: Quotient, curvatures: Quotient, client: Index) -> Quotient:
    """A client's weight in the point of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least, n being an index."""
    name = Index(f"n#{1 + max(costs.height, curvatures.height)}.0")
    made = (with_names(q, {index: name}) for q in (costs, curvatures))
    return of_atom(atom("weight", name, *made, client, own=name))
