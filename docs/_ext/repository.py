"""What lies in the repository outside docs/: the notebooks, and modules to which pages link.

Pages are read on code hosts too, so they link to files by relative paths. In the site ``../notebooks/NAME.ipynb`` is
the notebook's page and ``../validate/examine.py`` the source of that module, which `sphinx.ext.viewcode` shows; any
other file is a download.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

logger = logging.getLogger(__name__)

FOLDER = "notebooks"
BACK = re.compile(r'<a class="viewcode-back" href="([^"#]*)#([^"]*)">.*?</a>')


def copy_notebooks(app: Any, config: Any) -> None:
    """Copies the notebooks to docs/notebooks, which git ignores: Sphinx reads nothing outside its own folder."""
    here = Path(app.srcdir)
    target = here / FOLDER
    target.mkdir(exist_ok=True)
    sources = {path.name: path for path in (here.parent / FOLDER).glob("*.ipynb")}
    for name, path in sources.items():
        copy = target / name
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)
    for copy in target.glob("*.ipynb"):
        if copy.name not in sources:
            copy.unlink()


def link_notebooks(app: Any, page: str, content: list[str]) -> None:
    """Links to notebooks lead to their copies."""
    up = "../" * (page.count("/") + 1)
    content[0] = content[0].replace(f"]({up}{FOLDER}/", f"]({up[3:]}{FOLDER}/")


def find_sources(app: Any, doctree: nodes.document) -> None:
    """Links to modules of the packages, which Markdown takes for downloads, are marked for `link_sources`."""
    for node in list(doctree.findall(addnodes.download_reference)):
        path = str(node["reftarget"])
        if path.endswith(".py") and ".." in path:
            parts = [part for part in path.split("/") if part != ".."]
            text = nodes.reference("", "", *node.children, internal=True)
            text["source_module"] = "/".join(parts).removesuffix(".py").removesuffix("/__init__")
            node.replace_self(text)


def link_sources(app: Any, doctree: nodes.document, page: str) -> None:
    """The marked links lead to the pages that show the sources."""
    for node in doctree.findall(nodes.reference):
        if "source_module" in node:
            name = node["source_module"]
            if name.replace("/", ".") not in app.env._viewcode_modules:
                logger.warning("%s is not in the reference, so its source is not shown", name, location=node)
            node["refuri"] = app.builder.get_relative_uri(page, f"_modules/{name}")


def tidy_sources(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The pages of sources: one table of contents a depth, and no link back to an entry that is not there.

    The table takes long to make, and no source is in it. A module whose names are documented partly under its own name
    and partly under that of its package has such links.
    """
    if not pagename.startswith("_modules/"):
        return
    made = app.builder.__dict__.setdefault("navigation", {})
    depth, fresh = pagename.count("/"), context["toctree"]
    context["toctree"] = lambda **options: made.get(depth) or made.setdefault(depth, fresh(**options))
    known = {(one.docname, one.node_id) for one in app.env.domains.python_domain.objects.values()}
    folder = posixpath.dirname(pagename)

    def kept(link: re.Match[str]) -> str:
        page = posixpath.normpath(posixpath.join(folder, link[1])).removesuffix(".html")
        return link[0] if (page, link[2]) in known else ""

    context["body"] = BACK.sub(kept, context["body"])


def only_sources(app: Any) -> tuple[()]:
    """What has no source has no page, and is not in the list of those that have."""
    modules = app.env._viewcode_modules
    for name in [name for name, source in modules.items() if not source]:
        del modules[name]
    return ()


def setup(app: Any) -> dict[str, Any]:
    app.connect("config-inited", copy_notebooks)
    app.connect("source-read", link_notebooks)
    app.connect("doctree-read", find_sources, priority=400)  # before downloads are collected
    app.connect("doctree-resolved", link_sources)
    app.connect("html-collect-pages", only_sources, priority=1)  # before viewcode
    app.connect("html-page-context", tidy_sources, priority=400)  # before the theme asks for it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
