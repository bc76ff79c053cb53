"""Audits against brute force, numpy's eigenvalues and many points; and how constants transform."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import Quadratic, RidgeLogistic, RidgeSoftmax, from_samples, quadratic, ridge_logistic, scalar
from tests.validate.assumptions import assumed
from tests.validate.command_line import call, complaint, printed
from validate.audit import MEANING, Audit, Measured, audit, audit_torch
from validate.audit.ball import largest
from validate.audit.quadratics import extremes
from validate.audit.regressions import hessian_product
from validate.audit.spectrum import points_in_ball
from validate.satisfied import true
from validate.strategies import quadratics

F = Fraction
TIGHT = 1e-9  # what float64 leaves of an identity here

CURVATURES = ("mu", "L", "mu_client", "L_client", "mu_sample", "L_sample", "PL", "f_min", "f_n_min")
SQUARES = ("sigma2_min", "zeta2_min", "heterogeneity_min", "sigma2_ball", "zeta2_ball", "G2")
INVARIANT = (*CURVATURES, *SQUARES, "sigma2_all", "zeta2_all", "B2")


def permuted(problem: Quadratic, order: list[int]) -> Quadratic:
    fields = (problem.hessian, problem.linear, problem.offset, problem.counts)
    return Quadratic(*(values[order].copy() for values in fields))


def scaled(problem: Quadratic, c: Any) -> Quadratic:
    return Quadratic(problem.hessian * c, problem.linear * c, problem.offset * c, problem.counts)


def middle(entry: Measured) -> Any:
    """The constant, where its bounds agree up to rounding."""
    if entry.status == "bound":
        assert entry.lower == pytest.approx(entry.upper, rel=TIGHT, abs=TIGHT)
        return entry.upper
    return entry.value


def close(one: Any, other: Any, factor: Any = 1) -> bool:
    if one is None or other is None:
        return one is other
    return float(one) == pytest.approx(float(factor) * float(other), rel=1e-7, abs=1e-7)


@settings(max_examples=12)
@given(quadratics(mu=0, samples=(1, 2), clients=(1, 3)), st.randoms(use_true_random=False))
def test_the_order_of_clients_and_copies_of_all_change_nothing(problem: Quadratic, random: Any) -> None:
    ball = ([F(1)] * problem.dim, 1)
    before = audit(problem, ball=ball, relative=2)
    order = random.sample(range(problem.clients), problem.clients)
    twice = [n for n in range(problem.clients) for _ in range(2)]
    for after in (audit(permuted(problem, o), ball=ball, relative=2) for o in (order, twice)):
        for symbol in INVARIANT:
            if symbol in ("B2", "G2") and before["mu"].value == 0:
                continue  # whether there are any is decided up to rounding
            assert (symbol in before) == (symbol in after)
            if symbol in before:
                assert close(middle(after[symbol]), middle(before[symbol])), symbol
                assert after[symbol].status == before[symbol].status


@settings(max_examples=12)
@given(quadratics(mu="1/8", samples=(1, 2), clients=(1, 3)), st.sampled_from([F(1, 3), F(2), F(7)]))
def test_constants_scale_with_f(problem: Quadratic, c: Fraction) -> None:
    before, after = audit(problem, ball=1, relative=2), audit(scaled(problem, c), ball=1, relative=2)
    powers = dict.fromkeys(CURVATURES, 1) | dict.fromkeys(SQUARES, 2) | {"B2": 0}
    for symbol, power in powers.items():
        assert close(middle(after[symbol]), middle(before[symbol]), c**power), symbol


@settings(max_examples=15)
@given(quadratics(mu=-1, samples=(1, 2)))
def test_curvatures_are_those_of_numpy(problem: Quadratic) -> None:
    found = audit(problem)
    samples = np.concatenate([problem.hessian[n, :c] for n, c in enumerate(problem.counts)]).astype(float)
    groups = {"": problem.mean_hessian[None], "_client": problem.client_hessian, "_sample": samples}
    for suffix, matrices in groups.items():
        values = np.linalg.eigvalsh(matrices.astype(float))
        assert float(found[f"mu{suffix}"].value) == pytest.approx(values.min(), abs=TIGHT)
        assert float(found[f"L{suffix}"].value) == pytest.approx(np.abs(values).max(), abs=TIGHT)
        assert found[f"L{suffix}"].status == "exact"


def test_rational_eigenvalues_are_found_as_such() -> None:
    """H = Q diag(1/7, 3/2, 5) Q' with the reflection at (1, 2, -1)."""
    normal = np.array([F(1), F(2), F(-1)], dtype=object)
    mirror = np.diag([F(1)] * 3) - 2 * np.outer(normal, normal) / F(6)
    matrix = mirror @ np.diag([F(1, 7), F(3, 2), F(5)]) @ mirror
    assert extremes(matrix[None]) == (F(1, 7), 5)
    found = audit(from_samples([[matrix]], [[[0, 0, 0]]], exact=True))
    assert [found[s].value for s in ("mu", "PL", "L")] == [F(1, 7), F(1, 7), 5]
    golden = np.array([[F(1), F(1)], [F(1), F(0)]], dtype=object)
    assert extremes(golden[None]) == pytest.approx(((1 - 5**0.5) / 2, (1 + 5**0.5) / 2))


