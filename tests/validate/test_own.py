"""A paper in one file: what its claims may say, how they are measured, and what is said of a bad file."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validate.own import MeasuredClaim, claim, files, load, parameters, pool, run
from validate.own.module import OwnModule
from validate.own.tables import AFTER_ROUNDS, ALGORITHMS, CERTIFIED, MEASURES, ONE_ROUND, QUANTITIES, WHOLE_RUN
from validate.own.template import text
from validate.own.typeset import latex_of

from sim.participation import Bernoulli, UniformChoice
from tests.validate.command_line import call, complaint, printed
from theory import Hypothesis, Paper, Smooth, StronglyConvex, catalog
from theory.formula import Apply, Formula, Name, Number, parse, text_of
from validate import papers, verifier
from validate.checking import check, check_all, check_and_replay, resolve
from validate.falsify import confirm
from validate.report.formula import Typesetter
from validate.scenario import read_scenario

pytestmark = pytest.mark.usefixtures("folder")

SPECS: tuple[dict[str, Any], ...] = (
    {
        "algorithm": "local-sgd",
        "clients": [{"h": ["1", "2"], "a": ["0", "1"]}, {"h": ["1/2"], "a": ["-1"]}],
        "step": "1/5",
        "local_steps": 2,
        "K": 3,
        "theta0": "3",
    },
    {
        "algorithm": "fedavg-svrg",
        "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1/2"], "a": ["-1"], "p": "2/3"}],
        "step": "1/5",
        "S": 2,
        "M": 2,
        "K": 2,
        "theta0": "3",
    },
)

# The widest kind of participation that each algorithm has here.
WHO = {"local-sgd": "independent", "fedavg-svrg": "independent", "shuffling": "everybody", "fedmim": "uniform"}


@pytest.fixture
def forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Papers that a test adds are known to that test only."""
    monkeypatch.setattr(catalog, "_added", {})
    monkeypatch.setattr(papers, "_added", {})


def everything(quantity: str, algorithm: str) -> MeasuredClaim:
    """A claim with all the parameters that it may have."""
    of = QUANTITIES[quantity].of
    able = {f"p_{name}": name for name, m in MEASURES.items() if of in m.of and algorithm in m.algorithms}
    if WHO[algorithm] != "uniform":
        del able["p_chosen_clients"]
    return claim(
        "some/thing",
        "words",
        quantity,
        " + ".join(able),
        parameters=parameters(**able),
        algorithm=algorithm,
        participation=WHO[algorithm],
    )


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: str(spec["algorithm"]))
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_verifier_measures_what_the_oracle_measures(quantity: str, spec: dict[str, Any]) -> None:
    """Every quantity and every constant, with the verifier's own code, in fractions."""
    made = everything(quantity, spec["algorithm"])
    scenario = read_scenario(spec, exact=True)
    cases = run.cases(made, scenario)
    assert cases is not None
    instance = verifier.read_instance({**spec, "clients": [{"p": "1", **client} for client in spec["clients"]]})
    rounds: list[verifier.Round] = []
    for k in range(instance.K):
        start = rounds[-1].end if rounds else (instance.theta0, instance.theta0**2)
        rounds.append(verifier.play_round(instance, k, start))
    assert len(cases) == (1 if QUANTITIES[quantity].of == WHOLE_RUN else spec["K"])
    for i in range(len(cases)):
        given = {name: Fraction(value) for name, value in cases.parameters_at(i).items()}
        by_sample = False
        at = verifier.Context(instance, rounds, cases.index_at(i), given, tuple(verifier.PARAMETERS), by_sample)
        assert verifier.QUANTITIES[quantity](at) == cases.left[i]
        for parameter in made.parameters:
            relation, compute = verifier.PARAMETERS[parameter.counterpart]
            if parameter.measure == "sample_smoothness":
                at = dataclasses.replace(at, by_sample=True)
            assert compute(at) == given[parameter.name], parameter.measure
            at = dataclasses.replace(at, by_sample=False)
            assert relation in ("=", ">=", "<=")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_oracle_measures_what_a_simulation_finds(algorithm: str) -> None:
    """Each sampled quantity of each sampled scenario, at 5.5 standard errors: error probability below 1e-7 a pair."""
    for scenario in pool.sampled([algorithm], quick=True):
        trace = scenario.simulate(400, 7)
        for quantity, per_run in OwnModule.SAMPLED.items():
            bare = claim("a/b", "", quantity, "0", parameters=(), algorithm=algorithm, participation=WHO[algorithm])
            cases = run.cases(bare, scenario)
            assert cases is not None
            assert len(cases) == 1
            found = per_run.values(trace, cases)[:, 0]
            error = found.std(ddof=1) / np.sqrt(len(found))
            assert abs(found.mean() - cases.left[0]) <= 5.5 * error + 1e-9 * abs(cases.left[0]), quantity


