"""Numbers in normal form: arithmetic of what is not taken apart, each with a proof script of Rocq."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from theory.derivation.export.forms import (
    SHORT,
    Lines,
    Pair,
    Poly,
    as_poly,
    block,
    factors_of,
    formula_of,
    given_of,
    intro_of,
    monomial,
    one_atom,
    poly_term,
    product_of,
    product_term,
    sum_of,
)
from theory.derivation.export.terms import (
    App,
    Bind,
    Inv,
    Nat,
    Num,
    Op,
    Pow,
    Term,
    Vec,
    minus,
    names_of,
    nat_text,
    text_of,
    times,
)  # fmt: skip


@dataclass
class Arithmetic(ABC):
    """Normal forms in one theorem.

    Attributes:
        unfold: for states after a round, what they are: a vector, and the term of Rocq that proves it.
        nonzero: whether a name's value is known not to be 0; the tactic ``nonzero`` then proves it.
        law: rewrites an expectation over draws, or None.
        flip: of a number that is 0 or 1, the term of Rocq that proves so.
        sign: the script that proves that a number is not negative (positive), or None.
        total: of the mean of a draw over all clients, what it is, and the term of Rocq that proves so; or None.
        batches: sizes of batches.
        ones: whole numbers that are 1, as One says.
        origins: of a divisor, or the base of a power, in normal form, what it was.
        bases: sums of which there are powers with variable exponents.
    """

    unfold: Callable[[Vec], tuple[Term, str] | None] = lambda _: None
    nonzero: Callable[[Term], bool] = lambda _: False
    law: Callable[[Bind], tuple[Term, Lines] | None] = lambda _: None
    flip: Callable[[Term], str | None] = lambda _: None
    sign: Callable[[Term, bool], Lines | None] = lambda _, strict: None
    total: Callable[[Bind], tuple[Term, str] | None] = lambda _: None
    batches: frozenset[Nat] = frozenset()
    ones: frozenset[Nat] = frozenset()
    _used: int = 0
    hoisted: Lines = field(default_factory=list)
    origins: dict[Term, list[Term]] = field(default_factory=dict)
    bases: set[Term] = field(default_factory=set)
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
            for t, e in (*factors_of(pair.one), (pair.two, 1)):
                factors[t] -= e
            rest = {monomial(factors): c}
            pairs[pair] = sum_of(pairs.get(pair, {}), rest)
            left = sum_of(left, product_of(rest, pair.worth))
        return found

    def _pair(self, t: Term, factors: Mapping[Term, int]) -> Pair | None:
        """A product of two of these factors, t one of them, of which it is known what it is."""
        if isinstance(t, Inv) and factors[t] and factors.get(t.of) and self.nonzero(t.of):
            return Pair(t.of, t, {(): Fraction(1)}, f"(Rinv_r {text_of(t.of, outer=9)} ltac:(nonzero))")
        if isinstance(t, Inv) and factors[t] and (pair := self._of_base(t, factors)) is not None:
            return pair
        if not isinstance(t, App) or factors[t] < 2:
            return None
        flip = self.flip(t)
        if flip is not None:
            return Pair(t, t, one_atom(t), f"(flip_sq _ {flip})")
        if t.head == "sqrt":
            proof = self._square_of_root(t)
            return None if proof is None else Pair(t, t, as_poly(t.args[0]), proof)
        return None

    def _of_base(self, t: Inv, factors: Mapping[Term, int]) -> Pair | None:
        """A sum that is the base of powers times its inverse, as what its last product times this is; or such a power
        times its inverse."""
        if isinstance(t.of, Pow) and t.of.exponent.terms and factors.get(t.of) and t.of.base in self.bases:
            null = self._not_null(t.of.base)
            proof = f"(Rinv_r _ (pow_nonzero _ {nat_text(t.of.exponent)} {null}))"
            return None if null is None else Pair(t.of, t, {(): Fraction(1)}, proof)
        if t.of not in self.bases:
            return None
        p = as_poly(t.of)
        last = max(p, key=lambda m: (sum(e for _, e in m), [(text_of(a), e) for a, e in m]))
        if any(factors.get(a, 0) < e for a, e in last) or (null := self._not_null(t.of)) is None:
            return None
        rest = {m: -c / p[last] for m, c in p.items() if m != last}
        worth = sum_of(product_of(rest, one_atom(t)), {(): 1 / p[last]})
        one = product_term(last)
        key = (t, "base")
        if key not in self._squares:
            h = self.fresh("N")
            used = self._used_context(t)
            said = f"{text_of(times(one, t))} = {text_of(poly_term(worth))}"
            self.hoisted.append(f"assert ({h} : {given_of(used)}{said}).")
            inside = dict.fromkeys(a for m in p for a, _ in m if isinstance(a, Inv))
            lines = [f"pose proof {null}. field. assumption."]
            if inside or any(c.denominator != 1 for c in p.values()):  # else field asks for more, in other words
                apart = " ".join(f"generalize {text_of(a, outer=9)}." for a in inside)
                lines = [f"generalize {null}. unfold Rdiv. {apart} intros. field. nonzero."]
            self.hoisted += block([*intro_of(used), *lines])
            self._squares[key] = h
        return Pair(one, t, worth, self._squares[key])

    def _not_null(self, base: Term) -> str | None:
        """A term of Rocq that proves that the base of powers is not 0; None where that is not known."""
        key = (base, "null")
        if key not in self._squares:
            found = next((o for o in (base, *self.origins.get(base, ())) if self.sign(o, True) is not None), None)
            if found is None or self._used_context(base):
                return None
            a, b, h = self.fresh("N"), self.fresh("N"), self.fresh("N")
            lines = [f"assert ({a} : 0 < {text_of(found)}).", *block(self.sign(found, True) or [])]
            last = f"exact {a}."
            if found != base:
                lines += [f"assert ({b} : {text_of(found)} = {text_of(base)}).", *block(self.norm(found)[1])]
                last = f"rewrite <- {b}. {last}"
            lines.append(f"apply Rgt_not_eq. unfold Rgt. {last}")
            self.hoisted += [f"assert ({h} : {text_of(base)} <> 0).", *block(lines)]
            self._squares[key] = h
        return self._squares[key]

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
            for atom in (
                *(a for a, _ in factors_of(pair.one)),
                pair.two,
                *(a for p in (pair.worth, by) for m in p for a, _ in m),
            ):
                atoms.setdefault(atom, f"a{len(atoms)}")
        changed = {leaf: f"z{i}" for i, leaf in enumerate(leaf for leaf, (_, lines) in leaves.items() if lines)}
        kept = {leaf: atoms[leaf] for leaf, (_, lines) in leaves.items() if not lines and leaf in atoms}
        c = self.fresh("C")
        names = [*atoms.values(), *changed.values()]
        head = f"forall {' '.join(names)} : R, " if names else ""
        forms = {leaf: text_of(poly_term(leaves[leaf][0]), atoms) for leaf in changed}
        worths = [text_of(poly_term(pair.worth), atoms) for pair in pairs]
        given = "".join(f"{text_of(times(p.one, p.two), atoms)} = {w} -> " for p, w in zip(pairs, worths, strict=True))
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
                self.hoisted.append(f"assert ({h} : {given_of(used)}{text_of(t)} = {text_of(poly_term(poly))}).")
                self.hoisted += block([*intro_of(used), *lines])
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

    @abstractmethod
    def _leaf_of(self, t: Term) -> tuple[Poly, Lines | None]:
        """The normal form of what arithmetic does not take apart."""

    @abstractmethod
    def _square_of_root(self, t: App) -> str | None:
        """A term of Rocq that proves that a root's square is what stands under it; None where that may be negative."""
