"""The rules by which lines follow. Each is given the kernel, the line as data, and the line as it is to be.

A rule returns where the line follows, and raises `RejectedError` where it does not. It asks the kernel for what it
uses, which remembers that. Those about hypotheses are here; `RULES` has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from theory.derivation.averages import average
from theory.derivation.combinations import at, combination, list_of, mapping_of, mean
from theory.derivation.equalities import drawn, power, replaced, root, single, step, zero
from theory.derivation.inductions import cases, induction
from theory.derivation.kernel import Kernel
from theory.derivation.nested import claimed
from theory.derivation.operations import operation
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import constant
from theory.derivation.reading import PLAIN, parameter
from theory.derivation.schemas import instance
from theory.derivation.sets import of_minimiser, of_simplex, projection
from theory.derivation.signs import NONNEGATIVE
from theory.derivation.statements import Found, Line, same
from theory.derivation.sums import lexicographic, tail, telescope
from theory.for_every import predicate_of
from theory.sentence import (
    COORDINATE,
    OVER,
    TURNS,
    Expression,
    Relation,
    Sentence,
    applied,
    parse_sentence,
    read,
    text_of,
)

Rule = Callable[[Kernel, Mapping[str, Any], Line], Found]


# --- hypotheses and assumptions --------------------------------------------------------------------------------------


def hypothesis(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a relation that the claim assumes."""
    found = next((one for one in kernel.hypotheses if one.sentence == line.sentence), None)
    if found is None or line.place != PLAIN:
        raise RejectedError(f"the claim does not assume {line.sentence}")
    kernel.touched.append(found)
    return Found()


def assumption_text(kernel: Kernel, data: Mapping[str, Any]) -> str:
    """What an assumption says at the points of a line."""
    at = {str(name): kernel.expression(text) for name, text in mapping_of(data, "at").items()}
    of = [str(text) for text in list_of(data, "of")]
    return str(instance(kernel.claim, str(data.get("schema")), of, at, str(data.get("on", "")))[0])


