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
from validate.report.layered import Lane, layout
from validate.report.views import PaperView

LINE, BETWEEN, EDGE = 26, 26, 3
"""Pixels: the height of a box, between two rows, and around the picture."""
NARROWEST, ASIDE, CHARACTER = 58, 14, 7
"""Pixels: of the narrowest box, beside the text in one, and of a character."""
LONGEST = 34
"""Characters of a label that a box has room for."""
SHORTER = {"Proposition": "Prop.", "Theorem": "Thm.", "Corollary": "Cor.", "proof of": "pf. of"}
"""How a box has words that take much room."""
LINE_OF = Markup('<path class="{}" d="{}"/>')
TIP = Markup('<path class="tip" d="M{} {}l-3.5 -6h7z"/>')
NODE = Markup(
    '<a href="#{}" class="{}"><title>{}: {}</title><rect x="{}" y="{}" width="{}" height="{}" rx="4"/>'
    '<text x="{}" y="{}">{}</text></a>'
)
SVG = Markup('<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="group" aria-label="{2}">{3}</svg>')
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
        errors: where errors enter, those together that fell and spare the same; with the claims they fell and spare.
    """

    papers: str
    drawing: Markup
    errors: tuple[tuple[list[ClaimView], ...], ...]


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
        alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for e in errors(here, verdicts):
            alike.setdefault((e.fells, e.spares), []).append(e.id)
        entering = tuple(tuple([by_id[id] for id in ids] for ids in (at, *what)) for what, at in alike.items())
        papers = ", ".join(view.paper.title for view in views if ids & set(view.by_id))
        found.append(Picture(papers, _drawn(chosen, here, proofs(here, verdicts), rows), entering))
    return found


def _drawn(chosen: Sequence[ClaimView], known: Sequence[Edge], proof: Mapping[str, str], rows: bool) -> Markup:
    several = len({c.claim.paper for c in chosen}) > 1
    labels = {c.claim.id: c.claim.id if several else c.brief for c in chosen}
    short = {id: _short(label) for id, label in labels.items()}
    wide = {id: max(NARROWEST, ASIDE + CHARACTER * len(text)) for id, text in short.items()}
    found = layout(wide, known)
    place = {item: (x + EDGE, found.row[item] * (LINE + BETWEEN) + EDGE) for item, x in found.centre.items()}
    false = {c.claim.id for c in chosen if c.verdict == "refuted"}
    lines = [_line(place[at], place[on], isinstance(on, Lane), _base(at) in false) for at, on in found.segments]
    boxes = []
    for c in chosen:
        id = c.claim.id
        x, y = place[id]
        told = f"{c.said}; {PROOFS[proof[id]]}"
        boxes.append(
            NODE.format(
                c.row if rows else c.anchor, f"{c.verdict} {proof[id]}", labels[id], told, x - wide[id] // 2, y,
                wide[id], LINE, x, y + LINE // 2 + 4, short[id],
            )
        )  # fmt: skip
    width, height = found.width + 2 * EDGE, max(y for _, y in place.values()) + LINE + EDGE
    return SVG.format(width, height, f"What {chosen[-1].claim.id} rests on", Markup("").join((*lines, *boxes)))


def _short(label: str) -> str:
    for word, less in SHORTER.items():
        label = label.replace(word, less)
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _base(item: str | Lane) -> str:
    return item if isinstance(item, str) else item.base


def _line(above: tuple[int, int], on: tuple[int, int], lane: bool, false: bool) -> Markup:
    """From the end of a box or of a lane to the beginning of a box, or to the end of a lane."""
    (x, y), (to_x, to_y) = above, on
    y += LINE
    end = to_y if lane else to_y - 5
    middle = (y + to_y) / 2
    path = f"M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {end}{f'v{LINE}' if lane else ''}"
    return LINE_OF.format("felled" if false else "", path) + (Markup("") if lane else TIP.format(to_x, to_y))
