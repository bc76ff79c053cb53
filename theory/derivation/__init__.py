"""Derivations: proofs line by line, and the kernel that accepts them or does not."""
