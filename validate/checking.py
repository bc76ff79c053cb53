"""All the evidence for a claim, joined into its verdict.

For every claim of a paper: its own sentence by algebra or by the prover; whether its hypotheses can hold together; an
unguided search; both sides on every instance and scenario of the paper's pool, by the exact oracle; a certificate, in
exact rationals and re-checked by the stand-alone verifier, when something breaks it; the simulator as a check that does
not go through the oracle's left side; and last what was written by hand for this claim (instances, orders, fixed
points, lines of its proof), whose origin is `given`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from theory.catalog import claim as find_claim
from theory.catalog import claims, papers, suggestion
from theory.catalog import paper as find_paper
from theory.claim import Claim
from theory.written import Claim as Written
from validate import certificate as certificates
from validate import kept, proving
from validate import papers as measured
from validate.assumptions import unmet
from validate.bounds import compare, nearest_float
from validate.choice import choose
from validate.coverage import coverage
from validate.description import describe, in_words
from validate.falsify import Counterexample, rounds_certificate, smallest
from validate.parallel import over_processes, tell
from validate.per_run import per_run
from validate.predicted import Predicted
from validate.scenario import Scenario
from validate.survey import Pool, Progress, Survey, pool_of, survey
from validate.verdict import NOTHING_COVERED, Evidence, Origin, Outcome, Result, decide

if TYPE_CHECKING:
    from validate.replay import Replay

log = logging.getLogger(__name__)

# One-sided error probability of each statistical check.
ERROR_PROBABILITY = 1e-6
# Evaluations of the unguided search a claim, full and quick, whoever wrote it; the time limit is there for a slow
# machine only, and the evidence says where it struck.
EVALUATIONS = {False: 20_000, True: 1_500}
SEARCH_SECONDS = 120.0


def check(
    target: str | Claim | Written, *, quick: bool = False, out: str | Path = "fedproof-out", seed: int = 0
) -> Result | list[Result]:
    """The verdict on one claim; of a paper or a file, a list of them.

    Args:
        target: the id of a claim, the name of a paper, ``my_paper.py`` or ``my_paper.py:label``; or a claim itself,
            which need not be the catalogue's: nothing is looked up by its id but the pool of its paper.
        quick, out, seed: as in `check_all`.

    Raises:
        ValueError, OSError: as `check_all`.
    """
    if isinstance(target, Claim | Written):
        return check_one(target, quick=quick, out=out, seed=seed)
    results = check_all([target], quick=quick, out=out, seed=seed)
    named_one = ("/" in target and not target.endswith(".py")) or ".py:" in target
    return results[0] if named_one else results


def check_one(
    claim: Claim | Written, *, quick: bool = False, out: str | Path = "fedproof-out", seed: int = 0
) -> Result:
    """The verdict on a claim as it stands, known to the catalogue or not; arguments as in `check_all`."""
    if isinstance(claim, Written):
        return _read_off(claim, Path(out), quick, seed, log.debug)
    module, pool, samples = _setting(claim.paper, [claim], quick, seed, log.debug)
    result, _ = _examined(claim, module, pool, samples, Path(out), EVALUATIONS[quick], quick)
    replays, failed = _replayed([claim], [result], module, pool, log.debug, quick)
    return _with_replay(result, replays, failed)


class Checked(NamedTuple):
    """What a check has found.

    Attributes:
        results: the verdicts, a paper's together, in the order of the targets.
        replays: of the proofs, by the claim's id; a claim without proof lines has none.
        predicted: both sides as curves, by the claim's id; a claim that no scenario satisfies has none.
    """

    results: list[Result]
    replays: dict[str, Replay]
    predicted: dict[str, Predicted]


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
        targets: ids of claims, names of papers, or ``"all"``; ``my_paper.py`` or ``my_paper.py:label``, a file that is
            run.
        quick: fewer instances and fewer runs.
        out: directory of the results; certificates go to its subdirectory ``certificates``.
        seed: of the simulator.
        progress: called with one line of text.

    Raises:
        ValueError: for a target that is not known; nothing is computed then.
        OSError: for a file that cannot be read.
    """
    return check_and_replay(targets, quick=quick, out=out, seed=seed, progress=progress).results


