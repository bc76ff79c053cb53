"""Certificates: built, written, re-checked by a bare Python, tampered with, and replaced by rubbish."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.validate.known_certificates import BASE, BUILDERS, CERTIFICATES, NOISY, ONE, SEVEN, some_claim
from tests.validate.tampering import edit, json_values, strings, verdict
from theory.claim import Hypothesis
from validate import certificate as certificates
from validate import verifier
from validate.scenario import Scenario

F = Fraction


@pytest.mark.parametrize("name", BUILDERS)
def test_true_certificates_are_valid(name: str) -> None:
    report = verifier.verify(CERTIFICATES[name])
    assert report.valid, report.lines
    assert not [line for line in report.lines if line.startswith("FAIL")]
    assert all(line.isascii() for line in report.lines)


def test_the_known_numbers() -> None:
    certificate = CERTIFICATES["known"]
    assert (certificate["left_value"], certificate["right_value"]) == ("1", "30037/32768")
    assert "ok    1 <= 30037/32768 is false" in verifier.verify(certificate).lines
    floor = Fraction(CERTIFICATES["fixed point compared"]["squared_gradient_norm"])
    assert abs(floor - F(622, 10000)) < F(1, 10000)


@pytest.mark.parametrize("j", [2, 3, 4, 5])
def test_the_order_certificate_bounds_real_runs(j: int) -> None:
    certificate = CERTIFICATES["order"]
    assert (certificate["base"], certificate["contraction"], certificate["noise"]) == (
        3,
        ["1", "-2", "3/2"],
        ["0", "0", "1/2"],
    )
    spec = {**NOISY, "step": str(F(1, j)), "K": j**3, "theta0": "0"}
    mean = Scenario.from_spec(spec, exact=True).moments().mean_squared_gradient_norm()
    assert j >= certificate["from"]
    assert mean * j**2 >= Fraction(certificate["constant"]) * j ** certificate["growth"]


@pytest.mark.parametrize(("claimed", "eps"), [("1", "1/3"), ("1", "1/2"), ("3/4", "1/2"), ("1/2", "1/4"), (1, "2/3")])
def test_orders_along_other_schedules(claimed: str, eps: str) -> None:
    claim = some_claim("remark-rate", None, hypotheses=BASE)
    certificate = certificates.order_certificate(claim, {**NOISY, "theta0": 0}, claimed, eps)
    assert verdict(certificate) == "valid"
    assert verdict({**certificate, "growth": certificate["growth"] + 1}) == "invalid"  # it does grow no faster


def test_an_order_that_holds_has_no_certificate() -> None:
    claim = some_claim("remark-rate", None, hypotheses=BASE)
    with pytest.raises(ValueError, match="the order holds"):
        certificates.order_certificate(claim, NOISY, "1/2", "1/2")
    always = [{**c, "p": "1"} for c in NOISY["clients"]]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no noise"):
        certificates.order_certificate(claim, {**NOISY, "clients": always}, "1", "1/2")
    wrong = replace(claim, hypotheses=(Hypothesis("impossible", "", relation="delta > 1"),))
    with pytest.raises(ValueError, match="impossible"):
        certificates.order_certificate(wrong, NOISY, "1", "1/2")


# --- tampering -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("known", ("relation",), ">"),
        ("known", ("right",), SEVEN + " + 1"),
        ("known", ("right",), SEVEN.replace("M", "missing")),
        ("known", ("left", "quantity"), "suboptimality"),
        ("known", ("left", "quantity"), "no_such_quantity"),
        ("known", ("left", "quantity"), "squared_gradient_norm"),  # needs an index
        ("known", ("parameters", "no_such_parameter"), "1"),
        ("known", ("parameters", "L"), "2"),  # allowed, but then the right side is another
        ("known", ("parameters", "L"), "1/2"),
        ("known", ("parameters", "mu"), "-1"),
        ("known", ("instance", "theta0"), "2"),
        ("known", ("instance", "algorithm"), "local-sgd"),
        ("known", ("hypotheses", 0, "assumption"), "NoSuchAssumption"),
        ("known", ("hypotheses", 0, "assumption"), None),  # nothing is left to check
        ("known", ("hypotheses", 0, "relation"), "delta < 1/2"),
        ("known", ("hypotheses", 0, "relation"), "nothing < 1/2"),
        ("known", ("hypotheses", 0, "relation"), "delta < 1/(L-1)"),
        ("rich", ("left", "index", "n"), 2),
        ("rich", ("left", "index"), {"k": 1, "n": 0, "s": 1}),
        ("rich", ("left", "index", "m"), 1),
        ("rich", ("parameters", "mu"), "1"),
        ("rich", ("parameters", "mu"), "-1"),
        ("rich", ("parameters", "L"), "7/4"),  # enough for the clients, not for the samples
        ("rich", ("parameters", "G2"), "1/10"),
        ("rich", ("parameters", "k"), "0"),
        ("rich", ("parameters", "share"), "1/5"),
        ("rich", ("instance", "clients", 0, "p"), ["1", "1/2"]),
        ("rich", ("instance", "clients", 0, "h"), ["2", "1"]),
        ("rich", ("instance", "empty"), "zero"),
        ("rich", ("instance", "empty"), "condition"),
        ("rich", ("instance", "aggregation"), "normalised"),
        ("rich", ("instance", "step"), ["1/5", "1/4"]),
        ("rich", ("definitions", "share"), "delta*L*other"),
        ("rich", ("definitions", "share"), "share"),
        ("fixed point", ("instance", "theta0"), "1/3"),
        ("fixed point", ("fixed_point",), "1/3"),
        ("fixed point", ("squared_gradient_norm",), "1/16"),
        ("fixed point", ("minimiser",), "1/2"),
        ("fixed point", ("instance", "clients", 0, "p"), "1/2"),
        ("fixed point", ("instance", "M"), 99),
        ("fixed point compared", ("parameters", "K"), "20000"),  # the right side is still above the floor
        ("fixed point compared", ("parameters", "D"), "1/3"),
        ("fixed point compared", ("right_value",), "1/17"),
        ("order", ("contraction",), ["1", "-2", "5/4"]),
        ("order", ("noise",), ["0", "0", "1"]),
        ("order", ("growth",), 2),
        ("order", ("constant",), "1"),
        ("order", ("claimed_exponent",), "1/3"),
        ("order", ("from",), 1),
        ("order", ("instance", "theta0"), "1"),
        ("order", ("instance", "M"), 2),
        ("order", ("instance", "aggregation"), "normalised"),
        ("order", ("instance", "clients", 0, "p"), "1"),
        ("order", ("parameters", "eps"), "1/2"),
        ("order", ("parameters", "G2"), "1"),
        ("order", ("parameters", "K"), "8"),
        ("order", ("parameters", "drift_sum"), "0"),
    ],
)
def test_a_false_field_is_found(name: str, path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(CERTIFICATES[name], path, value)) in ("invalid", "malformed")


# What a certificate says in words, or could say otherwise and still be true, is not among these.
PINNED = (
    "instance",
    "parameters",
    "left",
    "left_value",
    "right_value",
    "fixed_point",
    "squared_gradient_norm",
    "minimiser",
)
PLACES = [
    (name, path, str(value), at)
    for name, certificate in CERTIFICATES.items()
    if name != "fixed point compared"  # it takes a second
    for path, value in strings(certificate)
    if path[0] in PINNED or path[0] in ("contraction", "noise", "epsilon")
    for at, character in enumerate(str(value))
    if character.isdigit()
]


@given(st.sampled_from(PLACES), st.sampled_from("0123456789"))
@settings(max_examples=150, deadline=None)
def test_no_digit_can_be_changed(place: tuple[str, tuple[Any, ...], str, int], digit: str) -> None:
    name, path, text, at = place
    changed = text[:at] + digit + text[at + 1 :]
    original = CERTIFICATES[name]
    value = original
    for key in path:
        value = value[key]
    numeric = re.fullmatch(r"-?\d+(/\d+)?", text) and re.fullmatch(r"-?\d+(/0*[1-9]\d*)?", changed)
    if changed == text or (numeric and Fraction(changed) == Fraction(text)):
        return
    new = int(changed) if isinstance(value, int) else changed
    outcome = verdict(edit(original, path, new))
    if name == "known" and path[-2:] == ("a", 0) and changed == "2":
        return  # the mirror image of the instance, seen from theta0 = 1: just as true
    if outcome == "valid":  # only a bound that was made wider, or the K of "for every K": it is still true
        assert path[0] == "parameters", (path, changed)
        wider = Fraction(changed) > Fraction(text)
        free = {"G2": wider, "L": wider, "D": wider, "mu": not wider, "K": name == "fixed point"}
        assert free.get(path[1], False), (path, changed)


@pytest.mark.parametrize("name", BUILDERS)
def test_no_field_can_be_left_out_or_added(name: str) -> None:
    original = CERTIFICATES[name]
    for field in original:
        if field not in ("note", "definitions"):
            without = {k: v for k, v in original.items() if k != field}
            outcome = verdict(without)
            assert outcome == "malformed" or (name == "fixed point compared" and field == "right"), field
    assert verdict({**original, "proof": "trust me"}) == "malformed"
    for part in ("instance", "hypotheses"):
        item = original[part] if part == "instance" else original[part][0]
        path = (part,) if part == "instance" else (part, 0)
        assert verdict(edit(original, path, {**item, "more": 1})) == "malformed"
        for key in item:
            if key not in ("constant", "of"):
                outcome = verdict(edit(original, path, {k: v for k, v in item.items() if k != key}))
                assert outcome == "malformed" or (name.startswith("fixed") and key == "K"), key


@given(json_values)
@settings(max_examples=60, deadline=None)
@example({"format": verifier.FORMAT, "kind": "instance"})
@example({"format": verifier.FORMAT, "kind": ["instance"]})
def test_random_json_is_malformed(value: Any) -> None:
    assert verdict(value) == "malformed"


ALL_PATHS = {
    (name, path[:cut])
    for name, certificate in CERTIFICATES.items()
    if name != "fixed point compared"
    for path, _ in strings(certificate)
    for cut in range(1, len(path) + 1)
}


@given(st.sampled_from(sorted(ALL_PATHS, key=repr)), json_values)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rubbish_in_a_certificate_never_raises(place: tuple[str, tuple[Any, ...]], value: Any) -> None:
    name, path = place
    outcome = verdict(edit(CERTIFICATES[name], path, value))
    if path[0] in ("instance", "left_value", "right_value", "contraction", "noise") and path != ("instance", "K"):
        old = CERTIFICATES[name]
        for key in path:
            old = old[key]
        same = not isinstance(value, bool) and (value == old or str(value) == str(old))
        assert outcome != "valid" or same


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("instance", "K"), -1),
        (("instance", "K"), 0),
        (("instance", "K"), 10**9),
        (("instance", "K"), 10**5000),
        (("instance", "M"), 10**7),
        (("instance", "S"), True),
        (("instance", "S"), 1.5),
        (("instance", "clients"), []),
        (("instance", "clients"), {}),
        (("instance", "clients", 0), 3),
        (("instance", "clients", 0, "p"), "0"),
        (("instance", "clients", 0, "p"), "3/2"),
        (("instance", "clients", 0, "p"), ["1", "1"]),
        (("instance", "clients", 0, "h"), []),
        (("instance", "clients", 0, "a"), ["0", "1"]),
        (("instance", "step"), "0"),
        (("instance", "step"), "-1/2"),
        (("instance", "step"), 0.5),
        (("instance", "step"), "nan"),
        (("instance", "step"), "1e-3"),
        (("instance", "theta0"), "1/0"),
        (("instance", "theta0"), "9" * 4001),
        (("instance", "theta0"), None),
        (("instance", "algorithm"), "adam"),
        (("instance", "aggregation"), ["unbiased"]),
        (("instance", "empty"), {}),
        (("right",), "2**(10**6)"),
        (("right",), "(2**50000)**50000"),
        (("right",), "__import__('os').system('true')"),
        (("right",), 3),
        (("definitions",), [1]),
        (("definitions",), {"L": "1"}),
        (("parameters",), {"not a name": "1"}),
        (("parameters",), []),
        (("hypotheses",), {}),
        (("hypotheses", 0), "smooth"),
        (("hypotheses", 0, "relation"), "delta"),
        (("hypotheses", 0, "relation"), "delta != 1"),
        (("hypotheses", 0, "of"), "everything"),
        (("hypotheses", 0, "name"), 4),
        (("relation",), "~"),
        (("relation",), []),
        (("left",), "mean_squared_gradient_norm"),
        (("left", "index"), {"k": -1}),
        (("left", "index"), {"j": 1}),
        (("left_value",), "one"),
        (("claim",), 7),
        (("format",), "fedproof-certificate-3"),
        (("kind",), "proof"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_malformed_fields_are_named(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(CERTIFICATES["known"], path, value)) == "malformed"


def test_an_instance_whose_fractions_explode_is_refused() -> None:
    wild = edit(CERTIFICATES["known"], ("instance", "step"), "1/" + "7" * 300)
    with pytest.raises(verifier.FormatError, match="grow too long"):
        verifier.verify(edit(wild, ("instance", "S"), 2000))


def test_only_valid_certificates_are_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="left_value"):
        certificates.write({**CERTIFICATES["known"], "left_value": "2"}, tmp_path)
    for name in ("", "../x", "a/b", ".hidden", "a b"):
        with pytest.raises(ValueError, match="file name"):
            certificates.write(CERTIFICATES["known"], tmp_path, name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="not a certificate"):
        certificates.read(tmp_path / "list.json")


CLAIM = some_claim("theorem-v1-eq7", SEVEN, hypotheses=BASE)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: certificates.instance_certificate(CLAIM, ONE, {}, {"delta": 0.5}, 1, 1), "delta=0.5"),
        (lambda: certificates.instance_certificate(CLAIM, ONE, {}, {"other": 1}, 1, 1), "other"),
        (lambda: certificates.instance_certificate(CLAIM, ONE, {}, {}, 10**4000, 1), "4000 digits"),
        (lambda: certificates.instance_certificate(CLAIM, {}, {}, {}, 1, 1), "clients"),
        (lambda: certificates.instance_certificate(CLAIM, {**ONE, "step": "x"}, {}, {}, 1, 1), "step"),
        (lambda: certificates.instance_certificate(some_claim("x", None), ONE, {}, {}, 1, 1), "no right side"),
        (lambda: certificates.fixed_point_certificate(CLAIM, ONE, 1, 0, {}, compare=True), "parameter K"),
        (lambda: certificates.order_certificate(CLAIM, NOISY, "1", 0), "epsilon"),
        (lambda: certificates.as_text("1/0", "x"), "x='1/0'"),
        (lambda: certificates.as_text(True, "x"), "x=True"),
    ],
)
def test_bad_arguments_of_the_builders(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build()


def test_numbers_of_the_specification_are_made_exact() -> None:
    loose = {**ONE, "step": 0.5, "theta0": 1, "clients": [{"h": 1, "a": F(0)}]}
    assert certificates.instance_certificate(CLAIM, loose, {}, {}, 1, 1)["instance"] == ONE


def test_differences_from_the_printed_claim() -> None:
    certificate = CERTIFICATES["known"]
    assert certificates.differences(certificate, CLAIM) == ()
    assert certificates.differences(certificate, replace(CLAIM, right="1")) == ("right",)
    assert certificates.differences({**certificate, "hypotheses": []}, CLAIM) == ("hypotheses",)
    assert certificates.differences({**certificate, "relation": ">"}, CLAIM) == ("relation",)
    assert certificates.differences(edit(certificate, ("left", "quantity"), "suboptimality"), CLAIM) == ("left",)
