"""The rules about a round, about vectors that are equal or 0, about one client, and about roots and powers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from theory.derivation.atoms import FIXED, RANDOM, Index, atom, deep
from theory.derivation.changes import Change, changed, renamed
from theory.derivation.combinations import bound_over, list_of, put_at
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import Atom, RejectedError
from theory.derivation.quotients import ONE, Quotient, constant, mapped, monomial, of_atom
from theory.derivation.reading import PLAIN
from theory.derivation.statements import Found, Line, same
from theory.derivation.telling import left_over
from theory.derivation.terms import as_vector, bind, dot, opened
from theory.formula import Apply, Name
from theory.sentence import (
    TURNS,
    Expression,
    Sentence,
    applied,
    index_of,
    parse_expression,
    parse_sentence,
    read,
    text_of,
)


def step(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so by what the algorithm does in a round, E of its draws taken exactly, and vectors that lines equate."""
    rest = kernel.reader.difference(line.sentence, replace(line.place, unfold=True))
    used = [kernel.line(name) for name in list_of(data, "using")]
    if line.relation in ("<", ">") or not _same_when(kernel, rest, used, unfold=True):
        raise RejectedError(f"left over after the round: {left_over(rest, kernel.claim)}")
    return Found()


def drawn(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so in every outcome of one draw of a sample, as a line says the same of every sample."""
    used = kernel.line(data.get("line"))
    rest = kernel.reader.difference(line.sentence, replace(line.place, unfold=True))
    client, sample, rounds = Index("n"), Index("i"), kernel.reader.rounds
    free = {
        index
        for side in (line.sentence.left, line.sentence.right)
        for index in read(side, kernel.claim.vocabulary).free
    }
    if used.fixed & {"n", "i"} or used.place != PLAIN or line.place != PLAIN or "i" in free:
        raise RejectedError(f"{used.name} is not about every sample of a client, or the line is about one")
    found = [a for a in deep(rest) if a.draws]
    draws = {draw for a in found for draw in a.draws}
    if rounds is None or len(draws) != 1 or not rounds.is_sample(*draws):
        raise RejectedError("the sentence hangs on another draw than that of one sample")
    vectors = [a for a in deep(rest) if a.kind in RANDOM and a.data and a.data[0] in draws]
    if any(a.kind != "sampled" or a.data[1] != client for a in vectors):
        raise RejectedError("the sentence is not about the sample of one client n")
    if any(a.kind in FIXED and any(b in vectors for b in deep(of_atom(a)) if b != a) for a in deep(rest)):
        raise RejectedError("an expectation of the sample itself")

    def of_sample(a: Atom) -> Quotient | None:
        if a not in vectors:
            return None
        return changed(as_vector(atom("grad", (client, sample), a.data[2])), Change(vector=of_sample))

    if not same(changed(rest, Change(vector=of_sample)), line.relation, used):
        raise RejectedError(f"{used.name} does not say so of the sample")
    return Found()


def replaced(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Its sides are the same when a vector is replaced by one that a line says is equal to it."""
    if line.relation in ("<", ">") or not _same_when(kernel, line.gap, [kernel.line(data.get("line"))]):
        raise RejectedError(f"its sides are not the same by {data.get('line')}")
    return Found()


def _same_when(kernel: Kernel, q: Quotient, lines: Sequence[Line], unfold: bool = False) -> bool:
    """Whether it is 0 when vectors are replaced by those that lines norm2(u - v) <= 0 say are equal to them."""
    if not lines:
        rounds = kernel.reader.rounds
        return q.zero or (rounds is not None and rounds.totals(q).zero)
    first, *others = lines
    some = [one for way in {False, unfold} for one in _equalities(kernel, first, way)]
    return any(_same_when(kernel, changed(q, one), others, unfold) for one in some)


def _equalities(kernel: Kernel, line: Line, unfold: bool) -> list[Change]:
    """What a line norm2(u - v) <= 0, or E of it, lets be replaced; for every client, where it is so for all.

    Unfolded, both sides are what the round makes them, by the same draws as everything else.
    """
    left, program = line.sentence.left, kernel.claim.program
    finite = program is None or "noise" not in program.operations
    if isinstance(left, Apply) and left.operation == "E" and finite:  # each outcome has a probability > 0
        left = left.arguments[0]
    if line.relation not in ("<=", "==") or not isinstance(left, Apply) or left.operation != "norm2":
        raise RejectedError(f"{line.name} does not say that two vectors are equal")
    if not kernel.reader.value(line.sentence.right, line.place).zero:
        raise RejectedError(f"{line.name} does not say that two vectors are equal")
    w = kernel.reader.value(left.arguments[0], replace(line.place, unfold=unfold))
    found = []
    for m, c in w:
        if len(m) == 1 and m[0][0].kind == "vec" and abs(c) == 1 and not w.under:
            one = m[0][0].data[0]
            rest = (w - monomial(m, c)) * constant(-c)
            found.append(_swap(one, rest, sorted(one.free & {"n", "k", *TURNS} - line.fixed - set(line.reach))))
    return found


def _swap(one: Atom, by: Quotient, general: Sequence[str]) -> Change:
    """An atom for another vector, at all values of the indices that are general."""

    def vector(a: Atom) -> Quotient | None:
        if a == one:
            return by
        names = [[Index(name) for name in sorted(a.free) if name[0] == index] for index in general]
        for choice in product(*names) if general and a.kind == one.kind else ():
            new = dict(zip(general, choice, strict=True))
            if renamed(as_vector(one), new) == as_vector(a):
                return renamed(by, new)
        return None

    return Change(vector=vector)


def zero(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Where the squared norm of a vector is 0 on average, so is its inner product with any other (Cauchy, Schwarz)."""
    used, gap = put_at(kernel, data)
    over = list_of(data, "over")
    w, v = (kernel.expression(data.get(key)) for key in ("of", "with"))
    if [read(e, kernel.claim.vocabulary).shape for e in (w, v)] != ["vector", "vector"]:
        raise RejectedError("of and with are vectors")
    square = bound_over(kernel, dot(*[kernel.reader.value(w)] * 2), over, [used])
    if used.relation in ("<", ">") or not same(-square, "<=", replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say that {text_of(w)} is 0")
    product = bound_over(kernel, dot(kernel.reader.value(w), kernel.reader.value(v)), over, [used])
    if line.relation in ("<", ">") or line.gap.direction[1] != product.direction[1]:
        raise RejectedError(f"it is not that {text_of(applied('dot', (w, v)))} is 0")
    return Found()


def single(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so because there is one client, or because another integer is 1, as the number of turns of a loop.

    A mean over clients is what is of the one that there is; unfolded, so are its draws.
    """
    of = data.get("of", "N")
    one = parse_sentence(f"{of} <= 1")
    if not kernel.signs.nonnegative(applied("-", (one.right, one.left))):
        raise RejectedError(f"nothing says that {of} <= 1")
    if of != "N":
        return _where_one(kernel, one.left, line)
    client, rounds = Index("n"), kernel.reader.rounds
    gap = line.gap
    if data.get("unfold"):
        assert rounds is not None
        rounds.alone = True
        try:
            gap = kernel.reader.difference(line.sentence, replace(line.place, unfold=True))
        finally:
            rounds.alone = False
    rest = of_one_client(gap, client)
    if line.relation in ("<", ">") or not rest.zero:
        raise RejectedError(f"left over for one client: {left_over(rest, kernel.claim)}")
    return Found()


def _where_one(kernel: Kernel, e: Expression, line: Line) -> Found:
    """It is so where a parameter is 1: sums of so many terms are written out."""
    named = isinstance(e, Name) and e.name in kernel.reader.symbols and not index_of(e.name)[1]
    if not isinstance(e, Name) or not named or not kernel.reader.whole(kernel.reader.value(e)):
        raise RejectedError(f"{text_of(e)} is no parameter that is an integer")
    if line.relation in ("<", ">") or not kernel.signs.nonnegative(applied("-", (e, parse_expression("1")))):
        raise RejectedError(f"nothing says that {text_of(e)} >= 1, or the sentence is strict")
    kernel.reader.one = e.name
    try:
        rest = kernel.reader.difference(line.sentence, line.place)
    finally:
        kernel.reader.one = ""
    if not rest.zero:
        raise RejectedError(f"left over where {text_of(e)} is 1: {left_over(rest, kernel.claim)}")
    return Found()


def of_one_client(q: Quotient, client: Index) -> Quotient:
    """A normal form where N is 1: all clients are this one."""

    def new(a: Atom) -> Quotient:
        if a.kind == "parameter" and a.data == ("N",):
            return ONE
        if a.kind != "bind":
            return of_atom(a)
        binders, body = opened(a)
        found = renamed(monomial(body), {b.index: client for b in binders if b.kind == "n"})
        for b in reversed([b for b in binders if b.kind != "n"]):
            owner = client if b.kind == "i" and b.owner in {c.index for c in binders} else b.owner
            found = bind(replace(b, owner=owner), found)
        return mapped(found, lambda b: ONE if b.kind == "parameter" and b.data == ("N",) else of_atom(b))

    return mapped(q, new)


def root(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Its squares are in the relation, and the greater side (of an equation each) is not negative."""
    used, gap = put_at(kernel, data)
    low, high = line.sentence.left, line.sentence.right
    if line.relation in (">=", ">"):
        low, high = high, low
    for side in (low, high) if line.relation == "==" else (high,):
        if not kernel.signs.nonnegative(side, line.place):
            raise RejectedError(f"nothing says that {text_of(side)} is >= 0")
    one, other = (kernel.reader.value(side, line.place) for side in (low, high))
    if not same(other * other - one * one, line.relation, replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say so of the squares")
    return Found()


def power(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line raised to a power, its lesser side not negative."""
    used = kernel.line(data.get("line"))
    exponent = kernel.expression(data.get("exponent"))
    low, high = used.sentence.left, used.sentence.right
    if used.relation in (">=", ">"):
        low, high = high, low
    e = kernel.reader.value(exponent)
    whole = kernel.reader.whole(e) and all(c > 0 for c in e.over.values())
    if used.place != PLAIN or not whole or not kernel.signs.nonnegative(low):
        raise RejectedError("powers are of sides that are not negative, with exponents that are integers >= 0")
    gap = kernel.reader.value(applied("**", (high, exponent))) - kernel.reader.value(applied("**", (low, exponent)))
    said = Sentence(low, "==" if used.relation == "==" else "<=", high)
    if not same(line.gap, line.relation, replace(used, sentence=said, gap=gap)):
        raise RejectedError(f"{used.name} raised to {text_of(exponent)} does not say so")
    return Found()
