"""Scenarios in words: what a reader is told of the problem, the method, its settings and the number of rounds.

Every scenario is told in one form, short and in one line,

    without noise 3 (local-sgd, 4 clients, d=3, mu=0.312, L=1, local_steps=2, K=6, step 0.213)

its name first, then what there is to know of it; a scalar instance of a pool is named by its place there and has its
numbers as fractions. mu and L are those of the clients' functions, not of single samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sim.participation import Bernoulli, UniformChoice

COUNTS = ("S", "M", "local_steps", "K", "epochs")
"""Entries of a specification that are numbers of clients, steps and rounds, as they are told."""

AVERAGED = {"unbiased": "divided by p_n", "normalised": "undivided"}
"""What the server makes of what absent and present clients send."""


def describe(spec: Mapping[str, Any]) -> str:
    """A scalar instance in a few words, from its specification; K or epochs may be left out of that."""
    sizes = "".join(f", {key}={spec[key]}" for key in COUNTS if key in spec)
    lags = "".join(f", {key} {', '.join(map(str, spec[key]))}" for key in ("alpha", "beta") if spec.get(key))
    start = next((spec[key] for key in ("theta0", "x0", "v0") if key in spec), None)
    absent = any(str(client.get("p", "1")) != "1" for client in spec["clients"] if isinstance(client, Mapping))
    server = f", {AVERAGED[spec.get('aggregation', 'unbiased')]}" if absent else ""
    return f"{of_clients(len(spec['clients']))}{server}{sizes}, step {spec['step']}{lags}, start {start}"


def in_words(scenario: Any, spec: Mapping[str, Any] | None = None) -> str:
    """A scenario by name, and what it is in brackets.

    Args:
        scenario: any of a pool. Its `description()` says what it is; without one its name is all there is.
        spec: its specification, for a scalar instance.
    """
    if spec is not None:
        return f"{scenario.name} ({spec.get('algorithm', '')}, {describe(spec)})".replace("(, ", "(")
    description = getattr(scenario, "description", None)
    return f"{scenario.name} ({description()})" if description is not None else str(scenario.name)


def of_clients(count: int) -> str:
    """Their number."""
    return "one client" if count == 1 else f"{count} clients"


def of_problem(problem: Any) -> str:
    """Clients, dimension and the constants of a quadratic problem."""
    constants = f"mu={number(problem.strong_convexity)}, L={number(problem.smoothness)}"
    return f"{of_clients(problem.clients)}, d={problem.dim}, {constants}"


def of_rounds(scenario: Any, rounds: bool = True) -> str:
    """A scenario that the simulator of rounds repeats (`validate.scenario.OfRounds`); `rounds`: say how many."""
    algorithm = scenario.algorithm
    parts = [str(getattr(algorithm, "name", type(algorithm).__name__)), of_problem(scenario.problem)]
    rule = getattr(algorithm, "aggregation", "")
    parts += _present(scenario.participation, scenario.problem.clients, rule)
    sizes = (("S", "snapshots"), ("M", "inner"), ("local_steps", "local_steps"))
    parts += [f"{key}={getattr(algorithm, name)}" for key, name in sizes if hasattr(algorithm, name)]
    parts += [f"K={scenario.rounds}"] * rounds
    parts.append(of_step(algorithm.step))
    if getattr(algorithm, "alpha", ()):
        parts.append(f"{len(algorithm.alpha)} lag{'s' * (len(algorithm.alpha) > 1)}")
    return ", ".join(parts)


def of_step(step: Any) -> str:
    """A step size, or one a round."""
    values = np.asarray(step, dtype=np.float64)
    return f"step {number(values)}" if not values.ndim else f"steps {number(values.min())} to {number(values.max())}"


def number(value: Any) -> str:
    """A number, to three digits."""
    return f"{float(value):.3g}"


def _present(participation: Any, clients: int, aggregation: str = "") -> list[str]:
    """Who takes part, where it is not everybody, and what the server makes of it."""
    if isinstance(participation, UniformChoice):
        return [f"{participation.size} a round"] * (participation.size < clients)
    if isinstance(participation, Bernoulli):
        chances = np.asarray(participation.p, dtype=np.float64)
        if chances.min() < 1:
            low, high = number(chances.min()), number(chances.max())
            said = f"p={low}" if low == high else f"p={low} to {high}"
            return [f"{said}, {AVERAGED[aggregation]}" if aggregation in AVERAGED else said]
    return []
