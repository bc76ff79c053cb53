"""Certificates of kind "finite": valid ones, every number changed, rubbish."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validate.tampering import (
    at_path,
    edit,
    json_values,
    open_claim,
    other_numbers,
    same_number,
    strings,
    verdict,
)
from theory.claim import Hypothesis
from validate import certificate, verifier

F = Fraction
CLAIM = open_claim("proposition-1/dependent-weights", (Hypothesis("radius", "", relation="1 < R < 3/2"),))


def larger_of_two() -> dict[str, Any]:
    """Two independent iterates in {0, (2, 0)}; the weight goes to the longer one, or to both: 3/4*4 > 1/2*4."""
    outcomes = [
        {"p": F(1, 4), "x": [[2 * i, 0], [2 * j, 0]], "weights": [1, 1] if i == j else [3 * i, 3 * j]}
        for i in (0, 1)
        for j in (0, 1)
    ]
    return certificate.finite_certificate(CLAIM, outcomes, 2, 3)


def leaning() -> dict[str, Any]:
    """One dimension, three clients, unequal weights and probabilities."""
    outcomes = [
        {"p": F(1, 3), "x": [[1], [0], [F(-1, 2)]], "weights": [F(1, 2), F(1, 8), 0]},
        {"p": F(2, 3), "x": [[F(1, 2)], [F(5, 4)], [F(5, 4)]], "weights": [F(1, 8), 2, 3]},
    ]
    second = (F(5, 8), F(81, 82))  # the averages: (1/2)/(5/8) and (1/16 + 25/4)/(41/8)
    left = F(1, 3) * (F(1, 2) / second[0]) ** 2 + F(2, 3) * ((F(1, 16) + F(25, 4)) / F(41, 8)) ** 2
    return certificate.finite_certificate(CLAIM, outcomes, F(9, 8), left)


FINITE = {"larger": larger_of_two(), "leaning": leaning()}


@pytest.mark.parametrize("name", FINITE)
def test_valid_certificates(name: str) -> None:
    report = verifier.verify(FINITE[name])
    assert report.valid, report.lines
    assert certificate.differences(FINITE[name], CLAIM) == ()


@pytest.mark.parametrize("name", FINITE)
def test_no_number_can_be_changed(name: str) -> None:
    """Unless it is a number on which neither side depends: then the certificate proves the same."""
    original = FINITE[name]
    for path, text in strings(original):
        if path[0] in ("R2", "outcomes", "left_value", "right_value"):
            for other in other_numbers(str(text)):
                mirrored = "x" in path and same_number(other, str(-F(text)))
                if not same_number(other, str(text)) and not mirrored and not immaterial(original, path):
                    outcome = verdict(edit(original, path, other))
                    assert outcome in ("invalid", "malformed"), (path, other)


def immaterial(original: dict[str, Any], path: tuple[Any, ...]) -> bool:
    """Weights where all the weighed iterates are equal, and iterates of weight zero."""
    if path[0] != "outcomes" or path[2] == "p":
        return False
    outcome = original["outcomes"][path[1]]
    weighed = [x for x, w in zip(outcome["x"], outcome["weights"], strict=True) if w != "0"]
    if path[2] == "weights":
        return all(x == weighed[0] for x in outcome["x"]) or len(weighed) == 1
    return outcome["weights"][path[3]] == "0"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("R2",), "19/10", "client 0: E||x||^2 = 2 <= R^2 = 19/10"),
        (("outcomes", 0, "p"), "1/2", "the probabilities are positive and sum to 1"),
        (("outcomes", 0, "p"), "0", "the probabilities are positive and sum to 1"),
        (("outcomes", 0, "weights"), ["0", "0"], "weights are non-negative and their sum is positive"),
        (("outcomes", 3, "weights"), ["2", "-1"], "weights are non-negative and their sum is positive"),
        (("outcomes", 1, "weights"), ["1", "0"], "left_value"),
        (("outcomes", 1, "x", 1, 1), "1", "client 1: E||x||^2"),
        (("left_value",), "2", "left_value"),
        (("right_value",), "1", "right_value"),
        (("hypotheses", 0, "relation"), "R < 7/5", "R < 7/5"),
        (("hypotheses", 0, "assumption"), "UnbiasedSampling", "unknown here"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(FINITE["larger"], path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_independent_weights_refute_nothing() -> None:
    outcomes = [
        {"p": F(1, 8), "x": [[i], [j]], "weights": weights}
        for i in (-1, 1)
        for j in (-1, 1)
        for weights in ([1, 0], [1, 1])
    ]
    report = verifier.verify(certificate.finite_certificate(CLAIM, outcomes, F(5, 4), F(3, 4)))
    assert [line for line in report.lines if line.startswith("FAIL")] == [
        "FAIL  the average's E||.||^2 = 3/4 <= R^2 = 5/4"
    ]


def test_no_field_can_be_left_out_or_added() -> None:
    for original in FINITE.values():
        for path in ((), ("outcomes", 0)):
            place = at_path(original, path)
            for field in place:
                without = {k: v for k, v in place.items() if k != field}
                assert verdict(edit(original, path, without) if path else without) == "malformed", field
            more = {**place, "more": "1"}
            assert verdict(edit(original, path, more) if path else more) == "malformed"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("outcomes",), []),
        (("outcomes", 0, "x"), []),
        (("outcomes", 0, "x"), [["1"], ["1"]]),
        (("outcomes", 0, "x", 0), "1"),
        (("outcomes", 0, "weights"), ["1"]),
        (("outcomes", 0, "weights"), "1"),
        (("outcomes", 0), {"p": "1", "x": [], "weights": []}),
        (("R2",), "-1"),
        (("outcomes",), [{"p": "1", "x": [[]], "weights": ["1"]}]),
        (("outcomes",), [{"p": "1/40", "x": [["9" * 4000]], "weights": ["1"]}] * 40),
    ],
)
def test_malformed_fields(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(FINITE["larger"], path, value)) == "malformed"


PATHS = sorted({path[:cut] for path, _ in strings(FINITE["leaning"]) for cut in range(1, len(path) + 1)}, key=repr)


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=200, deadline=None)
def test_rubbish_never_raises(path: tuple[Any, ...], value: Any) -> None:
    outcome = verdict(edit(FINITE["leaning"], path, value))
    if path[0] not in ("claim", "statement", "hypotheses") and not immaterial(FINITE["leaning"], (*path, 0, 0, 0)):
        old = at_path(FINITE["leaning"], path)
        assert outcome != "valid" or same_number(str(value), str(old))