def test_indices_and_round_by_round_values_agree() -> None:
    scenario = read_scenario(SPECS[0], exact=True)
    before = run.cases(everything("next_distance", "local-sgd"), scenario)
    after = run.cases(everything("squared_distance", "local-sgd"), scenario)
    assert before is not None
    assert after is not None
    assert list(before.left) == list(after.left)
    assert list(before.index["k"]) == [0, 1, 2]
    assert list(after.index["k"]) == [1, 2, 3]
    assert list(before.parameters["p_distance"][1:]) == list(after.left[:-1])
    assert before.parameters["p_distance"][0] == before.parameters["p_start_distance"]


def test_a_claim_speaks_of_its_own_algorithm_and_participation_only() -> None:
    local, absent = (read_scenario(spec, exact=False) for spec in SPECS)
    of_local, of_svrg = everything("suboptimality", "local-sgd"), everything("suboptimality", "fedavg-svrg")
    assert run.cases(of_local, local) is not None
    assert run.cases(of_local, absent) is None
    assert run.cases(of_svrg, local) is None
    assert run.cases(of_svrg, absent) is not None
    assert run.cases(dataclasses.replace(of_svrg, participation="everybody"), absent) is None


def test_what_does_not_exist_is_not_measured() -> None:
    """Without a minimiser, or with a parameter outside its domain, a claim says nothing."""
    flat = {**SPECS[0], "clients": [{"h": ["0"], "a": ["0"]}]}
    for exact in (True, False):
        scenario = read_scenario(flat, exact=exact)
        assert run.cases(everything("squared_distance", "local-sgd"), scenario) is None
        gradient = claim("a/b", "", "squared_gradient_norm", "m", parameters=parameters(m="strong_convexity"))
        assert run.cases(gradient, scenario) is None


def test_every_name_of_the_tables_is_computed_and_verified() -> None:
    assert {m.counterpart for m in MEASURES.values()} - {""} <= set(verifier.PARAMETERS)
    assert {name for name, m in MEASURES.items() if not m.counterpart} == {"chosen_clients", "alpha_sum", "beta_sum"}
    assert set(QUANTITIES) <= set(verifier.QUANTITIES)
    assert set(QUANTITIES) == set(OwnModule.SAMPLED)
    assert {q.of for q in QUANTITIES.values()} == {WHOLE_RUN, AFTER_ROUNDS, ONE_ROUND}
    for name in (*MEASURES, *QUANTITIES):
        assert name == "round" or hasattr(run.Run, name), name


def refused(**changes: Any) -> str:
    entries: dict[str, Any] = {
        "id": "my/claim",
        "statement": "words",
        "quantity": "squared_distance",
        "right": "delta*R2",
        "parameters": parameters(delta="step", R2="start_distance"),
        **changes,
    }
    with pytest.raises(ValueError, match=r".") as caught:
        claim(**entries)
    return str(caught.value)


