"""Proofs of claims as they stand: what is decided here is the sentence that the claim has, and no other.

This is the only module whose evidence has the outcome ``proved``. It is given a claim and looks nothing up: relation,
sides, definitions and hypotheses are those of the claim, so that a claim with another right side, or with a hypothesis
less, is another question.

A claim that says what it means (`theory.written`) is decided as `validate.by_signs` (numbers, and sums over k) and
`validate.by_multipliers` (vectors, functions, one round of an algorithm) say; what it needs stands in its sentence and
its assumptions.

Of the older claims three kinds of sentences are decided, each for all values that the hypotheses allow:

- about numbers, whose left side is a formula (`Quantity.formula`): by the signs of coefficients;
- about a sequence (`Quantity.recursion`): by induction, the right side itself put into the next step;
- about vectors (`Claim.sentence`): right - left is multiples of what the hypotheses say, with multipliers that are not
  negative, plus a sum of squares; the parameters are symbols.

What was shown at given numbers only is not ``proved``; its evidence holds, and names the numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theory.claim import Claim, Hypothesis, VectorLine, VectorSentence
from theory.domain import NONNEGATIVE, REAL, Domain
from theory.sentence import text_of
from theory.written import Claim as Written
from validate.by_signs import with_powers
from validate.shown import Shown
from validate.signs import Region, region, semidefinite
from validate.verdict import Evidence

if TYPE_CHECKING:
    import sympy

    from theory.formula import Formula
    from theory.inequality.prover import Proof
    from theory.inequality.sentence import Sentence

log = logging.getLogger(__name__)


def evidence(claim: Claim | Written) -> list[Evidence]:
    """What the claim's own sentence says by algebra or by the prover of vector inequalities; often nothing."""
    if isinstance(claim, Written):
        return _of_written(claim) if claim.has_sentence else []
    found: list[Evidence] = []
    if claim.right is not None and claim.quantity.formula is not None:
        found += _decided(
            claim, _numbers, f"both sides are numbers: {claim.quantity.formula} {claim.relation} its right side"
        )
    if claim.right is not None and claim.quantity.recursion is not None:
        found += _decided(claim, _by_induction, f"by induction over {claim.quantity.recursion.variable}")
    if claim.sentence is not None:
        found += _in_vectors(claim)
    elif claim.vectors is not None:
        found += at_settings(replace(claim.vectors, settings=_allowed(claim, claim.vectors.settings)))
    return found


# --- claims that say what they mean ----------------------------------------------------------------------------------


def _of_written(claim: Written) -> list[Evidence]:
    """A proof of the sentence, with no hypothesis among those named that it can do without."""
    from validate.by_multipliers import by_multipliers
    from validate.by_signs import about_numbers, by_signs

    numbers = about_numbers(claim)
    shown = _needing_all(claim, by_signs if numbers else by_multipliers)
    if shown is None:
        return []
    if "induction" in shown.more["proof"]:
        how = "both sides are numbers, by induction over K"
    else:
        how = "both sides are numbers" if numbers else "multiples of what its hypotheses say and a sum of squares"
    text = f"{how}, for all values that its hypotheses allow"
    text += f"; it rests on: {', '.join(shown.hypotheses)}" if shown.hypotheses else ""
    said = {
        "left": shown.left,
        "relation": claim.sentence.relation,
        "right": text_of(claim.sentence.right),
        "definitions": dict(claim.where),
        "hypotheses": list(shown.hypotheses),
    }
    return [Evidence("algebra", "proved", text, data={"sentence": said, **shown.more}, origin="search")]


def _needing_all(claim: Written, decide: Callable[[Written], Shown | None]) -> Shown | None:
    """A proof that rests on hypotheses each of which it needs; None without one, and for what has no such form."""
    try:
        shown = decide(claim)
    except ValueError as error:
        log.debug("%s is not decided by algebra: %s", claim.id, error)
        return None
    if shown is None:
        return None
    for text in shown.hypotheses:
        try:
            less = without_text(claim, text)
        except ValueError:  # it says nothing without
            continue
        found = _needing_all(less, decide)
        if found is not None:
            return found
    return shown


def without_text(claim: Written, text: str) -> Written:
    """The claim without one of its assumptions, or standing conditions.

    Raises:
        ValueError: where that is no claim any more.
    """
    printed, standing = (tuple(t for t in some if t != text) for some in (claim.assuming, claim.standing))
    return replace(claim, assuming=printed, standing=standing)


