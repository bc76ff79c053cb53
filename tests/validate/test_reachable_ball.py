"""The ball that no run leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.bounds import Cases
from validate.per_run import PerRun

from validate import reachable_ball
from validate.scenario import Scenario

HALF = [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1"], "a": ["-1"], "p": "1/2"}]
NOISY = [{"h": ["1", "1"], "a": ["1", "-1"]}]


def _svrg(**changes: Any) -> Scenario:
    spec = {"algorithm": "fedavg-svrg", "clients": HALF, "step": "1/5", "S": 1, "M": 2, "K": 2, "theta0": "3"}
    return Scenario.from_spec({**spec, **changes}, exact=False)


def _local(**changes: Any) -> Scenario:
    spec = {"algorithm": "local-sgd", "clients": NOISY, "step": "1/5", "local_steps": 1, "K": 4, "theta0": "3"}
    return Scenario.from_spec({**spec, **changes}, exact=False)


@st.composite
def _anything(draw) -> Scenario:
    """Local SGD or FedAvg-SVRG on up to three scalar clients, by any rule."""
    number = st.integers(-8, 8).map(lambda n: f"{n}/4")
    positive = st.integers(1, 8).map(lambda n: f"{n}/4")
    clients = []
    for _ in range(draw(st.integers(1, 3))):
        samples = draw(st.integers(1, 3))
        h, a = ([draw(kind) for _ in range(samples)] for kind in (positive, number))
        clients.append({"h": h, "a": a, "p": draw(st.sampled_from(["1", "1/2", "1/5"]))})
    rules = {
        "aggregation": draw(st.sampled_from(["unbiased", "normalised"])),
        "empty": draw(st.sampled_from(["keep", "zero", "condition"])),
        "step": draw(st.sampled_from(["1/10", "1/3", "1", "2"])),
        "K": draw(st.integers(1, 4)),
        "theta0": draw(number),
    }
    kind = draw(st.sampled_from([_svrg, _local]))
    sizes = {"S": draw(st.integers(1, 2)), "M": draw(st.integers(1, 3))} if kind is _svrg else {}
    if kind is _local:
        sizes = {"local_steps": draw(st.integers(1, 3))}
    return kind(clients=clients, **rules, **sizes)


@given(_anything(), st.integers(0, 100))
@settings(max_examples=50, deadline=None)
def test_no_run_leaves_the_ball(scenario, seed) -> None:
    metrics = ("squared_gradient_norm", "suboptimality", "squared_distance", "squared_iterate_norm")
    trace = scenario.simulate(200, seed, metrics=metrics, backend="torch")
    k = np.arange(1, scenario.rounds + 1)
    cases = Cases(np.zeros(len(k)), {}, {"k": k})
    for metric in metrics:
        for at, own in (("k", cases), ("next", Cases(np.zeros(len(k)), {}, {"k": k - 1})), ("mean", cases)):
            quantity = PerRun(metric, at)
            most = reachable_ball.largest(scenario, quantity, own)
            assert (quantity.values(trace, own) <= most * (1 + 1e-9) + 1e-12).all()


def test_the_ball_is_exact_for_gradient_descent_in_one_dimension() -> None:
    scenario = _local(clients=[{"h": ["1"], "a": ["1"]}], step="1/5", theta0="3")
    np.testing.assert_allclose(reachable_ball.distances(scenario), [2 * 0.8**k for k in range(5)], rtol=1e-7)
    assert reachable_ball.distances(object()) is None
    flat = _local(clients=[{"h": ["0"], "a": ["1"]}])
    assert reachable_ball.distances(flat) is None
