"""Papers, claims and proofs as their pages show them: formulas set, evidence in a sentence, versions side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from theory.written import Claim as Written
from validate.experiment import Experiment
from validate.files import source_of, target_of
from validate.report.chart import figure, numbers_file
from validate.report.figures import ExperimentView, experiment_view
from validate.report.formula import Typesetter
from validate.report.play import play
from validate.report.refutations import Refutation, refutation
from validate.report.words import slug
from validate.verdict import ORIGINS, Result

if TYPE_CHECKING:
    from theory.claim import Claim, Paper, Step
    from validate.replay.proof import Line, Replay

SYMBOLS = {"refuted": "✗", "vacuous": "∅", "undecided": "?", "supported": "✓", "proved": "∎"}
ORDER = tuple(SYMBOLS)
RELATIONS = {"<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "=": "="}
# What a reader wants to know of first.
KINDS = ("theorem", "corollary", "proposition", "lemma", "remark", "equation", "definition")
STRONGEST = 3
# The tone of a proof line's outcome, as the verdicts have it.
TONES = {
    "proved": "proved",
    "holds": "supported",
    "fails": "refuted",
    "refuted": "refuted",
    "undecided": "undecided",
    "cited": "undecided",
}


@dataclass(frozen=True)
class StepView:
    """A proof step, typeset, with the verdict of the claim that encodes it, and what its replay found.

    Attributes:
        step: the line.
        formula: typeset.
        result: the verdict of the claim that encodes it, or None.
        line: what its replay found, or None.
        mark: what sets it apart from the others of its proof; empty for most.
        fault: whether it is the first false line of the proof, or the one at which the proof breaks.
        anchor: id of the line in its page.
    """

    step: Step
    formula: Markup
    result: Result | None
    line: Line | None
    mark: str
    fault: bool
    anchor: str

    @property
    def tone(self) -> str:
        """The style of the line's outcome."""
        return TONES[self.line.outcome] if self.line else ""


@dataclass(frozen=True)
class ClaimView:
    """A claim with all that its page shows of it.

    Attributes:
        claim: as in the catalogue, a `theory.claim.Claim`; `WrittenView` has the claims that say what they mean.
        result: its verdict, or None where it was not checked.
        formula: typeset.
        headline: the sentence of evidence that says most.
        steps: its proof.
        refutation: what its certificate says, or None.
        repairs: the claims that amend it.
        breaks: where its proof breaks, in words; empty without a replay.
        chart: both sides over the rounds, drawn, or None.
        start: values of its parameters at which the page's sliders start, or None.
    """

    claim: Any
    result: Result | None
    formula: Markup
    headline: str
    steps: tuple[StepView, ...]
    refutation: Refutation | None
    repairs: tuple[ClaimView, ...]
    breaks: str = ""
    chart: Markup | None = None
    start: Mapping[str, Any] | None = None

    written: ClassVar[bool] = False

    @property
    def equation(self) -> str:
        """The paper's number for it; may be empty."""
        return str(self.claim.equation)

    @property
    def title(self) -> str:
        """A few words."""
        return str(self.claim.title)

    @property
    def name(self) -> str:
        """Number and title."""
        return ", ".join(part for part in (self.equation, self.title) if part)

    @property
    def short(self) -> str:
        """Its number, or its title where it has none."""
        return self.equation or self.title

    @property
    def amends(self) -> str | None:
        """The id of the claim that it repairs."""
        found: str | None = self.claim.amends
        return found

    @cached_property
    def play(self) -> dict[str, Any] | None:
        """The claim's formulas and parameters for the page's sliders, or None; made when the page asks for them."""
        return play(self.claim, self.start)

    @property
    def verdict(self) -> str:
        """The verdict's name, "undecided" for a claim that was not checked."""
        return self.result.verdict if self.result else "undecided"

    @property
    def target(self) -> str:
        """What a command takes for the claim."""
        return target_of(self.claim.id)

    @property
    def anchor(self) -> str:
        """Id of the claim's section in its page."""
        return slug(self.claim.id)

    @property
    def version(self) -> str:
        """Whether the claim is as printed, a repair, or a reading."""
        return "repair" if self.claim.amends is not None else "reading" if self.claim.reading else "printed"

    @property
    def origin(self) -> str:
        """Where what breaks it comes from; empty for a claim that nothing broke."""
        found = self.result.break_found if self.result else None
        return found.origin if found else ""

    @property
    def broken(self) -> bool:
        """Whether something broke it without refuting it."""
        return self.result is not None and self.result.broken and self.verdict == "undecided"

    @property
    def budget(self) -> str:
        """Of a supported claim, the search that did not break it."""
        return self.result.budget if self.result and self.verdict == "supported" else ""

    @property
    def covered(self) -> str:
        """What was varied; or what was not, where that is why the claim is not supported."""
        return self.result.covered if self.result else ""

    @property
    def tightness(self) -> float | None:
        """The largest left / right side found, or None."""
        return self.result.tightness if self.result else None

    @property
    def faults(self) -> tuple[StepView, ...]:
        """The first false line of its proof and the one at which the proof breaks, which may be the same."""
        return tuple(step for step in self.steps if step.fault)


