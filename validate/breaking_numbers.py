"""Claims about numbers alone whose opposite is put to z3: numbers that break them, however seldom a pool has such.

A pool and a climb meet what breaks a claim in a part of its parameters' room. Where it is a point, or a narrow part, z3
finds it, as sums, products, quotients, roots and powers in numbers are told to it exactly. What it finds is an instance
like any other, measured here and verified. Numbers that are no fractions stand in no certificate: then the claim is
not refuted, and not supported either.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from theory.claim import Claim
from theory.domain import INDEX
from theory.formula import Formula, Name, parse_relation
from theory.sentence import Relation, Sentence, everything_meant, index_of, text_of
from validate.contradiction import Numbers
from validate.instances.candidates import candidate_of, of_rounds, realised
from validate.instances.pool import has_functions, instance_of_values
from validate.instances.seen import Seen, measured

log = logging.getLogger(__name__)

EFFORT = {True: 1.0, False: 4.0}
"""What a question to z3 may compute, quick and full."""
SECONDS = {True: 6.0, False: 60.0}
"""What z3 does not count as effort ends then; most questions take less than one."""
OPPOSITES: dict[Relation, tuple[Relation, ...]] = {
    "<=": (">",), "<": (">=",), ">=": ("<",), ">": ("<=",), "==": ("<", ">"),
}  # fmt: skip
TURNS = frozenset("hji")


@dataclass(frozen=True)
class Breaking:
    """What z3 says of the opposite of a claim.

    Attributes:
        seen: an instance that breaks the claim, measured; None where the numbers are no fractions.
        detail: a line, where there is no instance.
    """

    seen: Seen | None
    detail: str = ""


def breaking_numbers(claim: Claim, near: Seen | None, quick: bool = False) -> Breaking | None:
    """Numbers that satisfy what a claim assumes, and break it; None where none are known, or it is of another kind.

    Args:
        claim: the claim; of another kind are those with an algorithm, functions, vectors, one number a client, or an
            index other than k.
        near: any instance of it: what a claim does not speak of is taken from there; None where none was met.
        quick: less is computed.
    """
    from theory.feasible import Limits, smt
    from theory.feasible.constraints import read_system

    if not smt.available() or not _of_numbers_alone(claim):
        return None
    numbers = Numbers(claim)
    asked = [*map(numbers.written, claim.relations)]
    if any(_speaks_of(relation, "k", claim) for relation in asked):  # it holds for every k, not for one
        return None
    numbers.domains["k"] = INDEX
    irrational: Breaking | None = None
    for opposite in _opposites(numbers.written(claim.sentence)):
        relations = [*asked, opposite]
        if _speaks_of(opposite, "k", claim):
            relations.append(Sentence(Name("k"), "<=", Name("K")))
        texts = [f"{text_of(numbers.of(r.left))} {r.relation} {text_of(numbers.of(r.right))}" for r in relations]
        if numbers.meanings:
            return None
        used = {name for name in numbers.domains if any(_speaks_of(r, name, claim) for r in relations)}
        domains = {name: numbers.domains[name] for name in sorted(used)}
        try:
            system = read_system([(text, parse_relation(text)) for text in texts], domains, {})
            answer = smt.decide(system, Limits(effort=EFFORT[quick], seconds=SECONDS[quick]))
        except ValueError as error:
            log.debug("%s: %s", claim.id, error)
            return None
        if answer.witness is None:
            whole = any(domain.integer for domain in domains.values())
            if answer.status == "sat" and answer.exact and not whole:
                irrational = Breaking(None, "z3 says that numbers break it, and gives none that can be written down")
            continue
        seen = _measured_there(claim, near, answer.witness)
        if seen is not None:
            return Breaking(seen)
        if any(not isinstance(value, Fraction) for value in answer.witness.values()):
            told = ", ".join(f"{name} = {_told(value)}" for name, value in answer.witness.items())
            irrational = Breaking(None, f"numbers that are no fractions break it: {told} (z3; checked exactly)")
    return irrational


def _told(value: Fraction | Formula) -> str:
    return str(value) if isinstance(value, Fraction) else text_of(value)


def _of_numbers_alone(claim: Claim) -> bool:
    if claim.of is not None or claim.vectors or has_functions(claim):
        return False
    if any(index_of(symbol)[1] for symbol in claim.symbols):
        return False
    return not any(_speaks_of(claim.sentence, index, claim) for index in TURNS)


def _speaks_of(relation: Sentence, name: str, claim: Claim) -> bool:
    return any(
        isinstance(part, Name) and part.name == name
        for side in (relation.left, relation.right)
        for part in everything_meant(side, claim.vocabulary)
    )


def _opposites(sentence: Sentence) -> Iterator[Sentence]:
    for relation in OPPOSITES[sentence.relation]:
        yield Sentence(sentence.left, relation, sentence.right)


def _measured_there(claim: Claim, near: Seen | None, witness: dict[str, Fraction | Formula]) -> Seen | None:
    """The instance that has these numbers, if it breaks the claim."""
    values = {name: value for name, value in witness.items() if isinstance(value, Fraction)}
    if len(values) < len(witness):
        return None
    k = values.pop("k", Fraction(0))
    rounds = int(values.get("K", max(Fraction(1), k)))
    if near is None:
        known = {name: value for name, value in values.items() if name != "K"}
        if not {*claim.symbols} - {"K"} <= known.keys():
            return None
        one = instance_of_values(claim, None, np.array([], dtype=object), rounds, known, {})
    else:
        candidate = of_rounds(candidate_of(near.drawn), claim, rounds)
        known = {name: value for name, value in values.items() if name in candidate.values}
        one = realised(claim, replace(candidate, values={**candidate.values, **known}))
    seen = None if one is None else measured(claim, one)
    return seen if seen is not None and seen.measured.broken else None


__all__ = ["Breaking", "breaking_numbers"]
