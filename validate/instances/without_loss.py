"""Claims that say what they say "without loss of generality": searched as the same claim in its general form.

Ways to lose it: 0 on one side (`two_sided`), a point at 0 (`anywhere`), a constant or a distance that is 1, said once
(`any_units`) or throughout (`named_units`), many rounds, clients or coordinates (`at_least`), and an algorithm that
holds back what is large (`let_through`). What breaks the general form is put where the claim has it, and counts for
what it is there.
"""

from __future__ import annotations

from typing import Protocol

from theory.claim import Claim
from validate.instances.any_units import in_any_units
from validate.instances.anywhere import anywhere
from validate.instances.at_least import of_all_sizes
from validate.instances.let_through import with_all_let_through
from validate.instances.named_units import with_named_units
from validate.instances.seen import Seen
from validate.instances.two_sided import two_sided


class General(Protocol):
    """A claim in a more general form."""

    @property
    def free(self) -> Claim:
        """The general form."""

    @property
    def told(self) -> str:
        """In words, how it is searched."""

    def moved(self, seen: Seen) -> Seen | None:
        """An instance of the general form as one of the claim; None where it is none."""


def without_loss(claim: Claim) -> General | None:
    """A claim in a more general form, which may be more general still; None where there is none."""
    for of in (two_sided, anywhere, in_any_units, with_named_units, of_all_sizes, with_all_let_through):
        general: General | None = of(claim)
        if general is not None:
            return general
    return None
