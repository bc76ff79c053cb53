"""Hypotheses that can hold together have a checked witness, those that cannot a proof; neither is ever mistaken."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.theory.toys import in_numbers, toy
from theory.arithmetic import ball, balls
from theory.catalog import claim, claims, papers
from theory.claim import claim as written
from theory.domain import COUNT, NONNEGATIVE, OPEN_UNIT, POSITIVE, REAL, Domain
from theory.evaluate import bound, hypotheses
from theory.feasible import smt
from theory.feasible.boxes import search
from theory.feasible.compatible import compatible, function_conflicts
from theory.feasible.constraints import read_system
from theory.feasible.decide import Feasibility, feasible, feasible_relations
from theory.feasible.limits import Limits
from theory.formula import UndefinedError, parse, parse_relation

EQ14 = "fedavg-svrg/lemma-v1-eq14"
CONSTANTS = {"mu": POSITIVE, "L": POSITIVE, "delta": POSITIVE, "M": COUNT}
ALPHA = {"alpha": "1/(mu*delta*(1-2*L*delta)*M) + 2*L*delta/(1-2*L*delta)"}
SVRG = [("step size", "delta < 1/(2*L)"), ("condition", "mu <= L"), ("contraction", "alpha < 1")]
XY = {"x": REAL, "y": REAL}
LITTLE = Limits(boxes=40, effort=0.02)


def satisfied(found: Feasibility, relations: list[Any], domains: dict[str, Domain], definitions: Any = ()) -> bool:
    """Whether a witness passes the exact check, made anew."""
    posed = read_system(
        [(str(r), parse_relation(r if isinstance(r, str) else r[1])) for r in relations],
        domains,
        {name: parse(text) for name, text in dict(definitions).items()},
    )
    assert found.witness is not None
    point = {name: parse(v) if isinstance(v, str) else v for name, v in found.witness.items()}
    return posed.holds(point) is True  # type: ignore[arg-type]


# --- the catalogue ---------------------------------------------------------------------------------------------------


# Claims whose conditions exclude each other; tests/catalogue says which ones do in the papers' printed texts.
VACUOUS = (
    "open-fl/theorem-3/papers-settings",
    "perm/theorem-2-step",
    "perm/theorem-2-unrolled",
    "perm/theorem-2",
    "perm/theorem-3-explicit",
)
# Values without which the search for a witness takes too long.
KEPT = {"open-fl/theorem-3/on-the-ball": {"mu": "1", "L": "1", "r": "0", "d": "1", "beta1": "0"}}


@pytest.mark.parametrize("one", [c for c in claims() if c.id not in VACUOUS], ids=lambda c: c.id)
def test_every_claim_of_the_catalogue_can_hold(one: Any) -> None:
    assert one.paper in [paper.name for paper in papers()]
    one = in_numbers(one)
    found = feasible(one, (), KEPT.get(one.id))
    assert found.outcome == "feasible", found.detail
    assert found.proof is None
    assert found.witness is not None
    assert set(found.witness) >= {p.name for p in one.parameters}
    for h in one.hypotheses:
        assert h.relation is None or h.name in found.hypotheses
    if one.parameters:
        assert all(h["holds"] is not False for h in hypotheses(one, found.witness))
        if one.right is not None and all(p.shape == "scalar" for p in one.parameters):
            bound(one, found.witness)


def test_svrg_contracts_only_after_more_than_sixteen_condition_numbers() -> None:
    """alpha < 1 says M > 1/(mu delta (1 - 4 L delta)), and delta (1 - 4 L delta) <= 1/(16 L), attained at 1/(8L)."""
    for relation in ("M == 1", "M <= 8", "M <= 16", "M*mu <= 16*L"):
        found = feasible_relations([*SVRG, relation], CONSTANTS, ALPHA)
        assert found.outcome == "empty", found.detail
        assert found.proof is not None
        assert "z3" in found.proof.by
        assert {"contraction", relation} <= set(found.proof.core)
        assert found.proof.normalised == ("L",)
    found = feasible_relations([*SVRG, "M <= 17"], CONSTANTS, ALPHA)
    assert found.witness is not None
    assert found.witness["M"] == 17
    assert satisfied(found, [*SVRG, "M <= 17"], CONSTANTS, ALPHA)
    for inner, outcome in ((48, "empty"), (49, "feasible")):
        assert feasible_relations([*SVRG, "mu == L/3", f"M == {inner}"], CONSTANTS, ALPHA).outcome == outcome


def test_two_independent_proofs_away_from_the_threshold() -> None:
    found = feasible_relations([*SVRG, "M <= 15"], CONSTANTS, ALPHA)
    assert found.proof is not None
    assert found.proof.by == ("z3", "branch and bound")
    assert found.proof.boxes is not None
    assert found.method == "z3 and branch and bound"


def test_a_claim_is_vacuous_for_some_values_and_not_for_others() -> None:
    one = in_numbers(claim(EQ14))
    assert feasible(one, fixed={"M": 16}, limits=Limits(boxes=40)).outcome == "empty"
    assert "given M = 16" in feasible(one, fixed={"M": 16}, limits=Limits(boxes=40)).detail
    assert feasible(one, ["M <= 16"], limits=Limits(boxes=40)).outcome == "empty"
    assert feasible(one, fixed={"mu": "1/10", "L": "1", "delta": "1/(8*L)"}).outcome == "feasible"
    found = feasible(one, ["M < 200"], {"K": 50, "mu": "1/sqrt(2)", "L": 1})
    assert found.outcome == "feasible", found.detail
    assert found.witness is not None
    assert found.witness["mu"] == "(1 / sqrt(2))"
    assert all(h["holds"] is not False for h in hypotheses(one, found.witness))


# --- what counts as a condition --------------------------------------------------------------------------------------


def test_definitions_and_the_right_side_have_to_be_defined() -> None:
    for text in ("1/(x - x)", "sqrt(-1 - x**2)", "log(-x**2)", "(-1 - x**2)**(1/3)", "0**(-1 - x**2)"):
        assert feasible(toy(parameters={"x": REAL}, right=text)).outcome == "empty", text
        found = feasible(toy(parameters={"x": REAL}, definitions={"term": text}))
        assert found.outcome == "empty", text
        assert found.proof is not None
        assert found.proof.core == ("term is defined",)
    found = feasible(toy(("x*(x - 1) == 0",), {"x": REAL}, right="1/x"))
    assert found.witness == {"x": 1}


def test_domains_count_and_are_named() -> None:
    found = feasible_relations([("low", "x < 1"), ("other", "y > 0")], {"x": COUNT, "y": REAL})
    assert found.proof is not None
    assert set(found.proof.core) == {"low", "domain of x"}
    assert feasible_relations(["x <= 0"], {"x": POSITIVE}).outcome == "empty"
    assert feasible_relations(["x <= 0"], {"x": NONNEGATIVE}).witness == {"x": 0}
    below = {"x": Domain(0, 3, lower_open=True, upper_open=True, integer=True)}
    assert [feasible_relations([f"x == {i}"], below).outcome for i in range(4)] == [
        "empty",
        "feasible",
        "feasible",
        "empty",
    ]
    assert feasible_relations(["2*a == 2*b + 1"], {"a": COUNT, "b": COUNT}, limits=Limits(boxes=100)).outcome == "empty"


def test_the_core_names_what_excludes_each_other() -> None:
    named = [("one", "x > 2"), ("idle", "y > 7"), ("two", "x + y < 9"), ("three", "y >= 7"), ("also idle", "x < 100")]
    found = feasible_relations(named, XY)
    assert found.proof is not None
    assert set(found.proof.core) in ({"one", "two", "three"}, {"one", "two", "idle"})
    assert all(name in found.detail for name in found.proof.core)


def test_vectors_have_a_few_lengths_unless_they_are_fixed() -> None:
    one = toy(("sum(p) == 1", "amax(p) <= 1/2"), vectors={"p": POSITIVE})
    found = feasible(one)
    assert found.outcome == "feasible"
    assert found.witness == {"p": (Fraction(1, 2), Fraction(1, 2))}
    assert feasible(one, fixed={"p": "1/4,1/4,1/2"}).outcome == "feasible"
    fixed = feasible(one, fixed={"p": ["1/4", "1/4"]})
    assert fixed.outcome == "empty"
    longer = feasible(toy(("sum(p) == 1", "amax(p) <= 1/5"), vectors={"p": POSITIVE}))
    assert longer.outcome == "undecided"
    assert "longer ones were not tried" in longer.detail
    pair = toy(("sum(p*q) == 3", "p <= 1"), vectors={"p": POSITIVE, "q": POSITIVE})
    assert feasible(pair, fixed={"q": "1,2"}).witness == {"p": (1, 1), "q": (1, 2)}


def test_fixed_values_may_use_each_other() -> None:
    one = toy(("x < y", "sum(p) == 1"), {"x": POSITIVE, "y": POSITIVE, "z": REAL}, vectors={"p": POSITIVE})
    values = {"p": "1/4,3/4", "x": "sqrt(2)*amax(p)", "y": "x + sum(p)", "z": "2*mean(p)"}
    found = feasible(one, fixed=values)
    assert found.outcome == "feasible"
    assert found.witness is not None
    assert found.witness["p"] == (Fraction(1, 4), Fraction(3, 4))
    assert found.witness["z"] == 1
    assert all(h["holds"] is True for h in hypotheses(one, found.witness))
    assert feasible(one, fixed=values | {"y": "x - sum(p)/9"}).outcome == "empty"


def test_irrational_witnesses_are_formulas_and_are_checked() -> None:
    for relations in (["x**2 == 2"], ["x**3 == 5", "y == x"], ["x*y == 1", "x + y == 3"]):
        found = feasible_relations(relations, XY)
        assert found.outcome == "feasible", found.detail
        assert found.method == "z3"
        assert any(isinstance(value, str) for value in found.witness.values())  # type: ignore[union-attr]
        assert satisfied(found, relations, XY)


@pytest.mark.parametrize(
    ("relations", "outcome"),
    [
        (["exp(x) < 1 + x"], "empty"),
        (["log(x) > x - 1"], "empty"),
        (["log(x) >= x - 1", "x > 1"], "empty"),
        (["exp(x) == 1"], "feasible"),
        (["sqrt(x**2 + 1) < x"], "empty"),
        (["x**K > 1/2", "x < 9/10", "x > 0", "K >= 10"], "empty"),
        (["x**K > 1/2", "x < 9/10", "x > 0", "K >= 5"], "feasible"),
        (["x**K > 1", "x < 1", "x > 0"], "empty"),
        (["x**1000 > 2", "x < 1", "x > -1"], "empty"),
        (["log(x) == 1"], "undecided"),
    ],
)
def test_logarithms_exponentials_and_powers(relations: list[str], outcome: str) -> None:
    domains = XY | {"K": COUNT}
    found = feasible_relations(relations, domains, limits=Limits(boxes=2000))
    assert found.outcome == outcome, found.detail
    if outcome == "feasible":
        assert satisfied(found, relations, domains)
    if outcome == "undecided":
        assert "z3" in found.detail
        assert "branch and bound" in found.detail


def test_without_z3_branch_and_bound_stays_and_advice_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "available", lambda: False)
    found = feasible_relations([*SVRG, "M <= 15"], CONSTANTS, ALPHA)
    assert found.outcome == "empty"
    assert found.proof is not None
    assert found.proof.by == ("branch and bound",)
    assert set(found.proof.core) >= {"contraction", "M <= 15"}
    unknown = feasible_relations(["x**2 == 2"], XY, limits=Limits(boxes=100))
    assert unknown.outcome == "undecided"
    assert "fedproof[smt]" in unknown.detail
    with pytest.raises(ValueError, match="z3 is not installed"):
        smt.decide(read_system([("r", parse_relation("x < 1"))], XY, {}))


def test_results_are_plain_data() -> None:
    import json

    for found in (
        feasible(toy(("sum(p) == 1",), vectors={"p": POSITIVE})),
        feasible_relations(["x**2 == 2"], XY),
        feasible_relations([*SVRG, "M == 1"], CONSTANTS, ALPHA),
    ):
        data = json.loads(json.dumps(found.to_json()))
        assert data["outcome"] == found.outcome
        assert set(data) == {"outcome", "witness", "proof", "hypotheses", "method", "detail"}


# --- random systems --------------------------------------------------------------------------------------------------

SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=4)
COEFFICIENTS = st.lists(st.integers(-3, 3), min_size=6, max_size=6)
MONOMIALS = ("1", "x", "y", "x**2", "x*y", "y**2")


def polynomial(coefficients: list[int]) -> str:
    return " + ".join(f"({c})*{m}" for c, m in zip(coefficients, MONOMIALS, strict=True))


@given(x=SMALL, y=SMALL, rows=st.lists(st.tuples(COEFFICIENTS, st.sampled_from(["<=", "<", "==", ">="])), max_size=3))
@settings(max_examples=25, deadline=None)
def test_a_system_with_a_planted_solution_is_never_empty(
    x: Fraction, y: Fraction, rows: list[tuple[list[int], str]]
) -> None:
    relations = []
    for coefficients, operator in rows:
        value = sum(c * m for c, m in zip(coefficients, (1, x, y, x * x, x * y, y * y), strict=True))
        right = value + {"<": Fraction(1, 3), "<=": Fraction(0), "==": Fraction(0), ">=": Fraction(0)}[operator]
        relations.append(f"{polynomial(coefficients)} {operator} {right}")
    found = feasible_relations(relations, XY, limits=LITTLE)
    assert found.outcome != "empty"
    assert found.outcome == "undecided" or satisfied(found, relations, XY)
    first = read_system([(r, parse_relation(r)) for r in relations], XY, {})
    assert smt.decide(first, LITTLE).status != "unsat"
    assert search(first, Limits(boxes=50)).outcome != "empty"


CURVED = (
    "exp(x)", "exp(x - y)", "log(1 + y**2)", "log(x)", "(1 + x**2)**y", "abs(x)**K", "x**K", "x**(2/3)", "x**(-K)",
    "x**15", "y**(1/13)", "exp(-K)*x", "sqrt(x)", "max(x, exp(y))", "1/(1 - 2*x*y)", "x - 1/(2*y)",
)  # fmt: skip


@given(x=SMALL, y=SMALL, k=st.integers(1, 4), texts=st.lists(st.sampled_from(CURVED), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_what_z3_is_told_of_curved_functions_is_true(x: Fraction, y: Fraction, k: int, texts: list[str]) -> None:
    domains = XY | {"K": COUNT}
    relations = ["x - 1/10000 < " + str(x), f"x > {x - Fraction(1, 10000)}", f"y == {y}", f"K == {k}"]
    point = {"x": x, "y": y, "K": Fraction(k)}
    for text in texts:
        with balls(128) as reals:
            try:
                value = reals.evaluate(parse(text), point)
            except UndefinedError:
                assume(False)
        middle = Fraction(float(ball(value).mid()))  # type: ignore[arg-type]
        relations += [f"{text} > {middle - Fraction(1, 1000)}", f"{text} < {middle + Fraction(1, 1000)}"]
    posed = read_system([(r, parse_relation(r)) for r in relations], domains, {})
    assume(posed.holds(point) is True)
    answer = smt.decide(posed, LITTLE)
    assert answer.status != "unsat", (relations, answer.core)
    assert answer.witness is None or posed.holds(answer.witness) is True
    assert search(posed, Limits(boxes=30)).outcome != "empty"


@given(
    rows=st.lists(COEFFICIENTS, min_size=2, max_size=3),
    multipliers=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    gap=st.fractions(min_value=0, max_value=2, max_denominator=5),
)
@settings(max_examples=12, deadline=None)
def test_a_system_with_planted_multipliers_is_never_feasible(
    rows: list[list[int]], multipliers: list[int], gap: Fraction
) -> None:
    """p_i <= 0 for every i, and sum of y_i p_i > gap >= 0 with y_i > 0."""
    total = [sum(m * row[i] for m, row in zip(multipliers, rows, strict=False)) for i in range(6)]
    relations = [f"{polynomial(row)} <= 0" for row in rows] + [f"{polynomial(total)} > {gap}"]
    found = feasible_relations(relations, XY, limits=LITTLE)
    assert found.outcome != "feasible"
    assert found.witness is None
    if found.proof is not None:
        again = [r for r in relations if r in found.proof.core]
        assert feasible_relations(again, XY, limits=LITTLE).outcome != "feasible"


@given(rows=st.lists(COEFFICIENTS, min_size=2, max_size=3), side=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_z3_and_branch_and_bound_agree(rows: list[list[int]], side: int) -> None:
    domains = {"x": Domain(-side, side), "y": Domain(0, side, lower_open=True)}
    relations = [f"{polynomial(row)} < -1/2" for row in rows]
    posed = read_system([(r, parse_relation(r)) for r in relations], domains, {})
    one, other = smt.decide(posed, LITTLE), search(posed, Limits(boxes=1500))
    assume(other.outcome != "undecided")
    assume(one.status != "unknown")
    assert (one.status == "unsat") == (other.outcome == "empty")
    for witness in (one.witness, other.witness):
        assert witness is None or posed.holds(witness) is True


# --- assumptions on functions ----------------------------------------------------------------------------------------


def test_bounded_gradients_and_strong_convexity_exclude_each_other() -> None:
    one = written(
        "one", "1 <= 1", assuming=("strongly_convex(f_n, mu)", "smooth(f_n, L)", "bounded_gradients(f_ni, G)")
    )
    (conflict,) = function_conflicts(one)
    assert (conflict.first, conflict.second) == ("strongly_convex(f_n, mu)", "bounded_gradients(f_ni, G)")
    assert function_conflicts(replace(one, over="norm2(x) <= 1")) == ()
    for other in (*claims("fedavg-svrg"), *claims("textbook")):
        assert function_conflicts(other) == ()
    assert function_conflicts(replace(one, assuming=one.assuming[1:])) == ()
    assert compatible(one).outcome == "empty"
    assert compatible(one).witness is None
    assert compatible(replace(one, assuming=one.assuming[:2])).outcome == "feasible"


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extra", "fixed", "message"),
    [
        (["x <"], {}, "cannot be read"),
        (["x"], {}, "is not a relation"),
        (["z < 1"], {}, "unknown name 'z'"),
        ([3], {}, "extra=3 is no relation as text"),
        ([], {"z": 1}, "no parameter 'z'"),
        ([], {"x": 2}, r"x=2 is outside \(0, 1\)"),
        ([], {"x": float("nan")}, "x=nan is outside"),
        ([], {"K": "1/2"}, "K=1/2 is outside"),
        ([], {"x": "1/y"}, "no parameter 'y'"),
        ([], {"K": "sqrt(2)"}, "K="),
    ],
)
def test_bad_claims_and_values_are_refused(extra: list[Any], fixed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        feasible(toy(parameters={"x": OPEN_UNIT, "K": COUNT}), extra, fixed)


@pytest.mark.parametrize(
    ("relations", "options", "message"),
    [
        (["z < 1"], {}, "unknown name 'z'"),
        ([("a", "b", "c")], {}, "is neither text nor a pair"),
        ([("a", 1)], {}, "is neither text nor a pair"),
        (["x < 1"], {"definitions": {"y": "1"}}, "'y' is both"),
    ],
)
def test_bad_relations_are_refused(relations: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        feasible_relations(relations, XY, **options)
