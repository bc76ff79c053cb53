"""The one JSON form of an instance: read, written, refused."""

import json
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.problems import Quadratic
from theory import claim
from theory.arithmetic import to_element
from theory.formula import UndefinedError
from theory.program import algorithm
from validate.instances import Instance, Quadratics, Schedule, instance_of, read_instance, read_problem
from validate.instances.candidates import candidate_of
from validate.instances.longer import MEMORY, longer, ways
from validate.instances.nearby import simpler
from validate.instances.pool import drawn
from validate.instances.setting import Setting
from validate.instances.shapes import turned_axes

F = Fraction


@algorithm
def gd(w, x, *, eta=0.5):
    return x - eta * w.full_gradient(x)


@algorithm(x="each x0", past="J times x0")
def everything(w, x, past, *, p, eta, W, alpha, J, m, N):
    x = w.where(w.coins(p), w.mix(x, W), w.keep(x, m)) - eta * w.gradient(x)
    return x, w.shift(past, w.combine(alpha, past) + w.mean(x) / N)


DATA: dict[str, Any] = {
    "algorithm": "my.py:gd",
    "parameters": {"eta": "1/3"},
    "problem": {"clients": [[{"h": 1, "b": "0.5"}], [{"h": "2/3", "a": 3}, {"h": 0, "b": -1}]]},
    "start": 0.1,
    "rounds": 4,
}
RICH: dict[str, Any] = {
    "algorithm": "paper/everything",
    "parameters": {
        "p": ["1/2", 1], "eta": {"k": [1, "1/2", "0.25"]}, "W": [["1/2", "1/2"], ["1/2", "1/2"]],
        "alpha": [2, -1], "J": 2, "m": 1,
    },
    "problem": {"clients": [[{"H": [[2, 1], [1, 2]], "b": [1, 0]}], [{"H": [[1, 0], [0, 0]], "b": [0, 0]}]]},
    "start": [1, "-2/7"],
    "rounds": 3,
}  # fmt: skip


def changed(data: dict[str, Any], **new: Any) -> dict[str, Any]:
    return {**data, **new}


def test_numbers_are_read_exactly() -> None:
    one = read_instance(DATA, gd)
    assert one.start == (F(1, 10),)
    assert one.parameters == {"eta": F(1, 3)}
    assert (one.rounds, one.clients, one.dim) == (4, 2, 1)
    assert one.program is gd.program
    assert one.algorithm == "my.py:gd"
    assert isinstance(one.problem, Quadratics)
    assert one.problem.quadratic.linear[0, 0, 0] == F(1, 2)
    assert one.problem.quadratic.offset[1, 0] == F(2, 3) * 9 / 2  # h (x - a)^2/2
    assert list(one.problem.quadratic.counts) == [1, 2]
    text = json.dumps(changed(DATA, start="@")).replace('"@"', "0.123456789012345678901")
    assert read_instance(text, gd).start == (F("0.123456789012345678901"),)


def test_a_default_is_a_parameter_like_any_other() -> None:
    assert read_instance(changed(DATA, parameters={}), gd).parameters == {"eta": F(1, 2)}
    with pytest.raises(ValueError, match="eta is missing"):
        read_instance(changed(DATA, parameters={}), gd.program)


def test_parameters_of_every_shape() -> None:
    one = read_instance(RICH, everything)
    assert one.parameters["p"] == (F(1, 2), F(1))
    assert one.parameters["eta"] == Schedule((F(1), F(1, 2), F(1, 4)))
    assert one.parameters["W"] == ((F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)))
    assert one.parameters["alpha"] == (F(2), F(-1))
    assert one.parameters["N"] == 2
    assert one.lengths == (None, 2)


@pytest.mark.parametrize(("data", "one"), [(DATA, gd), (RICH, everything)])
def test_what_is_written_is_read_again(data: dict[str, Any], one: Any) -> None:
    first = read_instance(data, one)
    written = first.to_json()
    assert read_instance(json.dumps(written), one) == first
    assert read_instance(written, lambda text: {data["algorithm"]: one}[text]).to_json() == written


