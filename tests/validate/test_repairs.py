"""From a false claim to the nearest that stands: planted slips with known repairs, and what the search may not do."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from math import comb, inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest

from tests.validate.command_line import call, complaint, printed
from theory import Paper, algorithm, catalog, claim
from theory.domain import REAL, Domain
from theory.sentence import parse_expression, text_of
from validate import repair
from validate.checking import check_one
from validate.examine import GivenUpError
from validate.instances.pool import drawn
from validate.instances.seen import measured
from validate.repairs import MEANING, search
from validate.repairs.candidates import COST, Candidate, alone, changed_to, conflicts, without_ones
from validate.repairs.conditions import conditions, only_at_equality, quantities
from validate.repairs.edits import edited
from validate.repairs.factors import FEWEST, least_factors, table_of
from validate.repairs.growth import RUNS, beyond, in_long_runs
from validate.repairs.known import known_of, on
from validate.repairs.monomials import Monomial, scaled, times
from validate.repairs.repaired import SEVERITY, Repaired
from validate.repairs.terms import terms_of
from validate.verdict import Evidence, Result, decide

VECTORS = ("x", "y")
CONSTANT = claim("constant", "dot(x, y) <= norm2(x)/4 + norm2(y)/2", vectors=VECTORS)
SIGN = claim("sign", "norm2(x - y) <= norm2(x) + 2*dot(x, y) + norm2(y)", vectors=VECTORS)
STRICT = claim("strict", "norm2(x + y) < 2*norm2(x) + 2*norm2(y)", vectors=VECTORS)
CONDITION = claim("condition", "a/(1 - a) <= 1", assuming=("a < 1",))
ORDER = claim("order", "sum_n(b_n) <= 2*max_n(b_n)")
CONVEX = claim("convex", "f(y) >= f(x) + dot(grad(f, x), y - x)", vectors=VECTORS, assuming=("smooth(f, L)",))
LOGARITHM = claim("logarithm", "max(a, a*log(q)/2) <= a", assuming=("log(q) >= 1",))
AT_REST = claim("at-rest", "f(y) <= f(x) + L/2*norm2(y - x)", vectors=VECTORS, assuming=("smooth(f, L)",))
TWO = claim("two", "norm2(x - y) <= norm2(x) + 2*dot(x, y) - norm2(y)", vectors=VECTORS)
TRUE = claim("true", "norm2(x + y) <= 2*norm2(x) + 2*norm2(y)", vectors=VECTORS)
HOPELESS = claim("hopeless", "a <= 0")
SECONDS = 20


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


LATE = claim(
    "late",
    "norm2(x[k+1] - xstar) <= (1 - eta*mu)**(2*k + 3)*norm2(x0 - xstar)",
    of=descent,
    assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
)


RANGE = claim(
    "range",
    "f(x[k+1]) <= f(x[k]) - eta/4*norm2(grad(f, x[k]))",
    of=descent,
    assuming=("smooth(f, L)",),
    where={"eta_max": "1/L"},
)
"""The largest step is defined, and nothing says that the step is no larger."""


@pytest.mark.parametrize(
    ("one", "severity", "statement", "assuming"),
    [
        (CONSTANT, "lost constant", "dot(x, y) <= norm2(x)/2 + norm2(y)/2", ()),
        (SIGN, "misprint", "norm2(x + y) <= norm2(x) + 2*dot(x, y) + norm2(y)", ()),
        (STRICT, "misprint", "norm2(x + y) <= 2*norm2(x) + 2*norm2(y)", ()),
        (CONDITION, "lost hypothesis", "a/(1 - a) <= 1", ("a <= 1/2",)),
        (ORDER, "false", "sum_n(b_n) <= max_n(b_n)*N", ()),
        (AT_REST, "lost hypothesis", "f(y) <= f(xstar) + L/2*norm2(y - xstar)", ("smooth(f, L)",)),
        (CONVEX, "lost hypothesis", CONVEX.statement, ("smooth(f, L)", "convex(f)")),
        (RANGE, "lost hypothesis", RANGE.statement, ("smooth(f, L)", "eta <= eta_max")),
    ],
    ids=lambda value: getattr(value, "label", None),
)
def test_a_planted_slip_is_repaired(one, severity, statement, assuming) -> None:
    found = repair(one, seconds=SECONDS)
    assert (statement, assuming) in [(r.claim.statement, r.claim.assuming) for r in found.repairs]
    assert found.severity == severity
    assert found.best is not None
    assert found.best.verdict == "proved"
    assert severity in MEANING


@pytest.mark.slow
def test_an_index_of_a_run_is_repaired() -> None:
    found = repair(LATE, seconds=60)
    assert found.severity == "misprint"
    assert found.best is not None
    assert "(1 - eta*mu)**(2*k + 2)" in found.best.claim.statement
    assert found.best.claim.of is descent, "what is claimed of an algorithm stays claimed of it"


@pytest.mark.usefixtures("without_search")
def test_what_stands_is_left_alone() -> None:
    found = repair(TRUE, seconds=SECONDS)
    assert (found.stands, found.best, found.severity) == (True, None, None)
    assert found.to_json()["stands"] is True


def test_without_a_repair_the_severity_is_not_known() -> None:
    found = repair(HOPELESS, seconds=SECONDS)
    assert (found.stands, found.best, found.severity) == (False, None, None)
    assert "not determined" in found.line


def test_two_slips_are_repaired_together() -> None:
    found = repair(TWO, seconds=60)
    assert found.best is not None
    assert (found.best.verdict, len(found.best.candidate.edits)) == ("proved", 2)
    assert found.best.distance <= 2.5


def test_what_came_farthest_is_edited_first() -> None:
    """What a check ended before what the known instances did, although more of these break it."""
    one = search._Search(SIGN, 60.0, lambda _: None)
    one.known, broken = known_of(one.claim, float("inf"), lambda _: None)
    assert broken is not None
    late, fell, early, _ = edited(Candidate(one.claim, ()))  # 5, 10 and 0 of 10 instances break them
    one._came_near(early, False)
    one._broken(2, late, "broken by a check")
    one._came_near(fell, False)
    assert [near.candidate for near in one._nearest()] == [late, early]


def test_the_time_ends_a_check_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that is not over when the time is leaves no word, and what was nearest is told."""

    def endless(one, *, given_up, **_):
        while not given_up():
            pass
        raise GivenUpError

    monkeypatch.setattr(import_module("validate.checking"), "check_one", endless)
    found = repair(CONSTANT, seconds=1)
    assert (found.best, found.cut) == (None, True)
    assert found.seconds < 8
    assert "whose check did not end in the time" in found.said


