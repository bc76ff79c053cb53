"""Worst cases: known tight results, certificates that stand and that fall, clients merged and unmerged, brute force."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.inequality.interpolation import smooth_strongly_convex
from theory.inequality.vectors import Form, Space, inner, square
from theory.worst_case.bound import (
    FedAvg,
    GradientDescent,
    StochasticGradientDescent,
    WorstCase,
    unreduced,
    worst_case,
)
from theory.worst_case.certificate import Instance, UpperBound
from theory.worst_case.methods import METRICS, program
from theory.worst_case.program import Point, interpolation

Exact = Fraction


@cache
def federated(clients: int = 8, metric: str = "squared_distance", reduce: bool = True) -> WorstCase:
    """The reference problem: 5 local steps, 2 rounds, L=1, mu=0.1, step 0.1, both bounds 1."""
    method = FedAvg(clients, rounds=2, local_steps=5, step="0.1")
    return worst_case(method, L=1, mu="0.1", distance=1, heterogeneity=1, metric=metric, reduce=reduce)


def encloses(case: WorstCase, value: Fraction, width: float) -> None:
    """The enclosure holds the value, is proved and narrow, and stands the re-check."""
    assert case.status == "proved", case
    assert case.lower is not None
    assert case.upper is not None
    assert case.lower <= value <= case.upper, case
    assert case.upper - case.lower <= width * max(1, value), case
    assert case.check()


# --- known tight results


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_gradient_descent_suboptimality(n: int) -> None:
    """f(x_n) - f* <= L R^2/(4 n + 2) at step 1/L, and no less (Drori and Teboulle 2014, Theorems 3.1 and 3.2)."""
    case = worst_case(GradientDescent(n, 1), L=1, distance=1, metric="suboptimality")
    encloses(case, Exact(1, 4 * n + 2), 1e-6)


@pytest.mark.slow
def test_gradient_descent_forty_steps() -> None:
    encloses(worst_case(GradientDescent(40, 1), L=1, distance=1, metric="suboptimality"), Exact(1, 162), 1e-5)


@pytest.mark.parametrize("step", ["0.5", "1", "1.5"])
def test_gradient_descent_gradient_norm(step: str) -> None:
    """|grad f(x_n)|^2 <= L^2 R^2/(n h + 1)^2 for short steps (Taylor, Hendrickx and Glineur 2017, Section 4.1)."""
    case = worst_case(GradientDescent(4, step), L=1, distance=1, metric="squared_gradient_norm")
    encloses(case, 1 / (4 * Exact(step) + 1) ** 2, 1e-6)


@pytest.mark.parametrize(("step", "mu", "L", "steps"), [("0.5", "0.1", 1, 1), ("1.5", "0.1", 1, 3), ("0.5", 1, 3, 2)])
def test_strongly_convex_contraction(step: str, mu: Any, L: Any, steps: int) -> None:
    """|x_K - x*|^2 <= max((1 - h mu)^2, (1 - h L)^2)^K R^2, attained by quadratics."""
    case = worst_case(GradientDescent(steps, step), L=L, mu=mu, distance=2)
    h = Exact(step)
    encloses(case, 2 * max((1 - h * Exact(mu)) ** 2, (1 - h * Exact(L)) ** 2) ** steps, 1e-5)


def test_initial_gap_under_strong_convexity() -> None:
    """f(x_1) - f* <= max((1 - h mu)^2, (1 - h L)^2) (f(x_0) - f*) (de Klerk, Glineur and Taylor 2017, Theorem 4.2)."""
    case = worst_case(GradientDescent(1, "1.2"), L=1, mu="0.2", gap=3, metric="suboptimality")
    encloses(case, 3 * Exact("0.76") ** 2, 1e-5)


@pytest.mark.parametrize("n", [1, 5])
def test_a_start_bounded_in_value_alone(n: int) -> None:
    """|grad f(x_n)|^2 <= 2 L (f(x_0) - f*)/(2 n + 1) at step 1/L; x* may be far away.

    Source: Kim and Fessler, "Optimizing the efficiency of first-order methods for decreasing the gradient of smooth
    convex functions", J. Optim. Theory Appl. 188 (2021).
    """
    case = worst_case(GradientDescent(n, "1/2"), L=2, gap=3, metric="squared_gradient_norm")
    encloses(case, Exact(12, 2 * n + 1), 1e-6)
    assert case.model.start_is_free


def test_flat_functions_do_not_descend() -> None:
    case = worst_case(FedAvg(1, 2, 2, "0.5"), L=1, gap=2, metric="suboptimality")
    encloses(case, Exact(2), 1e-6)


def test_clients_that_share_a_minimiser_can_climb() -> None:
    """Local steps on different functions are no descent on their mean, even when all have the same minimiser."""
    case = worst_case(FedAvg(3, 2, 2, "0.5"), L=1, gap=2, heterogeneity=0, metric="suboptimality")
    assert case.status == "proved"
    assert case.lower is not None
    assert case.lower > Exact("2.02")
    assert case.check()


def test_an_unbounded_distance_is_undecided() -> None:
    assert worst_case(GradientDescent(2, 1), L=1, gap=1).status == "undecided"


def test_noise_of_one_step_adds_up() -> None:
    """E|x_1 - x*|^2 = contraction R^2 + h^2 sigma^2 at worst."""
    case = worst_case(StochasticGradientDescent(1, "0.5"), L=1, mu="0.1", distance=1, variance=2)
    encloses(case, Exact("0.95") ** 2 + Exact("0.25") * 2, 1e-6)


def test_no_noise_is_gradient_descent() -> None:
    case = worst_case(StochasticGradientDescent(3, "0.5"), L=1, mu="0.1", distance=1, variance=0)
    encloses(case, Exact("0.95") ** 6, 1e-6)


def test_sampling_a_shared_minimiser_contracts() -> None:
    """With grad f_i(x*) = 0 for all i, SGD contracts as gradient descent does, and equal functions attain it."""
    method = FedAvg(2, rounds=2, local_steps=1, step="0.5", participating=1)
    encloses(worst_case(method, L=1, mu="0.1", distance=1, heterogeneity=0), Exact("0.95") ** 4, 1e-5)


# --- federated averaging


def test_one_client_is_gradient_descent() -> None:
    encloses(federated(1), Exact("0.99") ** 20, 1e-6)


@pytest.mark.parametrize("clients", [2, 5])
def test_a_shared_minimiser_contracts_as_gradient_descent(clients: int) -> None:
    method = FedAvg(clients, rounds=2, local_steps=5, step="0.1")
    encloses(worst_case(method, L=1, mu="0.1", distance=1, heterogeneity=0), Exact("0.99") ** 20, 1e-6)


def test_the_reference_problem() -> None:
    case = federated(8)
    assert case.status == "proved"
    assert case.reduced
    assert case.lower is not None
    assert case.upper is not None
    assert abs(case.upper - Exact("0.8385414")) < Exact(1, 10**5)
    assert case.lower > Exact("0.838541")
    assert case.check()


def overlap(one: WorstCase, other: WorstCase) -> None:
    """Two enclosures of the same number."""
    assert one.status == other.status == "proved"
    assert one.lower is not None
    assert one.upper is not None
    assert other.lower is not None
    assert other.upper is not None
    assert one.lower <= other.upper
    assert other.lower <= one.upper


@pytest.mark.parametrize("metric", METRICS)
def test_merged_clients_have_the_worst_case_of_separate_ones(metric: str) -> None:
    method = FedAvg(3, rounds=1, local_steps=2, step="0.5")
    settings = {"L": 1, "mu": "0.1", "distance": 1, "heterogeneity": 1, "metric": metric}
    overlap(worst_case(method, **settings), worst_case(method, **settings, reduce=False))  # type: ignore[arg-type]


def test_two_separate_clients_and_any_number_of_merged_ones() -> None:
    overlap(federated(2, reduce=False), federated(8))
    assert federated(2).upper == federated(4).upper == federated(8).upper == federated(9).upper


def test_two_classes_of_clients() -> None:
    method = FedAvg(4, rounds=1, local_steps=[1, 2, 2, 1], step="0.3")
    settings = {"L": [1, 2, 2, 1], "mu": "0.1", "distance": 1, "heterogeneity": 1}
    merged = worst_case(method, **settings)  # type: ignore[arg-type]
    assert [g.clients for g in merged.model.groups] == [2, 2]
    overlap(merged, worst_case(method, **settings, reduce=False))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "groups"),
    [
        ({}, [3]),
        ({"L": [1, 1, 2]}, [2, 1]),
        ({"mu": [0, "0.1", 0]}, [2, 1]),
        ({"local_steps": [1, 2, 3]}, [1, 1, 1]),
        ({"participating": 2}, [1, 1, 1]),
        ({"participating": 3}, [3]),
        ({"reduce": False}, [1, 1, 1]),
    ],
)
def test_only_clients_that_are_alike_are_merged(change: dict[str, Any], groups: list[int]) -> None:
    method = FedAvg(3, 1, change.pop("local_steps", 1), "0.5", change.pop("participating", None))
    case = worst_case(method, **{"L": 1, "distance": 1, "heterogeneity": 1, **change})
    assert [g.clients for g in case.model.groups] == groups
    assert case.reduced == (max(groups) > 1)


@pytest.mark.parametrize("clients", [2, 4])
def test_the_merged_instance_becomes_explicit_clients(clients: int) -> None:
    """Half of the clients deviate by +d, half by -d: checked against the program in which nothing is merged."""
    case = federated(clients)
    assert case.instance is not None
    small, large = case.program, program(unreduced(case))
    means = dict(zip(small.blocks[0], case.instance.vectors[0], strict=True))
    deviations = dict(zip(small.blocks[1], case.instance.vectors[1], strict=True))
    zero = (Fraction(0),) * len(case.instance.vectors[0][0])
    vectors, values = [], []
    slots = [name for name in small.blocks[0] if name.startswith("mean")]
    for name in large.blocks[0]:
        if name == "x0 - x*":
            vectors.append((*means[name], *[Fraction(0)] * len(case.instance.vectors[1][0])))
            continue
        client = int(name.split("(")[0].removeprefix("grad f"))
        place = name.split("(", 1)[1]
        sign = 1 if client % 2 else -1
        mean, deviation = means.get(f"mean grad f1({place}", zero), deviations[f"deviation of grad f1({place}"]
        vectors.append((*mean, *[sign * c for c in deviation]))
        if place != "x*)":
            values.append(case.instance.values[slots.index(f"mean grad f1({place}")])
    assert Instance(case.instance.value, (tuple(vectors),), tuple(values)).check(large)


# --- certificates


def test_certificates_that_were_tampered_with_fall() -> None:
    case = federated(2)
    proof, instance, problem = case.certificate, case.instance, case.program
    assert proof is not None
    assert instance is not None
    assert proof.check(problem)
    assert instance.check(problem)
    k, y = proof.multipliers[-1]
    rest = proof.multipliers[:-1]
    assert not UpperBound(proof.bound - Exact(1, 10**9), proof.multipliers).check(problem)
    assert not UpperBound(proof.bound, (*rest, (k, y * 2))).check(problem)
    assert not UpperBound(proof.bound, rest).check(problem)
    assert not UpperBound(proof.bound, ((k, -y), *rest)).check(problem)
    assert not UpperBound(proof.bound, (*proof.multipliers, (k, Fraction(0)))).check(problem)
    assert not UpperBound(proof.bound, (*rest, (problem.conditions, y))).check(problem)
    shrunk = tuple([(j, z * Exact(999, 1000)) for j, z in proof.multipliers])
    assert not UpperBound(proof.bound * Exact(999, 1000), shrunk).check(problem)
    assert not replace(instance, value=instance.value + Exact(1, 10**15)).check(problem)
    assert not replace(instance, vectors=instance.vectors[:1]).check(problem)
    larger = tuple([tuple([tuple([c * 2 for c in v]) for v in block]) for block in instance.vectors])
    assert not replace(instance, vectors=larger).check(problem)
    assert not replace(case, upper=Exact(1, 2)).check()
    assert not replace(case, lower=Exact(2)).check()


def test_units() -> None:
    """f(x) -> c f(x/s) scales what it should."""
    plain = worst_case(GradientDescent(2, 1), L=1, distance=1, metric="suboptimality")
    scaled = worst_case(GradientDescent(2, "1/4"), L=4, distance=9, metric="suboptimality")
    assert plain.upper is not None
    assert scaled.upper == 36 * plain.upper
    scaled = worst_case(GradientDescent(2, 0.25), L=4, distance="9", metric="squared_gradient_norm")
    plain = worst_case(GradientDescent(2, 1.0), L=1, distance=1, metric="squared_gradient_norm")
    assert plain.lower is not None
    assert scaled.lower == 144 * plain.lower


def test_small_and_large_values_are_found_to_the_same_digits() -> None:
    """The objective is scaled anew once its size is known."""
    small = worst_case(GradientDescent(4, "4/3"), L=1, mu="1/2", distance=1)
    encloses(small, Exact(1, 3) ** 8, 1e-9)
    large = worst_case(GradientDescent(3, 11), L=1, mu="0.5", distance=1)
    encloses(large, Exact(10) ** 6, 1e-5)


def test_what_a_result_says() -> None:
    case = federated(2)
    lower, upper = case.decimals(6)
    assert (lower, upper) == ("0.838541", "0.838542")
    assert "0.83854" in str(case)
    assert json.loads(json.dumps(case.to_json()))["upper"] == str(case.upper)
    assert case.value == pytest.approx(0.8385414, abs=1e-6)


def test_an_unbounded_class_is_undecided() -> None:
    case = worst_case(FedAvg(3, 2, 2, "0.5"), L=1, distance=1)
    assert (case.status, case.upper, case.lower) == ("undecided", None, None)
    assert "heterogeneity" in str(case)
    assert case.decimals() == (None, None)
    assert case.to_json()["value"] is None
    assert case.check()


# --- against brute force


def quadratics(data: Any, clients: int, mu: float, dim: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Random Hessians (N, d, d), eigenvalues in [mu, 1]; gradients (N, d) at x* = 0 of mean zero, mean square <= 1."""
    numbers = st.floats(-1, 1)
    hessians = []
    for _ in range(clients):
        angle = np.pi * data.draw(numbers)
        spectrum = [mu + (1 - mu) * abs(data.draw(numbers)) for _ in range(dim)]
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        hessians.append(turn @ np.diag(spectrum) @ turn.T)
    b = np.array([[data.draw(numbers) for _ in range(dim)] for _ in range(clients)])
    b = b - b.mean(axis=0)
    size = np.mean(np.sum(b**2, axis=1))
    return np.array(hessians), b / max(1.0, np.sqrt(size)) if size > 1e-12 else 0 * b


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.data())
def test_no_quadratic_federation_exceeds_the_bound(data: Any) -> None:
    case = federated(8)
    assert case.upper is not None
    hessians, b = quadratics(data, data.draw(st.integers(2, 4)), 0.1)
    angle = np.pi * data.draw(st.floats(-1, 1))
    x = np.array([np.cos(angle), np.sin(angle)])
    for _ in range(2):
        y = np.tile(x, (len(b), 1))
        for _ in range(5):
            y = y - 0.1 * (np.einsum("nij,nj->ni", hessians, y) + b)
        x = y.mean(axis=0)
    assert x @ x <= float(case.upper) * (1 + 1e-12)


