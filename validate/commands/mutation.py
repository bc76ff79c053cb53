"""How sharp the check is: `fedproof mutate`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import completion, own
from validate.commands.options import AsJson
from validate.commands.output import number, plain, print_json, progress, table, writable

if TYPE_CHECKING:
    from validate.mutate import Finding, MutationReport

SURVIVED = 1


def mutate(
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID|PAPER",
            help="A claim, or a paper for all its claims; or paper.py:LABEL.",
            autocompletion=completion.targets,
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer mutants and instances.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the certificates; none without.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the instances that the check is not told of.")] = 0,
    mutants: Annotated[int | None, typer.Option("--mutants", min=1, help="At most so many mutants of a claim.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=1, help="CPU time for each claim, after which it is cut off.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--log", help="File to which each mutant is added as JSON when it is judged.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask how many false neighbours of a claim are refuted.

    A mutant has a coefficient scaled, a term dropped, an exponent or an index moved, a hypothesis dropped or weakened,
    or a term of the algorithm changed. It is false when an exact instance breaks it, and killed when the check, which
    is not told where, refutes it with a certificate. Exit status 1 when a false mutant survives. With --seconds the
    counts are those of the mutants that were judged in time, and claims that were cut off are named.

    Example: fedproof mutate textbook/young --quick
    """
    from validate.mutate import mutate as mutate_claim
    from validate.mutate import mutate_all, summary

    target = own.known([target])[0]
    if out is not None:
        writable("--out", out)
    options: dict[str, Any] = {"quick": quick, "seed": seed, "out": out, "progress": progress}
    options |= {"mutants": mutants, "seconds": seconds}
    if to is not None:
        writable("--log", to.parent)
        if to.is_dir():
            raise ValueError(f"--log={to} is a folder; give a file")
        if not _is_log(to):
            raise ValueError(f"--log={to} is no log of mutants, and would be added to; give another file")
        options["judged"] = partial(_logged, to)
    if "/" in target:
        reports = [mutate_claim(target, **options)]
        found = reports[0].to_json()
    else:
        reports = mutate_all(target, **options)
        found = {**summary(target, reports), "detail": [report.to_json() for report in reports]}
    if as_json:
        print_json(found)
    else:
        _show(reports)
        typer.echo(_line(found))
    if found["killed"] < found["false"]:
        raise typer.Exit(SURVIVED)


def _is_log(path: Path) -> bool:
    """Whether lines may be added: there is nothing yet, or the first is one that `_logged` wrote."""
    if not path.exists():
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    try:
        return not first or {"name", "outcome", "killed"} <= set(json.loads(first))
    except (ValueError, TypeError):
        return False


def _logged(to: Path, finding: Finding) -> None:
    """One line more, so that nothing is lost of a measurement that is ended."""
    with to.open("a", encoding="utf-8") as file:
        file.write(json.dumps(plain(finding.to_json()), ensure_ascii=False) + "\n")


def _show(reports: list[MutationReport]) -> None:
    """One claim: its mutants; several: a line each, and the survivors."""
    if len(reports) == 1:
        findings = reports[0].findings
        table(["mutant", "outcome", "what was done"], [[_last(f), f.outcome, f.mutant.description] for f in findings])
    else:
        rows = [[r.id, str(len(r.findings)), str(r.false), str(r.killed), number(r.kill_rate)] for r in reports]
        table(["id", "mutants", "false", "killed", "kill rate"], rows)
        survivors = [f for r in reports for f in r.findings if f.outcome == "survived"]
        for finding in survivors:
            typer.echo(f"survived: {finding.mutant.name}: {finding.mutant.description}")
    for report in reports:
        if not report.killed:
            for reason, count in report.reasons().items():
                typer.echo(f"{report.id}: of {count} mutants, {reason}")
        if report.cut:
            typer.echo(f"{report.id}: cut off after {len(report.findings)} mutants")
        if not report.stands:
            typer.echo(f"{report.id} itself is broken, so most of its mutants are")


def _last(finding: Any) -> str:
    return str(finding.mutant.name.rsplit("/", 1)[-1])


def _line(found: dict[str, Any]) -> str:
    """The counts in one line."""
    text = f"{found['mutants']} mutants, {found['false']} shown false, {found['killed']} killed"
    if found["kill_rate"] is None:
        return f"{text}; no kill rate without a false mutant"
    blind = found["oracle"]
    return (
        f"{text}: kill rate {found['kill_rate']:.1%}; of the {blind['false']} that other instances show to be false, "
        f"{blind['killed']} killed"
    )
