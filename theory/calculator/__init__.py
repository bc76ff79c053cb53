"""A claim's right side in numbers: which numbers it takes, and what it is in them.

What a claim says of functions, states and expectations is a number all the same once it is known: ``norm2(x0 - xstar)``
of a bound is one of its parameters. `calculator` finds these and gives the claim in numbers, as `theory.bound.Bound`,
so that `theory.evaluate` (floats, enclosures, fractions), `theory.feasible` and `theory.listing` serve it:

- a parameter of the claim is one of the bound; so are N, d, K and a free index that stand in it as numbers;
- a name that `where` defines by a formula in such numbers is a definition, a term of the bound;
- a name that `where` defines by functions, states, expectations or anything over clients is a parameter under its name;
- an expression of that kind that stands in the right side itself is a parameter too, under an identifier made of its
  text (``norm2_x0_xstar``); constants are taken out of means and expectations first. Differences from the infimum
  (``f(x0) - fstar``) are one parameter;
- sums over the rounds of formulas in k alone are computed (`Calculator.complete`);
- weights of remembered vectors (``alpha_j``), and what `where` defines for each of them, are vectors;
- a parameter of the algorithm that a relation fixes (``A == 1 - sum_j(alpha_j)``) is a term where it is not given;
- what the paper prints under another name (`Claim.printed`) goes by that; of what it prints as one number a client, a
  vector, formulas are taken over the clients.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from theory.bound import Bound
from theory.calculator.bounds import read_bounds
from theory.calculator.formulas import ROUNDS
from theory.calculator.names import LONGEST, shown
from theory.calculator.terms import terms_of
from theory.claim import Claim
from theory.formula import names_in, parse
from theory.program import NAME
from theory.sentence import SentenceError, applied, parse_expression, text_of

__all__ = ["LONGEST", "MOST_ROUNDS", "ROUNDS", "Calculator", "added", "calculator", "in_numbers"]

MOST_ROUNDS = 10**6


@dataclass(frozen=True)
class Calculator:
    """A claim in numbers.

    Attributes:
        claim: as it is written.
        bound: its right side, the hypotheses that numbers decide, and the parameters of both.
        left: of a claim about numbers alone, the left side in place of the right one, with its own parameters too; None
            for others, and where numbers that only the left side takes are not given.
        texts: of the parameters that stand for an expression, or for a definition, what they stand for.
    """

    claim: Claim
    bound: Bound
    left: Bound | None
    texts: Mapping[str, str]

    def named(self, name: str) -> str:
        """The parameter that a text stands for, ``"norm2(x0 - xstar)"`` as well as its identifier.

        A text that is no expression, or stands for none, is returned as it is.
        """
        if NAME.match(name):
            return name
        try:
            text = text_of(parse_expression(name))
        except SentenceError:
            return name
        return next((known for known, stands in self.texts.items() if stands == text), name)

    def complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values with the rounds 0, ..., K-1 where the bound sums over them.

        Raises:
            ValueError: where K is not a number of at most `MOST_ROUNDS`.
        """
        if ROUNDS not in {p.name for p in self.bound.parameters}:
            return dict(values)
        from theory.arithmetic import Reals
        from theory.operations import to_fraction
        from theory.values import formulas_in, resolve
        from theory.values import read as read_values

        given = {name: value for name, value in values.items() if name != ROUNDS}
        entries = read_values(self.bound, given, partial=True)
        rounds = shown(self.claim, "K")
        needed = {rounds}
        for name in reversed(list(entries)):  # each after those that it uses
            if name in needed:
                needed = needed.union(*map(names_in, formulas_in(entries[name])))
        entries = {name: entry for name, entry in entries.items() if name in needed}
        found = to_fraction(cast("Any", resolve(self.bound, entries, given, Reals(None))[rounds]))
        if found.denominator != 1 or not 1 <= found <= MOST_ROUNDS:
            raise ValueError(
                f"{rounds}={given[rounds]} is not a number of rounds from 1 to {MOST_ROUNDS}, which are summed over"
            )
        return {**given, ROUNDS: tuple(range(int(found)))}


def calculator(claim: Claim, given: Collection[str] | None = None, *, all_relations: bool = False) -> Calculator:
    """A claim in numbers.

    Args:
        claim: as it is written.
        given: the names that have values (as `Calculator.named` has them): hypotheses that need others stay undecided.
            None: every hypothesis about the claim's own parameters and what stands in the right side is decided.
        all_relations: with `given` None, hypotheses about other expressions too, which become parameters.
    """
    return _kept(claim, None if given is None else frozenset(given), all_relations)


@lru_cache(maxsize=256)
def _kept(claim: Claim, given: frozenset[str] | None, all_relations: bool) -> Calculator:
    """Reading a claim takes a hundred times as long as evaluating it, so a table of bounds reads it once."""
    if not claim.has_sentence:  # it has no right side, and no numbers
        return Calculator(claim, Bound(claim.id, None, left=claim.title, relation="="), None, {})
    bound, left, texts = read_bounds(claim, given, all_relations)
    return Calculator(claim, bound, left, texts)


def in_numbers(claim: Claim, values: Mapping[str, Any]) -> tuple[Bound, dict[str, Any]]:
    """A claim in numbers and the values of its parameters, as `theory.evaluate` takes them.

    Args:
        claim: as it is written.
        values: by identifier, or by the expression's text; the algorithm's defaults stand where none is given.
    """
    whole = calculator(claim, all_relations=True)
    given = {whole.named(name): value for name, value in values.items()}
    found = calculator(claim, set(given))
    defaults = claim.of.defaults if claim.of is not None else {}
    names = {p.name for p in found.bound.parameters}
    return found.bound, found.complete({**{n: v for n, v in defaults.items() if n in names}, **given})


def added(bound: Bound) -> tuple[str, ...]:
    """What the right side of a claim in numbers adds up, as texts in its own names, with their signs."""
    assert bound.right is not None
    return tuple(text_of(term if sign > 0 else applied("neg", (term,))) for sign, term in terms_of(parse(bound.right)))
