"""Scalar trees of a claim as formulas in the parameters of its bound, which are noted on the way."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

from theory.bound import Parameter
from theory.calculator.names import identifier, shown
from theory.calculator.signs import domain_of, is_excess
from theory.calculator.terms import ONE, product, sum_of, terms_of, times
from theory.claim import Claim
from theory.domain import COUNT, INDEX, POSITIVE, REAL, Domain
from theory.formula import Apply, Formula, Name, Number
from theory.sentence import (
    INDICES,
    OVER,
    SCALAR_FUNCTIONS,
    TURNS,
    Expression,
    applied,
    index_of,
    parse_expression,
    parts,
    read,
    remembered,
    replaced,
    text_of,
)

ROUNDS = "rounds_of_K"
"""The vector 0, ..., K-1, over which sums over rounds are taken; made from K, and given by nobody."""
ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "neg", *SCALAR_FUNCTIONS})
WORDS = {
    "N": "the number of clients",
    "d": "the number of coordinates",
    "K": "the number of rounds of the run",
    "k": "the round",
    "h": "the turn of the loop",
    "n": "the client",
    "i": "the sample",
    "j": "an index",
}
WHOSE = {
    **dict.fromkeys(TURNS, ", of a remembered vector"),
    "n": ", of a client",
    "k": ", in a round",
    "i": ", of a sample",
}
OF_VECTORS = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin"}
"""What is taken over rounds, and over what is remembered, in formulas of numbers."""
Shape: TypeAlias = Literal["scalar", "vector"]
Noted: TypeAlias = "tuple[dict[str, Parameter], dict[str, str], dict[str, str]]"


class Formulas:
    """What is read of a claim; what is noted on the way is kept in the order in which it was met.

    Attributes:
        raw: what `where` defines, as it is written.
        parameters: of the bound, by name.
        texts: of the parameters that stand for an expression, or for a definition, what they stand for.
        definitions: formulas by name, each after those that it uses.
        vectors: names of what is printed as one number a client.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.words = claim.vocabulary
        self.raw = {name: parse_expression(text) for name, text in claim.where.items()}
        self.parameters: dict[str, Parameter] = {}
        self.texts: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        self.vectors = frozenset(name for name in claim.printed.values() if index_of(name)[1] == "n")

    def shown(self, name: str) -> str:
        """The name in the bound of a parameter or a definition."""
        return shown(self.claim, name)

    def noted(self) -> Noted:
        """What is noted so far."""
        return dict(self.parameters), dict(self.texts), dict(self.definitions)

    def forget(self, before: Noted) -> None:
        """Go back to what was noted before."""
        self.parameters, self.texts, self.definitions = before

    def formula(self, e: Expression) -> Formula:
        """A scalar tree as a formula in the parameters of the bound, which are noted."""
        if isinstance(e, Number):
            return e
        if isinstance(e, Name):
            return self.name(e.name)
        if isinstance(e, Apply):
            if e.operation in ("+", "-"):
                return self._sum(e)
            if e.operation in ARITHMETIC:
                return Apply(e.operation, tuple(self.formula(a) for a in parts(e)))
            how, index = OVER.get(e.operation, ("", ""))
            if index in TURNS and self.is_number(e):
                return Apply(OF_VECTORS[how], (self.formula(parts(e)[0]),))
            if e.operation == "E" or e.operation in OVER:
                return self._collected(e)
        return self._expression(e)

    def name(self, name: str) -> Formula:
        if name not in self.raw:
            return self.scalar(name)
        shown = self.shown(name)
        if shown in self.definitions or shown in self.parameters:
            return Name(shown)
        tree = self.raw[name]
        if self.is_number(tree) and name not in self.claim.printed.values():
            self.definitions[shown] = text_of(self.formula(tree))
        else:
            lags = self._lags(Name(name))
            shape: Shape = "vector" if name in self.vectors or lags else "scalar"
            domain = self.claim.parameters.get(name) or domain_of(self.claim.definitions[name], self.claim)
            self._note(shown, domain, self.claim.where[name], shape)
            self.texts[shown] = self.claim.where[name]
        return Name(shown)

    def scalar(self, name: str) -> Formula:
        plain = self.shown(name)
        if index_of(name)[1] in TURNS:
            domain = self.claim.domains.get(index_of(name)[0], POSITIVE)
            self._note(plain, domain, self._meaning(name), "vector")
            return Name(plain)
        if name in INDICES:
            self._note(plain, INDEX, WORDS[name])
        elif name in ("N", "d", "K"):
            self._note(plain, self.claim.domains.get(name, COUNT), WORDS[name])
        elif name == "fstar":
            self._note(plain, REAL, "the infimum of f")
        else:
            self._note(plain, self.claim.domains.get(index_of(name)[0], POSITIVE), self._meaning(name))
        return Name(plain)

    def _lags(self, e: Expression) -> frozenset[str]:
        """The free indices of a tree that are those of remembered vectors."""
        free = read(e, self.words).free & set(TURNS)
        return frozenset(index for index in free if any(remembered(e, index, self.words)))

    def _meaning(self, name: str) -> str:
        base, index = index_of(name)
        each = WHOSE.get(index, "")
        bound = [one.text for one in self.claim.predicates if name in one.binds]
        said = [f"constant of {' and '.join(bound)}"] if bound else []
        if self.claim.of is not None and base in self.claim.of.parameters:
            said.insert(0, f"parameter of {self.claim.of.name}{each}")
        return "; ".join(said) or f"a number{each}"

    def _note(self, name: str, domain: Domain, meaning: str, shape: Literal["scalar", "vector"] = "scalar") -> None:
        self.parameters.setdefault(name, Parameter(name, domain, meaning, shape))

    def _sum(self, e: Apply) -> Formula:
        """A sum, in which a value of a function and the infimum that is taken from it are one parameter."""
        terms = list(terms_of(e))
        pairs: list[tuple[int, Formula]] = []
        for sign, term in list(terms):
            for other in terms:
                if (sign, term) in terms and other[0] == -sign and is_excess(term, other[1], self.claim):
                    pairs.append((sign, self._expression(applied("-", (term, other[1])))))
                    terms.remove((sign, term))
                    terms.remove(other)
                    break
        if not pairs and len(terms) == 2 and terms[0][0] > 0:
            return Apply(e.operation, tuple(self.formula(a) for a in parts(e)))
        return sum_of([*pairs, *((sign, self.formula(term)) for sign, term in terms)])

    def _collected(self, e: Apply) -> Formula:
        """An expectation or something over an index: what does not depend on that is taken out."""
        inner = parts(e)[0]
        how, index = ("mean", "") if e.operation == "E" else OVER[e.operation]
        reading = read(inner, self.words)
        if not reading.random if e.operation == "E" else index not in reading.free:
            return times(self._count(index) if how == "sum" else ONE, self.formula(inner))
        rounds = self._over_rounds(replaced(inner, self.claim.definitions)) if index == "k" else None
        if rounds is not None:
            self.scalar("K")
            self._note(ROUNDS, INDEX, "the rounds 0, ..., K-1", "vector")
            return Apply(OF_VECTORS[how], (rounds,))
        clients = self._over_clients(inner) if index == "n" and self.vectors and how != "first" else None
        if clients is not None:
            return Apply(OF_VECTORS[how], (clients,))
        if how in ("max", "min", "first"):
            return self._expression(e)
        split = [(sign, *self._split(term, index)) for sign, term in terms_of(inner)]
        if all(factor == ONE for _, factor, _ in split):
            return self._expression(e)
        return sum_of(
            [
                (sign, times(self.formula(factor), self.formula(applied(e.operation, (rest,)))))
                for sign, factor, rest in split
            ]
        )

    def _count(self, index: str) -> Formula:
        """How many values an index has: clients, rounds, or the samples of a client."""
        names = {"n": "N", "k": "K"}
        return self.scalar(names[index]) if index in names else self._expression(applied(f"sum_{index}", (ONE,)))

    def _split(self, e: Expression, index: str) -> tuple[Expression, Expression]:
        """Factors that do not depend on an index, and the others; without an index those that are not random."""
        reading = read(e, self.words)
        if self.is_number(e) and index not in reading.free and (index or not reading.random):
            return e, ONE
        if isinstance(e, Apply) and e.operation == "neg":
            factor, rest = self._split(parts(e)[0], index)
            return applied("neg", (factor,)), rest
        if isinstance(e, Apply) and e.operation in ("*", "/"):
            (factor, rest), (other, more) = (self._split(a, index) for a in parts(e))
            if e.operation == "*":
                return product(factor, other), product(rest, more)
            if more == ONE:
                return applied("/", (factor, other)), rest
        return ONE, e

    def is_number(self, e: Expression) -> bool:
        """Whether a tree is a formula in numbers that a reader can give, and nothing over clients or samples."""
        if isinstance(e, Number):
            return True
        if isinstance(e, Name):
            return e.name != "fstar" and not read(e, self.words).free - {"k"} - self._lags(e)
        if not isinstance(e, Apply):
            return False
        if e.operation in ("sum_k", "mean_k", "max_k", "min_k"):
            return self._over_rounds(replaced(parts(e)[0], self.claim.definitions)) is not None
        if e.operation in OVER and OVER[e.operation][1] in TURNS:
            inner = parts(e)[0]
            if OVER[e.operation][1] not in self._lags(inner):
                return False
            return self.is_number(inner)
        if e.operation in ("sum_n", "mean_n", "max_n", "min_n") and self.vectors:
            return self._clients_alone(parts(e)[0])
        return e.operation in ARITHMETIC and all(self.is_number(a) for a in parts(e))

    def _over_rounds(self, e: Expression) -> Formula | None:
        """A formula in numbers and k, with the rounds in place of k; None where it is none."""
        if isinstance(e, Number):
            return e
        if isinstance(e, Name):
            if e.name == "k":
                return Name(ROUNDS)
            return None if e.name == "fstar" or read(e, self.words).free else self.scalar(e.name)
        if not isinstance(e, Apply) or e.operation not in ARITHMETIC:
            return None
        found = [self._over_rounds(a) for a in parts(e)]
        return None if None in found else Apply(e.operation, tuple(cast("list[Formula]", found)))

    def _over_clients(self, e: Expression) -> Formula | None:
        """A formula in what is printed as one number a client; None where it is none."""
        if isinstance(e, Name) and e.name in self.vectors:
            if e.name in self.raw:
                return self.name(e.name)
            domain = self.claim.domains[index_of(e.name)[0]]
            self._note(self.shown(e.name), domain, self._meaning(e.name), "vector")
            return Name(self.shown(e.name))
        if "n" not in read(e, self.words).free:
            return self.formula(e) if self.is_number(e) or isinstance(e, Name) else None
        if not isinstance(e, Apply) or e.operation not in ARITHMETIC:
            return None
        found = [self._over_clients(a) for a in parts(e)]
        return None if None in found else Apply(e.operation, tuple(cast("list[Formula]", found)))

    def _clients_alone(self, e: Expression) -> bool:
        """Whether `_over_clients` has a formula for a tree."""
        if isinstance(e, Name) and e.name in self.vectors:
            return True
        if "n" not in read(e, self.words).free:
            return self.is_number(e) and not self._lags(e)
        return isinstance(e, Apply) and e.operation in ARITHMETIC and all(map(self._clients_alone, parts(e)))

    # parameters that are expressions

    def _expression(self, e: Expression) -> Formula:
        text = text_of(e)
        known = next((name for name, stands in self.texts.items() if stands == text), None)
        if known is not None:
            return Name(known)
        taken = {*self.parameters, *self.raw, *self.definitions, *self.claim.symbols}
        base, more = identifier(text), 2
        name = base
        while name in taken:
            name, more = f"{base}_{more}", more + 1
        self._note(name, domain_of(replaced(e, self.claim.definitions), self.claim), text)
        self.texts[name] = text
        return Name(name)
