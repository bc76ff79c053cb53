"""The exact oracle of FedMIM against a walk through all subsets and samples, against the simulator and other oracles.

The comparison with the simulator is that of `test_oracle_against_simulator`: sample means over 4,000 runs within 4.5
standard errors, or else again on 16,000 other runs; under the normal approximation one comparison fails with
probability below 5e-11, and the 8 scenarios have fewer than 500 comparisons together.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, FedMIM
from sim.engine import run
from sim.exact import moments
from sim.exact_inertial import inertial_moments
from sim.exact_inertial_moments import InertialMoments
from sim.exact_moments import DivergenceError
from sim.exact_numbers import Numbers
from sim.participation import Bernoulli, UniformChoice
from sim.problems import Quadratic, from_samples, quadratic
from tests.rationals import rationals
from tests.sim.enumeration import Sample, Vector, add, dot, scale, subtract, zero

Clients = tuple[tuple[Sample, ...], ...]
TABLES = (
    "squared_average_step",
    "inner_product",
    "displacement",
    "local_gradient",
    "noise",
    "mean_gradient",
    "selected_gradient",
    "drift",
)
FIELDS = (
    "mean",
    "second_moment",
    "squared_gradient_norm",
    "suboptimality",
    "cost",
    "squared_iterate_norm",
    "auxiliary_mean",
    "auxiliary_squared_gradient_norm",
    "auxiliary_suboptimality",
    "squared_increment",
    *TABLES,
)


@dataclass(frozen=True)
class Case:
    """What is run: FedMIM on fractions."""

    clients: Clients
    size: int
    local_steps: int
    steps: tuple[F, ...]
    alpha: tuple[F, ...]
    beta: tuple[F, ...]
    start: Vector

    @property
    def algorithm(self) -> FedMIM:
        return FedMIM(self.steps, self.local_steps, alpha=self.alpha, beta=self.beta)

    def problem(self, exact: bool = True) -> Quadratic:
        number: Any = F if exact else float
        return from_samples(
            [[[[number(x) for x in row] for row in f.hessian] for f in own] for own in self.clients],
            [[[number(x) for x in f.linear] for f in own] for own in self.clients],
            [[number(f.offset) for f in own] for own in self.clients],
            exact=exact,
        )

    def moments(self, exact: bool = True) -> InertialMoments:
        return inertial_moments(
            self.algorithm if exact else FedMIM(*_floats(self)),
            self.problem(exact),
            UniformChoice(self.size),
            rounds=len(self.steps),
            start=list(self.start) if exact else [float(x) for x in self.start],
        )


def _floats(case: Case) -> tuple[Any, ...]:
    return (
        tuple(map(float, case.steps)),
        case.local_steps,
        tuple(map(float, case.alpha)),
        tuple(map(float, case.beta)),
    )


def mean_gradient(samples: tuple[Sample, ...], x: Vector) -> Vector:
    total = zero(x)
    for f in samples:
        total = add(total, scale(F(1, len(samples)), f.gradient(x)))
    return total


def enumerate_case(case: Case) -> dict[str, Any]:
    """The expectations of `InertialMoments`, over every subset of clients and every sequence of samples.

    The law is over histories (x_t, x_{t-1}, ..., x_{t-J}), from which the increments and u_t are as they are defined.
    """
    lags, count, local = max(len(case.alpha), len(case.beta), 1), len(case.clients), case.local_steps
    weight = 1 - sum(case.alpha, F(0))
    best = minimum(case)
    subsets = list(itertools.combinations(range(count), case.size))
    law: dict[tuple[Vector, ...], F] = {(case.start,) * (lags + 1): F(1)}
    out: dict[str, Any] = defaultdict(list)

    def increment(history: tuple[Vector, ...], j: int) -> Vector:
        return scale(F(-1, local), subtract(history[j], history[j + 1]))

    def pull(history: tuple[Vector, ...], weights: tuple[F, ...]) -> Vector:
        total = zero(history[0])
        for j, w in enumerate(weights):
            total = add(total, scale(w, increment(history, j)))
        return total

    def auxiliary(history: tuple[Vector, ...]) -> Vector:
        """(15)"""
        u = history[0]
        for j in range(len(case.alpha)):
            tail = sum(case.alpha[j:], F(0)) / weight
            u = add(u, scale(tail, subtract(history[j], history[j + 1])))
        return u

    def cost(x: Vector) -> F:
        return sum((sum((f.value(x) for f in own), F(0)) / len(own) for own in case.clients), F(0)) / count

    def gradient(x: Vector) -> Vector:
        total = zero(x)
        for own in case.clients:
            total = add(total, scale(F(1, count), mean_gradient(own, x)))
        return total

    def record() -> None:
        def expect(function: Any) -> Any:
            return sum((p * function(h) for h, p in law.items()), F(0))

        dim = range(len(case.start))
        out["mean"].append([expect(lambda h, i=i: h[0][i]) for i in dim])
        out["second_moment"].append([[expect(lambda h, i=i, j=j: h[0][i] * h[0][j]) for j in dim] for i in dim])
        out["squared_gradient_norm"].append(expect(lambda h: dot(gradient(h[0]), gradient(h[0]))))
        out["cost"].append(expect(lambda h: cost(h[0])))
        out["suboptimality"].append(out["cost"][-1] - best)
        out["squared_iterate_norm"].append(expect(lambda h: dot(h[0], h[0])))
        out["auxiliary_mean"].append([expect(lambda h, i=i: auxiliary(h)[i]) for i in dim])
        out["auxiliary_squared_gradient_norm"].append(
            expect(lambda h: dot(gradient(auxiliary(h)), gradient(auxiliary(h))))
        )
        out["auxiliary_suboptimality"].append(expect(lambda h: cost(auxiliary(h))) - best)
        out["squared_increment"].append(expect(lambda h: dot(increment(h, 0), increment(h, 0))))

    record()
    for step in case.steps:
        following: dict[tuple[Vector, ...], F] = defaultdict(F)
        average_step = inner = F(0)
        displacement = [[F(0)] * (local + 1) for _ in range(count)]
        local_gradient = [[F(0)] * local for _ in range(count)]
        noise = [[F(0)] * local for _ in range(count)]
        together, chosen_only = [F(0)] * local, [F(0)] * local
        for history, chance in law.items():
            shift, ahead, u = pull(history, case.alpha), pull(history, case.beta), auxiliary(history)
            ends: list[dict[tuple[Vector, Vector], F]] = []
            paths: list[dict[tuple[Vector, ...], F]] = []  # the gradients of all local steps
            for n, own in enumerate(case.clients):
                ended: dict[tuple[Vector, Vector], F] = defaultdict(F)
                path: dict[tuple[Vector, ...], F] = defaultdict(F)
                part = F(1, len(own) ** local)
                for samples in itertools.product(own, repeat=local):
                    x, total, pulls = history[0], zero(u), []
                    for k, f in enumerate(samples):
                        point = subtract(x, ahead)
                        g, exact = f.gradient(point), mean_gradient(own, point)
                        away = subtract(x, history[0])
                        displacement[n][k] += chance * part * dot(away, away)
                        local_gradient[n][k] += chance * part * dot(exact, exact)
                        noise[n][k] += chance * part * dot(subtract(g, exact), subtract(g, exact))
                        x = subtract(subtract(x, shift), scale(weight * step, g))
                        total = add(total, g)
                        pulls.append(exact)
                    away = subtract(x, history[0])
                    displacement[n][local] += chance * part * dot(away, away)
                    ended[x, total] += part
                    path[tuple(pulls)] += part
                ends.append(ended)
                paths.append(path)
            for k, square in enumerate(pooled(paths, tuple(range(count)))):
                together[k] += chance * square
            for chosen in subsets:
                for k, square in enumerate(pooled(paths, chosen)):
                    chosen_only[k] += chance / len(subsets) * square
            for chosen in subsets:
                for outcome in itertools.product(*(ends[n].items() for n in chosen)):
                    p = chance / len(subsets)
                    new = gradients = zero(u)
                    for (x, total), q in outcome:
                        p *= q
                        new = add(new, scale(F(1, case.size), x))
                        gradients = add(gradients, total)
                    tilde = scale(step / (case.size * local), gradients)
                    average_step += p * dot(tilde, tilde)
                    inner += p * dot(gradient(u), tilde)
                    following[(new, *history[:-1])] += p
        law = dict(following)
        tables = (average_step, inner, displacement, local_gradient, noise, together, chosen_only)
        for name, value in zip(TABLES, tables, strict=False):
            out[name].append(value)
        out["drift"].append(sum((sum(row[:-1], F(0)) for row in displacement), F(0)) / (count * local))
        record()
    return dict(out)


def pooled(paths: list[dict[tuple[Vector, ...], F]], clients: tuple[int, ...]) -> list[F]:
    """By local step, E||mean gradient of the clients||^2, from the law of each client's gradients."""
    squares = [F(0)] * len(next(iter(paths[0])))
    for outcome in itertools.product(*(paths[n].items() for n in clients)):
        p = F(1)
        for _, q in outcome:
            p *= q
        for k in range(len(squares)):
            total = zero(outcome[0][0][k])
            for pulls, _ in outcome:
                total = add(total, pulls[k])
            squares[k] += p * dot(total, total) / len(clients) ** 2
    return squares


