"""A claim's formulas in sympy, and whether they are sound. The formulas themselves are in `theory.formula`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from theory.formula import (
    REDUCTIONS,
    Formula,
    UndefinedError,
    fold,
    length,
    parse,
    parse_relation,
    power_too_large,
    short,
)

if TYPE_CHECKING:
    import sympy

    from theory.bound import Bound, Parameter


def symbol(parameter: Parameter) -> sympy.Symbol:
    """The parameter's sympy symbol: real, and positive, nonnegative or integer where the domain says so.

    Raises:
        ValueError: for a vector; formulas over vectors have no sympy form here.
    """
    import sympy

    if parameter.shape == "vector":
        raise ValueError(f"{parameter.name} is a vector; only scalar parameters have a sympy symbol")
    domain = parameter.domain
    assumptions: dict[str, bool] = {"real": True}
    if domain.integer:
        assumptions["integer"] = True
    if domain.lower is not None and domain.lower >= 0:
        positive = domain.lower > 0 or domain.lower_open
        assumptions["positive" if positive else "nonnegative"] = True
    return sympy.Symbol(parameter.name, **assumptions)


def to_sympy(formula: Formula, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """The tree in sympy.

    Raises:
        ValueError: for a name without a symbol, or a function of vectors.
        UndefinedError: when a constant piece has no real value, such as ``1/0``.
    """
    import sympy

    def name(key: str) -> sympy.Expr:
        if key not in symbols:
            raise ValueError(f"{key} has no scalar symbol")
        return symbols[key]

    def apply(operation: str, parts: tuple[sympy.Expr, ...]) -> sympy.Expr:
        if operation in REDUCTIONS:
            raise ValueError(f"{operation} of a vector has no sympy form here")
        if operation == "/" and parts[1].is_zero:
            raise UndefinedError("division by zero")
        if operation == "**" and power_too_large(parts[0].as_coeff_Mul()[0], parts[1]):
            raise ValueError("a power of a number is too large to be written out")
        result: sympy.Expr = {
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
            "/": lambda a, b: a / b,
            "**": lambda a, b: a**b,
            "neg": lambda a: -a,
            "sqrt": sympy.sqrt,
            "log": sympy.log,
            "exp": sympy.exp,
            "abs": sympy.Abs,
            "min": sympy.Min,
            "max": sympy.Max,
        }[operation](*parts)
        if result.has(sympy.I, sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise UndefinedError(f"{operation} of {', '.join(map(str, parts))} has no real value")
        return result

    return fold(formula, lambda v: sympy.Rational(v.numerator, v.denominator), name, apply)


def expression(text: str, claim: Bound) -> sympy.Expr:
    """A formula in the names of a claim's parameters and definitions as sympy, with the definitions put in.

    Raises:
        ValueError: when the text is not a formula in these names, or it uses vectors.
    """
    symbols: dict[str, sympy.Expr] = {p.name: symbol(p) for p in claim.parameters if p.shape == "scalar"}
    known = [p.name for p in claim.parameters] + list(claim.definitions)
    needed = claim.formulas.names_used([parse(text, known)])
    try:
        for name, definition in claim.definitions.items():
            if name in needed:
                symbols[name] = to_sympy(parse(definition), symbols)
        return to_sympy(parse(text), symbols)
    except ValueError as error:
        raise type(error)(f"{claim.id}: formula {short(text)}: {error}") from None


def right_side(claim: Bound) -> sympy.Expr:
    """The claim's right side as sympy, with the definitions put in.

    Raises:
        ValueError: when the claim has none, or it is a function of vectors.
    """
    if claim.right is None:
        raise ValueError(f"{claim.id} has no right side; read its statement")
    return expression(claim.right, claim)


def check(claim: Bound) -> None:
    """Check that every formula of a claim parses, uses known names only and has the right shape.

    Looks at the definitions (each may use the parameters and the earlier ones), the right side, and the relations of
    the hypotheses.

    Raises:
        ValueError: naming the claim and the formula.
    """
    # a vector of one entry stands for all vectors
    shapes: dict[str, int | None] = {p.name: 1 if p.shape == "vector" else None for p in claim.parameters}
    text = ""
    try:
        for name, text in claim.definitions.items():
            shapes[name] = length(parse(text, shapes), shapes)
        if claim.right is not None:
            text = claim.right
            if length(parse(text, shapes), shapes) is not None:
                raise ValueError(f"formula {short(text)} is a vector, not a number")
        for hypothesis in claim.conditions:
            if hypothesis.relation is not None:
                text = hypothesis.relation
                for side in parse_relation(text, shapes).sides:
                    length(side, shapes)
    except ValueError as error:
        inside = "" if short(text) in str(error) else f"formula {short(text)}: "
        raise ValueError(f"{claim.id}: {inside}{error}") from None
