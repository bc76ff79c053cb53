"""A claim's two sides on many scalar instances at once, so that many right sides can be held against one left side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.arithmetic import NotRationalError
from theory.claim import Claim, Hypothesis
from theory.formula import UndefinedError
from validate.assumptions import unmet
from validate.bounds import CONVERGED, ROUNDING, Cases
from validate.falsify import CasesOf, Counterexample, confirm, recomputed, size
from validate.scenario import Spec, read_scenario

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, Any]

Instance: TypeAlias = tuple[Spec, Any]

MANY = 100  # records that show whether the right side decides on which scenarios a claim speaks
WORST = 6  # cases of a suspect that are recomputed in fractions
SMALL = 1e-6  # a part of the right side below this share says nothing of the factor that it needs


@dataclass(frozen=True, eq=False)
class Suspect:
    """An instance that seems to break a claim, in floats.

    Attributes:
        spec: the instance.
        worst: the cases that break it by most.
    """

    spec: Spec
    worst: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A claim's left side and parameters on the instances that satisfy its hypotheses, C cases in all.

    Attributes:
        specs: the I instances.
        left: shape (C,), float64.
        parameters: by name, each of shape (C,).
        starts: shape (I,), where the cases of each instance begin.
    """

    specs: tuple[Spec, ...]
    left: Array
    parameters: dict[str, Array]
    starts: Array

    def right(self, claim: Claim) -> Array:
        """Shape (C,), the right side of a claim in these parameters; NaN or infinite where it is undefined."""
        if not self.specs:
            return np.zeros(0)
        try:
            value = np.asarray(claim.bound(**self.parameters), dtype=np.float64)
        except UndefinedError:  # whatever the parameters are
            return np.full(self.left.shape, np.nan)
        return np.broadcast_to(value, self.left.shape)

    def excess(self, claim: Claim) -> Array:
        """Shape (I,), by how much each instance breaks the claim at most, as `relative` has it."""
        if not self.specs:
            return np.zeros(0)
        return np.maximum.reduceat(self.relative(claim), self.starts)

    def relative(self, claim: Claim) -> Array:
        """Shape (C,), by how much each case breaks the claim, relative to the larger side; -inf where it is undefined.

        Breaks are those of `validate.bounds.compare_all` where this is above its ROUNDING, except that a case in which
        the right side is undefined says nothing here, and breaks nothing.
        """
        right = self.right(claim)
        defined = np.isfinite(right)
        right = np.where(defined, right, 0.0)
        excess = signed(claim, self.left - right)
        scale = np.maximum(np.abs(self.left), np.abs(right))
        largest = np.repeat(np.maximum.reduceat(scale, self.starts), np.diff([*self.starts, len(scale)]))
        with np.errstate(over="ignore"):
            relative = (excess - CONVERGED * largest) / np.where(scale > 0, scale, 1.0)
        return np.where(defined, relative, -np.inf)

    @cached_property
    def order(self) -> Array:
        """The instances from the smallest to the largest, shape (I,)."""
        sizes = [size(spec) for spec in self.specs]
        return np.array(sorted(range(len(sizes)), key=sizes.__getitem__), dtype=int)

    def suspects(self, claim: Claim, most: int, clearest: bool = False) -> list[Suspect]:
        """Instances that break the claim in floats, the smallest first, or those that break it by most."""
        if not self.specs:
            return []
        relative = self.relative(claim)
        excess = np.maximum.reduceat(relative, self.starts)
        order = np.argsort(-excess, kind="stable") if clearest else self.order
        ends = np.append(self.starts[1:], len(relative))
        found = []
        for i in [i for i in order if excess[i] > ROUNDING][:most]:
            cases = relative[self.starts[i] : ends[i]]
            worst = np.argsort(-cases, kind="stable")[:WORST]
            found.append(Suspect(self.specs[i], tuple(int(j) for j in worst if cases[j] > ROUNDING)))
        return found


