"""Sentences of claims: left, relation, right, read by our own reader and executed by nobody.

The language is that of `theory.formula`, and beside it states and taps ``x[k]``, ``y[k, h]``; points ``x0 xstar
xstar_n``; functions ``f f_n f_ni``, their gradients ``grad(f_n, v)``; ``norm2 norm dot``; expectations ``E(...)``; and
``mean_n sum_n max_n min_n`` with their like over samples (``_i``), rounds (``_k``), turns of a loop (``_h``) and of a
loop inside it (``_j``). An index is a number too: ``sum_j((M - 1 - j)*norm2(v[k, h, j]))``. ``first_n(...)`` is that of
the first client, of whom a claim about "client i" speaks; ``simplex_n(c_n, q_n)`` the weight of client n in the point
of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least; ``argmin_n(q_n)`` the minimiser of sum_n(q_n*f_n),
with a second argument that over the ball of this radius around 0;
``quantile(e, q)`` the least number that e exceeds with probability at most 1 - q.

``past[k, j]`` is what a state that remembers vectors has j rounds back, and ``alpha_j`` its weight in ``combine``: sums
over h and j in which no tap has the index are over what is remembered.

What a tree means on an instance is decided by a `World`; `evaluate` folds the tree with it. Free indices are for all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol, TypeAlias, cast

from theory.formula import DEEPEST, LONGEST_NUMBER, LONGEST_TEXT, Apply, Formula, Name, Number, UndefinedError, short
from theory.operations import UndecidedError
from theory.program import STACKS, work

Relation = Literal["<=", "<", ">=", ">", "=="]
RELATIONS: tuple[Relation, ...] = ("<=", "<", ">=", ">", "==")
INDICES = ("n", "i", "k", "h", "j")
TURNS = ("h", "j")
"""Of a loop, and of a loop inside it; of remembered vectors, where no tap has them."""
FUNCTION_NAMES = ("f", "f_n", "f_ni")
OVER = {f"{how}_{index}": (how, index) for how in ("mean", "sum", "max", "min") for index in "nikhj"}
OVER["first_n"] = ("first", "n")
"""What is taken over an index, as ``mean_n``: how, and the index."""
ALL_CLIENTS = {"simplex_n": (2, 2), "argmin_n": (1, 2)}
"""What needs its arguments at all clients, and how many there are, at least and at most."""
NUMBERS_OF_VECTORS = {"norm2": 1, "norm": 1, "dot": 2}
SCALAR_FUNCTIONS: Mapping[str, tuple[int, int | None]] = {
    **dict.fromkeys(("sqrt", "log", "exp", "abs"), (1, 1)),
    "min": (2, None),
    "max": (2, None),
}
COORDINATE = "coordinate"
"""Of a vector, any of its coordinates: in lines of derivations only."""
POINTS = {"x0": "", "xstar": "", "xstar_n": "n"}
SPECIAL = frozenset(
    {
        *("fstar", "N", "d", "K", "E", "grad", "quantile"),
        *(*INDICES, *POINTS, *FUNCTION_NAMES, *OVER, *ALL_CLIENTS, *NUMBERS_OF_VECTORS, COORDINATE),
    }
)
_ARGUMENTS: Mapping[str, tuple[int, int]] = {
    **{name: (count, count) for name, count in NUMBERS_OF_VECTORS.items()},
    **ALL_CLIENTS,
    "quantile": (2, 2),
    COORDINATE: (1, 1),
}
_OF_NUMBERS = frozenset({"+", "-", "*", "/", "**", "neg", *SCALAR_FUNCTIONS})
"""Operations on numbers; the first of them on vectors too."""
INTEGERS = frozenset({"H", "S", "m", "b", "N", "d", "K", "J"})
"""Parameters that are integers, at least 1, wherever they occur."""

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


class SentenceError(ValueError):
    """A sentence that cannot be read, or says nothing."""


@dataclass(frozen=True, slots=True)
class At:
    """A state or a tap at its indices: ``x[k+1]``, ``y[k, h]``."""

    name: str
    indices: tuple[Expression, ...]


Expression: TypeAlias = Number | Name | Apply | At


@dataclass(frozen=True)
class Sentence:
    """``left relation right``."""

    left: Expression
    relation: Relation
    right: Expression

    def __str__(self) -> str:
        return f"{text_of(self.left)} {self.relation} {text_of(self.right)}"


@lru_cache(4096)
def parse_sentence(text: str) -> Sentence:
    """The tree of ``left relation right``.

    Raises:
        SentenceError: for text that is no such thing, naming the text and the piece.
    """
    tree = _tree(text)
    if not isinstance(tree, ast.Compare):
        raise SentenceError(f"{short(text)} is no sentence: it has no relation (< <= > >= ==)")
    if len(tree.ops) > 1:
        raise SentenceError(f"{short(text)} has {len(tree.ops)} relations: write a sentence for each")
    return Sentence(
        _convert(text, tree.left, 0), _COMPARISONS[type(tree.ops[0])], _convert(text, tree.comparators[0], 0)
    )


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


# --- trees -----------------------------------------------------------------------------------------------------------


def parts(e: Expression) -> tuple[Expression, ...]:
    """The direct parts of a tree."""
    kind = type(e)
    if kind is Apply:
        return e.arguments  # type: ignore[union-attr]
    return e.indices if kind is At else ()  # type: ignore[union-attr]


def applied(operation: str, arguments: tuple[Expression, ...]) -> Apply:
    """The tree of an operation on trees."""
    return Apply(operation, cast("tuple[Formula, ...]", arguments))


def everything(e: Expression) -> Iterator[Expression]:
    """The tree and all its parts."""
    left = [e]
    while left:
        part = left.pop()
        yield part
        left += parts(part)[::-1]


def replaced(e: Expression, new: Mapping[str, Expression]) -> Expression:
    """The tree with names replaced by trees."""
    if isinstance(e, Name):
        return new.get(e.name, e)
    if isinstance(e, Apply):
        return applied(e.operation, tuple(replaced(a, new) for a in parts(e)))
    if isinstance(e, At):
        return At(e.name, tuple(replaced(a, new) for a in e.indices))
    return e


_STRENGTH = {"+": 1, "-": 1, "neg": 2, "*": 3, "/": 3, "**": 5}


def text_of(e: Expression, outer: int = 0) -> str:
    """As text, with the parentheses that it needs; `parse_expression` gives the same tree back, but for fractions."""
    if isinstance(e, Number):
        text = str(e.value)
        return f"({text})" if (e.value.denominator != 1 and outer > 3) or e.value < 0 else text
    if isinstance(e, Name):
        return e.name
    if isinstance(e, At):
        return f"{e.name}[{', '.join(text_of(i) for i in e.indices)}]"
    own = _STRENGTH.get(e.operation)
    if own is None:
        name, _, function = e.operation.partition(" ")
        inner = ", ".join(text_of(a) for a in parts(e))
        return f"{name}({function}, {inner})" if function else f"{name}({inner})"
    if e.operation == "neg":
        text = f"-{text_of(parts(e)[0], 4)}"
    else:
        left = text_of(parts(e)[0], own + (e.operation == "**"))
        right = text_of(parts(e)[1], own + (e.operation in ("-", "/")))
        text = f"{left}{f' {e.operation} ' if e.operation in '+-' else e.operation}{right}"
    return f"({text})" if own < outer else text


# --- what a tree speaks of -------------------------------------------------------------------------------------------

Shape = Literal["scalar", "vector"]


@dataclass(frozen=True)
class Vocabulary:
    """The names that a sentence may use.

    Attributes:
        states: kinds of the state variables by name, as in `theory.program.Kind`.
        taps: by name, the kind and how many loops are around.
        vectors: free vectors (``"x"``, ``"a_n"``).
        definitions: trees by name, without definitions in them.
        numbers: names that are parameters for certain (an algorithm's); others are parameters too.
    """

    states: Mapping[str, str] = field(default_factory=dict)
    taps: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    vectors: tuple[str, ...] = ()
    definitions: Mapping[str, Expression] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()

    @cached_property
    def readings(self) -> dict[Expression, Reading]:
        """What `read` has found, kept."""
        return {}

    @cached_property
    def readings_of_objects(self) -> dict[int, tuple[Expression, Reading]]:
        """The same by the identity of trees, which are kept with them: equal trees take longer to find."""
        return {}

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What readers of trees find out about them in this vocabulary, each by keys of its own."""
        return {}

    @cached_property
    def free_vectors(self) -> Mapping[str, str]:
        """Index of each free vector: ``"n"`` for ``a_n``, else ``""``."""
        return {name: "n" if name.endswith("_n") else "" for name in self.vectors}


@dataclass(frozen=True)
class Reading:
    """What a tree is, in a vocabulary.

    Attributes:
        shape: a number or a vector.
        free: the indices that are free in it.
        random: whether it speaks of states after the start, or of taps, outside of E.
        parameters: names of parameters, ``p_n`` and ``eta_k`` as they are written.
    """

    shape: Shape
    free: frozenset[str] = frozenset()
    random: bool = False
    parameters: frozenset[str] = frozenset()


_INDEXED = re.compile(r"(?P<base>[A-Za-z][A-Za-z0-9_]*?)_(?P<index>ni|n|i|k|h|j)\Z")


@lru_cache(4096)
def index_of(name: str) -> tuple[str, str]:
    """A parameter's name without its index, and the index: ``p_n`` is p for every n; ``eta`` has none."""
    match = _INDEXED.match(name)
    return (match["base"], match["index"]) if match else (name, "")


def remembered(e: Expression, index: str, words: Vocabulary) -> tuple[frozenset[str], frozenset[str]]:
    """The states and the parameters, without index, of which a tree has what is remembered at this index.

    Both are empty where a tap has the index, which is then a turn.
    """
    states, names = set(), set()
    for part in everything_meant(e, words):
        if isinstance(part, At) and Name(index) in (x for i in part.indices[1:] for x in everything(i)):
            if part.name in words.taps:
                return frozenset(), frozenset()
            states.add(part.name)
        elif isinstance(part, Name) and part.name not in words.definitions and index_of(part.name)[1] == index:
            names.add(index_of(part.name)[0])
    return frozenset(states), frozenset(names)


def everything_meant(e: Expression, words: Vocabulary) -> Iterator[Expression]:
    """The tree and all its parts, with what definitions stand for."""
    for part in everything(e):
        yield part
        if isinstance(part, Name) and part.name in words.definitions:
            yield from everything_meant(words.definitions[part.name], words)


def read(e: Expression, words: Vocabulary) -> Reading:
    """What a tree is.

    Raises:
        SentenceError: for names that mean nothing here, vectors where numbers are needed, indices that are not there.
    """
    known = words.readings_of_objects.get(id(e))
    if known is not None:
        return known[1]
    found = words.readings.get(e)
    if found is None:
        if isinstance(e, Number):
            found = Reading("scalar")
        elif isinstance(e, Name):
            found = _read_name(e.name, words)
        else:
            found = _read_at(e, words) if isinstance(e, At) else _read_apply(e, words)
        words.readings[e] = found
    words.readings_of_objects[id(e)] = (e, found)
    return found


def _read_name(name: str, words: Vocabulary) -> Reading:
    if name in words.free_vectors:
        return Reading("vector", frozenset(words.free_vectors[name]))
    if name in words.definitions:
        return read(words.definitions[name], words)
    if name in POINTS:
        return Reading("vector", frozenset(POINTS[name]))
    if name in INDICES:
        return Reading("scalar", frozenset(name))
    if name in ("fstar", "N", "d"):
        return Reading("scalar")
    if name == "K":
        return Reading("scalar", parameters=frozenset({"K"}))
    if name in words.states or name in words.taps:
        raise SentenceError(f"{name} is a state or a tap: write {name}[k]")
    if name in SPECIAL:
        raise SentenceError(f"{name} is a function and needs its arguments")
    return Reading("scalar", frozenset(index_of(name)[1]), parameters=frozenset({name}))


def _read_at(e: At, words: Vocabulary) -> Reading:
    if e.name in words.states:
        kind = words.states[e.name]
        loops = int(kind in STACKS)
    elif e.name in words.taps:
        kind, loops = words.taps[e.name]
    else:
        known = ", ".join([*words.states, *words.taps])
        raise SentenceError(f"{text_of(e)}: {e.name} is neither a state nor a tap; there are {known or 'none'}")
    if len(e.indices) != 1 + loops:
        wanted = f"{e.name}[{', '.join(['k', 'j'] if kind in STACKS else ['k', 'h', 'j'][: 1 + loops])}]"
        raise SentenceError(f"{text_of(e)} has {len(e.indices)} indices; write {wanted}")
    found = [read(i, words) for i in e.indices]
    for index, one in zip(e.indices, found, strict=True):
        if one.shape != "scalar" or one.random or one.free - {"k", "h", "j"}:
            raise SentenceError(f"{text_of(e)}: the index {text_of(index)} is not a number of rounds or turns")
    own = {"client": {"n"}, "client past": {"n"}, "table": {"n", "i"}}.get(kind, set())
    start = e.name in words.states and e.indices[0] == Number(Fraction(0))
    free = frozenset(own).union(*(one.free for one in found))
    return Reading("vector", free, not start, frozenset().union(*(one.parameters for one in found)))


def _read_apply(e: Apply, words: Vocabulary) -> Reading:
    op, inner = e.operation, [read(a, words) for a in parts(e)]
    free = frozenset().union(*(one.free for one in inner))
    chance = any(one.random for one in inner)
    names: frozenset[str] = frozenset().union(*(one.parameters for one in inner))
    shapes = [one.shape for one in inner]

    def need(shape: Shape) -> None:
        for argument, one in zip(parts(e), inner, strict=True):
            if one.shape != shape:
                raise SentenceError(f"{text_of(e)}: {text_of(argument)} is a {one.shape}, and a {shape} is needed")

    if op in ("+", "-"):
        if shapes[0] != shapes[1]:
            raise SentenceError(f"{text_of(e)} adds a number and a vector")
        return Reading(shapes[0], free, chance, names)
    if op == "neg":
        return Reading(shapes[0], free, chance, names)
    if op == "*":
        if shapes == ["vector", "vector"]:
            raise SentenceError(f"{text_of(e)} is a product of two vectors: write dot(u, v)")
        return Reading("vector" if "vector" in shapes else "scalar", free, chance, names)
    if op == "/":
        if shapes[1] == "vector":
            raise SentenceError(f"{text_of(e)} divides by a vector")
        return Reading(shapes[0], free, chance, names)
    if op == "**" or op in SCALAR_FUNCTIONS:
        need("scalar")
        return Reading("scalar", free, chance, names)
    if op in NUMBERS_OF_VECTORS or op == COORDINATE:
        need("vector")
        return Reading("scalar", free, chance, names)
    function = op.removeprefix("grad ")
    if function in FUNCTION_NAMES:
        need("vector")
        own = frozenset({"f": "", "f_n": "n", "f_ni": "ni"}[function])
        return Reading("vector" if op.startswith("grad ") else "scalar", free | own, chance, names)
    if op == "E":
        return Reading(shapes[0], free, False, names)
    if op == "quantile":
        need("scalar")
        if inner[1].random:
            raise SentenceError(f"{text_of(e)}: the probability {text_of(parts(e)[1])} is random")
        return Reading("scalar", free, False, names)
    if op in ALL_CLIENTS:
        need("scalar")
        if op == "argmin_n":
            if "n" in frozenset().union(*(one.free for one in inner[1:])):
                raise SentenceError(f"{text_of(e)}: the radius is one number, and not one a client")
            return Reading("vector", free - {"n"}, chance, names)
        return Reading("scalar", free | {"n"}, chance, names)
    how, index = OVER[op]
    if how in ("max", "min"):
        need("scalar")
    if index in TURNS and index not in free:
        raise SentenceError(f"{text_of(e)}: nothing in it has the turn {index}")
    more = frozenset({"K"}) if index == "k" else frozenset()
    freed = free - {index} | (frozenset("n") if index == "i" else frozenset())
    return Reading(shapes[0], freed, chance, names | more)


# --- what a tree is worth --------------------------------------------------------------------------------------------


class World(Protocol):
    """An instance as a sentence sees it. Numbers and vectors are of whatever type the world computes with.

    One in which nothing ever changes may have an empty dict ``kept``: `evaluate` keeps there what sums that hang on no
    run are worth.
    """

    def constant(self, value: Fraction) -> Any:
        """A number that is written."""

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """A parameter, N, d, K or fstar; of ``p_n`` that of client ``at["n"]``."""

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """x0, xstar, xstar_n, or a free vector."""

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """A state or a tap."""

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """f, f_n or f_ni at v."""

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """Its gradient."""

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """``+ - * / ** neg sqrt log exp abs min max`` of numbers.

        Raises:
            UndefinedError: where there is no real value.
        """

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """``+ - neg``; ``*`` and ``/`` by a number, which comes second; ``norm2 norm dot``, which are numbers."""

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """The values of an index that is bound, e being what is taken over it."""

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """E of a tree."""

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """The least number that a tree exceeds with probability at most 1 - q."""

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """The minimiser of sum_n(q_n*f_n), q_n the weights of the clients; with a radius that over the ball around 0.

        Raises:
            UndefinedError: where there is none, or more than one; in two and more dimensions where the ball binds.
        """


def evaluate(
    e: Expression,
    world: World,
    at: Mapping[str, int],
    words: Vocabulary,
    known: dict[Any, tuple[Any, ...]] | None = None,
) -> Any:
    """The value of a tree in a world, with its free indices at `at`.

    Args:
        e: the tree.
        world: which.
        at: its free indices.
        words: what its names mean.
        known: weights on the simplex that were found for a part of this tree, kept for the other clients.

    Raises:
        UndefinedError: where a number has no real value.
    """
    work.count(1)
    known = {} if known is None else known
    if type(e) is Apply and e.operation in _OF_NUMBERS:
        values = tuple([evaluate(a, world, at, words, known) for a in parts(e)])
        if read(e, words).shape == "scalar":
            return world.numbers(e.operation, values)
        turned = e.operation == "*" and read(parts(e)[1], words).shape == "vector"
        return world.vectors(e.operation, values[::-1] if turned else values)
    if isinstance(e, Number):
        return world.constant(e.value)
    if isinstance(e, Name):
        if e.name in words.definitions:
            return evaluate(words.definitions[e.name], world, at, words, known)
        if e.name in INDICES:
            return world.constant(Fraction(at[e.name]))
        return (world.point if read(e, words).shape == "vector" else world.parameter)(e.name, at)
    if isinstance(e, At):
        return world.value(e.name, tuple(index_value(i, world, at, words) for i in e.indices), at)
    op = e.operation
    if op == "E":
        return world.expectation(parts(e)[0], at)
    if op in OVER:
        return _over(e, world, at, words, known)
    if op == "quantile":
        return world.quantile(parts(e)[0], evaluate(parts(e)[1], world, at, words, known), at)
    if op in ALL_CLIENTS:
        return _of_all_clients(e, world, at, words, known)
    values = tuple([evaluate(a, world, at, words, known) for a in parts(e)])
    if op in FUNCTION_NAMES:
        return world.function(op, values[0], at)
    if op.startswith("grad "):
        return world.gradient(op.removeprefix("grad "), values[0], at)
    assert op in NUMBERS_OF_VECTORS
    return world.vectors(op, values)


def _of_all_clients(
    e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]
) -> Any:
    key = (id(e), *(value for index, value in at.items() if index != "n"))  # the tree outlives this evaluation
    if key not in known:
        clients = list(world.over("n", e, at))
        numbers = [tuple(evaluate(a, world, {**at, "n": n}, words, known) for n in clients) for a in parts(e)]
        if e.operation == "argmin_n":
            known[key] = (world.least(numbers[0], numbers[1][0] if len(numbers) > 1 else None),)
        else:
            work.count(len(clients) ** 2)
            known[key] = simplex_weights(*numbers)
    return known[key][0 if e.operation == "argmin_n" else at["n"]]


