"""All the evidence for a claim, joined into its verdict.

For every claim of a paper: the scalar lines of its proof by algebra; whether its hypotheses can hold together; both
sides on every instance and scenario of the paper, by the exact oracle; a certificate, in exact rationals and re-checked
by the stand-alone verifier, when something breaks it; the simulator as a check that does not go through the oracle's
left side; and what only this paper's claims need (orders, fixed points).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from theory.catalog import claim as find_claim
from theory.catalog import paper as find_paper
from theory.catalog import papers
from theory.claim import Claim
from validate import certificate as certificates
from validate import papers as measured
from validate.algebra import vector_evidence
from validate.assumptions import unmet
from validate.bounds import Cases, compare, compare_all
from validate.falsify import Counterexample, rounds_certificate, smallest
from validate.scenario import Scenario, read_scenario
from validate.verdict import Evidence, Outcome, Result, decide

if TYPE_CHECKING:
    from validate.replay import Replay

Progress = Callable[[str], None]
log = logging.getLogger(__name__)

# One-sided error probability of each statistical check.
ERROR_PROBABILITY = 1e-6
# Evaluations of the unguided search a claim, full and quick; the time limit is there for a slow machine only.
EVALUATIONS = {False: 40_000, True: 4_000}
SEARCH_SECONDS = 120.0


@dataclass(frozen=True)
class Pool:
    """The scenarios that the claims of one paper are held against.

    Attributes:
        instances: scalar instances, with the specification that certificates carry.
        scenarios: others, in float64.
    """

    instances: tuple[tuple[dict[str, Any], Scenario], ...]
    scenarios: tuple[Scenario, ...]

    def all(self) -> Iterator[tuple[dict[str, Any] | None, Scenario]]:
        """Every scenario, with its specification where it has one."""
        yield from self.instances
        yield from ((None, scenario) for scenario in self.scenarios)

    def __len__(self) -> int:
        return len(self.instances) + len(self.scenarios)


def check(target: str, *, quick: bool = False, out: str | Path = "fedproof-out", seed: int = 0) -> Result:
    """The verdict on one claim; see `check_all`."""
    return check_all([find_claim(target).id], quick=quick, out=out, seed=seed)[0]


def check_all(
    targets: Sequence[str],
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Result]:
    """The verdicts on claims, with all their evidence; certificates and verdicts.json are written to `out`.

    Args:
        targets: ids of claims, names of papers, or ``"all"``.
        quick: fewer instances and fewer runs.
        out: directory of the results; certificates go to its subdirectory ``certificates``.
        seed: of the simulator.
        progress: called with one line of text.

    Raises:
        ValueError: for a target that is not known; nothing is computed then.
    """
    return check_and_replay(targets, quick=quick, out=out, seed=seed, progress=progress)[0]


def check_and_replay(
    targets: Sequence[str],
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Result], dict[str, Replay]]:
    """`check_all`, and the replays of the proofs by the claim's id."""
    from validate.replay import evidence as replay_evidence

    chosen = resolve(targets)
    tell = progress or (lambda text: None)
    results: list[Result] = []
    replays: dict[str, Replay] = {}
    for name in dict.fromkeys(c.paper for c in chosen):
        module = measured.module(name)
        claims = [c for c in chosen if c.paper == name]
        pool, samples = Pool((), ()), []
        if module is not None:
            pool = pool_of(module, quick, tell, name)
            samples = _simulated(module, quick, seed, tell) if any(map(_is_sampled, claims)) else []
        found = []
        for claim in claims:
            tell(claim.id)
            found.append(check_claim(claim, module, pool, samples, Path(out), EVALUATIONS[quick]))
            _remember(found[-1], Path(out))
        replays |= _replayed(claims, found, module, pool, Path(out), tell)
        for result in found:
            if result.id in replays:
                proof = replay_evidence(replays[result.id])
                result = decide(result.id, (*result.evidence, proof), result.certificate)
                _remember(result, Path(out))
            results.append(result)
    return results, replays


