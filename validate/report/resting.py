"""Which result rests on which: where an error enters a paper, what falls with it and what does not, as a picture.

A printed proof that uses a false line proves nothing; whether the result is false is another question. So a box has its
statement's verdict for a border, and what is known of its printed proof for a filling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from theory.claim import Claim
from validate.report.claim import ClaimView
from validate.report.views import PaperView

BOX, LINE = 108, 26
"""Pixels: the width of a box, and its height."""
BESIDE, BELOW, BETWEEN = 28, 10, 22
"""Pixels between boxes: of columns, in a column, and of rows where the picture runs downwards."""
LONGEST = 16
"""Characters of a label that a box has room for."""
SHORTER = {"Proposition": "Prop.", "Theorem": "Thm.", "Corollary": "Cor.", "proof of": "pf. of"}
"""How a box has words that take much room."""
SWEEPS = 4
"""Times that the rows are put in the order of their neighbours."""
ARROW = Markup('<path class="{}" d="{}"/><path class="tip" d="M{} {}{}"/>')
NODE = Markup(
    '<a href="#{}" class="{}"><title>{}: {}</title><rect x="{}" y="{}" width="{}" height="{}" rx="4"/>'
    '<text x="{}" y="{}">{}</text></a>'
)
SVG = Markup('<svg class="{0}" viewBox="0 0 {1} {2}" width="{1}" height="{2}" role="group" aria-label="{3}">{4}</svg>')
PROOFS = {
    "enters": "it is false itself, though nothing that it rests on is: here an error enters",
    "falls": "its printed proof uses a line that is false",
    "derived": "it is derived here, line by line",
    "open": "nothing is known of its proof",
}
"""What is known of a result's proof, in words."""


class Edge(NamedTuple):
    """That one claim rests on another.

    Attributes:
        base, on: the ids: of what is used, and of what uses it.
    """

    base: str
    on: str


@dataclass(frozen=True)
class Error:
    """A false line where an error enters a paper.

    Attributes:
        id: of the claim.
        fells: the ids of what rests on it, through lines that are false too, and is false.
        spares: the ids of what rests on one of these, and is not known to be false.
    """

    id: str
    fells: tuple[str, ...]
    spares: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """What hangs together.

    Attributes:
        papers: of the claims in it.
        drawing: an SVG, whose boxes lead to the claims.
        errors: where errors enter, with the views of the claims they fell and spare.
    """

    papers: str
    drawing: Markup
    errors: tuple[tuple[ClaimView, list[ClaimView], list[ClaimView]], ...]


def edges(claims: Iterable[Claim]) -> list[Edge]:
    """What claims that repair nothing rest on: what they declare, and the claims that their derivations take."""
    pairs = (Edge(base, c.id) for c in claims if c.amends is None for base in (*c.bases, *_taken(c.proof or ())))
    return list(dict.fromkeys(pairs))


def _taken(proof: Iterable[Any]) -> list[str]:
    """The ids of the claims whose sentences are lines of a derivation."""
    lines = [line for line in proof if isinstance(line, Mapping)]
    return [line["derivation"].id for line in lines if isinstance(line.get("derivation"), Claim)]


def proofs(known: Sequence[Edge], verdicts: Mapping[str, str]) -> dict[str, str]:
    """What is known of the proof of each claim that rests on others or that others rest on: a key of `PROOFS`."""
    false = {id for id, verdict in verdicts.items() if verdict == "refuted"}
    felled = {edge.on for edge in known if edge.base in false}
    found = {}
    for id in dict.fromkeys(id for edge in known for id in edge):
        alone = "enters" if id in false else "derived" if verdicts.get(id) == "proved" else "open"
        found[id] = "falls" if id in felled else alone
    return found


def errors(known: Sequence[Edge], verdicts: Mapping[str, str]) -> list[Error]:
    """Where errors enter, what falls with each, and what does not.

    Example:
        >>> chain = [Edge("a", "b"), Edge("b", "c"), Edge("c", "d")]
        >>> errors(chain, {"a": "refuted", "b": "refuted", "c": "proved", "d": "proved"})
        [Error(id='a', fells=('b',), spares=('c',))]
    """
    found = []
    for id, proof in proofs(known, verdicts).items():
        if proof == "enters" and any(id == edge.base for edge in known):
            reached = [id]
            for one in reached:  # which grows
                reached += [
                    e.on for e in known if e.base == one and verdicts.get(e.on) == "refuted" and e.on not in reached
                ]
            spared = dict.fromkeys(e.on for e in known if e.base in reached and e.on not in reached)
            found.append(Error(id, tuple(reached[1:]), tuple(spared)))
    return found


