"""Systems given to z3: witnesses, and names of the conditions that cannot hold together.

Polynomials, quotients, roots, ``abs``, ``min`` and ``max`` are translated exactly: a quotient q = a/b is a new variable
with q b = a and b != 0, a root one with its power. Logarithms, exponentials and other powers are new variables of which
only some true facts are told (``exp(x) >= 1 + x``, monotone, ...), so that ``unsat`` still means that there is no
solution, while a model is only a place to look for one. Integers count as reals first.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from theory.domain import Domain
from theory.feasible.constraints import Constraint, System, domain_constraints
from theory.feasible.limits import ANY, Limits
from theory.feasible.points import simplest
from theory.formula import Formula, parse

LARGEST_EXPONENT = 12
RESOURCES = 200_000  # z3's own count of steps, for an effort of 1
ADVICE = "z3 is not installed; `pip install 'fedproof[smt]'` adds it"
COST = (
    "without it only branch and bound can show that hypotheses exclude each other, so claims that are vacuous may be "
    "called undecided"
)
SIMPLE = tuple(
    Fraction(*p) for p in ((1, 1), (1, 2), (2, 1), (0, 1), (1, 4), (3, 1), (-1, 1), (1, 3), (1, 10), (10, 1))
)


@dataclass(frozen=True)
class Answer:
    """What z3 says.

    Attributes:
        status: ``"sat"``, ``"unsat"`` or ``"unknown"``; ``"sat"`` without witness is no proof of anything.
        core: for ``"unsat"``, names of constraints and domains that cannot hold together, none superfluous where
            z3 could tell.
        witness: a solution, checked by `System.holds`; a formula for an irrational number.
        exact: whether nothing was only approximated by facts.
        detail: a line.
    """

    status: Literal["sat", "unsat", "unknown"]
    core: tuple[str, ...] = ()
    witness: dict[str, Fraction | Formula] | None = None
    exact: bool = True
    detail: str = ""


def available() -> bool:
    """Whether z3 (the extra ``smt``) is installed."""
    return importlib.util.find_spec("z3") is not None


def missing() -> str | None:
    """What to say where z3 is not installed, with the verdicts that it costs; None where it is."""
    return None if available() else f"{ADVICE}; {COST}"


def decide(system: System, limits: Limits = ANY) -> Answer:
    """Ask z3 for a solution of a system, or for a proof that there is none.

    Args:
        system: the relations.
        limits: when to give up.

    Raises:
        ValueError: when z3 is not installed.
    """
    if not available():
        raise ValueError(ADVICE)
    answer = _Translation(system, False, limits).answer()
    whole = any(domain.integer for domain in system.domains.values())
    if answer.status == "unsat" or answer.witness is not None or not whole:
        return answer
    second = _Translation(system, True, limits).answer()
    return second if second.status == "unsat" or second.witness is not None else answer


def _z3() -> Any:
    """The module, which is optional and has no types."""
    return importlib.import_module("z3")


@dataclass
class _Budget:
    """What is left for a question and what it leads to."""

    resources: float
    end: float

    @classmethod
    def of(cls, limits: Limits) -> _Budget:
        """All that the limits allow."""
        return cls(limits.effort * RESOURCES, limits.end())

    @property
    def spent(self) -> bool:
        return self.resources < 1 or time.monotonic() > self.end


class _Translation:
    """A system in z3's terms, each condition under a name that can be left out."""

    def __init__(self, system: System, integers: bool, limits: Limits) -> None:
        z3 = self.z3 = _z3()
        self.system, self.graph, self.limits = system, system.graph, limits
        self.budget = _Budget.of(limits)
        self.used = 0
        self.context = z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.exact = True
        self.terms: list[Any] = []
        self.facts: list[list[Any]] = []  # of each node: what defines its new variable, or is needed for its value
        self.others: dict[str, list[tuple[Any, Any]]] = {"exp": [], "log": []}
        self.variables: dict[str, Any] = {}
        for i, node in enumerate(self.graph.nodes):
            facts: list[Any] = []
            if node.operation == "name" and integers and system.domains[node.name].integer:
                variable = z3.Int(node.name, self.context)
                term = z3.ToReal(variable)
                self.variables[node.name] = term
            elif node.operation == "name":
                term = z3.Real(node.name, self.context)
                self.variables[node.name] = term
            elif node.operation == "number":
                term = self._number(node.value)
            else:
                term, facts = self._operation(i)
            self.terms.append(term)
            self.facts.append(facts)
        self.names: dict[str, str] = {}  # of the tracking Booleans: the conditions
        self.conditions: list[tuple[Any, Any]] = []
        for name, domain in system.domains.items():
            pieces = list(domain_constraints(name, domain))
            self._track(f"domain of {name}", [self._relation(p, [self._side(s) for s in p.sides]) for p in pieces])
        for constraint, sides in zip(system.constraints, self.graph.sides, strict=True):
            facts = [fact for i in self.graph.below(sides) for fact in self.facts[i]]
            if not constraint.operators and not facts:
                continue
            self._track(constraint.name, [*facts, self._relation(constraint, [self.terms[i] for i in sides])])

    def answer(self) -> Answer:
        """Solve."""
        literals = [literal for literal, _ in self.conditions]
        for literal, formula in self.conditions:
            self.solver.add(self.z3.Implies(literal, formula))
        status = self._check(literals)
        version = self.z3.get_version_string()
        if status == "unsat":
            return Answer("unsat", self._core(), None, self.exact, f"z3 {version}: unsat")
        if status == "unknown":
            return Answer("unknown", (), None, self.exact, f"z3 {version}: {self.solver.reason_unknown() or 'unknown'}")
        for literal in literals:
            self.solver.add(literal)
        witness = self._witness()
        told = f"z3 {version}: sat" + ("" if self.exact else " of a relaxation")
        if witness is None:
            told += ", but no solution near its model passes the exact check"
        return Answer("sat", (), witness, self.exact, told)

    def _track(self, name: str, formulas: list[Any]) -> None:
        formulas = [f for f in formulas if f is not None]
        if not formulas:
            return
        z3 = self.z3
        literal = z3.Bool(f"#{len(self.conditions)}", self.context)
        self.names[str(literal)] = name
        self.conditions.append((literal, z3.And(*formulas) if len(formulas) > 1 else formulas[0]))

    def _check(self, assumptions: Sequence[Any] = ()) -> str:
        if self.budget.spent:
            return "unknown"
        self.solver.set("timeout", max(1, int(1000 * (self.budget.end - time.monotonic()))))
        self.solver.set("rlimit", int(self.budget.resources))
        status = str(self.solver.check(*assumptions))
        used = self.solver.statistics().get_key_value("rlimit count")  # of this solver, since it was made
        self.budget.resources, self.used = self.budget.resources - (used - self.used), used
        return status

    def _core(self) -> tuple[str, ...]:
        """Names of conditions that cannot hold together, made fewer one by one; hypotheses are given up first."""
        core = list(self.solver.unsat_core())
        self.budget = _Budget.of(self.limits)  # a core is as small as it can be, however late the proof came
        for literal in sorted(core, key=lambda c: self.names[str(c)].startswith("domain of ")):
            fewer = [c for c in core if str(c) != str(literal)]
            if self._check(fewer) == "unsat":
                core = fewer
        order = [str(literal) for literal, _ in self.conditions]
        return tuple(dict.fromkeys(self.names[s] for s in sorted(map(str, core), key=order.index)))

    # --- translation -------------------------------------------------------------------------------------------------

    def _number(self, value: Fraction) -> Any:
        return self.z3.Q(value.numerator, value.denominator, self.context)

    def _side(self, formula: Formula) -> Any:
        """A side of a domain's constraint: a name or a number."""
        name = getattr(formula, "name", None)
        return self._number(formula.value) if name is None else self.variables[name]  # type: ignore[union-attr]

    def _relation(self, constraint: Constraint, sides: list[Any]) -> Any:
        operations: dict[str, Any] = {
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
            "==": lambda a, b: a == b,
        }
        pairs = [operations[op](a, b) for op, a, b in zip(constraint.operators, sides, sides[1:], strict=False)]
        if not pairs:
            return None
        return self.z3.And(*pairs) if len(pairs) > 1 else pairs[0]

    def _operation(self, index: int) -> tuple[Any, list[Any]]:
        z3 = self.z3
        node = self.graph.nodes[index]
        a = [self.terms[i] for i in node.arguments]
        new = z3.Real(f"#node{index}", self.context)
        if node.operation in ("+", "-", "*", "neg"):
            if node.operation == "neg":
                return -a[0], []
            term = a[0] + a[1] if node.operation == "+" else a[0] - a[1] if node.operation == "-" else a[0] * a[1]
            return term, []
        if node.operation == "/":
            return new, [new * a[1] == a[0], a[1] != 0]
        if node.operation == "sqrt":
            return new, [new >= 0, new * new == a[0]]
        if node.operation == "abs":
            return z3.If(a[0] >= 0, a[0], -a[0]), []
        if node.operation in ("min", "max"):
            term = a[0]
            for other in a[1:]:
                term = z3.If(term <= other if node.operation == "min" else term >= other, term, other)
            return term, []
        if node.operation == "**":
            return self._power(index, a[0], a[1], new)
        return self._transcendental(node.operation, a[0], new)

    def _power(self, index: int, base: Any, exponent: Any, new: Any) -> tuple[Any, list[Any]]:
        z3 = self.z3
        node = self.graph.nodes[self.graph.nodes[index].arguments[1]]
        value = node.value if node.operation == "number" else None
        if value is not None and abs(value.numerator) <= LARGEST_EXPONENT and value.denominator <= LARGEST_EXPONENT:
            facts = []
            if value.denominator > 1:
                root = z3.Real(f"#root{index}", self.context)
                facts, base = [root >= 0, _product(root, value.denominator) == base], root
            power = _product(base, abs(value.numerator)) if value else self._number(Fraction(1))
            if value >= 0:
                return power, facts
            return new, [*facts, new * power == 1]
        self.exact = False
        one = self._number(Fraction(1))
        positive = [
            new > 0,
            z3.Implies(z3.And(base >= 1, exponent >= 0), new >= 1),
            z3.Implies(z3.And(base >= 1, exponent <= 0), new <= 1),
            z3.Implies(z3.And(base <= 1, exponent >= 0), new <= 1),
            z3.Implies(z3.And(base <= 1, exponent <= 0), new >= 1),
            z3.Implies(z3.And(base <= 1, exponent >= 1), new <= base),
            z3.Implies(z3.And(base >= 1, exponent >= 1), new >= base),
            z3.Implies(exponent == 1, new == base),
        ]
        facts = [
            z3.Implies(base > 0, z3.And(*positive)),
            z3.Implies(exponent == 0, new == one),
            z3.Implies(z3.And(base == 0, exponent > 0), new == 0),
            z3.Or(base != 0, exponent >= 0),
        ]
        whole = value is not None and value.denominator == 1
        if value is not None and not whole:
            facts.append(base >= 0)
        return new, facts

    def _transcendental(self, operation: str, a: Any, new: Any) -> tuple[Any, list[Any]]:
        """exp and log by facts that are true of them."""
        z3 = self.z3
        self.exact = False
        if operation == "exp":
            facts = [new > 0, new >= 1 + a, new * (1 - a) <= 1, z3.Implies(a != 0, new > 1 + a)]
        else:
            facts = [a > 0, new <= a - 1, new * a >= a - 1, z3.Implies(a != 1, new < a - 1)]
        for other, value in self.others[operation]:
            facts += [(other < a) == (value < new), (other == a) == (value == new)]
        self.others[operation].append((a, new))
        return new, facts

    # --- witnesses ---------------------------------------------------------------------------------------------------

    def _witness(self) -> dict[str, Fraction | Formula] | None:
        names = list(self.variables)
        whole = [n for n in names if self.system.domains[n].integer]
        for order in dict.fromkeys([(*whole, *(n for n in names if n not in whole)), tuple(names), tuple(names[::-1])]):
            self.solver.push()
            found = self._fix(order)
            self.solver.pop()
            if found is not None and self.system.holds(found) is True:
                return found
        return None

    def _fix(self, order: Sequence[str]) -> dict[str, Fraction | Formula] | None:
        """Fix one variable after the other to the simplest value that z3 leaves possible."""
        values: dict[str, Fraction | Formula] = {}
        for name in order:
            if self._check() != "sat":
                return None
            model = self.solver.model().eval(self.variables[name], model_completion=True)
            variable = self.variables[name]
            for value in _candidates(model, self.system.domains[name]):
                self.solver.push()
                self.solver.add(variable == self._number(value))
                possible = self._check() == "sat"
                self.solver.pop()
                if possible:
                    values[name] = value
                    self.solver.add(variable == self._number(value))
                    break
            else:
                root = _root(model)
                if root is None:
                    return None
                values[name] = root
                self.solver.add(variable == model)
        return values


