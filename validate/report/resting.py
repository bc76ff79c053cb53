"""Which result rests on which: a picture of all that hangs together, what is used to the left of what uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from theory.claim import Claim
from validate.report.claim import ClaimView
from validate.report.views import PaperView

BOX, GAP, LINE, ROW = 150, 30, 24, 34
"""Pixels: the width of a box, the space between two columns, the height of a box, and of a row."""
LONGEST = 23
"""Characters of a label that a box has room for."""
ARROW = Markup('<path class="{}" d="M{} {}C{} {} {} {} {} {}"/><path class="tip" d="M{} {}l-6 -3.5v7z"/>')
NODE = Markup(
    '<a href="#{}" class="{}"><title>{}: {}</title><rect x="{}" y="{}" width="{}" height="{}" rx="4"/>'
    '<text x="{}" y="{}">{}</text></a>'
)


@dataclass(frozen=True)
class Edge:
    """That one claim rests on another.

    Attributes:
        base, on: the ids: of what is used, and of what uses it.
        repairs: whether it repairs it instead.
    """

    base: str
    on: str
    repairs: bool = False


@dataclass(frozen=True)
class Picture:
    """What hangs together.

    Attributes:
        papers: of the claims in it.
        drawing: an SVG, whose boxes lead to the claims' rows.
    """

    papers: str
    drawing: Markup


def edges(claims: Iterable[Claim]) -> list[Edge]:
    """What claims rest on: what they declare, the claims that their derivations take, and what they repair."""
    found: dict[Edge, None] = {}
    for one in claims:
        found |= {Edge(base, one.id): None for base in (*one.bases, *_taken(one.proof or ()))}
        if one.amended is not None:
            found[Edge(one.amended, one.id, repairs=True)] = None
    return list(found)


def _taken(proof: Iterable[Any]) -> list[str]:
    """The ids of the claims whose sentences are lines of a derivation."""
    lines = [line for line in proof if isinstance(line, Mapping)]
    return [line["derivation"].id for line in lines if isinstance(line.get("derivation"), Claim)]


def pictures(views: Sequence[PaperView]) -> list[Picture]:
    """A picture for each set of claims that hang together, in the order of the papers."""
    by_id = {id: c for view in views for id, c in view.by_id.items()}
    known = [e for e in edges(c.claim for c in by_id.values()) if e.base in by_id and e.on in by_id]
    sets: list[set[str]] = []
    for edge in known:
        joined = [one for one in sets if one & {edge.base, edge.on}]
        sets = [one for one in sets if one not in joined] + [set().union(*joined, {edge.base, edge.on})]
    place = {id: at for at, id in enumerate(by_id)}
    found = []
    for ids in sorted(sets, key=lambda one: min(map(place.__getitem__, one))):
        chosen = sorted(ids, key=place.__getitem__)
        papers = ", ".join(view.paper.title for view in views if ids & set(view.by_id))
        found.append(Picture(papers, _drawn([by_id[id] for id in chosen], [e for e in known if e.on in ids])))
    return found


def _columns(chosen: Sequence[ClaimView], known: Sequence[Edge]) -> dict[str, int]:
    """How many steps each claim is from one that rests on nothing; claims that rest on one another end."""
    column = {c.claim.id: 0 for c in chosen}
    for _ in chosen:
        for edge in known:
            column[edge.on] = min(max(column[edge.on], column[edge.base] + 1), len(chosen))
    return column


def _drawn(chosen: Sequence[ClaimView], known: Sequence[Edge]) -> Markup:
    column = _columns(chosen, known)
    several = len({c.claim.paper for c in chosen}) > 1
    filled: dict[int, int] = {}
    at: dict[str, tuple[int, int]] = {}
    for c in chosen:
        row = filled.get(column[c.claim.id], 0)
        filled[column[c.claim.id]] = row + 1
        at[c.claim.id] = (column[c.claim.id] * (BOX + GAP) + 2, row * ROW + 4)
    width, height = (max(filled) + 1) * (BOX + GAP) - GAP + 4, max(filled.values()) * ROW + 2
    arrows = []
    for edge in known:
        (x, y), (to_x, to_y) = at[edge.base], at[edge.on]
        x, y, to_y, middle = x + BOX, y + LINE // 2, to_y + LINE // 2, (x + BOX + to_x) / 2
        arrows.append(
            ARROW.format("repairs" if edge.repairs else "", x, y, middle, y, middle, to_y, to_x - 5, to_y, to_x, to_y)
        )
    boxes = []
    for c in chosen:
        x, y = at[c.claim.id]
        label = c.claim.id if several else c.claim.label
        short = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        boxes.append(
            NODE.format(c.row, c.verdict, c.claim.id, c.said, x, y, BOX, LINE, x + BOX // 2, y + LINE // 2 + 4, short)
        )
    return Markup('<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">{3}</svg>').format(
        width, height, f"What {chosen[-1].claim.id} rests on", Markup("").join((*arrows, *boxes))
    )
