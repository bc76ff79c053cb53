"""Radii of stability against the exact oracle: never left where they are proved, left just below the exact ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import Quadratic
from tests.properties.worst_steps import equally_curved, federated, squared_norms, worst_hessian, worst_instance
from theory import claim
from theory.stability import exact_radius, noise_threshold, uniform_radius, worst_next_norm

kappas = st.one_of(st.just(1.0), st.floats(1.05, 1000))
steps = st.one_of(st.just(1.0), st.floats(0.05, 1))
noises = st.one_of(st.just(0.0), st.floats(0.01, 3))
lengths = st.floats(0.1, 5)
seeds = st.integers(0, 2**32 - 1)


def sphere(rng, d):
    point = rng.normal(size=d)
    return point / np.linalg.norm(point)


def random_hessian(rng, d, mu, L):
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    h = basis @ np.diag(rng.uniform(mu, L, d)) @ basis.T
    return (h + h.T) / 2


def random_noise(rng, samples, d, sigma):
    """(samples, d) with mean 0 and mean square sigma^2."""
    noise = rng.normal(size=(samples, d))
    noise -= noise.mean(axis=0)
    return noise * (sigma / np.sqrt((noise**2).sum(axis=1).mean()))


@given(kappas, steps, noises, lengths, st.integers(1, 4), st.floats(0, 1), seeds)
@settings(max_examples=60)
def test_one_step_from_the_ball_never_exceeds_the_proved_radii(kappa, step, noise, r, d, share, seed):
    rng = np.random.default_rng(seed)
    L = float(rng.choice([0.5, 1.0, 4.0]))
    mu, sigma, eta = L / kappa, noise * L, step / L
    star = sphere(rng, d) * r * rng.choice([1, rng.random()])
    problem = equally_curved(random_hessian(rng, d, mu, L)[None], star[None], random_noise(rng, 3, d, sigma)[None])
    own = {"mu": mu, "L": L, "r": r, "sigma": sigma}
    radii = {
        "printed": float(claim("open-fl/theorem-2").bound(**own)),
        "uniform at 1/L": float(uniform_radius(**own)),
        "uniform at eta": float(uniform_radius(**own, eta=eta)),
        "exact at eta": float(exact_radius(**own, eta=eta, dim=min(d, 2))),
    }
    for name, radius in radii.items():
        start = sphere(rng, d) * radius * share
        found = squared_norms(eta, 1, problem, 1.0, 1, start)[1]
        assert found <= radius**2 * (1 + 1e-9), name
        bound = float(worst_next_norm(radius * share, r, mu, L, eta, min(d, 2)))
        assert found <= (bound**2 + (eta * sigma) ** 2) * (1 + 1e-9), name


@given(kappas, steps, noises, lengths, st.sampled_from([2, 3, 5]))
@settings(max_examples=60)
def test_just_below_the_exact_radius_an_explicit_quadratic_leaves_the_ball(kappa, step, noise, r, dim):
    mu, L, sigma, eta = 1 / kappa, 1.0, noise, step
    radius = float(exact_radius(mu, L, r, sigma, eta))
    scenario = worst_instance(mu, L, r, sigma, eta, R=0.99 * radius, dim=dim)
    assert scenario.problem.smoothness <= L * (1 + 1e-9)
    assert scenario.problem.strong_convexity >= mu * (1 - 1e-9)
    assert np.linalg.norm(scenario.problem.minimiser) <= r * (1 + 1e-9)
    assert scenario.problem.sampling_noise(scenario.start)[0] == pytest.approx(sigma**2, rel=1e-9, abs=1e-15)
    assert np.linalg.norm(scenario.start) <= 0.99 * radius * (1 + 1e-12)
    assert scenario.squared_norms()[1] > (0.99 * radius) ** 2


@given(kappas, steps, noises, lengths, st.floats(0.05, 20), st.sampled_from([1, 2, 4]))
@settings(max_examples=60)
def test_the_worst_instance_attains_the_closed_form(kappa, step, noise, r, R, dim):
    scenario = worst_instance(1 / kappa, 1.0, r, noise, step, R=R, dim=dim)
    expected = float(worst_next_norm(R, r, 1 / kappa, 1.0, step, dim)) ** 2 + (step * noise) ** 2
    assert scenario.squared_norms()[1] == pytest.approx(expected, rel=1e-8)


@given(seeds)
@settings(max_examples=25)
def test_a_federated_system_never_leaves_the_uniform_radius(seed):
    """Many clients, several local steps, clients that are absent: every round, from the sphere of the ball."""
    scenario = federated(seed, rounds=20)
    problem, eta = scenario.problem, scenario.step
    r = np.sqrt((problem.client_minimisers**2).sum(axis=1).max())
    sigma = np.sqrt(problem.sampling_noise(scenario.start).max())
    L, mu = float(problem.smoothness), float(problem.strong_convexity)
    radius = float(uniform_radius(mu, L, r, sigma, min(eta, 1 / L)))
    start = scenario.start * (radius / np.linalg.norm(scenario.start))
    found = squared_norms(eta, scenario.local_steps, problem, scenario.participation, 20, start)
    assert (found <= radius**2 * (1 + 1e-9)).all()


@given(st.floats(1.5, 100), st.floats(1.2, 6), seeds)
@settings(max_examples=25)
def test_with_much_noise_the_smaller_exact_radius_is_kept_for_ever_too(kappa, factor, seed):
    """In two dimensions; beyond the threshold it is below the uniform one."""
    rng = np.random.default_rng(seed)
    mu, L, r = 1 / kappa, 1.0, 1.0
    sigma = factor * float(noise_threshold(mu, L, r))
    radius = float(exact_radius(mu, L, r, sigma))
    assert radius < float(uniform_radius(mu, L, r, sigma))
    stars = np.stack([sphere(rng, 2) * r for _ in range(3)])
    hessians = np.stack([random_hessian(rng, 2, mu, L) for _ in range(3)])
    hessians[0] = np.diag([mu, L])
    noise = np.stack([random_noise(rng, 2, 2, sigma) for _ in range(3)])
    presence = rng.uniform(0.2, 1, 3) if seed % 2 else 2
    start = sphere(rng, 2) * radius
    found = squared_norms(1.0, 3, equally_curved(hessians, stars, noise), presence, 20, start)
    assert (found <= radius**2 * (1 + 1e-9)).all()


def test_a_run_from_the_sphere_stays_in_the_ball_in_fractions():
    """One client, kappa = 3, r = sigma/L = 1, so R = 2; from x = (2, 0) with x* = (3/5, 4/5)."""
    h = np.array([[[[Fraction(1, 3), Fraction(0)], [Fraction(0), Fraction(1)]]] * 2], dtype=object)
    star, noise = (
        np.array([Fraction(3, 5), Fraction(4, 5)], dtype=object),
        np.array([Fraction(0), Fraction(1)], dtype=object),
    )
    centre = h[0, 0] @ star
    linear = np.array([[centre + noise, centre - noise]], dtype=object)
    problem = Quadratic(h, linear, np.array([[Fraction(0), Fraction(0)]], dtype=object), np.array([2]))
    start = np.array([Fraction(2), Fraction(0)], dtype=object)
    found = squared_norms(Fraction(1), 1, problem, Fraction(1), 12, start)
    assert all(isinstance(value, Fraction) for value in found)
    assert (found <= 4).all()


def test_the_worst_matrix_has_its_eigenvalues_in_the_class():
    rng = np.random.default_rng(0)
    for _ in range(50):
        d, mu = int(rng.integers(1, 5)), float(rng.uniform(0.01, 1))
        x, star = rng.normal(size=(2, d))
        h = worst_hessian(x, star, mu, 1.0, float(rng.uniform(0.1, 1)))
        values = np.linalg.eigvalsh(h)
        assert mu * (1 - 1e-9) <= values[0]
        assert values[-1] <= 1 + 1e-9
        assert d == 1 or (values[0] == pytest.approx(mu) and values[-1] == pytest.approx(1))


def test_the_worst_matrix_at_points_that_coincide_or_vanish():
    for x, star in (([1.0, 0.0], [1.0, 0.0]), ([0.0, 0.0], [0.0, 0.0]), ([2.0, 0.0], [1.0, 0.0])):
        values = np.linalg.eigvalsh(worst_hessian(np.array(x), np.array(star), 0.1, 1.0, 1.0))
        assert values == pytest.approx([0.1, 1.0])


def test_equally_curved_problems_have_the_noise_that_they_are_given():
    noise = np.array([[[3.0, 0.0], [-3.0, 0.0], [0.0, 0.0]]])
    problem = equally_curved(np.diag([1.0, 2.0])[None], np.array([[1.0, -1.0]]), noise)
    assert problem.minimiser == pytest.approx([1.0, -1.0])
    for x in ([0.0, 0.0], [10.0, -7.0]):
        assert problem.sampling_noise(np.array(x))[0] == pytest.approx(6.0)
