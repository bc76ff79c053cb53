"""Look for a derivation of a claim: `fedproof prove`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from validate.commands import completion, own
from validate.commands.options import AsJson
from validate.commands.output import print_json, writable

UNPROVED = 1
UNITS = 4000
INSIDE = ("base", "step", "first", "second")
"""Where a line has lines of its own."""


def prove(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Id of a claim, name of a paper, paper.py, or paper.py:LABEL.",
            autocompletion=completion.claim_ids,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for derivations.")] = Path("fedproof-out"),
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Work for each claim: semidefinite programs solved in floats.")
    ] = UNITS,
    python: Annotated[bool, typer.Option("--python", help="Print lines as Python, for the proof= of a claim.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prove a claim: look for a derivation that the kernel accepts.

    What is found is a file of lines, each with its rule, which ends at the claim: for all dimensions, numbers of
    clients and rounds, and all parameters that its hypotheses allow; the word is that of a check with this derivation.
    That nothing is found says nothing against a claim; what was tried is printed then. A derivation that is written at
    the claim is checked first, and where it is refused, at which line and why is printed before all else. Exit status 1
    where a claim is not proved, or its own derivation is refused.

    Example: fedproof prove textbook/young
    """
    from validate.derived import claims_of, derived

    writable("--out", out)
    answers = []
    named = own.one(target) if ".py:" in target else own.known([target])[0]
    for claim in claims_of(named):
        found = derived(claim, out, limit)
        data = {} if found.evidence is None else dict(found.evidence.data or {})
        answer = {
            "id": claim.id,
            "outcome": found.verdict,
            "detail": found.detail or "no derivation is found",
            "sentence": data.get("sentence"),
            "proof": data.get("proof"),
            "derivation": found.path,
            "refused": found.refused or None,
            "way": found.way or None,
            "tried": list(found.tried),
            "seconds": round(found.seconds, 2),
        }
        answers.append(answer)
        if not as_json:
            _print(answer, found.lines, python)
    if as_json:
        print_json(answers[0] if "/" in named else answers)  # what was given may be a path, too
    if any(a["outcome"] != "proved" or a["refused"] for a in answers):
        raise typer.Exit(UNPROVED)


def _print(answer: Mapping[str, Any], lines: Sequence[Mapping[str, Any]] | None, python: bool) -> None:
    if answer["refused"]:
        typer.echo(f"{answer['id']}: {answer['refused']}")
    typer.echo(f"{answer['id']}: {answer['outcome']}: {answer['detail']}")
    if lines is None:
        for text in answer["tried"] if answer["outcome"] != "proved" else ():
            typer.echo(f"  {text}")
        return
    typer.echo(f"{answer['derivation']} ({answer['way']}, {answer['seconds']} s)")
    typer.echo(as_python(lines) if python else "\n".join(f"  {text}" for text in spoken(lines)))


def spoken(lines: Sequence[Mapping[str, Any]], deep: int = 0) -> list[str]:
    """The lines of a derivation for people, those inside of lines moved in."""
    found: list[str] = []
    pad = "  " * deep
    for line in lines:
        found.append(f"{pad}{line['name']}: {line.get('sentence', 'as stated')}   [{_why(line)}]")
        for inner in INSIDE:
            if isinstance(line.get(inner), Sequence):
                found += [f"{pad}  {inner}:", *spoken(line[inner], deep + 2)]
    return found


def _why(line: Mapping[str, Any]) -> str:
    by = str(line["by"])
    if by == "combination":
        terms = [*map(_part, line.get("parts", ())), *map(_square, line.get("squares", ()))]
        return " + ".join(terms) or "the same"
    if by == "assumption":
        at = ", ".join(map(str, line.get("at", {}).values()))
        return f"{line['schema']} {line.get('on', '')} ({at})".replace("  ", " ")
    return f"{by} on {line['on']}" if "on" in line else by


def _part(part: Mapping[str, Any]) -> str:
    over = "".join(f"{binder} " for binder in part.get("over", ()))
    times = f"{_factor(part['times'])} * " if part.get("times", "1") != "1" else ""
    return f"{times}{over}({part['line']})"


def _square(square: Mapping[str, Any]) -> str:
    over = "".join(f"{binder} " for binder in square.get("over", ()))
    times = square.get("times", "1")
    return str(times) if square["of"] == "1" else f"{_factor(times)} * {over}square of {square['of']}"


def _factor(text: str) -> str:
    """A multiplier, in parentheses where it is a sum."""
    from theory.formula import Apply
    from theory.sentence import parse_expression

    tree = parse_expression(text)
    return f"({text})" if isinstance(tree, Apply) and tree.operation in ("+", "-", "neg") else text


def as_python(lines: Sequence[Mapping[str, Any]], deep: int = 0) -> str:
    """The lines as a tuple in Python, as the ``proof=`` of a claim takes it."""
    pad = "    " * (deep + 1)
    rows = [
        pad
        + "{"
        + ", ".join(f'"{k}": {as_python(v, deep + 1) if k in INSIDE else json.dumps(v)}' for k, v in line.items())
        + "},"
        for line in lines
    ]
    return "\n".join(["(", *rows, "    " * deep + ")"])
