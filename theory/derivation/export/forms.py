"""Polynomials in atoms, as terms and back, and how Rocq writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, lcm

from theory.derivation.export.terms import (
    ONE,
    ZERO,
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Num,
    Op,
    Pow,
    Term,
    Vec,
    add,
    count,
    nat_text,
    text_of,
    times,
)  # fmt: skip

Monomial = tuple[tuple[Term, int], ...]
Poly = dict[Monomial, Fraction]
Lines = list[str]
LINEAR = ("sum", "mean", "E")
ORDER = {"sum": 0, "mean": 1, "E": 2}
FORMULA = {"+": "Fa", "-": "Fs", "*": "Fm", "neg": "Fo"}
SHORT = 120  # characters of a formula for which Rocq's own tactic is quick
MOST_SORTED = 8  # bound indices of one product


class NotExportedError(ValueError):
    """Something that is not exported yet."""


@lru_cache(200_000)
def key_of(t: Term) -> str:
    return text_of(t)


def monomial(factors: Mapping[Term, int]) -> Monomial:
    return tuple(sorted(((t, e) for t, e in factors.items() if e), key=lambda pair: key_of(pair[0])))


def one_atom(t: Term) -> Poly:
    return {((t, 1),): Fraction(1)}


def sum_of(a: Poly, b: Poly, by: Fraction = Fraction(1)) -> Poly:
    found = dict(a)
    for m, c in b.items():
        found[m] = found.get(m, Fraction(0)) + by * c
        if not found[m]:
            del found[m]
    return found


def product_of(a: Poly, b: Poly) -> Poly:
    found: Poly = {}
    for m, c in a.items():
        for n, d in b.items():
            factors = dict(m)
            for t, e in n:
                factors[t] = factors.get(t, 0) + e
            key = monomial(factors)
            found[key] = found.get(key, Fraction(0)) + c * d
            if not found[key]:
                del found[key]
    return found


def product_term(m: Monomial) -> Term:
    """A monomial as a product, nested to the right; 1 when it is empty."""
    found: Term | None = None
    for t, e in reversed(m):
        factor = t if e == 1 else Pow(t, count(e))
        found = factor if found is None else times(factor, found)
    return ONE if found is None else found


def factors_of(t: Term) -> Monomial:
    """What `product_term` made a product of."""
    found: dict[Term, int] = {}
    while True:
        head, rest = t.args if isinstance(t, Op) and t.op == "*" else (t, None)
        if isinstance(head, Pow) and not head.exponent.terms:
            found[head.base] = head.exponent.constant
        elif head != ONE:
            found[head] = 1
        if rest is None:
            return monomial(found)
        t = rest


def poly_term(p: Poly) -> Term:
    found: Term | None = None
    for m, c in sorted(p.items(), key=lambda pair: [(key_of(t), e) for t, e in pair[0]]):
        product = product_term(m)
        one = Num(c) if not m else product if c == 1 else times(Num(c), product)
        found = one if found is None else add(found, one)
    return ZERO if found is None else found


def as_poly(t: Term) -> Poly:
    """The form that `poly_term` wrote."""
    if isinstance(t, Num):
        return {(): t.value} if t.value else {}
    if isinstance(t, Op) and t.op == "+":
        return sum_of(as_poly(t.args[0]), as_poly(t.args[1]))
    if isinstance(t, Op) and t.op == "*":
        return product_of(as_poly(t.args[0]), as_poly(t.args[1]))
    if isinstance(t, Pow) and not t.exponent.terms:
        return {((t.base, t.exponent.constant),): Fraction(1)}
    return one_atom(t)


def rational_root(p: Poly) -> Fraction:
    """The largest rational number whose square divides all coefficients, and leaves whole numbers."""
    if not p:
        return Fraction(1)
    ends = gcd(*(c.numerator for c in p.values())), lcm(*(c.denominator for c in p.values()))
    found = [1, 1]
    for i, end in enumerate(ends):
        for prime in range(2, 100):
            while end % (prime * prime) == 0:
                end, found[i] = end // (prime * prime), found[i] * prime
        if isqrt(end) ** 2 == end:
            found[i] *= isqrt(end)
    return Fraction(found[0], ends[1] // found[1])


def nested(prefix: Sequence[tuple[str, Nat | str, str]], body: Term) -> Term:
    for kind, bound, var in reversed(prefix):
        body = Bind(kind, bound, var, body)
    return body


def prefix_of(t: Term) -> tuple[list[tuple[str, Nat | str, str]], Term]:
    found = []
    while isinstance(t, Bind) and t.kind in LINEAR:
        found.append((t.kind, t.bound, t.var))
        t = t.body
    return found, t


def bound_text(bound: Nat | str) -> str:
    return bound if isinstance(bound, str) else nat_text(bound)


def under(kind: str, bound: Nat | str, var: str) -> str:
    """The type of ``var < bound``."""
    return f"({var} < {f'outcomes {bound}' if kind == 'E' else bound_text(bound)})%nat"


def block(lines: Sequence[str]) -> Lines:
    if len(lines) == 1:
        return ["{ " + lines[0] + " }"]
    return ["{ " + lines[0], *("  " + line for line in lines[1:-1]), "  " + lines[-1] + " }"]


def formula_of(t: Term, given: Mapping[Term, str]) -> str:
    """Arithmetic as Rocq computes with it; `given` has what stands for the rest."""
    if t in given:
        return given[t]
    if isinstance(t, Num):
        top, below = t.value.numerator, t.value.denominator
        return f"(Fz {_whole(top)})" if below == 1 else f"(Fq {_whole(top)} {below})"
    if isinstance(t, Op):
        return f"({FORMULA[t.op]} {' '.join(formula_of(a, given) for a in t.args)})"
    if isinstance(t, Pow) and not t.exponent.terms:
        return f"(Fp {formula_of(t.base, given)} {t.exponent.constant})"
    if isinstance(t, Inv) and isinstance(t.of, Num) and t.of.value > 0 and t.of.value.denominator == 1:
        return f"(Fi {t.of.value})"
    raise NotExportedError(f"{text_of(t)[:200]} as arithmetic is not exported yet")


def _whole(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def given_of(used: Sequence[tuple[str, Nat | str, str]]) -> str:
    """The indices for all of which something is, and their bounds."""
    head = f"forall {' '.join(var for _, _, var in used)} : nat, " if used else ""
    return head + "".join(f"{under(*one)} -> " for one in used)


def intro_of(used: Sequence[tuple[str, Nat | str, str]]) -> Lines:
    words = [*(var for _, _, var in used), *(f"lt_{var}" for _, _, var in used)]
    return [f"intros {' '.join(words)}."] if used else []


def text_of_ip(t: Term) -> str:
    """A number as text, an inner product as one where it is a square."""
    return f"ip {text_of(t.left, outer=9)} {text_of(t.right, outer=9)}" if isinstance(t, Ip) else text_of(t)


def rebuilt_with(t: Term, args: Sequence[Term]) -> Term:
    assert isinstance(t, App | Vec)
    return type(t)(t.head, tuple(args))


def turned(t: Term) -> Term:
    """An inner product with its vectors in order."""
    if isinstance(t, Ip):
        return Ip(t.right, t.left) if key_of(t.right) < key_of(t.left) else t
    return t


@dataclass(frozen=True)
class Pair:
    """``one * two = worth`` with a term of Rocq that proves it."""

    one: Term
    two: Term
    worth: Poly
    proof: str

    def __hash__(self) -> int:
        return hash((self.one, self.two))
