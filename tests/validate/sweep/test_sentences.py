"""Cells of claims that say what they mean: grids of their algorithm's parameters."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.language import noise_ball, proxskip
from tests.validate.command_line import call, complaint, printed
from theory import Paper, algorithm, catalog, claim
from validate.expected import lines
from validate.instances import read_instance
from validate.instances.by_runs import left_by_runs, sides_by_runs, why_not_from_above
from validate.instances.occasion import occasion
from validate.instances.problems import in_floats
from validate.instances.setting import Setting
from validate.on_instance import setting_of, valued
from validate.sweep import read_specification, run_cell

LANGUAGE = Path(__file__).parents[2] / "language"
SWEEP = """
claims = [CLAIMS]
rounds = [3, 20]
start = ["0", "1"]

[[problem]]
kind = "scalar"
clients = [{ h = ["1/4", "1/4"], a = ["4", "-4"] }]

[[problem]]
kind = "quadratic"
clients = 2
dim = 2
mu = "1/10"
L = 1
heterogeneity = 1
samples = 2
sample_spread = 1
seed = 3

[[algorithm]]
kind = "program"
eta = ["1/2", "5"]
"""
SCALAR: dict[str, Any] = {
    "format": 1, "problem": {"kind": "scalar", "clients": [{"h": ["1/4", "1/4"], "a": ["4", "-4"]}]},
    "algorithm": {"kind": "program", "eta": "1/2"}, "participation": {"p": "1"}, "rounds": 3, "start": "0",
    "method": "exact",
}  # fmt: skip


@pytest.fixture
def specification() -> str:
    names = ", ".join(json.dumps(f"{LANGUAGE / 'noise_ball.py'}:{label}") for label in ("noise-ball", "lost-factor"))
    return SWEEP.replace("CLAIMS", names)


@pytest.fixture(autouse=True)
def known() -> Any:
    """The papers of the language's examples, and one with FedAvg-SVRG in other words, for these tests alone."""
    with catalog.forgetting():
        catalog.add(noise_ball.PAPER)
        catalog.add(proxskip.PAPER)
        catalog.add(PAPER)
        yield


@algorithm
def reduced(w, z, *, step, chance, tries, M):
    y = w.each(z)
    for _ in w.repeat(tries):
        full, start = w.gradient(y), y
        for _ in w.repeat(M):
            i = w.sample()
            y = y - step * (w.gradient(y, i) + full - w.gradient(start, i))
    return z + w.mean(w.coins(chance) / chance * (y - z))


GROWS = claim("grows", "E(norm2(z[k+1])) <= 2*E(norm2(z[k])) + 1", of=reduced, assuming=("smooth(f_ni, L)",))
PAPER = Paper("other-words", "FedAvg-SVRG in other words", "a test", (GROWS,))


def outcome(**entries: Any) -> dict[str, Any]:
    return run_cell({**SCALAR, **entries})


def test_a_sweep_of_a_grid(specification: str, folder: Path) -> None:
    (folder / "sweep.toml").write_text(specification, encoding="utf-8")
    assert printed("sweep", "sweep.toml", "--dry-run")["axes"]["algorithm.eta"] == ["1/2", "5"]
    done = printed("sweep", "sweep.toml", "--out", "s.sqlite", "--workers", 1, status=1)
    assert done["cells"] == 32
    assert done["outcomes"]["violated"] >= 16  # eta = 5
    assert done["outcomes"]["fails"] > 0
    assert sum(done["outcomes"].values()) == 32
    page = call("report", "--store", "s.sqlite", "--out", "page")
    assert page.exit_code == 0, page.output


def test_what_a_claim_does_not_speak_of() -> None:
    assert (
        outcome(claim="noise-ball/noise-ball", rounds=3, algorithm={"kind": "program", "eta": "9"})["outcome"]
        == "violated"
    )
    other = outcome(claim="proxskip/lyapunov")
    assert other["outcome"] == "inapplicable"
    assert "gamma, p" in other["detail"]
    wild = outcome(claim="other-words/grows", rounds=2000, start="1", algorithm={
        "kind": "program", "M": "2", "chance": "1/2", "step": "100", "tries": "2"})  # fmt: skip
    assert wild["outcome"] == "diverged"


