"""Certificates about the mixing weights of a client: both sides at an instance, or an order that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_decimal, as_text

_COUNTS = ("client", "local_steps", "rounds", "weight_steps")


def mixing_certificate(
    claim: Claim,
    instance: Mapping[str, Any],
    parameters: Mapping[str, Number | Sequence[Number]],
    left: Number | float,
    right: Number | float,
    *,
    coefficient: str = "",
    ratio: str = "",
    definitions: Mapping[str, str] | None = None,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"mixing"``; `validate.verifier.mixing` says what is played and checked.

    Args:
        claim: the claim as printed; its quantity is copied, and its right side and definitions where it has them.
        instance: ``functions`` (each with ``h`` and ``b``), ``n``, ``lam``, ``client``, ``start``, ``step``,
            ``local_steps``, ``rounds`` and ``weight_steps``.
        parameters: the claim's parameters, exact; vectors as sequences.
        left: the left side, by the caller's own computation: exact, or a float for an irrational number, of which ten
            significant digits are printed.
        right: the right side; for an order, coefficient ratio^T_a at the printed T_a.
        coefficient: of an order, a formula.
        ratio: of an order, a formula.
        definitions: of the names in these two formulas.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has a right side and a ratio is given, or neither, or a number is not exact.
    """
    if (claim.right is None) != bool(ratio and coefficient):
        raise ValueError(
            f"coefficient={coefficient!r}, ratio={ratio!r}: needed where {claim.id} has no right side only"
        )
    body: dict[str, Any] = {"left": {"quantity": claim.quantity.name}}
    if claim.right is not None:
        body |= {"relation": claim.relation, "right": claim.right, "definitions": dict(claim.definitions)}
    else:
        body |= {"coefficient": coefficient, "ratio": ratio, "definitions": dict(definitions or {})}
    return {
        **about(claim, "mixing", silent, note),
        "functions": [{key: as_text(item[key], key) for key in ("h", "b")} for item in instance["functions"]],
        "n": [as_text(x, "n") for x in instance["n"]],
        **{key: as_text(instance[key], key) for key in ("lam", "start", "step")},
        **{key: int(instance[key]) for key in _COUNTS},
        "parameters": {name: _number(value, name) for name, value in parameters.items()},
        **body,
        "left_value": _value(left, "left"),
        "right_value": _value(right, "right"),
    }


def _number(value: Number | Sequence[Number], name: str) -> Any:
    if isinstance(value, Fraction | int | str):
        return as_text(value, name)
    return [as_text(x, name) for x in value]


def _value(value: Number | float, name: str) -> str:
    return as_decimal(value, name) if isinstance(value, float) else as_text(value, name)