def check_and_replay(
    targets: Sequence[str],
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    progress: Progress | None = None,
) -> Checked:
    """`check_all`, with the replays of the proofs, and both sides of the claims as curves, by the claim's id."""
    found = over_processes(check_paper, tasks(targets, quick, out, seed), processes=1, heard=listener(progress))
    return joined(found)


def tasks(targets: Sequence[str], quick: bool, out: str | Path, seed: int = 0) -> list[tuple[Any, ...]]:
    """The arguments of `check_paper` for each of the papers; targets and errors as in `check_all`."""
    names: dict[str, list[str]] = {}
    for claim in resolve(targets):
        names.setdefault(claim.paper, []).append(claim.id)
    return [(paper, tuple(ids), quick, Path(out), seed) for paper, ids in names.items()]


def check_paper(paper: str, ids: Sequence[str], quick: bool, out: Path, seed: int) -> Checked:
    """The verdicts on claims of one paper, the replays of their proofs, and both sides as curves.

    A task of `over_processes`. Everything goes by name, and what is found by `tell`, so that it can happen in another
    process: `listener` is to hear it.

    Args:
        paper: its name.
        ids: of the claims, in the catalogue's order.
        quick: fewer instances and fewer runs.
        out: certificates go to its subdirectory ``certificates``.
        seed: of the simulator.
    """
    asked: list[Any] = [find_claim(i) for i in ids]
    found: list[Result] = []
    for one in asked:
        if isinstance(one, Written):
            tell(one.id)
            found.append(_read_off(one, out, quick, seed, tell))
            tell((kept.entry(found[-1], one), out))
    claims = [one for one in asked if isinstance(one, Claim)]
    if not claims:
        return Checked(found, {}, {})
    read_off, found = found, []
    module, pool, samples = _setting(paper, claims, quick, seed, tell)
    curves = {}
    for claim in claims:
        tell(claim.id)
        result, looked = _examined(claim, module, pool, samples, out, EVALUATIONS[quick], quick)
        found.append(result)
        tell((kept.entry(result, claim), out))
        if module is not None and looked is not None and looked.seen:
            curve = _tried(claim, "its sides as curves", [], choose, claim, module, looked, samples, result)
            if curve is not None:
                curves[claim.id] = curve
    replays, failed = _replayed(claims, found, module, pool, tell, quick)
    for i, result in enumerate(found):
        if result.id in replays or result.id in failed:
            found[i] = _with_replay(result, replays, failed)
            tell((kept.entry(found[i], claims[i]), out))
    verdicts = {result.id: result for result in (*read_off, *found)}
    return Checked([verdicts[i] for i in ids], replays, curves)


def _read_off(claim: Written, out: Path, quick: bool, seed: int, tell: Progress) -> Result:
    """The verdict on a claim that says what it means; its certificate is kept as those of other checks are."""
    from validate.examine import examine

    with TemporaryDirectory() as folder:
        failed: list[Evidence] = []
        examined = partial(examine, claim, quick=quick, out=folder, seed=seed, tell=tell)
        result = _tried(claim, "the claim", failed, examined) or decide(claim.id, failed, quick=quick)
        chosen = None if result.certificate is None else Path(result.certificate)
        path = kept.keep(claim, (Path(folder),), chosen, out, "quick" if quick else "")
    return replace(result, certificate=None if path is None else str(path))


