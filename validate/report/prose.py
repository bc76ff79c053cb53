"""Formulas within sentences: remarks and evidence are written in ASCII, and set here as text of the page."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from theory.typeset import GREEK
from validate.report.readable import letter

RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "->": "→", "||": "‖"}
NESTED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
SCRIPT = r"(?:\{[^{}]*\}|-\d+/\d+|-?(?:\d+|[A-Za-z]\w*)|[*+'])"
GREEKS = rf"(?:{GREEK.pattern}|lam)"
TOKEN = re.compile(
    rf"""`(?P<code>[^`]+)`
    |(?P<relation><=|>=|!=|==|->|\|\|)
    |(?<!\w)norm(?P<square>2?)\((?P<normed>{NESTED})\)
    |(?<!\w)(?P<root>sqrt)(?=\()
    |(?<!\w)(?P<nabla>grad)\ ?(?=(?:[A-Za-z]|{GREEKS})(?:_\w+)?\s*(?:\(|\b))
    |(?<![\w`'’])(?<![A-Za-z][A-Za-z][-/.])(?P<base>sum|mean|max|min|{GREEKS}\d*|[A-Za-z])
        (?P<scripts>(?:[_^]{SCRIPT})+|\[[^\[\]]*\](?!\w)|(?![\w`']))
    |\^(?P<power>{SCRIPT}|\({NESTED}\))
    |(?<=[\w)\]])\ ?(?P<times>\*)\ ?(?=[\w(])
    """,
    re.VERBOSE,
)


def prose(text: str) -> Markup:
    """A sentence with its formulas in letters, indices and powers; what is code between backticks stays.

    Example:
        >>> print(prose("beta1**2 <= `x` and E norm2(y_n - x[k]) <= eta^2 h"))
        β₁² ≤ <code>x</code> and <i>E</i> ‖<i>y</i><sub><i>n</i></sub> - <i>x</i><sup><i>k</i></sup>‖² ≤ η² <i>h</i>
    """
    text = text.replace("**", "^")
    found, at = Markup(), 0
    for match in TOKEN.finditer(text):
        found += escape(text[at : match.start()]) + _set(match, text)
        at = match.end()
    return found + escape(text[at:])


def _set(match: re.Match[str], text: str) -> Markup:
    given = match.groupdict()
    if given["code"]:
        return Markup("<code>{}</code>").format(given["code"])
    if given["relation"]:
        return Markup(RELATIONS[given["relation"]])
    if given["normed"] is not None:
        return Markup("‖{}‖{}").format(prose(given["normed"]), _script("^", "2") if given["square"] else "")
    if given["root"]:
        return Markup("√")
    if given["nabla"]:
        return Markup("∇")
    if given["times"]:
        return Markup("·")
    if given["power"]:
        return _script("^", given["power"])
    return _name(given["base"], given["scripts"], text[: match.start()], text[match.end() :])


def _name(base: str, scripts: str, before: str, after: str) -> Markup:
    """A letter or a word with what stands below and above it."""
    if not scripts:
        word = len(base) > 1 and not re.fullmatch(rf"{GREEKS}\d*", base)
        article = base in ("a", "A", "I") and not re.match(r"\s*[=<>/^*(]", after)
        label = (before.endswith("(") and after.startswith(")") and before[-2:-1] in ("", " ")) or after[:1] == "."
        if word or article or (label and len(base) == 1 and re.match(r"\)|\.\d", after)):
            return escape(base)
    shown = {"sum": "Σ"}.get(base, letter(base))
    found = Markup("<i>{}</i>").format(base) if len(base) == 1 else escape(shown)
    if scripts.startswith("["):
        return found + _script("^", scripts[1:-1])
    for sign, script in re.findall(rf"([_^])({SCRIPT})", scripts):
        found += _script(sign, script)
    return found


def _script(sign: str, script: str) -> Markup:
    inner = script[1:-1] if script[0] in "{(" else script
    if sign == "^" and inner in ("2", "3"):
        return Markup("²" if inner == "2" else "³")
    return Markup("<{0}>{1}</{0}>").format("sup" if sign == "^" else "sub", prose(inner))