def test_slips_in_a_claim_are_named() -> None:
    assert "did you mean 'squared_distance'" in refused(quantity="square_distance")
    assert "mean_squared_gradient_norm" in refused(quantity="loss")
    assert "local-sgd, fedavg-svrg, shuffling, fedmim" in refused(algorithm="scaffold")
    assert "everybody, independent, independent-mean, uniform" in refused(participation="some")
    assert "is not measured" in refused(algorithm="shuffling", participation="uniform")
    assert "of participation='uniform' only" in refused(parameters=parameters(S="chosen_clients"), right="S")
    assert "gamma, which is none of the parameters delta, R2" in refused(right="gamma*R2")
    assert "gamma, which is none" in refused(definitions={"a": "gamma"}, right="a*R2")
    assert "L, which is none" in refused(hypotheses=(Hypothesis("step", "small", relation="delta <= 1/L"),))
    assert "L, which is none" in refused(hypotheses=(Hypothesis("smooth", "L", assumption=Smooth("L")),))
    assert "not of the form paper/label" in refused(id="claim")
    assert "take 'round'" in refused(parameters=parameters(K="rounds"), right="K")
    assert "take 'rounds'" in refused(quantity="mean_suboptimality", parameters=parameters(k="round"), right="k")
    assert "fedavg-svrg has no local_steps (H)" in refused(
        algorithm="fedavg-svrg", parameters=parameters(H="local_steps"), right="H"
    )
    assert "has no meaning" in refused(parameters=parameters(D="distance"), right="D")
    assert "is not made by `parameters`" in refused(
        parameters=tuple(catalog.claim("textbook/sgd-step").parameters[:1]), right="delta"
    )
    with pytest.raises(ValueError, match=r"'stepp' is not a measured constant \(for delta\); did you mean 'step'\?"):
        parameters(delta="stepp")


HEAD = "from theory import Paper\nfrom validate.own import claim, parameters\n"
BODY = (
    "d, R = parameters(d='step', R='start_distance')\n"
    "A = claim('tiny/a', 'words', 'squared_distance', 'R', parameters=(d, R))\n"  # which has no d
)
TINY = HEAD + BODY + "PAPER = Paper('tiny', 'Tiny', 'me', (A,))\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x = (", r"own.py, line 1: '\(' was never closed"),
        ("x = 1", "own.py has no papers; it needs a theory.Paper under the name PAPER"),
        ("import sys\nsys.exit()", "own.py, line 2: SystemExit"),
        ("\n\n1/0", "own.py, line 3: ZeroDivisionError: division by zero"),
        (TINY.replace("'step'", "'stepp'"), "own.py, line 3: 'stepp' is not a measured constant"),
        (TINY.replace("(A,)", "(A, A)"), r"own.py, line 5: paper 'tiny': the ids \['tiny/a'\] are used twice"),
        (TINY.replace("tiny", "textbook"), "own.py: there is a paper 'textbook' already"),
        (TINY.replace("'tiny'", "'Tiny'"), "own.py, line 5: claim 'tiny/a' does not belong to paper 'Tiny'"),
        (TINY.replace("(A,)", "()"), "own.py: the paper 'tiny' has no claims"),
        (TINY + "other = Paper('b', '', '', ())\nPAPER = None\nthird = Paper('c', '', '', ())", "own.py has 2 papers"),
        ("x = '\0'", "own.py"),
    ],
)
@pytest.mark.usefixtures("forgetting")
def test_a_bad_file_is_refused_in_one_line(folder: Path, content: str, said: str) -> None:
    path = folder / "own.py"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said) as caught:
        files.load("own.py")
    assert "\n" not in str(caught.value)
    assert complaint(call("claims", "--paper", "own.py")) == "error: " + " ".join(str(caught.value).split())
    assert catalog._added == {}


@pytest.mark.usefixtures("forgetting")
def test_the_commands_take_a_file_in_place_of_a_paper(folder: Path) -> None:
    assert "No such file" in complaint(call("check", "own.py"))
    (folder / "own.py").write_text(TINY, encoding="utf-8")
    (folder / "other.py").write_text(TINY, encoding="utf-8")
    assert [row["id"] for row in printed("claims", "--paper", "own.py")] == ["tiny/a"]
    assert printed("show", "own.py")["right"] == "R"
    assert printed("show", "own.py:a") == printed("show", "own.py")
    assert [parameter["name"] for parameter in printed("show", "own.py")["parameters"]] == ["R"]
    assert printed("bound", "own.py:a", "--set", "R=3")["value"] == 3
    assert "own.py has no claim 'b'; there are own.py:a" in complaint(call("show", "own.py:b"))
    assert "both have the paper 'tiny'" in complaint(call("check", "own.py", "other.py"))
    two = TINY.replace("(A,)", "(A, claim('tiny/b', 'words', 'suboptimality', 'R', parameters=(d, R)))")
    (folder / "own.py").write_text(two, encoding="utf-8")
    assert "own.py has 2 claims; say which: own.py:a, own.py:b" in complaint(call("show", "own.py"))
    assert "no proof lines" in complaint(call("replay", "own.py:b"))
    assert files.targets(["own.py:b", "own.py", "perm"]) == ["tiny/b", "tiny", "perm"]


