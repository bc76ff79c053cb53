"""From sentences to the normal form: what the names of a claim mean, and at which indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from theory.claim import Claim
from theory.derivation.atoms import CERTAIN, FIRST, Binder, Index, atom, closing, deep, fresh
from theory.derivation.elementary import absolute, extremum, power, root
from theory.derivation.expectations import expectation
from theory.derivation.places import PLAIN, Place, Unfolding, finest, number_of, parameter, put
from theory.derivation.polynomials import Atom, RejectedError
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, mapped, of_atom, total
from theory.derivation.telling import left_over
from theory.derivation.terms import affine, as_vector, bind, coordinate, dot, least, over_all, weight
from theory.domain import COUNT, NONNEGATIVE, Domain
from theory.for_every import predicate_of
from theory.formula import Apply, Name, Number
from theory.predicates import Connected
from theory.program import Instruction, Loop, Program, loops_around
from theory.sentence import (
    FUNCTION_NAMES,
    INTEGERS,
    OVER,
    TURNS,
    At,
    Expression,
    Sentence,
    everything_meant,
    index_of,
    parse_expression,
    parts,
    read,
    text_of,
)

ENTRY = Index("c")
"""The free index of a line that speaks of a coordinate of vectors."""
MOST_POINTS = 8
LONGEST_SUM = 64
"""That is written out, where the number of its terms is a numeral."""


class Reader:
    """The normal form of a claim's expressions.

    Args:
        claim: whose names are meant.
        level: see `finest`.
        nonzero: whether an expression is not 0 at a place for certain, so that its negative powers may be split.
    """

    def __init__(
        self, claim: Claim, level: int, nonzero: Callable[[Expression, Place], bool] = lambda _e, _p: False
    ) -> None:
        self.claim, self.level, self._nonzero = claim, level, nonzero
        self.words = claim.vocabulary
        self.rounds: Unfolding | None = None
        self.by_lines: Callable[[Quotient], bool] = lambda q: False
        self.asked = 0
        self._values: dict[Any, tuple[Quotient, frozenset[str], tuple[Quotient, ...]]] = {}
        self._trees: dict[int, tuple[Expression, int]] = {}
        self._numbers: dict[Expression, int] = {}
        self.symbols = frozenset(claim.symbols)
        of = FUNCTION_NAMES[level]
        self.affine = next((text for text in (*claim.assuming, *claim.standing) if _is_quadratic(text, of)), "")
        self.leaned: set[str] = set()
        self.one = ""
        self.matrices = frozenset(one.matrix for one in claim.predicates if isinstance(one, Connected))

    def nonzero(self, e: Expression, place: Place) -> bool:
        """Whether an expression is not 0 for certain."""
        self.asked += 1
        return self._nonzero(e, place)

    def nonnegative(self, q: Quotient) -> bool:
        """Whether a normal form is at least 0 for certain."""
        self.asked += 1
        return self.by_lines(q)

    def difference(self, s: Sentence, place: Place = PLAIN) -> Quotient:
        """Right minus left, of ``>=`` left minus right: what the sentence says is at least 0, or is 0."""
        gap = self.value(s.right, place) - self.value(s.left, place)
        return -gap if s.relation in (">=", ">") else gap

    def value(self, e: Expression, place: Place = PLAIN) -> Quotient:
        """The normal form of a scalar, or of a vector as a linear form.

        Raises:
            RejectedError: for what is not read.
        """
        if isinstance(e, Number):
            return constant(e.value)
        if isinstance(e, Name):
            return self._name(e.name, place)
        return self._remembered(e, place)

    @closing
    def _remembered(self, e: Apply | At, place: Place) -> Quotient:
        """The value, made once for each place.

        It is made again where a line was asked for it, since other lines may be known by then; what else it hangs on
        is part of the key, and what making it tells (hypotheses, rounds) is told again.
        """
        rounds = self.rounds
        switches = None if rounds is None else (rounds.alone, rounds.weights, rounds.named)
        key = self._tree(e), place, self.one, switches
        kept = self._values.get(key)
        if kept is not None:
            found, leaned, undefined = kept
            self.leaned |= leaned
            if rounds is not None:
                rounds.undefined += undefined
            return found
        asked, told = self.asked, (self.leaned, [] if rounds is None else rounds.undefined)
        made: list[Quotient] = []
        self.leaned = set()
        if rounds is not None:
            rounds.undefined = made
        try:
            found = self._state(e, place) if isinstance(e, At) else self._applied(e, place)
            if self.asked == asked:
                self._values[key] = found, frozenset(self.leaned), tuple(made)
        finally:
            leaned, self.leaned = frozenset(self.leaned), told[0]
            self.leaned |= leaned
            if rounds is not None:
                rounds.undefined = told[1]
                rounds.undefined += made
        return found

    def _tree(self, e: Expression) -> int:
        """A number that equal trees share."""
        found = self._trees.get(id(e))
        if found is None:
            found = e, self._numbers.setdefault(e, len(self._numbers))
            self._trees[id(e)] = found  # with the tree, so that no other gets its id
        return found[1]

    def _applied(self, e: Apply, place: Place) -> Quotient:
        op, inner = e.operation, parts(e)
        if op in ("+", "-"):
            one, two = self.value(inner[0], place), self.value(inner[1], place)
            return one + two if op == "+" else one - two
        if op == "neg":
            return -self.value(inner[0], place)
        if op == "*":
            return self.value(inner[0], place) * self.value(inner[1], place)
        if op == "/":
            return self.value(inner[0], place) * self._inverse(inner[1], place)
        if op == "**":
            return self._power(inner[0], inner[1], place)
        if op == "E":
            of_draws = None if self.rounds is None else self.rounds.expected
            return self.integrable(expectation(self.value(inner[0], place), of_draws))
        if op in ("norm2", "norm", "dot"):
            u = self.value(inner[0], place)
            found = dot(u, self.value(inner[1], place) if op == "dot" else u)
            return root(found) if op == "norm" else found
        if op == "coordinate":
            return coordinate(self.value(inner[0], place), ENTRY)
        if op in FUNCTION_NAMES or op.startswith("grad "):
            name, gradient = op.removeprefix("grad "), op.startswith("grad ")
            if gradient and self.affine:
                return self.function(name, self.value(inner[0], place), place, True)
            values = ((chance, self.function(name, at, place, gradient)) for chance, at in self.points(inner[0], place))
            return total(chance * value for chance, value in values)
        if op in OVER:
            return self._over(*OVER[op], inner[0], place)
        if op == "quantile":
            return self._largest(inner[0], inner[1], place)
        if op == "argmin_n":
            return self._least(e, place)
        if op == "simplex_n":
            here = fresh("n")
            costs, curvatures = (self.value(part, replace(place, n=here)) for part in inner)
            return weight(here, costs, curvatures, place.n)
        return self.elementary(op, [self.value(a, place) for a in inner])

    def points(self, e: Expression, place: Place) -> list[tuple[Quotient, Quotient]]:
        """The vectors at which a function is taken, each with a number that is 1 if it is the one, and else 0.

        They are several where draws of 0 and 1 choose; with other draws in it the state itself stays there.
        """
        left, found = [(ONE, self.value(e, place))], []
        while left:
            chance, v = left.pop()
            coin = min((a for a in v.atoms if a.kind in ("draw", "hit")), default=None)
            if not v.draws:
                found.append((chance, v))
            elif coin is None or len(found) + len(left) >= MOST_POINTS:
                return [(ONE, self.value(e, replace(place, unfold=False)))]
            else:
                for value, times in ((1, of_atom(coin)), (0, ONE - of_atom(coin))):
                    left.append((chance * times, mapped(v, _with(coin, constant(value)))))
        return found

    def integrable(self, q: Quotient) -> Quotient:
        """An expectation that is there: with noise, of which two moments are known, that of second degree at most.

        Raises:
            RejectedError: for others.
        """
        if self.claim.program is None or "noise" not in self.claim.program.operations:
            return q
        for a in deep(q):
            if a.kind in ("E", "E vec"):
                (one, power_), *more = a.data[0]
                grows = {"smooth", "lipschitz", "bounded_gradients"}
                known = any(
                    p.name in grows and FUNCTION_NAMES.index(p.function) == self.level
                    for p in self.claim.predicates
                    if p.function
                )
                if more or power_ != 1 or one.kind not in ("dot", "vec", "value"):
                    raise RejectedError("an expectation of more than second degree, with noise")
                if not known and any(b.kind in ("value", "grad") for b in deep(of_atom(one))):
                    raise RejectedError("an expectation that need not be there, with noise")
        return q

    def _inverse(self, e: Expression, place: Place) -> Quotient:
        """One divided by it; a power, or a product, stays one in the denominator."""
        if isinstance(e, Name) and e.name in self.words.definitions:
            return self._inverse(self.words.definitions[e.name], place)
        if isinstance(e, Apply) and e.operation == "*":
            one, other = parts(e)
            return self._inverse(one, place) * self._inverse(other, place)
        if isinstance(e, Apply) and e.operation == "**":
            base, exponent = parts(e)
            if isinstance(exponent, Number) and exponent.value.denominator == 1 and exponent.value > 0:
                return self._inverse(base, place).power(int(exponent.value))
        return ONE / self.value(e, place)

    # --- names ---

    def _name(self, name: str, place: Place) -> Quotient:
        if name in self.words.free_vectors:
            return as_vector(atom("free", name, place.n) if self.words.free_vectors[name] else atom("free", name))
        if name in self.words.definitions:
            return self.value(self.words.definitions[name], place)
        if name in ("x0", "xstar", "xstar_n"):
            return as_vector(atom("point", name, place.n) if name == "xstar_n" else atom("point", name))
        if name in ("n", "i"):
            return number_of(place.n if name == "n" else self._sample(place))
        if name in ("k", *TURNS):
            return {"k": place.k, "h": place.h, "j": place.j}[name]
        if name == "K":
            return place.K
        if name in ("N", "d", "fstar"):
            return parameter(name)
        if name in self.matrices or (name not in self.symbols and index_of(name)[0] not in self.weights):
            raise RejectedError(f"{name} is no number of the claim")
        return self.named(name, place)

    def named(self, symbol: str, place: Place) -> Quotient:
        """A parameter as a claim writes it."""
        base, index = index_of(symbol)
        if symbol == self.one:
            return ONE
        if index not in ("", "n", "k", *TURNS) or (index in TURNS) != (base in self.weights):
            raise RejectedError(f"{symbol}: a number for each {index or 'remembered vector'}")
        at: tuple[Any, ...] = () if not index else (getattr(place, index),)
        return parameter(base, *at)

    def domain(self, name: str) -> Domain | None:
        """The domain of a parameter, by its name without an index."""
        if name in ("N", "d", "K") or (self.lags is not None and self.lags.text == parameter(name).text):
            return COUNT
        given = {name, *(f"{name}_{index}" for index in TURNS)} & set(self.claim.parameters)
        return NONNEGATIVE if name in self.weights and not given else self.claim.domains.get(name)

    def _sample(self, place: Place) -> Index:
        if place.owner != place.n:
            raise RejectedError("a sample i of another client than n")
        return place.i

    def integer(self, a: Atom) -> bool:
        """Whether a number's atom is an integer that is at least 0."""
        if a.kind in ("number", "samples"):
            return True
        if a.kind != "parameter" or len(a.data) > 2:
            return False
        name = str(a.data[0])
        domain = self.domain(name)
        if domain is None:
            return name in INTEGERS
        return domain.integer and domain.lower is not None and domain.lower >= 0

    def whole(self, q: Quotient) -> bool:
        """Whether it is a sum of products of integers that are at least 0, with integer factors of any sign."""
        factors = all(c.denominator == 1 for c in q.over.values()) and not q.under
        return factors and all(p > 0 and self.integer(a) for m in q.over for a, p in m)

    # --- states ---

    def _state(self, e: At, place: Place) -> Quotient:
        still = replace(place, unfold=False)
        for number, index in enumerate(e.indices):
            own = TURNS[number - 1 : number] if e.name in self.words.taps else TURNS if number else ()
            if self._turning([index]) - set(own):
                raise RejectedError(f"{text_of(e)}: h is the turn of a loop, j of one inside it")
        indices = tuple(self.value(i, still) for i in e.indices)
        return self.state(e.name, indices, place)

    def state(self, name: str, indices: tuple[Quotient, ...], place: Place) -> Quotient:
        """A state or a tap at its indices."""
        for index in indices:
            self.index(index)
        program = self.claim.program
        kind = self.words.states[name] if name in self.words.states else self.words.taps[name][0]
        table = kind == "table" and name in self.words.states
        if not isinstance(program, Program) or not (kind in ("server", "client") or table or name in self.pasts):
            raise RejectedError(f"{name} is neither a server's vector, nor a client's, nor a table")
        sample = (self._sample(place),) if table else ()
        if name in self.pasts:  # what was j + 1 rounds back was j rounds back before
            both = min(self.index(q)[1] for q in indices)
            indices = tuple(q - constant(max(both, 0)) for q in indices)
        if name in self.words.states and indices[0].zero:
            initial = next(s.initial for s in program.state if s.name == name)
            return self.value(parse_expression(initial), replace(place, unfold=False))
        if place.unfold and self.rounds is not None:
            made = self.rounds.value(name, indices, place)
            if made is not None:
                return made
        client: tuple[Any, ...] = (place.n, *sample) if table or kind == "client" else ()
        return as_vector(atom("state", name, indices, *client, *(() if program.random else (CERTAIN,))))

    def index(self, q: Quotient) -> tuple[str, int]:
        """The name and the constant of which an index of a state is the sum: k+1, K, 0.

        Raises:
            RejectedError: where it is none, or may be negative.
        """
        terms = dict(q.over)
        c = terms.pop((), Fraction(0))
        plain = len(terms) <= 1 and not q.under and c.denominator == 1
        for m, times in terms.items():
            plain = plain and times == 1 and len(m) == 1 and m[0][1] == 1 and self.integer(m[0][0])
        named = any(a.kind == "parameter" for a in q.atoms)
        if not plain or (c < 0 and not (named and self.nonnegative(q))):
            raise RejectedError(f"the index {left_over(q, self.claim)} of a state is not of the form k + 1")
        return (next(iter(terms))[0][0].text if terms else "", int(c))

    # --- remembered vectors ---

    @cached_property
    def lags(self) -> Quotient | None:
        """How many vectors the algorithm remembers, at least 1; None where it remembers none."""
        program = self.claim.program
        lengths = set() if program is None else {s.length for s in program.state if s.length is not None}
        length = lengths.pop() if len(lengths) == 1 else None
        if isinstance(length, Number):
            return constant(length.value)
        return parameter(length.name) if isinstance(length, Name) else None

    @cached_property
    def weights(self) -> frozenset[str]:
        """The parameters that are one number for each remembered vector."""
        return frozenset() if self.claim.program is None else self.claim.program.weights

    @cached_property
    def pasts(self) -> Mapping[str, str]:
        """The server's states that remember vectors, and what each round puts in front of them."""
        program = self.claim.program
        if program is None or self.lags is None:
            return {}
        shifts = {s.to: s for s in program.body if isinstance(s, Instruction) and s.op == "shift"}
        found = {}
        for state, before, after in zip(program.state, program.inputs, program.result, strict=True):
            step = shifts.get(after)
            if state.kind == "past" and step is not None and step.of[0] == before:
                found[state.name] = step.of[1]
        return found

    def combined(self, weights: str, past: str, place: Place) -> Quotient:
        """Remembered vectors with their weights, added up."""

        def at(j: Quotient) -> Quotient:
            return parameter(weights, j) * self.state(past, (place.k, j), replace(place, unfold=False))

        assert self.lags is not None
        return self.summed("j", at, self.lags)

    def lagging(self, e: Expression, index: str) -> bool:
        """Whether something that is remembered has an index, free in an expression, or is a weight with it."""
        if isinstance(e, Name):
            meant = self.words.definitions.get(e.name)
            base, own = index_of(e.name)
            return self.lagging(meant, index) if meant is not None else base in self.weights and own == index
        if isinstance(e, At):
            return e.name in self.pasts and index in self._turning(e.indices[1:])
        if isinstance(e, Apply) and OVER.get(e.operation, ("", ""))[1] == index:
            return False
        return any(self.lagging(part, index) for part in parts(e))

    # --- functions ---

    def function(self, name: str, at: Quotient, place: Place, gradient: bool) -> Quotient:
        """A function, or its gradient, at a vector, as a mean of the finest ones."""
        fineness = FUNCTION_NAMES.index(name)
        if fineness > self.level:
            raise RejectedError(f"{name} is finer than what the derivation speaks of")
        n = place.n if fineness >= 1 else fresh("n")
        i = self._sample(place) if fineness == 2 else fresh("i")
        key = (n, i)[: self.level]
        found = self.gradient("grad", (key,), at) if gradient else of_atom(atom("value", key, at))
        if self.level == 2 and fineness < 2:
            found = bind(Binder("i", i, n), found)
        return bind(Binder("n", n), found) if self.level >= 1 and fineness == 0 else found

    def gradient(self, kind: str, of: tuple[Any, ...], at: Quotient) -> Quotient:
        """One of the finest functions' gradient; that of a quadratic is affine."""
        if not self.affine:
            return as_vector(atom(kind, *of, at))
        self.leaned.add(self.affine)
        return affine(lambda point: atom(kind, *of, point), at)

    # --- operations on numbers ---

    def elementary(self, op: str, of: list[Quotient]) -> Quotient:
        """A root, a logarithm, a maximum ... of numbers."""
        if op == "sqrt":
            return root(of[0])
        if op == "abs":
            return absolute(of[0])
        if op in ("exp", "log"):
            trivial = of[0].zero if op == "exp" else of[0].number == 1
            return constant(int(op == "exp")) if trivial else of_atom(atom(op, of[0]))
        if op in ("max", "min"):
            return extremum(op, of)
        raise RejectedError(f"{op} is not read")

    def _power(self, base: Expression, exponent: Expression, place: Place) -> Quotient:
        b, e = self.value(base, place), self.value(exponent, place)
        if e.number is not None:
            if e.number.denominator == 1:
                return b.power(int(e.number))
            if e.number.denominator == 2:
                return root(b).power(e.number.numerator)
        if not self.whole(e) or (any(c < 0 for c in e.over.values()) and not self.nonzero(base, place)):
            return of_atom(atom("real power", b, e))
        found = ONE
        for m, c in e:
            found = found * (power(b, Quotient({m: Fraction(1)}, {})).power(int(c)) if m else b.power(int(c)))
        return found

    @cached_property
    def minimisers(self) -> frozenset[str]:
        """Those over balls of which the claim itself speaks: where one does not exist, it says nothing."""
        claim = self.claim
        sentences = [claim.sentence, *claim.relations]
        some = [part for s in sentences for side in (s.left, s.right) for part in everything_meant(side, self.words)]
        return frozenset(self._minimiser(e, PLAIN).text for e in some if isinstance(e, Apply) and _over_ball(e))

    def _least(self, e: Apply, place: Place) -> Quotient:
        found = self._minimiser(e, place) if _over_ball(e) else ZERO
        if found.text not in self.minimisers or found.free or found.random:
            raise RejectedError(f"nothing says that there is {text_of(e)}")
        return found

    def _minimiser(self, e: Apply, place: Place) -> Quotient:
        weights, radius = parts(e)
        here = fresh("n")
        return least(here, self.value(weights, replace(place, n=here)), self.value(radius, place))

    def _largest(self, inner: Expression, probability: Expression, place: Place) -> Quotient:
        """What a number does not exceed with a probability; with probability 1, in any outcome."""
        level = self.value(probability)
        if level.free or level.random:
            raise RejectedError("a quantile of a probability that is drawn, or one for each client or round")
        inside = self.value(inner, replace(place, unfold=False))
        return of_atom(atom("quantile", inside, *([] if level.number == 1 else [level])))

    # --- binders ---

    def _over(self, how: str, index: str, inner: Expression, place: Place) -> Quotient:
        if how == "first":
            return self.value(inner, replace(place, n=FIRST))
        if index in ("k", *TURNS):
            upper = place.K if index == "k" else self.turns(inner, index)

            def at(value: Quotient) -> Quotient:
                return self.value(inner, put(place, index, value))

            kind = "j" if index in TURNS and self.lagging(inner, index) else index
            if how in ("max", "min"):
                here = fresh(kind)
                return over_all(f"{how}_{kind}", here, None, upper, at(number_of(here)))
            found = self.summed(kind, at, upper)
            return found / upper if how == "mean" else found
        here = fresh(index)
        inside = replace(place, n=here) if index == "n" else replace(place, i=here, owner=place.n)
        body = self.value(inner, inside)
        owner = place.n if index == "i" else None
        if how in ("max", "min"):
            return over_all(f"{how}_{index}", here, owner, None, body)
        found = bind(Binder(index, here, owner), body)
        if how == "mean":
            return found
        return found * (parameter("N") if index == "n" else of_atom(atom("samples", place.n)))

    def summed(self, index: str, at: Callable[[Quotient], Quotient], upper: Quotient) -> Quotient:
        """A sum of what hangs on a round or a turn, from 0 on."""
        c = upper.over.get((), Fraction(0))
        rest = upper - constant(c)
        if c.denominator != 1 or c < 0 or c > LONGEST_SUM:
            raise RejectedError(f"a sum of {left_over(upper, self.claim)} terms")
        found = total(at(rest + constant(j)) for j in range(int(c)))
        if rest.zero:
            return found
        if len(rest.over) != 1 or not all(self.integer(a) for a in rest.atoms) or rest.under:
            raise RejectedError(f"a sum of {left_over(upper, self.claim)} terms")
        here = fresh(index)
        return bind(Binder(index, here, None, rest), at(number_of(here))) + found

    def turns(self, inner: Expression, index: str) -> Quotient:
        """The number of turns of the loop whose turn goes by h, or j, in the taps of what is taken over it.

        It is the number of remembered vectors where these, or their weights, have it, and no tap.

        Raises:
            RejectedError: where that is no one loop.
        """
        taps = {
            part.name
            for part in everything_meant(inner, self.words)
            if isinstance(part, At) and part.name in self.words.taps and index in self._turning(part.indices)
        }
        if not taps and self.lags is not None and self.lagging(inner, index):
            return self.lags
        if self.lagging(inner, index):
            raise RejectedError(f"a sum over {index} of turns and of remembered vectors")
        around = [loops_around(self.claim.program.body, tap) or () for tap in taps] if self.claim.program else []
        loops = [some[TURNS.index(index)] for some in around if len(some) > TURNS.index(index)]
        if not loops or len(loops) < len(taps) or any(loop != loops[0] for loop in loops):
            raise RejectedError(f"a sum over {index} is over the turns of one loop, of taps that have it")
        return self.count(loops[0])

    def turns_of(self, index: str) -> Quotient:
        """The number of turns of the loops that h, or j, counts; j counts remembered vectors too.

        Raises:
            RejectedError: where that is no one number.
        """
        counts = {self.count(loop) for loop in self._loops(index)}
        if index == "j" and self.lags is not None:
            counts.add(self.lags)
        if len(counts) != 1:
            raise RejectedError(f"{index} counts the turns of no loop, or of several")
        return counts.pop()

    def one_range(self, index: str) -> bool:
        """Whether h, or j, counts the turns of one loop only, or else what is remembered: lines say not which."""
        return len(self._loops(index)) + (index == "j" and self.lags is not None) == 1

    def _loops(self, index: str) -> list[Loop]:
        """The loops of the round, for h, or those inside of them, for j."""
        steps: list[Any] = [] if self.claim.program is None else [*self.claim.program.body]
        for _ in range(TURNS.index(index)):
            steps = [inner for step in steps if isinstance(step, Loop) for inner in step.body]
        return [step for step in steps if isinstance(step, Loop)]

    def _turning(self, indices: Iterable[Expression]) -> set[str]:
        """The turns that indices of states and taps speak of."""
        parts_of = [part for e in indices for part in everything_meant(e, self.words)]
        return {part.name for part in parts_of if isinstance(part, Name) and part.name in TURNS}

    def count(self, loop: Loop) -> Quotient:
        """The number of turns of a loop."""
        if loop.count is None:
            raise RejectedError("a loop that is no repeat")
        found = self.value(loop.count)
        if not all(self.integer(a) and a.kind == "parameter" for a in found.atoms):
            raise RejectedError(f"the number of turns {text_of(loop.count)}")
        return found


def _over_ball(e: Apply) -> bool:
    return e.operation == "argmin_n" and len(parts(e)) == 2


def _is_quadratic(text: str, function: str) -> bool:
    one = predicate_of(text)
    return one is not None and (one.name, one.function) == ("quadratic", function)


def _with(one: Atom, value: Quotient) -> Callable[[Atom], Quotient]:
    return lambda a: value if a == one else of_atom(a)


def checked(s: Sentence, claim: Claim) -> Sentence:
    """A sentence that the claim's vocabulary can say.

    Raises:
        ValueError: for one that it cannot.
    """
    for side in (s.left, s.right):
        if read(side, claim.vocabulary).shape != "scalar":
            raise RejectedError(f"{text_of(side)} is a vector: equal vectors are written norm2(u - v) <= 0")
    return s


__all__ = ["PLAIN", "ZERO", "Place", "Reader", "Unfolding", "checked", "finest", "number_of", "parameter", "put"]
