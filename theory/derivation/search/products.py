"""Short products of atoms, and of factors that occur, as guesses of multipliers that are left open."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.derivation.search.field import Element
from theory.derivation.search.problem import Problem


class ShortProducts:
    """Of what occurs in a problem."""

    problem: Problem
    _kept: tuple[list[Element], list[str]] | None = None

    def _forms(self) -> Any:
        yield self.problem.goal
        for m in self.problem.multiples:
            yield m.terms
        for b in self.problem.blocks:
            yield from b.entries.values()

    def _between(self, ends: Sequence[tuple[float, float]]) -> Any:
        """Short products of atoms, and of factors that occur in the forms, that lie between; the simplest first."""
        f = self.problem.field
        low = np.array([e[0] for e in ends])
        high = np.array([e[1] for e in ends])
        slack = 2e-5 * np.maximum(1e-9, np.abs(low))
        pool, roles = self._pool()
        settings = self.problem.settings
        values = {i: np.array([f.value(e, s) for s in settings]) for i, e in enumerate(pool)}
        atoms = [i for i, (e, kind) in enumerate(zip(pool, roles, strict=True)) if kind == "atom"]
        others = [i for i in values if i not in atoms]
        numbers = [
            Fraction(c) for c in ("1", "2", "4", "1/2", "1/4", "3", "6", "8", "3/2", "1/3", "2/3", "1/8", "12", "16")
        ]
        found: list[tuple[float, Element]] = []
        most = 2 if len(atoms) <= 5 else 1
        for powers in itertools.product(range(-most, most + 1), repeat=len(atoms)):
            if sum(map(abs, powers)) > 5:
                continue
            base = np.ones(len(settings))
            for i, n in zip(atoms, powers, strict=True):
                if n:
                    base = base * values[i] ** n
            if not np.all(np.isfinite(base)):
                continue
            more: list[tuple[float, np.ndarray, tuple[int, ...]]] = [(0.0, base, ())]
            more += [(1.5, base * values[i], (i,)) for i in others]
            more += (
                [(3.0, base * values[i] * values[j], (i, j)) for i, j in itertools.combinations(others, 2)]
                if len(others) <= 6
                else []
            )
            for extra, value, used in more:
                for rank, c in enumerate(numbers):
                    worth = float(c) * value
                    if np.all(worth >= low - slack - 1e-9 * np.abs(worth)) and np.all(
                        worth <= high * (1 + 2e-5) + slack
                    ):
                        e = f.number(c)
                        for i, n in zip(atoms, powers, strict=True):
                            if n:
                                e = e * pool[i] ** n
                        for i in used:
                            e = e * pool[i]
                        found.append((sum(map(abs, powers)) + extra + 0.3 * rank, e))
        for _, e in sorted(found, key=lambda t: t[0]):
            yield e

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
            for c in self.problem.goal.values():
                for p in (c.numer, c.denom):
                    for q, _ in f.factors(p)[1]:
                        if len(q) > 1 and len(q) <= 4:
                            factors.setdefault(q, None)
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
            self._kept = (pool, kinds)
        return self._kept
