"""What happens, exactly: `fedproof moments`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import plain, print_json, progress, read_object, table, telling_time

if TYPE_CHECKING:
    from validate.instances.instance import Instance


def entries(values: Any, dim: int) -> list[Any]:
    """A list over the rounds; in one dimension, of plain numbers."""
    flat = plain(values)
    while dim == 1 and flat and isinstance(flat[0], list):
        flat = [entry[0] for entry in flat]
    return list(flat)


MOST_STEPS = 5_000_000
"""Clients times local steps times rounds."""


def check_size(scenario: Any) -> None:
    """Refuse moments that take too long.

    Raises:
        ValueError: naming the number of local steps.
    """
    steps = scenario.problem.clients * scenario.steps * scenario.rounds
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


def show_spec(data: Mapping[str, Any], exact: bool, as_json: bool) -> None:
    """Compute and print the moments of a first specification: of the model after every round, and what goes with it."""
    from validate.instances.spec_moments import moments_of_spec
    from validate.instances.specs import lengths_of
    from validate.scenario import read_scenario

    scenario = read_scenario(data, exact=exact)
    check_size(scenario)
    found = {name: plain(value) for name, value in moments_of_spec(data, exact=exact).items()}
    unit, length = lengths_of(data)
    if as_json:
        print_json({"algorithm": data["algorithm"], length: scenario.rounds, **found})
        return
    lists = {name: value for name, value in found.items() if isinstance(value, list) and len(value) > scenario.rounds}
    _show_rounds(unit, lists, scenario.rounds)
    for name, value in found.items():
        if not isinstance(value, list) and value is not None:
            typer.echo(f"{name} = {value}")


def _show_rounds(unit: str, per_round: Mapping[str, Any], rounds: int) -> None:
    columns = {name: values for name, values in per_round.items() if values is not None}
    rows = [[str(k), *(str(values[k]) for values in columns.values())] for k in range(rounds + 1)]
    table([unit, *columns], rows)


PROBED = 16  # rounds whose digits are counted
MANY, MOST = 5_000_000, 150_000_000  # characters
OTHERWISE = "--rigorous encloses them in intervals, and without either float64 is used"


def tell_digits(instance: Instance) -> None:
    """Say on stderr, before they are computed, how many digits the fractions of many rounds will have.

    The digits of a linear recursion's fractions grow linearly in the rounds; they are counted over the first few.

    Raises:
        ValueError: where they are beyond reach.
    """
    from validate.instances.runs import OF_MODEL, moments_of_instance
    from validate.instances.scalars import Schedule

    if instance.rounds <= 2 * PROBED or any(isinstance(value, Schedule) for value in instance.parameters.values()):
        return
    first = moments_of_instance(replace(instance, rounds=PROBED), exact=True)
    lists = [values for name in OF_MODEL if (values := getattr(first, name)) is not None]
    half, whole = (sum(len(str(plain(values[k]))) for values in lists) for k in (PROBED // 2, PROBED))
    a_round = max(0, whole - half) / (PROBED // 2)
    characters = a_round * instance.rounds**2 / 2
    size = (
        f"the fractions of round {instance.rounds} will have about {a_round * instance.rounds:,.0f} characters, and "
        f"those of all rounds {characters / 1e6:,.0f} MB"
    )
    if characters > MOST:
        raise ValueError(
            f"rounds={instance.rounds} with --exact: {size}; at most {MOST / 1e6:,.0f} are made: {OTHERWISE}"
        )
    if characters > MANY:
        progress(f"warning: {size}; {OTHERWISE}, both in a moment")


def show_instance(instance: Instance, how: str, as_json: bool) -> None:
    """Compute and print the moments of an instance: of its model, and of every state variable.

    Args:
        instance: the instance.
        how: "exact", "rigorous" or "floats".
        as_json: print JSON.
    """
    from validate.instances.enclosed import enclosed_moments
    from validate.instances.runs import OF_MODEL, moments_of_instance

    if how == "exact":
        tell_digits(instance)
    with telling_time("the moments"):
        result = (
            enclosed_moments(instance, progress)
            if how == "rigorous"
            else moments_of_instance(instance, exact=how == "exact")
        )
        dim = instance.dim or 0
        values = {name: _written(getattr(result, name), how) for name in OF_MODEL}
        flat = ("mean", "second_moment")
        per_round = {
            name: None if value is None else entries(value, dim if name in flat else 0)
            for name, value in values.items()
        }
    if not as_json:
        shown = per_round if how != "rigorous" else {name: _intervals(value) for name, value in per_round.items()}
        _show_rounds("round", shown, instance.rounds)
        return
    states = {
        name: {"mean": _written(s.mean, how), "squared_norm": _written(s.squared_norm, how)}
        for name, s in result.states.items()
    }
    print_json({"algorithm": instance.algorithm, "K": instance.rounds, **per_round, "states": states})


def _written(values: Any, how: str) -> Any:
    """An array of balls as pairs of decimals, lower and upper; of other numbers as it is."""
    if how != "rigorous" or values is None:
        return values
    from theory.arithmetic import decimals

    def pairs(part: Any) -> Any:
        return [pairs(one) for one in part] if getattr(part, "ndim", 0) else list(decimals(part))

    return pairs(values)


def _intervals(values: Any) -> Any:
    """Pairs of decimals as text for a table, ``[lower, upper]``, in lists as they are."""
    if values is None or isinstance(values, str):
        return values
    if len(values) == 2 and all(isinstance(value, str) for value in values):
        return values[0] if values[0] == values[1] else f"[{values[0]}, {values[1]}]"
    return [_intervals(value) for value in values]


def moments(
    spec: Annotated[str, typer.Argument(metavar="INSTANCE.json", help="The instance, or - for stdin.")],
    exact: Annotated[bool, typer.Option("--exact", help="Compute in fractions, and print them as p/q.")] = False,
    rigorous: Annotated[bool, typer.Option("--rigorous", help="Intervals that contain them, for many rounds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print exact moments of an algorithm's iterates.

    INSTANCE.json holds {"algorithm": "algorithms/scaffold" or "my_paper.py:name", "parameters": {"eta": "1/10", ...},
    "problem": {"clients": [[{"h": 1, "b": 0}, ...], ...]}, "start": ["3"], "rounds": 3}. A sample function is h x^2/2 -
    b x, h (x - a)^2/2, or x'Hx/2 - b'x with a matrix "H" and a vector "b". The algorithm is any that is linear given
    its draws. The lists go over the rounds 0..K, and are of the model, its first state variable (the mean over the
    clients, where each has one): E of x, of x x', of ||grad f(x)||^2, of f(x) - f*, of ||x||^2 and of ||x - x*||^2.
    Fractions grow with the rounds; --rigorous has intervals that contain the exact values, for thousands of rounds that
    are all alike. With --json, "states" has the mean and the mean squared norm of every state variable.

    Specifications from before there were instances are taken too, in their own names (docs/reference/scenarios.md):
    {"algorithm": "local-sgd", "clients": [{"h": ["1"], "a": ["0"], "p": "1/2"}], "step": "1/5", "local_steps": 2, "K":
    3, "theta0": "3"}.

    Example: fedproof moments INSTANCE.json --exact --json
    """
    from validate.instances.specs import instance_from, is_instance

    if exact and rigorous:
        raise ValueError("--exact and --rigorous: fractions, or intervals that contain them; give one of the two")
    data = read_object(spec)
    with any_number_of_digits():
        if is_instance(data):
            show_instance(instance_from(data), "exact" if exact else "rigorous" if rigorous else "floats", as_json)
        elif rigorous:
            raise ValueError(
                f"--rigorous: {spec} is a first specification; write it as an instance (docs/command-line.md)"
            )
        else:
            with telling_time("the moments"):
                show_spec(data, exact, as_json)
