"""Names of a claim in Rocq, and what a sentence says there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theory.derivation.export.terms import (
    Nat,
    Term,
    text_of,
)  # fmt: skip

_WORDS = """
S O I V E P T ip norm norm2 sum mean vsum vmean add sub scal zero exp ln sqrt fix fun let in at as if then else end
with forall exists match return Type Prop Set vector weight outcomes func grad samples rounds Pr fstar x0 xstar
xstar_n gradient smooth convex strongly_convex lipschitz space chances mod where using Rmax Rmin Rabs INR pow N K d
unit block counts nonzero positive side same unrolled line instance certain itself half_square Q IH Case Now Before
vE t m v w phi eps j room unit_one gradients hypotheses l R nat zz Fv Fz Fq Fi Fa Fs Fm Fo Fp Poly Sv Sw Su S0 Sa Ss
Sm Span Linear span maxi mini basis co co2 pl mx0 mx1 mx2
"""
TAKEN = frozenset(_WORDS.split())
LEVELS = ("f", "f_n", "f_ni")
COUNTED = frozenset({"sample", "choose", "keep", "top"})
"""Operations whose number is a whole one, at least 1."""
Env = Mapping[str, Nat]


def safe(word: str) -> str:
    """A name of a claim that means nothing else in Rocq."""
    word = word.replace("'", "_")
    return word + "_" if word in TAKEN or (word[0] in "aiwjzbuqnkcCYXAUPH" and word[1:].isdigit()) else word


@dataclass(frozen=True)
class Said:
    """A sentence at its indices: ``left <= right``, ``<`` or ``==``."""

    left: Term
    relation: str
    right: Term

    @property
    def text(self) -> str:
        return f"{text_of(self.left)} {'=' if self.relation == '==' else self.relation} {text_of(self.right)}"
