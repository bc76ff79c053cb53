"""The work on a report, in parts that processes share out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from validate import files
from validate.counted import counted
from validate.experiment import Experiment
from validate.experiments import NotInstalledError, reproduction
from validate.parallel import over_processes, tell
from validate.report.folder import must_take
from validate.report.formula import Typesetter
from validate.report.page import beside, render, subject, typeset
from validate.verdict import Result

if TYPE_CHECKING:
    from theory.claim import Paper
    from validate.compare.tightest import Tightest

TEXTBOOK, ALL = "textbook", "all papers"


def write(
    papers: Iterable[str | Path] | None = None,
    *,
    stores: Sequence[Path | str] = (),
    quick: bool = False,
    out: Path | str = "report",
    progress: Callable[[str], None] | None = None,
    processes: int | None = 1,
    repair: float | None = None,
) -> Path:
    """Check papers, run their experiments, read the stores of sweeps, and write the report.

    Args:
        papers: names of papers or of collections (`theory.catalog.COLLECTIONS`), or ``my_paper.py``, a file that is
            run, and known while the report is written; without, none if there are stores, else all papers that are in
            no collection but the textbook, which is there to be trusted and gets a line.
        stores: of sweeps (`fedproof sweep`), finished or not; they are read as they are.
        quick: smaller searches and fewer runs.
        out: folder; made when missing. Finished simulations that it already holds are used again; what an earlier
            report wrote there, nobody has changed and this one does not write is removed. It must have been on the same
            papers and sweeps, or on some of them.
        progress: called with one line of text.
        processes: papers and experiments are shared out over at most as many; None for one a core. A program that asks
            for more than one must be importable, as `multiprocessing` wants it. What is found does not depend on it.
        repair: seconds of CPU time in which to search what stands in place of each refuted claim, which says how much
            it matters that it is false (`validate.repairs`); without, that is not said.

    Returns:
        The path of index.html.

    Raises:
        ValueError: for an unknown paper, processes < 1, a file that is not the store of a sweep, or a folder that holds
            a report on something else or somebody's page; for a paper in a file as `validate.files.load`.
        OSError: for a file that cannot be read.
    """
    from theory import catalog

    given = list(dict.fromkeys(map(str, papers or ())))
    for target in given:
        if files.is_file(target) and not target.endswith(".py"):
            path = target.rpartition(":")[0]
            raise ValueError(f"{target} is one claim; a report is on a whole paper, {path}")
    with files.known(given) as names:
        if not names and not stores:
            names = [p.name for p in catalog.papers() if p.name != TEXTBOOK]
        chosen = tuple({p.name: p for name in names for p in catalog.chosen(name)}.values())
        return _written(chosen, stores, quick, Path(out), progress, processes, repair)


def _written(
    chosen: Sequence[Paper],
    stores: Sequence[Path | str],
    quick: bool,
    out: Path,
    progress: Callable[[str], None] | None,
    processes: int | None,
    repair: float | None = None,
) -> Path:
    """`write`, of papers that are known."""
    from validate.checking import listener, without_process

    of, pages = subject([p.name for p in chosen], _titles(stores))
    must_take(out, of, [*pages, *beside(chosen, pages)])
    sweeps = _sweeps(stores, out, progress)
    if not chosen:
        return render((), (), out, papers=(), sweeps=sweeps, written=_files_of(sweeps))
    parts = _parts([p.name for p in chosen], quick, out, progress)
    hear, finished = listener(progress), count(1)

    def done(at: int, _: Any) -> None:
        hear(f"{parts[at].label}: finished, {next(finished)} of {len(parts)} parts of the report")

    def lost(at: int, how: str) -> Any:
        if parts[at].kind != "claims":
            raise ChildProcessError(f"{parts[at].label}: its process {how}")
        id, less, folder, _ = parts[at].arguments
        return without_process(id, less, folder, how, hear)

    names = [p.name for p in chosen]
    tasks = [
        (files.sources(names if part.paper == ALL else [part.paper]), part.function, part.arguments) for part in parts
    ]
    found = over_processes(files.knowing, tasks, processes=processes, done=done, heard=hear, lost=lost)
    by_kind: dict[str, dict[str, Any]] = {}
    checked: dict[str, list[Result]] = {}
    for part, what in zip(parts, found, strict=True):
        if part.kind == "claims":
            checked.setdefault(part.paper, []).append(what)
        else:
            by_kind.setdefault(part.kind, {})[part.paper] = what
    place = {c.id: at for p in chosen for at, c in enumerate(p)}
    trust = [_false_alarms(checked[TEXTBOOK])]
    experiments = [by_kind["experiments"][p.name] for p in chosen if p.name in by_kind.get("experiments", {})]
    (setter,) = by_kind["formulas"].values()
    results = [result for p in chosen for result in sorted(checked[p.name], key=lambda result: place[result.id])]
    if repair is not None:
        from validate.repairs.several import instead_of

        instead = instead_of(results, repair, processes, hear)
        results = [replace(one, severity=instead[one.id].severity) if one.id in instead else one for one in results]
    return render(
        results,
        experiments,
        out,
        papers=chosen,
        sweeps=sweeps,
        trust=trust,
        quick=quick,
        setter=setter,
        written=_files_of((*experiments, *sweeps)),
        bounds=_bounds(chosen, results, progress),
    )


def _bounds(
    papers: Sequence[Paper], results: Sequence[Result], progress: Callable[[str], None] | None
) -> tuple[Tightest, ...]:
    """Of papers by family, which bound is the least where."""
    from validate.compare.tightest import grid, tightest

    if not all(p.family for p in papers):
        return ()
    if progress:
        progress("all papers: which bound is the least where")
    claims = [claim for p in papers for claim in p]
    return tightest(claims, grid(kappas=(10, 1000)), {result.id: result.verdict for result in results})


def _files_of(experiments: Iterable[Experiment]) -> list[Path]:
    """What was written for experiments."""
    return [Path(path) for e in experiments for path in (*(figure.path for figure in e.figures), *e.data)]


def _titles(stores: Sequence[Path | str]) -> list[str]:
    """The names of the sweeps that stores hold."""
    from validate.sweep.summary import title_of

    return [title_of(store) for store in stores]


def _sweeps(stores: Sequence[Path | str], out: Path, progress: Callable[[str], None] | None) -> list[Experiment]:
    """What stores say, each in a folder of its own."""
    from validate.sweep.summary import experiment_of

    found = []
    for at, store in enumerate(stores, 1):
        if progress:
            progress(f"sweep {at}: reading {store}")
        found.append(experiment_of(store, out / f"sweep-{at}", f"sweep-{at}"))
    return found


class Part(NamedTuple):
    """A part of the work on a report, which does not need the others.

    Attributes:
        kind: "claims", "formulas" or "experiments".
        paper: whose; `ALL` for the formulas.
        function: of a module.
        arguments: of it.
        what: the kind in words, or the claim.
        effort: what takes long is begun first; begun last, it would be waited for alone.
    """

    kind: str
    paper: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    what: str = ""
    effort: int = 10

    @property
    def label(self) -> str:
        """In words."""
        return f"{self.paper}: {self.what or self.kind}"


def _parts(papers: Sequence[str], quick: bool, out: Path, progress: Callable[[str], None] | None = None) -> list[Part]:
    """The work on a report on these papers, what takes longest first."""
    from theory import catalog
    from validate.checking import check_by_id, efforts

    found = [Part("experiments", p, _experiment, (p, quick, out)) for p in papers if _redrawn(p, progress)]
    found.append(Part("formulas", ALL, _formulas, (tuple(papers),)))
    every = [(papers, quick, out)]
    if TEXTBOOK not in papers:
        every.append(((TEXTBOOK,), True, out / TEXTBOOK))
    for names, less, folder in every:
        claims = [claim for name in names for claim in catalog.paper(name)]
        effort = efforts(claims, folder)
        found += [Part("claims", c.paper, check_by_id, (c.id, less, folder, 0), c.label, effort[c.id]) for c in claims]
    return sorted(found, key=lambda part: -part.effort)


def _redrawn(paper: str, progress: Callable[[str], None] | None) -> bool:
    """Whether the report has a paper's experiments; where they are not installed, it is said that it has not."""
    try:
        return reproduction(paper) is not None
    except NotInstalledError as error:
        if progress:
            progress(f"left out: {error}")
        return False


def _experiment(name: str, quick: bool, out: Path) -> Experiment:
    """One paper's experiments, in a folder of their own: papers number their figures alike."""
    reproduce = reproduction(name)
    assert reproduce is not None
    return reproduce(out=out / name, quick=quick, progress=lambda text: tell(f"{name}: {text}"))


def _formulas(names: Sequence[str]) -> Typesetter:
    """All formulas of papers, which takes a while."""
    from theory import catalog

    return typeset([catalog.paper(name) for name in names])


def _false_alarms(known: Sequence[Result]) -> str:
    """What the toolkit says of results that are known to be true."""
    alarms = sum(r.verdict in ("refuted", "vacuous") or r.broken for r in known)
    said = Counter(r.verdict for r in known)
    counts = ", ".join(f"{times} {name}" for name, times in sorted(said.items()))
    what = f"{counts}; {alarms} false alarms (refuted, vacuous or broken)"
    many = counted(len(known), "result")
    known_to = "is" if len(known) == 1 else "are"
    return f"{many} of the textbooks that {known_to} known to be true: {what}."
