"""Every bound of one quantity at a reader's numbers, the least first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theory.claim import Claim
from theory.predicates import Convex, PolyakLojasiewicz, StronglyConvex
from theory.quantity import Measure, Where, bounded
from theory.sentence import text_of
from validate.compare.costs import Costs, costs
from validate.compare.measured import Measured, measured
from validate.compare.numbers import Numbers
from validate.compare.promised import LackingError, Promise, promise, written
from validate.compare.right import Right

FALSE = frozenset({"refuted", "vacuous"})
BROKEN, TINY = 1 + 1e-6, 1e-12
"""What is measured over what is promised, above which a claim is broken here; what rounds."""
QUANTITIES: Mapping[Measure, str] = {
    "distance": "E norm2(x - xstar)",
    "gap": "E f(x) - fstar",
    "gradient": "E norm2(grad f(x))",
}
WHERE: Mapping[Where, str] = {"last": "last iterate", "average": "average iterate", "mean": "mean over rounds"}
"""What is bounded, and of which iterates, for a reader."""


@dataclass(frozen=True)
class Row:
    """A claim's promise, of the quantity that is asked for.

    Attributes:
        promise: what it promises of its own quantity.
        value: of the quantity that is asked for.
        through: the factor between them, as text; empty where they are the same.
        costs: of a round; None where the claim leaves a parameter of its algorithm open.
        verdict: what a check said, or empty.
        struck: why it is not ranked, or empty.
        measured: the quantity on each problem; None where it was not measured.
    """

    promise: Promise
    value: float
    through: str = ""
    costs: Costs | None = None
    verdict: str = ""
    struck: str = ""
    measured: Measured | None = None

    @property
    def sampled(self) -> bool:
        """Whether its algorithm sees gradients of samples, or with noise, and not those of the clients' functions."""
        program = self.promise.bounded.claim.program
        return program is not None and bool(program.operations & {"sample", "noise", "pass"})

    @property
    def truth(self) -> float | None:
        """The claim's own quantity where it is largest."""
        return max(self.measured.values.values()) if self.measured else None

    @property
    def ratio(self) -> float | None:
        """What is promised over what is measured, where that is closest; None where all is 0, or not measured."""
        values = {} if self.measured is None else self.measured.values
        pairs = [(self.promise.by_case[name], value) for name, value in values.items() if value > 0]
        return min((most / value for most, value in pairs), default=None)

    def to_json(self) -> dict[str, Any]:
        one, of = self.promise, self.promise.claim.of
        return {
            "id": one.claim.id,
            "algorithm": None if of is None else of.name,
            "value": self.value,
            "quantity": text_of(one.quantity.tree),
            "measure": one.quantity.measure,
            "where": one.quantity.where,
            "through": self.through or None,
            "class": class_of(one.claim),
            "sampled": self.sampled,
            "steps": dict(one.steps),
            "tuned": list(one.tuned),
            "parameters": dict(one.parameters),
            "gradients": None if self.costs is None else self.costs.gradients,
            "communications": None if self.costs is None else self.costs.communications,
            "verdict": self.verdict or None,
            "sure": one.claim.sure or None,
            "struck": self.struck or None,
            "measured": None if self.measured is None else dict(self.measured.values),
            "ratio": self.ratio,
            "source": one.claim.source,
        }


@dataclass(frozen=True)
class Comparison:
    """What theory promises.

    Attributes:
        measure: of which quantity.
        rows: the promises, the least first.
        struck: promises that are not ranked, and why.
        needs: claims that need numbers that are not given, with these.
        cannot: claims whose assumptions these numbers cannot satisfy, with the first that is not.
    """

    measure: Measure
    rows: tuple[Row, ...]
    struck: tuple[Row, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cannot: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "quantity": self.measure,
            "rows": [row.to_json() for row in self.rows],
            "struck": [row.to_json() for row in self.struck],
            "needs": {name: list(what) for name, what in self.needs.items()},
            "cannot": {name: list(what) for name, what in self.cannot.items()},
        }


