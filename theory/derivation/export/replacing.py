"""Vectors replaced by others that lines say are equal to them, ``norm2(u - v) <= 0``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from theory.derivation.export.forms import Lines, NotExportedError, block
from theory.derivation.export.names import Env, Said
from theory.derivation.export.scope import Line, Written
from theory.derivation.export.terms import (
    ZERO,
    Ip,
    Nat,
    Num,
    Term,
    Vec,
    VOp,
    everything,
    name,
    nat_text,
    put,
    text_of,
)  # fmt: skip

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof


@dataclass(frozen=True)
class Equality:
    """A vector with another that is equal to it, for all indices that are free.

    Attributes:
        vector, other: the two, at the `variables` of the free indices.
        free: these indices.
        conditions: how many conditions on them its statement has.
        coq: its name in the script.
        script: what states and proves it.
    """

    vector: Vec
    other: Term
    free: tuple[str, ...]
    conditions: int
    coq: str
    script: tuple[str, ...]

    def at(self, v: Vec, env: Env) -> tuple[Term, str] | None:
        """What a vector of this shape is equal to, and a term of Rocq that proves it; None for another shape."""
        if v.head != self.vector.head:
            return None
        found: dict[str, Nat] = {}
        for mine, its in zip(self.vector.args, v.args, strict=True):
            if not isinstance(mine, Nat) or not isinstance(its, Nat):
                if mine != its:
                    return None
                continue
            variable = mine.terms[0][0] if len(mine.terms) == 1 and mine.terms[0][1] == 1 else ""
            if variable not in variables(self.free):
                if mine != its:
                    return None
                continue
            value = its.shifted(-mine.constant)
            if value.constant < 0 or found.setdefault(variable, value) != value:
                return None
        words = []
        for index, variable in zip(self.free, variables(self.free), strict=True):
            if variable not in found and index not in env:
                return None
            found.setdefault(variable, env.get(index, name(index)))
            words.append(nat_text(found[variable]))
        words += ["ltac:(side)"] * self.conditions
        return put(self.other, found), f"({' '.join([self.coq, *words])})" if words else self.coq


def variables(free: Sequence[str]) -> list[str]:
    """Names for indices of which others are there already."""
    return [f"{index}'" for index in free]


def equalities(derivation: Proof, text: str) -> Iterator[Equality]:
    """What a line lets be replaced: each vector of it that stands alone, those at the most particular indices first.

    Raises:
        NotExportedError: where it does not say that vectors are equal.
    """
    line = derivation.find(text)
    kept = derivation.env
    derivation.env = {**kept, **dict(zip(line.free, map(name, variables(line.free)), strict=True))}
    try:
        said, proof = derivation.at(line, {})
        square = isinstance(said.left, Ip) and said.left.left == said.left.right
        if said.relation == "<" or said.right != ZERO or not square:
            raise NotExportedError(f"the line {text} does not say that two vectors are equal")
        whole, _ = derivation.normal.vector(said.left.left)  # type: ignore[union-attr]
        parts = list(_parts(whole))
        alone = [i for i, (by, v) in enumerate(parts) if isinstance(v, Vec) and abs(by) == 1]
        alone.sort(key=lambda i: -_particular(parts[i][1], variables(line.free)))
        for i in alone:
            by, vector = parts[i]
            other: Term = VOp("zero")
            for j, (one, v) in enumerate(parts):
                if j != i:
                    c = -one / by
                    other = _plus(other, v if c == 1 else VOp("scal", (Num(c), v)))
            assert isinstance(vector, Vec)
            yield _stated(derivation, line, said, proof, vector, other)
    finally:
        derivation.env = kept


def _stated(derivation: Proof, line: Line, said: Said, proof: str, vector: Vec, other: Term) -> Equality:
    words = " ".join(variables(line.free))
    env = {**derivation.fixed, **derivation.env}
    conditions = [c for _, text in derivation.bounds(line, env) for c in text.split(" -> ") if c]
    coq = derivation.normal.fresh("R")
    head = f"forall {words} : nat, " if words else ""
    given = "".join(f"{c} -> " for c in conditions)
    intro = [f"intros {words}; intros."] if words else []
    difference = VOp("sub", (vector, other))
    goal = Said(Ip(difference, difference), "<=", ZERO)
    script = derivation.scaled_from(goal, said, proof)
    if script is None:
        raise NotExportedError(f"{line.sentence} does not say what {text_of(vector)} is")
    lines = [
        f"assert ({coq} : {head}{given}{text_of(vector)} = {text_of(other)}).",
        *block([*intro, "apply vector_le.", *script]),
    ]
    return Equality(vector, other, line.free, len(conditions), coq, tuple(lines))


def _parts(t: Term) -> Iterator[tuple[Fraction, Term]]:
    """The vectors of a normal form with their multipliers, 1 where these are no numbers."""
    if isinstance(t, VOp) and t.op == "add":
        yield from _parts(t.args[0])
        yield from _parts(t.args[1])
    elif isinstance(t, VOp) and t.op == "scal" and isinstance(t.args[0], Num):
        yield t.args[0].value, t.args[1]
    elif not (isinstance(t, VOp) and t.op == "zero"):
        yield Fraction(1), t


def _particular(v: Term, free: Sequence[str]) -> int:
    """How particular indices are: 2 for each that is none that is free, 1 where it is later than one."""
    found = 0
    for a in v.args if isinstance(v, Vec) else ():
        if isinstance(a, Nat):
            general = any(word in free for word, _ in a.terms)
            found += int(a.constant > 0) if general else 2
    return found


def _plus(a: Term, b: Term) -> Term:
    return b if a == VOp("zero") else VOp("add", (a, b))


def by_replace(derivation: Proof, one: Written, line: Line) -> Lines:
    """Sides that are the same when a vector is replaced."""
    goal = derivation.goal(line)
    if goal.relation == "<":
        raise NotExportedError("a replacement in a strict inequality")
    return same_when(derivation, goal, [str(one["line"])], False)


def same_when(derivation: Proof, goal: Said, lines: Sequence[str], unfold: bool) -> Lines:
    """The script of a sentence whose sides are the same when vectors are replaced by what lines say, and where
    `unfold`, by what a round makes them."""
    start = [] if goal.relation == "==" else ["right."]
    for chosen in _choices(derivation, lines):
        own = derivation.with_equalities(chosen, unfold)
        given = [text for one in chosen for text in one.script]
        found = derivation.null(goal, own)
        if found is not None:
            return [*given, *found]
        found = derivation.equation(goal.left, goal.right, own)
        if found is not None:
            return [*given, *start, *found]
    raise NotExportedError(f"{goal.text} is not what {', '.join(lines)} make it")


def _choices(derivation: Proof, lines: Sequence[str]) -> Iterator[tuple[Equality, ...]]:
    if not lines:
        yield ()
        return
    for one in equalities(derivation, lines[0]):
        loops = any(isinstance(v, Vec) and one.at(v, {}) is not None for v in everything(one.other))
        for rest in () if loops else _choices(derivation, lines[1:]):
            yield (one, *rest)