def test_what_a_longer_hunt_breaks_is_no_repair() -> None:
    """Four clients with the same number break three times the largest."""
    one = search._Search(alone(ORDER), SECONDS, lambda _: None)
    assert one._longer(Candidate(alone(replace(ORDER, statement="sum_n(b_n) <= 3*max_n(b_n)")), ())).broken
    assert one.known.against, "what broke it is remembered"
    assert "supported by a quick check, broken by" in one.nearest[1]


def test_a_longer_hunt_that_the_time_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LONGER", 3600)  # which the evaluations end, on a slow machine too
    monkeypatch.setitem(search.EVALUATIONS, False, 2000)
    one = search._Search(alone(ORDER), SECONDS, lambda _: None)
    true = Candidate(alone(replace(ORDER, statement="sum_n(b_n) <= 2*N*max_n(b_n)")), ())
    assert not one._longer(true).ended
    monkeypatch.setattr(search, "LONGER", 0.01)
    assert one._longer(true).ended
    result = Result("order", "supported", None, (Evidence("search", "holds", "not broken"),), quick=True)
    assert Repaired(true, result).said == "supported (quick search)"
    assert Repaired(true, result, 12).said == "supported (quick search), and 12 s of a longer one"


def test_a_check_that_is_given_up_has_no_verdict() -> None:
    with pytest.raises(GivenUpError, match="hopeless"):
        check_one(HOPELESS, quick=True, given_up=lambda: True)


