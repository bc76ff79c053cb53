"""Random trees of sentences, and what they are worth in a world made of their names."""

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from theory.formula import Name, Number
from theory.sentence import FUNCTION_NAMES, OVER, At, Expression, Vocabulary, applied, parts

Env = Mapping[str, int]
WORDS = Vocabulary(states={"x": "server", "h": "client"}, taps={"y": ("client", 1)}, vectors=("a", "b_n"))
RANGES = {"n": (1, 2, 3), "i": (0, 1), "k": (0, 1, 2), "h": (0, 1)}
COUNTS = {"N": 3, "K": 3}


def leaf(vector: bool, *key: Any) -> Any:
    """A value that goes with a name and its indices."""
    own = random.Random(repr(key).replace(".0", "").replace("'lam'", "'lambda'"))
    return np.array([own.uniform(0.5, 2), own.uniform(-2, -0.5)]) if vector else own.uniform(0.5, 1.5)


def value_of_function(name: str, indices: tuple[int, ...], v: Any, gradient: bool) -> Any:
    factor = leaf(False, name, indices)
    return factor * np.cos(v) if gradient else factor * (2 + math.sin(float(v.sum())))


def expected(value: Any) -> Any:
    """An operation that is not mistaken for another."""
    return value * 1.7 + 0.3


# --- the tree --------------------------------------------------------------------------------------------------------


def worth(e: Expression, env: Env, operations: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """The value of a tree; `operations` in place of `OPERATIONS`."""

    def of(part: Expression, at: Env) -> Any:
        return worth(part, at, operations)

    if isinstance(e, Number):
        return float(e.value)
    if isinstance(e, Name):
        if e.name in ("x0", "xstar", "xstar_n", "a", "b_n"):
            base, below, above = {
                "x0": ("x", (), 0), "xstar": ("x", (), "star"), "xstar_n": ("x", ("n",), "star"), "a": ("a", (), None),
                "b_n": ("b", ("n",), None),
            }[e.name]  # fmt: skip
            return leaf(True, base, tuple(env[i] for i in below), above)
        if e.name in env:
            return env[e.name]
        if e.name in COUNTS:
            return COUNTS[e.name]
        if e.name == "fstar":
            return -100.0  # below all values of the functions
        base, _, index = e.name.partition("_")
        return leaf(False, base, (env[index],) if index in env else index)
    if isinstance(e, At):
        kind = WORDS.states.get(e.name) or WORDS.taps[e.name][0]
        below = (env["n"],) if kind == "client" else ()
        above = tuple(of(i, env) for i in e.indices)
        return leaf(True, e.name, below, above[0] if len(above) == 1 else above)
    op = e.operation
    if op in OVER:
        how, index = OVER[op]
        values = [of(parts(e)[0], {**env, index: at}) for at in RANGES[index]]
        if how in ("max", "min"):
            return max(values) if how == "max" else min(values)
        return sum(values) / (len(values) if how == "mean" else 1)
    values = [of(a, env) for a in parts(e)]
    function = op.removeprefix("grad ")
    if function in FUNCTION_NAMES:
        indices = tuple(env[i] for i in function.partition("_")[2])
        return value_of_function("f", indices, values[0], op.startswith("grad "))
    return {**OPERATIONS, **(operations or {})}[op](*values)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: a**b, "neg": lambda a: -a, "sqrt": lambda a: abs(a) ** 0.5,
    "log": lambda a: math.log(abs(a) + 1),
    "exp": lambda a: math.exp(min(a, 5)), "abs": abs, "min": min, "max": max, "norm2": lambda v: float(v @ v),
    "norm": lambda v: float(v @ v) ** 0.5, "dot": lambda u, v: float(u @ v), "E": expected,
}  # fmt: skip


def scalar(rng: random.Random, depth: int, bound: str) -> Expression:
    """A random scalar; `bound` are the indices that are around."""
    if depth == 0 or rng.random() < 0.1:
        names = (
            ["eta", "mu", "L", "p", "N", "K", "G", "alpha", "lam"] + ["p_n"] * ("n" in bound) + ["k"] * ("k" in bound)
        )
        return Number(Fraction(rng.randint(1, 9))) if rng.random() < 0.3 else Name(rng.choice(names))
    kind = rng.choice(
        ["+", "-", "*", "/", "**", "neg", "call", "norm2", "norm", "dot", "f", "E", "over", "+", "-", "*", "/"]
    )
    if kind in ("+", "-", "*", "/"):
        return applied(kind, (scalar(rng, depth - 1, bound), scalar(rng, depth - 1, bound)))
    if kind == "neg":
        return applied("neg", (scalar(rng, depth - 1, bound),))
    if kind == "**":
        base = scalar(rng, depth - 1, bound)
        return applied("**", (base, Number(Fraction(rng.choice([2, 3])))))
    if kind == "call":
        name = rng.choice(["sqrt", "log", "exp", "abs", "min", "max"])
        count = rng.randint(2, 3) if name in ("min", "max") else 1
        return applied(name, tuple(scalar(rng, depth - 1, bound) for _ in range(count)))
    if kind in ("norm2", "norm"):
        return applied(kind, (vector(rng, depth - 1, bound),))
    if kind == "dot":
        return applied("dot", (vector(rng, depth - 1, bound), vector(rng, depth - 1, bound)))
    if kind == "f":
        names = ["f"] + ["f_n"] * ("n" in bound) + ["f_ni"] * ("n" in bound and "i" in bound)
        return applied(rng.choice(names), (vector(rng, depth - 1, bound),))
    if kind == "E":
        return applied("E", (scalar(rng, depth - 1, bound),))
    index = rng.choice("nik")
    how = rng.choice(["mean", "sum", "max", "min"])
    return applied(f"{how}_{index}", (scalar(rng, depth - 1, bound + index),))


def vector(rng: random.Random, depth: int, bound: str) -> Expression:
    """A random vector, likewise."""
    if depth <= 0 or rng.random() < 0.3:
        k = Name("k") if "k" in bound else Number(Fraction(1))
        found: list[Expression] = [
            Name("x0"),
            Name("xstar"),
            Name("a"),
            At("x", (k,)),
            At("x", (applied("+", (k, Number(Fraction(1)))),)),
        ]
        if "n" in bound:
            found += [Name("xstar_n"), Name("b_n"), At("h", (k,)), At("y", (k, Number(Fraction(2))))]
        return rng.choice(found)
    kind = rng.choice(["+", "-", "*", "/", "neg", "grad", "mean"])
    if kind in ("+", "-"):
        return applied(kind, (vector(rng, depth - 1, bound), vector(rng, depth - 1, bound)))
    if kind == "*":
        return applied("*", (scalar(rng, depth - 1, bound), vector(rng, depth - 1, bound)))
    if kind == "/":
        return applied("/", (vector(rng, depth - 1, bound), Name("L")))
    if kind == "neg":
        return applied("neg", (vector(rng, depth - 1, bound),))
    if kind == "grad":
        return applied("grad f_n" if "n" in bound else "grad f", (vector(rng, depth - 1, bound),))
    return applied("mean_n", (vector(rng, depth - 1, bound + "n"),))
