"""What happens on an instance: its moments, exactly, and its runs, sampled, under the names that the commands print.

The model is the first state variable of the program: the server's vector, or the mean of the clients' vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.program import State
from validate.instances.instance import Instance
from validate.instances.problems import Quadratics, in_floats, in_range
from validate.instances.scalars import Schedule

if TYPE_CHECKING:
    from sim.problems import Quadratic
    from sim.trace import Trace

METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_iterate_norm", "squared_distance", "iterate")
"""Of the model after every round: f - f*, f, ||grad f||^2, ||x||^2, ||x - x*||^2, and x itself."""
OF_MODEL = ("mean", "second_moment", "squared_gradient_norm", "suboptimality", "squared_iterate_norm",
            "squared_distance")  # fmt: skip
"""What `InstanceMoments` has of the model."""
MOST_NUMBERS = 4_000
"""Numbers that server and clients remember together, of which moments carry all products."""
MOST_ENTRIES = 200_000_000
"""Numbers in the moments of all rounds together."""


@dataclass(frozen=True, eq=False)
class StateMoments:
    """Of one state variable after every round.

    Attributes:
        mean: E of it, (K+1, d) of the server, (K+1, N, d) of the clients; of a table, the mean over a client's samples.
        squared_norm: E of its squared norm, (K+1,) or (K+1, N).
    """

    mean: Any
    squared_norm: Any


@dataclass(frozen=True, eq=False)
class InstanceMoments:
    """Exact moments of an instance; arrays of Fractions, or of float64.

    Attributes:
        mean: (K+1, d), E x_k, x the model.
        second_moment: (K+1, d, d), E x_k x_k'.
        squared_gradient_norm: (K+1,), E||grad f(x_k)||^2.
        suboptimality: (K+1,), E f(x_k) - f*; None when f is unbounded below.
        squared_iterate_norm: (K+1,), E||x_k||^2.
        squared_distance: (K+1,), E||x_k - x*||^2; None unless f has exactly one minimiser.
        states: of every state variable, by name.
    """

    mean: Any
    second_moment: Any
    squared_gradient_norm: Any
    suboptimality: Any
    squared_iterate_norm: Any
    squared_distance: Any
    states: Mapping[str, StateMoments]


def problem_for(instance: Instance, what: str, *, exact: bool) -> Quadratic:
    """The instance's quadratics.

    Raises:
        ValueError: where its functions are others.
    """
    if instance.program is None:
        raise ValueError(f"algorithm is missing: {what} are of an algorithm's states")
    if not isinstance(instance.problem, Quadratics):
        raise ValueError(f"problem has functions that are not quadratic: {what} are of quadratics only")
    return instance.problem.quadratic if exact else in_floats(instance.problem.quadratic)


def moments_of_instance(instance: Instance, *, exact: bool, enclosed: bool = False) -> InstanceMoments:
    """The moments of every state after 0..K rounds, by `sim.moments`.

    Args:
        instance: of a program that is linear given its draws, on quadratics.
        exact: in Fractions, else in float64.
        enclosed: of exact numbers, balls that contain them (`sim.moments.moments_of`).

    Raises:
        ValueError: where there are no such moments, and why; where they are too large to be held; where they leave the
            range of float64.
    """
    from sim.moments import moments_of
    from sim.moments.numbers import rationals
    from sim.problems.linear_algebra import minimise

    problem = problem_for(instance, "moments", exact=exact)
    assert instance.program is not None
    sizes = [_size(s, length, problem) for s, length in zip(instance.program.state, instance.lengths, strict=True)]
    if sum(sizes) > MOST_NUMBERS or sum(sizes) ** 2 * (instance.rounds + 1) > MOST_ENTRIES:
        raise ValueError(
            f"the moments of {sum(sizes)} numbers that are remembered for {instance.rounds} rounds are asked for; at "
            f"most {MOST_NUMBERS} numbers, and {MOST_ENTRIES} products in all rounds, are"
        )
    start = _start(instance, exact)
    parameters = _parameters(instance, exact, rounds=True)
    found = moments_of(instance.program, problem, parameters, start=start, rounds=instance.rounds, enclosed=enclosed)
    best = minimise(problem.mean_hessian, problem.mean_linear)
    mean_hessian, mean_linear = problem.mean_hessian, problem.mean_linear
    zero, one = (Fraction(0), Fraction(1)) if exact else (0.0, 1.0)
    if enclosed:  # balls mix with FLINT's rationals
        load = rationals().array
        mean_hessian, mean_linear = load(mean_hessian), load(mean_linear)
        best = None if best is None else (load(best[0]), best[1])
        zero, one = load([zero, one])

    def read(rows: Any) -> Callable[[int], tuple[Any, Any, Any]]:
        """Of the vectors that rows (m, D) make of the state: their shift, E less it, E of their products less it."""

        def of(k: int) -> tuple[Any, Any, Any]:
            second, shift = found.centred(k)
            return rows @ shift, rows @ second[:, 0], rows @ second @ rows.T

        return of

    model = _model(found.layout, instance.program.state[0], problem, zero, one)
    columns: dict[str, list[Any]] = {name: [] for name in METRICS}
    second_moments = []
    for k in range(instance.rounds + 1):
        shift, mean, second = read(model)(k)
        columns["iterate"].append(mean + shift)
        total = second + np.outer(mean, shift) + np.outer(shift, mean) + np.outer(shift, shift)
        second_moments.append(total)
        columns["squared_iterate_norm"].append(np.trace(total))
        columns["squared_gradient_norm"].append(
            _squared(mean_hessian, mean_hessian @ shift - mean_linear, mean, second)
        )
        if best is not None:
            gap, identity = shift - best[0], zero + np.eye(problem.dim, dtype=int).astype(object if exact else float)
            columns["squared_distance"].append(_squared(identity, gap, mean, second))
            H = mean_hessian
            columns["suboptimality"].append((np.trace(H @ second) + 2 * (gap @ H @ mean) + gap @ H @ gap) / 2)
    states = {
        s.name: _state(found, s, length, problem, instance.rounds, zero, one, read)
        for s, length in zip(instance.program.state, instance.lengths, strict=True)
    }
    return InstanceMoments(
        mean=np.array(columns["iterate"]),
        second_moment=np.array(second_moments),
        squared_gradient_norm=np.array(columns["squared_gradient_norm"]),
        suboptimality=None if best is None else np.array(columns["suboptimality"]),
        squared_iterate_norm=np.array(columns["squared_iterate_norm"]),
        squared_distance=np.array(columns["squared_distance"]) if best and best[1] == problem.dim else None,
        states=states,
    )


def _squared(matrix: Any, constant: Any, mean: Any, second: Any) -> Any:
    """E||matrix v + constant||^2 of v with this mean and these second moments."""
    return np.trace(matrix @ second @ matrix.T) + 2 * (constant @ (matrix @ mean)) + constant @ constant


def _size(state: State, length: int | None, problem: Quadratic) -> int:
    many = {"server": 1, "past": 1, "table": problem.clients * problem.samples}.get(state.kind, problem.clients)
    return many * (length or 1) * problem.dim


def _rows(layout: Any, place: slice, zero: Any, one: Any) -> Any:
    """(d, D): what takes these coordinates out of (1, state)."""
    found = np.full((place.stop - place.start, layout.size), zero)
    found[range(len(found)), range(place.start, place.stop)] = one
    return found


def _model(layout: Any, state: State, problem: Quadratic, zero: Any, one: Any) -> Any:
    if state.kind in ("server", "past"):
        return _rows(layout, layout.place(state.name), zero, one)
    parts = [_of_client(layout, state, n, problem, zero, one) for n in range(problem.clients)]
    return sum(parts[1:], parts[0]) / problem.clients


def _of_client(layout: Any, state: State, n: int, problem: Quadratic, zero: Any, one: Any) -> Any:
    """A client's vector; of a table, the mean over its samples."""
    if state.kind != "table":
        return _rows(layout, layout.place(state.name, (), n), zero, one)
    own = [_rows(layout, layout.place(state.name, (), n, i), zero, one) for i in range(int(problem.counts[n]))]
    return sum(own[1:], own[0]) / len(own)


