"""What is promised as pictures, with what is measured beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from validate.compare.comparison import Comparison
from validate.compare.tightest import Tightest


def draw(found: Comparison, quantity: str, out: Path) -> None:
    """Draw promises on a logarithmic axis, and what is measured of direct ones.

    Args:
        found: the promises.
        quantity: what is bounded, for the axis.
        out: the file.

    Raises:
        ValueError: where there is nothing to draw.
        OSError: where the file cannot be written.
    """
    pyplot = _pyplot()
    rows = [row for row in found.rows if row.value > 0][::-1]
    if not rows:
        raise ValueError(f"no claim promises anything of {quantity}, so there is nothing to draw")
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.3 * len(rows)), layout="constrained")
    places = range(len(rows))
    axes.plot([row.value for row in rows], places, "o", color="#1f4e79", label="promised")
    truths = [(row.truth, at) for at, row in enumerate(rows) if row.truth and not row.through]
    if truths:
        axes.plot(*zip(*truths, strict=True), "|", markersize=12, color="#b03a2e", label="measured")
    axes.set_xscale("log")
    axes.set_yticks(list(places), [row.promise.claim.id for row in rows])
    axes.set_xlabel(quantity)
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
    _save(pyplot, figure, out)


def draw_tightest(found: Sequence[Tightest], out: Path) -> None:
    """Draw the least promises over a grid beside what is measured, by L/mu: a panel a quantity, a line for each N.

    Args:
        found: at points with mu > 0.
        out: the file.

    Raises:
        ValueError: where there is nothing to draw.
        OSError: where the file cannot be written.
    """
    panels: dict[tuple[str, str, bool], list[Tightest]] = {}
    for one in found:
        panels.setdefault((one.measure, one.where, one.sampled), []).append(one)
    if not panels:
        raise ValueError("no claim promises anything on this grid, so there is nothing to draw")
    pyplot = _pyplot()
    wide = min(2, len(panels))
    tall = -(-len(panels) // wide)
    figure, axes = pyplot.subplots(tall, wide, figsize=(5.5 * wide, 3 * tall), squeeze=False, layout="constrained")
    for place, (key, points) in zip(axes.flat, panels.items(), strict=False):
        measure, where, sampled = key
        for at, N in enumerate(sorted({one.numbers.N for one in points})):
            own = sorted((one for one in points if one.numbers.N == N), key=lambda one: -one.numbers.mu)
            kappas = [one.numbers.L / one.numbers.mu for one in own]
            place.plot(kappas, [one.row.value for one in own], "o-", color=f"C{at}", label=f"N = {N}, promised")
            place.plot(kappas, [one.row.truth for one in own], "_--", color=f"C{at}", label=f"N = {N}, measured")
            for kappa, one in zip(kappas, own, strict=True):
                place.annotate(one.row.promise.claim.id, (kappa, one.row.value), fontsize=5, rotation=12)
        place.set(xscale="log", yscale="log", xlabel="L/mu")
        place.set_title(f"{measure}, {where}{', sampled gradients' if sampled else ''}", fontsize=9)
        place.legend(fontsize=6)
    for place in axes.flat[len(panels) :]:
        place.axis("off")
    _save(pyplot, figure, out)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(pyplot: Any, figure: Any, out: Path) -> None:
    figure.savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None)
    pyplot.close(figure)
