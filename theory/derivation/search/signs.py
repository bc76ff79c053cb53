"""Signs of polynomials on the region that facts describe, with lines that show them.

A polynomial is not negative where it is a sum, with coefficients that are not negative, of products of facts' gaps
(right - left) and of atoms that are not negative (Handelman, Pacific J. Math. 132 (1988)). Which sum, a linear program
says; the coefficients are then solved for exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as fresh
from fractions import Fraction
from typing import Any

import numpy as np

from theory.derivation.search.field import Element, Field

_MOST_PRODUCTS = 900
_ROUNDS = 7
"""Of monomials that lead to terms, which lead to others, where facts are taken one at a time."""
_MOST_TERMS = 30
"""Of a polynomial whose sign is looked for."""


@dataclass(frozen=True)
class Fact:
    """A line ``left <= right`` between numbers.

    Attributes:
        line: its name in a derivation.
        gap: right - left.
        text: right - left, as a formula.
        strict: whether it is ``<``.
    """

    line: str
    gap: Element
    text: str
    strict: bool


@dataclass
class Signs:
    """What is known of signs, and the lines that say it.

    Attributes:
        field: of the numbers.
        facts: lines at hand.
        positive: for each atom, whether it is positive; others are at least 0, or, if `signless` has them, unknown.
        settings: values of the atoms that satisfy all facts.
        name: gives names to new lines.
        wide: whether all facts are used, and not only those that share atoms with a polynomial or with such.
    """

    field: Field
    facts: list[Fact]
    positive: Sequence[bool]
    settings: Sequence[Sequence[float]]
    name: Callable[[], str]
    signless: frozenset[int] = frozenset()
    lines: list[dict[str, Any]] = fresh(default_factory=list)
    shown: dict[Any, bool] = fresh(default_factory=dict)
    inner: Mapping[int, Sequence[Element]] = fresh(default_factory=dict)
    used: set[str] = fresh(default_factory=set)
    kept: dict[int, Element] = fresh(default_factory=dict)
    spend: Callable[[int], None] = lambda _: None
    wide: bool = False

    def nonnegative(self, e: Element) -> bool:
        """Whether an element is shown not to be negative; lines for it are then there."""
        return self._product(e, False)

    def is_positive(self, e: Element) -> bool:
        """Whether an element is shown to be positive; lines for it are then there."""
        return self._product(e, True)

    def divides(self, e: Element) -> bool:
        """Whether an element's denominator is shown to be positive."""
        return all(self._factor(f, True) for f, _ in self.field.factors(e.denom, self._like)[1])

    def text(self, e: Element) -> str:
        """An element as a product whose factors are not negative."""
        return self.field.text(e, self._like)

    @property
    def _like(self) -> Sequence[Sequence[float]]:
        return self.settings

    def _product(self, e: Element, strict: bool) -> bool:
        if not e:
            return not strict
        (a, above), (b, below) = self.field.factors(e.numer, self._like), self.field.factors(e.denom, self._like)
        if (a / b) < 0:
            return False
        return all((n % 2 == 0 and not strict) or self._factor(f, strict) for f, n in above) and all(
            self._factor(f, True) for f, _ in below
        )

    def _factor(self, f: Any, strict: bool) -> bool:
        key = (f, strict)
        if key not in self.shown:
            self.shown[key] = False  # while it is looked for
            self.shown[key] = self._plain(f, strict) or self._by_facts(f, strict)
        return self.shown[key]

    def _plain(self, f: Any, strict: bool) -> bool:
        """By its coefficients: all positive, and atoms that are not negative; the rules read that off."""
        sure = False
        for m, c in f.terms():
            if c < 0 or any(n % 2 and i in self.signless for i, n in enumerate(m)):
                return False
            if not all(self.nonnegative(e) for i, n in enumerate(m) if n for e in self.inner.get(i, ())):
                return False
            sure = sure or all(not n or self.positive[i] for i, n in enumerate(m))
        return sure or not strict

    def _by_facts(self, f: Any, strict: bool) -> bool:
        worths = [float(_worth(f, s)) for s in self.settings]
        if min(worths) < -1e-9:
            return False
        if strict and min(worths) <= 1e-12:
            return False
        found = self.certificate(f, strict)
        if found is None:
            return False
        text = self.field.sum_text(f)
        for fact in self.facts:  # a fact says it as it stands
            if fact.strict >= strict and self._same(fact.gap, f):
                self.used.add(fact.line)
                return True
        line = {"name": self.name(), "sentence": f"0 {'<' if strict else '<='} {text}", **self._line(found, strict)}
        self.lines.append(line)
        gap = self.field.inner.field_new(f)
        self.facts.append(Fact(line["name"], gap, text, strict))
        return True

    def _same(self, gap: Element, f: Any) -> bool:
        ratio = gap / self.field.inner.field_new(f)
        return ratio.numer.is_ground and ratio.denom.is_ground and self.field.value(ratio, self.settings[0]) > 0

    def _line(self, found: Sequence[tuple[Fraction, Any, tuple[int, ...]]], strict: bool) -> dict[str, Any]:
        """Of coefficient, monomial and facts: a combination."""
        parts, squares = [], []
        if strict:  # what is positive by domains alone: a multiple of N, which is
            alone = next((one for one in found if not one[2] and self._sure(next(iter(one[1])), ())), None)
            if alone is not None:
                found = [one for one in found if one is not alone]
                name = self.name()
                self.lines.append({"name": name, "sentence": "N > 0", "by": "domain"})
                factor = self.field.inner.field_new(alone[1]) * self.field.number(alone[0])
                parts.append({"line": name, "times": f"{self.text(factor)}/N"})
        for c, m, facts in found:
            factor = self.field.inner.field_new(m) * self.field.number(c)
            if not facts:
                squares.append({"of": "1", "times": self.text(factor)})
                continue
            first, *others = facts
            self.used |= {self.facts[i].line for i in facts}
            e = factor / self._left_out(first)
            texts = [self.text(e)] if e != 1 or not others else []
            for i in others:
                without = 1 / self._left_out(i)
                if without != 1:
                    texts.append(self.text(without))
                texts.append(f"({self.facts[i].text})")
            parts.append({"line": self.facts[first].line, "times": "*".join(_in_product(t) for t in texts)})
        line: dict[str, Any] = {"by": "combination", "parts": parts}
        if squares:
            line["squares"] = squares
        return line

    def certificate(self, f: Any, strict: bool) -> list[tuple[Fraction, Any, tuple[int, ...]]] | None:
        """Coefficients, monomials, and the facts whose gaps are multiplied; None where none are found."""
        ring = self.field.inner.ring
        usable = [i for i in self._near(f) if self._cleared(self.facts[i])]
        alone = usable
        if self.wide:
            alone = [*usable, *(i for i in range(len(self.facts)) if i not in usable and self._cleared(self.facts[i]))]
        products: list[tuple[tuple[int, ...], Any]] = [((), ring.one)]
        if len(f) > _MOST_TERMS:
            return None
        for size in (1, 2, 3):
            if (size == 3 and len(usable) > 7) or (size > 1 and len(f) > _MOST_TERMS // 2):
                break
            for some in itertools.combinations_with_replacement(alone if size == 1 else usable, size):
                g = ring.one
                for i in some:
                    g = g * (self.facts[i].gap / self._left_out(i)).numer
                if len(g) <= 40:
                    products.append((some, g))
            found = self._sum_of(f, products, strict)
            if found is not None:
                return found
            over = self._denominator() if self.wide and size == 1 and not strict else ring.one
            if over != 1 and (found := self._sum_of(f * over, products, strict)) is not None:
                below = self.field.inner.field_new(over)
                return [(c, self.field.inner.field_new(m) / below, some) for c, m, some in found]
        return None

    def _denominator(self) -> Any:
        """The product of the positive atoms by which facts divide."""
        powers: dict[int, int] = {}
        for fact in self.facts:
            if len(fact.gap.denom) == 1:
                (m,) = fact.gap.denom
                for i, n in enumerate(m):
                    if n and i < len(self.positive) and self.positive[i]:
                        powers[i] = max(n, powers.get(i, 0))
        ring = self.field.inner.ring
        return ring.from_dict({tuple(powers.get(i, 0) for i in range(len(ring.gens))): ring.domain.one})

    def _sum_of(self, f: Any, products: Sequence[tuple[tuple[int, ...], Any]], strict: bool) -> Any:
        """The polynomial as a sum of multiples of products by monomials; of monomials that lead to terms in it."""
        ring = self.field.inner.ring
        monomials = set(f)
        columns: dict[tuple[Any, tuple[int, ...]], Any] = {}
        for _ in range(_ROUNDS if self.wide and all(len(some) < 2 for some, _ in products) else 3):
            new: set[Any] = set()
            for some, g in products:
                if len(columns) >= _MOST_PRODUCTS:
                    break
                for target, own in itertools.product(monomials, g):
                    m = tuple(a - b for a, b in zip(target, own, strict=True))
                    if min(m, default=0) < 0 or any(n % 2 and i in self.signless for i, n in enumerate(m)):
                        continue
                    key = (m, some)
                    if key not in columns and len(columns) < _MOST_PRODUCTS:
                        columns[key] = ring.from_dict({m: ring.domain.one}) * g
                        new |= set(columns[key])
            found = self._solve(f, columns, strict)
            if found is not None or len(columns) >= _MOST_PRODUCTS or new <= monomials:
                return found
            monomials |= new
        return None

    def _left_out(self, j: int) -> Element:
        """The positive factor of a gap without which it is a polynomial, and has no positive atom for a factor."""
        if j in self.kept:
            return self.kept[j]
        gap = self.facts[j].gap
        shared = [min(column) for column in zip(*gap.numer, strict=True)]
        m = tuple(n if self.positive[i] else 0 for i, n in enumerate(shared[: len(self.positive)]))
        rest = (0,) * (len(shared) - len(m))
        above = self.field.inner.ring.from_dict({(*m, *rest): self.field.inner.ring.domain.one})
        self.kept[j] = self.field.inner.field_new(above) / self.field.inner.field_new(gap.denom)
        return self.kept[j]

    def _cleared(self, fact: Fact) -> bool:
        """Whether a gap may be multiplied by its denominator."""
        return all(n % 2 == 0 or self._factor(p, False) for p, n in self.field.factors(fact.gap.denom, self._like)[1])

    def _near(self, f: Any) -> list[int]:
        """The facts that share atoms with a polynomial, or with facts that do."""
        atoms = {i for m in f for i, n in enumerate(m) if n}
        found: list[int] = []
        while True:
            more = [j for j in range(len(self.facts)) if j not in found and self._atoms(j) & atoms]
            if not more:
                return sorted(found)
            found += more
            if len(found) <= 8:  # beyond, only the nearest
                atoms |= {i for j in more for i in self._atoms(j)}

    def _atoms(self, j: int) -> set[int]:
        gap = self.facts[j].gap
        return {i for p in (gap.numer, gap.denom) for m in p for i, n in enumerate(m) if n}

    def _solve(
        self, f: Any, columns: Mapping[Any, Any], strict: bool
    ) -> list[tuple[Fraction, Any, tuple[int, ...]]] | None:
        self.spend(1 + len(columns) // 50)
        keys = list(columns)
        rows: dict[Any, int] = {}
        for p in (f, *columns.values()):
            for m in p:
                rows.setdefault(m, len(rows))
        a = np.zeros((len(rows), len(keys)))
        for j, key in enumerate(keys):
            for m, c in columns[key].terms():
                a[rows[m], j] = float(Fraction(int(c.numerator), int(c.denominator)))
        b = np.zeros(len(rows))
        for m, c in f.terms():
            b[rows[m]] = float(Fraction(int(c.numerator), int(c.denominator)))
        cost = np.array([1.0 + sum(m) * 0.01 + len(some) for m, some in keys])
        if not keys:
            return None
        if not strict:
            return self._least(f, columns, keys, a, b, cost)
        # something strict has to be in it, with a positive factor: preferred first, then as much of it as there can be
        sure = np.array([float(self._sure(m, some)) for m, some in keys])
        if not sure.any():
            return None
        for preference in (0.5, 50.0):
            found = self._least(f, columns, keys, a, b, cost - preference * sure)
            if found is None or any(self._sure(next(iter(m)), some) for _, m, some in found):
                return found
        return None

    def _least(
        self, f: Any, columns: Mapping[Any, Any], keys: Sequence[Any], a: np.ndarray, b: np.ndarray, cost: np.ndarray
    ) -> list[tuple[Fraction, Any, tuple[int, ...]]] | None:
        """The polynomial as the cheapest sum of multiples of columns, exactly."""
        from scipy.optimize import linprog

        found = linprog(cost, A_eq=a, b_eq=b, bounds=(0, None), method="highs-ds")
        if found.status != 0:
            return None
        support = [j for j in range(len(keys)) if found.x[j] > 1e-9]
        exact = _exact(f, [columns[keys[j]] for j in support])
        if exact is None or min(exact, default=Fraction(0)) < 0:
            return None
        ring = self.field.inner.ring
        return [
            (c, ring.from_dict({keys[j][0]: ring.domain.one}), keys[j][1])
            for j, c in zip(support, exact, strict=True)
            if c
        ]

    def _sure(self, m: Sequence[int], some: Sequence[int]) -> bool:
        """Whether a product is positive, the first of its facts being strict."""
        return all(self.facts[i].strict for i in some) and all(not n or self.positive[i] for i, n in enumerate(m))


def _in_product(text: str) -> str:
    return f"({text})" if "/" in text and not text.startswith("(") else text


def _exact(f: Any, columns: Sequence[Any]) -> list[Fraction] | None:
    """The unique coefficients, in fractions; None where there are none or many."""
    import flint

    rows: dict[Any, int] = {}
    for p in (f, *columns):
        for m in p:
            rows.setdefault(m, len(rows))
    a = flint.fmpq_mat(len(rows), len(columns) + 1)
    for j, p in enumerate((*columns, f)):
        for m, c in p.terms():
            a[rows[m], j] = flint.fmpq(int(c.numerator), int(c.denominator))
    reduced, rank = a.rref()
    if rank > len(columns) or rank < len(columns):
        return None
    for i in range(len(columns)):
        if reduced[i, i] != 1:
            return None
    last = [reduced[i, len(columns)] for i in range(len(columns))]
    return [Fraction(int(v.p), int(v.q)) for v in last]


def _worth(p: Any, at: Sequence[float]) -> float:
    total = 0.0
    for m, c in p.terms():
        term = float(Fraction(int(c.numerator), int(c.denominator)))
        for i, n in enumerate(m):
            if n:
                term *= at[i] ** n
        total += term
    return total
