"""Short products of atoms, and of factors that occur, as guesses of multipliers that are left open."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.derivation.search.field import Element
from theory.derivation.search.problem import Problem

NUMBERS = tuple(map(Fraction, ["1", "2", "4", "1/2", "1/4", "3", "6", "8", "3/2", "1/3", "2/3", "1/8", "12", "16"]))
"""By which a product may be multiplied, the simplest first."""
_FEW = 4
"""Factors, so many that what lies half way is guessed too."""


class ShortProducts:
    """Of what occurs in a problem."""

    problem: Problem
    _kept: tuple[list[Element], list[str]] | None = None
    _made: tuple[np.ndarray, np.ndarray, list[list[tuple[int, int]]]] | None = None

    def _forms(self) -> Any:
        yield self.problem.goal
        for m in self.problem.multiples:
            yield m.terms
        for b in self.problem.blocks:
            yield from b.entries.values()

    def _between(self, ends: Sequence[tuple[float, float]]) -> Iterator[Element]:
        """Short products of atoms, and of factors that occur in the forms, that lie between; the simplest first."""
        f, (pool, _) = self.problem.field, self._pool()
        numbers = [*dict.fromkeys((*NUMBERS, *self.problem.numbers))]
        low, high = (np.array([e[at] for e in ends]) for at in (0, 1))
        slack = 2e-5 * np.maximum(1e-9, np.abs(low))
        lengths, values, factors = self._products()
        worth = values[:, None] * np.array([float(c) for c in numbers])[:, None]
        fits = (worth >= low - slack - 1e-9 * np.abs(worth)) & (worth <= high * (1 + 2e-5) + slack)
        product, number = np.nonzero(fits.all(axis=2))
        for at in np.argsort(lengths[product] + 0.3 * number, kind="stable"):
            e = f.number(numbers[number[at]])
            for i, n in factors[product[at]]:
                e = e * pool[i] ** n
            yield e

    def _products(self) -> tuple[np.ndarray, np.ndarray, list[list[tuple[int, int]]]]:
        """How long each product is, (M,), its values, (M, settings), and its factors with their powers."""
        if self._made is None:
            pool, roles = self._pool()
            f, settings = self.problem.field, self.problem.settings
            each = [np.array([f.value(e, s) for s in settings]) for e in pool]
            atoms = [i for i, kind in enumerate(roles) if kind == "atom"]
            others = [i for i, kind in enumerate(roles) if kind != "atom"]
            more = [(0.0, ()), *((1.5, (i,)) for i in others)]
            more += [(3.0, pair) for pair in itertools.combinations(others, 2)] if len(others) <= 6 else []
            most = 2 if len(atoms) <= 5 else 1
            found: list[tuple[float, np.ndarray, list[tuple[int, int]]]] = []
            reach = [most + (most > 1 and f.text(pool[i]).startswith("sqrt(")) for i in atoms]  # of K*sqrt(K)
            for powers in itertools.product(*(range(-n, n + 1) for n in reach)):
                if sum(map(abs, powers)) > 5:
                    continue
                used = [(i, n) for i, n in zip(atoms, powers, strict=True) if n]
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of atoms that are 0 somewhere
                    base = np.prod([each[i] ** n for i, n in used], axis=0, initial=1.0)
                if not np.all(np.isfinite(base)):
                    continue
                for extra, beside in more:
                    value = np.prod([each[i] for i in beside], axis=0, initial=1.0) * base
                    found.append((sum(map(abs, powers)) + extra, value, used + [(i, 1) for i in beside]))
            lengths, values, factors = zip(*found, strict=True)
            shape = len(found), len(settings)
            self._made = np.array(lengths), np.array([np.broadcast_to(v, shape[1:]) for v in values]), [*factors]
        return self._made

    def _half_way(self, p: Any) -> Element | None:
        """2*a - b, of a difference a - b; None of anything else."""
        signs = [c > 0 for _, c in p.terms()]
        if len(signs) != 2 or signs[0] == signs[1]:
            return None
        return self.problem.field.inner.field_new(p.ring.from_dict({m: 2 * c if c > 0 else c for m, c in p.terms()}))

    def _pool(self) -> tuple[list[Element], list[str]]:
        if self._kept is None:
            f = self.problem.field
            used: set[int] = set()
            factors: dict[Any, None] = {}
            for terms in self._forms():
                if set(terms) <= {()} and terms is not self.problem.goal:
                    continue
                for c in terms.values():
                    for p in (c.numer, c.denom):
                        for m in p:
                            used |= {i for i, n in enumerate(m) if n}
            below: dict[Any, None] = {}
            for c in self.problem.goal.values():
                for p in (c.numer, c.denom):
                    for q, _ in f.factors(p)[1]:
                        if len(q) > 1 and len(q) <= 4:
                            factors.setdefault(q, None)
                            if p is c.denom:
                                below.setdefault(q, None)
            for m in self.problem.multiples:
                if set(m.terms) == {()}:  # what is known of numbers
                    for q, _ in f.factors(m.terms[()].numer)[1]:
                        if 1 < len(q) <= 4:
                            factors.setdefault(q, None)
            for m in self.problem.multiples:
                for key in m.terms:
                    for p in (m.terms[key].numer, m.terms[key].denom):
                        if 1 < len(p) <= 3 and len(factors) < 10:
                            for q, _ in f.factors(p)[1]:
                                if len(q) > 1:
                                    factors.setdefault(q, None)
            gens = f.inner.gens
            pool = [gens[i] for i in sorted(used - self.problem.choices)]
            kinds = ["atom"] * len(pool)
            for q in factors:
                if any(m[i] for m in q for i in self.problem.choices):
                    continue
                e = f.inner.field_new(q)
                signs = {np.sign(f.value(e, s)) for s in self.problem.settings}
                if signs <= {0.0, 1.0}:
                    pool.append(e)
                    kinds.append("factor")
                elif signs <= {0.0, -1.0}:
                    pool.append(-e)
                    kinds.append("factor")
                if q in below and 0.0 not in signs and len(signs) == 1:
                    pool.append(1 / pool[-1])
                    kinds.append("inverse")
            if kinds.count("factor") <= _FEW:  # of 1 - a the half way to 1, by which a square of a sum is split
                for e in [e for e, kind in zip(pool, kinds, strict=True) if kind == "factor"]:
                    half = self._half_way(e.numer)
                    if half is not None and half not in pool:
                        pool.append(half)
                        kinds.append("half way")
            self._kept = (pool, kinds)
        return self._kept
