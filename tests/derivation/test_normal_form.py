"""Equal normal forms mean equal values: the normal form of random expressions is worth what the expression is."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.derivation.exact import Numbers
from theory import claim
from theory.derivation.atoms import closing, fresh
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import Quotient, constant
from theory.derivation.reading import Reader, parameter
from theory.derivation.signs import Signs
from theory.operations import to_fraction
from theory.sentence import evaluate, parse_expression
from validate.both_sides import World, words_of
from validate.instances import read_instance

CLAIM = claim(
    "free",
    "norm2(a) + sum_n(q_n*norm2(b_n)) + sum_k(c**k) >= norm2(mean_n(mean_i(grad(f_ni, a)))) - K*norm2(x0)",
    vectors=("a", "b_n"),
)
small = st.fractions(min_value=-2, max_value=2, max_denominator=3)
positive = st.fractions(min_value=Fraction(1, 3), max_value=3, max_denominator=3)

numerals = st.sampled_from(["0", "1", "2", "1/2", "3"])


def scalars(inner: tuple[st.SearchStrategy[str], st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    scalar, vector = inner
    two, both = st.tuples(scalar, scalar), st.tuples(vector, vector)
    return st.one_of(
        two.map(lambda t: f"({t[0]} + {t[1]})"),
        two.map(lambda t: f"({t[0]} - {t[1]})"),
        two.map(lambda t: f"({t[0]})*({t[1]})"),
        scalar.map(lambda e: f"({e})/(c + 1)"),
        scalar.map(lambda e: f"({e})**2"),
        scalar.map(lambda e: f"({e})/q_n"),
        scalar.map(lambda e: f"({e})/(q_n + c)"),
        scalar.map(lambda e: f"abs({e})"),
        two.map(lambda t: f"max({t[0]}, {t[1]})"),
        vector.map(lambda v: f"norm2({v})"),
        both.map(lambda t: f"dot({t[0]}, {t[1]})"),
        st.tuples(st.sampled_from(["f", "f_n", "f_ni"]), vector).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["mean_n", "sum_n", "max_n", "mean_i", "sum_i"]), scalar).map(
            lambda t: f"{t[0]}(mean_i({t[1]}))" if t[0].endswith("n") else f"{t[0]}({t[1]})"
        ),
        scalar.map(lambda e: f"sum_k({e})"),
        scalar.map(lambda e: f"mean_k({e})"),
    )


def vectors(inner: tuple[st.SearchStrategy[str], st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    scalar, vector = inner
    return st.one_of(
        st.tuples(vector, vector).map(lambda t: f"({t[0]} + {t[1]})"),
        st.tuples(vector, vector).map(lambda t: f"({t[0]} - {t[1]})"),
        st.tuples(scalar, vector).map(lambda t: f"({t[0]})*{t[1]}"),
        st.tuples(st.sampled_from(["f", "f_n", "f_ni"]), vector).map(lambda t: f"grad({t[0]}, {t[1]})"),
        vector.map(lambda v: f"mean_n(mean_i({v}))"),
        vector.map(lambda v: f"mean_i({v})"),
        vector.map(lambda v: f"sum_k({v})"),
    )


def expressions(depth: int) -> tuple[st.SearchStrategy[str], st.SearchStrategy[str]]:
    scalar = st.one_of(numerals, st.sampled_from(["c", "q_n", "N", "K", "k", "c**k", "c**K", "c**(K + 1)", "n", "i"]))
    vector = st.sampled_from(["a", "b_n", "x0"])
    for _ in range(depth):
        inner = (scalar, vector)
        scalar, vector = st.one_of(scalar, scalars(inner)), st.one_of(vector, vectors(inner))
    return scalar, vector


SCALAR, VECTOR = expressions(3)


@st.composite
def settings_of(draw: st.DrawFn) -> tuple[Numbers, World]:
    """Numbers, and the same as the checker sees it: two or three clients, one or two samples each, d = 2."""
    clients = draw(st.integers(1, 3))

    def vector() -> tuple[Fraction, ...]:
        return (draw(small), draw(small))

    samples = []
    for _ in range(clients):
        own = []
        for _ in range(draw(st.integers(1, 2))):
            u, v, w = draw(small), draw(small), draw(small)
            own.append((((u, w), (w, v)), vector(), draw(small)))
        samples.append(own)
    K = draw(st.integers(1, 3))
    q, c = tuple(draw(positive) for _ in range(clients)), draw(positive)
    a, b, x0 = vector(), tuple(vector() for _ in range(clients)), vector()
    numbers = Numbers({"q": q, "c": c}, samples, {"a": a, "b_n": b, "x0": x0}, K=K)
    problem = {
        "clients": [
            [{"H": [[str(x) for x in row] for row in H], "b": list(map(str, s)), "c": str(t)} for H, s, t in own]
            for own in samples
        ]
    }
    instance = read_instance(
        {
            "problem": problem,
            "start": list(map(str, x0)),
            "rounds": K,
            "vectors": {"a": list(map(str, a)), "b_n": [list(map(str, v)) for v in b]},
        }
    )
    world = World(instance, {"q": q, "c": c}, words_of(instance, vectors=("a", "b_n")))
    return numbers, world


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(text=SCALAR, setting=settings_of())
def test_a_normal_form_is_worth_what_the_expression_is(text: str, setting: tuple[Numbers, World]) -> None:
    numbers, world = setting
    e = parse_expression(text)
    q = Reader(CLAIM, 2).value(e)
    for n in range(numbers.N):
        for i in range(len(numbers.samples[n])):
            at = {"n": n, "i": i, "k": 1, "h": 0}
            expected = evaluate(e, world, at, CLAIM.vocabulary)
            assert numbers.value(q, at) == to_fraction(expected), (text, q.text)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(one=VECTOR, other=VECTOR, setting=settings_of())
def test_an_inner_product_of_normal_forms(one: str, other: str, setting: tuple[Numbers, World]) -> None:
    numbers, _ = setting
    reader = Reader(CLAIM, 2)
    at = {"n": 0, "i": 0, "k": 1, "h": 0}
    u, v = (numbers.vector(reader.value(parse_expression(text)), at) for text in (one, other))
    product = reader.value(parse_expression(f"dot({one}, {other})"))
    assert numbers.value(product, at) == sum(a * b for a, b in zip(u, v, strict=True))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(text=SCALAR, setting=settings_of(), strict=st.booleans())
def test_the_sign_of_an_expression_is_among_those_that_it_may_have(
    text: str, setting: tuple[Numbers, World], strict: bool
) -> None:
    numbers, world = setting
    e = parse_expression(text)
    found = Signs(Reader(CLAIM, 2)).sign(e, strict=strict)
    for n in range(numbers.N):
        value = to_fraction(evaluate(e, world, {"n": n, "i": 0, "k": 1, "h": 0}, CLAIM.vocabulary))
        assert (value > 0) - (value < 0) in found, (text, found)


def test_names_that_are_made_up_are_given_again_only_where_nothing_has_them() -> None:
    left = []

    @closing
    def open_(inner: bool) -> Quotient:
        left.append(fresh("n"))
        return parameter("q", left[-1]) if inner else parameter("q", fresh("n")) * constant(0)

    open_(False)
    open_(False)
    assert left[0] == left[1]
    outer = fresh("n")
    open_(False)
    assert left[2] not in (outer, left[0])
    with pytest.raises(RejectedError, match="nothing binds"):
        open_(True)
