"""fedmim's claims about rounds on its pool: what is true is never broken, what is false is found and certified.

And the checks of the assumptions that the paper brings, against grids of x and direct computation.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.participation import Bernoulli, UniformChoice
from sim.problems import Quadratic, from_samples
from tests.rationals import rationals
from tests.theory.fedmim_moments import Run, simulate
from theory.assumptions import (
    BoundedAverageStep,
    BoundedBelow,
    PolyakLojasiewicz,
    RelativeDissimilarity,
    UniformParticipation,
    VarianceAtMost,
)
from theory.evaluate import exact_terms
from theory.papers.fedmim import PAPER
from validate import certificate, dissimilarity
from validate.assumptions import satisfied, unmet
from validate.bounds import breaks, compare, exact_or_rounded_sides
from validate.description import describe
from validate.falsify import fixed_point, rounds_certificate, size, smallest
from validate.inertial_scenario import InertialScenario
from validate.papers.fedmim.constants import lambdas, largest_lambda, pairs
from validate.papers.fedmim.instances import given as by_hand
from validate.papers.fedmim.instances import instances, long_runs
from validate.papers.fedmim.rounds import cases
from validate.papers.fedmim.scenarios import scenarios
from validate.scenario import Scenario, read_scenario

CLAIMS = {c.label: c for c in PAPER}
F = Fraction
TRUE = (
    "eq21", "lemma-7/corrected", "eq25/corrected", "eq26/corrected", "lemma-8", "eq29", "eq30/corrected", "eq31",
    "lemma-9/corrected", "eq34", "eq37", "theorem-iv1-eq7/with-lambda", "theorem-iv1-eq7/corrected",
    "theorem-iv1-eq35/with-lambda", "theorem-iv1-eq35/corrected", "theorem-iv1-eq35/without-c",
    "theorem-iv2-eq9/with-lambda", "theorem-iv2-eq9/corrected", "theorem-iv2-eq39/with-lambda",
    "theorem-iv2-eq39/corrected",
)  # fmt: skip
FALSE = (
    "lemma-7", "eq25", "eq26", "eq30", "lemma-9", "theorem-iv1-eq7", "theorem-iv1-eq35", "theorem-iv2-eq9",
    "theorem-iv2-eq39", "eq40",
)  # fmt: skip
GIVEN = list(by_hand())
LONG = [s for s in GIVEN if s["K"] > 30]


@pytest.fixture(scope="module")
def pool() -> list[tuple[Any, InertialScenario]]:
    """What is given, long runs, a part of the grid, and the scenarios in several dimensions."""
    long = list(long_runs(quick=True))
    grid = list(instances(quick=True))[len(long) :: 5]
    specs = [(spec, InertialScenario.from_spec(spec, exact=False)) for spec in [*GIVEN, *long, *grid]]
    return [*specs, *((None, scenario) for scenario in scenarios(quick=True))]


def suspects(label: str, pool: list[tuple[Any, InertialScenario]]) -> tuple[int, list[Any]]:
    """On how many scenarios the claim applies, and those that break it."""
    seen, broken = 0, []
    for spec, scenario in pool:
        found = cases(CLAIMS[label], scenario)
        if found is None or unmet(CLAIMS[label], scenario, found.parameters_at(0)):
            continue
        seen += 1
        if compare(CLAIMS[label], found).broken:
            broken.append(spec)
    return seen, broken


@pytest.mark.parametrize("label", TRUE)
def test_what_is_true_is_never_broken(label: str, pool: list[Any]) -> None:
    seen, broken = suspects(label, pool)
    assert seen >= (4 if "iv2" in label else 15)
    assert broken == []


@pytest.mark.parametrize("label", FALSE)
def test_what_is_false_is_found_and_certified(label: str, pool: list[Any]) -> None:
    claim = CLAIMS[label]
    _, broken = suspects(label, pool)
    # the scenarios in several dimensions break some of them too; certificates are of instances in fractions
    found, cleared = smallest(claim, [spec for spec in broken if spec is not None], cases)
    assert found is not None
    assert cleared == 0
    assert breaks(claim, found.left, found.right)
    report = certificate.verify(rounds_certificate(claim, found))
    assert report.valid, report


def test_lemma_9_holds_from_b_of_one_half_on(pool: list[Any]) -> None:
    claim, met = CLAIMS["lemma-9"], 0
    for _, scenario in pool:
        found = cases(claim, scenario)
        if found is None or unmet(claim, scenario, found.parameters_at(0)):
            continue
        kept = found.parameters["B"] >= 0.5
        right = claim.bound(**found.parameters)
        assert (found.left <= right * (1 + 1e-9))[kept].all()
        met += kept.sum()
    assert met > 500


@pytest.mark.parametrize("label", ["theorem-iv1-eq7/with-lambda", "theorem-iv2-eq9/with-lambda"])
def test_the_theorems_with_33_stand_apart_from_the_printed_ones(label: str) -> None:
    """The instances that break the printed theorems do not meet (33)."""
    for spec in LONG[:6]:
        scenario = InertialScenario.from_spec(spec, exact=False)
        found = cases(CLAIMS["theorem-iv1-eq7"], scenario)
        assert found is not None
        assert cases(CLAIMS[label], scenario) is None  # no lambda is below the limit
        parameters = found.parameters_at(0) | {"mu": 0.01}
        assert "lambda exists" in unmet(CLAIMS[label], scenario, parameters)


@pytest.mark.parametrize(("label", "spec"), [("lemma-9", 11), ("theorem-iv1-eq7", 4), ("eq30", 9)])
def test_every_case_meets_the_hypotheses_that_the_first_one_meets(label: str, spec: int) -> None:
    scenario = InertialScenario.from_spec(GIVEN[spec], exact=True)
    found = cases(CLAIMS[label], scenario)
    assert found is not None
    first = unmet(CLAIMS[label], scenario, found.parameters_at(0))
    assert all(unmet(CLAIMS[label], scenario, found.parameters_at(i)) == first for i in range(len(found)))


# --- what is measured ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 3])
def test_sides_against_plain_moments(K: int) -> None:
    """Left sides and parameters by the plain recursion over all subsets (without noise; b there is -b here)."""
    h, b = (1.0, 0.5, 0.25), (0.5, -0.25, -0.25)
    run = Run(h, b, (0.5, 0.25), (0.25, 0.5), K, 2, 0.125, 0.0, 2.0)
    rounds = simulate(run, 4)
    spec = {
        "algorithm": "fedmim",
        "clients": [{"h": x, "b": -y} for x, y in zip(h, b, strict=True)],
        "S": 2, "local_steps": K, "step": "1/8", "alpha": ["1/2", "1/4"], "beta": ["1/4", "1/2"], "x0": 2, "K": 4,
    }  # fmt: skip
    scenario = InertialScenario.from_spec(spec, exact=True)

    def of(label: str) -> Any:
        found = cases(CLAIMS[label], scenario)
        assert found is not None
        return found

    found = of("lemma-9/corrected")
    count = len(found) // 2  # two pairs of G and B
    assert found.left[:count].astype(float) == pytest.approx([r.average_sq for r in rounds])
    assert found.parameters["grad_u2"][:count].astype(float) == pytest.approx([r.grad_u2 for r in rounds])
    assert found.parameters["delta_sq"][:count].astype(float) == pytest.approx(np.array([r.delta_sq for r in rounds]))
    found = of("eq30/corrected")
    assert found.left.astype(float) == pytest.approx(np.ravel([r.selected_sq for r in rounds]))
    assert found.parameters["mean_sq"].astype(float) == pytest.approx(np.ravel([r.mean_sq for r in rounds]))
    assert found.parameters["gradients_sq"].astype(float) == pytest.approx(np.ravel([r.gradients_sq for r in rounds]))
    found = of("eq26/corrected")
    expected = np.ravel([r.drift[1:] for r in rounds])
    assert found.left[: len(expected)].astype(float) == pytest.approx(expected)
    assert found.parameters["k"][: len(expected)].tolist() == [*range(1, K + 1)] * 4
    found = of("eq21")
    assert found.left.astype(float) == pytest.approx([r.next_delta_sq for r in rounds])
    dtilde = [r.average_sq * 0.125**2 for r in rounds]
    assert found.parameters["dtilde_sq"].astype(float) == pytest.approx(dtilde)
    found = of("lemma-8")
    assert found.left[:4].astype(float) == pytest.approx([np.mean(r.drift[1:]) for r in rounds])
    found = of("theorem-iv1-eq7")
    assert float(found.left[0]) == pytest.approx(min(r.grad_u2 for r in rounds))
    assert float(found.parameters["f0_gap"][0]) == pytest.approx(rounds[0].gap)
    assert float(found.parameters["C"][0]) == pytest.approx(max(r.average_sq for r in rounds), rel=1e-4)
    assert found.parameters["C"][0] >= scenario.moments().squared_average_step.max() * 64


def test_the_output_is_weighted_towards_the_end() -> None:
    """Theorem IV.2's counterexample: E||grad f||^2 is 1, 4 with the weights 1 and 1/p, p = 1 - 3/4."""
    scenario = InertialScenario.from_spec(next(s for s in GIVEN if s["step"] == "3"), exact=True)
    claim = CLAIMS["theorem-iv2-eq9"]
    found = cases(claim, scenario)
    assert found is not None
    i = found.parameters["lam"].tolist().index(F(1, 4))
    left, right = exact_or_rounded_sides(claim, found, i)
    assert left == F(17, 5)
    assert F(claim.enclose(**found.parameters_at(i)).lower) <= right <= 2 * F("0.22313016014842982893329")


