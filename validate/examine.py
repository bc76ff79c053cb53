"""All the evidence for a claim that says what it means, joined into its verdict.

Everything is read off the claim: whether its relations can hold together at all; whether the sentence itself is proved
(`validate.proving`); instances made from it, measured exactly; a search from the tightest of them; the worst functions
of its class at small sizes (`validate.worst_case`); and last what somebody wrote by hand for it (`Claim.given`). A
break is exact when it is found; it is made smaller, and becomes a certificate that the stand-alone verifier has to
accept. One against a proof is a contradiction, and decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from theory.claim import Claim
from validate import proving
from validate.breaking_numbers import breaking_numbers
from validate.breaks import accepted, certified, worst_evidence
from validate.contradiction import contradictions
from validate.denied import denied
from validate.in_words import described, evidence_of, still_unbroken
from validate.instances import read_instance, tried
from validate.instances.covered import coverage
from validate.instances.hunt import COORDINATES, LARGER, hunt
from validate.instances.hunt import POOL as OF_POOL
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.specs import with_constants
from validate.on_instance import valued
from validate.proved_files import with_file
from validate.verdict import NOTHING_COVERED, Evidence, Result, decide, refused

log = logging.getLogger(__name__)
POOL = {True: 400, False: 4000}
"""Instances of the pool, quick and full."""
FAR = {True: 240, False: 2400}
"""Instances with many clients, many turns or long runs, quick and full."""
EVALUATIONS = {True: 600, False: 20_000}
"""Evaluations of the search, quick and full."""
OPERATIONS = {True: 500_000, False: 20_000_000}
"""Of all of them together, quick and full (`theory.program.work`): what takes much to measure is tried less often."""
FIRST, OF_PROVED = {True: 40, False: 200}, {True: 20, False: 200}
"""Instances of the pool on which a claim is tried before a derivation is looked for, quick and full, and one whose own
derivation kernel and verifier accepted; nothing is searched for then."""
OTHER_DRAWS = 10**8
"""What is added to the seed for the second hunt for what would be supported: no draw of the first is made again."""


class GivenUpError(Exception):
    """A check that was given up says nothing."""


def examine(
    claim: Claim,
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    tell: Callable[[str], None] = log.debug,
    given_up: Callable[[], bool] = lambda: False,
    met: Callable[[Seen], None] = lambda _: None,
    twice: bool = True,
) -> Result:
    """The verdict on a claim, with all its evidence.

    Args:
        claim: the claim; nothing about it is looked up.
        quick: smaller budgets.
        out: certificates go to its subdirectory ``certificates``.
        seed: of what is drawn.
        tell: called with one line of text.
        given_up: asked between instances; where it says so there is no verdict.
        met: told of each break before anybody makes it smaller or looks at it; what it raises ends the check.
        twice: whether what would be supported is hunted once more; without it another hunt has to follow.

    Raises:
        GivenUpError: where it is given up.
    """

    def stop() -> bool:
        if given_up():
            raise GivenUpError(f"the check of {claim.id} was given up")
        return False

    def stands(seen: Seen) -> bool:
        met(seen)
        return accepted(claim, seen, quick)

    if not claim.has_sentence:
        text = f"no sentence of the language says it: {claim.title}"
        return decide(claim.id, [Evidence("exact", "undecided", text, origin="search")], quick=quick)
    evidence = contradictions(claim, quick)
    stop()
    if any(item.outcome == "vacuous" for item in evidence):
        return decide(claim.id, evidence, quick=quick)
    if claim.in_words:
        return decide(claim.id, [*evidence, _in_words(claim)], quick=quick)
    own, proof = with_file(_of_its_own(claim), Path(out))
    evidence += own
    proved = _is_proved(evidence)
    found = _tried_first(claim, (OF_PROVED if proved else FIRST)[quick], quick, seed, tell, stop, stands)
    broken = found.broken is not None and stands(found.broken)
    if not (found.seen or broken or proved):  # of what is proved an instance was met
        stop()
        excluded = denied(claim)
        if excluded:
            return decide(claim.id, [*excluded, *evidence], quick=quick)
    limited = False
    searches = ((proving.FIRST_UNITS, False), (proving.work_of(claim), True))  # with other claims of its paper at last
    for units, lemmas in searches if all(item.refusal is not None for item in own) else ():  # also where there is none
        if broken:
            break
        stop()
        searched, limited = _searched(claim, units, lemmas)
        derived, proof = with_file(searched, Path(out))
        evidence += derived
        proved = _is_proved(evidence)
        if not (proved or found.few):
            found = _hunt(claim, True, seed, tell, stop, stands, found, last=LARGER)
            broken = found.broken is not None and stands(found.broken)
        if not limited:  # more work would come to the same
            break
    if not (proved or broken):
        stop()
        found = _hunted(claim, found, quick, seed, tell, stop, stands)
        if found.broken is None:
            found, more = _asked_for_numbers(claim, found, quick)
            evidence += more
    path: Path | None = None
    unbroken = found.broken is None
    evidence = evidence if unbroken else [*map(_without_citations, evidence)]
    if found.broken is not None:
        item, path = _certified(claim, found, Path(out), quick)
        evidence.append(item)
    elif not proved:
        stop()
        tell(f"{claim.id}: the worst functions of its class, at small sizes")
        more, path, worst_one = worst_evidence(claim, Path(out), quick, seed)
        evidence += more
        unbroken = worst_one is None
    if unbroken:
        for item, written in _given(claim, Path(out), quick):
            evidence.append(item)
            path = path or written
    evidence += _doubts(found, proved)
    held = evidence_of(claim, found, quick)
    covered = NOTHING_COVERED if proved else coverage(claim, found, quick, _is_bounded(evidence))
    result = decide(claim.id, [*evidence, *held], None if path is None else str(path), covered, quick)
    if result.verdict == "supported" and twice and limited:
        stop()
        tell(f"{claim.id}: a longer search for a derivation")
        derived, proof = with_file(_searched(claim, proving.LAST_UNITS, True)[0], Path(out))
        evidence += derived
        result = decide(claim.id, [*evidence, *held], None, covered, quick)
    if result.verdict == "supported" and twice:
        stop()
        tell(f"{claim.id}: once more, from other draws")
        again = _hunt(claim, True, seed + OTHER_DRAWS, tell, stop, stands, again=True)
        if again.broken is None:
            held += [still_unbroken(again), *_doubts(again)]
            found.reached.join(claim, again.reached)  # what grows there is no less in the way of support
            covered = coverage(claim, found, quick, _is_bounded(evidence))
        else:
            item, path = _certified(claim, again, Path(out), quick)
            held = [item]
        result = decide(claim.id, [*evidence, *held], None if path is None else str(path), covered, quick)
    return replace(result, proof=proof) if result.verdict == "proved" else result


def _certified(claim: Claim, found: Hunt, out: Path, quick: bool) -> tuple[Evidence, Path | None]:
    """The evidence of what a hunt broke, and its certificate."""
    assert found.broken is not None
    item, path = certified(claim, found.broken, found.first, found.origin, out, quick)
    return replace(item, data={**(item.data or {}), "stage": found.stage, "tried": found.tried}), path


def _doubts(found: Hunt, proved: bool = False) -> list[Evidence]:
    """What seems to break a claim that nothing else broke, and has no certificate."""
    if found.broken is not None:
        return []
    doubts = []
    if found.suspect is not None:
        text = f"broken in floats ({described(found.suspect)}); fractions do not tell, even where it is made smaller"
        doubts.append(_unconfirmed(text, found.suspect))
    if found.near is not None and not proved:
        text = (
            "broken by far, where an equation that it assumes is satisfied up to rounding "
            f"({described(found.near.drawn)}); no fractions were met that satisfy it exactly, so that there is no "
            "certificate"
        )
        doubts.append(_unconfirmed(text, found.near.drawn))
    return doubts


def _unconfirmed(text: str, one: Drawn) -> Evidence:
    """A break that has no certificate."""
    return Evidence("exact", "fails", text, data={"instance": one.instance.to_json()}, origin="pool")


def _is_proved(evidence: list[Evidence]) -> bool:
    """Whether it is proved in full: what stands on a citation is tried like what is not proved."""
    return any(item.outcome == "proved" and not item.citations for item in evidence)


def _without_citations(item: Evidence) -> Evidence:
    """A proof that cites, where an instance breaks the claim: then what it cites is not so."""
    if not item.citations:
        return item
    detail = f"its derivation stands on what it cites ({'; '.join(item.citations)}), and an instance breaks it"
    return replace(item, outcome="undecided", detail=detail)


def _is_bounded(evidence: list[Evidence]) -> bool:
    """Whether the worst case over a larger class proves the claim at all small sizes and numbers that it looked at."""
    return any(item.origin == "worst case" and (item.data or {}).get("bounded") is True for item in evidence)


def _tried_first(
    claim: Claim,
    pool: int,
    quick: bool,
    seed: int,
    tell: Callable[[str], None],
    stop: Callable[[], bool],
    stands: Callable[[Seen], bool],
) -> Hunt:
    """The first instances of the pool, with what comes of them in a full check; fewer of a claim that is proved."""
    return hunt(
        claim,
        pool=pool,
        evaluations=0,
        seed=seed,
        tell=tell,
        accepted=stands,
        stop=stop,
        operations=OPERATIONS[True],
        last=OF_POOL if quick else LARGER,
    )


def _hunted(
    claim: Claim,
    first: Hunt,
    quick: bool,
    seed: int,
    tell: Callable[[str], None],
    stop: Callable[[], bool],
    stands: Callable[[Seen], bool],
) -> Hunt:
    """What a hunt meets; a full one is made only where a quick one breaks nothing: that meets more kinds.

    A quick one goes on from the first instances of the pool.
    """
    before = tried.instances()
    found = _hunt(claim, True, seed, tell, stop, stands, first if quick and first.broken is None else None)
    if quick or (found.broken is not None and stands(found.broken)):
        return found
    of_first = tried.instances() - before
    found = _hunt(claim, False, seed, tell, stop, stands)
    return found if found.broken is None else replace(found, tried=of_first + found.tried)


def _hunt(
    claim: Claim,
    small: bool,
    seed: int,
    tell: Callable[[str], None],
    stop: Callable[[], bool],
    stands: Callable[[Seen], bool],
    begun: Hunt | None = None,
    again: bool = False,
    last: str = COORDINATES,
) -> Hunt:
    return hunt(
        claim,
        pool=POOL[small],
        evaluations=EVALUATIONS[small],
        far=FAR[small],
        seed=seed,
        tell=tell,
        accepted=stands,
        stop=stop,
        operations=OPERATIONS[small] // (2 if again else 1),
        begun=begun,
        again=again,
        last=last,
    )


def _asked_for_numbers(claim: Claim, found: Hunt, quick: bool) -> tuple[Hunt, list[Evidence]]:
    """What came of a hunt, with the instance that z3 has for a claim about numbers alone; or a line about it."""
    breaking = breaking_numbers(claim, next(iter(found.seen), None), quick)
    if breaking is None:
        return found, []
    if breaking.seen is None:
        return found, [Evidence("exact", "fails", breaking.detail, origin="search")]
    return replace(found, broken=breaking.seen, first=breaking.seen, origin="search", stage="numbers of z3"), []


def _in_words(claim: Claim) -> Evidence:
    said = "; ".join(f"{name} is {words}" for name, words in claim.in_words.items())
    return Evidence("exact", "undecided", f"no formula says what it speaks of, so nothing was measured: {said}")


def _of_its_own(claim: Claim) -> list[Evidence]:
    """Of its own derivation; one that ends with an error proves nothing, and ends nothing else."""
    try:
        return proving.evidence(claim, 0)
    except Exception as error:  # whatever happens in algebra
        why = _told(claim, error)
        return [refused("given", f" with an error: {why}", "kernel", why=why)]


def _searched(claim: Claim, units: int, lemmas: bool) -> tuple[list[Evidence], bool]:
    """Of a derivation that is searched, and whether there may be one for more work; an error is as above."""
    try:
        return proving.searched(claim, units, lemmas=lemmas)
    except Exception as error:  # whatever happens in algebra
        why = f"its proof ended with an error: {_told(claim, error)}"
        return [Evidence("algebra", "undecided", why, origin="search")], False


def _told(claim: Claim, error: Exception) -> str:
    """How a proof ended; where it did is in the log."""
    log.debug("%s: its proof ended with an error", claim.id, exc_info=True)
    return f"{type(error).__name__}: {error}"


def _given(claim: Claim, out: Path, quick: bool) -> list[tuple[Evidence, Path | None]]:
    """Instances that somebody wrote by hand for the claim."""
    found = []
    for data in claim.given:
        form, constants = with_constants(data, claim)
        seen = measured(claim, valued(claim, read_instance(form, claim.of), constants))
        if seen is not None and seen.measured.broken:
            found.append(certified(claim, seen, None, "given", out, quick))
            break
    return found
