"""The rules by which lines follow. Each is given the kernel, the line as data, and the line as it is to be.

A rule returns where the line follows, and raises `RejectedError` where it does not. It asks the kernel for what it
uses, which remembers that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from theory.derivation.kernel import Found, Goal, Kernel, Line, furthest, same
from theory.derivation.quotients import ONE, Atom, Quotient, RejectedError, constant, mapped, monomial, of_atom
from theory.derivation.reading import PLAIN, Place, parameter, put
from theory.derivation.schemas import instance
from theory.derivation.terms import (
    Binder,
    Change,
    Index,
    as_vector,
    atom,
    bind,
    changed,
    dot,
    expectation,
    opened,
    renamed,
)
from theory.formula import Apply, Name
from theory.program import Loop
from theory.sentence import (
    OVER,
    Expression,
    Sentence,
    applied,
    everything_meant,
    parse_sentence,
    read,
    text_of,
)

Rule = Callable[[Kernel, Mapping[str, Any], Line], Found]
TURNED = {"<=": ">=", "<": ">"}


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise RejectedError(f"{key} is {value!r}, and not a list")
    return list(value)


def _mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, Mapping):
        raise RejectedError(f"{key} is {value!r}, and no names with what they stand for")
    return value


def _entries(data: Mapping[str, Any], key: str, *keys: str) -> list[Mapping[str, Any]]:
    """A list of mappings that have no other keys than these."""
    found = _list(data, key)
    for one in found:
        if not isinstance(one, Mapping) or set(one) - set(keys):
            raise RejectedError(f"{key}: {one!r} has not just {', '.join(keys)}")
    return found


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
    at = {str(name): kernel.expression(text) for name, text in _mapping(data, "at").items()}
    of = [str(text) for text in _list(data, "of")]
    return str(instance(kernel.claim, str(data.get("schema")), of, at, str(data.get("on", "")))[0])


def assumption(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is what assumptions say of a function at points."""
    at = {str(name): kernel.expression(text) for name, text in _mapping(data, "at").items()}
    of = [str(text) for text in _list(data, "of")]
    said, predicates = instance(kernel.claim, str(data.get("schema")), of, at, str(data.get("on", "")))
    for side in (said.left, said.right):
        kernel.has_value(side)
    if not same(line.gap, line.relation, replace(line, sentence=said, gap=kernel.reader.difference(said))):
        raise RejectedError(f"{data.get('schema')} says {said} there")
    names = {one.text for one in predicates}
    texts = [text for text in (*kernel.claim.assuming, *kernel.claim.standing) if _text(text) in names]
    return Found(hypotheses=frozenset(texts))


def _text(text: str) -> str:
    from theory.predicates import predicate
    from theory.sentence import parse_call

    call = parse_call(text)
    return "" if call is None else predicate(*call).text


