"""Papers."""

from __future__ import annotations

from theory.written import LABEL, Paper

__all__ = ["LABEL", "Paper"]