def _setting(
    paper: str, claims: Sequence[Claim], quick: bool, seed: int, tell: Progress
) -> tuple[ModuleType | None, Pool, list[Sample]]:
    """How a paper's claims are measured, its pool, and the simulator's runs where one of the claims needs them."""
    module = measured.module(paper)
    if module is None:
        return None, Pool((), ()), []
    pool = pool_of(module, quick, tell, paper)
    return module, pool, _simulated(module, quick, seed, tell) if any(per_run(c, module) for c in claims) else []


def _with_replay(result: Result, replays: dict[str, Replay], failed: dict[str, Evidence]) -> Result:
    """The verdict with what the replay of the proof says, which changes no word."""
    from validate.replay import evidence as replay_evidence

    more = [failed[result.id]] if result.id in failed else []
    if result.id in replays:
        more.append(replay_evidence(replays[result.id]))
    return replace(result, evidence=(*result.evidence, *more))


def listener(progress: Progress | None) -> Callable[[Any], None]:
    """For what `check_paper` tells: its progress is passed on, its verdicts are kept.

    A quick verdict is not kept where there is a full one of the same sentence; that is progress too, once a claim.
    """
    said: set[str] = set()

    def hear(message: Any) -> None:
        if not isinstance(message, str):
            new, out = message
            stays = kept.remember(new, out)
            if stays is None or new["id"] in said:
                return
            said.add(new["id"])
            where = out / kept.VERDICTS
            message = (
                f"{new['id']}: {new['verdict']} by this quick check; {where} keeps {stays['verdict']}, by a full one"
            )
        if progress is not None:
            progress(message)

    return hear


def joined(found: Iterable[Checked]) -> Checked:
    """What was found of several papers as one."""
    results: list[Result] = []
    replays: dict[str, Replay] = {}
    curves: dict[str, Predicted] = {}
    for some, proofs, shown in found:
        results += some
        replays |= proofs
        curves |= shown
    return Checked(results, replays, curves)


def resolve(targets: Sequence[str]) -> list[Claim]:
    """The claims that ids, names of papers and ``"all"`` stand for, in the order of the targets, each once.

    A paper may be in a file, ``my_paper.py``, a claim too, ``my_paper.py:label``; `validate.files.load` runs it.

    Raises:
        ValueError: for a target that is none of these, or no target; for a file as `validate.files.load`.
        OSError: for a file that cannot be read.
    """
    from validate import files

    if not targets:
        raise ValueError("targets is empty: give ids of claims, names of papers, or all")
    targets = files.targets(targets)
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
            hint = suggestion(target, [*names, "all", *(c.id for c in claims())])
            raise ValueError(f"target={target!r} is neither the id of a claim nor a paper nor 'all'{hint}")
        chosen |= {c.id: c for c in found}
    return list(chosen.values())


def check_claim(
    claim: Claim,
    module: ModuleType | None,
    pool: Pool,
    samples: Sequence[Sample],
    out: Path,
    evaluations: int = 0,
    quick: bool = False,
) -> Result:
    """The verdict on one claim, without the replay of its proof, which needs the verdicts on other claims.

    Args:
        claim: the claim.
        module: its paper's module, or None.
        pool: the paper's scenarios, from `pool_of`.
        samples: what the simulator found, or nothing.
        out: certificates go to its subdirectory ``certificates``.
        evaluations: of the unguided search; 0 for no search.
        quick: whether this is a quick check, for the verdict to say so.
    """
    return _examined(claim, module, pool, samples, out, evaluations, quick)[0]


def _examined(
    claim: Claim,
    module: ModuleType | None,
    pool: Pool,
    samples: Sequence[Sample],
    out: Path,
    evaluations: int,
    quick: bool,
) -> tuple[Result, Survey | None]:
    """`check_claim`, and what the oracle saw of the claim on the paper's pool."""
    with TemporaryDirectory() as folder:
        aside = Path(folder)
        result, looked = _gathered(claim, module, pool, samples, aside, evaluations, quick)
        chosen = None if result.certificate is None else Path(result.certificate)
        path = kept.keep(claim, (aside, aside / "given"), chosen, out, "quick" if quick else "")
    return replace(result, certificate=None if path is None else str(path)), looked


