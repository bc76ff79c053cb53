"""Kind "derivation": a proof of a claim, line by line; the last line is the claim.

The file has the claim as its author wrote it (sentence, assumptions, relations, definitions, algorithm) and lines, each
a sentence with the rule by which it follows from hypotheses and earlier lines. Checked: every line, exactly, for all
parameters, dimensions, clients, rounds and functions at once. VALID says: the claim as it is printed is true, of every
instance on which it is defined.

What remains for the reader: that sentence, assumptions, relations, definitions, domains and the algorithm are those of
the paper, and what is cited, which is named. All of them are printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .assumed import alike
from .checks import Checks, Report
from .derivation_blocks import Blocks, Failed
from .derivation_claims import other_claim
from .derivation_defined import Defined
from .derivation_normal import Normal
from .derivation_replacing import Algebra
from .derivation_schemas import Schemas
from .listing import listing
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import everything
from .stated import Claimed, interval, introduce_claim, read_claim, steps_of
from .steps import Step

NEEDED = "format kind claim statement assumptions relations definitions program lines"
OPTIONAL = "standing vectors domains over note"


def verify_derivation(data: dict[str, Any]) -> Report:
    """Checks a derivation.

    Raises:
        FormatError: when it is malformed or too large to be checked.
    """
    told, checks, cited = Checks(), Checks(), tuple[str, ...]()
    try:
        claimed = read(data)
        introduce(told, data, claimed)
        try:
            blocks = check(data, claimed, Algebra(), 0, checks)
            checks.check(True, "the last line is the claim")
            cited = tuple(shown(source, 2000) for source in dict.fromkeys(blocks.cited))
            needed = blocks.assumed | giving_points(data, claimed)
            unused = [a.text for a in claimed.assumptions if a.text not in needed]
            if unused:
                checks.note(f"of the assumptions on functions these are not needed: {shown(', '.join(unused), 2000)}")
        except Failed as failed:
            checks.check(False, f"line {shown(failed.name, 600)}: {shown(failed.reason, 600)}")
        except Uncheckable as reason:
            checks.check(False, f"it cannot be checked: {shown(str(reason), 600)}")
    except (RecursionError, OverflowError, MemoryError):
        raise FormatError("the derivation is nested too deeply, or its numbers are too large") from None
    return Report(checks.valid, tuple(checks.lines), tuple(told.lines), cited)


def read(data: Mapping[str, Any]) -> Claimed:
    """The claim of a derivation.

    Raises:
        FormatError: when it is malformed.
    """
    fields(data, "the derivation", NEEDED, OPTIONAL)
    vectors = [text_of(name, "a free vector") for name in list_of(data.get("vectors", []), "vectors")]
    if len(set(vectors)) < len(vectors):
        raise FormatError("a free vector is named twice")
    claimed = read_claim({**data, "vectors": dict.fromkeys(vectors), "at": {}})
    sides = [side for s in (claimed.sentence, *claimed.relations) for side in (s.left, s.right)]
    sides += [*claimed.words.definitions.values(), *(c for a in claimed.assumptions for c in a.constants)]
    if any(node.op == "coordinate" for tree in sides for node in everything(tree)):
        raise FormatError("a claim does not speak of coordinates: lines of its derivation may")
    return claimed


def introduce(told: Checks, data: Mapping[str, Any], claimed: Claimed) -> None:
    """What the reader has to compare with the paper."""
    note = told.note
    introduce_claim(told, data, claimed)
    if data.get("vectors"):
        note(f"for all vectors {shown(', '.join(data['vectors']), 2000)}")
    if data.get("over"):
        note(f"assumed for {shown(data['over'])} only")
    for name, domain in claimed.domains.items():
        note(f"{name} is from {interval(domain)}")
    if claimed.program is not None:
        for line in listing(claimed.program):
            note(shown(line, 2000))
    if data.get("note"):
        note(shown(data["note"]))


def check(data: Mapping[str, Any], claimed: Claimed, algebra: Algebra, depth: int, checks: Checks | None) -> Blocks:
    """Checks the lines.

    Raises:
        Failed: for the first line that does not follow.
    """
    if depth == 0:
        algebra.certain = claimed.program is not None and not draws(claimed.program.body)
    normal = Normal(claimed, level(data, claimed), points(claimed, data.get("over", "")), algebra)
    signs = normal.signs = Defined(normal)
    blocks = Blocks(normal, signs, Schemas(normal, signs, data.get("over", "")))

    def nested(inner: Any, at: int) -> Blocks:
        return check(inner, read(inner), algebra, at, None)

    blocks.other = other_claim(data, nested, depth)
    grant(signs, claimed)
    scope = {}
    for relation in claimed.relations:
        try:
            fact = blocks.given(relation)
        except Uncheckable:  # what is not read says nothing here
            continue
        scope[relation.text] = fact
        signs.facts.append(fact)
    final = blocks.fact("", claimed.sentence, normal.start)
    items = list_of(data["lines"], "lines")
    if not items:
        raise FormatError("a derivation without lines")
    if isinstance(items[-1], dict) and "sentence" not in items[-1]:
        items = [*items[:-1], {**items[-1], "sentence": claimed.sentence.text}]
    facts = blocks.block(items, scope, [final], None if checks is None else lambda text: checks.check(True, text))
    last = facts[-1]
    s = claimed.sentence
    sides = (s.left, s.right) if s.relation[0] != ">" else (s.right, s.left)
    turned = {">": "<", ">=": "<="}.get(s.relation, s.relation)
    same = last.env is normal.start and last.relation == turned
    if not (same and alike(last.left, sides[0]) and alike(last.right, sides[1])):
        raise Failed("(the last)", "its sentence is not the claim's")
    if last.fixed:
        raise Failed("(the last)", "it is known at some indices only")
    own = blocks.shifts(s) if last.reach else {}
    if any(reach > own.get(index, 1) for index, reach in last.reach.items()):
        raise Failed("(the last)", "it hangs on hypotheses beyond the run")
    if any(not normal.of_one_range(index, *sides) for index in last.reach.keys() & set("hj")):
        raise Failed("(the last)", "it is of other turns than the claim")
    blocks.within = bool(last.reach)
    return blocks


def draws(steps: Iterable[Any]) -> bool:
    """Whether steps of a program draw anything."""
    drawn = ("sample", "noise", "choose", "coins", "coin", "keep")
    return any(s.op in (drawn if isinstance(s, Step) else ("visit", "pass")) for s in steps_of(steps))


def grant(signs: Defined, claimed: Claimed) -> None:
    """The divisors of the claim, which says nothing where one is 0."""
    for s in (claimed.sentence, *claimed.relations):
        for side in (s.left, s.right):
            try:
                signs.grant(side, signs.normal.start)
            except Uncheckable:  # what is not read gives nothing
                continue


def points(claimed: Claimed, over: str = "") -> frozenset[str]:
    """Which of xstar, xstar_n and fstar there are: those that the claim speaks of, or that assumptions give."""
    spoken: set[str] = set()
    left = [side for s in (claimed.sentence, *claimed.relations) for side in (s.left, s.right)]
    left += [c for a in claimed.assumptions for c in a.constants]
    left += [side for a in claimed.assumptions if a.sentence for side in (a.sentence.left, a.sentence.right)]
    seen: set[str] = set()
    while left:
        for node in everything(left.pop()):
            if node.op != "name":
                continue
            spoken.add(node.name)
            if node.name in claimed.words.definitions and node.name not in seen:
                seen.add(node.name)
                left.append(claimed.words.definitions[node.name])
    found = spoken & {"xstar", "xstar_n", "fstar"}
    for a in () if over else claimed.assumptions:
        if a.name == "strongly_convex":
            found |= {"xstar"} if a.function == "f" else {"xstar", "xstar_n"}
        if a.name in ("bounded_below", "pl"):
            found |= {"fstar"}
    return frozenset(found | ({"fstar"} if "xstar" in found else set()))


def giving_points(data: Mapping[str, Any], claimed: Claimed) -> set[str]:
    """The assumptions that say that there is a minimiser or an infimum of which lines speak, and the claim does not."""
    own = points(claimed, "nowhere")
    given = points(claimed) - own
    text = " ".join(_texts(data["lines"]))
    if not any(re.search(rf"\b{name}\b", text) or "infimum" in text or "minimiser" in text for name in given):
        return set()
    return {a.text for a in claimed.assumptions if a.name in ("strongly_convex", "bounded_below", "pl")}


def level(data: Mapping[str, Any], claimed: Claimed) -> int:
    """The finest of f, f_n and f_ni that the file speaks of: 0, 1 or 2."""
    finest = 0
    if claimed.program is not None:
        steps = [s for s in steps_of(claimed.program.body) if isinstance(s, Step)]
        finest = max([finest, *(2 if s.op == "sample" else 1 for s in steps if s.op in ("sample", "gradient", "prox"))])
    for text in _texts({key: value for key, value in data.items() if key != "program"}):
        if re.search(r"f_ni|_i\b|\bi\b|variance", text):
            return 2
        if re.search(r"f_n\b|xstar_n|dissimilar", text):
            finest = max(finest, 1)
    return finest


def _texts(data: Any) -> Iterable[str]:
    left = [data]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            left += one