@cache
def sampled() -> WorstCase:
    """Two of three clients a round, 2 rounds, 2 local steps."""
    method = FedAvg(3, 2, 2, "0.5", participating=2)
    return worst_case(method, L=1, mu="0.1", distance=1, heterogeneity=1)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.data())
def test_no_sampled_federation_exceeds_the_bound(data: Any) -> None:
    case = sampled()
    assert case.upper is not None
    hessians, b = quadratics(data, 3, 0.1)
    models = [np.array([1.0, 0.0])]
    for _ in range(2):
        fresh = []
        for x in models:
            y = np.tile(x, (3, 1))
            for _ in range(2):
                y = y - 0.5 * (np.einsum("nij,nj->ni", hessians, y) + b)
            fresh += [y[list(pair)].mean(axis=0) for pair in itertools.combinations(range(3), 2)]
        models = fresh
    assert np.mean([x @ x for x in models]) <= float(case.upper) * (1 + 1e-12)


def test_the_sampled_bound_is_attained() -> None:
    case = sampled()
    assert case.status == "proved"
    assert case.check()


# --- against other programs


def by_cvxpy(steps: int, step: float, mu: float, metric: str) -> float:
    """Gradient descent, L = R = 1, by the primal problem, written anew: G of (x0, g_0, ..), values f_0, .., f_n."""
    import cvxpy as cp

    n = steps + 2
    gram, f = cp.Variable((n, n), PSD=True), cp.Variable(steps + 1)
    unit = np.eye(n)
    x = [unit[0] - step * unit[1 : k + 1].sum(axis=0) for k in range(steps + 1)] + [np.zeros(n)]
    g = [*unit[1:], np.zeros(n)]
    values = [*[f[k] for k in range(steps + 1)], 0.0]

    def dot(u: np.ndarray, v: np.ndarray) -> Any:
        return cp.sum(cp.multiply(gram, np.outer(u, v)))

    rules = [gram[0, 0] <= 1]
    for i, j in itertools.permutations(range(steps + 2), 2):
        d, e = g[i] - g[j], x[i] - x[j]
        rest = (dot(d, d) + mu * dot(e, e) - 2 * mu * dot(d, e)) / (2 * (1 - mu))
        rules.append(values[i] >= values[j] + dot(g[j], e) + rest)
    goal = {"suboptimality": f[steps], "squared_distance": dot(x[steps], x[steps])}[metric]
    problem = cp.Problem(cp.Maximize(goal), rules)
    problem.solve(solver="CLARABEL")
    return float(problem.value)