def test_repairs_are_in_order_of_distance_and_stand_by_the_check_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = repair(CONSTANT, seconds=SECONDS)
    assert [one.distance for one in found.repairs] == sorted(one.distance for one in found.repairs)
    asked = []

    def undecided(one, **_):
        asked.append(one.statement)
        return decide(one.id, [])

    monkeypatch.setattr(import_module("validate.checking"), "check_one", undecided)
    assert repair(CONSTANT, seconds=3).best is None
    assert asked


@pytest.mark.slow
def test_the_search_sees_the_printed_claim_alone() -> None:
    """With a repair by hand beside it, or in a paper of its own: the same comes of it."""
    printed_one = catalog.claim("saga/lemma-3")
    copy = replace(printed_one, paper="", beside=(), proof=None)
    Paper("of-my-own", "One claim", "a reader", (copy,))
    here, there = (repair(one, seconds=SECONDS) for one in (printed_one, copy))
    assert [r.claim.statement for r in here.repairs] == [r.claim.statement for r in there.repairs]
    assert here.best is not None
    assert here.best.verdict == "proved"
    assert "+ gamma*grad(f, z)))" in " ".join(r.claim.statement for r in here.repairs), (
        "as the paper's own proof has it"
    )


def test_an_interrupt_leaves_the_best_so_far() -> None:
    def tell(line: str) -> None:
        raise KeyboardInterrupt

    found = repair(CONSTANT, seconds=SECONDS, tell=tell)
    assert found.interrupted
    assert "interrupted" in found.said


@pytest.mark.parametrize(
    ("target", "seconds", "complaint_"),
    [
        (CONSTANT, 0, "seconds=0"),
        (catalog.claim("fedmim/remark-iv3"), 5, "no sentence"),
        (catalog.claim("perm/theorem-3"), 5, "no formula says"),
    ],
)
def test_bad_input_is_refused(target, seconds, complaint_) -> None:
    with pytest.raises(ValueError, match=complaint_):
        repair(target, seconds=seconds)


# --- candidates ------------------------------------------------------------------------------------------------------


def test_no_edit_turns_the_relation_or_empties_a_claim() -> None:
    for one in (CONSTANT, SIGN, STRICT, ORDER, CONVEX, LATE):
        made = list(edited(Candidate(alone(one), ())))
        assert made
        for candidate in made:
            sentence = candidate.claim.sentence
            assert sentence.relation in {one.sentence.relation, one.sentence.relation.rstrip("=") + "="}
            assert sentence.left != sentence.right
            edit = candidate.edits[0]
            assert candidate.distance == COST[edit.kind] + edit.farther
            assert not edit.farther or edit.kind in ("index", "constant", "mean")
            assert candidate.claim.of is one.of


def test_every_kind_has_a_cost_and_a_severity() -> None:
    assert set(COST) == set(SEVERITY)
    assert set(SEVERITY.values()) == set(MEANING)


@pytest.mark.parametrize(
    ("text", "c", "expected"),
    [
        ("8*G/S", "3/2", "12*G/S"),
        ("1/(24*L)", "3/4", "1/(32*L)"),
        ("x/4", "2", "x/2"),
        ("x", "2/3", "2*x/3"),
        ("x*y", "1/2", "x*y/2"),
    ],
)
def test_constants_go_into_those_that_are_there(text: str, c: str, expected: str) -> None:
    assert times(parse_expression(text), Fraction(c)) == parse_expression(expected)


def test_factors_of_one_are_left_out() -> None:
    assert without_ones(parse_expression("1*x*1/1 + y**1")) == parse_expression("x + y")


