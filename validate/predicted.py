"""Predicted against measured: both sides of a claim as a curve.

`validate.choice` says on which scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from types import ModuleType
from typing import Any, Literal

import numpy as np

from theory.claim import Claim
from theory.written import Claim as Written
from validate.assumptions import unmet
from validate.bounds import ROUNDING, Cases, defined, excess, nearest_float, right_sides
from validate.experiment import Band
from validate.once import once
from validate.scenario import OfRounds

Array = np.ndarray
Over = Literal["index", "parameter", "rounds", "scenarios", "point"]

LEAST = 5
"""Values of an index that make a curve."""
CONFIDENCE = 0.99
"""Of a band at each point by itself."""
ROUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of rounds of a curve over them, as far as is asked for, and the scenario's own."""
NOMINAL = ("outcome",)
"""Indices whose order says nothing."""


@dataclass(frozen=True, eq=False)
class Predicted:
    """Both sides of a claim at C points, in order of `at`.

    Attributes:
        claim: its id.
        relation: that the claim states between left and right.
        scenario: in a few words; where `over` is "scenarios", the one of the last point.
        over: what varies from point to point: an index of the claim, one of its parameters, the number of rounds of the
            scenario, or the scenario (then sorted by how near the claim is to breaking). "point" is a single number.
        index: the name of what varies, such as "k", "p" or "K".
        at: (C,), its values; the rank 1..C of a scenario.
        left: (C,), exact moments in float64.
        right: (C,), the bound.
        broken: (C,), where the relation fails by more than rounding.
        worst: the point that breaks the claim by most, or comes nearest to it.
        parameters: of the claim at `worst`: floats, and lists of floats for vectors.
        fixed: the claim's other indices, which are the same at every point.
        envelope: several cases have the same `at`, and the one nearest to breaking is shown.
        scenarios: scenarios on which the claim was compared.
        spec: the specification of the scenario, for a scalar instance; without K where that varies.
        band: the mean of the simulator's runs and its interval of confidence `CONFIDENCE`, at each point by itself.
        runs: behind the band.
        error_probability: of the one-sided test that the verdict rests on, where one was made on this scenario.
        tested: the value of `at` at which that test was made.
    """

    claim: str
    relation: str
    scenario: str
    over: Over
    index: str
    at: Array
    left: Array
    right: Array
    broken: Array
    worst: int
    parameters: Mapping[str, Any]
    fixed: Mapping[str, float] = field(default_factory=dict)
    envelope: bool = False
    scenarios: int = 1
    spec: Mapping[str, Any] | None = None
    band: Band | None = None
    runs: int | None = None
    error_probability: float | None = None
    tested: float | None = None

    def __len__(self) -> int:
        return len(self.at)

    @property
    def ratio(self) -> float | None:
        """left / right at the worst point; None where the right side is not positive."""
        left, right = float(self.left[self.worst]), float(self.right[self.worst])
        return left / right if right > 0 else None


# --- what varies -----------------------------------------------------------------------------------------------------


