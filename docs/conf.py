"""The documentation site: `make docs`, or python -m sphinx -W --keep-going -n -b html docs build/docs."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

project = "fedproof"
author = "The fedproof developers"
copyright = author
version = release = installed("fedproof")
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "catalogue",
    "commands",
    "docstrings",
    "mathematics",
    "repository",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
smartquotes = False  # quotation marks may be code
exclude_patterns = ["_ext", "_static"]

# --- Markdown and notebooks ------------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4  # pages link to each other's headings by the anchors that a code host makes
nb_execution_mode = "off"  # notebooks show what was committed; the tests execute them
nb_ipywidgets_js = {}  # nothing is loaded from a network
suppress_warnings = [
    "myst.header",  # notebooks may begin with a heading of any level
    "ref.python",  # `lower` in a docstring, which several classes have: whichever is meant, it is the nearest
]

# --- the reference from docstrings -----------------------------------------------------------------------------------
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"
default_role = "py:obj"  # `name` in a docstring is a link where the name has an entry
nitpicky = True
nitpick_ignore_regex = [
    (r"py:obj", r".*"),  # `name` in a docstring may as well be an argument or a metric
    # the standard library and other packages have no entries: there is no network while the site is built
    (r"py:(class|data|exc|func|meth)", r"(?!(theory|sim|validate)\.).*"),
    # inner types that occur in signatures, and that nobody makes by hand
    (r"py:class", r"sim\.(moments\.numbers\.Numbers|kernels\..*)|theory\.worst_case\.program\.Family"),
    (r"py:class", r"validate\.instances\.(candidates\.Candidate|pieces\.Piecewise)"),
    (r"py:class", r"theory\.derivation\.polynomials\.F"),  # a type variable
]

# --- HTML ------------------------------------------------------------------------------------------------------------
html_theme = "furo"
html_title = "fedproof"
html_static_path = ["_static"]
html_css_files = ["fedproof.css"]
html_math_renderer = "typeset"
html_copy_source = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "tango"
pygments_dark_style = "github-dark"