@pytest.mark.usefixtures("forgetting")
def test_a_paper_of_ones_own_does_not_hide_the_others(folder: Path) -> None:
    before = [paper.name for paper in catalog.papers()]
    (folder / "own.py").write_text(TINY, encoding="utf-8")
    found = files.load("own.py")
    assert [paper.name for paper in catalog.papers()] == [*before, "tiny"]
    assert catalog.claim("tiny/a") is found.claims[0]
    assert isinstance(papers.module("tiny"), OwnModule)
    assert papers.module("textbook") is not None
    assert not isinstance(papers.module("textbook"), OwnModule)
    again = files.load("own.py")
    assert catalog.paper("tiny") is again


@pytest.mark.usefixtures("forgetting")
def test_the_python_functions_take_a_file_as_the_commands_do(folder: Path) -> None:
    two = TINY.replace("(A,)", "(A, claim('tiny/b', 'words', 'suboptimality', 'R', parameters=(d, R)))")
    (folder / "own.py").write_text(two, encoding="utf-8")
    assert [c.id for c in resolve(["own.py:b", "textbook/sgd-step", "own.py"])] == [
        "tiny/b",
        "textbook/sgd-step",
        "tiny/a",
    ]
    assert load("own.py") is catalog.paper("tiny")
    assert files.find("own.py:b") is catalog.claim("tiny/b")
    assert files.find("perm/eq2") is catalog.claim("perm/eq2")
    with pytest.raises(ValueError, match=r"own\.py has no claim 'c'"):
        check_all(["own.py:c"])
    with pytest.raises(FileNotFoundError):
        check_all(["missing.py"])
    with pytest.raises(ValueError, match="no-such"):
        check("no-such/claim")
    assert not (folder / "fedproof-out").exists()


@pytest.mark.usefixtures("forgetting")
def test_a_claim_in_a_file_is_checked_from_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.checking.EVALUATIONS", {True: 0})
    (folder / "my_paper.py").write_text(text("my-paper", "my_paper.py"), encoding="utf-8")
    found = check_and_replay(["my_paper.py"], quick=True, out="out")
    assert [result.id for result in found.results] == ["my-paper/noise-ball"]
    assert set(found.replays) == set(found.predicted) == {"my-paper/noise-ball"}
    assert tuple(found) == (found.results, found.replays, found.predicted)
    (alone,) = check("my_paper.py", quick=True, out="out")  # of a file a list, of one of its claims a verdict
    one = check("my_paper.py:noise-ball", quick=True, out="out")
    assert alone.to_json() == one.to_json()
    assert one == found.results[0]
    assert one.verdict == "supported"


@pytest.mark.usefixtures("forgetting")
def test_new_writes_a_file_that_runs(folder: Path) -> None:
    assert "my-paper" in call("new", "my_paper.py").stdout
    assert (folder / "my_paper.py").read_text(encoding="utf-8") == text("my-paper", "my_paper.py")
    assert "--force overwrites it" in complaint(call("new", "my_paper.py"))
    (folder / "my_paper.py").write_text("", encoding="utf-8")
    assert call("new", "my_paper.py", "--force").exit_code == 0
    [row] = printed("claims", "--paper", "my_paper.py")
    assert row["id"] == "my-paper/noise-ball"
    replayed = printed("replay", "my_paper.py")
    assert {line["outcome"] for line in replayed["lines"]} == {"proved"}
    content = (folder / "my_paper.py").read_text(encoding="utf-8")
    assert all(f"#   {name} " in content for name in (*MEASURES, *QUANTITIES, *ALGORITHMS))
    for bad in ("my_paper.txt", "my paper?.py", "textbook.py", ".py"):
        assert complaint(call("new", bad))


