"""The strongest form of a claim that still stands: `fedproof sharpen`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from validate.commands import completion, own
from validate.commands.options import AsJson
from validate.commands.output import print_json, progress, table, writable

if TYPE_CHECKING:
    from validate.sharpening.findings import Bracket, Least, Sharpened

SECONDS, INTERRUPTED = 120.0, 130
UNTOLD = {"undecided": "neither proved nor refuted"}
DIGITS = 6
"""Of a fraction in the table; where it has more it is shown as a decimal, and JSON has all of it."""


def sharpen(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="Id of a claim; or paper.py:LABEL.", autocompletion=completion.claim_ids),
    ],
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="CPU time in which further forms are begun.")] = (
        SECONDS
    ),
    out: Annotated[Path, typer.Option("--out", help="Folder for certificates and derivations.")] = Path("fedproof-out"),
    as_json: AsJson = False,
) -> None:
    """Ask what a claim needs, and how small its constants may be.

    The claim is checked without each of its terms, factors and assumptions: refuted, so that it is needed, with
    an instance; proved, so that it is not, with a derivation; or neither. What is not needed is left out from then on.
    Each constant and the bound of each condition on a step is moved as far as proofs carry, and back as far as
    instances break it. Ctrl-C prints what is known by then.

    Example: fedproof sharpen textbook/young
    """
    from validate.sharpening.sharpen import sharpen as sharpened

    name = own.one(target) if ".py:" in target else own.known([target])[0]
    writable("--out", out)
    found = sharpened(name, seconds=seconds, out=out, tell=progress)
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    if found.cut == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _print(found: Sharpened) -> None:
    claim = found.claim
    word = UNTOLD.get(found.word.verdict, found.word.verdict)
    typer.echo(f"{claim.id}: {claim.statement}\n{word}: {found.word.detail}")
    if found.parts:
        typer.echo("")
        rows = [
            [one.need, one.kind, one.what, one.word.detail if one.word.file is None else one.word.file]
            for one in found.parts
        ]
        table(["", "", "without, or with", "by"], rows)
    if found.strongest is not claim:
        assuming = ", ".join((*found.strongest.assuming, *found.strongest.standing))
        typer.echo(f"\nproved without what is not needed: {found.strongest.statement}")
        typer.echo(f"  assuming {assuming}" if assuming else "  assuming nothing")
    if found.least:
        typer.echo("")
        table(["term", "its factor", "the least, by worst cases", "by"], [_least(one) for one in found.least])
    if found.brackets:
        typer.echo("")
        heads = ["factor of", "proved at", "broken at", "", "by"]
        table(heads, [_cells(one) for one in found.brackets])
    if found.cut:
        typer.echo(found.cut)


def _least(one: Least) -> list[str]:
    at = f"at {one.at} choice{'s' * (one.at > 1)} of numbers"
    if one.formula is None or one.word is None:
        return [one.what, one.printed, f"the same, {at}" if one.exact else f"no formula recognised, {at}", ""]
    return [one.what, one.printed, f"{one.formula}, {at}: {one.word.verdict}", one.word.file or ""]


def _cells(one: Bracket) -> list[str]:
    files = [word.file for word in (one.proof, one.refutation) if word is not None and word.file is not None]
    beyond = "below" if one.smaller else "above"
    broken = ""
    if one.broken is not None and one.limit is not None:
        broken = (
            _short(one.broken) if one.limit == one.broken else f"{_short(one.broken)}, all {beyond} {_short(one.limit)}"
        )
    said = "exact" if one.met else "nothing breaks it" if one.broken is None else "not met"
    if not one.met and one.limit is not None and one.stands:
        apart = 100 * abs(one.stands - one.limit) / abs(one.stands)
        said = f"not met, {float(apart):.2g} % apart"
    return [one.what, "" if one.stands is None else _short(one.stands), broken, said, "; ".join(files)]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= DIGITS + 2 else f"{float(value):.{DIGITS}g}"  # type: ignore[arg-type]
