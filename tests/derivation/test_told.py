"""What is said of a derivation that is refused: which of its author's lines, and why, in the words of the language."""

from fractions import Fraction
from typing import Any

import pytest

from tests.rounds import sgd as descent
from theory import claim
from theory.claim import Claim
from theory.derivation import (
    NotProvedError,
    assumed,
    cases,
    check,
    claimed,
    combined,
    domain,
    induction,
    lines,
    mean,
    step,
)
from theory.derivation.atoms import atom
from theory.derivation.quotients import Quotient
from theory.derivation.reading import Reader
from theory.derivation.telling import left_over
from theory.sentence import parse_expression, parse_sentence

VALUE = claim("value", "norm2(grad(f, x)) <= 2*L*(f(x) - fstar)", vectors=("x",), assuming=("smooth(f, L)",))
ROUND = claim(
    "round",
    "E(norm2(x[k+1] - x0)) <= E(norm2(x[k] - x0))",
    of=descent,
    assuming=("smooth(f_ni, L)", "convex(f_ni)", "eta <= 1/L"),
)
GROWS = claim("grows", "K*a <= (K + 1)*a", parameters={})


def refused(c: Claim, *written: Any) -> NotProvedError:
    with pytest.raises(NotProvedError) as caught:
        check(c, written)
    return caught.value


# --- instances in the text of parts ----------------------------------------------------------------------------------


def test_a_check_writes_out_the_instances_that_parts_name() -> None:
    written = (combined("all", None, "above f (x, x - grad(f, x)/L) times 2*L; infimum (x - grad(f, x)/L) times 2*L"),)
    found = check(VALUE, written)
    assert [name for name, *_ in found.lines][-1] == "all"
    assert len(found.lines) == 3
    assert check(VALUE, lines(VALUE, written)) == found  # written out already


def test_other_lines_name_instances_too() -> None:
    spread = claim(
        "spread",
        "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_n, x)))) <= s",
        vectors=("x",),
        assuming=("bounded_variance(s)",),
    )
    check(spread, (mean("all", "variance (x)", "mean_n"),))


def test_an_instance_has_its_points_and_its_assumptions() -> None:
    assert refused(VALUE, combined("all", None, "above f (x)")).why == "'above f (x)': above is at (x, y), and not at 1"
    for text, why in (
        ("convex f (x, x)", "does not assume convex of f, or of what it is the mean of"),
        ("above f_n (x, x)", "does not assume smooth of f_n"),
        ("smooth convex (x, x)", "does not assume smooth and convex"),
        ("minimiser f_n", "minimiser is of f, and not of f_n"),
        (
            "zero f_n (x)",
            "same_minimiser of f_n, or of what it is the mean of; zero of f needs nothing",
        ),
        ("abov f (x, x)", "did you mean the schema 'above'?"),
        ("above f [x, x](", "an instance is written above f (x, y), with expressions"),
    ):
        found = refused(VALUE, combined("all", None, text))
        assert (found.line, found.where) == ("all", "line 1")
        assert why in found.why, found.why


def test_a_name_that_is_nearly_a_line_s_is_told() -> None:
    first = combined("first", "fstar <= f(x) + dot(x, x)", "infimum (x)", "x")
    assert refused(VALUE, first, combined("all", None, "frist")).why.endswith("; did you mean 'first'?")
    assert "mean the schema 'infimum'?" in refused(VALUE, first, combined("all", None, "infinum (x)")).why


def test_what_is_no_derivation_is_refused_by_name() -> None:
    for written in ("above", {"name": "all"}, (), 3):
        with pytest.raises(NotProvedError, match="it is a sequence of lines"):
            check(VALUE, written)  # type: ignore[arg-type]


# --- which line ------------------------------------------------------------------------------------------------------


def test_the_line_is_the_authors_whatever_is_written_out_before_it() -> None:
    first = combined("first", "fstar <= f(x) + dot(x, x)", "infimum (x)", "x")
    found = refused(VALUE, first, combined("second", "fstar <= f(x) - 1", "infimum (x)"))
    assert (found.line, found.where, found.sentence) == ("second", "line 2", "fstar <= f(x) - 1")
    assert found.told == "line 2, 'second', fstar <= f(x) - 1: left over: -1"


def test_an_instance_that_does_not_hold_is_of_the_line_that_names_it() -> None:
    found = refused(VALUE, combined("all", None, "above f (x, L)"))
    assert found.where == "line 1"
    assert found.told == "line 1, 'above f (x, L)': L is no vector at which above holds"


def test_lines_inside_of_lines_are_numbered_there() -> None:
    sure = domain("sure", "0 <= a")
    bad = induction("all", None, [combined("all", None, "0 <= 1")], [sure, combined("so", None, "sure")], "K")
    assert refused(GROWS, bad).where == "line 1, base, line 1"
    step_ = induction("all", None, [domain("all")], [sure, combined("so", None, "IH", "1 times -1")], "K")
    assert refused(GROWS, step_).where == "line 1, step, line 2"
    both = cases("all", None, "a <= 1", [domain("all")], [combined("all", None, "nothing")])
    assert refused(GROWS, both).where == "line 1, second, line 1"


def test_a_claim_inside_of_a_line_says_where_it_fails() -> None:
    other = claim("other", "2*a <= 3*a + b", proof=(domain("a", "0 <= a"), combined("all", None, "a times 2")))
    found = refused(claim("outer", "2*c <= 3*c + 1"), claimed("it", other, {"a": "c", "b": "1"}))
    assert found.where == f"line 1, {other.id}, line 2"
    assert "left over: b - a" in found.why


def test_a_line_that_is_none_is_named_by_its_number() -> None:
    assert refused(GROWS, domain("sure", "0 <= a"), "so it is").told == "line 2: 'so it is' is no line"


