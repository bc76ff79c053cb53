"""Certificates of explicit vectors: what the verifier accepts, and everything it refuses."""

from __future__ import annotations

import copy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.laws import vector_lemmas
from tests.validate.tampering import at_path, edit, other_numbers, same_number, strings, verdict
from theory.claim import Claim
from validate import certificate as certificates
from validate import verifier
from validate.certificate.vectors import vector_statement
from validate.checking import check_one

LEMMAS = {claim.label: claim for claim in vector_lemmas.CLAIMS}


def broken(label: str) -> dict[str, Any]:
    """The certificate of a false lemma, from the prover's refutation at the first setting that has one."""
    from theory.inequality.prover import Refutation, prove

    claim = LEMMAS[label]
    assert claim.vectors is not None
    for values in claim.vectors.settings:
        space, stated, given = claim.vectors.build({name: Fraction(text) for name, text in values.items()})
        found = prove(stated, given, space)
        if isinstance(found, Refutation):
            return certificates.vectors_certificate(claim, found.to_json(), values)
    raise AssertionError(f"{label} is not refuted")


def by_hand(**changes: Any) -> dict[str, Any]:
    """<a, b> < |a|^2 + 1 under |b|^2 == 2 and |a|^2 - F <= 0, at a = b = (1), in units of sqrt(2), and F = 2."""
    made: dict[str, Any] = {
        "format": verifier.FORMAT,
        "kind": "vectors",
        "claim": "a/b",
        "statement": "The product is less.",
        "hypotheses": [{"name": "positive", "assumption": None, "relation": "0 < t"}],
        "left": {"quantity": "product", "meaning": "<a, b>"},
        "relation": "<",
        "right": "m + 1 - t",
        "definitions": {},
        "parameters": {"t": "1"},
        "names": {"m": "|a|^2"},
        "words": {},
        "condition": {
            "name": "",
            "products": [["a", "b", "1"], ["a", "a", "-1"]],
            "values": [],
            "constant": "0",
            "relation": "<",
        },
        "given": [
            {"name": "length", "products": [["b", "b", "1"]], "values": [], "constant": "-2", "relation": "=="},
            {"name": "value", "products": [["a", "a", "1"]], "values": [["F", "-1"]], "constant": 0, "relation": "<="},
        ],
        "vectors": {"a": ["1"], "b": ["1"]},
        "weights": ["2"],
        "values": {"F": "2"},
        "value": "0",
    }
    return {**made, **changes}


def test_square_roots_and_strict_relations() -> None:
    report = verifier.verify(by_hand())
    assert report.valid, report.lines
    assert "ok    0 < 0 is false" in report.lines
    weak = edit(by_hand(relation="<="), ("condition", "relation"), "<=")
    assert "FAIL  0 <= 0 is true" in verifier.verify(weak).lines
    strict = edit(by_hand(), ("given", 1, "relation"), "<")
    assert verdict(strict) == "invalid"
    assert verdict(edit(strict, ("values", "F"), "3")) == "valid"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("weights", 0), "-2", "every weight of a coordinate is positive"),
        (("weights", 0), "3", "given length"),
        (("values", "F"), "1", "given value"),
        (("vectors", "a"), ["1/2"], "value is 1/2"),
        (("value",), "1", "value is 0, not 1"),
        (("parameters", "t"), "0", "hypothesis positive: 0 < t"),
        (("hypotheses", 0, "relation"), "s < 1", "the name s has no value"),
        (("relation",), "<=", "a claim with <= says that the form is so"),
        (("relation",), "=", "a claim with = says that the form is so"),
        (("statement",), "1+1=2", "no claim"),
        (("hypotheses",), [], "no hypothesis is listed"),
        (("right",), "m + 0*t", "a term times 0"),
        (("right",), "m - t*(2 - 2)/3", "a term times 0"),
    ],
)
def test_what_does_not_hold_is_named(path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(by_hand(), path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_a_hypothesis_on_functions_needs_a_condition() -> None:
    smooth = {"name": "smooth", "assumption": "Smooth", "relation": None, "constant": "L", "of": "client"}
    words = {"name": "words", "assumption": None, "relation": None}
    for hypothesis in (smooth, words):
        assert verdict(by_hand(hypotheses=[hypothesis])) == "valid"
        assert verdict(by_hand(hypotheses=[hypothesis], given=[])) == "invalid"
    drawn = {"name": "drawn", "assumption": "UnbiasedSampling", "relation": None}
    assert verdict(by_hand(hypotheses=[drawn], given=[])) == "valid"
    assert verdict(by_hand(hypotheses=[], unconditional=True)) == "valid"
    assert verdict(by_hand(unconditional=True)) == "invalid"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("vectors", "a"), []),
        (("vectors", "a"), [0.5]),
        (("vectors",), []),
        (("vectors",), {"a": ["1"], "b": ["1"], "F": ["1"]}),
        (("vectors",), {"a": ["1"]}),
        (("vectors",), {"a": ["1"], "b": ["1"], "a - b": ["1"]}),
        (("values",), {"F": "x"}),
        (("values",), []),
        (("weights",), []),
        (("names",), {"m": 1}),
        (("words",), []),
        (("condition", "products", 0), ["a", "b"]),
        (("condition", "products", 0), ["a", ["b"], "1"]),
        (("condition", "products", 0), ["a", "c", "1"]),
        (("condition", "products"), []),
        (("condition", "relation"), ">="),
        (("condition", "relation"), ["<="]),
        (("relation",), "!="),
        (("given", 0, "values"), [["G", "1"]]),
        (("given",), {}),
        (("given",), [None]),
        (("origin",), "heaven"),
        (("quick",), 1),
        (("unconditional",), "yes"),
        (("more",), 1),
        (("right",), 1),
        (("left", "meaning"), 1),
        (("format",), "fedproof-certificate-0"),
    ],
)
def test_malformed_certificates_are_refused(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(by_hand(), path, value)) == "malformed"


