"""How sharp is the check? Mutants of a claim: which are false, and which of these the ordinary check refutes.

Two parties look at each mutant. The *check* has what `validate.checking` has: the paper's own instances, the smallest
suspect recomputed in fractions, a certificate that the stand-alone verifier accepts. The *oracle* has instances of its
own, drawn at random and then moved towards those that come nearest to breaking the mutant; its breaks are exact too,
and the check is not told of them. A mutant is false when either has an exact instance against it, and killed when the
check has. The rate among those that the oracle found measures the check without regard to what it found by itself.

Of claims that say what they mean, the same is done by `validate.mutate.judged`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from theory.catalog import claim as find_claim
from theory.catalog import paper as find_paper
from theory.claim import Claim
from theory.formula import names_in, parse_relation
from theory.written import Claim as Written
from validate import certificate as certificates
from validate import papers as measured
from validate import verifier
from validate.falsify import CasesOf, Counterexample, rounds_certificate
from validate.mutate import probe
from validate.mutate.findings import (
    IRRATIONAL,
    NOWHERE,
    ROUNDED,
    UNBROKEN,
    UNCERTIFIED,
    Finding,
    MutationReport,
    kill_rate,
    summary,
)
from validate.mutate.judged import judged
from validate.mutate.mutants import Mutant, mutants, scaled, terms
from validate.mutate.oracle import FULL, MOST_SUSPECTS, QUICK, Oracle, weaker
from validate.mutate.tables import (
    Exact,
    Instance,
    Record,
    Suspect,
    Table,
    bounds_its_cases,
    computed,
    recorded,
    refute,
    tabulated,
    without,
    without_exact_sides,
)
from validate.scenario import Spec
from validate.survey import pool_of

__all__ = ["Finding", "Mutant", "MutationReport", "kill_rate", "mutants", "mutate", "mutate_all", "summary"]

Progress = Callable[[str], None]
TRIES = 40  # suspects that are recomputed in fractions, as in `validate.falsify.smallest`


def mutate(
    target: str | Written,
    *,
    quick: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> MutationReport:
    """The mutants of a claim, which are false, and which of these the check refutes.

    Args:
        target: a claim that says what it means, or the id of any claim with a right side.
        quick: fewer mutants (evenly over the kinds), fewer instances on both sides.
        seed: of the oracle.
        out: folder for the certificates; None writes none (they are verified all the same).
        progress: called with one line of text.

    Raises:
        ValueError: for an unknown claim, or one without right side.
    """
    claim = find_claim(target) if isinstance(target, str) else target
    if isinstance(claim, Written):
        return _judged(claim, quick, seed, out, progress)
    mutants(claim)  # raises for a claim without right side, before anything is computed
    return _Bench(claim.paper, quick, seed, out, progress).report(claim)


def mutate_all(
    paper: str,
    *,
    quick: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> list[MutationReport]:
    """The same for every claim of a paper that has a right side, is measured, and stands. Arguments as for `mutate`.

    Raises:
        ValueError: for an unknown paper.
    """
    everything = list(find_paper(paper))
    written = [claim for claim in everything if isinstance(claim, Written) and claim.has_sentence]
    read_off = [_judged(claim, quick, seed, out, progress) for claim in written]
    found = [report for report in read_off if report.stands and report.findings]
    chosen = [claim for claim in everything if isinstance(claim, Claim) and claim.has_bound]
    if not chosen:
        return found
    bench = _Bench(paper, quick, seed, out, progress)
    return found + [bench.report(claim) for claim in chosen if bench.worth_it(claim)]


def _judged(
    claim: Written, quick: bool, seed: int, out: str | Path | None, progress: Progress | None
) -> MutationReport:
    folder = None if out is None else Path(out)
    return judged(claim, quick=quick, seed=seed, out=folder, tell=progress or (lambda text: None))


class _Bench:
    """What the claims of a paper share: the check's instances and the oracle's, with their moments."""

    def __init__(self, paper: str, quick: bool, seed: int, out: str | Path | None, progress: Progress | None) -> None:
        self.module: ModuleType | None = measured.module(paper)
        self.effort = QUICK if quick else FULL
        self.seed = seed
        self.out = None if out is None else Path(out)
        self.tell = progress or (lambda text: None)
        self.check: list[Instance] = []
        self._records: dict[str, list[Record]] = {}
        self.oracle: list[Instance] = []
        if self.module is None:
            return
        self.check = list(pool_of(self.module, quick, self.tell, paper).instances)
        rng = np.random.default_rng((seed, 0))
        specs: list[Spec] = list(self.module.instances(quick))
        shapes = {tuple((key, spec.get(key)) for key in ("algorithm", *probe.COUNTS)): spec for spec in specs}
        templates = list(shapes.values())
        self.tell(f"{paper}: exact moments of {self.effort.random} random instances")
        if templates:
            self.oracle = computed(probe.at_random(templates, rng) for _ in range(self.effort.random))

    def records(self, claim: Claim) -> list[Record]:
        """The claim on the check's instances, computed once."""
        if claim.id not in self._records:
            self._records[claim.id] = [] if self.module is None else recorded(claim, self.check, self.module.cases)
        return self._records[claim.id]

    def worth_it(self, claim: Claim) -> bool:
        """Whether the claim is measured here and stands, for all that the check knows."""
        if self.module is None:
            return False
        table = tabulated(self.records(claim))
        return bool(table.specs) and self.stands(claim, table.suspects(claim, TRIES))

    def stands(self, claim: Claim, suspects: Sequence[Suspect]) -> bool:
        """Whether no exact instance among the suspects breaks the claim, nor what only its paper knows."""
        assert self.module is not None
        if refute(claim, suspects, Exact(self.module.cases)):
            return False
        with TemporaryDirectory() as folder:
            return self.module.special(claim, Path(folder))[1] is None

    def report(self, claim: Claim) -> MutationReport:
        """All mutants of one claim."""
        module = self.module
        records = self.records(claim)
        table = tabulated(records)
        if module is None or not table.specs:
            made = _chosen(mutants(claim), self.effort.mutants)
            return MutationReport(claim.id, True, tuple(Finding(m, "not measured") for m in made))
        self.tell(f"{claim.id}: the oracle's instances")
        oracle = Oracle(claim, self.oracle, module.cases, self.effort, np.random.default_rng((self.seed, 1)))
        made = _chosen(mutants(claim, oracle.below_attained()), self.effort.mutants)
        self.tell(f"{claim.id}: {len(made)} mutants")
        oracle.hunt([m.claim for m in made if m.kind != "hypothesis dropped"])
        trial = _Trial(claim, records, table, oracle, module.cases, self.out)
        findings = tuple(trial.finding(mutant) for mutant in made)
        suspects = table.suspects(claim, TRIES) + oracle.suspects(claim)
        return MutationReport(claim.id, self.stands(claim, suspects), findings, _uncertifiable(claim))


