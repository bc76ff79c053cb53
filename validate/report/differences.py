"""A printed claim beside one that repairs it: both sentences, marked where they differ, and what else differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import NamedTuple

from markupsafe import Markup

from theory.claim import Claim
from theory.program import pseudo_code
from theory.typeset import latex_of_assumption, latex_of_claim, latex_of_definitions
from validate.report.formula import Typesetter


class Change(NamedTuple):
    """What one of two claims has and the other has not.

    Attributes:
        sign: ``+`` for what the repair has, ``−`` for what the printed claim has.
        what: "assumes", "where" or "algorithm".
        formula: set; a line of the algorithm as it is.
    """

    sign: str
    what: str
    formula: Markup


@dataclass(frozen=True)
class Difference:
    """A printed claim against a repair.

    Attributes:
        printed, repaired: the sentences, marked where they differ.
        changes: in what they assume, define and run.
    """

    printed: Markup
    repaired: Markup
    changes: tuple[Change, ...]


def differences(printed: Claim, repaired: Claim, setter: Typesetter) -> Difference:
    """How a repair differs from what it repairs."""
    before, after = latex_of_claim(printed), latex_of_claim(repaired)
    return Difference(
        setter.display(before, printed.statement, after),
        setter.display(after, repaired.statement, before),
        tuple(_changes(printed, repaired, setter)),
    )


def _changes(printed: Claim, repaired: Claim, setter: Typesetter) -> Iterator[Change]:
    yield from _between("assumes", _assumed(printed), _assumed(repaired), setter)
    yield from _between("where", _named(printed), _named(repaired), setter)
    if printed.program is not None and repaired.program is not None and printed.of != repaired.of:
        before, after = (pseudo_code(program).splitlines()[1:] for program in (printed.program, repaired.program))
        for line in list(unified_diff(before, after, lineterm="", n=0))[2:]:
            if line[0] in _SIGN:
                yield Change(_SIGN[line[0]], "algorithm", Markup("<code>{}</code>").format(line[1:].strip()))


def _assumed(claim: Claim) -> dict[str, str]:
    """What it assumes, as text and in LaTeX."""
    return {str(one): latex_of_assumption(one, claim.vocabulary) for one in claim.assumptions}


def _named(claim: Claim) -> dict[str, str]:
    """What it defines, as text and in LaTeX."""
    latex = latex_of_definitions(claim)
    return {f"{name} = {text}": latex[name] for name, text in claim.where.items()}


_SIGN = {"+": "+", "-": "−"}


def _between(what: str, before: Mapping[str, str], after: Mapping[str, str], setter: Typesetter) -> Iterator[Change]:
    """What one has and the other has not; what has the same name in both is marked where it differs."""
    names = [{text.split(" = ")[0]: latex for text, latex in one.items()} for one in (before, after)]
    for sign, here, there, other in (("-", before, after, names[1]), ("+", after, before, names[0])):
        for text, latex in here.items():
            if text not in there:
                against = other.get(text.split(" = ")[0], "")
                yield Change(_SIGN[sign], what, setter.display(latex, text, against))
