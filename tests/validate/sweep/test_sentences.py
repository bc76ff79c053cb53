"""Cells of claims that say what they mean: grids of their algorithm's parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.language import noise_ball, proxskip
from tests.validate.command_line import call, complaint, printed
from theory import Paper, algorithm, catalog, claim
from validate.instances import read_instance
from validate.on_instance import on_instance
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


def test_cells_agree_with_instances() -> None:
    found = outcome(claim="noise-ball/lost-factor")
    assert found["outcome"] == "fails"
    assert found["detail"].startswith("in fractions")
    data = {"problem": {"clients": [[{"h": "1/4", "b": 1}, {"h": "1/4", "b": -1}]]}, "parameters": {"eta": "1/2"},
            "start": 0, "rounds": 3}  # fmt: skip
    exact = on_instance(noise_ball.LOST_FACTOR, read_instance({**data, "algorithm": "x/y"}, noise_ball.parallel_sgd))
    row = exact.measured.broken[0]
    assert found["index"] == dict(row.at)
    assert found["left"] == pytest.approx(float(row.left), rel=1e-12)
    fine = outcome(claim="noise-ball/noise-ball")
    assert (fine["outcome"], fine["guarantee"]) == ("holds", "exact")


def test_what_a_claim_does_not_speak_of() -> None:
    assert (
        outcome(claim="noise-ball/noise-ball", rounds=3, algorithm={"kind": "program", "eta": "9"})["outcome"]
        == "violated"
    )
    other = outcome(claim="proxskip/lyapunov")
    assert other["outcome"] == "inapplicable"
    assert "gamma, p" in other["detail"]
    sampled = {"method": "sampled", "seed": 0, "level": "1/1024", "first": 4, "most": 8}
    assert "not against runs" in outcome(claim="noise-ball/noise-ball", **sampled)["detail"]
    tables = outcome(claim="textbook/sgd-step")
    if not hasattr(catalog.claim("textbook/sgd-step"), "sentence"):
        assert "speak of no program" in tables["detail"]
    wild = outcome(claim="other-words/grows", rounds=2000, start="1", algorithm={
        "kind": "program", "M": "2", "chance": "1/2", "step": "100", "tries": "2"})  # fmt: skip
    assert wild["outcome"] == "diverged"


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
