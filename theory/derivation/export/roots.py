"""Roots, norms, inverses and powers in normal form."""

from __future__ import annotations

from fractions import Fraction

from theory.derivation.export.arithmetic import Arithmetic
from theory.derivation.export.forms import (
    Lines,
    Poly,
    block,
    given_of,
    intro_of,
    monomial,
    one_atom,
    poly_term,
    product_of,
    rational_root,
    sum_of,
    text_of_ip,
)
from theory.derivation.export.terms import (
    App,
    Inv,
    Ip,
    Nat,
    Num,
    Op,
    Pow,
    Term,
    count,
    name,
    nat_text,
    text_of,
    times,
)  # fmt: skip


class Roots(Arithmetic):
    """Arithmetic with roots, inverses and powers."""

    def _square_of_root(self, t: App) -> str | None:
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
            self.hoisted.append(f"assert ({h} : {given_of(used)}sqrt ({form}) * sqrt ({form}) = {form}).")
            self.hoisted += block(
                [
                    *intro_of(used), "apply sqrt_sqrt.", f"assert ({a} : 0 <= {text_of(inner)}).", *block(sign),
                    f"assert ({b} : {text_of(inner)} = {text_of(poly_term(poly))}).", *block(lines), "lra.",
                ]
            )  # fmt: skip
            self._squares[key] = h
        words = [self._squares[key], *(var for _, _, var in used), *("ltac:(assumption)" for _ in used)]
        return f"({' '.join(words)})" if used else words[0]

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
        if isinstance(t.of, Pow) and not _single(t.of.exponent):
            return self._inverse_power(t, t.of)
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

    def _inverse_power(self, t: Inv, of: Pow) -> tuple[Poly, Lines]:
        """The inverse of a power as the inverses of the powers of which it is made."""
        poly, lines = self.norm(of.base)
        base = poly_term(poly)
        start: Lines = []
        if base != of.base:
            y = self.fresh("Y")
            start = [f"assert ({y} : {text_of(of.base)} = {text_of(base)}).", *block(lines), f"rewrite {y}."]
            if of.base not in self.origins.setdefault(base, []):
                self.origins[base].append(of.base)
        if len(poly) > 1:
            self.bases.add(base)
        new: Term | None = None
        for key, times_ in of.exponent.terms:
            one: Term = Inv(Pow(base, name(key)))
            one = one if times_ == 1 else Pow(one, count(times_))
            new = one if new is None else times(new, one)
        assert new is not None
        if of.exponent.constant:
            new = times(new, Pow(Inv(base), count(of.exponent.constant)))
        found, rest = self.norm(new)
        return found, [
            *start,
            f"transitivity ({text_of(new)}).",
            f"{{ {_regrouped(of.exponent)} inverse_powers. }}",
            *rest,
        ]

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
        same = t.of == poly_term(poly)
        start = [] if same else [f"assert ({y} : {text_of(t.of)} = {text_of(poly_term(poly))}).", *block(lines)]
        rewrite = ", ".join([*([] if same else [y]), *(["Rinv_mult"] if c != 1 else [])])
        rewrite = f"rewrite {rewrite}{', inv_sqrt by lra' if c != 1 else ''}." if rewrite else ""
        return found, [
            *start,
            f"assert ({a} : 0 < {text_of(inner)}).", *block(sign),
            f"assert ({b} : {text_of(inner)} = {text_of(poly_term(of[0]))}).", *block(of[1]),
            f"transitivity ({text_of(new)}).",
            *block([f"{rewrite} field." if c != 1 else f"{rewrite} apply inv_sqrt. lra.".strip()]), *rest,
        ]  # fmt: skip

    def _power(self, t: Pow) -> tuple[Poly, Lines | None]:
        poly, lines = self.norm(t.base)
        base = poly_term(poly)
        if t.exponent.terms and len(poly) > 1:
            self.bases.add(base)
            if base != t.base and t.base not in self.origins.setdefault(base, []):
                self.origins[base].append(t.base)
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
        several = any(times_ > 1 for _, times_ in t.exponent.terms)
        return found, [*start, f"{_regrouped(t.exponent)} powers." if several else "powers."]

    def _difference_power(self, t: Pow, poly: Poly, lines: Lines) -> tuple[Poly, Lines | None]:
        up = Nat(tuple((k, n) for k, n in t.exponent.terms if n > 0), max(t.exponent.constant, 0))
        down = Nat(tuple((k, -n) for k, n in t.exponent.terms if n < 0), max(-t.exponent.constant, 0))
        new = times(Pow(t.base, up), Inv(Pow(t.base, down)))
        found, rest = self.norm(new)
        start = [f"transitivity ({text_of(new)}).", "{ apply pow_less; [lia | nonzero]. }"]
        return found, [*start, *rest]

    def _counted(self, t: App, n: Nat) -> tuple[Poly, Lines | None] | None:
        """A whole number as the sum of what it is made of."""
        single = len(n.terms) == 1 and n.terms[0][1] == 1 and n.constant == 0
        if single or any(times_ < 0 for _, times_ in n.terms):
            return None
        if n.constant < 0 and not self._above(n):
            return None
        found: Poly = {(): Fraction(n.constant)} if n.constant else {}
        for key, times_ in n.terms:
            found = sum_of(found, one_atom(App("INR", (name(key),))), Fraction(times_))
        first = "" if n.constant >= 0 else "rewrite minus_INR by counts; "
        return found, [f"{first}rewrite ?plus_INR, ?mult_INR, ?S_INR; simpl INR; ring."]

    def _above(self, n: Nat) -> bool:
        """Whether a whole number less 1 is one: it has a part that is at least 1."""
        return n.constant == -1 and any(self.nonzero(App("INR", (name(key),))) for key, _ in n.terms)


def _single(e: Nat) -> bool:
    """Whether an exponent is a number, or one name."""
    return not e.terms or (e.constant == 0 and [times_ for _, times_ in e.terms] == [1])


def _regrouped(e: Nat) -> str:
    """An exponent as a sum of products, each with its number last, so that a power is one of powers."""
    pieces = [f"({key})" if " " in key else key for key, _ in e.terms]
    pieces = [
        piece if times_ == 1 else f"{piece} * {times_}" for piece, (_, times_) in zip(pieces, e.terms, strict=True)
    ]
    pieces += [str(e.constant)] if e.constant else []
    return f"replace {nat_text(e)} with ({' + '.join(pieces)})%nat by lia."
