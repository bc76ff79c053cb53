"""What the shell offers at the tab key: ids of claims, and names of papers."""

from __future__ import annotations


def claim_ids(incomplete: str) -> list[str]:
    """Ids of claims that begin with what is typed."""
    from theory import catalog

    paper, slash, _ = incomplete.partition("/")
    chosen = [name for name in catalog.names() if (name == paper if slash else name.startswith(paper))]
    return [claim.id for name in chosen for claim in catalog.claims(name) if claim.id.startswith(incomplete)]


def papers(incomplete: str) -> list[str]:
    """Names of papers that begin with what is typed."""
    from theory import catalog

    return [paper.name for paper in catalog.papers() if paper.name.startswith(incomplete)]


def collections(incomplete: str) -> list[str]:
    """Names of papers, those of collections too, and of collections."""
    from theory import catalog

    return [name for name in (*catalog.names(), *catalog.COLLECTIONS) if name.startswith(incomplete)]


def targets(incomplete: str) -> list[str]:
    """What `collections` has and all, or, once a paper is typed, ids of its claims."""
    if "/" in incomplete:
        return claim_ids(incomplete)
    return [*collections(incomplete), *(name for name in ("all",) if name.startswith(incomplete))]
