"""Values of a claim's parameters to start from: plain ones, moved until the relations of its hypotheses hold.

The moves are greedy and deterministic: of all parameters and all plain values of each, the one that leaves least of the
hypotheses violated; first with those parameters before others that a relation limits, then without. Where both end
before all hypotheses hold, a witness of `theory.feasible` is taken (``K*H == 35``), and where that has none the plain
values stand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from theory.bound import Bound, Parameter
from theory.domain import Domain
from theory.feasible.limits import Limits
from theory.floats import Floats
from theory.formula import Name, names_in, text_of

PARTS = (0.5, 0.3, 0.2)  # of a vector's entries, which then add up to one
MOST_MOVES = 20
LITTLE_WORK = Limits(boxes=64, effort=0.05, seconds=5.0)
STEPS = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)]  # plain sizes


def start_values(claim: Bound, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A value for each parameter, satisfying the relations of the hypotheses where such values are found.

    Args:
        claim: a claim with a right side.
        given: numbers (lists for vectors) that are kept where they lie in their domain. Names that the claim does not
            have are ignored, and so are values of the wrong shape.

    Returns:
        By name, in the claim's order: floats, integers where the domain has only these, lists for vectors.
    """
    kept = _kept(claim, given or {})
    plain = _plain_values(claim, kept)
    found = plain
    for limited_first in (True, False):
        moved = _moved(claim, plain, kept, limited_first)
        if _score(claim, moved)[0] == 0:
            found = moved
            break
        if not _has_bound(claim, found):
            found = moved
    else:
        found = _witness(claim, kept) or found
    values = Floats(claim, found).environment
    return {p.name: _plain(p, values[p.name]) for p in claim.parameters}


def _witness(claim: Bound, kept: Mapping[str, Any]) -> dict[str, Any] | None:
    """Values at which the hypotheses hold, where little work is enough to have them, and they are numbers."""
    from theory.feasible import feasible

    witness = feasible(claim, fixed=kept, limits=LITTLE_WORK).witness
    if witness is None:
        return None
    plain: dict[str, Any] = {}
    for name, value in witness.items():
        entries = value if isinstance(value, tuple) else (value,)
        if any(isinstance(entry, str) for entry in entries):
            return None
        found = [float(entry) for entry in entries]
        plain[name] = found if isinstance(value, tuple) else found[0]
    return plain if _score(claim, plain)[0] == 0 else None


