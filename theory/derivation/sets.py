"""What holds of points of convex sets: weights on the simplex, projections onto a ball, minimisers over one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theory.derivation.kernel import Kernel
from theory.derivation.operations import data_of
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import Quotient
from theory.derivation.reading import PLAIN
from theory.derivation.statements import Found, Line, same
from theory.derivation.terms import dot
from theory.sentence import Expression, Sentence, applied, parse_sentence, read
from theory.sentence import replaced as replaced_by


def of_simplex(kernel: Kernel, costs: Expression, curvatures: Expression) -> list[Sentence]:
    """Weights are at least 0 and sum to 1, and no client's marginal cost is below their mean (Karush, Kuhn, Tucker)."""
    said = parse_sentence("sum_n(a*(c + 2*q*a)) <= c + 2*q*a")
    weight = applied("simplex_n", (costs, curvatures))
    kernel.has_value(weight)
    new = {"c": costs, "q": curvatures, "a": weight}
    level = Sentence(replaced_by(said.left, new), "<=", replaced_by(said.right, new))
    zero, one = parse_sentence("0 <= 1").left, parse_sentence("0 <= 1").right
    return [Sentence(zero, "<=", weight), Sentence(applied("sum_n", (weight,)), "==", one), level]


def projection(kernel: Kernel, of: Sequence[Expression], line: Line) -> Found:
    """A projected vector is in its ball, and what it is the projection of lies on its other side from all of that.

    Args:
        kernel: whose lines say that a vector is in the ball.
        of: the projected vector; and what it is the projection of, and a vector in the ball.
        line: what is to be said of them.

    Raises:
        RejectedError: where it is not so.
    """
    shapes = [read(e, kernel.claim.vocabulary) for e in of]
    if len(of) not in (1, 3) or any(one.shape != "vector" or "i" in one.free for one in shapes):
        raise RejectedError("projection is of a vector, and of that which is projected and one in the ball")
    unfolded, reader = replace(PLAIN, unfold=True), kernel.reader
    radius, before = data_of(kernel, of[0], "projected")
    p, *others = (reader.value(e) for e in of)
    gap: Quotient = radius * radius - dot(p, p)
    if not reader.nonnegative(radius):
        raise RejectedError("nothing says that the radius is not negative")
    if others:
        v, u = others
        if not (reader.value(of[1], unfolded) - before).zero:
            raise RejectedError("the second vector is not what is projected")
        if not reader.nonnegative(radius * radius - dot(u, u)):
            raise RejectedError("nothing says that the third vector is in the ball")
        gap = dot(p - v, u - p)
    zero = parse_sentence("0 <= 1").left
    if not same(line.gap, line.relation, replace(line, sentence=Sentence(zero, "<=", zero), gap=gap)):
        raise RejectedError("it is not what is so of a projection")
    return Found()


def of_minimiser(kernel: Kernel, of: Sequence[Expression]) -> list[Sentence]:
    """What is so of ``argmin_n(q, r)``: it is in the ball, and from it the function falls to no vector of the ball."""
    if len(of) not in (2, 3):
        raise RejectedError("argmin is of weights and a radius, and of a vector in the ball")
    weights, radius, *others = of
    point = applied("argmin_n", (weights, radius))
    kernel.has_value(point)
    said = parse_sentence("norm2(v) <= r**2")
    if not kernel.signs.nonnegative(radius):
        raise RejectedError("nothing says that the radius is not negative")
    new = {"q": weights, "r": radius, "v": point}
    if others:
        reading = read(others[0], kernel.claim.vocabulary)
        inside = parse_sentence("r**2 - norm2(u) >= 0").left
        new["u"] = others[0]
        if reading.shape != "vector" or reading.free & {"n", "i"}:
            raise RejectedError("the third is one vector")
        if not kernel.signs.nonnegative(replaced_by(inside, new)):
            raise RejectedError("nothing says that the third vector is in the ball")
        said = parse_sentence("0 <= sum_n(q*dot(grad(f_n, v), u - v))")
    return [Sentence(replaced_by(said.left, new), "<=", replaced_by(said.right, new))]


__all__ = ["of_minimiser", "of_simplex", "projection"]
