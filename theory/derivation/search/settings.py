"""Numbers for the parameters of a claim that satisfy what it assumes of numbers; formulas in floats."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from theory import predicates as p
from theory.claim import Claim
from theory.formula import Name, Number
from theory.program import Instruction
from theory.sentence import At, Expression, Sentence, everything, index_of, parse_sentence, parts, replaced, text_of

_TRIES = 400
_FARTHEST = 40
"""Doublings of a number."""


_WRITTEN = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "({} * {})",
    "/": "({} / {})",
    "**": "power({}, {})",
    "neg": "(-{})",
    "sqrt": "sqrt({})",
    "log": "log({})",
    "exp": "exp({})",
    "abs": "abs({})",
}


def _power(base: float, exponent: float) -> float:
    found = base**exponent
    if isinstance(found, complex):
        raise ValueError("a root of a negative number")
    return found


_MEANT = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "abs": abs, "power": _power, "min": min, "max": max}


def compiled(e: Expression) -> Callable[[Mapping[str, float]], float]:
    """A formula of numbers as a function of its names: the same few are asked for at thousands of settings.

    Raises:
        ValueError: where it is no such formula, or too deep for Python's parser; the function, where it is undefined.
    """
    try:
        formula = eval(f"lambda at: {_written(e)}", dict(_MEANT))  # of what `_written` writes, and nothing else
    except (OverflowError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no formula in floats: {error}") from None

    def worth(at: Mapping[str, float]) -> float:
        try:
            return float(formula(at))
        except KeyError as error:
            raise ValueError(f"{error.args[0]} has no value") from None
        except (ZeroDivisionError, OverflowError) as error:
            raise ValueError(str(error)) from None

    return worth


def _written(e: Expression) -> str:
    if isinstance(e, Number):
        return f"{float(e.value)!r}"
    if isinstance(e, Name):
        return f"at[{e.name!r}]"
    if isinstance(e, At):
        raise ValueError("a state is no number")
    args = [_written(a) for a in parts(e)]
    if e.operation in ("min", "max"):
        return f"{e.operation}({', '.join(args)})"
    if e.operation not in _WRITTEN:
        raise ValueError(f"{e.operation} is no operation on numbers")
    return _WRITTEN[e.operation].format(*args)


def worth(e: Expression, at: Mapping[str, float], definitions: Mapping[str, Expression] | None = None) -> float:
    """A formula of numbers, in floats; where it is asked for often, `compiled` is faster.

    Raises:
        ValueError: where it is none, or undefined.
    """
    return compiled(replaced(e, definitions or {}))(at)


@dataclass(frozen=True)
class Between:
    """``left <= right`` between numbers, or ``<``, ``==``."""

    left: Expression
    relation: str
    right: Expression

    @cached_property
    def sides(self) -> tuple[Callable[[Mapping[str, float]], float], ...]:
        """Both as functions of the numbers."""
        return compiled(self.left), compiled(self.right)

    @cached_property
    def names(self) -> tuple[frozenset[str], ...]:
        """The names on both."""
        return tuple(
            frozenset(e.name for e in everything(side) if isinstance(e, Name)) for side in (self.left, self.right)
        )


def asked(claim: Claim) -> Iterator[str]:
    """What a claim's program asks of numbers: there is no instance elsewhere."""
    for step in claim.program.steps if claim.program is not None else ():
        if not isinstance(step, Instruction):
            continue
        if step.op in ("coin", "coins"):
            yield f"{text_of(step.numbers[0])} <= 1"
        if step.op in ("keep", "top"):
            yield f"{text_of(step.numbers[-1])} <= d"
        if step.op == "choose" and not step.flag:
            yield f"{text_of(step.numbers[0])} <= N"


