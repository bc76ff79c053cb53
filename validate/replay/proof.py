"""The proof of a claim, line by line: what is true, what is false, and where the argument breaks.

Three questions are asked of a line, and kept apart:

- its *outcome*: is the line, as it is printed, true? By algebra where it compares scalar formulas, by the Gram prover
  where it is about vectors, by `theory.order` where it is about orders, by the ordinary check (exact oracle,
  certificate) where a claim of the paper encodes it. A line for which there is nothing but a citation is ``cited``.
- what it has *reached*: inside a displayed chain, is the first expression related to this line's last as the chain
  says? A link may be false and the chain true.
- whether it *follows* from the lines that it uses, by the combination of these that the paper names.

The first false line is the first whose printed statement is refuted. One exemption is made, and it has to be earned: a
line that names its repair (`Step.slip`) is a slip when the repair is itself proved or supported, and every line that
uses it follows from the repair, and none of them follows from what is printed. The proof then goes on from the
repaired form, and the printed one is an error of print, such as a factor that one line lacks and the next one has. It
is reported with the others, among the `slips`.

The first *break* is the first false line on which the conclusion depends. The conclusion, which is the last line,
depends on the lines that it uses, on those that these use, and so on; but nothing before a line that is proved by
itself matters to it: a false equality is no break where the bound that it was to give is proved by itself.

Vector lines are checked at their settings (small numbers of clients, steps and samples), which the detail names: a
refutation is general; what was proved at settings only holds, and is not called proved.

That lines hold says nothing of the claim unless the last one is the claim: the line's `claim` is this one, or its
scalar formulas are the claim's sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from theory import catalog
from theory.claim import Claim, Hypothesis, Step
from theory.domain import Domain
from theory.expression import Apply, Formula, Name, Number, fold, parse, text_of
from validate.algebra import same
from validate.replay.inference import Facts, Inference, infer
from validate.replay.line_checks import (
    DECIDES,
    Finding,
    LineOutcome,
    by_algebra,
    by_claim,
    by_order,
    by_vectors,
    missing,
)
from validate.verdict import Evidence, Outcome, Result

if TYPE_CHECKING:
    from validate.survey import Pool

__all__ = ["Finding", "Line", "Replay", "encoded", "evidence", "replay"]


@dataclass(frozen=True)
class Line:
    """A line of a proof with what was found.

    Attributes:
        step: the line.
        outcome, method, detail, counterexample: see `Finding`; the detail has all that was found.
        reached: of the chain up to here, or None.
        follows: whether it follows from the lines that it uses, or None.
        needs: hypotheses of what it cites that the claim does not print.
        slip: how the next lines repair it; empty unless it is a slip.
    """

    step: Step
    outcome: LineOutcome
    method: str
    detail: str
    counterexample: Mapping[str, Any] | None = None
    reached: Finding | None = None
    follows: Inference | None = None
    needs: tuple[Hypothesis, ...] = ()
    slip: str = ""

    @property
    def false(self) -> bool:
        """Whether the line as printed is refuted."""
        return self.outcome == "refuted"

    @property
    def by_itself(self) -> bool:
        """Whether what the line says, or its chain has reached, is proved without the lines before it."""
        outcome = self.outcome if self.reached is None else self.reached.outcome
        method = self.method if self.reached is None else self.reached.method
        return outcome == "proved" or (outcome == "holds" and method == "Gram prover")

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        step = self.step
        return {
            "label": step.label,
            "rule": step.rule,
            "left": step.left,
            "relation": step.relation,
            "right": step.right,
            "claim": step.claim,
            "uses": list(step.uses),
            **Finding(self.outcome, self.method, self.detail, self.counterexample).to_json(),
            "reached": None if self.reached is None else self.reached.to_json(),
            "follows": None if self.follows is None else self.follows.to_json(),
            "needs": [h.name for h in self.needs],
            "slip": self.slip,
        }


@dataclass(frozen=True)
class Replay:
    """A proof, replayed.

    Attributes:
        id: of the claim.
        lines: every line, in the paper's order.
        reaches: whether the last line is the claim.
    """

    id: str
    lines: tuple[Line, ...]
    reaches: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """To pass between processes without the steps, which hold functions: the catalogue has them."""
        names = [f.name for f in fields(Line) if f.name != "step"]
        found = [{name: getattr(line, name) for name in names} for line in self.lines]
        return _restored, (self.id, found, self.reaches)

    @property
    def slips(self) -> tuple[Line, ...]:
        """Lines that are false as printed, and that the lines which use them repair."""
        return tuple(line for line in self.lines if line.slip)

    @property
    def first_false(self) -> Line | None:
        """The first line that is false as printed and no slip."""
        return next((line for line in self.lines if line.false and not line.slip), None)

    @property
    def first_break(self) -> Line | None:
        """The first of these on which the conclusion depends."""
        needed = self.dependencies
        return next((line for line in self.lines if line.false and not line.slip and line.step.label in needed), None)

    @property
    def dependencies(self) -> frozenset[str]:
        """Labels of the lines on which the conclusion rests, itself included; see the module."""
        by_label = {line.step.label: line for line in self.lines}
        found: set[str] = set()
        todo = [self.lines[-1]]
        while todo:
            line = todo.pop()
            if line.step.label in found:
                continue
            found.add(line.step.label)
            if not line.by_itself:
                todo += [by_label[label] for label in line.step.uses]
        return frozenset(found)

    def line(self, label: str) -> Line:
        """The line of that label.

        Raises:
            ValueError: when there is none.
        """
        for line in self.lines:
            if line.step.label == label:
                return line
        raise ValueError(f"label={label!r} is not one of {[line.step.label for line in self.lines]}")

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        false, broken = self.first_false, self.first_break
        return {
            "id": self.id,
            "first_false": None if false is None else false.step.label,
            "first_break": None if broken is None else broken.step.label,
            "slips": [line.step.label for line in self.slips],
            "reaches": self.reaches,
            "lines": [line.to_json() for line in self.lines],
        }


def replay(
    claim: Claim,
    *,
    results: Mapping[str, Result] | None = None,
    module: ModuleType | None = None,
    pool: Pool | None = None,
    find: Callable[[str], Claim] = catalog.claim,
) -> Replay:
    """Check every line of a claim's proof.

    Args:
        claim: with steps.
        results: verdicts by id. Where they are given, a line whose claim is not among them stays undecided; without
            them, the claims of the lines are checked here, over `pool`.
        module: how the paper's claims are measured; that of the claim's paper without.
        pool: the scenarios; a quick one of the paper's without.
        find: looks up the claims that the lines name.

    Raises:
        ValueError: when the claim has no steps, or a line names a claim that is not known.
    """
    if not claim.steps:
        raise ValueError(f"claim={claim.id!r} has no proof lines to replay")
    of_line = {step.label: find(step.claim) for step in claim.steps if step.claim is not None}
    if results is None:
        results = _checked(claim, [find(id) for id in encoded(claim)], module, pool)
    domains: dict[str, Domain] = {p.name: p.domain for c in (*of_line.values(), claim) for p in c.parameters}
    relations = tuple(h.relation for h in claim.conditions if h.relation is not None)
    facts = Facts(relations, claim.definitions)
    lines = [_line(step, claim, results, of_line, domains, find, facts) for step in claim.steps]
    lines = [_with_slip(line, lines, results, of_line, domains, find, facts) for line in lines]
    slips = {line.step.label for line in lines if line.slip}
    return Replay(claim.id, tuple(_from_repairs(line, slips) for line in lines), _reaches(claim))


def _reaches(claim: Claim) -> bool:
    """Whether the last line of a proof is the claim: named by its id, or the same relation between the same sides."""
    last = claim.steps[-1]
    if last.relation != claim.relation:
        return False
    if last.claim == claim.id:
        return True
    if last.identity is None or claim.right is None:
        return False
    left = claim.quantity.formula or claim.quantity.name
    try:
        sides = [_resolved(text, claim) for text in (*last.identity, left, claim.right)]
        return same(sides[0], sides[2]) and same(sides[1], sides[3])
    except ValueError:  # a side that cannot be read, or has no value
        return False


def _resolved(text: str, claim: Claim) -> str:
    """A formula with the claim's definitions put in."""
    formula = parse(text)
    known: dict[str, Formula] = {}

    def put(name: str) -> Formula:
        return known.get(name, Name(name))

    for name, definition in claim.definitions.items():
        known[name] = fold(parse(definition), Number, put, Apply)
    return text_of(fold(formula, Number, put, Apply))