def test_the_terms_of_a_right_side_are_those_of_its_definitions_too() -> None:
    one = claim("terms", "norm2(x) <= c*(a + noise) - rest", vectors=("x",), where={"noise": "b + d*a", "rest": "a*b"})
    found = [(term.where, str(term.node)) for term in terms_of(one)]
    assert ("noise", "Name(name='b')") in found or ("noise", "b") in [(w, t) for w, t in found]
    assert [where for where, _ in found].count("noise") == 2
    assert [where for where, _ in found].count("right") == 4


def test_a_condition_on_a_number_that_nothing_speaks_of_is_left_out() -> None:
    one = alone(claim("bound", "a <= G*c", assuming=("a <= G", "c <= 2")))
    assert changed_to(one, {"statement": "a <= c"}).assuming == ("c <= 2",)
    kept = alone(claim("bound", "a <= G*c", assuming=("a <= G", "G <= 1")))
    assert changed_to(kept, {"statement": "a <= c"}).assuming == ("a <= G", "G <= 1"), "these say that a <= 1"


@pytest.mark.parametrize(
    ("text", "powers", "expected"),
    [
        ("L**4*a", {"L": -2}, "L**2*a"),
        ("2*L*a", {"L": -2}, "2*a/L"),
        ("2*L*a", {"L": -1}, "2*a"),
        ("a", {"L": -1}, "a/L"),
        ("a*L", {"L": 1}, "a*L*L"),
    ],
)
def test_a_factor_that_is_there_is_divided_out(text, powers, expected) -> None:
    m = Monomial(tuple((name, Fraction(power)) for name, power in powers.items()))
    assert scaled(parse_expression(text), m, Fraction(1)) == parse_expression(expected)


def test_units_ask_for_one_factor_at_two_terms() -> None:
    """A step eta has lost its bar under two of three terms: x^2 over a step is not x^2."""
    one = claim(
        "terms",
        "f(x[k]) - fstar <= norm2(x0 - xstar) + 3*norm2(x[1] - xstar) + norm2(x[k] - xstar)/eta",
        of=descent,
        assuming=("smooth(f, L)",),
    )
    texts = [candidate.claim.statement for candidate in table_of(Candidate(alone(one), ())).in_units()]
    assert (
        one.statement.replace("x0 - xstar)", "x0 - xstar)/eta").replace("x[1] - xstar)", "x[1] - xstar)/eta") in texts
    )


def test_a_logarithm_that_a_claim_has_is_nearer_than_any_other_factor() -> None:
    known, broken = known_of(alone(LOGARITHM), float("inf"), lambda _: None)
    assert broken is not None
    table = table_of(Candidate(alone(LOGARITHM), ()))
    table.learn(known, inf)
    found = {one.claim.statement: one.distance for _, one in table.candidates(2.1) if one.edits[0].kind == "factor"}
    assert found["max(a, a*log(q)/2) <= a*log(q)"] == min(found.values()) < found["max(a, a*log(q)/2) <= a*q"]
    assert not [text for text in found if "K" in text], "it speaks of no rounds"


def test_with_a_factor_a_smaller_constant_says_more() -> None:
    """At a = 1 and b >= 2, b*a <= 2*a lacks b, and is tried without the 2 before it is tried with it."""
    one = alone(claim("factor", "b*a <= 2*a"))
    known, broken = known_of(one, inf, lambda _: None)
    assert broken is not None
    table = table_of(Candidate(one, ()))
    table.learn(known, inf)
    found = {other.claim.statement: (other.distance, room) for room, other in table.candidates(2.5)}
    assert found["b*a <= a*b"] < found["b*a <= 2*a*b"]


def test_few_instances_are_measured_term_by_term_where_it_takes_long() -> None:
    known, _ = known_of(alone(LOGARITHM), float("inf"), lambda _: None)
    table = table_of(Candidate(alone(LOGARITHM), ()))
    table.learn(known, 0.0)
    assert len(table.kept) == FEWEST < len(known.all)
    assert table.kept[0] is known.against[0], "what broke a candidate last"
    table.learn(known, inf)
    assert len(table.kept) > FEWEST