def simplex_weights(costs: Sequence[Any], curvatures: Sequence[Any]) -> tuple[Any, ...]:
    """The point of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least: a_n = max(0, nu - c_n)/(2*q_n).

    Args:
        costs: c_n.
        curvatures: q_n, positive; both of any type of number with + - * / and <.

    Raises:
        UndefinedError: where a curvature is not positive.
        UndecidedError: where numbers are balls that do not tell which is smaller.
    """
    if not all(q > 0 for q in curvatures):
        raise UndefinedError("a curvature of simplex_n is not positive")
    zero = costs[0] - costs[0]
    taking: list[int] = []
    total = spent = nu = zero
    # each takes part whose cost is below the level that the cheaper ones leave; it stays below the new one
    for n in sorted(range(len(costs)), key=lambda n: (float(costs[n]), n)):
        if taking and costs[n] >= nu:
            break
        taking.append(n)
        total, spent = total + 1 / curvatures[n], spent + costs[n] / curvatures[n]
        nu = (2 + spent) / total
    part = set(taking)
    if not all(c < nu if n in part else c >= nu for n, c in enumerate(costs)):
        raise UndecidedError("balls do not tell which weights of simplex_n are 0")
    both = enumerate(zip(costs, curvatures, strict=True))
    return tuple((nu - c) / (2 * q) if n in part else zero for n, (c, q) in both)


