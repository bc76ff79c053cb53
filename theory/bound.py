"""A claim in numbers: its right side as a formula in parameters, and the conditions that numbers decide.

`theory.calculator` makes it of a claim; `theory.evaluate` (floats, enclosures, fractions), `theory.feasible` and
`theory.listing` work on it. Formulas are ASCII text in the names of the parameters (``2*f0_gap/(delta*K*S*M)``), parsed
when somebody evaluates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from theory.domain import Domain
from theory.program import NAME

if TYPE_CHECKING:
    import sympy

    from theory.programs import Formulas

Relation = Literal["<=", "<", "=", ">=", ">"]


@dataclass(frozen=True)
class Parameter:
    """A number, or a vector of numbers, that a bound takes.

    Attributes:
        name: ASCII name, as on the command line.
        domain: the values that make sense, whatever the claim.
        meaning: one line.
        shape: ``"scalar"``, or ``"vector"`` (comma-separated on the command line).
    """

    name: str
    domain: Domain
    meaning: str
    shape: Literal["scalar", "vector"] = "scalar"

    def __post_init__(self) -> None:
        if not NAME.match(self.name):
            raise ValueError(f"name={self.name!r} is not an ASCII identifier")
        if self.shape not in ("scalar", "vector"):
            raise ValueError(f"shape={self.shape!r} is neither 'scalar' nor 'vector'")

    @property
    def symbol(self) -> sympy.Symbol:
        """The sympy symbol, with the assumptions that the domain implies."""
        from theory.expression import symbol

        return symbol(self)


@dataclass(frozen=True)
class Hypothesis:
    """A named condition.

    Attributes:
        name: as a reader knows it; that of an assumption of a claim is its text.
        statement: one line of text.
        relation: an ASCII relation between parameters (``"delta < 1/(2*L)"``); None for what numbers do not decide.
        where: of a condition that the paper fixes elsewhere (`Bound.standing`), the place.
    """

    name: str
    statement: str
    relation: str | None = None
    where: str = ""


@dataclass(frozen=True)
class Bound:
    """A claim in numbers: ``left relation right``, where ``right`` is a formula in `parameters` and `definitions`.

    Attributes:
        id: of the claim.
        right: the right side; None where there is nothing to evaluate.
        parameters: the numbers that it takes, in the claim's order.
        hypotheses: the claim's assumptions, those with a relation being decided by numbers.
        definitions: named terms, in the order in which they are evaluated; each may use the earlier ones.
        standing: conditions that the paper fixes elsewhere for this result.
        left: the left side, as text of the claim.
        relation: between the two sides.
    """

    id: str
    right: str | None
    parameters: tuple[Parameter, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    standing: tuple[Hypothesis, ...] = ()
    left: str = ""
    relation: Relation = "<="

    def __post_init__(self) -> None:
        names = [p.name for p in self.parameters] + list(self.definitions)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{self.id}: the names {twice} are used twice")
        if self.relation not in get_args(Relation):
            raise ValueError(f"{self.id}: relation={self.relation!r} is none of {', '.join(get_args(Relation))}")
        object.__setattr__(self, "definitions", MappingProxyType(dict(self.definitions)))

    @property
    def conditions(self) -> tuple[Hypothesis, ...]:
        """All that has to hold: the hypotheses, then the standing conditions."""
        return (*self.hypotheses, *self.standing)

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name.

        Raises:
            ValueError: when there is none of that name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        from theory.values import unknown_parameter

        raise unknown_parameter(self, name)

    @cached_property
    def formulas(self) -> Formulas:
        """The formulas, parsed, with what evaluations keep of them. See `theory.programs`."""
        from theory.programs import Formulas

        return Formulas(self)
