"""Kind "relation": a printed relation between numbers fails.

The certificate gives numbers to some names (`parameters`) and formulas to others (`definitions`); the two sides are
formulas in these names. Checked, in exact fractions: the hypotheses hold for the numbers, the printed values are those
of the two sides, and the relation between them is false.

What remains for the reader: the formulas are the paper's. Where the claim is about an algorithm, the definitions are
what the algorithm computes from the numbers, written out; and the hypotheses in words hold.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .conditions import HEAD, check_conditions, introduce
from .formulas import COMPARE, Uncheckable, evaluate, lookup, parse
from .reading import FormatError, fields, read_numbers, shown, text_of


def verify_relation(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind; `right` for a claim with a right side of its own, else `right_formula`."""
    needed = HEAD + " parameters definitions left relation left_value right_value"
    fields(data, "the certificate", needed, "right right_formula note")
    if ("right" in data) == ("right_formula" in data):
        raise FormatError("the certificate has not exactly one of right and right_formula")
    relation = text_of(data["relation"], "relation")
    if relation not in COMPARE:
        raise FormatError(f"relation={shown(relation)} is none of {list(COMPARE)}")
    formula = fields(data["left"], "left", "quantity formula")["formula"]
    text_of(data["left"]["quantity"], "quantity")
    other = data["right"] if "right" in data else data["right_formula"]

    checks = Checks()
    introduce(data)
    numbers = read_numbers(data["parameters"], "parameters")
    for name, value in numbers.items():
        checks.note(f"{name} = {shown(value)}")
    look = lookup(numbers, data["definitions"])
    check_conditions(checks, data["hypotheses"], {}, look, words=True)

    def side(text: Any, name: str) -> Fraction:
        value = evaluate(parse(text, name), look)
        if not isinstance(value, Fraction):
            raise Uncheckable(f"{name} is not a number")
        return value

    left, right = (
        checks.attempt("the left side", side, formula, "left"),
        checks.attempt("the right side", side, other, "right"),
    )
    if left is None or right is None:
        return Report(False, tuple(checks.lines))
    checks.equal("left_value", data["left_value"], left)
    checks.equal("right_value", data["right_value"], right)
    holds = COMPARE[relation](left, right)
    checks.check(not holds, f"{shown(formula)} {relation} {shown(other)} is {'true' if holds else 'false'}")
    return Report(checks.valid, tuple(checks.lines))
