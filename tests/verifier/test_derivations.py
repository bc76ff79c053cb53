"""Derivations through the stand-alone verifier: true ones are valid, forged and corrupted ones are not."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verifier import written
from tests.verifier.corruptions import claim_part, corrupted
from tests.verifier.evaluated import false_sentence
from tests.verifier.written import combination, derivation, line
from validate import verifier
from validate.verifier import FormatError, verify

TRUE = {
    "jensen": written.JENSEN,
    "young": written.YOUNG,
    "cocoercive": written.COCOERCIVE,
    "geometric": written.GEOMETRIC,
    "noise ball, one step": written.sgd_one_step(),
    "noise ball": written.sgd_ball(),
    "gradient descent": written.gd_values(),
    "proxskip": written.proxskip(),
    "scaffold": written.scaffold_stays(),
}


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
def test_true_derivations_are_valid_and_all_their_lines_true(name: str) -> None:
    report = verify(TRUE[name])
    assert report.valid, report.lines
    assert TRUE[name]["statement"] in report.claimed[0]
    assert len(report.lines) >= len(TRUE[name]["lines"]) + 1
    text, tried = false_sentence(TRUE[name], 1)
    assert text is None
    assert tried == 4


def test_what_is_not_needed_is_said() -> None:
    assert any(
        "not needed: smooth(f_n, L), strongly_convex(f_n, mu)" in text for text in verify(TRUE["scaffold"]).lines
    )


def test_of_two_cases_the_second_is_strict() -> None:
    end = combination("end", None, squares=[("a", "1")])

    def by(first: list[Any], second: list[Any]) -> Any:
        split = {**line("all", None, "cases", on="c <= 1"), "first": first, "second": second}
        return derivation("paper/label", "norm2(a) >= 0*c", [split], vectors=("a",))

    one = combination("one", "(c - 1)/(c - 1) == 1")
    assert valid(by([end], [one, end]))
    assert not valid(by([one, end], [end]))
    more = combination("more", "c**2 > c", ("1 < c", "c"))
    assert valid(by([end], [more, end]))
    assert not valid(by([more, end], [end]))
    assert not valid(by([end], [combination("more", "c**2 > c", ("1 <= c", "c")), end]))


def test_roots_of_equal_squares() -> None:
    def by(statement: str, squares: str = "c**2 == c**2", **more: Any) -> Any:
        lines = [combination("squares", squares), line("all", None, "root", line="squares")]
        return derivation("paper/label", statement, lines, **more)

    assert valid(by("sqrt(c**2) == c"))
    assert not valid(by("-sqrt(c**2) == c"))
    assert not valid(by("sqrt(c**2) == c", "c**2 <= c**2"))
    assert not valid(by("sqrt(c**2) == c", domains={"c": {}}))
    assert valid(by("sqrt(c**2/b**2) == c/b"))
    assert not valid(by("sqrt(c**2/b**2) == b/c"))


def test_evaluation_tells_false_sentences() -> None:
    """The control of the corruption tests: false claims are seen to be false on the same random instances."""
    one = written.sgd_one_step()
    for statement in (
        "E(norm2(x[k+1] - xstar)) <= (1 - 2*eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2/N",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar))",
    ):
        assert false_sentence({**one, "statement": statement}, 3, wanted=12)[0] == statement
    assert false_sentence({**TRUE["jensen"], "statement": "norm2(mean_n(a_n)) >= mean_n(norm2(a_n))"}, 1)[0]
    assert false_sentence({**TRUE["geometric"], "statement": "sum_k(q**k) == (1 - q**(K+1))/(1 - q)"}, 1)[0]


def _corrupt(first: int, count: int) -> int:
    names = sorted(TRUE)
    accepted = 0
    for seed in range(first, first + count):
        name = names[seed % len(names)]
        data = corrupted(TRUE[name], seed)
        if valid(data):
            accepted += 1
            text, tried = false_sentence(data, seed)
            assert text is None, (name, seed, text)
            if claim_part(data) == claim_part(TRUE[name]):
                assert tried, (name, seed)
    return accepted


def test_corruptions_are_not_accepted_unless_what_they_say_is_true() -> None:
    """Of what is accepted (a line moved that hangs on none, a hypothesis away that is not needed) all is true."""
    assert _corrupt(0, 150) < 30


@pytest.mark.slow
def test_ten_thousand_corruptions() -> None:
    assert _corrupt(150, 10_000) < 1500


# --- forged -----------------------------------------------------------------------------------------------------------


def test_the_last_line_is_the_claim() -> None:
    other = {**TRUE["jensen"], "statement": "norm2(mean_n(a_n)) <= 2*mean_n(norm2(a_n))"}
    other["lines"] = [{**other["lines"][0], "sentence": TRUE["jensen"]["statement"]}]
    assert "not the claim's" in why(other)
    assert not valid({**TRUE["jensen"], "lines": []})
    two = copy.deepcopy(TRUE["noise ball"])
    two["lines"].reverse()
    assert not valid(two)


def test_lines_refer_to_earlier_ones() -> None:
    itself = derivation("a/b", "c <= 2*c", [combination("all", None, "all")])
    assert "no earlier line" in why(itself)
    around = derivation("a/b", "2*c <= c", [combination("one", "2*c <= c", "all"), combination("all", None, "one")])
    assert "no earlier line" in why(around)
    inner = copy.deepcopy(TRUE["noise ball"])
    inner["lines"][-1]["step"][0]["parts"][0]["line"] = "next"
    assert not valid(inner)


@pytest.mark.parametrize("name", ["noise ball, one step", "noise ball", "gradient descent", "proxskip", "scaffold"])
def test_another_algorithm(name: str) -> None:
    data = copy.deepcopy(TRUE[name])
    loops = [s["body"] for s in data["program"]["round"] if s["do"] == "repeat"]
    last = [s for s in (loops or [data["program"]["round"]])[0] if s["do"] == "linear"][-1]
    last["numbers"][1] = f"2*({last['numbers'][1]})"
    assert not valid(data)
    assert not valid({**TRUE[name], "program": None})


FALSE = {
    "a multiplier that may be negative": derivation(
        "a/b",
        "a*norm2(v) >= 0",
        [combination("all", None, squares=[("v", "a")])],
        vectors=("v",),
        domains={"a": {"lower": None, "upper": None, "lower_open": False, "upper_open": False, "integer": False}},
    ),
    "a square that is less than nothing": derivation(
        "a/b", "norm2(v) <= 0", [combination("all", None, squares=[("v", "-1")])], vectors=("v",)
    ),
    "strict from what is not": derivation(
        "a/b", "norm2(v) > 0", [combination("all", None, squares=[("v", "1")])], vectors=("v",)
    ),
    "an equation from squares": derivation(
        "a/b", "norm2(v) == 0", [combination("all", None, squares=[("v", "1")])], vectors=("v",)
    ),
    "a division by what may be 0": derivation(
        "a/b",
        "a == b",
        [combination("zero", "(a - b)/(a - b) == 1"), line("all", None, "at", line="zero")],
    ),
    "a root of what may be negative": derivation(
        "a/b",
        "1 - c >= 0",
        [
            combination("square", "sqrt(1 - c)**2 >= 0", squares=[("sqrt(1 - c)", "1")]),
            line("all", None, "at", line="square"),
        ],
    ),
    "a mean of what is not a client's": derivation(
        "a/b",
        "norm2(v) <= c",
        [combination("all", None, ("norm2(v) <= c", "1", ["mean_n"]))],
        (),
        ("norm2(v) <= c",),
        vectors=("v",),
    ),
    "a minimiser that nobody speaks of": derivation(
        "a/b",
        "norm2(grad(f, v)) >= 0",
        [
            line("zero", "norm2(grad(f, xstar)) == 0", "assumption", of=[], schema="zero", at={"v": "grad(f, xstar)"}),
            combination("all", None, "zero", squares=[("grad(f, v)", "1"), ("grad(f, xstar)", "1")]),
        ],
        ("smooth(f, L)",),
        vectors=("v",),
    ),
    "an infimum that nobody speaks of": derivation(
        "a/b",
        "norm2(v) >= 0",
        [
            line("low", "fstar <= f(v)", "assumption", of=[], schema="infimum", at={"v": "v"}),
            combination("all", None, squares=[("v", "1")]),
        ],
        ("smooth(f, L)",),
        vectors=("v",),
    ),
    "a constant of every client for their mean": derivation(
        "a/b",
        "norm2(grad(f, x) - grad(f, y)) <= L_n**2*norm2(x - y)",
        [
            line(
                "all",
                None,
                "assumption",
                of=["smooth(f_n, L_n)"],
                schema="lipschitz-gradient",
                on="f",
                at={"x": "x", "y": "y"},
            )
        ],
        ("smooth(f_n, L_n)",),
        vectors=("x", "y"),
    ),
    "clients' functions from their mean": derivation(
        "a/b",
        "f_n(y) >= f_n(x) + dot(grad(f_n, x), y - x)",
        [line("all", None, "assumption", of=["convex(f)"], schema="convex", on="f_n", at={"x": "x", "y": "y"})],
        ("convex(f)",),
        vectors=("x", "y"),
    ),
    "a client's point where all are meant": derivation(
        "a/b",
        "mean_n(norm2(grad(f_n, a_n) - grad(f, a_n))) <= zeta**2",
        [line("all", None, "assumption", of=["dissimilar(zeta)"], schema="dissimilar", at={"v": "a_n"})],
        ("dissimilar(zeta)",),
        vectors=("a_n",),
    ),
    "an induction that moves its hypothesis": derivation(
        "a/b",
        "k <= 0",
        [
            line(
                "all",
                None,
                "induction",
                on="k",
                base=[combination("first", None)],
                step=[line("next", None, "at", line="IH", put={"k": "k+1"})],
            )
        ],
    ),
    "an induction that begins later": derivation(
        "a/b",
        "k >= 1",
        [
            line(
                "all",
                None,
                "induction",
                on="k",
                **{"from": 1},
                base=[combination("first", None)],
                step=[combination("next", None, "IH", squares=[("1", "1")])],
            )
        ],
    ),
    "an induction on K of what hangs on K": derivation(
        "a/b",
        "K <= 1",
        [
            line(
                "all",
                None,
                "induction",
                on="K",
                base=[combination("first", None)],
                step=[combination("c", "c <= c + 1 - K", "c*K <= c")],
            )
        ],
        (),
        ("K <= 1",),
    ),
    "an induction on K from 0, where K is at least 1": derivation(
        "a/b",
        "K <= 0",
        [
            line("K", "K >= 1", "domain"),
            line(
                "all",
                None,
                "induction",
                on="K",
                **{"from": 0},
                base=[combination("first", None)],
                step=[combination("next", None, ("IH", "2"), "K")],
            ),
        ],
    ),
    "a mean over clients of what is so of one": derivation(
        "a/b",
        "mean_n(p_n) <= q_n",
        [
            line(
                "all",
                None,
                "cases",
                on="p_n <= q_n",
                first=[line("one", None, "mean", line="p_n <= q_n", over=["mean_n"])],
                second=[combination("two", None, "q_n <= p_n")],
            )
        ],
    ),
    "a power of what may be negative": derivation(
        "a/b",
        "(c - 2)**2 <= 1",
        [line("all", None, "power", line="c - 2 <= 1", exponent="2")],
        (),
        ("c - 2 <= 1",),
    ),
    "a root with a negative side": derivation(
        "a/b",
        "c <= b - 5",
        [line("all", None, "root", line="c**2 <= (b - 5)**2")],
        (),
        ("c**2 <= (b - 5)**2",),
    ),
    "vectors that are only near": derivation(
        "a/b",
        "norm2(u) == norm2(v)",
        [line("all", None, "replace", line="norm2(u - v) <= c")],
        (),
        ("norm2(u - v) <= c",),
        vectors=("u", "v"),
    ),
    "the largest of a run that is over": derivation(
        "a/b", "k <= max_k(k)", [line("all", None, "axiom", schema="extreme", of=["k"], over="max_k")]
    ),
    "a turn that is the last": derivation("a/b", "h + 1 <= H", [line("all", None, "domain")], program=written.SCAFFOLD),
    "E of a product as a product": derivation(
        "a/b",
        "E(norm2(x[k+1])*norm2(x[k])) == E(norm2(x[k+1]))*E(norm2(x[k]))",
        [line("all", None, "step")],
        program=written.SGD,
        assuming=("smooth(f_ni, L)",),
    ),
    "E of a square as a square": derivation(
        "a/b",
        "E(norm2(x[k+1] - x[k])) == eta**2*E(norm2(grad(f, x[k])))",
        [line("all", None, "step")],
        program=written.SGD,
    ),
    "one outcome as the mean": derivation(
        "a/b", "dot(x[k+1] - x[k], x0) == -eta*dot(grad(f, x[k]), x0)", [line("all", None, "step")], program=written.SGD
    ),
    "a round before the first": derivation(
        "a/b",
        "norm2(x[k] - x[k-1]) == eta**2*norm2(grad(f, x[k-1]))",
        [line("all", None, "step")],
        program=written.DESCENT,
    ),
    "a hypothesis on the run beyond it": derivation(
        "a/b", "0 <= 2 - k", [line("all", None, "at", line="0 <= 3 - k", put={"k": "k+1"})], (), ("0 <= 3 - k",)
    ),
    "a start that is not zero": derivation(
        "a/b", "norm2(x[0]) <= 0", [combination("all", None)], program=written.DESCENT
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_does_not_follow(name: str) -> None:
    assert not valid(FALSE[name])


def test_the_same_forms_when_they_are_right() -> None:
    """The control of the test above: each rule accepts what does follow."""
    right = [
        derivation("a/b", "a*norm2(v) >= 0", [combination("all", None, squares=[("v", "a")])], vectors=("v",)),
        derivation(
            "a/b",
            "f(y) >= f(x) + dot(grad(f, x), y - x)",
            [line("all", None, "assumption", of=["convex(f_n)"], schema="convex", on="f", at={"x": "x", "y": "y"})],
            ("convex(f_n)",),
            vectors=("x", "y"),
        ),
        derivation(
            "a/b",
            "mean_n(norm2(grad(f_n, v) - grad(f, v))) <= zeta**2",
            [line("all", None, "assumption", of=["dissimilar(zeta)"], schema="dissimilar", at={"v": "v"})],
            ("dissimilar(zeta)",),
            vectors=("v",),
        ),
        derivation("a/b", "c**3 <= 8", [line("all", None, "power", line="c <= 2", exponent="3")], (), ("c <= 2",)),
        derivation("a/b", "c <= b", [line("all", None, "root", line="c**2 <= b**2")], (), ("c**2 <= b**2",)),
        derivation(
            "a/b",
            "min(p, q) <= (p + q)/2",
            [
                line("one", "min(p, q) <= p", "axiom", schema="min", of=["p", "q"]),
                line("two", "min(p, q) <= q", "axiom", schema="min", of=["p", "q"]),
                combination("all", None, ("one", "1/2"), ("two", "1/2")),
            ],
        ),
        derivation(
            "a/b",
            "max(p, q)*1 <= p + q",
            [
                line(
                    "all",
                    None,
                    "cases",
                    on="p <= q",
                    first=[
                        combination("less", "0 <= q - p", "p <= q"),
                        line("one", None, "citation", source="elsewhere"),
                    ],
                    second=[line("two", None, "citation", source="elsewhere")],
                )
            ],
        ),
        derivation(
            "a/b",
            "norm2(u) == norm2(v)",
            [line("all", None, "replace", line="norm2(u - v) <= 0")],
            (),
            ("norm2(u - v) <= 0",),
            vectors=("u", "v"),
        ),
        derivation("a/b", "(1 + c)**k >= 1 + k*c", [line("all", None, "axiom", schema="bernoulli", of=["c", "k"])]),
        derivation(
            "a/b",
            "dot(u, v) <= norm(u)*norm(v)",
            [line("all", None, "axiom", schema="cauchy", of=["u", "v"])],
            vectors=("u", "v"),
        ),
        derivation(
            "a/b",
            "mean_k(norm(x[k])) <= max_k(norm(x[k]))",
            [
                line(
                    "each",
                    "norm(x[k]) <= max_k(norm(x[k]))",
                    "axiom",
                    schema="extreme",
                    of=["norm(x[k])"],
                    over="max_k",
                ),
                line("all", None, "mean", line="each", over=["mean_k"]),
            ],
            program=written.DESCENT,
        ),
        derivation(
            "a/b",
            "eta_k*L <= 2",
            [combination("all", None, ("eta_k <= 1/L", "L"), squares=[("1", "1")])],
            (),
            ("eta_k <= 1/L",),
        ),
    ]
    for data in right:
        assert verify(data).valid, (data["statement"], verify(data).lines)


def test_citations_are_named() -> None:
    data = derivation("a/b", "c <= 1", [line("all", None, "citation", source="Nesterov (2018), Theorem 2.1.5")])
    report = verify(data)
    assert report.valid
    assert (
        report.verdict
        == "VALID for the claim as printed above, citing Nesterov (2018), Theorem 2.1.5: compare it with your paper"
    )
    nested = derivation("a/c", "c <= 1", [line("all", None, "claim", id="a/b", derivation=data)])
    assert verify(nested).cited == ("Nesterov (2018), Theorem 2.1.5",)


def test_another_claim_as_a_line() -> None:
    def young(**more: Any) -> dict[str, Any]:
        put = {"a": "u + v", "b": "w", "c": "e"}
        return {**line("all", None, "claim", id="vectors/young", derivation=TRUE["young"], put=put), **more}

    statement = "norm2(u + v + w) <= (1 + e)*norm2(u + v) + (1 + 1/e)*norm2(w)"
    good = derivation("a/b", statement, [young()], vectors=("u", "v", "w"))
    assert verify(good).valid, verify(good).lines
    assert not valid({**good, "statement": statement.replace("(1 + e)", "e")})
    other = {**TRUE["young"], "statement": TRUE["young"]["statement"].replace("(1 + c)", "c")}
    assert not valid({**good, "lines": [young(derivation=other)], "statement": statement.replace("(1 + e)", "e")})
    assert not valid({**good, "lines": [young(put={"a": "u + v", "b": "w", "c": "e - 1"})]})
    assert not valid({**good, "lines": [young(put={"a": "u + v", "c": "e"})]})
    assert "another claim" in why({**good, "lines": [young(id="vectors/jensen")]})


def test_what_is_certain_in_another_claim_is_not_drawn_here() -> None:
    inner = derivation("a/c", "E(norm2(a)) == norm2(a)", [combination("all", None)], vectors=("a",))
    assert verify(inner).valid
    put = line("all", None, "claim", derivation=inner, put={"a": "x[k] - x0"})
    outer = derivation("a/b", "E(norm2(x[k] - x0)) == norm2(x[k] - x0)", [put], program=written.SGD)
    assert "of another kind" in why(outer)


def test_hypotheses_of_another_claim_are_to_hold() -> None:
    inner = derivation("a/c", "(1 - q)*q <= 1 - q", [combination("all", None, ("q <= 1", "1 - q"))], (), ("q <= 1",))
    assert verify(inner).valid
    outer = derivation("a/b", "(1 - r)*r <= 1 - r", [line("all", None, "claim", derivation=inner, put={"q": "r"})])
    assert "no line or hypothesis" in why(outer)
    assert verify({**outer, "relations": ["r <= 1"]}).valid
    smooth = copy.deepcopy(TRUE["cocoercive"])
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
    inner = derivation("a/c", statement, [within, all_of_them], program=written.SGD)
    assert verify(inner).valid
    beyond = [
        line("other", statement, "claim", derivation=inner),
        line("all", None, "at", line="other", put={"k": "K"}),
    ]
    outer = derivation("a/b", "K*norm2(x[K+1]) <= (K - 1)*norm2(x[K+1])", beyond, program=written.SGD)
    assert not valid(outer)
    assert not valid({**outer, "statement": statement, "lines": [line("all", None, "claim", derivation=inner)]})


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
    path.write_text(json.dumps(TRUE["noise ball"]))
    told = run(path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.rstrip().endswith("VALID for the claim as printed above: compare it with your paper")
    wrong = copy.deepcopy(TRUE["noise ball"])
    wrong["lines"][2]["at"]["y"] = "x0"
    path.write_text(json.dumps(wrong))
    told = run(path)
    assert told.returncode == 1
    assert "FAIL  line own: " in told.stdout
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
    data = {**TRUE["young"], "vectors": ["v"], "statement": "c <= 1", "lines": [combination("x", None)], **change}
    assert not valid(data)


def test_endless_work_is_refused() -> None:
    """Many factors of many indices, and deep lists: refused after a bounded amount of work."""
    factors = "*".join(["norm2(mean_n(a_n + b_n))"] * 8)
    data = derivation("a/b", f"norm2(mean_n({factors}*a_n)) <= 1", [combination("all", None)], vectors=("a_n", "b_n"))
    assert not valid(data)
    item: dict[str, Any] = combination("all", None)
    for _ in range(60):
        item = line("all", None, "induction", on="h", base=[combination("first", None)], step=[item])
    assert not valid(derivation("a/b", "c <= 1", [item]))
