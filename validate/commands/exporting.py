"""Proofs for other provers: `fedproof export`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from validate.commands import messages, own
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import print_json

NOT_EXPORTED = 1


def export(
    target: ClaimId,
    to: Annotated[Literal["rocq", "lean"], typer.Option("--to", help="The prover: rocq (Coq 8.16 and later) or lean.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write the files into this folder.")] = None,
    proof: Annotated[
        Path | None, typer.Option("--proof", help="A derivation as JSON, in place of the claim's proof.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a claim and its proof as a file for another prover.

    For Rocq: without --out one file that stands alone; with it Fedproof.v, on which all such files stand, and the
    claim's file (`coqc -Q . "" Fedproof.v`, then the claim's). For Lean: the statement with the lines of the proof.
    Where the claim has no derivation, one is looked for, as `fedproof prove` does. Exit status 1 where something in the
    proof is not exported yet, which is named.

    Example: fedproof export --to rocq textbook/young
    """
    from theory.catalog import claim as find
    from theory.derivation.export import NotExportedError, lean, rocq

    claim = find(own.one(target))
    lines = _lines(claim, proof)
    if lines is None:
        raise messages.lacking(claim, "no derivation to export", lambda other: isinstance(other.proof, tuple))
    text: str | None = None
    why: str | None = None
    files: dict[str, str] = {}
    try:
        text = (rocq if to == "rocq" else lean).theorem(claim, lines)
    except NotExportedError as error:
        why = str(error)
        typer.echo(f"{claim.id} is not exported to {to}: {why}", err=True)
    if text is not None:
        name = rocq.identifier(claim)
        files = {f"{name}.v": text, rocq.PRELUDE: rocq.prelude()} if to == "rocq" else {f"{name}.lean": text}
        text = rocq.alone(text) if to == "rocq" else text
    if out is not None and files:
        out.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (out / file).write_text(content, encoding="utf-8")
    paths = [str(out / file) for file in files] if out is not None else []
    if as_json:
        print_json({"id": claim.id, "to": to, "text": text, "files": paths, "why": why})
    elif text is not None:
        typer.echo("\n".join(paths) if paths else text, nl=bool(paths))
    if text is None:
        raise typer.Exit(NOT_EXPORTED)


def _lines(claim: Any, proof: Path | None) -> Sequence[Mapping[str, Any]] | None:
    """The derivation that a claim has, or else one that is found, its instances written out; None without one."""
    from theory.derivation import lines

    written: Any = claim.proof
    if written is None and proof is None:
        from theory.derivation.search.searching import search

        written = search(claim).lines
    if proof is not None:
        data = json.loads(proof.read_text(encoding="utf-8"))
        written = data.get("lines") if isinstance(data, dict) else data
        if not isinstance(written, list):
            raise ValueError(f"{proof} has no list of lines")
    if isinstance(written, str | Mapping) or not isinstance(written, Sequence) or not written:
        return None
    return lines(claim, written)