@dataclass(frozen=True)
class Tally:
    """How many of some claims have which verdict, and where what refutes them comes from.

    Attributes:
        claims: that are counted.
    """

    claims: tuple[ClaimView, ...]

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Verdicts: name, symbol and how many, without those that do not occur."""
        found = [(name, symbol, sum(c.verdict == name for c in self.claims)) for name, symbol in SYMBOLS.items()]
        return [entry for entry in found if entry[2]]

    @property
    def origins(self) -> list[tuple[str, str, int]]:
        """Of the refuted claims: every origin, what it means, and how many of them have it."""
        refuted = [c for c in self.claims if c.verdict == "refuted"]
        return [(name, text, sum(c.origin == name for c in refuted)) for name, text in ORIGINS.items() if refuted]

    @property
    def broken(self) -> int:
        """How many are broken and not refuted: without a certificate."""
        return sum(c.broken for c in self.claims)

    @property
    def budgets(self) -> list[tuple[str, int]]:
        """Of the supported claims: the searches that did not break them, and how many had which."""
        return list(Counter(c.budget for c in self.claims if c.budget).items())


@dataclass(frozen=True)
class PaperView:
    """A paper with its claims and experiments, the file of its page, and the files of its claims' numbers."""

    paper: Paper
    page: str
    claims: tuple[ClaimView, ...]
    experiments: tuple[ExperimentView, ...]
    files: tuple[Path, ...] = ()

    @property
    def target(self) -> str:
        """What a command takes for the paper."""
        return target_of(self.paper.name)

    @property
    def own(self) -> bool:
        """Whether it is from an author's file, and not installed."""
        return source_of(self.paper.name) is not None

    @cached_property
    def by_id(self) -> dict[str, ClaimView]:
        """Its claims by id."""
        return {c.claim.id: c for c in self.claims}

    @cached_property
    def printed(self) -> tuple[ClaimView, ...]:
        """Its claims as printed."""
        return tuple(c for c in self.claims if c.version == "printed")

    @property
    def tally(self) -> Tally:
        """Of its claims as printed."""
        return Tally(self.printed)

    def having(self, verdict: str, *versions: str) -> list[ClaimView]:
        """Claims of a verdict among the versions: those that something broke first, then theorems."""

        def order(c: ClaimView) -> tuple[bool, int]:
            return not c.broken, KINDS.index(c.claim.kind) if c.claim.kind in KINDS else len(KINDS)

        return sorted((c for c in self.claims if c.verdict == verdict and c.version in versions), key=order)

    @property
    def strongest(self) -> list[ClaimView]:
        """The refutations that a reader should see first: of what is printed, then of readings."""
        found = [*self.having("refuted", "printed"), *self.having("refuted", "reading")]
        return found[:STRONGEST]


def paper_view(
    paper: Paper,
    page: str,
    results: Mapping[str, Result],
    experiments: Sequence[Experiment],
    setter: Typesetter,
    out: Path,
    replays: Mapping[str, Replay],
    predicted: Mapping[str, Any],
) -> PaperView:
    """All that a paper's page shows.

    Args:
        paper: of the catalogue.
        page: the name of its file in OUT.
        results, replays, predicted: by the claim's id.
        experiments: of any of the papers.
        setter: sets the formulas.
        out: folder of the page, for links.
    """
    from validate.report.written import written_view

    made: dict[str, ClaimView] = {}
    amends: dict[str, list[Any]] = {}
    for claim in paper:
        amended = claim.amended if isinstance(claim, Written) else claim.amends
        if amended:
            amends.setdefault(amended, []).append(claim)

    def view(claim: Any) -> ClaimView:
        if claim.id not in made and isinstance(claim, Written):
            repairs = tuple(view(repair) for repair in amends.get(claim.id, ()))
            made[claim.id] = written_view(claim, results.get(claim.id), repairs, setter, out)
        elif claim.id not in made:
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
                start=predicted[claim.id].parameters if claim.id in predicted else None,
                chart=figure(predicted[claim.id], out) if claim.id in predicted else None,
            )
        return made[claim.id]

    return PaperView(
        paper=paper,
        page=page,
        claims=tuple(view(claim) for claim in paper),
        experiments=tuple(experiment_view(e, out, page) for e in experiments if e.paper == paper.name),
        files=tuple(numbers_file(predicted[claim.id].claim, out) for claim in paper if claim.id in predicted),
    )


def _step_views(
    claim: Claim, results: Mapping[str, Result], setter: Typesetter, replayed: Replay | None
) -> tuple[StepView, ...]:
    views = []
    lines: Sequence[Line | None] = replayed.lines if replayed else [None] * len(claim.steps)
    false, broken = (replayed.first_false, replayed.first_break) if replayed else (None, None)
    for at, (step, line) in enumerate(zip(claim.steps, lines, strict=True), start=1):
        views.append(
            StepView(
                step=step,
                formula=setter.display(
                    f"{step.left} {RELATIONS[step.relation]} {step.right}", f"{step.left} {step.relation} {step.right}"
                ),
                result=results.get(step.claim) if step.claim else None,
                line=line,
                mark=_mark(line, false, broken),
                fault=line is not None and (line is false or line is broken),
                anchor=f"{slug(claim.id)}-line-{at}",
            )
        )
    return tuple(views)


def _mark(line: Line | None, false: Line | None, broken: Line | None) -> str:
    """What sets a line apart from the others of its proof."""
    if line is None:
        return ""
    if line is false and line is broken:
        return "the first false line; here the proof breaks"
    if line is false:
        return "the first false line; the conclusion does not depend on it"
    if line is broken:
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


def headline(result: Result | None) -> str:
    """The one sentence of evidence that says most for the verdict."""
    if result is None:
        return "Not checked."
    if not result.evidence:
        return "No evidence."
    text = result.telling
    first = re.match(r".{25,}?\.(?=\s|$)", text, re.DOTALL)
    sentence = first.group() if first else text
    return sentence if len(sentence) <= 260 else f"{sentence[:257].rsplit(' ', 1)[0]} …"
