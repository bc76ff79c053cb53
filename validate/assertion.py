"""`assert_claim`: a claim on a scenario, as an assertion of a test suite.

This module imports the standard library alone, so that the pytest plugin costs nothing at start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from types import ModuleType

    from theory.claim import Claim
    from validate.bounds import Cases

OnViolation = Literal["fail", "skip", "reject"]

_LONG = 120  # bits of a fraction that is not written out


class ClaimBroken(AssertionError):
    """The relation of a claim does not hold, or the runs do not show that it does."""


class HypothesisViolated(AssertionError):
    """The scenario does not satisfy the claim's hypotheses, or the claim does not speak of it: nothing was tested."""


@dataclass(frozen=True)
class Held:
    """What an assertion that passed has compared.

    Attributes:
        claim: id.
        cases: how many index values were compared.
        exact: whether both sides were rational; else float64, or runs.
        tightness: largest left / right, or None where no right side is positive or the claim bounds from below.
    """

    claim: str
    cases: int
    exact: bool
    tightness: float | None


def assert_claim(
    claim: Claim | str,
    scenario: Any,
    *,
    cases: Callable[[Claim, Any], Cases | None] | None = None,
    runs: int | None = None,
    seed: int = 0,
    error_probability: float = 1e-6,
    on_violation: OnViolation = "fail",
) -> Held:
    """Fail unless the claim's hypotheses hold on the scenario, and then its relation at every index.

    Without `runs` both sides come from the exact oracle: in Fractions when the scenario is exact (an irrational right
    side is rounded in the claim's favour), else in float64, where a break has to be larger than rounding. With `runs`
    the left side is the mean over runs of the simulator, and Student's t decides; it passes only if the upper
    confidence limit is at most the right side, so runs that are too few to tell fail.

    Args:
        claim: a claim with a right side, its id, or ``my_paper.py:label`` for one in a file, which is run; claims that
            `validate.own.claim` makes measure themselves.
        scenario: a scenario, or its specification, which is read in Fractions.
        cases: measures the left side and the parameters, as `cases` of a paper's module does; by default that of the
            claim's paper.
        runs: how many runs, at least 2; None for the oracle.
        seed: of the runs.
        error_probability: of each confidence limit of the runs, shared out over the indices, in (0, 1/2).
        on_violation: what happens when a hypothesis is violated, or the claim does not speak of the scenario: "fail";
            "skip" the test, with the reason; "reject" the example, inside a property test of Hypothesis.

    Returns:
        What was compared.

    Raises:
        ClaimBroken: an `AssertionError` with both sides, the index, the parameters and the hypotheses.
        HypothesisViolated: an `AssertionError` that names the hypotheses, for ``on_violation="fail"``.
        ValueError: a claim without a right side or that nobody can measure, or an argument outside its domain.
    """
    __tracebackhide__ = True  # a failure is shown where it was asserted
    from validate import papers
    from validate.assumptions import unmet
    from validate.scenario import read_scenario

    if on_violation not in ("fail", "skip", "reject"):
        raise ValueError(f"on_violation={on_violation!r} is not one of ['fail', 'reject', 'skip']")
    claim = _claim(claim) if isinstance(claim, str) else claim
    if not claim.has_bound:
        raise ValueError(f"{claim.id} has no right side that can be compared")
    module = papers.module(claim.paper) or _own(claim)
    measure = cases or getattr(module, "cases", None)
    if measure is None:
        raise ValueError(f"{claim.id}: nobody measures the claims of {claim.paper!r}; give `cases`")
    if isinstance(scenario, Mapping):
        scenario = read_scenario(scenario, exact=True)
    found = measure(claim, scenario)
    if found is None or len(found) == 0:
        _violated(f"{claim.id} does not speak of {_named(scenario)}: it has no left side there", on_violation)
    assert found is not None
    seen: dict[tuple[Any, ...], tuple[str, ...]] = {}
    for i in range(len(found)):
        values = found.parameters_at(i)
        key = tuple(tuple(v) if hasattr(v, "__len__") else v for v in values.values())
        if key not in seen:
            seen[key] = unmet(claim, scenario, values)
        if seen[key]:
            _violated(_violation(claim, scenario, found, i, seen[key]), on_violation)
    if runs is not None:
        return _by_runs(claim, scenario, found, module, runs, seed, error_probability)
    return _exactly(claim, scenario, found) if scenario.exact else _in_floats(claim, scenario, found)


def _claim(target: str) -> Claim:
    """The claim of an id, or of ``paper.py:label``, a file that is run."""
    from theory.catalog import claim as find
    from validate.own import files

    return find(files.targets([target])[0] if files.is_file(target) else target)


def _own(claim: Claim) -> ModuleType | None:
    """What measures a claim made by `validate.own.claim`, of which the catalogue need not know."""
    from theory.claim import Paper
    from validate.own.claims import MeasuredClaim
    from validate.own.module import OwnModule

    if not isinstance(claim, MeasuredClaim):
        return None
    return OwnModule(Paper(claim.paper, claim.paper, "", (replace(claim, amends=None),)))


