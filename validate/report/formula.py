"""LaTeX formulas as inline SVG, set by matplotlib's mathtext, that wrap like text and follow the page's colour.

A formula is cut at its top-level relations and signs into pieces, each an SVG of its own, so that the browser may
break the line there. A page holds each piece and each glyph's outline once (`Typesetter.definitions`), and uses them
by reference.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup

log = logging.getLogger(__name__)

RELATIONS = ("\\leq", "\\le", "\\geq", "\\ge", "\\approx", "\\to", "\\in", "=", "<", ">")
SYNONYMS = {
    "\\tfrac": "\\frac",
    "\\lVert": "\\|",
    "\\rVert": "\\|",
    "\\Vert": "\\|",
    "\\middle|": "|",
    "\\bigl": "",
    "\\bigr": "",
    "\\Bigl": "",
    "\\Bigr": "",
    "\\big": "",
    "\\Big": "",
    "\\displaystyle": "",
    "\\limits": "",
    "'": "{\\prime}",
    "\\le": "\\leq",
    "\\ge": "\\geq",
}
OPENING = {"{": "}", "(": ")", "[": "]", "\\{": "\\}", "\\langle": "\\rangle", "\\left": "\\right"}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
EM = 100.0  # font units of an em, as matplotlib lays text out
ALIKE = 0.5
"""Share of their glyphs that two pieces have in common; those with less are marked as a whole where they differ."""
UNDER, THICK, NOTCH = 16.0, 9.0, 14.0
"""Of the mark below what differs, in font units: how far below the line, how thick, and how wide where nothing is."""


def tokens(latex: str) -> list[str]:
    """The formula's commands and characters, with the synonyms that mathtext does not know replaced."""
    found: list[str] = []
    for token in TOKEN.findall(latex.replace("\\middle|", "|")):
        if new := SYNONYMS.get(token, token):
            found.append(new)
    return found


def join(parts: list[str]) -> str:
    """Tokens as LaTeX, with a space after each command that a letter follows."""
    text = ""
    for part in parts:
        if text and part[:1].isalpha() and re.search(r"\\[A-Za-z]+\Z", text):
            text += " "
        text += part
    return text


def pieces(latex: str) -> list[str]:
    """Cut a formula before its top-level relations and signs.

    Brackets of every kind, norms and the arguments of commands are never cut. A formula whose brackets do not match
    is left whole. Fractions outside every brace become display fractions.
    """
    cut: list[list[str]] = [[]]
    stack: list[str] = []
    braces = 0
    parts = tokens(latex)
    skip = False
    for at, token in enumerate(parts):
        if skip:  # the delimiter of \left or \right
            cut[-1].append(token)
            skip = False
            continue
        before = next((t for t in reversed(parts[:at]) if not t.isspace()), "")
        if token in ("\\|", "|"):
            if token in stack:
                del stack[len(stack) - 1 - stack[::-1].index(token) :]
            else:
                stack.append(token)
        elif token in OPENING:
            stack.append(OPENING[token])
            skip = token == "\\left"
        elif token in OPENING.values():
            if token not in stack:
                return [join(parts)]
            # an unmatched bar inside the bracket is a conditional expectation's
            del stack[len(stack) - 1 - stack[::-1].index(token) :]
            skip = token == "\\right"
        elif not stack and cut[-1] and any(not t.isspace() for t in cut[-1]):
            sign = token in "+-" and before not in ("^", "_", "\\cdot", "\\min", "\\max", *RELATIONS)
            if token in RELATIONS or sign:
                cut.append([])
        braces += {"{": 1, "}": -1}.get(token, 0)
        if token in ("\\sum", "\\frac", "\\mathbb") and "\\sum" in (token, *cut[-1]) and before not in ("", *OPENING):
            cut[-1].append("\\;")  # the limits of a sum are wider than its sign and would touch what stands beside it
        cut[-1].append("\\dfrac" if token == "\\frac" and braces == 0 else token)
    if [s for s in stack if s not in ("|", "\\|")] or "\\|" in stack:
        return [join(parts)]
    return [join(c).strip() for c in cut]


@dataclass(frozen=True)
class Piece:
    """What the page writes once of a piece, however often it occurs.

    Attributes:
        box: what part of the plane it fills.
        size: of the SVG in which it stands, as CSS.
        body: glyphs by reference, and bars.
    """

    box: str
    size: str
    body: str


