"""A claim's two sides as a small picture for the page: inline SVG in the page's colours, with its numbers as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup, escape

from validate.experiment import write_csv
from validate.predicted import CONFIDENCE, Predicted
from validate.report.axis import Axis, axis, tick_labels
from validate.report.words import instance_in_words, number, slug
from validate.scenario import as_list

Array = np.ndarray

WIDTH, HEIGHT = 440, 290
LEFT, RIGHT, TOP, BOTTOM = 58, 430, 46, 246
"""The plot's edges."""
MARKED = 40
"""With at most so many points each of them is marked."""
COLUMNS = 100
"""So many points are drawn; of a longer curve, the least and the largest value in each of half as many columns."""
LEAST_RATIO = 1e-9
"""Scenarios with a smaller ratio are far from breaking; a zero is rounded to one."""
UNJOINED = ("n",)
"""Indices of clients, which have no order."""
AGREE = 1e-9
"""Sides are as good as equal, relative to each other."""

PREDICTED = "stroke:var(--series-0,#0072b2);color:var(--series-0,#0072b2)"
MEASURED = "stroke:var(--series-1,#d55e00);color:var(--series-1,#d55e00)"
SAMPLED = "stroke:var(--series-2,#009e73);color:var(--series-2,#009e73)"
BROKEN = "stroke:var(--refuted,#b3261e);color:var(--refuted,#b3261e)"


def figure(predicted: Predicted, out: Path) -> Markup:
    """The chart, its caption, and a link to its numbers, which are written to OUT/predicted/<claim>.csv."""
    path = numbers(predicted, out)
    link = path.relative_to(out).as_posix()
    save = Markup('<a href="{0}" download="">Numbers (CSV)</a>').format(link)
    return Markup('<figure class="chart">{0}<figcaption>{1} {2}</figcaption></figure>').format(
        chart(predicted), caption(predicted), save
    )


def numbers(predicted: Predicted, out: Path) -> Path:
    """Write the numbers behind the chart: its index, left, right, and where there is a band mean, lower, upper."""
    columns = {predicted.index or "point": predicted.at, "left": predicted.left, "right": predicted.right}
    if predicted.band is not None:
        columns |= dict(zip(("mean", "lower", "upper"), predicted.band, strict=True))
    return write_csv(out / "predicted" / f"{slug(predicted.claim)}.csv", columns)


def chart(predicted: Predicted) -> Markup:
    """The picture as SVG; empty where there is nothing to see: a single point, or sides that agree everywhere."""
    if predicted.over == "point" or len(predicted) < 2 or (predicted.over == "scenarios" and _agree(predicted)):
        return Markup("")
    parts = _ratios(predicted) if predicted.over == "scenarios" else _curves(predicted)
    label = f"{_title(predicted)}. {_finding(predicted)}"
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" role="img" aria-label="{2}" '
        'style="display:block;width:100%;max-width:30rem;font:14px system-ui,sans-serif;fill:none;stroke-width:1.8">'
        "<title>{3}</title>{4}</svg>"
    ).format(WIDTH, HEIGHT, label, _title(predicted), Markup("").join(parts))


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
    shown = int(_shown(predicted).sum())
    which = "of the scenarios with a positive right side" if len(predicted) < predicted.scenarios else "scenario"
    if shown < len(predicted):
        which = f"of {shown:,} scenarios with left / right above {number(LEAST_RATIO)}"
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
    if predicted.over == "scenarios" and _agree(predicted):
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


def _shown(predicted: Predicted) -> Array:
    """(C,): the scenarios whose ratio is shown: those with one above `LEAST_RATIO`, where they are not too few."""
    with np.errstate(all="ignore"):
        positive = np.asarray(predicted.left / predicted.right > LEAST_RATIO)
    below = predicted.relation in ("<=", "<") and positive.sum() >= max(2, len(predicted) / 4)
    return positive if below else np.ones(len(predicted), dtype=bool)


def _agree(predicted: Predicted) -> bool:
    scale = np.maximum(np.abs(predicted.left), np.abs(predicted.right))
    return bool((np.abs(predicted.left - predicted.right) <= AGREE * scale).all())


# --- pictures --------------------------------------------------------------------------------------------------------


