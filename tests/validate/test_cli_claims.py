"""The contract of `fedproof claims`, `show` and `bound`."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.shares import share
from tests.validate.command_line import EQ7, EQ8, SETTINGS, assigned, call, complaint, printed
from theory import claim, claims
from validate import kept

pytestmark = pytest.mark.usefixtures("folder")

EQ12 = "fedavg-svrg/lemma-v1-eq12/corrected"


def test_claims_shows_the_verdicts_that_check_left(folder: Path) -> None:
    (folder / "fedproof-out").mkdir()
    left = folder / "fedproof-out" / "verdicts.json"
    entry = {"id": EQ7, "verdict": "refuted", "quick": False, "broken": True, "digest": kept.digest(claim(EQ7))}
    left.write_text(json.dumps([entry]), encoding="utf-8")
    verdicts = {row["id"]: (row["verdict"], row["quick"], row["broken"]) for row in printed("claims")}
    assert (verdicts[EQ7], verdicts[EQ8]) == (("refuted", False, True), (None, None, None))
    for change, shown in (
        ({}, "refuted"),
        ({"quick": True}, "refuted (quick)"),
        ({"quick": True, "verdict": "undecided"}, "undecided: broken (quick)"),
    ):
        left.write_text(json.dumps([{**entry, **change}]), encoding="utf-8")
        result = call("claims", "--paper", "fedavg-svrg")
        (line,) = (line for line in result.stdout.splitlines() if line.startswith(f"{EQ7} "))
        assert line.endswith(f"  {shown}")
        assert result.stderr == ""
    for other in ({**entry, "digest": "0" * 64}, {"id": EQ7, "verdict": "refuted"}):
        left.write_text(json.dumps([other]), encoding="utf-8")
        assert {row["verdict"] for row in printed("claims")} == {None}
        assert f"verdicts on other versions of 1 claim, such as {EQ7}" in call("claims").stderr
    assert {row["verdict"] for row in printed("claims", "--out", "elsewhere")} == {None}
    left.write_text("{}}", encoding="utf-8")
    assert "verdicts.json" in complaint(call("claims"))


@pytest.mark.parametrize("claim_id", share((claim.id for claim in claims()), 4))
def test_show_prints_every_claim(claim_id: str) -> None:
    shown = printed("show", claim_id)
    assert shown["id"] == claim_id
    assert {"statement", "hypotheses", "parameters", "source", "latex"} <= set(shown)
    assert " at 0x" not in json.dumps(shown)  # the address of a function would be another one each time
    text = call("show", claim_id)
    assert text.exit_code == 0
    assert text.stdout.startswith(f"{claim_id}: ")
    for parameter in shown["parameters"]:
        word = "among" if parameter["domain"].startswith("the integers") else "in"
        assert f"\n  {parameter['name']} {word} {parameter['domain']}" in text.stdout
    formulas = call("show", claim_id, "--latex")
    assert formulas.stdout.splitlines()[0] == shown["latex"].splitlines()[0]


def test_a_rigorous_bound_encloses_the_exact_value() -> None:
    settings = [s for s in SETTINGS if not s.startswith("delta")] + ["delta=1/sqrt(K*2)"]
    found = printed("bound", EQ8, *assigned(*settings), "--rigorous")
    # with delta^2 = 1/200: (value - 4*3/200)^2 = (14/1000 sqrt(200) + 260/sqrt(200))^2, which is rational
    lower, upper = (Fraction(found[end]) - Fraction(12, 200) for end in ("lower", "upper"))
    square = Fraction(14, 1000) ** 2 * 200 + 2 * Fraction(14, 1000) * 260 + Fraction(260**2, 200)
    assert lower**2 <= square <= upper**2
    assert upper - lower < Fraction(1, 10**15)


def test_what_where_defines_by_numbers_is_a_term() -> None:
    """4 L (m + 1/(mu delta (1 - 2 L delta)) + 2 L delta m/(1 - 2 L delta)) D = 4 (2 + 8 + 2) 3."""
    settings = assigned("L=1", "mu=1", "delta=1/4", "m=2", "D=3")
    found = printed("bound", EQ12, *settings)
    assert (found["value"], found["terms"]) == (144.0, {"distance_term": 8.0, "variance_term": 2.0, "S": 1.0})
    assert "distance_term = 8\n" in call("bound", EQ12, *settings, "--rigorous").stdout
