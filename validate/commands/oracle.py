"""What happens, exactly: `fedproof moments`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.output import plain, print_json, read_object, table

if TYPE_CHECKING:
    from validate.inertial_scenario import InertialScenario
    from validate.scenario import Scenario
    from validate.shuffling_scenario import ShufflingScenario

SUMS = ("drift_sum", "weighted_sum", "lexicographic_drift_sum")

INERTIAL = ("auxiliary_squared_gradient_norm", "auxiliary_suboptimality", "squared_increment")
"""Of FedMIM, over the rounds 0..K."""
INERTIAL_ROUNDS = ("drift", "squared_average_step")
"""Of FedMIM, over the rounds 0..K-1: not in the table, which has one line more."""


def entries(values: Any, dim: int) -> list[Any]:
    """A list over the rounds; in one dimension, of plain numbers."""
    flat = plain(values)
    while dim == 1 and flat and isinstance(flat[0], list):
        flat = [entry[0] for entry in flat]
    return list(flat)


MOST_STEPS = 5_000_000
"""Clients times local steps times rounds: entries of a table of moments, of which there are several."""


def check_size(scenario: Scenario | ShufflingScenario | InertialScenario) -> None:
    """Refuse moments that no machine can hold.

    Raises:
        ValueError: naming the number of local steps.
    """
    algorithm: Any = scenario.algorithm
    each = algorithm.snapshots * algorithm.inner if hasattr(algorithm, "snapshots") else algorithm.local_steps
    steps = scenario.problem.clients * each * scenario.rounds
    if steps > MOST_STEPS:
        raise ValueError(f"the moments of {steps} local steps of all clients are asked for; at most {MOST_STEPS} are")


@contextmanager
def any_number_of_digits() -> Iterator[None]:
    """Let Python write fractions of more digits than it does by default, as a few rounds can bring about."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def show_moments(scenario: Scenario | ShufflingScenario | InertialScenario, as_json: bool) -> None:
    """Compute and print the moments: of the model after every round or epoch, and the sums that an algorithm has."""
    from validate.inertial_scenario import InertialScenario
    from validate.shuffling_scenario import ShufflingScenario

    result = scenario.moments()
    dim = scenario.problem.dim
    shapes = {"mean": dim, "second_moment": dim, "squared_gradient_norm": 0, "suboptimality": 0}
    unit, length = "round", "K"
    inside: dict[str, Any] = {}
    if isinstance(scenario, ShufflingScenario):
        unit, length = "epoch", "epochs"
        shapes["squared_distance"] = 0
    if isinstance(scenario, InertialScenario):
        shapes |= dict.fromkeys(INERTIAL, 0)
        inside = {name: plain(getattr(result, name)) for name in INERTIAL_ROUNDS}
    values = {name: getattr(result, name) for name in shapes}
    per_round = {name: None if values[name] is None else entries(values[name], shape) for name, shape in shapes.items()}
    sums = {name: plain(getattr(result, name)()) for name in SUMS if hasattr(result, name)}
    if as_json:
        print_json({"algorithm": scenario.algorithm.name, length: scenario.rounds, **per_round, **inside, **sums})
        return
    columns = {name: values for name, values in per_round.items() if values is not None}
    rows = [[str(k), *(str(values[k]) for values in columns.values())] for k in range(scenario.rounds + 1)]
    table([unit, *columns], rows)
    for name, value in sums.items():
        typer.echo(f"{name} = {value}")


def moments(
    spec: Annotated[str, typer.Argument(metavar="SPEC.json", help="The scenario, or - for stdin.")],
    exact: Annotated[bool, typer.Option("--exact", help="Compute in fractions, and print them as p/q.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print exact moments of an algorithm's iterates.

    The problem is quadratic, f_{n,i}(t) = h_i/2 (t-a_i)^2, and the lists go over the rounds 0..K. SPEC.json holds
    {"algorithm": "fedavg-svrg", "clients": [{"h": ["1"], "a": ["0"], "p": "1/2"}], "step": "1/5", "S": 2, "M": 3,
    "K": 3, "theta0": "3"}; for "local-sgd", "local_steps" stands for S and M, and there may be "aggregation":
    "unbiased" or "normalised", and "empty": "keep", "zero" or "condition".

    For "shuffling-local-sgd", f_{n,i}(v) = h_i/2 v^2 - b_i v, the lists go over the epochs and are of
    Phi = sum_n alpha_n f_n: {"algorithm": "shuffling-local-sgd", "clients": [{"h": "1", "b": "1"}], "alpha": ["1"],
    "step": "1/8", "local_steps": 2, "epochs": 3, "v0": "3"}.

    For "fedmim", f_{n,i}(x) = h_i/2 x^2 - b_i x, S of the clients take part and alpha, beta are the weights of the
    lags 0, 1, ...: {"algorithm": "fedmim", "clients": [{"h": "1", "b": "1"}, {"h": "2", "b": "0"}], "S": 1,
    "local_steps": 2, "step": "1/8", "alpha": ["3/5", "3/10"], "beta": ["1/2"], "x0": "3", "K": 3}. The entries that
    begin with "auxiliary" are of the sequence u_t, "squared_increment" is E||delta_t||^2, "drift" the mean of
    E||x_{i,k} - x_t||^2 over clients and k < local_steps, and "squared_average_step" is E||dtilde_t||^2; the last two
    go over the rounds 0..K-1, and are printed with --json only.

    Example: fedproof moments SPEC.json --exact --json
    """
    from validate.scenario import read_scenario

    scenario = read_scenario(read_object(spec), exact=exact)
    check_size(scenario)
    with any_number_of_digits():
        show_moments(scenario, as_json)
