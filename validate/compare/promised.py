"""What a claim promises at a reader's numbers: its right side on the problems that have them, at the best step.

What the right side takes is read off the claim: constants by the assumptions that bind them, sizes and numbers of turns
by what the program does with them, and expressions (``f(x0) - fstar``) by their value on the problems, where the
largest right side counts. What is left (steps, probabilities, numbers of Young's inequality) is free, and chosen within
the conditions so that the right side is least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from theory.bound import Bound
from theory.calculator import ROUNDS, calculator
from theory.claim import Claim
from theory.floats import Floats
from theory.formula import Apply, Name, Number, UndefinedError, names_in
from theory.predicates import Dissimilar, PolyakLojasiewicz, Predicate, StronglyConvex
from theory.program import NAME, Instruction
from theory.quantity import Bounded, Quantity
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
from validate.compare.least import least
from validate.compare.numbers import Case, Numbers, cases
from validate.expected import side_of, world_of
from validate.instances.constants import best_constants
from validate.instances.roles import roles_of
from validate.instances.setting import Setting

SMALLEST = 1e-30
"""In place of 0 where any positive number is a constant."""
MOST_CARRIED = 2000
"""Rounds over which a bound of one round that hangs on the round is carried."""
MOST_ALONG = 1000
"""Values of a run that are gone through for what a bound asks of it."""
SLACK = 1e-9
MOST_FREE = 4


@dataclass(frozen=True)
class Promise:
    """What a claim promises.

    Attributes:
        claim: as it is written.
        bounded: its quantity, and what bounds it.
        value: the largest right side, over the problems that satisfy what it assumes.
        parameters: values of the numbers by name, of the free ones the best.
        tuned: the names of the free ones.
        steps: what is chosen, and what the claim fixes of its algorithm, by name.
        by_case: the right side on each problem, by the problem's name.
        asserted: what the reader bounds of the run, with the bound.
    """

    claim: Claim
    bounded: Bounded
    value: float
    parameters: Mapping[str, float]
    tuned: tuple[str, ...]
    steps: Mapping[str, float]
    by_case: Mapping[str, float]
    asserted: tuple[tuple[Expression, float], ...] = ()

    @property
    def quantity(self) -> Quantity:
        """What it bounds."""
        return self.bounded.quantity


class LackingError(ValueError):
    """Why a claim promises nothing: it `needs` numbers that are not given, or they `cannot` satisfy what it assumes.

    Attributes:
        kind: which of the two.
        what: names of numbers (those of `Numbers`, or of the claim), or the assumption.
    """

    def __init__(self, kind: Literal["needs", "cannot"], *what: str) -> None:
        super().__init__(f"{kind} {', '.join(what)}")
        self.kind, self.what = kind, what


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


def promise(claim: Claim, bounded: Bounded, numbers: Numbers, given: Mapping[str, float] | None = None) -> Promise:
    """What a claim promises of one of its quantities.

    Args:
        claim: as it is written.
        bounded: one of `theory.quantity.bounded` of it.
        numbers: the reader's.
        given: values of its own names, or of expressions of its right side, by their text.

    Raises:
        LackingError: where it promises nothing.
    """
    own = {_own(name): value for name, value in (given or {}).items()}
    here = {case.name: _Told(bounded, numbers.known, case, own) for case in cases(numbers.known)}
    fitting = {name: told for name, told in here.items() if told.unmet is None}
    if not fitting:
        raise LackingError("cannot", str(next(iter(here.values())).unmet))
    first = next(iter(fitting.values()))
    needed = dict.fromkeys(first.needed)
    for name, other in numbers.otherwise():  # what is not given may change nothing
        changed = [_Told(bounded, other, case, own) for case in cases(other)[:1]]
        if any(t.unmet is not None or (not t.needed and _differ(t, first)) for t in changed):
            needed[name] = None
    if needed:
        raise LackingError("needs", *needed)
    if numbers.mu == 0 and any(isinstance(p, StronglyConvex | PolyakLojasiewicz) for p in bounded.claim.predicates):
        raise LackingError("cannot", "strong convexity, as mu is 0")
    different = list({told.key: told for told in fitting.values()}.values())
    free = {p.name: p.domain for p in first.free}
    if len(free) > MOST_FREE:
        raise LackingError("needs", *free)
    fixed: dict[str, float] = {}

    def worst(values: Mapping[str, Any]) -> Any:
        found = [told.right({**fixed, **values}) for told in different]
        return np.maximum.reduce(np.broadcast_arrays(*found))

    for name in list(free):  # an equation that has one of them alone
        root = first.solved(name, free)
        if root is not None:
            fixed[name] = root
            del free[name]
    best, value = least(worst, free)
    if not math.isfinite(value):
        raise LackingError("cannot", first.violated(fixed, free) or "its conditions together")
    if value < 0:
        raise LackingError("cannot", "a right side that is not negative")
    chosen = {**fixed, **best}
    parameters = {**{n: v for n, v in first.values.items() if np.ndim(v) == 0}, **chosen, **first.terms(chosen)}
    for name, wanted in first.sizes.items():
        if name in parameters and abs(parameters[name] - wanted) > SLACK * wanted:
            raise LackingError("cannot", f"{name} == {parameters[name]:g}")
    for name in first.roles_fixed:
        if abs(parameters[name] - round(parameters[name])) > 1e-9:
            raise LackingError("cannot", f"{name} == {parameters[name]:g}, which is no integer")
    by_case = {name: float(np.max(told.right(chosen))) for name, told in fitting.items()}
    asserted = tuple((tree, float(numbers.G2 or 0)) for tree in first.asserted)
    of = () if claim.of is None else claim.of.parameters
    fixed_by_claim = [name for name in of if name in first.terms(chosen) or name in first.ties]
    steps = {name: parameters[name] for name in dict.fromkeys((*chosen, *fixed_by_claim))}
    return Promise(claim, bounded, value, parameters, tuple(chosen), steps, by_case, asserted)


def _own(name: str) -> str:
    """A name, or a text as trees are written."""
    return name if NAME.match(name) else text_of(parse_expression(name))


def _differ(one: _Told, two: _Told) -> bool:
    """Whether a number that is known in both is another one, and not by rounding."""
    pairs = [(value, two.values[name]) for name, value in one.values.items() if name in two.values]
    return any(not np.allclose(u, v, rtol=SLACK, atol=SLACK**2) for u, v in [(one.begins, two.begins), *pairs])


class _Told:
    """A claim's numbers on one problem.

    Attributes:
        unmet: an assumption that is not true of the problem, or None.
        needed: what is not given.
        values: of what the right side and the conditions take, by name.
        free: the parameters that are left.
        begins: what is carried, before the first round.
        asserted: what the reader bounds of a run.
        sizes: what the reader gives of numbers that the claim fixes.
    """

    def __init__(self, bounded: Bounded, numbers: Numbers, case: Case, given: dict[str, float]) -> None:
        self.bounded, self.numbers, self.case, self.claim = bounded, numbers, case, bounded.claim
        self.needed: list[str] = []
        self.values: dict[str, Any] = {}
        self.free: list[Any] = []
        self.begins = 0.0
        self.asserted: list[Expression] = []
        self.bounds = self._bounds()
        self.unmet: str | None = next((one.text for one in self.claim.predicates if not _fits(one, case)), None)
        if self.unmet is None:
            self._find({**self._constants(), **self._sizes(), **given})

    def _bounds(self) -> tuple[tuple[Bound, Mapping[str, str]], ...]:
        claims = [self.claim, *([self.bounded.step] if self.bounded.step is not None else [])]
        found = [calculator(one, all_relations=True) for one in claims]
        return tuple((one.bound, one.texts) for one in found)

    def _constants(self) -> dict[str, float]:
        bests = []
        for one in self.claim.predicates:
            values = satisfied.best(one, self.case.problem) if one.binds else None
            if values is not None:
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
        known = {name for bound, _ in self.bounds for name in bound.definitions}
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
            self.begins = self._worth(self.bounded.start, setting)
        of = () if claim.of is None else claim.of.parameters
        later: dict[str, Expression] = {}
        for bound, texts in self.bounds:
            for p in bound.parameters:
                if p.name in self.values or p.name == self.bounded.carried:
                    continue
                if p.name in known:
                    value = known[p.name]
                    outside = not p.domain.contains(value)
                    self.values[p.name] = SMALLEST if outside and np.ndim(value) == 0 and value == 0 else value
                    if not p.domain.contains(self.values[p.name]):
                        self.unmet = f"{p.name} in {p.domain}"
                elif p.name in texts:
                    tree = parse_expression(texts[p.name])
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
        tries = [self.terms(dict.fromkeys(later, value)) for value in (1.0, 2.0)] if alone else []
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
        own = [self.begins, *(float(v) for v in self.values.values() if np.ndim(v) == 0)]
        return tuple(float(f"{v:.12g}") for v in own)

    def _worth(self, tree: Expression, setting: Setting) -> float:
        """The value of a tree before the algorithm runs; where it has none it is needed."""
        try:
            return float(evaluate(tree, setting, {"n": 0, "i": 0}, self.claim.vocabulary))
        except (UndefinedError, SentenceError, KeyError, IndexError, ValueError):
            self.needed.append(text_of(tree))
            return 1.0

    # the right side

    def _floats(self, at: int, values: Mapping[str, Any]) -> Floats:
        bound = self.bounds[at][0]
        every = {**self.values, **values}
        return Floats(bound, {p.name: every[p.name] for p in bound.parameters})

    def right(self, values: Mapping[str, Any]) -> Any:
        """The right side at values of the free parameters, infinite where a condition is violated."""
        with np.errstate(all="ignore"):
            carried = {} if self.bounded.step is None else {self.bounded.carried: self._carried(values)}
            floats = self._floats(0, {**values, **carried})
            shape = np.broadcast_shapes(floats.shape, *(np.shape(v) for v in values.values()))
            found = np.broadcast_to(np.asarray(floats.right(), dtype=float), shape).copy()
            for i, relation in enumerate(floats.claim.formulas.relations):
                if relation is None:
                    continue
                free = bool(_names(relation.sides, floats.claim) & set(values))  # chosen within, and not up to rounding
                found[~np.broadcast_to(_holds(floats.sides(i), relation.operators, free), shape)] = np.inf
        found[np.isnan(found)] = np.inf
        return found

    @np.errstate(all="ignore")
    def _carried(self, values: Mapping[str, Any]) -> Any:
        """The number of a claim about one round, after all rounds."""
        name, many = self.bounded.carried, self.numbers.rounds - self.bounded.last + 1
        bound = self.bounds[1][0]

        def after(before: Any, k: int | None = None) -> Any:
            more = {} if k is None else {"k": k}
            return np.asarray(self._floats(1, {**values, name: before, **more}).right(), dtype=float)

        if any(p.name == "k" for p in bound.parameters):
            if many > MOST_CARRIED:
                return np.inf
            value: Any = np.asarray(self.begins)
            for k in range(many):
                value = np.nan_to_num(np.maximum(after(value, k), 0.0), nan=1e300, posinf=1e300)
            return value
        rest, one, two = after(0.0), after(1.0), after(2.0)
        rate = np.maximum(one - rest, 0.0)
        linear = np.abs(two - 2 * one + rest) <= 1e-6 * (np.abs(two) + np.abs(rest) + 1e-300)
        power = rate**many
        total = np.where(np.abs(1 - rate) < 1e-12, many, (1 - power) / np.where(rate == 1, 1.0, 1 - rate))
        found = np.where(linear, power * self.begins + np.maximum(rest, 0.0) * total, np.inf)
        return np.nan_to_num(found, nan=1e300, posinf=1e300)

    def terms(self, chosen: Mapping[str, float]) -> dict[str, float]:
        """The definitions of the right side that are numbers."""
        carried = {} if self.bounded.step is None else {self.bounded.carried: self._carried(chosen)}
        floats = self._floats(0, {**chosen, **carried})
        names = list(floats.claim.formulas.definitions)
        found = zip(names, floats.definitions(), strict=True)
        return {name: float(value) for name, value in found if np.ndim(value) == 0}

    def solved(self, name: str, free: Mapping[str, Any]) -> float | None:
        """The number that an equation gives which has this one of the free parameters alone."""
        bound = self.bounds[0][0]
        for i, relation in enumerate(bound.formulas.relations):
            if relation is None or relation.operators != ("==",) or _names(relation.sides, bound) & set(free) != {name}:
                continue
            rest = dict.fromkeys(free, 1.0)
            grid = np.geomspace(1e-12, 1e12, 481)

            def difference(value: Any, i: int = i, rest: dict[str, Any] = rest) -> Any:
                left, right = self._floats(0, {**rest, name: value, **self._any_carried()}).sides(i)
                return np.broadcast_to(left - right, np.shape(value))

            signs = np.sign(difference(grid))
            turns = np.nonzero(signs[1:] * signs[:-1] <= 0)[0]
            if len(turns):
                from scipy.optimize import brentq

                low, high = float(grid[turns[0]]), float(grid[turns[0] + 1])
                return float(brentq(lambda v: float(difference(np.array([v]))[0]), low, high, xtol=1e-15 * high))
        return None

    def _any_carried(self) -> dict[str, float]:
        return {} if self.bounded.step is None else {self.bounded.carried: 1.0}

    def violated(self, fixed: Mapping[str, float], free: Mapping[str, Any]) -> str | None:
        """A condition without free parameters that is false."""
        rest = {**dict.fromkeys(free, 1.0), **fixed, **self._any_carried()}
        try:
            floats = self._floats(0, rest)
        except ValueError as error:
            return str(error)
        for i, relation in enumerate(floats.claim.formulas.relations):
            if relation is None or _names(relation.sides, floats.claim) & set(free):
                continue
            if not np.all(_holds(floats.sides(i), relation.operators)):
                return floats.claim.conditions[i].name
        return None


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


def _names(sides: Sequence[Any], bound: Bound) -> set[str]:
    """The names in formulas, through definitions."""
    found = set().union(*(names_in(side) for side in sides))
    for name in reversed(bound.formulas.definitions):
        if name in found:
            found |= names_in(bound.formulas.definitions[name])
    return found


def _fits(one: Predicate, case: Case) -> bool:
    """Whether an assumption is true of a problem with some constants; the clients' distance is zeta everywhere."""
    if isinstance(one, Dissimilar):
        return satisfied.best(Dissimilar("", (Name("zeta"),)), case.problem) is not None
    if one.about == "network":
        return True  # its matrix is asked for
    return satisfied.best(one, case.problem) is not None


def _holds(sides: Sequence[Any], operators: Sequence[str], exactly: bool = False) -> Any:
    """A chain of relations between floats, up to rounding where they are not strict; `exactly`: equations alone."""
    found: Any = True
    for (left, right), operator in zip(pairwise(sides), operators, strict=True):
        slack = SLACK * np.maximum(np.abs(left), np.abs(right))
        room = 0.0 if exactly else slack
        if operator == "==":
            found = found & (np.abs(left - right) <= slack)
        elif operator in ("<", "<="):
            found = found & ((left < right) if operator == "<" else (left <= right + room))
        else:
            found = found & ((left > right) if operator == ">" else (left + room >= right))
    return found
