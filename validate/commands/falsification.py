"""Counterexamples that nobody pointed at: `fedproof falsify`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from validate.commands import messages, own
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import print_json, progress, writable


def falsify(
    name: ClaimId,
    seconds: Annotated[float, typer.Option("--seconds", help="Time limit of the search.", min=1)] = 60.0,
    seed: Annotated[int, typer.Option("--seed", help="Of the search.", min=0)] = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder for the certificate.")] = Path("fedproof-out"),
    as_json: AsJson = False,
) -> None:
    """Search for an instance that breaks a claim.

    The search starts from nothing but the claim, and goes on until it is broken or --seconds are over; what it finds is
    confirmed in fractions, made smaller, and written as a certificate, which the stand-alone verifier has accepted.
    Exit status 1 when the claim is broken, also where that could not be confirmed, or no certificate can hold it. The
    certificate is beside that of a check, as LABEL.falsify.json.

    Example: fedproof falsify saga/lemma-3
    """
    from theory.catalog import claim as find
    from validate import kept
    from validate.falsified import falsified

    claim = find(own.one(name))
    if not claim.has_sentence:
        what = "no sentence that can be measured, so there is nothing to search for"
        raise messages.lacking(claim, what, lambda other: other.has_sentence)

    writable("--out", out)
    with TemporaryDirectory() as folder:
        found = falsified(claim, seconds=seconds, seed=seed, out=folder, tell=progress)
        path = None
        if found.certificate is not None:
            path = kept.keep(claim, Path(folder), out, "falsify")[str(found.certificate)]
    broken = found.broken is not None or found.suspect is not None
    shown: dict[str, Any] = {
        "id": claim.id,
        "broken": broken,
        "confirmed": found.broken is not None,
        "ratio": None if found.broken is None else found.broken.measured.broken[0].ratio,
        "evaluations": found.evaluations,
        "structures": found.instances,
        "spec": found.instance,
        "certificate": path,
        "detail": found.detail,
    }
    if as_json:
        print_json(shown)
    else:
        typer.echo(f"{claim.id}: {found.detail}")
        if path is not None:
            typer.echo(f"certificate: {path}")
    if broken:
        raise typer.Exit(1)
