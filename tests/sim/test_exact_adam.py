"""The enumerated expectations of Adam against a plain loop, Monte Carlo, and what holds for every run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.exact_adam import AdamClient, AdamRule, AdamState, mean_over_samples
from sim.problems import from_samples, scalar

RULE = AdamRule(step=0.07, beta1=0.6, beta2=0.7, eps=0.02)


def client(seed: int = 0, dim: int = 3, samples: int = 4, rule: AdamRule = RULE) -> AdamClient:
    """A client with random samples; f is strongly convex, its samples are not all."""
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(samples, dim, dim))
    spread = (spread + spread.transpose(0, 2, 1)) / 2
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    hessian = turn @ np.diag(rng.uniform(0.5, 2, dim)) @ turn.T
    hessians = (hessian + hessian.T) / 2 + spread - spread.mean(axis=0)
    return AdamClient(from_samples([list(hessians)], [list(rng.normal(size=(samples, dim)))]), rule)


def plain_step(
    rule: AdamRule, x: list[float], h: list[float], vhat: list[float], g: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """(3), one coordinate after the other, in plain Python."""
    new: tuple[list[float], list[float], list[float]] = ([], [], [])
    for xi, hi, vi, gi in zip(x, h, vhat, g, strict=True):
        momentum = rule.beta1 * hi + (1 - rule.beta1) * gi
        second = rule.beta2 * vi + (1 - rule.beta2) * gi * gi
        largest = max(second, vi)
        new[0].append(xi - rule.step * momentum / math.sqrt(rule.eps + largest))
        new[1].append(momentum)
        new[2].append(largest)
    return new


def mid_run(one: AdamClient, seed: int = 1) -> AdamState:
    """A state after some steps, arrays (d,)."""
    return one.play(np.ones(one.problem.dim), 6, seed=seed).at(0, -1)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=25)
def test_next_states_are_those_of_a_plain_loop(seed: int, dim: int, samples: int) -> None:
    one = client(seed, dim, samples)
    state = mid_run(one)
    found = one.next_states(state)
    for i in range(samples):
        h = one.problem.hessian[0, i]
        g = [sum(h[a, b] * state.x[b] for b in range(dim)) - one.problem.linear[0, i, a] for a in range(dim)]
        x, momentum, vhat = plain_step(RULE, list(state.x), list(state.h), list(state.vhat), g)
        np.testing.assert_allclose(found.x[i], x, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(found.h[i], momentum, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(found.vhat[i], vhat, rtol=1e-11, atol=1e-13)
        np.testing.assert_array_equal(found.previous[i], state.x)


def test_expectations_agree_with_monte_carlo() -> None:
    """Hoeffding's bound for 2e5 draws of values in a known range; error probability 1e-7 for each of the three."""
    one = client()
    state = mid_run(one)
    after = one.next_states(state)
    draws = 200_000
    chosen = np.random.default_rng(3).integers(4, size=draws)
    gradients = np.stack([one.problem.hessian[0, i] @ state.x - one.problem.linear[0, i] for i in range(4)])
    sampled = one.step(AdamState(*(np.broadcast_to(v, (draws, 3)) for v in vars(state).values())), gradients[chosen])
    for measure in (
        lambda s: ((s.x - state.x) ** 2).sum(axis=-1),
        lambda s: one.lyapunov(s, 0.7, 0.3),
        one.descent,
    ):
        values = measure(after)
        margin = float(np.ptp(values)) * math.sqrt(math.log(2 / 1e-7) / (2 * draws))
        assert abs(float(measure(sampled).mean()) - float(mean_over_samples(values))) <= margin
        assert margin < 0.02 * np.ptp(values)


@given(st.integers(0, 1000))
@settings(max_examples=25)
def test_a_run_keeps_what_adam_keeps(seed: int) -> None:
    """||h|| <= sigma, 0 <= vhat <= sigma^2, vhat never falls, h^2 <= (1-b1)^2/((1-b2)(1-b1^2/b2)) vhat."""
    one = client(seed)
    runs = one.play(np.ones((3, 3)), 20, seed=seed)
    sigma = one.largest_gradient(runs.x)
    assert (np.linalg.norm(runs.h, axis=-1) <= sigma * (1 + 1e-12)).all()
    assert (runs.vhat >= 0).all()
    assert (runs.vhat <= sigma**2 * (1 + 1e-12)).all()
    assert (np.diff(runs.vhat, axis=1) >= 0).all()
    growth = (1 - RULE.beta1) ** 2 / ((1 - RULE.beta2) * (1 - RULE.beta1**2 / RULE.beta2))
    assert (runs.h**2 <= growth * runs.vhat * (1 + 1e-12)).all()
    np.testing.assert_array_equal(runs.previous[:, 1:], runs.x[:, :-1])
    assert not runs.h[:, 0].any()
    assert not runs.vhat[:, 0].any()