def _curves(predicted: Predicted) -> list[Markup]:
    """Both sides over the index."""
    at, left, right = predicted.at, predicted.left, predicted.right
    spread = at[0] > 0 and at[-1] > 10 * at[0] and predicted.over == "rounds"
    sides = [left, right, *(predicted.band or ())]
    x = axis(at, LEFT + 8, RIGHT - 8, log=bool(spread), whole=True)
    y = axis(np.concatenate(sides), BOTTOM, TOP)
    dots = predicted.index in UNJOINED
    parts = [_frame(x, y, predicted.index, at)]
    if predicted.band is not None:
        lower, upper = (y(each) for each in predicted.band[1:])
        lower = np.where(np.isfinite(lower), lower, BOTTOM)  # below what a logarithmic axis shows
        kept = _thinned(x(at), upper)
        edge = [(x(at)[i], upper[i]) for i in kept] + [(x(at)[i], lower[i]) for i in reversed(kept)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in edge)
        parts.append(
            Markup('<polygon points="{}" style="{};stroke:none;fill:currentColor;opacity:.25"/>').format(
                points, SAMPLED
            )
        )
    if dots:
        parts += [_dots(x(at), y(left), MEASURED, 6.0), _dots(x(at), y(right), PREDICTED, 4.5, "square")]
    else:
        parts.append(_line(x(at), y(left), MEASURED, dash="", size=6.0))
        parts.append(_line(x(at), y(right), PREDICTED, dash="7 4", size=4.5, shape="square"))
    legend = [
        ("right side, predicted", PREDICTED, "dots" if dots else "7 4"),
        ("left side, exact", MEASURED, "dots" if dots else ""),
    ]
    if predicted.band is not None:
        parts.append(_dots(x(at), y(predicted.band.value), SAMPLED, 4.5))
        legend.append((f"mean of {predicted.runs:,} runs", SAMPLED, "dots"))
    if predicted.broken.any():
        parts.append(_crosses(x(at[predicted.broken]), y(left[predicted.broken])))
        legend.append(("broken", BROKEN, "cross"))
    return [*parts, _legend(legend)]


def _ratios(predicted: Predicted) -> list[Markup]:
    """left / right on every scenario, sorted, and the line that the claim says they do not cross."""
    with np.errstate(all="ignore"):
        ratios = np.where(_shown(predicted), predicted.left / predicted.right, np.nan)
    x = axis(predicted.at, LEFT + 8, RIGHT - 8, log=False, whole=True)
    y = axis(np.append(ratios, 1.0), BOTTOM, TOP)
    one = float(y(np.array([1.0]))[0])
    parts = [_frame(x, y, "scenarios, sorted", predicted.at)]
    parts.append(
        Markup('<path d="M{0} {1:.1f}H{2}" style="{3}" stroke-dasharray="7 4"/>').format(LEFT, one, RIGHT, PREDICTED)
    )
    kept = _thinned(x(predicted.at), y(ratios))
    for mask, style in ((~predicted.broken, MEASURED), (predicted.broken, BROKEN)):
        chosen = [i for i in kept if mask[i]]
        if chosen and style is MEASURED:
            parts.append(_dots(x(predicted.at[chosen]), y(ratios[chosen]), style, 4.5))
        elif chosen:
            parts.append(_crosses(x(predicted.at[chosen]), y(ratios[chosen])))
    legend = [("left / right", MEASURED, "dots"), ("equal sides", PREDICTED, "7 4")]
    if predicted.broken.any():
        legend.append(("broken", BROKEN, "cross"))
    return [*parts, _legend(legend)]


