"""A formula of an author's file as LaTeX, so that a page can set it; authors write theirs in ASCII only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from theory.formula import Formula, fold, parse

GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
RELATIONS = {"<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "=": "="}
SUM, SIGN, PRODUCT, POWER, ATOM = range(5)
"""How tightly a formula holds together."""


class _Set(NamedTuple):
    text: str
    binds: int


def latex_of_claim(quantity: str, relation: str, right: str, definitions: Mapping[str, str]) -> str:
    """``quantity relation right`` in LaTeX, with the definitions after it.

    Args:
        quantity: in LaTeX.
        relation: as a claim has it.
        right: an ASCII formula.
        definitions: ASCII formulas by their names.
    """
    said = [f"{quantity} {RELATIONS[relation]} {latex_of(parse(right))}"]
    said += [f"{_name(name).text}={latex_of(parse(formula))}" for name, formula in definitions.items()]
    return r",\quad ".join(said)


def latex_of(formula: Formula) -> str:
    r"""A formula in LaTeX.

    Example:
        >>> latex_of(parse("(1-delta*mu)**k*R2 + 2*delta*noise/mu"))
        '\\left(1-\\delta \\mu\\right)^{k} R_{2}+\\frac{2 \\delta \\,\\mathrm{noise}}{\\mu}'
    """
    return fold(formula, _number, _name, _apply).text


def _number(value: Fraction) -> _Set:
    sign, size = ("-", -value) if value < 0 else ("", value)
    text = str(size) if size.denominator == 1 else rf"\frac{{{size.numerator}}}{{{size.denominator}}}"
    return _Set(sign + text, SIGN if sign else ATOM if size.denominator == 1 else PRODUCT)


def _name(name: str) -> _Set:
    """A Greek letter, a letter, or a word upright; digits at the end, and what follows an underscore, as an index."""
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d+|(?<=_).+)?_*", name)
    word, index = (found[1], found[2]) if found else (name.replace("_", r"\_"), None)
    word = "lambda" if word == "lam" else word
    text = rf"\{word}" if GREEK.fullmatch(word) else word if len(word) == 1 else rf"\mathrm{{{word}}}"
    if index is None:
        return _Set(text, ATOM)
    index = index.replace("_", ",")
    return _Set(rf"{text}_{{{index}}}" if index.isdigit() else rf"{text}_{{\mathrm{{{index}}}}}", ATOM)


def _apply(operation: str, parts: tuple[_Set, ...]) -> _Set:
    first, second = parts[0], parts[-1]
    if operation == "neg":
        return _Set(f"-{_within(first, PRODUCT)}", SIGN)
    if operation == "+":
        # what begins with a sign stands in parentheses
        added = _within(second, PRODUCT) if second.text.startswith("-") else second.text
        return _Set(f"{first.text}+{added}", SUM)
    if operation == "-":
        return _Set(f"{first.text}-{_within(second, PRODUCT)}", SUM)
    if operation == "*":
        left, right = _within(first, SIGN), _within(second, PRODUCT)
        between = r" \cdot " if right[0].isdigit() or (right.startswith(r"\frac{") and left[-1].isdigit()) else " "
        upright = r"\mathrm" in left[-40:] or right.startswith(r"\mathrm")
        return _Set(
            left + (r" \," if upright and between == " " else between) + right, SIGN if first.binds == SIGN else PRODUCT
        )
    if operation == "/":
        return _Set(rf"\frac{{{first.text}}}{{{second.text}}}", PRODUCT)
    if operation == "**":
        return _Set(f"{_within(first, ATOM)}^{{{second.text}}}", POWER)
    if operation == "sqrt":
        return _Set(rf"\sqrt{{{first.text}}}", ATOM)
    inner = ",".join(part.text for part in parts)
    if operation == "abs":
        return _Set(rf"\left|{inner}\right|", ATOM)
    head = rf"\{operation}" if operation in ("log", "exp", "min", "max") else rf"\mathrm{{{operation}}}"
    return _Set(rf"{head}\left({inner}\right)", POWER)


def _within(part: _Set, binds: int) -> str:
    """A part of something that binds so tightly."""
    return part.text if part.binds >= binds else rf"\left({part.text}\right)"
