"""Normal forms of exported terms, each with a proof script of Rocq that the term equals it.

A number becomes a sum of monomials in atoms: names, values of functions, inner products of vector atoms, powers,
inverses, and sums, means and expectations of products of these. Nothing here is trusted: a script that proves too much
is rejected by Rocq.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from theory.derivation.export.forms import (
    LINEAR,
    MOST_SORTED,
    ORDER,
    Lines,
    Monomial,
    NotExportedError,
    Pair,
    Poly,
    block,
    bound_text,
    factors_of,
    key_of,
    monomial,
    nested,
    one_atom,
    poly_term,
    prefix_of,
    product_of,
    product_term,
    sum_of,
    turned,
)
from theory.derivation.export.inner import Inner
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
    Vec,
    add,
    everything,
    name,
    names_of,
    nat_text,
    put,
    text_of,
    times,
)  # fmt: skip

Prefix = list[tuple[str, Nat | str, str]]


class Normal(Inner):
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

    def _coordinates(self, prefix: Prefix, leaves: dict[Term, int]) -> tuple[Term, Lines] | None:
        """A sum over two coordinates that holds the product of their vectors, or over one in an inner product by
        coordinates: without it."""
        sums = {var for kind, bound, var in prefix if kind == "sum" and bound == name("d")}
        for atom, e in leaves.items():
            if isinstance(atom, Ip) and e == 1:
                c, other = _direction(atom.left), _direction(atom.right)
                if c in sums and other in sums and c != other:
                    return self._diagonal(prefix, leaves, atom, c, other)
        for c in sums:
            along = [(a, e) for a, e in leaves.items() if c in names_of(a)]
            pairs = [a for a, e in along for _ in range(e)]
            if len(pairs) == 2 and all(
                isinstance(a, Ip) and c in (_direction(a.left), _direction(a.right)) for a in pairs
            ):
                return self._parseval(prefix, leaves, c, pairs)
        return None

    def _diagonal(self, prefix: Prefix, leaves: dict[Term, int], atom: Ip, c: str, other: str) -> tuple[Term, Lines]:
        places = [var for _, _, var in prefix]
        order = [places.index(c), places.index(other), *(i for i, v in enumerate(places) if v not in (c, other))]
        moved = [prefix[i] for i in order]
        body = product_term(monomial(leaves))
        lines = self._swaps(prefix, leaves, order, nested(moved, body))
        rest = moved[2:]
        less = {put(a, {other: name(c)}): 0 for a in leaves if a != atom}
        for a, e in leaves.items():
            if a != atom:
                less[put(a, {other: name(c)})] += e
        new = nested(rest, product_term(monomial(less)))
        null = [f"apply {kind}_eq_zero; intros {var} {self.fresh('lt')}." for kind, _, var in rest]
        down = [f"apply {kind}_ext; intros {var} {self.fresh('lt')}." for kind, _, var in rest]
        lines += [
            f"apply (sum_diagonal d (fun {c} {other} => {text_of(nested(rest, body))}) (fun {c} => {text_of(new)})).",
            *block([f"intros {c} {other} lt_{c} lt_{other} apart.", *null,
                    f"rewrite (basis_apart {c} {other} lt_{c} lt_{other} apart). ring."]),
            *block([f"intros {c} lt_{c}.", *down, f"rewrite (basis_one {c} lt_{c}). ring."]),
        ]  # fmt: skip
        return nested([moved[0]], new), lines

    def _parseval(self, prefix: Prefix, leaves: dict[Term, int], c: str, pairs: list[Term]) -> tuple[Term, Lines]:
        places = [var for _, _, var in prefix]
        order = [*(i for i, v in enumerate(places) if v != c), places.index(c)]
        body = product_term(monomial(leaves))
        lines = self._swaps(prefix, leaves, order, nested([prefix[i] for i in order], body))
        turn, vectors = [], []
        for a in pairs:
            assert isinstance(a, Ip)
            left = _direction(a.left) == c
            vectors.append(a.right if left else a.left)
            if left:
                turn.append(f"rewrite (ip_comm _ (basis {c}) {text_of(a.right, outer=9)}).")
        rest = product_term(monomial({a: e for a, e in leaves.items() if c not in names_of(a)}))
        u, v = vectors
        one = Vec("basis", (name(c),))
        split = Bind("sum", name("d"), c, times(rest, times(Ip(u, one), Ip(v, one))))
        outer = [prefix[i] for i in order[:-1]]
        lines += [f"apply {kind}_ext; intros {var} {self.fresh('lt')}." for kind, _, var in outer]
        lines += [f"transitivity ({text_of(split)}).", *block([f"apply sum_ext; intros {c} lt_{c}.",
                  *dict.fromkeys(turn), "ring."])]  # fmt: skip
        u_text, v_text = text_of(u, outer=9), text_of(v, outer=9)
        lines.append(f"exact (parseval d basis basis_all {text_of(rest, outer=9)} {u_text} {v_text}).")
        return nested(outer, times(rest, Ip(u, v))), lines

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
        for order in _orders(prefix):
            chosen = [prefix[i] for i in order]
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


def _direction(v: Term) -> str:
    """The coordinate of which it is the vector of length 1; empty where it is none."""
    return nat_text(v.args[0]) if isinstance(v, Vec) and v.head == "basis" else ""  # type: ignore[arg-type]


def _may_swap(outer: tuple[str, Nat | str, str], inner: tuple[str, Nat | str, str]) -> bool:
    return not (isinstance(inner[1], Nat) and outer[2] in names_of(inner[1]))


def _orders(prefix: Sequence[tuple[str, Nat | str, str]]) -> Iterator[tuple[int, ...]]:
    """The orders in which no bound hangs on an index that stands further in, and the kinds are in order where they can
    be: the first of these that there are, by kind."""

    def rank(i: int) -> tuple[int, bool]:
        kind, bound, _ = prefix[i]
        return ORDER[kind], bound != name("N")

    def follow(taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        left = [i for i in range(len(prefix)) if i not in taken]
        if not left:
            yield taken
            return
        free = [i for i in left if all(_may_swap(prefix[j], prefix[i]) for j in left if j != i)]
        first = min(rank(i) for i in free)
        for i in free:
            if rank(i) == first:
                yield from follow((*taken, i))

    return follow(())
