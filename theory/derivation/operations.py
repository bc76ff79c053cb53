"""The rule `operation`: what is so of a vector that a program makes by an operation that is not taken apart.

A proximal point is where ``F(u) + norm2(u - v)/(2*t)`` is least over u (Moreau, Bull. SMF 93, 1965); of the largest
coordinates and of signs it is said what a compressor is asked for (Stich, Cordonnier, Jaggi, Sparsified SGD with
memory, NeurIPS 2018, Definition 2.1; Karimireddy and others, Error feedback fixes SignSGD, ICML 2019, Section 4). A
gossip matrix is symmetric and doubly stochastic (Boyd and others, Randomized gossip algorithms, IEEE Transactions on
Information Theory 52, 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from theory.derivation.atoms import Index
from theory.derivation.changes import renamed
from theory.derivation.combinations import list_of
from theory.derivation.equalities import of_one_client
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import Quotient, constant
from theory.derivation.reading import PLAIN, parameter
from theory.derivation.statements import Found, Line, same
from theory.derivation.terms import dot
from theory.for_every import predicate_of
from theory.predicates import Connected, Predicate
from theory.sentence import FUNCTION_NAMES, Expression, Relation, Sentence, applied, parse_sentence, read, replaced

Said = tuple[Relation, Quotient]
"""A relation of 0, and what it is to."""
_CLIENT = Index("n")


def operation(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so of what an operation makes: the vectors are that, what it is applied to, and for some another one."""
    schema, using = str(data.get("schema")), str(data.get("using", ""))
    of = [kernel.expression(text) for text in list_of(data, "of")]
    if schema not in _SCHEMAS or len(of) != _SCHEMAS[schema][1]:
        raise RejectedError(f"{schema} is nothing that is so of an operation, or of another number of vectors")
    for e in of:
        reading = read(e, kernel.claim.vocabulary)
        if reading.shape != "vector" or "i" in reading.free:
            raise RejectedError("an operation is of vectors, and of none of a sample")
        kernel.has_value(e)
    kind, _, names, sentences = _SCHEMAS[schema]
    one = _Made(kernel, kind, of)
    if names:
        one.assume(using, names)
    elif using:
        raise RejectedError(f"{schema} uses no assumption")
    zero = parse_sentence("0 <= 1").left
    for relation, gap in sentences(one):
        if same(line.gap, line.relation, replace(line, sentence=Sentence(zero, relation, zero), gap=gap)):
            return Found(hypotheses=frozenset({using} if using else ()))
    raise RejectedError(f"it is not what is so of it ({schema})")


def data_of(kernel: Kernel, e: Expression, kind: str, alone: bool = False) -> tuple[Any, ...]:
    """The data of the one atom, of a kind, that a vector is as the program makes it.

    Args:
        kernel: of the claim.
        e: the vector.
        kind: of the atom.
        alone: whether means over clients are taken for what they are of one client.

    Raises:
        RejectedError: where it is none.
    """
    q = kernel.reader.value(e, replace(PLAIN, unfold=True))
    terms = list((of_one_client(q, _CLIENT) if alone else q).over.items())
    (((m, c),), under) = (terms, q.under) if len(terms) == 1 else ((((), 0),), {})
    if c != 1 or under or len(m) != 1 or m[0][1] != 1 or m[0][0].kind != "vec" or m[0][0].data[0].kind != kind:
        raise RejectedError(f"the first vector is not {kind}")
    return tuple(m[0][0].data[0].data)


