"""No false alarm on results that are known to be true, and no false comfort on neighbours of them that are false."""

import sys
import types
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory import Claim, catalog, claim, claims
from theory.claim import Paper, VectorLine
from validate import certificate, verifier
from validate.assumptions import unmet
from validate.bounds import breaks, compare, exact_sides
from validate.checking import check_all
from validate.falsify import confirm, suspects
from validate.papers import textbook
from validate.proving import evidence as own_evidence
from validate.scenario import Scenario
from validate.verdict import decide

SUPPORTED = {
    "minibatch-variance",
    "participation-variance",
    "client-sampling-variance",
    "average-gradient",
    "gradient-descent-linear",
    "gradient-descent-tight",
    "sgd-strongly-convex",
    "minibatch-sgd",
    "sgd-convex",
    "sgd-nonconvex",
    "svrg-contraction",
    "local-sgd-round",
    "local-sgd-strongly-convex",
}
# nothing measures them, and what is proved of them is at numbers, or of lines
UNDECIDED = {
    "without-replacement",
    "reshuffling",
    "local-gradient-step",
    "subgradient-method",
    "proximal-point",
    "gradient-step-contraction",
}
# the least that left/right has to attain somewhere, so that a lowered constant would be noticed
ATTAINED = {
    "variance-transfer": 0.99,
    "average-gradient": 0.99,
    "gradient-descent-linear": 0.9,
    "gradient-descent-tight": 0.98,
    "sgd-step": 0.9,
    "sgd-strongly-convex": 0.9,
    "minibatch-sgd": 0.9,
    "sgd-nonconvex": 0.6,
    "sgd-convex": 0.3,
    "svrg-estimator": 0.4,
    "svrg-contraction": 0.2,
    "local-sgd-round": 0.9,
    "local-sgd-strongly-convex": 0.9,
    "without-replacement": 1.0,
    "reshuffling": 1.0,
}
# right sides of neighbours, and what makes each of them false
FALSE = {
    "gradient-descent-linear": "(1-delta*mu)**(2*k+1)*f0_gap",
    "gradient-descent-tight": "L*R2/(4*k*L*delta+3)",
    "average-gradient": "f0_gap/(K*delta*(1-L*delta/4))",
    "variance-transfer": "19/10*L*gap",
    "sgd-step": "(1-delta*mu)*distance2 + delta**2*sigma_star2/2",
    "sgd-strongly-convex": "transient + delta*sigma_star2/(3*mu)",
    "minibatch-sgd": "transient + delta*sigma_star2/(3*mu*N)",
    "minibatch-variance": "delta**2*sigma2/N**2",
    "participation-variance": "delta**2/N*weighted_squares",
    "sgd-convex": "(transient + noise_ball)/4",
    "sgd-nonconvex": "optimisation_term/2 + noise_term/4",
    "svrg-estimator": "3/2*L*(local_gap + snapshot_gap)",
    "svrg-contraction": "alpha/6*start_gap",
    "local-sgd-round": "(1-delta*mu)**(2*M+1)*distance2 + drift_term + noise_term",
    "local-sgd-strongly-convex": "9/10*transient + noise_ball + drift_ball",
}
SPECS = list(textbook.instances(quick=True))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("check")
    return {r.id.split("/", 1)[1]: r for r in check_all(["textbook"], quick=True, out=out)}


def test_no_false_alarm(results):
    assert set(results) == {c.label for c in claims("textbook")}
    assert {label for label, r in results.items() if r.verdict == "supported"} == SUPPORTED
    assert {label for label, r in results.items() if r.verdict == "undecided"} == UNDECIDED
    assert {r.verdict for label, r in results.items() if label not in SUPPORTED | UNDECIDED} == {"proved"}
    assert not any(r.broken for r in results.values())
    assert all(r.certificate is None for r in results.values())


@pytest.mark.parametrize(("label", "least"), list(ATTAINED.items()))
def test_bounds_come_near_to_being_attained(results, label, least):
    assert least <= results[label].tightness <= 1 + 1e-9


@pytest.mark.parametrize("label", FALSE)
def test_false_neighbours_are_broken_by_an_exact_instance(label):
    """The ordinary search finds it, fractions confirm it, and the true claim survives the same instance."""
    true = claim(f"textbook/{label}")
    false = replace(true, right=FALSE[label])
    found = [c for spec in suspects(false, SPECS, textbook.cases)[:3] if (c := confirm(false, spec, textbook.cases))]
    assert found
    for counterexample in found:
        assert breaks(false, counterexample.left, counterexample.right)
        assert confirm(true, counterexample.spec, textbook.cases) is None


def as_the_paper(monkeypatch, c: Claim) -> None:
    """A catalogue whose textbook holds one claim."""
    module = types.ModuleType("one_claim")
    module.PAPER = Paper("textbook", "title", "authors", (c,))
    monkeypatch.setitem(sys.modules, "one_claim", module)
    monkeypatch.setattr(catalog, "BUILT_IN", {"textbook": "one_claim"})


@pytest.mark.parametrize("label", ["svrg-estimator", "svrg-contraction"])
def test_the_whole_check_refutes_a_false_neighbour(monkeypatch, tmp_path, label):
    """With a certificate, as the verifier knows these quantities."""
    as_the_paper(monkeypatch, replace(claim(f"textbook/{label}"), right=FALSE[label], vectors=None, sentence=None))
    try:
        (result,) = check_all(["textbook"], quick=True, out=tmp_path)
    finally:
        catalog._built_in.cache_clear()
    assert result.verdict == "refuted"
    assert result.tightness > 1
    assert verifier.verify(certificate.read(result.certificate)).valid