def test_claims_of_which_a_scenario_does_not_speak() -> None:
    spec = GIVEN[0]
    scenario = InertialScenario.from_spec(spec, exact=False)
    for label in ("lemma-5", "eq33", "eq33/corrected", "remark-iv1", "remark-iv1/terms"):
        assert cases(CLAIMS[label], scenario) is None
    plain = {"algorithm": "local-sgd", "clients": [{"h": "1", "a": "0"}], "step": "1", "local_steps": 1, "K": 1}
    assert cases(CLAIMS["eq21"], Scenario.from_spec({**plain, "theta0": "1"}, exact=False)) is None
    for changed in ({"K": 0}, {"K": 2, "step": ["1/8", "1/9"]}):
        assert cases(CLAIMS["eq21"], InertialScenario.from_spec({**spec, **changed}, exact=False)) is None
    uneven = {**spec, "clients": [{"h": ["1", "2"], "b": ["0", "1"]}], "S": 1, "K": 1}
    assert (
        cases(CLAIMS["eq29"], InertialScenario.from_spec(uneven, exact=True)) is None
    )  # no variance that holds at all x
    sloped = {**spec, "clients": [{"h": "0", "b": "1"}], "S": 1, "K": 1}
    assert cases(CLAIMS["theorem-iv1-eq7"], InertialScenario.from_spec(sloped, exact=True)) is None  # no f_*


