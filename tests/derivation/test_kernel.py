"""Right derivations are accepted; moved, cut and altered ones are not."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tests.derivation.both import accepted, check
from tests.derivation.written import IDS, PROOFS, derivation
from tests.language import vectors
from tests.rounds import descent as scheduled
from tests.rounds import sgd as drawn
from theory import claim
from theory.claim import Claim
from theory.derivation import NotProvedError, assumed, axiom, cases, combined, domain, induction, root, single, step
from theory.domain import REAL

LONG = (
    "noise-ball/one-step", "noise-ball/noise-ball", "proxskip/lyapunov", "scaffold/stays", "textbook/minibatch-sgd",
    "textbook/sgd-strongly-convex",
)  # fmt: skip
"""Whose altered derivations take seconds each: in slow tests, as they are accepted in every run."""
CASES = [pytest.param(c, w, id=i) for (c, w), i in zip(PROOFS, IDS, strict=True)]
ALTERED = [
    pytest.param(c, w, id=i, marks=[pytest.mark.slow] if i in LONG else [])
    for (c, w), i in zip(PROOFS, IDS, strict=True)
]


@pytest.mark.parametrize(("c", "written"), CASES)
def test_right_derivations_are_accepted(c: Claim, written: Any) -> None:
    found = check(c, derivation(c, written))
    assert found.claim == c.id
    assert set(found.hypotheses) | set(found.unused) == {*c.assuming, *c.standing}
    assert found.citations == ()


def sides(c: Claim) -> tuple[str, str, str]:
    left, relation, right = c.statement.partition(f" {c.sentence.relation} ")
    return left, relation.strip(), right


@pytest.mark.parametrize(("c", "written"), ALTERED)
def test_a_moved_sentence_is_not(c: Claim, written: Any) -> None:
    left, relation, right = sides(c)
    sign = "+" if relation == ">=" else "-"
    moved = [
        f"{left} {relation} {right} {sign} 1/1000000000",
        f"{left} {relation} {right} {sign} 1/1000000000*norm2(x0)",
        f"{left} {relation} ({right})*{1000 if relation == '>=' else '1/1000'} {sign} 1",
        f"{left} {relation} -({right}) {sign} 1",
        f"{left} {'<' if relation in ('<=', '==') else '>'} {right}",
    ]
    for text in moved:
        other = replace(c, statement=text)
        lines = deepcopy(derivation(c, written))
        for line in all_lines(lines):  # where the derivation says the claim itself, it says the other
            if line.get("sentence") and line["sentence"].replace(" ", "") == c.statement.replace(" ", ""):
                line["sentence"] = text
        assert not accepted(other, lines), text


@pytest.mark.parametrize(("c", "written"), ALTERED)
def test_without_a_hypothesis_that_is_used_it_is_not(c: Claim, written: Any) -> None:
    lines = derivation(c, written)
    found = check(c, lines)
    for text in found.hypotheses:
        kept = tuple(t for t in c.assuming if t != text)
        try:
            less = replace(c, assuming=kept, standing=tuple(t for t in c.standing if t != text))
        except ValueError:  # it says nothing without
            continue
        assert not accepted(less, lines), text
    for text in found.unused:
        kept = tuple(t for t in c.assuming if t != text)
        try:
            less = replace(c, assuming=kept, standing=tuple(t for t in c.standing if t != text))
        except ValueError:
            continue
        assert accepted(less, lines), text


def all_lines(lines: Any) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield line
        for key in ("base", "step", "first", "second"):
            yield from all_lines(line.get(key, ()))


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(("({}) + 1/1000000",), id="finest"),
        pytest.param(("-({})", "2*({})", "0"), id="coarser", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(("c", "written"), ALTERED)
def test_with_another_multiplier_it_is_not(c: Claim, written: Any, others: tuple[str, ...]) -> None:
    original = derivation(c, written)
    for number, line in enumerate(all_lines(original)):
        for key in ("parts", "squares"):
            for place, part in enumerate(line.get(key, ())):
                times = part.get("times", "1")
                for other in (text.format(times) for text in others):
                    lines = deepcopy(original)
                    list(all_lines(lines))[number][key][place]["times"] = other
                    if trivial(c, line, part) or (key == "squares" and part["of"] == "1"):
                        continue
                    assert not accepted(c, lines), (line["name"], part, other)


def trivial(c: Claim, line: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether a part says that 0 is 0, or that a number is at least 0 where there is room."""
    return str(part.get("line")) in ("x",)