def _product(base: Any, power: int) -> Any:
    result = base
    for _ in range(power - 1):
        result = result * base
    return result


def _candidates(model: Any, domain: Domain) -> Iterator[Fraction]:
    """Values to try for a variable, the simple ones first, then those near the model's."""
    z3 = _z3()
    exact: Fraction | None = None
    near = model
    if z3.is_algebraic_value(model):
        near = model.approx(20)
    if z3.is_rational_value(near) or z3.is_int_value(near):
        near = Fraction(near.as_fraction() if z3.is_rational_value(near) else near.as_long())
        exact = near if not z3.is_algebraic_value(model) else None
    else:
        near = Fraction(1)
    found: list[Fraction] = list(SIMPLE)
    if domain.integer:
        floor = math.floor(near)
        found = [f for f in found if f.denominator == 1] + [Fraction(floor + i) for i in (0, 1, 2, 5, 20)]
    else:
        for part in (4, 64, 4096):
            found.append(simplest(near - abs(near) / part, near + abs(near) / part))
        if exact is not None:
            found.append(exact)
    yield from (f for f in dict.fromkeys(found) if domain.contains(f))


def _root(model: Any) -> Formula | None:
    """An algebraic number as a formula, where it is a root of a x^2 + b x + c or of a x^n + c."""
    z3 = _z3()
    if not z3.is_algebraic_value(model):
        return None
    coefficients = [Fraction(c.as_fraction()) for c in model.poly()]
    near = Fraction(model.approx(20).as_fraction())
    degree = len(coefficients) - 1
    candidates: list[str] = []
    if degree == 2:
        c, b, a = coefficients
        center, inside = -b / (2 * a), (b * b - 4 * a * c) / (4 * a * a)
        candidates = [f"({center}) {sign} sqrt({inside})" for sign in "+-"]
    elif not any(coefficients[1:-1]):
        inside = -coefficients[0] / coefficients[-1]
        candidates = [f"{sign}({abs(inside)})**(1/{degree})" for sign in ("", "-")]
    distances = {text: abs(_rough(text) - near) for text in candidates}
    return parse(min(distances, key=lambda text: distances[text])) if distances else None


def _rough(text: str) -> Fraction:
    from theory.arithmetic import balls, to_float

    with balls(128) as reals:
        value = reals.evaluate(parse(text), {})
    assert not isinstance(value, tuple)
    return Fraction(to_float(value))
