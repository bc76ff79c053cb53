"""All the evidence for a claim that says what it means, joined into its verdict.

Everything is read off the claim: whether its relations can hold together at all; whether the sentence itself is proved
(`validate.proving`); instances made from it, measured exactly; a search from the tightest of them; the worst functions
of its class at small sizes (`validate.worst_case`); and last what somebody wrote by hand for it (`Claim.given`). A
break is exact when it is found; it is made smaller, and becomes a certificate that the stand-alone verifier has to
accept. One against a proof is a contradiction, and decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.arithmetic import to_element
from theory.claim import Claim
from theory.operations import to_fraction
from theory.program import LINEAR_GIVEN_DRAWS
from validate import certificate as certificates
from validate import proving
from validate.both_sides import Reading, Row
from validate.certificate.parts import failures, is_long
from validate.certificate.play import play_certificate
from validate.contradiction import contradictions
from validate.instances import Instance, Pieces, Points, Quadratics, Ridges, read_instance, tried
from validate.instances.covered import coverage
from validate.instances.hunt import hunt
from validate.instances.occasion import Occasion
from validate.instances.pool import Drawn, needs_minimiser
from validate.instances.scalars import Schedule
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shrinking import shrunk
from validate.verdict import Evidence, Origin, Result, decide
from validate.worst_case.stage import told, worst

log = logging.getLogger(__name__)

POOL = {True: 400, False: 4000}
"""Instances of the pool, quick and full."""
FAR = {True: 240, False: 2400}
"""Instances with many clients, many turns or long runs, quick and full."""
EVALUATIONS = {True: 600, False: 20_000}
"""Evaluations of the search, quick and full."""
OPERATIONS = {True: 800_000, False: 20_000_000}
"""Of all of them together, quick and full (`theory.program.work`): what takes much to measure is tried less often."""
SMALLER = {True: 100, False: 1000}
"""Tries to make the numbers of a worst case smaller, quick and full."""
PLAYED = 8
"""Rounds of a random run beyond which certificates are re-checked by moments first: outcomes are many."""
PROVED = 200
"""Instances that a proof is held against, quick and full; nothing is searched for then."""


def examine(
    claim: Claim,
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    tell: Callable[[str], None] = log.debug,
) -> Result:
    """The verdict on a claim, with all its evidence.

    Args:
        claim: the claim; nothing about it is looked up.
        quick: smaller budgets.
        out: certificates go to its subdirectory ``certificates``.
        seed: of what is drawn.
        tell: called with one line of text.
    """
    if not claim.has_sentence:
        text = f"no sentence of the language says it: {claim.title}"
        return decide(claim.id, [Evidence("exact", "undecided", text, origin="search")], quick=quick)
    evidence = contradictions(claim, quick)
    if any(item.outcome == "vacuous" for item in evidence):
        return decide(claim.id, evidence, quick=quick)
    if claim.in_words:
        return decide(claim.id, [*evidence, _in_words(claim)], quick=quick)
    evidence += _proved(claim)
    proved = any(item.outcome == "proved" for item in evidence)
    found = _hunted(claim, proved, quick, seed, tell)
    path: Path | None = None
    unbroken = found.broken is None
    if found.broken is not None:
        item, path = certified(claim, found.broken, found.first, found.origin, Path(out), quick)
        item = replace(item, data={**(item.data or {}), "stage": found.stage, "tried": found.tried})
        evidence.append(item)
    elif not proved:
        tell(f"{claim.id}: the worst functions of its class, at small sizes")
        more, path, worst_one = worst_evidence(claim, Path(out), quick, seed)
        evidence += more
        unbroken = worst_one is None
    if unbroken:
        for item, written in _given(claim, Path(out), quick):
            evidence.append(item)
            path = path or written
    if found.suspect is not None and found.broken is None:
        text = f"broken in floats ({described(found.suspect)}); fractions do not tell, even where it is made smaller"
        data = {"instance": found.suspect.instance.to_json()}
        evidence.append(Evidence("exact", "fails", text, data=data, origin="pool"))
    evidence += _told(claim, found, quick)
    return decide(claim.id, evidence, None if path is None else str(path), coverage(claim, found, quick), quick)


def _hunted(claim: Claim, proved: bool, quick: bool, seed: int, tell: Callable[[str], None]) -> Hunt:
    """What a hunt meets; a full one only where a quick one breaks nothing, as that meets more kinds of instances."""

    def of_size(small: bool) -> Hunt:
        return hunt(
            claim,
            pool=PROVED if proved else POOL[small],
            evaluations=0 if proved else EVALUATIONS[small],
            far=0 if proved else FAR[small],
            seed=seed,
            tell=tell,
            accepted=lambda seen: accepted(claim, seen, quick),
            operations=OPERATIONS[small],
        )

    before = tried.instances()
    first = of_size(True)
    if quick or proved or (first.broken is not None and accepted(claim, first.broken, quick)):
        return first
    of_first = tried.instances() - before
    found = of_size(False)
    return found if found.broken is None else replace(found, tried=of_first + found.tried)


def _in_words(claim: Claim) -> Evidence:
    said = "; ".join(f"{name} is {words}" for name, words in claim.in_words.items())
    return Evidence("exact", "undecided", f"no formula says what it speaks of, so nothing was measured: {said}")


def _proved(claim: Claim) -> list[Evidence]:
    """Whether the sentence itself is proved; a proof that ends with an error proves nothing, and ends nothing else."""
    try:
        return proving.evidence(claim)
    except Exception as error:  # whatever happens in algebra
        log.debug("%s: its proof ended with an error", claim.id, exc_info=True)
        text = f"its proof ended with an error: {type(error).__name__}: {error}"
        return [Evidence("algebra", "undecided", text, origin="search")]


# --- breaks ----------------------------------------------------------------------------------------------------------


def certified(
    claim: Claim, seen: Seen, first: Seen | None, origin: Origin, out: Path, quick: bool
) -> tuple[Evidence, Path | None]:
    """A break as a certificate; without one that the verifier accepts, nothing is refuted."""
    problems = []
    for one in [seen] if first is None or first is seen else [seen, first]:
        row = one.measured.broken[0]
        detail = f"an exact instance breaks it: {_sides(claim, row)} ({described(one.drawn)})"
        data = {
            "instance": one.drawn.instance.to_json(),
            "constants": {name: _text(value) for name, value in one.drawn.constants.items()},
            "at": dict(row.at),
            "left": _text(row.left),
            "right": _text(row.right),
        }
        try:
            made = valid_certificate(claim, one, row, origin, quick)
            path = certificates.write(made, out / "certificates")
        except ValueError as error:
            problems.append(str(error))
            continue
        ratio = _ratio(claim, row)
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


def certificate_of_break(one: Occasion) -> dict[str, Any]:
    """The certificate of a given instance that breaks a claim.

    Raises:
        ValueError: when it violates an assumption, or breaks nothing; when no certificate can hold it.
    """
    claim = one.claim
    if one.unmet:
        raise ValueError(f"{claim.id}: the instance violates {', '.join(map(repr, one.unmet))}")
    both = one.measured
    if both.broken and not one.exact:
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
    program, problem = claim.program, seen.drawn.instance.problem
    linear = program is not None and program.operations <= LINEAR_GIVEN_DRAWS and isinstance(problem, Quadratics)
    random = program is not None and bool(program.random)
    long = linear and random and seen.drawn.instance.rounds > PLAYED
    first: Reading = "moments" if long else seen.measured.by
    second: Reading = "moments" if first == "play" else "play"
    problems = []
    for by in (first, second) if linear else (first,):
        made = certificate_of(claim, seen, row, origin, quick, by)
        try:
            report = certificates.verified(made)
        except ValueError as error:
            problems.append(str(error))
            continue
        if report.valid:
            return made
        problems.append(failures(report))
    raise ValueError(problems[0])


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
    """The worst functions of the claim's class; where they break it, the certificate and the instance."""
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


