"""Lost constants, factors and terms: where the right side is linear, its best constant is read off known instances.

The right side is a sum of terms. What each contributes on an instance is measured once, by the claim without it; a
constant or a factor of parameters at one of them is then arithmetic on all known instances at once. The least constant
that they allow, rounded up to a simple number, makes a candidate, which has to stand elsewhere too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import OVER, Expression, applied, everything, parse_expression, parts, text_of
from validate.audit.units import ONE, Units, units_of
from validate.instances.pool import Drawn
from validate.instances.seen import Seen
from validate.mutate.neighbours import Path, put
from validate.repairs.edits import (
    COST,
    Candidate,
    Edit,
    Kind,
    changed_to,
    conflicts,
    place,
    put_in,
    subject,
    without_ones,
)
from validate.repairs.known import Known, numbers, on

SIMPLE = tuple(
    sorted({*(Fraction(n) for n in (1, 2, 3, 4, 6, 8, 12, 16)), Fraction(3, 2),
            *(Fraction(1, n) for n in (2, 3, 4, 6, 8, 12, 16)), Fraction(2, 3), Fraction(3, 4)})
)  # fmt: skip
"""Constants that an author writes."""
INSTANCES = 24
"""On which contributions are measured."""
CLOSE = 1e-9
"""Of both sides, within which they count as the same."""
TERMS = 10
"""Terms of a right side, beyond which the rest are left as they are."""
EXTRA = 0.25
"""By how much farther a factor is with a constant."""
LONGEST = 0.02
"""By how much farther a constant is for each doubling."""


@dataclass(frozen=True)
class Term:
    """A part in which the right side is linear.

    Attributes:
        where: ``right``, or the name of a definition.
        path: the way to it there.
        node: the part.
    """

    where: str
    path: Path
    node: Expression


def terms_of(claim: Claim) -> list[Term]:
    """The terms of the right side, those of definitions that it speaks of once among them."""
    counts: dict[str, int] = {}
    kept = subject(claim)
    for tree in (*claim.sentence.sides, *map(parse_expression, claim.where.values())):
        for part in everything(tree):
            if isinstance(part, Name):
                counts[part.name] = counts.get(part.name, 0) + 1
    found: list[Term] = []

    def go(where: str, tree: Expression, path: Path, added: bool) -> None:
        if isinstance(tree, Apply) and tree.operation in ("+", "-", "neg"):
            for i, part in enumerate(parts(tree)):
                go(where, part, (*path, i), True)
            return
        if added and not (isinstance(tree, Number) and tree.value == 0):
            found.append(Term(where, path, tree))
        if isinstance(tree, Name) and tree.name in claim.where and tree.name not in kept and counts[tree.name] == 1:
            inner = parse_expression(claim.where[tree.name])
            if _has_sum(inner):
                go(tree.name, inner, (), False)
            return
        if not isinstance(tree, Apply) or (tree.operation not in ("*", "/", "E") and not _adds(tree.operation)):
            return
        for i in range(2) if tree.operation == "*" else range(1):
            part = parts(tree)[i]
            if _has_sum(part) or (isinstance(part, Name) and part.name in claim.where):
                go(where, part, (*path, i), False)

    go("right", claim.sentence.right, (), True)
    return found[:TERMS]


def _adds(operation: str) -> bool:
    return operation in OVER and OVER[operation][0] in ("sum", "mean")


def _has_sum(tree: Expression) -> bool:
    if not isinstance(tree, Apply):
        return False
    inner = parts(tree)[: 1 if tree.operation == "/" else 2]
    return tree.operation in ("+", "-") or (tree.operation in ("*", "/", "neg") and any(map(_has_sum, inner)))


def _with(claim: Claim, term: Term, new: Expression) -> Claim | None:
    tree = claim.sentence.right if term.where == "right" else parse_expression(claim.where[term.where])
    return changed_to(claim, put_in(claim, term.where, put(tree, term.path, new)))


@dataclass(frozen=True)
class Monomial:
    """Parameters to powers.

    Attributes:
        powers: by name.
    """

    powers: tuple[tuple[str, Fraction], ...] = ()

    @property
    def tree(self) -> Expression:
        """As a formula."""
        over: Expression | None = None
        under: Expression | None = None
        for name, power in self.powers:
            one = _power(SPECIAL.get(name, Name(name)), abs(power))
            if power > 0:
                over = one if over is None else applied("*", (over, one))
            else:
                under = one if under is None else applied("*", (under, one))
        first = over or Number(Fraction(1))
        return first if under is None else applied("/", (first, under))

    def values(self, columns: Mapping[str, Any]) -> Any:
        """On all rows; nan where a parameter has no value."""
        found: Any = 1.0
        for name, power in self.powers:
            found = found * columns[name] ** float(power)
        return found


SPECIAL: dict[str, Expression] = {"1 + log(K)": parse_expression("(1 + log(K))"), "log(K)": parse_expression("log(K)")}
"""Factors that a sum over rounds leaves behind."""


def _power(tree: Expression, power: Fraction) -> Expression:
    if power == 1:
        return tree
    if power == Fraction(1, 2):
        return applied("sqrt", (tree,))
    return applied("**", (tree, Number(power)))


def scaled(term: Expression, m: Monomial, c: Fraction) -> Expression:
    """A term times a constant and parameters; what is divided by a factor that it has loses it."""
    for name, power in m.powers:
        less = divided(term, Name(name), -power) if name not in SPECIAL and power < 0 else None
        if less is not None:
            return scaled(less, Monomial(tuple(pair for pair in m.powers if pair[0] != name)), c)
    over = [(n, p) for n, p in m.powers if p > 0]
    under = [(n, -p) for n, p in m.powers if p < 0]
    found = times(term, c)
    if over:
        found = applied("*", (found, Monomial(tuple(over)).tree))
    if under:
        found = applied("/", (found, Monomial(tuple(under)).tree))
    return found


def divided(tree: Expression, factor: Expression, power: Fraction) -> Expression | None:
    """A product without a factor to a power; None where it has not got it."""
    if tree == factor and power == 1:
        return Number(Fraction(1))
    if not isinstance(tree, Apply):
        return None
    first = parts(tree)[0]
    if tree.operation == "**" and first == factor and isinstance(parts(tree)[1], Number):
        left = parts(tree)[1].value - power  # type: ignore[union-attr]
        return None if left < 0 else without_ones(_power(first, left)) if left else Number(Fraction(1))
    for i in {"*": (0, 1), "/": (0,)}.get(tree.operation, ()):
        less = divided(parts(tree)[i], factor, power)
        if less is not None:
            inner = [*parts(tree)]
            inner[i] = less
            return without_ones(applied(tree.operation, tuple(inner)))
    return None


def times(tree: Expression, c: Fraction) -> Expression:
    """A tree times a number, which goes into the numbers that it has already."""
    if c == 1:
        return tree
    if isinstance(tree, Number):
        return Number(tree.value * c)
    if isinstance(tree, Apply) and tree.operation in ("*", "/"):
        first, second = parts(tree)
        if tree.operation == "/" and isinstance(first, Number) and isinstance(_leading(second), Number):
            whole = first.value * c / _leading(second).value  # type: ignore[union-attr]
            rest = times(second, whole.denominator / _leading(second).value)  # type: ignore[union-attr]
            return applied("/", (Number(Fraction(whole.numerator)), rest))
        if tree.operation == "/" and isinstance(second, Number):
            return times(first, c / second.value)
        if isinstance(_leading(first), Number):
            return applied(tree.operation, (times(first, c), second))
    if c.numerator == 1:
        return applied("/", (tree, Number(Fraction(c.denominator))))
    over = applied("*", (Number(Fraction(c.numerator)), tree))
    return over if c.denominator == 1 else applied("/", (over, Number(Fraction(c.denominator))))


def _leading(tree: Expression) -> Expression:
    while isinstance(tree, Apply) and tree.operation in ("*", "/"):
        tree = parts(tree)[0]
    return tree


@dataclass
class Table:
    """What the terms of a claim contribute on known instances.

    Attributes:
        candidate: the claim, and the edits that made it.
        terms: of its right side.
        names: of its parameters.
        units: of its names.
        rows: left side, right side, contributions, values; for each index of each instance.
    """

    candidate: Candidate
    terms: list[Term]
    names: list[str]
    units: Units
    rows: list[tuple[float, float, list[float], dict[str, float]]] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    kept: list[Drawn] = field(default_factory=list)

    @cached_property
    def untold(self) -> bool:
        """Whether the units of the algorithm contradict each other already, so that they say nothing of a factor."""
        return bool(self.units.conflicts) and not self.contradict

    def learn(self, known: Known) -> None:
        """Measure the instances that are not in it yet."""
        for one in (*known.against[: INSTANCES // 2], *known.others[: INSTANCES // 2]):
            if id(one) not in self.read:
                self.read.add(id(one))
                self.kept.append(one)
                self.rows += self._measured(one, known.claim)

    def _measured(self, one: Drawn, printed: Claim) -> Iterator[Any]:
        claim = self.candidate.claim
        base = on(claim, printed, one)
        if base is None:
            return
        without = []
        for term in self.terms:
            made = _with(claim, term, applied("*", (Number(Fraction(0)), term.node)))
            without.append(None if made is None else on(made, printed, one))
        values = {name: float(v) for name, v in numbers(one, [*self.names, "N", "d", "K"]).items()}
        values.setdefault("K", float(one.instance.rounds))
        if values["K"] > 0:
            values["1 + log(K)"], values["log(K)"] = 1 + float(np.log(values["K"])), float(np.log(values["K"]))
        by = [_by_index(other) for other in without]
        for row in base.measured.rows:
            if row.left is None or row.right is None or row.probability not in (None, 1):
                continue
            key = (tuple(row.at.items()), row.minimiser)
            right = _float(row.right)
            less = [
                right - _float(rows[key].right) if key in rows and rows[key].right is not None else np.nan
                for rows in by
            ]
            yield _float(row.left), right, less, values

    def candidates(self, farthest: float) -> Iterator[tuple[float, Candidate]]:
        """What the rows allow, with the room that is left, on average.

        Args:
            farthest: distance.
        """
        if not self.rows or not self.terms:
            return
        relation = self.candidate.claim.sentence.relation
        sign = -1.0 if relation in (">=", ">") else 1.0
        left = sign * np.array([row[0] for row in self.rows])
        right = sign * np.array([row[1] for row in self.rows])
        columns: dict[str, Any] = {
            name: np.array([row[3].get(name, np.nan) for row in self.rows])
            for name in (*self.names, "N", "d", "K", *SPECIAL)
        }
        for i, term in enumerate(self.terms):
            part = sign * np.array([row[2][i] for row in self.rows])
            for m in self._monomials:
                with np.errstate(all="ignore"):
                    by = part * m.values(columns)
                    yield from self._at(term, m, left, right - part, by, farthest)
                    if m.powers:
                        yield from self._at(term, m, left, right, by, farthest, added=True)

    def in_units(self) -> Iterator[Candidate]:
        """One factor of parameters at one term, or at all whose units ask for it, so that none contradict."""
        most = self.contradict
        for m in self._monomials if most else ():
            if not m.powers:
                continue
            made, changed, left = self.candidate.claim, list[str](), most
            for term in self.terms:
                new = scaled(term.node, m, Fraction(1))
                words = f"{text_of(new)} for {text_of(term.node)}{place(term.where)}"
                alone_ = _with(self.candidate.claim, term, new)
                if alone_ is not None and not _conflicts(alone_):
                    yield self._asked(alone_, [words], m)
                again = _with(made, term, new)
                fewer = left if again is None else _conflicts(again)
                if again is not None and fewer < left:
                    made, left = again, fewer
                    changed.append(words)
            if len(changed) > 1 and not left:
                yield self._asked(made, changed, m)

    def _asked(self, claim: Claim, changed: list[str], m: Monomial) -> Candidate:
        farther = 0.25 * (len(changed) - 1) + 0.05 * sum(abs(float(p)) for _, p in m.powers)
        return Candidate(claim, (*self.candidate.edits, Edit("units", "; ".join(changed), farther)))

    @cached_property
    def _monomials(self) -> list[Monomial]:
        """What a term may lack: one parameter where the units contradict each other, what has no unit where not."""
        known = {n for row in self.rows for n in row[3]} or set(self.names)
        names = [n for n in dict.fromkeys((*self.names, "N", "d", "K")) if n in known]
        some = [Monomial(((n, p),)) for n in names for p in map(Fraction, ("1", "-1", "2", "-2", "1/2", "-1/2"))]
        if "K" in names and any(row[3]["K"] > 1 for row in self.rows):
            some += [Monomial(((n, p),)) for n in SPECIAL for p in (Fraction(1), Fraction(1, 2))]
        for a, b in combinations(names, 2):
            some += [Monomial(((a, p), (b, q))) for p in map(Fraction, (1, -1)) for q in map(Fraction, (1, -1))]
        alone_ = self.untold or self.contradict
        return [Monomial(), *(m for m in some if (len(m.powers) == 1 if alone_ else self._plain(m)))]

    @cached_property
    def contradict(self) -> int:
        """How many places have units that contradict each other."""
        return _conflicts(self.candidate.claim)

    def _plain(self, m: Monomial) -> bool:
        found = ONE
        for name, power in m.powers:
            if name not in (*SPECIAL, "N", "d", "K"):
                found = found * self.units.of(name).to(power)
        return self.units.reduced(found) == ONE

    def _at(
        self,
        term: Term,
        m: Monomial,
        left: Any,
        rest: Any,
        part: Any,
        farthest: float,
        added: bool = False,
    ) -> Iterator[tuple[float, Candidate]]:
        """The constants that the rows allow for a part, with what is left of the right side without it."""
        for c in self._constants(left, rest, part, bool(m.powers) and not added):
            if not m.powers and c == 1:
                continue
            farther = LONGEST * abs(float(np.log2(float(c)))) + (EXTRA if m.powers and c != 1 else 0)
            farther += 0.05 * sum(abs(float(p)) for _, p in m.powers) + (0.5 if len(m.powers) > 1 else 0)
            least = COST["term" if added else "constant" if not m.powers else "units" if self.contradict else "factor"]
            if self.candidate.distance + least + farther > farthest:
                continue
            new = scaled(term.node, m, c)
            if added:
                new = applied("+", (term.node, new))
            made = _with(self.candidate.claim, term, new)
            if made is None:
                continue
            if _conflicts(made):
                continue
            kind: Kind = "term" if added else "constant" if not m.powers else "units" if self.contradict else "factor"
            words = f"{text_of(new)} for {text_of(term.node)}{place(term.where)}"
            new_right = rest + float(c) * part
            with np.errstate(all="ignore"):
                room = np.abs(new_right - left) / (np.abs(left) + np.abs(new_right))
            room = room[np.isfinite(room)]
            edit = Edit(kind, words, farther, f"{term.where} {term.path} {m.powers} {added}")
            yield float(np.mean(room)) if len(room) else 1.0, Candidate(made, (*self.candidate.edits, edit))

    def _constants(self, left: Any, rest: Any, part: Any, as_it_is: bool) -> list[Fraction]:
        size = np.abs(left) + np.abs(rest)
        good = np.isfinite(left) & np.isfinite(rest) & np.isfinite(part)
        left, rest, part, size = left[good], rest[good], part[good], size[good]
        if not len(left):
            return []
        missing = left - rest
        flat = np.abs(part) <= CLOSE * size
        if self.candidate.claim.sentence.relation == "==":
            if np.any(np.abs(missing[flat]) > CLOSE * size[flat]) or np.all(flat):
                return []
            each = missing[~flat] / part[~flat]
            if np.ptp(each) > 1e-6 * abs(each[0]):
                return []
            exact = Fraction(float(each[0])).limit_denominator(100)
            return [exact] if exact and abs(float(exact) - each[0]) < 1e-6 * abs(each[0]) else []
        if np.any(missing[flat] > CLOSE * size[flat]):
            return []
        up, down = (part > 0) & ~flat, (part < 0) & ~flat
        least = float(np.max(missing[up] / part[up], initial=0.0))
        most = float(np.min(missing[down] / part[down], initial=np.inf))
        fitting = [c for c in SIMPLE if least * (1 - CLOSE) <= float(c) <= most * (1 + CLOSE)]
        if not fitting:
            return []
        if not np.any(up) and np.any(down):
            fitting = fitting[::-1]
        return [*dict.fromkeys([*([Fraction(1)] if as_it_is and Fraction(1) in fitting else []), fitting[0]])]


def _conflicts(claim: Claim) -> int:
    """How many places have units that contradict each other; many where that cannot be told."""
    try:
        return conflicts(claim)
    except (ValueError, KeyError, AssertionError):
        return 1000


def _by_index(seen: Seen | None) -> dict[Any, Any]:
    return {} if seen is None else {(tuple(row.at.items()), row.minimiser): row for row in seen.measured.rows}


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("nan")


def table_of(candidate: Candidate) -> Table:
    """An empty table for a claim."""
    claim = candidate.claim
    names = [s for s in claim.symbols if s == s.split("_")[0] or s in claim.domains]
    return Table(candidate, terms_of(claim), names, units_of(claim))
