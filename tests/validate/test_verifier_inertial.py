"""Certificates of the kind "inertial": valid ones, every number and every word changed, rubbish."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validate.inertial_certificates import BROKEN, CLAIMS, moments, problem, rich, two_clients
from tests.validate.tampering import edit, json_values, other_numbers, same_number, strings, verdict
from theory.assumptions import BoundedAverageStep, BoundedBelow
from theory.claim import Claim, Hypothesis
from validate import certificate, verifier
from validate.report.words import described
from validate.verifier import FormatError

F = Fraction


@pytest.mark.parametrize("name", BROKEN)
def test_valid_certificates(name: str) -> None:
    report = verifier.verify(BROKEN[name])
    assert report.valid, report.lines
    assert certificate.differences(BROKEN[name], CLAIMS[name.split(",")[0]]) == ()


def test_instances_in_words() -> None:
    assert described(BROKEN["lemma-7"]) == (
        "5 of 5 clients a round, f(x) = ½hx² − bx: h = 5, b = 0; 4 times h = 0, b = 0; η = 1/1000000, x₀ = 1, "
        "K = 2 local steps, 1 round; t = 0, k = 1, client = 1."
    )
    assert described(rich()[1]).startswith("2 of 3 clients a round, f(x) = ½hx² − bx: h = (1, 1), b = (1, 2); h = 2,")
    assert described(BROKEN["theorem-iv2-eq9/any-step"]).startswith("1 client, f(x)")
    assert described({**BROKEN["lemma-9"], "instance": {}}) == ""


def test_one_round_fewer_refutes_nothing() -> None:
    report = verifier.verify(two_clients("theorem-iv1-eq7", 108))
    failed = [line for line in report.lines if line.startswith("FAIL")]
    assert len(failed) == 1
    assert "is true" in failed[0]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("lemma-7", "lemma-7/corrected"),
        ("lemma-9", "lemma-9/corrected"),
        ("eq30", "eq30/corrected"),
        ("theorem-iv1-eq7", "theorem-iv1-eq7/corrected"),
        ("theorem-iv2-eq9/any-step", "theorem-iv2-eq9/corrected"),
    ],
)
def test_the_repairs_are_not_refuted(name: str, label: str) -> None:
    """The same instance against the repaired claim; what stops it is the relation, or a hypothesis of the repair."""
    original, claim = BROKEN[name], CLAIMS[label]
    spec = original["instance"]
    found = moments(spec)
    known = dict(original["parameters"])
    index, left = dict(original["left"]["index"]), F(original["left_value"])
    if label == "lemma-7/corrected":
        index.pop("n")
        left = sum(found.local_gradient[0, :, 1]) / 5
        known["drift"] = sum(found.displacement[0, :, 1]) / 5
    parameters = {p.name: known[p.name] for p in claim.parameters}
    report = verifier.verify(certificate.inertial_certificate(claim, spec, index, parameters, left))
    failed = [line for line in report.lines if line.startswith("FAIL")]
    assert failed
    assert all("hypothesis" in line or line.endswith(("true", "certainly false")) for line in failed), failed


def test_silent_hypotheses_are_listed_when_asked_for() -> None:
    """(33) is false on the instance: with it Theorem IV.1 is not refuted."""
    original = BROKEN["theorem-iv1-eq7"]
    claim = CLAIMS["theorem-iv1-eq7/with-lambda"]
    again = certificate.inertial_certificate(
        claim, original["instance"], {}, original["parameters"], F(1, 400), silent=True, note="a remark"
    )
    assert any(h["name"] == "C" and h["step"] == "eta_l" for h in again["hypotheses"])
    failed = [line for line in verifier.verify(again).lines if line.startswith("FAIL")]
    assert failed == ["FAIL  hypothesis lambda exists: lam < lam_max"]


KEPT = ("format", "kind", "claim", "statement", "hypotheses", "right", "definitions", "note", "relation")


def test_no_number_can_be_changed() -> None:
    claim, original = rich()
    report = verifier.verify({**original, "relation": ">="})
    assert not report.valid
    assert all("is true" in line for line in report.lines if line.startswith("FAIL")), report.lines
    refuting = {**original, "relation": "<="}
    assert verdict(refuting) == "valid", verifier.verify(refuting).lines
    assert certificate.differences(refuting, claim) == ()
    free = {"L", "sigma2", "C", "G", "B"}
    for path, text in strings(refuting):
        if path[0] in KEPT or path[-1] == "quantity" or path[-1] in free or path == ("instance", "algorithm"):
            continue
        for other in other_numbers(str(text))[:3]:
            if not same_number(other, str(text)):
                assert verdict(edit(refuting, path, other)) in ("invalid", "malformed"), (path, other)


@pytest.mark.parametrize("name", ["lemma-7", "theorem-iv2-eq9/any-step"])
def test_no_word_of_the_claim_can_be_changed(name: str) -> None:
    """The verifier refuses it, or the catalogue knows better."""
    original = BROKEN[name]
    for path, text in strings(original):
        if path[0] not in ("instance", "parameters", "left_value", "right_value") and path[:2] != ("left", "index"):
            for other in (f"{text}0", "L <= 1", "x"):
                changed = edit(original, path, other)
                assert verdict(changed) != "valid" or certificate.differences(changed, CLAIMS[name]), (path, other)


def test_a_bare_python_checks_them(tmp_path: Path) -> None:
    for name in ("lemma-9", "theorem-iv2-eq9"):
        certificate.write(BROKEN[name], tmp_path, name.replace("/", ".").replace(", ", "-"))
    files = sorted(path.name for path in tmp_path.glob("*.json"))
    found = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.count("\nVALID for the claim as printed above: compare it with your paper") == len(files) == 2


@pytest.mark.parametrize("name", ["lemma-7, index", "eq30", "lemma-9", "theorem-iv2-eq9/any-step"])
def test_no_printed_value_can_be_changed(name: str) -> None:
    original = BROKEN[name]
    for field in ("left_value", "right_value"):
        for other in other_numbers(original[field]):
            if not same_number(other, original[field]):
                assert verdict(edit(original, (field,), other)) in ("invalid", "malformed"), (field, other)


@pytest.mark.parametrize("name", ["lemma-7", "eq30", "lemma-9", "theorem-iv2-eq9/any-step", "eq25"])
def test_a_changed_number_never_yields_a_false_refutation(name: str) -> None:
    """Whatever number is changed: it is refused, or the certificate is true all the same, by the oracle's account."""
    claim, original = CLAIMS[name.split(",")[0]], BROKEN[name]
    for path, text in strings(original):
        if path[0] in (*KEPT, "left_value", "right_value") or path[-1] in ("quantity", "algorithm"):
            continue
        for other in other_numbers(str(text))[:3]:
            changed = edit(original, path, int(other) if isinstance(text, int) and other.isdigit() else other)
            if verdict(changed) == "valid":
                assert still_true(claim, changed), (path, other)


