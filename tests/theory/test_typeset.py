"""Formulas in LaTeX: read again by a reader of their own, they are worth what the tree is worth."""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.theory.trees import COUNTS, OPERATIONS, RANGES, WORDS, Env, expected, leaf, scalar, value_of_function, worth
from theory import claim
from theory.formula import Name
from theory.predicates import PREDICATES, predicate
from theory.sentence import parse_expression, text_of
from theory.typeset import (
    latex_of,
    latex_of_assumption,
    latex_of_claim,
    latex_of_definitions,
    latex_of_sentence,
)

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+|[A-Za-z]|\S")
BRACKETS = {"(": ")", "|": "|", "\\|": "\\|", "\\langle": "\\rangle"}
Value = Callable[[Env], Any]


# --- the LaTeX -------------------------------------------------------------------------------------------------------


class Reader:
    """Reads what `theory.typeset` writes, from left to right, by the rules of its docstring."""

    VECTORS = frozenset({"x", "h", "y", "a", "b"})

    def __init__(self, text: str) -> None:
        self.tokens = [t for t in TOKEN.findall(text) if t not in ("\\,", "\\ ")]
        self.at = 0
        self.bars: list[str] = []  # that are open and do not grow

    def peek(self, *wanted: str) -> bool:
        return self.tokens[self.at : self.at + len(wanted)] == list(wanted)

    def take(self, *wanted: str) -> None:
        assert self.peek(*wanted), (wanted, self.tokens[self.at :])
        self.at += len(wanted)

    def whole(self) -> Value:
        found = self.sum()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return found

    def sum(self) -> Value:
        sign = 1.0
        if self.peek("-"):
            self.take("-")
            sign = -1.0
        terms = [(sign, self.product())]
        while self.peek("+") or self.peek("-"):
            sign = 1.0 if self.tokens[self.at] == "+" else -1.0
            self.at += 1
            terms.append((sign, self.product()))
        return lambda env: sum((s * t(env) for s, t in terms[1:]), terms[0][0] * terms[0][1](env))

    def ends(self) -> bool:
        if self.at == len(self.tokens):
            return True
        token = self.tokens[self.at]
        closing = ("+", "-", "}", ",", "]", ")", "\\}", "\\rangle", "\\right")
        return token in closing or (bool(self.bars) and token == self.bars[-1])

    def product(self) -> Value:
        factors = []
        while not self.ends():
            if self.peek("\\cdot"):
                self.take("\\cdot")
            factors.append(self.big() or self.factor())
        assert factors

        def value(env: Env) -> Any:
            total = factors[0](env)
            for factor in factors[1:]:
                total = total * factor(env)
            return total

        return value

    def big(self) -> Value | None:
        """A sum, a mean or an extreme, which reaches to the end of the product."""
        heads = {"\\sum": "sum", "\\max": "max", "\\min": "min", "\\operatorname": "mean"}
        head = self.tokens[self.at]
        if head not in heads or (head in ("\\max", "\\min") and self.tokens[self.at + 1] != "_"):
            return None
        self.at += 1
        if head == "\\operatorname":
            self.take("{", "m", "e", "a", "n", "}")
        self.take("_", "{")
        index = self.tokens[self.at]
        while not self.peek("}"):
            self.at += 1
        self.take("}")
        if self.peek("^"):
            self.take("^", "{")
            self.sum()
            self.take("}")
        body, how = self.product(), heads[head]

        def value(env: Env) -> Any:
            values = [body({**env, index: at}) for at in RANGES[index]]
            if how in ("sum", "mean"):
                return sum(values) / (len(values) if how == "mean" else 1)
            return max(values) if how == "max" else min(values)

        return value

    def group(self, opening: str, closing: str) -> list[Value]:
        grows = self.peek("\\left")
        self.take(*["\\left"] * grows, opening)
        before, self.bars = self.bars, [opening] if not grows and opening == closing else []
        found = [self.sum()]
        while self.peek(","):
            self.take(",")
            found.append(self.sum())
        self.take(*["\\right"] * grows, closing)
        self.bars = before
        return found

    def braces(self) -> Value:
        self.take("{")
        found = self.sum()
        self.take("}")
        return found

    def factor(self) -> Value:
        base = self.base()
        if self.peek("^"):
            self.take("^")
            power, inner = self.braces(), base
            return lambda env: inner(env) ** power(env)
        return base

    def base(self) -> Value:
        token = self.tokens[self.at]
        if token.isdigit():
            self.at += 1
            return lambda env: float(token)
        if token == "\\frac":
            self.at += 1
            top, bottom = self.braces(), self.braces()
            return lambda env: top(env) / bottom(env)
        if token == "\\sqrt":
            self.at += 1
            inner = self.braces()
            return lambda env: OPERATIONS["sqrt"](inner(env))
        if token == "\\mathbb":
            self.take("\\mathbb", "{", "E", "}")
            (inside,) = self.group("[", "]")
            return lambda env: expected(inside(env))
        if token in ("\\log", "\\exp", "\\min", "\\max"):
            self.at += 1
            several = self.group("\\{", "\\}") if token in ("\\min", "\\max") else self.group("(", ")")
            return lambda env: OPERATIONS[token[1:]](*[one(env) for one in several])
        if token == "\\left" or token in BRACKETS:
            return self.bracket()
        return self.named()

    def bracket(self) -> Value:
        opening = self.tokens[self.at + self.peek("\\left")]
        found = self.group(opening, BRACKETS[opening])
        operation = {"(": None, "|": "abs", "\\|": "norm", "\\langle": "dot"}[opening]
        if operation is None:
            return found[0]
        return lambda env: OPERATIONS[operation](*[one(env) for one in found])

    def named(self) -> Value:
        gradient = self.peek("\\nabla")
        self.at += gradient
        token = self.tokens[self.at]
        self.at += 1
        name = token.removeprefix("\\")
        if token == "\\mathrm":
            name = self.word()
        below: list[str] = []
        if self.peek("_"):
            self.take("_")
            below = list(self.word())
        if name == "f" and (self.peek("\\left") or self.peek("(")):
            (inner,) = self.group("(", ")")
            return lambda env: value_of_function("f", tuple(env[i] for i in below), inner(env), gradient)
        if name == "f":
            self.take("^", "{", "\\star", "}")
            return lambda env: -100.0
        if name in self.VECTORS:
            return self.vector(name, below)
        index = "".join(below)

        def value(env: Env) -> Any:
            if name in env or name in COUNTS:
                return env.get(name, COUNTS.get(name))
            return leaf(False, name, (env[index],) if index in env else index)

        return value

    def vector(self, name: str, below: list[str]) -> Value:
        above: list[Value] = []
        star = self.peek("^", "{", "\\star", "}")
        if star:
            self.at += 4
        elif self.peek("^"):
            self.take("^", "{")
            above.append(self.sum())
            while self.peek(","):
                self.take(",")
                above.append(self.sum())
            self.take("}")

        def value(env: Env) -> Any:
            high: Any = tuple(one(env) for one in above)
            high = "star" if star else None if not above else high[0] if len(high) == 1 else high
            return leaf(True, name, tuple(env[i] for i in below), high)

        return value

    def word(self) -> str:
        self.take("{")
        found = ""
        while not self.peek("}"):
            found += self.tokens[self.at]
            self.at += 1
        self.take("}")
        return found