def signed(claim: Claim, difference: Array) -> Array:
    """Left minus right, so that a break of the claim is positive."""
    if claim.relation in (">=", ">"):
        return -difference
    return np.abs(difference) if claim.relation == "=" else difference


def computed(specs: Iterable[Spec]) -> list[Instance]:
    """The instances with their moments in float64; those whose moments leave the range of floats are left out."""
    scenarios = ((spec, read_scenario(spec, exact=False)) for spec in specs)
    return [(spec, scenario) for spec, scenario in scenarios if scenario.stays_finite()]


@dataclass(frozen=True, eq=False)
class Record:
    """A claim on one instance to which it applies.

    Attributes:
        spec: the instance.
        scenario: the same, with its moments in float64.
        cases: left side and parameters.
        failed: names of the hypotheses that the instance does not satisfy.
    """

    spec: Spec
    scenario: Any
    cases: Cases
    failed: tuple[str, ...]


def recorded(claim: Claim, instances: Iterable[Instance], cases_of: CasesOf) -> list[Record]:
    """The claim on every instance to which it applies and on which its parameters have a meaning."""
    found = []
    for spec, scenario in instances:
        cases = cases_of(claim, scenario)
        if cases is not None and len(cases) and _meant(claim, cases):
            found.append(Record(spec, scenario, cases, unmet(claim, scenario, cases.parameters_at(0))))
    return found


def without(claim: Claim, dropped: str, records: Iterable[Record], cases_of: CasesOf) -> list[Record]:
    """The same records for a claim that has lost a hypothesis.

    Args:
        claim: the claim as it is now.
        dropped: name of the hypothesis that it had before.
        records: of the claim as it was.
        cases_of: measures the claim's two sides on a scenario.
    """
    found = []
    for record in records:
        cases = cases_of(claim, record.scenario)
        if cases is None:
            continue
        if _equal(cases, record.cases):
            failed = tuple(name for name in record.failed if name != dropped)
        elif _meant(claim, cases):  # another constant, because the hypothesis said which
            failed = unmet(claim, record.scenario, cases.parameters_at(0))
        else:
            continue
        found.append(Record(record.spec, record.scenario, cases, failed))
    return found


def tabulated(records: Iterable[Record]) -> Table:
    """The cases of the instances that satisfy all hypotheses."""
    kept = [record for record in records if not record.failed]
    if not kept:
        return Table((), np.zeros(0), {}, np.zeros(0, dtype=int))
    lengths = np.array([len(record.cases) for record in kept])

    def column(values: Sequence[Any]) -> Array:
        rows = [np.broadcast_to(np.asarray(v, dtype=np.float64), (n,)) for v, n in zip(values, lengths, strict=True)]
        return np.concatenate(rows)

    return Table(
        tuple(record.spec for record in kept),
        column([record.cases.left for record in kept]),
        {name: column([record.cases.parameters[name] for record in kept]) for name in kept[0].cases.parameters},
        np.cumsum(lengths) - lengths,
    )


def _meant(claim: Claim, cases: Cases) -> bool:
    """Whether the parameters lie in their domains: a linear function has L = 0, and the claims ask for L > 0."""
    domains = {p.name: p.domain for p in claim.parameters}
    return all(domains[name].contains(value) for name, value in cases.parameters.items() if name in domains)


def _equal(a: Cases, b: Cases) -> bool:
    pairs = ((value, b.parameters[name]) for name, value in a.parameters.items())
    return all(np.array_equal(x, y) if np.ndim(x) else x == y for x, y in pairs)


