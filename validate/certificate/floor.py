"""Certificates about a rate that a family of runs does not follow, whatever its constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theory.claim import Claim
from validate.certificate.parts import Certificate, Number, about, as_decimal, as_text

_DIGITS = 6  # of the quotients


def floor_certificate(
    claim: Claim,
    step: str,
    rate: str,
    lam: Number,
    instances: Sequence[Mapping[str, Number | float]],
    *,
    start: Number = 1,
    conditions: Sequence[str] = (),
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"floor"``; `validate.verifier.floor` describes the runs and says what is checked.

    Args:
        claim: the claim as printed.
        step: eta_l along the schedule, a formula in K, T, S, mu, lam.
        rate: what is claimed to be the order, likewise, without its constant.
        lam: lambda, exact.
        instances: each with ``c`` (the rate's constant), ``K``, ``T`` (exact, at which it fails) and ``quotient``, K
            eta_l/4 over c times the rate, by the caller's own computation.
        start: x_0, of absolute value at least 1.
        conditions: relations that the step satisfies, as formulas, also in eta_l, L, G, B, A.
        note: a remark for the reader.

    Raises:
        ValueError: when a number is not exact, or a quotient is not a finite number.
    """
    rows = []
    for item in instances:
        exact = {}
        for name in ("c", "K", "T"):
            value = item[name]
            if isinstance(value, float):
                raise ValueError(f"{name}={value!r} is not exact: give a Fraction, an integer or text such as '1/8'")
            exact[name] = as_text(value, name)
        rows.append({**exact, "quotient": as_decimal(item["quotient"], "quotient", _DIGITS)})
    return {
        **about(claim, "floor", False, note),
        "start": as_text(start, "start"),
        "lam": as_text(lam, "lam"),
        "step": step,
        "rate": rate,
        "conditions": list(conditions),
        "instances": rows,
    }