def test_a_problem_by_hand() -> None:
    """f_1 = t^2/2, and f_2 the mean of (t-1)^2 and (t-3)^2: f = (t^2/2 + (t-2)^2 + 1)/2, with x* = 4/3."""
    problem = scalar([["1"], ["2", "2"]], [["0"], ["1", "3"]], exact=True)
    found = audit(problem, start=["0"], ball=(["1"], "1"), relative=2)
    exact = {
        "mu": F(3, 2),
        "L": F(3, 2),
        "mu_client": 1,
        "L_client": 2,
        "mu_sample": 1,
        "L_sample": 2,
        "PL": F(3, 2),
        "f_min": F(7, 6),
        "f_n_min": F(1, 2),
        "sigma2_min": 4,
        "zeta2_min": F(16, 9),
        "heterogeneity_min": F(16, 9),
        "sigma2_all": 4,
        "sigma2_ball": 4,
        "zeta2_ball": 4,  # ||f_n' - f'|| = |t - 4|/2, largest at t = 0
        "zeta2_all": float("inf"),
        "B2": F(10, 9),
        "f0_gap": F(4, 3),
        "distance2": F(16, 9),
    }
    for symbol, value in exact.items():
        assert found[symbol].value == value, symbol
        assert found[symbol].status == "exact"
    assert found["f_n_min"].each == (0, 1)
    assert found["L_client"].each == (1, 2)


@settings(max_examples=20)
@given(quadratics(mu="1/8", clients=(1, 3)))
def test_the_least_g_is_enough_and_no_smaller_one_is(problem: Quadratic) -> None:
    found = audit(problem, relative=3)
    square = float(found["G2"].value)
    apart = assumed("dissimilar(G, B)")
    assert true(apart, problem, (Fraction((square * (1 + 1e-6)) ** 0.5 + 1e-9), Fraction(3)))
    if square > 1e-3:
        assert not true(apart, problem, (Fraction((square * (1 - 1e-2)) ** 0.5), Fraction(3)))


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 2.0]), st.booleans())
def test_the_maximum_over_a_ball(dim: int, seed: int, radius: float, hard: bool) -> None:
    """Against many points: none is above, and the best of a projected ascent reaches the lower end."""
    random = np.random.default_rng(seed)
    root = random.standard_normal((max(1, dim - 1), dim))
    form, linear = root.T @ root, random.standard_normal(dim)
    if hard:  # no part along the largest eigenvalue's vector
        top = np.linalg.eigh(form)[1][:, -1]
        linear = linear - top * (top @ linear)
    lower, upper, _ = largest(form, linear, 1.0, radius)
    assert lower <= upper
    assert lower == pytest.approx(upper, rel=1e-7)
    points = points_in_ball(np.zeros(dim), radius, 300, random)
    points = np.concatenate([points, radius * points / np.maximum(np.linalg.norm(points, axis=1), 1e-9)[:, None]])
    for _ in range(60):  # the linearised maximum over the sphere, which never falls
        slopes = points @ form + linear
        points = radius * slopes / np.maximum(np.linalg.norm(slopes, axis=1), 1e-12)[:, None]
    values = np.einsum("pi,ij,pj->p", points, form, points) + 2 * points @ linear + 1
    assert values.max() <= upper * (1 + 1e-9)
    assert values.max() >= lower * (1 - 1e-2)


