"""E over samples that are drawn in every turn of a loop, where what the loop adds up is read as a sum over its turns.

Of two different turns the later sample is drawn independently of all that stands beside it, so that the two samples
less their means have inner product 0 on average; what is left is the same turn. A sample beside something that may hang
on it stays the random vector that it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .derivation_binders import Binder
from .derivation_terms import Atom, Poly
from .reading import Uncheckable

if TYPE_CHECKING:
    from .derivation_draws import Expectation

Pairs = list[tuple[Atom, int]]
Part = tuple[list[Binder], Poly]
Sample = tuple[Atom, Atom]
"""The gradient of a client at a sample, and which sample that is."""


class Stays(Uncheckable):
    """What is drawn stays in E, as the random vector that it is."""


class Turning:
    """A product with samples of one draw of a loop, at any of its turns."""

    def __init__(self, of: Expectation, binders: list[Binder], pairs: Pairs, draw: int) -> None:
        self.of, self.round, self.algebra = of, of.round, of.algebra
        self.binders, self.pairs, self.draw = binders, pairs, draw
        self.involved = [(a, e) for a, e in pairs if any(d == draw for d, _ in a.dr)]
        self.rest = [pair for pair in pairs if pair not in self.involved]

    def parts(self) -> list[Part]:
        """E of the product over the draws, or the same by others in which it may be taken.

        Raises:
            Stays: where one sample stands beside what may hang on it.
            Uncheckable: for other products.
        """
        found = [part for a, _ in self.involved for part in self._samples(a)]
        turns = {drawn.parts[3] for _, drawn in found}
        if not found or any(e != 1 for _, e in self.involved) or any(self._inside(x) for x, _ in found):
            raise Stays("samples of turns in functions")
        if len(turns) == 1:
            (turn,) = turns
            if not all(self._free(leaf, turn) for a, _ in self.pairs for leaf in a.leaves):
                raise Stays("a sample beside what may hang on it")
            clients = sorted({client for a, _ in self.involved for d, client in a.dr if d == self.draw})
            return self.of.over(self.binders, self.pairs, self.draw, clients)
        if len(self.involved) == 1 and len(found) == 2:
            return self._two_turns(found[0], found[1])
        raise Uncheckable("a product of samples of several turns")

    def _samples(self, a: Atom) -> list[Sample]:
        """The gradients at samples of this draw that stand in a factor, as a vector or in an inner product."""
        parts = [x for x in (a.parts if a.tag == "dot" else (a,)) if any(d == self.draw for d, _ in x.dr)]
        if not all(x.tag == "grad" and x.parts[-1].tag == "drawn" for x in parts):
            raise Stays("samples of turns in functions")
        return [(x, x.parts[-1]) for x in parts]

    def _inside(self, gradient: Atom) -> bool:
        """Whether the point of a gradient has the draw, or it is that of another draw."""
        return any(d == self.draw for d, _ in gradient.parts[1].dr) or gradient.parts[-1].parts[1] != self.draw

    def _free(self, leaf: Atom, turn: Atom) -> bool:
        """Whether a state or tap is certainly independent of the draw at a turn."""
        return self.round.before_turn(leaf, self.draw, self.algebra.thawed(turn))

    def _two_turns(self, one: Sample, two: Sample) -> list[Part]:
        """<g, g'> under two sums over the turns."""
        al, turns = self.algebra, [drawn.parts[3] for _, drawn in (one, two)]
        names = [self._bound(turn) for turn in turns]
        ends = [b[2] for b in self.binders if b[1] in names]
        if len(set(names)) != 2 or ends[0] is not ends[1]:
            raise Uncheckable("a product of samples of two turns that are not both summed over")
        for (x, _), other in ((one, names[1]), (two, names[0])):
            if other in x.frees:
                raise Uncheckable("a product of samples of two turns, of which one has both")
        if any(name in a.frees for a, _ in self.rest for name in names) or any(
            b[2] and set(names) & b[2].frees for b in self.binders
        ):
            raise Uncheckable("a product of samples of two turns, and of what hangs on these turns")
        for (x, _), turn in zip((one, two), turns, strict=True):
            if not all(self._free(leaf, turn) for leaf in x.leaves):
                raise Uncheckable("a sample at a point that may hang on it")
        if any(self.draw in self.round.hangs(leaf) for a, _ in self.rest for leaf in a.leaves):
            raise Uncheckable("a product of samples of two turns, and of what may hang on them")
        vectors = [al.of(x) for x, _ in (one, two)]
        (more, mean), (others, mean_2) = self._mean(one), self._mean(two)
        rest = al.factors(self.rest)

        def product(binders: list[Binder], u: Poly, v: Poly, sign: int = 1) -> Part:
            return [*self.binders, *binders], al.scale(al.mul(rest, al.dot(u, v)), sign)

        def same(part: Part) -> Part:
            """In the same turn."""
            put = {names[1]: names[0]}
            return [b for b in part[0] if b[1] != names[1]], al.renamed(part[1], put)

        both = [*more, *others]
        return [
            product(others, vectors[0], mean_2),
            product(more, mean, vectors[1]),
            product(both, mean, mean_2, -1),
            same(product([], vectors[0], vectors[1])),
            same(product(both, mean, mean_2, -1)),
        ]

    def _bound(self, turn: Atom) -> str:
        """The index of a sum that a turn is."""
        p = self.algebra.thawed(turn)
        for b in self.binders:
            if b[0] in "hj" and p == self.algebra.of(self.algebra.var(b[1])):
                return b[1]
        raise Uncheckable("a product of samples of two turns that are not both summed over")

    def _mean(self, sample: Sample) -> tuple[list[Binder], Poly]:
        """E of a gradient at a sample, given all else: over the samples of its client."""
        al, (gradient, drawn) = self.algebra, sample
        name = al.fresh("i")
        found = al.atom(*("grad", *gradient.parts[:-1]), al.var(name), vec=True)
        return [("i", name, drawn.parts[2])], al.of(found)
