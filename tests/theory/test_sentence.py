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

WORDS = Vocabulary(
    {"x": "server", "c": "client", "t": "table", "past": "past"},
    {"y": ("client", 1)},
    ("u", "a_n"),
    {"mean": parse_expression("mean_k(x[k])")},
    ("step",),
)


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
        ("norm2(eta + mu)", r"needed; free vectors are named: vectors=\('u', 'a_n', 'eta', 'mu'\)"),
        ("f(v)", r"v is a scalar, and a vector is needed; free vectors are named: vectors=\('u', 'a_n', 'v'\)"),
        ("grad(f_n, v)", r"free vectors are named: vectors=\('u', 'a_n', 'v'\)"),
        ("x[k] - v", r"adds a number and a vector; free vectors are named: vectors=\('u', 'a_n', 'v'\)"),
        ("x[k] - x_star", r"adds a number and a vector; did you mean xstar\?"),
        ("f(x_star)", r"did you mean xstar\?"),
        ("norm2(x_0 - xstar)", r"adds a number and a vector; did you mean x0\?"),
        ("f(x_k)", r"a vector is needed; write x\[k\]"),
        ("norm2(step)", "step is a scalar, and a vector is needed$"),
        ("E[norm2(x[k])]", r"E is a function, and its arguments stand in round parentheses: E\(...\)"),
        ("norm2[x0]", r"norm2 is a function, and its arguments stand in round parentheses: norm2\(...\)"),
        ("E_k[norm2(x[k])]", r"E_k is neither a state nor a tap; E\(...\) is over all draws, .*, write x\[1\] and x0"),
        ("u[k]", "u is neither a state nor a tap; there are .*; u is one thing for all rounds"),
        ("mean[K]", "mean is neither a state nor a tap; there are .*; mean is one thing for all rounds"),
        ("eta[k]", "eta is neither a state nor a tap; there are .*; one number for each round is written eta_k"),
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
        ("a in (0, 1/L]", "an operator is missing between 'a' and 'in'; an interval is written with relations"),
        ("a <= 1 and b <= 1", "missing between '1' and 'and'; each relation is a sentence of its own"),
        ("a <= 1 if k > 3", "missing between '1' and 'if'; a condition is an entry of assuming"),
        ("forall n: a_n <= 1", "missing between 'forall' and 'n'; a sentence is for all values of the indices"),
        ("for all x: f(x) >= 0", "an assumption for all points is written for every x: "),
        ("norm2(grad f(x0)) <= 1", r"missing between 'grad' and 'f'; a gradient is written grad\(f, v\)"),
        ("a <= 1, b <= 1", "it has no relation .*; each part of a list is a sentence of its own"),
        ("||a|| <= 1", r"'\|' is not allowed \(norm\(v\) is the length of a vector"),
        ("x^* <= 1", r"powers are written \*\*, the minimiser xstar"),
        ("norm(x0 - x*) <= 1", "cannot be read .*; the minimiser is xstar, the least value fstar"),
        ("<a, b> <= 1", r"cannot be read .*; the inner product is dot\(u, v\)"),
        ("1 - 2*<a, b> <= 1", r"cannot be read .*; the inner product is dot\(u, v\)"),
        ("a != 1", r"'!' is not allowed \(relations are < <= > >= ==\)"),
        ("a \u2264 1", "is not allowed .write it in ASCII characters"),
        ("1/lambda <= 1", "lambda is a word of Python, and can be no name; write lam"),
        ("lambda*norm2(a) <= 1", "lambda is a word of Python, and can be no name; write lam"),
        ("1/in <= 1", "in is a word of Python, and can be no name; take another one"),
        ("inner(a, b) <= 1", r"unknown function 'inner'; the inner product is dot\(u, v\)"),
        ("P(norm2(a) >= 1) <= 1", r"unknown function 'P'; .* is written quantile\(e, 1 - p\) <= B"),
        ("Prob(norm2(a) >= 1) <= 1", r"unknown function 'Prob'; .* is written quantile\(e, 1 - p\) <= B"),
        ("Var(a) <= 1", r"unknown function 'Var'; the variance of v is E\(norm2\(v - E\(v\)\)\)"),
        ("E_k(a) <= 1", r"unknown function 'E_k'; E\(...\) is over all draws, .*, write x\[1\] and x0"),
        ("nabla(f, a) <= 1", r"unknown function 'nabla'; a gradient is written grad\(f, v\)"),
        ("K >= ceil(a)", r"unknown function 'ceil'; of an integer K, K >= e says what K >= ceil\(e\) does"),
        ("norm1(a) <= 1", r"unknown function 'norm1'; norm\(v\) is the Euclidean norm, norm2\(v\) its square"),
        ("f_i(a) <= 1", "unknown function 'f_i'; f_n is the function of client n"),
        ("F(a) <= 1", r"unknown function 'F'; did you mean f\?"),
        ("quantil(a, 1/2) <= 1", r"unknown function 'quantil'; did you mean quantile\?"),
        ("sum(a_n) <= 1", r"unknown function 'sum'; did you mean sum_n\?"),
        ("gradient(f, a) <= 1", r"unknown function 'gradient'; did you mean grad\?"),
        (
            "proj(a) <= 1",
            r"unknown function 'proj'; there are E, abs, .*, norm2, .*; states and taps are written x\[k\]",
        ),
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


@pytest.mark.parametrize(
    "text",
    [
        "dot(u, a_n) <= norm(u)*norm(a_n)",
        "quantile(norm2(x[k]), 1 - p) <= 2",
        "E(norm2(x[k] - E(x[k]))) <= 2",
        "E(norm2(x[1] - xstar)) <= norm2(x0 - xstar)",
        "K >= lam/2",
        "f(x[k]) - fstar <= 1",
        "max_n(norm2(grad(f_n, xstar))) <= 2",
    ],
)
def test_what_messages_say_to_write_is_read(text):
    assert all(read(side, WORDS).shape == "scalar" for side in parse_sentence(text).sides)


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