# --- what is left over -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("norm2(x[k] - x0)/2", "norm2(x0)/2 + norm2(x[k])/2 - dot(x0, x[k])"),
        ("eta*E(dot(grad(f, x[k]), x[k]))", "eta*E(dot(grad(f, x[k]), x[k]))"),
        ("E(mean_n(mean_i(norm2(grad(f_ni, x[k])))))*eta**2/N", "eta**2*E(mean_n(mean_i(norm2(grad(f_ni, x[k])))))/N"),
        ("E(mean_n(norm2(grad(f_n, x[k]))))", "E(mean_n(norm2(grad(f_n, x[k]))))"),
        ("E(f(x[k])) - fstar", "E(f(x[k])) - fstar"),
        ("(1 - eta*L)**2/(1 + eta)**2", "(1 + L**2*eta**2 - 2*L*eta)/(1 + eta)**2"),
        ("sqrt(eta)*norm(x0)", "norm(x0)*sqrt(eta)"),
        ("0", "0"),
    ],
)
def test_a_normal_form_is_told_in_the_language(text: str, said: str) -> None:
    c = claim("one", "E(mean_n(mean_i(norm2(grad(f_ni, x[k]))))) <= eta*L", of=descent, assuming=("smooth(f_ni, L)",))
    reader = Reader(c, 2)
    q = reader.value(parse_expression(text))
    told = left_over(q, c)
    assert (reader.value(parse_expression(told)) - q).zero, told
    assert told == said


def test_what_is_told_is_the_same_normal_form() -> None:
    """Of all sides of the claims of two papers that the kernel reads, and that are told in full."""
    from theory import catalog
    from theory.derivation.kernel import Kernel

    seen = 0
    for c in (*catalog.claims("textbook"), *catalog.claims("fedavg-svrg")):
        if not c.has_sentence or c.over or c.in_words:
            continue
        reader = Kernel(c, ()).reader
        for side in (c.sentence.left, c.sentence.right):
            try:
                q = reader.value(side)
            except ValueError:
                continue
            told = left_over(q, c)
            if "more term" in told:
                continue
            try:
                back = reader.value(parse_expression(told))
            except ValueError:
                continue  # no formula says it
            assert (back - q).zero, (c.id, told)
            seen += 1
    assert seen > 100


def test_what_no_formula_says_is_counted_and_not_shown_as_the_kernel_has_it() -> None:
    c = claim("inside", "a*b <= c")
    strange = Quotient({((atom("of no kind", "a"), 1),): Fraction(1)}, {})
    assert left_over(strange, c) == "1 term that no formula of the language says"
    both = Reader(c, 0).value(c.sentence.left) + strange
    assert left_over(both, c) == "a*b + 1 more term that no formula of the language says"
    below = Reader(c, 0).value(c.sentence.left) / both
    assert left_over(below, c) == "a*b, over a denominator that no formula of the language says"


def test_a_long_rest_is_cut() -> None:
    c = claim("long", "(a + b)**15 <= c")
    q = Reader(c, 0).value(c.sentence.left)
    assert left_over(q, c).endswith(" + 4 more terms")


def test_a_round_that_does_not_say_so() -> None:
    said = "E(norm2(x[k+1] - x0)) == E(norm2(x[k] - x0)) - eta*E(dot(grad(f, x[k]), x[k] - x0))"
    found = refused(ROUND, step("round", said), combined("all"))
    assert found.sentence == said
    assert found.where == "line 1"
    assert "mean_n(norm2(grad(f_n, x[k])))" in found.why
    assert "number(k)" not in found.told
    assert "!" not in found.told


def test_a_schema_says_what_it_says() -> None:
    found = refused(ROUND, assumed("best", "f(x0) <= f(x[k])", ("convex(f_ni)",), "convex", "f", x="x0", y="x[k]"))
    assert found.why == "convex says f(x[k]) >= f(x0) + dot(grad(f, x0), x[k] - x0) there"
    assert parse_sentence(found.sentence)


def test_a_multiplier_without_a_sign_says_what_to_write() -> None:
    one = claim("signs", "a*(1 - q) <= b*(1 - q)", assuming=("a <= b", "2*q <= 1"))
    parts = combined("all", None, "a <= b times 1 - q")
    why = refused(one, parts).why
    assert why.endswith("of a <= b is >= 0: a line before it has to, such as '1 - q >= 0'")
    check(one, (combined("less", "1 - q >= 0", "2*q <= 1 times 1/2", "1 times 1/2"), parts))


def test_what_is_left_of_the_gradient_at_the_minimiser_is_told_to_be_0() -> None:
    one = claim("still", "dot(grad(f, xstar), x) <= 0", vectors=("x",), assuming=("smooth(f, L)",))
    assert refused(one, combined("all")).why.endswith("; zero f (v) says dot(grad(f, xstar), v) == 0")
    check(one, (combined("all", None, "zero f (x)"),))


@pytest.mark.parametrize(
    ("over", "why"),
    [
        ("mean_n: mean_i:", "all that a part is taken over stands before one colon, as in 'E mean_n mean_i: LINE'"),
        ("mean_n, mean_i:", "with spaces between"),
    ],
)
def test_how_a_part_is_taken_over_several_indices(over: str, why: str) -> None:
    one = claim(
        "bounded",
        "mean_n(mean_i(norm2(grad(f_ni, x)))) <= G**2",
        vectors=("x",),
        assuming=("bounded_gradients(f_ni, G)",),
    )
    assert refused(one, combined("all", None, f"{over} bounded f_ni (x)")).why.endswith(why)
    check(one, (combined("all", None, "mean_n mean_i: bounded f_ni (x)"),))
