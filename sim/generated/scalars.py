"""Scalars of a program as C++: one number for all runs, or one a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sim.generated.reading import NotGenerated
from sim.simulate.parameters import Parameters
from theory.program import Apply, Formula, Name, Number, names_in, text_of

_FUNCTIONS = {"sqrt": "square_root", "log": "logarithm", "exp": "exponential_of", "abs": "absolute"}


APART = "n.at"
"""The number of the client, where every lane has one of its own."""


@dataclass(frozen=True)
class Text:
    """An expression, and whether it is Doubles rather than double."""

    text: str
    lanes: bool = False


@dataclass
class Tables:
    """The lists of numbers that a generated text reads, in the order of `Task.tables`, and its single numbers.

    Attributes:
        numbers: names of parameters that are one number.
        lists: (what, key): "each" and "schedule" of a parameter, and what instructions need.
    """

    numbers: list[str] = field(default_factory=list)
    lists: list[tuple[str, str]] = field(default_factory=list)

    def number(self, name: str) -> int:
        """The place of a number."""
        if name not in self.numbers:
            self.numbers.append(name)
        return self.numbers.index(name)

    def place(self, what: str, key: str) -> int:
        """The place of a list."""
        if (what, key) not in self.lists:
            self.lists.append((what, key))
        return self.lists.index((what, key))


class Scalars:
    """Formulas as C++ for parameters of these shapes.

    Args:
        parameters: which of them are one number, one a client, one a round.
        tables: takes up what the text needs.
        pool: how many clients a list has numbers for, in C++.

    Attributes:
        hoisted: expressions that are the same for a whole round; number j of them is ``u[j]``.
    """

    def __init__(self, parameters: Parameters, tables: Tables, pool: str = "clients") -> None:
        self.pool = pool
        self.parameters, self.tables = parameters, tables
        self.hoisted: list[str] = []

    def changes(self, formula: Formula) -> bool:
        """Whether it may have another value in another round."""
        return "k" in names_in(formula) or bool(names_in(formula) & set(self.parameters.schedules))

    def fixed(self, formula: Formula) -> bool:
        """Whether it is one number for a whole round, for all clients and runs."""
        p = self.parameters
        flat = {name for name, values in p.schedules.items() if values.ndim == 1}
        return names_in(formula) <= {*p.constants, *flat, "k"}

    def round_number(self, formula: Formula) -> str:
        """A number of the round, by its name in the rounds' object.

        Raises:
            NotGenerated: where it is more than one number.
        """
        if not self.fixed(formula):
            raise NotGenerated(f"{text_of(formula)} is not one number for a whole round")
        text = self._text(formula, lambda name: self._parameter(name, None)).text
        if text not in self.hoisted:
            self.hoisted.append(text)
        return f"u[{self.hoisted.index(text)}]"

    def constant(self, formula: Formula) -> str:
        """A number that is the same in all rounds.

        Raises:
            NotGenerated: where it is none.
        """
        if not names_in(formula) <= set(self.parameters.constants):
            raise NotGenerated(f"{text_of(formula)} is not one number for all rounds")
        return self._text(formula, lambda name: self._parameter(name, None)).text

    def text(self, formula: Formula, value: Callable[[str], Text | None], client: str | None) -> Text:
        """An expression.

        Args:
            formula: what.
            value: of the program's values and of turns; None for what is a parameter.
            client: the name of the client's number in C++, where there is one.
        """
        if isinstance(formula, Number):
            return Text(_number(formula))
        if self.fixed(formula):
            return Text(self.round_number(formula))

        def look(name: str) -> Text:
            found = value(name)
            return self._parameter(name, client) if found is None else found

        if isinstance(formula, Name):
            return look(formula.name)
        return self._text(formula, look, lambda f: self.text(f, value, client))

    def _parameter(self, name: str, client: str | None) -> Text:
        p = self.parameters
        if name == "k":
            return Text("(double)k")
        if name in p.constants:
            return Text(f"task.numbers[{self.tables.number(name)}]")
        what = "each" if name in p.each else "schedule"
        table = f"list<double>({self.tables.place(what, name)})"
        by_client = name in p.each or p.schedules[name].ndim == 2
        if not by_client:
            return Text(f"{table}[k]")
        if client is None:
            raise NotGenerated(f"{name} is one number a client, where there is no client")
        row = "" if name in p.each else f"k * {self.pool} + "
        if client == APART:
            return Text(f"gather({table} + {row}0, {client}, 1)", True)
        return Text(f"{table}[{row}{client}]")

    def _text(
        self, formula: Formula, look: Callable[[str], Text], part: Callable[[Formula], Text] | None = None
    ) -> Text:
        if isinstance(formula, Number):
            return Text(_number(formula))
        if isinstance(formula, Name):
            return look(formula.name)
        assert isinstance(formula, Apply)
        parts = [(part or (lambda f: self._text(f, look)))(a) for a in formula.arguments]
        lanes, texts = any(p.lanes for p in parts), [p.text for p in parts]
        operation = formula.operation
        if operation in ("+", "-", "*", "/"):
            return Text(f"({texts[0]} {operation} {texts[1]})", lanes)
        if operation == "neg":
            return Text(f"(-{texts[0]})", lanes)
        if operation == "**":
            return Text(f"power({texts[0]}, {texts[1]})", lanes)
        if operation in _FUNCTIONS:
            return Text(f"{_FUNCTIONS[operation]}({texts[0]})", lanes)
        if operation in ("min", "max"):
            name, found = {"min": "least", "max": "most"}[operation], texts[0]
            for other in texts[1:]:
                found = f"{name}({found}, {other})"
            return Text(found, lanes)
        raise NotGenerated(f"{operation} of numbers")


def _number(number: Number) -> str:
    return f"({float(number.value)!r})"