class Exact:
    """Left sides in fractions, computed once an instance, for a claim and all its mutants.

    Args:
        cases_of: measures a claim on a scenario.
        by_bound: which cases there are depends on the claim's right side (`bounds_its_cases`), so that what is known of
            one mutant says nothing of another.
    """

    def __init__(self, cases_of: CasesOf, by_bound: bool = False) -> None:
        self._cases_of, self._by_bound = cases_of, by_bound
        self._known: dict[tuple[int, tuple[Hypothesis, ...], str], tuple[Spec, Cases | None]] = {}

    def on(self, suspect: Suspect) -> CasesOf:
        """How to measure the worst cases of this suspect, given as a scenario in exact numbers."""

        def cases_of(claim: Claim, scenario: Any) -> Cases | None:
            formula = f"{claim.right} {claim.definitions}" if self._by_bound else ""
            key = (id(suspect.spec), claim.conditions, formula)  # the entry keeps the instance alive
            if key not in self._known:
                self._known[key] = suspect.spec, self._cases_of(claim, scenario)
            cases = self._known[key][1]
            return None if cases is None else _part(cases, list(suspect.worst))

        return cases_of


def _part(cases: Cases, rows: list[int]) -> Cases:
    parameters = {name: value[rows] if np.ndim(value) else value for name, value in cases.parameters.items()}
    return Cases(cases.left[rows], parameters, {name: value[rows] for name, value in cases.index.items()})


def refute(
    claim: Claim,
    suspects: Sequence[Suspect],
    exact: Exact,
    accept: Callable[[Counterexample], bool] = lambda found: True,
) -> Counterexample | None:
    """The first suspect that breaks the claim in exact arithmetic and is accepted.

    Args:
        claim: the claim.
        suspects: instances that break it in floats.
        exact: measures the two sides.
        accept: a further check of a counterexample, such as that of the stand-alone verifier.
    """
    for suspect in suspects:
        try:
            found = confirm(claim, suspect.spec, exact.on(suspect))
        except (UndefinedError, NotRationalError):  # the right side has no exact value there, so nothing is broken
            continue
        if found is not None and accept(found):
            return found
    return None


def without_exact_sides(claim: Claim, suspects: Sequence[Suspect], exact: Exact) -> int:
    """How many of the suspects can be neither confirmed nor cleared, because a side has no exact value there."""
    count = 0
    for suspect in suspects:
        try:
            count += not recomputed(claim, suspect.spec, exact.on(suspect))[0]
        except (UndefinedError, NotRationalError):
            count += 1
    return count


def bounds_its_cases(tight: Claim, records: Sequence[Record], cases_of: CasesOf) -> bool:
    """Whether the claim's right side decides on which scenarios it speaks, as where a run has to start in a ball.

    Args:
        tight: the claim with a right side that is next to nothing.
        records: of the claim as it is.
        cases_of: measures a claim on a scenario.
    """
    return any(cases_of(tight, record.scenario) is None for record in records[:MANY])


def attained(claim: Claim, table: Table, rest: Claim) -> tuple[Array, int]:
    """By which factor the part of the right side that `rest` lacks would have to be scaled, instance by instance.

    Args:
        claim: a claim.
        table: instances.
        rest: the same claim with that part of its right side gone.

    Returns:
        The factors, shape (I,), and a sign. With +1 the part helps the claim to hold wherever it matters, and each
        instance needs at least its factor (-inf: it needs none); with -1 the part hinders, and each instance bears at
        most its factor (inf: any). With 0 the part does now one and now the other, or nothing, or the claim is an
        equation.
    """
    if not table.specs or claim.relation == "=":
        return np.zeros(len(table.specs)), 0
    sign = -1.0 if claim.relation in (">=", ">") else 1.0
    whole, other = sign * table.right(claim), sign * table.right(rest)
    with np.errstate(invalid="ignore", over="ignore"):
        part, missing = whole - other, sign * table.left - other
        scale = np.maximum(np.maximum(np.abs(whole), np.abs(other)), np.abs(table.left))
        counts = np.isfinite(part) & np.isfinite(missing) & (np.abs(part) > SMALL * scale)
    signs = np.unique(np.sign(part[counts]))
    if len(signs) != 1:
        return np.zeros(len(table.specs)), 0
    factors = np.divide(missing, part, out=np.zeros_like(part), where=counts)
    if signs[0] > 0:
        return np.maximum.reduceat(np.where(counts, factors, -np.inf), table.starts), 1
    return np.minimum.reduceat(np.where(counts, factors, np.inf), table.starts), -1
