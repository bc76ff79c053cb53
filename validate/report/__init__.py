"""The report: pages of HTML with the findings, every claim's verdict and evidence, and the papers' figures redrawn."""

from __future__ import annotations

from validate.report.page import render
from validate.report.writing import write

__all__ = ["render", "write"]
