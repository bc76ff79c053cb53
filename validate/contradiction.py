"""Assumptions of a claim that contradict each other: then it speaks of nothing, and is vacuous.

Relations become relations between numbers: what stands for something else than a number that a parameter is (a squared
norm, a value of a function, a mean over clients of such) becomes a number of its own, the same for the same text, which
is not negative where the text cannot be. If these cannot hold together, neither can the relations. Assumptions imply
relations between their constants, or exclude each other.

A relation that holds for every client holds for one client, for the means of its sides, and, where it speaks of one
number a client, for the largest and the smallest of these; a sum over clients is N times a mean, and the largest with
N - 1 times the smallest at most. At a minimiser gradients are 0. All of it is true for
every N, so that a contradiction among these numbers is one of the claim. What is asked of every round, turn and sample
is asked of the first, and what bounds a number in every round bounds its mean over the rounds. A product of two vectors
is at most that of their lengths.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from theory.calculator.signs import never_negative
from theory.claim import Claim
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL, Domain
from theory.formula import Apply, Name, Number, parse_relation
from theory.predicates import SameMinimiser, Smooth, StronglyConvex
from theory.program import limits, names_in
from theory.sentence import (
    INTEGERS,
    OVER,
    At,
    Expression,
    Relation,
    Sentence,
    applied,
    everything,
    index_of,
    parts,
    read,
    replaced,
    text_of,
)
from validate.no_functions import excluded as of_sentences
from validate.verdict import Evidence, Outcome

log = logging.getLogger(__name__)

LENGTHS, GRADIENT = ("norm", "norm2", "dot"), "grad "
PLAIN = ("+", "-", "*", "/", "**", "neg", "sqrt", "log", "exp", "abs", "min", "max")
"""Operations on numbers."""


QUICK = 0.5
"""Share of what questions to z3 and boxes may compute, in a quick check."""


def contradictions(claim: Claim, quick: bool = False) -> list[Evidence]:
    """Whether what a claim assumes can hold together, as evidence; nothing where that is not known."""
    from theory.feasible import Limits, feasible_relations, function_conflicts

    for found in function_conflicts(claim):
        excluded = f"{found.first} and {found.second} exclude each other: {found.proof}"
        return [Evidence("hypotheses", "vacuous", excluded, origin="search")]
    if found_none := of_sentences(claim):
        return found_none

    numbers = Numbers(claim)
    asked = [*map(numbers.written, claim.relations)]
    firsts = [(relation, first) for relation in asked if (first := of_the_first(relation)) is not None]
    relations = [first for _, first in firsts]
    of_all = all(relation in asked for relation in relations)
    in_the_first = "" if of_all else "; asked of the first k, h, j and i, as a relation is for all of them"
    if not relations:
        return []
    relations += map(numbers.written, _asked_by_the_program(claim))
    relations += _of_angles(relations)
    relations += [*_of_means(relations, claim), *_of_extremes(relations, claim), *_over_rounds(asked, claim)]
    texts = [*map(numbers.text, relations)]
    for one in () if claim.over else claim.predicates:  # asked at some x only, they imply nothing here
        for other in claim.predicates:
            if isinstance(one, StronglyConvex) and isinstance(other, Smooth):  # of some f_n or f_ni, and so of f
                sides = (numbers.of(replaced(c, claim.definitions)) for c in (one.constants[0], other.constants[0]))
                texts.append(" <= ".join(map(text_of, sides)))
    try:
        answer = feasible_relations(texts, numbers.domains, limits=Limits(effort=QUICK if quick else 1.0))
    except ValueError as error:
        log.debug("%s: %s", claim.id, error)
        return []
    outcome: Outcome = {"feasible": "holds", "empty": "vacuous", "undecided": "undecided"}[answer.outcome]  # type: ignore[assignment]
    holds = "its relations between numbers have " if outcome == "holds" else ""
    detail = (
        holds + answer.detail + in_the_first + "".join(f"; {name} = {text}" for name, text in numbers.meanings.items())
    )
    if answer.proof is not None:
        core = answer.proof.core
        detail += _by_name(claim, core)
        detail += _from_zero([(one, numbers.text(first)) for one, first in firsts], core) or _by_domain(
            numbers, [text for text in texts if text in core]
        )
    if outcome == "holds" and numbers.meanings:  # of numbers that are bound to functions this says little
        return []
    return [Evidence("hypotheses", outcome, detail, data=answer.to_json(), origin="search")]


def _by_name(claim: Claim, core: Iterable[str]) -> str:
    """That a parameter is an integer by its name alone, where this is part of what cannot hold together."""
    named = [n for n in sorted(INTEGERS & claim.domains.keys() - claim.parameters.keys()) if f"domain of {n}" in core]
    return "".join(
        f"; {n} is an integer, at least 1, by its name (parameters={{{n!r}: ...}} says otherwise)" for n in named
    )


def _by_domain(numbers: Numbers, core: list[str]) -> str:
    """That a parameter is positive, where what cannot hold together could if it were 0."""
    from theory.feasible import Limits, feasible_relations

    said = ""
    for name in sorted(name for name, domain in numbers.claim.domains.items() if domain == POSITIVE):
        of_it = {name, *(number for number, base in numbers.lent.items() if base == name)}
        if not any(names_in(parse_relation(text)) & of_it for text in core):
            continue
        domains = {**numbers.domains, **dict.fromkeys(of_it, NONNEGATIVE)}
        if feasible_relations(core, domains, limits=Limits(effort=QUICK)).outcome == "feasible":
            said += (
                f"; {name} is positive by its domain: parameters={{{name!r}: NONNEGATIVE}} lets it be 0, or leave out "
                "the terms that have it"
            )
    return said


def _from_zero(firsts: Iterable[tuple[Sentence, str]], core: Iterable[str]) -> str:
    """That an index begins at 0, where a relation that has it as a number is part of what cannot hold together."""
    spoken = [_numbers_of_rounds(side) for one, text in firsts if text in core for side in one.sides]
    letters = sorted(frozenset[str]().union(*spoken), key="khji".index)
    return "".join(
        f"; {letter} begins at 0: to begin with 1, write {letter} + 1 for {letter} in the sentence and what it assumes"
        for letter in letters
    )


def _asked_by_the_program(claim: Claim) -> list[Sentence]:
    """What draws and compressions ask of their arguments, where these are formulas in parameters."""
    if claim.program is None:
        return []
    numbers = {*claim.domains, "N", "d"}
    return [Sentence(number, "<=", most) for _, number, most in limits(claim.program) if names_in(number) <= numbers]


# --- what holds in every round ----------------------------------------------------------------------------------------

ZERO = Number(Fraction(0))
FIRST = frozenset("khji")
"""Indices of which every run has the first."""
ROUND = (Name("k"), applied("+", (Name("k"), Number(Fraction(1)))))


def of_the_first(relation: Sentence) -> Sentence | None:
    """What a relation says of the first round, turn and sample, which every run has; None where they have no k + 2.

    States and taps keep their text, which stands for what they are there.
    """
    sides = [_put_first(side, frozenset()) for side in relation.sides]
    return None if sides[0] is None or sides[1] is None else Sentence(sides[0], relation.relation, sides[1])


def _put_first(e: Expression, bound: frozenset[str]) -> Expression | None:
    """The tree with free indices that are numbers put to 0; None where that may lie outside of the run."""
    if isinstance(e, Name):
        return ZERO if e.name in FIRST and e.name not in bound else e
    if isinstance(e, At):
        for place, index in enumerate(e.indices):
            free = {part.name for part in everything(index) if isinstance(part, Name)} & FIRST - bound
            if free and not (index in ROUND if place == 0 else isinstance(index, Name)):
                return None
        return e
    if not isinstance(e, Apply):
        return e
    over = OVER.get(e.operation)
    inner = [_put_first(part, bound if over is None else bound | {over[1]}) for part in parts(e)]
    return None if None in inner else applied(e.operation, tuple(part for part in inner if part is not None))


def _numbers_of_rounds(e: Expression, bound: frozenset[str] = frozenset()) -> frozenset[str]:
    """The free indices that stand as numbers, which the first round, turn and sample put to 0."""
    if isinstance(e, Name):
        return frozenset({e.name}) & FIRST - bound
    if not isinstance(e, Apply):
        return frozenset()
    over = OVER.get(e.operation)
    within = bound if over is None else bound | {over[1]}
    return frozenset[str]().union(*(_numbers_of_rounds(part, within) for part in parts(e)))


# --- what holds of any two vectors ---------------------------------------------------------------------------------


def _of_angles(relations: list[Sentence]) -> list[Sentence]:
    """Of each pair of vectors of whose product a relation speaks: its Gram matrix has no negative determinant."""
    said = (e for one in relations for side in one.sides for e in everything(side))
    products = dict.fromkeys(e for e in said if isinstance(e, Apply) and e.operation == "dot")
    square = Number(Fraction(2))
    lengths = {e: applied("*", tuple(applied("norm2", (v,)) for v in parts(e))) for e in products}
    return [Sentence(applied("**", (e, square)), "<=", length) for e, length in lengths.items()]


# --- what holds for every client -------------------------------------------------------------------------------------

MEAN, SUM, LARGEST, LEAST = "mean_n", "sum_n", "max_n", "min_n"
CLIENTS = Name("N")


def _hangs_on_the_client(e: Expression, claim: Claim) -> bool:
    return "n" in read(e, claim.vocabulary).free


def _of_means(relations: list[Sentence], claim: Claim) -> Iterator[Sentence]:
    """The means over the clients of relations that hold for every client, a strict one strictly; N is at least 1."""
    for one in relations:
        if any(_hangs_on_the_client(side, claim) for side in one.sides):
            yield Sentence(applied(MEAN, (one.left,)), one.relation, applied(MEAN, (one.right,)))


def _of_extremes(relations: list[Sentence], claim: Claim) -> Iterator[Sentence]:
    """What is true of the largest and the smallest of a number a client that some relation speaks of."""
    spoken = dict.fromkeys(
        parts(e)[0]
        for one in relations
        for side in one.sides
        for e in everything(side)
        if isinstance(e, Apply) and e.operation in (LARGEST, LEAST)
    )
    for each in spoken:
        if not _hangs_on_the_client(each, claim):
            continue
        largest, mean, least = (applied(how, (each,)) for how in (LARGEST, MEAN, LEAST))
        for low, high in ((least, mean), (mean, largest), (least, each), (each, largest)):
            yield Sentence(low, "<=", high)
        total, others = applied("*", (CLIENTS, mean)), applied("-", (CLIENTS, Number(Fraction(1))))
        yield Sentence(applied("+", (largest, applied("*", (others, least)))), "<=", total)
        yield Sentence(total, "<=", applied("+", (least, applied("*", (others, largest)))))
        for one in relations:  # those clients have them that attain them
            for extreme in (largest, least):
                sides = [_put(side, each, extreme) for side in one.sides]
                if sides != [*one.sides] and not any(_hangs_on_the_client(side, claim) for side in sides):
                    yield Sentence(sides[0], one.relation, sides[1])


def _over_rounds(relations: list[Sentence], claim: Claim) -> Iterator[Sentence]:
    """What bounds a number in every round, such as a step, bounds its mean and extremes of which a relation speaks."""
    spoken = {e for one in relations for side in one.sides for e in everything(side) if isinstance(e, Apply)}
    for one in relations:
        hang = [bool({"k", "*k"} & read(side, claim.vocabulary).free) for side in one.sides]
        if (
            sum(hang) != 1 or of_the_first(one) is None
        ):  # what a run of one round has not is bounded in longer ones only
            continue
        for how in ("mean_k", "max_k", "min_k"):
            sides = [applied(how, (side,)) if of_k else side for side, of_k in zip(one.sides, hang, strict=True)]
            if spoken & {*sides}:
                yield Sentence(sides[0], one.relation, sides[1])


def _put(e: Expression, old: Expression, new: Expression) -> Expression:
    """The tree with a part replaced, but for what is taken over all clients."""
    if e == old:
        return new
    if isinstance(e, Apply) and not e.operation.endswith("_n"):
        return applied(e.operation, tuple(_put(part, old, new) for part in parts(e)))
    return e


class Numbers:
    """The numbers that stand for what is no parameter, as they are met.

    Attributes:
        lent: of those that lie where a parameter of the claim does, the parameter's name without its index.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.domains: dict[str, Domain] = {**claim.domains, "N": COUNT, "d": COUNT, "K": COUNT}
        self.meanings: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.lent: dict[str, str] = {}
        indexed = {index_of(symbol)[0]: Name(symbol) for symbol in claim.symbols if index_of(symbol)[1]}
        self.indexed: Mapping[str, Expression] = {base: name for base, name in indexed.items() if base != name.name}

    def written(self, relation: Sentence) -> Sentence:
        """A relation without definitions; what is one number a client goes by its index, as ``p`` does that is p_n."""
        left, right = (
            self._still(replaced(replaced(side, self.claim.definitions), self.indexed)) for side in relation.sides
        )
        kind: Relation = relation.relation
        return Sentence(left, kind, right)

    def _still(self, e: Expression) -> Expression:
        """The tree with 0 for lengths of gradients at their minimiser, and for their products."""
        if not isinstance(e, Apply):
            return e
        if e.operation in LENGTHS and any(self._is_still(v) for v in parts(e)):
            return ZERO
        inner = tuple(map(self._still, parts(e)))
        return ZERO if inner == (ZERO,) and (e.operation in OVER or e.operation == "E") else applied(e.operation, inner)

    def _is_still(self, v: Expression) -> bool:
        """Whether a vector is a gradient at a minimiser of its function."""
        if not isinstance(v, Apply) or not v.operation.startswith(GRADIENT):
            return False
        name = v.operation.removeprefix(GRADIENT)
        same = any(isinstance(p, SameMinimiser) and p.function.startswith(name) for p in self.claim.predicates)
        return parts(v)[0] == Name("xstar") and (name == "f" or same)

    def text(self, relation: Sentence) -> str:
        """A relation between numbers alone, as text."""
        return f"{text_of(self.of(relation.left))} {relation.relation} {text_of(self.of(relation.right))}"

    def of(self, e: Expression) -> Expression:
        """A tree of numbers alone."""
        if isinstance(e, Number) or (isinstance(e, Name) and self._is_number(e.name)):
            return e
        if isinstance(e, Apply) and e.operation in PLAIN and all(map(self._is_scalar, parts(e))):
            return applied(e.operation, tuple(self.of(part) for part in parts(e)))
        if isinstance(e, Apply) and e.operation == "norm":
            return applied("sqrt", (self.of(applied("norm2", parts(e))),))
        if isinstance(e, Apply) and e.operation in (MEAN, SUM) and self._is_scalar(e):
            return self._over_clients(e)
        return self._opaque(e)

    def _opaque(self, e: Expression) -> Expression:
        text = text_of(e)
        if text not in self.names:
            self.names[text] = name = self._fresh()
            self.domains[name] = self._domain(e, name)
            self.meanings[name] = text
        return Name(self.names[text])

    def _over_clients(self, e: Apply) -> Expression:
        """A mean of sums is the sum of means, and what hangs on no client comes before it; a sum is N means."""
        found: Expression | None = None
        for factors, each in self._terms(parts(e)[0]):
            term: Expression | None = None if each is None else self._opaque(applied(MEAN, (each,)))
            for operation, factor in factors:
                number = self.of(factor)
                if term is None:
                    term = number if operation == "*" else applied("/", (Number(Fraction(1)), number))
                else:
                    term = applied(operation, (term, number))
            term = Number(Fraction(1)) if term is None else term
            found = term if found is None else applied("+", (found, term))
        assert found is not None
        return found if e.operation == MEAN else applied("*", (Name("N"), found))

    def _terms(self, e: Expression) -> Iterator[tuple[tuple[tuple[str, Expression], ...], Expression | None]]:
        """The terms of a sum: what each is multiplied with and divided by, and what hangs on the client; None for 1."""
        if not _hangs_on_the_client(e, self.claim):
            yield (("*", e),), None
            return
        if isinstance(e, Apply) and e.operation in ("+", "-", "neg"):
            inner = parts(e)
            if e.operation != "neg":
                yield from self._terms(inner[0])
            for factors, each in self._terms(inner[-1]):
                minus = () if e.operation == "+" else (("*", Number(Fraction(-1))),)
                yield (*factors, *minus), each
            return
        if isinstance(e, Apply) and e.operation in ("*", "/"):
            one, two = parts(e)
            if not _hangs_on_the_client(two, self.claim):
                for factors, each in self._terms(one):
                    yield (*factors, (e.operation, two)), each
                return
            if e.operation == "*" and not _hangs_on_the_client(one, self.claim):
                for factors, each in self._terms(two):
                    yield (*factors, ("*", one)), each
                return
        yield (), e

    def _domain(self, e: Expression, number: str) -> Domain:
        """Where a number lies: one a client where the claim says, and means and extremes of these there too."""
        each = parts(e)[0] if isinstance(e, Apply) and e.operation in (MEAN, LARGEST, LEAST) else e
        base = index_of(each.name)[0] if isinstance(each, Name) else ""
        if base in self.claim.domains:
            domain = self.claim.domains[base]
            self.lent[number] = base
            return replace(domain, integer=False) if each is not e and e.operation == MEAN else domain  # type: ignore[union-attr]
        return NONNEGATIVE if never_negative(e, self.claim) else REAL

    def _fresh(self) -> str:
        count = len(self.names) + 1
        while f"s{count}" in self.domains:
            count += 1
        return f"s{count}"

    def _is_number(self, name: str) -> bool:
        return name in self.domains

    def _is_scalar(self, e: Expression) -> bool:
        from theory.sentence import read

        return read(e, self.claim.vocabulary).shape == "scalar"
