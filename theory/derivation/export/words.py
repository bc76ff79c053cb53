"""The words of a claim: of what it speaks, its parameters, whole numbers and the turns of its loops."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from theory.claim import Claim
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import COUNTED, LEVELS, Env, safe
from theory.derivation.export.terms import (
    Nat,
    Term,
    count,
    name,
    names_of,
    plus,
)  # fmt: skip
from theory.formula import Apply, Name, Number
from theory.formula import text_of as formula_text
from theory.program import Loop, Program
from theory.sentence import (
    OVER,
    At,
    Expression,
    everything_meant,
    index_of,
    parse_expression,
    parts,
)
from theory.sentence import everything as all_of
from theory.sentence import text_of as sentence_text


@dataclass
class Words:
    """The words of one claim.

    Attributes:
        claim: the claim.
        extra: formulas of its derivation.
        direction: whether it is needed that there is a direction (d >= 1).
        needs: what else is needed of draws: "later", that a sample is independent of those of earlier turns; "fits",
            that no more clients are chosen than there are.
        bounds: of indices that are bound around a term that is made, below what they are.
    """

    claim: Claim
    extra: tuple[Expression, ...] = ()
    direction: bool = False
    needs: frozenset[str] = frozenset()
    kept: dict[object, object] = field(default_factory=dict)
    bounds: dict[str, Nat] = field(default_factory=dict)

    @cached_property
    def trees(self) -> tuple[Expression, ...]:
        """Every tree of the claim and of its derivation."""
        sides = [self.claim.sentence.left, self.claim.sentence.right, *self.claim.definitions.values()]
        sides += [side for r in self.claim.relations for side in (r.left, r.right)]
        sides += [c for p in self.claim.predicates for c in p.constants]
        return (*sides, *self.extra)

    @cached_property
    def words(self) -> frozenset[str]:
        """Names and operations that occur."""
        found: set[str] = set()
        for tree in self.trees:
            for part in all_of(tree):
                if isinstance(part, Name | At):
                    found.add(part.name)
                elif isinstance(part, Apply):
                    found.add(part.operation)
        for one in self.claim.predicates:
            found.add(one.function)
            if one.name in ("bounded_variance",):
                found |= {"f_ni", "f_n"}
            if one.name == "dissimilar":
                found |= {"f_n"}
            if one.name in ("pl",):
                found.add("fstar")
            if one.name == "same_minimiser":
                found.add("xstar")
        return frozenset(found)

    @cached_property
    def program(self) -> Program | None:
        return self.claim.program

    @cached_property
    def random(self) -> bool:
        return self.program is not None and self.program.random

    @cached_property
    def level(self) -> str:
        """The finest function that is spoken of; empty where there is none."""
        found = ""
        for word in self.words:
            function = word.removeprefix("grad ")
            if function in LEVELS and LEVELS.index(function) >= (LEVELS.index(found) if found else 0):
                found = function
        if self.program is not None:
            ops = self.program.operations
            own = (
                "f_ni"
                if "sample" in ops
                else "f_n"
                if ops & {"gradient", "prox"}
                else "f"
                if "full gradient" in ops
                else ""
            )
            starts = " ".join(s.initial for s in self.program.state)
            own = "f_ni" if "f_ni" in starts else max(own, "f_n" if "f_n" in starts else own, key=lambda o: (len(o), o))
            if own and (not found or LEVELS.index(own) > LEVELS.index(found)):
                found = own
        if not found and {"fstar", "xstar"} & self.words:
            found = "f"
        return found

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Parameters as they are written, without K and N and d."""
        return tuple(s for s in self.claim.symbols if s not in ("K", "N", "d"))

    def fresh(self, stem: str, env: Env, *inside: Term) -> str:
        """A name for an index that is bound: the same one wherever the same is free around it."""
        taken: set[str] = set().union(*(names_of(t) for t in (*env.values(), *inside)))
        return next(word for word in (f"{stem}{i}" for i in itertools.count(1)) if word not in taken)

    def integer(self, word: str) -> bool:
        """Whether a name is an integer parameter without an index."""
        domain = self.claim.domains.get(word)
        return word in self.counts or (domain is not None and domain.integer and index_of(word)[1] == "")

    @cached_property
    def counts(self) -> frozenset[str]:
        """Parameters that say how many turns, samples or clients: they are whole numbers, and at least 1."""
        found: set[str] = set()
        for step in () if self.program is None else self.program.steps:
            of = [step.count] if isinstance(step, Loop) else step.numbers if step.op in COUNTED else []
            found |= {f.name for f in of if isinstance(f, Name)}
        return frozenset(found & set(self.symbols))

    def turns(self, loop: Loop) -> Nat:
        """The number of a loop's turns."""
        assert loop.count is not None
        return self.nat(parse_expression(formula_text(loop.count)), {})

    @cached_property
    def lags(self) -> Nat | None:
        """How many vectors the algorithm remembers; None where it remembers none."""
        lengths = {s.length for s in self.program.state if s.length is not None} if self.program else set()
        if len(lengths) > 1:
            raise NotExportedError("states that remember different numbers of vectors are not exported yet")
        if not lengths:
            return None
        length = parse_expression(formula_text(lengths.pop()))
        own = isinstance(length, Name) and length.name not in self.claim.domains
        return name(safe(sentence_text(length))) if own else self.nat(length, {})

    @cached_property
    def weights(self) -> frozenset[str]:
        """Parameters that are one number for each remembered vector."""
        return frozenset() if self.program is None else self.program.weights

    def placed(self, symbol: str) -> tuple[str, str]:
        """A parameter's name and its index; that of the weights is j, also where a claim does not write it."""
        base, index = index_of(symbol)
        return base, index or ("j" if base in self.weights else "")

    def lagging(self, e: Expression, index: str) -> bool:
        """Whether something that is remembered, or its weight, has an index that is free in an expression."""
        words = self.claim.vocabulary
        if isinstance(e, Name):
            base, own = index_of(e.name)
            meant = words.definitions.get(e.name)
            return self.lagging(meant, index) if meant is not None else base in self.weights and own == index
        if isinstance(e, At):
            return words.states.get(e.name) == "past" and any(Name(index) in all_of(i) for i in e.indices[1:])
        if isinstance(e, Apply) and OVER.get(e.operation, ("", ""))[1] == index:
            return False
        return any(self.lagging(part, index) for part in parts(e))

    def turns_of(self, index: str, *trees: Expression) -> Nat:
        """Up to where h, or j, goes in some trees: the turns of the loops of whose taps they speak, or how many vectors
        are remembered, where it is these that it counts."""
        words = self.claim.vocabulary
        if self.lags is not None and (index == "j" or any(self.lagging(e, index) for e in trees)):
            if any(isinstance(s, Loop) for loop in self.program.steps if isinstance(loop, Loop) for s in loop.body):  # type: ignore[union-attr]
                raise NotExportedError("loops in loops beside remembered vectors are not exported yet")
            return self.lags
        taps = {p.name for e in trees for p in everything_meant(e, words) if isinstance(p, At) and p.name in words.taps}
        loops = [] if self.program is None else [s for s in self.program.body if isinstance(s, Loop)]
        if index == "j":
            loops = [s for loop in loops for s in loop.body if isinstance(s, Loop)]
        own = [loop for loop in loops if taps & labels(loop)]
        found = {self.turns(loop) for loop in (own or loops) if loop.op == "repeat"}
        if len(found) != 1:
            raise NotExportedError(
                f"an index {index} of no loop, or of loops with different turns, is not exported yet"
            )
        return found.pop()

    def whole(self, symbol: str) -> bool:
        """Whether a parameter is a whole number, or one for each client."""
        return symbol in self.counts or self.claim.domains[index_of(symbol)[0]].integer

    def nat(self, e: Expression, env: Env) -> Nat:
        """A whole number."""
        if isinstance(e, Apply) and OVER.get(e.operation, ("", ""))[0] == "sum" and constant(parts(e)[0]) == 1:
            return self.turns_of(OVER[e.operation][1], parts(e)[0])  # so many times 1
        if isinstance(e, Number) and e.value.denominator == 1:
            return count(int(e.value))
        if isinstance(e, Name):
            if e.name in env:
                return env[e.name]
            if e.name in ("N", "K", "d") or self.integer(e.name):
                return name(e.name if e.name in ("N", "K", "d") else safe(e.name))
        if isinstance(e, Apply) and e.operation == "neg":
            return plus(count(0), self.nat(parts(e)[0], env), -1)
        if isinstance(e, Apply) and e.operation in ("+", "-"):
            a, b = (self.nat(a, env) for a in parts(e))
            return plus(a, b, 1 if e.operation == "+" else -1)
        if isinstance(e, Apply) and e.operation == "*":
            a, b = (self.nat(a, env) for a in parts(e))
            if not a.terms:
                return Nat(tuple((k, a.constant * t) for k, t in b.terms), a.constant * b.constant)
            if not b.terms:
                return Nat(tuple((k, b.constant * t) for k, t in a.terms), a.constant * b.constant)
        raise NotExportedError(f"{sentence_text(e)} as a whole number is not exported yet")


def constant(e: Expression) -> Fraction | None:
    """The value of a formula that is the same whatever its names are; None where none is seen."""
    if isinstance(e, Number):
        return e.value
    if not isinstance(e, Apply) or e.operation not in ("+", "-", "*"):
        return None
    a, b = (constant(part) for part in parts(e))
    if e.operation == "*" and (a == 0 or b == 0):
        return Fraction(0)
    if a is None or b is None:
        return None
    return a * b if e.operation == "*" else a + b if e.operation == "+" else a - b


def labels(loop: Loop) -> set[str]:
    """The taps in a loop, and in those inside it."""
    found: set[str] = set()
    for step in loop.body:
        found |= labels(step) if isinstance(step, Loop) else {step.label} if step.op == "tap" else set()
    return found
