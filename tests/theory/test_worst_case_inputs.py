"""What the worst-case methods and `worst_case` refuse."""

from __future__ import annotations

from typing import Any

import pytest

from theory.worst_case.bound import FedAvg, GradientDescent, StochasticGradientDescent, worst_case

FINE = {"L": 1, "distance": 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(0, 1), "steps=0 is outside"),
        (lambda: GradientDescent(1.5, 1), "steps=1.5 is outside"),  # type: ignore[arg-type]
        (lambda: GradientDescent(True, 1), "steps=True is outside"),
        (lambda: GradientDescent(3, -1), r"step=-1 is outside \(0, inf\)"),
        (lambda: GradientDescent(3, 0), "step=0 is outside"),
        (lambda: GradientDescent(3, float("nan")), "step=nan is outside"),
        (lambda: GradientDescent(3, float("inf")), "step=inf is outside"),
        (lambda: GradientDescent(3, [1, 1]), "has 2 entries"),
        (lambda: GradientDescent(3, "1/0"), "step='1/0' is outside"),
        (lambda: GradientDescent(3, True), "step=True is outside"),
        (lambda: FedAvg(0, 1, 1, 1), "clients=0 is outside"),
        (lambda: FedAvg(2, 0, 1, 1), "rounds=0 is outside"),
        (lambda: FedAvg(2, 1, 0, 1), "local_steps=0 is outside"),
        (lambda: FedAvg(2, 1, [1, 2, 3], 1), "local_steps=.* has 3 entries"),
        (lambda: FedAvg(2, 1, 1, 1, participating=3), r"participating=3 is outside \[1, clients=2\]"),
        (lambda: FedAvg(2, 1, 1, 1, participating=0), "participating=0 is outside"),
        (lambda: StochasticGradientDescent(1, 1, outcomes=1), "outcomes=1 is outside"),
    ],
)
def test_methods_refuse(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mu": 2}, r"mu=2 is outside \[0, L=1\)"),
        ({"mu": 1}, r"mu=1 is outside \[0, L=1\)"),
        ({"mu": -1}, r"mu=-1 is outside \[0, L=1\)"),
        ({"L": 0}, r"L=0 is outside \(0, inf\)"),
        ({"L": float("inf")}, "L=inf is outside"),
        ({"L": [1, 2]}, "L=.* has 2 entries"),
        ({"distance": 0}, r"distance=0 is outside \(0, inf\)"),
        ({"distance": None}, "distance=None and gap=None"),
        ({"gap": -1}, r"gap=-1 is outside \(0, inf\)"),
        ({"heterogeneity": -1}, r"heterogeneity=-1 is outside \[0, inf\)"),
        ({"variance": 1}, "variance=1 is for StochasticGradientDescent"),
        ({"metric": "loss"}, "metric='loss' is outside"),
        ({"tolerance": 0}, r"tolerance=0 is outside \(0, inf\)"),
        ({"method": "sgd"}, "method='sgd' is outside"),
        ({"method": StochasticGradientDescent(1, 1)}, "variance=None is outside"),
        ({"method": StochasticGradientDescent(1, 1), "variance": -1}, r"variance=-1 is outside \[0, inf\)"),
        ({"method": StochasticGradientDescent(20, 1), "variance": 1}, "make a tree of"),
        ({"method": FedAvg(8, 4, 1, 1, participating=4)}, "make a tree of"),
        ({"method": GradientDescent(399, 1), "metric": "suboptimality"}, "more than 400 basis vectors"),
    ],
)
def test_worst_case_refuses(change: dict[str, Any], message: str) -> None:
    arguments = {"method": GradientDescent(2, 1), **FINE, **change}
    with pytest.raises(ValueError, match=message):
        worst_case(arguments.pop("method"), **arguments)
