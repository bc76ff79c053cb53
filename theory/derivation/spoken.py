"""The kernel's normal form in the words of the language: formulas whose normal form it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.derivation.atoms import Binder
from theory.derivation.polynomials import Atom, Rational, remembered
from theory.derivation.quotients import Quotient
from theory.sentence import FUNCTION_NAMES


class UnspeakableError(ValueError):
    """What no formula of the language says, such as a sum of K - 1 terms."""


def kind_of(index: str) -> str:
    """The letter of an index, free or bound."""
    return index[0]


def number(q: Quotient) -> str:
    """A quotient of numbers."""
    top = _sum(q.over.items())
    for p, e in q.under.items():
        top = f"({top})/({_sum(p)})" + (f"**{e}" if e != 1 else "")
    return top


def scalar(q: Quotient) -> str:
    """Any scalar."""
    return number(q)


def _sum(terms: Iterable[tuple[Any, Rational]]) -> str:
    pieces: list[str] = []
    for m, c in sorted(terms, key=lambda t: (t[1] < 0, len(t[0]))):
        text = monomial(m, abs(Fraction(c)))
        pieces.append(("-" if c < 0 else "") + text if not pieces else f" {'-' if c < 0 else '+'} {text}")
    return "".join(pieces) or "0"


def monomial(m: Sequence[tuple[Atom, int]], c: Rational = 1) -> str:
    """A product of powers of atoms."""
    top = [_power(atom(a), e) for a, e in m if e > 0]
    low = [_power(atom(a), -e) for a, e in m if e < 0]
    if c.numerator != 1 or not top:
        top.insert(0, str(c.numerator))
    if c.denominator != 1:
        low.insert(0, str(c.denominator))
    return "*".join(top) + ("" if not low else "/" + (low[0] if len(low) == 1 else f"({'*'.join(low)})"))


def _power(text: str, e: int) -> str:
    return text if e == 1 else f"{text}**{e}"


@remembered
def atom(a: Atom) -> str:
    """A scalar atom, in parentheses where it is no name and no call."""
    kind, data = a.kind, a.data
    if kind == "number":
        return str(data[0])[0]
    if kind == "parameter":
        return str(data[0]) + (
            f"_{kind_of(str(data[1]))}" if len(data) > 1 and isinstance(data[1], str) else _at_round(data)
        )
    if kind in ("sqrt", "abs", "exp", "log"):
        return f"{kind}({number(data[0])})"
    if kind in ("max", "min"):
        return f"{kind}({', '.join(map(number, data[0]))})"
    if kind in ("power", "real power"):
        return f"(({number(data[0])})**({number(data[1])}))"
    if kind == "inverse":
        return f"(1/({number(data[0])}))"
    if kind == "samples":
        return "sum_i(1)"
    if kind == "dot":
        return f"dot({vector_atom(data[0])}, {vector_atom(data[1])})"
    if kind == "value":
        _one_client(a)
        return f"{FUNCTION_NAMES[len(data[0])]}({vector(data[1])})"
    if kind == "E":
        return f"E({monomial(data[0])})"
    if kind == "bind":
        return bound(data[0], data[1])
    if kind == "over all":
        return f"{data[0]}({number(data[-1])})"
    raise UnspeakableError(f"{a.text} is no formula")


def _at_round(data: Sequence[Any]) -> str:
    if len(data) == 1:
        return ""
    if (index := number(data[1])) in ("k", "h", "j"):  # of a round, a turn, or what is remembered
        return f"_{index}"
    raise UnspeakableError(f"{data[0]} of another round than k")


def bound(binders: Sequence[Binder], body: Any) -> str:
    """A product under binders; two clients of one product stand in means of their own."""
    if len(body) == 1 and body[0][0].kind == "E" and body[0][1] == 1:
        return f"E({bound(binders, body[0][0].data[0])})"
    vectors = [a for a, _ in body if a.kind == "vec"]
    if len(vectors) == 1:
        return around(binders, _scaled([(a, e) for a, e in body if a.kind != "vec"], vector_atom(vectors[0].data[0])))
    kinds = [b.kind for b in binders]
    if len(set(kinds)) == len(kinds):
        return around(binders, monomial(body))
    dots = [a for a, e in body if a.kind == "dot" and e == 1]
    if len(dots) != 1:
        raise UnspeakableError("a product over different clients")
    u, v = dots[0].data
    names = {str(b.index): b for b in binders}
    of_u, of_v = ({x for x in a.free if x in names} for a in (u, v))
    shared = of_u & of_v
    own: dict[str, list[tuple[Atom, int]]] = {"u": [], "v": [], "both": []}
    for a, e in body:
        if a is dots[0]:
            continue
        free = {x for x in a.free if x in names}
        if not (free <= of_u or free <= of_v):
            raise UnspeakableError("a product over different clients")
        own["both" if free <= shared else "u" if free <= of_u else "v"].append((a, e))
    left = around([b for b in binders if str(b.index) in of_u - shared], _scaled(own["u"], vector_atom(u)))
    right = around([b for b in binders if str(b.index) in of_v - shared], _scaled(own["v"], vector_atom(v)))
    return around([b for b in binders if str(b.index) in shared], _scaled(own["both"], f"dot({left}, {right})"))


def _scaled(factors: Sequence[tuple[Atom, int]], text: str) -> str:
    return text if not factors else f"{monomial(factors)}*{text}"


def around(binders: Sequence[Binder], text: str) -> str:
    """A text under binders, the first outermost."""
    for b in reversed(binders):
        if b.upper is not None and (b.kind == "k" and number(b.upper) != "K"):
            raise UnspeakableError("a sum of another number of terms than K")
        text = f"{'mean' if b.upper is None else 'sum'}_{b.kind}({text})"
    return text


def vector(q: Quotient) -> str:
    pieces: list[str] = []
    for m, c in sorted(q.over.items(), key=lambda t: t[1] < 0):
        rest = tuple((a, e) for a, e in m if a.kind != "vec" and not (a.kind == "bind" and _of_vector(a)))
        core = next((a for a, _ in m if a.kind == "vec" or (a.kind == "bind" and _of_vector(a))), None)
        if core is None:
            raise UnspeakableError("no vector")
        text = vector_atom(core.data[0]) if core.kind == "vec" else bound(core.data[0], core.data[1])
        if rest or abs(c) != 1:
            factor = monomial(rest, abs(Fraction(c)))
            text = f"{factor}*{text}" if "/" not in factor else f"({factor})*{text}"
        pieces.append(("-" if c < 0 else "") + text if not pieces else f" {'-' if c < 0 else '+'} {text}")
    text = "".join(pieces)
    if not pieces:
        raise UnspeakableError("the vector 0")
    for p, e in q.under.items():
        text = f"({text})/({_sum(p)})" + (f"**{e}" if e != 1 else "")
    return text


def _of_vector(a: Atom) -> bool:
    return any(b.kind == "vec" for b, _ in a.data[1])


@remembered
def vector_atom(a: Atom) -> str:
    """A vector's atom."""
    if a.kind in ("free", "point"):
        return str(a.data[0])
    if a.kind == "state":
        return f"{a.data[0]}[{', '.join(map(number, a.data[1]))}]"
    if a.kind == "grad":
        _one_client(a)
        if isinstance(a.data[1], Atom):  # what a quadratic's gradient adds for it
            name, at = FUNCTION_NAMES[len(a.data[0])], vector_atom(a.data[1])
            return f"(grad({name}, {at}) - grad({name}, {at} - {at}))"
        return f"grad({FUNCTION_NAMES[len(a.data[0])]}, {vector(a.data[1])})"
    if a.kind == "E vec":
        rest = tuple((b, e) for b, e in a.data[0] if b.kind != "vec")
        core = next(b for b, _ in a.data[0] if b.kind == "vec")
        return f"E({_scaled(rest, vector_atom(core.data[0]))})"
    raise UnspeakableError(f"{a.text} is no vector of the language")


def _one_client(a: Atom) -> None:
    """Nothing where a function and its point have the same client and sample, or the point has none."""
    for index in a.data[0]:
        if any(kind_of(x) == kind_of(index) and x != index for x in a.data[1].free):
            raise UnspeakableError("a function of one client at a point of another")
    if len(a.data[0]) < 2 and any(kind_of(x) in "ni"[len(a.data[0]) :] for x in a.data[1].free):
        raise UnspeakableError("a function at a point of a client that it does not have")


def averaged(
    text: str, kinds: Iterable[str], point_kinds: Mapping[str, Any] | frozenset[str], gradient: str | None
) -> str:
    """The mean of a vector over clients and samples, as the gradient of a coarser function where it is one."""
    kinds = [k for k in "ni" if k in kinds]
    if gradient is not None and not set(kinds) & set(point_kinds):
        return gradient
    for k in reversed(kinds):
        text = f"mean_{k}({text})"
    return text
