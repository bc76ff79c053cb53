"""What certificates of every kind are made of: exact numbers as text, and the claim as it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from validate import verifier
from validate.verifier import Report

Number = Fraction | int | str
Certificate = dict[str, Any]

MOST_DIGITS = verifier.MAX_TEXT
_MOST_DECIMALS = 40  # that the verifier reads
_CONSTANTS = ("constant", "smoothness")  # the assumptions' attributes that name a parameter

# What the names of a paper's claims mean, where the verifier has another name for it, or that name for something else.
_NAMES = {
    "perm": {
        "K": "local_steps",
        "M": "batch",
        "R": "round",
        "T": "round",
        "gamma": "step",
        "dist0": "start_distance",
        "dist": "average_distance",
        "gap": "average_gap",
        "drift": "client_drift",
        "zeta": "dissimilarity",
        "delta2": "sample_variance",
        "F_gap": "start_gap_of_f",
    }
}


def as_text(value: Number, name: str) -> str:
    """An exact number as ``"p/q"``.

    Args:
        value: a Fraction, an integer, or text such as ``"-3/8"`` or ``"0.25"``.
        name: what it is, for the message.

    Raises:
        ValueError: for a float (not exact), for other text, or for a number of more than 4,000 digits.
    """
    if isinstance(value, bool) or not isinstance(value, Fraction | int | str):
        raise ValueError(f"{name}={value!r} is not exact: give a Fraction, an integer or text such as '1/8'")
    try:
        exact = Fraction(value)
        if is_long(exact):
            raise ValueError(f"{name} has more than {MOST_DIGITS} digits: take a smaller instance")
    except ZeroDivisionError:
        raise ValueError(f"{name}={value!r} divides by zero") from None
    return str(exact)


def is_long(value: Fraction) -> bool:
    """Whether a numerator or denominator has more digits than certificates hold, and Python prints."""
    return max(abs(value.numerator), value.denominator) >= 10**MOST_DIGITS


def as_decimal(value: Number | float, name: str, digits: int = 10) -> str:
    """A number as a plain decimal with this many significant digits, correctly rounded.

    Raises:
        ValueError: for what is no finite number, or needs more than 40 decimals.
    """
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError, TypeError, ZeroDivisionError):
        raise ValueError(f"{name}={value!r} is not a finite number") from None
    decimals = digits
    while exact and abs(exact) * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    while decimals and abs(exact) * 10**decimals >= 10**digits:
        decimals -= 1
    if decimals > _MOST_DECIMALS:
        raise ValueError(f"{name}={float(exact):.3g} needs more than {_MOST_DECIMALS} decimals: rescale the instance")
    whole, rest = divmod(abs(round(exact * 10**decimals)), 10**decimals)
    return ("-" if exact < 0 else "") + str(whole) + (f".{rest:0{decimals}d}" if decimals else "")


def hypotheses_of(claim: Claim, silent: bool) -> list[dict[str, Any]]:
    """The claim's hypotheses and standing conditions; those that its proof uses silently only when asked for."""
    result = []
    for h in claim.conditions:
        if not (h.printed or silent):
            continue
        item: dict[str, Any] = {
            "name": h.name,
            "assumption": None if h.assumption is None else type(h.assumption).__name__,
            "relation": h.relation,
        }
        for attribute in _CONSTANTS:
            if hasattr(h.assumption, attribute):
                item["constant"] = getattr(h.assumption, attribute)
        for attribute in ("of", "at", "relative", "step"):
            if hasattr(h.assumption, attribute):
                item[attribute] = getattr(h.assumption, attribute)
        if h in claim.standing:
            item["standing"] = h.where
        result.append(item)
    return result


def about(claim: Claim, kind: str, silent: bool, note: str) -> Certificate:
    """What every certificate says first: its kind, and the claim in words and hypotheses."""
    hypotheses = hypotheses_of(claim, silent)
    return {
        "format": verifier.FORMAT,
        "kind": kind,
        "claim": claim.id,
        "statement": claim.statement,
        "hypotheses": hypotheses,
        **({} if hypotheses else {"unconditional": True}),
        **({"note": note} if note else {}),
    }


def named_numbers(claim: Claim, parameters: Mapping[str, Number], known: tuple[str, ...] = ()) -> dict[str, str]:
    """Parameters of a claim as text.

    Raises:
        ValueError: for a name that is neither a parameter of the claim nor among `known`.
    """
    names = [p.name for p in claim.parameters]
    unknown = [name for name in parameters if name not in (*names, *known)]
    if unknown:
        raise ValueError(
            f"parameters={unknown} are neither parameters of {claim.id} nor known to the verifier: {names}"
        )
    return {name: as_text(value, name) for name, value in parameters.items()}


def failures(report: Report) -> str:
    """The checks that failed, in one line."""
    return "; ".join(line.removeprefix("FAIL").strip() for line in report.lines if line.startswith("FAIL"))


def meanings(claim: Claim, parameters: Iterable[str]) -> dict[str, str]:
    """What these names of a claim about rounds mean, in the verifier's words, where it has others."""
    return {key: value for key, value in _NAMES.get(claim.paper, {}).items() if key in set(parameters)}
