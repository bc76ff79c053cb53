"""What a claim's numbers are called in its bound."""

from __future__ import annotations

import re

from theory.claim import Claim
from theory.formula import FUNCTIONS
from theory.sentence import TURNS, index_of

LONGEST = 60
"""Characters of an identifier that is made of a text."""


def shown(claim: Claim, name: str) -> str:
    """The name of one of a claim's numbers in its bound: the paper's; weights of remembered vectors are one list."""
    base, index = index_of(name)
    here = base if index in TURNS else name
    return plain_name(claim.paper_names.get(name, claim.paper_names.get(here, here)))


def plain_name(name: str) -> str:
    """A name that is none of the functions of `theory.formula`."""
    return f"{name}_" if name in FUNCTIONS else name


def identifier(text: str) -> str:
    """An identifier made of an expression's text: ``norm2(x0 - xstar)`` is norm2_x0_xstar."""
    words = re.findall(r"[A-Za-z0-9_]+", text)
    found = "_".join(words)
    if len(found) > LONGEST:
        found = found[:LONGEST].rpartition("_")[0] or found[:LONGEST]
    found = found.strip("_") or "value"
    return found if found[0].isalpha() else f"value_{found}"