def _gathered(
    claim: Claim,
    module: ModuleType | None,
    pool: Pool,
    samples: Sequence[Sample],
    out: Path,
    evaluations: int,
    quick: bool,
) -> tuple[Result, Survey | None]:
    """`_examined`, with certificates below `out`: in its folder ``given`` those of what was written for this claim.

    The order is that of the origins: the claim's own sentence, search, pool, and what was written for this claim last.
    """
    evidence: list[Evidence] = []
    found: list[Evidence]
    path: Path | None
    own = _tried(claim, "its own sentence", evidence, proving.evidence, claim) or []
    by_vectors = _tried(claim, "its own sentence", evidence, _by_vectors, claim, own, out)
    found, path = by_vectors or (own, None)
    evidence += found
    if path is None and not any(item.outcome == "proved" for item in own):
        found, by_numbers = _tried(claim, "its own sentence", evidence, _by_numbers, claim, out) or ([], None)
        evidence += found
        path = path or by_numbers
    together = _tried(claim, "its hypotheses", evidence, _feasible, claim) or []
    empty = any(item.outcome == "vacuous" for item in together)
    looked = None
    if module is not None:  # where nothing satisfies the hypotheses, what seems to is floats, by rounding
        mine = replace(pool, instances=(), scenarios=()) if empty else pool
        looked = _tried(claim, "the pool", evidence, survey, claim, module, mine)
    if looked is None or not looked.seen:
        evidence += together
    if module is not None:
        if evaluations and claim.right is not None:
            tried = _tried(claim, "the search", evidence, _searched, claim, module, evaluations, out)
            found, search_path = tried or ([], None)
            evidence += found
            path = path or search_path
        if looked is not None:
            certify = path is None
            on = _tried(claim, "the pool", evidence, _on, looked, claim, module, out, "pool", certify)
            found, pool_path = on or ([replace(e, origin="pool") for e in looked.evidence(0)], None)
            evidence += found
            path = path or pool_path
        evidence += _tried(claim, "the simulator", evidence, _sampled, claim, module, samples) or []
        if path is None and pool.given:
            tried = _tried(claim, "what was given", evidence, _given, claim, module, pool, out)
            found, path = tried or ([], None)
            evidence += found
        special = None
        if not _another(claim):
            special = _tried(claim, "what was given", evidence, module.special, claim, out / "given")
        if special is not None:
            evidence += [replace(item, origin="given") for item in special[0]]
            path = path or special[1]
    if not evidence:
        evidence.append(Evidence("exact", "undecided", "no way to measure this claim is known"))
    covered = _tried(claim, "what was covered", evidence, coverage, claim, looked, quick) or NOTHING_COVERED
    result = decide(claim.id, evidence, str(path) if path else None, covered, quick)
    if path is not None:
        certificates.record(path, result.origin, quick)
    return result, looked


def _by_vectors(claim: Claim, evidence: list[Evidence], out: Path) -> tuple[list[Evidence], Path | None]:
    """The prover's explicit vectors as a certificate; without one that the verifier accepts, nothing is refuted."""
    made, path = [], None
    for item in evidence:
        data = item.data or {}
        if item.outcome == "fails" and "refutation" in data and path is None:
            try:
                certificate = certificates.vectors_certificate(claim, data["refutation"], data.get("setting", {}))
                path = certificates.write(certificate, out / "certificates")
                text = f"{item.detail}; the stand-alone verifier agrees"
                text += ", and the certificate has what is refuted beside the claim's formula"
                item = replace(item, kind="certificate", outcome="refuted", detail=text, origin="search")
            except ValueError as error:
                item = replace(item, detail=f"{item.detail}; no certificate: {error}", origin="search")
        made.append(item)
    return made, path


