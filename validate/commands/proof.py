"""Where does a proof break? `fedproof replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from validate.commands import completion, messages, own
from validate.commands.output import print_json, progress, table


def replay(
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Id of a claim with a proof; or paper.py:LABEL.", autocompletion=completion.claim_ids
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Replay the proof of a claim line by line.

    It says which line is the first false one. A line is held against the truth as it is printed; whether it follows
    from the lines before it is said apart. Exit status 1 when the proof breaks: a line is false on which the
    conclusion depends.

    Example: fedproof replay fedavg-svrg/theorem-v1-eq7
    """
    from theory.catalog import claim as find
    from validate.replay.proof import replay as replayed

    claim = find(own.one(target))
    if not claim.steps:
        raise messages.lacking(claim, "no proof lines to replay", lambda other: bool(other.steps))
    progress(f"{claim.id}: {len(claim.steps)} lines")
    found = replayed(claim)
    false, broken = found.first_false, found.first_break
    if as_json:
        print_json(found.to_json())
    else:
        rows = [
            [
                line.step.label,
                line.step.rule,
                line.outcome,
                "" if line.reached is None else line.reached.outcome,
                "" if line.follows is None else line.follows.answer,
                line.slip or line.detail,
            ]
            for line in found.lines
        ]
        table(["line", "rule", "outcome", "chain so far", "inference", "what was found"], rows)
        said = "none" if false is None else false.step.label
        typer.echo(f"first false line: {said}")
        if false is not None and false.counterexample is not None:
            typer.echo(f"counterexample: {false.counterexample['text']}")
        if broken is not None:
            typer.echo(f"the proof breaks at: {broken.step.label}")
        for line in found.slips:
            typer.echo(f"{line.step.label}: {line.slip}")
    if broken is not None:
        raise typer.Exit(1)
