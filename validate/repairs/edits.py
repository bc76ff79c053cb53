"""Edits of a claim, one at a time: what a slip of the pen, a lost constant or a lost hypothesis would have changed.

Nothing here knows whether a changed claim is true. No edit turns a relation round, or asks for a size at which a claim
says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.program.altering import algorithm_of, altered
from theory.sentence import (
    FUNCTION_NAMES,
    INTEGERS,
    OVER,
    At,
    Expression,
    Relation,
    applied,
    everything,
    exchanged,
    parts,
    replaced,
    text_of,
)
from validate.mutate.neighbours import EXCHANGED, put, stated
from validate.mutate.neighbours import places as parts_in
from validate.repairs.candidates import (
    Candidate,
    Edit,
    Kind,
    applies,
    changed_to,
    numbers_alone,
    place,
    put_in,
    said,
    subject,
    texts,
    without_ones,
)
from validate.repairs.hypotheses import Made, assumed, hypotheses_said
from validate.repairs.monomials import Monomial, scaled

EQUAL: tuple[Relation, ...] = ("<=", ">=")
LOOSER: dict[Relation, Relation] = {"<": "<=", ">": ">="}
OPPOSITE = {"+": "-", "-": "+"}
NEARER = -0.15
"""By how much nearer a factor that a union bound leaves in a logarithm is than any other constant."""
BOUNDED = 0.25
"""By how much farther a slip in what is bounded is than one in its bound."""
EACH = {"n": "clients", "k": "rounds", "h": "steps", "j": "steps"}
"""Letters of which a claim may speak, one at a time, and what they count."""
MOST_PARTS = 40
"""Parts of numbers alone that are exchanged for one another; a claim with more is left as it is."""
COUNTED = {"k", "h", "j", *INTEGERS}
"""Names of integers."""
TRIVIAL = 3
"""Nodes of a part, from which on it is worth being exchanged."""


def edited(candidate: Candidate) -> Iterator[Candidate]:
    """The claims at one more edit; no two of the same text."""
    claim, seen = candidate.claim, {said(candidate.claim)}
    for made in (_sentence, _trees, _exchanged, _minimisers, hypotheses_said, assumed, _algorithm):
        for edit, fields in made(claim):
            changed = changed_to(claim, fields)
            if changed is not None and said(changed) not in seen:
                seen.add(said(changed))
                yield Candidate(changed, (*candidate.edits, edit))


def _sentence(claim: Claim) -> Made:
    s = claim.sentence
    if s.relation in LOOSER:
        yield Edit("strictness", f"{LOOSER[s.relation]} for {s.relation}"), stated(claim, relation=LOOSER[s.relation])
    if s.relation == "==":
        for relation in EQUAL:
            yield Edit("term", f"{relation} for =="), stated(claim, relation=relation)
    both = {"left": s.left, "right": s.right}
    random = any(isinstance(part, At) for part in everything(replaced(s.left, claim.definitions)))
    if random and not applies(s.left, "E"):
        yield Edit("expectation", "the left side in expectation"), stated(claim, left=applied("E", (s.left,)))
        yield (
            Edit("expectation", "both sides in expectation"),
            stated(claim, **{side: applied("E", (tree,)) for side, tree in both.items()}),
        )
    for letter in sorted(claim.free & set(EACH)):
        words = f"for the mean over the {EACH[letter]}, and not for each"
        yield Edit("mean", words, BOUNDED * (letter != "n")), averaged(claim, letter)
    if applies(s.left, "sqrt") and not applies(s.right, "sqrt"):
        root = applied("sqrt", (s.right,))
        yield Edit("function", "the right side under a root, as the left one is"), stated(claim, right=root)
    if applies(s.left, "sqrt"):
        yield Edit("function", "the left side without its root"), stated(claim, left=parts(s.left)[0])
    if applies(s.left, "norm2"):
        norm = applied("norm", parts(s.left))
        yield Edit("function", f"{text_of(norm)} for {text_of(s.left)}"), stated(claim, left=norm)
    if applies(s.left, "*") and numbers_alone(parts(s.left)[0], claim):
        factor, rest = parts(s.left)
        yield Edit("part exchanged", f"the left side without the factor {text_of(factor)}"), stated(claim, left=rest)


def averaged(claim: Claim, letter: str) -> dict[str, Any]:
    """The sentence for the mean over clients, rounds or steps: of each side that speaks of one."""
    from theory.sentence import read

    sides = {}
    for side, tree in (("left", claim.sentence.left), ("right", claim.sentence.right)):
        if letter in read(tree, claim.vocabulary).free:
            sides[side] = applied(f"mean_{letter}", (tree,))
    return stated(claim, **sides)


def _trees(claim: Claim) -> Made:
    """Of what is bounded only slips in indices and among vectors: another number would be bounded else."""
    kept = subject(claim)
    for where, tree in texts(claim):
        for one in parts_in(tree):
            for edit, changed in _local(one.node, one.above, claim):
                if where in kept and edit.kind != "index" and not (one.vectors and edit.kind == "sign"):
                    continue
                words = f"{edit.words}{place(where)}"
                farther = edit.farther + BOUNDED * (where in kept and edit.kind == "index")
                yield (
                    replace(edit, words=words, farther=farther),
                    put_in(claim, where, without_ones(put(tree, one.path, changed))),
                )


def _local(node: Expression, above: str, claim: Claim) -> Iterator[tuple[Edit, Expression]]:
    """What can be done to one part."""
    text = text_of(node)
    if isinstance(node, At):
        yield from _indices(node)
    elif isinstance(node, Name):
        if node.name in EXCHANGED:
            yield Edit("name", f"{EXCHANGED[node.name]} for {text}"), Name(EXCHANGED[node.name])
        elif node.name in claim.symbols or node.name in claim.where:
            if above in ("*", "/"):
                yield Edit("factor", f"without the factor {text}"), Number(Fraction(1))
                yield Edit("factor", f"{text}**2 for {text}"), applied("**", (node, Number(Fraction(2))))
                yield from _not_vanishing(node, node.name, claim)
            for other in _alike(node.name, claim):
                yield Edit("name", f"{other} for {text}"), Name(other)
    elif isinstance(node, Apply):
        yield from _operation(node, above, text, claim)


def _alike(name: str, claim: Claim) -> Iterator[str]:
    """Names that somebody may have written for another: definitions that begin alike."""
    head = name.partition("_")[0]
    for other in claim.where:
        if other != name and name in claim.where and (head in other.split("_") or "number" in other):
            yield other


def _indices(node: At) -> Iterator[tuple[Edit, Expression]]:
    for i, index in enumerate(node.indices):
        base, shift = _shifted(index)
        for by in (1, -1):
            moved = _index(base, shift + by)
            new = At(node.name, (*node.indices[:i], moved, *node.indices[i + 1 :]))
            yield Edit("index", f"{text_of(new)} for {text_of(node)}"), new


def _shifted(index: Expression) -> tuple[Expression, int]:
    if isinstance(index, Apply) and index.operation in ("+", "-") and isinstance(parts(index)[1], Number):
        number: Any = parts(index)[1]
        return parts(index)[0], int(number.value) * (1 if index.operation == "+" else -1)
    if isinstance(index, Number):
        return Number(Fraction(0)), int(index.value)
    return index, 0


def _index(base: Expression, shift: int) -> Expression:
    if isinstance(base, Number):
        return Number(Fraction(shift))
    if shift == 0:
        return base
    return applied("+" if shift > 0 else "-", (base, Number(Fraction(abs(shift)))))


def _operation(node: Apply, above: str, text: str, claim: Claim) -> Iterator[tuple[Edit, Expression]]:
    op, inner = node.operation, parts(node)
    if op in OPPOSITE:
        words = f"{OPPOSITE[op]} {text_of(inner[1], 2)} for {op} {text_of(inner[1], 2)}"
        yield Edit("sign", words), applied(OPPOSITE[op], inner)
    elif op == "neg":
        yield Edit("sign", f"{text_of(inner[0])} for {text}"), inner[0]
    elif op == "*" and isinstance(inner[1], Apply) and inner[1].operation in OPPOSITE:
        first, rest = parts(inner[1])
        moved = applied(inner[1].operation, (applied("*", (inner[0], first)), rest))
        yield Edit("bracket", f"{text_of(moved)} for {text}"), moved
    if op == "**" and above in ("*", "/"):
        yield Edit("factor", f"without the factor {text}"), Number(Fraction(1))
        if isinstance(inner[0], Name) and isinstance(inner[1], Number) and inner[1].value > 0:
            yield from _not_vanishing(node, inner[0].name, claim)
    if op == "**" and not isinstance(inner[1], Number):
        yield from _rates(node)
    if op == "**":
        for power in _powers(inner[1]):
            new = inner[0] if power == Number(Fraction(1)) else applied("**", (inner[0], power))
            kind: Kind = "factor" if isinstance(inner[1], Number) else "index"
            yield Edit(kind, f"{text_of(new)} for {text}"), new
    if op in ("min", "max"):
        yield Edit("function", f"{EXCHANGED[op]} for {op}"), applied(EXCHANGED[op], inner)
    if op in OVER:
        how, index = OVER[op]
        for other in ("sum", "mean", "max"):
            if other != how and how != "first":
                yield Edit("function", f"{other}_{index} for {op}"), applied(f"{other}_{index}", inner)
    if op == "log" and isinstance(inner[0], Apply) and inner[0].operation == "/":
        over, under = parts(inner[0])
        for factor in (Number(Fraction(2)), applied("*", (Number(Fraction(2)), Name("N")))):
            more = factor if over == Number(Fraction(1)) else applied("*", (factor, over))
            new = applied("log", (applied("/", (more, under)),))
            yield Edit("constant", f"{text_of(new)} for {text}", NEARER), new
    function = op.removeprefix("grad ")
    for other in FUNCTION_NAMES if function in FUNCTION_NAMES else ():
        if other != function and other != "f_ni":
            changed = applied(op.replace(function, other), inner)
            yield Edit("name", f"{text_of(changed)} for {text}"), changed


def _rates(node: Apply) -> Iterator[tuple[Edit, Expression]]:
    """Of ``(1 - a)**k`` the a half as large, or twice."""
    base, exponent = parts(node)
    if isinstance(base, Apply) and base.operation in OPPOSITE:
        for factor in (Fraction(1, 2), Fraction(2)):
            slower = scaled(parts(base)[1], Monomial(), factor)
            new = applied("**", (applied(base.operation, (parts(base)[0], slower)), exponent))
            yield Edit("constant", f"{text_of(new)} for {text_of(node)}"), new


def _not_vanishing(factor: Expression, name: str, claim: Claim) -> Iterator[tuple[Edit, Expression]]:
    """1 and a factor, in the place of one that may be 0: a bound that does not vanish with it."""
    domain = claim.domains.get(name)
    if domain is not None and domain.lower == 0 and domain.upper is None and not domain.integer:
        text = text_of(factor)
        yield Edit("factor", f"(1 + {text}) for {text}"), applied("+", (Number(Fraction(1)), factor))


def _powers(exponent: Expression) -> Iterator[Expression]:
    if isinstance(exponent, Number):
        for step in (-1, 1):
            if exponent.value + step != 0:
                yield Number(exponent.value + step)
    else:
        base, shift = _shifted(exponent)
        yield from (_index(base, shift + step) for step in (1, -1))
        if _names(exponent) <= COUNTED:  # else a parameter would be lost
            yield Number(Fraction(1))


def _exchanged(claim: Claim) -> Made:
    """Parts of parameters alone, one for another of the claim."""
    found: dict[Expression, None] = {}
    for _, tree in texts(claim):
        for part in everything(tree):
            if not (isinstance(part, Apply) and part.operation in ("+", "-", "/") and numbers_alone(part, claim)):
                continue
            if len([*everything(part)]) >= TRIVIAL:
                found[part] = None
    kept = subject(claim)
    if len(found) <= MOST_PARTS:
        for where, tree in texts(claim):
            if where in kept:
                continue
            for one in parts_in(tree):
                if one.node not in found:
                    continue
                for other in found:
                    if other != one.node and other.operation == one.node.operation:  # type: ignore[union-attr]
                        words = f"{text_of(other)} for {text_of(one.node)}{place(where)}"
                        kind: Kind = "part exchanged" if _names(other) == _names(one.node) else "part replaced"
                        yield Edit(kind, words), put_in(claim, where, put(tree, one.path, other))


def _names(part: Expression) -> set[str]:
    return {one.name for one in everything(part) if isinstance(one, Name)}


def _minimisers(claim: Claim) -> Made:
    """The minimiser, for the constrained one and for a free point at which functions are asked, everywhere."""
    found = [part for _, tree in texts(claim) for part in everything(tree)]
    asked = {v for part in found if isinstance(part, Apply) and _of_function(part) for v in everything(parts(part)[0])}
    bound: list[tuple[Kind, Expression]] = [("name", part) for part in found if applies(part, "argmin_n")]
    free: list[tuple[Kind, Expression]] = [("hypothesis", Name(v)) for v in claim.vectors if Name(v) in asked]
    for kind, old in dict.fromkeys([*bound, *free]):
        right, left, *rest = (exchanged(tree, {old: Name("xstar")}.get) for _, tree in texts(claim))
        points = {"x0", *claim.vectors}
        if not any(
            isinstance(e, At) or (isinstance(e, Name) and e.name in points)
            for t in (left, right)
            for e in everything(t)
        ):
            continue  # nothing is left of which it could say something
        yield (
            Edit(kind, f"xstar for {text_of(old)}, everywhere"),
            {
                **stated(claim, left=left, right=right),
                "where": dict(zip(claim.where, map(text_of, rest), strict=True)),
                "vectors": tuple(v for v in claim.vectors if Name(v) != old),
            },
        )


def _of_function(e: Apply) -> bool:
    return e.operation.removeprefix("grad ") in FUNCTION_NAMES


def _algorithm(claim: Claim) -> Made:
    slip = claim.sentence.relation == "==" or claim.sentence.right == Number(Fraction(0))
    if claim.of is None or not slip:  # what is said of an algorithm's runs is said of that algorithm
        return
    for words, program in altered(claim.of.program, (Fraction(-1),)):
        yield Edit("algorithm", words), {"of": algorithm_of(program, claim.of.defaults)}
