"""The report as a page: what the verdicts, claims, certificates and experiments become in HTML."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from validate.experiment import Experiment
from validate.report.formula import Typesetter
from validate.report.words import Side, described, explanation, finite, number, sides, slug
from validate.verdict import MEANING, Evidence, Result

if TYPE_CHECKING:
    from theory.claim import Claim, Paper, Step
    from validate.replay.proof import Line, Replay

log = logging.getLogger(__name__)

SYMBOLS = {"refuted": "✗", "vacuous": "∅", "undecided": "?", "supported": "✓", "proved": "∎"}
ORDER = tuple(SYMBOLS)
RELATIONS = {"<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "=": "="}
BREAKS = {"<=": ">", ">=": "<", "<": "≥", ">": "≤", "=": "≠"}
WAYS = {
    "algebra": "algebra",
    "hypotheses": "hypotheses",
    "exact": "exact moments",
    "sampled": "simulation",
    "search": "search",
    "order": "order in K",
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
# The tone of a proof line's outcome, as the verdicts have it.
TONES = {
    "proved": "proved",
    "holds": "supported",
    "fails": "refuted",
    "refuted": "refuted",
    "undecided": "undecided",
    "cited": "undecided",
}


def render(
    results: Sequence[Result],
    experiments: Sequence[Experiment],
    out: Path | str,
    *,
    papers: Sequence[Paper] | None = None,
    sweeps: Sequence[Experiment] = (),
    replays: Mapping[str, Replay] | None = None,
    trust: Sequence[str] = (),
    quick: bool | None = None,
    setter: Typesetter | None = None,
) -> Path:
    """Write OUT/index.html and OUT/report.json from verdicts and experiments that are there already.

    Args:
        results: verdicts; a claim without one is shown as not checked.
        experiments: of any of the papers.
        out: folder; made when missing.
        papers: the papers shown; those of the results, from the catalogue, without.
        sweeps: what stores say (`validate.sweep.summary`), each with a label of its own in place of a paper's name.
        replays: proofs replayed line by line, by the claim's id.
        trust: lines on how far the verdicts can be trusted.
        setter: has set some of the formulas already, from `typeset`.
        quick: whether the page calls itself a quick or a full report; None for neither.

    Returns:
        The path of index.html.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    if papers is None:
        from theory import catalog

        names = dict.fromkeys(r.id.split("/", 1)[0] for r in results)
        papers = [catalog.paper(name) for name in names]
    text = json.dumps([finite(r.to_json()) for r in results], indent=2, ensure_ascii=False, allow_nan=False)
    (out / "report.json").write_text(text + "\n", encoding="utf-8")

    by_id = {r.id: r for r in results}
    setter = setter or Typesetter()
    views = [_paper_view(paper, by_id, experiments, setter, out, replays or {}) for paper in papers]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(number=number)
    html = environment.get_template("index.html").render(
        papers=views,
        sweeps=[_experiment_view(sweep, out) for sweep in sweeps],
        trust=trust,
        quick=quick,
        meaning=[(name, SYMBOLS[name], MEANING[name]) for name in ORDER],
        symbols=SYMBOLS,
        outcomes=OUTCOMES,
        ways=WAYS,
        glyphs=setter.glyphs(),
        verifier=(out / "certificates" / "verify.py").exists(),
    )
    path = out / "index.html"
    path.write_text(html, encoding="utf-8")
    return path


def typeset(papers: Sequence[Paper]) -> Typesetter:
    """The formulas of papers, set before there are verdicts."""
    setter = Typesetter()
    for paper in papers:
        _paper_view(paper, {}, (), setter, Path(), {})
    return setter


@dataclass(frozen=True)
class Refutation:
    """What a finding says of a certificate: both sides, the instance in words, where it is."""

    link: str
    kind: str
    left: Side | None
    right: Side | None
    sign: str
    instance: str
    explanation: str


