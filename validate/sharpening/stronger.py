"""Claims that say more than a claim: it without a term, a factor or an assumption, or with another number in it.

A sentence says more where, on every instance that was measured, its right side is on the stronger side of the claim's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.for_every import assumption
from theory.formula import Apply, Name, Number
from theory.predicates import Predicate
from theory.sentence import (
    FUNCTION_NAMES,
    Expression,
    Sentence,
    SentenceError,
    applied,
    parts,
    replaced,
    signed_terms,
    text_of,
)
from validate.instances.seen import Seen, measured
from validate.mutate.neighbours import EXCHANGED, SUMS, Path, moves, on_assumptions, places, put
from validate.mutate.oracle import difference, pairs
from validate.sharpening.findings import Kind

KINDS: dict[str, Kind] = {
    "term dropped": "factor",
    "exponent moved": "factor",
    "function exchanged": "function",
    "hypothesis dropped": "assumption",
    "hypothesis weakened": "assumption",
}


@dataclass(frozen=True)
class Edit:
    """A claim with one thing less; `what` is left out, or put for what, in words."""

    kind: Kind
    what: str
    claim: Claim


@dataclass(frozen=True)
class Family:
    """A claim with a factor in one place; 1 is as printed.

    Attributes:
        kind: ``constant`` or ``step``.
        what: where the factor stands, in words.
        smaller: whether a smaller factor says more.
        at: the claim at a factor.
        affine: whether the right side is affine in the factor.
    """

    kind: Kind
    what: str
    smaller: bool
    at: Callable[[Fraction], Claim]
    affine: bool = False


def edited(claim: Claim, name: str, **fields: Any) -> Claim | None:
    """The claim with other fields, no derivation and a label of its own; None where that is no claim."""
    label = f"{claim.label}/{name}"
    try:
        made = replace(claim, label=label, proof=None, given=(), title="", remarks=(), **fields)
        _ = made.symbols, made.constants
    except SentenceError:
        return None
    return made


def stated(claim: Claim, right: Expression) -> str:
    """The sentence with another right side."""
    return str(replace(claim.sentence, right=right))


# --- one thing less ---


def edits(claim: Claim, there: Sequence[Seen]) -> Iterator[Edit]:
    """The claim without each of its terms, factors and assumptions, where that says more.

    Args:
        claim: whose sentence is an inequality, or nothing of it is left out.
        there: it on instances, to tell which right sides say more.
    """
    right, seen, count = claim.sentence.right, {claim.statement}, 0
    for _, path, term in signed_terms(right) if claim.sentence.relation != "==" else ():
        changes: list[tuple[Kind, str, Expression]] = []
        if path:
            changes.append(("term", text_of(term), without(right, path)))
        for how, words, changed in moves(term):
            if how in ("term dropped", "exponent moved", "function exchanged") and not _of_another_kind(words):
                where = f", in {text_of(term)}" if path else ""
                changes.append((KINDS[how], f"{_short(words)}{where}", put(right, path, changed)))
        for kind, words, new in changes:
            statement = stated(claim, new)
            made = None if statement in seen else edited(claim, f"without-{count + 1}", statement=statement)
            seen.add(statement)
            if made is not None and _moves_alike(claim, new) and says_more(claim, made, there):
                count += 1
                yield Edit(kind, words, made)
    for how, words, fields in on_assumptions(claim):
        if how == "hypothesis weakened" and not _of_functions(words):
            continue  # that of numbers is a step
        made = edited(claim, f"without-{count + 1}", **fields)
        if made is not None:
            count += 1
            yield Edit("assumption", words.removeprefix("without "), made)


def _short(words: str) -> str:
    """What is left out of a sum, or what is put for what."""
    return words.rpartition(" without ")[2] if " without " in words else words.removeprefix("without ")


def _of_another_kind(words: str) -> bool:
    """Whether a number is left out of a sum, or another point is put for one."""
    left_out = words.rpartition(" without ")[2]
    return left_out.replace("/", "").isdigit() or words in (f"{b} for {a}" for a, b in EXCHANGED.items())


def _moves_alike(claim: Claim, right: Expression) -> bool:
    """Whether a constant that is added to f adds as much to a new right side: it says something of f alone then."""
    return _moved_by(replaced(right, claim.definitions)) == _moved_by(replaced(claim.sentence.right, claim.definitions))


def _moved_by(e: Expression) -> Fraction:
    """How much is added to a tree where 1 is added to f."""
    if not isinstance(e, Apply):
        return Fraction(isinstance(e, Name) and e.name.startswith("fstar"))
    inner = parts(e)
    if e.operation in FUNCTION_NAMES:
        return Fraction(1)
    if e.operation in SUMS:
        first = _moved_by(inner[0])
        return -first if e.operation == "neg" else first + (1 if e.operation == "+" else -1) * _moved_by(inner[1])
    if e.operation == "*":
        a, b = inner
        return sum((_moved_by(y) * (x.value if isinstance(x, Number) else 1) for x, y in ((a, b), (b, a))), Fraction(0))
    if e.operation == "/" or e.operation == "E" or e.operation.startswith("mean_"):
        return _moved_by(inner[0])
    return Fraction(0)


def _of_functions(words: str) -> bool:
    return isinstance(assumption(words.partition(" for ")[0]), Predicate)


def without(e: Expression, path: Path) -> Expression:
    """A sum without one of its terms."""
    found = _rest(e, path)
    return Number(Fraction(0)) if found is None else found


def _rest(e: Expression, path: Path) -> Expression | None:
    if not path:
        return None
    inner = list(parts(e))
    rest = _rest(inner[path[0]], path[1:])
    if rest is not None:
        inner[path[0]] = rest
        return applied(e.operation, tuple(inner))  # type: ignore[union-attr]
    if len(inner) == 1:
        return None
    other = inner[1 - path[0]]
    return applied("neg", (other,)) if e.operation == "-" and path[0] == 0 else other  # type: ignore[union-attr]


# --- another number ---


def constants(claim: Claim, there: Sequence[Seen]) -> Iterator[Family]:
    """The claim with a factor at its right side, at each of its terms, and at terms inside of factors."""
    if claim.sentence.relation == "==":
        return
    right = claim.sentence.right
    for place in sorted(places(right), key=lambda place: len(place.path)):
        node = place.node
        inside = place.path and not place.vectors and place.above in SUMS
        of_a_sum = isinstance(node, Apply) and node.operation in SUMS
        top = not place.path
        if not top and (not inside or of_a_sum or isinstance(node, Number)):
            continue
        family = _family(claim, place.path, node, len(list(signed_terms(right))) > 1)
        if not top and not _moves_alike(claim, put(right, place.path, Number(Fraction(0)))):
            continue
        way = None if family is None else _direction(claim, family.at, there)
        if family is not None and way is not None:
            yield replace(family, smaller=way)


def _family(claim: Claim, path: Path, node: Expression, several: bool) -> Family | None:
    name = "-".join(map(str, path)) or "all"

    def at(c: Fraction) -> Claim:
        if c == 1:
            return claim
        new = put(claim.sentence.right, path, applied("*", (Number(c), node)))
        made = edited(claim, f"times-{name}-{str(c).replace('/', '-over-')}", statement=stated(claim, new))
        if made is None:
            raise ValueError(f"{claim.id}: {text_of(node)} times {c} is no sentence")
        return made

    what = "the right side" if not path and several else text_of(node)
    return Family("constant", what, True, at, _affine(claim.sentence.right, path))


def _affine(e: Expression, path: Path) -> bool:
    """Whether a tree is affine in the part at the end of a path."""
    if not path:
        return True
    op = e.operation if isinstance(e, Apply) else ""
    linear = op in (*SUMS, "*", "E") or op.startswith(("mean_", "sum_")) or (op == "/" and path[0] == 0)
    return linear and _affine(parts(e)[path[0]], path[1:])


def _direction(claim: Claim, at: Callable[[Fraction], Claim], there: Sequence[Seen]) -> bool | None:
    """Whether a smaller factor says more; None where neither does, on all instances."""
    for smaller, factor in ((True, Fraction(1, 2)), (False, Fraction(2))):
        try:
            other = at(factor)
        except ValueError:
            return None
        if says_more(claim, other, there):
            return smaller
    return None


def steps(claim: Claim) -> Iterator[Family]:
    """The claim with a factor at the bound of each relation between numbers that it assumes; more is weaker."""
    for where in ("assuming", "standing"):
        texts: tuple[str, ...] = getattr(claim, where)
        for i, text in enumerate(texts):
            one = assumption(text)
            if not isinstance(one, Sentence) or one.relation == "==" or not _of_numbers(one):
                continue
            yield Family("step", text, one.relation in (">=", ">"), _moved(claim, where, texts, i, one))


def _of_numbers(one: Sentence) -> bool:
    """Whether a number is what bounds it: 0 times anything is 0, and a bound of 1 on an integer says something else."""
    return isinstance(one.left, Name) and not isinstance(one.right, Number)


def _moved(claim: Claim, where: str, texts: Sequence[str], i: int, one: Sentence) -> Callable[[Fraction], Claim]:
    def at(c: Fraction) -> Claim:
        if c == 1:
            return claim
        text = str(replace(one, right=applied("*", (Number(c), one.right))))
        fields = {where: (*texts[:i], text, *texts[i + 1 :])}
        made = edited(claim, f"step-{i}-{str(c).replace('/', '-over-')}", **fields)
        if made is None:
            raise ValueError(f"{claim.id}: {text} is no assumption")
        return made

    return at


# --- sides ---


def says_more(claim: Claim, other: Claim, there: Sequence[Seen]) -> bool:
    """Whether another right side is nowhere on the weaker side of the claim's, and not the same, as measured."""
    sign = 1 if claim.sentence.relation in ("<=", "<") else -1
    strictly = False
    for seen in there:
        again = measured(other, seen.drawn)
        if again is None:
            continue
        for a, b in pairs(seen, again):
            gap = sign * difference(b.right, a.right)
            if gap > 0:
                return False
            strictly = strictly or gap < 0
    return strictly