class _Trial:
    """The mutants of one claim before both parties."""

    def __init__(
        self,
        claim: Claim,
        records: Sequence[Record],
        table: Table,
        oracle: Oracle,
        cases_of: CasesOf,
        out: Path | None,
    ) -> None:
        self.claim, self.records, self.table, self.oracle = claim, records, table, oracle
        tight = scaled(claim, terms(claim)[0], Fraction(1, 10**9))
        self.by_bound = bounds_its_cases(tight, [r for r in records if not r.failed], cases_of)
        self.cases_of, self.exact, self.out = cases_of, Exact(cases_of, self.by_bound), out

    def finding(self, mutant: Mutant) -> Finding:
        """What becomes of a mutant."""
        checked, seen = self._tables(mutant)
        suspects = checked.suspects(mutant.claim, TRIES)
        uncertified: list[Counterexample] = []

        def accepted(found: Counterexample) -> bool:
            if _verified(mutant, found):
                return True
            uncertified.append(found)
            return False

        killed = refute(mutant.claim, suspects, self.exact, accepted)
        clear = [s for table in seen for s in table.suspects(mutant.claim, MOST_SUSPECTS, clearest=True)]
        found = refute(mutant.claim, clear, self.exact)
        if killed is not None:
            path = None
            if self.out is not None:
                stem = mutant.name.replace("/", ".")
                path = certificates.write(_certificate(mutant, killed), self.out / "certificates" / "mutants", stem)
            return Finding(mutant, "killed", found is not None, killed, path)
        if uncertified:
            return Finding(mutant, "survived", found is not None, uncertified[0], reason=UNCERTIFIED)
        if found is not None:
            return Finding(mutant, "survived", True, found)
        # of other scenarios than the claim a mutant says something that does not follow, whatever its right side
        comparable = mutant.kind != "hypothesis dropped" and not self.by_bound
        if comparable and all(weaker(mutant.claim, self.claim, table) for table in (checked, *seen)):
            return Finding(mutant, "weaker")
        return Finding(mutant, "not shown false", reason=self._reason(mutant, (checked, *seen), [*suspects, *clear]))

    def _reason(self, mutant: Mutant, tables: Sequence[Table], suspects: Sequence[Suspect]) -> str:
        """Why nothing shows a mutant to be false."""
        if not any(table.specs for table in tables):
            return NOWHERE
        if not suspects:
            return UNBROKEN
        return IRRATIONAL if without_exact_sides(mutant.claim, suspects, self.exact) else ROUNDED

    def _tables(self, mutant: Mutant) -> tuple[Table, Sequence[Table]]:
        """The check's instances, and the oracle's, to which the mutant applies."""
        gone = [h.name for h in self.claim.conditions if h not in mutant.claim.conditions]
        if gone:
            found = (without(mutant.claim, gone[0], r, self.cases_of) for r in (self.records, self.oracle.records))
        elif self.by_bound or _moves_a_hypothesis(mutant.claim, self.claim):
            parts = ([(r.spec, r.scenario) for r in records] for records in (self.records, self.oracle.records))
            found = (recorded(mutant.claim, instances, self.cases_of) for instances in parts)
        else:
            return self.table, self.oracle.tables
        checked, seen = map(tabulated, found)
        return checked, [seen]


