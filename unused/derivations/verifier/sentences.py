"""Reads the sentences of claims and the formulas of programs: text to trees, which are walked and never executed.

A sentence is ``left relation right``, such as ``E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar)``. Its
words: numbers, parameters, ``N d K``, the indices ``n i k h j``; states and taps ``x[k]``, ``y[k, h]``; the points ``x0
xstar xstar_n``; the functions ``f f_n f_ni``, ``grad(f_n, v)`` and ``fstar``; ``norm2 norm dot``; ``E(...)``; ``mean_n
sum_n max_n min_n`` and the same over ``i k h j``; ``first_n(...)``, that of the first client; ``simplex_n(c, q)``, a
weight of the point of the simplex at which sum_n(c*a_n + q*a_n**2) is least; ``argmin_n(q)``, the minimiser of
sum_n(q*f_n), and ``argmin_n(q, r)`` that over the ball of radius r around 0; ``quantile(e, q)``; ``sqrt log exp abs min
max``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .reading import MAX_TEXT, FormatError, shown, text_of

RELATIONS = ("<=", ">=", "==", "<", ">")
FUNCTIONS = {"f": "", "f_n": "n", "f_ni": "ni"}
POINTS = {"x0": "", "xstar": "", "xstar_n": "n"}
INDICES = ("n", "i", "k", "h", "j")
OVER = {f"{how}_{index}": (how, index) for how in ("mean", "sum", "max", "min") for index in "nikhj"}
OVER["first_n"] = ("first", "n")
ALL_CLIENTS = ("simplex_n", "argmin_n")
OF_VECTORS = {"norm2": 1, "norm": 1, "dot": 2, "coordinate": 1}
ONE_NUMBER = ("sqrt", "log", "exp", "abs")
SEVERAL_NUMBERS = ("min", "max")
WORDS = {
    *(*FUNCTIONS, *POINTS, *INDICES, *OVER, *OF_VECTORS, *ONE_NUMBER, *SEVERAL_NUMBERS, *ALL_CLIENTS),
    *("E", "grad", "fstar", "quantile"),
}
SIZES = ("N", "d", "K")
DEEPEST = 220
MOST_BRACKETS = 60
LONGEST_NUMBER = 1000
STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
UNARY = 3

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)|(?P<name>_[0-9]+|[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|==|[-+*/<>,()\[\]]))",
    re.ASCII,
)
INDEXED = re.compile(r"([A-Za-z][A-Za-z0-9_]*?)_(ni|n|i|k|h|j)")


@dataclass(frozen=True, eq=False)
class Node:
    """A tree: ``number`` (value), ``name``, ``at`` (a state or tap `name` at the indices `args`), or an operation.

    ``grad`` has the function's name in `name`. Trees are told apart by identity.
    """

    op: str
    args: tuple[Node, ...] = ()
    name: str = ""
    value: Fraction = Fraction(0)
    depth: int = 0


@dataclass(frozen=True, eq=False)
class Sentence:
    """``left relation right``."""

    left: Node
    relation: str
    right: Node
    text: str


def index_of(name: str) -> tuple[str, str]:
    """A parameter's name without its index, and the index: ``p_n`` is p of client n."""
    match = INDEXED.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def read_sentence(text: object, what: str) -> Sentence:
    """A sentence.

    Raises:
        FormatError: for other text.
    """
    reader = _Reader(text, what)
    left = reader.expression(1, 0)
    relation = reader.take()
    if relation not in RELATIONS:
        raise reader.refuse("one relation (< <= > >= ==) is needed")
    right = reader.expression(1, 0)
    reader.end()
    return Sentence(left, relation, right, reader.text.strip())


def read_formula(text: object, what: str, values: bool = False) -> Node:
    """A formula; with `values` one of a program, in which values go by names such as ``_7``."""
    reader = _Reader(text, what, values)
    tree = reader.expression(1, 0)
    reader.end()
    return tree


def read_call(text: object, what: str) -> tuple[str, tuple[Node, ...]] | None:
    """Name and arguments of text such as ``smooth(f_n, L)``; None for text that is no call of a further name."""
    match = re.match(r"\s*([a-z_]+)\s*\(", text_of(text, what))
    if match is None or match[1] in WORDS:
        return None
    reader = _Reader(text, what)
    reader.place = 2
    arguments = reader.arguments(0, bare=True)
    reader.end()
    return match[1], arguments


