"""A claim as data that a page can compute with: its parameters, where they start, and its formulas as a program.

The page's own script (`templates/play.js`) runs the program, whose form `theory.listing` describes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from theory.bound import Bound, Parameter
from theory.listing import Listing, listing
from validate.files import target_of
from validate.report.start import start_values

DECADES = 3  # of a logarithmic slider, below and above the start
STEPS_A_DECADE = 30
STEPS = 200  # of a linear slider over real numbers


def play(claim: Bound, start: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """What a page needs to recompute a claim's bound, JSON-ready; None where the claim has no bound.

    Args:
        claim: the claim.
        start: values to start from (numbers, lists for vectors); it may miss parameters, or have others. What it
            lacks starts where the hypotheses hold, if such values are found (`validate.report.start`).

    Returns:
        ``id``, ``target`` (what a command takes for the claim), ``relation``; ``program``,
        and the places in it of the ``bound``, of the ``terms`` (name, place) and of the sides of those ``hypotheses``
        that have a relation (name, statement, relation, printed, sides, operators); and the ``parameters``: name,
        meaning, domain as text and by its ends, whether integer, whether vector, start, the slider's range (``from``,
        ``to``, ``scale``: ``log`` or ``linear``, ``steps``, and ``zero`` where a logarithmic one begins at 0), and
        ``tie`` where a hypothesis (its index here) sets it equal to a formula, with the formula's text and place.
    """
    if claim.right is None:
        return None
    try:
        listed = listing(claim)
    except ValueError:  # a number that float64 does not have
        return None
    begin = start_values(claim, start)
    with_relation = [i for i, sides in enumerate(listed.sides) if sides is not None]
    return {
        "id": claim.id,
        "target": target_of(claim.id),
        "relation": claim.relation,
        "program": {**listed.program, "numbers": [_short(v) for v in listed.program["numbers"]]},
        "bound": listed.right,
        "terms": [{"name": name, "place": place} for name, place in listed.definitions.items()],
        "hypotheses": [_hypothesis(claim, listed, i) for i in with_relation],
        "parameters": [_parameter(claim, listed, p, begin[p.name], with_relation) for p in claim.parameters],
    }


def _hypothesis(claim: Bound, listed: Listing, index: int) -> dict[str, Any]:
    hypothesis, relation = claim.conditions[index], claim.formulas.relations[index]
    assert relation is not None
    return {
        "name": hypothesis.name,
        "statement": hypothesis.statement,
        "relation": hypothesis.relation,
        "where": hypothesis.where if hypothesis in claim.standing else "",
        "sides": list(listed.sides[index] or ()),
        "operators": list(relation.operators),
    }


def _parameter(
    claim: Bound, listed: Listing, parameter: Parameter, start: Any, with_relation: list[int]
) -> dict[str, Any]:
    domain = parameter.domain
    found: dict[str, Any] = {
        "name": parameter.name,
        "meaning": parameter.meaning,
        "domain": str(domain).replace("inf", "∞"),
        "lower": domain.lower,
        "upper": domain.upper,
        "lower_open": domain.lower_open,
        "upper_open": domain.upper_open,
        "integer": domain.integer,
        "vector": parameter.shape == "vector",
        "start": start,
    }
    if parameter.shape == "scalar":
        found |= _slider(parameter, start)
    if parameter.name in claim.formulas.tied:
        index, formula = claim.formulas.tied[parameter.name]
        relation, places = claim.formulas.relations[index], listed.sides[index]
        assert relation is not None
        assert places is not None
        found["tie"] = {
            "hypothesis": with_relation.index(index),
            "formula": (claim.conditions[index].relation or "").split("==")[relation.sides.index(formula)].strip(),
            "place": places[relation.sides.index(formula)],
        }
    return {key: value for key, value in found.items() if value is not None and value is not False}


def _slider(parameter: Parameter, start: float) -> dict[str, Any]:
    """A slider's range: linear in a bounded interval, or one with negative numbers; else logarithmic."""
    domain = parameter.domain
    low, high = domain.lower, domain.upper
    size = math.floor(math.log10(abs(start))) if start else 0
    if low is not None and low >= 0 and high is None:
        first, last = max(10.0 ** (size - DECADES), low), 10.0 ** (size + DECADES)
        if domain.integer:
            first, last = max(1, math.ceil(low)), 10.0 ** max(size + 2, 3)
        steps = max(1, round(STEPS_A_DECADE * math.log10(last / first)))
        found = {"scale": "log", "from": _short(first), "to": _short(last), "steps": steps}
        return found | ({"zero": True} if low == 0 and not domain.lower_open else {})
    reach = 10.0 ** (size + 1)
    low, low_open = (start - reach, False) if low is None else (low, domain.lower_open)
    high, high_open = (start + reach, False) if high is None else (high, domain.upper_open)
    step = (high - low) / STEPS
    if domain.integer:
        step = max(1, math.ceil(step))
        low, high = math.ceil(low), math.floor(high)
    low, high = low + step * (low_open and low == domain.lower), high - step * (high_open and high == domain.upper)
    return {"scale": "linear", "from": _short(low), "to": _short(high), "steps": max(1, round((high - low) / step))}


def _short(value: float) -> float:
    """An integer where it is one."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value
