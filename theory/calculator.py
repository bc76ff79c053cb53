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

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

from theory.bound import Bound, Hypothesis, Parameter
from theory.claim import Claim
from theory.domain import COUNT, INDEX, NONNEGATIVE, POSITIVE, REAL, Domain
from theory.formula import FUNCTIONS, Apply, Formula, Name, Number, names_in, parse
from theory.predicates import Connected, Predicate, Smooth, StronglyConvex
from theory.program import NAME, limits
from theory.sentence import (
    FUNCTION_NAMES,
    INDICES,
    OVER,
    POINTS,
    SCALAR_FUNCTIONS,
    TURNS,
    At,
    Expression,
    Sentence,
    SentenceError,
    applied,
    everything,
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
MOST_ROUNDS = 10**6
LONGEST = 60
"""Characters of an identifier that is made of a text."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "neg", *SCALAR_FUNCTIONS})
_WORDS = {
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
ONE = Number(Fraction(1))
OF_VECTORS = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin"}
"""What is taken over rounds, and over what is remembered, in formulas of numbers."""
Shape: TypeAlias = Literal["scalar", "vector"]


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
        rounds = _shown(self.claim, "K")
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
    if not claim.has_sentence:
        return Calculator(claim, _without_sentence(claim), None, {})
    return _Reader(claim).read(given, all_relations)


def _without_sentence(claim: Claim) -> Bound:
    """A claim that no sentence says: it has no right side, and no numbers."""
    return Bound(claim.id, None, left=claim.title, relation="=")


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
    return tuple(text_of(term if sign > 0 else applied("neg", (term,))) for sign, term in _terms(parse(bound.right)))


class _Reader:
    """Reads one claim; what it finds on its way is kept in the order in which it was found."""

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
        return _shown(self.claim, name)

    def read(self, given: Collection[str] | None, all_relations: bool) -> Calculator:
        own = self.claim.of.parameters if self.claim.of is not None else ()
        for one in self.claim.relations:  # what is fixed by others is worked out
            name = one.left.name if one.relation == "==" and isinstance(one.left, Name) else ""
            if name in own and name not in {*self.raw, *(given or ())} and self._is_number(one.right):
                self.raw[name] = one.right
        right = self.formula(self.claim.sentence.right)
        conditions = self._conditions(given, all_relations)
        weights = {index_of(symbol)[0]: symbol for symbol in self.claim.symbols if index_of(symbol)[1] in TURNS}
        for name in given or ():  # on which the bound does not depend
            name = self.claim.printed.get(name, name)
            name = weights.get(name, name)
            if name in self.claim.symbols or name in ("N", "d", "K") or name in self.claim.free:
                self._scalar(name)
            elif name in self.raw and not self._is_number(self.raw[name]):
                self._name(name)
        self._terms_beside(given)
        bound = self._claim(text_of(right), conditions)
        left: Bound | None = None
        if self._numbers_alone():
            before = set(self.parameters)
            text = text_of(self.formula(self.claim.sentence.left))
            if given is None or set(self.parameters) - before <= {*given, ROUNDS}:
                left = self._claim(text, conditions)
                if given is not None:  # what is given is given for both
                    bound = self._claim(text_of(right), conditions)
        return Calculator(self.claim, bound, left, dict(self.texts))

    def _terms_beside(self, given: Collection[str] | None) -> None:
        """Definitions by numbers that the right side does not use: terms, where all that they need is there."""
        allowed = set(map(self.shown, self.claim.symbols)) if given is None else set(given)
        for name, tree in self.raw.items():
            if name in self.claim.printed.values() or self.shown(name) in {*self.definitions, *self.parameters}:
                continue
            if not self._is_number(tree):
                continue
            before = dict(self.parameters), dict(self.texts), dict(self.definitions)
            self._name(name)
            if not set(self.parameters) - set(before[0]) <= allowed:
                self.parameters, self.texts, self.definitions = before

    def _numbers_alone(self) -> bool:
        if self.claim.of is not None or self.claim.vectors:
            return False
        sides = (self.claim.sentence.left, self.claim.sentence.right, *self.claim.definitions.values())
        return not any(_functional(part) for side in sides for part in everything(side))

    def _claim(self, right: str, conditions: Sequence[Hypothesis]) -> Bound:
        """What has been read so far with this right side."""
        sentence = self.claim.sentence
        order = {name: at for at, name in enumerate(map(self.shown, self.claim.symbols))}
        return Bound(
            self.claim.id,
            right,
            tuple(sorted(self.parameters.values(), key=lambda p: order.get(p.name, len(order)))),
            tuple(h for h in conditions if not h.where),
            self.definitions,
            tuple(h for h in conditions if h.where),
            text_of(sentence.left),
            "=" if sentence.relation == "==" else sentence.relation,
        )

    # hypotheses

    def _conditions(self, given: Collection[str] | None, all_relations: bool) -> list[Hypothesis]:
        """The claim's assumptions, then what they and the program say about its numbers."""
        found: list[Hypothesis] = []
        written = (*self.claim.assuming, *self.claim.standing)
        for at, (text, one) in enumerate(zip(written, self.claim.assumptions, strict=True)):
            where = "elsewhere in the paper" if at >= len(self.claim.assuming) else ""
            if isinstance(one, Predicate):
                meaning = str(one).partition(": ")[2]
                found.append(Hypothesis(one.text, meaning, where=where))
            else:
                found.append(Hypothesis(text, text, self._relation(one, given, all_relations), where=where))
        for why, relation in self._implied():
            implied = self._relation(relation, given, False, new=False)
            if implied is not None and implied not in {h.relation for h in found}:
                found.append(Hypothesis(str(relation), why, implied))
        return found

    def _relation(
        self, relation: Sentence, given: Collection[str] | None, all_relations: bool, new: bool = True
    ) -> str | None:
        """A relation as the calculator has it, or None where it needs numbers that are not given."""
        before = dict(self.parameters), dict(self.texts), dict(self.definitions)
        sides = self.formula(relation.left), self.formula(relation.right)
        added = set(self.parameters) - set(before[0])
        own = {name for name in added if name not in self.texts and "n" not in index_of(name)[1]}
        wanted = added <= set(given) if given is not None else (all_relations or added == own)
        if (wanted and new) or not added:
            return f"{text_of(sides[0])} {relation.relation} {text_of(sides[1])}"
        self.parameters, self.texts, self.definitions = before
        return None

    def _implied(self) -> Iterator[tuple[str, Sentence]]:
        """What holds between the numbers wherever the assumptions do and the program has a meaning."""
        predicates = () if self.claim.over else self.claim.predicates  # asked at some x only, they imply nothing
        for one in predicates:
            for other in predicates:
                if isinstance(one, StronglyConvex) and isinstance(other, Smooth) and _bounds(other, one):
                    why = f"implied by {one.text} and {other.text}"
                    yield why, Sentence(one.constants[0], "<=", other.constants[0])
            if isinstance(one, Connected):
                yield f"implied by {one.text}", Sentence(Name("rho"), "<", ONE)
        program = self.claim.program
        numbers = set(self.claim.symbols) - {index_of(s)[0] for s in self.claim.symbols if index_of(s)[1]}
        for op, number, most in () if program is None else limits(program):
            if names_in(number) <= numbers:
                yield f"needed by {op} in {program.name}", Sentence(number, "<=", most)  # type: ignore[union-attr]

    # formulas

    def formula(self, e: Expression) -> Formula:
        """A scalar tree as a formula in the parameters of the bound, which are noted."""
        if isinstance(e, Number):
            return e
        if isinstance(e, Name):
            return self._name(e.name)
        if isinstance(e, Apply):
            if e.operation in ("+", "-"):
                return self._sum(e)
            if e.operation in _ARITHMETIC:
                return Apply(e.operation, tuple(self.formula(a) for a in parts(e)))
            how, index = OVER.get(e.operation, ("", ""))
            if index in TURNS and self._is_number(e):
                return Apply(OF_VECTORS[how], (self.formula(parts(e)[0]),))
            if e.operation == "E" or e.operation in OVER:
                return self._collected(e)
        return self._expression(e)

    def _name(self, name: str) -> Formula:
        if name not in self.raw:
            return self._scalar(name)
        shown = self.shown(name)
        if shown in self.definitions or shown in self.parameters:
            return Name(shown)
        tree = self.raw[name]
        if self._is_number(tree) and name not in self.claim.printed.values():
            self.definitions[shown] = text_of(self.formula(tree))
        else:
            lags = self._lags(Name(name))
            shape: Shape = "vector" if name in self.vectors or lags else "scalar"
            domain = self.claim.parameters.get(name) or self._domain(self.claim.definitions[name])
            self._note(shown, domain, self.claim.where[name], shape)
            self.texts[shown] = self.claim.where[name]
        return Name(shown)

    def _scalar(self, name: str) -> Formula:
        plain = self.shown(name)
        if index_of(name)[1] in TURNS:
            domain = self.claim.domains.get(index_of(name)[0], POSITIVE)
            self._note(plain, domain, self._meaning(name), "vector")
            return Name(plain)
        if name in INDICES:
            self._note(plain, INDEX, _WORDS[name])
        elif name in ("N", "d", "K"):
            self._note(plain, self.claim.domains.get(name, COUNT), _WORDS[name])
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
        terms = list(_terms(e))
        pairs: list[tuple[int, Formula]] = []
        for sign, term in list(terms):
            for other in terms:
                if (sign, term) in terms and other[0] == -sign and self._excess(term, other[1]):
                    pairs.append((sign, self._expression(applied("-", (term, other[1])))))
                    terms.remove((sign, term))
                    terms.remove(other)
                    break
        if not pairs and len(terms) == 2 and terms[0][0] > 0:
            return Apply(e.operation, tuple(self.formula(a) for a in parts(e)))
        return _added([*pairs, *((sign, self.formula(term)) for sign, term in terms)])

    def _collected(self, e: Apply) -> Formula:
        """An expectation or something over an index: what does not depend on that is taken out."""
        inner = parts(e)[0]
        how, index = ("mean", "") if e.operation == "E" else OVER[e.operation]
        reading = read(inner, self.words)
        if not reading.random if e.operation == "E" else index not in reading.free:
            return _times(self._count(index) if how == "sum" else ONE, self.formula(inner))
        rounds = self._over_rounds(replaced(inner, self.claim.definitions)) if index == "k" else None
        if rounds is not None:
            self._scalar("K")
            self._note(ROUNDS, INDEX, "the rounds 0, ..., K-1", "vector")
            return Apply(OF_VECTORS[how], (rounds,))
        clients = self._over_clients(inner) if index == "n" and self.vectors and how != "first" else None
        if clients is not None:
            return Apply(OF_VECTORS[how], (clients,))
        if how in ("max", "min", "first"):
            return self._expression(e)
        split = [(sign, *self._split(term, index)) for sign, term in _terms(inner)]
        if all(factor == ONE for _, factor, _ in split):
            return self._expression(e)
        return _added(
            [
                (sign, _times(self.formula(factor), self.formula(applied(e.operation, (rest,)))))
                for sign, factor, rest in split
            ]
        )

    def _count(self, index: str) -> Formula:
        """How many values an index has: clients, rounds, or the samples of a client."""
        names = {"n": "N", "k": "K"}
        return self._scalar(names[index]) if index in names else self._expression(applied(f"sum_{index}", (ONE,)))

    def _split(self, e: Expression, index: str) -> tuple[Expression, Expression]:
        """Factors that do not depend on an index, and the others; without an index those that are not random."""
        reading = read(e, self.words)
        if self._is_number(e) and index not in reading.free and (index or not reading.random):
            return e, ONE
        if isinstance(e, Apply) and e.operation == "neg":
            factor, rest = self._split(parts(e)[0], index)
            return applied("neg", (factor,)), rest
        if isinstance(e, Apply) and e.operation in ("*", "/"):
            (factor, rest), (other, more) = (self._split(a, index) for a in parts(e))
            if e.operation == "*":
                return _product(factor, other), _product(rest, more)
            if more == ONE:
                return applied("/", (factor, other)), rest
        return ONE, e

    def _is_number(self, e: Expression) -> bool:
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
            return self._is_number(inner)
        if e.operation in ("sum_n", "mean_n", "max_n", "min_n") and self.vectors:
            return self._clients_alone(parts(e)[0])
        return e.operation in _ARITHMETIC and all(self._is_number(a) for a in parts(e))

    def _over_rounds(self, e: Expression) -> Formula | None:
        """A formula in numbers and k, with the rounds in place of k; None where it is none."""
        if isinstance(e, Number):
            return e
        if isinstance(e, Name):
            if e.name == "k":
                return Name(ROUNDS)
            return None if e.name == "fstar" or read(e, self.words).free else self._scalar(e.name)
        if not isinstance(e, Apply) or e.operation not in _ARITHMETIC:
            return None
        found = [self._over_rounds(a) for a in parts(e)]
        return None if None in found else Apply(e.operation, tuple(cast("list[Formula]", found)))

    def _over_clients(self, e: Expression) -> Formula | None:
        """A formula in what is printed as one number a client; None where it is none."""
        if isinstance(e, Name) and e.name in self.vectors:
            if e.name in self.raw:
                return self._name(e.name)
            domain = self.claim.domains[index_of(e.name)[0]]
            self._note(self.shown(e.name), domain, self._meaning(e.name), "vector")
            return Name(self.shown(e.name))
        if "n" not in read(e, self.words).free:
            return self.formula(e) if self._is_number(e) or isinstance(e, Name) else None
        if not isinstance(e, Apply) or e.operation not in _ARITHMETIC:
            return None
        found = [self._over_clients(a) for a in parts(e)]
        return None if None in found else Apply(e.operation, tuple(cast("list[Formula]", found)))

    def _clients_alone(self, e: Expression) -> bool:
        """Whether `_over_clients` has a formula for a tree."""
        if isinstance(e, Name) and e.name in self.vectors:
            return True
        if "n" not in read(e, self.words).free:
            return self._is_number(e) and not self._lags(e)
        return isinstance(e, Apply) and e.operation in _ARITHMETIC and all(map(self._clients_alone, parts(e)))

    # parameters that are expressions

    def _expression(self, e: Expression) -> Formula:
        text = text_of(e)
        known = next((name for name, stands in self.texts.items() if stands == text), None)
        if known is not None:
            return Name(known)
        taken = {*self.parameters, *self.raw, *self.definitions, *self.claim.symbols}
        base, more = _identifier(text), 2
        name = base
        while name in taken:
            name, more = f"{base}_{more}", more + 1
        self._note(name, self._domain(replaced(e, self.claim.definitions)), text)
        self.texts[name] = text
        return Name(name)

    def _domain(self, e: Expression) -> Domain:
        """What an expression's value can be, as far as its form says."""
        if isinstance(e, Apply) and e.operation == "sum_i" and parts(e)[0] == ONE:
            return COUNT
        return {None: REAL, False: NONNEGATIVE, True: POSITIVE}[self._sign(e)]

    def _sign(self, e: Expression) -> bool | None:
        """True for what is positive, False for what is not negative, None for what may be anything."""
        if isinstance(e, Number):
            return None if e.value < 0 else e.value > 0
        if isinstance(e, Name):
            return self._sign_of(e.name)
        if not isinstance(e, Apply):
            return None
        op = e.operation
        if op in ("norm", "norm2"):
            return False
        if op == "-":
            return False if self._excess(*cast("tuple[Any, Any]", parts(e))) else None
        if op not in ("+", "*", "/", "**", "sqrt", "abs", "exp", "min", "max", "E", *OVER):
            return None
        signs = [self._sign(a) for a in parts(e)]
        if op == "exp":
            return True
        if op == "abs":
            return signs[0] is True
        if op == "**":
            power: Any = parts(e)[1]
            even = isinstance(power, Number) and power.value.denominator == 1 and power.value.numerator % 2 == 0
            return signs[0] if signs[0] is not None else False if even else None
        if op == "max":
            return True if True in signs else False if False in signs else None
        if op == "+":
            return None if None in signs else True in signs
        if op == "/":  # by 0 it is undefined
            return None if None in signs else signs[0]
        return None if None in signs else all(signs)

    def _sign_of(self, name: str) -> bool | None:
        if name in INDICES:
            return False
        if name in ("N", "d", "K"):
            return True
        domain = self.claim.domains.get(index_of(name)[0])
        if domain is None or domain.lower is None or domain.lower < 0:
            return None
        return domain.lower > 0 or domain.lower_open

    def _excess(self, e: Expression, infimum: Expression) -> bool:
        """Whether a tree is values of a function, and the other one the infimum of it."""
        lowest = _lowest(infimum)
        return lowest is not None and self._values(e) == lowest

    def _values(self, e: Expression) -> str | None:
        """The function whose values, or means or extremes of values, a tree is."""
        if not isinstance(e, Apply):
            return None
        if e.operation in FUNCTION_NAMES:
            return e.operation
        if e.operation != "E" and (e.operation not in OVER or OVER[e.operation][0] == "sum"):
            return None
        inner = parts(e)[0]
        found = self._values(inner)
        how, index = ("mean", "k") if e.operation == "E" else OVER[e.operation]
        if found == "f" or index in "kh":
            return found
        # at one point the mean of f_n is f, that of f_ni is f_n
        mean = {("n", "f_n"): "f", ("i", "f_ni"): "f_n"}.get((index, found or ""))
        points = [parts(p)[0] for p in everything(inner) if isinstance(p, Apply) and p.operation == found]
        same = all(index not in read(point, self.words).free for point in points)
        return mean if how == "mean" and same else None


def _lowest(e: Expression) -> str | None:
    """The function whose infimum a tree is."""
    if e == Name("fstar"):
        return "f"
    if isinstance(e, Apply) and e.operation == "E":
        return _lowest(parts(e)[0])
    for function, point in (("f", "xstar"), ("f_n", "xstar_n")):
        if e == applied(function, (Name(point),)):
            return function
    return None


def _functional(part: Expression) -> bool:
    """Whether a part of a tree speaks of functions, states or points."""
    if isinstance(part, At):
        return True
    if isinstance(part, Name):
        return part.name in POINTS or part.name == "fstar"
    return isinstance(part, Apply) and part.operation.removeprefix("grad ") in FUNCTION_NAMES


def _bounds(smooth: Smooth, strongly: StronglyConvex) -> bool:
    """Whether a constant of smoothness of these functions bounds that of strong convexity of those."""
    return FUNCTION_NAMES.index(smooth.function) >= FUNCTION_NAMES.index(strongly.function)


def _terms(e: Expression, sign: int = 1) -> Iterator[tuple[int, Expression]]:
    """The terms of a sum, with their signs."""
    if isinstance(e, Apply) and e.operation in ("+", "-"):
        first, second = parts(e)
        yield from _terms(first, sign)
        yield from _terms(second, sign if e.operation == "+" else -sign)
    else:
        yield sign, e


def _added(terms: list[tuple[int, Formula]]) -> Formula:
    first = next((i for i, (sign, _) in enumerate(terms) if sign > 0), 0)
    sign, total = terms[first]
    if sign < 0:
        total = Apply("neg", (total,))
    for i, (sign, term) in enumerate(terms):
        if i != first:
            total = Apply("+" if sign > 0 else "-", (total, term))
    return total


def _times(first: Formula, second: Formula) -> Formula:
    if first == ONE or second == ONE:
        return second if first == ONE else first
    return Apply("*", (first, second))


def _product(first: Expression, second: Expression) -> Expression:
    if first == ONE or second == ONE:
        return second if first == ONE else first
    return applied("*", (first, second))


def _shown(claim: Claim, name: str) -> str:
    """The name of one of a claim's numbers in its bound: the paper's; weights of remembered vectors are one list."""
    base, index = index_of(name)
    here = base if index in TURNS else name
    return _plain_name(claim.paper_names.get(name, claim.paper_names.get(here, here)))


def _plain_name(name: str) -> str:
    """A name that is none of the functions of `theory.formula`."""
    return f"{name}_" if name in FUNCTIONS else name


def _identifier(text: str) -> str:
    """An identifier made of an expression's text: ``norm2(x0 - xstar)`` is norm2_x0_xstar."""
    words = re.findall(r"[A-Za-z0-9_]+", text)
    found = "_".join(words)
    if len(found) > LONGEST:
        found = found[:LONGEST].rpartition("_")[0] or found[:LONGEST]
    found = found.strip("_") or "value"
    return found if found[0].isalpha() else f"value_{found}"