def resolve(targets: Sequence[str]) -> list[Claim]:
    """The claims that ids, names of papers and ``"all"`` stand for, in the catalogue's order, each once.

    Raises:
        ValueError: for a target that is none of these, or no target.
    """
    if not targets:
        raise ValueError("targets is empty: give ids of claims, names of papers, or all")
    names = [p.name for p in papers()]
    chosen: dict[str, Claim] = {}
    for target in targets:
        if target == "all":
            found: Iterable[Claim] = (c for p in papers() for c in p)
        elif target in names:
            found = find_paper(target)
        elif "/" in target:
            found = [find_claim(target)]
        else:
            raise ValueError(f"target={target!r} is neither the id of a claim nor one of the papers {names} nor 'all'")
        chosen |= {c.id: c for c in found}
    return list(chosen.values())


def pool_of(module: ModuleType, quick: bool, tell: Progress, paper: str) -> Pool:
    """A paper's scenarios, with their moments; those whose moments leave the range of floats are left out.

    Args:
        module: the paper's module, from `validate.papers.module`.
        quick: fewer of them.
        tell: called with one line of text.
        paper: its name, for that text.
    """
    instances = []
    specs = list(module.instances(quick))
    for i, spec in enumerate(specs):
        if i % 500 == 0:
            tell(f"{paper}: exact moments of instance {i + 1} of {len(specs)}")
        scenario: Any = read_scenario(spec, exact=False)
        if scenario.stays_finite():
            instances.append((spec, scenario))
    tell(f"{paper}: exact moments of scenarios in several dimensions")
    return Pool(tuple(instances), tuple(s for s in module.scenarios(quick) if s.stays_finite()))


def check_claim(
    claim: Claim,
    module: ModuleType | None,
    pool: Pool,
    samples: Sequence[Sample],
    out: Path,
    evaluations: int = 0,
) -> Result:
    """The verdict on one claim, without the replay of its proof, which needs the verdicts on other claims.

    Args:
        claim: the claim.
        module: its paper's module, or None.
        pool: the paper's scenarios, from `pool_of`.
        samples: what the simulator found, or nothing.
        out: certificates go to its subdirectory ``certificates``.
        evaluations: of the unguided search, for a claim that nothing else has refuted; 0 for no search.
    """
    evidence = vector_evidence(claim)
    path: Path | None = None
    survey = _survey(claim, module, pool) if module is not None else None
    if survey is None or not survey.seen:
        evidence += _feasible(claim)
    if module is not None and survey is not None:
        counterexample, rounding = smallest(claim, survey.suspects, module.cases)
        evidence += survey.evidence(rounding)
        if counterexample is not None:
            item, path = _certified(claim, counterexample, out)
            evidence.append(item)
        special, special_path = module.special(claim, out)
        evidence += special
        path = path or special_path
        evidence += _sampled(claim, module, samples)
        if path is None and evaluations and survey.seen:
            found, path = _searched(claim, module, evaluations, out)
            evidence += found
    if not evidence:
        evidence.append(Evidence("exact", "undecided", "no way to measure this claim is known"))
    return decide(claim.id, evidence, str(path) if path else None)


def _feasible(claim: Claim) -> list[Evidence]:
    """Can its hypotheses hold together? Asked where no scenario shows that they do."""
    from theory.feasible import feasible

    if all(h.relation is None for h in claim.hypotheses):
        return []
    found = feasible(claim)
    outcome: Outcome = {"feasible": "holds", "empty": "vacuous", "undecided": "undecided"}[found.outcome]  # type: ignore[assignment]
    return [Evidence("hypotheses", outcome, found.detail, data=found.to_json())]


def _replayed(
    claims: Sequence[Claim], results: Sequence[Result], module: ModuleType | None, pool: Pool, out: Path, tell: Progress
) -> dict[str, Replay]:
    """The replays of the claims' proofs, by id; lines that other claims encode need those claims' verdicts."""
    from validate.replay import encoded, replay

    known = {result.id: result for result in results}
    needed = dict.fromkeys(i for c in claims for i in encoded(c) if i not in known)
    for name in needed:
        known[name] = check_claim(find_claim(name), module, pool, (), out)
    replays = {}
    for claim in claims:
        if claim.steps:
            tell(f"{claim.id}: its proof, line by line")
            replays[claim.id] = replay(claim, results=known)
    return replays


