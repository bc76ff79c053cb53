"""Textbook results: how those about stochastic methods are measured, and how the others are proved."""

from __future__ import annotations

from validate.papers.textbook.instances import instances, sampled, scenarios
from validate.papers.textbook.measures import cases
from validate.papers.textbook.special import special

__all__ = ["cases", "instances", "sampled", "scenarios", "special"]
