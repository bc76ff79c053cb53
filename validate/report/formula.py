"""LaTeX formulas as inline SVG, set by matplotlib's mathtext, that wrap like text and follow the page's colour.

A formula is cut at its top-level relations and signs into pieces, each an SVG of its own, so that the browser may
break the line there. A page holds each piece once, and uses it by reference; and a font with the glyphs of its own
formulas (`Typesetter.definitions`): a character and its place take a fifth of what a reference to an outline takes.
"""

from __future__ import annotations

import base64
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from itertools import pairwise
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
FIRST = 0xE000
"""The first of the characters that stand for glyphs: of those to which nobody else gives a meaning."""
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
        body: characters with their places, and bars.
    """

    box: str
    size: str
    body: str


class Typesetter:
    """Sets formulas, and writes what a page needs of their pieces and glyphs."""

    def __init__(self) -> None:
        self._outlines: Any = None
        self._characters: dict[Any, str] = {}
        self._widths: dict[Any, float] = {}
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

        from validate.report.mathtext import Quick

        self._properties = FontProperties(size=EM, math_fontfamily="stix")
        self._layout = TextToPath()
        setattr(self._layout.mathtext_parser, "_parser", Quick())  # noqa: B010

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
        body = " ".join(
            f'<svg class="{name}{" changed" * bool(marked)}"><use href="#{name}"/></svg>'
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
        """The pieces that a page refers to, as a hidden SVG to be put into it, and the font in which they are set.

        Args:
            page: HTML that contains what `display` returned.
        """
        named = [name for name in dict.fromkeys(re.findall(r'href="#(p\d+)"', page)) if name in self._made]
        made = [(name, self._made[name]) for name in named]
        bodies = "".join(f'<symbol id="{name}" viewBox="{one.box}">{one.body}</symbol>' for name, one in made)
        sizes = "".join(f".{name}{{{one.size}}}" for name, one in made)
        outlines = {
            character: (points * scale, codes, self._widths[glyph, scale])
            for (glyph, scale), character in self._characters.items()
            for points, codes in (self._outlines[glyph],)
            if character in bodies
        }
        data = base64.b64encode(font(outlines)).decode() if outlines else ""
        face = f"@font-face{{font-family:formula;src:url(data:font/woff;base64,{data})}}" if data else ""
        return Markup(
            f'<svg width="0" height="0" aria-hidden="true" class="glyphs"><style>{face}{sizes}</style>'
            f"<defs>{bodies}</defs></svg>"
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
        marks = [self._text(glyphs)] if glyphs else []
        if bars:
            sides = [(*map(min, zip(*v[:4], strict=True)), *map(max, zip(*v[:4], strict=True))) for v, _ in bars]
            drawn = (
                f"M{short(x)} {short(up - to_y)}h{short(to_x - x)}v{max(1, round(to_y - y))}h{short(x - to_x)}z"
                for x, y, to_x, to_y in sides
            )
            marks.append(f'<path d="{"".join(drawn)}"/>')
        marks += [mark for run in marked for mark in self._under(glyphs, *run)]
        box = f"0 {short(depth - height + up)} {short(width)} {short(height)}"
        size = f"width:{width / EM:.2f}em;height:{height / EM:.2f}em;vertical-align:{-depth / EM:.2f}em"
        return Piece(box, size, "".join(marks))

    def _text(self, glyphs: Sequence[Any]) -> str:
        """Glyphs as text: a character each, and how far each stands from where the one before it ends.

        A glyph in each size is a character of its own. It ends where its neighbour began when it was first set, which
        is where most of its neighbours begin. The first stands leftmost: browsers move a text so that its start does.
        """
        glyphs = sorted(glyphs, key=lambda glyph: float(glyph[1]))
        begin = end = float(round(float(glyphs[0][1])))
        text, right, down, line = "", list[int](), list[int](), 0
        for (glyph, x, y, scale), (_, to_x, _, _) in pairwise((*glyphs, glyphs[-1])):
            key = glyph, round(float(scale), 3)
            text += self._characters.setdefault(key, chr(FIRST + len(self._characters)))
            right.append(round(float(x) - end))
            down.append(round(-float(y)) - line)
            line += down[-1]
            width = round(min(EM, max(EM / 10, float(to_x - x))), 1)
            end += right[-1] + self._widths.setdefault(key, width)
        placed = attribute("x", begin)
        for name, by in (("dx", right), ("dy", down)):
            listed = re.sub(r"( ?\b0)+\Z", "", " ".join(map(str, by)))
            placed += f' {name}="{listed}"' if listed else ""
        return f"<text{placed}>{text}</text>"

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


def font(outlines: Mapping[str, tuple[Any, Any, float]]) -> bytes:
    """A font of these glyphs, as WOFF, the same each time.

    Args:
        outlines: by character, matplotlib paths in hundredths of an em: points, shape (V, 2), codes, shape (V,), and
            how wide the character is.
    """
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.cu2quPen import Cu2QuPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    glyphs = {".notdef": TTGlyphPen(None).glyph()}
    for character, (points, codes, _) in outlines.items():
        made = TTGlyphPen(None)
        pen = Cu2QuPen(made, max_err=0.5)
        draw = {1: (pen.moveTo, 1), 2: (pen.lineTo, 1), 3: (pen.qCurveTo, 2), 4: (pen.curveTo, 3)}
        at = 0
        while at < len(codes):
            if int(codes[at]) == 79:
                pen.closePath()
                at += 1
                continue
            step, count = draw[int(codes[at])]
            step(*((10 * float(x), 10 * float(y)) for x, y in points[at : at + count]))
            at += count
        glyphs[f"u{ord(character):x}"] = made.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(c): f"u{ord(c):x}" for c in outlines})
    builder.setupGlyf(glyphs)
    wide = {f"u{ord(c):x}": max(0, round(10 * width)) for c, (_, _, width) in outlines.items()}
    left = {name: getattr(glyph, "xMin", 0) for name, glyph in glyphs.items()}
    builder.setupHorizontalMetrics({name: (wide.get(name, 500), left[name]) for name in glyphs})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "formula", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost(keepGlyphNames=False)
    builder.font.recalcTimestamp = False
    builder.font["head"].created = builder.font["head"].modified = 0
    builder.font.flavor = "woff"
    written = BytesIO()
    builder.font.save(written)
    return written.getvalue()
