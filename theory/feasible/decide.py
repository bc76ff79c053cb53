"""Can a claim's hypotheses hold together? A witness, or a proof that they cannot.

The conditions are the domains of the parameters, the relations of the hypotheses, and that the definitions and the
right side have a value. Branch and
bound looks first, with few boxes; then z3, where it is installed; then branch and bound again. A witness counts only if
it passes the exact check, and "empty" only if z3 or branch and bound proved it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from theory.arithmetic import NotRationalError, Reals
from theory.bound import Bound, Hypothesis
from theory.domain import Domain
from theory.expression import check as check_claim
from theory.feasible import smt
from theory.feasible.boxes import BranchAndBound, Search, search
from theory.feasible.constraints import System, domain_constraints, flatten, read_system
from theory.feasible.limits import ANY, Limits
from theory.feasible.scaling import normalised, without_loss
from theory.formula import Apply, Comparison, Formula, Name, Number, fold, names_in, parse, parse_relation, text_of
from theory.values import read

Outcome = Literal["feasible", "empty", "undecided"]
Entry: TypeAlias = "Fraction | str | tuple[Fraction | str, ...]"

FEW_BOXES = 64
CONFIRMING_BOXES = 200  # for a second proof, which is welcome but not at any price
CORE_EFFORT = 0.2  # for each condition that a proof may not need
LENGTHS = (1, 2, 3)  # of vectors whose length nobody gives
RIGHT = "right side"


@dataclass(frozen=True)
class Emptiness:
    """A proof that conditions cannot hold together.

    Attributes:
        core: names of conditions that already exclude each other (``"domain of x"`` for a domain that is used). z3
            leaves out what is superfluous; branch and bound does so for relations, and takes domains for granted.
        by: ``"z3"``, ``"branch and bound"``, or both: two independent proofs.
        boxes: how many boxes branch and bound needed, None if it did not decide.
        normalised: variables set to 1 without loss of generality, see `theory.feasible.scaling`.
    """

    core: tuple[str, ...]
    by: tuple[str, ...]
    boxes: int | None = None
    normalised: tuple[str, ...] = ()


@dataclass(frozen=True)
class Feasibility:
    """Whether conditions can hold together.

    Attributes:
        outcome: ``"feasible"``, ``"empty"`` or ``"undecided"``.
        witness: for ``"feasible"``, a value of each parameter that satisfies everything, checked exactly: a Fraction,
            a formula for an irrational number, a tuple of these for a vector.
        proof: for ``"empty"``.
        hypotheses: names of all conditions that were used, but for domains.
        method: what decided.
        detail: a line for a reader; for ``"undecided"``, what was tried, and advice.
    """

    outcome: Outcome
    witness: Mapping[str, Entry] | None
    proof: Emptiness | None
    hypotheses: tuple[str, ...]
    method: str
    detail: str

    def to_json(self) -> dict[str, Any]:
        witness = None
        if self.witness is not None:
            witness = {n: [str(x) for x in v] if isinstance(v, tuple) else str(v) for n, v in self.witness.items()}
        proof = None
        if self.proof is not None:
            proof = {
                "core": list(self.proof.core),
                "by": list(self.proof.by),
                "boxes": self.proof.boxes,
                "normalised": list(self.proof.normalised),
            }
        return {
            "outcome": self.outcome,
            "witness": witness,
            "proof": proof,
            "hypotheses": list(self.hypotheses),
            "method": self.method,
            "detail": self.detail,
        }


def feasible(
    claim: Bound,
    extra: Sequence[str] = (),
    fixed: Mapping[str, Any] | None = None,
    *,
    limits: Limits = ANY,
) -> Feasibility:
    """Whether a claim's hypotheses can hold together, as far as they compare numbers.

    Assumptions on functions that exclude one another whatever the numbers are, such as strong convexity and bounded
    gradients, are found by `theory.feasible.function_conflicts`. `theory.feasible.compatible` asks both, as
    ``fedproof feasible`` does.

    Args:
        claim: in numbers (`theory.calculator`).
        extra: further relations as text (``"M <= 8"``).
        fixed: values of parameters, as in `theory.values.read`: numbers, text, vectors.
        limits: when to give up.

    Returns:
        What was found. Vectors whose length `fixed` does not give have 1, 2 or 3 entries in a witness; they cannot be
        proved empty, as longer ones are not tried.

    Raises:
        ValueError: for a value outside its domain, an unknown name, or a relation that cannot be read.
    """
    hypotheses = [*claim.conditions, *map(_hypothesis, extra)]
    check_claim(replace(claim, hypotheses=tuple(hypotheses), standing=()))
    entries = read(claim, fixed or {}, partial=True)
    domains = {p.name: p.domain for p in claim.parameters}
    relations = [(h.name, parse_relation(h.relation)) for h in hypotheses if h.relation is not None]
    definitions = {name: parse(text) for name, text in claim.definitions.items()}
    if claim.right is not None:
        definitions[RIGHT] = parse(claim.right)
    vectors = [p.name for p in claim.parameters if p.shape == "vector"]
    return _over_lengths(relations, domains, definitions, vectors, entries, limits)


def feasible_relations(
    relations: Sequence[str | tuple[str, str]],
    domains: Mapping[str, Domain],
    definitions: Mapping[str, str] | None = None,
    *,
    limits: Limits = ANY,
) -> Feasibility:
    """Whether relations between numbers can hold together.

    Args:
        relations: each as text, or a pair of a name and the text.
        domains: of all names that are not defined.
        definitions: by name, in order; each may use the earlier ones. All have to be defined.
        limits: when to give up.

    Raises:
        ValueError: for a relation or definition that cannot be read, or an unknown name.
    """
    named = [(r, r) if isinstance(r, str) else r for r in relations]
    for pair in named:
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"relations={pair!r} is neither text nor a pair of a name and text")
    read_relations = [(name, parse_relation(text)) for name, text in named]
    formulas = {name: parse(text) for name, text in (definitions or {}).items()}
    return _over_lengths(read_relations, domains, formulas, [], {}, limits)


def _hypothesis(given: str) -> Hypothesis:
    if not isinstance(given, str):
        raise ValueError(f"extra={given!r} is no relation as text")
    parse_relation(given)
    return Hypothesis(given.strip(), given, relation=given)


def _over_lengths(
    relations: Sequence[tuple[str, Comparison]],
    domains: Mapping[str, Domain],
    definitions: Mapping[str, Formula],
    vectors: Sequence[str],
    entries: Mapping[str, Any],
    limits: Limits,
) -> Feasibility:
    """Try the lengths of vectors that are not given."""
    given = {name: len(entries[name]) for name in vectors if name in entries}
    free = [name for name in vectors if name not in entries]
    tried: list[Feasibility] = []
    for size in LENGTHS if free else LENGTHS[:1]:
        lengths = given | dict.fromkeys(free, size)
        try:
            system = read_system(relations, domains, definitions, lengths)
        except ValueError:
            if free and size != LENGTHS[-1]:
                continue  # a vector that is given has another length
            raise
        found = _fixed_and_decided(system, entries, lengths, limits)
        if found.outcome == "feasible" or not free:
            return found
        tried.append(found)
    told = "; ".join(f"{size} entries: {f.outcome}" for size, f in zip(LENGTHS, tried, strict=False))
    detail = f"vectors of {told}; longer ones were not tried (fix the vectors to ask for one length)"
    return replace(tried[-1], outcome="undecided", proof=None, detail=detail)


def _fixed_and_decided(
    system: System, entries: Mapping[str, Any], lengths: Mapping[str, int], limits: Limits
) -> Feasibility:
    """Put the fixed values in, decide, and put the witness together again."""
    numbers: dict[str, Fraction] = {}
    formulas: dict[str, Formula] = {}
    known: dict[str, Any] = {}
    shapes = {name: tuple(map(Name, _entries(name, lengths))) if name in lengths else Name(name) for name in entries}
    for name, entry in entries.items():  # each after those that it uses
        parts = [_rational(part, known) for part in (entry if isinstance(entry, tuple) else (entry,))]
        if all(isinstance(part, Fraction) for part in parts):
            known[name] = tuple(parts) if isinstance(entry, tuple) else parts[0]
        for key, part in zip(_entries(name, lengths), parts, strict=True):
            if isinstance(part, Fraction):
                numbers[key] = part
            else:
                flat = flatten(part, shapes, f"value of {name}")
                assert not isinstance(flat, tuple)  # `read` refuses it
                formulas[key] = flat
    for name, value in numbers.items():
        if not system.domains[name].contains(value):
            raise ValueError(f"{name}={value} is outside {system.domains[name]}")
    more = [c for name in formulas for c in domain_constraints(name, system.domains[name])]
    whole = [name for name in formulas if system.domains[name].integer]
    if whole:
        raise ValueError(f"{whole[0]}={text_of(formulas[whole[0]])} is not seen to be an integer; give it as a number")
    rest = {n: d for n, d in system.domains.items() if n not in formulas}
    ready = System(rest, formulas | dict(system.definitions), (*more, *system.constraints)).fixed(numbers)
    found = _decide(ready, limits)
    if found.witness is None:
        texts = {**numbers, **{name: text_of(formula) for name, formula in formulas.items()}}
        given = ", ".join(f"{name} = {value}" for name, value in texts.items())
        return replace(found, detail=f"{found.detail}, given {given}") if given else found
    exact: dict[str, Formula] = {name: Number(value) for name, value in numbers.items()}
    for name, formula in formulas.items():
        exact[name] = _replaced(formula, exact)
    values: dict[str, Any] = {**found.witness, **numbers, **{name: text_of(exact[name]) for name in formulas}}
    witness: dict[str, Entry] = {}
    for key in system.domains:
        name = key.split("[")[0]
        witness[name] = tuple(values[k] for k in _entries(name, lengths)) if name in lengths else values[name]
    return replace(found, witness=witness)


def _rational(value: Any, known: Mapping[str, Any]) -> Any:
    """A formula's value where it is rational and uses known names only, else the formula."""
    if not isinstance(value, Apply | Name | Number) or not names_in(value) <= set(known):
        return value
    try:
        return Reals(None).evaluate(value, known)
    except NotRationalError:
        return value