@dataclass(frozen=True)
class Survey:
    """What the exact oracle saw of a claim over a pool of scenarios, in floats.

    Attributes:
        pool: scenarios in the pool.
        seen: those to which the claim applies and that satisfy all its hypotheses.
        cases: index values compared there.
        suspects: specifications of the scalar instances that seem to break the claim.
        others: names of other scenarios that seem to break it.
        tightness: largest left / right, or None.
        tightness_unbroken: the same over the scenarios that do not seem to break it.
    """

    pool: int
    seen: int
    cases: int
    suspects: tuple[dict[str, Any], ...]
    others: tuple[str, ...]
    tightness: float | None
    tightness_unbroken: float | None

    def evidence(self, rounding: int) -> list[Evidence]:
        """For the reader; `rounding` of the suspects were cleared by exact arithmetic."""
        if not self.seen:
            return []
        found = [
            Evidence(
                "hypotheses",
                "holds",
                f"its hypotheses, those silently used included, hold together: in {self.seen} of {self.pool} scenarios",
            )
        ]
        broken = len(self.suspects) - rounding + len(self.others)
        data = {"scenarios": self.seen, "cases": self.cases, "broken": broken, "cleared_by_exact_arithmetic": rounding}
        if broken:
            text = f"broken in {broken} of {self.seen} scenarios ({self.cases} cases) by the exact oracle, in floats"
            text += f"; left side up to {self.tightness:.6g} times the right side" if self.tightness else ""
            return [*found, Evidence("exact", "fails", text, tightness=self.tightness, data=data)]
        text = f"never broken in {self.seen} scenarios ({self.cases} cases) by the exact oracle"
        if self.tightness_unbroken:
            text += f"; left side at most {self.tightness_unbroken:.6g} times the right side"
        if rounding:
            text += f"; {rounding} breaks seen in floats are rounding, as fractions show"
        return [*found, Evidence("exact", "holds", text, tightness=self.tightness_unbroken, data=data)]


def _survey(claim: Claim, module: ModuleType, pool: Pool) -> Survey:
    """Both sides on every scenario to which the claim applies."""
    applies: list[tuple[dict[str, Any] | None, Scenario, Cases]] = []
    for spec, scenario in pool.all():
        cases = module.cases(claim, scenario)
        if cases is not None and not unmet(claim, scenario, cases.parameters_at(0)):
            applies.append((spec, scenario, cases))
    comparisons = compare_all(claim, [cases for _, _, cases in applies])
    suspects: list[dict[str, Any]] = []
    others: list[str] = []
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for (spec, scenario, _), comparison in zip(applies, comparisons, strict=True):
        if comparison.tightness is not None:
            ratios[comparison.broken].append(comparison.tightness)
        if comparison.broken and spec is not None:
            suspects.append(spec)
        elif comparison.broken:
            others.append(scenario.name)
    return Survey(
        pool=len(pool),
        seen=len(applies),
        cases=sum(comparison.cases for comparison in comparisons),
        suspects=tuple(suspects),
        others=tuple(others),
        tightness=max(ratios[True] + ratios[False], default=None),
        tightness_unbroken=max(ratios[False], default=None),
    )


def _certified(claim: Claim, found: Counterexample, out: Path) -> tuple[Evidence, Path | None]:
    """The counterexample as a certificate; without one that the verifier accepts, nothing is refuted."""
    detail = (
        f"an exact instance breaks it: left side {brief(found.left)}, right side {brief(found.right)}"
        f" ({describe(found.spec)})"
    )
    data = {"spec": found.spec, "index": dict(found.index), "left": str(found.left), "right": str(found.right)}
    try:
        path = certificates.write(rounds_certificate(claim, found), out / "certificates")
    except ValueError as error:
        return Evidence("exact", "fails", f"{detail}; no certificate: {error}", data=data), None
    # A ratio says how far a claim is off only where both sides are positive.
    ratio = float(found.left / found.right) if found.right > 0 and claim.relation in ("<=", "<") else None
    return Evidence(
        "certificate", "refuted", f"{detail}; the stand-alone verifier agrees", tightness=ratio, data=data
    ), path


