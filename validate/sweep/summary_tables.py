"""The tables of a sweep's summary, and the words that they share with the rest of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from validate.both_sides import as_printed
from validate.counted import counted
from validate.experiment import Table
from validate.report.readable import number
from validate.sweep.axis_drawing import positions
from validate.sweep.records import outcome_order
from validate.sweep.tally import KEPT, MEASURED, Reason, Tally, as_text, entries_of, finite_number, groups, quantiles

GUARANTEES = ("exact", "anytime", "asymptotic")
QUANTILES = {"least": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "largest": 1.0}
# Values of an axis that are put in their order, and that are listed; characters of a text.
SORTED, LISTED, LONG = 200, 8, 300


def clean(text: str) -> str:
    """Text in one line that every page can show: what cannot be printed is replaced, and what is long is cut."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
    return text if len(text) <= LONG else f"{text[: LONG - 2]} …"


def few(texts: list[str], most: int = 5) -> str:
    return ", ".join(texts[:most]) + (f", and {len(texts) - most} more" if len(texts) > most else "")


def claim_name(name: str) -> str:
    return clean(name) or "(no claim)"


def tables_of(found: Tally) -> Iterator[Table]:
    if not found.cells:
        return
    if found.axes():
        yield _axes_table(found)
    yield _outcomes_table(found)
    if found.guarantees:
        yield _guarantees_table(found)
    if len(found.ratios):
        yield _tightness_table(found)
    if found.failing:
        yield _failing_table(found)
    if found.failures:
        title, note = "Cells without an answer", "These failures are not outcomes of the claim, and can be retried."
        yield _reasons_table(found, found.failures, title, "message", note)
    if found.reasons:
        note = "Where the claim does not apply, its hypotheses do not hold, or arithmetic does not suffice."
        yield _reasons_table(found, found.reasons, "Why cells say nothing of their claim", "reason", note)


def _axes_table(found: Tally) -> Table:
    rows = []
    for name in found.axes():
        values = list(found.values[name])
        if len(values) <= SORTED:
            values = list(positions(values))
        shown = [clean(value) if value else '""' for value in values[:LISTED]]
        rows.append((clean(name), f"{len(values):,}", ", ".join(shown) + (", …" if len(values) > LISTED else "")))
    note = "Every entry of the specification that has several values. Not every combination need be there."
    return Table("What varies", ("entry", "values", ""), tuple(rows), note)


def _outcomes_table(found: Tally) -> Table:
    totals = found.totals
    names = sorted((name for name in totals if name), key=outcome_order)
    names += [""] if totals[""] else []
    lines = [(claim_name(claim), counts) for claim, counts in found.outcomes.items()]
    if len(lines) > 1:
        lines.append(("all", totals))
    rows = tuple(
        (claim, *(f"{counts[name]:,}" if counts[name] else "–" for name in names), f"{counts.total():,}")
        for claim, counts in lines
    )
    header = ("claim", *(clean(name) or "no result yet" for name in names), "cells")
    note = (
        "holds: the left side is not above the right side. unbroken: runs say so by the central limit theorem alone. "
        "fails: it is above. undecided: runs or float64 do not suffice. inapplicable: the claim does not speak of the "
        "scenario. violated: a hypothesis does not hold. diverged: beyond float64."
    )
    return Table("Outcomes by claim", header, rows, note)


def _guarantees_table(found: Tally) -> Table:
    counts = found.guarantees
    outcomes = sorted({outcome for outcome, _ in counts}, key=outcome_order)
    others = sorted({guarantee for _, guarantee in counts} - set(GUARANTEES))
    names = [*(name for name in GUARANTEES if any(counts[o, name] for o in outcomes)), *others]
    rows = tuple((o, *(f"{counts[o, name]:,}" if counts[o, name] else "–" for name in names)) for o in outcomes)
    note = (
        "exact: by the exact oracle. anytime: by runs, at the stated error probability, whatever the law of the runs "
        "and whenever they were stopped. asymptotic: by runs, in the limit of many of them only."
    )
    header = ("outcome", *(clean(name) or "none stated" for name in names))
    return Table("How outcomes were decided", header, rows, note)


