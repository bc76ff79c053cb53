"""The check against the neighbours of a claim: which are false, and which of these it refutes.

Two parties look at each neighbour. The *check* is that of `validate.examine` with a small budget: instances made from
the neighbour's own texts, a climb from the tightest, the worst functions of its class at small sizes, and a break
counts if the stand-alone verifier accepts its certificate. The *oracle* has other instances, made from the claim, and
knows where it is tight: a term is scaled below what one of them attains. Its breaks are exact too, and the check is not
told of them. A neighbour is false when either has an exact instance against it; that nothing breaks a neighbour does
not make it false.
"""

from __future__ import annotations

import itertools
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theory import catalog
from theory.claim import Claim
from validate import certificate as certificates
from validate.breaks import accepted, valid_certificate
from validate.examine import EVALUATIONS, FAR, OPERATIONS, POOL
from validate.instances.hunt import hunt
from validate.instances.seen import Hunt, Seen
from validate.measurement import claim_of
from validate.mutate.findings import NOWHERE, UNBROKEN, UNCERTIFIED, Break, Finding, MutationReport
from validate.mutate.neighbours import Neighbour, neighbours
from validate.mutate.oracle import Oracle, attained
from validate.verdict import Origin
from validate.worst_case.stage import worst

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Effort:
    """How much is tried.

    Attributes:
        mutants: at most so many neighbours, evenly over what is done to them; None for all.
        pool, evaluations, far: of the check, for each neighbour (`validate.instances.hunt.hunt`).
        oracle: the oracle's instances.
        operations: of the check, for each neighbour.
    """

    mutants: int | None
    pool: int
    evaluations: int
    far: int
    oracle: int
    operations: int = OPERATIONS[True]


QUICK, FULL = Effort(24, 60, 60, 12, 40), Effort(None, 200, 300, 60, 120)
ORDINARY = Effort(None, POOL[True], EVALUATIONS[True], FAR[True], 0)
"""What a quick check does. It has the last word on neighbours that the oracle breaks and a smaller effort does not."""


def mutate(
    target: Claim | str,
    *,
    quick: bool = False,
    seed: int = 0,
    mutants: int | None = None,
    seconds: float | None = None,
    standing: bool = False,
    out: str | Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    judged: Callable[[Finding], None] = lambda _: None,
) -> MutationReport:
    """The mutants of a claim, which are false, and which of these the check refutes.

    Args:
        target: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        quick: fewer mutants (evenly over what is done to them), fewer instances on both sides.
        seed: of the oracle.
        mutants: at most so many, at least 1, in the place of what `quick` says; evenly over what is done to them.
        seconds: of this process's time, after which no more mutants are judged: the report says that it was cut off.
            The mutant that is being judged then is judged to its end, as those that take long would be missing else.
        standing: whether no mutant is judged where the claim itself is broken, as most of its mutants are then.
        out: folder for the certificates; None writes none (they are verified all the same).
        progress: called with one line of text.
        judged: called with what became of each mutant, as soon as that is known.

    Raises:
        ValueError: for an unknown claim, one that is no sentence, or one with names in words; for a number of mutants
            or seconds out of range.
    """
    if mutants is not None and mutants < 1:
        raise ValueError(f"mutants={mutants} is not at least 1")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds={seconds} is not positive")
    claim = claim_of(target)
    if not claim.has_sentence:
        raise ValueError(f"{claim.id} is no sentence, so it has no mutants")
    if claim.in_words:
        names = ", ".join(claim.in_words)
        raise ValueError(
            f"{claim.id} speaks of what no formula says ({names}), so nothing tells which mutants are false"
        )
    effort = QUICK if quick else FULL
    effort = effort if mutants is None else replace(effort, mutants=mutants)
    folder = None if out is None else Path(out)
    return _judged(claim, effort, seed, standing, folder, progress, judged, _until(seconds))


def mutate_all(paper: str, **options: Any) -> list[MutationReport]:
    """The same for every claim of a paper that is a sentence without names in words, stands, and has mutants.

    Options as for `mutate`.

    Raises:
        ValueError: for an unknown paper, or options out of range.
    """
    claims = [claim for claim in catalog.paper(paper) if claim.has_sentence and not claim.in_words]
    reports = [mutate(claim, **{**options, "standing": True}) for claim in claims]
    return [report for report in reports if report.stands and report.findings]


def _until(seconds: float | None) -> Callable[[], bool]:
    """Whether so much of this process's time is over."""
    end = None if seconds is None else time.process_time() + seconds
    return lambda: end is not None and time.process_time() > end