TURNED = {"<=": (">",), "<": (">=",), ">=": ("<",), ">": ("<=",), "=": ("<", ">")}


def _by_numbers(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Numbers that satisfy all hypotheses and break a claim both sides of which are numbers, with a certificate.

    Not where a hypothesis says more than a relation: then numbers alone need not satisfy it.
    """
    from theory.evaluate import exact
    from theory.feasible import feasible

    left, right = claim.quantity.formula, claim.right
    if left is None or right is None or any(h.relation is None or h.assumption is not None for h in claim.conditions):
        return [], None
    for sign in TURNED[claim.relation]:
        numbers = feasible(claim, [f"({left}) {sign} ({right})"]).witness
        if numbers is None:
            continue
        values = ", ".join(f"{name}={value}" for name, value in numbers.items())
        detail = f"numbers satisfy all hypotheses and break it: {values}"
        try:
            sides = exact(replace(claim, right=left), numbers), exact(claim, numbers)
            made = certificates.relation_certificate(claim, numbers, left, *sides)  # type: ignore[arg-type]
            path = certificates.write(made, out / "certificates")
        except ValueError as error:
            return [Evidence("algebra", "fails", f"{detail}; no certificate: {error}", origin="search")], None
        detail += f"; left side {brief(sides[0])}, right side {brief(sides[1])}; the stand-alone verifier agrees"
        return [Evidence("certificate", "refuted", detail, origin="search")], path
    return [], None


def _another(claim: Claim) -> bool:
    """Whether the catalogue has another claim under the claim's id: what is filed under it speaks of that one."""
    try:
        return kept.digest(find_claim(claim.id)) != kept.digest(claim)
    except ValueError:
        return False


Found = TypeVar("Found")


def _tried(
    claim: Claim | Written, what: str, evidence: list[Evidence], find: Callable[..., Found], *arguments: Any
) -> Found | None:
    """What a part of the check finds; where it ends with an error, None, and evidence that says so.

    One part that cannot be made ends neither the others nor the check of other claims.
    """
    try:
        return find(*arguments)
    except OSError:  # files that cannot be written are no matter of the claim
        raise
    except ValueError as error:
        text = f"{what}: this part of the check could not be made: {error}"
    except Exception as error:
        log.exception("%s: %s", claim.id, what)
        text = f"{what}: this part of the check ended with a defect of fedproof: {type(error).__name__}: {error}"
    evidence.append(Evidence("exact", "undecided", text))
    return None


def _given(claim: Claim, module: ModuleType, pool: Pool, out: Path) -> tuple[list[Evidence], Path | None]:
    """What instances that were written by hand say against the claim; for it they say nothing."""
    found, path = _on(survey(claim, module, pool.by_hand()), claim, module, out, "given", certify=True)
    return [item for item in found if item.outcome in ("refuted", "fails")], path


def _on(
    looked: Survey, claim: Claim, module: ModuleType, out: Path, origin: Origin, certify: bool
) -> tuple[list[Evidence], Path | None]:
    """What a pool says of the claim, with a certificate where it breaks it and there is none yet."""
    counterexample, rounding = smallest(claim, looked.suspects, module.cases) if certify else (None, 0)
    unhidden = False
    if certify and counterexample is None:
        counterexample, _ = smallest(claim, looked.hidden, module.cases)
        unhidden = counterexample is not None
    evidence, path = looked.evidence(rounding, unhidden), None
    if counterexample is not None:
        item, path = _certified(claim, counterexample, out)
        evidence.append(item)
    return [replace(item, origin=origin) for item in evidence], path


def _feasible(claim: Claim) -> list[Evidence]:
    """Can its hypotheses hold together? A proof that they cannot outweighs scenarios that satisfy them in floats."""
    from theory.feasible import feasible

    if all(h.relation is None for h in claim.conditions):
        return []
    found = feasible(claim)
    outcome: Outcome = {"feasible": "holds", "empty": "vacuous", "undecided": "undecided"}[found.outcome]  # type: ignore[assignment]
    return [Evidence("hypotheses", outcome, found.detail, data=found.to_json(), origin="search")]


def _replayed(
    claims: Sequence[Claim],
    results: Sequence[Result],
    module: ModuleType | None,
    pool: Pool,
    tell: Progress,
    quick: bool,
) -> tuple[dict[str, Replay], dict[str, Evidence]]:
    """The replays of the claims' proofs, by id, and why others could not be made.

    Lines that other claims encode need those claims' verdicts.
    """
    from validate.replay import encoded, replay

    known = {result.id: result for result in results}
    needed = dict.fromkeys(i for c in claims for i in encoded(c) if i not in known)
    with TemporaryDirectory() as aside:  # nobody asked for these claims: their certificates are not kept
        for name in needed:
            known[name] = check_claim(find_claim(name), module, pool, (), Path(aside), quick=quick)
    replays, failed = {}, {}
    for claim in claims:
        if claim.steps:
            tell(f"{claim.id}: its proof, line by line")
            wrong: list[Evidence] = []
            found = _tried(claim, "its proof, line by line", wrong, partial(replay, claim, results=known))
            if found is not None:
                replays[claim.id] = found
            elif wrong:
                failed[claim.id] = wrong[0]
    return replays, failed


def _certified(claim: Claim, found: Counterexample, out: Path) -> tuple[Evidence, Path | None]:
    """The counterexample as a certificate; without one that the verifier accepts, nothing is refuted."""
    detail = (
        f"an exact instance breaks it: left side {brief(found.left)}, right side {brief(found.right)}"
        f" ({describe(found.spec)})"
    )
    try:
        sides = {"left": str(found.left), "right": str(found.right)}
    except ValueError:  # more digits than Python writes out
        sides = {"left": brief(found.left), "right": brief(found.right)}
    data = {"spec": found.spec, "index": dict(found.index), **sides}
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

    item, found = search_evidence(claim, module.cases, seconds=SEARCH_SECONDS, evaluations=evaluations)
    if found is None:  # without an evaluation the claim speaks of nothing that the search knows
        return ([item] if item.data is not None and item.data["evaluations"] else []), None
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


def _sampled(claim: Claim, module: ModuleType, samples: Sequence[Sample]) -> list[Evidence]:
    """The simulator's average against the right side: it may find nothing, or a suspicion, never a refutation."""
    from validate.rates import one_sided

    evidence: list[Evidence] = []
    quantity = per_run(claim, module)
    if quantity is None or quantity.root:
        return evidence
    for scenario, trace in samples:
        cases = module.cases(claim, scenario)
        if cases is None or len(cases) > 1 or unmet(claim, scenario, cases.parameters_at(0)):
            continue
        compared = compare(claim, cases)
        if compared.undefined:
            continue
        right = compared.right
        test = one_sided(quantity.values(trace, cases)[:, 0], right, ERROR_PROBABILITY)
        text = (
            f"{in_words(scenario)}: {test.runs} runs give {test.mean:.6g} +- {test.standard_error:.2g} (standard error)"
            f" against {right:.6g}; one-sided error probability {ERROR_PROBABILITY:g}, by Student's t"
        )
        outcome: Outcome = "fails" if test.broken else "holds" if test.holds else "undecided"
        ratio = test.mean / right if right > 0 else None
        evidence.append(Evidence("sampled", outcome, text, ratio, ERROR_PROBABILITY, origin="pool"))
    return evidence


def brief(value: Any) -> str:
    """A rational as a fraction when that is short, else as a decimal."""
    number = Fraction(value)
    if max(abs(number.numerator), number.denominator).bit_length() > 80:  # beyond 24 digits, and maybe beyond `str`
        return f"{nearest_float(number):.10g}"
    text = str(value)
    return text if len(text) <= 24 else f"{float(value):.10g}"