def _searched(claim: Claim, module: ModuleType, evaluations: int, out: Path) -> tuple[list[Evidence], Path | None]:
    """What the unguided search finds, with a certificate when it breaks the claim."""
    from validate.search.reduce import certificate_of
    from validate.search.unguided import search_evidence

    if not getattr(module, "BATCHED", False):  # one instance at a time through the oracle takes twenty times as long
        evaluations //= 20
    item, found = search_evidence(claim, module.cases, seconds=SEARCH_SECONDS, evaluations=evaluations)
    if found is None:
        return ([item] if item.outcome == "holds" else []), None
    try:
        path = certificates.write(certificate_of(claim, found), out / "certificates")
    except ValueError as error:
        return [replace(item, detail=f"{item.detail}; no certificate: {error}")], None
    return [replace(item, outcome="refuted", detail=f"{item.detail}; the stand-alone verifier agrees")], path


Sample = tuple[Scenario, Any]


def _simulated(module: ModuleType, quick: bool, seed: int, tell: Progress) -> list[Sample]:
    """The paper's sampled scenarios with the simulator's trace of each."""
    samples = []
    for scenario in module.sampled(quick):
        runs = 200 if quick else 2000
        tell(f"{scenario.name}: {runs} runs of {scenario.rounds} rounds")
        samples.append((scenario, scenario.simulate(runs, seed)))
    return samples


def _is_sampled(claim: Claim) -> bool:
    """Whether the simulator's average over the runs is what the claim bounds."""
    name = claim.quantity.name
    return claim.has_bound and claim.relation in ("<=", "<") and name == "mean_squared_gradient_norm"


def _sampled(claim: Claim, module: ModuleType, samples: Sequence[Sample]) -> list[Evidence]:
    """The simulator's average against the right side: it may find nothing, or a suspicion, never a refutation."""
    from validate.rates import one_sided

    evidence = []
    for scenario, trace in samples if _is_sampled(claim) else ():
        cases = module.cases(claim, scenario)
        if cases is None or unmet(claim, scenario, cases.parameters_at(0)):
            continue
        right = compare(claim, cases).right
        test = one_sided(trace[claim.quantity.name], right, ERROR_PROBABILITY)
        text = (
            f"{scenario.name}: {test.runs} runs give {test.mean:.6g} +- {test.standard_error:.2g} (standard error)"
            f" against {right:.6g}; one-sided error probability {ERROR_PROBABILITY:g}, by Student's t"
        )
        outcome: Outcome = "fails" if test.broken else "holds" if test.holds else "undecided"
        ratio = test.mean / right if right > 0 else None
        evidence.append(Evidence("sampled", outcome, text, tightness=ratio, error_probability=ERROR_PROBABILITY))
    return evidence


def brief(value: Any) -> str:
    """A rational as a fraction when that is short, else as a decimal."""
    text = str(value)
    return text if len(text) <= 24 else f"{float(value):.10g}"


def describe(spec: Mapping[str, Any]) -> str:
    """An instance in a few words."""
    clients = spec["clients"]
    number = "one client" if len(clients) == 1 else f"{len(clients)} clients"
    sizes = ", ".join(f"{key}={spec[key]}" for key in ("S", "M", "local_steps", "K") if key in spec)
    lags = "".join(f", {key} {', '.join(map(str, spec[key]))}" for key in ("alpha", "beta") if spec.get(key))
    return f"{number}, {sizes}, step {spec['step']}{lags}, start {spec.get('theta0', spec.get('x0'))}"


def _remember(result: Result, out: Path) -> None:
    """Keep the verdict, so that `fedproof claims` can show it; written whole or not at all."""
    path = out / "verdicts.json"
    entries: list[dict[str, Any]] = []
    try:
        entries = [e for e in json.loads(path.read_text(encoding="utf-8")) if e["id"] != result.id]
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, KeyError):
        log.warning("%s is not readable; it is made anew", path)
    entries.append({k: getattr(result, k) for k in ("id", "verdict", "tightness", "certificate")})
    out.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    temporary.replace(path)