def _judged(
    claim: Claim,
    effort: Effort,
    seed: int,
    standing: bool,
    out: Path | None,
    tell: Callable[[str], None],
    judged: Callable[[Finding], None],
    stop: Callable[[], bool],
) -> MutationReport:
    begun = time.process_time()
    tell(f"{claim.id}: the oracle's instances")
    oracle = Oracle(claim, effort.oracle, seed, stop)
    broken = any(seen.measured.broken for seen in oracle.there)
    if not broken:  # by the check's own instances, as its neighbours are
        broken = _hunted(claim, effort, stop).broken is not None or of_the_worst(claim, stop) is not None
    if broken and standing:
        return MutationReport(claim.id, False, (), seconds=time.process_time() - begun)
    made = neighbours(claim, () if broken else tuple(attained(claim, oracle.there)))
    findings: list[Finding] = []
    most, cut = effort.mutants, False
    tell(f"{claim.id}: {len(made)} neighbours")
    for one in _spread(made, claim.id):
        if len(findings) == most:
            break
        if oracle.is_the_claim(one):
            continue
        cut = stop()
        if cut:
            break
        finding = finding_of(one, oracle, effort, out)
        findings.append(finding)
        judged(finding)
        if len(findings) % 10 == 0:
            tell(f"{claim.id}: {len(findings)} mutants")
    order = {one.name: i for i, one in enumerate(made)}
    findings.sort(key=lambda finding: order[finding.mutant.name])
    return MutationReport(claim.id, not broken, tuple(findings), cut, time.process_time() - begun)


def _spread(made: Sequence[Neighbour], name: str) -> Iterator[Neighbour]:
    """In an order, drawn for each claim, of which each beginning is even over the kinds and over a kind's list."""
    kinds: dict[str, list[Neighbour]] = {}
    for one in made:
        kinds.setdefault(one.kind, []).append(one)
    for of_kind in kinds.values():
        random.Random(f"{name}: {of_kind[0].kind}").shuffle(of_kind)
    return (one for turn in itertools.zip_longest(*kinds.values()) for one in turn if one is not None)


def _hunted(claim: Claim, effort: Effort, stop: Callable[[], bool] = lambda: False) -> Hunt:
    return hunt(
        claim,
        pool=effort.pool,
        evaluations=effort.evaluations,
        far=effort.far,
        operations=effort.operations,
        accepted=lambda seen: accepted(claim, seen, True),
        stop=stop,
        smallest=False,
    )


def finding_of(one: Neighbour, oracle: Oracle, effort: Effort, out: Path | None) -> Finding:
    """What becomes of a neighbour."""
    claim = one.claim
    found = _hunted(claim, effort)
    against = oracle.broken(one)
    if found.broken is None and against is None and oracle.follows(one):
        return Finding(one, "weaker")
    seen: Seen | None = found.broken
    origin: Origin = found.origin
    stands = seen is not None and accepted(claim, seen, True)
    if not stands:
        of_class = of_the_worst(claim)
        if of_class is not None and (seen is None or accepted(claim, of_class, True)):
            seen, origin = of_class, "worst case"
            stands = accepted(claim, seen, True)
    if not stands and (seen or against):
        more = _hunted(claim, ORDINARY)
        if more.broken is not None and (seen is None or accepted(claim, more.broken, True)):
            seen, origin = more.broken, more.origin
            stands = accepted(claim, seen, True)
    if seen is not None and stands:
        return Finding(one, "killed", against is not None, _break(seen), _written(one, seen, origin, out))
    if seen is not None:
        return Finding(one, "survived", against is not None, _break(seen), reason=UNCERTIFIED)
    if against is not None:
        return Finding(one, "survived", True, _break(against))
    return Finding(one, "not shown false", reason=UNBROKEN if found.seen else NOWHERE)


def _written(one: Neighbour, seen: Seen, origin: Origin, out: Path | None) -> Path | None:
    """Where its certificate was written."""
    if out is None:
        return None
    certificate = valid_certificate(one.claim, seen, seen.measured.broken[0], origin, True)
    return certificates.write(certificate, out / "certificates" / "mutants", one.name.replace("/", "."))


def of_the_worst(claim: Claim, stop: Callable[[], bool] = lambda: False) -> Seen | None:
    """An instance among the worst functions of a claim's class that breaks it; the accepted ones first."""
    try:
        found = worst(claim, quick=True, stop=stop, accepted=lambda seen: accepted(claim, seen, True), proved=False)
    except Exception:  # of a solver; it ends nothing else
        log.debug("%s: its worst case ended with an error", claim.id, exc_info=True)
        return None
    return found.broken or next(iter(found.suspects), None)


def _break(seen: Seen) -> Break:
    row = seen.measured.broken[0]
    instance = seen.drawn.instance.to_json()
    return Break({**instance, "constants": dict(seen.drawn.constants)}, row.at, row.left, row.right)
