"""The value of a performance estimation problem, proved from above and attained from below.

The worst case of a run over a class of functions in all dimensions is the value of a semidefinite program (Drori and
Teboulle 2014; Taylor, Hendrickx and Glineur 2017). Its dual is solved in floats and turned into a proof of an upper
bound; its primal into an explicit instance that attains a lower bound. Both are checked exactly. What the solver says
counts for nothing by itself.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from theory.worst_case.attained import attain
from theory.worst_case.certificate import Instance, UpperBound, certify
from theory.worst_case.program import Program
from theory.worst_case.solver import EFFORTS, INSIDE, Effort, relaxations
from theory.worst_case.unbounded import lifted, widened, without_start

TOLERANCE = Fraction(1, 50_000)
_AIM = Fraction(1, 10**6)  # relative width at which the search for a narrower enclosure ends,
_REACH = Fraction(1, 10**7)  # or the width in normalised units: the margins of the solves
_RESCALED = 2  # times that the objective may be scaled anew, once its size is known
_PATIENT = 3  # efforts that are made for a narrower gap; the others only for a bound at all


def enclose(
    problem: Program,
    wanted: Fraction = TOLERANCE,
    free: bool = False,
    scale: float = 1.0,
    attained: bool = True,
) -> tuple[UpperBound | None, Instance | None, list[str]]:
    """A proved upper bound and an instance that attains a lower one, with growing effort, and the solver's words.

    Args:
        problem: with a bounded value.
        wanted: relative width of the enclosure at which no more effort is made.
        free: whether the start is bounded by its gap alone (`theory.worst_case.unbounded`).
        scale: what the objective is multiplied by at first.
        attained: whether an instance is wanted; without, one effort that gives a bound is enough.
    """
    upper: UpperBound | None = None
    lower: Instance | None = None
    words: list[str] = []
    efforts, rescaled = list(EFFORTS), 0
    while efforts:
        effort = efforts.pop(0)
        upper, lower, word = _improved(problem, free, replace(effort, scale=scale), upper, lower, wanted, attained)
        words.append(word)
        if word != INSIDE:  # then it was Clarabel, which is not asked the same twice
            efforts = [e for e in efforts if replace(e, width=effort.width) != effort]
        if _done(upper, lower, wanted) or "Infeasible" in word or (upper is not None and not attained):
            break
        if upper is None or upper.bound <= 0:
            continue
        efforts = [e for e in efforts if e in EFFORTS[:_PATIENT]]
        fit = 2.0 ** -round(math.log2(upper.bound))
        if rescaled < _RESCALED and not 1 / 8 < fit / scale < 8:
            scale, rescaled, efforts = fit, rescaled + 1, list(EFFORTS[:_PATIENT])
    return upper, lower, words


def _improved(
    problem: Program,
    free: bool,
    effort: Effort,
    upper: UpperBound | None,
    lower: Instance | None,
    wanted: Fraction,
    attained: bool,
) -> tuple[UpperBound | None, Instance | None, str]:
    """The better of what is known and what one effort finds, and the solver's last word."""
    word = ""
    small, places = without_start(problem) if free else (problem, None)
    for solved in relaxations(small, effort):
        word = solved.status
        if not solved.gram:
            break
        proof, instance = certify(small, solved), None
        if attained:
            near = None if proof is None else proof.bound * (1 - _AIM)
            if near is None or lower is None or lower.value < near:
                instance = attain(small, solved, near)
        if places is not None:
            proof = widened(proof, places) if proof is not None else None
            proof = proof if proof is not None and proof.check(problem) else None
            instance = lifted(problem, instance) if instance is not None else None
        if proof is not None and (upper is None or proof.bound < upper.bound):
            upper = proof
        if instance is not None and (lower is None or instance.value > lower.value):
            lower = instance
        if _done(upper, lower, wanted):
            break
    return upper, lower, word


def _done(upper: UpperBound | None, lower: Instance | None, wanted: Fraction) -> bool:
    """Whether the enclosure is narrow enough, and more effort is unlikely to narrow it by much."""
    if upper is None or lower is None:
        return False
    return upper.bound - lower.value <= _width(upper, wanted)


def _width(upper: UpperBound, wanted: Fraction) -> Fraction:
    """Of an enclosure that is narrow enough."""
    return max(_AIM * upper.bound, min(_REACH, wanted * upper.bound))
