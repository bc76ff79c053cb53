"""fedmim's claims on instances worked out elsewhere, what is given, and the verdicts that are found quickly."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.problems import Quadratic
from tests.theory.fedmim_moments import Run, simulate
from theory import claim
from theory.catalog import claims
from validate import check
from validate.both_sides import sides
from validate.examine import examine
from validate.expected import lines
from validate.instances import read_instance
from validate.instances.setting import Setting
from validate.verifier import verify

F = Fraction
SAMPLES = [[{"h": 1, "b": 1}, {"h": 1, "b": "-1/2"}], [{"h": "1/2", "b": "1/3"}, {"h": "1/2", "b": 2}]]
CONSTANTS = {"L": 1, "G": 3, "B": 2, "sigma2": 2, "lam": "1/10", "mu": "1/2"}


def instance(label, *, H=2, S=1, rounds=2, alpha=("1/2", "1/4"), beta=("1/3", "1/6"), eta_l="1/20", **constants):
    one = claim(f"fedmim/{label}")
    data = {
        "algorithm": "fedmim/fedmim",
        "parameters": {
            "eta_l": eta_l,
            "alpha": list(alpha),
            "beta": list(beta),
            "H": H,
            "S": S,
            "A": str(1 - sum(map(F, alpha))),
        },
        "problem": {"clients": SAMPLES},
        "start": 3,
        "rounds": rounds,
    }
    known = {name: F(value) for name, value in {**CONSTANTS, **constants}.items()}
    return one, read_instance(data, one.of), known


# --- what the sentences speak of -------------------------------------------------------------------------------------

RUNS = [
    Run((1.0, 0.5, 0.2), (0.3, -0.1, -0.2), (0.3, 0.2), (0.5, 0.5), 2, 2, 0.05, 0.0),
    Run((1.0, 0.9), (1.0, -1.0), (0.6,), (0.1,), 3, 1, 0.04, 0.25),
]
LEFT = {
    "eq21": lambda now, run: now.next_delta_sq,
    "eq29": lambda now, run: now.average_sq,
    "lemma-9": lambda now, run: now.average_sq,
    "lemma-8": lambda now, run: np.mean(now.drift[1:]),
    "eq37": lambda now, run: now.next_gap - now.gap,
}
BY_STEP = {"eq31": "selected_sq", "lemma-7/corrected": "gradients_sq"}


def measured(label, run, rounds):
    """Left sides by moments, noise of a run as two samples of each client."""
    one, spread = claim(f"fedmim/{label}"), np.sqrt(run.sigma2)
    h, b = np.array(run.h), -np.array(run.b)
    shape = (len(h), 2, 1)
    linear = np.stack([b - spread, b + spread], axis=1).reshape(shape)
    hessian = np.repeat(h, 2).reshape(*shape, 1)
    problem = Quadratic(hessian, linear, np.zeros(shape[:2]), np.full(len(h), 2))
    values = {"eta_l": run.eta_l, "alpha": list(run.alpha), "beta": list(run.beta), "A": 1 - sum(run.alpha)}
    values |= {"H": run.K, "S": run.S, "sigma2": run.sigma2, "lam": 0.1, **run.constants}
    exact = {k: [F(x) for x in v] if isinstance(v, list) else F(v) for k, v in values.items()}
    return lines(one, problem, Setting(problem, np.array([F(run.x0)], dtype=object), exact, rounds, one))


@pytest.mark.parametrize("label", LEFT)
@pytest.mark.parametrize("run", RUNS, ids=["two lags", "noise"])
def test_left_sides_are_those_of_moments_from_scratch(label, run):
    found = {line.at["k"]: float(line.left) for line in measured(label, run, 4)}
    for k, now in enumerate(simulate(run, 4)):
        assert found[k] == pytest.approx(LEFT[label](now, run), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("label", BY_STEP)
@pytest.mark.parametrize("run", RUNS, ids=["two lags", "noise"])
def test_left_sides_of_local_steps_are_those_of_moments_from_scratch(label, run):
    for line in measured(label, run, 3):
        now = simulate(run, 3)[line.at["k"]]
        assert float(line.left) == pytest.approx(getattr(now, BY_STEP[label])[line.at["h"]], rel=1e-9)


def test_the_least_gradient_is_that_of_moments_from_scratch():
    (line,) = measured("theorem-iv1-eq35/corrected", RUNS[0], 5)
    assert float(line.left) == pytest.approx(min(now.grad_u2 for now in simulate(RUNS[0], 5)), rel=1e-9)


@pytest.mark.parametrize(
    "label", ["lemma-6", "eq21", "lemma-8", "lemma-9", "eq37", "theorem-iv1-eq35", "eq26/corrected"]
)
def test_moments_agree_with_play_on_remembered_vectors(label):
    one, made, constants = instance(label, H=1, m=1)
    constants = {name: value for name, value in constants.items() if name in one.symbols}
    played = sides(one.sentence, one.vocabulary, made, constants).rows
    values = {n: list(v) if isinstance(v, tuple) else v for n, v in {**made.parameters, **constants}.items()}
    setting = Setting(made.problem.quadratic, made.start, values, 2, one)
    found = lines(one, made.problem.quadratic, setting)
    assert [(r.left, r.right) for r in played] == [(r.left, r.right) for r in found]


def test_u_moves_by_a_plain_step_in_every_outcome():
    one, made, _ = instance("lemma-5", rounds=2)
    assert {(row.left, row.status) for row in sides(one.sentence, one.vocabulary, made).rows} == {(0, "holds")}


def test_weights_of_no_lag_are_weights():
    # one lag of weight 0: u_t is x_t, and the lags add nothing to (34)
    one, made, constants = instance("eq34", alpha=("0",), beta=("0",), H=1)
    (row,) = sides(one.sentence, one.vocabulary, made, {"L": constants["L"]}).rows
    assert (row.left, row.right) == (0, 0)


# --- what is given ---------------------------------------------------------------------------------------------------


def test_nothing_is_given():
    assert not [one.label for one in claims("fedmim") if one.given]


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "label", ["eq2", "lemma-5/lags-from-one", "lemma-7", "eq30", "eq33/from-step", "remark-iv1", "remark-iv2"]
)
def test_what_is_false_at_once_is_refuted(label, tmp_path):
    result = check(f"fedmim/{label}", quick=True, out=tmp_path)
    assert (result.verdict, result.origin) == ("refuted", "pool")
    assert verify(json.loads(Path(result.certificate).read_text())).valid


@pytest.mark.parametrize(
    ("label", "least"),
    [
        pytest.param("eq26", {"clients": 25}, marks=pytest.mark.slow),
        pytest.param("lemma-9", {"clients": 9}, marks=pytest.mark.slow),
        pytest.param("theorem-iv2-eq9", {"rounds": 100}, marks=pytest.mark.slow),
    ],
)
def test_what_is_false_far_out_is_refuted(label, least, tmp_path):
    """One client against many, many that are all alike, and two that are curved against each other for many rounds."""
    result = check(f"fedmim/{label}", quick=True, out=tmp_path)
    assert (result.verdict, result.origin) == ("refuted", "pool")
    made = json.loads(Path(result.certificate).read_text())
    assert verify(made).valid
    found = next(item.data["instance"] for item in result.evidence if item.outcome == "refuted")
    assert len(found["problem"]["clients"]) >= least.get("clients", 0)
    assert found["rounds"] >= least.get("rounds", 0)


@pytest.mark.parametrize(
    "label",
    ["eq2/corrected", "remark-iv1/terms", "remark-iv1/appendix-terms", "remark-iv2/terms", "remark-iv2/corrected"],
)
def test_what_is_proved(label, tmp_path):
    assert check(f"fedmim/{label}", quick=True, out=tmp_path).verdict == "proved"


def test_what_no_sentence_says_is_undecided(tmp_path):
    result = examine(claim("fedmim/remark-iv3"), quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    (item,) = result.evidence
    assert item.detail == "no sentence of the language says it: B influences the bounds weakly"