@pytest.mark.usefixtures("forgetting")
def test_a_hypothesis_in_words_only_refutes_nothing(folder: Path) -> None:
    """The instance breaks the formula; whether it satisfies the words nobody can tell."""
    from validate.falsify import rounds_certificate

    d, r = parameters(d="step", R="start_distance")
    halved = claim("tiny/half", "words", "squared_distance", "R/1000", parameters=(d, r))
    with_words = dataclasses.replace(halved, hypotheses=(Hypothesis("luck", "the data are kind"),))
    for made, valid in ((halved, True), (with_words, False)):
        found = confirm(made, SPECS[0], run.cases)
        assert found is not None
        report = verifier.verify(rounds_certificate(made, found))
        assert report.valid is valid
    assert any("luck" in line and line.startswith("FAIL") for line in report.lines)


@pytest.mark.parametrize("algorithm", CERTIFIED)
def test_a_fixed_point_is_certified_under_the_claims_own_names(algorithm: str) -> None:
    """Two clients that pull apart: local steps stop short of the minimiser, for every K."""
    from validate.search.reduce import certificate_of, confirm_fixed_point

    eta, m, K, gap = parameters(eta="step", m="strong_convexity", K="rounds", gap="start_gap")
    vanishing = claim(
        "tiny/rate",
        "words",
        "mean_squared_gradient_norm",
        "2*gap/(eta*K)",
        parameters=(eta, m, K, gap),
        hypotheses=(Hypothesis("strongly convex", "every client", assumption=StronglyConvex("m")),),
        algorithm=algorithm,
    )
    shape = {"local_steps": 3} if algorithm == "local-sgd" else {"S": 1, "M": 3}
    clients = [{"h": ["1"], "a": ["1"]}, {"h": ["1/2"], "a": ["-1"]}]
    spec = {"algorithm": algorithm, "clients": clients, "step": "1/2", **shape, "K": 1, "theta0": "0"}
    found = confirm_fixed_point(vanishing, spec, run.cases)
    assert found is not None
    certificate = certificate_of(vanishing, found)
    assert certificate["names"] == {"eta": "step", "m": "mu", "gap": "f0_gap"}
    assert verifier.verify(certificate).valid
    wrong = {**certificate, "names": {**certificate["names"], "eta": "f0_gap"}}
    assert not verifier.verify(wrong).valid


def test_scenarios_come_in_every_kind() -> None:
    """With and without noise, heterogeneity and absent clients; in one and in several local steps; all finite."""
    seen = list(pool.scenarios(["local-sgd"]))
    assert {s.problem.clients > 1 for s in seen} == {True, False}
    assert {s.problem.samples > 1 for s in seen} == {True, False}
    assert {type(s.participation) for s in seen} == {Bernoulli, UniformChoice}
    assert {s.algorithm.local_steps > 1 for s in seen} == {True, False}
    assert {s.problem.clients > 1 and s.problem.heterogeneity > 1e-9 for s in seen} == {True, False}
    for kind in WHO.values():
        made = claim("a/b", "", "suboptimality", "0", parameters=(), participation=kind)
        assert any(run.cases(made, s) is not None for s in seen), kind
    assert {bool(s.algorithm.alpha) for s in pool.scenarios(["fedmim"])} == {True, False}


@pytest.mark.usefixtures("forgetting")
def test_where_there_is_no_certificate_nothing_is_refuted(folder: Path) -> None:
    """A false claim about shuffling is broken, stays undecided, and says why; a search has nothing to look at."""
    from validate.checking import check_claim
    from validate.search import search
    from validate.survey import Pool

    d, r = parameters(d="step", R="start_distance")
    false = claim("tiny/half", "words", "squared_distance", "R/1000", parameters=(d, r), algorithm="shuffling")
    module = OwnModule(Paper("tiny", "Tiny", "me", (false,)))
    assert list(module.instances()) == []
    result = check_claim(false, module, Pool((), tuple(module.scenarios(True))), (), folder)
    assert result.verdict == "undecided"
    assert {"exact": "fails", "certificate": "undecided"}.items() <= {
        e.kind: e.outcome for e in result.evidence
    }.items()
    assert any("no certificates for shuffling" in e.detail for e in result.evidence)
    papers.add("tiny", module)
    assert search(false, module.cases, seconds=5).found is None


