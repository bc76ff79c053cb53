"""E in the normal form: it holds only what is random, and stands inside of all other binders."""

from __future__ import annotations

from collections.abc import Callable

from theory.derivation.atoms import Binder, atom, closing
from theory.derivation.polynomials import Monomial
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, monomial, of_atom
from theory.derivation.terms import all_opened, as_vector, bound, dot, sunk, under_of


def expectation(q: Quotient, of_draws: Callable[[Monomial, list[Binder]], Quotient] | None = None) -> Quotient:
    """E of a scalar or a vector.

    Args:
        q: which.
        of_draws: what E makes of a product with draws in it, given the binders around it.
    """
    q = sunk(q, lambda a: a.random)
    found = ZERO
    for m, c in q:
        chance = tuple((a, e) for a, e in m if a.random)
        fixed = monomial(tuple((a, e) for a, e in m if not a.random), c)
        found = found + fixed * (_expected(chance, of_draws) if chance else ONE)
    return found * under_of(q)


@closing
def _expected(chance: Monomial, of_draws: Callable[[Monomial, list[Binder]], Quotient] | None) -> Quotient:
    prefix, body = all_opened(chance)
    body = sunk(body, lambda a: a.random)
    found = ZERO
    for m, c in body:
        if of_draws is not None and any(a.draws for a, _ in m):
            found = found + constant(c) * of_draws(m, prefix)
            continue
        inside = tuple((a, e) for a, e in m if a.random)
        fixed = monomial(tuple((a, e) for a, e in m if not a.random), c)
        found = found + fixed * (_of_random(inside) if inside else ONE)
    found = found * under_of(body)
    return bound(prefix, found)


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
