"""`assert_claim`, a claim on an instance, and `assert_implements`, code that is its algorithm, in a test suite.

This module imports the standard library alone, so that the pytest plugin costs nothing at start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from theory.claim import Claim
    from validate.implementations import Diff
    from validate.instances import Instance
    from validate.instances.by_runs import ByRuns, Implementation
    from validate.instances.pool import Drawn
    from validate.on_instance import OnInstance

OnViolation = Literal["fail", "skip", "reject"]

_LONG = 120  # bits of a fraction that is not written out
_LONG_INSTANCE = 2000  # characters of an instance that are shown


class ClaimBroken(AssertionError):
    """The relation of a claim does not hold, or the runs do not show that it does."""


class HypothesisViolated(AssertionError):
    """The instance does not satisfy the claim's hypotheses, or the claim does not speak of it: nothing was tested."""


@dataclass(frozen=True)
class Held:
    """What an assertion that passed has compared.

    Attributes:
        claim: id.
        cases: how many index values were compared.
        exact: whether both sides were computed exactly; else float64, or runs.
        tightness: largest left / right, or None where no right side is positive or the claim bounds from below.
    """

    claim: str
    cases: int
    exact: bool
    tightness: float | None


def assert_claim(
    claim: Claim | str,
    instance: Instance | Drawn | Mapping[str, Any] | str,
    *,
    implementation: Implementation | None = None,
    runs: int | None = None,
    seed: int = 0,
    error_probability: float = 1e-6,
    on_violation: OnViolation = "fail",
) -> Held:
    """Fail unless the claim's hypotheses hold on the instance, and then its relation at every index.

    Without `runs` both sides are computed exactly, by playing the instance (an irrational side is rounded in the
    claim's favour); where there are too many outcomes to be played, by moments in float64, and a break has to be larger
    than rounding. With `runs` the left side is the mean over runs of the simulator, or of an implementation of your
    own, and Student's t decides; it passes only if the confidence limit shows that the relation holds, so runs that are
    too few to tell fail.

    Args:
        claim: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        instance: one, or its JSON form (`validate.instances.occasion.occasion`).
        implementation: for a claim of an algorithm: what is held against the claim, in the place of the algorithm's own
            rounds; see `validate.instances.by_runs.sides_by_runs` for what it is called with, and what it returns. Of
            an algorithm that draws nothing one run is enough.
        runs: how many runs, at least 2; None for exact sides.
        seed: of the runs.
        error_probability: of each confidence limit of the runs, shared out over the indices, in (0, 1/2).
        on_violation: what happens when a hypothesis is violated, or the claim does not speak of the instance: "fail";
            "skip" the test, with the reason; "reject" the example, inside a property test of Hypothesis.

    Returns:
        What was compared.

    Raises:
        ClaimBroken: an `AssertionError` with both sides, the index, the parameters and the hypotheses.
        HypothesisViolated: an `AssertionError` that names the hypotheses, for ``on_violation="fail"``.
        ValueError: a claim that is no sentence, what is no instance, or an argument outside its domain.
    """
    __tracebackhide__ = True  # a failure is shown where it was asserted
    from validate.instances.occasion import occasion
    from validate.measurement import sentence_of

    if on_violation not in ("fail", "skip", "reject"):
        raise ValueError(f"on_violation={on_violation!r} is not one of ['fail', 'reject', 'skip']")
    one = occasion(sentence_of(claim), instance)
    return _of_instance(one, implementation, runs, seed, error_probability, on_violation)


def assert_implements(claim: Claim | str, implementation: Any, **options: Any) -> Diff:
    """Fail unless an implementation is the algorithm of a claim, on the same draws and problems.

    Args:
        claim: a claim of an algorithm, its id, or ``my_paper.py:label``.
        implementation: one round, a whole run, or a strategy; see `validate.diff`.
        options: ``given``, ``rename`` and ``tolerance`` of `validate.diff`.

    Returns:
        What was compared.

    Raises:
        AssertionError: with the first difference, its line, and what is known of why.
        ValueError: as `validate.diff`.
    """
    __tracebackhide__ = True
    from validate.implementations import diff

    found = diff(claim, implementation, **options)
    if not found.agrees:
        raise AssertionError(str(found))
    return found


def _of_instance(
    one: OnInstance,
    implementation: Implementation | None,
    runs: int | None,
    seed: int,
    error_probability: float,
    on_violation: OnViolation,
) -> Held:
    __tracebackhide__ = True
    claim = one.claim
    if one.unmet:
        text = f"{claim.id} was not tested: the instance violates {', '.join(map(repr, one.unmet))}"
        _violated("\n".join([text, *_told(one)]), on_violation)
    if runs is not None or implementation is not None:
        certain = claim.program is not None and not claim.program.random
        return _of_runs(one, _runs(runs, certain, implementation), seed, error_probability, implementation)
    try:
        both = one.sides()
    except ValueError as error:  # it says nothing of the instance
        _violated(f"{claim.id} was not tested: {error}", on_violation)
        raise
    if both.broken.any():
        i = int(both.worst)
        lines = _broken_lines(one, both.left[i], both.right[i], both.index_at(i))
        how = "in exact arithmetic" if one.how != "floats" else "by moments in float64, by more than rounding"
        raise ClaimBroken("\n".join([f"{claim.id} is broken {how}", *lines]))
    return Held(claim.id, len(both), one.how != "floats", both.tightness)


def _runs(runs: int | None, certain: bool, implementation: Implementation | None) -> int:
    """How many runs; of an algorithm that draws nothing one is enough."""
    if runs is None and certain and implementation is not None:
        return 1
    least = 1 if certain else 2
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < least:
        raise ValueError(f"runs={runs!r} is outside the integers in [{least}, inf)")
    return runs