# --- claims with a quantity and hypotheses ---------------------------------------------------------------------------


def _decided(claim: Claim, decide: Any, how: str) -> list[Evidence]:
    """Evidence of a way to prove, with no hypothesis among those named that the way can do without."""
    shown = _least(claim, decide)
    if shown is None:
        return []
    unknown = _without_value(claim)
    if unknown is not None:
        text = f"{how}, wherever both sides have a value; that they have one is not shown of {unknown}"
        return [Evidence("algebra", "undecided", text, origin="search")]
    text = f"{how}, for all values that its hypotheses allow"
    text += f"; it rests on: {', '.join(shown.hypotheses)}" if shown.hypotheses else ""
    text += f"; read as: {'; '.join(shown.reading)}" if shown.reading else ""
    return [Evidence("algebra", "proved", text, data=_said(claim, shown), origin="search")]


def _least(claim: Claim, decide: Any) -> Shown | None:
    """A proof that rests on hypotheses each of which it needs; None without one."""
    shown: Shown | None = decide(claim)
    if shown is None:
        return None
    for name in shown.hypotheses:
        less = without(claim, name)
        other = decide(less)
        if other is not None:
            return _least(less, decide)
    return shown


def without(claim: Claim, name: str) -> Claim:
    """The claim without the hypothesis, or the standing condition, of that name."""
    printed, standing = (tuple(h for h in some if h.name != name) for some in (claim.hypotheses, claim.standing))
    return replace(claim, hypotheses=printed, standing=standing)


def _said(claim: Claim, shown: Shown) -> dict[str, Any]:
    """The sentence that was proved, for the evidence."""
    return {
        "sentence": {
            "left": shown.left,
            "relation": claim.relation,
            "right": claim.right,
            "definitions": dict(claim.definitions),
            "hypotheses": list(shown.hypotheses),
        },
        **shown.more,
    }


# --- where the parameters range --------------------------------------------------------------------------------------


def _relations(hypotheses: Sequence[Hypothesis], claim: Claim) -> dict[str, list[tuple[Any, str, Any]]]:
    """The relations between numbers that hypotheses say, by the hypothesis's name, definitions put in."""
    import sympy

    from theory.expression import names_in, parse, parse_relation, to_sympy

    known: dict[str, Any] = {p.name: sympy.Symbol(p.name) for p in claim.parameters if p.shape == "scalar"}
    for name, text in claim.definitions.items():
        try:
            known[name] = to_sympy(parse(text), known)
        except ValueError:
            continue
    found: dict[str, list[tuple[Any, str, Any]]] = {}
    for hypothesis in hypotheses:
        if hypothesis.relation is None:
            continue
        chain = parse_relation(hypothesis.relation)
        if not all(names_in(side) <= set(known) for side in chain.sides):
            continue
        try:
            sides = [to_sympy(side, known) for side in chain.sides]
        except ValueError:
            continue
        found.setdefault(hypothesis.name, []).extend(zip(sides, chain.operators, sides[1:], strict=False))
    return found


def _domains(claim: Claim) -> dict[str, Domain]:
    return {p.name: p.domain for p in claim.parameters}


def _region(claim: Claim, symbols: set[Any]) -> tuple[Region, tuple[str, ...]]:
    """Where the parameters range, and the names of the hypotheses that say so besides their domains."""
    relations = _relations(claim.conditions, claim)
    where = region(_domains(claim), [r for pairs in relations.values() for r in pairs], symbols)
    return where, tuple(relations)


# --- numbers ---------------------------------------------------------------------------------------------------------


