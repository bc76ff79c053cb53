"""Comparisons of algorithms by simulation: runs that resume, the statistics of a comparison, and its record.

A paper's experiments (`validate.experiments`) say which algorithms and settings; what is common to all of them is
here. Drawing is in `validate.drawing`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

log = logging.getLogger(__name__)

Array = np.ndarray
Progress = Callable[[str], None]


class Drawing(NamedTuple):
    """A figure: its file, a short title, and a caption that says what is drawn and what differs from the paper."""

    path: Path
    title: str
    caption: str


class Table(NamedTuple):
    """A table of text: title, column names, rows, and a note below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


@dataclass(frozen=True)
class Experiment:
    """A paper's experiments, run again.

    Attributes:
        paper: the paper's name.
        title: a few words.
        settings: what was run, one sentence each: what the paper states, what it leaves open and what was chosen.
        figures: the figures, in the paper's order.
        tables: the tables.
        data: the files that hold the numbers behind the figures (CSV, with the stem of the figure's file).
        findings: statements of the paper that were not borne out, and what else a reader must know; one sentence each.
    """

    paper: str
    title: str
    settings: tuple[str, ...]
    figures: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    data: tuple[Path, ...]
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contender:
    """One of the algorithms compared.

    Attributes:
        key: short ASCII name, used for files and columns.
        label: for legends.
        algorithm: one of `sim.algorithms`.
        participation: one of `sim.participation`.
        seed: added to the comparison's seed, so that contenders are independent of each other.
    """

    key: str
    label: str
    algorithm: Any
    participation: Any
    seed: int = 0


class Runs(NamedTuple):
    """Simulated runs: suboptimality f(theta^k) - f*, shape (R, K+1), and the final iterates, shape (R, d)."""

    suboptimality: Array
    final: Array


class Estimate(NamedTuple):
    """A number and its confidence interval."""

    value: float
    lower: float
    upper: float


class Band(NamedTuple):
    """An estimate for every round and its pointwise confidence band, each of shape (K+1,)."""

    value: Array
    lower: Array
    upper: Array


