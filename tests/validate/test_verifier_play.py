"""Certificates of kind "play": false claims are refuted, true ones never, and nothing makes the verifier stumble."""

import ast
import copy
import dataclasses
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.shares import share
from tests.validate import known_plays as known
from tests.validate import plays
from tests.validate.tampering import at_path, edit, other_numbers, strings, verdict
from theory.claim import claim
from theory.program import OPERATIONS
from validate import verifier
from validate.certificate import differences, play_certificate, verify, write

FALSE = tuple(known.WHERE)
EXACT = tuple(label for label in FALSE if label != "unit-steps")
CORRUPTIONS = 3_000


@cache
def _made(label: str) -> str:
    return json.dumps(known.certificate(label))


def made(label: str) -> dict[str, Any]:
    certificate: dict[str, Any] = json.loads(_made(label))
    return certificate


def test_a_claim_of_numbers_alone_is_refuted_and_the_reader_is_told_the_sentence() -> None:
    """Its statement is the sentence that is evaluated, so it says no more than it refutes: docs/verdicts.md."""
    false = claim("numbers", "0 <= 0 - 1")
    report = verify(play_certificate(false, {"rounds": 1}, {}, 0, -1, origin="pool", quick=True))
    assert report.valid
    assert any("0 <= 0 - 1" in line for line in report.claimed)
    assert "compare it with your paper" in report.verdict
    true = claim("numbers", "0 <= 1")
    assert not verify(play_certificate(true, {"rounds": 1}, {}, 0, 1, origin="pool", quick=True)).valid
    assert differences(play_certificate(false, {"rounds": 1}, {}, 0, -1, origin="pool", quick=True), true)
    with pytest.raises(verifier.FormatError, match="nothing"):
        verify({**made(FALSE[0]), "statement": "nothing"})


# --- claims that are false, and true ones -----------------------------------------------------------------------------


@pytest.mark.parametrize("label", FALSE)
def test_a_false_claim_is_refuted_by_the_stand_alone_program(label: str, tmp_path: Path) -> None:
    path = write(made(label), tmp_path)
    command = [sys.executable, "-I", "-S", str(tmp_path / "verify.py"), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1].startswith("VALID")