def _of_runs(
    one: OnInstance, runs: int, seed: int, error_probability: float, implementation: Implementation | None
) -> Held:
    __tracebackhide__ = True
    from validate.instances.by_runs import in_every_run, sides_by_runs

    claim, relation = one.claim, one.claim.sentence.relation
    if not 0 < error_probability < 0.5:
        raise ValueError(f"error_probability={error_probability} is outside (0, 1/2)")
    certain = claim.program is not None and not claim.program.random
    alone = certain or in_every_run(claim)
    if relation == "==" and not alone:
        raise ValueError(
            f"{claim.id} is an equality of expectations, which runs can deny and never show; leave out runs"
        )
    rows = sides_by_runs(one, runs, seed, implementation)
    size = max(float(abs(row.left).max()) for row in rows)
    ratios = []
    for row in rows:
        found = (
            _in_each(row, relation, size) if alone else _in_the_mean(row, relation, size, error_probability / len(rows))
        )
        if not row.finite:
            found = "is not shown to hold (a state is not a number)"
        if found:
            left, right = float(row.left.mean()), float(row.right.mean())
            lines = _broken_lines(one, left, right, row.at)
            who = "the implementation" if implementation is not None else "the simulator"
            raise ClaimBroken("\n".join([f"{claim.id} {found} by {runs} runs of {who}, seed {seed}", *lines]))
        if row.right.mean() > 0 and relation in ("<=", "<"):
            ratios.append(float(row.left.mean() / row.right.mean()))
    return Held(claim.id, len(rows), False, max(ratios, default=None))


def _in_each(row: ByRuns, relation: str, size: float) -> str:
    """What is wrong with a relation that has to hold in every run, or nothing; what is undefined says nothing."""
    import numpy as np

    from validate.sides import CONVERGED, ROUNDING

    gap = row.right - row.left if relation in (">=", ">") else row.left - row.right
    gap = abs(gap) if relation == "==" else gap
    slack = ROUNDING * np.maximum(abs(row.left), abs(row.right)) + CONVERGED * size
    # a left side that is not a number, of an implementation that has diverged, is no success
    bad = ((gap > slack) | np.isnan(row.left)) & ~np.isnan(row.right)
    return "is broken" if bad.any() else ""


def _in_the_mean(row: ByRuns, relation: str, size: float, error_probability: float) -> str:
    """What is wrong with a relation between expectations, or nothing."""
    import numpy as np

    from validate.rates import one_sided
    from validate.sides import CONVERGED

    gap = row.right - row.left if relation in (">=", ">") else row.left - row.right
    if np.isnan(row.right).all():
        return ""
    if not np.isfinite(gap).all():
        return "is broken (a side is no number)"
    test = one_sided(gap, CONVERGED * size, error_probability)
    if test.holds:
        return ""
    limits = f"limits of the difference [{test.lower:.6g}, {test.upper:.6g}], error probability {error_probability:.3g}"
    if test.broken:
        return f"is broken ({limits})"
    return f"is not shown to hold ({limits}; these runs cannot tell, more of them may)"


def _broken_lines(one: OnInstance, left: Any, right: Any, at: Any) -> Iterator[str]:
    """Everything that a reader of a failed test needs."""
    from validate.both_sides import as_printed
    from validate.sides import nearest_float

    yield f"  claimed: {one.claim.statement}"
    yield f"  left side:  {_number(left)}"
    yield f"  right side: {_number(right)}"
    if right > 0 and one.claim.sentence.relation in ("<=", "<"):
        yield f"  left / right = {nearest_float(left / right):.10g}"
    index = ", ".join(f"{name} = {value}" for name, value in as_printed(at).items())
    yield f"  index: {index or 'none, it is about the whole run'}"
    yield from _told(one)


def _told(one: OnInstance) -> Iterator[str]:
    """The instance, and what is assumed of it."""
    import json

    claim = one.claim
    values = {name: value for name, value in one.drawn.values.items() if name != "K"}
    yield "  parameters: " + ", ".join(f"{name} = {_number(v)}" for name, v in values.items())
    text = json.dumps(one.drawn.instance.to_json())
    yield f"  instance: {text if len(text) <= _LONG_INSTANCE else text[:_LONG_INSTANCE] + ' ...'}"
    unmet = set(one.unmet)
    yield "  hypotheses:" if claim.assumptions else "  hypotheses: none"
    for text in claim.assuming:
        yield f"    {'VIOLATED' if text in unmet else 'holds'}: {text}"
    for text in claim.standing:
        yield f"    {'VIOLATED' if text in unmet else 'holds'}: {text} (fixed elsewhere in the paper)"
    for text in unmet - {*claim.assuming, *claim.standing}:
        yield f"    VIOLATED: {text}"


def _number(value: Any) -> str:
    from fractions import Fraction

    from validate.sides import nearest_float

    if hasattr(value, "__len__"):
        return f"({', '.join(map(_number, value))})"
    if not isinstance(value, int | Fraction):
        return f"{float(value):.17g}"
    if max(abs(value.numerator), value.denominator).bit_length() > _LONG:
        return f"{nearest_float(value):.17g}"
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.10g}"


def _violated(message: str, on_violation: OnViolation) -> None:
    __tracebackhide__ = True
    if on_violation == "reject":
        from hypothesis import reject

        reject()
    if on_violation == "skip":
        import pytest

        pytest.skip(message)
    raise HypothesisViolated(message)