def test_suprema_over_a_ball_against_points_of_it() -> None:
    problem = quadratic(3, 2, 0.1, 1.0, 0.5, 7, samples=3, sample_spread=0.4)
    centre, radius = np.array([1.0, -2.0]), 1.5
    found = audit(problem, ball=(centre, radius))
    angles = np.linspace(0, 2 * np.pi, 4001)
    sphere = centre + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gaps = problem.client_gradient(sphere) - problem.gradient(sphere)[:, None]
    seen = {"sigma2_ball": problem.sampling_noise(sphere).max(), "zeta2_ball": (gaps**2).sum(axis=2).max()}
    for symbol, value in seen.items():
        assert found[symbol].status == "bound"
        assert value <= found[symbol].upper * (1 + TIGHT)
        assert found[symbol].lower == pytest.approx(value, rel=1e-5)


def test_a_problem_without_minimum_says_so() -> None:
    found = audit(scalar([["-1"], ["1/2"]], [["0"], ["1"]], exact=True))
    assert found["f_min"].value == float("-inf")
    assert found["PL"].value is None
    assert "not bounded below" in found["PL"].how
    assert found["PL"].shown == "none"
    assert dict(found.omitted)["zeta2_min"] == "f has no unique minimiser"
    with pytest.raises(KeyError, match="no unique minimiser"):
        found["zeta2_min"]
    with pytest.raises(KeyError, match="nu is not one of mu, L"):
        found["nu"]
    with pytest.raises(ValueError, match="no unique minimiser"):
        audit(scalar([["0"]], [["0"]], exact=True), ball=1)


# --- regressions ----------------------------------------

LOGISTIC = ridge_logistic(3, 6, 2, 1.0, 0.1, 3)
_RANDOM = np.random.default_rng(5)
SOFTMAX = RidgeSoftmax(_RANDOM.standard_normal((2, 7, 2)), _RANDOM.integers(0, 3, (2, 7)), 3, 0.2)
TWO = RidgeSoftmax(_RANDOM.standard_normal((2, 5, 2)), _RANDOM.integers(0, 2, (2, 5)), 2, 0.2)


def dense_hessian(problem: Any, point: np.ndarray) -> np.ndarray:
    """(N, d, d), column by column."""
    product = hessian_product(problem, point)
    return np.stack([product(unit) for unit in np.eye(problem.dim)], axis=2)


def differences(problem: Any, point: np.ndarray) -> np.ndarray:
    """(N, d, d), Hessians by central differences of the gradients."""
    step = 1e-5
    columns = [problem.gradient(point + step * e) - problem.gradient(point - step * e) for e in np.eye(problem.dim)]
    return np.stack(columns, axis=2) / (2 * step)


@pytest.mark.parametrize("problem", [LOGISTIC, SOFTMAX], ids=["logistic", "softmax"])
def test_hessians_are_differences_of_gradients(problem: RidgeLogistic | RidgeSoftmax) -> None:
    point = np.random.default_rng(1).standard_normal(problem.dim)
    assert dense_hessian(problem, point) == pytest.approx(differences(problem, point), abs=1e-7)


@pytest.mark.parametrize("problem", [LOGISTIC, SOFTMAX, TWO], ids=["logistic", "softmax", "two classes"])
def test_bounds_of_regressions_hold_at_random_points(problem: RidgeLogistic | RidgeSoftmax) -> None:
    centre, radius = np.full(problem.dim, 0.5), 2.0
    found = audit(problem, ball=(centre, radius), samples=6)
    random = np.random.default_rng(2)
    far = [30 * random.standard_normal(problem.dim) for _ in range(10)]
    inside = list(points_in_ball(centre, radius, 60, random))
    for points, suffix in ((inside + far, "_all"), (inside, "_ball")):
        for point in points:
            slopes = problem.gradient(point)
            mean = slopes.mean(axis=0)
            gaps = np.sum((slopes - mean) ** 2, axis=1)
            assert gaps.max() <= found[f"zeta2{suffix}"].upper * (1 + TIGHT)
            assert problem.variance_at(point, 1).max() <= found[f"sigma2{suffix}"].upper * (1 + TIGHT)
            excess = np.mean(np.sum(slopes**2, axis=1)) - mean @ mean
            assert excess <= found["G2"].upper * (1 + TIGHT)
            values = np.linalg.eigvalsh(differences(problem, point))
            assert values.min() >= found["mu_client"].value - 1e-6
            assert values.max() <= found["L_client"].upper + 1e-6
            drop = float(problem.loss(point).mean()) - found["f_min"].upper
            assert mean @ mean >= 2 * found["PL"].lower * drop * (1 - 1e-6)
    at_zero = np.linalg.eigvalsh(differences(problem, np.zeros(problem.dim)))
    assert at_zero.max() >= found["L_client"].lower - 1e-6
    for entry in found:
        if entry.status == "bound":
            assert entry.lower <= entry.upper
    for symbol in ("mu_client_ball", "L_client_ball"):
        assert any(e.status == "sample" for e in found if e.symbol == symbol)


