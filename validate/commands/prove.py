"""Look for a derivation of a claim: `fedproof prove`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from theory.derivation.search.searching import UNITS
from validate.commands import completion, messages, own
from validate.commands.output import print_json, progress, writable

UNPROVED = 1


def prove(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Id of a claim; a paper's name; paper.py or paper.py:LABEL.",
            autocompletion=completion.claim_ids,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for derivations.")] = Path("fedproof-out"),
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Work for each claim, in programs solved, a hundredth of a second each.")
    ] = UNITS,
    python: Annotated[bool, typer.Option("--python", help="Print the lines as Python, for a claim's proof=.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for a derivation of a claim, and write it down.

    What is found is a file of lines, each with its rule, that the kernel has accepted, and so is the claim for all
    values that its hypotheses allow. Where nothing is found, it says what was tried; that says nothing against the
    claim. Exit status 1 where a claim is left without a derivation.

    Example: fedproof prove textbook/young
    """
    from validate.derived import derivations

    writable("--out", out)
    chosen = own.known([target])
    answers: list[dict[str, Any]] = []
    for one in derivations(chosen, out=out, units=limit, progress=progress):
        answer = {
            "id": one.claim.id,
            "outcome": "proved" if one.path is not None else "undecided",
            "derivation": None if one.path is None else str(one.path),
            "way": one.way,
            "lines": None if one.lines is None else list(one.lines),
            "tried": list(one.tried),
            "seconds": round(one.seconds, 3),
        }
        answers.append(answer)
        if not as_json:
            _print(answer, python)
    if as_json:
        print_json(answers)
    if not answers:
        raise messages.misused(f"{target} has no claim with a sentence")
    if any(a["outcome"] != "proved" for a in answers):
        raise typer.Exit(UNPROVED)


def _print(answer: Mapping[str, Any], python: bool) -> None:
    if answer["lines"] is None:
        typer.echo(f"{answer['id']}: no derivation found ({answer['seconds']:.1f} s); tried:")
        for text in answer["tried"]:
            typer.echo(f"  {text}")
        return
    typer.echo(f"{answer['id']}: proved, {answer['way']}, {answer['seconds']:.1f} s: {answer['derivation']}")
    if python:
        typer.echo(as_python(answer["lines"]))
        return
    for text in spoken(answer["lines"]):
        typer.echo(f"  {text}")


def spoken(lines: Sequence[Mapping[str, Any]], deep: int = 0) -> list[str]:
    """The lines of a derivation in words, those inside inductions moved in."""
    found: list[str] = []
    for line in lines:
        why = str(line["by"])
        if why == "combination":
            why = " + ".join([*map(_part, line.get("parts", ())), *map(_square, line.get("squares", ()))]) or "identity"
        elif why == "assumption":
            at = ", ".join(f"{k} = {v}" for k, v in line.get("at", {}).items())
            why = f"{line['schema']} of {', '.join(line['of']) or 'every f'}" + (f" at {at}" if at else "")
        elif why == "induction":
            why = f"induction over {line['on']} from {line['from']}"
        found.append(f"{'  ' * deep}{line['name']}: {line.get('sentence', 'the claim')}   [{why}]")
        for inner in ("base", "step"):
            if inner in line and line["by"] == "induction":
                found.append(f"{'  ' * (deep + 1)}{inner}:")
                found += spoken(line[inner], deep + 2)
    return found


def _part(part: Mapping[str, Any]) -> str:
    over = "".join(f"{b} of " for b in part.get("over", ()))
    return f"{part['times'] + ' * ' if 'times' in part else ''}{over}({part['line']})"


def _square(square: Mapping[str, Any]) -> str:
    over = "".join(f"{b} of " for b in square.get("over", ()))
    inner = "" if square["of"] == "1" else f" * {over}square of {square['of']}"
    return f"{square.get('times', '1')}{inner}"


def as_python(lines: Sequence[Mapping[str, Any]], deep: int = 0) -> str:
    """The lines as a tuple in Python, as a claim's ``proof=`` takes it."""
    pad = "    " * (deep + 1)
    rows = []
    for line in lines:
        fields = [
            f'"{key}": {as_python(value, deep + 1) if key in ("base", "step", "first", "second") else json.dumps(value)}'
            for key, value in line.items()
        ]
        rows.append(f"{pad}{{{', '.join(fields)}}},")
    return "(\n" + "\n".join(rows) + f"\n{'    ' * deep})"