def minimum(case: Case) -> F:
    problem = case.problem()
    return F(problem.optimal_value)


def line(h: Any, b: Any) -> Sample:
    """h/2 x^2 - b x + 1/3."""
    return Sample(((F(h),),), (F(b),), F(1, 3))


def plane(h: tuple[int, int, int], b: tuple[int, int]) -> Sample:
    """In two dimensions: Hessian entries 11, 12, 22."""
    first, mixed, last = map(F, h)
    return Sample(((first, mixed), (mixed, last)), (F(b[0]), F(b[1])), F(0))


DETERMINISTIC = ((line(1, 1),), (line(2, -1),), (line("1/2", 3),))
SAMPLED = ((line(1, 1), line(3, 0)), (line(2, -1),), (line("1/2", 3), line(-1, 1)))
PLANES = ((plane((2, 1, 2), (1, 0)), plane((1, 0, 3), (0, 1))), (plane((1, 0, 1), (-1, 2)),))
CASES = {
    "two lags": Case(DETERMINISTIC, 2, 2, (F(1, 4),) * 4, (F(3, 5), F(3, 10)), (F(9, 10), F(1, 10)), (F(2),)),
    "three lags": Case(DETERMINISTIC, 1, 1, (F(1, 4),) * 5, (F(1, 5), F(0), F(1, 2)), (F(0), F(1, 2)), (F(2),)),
    "all": Case(DETERMINISTIC, 3, 3, (F(1, 8),) * 4, (F(1, 2),), (F(1, 3),), (F(-1),)),
    "samples": Case(SAMPLED, 2, 1, (F(1, 3),) * 3, (F(3, 5), F(3, 10)), (F(1, 2), F(1, 4)), (F(2),)),
    "local steps": Case(SAMPLED, 2, 2, (F(1, 3), F(1, 5)), (F(1, 2),), (F(1, 4),), (F(2),)),
    "plane": Case(PLANES, 1, 2, (F(1, 4), F(1, 8), F(1, 4)), (F(1, 2), F(1, 4)), (F(0), F(1, 2)), (F(1), F(-2))),
    "no lags": Case(SAMPLED, 2, 2, (F(1, 3),) * 2, (), (), (F(2),)),
}


