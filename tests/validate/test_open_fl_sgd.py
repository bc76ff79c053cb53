"""The claims about SGD held against the exact oracle; proofs, refutations and their certificates."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from theory.papers.open_fl.sgd import CLAIMS
from validate.papers.open_fl import sgd, sgd_refutations, sgd_special
from validate.papers.open_fl.sgd_instances import equally_curved, worst_hessian, worst_instance

from sim.algorithms import FedAvg
from sim.participation import full
from sim.problems import Quadratic, scalar
from tests.validate.pools import applicable, assert_told_apart
from theory import claim
from theory.assumptions import BoundedStochasticGradient, BoundedVariance, MinimisersInBall, ShortStep
from validate import certificate
from validate.algebra import at_most, checked_lines
from validate.assumptions import satisfied
from validate.bounds import compare
from validate.scenario import Scenario

MEASURED = [
    "proposition-1",
    "proposition-1/second-moments",
    "theorem-2",
    "theorem-2/corrected",
    "theorem-2/corrected-2",
    "theorem-2/corrected-3",
    *[f"eq{n}" for n in range(6, 12)],
]
# right sides of neighbours that are false
FALSE = {
    "theorem-2/corrected": "sqrt((kappa+1)/2*(r**2 + 49/50*sigma**2/L**2))",
    "theorem-2/corrected-2": "sqrt((kappa+1)/2*(49/50*r**2 + sigma**2/L**2))",
    "theorem-2/corrected-3": "sqrt(49/50*A*(A - eta*mu*L)/((1 - eta*A)*mu*L)*r**2 + eta*A/(mu*L)*sigma**2)",
    "theorem-2": "sqrt(max(3, kappa))*sqrt(r**2/2 + sigma**2/L**2/3)",
    "proposition-1": "99/100*R**2",
    "proposition-1/second-moments": "99/100*R2",
    "eq6": "gradient_norm**2/L/(1+1/kappa) + 11/10*mu*distance2/(1+1/kappa)",
    "eq7": "gradient_norm**2/L/(1+1/kappa) + mu*distance2/(1+1/kappa) - r*gradient_norm/10",
    "eq8": "iterate_norm**2 - 2/L*iterate_product + 9/10*sampled_gradient2/L**2",
    "eq9": "9/10*sigma**2 + gradient_norm**2",
    "eq10": "iterate_norm**2 + 2*r/L*gradient_norm - (1-1/kappa)/(1+1/kappa)*gradient_norm**2/L**2"
    " - 2*mu/(L*(1+1/kappa))*distance2 + 9/10*sigma**2/L**2",
    "eq11": "iterate_norm**2 + 2*r**2 - 3*(iterate_norm - minimiser_norm)**2/kappa + sigma**2/L**2",
}


def of(label):
    return claim(f"open-fl/{label}")


@pytest.fixture(scope="module")
def pool():
    """Every scenario of the quick check, and every fifth of its scalar instances."""
    instances = [Scenario.from_spec(spec, exact=False) for spec in list(sgd.instances(quick=True))[::5]]
    return [*sgd.scenarios(quick=True), *instances]


@pytest.mark.parametrize("label", MEASURED)
def test_no_claim_is_broken_and_its_false_neighbour_is(label, pool):
    c = of(label)
    assert_told_apart(c, FALSE[label], applicable(c, pool, sgd.cases))


@pytest.mark.parametrize("label", ["theorem-2/corrected", "theorem-2/corrected-2", "theorem-2/corrected-3"])
def test_the_corrected_radii_are_attained(label, pool):
    c = of(label)
    best = max(compare(c, cases).tightness or 0 for _, cases in applicable(c, pool, sgd.cases))
    assert 1 - 1e-9 <= best <= 1 + 1e-9


def test_federated_systems_are_among_the_scenarios_of_the_uniform_claim(pool):
    seen = [scenario for scenario, _ in applicable(of("theorem-2/corrected-2"), pool, sgd.cases)]
    assert any(s.problem.clients > 1 and s.algorithm.local_steps > 1 and s.problem.dim > 1 for s in seen)
    assert any(s.rounds >= 10 and not (s.moments().participation == 1).all() for s in seen)


@pytest.mark.parametrize("label", [c.label for c in CLAIMS])
def test_evidence_and_refutations(label, tmp_path):
    evidence, path = sgd.special(of(label), tmp_path)
    outcomes = [e.outcome for e in evidence]
    assert "fails" not in outcomes
    if label in ("definition-1/for-all-time", "proposition-1/dependent-weights"):
        assert outcomes == ["refuted"]
        assert path is not None
        assert certificate.verify(path).valid
        assert certificate.differences(certificate.read(path), of(label)) == ()
    else:
        assert path is None
    if label.startswith(("theorem-2", "proposition-1/second", "lemma-4")) or label == "proposition-1":
        assert "holds" in outcomes
        assert any("do not reach the claim" in e.detail for e in evidence)
    assert "proved" not in outcomes


def test_wrong_lines_are_not_shown():
    """The algebra can fail: signs, and an identity with a wrong factor."""
    assert not at_most("(4+z)/2*(r**2+s2)", "r**2 + (3+z)*(r**2/4+s2/4)")
    x, star, g = sgd_special._basis(3)
    assert not sgd_special._zero(sgd_special._product(x - g, x - g) - sgd_special._product(x, x))
    assert sgd_special._zero(
        sgd_special._product(x + star, x + star)
        - sgd_special._product(x, x)
        - 2 * sgd_special._product(x, star)
        - sgd_special._product(star, star)
    )
    assert checked_lines({"a line": False}, "").outcome == "undecided"


# --- the chain that leaves its ball ----------------------------------------------------------------------------------


def test_the_chain_is_what_it_says_by_other_code():
    """mu = 1/4, L = eta = 1, x* = 1: f' by cases, the law followed by recursion."""
    chain = sgd_refutations.leaving_chain()
    R = chain.R
    slopes = {False: Fraction(1, 4), True: Fraction(1)}

    def gradient(x):
        return slopes[x < 1] * (x - 1)

    # one step from any |x| <= R: the worst is at an end, as x - f'(x) is 1 below 1 and increases above
    worst = max((x - gradient(x)) ** 2 for x in (-R, R, Fraction(1)))
    assert worst + 4 <= R**2
    for x, law in chain.noise.items():
        assert sum(p for p, _ in law) == 1
        assert all(p > 0 for p, _ in law)
        assert sum(p * y for p, y in law) == x - gradient(x)
        assert sum(p * y * y for p, y in law) - (x - gradient(x)) ** 2 <= 4

    def second_moment(x, steps):
        return x * x if steps == 0 else sum(p * second_moment(y, steps - 1) for p, y in chain.noise[x])

    assert chain.second_moments(2) == [second_moment(R, k) for k in range(3)]
    assert second_moment(R, 1) <= R**2 < second_moment(R, 2)


