"""Formulas as inline SVG, set by `validate.report.formula`: no script and no network is needed to read them.

A math node may have an attribute ``spoken``, the formula for screen readers; without, they read the LaTeX. What the
formulas of a page refer to (pieces, and a font of their glyphs) is put once at its end.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _typesetter(builder: Any, page: str) -> Any:
    """The one of a page, made when its first formula comes."""
    from validate.report.formula import Typesetter

    of_page = builder.__dict__.setdefault("typesetters", {})
    if page not in of_page:
        of_page[page] = Typesetter()
    return of_page[page]


def _set(translator: Any, node: nodes.Element) -> str:
    latex = " ".join(node.astext().split())
    builder = translator.builder
    html = str(_typesetter(builder, builder.current_docname).display(latex, node.get("spoken", latex)))
    if "<svg" not in html:
        logger.warning("mathtext cannot set the formula %r", latex, location=node)
    return html


def inline(translator: Any, node: nodes.Element) -> None:
    """A formula within a sentence."""
    translator.body.append(f'<span class="math">{_set(translator, node)}</span>')
    raise nodes.SkipNode


def display(translator: Any, node: nodes.Element) -> None:
    """A formula on a line of its own; a long one is cut at its relations and signs."""
    translator.body.append(f'<div class="math">{_set(translator, node)}</div>\n')
    raise nodes.SkipNode


def add_definitions(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The pieces and the font that the page's formulas refer to."""
    setter = getattr(app.builder, "typesetters", {}).pop(pagename, None)
    if setter is not None and "body" in context:
        context["body"] += str(setter.definitions(context["body"]))


def setup(app: Any) -> dict[str, Any]:
    """Makes the renderer known as ``typeset``."""
    app.add_html_math_renderer("typeset", (inline, None), (display, None))
    app.connect("html-page-context", add_definitions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