def test_a_paper_of_unmeasured_claims_has_nothing_to_run() -> None:
    plain = catalog.claim("textbook/sgd-step")
    module = OwnModule(Paper("textbook", "", "", (plain,)))
    assert list(module.instances()) == []
    assert list(module.structures(plain)) == []
    assert module.cases(plain, read_scenario(SPECS[0], exact=False)) is None


@pytest.mark.usefixtures("forgetting")
def test_an_installed_paper_is_measured_by_the_word_of_its_claims() -> None:
    """A paper that only the catalogue knows, as one of another distribution is."""
    d, r = parameters(d="step", R="start_distance")
    told = claim("tiny/told", "words", "squared_distance", "R", parameters=(d, r))
    untold = dataclasses.replace(catalog.claim("textbook/sgd-step"), id="mute/step", amends=None)
    catalog.add(Paper("tiny", "Tiny", "me", (told,)))
    catalog.add(Paper("mute", "Mute", "me", (untold,)))
    found = papers.module("tiny")
    assert isinstance(found, OwnModule)
    assert found.algorithms == ["local-sgd"]
    assert papers.module("mute") is None
    assert papers.module("nobody's") is None


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        ("2*L*R2/k", r"\frac{2 L R_{2}}{k}"),
        ("a-(b-c)", r"a-\left(b-c\right)"),
        ("a-b-c", "a-b-c"),
        ("(a/b)**2", r"\left(\frac{a}{b}\right)^{2}"),
        ("exp(-mu*k)", r"\exp\left(-\mu k\right)"),
        ("-(a+b)*c", r"-\left(a+b\right) c"),
        ("a*(-b)", r"a \left(-b\right)"),
        ("2*3", r"2 \cdot 3"),
        ("noise*lam", r"\mathrm{noise} \,\lambda"),
        ("sigma_max**2", r"\sigma_{\mathrm{max}}^{2}"),
        ("max(abs(a),sqrt(1/2))", r"\max\left(\left|a\right|,\sqrt{\frac{1}{2}}\right)"),
    ],
)
def test_a_formula_becomes_latex(formula: str, latex: str) -> None:
    assert latex_of(parse(formula)) == latex


def grown(formulas: list[Formula]) -> list[Formula]:
    """These, and every operation on them."""
    found = [Apply(name, (one, other)) for name in ("+", "-", "*", "/", "**") for one in formulas for other in formulas]
    return [*formulas, *found, *(Apply("neg", (one,)) for one in formulas)]


def test_formulas_that_look_the_same_are_the_same() -> None:
    """All of up to three operations: what is set is what is checked, parentheses left out or not."""
    seen: dict[str, complex] = {}
    for formula in grown(grown([Name("a"), Name("b"), Number(Fraction(2))])):
        text = latex_of(formula)
        assert text.count("{") == text.count("}")
        try:
            value = eval(text_of(formula), {}, {"a": 1.375 + 0j, "b": 0.6875 + 0j})
        except (OverflowError, ZeroDivisionError):
            continue
        assert seen.setdefault(text, value) == pytest.approx(value, rel=1e-9), text
    assert len(seen) > 10_000


def test_what_is_set_can_be_read_by_the_page() -> None:
    setter = Typesetter()
    for quantity in QUANTITIES:
        made = claim(
            "some/thing",
            "words",
            quantity,
            "abs(c)*L*delta/(2*L)**3 + min(exp(-delta),log(L+1)) + sqrt(c)",
            parameters=parameters(delta="step", L="smoothness"),
            definitions={"c": "delta**2 - L*(1/2)"},
        )
        assert "ascii" not in setter.display(made.latex, "words")
    given = claim("some/thing", "words", "suboptimality", "1", parameters=(), latex="mine")
    assert given.latex == "mine"
