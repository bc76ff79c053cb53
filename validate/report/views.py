"""Papers as their pages show them: their claims, counted and in order, and their experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from validate.experiment import Experiment
from validate.files import source_of, target_of
from validate.report.claim import ClaimView, claim_view
from validate.report.figures import ExperimentView, experiment_view
from validate.report.formula import Typesetter
from validate.verdict import ORIGINS, Result

if TYPE_CHECKING:
    from theory.claim import Claim, Paper

SYMBOLS = {"refuted": "✗", "vacuous": "∅", "undecided": "?", "supported": "✓", "proved": "∎"}
ORDER = tuple(SYMBOLS)
# What a reader wants to know of first.
KINDS = ("theorem", "corollary", "proposition", "lemma", "remark", "equation", "definition")
STRONGEST = 3


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
    def known_as(self) -> str:
        """What the texts of the claims are known as."""
        return "as printed or transcribed" if any(c.from_memory for c in self.claims) else "as printed"

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
    """A paper with its claims and experiments, and the file of its page."""

    paper: Paper
    page: str
    claims: tuple[ClaimView, ...]
    experiments: tuple[ExperimentView, ...]

    @property
    def experiments_page(self) -> str:
        """The file of its experiments."""
        return experiments_file(self.page)

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
        return {c.claim.id: c for c in self.claims}

    @cached_property
    def printed(self) -> tuple[ClaimView, ...]:
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


def experiments_file(page: str) -> str:
    """The file of the experiments of the paper that has a page."""
    return f"experiments-{page}"


def paper_view(
    paper: Paper,
    page: str,
    results: Mapping[str, Result],
    experiments: Sequence[Experiment],
    setter: Typesetter,
    out: Path,
) -> PaperView:
    """All that a paper's page shows.

    Args:
        paper: of the catalogue.
        page: the name of its file in OUT.
        results: by the claim's id.
        experiments: of any of the papers.
        setter: sets the formulas.
        out: folder of the page, for links.
    """
    made: dict[str, ClaimView] = {}
    amends: dict[str, list[Claim]] = {}
    for claim in paper:
        if claim.amended:
            amends.setdefault(claim.amended, []).append(claim)

    def view(claim: Claim) -> ClaimView:
        if claim.id not in made:
            repairs = tuple(view(repair) for repair in amends.get(claim.id, ()))
            made[claim.id] = claim_view(claim, results.get(claim.id), repairs, setter, out)
        return made[claim.id]

    return PaperView(
        paper=paper,
        page=page,
        claims=tuple(view(claim) for claim in paper),
        experiments=tuple(
            experiment_view(e, out, experiments_file(page)) for e in experiments if e.paper == paper.name
        ),
    )
