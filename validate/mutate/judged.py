"""The check against the neighbours of a claim: which are false, and which of these it refutes.

Two parties look at each neighbour. The *check* is that of `validate.examine` with a small budget: instances made from
the neighbour's own texts, a climb from the tightest, the worst functions of its class at small sizes, and a break
counts if the stand-alone verifier accepts its certificate. The *oracle* has other instances, made from the claim, and
knows where it is tight: a term is scaled below what one of them attains. Its breaks are exact too, and the check is not
told of them. A neighbour is false when either has an exact instance against it; that nothing breaks a neighbour does
not make it false.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory import catalog
from theory.claim import Claim
from theory.sentence import Expression
from validate import certificate as certificates
from validate.both_sides import Row
from validate.breaks import accepted, valid_certificate
from validate.instances.candidates import candidate_of, realised
from validate.instances.hunt import hunt
from validate.instances.pool import Drawn, drawn
from validate.instances.seen import Seen, measured
from validate.measurement import claim_of
from validate.mutate.findings import NOWHERE, UNBROKEN, UNCERTIFIED, Break, Finding, MutationReport
from validate.mutate.neighbours import Neighbour, neighbours, terms
from validate.verdict import Origin
from validate.worst_case.stage import worst

log = logging.getLogger(__name__)

ORACLE = 10**7
"""The oracle's seeds begin here: the check's own begin at its seed."""
BELOW = Fraction(49, 50)
"""How far below what is attained a term is scaled."""
ROUNDING = 1e-12
"""Within which sides with roots count as the same, relative to the larger."""
PARTS = 1000
"""Denominator of such a factor."""


@dataclass(frozen=True)
class Effort:
    """How much is tried.

    Attributes:
        mutants: at most so many neighbours, evenly over what is done to them; None for all.
        pool, evaluations, far: of the check, for each neighbour (`validate.instances.hunt.hunt`).
        oracle: the oracle's instances.
    """

    mutants: int | None
    pool: int
    evaluations: int
    far: int
    oracle: int


QUICK, FULL = Effort(24, 60, 60, 12, 40), Effort(None, 200, 300, 60, 120)


def mutate(
    target: Claim | str,
    *,
    quick: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> MutationReport:
    """The mutants of a claim, which are false, and which of these the check refutes.

    Args:
        target: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        quick: fewer mutants (evenly over what is done to them), fewer instances on both sides.
        seed: of the oracle.
        out: folder for the certificates; None writes none (they are verified all the same).
        progress: called with one line of text.

    Raises:
        ValueError: for an unknown claim, or one that is no sentence.
    """
    claim = claim_of(target)
    if not claim.has_sentence:
        raise ValueError(f"{claim.id} is no sentence, so it has no mutants")
    return _judged(claim, quick, seed, None if out is None else Path(out), progress or (lambda text: None))


def mutate_all(
    paper: str,
    *,
    quick: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[MutationReport]:
    """The same for every claim of a paper that is a sentence, stands, and has mutants. Arguments as for `mutate`.

    Raises:
        ValueError: for an unknown paper.
    """
    claims = [claim for claim in catalog.paper(paper) if claim.has_sentence]
    reports = [mutate(claim, quick=quick, seed=seed, out=out, progress=progress) for claim in claims]
    return [report for report in reports if report.stands and report.findings]


def _judged(claim: Claim, quick: bool, seed: int, out: Path | None, tell: Callable[[str], None]) -> MutationReport:
    effort = QUICK if quick else FULL
    tell(f"{claim.id}: the oracle's instances")
    there = _measured(claim, (drawn(claim, ORACLE + seed + i) for i in range(effort.oracle)))
    there.sort(key=lambda seen: -seen.score)
    broken = any(seen.measured.broken for seen in there)
    if not broken:  # by the check's own instances, as its neighbours are
        pool, evaluations, far = effort.pool, effort.evaluations, effort.far
        broken = hunt(claim, pool=pool, evaluations=evaluations, far=far, smallest=False).broken is not None
    made = neighbours(claim, () if broken else tuple(_attained(claim, there)))
    oracle = Oracle(claim, there, effort, seed)
    made = _spread([one for one in made if not oracle.is_the_claim(one)], effort.mutants)
    tell(f"{claim.id}: {len(made)} mutants")
    findings = []
    for i, one in enumerate(made):
        if i % 10 == 9:
            tell(f"{claim.id}: {i + 1} of {len(made)} mutants")
        findings.append(finding_of(one, oracle, effort, out))
    return MutationReport(claim.id, not broken, tuple(findings))


def _measured(claim: Claim, instances: Iterator[Drawn | None]) -> list[Seen]:
    tried = (measured(claim, one) for one in instances if one is not None)
    return [seen for seen in tried if seen is not None]


def _spread(made: list[Neighbour], most: int | None) -> list[Neighbour]:
    """At most so many, evenly over the kinds and over each kind's list."""
    if most is None or len(made) <= most:
        return made
    kinds: dict[str, list[Neighbour]] = {}
    for one in made:
        kinds.setdefault(one.kind, []).append(one)
    shares = dict.fromkeys(kinds, 0)
    while sum(shares.values()) < most:
        for kind in shares:
            if shares[kind] < len(kinds[kind]) and sum(shares.values()) < most:
                shares[kind] += 1
    names = {kinds[kind][i * len(kinds[kind]) // n].name for kind, n in shares.items() for i in range(n)}
    return [one for one in made if one.name in names]


def _attained(claim: Claim, there: list[Seen]) -> Iterator[tuple[Expression, Fraction]]:
    """The right side and its terms, each with a factor by which it is too small (too large) on an instance."""
    relation = claim.sentence.relation
    if relation == "==":
        return
    whole = claim.sentence.right
    for term in dict.fromkeys((whole, *terms(whole))):
        alone = replace(claim, statement=str(replace(claim.sentence, right=term)))
        needed: list[Fraction] = []
        for seen in there:
            other = seen if term is whole else measured(alone, seen.drawn)
            if other is None:
                continue
            needed += _needed(seen.measured.rows, other.measured.rows)
        # a term counts that can be scaled down to nothing only by going below 0 not at all
        if relation in ("<=", "<"):
            factor = Fraction(int(max(needed, default=Fraction(0)) * BELOW * PARTS), PARTS)
        else:
            least = min((n for n in needed if n > 0), default=None)
            factor = Fraction(0) if least is None else Fraction(int(least / BELOW * PARTS) + 1, PARTS)
        if 0 < factor < 10**6:
            yield term, factor


def _needed(rows: tuple[Row, ...], alone: tuple[Row, ...]) -> Iterator[Fraction]:
    """The factors of a term at which both sides would be the same, where it is positive."""
    by_index = {(tuple(row.at.items()), row.minimiser): row.right for row in alone}
    for row in rows:
        term = by_index.get((tuple(row.at.items()), row.minimiser))
        if row.at.get("k") == 0:  # both sides are often the same by definition
            continue
        left, right = row.left, row.right
        if isinstance(left, Fraction) and isinstance(right, Fraction) and isinstance(term, Fraction) and term > 0:
            yield 1 + (left - right) / term


class Oracle:
    """Instances of its own: the claim's for neighbours that speak of them, and their own for the others."""

    def __init__(self, claim: Claim, there: list[Seen], effort: Effort, seed: int) -> None:
        self.claim, self.there, self.effort, self.seed = claim, there, effort, seed
        self._sides: dict[str, list[tuple[Seen, Seen]]] = {}

    def sides(self, one: Neighbour) -> list[tuple[Seen, Seen]]:
        """The claim and a neighbour of the same assumptions on the oracle's instances, up to the first break."""
        if one.name not in self._sides:
            found = []
            for seen in self.there:
                other = _on(one.claim, seen.drawn)
                if other is None:
                    continue
                found.append((seen, other))
                if other.measured.broken:
                    break
            self._sides[one.name] = found
        return self._sides[one.name]

    def is_the_claim(self, one: Neighbour) -> bool:
        """Whether a neighbour is the same function as the claim, on all the instances."""
        if not one.same_instances or one.claim.sentence.relation != self.claim.sentence.relation:
            return False
        both = self.sides(one)
        return bool(both) and all(_alike(a, b) for a, b in both)

    def broken(self, one: Neighbour) -> Seen | None:
        """An instance that breaks a neighbour."""
        if one.same_instances:
            return next((other for _, other in self.sides(one) if other.measured.broken), None)
        for i in range(self.effort.oracle):
            tried = drawn(one.claim, ORACLE + self.seed + i)
            seen = None if tried is None else measured(one.claim, tried)
            if seen is not None and seen.measured.broken:
                return seen
        return None

    def follows(self, one: Neighbour) -> bool:
        """Whether the claim gives a neighbour on every instance: it bounds less by more."""
        relation = self.claim.sentence.relation
        if not one.same_instances or one.claim.sentence.relation != relation or relation == "==":
            return False
        sign = 1 if relation in ("<=", "<") else -1
        pairs = [pair for a, b in self.sides(one) for pair in _pairs(a, b)]
        return bool(pairs) and all(
            sign * _difference(b.left, a.left) <= 0 <= sign * _difference(b.right, a.right) for a, b in pairs
        )


def _difference(one: Any, two: Any) -> Any:
    """Of two sides; 0 where balls and floats do not tell them apart."""
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one - two
    first, second = float(one), float(two)
    return 0.0 if abs(first - second) <= ROUNDING * max(abs(first), abs(second)) else first - second


def _alike(one: Seen, two: Seen) -> bool:
    """Whether both sides are the same in every row."""
    rows, others = one.measured.rows, two.measured.rows
    if [(dict(r.at), r.minimiser, r.status) for r in rows] != [(dict(r.at), r.minimiser, r.status) for r in others]:
        return False
    return all(
        (a.left is None and b.left is None) or (_difference(a.left, b.left) == 0 and _difference(a.right, b.right) == 0)
        for a, b in zip(rows, others, strict=True)
    )


def _pairs(one: Seen, two: Seen) -> Iterator[tuple[Row, Row]]:
    """The rows of both where both have sides."""
    by_index = {(tuple(row.at.items()), row.minimiser): row for row in two.measured.rows if row.left is not None}
    for row in one.measured.rows:
        other = by_index.get((tuple(row.at.items()), row.minimiser))
        if row.left is not None and other is not None:
            yield row, other


def _on(claim: Claim, one: Drawn) -> Seen | None:
    """A claim on an instance that was made for another, with its own constants there."""
    constants = {name: one.values[name] for name in claim.constants if name in one.values}
    again = realised(claim, candidate_of(one), constants)
    return None if again is None else measured(claim, again)


def finding_of(one: Neighbour, oracle: Oracle, effort: Effort, out: Path | None) -> Finding:
    """What becomes of a neighbour."""
    claim = one.claim
    found = hunt(
        claim,
        pool=effort.pool,
        evaluations=effort.evaluations,
        far=effort.far,
        accepted=lambda seen: accepted(claim, seen, True),
        smallest=False,
    )
    against = oracle.broken(one)
    seen, weaker = found.broken, False
    origin: Origin = found.origin
    if seen is None:
        weaker = against is None and oracle.follows(one)
        if not weaker:
            seen, origin = of_the_worst(claim), "worst case"
    if seen is not None:
        if not accepted(claim, seen, True):
            return Finding(one, "survived", against is not None, _break(seen), reason=UNCERTIFIED)
        path = None
        if out is not None:
            certificate = valid_certificate(claim, seen, seen.measured.broken[0], origin, True)
            folder = out / "certificates" / "mutants"
            path = certificates.write(certificate, folder, one.name.replace("/", "."))
        return Finding(one, "killed", against is not None, _break(seen), path)
    if against is not None:
        return Finding(one, "survived", True, _break(against))
    if weaker:
        return Finding(one, "weaker")
    return Finding(one, "not shown false", reason=UNBROKEN if found.seen else NOWHERE)


def of_the_worst(claim: Claim) -> Seen | None:
    """An instance among the worst functions of a claim's class that breaks it; the accepted ones first."""
    try:
        found = worst(claim, quick=True, accepted=lambda seen: accepted(claim, seen, True), proved=False)
    except Exception:  # of a solver; it ends nothing else
        log.debug("%s: its worst case ended with an error", claim.id, exc_info=True)
        return None
    return found.broken or next(iter(found.suspects), None)


def _break(seen: Seen) -> Break:
    row = seen.measured.broken[0]
    instance = seen.drawn.instance.to_json()
    return Break({**instance, "constants": dict(seen.drawn.constants)}, row.at, row.left, row.right)