SAMPLED = {"method": "sampled", "seed": 0, "level": "1/1024", "first": 64, "most": 4096}
ENGINE = {"kind": "fedavg-svrg", "step": "1/5", "S": 1, "M": 2, "aggregation": "unbiased", "empty": "keep"}
HALF = {"kind": "scalar", "clients": [{"h": ["1", "2"], "a": ["0", "1"]}, {"h": ["1"], "a": ["-1"]}]}
DRAWN = {"kind": "quadratic", "clients": 2, "dim": 2, "mu": "1/10", "L": "1", "heterogeneity": "1", "samples": 2,
         "sample_spread": "1/2", "seed": 7}  # fmt: skip


def of_rounds(name: str, **entries: Any) -> dict[str, Any]:
    """A claim about FedAvg-SVRG where half of the clients take part."""
    return outcome(claim=f"fedavg-svrg/{name}", **{
        "problem": HALF, "algorithm": ENGINE, "participation": {"p": "1/2"}, "rounds": 2, "start": "3", **entries
    })  # fmt: skip


BY_RUNS = ["theorem-v1-eq7", "theorem-v1-eq8", "eq-a24", "eq-a25", "lemma-a1", "lemma-a1/corrected", "lemma-v1-eq9"]


@pytest.mark.parametrize("problem", [HALF, DRAWN], ids=["scalar", "quadratic"])
@pytest.mark.parametrize("name", BY_RUNS)
def test_runs_agree_with_moments(name: str, problem: dict[str, Any]) -> None:
    exact, runs = of_rounds(name, problem=problem), of_rounds(name, problem=problem, **SAMPLED)
    assert runs.keys() == exact.keys()
    assert runs["outcome"] in (("fails", "undecided") if exact["outcome"] == "fails" else ("unbroken", "undecided"))
    if runs["index"] == exact["index"]:
        assert runs["right"] == pytest.approx(exact["right"], rel=1e-12)
        assert runs["lower"] <= exact["left"] <= runs["upper"]  # with probability 1 - 1/512; the seed is fixed
    assert runs == of_rounds(name, problem=problem, **{**SAMPLED, "first": 999})  # not of the batches


def test_runs_have_the_left_side_as_their_expectation() -> None:
    """Within 6 standard errors of the moments, at every index: beyond with probability below 1e-8 each."""
    clients = [[{"h": "1", "b": "0"}, {"h": "2", "b": "2"}], [{"h": "1", "b": "-1"}, {"h": "1", "b": "-2"}]]
    given = {"delta": "1/5", "S": 2, "M": 2, "p": ["1/2", "3/4"]}
    data = {"algorithm": "x/y", "problem": {"clients": clients}, "parameters": given, "start": 3, "rounds": 3}
    tested = 0
    for one in catalog.paper("fedavg-svrg"):
        if one.of is None or why_not_from_above(one) is not None or {"m", "s"} & set(one.symbols):
            continue
        single = {**data, "parameters": {**given, "S": 1}} if "S == 1" in one.assuming else data
        drawn = valued(one, read_instance(single, one.of), {})
        setting = setting_of(one, drawn)
        problem = in_floats(setting.problem)
        world = Setting(problem, setting.start, setting.values, setting.rounds, one)
        exact = {
            tuple(line.at.items()): float(line.left)
            for line in lines(one, problem, world)
            if line.status != "undefined"
        }
        rows = [row for row in left_by_runs(one, world, 20_000, 5) if tuple(row[0].items()) in exact]
        assert len(rows) == len(exact)
        for at, left in rows:
            error = 6 * left.std() / len(left) ** 0.5 + 1e-9
            assert abs(left.mean() - exact[tuple(at.items())]) <= error, (one.id, at)
        tested += len(rows) > 0
    assert tested >= 15