def _sides(claim: Claim, left: str) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Both sides of a claim about numbers, in plain symbols; None where they have no such form."""
    import sympy

    from theory.expression import parse, to_sympy

    known: dict[str, Any] = {p.name: sympy.Symbol(p.name) for p in claim.parameters if p.shape == "scalar"}
    try:
        for name, text in claim.definitions.items():
            known[name] = to_sympy(parse(text), known)
        assert claim.right is not None
        return to_sympy(parse(left), known), to_sympy(parse(claim.right), known)
    except ValueError:
        return None


def _related(gap: sympy.Expr, relation: str, where: Region) -> bool:
    """Whether right - left has the sign that the relation says."""
    if relation == "=":
        return _zero(gap)
    gap = -gap if relation in (">=", ">") else gap
    return where.positive(gap) if relation in ("<", ">") else where.nonnegative(gap)


def _zero(expression: sympy.Expr) -> bool:
    import sympy

    expression = sympy.together(expression)
    if expression.is_rational_function(*expression.free_symbols):
        return bool(sympy.cancel(expression) == 0)
    return bool(sympy.simplify(expression) == 0)


def _numbers(claim: Claim) -> Shown | None:
    left = claim.quantity.formula
    sides = None if left is None else _sides(claim, left)
    if left is None or sides is None:
        return None
    gap = sides[1] - sides[0]
    where, used = _region(claim, gap.free_symbols)
    if not _related(gap, claim.relation, where):
        return None
    return Shown(() if claim.relation == "=" else used, left, {})


def _without_value(claim: Claim) -> str | None:
    """A piece of the formulas that is not shown to have a value wherever the hypotheses hold; None for none."""
    import sympy

    from theory.expression import parse

    assert claim.right is not None
    relations = [r for pairs in _relations(claim.conditions, claim).values() for r in pairs]
    scalars = {p.name: p for p in claim.parameters if p.shape == "scalar"}
    counts = {name for name, p in scalars.items() if p.domain.integer and _at_least_zero(p.domain)}
    known: dict[str, Any] = {name: sympy.Symbol(name) for name in scalars}
    where = region(_domains(claim), relations, set(known.values()))
    texts = [*claim.definitions.values(), claim.right]
    texts += [claim.quantity.formula] if claim.quantity.formula is not None else []
    for name, text in zip([*claim.definitions, "", ""], texts, strict=False):
        piece, value = _piece_without_value(parse(text), known, counts, where)
        if piece is not None:
            return piece
        if name:
            known[name] = value
    return None


def _piece_without_value(
    formula: Formula, known: Mapping[str, Any], counts: set[str], where: Region
) -> tuple[str | None, Any]:
    """As `_without_value`, of one formula, and the formula in sympy."""
    from theory.expression import to_sympy
    from theory.formula import Apply, Name, text_of

    if not isinstance(formula, Apply):
        return None, to_sympy(formula, known)
    values = []
    for part in formula.arguments:
        piece, value = _piece_without_value(part, known, counts, where)
        if piece is not None:
            return piece, None
        values.append(value)
    operation, fine = formula.operation, True
    if operation == "/":
        fine = where.positive(values[1]) or where.positive(-values[1])
    elif operation in ("sqrt", "log"):
        fine = where.nonnegative(values[0]) if operation == "sqrt" else where.positive(values[0])
    elif operation == "**":
        base, exponent = values
        count = exponent.is_Integer and exponent >= 0
        count = count or (isinstance(formula.arguments[1], Name) and formula.arguments[1].name in counts)
        fine = count or where.positive(base) or (where.nonnegative(base) and where.nonnegative(exponent))
        fine = fine or (exponent.is_Integer and where.positive(-base))
    return (None, to_sympy(formula, known)) if fine else (text_of(formula), None)


def _at_least_zero(domain: Domain) -> bool:
    return domain.lower is not None and domain.lower >= 0


# --- sequences -------------------------------------------------------------------------------------------------------


def _by_induction(claim: Claim) -> Shown | None:
    """The right side at the first index, and what follows from it at the next, against the right side itself."""
    import sympy

    from theory.expression import names_in, parse, to_sympy

    said, name = claim.quantity.recursion, claim.quantity.name
    if said is None or claim.relation not in ("=", "<=", ">=") or said.relation not in ("=", claim.relation):
        return None
    if said.hypothesis is not None and said.hypothesis not in claim.conditions:
        return None
    if name in {p.name for p in claim.parameters} | set(claim.definitions):
        return None  # in the next value it would be two things
    counter = next((p for p in claim.parameters if p.name == said.variable), None)
    if counter is None or not counter.domain.integer or counter.domain.lower is None:
        return None
    if counter.domain.lower < said.first or said.variable in names_in(parse(said.start)):
        return None
    sides = _sides(claim, said.start)
    if sides is None:
        return None
    start, right = sides
    index, value = sympy.Symbol(said.variable), sympy.Symbol(name)
    known: dict[str, Any] = {p.name: sympy.Symbol(p.name) for p in claim.parameters if p.shape == "scalar"}
    try:
        step = to_sympy(parse(said.next), known | {name: value})
    except ValueError:
        return None
    if start.has(index):  # through a definition
        return None
    powers: dict[Any, Any] = {}
    here, there = with_powers(right, index, powers), with_powers(right.subs(index, index + 1), index, powers)
    after = with_powers(step, index, powers).subs(value, here)
    if any(base.has(value) for base in powers):
        return None
    # every step up to the claim's index is needed: what is said of that index only says nothing of them
    domains = _domains(claim) | {said.variable: Domain(said.first, None, integer=True), name: REAL}
    relations = {
        h: kept for h, pairs in _relations(claim.conditions, claim).items() if (kept := _without(pairs, index))
    }
    free = start.free_symbols | right.free_symbols | step.free_symbols
    flat = [pair for pairs in relations.values() for pair in pairs]
    plain = region(domains, flat, free)
    domains |= {str(s): NONNEGATIVE if plain.nonnegative(base) else REAL for base, s in powers.items()}
    where, used = region(domains, flat, free | set(powers.values())), tuple(relations)
    if not where.defined(here):  # the steps go through all indices
        return None
    if not _related(sympy.cancel(right.subs(index, said.first) - start), claim.relation, where):
        return None
    if not _related(sympy.cancel(sympy.together(there - after)), claim.relation, where):
        return None
    grows = sympy.diff(step, value)
    if claim.relation != "=" and not (where.nonnegative(grows) and where.defined(step)):
        return None
    rests = () if claim.relation == "=" else used
    rests += (said.hypothesis.name,) if said.hypothesis is not None else ()
    return Shown(rests, f"{name}: {said.start} at {said.variable}={said.first}, then {said.next}", {})


def _without(pairs: Sequence[tuple[Any, str, Any]], symbol: Any) -> list[tuple[Any, str, Any]]:
    """The relations in which a symbol does not occur."""
    return [(left, operator, right) for left, operator, right in pairs if not (left.has(symbol) or right.has(symbol))]


# --- vectors ---------------------------------------------------------------------------------------------------------


def _in_vectors(claim: Claim) -> list[Evidence]:
    """The claim's own sentence in vectors: for all parameters, or at the settings that its author names."""
    from theory.inequality.sentence import written

    if claim.right is None:
        return []
    try:
        sentence = written(claim)
    except ValueError as error:
        return [Evidence("algebra", "undecided", f"its sentence in vectors was not read: {error}")]
    empty = _contradiction(claim, sentence)
    if empty is not None:
        return [empty]
    how = "multiples of what its hypotheses say and a sum of squares"
    proved = _decided(claim, _with_multipliers, how) if _consistent(claim, sentence) else []
    if proved:
        return proved
    free = {p.name for p in claim.parameters} - set(claim.sentence.names if claim.sentence is not None else ())
    settings = (
        [] if claim.vectors is None else [{k: v for k, v in s.items() if k in free} for s in claim.vectors.settings]
    )
    each = {tuple(s.items()): s for s in settings} or {(): {}}
    found = at_settings(VectorLine(sentence.at, _allowed(claim, tuple(each.values()))), of_claim=True)
    return [_not_strict(item, claim.relation) if sentence.strict else item for item in found]