def _frame(x: Axis, y: Axis, index: str, at: Array) -> Markup:
    """Axes, grid lines, ticks and the name of the index."""
    levels = y.ticks(5)
    steps = [float(v) for v in at] if 2 <= len(at) <= 7 and not x.log else _steps(x, at)
    grid = "".join(f"M{LEFT} {float(y(np.array([v]))[0]):.1f}H{RIGHT}" for v in levels)
    parts = [Markup('<path d="{}" style="stroke:var(--line,#d8dce0);stroke-width:1"/>').format(grid)]
    parts.append(
        Markup('<path d="M{0} {1}V{2}H{3}" stroke="currentColor" stroke-width="1"/>').format(LEFT, TOP, BOTTOM, RIGHT)
    )
    labels, factor = tick_labels(levels, y.log)
    text = [
        _text(LEFT - 6, float(y(np.array([v]))[0]) + 4.5, label, "end") for v, label in zip(levels, labels, strict=True)
    ]
    text.append(_text(LEFT - 6, TOP - 10, factor, "end"))
    below, factor = tick_labels(steps, False)
    taken = -1e9
    for value, label in zip(steps, below, strict=True):
        place = float(x(np.array([value]))[0])
        if place - taken >= 30 and LEFT - 1 <= place <= RIGHT + 1:
            text.append(_text(place, BOTTOM + 17, label, "middle"))
            taken = place
    index = f"{index} ({factor})" if factor else index
    text.append(_text((LEFT + RIGHT) / 2, BOTTOM + 37, index, "middle"))
    return Markup("").join([*parts, Markup('<g fill="currentColor">{}</g>').format(Markup("").join(text))])


def _steps(x: Axis, at: Array) -> list[float]:
    """Ticks below: on a logarithmic axis the values themselves, which are few; whole numbers where all values are."""
    if x.log:
        return [float(value) for value in at]
    found = x.ticks(7)
    whole = bool((at == np.round(at)).all())
    return [value for value in found if not whole or value.is_integer()]


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text x="{0:.1f}" y="{1:.1f}" text-anchor="{2}">{3}</text>').format(x, y, anchor, words)


def _thinned(x: Array, y: Array) -> list[int]:
    """Which points to draw: all that can be seen; of very many, the least and the largest in each column of pixels."""
    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(seen) <= COLUMNS:
        return [int(i) for i in seen]
    kept = {int(seen[0]), int(seen[-1])}
    for column in np.array_split(seen, COLUMNS // 2):
        kept |= {int(column[np.argmin(y[column])]), int(column[np.argmax(y[column])])}
    return sorted(kept)


def _line(x: Array, y: Array, style: str, dash: str, size: float, shape: str = "round") -> Markup:
    """A polyline, broken where there is no value, with marks where the points are few."""
    kept = _thinned(x, y)
    runs: list[list[int]] = []
    for i in kept:
        gap = runs and not np.isfinite(y[runs[-1][-1] : i]).all()
        if not runs or gap:
            runs.append([])
        runs[-1].append(i)
    path = "".join("M" + "L".join(f"{x[i]:.1f} {y[i]:.1f}" for i in run) for run in runs)
    line = Markup('<path d="{0}" style="{1}"{2}/>').format(
        path, style, Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    )
    return line + (_dots(x[kept], y[kept], style, size, shape) if len(x) <= MARKED else Markup(""))


def _dots(x: Array, y: Array, style: str, size: float, shape: str = "round") -> Markup:
    """Points, as strokes without length: a path is the shortest way to write many."""
    path = "".join(f"M{x[i]:.1f} {y[i]:.1f}h0" for i in _thinned(x, y))
    return Markup('<path d="{0}" style="{1}" stroke-width="{2}" stroke-linecap="{3}"/>').format(
        path, style, size, shape
    )


def _crosses(x: Array, y: Array) -> Markup:
    """Marks of points that break the claim."""
    kept = _thinned(x, y)
    path = "".join(f"M{x[i] - 5:.1f} {y[i] - 5:.1f}l10 10m-10 0l10-10" for i in kept)
    return Markup('<path d="{0}" style="{1}"/>').format(path, BROKEN)


def _legend(entries: Sequence[tuple[str, str, str]]) -> Markup:
    """Above the plot, two in a row."""
    parts = []
    for at, (words, style, dash) in enumerate(entries):
        x, y = LEFT + 190 * (at % 2), 14 + 18 * (at // 2)
        if dash == "cross":
            parts.append(_crosses(np.array([x + 12.0]), np.array([y - 4.0])))
        elif dash == "dots":
            parts.append(_dots(np.array([x + 5.0, x + 12.0, x + 19.0]), np.full(3, y - 4.0), style, 4.5))
        else:
            more = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
            parts.append(Markup('<path d="M{0} {1}h24" style="{2}"{3}/>').format(x, y - 4, style, more))
        parts.append(Markup('<text x="{0}" y="{1}" fill="currentColor">{2}</text>').format(x + 30, y, escape(words)))
    return Markup("").join(parts)
