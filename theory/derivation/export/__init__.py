"""Derivations as files for other provers: Rocq (`rocq`) and Lean (`lean`).

Nothing here decides whether a derivation is right: the other prover does, with its own kernel.
"""

from theory.derivation.export.forms import NotExportedError

__all__ = ["NotExportedError"]
