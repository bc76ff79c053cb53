"""The clients' functions of a certificate whose problem has one dimension and is of pieces or points, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from markupsafe import Markup

from theory.formula import UndefinedError
from validate.instances import Pieces, Points, read_problem
from validate.report.axis import Axis, axis
from validate.report.picture import LEFT, NARROW, WIDE, Layout, Place, frame, key, marks, polyline

MOST_CLIENTS = 4
"""Clients whose functions are drawn; where there are more, f is."""
STYLES = tuple(
    f"stroke:var(--series-{i},{colour});color:var(--series-{i},{colour})"
    for i, colour in enumerate(("#0072b2", "#d55e00", "#009e73", "#cc79a7"))
)
STEPS = 161  # an odd number, so that what is symmetric is drawn so
TANGENT = 0.06
"""Half of a tangent's length, as a share of the picture's width."""
PIECES = "The clients' functions, with the start marked on each."
POINTS = "What is known of the clients' functions: their values at points, and the tangents there."

Array = np.ndarray


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
    named: list[tuple[str, tuple[int, ...]]] = [(f"f of client {n + 1}", (n,)) for n in range(problem.clients)]
    if not 1 < problem.clients <= MOST_CLIENTS:
        named = [("f", ())]
    start = float(Fraction(str(certificate["start"][0])))
    if isinstance(problem, Pieces):
        pictures, caption = [_of_pieces(problem, named, start, layout) for layout in (WIDE, NARROW)], PIECES
    else:
        pictures, caption = [_of_points(problem, named, start, layout) for layout in (WIDE, NARROW)], POINTS
    return Markup('<figure class="chart">{0}<figcaption>{1}</figcaption></figure>').format(
        Markup("").join(pictures), caption
    )


def _of_pieces(problem: Pieces, named: list[tuple[str, tuple[int, ...]]], start: float, layout: Layout) -> Markup:
    functions = [problem.function(*which) for _, which in named]
    ends = [x for f in functions for interval in (f.least[1] if f.least else ()) for x in interval if x is not None]
    at = [start, *(float(x) for f in functions for x in (*f.knots, *ends))]
    low, high = _room(at)
    grid = np.linspace(low, high, STEPS)
    values = [np.array([float(f.value(Fraction(float(x)))) for x in grid]) for f in functions]
    there = [float(f.value(Fraction(start))) for f in functions]
    place = Place(layout, len(named))
    x, y = _axes(grid, np.concatenate(values), place)
    parts = [frame(x, y, "x", grid, place)]
    for style, line, value in zip(STYLES, values, there, strict=False):
        parts.append(polyline(x(grid), y(line), style, "", 0, STEPS))
        parts.append(marks(x(np.array([start])), y(np.array([value])), style, 7.0, 1))
    parts.append(key([(name, style, "") for (name, _), style in zip(named, STYLES, strict=False)], layout))
    return _svg(parts, layout, place, PIECES)


def _of_points(problem: Points, named: list[tuple[str, tuple[int, ...]]], start: float, layout: Layout) -> Markup:
    known = [_known(problem, which) for _, which in named]
    if not any(known):
        return Markup("")
    low, high = _room([start, *(x for points in known for x, _, _ in points)])
    half = TANGENT * (high - low)
    grid = np.linspace(low, high, STEPS)
    heights = np.array([f + s * g * half for points in known for _, g, f in points for s in (-1, 0, 1)])
    place = Place(layout, len(named))
    x, y = _axes(grid, heights, place)
    parts = [frame(x, y, "x", grid, place)]
    for style, points in zip(STYLES, known, strict=False):
        tangents = [
            (x(np.array([a - half, a + half])), y(np.array([f - g * half, f + g * half]))) for a, g, f in points
        ]
        path = "".join(f"M{u[0]:.1f} {v[0]:.1f}L{u[1]:.1f} {v[1]:.1f}" for u, v in tangents)
        parts.append(Markup('<path d="{0}" style="{1}"/>').format(path, style))
        here, there = np.array([p[0] for p in points]), np.array([p[2] for p in points])
        parts.append(marks(x(here), y(there), style, 7.0, len(points)))
    parts.append(key([(name, style, "dots") for (name, _), style in zip(named, STYLES, strict=False)], layout))
    return _svg(parts, layout, place, POINTS)


def _known(problem: Points, which: tuple[int, ...]) -> list[tuple[float, float, float]]:
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


def _axes(across: Array, heights: Array, place: Place) -> tuple[Axis, Axis]:
    x = axis(across, LEFT + 4, place.right - 4, log=False, whole=True)
    return x, axis(heights, place.bottom, place.top, log=False)


def _svg(parts: list[Markup], layout: Layout, place: Place, label: str) -> Markup:
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="{0}" viewBox="0 0 {1} {2}" role="img" aria-label="{3}" '
        'style="font:14px system-ui,sans-serif;fill:none;stroke-width:1.8">{4}</svg>'
    ).format(layout.name, layout.width, place.height, label, Markup("").join(parts))
