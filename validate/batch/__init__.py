"""Instances by the thousand: a claim's exact play recorded once, computed on arrays of them, and a search on that."""

from validate.batch.search import searched
from validate.batch.swinging import swung
from validate.batch.tracing import Traced, traced
from validate.batch.turning import turned

__all__ = ["Traced", "searched", "swung", "traced", "turned"]
