"""The checks of a certificate, one a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .formulas import Uncheckable
from .intervals import Interval
from .reading import FormatError, number, shown, text_of

LEAST_DIGITS = 6
"""Significant digits of a rounded number: with fewer, a certificate could print next to nothing and be right."""


@dataclass(frozen=True)
class Report:
    """Whether a certificate is valid, and every check that was made, one a line.

    As text it is what the launcher prints: the claim, the checks, and the verdict.

    Attributes:
        valid: whether every check holds.
        lines: the checks.
        claimed: what the certificate says of the claim, for a reader to compare with the paper: no check knows that.
    """

    valid: bool
    lines: tuple[str, ...]
    claimed: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """What the checks come to, in a line."""
        return "VALID for the claim as printed above: compare it with your paper" if self.valid else "INVALID"

    def __str__(self) -> str:
        return "\n".join([*self.claimed, *self.lines, self.verdict])


class Checks:
    """Collects the checks, one a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.valid = True

    def note(self, text: str) -> None:
        self.lines.append(f"      {text}")

    def check(self, holds: bool, text: str) -> None:
        self.lines.append(f"{'ok  ' if holds else 'FAIL'}  {text}")
        self.valid = self.valid and holds

    def equal(self, name: str, printed: Any, computed: Fraction) -> None:
        """That a printed number is the computed one."""
        value = number(printed, name)
        same = value == computed
        self.check(same, f"{name} is {shown(computed)}{'' if same else f', not {shown(value)} as printed'}")

    def attempt(self, name: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a computation, or None (and a failure) when it cannot be made."""
        try:
            return compute(*arguments)
        except Uncheckable as reason:
            self.check(False, f"{name} cannot be checked: {reason}")
            return None


def check_rounded(checks: Checks, name: str, printed: Any, computed: Interval) -> None:
    """That a printed decimal is the computed number: exactly, or rounded to as many decimals with enough digits."""
    text = text_of(printed, name)
    if not re.fullmatch(r"-?[0-9]{1,100}(\.[0-9]{1,40})?", text):
        raise FormatError(f"{name} is not a decimal: {shown(text)}")
    value, half = Fraction(text), Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    low, high = computed.ends
    if not value - half <= low or not high <= value + half:
        checks.check(False, f"{name} is {computed}, not {shown(text)} as printed")
    elif len(text.replace(".", "").lstrip("-0")) < LEAST_DIGITS and not low == value == high:
        checks.check(False, f"{name} is {computed}, printed with fewer than {LEAST_DIGITS} digits")
    else:
        checks.check(True, f"{name} is {computed}")