def _state(
    found: Any, state: State, length: int | None, problem: Quadratic, rounds: int, zero: Any, one: Any, read: Any
) -> StateMoments:
    """Of remembered vectors, the newest."""
    layout = found.layout
    if state.kind in ("server", "past"):
        takes = [_rows(layout, layout.place(state.name), zero, one)]
    else:
        takes = [_of_client(layout, state, n, problem, zero, one) for n in range(problem.clients)]
    means, norms = [], []
    for k in range(rounds + 1):
        parts = [read(rows)(k) for rows in takes]
        means.append([mean + shift for shift, mean, _ in parts])
        norms.append([np.trace(second) + 2 * (mean @ shift) + shift @ shift for shift, mean, second in parts])
    if state.kind in ("server", "past"):
        return StateMoments(np.array([row[0] for row in means]), np.array([row[0] for row in norms]))
    return StateMoments(np.array(means), np.array(norms))


def _parameters(instance: Instance, exact: bool, *, rounds: bool) -> dict[str, Any]:
    """The parameters as `sim` takes them: for moments (`rounds`) with a `Schedule`, for runs with ``{"k": [...]}``."""
    from sim.moments import Schedule as OfRounds

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [plain(v) for v in value]
        return value if exact else float(value)

    found: dict[str, Any] = {}
    for name, value in instance.parameters.items():
        with in_range(f"parameters: {name}"):
            if isinstance(value, Schedule):
                own = tuple(map(plain, value.values))
                found[name] = OfRounds(own) if rounds else {"k": list(own)}
            else:
                found[name] = plain(value)
    return found


