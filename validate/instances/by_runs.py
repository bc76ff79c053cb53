"""Both sides of a sentence by runs, in float64: those of the simulator, or of an implementation of the reader's own.

Every number of the sentence is one a run, E left out, so that a sentence that is affine in its expectations is a
statement about a mean of independent numbers; one without E has to hold in every run. Quadratics only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.calculator.signs import never_negative
from theory.claim import Claim
from theory.formula import Apply
from theory.sentence import (
    ALL_CLIENTS,
    OVER,
    TURNS,
    At,
    Expression,
    evaluate,
    everything,
    parts,
    read,
    replaced,
)
from validate.expected import coefficients, indices, turns
from validate.instances.instance import Instance
from validate.instances.problems import Quadratics, in_floats
from validate.instances.setting import Setting, schedules_of
from validate.on_instance import OnInstance

Array = Any
States = Mapping[str, Any]
Implementation = Callable[..., Any]

TOGETHER = 1 << 22
"""Numbers of states that are kept at once, where runs are taken for the left side alone."""


@dataclass(frozen=True, eq=False)
class ByRuns:
    """Both sides at one value of the free indices, one number a run.

    Attributes:
        at: the indices.
        left, right: (R,).
        finite: whether all states of the runs are numbers.
    """

    at: Mapping[str, int]
    left: Array
    right: Array
    finite: bool = True


def sides_by_runs(one: OnInstance, runs: int, seed: int, implementation: Implementation | None = None) -> list[ByRuns]:
    """Both sides in every run, at every value of the free indices.

    Args:
        one: the claim on an instance with quadratics.
        runs: how many.
        seed: of the runs.
        implementation: plays the instance instead of the simulator: called with ``problem`` (`sim.problems.Quadratic`,
            float64), ``parameters`` (floats, arrays of one a client or one a round), ``start`` (d,), ``rounds`` and
            ``seed``, another one in each run. It returns the states by name, each (rounds + 1, d), or of clients
            (rounds + 1, N, d), and taps (rounds, turns..., as the value); or the first state alone.

    Raises:
        ValueError: for other problems, for a sentence that runs do not decide (it is not affine in its expectations),
            and for states that are missing or have another shape.
    """
    claim, instance = one.claim, one.drawn.instance
    if claim.program is None:
        raise ValueError(f"{claim.id} speaks of no algorithm, so there is nothing to run")
    if not isinstance(instance.problem, Quadratics):
        raise ValueError(f"{claim.id}: runs are compared on quadratics, and the instance has other functions, or none")
    _decidable(claim)
    if implementation is None:
        problem, given = in_floats(instance.problem.quadratic), _floats(instance)
        states = _simulated(claim, problem, given, instance.start, instance.rounds, runs, seed, 0, _spoken(claim))
    else:
        states = _implemented(claim, instance, runs, seed, implementation)
    world = _Runs(claim, one.setting, states)
    # where a round has fewer turns than another, the simulator's taps are no numbers there
    finite = all(bool(np.isfinite(v).all()) for name, v in states.items() if name in claim.vocabulary.states)
    found = []
    for at in indices(claim.sentence, world):  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            left, right = (
                np.broadcast_to(np.asarray(evaluate(side, world, at, claim.vocabulary), dtype=float), (runs,))
                for side in claim.sentence.sides
            )
        found.append(ByRuns(at, left, right, finite))
    if not found:
        raise ValueError(f"{claim.id}: no round of this run is one of which the sentence speaks")
    return found


def in_every_run(claim: Claim) -> bool:
    """Whether a sentence speaks of every outcome, and not of expectations."""
    return not any(_has_mean(side) for side in _sides(claim))


def left_by_runs(
    claim: Claim, setting: Setting, runs: int, seed: int, first_run: int = 0
) -> list[tuple[Mapping[str, int], Array]]:
    """The left side in every run of the simulator, one number a run, at every value of the free indices.

    Args:
        claim: one for which `why_not_from_above` is None.
        setting: with a quadratic problem in float64.
        runs: how many.
        seed, first_run: run r of a seed is the same in whatever batch it is.

    Returns:
        Indices, and (R,): at least 0 but for rounding, which is cut off; NaN or infinite where a run is not finite.
    """
    assert claim.program is not None
    given = {name: _plain(setting.values[name]) for name in claim.program.parameters if name in setting.values}
    names = {part.name for part in everything(_sides(claim)[0]) if isinstance(part, At)}
    numbers = setting.problem.clients * setting.problem.samples * setting.dim * (setting.rounds + 1)
    step = max(1, TOGETHER // numbers)
    rows: dict[tuple[tuple[str, int], ...], list[Array]] = {}
    for start in range(0, runs, step):
        many = min(step, runs - start)
        states = _simulated(
            claim, setting.problem, given, setting.start, setting.rounds, many, seed, first_run + start, names
        )
        world = _Runs(claim, setting, states)
        for at in indices(claim.sentence, world):  # type: ignore[arg-type]
            with np.errstate(all="ignore"):
                left = np.asarray(evaluate(claim.sentence.left, world, at, claim.vocabulary), dtype=float)
            rows.setdefault(tuple(at.items()), []).append(np.maximum(np.broadcast_to(left, (many,)), 0.0))
    return [(dict(at), np.concatenate(found)) for at, found in rows.items()]


def why_not_from_above(claim: Claim) -> str | None:
    """Why runs cannot be held against a right side that is known otherwise; None where they can.

    The left side is then the expectation of a number of each run that is never negative, and bounded from above.
    """
    left = _sides(claim)[0]
    if claim.sentence.relation not in ("<=", "<"):
        return "the left side is not bounded from above"
    if not _affine(left) or (not _has_mean(left) and read(left, claim.vocabulary).random):
        return "the left side is no mean over runs of single numbers"
    return None if never_negative(left, claim) else "the left side is not known to be never negative in a run"


def _sides(claim: Claim) -> tuple[Expression, Expression]:
    """Both sides, with what `where` defines put in place of its names."""

    def whole(e: Expression) -> Expression:
        for _ in claim.vocabulary.definitions:  # of which one may speak of another
            e = replaced(e, claim.vocabulary.definitions)
        return e

    return whole(claim.sentence.left), whole(claim.sentence.right)


BEYOND_RUNS = frozenset({"quantile", *ALL_CLIENTS})
"""What is not looked at over runs of a simulator."""


def _is_mean(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operation == "E"


def _has_mean(e: Expression) -> bool:
    return any(_is_mean(part) for part in everything(e))


def _affine(e: Expression) -> bool:
    """Whether a tree without definitions is affine in its expectations, and none of them is of another."""
    if _is_mean(e):
        return not any(_has_mean(part) for part in parts(e))
    if any(isinstance(part, Apply) and part.operation in BEYOND_RUNS for part in everything(e)):
        return False
    if not _has_mean(e):
        return True
    assert isinstance(e, Apply)
    if e.operation in ("+", "-", "neg") or OVER.get(e.operation, ("",))[0] in ("sum", "mean"):
        return all(_affine(part) for part in parts(e))
    means = [_has_mean(part) for part in parts(e)]
    if e.operation in ("*", "/") and sum(means) == 1 and (e.operation == "*" or means[0]):
        return _affine(parts(e)[means.index(True)])
    return False


def _decidable(claim: Claim) -> None:
    """Raises for a sentence that is not affine in its expectations, or speaks of outcomes and expectations at once."""
    outside = any(read(side, claim.vocabulary).random for side in _sides(claim))
    if not all(_affine(side) for side in _sides(claim)) or (outside and not in_every_run(claim)):
        raise ValueError(f"{claim.id}: its sides are not means over runs of single numbers, so runs do not decide it")


def _simulated(
    claim: Claim,
    problem: Any,
    given: Mapping[str, Any],
    start: Any,
    rounds: int,
    runs: int,
    seed: int,
    first_run: int,
    names: Iterable[str],
) -> dict[str, Array]:
    """States, and those taps that are among the names."""
    from sim.simulate import simulate

    assert claim.program is not None
    schedules = schedules_of(claim)
    found = simulate(
        claim.program,
        problem,
        {name: {"k": value} if name in schedules else value for name, value in given.items()},
        [float(x) for x in start],
        rounds,
        runs,
        seed,
        first_run=first_run,
        record=range(rounds + 1),
        taps=[name for name in claim.vocabulary.taps if name in names],
    )
    return {**found.states, **found.taps}


def _plain(value: Any) -> Any:
    """A number, or lists of them, in floats."""
    entries = getattr(value, "values", value)
    return [_plain(v) for v in entries] if isinstance(entries, tuple | list) else float(value)


def _floats(instance: Instance) -> dict[str, Any]:
    return {name: _plain(value) for name, value in instance.parameters.items()}


def _implemented(
    claim: Claim, instance: Instance, runs: int, seed: int, implementation: Implementation
) -> dict[str, Array]:
    assert isinstance(instance.problem, Quadratics)
    assert claim.of is not None
    problem, names = in_floats(instance.problem.quadratic), _spoken(claim)
    given = {"parameters": _floats(instance), "rounds": instance.rounds}
    first = claim.of.state[0].name
    kinds = {**claim.vocabulary.states, **{name: kind for name, (kind, _) in claim.vocabulary.taps.items()}}
    found: dict[str, list[Array]] = {name: [] for name in names}
    for run in range(runs):
        start = np.array([float(x) for x in instance.start])
        returned = implementation(problem=problem, start=start, seed=seed + run, **given)
        states = returned if isinstance(returned, Mapping) else {first: returned}
        for name in names:
            if name not in states:
                raise ValueError(f"implementation returned {', '.join(map(str, states))}, and not {name}")
            value = np.asarray(states[name], dtype=float)
            N, d, K = instance.clients, instance.dim, instance.rounds
            last = (d,) if kinds[name] == "server" else (N, d)
            rounds = K + (name in claim.vocabulary.states)
            if value.shape[:1] != (rounds,) or value.shape[-len(last) :] != last:
                raise ValueError(
                    f"implementation returned {name} of shape {value.shape}, outside ({rounds}, ..., "
                    f"{', '.join(map(str, last))})"
                )
            found[name].append(value)
    return {name: np.stack(values) for name, values in found.items()}


def _spoken(claim: Claim) -> set[str]:
    """States and taps of which the sentence speaks."""
    return {part.name for tree in _sides(claim) for part in everything(tree) if isinstance(part, At)}


class _Runs:
    """An instance with R runs as a `theory.sentence.worlds.World`: numbers are floats or (R,), vectors (..., d)."""

    def __init__(self, claim: Claim, setting: Setting, states: States) -> None:
        self.claim, self.setting, self.states = claim, setting, states
        self.words = claim.vocabulary
        self.problem = in_floats(setting.problem)

    def constant(self, value: Any) -> Any:
        return float(value)

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        return float(self._there(name, self.setting.parameter, at))

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        return np.asarray(self._there(name, self.setting.point, at), dtype=float)

    def _there(self, name: str, find: Callable[..., Any], at: Mapping[str, int]) -> Any:
        """A value that the instance has.

        Raises:
            ValueError: where it has none, or several.
        """
        try:
            return find(name, at)
        except ValueError as error:
            raise ValueError(
                f"{self.claim.id} speaks of {name}, of which runs need one value: {error}; leave out runs, and the "
                "instance is played exactly"
            ) from None

    def value(self, name: str, at_: tuple[int, ...], at: Mapping[str, int]) -> Any:
        kind = self.words.states.get(name) or self.words.taps[name][0]
        found = self.states[name][(slice(None), *at_)]
        if kind in ("client", "table"):
            found = found[:, at["n"]]
        return found[:, at["i"]] if kind == "table" else found

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        H, b, c = coefficients(self.problem, name, at)
        return ((v @ H) * v).sum(-1) / 2 - v @ b + c

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        H, b, _ = coefficients(self.problem, name, at)
        return v @ H - b

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        if operation in ("min", "max"):
            reduce = np.minimum if operation == "min" else np.maximum
            found = arguments[0]
            for other in arguments[1:]:
                found = reduce(found, other)
            return found
        functions: dict[str, Any] = {
            "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative,
            "sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs,
        }  # fmt: skip
        return functions[operation](*(np.asarray(a, dtype=float) for a in arguments))

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        one = arguments[0]
        if operation == "neg":
            return -one
        if operation in ("norm2", "norm"):
            square = (one * one).sum(-1)
            return square if operation == "norm2" else np.sqrt(square)
        two = arguments[1]
        if operation == "dot":
            return (one * two).sum(-1)
        if operation in ("+", "-"):
            return one + two if operation == "+" else one - two
        number = np.asarray(two)[..., None] if np.ndim(two) else two
        return one * number if operation == "*" else one / number

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        if index in TURNS:
            return range(turns(self.claim, self.setting, e, index))
        return self.setting.over(index, e, at)

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        return evaluate(e, self, at, self.words)

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        raise ValueError("a quantile is not seen in runs")

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        raise ValueError("argmin_n is not looked at over runs")


__all__ = ["ByRuns", "Implementation", "in_every_run", "left_by_runs", "sides_by_runs", "why_not_from_above"]