def _over(e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]) -> Any:
    kept = getattr(world, "kept", None)  # of a world in which nothing changes
    free = None if kept is None else _settled(e, words)
    if kept is None or free is None:
        return _taken(e, world, at, words, known)
    key = (id(e), getattr(world, "choice", 0), *[at.get(index) for index in free])
    found = kept.get(key)
    if found is None:
        before = work.operations()
        value = _taken(e, world, at, words, known)
        kept[key] = found = (value, work.operations() - before, e)  # e is kept, so that its id stays its own
    else:
        work.count(found[1])  # as if it were worked out again
    return found[0]


def _settled(e: Expression, words: Vocabulary) -> tuple[str, ...] | None:
    """The indices on which a tree hangs in one world; None where a run, or what was found before, has a say in it."""
    key = ("settled", id(e))
    if key not in words.kept:
        moving = any(
            isinstance(part, At)
            or (isinstance(part, Apply) and (part.operation in ("E", "quantile") or part.operation in ALL_CLIENTS))
            for part in everything_meant(e, words)
        )
        words.kept[key] = (e, None if moving else (*sorted(read(e, words).free), "*n", "*k"))
    found: tuple[str, ...] | None = words.kept[key][1]
    return found


def _taken(e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]) -> Any:
    how, index = OVER[e.operation]
    inner: Expression = parts(e)[0]
    if how == "first":
        return evaluate(inner, world, {**at, index: 0}, words, known)
    values = [evaluate(inner, world, {**at, index: value}, words, known) for value in world.over(index, inner, at)]
    if how in ("max", "min"):
        return values[0] if len(values) == 1 else world.numbers(how, tuple(values))
    apply = world.vectors if read(inner, words).shape == "vector" else world.numbers
    total = values[0]
    for value in values[1:]:
        total = apply("+", (total, value))
    return apply("/", (total, world.constant(Fraction(len(values))))) if how == "mean" else total


def index_value(e: Expression, world: World, at: Mapping[str, int], words: Vocabulary) -> int:
    """The value of an index such as ``k+1`` or ``K``.

    Raises:
        SentenceError: when it is no integer.
    """
    value = evaluate(e, world, at, words)
    whole = int(value)
    if whole != value:
        raise SentenceError(f"the index {text_of(e)} is {value}, and no integer")
    return whole
