"""Derivations through the stand-alone verifier: true ones are valid, forged ones are not.

What follows by each rule and what does not is put to kernel and verifier in tests/derivation, and so are corruptions.
"""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.derivation.written import BY_HAND
from tests.derivation.written import derivation as derived
from tests.verifier.written import SGD, combination, derivation, line
from validate import verifier
from validate.certificate.derivation import derivation_certificate
from validate.verifier import FormatError, verify

TRUE = {c.id: json.loads(json.dumps(derivation_certificate(c, derived(c, lines)))) for c, lines in BY_HAND}


def valid(data: Any) -> bool:
    """Whether the verifier accepts it; what it cannot read it does not."""
    try:
        return verify(json.loads(json.dumps(data))).valid
    except FormatError:
        return False


def why(data: Any) -> str:
    """The check that fails."""
    report = verify(json.loads(json.dumps(data)))
    assert not report.valid
    return report.lines[-1]


@pytest.mark.parametrize("name", TRUE)
def test_true_derivations_are_valid(name: str) -> None:
    report = verify(TRUE[name])
    assert report.valid, report.lines
    assert TRUE[name]["statement"] in report.claimed[0]
    assert len(report.lines) >= len(TRUE[name]["lines"]) + 1


def test_what_is_not_needed_is_said() -> None:
    text = "not needed: smooth(f_n, L), strongly_convex(f_n, mu)"
    assert any(text in told for told in verify(TRUE["scaffold/stays"]).lines), verify(TRUE["scaffold/stays"]).lines


# --- forged -----------------------------------------------------------------------------------------------------------


def test_the_last_line_is_the_claim() -> None:
    other = {**TRUE["vectors/jensen"], "statement": "norm2(mean_n(a_n)) <= 2*mean_n(norm2(a_n))"}
    other["lines"] = [{**other["lines"][0], "sentence": TRUE["vectors/jensen"]["statement"]}]
    assert "not the claim's" in why(other)
    assert not valid({**TRUE["vectors/jensen"], "lines": []})
    two = copy.deepcopy(TRUE["noise-ball/noise-ball"])
    two["lines"].reverse()
    assert not valid(two)


def test_lines_refer_to_earlier_ones() -> None:
    itself = derivation("a/b", "c <= 2*c", [combination("all", None, "all")])
    assert "no earlier line" in why(itself)
    around = derivation("a/b", "2*c <= c", [combination("one", "2*c <= c", "all"), combination("all", None, "one")])
    assert "no earlier line" in why(around)
    inner = copy.deepcopy(TRUE["noise-ball/noise-ball"])
    inner["lines"][-1]["step"][0]["parts"][0]["line"] = "next"
    assert not valid(inner)


@pytest.mark.parametrize("name", [n for n in TRUE if TRUE[n]["program"] is not None])
def test_another_algorithm(name: str) -> None:
    data = copy.deepcopy(TRUE[name])
    loops = [s["body"] for s in data["program"]["round"] if s["do"] == "repeat"]
    last = [s for s in (loops or [data["program"]["round"]])[0] if s["do"] == "linear"][-1]
    last["numbers"][1] = f"2*({last['numbers'][1]})"
    assert not valid(data)
    assert not valid({**TRUE[name], "program": None})


def test_citations_are_named() -> None:
    data = derivation("a/b", "c <= 1", [line("all", None, "citation", source="Nesterov (2018), Theorem 2.1.5")])
    report = verify(data)
    assert report.valid
    assert (
        report.verdict
        == "VALID for the claim as it stands above, citing Nesterov (2018), Theorem 2.1.5: compare it with your paper"
    )
    nested = derivation("a/c", "c <= 1", [line("all", None, "claim", id="a/b", derivation=data)])
    assert verify(nested).cited == ("Nesterov (2018), Theorem 2.1.5",)


def test_another_claim_as_a_line() -> None:
    def young(**more: Any) -> dict[str, Any]:
        put = {"a": "u + v", "b": "w", "c": "e"}
        return {**line("all", None, "claim", id="vectors/young", derivation=TRUE["vectors/young"], put=put), **more}

    statement = "norm2(u + v + w) <= (1 + e)*norm2(u + v) + (1 + 1/e)*norm2(w)"
    good = derivation("a/b", statement, [young()], vectors=("u", "v", "w"))
    assert verify(good).valid, verify(good).lines
    assert not valid({**good, "statement": statement.replace("(1 + e)", "e")})
    other = {**TRUE["vectors/young"], "statement": TRUE["vectors/young"]["statement"].replace("(1 + c)", "c")}
    assert not valid({**good, "lines": [young(derivation=other)], "statement": statement.replace("(1 + e)", "e")})
    assert not valid({**good, "lines": [young(put={"a": "u + v", "b": "w", "c": "e - 1"})]})
    assert not valid({**good, "lines": [young(put={"a": "u + v", "c": "e"})]})
    assert "another claim" in why({**good, "lines": [young(id="vectors/jensen")]})