def test_every_step_of_a_run_is_an_enumerated_one() -> None:
    one = client()
    runs = one.play(np.zeros((2, 3)), 5, seed=4)
    for k in range(5):
        possible = one.next_states(runs.at(slice(None), k)).x
        gap = np.abs(possible - runs.x[:, k + 1, None, :]).max(axis=-1).min(axis=-1)
        assert (gap < 1e-13).all()


def test_a_run_is_continued() -> None:
    """The same samples: f has one."""
    one = client(samples=1)
    whole = one.play(np.ones(3), 7)
    first = one.play(np.ones(3), 3)
    rest = one.play(np.ones(3), 4, state=first.at(slice(None), -1))
    np.testing.assert_allclose(rest.x, whole.x[:, 3:], rtol=1e-14)


@given(st.integers(0, 1000), st.floats(0, 2), st.floats(0, 2))
@settings(max_examples=25)
def test_the_parts_of_the_descent(seed: int, b: float, c: float) -> None:
    """(21) adds up, and (13) is what its words say."""
    one = client(seed, dim=2)
    state = mid_run(one)
    total = float(mean_over_samples(one.descent(one.next_states(state))))
    assert sum(map(float, one.parts(state))) == pytest.approx(total, rel=1e-9, abs=1e-12)
    mean_h, mean_b = one.problem.hessian[0].mean(axis=0), one.problem.linear[0].mean(axis=0)

    def cost(x: np.ndarray) -> float:
        return float(x @ mean_h @ x / 2 - mean_b @ x)

    expected = cost(state.x) - cost(np.linalg.solve(mean_h, mean_b))
    for i in range(2):
        root = math.sqrt(RULE.eps + state.vhat[i])
        expected += b / root - c * float((mean_h @ state.previous - mean_b)[i]) * state.h[i] / root
    assert float(one.lyapunov(state, b, c)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_communication_moves_x_alone() -> None:
    one = client()
    state = mid_run(one)
    moved = state.moved_to([1, 2, 3])
    np.testing.assert_array_equal(moved.x, [1, 2, 3])
    np.testing.assert_array_equal(moved.previous, state.x)
    assert moved.h is state.h
    assert moved.vhat is state.vhat


def test_one_dimension_in_closed_form() -> None:
    one = AdamClient(scalar([[2.0, 2.0]], [[1.0, 3.0]]), AdamRule(0.5, 0.0, 0.0, 1.0))
    state = one.start([0.0])
    assert one.minimiser == pytest.approx([2.0])
    assert float(one.suboptimality(state.x)) == pytest.approx(4.0)
    after = one.next_states(state)  # gradients -2 and -6
    np.testing.assert_allclose(after.x[:, 0], [0.5 * 2 / math.sqrt(5), 0.5 * 6 / math.sqrt(37)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0}, "step"),
        ({"eps": 0}, "eps"),
        ({"beta1": 1}, "beta1"),
        ({"beta2": -0.1}, "beta2"),
        ({"eps": float("nan")}, "eps"),
    ],
)
def test_bad_numbers_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AdamRule(**{"step": 0.1, "beta1": 0.5, "beta2": 0.5, "eps": 1.0, **change})


def test_bad_clients_and_points_are_refused() -> None:
    with pytest.raises(ValueError, match="client=1"):
        AdamClient(scalar([[1.0]], [[0.0]]), RULE, client=1)
    with pytest.raises(ValueError, match="strong convexity"):
        AdamClient(scalar([[-1.0]], [[0.0]]), RULE)
    with pytest.raises(ValueError, match="shape"):
        client().start([1.0, 2.0])
    with pytest.raises(ValueError, match="steps"):
        client().play(np.ones(3), -1)