def test_every_form_of_a_quadratic_is_written_as_short_as_can_be() -> None:
    samples = [{"h": 1, "b": 2}, {"h": 3, "a": -1}, {"h": 0, "b": "1/2"}, {"h": 0, "b": 0, "c": 5}]
    assert read_problem({"clients": [samples]}).to_json() == {"clients": [samples]}
    plane = [{"H": [[1, 0], [0, 2]], "b": [0, 1]}, {"H": [[1, 0], [0, 2]], "b": [0, 1], "c": "1/3"}]
    assert read_problem({"clients": [plane]}).to_json() == {"clients": [plane]}


def test_a_list_is_one_a_client_or_a_schedule() -> None:
    two = {"eta": [1, "1/2"]}
    assert read_instance(changed(DATA, parameters=two, rounds=2), gd).parameters["eta"] == (F(1), F(1, 2))
    assert read_instance(changed(DATA, parameters=two, rounds=2), gd, ["eta"]).parameters["eta"] == Schedule(
        (F(1), F(1, 2))
    )
    four = {"eta": [1, 2, 3, 4]}
    assert read_instance(changed(DATA, parameters=four), gd).parameters["eta"] == Schedule((F(1), F(2), F(3), F(4)))
    with pytest.raises(ValueError, match=r"eta has 3 numbers; there are N=2 clients and K=4 rounds"):
        read_instance(changed(DATA, parameters={"eta": [1, 2, 3]}), gd)


def test_a_schedule_has_no_value_after_its_last_round() -> None:
    one = Setting(None, np.zeros(1), {"eta": [F(1), F(2)]}, 2, claim("a", "k*eta_k <= (K - 1)*eta_k"))
    assert one.parameter("eta_k", {"k": 1}) == 2
    with pytest.raises(UndefinedError, match="eta_k has 2 values, and none at 2"):
        one.parameter("eta_k", {"k": 2})