def test_what_is_certain_in_another_claim_is_not_drawn_here() -> None:
    inner = derivation("a/c", "E(norm2(a)) == norm2(a)", [combination("all", None)], vectors=("a",))
    assert verify(inner).valid
    put = line("all", None, "claim", derivation=inner, put={"a": "x[k] - x0"})
    outer = derivation("a/b", "E(norm2(x[k] - x0)) == norm2(x[k] - x0)", [put], program=SGD)
    assert "of another kind" in why(outer)


def test_hypotheses_of_another_claim_are_to_hold() -> None:
    inner = derivation("a/c", "(1 - q)*q <= 1 - q", [combination("all", None, ("q <= 1", "1 - q"))], (), ("q <= 1",))
    assert verify(inner).valid
    outer = derivation("a/b", "(1 - r)*r <= 1 - r", [line("all", None, "claim", derivation=inner, put={"q": "r"})])
    assert "no line or hypothesis" in why(outer)
    assert verify({**outer, "relations": ["r <= 1"]}).valid
    smooth = copy.deepcopy(TRUE["vectors/cocoercive"])
    again = derivation(
        "a/b",
        smooth["statement"].replace("L", "M"),
        [line("all", None, "claim", derivation=smooth, put={"L": "M"})],
        ("smooth(f, M)", "convex(f)"),
        vectors=("x", "y"),
    )
    assert verify(again).valid
    assert "not assumed here" in why({**again, "assumptions": again["assumptions"][:1]})


def test_what_another_claim_assumes_of_all_clients_is_not_of_each_beside_its_own() -> None:
    first = line("all", None, "mean", line="b_n <= c", over=["first_n"])
    inner = derivation("a/c", "first_n(b_n) <= c", [first], relations=("b_n <= c",))
    assert verify(inner).valid
    same = line("all", None, "claim", derivation=inner, put={"c": "e"})
    assert verify(derivation("a/b", "first_n(b_n) <= e", [same], relations=("b_n <= e",))).valid
    for put in ("c_n", "c_n + 1 - 1", "t_n"):
        other = line("all", None, "claim", derivation=inner, put={"c": put})
        where = {"t_n": "c_n"} if put == "t_n" else {}
        outer = derivation("a/b", f"first_n(b_n) <= {put}", [other], relations=(f"b_n <= {put}",), where=where)
        assert "has indices" in why(outer)
    bounded = line("each", None, "assumption", of=["lipschitz(f_n, G)"], schema="bounded", at={"v": "v"})
    bounded["sentence"] = "norm2(grad(f_n, v)) <= G**2"
    first = line("all", None, "mean", line="each", over=["first_n"])
    statement = "norm2(first_n(grad(f_n, v))) <= G**2"
    inner = derivation("a/c", statement, [bounded, first], ("lipschitz(f_n, G)",), vectors=("v",))
    assert verify(inner).valid
    other = line("all", None, "claim", derivation=inner, put={"G": "G_n"})
    outer = derivation("a/b", statement.replace("G", "G_n"), [other], ("lipschitz(f_n, G_n)",), vectors=("v",))
    assert "has indices" in why(outer)


def test_what_another_claim_says_of_the_run_is_no_line_for_all_rounds() -> None:
    within = line("in", "k <= K - 1", "domain")
    statement = "k*norm2(x[k+1]) <= (K - 1)*norm2(x[k+1])"
    all_of_them = combination("all", None, ("in", "norm2(x[k+1])"))
    inner = derivation("a/c", statement, [within, all_of_them], program=SGD)
    assert verify(inner).valid
    beyond = [
        line("other", statement, "claim", derivation=inner),
        line("all", None, "at", line="other", put={"k": "K"}),
    ]
    outer = derivation("a/b", "K*norm2(x[K+1]) <= (K - 1)*norm2(x[K+1])", beyond, program=SGD)
    assert not valid(outer)
    assert not valid({**outer, "statement": statement, "lines": [line("all", None, "claim", derivation=inner)]})


def test_claims_do_not_speak_of_coordinates() -> None:
    square = derivation(
        "a/b",
        "coordinate(v)**2 >= 0",
        [line("all", None, "axiom", schema="square", of=["coordinate(v)"])],
        vectors=("v",),
    )
    with pytest.raises(FormatError, match="coordinates"):
        verify(square)