@pytest.mark.parametrize(("c", "written"), ALTERED)
def test_an_altered_sentence_of_a_line_is_not(c: Claim, written: Any) -> None:
    original = derivation(c, written)
    last = len(list(all_lines(original))) - 1
    for number, line in enumerate(all_lines(original)):
        if "sentence" not in line or number == last or line["by"] == "citation":
            continue
        for sign in ("-", "+"):
            lines = deepcopy(original)
            one = list(all_lines(lines))[number]
            # a right side moved one way says more; moved the other way less, which is another line all the same
            one["sentence"] = f"{line['sentence']} {sign} 1/1000000000"
            assert not accepted(c, lines), one["sentence"]


# --- soundness, one rule after the other -----------------------------------------------------------------------------


def says(c: Claim, *lines: Any) -> bool:
    from theory.derivation import lines as expanded

    try:
        check(c, expanded(c, lines))
    except (NotProvedError, ValueError):
        return False
    return True


ABOUT = claim("c", "norm2(a) >= 0", vectors=("a", "b", "a_n"))


def about(text: str, **more: Any) -> Claim:
    return claim("c", text, vectors=("a", "b", "a_n"), **more)


@pytest.mark.parametrize(
    "text",
    [
        "dot(mean_n(a_n), mean_n(a_n)) == mean_n(dot(a_n, a_n))",  # an index caught
        "mean_n(norm2(a_n - mean_n(a_n))) == 0",
        "mean_n(mean_n(norm2(a_n)) - norm2(a_n))**2 == mean_n((mean_n(norm2(a_n)) - norm2(a_n))**2)",
        "norm2(a)/norm2(a) == 1 + norm2(b)/norm2(b) - 1 + (norm2(a) - norm2(b))",
        "max_n(norm2(a_n)) == mean_n(norm2(a_n))",
        "sqrt(norm2(a)) == norm2(a)",
        "c**k*c**k == c**k",
        "sum_k(k) == K",
        "abs(dot(a, b)) == dot(a, b)",
    ],
)
def test_what_is_not_the_same(text: str) -> None:
    assert not says(about(text), combined("all"))


def test_what_is_the_same() -> None:
    for text in (
        "0**k*0 == 0",
        "c**(k + 1) == c*c**k",
        "c**(2*k) == (c**k)**2",
        "sum_k(1) == K",
        "sqrt(norm2(a))**2 == norm2(a)",
        "norm(2*a) == 2*norm(a)",
        "abs(-3*c) == 3*abs(c)",
        "mean_n(norm2(mean_n(a_n) - a_n)) == mean_n(norm2(a_n)) - norm2(mean_n(a_n))",
        "sum_n(norm2(a_n)) == N*mean_n(norm2(a_n))",
        "(c**2 - 1)/(c + 1) == c - 1",
    ):
        assert says(about(text), combined("all")), text


def test_multipliers_are_judged() -> None:
    c = about("c*dot(a, b) <= c*norm2(a)/2 + c*norm2(b)/2", parameters={})
    assert says(c, combined("all", None, (), {"a - b": "c/2"}))
    from theory.domain import REAL

    assert not says(replace(c, parameters={"c": REAL}), combined("all", None, (), {"a - b": "c/2"}))


def test_a_division_by_what_may_be_0() -> None:
    from theory.domain import NONNEGATIVE

    c = about("norm2(a) >= 0", parameters={"c": NONNEGATIVE}, assuming=("c <= 1",))
    assert not says(c, combined("one", "c/c == 1"), combined("all", None, (), {"a": "1"}))
    assert says(replace(c, parameters={}), combined("one", "c/c == 1"), combined("all", None, (), {"a": "1"}))


def test_hypotheses_of_an_induction_hold_for_one_k() -> None:
    wrong = claim("c", "norm2(x[k]) <= norm2(x0)", of=drawn)
    base = [combined("start")]
    for used in (
        [combined("next", None, [{"line": "IH", "put": {"k": "k + 1"}}])],
        [combined("next", None, [{"line": "IH", "over": ["sum_k"]}])],
        [{"name": "next", "by": "at", "line": "IH", "put": {"k": "k+1"}}],
    ):
        assert not says(wrong, induction("all", None, base, used))
    inside = induction("again", "norm2(x[k]) <= norm2(x0)", base, [combined("n", None, {"IH": "1"})])
    assert not says(wrong, induction("all", None, base, [inside, combined("next", None, {"again": "1"})]))


