"""The claims of perm about local SGD and mini-batch SGD: both sides by enumeration, W, certificates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers import perm
from validate.papers.perm import local_sgd

from sim.algorithms import FedAvg
from sim.participation import Bernoulli, full
from sim.problems import quadratic
from tests.validate.pools import applicable, assert_told_apart
from theory import claim
from theory.assumptions import BoundedDissimilarity, BoundedDomain, BoundedGradient, InteriorMinimiser, VarianceAtMost
from theory.evaluate import exact
from validate import certificate, reachable
from validate.assumptions import satisfied
from validate.falsify import confirm
from validate.scenario import Scenario

F = Fraction
FALSE_NEIGHBOURS = {  # right sides that are below the left side somewhere
    "lemma-4/corrected": "99/100*((1-mu*gamma)*dist - (2*gamma-4*gamma**2*L)*gap) + (gamma*L+2*gamma**2*L**2)*drift"
    " + gamma**2*delta2/N",
    "lemma-5/corrected": "(3*K*gamma**2*delta2 + 6*K**2*gamma**2*zeta)/8",
    "lemma-6/corrected": "1/2*(start_term + drift_term + noise_term)",
    "proposition-4-eq15/corrected": "start_term + 9/10*noise_term",
    "proposition-4-eq16/corrected": "start_term + noise_term + 9/10*sampling_term",
    "proposition-4-eq17/corrected": "start_term + 9/10*noise_term",
}
FALSE = ["lemma-4", "lemma-5", "lemma-6", "proposition-4-eq15", "proposition-4-eq16", "proposition-4-eq17"]


def of(label):
    return claim(f"perm/{label}")


def spec(clients, step, local_steps, rounds, start):
    listed = [{"h": h, "a": a, "p": "1"} for h, a in clients]
    return {
        "algorithm": "local-sgd",
        "clients": listed,
        "step": step,
        "local_steps": local_steps,
        "K": rounds,
        "theta0": start,
    }


TWO = [(["1", "2"], ["1", "-1/2"]), (["1/2"], ["-2"])]
COPIES = [(["1", "3"], ["1", "-1"])] * 2


@pytest.fixture(scope="module")
def pool():
    specs = list(local_sgd.instances(quick=True))[::4]
    found = [Scenario.from_spec(s, exact=False) for s in specs]
    return [s for s in (*found, *local_sgd.scenarios(quick=True)) if s.stays_finite()]


@pytest.mark.parametrize("label", FALSE_NEIGHBOURS)
def test_no_true_claim_is_broken_and_its_false_neighbour_is(label, pool):
    c = of(label)
    assert_told_apart(c, FALSE_NEIGHBOURS[label], applicable(c, pool, perm.cases))


# --- both sides by enumeration ---------------------------------------------------------------------------------------


def enumerate_round(given_spec):
    """Every outcome of one round, exact: probability, and each client's local iterates."""
    step, start = F(given_spec["step"]), F(given_spec["theta0"])
    own = []
    for client in given_spec["clients"]:
        samples = [(F(h), F(a)) for h, a in zip(client["h"], client["a"], strict=True)]
        paths = []
        for choice in product(samples, repeat=given_spec["local_steps"]):
            path = [start]
            for h, a in choice:
                path.append(path[-1] - step * h * (path[-1] - a))
            paths.append((F(1, len(samples) ** len(choice)), path))
        own.append(paths)
    for joint in product(*own):
        p = F(1)
        for q, _ in joint:
            p *= q
        yield p, [path for _, path in joint]


def mean_function(given_spec):
    """h and b of F(w) = h/2 w^2 - b w + const."""
    clients = given_spec["clients"]
    h = [sum(map(F, c["h"])) / len(c["h"]) for c in clients]
    b = [sum(F(x) * F(y) for x, y in zip(c["h"], c["a"], strict=True)) / len(c["h"]) for c in clients]
    return sum(h) / len(h), sum(b) / len(b)


@pytest.mark.parametrize("local_steps", [1, 2, 3])
def test_one_step_and_drift_by_enumeration(local_steps):
    own = spec(TWO, "1/4", local_steps, 1, "3")
    scenario = Scenario.from_spec(own, exact=True)
    h, b = mean_function(own)
    best = b / h
    after = before = gap = drift = F(0)
    for p, paths in enumerate_round(own):
        last, previous = ([path[i] for path in paths] for i in (-1, -2))
        w = sum(previous) / len(previous)
        after += p * (sum(last) / len(last) - best) ** 2
        before += p * (w - best) ** 2
        gap += p * h / 2 * (w - best) ** 2
        drift += p * sum((x - w) ** 2 for x in previous) / len(previous)
    cases = perm.cases(of("lemma-4"), scenario)
    given_ = cases.parameters_at(0)
    assert cases.left[0] == after
    assert (given_["dist"], given_["gap"], given_["drift"]) == (before, gap, drift)
    assert (given_["mu"], given_["L"], given_["N"]) == (F(1, 2), F(3, 2), 2)
    assert perm.cases(of("lemma-5"), scenario).left[0] == drift
    if local_steps == 1:
        assert drift == 0


