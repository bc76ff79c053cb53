"""A search, for some time, for an instance that breaks a claim; it knows the claim only, and nothing by hand.

The hunt of a check (`validate.instances.hunt`), and after it the worst functions of the claim's class at small sizes
(`validate.worst_case`), are repeated with other seeds and a climb that grows, until something breaks the claim or the
time is over. What breaks it in fractions becomes a certificate; a break that cannot be
confirmed, or that no certificate holds, is told all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.breaks import accepted, certified, worst_evidence
from validate.examine import EVALUATIONS, FAR, POOL
from validate.in_words import described
from validate.instances.hunt import hunt
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, Seen

APART = 10**7
"""Between the seeds of one hunt and the next."""
HUNTED = 0.3
"""Of the time that is left, what a hunt leaves to the worst functions of the class."""
LARGEST = EVALUATIONS[False]


@dataclass(frozen=True)
class Falsified:
    """What came of it.

    Attributes:
        claim: the claim.
        broken: an instance that breaks the claim exactly; None where there is none.
        suspect: one that breaks it in floats, which fractions neither confirm nor clear.
        certificate: of `broken`, which the stand-alone verifier accepts.
        detail: in a sentence.
        instances: how many were measured.
        evaluations: of these, by climbing.
        tightest: the largest closeness to a break, (left - right)/(abs(left) + abs(right)), of those that do not break.
        hunts: how many there were.
    """

    claim: Claim
    broken: Seen | None
    suspect: Drawn | None
    certificate: Path | None
    detail: str
    instances: int
    evaluations: int
    tightest: float | None
    hunts: int

    @property
    def instance(self) -> dict[str, Any] | None:
        """The instance that breaks the claim, in JSON's form."""
        found = self.suspect if self.broken is None else self.broken.drawn
        return None if found is None else found.instance.to_json()


def falsified(
    claim: Claim,
    *,
    seconds: float,
    seed: int = 0,
    out: str | Path = "fedproof-out",
    tell: Callable[[str], None] = lambda _: None,
) -> Falsified:
    """Search for an instance that breaks a claim.

    Args:
        claim: the claim.
        seconds: of the search; what breaks the claim is confirmed and made smaller beyond that.
        seed: of everything that is drawn.
        out: the certificate goes to its subdirectory ``certificates``.
        tell: called with one line of text.

    Raises:
        OSError: when the certificate cannot be written.
    """
    end = time.monotonic() + seconds
    seen, evaluations, hunts = 0, 0, 0
    tightest: float | None = None
    suspect: Drawn | None = None
    evaluated, tried_worst = EVALUATIONS[True], False
    while True:
        share = end - HUNTED * (end - time.monotonic())
        found: Hunt = hunt(
            claim,
            pool=POOL[True],
            far=FAR[True],
            evaluations=evaluated,
            seed=seed + hunts * APART,
            tell=tell,
            accepted=lambda one: accepted(claim, one, quick=False),
            stop=lambda share=share: time.monotonic() >= share,  # type: ignore[misc]
        )
        hunts += 1
        seen, evaluations = seen + len(found.seen) + len(found.far), evaluations + found.evaluations
        suspect = suspect or found.suspect
        scores = [one.score for one in found.seen]
        tightest = max([*scores, *([] if tightest is None else [tightest])], default=None)
        if found.broken is not None or time.monotonic() >= end:
            break
        item, path, worst_one = worst_evidence(
            claim, Path(out), hunts == 1, seed + hunts * APART, lambda: time.monotonic() >= end
        )
        if worst_one is not None:
            return Falsified(claim, worst_one, None, path, item[0].detail, seen + 1, evaluations, tightest, hunts)
        tried_worst = tried_worst or any(one.outcome == "holds" for one in item)
        if not found.seen and not found.far and hunts > 2:
            break  # nothing that the claim speaks of can be made
        evaluated = min(2 * evaluated, LARGEST)
    if found.broken is not None:
        evidence, path = certified(claim, found.broken, found.first, found.origin, Path(out), quick=False)
        return Falsified(
            claim, found.broken, None, path, evidence.detail, seen + 1, evaluations, tightest, hunts
        )  # fmt: skip
    tried = f"{seen} instances and {evaluations} evaluations of climbs from the tightest in {hunts} hunts"
    if tried_worst:
        tried += ", nor among the worst functions of its class at small sizes"
    if suspect is not None:
        detail = f"broken in floats ({described(suspect)}), and too large to be confirmed exactly, after {tried}"
    elif not seen:
        detail = "no instance of which it speaks was found"
    else:
        detail = f"no counterexample in {tried}"
    return Falsified(claim, None, suspect, None, detail, seen, evaluations, tightest, hunts)