def domain(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is true by the domains of the parameters, and by what the draws of the program ask of them."""
    from theory.derivation.domains import by_domain

    if not by_domain(kernel.reader, kernel.signs, line.gap, line.relation):
        raise RejectedError(f"{line.sentence} is not what domains say")
    return Found()


def axiom(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds of any numbers and vectors."""
    of = [kernel.expression(text) for text in _list(data, "of")]
    said, reach = _axiom(kernel, str(data.get("schema")), of, str(data.get("over", "")), line)
    if not any(same(line.gap, line.relation, replace(line, sentence=s, gap=kernel.reader.difference(s))) for s in said):
        raise RejectedError(f"it is not what {data.get('schema')} says of {', '.join(map(text_of, of))}")
    return Found(reach=reach)


def _axiom(
    kernel: Kernel, schema: str, of: list[Expression], over: str, line: Line
) -> tuple[list[Sentence], Mapping[str, int]]:
    def call(name: str, *of: Expression) -> Expression:
        return applied(name, of)

    zero = parse_sentence("0 <= 1").left
    one = parse_sentence("0 <= 1").right
    shapes = [read(e, kernel.claim.vocabulary).shape for e in of]
    vectors = {"cauchy": 2, "triangle": 2}.get(schema)
    if vectors is not None:
        if shapes != ["vector"] * vectors:
            raise RejectedError(f"{schema} is of {vectors} vectors")
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
        case "extreme" if over in OVER and OVER[over][0] in ("max", "min") and len(of) == 1:
            how, index = OVER[over]
            said = Sentence(e, "<=" if how == "max" else ">=", call(over, e))
            return [said], {index: 1} if index in "kh" else {}
        case "exp" if len(of) == 1:
            return [Sentence(call("exp", e), ">=", call("+", one, e))], {}
        case "log" if len(of) == 1 and kernel.signs.positive(e):
            return [Sentence(call("log", e), "<=", call("-", e, one))], {}
        case "abs" if len(of) == 1:
            return [Sentence(e, "<=", call("abs", e)), Sentence(call("neg", e), "<=", call("abs", e))], {}
        case "square" if len(of) == 1:
            return [Sentence(zero, "<=", call("*", e, e))], {}
        case "bernoulli" if len(of) == 2:
            exponent = kernel.reader.value(of[1])
            whole = all(c.denominator == 1 and c > 0 for c in exponent.over.values()) and not exponent.under
            whole = whole and all(kernel.reader.integer(a) and p > 0 for m in exponent.over for a, p in m)
            base = call("+", one, e)
            if whole and kernel.signs.nonnegative(base):
                return [Sentence(call("**", base, of[1]), ">=", call("+", one, call("*", of[1], e)))], {}
    raise RejectedError(f"{schema} is no axiom, or not of these numbers")


# --- combinations ----------------------------------------------------------------------------------------------------


def bound_over(kernel: Kernel, q: Quotient, over: Sequence[Any], used: Sequence[Line], e: bool = True) -> Quotient:
    """What is at least 0 for all values of indices, taken over them, the last named innermost.

    Raises:
        RejectedError: where an index is not there, or the lines do not hold for all its values.
    """
    for name in reversed(over):
        if name == "E":
            q = kernel.reader.integrable(expectation(q))
            continue
        how, index = OVER.get(name, ("", ""))
        if how not in ("mean", "sum") or index not in "nikh":
            raise RejectedError(f"over {name!r}: it is E, mean or sum over n, i, k or h")
        if index not in q.free:
            raise RejectedError(f"over {name}: nothing in it has the index {index}")
        if any(index in line.fixed or line.reach.get(index, 0) > 1 for line in used):
            raise RejectedError(f"over {name}: it does not hold for every {index}")
        if index == "n" and "i" in q.free:
            raise RejectedError("over n before i")
        upper = None if index in "ni" else parameter("K") if index == "k" else _turns(kernel)
        q = bind(Binder(index, Index(index), Index("n") if index == "i" else None, upper), q)
        if upper is not None and how == "mean":
            q = q / upper
        if upper is None and how == "sum":
            q = q * (parameter("N") if index == "n" else of_atom(atom("samples", Index("n"))))
    return q


def _turns(kernel: Kernel) -> Quotient:
    program = kernel.claim.program
    loops = [] if program is None else [step for step in program.body if isinstance(step, Loop)]
    if len(loops) != 1 or loops[0].op != "repeat":
        raise RejectedError("a sum over h is read for an algorithm with one loop")
    upper = kernel.reader.count(loops[0])
    if upper.number is not None:
        raise RejectedError("a loop of so many turns is written out")
    return upper


def _number(kernel: Kernel, data: Mapping[str, Any]) -> Expression:
    """A multiplier."""
    found = kernel.expression(data.get("times", "1"))
    if read(found, kernel.claim.vocabulary).shape != "scalar":
        raise RejectedError(f"the multiplier {text_of(found)} is a vector")
    return found


def combination(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a combination of lines and squares with multipliers that are not negative."""
    rest, strict = line.gap, False
    for part in _entries(data, "parts", "line", "put", "over", "times"):
        before = len(kernel.signs.used)
        used, gap = _put(kernel, part)
        multiplier = _number(kernel, part)
        term = kernel.reader.value(multiplier) * gap
        if used.relation != "==":
            if line.relation == "==":
                raise RejectedError(f"an equation does not follow from {used.name}, which is none")
            if not kernel.signs.nonnegative(multiplier):
                raise RejectedError(f"nothing says that the multiplier {text_of(multiplier)} of {used.name} is >= 0")
            strict = strict or (used.relation in ("<", ">") and kernel.signs.positive(multiplier))
        rest = rest - bound_over(kernel, term, _list(part, "over"), [used, *kernel.signs.used[before:]])
    for square in _entries(data, "squares", "of", "over", "times"):
        before = len(kernel.signs.used)
        of, multiplier = kernel.expression(square.get("of")), _number(kernel, square)
        if line.relation == "==" or not kernel.signs.nonnegative(multiplier):
            raise RejectedError(f"nothing says that the multiplier {text_of(multiplier)} of a square is >= 0")
        q = kernel.reader.value(of)
        squared = dot(q, q) if read(of, kernel.claim.vocabulary).shape == "vector" else q * q
        term = kernel.reader.value(multiplier) * squared
        rest = rest - bound_over(kernel, term, _list(square, "over"), kernel.signs.used[before:])
    if line.relation in ("<", ">") and not strict:
        raise RejectedError("nothing in it is strict")
    if not rest.zero:
        raise RejectedError(f"left over: {rest.text}")
    return Found()


def mean(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line taken over indices, or in expectation."""
    part = {key: data[key] for key in ("line", "over", "put") if key in data}
    return combination(kernel, {"parts": [part]}, line)


def at_other_indices(kernel: Kernel, data: Mapping[str, Any]) -> tuple[Line, Place]:
    """A line, and the place with other rounds and turns at which it is meant.

    Raises:
        RejectedError: where it does not hold there.
    """
    line, touched = kernel.line(data.get("line")), len(kernel.touched) - 1
    new = _mapping(data, "put")
    if not new:
        return line, line.place
    if line.place != PLAIN:
        raise RejectedError(f"{line.name} is not to be said of other rounds")
    place, reach = PLAIN, dict(line.reach)
    for name, text in new.items():
        if name not in ("k", "h", "K") or name in line.fixed:
            raise RejectedError(f"{line.name} holds for this {name} only, or {name} is nothing to put anything for")
        value = kernel.reader.value(kernel.expression(text))
        base, c = kernel.reader.index(value)
        if name == "K":
            lasting(kernel, line)
            if base != "parameter(K)" or c < 0:
                raise RejectedError("K is put to K and more")
        place = put(place, name, value)
        if name in reach:
            reach |= _carried(name, base, reach.pop(name) + c, kernel)
    carried = replace(line, reach=reach)
    kernel.touched[touched] = carried
    return carried, place


def _put(kernel: Kernel, data: Mapping[str, Any]) -> tuple[Line, Quotient]:
    """A line, and what is at least 0 by it, at other rounds and turns."""
    line, place = at_other_indices(kernel, data)
    return line, line.gap if place == line.place else kernel.reader.difference(line.sentence, place)


def _carried(index: str, base: str, reach: int, kernel: Kernel) -> dict[str, int]:
    """How far a line carries in which index was put to a name and a constant."""
    if base == f"number({index})":
        return {index: reach}
    if not base and reach <= 1:  # there is a first round
        return {}
    ends = parameter("K") if index == "k" else _turns(kernel)
    if reach <= 0 and (of_atom(a := next(iter(ends.atoms))).text == ends.text) and base == a.text:
        return {}
    raise RejectedError(f"what is assumed of rounds does not carry so far in {index}")


def at(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line at other rounds or turns."""
    used, gap = _put(kernel, data)
    if not same(line.gap, line.relation, replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say so there")
    return Found()


# --- rounds ----------------------------------------------------------------------------------------------------------


def step(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so by what the algorithm does in a round, E of its draws taken exactly, and vectors that lines equate."""
    rest = kernel.reader.difference(line.sentence, replace(line.place, unfold=True))
    used = [kernel.line(name) for name in _list(data, "using")]
    if line.relation in ("<", ">") or not _same_when(kernel, rest, used):
        raise RejectedError(f"left over after the round: {rest.text}")
    return Found()


def replaced(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Its sides are the same when a vector is replaced by one that a line says is equal to it."""
    if line.relation in ("<", ">") or not _same_when(kernel, line.gap, [kernel.line(data.get("line"))]):
        raise RejectedError(f"its sides are not the same by {data.get('line')}")
    return Found()


def _same_when(kernel: Kernel, q: Quotient, lines: Sequence[Line]) -> bool:
    """Whether it is 0 when vectors are replaced by those that lines norm2(u - v) <= 0 say are equal to them."""
    if not lines:
        return q.zero
    return any(_same_when(kernel, changed(q, one), lines[1:]) for one in _equalities(kernel, lines[0]))


def _equalities(kernel: Kernel, line: Line) -> list[Change]:
    """What a line norm2(u - v) <= 0, or E of it, lets be replaced; for every client, where it is so for all."""
    left, program = line.sentence.left, kernel.claim.program
    finite = program is None or "noise" not in program.operations
    if isinstance(left, Apply) and left.operation == "E" and finite:  # each outcome has a probability > 0
        left = left.arguments[0]
    if line.relation not in ("<=", "==") or not isinstance(left, Apply) or left.operation != "norm2":
        raise RejectedError(f"{line.name} does not say that two vectors are equal")
    if not kernel.reader.value(line.sentence.right, line.place).zero:
        raise RejectedError(f"{line.name} does not say that two vectors are equal")
    w = kernel.reader.value(left.arguments[0], line.place)
    found = []
    for m, c in w:
        if len(m) == 1 and m[0][0].kind == "vec" and abs(c) == 1 and not w.under:
            one = m[0][0].data[0]
            rest = (w - monomial(m, c)) * constant(-c)
            found.append(_swap(one, rest, "n" in one.free and "n" not in line.fixed))
    return found


def _swap(one: Atom, by: Quotient, for_all: bool) -> Change:
    def vector(a: Atom) -> Quotient | None:
        if a == one:
            return by
        for name in a.free if for_all and a.kind == one.kind else ():
            if name.startswith("n") and renamed(as_vector(one), {"n": Index(name)}) == as_vector(a):
                return renamed(by, {"n": Index(name)})
        return None

    return Change(vector=vector)


def lasting(kernel: Kernel, *lines: Line) -> None:
    """Nothing where hypotheses and algorithm do not speak of K.

    Raises:
        RejectedError: where they do, so that another K is another claim.
    """
    claim = kernel.claim
    sides = [side for r in claim.relations for side in (r.left, r.right)]
    sides += [constant_ for one in claim.predicates for constant_ in one.constants]
    for side in sides:
        for part in everything_meant(side, claim.vocabulary):
            over = isinstance(part, Apply) and part.operation in OVER and OVER[part.operation][1] == "k"
            if part == Name("K") or over:
                raise RejectedError("the hypotheses speak of K")
    if claim.program is not None and re.search(r"\bK\b", str(claim.program.to_json())):
        raise RejectedError("the algorithm speaks of K")
    if any(line.reach for line in lines):
        raise RejectedError("what is assumed of rounds ends at K")


def induction(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds at the beginning, and after a round (a turn, one more K) whenever before."""
    index = data.get("on")
    if index not in ("k", "h", "K"):
        raise RejectedError(f"induction on {index!r}, and not k, h or K")
    texts = _list(data, "sentences")
    sentences = [kernel.sentence(str(text)) for text in texts] or [line.sentence]
    if line.place != PLAIN or line.sentence not in sentences:
        raise RejectedError("the line is none of the sentences that are shown by induction")
    if any(index in one.fixed for one in kernel.known.values()):
        raise RejectedError(f"induction on {index} inside of what is so for one {index}")
    if index == "K":
        lasting(kernel, *kernel.known.values(), *kernel.hypotheses)
    first = data.get("from", int(index == "K"))
    if first != int(index == "K"):
        raise RejectedError(f"induction on {index} begins at {int(index == 'K')}")
    names = ["IH"] if len(sentences) == 1 else [f"IH {j + 1}" for j in range(len(sentences))]
    given = []
    for name, said in zip(names, sentences, strict=True):
        if name in kernel.known:
            raise RejectedError(f"{name} is the name of another line")
        given.append(Line(name, said, PLAIN, kernel.reader.difference(said), "induction", fixed=frozenset({index})))
    last: list[Line] = []
    now = {"k": PLAIN.k, "h": PLAIN.h, "K": PLAIN.K}[index]
    for key, value, known in (("base", constant(int(first)), ()), ("step", now + ONE, given)):
        place = put(PLAIN, index, value)
        last += _all_of(kernel, _list(data, key), sentences, place, known)
    reach = furthest(one.reach for one in last)
    if index in reach:
        if reach[index] > 1:
            raise RejectedError(f"its step needs more than one {index} at a time")
        reach[index] = 0
    return Found(tuple(last), freed=frozenset({index}), reach=reach)


def _all_of(
    kernel: Kernel, lines: list[Any], sentences: Sequence[Sentence], place: Place, given: Sequence[Line]
) -> list[Line]:
    """The lines of a list that ends with several sentences."""
    made = kernel.block(lines, Goal(sentences[-1], place), given)
    found = [made[-1]]
    for other in sentences[:-1]:
        gap = kernel.reader.difference(other, place)
        one = next((line for line in reversed(made) if same(gap, other.relation, line)), None)
        if one is None:
            raise RejectedError(f"no line says {other} there")
        found.append(one)
    return found


def cases(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It holds whether one number is at most another, or more than it."""
    said = kernel.sentence(str(data.get("on")))
    gap = kernel.reader.difference(said)
    if said.relation != "<=" or gap.random:
        raise RejectedError("cases are on a <= b, neither of them random")
    fixed = (gap.free & {"k", "h", "n", "i"}) | ({"K"} if "parameter(K)" in gap.text else set())
    others = [Sentence(said.right, relation, said.left) for relation in ("<=", "<")]
    last = []
    for key, known in (("first", [said]), ("second", others)):
        given = [Line(str(one), one, PLAIN, kernel.reader.difference(one), "cases", fixed=fixed) for one in known]
        if any(one.name in kernel.known for one in given):
            raise RejectedError(f"{given[0].name} is the name of another line")
        last.append(kernel.block(_list(data, key), Goal(line.sentence, line.place), given)[-1])
    freed = fixed.difference(*(one.fixed for one in kernel.known.values()))
    return Found(tuple(last), freed=freed, reach=furthest(one.reach for one in last))


def zero(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Where the squared norm of a vector is 0 on average, so is its inner product with any other (Cauchy, Schwarz)."""
    used, gap = _put(kernel, data)
    over = _list(data, "over")
    w, v = (kernel.expression(data.get(key)) for key in ("of", "with"))
    if [read(e, kernel.claim.vocabulary).shape for e in (w, v)] != ["vector", "vector"]:
        raise RejectedError("of and with are vectors")
    square = bound_over(kernel, dot(*[kernel.reader.value(w)] * 2), over, [used])
    if used.relation in ("<", ">") or not same(-square, "<=", replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say that {text_of(w)} is 0")
    product = bound_over(kernel, dot(kernel.reader.value(w), kernel.reader.value(v)), over, [used])
    if line.gap.direction[1] != product.direction[1]:
        raise RejectedError(f"it is not that {text_of(applied('dot', (w, v)))} is 0")
    return Found()


def single(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is so because there is one client: a mean over clients is what is of that one."""
    one = parse_sentence("N <= 1")
    if not kernel.signs.nonnegative(applied("-", (one.right, one.left))):
        raise RejectedError("nothing says that N <= 1")
    client = Index("n")
    rest = of_one_client(line.gap, client)
    if line.relation in ("<", ">") or not rest.zero:
        raise RejectedError(f"left over for one client: {rest.text}")
    return Found()


def of_one_client(q: Quotient, client: Index) -> Quotient:
    """A normal form where N is 1: all clients are this one."""

    def new(a: Atom) -> Quotient:
        if a.kind == "parameter" and a.data == ("N",):
            return ONE
        if a.kind != "bind":
            return of_atom(a)
        binders, body = opened(a)
        found = renamed(monomial(body), {b.index: client for b in binders if b.kind == "n"})
        for b in reversed([b for b in binders if b.kind != "n"]):
            owner = client if b.kind == "i" and b.owner in {c.index for c in binders} else b.owner
            found = bind(replace(b, owner=owner), found)
        return mapped(found, lambda b: ONE if b.kind == "parameter" and b.data == ("N",) else of_atom(b))

    return mapped(q, new)


# --- roots, powers, citations ----------------------------------------------------------------------------------------


def root(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """Its squares are in the relation, and the greater side (of an equation each) is not negative."""
    used, gap = _put(kernel, data)
    low, high = line.sentence.left, line.sentence.right
    if line.relation in (">=", ">"):
        low, high = high, low
    for side in (low, high) if line.relation == "==" else (high,):
        if not kernel.signs.nonnegative(side, line.place):
            raise RejectedError(f"nothing says that {text_of(side)} is >= 0")
    one, other = (kernel.reader.value(side, line.place) for side in (low, high))
    if not same(other * other - one * one, line.relation, replace(used, gap=gap)):
        raise RejectedError(f"{used.name} does not say so of the squares")
    return Found()


def power(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is a line raised to a power, its lesser side not negative."""
    used = kernel.line(data.get("line"))
    exponent = kernel.expression(data.get("exponent"))
    low, high = used.sentence.left, used.sentence.right
    if used.relation in (">=", ">"):
        low, high = high, low
    e = kernel.reader.value(exponent)
    whole = all(c.denominator == 1 and c > 0 for c in e.over.values()) and not e.under
    whole = whole and all(kernel.reader.integer(a) and p > 0 for m in e.over for a, p in m)
    if used.place != PLAIN or not whole or not kernel.signs.nonnegative(low):
        raise RejectedError("powers are of sides that are not negative, with exponents that are integers >= 0")
    gap = kernel.reader.value(applied("**", (high, exponent))) - kernel.reader.value(applied("**", (low, exponent)))
    said = Sentence(low, "==" if used.relation == "==" else "<=", high)
    if not same(line.gap, line.relation, replace(used, sentence=said, gap=gap)):
        raise RejectedError(f"{used.name} raised to {text_of(exponent)} does not say so")
    return Found()


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
    "combination": (combination, ("parts", "squares")),
    "step": (step, ("using",)),
    "replace": (replaced, ("line",)),
    "at": (at, ("line", "put")),
    "mean": (mean, ("line", "over", "put")),
    "induction": (induction, ("on", "from", "sentences", "base", "step")),
    "cases": (cases, ("on", "first", "second")),
    "zero": (zero, ("line", "put", "of", "with", "over")),
    "single": (single, ()),
    "root": (root, ("line", "put")),
    "power": (power, ("line", "exponent")),
    "citation": (citation, ("source",)),
}
"""Each with what a line by it has."""
