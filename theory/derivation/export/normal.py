"""Normal forms of exported terms, each with a proof script of Rocq that the term equals it.

A number becomes a sum of monomials in atoms: names, values of functions, inner products of vector atoms, powers,
inverses, and sums, means and expectations of products of these. Nothing here is trusted: a script that proves too much
is rejected by Rocq.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    VOp,
    add,
    count,
    everything,
    minus,
    name,
    names_of,
    nat_text,
    put,
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
MOST_SORTED = 6  # bound indices of one product that are tried in every order


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


@dataclass(frozen=True)
class Pair:
    """``one * two = worth`` with a term of Rocq that proves it."""

    one: Term
    two: Term
    worth: Poly
    proof: str

    def __hash__(self) -> int:
        return hash((self.one, self.two))


@dataclass
class Normal:
    """Normal forms in one theorem.

    Attributes:
        unfold: for states after a round, what they are: a vector, and the term of Rocq that proves it.
        nonzero: whether a name's value is known not to be 0; the tactic ``nonzero`` then proves it.
        law: rewrites an expectation over draws, or None.
        flip: of a number that is 0 or 1, the term of Rocq that proves so.
        sign: the script that proves that a number is not negative (positive), or None.
        batches: sizes of batches.
        origins: of a divisor in normal form, what it was.
    """

    unfold: Callable[[Vec], tuple[Term, str] | None] = lambda _: None
    nonzero: Callable[[Term], bool] = lambda _: False
    law: Callable[[Bind], tuple[Term, Lines] | None] = lambda _: None
    flip: Callable[[Term], str | None] = lambda _: None
    sign: Callable[[Term, bool], Lines | None] = lambda _, strict: None
    batches: frozenset[Nat] = frozenset()
    _used: int = 0
    hoisted: Lines = field(default_factory=list)
    origins: dict[Term, list[Term]] = field(default_factory=dict)
    _probing: int = 0
    _context: list[tuple[str, Nat | str, str]] = field(default_factory=list)
    _kept: dict[object, tuple[Poly, Lines | None]] = field(default_factory=dict)
    _roots: dict[Term, Term] = field(default_factory=dict)
    _squares: dict[object, str] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        self._used += 1
        return f"{stem}{self._used}"

    def mean_of(self, bound: Nat) -> bool:
        """Whether what goes up to there is written as means: clients, samples, batches."""
        return bound in self.batches or bound.terms[0][0].split()[0] in ("N", "samples")

    # numbers

    def equal(self, a: Term, b: Term) -> bool:
        """Whether two numbers have the same normal form."""
        return not self.norm(minus(a, b))[0]

    def norm(self, t: Term) -> tuple[Poly, Lines]:
        """The normal form, and the script that proves ``t = poly_term(form)``."""
        leaves: dict[Term, tuple[Poly, Lines | None]] = {}
        poly = self._arithmetic(t, leaves)
        pairs: dict[Pair, Poly] = {}
        poly = self._cancelled(poly, pairs)
        target = poly_term(poly)
        if target == t:
            return poly, ["reflexivity."]
        if t in leaves and leaves[t][0] == poly and leaves[t][1]:
            return poly, leaves[t][1] or []
        return poly, self._by_leaves(t, target, leaves, pairs)

    def _arithmetic(self, t: Term, leaves: dict[Term, tuple[Poly, Lines | None]]) -> Poly:
        if isinstance(t, Num):
            return {(): t.value} if t.value else {}
        if isinstance(t, Op):
            parts = [self._arithmetic(a, leaves) for a in t.args]
            if t.op == "neg":
                return sum_of({}, parts[0], Fraction(-1))
            if t.op == "*":
                return product_of(*parts)
            return sum_of(parts[0], parts[1], Fraction(1 if t.op == "+" else -1))
        if isinstance(t, Pow) and not t.exponent.terms:
            base = self._arithmetic(t.base, leaves)
            found: Poly = {(): Fraction(1)}
            for _ in range(t.exponent.constant):
                found = product_of(found, base)
            return found
        if isinstance(t, Inv) and isinstance(t.of, Num) and t.of.value:
            return {(): 1 / t.of.value}
        if t not in leaves:
            leaves[t] = self._leaf(t)
        return leaves[t][0]

    def _cancelled(self, p: Poly, pairs: dict[Pair, Poly]) -> Poly:
        """Without products of a name and its inverse, and squares of roots; the products that were used are added, each
        with what its difference from its worth is multiplied with."""
        found: Poly = {}
        left = dict(p)
        while left:
            m, c = left.popitem()
            factors = dict(m)
            pair = next((pair for t in factors if (pair := self._pair(t, factors)) is not None), None)
            if pair is None:
                found = sum_of(found, {m: c})
                continue
            for t in (pair.one, pair.two):
                factors[t] -= 1
            rest = {monomial(factors): c}
            pairs[pair] = sum_of(pairs.get(pair, {}), rest)
            left = sum_of(left, product_of(rest, pair.worth))
        return found

    def _pair(self, t: Term, factors: Mapping[Term, int]) -> Pair | None:
        """A product of two of these factors, t one of them, of which it is known what it is."""
        if isinstance(t, Inv) and factors[t] and factors.get(t.of) and self.nonzero(t.of):
            return Pair(t.of, t, {(): Fraction(1)}, f"(Rinv_r {text_of(t.of, outer=9)} ltac:(nonzero))")
        if not isinstance(t, App) or factors[t] < 2:
            return None
        flip = self.flip(t)
        if flip is not None:
            return Pair(t, t, one_atom(t), f"(flip_sq _ {flip})")
        if t.head == "sqrt":
            proof = self._square_of_root(t)
            return None if proof is None else Pair(t, t, as_poly(t.args[0]), proof)
        return None

    def _square_of_root(self, t: App) -> str | None:
        """A term of Rocq that proves that a root's square is what stands under it; None where that may be negative."""
        inner = self._roots.get(t)
        if inner is None:
            return None
        used = self._used_context(inner)
        key = (t, tuple(used))
        if key not in self._squares:
            poly, lines = self.norm(inner)
            sign = ["apply ip_nonneg."] if isinstance(inner, Ip) else self.sign(inner, False)
            if sign is None:
                return None
            a, b, h = self.fresh("N"), self.fresh("N"), self.fresh("N")
            form = text_of(t.args[0])
            self.hoisted.append(f"assert ({h} : {_given(used)}sqrt ({form}) * sqrt ({form}) = {form}).")
            self.hoisted += block(
                [
                    *_intro(used), "apply sqrt_sqrt.", f"assert ({a} : 0 <= {text_of(inner)}).", *block(sign),
                    f"assert ({b} : {text_of(inner)} = {text_of(poly_term(poly))}).", *block(lines), "lra.",
                ]
            )  # fmt: skip
            self._squares[key] = h
        words = [self._squares[key], *(var for _, _, var in used), *("ltac:(assumption)" for _ in used)]
        return f"({' '.join(words)})" if used else words[0]

    def _by_leaves(
        self, t: Term, target: Term, leaves: Mapping[Term, tuple[Poly, Lines | None]],
        pairs: Mapping[Pair, Poly] | None = None,
    ) -> Lines:  # fmt: skip
        """``t = target`` where its leaves have these normal forms, and the rest is arithmetic."""
        pairs = pairs or {}
        atoms: dict[Term, str] = {}
        for poly, _ in leaves.values():
            for m in poly:
                for atom, _ in m:
                    atoms.setdefault(atom, f"a{len(atoms)}")
        for pair, by in pairs.items():
            for atom in (pair.one, pair.two, *(a for p in (pair.worth, by) for m in p for a, _ in m)):
                atoms.setdefault(atom, f"a{len(atoms)}")
        changed = {leaf: f"z{i}" for i, leaf in enumerate(leaf for leaf, (_, lines) in leaves.items() if lines)}
        kept = {leaf: atoms[leaf] for leaf, (_, lines) in leaves.items() if not lines and leaf in atoms}
        c = self.fresh("C")
        names = [*atoms.values(), *changed.values()]
        head = f"forall {' '.join(names)} : R, " if names else ""
        forms = {leaf: text_of(poly_term(leaves[leaf][0]), atoms) for leaf in changed}
        worths = [text_of(poly_term(pair.worth), atoms) for pair in pairs]
        given = "".join(f"{atoms[p.one]} * {atoms[p.two]} = {w} -> " for p, w in zip(pairs, worths, strict=True))
        given += "".join(f"{changed[leaf]} = {forms[leaf]} -> " for leaf in changed)
        left, right = text_of(t, {**kept, **changed}), text_of(target, atoms)
        intro, script = self._computed(t, target, leaves, atoms, pairs)
        lines = [
            f"assert ({c} : {head}{given}{left} = {right}).",
            "{ " + (f"intros {intro}. " if names else "") + script + " }",
        ]
        proofs = [pair.proof for pair in pairs]
        for leaf in changed:
            y = self.fresh("Y")
            lines.append(f"assert ({y} : {text_of(leaf)} = {text_of(poly_term(leaves[leaf][0]))}).")
            lines += block(leaves[leaf][1] or [])
            proofs.append(y)
        values = ["_" for _ in (*atoms, *changed)]
        lines.append(f"exact ({' '.join([c, *values, *proofs])}).")
        return lines

    def _computed(
        self, t: Term, target: Term, leaves: Mapping[Term, tuple[Poly, Lines | None]], atoms: Mapping[Term, str],
        pairs: Mapping[Pair, Poly],
    ) -> tuple[str, str]:  # fmt: skip
        """What is introduced, and the script that proves arithmetic by computing with polynomials; `ring` where it is
        short."""
        changed = [leaf for leaf, (_, lines) in leaves.items() if lines]
        place = {atom: f"(Fv {i + 1})" for i, atom in enumerate(atoms)}
        kept = {leaf: place[leaf] for leaf in leaves if leaf not in changed and leaf in atoms}
        stand = {leaf: f"(Fv {len(atoms) + i + 1})" for i, leaf in enumerate(changed)}
        one, two = formula_of(t, {**kept, **stand}), formula_of(target, place)
        names = [*atoms.values(), *(f"z{i}" for i in range(len(changed)))]
        forms = [formula_of(poly_term(leaves[leaf][0]), place) for leaf in changed]
        text = "".join([one, two, *forms])
        if not pairs and len(text) < SHORT and "Fq" not in text and "Fi" not in text:
            return " ".join([*names, *("->" for _ in changed)]), "ring."
        defined = [f"({len(atoms) + i + 1}%positive, {form})" for i, form in enumerate(forms)]
        given = [
            f"({formula_of(poly_term(by), place)}, {formula_of(times(p.one, p.two), place)}, "
            f"{formula_of(poly_term(p.worth), place)})"
            for p, by in pairs.items()
        ]
        lists = [f"({' :: '.join([*items, 'nil'])})%list" if items else "nil" for items in (names, defined, given)]
        words = [f"P{i}" for i in range(len(pairs))], [f"Z{i}" for i in range(len(changed))]
        hold = ["".join(f"(conj {word} " for word in own) + "I" + ")" * len(own) for own in words]
        return " ".join([*names, *words[0], *words[1]]), (
            f"refine (Poly.equation {lists[0]} {lists[1]} {one} {two} {lists[2]} {hold[1]} {hold[0]} _). "
            "vm_cast_no_check (eq_refl true)."
        )

    # leaves: what arithmetic does not take apart

    def alone(self, t: Term) -> tuple[Poly, Lines]:
        """As `norm`, with a script that stands alone: what is needed often is proved before all else."""
        kept = self.hoisted, self._kept, self._squares
        self.hoisted, self._kept, self._squares = [], {}, {}
        try:
            poly, lines = self.norm(t)
            return poly, [*self.hoisted, *lines]
        finally:
            self.hoisted, self._kept, self._squares = kept

    def _leaf(self, t: Term) -> tuple[Poly, Lines | None]:
        """A leaf; what has a proof of its own is proved once in a line, before all else."""
        used = self._used_context(t)
        key = (t, tuple(used), bool(self._probing))
        if key not in self._kept:
            poly, lines = self._leaf_of(t)
            if lines is not None and not self._probing and (len(lines) > 1 or len(lines[0]) > 60):
                h = self.fresh("H")
                self.hoisted.append(f"assert ({h} : {_given(used)}{text_of(t)} = {text_of(poly_term(poly))}).")
                self.hoisted += block([*_intro(used), *lines])
                lines = [f"apply {h}; assumption." if used else f"exact {h}."]
            self._kept[key] = poly, lines
        return self._kept[key]

    def _used_context(self, t: Term) -> list[tuple[str, Nat | str, str]]:
        """The indices around it on which it hangs, and those on which their bounds hang."""
        needed = set(names_of(t))
        found = []
        for one in reversed(self._context):
            if one[2] in needed:
                found.append(one)
                if isinstance(one[1], Nat):
                    needed |= names_of(one[1])
        return found[::-1]

    def _leaf_of(self, t: Term) -> tuple[Poly, Lines | None]:
        if isinstance(t, App):
            if t.head == "INR" and isinstance(t.args[0], Nat):
                counted = self._counted(t, t.args[0])
                if counted is not None:
                    return counted
            if t.head in ("sqrt", "norm"):
                return self._root(t, Ip(t.args[0], t.args[0]) if t.head == "norm" else t.args[0])
            new, lines = self._canonical(t)
            return one_atom(new), lines
        if isinstance(t, Inv):
            return self._inverse(t)
        if isinstance(t, Pow):
            return self._power(t)
        if isinstance(t, Ip):
            return self._inner(t)
        if isinstance(t, Bind):
            return self._bound(t)
        raise NotExportedError(f"{text_of(t)} is no number")

    def _counted(self, t: App, n: Nat) -> tuple[Poly, Lines | None] | None:
        """A whole number as the sum of what it is made of."""
        single = len(n.terms) == 1 and n.terms[0][1] == 1 and n.constant == 0
        if single or n.constant < 0 or any(times_ < 0 for _, times_ in n.terms):
            return None
        found: Poly = {(): Fraction(n.constant)} if n.constant else {}
        for key, times_ in n.terms:
            found = sum_of(found, one_atom(App("INR", (name(key),))), Fraction(times_))
        return found, ["rewrite ?plus_INR, ?mult_INR, ?S_INR; simpl INR; ring."]

    def _canonical(self, t: Term) -> tuple[Term, Lines | None]:
        """An atom with what it is applied to in normal form."""
        new: list[Term] = []
        proofs: list[tuple[int, Term, Term, Lines]] = []
        for i, arg in enumerate(t.args):  # type: ignore[union-attr]
            if isinstance(arg, Nat):
                new.append(arg)
                continue
            if isinstance(arg, Vec | VOp) or (isinstance(arg, Bind) and arg.kind.startswith("v")):
                one, lines = self.vector(arg)
            else:
                poly, lines = self.norm(arg)
                one = poly_term(poly)
            new.append(one)
            if one != arg:
                proofs.append((i, arg, one, lines or []))
        found = rebuilt_with(t, new)
        if not proofs:
            return found, None
        out: Lines = []
        args = list(t.args)  # type: ignore[union-attr]
        for i, arg, one, lines in proofs:
            h = self.fresh("A")
            hole = text_of(rebuilt_with(t, [*args[:i], App("zz"), *args[i + 1 :]]))
            args[i] = one
            now = text_of(rebuilt_with(t, args))
            out += [f"assert ({h} : {text_of(arg)} = {text_of(one)}).", *block(lines)]
            out += [f"transitivity ({now}).", f"{{ exact (f_equal (fun zz => {hole}) {h}). }}"]
        return found, [*out, "reflexivity."]

    def _root(self, t: App, inner: Term) -> tuple[Poly, Lines | None]:
        """The root of a number, a rational square taken out of it; a norm is the root of its square."""
        poly, lines = self.norm(inner)
        outer = rational_root(poly)
        rest = {m: c / outer**2 for m, c in poly.items()}
        form = poly_term(rest)
        new = App("sqrt", (form,))
        self._roots.setdefault(new, inner)
        found: Poly = {((new, 1),): outer}
        if new == t:
            return found, None
        a = self.fresh("N")
        whole = poly_term(poly)
        start = ["unfold norm, norm2."] if t.head == "norm" else []
        start += [f"assert ({a} : {text_of_ip(inner)} = {text_of(whole)}).", *block(lines)]
        if outer == 1:
            return found, [*start, f"exact (f_equal sqrt {a})."]
        atoms = {a: (one_atom(a), None) for m in poly for a, _ in m}
        scaled = self._by_leaves(whole, times(times(Num(outer), Num(outer)), form), atoms)
        return found, [*start, f"rewrite {a}. apply sqrt_scaled.", "{ lra. }", *scaled]

    def _inverse(self, t: Inv) -> tuple[Poly, Lines | None]:
        if isinstance(t.of, Op) and t.of.op == "*":
            new: Term = times(Inv(t.of.args[0]), Inv(t.of.args[1]))
            poly, lines = self.norm(new)
            return poly, [f"transitivity ({text_of(new)}).", "{ apply Rinv_mult. }", *lines]
        if isinstance(t.of, Inv):
            poly, lines = self.norm(t.of.of)
            return poly, [f"transitivity ({text_of(t.of.of)}).", "{ apply Rinv_inv. }", *lines]
        if isinstance(t.of, App) and t.of.head in ("sqrt", "norm"):
            rationalised = self._inverse_root(t)
            if rationalised is not None:
                return rationalised
        if isinstance(t.of, Pow) and not t.of.exponent.terms and not isinstance(t.of.base, App):
            new = Pow(Inv(t.of.base), t.of.exponent)
            poly, lines = self.norm(new)
            return poly, [f"transitivity ({text_of(new)}).", "{ symmetry. apply pow_inv. }", *lines]
        poly, lines = self.norm(t.of)
        form = poly_term(poly)
        if form != t.of and t.of not in self.origins.setdefault(form, []):
            self.origins[form].append(t.of)
        y = self.fresh("Y")
        start = [f"assert ({y} : {text_of(t.of)} = {text_of(form)}).", *block(lines), f"rewrite {y}."]
        if form == t.of:
            start = []
        if len(poly) == 1:
            ((m, c),) = poly.items()
            if all(isinstance(a, App) or e == 1 for a, e in m) and m:
                found = {monomial({Inv(a): e for a, e in m}): 1 / c}
                if poly_term(found) == t:
                    return found, None
                return found, [*start, "inverses."]
            if not m:
                return {(): 1 / c}, [*start, "field."]
        new = Inv(form)
        return one_atom(new), None if new == t else [*start, "reflexivity."]

    def _inverse_root(self, t: Inv) -> tuple[Poly, Lines | None] | None:
        """``1/sqrt(a)`` is ``sqrt(a)/a`` of a positive a."""
        poly, lines = self.norm(t.of)
        ((m, c),) = poly.items() if len(poly) == 1 else (((), Fraction(0)),)
        if len(m) != 1 or not isinstance(m[0][0], App) or m[0][1] != 1:
            return None
        root = m[0][0]
        inner = self._roots[root]
        if isinstance(inner, Ip) or (sign := self.sign(inner, True)) is None:
            return None
        of = self.norm(inner)
        new: Term = times(root, Inv(root.args[0]))
        new = new if c == 1 else times(Num(1 / c), new)
        found, rest = self.norm(new)
        y, a, b = self.fresh("Y"), self.fresh("N"), self.fresh("N")
        return found, [
            f"assert ({y} : {text_of(t.of)} = {text_of(poly_term(poly))}).", *block(lines or ["reflexivity."]),
            f"assert ({a} : 0 < {text_of(inner)}).", *block(sign),
            f"assert ({b} : {text_of(inner)} = {text_of(poly_term(of[0]))}).", *block(of[1]),
            f"transitivity ({text_of(new)}).",
            *block([f"rewrite {y}{', Rinv_mult' if c != 1 else ''}, inv_sqrt by lra. field."
                    if c != 1 else f"rewrite {y}. apply inv_sqrt. lra."]), *rest,
        ]  # fmt: skip

    def _power(self, t: Pow) -> tuple[Poly, Lines | None]:
        poly, lines = self.norm(t.base)
        base = poly_term(poly)
        if any(times_ < 0 for _, times_ in t.exponent.terms) or t.exponent.constant < 0:
            return self._difference_power(t, poly, lines)
        found: Poly = {(): Fraction(1)}
        for key, times_ in t.exponent.terms:
            found = product_of(found, {((Pow(base, name(key)), times_),): Fraction(1)})
        for _ in range(t.exponent.constant):
            found = product_of(found, poly)
        if poly_term(found) == t:
            return found, None
        y = self.fresh("Y")
        start = [f"assert ({y} : {text_of(t.base)} = {text_of(base)}).", *block(lines), f"rewrite {y}."]
        if base == t.base:
            start = []
        return found, [*start, "powers."]

    def _difference_power(self, t: Pow, poly: Poly, lines: Lines) -> tuple[Poly, Lines | None]:
        up = Nat(tuple((k, n) for k, n in t.exponent.terms if n > 0), max(t.exponent.constant, 0))
        down = Nat(tuple((k, -n) for k, n in t.exponent.terms if n < 0), max(-t.exponent.constant, 0))
        new = times(Pow(t.base, up), Inv(Pow(t.base, down)))
        found, rest = self.norm(new)
        start = [f"transitivity ({text_of(new)}).", "{ apply pow_less; [lia | nonzero]. }"]
        return found, [*start, *rest]

    def _inner(self, t: Ip) -> tuple[Poly, Lines | None]:
        e, proof = self._expanded(t.left, t.right)
        if e != t:
            poly, lines = self.norm(e)
            first = "unfold norm2 at 1. " if t.left == t.right else ""
            return poly, [f"transitivity ({text_of(e)}).", f"{{ {first}exact {proof}. }}", *lines]
        (u, hu), (v, hv) = self._canonical(t.left), self._canonical(t.right)
        swap = key_of(v) < key_of(u)
        new = Ip(v, u) if swap else Ip(u, v)
        if new == t:
            return one_atom(new), None
        if not hu and not hv:
            return one_atom(new), ["apply ip_comm."]
        a, b = self.fresh("U"), self.fresh("U")
        lines = [f"assert ({a} : {text_of(t.left)} = {text_of(u)}).", *block(hu or ["reflexivity."])]
        lines += [f"assert ({b} : {text_of(t.right)} = {text_of(v)}).", *block(hv or ["reflexivity."])]
        middle = f"transitivity (ip {text_of(u, outer=9)} {text_of(v, outer=9)})."
        lines += [middle, f"{{ exact (f_equal2 ip {a} {b}). }}"]
        return one_atom(new), [*lines, "apply ip_comm." if swap else "reflexivity."]

    def _expanded(self, u: Term, v: Term) -> tuple[Term, str]:
        """An inner product taken apart, first on the left, not below what binds an index; a proof."""
        if isinstance(u, VOp) or (isinstance(v, VOp) and isinstance(u, Vec) and self.unfold(u) is None):
            return self._of_spans(u, v), f"(Span.of_both {self._span(u)} {self._span(v)})"
        for here, other, left in ((u, v, True), (v, u, False)):
            side = "l" if left else "r"
            if isinstance(here, Bind):
                var = f"j{len(self._context)}"
                own = put(here.body, {here.var: name(var)})
                body = Ip(own, other) if left else Ip(other, own)
                return Bind(here.kind[1:], here.bound, var, body), f"(ip_{here.kind}_{side} _ _ _)"
            if isinstance(here, Vec):
                unfolded = self.unfold(here)
                if unfolded is not None:
                    one = Ip(unfolded[0], other) if left else Ip(other, unfolded[0])
                    return one, f"(ip_eq_{side} {unfolded[1]} _)"
        return Ip(u, v), "eq_refl"

    def _span(self, v: Term) -> str:
        """A vector as a sum of multiples, as Rocq computes with it."""
        if isinstance(v, VOp):
            if v.op == "zero":
                return "S0"
            if v.op == "scal":
                return f"(Sm {text_of(v.args[0], outer=9)} {self._span(v.args[1])})"
            return f"({'Sa' if v.op == 'add' else 'Ss'} {self._span(v.args[0])} {self._span(v.args[1])})"
        if isinstance(v, Vec):
            unfolded = self.unfold(v)
            if unfolded is not None:
                return f"(Su {text_of(v, outer=9)} _ {unfolded[1]})"
        return f"({'Sw' if isinstance(v, Bind) else 'Sv'} {text_of(v, outer=9)})"

    def _of_spans(self, u: Term, v: Term) -> Term:
        """What Span.both makes of them."""
        if isinstance(u, VOp):
            if u.op == "zero":
                return ZERO
            if u.op == "scal":
                return times(u.args[0], self._of_spans(u.args[1], v))
            one, two = (self._of_spans(a, v) for a in u.args)
            return add(one, two) if u.op == "add" else minus(one, two)
        if isinstance(u, Bind):
            return Ip(u, v)
        unfolded = self.unfold(u) if isinstance(u, Vec) else None
        if unfolded is not None:
            return Ip(unfolded[0], v)
        if isinstance(v, VOp):
            if v.op == "zero":
                return ZERO
            if v.op == "scal":
                return times(v.args[0], self._of_spans(u, v.args[1]))
            one, two = (self._of_spans(u, a) for a in v.args)
            return add(one, two) if v.op == "add" else minus(one, two)
        unfolded = self.unfold(v) if isinstance(v, Vec) else None
        return Ip(u, v if unfolded is None else unfolded[0])

    # vectors

    def vector(self, t: Term) -> tuple[Term, Lines | None]:
        """A vector in normal form: a sum of multiples of atoms, and of sums of them."""
        if isinstance(t, Vec) and self.unfold(t) is None:
            return self._canonical(t)
        probe = Vec(self.fresh("u"))
        self._probing += 1
        try:
            poly, lines = self.norm(Ip(t, probe))
        finally:
            self._probing -= 1
        terms: list[Term] = []
        for m, c in sorted(
            poly.items(), key=lambda pair: [(key_of(a).replace(probe.head, "w"), e) for a, e in pair[0]]
        ):
            outer = {a: e for a, e in m if probe not in everything(a)}
            (core,) = (a for a, _ in m if probe in everything(a))
            vector = self._without(core, probe)
            number = poly_term({monomial(outer): c})
            terms.append(vector if number == ONE else VOp("scal", (number, vector)))
        found: Term = VOp("zero") if not terms else terms[0]
        for term in terms[1:]:
            found = VOp("add", (found, term))
        if found == t:
            return t, None
        self._probing += 1
        try:
            again, back = self.norm(Ip(found, probe))
        finally:
            self._probing -= 1
        if again != poly:
            raise NotExportedError(f"the vector {text_of(t)} has no normal form")
        middle = text_of(poly_term(poly))
        return found, [
            f"apply vector_ext; intros {probe.head}.", f"transitivity ({middle}).", *block(lines), "symmetry.", *back,
        ]  # fmt: skip

    def _without(self, core: Term, probe: Vec) -> Term:
        prefix, body = prefix_of(core)
        factors = dict(factors_of(body))
        ((ip, _),) = [(a, e) for a, e in factors.items() if probe in everything(a)]
        assert isinstance(ip, Ip)
        vector: Term = ip.right if ip.left == probe else ip.left
        number = product_term(monomial({a: e for a, e in factors.items() if a != ip}))
        if number != ONE:
            vector = VOp("scal", (number, vector))
        for kind, bound, var in reversed(prefix):
            vector = Bind("v" + kind, bound, var, vector)
        return vector

    # what binds an index

    def _bound(self, t: Bind) -> tuple[Poly, Lines | None]:
        kind, bound, original = t.kind, t.bound, t
        if kind in ("maxi", "mini"):
            return self._extreme(t)
        if kind not in LINEAR:
            raise NotExportedError(f"{kind} is not exported yet")
        if isinstance(bound, Nat) and (bound.constant > 0 or not bound.terms):
            return self._unrolled(t)
        clients = isinstance(bound, Nat) and self.mean_of(bound)
        if kind == "sum" and clients:
            mean = times(App("INR", (bound,)), Bind("mean", bound, t.var, t.body))  # type: ignore[arg-type]
            poly, lines = self.norm(mean)
            return poly, [f"transitivity ({text_of(mean)}).", "{ apply sum_is_mean; counts. }", *lines]
        if kind == "mean" and not clients:
            whole = times(Inv(App("INR", (bound,))), Bind("sum", bound, t.var, t.body))  # type: ignore[arg-type]
            poly, lines = self.norm(whole)
            return poly, [f"transitivity ({text_of(whole)}).", "{ reflexivity. }", *lines]
        var = f"v{len(self._context)}"
        t = Bind(kind, bound, var, put(t.body, {t.var: name(var)}) if t.var != var else t.body)
        self._context.append((kind, bound, var))
        try:
            poly, lines = self.norm(t.body)
        finally:
            self._context.pop()
        groups: dict[Monomial, Poly] = {}
        for m, c in poly.items():
            outside = monomial({a: e for a, e in m if var not in names_of(a)})
            within = monomial({a: e for a, e in m if var in names_of(a)})
            groups[within] = sum_of(groups.get(within, {}), {outside: c})
        ordered = sorted(groups.items(), key=lambda pair: [(key_of(a), e) for a, e in pair[0]])
        chain: Term = ZERO
        for m, p in reversed(ordered):
            chain = add(times(poly_term(p), product_term(m)), chain)
        leaves: dict[Term, tuple[Poly, Lines | None]] = {}
        linear: Term = ZERO
        for m, p in reversed(ordered):
            one = Bind(kind, bound, var, product_term(m))
            leaves[one] = self._of_product(one, m)
            linear = add(times(poly_term(p), one), linear)
        for p in groups.values():  # names that stand outside are atoms of the arithmetic
            for m in p:
                for a, _ in m:
                    leaves.setdefault(a, (one_atom(a), None))
        found: Poly = {}
        for m, p in groups.items():
            found = sum_of(found, product_of(p, leaves[Bind(kind, bound, var, product_term(m))][0]))
        pairs: dict[Pair, Poly] = {}
        found = self._cancelled(found, pairs)
        target = poly_term(found)
        if target == original:
            return found, None
        lt = f"lt_{var}"
        if len(groups) == 1 and ordered[0][1] == {(): Fraction(1)}:
            one = Bind(kind, bound, var, poly_term(poly))
            out: Lines = []
            if one != t:
                out = [f"transitivity ({text_of(one)}).", *block([f"apply {kind}_ext; intros {var} {lt}.", *lines])]
            return found, [*out, *(leaves[one][1] or ["reflexivity."])]
        out = []
        if chain != t.body:
            out += [f"transitivity ({text_of(Bind(kind, bound, var, chain))})."]
            rest = self._by_leaves(poly_term(poly), chain, {a: (one_atom(a), None) for m in poly for a, _ in m})
            middle = [f"transitivity ({text_of(poly_term(poly))}).", *block(lines)] if poly_term(poly) != t.body else []
            out += block([f"apply {kind}_ext; intros {var} {lt}.", *middle, *rest])
        out.append(f"transitivity ({text_of(linear)}).")
        parts = [f"({text_of(poly_term(p))}, fun {var} => {text_of(product_term(m))})" for m, p in ordered]
        out.append(f"{{ exact (Linear.of_{kind} {bound_text(bound)} ({' :: '.join([*parts, 'nil'])})%list). }}")
        return found, [*out, *self._by_leaves(linear, target, leaves, pairs)]

    def _extreme(self, t: Bind) -> tuple[Poly, Lines | None]:
        """A maximum over an index: an atom, of which the body is in normal form."""
        var = f"mx{sum(isinstance(part, Bind) and part.kind in ('maxi', 'mini') for part in everything(t.body))}"
        body = put(t.body, {t.var: name(var)}) if t.var != var else t.body
        self._context.append((t.kind, t.bound, var))
        try:
            poly, lines = self.norm(body)
        finally:
            self._context.pop()
        new = Bind(t.kind, t.bound, var, poly_term(poly))
        return one_atom(new), None if new == t else [f"apply {t.kind}_ext; intros {var} lt_{var}.", *lines]

    def _unrolled(self, t: Bind) -> tuple[Poly, Lines | None]:
        assert isinstance(t.bound, Nat)
        low = Nat(t.bound.terms, 0)
        new: Term = Bind(t.kind, low, t.var, t.body) if low.terms else ZERO
        if t.kind == "mean":
            new = times(Inv(App("INR", (t.bound,))), Bind("sum", t.bound, t.var, t.body))
        else:
            for i in range(t.bound.constant):
                new = add(new, put(t.body, {t.var: low.shifted(i)}))
        poly, lines = self.norm(new)
        return poly, [f"transitivity ({text_of(new)}).", "{ unrolled. }", *lines]

    def _of_product(self, t: Bind, m: Monomial) -> tuple[Poly, Lines | None]:
        """The sum, mean or expectation of a product whose factors all hang on the index."""
        kind, bound, var = t.kind, t.bound, t.var
        if not m:
            text = bound_text(bound)
            if kind == "sum":
                return one_atom(App("INR", (bound,))), [f"apply (sum_one {text})."]  # type: ignore[arg-type]
            return {(): Fraction(1)}, ["apply mean_one; counts." if kind == "mean" else f"apply (E_one {text})."]
        prefix, leaves, steps = self._flat([(kind, bound, var)], dict(m))
        flat = nested(prefix, product_term(monomial(leaves)))
        out: Lines = []
        if flat != t:
            out += [f"transitivity ({text_of(flat)})."]
            out += block([f"apply {kind}_ext; intros {var} {self.fresh('lt')}.", *steps])
        sorted_, swaps = self._sorted(prefix, leaves)
        if swaps:
            out += swaps
        if self.law is not None:
            changed = self.law(self._refreshed(sorted_))  # type: ignore[arg-type]
            if changed is not None:
                new, proof = changed
                poly, lines = self.norm(new)
                return poly, [*out, f"transitivity ({text_of(sorted_)}).", "{ reflexivity. }",
                              f"transitivity ({text_of(new)}).", *block(proof), *lines]  # fmt: skip
        if sorted_ == t:
            return one_atom(t), None
        return one_atom(sorted_), [*out, "reflexivity."]

    def _refreshed(self, t: Term) -> Term:
        """The same under names that nothing else has."""
        prefix, body = prefix_of(t)
        new = {var: name(self.fresh("b")) for _, _, var in prefix}
        renamed = [(k, put(b, new) if isinstance(b, Nat) else b, nat_text(new[v])) for k, b, v in prefix]
        return nested(renamed, put(body, new))  # type: ignore[arg-type]

    def _flat(
        self, prefix: list[tuple[str, Nat | str, str]], factors: dict[Term, int]
    ) -> tuple[list[tuple[str, Nat | str, str]], dict[Term, int], Lines]:
        """All that binds, from outside, in front of a product of atoms; the script proves the inner equality."""
        blocks = [a for a in factors if isinstance(a, Bind)]
        if not blocks:
            return prefix, factors, ["reflexivity."]
        one = min(blocks, key=key_of)
        rest = dict(factors)
        rest[one] -= 1
        if not rest[one]:
            del rest[one]
        own, body = prefix_of(one)
        renamed = {var: self.fresh("b") for _, _, var in own}
        new = {old: name(fresh) for old, fresh in renamed.items()}
        own = [(k, put(b, new) if isinstance(b, Nat) else b, renamed[v]) for k, b, v in own]  # type: ignore[misc]
        inner = dict(factors_of(put(body, new)))
        merged = dict(rest)
        for a, e in inner.items():
            merged[a] = merged.get(a, 0) + e
        before, after = product_term(monomial(rest)), product_term(monomial(inner))
        whole, leaves, steps = self._flat([*prefix, *own], merged)
        p = text_of(before, outer=9)
        lines = [f"transitivity ({text_of(times(before, nested(own, after)))}).", "{ ring. }"] if rest else []
        if rest:
            for i, (kind, bound, var) in enumerate(own):
                inside_ = text_of(nested(own[i + 1 :], after))
                lines.append(f"rewrite <- ({kind}_scal {bound_text(bound)} {p} (fun {var} => {inside_})).")
                lines.append(f"apply {kind}_ext; intros {var} {self.fresh('lt')}.")
            lines += [f"transitivity ({text_of(product_term(monomial(merged)))}).", "{ ring. }"]
        else:
            for kind, _, var in own:
                lines.append(f"apply {kind}_ext; intros {var} {self.fresh('lt')}.")
        return whole, leaves, [*lines, *steps]

    def _sorted(self, prefix: list[tuple[str, Nat | str, str]], factors: dict[Term, int]) -> tuple[Term, Lines]:
        """What binds in its order, under canonical names; the script goes there from the given order."""
        best: tuple[str, tuple[int, ...], Term] | None = None
        size = len(prefix)
        if size > MOST_SORTED:
            raise NotExportedError(f"a product under {size} sums")
        for order in itertools.permutations(range(size)):
            chosen = [prefix[i] for i in order]
            if not _allowed(chosen):
                continue
            new = {var: name(f"q{j}") for j, (_, _, var) in enumerate(chosen)}
            renamed = [
                (kind, put(bound, new) if isinstance(bound, Nat) else bound, f"q{j}")
                for j, (kind, bound, _) in enumerate(chosen)
            ]
            atoms: dict[Term, int] = {}
            for a, e in factors.items():
                moved = turned(put(a, new))
                atoms[moved] = atoms.get(moved, 0) + e
            term = nested(renamed, product_term(monomial(atoms)))  # type: ignore[arg-type]
            rank = f"{[(ORDER[kind], bound != name('N')) for kind, bound, _ in chosen]}{text_of(term)}"
            if best is None or rank < best[0]:
                best = (rank, order, term)
        assert best is not None
        _, order, term = best
        return term, self._swaps(prefix, factors, list(order), term)

    def _swaps(
        self, prefix: list[tuple[str, Nat | str, str]], factors: dict[Term, int], order: list[int], last: Term
    ) -> Lines:
        """Adjacent exchanges, one after another."""
        at = list(range(len(prefix)))
        body = product_term(monomial(factors))
        lines: Lines = []
        while at != order:
            j = next(
                j for j in range(len(at) - 1)
                if order.index(at[j]) > order.index(at[j + 1]) and _may_swap(prefix[at[j]], prefix[at[j + 1]])
            )  # fmt: skip
            one, two = prefix[at[j]], prefix[at[j + 1]]
            at[j], at[j + 1] = at[j + 1], at[j]
            now = nested([prefix[i] for i in at], body)
            steps = [f"apply {prefix[i][0]}_ext; intros {prefix[i][2]} {self.fresh('lt')}." for i in at[:j]]
            lines += [f"transitivity ({text_of(now)}).", *block([*steps, _SWAP[one[0], two[0]]])]
        if nested([prefix[i] for i in at], body) != last:  # the names, the order of factors and of inner products
            steps = [f"apply {prefix[i][0]}_ext; intros q{j} {self.fresh('lt')}." for j, i in enumerate(at)]
            new = {prefix[i][2]: name(f"q{j}") for j, i in enumerate(at)}
            for atom in factors:
                moved = put(atom, new)
                if isinstance(moved, Ip) and turned(moved) != moved:
                    steps.append(f"rewrite (ip_comm _ {text_of(moved.left, outer=9)} {text_of(moved.right, outer=9)}).")
            lines += [f"transitivity ({text_of(last)}).", *block([*steps, "ring."])]
        return lines


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


