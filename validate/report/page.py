"""The report as pages: the findings, a page a paper, a sheet a refutation and a page a sweep, each whole in itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from validate.compare.comparison import QUANTITIES, WHERE
from validate.experiment import Experiment
from validate.report.claim import ClaimView, sheet_file
from validate.report.figures import experiment_view
from validate.report.folder import Folder
from validate.report.formula import Typesetter
from validate.report.mailed import mail
from validate.report.prose import prose
from validate.report.readable import finite, number, ratio, slug
from validate.report.refutations import find
from validate.report.resting import pictures
from validate.report.sheet import Sheet, latex, markdown, sheet
from validate.report.summary import in_words
from validate.report.views import ORDER, SYMBOLS, PaperView, Tally, experiments_file, paper_view
from validate.verdict import KNOWN, MEANING, ORIGINS, Result
from validate.worked import LONGEST, Formula, Shown

if TYPE_CHECKING:
    from jinja2 import Environment

    from theory.claim import Paper
    from validate.compare.tightest import Tightest

TEMPLATES = Path(__file__).parent / "templates"
WAYS = {
    "algebra": "algebra",
    "hypotheses": "hypotheses",
    "exact": "exact values",
    "search": "search",
    "certificate": "certificate",
}
OUTCOMES = {
    "proved": "∎",
    "holds": "✓",
    "fails": "✗",
    "refuted": "✗",
    "vacuous": "∅",
    "undecided": "?",
    "cited": "§",
}


def render(
    results: Sequence[Result],
    experiments: Sequence[Experiment],
    out: Path | str,
    *,
    papers: Sequence[Paper] | None = None,
    sweeps: Sequence[Experiment] = (),
    trust: Sequence[str] = (),
    quick: bool | None = None,
    setter: Typesetter | None = None,
    written: Iterable[Path] = (),
    bounds: Sequence[Tightest] = (),
) -> Path:
    """Write the report's pages and OUT/report.json from verdicts and experiments that are there already.

    OUT/index.html has the findings, OUT/PAPER.html a paper's claims, OUT/experiments-PAPER.html its experiments,
    OUT/sheet-PAPER-LABEL.html a refutation worked out by hand, OUT/sweep-N.html a sweep; a single
    sweep without papers is index.html itself. What an earlier report left in OUT is removed (`validate.report.folder`).
    OUT.zip beside the folder has the same with everything that the pages link to (`validate.report.mailed`).

    Args:
        results: verdicts; a claim without one is shown as not checked.
        experiments: of any of the papers.
        out: folder; made when missing.
        papers: the papers shown; those of the results, from the catalogue, without.
        sweeps: what stores say (`validate.sweep.summary`), each with a label of its own in place of a paper's name.
        trust: lines on how far the verdicts can be trusted.
        setter: has set some of the formulas already, from `typeset`.
        quick: whether the pages call themselves a quick or a full report; None for neither.
        written: files in OUT that were written for this report, besides what is written here: an experiment's figures.
        bounds: of papers by family, which bound is the least where (`validate.compare.tightest`).

    Returns:
        The path of index.html.
    """
    from theory.feasible import smt

    out = Path(out)
    if papers is None:
        from theory import catalog

        names = dict.fromkeys(r.id.split("/", 1)[0] for r in results)
        papers = [catalog.paper(name) for name in names]
    of, files = subject([p.name for p in papers], [sweep.title for sweep in sweeps])
    folder = Folder(out, of, [*files, *beside(papers, files)])
    text = json.dumps([finite(r.to_json()) for r in results], indent=2, ensure_ascii=False, allow_nan=False)
    folder.write("report.json", text + "\n")

    by_id = {r.id: r for r in results}
    setter = setter or Typesetter()
    alone = not papers and len(sweeps) == 1
    views = [
        paper_view(paper, file, by_id, experiments, setter, out) for paper, file in zip(papers, files, strict=False)
    ]
    redrawn = [view for view in views if view.experiments]
    sweep_views = [
        experiment_view(sweep, out, "index.html" if alone else file)
        for sweep, file in zip(sweeps, ["index.html"] if alone else files[len(views) :], strict=True)
    ]
    for experiment in (*(e for view in views for e in view.experiments), *sweep_views):
        folder.wrote(experiment.copies)
        folder.uses(experiment.links)
    folder.wrote(written)
    environment = _environment(
        by_family=bool(views) and all(view.paper.family for view in views),
        pictures=pictures(views, rows=True),
        bounds=bounds,
        quantities=QUANTITIES,
        where=WHERE,
        rows={c.claim.id: c.row for view in views for c in view.claims},
        targets=_targets(views),
        sureness=KNOWN,
        meaning=MEANING,
        symbols=SYMBOLS,
        order=ORDER,
        outcomes=OUTCOMES,
        ways=WAYS,
        verifier=(out / "certificates" / "verify.py").exists(),
        quick=quick,
        papers=views,
        sweeps=sweep_views,
        trust=trust,
        summary=in_words(views) if views else "",
        tally=Tally(tuple(c for view in views for c in view.printed)),
        origins=ORIGINS,
        missing=smt.missing(),
    )
    for view in views:
        drawn = pictures([view])
        _write(environment, setter, folder, view.page, "paper.html", view.paper.title, view=view, drawn=drawn)
        for c in view.claims:
            if c.sheet:
                made = _sheet(c, view, by_id, out)
                own = _on_sheet(made, setter)
                _write(environment, setter, folder, c.sheet, "sheet.html", made.heading, c=c, view=view, **own)
    for view in redrawn:
        title = f"{view.paper.title}: experiments"
        _write(environment, setter, folder, view.experiments_page, "experiments.html", title, view=view)
    for sweep in sweep_views:
        _write(environment, setter, folder, sweep.page, "sweep.html", sweep.experiment.title, sweep=sweep)
    if not alone:
        _write(
            environment, setter, folder, "index.html", "index.html", ", ".join(v.paper.name for v in views) or "sweeps"
        )
    folder.settle()
    sheets = (c.sheet for view in views for c in view.claims if c.sheet)
    experiments_pages = (view.experiments_page for view in redrawn)
    sweep_pages = (sweep.page for sweep in sweep_views)
    mail(out, {"index.html", *(view.page for view in views), *sheets, *experiments_pages, *sweep_pages})
    return out / "index.html"


def beside(papers: Iterable[Paper], files: Iterable[str]) -> list[str]:
    """The files that a report on papers may write beside their pages: sheets, and pages of experiments.

    Args:
        papers: the papers.
        files: of their pages.
    """
    sheets = [sheet_file(claim.id) for paper in papers for claim in paper]
    return [*sheets, *(experiments_file(file) for file in files)]


def _sheet(c: ClaimView, view: PaperView, results: Mapping[str, Result], out: Path) -> Sheet:
    """The sheet on a refuted claim; its certificate is where the report has it."""
    result = results[c.claim.id]
    path = find(Path(result.certificate), out) if c.refutation and result.certificate else None
    made = sheet(
        c.claim, view.paper, {**results, c.claim.id: replace(result, certificate=None if path is None else str(path))}
    )
    return replace(made, file=c.refutation.link if c.refutation else "")


def _on_sheet(made: Sheet, setter: Typesetter) -> dict[str, Any]:
    """What the template of a sheet takes of it."""

    def piece(one: str | Formula | Shown) -> str | Markup:
        if isinstance(one, Formula):
            return Markup('<span class="math">{}</span>').format(setter.display(one.latex, one.text))
        if isinstance(one, Shown) and len(one.text) <= LONGEST:  # a number is not broken, a vector may be
            return Markup('<span class="n">{}</span>').format(one.text)
        return one.text if isinstance(one, Shown) else one

    return {
        "sheet": made,
        "steps": [[piece(one) for one in step] for step in (made.worked.steps if made.worked else ())],
        "certificate_text": json.dumps(made.certificate, ensure_ascii=False, indent=1),
        "copies": {"markdown": markdown(made), "latex": latex(made)},
    }


def _targets(views: Sequence[PaperView]) -> list[str]:
    """What a reader gives a command for all of these papers: a collection's name where they are one."""
    from theory.catalog import COLLECTIONS

    names = {view.paper.name for view in views if not view.own}
    return [name for name, modules in COLLECTIONS.items() if names == set(modules)] or [view.target for view in views]