def pictures(views: Sequence[PaperView], rows: bool = False) -> list[Picture]:
    """A picture for each set of claims that hang together, in the order of the papers.

    Args:
        views: of papers.
        rows: whether boxes lead to the claims' rows, in a table of many papers; else to the claims.
    """
    by_id = {id: c for view in views for id, c in view.by_id.items()}
    verdicts = {id: c.verdict for id, c in by_id.items()}
    known = [e for e in edges(c.claim for c in by_id.values()) if e.base in by_id and e.on in by_id]
    sets: list[set[str]] = []
    for edge in known:
        joined = [one for one in sets if one & set(edge)]
        sets = [one for one in sets if one not in joined] + [set().union(*joined, edge)]
    place = {id: at for at, id in enumerate(by_id)}
    found = []
    for ids in sorted(sets, key=lambda one: min(map(place.__getitem__, one))):
        chosen = [by_id[id] for id in sorted(ids, key=place.__getitem__)]
        here = [e for e in known if e.on in ids]
        entering = tuple(
            (by_id[e.id], [by_id[id] for id in e.fells], [by_id[id] for id in e.spares]) for e in errors(here, verdicts)
        )
        papers = ", ".join(view.paper.title for view in views if ids & set(view.by_id))
        found.append(Picture(papers, _drawn(chosen, here, proofs(here, verdicts), rows), entering))
    return found


def _levels(chosen: Sequence[ClaimView], known: Sequence[Edge]) -> list[list[str]]:
    """The ids by how many steps each is from one that rests on nothing, with few crossings; circles end somewhere."""
    level = {c.claim.id: 0 for c in chosen}
    for _ in chosen:
        for edge in known:
            level[edge.on] = min(max(level[edge.on], level[edge.base] + 1), len(chosen))
    for id in level:  # what is used late stands beside what uses it
        users = [level[e.on] for e in known if e.base == id]
        if users and not any(e.on == id for e in known):
            level[id] = max(0, min(users) - 1)
    levels = [[id for id in level if level[id] == at] for at in sorted(set(level.values()))]
    for sweep in range(SWEEPS):
        row = {id: at - len(ids) / 2 for ids in levels for at, id in enumerate(ids)}
        for ids in levels if sweep % 2 else levels[::-1]:
            near = {id: [row[a if b == id else b] for a, b in known if id in (a, b)] for id in ids}
            ids.sort(key=lambda id: sum(near[id]) / len(near[id]))
            row |= {id: at - len(ids) / 2 for at, id in enumerate(ids)}
    return levels


def _drawn(chosen: Sequence[ClaimView], known: Sequence[Edge], proof: Mapping[str, str], rows: bool) -> Markup:
    several = len({c.claim.paper for c in chosen}) > 1
    levels = _levels(chosen, known)
    most = max(map(len, levels))
    down = len(levels) > most  # a long chain runs downwards: it has room on a telephone
    across, along = (BELOW + BOX, LINE + BETWEEN) if down else (BELOW + LINE, BOX + BESIDE)
    at = {}
    for level, ids in enumerate(levels):
        for row, id in enumerate(ids):
            aside, on = round((row + (most - len(ids)) / 2) * across), level * along
            at[id] = (aside + 3, on + 3) if down else (on + 3, aside + 3)
    width, height = max(x for x, _ in at.values()) + BOX + 3, max(y for _, y in at.values()) + LINE + 3
    arrows = [_arrow(at[base], at[on], down, _is_false(chosen, base)) for base, on in known]
    boxes = []
    for c in chosen:
        x, y = at[c.claim.id]
        label = c.claim.id if several else c.short
        short = label
        for word, less in SHORTER.items():
            short = short.replace(word, less)
        short = short if len(short) <= LONGEST else f"{short[: LONGEST - 1]}…"
        told = f"{c.said}; {PROOFS[proof[c.claim.id]]}"
        boxes.append(
            NODE.format(
                c.row if rows else c.anchor, f"{c.verdict} {proof[c.claim.id]}", label, told, x, y, BOX, LINE,
                x + BOX // 2, y + LINE // 2 + 4, short,
            )
        )  # fmt: skip
    told = f"What {chosen[-1].claim.id} rests on"
    return SVG.format("down" if down else "along", width, height, told, Markup("").join((*arrows, *boxes)))


def _arrow(base: tuple[int, int], on: tuple[int, int], down: bool, false: bool) -> Markup:
    """From the end of a box to the beginning of another one."""
    (x, y), (to_x, to_y) = base, on
    if down:
        x, to_x, y, tip = x + BOX // 2, to_x + BOX // 2, y + LINE, "l-3.5 -6h7z"
        middle = (y + to_y) / 2
        path = f"M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {to_y - 5}"
    else:
        y, to_y, x, tip = y + LINE // 2, to_y + LINE // 2, x + BOX, "l-6 -3.5v7z"
        middle = (x + to_x) / 2
        path = f"M{x} {y}C{middle} {y} {middle} {to_y} {to_x - 5} {to_y}"
    return ARROW.format("felled" if false else "", path, to_x, to_y, tip)


def _is_false(chosen: Sequence[ClaimView], id: str) -> bool:
    return any(c.claim.id == id and c.verdict == "refuted" for c in chosen)
