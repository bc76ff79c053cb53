"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from validate.commands import completion

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ClaimId = Annotated[
    str, typer.Argument(metavar="ID", help="Id of a claim; or paper.py:LABEL.", autocompletion=completion.claim_ids)
]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller searches and fewer runs.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "--processes", min=1, help="At most as many processes; one a core without.")
]
