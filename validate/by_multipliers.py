"""Is a sentence about vectors and functions a consequence of what its claim assumes? In an abstract space, exactly.

right - left is to be multiples of conditions that the claim's assumptions imply, with multipliers that are not negative
wherever the parameters may be, plus what is a sum of squares for all of these. The multipliers stand in the claim as
data, ``proof={"multipliers": {"smooth f (x, y)": "1/L"}, "points": {"y": "x - grad(f, x)/L"}}``, and are checked here;
where no parameter is left and none are given they are looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.domain import Domain
from theory.inequality.averaged import LEVELS, Condition, Need, Reader, Scalar, UnreadError
from theory.sentence import parse_expression, text_of
from validate.shown import Shown
from validate.signs import Region, region, semidefinite


def by_multipliers(claim: Claim) -> Shown | None:
    """How the claim's sentence follows; None where that was not shown.

    Raises:
        UnreadError, SentenceError: for a sentence, or a proof, that has no such form.
    """
    said: Mapping[str, Any] = claim.proof if isinstance(claim.proof, Mapping) else {}
    reader = Reader(claim, said.get("points", {}))
    relation = claim.sentence.relation
    stated = reader.stated()
    if relation in ("<", ">"):
        return None
    stated = reader.times(stated, -1) if relation == ">=" else stated
    needs = tuple(reader.needs)
    if not _consistent(reader):
        return None
    given = said.get("multipliers")
    multipliers = _looked_for(reader, stated, relation == "==") if given is None else given
    factors = {name: reader.scalar(parse_expression(text)).number for name, text in multipliers.items()}
    conditions = {name: reader.condition(name) for name in factors}
    rest = reader.times(stated, -1)
    for name, factor in factors.items():
        rest = reader.plus(rest, conditions[name].form, factor)
    where = where_of(reader, rest, *factors.values())
    if not all(has_value(need, where) for need in needs):
        return None
    if not all(conditions[name].equation or where.nonnegative(y) for name, y in factors.items()):
        return None
    if not all(where.defined(y) for y in factors.values()):
        return None
    grams, values, constant = _sorted(rest)
    if any(v != 0 for v in values.values()):
        return None
    if relation == "==":
        exact = all(c == 0 for gram in grams.values() for c in gram.values()) and constant == 0
        squares: list[str] | None = [] if exact and all(c.equation for c in conditions.values()) else None
    else:
        squares = _squares(grams, where) if where.nonnegative(constant) else None
    if squares is None:
        return None
    proof = {"multipliers": dict(multipliers), "points": dict(said.get("points", {})), "squares": squares}
    return Shown((*claim.assuming, *claim.standing), text_of(claim.sentence.left), {"proof": proof})


def where_of(reader: Reader, *formulas: Any, domains: Mapping[str, Domain] | None = None) -> Region:
    """Where the parameters range, as far as relations and domains say."""
    symbols: set[Any] = set()
    for one in formulas:
        for value in one.terms.values() if isinstance(one, Scalar) else (one,):
            symbols |= getattr(value, "free_symbols", set())
    for need in reader.needs:
        symbols |= set().union(*(a.free_symbols for a in need.arguments))
    relations = [
        (left, relation, right)
        for left, relation, right in reader.relations[0]
        if all(side.is_rational_function(*side.free_symbols) for side in (left, right))
    ]
    # bounds by numbers first: what bounds parameters by one another is then put in these terms
    relations.sort(key=lambda one: len(one[0].free_symbols | one[2].free_symbols))
    return region({**reader.domains, **(domains or {})}, relations, symbols)


def has_value(need: Need, where: Region) -> bool:
    """Whether an operation is shown to have a value for all parameters."""
    first = need.arguments[0]
    if need.operation == "/":
        return where.positive(first) or where.positive(-first)
    if need.operation == "sqrt":
        return where.nonnegative(first)
    if need.operation == "log":
        return where.positive(first)
    base, exponent = need.arguments
    return where.positive(base) or (where.nonnegative(base) and where.nonnegative(exponent))


def _consistent(reader: Reader) -> bool:
    """Whether all vectors and values 0 satisfy what relations say of them, so that nothing follows from nonsense."""
    for one in reader.relations[1]:
        constant = _sorted(one.form)[2]
        where = where_of(reader, constant)
        if not (constant == 0 if one.equation else where.nonnegative(-constant)):
            return False
    return True


def _sorted(form: Scalar) -> tuple[dict[str, dict[tuple[str, str], Any]], dict[str, Any], Any]:
    """Coefficients of inner products by level, of values, and the rest."""
    import sympy

    grams: dict[str, dict[tuple[str, str], Any]] = {level: {} for level in LEVELS}
    values: dict[str, Any] = {}
    constant: Any = sympy.Integer(0)
    for key, value in form.terms.items():
        value = sympy.cancel(sympy.together(value))
        if value == 0:
            continue
        if key[0] == "G":
            grams[key[1]][key[2], key[3]] = value
        elif key[0] == "F":
            values[key[1]] = value
        else:
            constant = value
    return grams, values, constant


def _squares(grams: Mapping[str, Mapping[tuple[str, str], Any]], where: Region) -> list[str] | None:
    """The pivots of the three matrices; None where one is not shown to be positive semidefinite."""
    found: list[str] = []
    for gram in grams.values():
        names = sorted({name for pair in gram for name in pair})
        matrix = [[gram.get((min(a, b), max(a, b)), 0) / (1 if a == b else 2) for b in names] for a in names]
        pivots = semidefinite(matrix, where)
        if pivots is None:
            return None
        found += pivots
    return found


def _looked_for(reader: Reader, stated: Scalar, equation: bool) -> dict[str, str]:
    """Multipliers by the prover where no parameter is left; else none, as for what is a sum of squares as it is."""
    from theory.inequality.prover import Proof, prove
    from theory.inequality.vectors import Space

    if equation:
        return {}
    given = [c for c in reader.implied() if _plain(c.form)]
    if not _plain(stated) or not given:
        return {}
    keys = [key for form in (stated, *(c.form for c in given)) for key in form.terms]
    atoms = sorted({(key[1], name) for key in keys if key[0] == "G" for name in key[2:]})
    values = sorted({key[1] for key in keys if key[0] == "F"})
    space = Space(tuple(f"{level}:{name}" for level, name in atoms), tuple(values))
    places = {atom: i for i, atom in enumerate(atoms)}
    claim = _in(space, places, values, Condition("", stated))
    answer = prove(claim, [_in(space, places, values, c) for c in given], space)
    if not isinstance(answer, Proof) or answer.contradictory:
        return {}
    return {c.name: f"({y})" for c, y in zip(given, answer.multipliers, strict=True) if y}


def _plain(form: Scalar) -> bool:
    return all(getattr(value, "is_Rational", False) for value in form.terms.values())


def _in(space: Any, places: Mapping[tuple[str, str], int], values: Sequence[str], c: Condition) -> Any:
    """A condition without parameters, for the prover."""
    from theory.inequality.vectors import Condition as Stated
    from theory.inequality.vectors import Form

    gram: dict[tuple[int, int], Fraction] = {}
    linear: dict[int, Fraction] = {}
    constant = Fraction(0)
    for key, value in c.form.terms.items():
        number = Fraction(int(value.p), int(value.q))
        if key[0] == "G":
            i, j = sorted((places[key[1], key[2]], places[key[1], key[3]]))
            gram[i, j] = gram.get((i, j), Fraction(0)) + number
        elif key[0] == "F":
            linear[values.index(key[1])] = number
        else:
            constant = number
    return Stated(c.name, Form(space, gram, linear, constant), "==" if c.equation else "<=")


__all__ = ["UnreadError", "by_multipliers", "has_value", "where_of"]
