"""Trees of sentences: what they are made of, the names that mean the same everywhere, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from theory.formula import Apply, Formula, Name, Number

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
COORDINATE = "coordinate"
"""Of a vector, any of its coordinates: in lines of derivations only."""
POINTS = {"x0": "", "xstar": "", "xstar_n": "n"}
SPECIAL = frozenset(
    {
        *("fstar", "N", "d", "K", "E", "grad", "quantile"),
        *(*INDICES, *POINTS, *FUNCTION_NAMES, *OVER, *ALL_CLIENTS, *NUMBERS_OF_VECTORS, COORDINATE),
    }
)
INTEGERS = frozenset({"H", "S", "m", "b", "N", "d", "K", "J"})
"""Parameters that are integers, at least 1, wherever they occur."""


GIVEN_THE_PAST = (
    "E(...) is over all draws, and there is none given the past: of one round from any start, write x[1] and x0"
)
"""For messages about E_k."""


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

    @property
    def sides(self) -> tuple[Expression, Expression]:
        """Left and right."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"{text_of(self.left)} {self.relation} {text_of(self.right)}"


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


def signed_terms(
    e: Expression, sign: str = "+", path: tuple[int, ...] = ()
) -> Iterator[tuple[str, tuple[int, ...], Expression]]:
    """The terms of a sum, each with its sign and the way to it: which part of a part.

    Example:
        >>> from theory.sentence import parse_expression
        >>> [(sign, path, text_of(term)) for sign, path, term in signed_terms(parse_expression("a - (b - c)"))]
        [('+', (0,), 'a'), ('-', (1, 0), 'b'), ('+', (1, 1), 'c')]
    """
    if not isinstance(e, Apply) or e.operation not in ("+", "-", "neg"):
        yield sign, path, e
        return
    for i, part in enumerate(e.arguments):
        turned = e.operation == "neg" or (e.operation == "-" and i == 1)
        yield from signed_terms(part, {"+": "-", "-": "+"}[sign] if turned else sign, (*path, i))


def factors_of(e: Expression) -> tuple[list[Expression], list[Expression]]:
    """Those above and below the line of a fraction."""
    if isinstance(e, Apply) and e.operation in ("*", "/"):
        (one, under), (other, more) = map(factors_of, parts(e))
        return ([*one, *other], [*under, *more]) if e.operation == "*" else ([*one, *more], [*under, *other])
    return [e], []


def replaced(e: Expression, new: Mapping[str, Expression]) -> Expression:
    """The tree with names replaced by trees."""
    if isinstance(e, Name):
        return new.get(e.name, e)
    if isinstance(e, Apply):
        return applied(e.operation, tuple(replaced(a, new) for a in parts(e)))
    if isinstance(e, At):
        return At(e.name, tuple(replaced(a, new) for a in e.indices))
    return e


def exchanged(e: Expression, new: Callable[[Expression], Expression | None]) -> Expression:
    """The tree with each part for which `new` has another one replaced by that, the outermost first."""
    other = new(e)
    if other is not None or not isinstance(e, Apply):
        return e if other is None else other
    return applied(e.operation, tuple(exchanged(a, new) for a in parts(e)))


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