def test_what_broke_a_claim_without_a_number_breaks_the_same_with_it() -> None:
    gone = alone(claim("gone", "a <= 2*b"))
    kept = alone(claim("kept", "a <= 2*G**2*b/G**2", assuming=("b <= G",)))
    some = [one for one in (drawn(gone, seed) for seed in range(20)) if one is not None]
    breaks = [one for one in some if measured(gone, one).measured.broken]
    assert breaks
    assert all(on(kept, kept, one).measured.broken for one in breaks), "G is moved to where the claim speaks"


def test_no_number_of_things_is_bounded_by_a_chance() -> None:
    one = alone(claim("chance", "N*p <= 1", parameters={"p": Domain(0, 1)}))
    assert not [q for q in quantities(one) if {text_of(q.left), text_of(q.right)} == {"N", "p"}]
    other = alone(claim("number", "N*c <= 1"))
    assert [q for q in quantities(other) if {text_of(q.left), text_of(q.right)} == {"N", "c"}]


def test_several_constants_change_as_little_as_can_be() -> None:
    """Terms (1, 0) and (0, 1) in two rows, for left sides 3 and 5: factors 3 and 5, and 6 is the next simple one."""
    apart = np.eye(2)
    assert least_factors(np.array([3.0, 5.0]), apart.sum(axis=1), apart) == [3, 6]
    both = np.array([[1.0, 0.5], [0.0, 0.5]])  # the first row asks for c + d/2 >= 2, the second for d >= 2
    assert least_factors(np.array([2.0, 1.0]), both.sum(axis=1), both) == [1, 2]
    taken = np.array([[1.0, -0.75]])  # 20 - 0.75 d >= 19.75 has to do: a term that is taken away gets smaller
    assert least_factors(np.array([16.0 - 0.25]), taken.sum(axis=1), taken) == [16, Fraction(1, 3)]
    assert least_factors(np.array([1.0]), np.array([0.0]), np.array([[0.0]])) is None


def test_the_least_constant_is_that_of_a_sum_worked_out_by_hand() -> None:
    """The sum of comb(4, j) is 16; at a = 1, the only value, 16 a <= c a + 4 needs c = 12, and 8 is printed."""
    total = sum(comb(4, j) for j in range(5))
    one = alone(claim("sixteen", f"{total}*a <= 8*a + 4", assuming=("a == 1",)))
    known, broken = known_of(one, float("inf"), lambda _: None)
    assert broken is not None
    table = table_of(Candidate(one, ()))
    table.learn(known, inf)
    texts = [candidate.claim.statement for _, candidate in table.candidates(1.75)]
    assert f"{total}*a <= 12*a + 4" in texts
    assert f"{total}*a <= 8*a + 8" in texts


def test_a_constant_in_place_of_a_logarithm_is_seen_to_grow() -> None:
    """Of sum g_k/sqrt(k + 1) <= c sqrt(sum g_k^2) the least c is the root of 1 + 1/2 + ... + 1/K, for K terms."""
    sums = [sum(1 / k for k in range(1, K + 1)) for K in RUNS]
    assert beyond([sqrt(total) / 3 for total in sums])
    assert not beyond([sqrt(total) / 30 for total in sums]), "after ten more doublings it is less than 1 still"
    assert not beyond([sqrt(total / (1 + log(K))) for K, total in zip(RUNS, sums, strict=True)]), "it tends to 1"
    assert not beyond([1 - 1 / K for K in RUNS])
    assert not beyond([1 - 1 / sqrt(K) for K in RUNS])
    assert not beyond([])
    says = "sum_k(sqrt(g_k**2/(k + 1))) <= {}*sqrt(sum_k(g_k**2))"
    for factor, grows in (("3", True), ("sqrt(1 + log(K))", False)):
        one = claim("sum", says.format(factor), parameters={"g_k": REAL})
        assert in_long_runs(alone(one), 30.0) == (grows, None)
    two = claim("sum", says.format("5/3"), parameters={"g_k": REAL})
    broken = in_long_runs(alone(two), 30.0)[1]  # 1 + 1/2 + ... + 1/9 > (5/3)^2
    assert broken is not None
    assert broken.measured.broken


