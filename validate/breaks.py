"""A break as a certificate that the stand-alone verifier accepts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.arithmetic import to_element
from theory.claim import Claim
from theory.operations import to_fraction
from theory.program import LINEAR_GIVEN_DRAWS
from validate import certificate as certificates
from validate.both_sides import Reading, Row
from validate.certificate.exact_text import failures
from validate.certificate.play import play_certificate
from validate.in_words import as_text, described, sides_in_words, tightness_at
from validate.instances import Instance, Quadratics
from validate.instances.pool import needs_minimiser
from validate.instances.seen import Seen
from validate.instances.shrinking import shrunk
from validate.instances.without_loss import General, without_loss
from validate.on_instance import OnInstance
from validate.play import Play
from validate.verdict import Evidence, Origin
from validate.worst_case.stage import told, worst

log = logging.getLogger(__name__)

SMALLER = {True: 100, False: 1000}
"""Tries to make the numbers of a worst case smaller, quick and full."""
PLAYED = 8
"""Rounds of a random run beyond which certificates are re-checked by moments first: outcomes are many."""


# --- breaks ----------------------------------------------------------------------------------------------------------


def certified(
    claim: Claim, seen: Seen, first: Seen | None, origin: Origin, out: Path, quick: bool
) -> tuple[Evidence, Path | None]:
    """A break as a certificate; without one that the verifier accepts, nothing is refuted."""
    problems = []
    for one in [seen] if first is None or first is seen else [seen, first]:
        row = one.measured.broken[0]
        detail = f"an exact instance breaks it: {sides_in_words(claim, row)} ({described(one.drawn)})"
        data = {
            "instance": one.drawn.instance.to_json(),
            "constants": {name: as_text(value) for name, value in one.drawn.constants.items()},
            "at": dict(row.at),
            "left": as_text(row.left),
            "right": as_text(row.right),
        }
        try:
            made = valid_certificate(claim, one, row, origin, quick)
            path = certificates.write(made, out / "certificates")
        except ValueError as error:
            problems.append(str(error))
            continue
        ratio = tightness_at(claim, row)
        text = f"{detail}; the stand-alone verifier agrees"
        return Evidence("certificate", "refuted", text, tightness=ratio, data=data, origin=origin), path
    text = f"{detail}; no certificate: {problems[0]}"
    return Evidence("exact", "fails", text, data=data, origin=origin), None


def accepted(claim: Claim, seen: Seen, quick: bool) -> bool:
    """Whether the stand-alone verifier accepts a break."""
    try:
        valid_certificate(claim, seen, seen.measured.broken[0], "pool", quick)
    except ValueError:
        return False
    return True


def certificate_of_break(one: OnInstance) -> dict[str, Any]:
    """The certificate of a given instance that breaks a claim.

    Raises:
        ValueError: when it violates an assumption, or breaks nothing; when no certificate can hold it.
    """
    claim = one.claim
    if one.unmet:
        raise ValueError(f"{claim.id}: the instance violates {', '.join(map(repr, one.unmet))}")
    both = one.measured
    if both.broken and one.how == "floats":
        raise ValueError(f"{claim.id}: the instance has too many outcomes to be played, and only floats break it there")
    if not both.broken:
        why = both.silent or next((row.why for row in both.rows if row.status != "holds"), "")
        raise ValueError(f"{claim.id} is not broken on the instance{f': {why}' if why else ''}")
    return valid_certificate(claim, Seen(one.drawn, both), both.broken[0], "given", False)


def valid_certificate(claim: Claim, seen: Seen, row: Row, origin: Origin, quick: bool) -> dict[str, Any]:
    """The certificate of a break that the stand-alone verifier accepts, by the reading that found it or the other one.

    Raises:
        ValueError: where it accepts neither.
    """
    asked = claim, row.at, row.minimiser
    known = next((answer for before, answer in seen.judged if before == asked), None)
    if known is None:
        known = _judged(claim, seen, row)
        seen.judged.append((asked, known))
    if isinstance(known, str):
        raise ValueError(known)
    return {**known, "origin": origin, "quick": quick}  # neither is any matter of the verifier's


def _judged(claim: Claim, seen: Seen, row: Row) -> dict[str, Any] | str:
    """The certificate that the verifier accepts, or why it accepts none."""
    program, problem = claim.program, seen.drawn.instance.problem
    linear = program is not None and program.operations <= LINEAR_GIVEN_DRAWS and isinstance(problem, Quadratics)
    random = program is not None and bool(program.random)
    long = linear and random and seen.drawn.instance.rounds > PLAYED and not _certain(seen.drawn.instance)
    first: Reading = "moments" if long else seen.measured.by
    second: Reading = "moments" if first == "play" else "play"
    problems = []
    readings: list[Reading] = [first, *([second] if linear else [])]
    if program is not None and not random:
        readings.append("intervals")
    for by in dict.fromkeys(readings):  # the last where a run has numbers that grow long
        made = certificate_of(claim, seen, row, "pool", True, by)
        try:
            report = certificates.verified(made)
        except ValueError as error:
            problems.append(str(error))
            continue
        if report.valid:
            return made
        problems.append(failures(report))
    return problems[0]


def _certain(instance: Instance) -> bool:
    """Whether the first round has one outcome: then moments take longer than play, however long the run is."""
    try:
        return len(Play(instance, PLAYED).law(1)) == 1
    except (ValueError, ArithmeticError):
        return False


def certificate_of(
    claim: Claim, seen: Seen, row: Row, origin: Origin, quick: bool, by: Reading = "play"
) -> dict[str, Any]:
    constants = {name: value for name, value in seen.drawn.constants.items() if name != "K"}
    return play_certificate(
        claim,
        seen.drawn.instance.to_json(),
        row.at,
        _side(row.left),
        _side(row.right),
        origin=origin,
        quick=quick,
        constants={name: _plain(value) for name, value in constants.items()},
        by=by,
        **_meant(claim, seen.drawn.instance, row.minimiser),
    )


def _meant(claim: Claim, instance: Instance, choice: int) -> dict[str, Any]:
    """The minimisers that are meant, where there are more than one to choose from."""
    if instance.problem is None or not needs_minimiser(claim):
        return {}
    start = tuple(map(to_element, instance.start))

    def point(*which: int) -> tuple[list[Fraction] | None, bool]:
        found = instance.problem.minimisers(start, *which)  # type: ignore[union-attr]
        points = found.points
        chosen = points[choice if choice < len(points) else 0] if points else None
        return None if chosen is None else list(map(to_fraction, chosen)), found.unique

    found: dict[str, Any] = {}
    mean, only = point()
    if mean is not None and not only:
        found["xstar"] = mean
    own = [point(n) for n in range(instance.problem.clients)]
    if all(p is not None for p, _ in own) and not all(only for _, only in own):
        found["xstar_n"] = [p for p, _ in own]
    return found


def _side(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value
    from theory.arithmetic import decimals

    lower, upper = decimals(value)
    return Fraction(lower), Fraction(upper)


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def worst_evidence(
    claim: Claim, out: Path, quick: bool, seed: int = 0, stop: Callable[[], bool] = lambda: False
) -> tuple[list[Evidence], Path | None, Seen | None]:
    """The worst functions of the claim's class; where they break it, the certificate and the instance.

    They are those of its general form first, if it has one.
    """
    general = without_loss(claim)
    if general is not None:
        worst_one = _worst_of(general, quick, seed, lambda seen: accepted(claim, seen, quick), stop)
        if worst_one is not None:
            item, path = certified(claim, worst_one, None, "worst case", out, quick)
            return [item], path, worst_one
    try:
        found = worst(claim, quick=quick, seed=seed, accepted=lambda seen: accepted(claim, seen, quick), stop=stop)
    except Exception as error:  # of a solver; it ends nothing else
        log.debug("%s: its worst case ended with an error", claim.id, exc_info=True)
        text = f"its worst case ended with an error: {type(error).__name__}: {error}"
        return [Evidence("exact", "undecided", text, origin="worst case")], None, None
    broken = found.broken or next(iter(found.suspects), None)
    if broken is None:
        return told(claim, found), None, None
    smaller = broken if found.broken is None else shrunk(claim, broken, SMALLER[quick])
    item, path = certified(claim, smaller, broken, "worst case", out, quick)
    return [item], path, smaller


def _worst_of(
    general: General, quick: bool, seed: int, stands: Callable[[Seen], bool], stop: Callable[[], bool]
) -> Seen | None:
    """Among the worst functions of the general form of a claim, some that break the claim; None without."""

    def moved(seen: Seen) -> Seen | None:
        there = general.moved(seen)
        return there if there is not None and there.measured.broken and stands(there) else None

    more = without_loss(general.free)
    if more is not None:
        seen = _worst_of(more, quick, seed, lambda seen: moved(seen) is not None, stop)
        return None if seen is None else moved(seen)
    try:
        found = worst(general.free, quick=quick, seed=seed, accepted=lambda seen: moved(seen) is not None, stop=stop)
    except Exception:  # of a solver; it ends nothing else
        log.debug("%s: the worst case of its general form ended with an error", general.free.id, exc_info=True)
        return None
    return None if found.broken is None else moved(found.broken)