def agree(case: Case) -> None:
    found, expected = case.moments(), enumerate_case(case)
    rough = case.moments(exact=False)
    for name in FIELDS:
        value = getattr(found, name)
        assert value.tolist() == expected[name], name
        assert all(type(x) is F for x in value.ravel().tolist()), name
        np.testing.assert_allclose(getattr(rough, name), value.astype(float), rtol=1e-10, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_equals_the_enumeration_exactly(name: str) -> None:
    agree(CASES[name])


def test_the_standard_library_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Numbers(exact=True, dtype=object, load=F, unload=F)
    expected = CASES["plane"].moments()
    monkeypatch.setattr("sim.exact_inertial.rationals", lambda: plain)
    found = CASES["plane"].moments()
    for name in FIELDS:
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


small = rationals(-2, 2, 4)
weights = st.lists(rationals(0, F(2, 5), 5), max_size=2).map(tuple)
samples = st.lists(st.builds(line, rationals(F(1, 4), 2, 4), small), min_size=1, max_size=2)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), clients=st.lists(samples.map(tuple), min_size=1, max_size=3).map(tuple))
def test_equals_the_enumeration_on_any_small_case(data: st.DataObject, clients: Clients) -> None:
    size = data.draw(st.integers(1, len(clients)))
    local_steps = data.draw(st.integers(1, 2 if size < 3 else 1))
    step = data.draw(rationals(F(1, 8), 1, 8))
    alpha, beta, start = data.draw(weights), data.draw(weights), (data.draw(small),)
    agree(Case(clients, size, local_steps, (step,) * 2, alpha, beta, start))


