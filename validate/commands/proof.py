"""Where does a proof break? `fedproof replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from validate.commands import completion, messages, own
from validate.commands.options import AsJson
from validate.commands.output import print_json, table

UNPROVED = 1


def replay(
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Id of a claim with a proof; or paper.py:LABEL.", autocompletion=completion.claim_ids
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Put the proof of a claim to the prover.

    It prints what the proof consists of, that of the claim's author or, without one, what the prover finds itself: what
    the sentence is a combination of. Exit status 1 where the prover does not accept it.

    Example: fedproof replay textbook/jensen-three
    """
    from theory.catalog import claim as find
    from validate.replay import derivation

    claim = find(own.one(target))
    found = derivation(claim)
    if found is None:
        what = "no proof to replay, and the prover finds none"
        raise messages.lacking(claim, what, lambda other: other.proof is not None)
    if as_json:
        print_json(found.to_json())
    else:
        rows = [[piece.label, piece.rule, piece.text] for piece in found.pieces]
        table(["of", "part", "what is written" if found.written else "what the prover has found"], rows)
        typer.echo(f"{found.outcome}: {claim.statement}")
        typer.echo(found.detail)
    if not found.reaches:
        raise typer.Exit(UNPROVED)
