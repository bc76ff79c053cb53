"""The exact oracle against enumeration of the algorithms, and in floats against itself in fractions."""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.exact import BASIS_LIMIT, Moments, moments
from sim.participation import Bernoulli, UniformChoice
from sim.problems.generators import from_samples, least_squares, quadratic
from tests.rationals import rationals
from tests.sim.enumeration import Enumerated, Instance, Sample, enumerate_moments

FIELDS = ("mean", "second_moment", "squared_gradient_norm", "cost", "squared_iterate_norm")
TABLES = ("estimator", "inner_product", "displacement")
SUMS = ("drift_sum", "weighted_sum", "lexicographic_drift_sum")


def line(h: Any, a: Any) -> Sample:
    """h/2 (t - a)^2."""
    h, a = F(h), F(a)
    return Sample(((h,),), (h * a,), h * a * a / 2)


def clients(*samples: list[tuple[Any, Any]]) -> tuple[tuple[Sample, ...], ...]:
    return tuple(tuple(line(h, a) for h, a in own) for own in samples)


def rows(p: Any, rounds: int) -> tuple[tuple[F, ...], ...]:
    return (tuple(F(x) for x in p),) * rounds


def oracle(instance: Instance, *, exact: bool = True, schedules: bool = False) -> Moments:
    """`moments` of an instance, its step and p given as constants unless `schedules` or they vary."""
    number = F if exact else float
    problem = from_samples(
        [[[[number(x) for x in row] for row in f.hessian] for f in own] for own in instance.clients],
        [[[number(x) for x in f.linear] for f in own] for own in instance.clients],
        [[number(f.offset) for f in own] for own in instance.clients],
        exact=exact,
    )
    step: Any = tuple(number(x) for x in instance.steps)
    if not schedules and len(set(step)) == 1:
        step = step[0]
    rules = {"aggregation": instance.aggregation, "empty": instance.empty}
    algorithm: Any = (
        FedAvg(step, instance.inner, **rules)
        if instance.snapshots is None
        else FedAvgSVRG(step, instance.snapshots, instance.inner, **rules)
    )
    if instance.size is not None:
        participation: Any = UniformChoice(instance.size)
    else:
        p = [[number(x) for x in row] for row in instance.p or ()]
        participation = Bernoulli(p if schedules or any(row != p[0] for row in p) else p[0])
    start = [number(x) for x in instance.start]
    return moments(algorithm, problem, participation, rounds=len(instance.steps), start=start)


def minimum(samples: tuple[Sample, ...]) -> F:
    """min of a strictly convex client in one or two dimensions, by Cramer's rule."""
    n, d = len(samples), len(samples[0].linear)
    h = [[sum(f.hessian[i][j] for f in samples) / n for j in range(d)] for i in range(d)]
    b = [sum(f.linear[i] for f in samples) / n for i in range(d)]
    if d == 1:
        x: tuple[F, ...] = (b[0] / h[0][0],)
    else:
        det = h[0][0] * h[1][1] - h[0][1] * h[1][0]
        x = ((b[0] * h[1][1] - b[1] * h[0][1]) / det, (h[0][0] * b[1] - h[1][0] * b[0]) / det)
    return sum((f.value(x) for f in samples), F(0)) / n


def assert_equal(found: Moments, truth: Enumerated, instance: Instance) -> None:
    """Equality of fractions, everywhere."""
    for name in FIELDS + TABLES:
        values = getattr(found, name)
        assert all(type(x) is F for x in values.ravel()), name
        assert np.array_equal(values, np.array(getattr(truth, name), dtype=object)), name
    assert found.local_suboptimality is not None
    minima = np.array([minimum(own) for own in instance.clients], dtype=object)[None, :, None, None]
    assert np.array_equal(found.local_suboptimality, np.array(truth.client_cost, dtype=object) - minima)
    mean_minimum = minimum(tuple(average(own) for own in instance.clients))
    assert np.array_equal(found.suboptimality, np.array(truth.cost, dtype=object) - mean_minimum)
    for name in SUMS:
        value = getattr(found, name)()
        assert type(value) is F
        assert value == getattr(truth, name), name
    average_norm = sum(truth.squared_gradient_norm[:-1]) / len(instance.steps)
    assert found.mean_squared_gradient_norm() == average_norm
    if instance.size is None and instance.aggregation == "unbiased":
        assert found.aggregate is not None
        assert found.aggregate.tolist() == truth.aggregate
    else:
        assert found.aggregate is None


