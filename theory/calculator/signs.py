"""What an expression's value can be, as far as its form says: positive, not negative, or anything."""

from __future__ import annotations

from typing import Any, cast

from theory.calculator.terms import ONE
from theory.claim import Claim
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL, Domain
from theory.formula import Apply, Name, Number
from theory.sentence import FUNCTION_NAMES, INDICES, OVER, Expression, applied, everything, index_of, parts, read


def domain_of(e: Expression, claim: Claim) -> Domain:
    """What an expression's value can be, as far as its form says."""
    if isinstance(e, Apply) and e.operation == "sum_i" and parts(e)[0] == ONE:
        return COUNT
    return {None: REAL, False: NONNEGATIVE, True: POSITIVE}[_sign(e, claim)]


def never_negative(e: Expression, claim: Claim) -> bool:
    """Whether an expression is at least 0 wherever it has a value, as far as its form says."""
    return _sign(e, claim) is not None


def _sign(e: Expression, claim: Claim) -> bool | None:
    """True for what is positive, False for what is not negative, None for what may be anything."""
    if isinstance(e, Number):
        return None if e.value < 0 else e.value > 0
    if isinstance(e, Name):
        return _sign_of(e.name, claim)
    if not isinstance(e, Apply):
        return None
    op = e.operation
    if op in ("norm", "norm2"):
        return False
    if op == "-":
        return False if is_excess(*cast("tuple[Any, Any]", parts(e)), claim) else None
    if op not in ("+", "*", "/", "**", "sqrt", "abs", "exp", "min", "max", "E", *OVER):
        return None
    signs = [_sign(a, claim) for a in parts(e)]
    if op == "exp":
        return True
    if op in ("abs", "sqrt"):
        return signs[0] is True
    if op == "**":
        power: Any = parts(e)[1]
        even = isinstance(power, Number) and power.value.denominator == 1 and power.value.numerator % 2 == 0
        return signs[0] if signs[0] is not None else False if even else None
    if op == "max":
        return True if True in signs else False if False in signs else None
    if op == "+":
        return None if None in signs else True in signs
    if op == "/":  # by 0 it is undefined
        return None if None in signs else signs[0]
    return None if None in signs else all(signs)


def _sign_of(name: str, claim: Claim) -> bool | None:
    if name in INDICES:
        return False
    if name in ("N", "d", "K"):
        return True
    domain = claim.domains.get(index_of(name)[0])
    if domain is None or domain.lower is None or domain.lower < 0:
        return None
    return domain.lower > 0 or domain.lower_open


def is_excess(e: Expression, infimum: Expression, claim: Claim) -> bool:
    """Whether a tree is values of a function, and the other one the infimum of it."""
    lowest = _lowest(infimum)
    return lowest is not None and _values(e, claim) == lowest


def _values(e: Expression, claim: Claim) -> str | None:
    """The function whose values, or means or extremes of values, a tree is."""
    if not isinstance(e, Apply):
        return None
    if e.operation in FUNCTION_NAMES:
        return e.operation
    if e.operation != "E" and (e.operation not in OVER or OVER[e.operation][0] == "sum"):
        return None
    inner = parts(e)[0]
    found = _values(inner, claim)
    how, index = ("mean", "k") if e.operation == "E" else OVER[e.operation]
    if found == "f" or index in "kh":
        return found
    # at one point the mean of f_n is f, that of f_ni is f_n
    mean = {("n", "f_n"): "f", ("i", "f_ni"): "f_n"}.get((index, found or ""))
    points = [parts(p)[0] for p in everything(inner) if isinstance(p, Apply) and p.operation == found]
    same = all(index not in read(point, claim.vocabulary).free for point in points)
    return mean if how == "mean" and same else None


def _lowest(e: Expression) -> str | None:
    """The function whose infimum a tree is."""
    if e == Name("fstar"):
        return "f"
    if isinstance(e, Apply) and e.operation == "E":
        return _lowest(parts(e)[0])
    for function, point in (("f", "xstar"), ("f_n", "xstar_n")):
        if e == applied(function, (Name(point),)):
            return function
    return None
