"""What the shell offers at the tab key: ids of claims, and names of papers."""

from __future__ import annotations


def claim_ids(incomplete: str) -> list[str]:
    """Ids of claims that begin with what is typed."""
    from theory import catalog

    return [claim.id for claim in catalog.claims() if claim.id.startswith(incomplete)]


def papers(incomplete: str) -> list[str]:
    """Names of papers that begin with what is typed."""
    from theory import catalog

    return [paper.name for paper in catalog.papers() if paper.name.startswith(incomplete)]


def targets(incomplete: str) -> list[str]:
    """Names of papers, or, once a paper is typed, ids of its claims."""
    return claim_ids(incomplete) if "/" in incomplete else [*papers(incomplete), *_all(incomplete)]


def _all(incomplete: str) -> list[str]:
    return ["all"] if "all".startswith(incomplete) else []
