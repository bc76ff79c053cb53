"""What is true: `fedproof check`, `verify`, `report` and `reproduce`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from validate.commands import completion, messages, missing, own
from validate.commands.options import AsJson, Jobs, Quick
from validate.commands.output import print_json, progress, ratio, table, writable

if TYPE_CHECKING:
    from theory.claim import Claim
    from validate.verdict import Result

FAILED = ("refuted", "vacuous")

Seconds = Annotated[
    float | None,
    typer.Option("--repair", metavar="SECONDS", min=1, help="CPU time to search for what stands instead, a claim."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")]


def row(result: Result) -> list[str]:
    """A claim's row of the table: a break first, the budget beside the word, and where what breaks it comes from."""
    found = result.break_found
    origin = "" if found is None else found.origin
    return [result.id, result.said, origin, result.covered, ratio(result.tightness), result.telling]


def check(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Ids of claims, papers, collections of papers (landmarks), or all, which is what is in no collection; "
            "paper.py or paper.py:LABEL, which is run.",
            autocompletion=completion.targets,
        ),
    ],
    quick: Quick = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for certificates and verdicts.json.")] = Path(
        "fedproof-out"
    ),
    seed: Seed = 0,
    jobs: Jobs = None,
    repair: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Gather the evidence for claims, and say the verdicts.

    Exit status 1 when a verdict is refuted or vacuous, or something broke a claim without a certificate, as a test
    runner has it. Verdicts and certificates are kept in the folder --out, where `claims` and `verify` find them, each
    as soon as it is there. A quick check replaces neither those of a full one. Several claims are shared out over
    processes, on which the verdicts do not depend. Where the derivation that is written at a claim is refused, a line
    says where and why; the verdict, and the status, are then what the rest of the check makes of it. An interrupt ends
    it, with the status 130; --json prints what was checked until then. With --repair, what is refuted is said to be a
    misprint, a lost constant, a lost hypothesis, or false, as `fedproof repair` does.

    Example: fedproof check textbook --quick
    """
    from validate.checking import check_all, resolve
    from validate.repairs.several import instead_of

    chosen = own.known(targets)
    writable("--out", out)
    missing.tell()
    for line in (line for claim in resolve(chosen) for line in messages.doubtful(claim)):
        typer.echo(f"warning: {line}", err=True)
    finished: dict[str, Result] = {}
    try:
        results = check_all(
            chosen, quick=quick, out=out, seed=seed, progress=progress, processes=jobs,
            finished=lambda result: finished.update({result.id: result}),
        )  # fmt: skip
    except KeyboardInterrupt:
        if as_json:  # of those that were checked, in their order
            print_json([finished[claim.id].to_json() for claim in resolve(chosen) if claim.id in finished])
        raise
    instead = {} if repair is None else instead_of(results, repair, jobs, progress)
    results = [
        replace(found, severity=instead[found.id].severity) if found.id in instead else found for found in results
    ]
    if as_json:
        print_json([result.to_json() for result in results])
    else:
        table(["id", "verdict", "origin", "covered", "tightness", "evidence"], [row(found) for found in results])
        for result in results:
            if result.refused:
                typer.echo(f"{result.id}: {result.refused}")
            if result.certificate is not None:
                typer.echo(f"certificate: {result.certificate}")
        for id, found in instead.items():
            typer.echo(f"{id}: {found.line}")
    if any(result.verdict in FAILED or result.broken for result in results):
        raise typer.Exit(1)


def verify(
    certificates: Annotated[list[Path], typer.Argument(metavar="CERTIFICATE...", help="Files that `check` wrote.")],
    papers: Annotated[
        list[Path] | None,
        typer.Option("--claims", metavar="PAPER.py", help="A paper of your own, which is run; may be given again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Re-check certificates, and compare them with the claims.

    Everything is checked in exact arithmetic. A certificate says which claim it refutes, or, as a derivation, proves,
    and its text is held against the claim of that id in the catalogue, or in a file --claims. Where there is none, a
    warning says what remains for you to compare. Exit status 1 when a certificate does not prove what it says, or says
    something else than the claim; 2 when one cannot be read (the others are checked all the same; with --json there is
    no document then).

    Example: fedproof verify fedproof-out/certificates/*.json
    """
    from validate import verifier
    from validate.certificate import differences

    known = _claims(papers or ())
    status, entries = 0, []
    for path in certificates:
        try:
            path.open("rb").close()
            certificate = verifier.load(str(path))
            found = verifier.verify(certificate)
        except OSError as error:
            typer.echo(f"error: {messages.bad_input(error)}", err=True)
            status = 2
            continue
        except verifier.FormatError as error:
            typer.echo(f"error: {_unreadable(path, error)}", err=True)
            status = 2
            continue
        where, claim = known(certificate["claim"])
        other = () if claim is None else differences(certificate, claim)
        valid = found.valid and not other
        entries.append(
            {
                "id": certificate["claim"],
                "valid": valid,
                "compared": where,
                "differences": list(other),
                "claim": list(found.claimed),
                "checks": list(found.lines),
                "cited": list(found.cited),
                "certificate": str(path),
            }
        )
        if where is None:
            typer.echo(f"warning: {path}: {NOT_COMPARED}", err=True)
        if not as_json:
            typer.echo("\n".join([f"{path}: {_comparison(where)}", *found.claimed, *found.lines]))
            citing = f", citing {'; '.join(found.cited)}" if found.cited else ""
            if other:
                typer.echo(f"INVALID: it differs from {certificate['claim']} of {where} in: {', '.join(other)}")
            else:
                typer.echo(found.verdict if where is None or not found.valid else VALID[certificate["kind"]] + citing)
        status = max(status, 0 if valid else 1)
    if as_json and status != 2:
        print_json(entries)
    raise typer.Exit(status)