def _exactly(claim: Claim, scenario: Any, cases: Cases) -> Held:
    __tracebackhide__ = True
    from validate.bounds import breaks, exact_or_rounded_sides

    tightness = None
    for i in range(len(cases)):
        left, right = exact_or_rounded_sides(claim, cases, i)
        if breaks(claim, left, right):
            raise ClaimBroken(_message(claim, scenario, cases, i, left, right, "in exact arithmetic"))
        if claim.relation in ("<=", "<") and right > 0:
            tightness = max(tightness or 0.0, _float(left / right))
    return Held(claim.id, len(cases), True, tightness)


def _in_floats(claim: Claim, scenario: Any, cases: Cases) -> Held:
    __tracebackhide__ = True
    from validate.bounds import compare

    found = compare(claim, cases)
    if found.broken:
        how = "in float64, by more than rounding"
        raise ClaimBroken(_message(claim, scenario, cases, found.worst, found.left, found.right, how))
    return Held(claim.id, len(cases), False, found.tightness)


def _by_runs(
    claim: Claim, scenario: Any, cases: Cases, module: ModuleType | None, runs: int, seed: int, error_probability: float
) -> Held:
    __tracebackhide__ = True
    from validate.bounds import right_sides
    from validate.per_run import per_run
    from validate.rates import one_sided

    quantity = per_run(claim, module)
    if quantity is None or quantity.root:
        raise ValueError(f"{claim.id}: its left side is not the expectation of a number that the simulator records")
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 2:
        raise ValueError(f"runs={runs!r} is outside the integers in [2, inf)")
    if not 0 < error_probability < 0.5:
        raise ValueError(f"error_probability={error_probability} is outside (0, 1/2)")
    values, rights = quantity.values(scenario.simulate(runs, seed), cases), right_sides(claim, cases)
    ratios = []
    for i, right in enumerate(rights):
        test = one_sided(values[:, i], float(right), error_probability / len(cases))
        if not test.holds:
            how = (
                f"by {runs} runs, seed {seed}: mean {test.mean:.10g}, standard error {test.standard_error:.3g}, limits"
                f" [{test.lower:.10g}, {test.upper:.10g}] of error probability {test.error_probability:.3g}"
            )
            if not test.broken:
                how += "; these runs cannot tell, more of them may"
            raise ClaimBroken(_message(claim, scenario, cases, i, test.mean, float(right), how, test.broken))
        if right > 0:
            ratios.append(test.mean / float(right))
    return Held(claim.id, len(cases), False, max(ratios, default=None))


def _message(
    claim: Claim, scenario: Any, cases: Cases, i: int, left: Any, right: Any, how: str, broken: bool = True
) -> str:
    """Everything that a reader of a failed test needs."""
    word = "is broken" if broken else "is not shown to hold"
    lines = [
        f"{claim.id} ({claim.equation}) {word} {how}",
        f"  claimed: {claim.quantity.name} {claim.relation} {claim.right}",
        f"  left side:  {_number(left)}",
        f"  right side: {_number(right)}",
    ]
    if right > 0 and claim.relation in ("<=", "<"):
        lines.append(f"  left / right = {_float(left / right):.10g}")
    lines += [*_place(cases, i), f"  scenario: {_named(scenario)}", *_hypotheses(claim)]
    return "\n".join(lines)


def _violation(claim: Claim, scenario: Any, cases: Cases, i: int, names: tuple[str, ...]) -> str:
    lines = [f"{claim.id} was not tested: {_named(scenario)} violates {', '.join(map(repr, names))}"]
    return "\n".join([*lines, *_place(cases, i), *_hypotheses(claim, names)])


def _place(cases: Cases, i: int) -> Iterator[str]:
    index = ", ".join(f"{name} = {value}" for name, value in cases.index_at(i).items())
    yield f"  index: {index or 'none, it is about the whole run'}"
    yield "  parameters: " + ", ".join(f"{name} = {_number(v)}" for name, v in cases.parameters_at(i).items())


def _hypotheses(claim: Claim, violated: tuple[str, ...] = ()) -> Iterator[str]:
    yield "  hypotheses:" if claim.hypotheses else "  hypotheses: none"
    for h in claim.hypotheses:
        word = "VIOLATED" if h.name in violated else "holds"
        silent = "" if h.printed else " (not printed)"
        yield f"    {word}: {h.name}: {h.relation or h.statement}{silent}"


def _number(value: Any) -> str:
    from fractions import Fraction

    if hasattr(value, "__len__"):
        return f"({', '.join(map(_number, value))})"
    if not isinstance(value, int | Fraction):
        return f"{float(value):.17g}"
    if max(abs(value.numerator), value.denominator).bit_length() > _LONG:
        return f"{_float(value):.17g}"
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.10g}"


def _float(value: Any) -> float:
    """A number as a float, infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _named(scenario: Any) -> str:
    kind, name = type(scenario).__name__, getattr(scenario, "name", "")
    parts = [
        f"{key}={getattr(scenario, key)!r}" for key in ("problem", "algorithm", "rounds") if hasattr(scenario, key)
    ]
    return f"{kind} {name!r} ({', '.join(parts)})"


def _violated(message: str, on_violation: OnViolation) -> None:
    __tracebackhide__ = True
    if on_violation == "reject":
        from hypothesis import reject

        reject()
    if on_violation == "skip":
        import pytest

        pytest.skip(message)
    raise HypothesisViolated(message)