def encoded(claim: Claim) -> tuple[str, ...]:
    """Ids of the claims whose verdicts the replay of a claim's proof needs, each once."""
    ids = [id for step in claim.steps for id in (step.claim, step.slip) if id is not None]
    return tuple(dict.fromkeys(ids))


def evidence(found: Replay) -> Evidence:
    """What a replay says of the claim itself: a broken proof leaves it undecided, for it may have another."""
    counts = [f"{sum(line.outcome == name for line in found.lines)} {name}" for name in DECIDES]
    text = f"its proof, {len(found.lines)} lines: " + ", ".join(c for c in counts if not c.startswith("0 "))
    false, broken = found.first_false, found.first_break
    outcome: Outcome
    if broken is not None:
        text += f"; it breaks at {broken.step.label}: {broken.detail}"
        outcome = "undecided"
    elif any(line.outcome in ("fails", "undecided") for line in found.lines):
        outcome = "undecided"
    else:
        outcome = "holds"
    if found.reaches:
        text += "; its last line is the claim, and each line was looked at by itself"
    else:
        text += "; its last line is not the claim, so that nothing follows from them for it"
        outcome = "undecided"
    if false is not None and false is not broken:
        text += f"; the first false line is {false.step.label}"
        text += "" if false.step.label in found.dependencies else ", on which the conclusion does not depend"
    if found.slips:
        text += f"; slips: {', '.join(line.step.label for line in found.slips)}"
    return Evidence("algebra", outcome, text, data=found.to_json())


