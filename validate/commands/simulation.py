"""What happens, sampled: `fedproof simulate`, in blocks of runs that survive an interruption."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.output import bar, noticing_interrupts, number, plain, print_json, read_object, table, writable

if TYPE_CHECKING:
    import numpy as np

METRICS = ("suboptimality", "squared_gradient_norm")
MOST_VALUES = 1_000_000_000  # 8 GB


@dataclass(frozen=True)
class Blocks:
    """The finished blocks of a simulation: the folder ``OUT.parts`` with settings.json and one file a block.

    Attributes:
        out: the file that holds all runs in the end.
        settings: everything that the blocks depend on, in JSON's types.
    """

    out: Path
    settings: dict[str, Any]

    @property
    def folder(self) -> Path:
        """Where the blocks are."""
        return self.out.with_name(f"{self.out.name}.parts")

    def check(self, resume: bool) -> None:
        """Make sure that blocks may be written here.

        Raises:
            ValueError: when there is something already that is not to be, or cannot be, gone on with.
        """
        if self.out.exists():
            raise ValueError(f"{self.out} exists, and its simulation is finished; delete it, or give another --out")
        if not self._stored.exists():
            return
        if read_object(str(self._stored)) != self.settings:
            raise ValueError(
                f"{self.folder} belongs to another simulation (SPEC, seed, metrics, block or version differ); "
                "delete it, or give another --out"
            )
        if not resume:
            raise ValueError(f"{self.folder} holds finished blocks; give --resume to go on, or delete it")

    def load(self, first: int, size: int) -> dict[str, np.ndarray] | None:
        """The runs ``first .. first+size-1`` by metric, or None when they are not all there.

        Raises:
            ValueError: when the file is damaged.
        """
        import numpy as np

        path = self._path(first)
        if not path.exists():
            return None
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                block = {name: stored[name] for name in stored.files}
            return {name: rows[:size] for name, rows in block.items()} if len(block["final"]) >= size else None
        except (zipfile.BadZipFile, EOFError, KeyError, ValueError) as error:
            raise ValueError(f"{path} is damaged; delete it, and give --resume") from error

    def save(self, first: int, block: Mapping[str, np.ndarray]) -> None:
        """Keep a finished block."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._stored.write_text(json.dumps(self.settings), encoding="utf-8")
        write_arrays(self._path(first), block)

    def finish(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the file of all runs, and drop the blocks."""
        import numpy as np

        write_arrays(self.out, {**arrays, "settings": np.array(json.dumps(self.settings))})
        shutil.rmtree(self.folder)

    @property
    def _stored(self) -> Path:
        return self.folder / "settings.json"

    def _path(self, first: int) -> Path:
        return self.folder / f"runs-{first:09d}.npz"


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz file that is there whole or not at all."""
    import numpy as np

    half = path.with_name(f"{path.name}.half")
    with half.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]
    half.replace(path)


def summary(values: np.ndarray) -> dict[str, Any]:
    """Mean over the runs and its standard error at the last round, of a metric (R, K+1) or (R, K+1, d).

    A single run has no standard error.
    """
    last = values[:, -1]
    error = last.std(axis=0, ddof=1) / math.sqrt(len(last)) if len(last) > 1 else None
    return {"mean": plain(last.mean(axis=0)), "standard_error": plain(error)}


def simulate(
    spec: Annotated[str, typer.Argument(metavar="SPEC.json", help="The scenario as for `moments`, or - for stdin.")],
    runs: Annotated[int, typer.Option("--runs", min=1, help="Number of runs.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed; run r of a seed is always the same.")] = 0,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="A metric to record; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File (.npz) for all runs.")] = None,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    block: Annotated[int, typer.Option("--block", min=1, help="Runs between two savings.")] = 1000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the blocks that --out has already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run an algorithm many times.

    Prints the mean and standard error of each metric at the last round. With --out, each finished block of runs is
    kept in OUT.parts until all are done, so that an interruption costs a block at most.

    Example: fedproof simulate SPEC.json --runs 20000 --seed 1 --out runs.npz
    """
    if resume and out is None:
        raise ValueError("--resume needs the --out of the simulation to go on with")
    given = read_object(spec)
    import importlib.metadata

    import numpy as np

    from validate.scenario import read_scenario

    scenario = read_scenario(given, exact=False)
    metrics = tuple(dict.fromkeys(metric or METRICS))
    values = runs * (scenario.rounds + 1) * len(metrics)
    if values > MOST_VALUES:
        raise ValueError(f"{values} values are wanted, of all runs, rounds and metrics; at most {MOST_VALUES} are")
    settings = {
        "spec": given,
        "seed": seed,
        "metrics": list(metrics),
        "block": block,
        "version": importlib.metadata.version("fedproof"),
    }
    blocks = Blocks(out, settings) if out is not None else None
    if blocks is not None:
        blocks.check(resume)
        writable("--out", blocks.out.parent)
    done: list[dict[str, np.ndarray]] = []
    try:
        with noticing_interrupts() as check, bar(runs * scenario.rounds) as tell:
            for first in range(0, runs, block):
                check()
                size = min(block, runs - first)
                arrays = blocks.load(first, size) if blocks is not None else None
                if arrays is None:
                    trace = scenario.simulate(
                        size,
                        seed,
                        first_run=first,
                        metrics=metrics,
                        device=device,
                        progress=lambda ran, _, before=first * scenario.rounds: tell(before + ran),
                    )
                    arrays = {**{name: trace[name] for name in metrics}, "final": trace.final}
                    if blocks is not None:
                        blocks.save(first, arrays)
                done.append(arrays)
    except KeyboardInterrupt:
        if blocks is not None and done:
            typer.echo(f"{len(done) * block} of {runs} runs are kept; go on with --resume", err=True)
        raise
    everything = {name: np.concatenate([arrays[name] for arrays in done]) for name in done[0]}
    if blocks is not None:
        blocks.finish(everything)
    result = {name: summary(everything[name]) for name in metrics}
    if as_json:
        where = None if out is None else str(out)
        print_json({"runs": runs, "rounds": scenario.rounds, "seed": seed, "metrics": result, "out": where})
        return
    rows = [[name, number(entry["mean"]), number(entry["standard_error"])] for name, entry in result.items()]
    table(["metric", "mean", "standard error"], rows)
