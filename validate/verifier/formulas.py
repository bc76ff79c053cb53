"""Formulas: parsed into a syntax tree that is walked, never executed; evaluated in exact fractions.

Where a formula takes a square root that is no fraction, an exponential or a logarithm, its value is an interval (see
`intervals`).
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .functions import Function
from .intervals import PRECISION, Interval, OutsideDomain, certainly, exponential, greatest, least, logarithm, root
from .reading import MAX_TEXT, FormatError, bits, shown, text_of
from .vectors import Vector

MAX_EXPONENT = 50_000
MAX_BITS = 400_000  # of a numerator or denominator in a formula
MAX_ALL_BITS = 20_000_000  # of all of them in one formula


class Uncheckable(Exception):
    """Something in the certificate cannot be computed from its instance."""


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


def parse(formula: Any, name: str) -> ast.expr:
    """A formula as a syntax tree, which `evaluate` walks; nothing in it is ever executed."""
    text = text_of(formula, name)
    if len(text) > MAX_TEXT or not re.fullmatch(r"[A-Za-z0-9_+\-*/(), <>=]+", text):
        raise FormatError(f"{name} is not a formula: {shown(text)}")
    text = re.sub(r"(?<![<>=])=(?!=)", "==", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormatError(f"{name} is not a formula: {shown(text)}") from None


# What the formulas of claims are made of; the verifier itself cannot compute abs and mean.
ONE_ARGUMENT = ("sqrt", "exp", "log", "abs", "sum", "mean", "amax", "amin")
SEVERAL = ("min", "max")


def definition(formula: Any, name: str) -> ast.expr:
    """A definition as a syntax tree. It has to be a formula to its end, also where nothing asks for its value."""
    tree = parse(formula, name)
    left = [tree]
    while left:
        match left.pop():
            case ast.Constant(value=int() as i) if not isinstance(i, bool):
                pass
            case ast.Name():
                pass
            case ast.UnaryOp(op=ast.USub(), operand=x):
                left.append(x)
            case ast.BinOp(left=x, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=y):
                left += [x, y]
            case ast.Call(func=ast.Name(id=f), args=args, keywords=[]) if f in ONE_ARGUMENT and len(args) == 1:
                left += args
            case ast.Call(func=ast.Name(id=f), args=args, keywords=[]) if f in SEVERAL and len(args) > 1:
                left += args
            case _:
                raise FormatError(f"{name} is not a formula: {shown(formula)}")
    return tree


def evaluate(tree: ast.expr, names: Callable[[str], Any], roots: bool = False) -> Any:
    """The value of a formula of + - * / ** min max, integers and names, in fractions (or functions of j).

    With `roots` also of sqrt, exp and log; the value is then a fraction or an interval. A name may
    stand for a vector, of which sum, amax and amin make a number.
    """

    spent = 0

    def value(node: ast.expr) -> Any:
        nonlocal spent
        result: Any
        match node:
            case ast.Constant(value=int() as i) if not isinstance(i, bool):
                result = Fraction(i)
            case ast.Name(id=name):
                result = names(name)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                result = -value(x)
            case ast.BinOp(left=x, op=ast.Add(), right=y):
                result = value(x) + value(y)
            case ast.BinOp(left=x, op=ast.Sub(), right=y):
                result = value(x) - value(y)
            case ast.BinOp(left=x, op=ast.Mult(), right=y):
                result = value(x) * value(y)
            case ast.BinOp(left=x, op=ast.Div(), right=y):
                result = value(x) / value(y)
            case ast.BinOp(left=x, op=ast.Pow(), right=y):
                result = power(value(x), value(y))
            case ast.Call(func=ast.Name(id="min" | "max" as f), args=[_, _, *_] as args, keywords=[]):
                values = [value(x) for x in args]
                if any(isinstance(v, Function) for v in values):
                    raise Uncheckable("min and max of functions of j")
                if any(isinstance(v, Interval) for v in values):
                    result = least(values) if f == "min" else greatest(values)
                else:
                    result = min(values) if f == "min" else max(values)
            case ast.Call(func=ast.Name(id="sqrt" | "exp" | "log" as f), args=[x], keywords=[]) if roots:
                result = {"sqrt": root, "exp": exponential, "log": logarithm}[f](value(x))
            case ast.Call(func=ast.Name(id="sum" | "amax" | "amin" as f), args=[x], keywords=[]):
                vector = value(x)
                if not isinstance(vector, Vector):
                    raise Uncheckable(f"{f} of what is no vector")
                result = {"sum": vector.total, "amax": vector.greatest, "amin": vector.least}[f]
            case _:
                raise FormatError(f"not one of + - * / ** min max in a formula: {shown(ast.unparse(node))}")
        match result:
            case Fraction():
                spent += bits(result)
            case Function():
                spent += len(result.top) + len(result.bottom)
            case Interval():
                spent += PRECISION
            case Vector():
                spent += sum(map(bits, result.entries))
        if (isinstance(result, Fraction) and bits(result) > MAX_BITS) or spent > MAX_ALL_BITS:
            raise FormatError("the numbers in a formula grow too long")
        return result

    try:
        return value(tree)
    except ZeroDivisionError:
        raise Uncheckable("a formula divides by zero, or by what may be zero") from None
    except OutsideDomain as reason:
        raise Uncheckable(str(reason)) from None
    except TypeError:
        raise Uncheckable("a formula that is not defined for vectors") from None
    except RecursionError:
        raise FormatError("a formula is nested too deeply") from None


def power(base: Any, exponent: Any) -> Any:
    """base**exponent, for an integer exponent that leaves the result short."""
    if not isinstance(exponent, Fraction) or exponent.denominator != 1:
        raise Uncheckable("an exponent that is not an integer")
    size = abs(int(exponent))
    if size > MAX_EXPONENT or (isinstance(base, Fraction) and size * bits(base) > MAX_BITS):
        raise FormatError(f"an exponent that is too large: {shown(exponent)}")
    if isinstance(base, Function | Interval) and size > 100:
        raise FormatError(f"an exponent of a function or an interval that is too large: {shown(exponent)}")
    return base ** int(exponent)


def relation_holds(relation: str, look: Callable[[str], Any], j0: int = 1, roots: bool = False) -> bool:
    """Whether a relation such as "0 < delta < 1/(2*L)" holds (for all j >= j0, where its sides depend on j).

    Between intervals it holds only if it does so with certainty.
    """
    tree = parse(relation, "a hypothesis")
    if not isinstance(tree, ast.Compare):
        raise FormatError(f"a hypothesis is not a relation: {shown(relation)}")
    sides = [evaluate(side, look, roots) for side in (tree.left, *tree.comparators)]
    signs = {ast.LtE: "<=", ast.Lt: "<", ast.Eq: "=", ast.GtE: ">=", ast.Gt: ">"}
    if any(isinstance(side, Vector) for side in sides):
        raise Uncheckable("a relation between vectors")
    for left, op, right in zip(sides, tree.ops, sides[1:], strict=False):
        if type(op) not in signs:
            raise FormatError(f"a hypothesis holds an unknown relation: {shown(relation)}")
        sign = signs[type(op)]
        if isinstance(left, Function) or isinstance(right, Function):
            gap = Function.of(left - right if sign in (">=", ">") else right - left)
            holds = not any(gap.top) if sign == "=" else gap.never_negative(j0, strictly=sign in ("<", ">"))
        else:
            holds = certainly(left, sign, right)
        if not holds:
            return False
    return True


def lookup(
    values: Mapping[str, Any],
    definitions: Any = None,
    otherwise: Callable[[str], Any] = lambda name: None,
    roots: bool = False,
) -> Callable[[str], Any]:
    """Looks names up in `values`, then among the definitions (formulas by name), then by `otherwise` (None: none)."""
    formulas = {} if definitions is None else definitions
    if not isinstance(formulas, dict) or len(formulas) > 100:
        raise FormatError("definitions is not an object of formulas")
    twice = [name for name in formulas if name in values]
    if twice:
        raise FormatError(f"names that have a value and a definition: {shown(twice)}")
    trees = {name: definition(formula, f"definition of {shown(name)}") for name, formula in formulas.items()}
    found: dict[str, Any] = dict(values)
    started: list[str] = []

    def look(name: str) -> Any:
        if name not in found:
            if name in trees and name not in started:
                started.append(name)
                found[name] = evaluate(trees[name], look, roots)
            else:
                found[name] = otherwise(name)
            if found[name] is None:
                del found[name]
                raise Uncheckable(f"the name {shown(name)} has no value")
        return found[name]

    return look