def test_cases_hold_for_one_client() -> None:
    c = about("mean_n(norm2(a_n)) <= 1")
    first = [combined("all n", None, {"mean_n: norm2(a_n) <= 1": "1"})]
    assert not says(c, cases("all", None, "norm2(a_n) <= 1", first, first))
    ok = about("min(c, 1) <= c**2 + 1")
    low, high = axiom("l", "min(c, 1) <= c", "min", "c", "1"), axiom("h", "min(c, 1) <= 1", "min", "c", "1")
    square = {"c": "1"}
    assert says(
        ok,
        cases(
            "all",
            None,
            "c <= 1",
            [low, high, combined("x", None, {"h": "1"}, square)],
            [high, combined("y", None, {"h": "1"}, square)],
        ),
    )


def test_of_two_cases_the_second_is_strict() -> None:
    c = about("norm2(a) >= 0*c")
    one = combined("one", "(c - 1)/(c - 1) == 1")
    end = combined("end", None, (), {"a": "1"})
    assert says(c, cases("all", None, "c <= 1", [end], [one, end]))
    assert not says(c, cases("all", None, "c <= 1", [one, end], [end]))
    more = [combined("more", "c**2 > c", {"1 < c": "c"}), end]
    assert says(c, cases("all", None, "c <= 1", [end], more))
    assert not says(c, cases("all", None, "c <= 1", more, [end]))
    weak = [combined("more", "c**2 > c", {"1 <= c": "c"}), end]
    assert not says(c, cases("all", None, "c <= 1", [end], weak))


def test_roots_of_equal_squares() -> None:
    squares = combined("squares", "c**2 == c**2")
    assert says(about("sqrt(c**2) == c"), squares, root("all", "squares"))
    assert not says(about("sqrt(c**2) == c", parameters={"c": REAL}), squares, root("all", "squares"))
    assert not says(about("-sqrt(c**2) == c"), squares, root("all", "squares"))
    less = combined("squares", "c**2 <= c**2")
    assert not says(about("sqrt(c**2) == c"), less, root("all", "squares"))
    other = combined("squares", "q**2*c**2/q**2 == c**2")
    assert says(about("sqrt(c**2/q**2) == c/q"), other, root("all", "squares"))
    assert not says(about("sqrt(c**2/q**2) == q/c"), other, root("all", "squares"))


def test_what_is_assumed_of_rounds_ends_at_K() -> None:
    """The step sizes of a schedule are what they are assumed to be in the run's rounds, and not beyond."""
    assumed_ = ("eta_k <= 1/L", "smooth(f, L)")
    one = claim("c", "eta_k*norm2(x[k]) <= norm2(x[k])/L", of=scheduled, assuming=assumed_)
    assert says(one, combined("all", None, {"eta_k <= 1/L": "norm2(x[k])"}))
    next_one = claim("c", "norm2(x[k]) - norm2(x[k]) <= 0*eta_k", of=scheduled, assuming=assumed_)
    assert says(next_one, combined("all"))
    # a sentence about x[k] has k = K too
    late = claim("c", "norm2(x[k]) - norm2(x[k]) <= norm2(x[k])/L", of=scheduled, assuming=assumed_)
    assert not says(
        late,
        combined("e", "0*eta_k <= 1/L", {"eta_k <= 1/L": "1"}, [{"of": "1", "times": "eta_k"}]),
        combined("all", None, {"e": "norm2(x[k])"}),
    )


def test_there_need_be_no_minimiser() -> None:
    c = claim("c", "norm2(grad(f, x)) >= 0", vectors=("x",), assuming=("smooth(f, L)", "convex(f)"))
    line = assumed("m", None, [], "minimiser")
    assert not says(c, line, combined("all", None, {"m": "0"}, {"grad(f, x)": "1"}))
    assert not says(c, assumed("m", None, [], "infimum", v="x"), combined("all", None, (), {"grad(f, x)": "1"}))
    strong = replace(c, assuming=("smooth(f, L)", "strongly_convex(f, mu)"))
    assert says(strong, line, combined("all", None, {"m": "0"}, {"grad(f, x)": "1"}))
    found = check(strong, [line, combined("all", None, {"m": "0"}, {"grad(f, x)": "1"})])
    assert found.hypotheses == ("strongly_convex(f, mu)",)  # which gives the minimiser


