"""A form as a sum of instances and squares, with multipliers that are rational functions of the parameters.

First in floats at several settings of the parameters: which instances and which vectors are needed at all. Then
exactly: the equations that are left are solved over the field of the parameters; what they leave free is chosen among
short products that lie, at every setting, between what it can be at least and at most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from theory.derivation.search.conic import Floats, Solution, solve
from theory.derivation.search.elimination import solutions, squares
from theory.derivation.search.field import Element
from theory.derivation.search.problem import Answer, Key, Problem, Terms, Work
from theory.derivation.search.products import ShortProducts

_ATTEMPTS = 5


def find(
    problem: Problem, judge: Callable[[Element], bool], divides: Callable[[Element], bool], work: Work
) -> Answer | None:
    """Multipliers and squares, exactly.

    Args:
        problem: which.
        judge: whether an element is shown not to be negative.
        divides: whether an element's denominator may stand below a line.
        work: how much may be done.

    Returns:
        None where none were found; `work.tried` says how far it got.
    """
    search = _Search(problem, judge, divides, work)
    return search.run()


Thing = TypeVar("Thing")


def needless(things: Sequence[Thing], enough: Callable[[Collection[Thing]], bool]) -> list[Thing]:
    """Those of some things that are left out in turn where what stays is enough: many at once where that will do.

    Args:
        things: first those that are to be left out first.
        enough: whether what stays is, without some of them; if it is, then also without fewer.

    Example:
        >>> needless("abcdefgh", lambda gone: not {"c", "h"} <= {*gone} and "e" not in gone)
        ['a', 'b', 'c', 'd', 'f', 'g']
    """
    gone: list[Thing] = []

    def leave_out(some: Sequence[Thing], one_stays: bool) -> bool:
        """Whether all of them are left out."""
        if not one_stays and enough([*gone, *some]):
            gone.extend(some)
            return True
        if len(some) == 1:
            return False
        half = len(some) // 2
        first = leave_out(some[:half], False)
        return leave_out(some[half:], first) and first

    if things:
        leave_out(things, False)
    return gone


class _Search(ShortProducts):
    def __init__(
        self, problem: Problem, judge: Callable[[Element], bool], divides: Callable[[Element], bool], work: Work
    ) -> None:
        self.problem, self.judge, self.divides, self.work = problem, judge, divides, work
        keys: dict[Key, int] = {}
        for terms in self._forms():
            for key in terms:
                keys.setdefault(key, len(keys))
        self.keys = keys
        self.floats: list[Floats] = []
        kept: list[tuple[float, ...]] = []
        for setting in problem.settings:
            try:
                self.floats.append(self._at(setting))
            except (ZeroDivisionError, OverflowError):
                continue
            kept.append(setting)
        self.problem = replace(problem, settings=tuple(kept))
        self.free = np.array([m.free for m in problem.multiples], bool)

    def _at(self, setting: Sequence[float]) -> Floats:
        p, f = self.problem, self.problem.field

        def column(terms: Terms) -> np.ndarray:
            found = np.zeros(len(self.keys))
            for key, c in terms.items():
                found[self.keys[key]] = f.value(c, setting)
            found[np.abs(found) < 1e-11] = 0.0  # rounding
            return found

        columns = np.array([column(m.terms) for m in p.multiples]).T.reshape(len(self.keys), len(p.multiples))
        blocks = []
        for b in p.blocks:
            n = len(b.vectors)
            entries = np.zeros((len(self.keys), n, n))
            for (i, j), terms in b.entries.items():
                value = column(terms)
                entries[:, i, j] = entries[:, j, i] = value
            blocks.append(entries)
        return Floats(column(p.goal), columns, np.array([m.free for m in p.multiples], bool), tuple(blocks))

    # --- in floats ---

    def solve(
        self,
        at: int,
        cost: np.ndarray,
        use: Sequence[bool],
        rows: Sequence[Sequence[bool]],
        fixed: Mapping[int, float] | None = None,
        trace: float = 1e-3,
    ) -> Solution | None:
        self.work.spend()
        return solve(self.floats[at], cost, use=use, rows=rows, fixed=fixed, trace=trace)

    def run(self) -> Answer | None:
        p = self.problem
        use = [True] * len(p.multiples)
        rows = [[True] * len(b.vectors) for b in p.blocks]
        cost = np.array([m.cost for m in p.multiples])
        first: list[Solution] = []
        if not self.floats:
            self.work.tried.append("what is known divides by 0 at every setting that is tried")
            return None
        without: list[int] = []
        for at in range(len(self.floats)):
            found = self.solve(at, cost, use, rows)
            if found is not None:
                first.append(found)
                continue
            without.append(at)
            if len(without) > 1 or not first:  # one of many may be too hard for floats
                self.work.tried.append(f"no multipliers at {self._words(at)}")
                return None
        for at in without:
            del self.floats[at]
            p = self.problem = replace(p, settings=(*p.settings[:at], *p.settings[at + 1 :]))
        seen: set[Any] = set()
        for attempt in range(_ATTEMPTS):
            few, vectors = self._sparse(use, rows, first, attempt)
            key = (tuple(few), tuple(map(tuple, vectors)))
            if key in seen:
                continue
            seen.add(key)
            names = [m.name for m, u in zip(p.multiples, few, strict=True) if u]
            self.work.tried.append("it can be a sum of squares and multiples of: " + ("; ".join(names) or "nothing"))
            answer = self._exactly(few, vectors, {})
            if answer is not None:
                return answer
        return None

    def _words(self, at: int) -> str:
        s = self.problem.settings[at]
        return ", ".join(f"{a} = {v:.4g}" for a, v in zip(self.problem.field.atoms, s, strict=False)) or "any setting"

    def _sparse(
        self, use: list[bool], rows: list[list[bool]], first: list[Solution], attempt: int
    ) -> tuple[list[bool], list[list[bool]]]:
        """Few multipliers, few vectors: reweighted, then one after another left out."""
        p = self.problem
        weight = np.zeros(len(use))
        cost = np.array([m.cost for m in p.multiples])
        if attempt:  # other preferences, the same ones every time
            cost = cost * np.exp(np.random.default_rng(attempt).normal(0.0, 1.0, len(cost)))
        for at, found in enumerate(first):
            best = found
            for _ in range(2):
                scale = np.abs(best.multipliers).max(initial=1e-12)
                new = self.solve(at, cost / (np.abs(best.multipliers) / scale + 1e-2), use, rows)
                if new is None:
                    break
                best = new
            size = np.abs(best.multipliers)
            weight = np.maximum(weight, size / max(size.max(initial=0.0), 1e-12))
        maybe = [bool(w > 1e-6) for w in weight]
        if self._all(maybe, rows):
            use = maybe
        # vectors that no square needs
        things: list[tuple[float, int, int]] = [
            ((1.0 if attempt else weight[j]) / cost[j], -1, j) for j in range(len(use)) if use[j]
        ]
        for b, some in enumerate(rows if not p.choices else ()):
            for i in range(len(some)):
                size = max(found.matrices[b][i, i] for found in first) if first else 0.0
                things.append((float(min(size, 1.0)) * 1e-3, b, i))

        def left(gone: Collection[tuple[int, int]]) -> tuple[list[bool], list[list[bool]]]:
            mine, others = list(use), [list(r) for r in rows]
            for b, i in gone:
                (mine if b < 0 else others[b])[i] = False
            return mine, others

        return left(needless([(b, i) for _, b, i in sorted(things)], lambda gone: self._all(*left(gone))))

    def _all(
        self, use: Sequence[bool], rows: Sequence[Sequence[bool]], fixed: Sequence[Mapping[int, float]] | None = None
    ) -> bool:
        cost = np.array([m.cost for m in self.problem.multiples])
        return all(
            self.solve(at, cost, use, rows, None if fixed is None else fixed[at]) is not None
            for at in range(len(self.floats))
        )

    # --- exactly ---

    def _exactly(
        self, use: Sequence[bool], rows: Sequence[Sequence[bool]], chosen: dict[int, Element], depth: int = 0
    ) -> Answer | None:
        p, f = self.problem, self.problem.field
        multipliers = [j for j, u in enumerate(use) if u]
        entries = [
            (b, i, j)
            for b, some in enumerate(rows)
            for i in range(len(some))
            for j in range(i, len(some))
            if some[i] and some[j]
        ]
        equations: dict[Key, tuple[dict[Any, Element], Element]] = {
            key: ({}, p.goal.get(key, f.inner.zero)) for key in self.keys
        }
        for j in multipliers:
            for key, c in p.multiples[j].terms.items():
                left, right = equations[key]
                if j in chosen:
                    equations[key] = (left, right - chosen[j] * c)
                else:
                    left[("y", j)] = c
        for b, i, j in entries:
            for key, c in p.blocks[b].entries[i, j].items():
                left = equations[key][0]
                left[("m", b, i, j)] = c * (1 if i == j else 2)
        unknowns = [("y", j) for j in multipliers if j not in chosen] + [("m", *e) for e in entries]
        family = solutions(
            equations.values(), unknowns, keep=[u for u in unknowns if u[0] == "y" and not p.multiples[u[1]].free]
        )
        if family is None:
            self.work.tried.append("the equations that are left have no solution in the parameters")
            return None
        # a square that does not occur takes its products with it
        gone = {e[:2] for e in entries if e[1] == e[2] and not any(family.values.get(("m", *e), (1, {})))}
        if gone:
            fewer = [[kept and (b, i) not in gone for i, kept in enumerate(some)] for b, some in enumerate(rows)]
            return self._exactly(use, fewer, chosen, depth)
        if not family.free:
            return self._checked({u: v[0] for u, v in family.values.items()}, multipliers, entries, chosen)
        open_ = [u[1] for u in family.free if u[0] == "y"]
        idle = {j: f.inner.zero for j in open_ if p.multiples[j].free}  # an equation that follows from others
        if idle:
            return self._exactly(use, rows, {**chosen, **idle}, depth)
        if any(u[0] == "m" for u in family.free):
            values = {u: (v[0], v[1]) for u, v in family.values.items()}
            zero = {u: f.inner.zero for u in family.free if u[0] == "m"}
            if not open_:
                return self._checked({**{u: v[0] for u, v in values.items()}, **zero}, multipliers, entries, chosen)
        if depth > 6:
            return None
        return self._choose(open_, use, rows, chosen, depth)

    def _choose(
        self,
        open_: Sequence[int],
        use: Sequence[bool],
        rows: Sequence[Sequence[bool]],
        chosen: dict[int, Element],
        depth: int,
    ) -> Answer | None:
        """Fix one of the multipliers that are free, by a short product between its least and its greatest value."""
        p = self.problem
        known = [{j: p.field.value(e, s) for j, e in chosen.items()} for s in p.settings]
        tried = 0
        ranges = {j: self._range(j, use, rows, known) for j in open_}
        for j in sorted(open_, key=lambda j: _width(ranges[j])):  # that first of which least is left open
            ends = ranges[j]
            for value in self._between(ends):
                tried += 1
                if tried > 12:
                    return None
                given = {**chosen, j: value}
                fixed = [{i: p.field.value(e, s) for i, e in given.items()} for s in p.settings]
                if not self._all(use, rows, fixed):
                    continue
                answer = self._exactly(use, rows, given, depth + 1)
                if answer is not None:
                    return answer
            between = f"from {ends[0][0]:.6g} to {ends[0][1]:.6g} at {self._words(0)}"
            self.work.tried.append(f"no short product is the multiplier of {p.multiples[j].name}: {between}")
        return None

    def _range(
        self, j: int, use: Sequence[bool], rows: Sequence[Sequence[bool]], known: Sequence[Mapping[int, float]]
    ) -> list[tuple[float, float]]:
        """The least and the greatest value of a multiplier at each setting."""
        ends = []
        for at in range(len(self.floats)):
            down, up = np.zeros(len(use)), np.zeros(len(use))
            down[j], up[j] = 1.0, -1.0
            low = self.solve(at, down, use, rows, known[at], trace=0.0)
            high = self.solve(at, up, use, rows, known[at], trace=0.0)
            a = 0.0 if low is None else float(low.multipliers[j])  # None at an end of what is feasible: by rounding
            ends.append((a, np.inf if high is None else float(high.multipliers[j])))
        return ends

    def _checked(
        self,
        values: Mapping[Any, Element],
        multipliers: Sequence[int],
        entries: Sequence[Any],
        chosen: Mapping[int, Element],
    ) -> Answer | None:
        p, f = self.problem, self.problem.field
        zero = f.inner.zero
        ys = {j: chosen[j] if j in chosen else values.get(("y", j), zero) for j in multipliers}
        for j, y in ys.items():
            if not p.multiples[j].free and y and not self._believed(y):
                self.work.tried.append(f"the multiplier {f.text(y)} of {p.multiples[j].name} may be negative")
                return None
        pieces: list[tuple[int, Element, Mapping[int, Element]]] = []
        for b, block in enumerate(p.blocks):
            n = len(block.vectors)
            matrix = [[zero] * n for _ in range(n)]
            for e in entries:
                if e[0] == b:
                    matrix[e[1]][e[2]] = matrix[e[2]][e[1]] = values.get(("m", *e), zero)
            found = squares(matrix, lambda e: self._believed(e) and self.judge(e), self.divides, zero)
            if found is None:
                shown = [[f.text(e) for e in row] for row in matrix if any(row)]
                self.work.tried.append(f"the rest is not shown to be a sum of squares: {shown}")
                return None
            pieces += [(b, factor, vector) for factor, vector in found]
        for j, y in ys.items():
            if not p.multiples[j].free and y and not self.judge(y):
                self.work.tried.append(
                    f"the multiplier {f.text(y)} of {p.multiples[j].name} is not shown to be at least 0"
                )
                return None
        return Answer({j: y for j, y in ys.items() if y}, tuple(pieces))

    def _believed(self, e: Element) -> bool:
        try:
            return all(self.problem.field.value(e, s) >= -1e-9 for s in self.problem.settings)
        except ZeroDivisionError:
            return False


def _width(ends: Sequence[tuple[float, float]]) -> float:
    """How much is left open, at most 1."""
    return float(
        np.mean([1.0 if not np.isfinite(high) or high <= 0 else 1.0 - max(low, 0.0) / high for low, high in ends])
    )
