"""From a false claim to the nearest one that stands: `fedproof repair`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from validate.commands import messages, own
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import number, print_json, progress

if TYPE_CHECKING:
    from validate.repairs import Repair

NONE_STANDS = 1


def repair(
    name: ClaimId,
    seconds: Annotated[float, typer.Option("--seconds", help="CPU time of the search.", min=1)] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Search for the nearest claim that stands.

    Edits of the sentence, its definitions, its assumptions and its algorithm are tried, the nearest first: an index, a
    sign, a factor, a constant, a condition. What is printed has passed the check, whose word stands before it, and says
    how much the error matters: a misprint, a lost constant, a lost hypothesis, or another order (false). Ctrl-C prints
    the best so far. Exit status 1 when nothing that stands was found.

    Example: fedproof repair saga/lemma-3
    """
    from theory.catalog import claim as find
    from validate.repairs import repair as search

    claim = find(own.one(name))
    if not claim.has_sentence or claim.in_words:
        what = "no sentence that says all of it, so there is nothing to repair"
        raise messages.lacking(claim, what, lambda other: other.has_sentence and not other.in_words)
    found = search(claim, seconds=seconds, tell=progress)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)
    if found.best is None and not found.stands:
        raise typer.Exit(NONE_STANDS)


def _show(found: Repair) -> None:
    from validate.repairs import MEANING

    if found.stands:
        typer.echo(f"{found.claim.id}: nothing breaks it, so there is nothing to repair")
        return
    if found.best is None:
        typer.echo(f"{found.claim.id}: no repair; {found.said}")
        typer.echo("severity: not determined; of no claim near it this search shows that it is true")
        return
    best = found.best
    typer.echo(f"{found.claim.id}: {best.severity}: {MEANING[best.severity]}")
    typer.echo(f"instead: {best.words}")
    tightness = "" if best.tightness is None else f", left/right up to {number(best.tightness)}"
    typer.echo(f"{best.said}{tightness}, distance {best.distance:.2f}\n")
    typer.echo(best.text)
    for other in found.repairs[1:]:
        typer.echo(f"\nor: {other.words} ({other.said}, distance {other.distance:.2f}): {other.severity}")
    typer.echo(f"\n{found.said}")