class Typesetter:
    """Sets formulas, and writes what a page needs of their pieces and glyphs."""

    def __init__(self) -> None:
        self._outlines: Any = None
        self._names: dict[Any, str] = {}
        self._pieces: dict[tuple[str, tuple[tuple[int, int], ...]], str] = {}
        self._made: dict[str, Piece] = {}
        self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        """To pass between processes: what is set, without the fonts."""
        return {name: value for name, value in vars(self).items() if name not in ("_properties", "_layout")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def _prepare(self) -> None:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

        self._properties = FontProperties(size=EM, math_fontfamily="stix")
        self._layout = TextToPath()

    def display(self, latex: str, spoken: str, against: str = "") -> Markup:
        """A formula that wraps at its relations and signs; the page that shows it needs `definitions`.

        Args:
            latex: in the subset that mathtext knows; anything else is shown as the ASCII text.
            spoken: the same in ASCII, read out by screen readers and shown where the LaTeX cannot be set.
            against: another formula: what this one has and that one has not is marked, with a notch where something is
                missing.
        """
        if not latex.strip():
            return Markup('<code class="formula ascii">{}</code>').format(spoken)
        try:
            cut = [_spaced(p, first=i == 0) for i, p in enumerate(pieces(latex))]
            others = [_spaced(p, first=i == 0) for i, p in enumerate(pieces(against))] if against else cut
            marks = self._differing(cut, others)
            names = [self._piece(p, marked) for p, marked in zip(cut, marks, strict=True)]
        except (ValueError, RuntimeError) as error:
            log.warning("mathtext cannot set %r: %s", latex, error)
            return Markup('<code class="formula ascii">{}</code>').format(spoken or latex)
        body = "".join(
            f'<span class="term{" changed" * bool(marked)}"><svg class="{name}"><use href="#{name}"/></svg></span> '
            for name, marked in zip(names, marks, strict=True)
        )
        return Markup('<span class="formula" role="img" aria-label="{}">{}</span>').format(
            spoken or latex, Markup(body)
        )

    def _differing(self, cut: Sequence[str], others: Sequence[str]) -> list[tuple[tuple[int, int], ...]]:
        """Of each piece, the runs of its glyphs that the others do not have; an empty run where these have more."""
        found: list[tuple[tuple[int, int], ...]] = [()] * len(cut)
        for tag, i, to_i, j, to_j in SequenceMatcher(None, cut, others, autojunk=False).get_opcodes():
            for at in range(i, to_i) if tag != "equal" else ():
                whole, glyphs = ((0, len(self._glyphs(cut[at]))),), self._glyphs(cut[at])
                ratio, best = max(
                    (
                        (m.ratio(), m)
                        for m in (
                            SequenceMatcher(None, glyphs, self._glyphs(o), autojunk=False) for o in others[j:to_j]
                        )
                    ),
                    key=lambda pair: pair[0],
                    default=(0.0, None),
                )
                runs = best.get_opcodes() if best is not None and ratio >= ALIKE else ()
                found[at] = tuple((a, b) for tag, a, b, _, _ in runs if tag != "equal") or whole
        return found

    def _glyphs(self, piece: str) -> list[Any]:
        """What a piece consists of, in the order in which it is written."""
        glyphs, self._outlines, _ = self._layout.get_glyphs_mathtext(
            self._properties, f"${piece}$", glyph_map=self._outlines
        )
        return [glyph for glyph, _, _, _ in glyphs]

    def definitions(self, page: str) -> Markup:
        """The pieces and glyphs that a page refers to, as a hidden SVG to be put into it.

        Args:
            page: HTML that contains what `display` returned.
        """
        named = [name for name in dict.fromkeys(re.findall(r'href="#(p\d+)"', page)) if name in self._made]
        made = [(name, self._made[name]) for name in named]
        bodies = "".join(f'<symbol id="{name}" viewBox="{one.box}">{one.body}</symbol>' for name, one in made)
        sizes = "".join(f".{name}{{{one.size}}}" for name, one in made)
        used = set(re.findall(r'href="#(m\d+)"', bodies))
        glyphs = "".join(
            f'<path id="{name}" d="{outline(*self._outlines[glyph])}"/>'
            for glyph, name in self._names.items()
            if name in used
        )
        return Markup(
            f'<svg width="0" height="0" aria-hidden="true" class="glyphs"><style>{sizes}</style>'
            f"<defs>{glyphs}{bodies}</defs></svg>"
        )

    def _piece(self, latex: str, marked: tuple[tuple[int, int], ...] = ()) -> str:
        """The name of a piece, which is set when it is new."""
        if (latex, marked) not in self._pieces:
            made = self._set(latex, marked)
            self._pieces[latex, marked] = name = f"p{len(self._pieces)}"
            self._made[name] = made
        return self._pieces[latex, marked]

    def _set(self, latex: str, marked: tuple[tuple[int, int], ...]) -> Piece:
        text = f"${latex}$"
        width, height, depth = self._layout.get_text_width_height_descent(text, self._properties, True)
        glyphs, self._outlines, bars = self._layout.get_glyphs_mathtext(
            self._properties, text, glyph_map=self._outlines
        )
        # what stands on the line needs no coordinate for it
        line = Counter(y for _, _, y, scale in glyphs if scale == 1).most_common(1)
        up = float(line[0][0]) if line else 0.0
        glyphs = [(glyph, x, y - up, scale) for glyph, x, y, scale in glyphs]
        by_size: dict[float, list[str]] = {}
        for glyph, x, y, scale in glyphs:
            name = self._names.setdefault(glyph, f"m{len(self._names)}")
            place = f"{attribute('x', x / scale)}{attribute('y', -y / scale)}"
            by_size.setdefault(round(float(scale), 3), []).append(f'<use href="#{name}"{place}/>')
        marks = [
            "".join(uses) if scale == 1 else f'<g transform="scale({scale:g})">{"".join(uses)}</g>'
            for scale, uses in by_size.items()
        ]
        for vertices, _ in bars:
            xs, ys = zip(*vertices[:4], strict=True)
            sides = {"x": min(xs), "y": up - max(ys), "width": max(xs) - min(xs), "height": max(ys) - min(ys)}
            marks.append(f"<rect{''.join(attribute(name, value) for name, value in sides.items())}/>")
        marks += [mark for run in marked for mark in self._under(glyphs, *run)]
        box = f"0 {short(depth - height + up)} {short(width)} {short(height)}"
        size = f"width:{width / EM:.3f}em;height:{height / EM:.3f}em;vertical-align:{-depth / EM:.3f}em"
        return Piece(box, size, "".join(marks))

    def _under(self, glyphs: Sequence[Any], first: int, end: int) -> list[str]:
        """Lines below a run of glyphs, one for each height at which it is written; a notch for an empty run."""
        if first == end:
            beside = glyphs[min(first, len(glyphs) - 1)]
            x = float(beside[1]) if first < len(glyphs) else self._right(beside)
            spans = [(x - NOTCH / 2, x + NOTCH / 2, float(beside[2]))]
        else:
            spans = []
            for glyph in glyphs[first:end]:
                low, high, y = float(glyph[1]), self._right(glyph), float(glyph[2])
                if spans and abs(spans[-1][2] - y) < 1 and low >= spans[-1][0]:
                    spans[-1] = (spans[-1][0], max(high, spans[-1][1]), y)
                else:
                    spans.append((low, high, y))
        return [
            f'<rect class="mark"{attribute("x", x)}{attribute("y", UNDER - y)} '
            f'width="{short(to_x - x)}" height="{short(THICK)}"/>'
            for x, to_x, y in spans
        ]

    def _right(self, glyph: Any) -> float:
        """Where a glyph ends."""
        name, x, _, scale = glyph
        vertices = self._outlines[name][0]
        return float(x) + (float(max(v[0] for v in vertices)) * float(scale) if len(vertices) else NOTCH)


def _spaced(piece: str, first: bool) -> str:
    """A piece with a space after the operator with which it begins: mathtext spaces one only between two operands."""
    operator = re.match(r"\\[A-Za-z]+|[-+=<>]", piece)
    return piece if first or not operator else f"{operator.group()}\\;{piece[operator.end() :]}"


def short(value: float) -> str:
    """A coordinate to a font unit, a hundredth of an em: less than a fifth of a pixel."""
    return f"{round(float(value))}"


def attribute(name: str, value: float) -> str:
    """A coordinate as an attribute, nothing for 0, where SVG begins anyway."""
    text = short(value)
    return "" if text == "0" else f' {name}="{text}"'


def outline(vertices: Any, codes: Any) -> str:
    """A matplotlib path, shape (V, 2) and (V,), as SVG path data with the y axis turned downwards."""
    letters = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
    needed = {1: 1, 2: 1, 3: 2, 4: 3, 79: 1}
    data: list[str] = []
    at = 0
    while at < len(codes):
        code = int(codes[at])
        count = needed[code]
        if code == 79:
            data.append("Z")
        else:
            points = vertices[at : at + count]
            data.append(letters[code] + " ".join(f"{round(float(x), 1):g} {round(-float(y), 1):g}" for x, y in points))
        at += count
    return "".join(data)
