"""A review of papers: `fedproof review`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from validate.commands import completion, missing, own
from validate.commands.options import AsJson, Jobs, Quick
from validate.commands.output import print_json, progress, writable


def review(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET...", help="As for `check`.", autocompletion=completion.targets),
    ],
    quick: Quick = False,
    out: Annotated[Path, typer.Option("--out", help="File for the review, in Markdown.")] = Path("review.md"),
    kept: Annotated[Path, typer.Option("--kept", help="Folder for certificates and verdicts.json.")] = Path(
        "fedproof-out"
    ),
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Check papers, and write a review of them.

    Every refutation has its instance, worked out by hand: the run, the names of the claim, the terms of both sides, in
    exact numbers; its certificate; and the repair that stands, where the paper's file has one. A file that is no
    review is not replaced.

    Example: fedproof review my_paper.py --quick --out review.md
    """
    from theory import catalog
    from validate.certificate.files import write_whole
    from validate.checking import check_all, resolve
    from validate.reviewing import MARK
    from validate.reviewing import review as text_of_review

    # a device may never end, and a pipe never begin
    if out.exists() and not (out.is_file() and out.read_bytes().startswith(MARK.encode())):
        raise ValueError(f"--out={out} is no review, and would be replaced; give another file")
    chosen = own.known(targets)
    writable("--out", out.parent)
    writable("--kept", kept)
    missing.tell()
    claims = resolve(chosen)
    results = check_all(chosen, quick=quick, out=kept, progress=progress, processes=jobs)
    by_id = {result.id: result for result in results}
    papers = [catalog.paper(name) for name in dict.fromkeys(claim.paper for claim in claims)]
    write_whole(out, text_of_review(papers, by_id, quick).encode())
    if as_json:
        counts = Counter(result.verdict for result in results)
        print_json({"review": str(out), "quick": quick, "verdicts": counts})
        return
    typer.echo(out)
