"""A claim of one's own in other units of curvature and of length, in which every scenario is another one.

Curvatures times c and lengths times s make of a run the same run in other units: all that is measured of it is
multiplied by powers of c and s (`validate.own.tables`). A claim with two sides of the same units is none the wiser; any
other one breaks in some units, unless its hypotheses fix them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from validate.assumptions import relations_unmet, where_met
from validate.bounds import ROUNDING, Cases, compare, right_sides
from validate.own.claims import MeasuredClaim, MeasuredParameter
from validate.own.tables import MEASURES, QUANTITIES
from validate.scenario import Spec, as_list, fraction_text, rational

UNITS = tuple(
    (Fraction(2) ** c, Fraction(2) ** s)
    for c, s in ((3, 0), (-3, 0), (0, 3), (0, -3), (10, 0), (-10, 0), (0, 10), (0, -10))
)
"""Of curvature and of length; powers of two, so that floats are not rounded."""
GENERIC = Fraction(8), Fraction(1024)


def in_units(claim: MeasuredClaim, cases: Cases, curvature: Fraction, length: Fraction) -> Cases:
    """The cases of the same run in other units."""
    of = {p.name: MEASURES[p.measure].units for p in claim.parameters if isinstance(p, MeasuredParameter)}

    def times(value: Any, units: tuple[int, int]) -> Any:
        factor = float(curvature ** units[0] * length ** units[1])
        return np.asarray(value, dtype=np.float64) * factor if np.ndim(value) else float(value) * factor

    units = QUANTITIES[claim.quantity.name].units
    values = {name: times(value, of[name]) if any(of[name]) else value for name, value in cases.parameters.items()}
    return replace(cases, left=times(cases.left, units), parameters=values, size=times(cases.size, units))


def respecified(spec: Spec, curvature: Fraction, length: Fraction) -> Spec:
    """A scalar instance of local SGD or FedAvg-SVRG in other units."""

    def times(values: Any, factor: Fraction) -> list[str]:
        return [fraction_text(rational(value, "number") * factor) for value in as_list(values)]

    clients = [{**c, "h": times(c["h"], curvature), "a": times(c["a"], length)} for c in spec["clients"]]
    [step], [start] = times(spec["step"], 1 / curvature), times(spec["theta0"], length)
    return {**spec, "clients": clients, "step": step, "theta0": start}


def broken(claim: MeasuredClaim, each: Sequence[Any]) -> Iterator[tuple[Any, Fraction, Fraction]]:
    """Those scenarios of a survey (`validate.survey.Seen`) that break the claim in some units, with the first such."""
    for one in each:
        if _alike(claim, one.cases):
            continue
        for curvature, length in UNITS:
            cases = where_met(claim, in_units(claim, one.cases, curvature, length))
            if cases is None or relations_unmet(claim, cases.parameters_at(0)):
                continue
            try:
                if not compare(claim, cases).broken:
                    continue
            except ValueError:  # a parameter is outside its domain
                continue
            yield one, curvature, length
            break


def _alike(claim: MeasuredClaim, cases: Cases) -> bool:
    """Whether other units multiply the right side as they do the left one: then they break the claim nowhere."""
    first, second = QUANTITIES[claim.quantity.name].units
    factor = float(GENERIC[0] ** first * GENERIC[1] ** second)
    try:
        here, there = right_sides(claim, cases) * factor, right_sides(claim, in_units(claim, cases, *GENERIC))
    except ValueError:  # a parameter is outside its domain
        return False
    same = np.abs(here - there) <= ROUNDING * np.maximum(np.abs(here), np.abs(there))
    return bool(np.all(same | (np.isnan(here) & np.isnan(there))))
