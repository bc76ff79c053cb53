"""The example files of the language, checked as they stand; and the same theorems written otherwise.

Law 1: a claim written again (other names for symbols, its clients each copied twice by hand, its program written
otherwise) gets the same verdict with the same budget. Law 3: nothing is fed: every refutation is the pool's or the
search's. Law 4 and 8: a break is confirmed by a certificate that the stand-alone verifier accepts.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from theory.claim import Claim, Paper
from validate.examine import examine

EXAMPLES = ("compression", "heavy_ball", "lsvrg", "noise_ball", "proxskip", "scaffold", "vectors")
# Of the true ones those whose own sentence is proved, for all parameters and every N and K.
PROVED = {
    "vectors/young", "vectors/jensen", "vectors/geometric", "vectors/cocoercive", "compression/ball", "lsvrg/lyapunov",
    "noise-ball/one-step", "noise-ball/noise-ball", "proxskip/lyapunov",
}  # fmt: skip
FILES = [Path(__file__).parent.parent / "language" / f"{name}.py" for name in EXAMPLES]
# What is true and what is false of the examples, from outside.
FALSE = {
    "noise-ball/lost-factor", "proxskip/too-fast", "scaffold/fedavg-stays", "compression/no-spread", "lsvrg/too-fast",
    "vectors/wrong-way", "vectors/without-convexity", "heavy-ball/anywhere",
}  # fmt: skip


def paper_in(text: str, name: str) -> Paper:
    names: dict[str, object] = {}
    exec(compile(text, name, "exec"), names)
    found = names["PAPER"]
    assert isinstance(found, Paper)
    return found


def claims() -> dict[str, Claim]:
    found: dict[str, Claim] = {}
    for path in FILES:
        found |= {c.id: c for c in paper_in(path.read_text(encoding="utf-8"), str(path))}
    return found


CLAIMS = claims()


def test_there_are_nineteen():
    assert len(CLAIMS) == 19


# Of what is false or proved, what takes a check seconds: in one spelling in every run, or in slow tests alone.
LONG = {"heavy-ball/anywhere", "lsvrg/lyapunov", "proxskip/lyapunov", "compression/no-spread"}
LONG_OTHERWISE = {"lsvrg/lyapunov", "noise-ball/noise-ball", "noise-ball/lost-factor"}


def marked(id: str, value: object, long: set[str]) -> object:
    """A parameter of a test, slow where the claim is true and searched for long."""
    short = id in (FALSE | PROVED) - long
    return pytest.param(value, id=id, marks=[] if short else [pytest.mark.slow])


@pytest.mark.parametrize("id", [marked(id, id, LONG) for id in sorted(CLAIMS)])
def test_the_examples_get_their_verdicts(id, tmp_path):
    result = examine(CLAIMS[id], quick=True, out=tmp_path)
    if id in PROVED:
        assert result.verdict == "proved", result.evidence[0].detail
        return
    if id not in FALSE:
        assert result.verdict == "supported", result.evidence[0].detail
        assert "quick search" in result.covered
        return
    assert result.verdict == "refuted", result.evidence[0].detail
    assert result.origin in ("pool", "search")
    assert result.certificate is not None
    folder = Path(result.certificate).parent
    run = [sys.executable, "-I", "-S", "verify.py", Path(result.certificate).name]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("VALID")
    written = json.loads(Path(result.certificate).read_text(encoding="utf-8"))
    assert written["statement"] == CLAIMS[id].statement


# (file, other spelling): names of parameters and states changed everywhere, programs written otherwise
OTHERWISE = {
    "noise_ball.py": [("eta", "step"), ("mu", "convexity"), (r"\bL\b", "smoothness"), (r"\bx - ", "-1 * (-x) - ")],
    "proxskip.py": [("gamma", "lr"), (r"\bp\b", "chance"), (r"\bmoved\b", "forward")],
    "scaffold.py": [(r"\bc\b", "control"), ("eta_g", "server_step"), (r"\bH\b", "turns")],
    "compression.py": [("alpha", "a"), (r"\bm\b", "kept"), ("omega", "variance")],
    "heavy_ball.py": [("alpha", "step"), ("beta", "momentum"), (r"\bz\b", "last"), (r"\bL\b", "smoothness")],
    "lsvrg.py": [(r"\bs\b", "snapshot"), ("eta", "gamma"), (r"\bp\b", "q")],
    "vectors.py": [(r"\bc\b", "t"), (r"\ba_n\b", "v_n"), (r"\bL\b", "ell")],
}


def otherwise(name: str) -> Paper:
    """An example in its other spelling."""
    text = next(path for path in FILES if path.name == name).read_text(encoding="utf-8")
    head, body = text.split("from theory import", 1)
    for old, new in OTHERWISE[name]:
        pattern = old if "\\" in old else rf"\b{old}\b"
        body = re.sub(pattern, new, body)
    return paper_in(f"{head}from theory import{body}", f"other_{name}")


def respelled() -> list[object]:
    """All claims in their other spelling; of the true ones that are searched for long most only in the slow tests."""
    return [marked(one.id, one, LONG_OTHERWISE) for name in sorted(OTHERWISE) for one in otherwise(name)]


@pytest.mark.parametrize("one", respelled())
def test_nobody_is_privileged(one, tmp_path):
    expected = "refuted" if one.id in FALSE else "proved" if one.id in PROVED else "supported"
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == expected, (one.id, result.evidence[0].detail, result.covered)
    assert result.origin != "given"


def test_the_other_spelling_is_another():
    same = 0
    for name in OTHERWISE:
        for one in otherwise(name):
            mine = CLAIMS[one.id]
            same += one.symbols == mine.symbols and one.vectors == mine.vectors and one.program == mine.program
    assert same <= 2  # two have no name that is changed


def test_a_turned_or_strict_or_shrunk_right_side_is_not_supported(tmp_path):
    one = CLAIMS["vectors/young"]
    for false in (
        "norm2(a + b) <= (1 + c)*norm2(a) + norm2(b)/c",
        "norm2(a + b) < (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
        "norm2(a + b) >= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
        "norm2(a + b) == (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
    ):
        result = examine(replace(one, statement=false), quick=True, out=tmp_path)
        assert result.verdict == "refuted", false


def test_contradictory_relations_are_vacuous(tmp_path):
    one = CLAIMS["noise-ball/one-step"]
    result = examine(replace(one, assuming=(*one.assuming, "eta >= 1/L")), quick=True, out=tmp_path)
    assert result.verdict == "vacuous"


def test_a_dropped_assumption_that_matters_is_noticed(tmp_path):
    one = CLAIMS["vectors/cocoercive"]
    result = examine(replace(one, assuming=("smooth(f, L)",)), quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    step = CLAIMS["noise-ball/one-step"]
    loose = tuple("eta <= 2/L" if "eta" in text else text for text in step.assuming)
    assert examine(replace(step, assuming=loose), quick=True, out=tmp_path).verdict == "refuted"


def test_what_says_nothing_earns_nothing(tmp_path):
    """A claim whose sides are 0 whatever the algorithm does."""
    one = CLAIMS["scaffold/fedavg-stays"]
    nothing = replace(one, statement="0*E(norm2(x[k] - xstar)) <= 0")
    assert examine(nothing, quick=True, out=tmp_path).verdict in ("undecided", "proved")  # that 0 <= 0


@pytest.mark.slow
def test_what_is_confined_to_one_point_is_said_to_be(tmp_path):
    ball = CLAIMS["noise-ball/one-step"]
    confined = replace(ball, assuming=(*ball.assuming, "norm2(x0 - xstar) <= 0", "sigma2 <= 0"))
    result = examine(confined, quick=True, out=tmp_path)
    assert result.verdict in ("undecided", "supported", "proved")
    if result.verdict == "undecided":
        assert "not called supported" in result.covered
