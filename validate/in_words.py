"""Instances and both sides of a sentence in words, for evidence."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.comparison import OPPOSITE
from validate.both_sides import Row, as_printed
from validate.certificate.exact_text import in_digits, is_long
from validate.counted import counted
from validate.instances import Pieces, Points, Ridges
from validate.instances.pool import Drawn
from validate.instances.scalars import Schedule
from validate.instances.seen import Hunt, Seen
from validate.verdict import Evidence


def sides_in_words(claim: Claim, row: Row) -> str:
    opposite = OPPOSITE[claim.sentence.relation]
    where = ", ".join(f"{name}={value}" for name, value in as_printed(row.at).items())
    return f"left side {_brief(row.left)} {opposite} right side {_brief(row.right)}" + (f" at {where}" if where else "")


def _brief(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= 24 else in_digits(value)


def as_text(value: Any) -> Any:
    if isinstance(value, Schedule):
        value = value.values
    if isinstance(value, tuple):
        return [as_text(v) for v in value]
    if not isinstance(value, Fraction):
        return f"{float(value):.17g}"
    return in_digits(value) if is_long(value) else str(value)


def tightness_at(claim: Claim, row: Row) -> float | None:
    return row.ratio if claim.sentence.relation in ("<=", "<") else None


def described(drawn: Drawn) -> str:
    """An instance in words."""
    instance = drawn.instance
    words = []
    if instance.problem is not None:
        N = instance.problem.clients
        samples = max(instance.problem.samples(n) for n in range(N))
        words.append(counted(N, "client") + (f" of {samples} samples" if samples > 1 else ""))
        words.append(counted(instance.problem.dim, "dimension"))
        if isinstance(instance.problem, Pieces):
            words.append("piecewise quadratic functions")
        if isinstance(instance.problem, Ridges):
            words.append("sums of piecewise quadratics along directions")
        if isinstance(instance.problem, Points):
            words.append("functions given by points")
    named: Mapping[str, Any] = {**instance.parameters, **drawn.constants}
    if instance.program is not None:
        words.append(counted(instance.rounds, "round"))
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


def evidence_of(claim: Claim, found: Hunt, quick: bool) -> list[Evidence]:
    """What pool and search saw."""
    if found.broken is not None:
        return []
    left_out = []
    if found.undefined:
        left_out.append(f"a side is undefined in {counted(found.undefined, 'case')}")
    if found.silent:
        left_out.append(f"{counted(found.silent, 'instance')} of which it does not speak")
    if found.too_many:
        left_out.append(f"{found.too_many} with too many outcomes")
    if found.undecided:
        left_out.append(f"{found.undecided} that intervals do not decide")
    left_out += [f"{count} that could not be measured ({reason})" for reason, count in found.failed.items()]
    rest = f"; left out: {', '.join(left_out)}" if left_out else ""
    if not found.seen:
        attempts = counted(found.none + found.silent, "attempt")
        perhaps = "perhaps none satisfies what it assumes, or few do"
        text = f"no instance on which it says something was met in {attempts}: {perhaps}{rest}"
        return [Evidence("exact", "undecided", text, origin="pool")]
    tightest = max(found.seen, key=lambda s: s.score)
    row = max(tightest.measured.rows, key=lambda r: -2.0 if r.left is None else tightness_at(claim, r) or -1.0)
    ratio = max((r for s in found.seen for r in [_largest_ratio(claim, s)] if r is not None), default=None)
    cases = sum(len(s.measured.rows) for s in found.seen)
    seen = counted(len(found.seen), "instance")
    text = f"never broken on {seen} made from the claim ({counted(cases, 'case')}), exactly"
    if ratio is not None:
        text += f"; left side at most {ratio:.6g} times the right side"
    data = {
        "instances": len(found.seen),
        "cases": cases,
        "tightest": {"left": as_text(row.left), "right": as_text(row.right)},
    }
    if found.reached.sizes:
        far = ", ".join(f"{name}={value}" for name, value in found.reached.sizes.items())
        text += f"; nor where the tightest are made longer, hardly ever along two integers at once, up to {far}"
        nearest = max((ratio for _, rungs in found.reached.rungs for _, ratio in rungs), default=0.0)
        if ratio is not None and nearest > ratio:  # of instances that are not kept
            text += f", where it comes to {nearest:.6g} times"
        data["reached"] = dict(found.reached.sizes)
    if found.far:
        text += f"; nor on {len(found.far)} with many clients, many turns or long runs, in floats"
    pool = Evidence("exact", "holds", text + rest, tightness=ratio, data=data, origin="pool")
    if not found.evaluations:
        return [pool]
    text = f"a search in batches did not break it; {counted(found.evaluations, 'instance')} of it measured exactly"
    return [pool, Evidence("search", "holds", text, data={"evaluations": found.evaluations}, origin="search")]


def still_unbroken(again: Hunt) -> Evidence:
    """What a second hunt saw, from other draws, that broke nothing either."""
    text = f"nor from other draws: never broken on {counted(len(again.seen), 'more instance')}, exactly"
    return Evidence("search", "holds", text, data={"instances": len(again.seen)}, origin="search")


def _largest_ratio(claim: Claim, seen: Seen) -> float | None:
    ratios = [tightness_at(claim, row) for row in seen.measured.rows if row.left is not None]
    return max((r for r in ratios if r is not None), default=None)