def test_minibatches_by_enumeration():
    own = spec(COPIES, "1/4", 1, 1, "2")
    scenario = Scenario.from_spec(own, exact=True)
    h, b = mean_function(own)
    ends = [(p, sum(path[-1] for path in paths) / 2) for p, paths in enumerate_round(own)]
    squares = perm.cases(of("proposition-4-eq15"), scenario)
    assert squares.left[1] == sum(p * (h * w - b) ** 2 for p, w in ends)
    assert perm.cases(of("proposition-4-eq16"), scenario).left[0] == sum(p * (w - 2) ** 2 for p, w in ends)
    assert perm.cases(of("proposition-4-eq17"), scenario).left[1] == sum(p * (w - b / h) ** 2 for p, w in ends)
    given_ = squares.parameters_at(1)
    assert (given_["M"], given_["T"], given_["F_gap"]) == (2, 1, h / 2 * (2 - b / h) ** 2)


def test_what_the_claims_do_not_speak_of():
    partial = spec(TWO, "1/4", 2, 1, "3")
    partial["clients"][0]["p"] = "1/2"
    concave = spec([(["-1"], ["0"]), (["3"], ["1"])], "1/4", 1, 1, "1")
    for own in (partial, concave):
        assert perm.cases(of("lemma-6"), Scenario.from_spec(own, exact=True)) is None
    assert perm.cases(of("proposition-4-eq15"), Scenario.from_spec(spec(TWO, "1/4", 1, 1, "3"), exact=True)) is None
    assert perm.cases(of("lemma-4"), Scenario.from_spec(spec(TWO, "1/4", 1, 2, "3"), exact=True)) is None


# --- W ---------------------------------------------------------------------------------------------------------------


def test_ends_of_what_is_reached_are_reached():
    """One round by enumeration: the ends of W are the extremes over all outcomes, exactly."""
    own = spec(TWO, "1/3", 2, 1, "3")
    scenario = Scenario.from_spec(own, exact=True)
    seen = [x for _, paths in enumerate_round(own) for path in paths for x in path]
    h, b = mean_function(own)
    points = reachable.extreme_points(scenario)
    assert (points.min(), points.max()) == (min(*seen, b / h), max(*seen, b / h))


@given(st.integers(0, 10**6), st.sampled_from([1, 3]))
@settings(max_examples=15, deadline=None)
def test_simulated_iterates_stay_in_it(seed, samples):
    """Local SGD drawn by numpy, three rounds: d = 1 with noise, d = 2 without."""
    rng = np.random.default_rng(seed)
    dim = 1 if samples > 1 else 2
    problem = quadratic(
        clients=2,
        dim=dim,
        mu=0.2,
        L=1.0,
        heterogeneity=1.0,
        seed=seed,
        samples=samples,
        sample_spread=0.3 * (samples > 1),
    )
    scenario = Scenario("run", FedAvg(step=0.7, local_steps=2), problem, full(), 3, rng.normal(size=dim))
    points = reachable.extreme_points(scenario)
    largest = reachable.largest_dissimilarity(scenario)
    variance, slope = reachable.largest_variance(scenario), reachable.largest_gradient(scenario)
    w = scenario.start
    for _ in range(3):
        local = [w, w]
        for _ in range(2):
            for n in (0, 1):
                i = int(rng.integers(samples))
                local[n] = local[n] - 0.7 * (problem.hessian[n, i] @ local[n] - problem.linear[n, i])
                gradients = problem.client_gradient(local[n])
                apart = gradients - gradients.mean(axis=0)
                assert (apart**2).sum(axis=1).max() <= largest * (1 + 1e-9)
                assert (gradients**2).sum(axis=1).max() <= slope * (1 + 1e-9)
                assert problem.sampling_noise(local[n]).max() <= variance * (1 + 1e-9) + 1e-12
                if dim == 1:
                    assert points.min() - 1e-12 <= local[n][0] <= points.max() + 1e-12
        w = (local[0] + local[1]) / 2
    assert reachable.squared_diameter(scenario) >= ((w - scenario.start) ** 2).sum() - 1e-12


