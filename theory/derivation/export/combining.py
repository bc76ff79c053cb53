"""Combinations of lines and squares, each under its means and expectations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from theory.derivation.export.forms import Lines, NotExportedError, block
from theory.derivation.export.scope import Line, Written
from theory.derivation.export.terms import (
    Bind,
    Ip,
    Nat,
    Pow,
    Term,
    count,
    name,
    nat_text,
    text_of,
    times,
)  # fmt: skip
from theory.sentence import (
    TURNS,
    parse_expression,
    read,
)

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof


def by_combination(derivation: Proof, one: Written, line: Line) -> Lines:
    goal = derivation.goal(line)
    parts = []
    for part in one.get("parts", ()):
        parts.append(over(derivation, part, partial(one_part, derivation, part, goal.relation), goal.relation))
    for square in one.get("squares", ()):
        parts.append(over(derivation, square, partial(squared, derivation, square), goal.relation))
    return derivation.close(goal, parts)


def one_part(derivation: Proof, part: Written, relation: str) -> tuple[Term, Lines, bool]:
    line = derivation.find(part["line"])
    said, proof = derivation.at(line, derivation.put_at(part.get("put", {})))
    return derivation.part(said, proof, derivation.expression(part.get("times", "1")), relation)


def squared(derivation: Proof, square: Written) -> tuple[Term, Lines, bool]:
    tree = parse_expression(square["of"])
    of = derivation.setting.term(tree, {**derivation.env, **derivation.fixed})
    vector = read(tree, derivation.setting.claim.vocabulary).shape == "vector"
    whole = Ip(of, of) if vector else Pow(of, count(2))
    by = derivation.expression(square.get("times", "1"))
    sign = derivation.signs.prove(by)
    if sign is None:
        raise NotExportedError(f"that {text_of(by)} is not negative is not exported yet")
    return (
        times(by, whole),
        ["apply Rmult_le_pos.", *block(sign), f"apply {'ip_nonneg' if vector else 'pow2_ge_0'}."],
        False,
    )


def over(derivation: Proof, part: Written, core: Any, relation: str) -> tuple[Term, Lines, bool]:
    """A part under its means and expectations, from the outside in."""
    kept = derivation.env
    opened: list[tuple[str, Nat | str, str]] = []
    try:
        for over in part.get("over", ()):
            if over == "E":
                if not derivation.setting.random:
                    continue
                var = derivation.setting.fresh("w", {**derivation.env, **derivation.fixed})
                opened.append(("E", "Pr", var))
                derivation.env = {**derivation.env, "w": name(var)}
            elif over == "mean_n":
                var = derivation.setting.fresh("n", {**derivation.env, **derivation.fixed})
                opened.append(("mean", name("N"), var))
                derivation.env = {**derivation.env, "n": name(var)}
            elif over == "mean_i":
                var = derivation.setting.fresh("i", {**derivation.env, **derivation.fixed})
                opened.append(("mean", name(f"samples {nat_text(derivation.env['n'])}"), var))
                derivation.env = {**derivation.env, "i": name(var)}
            elif over in ("sum_n", "sum_k", "mean_k", "sum_h", "mean_h", "sum_j", "mean_j"):
                how, index = over.split("_")
                var = derivation.setting.fresh(index, {**derivation.env, **derivation.fixed})
                bound = name("N") if index == "n" else {"K": name("K"), **derivation.env, **derivation.fixed}["K"]
                bound = derivation.turns_of_part(index, part) if index in TURNS else bound
                opened.append((how, bound, var))
                derivation.env = {**derivation.env, index: name(var)}
            else:
                raise NotExportedError(f"a part over {over} is not exported yet")
        term, lines, strict = core()
    finally:
        derivation.env = kept
    for kind, end, var in reversed(opened):
        term = Bind(kind, end, var, term)
        lt = derivation.normal.fresh("lt")
        if relation == "==":
            lines = [f"apply {kind}_eq_zero; intros {var} {lt}.", *lines]
        else:
            lines = [f"apply {kind}_nonneg;{' [counts|];' if kind == 'mean' else ''} intros {var} {lt}.", *lines]
        strict = False
    return term, lines, strict