def still_true(claim: Claim, changed: dict[str, Any]) -> bool:
    """Left side and formula, by the oracle and by `theory`."""
    found, at = moments(changed["instance"]), changed["left"]["index"]
    t, k, n = (at.get(key, 0) for key in "tkn")
    S, K = changed["instance"]["S"], changed["instance"]["local_steps"]
    p = 1 - F(changed["parameters"].get("mu", 0)) * K * F(changed["instance"]["step"]) * F(
        changed["parameters"].get("lam", 0)
    )
    gradients = found.auxiliary_squared_gradient_norm[:-1]
    weights = [p**-s for s in range(len(gradients))]
    sides: dict[str, Any] = {
        "client_squared_gradient": lambda: found.local_gradient[t, n, k],
        "one_client_drift": lambda: found.displacement[t, n, k],
        "average_gradient_squared": lambda: found.squared_average_step[t] / F(changed["instance"]["step"]) ** 2,
        "output_squared_gradient": lambda: sum(w * g for w, g in zip(weights, gradients, strict=True)) / sum(weights),
        # one of N clients
        "selected_gradient_squared": lambda: sum(found.local_gradient[t, :, k]) / found.local_gradient.shape[1],
    }
    if claim.quantity.name == "selected_gradient_squared" and S != 1:
        return False
    left = sides[claim.quantity.name]()
    values = {name: x if isinstance(x, list) else F(x) for name, x in changed["parameters"].items()}
    # the bounds that are met exactly are those without roots
    right = F(claim.enclose(**values).lower)
    return bool(left == F(changed["left_value"]) and left >= right and not claim.violated(**values))


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        ("lemma-9", ("parameters", "L"), "0", "L = 0 >= 0"),
        ("lemma-9", ("parameters", "G"), "1/2", "at every x"),
        ("lemma-9", ("parameters", "N"), "10", "left_value"),
        ("lemma-9", ("parameters", "alpha"), ["0", "0"], "alpha = (0, 0) = (0)"),
        ("lemma-9", ("parameters", "delta_sq"), ["1"], "delta_sq = (1) = (0)"),
        ("lemma-9", ("parameters", "zeta"), "2", "parameter zeta cannot be checked"),
        ("lemma-9", ("left", "index"), {}, "needs the index t"),
        ("lemma-9", ("left", "index", "t"), 1, "the index t=1 is outside 0..0"),
        ("lemma-9", ("instance", "clients", 0, "b"), ["2"], "at every x"),
        ("lemma-9", ("instance", "step"), "1/50", "eta_l = 1/100 = 1/50"),
        ("lemma-9", ("right",), "sqrt(-1)", "the square root of a negative number"),
        ("lemma-9", ("right",), "exp(3)", "is true, or not certainly false"),
        ("lemma-9", ("hypotheses", 3, "relative"), "G", "is unknown here"),
        ("lemma-9", ("hypotheses", 3, "constant"), "B", "is unknown here"),
        ("lemma-9", ("hypotheses", 3, "step"), "eta_l", "is unknown here"),
        ("lemma-9", ("hypotheses", 3, "assumption"), None, "has neither a relation nor an assumption"),
        ("lemma-9", ("hypotheses", 0, "of"), "sample", "is unknown here"),
        ("lemma-9", ("hypotheses", 2, "at"), "domain", "is unknown here"),
        ("lemma-7", ("parameters", "B"), "2", "at every x"),
        ("lemma-7", ("parameters", "L"), "4", "L = 4 >= 5"),
        ("lemma-7", ("left", "index", "k"), 2, "the index k=2 is outside 0..1"),
        ("lemma-7", ("left", "index", "k"), 0, "the index k=0 is outside 1..2"),
        ("lemma-7", ("left", "index", "n"), 5, "the index n=5 is outside 0..4"),
        ("eq26", ("parameters", "k"), "2", "k = 2 = 1"),
        ("eq30", ("instance", "S"), 2, "S = 1 = 2"),
        ("theorem-iv2-eq9/any-step", ("parameters", "mu"), "2", "mu = 2 > 0"),
        ("theorem-iv2-eq9/any-step", ("parameters", "lam"), "1/2", "lam = 1/2 is in (0, 1/2)"),
        ("theorem-iv2-eq9/any-step", ("parameters", "C"), "3", "C = 3 >= 4"),
        ("theorem-iv2-eq9/any-step", ("parameters", "T"), "3", "T = 3 = 2"),
        ("theorem-iv2-eq9/any-step", ("parameters", "f0_gap"), "1", "f0_gap = 1 = 1/2"),
        ("theorem-iv2-eq9/any-step", ("instance", "clients", 0, "h"), ["-1"], "f is not bounded below"),
        ("theorem-iv2-eq9/any-step", ("instance", "step"), ["3", "2"], "not one number"),
    ],
)
def test_what_is_wrong_is_named(name: str, path: tuple[Any, ...], value: Any, says: str) -> None:
    changed = edit(BROKEN[name], path, value)
    if value == "exp(3)":
        changed["right_value"] = "20.0855369"
    report = verifier.verify(changed)
    if path == ("parameters", "N"):  # true, although the claim does not have it
        assert report.valid
        return
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_the_further_assumptions() -> None:
    """A bound on the average step, and a function without minimum."""
    more = (
        Hypothesis("C", "", assumption=BoundedAverageStep()),
        Hypothesis("below", "", assumption=BoundedBelow()),
        Hypothesis("words", "in words only"),
    )
    certified = {**rich(more)[1], "relation": "<="}
    failed = [line for line in verifier.verify(certified).lines if line.startswith("FAIL")]
    assert failed == ["FAIL  hypothesis words cannot be checked: it has neither a relation nor an assumption"]
    least = F(certified["parameters"]["C"])
    short = verifier.verify(edit(certified, ("parameters", "C"), str(least - F(1, 10**9))))
    assert any("FAIL  hypothesis C: E||dtilde_t||^2" in line for line in short.lines)
    falling = edit(certified, ("instance", "clients", 1, "h"), ["-9"])
    assert "FAIL  hypothesis below: f is bounded below" in verifier.verify(falling).lines


