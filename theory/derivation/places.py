"""What the free indices of a sentence stand for, and of which functions a derivation speaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from theory.claim import Claim
from theory.derivation.atoms import Binder, Index, atom
from theory.derivation.quotients import Quotient, of_atom
from theory.for_every import ForEvery
from theory.formula import Apply, Name
from theory.program import Instruction, Loop
from theory.sentence import FUNCTION_NAMES, Expression, parse_expression, parts


def number_of(index: Index) -> Quotient:
    """An index as a number."""
    return of_atom(atom("number", index))


def parameter(name: str, *at: Any) -> Quotient:
    """A parameter, N, d, K or fstar."""
    return of_atom(atom("parameter", name, *at))


_N, _I = Index("n"), Index("i")


@dataclass(frozen=True)
class Place:
    """What the free indices stand for, and K.

    Attributes:
        n, i: of the client and its sample.
        owner: the client of whom i is a sample.
        k, h, j, K: numbers.
        unfold: whether states at t+1 are what a round makes of those at t.
    """

    n: Index = _N
    i: Index = _I
    owner: Index = _N
    k: Quotient = field(default_factory=lambda: number_of(Index("k")))
    h: Quotient = field(default_factory=lambda: number_of(Index("h")))
    j: Quotient = field(default_factory=lambda: number_of(Index("j")))
    K: Quotient = field(default_factory=lambda: parameter("K"))
    unfold: bool = False


PLAIN = Place()


def put(place: Place, name: str, value: Quotient) -> Place:
    """A place with k, h, j or K standing for something else."""
    changed: dict[str, Any] = {name: value}
    return replace(place, **changed)


class Unfolding(Protocol):
    """What makes a round of an algorithm out of its states; see `theory.derivation.rounds`.

    Attributes:
        alone: whether there is one client, whose draws all draws are.
        weights: whether averages are left with the weights of clients.
        named: whether what an operation makes is left as the tap that shows it.
        undefined: the rounds in which something was made that may have no value.
    """

    alone: bool
    weights: bool
    named: bool
    undefined: list[Quotient]

    def value(self, name: str, indices: tuple[Quotient, ...], place: Place) -> Quotient | None:
        """The state or tap as made of earlier ones; None where it is not."""

    def expected(self, m: Any, prefix: list[Binder]) -> Quotient:
        """E of a product with draws in it."""

    def totals(self, q: Quotient) -> Quotient:
        """A normal form in which as many clients are chosen as are."""

    def is_sample(self, draw: Any) -> bool:
        """Whether a draw is one sample of every client."""


def finest(claim: Claim, sentences: Iterable[Expression]) -> int:
    """0, 1 or 2: whether f, f_n or f_ni is the finest function that a claim, its program and some lines speak of."""
    found = 0
    names = [one.function for one in claim.predicates]
    names += [{"bounded_variance": "f_ni", "dissimilar": "f_n"}.get(one.name, "") for one in claim.predicates]
    trees = [*sentences, *(s for one in claim.predicates if isinstance(one, ForEvery) for s in one.sentence.sides)]
    if claim.program is not None:
        for step in claim.program.steps:
            if isinstance(step, Instruction) and step.op in ("sample", "gradient", "prox"):
                names.append("f_ni" if step.op == "sample" else "f_n")
            if isinstance(step, Loop) and step.op == "pass":
                names.append("f_ni")
        trees += [parse_expression(state.initial) for state in claim.program.state]
    opened: set[str] = set()
    while trees:
        part = trees.pop()
        trees += parts(part)
        if isinstance(part, Apply):
            names.append(part.operation.removeprefix("grad "))
        elif isinstance(part, Name) and part.name == "xstar_n":
            names.append("f_n")
        elif isinstance(part, Name) and part.name in claim.vocabulary.definitions and part.name not in opened:
            opened.add(part.name)
            trees.append(claim.vocabulary.definitions[part.name])
    for name in names:
        found = max(found, FUNCTION_NAMES.index(name) if name in FUNCTION_NAMES else 0)
    return found