def average(samples: tuple[Sample, ...]) -> Sample:
    """A client's mean function."""
    n, d = len(samples), len(samples[0].linear)
    return Sample(
        tuple(tuple(sum((f.hessian[i][j] for f in samples), F(0)) / n for j in range(d)) for i in range(d)),
        tuple(sum((f.linear[i] for f in samples), F(0)) / n for i in range(d)),
        sum((f.offset for f in samples), F(0)) / n,
    )


A = clients([("1", "1"), ("2", "-1/2")], [("1/2", "-1"), ("3", "1/3")])
RAGGED = clients([("1", "1")], [("1/2", "-1"), ("3", "1/3"), ("1", "2")])
MIXED_SIGNS = clients([("-1", "1"), ("3", "0")], [("2", "-1")])
THREE = clients([("1", "1")], [("2", "0")], [("1/3", "-2")])
PLANE = (
    (
        Sample(((F(2), F(1, 2)), (F(1, 2), F(1))), (F(1), F(-1)), F(1)),
        Sample(((F(1), F(0)), (F(0), F(3))), (F(0), F(1, 2)), F(0)),
    ),
    (Sample(((F(1), F(-1)), (F(-1), F(4))), (F(2), F(1)), F(-1, 3)),),
)
THIRD, HALF = F(1, 3), F(1, 2)
CASES: dict[str, Instance] = {
    "one step": Instance(A, (F(1, 5),), 1, 1, (F(3),), rows(["1/2", "2/3"], 1)),
    "one snapshot": Instance(A, (F(1, 5),), 1, 3, (F(3),), rows(["1/2", "2/3"], 1)),
    "two snapshots": Instance(A, (F(1, 5),), 2, 2, (F(3),), rows(["1/2", "2/3"], 1)),
    "two rounds": Instance(A, (F(1, 5),) * 2, 1, 2, (F(-1, 2),), rows(["1", "1/4"], 2)),
    "many rounds of one client": Instance(
        clients([("1", "1"), ("2", "3")]), (F(1, 4),) * 5, 2, 1, (F(3),), rows([1], 5)
    ),
    "ragged": Instance(RAGGED, (F(1, 7),), 1, 3, (F(2),), rows(["1/3", "1"], 1)),
    "not convex by sample": Instance(MIXED_SIGNS, (F(1, 5),) * 2, 1, 2, (F(3),), rows(["1/2", "2/3"], 2)),
    "three clients": Instance(THREE, (F(1, 2),) * 3, 2, 2, (F(1),), rows(["1/2", "1/3", "1"], 3)),
    "schedules": Instance(
        A, (F(1, 5), F(1, 2)), 1, 2, (F(3),), (tuple(map(F, ("1/2", "2/3"))), tuple(map(F, ("1", "1/5"))))
    ),
    "schedules that come back": Instance(
        clients([("1", "1"), ("2", "3")]),
        (F(1, 4), F(1, 2)) * 3,
        1,
        2,
        (F(3),),
        tuple((F(1, q),) for q in (1, 2, 3, 3, 2, 1)),
    ),
    "normalised": Instance(A, (F(1, 5),) * 2, 1, 2, (F(3),), rows(["1/2", "2/3"], 2), aggregation="normalised"),
    "plane": Instance(PLANE, (F(1, 5),), 2, 2, (F(3), F(-1)), rows(["1/2", "2/3"], 1)),
    "plane, two rounds": Instance(PLANE, (F(1, 5),) * 2, 1, 2, (F(3), F(-1)), rows(["1/2", "1"], 2), empty="zero"),
    "plane, local sgd": Instance(PLANE, (F(1, 5),) * 2, None, 2, (F(3), F(-1)), rows(["1/2", "2/3"], 2)),
    "uniform choice": Instance(THREE, (F(1, 2),) * 2, 2, 1, (F(1),), size=2),
    "uniform choice, noise": Instance(A, (F(1, 2),) * 2, 1, 2, (F(1),), size=1, aggregation="normalised"),
    "uniform choice, local sgd": Instance(A, (F(1, 2),) * 2, None, 2, (F(1),), size=1),
}
RULES = list(itertools.product(("unbiased", "normalised"), ("keep", "zero", "condition")))


