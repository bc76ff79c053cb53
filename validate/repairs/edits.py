"""Edits of a claim, one at a time: what a slip of the pen, a lost constant or a lost hypothesis would have changed.

Each edit is a changed claim with its kind, in words, and its cost: what is nearer costs less. Nothing here knows
whether a changed claim is true. No edit turns a relation round, or asks for a size at which a claim says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.predicates import Predicate
from theory.program.altering import algorithm_of, altered
from theory.sentence import (
    FUNCTION_NAMES,
    OVER,
    At,
    Expression,
    Relation,
    SentenceError,
    applied,
    everything,
    parse_call,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)
from validate.audit.units import units_of
from validate.mutate.neighbours import EXCHANGED, put
from validate.mutate.neighbours import places as parts_in

Kind = Literal[
    "strictness",
    "sign",
    "index",
    "name",
    "bracket",
    "expectation",
    "mean over clients",
    "function",
    "part exchanged",
    "units",
    "algorithm",
    "constant",
    "condition",
    "hypothesis",
    "on samples",
    "factor",
    "term",
]
COST: dict[Kind, float] = {
    "strictness": 0.5,
    "sign": 1,
    "index": 1,
    "expectation": 1,
    "mean over clients": 1,
    "units": 1,
    "bracket": 1,
    "name": 1.25,
    "function": 1.25,
    "algorithm": 1.25,
    "constant": 1.5,
    "part exchanged": 1.5,
    "condition": 1.75,
    "on samples": 1.75,
    "hypothesis": 2,
    "factor": 2,
    "term": 2.25,
}
"""How far an edit goes; of several, the sum."""
EQUAL: tuple[Relation, ...] = ("<=", ">=")
LOOSER: dict[Relation, Relation] = {"<": "<=", ">": ">="}
STRICTER: dict[Relation, Relation] = {"<=": "<", ">=": ">"}
OPPOSITE = {"+": "-", "-": "+"}
SCALARS = ("+", "-", "*", "/", "**", "neg", "sqrt", "log", "exp", "min", "max", "abs")
NEARER = -0.15
"""By how much nearer a factor that a union bound leaves in a logarithm is than any other constant."""
BOUNDED = 0.25
"""By how much farther a slip in what is bounded is than one in its bound."""
OF_ALGORITHM = " of the algorithm: "
"""In words about units of a line of a program: these are told wrongly where they contradict each other."""
MOST_PARTS = 40
"""Parts of numbers alone that are exchanged for one another; a claim with more is left as it is."""
TRIVIAL = 3
"""Nodes of a part, from which on it is worth being exchanged."""


@dataclass(frozen=True)
class Edit:
    """One thing changed.

    Attributes:
        kind: what was done.
        words: and where.
        farther: than others of its kind.
        about: what else is the same edit, with another constant; empty for none.
    """

    kind: Kind
    words: str
    farther: float = 0.0
    about: str = ""

    @property
    def cost(self) -> float:
        """How far it goes."""
        return COST[self.kind] + self.farther


@dataclass(frozen=True)
class Candidate:
    """A claim that edits made.

    Attributes:
        claim: as changed, with nothing of the printed claim's proof, instances and paper.
        edits: what was done, in order.
    """

    claim: Claim
    edits: tuple[Edit, ...]

    @property
    def distance(self) -> float:
        """How far it is from the printed claim."""
        return sum(edit.cost for edit in self.edits)

    @property
    def words(self) -> str:
        """What was done."""
        return "; ".join(edit.words for edit in self.edits)


def alone(claim: Claim) -> Claim:
    """The claim as printed, with nothing beside it: no proof, no instances, no claims of its paper."""
    label = f"{claim.label}/repaired"
    return replace(claim, label=label, proof=None, given=(), beside=(), amends=None, rests_on=(), remarks=(), title="")


def conflicts(claim: Claim) -> int:
    """How many places of a claim have units that contradict each other; 0 where its algorithm's do so, too.

    Raises:
        ValueError, KeyError, AssertionError: where that cannot be told.
    """
    found = units_of(claim).conflicts
    return 0 if any(OF_ALGORITHM in one for one in found) else len(found)


def said(claim: Claim) -> tuple[Any, ...]:
    """What two claims have in common that say the same."""
    program = None if claim.of is None else claim.of.program
    return (claim.statement, tuple(claim.where.items()), claim.assuming, claim.standing, program)


def edited(candidate: Candidate) -> Iterator[Candidate]:
    """The claims at one more edit; no two of the same text."""
    claim, seen = candidate.claim, {said(candidate.claim)}
    for made in (_sentence, _trees, _exchanged, _hypotheses, _assumed, _algorithm):
        for edit, fields in made(claim):
            changed = changed_to(claim, fields)
            if changed is not None and said(changed) not in seen:
                seen.add(said(changed))
                yield Candidate(changed, (*candidate.edits, edit))


def changed_to(claim: Claim, fields: dict[str, Any]) -> Claim | None:
    """The claim with other texts; None where these say nothing, or both sides are the same."""
    try:
        changed = without_idle(claim, replace(claim, **fields))
        _ = changed.symbols, changed.constants, changed.domains
    except (SentenceError, ValueError):
        return None
    sentence = changed.sentence
    definitions = changed.definitions
    left, right = (without_ones(replaced(side, definitions)) for side in sentence.sides)
    return None if left == right else changed


def without_idle(claim: Claim, changed: Claim) -> Claim:
    """Without conditions on a number that only had a part in what was changed: some number satisfies them always.

    A condition is left out where it bounds the number, alone on its side, from one side, and nothing else speaks of it.
    """
    gone = [name for name in claim.symbols if name not in _spoken_of(changed) and name in _spoken_of(claim)]
    if not gone or changed.program is not None:
        return changed
    assumed, standing = (
        tuple(text for text in some if not any(_bounds_alone(text, name, changed) for name in gone))
        for some in (changed.assuming, changed.standing)
    )
    return replace(changed, assuming=assumed, standing=standing)


def _spoken_of(claim: Claim) -> set[str]:
    """The names on both sides, and in the definitions."""
    return {part.name for _, tree in texts(claim) for part in everything(tree) if isinstance(part, Name)}


def _bounds_alone(text: str, name: str, changed: Claim) -> bool:
    if parse_call(text) is not None or name in changed.parameters:
        return False
    relation = parse_sentence(text)
    others = [other for other in (*changed.assuming, *changed.standing) if other != text]
    alone_ = [side == Name(name) for side in relation.sides]
    within = [any(part == Name(name) for part in everything(side)) for side in relation.sides]
    above = alone_ == within == ([False, True] if relation.relation in ("<=", "<") else [True, False])
    return above and relation.relation in ("<=", "<", ">=", ">") and not any(name in other for other in others)


def without_ones(tree: Expression) -> Expression:
    """A tree without factors, divisors and powers of 1."""
    if not isinstance(tree, Apply):
        return tree
    inner = tuple(map(without_ones, parts(tree)))
    one = Number(Fraction(1))
    if tree.operation in ("*", "/", "**") and inner[1] == one:
        return inner[0]
    if tree.operation == "*" and inner[0] == one:
        return inner[1]
    return applied(tree.operation, inner)


Made = Iterator[tuple[Edit, dict[str, Any]]]


def stated(claim: Claim, **sides: Any) -> dict[str, Any]:
    """The fields of a claim with another sentence."""
    return {"statement": str(replace(claim.sentence, **sides))}


def _sentence(claim: Claim) -> Made:
    s = claim.sentence
    if s.relation in LOOSER:
        yield Edit("strictness", f"{LOOSER[s.relation]} for {s.relation}"), stated(claim, relation=LOOSER[s.relation])
    if s.relation == "==":
        for relation in EQUAL:
            yield Edit("term", f"{relation} for =="), stated(claim, relation=relation)
    both = {"left": s.left, "right": s.right}
    random = any(isinstance(part, At) for part in everything(replaced(s.left, claim.definitions)))
    if random and not _is(s.left, "E"):
        yield Edit("expectation", "the left side in expectation"), stated(claim, left=applied("E", (s.left,)))
        yield (
            Edit("expectation", "both sides in expectation"),
            stated(claim, **{side: applied("E", (tree,)) for side, tree in both.items()}),
        )
    if "n" in claim.free:
        yield Edit("mean over clients", "for the mean over the clients, and not for each"), averaged(claim)
    if _is(s.left, "sqrt") and not _is(s.right, "sqrt"):
        root = applied("sqrt", (s.right,))
        yield Edit("function", "the right side under a root, as the left one is"), stated(claim, right=root)
    if _is(s.left, "sqrt"):
        yield Edit("function", "the left side without its root"), stated(claim, left=parts(s.left)[0])
    if _is(s.left, "norm2"):
        norm = applied("norm", parts(s.left))
        yield Edit("function", f"{text_of(norm)} for {text_of(s.left)}"), stated(claim, left=norm)
    if _is(s.left, "*") and numbers_alone(parts(s.left)[0], claim):
        factor, rest = parts(s.left)
        yield Edit("part exchanged", f"the left side without the factor {text_of(factor)}"), stated(claim, left=rest)


def averaged(claim: Claim) -> dict[str, Any]:
    """The sentence for the mean over the clients: of each side that speaks of one."""
    from theory.sentence import read

    sides = {}
    for side, tree in (("left", claim.sentence.left), ("right", claim.sentence.right)):
        if "n" in read(tree, claim.vocabulary).free:
            sides[side] = applied("mean_n", (tree,))
    return stated(claim, **sides)


def _is(tree: Expression, operation: str) -> bool:
    return isinstance(tree, Apply) and tree.operation == operation


def texts(claim: Claim) -> Iterator[tuple[str, Expression]]:
    """Every tree that a claim is made of, with where it stands: ``left``, ``right``, or the name of a definition."""
    yield "right", claim.sentence.right
    yield "left", claim.sentence.left
    for name, text in claim.where.items():
        yield name, parse_expression(text)


def put_in(claim: Claim, where: str, tree: Expression) -> dict[str, Any]:
    """The fields of a claim with another tree at a place of `texts`."""
    if where in ("left", "right") and where not in claim.where:
        return stated(claim, **{where: tree})
    return {"where": {**claim.where, where: text_of(tree)}}


def place(where: str) -> str:
    """For a reader."""
    return f", on the {where}" if where in ("left", "right") else f", in {where}"


def subject(claim: Claim) -> set[str]:
    """Where it stands what is bounded: the left side, and the definitions that it speaks of."""
    found, left = {"left"}, [claim.sentence.left]
    while left:
        for part in everything(left.pop()):
            if isinstance(part, Name) and part.name in claim.where and part.name not in found:
                found.add(part.name)
                left.append(parse_expression(claim.where[part.name]))
    return found


def _trees(claim: Claim) -> Made:
    """Of what is bounded only slips in indices and among vectors: another number would be bounded else."""
    kept = subject(claim)
    for where, tree in texts(claim):
        for one in parts_in(tree):
            for edit, changed in _local(one.node, one.above, claim):
                if where in kept and edit.kind != "index" and not (one.vectors and edit.kind == "sign"):
                    continue
                words, farther = f"{edit.words}{place(where)}", edit.farther + (where in kept) * BOUNDED
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
            for other in _alike(node.name, claim):
                yield Edit("name", f"{other} for {text}"), Name(other)
    elif isinstance(node, Apply):
        yield from _operation(node, text, claim)


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


def _operation(node: Apply, text: str, claim: Claim) -> Iterator[tuple[Edit, Expression]]:
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


def _powers(exponent: Expression) -> Iterator[Expression]:
    if isinstance(exponent, Number):
        for step in (-1, 1):
            if exponent.value + step != 0:
                yield Number(exponent.value + step)
    else:
        base, shift = _shifted(exponent)
        yield from (_index(base, shift + step) for step in (1, -1))


# --- parts exchanged -------------------------------------------------------------------------------------------------


def numbers_alone(tree: Expression, claim: Claim) -> bool:
    """Whether a tree is made of parameters and numbers only."""
    return all(
        isinstance(part, Number)
        or (isinstance(part, Name) and (part.name in claim.symbols or part.name in ("N", "d", "K")))
        or (isinstance(part, Apply) and part.operation in SCALARS)
        for part in everything(tree)
    )


def _exchanged(claim: Claim) -> Made:
    """Parts of parameters alone, one for another of the claim; the constrained minimiser for the free one."""
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
                        yield Edit("part exchanged", words), put_in(claim, where, put(tree, one.path, other))
    for old in {part for _, tree in texts(claim) for part in everything(tree) if _is(part, "argmin_n")}:
        yield (
            Edit("name", f"xstar for {text_of(old)}, everywhere"),
            {
                "statement": claim.statement.replace(text_of(old), "xstar"),
                "where": {name: text.replace(text_of(old), "xstar") for name, text in claim.where.items()},
            },
        )


# --- hypotheses ------------------------------------------------------------------------------------------------------


def assuming(claim: Claim, text: str) -> dict[str, Any]:
    """The fields of a claim with one assumption more."""
    return {"assuming": (*claim.assuming, text)}


def _hypotheses(claim: Claim) -> Made:
    """Assumptions of the claim, said otherwise."""
    for field in ("assuming", "standing"):
        some: tuple[str, ...] = getattr(claim, field)
        for i, text in enumerate(some):
            for edit, others in _said_otherwise(text):
                yield edit, {field: (*some[:i], *others, *some[i + 1 :])}


def _said_otherwise(text: str) -> Iterator[tuple[Edit, tuple[str, ...]]]:
    call = parse_call(text)
    if call is None:
        relation = parse_sentence(text)
        if relation.relation in STRICTER:
            new = str(replace(relation, relation=STRICTER[relation.relation]))
            yield Edit("strictness", f"{new} for {text}"), (new,)
        return
    name, arguments = call
    first = getattr(arguments[0], "name", "") if arguments else ""
    rest = ", ".join(map(text_of, arguments[1:]))
    for of in {"f": ("f_n", "f_ni"), "f_n": ("f_ni",)}.get(first, ()):
        new = f"{name}({of}{', ' + rest if rest else ''})"
        yield Edit("on samples", f"{new} for {text}"), (new,)
        if name == "smooth":
            yield Edit("on samples", f"{new} and convex({of}) for {text}"), (new, f"convex({of})")


def _assumed(claim: Claim) -> Made:
    """Assumptions that a claim may have forgotten; conditions with a constant are `conditions`."""
    texts_ = {*claim.assuming, *claim.standing}
    for one in claim.predicates:
        if isinstance(one, Predicate) and not isinstance(one, ForEvery) and one.text.startswith("smooth("):
            of = getattr((parse_call(one.text) or ("", ()))[1][0], "name", "")
            for new in (f"convex({of})", f"same_minimiser({of})"):
                if new not in texts_ and of != "f" * ("same" in new):
                    yield Edit("hypothesis", f"assuming {new}"), assuming(claim, new)
    for text in dict.fromkeys(_where_it_says_something(claim)):
        if text not in texts_:
            yield Edit("hypothesis", f"assuming {text}"), assuming(claim, text)


def _where_it_says_something(claim: Claim) -> Iterator[str]:
    """Where differences under a bar or a root are positive, and what is defined as the most is so; points at rest."""
    trees = [tree for _, tree in texts(claim)]
    for tree in trees:
        for one in parts_in(tree):
            if _is(one.node, "-") and numbers_alone(replaced(one.node, claim.definitions), claim):
                left, right = parts(one.node)
                if not (isinstance(right, Number) and isinstance(left, Name)) and not collapses(right, left, claim):
                    yield f"{text_of(right)} <= {text_of(left)}"
    asked = (side for relation in claim.relations for side in relation.sides)
    used = {part.name for tree in (*trees, *asked) for part in everything(tree) if isinstance(part, Name)}
    for name in claim.where:
        head = name.partition("_")[0]
        if name not in used and head in claim.symbols:
            yield f"{head} <= {name}"
    if any(_is(part, "grad f") for tree in trees for part in everything(tree)):
        yield from (f"norm2(grad(f, {v})) <= 0" for v in claim.vectors if not v.endswith("_n"))
    for tree in trees:
        for part in everything(tree):
            if _is(part, "argmin_n") and len(parts(part)) == 2 and isinstance(parts(part)[1], Name):
                yield f"norm2(xstar) <= {text_of(parts(part)[1])}**2"


def collapses(small: Expression, large: Expression, claim: Claim) -> bool:
    """Whether one of two constants may be too large and the other too small, so that their order leaves equality."""
    of = [claim.constants.get(getattr(tree, "name", "")) for tree in (small, large)]
    return of == ["up", "down"]


# --- the algorithm ---------------------------------------------------------------------------------------------------


def _algorithm(claim: Claim) -> Made:
    slip = claim.sentence.relation == "==" or claim.sentence.right == Number(Fraction(0))
    if claim.of is None or not slip:  # what is said of an algorithm's runs is said of that algorithm
        return
    for words, program in altered(claim.of.program, (Fraction(-1),)):
        yield Edit("algorithm", words), {"of": algorithm_of(program, claim.of.defaults)}


__all__ = [
    "COST", "Candidate", "Edit", "Kind", "alone", "assuming", "averaged", "changed_to", "collapses", "conflicts",
    "edited", "numbers_alone", "place", "put_in", "said", "stated", "subject", "texts",
]  # fmt: skip
