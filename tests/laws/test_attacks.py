"""Law: no verdict says more than the machine did, whoever writes the claim. Each of these got a wrong word once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.laws import units
from theory import Convex, Hypothesis, Smooth, claim
from theory.claim import Claim, FunctionAt, Given, Parameter, Quantity, Recursion, VectorSentence
from theory.domain import INDEX, NONNEGATIVE, POSITIVE, REAL, Domain
from validate import certificate, papers, proving
from validate.examine import examine
from validate.survey import Pool

SMOOTH = Hypothesis("smooth", "the gradient of f is L-Lipschitz", assumption=Smooth("L"))
CONVEX = Hypothesis("convex", "f is convex", assumption=Convex("client"))
K, A, T = Parameter("k", INDEX, "index"), Parameter("a", POSITIVE, "a"), Parameter("t", POSITIVE, "t")
L, R, Y = Parameter("L", POSITIVE, "L"), Parameter("R", Domain(None, 0), "start"), Parameter("y", NONNEGATIVE, "y")


def said(relation: str) -> Hypothesis:
    return Hypothesis(relation, relation, relation=relation)


def make(quantity: Quantity, right: str, *ps: Parameter, relation: Any = "<=", **rest: Any) -> Claim:
    rest = {"hypotheses": (), **rest}
    return Claim("a/b", "lemma", "", "", "", "", quantity, "", parameters=ps, relation=relation, right=right, **rest)


def sequence(start: str, then: str, name: str = "q") -> Quantity:
    return Quantity(name, name, name, recursion=Recursion("k", 0, start, then))


def number(formula: str) -> Quantity:
    return Quantity("q", "q", "q", formula=formula)


def vectors(left: str, names: tuple[str, ...], **rest: Any) -> dict[str, Any]:
    return {"sentence": VectorSentence(names, {"q": left}, **rest)}


def outcomes(one: Claim) -> list[str]:
    return [e.outcome for e in proving.evidence(one)]


# --- induction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "then"),
    [
        (make(sequence("0", "q - (1-a)**k"), "0", A, K), "q_2 = -1 + (a - 1) > 0 for a = 3"),
        (make(sequence("0", "q - (-2)**k"), "0", K), "0, -1, 1"),
        (make(sequence("0", "q + 3 - k"), "0", Parameter("k", Domain(3, None, integer=True), "late")), "q_3 = 6"),
        (make(sequence("0", "q + 3 - k"), "0", K, hypotheses=(said("k >= 3"),)), "q_3 = 6"),
        (make(sequence("R", "q**2"), "0", R, K), "q_1 = R^2"),
        (make(sequence("-1", "-1/q"), "1/2", K), "q_1 = 1"),
    ],
    ids=["negative base", "negative number", "late domain", "late hypothesis", "not monotone below 0", "pole"],
)
def test_an_induction_goes_through_every_index_and_every_value(one: Claim, then: str) -> None:
    assert "proved" not in outcomes(one), then


def test_what_is_true_is_still_proved_by_induction() -> None:
    unit = Parameter("a", Domain(0, 1, lower_open=True, upper_open=True), "a")
    known = make(sequence("s", "a*q + c"), "a**k*s + c/(1-a)", unit, K, *(replace(Y, name=n) for n in "sc"))
    assert outcomes(known) == ["proved"]
    assert outcomes(replace(known, quantity=sequence("s", "a*s + c", "s"))) == []  # s is the start and the sequence


# --- squares ---------------------------------------------------------------------------------------------------------

TURNED = "norm2(b) + (t-1)*(t-1)*norm2(a) - 2*(t-1)*dot(a,b)"  # at t = 1: norm2(b)


@pytest.mark.parametrize("at_one", [{"hypotheses": (said("t == 1"),)}, {}], ids=["hypothesis", "domain"])
def test_a_pivot_that_vanishes_where_the_parameters_range_is_none(at_one: dict[str, Any]) -> None:
    t = T if at_one else Parameter("t", Domain(1, 1), "t")
    one = make(Quantity("q", "q", "q"), "0", t, **at_one, **vectors(TURNED, ("a", "b"), multipliers={}))
    assert "proved" not in outcomes(one)
    square = "0 - norm2((t-1)*a - b)"  # true for every t
    assert "proved" in outcomes(replace(one, sentence=VectorSentence(("a", "b"), {"q": square}, multipliers={})))


# --- what an author reads into words ---------------------------------------------------------------------------------


def test_a_condition_is_not_put_into_a_hypothesis_that_is_read_by_machine() -> None:
    flat = Given("flat", (SMOOTH,), "norm2(g) <= 0")
    one = make(Quantity("q", "q", "q"), "0", L, hypotheses=(SMOOTH,), **vectors("norm2(g)", ("g",), given=(flat,)))
    assert outcomes(one) == ["undecided"]
    never = Given("never", (CONVEX,), "norm2(g) <= -1")
    one = make(Quantity("q", "q", "q"), "-1", hypotheses=(CONVEX,), **vectors("norm2(g)", ("g",), given=(never,)))
    assert "vacuous" not in outcomes(one)


def test_a_condition_of_words_is_printed_beside_proved_and_vacuous() -> None:
    words = Hypothesis("flat", "f is flat at x")
    flat = Given("flat", (words,), "norm2(g) <= 0")
    one = make(Quantity("q", "q", "q"), "0", hypotheses=(words,), **vectors("norm2(g)", ("g",), given=(flat,)))
    [found] = proving.evidence(one)
    assert found.outcome == "proved"
    assert "q = norm2(g)" in found.detail
    assert "flat as norm2(g) <= 0" in found.detail
    never = replace(flat, relation="norm2(g) <= -1")
    [found] = proving.evidence(replace(one, **vectors("norm2(g)", ("g",), given=(never,))))
    assert found.outcome == "vacuous"
    assert "flat as norm2(g) <= -1" in found.detail


@pytest.mark.parametrize("y", [("y", "h", "f"), ("y", "g", "e"), ("y", "2*g", "e")], ids=["value", "gradient", "twice"])
def test_two_points_of_a_function_share_nothing(y: tuple[str, str, str]) -> None:
    """That f(x) = f(y) would be a hypothesis, and the claim has none."""
    function = FunctionAt("f", {"x": ("x", "g", "f"), "y": y})
    sentence = vectors("dot(g, y - x)", ("x", "y", "g", "h"), values=("f", "e"), functions=(function,))
    assert outcomes(make(Quantity("q", "q", "q"), "0", hypotheses=(CONVEX,), **sentence)) == ["undecided"]


def test_a_strict_claim_does_not_hold_by_what_is_shown_of_the_other_relation() -> None:
    one = make(Quantity("q", "q", "q"), "2*s", replace(Y, name="s"), relation="<")
    names = {"q": "norm2(a+b)", "s": "norm2(a) + norm2(b)"}
    [found] = proving.evidence(replace(one, sentence=VectorSentence(("a", "b"), names)))
    assert found.outcome == "undecided"
    assert "<= in place of <" in found.detail


# --- what has no value -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "y"),
    [
        ("sqrt(-1-y)**2", "-1-y", Y),
        ("log(-1-y) - log(-1-y)", "0", Y),
        ("y/y", "1", replace(Y, domain=REAL)),
        ("exp(log(y))", "y", replace(Y, domain=REAL)),
    ],
)
def test_what_may_have_no_value_is_not_proved_for_all_values(left: str, right: str, y: Parameter) -> None:
    assert outcomes(make(number(left), right, y, relation="=")) == ["undecided"]


def test_what_has_a_value_is_proved() -> None:
    assert outcomes(make(number("y/(1+y)"), "1", Y)) == ["proved"]
    assert outcomes(make(number("y/y"), "1", replace(Y, domain=POSITIVE), relation="=")) == ["proved"]


@pytest.mark.parametrize("ends", [(0, float("inf")), (float("nan"), None), (1, 0)])
def test_a_domain_without_ends_or_values_is_refused(ends: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"lower|upper"):
        Domain(*ends)


# --- claims about algorithms -----------------------------------------------------------------------------------------


def test_an_instance_that_the_claim_does_not_speak_of_refutes_it_not(tmp_path: Path) -> None:
    """A certificate is held against the claim's own algorithm and its own words."""
    one = next(c for c in units.WRONG if c.label == "quarter")
    path = examine(one, quick=True, out=tmp_path).certificate
    assert path is not None
    made = certificate.read(path)
    assert certificate.differences(made, one) == ()
    others = (
        replace(one, of=units.local_sgd),
        replace(one, statement=one.statement.replace("R2/4", "R2/3")),
        replace(one, assuming=one.assuming[:-1]),
    )
    assert all(certificate.differences(made, other) for other in others)


# --- claims of the catalogue, replaced -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "change"),
    [
        ("perm/proposition-1", {"statement": "One plus one is two."}),
        ("perm/lemma-7", {"statement": "One plus one is two."}),
    ],
)
def test_what_is_filed_under_an_id_is_used_of_that_claim_only(label: str, change: Any, tmp_path: Path) -> None:
    from validate.checking import check_claim

    one = claim(label)
    change = {name: text.format(one.right) for name, text in change.items()}
    module = papers.module(one.paper)
    as_it_is = check_claim(one, module, Pool((), ()), (), tmp_path)
    assert any(e.origin == "given" and e.outcome in ("holds", "fails", "refuted") for e in as_it_is.evidence)
    result = check_claim(replace(one, **change), module, Pool((), ()), (), tmp_path)
    assert {e.outcome for e in result.evidence if e.kind != "hypotheses"} <= {"undecided"}
    assert result.verdict == "undecided"
    assert not result.broken


def test_a_hypothesis_that_has_no_value_somewhere_ends_no_survey(tmp_path: Path) -> None:
    from validate.survey import pool_of, survey

    one, module = claim("perm/lemma-6"), papers.module("perm")
    assert survey(one, module, pool_of(module, True, lambda text: None, one.paper)).seen
