"""A directed graph in rows, each edge downwards: a box for a node, a lane past the rows that an edge leaves out.

So no line passes behind a box, and what leaves a box for several rows has one line as far as they have it in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from scipy.optimize import isotonic_regression

WIDEST = 330
"""Pixels that the boxes of a row take, of a telephone's width."""
GAP, LANE = 12, 6
"""Pixels between two boxes, and of a lane with what is beside it."""
STRAIGHT = 4.0
"""How much more a line weighs within a lane than at a box: so that it is straight there."""
SWEEPS = 8
"""Times that rows are put in the order of their neighbours, and then moved towards them."""


class Lane(NamedTuple):
    """Where a line from a node passes a row."""

    base: str
    row: int


Item = str | Lane


class Layout(NamedTuple):
    """Where everything is.

    Attributes:
        row: of each node and lane, from 0 at the top.
        centre: pixels from the left, of nodes and lanes.
        segments: lines between neighbouring rows, each once.
        width: pixels.
    """

    row: dict[Item, int]
    centre: dict[Item, int]
    segments: list[tuple[Item, Item]]
    width: int


def layout(widths: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> Layout:
    """Rows of boxes, what is used above what uses it.

    Args:
        widths: pixels of each node's box.
        edges: from what is used to what uses it. A circle is cut somewhere, and the edge that cuts it left out.
    """
    row = _rows(widths, edges)
    below = {base: sorted({row[on] for b, on in edges if b == base and row[on] > row[base]}) for base in widths}
    lanes = [Lane(base, at) for base, rows in below.items() if rows for at in range(row[base] + 1, rows[-1])]
    row |= {lane: lane.row for lane in lanes}
    segments: dict[tuple[Item, Item], None] = {}
    for base, on in edges:
        if row[on] > row[base]:
            way: list[Item] = [base, *(Lane(base, r) for r in range(row[base] + 1, row[on])), on]
            segments |= dict.fromkeys(pairwise(way))
    near: dict[Item, list[Item]] = {item: [] for item in row}
    for above, under in segments:
        near[above].append(under)
        near[under].append(above)
    rows = [[item for item in row if row[item] == r] for r in range(max(row.values()) + 1)]
    room = {item: widths[item] if isinstance(item, str) else LANE for item in row}
    centre: dict[Item, float] = {item: x for items in rows for item, x in zip(items, _packed(items, room), strict=True)}
    for sweep in range(SWEEPS):
        for items in rows if sweep % 2 else rows[::-1]:
            items.sort(key={item: _wanted(item, near[item], centre) for item in items}.__getitem__)
            centre |= zip(items, _packed(items, room), strict=True)
    _untangle(rows, segments)
    for sweep in range(SWEEPS):
        for items in rows if sweep % 2 else rows[::-1]:
            offset = _packed(items, room)
            by = [_wanted(item, near[item], centre) - x for item, x in zip(items, offset, strict=True)]
            moved = isotonic_regression(by).x
            centre |= {item: x + float(to) for item, x, to in zip(items, offset, moved, strict=True)}
    left = min(x - room[item] / 2 for item, x in centre.items())
    placed = {item: round(x - left) for item, x in centre.items()}
    return Layout(row, placed, list(segments), max(x + room[item] // 2 for item, x in placed.items()))


def _rows(widths: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> dict[Item, int]:
    """The row of each node: filled from below, by those first that have most above them."""
    depth = dict.fromkeys(widths, 0)
    for _ in widths:
        for base, on in edges:
            depth[on] = min(max(depth[on], depth[base] + 1), len(widths))
    order = sorted(widths, key=lambda id: -depth[id])
    found: list[list[str]] = []
    while order:
        ready = [id for id in order if not any(base == id and on in order for base, on in edges)] or order[:1]
        chosen: list[str] = []
        for id in ready:
            if not chosen or sum(widths[one] + GAP for one in (*chosen, id)) <= WIDEST + GAP:
                chosen.append(id)
        found.append(chosen)
        order = [id for id in order if id not in chosen]
    place = {id: len(found) - 1 - at for at, ids in enumerate(found) for id in ids}
    return {id: place[id] for id in widths}


def _untangle(rows: Sequence[list[Item]], segments: Iterable[tuple[Item, Item]]) -> None:
    """Exchange neighbours of a row where no more lines cross then; what is as good may lead to what is better."""
    lines: list[list[tuple[Item, Item]]] = [[] for _ in rows]
    row = {item: at for at, items in enumerate(rows) for item in items}
    for above, on in segments:
        lines[row[above]].append((above, on))
    for sweep in range(SWEEPS):
        for at, items in enumerate(rows):
            beside = [*lines[at], *(lines[at - 1] if at else ())]
            for left in range(len(items) - 1):
                before = _crossings(rows, beside)
                items[left : left + 2] = items[left + 1], items[left]
                after = _crossings(rows, beside)
                if after > before or (after == before and sweep % 2):
                    items[left : left + 2] = items[left + 1], items[left]


def _crossings(rows: Sequence[Sequence[Item]], lines: Iterable[tuple[Item, Item]]) -> int:
    """How many pairs of lines cross."""
    place = {item: (at, x) for at, items in enumerate(rows) for x, item in enumerate(items)}
    ends = [(*place[above], place[on][1]) for above, on in lines]
    return sum(
        r == other and (x - other_x) * (to - other_to) < 0
        for (r, x, to), (other, other_x, other_to) in combinations(ends, 2)
    )


def _packed(items: Iterable[Item], room: Mapping[Item, int]) -> list[float]:
    """The centres of a row's items, side by side around 0."""
    centres, end = [], 0.0
    for item in items:
        centres.append(end + room[item] / 2)
        end += room[item] + (GAP if isinstance(item, str) else 0)
    return [x - (end - GAP) / 2 for x in centres]


def _wanted(item: Item, near: Sequence[Item], centre: Mapping[Item, float]) -> float:
    """The middle of an item's neighbours."""
    if not near:
        return centre[item]
    weights = [STRAIGHT if isinstance(item, Lane) and isinstance(one, Lane) else 1.0 for one in near]
    return sum(w * centre[one] for w, one in zip(weights, near, strict=True)) / sum(weights)