def test_the_chain_stays_below_the_radius_for_all_time():
    moment = sgd_refutations.leaving_chain().second_moments(2)[-1]
    radius = of("theorem-2/corrected-2").bound(mu=0.25, L=1, r=1, sigma=2)
    assert float(moment) <= radius**2 == pytest.approx(12.5)


@pytest.mark.parametrize("R", ["7/2", "18/5"])
def test_a_chain_at_another_radius_is_no_counterexample(R, tmp_path):
    """At 7/2 one step leaves the ball; at 18/5 the second moment stays inside."""
    chain = sgd_refutations.leaving_chain(Fraction(R))
    made = certificate.chain_certificate(
        of("definition-1/for-all-time"),
        {"minimiser": 1, "mu": Fraction(1, 4), "L": 1},
        eta=1,
        r=1,
        sigma2=4,
        start=chain.R,
        noise={x: list(law) for x, law in chain.noise.items()},
        steps=2,
        left=chain.second_moments(2)[-1],
        R=chain.R,
    )
    assert not certificate.verify(made).valid


def set_at(data, path, value):
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("function", "mu"), "1/3"),
        (("sigma2",), "3"),
        (("eta",), "9/10"),
        (("start",), "3"),
        (("R",), "4"),
        (("noise", 0, "outcomes", 0, 0), "1/2"),
        (("left_value",), "13"),
    ],
)
def test_a_chain_that_is_tampered_with_is_refused(path, value):
    made = copy.deepcopy(sgd_refutations.chain_certificate(of("definition-1/for-all-time")))
    assert certificate.verify(made).valid
    set_at(made, path, value)
    assert not certificate.verify(made).valid


