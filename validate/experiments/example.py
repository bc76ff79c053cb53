"""One paper's experiments, declared; and the one way in which all of them are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.experiment import Experiment, Progress, Table
from validate.experiments.declared import told
from validate.experiments.figures import Figure
from validate.experiments.kept import Work


def nothing(found: Any) -> tuple[str, ...]:
    """No further sentences."""
    return ()


@dataclass(frozen=True)
class Example:
    """What is run and what is made of it. The functions take what `gather` gives.

    Attributes:
        paper: its name.
        title: a few words.
        setting: a dataclass of declared values (`validate.experiments.declared`).
        full, quick: how much is simulated, of one dataclass.
        gather: (work, size) -> all that was simulated.
        figures, tables: in their order.
        findings: what was not borne out, and what else a reader must know; one sentence each.
        notes: what is to be said of the settings beside what is declared, one sentence each.
    """

    paper: str
    title: str
    setting: Any
    full: Any
    quick: Any
    gather: Callable[[Work, Any], Any]
    figures: Callable[[Any], Iterable[Figure]]
    tables: Callable[[Any], Iterable[Table]]
    findings: Callable[[Any], Iterable[str]] = nothing
    notes: Callable[[Any], Iterable[str]] = nothing

    def reproduce(
        self, *, out: Path | str, quick: bool = False, progress: Progress | None = None, seed: int = 0
    ) -> Experiment:
        """Run it, or read what is finished, and draw it.

        Args:
            out: folder; figures go to ``figures/``, finished simulations to ``data/``.
            quick: the small size.
            progress: called with one line of text.
            seed: of all simulations; data that are generated have seeds of their own and stay.
        """
        out, size = Path(out), self.quick if quick else self.full
        found = self.gather(Work(out / "data", self.setting, seed, progress), size)
        if progress:
            progress("drawing")
        drawn = tuple(figure.draw(out / "figures") for figure in self.figures(found))
        small = ("This is a quick run, with less of everything.",) if quick else ()
        return Experiment(
            paper=self.paper,
            title=self.title,
            settings=(*told(self.setting, size), *self.notes(found), *small),
            figures=drawn,
            tables=tuple(self.tables(found)),
            data=tuple(drawing.path.with_suffix(".csv") for drawing in drawn),
            findings=tuple(self.findings(found)),
        )
