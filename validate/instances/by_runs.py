"""Both sides of a sentence by runs, in float64: those of the simulator, or of an implementation of the reader's own.

Every number of the sentence is one a run, E left out, so that a sentence that is affine in its expectations is a
statement about a mean of independent numbers; one without E has to hold in every run. Quadratics only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.formula import Apply, Name
from theory.sentence import OVER, TURNS, At, Expression, evaluate, everything, parts, read
from theory.written import Claim
from validate.expected import indices, turns
from validate.instances.engines import in_floats
from validate.instances.instance import Instance
from validate.instances.occasion import Occasion
from validate.instances.problems import Quadratics

Array = Any
States = Mapping[str, Any]
Implementation = Callable[..., Any]


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


def sides_by_runs(one: Occasion, runs: int, seed: int, implementation: Implementation | None = None) -> list[ByRuns]:
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
    states = (
        _simulated(claim, instance, runs, seed)
        if implementation is None
        else _implemented(claim, instance, runs, seed, implementation)
    )
    world = _Runs(one, states)
    # where a round has fewer turns than another, the simulator's taps are no numbers there
    finite = all(bool(np.isfinite(v).all()) for name, v in states.items() if name in claim.vocabulary.states)
    found = []
    for at in indices(claim.sentence, world):  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            left, right = (
                np.broadcast_to(np.asarray(evaluate(side, world, at, claim.vocabulary), dtype=float), (runs,))
                for side in (claim.sentence.left, claim.sentence.right)
            )
        found.append(ByRuns(at, left, right, finite))
    if not found:
        raise ValueError(f"{claim.id}: no round of this run is one of which the sentence speaks")
    return found


def in_every_run(claim: Claim) -> bool:
    """Whether a sentence speaks of every outcome, and not of expectations."""
    return not any(_is_mean(part) for side in _sides(claim) for part in everything(side))


def _sides(claim: Claim) -> tuple[Expression, Expression]:
    return claim.sentence.left, claim.sentence.right


def _is_mean(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operation == "E"


def _decidable(claim: Claim) -> None:
    """Raises for a sentence that is not affine in its expectations, or speaks of outcomes and expectations at once."""
    words = claim.vocabulary

    def affine(e: Expression) -> bool:
        if isinstance(e, Name) and e.name in words.definitions:
            return affine(words.definitions[e.name])
        if _is_mean(e) or not any(_is_mean(part) for part in everything(e)):
            return True
        assert isinstance(e, Apply)
        if e.operation in ("+", "-", "neg") or OVER.get(e.operation, ("",))[0] in ("sum", "mean"):
            return all(affine(part) for part in parts(e))
        means = [any(_is_mean(p) for p in everything(part)) for part in parts(e)]
        if e.operation in ("*", "/") and sum(means) == 1 and (e.operation == "*" or means[0]):
            return affine(parts(e)[means.index(True)])
        return False

    outside = any(read(side, words).random for side in _sides(claim))
    if not all(affine(side) for side in _sides(claim)) or (outside and not in_every_run(claim)):
        raise ValueError(f"{claim.id}: its sides are not means over runs of single numbers, so runs do not decide it")


def _simulated(claim: Claim, instance: Instance, runs: int, seed: int) -> dict[str, Array]:
    from sim.simulate import simulate

    assert isinstance(instance.problem, Quadratics)
    assert claim.program is not None
    names = _spoken(claim)
    found = simulate(
        claim.program,
        in_floats(instance.problem.quadratic),
        _floats(instance),
        [float(x) for x in instance.start],
        instance.rounds,
        runs,
        seed,
        record=range(instance.rounds + 1),
        taps=[name for name in claim.vocabulary.taps if name in names],
    )
    return {**found.states, **found.taps}


def _floats(instance: Instance) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        entries = getattr(value, "values", value)
        return [plain(v) for v in entries] if isinstance(entries, tuple) else float(value)

    return {name: plain(value) for name, value in instance.parameters.items()}


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
    trees = [*_sides(claim), *claim.definitions.values()]
    return {part.name for tree in trees for part in everything(tree) if isinstance(part, At)}


class _Runs:
    """An instance with R runs, as `theory.sentence.evaluate` wants it: numbers are floats or (R,), vectors (..., d)."""

    def __init__(self, one: Occasion, states: States) -> None:
        self.claim, self.setting, self.states = one.claim, one.setting, states
        self.words = one.claim.vocabulary
        self.problem = in_floats(one.setting.problem)

    def constant(self, value: Any) -> Any:
        return float(value)

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        return float(self.setting.parameter(name, at))

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        return np.asarray(self.setting.point(name, at), dtype=float)

    def value(self, name: str, at_: tuple[int, ...], at: Mapping[str, int]) -> Any:
        kind = self.words.states.get(name) or self.words.taps[name][0]
        found = self.states[name][(slice(None), *at_)]
        if kind in ("client", "table"):
            found = found[:, at["n"]]
        return found[:, at["i"]] if kind == "table" else found

    def _function(self, name: str, at: Mapping[str, int]) -> tuple[Any, Any, Any]:
        p = self.problem
        if name == "f":
            return p.mean_hessian, p.mean_linear, p.mean_offset
        if name == "f_n":
            return p.client_hessian[at["n"]], p.client_linear[at["n"]], p.client_offset[at["n"]]
        return p.hessian[at["n"], at["i"]], p.linear[at["n"], at["i"]], p.offset[at["n"], at["i"]]

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        H, b, c = self._function(name, at)
        return ((v @ H) * v).sum(-1) / 2 - v @ b + c

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        H, b, _ = self._function(name, at)
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


__all__ = ["ByRuns", "Implementation", "in_every_run", "sides_by_runs"]