def relations(claim: Claim, more: Sequence[Sentence] = (), names: Sequence[str] = ()) -> list[Between]:
    """What a claim and its program ask of numbers, definitions put in; ``<=``, ``<`` and ``==`` only.

    Args:
        claim: whose.
        more: further relations.
        names: of further numbers, of which these may speak.
    """
    found = []
    for one in (*claim.relations, *map(parse_sentence, asked(claim)), *more):
        left, right = (replaced(side, claim.definitions) for side in (one.left, one.right))
        if not all(of_numbers(side, claim, names if one in more else ()) for side in (left, right)):
            continue
        relation: str = one.relation
        if relation in (">=", ">"):
            left, right, relation = right, left, relation.replace(">", "<")
        found.append(Between(left, relation, right))
    for strong in claim.predicates:
        for smooth in claim.predicates:
            if isinstance(strong, p.StronglyConvex) and isinstance(smooth, p.Smooth):
                found.append(Between(strong.constants[0], "<=", smooth.constants[0]))
    return found


def of_numbers(e: Expression, claim: Claim, names: Sequence[str] = ()) -> bool:
    """Whether a tree is a formula of parameters, and of further numbers, one number each."""
    known = {s for s in claim.symbols if not index_of(s)[1]} | {"N", "d", "K", "k", *names}
    for part in everything(e):
        if isinstance(part, At) or (isinstance(part, Name) and part.name not in known):
            return False
        if not isinstance(part, At | Name | Number) and part.operation not in (
            *("+", "-", "*", "/", "**", "neg", "sqrt", "log", "exp", "abs", "min", "max"),
        ):
            return False
    return True


def settings(
    claim: Claim, count: int = 4, seed: int = 0, more: Sequence[str] = (), supposed: Sequence[Sentence] = ()
) -> list[dict[str, float]]:
    """So many choices of the parameters that satisfy the relations, some of them with equality.

    Args:
        claim: whose.
        count: at most how many.
        seed: of the choices.
        more: names of further numbers, indices among them, integers from 1.
        supposed: further relations.

    Returns:
        Fewer, and perhaps none, where relations are not satisfied by what is tried.
    """
    between = relations(claim, supposed, more)
    return _settings(claim, count, seed, more, between, far=False) or _settings(
        claim, count, seed, more, between, far=True
    )


def _settings(
    claim: Claim, count: int, seed: int, more: Sequence[str], between: Sequence[Between], far: bool
) -> list[dict[str, float]]:
    """`settings`; with `far` numbers are also multiplied by powers of 2 until a relation is true."""
    source, aside = random.Random(seed), random.Random(seed)
    found: list[dict[str, float]] = []
    indexed = [s for s in claim.symbols if index_of(s)[1]]
    for _ in range(_TRIES):
        if len(found) >= count:
            break
        values = {s: _draw(claim, s, source) for s in claim.symbols if not index_of(s)[1]}
        for name in ("N", "d", "K", "k", *more):
            values.setdefault(name, float(source.choice((1, 2, 3, 5, 8) if name != "d" else (2, 3, 5, 9))))
        values |= {s: _draw(claim, s, aside) for s in indexed}  # of one client, or one round
        # the first ones in the inside, later ones where relations are equalities
        if _repaired(values, between, claim, source, tight=len(found) % 2 == 1, far=far):
            found.append(values)
    return found


