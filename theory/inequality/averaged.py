"""A sentence in an abstract space, for every number of clients and samples: inner products and values are symbols.

A vector that has one value a client, or a sample, is the sum of its mean, of what a client's is away from that, and
of what a sample's is away from its client's. Under a mean over clients and samples the three are orthogonal, whatever N
and the numbers of samples are; so is what is drawn, to all that was there before. A mean of inner products is thus
linear in three Gram matrices, one for each part, each positive semidefinite. What a sentence says for each client by
itself, and what is no such mean, is not read here.

Everything is read off the claim: points at which functions and gradients are taken become points of the inequalities
that its assumptions imply (`Reader.condition`), a round of its algorithm is followed draw by draw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from theory import predicates as p
from theory.claim import Claim
from theory.domain import COUNT, INDEX, Domain
from theory.formula import Apply, Name, Number, names_in
from theory.program import Instruction
from theory.sentence import (
    FUNCTION_NAMES,
    INDICES,
    OVER,
    POINTS,
    SCALAR_FUNCTIONS,
    At,
    Expression,
    Relation,
    Sentence,
    everything,
    index_of,
    parse_call,
    parse_expression,
    parse_sentence,
    parts,
    text_of,
)

LEVELS = ("", "n", "i")
"""Parts of a vector: its mean, what a client's is away from it, what a sample's is away from its client's."""
DEPTH = {"f": 0, "f_n": 1, "f_ni": 2}
ONE = ("1",)
UNIT, NOTHING, TWO = Number(Fraction(1)), Number(Fraction(0)), Number(Fraction(2))
Key: TypeAlias = tuple[str, ...]
"""``("1",)`` of a number, ``("F", name)`` of a value of a function, ``("G", level, a, b)`` of an inner product."""
Place: TypeAlias = tuple[str, str, str]
"""Of an atom in a vector: its level, its name, and the draw that it belongs to (empty: none)."""


class UnreadError(ValueError):
    """A sentence that has no such form; it may be true all the same."""


@dataclass(frozen=True)
class Vector:
    """A linear combination of atoms.

    Attributes:
        entries: coefficients, sympy expressions in the parameters, none of them 0.
        shares: of each draw that occurs, what E of a product of two entries of that draw is multiplied by (``1/N``
            after a mean over the clients), and whether every client has drawn its own.
    """

    entries: Mapping[Place, Any]
    shares: Mapping[str, tuple[Any, bool]]

    @property
    def depth(self) -> int:
        """0 for one vector, 1 for one a client, 2 for one a sample."""
        fixed = max((LEVELS.index(level) for level, _, draw in self.entries if not draw), default=0)
        return max(fixed, int(any(draw and self.shares[draw][1] for _, _, draw in self.entries)))

    @property
    def random(self) -> bool:
        """Whether something drawn is in it."""
        return any(draw for _, _, draw in self.entries)


@dataclass(frozen=True)
class Scalar:
    """A number, linear in inner products and values; the mean of it over what `depth` says.

    Attributes:
        terms: coefficients by `Key`, none of them 0.
        depth: 1 where it differs from client to client, 2 from sample to sample.
        random: whether it is random, and this its expectation given what was there before the round.
    """

    terms: Mapping[Key, Any]
    depth: int = 0
    random: bool = False

    @property
    def number(self) -> Any:
        """The expression in parameters.

        Raises:
            UnreadError: where it is none.
        """
        if set(self.terms) - {ONE} or self.depth or self.random:
            raise UnreadError("a product, a power or a function of what is no formula in parameters")
        import sympy

        return self.terms.get(ONE, sympy.Integer(0))


@dataclass(frozen=True)
class Condition:
    """``form <= 0``, or ``form == 0``.

    Attributes:
        name: as a proof calls it.
        form: its terms.
        equation: whether it is an equation.
    """

    name: str
    form: Scalar
    equation: bool = False


@dataclass(frozen=True)
class Need:
    """What has to hold for a formula to have a value: the operation, and its arguments as sympy expressions."""

    operation: str
    arguments: tuple[Any, ...]
    text: str


