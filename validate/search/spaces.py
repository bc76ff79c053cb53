"""Which instances a claim is searched over: those of the algorithm that its paper speaks of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from theory.claim import Claim
from validate import papers
from validate.search import space
from validate.search.space import Shape

SPACES: Mapping[str, Callable[[Claim], Sequence[Shape]]] = {
    "rounds": space.structures,
}
"""By the name that a paper's module gives as SEARCH_SPACE; "rounds" where it gives none, nor its own `structures`."""


def usual_structures(claim: Claim) -> list[Shape]:
    """The structures that are searched for a claim unless others are given, small ones first."""
    module = papers.module(claim.paper)
    own: Callable[[Claim], Sequence[Shape]] | None = getattr(module, "structures", None)
    return list((own or SPACES[getattr(module, "SEARCH_SPACE", "rounds")])(claim))
