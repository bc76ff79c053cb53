"""Specifications: what they mean, and one clear error for each way to get them wrong."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from validate.scenario import floating, rational, read_scenario

SPEC = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1/3"], "a": ["-1"]}],
    "step": "1/5",
    "S": 2,
    "M": 3,
    "K": 3,
    "theta0": "3",
}
LOCAL = {"algorithm": "local-sgd", "clients": [{"h": "1", "a": "0"}], "step": "1/2", "K": 1, "theta0": 1}


@given(st.one_of(st.floats(), st.integers(), st.fractions().map(str), st.floats().map(np.float64), st.just("x")))
def test_a_float_is_read_as_its_rational_is(value):
    def outcome(read):
        try:
            return repr(read(value, "value"))
        except (ValueError, OverflowError) as error:
            return str(error)

    assert outcome(floating) == outcome(lambda value, name: float(rational(value, name)))


def test_a_specification_in_fractions():
    scenario = read_scenario(SPEC, exact=True)
    assert scenario.algorithm == "algorithms/fedavg_svrg"
    assert scenario.parameters == {"delta": Fraction(1, 5), "S": 2, "M": 3, "p": [Fraction(1, 2), Fraction(1)]}
    assert scenario.steps == 6
    assert scenario.rounds == 3
    assert scenario.start.tolist() == [Fraction(3)]
    assert scenario.problem.smoothness == Fraction(3, 2)


def test_a_decimal_means_what_it_says():
    assert rational(0.1, "x") == Fraction(1, 10)
    assert rational("0.1", "x") == Fraction(1, 10)
    assert rational(1e-3, "x") == Fraction(1, 1000)


def test_local_sgd_with_its_rules():
    spec = {**LOCAL, "local_steps": 4, "aggregation": "normalised", "empty": "condition"}
    scenario = read_scenario(spec, exact=True)
    assert (scenario.algorithm, scenario.again) == ("algorithms/fedavg_coins", True)
    assert scenario.parameters == {"eta": Fraction(1, 2), "H": 4, "p": [1]}


def test_schedules_of_steps_and_probabilities():
    clients = [{"h": "1", "a": "0", "p": ["1", "1/2", "1/4"]}, {"h": "1", "a": "1", "p": "1/3"}]
    scenario = read_scenario({**SPEC, "clients": clients, "step": ["1/2", "1/4", "1/8"]}, exact=True)
    third = Fraction(1, 3)
    assert scenario.parameters["p"] == {"k": [[1, third], [Fraction(1, 2), third], [Fraction(1, 4), third]]}
    assert scenario.parameters["delta"] == {"k": [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)]}


BAD = [
    ([], "not an object"),
    ({**SPEC, "algorithm": "adam"}, "algorithm='adam'"),
    ({k: v for k, v in SPEC.items() if k != "K"}, "lacks K"),
    ({**SPEC, "steps": 3}, "unknown entries steps"),
    ({**SPEC, "clients": []}, "clients"),
    ({**SPEC, "clients": [3]}, r"clients\[0\]"),
    ({**SPEC, "clients": [{"h": ["1"]}]}, r"clients\[0\] lacks a"),
    ({**SPEC, "clients": [{"h": ["1"], "a": ["1", "2"]}]}, "1 values of h and 2 of a"),
    ({**SPEC, "clients": [{"h": [], "a": []}]}, "at least one"),
    ({**SPEC, "clients": [{"h": "1", "a": "0", "p": "0"}]}, r"p=0 is outside \(0, 1\]"),
    ({**SPEC, "clients": [{"h": "1", "a": "0", "p": "3/2"}]}, r"p=3/2 is outside \(0, 1\]"),
    ({**SPEC, "clients": [{"h": "1", "a": "0", "p": ["1"]}]}, "one a round"),
    ({**SPEC, "clients": [{"h": "x", "a": "0"}]}, r"clients\[0\].h='x'"),
    ({**SPEC, "clients": [{"h": "1", "a": "0", "q": 1}]}, "unknown entries q"),
    ({**SPEC, "step": "0"}, r"step=0(\.0)? is outside \(0, inf\)"),
    ({**SPEC, "step": "-1/2"}, r"step=-(1/2|0\.5) is outside \(0, inf\)"),
    ({**SPEC, "step": "nan"}, "step='nan'"),
    ({**SPEC, "step": float("nan")}, "step=nan"),
    ({**SPEC, "step": float("inf")}, "step=inf"),
    ({**SPEC, "step": "1/0"}, "step='1/0'"),
    ({**SPEC, "step": ["1/2"]}, "one a round"),
    ({**SPEC, "step": True}, "step=True"),
    ({**SPEC, "S": 0}, "S=0"),
    ({**SPEC, "M": 2.5}, "M=2.5"),
    ({**SPEC, "K": -1}, r"K=-1 is not an integer in \[0, inf\)"),
    ({**SPEC, "theta0": [1, 2]}, "theta0"),
    ({**SPEC, "theta0": "9" * 20_000}, "20000 characters"),
    ({**SPEC, "theta0": "1e999999"}, "too large"),
    ({**LOCAL}, "lacks local_steps"),
    ({**LOCAL, "local_steps": 1, "S": 2}, "unknown entries S"),
    ({**LOCAL, "local_steps": 1, "aggregation": "mean"}, "aggregation='mean'"),
    ({**LOCAL, "local_steps": 1, "empty": "skip"}, "empty='skip'"),
]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("spec", "message"), BAD)
def test_bad_specifications_get_one_clear_error(spec, message, exact):
    with pytest.raises(ValueError, match=message) as caught:
        read_scenario(spec, exact=exact)
    assert len(str(caught.value)) < 500
