"""Assumptions on functions that cannot hold together, and what else they imply for a claim's constants.

Such conflicts are not seen in the relations between numbers: a gradient bounded by G on all of R^d and strong convexity
exclude each other whatever the constants are. The table is short, and each entry carries its proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theory import predicates
from theory.assumptions import Assumption, BoundedStochasticGradient, Smooth, StronglyConvex
from theory.claim import Claim, Hypothesis
from theory.written import Claim as Written


@dataclass(frozen=True)
class Conflict:
    """Two hypotheses that no functions satisfy together.

    Attributes:
        first: name of a hypothesis.
        second: name of another.
        proof: why, in a line.
    """

    first: str
    second: str
    proof: str


@dataclass(frozen=True)
class Exclusion:
    """Two assumptions that exclude each other on all of R^d, d >= 1.

    Attributes:
        first: a class of assumptions.
        second: another.
        proof: why, in a line.
    """

    first: type[Assumption]
    second: type[Assumption]
    proof: str

    def concerns(self, one: Assumption | None, other: Assumption | None) -> bool:
        """Whether these two are such a pair, the second one meant on all of R^d."""
        if not (isinstance(one, self.first) and isinstance(other, self.second)):
            return False
        return not isinstance(other, BoundedStochasticGradient) or other.at == "everywhere"


EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(
        StronglyConvex,
        BoundedStochasticGradient,
        "E g = grad f_n(x) and ||g|| <= sigma give ||grad f_n(x)|| <= sigma for all x, while ||grad f_n(x)|| >= mu "
        "||x - x_n*|| grows without bound with x (for strongly convex samples or a strongly convex average too: some "
        "client's gradient grows), so it fails for every sigma",
    ),
)


def function_conflicts(claim: Claim | Written, extra: Sequence[Hypothesis] = ()) -> tuple[Conflict, ...]:
    """Pairs of a claim's hypotheses on functions that cannot hold together.

    Args:
        claim: the claim; of one that is a sentence the hypotheses are its assumptions, by their text.
        extra: further hypotheses, such as those of another result that a proof silently uses; not of a sentence.
    """
    if isinstance(claim, Written):
        return _of_sentence(claim)
    hypotheses = [h for h in (*claim.conditions, *extra) if h.assumption is not None]
    return tuple(
        Conflict(one.name, other.name, exclusion.proof)
        for exclusion in EXCLUSIONS
        for one in hypotheses
        for other in hypotheses
        if exclusion.concerns(one.assumption, other.assumption)
    )


def _of_sentence(claim: Written) -> tuple[Conflict, ...]:
    """Of strongly convex f_n or f_ni the mean is strongly convex, of bounded gradients the mean is bounded."""
    if claim.over:  # asked at some x only
        return ()
    return tuple(
        Conflict(one.text, other.text, "gradients of a strongly convex f grow without a bound")
        for one in claim.predicates
        if isinstance(one, predicates.StronglyConvex)
        for other in claim.predicates
        if isinstance(other, predicates.Lipschitz | predicates.BoundedGradients) and len(other.constants) == 1
    )


def implied_relations(hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Relations between constants that assumptions on functions imply, as hypotheses that nobody printed.

    A mu-strongly convex function with an L-Lipschitz gradient has mu <= L (d >= 1): mu ||x-y||^2 <=
    <grad f(x) - grad f(y), x-y> <= L ||x-y||^2. Samples, clients and their average pass both properties on to the
    average, so it does not matter of which the two are assumed.
    """
    found = {}
    for one in hypotheses:
        for other in hypotheses:
            if isinstance(one.assumption, StronglyConvex) and isinstance(other.assumption, Smooth):
                relation = f"{one.assumption.constant} <= {other.assumption.constant}"
                found[relation] = Hypothesis(
                    f"{one.name}, {other.name}",
                    "strong convexity and smoothness of one function, so of the average",
                    relation=relation,
                    printed=False,
                )
    return tuple(found.values())


def constants(hypotheses: Sequence[Hypothesis]) -> frozenset[str]:
    """Names of the constants of smoothness and strong convexity, which are positive."""
    return frozenset(h.assumption.constant for h in hypotheses if isinstance(h.assumption, Smooth | StronglyConvex))