def typeset(papers: Sequence[Paper]) -> Typesetter:
    """The formulas of papers, set before there are verdicts."""
    setter = Typesetter()
    for paper in papers:
        paper_view(paper, "", {}, (), setter, Path())
    return setter


def subject(papers: Sequence[str], sweeps: Sequence[str]) -> tuple[list[str], list[str]]:
    """What a report on papers and sweeps, given by name, is on, and the file names of its pages."""
    if not papers and len(sweeps) == 1:
        return list(sweeps), []
    return [*papers, *sweeps], file_names(papers, [f"sweep-{at}" for at in range(1, len(sweeps) + 1)])


def file_names(*groups: Iterable[str]) -> list[str]:
    """A file for every name, in their order, no two alike and none index.html.

    Example:
        >>> file_names(["one", "index"], ["sweep-1"])
        ['one.html', 'index-2.html', 'sweep-1.html']
    """
    found: list[str] = []
    for name in (name for group in groups for name in group):
        stem, at = slug(name) or "paper", 1
        file = f"{stem}.html"
        while file == "index.html" or file in found:
            at += 1
            file = f"{stem}-{at}.html"
        found.append(file)
    return found


def _environment(**shared: Any) -> Environment:
    """The templates, with what all pages share."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(number=number, prose=prose, ratio=ratio)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.globals.update(shared)
    return environment


def _write(
    environment: Environment, setter: Typesetter, folder: Folder, page: str, template: str, title: str, **own: Any
) -> None:
    """One page: its body first, as the frame holds the glyphs that the body uses."""
    body = environment.get_template(template).render(page=page, **own)
    html = environment.get_template("frame.html").render(
        body=Markup(body), glyphs=setter.definitions(body), page=page, title=title
    )
    folder.write(page, html)
