"""Signs of expressions, by their structure and by lines that are known; and where expressions have a value.

The sign of an expression is the set of signs that it may have, a part of {-1, 0, 1}. Every multiplier of a derivation
is judged by it. Nothing is searched: an expression is folded, and looked up in a table by its normal form, in which a
positive rational, positive parameters to any power, and denominators whose sign is known are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from theory.derivation.atoms import Index
from theory.derivation.polynomials import Atom, Monomial, RejectedError
from theory.derivation.quotients import Quotient, monomial
from theory.derivation.reading import PLAIN, Place, Reader, number_of
from theory.domain import REAL
from theory.formula import Apply, Name, Number
from theory.sentence import ALL_CLIENTS, OVER, TURNS, At, Expression, parts, text_of

Sign: TypeAlias = frozenset[int]
ANY: Sign = frozenset({-1, 0, 1})
NONNEGATIVE: Sign = frozenset({0, 1})
POSITIVE: Sign = frozenset({1})
NOTHING: Sign = frozenset({0})
DEEPEST = 60


def _plus(s: Sign, t: Sign) -> Sign:
    found: set[int] = set()
    for a, b in product(s, t):
        found |= {a or b} if a * b >= 0 else ANY
    return frozenset(found)


def _times(s: Sign, t: Sign) -> Sign:
    return frozenset(a * b for a, b in product(s, t))


def _less(s: Sign) -> Sign:
    return frozenset(-a for a in s)


def _averaged(s: Sign) -> Sign:
    """Of a mean of numbers with these signs."""
    return ANY if {-1, 1} <= s else s


def _of_power(s: Sign) -> Sign:
    """Of a power with an exponent of which only is known that it is at least 0."""
    return s if s <= POSITIVE else NONNEGATIVE if s <= NONNEGATIVE else ANY


@dataclass(frozen=True)
class Fact:
    """What a line says of the sign of a normal form.

    Attributes:
        sign: which.
        line: who says it; any object with ``fixed``, the indices for which it does not hold in general, and
            ``reach``, the rounds and turns up to which it holds.
    """

    sign: Sign
    line: Any


class Signs:
    """The judgement of signs, with the lines that are known.

    Attributes:
        used: the lines that were needed since it was last emptied.
        own: divisors, up to a factor, that are taken not to be 0 where the claim itself is said.
        leaned: hypotheses, as text, that have a value only where a divisor is not 0; likewise.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.facts: dict[str, list[Fact]] = {}
        self.used: list[Any] = []
        self.divisors: dict[str, str] = {}
        self.own: frozenset[str | None] = frozenset()
        self.leaned: set[str] = set()

    # --- lines ---

    def know(self, line: Any, q: Quotient, relation: str) -> None:
        """Remember that q is at least 0, more than 0 for a strict relation, 0 for an equality."""
        sign = NOTHING if relation == "==" else POSITIVE if relation in ("<", ">") else NONNEGATIVE
        for turned, key in self._keys(q):
            self.facts.setdefault(key, []).append(Fact(_less(sign) if turned < 0 else sign, line))

    def forget(self, line: Any) -> None:
        """The opposite of `know`."""
        for key, some in list(self.facts.items()):
            self.facts[key] = [fact for fact in some if fact.line is not line]

    def _keys(self, q: Quotient) -> Iterator[tuple[int, str]]:
        """What q is looked up by, and whether q is a positive or a negative multiple of it."""
        content, text = q.direction
        if not text:
            return
        yield (1 if content > 0 else -1), text
        sign = 1
        for p, power in q.under.items():
            known = self._by_domains(Quotient(dict(p), {}))
            if power % 2 and known not in (POSITIVE, _less(POSITIVE)):
                return
            sign *= min(known) ** (power % 2)
        rest = Quotient(q.over, {})
        shared: list[tuple[Atom, int]] = []
        for a in sorted(rest.atoms):
            if a.kind == "parameter" and self._atom(a, frozenset(), 0) == POSITIVE:
                shared.append((a, -min(dict(m).get(a, 0) for m, _ in rest)))
        rest = rest * monomial(tuple((a, e) for a, e in shared if e))
        content, text = rest.direction
        yield (sign if content > 0 else -sign), text

    def _by_domains(self, q: Quotient) -> Sign:
        """The sign that q has whatever lines say: what a line is remembered by must not hang on other lines."""
        facts, self.facts = self.facts, {}
        try:
            return self._polynomial(q, frozenset(), 0)
        finally:
            self.facts = facts

    def _known(self, q: Quotient, bound: frozenset[str]) -> Sign:
        found = ANY
        if q.zero:
            return NOTHING
        for turned, key in self._keys(q):
            for fact in self.facts.get(key, ()):
                reach = fact.line.reach
                if bound & fact.line.fixed or any(reach.get(b, 0) > 1 for b in bound):
                    continue
                better = found & (_less(fact.sign) if turned < 0 else fact.sign)
                if better != found:
                    found = better
                    self.used.append(fact.line)
        return found

    # --- expressions ---

    def nonnegative(self, e: Expression, place: Place = PLAIN) -> bool:
        """Whether it is at least 0."""
        return self.sign(e, place) <= NONNEGATIVE

    def positive(self, e: Expression, place: Place = PLAIN) -> bool:
        """Whether it is more than 0."""
        return self.sign(e, place, strict=True) <= POSITIVE

    def nonzero(self, e: Expression, place: Place = PLAIN) -> bool:
        """Whether it is not 0."""
        return 0 not in self.sign(e, place, strict=True)

    def sign(
        self,
        e: Expression,
        place: Place = PLAIN,
        bound: frozenset[str] = frozenset(),
        depth: int = 0,
        strict: bool = False,
    ) -> Sign:
        """The signs that an expression may have where it has a value."""
        if depth > DEEPEST:
            return ANY
        found = self._structural(e, place, bound, depth + 1, strict)
        if _decided(found, strict):
            return found
        try:
            q = self.reader.value(e, place)
        except RejectedError:
            return found
        found &= self._quotient(q, bound, depth + 1)
        return found if _decided(found, strict) else found & self._known(q, bound)

    def _structural(self, e: Expression, place: Place, bound: frozenset[str], depth: int, strict: bool) -> Sign:
        def of(part: Expression, **more: Any) -> Sign:
            return self.sign(part, **{"place": place, "bound": bound, "depth": depth, "strict": strict, **more})

        if isinstance(e, Number):
            return frozenset({(e.value > 0) - (e.value < 0)})
        if isinstance(e, Name):
            defined = self.reader.words.definitions.get(e.name)
            return ANY if defined is None else of(defined)
        if isinstance(e, At):
            return ANY
        op, inner = e.operation, parts(e)
        if op == "+":
            return _plus(of(inner[0]), of(inner[1]))
        if op == "-":
            return _plus(of(inner[0]), _less(of(inner[1])))
        if op == "neg":
            return _less(of(inner[0]))
        if op == "*":
            return _times(of(inner[0]), of(inner[1]))
        if op == "/":
            return _times(of(inner[0]), of(inner[1]) - NOTHING)
        if op == "**":
            return self._power(inner[0], of(inner[0]), inner[1], place)
        if op in ("norm2", "norm"):
            return NONNEGATIVE
        if op in ("sqrt", "abs"):
            return POSITIVE if strict and 0 not in of(inner[0]) else NONNEGATIVE
        if op == "exp":
            return POSITIVE
        if op in ("max", "min"):
            choose = max if op == "max" else min
            return frozenset(choose(signs) for signs in product(*map(of, inner)))
        if op == "E":
            return _averaged(of(inner[0]))
        if op == "quantile":
            return of(inner[0])
        if op == "simplex_n":
            return NONNEGATIVE
        if op in OVER:
            return self._over(*OVER[op], inner[0], place, of, bound)
        return ANY

    def _power(self, base: Expression, sign: Sign, exponent: Expression, place: Place) -> Sign:
        e = self.reader.value(exponent, place)
        if self.reader.whole(e) and all(c % 2 == 0 for c in e.over.values()):
            return POSITIVE if 0 not in sign else NONNEGATIVE
        if e.number is not None and e.number.denominator == 1:
            return sign - NOTHING if e.number < 0 else sign
        return _of_power(sign)

    def _over(self, how: str, index: str, inner: Expression, place: Place, of: Any, bound: frozenset[str]) -> Sign:
        if index in ("k", *TURNS) and (place.K != PLAIN.K or (index == "k" and place.k != PLAIN.k)):
            return ANY  # lines that are known are about other rounds
        own: Any = Index(index) if index in "ni" else number_of(Index(index))
        changed = {index: own, "owner": Index("n")} if index == "i" else {index: own}
        if index == "i" and place.n != Index("n"):
            return ANY
        found: Sign = of(inner, place=replace(place, **changed), bound=bound | {index})
        if how == "sum" and index in TURNS and self._quotient(self.reader.turns(inner, index), bound, 0) != POSITIVE:
            found |= NOTHING
        return _averaged(found) if how in ("mean", "sum") else found

    # --- normal forms ---

    def of_quotient(self, q: Quotient) -> Sign:
        """The signs that a normal form may have."""
        return self._quotient(q, frozenset(), 0)

    def surely_nonnegative(self, q: Quotient) -> bool:
        """Whether a normal form is at least 0, by its structure or by a line."""
        return self.of_quotient(q) <= NONNEGATIVE or self._known(q, frozenset()) <= NONNEGATIVE

    def _quotient(self, q: Quotient, bound: frozenset[str], depth: int) -> Sign:
        found = self._polynomial(Quotient(q.over, {}), bound, depth)
        for p, power in q.under.items():
            sign = self._polynomial(Quotient(dict(p), {}), bound, depth)
            if 0 in sign or -1 in sign:
                sign &= self._known(Quotient(dict(p), {}), bound)
            sign -= NOTHING
            found = _times(found, sign if power % 2 else POSITIVE)
        return found

    def _polynomial(self, q: Quotient, bound: frozenset[str], depth: int) -> Sign:
        """By the signs of its terms; of a parameter times a number, and a number, by the parameter's domain."""
        found = NOTHING
        for m, c in q:
            found = _plus(found, _times(frozenset({1 if c > 0 else -1}), self._monomial(m, bound, depth + 1)))
            if found == ANY:
                return self._linear(q)
        return found

    def _linear(self, q: Quotient) -> Sign:
        terms = dict(q.over)
        rest = terms.pop((), Fraction(0))
        if q.under or len(terms) != 1:
            return ANY
        ((m, c),) = terms.items()
        if len(m) != 1 or m[0][1] != 1 or m[0][0].kind != "parameter":
            return ANY
        name = str(m[0][0].data[0])
        domain = self.reader.domain(name) or REAL
        found = ANY
        for end, is_open, side in ((domain.lower, domain.lower_open, 1), (domain.upper, domain.upper_open, -1)):
            if end is not None:
                value = c * Fraction(end) + rest
                beyond = 1 if side * c > 0 else -1
                if value * beyond >= 0:
                    found &= {beyond} if value or is_open else {beyond, 0}
        return found

    def _monomial(self, m: Monomial, bound: frozenset[str], depth: int) -> Sign:
        found = POSITIVE
        for a, e in m:
            sign = self._atom(a, bound, depth + 1)
            if e < 0:
                sign -= NOTHING
            if e % 2 == 0:
                sign = frozenset(s * s for s in sign)
            found = _times(found, sign)
        return found

    def _atom(self, a: Atom, bound: frozenset[str], depth: int) -> Sign:
        if depth > DEEPEST:
            return ANY
        match a.kind:
            case "parameter":
                return self._parameter(str(a.data[0]))
            case "samples" | "exp":
                return POSITIVE
            case "number" | "sqrt" | "abs" | "weight":
                return NONNEGATIVE
            case "draw" | "count":
                return NONNEGATIVE
            case "dot":
                return NONNEGATIVE if a.data[0] == a.data[1] else ANY
            case "power" | "real power":
                return _of_power(self._quotient(a.data[0], bound, depth))
            case "inverse":
                return self._quotient(a.data[0], bound, depth) - NOTHING
            case "max" | "min":
                choose = max if a.kind == "max" else min
                return frozenset(choose(s) for s in product(*(self._quotient(q, bound, depth) for q in a.data[0])))
            case "quantile":
                return self._quotient(a.data[0], bound, depth)
            case "over all":
                return self._quotient(a.data[4], bound, depth)
            case "E":
                return _averaged(self._monomial(a.data[0], bound, depth))
            case "bind":
                found = _averaged(self._monomial(a.data[1], bound, depth))
                sizes = [self._quotient(b.upper, bound, depth) for b in a.data[0] if b.upper is not None]
                return found if all(size == POSITIVE for size in sizes) else found | NOTHING
        return ANY

    def _parameter(self, name: str) -> Sign:
        if name in ("N", "d", "K"):
            return POSITIVE
        domain = self.reader.domain(name)
        if domain is None:
            return ANY
        found = set()
        if domain.lower is None or domain.lower < 0:
            found.add(-1)
        if domain.upper is None or domain.upper > 0:
            found.add(1)
        if domain.contains(Fraction(0)):
            found.add(0)
        return frozenset(found)

    # --- where there is a value ---

    def check_defined(self, e: Expression, place: Place = PLAIN) -> None:
        """Nothing where an expression has a value.

        Raises:
            RejectedError: where it may divide by 0, or take the root or logarithm of what has none, except where the
                claim itself does.
        """
        for op, of, at, bound in needs(e, self.reader, place, frozenset()):
            allowed = self._allowed(op, of, at)
            if allowed == "" or (op == "/" and self._ray_of(of, at, bound) in self.own):
                continue
            asked, under = (op, of) if op != "**" else self._base(of, at)
            sign = self.sign(under, at, bound, strict=asked != "sqrt")
            if sign <= {"sqrt": NONNEGATIVE, "log": POSITIVE}.get(asked, sign - NOTHING):
                continue
            if allowed is not None:
                self.leaned.add(allowed)
                continue
            why = {"/": "is 0", "sqrt": "is negative", "log": "is not positive"}[asked]
            such = {"/": "> 0, or < 0", "sqrt": ">= 0", "log": "> 0"}[asked]
            asking = f"a line before it has to, that it, or each factor, is {such}"
            raise RejectedError(f"nothing says that {text_of(under)} never {why}: {asking}")

    def _base(self, e: Expression, place: Place) -> tuple[str, Expression]:
        """What a power asks of its base, which it is given with: "/", or "log" where the exponent is no integer."""
        base, exponent = parts(e)
        return "/" if self.reader.whole(self.reader.value(exponent, place)) else "log", base

    def _remembered(self, op: str, e: Expression, place: Place) -> Iterator[str]:
        """Under which a divisor, a root, a logarithm or a power is remembered; nothing for what changes.

        A power with another exponent has values where this one has none, and the other way round: a base is known not
        to be 0 where its exponent is a negative number, and else a power has a value where the same power has one.
        """
        if op == "**":
            base, exponent = (self.reader.value(part, place) for part in parts(e))
            if _lasting(base) and _lasting(exponent):
                yield f"** {base.text} {exponent.text}"
                if exponent.number is not None and exponent.number.denominator == 1 and exponent.number < 0:
                    yield f"/ {_ray(base, '/')}"
            return
        q = self.reader.value(e, place)
        if _lasting(q):
            yield f"{op} {_ray(q, op)}"

    def _allowed(self, op: str, e: Expression, place: Place) -> str | None:
        """The hypothesis that has no value either where this has none; "" for the claim's sentence."""
        found = [self.divisors[key] for key in self._remembered(op, e, place) if key in self.divisors]
        return min(found, default=None)

    def divisors_of(self, sides: Iterable[Expression], bound: Collection[str]) -> frozenset[str | None]:
        """What sentences divide by that is not random, with indices that are free in them, but none of some others."""
        found = set()
        for side in sides:
            for op, e, at, within in needs(side, self.reader, PLAIN, frozenset()):
                if op == "/":
                    found.add(self._ray_of(e, at, within.union(bound)))
        return frozenset(found - {None})

    def _ray_of(self, e: Expression, place: Place, bound: frozenset[str]) -> str | None:
        """A divisor up to a factor; None where it is random, or hangs on what is bound."""
        q = self.reader.value(e, place)
        return None if q.random or q.free & bound else _ray(q, "/")

    def allow(self, sides: Iterable[Expression], text: str) -> None:
        """Take it that what a claim itself says has a value: where it has none, the claim says nothing.

        Args:
            sides: what it says.
            text: of the hypothesis that says it; empty for its sentence.
        """
        for side in sides:
            try:
                for op, e, at, _ in needs(side, self.reader, PLAIN, frozenset()):
                    for key in self._remembered(op, e, at):
                        self.divisors.setdefault(key, text)
            except RejectedError:  # what is not read allows nothing
                continue