def test_where_w_is_not_known():
    problem = quadratic(clients=2, dim=2, mu=0.2, L=1.0, heterogeneity=1.0, seed=1, samples=2, sample_spread=0.3)
    noisy = Scenario("noisy", FedAvg(step=0.1, local_steps=2), problem, full(), 1, np.zeros(2))
    absent = Scenario.from_spec(spec(TWO, "1/4", 2, 1, "3"), exact=False)
    absent = replace(absent, participation=Bernoulli([0.5, 1.0]))
    for scenario in (noisy, absent):
        assert reachable.extreme_points(scenario) is None
        assert reachable.largest_dissimilarity(scenario) is None
        assert not satisfied(BoundedDissimilarity(), scenario, {"zeta": 1e9})
        assert not satisfied(VarianceAtMost(), scenario, {"delta2": 1e9})


def test_assumptions_on_w():
    """f_1 = (w-1)^2/2 and f_2 = (w+1)^2 from 1, one step of 1/2: both go to a minimiser, so W = [-1, 1]; w* = -1/3."""
    scenario = Scenario.from_spec(spec([(["1"], ["1"]), (["2"], ["-1"])], "1/2", 1, 1, "1"), exact=True)
    # f_1' - F' = (w-1)/2 - (w+1), largest at 1 (-2) rather than at -1 (-1); f_2' is largest, 4, at 1
    for assumption, name, least in (
        (BoundedDomain(), "D", F(2)),
        (BoundedGradient(), "G", F(4)),
        (BoundedDissimilarity(), "zeta", F(4)),
        (BoundedDissimilarity(at="iterates"), "zeta", F(4)),
        (VarianceAtMost(), "delta2", F(0)),
    ):
        assert satisfied(assumption, scenario, {name: least})
        assert satisfied(assumption, scenario, {})
        assert not satisfied(assumption, scenario, {name: least - F(1, 10**6)})
    assert satisfied(InteriorMinimiser(), scenario, {})


# --- certificates ----------------------------------------------------------------------------------------------------

BREAKS = {
    "lemma-4": spec([(["1"], ["0"])], "1", 1, 1, "1"),
    "lemma-5": spec([(["1"], ["1/10"]), (["1"], ["-1/10"])], "1/4", 2, 1, "0"),
    "lemma-6": spec([(["1"], ["-1/1000"]), (["2"], ["1/2000"])], "1/4", 2, 3, "0"),
    "proposition-4-eq15": spec([(["4", "4"], ["1/4", "-1/4"])], "1/4", 1, 2, "0"),
    "proposition-4-eq16": spec([(["4", "4"], ["1/4", "-1/4"])], "1/4", 1, 2, "0"),
    "proposition-4-eq17": spec([(["4", "4"], ["1/4", "-1/4"])], "1/4", 1, 2, "0"),
}


def test_lemma_4_is_broken_by_long_steps_only():
    """Of steps up to 1/(2L), which the proof of Lemma 6 fixes, none is known where W does not bind."""
    assert confirm(of("lemma-4"), BREAKS["lemma-4"], perm.cases) is None
    assert confirm(replace(of("lemma-4"), standing=()), BREAKS["lemma-4"], perm.cases) is not None


@pytest.mark.parametrize("label", FALSE)
def test_false_claims_are_refuted_by_certificates(label):
    c = replace(of(label), standing=()) if label == "lemma-4" else of(label)
    found = confirm(c, BREAKS[label], perm.cases)
    assert found is not None
    made = certificate.instance_certificate(
        c, found.spec, found.index, found.parameters, found.left, found.right, silent=True
    )
    report = certificate.verify(made)
    assert report.valid, report.lines
    assert certificate.differences(made, c) == ()


@pytest.mark.parametrize("label", [f"{label}/corrected" for label in FALSE])
def test_their_repairs_are_not(label):
    c = of(label)
    assert confirm(c, BREAKS[label.removesuffix("/corrected")], perm.cases) is None


def test_values_by_hand():
    """Lemma 5's instance: the clients part by 2 gamma/10 in the first step, so the drift is (1/40)^2."""
    scenario = Scenario.from_spec(BREAKS["lemma-5"], exact=True)
    cases = perm.cases(of("lemma-5"), scenario)
    assert cases.left[0] == F(1, 1600)
    assert exact(of("lemma-5"), cases.parameters_at(0)) == F(3, 20000)
    cases = perm.cases(of("proposition-4-eq15"), Scenario.from_spec(BREAKS["proposition-4-eq15"], exact=True))
    assert list(cases.left) == [0, 1, 1]
    assert exact(of("proposition-4-eq15"), cases.parameters_at(1)) == F(1, 2)


@pytest.mark.parametrize(("label", "left"), [("lemma-4", "1/4"), ("lemma-6", "1/576")])
def test_where_w_binds(label, left, tmp_path):
    evidence, path = perm.special(of(label), tmp_path)
    assert path is None
    assert [(e.outcome, e.data["left"]) for e in evidence] == [("fails", left)]
