"""Claims on a grid of scenarios: `fedproof sweep`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import animated, noticing_interrupts, print_json, read_text, table, writable

if TYPE_CHECKING:
    from validate.sweep.coordinator import Snapshot
    from validate.sweep.specification import Specification

# Seconds between two lines where stderr is no terminal; documents that --dry-run shows.
BETWEEN, SHOWN = 2.0, 3
# Values of an axis that --dry-run shows.
VALUES = 8


def duration(seconds: float) -> str:
    """Seconds as a person reads them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, hours = divmod(whole // 60, 60)[1], whole // 3600
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"


def listed(outcomes: Mapping[str, int]) -> str:
    """Counts by outcome in one line."""
    return ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())


def line(now: Snapshot) -> str:
    """How far a sweep is, in one line."""
    parts = [f"{now.finished}/{now.cells} cells"]
    if now.outcomes:
        parts.append(listed(now.outcomes))
    if now.rate is not None:
        parts.append(f"{now.rate:.3g} cells/s")
    if now.left is not None and now.finished < now.cells:
        parts.append(f"{duration(now.left)} left")
    if now.failures:
        parts.append(f"{now.failures} failed")
    return "; ".join(parts)


@contextmanager
def shown() -> Iterator[Callable[[Snapshot], None]]:
    """Progress on stderr: a bar on a terminal, elsewhere a line now and then."""
    if animated():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("", total=None)

            def draw(now: Snapshot) -> None:
                bar.update(task, completed=now.finished, total=now.cells, description=line(now))
                if now.message:
                    bar.console.print(now.message, markup=False)

            yield draw
        return
    last = float("-inf")

    def tell(now: Snapshot) -> None:
        nonlocal last
        if now.message:
            typer.echo(now.message, err=True)
        if time.monotonic() - last >= BETWEEN or now.finished == now.cells:
            last = time.monotonic()
            typer.echo(line(now), err=True)

    yield tell


def sweep(
    spec: Annotated[Path | None, typer.Argument(metavar="SPEC.toml", help="The cells (docs/sweeps.md).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The store, a file of SQLite.")] = None,
    engine: Annotated[str, typer.Option("--engine", help="local or dask.")] = "local",
    address: Annotated[str | None, typer.Option("--address", help="Of the Dask scheduler, tcp://host:8786.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; one a core without.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a store.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Go on, and compute failures again.")] = False,
    limit: Annotated[float | None, typer.Option("--limit", help="Seconds for one cell.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cells, and compute nothing.")] = False,
    status: Annotated[Path | None, typer.Option("--status", help="How far this store is; also meanwhile.")] = None,
    export: Annotated[Path | None, typer.Option("--export", help="With --status: write .csv or .parquet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hold claims against a grid of scenarios.

    Every finished cell is kept at once, so that an interruption costs the cells that are being computed; --resume goes
    on. Exit status 1 when a claim fails in a cell. A claim of the specification may be my_paper.py:LABEL, a file that
    is run.

    Example: fedproof sweep SPEC.toml --out tightness.sqlite --workers 4
    """
    if status is not None:
        given = {"SPEC.toml": spec, "--out": out, "--address": address, "--workers": workers, "--limit": limit}
        other = [name for name, value in given.items() if value is not None]
        if other or resume or retry or dry_run:
            raise ValueError(f"--status reads a store; {other[0] if other else 'nothing else'} cannot be given with it")
        _status(status, export, as_json)
        return
    if export is not None:
        raise ValueError("--export needs the --status of the store to export")
    if spec is None:
        raise ValueError("SPEC.toml is missing: the cells, as in docs/sweeps.md (or give --status STORE)")
    from validate.sweep.specification import read_specification

    text = read_text(spec)
    try:
        with redirect_stdout(sys.stderr):  # what authors' files print; stdout is for what the command was asked for
            specification = read_specification(text, spec.parent)
    except ValueError as error:
        raise ValueError(f"{spec}: {error}") from error
    if dry_run:
        _dry_run(specification, as_json)
        return
    if out is None:
        raise ValueError(f"--out is missing: the store that keeps the results, as in --out {spec.stem}.sqlite")
    _sweep(specification, out, as_json, engine=engine, address=address, workers=workers, resume=resume, retry=retry,
           limit=limit)  # fmt: skip


def _sweep(specification: Specification, out: Path, as_json: bool, **options: Any) -> None:
    from validate.sweep import coordinator
    from validate.sweep.store import Store

    there = out.exists()
    if there and not (options["resume"] or options["retry"]):
        raise ValueError(f"{out} exists; give --resume to go on with it, or another --out")
    writable("--out", out.parent)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with noticing_interrupts() as check, shown() as tell:

            def progress(now: Snapshot) -> None:
                check()
                tell(now)

            done = coordinator.sweep(specification, out, progress=progress, **options)
    except KeyboardInterrupt:
        with suppress(ValueError, OSError), Store.read(out) as store:
            counts = store.counts()
            kept = f"{counts.finished} of {counts.cells} cells are kept; go on with --resume"
            typer.echo(kept, err=True)
        raise
    if as_json:
        print_json({"store": str(out), "name": done.name, "cells": done.cells, "outcomes": done.outcomes,
                    "computed": done.computed, "seconds": done.seconds, "digest": done.digest})  # fmt: skip
    else:
        table(["outcome", "cells"], [[outcome, str(number)] for outcome, number in done.outcomes.items()])
        typer.echo(f"digest: {done.digest}")
    if done.outcomes.get("fails"):
        raise typer.Exit(1)


def _status(path: Path, out: Path | None, as_json: bool) -> None:
    from validate.sweep import export
    from validate.sweep.store import Store

    with Store.read(path) as store:
        found = export.status(store)
        if out is not None:
            found["exported"] = {"file": str(out), "rows": export.export(store, out)}
    if as_json:
        print_json(found)
        return
    table(["outcome", "cells"], [[outcome, str(number)] for outcome, number in found["outcomes"].items()])
    typer.echo(f"{found['finished']} of {found['cells']} cells are finished, {found['failures']} of them failures")
    if found["writer"]:
        typer.echo(f"being written by {found['writer']}, or interrupted")
    for versions, number in found["versions"].items():
        typer.echo(f"{number} by {versions or 'no worker that returned'}")
    typer.echo(f"digest: {found['digest']}")
    if out is not None:
        typer.echo(f"{found['exported']['rows']} rows are in {out}")


def _dry_run(specification: Specification, as_json: bool) -> None:
    """The number of cells, what varies among them, and the first of them."""
    from validate.sweep.claim_files import ENTRIES
    from validate.sweep.export import flattened

    first: list[dict[str, Any]] = []
    axes: dict[str, dict[Any, None]] = {}
    for number, document in enumerate(specification.documents(), 1):
        if number <= SHOWN:
            first.append(document)
        for name, value in flattened(document):
            if name not in ENTRIES:  # which go with the claim
                axes.setdefault(name, {})[value] = None
    found = {name: list(values) for name, values in axes.items() if len(values) > 1}
    if as_json:
        print_json({"name": specification.name, "cells": len(specification), "axes": found, "first": first})
        return
    typer.echo(f"{len(specification)} cell{'s' * (len(specification) != 1)}")
    rows = []
    for name, values in found.items():
        more = ", ..." if len(values) > VALUES else ""
        rows.append([name, str(len(values)), ", ".join(map(str, values[:VALUES])) + more])
    table(["axis", "values", ""], rows)
    typer.echo("the first cells:")
    import json

    for document in first:
        typer.echo(json.dumps(document))