class Reader:
    """The sentences of a claim in an abstract space.

    Args:
        claim: which.
        points: names that a proof gives to vectors, as text.

    Attributes:
        needs: what has to hold for the formulas that were read to have values.
        places: the points at which functions were taken, by their text.

    Raises:
        UnreadError: where the claim has assumptions that are asked on a part of the space only.
    """

    def __init__(self, claim: Claim, points: Mapping[str, str] | None = None) -> None:
        if claim.over:
            raise UnreadError("its assumptions are asked on a part of the space only")
        self.claim, self.words = claim, claim.vocabulary
        self.definitions: dict[str, Expression] = dict(claim.definitions)
        for name, text in (points or {}).items():
            if name in self.definitions or name in self.words.free_vectors or name in claim.symbols:
                raise UnreadError(f"the point {name} has a name that means something else")
            self.definitions[name] = parse_expression(text)
        self.needs: list[Need] = []
        self.places: dict[str, Vector] = {}
        self.indexed = {index_of(s)[0]: index_of(s)[1] for s in claim.symbols if index_of(s)[1]}
        self.weight = self._weight()
        self._rounds: dict[str, Vector] = {}
        self._known: dict[str, Any] = {}
        self._inside = False

    @cached_property
    def ties(self) -> Mapping[str, Expression]:
        """The names that relations say to be formulas in other parameters: ``eta == 1/L``."""
        found: dict[str, Expression] = {}
        for one in self.claim.relations:
            for side, other in ((one.left, one.right), (one.right, one.left)):
                if one.relation != "==" or not isinstance(side, Name) or side.name not in self.claim.symbols:
                    continue
                names = _names(other)
                alone = names <= set(self.claim.symbols) and not any(isinstance(p, At) for p in everything(other))
                circular = names & {side.name, *found} or any(side.name in _names(t) for t in found.values())
                if alone and not circular:
                    found.setdefault(side.name, other)
                    break
        return found

    def _weight(self) -> str:
        """The weights q_n whose sum the claim assumes to be 1; none where the uniform mean is meant."""
        for relation in self.claim.relations:
            for one, other in ((relation.left, relation.right), (relation.right, relation.left)):
                if relation.relation != "==" or not isinstance(one, Apply) or other != UNIT:
                    continue
                inner = parts(one)[0]
                if one.operation == "sum_n" and isinstance(inner, Name) and index_of(inner.name)[1] == "n":
                    domain = self.claim.domains[index_of(inner.name)[0]]
                    if domain.lower is not None and domain.lower >= 0:
                        return inner.name
        return ""

    # --- what the claim says ---

    def stated(self) -> Scalar:
        """left - right of the claim's sentence."""
        return self.gap(self.claim.sentence)

    def gap(self, sentence: Sentence) -> Scalar:
        """left - right.

        Raises:
            UnreadError: where that is not read here.
        """
        squared = self._squared(sentence)
        gap = squared
        if gap is None:
            gap = self.plus(self.scalar(sentence.left), self.scalar(sentence.right), -1)
        if gap.depth or gap.random:
            raise UnreadError("it is said for each client, or each outcome, by itself")
        return gap

    def _squared(self, sentence: Sentence, needed: bool = True) -> Scalar | None:
        """Of ``norm(v) <= c``, or ``sqrt(e) <= c``, the difference of the squares; None for another sentence.

        Args:
            sentence: which.
            needed: whether c has to be shown to be at least 0, as it is where the sentence is assumed.
        """
        import sympy

        left, right = sentence.left, sentence.right
        if sentence.relation in (">=", ">"):
            left, right = right, left
        while isinstance(left, Name) and left.name in self.definitions:
            left = self.definitions[left.name]
        if sentence.relation == "==" or not isinstance(left, Apply) or left.operation not in ("norm", "sqrt"):
            return None
        inner = parts(left)[0]
        square = self.scalar(inner) if left.operation == "sqrt" else self._norm2(inner)
        if left.operation == "sqrt" and set(square.terms) <= {ONE}:  # numbers alone
            return None
        bound = self.scalar(right).number
        if needed and not (bound.is_Pow and bound.exp == sympy.Rational(1, 2)):
            self.needs.append(Need("sqrt", (bound,), text_of(right)))  # that it is at least 0
        gap = self.plus(square, self._number(bound**2), -1)
        return self.times(gap, -1) if needed and sentence.relation in (">=", ">") else gap

    def _norm2(self, e: Expression) -> Scalar:
        v = self.vector(e)
        return self.dot(v, v)

    @cached_property
    def relations(self) -> tuple[list[tuple[Any, Relation, Any]], list[Condition]]:
        """Those between parameters as sympy expressions; those on vectors and values as conditions.

        What is read as neither is left out: without it, less is assumed.
        """
        numbers: list[tuple[Any, Relation, Any]] = []
        conditions: list[Condition] = []
        for text in (*self.claim.assuming, *self.claim.standing):
            if parse_call(text) is not None:
                continue
            relation = parse_sentence(text)
            try:
                squared = self._expected(lambda _, said=relation: self._squared(said, needed=False), relation.left)
                if squared is not None:
                    if not squared.random:
                        conditions.append(Condition(text, replace(squared, depth=0)))
                    continue
                # it holds for every client and round
                left, right = (self._expected(self.scalar, side) for side in (relation.left, relation.right))
                try:
                    numbers.append((left.number, relation.relation, right.number))
                    continue
                except UnreadError:
                    pass
                turned = relation.relation in (">=", ">")
                form = self.plus(right, left, -1) if turned else self.plus(left, right, -1)
            except UnreadError:
                continue
            if not form.random:
                conditions.append(Condition(text, replace(form, depth=0), relation.relation == "=="))
        import sympy

        for one in self.claim.predicates:
            for other in self.claim.predicates:
                if isinstance(one, p.StronglyConvex) and isinstance(other, p.Smooth):
                    try:  # f is both, as the mean of such functions
                        numbers.append((self._constant(one), "<=", self._constant(other)))
                    except UnreadError:
                        continue
        return [r for r in numbers if sympy.Ne(*r[::2]) is not sympy.false], conditions

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The domains of the names of parameters."""
        return {**self.claim.domains, "N": COUNT, "d": COUNT, "K": COUNT, "k": INDEX}

    # --- what the assumptions imply ---

    def condition(self, name: str) -> Condition:
        """A hypothesis by its name: a relation as the claim writes it, or ``smooth convex f (x, y)``.

        Of functions: f(y) + dot(grad(f, y), x - y) + ... - f(x) <= 0 at the points (x, y), with what ``convex``,
        ``strongly_convex``, ``smooth`` and the last with one of the others add (Taylor, Hendrickx, Glineur, Math.
        Program. 161 (2017), Theorem 4; ``smooth strongly_convex`` multiplied by L - mu, which is not negative);
        ``infimum f (x)``: fstar <= f(x); ``pl f (x)``, ``bounded_gradients f (x)``, ``bounded_variance (x)``,
        ``dissimilar (x)``. All are meant as means over clients and samples.

        Raises:
            UnreadError: where the claim does not assume it.
        """
        for one in self.relations[1]:
            if one.name == name or _same(one.name, name):
                return one
        match = re.fullmatch(r"\s*([a-z_ ]+?)\s*(\(.*\))\s*", name, re.ASCII)
        if match is None:
            raise UnreadError(f"{name} is no condition of the claim")
        *kinds, function = match[1].split()
        if function not in FUNCTION_NAMES:
            kinds, function = [*kinds, function], "f"
        call = parse_call(f"at{match[2]}")
        # it holds wherever a run is, and so on average
        at = [self._expected(self.vector, e) for e in (call[1] if call is not None else ())]
        if any(v.random for v in at):
            raise UnreadError(f"{name}: a point that is drawn")
        if len(at) == 1:
            return Condition(name, self._at_one(kinds, function, at[0], name))
        if len(at) == 2:
            return Condition(name, self._at_two(kinds, function, at[0], at[1], name))
        raise UnreadError(f"{name} has {len(at)} points")

    def implied(self) -> Iterator[Condition]:
        """The relations on vectors, and what the assumptions imply at the points that occur."""
        yield from self.relations[1]
        kinds = {one.name for one in self.claim.predicates}
        for function in FUNCTION_NAMES:
            names = [" ".join(k) for k in (("smooth",), ("convex",), ("strongly_convex",)) if set(k) <= kinds]
            names += [f"smooth {k}" for k in ("convex", "strongly_convex") if {"smooth", k} <= kinds]
            for kind in names:
                for one in list(self.places):
                    for other in list(self.places):
                        if one != other:
                            try:
                                yield self.condition(f"{kind} {function} ({one}, {other})")
                            except UnreadError:
                                continue

    def _assumed(self, kind: type[p.Predicate], function: str) -> p.Predicate | None:
        """An assumption that says it of this function: made of it, or of the finer ones whose mean it is."""
        found = [
            one
            for one in self.claim.predicates
            if isinstance(one, kind) and DEPTH.get(one.function, 0) >= DEPTH[function]
        ]
        return min(found, key=lambda one: DEPTH.get(one.function, 0), default=None)

    def _constant(self, predicate: p.Predicate, place: int = 0) -> Any:
        return self.scalar(predicate.constants[place]).number

    def _at_two(self, kinds: list[str], function: str, x: Vector, y: Vector, name: str) -> Scalar:
        import sympy

        smooth = self._assumed(p.Smooth, function)
        strong = self._assumed(p.StronglyConvex, function)
        convex = self._assumed(p.Convex, function) or strong
        wanted = set(kinds)
        known = {"smooth": smooth, "convex": convex, "strongly_convex": strong}
        if not wanted or not wanted <= set(known) or not all(known[k] for k in wanted) or len(wanted) < len(kinds):
            raise UnreadError(f"{name} is no condition of the claim")
        g, h = self.gradient(function, x), self.gradient(function, y)
        dx, dg = self.add(x, y, -1), self.add(g, h, -1)
        below = self.plus(self.value(function, y), self.value(function, x), -1)
        below = self.plus(below, self.dot(h, dx))
        xx, gx, gg = self.dot(dx, dx), self.dot(dg, dx), self.dot(dg, dg)
        if wanted == {"convex"}:
            return _mean(below)
        if wanted == {"strongly_convex"}:
            assert strong is not None
            return _mean(self.plus(below, xx, self._constant(strong) / 2))
        assert smooth is not None
        L = self._constant(smooth)
        if wanted == {"smooth"}:
            more = self.plus(self.plus(gg, gx, 2 * L), xx, -(L**2))
            return _mean(self.plus(below, more, 1 / (4 * L)))
        if wanted == {"smooth", "convex"}:
            return _mean(self.plus(below, gg, 1 / (2 * L)))
        if wanted == {"smooth", "strongly_convex"}:
            assert strong is not None
            m = self._constant(strong)
            more = self.plus(self.plus(gg, gx, -2 * m), xx, m * L)
            return _mean(self.plus(self.times(below, L - m), more, sympy.Rational(1, 2)))
        raise UnreadError(f"{name} is no condition of the claim")

    def _at_one(self, kinds: list[str], function: str, x: Vector, name: str) -> Scalar:
        import sympy

        kind = kinds[0] if len(kinds) == 1 else ""
        if kind == "infimum" and function == "f":
            return _mean(self.plus(self.least(), self.value("f", x), -1))
        found = {
            "pl": p.PolyakLojasiewicz,
            "bounded_gradients": p.BoundedGradients,
            "lipschitz": p.Lipschitz,
            "bounded_variance": p.BoundedVariance,
            "dissimilar": p.Dissimilar,
        }.get(kind)
        one = None if found is None else self._assumed(found, function)
        on_ball = isinstance(one, p.BoundedGradients) and one.on_ball
        if one is None or on_ball or (kind == "pl" and one.function != "f"):
            raise UnreadError(f"{name} is no condition of the claim")
        g = self.gradient(function, x)
        if kind == "pl":
            gap = self.plus(self.value("f", x), self.least(), -1)
            return _mean(self.plus(self.times(gap, 2 * self._constant(one)), self.dot(g, g), -1))
        if kind in ("bounded_gradients", "lipschitz"):
            return _mean(self.plus(self.dot(g, g), self._number(self._constant(one) ** 2), -1))
        if x.depth:
            raise UnreadError(f"{name}: a point that differs from client to client")
        if kind == "bounded_variance":
            away = self.add(self.gradient("f_ni", x), self.gradient("f_n", x), -1)
            return _mean(self.plus(self.dot(away, away), self._number(self._constant(one)), -1))
        assert isinstance(one, p.Dissimilar)
        own, mean = self.gradient("f_n", x), self.gradient("f", x)
        if one.spread:
            away = self.add(own, mean, -1)
            return _mean(self.plus(self.dot(away, away), self._number(self._constant(one) ** 2), -1))
        found_ = self.plus(self.dot(own, own), self.dot(mean, mean), -(self._constant(one, 1) ** 2))
        return _mean(self.plus(found_, self._number(sympy.Integer(1) * self._constant(one) ** 2), -1))

    # --- arithmetic ---

    def _number(self, value: Any) -> Scalar:
        return Scalar({ONE: value} if value != 0 else {})

    def plus(self, one: Scalar, other: Scalar, factor: Any = 1) -> Scalar:
        """one + factor*other."""
        terms = dict(one.terms)
        for key, value in other.terms.items():
            terms[key] = terms.get(key, 0) + factor * value
        return Scalar(
            {k: v for k, v in terms.items() if v != 0}, max(one.depth, other.depth), one.random or other.random
        )

    def times(self, one: Scalar, factor: Any) -> Scalar:
        """factor*one."""
        return replace(one, terms={k: factor * v for k, v in one.terms.items() if factor != 0})

    def add(self, u: Vector, v: Vector, factor: Any = 1) -> Vector:
        """u + factor*v."""
        import sympy

        for draw in set(u.shares) & set(v.shares):
            _same_share(u.shares[draw], v.shares[draw])
        entries = dict(u.entries)
        for place, value in v.entries.items():
            entries[place] = sympy.cancel(entries.get(place, 0) + factor * value)
        return Vector({k: c for k, c in entries.items() if c != 0}, {**u.shares, **v.shares})

    def scale(self, v: Vector, factor: Any) -> Vector:
        """factor*v."""
        import sympy

        return Vector({k: sympy.cancel(factor * c) for k, c in v.entries.items() if factor != 0}, v.shares)

    def dot(self, u: Vector, v: Vector) -> Scalar:
        """The inner product; its mean where there is one a client or a sample, its expectation where it is drawn."""
        terms: dict[Key, Any] = {}
        for (level, a, draw), c in u.entries.items():
            for (other, b, again), e in v.entries.items():
                if (level, draw) != (other, again):
                    continue
                share = 1
                if draw:
                    _same_share(u.shares[draw], v.shares[draw])
                    share = u.shares[draw][0]
                key = ("G", level, *sorted((a, b)))
                terms[key] = terms.get(key, 0) + share * c * e
        return Scalar({k: c for k, c in terms.items() if c != 0}, max(u.depth, v.depth), u.random or v.random)

    # --- functions ---

    def _name(self, v: Vector) -> str:
        """One name for equal vectors."""
        import sympy

        return (
            " ".join(f"{sympy.sstr(c)}*{level}:{a}" for (level, a, _), c in sorted(v.entries.items(), key=str)) or "0"
        )

    def _family(self, function: str, at: Vector) -> tuple[str, str]:
        """Of a function at a point: its gradients there (f, f_n and f_ni share theirs where the point does not differ
        more than they do), and its value there (the same value, where that is its mean)."""
        if at.random:
            raise UnreadError("a function at a point that is drawn")
        where = self._name(at)
        own = "" if DEPTH[function] >= at.depth else f"{function} "
        mean = "f" if at.depth == 0 else f"depth {at.depth}"
        return f"{own}grad@{where}", f"{own}{mean}@{where}"

    def gradient(self, function: str, at: Vector) -> Vector:
        """grad of f, f_n or f_ni."""
        import sympy

        self._weigh(False)
        name, _ = self._family(function, at)
        depth = max(DEPTH[function], at.depth)
        zero = self._stationary(function, at)
        return Vector({(LEVELS[i], name, ""): sympy.Integer(1) for i in range(depth + 1) if i > zero}, {})

    def _stationary(self, function: str, at: Vector) -> int:
        """The depth down to which the parts of a gradient vanish: at a minimiser; -1 for none."""
        if at.entries == self._atom("xstar").entries:
            same = [one.function for one in self.claim.predicates if isinstance(one, p.SameMinimiser)]
            return max((DEPTH[name] for name in same), default=0)
        if at.entries == self._atom("xstar_n", 1).entries and DEPTH[function] >= 1:
            return 1
        return -1

    def value(self, function: str, at: Vector) -> Scalar:
        """f, f_n or f_ni."""
        import sympy

        self._weigh(False)
        _, name = self._family(function, at)
        return Scalar({("F", name): sympy.Integer(1)}, max(DEPTH[function], at.depth))

    def least(self) -> Scalar:
        """The infimum of f: its value at the minimiser, where there is one."""
        import sympy

        if "xstar" in self._minimisers:
            return self.value("f", self._atom("xstar"))
        return Scalar({("F", "fstar"): sympy.Integer(1)})

    @cached_property
    def _minimisers(self) -> frozenset[str]:
        """Which of xstar and xstar_n there are: by the assumptions, or as the sentence or a relation speaks of them."""
        strong = {one.function for one in self.claim.predicates if isinstance(one, p.StronglyConvex)}
        found = ({"xstar"} if strong else set()) | ({"xstar_n"} if strong - {"f"} else set())
        said = (self.claim.sentence, *self.claim.relations)
        for e in (e for one in said for side in (one.left, one.right) for e in self._expanded(side)):
            if isinstance(e, Name) and e.name in ("xstar", "xstar_n"):
                found.add(e.name)
        return frozenset(found)

    def _expanded(self, e: Expression) -> Iterator[Expression]:
        """The tree and its parts, with what the claim's definitions stand for."""
        for part in everything(e):
            yield part
            if isinstance(part, Name) and part.name in self.claim.definitions:
                yield from self._expanded(self.claim.definitions[part.name])

    def _atom(self, name: str, depth: int = 0) -> Vector:
        import sympy

        return Vector({(LEVELS[i], name, ""): sympy.Integer(1) for i in range(depth + 1)}, {})

    def _weigh(self, weighted: bool) -> None:
        """A claim speaks of one mean only: the uniform one, or the one of its weights."""
        if self._known.setdefault("weighted", weighted) != weighted:
            raise UnreadError("a mean with weights beside the uniform one")

    # --- trees ---

    def scalar(self, e: Expression) -> Scalar:
        """A tree that is a number."""
        import sympy

        if isinstance(e, Number):
            return self._number(sympy.Rational(e.value.numerator, e.value.denominator))
        if isinstance(e, Name):
            return self._named(e.name)
        if isinstance(e, At):
            raise UnreadError(f"{text_of(e)} is a vector")
        op, inner = e.operation, parts(e)
        if op in ("+", "-"):
            return self.plus(self.scalar(inner[0]), self.scalar(inner[1]), 1 if op == "+" else -1)
        if op == "neg":
            return self.times(self.scalar(inner[0]), -1)
        if op == "*":
            one, other = self.scalar(inner[0]), self.scalar(inner[1])
            if set(one.terms) <= {ONE}:
                one, other = other, one
            return self.times(one, other.number)
        if op == "/":
            return self.times(self.scalar(inner[0]), 1 / self._divisor(inner[1]))
        if op == "**" and inner[1] == TWO:
            base = inner[0]
            while isinstance(base, Name) and base.name in self.definitions:
                base = self.definitions[base.name]
            if isinstance(base, Apply) and base.operation == "norm":
                return self._norm2(parts(base)[0])
        if op == "**" or op in SCALAR_FUNCTIONS:
            return self._number(self._function(e, [self.scalar(a).number for a in inner]))
        if op in ("norm2", "dot"):
            vectors = [self.vector(a) for a in inner]
            return self.dot(vectors[0], vectors[-1])
        if op in FUNCTION_NAMES:
            return self.value(op, self._point(inner[0]))
        if op == "E":
            return replace(self._expected(self.scalar, inner[0]), random=False)
        if op in OVER:
            return self._scalar_over(e)
        raise UnreadError(f"{text_of(e)} is not linear in inner products")

    def _expected(self, read: Any, e: Expression) -> Any:
        before, self._inside = self._inside, True
        try:
            return read(e)
        finally:
            self._inside = before

    def _divisor(self, e: Expression) -> Any:
        below = self.scalar(e).number
        if below == 0:
            raise UnreadError("a division by 0")
        self.needs.append(Need("/", (below,), text_of(e)))
        return below

    def _function(self, e: Apply, values: list[Any]) -> Any:
        import sympy

        op = e.operation
        if op in ("sqrt", "log", "**"):
            exponent = parts(e)[1] if op == "**" else None
            count = isinstance(exponent, Name) and self._count(exponent.name)
            if op != "**" or not (count or (values[1].is_Integer and values[1] >= 0)):
                self.needs.append(Need(op, tuple(values), text_of(e)))
        if op == "**":
            return values[0] ** values[1]
        functions = {"sqrt": sympy.sqrt, "log": sympy.log, "exp": sympy.exp, "abs": sympy.Abs}
        return {**functions, "min": sympy.Min, "max": sympy.Max}[op](*values)

    def _count(self, name: str) -> bool:
        domain = self.domains.get(name)
        return domain is not None and domain.integer and domain.lower is not None and domain.lower >= 0

    def _named(self, name: str) -> Scalar:
        import sympy

        if name in self.definitions:
            return self.scalar(self.definitions[name])
        if name == "fstar":
            return self.least()
        if name in self.ties:
            return self.scalar(self.ties[name])
        base, index = index_of(name)
        if name in self.indexed or (index and base in self.indexed):
            raise UnreadError(f"{name} has one value a client, or a round")
        if name in POINTS or name in self.words.free_vectors:
            raise UnreadError(f"{name} is a vector")
        if name in INDICES and name != "k":
            raise UnreadError(f"the index {name}")
        return self._number(sympy.Symbol(name))

    def _scalar_over(self, e: Apply) -> Scalar:
        import sympy

        how, index = OVER[e.operation]
        inner = parts(e)[0]
        if index not in "ni" or how not in ("mean", "sum") or (how, index) == ("sum", "i"):
            raise UnreadError(f"{text_of(e)} is not a mean over clients or samples")
        weighted = self._weighted(how, index, inner)
        found = self.scalar(inner if weighted is None else weighted)
        depth = 1 if index == "n" else 2
        if found.depth > depth:
            raise UnreadError(f"{text_of(e)} takes clients before samples")
        if weighted is None and index == "n":
            self._weigh(False)
        factor = sympy.Symbol("N") if how == "sum" and weighted is None else 1
        return replace(self.times(found, factor), depth=min(found.depth, depth - 1))

    def _weighted(self, how: str, index: str, inner: Expression) -> Expression | None:
        """What is weighted, in a sum over the clients with the weights q_n of sum 1; None where it is no such sum."""
        if (how, index) != ("sum", "n") or not self.weight:
            return None
        if inner == Name(self.weight):
            return UNIT
        if not isinstance(inner, Apply) or inner.operation not in ("*", "/"):
            return None
        one, other = parts(inner)
        if one == Name(self.weight) and inner.operation == "*":
            self._weigh(True)
            return other
        if other == Name(self.weight) and inner.operation == "*":
            self._weigh(True)
            return one
        return None

    def vector(self, e: Expression) -> Vector:
        """A tree that is a vector."""
        import sympy

        if isinstance(e, Name):
            if e.name in self.words.free_vectors:
                return self._atom(e.name, 1 if e.name.endswith("_n") else 0)
            if e.name in self.definitions:
                return self.vector(self.definitions[e.name])
            if e.name in ("xstar", "xstar_n") and e.name not in self._minimisers:
                raise UnreadError(f"nothing says that there is {e.name}")
            if e.name in POINTS:
                self.places.setdefault(e.name, self._atom(e.name, int(e.name == "xstar_n")))
                return self._atom(e.name, int(e.name == "xstar_n"))
            raise UnreadError(f"{e.name} is no vector")
        if isinstance(e, At):
            return self._state(e)
        if isinstance(e, Number):
            raise UnreadError(f"{text_of(e)} is no vector")
        op, inner = e.operation, parts(e)
        if op in ("+", "-"):
            return self.add(self.vector(inner[0]), self.vector(inner[1]), 1 if op == "+" else -1)
        if op == "neg":
            return self.scale(self.vector(inner[0]), sympy.Integer(-1))
        if op == "*":
            first = self._is_vector(inner[0])
            number, v = (inner[1], inner[0]) if first else (inner[0], inner[1])
            return self.scale(self.vector(v), self.scalar(number).number)
        if op == "/":
            return self.scale(self.vector(inner[0]), 1 / self._divisor(inner[1]))
        if op.startswith("grad "):
            return self.gradient(op.removeprefix("grad "), self._point(inner[0]))
        if op == "E":
            found = self._expected(self.vector, inner[0])
            return Vector({k: c for k, c in found.entries.items() if not k[2]}, {})
        if op in OVER:
            how, index = OVER[op]
            weighted = self._weighted(how, index, inner[0])
            if index not in "ni" or how not in ("mean", "sum") or (how, index) == ("sum", "i"):
                raise UnreadError(f"{text_of(e)} is not a mean over clients or samples")
            if weighted is None and index == "n":
                self._weigh(False)
            found = self.vector(inner[0] if weighted is None else weighted)
            depth = 1 if index == "n" else 2
            if found.depth > depth or found.random:
                raise UnreadError(f"{text_of(e)} takes clients before samples")
            kept = {k: c for k, c in found.entries.items() if LEVELS.index(k[0]) < depth}
            return self.scale(Vector(kept, {}), sympy.Symbol("N") if how == "sum" and weighted is None else 1)
        raise UnreadError(f"{text_of(e)} is no vector")

    def _is_vector(self, e: Expression) -> bool:
        from theory.sentence import Vocabulary, read

        words = Vocabulary(self.words.states, self.words.taps, self.words.vectors, self.definitions, self.words.numbers)
        return read(e, words).shape == "vector"

    def _point(self, e: Expression) -> Vector:
        """A vector at which a function is taken; its text is remembered."""
        found = self.vector(e)
        if not any(v.entries == found.entries for v in self.places.values()):
            self.places[text_of(e)] = found
        return found

    # --- one round ---

    def _state(self, e: At) -> Vector:
        """A state at the beginning or the end of one round: at k and k+1, or at 0 and 1."""
        from theory.program import Program

        program = self.claim.program
        tap = e.name in self.words.taps and not self.words.taps[e.name][1]
        if not isinstance(program, Program) or not (tap or e.name in self.words.states):
            raise UnreadError(f"{text_of(e)} is no state, nor a tap outside of loops")
        base, later = _round(e.indices[0])
        if tap and later:
            raise UnreadError("taps of more than one round")
        if self._known.setdefault("base", base) != base:
            raise UnreadError("states of more than one round")
        if base == "k" and program.random and not self._inside:
            raise UnreadError(f"{text_of(e)} outside of an expectation, for every outcome")
        if not self._rounds:
            self._play(program, base)
        found = self._rounds[f"{e.name}+" if later or tap else e.name]
        if (later or tap) and found.random and not self._inside:
            raise UnreadError(f"{text_of(e)} outside of an expectation, for every outcome")
        if base == "k" and self._inside and self._vector_mean:
            raise UnreadError("the expectation of a vector after other rounds")
        return found

    @cached_property
    def _vector_mean(self) -> bool:
        """Whether the expectation of a vector is taken: after other rounds it is not the one given the last state."""
        from theory.sentence import read

        return any(
            isinstance(e, Apply) and e.operation == "E" and read(e, self.words).shape == "vector"
            for side in (self.claim.sentence.left, self.claim.sentence.right)
            for e in self._expanded(side)
        )

    def _play(self, program: Any, base: str) -> None:
        values: dict[str, Vector] = {}
        for name, state in zip(program.inputs, program.state, strict=True):
            if state.kind not in ("server", "client"):
                raise UnreadError(f"{state.name} is neither a server's vector nor a client's")
            if base == "0":
                initial = parse_expression(state.initial)
                values[name] = Vector({}, {}) if initial == NOTHING else self.vector(initial)
            else:
                values[name] = self._atom(f"{state.name}[k]", int(state.kind == "client"))
            self._rounds[state.name] = values[name]
        draws: dict[str, tuple[str, Any]] = {}
        for step in program.body:
            if not isinstance(step, Instruction):
                raise UnreadError("a loop")
            if base == "0" and any("k" in names_in(f) for f in step.numbers):
                raise UnreadError("the number of the round")
            self._step(step, values, draws)
        for state, name in zip(program.state, program.result, strict=True):
            self._rounds[f"{state.name}+"] = values[name]

    def _step(self, step: Instruction, values: dict[str, Vector], draws: dict[str, tuple[str, Any]]) -> None:
        import sympy

        N = sympy.Symbol("N")
        of = [values[name] for name in step.of if name in values]
        if any(set(names_in(f)) & set(draws) for f in step.numbers) and step.op != "average":
            raise UnreadError(f"{step.op} with a draw")
        if step.op == "tap":
            self._rounds[f"{step.label}+"] = of[0]
            return
        if step.op == "linear":
            found = Vector({}, {})
            for v, number in zip(of, step.numbers, strict=True):
                found = self.add(found, v, self.scalar(number).number)
        elif step.op == "gradient" and len(step.of) == 1:
            found = self.gradient("f_n", of[0])
        elif step.op == "full gradient":
            found = self.gradient("f", of[0])
        elif step.op == "gradient":
            draw, share = draws[step.of[1]]
            own, sampled = self.gradient("f_n", of[0]), self.gradient("f_ni", of[0])
            away = {(level, a, draw): c for (level, a, _), c in sampled.entries.items() if level == "i"}
            found = self.add(own, Vector(away, {draw: (share, True)}))
        elif step.op == "sample":
            b = self.scalar(step.numbers[0]).number
            if not step.flag and b != 1:
                raise UnreadError("a batch without replacement")
            draws[step.to] = (step.to, 1 / b)
            return
        elif step.op == "each":
            found = of[0]
        elif step.op in ("mean", "sum"):
            kept = {k: c for k, c in of[0].entries.items() if not k[0] or k[2]}
            shares = {draw: (share / N if own else share, False) for draw, (share, own) in of[0].shares.items()}
            found = self.scale(Vector(kept, shares), 1 if step.op == "mean" else N)
        elif step.op == "choose":
            draws[step.to] = (step.to, self._chosen(step))
            return
        elif step.op == "average":
            mask = step.numbers[0]
            if of[0].random or not isinstance(mask, Name) or mask.name not in draws:
                raise UnreadError("an average of what is drawn, or over other clients than chosen ones")
            draw, share = draws[mask.name]
            entries = {(level, a, draw if level else ""): c for (level, a, _), c in of[0].entries.items()}
            found = Vector(entries, {draw: (share, False)} if of[0].depth else {})
        else:
            raise UnreadError(f"{step.op} is not read in an abstract space")
        values[step.to] = found

    def _chosen(self, step: Instruction) -> Any:
        """Of the average of v_n over chosen clients: E of its squared distance from the mean, by the mean of those of
        the v_n. Without replacement 1/S (1 - (S-1)/(N-1)): n is chosen with chance S/N, n and m with S(S-1)/(N(N-1)).
        """
        import sympy

        N, S = sympy.Symbol("N"), self.scalar(step.numbers[0]).number
        if step.flag:
            return 1 / S
        self.needs.append(Need("/", (N - 1,), "N - 1"))
        return (N - S) / (S * (N - 1))


def _round(index: Expression) -> tuple[str, bool]:
    """The round that a state's index speaks of, and whether it is the end of it."""
    k, one = Name("k"), UNIT
    known: list[tuple[Expression, tuple[str, bool]]] = [
        (k, ("k", False)),
        (Apply("+", (k, one)), ("k", True)),
        (NOTHING, ("0", False)),
        (one, ("0", True)),
    ]
    for tree, found in known:
        if index == tree:
            return found
    raise UnreadError(f"the index {text_of(index)} is beyond one round")


def _names(e: Expression) -> set[str]:
    return {part.name for part in everything(e) if isinstance(part, Name)}


def _same_share(one: tuple[Any, bool], other: tuple[Any, bool]) -> None:
    import sympy

    if one[1] != other[1] or sympy.cancel(one[0] - other[0]) != 0:
        raise UnreadError("what a client draws beside the mean of what all draw")


def _mean(s: Scalar) -> Scalar:
    """The mean of what holds for each client and sample."""
    return replace(s, depth=0)


def _same(one: str, other: str) -> bool:
    try:
        return parse_sentence(one) == parse_sentence(other)
    except ValueError:
        return False