@dataclass(frozen=True)
class StepView:
    """A proof step, typeset, with the verdict of the claim that encodes it, and what its replay found."""

    step: Step
    formula: Markup
    result: Result | None
    line: Line | None = None
    mark: str = ""

    @property
    def tone(self) -> str:
        """The style of the line's outcome."""
        return TONES[self.line.outcome] if self.line else ""


@dataclass(frozen=True)
class ClaimView:
    """A claim with all that the page shows of it."""

    claim: Claim
    result: Result | None
    formula: Markup
    headline: str
    steps: tuple[StepView, ...]
    refutation: Refutation | None
    repairs: tuple[ClaimView, ...]
    breaks: str = ""

    @property
    def verdict(self) -> str:
        """The verdict's name, "undecided" for a claim that was not checked."""
        return self.result.verdict if self.result else "undecided"

    @property
    def anchor(self) -> str:
        """Id of the claim's section in the page."""
        return slug(self.claim.id)


def _paper_view(
    paper: Paper,
    results: dict[str, Result],
    experiments: Sequence[Experiment],
    setter: Typesetter,
    out: Path,
    replays: Mapping[str, Replay],
) -> dict[str, Any]:
    made: dict[str, ClaimView] = {}
    amends: dict[str, list[Claim]] = {}
    for claim in paper:
        if claim.amends:
            amends.setdefault(claim.amends, []).append(claim)

    def view(claim: Claim) -> ClaimView:
        if claim.id not in made:
            result = results.get(claim.id)
            made[claim.id] = ClaimView(
                claim=claim,
                result=result,
                formula=setter.display(claim.latex, claim.statement),
                headline=headline(result),
                steps=_step_views(claim, results, setter, replays.get(claim.id)),
                breaks=_breaks(replays.get(claim.id)),
                refutation=refutation(result, out, claim.relation) if result else None,
                repairs=tuple(view(repair) for repair in amends.get(claim.id, ())),
            )
        return made[claim.id]

    claims = [view(claim) for claim in paper]
    printed = [c for c in claims if c.claim.amends is None and not c.claim.reading]
    readings = [c for c in claims if c.claim.reading]
    counts = {name: sum(c.verdict == name for c in printed) for name in ORDER}
    return {
        "paper": paper,
        "claims": claims,
        "by_id": {c.claim.id: c for c in claims},
        "printed": len(printed),
        "counts": [(name, SYMBOLS[name], counts[name]) for name in ORDER if counts[name]],
        "refuted": [c for c in printed if c.verdict == "refuted"],
        "refuted_readings": [c for c in readings if c.verdict == "refuted"],
        "vacuous": [c for c in (*printed, *readings) if c.verdict == "vacuous"],
        "undecided": [c for c in (*printed, *readings) if c.verdict == "undecided"],
        "repaired": [c for c in claims if c.claim.amends is not None],
        "experiments": [_experiment_view(e, out) for e in experiments if e.paper == paper.name],
    }


def _step_views(
    claim: Claim, results: dict[str, Result], setter: Typesetter, replayed: Replay | None
) -> tuple[StepView, ...]:
    views = []
    lines: Sequence[Line | None] = replayed.lines if replayed else [None] * len(claim.steps)
    for step, line in zip(claim.steps, lines, strict=True):
        formula = setter.display(
            f"{step.left} {RELATIONS[step.relation]} {step.right}", f"{step.left} {step.relation} {step.right}"
        )
        result = results.get(step.claim) if step.claim else None
        views.append(StepView(step, formula, result, line, _mark(line, replayed)))
    return tuple(views)


def _mark(line: Line | None, replayed: Replay | None) -> str:
    """What sets a line apart from the others of its proof."""
    if line is None or replayed is None:
        return ""
    false, broken = line is replayed.first_false, line is replayed.first_break
    if false and broken:
        return "the first false line; here the proof breaks"
    if false:
        return "the first false line; the conclusion does not depend on it"
    if broken:
        return "here the proof breaks"
    return "slip" if line.slip else ""