def plain(value: Any) -> Any:
    """Settings as JSON data; dataclasses become dictionaries, arrays lists, fractions strings."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fraction):
        return str(value)
    return value


def settings_key(contender: Contender, problem: Any, *, rounds: int, runs: int, seed: int, start: Any) -> str:
    """Everything that decides the result of a simulation, as canonical JSON."""
    digest = hashlib.sha256()
    for part in (problem.hessian, problem.linear, problem.offset, problem.counts):
        digest.update(repr(np.shape(part)).encode() + np.ascontiguousarray(part).tobytes())
    return json.dumps(
        {
            "algorithm": plain(contender.algorithm),
            "participation": plain(contender.participation),
            "problem": digest.hexdigest(),
            "rounds": rounds,
            "runs": runs,
            "seed": seed + contender.seed,
            "start": plain(np.asarray(start, dtype=float)),
        },
        sort_keys=True,
    )


def simulate(
    contender: Contender,
    problem: Any,
    *,
    rounds: int,
    runs: int,
    start: Any,
    folder: Path,
    seed: int = 0,
    engine: Callable[..., Any] | None = None,
    progress: Progress | None = None,
) -> Runs:
    """Simulate a contender, or read the finished simulation of the very same settings.

    The result is saved in `folder` as soon as it is complete, together with its settings. A file with other settings,
    or one that cannot be read, is computed again.

    Args:
        contender: what is run.
        problem: the problem that it is run on.
        rounds: K >= 1.
        runs: R >= 2.
        start: theta^0, shape (d,).
        folder: where finished simulations are kept; made when missing.
        seed: of the comparison.
        engine: in place of `sim.run`.
        progress: called with one line of text.

    Raises:
        ValueError: when rounds or runs is too small.
    """
    if runs < 2:
        raise ValueError(f"runs={runs} is outside the integers in [2, inf)")
    if rounds < 1:
        raise ValueError(f"rounds={rounds} is outside the integers in [1, inf)")
    key = settings_key(contender, problem, rounds=rounds, runs=runs, seed=seed, start=start)

    def compute() -> dict[str, Array]:
        run = engine
        if run is None:
            from sim import run as simulator

            run = simulator
        trace = run(
            contender.algorithm,
            problem,
            contender.participation,
            rounds=rounds,
            runs=runs,
            seed=seed + contender.seed,
            start=start,
            metrics=("suboptimality",),
        )
        return {"suboptimality": np.asarray(trace["suboptimality"]), "final": np.asarray(trace.final)}

    found = stored(
        Path(folder) / f"{contender.key}-{runs}.npz",
        key,
        compute,
        what=f"{contender.key}: {runs:,} runs of {rounds} rounds",
        progress=progress,
    )
    return Runs(found["suboptimality"], found["final"])


def stored(
    path: Path,
    settings: str,
    compute: Callable[[], Mapping[str, Array]],
    *,
    what: str,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """Arrays that take long to compute: read from `path` when it holds these very settings, else computed and kept.

    A file with other settings, or one that cannot be read, is computed again.

    Args:
        path: of the .npz file; its folder is made when missing.
        settings: everything that decides the result, as text.
        compute: makes the arrays by name; none is called ``settings``.
        what: what is computed, for `progress`.
        progress: called with one line of text.
    """
    saved = _read(path, settings)
    if progress:
        progress(f"{what}: read from {path.name}" if saved is not None else f"{what}: simulating")
    if saved is not None:
        return saved
    arrays = {name: np.asarray(array) for name, array in compute().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    # written aside and renamed, so that an interruption never leaves half a file under the final name
    aside = path.with_suffix(f".{os.getpid()}.part")
    with aside.open("wb") as stream:
        np.savez(stream, settings=np.array(settings), **arrays)  # type: ignore[arg-type]
    os.replace(aside, path)
    return arrays


def _read(path: Path, key: str) -> dict[str, Array] | None:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            if str(saved["settings"]) != key:
                log.info("%s holds other settings; computing again", path)
                return None
            return {name: saved[name] for name in saved.files if name != "settings"}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        log.warning("%s cannot be read (%s); computing again", path, error)
        return None


def quantile(confidence: float) -> float:
    """The two-sided standard normal quantile, such as 2.576 for 0.99.

    Raises:
        ValueError: unless 0 < confidence < 1.
    """
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is outside (0, 1)")
    return -float(ndtri((1 - confidence) / 2))


def mean_band(values: Array, confidence: float = 0.99) -> Band:
    """The mean over runs with its pointwise normal band. values: shape (R, ...)."""
    mean = values.mean(axis=0)
    half = quantile(confidence) * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return Band(mean, mean - half, mean + half)


def variance_band(values: Array, confidence: float = 0.99) -> Band:
    """The variance over runs with its pointwise band, by the delta method for log s^2. values: shape (R, ...).

    Var(s^2) is (m4 - s^4)/R to first order; taking logarithms keeps the band positive. A variance of 0 has the band
    [0, 0].
    """
    centred = values - values.mean(axis=0)
    variance = (centred**2).sum(axis=0) / (len(values) - 1)
    positive = np.where(variance > 0, variance, 1.0)
    kurtosis = ((centred / np.sqrt(positive)) ** 4).mean(axis=0)
    half = quantile(confidence) * np.sqrt(np.maximum(kurtosis - 1, 0) / len(values))
    return Band(variance, variance * np.exp(-half), variance * np.exp(half))


def ratio(numerator: Band, denominator: Band, at: int) -> Estimate:
    """The ratio of two independent positive estimates at one round; the interval by the delta method for the log.

    The half-widths of the logarithms are taken from the bands' upper ends, and add in squares.
    """
    value = float(numerator.value[at] / denominator.value[at])
    widths = [math.log(b.upper[at] / b.value[at]) for b in (numerator, denominator)]
    half = math.hypot(*widths)
    return Estimate(value, value * math.exp(-half), value * math.exp(half))


def distances_from_mean(final: Array) -> Array:
    """Distance of each final iterate from their mean, shape (R, d) -> (R,)."""
    return np.asarray(np.linalg.norm(final - final.mean(axis=0), axis=1))


def circular_error(final: Array) -> float:
    """CEP as the paper defines it: the median distance of the final iterates from their mean, in all d coordinates."""
    return float(np.median(distances_from_mean(final)))


def median_interval(values: Sequence[float] | Array, confidence: float = 0.99) -> Estimate:
    """The median with the distribution-free interval between two order statistics.

    The number of values below the true median is Binomial(R, 1/2), so the coverage is at least `confidence` for any
    continuous distribution.

    Raises:
        ValueError: when there are too few values for an interval of that confidence.
    """
    from scipy.stats import binom

    quantile(confidence)
    ordered = np.sort(np.asarray(values, dtype=float))
    count = len(ordered)
    below = int(binom.ppf((1 - confidence) / 2, count, 0.5)) - 1
    # ppf gives the least j with P(X <= j) >= q: one less has P(X <= j) < q, and the interval starts above it
    if below < 0:
        raise ValueError(f"values has {count} entries, too few for a median interval of confidence {confidence}")
    return Estimate(float(np.median(ordered)), float(ordered[below]), float(ordered[count - 1 - below]))


def group_spread(final: Array, size: int, share: float = 0.9) -> Estimate:
    """What the CEP from only `size` runs can be: the median and the central `share` over disjoint groups of runs.

    Raises:
        ValueError: when there are fewer than two groups.
    """
    groups = len(final) // size
    if groups < 2:
        raise ValueError(f"size={size} leaves fewer than two groups of {len(final)} runs")
    radii = [circular_error(final[g * size : (g + 1) * size]) for g in range(groups)]
    low, middle, high = np.quantile(radii, [(1 - share) / 2, 0.5, (1 + share) / 2])
    return Estimate(float(middle), float(low), float(high))


def principal_plane(*clouds: Array) -> tuple[Array, ...]:
    """Every cloud of points, shape (R, d), in the first two principal components of them all, centred on its own mean.

    With d = 1 the second coordinate is 0. The signs are fixed, so that the picture is the same on every machine.
    """
    pooled = np.concatenate([cloud - cloud.mean(axis=0) for cloud in clouds])
    _, _, axes = np.linalg.svd(pooled, full_matrices=False)
    axes = axes[:2] * np.sign(axes[:2][np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    flat = [(cloud - cloud.mean(axis=0)) @ axes.T for cloud in clouds]
    return tuple(np.pad(f, ((0, 0), (0, 2 - f.shape[1]))) for f in flat)


def largest_deviation(values: Array, exact: Array) -> tuple[float, int]:
    """How far a Monte Carlo mean is from the exact expectation: (standard errors, round) where it is worst.

    Rounds without spread (the start) are left out. values: shape (R, K+1); exact: shape (K+1,).

    Raises:
        ValueError: when the shapes disagree, or nothing has spread.
    """
    if values.shape[1:] != np.shape(exact):
        raise ValueError(f"exact has shape {np.shape(exact)}, the runs have {values.shape[1:]}")
    error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    spread = error > 1e-14 * np.abs(exact)
    if not spread.any():
        raise ValueError("values has no spread at any round")
    z = np.zeros(len(error))
    z[spread] = (values.mean(axis=0) - np.asarray(exact, dtype=float))[spread] / error[spread]
    worst = int(np.abs(z).argmax())
    return float(z[worst]), worst


def write_csv(path: Path, columns: Mapping[str, Sequence[Any] | Array]) -> Path:
    """Write columns of equal length as CSV, floats in full precision.

    Raises:
        ValueError: when the lengths differ.
    """
    import csv

    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"columns have different lengths: {lengths}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
    return path