class _Reader:
    def __init__(self, text: object, what: str, values: bool = False) -> None:
        self.text, self.what, self.values, self.place = text_of(text, what), what, values, 0
        if len(self.text) > MAX_TEXT:
            raise self.refuse(f"it has more than {MAX_TEXT} characters")
        self.tokens: list[tuple[str, str]] = []
        position, stripped = 0, self.text.rstrip()
        while position < len(stripped):
            match = TOKEN.match(stripped, position)
            if match is None or match.lastgroup is None:
                raise self.refuse(f"{shown(stripped[position : position + 10])} is not allowed")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()

    def refuse(self, why: str) -> FormatError:
        return FormatError(f"{self.what} cannot be read, {why}: {shown(self.text)}")

    def peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def need(self, token: str) -> None:
        if self.take() != token:
            raise self.refuse(f"{token} is missing")

    def end(self) -> None:
        if self.place != len(self.tokens):
            raise self.refuse(f"{shown(self.peek() or 'its end')} is not expected")

    def node(self, op: str, args: tuple[Node, ...] = (), name: str = "", value: Fraction = Fraction(0)) -> Node:
        depth = 1 + max((a.depth for a in args), default=0)
        if depth > DEEPEST:
            raise self.refuse("it is nested too deeply")
        return Node(op, args, name, value, depth)

    def expression(self, least: int, brackets: int) -> Node:
        left = self.prefix(brackets)
        while (strength := STRENGTH.get(self.peek(), 0)) >= least:
            sign = self.take()
            # powers are taken from the right, everything else from the left
            right = self.expression(UNARY if sign == "**" else strength + 1, brackets + (sign == "**"))
            left = self.node(sign, (left, right))
        return left

    def prefix(self, brackets: int) -> Node:
        if brackets > MOST_BRACKETS:
            raise self.refuse("it is nested too deeply")
        kind, token = self.tokens[self.place] if self.place < len(self.tokens) else ("", "")
        self.place += 1
        if token in ("-", "+"):
            inner = self.expression(UNARY, brackets + 1)
            return self.node("neg", (inner,)) if token == "-" else inner
        if token == "(":
            inner = self.expression(1, brackets + 1)
            self.need(")")
            return inner
        if kind == "number":
            return self.node("number", value=self.number(token))
        if kind != "name":
            raise self.refuse(f"{shown(token or 'its end')} is not expected")
        if token.startswith("_") and not self.values:
            raise self.refuse(f"{token} is no name of a claim")
        if self.peek() == "(":
            return self.call(token, brackets)
        if self.peek() == "[":
            self.take()
            indices = [self.expression(1, brackets + 1)]
            while self.peek() == ",":
                self.take()
                indices.append(self.expression(1, brackets + 1))
            self.need("]")
            return self.node("at", tuple(indices), token)
        if token in WORDS and token not in POINTS and token not in INDICES and token != "fstar":
            raise self.refuse(f"{token} needs its arguments")
        return self.node("name", name=token)

    def number(self, token: str) -> Fraction:
        exponent = re.search(r"[eE]([+-]?[0-9]+)", token)
        if len(token) > LONGEST_NUMBER or (exponent and abs(int(exponent[1])) > LONGEST_NUMBER):
            raise self.refuse("a number is too long")
        if re.fullmatch(r"0[0-9]+", token):
            raise self.refuse("a number begins with 0")
        return Fraction(token)

    def arguments(self, brackets: int, bare: bool = False) -> tuple[Node, ...]:
        """What stands up to the closing bracket; with `bare` it may begin with the name of a function."""
        found: list[Node] = []
        if self.peek() == ")":
            self.take()
            return ()
        if bare and self.peek() in FUNCTIONS:
            found.append(self.node("function", name=self.take()))
        else:
            found.append(self.expression(1, brackets + 1))
        while self.peek() == ",":
            self.take()
            found.append(self.expression(1, brackets + 1))
        self.need(")")
        return tuple(found)

    def call(self, name: str, brackets: int) -> Node:
        self.take()
        if name == "grad":
            function = self.take()
            if function not in FUNCTIONS:
                raise self.refuse("a gradient is that of f, f_n or f_ni")
            self.need(",")
            return self.node("grad", self.fitting("grad", self.arguments(brackets), 1), function)
        arguments = self.arguments(brackets)
        if name in SEVERAL_NUMBERS:
            if len(arguments) < 2:
                raise self.refuse(f"{name} takes two or more arguments")
            return self.node(name, arguments)
        if name in OVER or name in FUNCTIONS or name in ONE_NUMBER or name == "E":
            return self.node(name, self.fitting(name, arguments, 1))
        if name in OF_VECTORS:
            return self.node(name, self.fitting(name, arguments, OF_VECTORS[name]))
        if name in ALL_CLIENTS or name == "quantile":
            count = 1 if name == "argmin_n" and len(arguments) == 1 else 2
            return self.node(name, self.fitting(name, arguments, count))
        raise self.refuse(f"{name} is no function")

    def fitting(self, name: str, arguments: tuple[Node, ...], count: int) -> tuple[Node, ...]:
        if len(arguments) != count:
            raise self.refuse(f"{name} takes {count} argument(s), not {len(arguments)}")
        return arguments


def everything(tree: Node) -> Iterator[Node]:
    """The tree and all its parts."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left += node.args


def names_in(tree: Node) -> set[str]:
    """All names that are no states, taps or functions."""
    return {node.name for node in everything(tree) if node.op == "name"}