def _restored(claim: str, lines: list[dict[str, Any]], reaches: bool) -> Replay:
    """The replay of a claim of the catalogue, from its lines without their steps."""
    steps = catalog.claim(claim).steps
    return Replay(claim, tuple(Line(step, **found) for step, found in zip(steps, lines, strict=True)), reaches)


def _checked(claim: Claim, claims: list[Claim], module: ModuleType | None, pool: Pool | None) -> dict[str, Result]:
    """The ordinary check's verdicts on the claims of the lines, without simulations."""
    from validate import checking as ordinary
    from validate import papers as measured
    from validate import survey

    if not claims:
        return {}
    module = module if module is not None else measured.module(claim.paper)
    if pool is None:
        empty = survey.Pool((), ())
        pool = empty if module is None else survey.pool_of(module, True, lambda text: None, claim.paper)
    with TemporaryDirectory() as folder:
        found = [ordinary.check_claim(c, module, pool, (), Path(folder)) for c in claims]
    return {result.id: replace(result, certificate=None) for result in found}  # the files are gone


# --- one line --------------------------------------------------------------------------------------------------------


def _line(
    step: Step,
    claim: Claim,
    results: Mapping[str, Result],
    of_line: Mapping[str, Claim],
    domains: Mapping[str, Domain],
    find: Callable[[str], Claim],
    facts: Facts,
) -> Line:
    findings = []
    if step.identity is not None:
        findings.append(by_algebra(step, domains, facts))
    if step.vectors is not None:
        findings.append(by_vectors(step.vectors))
    if step.order is not None:
        findings.append(by_order(step.order, find))
    if step.claim is not None:
        findings.append(by_claim(of_line[step.label], claim, results))
    lacking = missing(step, claim)
    if step.rule == "cited":
        which = ", ".join(h.name for h in lacking)
        text = f"needs: {which}, which the claim does not assume" if lacking else "what it cites needs is assumed"
        findings.append(Finding("cited", "citation", text))
    if not findings:
        findings.append(Finding("undecided", "none", "no way to check this line is known"))
    deciding = min(findings, key=lambda f: DECIDES.index(f.outcome))
    detail = "; ".join(f.detail for f in sorted(findings, key=lambda f: f is not deciding))
    return Line(
        step=step,
        outcome=deciding.outcome,
        method=deciding.method,
        detail=detail,
        counterexample=deciding.counterexample,
        reached=None if step.chain is None else by_vectors(step.chain),
        follows=infer(step, of_line, domains, facts),
        needs=lacking,
    )


def _with_slip(
    line: Line,
    lines: list[Line],
    results: Mapping[str, Result],
    of_line: Mapping[str, Claim],
    domains: Mapping[str, Domain],
    find: Callable[[str], Claim],
    facts: Facts,
) -> Line:
    """The line, exempted if it is a slip: see the module for what that takes."""
    step = line.step
    if step.slip is None or not line.false:
        return line
    repair, result = find(step.slip), results.get(step.slip)
    users = [other for other in lines if step.label in other.step.uses]
    if result is None or result.verdict not in ("proved", "supported") or not users:
        return line
    for user in users:
        mended = infer(user.step, {**of_line, step.label: repair}, domains, facts)
        if mended is None or mended.answer != "follows":
            return line
        if user.follows is None or user.follows.answer != "does not follow":
            return line
    names = ", ".join(user.step.label for user in users)
    text = f"slip: {names} uses the repaired form, {repair.id} ({result.verdict}), from which it follows by algebra"
    return replace(line, slip=text)


def _from_repairs(line: Line, slips: set[str]) -> Line:
    """The line; if it uses slips, its inference says so."""
    used = [label for label in line.step.uses if label in slips]
    if not used or line.follows is None:
        return line
    detail = f"{line.follows.detail}; from the repaired {', '.join(used)} it follows"
    return replace(line, follows=replace(line.follows, detail=detail))