def test_what_is_exact_for_regressions() -> None:
    assert audit(LOGISTIC)["L_client"].status == "exact"
    assert audit(LOGISTIC)["L_client"].value == pytest.approx(LOGISTIC.smoothness)
    assert audit(SOFTMAX)["L_client"].status == "bound"
    assert audit(SOFTMAX)["L_client"].upper == pytest.approx(SOFTMAX.smoothness)
    assert audit(TWO)["L_client"].status == "exact"
    assert audit(SOFTMAX)["L_sample"].value == pytest.approx(SOFTMAX.sample_smoothness)
    far = 1e4 * np.array([1.0, 1e-3])  # the infimum of the curvature is reached along a ray
    assert np.linalg.eigvalsh(dense_hessian(LOGISTIC, far)).min() == pytest.approx(LOGISTIC.ridge)


def test_regressions_with_clients_in_another_order_or_twice() -> None:
    before = audit(LOGISTIC, ball=(np.zeros(2), 1.0), samples=1)
    for order in ([2, 0, 1], [0, 0, 1, 1, 2, 2]):
        other = RidgeLogistic(LOGISTIC.features[order], LOGISTIC.labels[order], LOGISTIC.ridge)
        after = audit(other, ball=(np.zeros(2), 1.0), samples=1)
        for entry in before:
            for end in ("value", "lower", "upper"):
                found = getattr(entry, end)
                same = [getattr(e, end) for e in after if (e.symbol, e.status) == (entry.symbol, entry.status)]
                assert len(same) == 1
                assert close(found, same[0]), entry


# --- torch losses ----------------------------------------


def torch_quadratic(problem: Quadratic, n: int) -> Any:
    import torch

    h, b = torch.tensor(problem.client_hessian[n]), torch.tensor(problem.client_linear[n])
    c = float(problem.client_offset[n])
    return lambda w: (w @ h @ w) / 2 - b @ w + c


def test_torch_losses_of_quadratics_have_their_constants() -> None:
    """On quadratics the samples are the constants, up to rounding, as the curvature is the same everywhere."""
    problem = quadratic(3, 3, 0.2, 2.0, 0.7, 11)
    truth = audit(problem, relative=3, ball=(np.zeros(3), 2.0))
    found = audit_torch([torch_quadratic(problem, n) for n in range(3)], 3, points=5, radius=2, relative=3)
    for symbol in ("mu", "L", "mu_client", "L_client", "f_min", "f_n_min"):
        assert found[symbol].value == pytest.approx(truth[symbol].value, rel=1e-6, abs=1e-7), symbol
    assert found["PL"].value >= truth["PL"].value * (1 - 1e-6)
    assert found["G2"].value <= truth["G2"].value
    assert found["zeta2_ball"].value <= truth["zeta2_ball"].upper
    same = audit_torch(lambda n, w: torch_quadratic(problem, n)(w), 3, 3, points=5, radius=2, relative=3)
    assert [e.value for e in same] == [e.value for e in found]


def test_a_torch_audit_says_nothing_but_samples() -> None:
    losses = [[lambda w: (w**4).sum(), lambda w: (w - 1).square().sum()], [lambda w: w.square().sum()]]
    found = audit_torch(losses, 2, points=6)
    assert {entry.status for entry in found} == {"sample"}
    assert all(entry.lower is None and entry.upper is None for entry in found)
    sides = {entry.symbol: entry.side for entry in found}
    assert all(sides[s] == "at least" for s in ("L", "L_client", "L_sample", "sigma2_ball", "zeta2_ball", "G2"))
    assert all(sides[s] == "at most" for s in ("mu", "mu_client", "mu_sample", "PL", "f_min", "f_n_min"))
    # 12 w^2 <= 12 in the ball of radius 1, and (w-1)^2 has 2
    assert 2 <= found["L_sample"].value <= 12
    assert 0 <= found["mu_sample"].value <= 2