def test_vectors_without_an_algorithm() -> None:
    one = read_instance({"vectors": {"a_n": [[1, 2], [3, "1/2"]], "b": [0, 1]}, "rounds": 3})
    assert one.vectors == {"a_n": ((F(1), F(2)), (F(3), F(1, 2))), "b": (F(0), F(1))}
    assert (one.clients, one.dim, one.rounds) == (2, 2, 3)
    assert read_instance(one.to_json()) == one
    with pytest.raises(ValueError, match="different numbers of coordinates"):
        read_instance({"vectors": {"a": [1, 2], "b": [1]}})


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"algorithm": 3}, "algorithm=3"),
        ({"surplus": 1}, "'surplus'"),
        ({"rounds": 0}, r"rounds=0 is outside the integers in \[1"),
        ({"rounds": 2.5}, "rounds=2.5"),
        ({"rounds": True}, "rounds=True"),
        ({"start": [1, 2]}, "start has 2 entries, and the problem has d=1"),
        ({"start": "nan"}, "start='nan' is outside the rational numbers"),
        ({"start": float("inf")}, "start=inf"),
        ({"start": "1/0"}, "start='1/0'"),
        ({"start": "9" * 3000}, "more than 2000 digits"),
        ({"start": 10**5000}, "more than 2000 digits"),
        ({"start": "1e99999"}, "exponent outside"),
        ({"start": True}, "start=True"),
        ({"start": []}, "start"),
        ({"parameters": {"eta": 1, "theta": 2}}, "parameters has 'theta'; gd has eta"),
        ({"parameters": {"eta": [[1]]}}, "eta is to be a number"),
        ({"parameters": {"eta": {"j": [1]}}}, "schedule"),
        ({"parameters": {"eta": None}}, "eta=None"),
        ({"parameters": [1]}, "parameters is to be an object"),
        ({"problem": None}, "problem is missing"),
        ({"problem": {"clients": []}}, "at least one client"),
        ({"problem": {"clients": [[]]}}, r"clients\[0\] is to be a list of at least one sample"),
        ({"problem": {"clients": [[{"q": 1}]]}}, r"clients\[0\]\[0\] has q; a sample function has one of"),
        ({"problem": {"clients": [[{"h": 1, "b": "x"}]]}}, r"clients\[0\]\[0\].b='x'"),
        ({"problem": {"clients": [[{"H": [[1, 2], [3, 4]], "b": [0, 0]}]]}}, r"not symmetric: H\[1\]\[0\]=3"),
        ({"problem": {"clients": [[{"H": [[1, 2]], "b": [0, 0]}]]}}, "2 rows"),
        ({"problem": {"clients": [[{"h": 1, "b": 0}, {"H": [[1, 0], [0, 1]], "b": [0, 0]}]]}}, "different dimensions"),
    ],
)
def test_what_is_no_instance_is_refused(new: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_instance(changed(DATA, **new), gd)


def test_hostile_text_is_refused() -> None:
    for text in ("[" * 100_000, "{", '{"start": 1e999999}', "[1]"):
        with pytest.raises(ValueError, match=r"JSON|an instance is to be"):
            read_instance(text if text[0] != "{" else text + "x", gd)
    with pytest.raises(ValueError, match="more than 100000 samples"):
        read_problem({"clients": [[{"h": 1, "b": 0}] * 100_001]})


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"p": [0, 1]}, r"p of client 1=0 is outside \(0, 1\]"),
        ({"p": "3/2"}, r"p=3/2 is outside \(0, 1\]"),
        ({"m": 3}, r"w.keep\(m\).*m=3 is outside the integers in \[1, 2\]"),
        ({"m": "3/2"}, "m=3/2 is outside the integers"),
        ({"W": [["1/2", "1/2"]]}, "W is to be a matrix of 2 rows"),
        ({"W": 1}, "W is to be a matrix"),
        ({"alpha": 1}, "alpha is to be a list of weights"),
        ({"alpha": [1]}, "alpha has 1 weights, and past remembers 2 vectors"),
        ({"J": 0}, r"past: J=0 is outside the integers in \[1"),
        ({"N": 3}, "N=3, and the problem has N=2"),
        ({"eta": {"k": [1]}}, "eta has values for 1 rounds, and there are K=3"),
    ],
)
def test_arguments_outside_their_domain_make_no_instance(new: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_instance(changed(RICH, parameters={**RICH["parameters"], **new}), everything)


def test_an_argument_that_leaves_its_domain_in_a_later_round_makes_no_instance() -> None:
    @algorithm
    def one(w, x, *, p):
        return w.where(w.coin(p / (w.k + 1)), x, 2 * x)

    @algorithm
    def two(w, x, *, p):
        return w.where(w.coin(p * (w.k + 1)), x, 2 * x)

    data = changed(DATA, parameters={"p": "1/2"}, rounds=3)
    assert read_instance(data, one).rounds == 3
    with pytest.raises(ValueError, match=r"outside \(0, 1\]"):
        read_instance(data, two)
    assert read_instance(changed(data, rounds=2), two).rounds == 2


def test_an_algorithm_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="no such algorithm is known here"):
        read_instance(DATA)
    with pytest.raises(ValueError, match="there is no algorithm that has parameters"):
        read_instance({key: value for key, value in DATA.items() if key != "algorithm"})
    with pytest.raises(ValueError, match="problem is missing"):
        Instance(gd.program, {"eta": F(1)})


def test_an_instance_from_numbers() -> None:
    import numpy as np

    read = read_instance(RICH, everything)
    assert isinstance(read.problem, Quadratics)
    values = {
        "p": (F(1, 2), 1), "eta": Schedule((F(1), F(1, 2), F(1, 4))), "W": np.full((2, 2), F(1, 2), dtype=object),
        "alpha": [2, -1], "J": np.int64(2), "m": 1, "mu": F(1, 7),
    }  # fmt: skip
    start = np.array([F(1), F(-2, 7)], dtype=object)
    made = instance_of(everything, read.problem.quadratic, start, values, 3, called="paper/everything")
    assert made == read
    assert instance_of(gd, read_problem(DATA["problem"]), [1], {}, 2).parameters == {"eta": F(1, 2)}
    with pytest.raises(ValueError, match="no problem that can be played on"):
        instance_of(gd, 3, [1], {}, 2)


def test_problems_are_exact() -> None:
    import numpy as np

    with pytest.raises(ValueError, match="float64"):
        Quadratics(Quadratic(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([1])))


