"""The proof of a claim, replayed line by line."""

from __future__ import annotations

from validate.replay.proof import Line, Replay, encoded, evidence, replay

__all__ = ["Line", "Replay", "encoded", "evidence", "replay"]