# --- the command -----------------------------------------------------------------------------------------------------


FILE = """from theory import Paper, claim

SLIP = claim("slip", "dot(x, y) <= norm2(x)/4 + norm2(y)/2", vectors=("x", "y"))
LOST = claim("lost", "a <= 0")
PAPER = Paper("mine", "Mine", "me", (SLIP, LOST))
"""


@pytest.fixture
def paper(folder: Path) -> str:
    (folder / "mine.py").write_text(FILE)
    return "mine.py"


def test_the_command_prints_what_can_be_pasted(paper: str) -> None:
    found = printed("repair", f"{paper}:slip", "--seconds", SECONDS)
    keys = ("id", "stands", "severity", "repairs", "tried", "seconds", "cut", "interrupted", "nearest")
    assert tuple(found) == keys
    best = found["repairs"][0]
    assert (found["severity"], best["verdict"]) == ("lost constant", "proved")
    again = eval(best["text"], {"claim": claim})
    assert (again.label, again.statement) == ("slip/repaired", best["statement"])
    assert again.vectors == VECTORS
    shown = call("repair", f"{paper}:slip", "--seconds", SECONDS)
    assert shown.exit_code == 0
    assert "mine/slip: lost constant: the same order holds" in shown.stdout


def test_the_command_says_when_nothing_stands(paper: str) -> None:
    shown = call("repair", f"{paper}:lost", "--seconds", 5)
    assert shown.exit_code == 1
    assert "severity: not determined" in shown.stdout
    assert "no sentence" in complaint(call("repair", "fedmim/remark-iv3"))


def test_a_check_says_the_severity_where_it_is_asked_to(paper: str) -> None:
    plain = printed("check", f"{paper}:slip", "--quick", status=1)
    assert plain[0]["severity"] is None
    asked = printed("check", f"{paper}:slip", "--quick", "--repair", SECONDS, status=1)
    assert (asked[0]["verdict"], asked[0]["severity"]) == ("refuted", "lost constant")
    assert "severity" in json.dumps(asked)


def test_no_repair_compares_a_thing_with_itself():
    moved = claim("moved", "norm2(after - before) <= 0", of=descent, where={"after": "x[k+1]", "before": "x[k]"})
    assert changed_to(moved, {"where": {"after": "x[k+1]", "before": "x[k + 1]"}}) is None
    assert changed_to(moved, {"where": {"after": "x[k+2]", "before": "x[k]"}}) is not None
    assert changed_to(moved, {"statement": "norm2(after - before) <= 1"}) is not None


def _edits(one) -> set[str]:
    return {candidate.words for candidate in edited(Candidate(alone(one), ()))}


def test_a_mean_over_steps_is_what_was_meant_where_each_is_spoken_of() -> None:
    assert "for the mean over the rounds, and not for each" in _edits(LATE)
    assert not [words for words in _edits(CONSTANT) if "mean over" in words]


def test_a_bound_need_not_vanish_with_a_number_that_may_be_0() -> None:
    one = claim("vanishing", "norm2(x) <= B**2*a + p*c + H*e", vectors=("x",), parameters={"p": Domain(0, 1)})
    assert {"(1 + B**2) for B**2, on the right", "without the factor B**2, on the right"} <= _edits(one)
    assert not [words for words in _edits(one) if "1 + p" in words or "1 + H" in words], "chances and counts"


def test_a_count_beside_another_may_be_that_one() -> None:
    one = claim("counts", "S*a <= m*a", assuming=("S == m + 1",))
    assert "S == m for S == m + 1" in _edits(one)


