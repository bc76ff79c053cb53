"""The exact oracle of shuffling local SGD against a walk through all orders and samples, and against what must hold."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, ShufflingSGD
from sim.exact import moments
from sim.exact_moments import DivergenceError
from sim.exact_numbers import FLOATS
from sim.exact_orders import expected_product
from sim.exact_shuffling import ShufflingMoments, sampled_shuffling_moments, shuffling_moments
from sim.problems.generators import from_samples, quadratic, scalar
from sim.problems.quadratic import Quadratic
from sim.shuffling import run_shuffling
from tests.rationals import rationals
from tests.sim.enumeration import Law, Sample, Vector, add, dot, expect, scale, subtract, zero

FIELDS = (
    "mean",
    "second_moment",
    "squared_gradient_norm",
    "suboptimality",
    "cost",
    "squared_iterate_norm",
    "squared_distance",
)
Clients = tuple[tuple[Sample, ...], ...]


def line(h: Any, b: Any, c: Any = 0) -> Sample:
    """h/2 v^2 - b v + c."""
    return Sample(((F(h),),), (F(b),), F(c))


def plane(h: tuple[Any, Any, Any], b: tuple[Any, Any]) -> Sample:
    """In two dimensions: Hessian entries 11, 12, 22."""
    first, mixed, last = map(F, h)
    return Sample(((first, mixed), (mixed, last)), (F(b[0]), F(b[1])), F(1, 3))


def problem_of(clients: Clients, exact: bool = True) -> Quadratic:
    number: Any = F if exact else float
    return from_samples(
        [[[[number(x) for x in row] for row in f.hessian] for f in own] for own in clients],
        [[[number(x) for x in f.linear] for f in own] for own in clients],
        [[number(f.offset) for f in own] for own in clients],
        exact=exact,
    )


def every_end(samples: tuple[Sample, ...], v: Vector, rate: F, local_steps: int) -> Law:
    """Where `local_steps` sampled steps lead from v, and with what probability."""
    law: Law = {v: F(1)}
    for _ in range(local_steps):
        following: Law = defaultdict(F)
        for x, chance in law.items():
            for f in samples:
                following[subtract(x, scale(rate, f.gradient(x)))] += chance / len(samples)
        law = following
    return law


def every_epoch(clients: Clients, alpha: Vector, step: F, local_steps: int, start: Vector, epochs: int) -> list[Law]:
    """Algorithm 4, without projection: the law of v^r for r = 0..R, by walking through every order."""
    laws: list[Law] = [{start: F(1)}]
    orders = list(itertools.permutations(range(len(clients))))
    for _ in range(epochs):
        following: Law = defaultdict(F)
        for order in orders:
            law = laws[-1]
            for c in order:
                moved: Law = defaultdict(F)
                for v, chance in law.items():
                    rate = step * alpha[c] * len(clients)
                    for end, weight in every_end(clients[c], v, rate, local_steps).items():
                        moved[end] += chance * weight
                law = moved
            for v, chance in law.items():
                following[v] += chance / len(orders)
        laws.append(following)
    return laws


def objective(clients: Clients, alpha: Vector, v: Vector) -> tuple[F, Vector]:
    """Phi(v) and its gradient."""
    value, slope = F(0), zero(v)
    for own, weight in zip(clients, alpha, strict=True):
        for f in own:
            value += weight * f.value(v) / len(own)
            slope = add(slope, scale(weight / len(own), f.gradient(v)))
    return value, slope


def check_against(found: ShufflingMoments, laws: list[Law], clients: Clients, alpha: Vector) -> None:
    """Every field that can be told from the laws, exactly."""
    d = len(next(iter(laws[0])))
    for r, law in enumerate(laws):
        assert tuple(found.mean[r]) == tuple(expect(law, lambda v, i=i: v[i]) for i in range(d))
        for i, j in itertools.product(range(d), repeat=2):
            assert found.second_moment[r, i, j] == expect(law, lambda v, i=i, j=j: v[i] * v[j])
        assert found.squared_iterate_norm[r] == expect(law, lambda v: dot(v, v))
        assert found.cost[r] == expect(law, lambda v: objective(clients, alpha, v)[0])
        norm = expect(law, lambda v: dot(objective(clients, alpha, v)[1], objective(clients, alpha, v)[1]))
        assert found.squared_gradient_norm[r] == norm


FIVE = tuple((line(h, b),) for h, b in [(1, 1), (2, -1), ("1/3", 4), ("3/2", 0), (1, "-5/2")])
INSTANCES: list[tuple[Clients, tuple[Any, ...], Any, int, tuple[Any, ...], int]] = [
    (FIVE, ("1/10", "3/10", "1/5", "1/5", "1/5"), "1/7", 2, (3,), 1),
    (FIVE[:3], ("1/2", "1/3", "1/6"), "1/4", 3, (-2,), 2),
    (((line(1, 1), line(3, 0)), (line(2, 5),), (line("1/2", 1), line(0, 2))), ("1/4", "1/2", "1/4"), "1/5", 2, (1,), 1),
    (((line(1, 2), line(1, 0, 7)), (line(-1, 1), line(2, 2))), ("2/3", "1/3"), "1/3", 1, (2,), 2),
    ((FIVE[0], FIVE[1], FIVE[2], FIVE[3]), ("1/2", 0, "1/2", 0), "1/8", 1, ("1/9",), 1),
    (
        (
            (plane((2, 1, 1), (1, 0)), plane((1, 0, 0), (0, 1))),
            (plane((1, -1, 3), (2, 2)),),
            (plane((1, "1/2", 1), (0, -3)),),
        ),
        ("1/6", "1/3", "1/2"),
        "1/6",
        2,
        (1, -2),
        1,
    ),
    ((FIVE[0], FIVE[4]), (2, 3), "1/9", 2, (0,), 3),
]


@pytest.mark.parametrize("index", range(len(INSTANCES)))
def test_it_agrees_with_every_order_and_every_sample(index: int) -> None:
    clients, weights, eta, local_steps, start, epochs = INSTANCES[index]
    alpha, step, begin = tuple(map(F, weights)), F(eta), tuple(map(F, start))
    algorithm = ShufflingSGD(step, local_steps, alpha)
    found = shuffling_moments(algorithm, problem_of(clients), epochs=epochs, start=begin)
    assert found.epochs == epochs
    check_against(found, every_epoch(clients, alpha, step, local_steps, begin, epochs), clients, alpha)
    floats = shuffling_moments(
        ShufflingSGD(float(step), local_steps, tuple(map(float, alpha))),
        problem_of(clients, exact=False),
        epochs=epochs,
        start=[float(x) for x in begin],
    )
    for name in FIELDS:
        exact, rounded = getattr(found, name), getattr(floats, name)
        assert (exact is None) == (rounded is None)
        if exact is not None:
            np.testing.assert_allclose(rounded, exact.astype(float), rtol=1e-11, atol=1e-12)


def test_gap_and_distance_are_from_the_minimiser_of_the_weighted_sum() -> None:
    clients, alpha = FIVE[:2], (F(1, 4), F(3, 4))
    found = shuffling_moments(ShufflingSGD(F(1, 5), 1, alpha), problem_of(clients), epochs=1, start=[F(3)])
    curvature, slope = F(1, 4) + F(3, 2), F(1, 4) - F(3, 4)
    best = slope / curvature
    laws = every_epoch(clients, alpha, F(1, 5), 1, (F(3),), 1)
    for r, law in enumerate(laws):
        distance = expect(law, lambda v: (v[0] - best) ** 2)
        assert found.squared_distance is not None
        assert found.squared_distance[r] == distance
        assert found.suboptimality is not None
        assert found.suboptimality[r] == curvature / 2 * distance


def test_one_epoch_of_two_clients_done_by_hand() -> None:
    """step alpha N = 1/4: client 1 (h=1, b=1) makes 3v/4 + 1/4, client 2 (h=2, b=0) makes v/2."""
    problem = problem_of(((line(1, 1),), (line(2, 0),)))
    found = shuffling_moments(ShufflingSGD(F(1, 4), 1, (F(1, 2), F(1, 2))), problem, epochs=1, start=[F(4)])
    ends = (F(13, 8), F(7, 4))  # (3*4/4 + 1/4)/2, and 3*2/4 + 1/4
    assert found.mean[1, 0] == sum(ends) / 2
    assert found.second_moment[1, 0, 0] == sum(x * x for x in ends) / 2
    assert found.squared_gradient_norm[1] == sum((F(3, 2) * x - F(1, 2)) ** 2 for x in ends) / 2


def test_none_where_there_is_no_minimum_or_more_than_one() -> None:
    concave = problem_of(((line(-1, 1),), (line(F(1, 2), 1),)))
    found = shuffling_moments(ShufflingSGD(F(1, 4), 1, (F(1, 2), F(1, 2))), concave, epochs=1, start=[F(1)])
    assert found.suboptimality is None
    assert found.squared_distance is None
    flat = problem_of(((plane((1, 0, 0), (0, 0)),), (plane((2, 0, 0), (0, 0)),)))
    found = shuffling_moments(ShufflingSGD(F(1, 4), 1, (F(1, 2), F(1, 2))), flat, epochs=1, start=[F(1), F(1)])
    assert found.squared_distance is None
    assert found.suboptimality is not None
    assert found.suboptimality[0] == F(3, 4)


def test_the_objective_of_eq_3_is_a_factor() -> None:
    problem, algorithm = problem_of(FIVE[:3]), ShufflingSGD(F(1, 5), 1, (F(1, 2), F(1, 3), F(1, 6)))
    plain = shuffling_moments(algorithm, problem, epochs=2, start=[F(1)])
    scaled = plain.scaled(F(1, 3))
    divided = ShufflingSGD(F(3, 5), 1, (F(1, 6), F(1, 9), F(1, 18)))
    direct = shuffling_moments(divided, problem, epochs=2, start=[F(1)])
    for name in FIELDS:
        assert np.all(getattr(scaled, name) == getattr(direct, name))
    assert np.all(scaled.squared_gradient_norm * 9 == plain.squared_gradient_norm)


# what must hold

numbers = rationals(-3, 3, 6)
positive = rationals(F(1, 6), 3, 6)


@st.composite
def cases(draw: Any, least: int = 1, most: int = 4) -> tuple[Clients, tuple[F, ...], F, int, F]:
    """Clients, weights, step, local steps, start."""
    size = draw(st.integers(least, most))
    clients = tuple(
        tuple(line(draw(positive), draw(numbers)) for _ in range(draw(st.integers(1, 2)))) for _ in range(size)
    )
    alpha = tuple(draw(rationals(0, 1, 6)) for _ in range(size))
    return clients, alpha, draw(positive) / 6, draw(st.integers(1, 3)), draw(numbers)


def run(case: Any, epochs: int = 2, **changes: Any) -> ShufflingMoments:
    clients, alpha, step, local_steps, start = case
    alpha, step, start = changes.get("alpha", alpha), changes.get("step", step), changes.get("start", start)
    algorithm = ShufflingSGD(step, local_steps, alpha)
    return shuffling_moments(algorithm, problem_of(changes.get("clients", clients)), epochs=epochs, start=[start])


def same(one: ShufflingMoments, other: ShufflingMoments, names: tuple[str, ...] = FIELDS) -> None:
    for name in names:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        assert a is None or np.all(a == b), name


@settings(deadline=None, max_examples=15)
@given(cases(most=1))
def test_one_client_is_plain_sgd(case: Any) -> None:
    clients, _, step, local_steps, start = case
    found = run(case, alpha=(F(1),))
    plain = moments(FedAvg(step, local_steps), problem_of(clients), rounds=2, start=[start])
    for name in FIELDS[:-1]:
        assert np.all(getattr(found, name) == getattr(plain, name))


@settings(deadline=None, max_examples=12)
@given(cases(most=1), st.integers(2, 4))
def test_equal_clients_are_one_that_takes_all_their_steps(case: Any, size: int) -> None:
    clients, _, step, local_steps, start = case
    found = run((clients * size, (F(1, size),) * size, step, local_steps, start))
    plain = moments(FedAvg(step, size * local_steps), problem_of(clients), rounds=2, start=[start])
    for name in FIELDS[:-1]:
        assert np.all(getattr(found, name) == getattr(plain, name))


@settings(deadline=None, max_examples=15)
@given(cases(least=2), st.randoms(use_true_random=False))
def test_the_names_of_the_clients_do_not_matter(case: Any, random: Any) -> None:
    order = list(range(len(case[0])))
    random.shuffle(order)
    same(run(case), run(case, clients=tuple(case[0][c] for c in order), alpha=tuple(case[1][c] for c in order)))


@settings(deadline=None, max_examples=15)
@given(cases(), positive)
def test_weights_and_step_come_as_a_product(case: Any, factor: F) -> None:
    other = run(case, alpha=tuple(factor * w for w in case[1]), step=case[2] / factor)
    same(run(case), other, ("mean", "second_moment"))


@settings(deadline=None, max_examples=15)
@given(cases(), positive)
def test_a_change_of_units(case: Any, factor: F) -> None:
    longer = tuple(tuple(line(f.hessian[0][0], factor * f.linear[0]) for f in own) for own in case[0])
    one, other = run(case), run(case, clients=longer, start=factor * case[4])
    assert np.all(other.mean == factor * one.mean)
    for name in ("second_moment", "squared_gradient_norm", "squared_iterate_norm", "cost"):
        assert np.all(getattr(other, name) == factor**2 * getattr(one, name))


@settings(deadline=None, max_examples=12)
@given(cases(most=3))
def test_a_client_without_weight_only_counts(case: Any) -> None:
    clients, alpha, step, *_ = case
    size = len(clients)
    more = run(case, clients=(*clients, (line(2, 1),)), alpha=(*alpha, F(0)), step=step * F(size, size + 1))
    same(run(case), more)


@settings(deadline=None, max_examples=12)
@given(cases(), numbers)
def test_clients_that_agree_on_their_minimiser_stay_there(case: Any, best: F) -> None:
    agreeing = tuple(tuple(line(f.hessian[0][0], f.hessian[0][0] * best) for f in own) for own in case[0])
    found = run(case, clients=agreeing, start=best)
    assert np.all(found.mean == best)
    assert np.all(found.second_moment == best * best)


@settings(deadline=None, max_examples=15)
@given(cases(), positive)
def test_many_epochs_at_once_are_as_many_one_by_one(case: Any, later: F) -> None:
    """More than three epochs with one step are worked out on a basis; a schedule of steps that differ is not."""
    together, few = run(case, epochs=5), run(case, epochs=2)
    schedule = run(case, epochs=5, step=(case[2],) * 2 + (later / 6,) * 3)
    for name in ("mean", "second_moment", "squared_gradient_norm"):
        assert np.all(getattr(together, name)[:3] == getattr(few, name))
        assert np.all(getattr(schedule, name)[:3] == getattr(few, name))


def test_relative_accuracy_is_kept_where_everything_converges() -> None:
    """In floats, at 1e-100: clients that agree on their minimiser, far from the origin."""
    exact = scalar([[1], [F(1, 2)]], [[1000], [1000]], exact=True)
    floats = scalar([[1.0], [0.5]], [[1000.0], [1000.0]])
    fractions = shuffling_moments(ShufflingSGD(F(1, 2), 2, (F(1, 2), F(1, 2))), exact, epochs=80, start=[F(3)])
    rounded = shuffling_moments(ShufflingSGD(0.5, 2, (0.5, 0.5)), floats, epochs=80, start=[3.0])
    assert rounded.squared_distance is not None
    assert fractions.squared_distance is not None
    assert 0 < fractions.squared_distance[-1] < F(1, 10**100)
    np.testing.assert_allclose(rounded.squared_distance, fractions.squared_distance.astype(float), rtol=1e-10)


def test_the_recursion_over_subsets_against_all_orders_of_matrices() -> None:
    rng = np.random.default_rng(0)
    maps, x = rng.normal(size=(6, 3, 3)) / 2, rng.normal(size=(2, 3))
    total = np.zeros((2, 3))
    for order in itertools.permutations(range(6)):
        y = x
        for c in order:
            y = y @ maps[c]
        total += y / 720
    np.testing.assert_allclose(expected_product(FLOATS, maps, x), total, rtol=1e-10, atol=1e-12)


# Algorithm 3 is FedAvg with everybody


@pytest.mark.parametrize("aggregation", ["normalised", "unbiased"])
def test_local_sgd_of_algorithm_3_is_fedavg_of_everybody(aggregation: Any) -> None:
    """w_i = w; K times w_i -= gamma g_i(w_i); w = mean of the w_i: all samples, two rounds, K = 2."""
    clients: Clients = ((line(1, 1), line(3, 0)), (line(2, 5),), (line("1/2", 1), line(0, 2)))
    step, local_steps = F(1, 5), 2
    laws: list[Law] = [{(F(2),): F(1)}]
    for _ in range(2):
        following: Law = defaultdict(F)
        for w, chance in laws[-1].items():
            ends = [every_end(own, w, step, local_steps).items() for own in clients]
            for outcome in itertools.product(*ends):
                probability, total = chance, zero(w)
                for end, weight in outcome:
                    probability, total = probability * weight, add(total, end)
                following[scale(F(1, 3), total)] += probability
        laws.append(following)
    found = moments(FedAvg(step, local_steps, aggregation), problem_of(clients), rounds=2, start=[F(2)])
    for r, law in enumerate(laws):
        assert found.mean[r, 0] == expect(law, lambda w: w[0])
        assert found.second_moment[r, 0, 0] == expect(law, lambda w: w[0] * w[0])
        alpha = (F(1, 3),) * 3
        assert found.squared_gradient_norm[r] == expect(law, lambda w: objective(clients, alpha, w)[1][0] ** 2)  # noqa: B023


# Monte Carlo

SIGMAS = 6
"""Two-sided, under the normal approximation: 2e-9 a comparison; each test makes fewer than 300, so below 6e-7."""


def random_case(seed: int, clients: int, dim: int, samples: int) -> tuple[ShufflingSGD, Quadratic, np.ndarray]:
    rng = np.random.default_rng(seed)
    problem = quadratic(clients, dim, 0.1, 1.0, 1.0, seed=seed, samples=samples, sample_spread=0.5 * (samples > 1))
    return ShufflingSGD(0.1, 2, tuple(rng.dirichlet(np.ones(clients)))), problem, rng.normal(size=dim)


@pytest.mark.parametrize(("seed", "clients", "dim", "samples"), [(0, 2, 1, 2), (1, 4, 3, 3), (2, 7, 2, 1)])
def test_the_estimate_over_sampled_orders(seed: int, clients: int, dim: int, samples: int) -> None:
    algorithm, problem, start = random_case(seed, clients, dim, samples)
    exact = shuffling_moments(algorithm, problem, epochs=4, start=start)
    found = sampled_shuffling_moments(algorithm, problem, epochs=4, start=start, runs=3000, seed=seed)
    assert found.runs == 3000
    for name in FIELDS:
        expected, error = getattr(exact, name), getattr(found.standard_error, name)
        assert np.all(np.abs(getattr(found.estimate, name) - expected) <= SIGMAS * error + 1e-10 * np.abs(expected))
        assert np.all(error[2:] > 0)


@pytest.mark.parametrize(("seed", "clients", "dim", "samples"), [(3, 3, 2, 2), (4, 5, 1, 3), (5, 6, 3, 1)])
def test_the_simulator_agrees(seed: int, clients: int, dim: int, samples: int) -> None:
    algorithm, problem, start = random_case(seed, clients, dim, samples)
    exact = shuffling_moments(algorithm, problem, epochs=4, start=start)
    names = ("iterate", "squared_gradient_norm", "cost", "squared_iterate_norm")
    trace = run_shuffling(algorithm, problem, epochs=4, runs=6000, seed=seed, start=start, metrics=names)
    for name in names:
        values, expected = trace[name], getattr(exact, "mean" if name == "iterate" else name)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert np.all(np.abs(values.mean(axis=0) - expected) <= SIGMAS * error + 1e-9 * (1 + np.abs(expected)))


def test_an_estimate_beyond_the_recursion() -> None:
    """N = 30 equal clients: the order does not matter, and the standard error says so."""
    problem = scalar([[1.0]] * 30, [[2.0]] * 30)
    algorithm = ShufflingSGD(0.1, 1, (1 / 30,) * 30)
    with pytest.raises(ValueError, match="sampled_shuffling_moments"):
        shuffling_moments(algorithm, problem, epochs=1, start=[0.0])
    found = sampled_shuffling_moments(algorithm, problem, epochs=1, start=[0.0], runs=10)
    np.testing.assert_allclose(found.estimate.mean[1], 2 - 2 * 0.9**30, rtol=1e-12)
    assert found.standard_error.mean[1, 0] < 1e-14


def test_an_exact_problem_is_sampled_in_floats() -> None:
    problem = problem_of(FIVE[:3])
    algorithm = ShufflingSGD(F(1, 9), 1, (F(1, 3),) * 3)
    found = sampled_shuffling_moments(algorithm, problem, epochs=2, start=[F(1)], runs=200)
    assert found.estimate.cost.dtype == np.float64
    again = sampled_shuffling_moments(algorithm, problem, epochs=2, start=[F(1)], runs=200)
    assert np.all(found.estimate.second_moment == again.estimate.second_moment)


# arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": -1}, "epochs=-1"),
        ({"epochs": True}, "epochs=True"),
        ({"start": [1, 2]}, "shape"),
        ({"start": [0.5]}, "rational"),
        ({"algorithm": ShufflingSGD(F(1, 2), 1, (F(1),))}, "weights has 1"),
        ({"algorithm": ShufflingSGD(F(1, 2), 1, (F(1, 2), 0.5))}, "rational"),
        ({"algorithm": ShufflingSGD((F(1, 2),), 1, (F(1, 2), F(1, 2)))}, "step has 1"),
        ({"algorithm": ShufflingSGD(F(1, 2), 1, ((F(1), F(0)), (F(0), F(1))))}, "one model"),
        ({"algorithm": FedAvg(F(1, 2), 1)}, "ShufflingSGD"),
        ({"problem": 3}, "Quadratic"),
    ],
)
def test_arguments_outside_their_domain(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "algorithm": ShufflingSGD(F(1, 2), 1, (F(1, 2), F(1, 2))),
        "problem": problem_of(FIVE[:2]),
        "epochs": 2,
        "start": [F(1)],
        **changes,
    }
    with pytest.raises(ValueError, match=message):
        shuffling_moments(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, (1,)), "step=0"),
        ((1, 0, (1,)), "local_steps=0"),
        ((1, 1, ()), "weights"),
        ((1, 1, "1"), "weights"),
        ((1, 1, (1, -1)), r"weights\[1\]=-1"),
        ((1, 1, (float("nan"),)), r"weights\[0\]=nan"),
        ((1, 1, ((1, 0), (1,))), "rows"),
        ((1, 1, ((1,), (1,))), "rows"),
        ((1, 1, ((1, 0), 1)), "rows"),
        ((1, 1, (True, 1)), r"weights\[0\]=True"),
    ],
)
def test_an_algorithm_that_is_none(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ShufflingSGD(*arguments)


def test_divergence_is_refused_in_floats() -> None:
    problem = scalar([[1.0], [2.0]], [[1.0], [0.0]])
    with pytest.raises(DivergenceError, match="step=100"):
        shuffling_moments(ShufflingSGD(100.0, 3, (0.5, 0.5)), problem, epochs=60, start=[1.0])


def test_one_run_has_no_standard_error() -> None:
    with pytest.raises(ValueError, match="runs=1"):
        sampled_shuffling_moments(ShufflingSGD(1.0, 1, (1.0,)), scalar([[1.0]], [[1.0]]), epochs=1, start=[0.0], runs=1)
