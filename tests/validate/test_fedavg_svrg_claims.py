"""The verdicts on fedavg-svrg, and claims held against the oracle on problems that nobody chose."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory import Hypothesis, claim, paper
from validate import certificate, verifier
from validate.assumptions import unmet
from validate.bounds import breaks, compare, exact_sides
from validate.checking import check_all, check_claim
from validate.falsify import confirm, fixed_point, smallest, suspects
from validate.papers import fedavg_svrg
from validate.scenario import Scenario
from validate.survey import Pool

EXPECTED = {
    "theorem-v1-eq7": "refuted",
    "theorem-v1-eq8": "supported",
    "remark-rate": "refuted",
    "lemma-v1": "refuted",
    "lemma-v1-eq9": "refuted",
    "lemma-v1-eq10": "refuted",
    "lemma-v1-eq10/with-samples": "refuted",
    "lemma-v1-eq12": "refuted",
    "lemma-v1-eq12/with-samples": "refuted",
    "lemma-v1-eq13": "proved",
    "lemma-v1-eq14": "refuted",
    "lemma-v1-eq14/with-samples": "refuted",
    "lemma-a1": "refuted",
    "lemma-a2": "refuted",
    "eq-a19": "undecided",
    "eq-a20": "supported",
    "eq-a21": "supported",
    "eq-a22": "supported",
    "eq-a23": "refuted",
    "eq-a24": "refuted",
    "eq-a25": "refuted",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("check")
    return {r.id.split("/", 1)[1]: r for r in check_all(["fedavg-svrg"], quick=True, out=out)}


@pytest.mark.parametrize(("label", "verdict"), list(EXPECTED.items()))
def test_verdicts_on_the_printed_claims(results, label, verdict):
    assert results[label].verdict == verdict


def test_every_repair_that_is_measured_is_supported(results):
    repairs = {label: r.verdict for label, r in results.items() if "corrected" in label}
    assert len(repairs) == 12
    # fitted slopes on one instance that was made for it, and the lines of its proof, are no support
    assert repairs.pop("remark-rate/corrected") == "undecided"
    assert set(repairs.values()) == {"supported"}


def test_refuted_means_a_certificate_that_stands_alone(results):
    refuted = [r for r in results.values() if r.verdict == "refuted"]
    for result in refuted:
        made = certificate.read(result.certificate)
        assert certificate.differences(made, claim(result.id)) == ()
        assert verifier.verify(made).valid
    program = Path(refuted[0].certificate).parent / "verify.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program), *(r.certificate for r in refuted)], capture_output=True
    )
    assert done.returncode == 0, done.stdout


def test_supported_claims_are_never_exceeded(results):
    for result in results.values():
        if result.verdict == "supported" and result.tightness is not None:
            assert result.tightness <= 1 + 1e-8


def test_known_refutation_of_eq7_comes_out_of_the_search():
    """f = theta^2/2, one client, S=8, M=1, delta=1/2, K=1: left side 1, right side 30037/32768."""
    eq7 = claim("fedavg-svrg/theorem-v1-eq7")
    specs = [s for s in fedavg_svrg.instances() if s["K"] == 1 and s["step"] in ("1/2", "1/4") and s["S"] * s["M"] <= 8]
    found, cleared = smallest(eq7, suspects(eq7, specs, fedavg_svrg.cases), fedavg_svrg.cases)
    assert found is not None
    assert (found.left, found.right) == (1, Fraction(30037, 32768))
    assert (found.spec["S"], found.spec["M"], found.spec["step"]) == (8, 1, "1/2")
    assert cleared == 0


def test_eq7_at_the_papers_own_settings():
    spec = {"algorithm": "fedavg-svrg", "clients": [{"h": "1", "a": "0"}], "step": "1/10", "S": 10, "M": 5, "K": 1}
    found = confirm(claim("fedavg-svrg/theorem-v1-eq7"), {**spec, "theta0": "1"}, fedavg_svrg.cases)
    assert found is not None
    assert found.left == 1
    assert float(found.right) == pytest.approx(0.7364643, abs=1e-6)


def test_the_floor_of_lemma_v1():
    clients = [{"h": "1", "a": "1"}, {"h": "1/2", "a": "-1"}]
    spec = {"algorithm": "fedavg-svrg", "clients": clients, "step": "1/8", "S": 1, "M": 100, "K": 30, "theta0": "5"}
    norms = Scenario.from_spec(spec, exact=False).moments().squared_gradient_norm
    assert norms[-1] == pytest.approx(0.0622, abs=5e-5)
    point = fixed_point(spec)
    again = Scenario.from_spec({**spec, "theta0": str(point), "K": 1}, exact=True).moments()
    assert again.mean[1, 0] == point


def test_fixed_points_need_an_instance_without_chance():
    spec = {"algorithm": "fedavg-svrg", "step": "1/8", "S": 1, "M": 2, "K": 1, "theta0": "0"}
    assert fixed_point({**spec, "clients": [{"h": "1", "a": "0", "p": "1/2"}]}) is None
    assert fixed_point({**spec, "clients": [{"h": ["1", "2"], "a": ["0", "1"]}]}) is None
    assert fixed_point({**spec, "clients": [{"h": "1", "a": "3"}]}) == 3


def test_results_as_json_and_remembered(results, tmp_path):
    found = check_all(["fedavg-svrg/lemma-v1-eq13"], quick=True, out=tmp_path)
    assert json.loads(json.dumps(found[0].to_json()))["verdict"] == "proved"
    assert json.loads((tmp_path / "verdicts.json").read_text())[0]["id"] == "fedavg-svrg/lemma-v1-eq13"


@pytest.mark.parametrize("targets", [[], ["fedavg-svrg/nonsense"], ["fedavg"]])
def test_unknown_targets_are_refused(targets, tmp_path):
    with pytest.raises(ValueError, match=r"target|nonsense"):
        check_all(targets, out=tmp_path)
    assert not list(tmp_path.iterdir())


# --- properties ------------------------------------------------------------------------------------------------------

SUPPORTED = [
    c
    for c in paper("fedavg-svrg")
    if (c.amends or EXPECTED[c.label] == "supported") and c.has_bound and not c.label.startswith("remark")
]

numbers = rationals(-3, 3, 6)
curvatures = rationals(0, 2, 6)
chances = rationals(Fraction(1, 6), 1, 6)


@st.composite
def clients(draw):
    samples = draw(st.integers(1, 3))
    h = [draw(curvatures) for _ in range(samples)]
    return {
        "h": [str(x) for x in (h if any(h) else [Fraction(1), *h[1:]])],
        "a": [str(draw(numbers)) for _ in range(samples)],
        "p": str(draw(chances)),
    }


@st.composite
def specs(draw):
    return {
        "algorithm": "fedavg-svrg",
        "clients": draw(st.lists(clients(), min_size=1, max_size=3)),
        "step": str(draw(rationals(Fraction(1, 50), 2, 50))),
        "S": draw(st.sampled_from([1, 1, 2, 3])),
        "M": draw(st.integers(1, 4)),
        "K": draw(st.integers(1, 3)),
        "theta0": str(draw(numbers)),
    }


@settings(max_examples=150, deadline=None)
@given(specs())
def test_supported_claims_hold_on_random_instances(spec):
    scenario = Scenario.from_spec(spec, exact=False)
    for c in SUPPORTED:
        cases = fedavg_svrg.cases(c, scenario)
        if cases is None or unmet(c, scenario, cases.parameters_at(0)):
            continue
        if compare(c, cases).broken:  # a suspicion: fractions decide
            assert confirm(c, spec, fedavg_svrg.cases) is None, (c.id, spec)


@settings(max_examples=25, deadline=None)
@given(specs())
def test_floats_agree_with_fractions(spec):
    floats, fractions = (Scenario.from_spec(spec, exact=exact) for exact in (False, True))
    for label in ("theorem-v1-eq7", "theorem-v1-eq8", "lemma-a2/corrected", "eq-a23/corrected"):
        c = claim(f"fedavg-svrg/{label}")
        near, true = fedavg_svrg.cases(c, floats), fedavg_svrg.cases(c, fractions)
        assert near is not None
        assert true is not None
        comparison = compare(c, near)
        left, right = exact_sides(c, true, comparison.worst)
        scale = max(abs(float(left)), abs(float(right)), float(np.max(np.abs(near.left))))
        assert comparison.left == pytest.approx(float(left), rel=1e-8, abs=1e-8 * scale)
        assert comparison.right == pytest.approx(float(right), rel=1e-8, abs=1e-8 * scale)
        assert comparison.broken or not breaks(c, left, right) or float(left - right) < 1e-8 * scale


def test_hypotheses_that_cannot_hold_together_make_a_claim_vacuous(tmp_path):
    printed = claim("fedavg-svrg/lemma-v1-eq14")
    few = Hypothesis("few inner steps", "M <= 8: too few for the SVRG contraction", relation="M <= 8")
    result = check_claim(replace(printed, hypotheses=(*printed.hypotheses, few)), None, Pool((), ()), (), tmp_path)
    assert result.verdict == "vacuous"
    assert "contraction" in result.evidence[0].detail
    assert check_claim(printed, None, Pool((), ()), (), tmp_path).verdict == "undecided"
