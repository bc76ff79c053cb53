"""The steps of a program, as they were read, and of what kind their values are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .sentences import Node

OF_CLIENTS = {"client": "server", "table": "row", "client past": "past", "numbers": "number", "sample": "drawn"}
"""The kinds with a part for each client, and what that part is."""
VECTORS = ("server", "client", "table")


@dataclass(frozen=True, eq=False)
class Scalar:
    """A formula of a program.

    Attributes:
        tree: the formula.
        values: the names of values in it; of each, whether it has one number a client where the formula stands.
        fixed: whether it depends on nothing but parameters and the round.
    """

    tree: Node
    values: Mapping[str, bool]
    fixed: bool
    text: str


@dataclass(frozen=True, eq=False)
class Step:
    """``to = op(of; numbers)``.

    Attributes:
        kind: what it makes.
        each: of each operand, whether it has a part for each client where the step stands.
        kinds: of each operand, what it is, or what its part is.
    """

    op: str
    to: str
    kind: str
    of: tuple[str, ...]
    each: tuple[bool, ...]
    kinds: tuple[str, ...]
    numbers: tuple[Scalar, ...]
    label: str
    replace: bool


@dataclass(frozen=True)
class Carried:
    """What a loop hands on; `copied`: whether the first value and the later ones are copied for every client."""

    name: str
    first: str
    following: str
    copied: tuple[bool, bool]


@dataclass(frozen=True, eq=False)
class Loop:
    """``repeat``, ``visit`` or ``pass``."""

    op: str
    index: str
    count: Scalar | None
    carried: tuple[Carried, ...]
    body: tuple[Step | Loop, ...]


@dataclass(frozen=True)
class State:
    """A state variable: name, kind, what it is at first, and for a past how many vectors it remembers."""

    name: str
    kind: str
    initial: Node
    length: Scalar | None
    text: str


@dataclass(frozen=True)
class Program:
    """One round.

    Attributes:
        kinds: of every value, seen from outside of visits.
        copied: of each state variable, whether the result is copied for every client.
        taps: by label, kind, loops around, and those loops from the outermost in.
    """

    name: str
    state: tuple[State, ...]
    parameters: tuple[str, ...]
    body: tuple[Step | Loop, ...]
    result: tuple[str, ...]
    copied: tuple[bool, ...]
    kinds: Mapping[str, str]
    taps: Mapping[str, tuple[str, tuple[Loop, ...]]]


def defined(step: Step | Loop) -> Iterator[str]:
    """The values that are there after a step."""
    if isinstance(step, Step):
        if step.to:
            yield step.to
        return
    for c in step.carried:
        yield c.name
    for inner in step.body:
        yield from defined(inner)


def result_of(op: str, kinds: Sequence[str], many: bool, one: bool) -> str | None:
    """What an operation makes of operands of these kinds; None where there is no such operation.

    Args:
        op: the operation.
        kinds: of its operands.
        many: whether its numbers are one a client.
        one: whether it is that of the client of a visit.
    """
    client = "server" if one else "client"
    table = "row" if one else "table"
    order = ("server", "row") if one else VECTORS
    vectors = all(kind in order[:-1] for kind in kinds)
    highest = max((order.index(kind) if kind in order else 0 for kind in kinds), default=0)
    count = len(kinds)
    if op in ("linear", "where"):
        if not count or (op == "where" and count != 2) or any(kind not in order for kind in kinds):
            return None
        return order[max(highest, 1)] if many and not one else order[highest]
    drawn, numbers = ("drawn", "number") if one else ("sample", "numbers")
    fixed = {
        "sample": drawn, "noise": client, "choose": numbers, "coins": numbers, "coin": "number", "before": numbers,
        "ones": "server",
    }  # fmt: skip
    if op in fixed:
        return fixed[op] if not count else None
    if op == "get":
        return client if tuple(kinds) in ((table,), (table, drawn)) else None
    if op == "put":
        return table if count == 3 and tuple(kinds[:2]) == (table, drawn) and kinds[2] in order[:-1] else None
    if op == "gradient":
        return client if kinds and kinds[0] in order[:-1] and tuple(kinds[1:]) in ((), (drawn,)) else None
    if op == "shift":
        fitting = count == 2 and kinds[1] in {"past": ("server",), "client past": ("server", "client")}.get(
            kinds[0], ()
        )
        return kinds[0] if fitting else None
    if op == "combine":
        return {"past": "server", "client past": "client"}.get(kinds[0]) if count == 1 else None
    if not vectors or count != (2 if op in ("times", "over", "larger") else 1):
        return None
    if op in ("keep", "top", "project", "clip", "times", "over", "larger", "sqrt", "sign", "tap"):
        return order[highest]
    if op == "norm":
        return "numbers" if kinds[0] == "client" else "number"
    if op == "full gradient":
        return "server" if kinds[0] == "server" else None
    if op == "mix":
        return client if one or kinds[0] == "client" else None
    return {"prox": client, "each": client, "mean": "server", "sum": "server", "average": "server"}.get(op)