def test_the_dependent_weights_by_other_code():
    outcomes = sgd_refutations.larger_of_two()
    assert sum(o["p"] for o in outcomes) == 1
    for client in (0, 1):
        assert sum(o["p"] * o["x"][client][0] ** 2 for o in outcomes) == Fraction(1, 2)
    assert sum(o["p"] * max(x[0] for x in o["x"]) ** 2 for o in outcomes) == Fraction(3, 4)
    made = sgd_refutations.finite_certificate(of("proposition-1/dependent-weights"))
    assert json.loads(json.dumps(made)) == made
    assert (made["left_value"], made["right_value"]) == ("3/4", "1/2")
    made["outcomes"][1]["weights"] = ["1", "0"]
    made["outcomes"][2]["weights"] = ["0", "1"]
    assert not certificate.verify(made).valid


# --- scenarios -------------------------------------------------------------------------------------------------------


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


def test_what_the_claims_do_not_speak_of():
    good = worst_instance(0.1, 1.0, 1.0, 1.0)
    radius = float(np.linalg.norm(good.start))
    theorem = of("theorem-2/corrected")
    assert sgd.cases(theorem, good) is not None
    assert sgd.cases(of("lemma-4"), good) is None
    assert sgd.cases(theorem, object()) is None
    outside = worst_instance(0.1, 1.0, 1.0, 1.0, R=1.01 * radius)
    assert sgd.cases(theorem, outside) is None
    unequal = Quadratic(np.array([[[[1.0]], [[0.5]]]]), np.zeros((1, 2, 1)), np.zeros((1, 2)), np.array([2]))
    two = Scenario("", FedAvg(step=1.0, local_steps=2, aggregation="normalised"), unequal, full(), 1, np.ones(1))
    assert sgd.cases(of("theorem-2/corrected-2"), two) is None


def test_exact_instances_give_exact_cases():
    spec = {
        "algorithm": "local-sgd",
        "clients": [{"h": ["1", "1"], "a": ["8", "-2"], "p": "1"}],
        "step": "1/2",
        "local_steps": 1,
        "K": 1,
        "theta0": "-3",
        "aggregation": "normalised",
    }
    cases = sgd.cases(of("eq10"), Scenario.from_spec({**spec, "step": "1"}, exact=True))
    assert cases is not None
    assert cases.left[0] == 34  # 3^2 + 5^2
    assert cases.parameters_at(0)["sigma"] == 5
    assert sgd.cases(of("eq10"), Scenario.from_spec(spec, exact=True)) is None  # not the full step
    # E||x||^2 = 0 + 25/4 at half the step
    theorem = sgd.cases(of("theorem-2"), Scenario.from_spec(spec, exact=True))
    assert theorem is not None
    assert theorem.left[0] == Fraction(5, 2)
    irrational = {**spec, "theta0": "-2"}
    assert sgd.cases(of("theorem-2"), Scenario.from_spec(irrational, exact=True)) is None


# --- assumptions -----------------------------------------------------------------------------------------------------


def one_client(h, a, step=0.5, rounds=1, local_steps=1, start=2.0):
    problem = scalar([h], [a])
    return Scenario("", FedAvg(step=step, local_steps=local_steps), problem, full(), rounds, np.array([start]))


@pytest.mark.parametrize(("sigma", "holds"), [(2.0, True), (1.99, False), (3.0, True)])
def test_the_variance_of_samples_of_equal_curvature_is_the_same_everywhere(sigma, holds):
    scenario = one_client([2.0, 2.0], [1.0, -1.0], rounds=9, local_steps=3)
    assert satisfied(BoundedVariance(), scenario, {"sigma": sigma}) is holds


