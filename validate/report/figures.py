"""The experiments on a page: figures inline, in the page's colours, and links to their files."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from validate.experiment import Experiment
from validate.report.readable import slug


@dataclass(frozen=True)
class FigureView:
    """A figure as the page shows it: inline where it is an SVG, else by its file."""

    title: str
    caption: str
    anchor: str
    drawing: Markup | None
    file: str
    numbers: str | None


@dataclass(frozen=True)
class ExperimentView:
    """An experiment with its figures, the page on which it stands, and the files that were copied for it."""

    experiment: Experiment
    figures: tuple[FigureView, ...]
    page: str = ""
    copies: tuple[Path, ...] = ()

    @property
    def links(self) -> list[str]:
        """The files to which its page links, by their names in OUT."""
        return [link for figure in self.figures for link in (figure.file, figure.numbers) if link is not None]


def experiment_view(experiment: Experiment, out: Path, page: str = "") -> ExperimentView:
    """An experiment for a page in OUT; files that lie elsewhere are copied there."""
    numbers = {path.stem: path for path in experiment.data}
    figures, copies = [], []
    for figure in experiment.figures:
        path = Path(figure.path)
        figures.append(
            FigureView(
                title=figure.title,
                caption=figure.caption,
                anchor=slug(f"{experiment.paper}-{path.stem}"),
                drawing=inline_svg(path, figure.title, experiment.paper) if path.suffix == ".svg" else None,
                file=reachable(path, out, "figures"),
                numbers=reachable(numbers[path.stem], out, "figures") if path.stem in numbers else None,
            )
        )
        copies += [out / "figures" / p.name for p in (path, numbers.get(path.stem)) if p and _is_outside(p, out)]
    return ExperimentView(experiment, tuple(figures), page, tuple(copies))


def _is_outside(path: Path, out: Path) -> bool:
    inside = Path(os.path.relpath(path.resolve(), out.resolve()))
    return inside.parts[:1] == ("..",) or inside.is_absolute()


def reachable(path: Path, out: Path, folder: str) -> str:
    """A link from a page in OUT to a file, which is copied into OUT/folder when it lies outside OUT."""
    inside = Path(os.path.relpath(path.resolve(), out.resolve()))
    if _is_outside(path, out):
        inside = Path(folder) / path.name
        (out / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / inside)
    return inside.as_posix()


def inline_svg(path: Path, title: str, paper: str) -> Markup:
    """A figure's SVG for the page."""
    return inlined(path.read_text(encoding="utf-8"), title, slug(f"{paper}-{path.stem}"))


def inlined(text: str, title: str, prefix: str, name: str = "") -> Markup:
    """matplotlib's SVG for a page: ids of its own, the page's colours, a title for screen readers, no fixed size.

    Args:
        text: the SVG.
        title: for who does not see it.
        prefix: of its ids.
        name: a class for the style sheet.
    """
    from validate.drawing import THEME

    text = shorter(text[text.index("<svg") :])
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r"url\(#", f"url(#{prefix}-", text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    for colour, role in THEME.items():
        text = text.replace(colour, role)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    label = Markup(' class="{}"').format(name) if name else Markup("")
    label += Markup(' role="img" aria-label="{}"').format(title)
    return Markup(head + str(label) + ">" + rest)


def shorter(svg: str) -> str:
    """matplotlib's SVG in fewer characters that look the same: coordinates to a tenth of a point, which is less than a
    pixel's tenth, and none of what is not drawn. Its general style is in the page's style sheet.
    """
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    # markers and glyphs, which have ids, are small in their own coordinates
    svg = re.sub(
        r'<path( id="[^"]*")? d="([^"]*)"',
        lambda m: f'<path{m[1] or ""} d="{shorter_path(m[2], 2 if m[1] else 1)}"',
        svg,
    )
    svg = re.sub(r'(?<= [xy]=")-?[\d.]+(?=")|(?<=translate\()[-\d. ]+(?=\))', lambda m: _rounded(m[0]), svg)
    svg = re.sub(r'(?<= style=")[^"]*', lambda m: m[0].replace(": ", ":").replace("; ", ";"), svg)
    svg = re.sub(r">\s+<", "><", svg).replace("xlink:href", "href")
    used = set(re.findall(r"#([^\")]+)", svg))
    svg = re.sub(r'<g id="([^"]*)"', lambda m: m[0] if m[1] in used else "<g", svg)
    empty = re.compile(r"<(g|defs)[^>]*?(/>|></\1>)")
    while empty.search(svg):
        svg = empty.sub("", svg)
    return svg


def shorter_path(data: str, digits: int) -> str:
    """Path data with the coordinates rounded and relative; what matplotlib does not write stays as it is."""
    if not re.fullmatch(r"[MLQCzZ\s\d.eE+-]*", data):
        return data
    unit = 10**digits
    here = start = (0, 0)
    written = ""
    last = ""
    for letter, arguments in re.findall(r"([MLQCzZ])([^MLQCzZ]*)", data):
        if letter in "zZ":
            written, last, here = written + "z", "z", start
            continue
        numbers = [round(float(x) * unit) for x in arguments.split()]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        command = "M" if letter == "M" else letter.lower()
        origin = (0, 0) if letter == "M" else here
        parts = [f"{(value - origin[axis]) / unit:.{digits}f}" for point in points for axis, value in enumerate(point)]
        parts = [part.rstrip("0").rstrip(".") or "0" for part in parts]
        first = parts[0] if command != last else parts[0] if parts[0].startswith("-") else f" {parts[0]}"
        written += (command if command != last else "") + first
        written += "".join(part if part.startswith("-") else f" {part}" for part in parts[1:])
        last, here = command, points[-1]
        if letter == "M":  # a second pair after M would be a line
            start, last = here, ""
    return written


def _rounded(numbers: str) -> str:
    return " ".join(f"{round(float(n), 1):g}" for n in numbers.split())
