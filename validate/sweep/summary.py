"""What the store of a sweep says, for the report: its tables, its figures, and what a reader must know of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from validate.counted import counted
from validate.experiment import Experiment
from validate.report.readable import number
from validate.sweep.axis_figure import axis_drawing, why_not_drawn
from validate.sweep.records import FAILURES
from validate.sweep.store import Store
from validate.sweep.summary_tables import claim_name, clean, few, tables_of
from validate.sweep.tally import Tally, tally


def experiment_of(store: Path | str, out: Path | str, label: str = "sweep") -> Experiment:
    """Tables and figures of a store; the same for two stores of one name, with the same results and versions.

    Args:
        store: its path; it may be unfinished, and may be written meanwhile.
        out: folder for the figures and their numbers; made when missing.
        label: in place of a paper's name, for the ids of the page.

    Raises:
        ValueError: when there is no store, or it is damaged or another program's.
        OSError: when something cannot be read or written.
    """
    path, out = Path(store), Path(out)
    with Store.read(path) as opened:
        meta = opened.meta
        try:
            found = tally(opened.rows())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        unfinished = found.finished < found.cells
        digest = None if unfinished else opened.digest()
    axes = [name for name in found.axes() if name != "claim"]
    drawn = [name for name in axes if not why_not_drawn(found, name)]
    figures = [axis_drawing(found, name, at, out) for at, name in enumerate(drawn, 1)]
    return Experiment(
        paper=label,
        title=_title(meta, path),
        settings=tuple(_settings(found, path, meta, digest)),
        figures=tuple(figures),
        tables=tuple(tables_of(found)),
        data=tuple(figure.path.with_suffix(".csv") for figure in figures),
        findings=tuple(_findings(found, path, meta)),
    )


def title_of(store: Path | str) -> str:
    """The name of the sweep that a store holds.

    Raises:
        ValueError, OSError: as `experiment_of`.
    """
    with Store.read(Path(store)) as opened:
        return _title(opened.meta, Path(store))


def _title(meta: Mapping[str, str], path: Path) -> str:
    return clean(meta.get("name", "")) or f"sweep {clean(path.name)}"


def _findings(found: Tally, path: Path, meta: Mapping[str, str]) -> Iterator[str]:
    """What a reader must know first."""
    totals, left = found.totals, found.totals[""]
    if not found.cells:
        yield "The store has no cells."
        return
    if left:
        writer = meta.get("writer")
        by = f" It is being written by {clean(writer)}, or was interrupted." if writer else ""
        yield (
            f"Unfinished: {left:,} of {counted(found.cells, 'cell')} have no result yet. Everything here is about the "
            f"others.{by} `fedproof sweep SPEC.toml --out {clean(path.name)} --resume` goes on."
        )
    fails = [claim for claim, outcomes in found.outcomes.items() if outcomes["fails"]]
    if fails:
        names = few([claim_name(claim) for claim in fails])
        yield (
            f"{counted(totals['fails'], 'cell')}: the claim fails there ({names}). A sweep never "
            "says refuted: `fedproof falsify CLAIM` looks for a certificate."
        )
    failures = {name: totals[name] for name in FAILURES if totals[name]}
    if failures:
        listed = ", ".join(f"{count:,} {name}" for name, count in failures.items())
        yield (
            f"{counted(sum(failures.values()), 'cell')} ended without an answer ({listed}); "
            "`fedproof sweep SPEC.toml --out STORE --retry` computes them again."
        )
    if not fails and not failures and not left:
        yield f"All {counted(found.cells, 'cell')} are finished, and no claim fails in any."
    if len(found.versions) > 1:
        listed = "; ".join(
            f"{clean(name)} ({counted(count, 'cell')})" for name, count in sorted(found.versions.items())
        )
        yield f"Computed by {len(found.versions)} different sets of versions, whose results may differ: {listed}."


def _settings(found: Tally, path: Path, meta: Mapping[str, str], digest: str | None) -> Iterator[str]:
    """What was swept, and what its outcomes promise."""
    made = clean(meta.get("made_by", ""))
    yield (
        f"{clean(path.name)}{f', made by {made}' if made else ''}: {counted(found.cells, 'cell')}, "
        f"{found.finished:,} finished{f'; digest {digest}' if digest else ''}."
    )
    if found.files:
        listed = "; ".join(f"{clean(name)} (SHA-256 {clean(sha256)})" for name, sha256 in sorted(found.files.items()))
        yield f"Claims of authors' own files, as they were when this was swept: {listed}."
    fixed = {
        name: clean(next(iter(values))) for name, values in found.values.items() if len(values) == 1 and name != "level"
    }
    if fixed:
        yield f"The same in every cell that has it: {', '.join(f'{name} = {v}' for name, v in sorted(fixed.items()))}."
    if found.cells > found.sampled:
        yield (
            "Cells with method exact compare both sides by the exact oracle, in float64 with room for rounding: "
            "no probability is involved."
        )
    if found.sampled:
        yield _promise(found, meta)
    missing = {name: why for name in found.axes() if name != "claim" and (why := why_not_drawn(found, name))}
    if missing and len(found.ratios):
        yield f"Not drawn: {'; '.join(f'{clean(name)} ({why})' for name, why in missing.items())}."


def _promise(found: Tally, meta: Mapping[str, str]) -> str:
    """The error probability, and what it covers."""
    levels = sorted(found.levels)
    each = " to ".join(number(float(level)) for level in dict.fromkeys((levels[0], levels[-1])))
    stated = _stated(meta.get("specification", ""))
    believed = sum(count for (_, guarantee), count in found.guarantees.items() if guarantee == "asymptotic")
    text = (
        f"{counted(found.sampled, 'sampled cell')}, each wrong with probability at most {each}: that any of them "
        "fails wrongly, or holds wrongly with guarantee anytime, has probability at most "
        f"{number(float(found.error_probability))}"
        f"{f' (stated: {stated})' if stated is not None else ''}."
    )
    if believed:
        text += (
            f" This does not cover {counted(believed, 'cell')} with guarantee asymptotic: these rest on the central "
            "limit theorem, and with heavy tails may be wrong far more often."
        )
    return text


def _stated(text: str) -> Fraction | None:
    """The error probability that a specification states; None for text that is none."""
    from validate.sweep.specification import error_probability_of

    try:
        return error_probability_of(text)  # no more: a store must not have the files run that its text names
    except (ValueError, RecursionError):
        return None
