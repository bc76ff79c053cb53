"""Derivations found: what `fedproof prove` does. The kernel (`theory.derivation`) knows nothing of it, and decides."""