COMPARED = "statement, definitions, assumptions, relations, domains and algorithm"
NOT_COMPARED = (
    f"not compared with any catalogue: compare the {COMPARED} with your paper yourself, or name its file with --claims"
)
VALID = {"play": "VALID: the claim is false as stated", "derivation": "VALID: the claim is true as stated"}


def _claims(papers: Sequence[Path]) -> Callable[[str], tuple[str | None, Claim | None]]:
    """Looks a claim up by its id, in these files first and then in the catalogue; with the place where it is."""
    from theory import catalog

    files: dict[str, str] = {}
    for path in papers:
        files |= {paper: str(path) for paper in own.known([str(path)])}

    def find(id: str) -> tuple[str | None, Claim | None]:
        try:
            claim = catalog.claim(id)
        except ValueError:
            return None, None
        return files.get(claim.paper, "the catalogue"), claim

    return find


def _comparison(where: str | None) -> str:
    """What the certificate's text was held against, and what of it could not be."""
    if where is None:
        return NOT_COMPARED
    return f"compared with {where}: {COMPARED}"


def _unreadable(path: Path, error: ValueError) -> str:
    """What is wrong with a file that is no certificate."""
    message = messages.one_line(str(error)).removeprefix(f"cannot read {path}: ")
    return f"{path} is not a certificate, as `fedproof check` and `falsify` write them: {message}"


def report(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER]...",
            help="Papers, collections of papers (landmarks), or paper.py, which is run; all papers without, none with "
            "--store.",
            autocompletion=completion.collections,
        ),
    ] = None,
    stores: Annotated[
        list[Path] | None,
        typer.Option("--store", help="The store of a sweep; may be given several times."),
    ] = None,
    quick: Quick = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for index.html, figures and report.json.")] = Path(
        "report"
    ),
    jobs: Jobs = None,
    repair: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Check papers, and write the report (HTML, figures, JSON).

    The page says whether it is the quick or the full report. With --store it reads what `fedproof sweep` has kept so
    far, and computes no cell; papers are then checked only if they are named. With --repair, refutations say how much
    they matter. Pages and figures that an earlier report left in the folder, and nobody has changed, are removed if
    they are no longer written.

    Example: fedproof report textbook --quick --out report
    """
    from validate.report import write

    writable("--out", out)
    if papers or not stores:
        missing.tell()
    with own.speaking_aside(papers or ()):
        found = write(
            papers or None, stores=stores or (), quick=quick, out=out, progress=progress, processes=jobs, repair=repair
        )
    if not as_json:
        typer.echo(found)
        return
    data = found.with_name("report.json")
    verdicts = Counter(entry["verdict"] for entry in json.loads(data.read_text(encoding="utf-8")))
    print_json({"quick": quick, "page": str(found), "data": str(data), "verdicts": verdicts})


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper.", autocompletion=completion.papers)],
    quick: Quick = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures and tables.")] = Path("fedproof-out"),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Redraw the figures of a paper's experiments.

    With as many runs as the paper has, and with enough runs for the truth.

    Example: fedproof reproduce PAPER --out figures
    """
    from theory import catalog
    from validate.experiments import reproduction

    run = reproduction(catalog.paper(paper).name)
    if run is None:
        others = [p.name for p in catalog.papers() if reproduction(p.name) is not None]
        raise ValueError(f"PAPER={paper} has no experiments that can be reproduced; these have: {', '.join(others)}")
    writable("--out", out)
    found = run(out=out, quick=quick, seed=seed, progress=progress)
    if not as_json:
        typer.echo(f"{out}")
        return
    files = {"figures": [str(figure.path) for figure in found.figures], "data": [str(path) for path in found.data]}
    print_json({"paper": paper, "quick": quick, "seed": seed, "out": str(out), **files, "findings": found.findings})
