"""What assumptions say of functions at points, and what holds of numbers and vectors whatever is assumed.

Sources: Taylor, Hendrickx, Glineur, Smooth strongly convex interpolation and exact worst-case performance of
first-order methods, Math. Program. 161 (2017), Theorem 4; Nesterov, Lectures on Convex Optimization (2018), 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theory.claim import Claim
from theory.derivation.polynomials import RejectedError
from theory.for_every import ForEvery, assumption, predicate_of
from theory.formula import Apply, Name
from theory.predicates import Predicate
from theory.sentence import (
    FUNCTION_NAMES,
    OVER,
    Expression,
    Sentence,
    applied,
    everything,
    everything_meant,
    parse_sentence,
    parts,
    read,
    replaced,
    text_of,
)


@dataclass(frozen=True)
class Schema:
    """A sentence for all points.

    Attributes:
        needs: the predicates that it needs, each with the names of its constants here.
        points: the names of its points, in their order.
        sentence: with f for the function.
        only: the functions of which it holds; empty for all.
        common: indices that its points must not have, as they are taken over.
        inside: what has to be so of its points.
    """

    needs: tuple[tuple[str, tuple[str, ...]], ...]
    points: tuple[str, ...]
    sentence: str
    only: tuple[str, ...] = ()
    common: str = ""
    inside: str = ""


_SMOOTH, _CONVEX, _STRONG = ("smooth", ("L",)), ("convex", ()), ("strongly_convex", ("mu",))
XY = ("x", "y")
SCHEMAS: Mapping[str, tuple[Schema, ...]] = {
    "above": (Schema((_SMOOTH,), XY, "f(y) <= f(x) + dot(grad(f, x), y - x) + L/2*norm2(y - x)"),),
    "below": (Schema((_SMOOTH,), XY, "f(y) >= f(x) + dot(grad(f, x), y - x) - L/2*norm2(y - x)"),),
    "lipschitz-gradient": (Schema((_SMOOTH,), XY, "norm2(grad(f, x) - grad(f, y)) <= L**2*norm2(x - y)"),),
    "smooth": (
        Schema(
            (_SMOOTH,),
            XY,
            "f(x) >= f(y) - L/4*norm2(x - y) + dot(grad(f, x) + grad(f, y), x - y)/2 "
            "+ norm2(grad(f, x) - grad(f, y))/(4*L)",
        ),
    ),
    "convex": (Schema((_CONVEX,), XY, "f(y) >= f(x) + dot(grad(f, x), y - x)"),),
    "smooth convex": (
        Schema(
            (_SMOOTH, _CONVEX),
            XY,
            "f(x) >= f(y) + dot(grad(f, y), x - y) + norm2(grad(f, x) - grad(f, y))/(2*L)",
        ),
    ),
    "strongly_convex": (Schema((_STRONG,), XY, "f(y) >= f(x) + dot(grad(f, x), y - x) + mu/2*norm2(y - x)"),),
    "smooth strongly_convex": (
        Schema(
            (_SMOOTH, _STRONG),
            XY,
            "2*(L - mu)*(f(x) - f(y) - dot(grad(f, y), x - y)) >= norm2(grad(f, x) - grad(f, y)) "
            "+ mu*L*norm2(x - y) - 2*mu*dot(grad(f, x) - grad(f, y), x - y)",
        ),
    ),
    "curvature": (Schema((_SMOOTH, _STRONG), (), "mu <= L"),),
    "bounded": (
        Schema((("lipschitz", ("G",)),), ("v",), "norm2(grad(f, v)) <= G**2"),
        Schema((("bounded_gradients", ("G",)),), ("v",), "norm2(grad(f, v)) <= G**2"),
    ),
    "bounded on ball": (
        Schema((("bounded_gradients", ("G", "R")),), ("v",), "norm2(grad(f, v)) <= G**2", inside="norm(v) <= R"),
    ),
    "stable": (
        Schema(
            (("stable", ("eta", "R")),),
            ("v",),
            "mean_i(norm2(v - eta*grad(f, v))) <= R**2",
            ("f_ni",),
            "i",
            "norm(v) <= R",
        ),
        Schema(
            (("stable", ("eta", "R")),), ("v",), "norm2(v - eta*grad(f, v)) <= R**2", ("f", "f_n"), "", "norm(v) <= R"
        ),
    ),
    "values": (Schema((("lipschitz", ("G",)),), XY, "(f(x) - f(y))**2 <= G**2*norm2(x - y)"),),
    "pl": (Schema((("pl", ("mu",)),), ("v",), "norm2(grad(f, v)) >= 2*mu*(f(v) - fstar)", ("f",)),),
    "variance": (
        Schema(
            (("bounded_variance", ("s",)),),
            ("v",),
            "mean_i(norm2(grad(f_ni, v) - grad(f_n, v))) <= s",
            ("",),
            "i",
        ),
    ),
    "dissimilar": (
        Schema(
            (("dissimilar", ("G", "B")),),
            ("v",),
            "mean_n(norm2(grad(f_n, v))) <= G**2 + B**2*norm2(grad(f, v))",
            ("",),
            "ni",
        ),
        Schema(
            (("dissimilar", ("zeta",)),),
            ("v",),
            "mean_n(norm2(grad(f_n, v) - grad(f, v))) <= zeta**2",
            ("",),
            "ni",
        ),
    ),
    "infimum": (Schema((), ("v",), "fstar <= f(v)", ("f",)),),
    "minimiser": (Schema((), (), "f(xstar) == fstar", ("f",)),),
    "zero": (
        Schema((), ("v",), "dot(grad(f, xstar), v) == 0", ("f",)),
        Schema((("same_minimiser", ()),), ("v",), "dot(grad(f, xstar), v) == 0"),
    ),
    "least": (Schema((("same_minimiser", ()),), ("v",), "f(xstar) <= f(v)"),),
    "zero n": (Schema((), ("v",), "dot(grad(f_n, xstar_n), v) == 0", ("",)),),
    "minimiser n": (Schema((), ("v",), "f_n(xstar_n) <= f_n(v)", ("",)),),
}
"""By name; where there are several, that which the given assumptions satisfy."""
_LIFTED = frozenset({"smooth", "convex", "strongly_convex", "lipschitz", "bounded_gradients", "same_minimiser"})
"""Which hold of a mean of functions when they hold of each."""


def assumed(claim: Claim, of: Sequence[str]) -> list[Predicate]:
    """The claim's assumptions with these texts.

    Raises:
        RejectedError: for one that the claim does not make.
    """
    made = {one.text: one for one in claim.predicates}
    found = []
    for text in of:
        same = predicate_of(text)
        one = None if same is None else made.get(same.text)
        if one is None:
            raise RejectedError(f"{text} is no assumption of the claim")
        found.append(one)
    return found


def instance(
    claim: Claim, name: str, of: Sequence[str], at: Mapping[str, Expression], on: str = ""
) -> tuple[Sentence, list[Predicate], Sentence | None]:
    """What a schema says at points, the assumptions it takes that from, and what has to be so of the points.

    Args:
        claim: whose assumptions are meant.
        name: of the schema, one of `SCHEMAS`.
        of: the assumptions, as text.
        at: the points by the schema's names.
        on: f, f_n or f_ni; empty for the function of the assumptions, the coarsest of them.

    Raises:
        RejectedError: where the claim does not assume it, or a point hangs on what is taken over.
    """
    predicates = assumed(claim, of)
    if name == "every":
        return _everywhere(claim, predicates, at, on), predicates, None
    for schema in SCHEMAS.get(name, ()):
        of_those = schema.only in ((), ("",)) or all(one.function in schema.only for one in predicates)
        if of_those and len(schema.needs) == len(predicates) and all(map(_gives, predicates, schema.needs)):
            break
        if len(predicates) == 2 and all(map(_gives, predicates[::-1], schema.needs)) and len(schema.needs) == 2:
            predicates = predicates[::-1]
            break
    else:
        raise RejectedError(f"{name} does not follow from {', '.join(of) or 'nothing'}")
    if set(at) != set(schema.points):
        raise RejectedError(f"{name} is at {', '.join(schema.points) or 'no points'}, not {', '.join(at)}")
    function = _function(schema, predicates, on)
    new: dict[str, Expression] = {}
    for one, (_, names) in zip(predicates, schema.needs, strict=True):
        for constant, value in zip(names, one.constants, strict=False):
            free = read(value, claim.vocabulary).free
            if free - {"n"} or (free and _coarser(function, one.function)) or free & set(schema.common):
                raise RejectedError(f"{one.text} has a constant for each of what {function} is the mean of")
            new[constant] = value
    for point, value in at.items():
        reading = read(value, claim.vocabulary)
        if reading.shape != "vector" or reading.free & set(schema.common):
            raise RejectedError(f"{text_of(value)} is no vector at which {name} holds")
        new[point] = value
    said, inside = (
        Sentence(_put(s.left, new, function), s.relation, _put(s.right, new, function))
        for s in (parse_sentence(text) for text in (schema.sentence, schema.inside or schema.sentence))
    )
    return said, predicates, inside if schema.inside else None


def _everywhere(claim: Claim, predicates: Sequence[Predicate], at: Mapping[str, Expression], on: str) -> Sentence:
    """What a sentence that is assumed for every point says at points."""
    (one,) = predicates if len(predicates) == 1 else (None,)
    if not isinstance(one, ForEvery) or on or set(at) != set(one.points):
        raise RejectedError("every takes one assumption for every point, and each of its points")
    sides = one.sentence.sides
    taken = {OVER[e.operation][1] for s in sides for e in everything(s) if isinstance(e, Apply) and e.operation in OVER}
    for value in at.values():
        reading = read(value, claim.vocabulary)
        if reading.shape != "vector" or reading.free & (taken | {"i"} if taken else taken):
            raise RejectedError(f"{text_of(value)} is no vector at which {one.text} holds")
    left, right = (replaced(side, at) for side in sides)
    return Sentence(left, one.sentence.relation, right)


def _gives(one: Predicate, need: tuple[str, tuple[str, ...]]) -> bool:
    kind, names = need
    if kind == "convex":
        return one.name in ("convex", "strongly_convex")
    return one.name == kind and len(one.constants) == len(names)


def _function(schema: Schema, predicates: Sequence[Predicate], on: str) -> str:
    if schema.only == ("",):
        if on:
            raise RejectedError("it says of itself which function it is about")
        return ""
    functions = [one.function for one in predicates if one.function]
    coarsest = min(functions, key=FUNCTION_NAMES.index, default="f")
    function = on or coarsest
    if function not in FUNCTION_NAMES or (schema.only and function not in schema.only):
        raise RejectedError(f"it is not read of {function}")
    for one in predicates:
        if _coarser(one.function, function) or (one.function != function and one.name not in _LIFTED):
            raise RejectedError(f"{one.text} does not say it of {function}")
    if not predicates and function != "f":
        raise RejectedError(f"nothing says it of {function}")
    return function


def _coarser(one: str, other: str) -> bool:
    return bool(one and other) and FUNCTION_NAMES.index(one) < FUNCTION_NAMES.index(other)


def _put(e: Expression, new: Mapping[str, Expression], function: str) -> Expression:
    if isinstance(e, Name):
        return new.get(e.name, e)
    if isinstance(e, Apply):
        op = e.operation
        if function and op in ("f", "grad f"):
            op = op.removesuffix("f") + function
        return applied(op, tuple(_put(a, new, function) for a in parts(e)))
    return e


def named_points(claim: Claim) -> dict[str, str]:
    """Which of xstar, xstar_n and fstar there are, and the hypothesis that gives them; "" for the claim's sentence.

    A function may have no minimiser, and no lower bound: a claim that does not speak of them is also about those.
    """
    found: dict[str, str] = {}

    def spoken(s: Sentence, text: str) -> None:
        for side in (s.left, s.right):
            for part in everything_meant(side, claim.vocabulary):
                if isinstance(part, Name) and part.name in ("xstar", "xstar_n", "fstar"):
                    found.setdefault(part.name, text)

    spoken(claim.sentence, "")
    for text in (*claim.assuming, *claim.standing):
        one = assumption(text)
        if isinstance(one, Sentence):
            spoken(one, text)
            continue
        if isinstance(one, ForEvery):
            spoken(one.sentence, text)
        if one.name == "strongly_convex":
            found.setdefault("xstar", text)
            if one.function != "f":
                found.setdefault("xstar_n", text)
        if one.name == "bounded_below" and one.function == "f":
            found.setdefault("fstar", text)
    if "xstar" in found:
        found.setdefault("fstar", found["xstar"])
    return found


def leaned_on(e: Expression, claim: Claim, there: Mapping[str, str]) -> frozenset[str]:
    """The hypotheses that give the minimisers of which an expression speaks.

    Raises:
        RejectedError: where it speaks of one that need not be there.
    """
    found = set()
    for part in everything_meant(e, claim.vocabulary):
        if isinstance(part, Name) and part.name in ("xstar", "xstar_n", "fstar"):
            if part.name not in there:
                raise RejectedError(f"nothing says that there is {part.name}")
            found.add(there[part.name])
    return frozenset(found - {""})


__all__ = ["SCHEMAS", "Schema", "assumed", "instance", "leaned_on", "named_points"]