def test_false_claims_fail_by_runs() -> None:
    pair = {"kind": "scalar", "clients": [{"h": ["1"], "a": ["1"]}, {"h": ["1"], "a": ["-1"]}]}
    found = of_rounds("eq-a25", problem=pair, algorithm={**ENGINE, "step": "3/4", "S": 4, "M": 1}, start="1", **SAMPLED)
    assert (found["outcome"], found["guarantee"]) == ("fails", "anytime")
    assert found["lower"] > found["right"]
    lost = outcome(claim="noise-ball/lost-factor", rounds=20, **SAMPLED)
    assert lost["outcome"] == "fails"
    true = outcome(claim="noise-ball/noise-ball", rounds=20, **SAMPLED)
    assert (true["outcome"], true["guarantee"]) == ("unbroken", "asymptotic")
    violated = {"kind": "program", "eta": "9"}
    assert outcome(claim="noise-ball/noise-ball", algorithm=violated, **SAMPLED)["outcome"] == "violated"
    far = of_rounds("theorem-v1-eq7", algorithm={**ENGINE, "step": "1000000"}, rounds=200, **SAMPLED)
    assert (far["outcome"], far["left"]) == ("diverged", None)


NOT_BY_RUNS = [
    ("eq-a22", "not known to be never negative"),
    ("lemma-a2", "not known to be never negative"),
    ("eq-a19", "no mean over runs"),
]


@pytest.mark.parametrize(("name", "why"), NOT_BY_RUNS)
def test_what_runs_do_not_tell_is_inapplicable(name: str, why: str) -> None:
    found = of_rounds(name, **SAMPLED)
    assert found["outcome"] == "inapplicable"
    assert why in found["detail"]


def test_an_expectation_of_an_expectation_is_no_mean_over_runs() -> None:
    """In a run E(x[1]) is not x[1]: the variance would come out as 0."""
    one = catalog.claim("textbook/minibatch-variance")
    below = replace(one, statement=one.statement.replace("==", "<="))
    assert "no mean over runs" in (why_not_from_above(below) or "")
    assert "not bounded from above" in (why_not_from_above(one) or "")
    clients = [[{"h": 1, "b": 0}, {"h": 1, "b": 2}]]
    data = {"problem": {"clients": clients}, "parameters": {"eta": "1/2", "b": 1}, "start": 0, "rounds": 1}
    with pytest.raises(ValueError, match="runs do not decide it"):
        sides_by_runs(occasion(below, read_instance({**data, "algorithm": "x/y"}, one.of)), 4, 0)


def test_an_engine_s_kind_is_the_claim_s_algorithm_where_the_program_is() -> None:
    engine = {"kind": "fedavg-svrg", "step": "1/8", "S": 2, "M": 1, "aggregation": "unbiased", "empty": "keep"}
    found = outcome(claim="other-words/grows", algorithm=engine, participation={"p": "1/2"})
    same = {"kind": "program", "step": "1/8", "tries": "2", "M": "1", "chance": "1/2"}
    assert found == outcome(
        claim="other-words/grows", algorithm=dict(sorted(same.items(), key=lambda e: e[0] != "kind"))
    )
    assert found["outcome"] == "holds"
    other = {**engine, "aggregation": "normalised"}
    assert "another algorithm" in outcome(claim="other-words/grows", algorithm=other)["detail"]
    again = {**engine, "empty": "condition"}
    assert "no instance" in outcome(claim="other-words/grows", algorithm=again, participation={"p": "1/2"})["detail"]


BAD = [
    ('"e ta" = 1', "no name of a parameter"),
    ('eta = "x"', "algorithm[0].eta='x'"),
    ("eta = 1\n[[participation]]\np = 0.5", "says who takes part"),
]


@pytest.mark.parametrize(("lines", "message"), BAD)
def test_bad_grids_are_refused(lines: str, message: str, specification: str, folder: Path) -> None:
    text = specification.replace('eta = ["1/2", "5"]', lines)
    (folder / "bad.toml").write_text(text, encoding="utf-8")
    assert message in complaint(call("sweep", "bad.toml", "--dry-run"))
    with pytest.raises(ValueError, match=r"algorithm|participation"):
        read_specification(text)
