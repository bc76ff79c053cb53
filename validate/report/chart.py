"""A claim's two sides as a small picture for the page: inline SVG in the page's colours, with its numbers as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from markupsafe import Markup

from validate.experiment import write_csv
from validate.predicted import CONFIDENCE, Predicted
from validate.report.picture import LEAST_RATIO, NARROW, WIDE, Layout, agree, curves, ratios, shown
from validate.report.words import instance_in_words, number, slug
from validate.scenario import as_list


def figure(predicted: Predicted, out: Path) -> Markup:
    """The chart, its caption, and a link to its numbers, which are written to OUT/predicted/<claim>.csv.

    The chart is there twice, for a page and for a telephone, where the text of a picture that only shrinks is too
    small; the page's style sheet shows one of them.
    """
    path = numbers(predicted, out)
    link = path.relative_to(out).as_posix()
    save = Markup('<a href="{0}" download="">Numbers (CSV)</a>').format(link)
    pictures = Markup("").join(chart(predicted, layout) for layout in (WIDE, NARROW))
    return Markup('<figure class="chart">{0}<figcaption>{1} {2}</figcaption></figure>').format(
        pictures, caption(predicted), save
    )


def numbers_file(claim: str, out: Path) -> Path:
    """The file of the numbers behind a claim's chart."""
    return out / "predicted" / f"{slug(claim)}.csv"


def numbers(predicted: Predicted, out: Path) -> Path:
    """Write the numbers behind the chart: its index, left, right, and where there is a band mean, lower, upper."""
    columns = {predicted.index or "point": predicted.at, "left": predicted.left, "right": predicted.right}
    if predicted.band is not None:
        columns |= dict(zip(("mean", "lower", "upper"), predicted.band, strict=True))
    return write_csv(numbers_file(predicted.claim, out), columns)


def chart(predicted: Predicted, layout: Layout = WIDE) -> Markup:
    """The picture as SVG; empty where there is nothing to see: a single point, or sides that agree everywhere."""
    if predicted.over == "point" or len(predicted) < 2 or (predicted.over == "scenarios" and agree(predicted)):
        return Markup("")
    parts, height = ratios(predicted, layout) if predicted.over == "scenarios" else curves(predicted, layout)
    label = f"{_title(predicted)}. {_finding(predicted)}"
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="{0}" viewBox="0 0 {1} {2}" role="img" aria-label="{3}" '
        'style="font:14px system-ui,sans-serif;fill:none;stroke-width:1.8"><title>{4}</title>{5}</svg>'
    ).format(layout.name, layout.width, height, label, _title(predicted), Markup("").join(parts))


# --- words -----------------------------------------------------------------------------------------------------------


def caption(predicted: Predicted) -> str:
    """What is shown: the scenario, what is exact and what is sampled, and where the claim is nearest to breaking."""
    index, parts = predicted.index, [_scenario(predicted)]
    if predicted.over == "rounds":
        parts.append("It is run for K rounds, for several K.")
    if predicted.fixed:
        parts.append(
            "At every point " + ", ".join(f"{name} = {_plain(v)}" for name, v in predicted.fixed.items()) + "."
        )
    if predicted.envelope:
        parts.append(f"Of several cases with the same {index}, the one nearest to breaking is shown.")
    parts.append("Both sides are computed in float64; the left one is exact but for rounding, not sampled.")
    if predicted.band is not None:
        parts.append(
            f"The dots are the mean of {predicted.runs:,} simulated runs. Its normal interval of confidence "
            f"{100 * CONFIDENCE:g} percent, at each point by itself, is the band{_width(predicted)}."
        )
        if predicted.error_probability is not None and predicted.tested is not None:
            parts.append(
                f"The simulator's test of the claim is another: one-sided, at {index} = {_plain(predicted.tested)} "
                f"alone, with error probability {number(predicted.error_probability)}."
            )
        else:
            parts.append("The verdict does not rest on these runs.")
    parts.append(_finding(predicted))
    return " ".join(parts)


def _width(predicted: Predicted) -> str:
    """How wide the band is, for it may be too narrow to be seen."""
    assert predicted.band is not None
    mean, lower, upper = (np.asarray(each, dtype=float) for each in predicted.band)
    with np.errstate(all="ignore"):
        shares = (upper - lower) / 2 / np.abs(mean)
    known = shares[np.isfinite(shares)]
    return f", at most {number(100 * float(known.max()))} percent of the mean to each side" if len(known) else ""


def _scenario(predicted: Predicted) -> str:
    """The scenario as a sentence."""
    spec = predicted.spec
    if spec is not None and "theta0" in spec and all("a" in client for client in spec["clients"]):
        lists = [{**client, "h": as_list(client["h"]), "a": as_list(client["a"])} for client in spec["clients"]]
        words = instance_in_words({**spec, "clients": lists})
    else:
        words = f"Scenario: {predicted.scenario}."
    if predicted.over != "scenarios":
        return words
    many = int(shown(predicted).sum())
    which = "of the scenarios with a positive right side" if len(predicted) < predicted.scenarios else "scenario"
    if many < len(predicted):
        which = f"of {many:,} scenarios with left / right above {number(LEAST_RATIO)}"
    return f"Each {which} is a point, the loosest first. The tightest: {words.removeprefix('Scenario: ')}"


def _title(predicted: Predicted) -> str:
    if predicted.over == "scenarios":
        return f"{predicted.claim}: left side over right side on {len(predicted)} scenarios"
    first, last = _plain(predicted.at[0]), _plain(predicted.at[-1])
    return f"{predicted.claim}: both sides over {predicted.index} = {first} to {last}"


def _finding(predicted: Predicted) -> str:
    """Where the claim is broken, or comes nearest to it."""
    many = int(predicted.broken.sum())
    what = "scenarios" if predicted.over == "scenarios" else "points"
    if predicted.over == "scenarios" and agree(predicted):
        return f"Both sides agree on all {len(predicted)} scenarios, up to rounding."
    i, ratio = predicted.worst, predicted.ratio
    at = "" if predicted.over in ("scenarios", "point") else f" at {predicted.index} = {_plain(predicted.at[i])}"
    sides = f"{number(float(predicted.left[i]))} against {number(float(predicted.right[i]))}"
    if many and predicted.over == "point":
        return f"The claim is broken: left against right, {sides}."
    if predicted.relation == "=" and not many:
        return "The sides agree up to rounding."
    share = f"left / right = {number(ratio)}{at} ({sides})" if ratio is not None else f"{sides}{at}"
    if many:
        count = f"all {len(predicted)}" if many == len(predicted) else f"{many} of {len(predicted)}"
        return f"The claim is broken at {count} {what}; by most with {share}."
    return f"It comes nearest to breaking with {share}."


def _plain(value: float) -> str:
    """A value of an index: an integer as it is, a short decimal too, else three digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}".replace("-", "−")
    short = f"{value:.7g}"
    return short.replace("-", "−") if len(short) <= 9 and "e" not in short else number(float(value))