# --- the command line -------------------------------------------------------------------------------------------------


def run(path: Path) -> subprocess.CompletedProcess[str]:
    program = Path(verifier.__file__).with_name("launcher.py").read_text()
    (path.parent / "verify.py").write_text(program)
    folder = path.parent / "verifier"
    if not folder.exists():
        folder.symlink_to(Path(verifier.__file__).parent)
    command = [sys.executable, "-I", "-S", str(path.parent / "verify.py"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "derivation.json"
    path.write_text(json.dumps(TRUE["noise-ball/noise-ball"]))
    told = run(path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.rstrip().endswith("VALID for the claim as it stands above: compare it with your paper")
    wrong = copy.deepcopy(TRUE["noise-ball/noise-ball"])
    wrong["lines"][2]["at"]["y"] = "x0"
    path.write_text(json.dumps(wrong))
    told = run(path)
    assert told.returncode == 1
    assert "FAIL  line one-step: " in told.stdout
    assert told.stdout.rstrip().endswith("INVALID")
    path.write_text(json.dumps({**wrong, "lines": 3}))
    told = run(path)
    assert (told.returncode, told.stdout) == (2, "")
    assert "Traceback" not in told.stderr


BAD_LINES: list[Any] = [
    3, {}, {"by": 3}, {"by": "magic", "sentence": "c <= 1"}, {"by": "combination", "parts": 3}, {"name": "a:b"},
    {"by": "combination", "parts": [{}]}, {"by": "combination", "squares": [{"of": 3}]}, {"by": "root", "line": "no"},
    {"by": "induction", "on": [], "base": [], "step": []}, {"by": "induction", "on": "k", "base": {}, "step": []},
    {"by": "claim", "derivation": 3}, {"by": "claim", "derivation": {}}, {"by": "citation", "source": " "},
    {"by": "cases", "on": 3, "first": [], "second": []}, {"by": "cases", "on": "c <= 1 <= 2", "first": [], "second": 3},
    {"by": "assumption", "schema": [], "of": 3}, {"by": "axiom", "schema": "max"}, {"by": "at", "line": {}, "put": 3},
    {"by": "mean", "line": "x", "over": 3}, {"by": "step", "using": 3}, {"by": "zero", "line": "x", "of": 3, "with": 3},
]  # fmt: skip
BAD: list[Any] = [
    *({"lines": [{"name": "x", **item} if isinstance(item, dict) else item]} for item in BAD_LINES),
    {"lines": None}, {"vectors": 3}, {"vectors": ["a", "a"]}, {"statement": 3}, {"domains": []}, {"over": 3},
    {"more": 1}, {"statement": "norm2(v) <= (1 + c)**10000"}, {"statement": "(1 + c + b)**60*(1 + d)**60 <= 1"},
    {"statement": "c <= 1e999**1000"}, {"statement": "c <= (((((9**999)**999)**999)**999)**999)"},
    {"statement": "(" * 70 + "c" + ")" * 70 + " <= 1"}, {"statement": "c <= v"}, {"statement": "c <= x[k]"},
    {"statement": "norm2(v)**60 <= (norm2(v) + c*norm2(w) + dot(v, w) + b)**60", "vectors": ["v", "w"]},
    {"statement": "norm2(mean_n(a_n))**6 <= norm2(mean_n(a_n))**7", "vectors": ["a_n"]},
    {"statement": "sum_k(sum_k(sum_k(q**k))) <= 1"}, {"statement": "c <= quantile(c, 1/2)"}, {"statement": "c/0 <= 1"},
]  # fmt: skip


@pytest.mark.parametrize("change", BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_input_is_refused_without_a_traceback(change: dict[str, Any]) -> None:
    one = {"vectors": ["v"], "statement": "c <= 1", "lines": [combination("x", None)]}
    assert not valid({**TRUE["vectors/young"], **one, **change})


def test_endless_work_is_refused() -> None:
    """Many factors of many indices, and deep lists: refused after a bounded amount of work."""
    factors = "*".join(["norm2(mean_n(a_n + b_n))"] * 8)
    data = derivation("a/b", f"norm2(mean_n({factors}*a_n)) <= 1", [combination("all", None)], vectors=("a_n", "b_n"))
    assert not valid(data)
    item: dict[str, Any] = combination("all", None)
    for _ in range(60):
        item = line("all", None, "induction", on="h", base=[combination("first", None)], step=[item])
    assert not valid(derivation("a/b", "c <= 1", [item]))
