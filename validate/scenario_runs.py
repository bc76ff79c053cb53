"""Runs of a SPEC by `sim.simulate`: also of no rounds, and of rounds that are drawn again until somebody takes part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sim.trace import Trace
    from validate.scenario import Scenario

RECORDED = ("suboptimality", "squared_gradient_norm")
"""Unless others are asked for."""
_ATTEMPTS = 10_000


def simulated(
    scenario: Scenario,
    runs: int,
    seed: int,
    *,
    first_run: int = 0,
    metrics: Sequence[str] = RECORDED,
    device: str = "cpu",
    threads: int = 1,
    backend: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """R runs of a scenario.

    Args:
        scenario: what is run.
        runs: R.
        seed: run r of a seed is always the same.
        first_run: number of the first run.
        metrics: names among `validate.instances.runs.METRICS`.
        device, threads, backend: as of `sim.simulate.simulate`.
        progress: told of run-rounds done, and in all.

    Raises:
        ValueError: for a metric that does not exist, or an argument outside its domain.
    """
    from sim.arguments import checked_metrics
    from sim.trace import Trace
    from validate.instances.runs import METRICS, at_points

    names = checked_metrics(metrics, METRICS)
    objective = scenario.objective
    start = np.array([float(v) for v in scenario.start])
    options: dict[str, Any] = {"first_run": first_run, "device": device, "threads": threads}
    if scenario.rounds == 0:
        x = np.repeat(start[None, None], runs, axis=0)
    elif scenario.again:
        x = _again(scenario, objective, start, runs, seed, {**options, "progress": progress})
    else:
        from sim.simulate import simulate

        name = scenario.program.state[0].name
        done = simulate(
            scenario.program, objective, _floats(scenario.parameters), start, scenario.rounds, runs, seed,
            record=range(scenario.rounds + 1), keep=(name,), backend=backend,
            progress=False if progress is None else progress, **options,
        )  # fmt: skip
        x = done.states[name]
    values = {name: x if name == "iterate" else at_points(name, objective, x) for name in names}
    return Trace(values=values, final=x[:, -1], seed=seed, first_run=first_run)


def _floats(parameters: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {"k": plain(value["k"])}
        return [plain(v) for v in value] if isinstance(value, list | tuple) else float(value)

    return {name: plain(value) for name, value in parameters.items()}


def _again(scenario: Scenario, objective: Any, start: Any, runs: int, seed: int, options: Mapping[str, Any]) -> Any:
    """(R, K+1, d), where each round is drawn until somebody takes part: attempt a of round k has a seed of its own.

    Raises:
        ValueError: where nobody takes part in ten thousand attempts.
    """
    from sim.simulate import simulate

    program, parameters = scenario.program, _floats(scenario.parameters)
    progress = options["progress"]
    plain = {k: v for k, v in options.items() if k != "progress"}
    x = np.repeat(start[None], runs, axis=0)
    found, here = [x], np.zeros(runs, dtype=bool)

    def look(k: int, operation: str, value: Any) -> None:
        if operation == "coins":
            here[:] = value.sum(0)[0, :runs].cpu().numpy() > 0

    for k in range(scenario.rounds):
        now = {name: _of_round(value, k) for name, value in parameters.items()}
        waiting, after = np.ones(runs, dtype=bool), x.copy()
        for attempt in range(_ATTEMPTS):
            key = f"{seed} {k} {attempt}".encode()
            own = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")
            done = simulate(program, objective, now, x, 1, runs, own, watch=look, chunk=runs, **plain)
            taken = waiting & here
            after[taken] = done.final[program.state[0].name][taken]
            waiting &= ~here
            if not waiting.any():
                break
        else:
            raise ValueError(f"nobody takes part in round {k} of some run in {_ATTEMPTS} attempts")
        x = after
        found.append(x)
        if progress is not None:
            progress((k + 1) * runs, scenario.rounds * runs)
    return np.stack(found, axis=1)


def _of_round(value: Any, k: int) -> Any:
    return value["k"][k] if isinstance(value, Mapping) else value
