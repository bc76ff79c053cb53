"""The numbers that a claim's right side takes on one problem, read off the claim; and those that are not given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.bound import Parameter
from theory.calculator import ROUNDS
from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number, UndefinedError
from theory.predicates import Dissimilar, Predicate
from theory.program import Instruction
from theory.quantity import Bounded
from theory.sentence import (
    OVER,
    At,
    Expression,
    SentenceError,
    evaluate,
    everything,
    parse_expression,
    parts,
    read,
    text_of,
)
from validate import satisfied
from validate.compare.numbers import Case, Numbers
from validate.compare.right import Right
from validate.expected import side_of, world_of
from validate.instances.constants import best_constants, bests_of
from validate.instances.roles import roles_of
from validate.instances.setting import Setting

SMALLEST = 1e-30
"""In place of 0 where any positive number is a constant."""
MOST_ALONG = 1000
"""Values of a run that are gone through for what a bound asks of it."""


class Start(Setting):
    """A problem before the algorithm runs, with its states as they begin."""

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """As `World`: the first value of a state."""
        of = self.claim.of
        state = next((s for s in of.state if s.name == name), None) if of is not None else None
        if state is None or indices[0] != 0:
            raise UndefinedError(f"{name} is not known before the algorithm runs")
        if state.initial.strip() == "0":
            return np.zeros(self.dim)
        return evaluate(parse_expression(state.initial), self, at, self.claim.vocabulary)


class Asked:
    """A claim's numbers on one problem.

    Attributes:
        unmet: an assumption that is not true of the problem, or None.
        needed: what is not given.
        values: of what the right side and the conditions take, by name.
        free: the parameters that are left.
        right: the right side with these values.
        asserted: what the reader bounds of a run.
        sizes: what the reader gives of numbers that the claim fixes.
    """

    def __init__(self, bounded: Bounded, numbers: Numbers, case: Case, given: dict[str, float]) -> None:
        self.bounded, self.numbers, self.case, self.claim = bounded, numbers, case, bounded.claim
        self.needed: list[str] = []
        self.free: list[Parameter] = []
        self.asserted: list[Expression] = []
        self.right = Right(bounded, numbers.rounds)
        self.values = self.right.values
        self.unmet: str | None = None
        known = {**self._sizes(), **given}
        known |= self._constants(known) | given
        if self.unmet is None:
            self._find(known)

    def _constants(self, known: Mapping[str, float]) -> dict[str, float]:
        """The best constants of its assumptions; a sentence for every point may have other numbers in it."""
        bests: list[tuple[Predicate, Sequence[Any]]] = []
        found: dict[str, float] = {}
        for one in sorted(self.claim.predicates, key=lambda one: isinstance(one, ForEvery)):
            world = Setting(self.case.problem, self.case.start, {**known, **found}, self.numbers.rounds, self.claim)
            values = bests_of(one, world) if one.about != "network" else ()
            if values is None or not _of_zeta(one, self.case):
                self.unmet = self.unmet or one.text
                continue
            if one.binds:
                bests.append((one, values))
                found = {name: float(value) for name, value in best_constants(self.claim, bests).items()}
        return {n: v if v > 0 or self.claim.domains[n].contains(v) else SMALLEST for n, v in found.items()}

    def _sizes(self) -> dict[str, float]:
        """Numbers of turns, clients, samples and coordinates, by what the program does with them; those not given are
        needed, unless the claim fixes them."""
        roles, numbers = roles_of(self.claim.program), self.numbers
        wanted = {
            **dict.fromkeys(roles.turns | roles.steps, ("H", numbers.H)),
            **dict.fromkeys(roles.clients, ("S", numbers.S)),
            **dict.fromkeys(roles.coordinates, ("kept", numbers.kept)),
            **dict.fromkeys(roles.batch, ("batch", numbers.batch)),
            **dict.fromkeys(_noise(self.claim), ("sigma2", numbers.sigma2)),
        }
        self.asked = frozenset(wanted)
        known = {name for bound in self.right.bounds for name in bound.definitions}
        fixed = {r.left.name: r.right for r in self.claim.relations if r.relation == "==" and isinstance(r.left, Name)}
        self.ties = {name: fixed[name] for name, (_, value) in wanted.items() if value is None and name in fixed}
        self.sizes = {name: float(value) for name, (_, value) in wanted.items() if value is not None and name in known}
        self.roles_fixed = [name for name in wanted if name in {*known, *self.ties}]
        for name, (option, value) in wanted.items():
            if value is None and name not in {*known, *fixed}:
                self.needed.append(option)
        self.needed += sorted(roles.matrices | roles.weights | roles.lengths)
        return {name: float(value) for name, (_, value) in wanted.items() if value is not None and name not in known}

    def _find(self, known: dict[str, Any]) -> None:
        claim, case, numbers = self.claim, self.case, self.numbers
        rounds = numbers.rounds
        known |= {"K": rounds, "k": rounds - self.bounded.last, "N": numbers.N, "d": case.problem.dim}
        known["fstar"] = float(case.problem.optimal_value)
        known[ROUNDS] = np.arange(rounds, dtype=float)
        setting = Start(case.problem, case.start, known, rounds, claim)
        for name, tree in self.ties.items():
            known[name] = self._worth(tree, setting)
        if self.bounded.start is not None:
            self.right.begins = self._worth(self.bounded.start, setting)
        of = () if claim.of is None else claim.of.parameters
        later: dict[str, Expression] = {}
        for bound in self.right.bounds:
            for p in bound.parameters:
                if p.name in self.values or p.name == self.bounded.carried:
                    continue
                if p.name in known:
                    value = known[p.name]
                    outside = not p.domain.contains(value)
                    self.values[p.name] = SMALLEST if outside and np.ndim(value) == 0 and value == 0 else value
                    if not p.domain.contains(self.values[p.name]):
                        self.unmet = f"{p.name} in {p.domain}"
                elif p.name in self.right.texts:
                    tree = parse_expression(self.right.texts[p.name])
                    if text_of(tree) in known:
                        self.values[p.name] = known[text_of(tree)]
                        continue
                    if self.numbers.G2 is not None and _bounds_gradients(tree, claim):
                        self.values[p.name] = self.numbers.G2
                        self.asserted.append(tree)
                        continue
                    if read(tree, claim.vocabulary).random or _later(tree, claim):
                        later[p.name] = tree
                        continue
                    worth = self._worth(tree, setting)
                    self.values[p.name] = max(worth, SMALLEST) if p.domain.lower_open else worth
                elif p.name in self.asked:
                    continue  # it is needed already
                elif p.domain.integer or p.shape == "vector" or (p.name in claim.constants and p.name not in of):
                    self.needed.append(p.name)
                elif p not in self.free:
                    self.free.append(p)
        self._run(later, setting)

    def _run(self, later: Mapping[str, Expression], setting: Setting) -> None:
        """What is asked of a run, by moments, where nothing is left to be chosen and the run is short; else needed."""
        found: dict[str, float] = {}
        alone = later and not self.free and not self.needed and self.bounded.step is None
        tries = [self.right.terms(dict.fromkeys(later, value)) for value in (1.0, 2.0)] if alone else []
        of = () if self.claim.of is None else self.claim.of.parameters
        own = [{name: terms[name] for name in of if name in terms} for terms in tries]  # may not hang on the run
        if alone and own[0] == own[1]:
            known = {**setting.values, **self.values, **tries[0]}
            found = {name: self._along(tree, setting, known) for name, tree in later.items()}
        for name, tree in later.items():
            if not math.isfinite(found.get(name, math.nan)):
                self.needed.append("G2" if _bounds_gradients(tree, self.claim) else text_of(tree))
            self.values[name] = found.get(name, 1.0)

    def _along(self, tree: Expression, setting: Setting, known: Mapping[str, Any]) -> float:
        """What a tree is in a run; NaN where moments do not tell, or there is too much to be gone through."""
        one = replace(self.claim, statement=f"{text_of(tree)} <= 1", parameters={}, assuming=())
        rounds = 1 if _at_first(tree) else self.numbers.rounds
        if rounds * self.numbers.N * (self.numbers.H or 1) > MOST_ALONG:
            return math.nan
        whole = {n: int(v) if float(v).is_integer() else v for n, v in known.items() if np.ndim(v) == 0}
        try:
            world = world_of(one, self.case.problem, replace(setting, claim=one, values=whole, rounds=rounds))
            return float(side_of(tree, world, {"n": 0, "i": 0, "k": 0}))
        except (ValueError, KeyError):
            return math.nan

    @property
    def key(self) -> tuple[float, ...]:
        """All numbers, up to rounding: problems that have the same are one."""
        own = [self.right.begins, *(float(v) for v in self.values.values() if np.ndim(v) == 0)]
        return tuple(float(f"{v:.12g}") for v in own)

    def _worth(self, tree: Expression, setting: Setting) -> float:
        """The value of a tree before the algorithm runs; where it has none it is needed."""
        try:
            return float(evaluate(tree, setting, {"n": 0, "i": 0}, self.claim.vocabulary))
        except (UndefinedError, SentenceError, KeyError, IndexError, ValueError):
            self.needed.append(text_of(tree))
            return 1.0


def _later(tree: Expression, claim: Claim) -> bool:
    """Whether a tree speaks of what a run has, and its beginning has not."""
    states = [part for part in everything(tree) if isinstance(part, At)]
    return any(part.name in claim.vocabulary.taps or part.indices[0] != Number(Fraction(0)) for part in states)


def _at_first(tree: Expression) -> bool:
    """Whether a tree speaks of the first round alone."""
    zero = Number(Fraction(0))
    return all(part.indices[0] == zero for part in everything(tree) if isinstance(part, At))


def _bounds_gradients(tree: Expression, claim: Claim) -> bool:
    """Whether a tree is the largest squared norm, in expectation, of gradients that a run uses."""
    meant = 0
    while isinstance(tree, Apply) and (tree.operation == "E" or OVER.get(tree.operation, ("",))[0] == "max"):
        meant += tree.operation == "E"
        tree = parts(tree)[0]
    program = claim.program
    if program is None or not isinstance(tree, Apply) or tree.operation != "norm2" or (program.random and not meant):
        return False
    v = parts(tree)[0]
    if isinstance(v, Apply):
        return v.operation.startswith("grad ") and any(isinstance(part, At) for part in parts(v))
    tapped = {s.of[0] for s in program.steps if isinstance(s, Instruction) and s.op == "tap" and s.label == v.name}  # type: ignore[union-attr]
    return any(isinstance(s, Instruction) and s.op == "gradient" and s.to in tapped for s in program.steps)


def _noise(claim: Claim) -> frozenset[str]:
    """The algorithm's parameters that are variances of noise."""
    steps = () if claim.program is None else claim.program.steps
    found = [step.numbers[0] for step in steps if isinstance(step, Instruction) and step.op == "noise"]
    return frozenset(number.name for number in found if isinstance(number, Name))


def _of_zeta(one: Predicate, case: Case) -> bool:
    """Whether the clients' distance is zeta everywhere, where an assumption is about it."""
    return not isinstance(one, Dissimilar) or satisfied.best(Dissimilar("", (Name("zeta"),)), case.problem) is not None
