"""The checks of a certificate, one a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .reading import Uncheckable


@dataclass(frozen=True)
class Report:
    """Whether a certificate is valid, and every check that was made, one a line.

    As text it is what the launcher prints: the claim, the checks, and the verdict.

    Attributes:
        valid: whether every check holds.
        lines: the checks.
        claimed: what the certificate says of the claim, for a reader to compare with the paper: no check knows that.
        cited: what a derivation takes from elsewhere without proof.
    """

    valid: bool
    lines: tuple[str, ...]
    claimed: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """What the checks come to, in a line."""
        if not self.valid:
            return "INVALID"
        citing = f", citing {'; '.join(self.cited)}" if self.cited else ""
        return f"VALID for the claim as it stands above{citing}: compare it with your paper"

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

    def attempt(self, name: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a computation, or None (and a failure) when it cannot be made."""
        try:
            return compute(*arguments)
        except Uncheckable as reason:
            self.check(False, f"{name} cannot be checked: {reason}")
            return None
