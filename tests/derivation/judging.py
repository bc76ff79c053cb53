"""A derivation as a file, put to kernel and verifier, and its sentences measured on exact instances.

What is accepted either says the same as the file from which it was made (the same sentences follow from the same by the
same rules, in other names, other texts of the same formulas, beside lines that nothing needs); or it is another
derivation: then all its sentences have to be true where they are measured exactly, on instances that satisfy its
claim's hypotheses, the claim's own sentence among them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

from tests.derivation.written import BY_HAND, derivation
from tests.laws.proved_claims import proved
from tests.verifier.corruptions import claim_part
from theory.claim import Claim
from theory.derivation import NotProvedError
from theory.derivation.kernel import Kernel, accepted
from theory.derivation.polynomials import forget
from theory.derivation.reading import PLAIN
from theory.derivation.statements import Goal, shifts
from theory.domain import Domain
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.program import Algorithm, from_json
from theory.sentence import SentenceError, index_of, parse_sentence
from validate.both_sides import sides
from validate.certificate.derivation import derivation_certificate
from validate.instances.pool import Drawn, drawn
from validate.rounds import TooManyOutcomesError
from validate.verifier import FormatError, verify

Data = dict[str, Any]
INNER = ("base", "step", "first", "second")
INSTANCES, SEEDS = 3, 40
"""Instances on which the sentences of another derivation are measured, and seeds among which these are looked for."""
UNMEASURED = (
    SentenceError, UndefinedError, UndecidedError, TooManyOutcomesError, ValueError, ZeroDivisionError, OverflowError,
    KeyError, TypeError, IndexError,
)  # fmt: skip


@cache
def files() -> dict[str, tuple[Claim, Data]]:
    """The derivations as files, by what they are of."""
    every = {c.id: (c, lines) for c, lines in proved().values()}
    every |= {f"{c.id}, written for tests": (c, derivation(c, written)) for c, written in BY_HAND}
    return {name: (c, json.loads(json.dumps(derivation_certificate(c, lines)))) for name, (c, lines) in every.items()}


# --- what is accepted ------------------------------------------------------------------------------------------------


def claim_of(c: Claim, data: Data) -> Claim | None:
    """The claim of a file whose claim was `c`; None where it is none."""
    standing = tuple(text for text in c.standing if text in data.get("standing", ()))
    assumed = (*(a["text"] for a in data["assumptions"]), *data["relations"])
    assuming = tuple(text for text in assumed if text not in standing)
    texts = " ".join((data["statement"], *assumed, *data["definitions"].values(), str(data["program"])))
    written = {index_of(name)[0]: name for name in c.parameters}
    try:
        domains = {written.get(name, name): domain(one) for name, one in data.get("domains", {}).items()}
        return replace(
            c,
            parameters={name: d for name, d in domains.items() if re.search(rf"\b{name}\b", texts)},
            vectors=tuple(data.get("vectors", ())),
            over=data.get("over", ""),
            of=None if c.of is None else with_program(c.of, data["program"]),
            statement=data["statement"],
            assuming=assuming,
            standing=standing,
            where=data["definitions"],
            proof=None,
        )
    except ValueError:
        return None


def domain(data: Data) -> Domain:
    ends = {key: None if data[key] is None else Fraction(data[key]) for key in ("lower", "upper")}
    return Domain(**{**data, **ends})


def with_program(of: Algorithm, program: Data) -> Algorithm:
    if program == of.program.to_json():
        return of
    other = replace(of)
    other.__dict__["program"] = from_json(program)
    return other


def by_kernel(c: Claim | None, data: Data) -> bool:
    if c is None:
        return False
    try:
        forget()
        accepted(c, data["lines"])  # as they stand in the file: no line is written out
    except (NotProvedError, TypeError):  # a changed program may be one that no algorithm has
        return False
    return True


def by_verifier(data: Data) -> bool:
    try:
        return verify(json.loads(json.dumps(data))).valid
    except FormatError:
        return False


# --- what says the same ----------------------------------------------------------------------------------------------


def meaning(c: Claim, data: Data) -> Any:
    """Of a derivation that the kernel accepts: which sentences follow from which, by which rule, up to the claim.

    Names, texts of the same formula, order, and lines that the last one does not rest on are no part of it.
    """
    lines = renamed(data["lines"], {}, count())
    kernel = Kernel(c, lines)
    kernel.block(lines, Goal(c.sentence, PLAIN, exact=True))
    ends = {one["name"]: [one[key][-1]["name"] for key in INNER if one.get(key)] for one in every_line(lines)}
    known: dict[str, Any] = {}
    for line in kernel.accepted:
        factor, direction = line.gap.direction
        relation = line.relation.replace(">", "<")
        below = {known.get(name, name) for name in (*line.parts, *ends.get(line.name, ()))}
        known[line.name] = (line.rule, relation, direction, relation != "==" and factor > 0, frozenset(below))
    return known[kernel.accepted[-1].name]


def renamed(lines: Sequence[Data], outer: Mapping[str, str], names: Iterator[int]) -> list[Data]:
    """The same lines, each with a name that no other has, in whatever list."""
    known, found = dict(outer), []

    def other(key: str, value: Any) -> Any:
        if key in INNER:
            return renamed(value, known, names)
        if key in ("parts", "squares"):
            return [{k: other(k, v) for k, v in one.items()} if isinstance(one, dict) else one for one in value]
        if key == "using":
            return [known.get(name, name) for name in value]
        return known.get(value, value) if key == "line" else value

    for one in lines:
        new = {key: other(key, value) for key, value in one.items()}
        known[one["name"]] = new["name"] = f"line {next(names)}"
        found.append(new)
    return found


def every_line(lines: Sequence[Data]) -> Iterator[Data]:
    for one in lines:
        yield one
        for key in INNER:
            yield from every_line(one.get(key, ()))


def says_the_same(c: Claim, one: Data, other: Data) -> bool:
    return claim_part(one) == claim_part(other) and bool(meaning(c, one) == meaning(c, other))


# --- what is right ---------------------------------------------------------------------------------------------------


@cache
def instances(c: Claim) -> tuple[Drawn, ...]:
    """The first of the pool, with few outcomes, on which a claim's own sentence has a value."""
    found = []
    for seed in range(SEEDS):
        try:
            one = drawn(c, seed)
        except UNMEASURED:  # a changed program may be one that no algorithm has
            continue
        if one is not None and broken(c.statement, c, one) is not None:
            found.append(one)
        if len(found) == INSTANCES:
            break
    return tuple(found)


