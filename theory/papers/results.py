"""Claims of a paper by their labels, for papers whose results all read ``quantity relation right``."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Kind, Quantity


def identifier(paper: str, label: str) -> str:
    """The claim's id, from its paper's name and its label."""
    return f"{paper}/{label}"


def result(
    paper: str,
    label: str,
    kind: Kind,
    title: str,
    equation: str,
    statement: str,
    latex: str,
    quantity: Quantity,
    source: str,
    *,
    amends: str | None = None,
    **rest: Any,
) -> Claim:
    """A claim of the paper, or a repair of `amends` (a label); `rest` are further fields of `Claim`."""
    return Claim(
        id=identifier(paper, label),
        kind=kind,
        title=title,
        equation=equation,
        statement=statement,
        latex=latex,
        quantity=quantity,
        source=source,
        amends=None if amends is None else identifier(paper, amends),
        **rest,
    )
