"""Is this code the algorithm of the theorem? `fedproof diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from validate.commands import own
from validate.commands.measuring import assigned
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import print_json, progress


def diff(
    name: ClaimId,
    implementation: Annotated[
        str,
        typer.Option(
            "--implementation", metavar="MODULE:FUNCTION", help="The code: module:function, or file.py:function."
        ),
    ],
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter that stays as it is; the others are drawn."),
    ] = None,
    renamed: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="YOURS=THEIRS", help="A name of your code, and the program's for it."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Relative; else 1e-9, and 1e-4 for single precision."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold your code against a claim's algorithm.

    The code is a function of one round, which asks by name for the algorithm's state, its parameters, problem, rng or
    draws, and returns the new state; a function of a whole run, which asks for rounds; or a strategy of flwr or fedjax.
    It is run on the same problems with the same draws. The first value that differs is named with its line, an edit
    of the program that the code is, and the smallest setting in which they differ. Exit status 1 when they do. The
    code is a program, and this runs it.

    Example: fedproof diff my_paper.py:noise-ball --implementation my_code:my_round
    """
    from validate.implementations import diff as held

    found = held(
        own.one(name), implementation, given=assigned(assignments or ()), rename=_names(renamed or []),
        tolerance=tolerance, report=progress,
    )  # fmt: skip
    if as_json:
        print_json(found.to_json())
    else:
        typer.echo(str(found))
    if not found.agrees:
        raise typer.Exit(1)


def _names(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        yours, equals, theirs = text.partition("=")
        if not equals or not yours or not theirs:
            raise ValueError(f"--rename {text!r} is not YOURS=THEIRS")
        found[yours] = theirs
    return found
