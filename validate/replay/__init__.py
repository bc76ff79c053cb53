"""The proof of a claim, put to the prover."""

from __future__ import annotations

from validate.replay.derivation import Derivation, derivation

__all__ = ["Derivation", "derivation"]