def test_the_variance_of_other_samples_is_known_at_the_start_only():
    # gradients 2 (2-1) = 2 and 2+1 = 3: variance 1/4
    assert satisfied(BoundedVariance(), one_client([2.0, 1.0], [1.0, -1.0]), {"sigma": 0.5})
    assert not satisfied(BoundedVariance(), one_client([2.0, 1.0], [1.0, -1.0]), {"sigma": 0.49})
    assert not satisfied(BoundedVariance(), one_client([2.0, 1.0], [1.0, -1.0], rounds=2), {"sigma": 100.0})
    assert not satisfied(BoundedVariance(), one_client([2.0, 1.0], [1.0, -1.0], local_steps=2), {})


@pytest.mark.parametrize(
    ("at", "parameters", "rounds", "holds"),
    [
        ("iterates", {"sigma": 6.0}, 1, True),  # 2 (2-1) = 2, 2 (2+1) = 6
        ("iterates", {"sigma": 5.9}, 1, False),
        ("iterates", {"sigma": 100.0}, 2, False),  # unknown later on
        ("everywhere", {"sigma": 1e9}, 1, False),
        ("ball", {"sigma": 1e9}, 1, False),  # no radius
        ("ball", {"sigma": 20.0, "R": 2.0}, 1, True),
        ("ball", {"sigma": 4.0, "R": 2.0}, 1, False),
    ],
)
def test_bounded_gradients(at, parameters, rounds, holds):
    scenario = one_client([2.0, 2.0], [1.0, -1.0], rounds=rounds)
    assert satisfied(BoundedStochasticGradient(at=at), scenario, parameters) is holds


def test_minimisers_and_steps():
    scenario = one_client([2.0, 2.0], [3.0, 1.0])
    assert satisfied(MinimisersInBall(), scenario, {"r": 2.0})
    assert not satisfied(MinimisersInBall(), scenario, {"r": 1.9})
    assert not satisfied(MinimisersInBall(), one_client([1.0, -1.0], [0.0, 1.0]), {"r": 99.0})
    assert satisfied(ShortStep(), scenario, {"L": 2.0})
    assert not satisfied(ShortStep(), one_client([2.0], [0.0], step=0.51), {"L": 2.0})
    assert not satisfied(ShortStep(), one_client([2.0], [0.0], step=0.51), {})
    changing = Scenario("", FedAvg(step=(0.5, 0.6), local_steps=1), scalar([[2.0]], [[0.0]]), full(), 2, np.ones(1))
    assert not satisfied(ShortStep(), changing, {"L": 2.0})


def test_equally_curved_problems_have_the_noise_that_they_are_given():
    noise = np.array([[[3.0, 0.0], [-3.0, 0.0], [0.0, 0.0]]])
    problem = equally_curved(np.diag([1.0, 2.0])[None], np.array([[1.0, -1.0]]), noise)
    assert problem.minimiser == pytest.approx([1.0, -1.0])
    for x in ([0.0, 0.0], [10.0, -7.0]):
        assert problem.sampling_noise(np.array(x))[0] == pytest.approx(6.0)


def test_verdicts(tmp_path):
    """The whole check of the paper's SGD claims, printed proof included."""
    from validate.papers import open_fl

    from validate.checking import check_claim
    from validate.replay import evidence, replay
    from validate.survey import Pool
    from validate.verdict import decide

    some = tuple(scenario for i, scenario in enumerate(sgd.scenarios(quick=True)) if i % 6 == 0)
    results = {c.id: check_claim(c, open_fl, Pool((), some), (), tmp_path) for c in CLAIMS}
    refuted = {"open-fl/definition-1/for-all-time", "open-fl/proposition-1/dependent-weights"}
    for name, result in results.items():
        proved = name.rsplit("/", 1)[1] in ("eq6", "eq8", "eq9")
        expected = {"refuted"} if name in refuted else {"proved"} if proved else {"supported", "undecided"}
        assert result.verdict in expected, (name, [e.detail for e in result.evidence])
        assert result.broken == (name in refuted)
        assert (result.certificate is not None) == (name in refuted)
    proof = replay(of("theorem-2"), results=results)
    assert {line.outcome for line in proof.lines} == {"proved", "holds"}
    assert all(line.follows.answer == "follows" for line in proof.lines if line.follows is not None)
    assert sum(line.follows is not None for line in proof.lines) == 3
    assert proof.first_false is None
    assert decide("x", [evidence(proof)]).verdict == "undecided"  # a proof that holds at settings proves nothing alone
