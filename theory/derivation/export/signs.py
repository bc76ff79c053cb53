"""Scripts that prove a number not negative, or positive, by its shape: products, sums, squares, and lines in scope."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from theory.derivation.export.forms import Lines, Poly, as_poly, block, monomial, poly_term, product_of, sum_of
from theory.derivation.export.normal import Normal
from theory.derivation.export.terms import (
    App,
    Bind,
    Inv,
    Ip,
    Num,
    Op,
    Pow,
    Term,
    add,
    count,
    minus,
    text_of,
    times,
)  # fmt: skip

MODULUS = (1 << 61) - 1
_DEEPEST = 40
_NONNEGATIVE = {"norm": "norm_nonneg", "sqrt": "sqrt_pos", "Rabs": "Rabs_pos"}


@dataclass(frozen=True)
class Fact:
    """``left <= right`` (or ``<``, ``==``), with a term of Rocq that proves it."""

    left: Term
    relation: str
    right: Term
    proof: str


def image(t: Term, kept: dict[Term, int], seed: int) -> int:
    """A term at random values of its atoms, modulo a prime: equal terms have equal images."""
    if isinstance(t, Num):
        return t.value.numerator * pow(t.value.denominator, -1, MODULUS) % MODULUS
    if isinstance(t, Op):
        values = [image(a, kept, seed) for a in t.args]
        if t.op == "neg":
            return -values[0] % MODULUS
        a, b = values
        return (a * b if t.op == "*" else a + b if t.op == "+" else a - b) % MODULUS
    if isinstance(t, Inv):
        value = image(t.of, kept, seed)
        return pow(value, -1, MODULUS) if value else 0
    if isinstance(t, Pow) and not t.exponent.terms:
        return pow(image(t.base, kept, seed), t.exponent.constant, MODULUS)
    if t not in kept:
        kept[t] = random.Random(f"{seed} {text_of(t)}").randrange(1, MODULUS)
    return kept[t]


def ratio(normal: Normal, a: Term, b: Term) -> Fraction | None:
    """The rational c with a == c*b, or None where there is none that is short."""
    found = set()
    one, two = (poly_term(normal.norm(t)[0]) for t in (a, b))
    for seed in range(3):
        kept: dict[Term, int] = {}
        x, y = image(one, kept, seed), image(two, kept, seed)
        if not y:
            return None
        found.add(x * pow(y, -1, MODULUS) % MODULUS)
    if len(found) != 1:
        return None
    return _short(found.pop())


def _short(value: int) -> Fraction | None:
    """The fraction with small numerator and denominator that has this image."""
    a, b, u, v = MODULUS, value, 0, 1
    while b * b * 2 > MODULUS:
        q = a // b
        a, b, u, v = b, a - q * b, v, u - q * v
    if v == 0 or abs(v) > 1 << 29:
        return None
    return Fraction(b, v)


def vanishes(form: Poly) -> bool:
    """Whether a normal form is 0 as a rational function of its atoms, by images."""
    return not form or all(image(poly_term(form), {}, seed) == 0 for seed in range(2))


@dataclass
class Signs:
    """Signs in one scope.

    Attributes:
        normal: for normal forms.
        low: of a parameter, whether it is ``"<"`` or ``"<="`` above 0, and the proof; None where it is not known.
        facts: lines in scope, at given indices.
        aside: for normal forms that are only looked at.
        close: the script that proves an equation of numbers, or None where it is none.
    """

    normal: Normal
    low: Callable[[App], tuple[str, str] | None]
    facts: Callable[[], Sequence[Fact]]
    close: Callable[[Term, Term], Lines | None]
    aside: Normal
    _depth: int = field(default=0)

    def prove(self, t: Term, strict: bool = False) -> Lines | None:
        """The script that proves ``0 <= t``, or ``0 < t``; None where none is known."""
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            found = self._by_shape(t, strict) or self._by_fact(t, strict) or self._weaker(t, strict)
            return found or self._from_ends(t, strict)
        finally:
            self._depth -= 1

    def _weaker(self, t: Term, strict: bool) -> Lines | None:
        """``0 <= t`` of a sum of which no shape is known: its normal form's terms."""
        if not isinstance(t, Op) or t.op == "*":
            return None
        form = poly_term(self.normal.norm(t)[0])
        if form == t or (isinstance(form, Op) and "-" in text_of(form)):
            return None
        inner = self._by_shape(form, strict)
        equal = self.close(t, form)
        if inner is None or equal is None:
            return None
        h = self.normal.fresh("E")
        return [f"assert ({h} : {text_of(t)} = {text_of(form)}).", *block(equal), f"rewrite {h}.", *inner]

    def _by_shape(self, t: Term, strict: bool) -> Lines | None:
        sign = "<" if strict else "<="
        if isinstance(t, Num):
            return ["lra."] if t.value > 0 or (t.value == 0 and not strict) else None
        if isinstance(t, App):
            return self._name(t, strict)
        if isinstance(t, Op):
            return self._operation(t, strict)
        if isinstance(t, Inv):
            inner = self.prove(t.of, True)
            if inner is None:
                return None
            return [f"apply {'' if strict else 'Rlt_le, '}Rinv_0_lt_compat.", *inner]
        if isinstance(t, Pow):
            inner = self.prove(t.base, strict)
            if inner is not None:
                return [f"apply {'pow_lt' if strict else 'pow_le'}.", *inner]
            if not strict and not t.exponent.terms and t.exponent.constant % 2 == 0:
                return ["apply pow_even_nonneg." if t.exponent.constant != 2 else "apply pow2_ge_0."]
            return None
        if isinstance(t, Ip):
            if t.left == t.right and not strict:
                return ["apply ip_nonneg."]
            return None
        if isinstance(t, Bind) and t.kind in ("sum", "mean", "E", "maxi") and not strict:
            inner = self.prove(t.body)
            if inner is None:
                return None
            lt = self.normal.fresh("lt")
            start = f"apply {t.kind}_nonneg;" + (" [counts |];" if t.kind == "mean" else "")
            return [f"{start} intros {t.var} {lt}.", *inner]
        assert sign
        return None

    def _name(self, t: App, strict: bool) -> Lines | None:
        if t.head == "INR":
            if strict:  # an index may be 0
                return ["apply INR_pos; counts."] if self.normal.nonzero(t) else None
            return ["apply pos_INR."]
        if t.head in _NONNEGATIVE and not strict:
            return [f"apply {_NONNEGATIVE[t.head]}."]
        if t.head == "sqrt":
            inner = self.prove(t.args[0], True)
            return None if inner is None else ["apply sqrt_lt_R0.", *inner]
        if t.head == "exp":
            return ["apply exp_pos." if strict else "apply Rlt_le, exp_pos."]
        if t.head in ("Rmax", "Rmin"):
            one, two = t.args
            proofs = [self.prove(one, strict), self.prove(two, strict)]
            if t.head == "Rmin":
                if None in proofs:
                    return None
                return [f"apply {'Rmin_pos' if strict else 'Rmin_glb'}.", *block(proofs[0] or []), *(proofs[1] or [])]
            for script, lemma, part in zip(proofs, ("Rmax_l", "Rmax_r"), (one, two), strict=True):
                if script is not None:
                    rule = "Rlt_le_trans" if strict else "Rle_trans"
                    return [f"apply {rule} with {text_of(part, outer=9)}; [|apply {lemma}].", *script]
            return None
        known = self.low(t)
        if known is None:
            return None
        relation, proof = known
        if relation == "<":
            return [f"exact {proof}."] if strict else [f"apply Rlt_le. exact {proof}."]
        return None if strict else [f"exact {proof}."]

    def _operation(self, t: Op, strict: bool) -> Lines | None:
        if t.op == "*":
            one, two = t.args
            if one == two and not strict:
                return ["apply Rle_0_sqr."]
            left, right = self.prove(one, strict), self.prove(two, strict)
            if left is not None and right is not None:
                return [f"apply {'Rmult_lt_0_compat' if strict else 'Rmult_le_pos'}.", *block(left), *right]
            return None
        if t.op == "+":
            one, two = t.args
            for a, b, lemma in ((strict, False, "Rplus_lt_le_0_compat"), (False, strict, "Rplus_le_lt_0_compat")):
                left, right = self.prove(one, a), self.prove(two, b)
                if left is not None and right is not None:
                    return [f"apply {lemma if strict else 'Rplus_le_le_0_compat'}.", *block(left), *right]
        return None

    def _by_fact(self, t: Term, strict: bool) -> Lines | None:
        for fact in self.facts():
            difference = minus(fact.right, fact.left)
            if strict and fact.relation != "<":
                found = self._by_more(t, fact, difference)
                if found is not None:
                    return found
                continue
            c = ratio(self.normal, t, difference)
            if c is None:
                found = self._by_factor(t, fact, difference, strict) or self._by_more(t, fact, difference)
                if found is not None:
                    return found
            if c is None or (c < 0 and fact.relation != "==") or (c == 0 and strict):
                continue
            scaled = times(Num(c), difference)
            equal = self.close(t, scaled)
            if equal is None:
                continue
            h = self.normal.fresh("E")
            lemma = {"<=": "scaled_le", "<": "scaled_lt" if strict else "scaled_lt_le", "==": "scaled_eq"}[
                fact.relation
            ]
            last = f"apply {lemma}; [exact {fact.proof}{'' if fact.relation == '==' else ' | lra'}]."
            return [f"assert ({h} : {text_of(t)} = {text_of(scaled)}).", *block(equal), f"rewrite {h}. {last}"]
        return None

    def _from_ends(self, t: Term, strict: bool) -> Lines | None:
        """The same of a sum that has no negative coefficient in the distances of its names from their ends."""
        if not isinstance(t, Op) or t.op == "*" or self._depth > 8:
            return None
        poly = self.aside.alone(t)[0]
        atoms = {a for m in poly for a, _ in m if isinstance(a, App)}
        ends: dict[Term, list[tuple[Fraction, int]]] = {}
        for fact in self.facts():
            for end, atom, sign in ((fact.left, fact.right, 1), (fact.right, fact.left, -1)):
                if isinstance(end, Num) and atom in atoms and fact.relation != "==":
                    ends.setdefault(atom, []).append((end.value, sign))
        if not ends or len(ends) > 3:
            return None
        for chosen in itertools.product(*ends.values()):
            found = _measured(poly, dict(zip(ends, chosen, strict=True)))
            if any(c < 0 for c in found.values()) or (strict and () not in found):
                continue
            form = poly_term(found)
            inner, equal = self._by_shape(form, strict), self.close(t, form)
            if inner is not None and equal is not None:
                h = self.normal.fresh("E")
                return [f"assert ({h} : {text_of(t)} = {text_of(form)}).", *block(equal), f"rewrite {h}.", *inner]
        return None

    def _by_more(self, t: Term, fact: Fact, difference: Term) -> Lines | None:
        """The same where it is more than a line's difference by a number."""
        more = self.normal.norm(minus(t, difference))[0]
        if set(more) != {()} or more[()] <= 0:
            return None
        whole = add(difference, Num(more[()]))
        equal = self.close(t, whole)
        if equal is None:
            return None
        h = self.normal.fresh("E")
        return [
            f"assert ({h} : {text_of(t)} = {text_of(whole)}).",
            *block(equal),
            f"rewrite {h}. pose proof {fact.proof}. lra.",
        ]

    def _by_factor(self, t: Term, fact: Fact, difference: Term, strict: bool) -> Lines | None:
        """The same where the two differ by a factor that is positive by its shape."""
        if self._depth > 12 or fact.relation == "==":
            return None
        one, two = (primitive(self.normal.norm(part)[0]) for part in (t, difference))
        c = _multiple(one[0], two[0])
        if c is None or c <= 0:
            return None
        up, down = dict(one[1]), dict(two[1])
        factor: Term = Num(c)
        for base in {**up, **down}:
            e = up.get(base, 0) - down.get(base, 0)
            if e:
                power = base if abs(e) == 1 else Pow(base, count(abs(e)))
                factor = times(factor, power if e > 0 else Inv(power))
        sign = self._by_shape_alone(factor)
        equal = None if sign is None else self.close(t, times(factor, difference))
        if sign is None or equal is None:
            return None
        h = self.normal.fresh("E")
        lemma = {"<=": "part_le", "<": "part_lt" if strict else "part_lt_le"}[fact.relation]
        positive = sign if strict else ["apply Rlt_le.", *sign]
        return [
            f"assert ({h} : {text_of(t)} = {text_of(times(factor, difference))}).", *block(equal), f"rewrite {h}.",
            f"apply {lemma}.", *block(positive), f"exact {fact.proof}.",
        ]  # fmt: skip

    def _by_shape_alone(self, t: Term) -> Lines | None:
        kept, self.facts = self.facts, lambda: ()
        try:
            return self.prove(t, True)
        finally:
            self.facts = kept