def test_the_verifier_imports_nothing_but_the_standard_library_and_itself() -> None:
    for path in Path(verifier.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= sys.stdlib_module_names, path
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert str(node.module).partition(".")[0] in sys.stdlib_module_names, path


@pytest.mark.parametrize(("false", "true"), known.NEIGHBOURS.items())
def test_a_true_claim_is_not_refuted_on_the_instance_that_breaks_its_neighbour(false: str, true: str) -> None:
    draft = known.at(false, known.CLAIMS[true], 0, 0)
    left, right = plays.sides(draft)
    certificate = {**draft, "left": str(left), "right": str(right)}
    report = verify(certificate)
    assert not report.valid
    assert [line[:4] for line in report.lines if line.startswith("FAIL")] == ["FAIL"]  # the sides are as printed
    assert not plays.recomputed(certificate)


def test_the_algorithm_without_the_planted_error_keeps_its_invariant() -> None:
    draft = known.at("variates", known.CLAIMS["variates"], 0, 0)
    assert plays.sides(draft) == (0, 0)
    assert not verify(draft).valid
    planted = made("variates")
    assert {**planted, "program": draft["program"]} | {"left": "0"} == draft | {"right": "0"}
    assert verify(planted).valid


def test_the_reader_is_told_what_to_compare() -> None:
    text = "\n".join(verify(made("variates")).claimed)
    assert "norm2(s[k] - mean_n(c[k])) <= 0" in text
    assert "assuming eta*H <= 1 (fixed elsewhere in the paper for this result)" in text
    assert "repeat H times" in text
    assert "the instance is from: search, a full check" in text
    assert "eta = 1/4" in text
    text = "\n".join(verify(made("unit-steps")).claimed)
    assert "eta is from (0, 1]" in text
    text = "\n".join(verify(made("unit-steps")).lines)
    assert "pl(f, mu): norm2(grad(f, x)) >= 2*mu*(f(x) - its infimum) for every x, mu > 0" in text
    text = "\n".join(verify(made("lost-factor")).claimed)
    assert "where sigma2 is mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))" in text


def test_which_law_stands_for_a_noise_is_said() -> None:
    from tests.laws.test_play_certificates import ONE, noisy

    instance = {"parameters": {"eta": "1/2", "sigma2": 2}, "problem": ONE, "start": 1, "rounds": 1}
    one = play_certificate(
        claim("c", "E(norm2(x[k])) <= 0", of=noisy), instance, {"k": 1}, 1, 0, origin="pool", quick=True
    )
    assert any("stands for every law" in line for line in verify(one).claimed)


def test_a_certificate_is_held_against_its_claim() -> None:
    for label in FALSE:
        certificate, one = made(label), known.CLAIMS[label]
        assert differences(certificate, one) == (("program",) if label == "variates" else ())
        other = dataclasses.replace(one, assuming=(*one.assuming, "N <= 2"))
        assert "relations" in differences(certificate, other)
        assert "statement" in differences(edit(certificate, ("statement",), "0 >= 1"), one)
        wide = {"lower": None, "upper": None, "lower_open": False, "upper_open": False, "integer": False}
        assert "domains" in differences(
            {**certificate, "domains": {"eta": wide}}, one
        )  # of which the claim says nothing
        assert "over" in differences({**certificate, "over": "norm(x) <= 1"}, one)


# --- what is checked --------------------------------------------------------------------------------------------------

WRONG: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("lost-factor", ("parameters", "eta"), "3/4", "FAIL  relation eta <= 1/(2*L)"),
    ("lost-factor", ("parameters", "L"), "1/2", "FAIL  assumption smooth"),
    ("lost-factor", ("parameters", "mu"), "2", "FAIL  assumption strongly_convex"),
    ("lost-factor", ("parameters", "mu"), "-1", "FAIL  the parameters are in their domains: not mu"),
    ("lost-factor", ("problem", "clients", 0, 0, "H"), [["-1"]], "FAIL  assumption convex"),
    ("lost-factor", ("left",), "1/3", "FAIL  the left side is 9633/262144, not as printed"),
    ("lost-factor", ("right",), "1/33", "FAIL  the right side is 1/32, not as printed"),
    ("lost-factor", ("at", "k"), 4, "the index k is not in the run"),
    ("fedavg-stays", ("parameters", "S"), "3", "is not an integer in [1, 2]"),
    ("fedavg-stays", ("parameters", "S"), "3/2", "FAIL  the parameters are in their domains: not S"),
    ("fedavg-stays", ("start", 0), "2", "FAIL  relation norm2(x0 - xstar) <= 0"),
    ("no-spread", ("parameters", "m"), "3", "is not an integer in [1, 2]"),
    ("skips-too-fast", ("parameters", "p"), "2", "is not in (0, 1]"),
    ("loopless-too-fast", ("problem", "clients", 0, 1, "H"), [["-1"]], "FAIL  assumption convex"),
    ("consensus", ("parameters", "rho"), "1/2", "FAIL  assumption connected"),
    ("consensus", ("parameters", "rho"), "1/5", "FAIL  assumption connected"),
    ("consensus", ("parameters", "W", 0, 0), "3/4", "FAIL  assumption connected"),
    ("unit-steps", ("parameters", "eta"), "3/2", "FAIL  the parameters are in their domains: not eta"),
    ("unit-steps", ("parameters", "mu"), "5/2", "FAIL  assumption pl"),
    ("chances", ("parameters", "sigma2"), "-1", "not sigma2"),
    ("chances", ("problem", "clients", 0, 0, "H"), [["3/2"]], "FAIL  assumption bounded_variance"),
    ("chances", ("problem", "clients", 1, 0, "b"), ["1"], "FAIL  assumption same_minimiser"),
    ("chances", ("parameters", "B"), "1", "FAIL  assumption dissimilar"),
]


