"""The scenarios that the claims of a paper are held against, and what the exact oracle sees of a claim there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from theory.claim import Claim
from validate.assumptions import unmet, where_met
from validate.bounds import Cases, Comparison, compare, compare_all, defined
from validate.description import in_words
from validate.scenario import Scenario, read_scenario
from validate.verdict import BEYOND, Evidence

Progress = Callable[[str], None]

KEPT = 2  # pools: whoever checks claims one after another asks for the same one every time
_kept: list[tuple[Any, Pool]] = []  # the latest last, each after what it was made from


@dataclass(frozen=True)
class Pool:
    """The scenarios that the claims of one paper are held against.

    Attributes:
        instances: scalar instances, with the specification that certificates carry; each is named by its place.
        scenarios: others, in float64.
        given: instances that were written by hand for some claim; they are tried last, and are no support.
        quick: whether it is the smaller pool, of a quick check.
    """

    instances: tuple[tuple[dict[str, Any], Scenario], ...]
    scenarios: tuple[Scenario, ...]
    given: tuple[tuple[dict[str, Any], Scenario], ...] = ()
    quick: bool = False

    def by_hand(self) -> Pool:
        """What was written by hand, as a pool of its own."""
        return Pool(self.given, ())

    def all(self) -> Iterator[tuple[dict[str, Any] | None, Scenario]]:
        """Every scenario, with its specification where it has one."""
        yield from self.instances
        yield from ((None, scenario) for scenario in self.scenarios)

    def __len__(self) -> int:
        return len(self.instances) + len(self.scenarios)


def pool_of(module: ModuleType, quick: bool, tell: Progress, paper: str) -> Pool:
    """A paper's scenarios, with their moments; those whose moments leave the range of floats are left out.

    The pools asked for last are kept for the process.

    Args:
        module: the paper's module, from `validate.papers.module`.
        quick: fewer of them.
        tell: called with one line of text.
        paper: its name, for that text.
    """
    source = (module.instances, module.scenarios, quick)
    found = next((pool for made_from, pool in _kept if made_from == source), None)
    if found is None:
        found = _made(module, quick, tell, paper)
    _kept[:] = [*(one for one in _kept if one[0] != source), (source, found)][-KEPT:]
    return found


def _made(module: ModuleType, quick: bool, tell: Progress, paper: str) -> Pool:
    instances = _read(list(module.instances(quick)), "instance", tell, paper)
    by_hand: Callable[[], Iterator[dict[str, Any]]] | None = getattr(module, "given", None)
    given = _read(list(by_hand()), "given instance", tell, paper) if by_hand is not None else ()
    tell(f"{paper}: exact moments of scenarios in several dimensions")
    return Pool(instances, tuple(s for s in module.scenarios(quick) if s.stays_finite()), given, quick)


def _read(specs: list[dict[str, Any]], name: str, tell: Progress, paper: str) -> tuple[Any, ...]:
    found = []
    for i, spec in enumerate(specs, start=1):
        if i % 500 == 1:
            tell(f"{paper}: exact moments of {name} {i} of {len(specs)}")
        scenario: Any = read_scenario(spec, exact=False, name=f"{name} {i}")
        if scenario.stays_finite():
            found.append((spec, scenario))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Seen:
    """A scenario to which a claim applies and that satisfies all its hypotheses.

    Attributes:
        spec: its specification, for a scalar instance; else None.
        scenario: the scenario, with its moments.
        cases: both the claim's left side and its parameters there.
        comparison: how the two sides compare.
    """

    spec: dict[str, Any] | None
    scenario: Any
    cases: Cases
    comparison: Comparison


@dataclass(frozen=True)
class Survey:
    """What the exact oracle saw of a claim over a pool of scenarios, in floats.

    Attributes:
        pool: scenarios in the pool.
        seen: those to which the claim applies and that satisfy all its hypotheses.
        cases: index values compared there.
        suspects: specifications of the scalar instances that seem to break the claim.
        hidden: specifications of the other scalar instances in which sides seem to break it that floats may see as
            rounding only; fractions decide.
        others: other scenarios that seem to break it, in words.
        tightness: largest left / right, or None.
        tightness_unbroken: the same over the scenarios that do not seem to break it.
        each: the scenarios seen, in the pool's order, with the cases at which both sides are numbers.
        undefined: scenarios in which a side is undefined (a division by zero, the root of a negative number) at some
            case, which then says nothing; those in which it is so at every case are not among the ones seen.
        excluded: those to which the claim applies, each with its cases, and that violate a hypothesis.
        silent: those of which the claim does not speak.
    """

    pool: int
    seen: int
    cases: int
    suspects: tuple[dict[str, Any], ...]
    others: tuple[str, ...]
    tightness: float | None
    tightness_unbroken: float | None
    each: tuple[Seen, ...] = field(default=(), repr=False)
    undefined: int = 0
    excluded: tuple[tuple[Any, Cases], ...] = field(default=(), repr=False)
    silent: tuple[Any, ...] = field(default=(), repr=False)
    hidden: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def tightest(self, broken: bool) -> dict[str, Any] | None:
        """Where left / right is largest, in words, and both sides there; None where no right side is positive.

        Args:
            broken: among all scenarios, not only those that do not seem to break the claim.
        """
        known = [one for one in self.each if one.comparison.tightness is not None]
        most = max(
            (one for one in known if broken or not one.comparison.broken),
            key=lambda one: float(one.comparison.tightness or 0),
            default=None,
        )
        if most is None or most.comparison.right <= 0:  # of several cases another one breaks it by more
            return None
        sides = {"left": most.comparison.left, "right": most.comparison.right}
        return {"scenario": in_words(most.scenario, most.spec), **sides}

    def evidence(self, rounding: int, unhidden: bool = False) -> list[Evidence]:
        """For the reader; `rounding` of the suspects were cleared by exact arithmetic.

        Args:
            rounding: how many.
            unhidden: whether fractions found that one of `hidden` breaks the claim.
        """
        if not self.seen:
            if not self.undefined:
                return []
            text = (
                f"a side is undefined in all {self.undefined} scenarios that satisfy the hypotheses: they say nothing"
            )
            return [Evidence("exact", "undecided", text, data={"scenarios": 0, "undefined": self.undefined})]
        found = [
            Evidence(
                "hypotheses",
                "holds",
                f"its hypotheses, those silently used included, hold together: in {self.seen} of {self.pool} scenarios",
            )
        ]
        broken = len(self.suspects) - rounding + len(self.others) + unhidden
        data: dict[str, Any] = {"scenarios": self.seen, "cases": self.cases, "broken": broken}
        data["cleared_by_exact_arithmetic"] = rounding
        data["undefined"] = self.undefined
        beside = f"; undefined in {self.undefined} scenarios, at some of their cases or all" if self.undefined else ""
        tightest = self.tightest(broken=broken > 0)
        if tightest is not None:
            data["tightest"] = tightest
        if broken:
            text = f"broken in {broken} of {self.seen} scenarios ({self.cases} cases) by the exact oracle, in floats"
            text += "; in one as fractions show, where floats may be rounding" if unhidden else ""
            if self.tightness:
                text += f"; left side up to {self.tightness:.6g} times the right side"
            if tightest is not None and tightest["left"] > BEYOND * tightest["right"]:
                text += f": {tightest['left']:.6g} against {tightest['right']:.6g} on {tightest['scenario']}"
            if len(self.suspects) == rounding and not unhidden:
                text += "; none of them is a scalar instance in fractions, of which certificates are"
                text += "" if str(self.others[0]) in text else f": seen on {self.others[0]}"
            return [*found, Evidence("exact", "fails", text + beside, tightness=self.tightness, data=data)]
        text = f"never broken in {self.seen} scenarios ({self.cases} cases) by the exact oracle"
        if self.tightness_unbroken:
            text += f"; left side at most {self.tightness_unbroken:.6g} times the right side"
        if rounding:
            breaks = "break seen in floats is" if rounding == 1 else "breaks seen in floats are"
            text += f"; {rounding} {breaks} rounding, as fractions show"
        return [*found, Evidence("exact", "holds", text + beside, tightness=self.tightness_unbroken, data=data)]


def survey(claim: Claim, module: ModuleType, pool: Pool) -> Survey:
    """Both sides on every scenario to which the claim applies."""
    applies: list[tuple[dict[str, Any] | None, Scenario, Cases]] = []
    excluded: list[tuple[Any, Cases]] = []
    silent: list[Any] = []
    for spec, scenario in pool.all():
        cases = module.cases(claim, scenario)
        kept = None if cases is None else where_met(claim, cases)
        if cases is None:
            silent.append(scenario)
        elif kept is None or unmet(claim, scenario, kept.parameters_at(0)):
            excluded.append((scenario, cases))
        else:
            applies.append((spec, scenario, kept))
    each, undefined = _compared(claim, applies)
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for one in each:
        if one.comparison.tightness is not None:
            ratios[one.comparison.broken].append(one.comparison.tightness)
    broken = [one for one in each if one.comparison.broken]
    return Survey(
        pool=len(pool),
        seen=len(each),
        cases=sum(one.comparison.cases for one in each),
        suspects=tuple(one.spec for one in broken if one.spec is not None),
        others=tuple(in_words(one.scenario) for one in broken if one.spec is None),
        tightness=max(ratios[True] + ratios[False], default=None),
        tightness_unbroken=max(ratios[False], default=None),
        each=each,
        undefined=undefined,
        excluded=tuple(excluded),
        silent=tuple(silent),
        hidden=tuple(
            one.spec for one in each if one.spec is not None and one.comparison.hidden and not one.comparison.broken
        ),
    )


def _compared(
    claim: Claim, applies: list[tuple[dict[str, Any] | None, Scenario, Cases]]
) -> tuple[tuple[Seen, ...], int]:
    """The scenarios with what was compared on them, and in how many a side is undefined somewhere."""
    comparisons: list[Comparison | None]
    try:
        comparisons = list(compare_all(claim, [cases for _, _, cases in applies]))
    except ValueError:  # of one of them a parameter is outside its domain
        comparisons = [_alone(claim, cases) for _, _, cases in applies]
    each, undefined = [], 0
    for (spec, scenario, cases), comparison in zip(applies, comparisons, strict=True):
        if comparison is not None and not comparison.undefined:
            each.append(Seen(spec, scenario, cases, comparison))
            continue
        undefined += 1
        known = None if comparison is None else defined(claim, cases)
        if known is not None:
            each.append(Seen(spec, scenario, known, compare(claim, known)))
    return tuple(each), undefined


def _alone(claim: Claim, cases: Cases) -> Comparison | None:
    try:
        return compare(claim, cases)
    except ValueError:
        return None
