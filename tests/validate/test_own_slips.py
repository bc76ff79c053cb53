"""What a newcomer gets wrong in a paper of one file, and what is said of it; and claims about absent clients."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validate.own import claim, parameters, pool, run
from validate.own.module import OwnModule

from sim.participation import UniformChoice
from tests.validate.command_line import call, complaint
from theory import Convex, Hypothesis, Paper, Smooth, Step, StronglyConvex, catalog
from theory.claim import Claim
from theory.formula import parse
from validate import papers
from validate.assumptions import unmet
from validate.checking import check_claim
from validate.scenario import read_scenario
from validate.strategies import parameters as drawn_parameters
from validate.survey import Pool
from validate.verdict import Evidence, Result, decide
from validate.verifier import launcher

SYMBOLS = parameters(
    eta="step",
    mu="strong_convexity",
    L="sample_smoothness",
    N="clients",
    H="local_steps",
    D="distance",
    s2="noise_at_minimiser",
    z2="heterogeneity",
    noise="largest_noise",
)
ASSUMED = (
    Hypothesis("smooth", "", assumption=Smooth("L", "sample")),
    Hypothesis("convex", "", assumption=Convex("sample")),
    Hypothesis("strongly convex", "", assumption=StronglyConvex("mu")),
    Hypothesis("step", "", relation="eta <= 1/(2*L)"),
    Hypothesis("one step", "", relation="H <= 1"),
)


@pytest.fixture(autouse=True)
def forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Papers that a test adds are known to that test only."""
    monkeypatch.setattr(catalog, "_added", {})
    monkeypatch.setattr(papers, "_added", {})


def made(**changes: Any) -> Claim:
    entries = {"parameters": SYMBOLS, "hypotheses": ASSUMED, **changes}
    return claim("slips/one", "words", "next_distance", entries.pop("right", "(1-eta*mu)*D"), **entries)


