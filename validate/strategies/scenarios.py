"""Scalar scenarios of each algorithm, as specifications and as what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from theory.domain import PROBABILITY, Domain
from validate.scenario import fraction_text, read_scenario
from validate.strategies.numbers import numbers

Spec = dict[str, Any]

_CURVATURE, _STEP = Domain(0, 2), Domain(0, 1, lower_open=True)


def scenarios(kind: str, *, exact: bool = True, **sizes: Any) -> st.SearchStrategy[Any]:
    """Scenarios of an algorithm on scalar quadratics; arguments and errors as of `specs`.

    Args:
        kind: the algorithm.
        exact: everything in Fractions; else float64.
        sizes: what `specs` takes.
    """
    return specs(kind, **sizes).map(lambda spec: read_scenario(spec, exact=exact))


def specs(
    kind: str,
    *,
    clients: int = 3,
    samples: int = 2,
    rounds: int = 3,
    local_steps: int = 3,
    convex: bool = True,
    present: bool = False,
    rules: bool = False,
) -> st.SearchStrategy[Spec]:
    """Specifications (`validate.scenario`), as certificates and `fedproof moments` take them.

    Args:
        kind: "local-sgd", "fedavg-svrg", "shuffling-local-sgd" or "fedmim".
        clients: at most so many, at least one.
        samples: of a client, at most.
        rounds: at most (epochs of shuffling), at least one.
        local_steps: at most; of FedAvg-SVRG, snapshots, and inner steps too.
        convex: curvatures are in [0, 2]; else in [-2, 2].
        present: everybody takes part in every round; else clients may be absent.
        rules: of local SGD and FedAvg-SVRG, any rule of aggregation and of rounds without clients; else the unbiased
            one, and such rounds change nothing.

    Raises:
        ValueError: for another kind, or a size below 1.
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not one of {sorted(KINDS)}")
    limits = {"clients": clients, "samples": samples, "rounds": rounds, "local_steps": local_steps}
    for name, value in limits.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}={value!r} is outside the integers in [1, inf)")
    return KINDS[kind](_Range(clients, samples, rounds, local_steps, convex, present, rules))


@dataclass(frozen=True)
class _Range:
    """What `specs` was asked for."""

    clients: int
    samples: int
    rounds: int
    local_steps: int
    convex: bool
    present: bool
    rules: bool


def _client(limits: _Range, second: str) -> st.SearchStrategy[Spec]:
    curvature = numbers(_CURVATURE if limits.convex else Domain(-2, 2)).map(fraction_text)
    place = st.fractions(-4, 4, max_denominator=8).map(fraction_text)

    def of(count: int) -> st.SearchStrategy[Spec]:
        rows = {"h": curvature, second: place}
        return st.fixed_dictionaries({key: st.lists(row, min_size=count, max_size=count) for key, row in rows.items()})

    return st.integers(1, limits.samples).flatmap(of)


def _number(domain: Domain) -> st.SearchStrategy[str]:
    return numbers(domain).map(fraction_text)


def _start() -> st.SearchStrategy[str]:
    return st.fractions(-4, 4, max_denominator=8).map(fraction_text)


@st.composite
def _of_rounds(draw: st.DrawFn, kind: str, limits: _Range) -> Spec:
    client = _client(limits, "a")
    chosen = draw(st.lists(client, min_size=1, max_size=limits.clients))
    absent = not limits.present and draw(st.booleans())
    spec: Spec = {
        "algorithm": kind,
        "clients": [c | {"p": draw(_number(PROBABILITY)) if absent else "1"} for c in chosen],
        "step": draw(_number(_STEP)),
        "K": draw(st.integers(1, limits.rounds)),
        "theta0": draw(_start()),
    }
    if limits.rules:
        spec["aggregation"] = draw(st.sampled_from(("unbiased", "normalised")))
        spec["empty"] = draw(st.sampled_from(("keep", "zero", "condition")))
    own = ("S", "M") if kind == "fedavg-svrg" else ("local_steps",)
    return spec | {key: draw(st.integers(1, limits.local_steps)) for key in own}


@st.composite
def _shuffling(draw: st.DrawFn, limits: _Range) -> Spec:
    chosen = draw(st.lists(_client(limits, "b"), min_size=1, max_size=limits.clients))
    shares = [draw(st.integers(1, 4)) for _ in chosen]
    return {
        "algorithm": "shuffling-local-sgd",
        "clients": chosen,
        "alpha": [fraction_text(Fraction(share, sum(shares))) for share in shares],
        "step": draw(_number(_STEP)),
        "local_steps": draw(st.integers(1, limits.local_steps)),
        "epochs": draw(st.integers(1, limits.rounds)),
        "v0": draw(_start()),
    }


@st.composite
def _fedmim(draw: st.DrawFn, limits: _Range) -> Spec:
    chosen = draw(st.lists(_client(limits, "b"), min_size=1, max_size=limits.clients))
    lags = {key: draw(st.lists(st.integers(0, 4), max_size=2)) for key in ("alpha", "beta")}
    return {
        "algorithm": "fedmim",
        "clients": chosen,
        "S": len(chosen) if limits.present else draw(st.integers(1, len(chosen))),
        "local_steps": draw(st.integers(1, limits.local_steps)),
        "step": draw(_number(_STEP)),
        # sums below 1
        **{key: [fraction_text(Fraction(weight, 9)) for weight in weights] for key, weights in lags.items()},
        "x0": draw(_start()),
        "K": draw(st.integers(1, limits.rounds)),
    }


KINDS: dict[str, Callable[[_Range], st.SearchStrategy[Spec]]] = {
    "local-sgd": lambda limits: _of_rounds("local-sgd", limits),
    "fedavg-svrg": lambda limits: _of_rounds("fedavg-svrg", limits),
    "shuffling-local-sgd": _shuffling,
    "fedmim": _fedmim,
}
"""By the name of the algorithm."""
