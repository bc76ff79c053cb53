"""Certificates about rounds of FedMIM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.arithmetic import NotRationalError
from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_decimal, as_text, named_numbers
from validate.scenario import rational

_COUNTS = ("S", "K", "local_steps")


def inertial_certificate(
    claim: Claim,
    spec: Mapping[str, Any],
    index: Mapping[str, int],
    parameters: Mapping[str, Number | Sequence[Number]],
    left: Fraction | int,
    right: Fraction | int | float | None = None,
    *,
    silent: bool = False,
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"inertial"``: ``left relation right`` fails on rounds of FedMIM.

    Args:
        claim: the claim as printed; its quantity, relation, right side and definitions are copied.
        spec: the instance, as for ``fedproof moments`` (`validate.inertial_scenario`; exact numbers).
        index: the indices t and n from 0, and k of x_{n,k}, at which the quantity and the parameters are taken; only
            those needed. See the docstring of `validate.verifier.inertial`.
        parameters: the claim's parameters, exact; alpha, beta and delta_sq with one number a lag, J = max(1, the lags
            of alpha and beta), filled up with zeros.
        left: the quantity's exact value, from the oracle.
        right: the right side's value; by default from `theory.evaluate`. A float is printed with ten digits.
        silent: whether the hypotheses that the paper does not print are listed too.
        note: a remark for the reader.

    Raises:
        ValueError: when the claim has no formula, a name is not among its parameters, or a number is not exact.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no certificate of kind inertial")
    vectors = [p.name for p in claim.parameters if p.shape == "vector" and p.name in parameters]
    scalars: dict[str, Any] = {name: value for name, value in parameters.items() if name not in vectors}
    numbers: dict[str, Any] = named_numbers(claim, scalars)
    for name in vectors:
        value: Any = parameters[name]
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise ValueError(f"{name}={value!r} is not a list of one number a lag")
        numbers[name] = [as_text(v, name) for v in value]
    return {
        **about(claim, "inertial", silent, note),
        "instance": _instance(spec),
        "parameters": numbers,
        "left": {"quantity": claim.quantity.name, "index": {key: int(value) for key, value in index.items()}},
        "relation": claim.relation,
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "left_value": as_text(left, "left"),
        "right_value": _right_value(claim, numbers, right),
    }


def _right_value(claim: Claim, parameters: Mapping[str, Any], right: Fraction | int | float | None) -> str:
    """As a fraction where it is one, else with ten digits."""
    from theory.evaluate import enclose, exact

    if isinstance(right, float):
        return as_decimal(right, "right")
    if right is not None:
        return as_text(right, "right")
    values = {name: [Fraction(v) for v in x] if isinstance(x, list) else Fraction(x) for name, x in parameters.items()}
    try:
        return as_text(exact(claim, values), "right")
    except NotRationalError:
        return as_decimal(enclose(claim, values).lower, "right")


def _instance(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification with every number exact and as text."""
    required = ("clients", "local_steps", "step", "x0", "K")
    if not isinstance(spec, Mapping) or any(key not in spec for key in required):
        raise ValueError(f"spec={spec!r} is not a specification with {', '.join(required)}")

    def exact(value: Any, name: str) -> Any:
        if isinstance(value, list | tuple):
            return [as_text(rational(v, name), name) for v in value]
        return as_text(rational(value, name), name)

    def lists(client: Mapping[str, Any]) -> dict[str, Any]:
        own = {key: client[key] if isinstance(client[key], list | tuple) else [client[key]] for key in ("h", "b")}
        return {key: exact(value, key) for key, value in own.items()}

    result: dict[str, Any] = {"algorithm": str(spec.get("algorithm", "fedmim"))}
    for key, value in spec.items():
        if key == "clients":
            result[key] = [lists(client) for client in value]
        elif key in _COUNTS:
            result[key] = int(as_text(rational(value, key), key))
        elif key != "algorithm":
            result[key] = exact(value, key)
    return result
