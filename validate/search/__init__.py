"""An unguided search for instances that break a claim."""

from __future__ import annotations

from validate.search.reduce import FixedPoint, certificate_of
from validate.search.space import Structure
from validate.search.unguided import SearchResult, search, search_evidence

__all__ = ["FixedPoint", "SearchResult", "Structure", "certificate_of", "search", "search_evidence"]