def _chosen(made: Sequence[Mutant], most: int | None) -> list[Mutant]:
    """At most so many, evenly over the kinds and over each kind's list."""
    if most is None or len(made) <= most:
        return list(made)
    kinds: dict[str, list[Mutant]] = {}
    for mutant in made:
        kinds.setdefault(mutant.kind, []).append(mutant)
    shares = dict.fromkeys(kinds, 0)
    while sum(shares.values()) < most:
        for kind in shares:
            if shares[kind] < len(kinds[kind]) and sum(shares.values()) < most:
                shares[kind] += 1
    names = {kinds[k][i * len(kinds[k]) // n].name for k, n in shares.items() for i in range(n)}
    return [mutant for mutant in made if mutant.name in names]


def _moves_a_hypothesis(mutant: Claim, claim: Claim) -> bool:
    """Whether a hypothesis speaks of a definition that the mutant has moved."""
    moved = {name for name, text in mutant.definitions.items() if text != claim.definitions[name]}
    return any(names_in(parse_relation(h.relation)) & moved for h in claim.conditions if h.relation is not None)


def _certificate(mutant: Mutant, found: Counterexample) -> dict[str, Any]:
    return rounds_certificate(mutant.stated(), found)


def _uncertifiable(claim: Claim) -> str:
    """The claim's quantity if the verifier cannot compute it on an instance, of any algorithm; else nothing."""
    name = claim.quantity.name
    return "" if name in verifier.QUANTITIES else name


def _verified(mutant: Mutant, found: Counterexample) -> bool:
    """Whether the stand-alone verifier accepts the certificate."""
    try:
        return verifier.verify(_certificate(mutant, found)).valid
    except ValueError:  # too large for it
        return False