def _lasting(q: Quotient) -> bool:
    """Whether it is the same in all rounds, for all clients and outcomes, however long the run is."""
    return not q.free and not q.random and "parameter(K)" not in q.text


def _ray(q: Quotient, op: str) -> str:
    content, text = q.direction
    return text if op == "/" or not text else f"{'+' if content > 0 else '-'}{text}"


def _decided(s: Sign, strict: bool) -> bool:
    return len(s) == 1 or (not strict and s <= NONNEGATIVE)


def needs(
    e: Expression, reader: Reader, place: Place, bound: frozenset[str]
) -> Iterator[tuple[str, Expression, Place, frozenset[str]]]:
    """What may have no value: divisors ("/"), what is under roots and logarithms, whole powers ("**"); and where."""
    if isinstance(e, Name) and e.name in reader.words.definitions:
        yield from needs(reader.words.definitions[e.name], reader, place, bound)
    if isinstance(e, At) or not isinstance(e, Apply):
        return
    op, inner = e.operation, parts(e)
    within = place
    if op in OVER:
        index = OVER[op][1]
        bound |= {index}
        own: Any = Index(index) if index in "ni" else number_of(Index(index))
        within = replace(place, **({index: own, "owner": Index("n")} if index == "i" else {index: own}))
    if op in ALL_CLIENTS:
        bound |= {"n"}
        within = replace(place, n=Index("n"))
    if op == "simplex_n":
        yield "log", inner[1], within, bound  # more than 0 for every client
    elif op == "/":
        yield "/", inner[1], place, bound
    elif op in ("sqrt", "log"):
        yield op, inner[0], place, bound
    elif op == "**":
        exponent = reader.value(inner[1], place)
        if not reader.whole(exponent) or any(c < 0 for c in exponent.over.values()):
            yield "**", e, place, bound
    for part in inner:
        yield from needs(part, reader, within, bound)


__all__ = ["ANY", "NONNEGATIVE", "NOTHING", "POSITIVE", "Fact", "Sign", "Signs", "needs"]
