"""What became of the mutants of a claim, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from validate.mutate.neighbours import Neighbour

Outcome = Literal["killed", "survived", "weaker", "not shown false"]

UNBROKEN = "no instance that was tried breaks it"
NOWHERE = "no instance satisfies its hypotheses"
UNCERTIFIED = "an exact instance of the check breaks it, of which the verifier accepts no certificate"
REASONS = (UNCERTIFIED, UNBROKEN, NOWHERE)


@dataclass(frozen=True)
class Break:
    """An exact instance that breaks a neighbour of a claim.

    Attributes:
        instance: as instances are written everywhere, with the values of the other names under ``constants``.
        index: the free indices at which it breaks.
        left: the left side: a Fraction, or a ball where there are roots.
        right: likewise.
    """

    instance: dict[str, Any]
    index: Mapping[str, int]
    left: Any
    right: Any

    def to_json(self) -> dict[str, Any]:
        sides = {"left": _number(self.left), "right": _number(self.right)}
        return {"instance": self.instance, "index": dict(self.index), **sides}


def _number(value: Any) -> Any:
    return value if isinstance(value, Fraction) else float(value)


@dataclass(frozen=True)
class Finding:
    """What became of a mutant.

    Attributes:
        mutant: the mutant.
        outcome: ``killed`` and ``survived`` are false mutants; ``weaker`` ones follow from the claim on every instance.
        by_oracle: whether the oracle has an exact instance against it.
        counterexample: the check's, else the oracle's, else None.
        certificate: where the check's was written, if anywhere.
        reason: why it is not shown false, or not killed although the check breaks it: one of `REASONS`, or nothing.
    """

    mutant: Neighbour
    outcome: Outcome
    by_oracle: bool = False
    counterexample: Break | None = None
    certificate: Path | None = None
    reason: str = ""

    @property
    def false(self) -> bool:
        """Whether an exact instance breaks it."""
        return self.outcome in ("killed", "survived")

    @property
    def killed(self) -> bool:
        """Whether the check refutes it."""
        return self.outcome == "killed"

    def to_json(self) -> dict[str, Any]:
        found = self.counterexample
        return {
            **self.mutant.to_json(),
            "outcome": self.outcome,
            "reason": self.reason,
            "false": self.false,
            "killed": self.killed,
            "found_by_oracle": self.by_oracle,
            "counterexample": None if found is None else found.to_json(),
            "certificate": None if self.certificate is None else str(self.certificate),
        }


@dataclass(frozen=True)
class MutationReport:
    """The mutants of one claim.

    Attributes:
        id: of the claim.
        stands: whether neither party breaks the claim itself.
        findings: one for each mutant, in order.
        cut: whether its time was over before all its mutants were judged.
        seconds: of the process's time that it took.
    """

    id: str
    stands: bool
    findings: tuple[Finding, ...] = field(default=())
    cut: bool = False
    seconds: float = 0.0

    @property
    def false(self) -> int:
        """How many mutants are false."""
        return sum(f.false for f in self.findings)

    @property
    def killed(self) -> int:
        """How many mutants the check refutes."""
        return sum(f.killed for f in self.findings)

    @property
    def kill_rate(self) -> float | None:
        """Killed among false ones; None when none is false."""
        return kill_rate([self])

    def reasons(self) -> dict[str, int]:
        """Why mutants are not killed, in the order of `REASONS`, and how many for each."""
        counts = Counter(f.reason for f in self.findings if f.reason)
        return {reason: counts[reason] for reason in REASONS if counts[reason]}

    def to_json(self) -> dict[str, Any]:
        return {
            **summary(self.id, [self]),
            "stands": self.stands,
            "cut": self.cut,
            "seconds": round(self.seconds, 1),
            "reasons": self.reasons(),
            "detail": [f.to_json() for f in self.findings],
        }


def kill_rate(reports: Sequence[MutationReport], by_oracle: bool = False) -> float | None:
    """Killed among false mutants (by_oracle: among those the oracle found), or None when there is none."""
    false = [f for r in reports for f in r.findings if f.false and (f.by_oracle or not by_oracle)]
    return sum(f.killed for f in false) / len(false) if false else None


def summary(name: str, reports: Sequence[MutationReport]) -> dict[str, Any]:
    """The counts of some reports: of all false mutants, and of those that the oracle found."""
    found = [f for r in reports for f in r.findings if f.by_oracle]
    return {
        "id": name,
        "mutants": sum(len(r.findings) for r in reports),
        "false": sum(r.false for r in reports),
        "killed": sum(r.killed for r in reports),
        "kill_rate": kill_rate(reports),
        "oracle": {
            "false": len(found),
            "killed": sum(f.killed for f in found),
            "kill_rate": kill_rate(reports, by_oracle=True),
        },
    }