# --- the assumptions -------------------------------------------------------------------------------------------------

number = rationals(-3, 3, 4)
lines = st.lists(st.tuples(number, number), min_size=1, max_size=4)
GRID = [F(x, 4) for x in range(-400, 401, 3)] + [F(10) ** e * s for e in (3, 6, 9) for s in (1, -1)]


def scalar(clients: Any) -> Quadratic:
    """f_n' = h_n x - b_n, in fractions."""
    return from_samples([[[[h]]] for h, _ in clients], [[[b]] for _, b in clients], exact=True)


def rough(problem: Quadratic) -> Quadratic:
    return Quadratic(
        problem.hessian.astype(float), problem.linear.astype(float), problem.offset.astype(float), problem.counts
    )


def excess(clients: Any, G: Fraction, B: Fraction, x: Fraction) -> Fraction:
    """The left side of (6) minus the right."""
    gradients = [h * x - b for h, b in clients]
    mean = sum(gradients) / len(gradients)
    return sum(g * g for g in gradients) / len(gradients) - G**2 - B**2 * mean**2


@settings(max_examples=60, deadline=None)
@given(clients=lines, G=rationals(0, 4, 4), B=rationals(0, 4, 4))
def test_dissimilarity_is_decided_as_on_a_grid(clients: Any, G: Fraction, B: Fraction) -> None:
    h, b = (sum(values) / len(clients) for values in zip(*clients, strict=True))
    # a polynomial of degree 2 that is positive somewhere is so at 0, at its top, or far out
    c2 = sum(x * x for x, _ in clients) / len(clients) - B**2 * h**2
    c1 = 2 * (B**2 * h * b - sum(x * y for x, y in clients) / len(clients))
    points = GRID + ([-c1 / (2 * c2)] if c2 else []) + [F(10) ** 12, -(F(10) ** 12)]
    expected = all(excess(clients, G, B, x) <= 0 for x in points)
    problem = scalar(clients)
    assert dissimilarity.holds(problem, G, B) is expected
    claim = CLAIMS["lemma-7/corrected"]
    parameters = {"alpha": [0], "beta": [0], "K": 1, "L": 3, "G": G, "B": B, "delta_sq": [0], "grad_u2": 0, "drift": 0}
    scenario = dataclasses.replace(ONE, problem=problem, participation=UniformChoice(1))
    assert ("dissimilarity" in unmet(claim, scenario, parameters)) is not expected
    if expected:
        assert dissimilarity.holds(rough(problem), float(G), float(B))


