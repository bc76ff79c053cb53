"""Certificates about a relation between numbers that is false."""

from __future__ import annotations

from collections.abc import Mapping

from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_text


def relation_certificate(
    claim: Claim,
    parameters: Mapping[str, Number],
    left: str,
    left_value: Number,
    right_value: Number,
    *,
    right: str | None = None,
    definitions: Mapping[str, str] | None = None,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"relation"``; `validate.verifier.relation` says what is checked.

    Args:
        claim: the claim as printed; its relation is copied, and its right side and definitions where it has them.
        parameters: the numbers, exact.
        left: the left side as a formula in the names of the parameters and definitions.
        left_value: its value, by the caller's own computation.
        right_value: the right side's value, likewise.
        right: for a claim without a right side of its own, the right side as a formula.
        definitions: for such a claim, further names and their formulas.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when right or definitions are given for a claim that has a right side, or right is not given for
            one that has none, or a number is not exact.
    """
    if (claim.right is None) != (right is not None) or (claim.right is not None and definitions is not None):
        raise ValueError(
            f"right={right!r}, definitions={definitions!r}: needed where {claim.id} has no right side, and only there"
        )
    sides = {"right": claim.right} if right is None else {"right_formula": right}
    return {
        **about(claim, "relation", silent, note),
        "parameters": {name: as_text(value, name) for name, value in parameters.items()},
        "definitions": dict(claim.definitions if definitions is None else definitions),
        "left": {"quantity": claim.quantity.name, "formula": left},
        "relation": claim.relation,
        **sides,
        "left_value": as_text(left_value, "left_value"),
        "right_value": as_text(right_value, "right_value"),
    }
