"""Lost constants, factors and terms: where the right side is linear, its best constant is read off known instances.

The right side is a sum of terms. What each contributes on an instance is measured once, by the claim without it; a
constant or a factor of parameters at one of them is then arithmetic on all known instances at once. The least constant
that they allow, rounded up to a simple number, makes a candidate, which has to stand elsewhere too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, zip_longest
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.derivation.search.settings import worth
from theory.formula import Name, Number
from theory.sentence import applied, everything, parse_expression, text_of
from validate.instances.longer import has_rounds
from validate.instances.pool import Drawn
from validate.instances.seen import Seen
from validate.instances.units import ONE, Units, units_of
from validate.repairs.candidates import (
    COST,
    Candidate,
    Edit,
    Kind,
    applies,
    conflicts,
    numbers_alone,
    place,
    texts,
)
from validate.repairs.known import Known, numbers
from validate.repairs.monomials import OF_ROUNDS, SIMPLE, Monomial, scaled
from validate.repairs.terms import Term, terms_of, with_term

INSTANCES = 24
"""On which contributions are measured."""
FEWEST = 8
"""Of them, however long it takes."""
EXTREME = Fraction(1000)
"""Times a constant: what breaks a claim with that, no constant mends."""
CLOSE = 1e-9
"""Of both sides, within which they count as the same."""
EXTRA = 0.25
"""By how much farther a factor is with a larger constant."""
MORE = 0.5
"""By how much farther each more constant, or name, is."""
POWER = 0.05
"""By how much farther a factor is for each power, but of a logarithm, which is what is lost most easily."""
LONGEST = 0.02
"""By how much farther a constant is for each doubling."""
BESIDE, STRANGE = 0.1, 0.1
"""By how much farther a factor that units ask for is with a constant that says more, and where no other term has it."""


@dataclass
class Table:
    """What the terms of a claim contribute on known instances.

    Attributes:
        candidate: the claim, and the edits that made it.
        terms: of its right side.
        names: of its parameters.
        units: of its names.
        told: whether they are asked.
        rows: left side, right side, contributions, values; for each index of each instance.
    """

    candidate: Candidate
    terms: list[Term]
    names: list[str]
    units: Units
    told: bool = True
    rows: list[tuple[float, float, list[float], dict[str, float]]] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    kept: list[Drawn] = field(default_factory=list)

    @cached_property
    def logarithms(self) -> tuple[str, ...]:
        """Those that a sum over rounds leaves behind, and those of parameters that the claim has already."""
        claim = self.candidate.claim
        trees = [part for _, tree in texts(claim) for part in everything(tree)]
        own = [text_of(part) for part in trees if applies(part, "log") and numbers_alone(part, claim)]
        return tuple(dict.fromkeys([*OF_ROUNDS, *own]))

    @cached_property
    def untold(self) -> bool:
        """Whether the units of the algorithm contradict each other already, so that they say nothing of a factor."""
        return bool(self.units.conflicts) and not self.contradict

    def learn(self, known: Known, until: float) -> None:
        """Measure the instances that are not in it yet, up to a process time."""
        half = INSTANCES // 2
        for one in chain(*zip_longest(known.against[:half], known.others[:half])):
            if len(self.read) >= FEWEST and time.process_time() > until:
                return
            if one is not None and id(one) not in self.read:
                self.read.add(id(one))
                self.kept.append(one)
                self.rows += self._measured(one, known)

    def _measured(self, one: Drawn, known: Known) -> Iterator[Any]:
        claim = self.candidate.claim
        base = known.measure(claim, one)
        if base is None:
            return
        without = []
        for term in self.terms:
            made = with_term(claim, term, applied("*", (Number(Fraction(0)), term.node)))
            without.append(None if made is None else known.measure(made, one))
        values = {name: float(v) for name, v in numbers(one, [*self.names, "N", "d", "K"]).items()}
        if has_rounds(claim):
            values.setdefault("K", float(one.instance.rounds))
        for text in self.logarithms:
            with suppress(ValueError):
                values[text] = worth(parse_expression(text), values, claim.definitions)
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
            for name in (*self.names, "N", "d", "K", *self.logarithms)
        }
        yield from self._at_several(left, right, sign, farthest)
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
                alone_ = with_term(self.candidate.claim, term, new)
                if alone_ is not None and not _conflicts(alone_):
                    yield self._asked(alone_, [words], m)
                again = with_term(made, term, new)
                fewer = left if again is None else _conflicts(again)
                if again is not None and fewer < left:
                    made, left = again, fewer
                    changed.append(words)
            if len(changed) > 1 and not left:
                yield self._asked(made, changed, m)

    def _asked(self, claim: Claim, changed: list[str], m: Monomial) -> Candidate:
        farther = 0.25 * (len(changed) - 1) + POWER * sum(abs(float(p)) for _, p in m.powers) + self._strange(m)
        return Candidate(claim, (*self.candidate.edits, Edit("units", "; ".join(changed), farther)))

    def _at_several(self, left: Any, right: Any, sign: float, farthest: float) -> Iterator[tuple[float, Candidate]]:
        """Several constants at once, by the least change in all that the rows allow, where one does not do."""
        if len(self.terms) < 2 or self.contradict or self.candidate.claim.sentence.relation == "==":
            return
        parts_ = sign * np.array([row[2] for row in self.rows])
        factors = least_factors(left, right, parts_)
        changed = [] if factors is None else [i for i, c in enumerate(factors) if c != 1]
        farther = MORE * (len(changed) - 1)
        if factors is None or len(changed) < 2 or self.candidate.distance + COST["constant"] + farther > farthest:
            return
        made: Claim | None = self.candidate.claim
        words = []
        for i in changed:
            term = self.terms[i]
            new = scaled(term.node, Monomial(), factors[i])
            made = None if made is None else with_term(made, term, new)
            words.append(f"{text_of(new)} for {text_of(term.node)}{place(term.where)}")
        if made is None:
            return
        about = " ".join(f"{self.terms[i].where} {self.terms[i].path}" for i in changed)
        edit = Edit("constant", "; ".join(words), farther, about)
        yield 1.0, Candidate(made, (*self.candidate.edits, edit))

    @cached_property
    def _monomials(self) -> list[Monomial]:
        """What a term may lack: one parameter where the units contradict each other, what has no unit where not."""
        known = {n for row in self.rows for n in row[3]} or set(self.names)
        names = [n for n in dict.fromkeys((*self.names, "N", "d", "K")) if n in known]
        some = [Monomial(((n, p),)) for n in names for p in map(Fraction, ("1", "-1", "2", "-2", "1/2", "-1/2"))]
        logs = [n for n in self.logarithms if any(row[3].get(n, 1) not in (0, 1) for row in self.rows)]
        some += [Monomial(((n, p),)) for n in logs for p in (Fraction(1), Fraction(1, 2))]
        for a, b in combinations(names, 2):
            some += [Monomial(((a, p), (b, q))) for p in map(Fraction, (1, -1)) for q in map(Fraction, (1, -1))]
        alone_ = self.untold or self.contradict
        return [Monomial(), *(m for m in some if (len(m.powers) == 1 if alone_ else self._plain(m)))]

    def _strange(self, m: Monomial) -> float:
        """How much farther it makes a factor that no term has: what is lost stands in those beside it, as a rule."""
        return 0.0 if any(name in self._named for name, _ in m.powers) else STRANGE

    @cached_property
    def _named(self) -> set[str]:
        """The names in the terms."""
        return {part.name for term in self.terms for part in everything(term.node) if isinstance(part, Name)}

    @cached_property
    def contradict(self) -> int:
        """How many places have units that contradict each other; 0 where they are not asked."""
        return _conflicts(self.candidate.claim) if self.told else 0

    def _plain(self, m: Monomial) -> bool:
        found = ONE
        for name, power in m.powers:
            if name not in (*self.logarithms, "N", "d", "K"):
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
            if m.powers and c < 1 and not added and not np.any(part < 0):  # it says more than with the printed constant
                farther = BESIDE if self.contradict else 0.0
            farther += self._strange(m) if self.contradict else 0.0
            farther += POWER * sum(abs(float(p)) for n, p in m.powers if n not in self.logarithms)
            farther += MORE if len(m.powers) > 1 else 0
            least = COST["term" if added else "constant" if not m.powers else "units" if self.contradict else "factor"]
            if self.candidate.distance + least + farther > farthest:
                continue
            new, most = (scaled(term.node, m, one) for one in (c, c * (EXTREME if c > 1 or added else 1 / EXTREME)))
            if added:
                new, most = (applied("+", (term.node, one)) for one in (new, most))
            made = with_term(self.candidate.claim, term, new)
            if made is None:
                continue
            if self.contradict and _conflicts(made):  # what has no unit changes none
                continue
            kind: Kind = "term" if added else "constant" if not m.powers else "units" if self.contradict else "factor"
            words = f"{text_of(new)} for {text_of(term.node)}{place(term.where)}"
            new_right = rest + float(c) * part
            with np.errstate(all="ignore"):
                room = np.abs(new_right - left) / (np.abs(left) + np.abs(new_right))
            room = room[np.isfinite(room)]
            edit = Edit(kind, words, farther, f"{term.where} {term.path} {m.powers} {added}")
            extreme = with_term(self.candidate.claim, term, most)
            yield float(np.mean(room)) if len(room) else 1.0, Candidate(made, (*self.candidate.edits, edit), extreme)

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


def least_factors(left: Any, right: Any, parts_: Any) -> list[Fraction] | None:
    """Factors of terms that add up to no less than a left side, of least change in all; None where there are none.

    What is positive throughout may grow, what is negative throughout may shrink, and the factors are simple numbers.

    Args:
        left: (rows,).
        right: (rows,), the sum of the terms, and what is none of them.
        parts_: (rows, terms).
    """
    from scipy.optimize import linprog

    good = np.isfinite(left) & np.isfinite(right) & np.isfinite(parts_).all(axis=1)
    left, right, parts_ = left[good], right[good], parts_[good]
    size = np.abs(left) + np.abs(right)
    left, right, parts_ = (x[size > 0] / (size[size > 0] if x.ndim == 1 else size[size > 0, None])
                           for x in (left, right, parts_))  # fmt: skip
    up, down = (parts_ >= 0).all(axis=0), (parts_ <= 0).all(axis=0)
    direction = np.where(up, 1.0, np.where(down, -1.0, 0.0))
    most = np.where(up, float(SIMPLE[-1]) - 1, 1 - float(SIMPLE[0]))
    found = linprog(
        np.ones(len(direction)), A_ub=-parts_ * direction, b_ub=right - left + CLOSE, bounds=[(0, m) for m in most]
    )
    if not found.success:
        return None
    factors = []
    for change, way in zip(found.x, direction, strict=True):
        c = 1 + way * change
        simple = [s for s in SIMPLE if (float(s) >= c - CLOSE if way > 0 else float(s) <= c + CLOSE)]
        factors.append(Fraction(1) if change < CLOSE or not way else simple[0 if way > 0 else -1])
    return factors


def table_of(candidate: Candidate, told: bool = True) -> Table:
    """An empty table for a claim; its units are asked where `told` says so."""
    claim = candidate.claim
    names = [s for s in claim.symbols if s == s.split("_")[0] or s in claim.domains]
    return Table(candidate, terms_of(claim), names, units_of(claim), told)
