"""What is at most c with a probability, or a length on average, from what numbers and squares are on average."""

from __future__ import annotations

from dataclasses import replace

from theory.derivation.search.context import Context, Line, at_most
from theory.derivation.search.forms import Forms
from theory.derivation.search.strategies import bases
from theory.derivation.writing import jensen
from theory.formula import Apply
from theory.sentence import Expression, applied, parse_sentence, parts, text_of

_AROUND = ("E", "mean_n", "mean_i", "mean_k")


def with_a_chance(context: Context) -> list[Line] | None:
    """``quantile(q, 1 - p) <= c`` from ``E(q) <= p*c`` (Markov); of a length from its square."""
    claim, sides = context.claim, at_most(context.claim)
    if not context.first or sides is None:
        return None
    left, right = sides
    if not isinstance(left, Apply) or left.operation != "quantile":
        return None
    of, level = parts(left)
    length = isinstance(of, Apply) and of.operation == "norm"
    q = applied("norm2", parts(of)) if length and isinstance(of, Apply) else of
    c = _squared(right) if length else f"({text_of(right)})"
    p = context.forms.simplified(f"1 - ({text_of(level)})")
    mean = f"E({text_of(q)}) <= ({p})*{c}"
    lines = _by_any(context, mean)
    if lines is None:
        return None
    markov = {"name": "Markov", "sentence": f"quantile({text_of(q)}, 1 - ({p})) <= E({text_of(q)})/({p})",
              "by": "axiom", "schema": "markov", "of": [text_of(q), p]}  # fmt: skip
    parts_ = [{"line": "Markov"}, {"line": _MEAN, "times": f"1/({p})"}]
    if not length:
        last = {"name": claim.label, "sentence": claim.statement, "by": "combination", "parts": parts_}
        return [*lines, markov, last]
    v = text_of(parts(of)[0])
    squared = f"quantile(norm({v}), {text_of(level)})**2"
    same = {"name": "of the square", "sentence": f"{squared} == quantile(norm2({v}), {text_of(level)})",
            "by": "axiom", "schema": "quantile norm", "of": [v, text_of(level)]}  # fmt: skip
    square = {"name": "squares", "sentence": f"{squared} <= {c}", "by": "combination",
              "parts": [{"line": "of the square"}, *parts_]}  # fmt: skip
    return [*bases(context, right), *lines, markov, same, square, _root(context)]


def on_average(context: Context) -> list[Line] | None:
    """``E(norm(v)) <= c`` from ``E(norm2(v)) <= c**2``, and for means likewise (Jensen)."""
    sides = at_most(context.claim)
    if not context.first or sides is None:
        return None
    e, over = sides[0], list[str]()
    while isinstance(e, Apply) and e.operation in _AROUND:
        over.append(e.operation)
        e = parts(e)[0]
    if not over or not isinstance(e, Apply) or e.operation != "norm":
        return None
    c = _squared(sides[1])
    squares: Expression = applied("norm2", parts(e))
    for how in reversed(over):
        squares = applied(how, (squares,))
    lines = _by_any(context, f"{text_of(squares)} <= {c}")
    if lines is None:
        return None
    less, _ = jensen("less", text_of(parts(e)[0]), " ".join(over))
    low = f"({text_of(sides[0])})**2"
    square = {"name": "squares", "sentence": f"{low} <= {c}", "by": "combination",
              "parts": [{"line": less["name"]}, {"line": _MEAN}]}  # fmt: skip
    return [*bases(context, sides[1]), *lines, less, square, _root(context)]


_MEAN = "on average"


def _squared(e: Expression) -> str:
    """The square of a number, that of a root without it."""
    rooted = isinstance(e, Apply) and e.operation == "sqrt"
    return f"({text_of(parts(e)[0])})" if rooted and isinstance(e, Apply) else f"({text_of(e)})**2"


def _root(context: Context) -> Line:
    return {"name": context.claim.label, "sentence": context.claim.statement, "by": "root", "line": "squares"}


def _by_any(context: Context, statement: str) -> list[Line] | None:
    """Lines that end with another sentence, by any of the ways to a claim."""
    from theory.derivation.search.ways import STRATEGIES

    other = replace(context.claim, statement=str(parse_sentence(statement)), label=_MEAN, proof=None)
    forms = Forms(other)
    for plain, stage in ((True, 1), (False, 1)):
        inside = replace(context, claim=other, forms=forms, plain=plain, stage=stage)
        for _, way in STRATEGIES:
            try:
                lines = way(inside)
            except (ValueError, ArithmeticError, RecursionError):  # beyond what is read or written
                continue
            finally:
                context.used = inside.used
            if lines is not None:
                return [*lines[:-1], {**lines[-1], "sentence": other.statement}]
    return None
