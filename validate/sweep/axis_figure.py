"""Which axes of a sweep are drawn, and what their figures are drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from validate.counted import counted
from validate.experiment import Drawing, write_csv
from validate.report.readable import slug
from validate.sweep.axis_drawing import Bar, Panel, as_numbers, draw_axis
from validate.sweep.summary_tables import claim_name, clean
from validate.sweep.tally import Tally, groups, quantiles

METHODS = ("exact", "sampled")
# Panels of a figure; values of an axis that is drawn, and of one whose values are no numbers.
PANELS, NUMBERS, WORDS = 12, 200, 24


def why_not_drawn(found: Tally, name: str) -> str:
    """Why there is no figure of an axis, or ""."""
    values = found.values[name]
    most = WORDS if as_numbers(list(values)[: NUMBERS + 1]) is None else NUMBERS
    if len(values) > most:
        return f"{len(values):,} values, more than {most}"
    measured = len(set(found.codes_of(name).tolist()) - {-1}) if name in found.codes else 0
    return "" if measured > 1 else "both sides are known at fewer than two values"


def axis_drawing(found: Tally, name: str, at: int, out: Path) -> Drawing:
    """Ratios against an axis, a panel a claim, and their numbers."""
    ratios = np.frombuffer(found.ratios)
    by_claim: dict[str, dict[str, list[Bar]]] = {}
    titles = ("value", "claim", "method", "cells", "least", "median", "largest")
    columns: dict[str, list[Any]] = {title: [] for title in titles}
    methods, below, lacking = found.values.get("method", {}), 0, 0
    for (claim, method, value), members in groups(found, "claim", "method", name):
        if not value and "" not in found.values[name]:
            lacking += len(members)
            continue
        own = ratios[members]
        least, median, largest = quantiles(own, (0.0, 0.5, 1.0))
        series = method if method in METHODS and len(methods) > 1 and name != "method" else ""
        by_claim.setdefault(claim, {}).setdefault(series, []).append(Bar(value, least, median, largest))
        below += int((own <= 0).sum())
        line = (clean(value), clean(claim), clean(method), len(members), least, median, largest)
        for column, entry in zip(columns.values(), line, strict=True):
            column.append(entry)
    tightest = sorted(by_claim, key=lambda c: -max(b.largest for bars in by_claim[c].values() for b in bars))
    shown = [claim for claim in by_claim if claim in tightest[:PANELS]]
    prefix = _common_paper(shown)
    panels = [Panel(claim_name(claim)[len(prefix) :], by_claim[claim]) for claim in shown]
    path = draw_axis(out / f"axis-{at}-{slug(name)[:40]}.svg", panels, clean(name))
    write_csv(path.with_suffix(".csv"), columns)
    caption = (
        f"Left side/right side against {clean(name)}, a panel a claim{f' of {prefix[:-1]}' if prefix else ''}: median "
        "and range over all cells that have this value, whatever their other entries are."
    )
    if len(tightest) > PANELS:
        caption += f" The {PANELS} claims with the largest ratios; the numbers have all {len(tightest)}."
    if below:
        caption += f" {counted(below, 'ratio')} not above 0: on a logarithmic axis they lie below its edge."
    if lacking:
        caption += f" {counted(lacking, 'cell')} without this entry left out."
    return Drawing(path, f"Tightness against {clean(name)}", caption)


def _common_paper(claims: list[str]) -> str:
    """The name of the paper and "/" that all ids begin with, or ""."""
    papers = {claim.partition("/")[0] for claim in claims}
    return f"{papers.pop()}/" if len(papers) == 1 and all("/" in claim for claim in claims) else ""