def along(
    claim: Claim, cases: Cases, words: str, spec: Mapping[str, Any] | None, worst: int | None = None
) -> Predicted | None:
    """The cases along the index that has most values, the other indices as at the worst case.

    Without enough values of any index, along a parameter that varies. Where several cases have the same value, that
    nearest to breaking is taken.
    """
    left, right = np.asarray(cases.left, dtype=np.float64), right_sides(claim, cases)
    if worst is None:
        worst = worst_case(claim, left, right)
    index = {name: np.asarray(values) for name, values in cases.index.items() if np.ndim(values)}
    vectors = {p.name for p in claim.parameters if p.shape == "vector"}
    varying = {
        name: np.asarray(value)
        for name, value in cases.parameters.items()
        if np.ndim(value) == 1 and name not in vectors and name not in index and len(np.unique(value)) > 1
    }
    best: tuple[str, Array, dict[str, float], bool] | None = None
    most = LEAST - 1
    for name, values in [*index.items(), *varying.items()]:
        if name in NOMINAL or (name in varying and best is not None):
            continue
        fixed = {other: v[worst] for other, v in index.items() if other != name and len(np.unique(v)) > 1}
        chosen = np.ones(len(left), dtype=bool)
        for other, value in fixed.items():
            chosen &= index[other] == value
        points = len(np.unique(values[chosen]))
        if points <= most:
            continue
        if points < chosen.sum():  # for several values of a parameter, such as p: one of them is enough
            for other, v in varying.items():
                narrower = chosen & (v == v[worst])
                if other != name and narrower.sum() == points == len(np.unique(values[narrower])):
                    chosen, fixed[other] = narrower, v[worst]
                    break
        places = _one_each(claim, values, np.flatnonzero(chosen), left, right)
        best, most = (name, places, fixed, bool(points < chosen.sum())), points
    if best is None:
        return None
    name, places, fixed, envelope = best
    at = (index if name in index else varying)[name][places].astype(np.float64)
    return made(
        claim,
        words,
        "index" if name in index else "parameter",
        name,
        at,
        left[places],
        right[places],
        [(cases, int(i)) for i in places],
        fixed={other: float(value) for other, value in fixed.items()},
        envelope=envelope,
        spec=spec,
    )


def on_instance(claim: Written, instance: Any, words: str = "") -> Predicted | None:
    """Both sides of a claim that says what it means along the index that has most values; None with fewer than `LEAST`.

    Args:
        claim: as its author wrote it.
        instance: as of `validate.instances.occasion.occasion`.
        words: the instance in a few words.

    Raises:
        ValueError: for what is no instance of which the claim speaks, and one that violates an assumption.
    """
    from validate.instances.occasion import occasion

    one = occasion(claim, instance)
    if one.unmet:
        raise ValueError(f"{claim.id}: the instance violates {', '.join(map(repr, one.unmet))}")
    both = one.sides()
    name = max(both.index, key=lambda name: len(np.unique(both.index[name])), default="")
    if not name:
        return None
    chosen = np.ones(len(both), dtype=bool)
    fixed = {other: float(v[both.worst]) for other, v in both.index.items() if other != name}
    for other, value in fixed.items():
        chosen &= both.index[other] == value
    places = np.flatnonzero(chosen)
    if len(places) < LEAST:
        return None
    left, right = (np.array([nearest_float(v) for v in side[places]]) for side in (both.left, both.right))
    return Predicted(
        claim=claim.id,
        relation=claim.sentence.relation,
        scenario=words,
        over="index",
        index=name,
        at=both.index[name][places].astype(np.float64),
        left=left,
        right=right,
        broken=both.broken[places],
        worst=int(np.flatnonzero(places == both.worst)[0]),
        parameters={symbol: _plain(value) for symbol, value in both.parameters.items()},
        fixed=fixed,
        spec=one.drawn.instance.to_json(),
    )


def _one_each(claim: Claim, values: Array, places: Array, left: Array, right: Array) -> Array:
    """Of the places, one for each of the values, in their order: that nearest to breaking."""
    beyond = excess(claim.relation, left[places], right[places])
    order = np.lexsort((-beyond, values[places]))
    _, first = np.unique(values[places][order], return_index=True)
    return np.asarray(places[order][first])


def over_rounds(
    claim: Claim,
    module: ModuleType,
    scenario: Any,
    words: str,
    spec: Mapping[str, Any] | None,
    most: int = 1,
) -> Predicted | None:
    """The scenario run for several numbers of rounds; None where they make no difference, or too few can be had."""
    own = max(scenario.rounds, 1)
    lengths = [k for k in _lengths(scenario) if k <= max(own, most)]
    if own > ROUNDS[-1]:
        return None  # too long to be repeated
    rows: dict[int, tuple[Cases, int, float, float]] = {}
    for k in sorted(lengths, key=lambda k: k != own):
        cases = cases_of(claim, module, scenario, k)
        if cases is not None:
            left, right = np.asarray(cases.left, dtype=np.float64), right_sides(claim, cases)
            i = worst_case(claim, left, right)
            rows[k] = (cases, i, float(left[i]), float(right[i]))
        if len(rows) == 2 and _same(*rows.values()):
            return None  # it speaks of one round, whatever their number
    if len(rows) < LEAST:
        return None
    ordered = sorted(rows.items())
    return made(
        claim,
        words,
        "rounds",
        "K",
        np.array([k for k, _ in ordered], dtype=np.float64),
        np.array([row[2] for _, row in ordered]),
        np.array([row[3] for _, row in ordered]),
        [(row[0], row[1]) for _, row in ordered],
        envelope=any(len(row[0]) > 1 for _, row in ordered),
        spec=spec,
    )


