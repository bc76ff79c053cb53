"""False neighbours of a claim: does the ordinary check refute them, not told where?"""

from __future__ import annotations

from validate.mutate.findings import Finding, MutationReport, kill_rate, summary
from validate.mutate.judged import mutate, mutate_all

__all__ = ["Finding", "MutationReport", "kill_rate", "mutate", "mutate_all", "summary"]