def test_no_number_can_be_changed_unnoticed() -> None:
    """Where each number decides a condition or the value; a = 0 would be another counterexample."""
    made = by_hand()
    parts = (("vectors", "b"), ("weights", 0), ("value",))
    for path, text in [(p, t) for p, t in strings(made) if p[:2] in parts]:
        for other in other_numbers(str(text)):
            if not same_number(other, str(at_path(made, path))):
                assert verdict(edit(made, path, other)) != "valid", (path, other)


def test_the_claim_is_printed_beside_what_is_refuted() -> None:
    made = broken("young-wrong")
    said = str(verifier.verify({**made, "origin": "search", "quick": True}))
    first, last = said.splitlines()[0], said.splitlines()[-1]
    assert first == "the claim that this certificate is about; compare it with your paper:"
    assert last == "VALID for the claim as printed above: compare it with your paper"
    for text in (
        "statement   <a,b> <= 1/(2c) ||a||^2 + ||b||^2/(2c)",
        "right side  m",
        "name        m is 1/(2c) ||a||^2 + ||b||^2/(2c)",
        "parameter   c = 2",
        "hypotheses  NONE",
        "a quick check, the instance is from: search (as the file says)",
        "the claim's formula: left <= m, where left is <a,b>",
        "what is refuted:     -1/4*|a|^2 + <a, b> - 1/4*|b|^2 <= 0",
    ):
        assert text in said


@pytest.mark.parametrize("label", vector_lemmas.FALSE)
def test_false_lemmas_are_refuted_and_their_neighbours_are_not(label: str, tmp_path: Path) -> None:
    assert len(vector_lemmas.FALSE) >= 12
    found = check_one(LEMMAS[label], quick=True, out=tmp_path)
    assert (found.verdict, found.origin) == ("refuted", "search"), found.evidence
    assert found.certificate is not None
    made = certificates.read(found.certificate)
    assert (made["kind"], made["origin"], made["quick"]) == ("vectors", "search", True)
    assert certificates.differences(made, LEMMAS[label]) == ()
    program = [sys.executable, "-I", "-S", str(Path(found.certificate).parent / "verify.py"), found.certificate]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("VALID for the claim as printed above")
    true = check_one(LEMMAS[label.removesuffix("-wrong")], quick=True, out=tmp_path / "true")
    assert true.verdict in ("proved", "supported", "undecided")
    assert not true.broken
    assert not (tmp_path / "true").exists()


def test_what_is_no_break_is_not_refuted(tmp_path: Path) -> None:
    """A setting that the hypotheses or a domain exclude, and a refutation that was changed."""
    from dataclasses import replace

    false = LEMMAS["strongly-monotone-wrong"]
    assert false.vectors is not None
    bare = replace(false, vectors=replace(false.vectors, settings=({"mu": "2", "L": "2"},)), hypotheses=())
    refuted = check_one(bare, quick=True, out=tmp_path)
    assert refuted.verdict == "refuted"
    excluded = replace(false, hypotheses=(vector_lemmas.Hypothesis("small", "L < 2", relation="L < 2"),))
    found = check_one(excluded, quick=True, out=tmp_path / "excluded")
    assert (found.verdict, found.broken, found.certificate) == ("undecided", False, None)
    assert "exclude every setting" in found.evidence[0].detail
    assert not (tmp_path / "excluded" / "certificates").exists()
    data = refuted.evidence[0].data
    assert data is not None
    with pytest.raises(ValueError, match="not valid: hypothesis small"):
        certificates.write(certificates.vectors_certificate(excluded, data["refutation"], data["setting"]), tmp_path)
    made = broken("young-wrong")
    with pytest.raises(ValueError, match="outside the domain"):
        certificates.vectors_certificate(LEMMAS["young-wrong"], {}, {"c": "-2"})
    with pytest.raises(ValueError, match="not valid"):
        certificates.write({**made, "value": "7"}, tmp_path)


def test_differences_of_a_statement_about_vectors() -> None:
    made, claim = broken("descent-wrong"), LEMMAS["descent-wrong"]
    assert certificates.differences(made, claim) == ()
    changes: dict[str, tuple[tuple[Any, ...], Any]] = {
        "condition": (("condition", "products", 0, 2), "1/8"),
        "given": (("given",), made["given"][:1]),
        "values": (("values",), {**made["values"], "fz": "0"}),
        "names": (("names", "m"), "something"),
        "words": (("words", "smooth"), "something"),
        "left": (("left", "meaning"), "something"),
        "parameters": (("parameters",), {}),
        "right": (("right",), "m + 1"),
        "definitions": (("definitions",), {"e": "1"}),
        "relation": (("relation",), "<"),
    }
    for key, (path, value) in changes.items():
        assert certificates.differences(edit(made, path, value), claim) == (key,), key
    assert "parameters" in certificates.differences(edit(made, ("parameters", "L"), "-1"), claim)
    other = certificates.differences(edit(made, ("parameters", "L"), "2"), claim)
    assert {"condition", "given"} <= set(other)  # another setting is another statement
    without = {key: value for key, value in made.items() if key != "right"}
    assert certificates.differences(without, claim) == ("right",)


def test_a_claim_without_vectors_has_no_statement_about_them() -> None:
    from theory import claim

    printed: Claim = claim("open-fl/theorem-3")
    with pytest.raises(ValueError, match="no statement about vectors"):
        vector_statement(printed, {})
    assert "parameters" in certificates.differences(copy.deepcopy(broken("ball-wrong")), printed)