def test_noise_of_other_curvature_cannot_be_checked() -> None:
    changed = edit(BROKEN["lemma-9"], ("instance", "clients", 0), {"h": ["1", "-1"], "b": ["1", "1"]})
    report = verifier.verify(changed)
    assert any("the variance depends on x" in line for line in report.lines)
    assert any("FAIL  hypothesis bounded variance" in line for line in report.lines)


@pytest.mark.parametrize("name", ["lemma-9", "theorem-iv2-eq9/any-step"])
def test_no_field_can_be_left_out_or_added(name: str) -> None:
    original = BROKEN[name]
    for field in original:
        if field not in ("note", "definitions"):
            assert verdict({k: v for k, v in original.items() if k != field}) == "malformed", field
    for field in original["instance"]:
        left_out = {k: v for k, v in original["instance"].items() if k != field}
        assert verdict({**original, "instance": left_out}) in ("malformed", "invalid") or field == "S"
    assert verdict({**original, "more": "1"}) == "malformed"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("instance", "algorithm"), "fedcm"),
        (("instance", "clients"), []),
        (("instance", "clients"), [{"h": ["1"], "b": ["0"]}] * 101),
        (("instance", "clients", 0, "h"), "1"),
        (("instance", "clients", 0, "h"), []),
        (("instance", "clients", 0, "b"), ["1", "2"]),
        (("instance", "S"), 11),
        (("instance", "S"), 0),
        (("instance", "local_steps"), 65),
        (("instance", "K"), 0),
        (("instance", "K"), 1001),
        (("instance", "step"), "0"),
        (("instance", "step"), ["1", "1"]),
        (("instance", "step"), "1/" + "7" * 3990),
        (("instance", "alpha"), ["1"]),
        (("instance", "alpha"), ["-1/2"]),
        (("instance", "alpha"), ["0"] * 9),
        (("instance", "beta"), ["-1"]),
        (("instance", "beta"), "0"),
        (("instance", "p"), ["1"]),
        (("parameters", "L"), ["1"]),
        (("parameters", "alpha"), "0"),
        (("parameters", "alpha"), []),
        (("parameters", "alpha"), ["x"]),
        (("parameters", "G"), {}),
        (("left", "quantity"), "squared_distance"),
        (("left", "index"), {"m": 1}),
        (("left", "index", "t"), -1),
        (("relation",), "!="),
        (("right",), "2**"),
        (("right",), "delta_sq"),
        (("definitions",), {"L": "1"}),
    ],
)
def test_malformed_fields(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(FormatError):
        verifier.verify(edit(BROKEN["lemma-9"], path, value))


def test_what_is_too_large_is_refused() -> None:
    many = [{"h": ["1", "2"], "b": ["0", "0"]}] * 40
    for clients, S, K in ((many, 20, 1), (many, 1, 30), (many[:3], 3, 5)):
        instance = {**BROKEN["lemma-9"]["instance"], "clients": clients, "S": S, "local_steps": K}
        with pytest.raises(FormatError, match="outcomes"):
            verifier.verify({**BROKEN["lemma-9"], "instance": instance})
    long = {**BROKEN["lemma-9"]["instance"], "K": 1000, "step": "1/" + "7" * 60, "clients": [{"h": ["1"], "b": ["2"]}]}
    with pytest.raises(FormatError, match="too long"):
        verifier.verify({**BROKEN["lemma-9"], "instance": {**long, "S": 1}})


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_rubbish_is_refused_without_a_crash(data: st.DataObject) -> None:
    original = BROKEN[data.draw(st.sampled_from(["lemma-9", "theorem-iv2-eq9/any-step", "eq30"]))]
    paths = [path for path, _ in strings(original)]
    path = data.draw(st.sampled_from(paths))
    cut = data.draw(st.integers(1, len(path)))
    assert verdict(edit(original, path[:cut], data.draw(json_values))) in ("valid", "invalid", "malformed")


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"zeta": 1}, "zeta"),
        ({"zeta": [1]}, "zeta"),
        ({"alpha": [0.5]}, "not exact"),
        ({"alpha": "1/2"}, "one number a lag"),
        ({"alpha": 1}, "one number a lag"),
        ({"L": 0.5}, "not exact"),
    ],
)
def test_what_the_builder_refuses(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        certificate.inertial_certificate(CLAIMS["lemma-9"], problem([1]), {}, parameters, F(1), F(0))
    for claim, spec in ((CLAIMS["lemma-5"], problem([1])), (CLAIMS["lemma-9"], {"clients": []})):
        with pytest.raises(ValueError, match=r"no right side|specification"):
            certificate.inertial_certificate(claim, spec, {}, {}, F(1), F(0))
