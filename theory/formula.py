"""Formulas: ASCII text to a small tree.

A formula is built of integers, decimals (exact: ``0.1`` is 1/10), names, ``+ - * / **``, parentheses, the functions
``sqrt log exp abs min max``, and, over vectors, ``sum mean amax amin``; arithmetic between vectors is elementwise
(``sum(alpha*z) + lam*sum(alpha**2/n)``). Text is read by Python's `ast` and never executed. What the tree means is
decided by whoever folds it: sympy in `theory.expression`, Fractions and balls in `theory.arithmetic`, float64 in
`theory.floats`.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeVar

REDUCTIONS = frozenset({"sum", "mean", "amax", "amin"})
Takes: TypeAlias = "tuple[int, int | None]"
"""The numbers of arguments of a function, at least and at most; None where there is no limit."""
SCALAR_FUNCTIONS: Mapping[str, Takes] = {
    **dict.fromkeys(("sqrt", "log", "exp", "abs"), (1, 1)),
    "min": (2, None),
    "max": (2, None),
}
FUNCTIONS: Mapping[str, Takes] = {**SCALAR_FUNCTIONS, **dict.fromkeys(sorted(REDUCTIONS), (1, 1))}
LONGEST_TEXT = 5000
DEEPEST = 200  # nested operations; a sum of 200 terms is 199 deep
LARGEST_EXPONENT = 10_000  # of an exponent that is written as a number
LARGEST_POWER_BITS = 10**6  # of a number raised to a number
LONGEST_NUMBER = 1000  # digits, and decimal exponent

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
}


class UndefinedError(ValueError):
    """The formula has no real value there, such as a division by zero."""


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter or a definition."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation (``+ - * / **``, ``neg``, or one of `FUNCTIONS`) on its arguments."""

    operation: str
    arguments: tuple[Formula, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # dictionaries by trees ask for it at every level: without it they would go through all that is below
        object.__setattr__(self, "_hash", hash((self.operation, self.arguments)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Apply], tuple[str, tuple[Formula, ...]]]:
        return Apply, (self.operation, self.arguments)  # text has another hash in another process


Formula: TypeAlias = Number | Name | Apply
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain of relations: ``sides[i] operators[i] sides[i+1]`` for every i."""

    sides: tuple[Formula, ...]
    operators: tuple[str, ...]


def parse(text: str, names: Collection[str] | None = None) -> Formula:
    """The tree of a formula.

    Args:
        text: the formula.
        names: the names that may be used; None allows all.

    Raises:
        ValueError: naming the text and the piece that is not allowed or not known.
    """
    formula = _parse(_READER.checked(text))
    _check_names(text, formula, names)
    return formula


def parse_relation(text: str, names: Collection[str] | None = None) -> Comparison:
    """The two or more sides of a relation such as ``0 < delta < 1/(2*L)``. Arguments and errors as for `parse`."""
    comparison = _parse_relation(_READER.checked(text))
    for side in comparison.sides:
        _check_names(text, side, names)
    return comparison


def fold(
    formula: Formula,
    number: Callable[[Fraction], T],
    name: Callable[[str], T],
    apply: Callable[[str, tuple[T, ...]], T],
) -> T:
    """The value of a tree, given those of its leaves and the meaning of the operations."""
    if isinstance(formula, Number):
        return number(formula.value)
    if isinstance(formula, Name):
        return name(formula.name)
    return apply(formula.operation, tuple([fold(a, number, name, apply) for a in formula.arguments]))


def names_in(formula: Formula | Comparison) -> frozenset[str]:
    """All names that occur."""
    if isinstance(formula, Comparison):
        return frozenset[str]().union(*map(names_in, formula.sides))
    found, left = [], [formula]
    while left:
        part = left.pop()
        if type(part) is Name:
            found.append(part.name)
        elif type(part) is Apply:
            left += part.arguments
    return frozenset(found)


def text_of(formula: Formula) -> str:
    """The formula as text, in full parentheses; `parse` gives the same tree back, but for fractions and signs."""

    def apply(operation: str, parts: tuple[str, ...]) -> str:
        if operation == "neg":
            return f"(-{parts[0]})"
        if operation in FUNCTIONS:
            return f"{operation}({', '.join(parts)})"
        return f"({parts[0]} {operation} {parts[1]})"

    return fold(formula, lambda v: str(v) if v.denominator == 1 else f"({v})", str, apply)


def length(formula: Formula, lengths: Mapping[str, int | None]) -> int | None:
    """How many entries the value has, None for a number.

    Args:
        formula: the tree.
        lengths: those of the names; names that are missing are numbers.

    Raises:
        ValueError: when vectors of different lengths meet, or `sum` and the like are given a number.
    """
    if isinstance(formula, Number):
        return None
    if isinstance(formula, Name):
        return lengths.get(formula.name)
    found = [(length(a, lengths), a) for a in formula.arguments]
    vectors = [(size, a) for size, a in found if size is not None]
    if formula.operation in REDUCTIONS:
        if not vectors:
            raise ValueError(f"{formula.operation} takes a vector, and {text_of(formula.arguments[0])} is a number")
        return None
    for size, a in vectors[1:]:
        if size != vectors[0][0]:
            raise ValueError(
                f"{text_of(vectors[0][1])} and {text_of(a)} are used together and have lengths "
                f"{vectors[0][0]} and {size}"
            )
    return vectors[0][0] if vectors else None


def short(text: str) -> str:
    """A text in quotes, as messages show it."""
    return repr(text if len(text) <= 200 else f"{text[:100]} ... {text[-60:]}")


def _check_names(text: str, formula: Formula, names: Collection[str] | None) -> None:
    if names is None:
        return
    unknown = sorted(names_in(formula) - set(names))
    if unknown:
        raise ValueError(f"formula {short(text)}: unknown name {unknown[0]!r}; known are {', '.join(names) or 'none'}")


class Reader:
    """Text as trees, by way of Python's own, of which nothing is executed; what follows is of one language.

    Attributes:
        error: what is raised for text that cannot be read.
        called: what such a text is called in a message, with a space; or nothing.
        needed: what stands where a relation may not.
        first: the characters with which names begin, as in a regular expression.
        open, close: kinds of parentheses, as in a regular expression.
        functions: what takes arguments, and how many.
        known: of them, told to who calls another; or nothing.
        largest: of exponents that are numbers; None where any may be read.
        signs: what is written instead of characters that are not allowed, in parentheses after a space.
        between: what is written instead of words that stand between two operands, or before one, after a semicolon.
    """

    error: type[ValueError] = ValueError
    called = "formula "
    needed = "a number"
    first = "A-Za-z_"
    open, close = "(", ")"
    functions: Mapping[str, Takes] = FUNCTIONS
    known = f"; known are {', '.join(sorted(FUNCTIONS))}"
    largest: int | None = LARGEST_EXPONENT
    signs: Mapping[str, str] = {
        "=": " (equality is written ==)",
        "^": " (powers are written **)",
        "|": " (the absolute value is abs(a))",
        "!": " (relations are < <= > >= ==)",
        "\\": " (a formula is plain text, such as 2*R2/(mu*k), not LaTeX)",
    }
    between: Mapping[str, str] = {}

    def unknown(self, name: str) -> str:
        """What to write instead of a function that is not known."""
        return f"{self.known}; the natural logarithm is log" if name == "ln" else self.known

    def unread(self, text: str) -> str:
        """What to write instead of a text that is no expression, where that is seen."""
        return ""

    def refusal(self, text: str, why: str) -> ValueError:
        """That a text is not read, and why."""
        return self.error(f"{self.called}{short(text)}{why}")

    def other(self, text: str, node: ast.expr, depth: int) -> Formula | None:
        """What else the language has; None for what it has not."""
        return None

    def checked(self, text: object) -> str:
        """The text, where it is one."""
        if not isinstance(text, str):
            raise self.error(f"{self.called}{text!r} is not text")
        return text

    def python(self, text: object) -> ast.expr:
        """Python's tree of a text, after the tokens have been looked at."""
        text = self.checked(text)
        if len(text) > LONGEST_TEXT:
            raise self.refusal(text, f" has {len(text)} characters; the limit is {LONGEST_TEXT}")
        stripped = text.strip()
        if not stripped:
            raise self.error(f"{self.called}{text!r} is empty")
        keyword_ = ""
        position, before, before_kind, token = 0, "", None, _token(self.first, self.open, self.close)
        while position < len(stripped):
            match = token.match(stripped, position)
            if match is None:
                piece = stripped[position:].strip()[0]
                hint = "" if piece.isascii() else " (write it in ASCII characters, such as <= and mu)"
                raise self.refusal(text, f": {piece!r} is not allowed{self.signs.get(piece, hint)}")
            kind, here = match.lastgroup, match[match.lastgroup or 0]
            operand_ended = before_kind in ("number", "name", "close")
            if operand_ended and (kind in ("number", "name") or (kind == "open" and before_kind != "name")):
                hint = self.between.get(here, self.between.get(before, ""))
                raise self.refusal(text, f": an operator is missing between {before!r} and {here!r}{hint}")
            if kind == "name" and keyword.iskeyword(here):
                keyword_ = keyword_ or here
            if kind == "number":
                exponent = re.search(r"[eE]([+-]?[0-9]+)", here)
                if len(here) > LONGEST_NUMBER or (exponent and abs(int(exponent[1])) > LONGEST_NUMBER):
                    raise self.refusal(text, f": the number {short(here)} is too long or too large")
            position, before, before_kind = match.end(), here, kind
        try:
            return ast.parse(stripped, mode="eval").body
        except SyntaxError as error:
            rest = stripped[max(0, (error.offset or 1) - 1) :][:20]
            place = f"at {rest!r}" if rest else "at its end"
            why = f"{error.msg}{self.unread(text)}"
            if keyword_:
                other = "write lam" if keyword_ == "lambda" else "take another one"
                why = f"{keyword_} is a word of Python, and can be no name; {other}"
            raise self.refusal(text, f" cannot be read {place}: {why}") from None
        except (RecursionError, MemoryError):
            raise self.refusal(text, " is nested too deeply") from None

    def relation(self, text: str) -> tuple[list[ast.expr], list[str]]:
        """The sides of a chain of relations, and what stands between them; one side where there is none."""
        tree = self.python(text)
        if not isinstance(tree, ast.Compare):
            return [tree], []
        return [tree.left, *tree.comparators], [_COMPARISONS[type(op)] for op in tree.ops]  # no other has a token

    def tree(self, text: str, node: ast.expr, depth: int = 0) -> Formula:
        """The tree of a part of a text."""
        piece = text.strip()[node.col_offset : node.end_col_offset]
        if depth > DEEPEST:
            raise self.refusal(text, f" is nested too deeply, at {short(piece)}")
        if isinstance(node, ast.Constant) and piece[0] in "0123456789.":  # not True or None
            return Number(Fraction(piece))
        if isinstance(node, ast.Name):
            if node.id in self.functions:
                raise self.refusal(text, f": {node.id} is a function and needs its arguments")
            return Name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self.tree(text, node.operand, depth + 1)
            return Apply("neg", (inner,)) if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            both = self.tree(text, node.left, depth + 1), self.tree(text, node.right, depth + 1)
            if isinstance(node.op, ast.Pow) and self.largest is not None and _exceeds(both[1], self.largest):
                raise self.refusal(text, f": the power {short(piece)} is too large")
            return Apply(_BINARY[type(node.op)], both)
        found = self.other(text, node, depth)
        if found is not None:
            return found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            name, given = node.func.id, len(node.args)
            if name not in self.functions:
                raise self.refusal(text, f": unknown function {name!r}{self.unknown(name)}")
            least, most = self.functions[name]
            if given < least or (most is not None and given > most):
                wanted = str(least) if most == least else f"{least} or more"
                raise self.refusal(text, f": {name} takes {wanted} argument(s), not {given}")
            return Apply(name, tuple([self.tree(text, a, depth + 1) for a in node.args]))
        if isinstance(node, ast.Compare):
            raise self.refusal(text, f": the relation {short(piece)} stands where {self.needed} is needed")
        if isinstance(node, ast.Tuple):
            raise self.refusal(text, f": a list {short(piece)} stands where {self.needed} is needed")
        raise self.refusal(text, f": {short(piece)} is not allowed")


@lru_cache
def _token(first: str, opening: str, closing: str) -> re.Pattern[str]:
    return re.compile(
        r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
        rf"|(?P<name>[{first}][A-Za-z0-9_]*)"
        rf"|(?P<open>[{re.escape(opening)}])|(?P<close>[{re.escape(closing)}])|(?P<other>\*\*|<=|>=|==|[-+*/<>,]))",
        re.ASCII,
    )


_READER = Reader()


@lru_cache(maxsize=4096)
def _parse(text: str) -> Formula:
    return _READER.tree(text, _READER.python(text))


@lru_cache(maxsize=4096)
def _parse_relation(text: str) -> Comparison:
    sides, operators = _READER.relation(text)
    if not operators:
        raise ValueError(f"formula {short(text)} is not a relation (< <= > >= ==)")
    return Comparison(tuple(_READER.tree(text, side, 1) for side in sides), tuple(operators))


def _exceeds(exponent: Formula, largest: int) -> bool:
    """Whether an exponent is a number that only serves to exhaust memory."""
    if names_in(exponent):
        return False
    try:
        value: Fraction = fold(exponent, lambda v: v, lambda _: Fraction(0), _constant)
    except OverflowError:
        return True
    except (ValueError, ZeroDivisionError):
        return False  # irrational or undefined: found out when it is evaluated
    return abs(value) > largest


def _constant(operation: str, parts: tuple[Fraction, ...]) -> Fraction:
    if operation == "**":
        if parts[1].denominator != 1:
            raise ValueError("not an integer power")
        if power_too_large(*parts):
            raise OverflowError
    if operation not in _RATIONAL:
        raise ValueError(f"{operation} is not rational")
    return _RATIONAL[operation](*parts)


_RATIONAL: Mapping[str, Callable[..., Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: Fraction(a**b),
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
}


def power_too_large(base: object, exponent: object) -> bool:
    """Whether a rational (Fraction or sympy) to an integer power has more than `LARGEST_POWER_BITS` bits."""
    try:
        b = Fraction(int(base.numerator), int(base.denominator))  # type: ignore[attr-defined]
        e = Fraction(int(exponent.numerator), int(exponent.denominator))  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        return False
    bits = max(abs(b.numerator), b.denominator).bit_length()
    return abs(b) not in (0, 1) and e.denominator == 1 and bits * abs(e) > LARGEST_POWER_BITS