@pytest.mark.parametrize(
    ("step", "mu", "metric"),
    [("1.9", 0.0, "suboptimality"), ("1.7", 0.25, "suboptimality"), ("1.7", 0.25, "squared_distance")],
)
def test_against_cvxpy(step: str, mu: float, metric: str) -> None:
    case = worst_case(GradientDescent(3, step), L=1, mu=mu, distance=1, metric=metric)
    assert case.status == "proved"
    assert case.value == pytest.approx(by_cvxpy(3, float(step), mu, metric), abs=2e-6)


@pytest.mark.parametrize(("mu", "L"), [(Exact(0), Exact(1)), (Exact(1, 10), Exact(3))])
def test_interpolation_conditions_are_those_of_the_prover(mu: Fraction, L: Fraction) -> None:
    """The families of the program and `theory.inequality.interpolation` were written apart."""
    space = Space(("a", "g", "h"), ("f1", "f2", "f3"))
    a, g, h = (space.vector(name) for name in ("a", "g", "h"))
    zero = 0 * a
    xs, gs = [a, a - g / 2, zero], [g, h, zero]
    points = [(x, s, space.value(f)) for x, s, f in zip(xs, gs, ("f1", "f2", "f3"), strict=True)]
    theirs = {form_key(condition.form) for condition in smooth_strongly_convex(space, points, mu, L)}
    vectors = [*xs, *gs]
    family = interpolation("f", [Point(0, 3, 0), Point(1, 4, 1)], Point(2, 5, 2), mu, L)
    ours = set()
    for support, values in zip(family.supports.tolist(), family.values.tolist(), strict=True):
        form = 0 * square(a)
        for (i, p), (j, q) in itertools.product(enumerate(support), repeat=2):
            form = form + family.form[i][j] * inner(vectors[p], vectors[q])
        for slope, value in zip(family.slopes, values, strict=True):
            form = form + slope * space.value(f"f{value + 1}")
        ours.add(form_key(form))
    assert len(ours) == 6
    assert ours == theirs


def form_key(form: Form) -> str:
    """A form as text, the same for equal forms."""
    return str(form)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning:PEPit", "ignore::Warning:cvxpy")
def test_against_pepit() -> None:
    """The three problems of `benchmarks/worst_case.py` that are quick for PEPit (its floats are good to about 1e-5)."""
    from benchmarks.worst_case import PROBLEMS, pepit

    for name in ("gradient descent, 10 steps", "FedAvg, 2 clients, 5 local steps, 2 rounds"):
        kind, sizes, known = PROBLEMS[name]
        value = pepit(kind, sizes)["value"]
        descent = worst_case(GradientDescent(10, 1), L=1, distance=1, metric="suboptimality")
        case = federated(2) if kind == "fedavg" else descent
        assert value == pytest.approx(known, abs=2e-5)
        assert case.value == pytest.approx(value, abs=2e-5)