@pytest.mark.parametrize("label", ["average-gradient", "gradient-descent-linear"])
def test_false_neighbours_of_gradient_descent_have_certificates(label):
    false = replace(claim(f"textbook/{label}"), right=FALSE[label])
    found = confirm(false, suspects(false, SPECS, textbook.cases)[0], textbook.cases)
    made = certificate.instance_certificate(false, found.spec, found.index, found.parameters, found.left, found.right)
    assert verifier.verify(made).valid


@pytest.mark.parametrize(
    ("label", "right"),
    [
        ("without-replacement", "(count-size)/(size*count)*sigma2"),
        ("reshuffling", "(count-1)*(count+1)/6*sigma2"),
    ],
)
def test_false_neighbours_of_sampling_identities_are_not_proved(tmp_path, label, right):
    evidence, path = textbook.special(replace(claim(f"textbook/{label}"), right=right), tmp_path)
    assert path is None
    assert own_evidence(replace(claim(f"textbook/{label}"), right=right)) == []
    assert decide(label, evidence).verdict == "undecided"
    assert "fails" in {e.outcome for e in evidence}


def test_a_false_vector_statement_is_not_proved():
    true = claim("textbook/cocoercivity")

    def stronger(values):
        space, _, hypotheses = true.vectors.build(values)
        return space, true.vectors.build({"L": Fraction(9, 10)})[1], hypotheses

    false = replace(true, vectors=VectorLine(stronger, ({"L": "1"},)), sentence=None)
    evidence = own_evidence(false)
    assert [e.outcome for e in evidence] == ["fails"]
    assert decide(false.id, evidence).verdict == "undecided"
    assert evidence[0].data["refutation"]["kind"] == "refutation"


def test_methods_are_told_apart():
    """A claim about plain SGD says nothing of local, minibatch or absent clients."""
    spec = {"algorithm": "local-sgd", "step": "1/8", "local_steps": 1, "K": 2, "theta0": "1"}
    one = {"h": ["1", "1/2"], "a": ["1", "0"]}
    other = {"h": ["1", "1"], "a": ["1", "0"]}
    sgd = Scenario.from_spec({**spec, "clients": [one]}, exact=True)
    batch = Scenario.from_spec({**spec, "clients": [one, one]}, exact=True)
    local = Scenario.from_spec({**spec, "clients": [one, other], "local_steps": 2}, exact=True)
    absent = Scenario.from_spec({**spec, "clients": [{**one, "p": "1/2"}]}, exact=True)
    measured = {
        name: [textbook.cases(claim(f"textbook/{label}"), s) is not None for s in (sgd, batch, local, absent)]
        for name, label in (("sgd", "sgd-step"), ("batch", "minibatch-sgd"), ("local", "local-sgd-round"))
    }
    assert measured == {
        "sgd": [True, False, False, False],
        "batch": [True, True, False, False],
        "local": [True, True, True, False],
    }


def test_the_variance_of_a_step_is_that_of_a_formula_worked_out_by_hand():
    """Two clients at theta = 2 with gradients 2-1=1 and 2+1=3, p = 1/2 and 1/4: (1/4)(1/4)(1*1 + 3*9) = 7/4."""
    clients = [{"h": "1", "a": "1", "p": "1/2"}, {"h": "1", "a": "-1", "p": "1/4"}]
    spec = {"algorithm": "local-sgd", "clients": clients, "step": "1/2", "local_steps": 1, "K": 1, "theta0": "2"}
    found = textbook.cases(claim("textbook/participation-variance"), Scenario.from_spec(spec, exact=True))
    assert exact_sides(claim("textbook/participation-variance"), found, 0) == (Fraction(7, 4), Fraction(7, 4))


fractions = rationals(Fraction(-2), Fraction(2), 5)
curvatures = rationals(Fraction(0), Fraction(2), 5)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.tuples(curvatures, fractions), min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from(["local-sgd", "fedavg-svrg"]),
    st.sampled_from(["1/20", "1/8", "1/3"]),
    st.integers(1, 4),
    st.integers(1, 3),
    fractions,
)
def test_no_claim_is_broken_on_problems_that_nobody_chose(samples, algorithm, step, inner, rounds, start):
    clients = [{"h": [str(h) for h, _ in c], "a": [str(a) for _, a in c]} for c in samples]
    own = {"local_steps": inner} if algorithm == "local-sgd" else {"S": 1, "M": inner}
    spec = {"algorithm": algorithm, "clients": clients, "step": step, "K": rounds, "theta0": str(start), **own}
    scenario = Scenario.from_spec(spec, exact=True)
    for c in claims("textbook"):
        found = textbook.cases(c, scenario)
        for i in range(0 if found is None else len(found)):
            if not unmet(c, scenario, found.parameters_at(i)):
                left, right = exact_sides(c, found, i)
                assert not breaks(c, left, right), c.id


def test_scenarios_in_several_dimensions_reach_every_measured_claim():
    reached = set()
    for scenario in textbook.scenarios(quick=True):
        for c in claims("textbook"):
            found = textbook.cases(c, scenario)
            if found is not None and not unmet(c, scenario, found.parameters_at(0)):
                assert not compare(c, found).broken
                assert np.all(np.isfinite(found.left))
                reached.add(c.label)
    assert set(FALSE) - {"minibatch-variance", "minibatch-sgd"} <= reached
    assert "client-sampling-variance" in reached
