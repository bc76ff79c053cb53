"""False neighbours of a claim: does the ordinary check refute them, not told where?"""

from __future__ import annotations

from validate.mutate.trial import Finding, MutationReport, kill_rate, mutate, mutate_all, summary

__all__ = ["Finding", "MutationReport", "kill_rate", "mutate", "mutate_all", "summary"]
