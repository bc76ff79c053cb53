"""The clients' functions of a certificate whose problem has one dimension and is of pieces or points, as a picture."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
from markupsafe import Markup

from theory.formula import UndefinedError
from validate.drawing import DASHES, SERIES, STYLE, written
from validate.instances import Pieces, Points, read_problem
from validate.report.figures import inlined

MOST_CLIENTS = 4
"""Clients whose functions are drawn; where there are more, f is."""
STEPS = 161  # an odd number, so that what is symmetric is drawn so
TANGENT = 0.06
"""Half of a tangent's length, as a share of the picture's width."""
BEYOND = 1e100
"""Larger numbers are not drawn: matplotlib looks for ticks outside of what it shows, and float64 ends soon."""
LAYOUTS = {"page": (6.1, 3.9, 2), "phone": (4.4, 4.2, 1)}
"""By class of the SVG, by which the style sheet chooses: width and height in inches, entries of the legend in a row."""
PIECES = "The clients' functions, with the start marked on each."
POINTS = "What is known of the clients' functions: their values at points, and the tangents there."

Which = tuple[int, ...]
Lines = list[tuple[Any, Any]]


def drawing(certificate: Mapping[str, Any]) -> Markup:
    """The picture as two SVGs, for a page and for a telephone, and what it shows; empty where nothing is drawn.

    Raises:
        ValueError: where the certificate's problem is none.
    """
    if certificate.get("problem") is None:
        return Markup("")
    problem = read_problem(certificate["problem"])
    if problem.dim != 1 or not isinstance(problem, Pieces | Points):
        return Markup("")
    named: dict[str, Which] = {f"f of client {n + 1}": (n,) for n in range(problem.clients)}
    if not 1 < problem.clients <= MOST_CLIENTS:
        named = {"f": ()}
    start = float(Fraction(str(certificate["start"][0])))
    caption = PIECES if isinstance(problem, Pieces) else POINTS
    curves = _pieces(problem, named, start) if isinstance(problem, Pieces) else _points(problem, named, start)
    numbers = np.concatenate([part for lines, marks in curves.values() for pair in (*lines, marks) for part in pair])
    if not len(numbers) or not (np.abs(numbers) < BEYOND).all():
        return Markup("")
    prefix = "f" + sha256(json.dumps([certificate["problem"], certificate["start"]]).encode()).hexdigest()[:8]
    pictures = [inlined(_svg(curves, layout), caption, f"{prefix}-{name}", name) for name, layout in LAYOUTS.items()]
    return Markup('<figure class="chart">{0}<figcaption>{1}</figcaption></figure>').format(
        Markup("").join(pictures), caption
    )


def _pieces(problem: Pieces, named: Mapping[str, Which], start: float) -> dict[str, tuple[Lines, Any]]:
    """Of each function its curve, and its point at the start."""
    functions = {name: problem.function(*which) for name, which in named.items()}
    ends = [
        x for f in functions.values() for interval in (f.least[1] if f.least else ()) for x in interval if x is not None
    ]
    low, high = _room([start, *(float(x) for f in functions.values() for x in f.knots), *map(float, ends)])
    grid = np.linspace(low, high, STEPS)
    curves = {name: [float(f.value(Fraction(float(x)))) for x in grid] for name, f in functions.items()}
    there = {name: ([start], [float(f.value(Fraction(start)))]) for name, f in functions.items()}
    return {name: ([(grid, curve)], there[name]) for name, curve in curves.items()}


def _points(problem: Points, named: Mapping[str, Which], start: float) -> dict[str, tuple[Lines, Any]]:
    """Of each function the tangents at its points, and these."""
    known = {name: _known(problem, which) for name, which in named.items()}
    if not any(known.values()):
        return {name: ([], ([], [])) for name in named}
    low, high = _room([start, *(x for points in known.values() for x, _, _ in points)])
    half = TANGENT * (high - low)
    return {
        name: (
            [([x - half, x + half], [f - g * half, f + g * half]) for x, g, f in points],
            ([x for x, _, _ in points], [f for _, _, f in points]),
        )
        for name, points in known.items()
    }


def _known(problem: Points, which: Which) -> list[tuple[float, float, float]]:
    """x, gradient and value wherever a function is known."""
    found = []
    for p in problem.parts(*which)[0][1].points:
        try:
            (g,), f = problem.at(p.x, *which)
        except UndefinedError:
            continue
        found.append((float(p.x[0]), float(g), float(f)))
    return sorted(found)


def _room(at: list[float]) -> tuple[float, float]:
    """An interval around points."""
    low, high = min(at), max(at)
    more = 0.15 * (high - low) or 1.0
    return low - more, high + more


def _svg(curves: Mapping[str, tuple[Lines, Any]], layout: tuple[float, float, int]) -> str:
    """Lines and marked points of each function, in a colour and dash of its own."""
    import matplotlib
    from matplotlib.figure import Figure

    width, height, columns = layout
    with matplotlib.rc_context({**STYLE, "svg.fonttype": "none", "font.size": 13, "legend.fontsize": 13}):
        figure = Figure(figsize=(width, height), layout="constrained")
        place, handles = figure.subplots(), []
        for (lines, marks), colour, dash in zip(curves.values(), SERIES, DASHES, strict=False):
            for x, y in lines:
                place.plot(x, y, color=colour, lw=1.8, ls=dash if len(x) > 2 else "-")
            handles += place.plot(*marks, ls="none", marker="o", ms=6, color=colour)
        place.set_xlabel("x")
        place.set_ylabel("value at x")
        figure.legend(handles, list(curves), loc="outside upper left", ncols=columns)
        text = io.StringIO()
        written(figure, text)
    own = re.sub(r' transform="rotate\(-0 [^"]*"', "", text.getvalue())
    return own.replace("'DejaVu Sans'", "system-ui, sans-serif")  # text is set by the page