def _not_strict(item: Evidence, relation: str) -> Evidence:
    """The prover knows no strict relations: what it found of the relation that is not strict says less."""
    if item.outcome != "holds":
        return item
    text = f"with {relation}= in place of {relation}: {item.detail}; whether the sides can be equal was not decided"
    return replace(item, outcome="undecided", detail=text)


def _allowed(claim: Claim, settings: Sequence[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
    """The settings that no relation among the claim's hypotheses excludes."""
    import sympy

    compare: dict[str, Any] = {"<=": sympy.Le, "<": sympy.Lt, ">=": sympy.Ge, ">": sympy.Gt, "==": sympy.Eq}
    relations = [pair for pairs in _relations(claim.conditions, claim).values() for pair in pairs]

    def excluded(setting: Mapping[str, str]) -> bool:
        at = {sympy.Symbol(name): sympy.Rational(text) for name, text in setting.items()}
        return any(compare[op](a.subs(at), b.subs(at)) == sympy.false for a, op, b in relations)

    return tuple(setting for setting in settings if not excluded(setting))


def _with_multipliers(claim: Claim) -> Shown | None:
    """right - left as multiples of the hypotheses and a sum of squares, by the multipliers that the claim names.

    Where it names none and there is no parameter, the prover is asked for them.
    """
    import sympy

    from theory.expression import parse, to_sympy
    from theory.inequality.sentence import written

    said = claim.sentence
    if said is None:
        return None
    try:
        sentence = written(claim)
    except ValueError:
        return None
    if sentence.strict:
        return None
    known: dict[str, Any] = {p.name: sympy.Symbol(p.name) for p in claim.parameters if p.name not in said.names}
    try:
        texts = said.multipliers if said.multipliers is not None else _found(sentence)
        factors = {name: to_sympy(parse(text), known) for name, text in texts.items()}
    except ValueError:
        return None
    conditions = {c.name: c for c in sentence.given}
    if not set(factors) <= set(conditions):
        return None
    rest = -sentence.claim.form
    for name, factor in factors.items():
        rest += factor * conditions[name].form
    try:
        gram, values, constant = sentence.coefficients(rest)
    except ValueError:
        return None
    if any(v != 0 for v in values.values()):
        return None
    symbols = set(known.values())
    where, used = _region(claim, symbols)
    if not all(conditions[name].equation or where.nonnegative(y) for name, y in factors.items()):
        return None
    if not all(where.defined(y) for y in factors.values()):
        return None
    if sentence.claim.equation:
        exact = all(c == 0 for c in (*gram.values(), constant)) and all(conditions[n].equation for n in factors)
        squares: list[str] | None = [] if exact else None
    else:
        squares = _squares(gram, len(sentence.vectors), where) if where.nonnegative(constant) else None
    if squares is None:
        return None
    names = dict.fromkeys(n for name in factors for n in conditions[name].of)
    rests = (*names, *(n for n in used if n not in names))
    left = said.names[claim.quantity.name]
    proof = {"multipliers": {k: str(v) for k, v in texts.items()}, "squares": squares, "names": dict(said.names)}
    return Shown(rests, left, {"proof": proof}, _reading(said, factors))


def _reading(said: VectorSentence, conditions: Collection[str]) -> tuple[str, ...]:
    """What names are in vectors, where functions are known, and what hypotheses say, of the conditions used."""
    names = [f"{name} = {text}" for name, text in said.names.items()]
    functions = [
        f"{f.name} at {' and '.join(f'{x} with gradient {g}, value {v}' for x, g, v in f.points.values())}"
        for f in said.functions
        if any(name.startswith(f"{f.name} ") for name in conditions)
    ]
    given = [f"{', '.join(h.name for h in g.of)} as {g.relation}" for g in said.given if g.name in conditions]
    return (", ".join(names), *functions, *given)


def _found(sentence: Sentence) -> dict[str, str]:
    """Multipliers by the prover, for a sentence without parameters.

    Raises:
        ValueError: when there is a parameter, or none were found.
    """
    from theory.inequality.prover import Proof, prove

    space, statement, given = sentence.at({})
    answer = prove(statement, given, space)
    if not isinstance(answer, Proof) or answer.contradictory:
        raise ValueError("no multipliers were found")
    return {c.name: f"({y})" for c, y in zip(given, answer.multipliers, strict=True) if y}


def _squares(gram: Mapping[tuple[int, int], Any], size: int, where: Region) -> list[str] | None:
    """The pivots of a Gram matrix that is positive semidefinite for all parameters; None where that is not shown."""
    matrix = [[gram[min(i, j), max(i, j)] / (1 if i == j else 2) for j in range(size)] for i in range(size)]
    return semidefinite(matrix, where)


def _consistent(claim: Claim, sentence: Sentence) -> bool:
    """Whether its conditions were looked at for a contradiction, or all vectors and values 0 satisfy them."""
    names = {p.name for p in claim.parameters}
    if not any({str(s) for s in c.form.free_symbols} & names for c in sentence.given):
        return True  # looked at by `_contradiction`
    for condition in sentence.given:
        at_zero = sentence.coefficients(condition.form)[2]
        where, _ = _region(claim, at_zero.free_symbols)
        if not (at_zero == 0 if condition.equation else where.nonnegative(-at_zero)):
            return False
    return True


def _contradiction(claim: Claim, sentence: Sentence) -> Evidence | None:
    """That its conditions on vectors cannot hold together; looked for where no parameter is left in them."""
    names = {p.name for p in claim.parameters}
    if any({str(s) for s in c.form.free_symbols} & names for c in sentence.given):
        return None
    space, given = sentence.given_at({})
    found = contradiction(given, space, "for all vectors", {c.name: c.of for c in sentence.given})
    if found is None or claim.sentence is None or found.data is None:
        return found
    read = "; ".join(_reading(claim.sentence, found.data["contradictory"])[1:])
    return replace(found, detail=f"{found.detail}; read as: {read}") if read else found


def contradiction(given: Sequence[Any], space: Any, at: str, of: Mapping[str, Sequence[str]]) -> Evidence | None:
    """Evidence that conditions contradict each other, by name; None when they were not shown to."""
    from theory.inequality.prover import contradicted
    from theory.inequality.vectors import Condition

    zero = [[0] * space.dimension] * space.dimension
    if all(c.holds(zero, [0] * len(space.values)) for c in given):
        return None
    conditions = tuple(c if isinstance(c, Condition) else Condition("", c, "<=") for c in given)
    found = contradicted(conditions, space)
    if found is None:
        return None
    used = [
        c.name or f"condition {i + 1}" for i, (c, y) in enumerate(zip(conditions, found.multipliers, strict=True)) if y
    ]
    hypotheses = list(dict.fromkeys(name for c in used for name in of.get(c, ())))
    text = f"{at}: its hypotheses contradict each other: {' and '.join(hypotheses or used)}"
    data = {"contradictory": used, "multipliers": [str(y) for y in found.multipliers], "hypotheses": hypotheses}
    return Evidence("hypotheses", "vacuous", text, data=data, origin="search")


# --- at numbers ------------------------------------------------------------------------------------------------------


def at_settings(line: VectorLine, *, of_claim: bool = False) -> list[Evidence]:
    """What the prover says of a statement about vectors at each of its settings; never that a claim is proved.

    Args:
        line: the statement.
        of_claim: whether the statement is the claim's own sentence; otherwise its author wrote it beside the claim.
    """
    from theory.inequality.prover import Refutation, prove

    if not line.settings:
        text = "its hypotheses exclude every setting at which it is put into vectors"
        return [Evidence("algebra", "undecided", text)]
    used: dict[str, dict[str, str]] = {}
    empty: list[Evidence] = []
    open_: list[str] = []
    for setting in line.settings:
        at = _shown(setting)
        try:
            space, statement, given = line.build({name: Fraction(text) for name, text in setting.items()})
        except ValueError as error:
            return [Evidence("algebra", "undecided", f"{at}: {error}")]
        found = contradiction(given, space, at, {})
        if found is not None:
            empty.append(found)
            continue
        answer = prove(statement, given, space)
        if isinstance(answer, Refutation):
            text = f"{at}: vectors satisfy the hypotheses and exceed the claim by {float(answer.excess):.4g}"
            data = {"refutation": answer.to_json(), "setting": dict(setting)}
            return [Evidence("algebra", "fails", text, data=data, origin="search")]
        if not answer:
            open_.append(f"{at}: neither proved nor refuted ({answer.reason})")  # type: ignore[union-attr]
        else:
            used[at] = _multipliers(answer)  # type: ignore[arg-type]
    if empty and len(empty) == len(line.settings):
        if not any(line.settings):
            return empty[:1]
        text = f"{empty[0].detail}; that is so at each of its settings, and says nothing of others"
        return [replace(empty[0], outcome="undecided", detail=text)]
    if open_ or empty:
        return [Evidence("algebra", "undecided", "; ".join([*open_, *(e.detail for e in empty)]))]
    what = "the claim" if of_claim else "a statement about vectors, which its author wrote beside the claim,"
    text = f"{what} holds {' and '.join(used)}, by multipliers and a sum of squares, re-checked in exact rationals"
    text += "; that proves it at these numbers only" if any(line.settings) else ""
    text += "" if of_claim else "; nothing ties its right side to the claim's"
    text += f"; its author's note: {line.scope}" if line.scope else ""
    return [Evidence("algebra", "holds", text, data={"multipliers": used})]


def _multipliers(proof: Proof) -> dict[str, str]:
    return {name: str(y) for name, y in proof.used.items()}


def _shown(setting: Mapping[str, str]) -> str:
    return f"at {', '.join(f'{name}={text}' for name, text in setting.items())}" if setting else "for all vectors"
