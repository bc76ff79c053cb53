"""Normal forms of exported terms, each with a proof script of Rocq that the term equals it.

A number becomes a sum of monomials in atoms: names, values of functions, inner products of vector atoms, powers,
inverses, and sums, means and expectations of products of these. Nothing here is trusted: a script that proves too much
is rejected by Rocq.
"""

from __future__ import annotations

from fractions import Fraction

from theory.derivation.export.binders import Binders
from theory.derivation.export.forms import (
    LINEAR,
    Lines,
    Monomial,
    NotExportedError,
    Pair,
    Poly,
    block,
    bound_text,
    key_of,
    monomial,
    nested,
    one_atom,
    poly_term,
    product_of,
    product_term,
    sum_of,
)
from theory.derivation.export.terms import (
    ZERO,
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Num,
    Pow,
    Term,
    add,
    everything,
    name,
    names_of,
    put,
    text_of,
    times,
)  # fmt: skip

Prefix = list[tuple[str, Nat | str, str]]


class Normal(Binders):
    """Normal forms in one theorem: what binds an index, and all that is below it."""

    def _leaf_of(self, t: Term) -> tuple[Poly, Lines | None]:
        if isinstance(t, App):
            if t.head == "INR" and isinstance(t.args[0], Nat):
                counted = self._counted(t, t.args[0])
                if counted is not None:
                    return counted
            if t.head in ("sqrt", "norm"):
                return self._root(t, Ip(t.args[0], t.args[0]) if t.head == "norm" else t.args[0])
            new, lines = self._canonical(t)
            return self._chosen(new, lines) or (one_atom(new), lines)
        if isinstance(t, Inv):
            return self._inverse(t)
        if isinstance(t, Pow):
            return self._power(t)
        if isinstance(t, Ip):
            return self._inner(t)
        if isinstance(t, Bind):
            return self._bound(t)
        raise NotExportedError(f"{text_of(t)} is no number")

    def _chosen(self, t: Term, lines: Lines | None) -> tuple[Poly, Lines | None] | None:
        """The larger, or the lesser, of two numbers that are there."""
        if not isinstance(t, App) or t.head not in ("Rmax", "Rmin"):
            return None
        one, two = t.args
        if not isinstance(one, Num) or not isinstance(two, Num):
            return None
        worth = (max if t.head == "Rmax" else min)(one.value, two.value)
        side = "left" if worth == one.value else "right"
        start = [] if lines is None else [f"transitivity ({text_of(t)}).", *block(lines)]
        return ({(): worth} if worth else {}), [*start, f"apply {t.head}_{side}. lra."]

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
        changed = self._coordinates(prefix, leaves)
        if changed is not None:
            new, proof = changed
            poly, lines = self.norm(new)
            return poly, [*out, f"transitivity ({text_of(new)}).", *block(proof), *lines]
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