class _Made:
    """A vector that an operation makes, what it is applied to, and what else is spoken of."""

    def __init__(self, kernel: Kernel, kind: str, of: Sequence[Expression]) -> None:
        self.kernel, self.of, words = kernel, of, kernel.claim.vocabulary
        self.alone = kind == "proximal" and "n" not in read(of[0], words).free
        one = parse_sentence("N <= 1")
        if self.alone and not kernel.signs.nonnegative(applied("-", (one.right, one.left))):
            raise RejectedError("a proximal point is of one client, and nothing says that there is but one")
        self.data = data_of(kernel, of[0], kind, self.alone)
        before = kernel.reader.value(of[1], replace(PLAIN, unfold=True))
        before = of_one_client(before, _CLIENT) if self.alone else before
        applied_to = next(x for x in reversed(self.data) if isinstance(x, Quotient))
        if kind == "mixed":
            applied_to = renamed(applied_to, {self.data[0]: _CLIENT})
        if not (before - applied_to).zero:
            raise RejectedError("the second vector is not what the operation is applied to")
        self.u, self.v, *rest = (kernel.reader.value(e) for e in of)
        self.other = rest[0] if rest else self.v
        self.predicate: Predicate | None = None

    def assume(self, text: str, names: Sequence[str]) -> None:
        """Use an assumption on the client's function, or on finer ones of which it is a mean.

        Raises:
            RejectedError: where the claim does not assume it, or it is of another function.
        """
        one = predicate_of(text) if text in (*self.kernel.claim.assuming, *self.kernel.claim.standing) else None
        if one is None or one.name not in names:
            raise RejectedError(f"it uses what the claim assumes, {' or '.join(names)}, and not {text!r}")
        if isinstance(one, Connected):
            if one.matrix != self.data[1] or self.data[-1] != _CLIENT:
                raise RejectedError(f"{text} is of another matrix")
            self.predicate = one
            return
        level = FUNCTION_NAMES.index(one.function)
        free = frozenset().union(*(read(c, self.kernel.claim.vocabulary).free for c in one.constants))
        if (level < 1 and not self.alone) or free - (set() if self.alone else {"n"}):
            raise RejectedError(f"{text} does not say it of the function of one client")
        self.predicate = one

    def value(self, e: Expression) -> Quotient:
        return self.kernel.reader.value(applied("f" if self.alone else "f_n", (e,)))

    @property
    def t(self) -> Quotient:
        """Of a proximal point: positive, as there is none for 0."""
        t: Quotient = self.data[0]
        if not self.kernel.reader.nonnegative(t):
            raise RejectedError("nothing says that the step of a proximal point is positive")
        return t

    @property
    def falls(self) -> Quotient:
        """Of a proximal point u: t*(F(y) - F(u))."""
        return self.t * (self.value(self.of[2]) - self.value(self.of[0]))

    def least(self) -> list[Said]:
        """No vector y has a smaller F(y) + norm2(y - v)/(2*t)."""
        u, v, y = self.u, self.v, self.other
        return [("<=", constant(2) * self.falls + dot(y - v, y - v) - dot(u - v, u - v))]

    def convex(self) -> list[Said]:
        """(v - u)/t is a subgradient of F at u; where F is mu-strongly convex, of F - mu/2*norm2 in its place."""
        u, v, y = self.u, self.v, self.other
        gap = self.falls - dot(v - u, y - u)
        assert self.predicate is not None
        if not self.predicate.constants:
            return [("<=", gap)]
        mu = self.kernel.reader.value(self.predicate.constants[0])
        return [("<=", gap), ("<=", gap - self.t * mu * dot(y - u, y - u) / constant(2))]

    def smooth(self) -> list[Said]:
        """Where F is differentiable, (v - u)/t is its gradient at u: against each vector z."""
        grad = self.kernel.reader.value(applied("grad f" if self.alone else "grad f_n", (self.of[0],)))
        return [("==", self.t * dot(grad, self.other) - dot(self.v - self.u, self.other))]

    def mixes(self) -> list[Said]:
        """A doubly stochastic matrix leaves the mean as it is, and what clients are away from it shrinks by rho."""
        if len(self.of) == 3:
            if "n" in read(self.of[2], self.kernel.claim.vocabulary).free:
                raise RejectedError("the third vector is one of all clients")
            said = parse_sentence("dot(mean_n(p) - mean_n(v), z) == 0")
        else:
            said = parse_sentence("mean_n(norm2(p - mean_n(v))) <= rho**2*mean_n(norm2(v - mean_n(v)))")
        new = dict(zip(("p", "v", "z"), self.of, strict=False))
        sides = [replaced(side, new) for side in said.sides]
        return [(said.relation, self.kernel.reader.value(applied("-", (sides[1], sides[0]))))]

    def largest(self) -> list[Said]:
        """m of d coordinates have at least the share m/d of the square of the length, and are what they were."""
        p, v, m = self.u, self.v, self.data[0]
        kept = dot(p, p)
        return [("==", dot(p, v) - kept), ("<=", parameter("d") * kept - m * dot(v, v))]

    def signs(self) -> list[Said]:
        """<sign(v), v> is the sum of the absolute values, which is at least the length."""
        length = self.kernel.reader.value(applied("norm", (self.of[1],)))
        return [("<=", dot(self.u, self.v) - length), ("<=", parameter("d") - dot(self.u, self.u))]


_SCHEMAS: Mapping[str, tuple[str, int, tuple[str, ...], Callable[[_Made], list[Said]]]] = {
    "proximal": ("proximal", 3, (), _Made.least),
    "proximal convex": ("proximal", 3, ("convex", "strongly_convex"), _Made.convex),
    "proximal smooth": ("proximal", 3, ("smooth",), _Made.smooth),
    "mixed": ("mixed", 2, ("connected",), _Made.mixes),
    "mixed mean": ("mixed", 3, ("connected",), _Made.mixes),
    "largest": ("largest", 2, (), _Made.largest),
    "signs": ("signs", 2, (), _Made.signs),
}
"""Each with the kind of atom, how many vectors it is of, the assumptions one of which it uses, and what is so."""