def test_names_are_those_of_the_claim() -> None:
    c = claim("c", "mean_n(p_n*norm2(a_n)) >= 0", vectors=("a_n",))
    assert says(c, combined("all", None, (), {"mean_n: a_n": "p_n"}))
    assert not says(c, combined("all", None, (), {"mean_n: a_n": "p"}))
    assert not says(c, combined("one", "q*0 == 0"), combined("all", None, (), {"mean_n: a_n": "p_n"}))


def test_assumptions_about_clients_are_not_those_about_f() -> None:
    c = claim(
        "c",
        "f_n(y) <= f_n(x) + dot(grad(f_n, x), y - x) + L/2*norm2(y - x)",
        vectors=("x", "y"),
        assuming=("smooth(f, L)",),
    )
    line = assumed("s", c.statement, ["smooth(f, L)"], "above", on="f_n", x="x", y="y")
    assert not says(c, line, combined("all", None, {"s": "1"}))
    finer = replace(c, assuming=("smooth(f_ni, L)",))
    assert says(finer, {**line, "of": ["smooth(f_ni, L)"]}, combined("all", None, {"s": "1"}))


def test_one_client_only_where_it_is_assumed() -> None:
    c = claim("c", "norm2(mean_n(a_n)) == mean_n(norm2(a_n))", vectors=("a_n",))
    assert not says(c, single("all"))
    assert says(replace(c, assuming=("N <= 1",)), single("all"))


def test_an_equation_does_not_follow_from_an_inequality() -> None:
    c = about("c <= 1", assuming=("c < 1",))
    assert says(c, combined("all", None, {"c < 1": "1"}))
    assert not says(replace(c, statement="c == 1"), combined("all", None, {"c < 1": "1"}))
    assert says(replace(c, statement="c < 1"), combined("all", None, {"c < 1": "1"}))
    weak = replace(c, statement="c < 1", assuming=("c <= 1",))
    assert not says(weak, combined("all", None, {"c <= 1": "1"}))


def test_domains() -> None:
    c = about("c <= 2", parameters={})
    from theory.domain import OPEN_UNIT, PROBABILITY

    assert not says(c, domain("d", "c <= 2"), combined("all", None, {"d": "1"}))
    assert says(replace(c, parameters={"c": PROBABILITY}), domain("all"))
    assert says(replace(c, statement="c < 1", parameters={"c": OPEN_UNIT}), domain("all"))
    assert not says(replace(c, statement="c < 1", parameters={"c": PROBABILITY}), domain("all"))


def test_lines_that_are_no_lines() -> None:
    c = vectors.YOUNG
    good = combined("y", None, (), {"c*a - b": "1/c"})
    assert accepted(c, [good])
    for bad in (
        [], [None], ["y"], [{**good, "name": ""}], [{**good, "name": "a: b"}], [{**good, "by": "faith"}],
        [{**good, "more": 1}], [good, good], [{**good, "squares": "c*a - b"}], [{**good, "parts": [{"line": "y"}]}],
        [{**good, "squares": [{"of": "c*a - b", "times": "1/c", "why": ""}]}], {"y": good}, "y",
        [{**good, "sentence": "1 <= 2"}], [{**good, "squares": [{"of": 7.5}]}],
    ):  # fmt: skip
        assert not accepted(c, bad), bad
    assert not accepted(c, None)


def test_a_citation_is_named() -> None:
    c = about("norm2(a) <= norm2(b)")
    found = check(c, [{"name": "all", "by": "citation", "source": "a book"}])
    assert found.citations == ("a book",)
    more = check(c, [
        {"name": "one", "sentence": "norm2(a) <= norm2(b)", "by": "citation", "source": "a book"},
        combined("all", None, {"one": "1"}),
    ])  # fmt: skip
    assert more.citations == ("a book",)


def test_a_random_state_beside_its_draw() -> None:
    c = claim("c", "E(f(x[k+1])) <= E(f(x[k]))", of=drawn)
    assert not says(c, step("all"))
    for text in (
        "E(f(x[k+1])) == f(E(x[k+1]))",
        "E(norm2(x[k+1])) == norm2(E(x[k+1]))",
        "norm2(x[k+1]) == norm2(x[k] - eta*grad(f, x[k]))",
        "E(dot(x[k+1], grad(f, x[k+1]))) == E(dot(x[k] - eta*grad(f, x[k]), grad(f, x[k+1])))",
    ):
        assert not says(replace(c, statement=text), step("all")), text
    assert says(
        replace(c, statement="E(norm2(x[k])) - E(norm2(x[k])) <= norm2(E(x[k+1] - x[k] + eta*grad(f, x[k])))"),
        step("all"),
    )
