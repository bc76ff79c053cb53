"""Formulas: what is read, what is refused, and what they are in sympy."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from theory.bound import Bound, Hypothesis, Parameter
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL, Domain
from theory.expression import check, expression, right_side, symbol, to_sympy
from theory.formula import UndefinedError, length, names_in, parse, parse_relation, text_of

A, B = sympy.symbols("a b", positive=True)


def claim(right: str | None, definitions: dict[str, str] | None = None, **changes: object) -> Bound:
    given = (Parameter("L", POSITIVE, ""), Parameter("K", COUNT, ""), Parameter("z", NONNEGATIVE, "", "vector"))
    return Bound("toy/x", right, given, definitions=definitions or {}, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b*2", A + 2 * B),
        ("-a**2", -(A**2)),
        ("(-a)**2", A**2),
        ("2**a**2", 2 ** (A**2)),
        ("a - b - 1", A - B - 1),
        ("a/b/2", A / B / 2),
        ("0.1*a", A / 10),
        ("1e-3 + .5 + 2.", sympy.Rational(2501, 1000)),
        ("sqrt(a) + log(b) + exp(a) + abs(-b)", sympy.sqrt(A) + sympy.log(B) + sympy.exp(A) + B),
        ("max(3, a/b, b) - min(a, b)", sympy.Max(3, A / B, B) - sympy.Min(A, B)),
        ("  +a ", A),
        ("a**(1/3)", A ** sympy.Rational(1, 3)),
    ],
)
def test_formulas_mean_what_they_say(text: str, expected: sympy.Expr) -> None:
    assert sympy.simplify(to_sympy(parse(text, ("a", "b")), {"a": A, "b": B}) - expected) == 0


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("__import__('os').system('true')", "not allowed"),
        ('eval("1")', "not allowed"),
        ("__import__(a)", "unknown function '__import__'"),
        ("open(a)", "unknown function 'open'"),
        ("(a).__class__", "'.' is not allowed"),
        ("lambda: 1", "':' is not allowed"),
        ("lambda", "cannot be read"),
        ("{1}", "'{' is not allowed"),
        ("[a]", "'[' is not allowed"),
        ("a if b else 1", "operator is missing between 'a' and 'if'"),
        ("not a", "operator is missing"),
        ("True", "'True' is not allowed"),
        ("None + 1", "'None' is not allowed"),
        ("a // b", "'a // b' is not allowed"),
        ("a < b", "relation 'a < b' stands where a number is needed"),
        ("(a < b)*2", "relation 'a < b' stands"),
        ("a = b", "equality is written =="),
        ("a, b", "a list 'a, b' stands"),
        ("sqrt(*a)", "'*a' is not allowed"),
        ("min(a, b, **a)", "is not allowed"),
        ("sqrt(a, b)", "sqrt takes 1 argument(s), not 2"),
        ("sqrt()", "sqrt takes 1 argument(s), not 0"),
        ("max(a)", "max takes 2 or more argument(s), not 1"),
        ("sqrt + 1", "sqrt is a function"),
        ("sin(a)", "unknown function 'sin'; known are abs, "),
        ("2a", "operator is missing between '2' and 'a'"),
        ("2(a)", "operator is missing between '2' and '('"),
        ("012", "cannot be read"),
        ("(a", "cannot be read at '(a'"),
        ("a\nb", "operator is missing"),
        ("a\\b", "not allowed"),
        ("é", "not allowed"),
        ("\u0661", "not allowed"),
        ("", "is empty"),
        (" ", "is empty"),
        ("a + c", "unknown name 'c'; known are a, b"),
        ("9**9**9", "the power '9**9**9' is too large"),
        ("2**(1-10**8)", "is too large"),
        ("2**((9**9999)**9999)", "is too large"),
        ("a**-10001", "is too large"),
        ("1e100000000", "too long or too large"),
        ("9" * 4500, "too long or too large"),
        ("1+" * 3000 + "1", "characters; the limit is"),
        ("+".join("a" * 1000), "nested too deeply"),
        ("-" * 4000 + "a", "nested too deeply"),
        ("(" * 1500 + "a" + ")" * 1500, "cannot be read"),
    ],
)
def test_everything_else_is_refused_by_name(text: str, piece: str) -> None:
    with pytest.raises(ValueError, match="formula") as caught:
        parse(text, ("a", "b"))
    assert piece in str(caught.value)
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("text", [None, 5, ["a"], b"a"])
def test_a_formula_is_text(text: object) -> None:
    with pytest.raises(ValueError, match="is not text"):
        parse(text)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not text"):
        parse_relation(text)  # type: ignore[arg-type]


@given(st.text(alphabet="ab12 .+-*/()<>=,e_'\"[]:@%", max_size=30))
def test_any_text_gives_a_tree_or_a_value_error(text: str) -> None:
    try:
        tree = parse(text)
    except ValueError:
        return
    assert names_in(parse(text_of(tree))) == names_in(tree)


@pytest.mark.parametrize("text", ["a", "a = b", "a != b", "a <", "a < b < ", "a in b", "(a < b) < 1", "a < c", ""])
def test_other_relations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        parse_relation(text, ("a", "b"))


def test_symbols_carry_the_domain() -> None:
    assert symbol(Parameter("x", POSITIVE, "")).is_positive
    assert symbol(Parameter("x", COUNT, "")).is_positive
    assert symbol(Parameter("x", COUNT, "")).is_integer
    assert symbol(Parameter("x", NONNEGATIVE, "")).is_nonnegative
    assert symbol(Parameter("x", NONNEGATIVE, "")).is_positive is None
    assert symbol(Parameter("x", REAL, "")).is_real
    assert symbol(Parameter("x", Domain(-1, 1), "")).is_nonnegative is None
    with pytest.raises(ValueError, match="z is a vector"):
        symbol(Parameter("z", POSITIVE, "", "vector"))


def test_the_right_side_has_its_definitions_put_in() -> None:
    c = claim("kappa**2 + twice", {"kappa": "L/2", "twice": "2*kappa", "total": "sum(z)"})
    L = c.parameter("L").symbol
    assert sympy.expand(right_side(c) - (L**2 / 4 + L)) == 0
    assert expression("twice - L", c) == 0
    for bad in (claim("sum(z)"), claim("L + total", {"total": "sum(z)"})):
        with pytest.raises(ValueError, match="toy/x"):
            right_side(bad)
    with pytest.raises(ValueError, match="no right side"):
        right_side(claim(None))
    with pytest.raises(ValueError, match="unknown name 'mu'"):
        expression("mu", c)


@pytest.mark.parametrize("text", ["1/0", "a/(b-b)", "log(0)", "sqrt(-1)", "log(-2)", "0**-1"])
def test_constants_without_real_value_are_undefined(text: str) -> None:
    with pytest.raises(UndefinedError):
        to_sympy(parse(text), {"a": A, "b": B})


def test_sympy_is_not_asked_for_huge_numbers() -> None:
    for text in ("((2*a)**9999)**9999", "9**sqrt(10**18)", "(9**9999)**9999"):
        with pytest.raises(ValueError, match="too large"):
            to_sympy(parse(text), {"a": A})


def test_lengths_of_vectors_are_checked() -> None:
    lengths = {"z": 3, "n": 3, "w": 2, "a": None}
    assert length(parse("a*z + z**2/n"), lengths) == 3
    assert length(parse("sum(a*z) + amax(n) - mean(w)*amin(w)"), lengths) is None
    with pytest.raises(ValueError, match=r"z and \(2 \* w\) are used together and have lengths 3 and 2"):
        length(parse("sum(z + 2*w)"), lengths)
    with pytest.raises(ValueError, match="sum takes a vector, and a is a number"):
        length(parse("sum(a)"), lengths)


def test_a_claims_formulas_are_checked() -> None:
    check(claim("kappa", {"kappa": "L/K"}, hypotheses=(Hypothesis("h", "s", "0 < kappa < sum(z)"),)))
    bad = [
        (claim("mu"), "unknown name 'mu'"),
        (claim("z"), "is a vector, not a number"),
        (claim("kappa", {"kappa": "sum(L)"}), "formula 'sum.L.': sum takes a vector"),
        (claim("a", {"a": "b", "b": "L"}), "unknown name 'b'"),
        (claim("L", hypotheses=(Hypothesis("h", "s", "L < mu"),)), "unknown name 'mu'"),
        (claim("L", hypotheses=(Hypothesis("h", "s", "L"),)), "not a relation"),
    ]
    for c, message in bad:
        with pytest.raises(ValueError, match=message) as caught:
            check(c)
        assert str(caught.value).startswith("toy/x: ")