def broken(text: str, c: Claim, one: Drawn) -> bool | None:
    """Whether a sentence is false on an instance; None where it has no value there."""
    try:
        both = sides(parse_sentence(text), c.vocabulary, one.instance, one.constants, limit=100)
    except UNMEASURED:
        return None
    if both.broken:
        return True
    return False if any(row.status == "holds" or row.agrees for row in both.rows) else None


def sentences(lines: Sequence[Data]) -> Iterator[str]:
    """What lines say that hangs on no hypothesis of their own."""
    for one in lines:
        if "sentence" in one:
            yield one["sentence"]
        yield from one.get("sentences", ())
        yield from sentences(one.get("base", ()))


def of_the_run(c: Claim, lines: Sequence[Data]) -> list[Data]:
    """Without lines whose hypotheses say nothing of the last round or turn that the sentence has, as of a maximum."""
    kernel = Kernel(c, lines)
    with suppress(NotProvedError):  # what the verifier alone accepts is asked as far as the kernel goes, and at its end
        kernel.block(lines, Goal(c.sentence, PLAIN, exact=True))
    near = set()
    for line in kernel.accepted:
        own = shifts(line.sentence, kernel.reader)
        if all(reach <= own.get(index, 1) for index, reach in line.reach.items()):
            near.add(line.name)
    return [one for one in lines if one["name"] in near]


def what_is_false(c: Claim, lines: Sequence[Data]) -> str:
    """A sentence of a derivation that is false on an instance; nothing where none is."""
    for one in instances(c):
        for text in (c.statement, *sentences(of_the_run(c, lines))):
            if broken(text, c, one):
                return text
    return ""


# --- all of it ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """What becomes of a changed file.

    Attributes:
        kernel: whether the kernel accepts it; False where what it says of its claim is no claim.
        verifier: whether the verifier does.
        same: whether it says the same as before, as far as the kernel accepts it.
        false: a sentence that is false on an instance, of what is accepted and says something else; else nothing.
    """

    kernel: bool
    verifier: bool
    same: bool = False
    false: str = ""


def judge(c: Claim, data: Data, other: Data, verifier: bool) -> Judged:
    """What becomes of `other`, made from the file `data` of claim `c`, and accepted by the verifier or not."""
    theirs = claim_of(c, other)
    kernel = by_kernel(theirs, other)
    if not (kernel or verifier):
        return Judged(False, False)
    if kernel and says_the_same(c, data, other):
        return Judged(kernel, verifier, same=True)
    return Judged(
        kernel, verifier, false="no claim at all" if theirs is None else what_is_false(theirs, other["lines"])
    )