@pytest.mark.parametrize("name", CASES)
def test_equals_the_enumeration(name: str) -> None:
    assert_equal(oracle(CASES[name]), enumerate_moments(CASES[name]), CASES[name])


@pytest.mark.parametrize(("aggregation", "empty"), RULES)
@pytest.mark.parametrize("snapshots", [None, 1])
def test_server_rules_equal_the_enumeration(snapshots: int | None, aggregation: str, empty: str) -> None:
    instance = Instance(
        RAGGED, (F(1, 4),) * 2, snapshots, 2, (F(2),), rows(["1/3", "2/5"], 2), aggregation=aggregation, empty=empty
    )
    assert_equal(oracle(instance), enumerate_moments(instance), instance)


fractions = rationals(-3, 3, 6)
curvatures = rationals(F(1, 6), 3, 6)
chances = st.sampled_from([F(1), F(1, 2), F(2, 3), F(1, 5)])


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances of at most a few thousand outcomes."""
    count = draw(st.integers(1, 3))
    own = [[(draw(curvatures), draw(fractions)) for _ in range(draw(st.integers(1, 2)))] for _ in range(count)]
    snapshots = draw(st.sampled_from([None, 1, 2]))
    inner = draw(st.integers(1, 2 if snapshots == 2 else 3))
    outcomes = math.prod(1 + len(o) ** (inner * (snapshots or 1)) for o in own)
    rounds = draw(st.integers(1, max(1, int(math.log(2000) / math.log(max(outcomes, 2))))).filter(lambda k: k <= 3))
    steps = tuple(draw(st.sampled_from([F(1, 2), F(1, 5), F(3, 2)])) for _ in range(rounds))
    p: Any = tuple(tuple(draw(chances) for _ in range(count)) for _ in range(rounds))
    size = draw(st.none() | st.integers(1, count))
    return Instance(
        clients(*own),
        steps,
        snapshots,
        inner,
        (draw(fractions),),
        None if size else p,
        size,
        draw(st.sampled_from(["unbiased", "normalised"])),
        draw(st.sampled_from(["keep", "zero", "condition"])),
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(instances())
def test_random_instances_equal_the_enumeration(instance: Instance) -> None:
    assert_equal(oracle(instance), enumerate_moments(instance), instance)


@pytest.mark.slow
@settings(max_examples=600, deadline=None, derandomize=True)
@given(instances())
def test_many_random_instances_equal_the_enumeration(instance: Instance) -> None:
    assert_equal(oracle(instance), enumerate_moments(instance), instance)


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        Instance(A, (F(1, 5),) * 2, 2, 2, (F(3),), rows(["1/2", "2/3"], 2)),
        Instance(A, (F(1, 5),) * 3, 1, 2, (F(3),), rows(["1/2", "2/3"], 3), aggregation="normalised", empty="zero"),
        Instance(A[:1], (F(1, 5),), 3, 4, (F(3),), rows(["1/2"], 1)),
        Instance(PLANE, (F(1, 5), F(1, 3)), 1, 3, (F(3), F(-1)), rows(["1/2", "2/3"], 2), empty="condition"),
    ],
)
def test_larger_instances_equal_the_enumeration(instance: Instance) -> None:
    assert_equal(oracle(instance), enumerate_moments(instance), instance)


def test_without_flint_the_fractions_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = CASES["two rounds"]
    truth = enumerate_moments(instance)
    monkeypatch.setitem(sys.modules, "flint", None)
    assert_equal(oracle(instance), truth, instance)


@pytest.mark.parametrize("name", CASES)
def test_floats_agree_with_fractions(name: str) -> None:
    exact, floats = oracle(CASES[name]), oracle(CASES[name], exact=False)
    assert_close(floats, exact, 1e-12)


def assert_close(floats: Moments, other: Moments, tolerance: float) -> None:
    for name in (*FIELDS, *TABLES, "suboptimality", "local_suboptimality", "aggregate", "participation"):
        left, right = getattr(floats, name), getattr(other, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert left.dtype == np.float64
            right = right.astype(float)
            np.testing.assert_allclose(left, right, rtol=0, atol=tolerance * max(1.0, np.abs(right).max(initial=0)))
    for name in SUMS:
        assert getattr(floats, name)() == pytest.approx(float(getattr(other, name)()), rel=tolerance)


def dyadic(rng: np.random.Generator, *shape: int) -> Any:
    """Random numbers that are the same in float64 and as fractions."""
    return rng.integers(-64, 65, size=shape) / 32


@pytest.mark.parametrize("seed", range(6))
def test_floats_agree_with_fractions_on_random_problems(seed: int) -> None:
    """Some 15 rounds, ragged clients, d = 1..3: both the basis and the single-start way of going through the rounds."""
    rng = np.random.default_rng(seed)
    dim, count = 1 + seed % 3, 3
    features = [dyadic(rng, 2 + n, dim) for n in range(count)]
    targets = [dyadic(rng, 2 + n) for n in range(count)]
    start, p = dyadic(rng, dim), rng.integers(1, 9, size=count)
    rounds = 15
    step: Any = F(1, 32) if seed % 2 else tuple(F(1, 32 + k) for k in range(rounds))
    rules: Any = {
        "aggregation": ("unbiased", "normalised")[seed // 3],
        "empty": ("keep", "zero", "condition")[seed % 3],
    }
    found = []
    for exact in (False, True):
        number: Any = F if exact else float
        steps = tuple(map(number, step)) if isinstance(step, tuple) else number(step)
        algorithm = FedAvg(steps, 3, **rules) if seed % 4 == 3 else FedAvgSVRG(steps, 2, 2, **rules)
        problem = least_squares(features, targets, exact=exact)
        chances = Bernoulli([number(F(int(x), 8)) for x in p])
        found.append(moments(algorithm, problem, chances, rounds=rounds, start=[number(x) for x in start]))
    assert_close(found[0], found[1], 1e-10)


@pytest.mark.parametrize("algorithm", [FedAvgSVRG(0.05, 2, 3), FedAvg(0.05, 4, empty="zero")])
@pytest.mark.parametrize("dim", [2, 14])
def test_basis_and_single_start_agree(algorithm: Any, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients' part may be worked out on a basis or on each round's own matrix; d = 14 sums over samples instead
    of using a matrix on d x d."""
    problem = quadratic(3, dim, 0.1, 1.0, 1.0, seed=dim, samples=3, sample_spread=0.5)
    rounds = (dim + 1) * (dim + 2) // 2
    found = [moments(algorithm, problem, Bernoulli(0.5), rounds=rounds, start=np.ones(dim))]
    assert problem.hessian[:, 0].size * 6 * rounds < BASIS_LIMIT
    monkeypatch.setattr("sim.exact.BASIS_LIMIT", 0)
    found.append(moments(algorithm, problem, Bernoulli(0.5), rounds=rounds, start=np.ones(dim)))
    monkeypatch.setattr("sim.exact_clients.DENSE_NOISE_LIMIT", 0)
    found.append(moments(algorithm, problem, Bernoulli(0.5), rounds=rounds, start=np.ones(dim)))
    assert_close(found[1], found[0], 1e-12)
    assert_close(found[2], found[0], 1e-12)
