"""What happens, exactly: `fedproof moments`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.output import plain, print_json, read_object, table

if TYPE_CHECKING:
    from validate.scenario import Scenario


def entries(values: Any, dim: int) -> list[Any]:
    """A list over the rounds; in one dimension, of plain numbers."""
    flat = plain(values)
    while dim == 1 and flat and isinstance(flat[0], list):
        flat = [entry[0] for entry in flat]
    return list(flat)


@contextmanager
def any_number_of_digits() -> Iterator[None]:
    """Let Python write fractions of more digits than it does by default, as a few rounds can bring about."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def show_moments(scenario: Scenario, as_json: bool) -> None:
    """Compute and print the moments."""
    result = scenario.moments()
    dim = scenario.problem.dim
    per_round = {
        "mean": entries(result.mean, dim),
        "second_moment": entries(result.second_moment, dim),
        "squared_gradient_norm": entries(result.squared_gradient_norm, 0),
        "suboptimality": None if result.suboptimality is None else entries(result.suboptimality, 0),
    }
    sums = {
        "drift_sum": plain(result.drift_sum()),
        "weighted_sum": plain(result.weighted_sum()),
        "lexicographic_drift_sum": plain(result.lexicographic_drift_sum()),
    }
    if as_json:
        print_json({"algorithm": scenario.algorithm.name, "K": scenario.rounds, **per_round, **sums})
        return
    columns = {name: values for name, values in per_round.items() if values is not None}
    rows = [[str(k), *(str(values[k]) for values in columns.values())] for k in range(scenario.rounds + 1)]
    table(["round", *columns], rows)
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

    Example: fedproof moments SPEC.json --exact --json
    """
    from validate.scenario import Scenario

    scenario = Scenario.from_spec(read_object(spec), exact=exact)
    with any_number_of_digits():
        show_moments(scenario, as_json)