def looked_at(one: Claim, out: Path) -> Result:
    """The verdict by the quick scenarios in several dimensions alone."""
    module = OwnModule(Paper("slips", "Slips", "me", (one,)))
    return check_claim(one, module, Pool((), tuple(module.scenarios(True))), (), out)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"hypotheses": (Hypothesis("h", "", assumption="smooth"),)},
            "hypothesis 'h' is 'smooth'; .* theory.assumptions",
        ),  # type: ignore[arg-type]
        ({"hypotheses": (Hypothesis("h", "", assumption=Smooth),)}, 'with its constants, such as Smooth\\("L"\\)'),  # type: ignore[arg-type]
        ({"hypotheses": ("eta <= 1/L",)}, "hypotheses is to be a tuple of theory.Hypothesis"),
        ({"hypotheses": ASSUMED[0]}, "hypotheses is to be a tuple of theory.Hypothesis"),
        ({"steps": Step("a", "b", "<=", "c", "identity")}, "steps is to be a tuple of theory.Step"),
        ({"steps": (Step("a", "b", "=<", "c", "identity"),)}, "'=<' is not a relation \\(of the line 'a'\\)"),  # type: ignore[arg-type]
        ({"steps": (Step("a", "b", "<=", "c", "identity", identity="D"),)}, "to be two formulas, \\(left, right\\)"),  # type: ignore[arg-type]
        ({"steps": (Step("a", "b", "<=", "c", "identity", identity=("D+", "D")),)}, "'D\\+' cannot be read"),
        ({"relation": "=="}, "'==' is not a relation; did you mean '='"),
        ({"hypothesis": ()}, "has no 'hypothesis'; did you mean 'hypotheses'"),
        ({"particpation": "uniform"}, "did you mean 'participation'"),
        ({"algorithm": "fedavg"}, "'fedavg' is not an algorithm"),
    ],
)
def test_a_slip_is_named_when_the_claim_is_made(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        made(**changes)


@pytest.mark.parametrize(
    ("formula", "said"),
    [("R^2", "powers are written \\*\\*"), ("\\frac{1}{2}", "not LaTeX"), ("ln(k)", "the natural logarithm is log")],
)
def test_a_formula_as_it_is_written_elsewhere(formula: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse(formula)


def test_a_paper_does_not_hide_fedproof_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "would hide fedproof's own package 'theory'" in complaint(call("new", "theory.py"))
    assert not (tmp_path / "theory.py").exists()


def test_parameters_are_drawn_for_a_claim_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("new", "my_paper.py").exit_code == 0
    assert drawn_parameters("my_paper.py:noise-ball") is not None


def test_drawn_clients_are_some_of_them_and_the_run_is_finite() -> None:
    for scenario in pool.drawn(["local-sgd", "fedavg-svrg", "shuffling", "fedmim"], quick=True):
        assert isinstance(scenario.participation, UniformChoice)
        assert 1 <= scenario.participation.size < scenario.problem.clients
        assert scenario.problem.heterogeneity > 0
        assert scenario.stays_finite()
        assert not run.everybody(scenario)


def test_heterogeneity_lost_in_a_bound_for_drawn_clients_is_seen(tmp_path: Path) -> None:
    """From the minimiser the first round goes E||x||^2 = eta^2 E||mean of the drawn gradients||^2 > 0 away."""
    lost = looked_at(made(right="(1-eta*mu)*D + 2*eta**2*s2/N", participation="uniform"), tmp_path)
    assert lost.verdict == "undecided"
    assert lost.telling.startswith("broken, no certificate: broken in")
    assert "none of them is a scalar instance" in lost.telling
    assert "drawn 0, from the minimiser" in lost.telling
    kept = looked_at(made(right="(1-eta*mu)*D + 4*eta**2*(s2+2*N*z2)", participation="uniform"), tmp_path)
    assert kept.verdict == "supported"


@pytest.mark.parametrize("participation", ["independent", "uniform"])
def test_what_is_known_of_everybody_alone_supports_nothing_about_absent_clients(
    participation: str, tmp_path: Path
) -> None:
    """Where the run may go is known when everybody takes part, so `largest_noise` is."""
    right = "(1-eta*mu)*D + 2*eta**2*noise/N"
    found = looked_at(made(right=right, participation=participation), tmp_path)
    assert found.verdict == "undecided"
    assert found.tightness is None
    assert "everybody takes part there" in found.telling
    assert looked_at(made(right=right), tmp_path).verdict == "supported"


def test_a_break_without_a_certificate_is_what_is_told() -> None:
    found = decide("a/b", [Evidence("hypotheses", "holds", "they hold"), Evidence("exact", "fails", "it is broken")])
    assert (found.verdict, found.said) == ("undecided", "undecided: broken")
    assert found.telling == "broken, no certificate: it is broken"


def test_an_equality_that_one_dimension_cannot_tell_apart_says_where_it_fails(tmp_path: Path) -> None:
    """Of gradient descent on h x^2/2 the rate 1 - eta mu is exact, since mu = L = h; in several dimensions not."""
    one = (*ASSUMED, Hypothesis("one client", "", relation="N <= 1"), Hypothesis("exact", "", relation="noise <= 0"))
    found = looked_at(made(right="(1-eta*mu)**2*D", relation="=", hypotheses=one), tmp_path)
    assert found.verdict == "undecided"
    assert "a scalar instance in fractions, of which certificates are: seen on local-sgd" in found.telling
    assert np.isfinite([e.tightness or 0 for e in found.evidence]).all()


UNDEFINED = (*ASSUMED, Hypothesis("as long as the noise allows", "", relation="eta <= D/s2"))
WITHOUT_NOISE = {"algorithm": "local-sgd", "clients": [{"h": ["1"], "a": ["0"]}], "step": "1/8"}


def test_a_hypothesis_that_is_undefined_does_not_hold() -> None:
    """D/s2 without noise; where it counted as holding, the bound 0 that has s2 as a factor was broken there."""
    one = made(right="D*s2", hypotheses=UNDEFINED)
    scenario = read_scenario({**WITHOUT_NOISE, "local_steps": 1, "K": 1, "theta0": "3"}, exact=True)
    found = run.cases(one, scenario)
    assert found is not None
    assert unmet(one, scenario, found.parameters_at(0)) == ("as long as the noise allows",)
    assert unmet(made(right="D*s2"), scenario, found.parameters_at(0)) == ()


def test_a_claim_that_fits_no_scenario_is_said_not_to_be_measured(tmp_path: Path) -> None:
    tuned = made(right="D", hypotheses=(*ASSUMED, Hypothesis("tuned", "", relation="eta == sqrt(D/(7*L*L))")))
    found = looked_at(tuned, tmp_path)
    assert found.verdict == "undecided"
    assert found.telling.startswith("not measured: ")


def test_the_verifier_without_its_folder_says_what_is_missing(tmp_path: Path) -> None:
    copied = tmp_path / "verify.py"
    copied.write_text(Path(launcher.__file__).read_text())
    said = subprocess.run(
        [sys.executable, "-I", "-S", str(copied), "x.json"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert said.stderr == f"error: {tmp_path / 'verifier'} is missing; the folder 'verifier' belongs beside verify.py\n"