def test_without_momentum_it_is_local_sgd() -> None:
    problem = quadratic(5, 3, 0.2, 1.5, 1.0, seed=4, samples=3, sample_spread=0.4)
    options: dict[str, Any] = {"rounds": 6, "start": [1.0, 0.0, -1.0]}
    for size in (1, 3, 5):
        choice = UniformChoice(size)
        expected = moments(FedAvg(0.2, 3, aggregation="normalised"), problem, choice, **options)
        found = inertial_moments(FedMIM(0.2, 3, alpha=(0, 0)), problem, choice, **options)
        for name in ("mean", "second_moment", "squared_gradient_norm", "suboptimality", "cost", "squared_iterate_norm"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11, atol=1e-13)
        shape = (6, 5, 3)
        np.testing.assert_allclose(found.displacement[..., :3], expected.displacement.reshape(shape), rtol=1e-11)
        np.testing.assert_allclose(found.local_gradient + found.noise, expected.estimator.reshape(shape), rtol=1e-11)
        np.testing.assert_allclose(found.auxiliary_mean, found.mean, rtol=1e-14)
        np.testing.assert_array_equal(found.mean, inertial_moments(FedMIM(0.2, 3), problem, choice, **options).mean)


def test_the_increment_is_what_it_says() -> None:
    """K^2 E||delta_t||^2 = E||x_t - x_{t-1}||^2, and nothing has moved at first."""
    found = CASES["all"].moments()
    moved = [(b - a) ** 2 / 9 for a, b in itertools.pairwise(found.mean[:, 0])]  # deterministic
    assert found.squared_increment.tolist() == [0, *moved]


ROUNDS, LIMIT = 8, 4.5
METRICS = ("squared_gradient_norm", "suboptimality", "squared_iterate_norm", "iterate")


def random_case(seed: int) -> tuple[FedMIM, Quadratic, UniformChoice, np.ndarray]:
    rng = np.random.default_rng(seed)
    count, dim, own = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    problem = quadratic(
        count, dim, 0.2, 1.0, 1.0, seed=seed, samples=max(own, 2), sample_spread=0.5 if own > 1 else 0.0
    )
    lags = int(rng.integers(1, 4))
    alpha = rng.uniform(0.1, 0.9) * rng.dirichlet(np.ones(lags))
    step: Any = rng.uniform(0.1, 0.4)
    if seed % 3 == 2:
        step = tuple(step * 0.9 ** np.arange(ROUNDS))
    algorithm = FedMIM(step, int(rng.integers(1, 5)), alpha=tuple(alpha), beta=tuple(rng.uniform(0, 0.8, lags)))
    return algorithm, problem, UniformChoice(int(rng.integers(1, count + 1))), rng.normal(size=dim)


