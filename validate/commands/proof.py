"""Is a claim proved, and where does a proof break? `fedproof prove` and `replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import completion, messages, own
from validate.commands.output import print_json, progress, table

if TYPE_CHECKING:
    from theory.written import Claim as Written

UNPROVED = 1


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

    The proof of a claim that says what it means has no such lines: it is what its sentence is a combination of, and the
    prover accepts that or does not; the status is 1 where it does not.

    Example: fedproof replay textbook/jensen-three
    """
    from theory.catalog import claim as find
    from theory.written import Claim as Written
    from validate.replay.proof import replay as replayed

    claim: Any = find(own.one(target))
    if isinstance(claim, Written):
        _derivation(claim, as_json)
        return
    if not claim.steps:
        raise messages.lacking(claim, "no proof lines to replay", _has_lines)
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


def _has_lines(claim: Any) -> bool:
    """Whether a claim has lines of a proof, or its data."""
    return bool(getattr(claim, "steps", ()) or getattr(claim, "proof", None))


def _derivation(claim: Written, as_json: bool) -> None:
    """The proof of a claim that says what it means."""
    from validate.replay.derivation import derivation

    found = derivation(claim)
    if found is None:
        raise messages.lacking(claim, "no proof to replay, and the prover finds none", _has_lines)  # type: ignore[arg-type]
    if as_json:
        print_json(found.to_json())
    else:
        rows = [[piece.label, piece.rule, piece.text] for piece in found.pieces]
        table(["of", "part", "what is written" if found.written else "what the prover has found"], rows)
        typer.echo(f"{found.outcome}: {claim.statement}")
        typer.echo(found.detail)
    if not found.reaches:
        raise typer.Exit(UNPROVED)


def prove(
    target: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a claim; or paper.py:LABEL.", autocompletion=completion.claim_ids),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whether a claim's own sentence is proved.

    For all values that its hypotheses allow, by algebra, or by the multipliers that are written in the claim; lines of
    a proof are not looked at: see `replay`. That a claim is not proved says nothing against it. Exit status 1 when it
    is not.

    Example: fedproof prove textbook/young
    """
    from theory.catalog import claim as find
    from validate import proving

    claim: Any = find(own.one(target))
    found = proving.evidence(claim)
    best = next((item for item in found if item.outcome == "proved"), None)
    told = best or next(iter(found), None)
    data = {} if best is None else dict(best.data or {})
    answer = {
        "id": claim.id,
        "outcome": "undecided" if best is None else "proved",
        "detail": "nothing here decides sentences of this kind" if told is None else told.detail,
        "sentence": data.get("sentence"),
        "proof": {name: value for name, value in data.items() if name != "sentence"} or None,
    }
    if as_json:
        print_json(answer)
    else:
        typer.echo(f"{claim.id}: {answer['outcome']}: {answer['detail']}")
    if best is None:
        raise typer.Exit(UNPROVED)
