"""The proof of a claim, replayed line by line, or put to the prover where it is data."""

from __future__ import annotations

from validate.replay.derivation import Derivation, derivation
from validate.replay.proof import Line, Replay, encoded, evidence, replay

__all__ = ["Derivation", "Line", "Replay", "derivation", "encoded", "evidence", "replay"]
