"""The reader of sentences: text becomes trees, and nothing of it is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from theory.formula import DEEPEST, LONGEST_NUMBER, LONGEST_TEXT, Name, Number, short
from theory.sentence.trees import (
    ALL_CLIENTS,
    COORDINATE,
    FUNCTION_NAMES,
    NUMBERS_OF_VECTORS,
    OVER,
    SCALAR_FUNCTIONS,
    At,
    Expression,
    Relation,
    Sentence,
    SentenceError,
    applied,
)

_ARGUMENTS: Mapping[str, tuple[int, int]] = {
    **{name: (count, count) for name, count in NUMBERS_OF_VECTORS.items()},
    **ALL_CLIENTS,
    "quantile": (2, 2),
    COORDINATE: (1, 1),
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<open>[(\[])|(?P<close>[)\]])|(?P<other>\*\*|<=|>=|==|[-+*/<>,]))",
    re.ASCII,
)
_BINARY: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARISONS: Mapping[type[ast.cmpop], Relation] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
}  # fmt: skip
_INSTEAD = {"=": " (equality is written ==)", "^": " (powers are written **)", "\\": " (plain text, not LaTeX)"}


@lru_cache(4096)
def parse_sentence(text: str) -> Sentence:
    """The tree of ``left relation right``.

    Raises:
        SentenceError: for text that is no such thing, naming the text and the piece.
    """
    tree = _tree(text)
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        raise SentenceError(f"{short(text)} has {len(tree.ops)} relations: write a sentence for each")
    relation = _COMPARISONS.get(type(tree.ops[0])) if isinstance(tree, ast.Compare) else None
    if not isinstance(tree, ast.Compare) or relation is None:
        raise SentenceError(f"{short(text)} is no sentence: it has no relation (< <= > >= ==)")
    return Sentence(_convert(text, tree.left, 0), relation, _convert(text, tree.comparators[0], 0))


@lru_cache(4096)
def parse_expression(text: str) -> Expression:
    """The tree of one side, or of a definition.

    Raises:
        SentenceError: as `parse_sentence`.
    """
    return _convert(text, _tree(text), 0)


def parse_call(text: str) -> tuple[str, tuple[Expression, ...]] | None:
    """Name and arguments where the text is one call such as ``smooth(f_n, L)``; None where it is not.

    Raises:
        SentenceError: as `parse_sentence`.
    """
    tree = _tree(text)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.keywords:
        return None
    return tree.func.id, tuple(_convert(text, a, 0, bare=True) for a in tree.args)


def _tree(text: object) -> ast.expr:
    if not isinstance(text, str):
        raise SentenceError(f"{text!r} is not text")
    if len(text) > LONGEST_TEXT:
        raise SentenceError(f"{short(text)} has {len(text)} characters; the limit is {LONGEST_TEXT}")
    stripped = text.strip()
    if not stripped:
        raise SentenceError(f"{text!r} is empty")
    position = 0
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            piece = stripped[position:].strip()[0]
            raise SentenceError(f"{short(text)}: {piece!r} is not allowed{_INSTEAD.get(piece, '')}")
        if match["number"]:
            exponent = re.search(r"[eE]([+-]?[0-9]+)", match["number"])
            if len(match["number"]) > LONGEST_NUMBER or (exponent and abs(int(exponent[1])) > LONGEST_NUMBER):
                raise SentenceError(f"{short(text)}: the number {short(match['number'])} is too long or too large")
        position = match.end()
    try:
        return ast.parse(stripped, mode="eval").body
    except SyntaxError as error:
        rest = stripped[max(0, (error.offset or 1) - 1) :][:20]
        raise SentenceError(
            f"{short(text)} cannot be read {f'at {rest!r}' if rest else 'at its end'}: {error.msg}"
        ) from None
    except (RecursionError, MemoryError):
        raise SentenceError(f"{short(text)} is nested too deeply") from None


def _convert(text: str, node: ast.expr, depth: int, bare: bool = False) -> Expression:
    stripped = text.strip()
    piece = stripped[node.col_offset : node.end_col_offset]

    def refuse(why: str) -> SentenceError:
        return SentenceError(f"{short(text)}: {why}")

    if depth > DEEPEST:
        raise refuse(f"it is nested too deeply, at {short(piece)}")
    if isinstance(node, ast.Constant) and piece[0] in "0123456789.":
        return Number(Fraction(piece))
    if isinstance(node, ast.Name):
        if not bare and (node.id in OVER or node.id in FUNCTION_NAMES or node.id in ("E", "grad", *_ARGUMENTS)):
            raise refuse(f"{node.id} is a function and needs its arguments")
        if node.id in SCALAR_FUNCTIONS or node.id in NUMBERS_OF_VECTORS:
            raise refuse(f"{node.id} is a function and needs its arguments")
        return Name(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _convert(text, node.operand, depth + 1)
        return applied("neg", (inner,)) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        sides = (_convert(text, node.left, depth + 1), _convert(text, node.right, depth + 1))
        return applied(_BINARY[type(node.op)], sides)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return At(node.value.id, tuple(_convert(text, entry, depth + 1) for entry in entries))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name == "grad":
            if len(node.args) != 2 or not isinstance(node.args[0], ast.Name) or node.args[0].id not in FUNCTION_NAMES:
                raise refuse(f"{piece}: a gradient is written grad(f_n, v), of f, f_n or f_ni at one point")
            return applied(f"grad {node.args[0].id}", (_convert(text, node.args[1], depth + 1),))
        arguments = tuple(_convert(text, a, depth + 1) for a in node.args)
        one = name in OVER or name in FUNCTION_NAMES or name == "E"
        least, most = SCALAR_FUNCTIONS.get(name, (1, 1) if one else _ARGUMENTS.get(name, (0, 0)))
        if not one and name not in SCALAR_FUNCTIONS and name not in _ARGUMENTS:
            raise refuse(f"unknown function {name!r}" + ("; the natural logarithm is log" if name == "ln" else ""))
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise refuse(
                f"{name} takes {least if most == least else f'{least} or more'} argument(s), not {len(arguments)}"
            )
        return applied(name, arguments)
    if isinstance(node, ast.Compare):
        raise refuse(f"the relation {short(piece)} stands where one side is needed")
    raise refuse(f"{short(piece)} is not allowed")
