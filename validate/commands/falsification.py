"""Counterexamples that nobody pointed at: `fedproof falsify`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from validate.commands import completion, messages, own
from validate.commands.output import print_json, progress, writable


def falsify(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Id of a claim with a right side; or paper.py:LABEL.",
            autocompletion=completion.claim_ids,
        ),
    ],
    seconds: Annotated[float, typer.Option("--seconds", help="Time limit of the search.", min=1)] = 60.0,
    seed: Annotated[int, typer.Option("--seed", help="Of the search.", min=0)] = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder for the certificate.")] = Path("fedproof-out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search for an instance that breaks a claim.

    The search starts from nothing but the claim; what it finds is confirmed in fractions and written as a certificate.
    Exit status 1 when the claim is broken, also where that could not be confirmed, or no certificate can hold it. The
    certificate is beside that of a check, as LABEL.falsify.json.

    Example: fedproof falsify fedavg-svrg/lemma-a2
    """
    from theory import claim as find
    from validate import certificate, kept, papers
    from validate.search.reduce import certificate_of
    from validate.search.unguided import search

    claim = find(own.one(name))
    module = papers.module(claim.paper)
    if module is None or not claim.has_bound:
        what = "no right side that can be measured, so there is nothing to search for"
        raise messages.lacking(claim, what, lambda other: other.has_bound)
    writable("--out", out)
    result = search(claim, module.cases, seconds=seconds, seed=seed, progress=progress)
    path, lacking = None, None
    if result.found is not None:
        with TemporaryDirectory() as folder:  # beside the certificate of a check, not in its place
            try:
                made = certificate.write(certificate_of(claim, result.found), Path(folder) / kept.CERTIFICATES)
                path = str(kept.keep(claim, (Path(folder),), made, out, "falsify"))
            except ValueError as error:
                lacking = str(error)
    broken = result.found is not None or result.suspect is not None
    shown: dict[str, Any] = {
        "id": claim.id,
        "broken": broken,
        "confirmed": result.found is not None,
        "ratio": result.ratio,
        "evaluations": result.evaluations,
        "structures": len(result.structures),
        "spec": result.spec,
        "certificate": path,
    }
    if as_json:
        print_json(shown)
    else:
        typer.echo(f"{claim.id}: {result.detail}")
        if path is not None:
            typer.echo(f"certificate: {path}")
        if lacking is not None:
            typer.echo(f"no certificate: {lacking}")
    if broken:
        raise typer.Exit(1)
