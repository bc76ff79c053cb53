"""The rule about an average of clients: its squared norm is at most the average of the squared norms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from theory.derivation.atoms import Binder, Index, atom, deep, fresh
from theory.derivation.changes import renamed
from theory.derivation.expectations import expectation
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import Atom, RejectedError
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, monomial, of_atom
from theory.derivation.reading import parameter
from theory.derivation.rounds import Rounds
from theory.derivation.statements import Found, Line
from theory.derivation.telling import left_over
from theory.derivation.terms import bind, dot, vector_parts
from theory.formula import Apply
from theory.sentence import parts

TWO = constant(2)


def average(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It bounds the squared norm of what a round makes with an average, by convexity, whatever the weights.

    The weights w_n of an average are at least 0, and their sum is 1, or all are 0: norm2(p + sum_n(w_n*q_n)) is at
    most norm2(p) + sum_n(w_n*(2*dot(p, q_n) + norm2(q_n))), and E(w_n) is the same for all n.
    """
    left, rounds = line.sentence.left, kernel.reader.rounds
    mean = isinstance(left, Apply) and left.operation == "E"
    square = parts(left)[0] if mean else left
    if line.relation != "<=" or not isinstance(square, Apply) or square.operation != "norm2":
        raise RejectedError("it is no bound on norm2(...), nor on E(norm2(...))")
    if not isinstance(rounds, Rounds):
        raise RejectedError("there is no algorithm")
    place = replace(line.place, unfold=True)
    rounds.weights = True
    try:
        moved = kernel.reader.value(parts(square)[0], place)
        right = kernel.reader.value(line.sentence.right, place)
    finally:
        rounds.weights = False
    alone, client, weighed, draw = _split(moved)
    made = of_atom(atom("share", draw, client)) * (TWO * dot(alone, weighed) + dot(weighed, weighed))
    bound = dot(alone, alone) + parameter("N") * bind(Binder("n", client), made)
    if mean:
        bound = kernel.reader.integrable(expectation(bound, rounds.expected))
    if not (right - bound).zero:
        raise RejectedError(f"left over: {left_over(right - bound, kernel.claim)}")
    return Found()


def _split(v: Quotient) -> tuple[Quotient, Index, Quotient, Any]:
    """Of p + sum_n(w_n*q_n): p, the index n, q_n, and the draw of the weights w_n."""
    draws = {a.data[0] for a in deep(v) if a.kind == "share"}
    if len(draws) != 1:
        raise RejectedError("it is made with one average of clients")
    (draw,) = draws
    client, alone, weighed = fresh("n"), ZERO, ZERO
    for m, c in v:
        prefix, rest, core = vector_parts(m)
        weights = [a for a in rest.atoms if a.kind == "share"]
        if not weights:
            alone = alone + monomial(m, c)
            continue
        own = [b for b in prefix if b.kind == "n" and b.index == weights[0].data[1]]
        if len(weights) != 1 or not own:
            raise RejectedError("weights of clients in a product")
        term = rest / of_atom(weights[0]) * of_atom(atom("vec", core))
        for b in reversed([b for b in prefix if b is not own[0]]):
            term = bind(b, term)
        weighed = weighed + constant(c) / parameter("N") * renamed(term, {own[0].index: client})
    scale = Quotient(ONE.over, v.under)
    alone, weighed = alone * scale, weighed * scale
    if any(_drawn_so(a, draw) for q in (alone, weighed) for a in deep(q)):
        raise RejectedError("the draw of the average elsewhere in it")
    return alone, client, weighed, draw


def _drawn_so(a: Atom, draw: Any) -> bool:
    return a.kind in ("share", "draw", "count") and bool(a.data[0] == draw)
