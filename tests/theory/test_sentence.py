"""Sentences: read, refused, and evaluated in a world of plain Python numbers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.sentence import (
    SentenceError,
    Vocabulary,
    evaluate,
    parse_expression,
    parse_sentence,
    read,
    text_of,
)

WORDS = Vocabulary({"x": "server", "c": "client", "t": "table", "past": "past"}, {"y": ("client", 1)}, ("u", "a_n"))


@pytest.mark.parametrize(
    ("text", "shape", "free", "random"),
    [
        ("x[k]", "vector", "k", True),
        ("x[0]", "vector", "", False),
        ("c[k+1]", "vector", "kn", True),
        ("t[k]", "vector", "kni", True),
        ("y[k, h]", "vector", "khn", True),
        ("E(norm2(x[k] - xstar))", "scalar", "k", False),
        ("mean_n(E(norm2(c[k] - grad(f_n, xstar))))", "scalar", "k", False),
        ("mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))", "scalar", "", False),
        ("sum_i(1)", "scalar", "n", False),
        ("max_h(norm(y[k, h]))", "scalar", "kn", True),
        ("sum_k(q**k)", "scalar", "", False),
        ("p_n*norm2(a_n)", "scalar", "n", False),
        ("eta_k*dot(u, x0)", "scalar", "k", False),
        ("f(x[K]) - fstar", "scalar", "", True),
        ("xstar_n", "vector", "n", False),
    ],
)
def test_what_a_tree_is(text, shape, free, random):
    found = read(parse_expression(text), WORDS)
    assert (found.shape, found.free, found.random) == (shape, frozenset(free), random)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[k]*x[k]", "product of two vectors"),
        ("x[k] + 1", "adds a number and a vector"),
        ("1/x[k]", "divides by a vector"),
        ("norm2(3)", "3 is a scalar, and a vector is needed$"),
        ("norm2(eta + mu)", r"a vector is needed; free vectors are named: vectors=\('eta', 'mu',\)"),
        ("x", "x is a state or a tap: write x"),
        ("z[k]", "z is neither a state nor a tap"),
        ("x[k, h]", "has 2 indices; write x"),
        ("y[k]", "has 1 indices; write y"),
        ("x[u]", "the index u is not a number"),
        ("past[k]", r"has 1 indices; write past\[k, j\]"),
        ("f(2)", "2 is a scalar, and a vector is needed"),
        ("max_n(xstar_n)", "a scalar is needed"),
        ("mean_h(norm2(x[k]))", "nothing in it has the turn h"),
        ("exp(x[k])", "a scalar is needed"),
    ],
)
def test_what_says_nothing_is_refused(text, message):
    with pytest.raises(SentenceError, match=message):
        read(parse_expression(text), WORDS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 + 1", "it has no relation"),
        ("1 <= 2 <= 3", "has 2 relations"),
        ("a in b", "an operator is missing between 'a' and 'in'"),
        ("a is not b", "an operator is missing"),
        ("1 = 1", "equality is written =="),
        ("x^2 <= 1", r"powers are written \*\*"),
        ("f <= 1", "f is a function and needs its arguments"),
        ("mean_n <= 1", "mean_n is a function"),
        ("grad(x0) <= 1", r"a gradient is written grad\(f_n, v\)"),
        ("grad(g, x0) <= 1", "a gradient is written"),
        ("ln(2) <= 1", "the natural logarithm is log"),
        ("min(1) <= 1", "min takes 2 or more"),
        ("(1 <= 2) <= 3", "stands where one side is needed"),
        ("__import__ <= 1", "not allowed"),
        ("a.b <= 1", "not allowed|cannot be read"),
        ("lambda: 0 <= 1", "not allowed"),
        ("", "is empty"),
        ("(" * 300 + "1" + ")" * 300 + " <= 1", "nested too deeply|cannot be read"),
        ("1e99999 <= 2", "too long or too large"),
        ("2*(1+ <= 3", "cannot be read"),
    ],
)
def test_what_is_no_sentence_is_refused(text, message):
    with pytest.raises(SentenceError, match=message):
        parse_sentence(text)


class Plain:
    """A world of floats on a line: one state that halves, two clients with f_n = (x - n)^2/2."""

    def constant(self, value):
        return float(value)

    def parameter(self, name, at):
        return {"N": 2.0, "K": 3.0, "q": 0.5, "p_n": (2.0, 4.0)[at.get("n", 0)]}[name]

    def point(self, name, at):
        n = at.get("n", 0)
        return {"x0": 8.0, "xstar": 0.5, "xstar_n": float(n), "u": 3.0, "a_n": (1.0, -2.0)[n]}[name]

    def value(self, name, indices, at):
        return 8.0 / 2 ** indices[0]

    def function(self, name, v, at):
        return sum((v - n) ** 2 / 2 for n in (0, 1)) / 2 if name == "f" else (v - at["n"]) ** 2 / 2

    def gradient(self, name, v, at):
        return v - 0.5 if name == "f" else v - at["n"]

    def numbers(self, operation, arguments):
        return {
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
            "**": lambda a, b: a**b, "neg": lambda a: -a, "sqrt": math.sqrt, "max": max, "min": min, "abs": abs,
        }[operation](*arguments)  # fmt: skip

    def vectors(self, operation, arguments):
        if operation == "norm2":
            return arguments[0] ** 2
        return arguments[0] * arguments[1] if operation == "dot" else self.numbers(operation, arguments)

    def over(self, index, e, at):
        return range(2) if index in "ni" else range(3)

    def expectation(self, e, at):
        return evaluate(e, self, at, WORDS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("norm2(x[k] - xstar)", (4 - 0.5) ** 2),
        ("E(norm2(x[k+1]))", 4.0),
        ("f(x[0]) - f(xstar)", 7.5**2 / 2),
        ("mean_n(norm2(grad(f_n, xstar)))", 0.25),
        ("sum_n(p_n*norm2(a_n))", 2 + 16),
        ("norm2(mean_n(a_n))", 0.25),
        ("sum_k(q**k)", 1.75),
        ("max_k(norm2(x[k]))", 64),
        ("min(2, 3) - abs(-1)*sqrt(4)", 0),
        ("dot(u, 2*x0)/3", 16),
        ("norm2(x0/2 - u)", 1),
        ("k*1", 1),
    ],
)
def test_values(text, value):
    e = parse_expression(text)
    assert evaluate(e, Plain(), {"k": 1}, WORDS) == pytest.approx(value)


def trees():
    leaves = st.sampled_from(["q", "p_n", "2", "1/3", "norm2(x[k])", "E(f(x[k]))", "K", "N"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner).map(
                lambda t: f"({t[0]}) {t[1]} ({t[2]})"
            ),
            inner.map(lambda t: f"-({t})"),
            inner.map(lambda t: f"sqrt({t})"),
            inner.map(lambda t: f"mean_n({t})"),
            st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        ),
        max_leaves=8,
    )


@settings(max_examples=200, deadline=None)
@given(trees())
def test_text_and_tree_are_the_same(text):
    tree = parse_expression(text)
    again = parse_expression(text_of(tree))
    assert text_of(again) == text_of(tree)
    assert read(again, WORDS) == read(tree, WORDS)


@pytest.mark.parametrize(
    ("text", "tree"),
    [("E(norm(x[k] - x0)**2)", "E(norm2(x[k] - x0))"), ("norm(x[k])**3 + norm(x[k])", "norm(x[k])**3 + norm(x[k])")],
)
def test_the_square_of_a_length_has_no_root(text, tree):
    assert text_of(parse_expression(text)) == tree