@settings(max_examples=60, deadline=None)
@given(clients=lines)
def test_the_pairs_hold_and_are_least(clients: Any) -> None:
    problem = scalar(clients)
    least = dissimilarity.least_relative(problem)
    found = pairs(problem)
    assert (least is None) == (found == [])
    for pair in found:
        G, B = pair["G"], pair["B"]
        assert dissimilarity.holds(problem, G, B)
        assert least <= B * B
        if G:
            assert not dissimilarity.holds(problem, G * F(999, 1000), B)
        if B and any(h for h, _ in clients):  # with the smallest B^2, hardly any less of it will do, whatever G
            assert not dissimilarity.holds(problem, F(10) ** 9, F(999, 1000) * found[0]["B"]) or len(found) > 1
    for pair, other in zip(pairs(rough(problem)), found, strict=True):
        assert pair["B"] == pytest.approx(float(other["B"]), rel=1e-5, abs=1e-9)
        assert dissimilarity.holds(rough(problem), pair["G"], pair["B"])


@pytest.mark.parametrize("seed", range(6))
def test_dissimilarity_in_several_dimensions(seed: int) -> None:
    """The least G at a given B: held at random points and attained at one, and not held with less."""
    rng = np.random.default_rng(seed)
    count, d = 3, 2 + seed % 2
    roots = rng.normal(size=(count, 1, d, d))
    problem = Quadratic(
        roots @ roots.swapaxes(-1, -2), rng.normal(size=(count, 1, d)), np.zeros((count, 1)), [1] * count
    )
    for pair in pairs(problem):
        G, B = pair["G"], pair["B"]

        def gap(x: np.ndarray, G: float = G, B: float = B) -> float:
            mean = (problem.client_gradient(x) ** 2).sum() / count
            return float(G**2 + B**2 * (problem.gradient(x) ** 2).sum() - mean)

        assert min(gap(rng.normal(size=d) * 10.0 ** rng.uniform(-2, 4)) for _ in range(300)) >= 0
        # where the gap is least: the gradient of the gap vanishes
        second = (problem.client_hessian @ problem.client_hessian).sum(axis=0) / count
        cross = (problem.client_hessian @ problem.client_linear[..., None])[..., 0].sum(axis=0) / count
        H, b = problem.mean_hessian, problem.mean_linear
        lowest = np.linalg.solve(B**2 * H @ H - second, B**2 * H @ b - cross)
        assert gap(lowest) == pytest.approx(0, abs=1e-8 * (1 + G**2))
        assert dissimilarity.holds(problem, G, B)
        assert not dissimilarity.holds(problem, 0.99 * G, B)
    assert not dissimilarity.holds(problem, 1e6, 0.99 * np.sqrt(dissimilarity.least_relative(problem)))
    # equal Hessians: B = 1 and the variance of the linear terms
    same = Quadratic(np.repeat(problem.hessian[:1], count, axis=0), problem.linear, problem.offset, problem.counts)
    (pair,) = pairs(same)
    assert pair["B"] == pytest.approx(1)
    assert pair["G"] ** 2 == pytest.approx(same.client_linear.var(axis=0).sum())


