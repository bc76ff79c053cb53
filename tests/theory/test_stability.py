"""The worst step and the radii: against brute force, a semidefinite program, and their own definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.stability import exact_radius, noise_threshold, uniform_radius, worst_cosine, worst_next_norm, worst_step

lengths = st.one_of(st.just(0.0), st.floats(0.05, 20))
kappas = st.one_of(st.just(1.0), st.floats(1.01, 1000))
scales = st.sampled_from([0.1, 1.0, 7.0])
fractions_of_step = st.one_of(st.just(1.0), st.floats(0.02, 1))
dims = st.sampled_from([1, 2, 3])


@st.composite
def problems(draw):
    """mu, L and eta."""
    L = draw(scales)
    return L / draw(kappas), L, draw(fractions_of_step) / L


@given(problems(), lengths, lengths, dims, st.integers(0, 2**32 - 1))
def test_no_gradient_of_the_class_leads_farther(problem, R, r, dim, seed):
    """Matrices with eigenvalues in [mu, L], points in the balls: none of it knows the closed form."""
    mu, L, eta = problem
    rng = np.random.default_rng(seed)
    bound = float(worst_next_norm(R, r, mu, L, eta, dim))
    for _ in range(40):
        x, star = rng.normal(size=(2, dim))
        x *= R * rng.choice([1, rng.random()]) / np.linalg.norm(x)
        star *= r * rng.choice([1, rng.random()]) / np.linalg.norm(star)
        basis, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
        values = rng.choice([mu, L, rng.uniform(mu, L)], size=dim)
        gradient = basis @ (values * (basis.T @ (x - star)))
        assert np.linalg.norm(x - eta * gradient) <= bound * (1 + 1e-12) + 1e-12


@given(problems(), lengths, lengths)
def test_in_one_dimension_the_worst_of_the_eight_corners(problem, R, r):
    mu, L, eta = problem
    corners = [abs(R - eta * h * (R - star)) for star in (r, -r) for h in (mu, L)]
    assert float(worst_next_norm(R, r, mu, L, eta, 1)) == pytest.approx(max(corners), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("R", "r", "mu", "eta"),
    [(2.0, 1.0, 0.1, 1.0), (2.0, 1.0, 0.1, 0.5), (50.0, 1.0, 0.5, 1.0), (0.5, 1.0, 0.25, 0.25), (1.0, 1.0, 1.0, 0.5)],
)
def test_the_semidefinite_program_over_the_class_agrees(R, r, mu, eta):
    import cvxpy as cp

    G = cp.Variable((3, 3), PSD=True)  # Gram matrix of x, x*, g
    x, star, g = np.eye(3)
    u = x - star  # g is the gradient at x

    def product(a, b):
        return cp.trace(np.outer(b, a) @ G)

    inside = product(g - mu * u, u - g) if mu < 1 else None
    given_ = [product(x, x) <= R**2, product(star, star) <= r**2]
    given_ += [inside >= 0] if inside is not None else [product(g - u, e) == 0 for e in np.eye(3)]
    program = cp.Problem(cp.Maximize(product(x - eta * g, x - eta * g)), given_)
    program.solve(solver=cp.CLARABEL)
    assert program.status == "optimal"
    assert np.sqrt(program.value) == pytest.approx(float(worst_next_norm(R, r, mu, 1.0, eta)), rel=1e-5)


@given(problems(), lengths, lengths, dims)
def test_the_exact_radius_is_where_the_ball_begins_to_hold(problem, r, noise, dim):
    mu, L, eta = problem
    sigma = noise * L
    radius = float(exact_radius(mu, L, r, sigma, eta, dim))

    def excess(R):
        return float(worst_next_norm(R, r, mu, L, eta, dim)) ** 2 + (eta * sigma) ** 2 - R**2

    size = max(radius, r) ** 2
    assert excess(radius) <= 1e-9 * size
    for factor in (1.001, 1.5, 10.0, 1000.0):
        assert excess(factor * radius) <= 1e-9 * size * factor**2
    if radius > 0:
        assert excess(0.999 * radius) > 0


@given(problems(), lengths, lengths)
def test_the_uniform_radius_is_never_below_the_exact_one(problem, r, noise):
    mu, L, eta = problem
    one, two = (float(exact_radius(mu, L, r, noise * L, eta, dim)) for dim in (1, 2))
    uniform = float(uniform_radius(mu, L, r, noise * L, eta))
    assert r * (1 - 1e-12) <= one <= two * (1 + 1e-9)
    assert two <= uniform * (1 + 1e-12)
    if noise * L <= float(noise_threshold(mu, L, r, eta)):
        assert two == pytest.approx(uniform, rel=1e-12)


@given(problems(), st.floats(0.1, 5), st.floats(0, 5), st.floats(1.01, 3), dims)
def test_radii_grow_with_the_step_the_noise_the_ball_and_the_condition_number(problem, r, noise, factor, dim):
    mu, L, eta = problem
    sigma = noise * L

    def no_smaller(radius, *names):
        here = float(radius(mu, L, r, sigma, eta))
        changed = {
            "eta": (mu, L, r, sigma, min(eta * factor, 1 / L)),
            "sigma": (mu, L, r, sigma * factor, eta),
            "r": (mu, L, r * factor, sigma, eta),
            "kappa": (mu / factor, L, r, sigma, eta),
        }
        for name in names:
            assert float(radius(*changed[name])) >= here * (1 - 1e-9), name

    names = ("eta", "sigma", "r", "kappa")
    no_smaller(lambda *a: exact_radius(*a, dim=dim), *names)
    no_smaller(uniform_radius, *names)


def test_values_worked_out_by_hand():
    # kappa = 3, eta = 1/L: ||x - g/L||^2 <= ||x||^2/2 + ||x*||^2
    assert float(worst_next_norm(2, 1, 1, 3)) == pytest.approx(np.sqrt(3))
    assert float(uniform_radius(1, 3, 1, 3)) == pytest.approx(2)
    assert float(exact_radius(1, 3, 1, 3)) == pytest.approx(2)
    # one dimension, a = 1/3, sigma/L = 1: (2R/3 + 1/3)^2 + 1 = R^2
    assert float(exact_radius(1, 3, 1, 3, dim=1)) == pytest.approx((2 + np.sqrt(54)) / 5)
    # no noise and no minimiser away from 0: every ball holds
    assert float(exact_radius(1, 3, 0, 0)) == 0
    # kappa = 1: the full step goes to x*
    assert float(worst_next_norm(9, 2, 1, 1)) == 2
    assert float(exact_radius(1, 1, 3, 4)) == 5
    assert float(worst_cosine(2, 1, 1, 3)) == pytest.approx(1 / 2)  # R/((kappa+1) r)


@pytest.mark.parametrize("R", [5e-324, 1e-310, 1e-200])
def test_a_length_that_is_almost_zero_overflows_nowhere(R):
    with np.errstate(all="raise", under="ignore"):
        assert -1 <= float(worst_cosine(R, 1, 0.5, 2, 0.1)) <= 1
        assert float(worst_next_norm(R, 1, 0.5, 2, 0.1)) == pytest.approx(float(worst_next_norm(0, 1, 0.5, 2, 0.1)))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("R", lambda: worst_next_norm(-1, 1, 0.1, 1)),
        ("r", lambda: worst_next_norm(1, float("nan"), 0.1, 1)),
        ("mu", lambda: exact_radius(2, 1, 1, 1)),
        ("mu", lambda: exact_radius(0, 1, 1, 1)),
        ("L", lambda: uniform_radius(1, float("inf"), 1, 1)),
        ("eta", lambda: uniform_radius(0.1, 1, 1, 1, 1.01)),
        ("eta", lambda: uniform_radius(0.1, 1, 1, 1, 0)),
        ("sigma", lambda: exact_radius(0.1, 1, 1, -1)),
        ("cosine", lambda: worst_step(1, 1, 0.1, 1, 1, 1.5)),
        ("dim", lambda: worst_next_norm(1, 1, 0.1, 1, dim=0)),
        ("dim", lambda: worst_next_norm(1, 1, 0.1, 1, dim=True)),
        ("r", lambda: worst_next_norm("1", "x", 0.1, 1)),
        ("shapes", lambda: worst_next_norm([1.0, 2.0], [1.0, 2.0, 3.0], 0.1, 1)),
    ],
)
def test_values_outside_their_domain_are_named(name, call):
    with pytest.raises(ValueError, match=rf"^{name}\b"):
        call()