@pytest.mark.parametrize(("label", "path", "value", "says"), WRONG, ids=[f"{w[0]}-{w[1]}" for w in WRONG])
def test_what_is_wrong_is_said(label: str, path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verify(edit(made(label), path, value))
    assert not report.valid
    assert any(says in line for line in report.lines), report


MALFORMED: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("lost-factor", lambda c: c["parameters"].update(extra="1"), "nothing speaks of the parameter extra"),
    ("lost-factor", lambda c: c["parameters"].update(eta=["1/8"]), "the claim does not write eta_n"),
    ("lost-factor", lambda c: c["parameters"].update(eta={"k": ["1/8"] * 3}), "the claim does not write eta_k"),
    ("lost-factor", lambda c: c["parameters"].pop("eta"), "the parameter eta of the algorithm has no value"),
    ("lost-factor", lambda c: c["at"].update(n=0), "is not a number for each of ['k']"),
    ("lost-factor", lambda c: c["definitions"].update(sigma2="sigma2 + 1"), "not yet defined"),
    ("lost-factor", lambda c: c["definitions"].update(x0="1"), "means something else"),
    ("lost-factor", lambda c: c["assumptions"][0].update(constants=["mu"]), "is not the one that is given"),
    ("lost-factor", lambda c: c["assumptions"][0].update(text="smooth(f_n, L)"), "is not the one that is given"),
    ("lost-factor", lambda c: c.update(statement="norm2(x[k]) <= norm2(x[k]) <= 0"), "is not expected"),
    ("lost-factor", lambda c: c.update(statement="x[k] <= 0"), "is a vector"),
    ("lost-factor", lambda c: c.update(statement="E(norm2(__import__('os'))) <= 0"), "is not allowed"),
    ("lost-factor", lambda c: c.update(standing=["eta <= 1"]), "a standing condition is none of"),
    ("lost-factor", lambda c: c.update(origin="oracle"), "is none of"),
    ("lost-factor", lambda c: c.update(start=["0", "0"]), "as many coordinates as the problem"),
    ("lost-factor", lambda c: c["program"]["round"][0].update(do="exec"), "no operation of a program"),
    ("lost-factor", lambda c: c["program"]["round"][1].update(of=["_0", "_9"]), "is not there where it is used"),
    ("lost-factor", lambda c: c["program"]["round"][1].update(kind="server"), "gives a value of kind client"),
    ("lost-factor", lambda c: c["program"].update(result=["_1"]), "the state x of kind server becomes _1"),
    ("lost-factor", lambda c: c["problem"]["clients"][0][0].update(H=[["1", "0"]]), "is not symmetric"),
    ("unit-steps", lambda c: c["left"].update(lower="0.6"), "is not told to six digits"),
    ("unit-steps", lambda c: c["domains"].update(L={"lower": "0"}), "lacks"),
    ("wrong-way", lambda c: c["vectors"].update(b=["1", "2"], a_n=[["1"]]), "different sizes"),
    ("wrong-way", lambda c: c.update(vectors={}), "norm2 of a number"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "change", "says"), MALFORMED, ids=[m[2] for m in MALFORMED])
def test_what_makes_no_sense_is_refused(label: str, change: Callable[[dict[str, Any]], Any], says: str) -> None:
    certificate = made(label)
    change(certificate)
    with pytest.raises(verifier.FormatError) as refused:
        verify(certificate)
    assert says in str(refused.value)


def test_a_minimiser_among_several_has_to_be_chosen() -> None:
    flat = {"clients": [[{"H": [[1, 0], [0, 0]], "b": [1, 0]}]]}
    instance = {"parameters": {"eta": 1, "H": 1, "S": 1}, "problem": flat, "start": [1, 0], "rounds": 1}

    def one(xstar: Any, left: Any) -> dict[str, Any]:
        return play_certificate(
            known.NOT_UNIQUE, instance, {"k": 1}, left, 0, origin="pool", quick=False, constants={"L": 1}, xstar=xstar
        )

    assert "xstar is not the only minimiser" in "\n".join(verify(one(None, 4)).lines)
    assert "the given xstar is no minimiser" in "\n".join(verify(one([2, 0], 1)).lines)
    assert verify(one([1, 2], 4)).valid
    assert not verify(one([1, 0], 0)).valid