ONE = InertialScenario.from_spec(
    {"clients": [{"h": "1", "b": "0"}], "local_steps": 1, "step": "1/2", "x0": "1", "K": 2}, exact=True
)


@settings(max_examples=60, deadline=None)
@given(clients=lines, mu=rationals(F(1, 4), 3, 4))
def test_pl_and_boundedness_as_on_a_grid(clients: Any, mu: Fraction) -> None:
    h, b = (sum(values) / len(clients) for values in zip(*clients, strict=True))
    scenario = dataclasses.replace(ONE, problem=scalar(clients))
    bounded = h > 0 or (h == 0 and b == 0)
    assert satisfied(BoundedBelow(), scenario, {}) is bounded
    expected = bounded
    if bounded:
        low = min(h * x * x / 2 - b * x for x in [*GRID, b / h if h else F(0)])
        expected = all((h * x - b) ** 2 / 2 >= mu * (h * x * x / 2 - b * x - low) for x in GRID)
    assert satisfied(PolyakLojasiewicz("mu"), scenario, {"mu": mu}) is expected
    assert satisfied(PolyakLojasiewicz("mu"), scenario, {}) is bounded
    assert (
        satisfied(PolyakLojasiewicz("mu"), dataclasses.replace(scenario, problem=rough(scenario.problem)), {})
        is bounded
    )


@settings(max_examples=30, deadline=None)
@given(clients=lines, step=rationals(F(1, 8), 1, 8), share=st.sampled_from([F(999, 1000), F(1), F(2)]))
def test_the_average_step_is_bounded_by_what_it_is(clients: Any, step: Fraction, share: Fraction) -> None:
    """One of N clients, one local step, no inertia: E||g||^2 by enumeration over two rounds."""
    scenario = dataclasses.replace(
        ONE,
        problem=scalar(clients),
        algorithm=dataclasses.replace(ONE.algorithm, step=step),
        participation=UniformChoice(1),
    )
    first = [h - b for h, b in clients]
    second = [h * (1 - step * g) - b for g in first for h, b in clients]
    C = max(sum(g * g for g in values) / len(values) for values in (first, second))
    assumption = BoundedAverageStep("C", "eta_l")
    assert satisfied(assumption, scenario, {"C": C * share, "eta_l": step}) is (share >= 1 or C == 0)
    assert satisfied(assumption, scenario, {"C": C * share}) is (share >= 1 or C == 0)
    assert satisfied(assumption, scenario, {"eta_l": step})
    with pytest.raises(ValueError, match="BoundedAverageStep has no check"):
        satisfied(assumption, Scenario("", None, scenario.problem, Bernoulli(1), 1, [F(1)]), {"C": C})  # type: ignore[arg-type]


def test_the_other_assumptions() -> None:
    assert satisfied(UniformParticipation(), ONE, {})
    plain = {"algorithm": "local-sgd", "clients": [{"h": "1", "a": "0"}], "step": "1", "local_steps": 1, "K": 1}
    assert not satisfied(UniformParticipation(), Scenario.from_spec({**plain, "theta0": "1"}, exact=True), {})
    assert satisfied(RelativeDissimilarity("G", "B"), ONE, {"B": 1})
    assert not satisfied(RelativeDissimilarity("G", "B"), ONE, {"B": F(1, 2)})
    assert not satisfied(RelativeDissimilarity("G", "B"), ONE, {"B": 1, "G": -1})
    with pytest.raises(ValueError, match="B is missing"):
        satisfied(RelativeDissimilarity("G", "B"), ONE, {"G": 1})
    noisy = InertialScenario.from_spec(
        {"clients": [{"h": ["1", "1"], "b": ["1", "-3"]}], "local_steps": 2, "step": "1/2", "x0": "1", "K": 2},
        exact=True,
    )
    assert satisfied(VarianceAtMost("sigma2", at="iterates"), noisy, {"sigma2": 4})
    assert not satisfied(VarianceAtMost("sigma2", at="iterates"), noisy, {"sigma2": F(399, 100)})
    for assumption in (
        RelativeDissimilarity(),
        PolyakLojasiewicz(),
        UniformParticipation(),
        BoundedAverageStep(),
        BoundedBelow(),
    ):
        assert assumption.describe()


