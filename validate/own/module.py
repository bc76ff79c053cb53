"""What `validate.checking` asks of a paper's module, for a paper in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from theory import catalog
from theory.claim import Claim, Paper
from validate.bounds import Cases
from validate.description import in_words
from validate.own import extremes, pool, run, units
from validate.own.claims import MeasuredClaim
from validate.own.tables import ALGORITHMS, CERTIFIED
from validate.per_run import PerRun
from validate.scenario import Spec
from validate.search import inertial_space, space
from validate.search.space import Shape
from validate.verdict import Evidence


class Source(NamedTuple):
    """The file from which a paper was loaded.

    Attributes:
        paper: its name.
        path: as it was given.
        digest: of what was in the file.
    """

    paper: str
    path: str
    digest: str


class OwnModule(ModuleType):
    """The measures, instances and scenarios of the algorithms that a paper's claims speak of.

    Args:
        paper: claims that are not made by `validate.own.claim` are not measured.
        source: its file; None for the paper of another distribution.
    """

    SAMPLED: ClassVar[dict[str, PerRun]] = {
        "squared_distance": PerRun("squared_distance", "k"),
        "suboptimality": PerRun("suboptimality", "k"),
        "squared_gradient_norm": PerRun("squared_gradient_norm", "k"),
        "next_distance": PerRun("squared_distance", "next"),
        "mean_suboptimality": PerRun("suboptimality", "mean"),
        "mean_squared_gradient_norm": PerRun("squared_gradient_norm", "mean"),
    }

    def __init__(self, paper: Paper, source: Source | None = None) -> None:
        super().__init__(f"measures of {paper.name}")
        self.source = source
        spoken_of = {(claim.algorithm, claim.participation) for claim in paper if isinstance(claim, MeasuredClaim)}
        self.algorithms = [name for name in ALGORITHMS if any(name == algorithm for algorithm, _ in spoken_of)]
        self.drawn, self.undivided = (
            [name for name in ALGORITHMS if (name, kind) in spoken_of] for kind in ("uniform", "independent-mean")
        )

    def cases(self, claim: Claim, scenario: Any) -> Cases | None:
        """See `validate.own.run.cases`."""
        return run.cases(claim, scenario)

    def instances(self, quick: bool = False) -> Iterator[Spec]:
        """See `validate.own.pool.instances`, and `undivided` for those of claims that do not divide by p_n."""
        return chain(pool.instances(self.algorithms, quick), pool.undivided(self.undivided, quick))

    def scenarios(self, quick: bool = False) -> Iterator[Any]:
        """See `validate.own.pool.scenarios`, and `drawn` for the algorithms of claims with uniform participation."""
        return chain(
            pool.scenarios(self.algorithms, quick),
            pool.drawn(self.drawn, quick),
            pool.undivided_scenarios(self.undivided, quick),
        )

    def for_claim(self, claim: Claim, quick: bool = False) -> tuple[list[Spec], list[Any]]:
        """See `validate.own.extremes.for_claim`; nothing for a claim that is not made by `validate.own.claim`."""
        return extremes.for_claim(claim, quick) if isinstance(claim, MeasuredClaim) else ([], [])

    def in_other_units(self, claim: Claim, each: Sequence[Any]) -> tuple[list[Spec], list[str]]:
        """What breaks the claim once curvatures and lengths are in other units; see `validate.own.units`.

        Args:
            claim: the claim.
            each: the scenarios of a survey, `validate.survey.Seen`.

        Returns:
            Specifications of scalar instances; and other scenarios, in words.
        """
        specs: list[Spec] = []
        others: list[str] = []
        for one, curvature, length in units.broken(claim, each) if isinstance(claim, MeasuredClaim) else ():
            if one.spec is not None:
                specs.append(units.respecified(one.spec, curvature, length))
            else:
                factor = f"curvatures times {curvature}" if curvature != 1 else f"lengths times {length}"
                others.append(f"{in_words(one.scenario)}, {factor}")
        return specs, others

    def sampled(self, quick: bool = False) -> Iterator[Any]:
        """See `validate.own.pool.sampled`."""
        return pool.sampled(self.algorithms, quick)

    def special(self, claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
        """Whether a break could be certified."""
        if not isinstance(claim, MeasuredClaim) or (claim.algorithm in CERTIFIED and claim.participation != "uniform"):
            return [], None
        text = f"there are no certificates for {claim.algorithm} with participation={claim.participation!r}"
        return [Evidence("certificate", "undecided", f"{text}: a break would leave the claim undecided")], None

    def covers(self, claim: Claim, scenarios: Sequence[Any]) -> bool:
        """Whether clients are absent in any of the scenarios, where a claim speaks of such.

        The claim speaks of everybody as well; but where only that was looked at, it has not been tested. So it is with
        constants that are not known otherwise, `largest_noise` and `largest_dissimilarity`.
        """
        if not isinstance(claim, MeasuredClaim) or claim.participation == "everybody":
            return True
        return any(not run.everybody(scenario) for scenario in scenarios)

    def structures(self, claim: Claim) -> Sequence[Shape]:
        """What is searched: the claim's own algorithm; its fixed points only where a certificate can have them.

        Nothing for shuffling, of which the search knows no structures. Of local SGD and FedAvg-SVRG with clients drawn
        uniformly, it knows the case that all are.
        """
        if not isinstance(claim, MeasuredClaim):
            return []
        everybody = claim.participation == "everybody"
        if claim.algorithm == "fedmim":
            every = inertial_space.structures(claim)
            return [one for one in every if not everybody or one.selected == one.clients]
        gradients = claim.quantity.name == "mean_squared_gradient_norm"
        present = claim.participation != "independent"  # elsewhere the search knows nobody who is absent
        return [
            replace(one, present=present or one.present)
            for one in space.structures(claim)
            if one.algorithm == claim.algorithm and (gradients or not one.stationary)
        ]


def of_its_claims(name: str) -> OwnModule | None:
    """The module of a paper of the catalogue some claims of which say themselves how they are measured; else None."""
    paper = next((known for known in catalog.papers() if known.name == name), None)
    if paper is None or not any(isinstance(claim, MeasuredClaim) for claim in paper):
        return None
    return OwnModule(paper)