def _replaced(formula: Formula, values: Mapping[str, Formula]) -> Formula:
    """A formula with others put in for all its names."""
    return fold(formula, lambda v: Number(v), values.__getitem__, lambda operation, parts: Apply(operation, parts))


def _entries(name: str, lengths: Mapping[str, int]) -> list[str]:
    return [f"{name}[{i}]" for i in range(lengths[name])] if name in lengths else [name]


def _decide(system: System, limits: Limits) -> Feasibility:
    names = tuple(dict.fromkeys(c.name for c in system.constraints))
    unit = normalised(system)
    smaller = system.fixed(unit)
    tree = BranchAndBound(smaller)
    first = tree.search(_at_most(FEW_BOXES, limits))
    if first.witness is not None:
        return _found(first.witness | unit, names, "branch and bound", "a solution, checked exactly")
    told = list[str]()
    core: tuple[str, ...] = ()
    proved: list[str] = []
    if smt.available():
        answer = smt.decide(smaller, limits)
        told.append(answer.detail)
        if answer.witness is not None:
            witness = {n: v if isinstance(v, Fraction) else text_of(v) for n, v in answer.witness.items()}
            return _found(witness | unit, names, "z3", "a solution found by z3, checked exactly")
        if answer.status == "unsat":
            core, proved = answer.core, ["z3"]
    else:
        told.append(smt.ADVICE)
    second = first
    if first.outcome == "undecided" and (not proved or limits.boxes > FEW_BOXES):
        second = tree.search(_at_most(CONFIRMING_BOXES, limits) if proved else limits)
    if second.witness is not None:
        if proved:
            raise AssertionError(f"z3 says that there is no solution, and {second.witness} is one")
        return _found(second.witness | unit, names, "branch and bound", "a solution, checked exactly")
    told.append(second.detail)
    if second.outcome == "empty":
        proved.append("branch and bound")
        core = core or _core(smaller, second)
    if proved:
        count = second.boxes if second.outcome == "empty" else None
        proof = Emptiness(core, tuple(proved), count, tuple(unit))
        scaled = without_loss({name: unit[name] for name in unit if name in _spoken_of(system, core)})
        together = " together" if len(core) > 1 else ""
        detail = f"{', '.join(core)} cannot hold{together} ({'; '.join([*filter(None, [scaled]), *told])})"
        return Feasibility("empty", None, proof, names, " and ".join(proved), detail)
    return Feasibility("undecided", None, None, names, "none", "; ".join([*filter(None, [without_loss(unit)]), *told]))


def _spoken_of(system: System, core: Sequence[str]) -> set[str]:
    """The names in constraints, and in the definitions that these use."""
    left = [side for one in system.constraints if one.name in core for side in one.sides]
    found = set[str]()
    while left:
        names = {*names_in(left.pop())} - found
        found |= names
        left += [system.definitions[name] for name in names if name in system.definitions]
    return found


def _at_most(boxes: int, limits: Limits) -> Limits:
    return replace(limits, boxes=min(boxes, limits.boxes))


def _found(witness: Mapping[str, Any], names: tuple[str, ...], method: str, detail: str) -> Feasibility:
    return Feasibility("feasible", dict(witness), None, names, method, detail)


def _core(system: System, full: Search) -> tuple[str, ...]:
    """Names of constraints that branch and bound still finds empty, each left out once."""
    names = list(dict.fromkeys(c.name for c in system.constraints))
    for name in list(names):
        fewer = [n for n in names if n != name]
        rest = system.only([c for c in system.constraints if c.name in fewer])
        if search(rest, Limits(boxes=4 * full.boxes + FEW_BOXES, effort=CORE_EFFORT), look=False).outcome == "empty":
            names = fewer
    return tuple(names)