def compare(
    claims: Iterable[Claim],
    numbers: Numbers,
    measure: Measure,
    *,
    verdicts: Mapping[str, str] | None = None,
    measuring: bool = False,
    only: bool = False,
    given: Mapping[str, Mapping[str, float]] | None = None,
) -> Comparison:
    """What claims promise of a quantity.

    Args:
        claims: those that are asked.
        numbers: the reader's.
        measure: the quantity.
        verdicts: of claims by id, as checks left them. A claim that was refuted or is vacuous is not ranked, nor one
            without a verdict that another claim amends.
        measuring: whether the algorithms are run beside.
        only: whether bounds of the other quantities are left out, which say something of this one through mu or L.
        given: values of claims' own names, by the claims' ids.

    Raises:
        ValueError: naming what is given of a claim whose bounds do not take it.
    """
    asked = tuple(claims)
    verdicts, given = verdicts or {}, given or {}
    for claim in asked:
        every = sorted(
            set().union(*(Right(one, numbers.rounds).names for one in bounded(claim))) if claim.id in given else ()
        )
        for name in map(written, given.get(claim.id, ())):
            if name not in every:
                raise ValueError(f"{claim.id} takes no {name}: its numbers are {', '.join(every) or 'none'}")
    amended = {one.amended for one in asked}
    rows: list[Row] = []
    lacking: dict[str, dict[str, tuple[str, ...]]] = {"needs": {}, "cannot": {}}
    for claim in asked:
        found: list[Row] = []
        why: LackingError | None = None
        for one in bounded(claim):
            factor, through = _factor(one.quantity.measure, measure, numbers)
            if factor is None or (only and through):
                continue
            try:
                kept = promise(claim, one, numbers, given.get(claim.id))
                found.append(Row(kept, factor * kept.value, through))
            except LackingError as error:
                why = error
        if not found and why is not None:
            lacking[why.kind][claim.id] = why.what
        for row in sorted(found, key=lambda r: r.value)[:1]:
            rows.append(_told(row, numbers, verdicts.get(claim.id, ""), claim.id in amended))
    rows = [seen(row, numbers) for row in rows] if measuring else rows
    rows.sort(key=lambda r: r.value)
    ranked, struck = (tuple(r for r in rows if bool(r.struck) == out) for out in (False, True))
    return Comparison(measure, ranked, struck, lacking["needs"], lacking["cannot"])


def _told(row: Row, numbers: Numbers, verdict: str, amended: bool) -> Row:
    """A row with what it costs, and whether it counts."""
    one = row.promise
    program = one.bounded.claim.program
    assert program is not None
    cost = None
    if set(program.parameters) <= set(one.parameters):
        cost = costs(program, one.parameters, numbers.N, numbers.known.n or 1)
    struck = verdict if verdict in FALSE else "not checked, and amended" if amended and not verdict else ""
    return replace(row, costs=cost, verdict=verdict, struck=struck)


def seen(row: Row, numbers: Numbers) -> Row:
    """A row with what is measured; one that is broken does not count."""
    truth = measured(row.promise, numbers)
    by_case = row.promise.by_case
    broken = truth is not None and any(v > by_case[name] * BROKEN + TINY for name, v in truth.sure.items())
    return replace(row, measured=truth, struck=row.struck or ("broken here" if broken else ""))


def _factor(of: Measure, asked: Measure, numbers: Numbers) -> tuple[float | None, str]:
    """By what a bound of one quantity bounds another, and how that is written; None where it does not."""
    mu, L = numbers.mu, numbers.L
    if of == asked:
        return 1.0, ""
    found: dict[tuple[str, str], tuple[float | None, str]] = {
        ("distance", "gap"): (L / 2, "L/2"),
        ("distance", "gradient"): (L**2, "L^2"),
        ("gap", "gradient"): (2 * L, "2 L"),
        ("gap", "distance"): (2 / mu if mu else None, "2/mu"),
        ("gradient", "gap"): (1 / (2 * mu) if mu else None, "1/(2 mu)"),
        ("gradient", "distance"): (1 / mu**2 if mu else None, "1/mu^2"),
    }
    return found[of, asked]


def class_of(claim: Claim) -> str:
    """The class of functions that a claim assumes."""
    kinds: Sequence[tuple[type, str]] = (
        (StronglyConvex, "strongly convex"), (PolyakLojasiewicz, "PL"), (Convex, "convex"),
    )  # fmt: skip
    return next((name for kind, name in kinds if any(isinstance(p, kind) for p in claim.predicates)), "nonconvex")
