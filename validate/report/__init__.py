"""The report: one page of HTML with every claim's verdict, its evidence, and the paper's figures drawn again."""

from __future__ import annotations

from validate.report.page import render
from validate.report.parts import write

__all__ = ["render", "write"]
