"""Breaks with numbers that Python does not print: shown to ten digits, enclosed in a certificate, or undecided."""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.rounds import descent
from theory.claim import claim
from validate.certificate import play_certificate, read, verify
from validate.examine import examine
from validate.instances.seen import Hunt

LARGEST = 10**4300
"""Python prints no integer from here on."""


ONE = {"clients": [[{"h": "3/11", "b": 0}]]}
LONG = {"algorithm": "descent", "parameters": {"eta": "1/7"}, "problem": ONE, "start": 1, "rounds": 1200}
SMALL = claim(
    "small",
    "x_is_small <= 0",
    of=descent,
    assuming=("smooth(f, L)",),
    where={"x_is_small": "norm2(x[K])*10**42 - 2"},
    given=({**LONG, "constants": {"L": "3/11"}},),
)  # fmt: skip
"""Its left side is about 1.8, a fraction of some 4,500 digits."""


@pytest.fixture
def nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.examine.hunt", lambda *_, **__: Hunt())
    monkeypatch.setattr("validate.examine.worst_evidence", lambda *_, **__: ([], None, None))


def test_long_fractions_are_enclosed(nothing_found: None, tmp_path: Path) -> None:
    result = examine(SMALL, quick=True, out=tmp_path)
    left = Fraction(74, 77) ** 2400 * 10**42 - 2
    assert max(left.numerator, left.denominator) > LARGEST
    assert result.verdict == "refuted"
    certificate = read(str(result.certificate))
    assert Fraction(certificate["left"]["lower"]) <= left <= Fraction(certificate["left"]["upper"])
    (item,) = [e for e in result.evidence if e.outcome == "refuted"]
    assert item.data is not None
    assert item.data["left"] == f"{float(left):.9f}"  # ten digits
    wrong = {**certificate, "left": {"lower": "2", "upper": "2"}}
    assert not verify(wrong).valid


def test_a_break_too_large_for_a_certificate_is_undecided(tmp_path: Path) -> None:
    huge = claim("huge", "(1 + m)**(15000*m) <= 5")
    result = examine(huge, quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    (item,) = [e for e in result.evidence if e.outcome == "fails"]
    assert "left side 2.817960880E+4515 > right side 5" in item.detail
    assert "more than 4000 digits: take a smaller instance" in item.detail


def test_what_is_too_large_for_a_certificate_is_refused() -> None:
    made = claim("c", "m <= 1")
    with pytest.raises(ValueError, match="left has more than 4000 digits"):
        play_certificate(
            made, {"rounds": 1, "parameters": {"m": 1}}, {}, Fraction(LARGEST), 0, origin="pool", quick=True
        )