def _measured(p: Poly, ends: Mapping[Term, tuple[Fraction, int]]) -> Poly:
    """A form in the distances of some atoms from their ends: above a lower end (1), below an upper one (-1)."""
    found: Poly = {}
    for m, c in p.items():
        one: Poly = {(): c}
        for atom, e in m:
            factor: Poly = {((atom, 1),): Fraction(1)}
            if atom in ends:
                end, sign = ends[atom]
                distance = minus(atom, Num(end)) if sign > 0 else minus(Num(end), atom)
                factor = {((distance, 1),): Fraction(sign), **({(): end} if end else {})}
            for _ in range(e):
                one = product_of(one, factor)
        found = sum_of(found, one)
    return found


def primitive(p: Poly) -> tuple[Poly, dict[Term, int]]:
    """A form without what all its monomials share, and without inverses; what was taken out, with exponents."""
    taken: dict[Term, int] = {}
    while True:
        inverse = next((a for m in p for a, _ in m if isinstance(a, Inv)), None)
        if inverse is None:
            break
        e = max(dict(m).get(inverse, 0) for m in p)
        taken[inverse.of] = taken.get(inverse.of, 0) - e
        found: Poly = {}
        base = as_poly(inverse.of)
        for m, c in p.items():
            factors = dict(m)
            one: Poly = {monomial({a: n for a, n in factors.items() if a != inverse}): c}
            for _ in range(e - factors.get(inverse, 0)):
                one = product_of(one, base)
            found = sum_of(found, one)
        p = found
    if not p:
        return p, taken
    shared = dict(next(iter(p)))
    for m in p:
        factors = dict(m)
        shared = {a: min(e, factors[a]) for a, e in shared.items() if a in factors}
    for a, e in shared.items():
        taken[a] = taken.get(a, 0) + e
    return {monomial({a: e - shared.get(a, 0) for a, e in m}): c for m, c in p.items()}, taken


def _multiple(p: Poly, q: Poly) -> Fraction | None:
    """The c with p == c*q."""
    if not p or p.keys() != q.keys():
        return None
    found = {p[m] / q[m] for m in p}
    return found.pop() if len(found) == 1 else None
