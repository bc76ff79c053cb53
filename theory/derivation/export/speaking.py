"""Sentences of a claim as terms of Rocq: its words, its functions, its states at their indices."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import LEVELS, Env, Said, safe
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
    nat_text,
    plus,
    text_of,
    times,
)  # fmt: skip
from theory.derivation.export.words import Words
from theory.formula import Apply, Name, Number
from theory.sentence import (
    OVER,
    POINTS,
    TURNS,
    At,
    Expression,
    Sentence,
    index_of,
    parse_expression,
    parts,
    read,
)
from theory.sentence import text_of as sentence_text


class Speaking(Words):
    """Sentences of one claim."""

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

    def _at(self, index: str, env: Env) -> Nat:
        if index not in env:
            raise NotExportedError(f"the index {index} is free where it should not be")
        return env[index]

    def _state(self, e: At, env: Env) -> Term:
        words = self.claim.vocabulary
        kind = words.states[e.name] if e.name in words.states else words.taps[e.name][0]
        if kind not in ("server", "client"):
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