def test_rounded_sides_have_to_enclose() -> None:
    true = made("unit-steps")
    for name in ("left", "right"):
        for key, value in (("lower", true[name]["upper"]), ("upper", true[name]["lower"])):
            assert not verify(edit(true, (name, key), value)).valid


# --- corruptions ------------------------------------------------------------------------------------------------------

JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    10**30,
    0.5,
    "",
    "0",
    "1/0",
    "x0",
    "_0",
    "_7",
    "E",
    "k",
    [],
    {},
    ["1"],
    {"k": ["1"]},
]


def _other_text(text: str, rng: random.Random, words: list[str]) -> str:
    """A text with a character or a word changed, left out or put in."""
    place = rng.randrange(len(text) + 1)
    how = rng.randrange(4)
    if how == 0:
        return text[:place] + rng.choice("0123456789+-*/()[]<>=kxn_, ") + text[place:]
    if how == 1:
        return text[:place] + text[place + 1 :]
    if how == 2 and text:
        return text.replace(rng.choice(words), rng.choice(words), 1)
    return text[:place] + rng.choice(words) + text[place + 1 :]


def _containers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if isinstance(value, dict | list) and value else []
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += _containers(item, (*path, key))
    return found


def corrupted(certificate: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The certificate, changed in one place: a number, a name, an operation, a field, an order."""
    result = copy.deepcopy(certificate)
    leaves = [(path, value) for path, value in strings(result) if path[0] not in ("format", "kind", "claim", "origin")]
    words = ["x", "y", "eta", "L", "mu", "k", "n", "x0", "xstar", "f", "f_n", "f_ni", "norm2", "norm", "E", "fstar"]
    words += ["mean_n", "sum_n", "max_n", "1", "2", "k+1", "N", "d", "K"]
    words += ["<=", ">=", "<", "==", "+", "-", "*", "/", "**"]
    how = rng.randrange(6)
    path, value = rng.choice(leaves)
    if how == 0:
        numbers = [(p, v) for p, v in leaves if str(v).replace("/", "").replace("-", "").replace(".", "").isdigit()]
        path, value = rng.choice(numbers)
        changed: Any = rng.choice(other_numbers(str(value)))
        if isinstance(value, int) and "/" not in changed:
            changed = int(changed)
        return edit(result, path, changed)
    if how == 1:
        return edit(result, path, _other_text(str(value), rng, words))
    if how == 2:
        texts = [(p, v) for p, v in leaves if isinstance(v, str) and p[-1] in ("do", "kind", "predicate", "function")]
        if texts:
            path, value = rng.choice(texts)
            kinds = ["server", "client", "table", "number", "numbers", "sample", "f", "f_n", "f_ni", "smooth", "convex"]
            return edit(result, path, rng.choice([*sorted(OPERATIONS), *kinds]))
    if how == 3:
        return edit(result, path, rng.choice(JUNK))
    place = at_path(result, rng.choice(_containers(result)))
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    one, two = rng.choice(keys), rng.choice(keys)
    if how == 4:
        if rng.random() < 0.5:
            del place[one]
        elif isinstance(place, list):
            place.insert(two, copy.deepcopy(place[one]))
        else:
            place[rng.choice([*words, "h", "note"])] = copy.deepcopy(place[one])
    else:
        place[one], place[two] = place[two], place[one]
    return result


@pytest.mark.parametrize("part", share(range(6), 3))
def test_what_is_valid_after_a_corruption_is_right(part: int) -> None:
    rng = random.Random(20260 + part)
    seen: dict[str, int] = {"valid": 0, "invalid": 0, "malformed": 0}
    for _ in range(CORRUPTIONS // 6):
        label = rng.choice(FALSE)
        certificate = corrupted(made(label), rng)
        found = verdict(certificate)
        seen[found] += 1
        if found == "valid":
            assert plays.recomputed(certificate), certificate
    assert min(seen.values()) > 5, seen


def test_the_recomputation_tells_right_from_wrong() -> None:
    for label in EXACT:
        right = made(label)
        assert plays.recomputed(right)
        assert not plays.recomputed({**right, "left": "1/12345"})
        assert not plays.recomputed({**right, "statement": "0 <= 1"})


# --- hostile input ----------------------------------------------------------------------------------------------------


FOUR = {"clients": [[{"H": [["1"]], "b": [str(b)]} for b in range(4)]]}


def _loops(depth: int, count: str) -> list[Any]:
    """Loops in loops around one step."""
    body: list[Any] = [{"do": "linear", "to": "_90", "kind": "server", "of": [f"_{10 + depth}"], "numbers": ["1"]}]
    inner = "_90"
    for level in range(depth, 0, -1):
        name = f"_{10 + level}"
        carry = [{"name": name, "kind": "server", "first": f"_{9 + level}" if level > 1 else "_0", "next": inner}]
        index = "h" if level == 1 else f"h{level}"
        body = [{"do": "repeat", "index": index, "count": count, "carry": carry, "body": body}]
    return body


def program(certificate: Mapping[str, Any], steps: list[Any], result: str, **more: Any) -> dict[str, Any]:
    changed = {**certificate["program"], "round": steps, "result": [result]}
    return {**certificate, "program": changed, **more}


def step(op: str, to: int, kind: str, of: list[int], *numbers: str) -> dict[str, Any]:
    return {"do": op, "to": f"_{to}", "kind": kind, "of": [f"_{i}" for i in of], "numbers": list(numbers)}


def draws(op: str, number: str, many: int) -> list[Any]:
    """Many draws that are all read; the last value is _{2*many}."""
    steps: list[Any] = []
    for i in range(1, 2 * many, 2):
        if op == "noise":
            steps += [step("noise", i, "client", [], number), step("mean", 4 * many + i, "server", [i])]
            steps.append(step("linear", i + 1, "server", [i - 1, 4 * many + i], "1", "1"))
        else:
            steps += [step("coin", i, "number", [], number), step("linear", i + 1, "server", [i - 1], f"_{i} + eta")]
    return steps


def nested(text: str, inner: str, end: str, times: int) -> str:
    return text * times + inner + end * times


def hostile() -> dict[str, tuple[dict[str, Any], str]]:
    """Certificates that are made to exhaust time or memory, or to be executed; and what is said of them."""
    base = made("lost-factor")

    def said(statement: str, **more: Any) -> dict[str, Any]:
        return {**base, "statement": statement, **more}

    def played(steps: list[Any], result: int, **more: Any) -> dict[str, Any]:
        return program(base, steps, f"_{result}", **more)

    def on(clients: list[Any]) -> dict[str, Any]:
        return {**base, "problem": {"clients": clients}}

    still: dict[str, Any] = {"problem": {"clients": [[{"H": [["1"]], "b": ["1"]}]]}}
    doubling = {"a0": "norm2(x[k])", **{f"a{i}": f"dot(a{i - 1}*x0, x0) + a{i - 1}**2" for i in range(1, 60)}}
    chain = {"a0": "1", **{f"a{i}": f"a{i - 1}{'+1' * 100}" for i in range(1, 150)}}
    squares = [step("times", i + 1, "server", [i, i]) for i in range(1500)]
    giant, first, rest = "9" * 3000, base["program"]["round"][0], base["program"]["round"][1:]
    deep, long, many = "nested too deeply", "too large to be checked", "too many outcomes"
    far = {"rounds": 5000, "at": {"k": 5000}, "start": ["1"] * 40}
    wide = [[{"H": [[str(i * j + (i == j)) for i in range(40)] for j in range(40)], "b": ["1"] * 40}]]
    sums = nested("sum_k(sum_n(sum_i(", "norm2(x[k] - x0)", ")))", 12)
    return {
        "brackets": (said(nested("(", "1", ")", 1500) + " <= 0"), deep),
        "minus signs": (said("-" * 3000 + "1 <= 0"), deep),
        "powers": (said("2" + "**2" * 900 + " <= 0"), deep),
        "a tower": (said("2**2**2**2**2**2**2 <= k"), long),
        "a huge power": (said("(1 + eta)**1000000000 <= k"), "too large"),
        "a long sum": (said("1" + "+1" * 1900 + " <= k"), deep),
        "expectations": (said(nested("E(", "norm2(x[k])", ")", 1000) + " <= 0"), deep),
        "definitions that double": (said("E(a59) <= 0", definitions=doubling, start=["3"]), "too"),
        "a definition of itself": (said("a <= k", definitions={"a": "a + 1"}), "not yet defined"),
        "definitions in a ring": (said("a <= k", definitions={"a": "b", "b": "a"}), "not yet defined"),
        "a chain of definitions": (said("a149 <= k", definitions=chain), deep),
        "sums in sums": (said(f"E({sums}*{sums}) <= 0", at={}), "not as printed"),
        "many rounds": ({**base, "rounds": 10**9}, "rounds=1000000000 is not an integer in"),
        "many rounds with draws": ({**base, "rounds": 5000, "at": {"k": 5000}}, many),
        "many wide rounds": ({**on(wide), **far, "parameters": {"eta": "1/60000", "L": "30000", "mu": "1"}}, many),
        "turns without end": (played(_loops(1, "1000000000"), 90), "is not an integer in [1, 10000]"),
        "turns in turns": (played(_loops(6, "9000"), 90), "takes more than 100000 steps"),
        "loops too deep": (played(_loops(60, "1"), 90), "loops are nested too deeply"),
        "outcomes of coins": (played(draws("coin", "1/3", 60), 120), many),
        "outcomes of noises": (played(draws("noise", "2", 40), 80), many),
        "a batch without end": (played([{**first, "numbers": ["10000"]}, *rest], 4, **still), "not as printed"),
        "a large batch": (played([{**first, "numbers": ["100"]}, *rest], 4, problem=FOUR), "a draw has more than"),
        "numbers that square": (played(squares, 1500, start=["3"]), "grow too long"),
        "long numbers in a run": ({**base, **still, "parameters": {**base["parameters"], "eta": f"1/{giant}"},
                                  "rounds": 300, "at": {"k": 300}}, "grow too long"),
        "steps without end": (played(base["program"]["round"] * 5000, 4), "there already"),
        "many steps": (played([step("linear", i + 1, "server", [i], "1") for i in range(9000)], 9000), "is too long"),
        "an unknown operation": (played([step("system", 1, "server", [0], "1")], 1), "no operation of a program"),
        "an unknown function": (said("eval(x[k]) <= 0"), "eval is no function"),
        "an attribute": (said("norm2(x0.__class__) <= 0"), "is not allowed"),
        "a text": (said("norm2('x') <= 0"), "is not allowed"),
        "names in formulas": (played([step("linear", 1, "server", [0], "__class__")], 1), "is not allowed"),
        "a huge problem": (on([[{"H": [["1"]], "b": ["1"]}]] * 2000), "1024 clients"),
        "a huge matrix": (on([[{"H": [["1"] * 900] * 900, "b": ["1"] * 900}]]), "128 entries"),
        "long numbers": (on([[{"H": [[giant]], "b": [giant]}] * 500]), "too long numbers"),
        "huge integers": ({**base, "left": 10**4200}, "is not an integer or a fraction"),
        "an empty run": ({**base, "program": {"state": [], "parameters": [], "round": [], "result": []}}, "no state"),
        "no problem": ({**base, "problem": None, "start": []}, "there is no problem"),
    }  # fmt: skip


def test_hostile_input_is_refused(tmp_path: Path) -> None:
    """Of all files in one process: what is said of one is what it says of it alone."""
    paths = []
    for number, (certificate, _) in enumerate(hostile().values()):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(certificate), encoding="utf-8")
    command = [sys.executable, "-m", "validate.verifier", *map(str, paths)]
    # a limit far above what it takes: without limits of its own the verifier would not come back at all
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert result.returncode == 2, result.stdout
    assert "Traceback" not in result.stdout
    told = re.split(r"^.*/(\d+)\.json:$", result.stdout, flags=re.MULTILINE)[1:]
    assert [int(n) for n in told[::2]] == list(range(len(paths)))
    for name, (_, says), text in zip(hostile(), hostile().values(), told[1::2], strict=True):
        lines = [line for line in text.splitlines() if line[:4] in ("FAIL", "malf")]
        assert any(says in line for line in lines), (name, text)