def assumption(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is what assumptions say of a function at points."""
    at = {str(name): kernel.expression(text) for name, text in mapping_of(data, "at").items()}
    of = [str(text) for text in list_of(data, "of")]
    said, predicates, inside = instance(kernel.claim, str(data.get("schema")), of, at, str(data.get("on", "")))
    if inside is not None and not kernel.signs.nonnegative(applied("-", (inside.right, inside.left))):
        raise RejectedError(f"nothing says that {inside}")
    for side in (said.left, said.right):
        kernel.has_value(side)
    if not same(line.gap, line.relation, replace(line, sentence=said, gap=kernel.reader.difference(said))):
        raise RejectedError(f"{data.get('schema')} says {said} there")
    names = {one.text for one in predicates}
    texts = [text for text in (*kernel.claim.assuming, *kernel.claim.standing) if _text(text) in names]
    return Found(hypotheses=frozenset(texts))


def _text(text: str) -> str:
    one = predicate_of(text)
    return "" if one is None else one.text


def domain(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is true by the domains of the parameters, and by what the draws of the program ask of them."""
    from theory.derivation.domains import by_domain

    if not by_domain(kernel.reader, kernel.signs, line.gap, line.relation):
        reach = _within(kernel, line)
        if reach is None:
            raise RejectedError(f"{line.sentence} is not what domains say")
        return Found(reach=reach)
    return Found()


def _within(kernel: Kernel, line: Line) -> Mapping[str, int] | None:
    """How far it carries that a round, or turn, is one of the run: ``h <= H - 1``, and ``h <= H`` after the last."""
    now = {"k": PLAIN.k, "h": PLAIN.h, "j": PLAIN.j}
    for index in sorted(line.gap.free & set(now)) if line.relation in ("<=", ">=") else ():
        end = parameter("K") if index == "k" else kernel.reader.turns_of(index)
        for reach in (0, 1):
            if line.gap.direction == (end - now[index] - constant(reach)).direction:
                return {index: reach}
    return None


def axiom(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds of any numbers and vectors."""
    of = [kernel.expression(text) for text in list_of(data, "of")]
    if data.get("schema") == "telescope":
        return telescope(kernel, of, str(data.get("over", "")), line)
    if data.get("schema") == "tail":
        return tail(kernel, of, line)
    if data.get("schema") == "lexicographic":
        return lexicographic(kernel, of, line)
    if data.get("schema") == "projection":
        return projection(kernel, of, line)
    said, reach = _axiom(kernel, str(data.get("schema")), of, str(data.get("over", "")), line)
    if not any(same(line.gap, line.relation, replace(line, sentence=s, gap=kernel.reader.difference(s))) for s in said):
        raise RejectedError(f"it is not what {data.get('schema')} says of {', '.join(map(text_of, of))}")
    return Found(reach=reach)


def _axiom(
    kernel: Kernel, schema: str, of: list[Expression], over: str, line: Line
) -> tuple[list[Sentence], Mapping[str, int]]:
    def call(name: str, *of: Expression) -> Expression:
        return applied(name, of)

    if schema == "argmin":
        return of_minimiser(kernel, of), {}
    zero = parse_sentence("0 <= 1").left
    one = parse_sentence("0 <= 1").right
    shapes = [read(e, kernel.claim.vocabulary).shape for e in of]
    if schema == "triangle" and over:
        if shapes != ["vector"] or over not in (
            *(name for name, (how, _) in OVER.items() if how in ("mean", "sum")),
            "E",
        ):
            raise RejectedError(f"triangle over {over}: it is of one vector, over E, means and sums")
        return [Sentence(call("norm", call(over, of[0])), "<=", call(over, call("norm", of[0])))], {}
    if schema == "quantile norm" and shapes == ["vector", "scalar"]:
        v, level = of
        squared = call("**", call("quantile", call("norm", v), level), call("+", one, one))
        return [Sentence(squared, "==", call("quantile", call("norm2", v), level))], {}
    if schema == "jensen" and shapes == ["scalar", "vector"]:
        return [_jensen(kernel, of[0], of[1], over)], {}
    vectors = {"cauchy": 2, "triangle": 2, "coordinate": 1}.get(schema)
    if vectors is not None:
        if shapes != ["vector"] * vectors:
            raise RejectedError(f"{schema} is of {vectors} vectors")
        if schema == "coordinate":
            squared = call("**", call(COORDINATE, of[0]), call("+", one, one))
            return [Sentence(squared, "<=", call("norm2", of[0]))], {}
        u, v = of
        norms = call("norm", u), call("norm", v)
        if schema == "cauchy":
            return [Sentence(call("dot", u, v), "<=", call("*", *norms))], {}
        return [Sentence(call("norm", call("+", u, v)), "<=", call("+", *norms))], {}
    if "vector" in shapes or not of:
        raise RejectedError(f"{schema} is of numbers")
    e = of[0]
    match schema:
        case "max" | "min" if len(of) >= 2:
            chosen = call(schema, *of)
            sides = [(each, chosen) if schema == "max" else (chosen, each) for each in of]
            return [Sentence(low, "<=", high) for low, high in sides], {}
        case "bounds" if len(of) >= 2:
            return _bounds(kernel, of, over), {}
        case "extreme" if over in OVER and OVER[over][0] in ("max", "min") and len(of) == 1:
            how, index = OVER[over]
            if index in TURNS and (
                not kernel.reader.one_range(index) or (index == "h" and kernel.reader.lagging(e, "h"))
            ):
                raise RejectedError(f"{index} counts the turns of no loop, or of several")
            said = Sentence(e, "<=" if how == "max" else ">=", call(over, e))
            return [said], {index: 1} if index in ("k", *TURNS) else {}
        case "simplex" if len(of) == 2:
            return of_simplex(kernel, *of), {}
        case "quantile" if len(of) == 1:
            program = kernel.claim.program
            if program is not None and "noise" in program.operations:
                raise RejectedError("what noise makes is exceeded with probability 0")
            return [Sentence(e, "<=", call("quantile", e, one))], {}
        case "markov" if len(of) == 2 and kernel.signs.nonnegative(e):
            rest = call("-", one, of[1])
            if not all(map(kernel.signs.positive, (of[1], rest))):
                raise RejectedError("nothing says that the probability is between 0 and 1")
            few = call("quantile", e, rest)
            return [Sentence(few, "<=", call("/", call("E", e), of[1]))], {}
        case "exp" if len(of) == 1:
            return [Sentence(call("exp", e), ">=", call("+", one, e))], {}
        case "exp sum" if len(of) == 2:
            return [Sentence(call("exp", call("+", *of)), "==", call("*", *(call("exp", each) for each in of)))], {}
        case "log" if len(of) == 1 and kernel.signs.positive(e):
            return [Sentence(call("log", e), "<=", call("-", e, one))], {}
        case "log product" if len(of) == 2 and all(map(kernel.signs.positive, of)):
            return [Sentence(call("log", call("*", *of)), "==", call("+", *(call("log", each) for each in of)))], {}
        case "log quotient" if len(of) == 2 and all(map(kernel.signs.positive, of)):
            return [Sentence(call("log", call("/", *of)), "==", call("-", *(call("log", each) for each in of)))], {}
        case "exp log" if len(of) == 1 and kernel.signs.positive(e):
            return [Sentence(call("exp", call("log", e)), "==", e)], {}
        case "log exp" if len(of) == 1:
            return [Sentence(call("log", call("exp", e)), "==", e)], {}
        case "power sum" | "power product" | "power power" if len(of) == 3 and kernel.signs.positive(e):
            return [_of_powers(kernel, schema, *of)], {}
        case "abs" if len(of) == 1:
            return [Sentence(e, "<=", call("abs", e)), Sentence(call("neg", e), "<=", call("abs", e))], {}
        case "square" if len(of) == 1:
            return [Sentence(zero, "<=", call("*", e, e))], {}
        case "part" if over in ("sum_n", "sum_i") and len(of) == 1:
            if not kernel.signs.sign(e, bound=frozenset({over[-1]})) <= NONNEGATIVE:
                raise RejectedError(f"nothing says that {text_of(e)} is never negative")
            return [Sentence(e, "<=", call(over, e))], {}
        case "exponents" if len(of) == 3:
            return _exponents(kernel, *of), {}
        case "bernoulli" | "exp power" if len(of) == 2:
            exponent = kernel.reader.value(of[1])
            whole = kernel.reader.whole(exponent) and all(c > 0 for c in exponent.over.values())
            base = call("+", one, e)
            if schema == "exp power" and whole:
                return [Sentence(call("exp", call("*", *of)), "==", call("**", call("exp", e), of[1]))], {}
            if schema == "bernoulli" and whole and kernel.signs.nonnegative(base):
                return [Sentence(call("**", base, of[1]), ">=", call("+", one, call("*", of[1], e)))], {}
    raise RejectedError(f"{schema} is no axiom, or not of these numbers")


def _of_powers(kernel: Kernel, schema: str, base: Expression, one: Expression, other: Expression) -> Sentence:
    """The laws of powers of positive numbers, with any exponents."""

    def power(b: Expression, e: Expression) -> Expression:
        return applied("**", (b, e))

    if schema == "power sum":
        both = applied("*", (power(base, one), power(base, other)))
        return Sentence(power(base, applied("+", (one, other))), "==", both)
    if schema == "power power":
        return Sentence(power(power(base, one), other), "==", power(base, applied("*", (one, other))))
    if not kernel.signs.positive(one):
        raise RejectedError(f"nothing says that {text_of(one)} is positive")
    both = applied("*", (power(base, other), power(one, other)))
    return Sentence(power(applied("*", (base, one)), other), "==", both)


def _exponents(kernel: Kernel, base: Expression, low: Expression, high: Expression) -> list[Sentence]:
    """Powers of what is at least 1 grow with the exponent; those of less, if positive or of integers >= 0, shrink."""
    one = parse_sentence("0 <= 1").right
    whole = all(kernel.reader.whole(kernel.reader.value(e)) for e in (low, high)) and kernel.signs.nonnegative(low)
    if not (whole or kernel.signs.positive(base)) or not kernel.signs.nonnegative(applied("-", (high, low))):
        raise RejectedError("the exponents are in order, and integers >= 0 unless the base is positive")
    less, more = applied("**", (base, low)), applied("**", (base, high))
    if kernel.signs.nonnegative(applied("-", (base, one))):
        return [Sentence(less, "<=", more)]
    if all(map(kernel.signs.nonnegative, (base, applied("-", (one, base))))):
        return [Sentence(more, "<=", less)]
    raise RejectedError("nothing says that the base is at least 1, or in [0, 1]")


def _jensen(kernel: Kernel, w: Expression, v: Expression, over: str) -> Sentence:
    """The square of a weighted sum is at most the sum of the weights times that of the squares (Cauchy, Schwarz)."""
    how, index = OVER.get(over, ("", ""))
    if how not in ("mean", "sum") or not kernel.signs.sign(w, bound=frozenset({index})) <= NONNEGATIVE:
        raise RejectedError(f"jensen is of weights that are >= 0, over means and sums, and not of {text_of(w)}")

    def taken(e: Expression) -> Expression:
        return applied(over, (e,))

    squares = taken(applied("*", (w, applied("norm2", (v,)))))
    return Sentence(applied("norm2", (taken(applied("*", (w, v))),)), "<=", applied("*", (taken(w), squares)))


def _bounds(kernel: Kernel, of: list[Expression], over: str) -> list[Sentence]:
    """A maximum is at most what all are at most; a minimum likewise. Signs, and so lines, say of each that it is so."""
    *some, m = of
    how, index = OVER.get(over, ("", ""))
    if over and (how not in ("max", "min") or len(some) != 1 or index in read(m, kernel.claim.vocabulary).free):
        raise RejectedError(f"bounds over {over}: of a number and a bound without {index}")

    def below(e: Expression, top: Expression) -> bool:
        gap, bound = applied("-", (top, e)), frozenset({index} - {""})
        return kernel.signs.sign(gap, bound=bound) <= NONNEGATIVE

    sides: tuple[tuple[str, Relation], ...] = (("max", "<="), ("min", ">="))
    found = []
    for name, relation in sides:
        if all(below(e, m) if name == "max" else below(m, e) for e in some):
            if over and how == name:
                found.append(Sentence(applied(over, (some[0],)), relation, m))
            elif not over:
                found.append(Sentence(applied(name, tuple(some)) if len(some) > 1 else some[0], relation, m))
    return found


def citation(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is taken from elsewhere; the verdict names the source."""
    source = data.get("source")
    if not isinstance(source, str) or not source.strip():
        raise RejectedError("a citation has a source")
    return Found(citations=frozenset({source}))


RULES: Mapping[str, tuple[Rule, tuple[str, ...]]] = {
    "hypothesis": (hypothesis, ()),
    "domain": (domain, ()),
    "assumption": (assumption, ("of", "schema", "at", "on")),
    "axiom": (axiom, ("schema", "of", "over")),
    "operation": (operation, ("schema", "of", "using")),
    "combination": (combination, ("parts", "squares")),
    "average": (average, ()),
    "step": (step, ("using",)),
    "drawn": (drawn, ("line",)),
    "replace": (replaced, ("line",)),
    "at": (at, ("line", "put")),
    "mean": (mean, ("line", "over", "put")),
    "induction": (induction, ("on", "from", "sentences", "base", "step")),
    "cases": (cases, ("on", "first", "second")),
    "zero": (zero, ("line", "put", "of", "with", "over")),
    "single": (single, ("unfold", "of")),
    "root": (root, ("line", "put")),
    "power": (power, ("line", "exponent")),
    "claim": (claimed, ("id", "derivation", "put")),
    "citation": (citation, ("source",)),
}
"""Each with what a line by it has."""