def deviations(seed: int, first_run: int, runs: int, longer: float = 1.0) -> np.ndarray:
    """|sample mean - expectation| in standard errors, by comparison; the simulator's beta is `longer` times as big."""
    algorithm, problem, choice, start = random_case(seed)
    found = inertial_moments(algorithm, problem, choice, rounds=ROUNDS, start=start)
    tried = FedMIM(algorithm.step, algorithm.local_steps, algorithm.alpha, tuple(longer * b for b in algorithm.beta))
    trace = run(
        tried, problem, choice, rounds=ROUNDS, runs=runs, seed=seed, start=start, first_run=first_run, metrics=METRICS
    )
    x = trace["iterate"]
    lags, local = algorithm.lags, algorithm.local_steps
    history = np.concatenate([np.repeat(x[:, :1], lags, axis=1), x], axis=1)
    delta = -np.diff(history, axis=1) / local  # delta[:, lags - 1 + t] is delta_t
    tails = [sum(algorithm.alpha[j:]) * local / float(algorithm.gradient_weight) for j in range(lags)]
    u = x.copy()
    for j, tail in enumerate(tails):
        u[:, 1:] -= tail * delta[:, lags - j : lags - j + ROUNDS]
    pairs = [
        (x[:, -1], found.mean[-1]),
        *((trace[name][:, 1:], getattr(found, name)[1:]) for name in METRICS[:3]),
        ((problem.gradient(u) ** 2).sum(-1)[:, 1:], found.auxiliary_squared_gradient_norm[1:]),
        (problem.suboptimality(u)[:, 1:], found.auxiliary_suboptimality[1:]),
        ((delta[:, lags:] ** 2).sum(-1), found.squared_increment[1:]),
    ]
    values = np.concatenate([v for v, _ in pairs], axis=1)
    expected = np.concatenate([e for _, e in pairs])
    error = values.std(axis=0, ddof=1) / np.sqrt(runs)
    return np.abs(values.mean(axis=0) - expected) / np.maximum(error, 1e-9 * (1 + np.abs(expected)) / LIMIT)


@pytest.mark.parametrize("seed", range(8))
def test_simulator_and_oracle_agree(seed: int) -> None:
    apart = deviations(seed, 0, 4_000) > LIMIT
    if apart.any():
        apart &= deviations(seed, 4_000, 16_000) > LIMIT
    assert not apart.any()


def test_the_comparison_sees_another_beta() -> None:
    assert deviations(0, 0, 4_000, longer=1.5).max() > 2 * LIMIT


def test_what_cannot_be_is_refused() -> None:
    problem, algorithm = CASES["all"].problem(), CASES["all"].algorithm
    good: dict[str, Any] = {"rounds": 4, "start": [F(1)]}
    with pytest.raises(ValueError, match="is not a FedMIM"):
        inertial_moments(FedAvg(F(1), 1), problem, **good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a Quadratic"):
        inertial_moments(algorithm, 3, **good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Bernoulli"):
        inertial_moments(algorithm, problem, Bernoulli(1), **good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size=4"):
        inertial_moments(algorithm, problem, UniformChoice(4), **good)
    with pytest.raises(ValueError, match="step has 4 entries"):
        inertial_moments(algorithm, problem, rounds=3, start=[F(1)])
    with pytest.raises(ValueError, match="rounds=-1"):
        inertial_moments(algorithm, problem, rounds=-1, start=[F(1)])
    with pytest.raises(ValueError, match="start"):
        inertial_moments(algorithm, problem, rounds=4, start=[F(1), F(2)])
    with pytest.raises(ValueError, match=r"alpha\[0\]=0.5 is not rational"):
        inertial_moments(FedMIM(F(1), 1, alpha=(0.5,)), problem, **good)
    with pytest.raises(ValueError, match=r"beta\[0\]=0.5 is not rational"):
        inertial_moments(FedMIM(F(1), 1, beta=(0.5,)), problem, **good)
    with pytest.raises(DivergenceError, match="diverge"):
        inertial_moments(FedMIM(1e9, 1), CASES["all"].problem(False), rounds=60, start=[1.0])


def test_no_rounds_and_no_minimum() -> None:
    found = inertial_moments(FedMIM(F(1), 2, alpha=(F(1, 2),)), CASES["all"].problem(), rounds=0, start=[F(3)])
    assert found.mean.tolist() == found.auxiliary_mean.tolist() == [[3]]
    assert found.drift.shape == (0,)
    flat = from_samples([[[[0]]]], [[[1]]], exact=True)
    slope = inertial_moments(FedMIM(F(1, 2), 1, alpha=(F(1, 2),)), flat, rounds=2, start=[F(0)])
    assert slope.suboptimality is None
    assert slope.auxiliary_suboptimality is None
    # g = -1: delta_1 = -1/4, x_1 = 1/4, x_2 = 1/4 + 1/8 + 1/4
    assert slope.mean.tolist() == [[0], [F(1, 4)], [F(5, 8)]]