def vector(*entries: Any) -> tuple[Any, ...]:
    return tuple(to_element(F(e)) for e in entries)


def test_values_gradients_and_minima_of_quadratics() -> None:
    problem = read_problem({"clients": [[{"h": 1, "a": 0}, {"h": 2, "a": 3}], [{"h": 3, "a": -1}]]})
    x = vector(1)
    assert [problem.value(x, 0, 0), problem.value(x, 0, 1), problem.value(x, 1)] == list(vector("1/2", 4, 6))
    assert problem.value(x, 0) == to_element(F(9, 4))
    assert problem.value(x) == to_element(F(33, 8))
    assert problem.gradient(x, 0, 1) == vector(-4)
    assert problem.gradient(x, 0) == vector("-3/2")
    assert problem.gradient(x) == vector("9/4")
    # f = (x^2/2 + (x - 3)^2)/4 + 3 (x + 1)^2/4: f' = (3 x - 6)/4 + 3 (x + 1)/2 = 9 x/4
    assert problem.minimisers(x).points == (vector(0),)
    assert problem.minimisers(x).unique
    assert problem.infimum() == to_element(F(3))
    assert problem.minimisers(x, 1).points == (vector(-1),)


def test_a_flat_of_minimisers_is_given_by_the_nearest_and_its_neighbours() -> None:
    problem = read_problem({"clients": [[{"H": [[1, 1], [1, 1]], "b": [2, 2]}]]})
    found = problem.minimisers(vector(3, 0))
    assert not found.unique
    assert found.points[0] == vector("5/2", "-1/2")  # on x + y = 2, nearest to (3, 0)
    assert len(found.points) == 3
    for point in found.points:
        assert problem.gradient(point) == vector(0, 0)
    assert problem.infimum() == to_element(F(-2))


def test_functions_without_a_minimum() -> None:
    for h, b in ((0, 1), (-1, 0)):
        problem = read_problem({"clients": [[{"h": h, "b": b}]]})
        assert problem.minimisers(vector(0)).points == ()
        assert problem.infimum() is None


def test_a_tiny_step_has_short_ones_to_try() -> None:
    """Beside 1, 2 and 1/2, which a bound on a step excludes, and 0, which a domain does."""
    assert {F(1, 4), F(1, 10)} <= set(simpler(F(1, 1_600_000)))
    assert all(len(str(one)) < len("1/4") for one in simpler(F(1, 4)))


@algorithm(past="J times x0", x="x0")
def old_models(w, past, x, *, eta, alpha):  # type: ignore[no-untyped-def]
    new = x - eta * w.full_gradient(w.combine(alpha, past))
    return w.shift(past, new), new


def test_the_number_of_remembered_vectors_is_the_number_of_weights_where_the_claim_says_it() -> None:
    delayed = claim(
        "delayed", "norm2(x[k] - xstar) <= 4*norm2(x0 - xstar)", of=old_models,
        assuming=("smooth(f, L)", "convex(f)", "eta <= 1/(J*L)", "sum_j(alpha_j) == 1"),
    )  # fmt: skip
    instances = [one for one in (drawn(delayed, seed) for seed in range(40)) if one is not None]
    numbers = {one.values["J"] for one in instances}
    assert len(instances) > 20
    assert len(numbers) > 1
    assert all(len(one.values["alpha"]) == one.values["J"] == one.instance.lengths[0] for one in instances)
    alone = [one for one in instances if max(one.values["alpha"]) == 1 < one.values["J"]]
    assert alone  # all weight on one of several
    base = candidate_of(alone[0])
    way = next(way for way in ways(delayed, base) if way.name == MEMORY)
    grown = longer(delayed, base, way, 5)
    assert grown is not None
    assert (len(grown.values["alpha"]), grown.values["J"], grown.instance.lengths[0]) == (5, 5, 5)
    assert grown.values["eta"] <= 1 / (5 * grown.values["L"])


@given(dim=st.integers(2, 40), seed=st.integers(0, 10**6))
def test_turned_axes_are_orthogonal_and_of_length_1(dim: int, seed: int) -> None:
    axes = turned_axes(dim, random.Random(seed))
    assert (axes @ axes.T == np.eye(dim, dtype=int)).all()
