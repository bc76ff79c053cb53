"""Have both sides of a claim the same unit? Those of points, x, and of functions, f, are free; the rest follows.

What is claimed of all smooth or convex functions is claimed in every unit: with f, the functions c*f(x/s) satisfy the
same assumptions with other constants. A claim whose sides scale differently says one thing in metres and another in
feet, and is either wrong or holds in one unit only. Units are powers x^a f^b; of every name they are solved for, by the
sentence, the assumptions and what the algorithm does in a round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from theory import predicates as p
from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.program import VALUE, Instruction, Loop, Program, Step
from theory.sentence import (
    FUNCTION_NAMES,
    INDICES,
    INTEGERS,
    OVER,
    POINTS,
    At,
    Expression,
    index_of,
    parse_expression,
    parts,
    text_of,
)
from validate.instances.roles import roles_in

F = Fraction
ZERO = F(0)


@dataclass(frozen=True)
class Unit:
    """x^a f^b times units that are not known yet, each to a power.

    Attributes:
        x, f: the powers.
        unknown: names to powers that are not 0.
    """

    x: Fraction = ZERO
    f: Fraction = ZERO
    unknown: tuple[tuple[str, Fraction], ...] = ()

    def __mul__(self, other: Unit) -> Unit:
        powers = dict(self.unknown)
        for name, power in other.unknown:
            powers[name] = powers.get(name, F(0)) + power
        kept = tuple(sorted((name, power) for name, power in powers.items() if power))
        return Unit(self.x + other.x, self.f + other.f, kept)

    def to(self, power: Fraction) -> Unit:
        """A power of it."""
        if power == 0:
            return ONE
        return Unit(self.x * power, self.f * power, tuple((name, one * power) for name, one in self.unknown))

    def over(self, other: Unit) -> Unit:
        """A quotient."""
        return self * other.to(F(-1))

    def __str__(self) -> str:
        powers = [("x", self.x), ("f", self.f), *((f"[{name}]", power) for name, power in self.unknown)]
        words = [name if power == 1 else f"{name}^{power}" for name, power in powers if power]
        return " ".join(words) or "1"


ONE = Unit()
POINT, VALUE_OF_F = Unit(x=F(1)), Unit(f=F(1))
GRADIENT, CURVATURE = VALUE_OF_F.over(POINT), VALUE_OF_F.over(POINT.to(F(2)))
CONSTANTS: Mapping[type[p.Predicate], tuple[Unit, ...]] = {
    p.Smooth: (CURVATURE,),
    p.StronglyConvex: (CURVATURE,),
    p.PolyakLojasiewicz: (CURVATURE,),
    p.Lipschitz: (GRADIENT,),
    p.BoundedGradients: (GRADIENT, POINT),
    p.Stable: (ONE.over(CURVATURE), POINT),
    p.BoundedVariance: (GRADIENT.to(F(2)),),
    p.Dissimilar: (GRADIENT, ONE),
}
"""The units of the constants of assumptions, by type."""
COUNTED = frozenset({"coin", "coins", "choose", "before"})
SAME = frozenset(
    {"each", "mean", "sum", "average", "mix", "keep", "top", "shift", "get", "put", "tap", "larger", "where"}
)
"""Operations whose result has the unit of the values that they take."""


@dataclass
class Units:
    """What is known of the units of a claim's names.

    Attributes:
        solved: by name, what its unit is in other names'.
        conflicts: places whose units contradict the ones before, in words.
        unknown: why units could not be told of some part, in words.
    """

    solved: dict[str, Unit] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    fresh: int = 0

    def of(self, name: str) -> Unit:
        """The unit of a name, as far as it is known."""
        return self.reduced(Unit(unknown=((name, F(1)),)))

    def new(self) -> Unit:
        """The unit of something that may have any, such as 0."""
        self.fresh += 1
        return Unit(unknown=((f"?{self.fresh}", F(1)),))

    def reduced(self, unit: Unit) -> Unit:
        """A unit with what is known put in."""
        found = Unit(unit.x, unit.f)
        for name, power in unit.unknown:
            known = self.solved.get(name)
            found = found * (Unit(unknown=((name, power),)) if known is None else self.reduced(known).to(power))
        return found

    def same(self, one: Unit, other: Unit, where: str) -> Unit:
        """Two units that have to be the same; where they cannot be, that is a conflict."""
        one, other = self.reduced(one), self.reduced(other)
        rest = one.over(other)
        if rest.unknown:
            # what stands for anything goes first: a name of the claim is to keep its own unit
            name, power = min(rest.unknown, key=lambda pair: (not pair[0].startswith(("?", "_")), pair[0]))
            self.solved[name] = Unit(rest.x, rest.f, tuple(pair for pair in rest.unknown if pair[0] != name)).to(
                -1 / power
            )
        elif rest != ONE:
            self.conflicts.append(f"{where}: {one} meets {other}")
        return self.reduced(one)


def units_of(claim: Claim) -> Units:
    """The units of all names of a claim, and where they contradict each other; the sentence comes last."""
    units = Units()
    if claim.program is not None:
        _program(claim.program, units, any(isinstance(one, p.Quadratic) for one in claim.predicates))
        for name in _plain_numbers(claim):
            units.same(units.of(name), ONE, name)
    for name in INTEGERS.intersection(index_of(symbol)[0] for symbol in claim.symbols) - {*claim.vectors}:
        units.same(units.of(name), ONE, name)
    for name, domain in claim.domains.items():  # a number that is compared with a number
        if {domain.lower, domain.upper} - {None, 0} and name not in claim.vectors:
            units.same(units.of(name), ONE, name)
    reader = Reader(claim, units)
    for one in claim.predicates:
        for constant, unit in zip(one.constants, CONSTANTS.get(type(one), ()), strict=False):
            units.same(reader.unit(constant), unit, one.text)
    for relation in claim.relations:
        units.same(reader.unit(relation.left), reader.unit(relation.right), str(relation))
    left, right = (units.reduced(reader.unit(side)) for side in claim.sentence.sides)
    rest = left.over(right)
    if ONE not in (left, right) and len(rest.unknown) == 1 and rest.x == rest.f == 0 and rest.unknown[0][0][0] != "?":
        # alike only if this one name has no unit, which nothing else says: then it is true in one unit only
        units.conflicts.append(f"{claim.sentence}: {left} meets {right}")
    units.same(left, right, str(claim.sentence))
    return units


def unit_in(claim: Claim, units: Units, tree: Expression) -> Unit:
    """The unit of a formula in the names of a claim, whose units are known."""
    return units.reduced(Reader(claim, units).unit(tree))


def _plain_numbers(claim: Claim) -> Iterable[str]:
    """Parameters that count, or are chances."""
    roles = roles_in(claim)
    return sorted(roles.counts | roles.steps | roles.chances | roles.matrices | roles.lengths)


class Reader:
    """The units of formulas.

    Attributes:
        claim: whose names these are.
        units: what is known of them, to which it adds.
    """

    def __init__(self, claim: Claim, units: Units) -> None:
        self.claim, self.units = claim, units

    def unit(self, e: Expression) -> Unit:
        """Of a formula."""
        units = self.units
        if isinstance(e, Number):
            return units.new() if e.value == 0 else ONE
        if isinstance(e, Name):
            return self._name(e.name)
        if isinstance(e, At):
            return units.of(_state(e.name))
        inner = [self.unit(part) for part in parts(e)]
        return self.of_operation(e, inner)

    def _name(self, name: str) -> Unit:
        claim, units = self.claim, self.units
        if name in claim.definitions:
            return self.unit(claim.definitions[name])
        if name in POINTS:
            return POINT
        if name == "fstar":
            return VALUE_OF_F
        if name in INDICES or (name in INTEGERS and name not in claim.vectors):
            return ONE
        return units.of(name if name in claim.vectors else index_of(name)[0])

    def of_operation(self, e: Apply, inner: list[Unit]) -> Unit:
        """Of an operation on parts of these units."""
        op, units, where = e.operation, self.units, text_of(e)
        function = op.removeprefix("grad ")
        if function in FUNCTION_NAMES:
            units.same(inner[0], POINT, where)
            return GRADIENT if op.startswith("grad ") else VALUE_OF_F
        if op == "quantile":
            units.same(inner[1], ONE, where)
            return inner[0]
        if op == "simplex_n":
            units.same(inner[0], inner[1], where)
            return ONE
        if op == "argmin_n":
            for radius in inner[1:]:
                units.same(radius, POINT, where)
            return POINT
        if op in ("norm2", "dot"):
            return inner[0].to(F(2)) if op == "norm2" else inner[0] * inner[1]
        if op == "**":
            exponent: Any = e.arguments[1]
            if isinstance(exponent, Number):
                return inner[0].to(exponent.value)
            units.same(inner[1], ONE, where)
            return units.same(inner[0], ONE, where)
        return _arithmetic(op, inner, units, where)


def _arithmetic(op: str, inner: list[Unit], units: Units, where: str) -> Unit:
    """Of operations on numbers, and of what is taken over an index."""
    if op == "*":
        return inner[0] * inner[1]
    if op == "/":
        return inner[0].over(inner[1])
    if op == "sqrt":
        return inner[0].to(F(1, 2))
    if op in ("log", "exp"):
        return units.same(inner[0], ONE, where)
    if op in ("+", "-", "min", "max"):
        found = inner[0]
        for other in inner[1:]:
            found = units.same(found, other, where)
        return found
    assert op in ("neg", "abs", "norm", "E") or op in OVER, op
    return inner[0]


# --- algorithms ------------------------------------------------------------------------------------------------------


def _state(name: str) -> str:
    return f"state {name}"


def _program(program: Program, units: Units, quadratic: bool) -> None:
    """What a round says of the units of states, taps and parameters."""
    formulas = _Formulas(units, quadratic)
    for state, value, result in zip(program.state, program.inputs, program.result, strict=True):
        units.same(units.of(_state(state.name)), units.of(value), state.name)
        units.same(units.of(value), formulas.initial(state.initial), f"{state.name} before the first round")
        units.same(units.of(result), units.of(value), f"{state.name} after a round")
    for step in program.steps:
        _step(step, units, formulas)


class _Formulas:
    """The units of a program's scalars; draws go by the names of the values that hold them.

    Attributes:
        units: what is known.
        quadratic: whether a gradient is a Hessian times what it is taken at, which need not be a point then.
    """

    def __init__(self, units: Units, quadratic: bool) -> None:
        self.units, self.quadratic = units, quadratic

    def unit(self, e: Any) -> Unit:
        if isinstance(e, Number):
            return self.units.new() if e.value == 0 else ONE
        if isinstance(e, Name):
            if e.name in INTEGERS or e.name in INDICES or (e.name[:1] == "h" and e.name[1:].isdigit()):
                return ONE
            return self.units.of(e.name)
        inner = [self.unit(part) for part in e.arguments]
        if e.operation == "**":
            exponent = e.arguments[1]
            if isinstance(exponent, Number):
                return inner[0].to(exponent.value)
            self.units.same(inner[1], ONE, "an exponent")
            return self.units.same(inner[0], ONE, "a number to a power that varies")
        return _arithmetic(e.operation, inner, self.units, "the algorithm")

    def initial(self, text: str) -> Unit:
        """Of what a state is before the first round."""
        return self._initial(parse_expression(text))

    def _initial(self, e: Expression) -> Unit:
        if isinstance(e, Name) and e.name in POINTS:
            return POINT
        if isinstance(e, Apply) and e.operation.removeprefix("grad ") in FUNCTION_NAMES:
            return GRADIENT
        if isinstance(e, Apply):
            return _arithmetic(e.operation, [self._initial(part) for part in parts(e)], self.units, text_of(e))
        return self.unit(e)


def _step(step: Step, units: Units, formulas: _Formulas) -> None:
    where = f"line {step.line} of the algorithm" if step.line else "the algorithm"
    if isinstance(step, Loop):
        for c in step.carried:
            for name in (c.first, c.following):
                units.same(units.of(c.name), units.of(name), where)
        return
    to = units.of(_state(step.label)) if step.op == "tap" else units.of(step.to)
    of = [units.of(name) for name in step.of if VALUE.match(name)]
    rule = _RULES.get(step.op)
    if rule is not None:
        rule(step, to, of, formulas, where)
    elif step.op in COUNTED:
        units.same(to, ONE, where)
    elif step.op in SAME:
        for other in of if step.op != "get" else of[:1]:
            units.same(to, other, where)
    elif step.op != "sample":
        units.unknown.append(f"{where}: what {step.op} does to units is not known")


def _linear(step: Instruction, to: Unit, of: list[Unit], formulas: _Formulas, where: str) -> None:
    for number, unit in zip(step.numbers, of, strict=True):
        if not _is_zero(number):  # x - x has any unit
            formulas.units.same(to, formulas.unit(number) * unit, where)


def _is_zero(number: Any) -> bool:
    both = number.arguments if isinstance(number, Apply) and number.operation == "-" else (number, Number(ZERO))
    return bool(both[0] == both[1])


def _gradient(step: Instruction, to: Unit, of: list[Unit], formulas: _Formulas, where: str) -> None:
    if not formulas.quadratic:
        formulas.units.same(of[0], POINT, where)
    formulas.units.same(to, of[0] * CURVATURE, where)


def _prox(step: Instruction, to: Unit, of: list[Unit], formulas: _Formulas, where: str) -> None:
    formulas.units.same(of[0], POINT, where)
    formulas.units.same(to, POINT, where)
    formulas.units.same(formulas.unit(step.numbers[0]), CURVATURE.to(F(-1)), where)


def _ball(step: Instruction, to: Unit, of: list[Unit], formulas: _Formulas, where: str) -> None:
    formulas.units.same(to, of[0], where)
    formulas.units.same(to, formulas.unit(step.numbers[0]), where)


def _equals(unit: Callable[[Instruction, list[Unit], _Formulas], Unit]) -> Callable[..., None]:
    """A rule that gives the unit of the result."""

    def rule(step: Instruction, to: Unit, of: list[Unit], formulas: _Formulas, where: str) -> None:
        formulas.units.same(to, unit(step, of, formulas), where)

    return rule


_RULES: Mapping[str, Callable[..., None]] = {
    "linear": _linear,
    "gradient": _gradient,
    "full gradient": _gradient,
    "prox": _prox,
    "project": _ball,
    "clip": _ball,
    "noise": _equals(lambda step, of, formulas: formulas.unit(step.numbers[0]).to(F(1, 2))),
    "times": _equals(lambda step, of, formulas: of[0] * of[1]),
    "over": _equals(lambda step, of, formulas: of[0].over(of[1])),
    "sqrt": _equals(lambda step, of, formulas: of[0].to(F(1, 2))),
    "norm": _equals(lambda step, of, formulas: of[0]),
    "sign": _equals(lambda step, of, formulas: ONE),
    "ones": _equals(lambda step, of, formulas: ONE),
    "combine": _equals(lambda step, of, formulas: formulas.units.of(step.label) * of[0]),
}