def _given(claim: Claim, out: Path, quick: bool) -> list[tuple[Evidence, Path | None]]:
    """Instances that somebody wrote by hand for the claim."""
    found = []
    for data in claim.given:
        constants = {name: _read(value) for name, value in data.get("constants", {}).items()}
        instance = read_instance({k: v for k, v in data.items() if k != "constants"}, claim.of)
        drawn = Drawn(instance, constants, {**instance.parameters, **constants})
        seen = measured(claim, drawn)
        if seen is not None and seen.measured.broken:
            found.append(certified(claim, seen, None, "given", out, quick))
            break
    return found


def _read(value: Any) -> Any:
    return tuple(_read(v) for v in value) if isinstance(value, list) else Fraction(str(value))


def _sides(claim: Claim, row: Row) -> str:
    opposite = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!="}[claim.sentence.relation]
    where = ", ".join(f"{name}={value}" for name, value in row.at.items())
    return f"left side {_brief(row.left)} {opposite} right side {_brief(row.right)}" + (f" at {where}" if where else "")


def _brief(value: Any) -> str:
    text = _text(value)
    if len(text) <= 24:
        return text
    try:
        return f"{float(value):.10g}"
    except OverflowError:
        return _decimal(value)


def _decimal(value: Fraction) -> str:
    """A number that float64 does not have, or that is too long to be printed, to ten digits."""
    with localcontext(prec=10, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def _text(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_text(v) for v in value]
    if not isinstance(value, Fraction):
        return f"{float(value):.17g}"
    return _decimal(value) if is_long(value) else str(value)


def _ratio(claim: Claim, row: Row) -> float | None:
    if claim.sentence.relation not in ("<=", "<"):
        return None
    if not row.right > 0:
        return None
    try:
        if isinstance(row.left, Fraction) and isinstance(row.right, Fraction):
            return float(row.left / row.right)
        return float(row.left) / float(row.right)
    except (OverflowError, ZeroDivisionError):  # a number that float64 does not have
        return None


def described(drawn: Drawn) -> str:
    """An instance in words."""
    instance = drawn.instance
    words = []
    if instance.problem is not None:
        N = instance.problem.clients
        samples = max(instance.problem.samples(n) for n in range(N))
        words.append(f"{N} client{'s' if N > 1 else ''}" + (f" of {samples} samples" if samples > 1 else ""))
        words.append(f"{instance.problem.dim} dimension{'s' if instance.problem.dim > 1 else ''}")
        if isinstance(instance.problem, Pieces):
            words.append("piecewise quadratic functions")
        if isinstance(instance.problem, Ridges):
            words.append("sums of piecewise quadratics along directions")
        if isinstance(instance.problem, Points):
            words.append("functions given by points")
    named: Mapping[str, Any] = {**instance.parameters, **drawn.constants}
    if instance.program is not None:
        words.append(f"{instance.rounds} round{'s' if instance.rounds > 1 else ''}")
    elif instance.problem is None and not instance.vectors:
        named = {**named, "K": Fraction(instance.rounds)}
    words += [f"{name}={_shown(value)}" for name, value in named.items()]
    words += [f"{name}={_shown(value)}" for name, value in instance.vectors.items()]
    return ", ".join(words)


SHOWN = 8
"""Entries of a list that are printed, if they are not all the same."""


def _shown(value: Any) -> str:
    """A number, or a list of what it has: what is repeated is said once, and of a long list its beginning."""
    if isinstance(value, Schedule):
        value = value.values
    if not isinstance(value, tuple):
        return _brief(value)
    runs: list[tuple[str, int]] = []
    for text in map(_shown, value):
        last, count = runs[-1] if runs else ("", 0)
        runs = [*runs[:-1], (text, count + 1)] if text == last else [*runs, (text, 1)]
    words = [f"{text} {count} times" if count > 3 else ", ".join([text] * count) for text, count in runs]
    rest = sum(count for _, count in runs[SHOWN:])
    return f"[{', '.join(words[:SHOWN])}{f', and {rest} more' if rest else ''}]"


# --- what did not break it -------------------------------------------------------------------------------------------


def _told(claim: Claim, found: Hunt, quick: bool) -> list[Evidence]:
    """What pool and search saw."""
    if found.broken is not None:
        return []
    left_out = []
    if found.undefined:
        left_out.append(f"a side is undefined in {found.undefined} cases")
    if found.silent:
        left_out.append(f"{found.silent} instances of which it does not speak")
    if found.too_many:
        left_out.append(f"{found.too_many} with too many outcomes")
    if found.undecided:
        left_out.append(f"{found.undecided} that intervals do not decide")
    left_out += [f"{count} that could not be measured ({reason})" for reason, count in found.failed.items()]
    rest = f"; left out: {', '.join(left_out)}" if left_out else ""
    if not found.seen:
        text = f"no instance on which it says something was found in {found.none + found.silent} tries{rest}"
        return [Evidence("exact", "undecided", text, origin="pool")]
    tightest = max(found.seen, key=lambda s: s.score)
    row = max(tightest.measured.rows, key=lambda r: -2.0 if r.left is None else _ratio(claim, r) or -1.0)
    ratio = max((r for s in found.seen for r in [_largest_ratio(claim, s)] if r is not None), default=None)
    cases = sum(len(s.measured.rows) for s in found.seen)
    text = f"never broken on {len(found.seen)} instances made from the claim ({cases} cases), exactly"
    if ratio is not None:
        text += f"; left side at most {ratio:.6g} times the right side"
    data = {
        "instances": len(found.seen),
        "cases": cases,
        "tightest": {"left": _text(row.left), "right": _text(row.right)},
    }
    if found.reached:
        far = ", ".join(f"{name}={value}" for name, value in found.reached.items())
        text += f"; nor where the tightest are made longer, up to {far}"
        data["reached"] = dict(found.reached)
    if found.far:
        text += f"; nor on {len(found.far)} with many clients, many turns or long runs, in floats"
    pool = Evidence("exact", "holds", text + rest, tightness=ratio, data=data, origin="pool")
    if not found.evaluations:
        return [pool]
    text = f"a climb from the tightest instances did not break it in {found.evaluations} evaluations"
    return [pool, Evidence("search", "holds", text, data={"evaluations": found.evaluations}, origin="search")]


def _largest_ratio(claim: Claim, seen: Seen) -> float | None:
    ratios = [_ratio(claim, row) for row in seen.measured.rows if row.left is not None]
    return max((r for r in ratios if r is not None), default=None)