def _kept(claim: Bound, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the given values that the claim can take."""
    kept = {}
    for p in claim.parameters:
        value = given.get(p.name)
        entries = value if isinstance(value, list | tuple) else [value]
        vector = isinstance(value, list | tuple) and bool(value)
        if vector == (p.shape == "vector") and all(_fits(p.domain, entry) for entry in entries):
            kept[p.name] = [float(entry) for entry in entries] if vector else float(value)  # type: ignore[arg-type]
    return kept


def _fits(domain: Domain, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and domain.contains(float(value))


def _plain_values(claim: Bound, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of the parameters that are not given; of a tied one, its formula."""
    size = next((len(v) for v in kept.values() if isinstance(v, list)), len(PARTS))
    plain = {p.name: _plain_start(p, size) for p in claim.parameters}
    tied = {name: text_of(formula) for name, (_, formula) in claim.formulas.tied.items()}
    return plain | _equals(claim) | tied | dict(kept)


def _moved(claim: Bound, plain: Mapping[str, Any], kept: Mapping[str, Any], limited_first: bool) -> dict[str, Any]:
    """Plain values, moved one at a time until the hypotheses hold or no move helps."""
    values = dict(plain)
    concerned = _concerned(claim) - set(kept) - set(claim.formulas.tied) - set(_equals(claim))
    free = [p for p in claim.parameters if p.name in concerned]
    alone = _alone(claim)
    score = _score(claim, values)[0]
    for _ in range(MOST_MOVES):
        if score == 0:
            break
        best: tuple[tuple[bool, float, float], str, Any] | None = None
        for p in free:
            moves = _moves(p, values)
            if not moves:
                continue
            for move, left in zip(moves, _scores(claim, values, p, moves), strict=True):
                key = (limited_first and p.name not in alone, left, _distance(values[p.name], move))
                if left < score and (best is None or key < best[0]):
                    best = key, p.name, move
        if best is None:
            break
        values[best[1]] = best[2]
        score = best[0][1]
    return values


def _scores(claim: Bound, values: Mapping[str, Any], parameter: Parameter, moves: Sequence[Any]) -> list[float]:
    """How far from the hypotheses each move leads, all in one evaluation where all leave tied parameters in place."""
    import numpy as np

    found = _score(claim, {**values, parameter.name: np.array(moves, dtype=float)})
    if math.inf in found and len(moves) > 1 and claim.formulas.tied:
        return [_score(claim, {**values, parameter.name: move})[0] for move in moves]
    return found


def _score(claim: Bound, values: Mapping[str, Any]) -> list[float]:
    """How far the hypotheses are from holding: 0 where they do; one entry for each entry of an array among the values.

    Each relation counts by the relative difference of its sides, and by 2 where it has no value; so does a right side
    without value.
    """
    import numpy as np

    try:
        floats = Floats(claim, values)
        total = np.where(np.isfinite(floats.right()), 0.0, 2.0) + np.zeros(floats.shape)
        for i, relation in enumerate(claim.formulas.relations):
            if relation is None:
                continue
            sides = floats.sides(i)
            vectors = [floats.length(side) is not None for side in relation.sides]
            for j, operator in enumerate(relation.operators):
                amount = _violation(sides[j], operator, sides[j + 1])
                total = total + (amount.max(axis=-1) if vectors[j] or vectors[j + 1] else amount)
    except ValueError:  # a tied parameter leaves its domain
        size = next((v.shape[0] for v in values.values() if isinstance(v, np.ndarray)), 1)
        return [math.inf] * size
    found: list[float] = np.atleast_1d(total).tolist()
    return found


def _has_bound(claim: Bound, values: Mapping[str, Any]) -> bool:
    try:
        return math.isfinite(Floats(claim, values).right())
    except ValueError:  # a tied parameter leaves its domain
        return False


def _violation(left: Any, operator: str, right: Any) -> Any:
    import numpy as np

    with np.errstate(all="ignore"):
        gap = (left - right) / (np.abs(left) + np.abs(right))
        gap = np.where(left == right, 0.0, gap)
        if operator == "==":
            amount = np.where(np.abs(gap) < 1e-12, 0.0, np.abs(gap))
        else:
            gap = gap if operator[0] == "<" else -gap
            strict = len(operator) == 1
            amount = np.where(gap >= 0 if strict else gap > 0, gap + (1e-3 if strict else 0.0), 0.0)
    return np.where(np.isfinite(left) & np.isfinite(right), amount, 2.0)


def _concerned(claim: Bound) -> set[str]:
    """Names that the hypotheses' relations or the right side use, through definitions as well."""
    formulas = claim.formulas
    return formulas.names_used([formulas.right, *(r for r in formulas.relations if r is not None)])


def _alone(claim: Bound) -> set[str]:
    """Names that a relation limits: they stand alone on one of its sides."""
    relations = [r for r in claim.formulas.relations if r is not None]
    return {side.name for relation in relations for side in relation.sides if isinstance(side, Name)}


def _plain_start(parameter: Parameter, size: int) -> Any:
    domain = parameter.domain
    if parameter.shape == "scalar":
        return _middle(domain)
    parts = PARTS if size == len(PARTS) else (1 / size,) * size
    scale = 100.0 if domain.integer else 1.0 if domain.upper is None else float(domain.upper)
    vector = [round(scale * part) if domain.integer else scale * part for part in parts]
    return vector if all(domain.contains(float(v)) for v in vector) else [_middle(domain)] * size


def _middle(domain: Domain) -> float:
    """A plain number of a domain: 10 or 1, or the middle of an interval."""
    if domain.lower is not None and domain.upper is not None:
        middle = (domain.lower + domain.upper) / 2
        return float(math.ceil(middle) if domain.integer else middle)
    wanted = 10.0 if domain.integer and domain.lower else 1.0
    if domain.lower is not None and wanted <= domain.lower:
        return wanted if domain.contains(wanted) else float(math.floor(domain.lower) + 1)
    if domain.upper is not None and wanted >= domain.upper:
        return wanted if domain.contains(wanted) else float(math.ceil(domain.upper) - 1)
    return wanted


def _moves(parameter: Parameter, values: Mapping[str, Any]) -> list[Any]:
    """Plain values of a parameter: of a vector, multiples of what it is."""
    domain = parameter.domain
    if parameter.shape == "scalar":
        return _ladder(domain)
    moves = [[round(v * s) if domain.integer else v * s for v in values[parameter.name]] for s in STEPS]
    return [move for move in moves if domain.contains(move)]


@cache
def _ladder(domain: Domain) -> list[float]:
    """The plain numbers of a domain."""
    found = {0.0, *STEPS, *(1 - x for x in STEPS if x < 1), *(-x for x in STEPS)}
    return [x for x in sorted(found) if domain.contains(x)]


def _equals(claim: Bound) -> dict[str, str]:
    """The parameters that a hypothesis sets equal to a number, with its formula."""
    found = {}
    own = {p.name for p in claim.parameters}
    for relation in claim.formulas.relations:
        if relation is not None and relation.operators == ("==",) and len(names_in(relation)) == 1:
            for side, other in (relation.sides, relation.sides[::-1]):
                if isinstance(side, Name) and side.name in own and not names_in(other):
                    found[side.name] = text_of(other)
    return found


def _distance(before: Any, after: Any) -> float:
    """How far a move goes, as a ratio where that makes sense."""
    a, b = (v[0] if isinstance(v, list) else v for v in (before, after))
    return abs(math.log(b / a)) if a * b > 0 else 100.0 + abs(b - a)


def _plain(parameter: Parameter, value: Any) -> Any:
    """A float64 or an array of them as JSON has it."""
    if value.ndim:
        return [_plain(parameter, entry) for entry in value]
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