# --- other numbers of rounds -----------------------------------------------------------------------------------------


def can_vary(scenario: Any) -> bool:
    """Whether the scenario makes sense for other numbers of rounds: nothing in it is given round by round."""
    return (
        isinstance(scenario, OfRounds)
        and is_dataclass(scenario)
        and np.ndim(getattr(scenario.algorithm, "step", 0)) == 0
        and np.ndim(getattr(scenario.participation, "p", 0)) < 2
    )


@once
def _lengths(scenario: Any) -> dict[int, Any]:
    """The same scenario for other numbers of rounds, and for its own; their moments are computed when asked for."""
    own = max(scenario.rounds, 1)
    return {k: scenario if k == own else replace(scenario, rounds=k) for k in sorted({own, *ROUNDS})}


def cases_of(claim: Claim, module: ModuleType, scenario: Any, rounds: int) -> Cases | None:
    """The claim's cases after that many rounds, where its hypotheses hold and everything is finite."""
    other = _lengths(scenario)[rounds]
    if not other.stays_finite():
        return None
    cases: Cases | None = module.cases(claim, other)
    if cases is None or unmet(claim, other, cases.parameters_at(0)):
        return None
    return defined(claim, cases)


# --- making ----------------------------------------------------------------------------------------------------------


def _same(one: tuple[Cases, int, float, float], other: tuple[Cases, int, float, float]) -> bool:
    """Whether both sides are the same, up to rounding."""
    return bool(np.allclose(one[2:], other[2:], rtol=ROUNDING, atol=0))


def worst_case(claim: Claim, left: Array, right: Array) -> int:
    """The place that breaks the claim by most, or comes nearest to it."""
    beyond = excess(claim.relation, left, right)
    if claim.relation not in ("<=", "<"):
        return int(np.argmax(beyond))
    ratios = np.where(right > 0, left / np.where(right > 0, right, 1.0), -np.inf)
    some = bool((beyond > ROUNDING).any())
    return int(np.argmax(beyond if ratios.max() <= (1.0 if some else -np.inf) else ratios))


def _broken(claim: Claim, left: Array, right: Array) -> Array:
    """(C,): where the relation fails by more than rounding, in order of the index.

    As in `validate.bounds`, but what has been rounded off at a point is relative to the points up to there: along a run
    that diverges, the first points count too.
    """
    found = [excess(claim.relation, left[: i + 1], right[: i + 1])[-1] > ROUNDING for i in range(len(left))]
    return np.asarray(found) | ((left == right) if claim.relation in ("<", ">") else False)


def made(
    claim: Claim,
    words: str,
    over: Over,
    index: str,
    at: Array,
    left: Array,
    right: Array,
    rows: Sequence[tuple[Cases, int]],
    broken: Array | None = None,
    **more: Any,
) -> Predicted:
    if broken is None:
        broken = _broken(claim, left, right)
    worst = len(at) - 1 if over == "scenarios" else worst_case(claim, left, right)
    cases, i = rows[worst]
    return Predicted(
        claim=claim.id,
        relation=claim.relation,
        scenario=words,
        over=over,
        index=index,
        at=at,
        left=left,
        right=right,
        broken=np.asarray(broken, dtype=bool),
        worst=worst,
        parameters={name: _plain(value) for name, value in cases.parameters_at(i).items()},
        **more,
    )


def _plain(value: Any) -> Any:
    """A float, or a list of them."""
    array = np.asarray(value, dtype=np.float64)
    return array.tolist() if array.ndim else float(array)