def _tightness_table(found: Tally) -> Table:
    ratios = np.frombuffer(found.ratios)
    several = len(found.values.get("method", ())) > 1
    rows = []
    for (claim, method), members in groups(found, "claim", "method"):
        own = ratios[members]
        top = members[int(np.argmax(own))]
        where = _where(found, top, ("claim", "method"))
        spread = (number(value) for value in quantiles(own, list(QUANTILES.values())))
        name = claim_name(claim) + _relation(found, claim)
        rows.append((name, *((clean(method),) if several else ()), f"{len(own):,}", *spread, where))
    note = (
        f"Left side/right side of cells with outcome {', '.join(MEASURED[:-1])} or {MEASURED[-1]} whose right side is "
        "positive; in a sampled cell the left side is a mean over runs. Of a claim with ≤, a ratio near 1 is sharp, "
        "far below 1 loose, above 1 broken; another relation stands behind the claim. Quantiles are ratios of cells: "
        "at least that share has no larger one."
    )
    header = ("claim", *(("method",) if several else ()), "cells", *QUANTILES, "the largest is at")
    return Table("Tightness by claim", header, tuple(rows), note)


def _where(found: Tally, cell: int, but: tuple[str, ...]) -> str:
    """The entries of a measured cell that vary."""
    parts = []
    for name in found.axes():
        code = int(found.codes_of(name)[cell]) if name in found.codes and name not in but else -1
        if code >= 0:
            parts.append(f"{name} = {list(found.values[name])[code]}")
    return clean(", ".join(parts)) or "–"


def _relation(found: Tally, claim: str) -> str:
    """The relation of a claim that is not <=, in brackets."""
    from theory import catalog
    from validate.sweep.claim_files import relation_of

    try:
        relation = found.relations[claim] if claim in found.relations else relation_of(catalog.claim(claim))
    except ValueError:
        return ""
    return "" if relation == "<=" else f" [{clean(relation)}]"


def _failing_table(found: Tally) -> Table:
    rows = []
    for row in found.failing:
        result = row.result or {}
        found_at = result.get("index")
        index = found_at if isinstance(found_at, dict) else {}
        whole = all(isinstance(value, int) for value in index.values())  # as this program writes it
        at = ", ".join(f"{k} = {as_text(v)}" for k, v in (as_printed(index) if whole else index).items())
        sides = (number(finite_number(result.get(name))) for name in ("left", "right", "ratio"))
        claim = claim_name(entries_of(row.document).get("claim", ""))
        where = clean(found.varying(row)) or "–"
        rows.append((claim, where, *sides, clean(at) or "–", clean(as_text(result.get("detail", ""))), row.key[:12]))
    total = found.totals["fails"]
    first = f"The first {KEPT} of {total:,}." if total > KEPT else f"All {total}." if total > 1 else "The only one."
    header = ("claim", "where", "left", "right", "ratio", "at", "detail", "key")
    return Table(
        "Cells that fail",
        header,
        tuple(rows),
        f"{first} `fedproof sweep --status STORE --export cells.csv` has every cell with its entries and its key.",
    )


def _reasons_table(found: Tally, reasons: Counter[Reason], title: str, what: str, note: str) -> Table:
    """Reasons, the most frequent first, with the claims that they are about."""
    cells: Counter[tuple[str, str]] = Counter()
    about: dict[tuple[str, str], list[Reason]] = {}
    for reason, count in reasons.items():
        same = (reason[0], reason[2])
        cells[same] += count
        about.setdefault(same, []).append(reason)
    first = {same: min((found.first[reason] for reason in about[same]), key=lambda row: row.position) for same in about}
    ordered = sorted(cells, key=lambda same: (-cells[same], first[same].position))
    rows = tuple(
        (
            same[0],
            few([claim_name(claim) for _, claim, _ in about[same]]),
            clean(same[1]) or "–",
            f"{cells[same]:,}",
            clean(found.varying(first[same])) or "–",
        )
        for same in ordered[:KEPT]
    )
    if len(ordered) > KEPT:
        rest = sum(cells[same] for same in ordered[KEPT:])
        note += f" {len(ordered) - KEPT} more {what}s of {counted(rest, 'cell')} are not shown."
    return Table(title, ("outcome", "claims", what, "cells", "first at"), rows, note)
