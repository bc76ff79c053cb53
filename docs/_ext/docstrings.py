"""Docstrings as reStructuredText: in the packages they are plain text, in which a formula is no markup.

An indented block after an empty line is code; one right below a line that ends with a colon keeps its lines. Elsewhere
``*``, ``|`` and a word's last ``_`` stand for themselves, except within backquotes. Sections such as ``Args:`` are left
to napoleon, which comes later.
"""

from __future__ import annotations

import re
from typing import Any

LITERAL = re.compile(r"(``.+?``|`[^`\n]+`)")
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Note):")
MARKUP = re.compile(r"\\|\*|\||(?<=\w)_(?![\w`])")


def _plain(line: str) -> str:
    """The line with its markup characters escaped outside backquotes; a bullet stays one."""
    bullet = re.match(r"\s*[*] ", line)
    start = bullet.end() if bullet else 0
    parts = LITERAL.split(line[start:])
    return line[:start] + "".join(p if i % 2 else MARKUP.sub(r"\\\g<0>", p) for i, p in enumerate(parts))


def converted(lines: list[str]) -> list[str]:
    """A docstring's lines, dedented, as reStructuredText."""
    done: list[str] = []
    kind, block = "", 0  # "code", "lines" or none, and the indentation of that block
    section: int | None = None  # the indentation of the heading of the section that we are in
    above = ""  # the last line that is not empty
    for line in lines:
        if not line.strip():
            done.append(line)
            continue
        depth = _depth(line)
        if kind and depth < block:
            done += [""] if kind == "lines" else []
            kind = ""
        if section is not None and depth <= section:
            section = None
        if not kind and section is None and done:
            if not done[-1].strip() and _begins_code(line, above):
                kind, block = "code", depth
                done += [" " * _depth(above) + "::", ""]
            elif done[-1].rstrip().endswith(":") and depth > _depth(above):
                kind, block = "lines", depth
                done.append("")
        if SECTION.fullmatch(line.strip()):
            section = depth
        text = line if kind == "code" else _plain(line)
        done.append(" " * (block - 2) + "| " + text.strip() if kind == "lines" else text)
        above = line
    return done


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _begins_code(line: str, above: str) -> bool:
    """Whether a line after an empty one is code: it is indented more than the text above, which is no list item."""
    item = re.match(r"\s*([-*]|\d+\.) ", above)
    return _depth(line) >= _depth(above) + 4 and not item and not above.rstrip().endswith("::")


def convert(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Hook of autodoc."""
    lines[:] = converted(lines)


def sign(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None) -> Any:
    """Hook of autodoc: a default that is no expression, such as ``<factory>``, is shown as dots.

    One that cannot be parsed would leave the whole signature without links.
    """
    return (re.sub(r"(?<== )<[^<>]*>", "...", signature), returns) if signature else None


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", convert, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