def test_a_torch_audit_of_a_regression_is_inside_its_bounds() -> None:
    import torch

    x, y = torch.tensor(LOGISTIC.features), torch.tensor(LOGISTIC.labels)

    def loss(n: int, w: Any) -> Any:
        return LOGISTIC.ridge / 2 * (w @ w) + torch.nn.functional.softplus(-y[n] * (x[n] @ w)).mean()

    best = LOGISTIC.minimiser
    truth, found = audit(LOGISTIC, ball=1, samples=1), audit_torch(loss, 2, 3, centre=best, points=10)
    assert truth["mu_client_ball"].lower <= found["mu_client"].value
    assert found["L_client"].value <= truth["L_client"].value
    assert found["zeta2_ball"].value <= truth["zeta2_ball"].upper
    assert found["f_min"].value == pytest.approx(truth["f_min"].upper)
    assert found["PL"].value >= truth["PL"].lower


def test_a_linear_loss_has_no_curvature() -> None:
    found = audit_torch([lambda w: 3 * w.sum()], 2, points=3)
    assert (found["mu"].value, found["L"].value) == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((lambda n, w: w.sum()), 2), "clients is missing"),
        (([], 2), "losses has 0 entries"),
        (([lambda w: w], 2), r"losses gives \(2,\)"),
        (([lambda w: 1.0], 2), "losses gives float"),
        (([lambda w: w.detach().sum()], 2), "does not depend on w"),
        (([lambda w: w.sum().log()], 2), "losses gives -?(inf|nan)"),
        (([lambda w: w.sum(), [lambda w: w.sum()]], 2), "functions and sequences"),
        (([[]], 2), "without samples"),
        (([lambda w: w.sum()], 0), "dim=0"),
    ],
)
def test_torch_losses_that_cannot_be_audited(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit_torch(*arguments)


# --- what an entry may say ----------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        {"status": "guess", "value": 1},
        {"status": "bound", "value": 1},
        {"status": "bound", "interval": (0, 1), "value": 1},
        {"status": "exact", "value": 1, "interval": (1, 1)},
        {"status": "sample", "value": 1},
        {"status": "sample", "side": "at least"},
        {"status": "exact", "value": 1, "side": "at least"},
        {"status": "sample", "value": 1, "side": "at least", "interval": (1, None)},
    ],
)
def test_a_sample_is_no_bound_and_a_bound_no_value(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="status="):
        Measured(symbol="L", how="", source="", **entry)


def test_the_best_known_entry_comes_first() -> None:
    sample = Measured("L", "sample", "", "", value=1, side="at least")
    bound = Measured("L", "bound", "", "", interval=(None, 2))
    assert Audit("p", (sample, bound))["L"] is bound
    assert (bound.lower, bound.upper, sample.upper) == (None, 2, None)
    assert "[?, 2]" in str(Audit("p", (sample, bound)))
    assert list(MEANING) == ["exact", "bound", "sample"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ball": -1}, "ball=-1 is outside"),
        ({"ball": ([0, 0], 1)}, "not 1 finite numbers"),
        ({"start": [0, 0]}, "start has shape"),
        ({"relative": -1}, "relative=-1 is outside"),
        ({"samples": 0}, "samples=0"),
    ],
)
def test_arguments_outside_their_domain(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit(scalar([["1"]], [["0"]], exact=True), **arguments)


def test_other_problems_are_sent_elsewhere() -> None:
    with pytest.raises(ValueError, match="audit_torch"):
        audit(lambda w: w)


def test_the_command_prints_what_the_function_finds(folder: Path) -> None:
    given_spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
    found = printed("audit", "spec.json", "--ball", "1/2", "--relative", "2")
    values = {entry["symbol"]: entry["value"] for entry in found["constants"]}
    assert values["L_client"] == given_spec["clients"][0]["h"][0] == "1"
    assert values["distance2"] == "16"
    assert "L_client" in call("audit", "spec.json").stdout
    assert "sigma2_ball: not measured, no ball is given" in call("audit", "spec.json").stdout
    assert "ball" in complaint(call("audit", "spec.json", "--ball", "x"))