def _breaks(replayed: Replay | None) -> str:
    """Where a proof breaks, for the summary above its lines."""
    if replayed is None:
        return ""
    if replayed.first_break is not None:
        return f"breaks at {replayed.first_break.step.label}"
    if replayed.first_false is not None:
        return f"{replayed.first_false.step.label} is false, and not needed"
    return "no false line found"


def _experiment_view(experiment: Experiment, out: Path) -> dict[str, Any]:
    numbers = {path.stem: path for path in experiment.data}
    figures = []
    for figure in experiment.figures:
        path = Path(figure.path)
        figures.append(
            {
                "title": figure.title,
                "caption": figure.caption,
                "anchor": slug(f"{experiment.paper}-{path.stem}"),
                "drawing": inline_svg(path, figure.title, experiment.paper) if path.suffix == ".svg" else None,
                "file": reachable(path, out, "figures"),
                "numbers": reachable(numbers[path.stem], out, "figures") if path.stem in numbers else None,
            }
        )
    return {"experiment": experiment, "figures": figures}


# --- certificates ----------------------------------------------------------------------------------------------------


def refutation(result: Result, out: Path, relation: str = "<=") -> Refutation | None:
    """What the certificate of a refuted claim says; None when there is none, or it cannot be read."""
    if result.certificate is None:
        return None
    path = _find(Path(result.certificate), out)
    if path is None:
        log.warning("%s: certificate %s is not there", result.id, result.certificate)
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.warning("%s: certificate %s cannot be read: %s", result.id, path, error)
        return None
    if not isinstance(content, dict):
        log.warning("%s: certificate %s is not a JSON object", result.id, path)
        return None
    kind = str(content.get("kind", ""))
    left, right = sides(content)
    return Refutation(
        link=reachable(path, out, "certificates"),
        kind=kind,
        left=left,
        right=right,
        sign=BREAKS.get(str(content.get("relation", relation)), "against"),
        instance=described(content),
        explanation=explanation(content),
    )


def headline(result: Result | None) -> str:
    """The one sentence of evidence that says most for the verdict."""
    if result is None:
        return "Not checked."
    if not result.evidence:
        return "No evidence."

    def weight(evidence: Evidence) -> tuple[bool, bool, bool]:
        return (
            evidence.outcome == result.verdict,
            evidence.outcome == "fails",
            evidence.tightness is not None and evidence.tightness == result.tightness,
        )

    text = max(result.evidence, key=weight).detail
    first = re.match(r".{25,}?\.(?=\s|$)", text, re.DOTALL)
    sentence = first.group() if first else text
    return sentence if len(sentence) <= 260 else f"{sentence[:257].rsplit(' ', 1)[0]} …"


# --- files -----------------------------------------------------------------------------------------------------------


def _find(path: Path, out: Path) -> Path | None:
    for candidate in (path, out / path, out / "certificates" / path.name):
        if candidate.is_file():
            return candidate
    return None


def reachable(path: Path, out: Path, folder: str) -> str:
    """A link from the page to a file, which is copied into OUT/folder when it lies outside OUT."""
    inside = Path(os.path.relpath(path.resolve(), out.resolve()))
    if inside.parts[:1] == ("..",) or inside.is_absolute():
        inside = Path(folder) / path.name
        (out / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / inside)
    return inside.as_posix()


def inline_svg(path: Path, title: str, paper: str) -> Markup:
    """A figure's SVG for the page: ids of its own, the page's colours, a title for screen readers, no fixed size."""
    from validate.drawing import THEME

    text = path.read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    prefix = slug(f"{paper}-{path.stem}")
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r"url\(#", f"url(#{prefix}-", text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    for colour, role in THEME.items():
        text = text.replace(colour, role)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    label = Markup(' role="img" aria-label="{}"').format(title)
    return Markup(head + str(label) + ">" + rest)