# --- reading instances -----------------------------------------------------------------------------------------------


def test_size_description_and_resting_point() -> None:
    spec = {
        "algorithm": "fedmim",
        "clients": [{"h": "1", "b": "1"}, {"h": "1/2", "b": "0"}, {"h": "0", "b": "1"}],
        "local_steps": 3, "step": "1/8", "alpha": ["1/2"], "beta": ["1/4"], "x0": "3", "K": 2,
    }  # fmt: skip
    assert size(spec)[:4] == (3, 3, 2, 3)
    assert size({**spec, "alpha": ["1/3"]}) > size(spec)
    assert describe({**spec, "S": 2}) == "3 clients, S=2, local_steps=3, K=2, step 1/8, alpha 1/2, beta 1/4, start 3"
    point = fixed_point(spec)
    assert point is not None
    still = read_scenario({**spec, "x0": str(point), "K": 3}, exact=True)
    assert still.moments().mean[:, 0].tolist() == [point] * 4
    assert fixed_point({**spec, "S": 2}) is None
    assert fixed_point({**spec, "clients": [{"h": ["1", "1"], "b": ["0", "1"]}]}) is None
    assert fixed_point({**spec, "clients": [{"h": "0", "b": "1"}]}) is None


def test_certificates_stay_within_what_the_verifier_plays() -> None:
    """All subsets and samples of the pool's instances: at most 20,000 outcomes a round where a claim may break."""
    for spec in (*GIVEN, *long_runs()):
        assert len(list(combinations(range(len(spec["clients"])), spec["S"]))) <= 20_000


def test_lambda_stays_in_its_domain() -> None:
    scenario = ONE
    for label in ("theorem-iv1-eq7/with-lambda", "theorem-iv1-eq7/corrected", "theorem-iv1-eq7"):
        claim = CLAIMS[label]
        at = {"alpha": [0], "beta": [0], "K": 1, "L": F(1), "eta_l": F(1, 256), "S": 1, "G": 0, "B": 1, "sigma2": 0}
        at |= {"C": 1, "T": 2, "f0_gap": 1}
        found = lambdas(claim, at, scenario.rounds)
        assert len(found) == 3
        assert all(0 < lam < F(1, 2) and "lambda" not in str(claim.violated(**at, lam=lam)) for lam in found)
        assert ("lambda" in str(claim.violated(**at, lam=F(499, 1000)))) == ("/" in label)
        if "/" in label:
            assert lambdas(claim, {**at, "eta_l": F(1)}, scenario.rounds) == []


@pytest.mark.parametrize("label", [label for label in CLAIMS if "lam_max" in CLAIMS[label].definitions])
def test_the_largest_lambda_is_the_claims_own(label: str) -> None:
    claim = CLAIMS[label]
    lags = {"alpha": [F(1, 2), F(1, 5)], "beta": [F(1, 3), F(0)], "delta_sq": [F(0), F(0)]}
    at = {p.name: lags.get(p.name, F(1, 7)) for p in claim.parameters} | {"K": 3, "S": 2, "T": 4, "eta_l": F(1, 99)}
    at = {p.name: at[p.name] for p in claim.parameters}
    expected = exact_terms(claim, at)["lam_max"]
    assert largest_lambda(claim, at) == expected
    floats = {name: [float(v) for v in x] if isinstance(x, list) else float(x) for name, x in at.items()}
    assert largest_lambda(claim, floats) == pytest.approx(float(expected), rel=1e-13)  # type: ignore[arg-type]