class Settings:
    """`settings` of a claim, those of the same arguments made once: a search asks for them again and again."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._made: dict[tuple[int, tuple[str, ...], tuple[str, ...]], list[dict[str, float]]] = {}

    def __call__(self, count: int, more: Sequence[str] = (), supposed: Sequence[str] = ()) -> list[dict[str, float]]:
        """Not to be changed; relations that are supposed are given as text."""
        key = count, tuple(more), tuple(supposed)
        if key not in self._made:
            relations = [parse_sentence(text) for text in supposed]
            self._made[key] = settings(self.claim, count, more=more, supposed=relations)
        return self._made[key]


def _draw(claim: Claim, symbol: str, source: random.Random) -> float:
    domain = claim.domains[index_of(symbol)[0]]
    low = None if domain.lower is None else float(domain.lower)
    high = None if domain.upper is None else float(domain.upper)
    if domain.integer:
        least = 1 if low is None else int(low)
        return float(source.choice([v for v in range(least, least + 6) if high is None or v <= high]))
    if low is not None and high is not None:
        return low + (high - low) * source.choice((0.2, 0.37, 0.5, 0.71, 0.9))
    size = math.exp(source.uniform(-1.8, 1.8))
    return low + size if low is not None else high - size if high is not None else source.choice((-1, 1)) * size


def _repaired(
    values: dict[str, float], between: Sequence[Between], claim: Claim, source: random.Random, tight: bool, far: bool
) -> bool:
    told = [holds(one, values) for one in between]
    for _ in range(60):
        wrong = [one for one, true in zip(between, told, strict=True) if not true]
        if not wrong:
            break
        one = source.choice(wrong)
        name = _moved_far(one, values, claim, source) if far and source.random() < 0.5 else ""
        name = name or _move(one, values, claim, source, tight)
        if not name:
            return False
        told = [
            holds(one, values) if name in one.names[0] or name in one.names[1] else true
            for one, true in zip(between, told, strict=True)
        ]
    else:
        return False
    return all(_inside(claim, s, values[s]) for s in values if s in claim.domains)


def _inside(claim: Claim, symbol: str, value: float) -> bool:
    domain = claim.domains[symbol]
    low, high = domain.lower, domain.upper
    if low is not None and (value < float(low) or (domain.lower_open and value == float(low))):
        return False
    if high is not None and (value > float(high) or (domain.upper_open and value == float(high))):
        return False
    return not domain.integer or value == int(value)


def holds(one: Between, at: Mapping[str, float]) -> bool:
    """Whether it is true, up to rounding."""
    try:
        left, right = (side(at) for side in one.sides)
    except ValueError:
        return False
    size = 1e-12 * max(1.0, abs(left), abs(right))
    if one.relation == "==":
        return abs(left - right) <= size
    return left < right - size if one.relation == "<" else left <= right + size


def _moved_far(one: Between, values: dict[str, float], claim: Claim, source: random.Random) -> str:
    """One number times the first power of 2, or of 1/2, that makes a relation true; its name, empty if none does."""
    name = source.choice([n for n in sorted(one.names[0] | one.names[1]) if n in values] or [""])
    if not name:
        return ""
    integer = _is_integer(name, claim)
    for power in range(1, _FARTHEST + 1):
        for factor in (2.0**power, 0.5**power):
            value = values[name] * factor
            moved = {**values, name: max(1.0, float(math.floor(value))) if integer else value}
            if holds(one, moved):
                values[name] = moved[name]
                return name
    return ""


def _is_integer(name: str, claim: Claim) -> bool:
    return name in ("N", "d", "K", "k", "h", "j") or (name in claim.domains and claim.domains[name].integer)


def _move(one: Between, values: dict[str, float], claim: Claim, source: random.Random, tight: bool) -> str:
    """Change one parameter so that a relation is nearer to being true; its name, empty where there is none."""
    share = source.choice((0.03, 0.1, 0.3, 0.6, 0.9)) if not tight or one.relation == "<" else 1.0
    own = [n for n in sorted(one.names[0] | one.names[1]) if n in values]
    if not own:
        return ""
    for side, other, up in ((one.left, 1, True), (one.right, 0, False)):
        if isinstance(side, Name) and side.name in own and side.name not in one.names[other]:
            try:
                value = one.sides[other](values)
            except ValueError:
                continue
            integer = _is_integer(side.name, claim)
            if one.relation == "==":
                values[side.name] = value
            elif integer:
                end = math.floor(value) if up else math.ceil(value)
                values[side.name] = float(source.randint(1, max(1, end)) if up else source.randint(end, end + 4))
                if values[side.name] < 1:
                    break
            else:
                values[side.name] = value * share if up and value > 0 else value / share if value > 0 else value
            return side.name
    name = source.choice(own)
    if _is_integer(name, claim):
        values[name] = max(1.0, values[name] + source.choice((-1, 1)))
    else:
        values[name] *= source.choice((0.5, 0.8, 1.25, 2.0))
    return name