@pytest.mark.parametrize("seed", range(400))
def test_what_is_written_is_worth_what_was_meant(seed: int) -> None:
    e = scalar(random.Random(seed), 5, "")
    latex = latex_of(e, WORDS)
    try:
        meant = worth(e, {})
    except (OverflowError, ZeroDivisionError):
        pytest.skip("no value")
    assert complex(Reader(latex).whole()({})) == pytest.approx(complex(meant), rel=1e-9), (text_of(e), latex)


def test_mathtext_sets_every_random_formula_and_every_assumption() -> None:
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    texts = [latex_of(scalar(random.Random(seed), 5, ""), WORDS) for seed in range(60)]
    for name in PREDICATES:
        arguments = {
            "connected": ("W",),
            "bounded_variance": ("sigma2",),
            "dissimilar": ("G B", "G", "G 0"),
            "stable": ("f_ni eta R",),
            "bounded_gradients": ("f_ni G", "f_ni G R"),
        }.get(name, ("f_ni L",))
        for words in arguments:
            try:
                one = predicate(name, tuple(map(Name, words.split())))
            except ValueError:  # without a constant
                one = predicate(name, (Name("f_ni"),))
            texts.append(latex_of_assumption(one))
    for text in texts:
        parser.parse(f"${text}$", dpi=72)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("(1 - eta*mu)**k", r"(1-\eta \mu)^{k}"),
        ("sigma2", r"\sigma^{2}"),
        ("sigma2**2", r"(\sigma^{2})^{2}"),
        ("2*3*eta", r"2 \cdot 3 \eta"),
        ("1/2*eta/p", r"\frac{\frac{1}{2} \eta}{p}"),
        ("mean_n(p_n)*eta", r"\left(\frac{1}{N}\sum_{n=1}^{N} p_{n}\right) \eta"),
        ("eta*mean_i(f_ni(x0))", r"\eta \,\operatorname{mean}_{i} f_{ni}(x^{0})"),
        ("-(a1 + b1)", r"-(a_{1}+b_{1})"),
        ("norm(x0)**2", r"\|x^{0}\|^{2}"),
        ("eta_k*gamma_loc", r"\eta_{k} \gamma_{\mathrm{loc}}"),
        ("gamma**2/p**2*(1/K)", r"\frac{\gamma^{2}}{p^{2}} \cdot \frac{1}{K}"),
        ("f(x0) - fstar", r"f(x^{0})-f^{\star}"),
    ],
)
def test_formulas_look_as_the_field_writes_them(text: str, latex: str) -> None:
    assert latex_of(parse_expression(text)) == latex


def test_a_claim_with_its_definitions_and_relations() -> None:
    one = claim(
        "one", "norm2(x - y) <= gap/L", vectors=("x", "y"), assuming=("smooth(f, L)", "gap <= 1"),
        where={"gap": "f(x) - fstar"},
    )  # fmt: skip
    assert latex_of_claim(one) == r"\|x-y\|^{2} \leq \frac{\mathrm{gap}}{L}"
    assert latex_of_definitions(one) == {"gap": r"\mathrm{gap} = f(x)-f^{\star}"}
    assert [latex_of_assumption(a) for a in one.assumptions] == [r"f\text{ is }L\text{-smooth}", r"\mathrm{gap} \leq 1"]
    assert latex_of_sentence(one.relations[0]) == r"\mathrm{gap} \leq 1"