def _given(used: Sequence[tuple[str, Nat | str, str]]) -> str:
    """The indices for all of which something is, and their bounds."""
    head = f"forall {' '.join(var for _, _, var in used)} : nat, " if used else ""
    return head + "".join(f"{under(*one)} -> " for one in used)


def _intro(used: Sequence[tuple[str, Nat | str, str]]) -> Lines:
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


_SWAP = {
    ("sum", "sum"): "apply sum_swap.",
    ("mean", "mean"): "apply mean_swap.",
    ("E", "E"): "apply E_swap.",
    ("mean", "sum"): "apply sum_mean.",
    ("sum", "mean"): "symmetry. apply sum_mean.",
    ("E", "sum"): "apply E_sum.",
    ("sum", "E"): "symmetry. apply E_sum.",
    ("E", "mean"): "apply E_mean.",
    ("mean", "E"): "symmetry. apply E_mean.",
}


def _may_swap(outer: tuple[str, Nat | str, str], inner: tuple[str, Nat | str, str]) -> bool:
    return not (isinstance(inner[1], Nat) and outer[2] in names_of(inner[1]))


def _allowed(chosen: Sequence[tuple[str, Nat | str, str]]) -> bool:
    """Whether no bound hangs on an index that stands further in, and the kinds are in order where they can be."""
    return all(_may_swap(later, earlier) for i, earlier in enumerate(chosen) for later in chosen[i + 1 :])
