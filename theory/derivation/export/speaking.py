"""Sentences of a claim as terms of Rocq: its words, its functions, its states at their indices."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from theory.claim import Claim
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import COUNTED, LEVELS, Env, Said, safe
from theory.derivation.export.terms import (
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Num,
    Op,
    Pow,
    Term,
    Vec,
    VOp,
    count,
    name,
    names_of,
    nat_text,
    plus,
    text_of,
    times,
)  # fmt: skip
from theory.formula import Apply, Name, Number
from theory.formula import text_of as formula_text
from theory.program import Instruction, Loop, Program
from theory.sentence import (
    OVER,
    POINTS,
    TURNS,
    At,
    Expression,
    Sentence,
    everything_meant,
    index_of,
    parse_expression,
    parts,
    read,
)
from theory.sentence import everything as all_of
from theory.sentence import text_of as sentence_text


@dataclass
class Speaking:
    """The names of one claim.

    Attributes:
        claim: the claim.
        extra: formulas of its derivation.
        direction: whether it is needed that there is a direction (d >= 1).
        bounds: of indices that are bound around a term that is made, below what they are.
    """

    claim: Claim
    extra: tuple[Expression, ...] = ()
    direction: bool = False
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

    def said(self, sentence: Sentence, env: Env) -> Said:
        left, right = self.term(sentence.left, env), self.term(sentence.right, env)
        if sentence.relation in (">=", ">"):
            return Said(right, "<=" if sentence.relation == ">=" else "<", left)
        return Said(left, sentence.relation, right)

    def term(self, e: Expression, env: Env) -> Term:
        """A tree at indices; ``env["w"]`` is the outcome where one is meant."""
        if isinstance(e, Number):
            return Num(e.value)
        if isinstance(e, Name):
            return self._name(e.name, env)
        if isinstance(e, At):
            return self._state(e, env)
        return self._apply(e, env)

    def _name(self, word: str, env: Env) -> Term:
        words = self.claim.vocabulary
        if word in words.free_vectors:
            index = words.free_vectors[word]
            return Vec(safe(word), (self._at(index, env),)) if index else Vec(safe(word))
        if word in words.definitions:
            return self.term(words.definitions[word], env)
        if word in POINTS:
            return Vec(word, (self._at("n", env),)) if POINTS[word] else Vec(word)
        if word in ("k", "h", "n", "i", "j"):
            return App("INR", (self._at(word, env),))
        if word in ("N", "K", "d"):
            return App("INR", (env.get(word, name(word)),))
        if word == "fstar":
            return App("fstar")
        if self.integer(word):
            return App("INR", (env.get(word, name(safe(word))),))
        base, index = index_of(word)
        return App(safe(base), (self._at(index, env),)) if index else App(safe(word))

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
        return self.nat(parse_expression(formula_text(lengths.pop())), {}, True) if lengths else None

    @cached_property
    def weights(self) -> frozenset[str]:
        """Parameters that are one number for each remembered vector."""
        steps = () if self.program is None else self.program.steps
        return frozenset(s.label for s in steps if isinstance(s, Instruction) and s.op == "combine")

    def lagging(self, e: Expression, index: str) -> bool:
        """Whether something that is remembered, or its weight, has an index that is free in an expression."""
        words = self.claim.vocabulary
        if isinstance(e, Name):
            base, own = index_of(e.name)
            meant = words.definitions.get(e.name)
            return self.lagging(meant, index) if meant is not None else base in self.weights and own == index
        if isinstance(e, At):
            past = words.states.get(e.name) == "past"
            return past and any(Name(index) in all_of(i) for i in e.indices[1:])
        if isinstance(e, Apply) and OVER.get(e.operation, ("", ""))[1] == index:
            return False
        return any(self.lagging(part, index) for part in parts(e))

    def turns_of(self, index: str, *trees: Expression) -> Nat:
        """Up to where h, or j of an inner loop, goes in some trees: the turns of the loops of whose taps they speak; or
        how many vectors are remembered, where it is these that it counts."""
        words = self.claim.vocabulary
        if self.lags is not None and (index == "j" or any(self.lagging(e, index) for e in trees)):
            loops = [] if self.program is None else [s for s in self.program.body if isinstance(s, Loop)]
            if index == "j" and any(isinstance(s, Loop) for loop in loops for s in loop.body):
                raise NotExportedError("an index j of turns, or of remembered vectors, is not exported yet")
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

    def _at(self, index: str, env: Env) -> Nat:
        if index not in env:
            raise NotExportedError(f"the index {index} is free where it should not be")
        return env[index]

    def nat(self, e: Expression, env: Env, length: bool = False) -> Nat:
        """A whole number; the length of what is remembered may have a name that is no parameter's."""
        if length and isinstance(e, Name) and e.name not in self.claim.domains:
            return name(safe(e.name))
        if isinstance(e, Apply) and OVER.get(e.operation, ("", ""))[0] == "sum" and _one(parts(e)[0]):
            return self.turns_of(OVER[e.operation][1], parts(e)[0])  # so many times 1
        if isinstance(e, Number) and e.value.denominator == 1:
            return count(int(e.value))
        if isinstance(e, Name):
            if e.name in env:
                return env[e.name]
            if e.name in ("N", "K", "d") or self.integer(e.name):
                return name(e.name if e.name in ("N", "K", "d") else safe(e.name))
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

    def _state(self, e: At, env: Env) -> Term:
        words = self.claim.vocabulary
        kind = words.states[e.name] if e.name in words.states else words.taps[e.name][0]
        if kind not in ("server", "client", "past"):
            raise NotExportedError(f"a state or tap that is a {kind} is not exported yet")
        at = [self._moment(i, env) for i in e.indices] + ([self._at("n", env)] if kind == "client" else [])
        if self.random and "w" not in env and at[0] == count(0) and e.name in words.states:
            return self.start(e.name, env)  # it is the same in every outcome
        if self.random:
            at.append(self._at("w", env))
        return Vec(safe(e.name), tuple(at))

    def _moment(self, e: Expression, env: Env) -> Nat:
        """A round or a turn: differences of naturals end at 0, so it has to be none, or K - 1, which is at least 0."""
        found = self.nat(e, env)
        at_end = dict(found.terms) == {k: 1 for k, _ in env.get("K", name("K")).terms}
        if any(t < 0 for _, t in found.terms) or found.constant < (-1 if at_end and found.terms else 0):
            raise NotExportedError(f"the index {sentence_text(e)}, which may be negative, is not exported yet")
        return found

    def start(self, state: str, env: Env) -> Term:
        """A state before the first round."""
        assert self.program is not None
        (one,) = (s for s in self.program.state if s.name == state)
        if one.initial == "0":
            return VOp("zero")
        return self.term(parse_expression(one.initial), env)

    def _apply(self, e: Apply, env: Env) -> Term:
        op, args = e.operation, parts(e)
        if op == "E":
            if not self.random:
                return self.term(args[0], env)
            kind = "vE" if read(args[0], self.claim.vocabulary).shape == "vector" else "E"
            w = self.fresh("w", env)
            return Bind(kind, "Pr", w, self.term(args[0], {**env, "w": name(w)}))
        if op in OVER:
            return self._over(*OVER[op], args[0], env)
        if op in LEVELS:
            return self.value(op, self.term(args[0], env), env)
        if op.startswith("grad "):
            return self.gradient(op.removeprefix("grad "), self.term(args[0], env), env)
        if op == "**":
            return self.power(self.term(args[0], env), args[1], env)
        vector = read(e, self.claim.vocabulary).shape == "vector"
        found = [self.term(a, env) for a in args]
        if op == "norm2":
            return Ip(found[0], found[0])
        if op == "norm":
            return App("norm", (found[0],))
        if op == "dot":
            return Ip(found[0], found[1])
        if vector:
            return self._vector(e, op, found)
        if op in ("+", "-", "*", "neg"):
            return Op(op, tuple(found))
        if op == "/":
            if isinstance(found[0], Num) and isinstance(found[1], Num) and found[1].value:
                return Num(found[0].value / found[1].value)
            return times(found[0], Inv(found[1]))
        if op in ("min", "max"):
            head = "Rmin" if op == "min" else "Rmax"
            term = found[-1]
            for one in reversed(found[:-1]):
                term = App(head, (one, term))
            return term
        heads = {"sqrt": "sqrt", "exp": "exp", "log": "ln", "abs": "Rabs"}
        if op in heads:
            return App(heads[op], (found[0],))
        raise NotExportedError(f"{op} is not exported yet")

    def _vector(self, e: Apply, op: str, found: list[Term]) -> Term:
        shapes = [read(a, self.claim.vocabulary).shape for a in parts(e)]
        if op in ("+", "-"):
            return VOp("add" if op == "+" else "sub", tuple(found))
        if op == "neg":
            return VOp("scal", (Num(Fraction(-1)), found[0]))
        if op == "*":
            return VOp("scal", (found[1], found[0]) if shapes[0] == "vector" else (found[0], found[1]))
        if op == "/":
            number = Num(1 / found[1].value) if isinstance(found[1], Num) and found[1].value else Inv(found[1])
            return VOp("scal", (number, found[0]))
        raise NotExportedError(f"{op} of vectors is not exported yet")

    def power(self, base: Term, exponent: Expression, env: Env) -> Term:
        if isinstance(exponent, Number) and exponent.value.denominator == 1:
            e = int(exponent.value)
            return Pow(base, count(e)) if e >= 0 else Inv(Pow(base, count(-e)))
        if isinstance(exponent, Apply) and exponent.operation == "neg":
            return Inv(self.power(base, parts(exponent)[0], env))
        e_ = self.nat(exponent, env)
        least = e_
        for var, bound in self.bounds.items():  # differences of naturals end at 0: this one is none
            most = dict(e_.terms).get(var, 0)
            if most < 0:
                least = plus(least, name(var, most), -1)
                least = plus(least, Nat(tuple((k, most * t) for k, t in bound.terms), most * (bound.constant - 1)))
        if least.constant < 0 or any(times < 0 for _, times in least.terms):
            raise NotExportedError("a power whose exponent is a difference is not exported yet")
        return Pow(base, e_)

    def _over(self, how: str, index: str, body: Expression, env: Env) -> Term:
        vector = read(body, self.claim.vocabulary).shape == "vector"
        if how not in ("mean", "sum", "max", "min") or index not in ("n", "i", "k", *TURNS):
            raise NotExportedError(f"{how}_{index} is not exported yet")
        bound = {"n": name("N"), "k": env.get("K", name("K"))}.get(index)
        if index == "i":
            bound = name(f"samples {nat_text(self._at('n', env))}")
        if index in TURNS:
            bound = self.turns_of(index, body)
        var = self.fresh(index, env)
        kind = f"v{how}" if vector else {"max": "maxi", "min": "mini"}.get(how, how)
        assert bound is not None
        kept = self.bounds
        self.bounds = {**kept, var: bound}
        try:
            return Bind(kind, bound, var, self.term(body, {**env, index: name(var)}))
        finally:
            self.bounds = kept

    def value(self, function: str, v: Term, env: Env) -> Term:
        """A value of f, f_n or f_ni, down to the finest level."""
        return self._mean("mean", App, "func", function, v, env)

    def gradient(self, function: str, v: Term, env: Env) -> Term:
        return self._mean("vmean", Vec, "grad", function, v, env)

    def _mean(self, kind: str, make: Callable[..., Term], head: str, function: str, v: Term, env: Env) -> Term:
        at = LEVELS.index(function)
        finest = LEVELS.index(self.level)
        given = [self._at(i, env) for i in "ni"[:at]]

        def build(indices: list[Nat]) -> Term:
            if len(indices) == finest:
                return make(head, (*indices, v))
            index = "ni"[len(indices)]
            bound = name("N") if index == "n" else name(f"samples {nat_text(indices[0])}")
            var = self.fresh(index, env, v, *indices)
            return Bind(kind, bound, var, build([*indices, name(var)]))

        return build(given)

    def closure(self, function: str, which: str, env: Env) -> str:
        """f, f_n or f_ni (``func``), or its gradient (``grad``), as a function of Rocq."""
        v = Vec("v")
        term = self.value(function, v, env) if which == "func" else self.gradient(function, v, env)
        if isinstance(term, App | Vec):
            text = " ".join([term.head, *(text_of(a, outer=9) for a in term.args[:-1])])
            return f"({text})" if len(term.args) > 1 else text
        return f"(fun v => {text_of(term)})"


def _one(e: Expression) -> bool:
    """Whether a formula is 1, whatever its names are."""
    return _constant(e) == 1


def _constant(e: Expression) -> Fraction | None:
    """The value of a formula that is the same whatever its names are; None where none is seen."""
    if isinstance(e, Number):
        return e.value
    if not isinstance(e, Apply) or e.operation not in ("+", "-", "*"):
        return None
    a, b = (_constant(part) for part in parts(e))
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
