"""Scalars of a program as Triton: numbers of a whole round are computed by the host, one row a round."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sim.generated.reading import NotGenerated
from sim.generated.scalars import APART, Scalars, Tables, Text
from sim.simulate.parameters import Parameters
from theory.program import Apply, Formula, Name, Number, text_of

# by exponent; others would need a function that Triton's interpreter does not have
_POWERS = {2: "({0} * {0})", 3: "({0} * {0} * {0})", Fraction(1, 2): "square_root({0})", -1: "(1.0 / {0})"}


class LaneScalars(Scalars):
    """Formulas as Triton for parameters of these shapes.

    Args:
        parameters: which of them are one number, one a client, one a round.
        tables: takes up what the text needs.

    Attributes:
        rounds: numbers that are the same for a whole round; number j of them is ``u<j>``.
    """

    def __init__(self, parameters: Parameters, tables: Tables) -> None:
        super().__init__(parameters, tables)
        self.rounds: list[Formula] = []

    def round_number(self, formula: Formula) -> str:
        """As `Scalars`: its name in the kernel."""
        if not self.fixed(formula):
            raise NotGenerated(f"{text_of(formula)} is not one number for a whole round")
        if formula not in self.rounds:
            self.rounds.append(formula)
        return f"u{self.rounds.index(formula)}"

    def _parameter(self, name: str, client: str | None) -> Text:
        p = self.parameters
        if name in p.constants or name == "k" or (name in p.schedules and p.schedules[name].ndim == 1):
            return Text(self.round_number(Name(name)))
        if client is None:
            raise NotGenerated(f"{name} is one number a client, where there is no client")
        what, row = ("each", "") if name in p.each else ("schedule", "k * clients + ")
        return Text(f"tl.load(list_{self.tables.place(what, name)} + {row}n)", client == APART)

    def _text(
        self, formula: Formula, look: Callable[[str], Text], part: Callable[[Formula], Text] | None = None
    ) -> Text:
        if not isinstance(formula, Apply) or formula.operation != "**":
            return super()._text(formula, look, part)
        base, exponent = formula.arguments
        if not isinstance(exponent, Number) or exponent.value not in _POWERS:
            raise NotGenerated(f"{text_of(formula)}, a power that is not one number for a whole round")
        found = (part or (lambda f: self._text(f, look)))(base)
        return Text(_POWERS[exponent.value].format(found.text), found.lanes)