def _start(instance: Instance, exact: bool) -> np.ndarray:
    """The start as an array of fractions or of float64."""
    with in_range("start"):
        return np.array(instance.start, dtype=object if exact else np.float64)


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InstanceRuns:
    """Runs of an instance.

    Attributes:
        values: by metric (R, K+1), or (R, K+1, d) for "iterate".
        taps: by tap the squared norms, (R, K, turns..., N) of a client's, (R, K, turns...) of the server's; NaN where
            there is none.
        final: (R, d), the models after the last round.
    """

    values: Mapping[str, Any]
    taps: Mapping[str, Any]
    final: Any


def check_taps(instance: Instance, taps: Sequence[str]) -> None:
    """Refuse taps that the program does not have.

    Raises:
        ValueError: naming them, and those that it has.
    """
    known = {} if instance.program is None else instance.program.taps
    for name in taps:
        if name not in known:
            raise ValueError(f"tap={name!r} is not a tap of the program; it has {', '.join(known) or 'none'}")


def runs_of_instance(
    instance: Instance,
    runs: int,
    seed: int,
    *,
    first_run: int = 0,
    metrics: Sequence[str] = METRICS[:1],
    taps: Sequence[str] = (),
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> InstanceRuns:
    """Independent runs, by `sim.simulate`.

    Args:
        instance: of any program, on quadratics.
        runs: R.
        seed: run r of a seed is always the same.
        first_run: number of the first run.
        metrics: names among `METRICS`.
        taps: of those whose squared norms are kept.
        device: "cpu" or "cuda".
        progress: told of run-rounds done, and in all.

    Raises:
        ValueError: naming argument, value and domain.
    """
    from sim.arguments import checked_metrics
    from sim.problems.linear_algebra import minimise
    from sim.simulate import simulate

    metrics = checked_metrics(metrics, METRICS)
    check_taps(instance, taps)
    problem = problem_for(instance, "metrics", exact=False)
    assert instance.program is not None
    model = instance.program.state[0]
    best = minimise(problem.mean_hessian, problem.mean_linear)
    for name in ("suboptimality", "squared_distance"):
        if name in metrics and (best is None or (name == "squared_distance" and best[1] < problem.dim)):
            what = "f is unbounded below" if best is None else "f has more than one minimiser"
            raise ValueError(f"metric={name!r} does not exist here: {what}")
    named = tuple(name for name in metrics if name != "iterate")
    measured = model.kind in ("server", "client")
    common: dict[str, Any] = {"first_run": first_run, "device": device}
    common["progress"] = False if progress is None else progress
    parameters, start = _parameters(instance, False, rounds=False), _start(instance, False)
    if measured and not taps:
        recorded = range(instance.rounds + 1) if "iterate" in metrics else (instance.rounds,)
        done = simulate(
            instance.program, problem, parameters, start, instance.rounds, runs, seed, metrics=named, record=recorded,
            keep=(model.name,), **common,
        )  # fmt: skip
        x = done.states[model.name]
        x = x if model.kind == "server" else x.mean(axis=2)
        values = {name: x if name == "iterate" else done.values[name] for name in metrics}
        return InstanceRuns(values, {}, x[:, -1])

    def measure(moment: Any) -> dict[str, Any]:
        x = moment.states[model.name]
        if model.kind in ("past", "client past"):
            x = x[:, 0]
        for axis in range(1, x.ndim - 1):  # clients, and of a table the samples
            x = x.mean(1) if axis else x
        return {"iterate": x} | {
            f"tap {name}": moment.taps[name].square().sum(-1) for name in taps if name in moment.taps
        }

    done = simulate(
        instance.program, problem, parameters, start, instance.rounds, runs, seed, measure=measure, **common
    )
    x = done.values["iterate"]
    return InstanceRuns(
        {name: x if name == "iterate" else at_points(name, problem, x) for name in metrics},
        {name: done.values[f"tap {name}"][:, :-1] for name in taps},
        x[:, -1],
    )


def at_points(name: str, f: Quadratic, x: Any) -> Any:
    """A metric of points (R, K+1, d)."""
    if name == "squared_iterate_norm":
        return (x**2).sum(-1)
    if name == "squared_gradient_norm":
        return (f.gradient(x) ** 2).sum(-1)
    if name == "squared_distance":
        return ((x - f.minimiser) ** 2).sum(-1)
    return f.suboptimality(x) if name == "suboptimality" else f.cost(x)


def runs_of_scenario(scenario: Any, runs: int, seed: int, **options: Any) -> InstanceRuns:
    """Runs of a scenario that no instance says; options as of its ``simulate``."""
    trace: Trace = scenario.simulate(runs, seed, **options)
    return InstanceRuns({name: trace[name] for name in trace.metrics}, {}, trace.final)
