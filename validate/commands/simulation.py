"""What happens, sampled: `fedproof simulate`, in blocks of runs that survive an interruption."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import (
    bar,
    noticing_interrupts,
    number,
    plain,
    print_json,
    read_object,
    say,
    table,
    writable,
)

if TYPE_CHECKING:
    import numpy as np

    from validate.instances.specs import Asked

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
            if not (self.out.is_file() and _is_simulation(self.out)):  # of a pipe no beginning may ever come
                raise ValueError(f"{self.out} exists, and is no simulation's; give another --out")
            raise ValueError(f"{self.out} exists, and its simulation is finished; delete it, or give another --out")
        if not self._stored.exists():
            return
        if read_object(str(self._stored)) != self.settings:
            raise ValueError(
                f"{self.folder} belongs to another simulation (SPEC, seed, metrics, block or version differ, or "
                "one of them has no C++ compiler); delete it, or give another --out"
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
        """Keep a finished block.

        Raises:
            ValueError: where the folder is taken away meanwhile, as another simulation does that finishes there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._stored.write_text(json.dumps(self.settings), encoding="utf-8")
            write_arrays(self._path(first), block)
        except FileNotFoundError as error:
            raise ValueError(f"{self.folder} was taken away while it was written: is --out another's too?") from error

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


def _is_simulation(path: Path) -> bool:
    """Whether a file is one that `Blocks.finish` wrote."""
    try:
        with zipfile.ZipFile(path) as arrays:
            return {"settings.npy", "final.npy"} <= set(arrays.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


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
    found = per_round(values[:, -1:])
    return {name: None if entry is None else entry[0] for name, entry in found.items()}


def per_round(values: np.ndarray) -> dict[str, Any]:
    """Mean over the runs and its standard error, in lists over the rounds; of a single run there is no error."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):  # runs that diverge: inf and nan say so
        error = values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
        return {"mean": plain(values.mean(axis=0)), "standard_error": plain(error)}


def simulate(
    spec: Annotated[
        str, typer.Argument(metavar="INSTANCE.json", help="The instance as for `moments`, or - for stdin.")
    ],
    runs: Annotated[int, typer.Option("--runs", min=1, help="Number of runs.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed; run r of a seed is always the same.")] = 0,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="A metric to record; may be repeated.")] = None,
    tap: Annotated[
        list[str] | None, typer.Option("--tap", help="A tap whose squared norm to record; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File (.npz) for all runs.")] = None,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    block: Annotated[int, typer.Option("--block", min=1, help="Runs between two savings.")] = 1000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the blocks that --out has already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an algorithm many times.

    Prints the mean and standard error of each metric at the last round; with --json also those of every round, and of
    taps those of the squared norm at every round, turn and client. Metrics are suboptimality, cost,
    squared_gradient_norm, squared_iterate_norm, squared_distance and iterate, of the model: the first state variable,
    or its mean over the clients. With --out, each finished block of runs is kept in OUT.parts until all are done, so
    that an interruption costs a block at most.

    Example: fedproof simulate INSTANCE.json --runs 20000 --seed 1 --out runs.npz
    """
    if resume and out is None:
        raise ValueError("--resume needs the --out of the simulation to go on with")
    data = read_object(spec)
    import importlib.metadata

    import numpy as np

    from sim.native import build
    from sim.running import checked_device
    from validate.instances.runs import check_taps
    from validate.instances.specs import asked

    given = asked(data)
    checked_device(device)
    metrics, taps = tuple(dict.fromkeys(metric or METRICS)), tuple(dict.fromkeys(tap or ()))
    if taps and given.instance is None:
        raise ValueError(f"tap={taps[0]!r}: no instance of the language says this specification, and it has no taps")
    if given.instance is not None:
        check_taps(given.instance, taps)
    rounds = given.scenario.rounds if given.instance is None else given.instance.rounds
    values = runs * ((rounds + 1) * len(metrics) + (_tap_values(given, taps) if taps else 0))
    if values > MOST_VALUES:
        raise ValueError(f"{values} values are wanted, of all runs, rounds and metrics; at most {MOST_VALUES} are")
    settings = {
        "spec": data,
        "seed": seed,
        "metrics": list(metrics),
        "block": block,
        "version": importlib.metadata.version("fedproof"),
        "compiled": build.compiler() is not None,  # what is not has other roundings
        **({"taps": list(taps)} if taps else {}),
    }
    blocks = Blocks(out, settings) if out is not None else None
    if blocks is not None:
        blocks.check(resume)
        writable("--out", blocks.out.parent)
    done: list[dict[str, np.ndarray]] = []
    try:
        with noticing_interrupts() as check, bar(runs * rounds) as tell:
            for first in range(0, runs, block):
                check()
                size = min(block, runs - first)
                arrays = blocks.load(first, size) if blocks is not None else None
                if arrays is None:

                    def progress(ran: int, _: int, before: int = first * rounds) -> None:
                        check()
                        tell(before + ran)

                    arrays = _block(given, size, seed, first, metrics, taps, device, progress)
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
    tapped = {name: per_round(everything[f"tap {name}"]) for name in taps}
    for name, entry in result.items():
        if not np.isfinite(np.asarray(entry["mean"], float)).all():
            say(f"{name} leaves the range of float64 in the mean of {runs} runs: they diverge, or are that large")
    if as_json:
        where = None if out is None else str(out)
        every = {name: per_round(everything[name]) for name in metrics}
        print_json({"runs": runs, "rounds": rounds, "seed": seed, "metrics": result, "per_round": every,
                    "taps": tapped, "out": where})  # fmt: skip
        return
    rows = [[name, number(entry["mean"]), number(entry["standard_error"])] for name, entry in result.items()]
    table(["metric", "mean", "standard error"], rows)
    if taps:
        last = {name: per_round(_of_last_turn(everything[f"tap {name}"])) for name in taps}
        typer.echo()
        rows = [[name, number(entry["mean"]), number(entry["standard_error"])] for name, entry in last.items()]
        table(["tap", "mean squared norm, last turn", "standard error"], rows)


def _block(
    given: Asked, size: int, seed: int, first: int, metrics: Sequence[str], taps: Sequence[str], device: str,
    progress: Callable[[int, int], None],
) -> dict[str, np.ndarray]:  # fmt: skip
    """The runs ``first .. first+size-1``."""
    from validate.instances import runs

    options: dict[str, Any] = {"first_run": first, "metrics": metrics, "device": device, "progress": progress}
    if given.scenario is not None:
        found = runs.runs_of_scenario(given.scenario, size, seed, **options)
    else:
        assert given.instance is not None
        found = runs.runs_of_instance(given.instance, size, seed, taps=taps, **options)
    return {**found.values, **{f"tap {name}": values for name, values in found.taps.items()}, "final": found.final}


def _tap_values(given: Asked, taps: Sequence[str]) -> int:
    """Values of the taps in one run, by a run of one round."""
    from dataclasses import replace

    from validate.instances.runs import runs_of_instance

    assert given.instance is not None
    one = runs_of_instance(replace(given.instance, rounds=1), 1, 0, metrics=(), taps=taps)
    return int(sum(values.size for values in one.taps.values())) * given.instance.rounds


def _of_last_turn(values: np.ndarray) -> np.ndarray:
    """(R, N) or (R,): of a tap's squared norms (R, K, turns..., N) those in the last turn of the last round."""
    while values.ndim > 2:
        values = values[:, -1]
    return values
