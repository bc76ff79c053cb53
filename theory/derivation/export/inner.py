"""Inner products and vectors in normal form."""

from __future__ import annotations

from theory.derivation.export.forms import (
    Lines,
    NotExportedError,
    Poly,
    block,
    factors_of,
    key_of,
    monomial,
    one_atom,
    poly_term,
    prefix_of,
    product_term,
    rebuilt_with,
)
from theory.derivation.export.roots import Roots
from theory.derivation.export.terms import (
    ONE,
    ZERO,
    App,
    Bind,
    Ip,
    Nat,
    Term,
    Vec,
    VOp,
    add,
    everything,
    minus,
    name,
    put,
    text_of,
    times,
)  # fmt: skip


class Inner(Roots):
    """Arithmetic with inner products and vectors."""

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

    def vector_alone(self, t: Term) -> tuple[Term, Lines | None]:
        """As `vector`, with a script that stands alone."""
        kept = self.hoisted, self._kept, self._squares
        self.hoisted, self._kept, self._squares = [], {}, {}
        try:
            found, lines = self.vector(t)
            return found, [*self.hoisted, *lines] if lines is not None else None
        finally:
            self.hoisted, self._kept, self._squares = kept

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