def test_that_a_count_is_1_is_read_off_what_breaks_a_claim() -> None:
    one = alone(claim("count", "H*a <= a"))
    known, broken = known_of(one, inf, lambda _: None)
    assert broken is not None
    found = {other.words: other.distance for other in conditions(Candidate(one, ()), known)}
    assert found["assuming H == 1"] == COST["condition"], "at none of so many by chance"
    known.against = known.against[:5]
    known.rest = [other for other in known.rest if other.values["H"] == 1] + known.against * 9
    assert {o.words: o.distance for o in conditions(Candidate(one, ()), known)}["assuming H == 1"] > COST["condition"]


@pytest.mark.parametrize(("statement", "at_equality"), [("a < 1", True), ("a*a < a", True), ("b <= a", False)])
def test_a_strict_assumption_is_tried_where_only_equality_breaks_a_claim(statement: str, at_equality: bool) -> None:
    one = alone(claim("edge", statement, assuming=("a <= 1",)))
    known, broken = known_of(one, inf, lambda _: None)
    assert broken is not None
    strict = next(c.claim for c in edited(Candidate(one, ())) if c.words == "a < 1 for a <= 1")
    assert only_at_equality(strict, known) is at_equality


def test_a_constant_is_not_made_larger_where_a_far_larger_one_is_broken_too() -> None:
    one = alone(claim("hopeless", "a <= 2*b + c", assuming=("c <= 1",)))
    known, _ = known_of(one, inf, lambda _: None)
    table = table_of(Candidate(one, ()))
    table.learn(known, inf)
    found = [one for _, one in table.candidates(2) if one.edits[0].kind == "constant"]
    assert found
    for one in found:
        small, far = (int(re.search(r"(\d+)\*b", text)[1]) for text in (one.claim.statement, one.extreme.statement))
        assert far == 1000 * small


def test_a_number_that_is_compared_with_a_number_has_no_unit() -> None:
    """Else lam would be thought to have one, and be cancelled."""
    text = "norm2(x) <= norm2(x)/lam"
    assert conflicts(claim("share", text, vectors=VECTORS[:1]))
    assert not conflicts(claim("share", text, vectors=VECTORS[:1], parameters={"lam": Domain(0, 1)}))


def test_units_that_no_edit_mends_are_not_asked() -> None:
    """x is a point and then a gradient, so that a weight gets a unit, and what it adds up to is told to have one."""

    @algorithm
    def gradient_for_point(w, x, *, alpha):
        return w.sum(alpha * w.gradient(x))

    one = claim(
        "units",
        "norm2(x[1]) <= max_n(norm2(grad(f_n, x0)))/2",
        of=gradient_for_point,
        assuming=("smooth(f_n, L)", "sum_n(alpha_n) == 1"),
    )
    search_ = search._Search(one, 6 * SECONDS, lambda _: None)  # it ends long before, but where machines are slow
    assert search_.conflicts
    search_.run()
    assert not search_.units
    assert search_.found


def test_a_rate_may_be_half_as_fast_or_twice() -> None:
    fast = replace(LATE, statement="norm2(x[k] - xstar) <= (1 - 2*eta*mu)**k*norm2(x0 - xstar)")
    assert {
        "(1 - eta*mu)**k for (1 - 2*eta*mu)**k, on the right",
        "(1 - 4*eta*mu)**k for (1 - 2*eta*mu)**k, on the right",
    } <= _edits(fast)


def test_no_parameter_is_lost_with_an_exponent() -> None:
    one = claim("rate", "1/K <= b*K**(-eps) + c*(1 - q)**K", parameters={"eps": Domain(0, 1)})
    assert "1 - q for (1 - q)**K, on the right" in _edits(one)
    assert not [words for words in _edits(one) if words.startswith("K for")]


def test_a_claim_about_one_point_is_not_made_one_about_none() -> None:
    lone = claim("lone", "f(x) - fstar <= norm2(grad(f, x))", vectors=("x",), assuming=("smooth(f, L)", "convex(f)"))
    assert not [words for words in _edits(lone) if "xstar for x" in words]
    assert "xstar for x, everywhere" in _edits(AT_REST)
