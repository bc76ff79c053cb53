"""Lines in scope: for which indices each is said, and how Rocq is told which is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from theory.derivation.export.forms import NotExportedError, under
from theory.derivation.export.names import Env, Said, safe
from theory.derivation.export.rounds import round_of
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    Nat,
    Term,
    count,
    name,
    nat_text,
)  # fmt: skip
from theory.formula import Apply, Name, Number
from theory.sentence import (
    OVER,
    TURNS,
    At,
    Expression,
    Sentence,
    applied,
    everything,
    everything_meant,
    index_of,
    parse_expression,
    parse_sentence,
    parts,
    read,
)

INDICES = ("K", "k", "h", "j", "n", "i", "w")
VARIABLE = {"K": "Ka"}
"""How an index is called where another K is there already."""
Written = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """A line in scope.

    Attributes:
        coq: its name in the script.
        sentence: what it says.
        free: the indices for all of which it says it, the outcome ``w`` among them.
        start: the first k for which it is said.
        within: indices for which it is said only as far as sums over them go.
        place: indices at which it is said other than their own: k + 1 for k.
        further: of rounds and turns, how far they have to go for it, where that is more than it speaks of.
        to_the_end: whether it is said of the k up to K only.
    """

    coq: str
    sentence: Sentence
    free: tuple[str, ...]
    start: int = 0
    within: str = ""
    place: tuple[tuple[str, Nat], ...] = ()
    further: tuple[tuple[str, int], ...] = ()
    to_the_end: bool = False


class BeyondError(NotExportedError):
    """A line is used for all of an index of which it says less: only what stands in a sum, or up to its end less
    `further`, or, `to_the_end`, that as well."""

    def __init__(self, index: str, text: str, further: int = 0, to_the_end: bool = False) -> None:
        super().__init__(text)
        self.index = index
        self.further = further
        self.to_the_end = to_the_end


@dataclass
class Scope:
    """The lines of one derivation that are there, at indices that are there.

    Attributes:
        setting: the claim's.
        scope: lines by name and by sentence.
        env, fixed: the indices that are there: those of a line, and those of an induction around it.
        current: the line that is made.
        skipped: why a line in scope was not taken as a fact, where that is because it is said no further.
        below: indices of inductions that are said only as far as sums over them go.
    """

    setting: Setting
    scope: dict[str, Line] = field(default_factory=dict)
    env: dict[str, Nat] = field(default_factory=dict)
    fixed: dict[str, Nat] = field(default_factory=dict)
    current: Line | None = None
    below: str = ""
    skipped: BeyondError | None = None
    _names: set[str] = field(default_factory=set)

    def free_in(self, sentence: Sentence) -> tuple[str, ...]:
        words = self.setting.claim.vocabulary
        found: set[str] = set()
        for side in (sentence.left, sentence.right):
            reading = read(side, words)
            found |= reading.free
            if reading.random and self.setting.random:
                found.add("w")
        if found - set(INDICES):
            raise NotExportedError(f"{sentence}: the index {sorted(found - set(INDICES))[0]} is not exported yet")
        return tuple(index for index in INDICES if index in found and index not in self.fixed)

    def reach(self, sentence: Sentence, index: str = "k", made: bool = True) -> int:
        """How many rounds after round k the sentence looks: those that have ended, of states, or have begun, of taps;
        or how many turns after turn h or j: those that have ended, where `made`, for what is made in a turn."""
        words = self.setting.claim.vocabulary
        found = 0
        for side in (sentence.left, sentence.right):
            for part in everything_meant(side, words):
                if not isinstance(part, At):
                    continue
                lag = words.states.get(part.name) == "past" and index != "k"
                at = 1 if lag else "khj".index(index)
                if len(part.indices) <= at:
                    continue
                if Name(index) in everything(part.indices[at]):
                    nat = self.setting.nat(part.indices[at], {index: name(index)})
                    ends = part.name in words.taps if index == "k" else made and self._made_in_turn(part, at)
                    found = max(found, nat.constant + int(ends))
        return found

    def _made_in_turn(self, part: At, at: int) -> bool:
        """Whether what is tapped is made in the turn, and not there at its beginning (also after the last turn)."""
        if part.name not in self.setting.claim.vocabulary.taps:
            return False
        if safe(part.name) in round_of(self.setting).taps:
            return True
        return any(one != Number(Fraction(0)) for one in part.indices[at + 1 :])

    def needs(self, line: Line, index: str) -> int:
        """How many rounds, or turns, have to follow an index for a line to be said."""
        inside = int(index in TURNS and index in line.within)
        return max(self.reach(line.sentence, index, not inside) + inside, dict(line.further).get(index, 0))

    def bounds(self, line: Line, env: Env) -> list[tuple[str, str]]:
        """The free indices with what is assumed of each, as types."""
        found = []
        for index in line.free:
            at = nat_text(env[index])
            if index == "k":
                conditions = []
                if self.setting.random:
                    conditions.append(f"({nat_text(env['k'].shifted(self.needs(line, 'k')))} <= rounds)%nat")
                if line.start:
                    conditions.append(f"({line.start} <= {at})%nat")
                if "k" in line.within or line.to_the_end:
                    sign = "<" if "k" in line.within else "<="
                    conditions.append(f"({at} {sign} {nat_text({'K': name('K'), **env}['K'])})%nat")
            elif index in TURNS:
                turns = nat_text(self.setting.turns_of(index, line.sentence.left, line.sentence.right))
                spoken, needed = self.reach(line.sentence, index, False), self.needs(line, index)
                conditions = [f"({nat_text(env[index].shifted(needed))} <= {turns})%nat"]
                if index in line.within:
                    kept = conditions if needed > spoken + 1 else []
                    conditions = [f"({nat_text(env[index].shifted(spoken))} < {turns})%nat", *kept]
            elif index == "K":
                conditions = [f"(1 <= {at})%nat", *([f"({at} <= rounds)%nat"] if self.setting.random else [])]
            else:
                bound = {"n": name("N"), "i": name(f"samples {nat_text(env['n'])}") if index == "i" else "", "w": "Pr"}[
                    index
                ]
                conditions = [under("E" if index == "w" else "mean", bound, at)]
            found.append((index, " -> ".join(conditions)))
        return found

    def at(self, line: Line, given: Env) -> tuple[Said, str]:
        """A line at indices, those that are not given as they are here, and a term of Rocq that proves it."""
        env = {"K": name("K"), **self.env, **self.fixed, **given}
        missing = [index for index in line.free if index not in env]
        for (
            index
        ) in missing:  # where there is none, it is about none: what holds for all of them holds of the first one
            if index != "K":
                env[index] = count(0)
        some = "w" in missing
        missing = [index for index in line.free if index not in env]
        if missing:
            raise NotExportedError(f"{line.sentence} is for every {missing[0]}, which is not there")
        self._carries(line, given, env)
        words = [line.coq]
        words += [nat_text(env[index]) for index in line.free]
        for index, condition in self.bounds(line, env):
            side = "(outcomes_pos Pr)" if some and index == "w" else "ltac:(side)"
            words += [side] * len([c for c in condition.split(" -> ") if c])
        here = {**env, **dict(line.place)}
        return self.setting.said(line.sentence, here), f"({' '.join(words)})" if len(words) > 1 else line.coq

    def _carries(self, line: Line, given: Env, env: Env) -> None:
        """Nothing where the line that is made is said no further than one that it uses there."""
        current = self.current
        text = f"{line.sentence}, for {line.within} beyond the sum, is not exported yet"
        for index in line.free:
            at = env[index]
            own = current is not None and index in current.free and at.terms == name(index).terms
            beyond = current is None or index not in current.within
            if index in self.fixed:  # an induction's: turns end with the loop, rounds where its line says so
                beyond = index == "k" and "k" not in self.below
            if index in line.within and index not in given and at == name(index) and beyond:
                raise BeyondError(index, text)
            if index == "k" and line.to_the_end:
                self._ends(line, at)
            if current is not None and own and (index in TURNS or (index == "k" and self.setting.random)):
                needed = self.needs(line, index) + at.constant
                if needed > self.needs(current, index):
                    raise BeyondError(index, f"{line.sentence} is said of less {index}", needed)

    def _ends(self, line: Line, at: Nat) -> None:
        """Nothing where a line that is said up to K is used no further: at 0, at K, in a sum, or by such a line."""
        current, text = self.current, f"{line.sentence}, for k beyond K, is not exported yet"
        if at.terms != name("k").terms:
            of = at.terms[0] if len(at.terms) == 1 and not at.constant else ("h", 1)
            if at != count(0) and (of[1] != 1 or of[0] in set(INDICES) - {"K"}):
                raise NotExportedError(text)
        elif current is None or at.constant or "k" in self.fixed:
            raise NotExportedError(text)
        elif "k" not in current.within and not current.to_the_end:
            raise BeyondError("k", text, to_the_end=True)

    def type_of(self, line: Line) -> str:
        env = {**self.fixed, **{index: name(VARIABLE.get(index, index)) for index in line.free}}
        bounds = self.bounds(line, env)
        head = f"forall {' '.join(VARIABLE.get(i, i) for i in line.free)} : nat, " if line.free else ""
        return (
            head
            + "".join(f"{c} -> " for _, c in bounds if c)
            + self.setting.said(line.sentence, {**env, **dict(line.place)}).text
        )

    def conclusion(self, line: Line) -> tuple[str, str]:
        """What a theorem says that ends with this line, and what proves it: turns of a loop end before its count.

        Raises:
            NotExportedError: where it says less than the claim, of which k = K is a part.
        """
        if "k" in line.within and self._speaks_of_the_end(line.sentence):
            raise NotExportedError(f"{line.sentence}, at k = K, of which the claim speaks, is not exported yet")
        turns = "".join(x for x in TURNS if x in line.free and x not in line.within)
        if not turns and not line.further:
            return self.type_of(line), f"exact {line.coq}."
        own = replace(line, within=line.within + turns, further=())
        return self.type_of(own), f"intros {' '.join(line.free)}; intros; apply {line.coq}; side."

    def _speaks_of_the_end(self, sentence: Sentence) -> bool:
        """Whether k may be K: nothing that the sentence names is of the round after k, and no number one a round."""
        words, by_round = self.setting.claim.vocabulary, self.setting.claim.by_round
        named = {
            part.name for side in sentence.sides for part in everything_meant(side, words) if isinstance(part, Name)
        }
        return not self.reach(sentence) and not any(name.removesuffix("_k") in by_round for name in named)

    def fresh_name(self, word: str) -> str:
        stem = "l_" + (re.sub(r"[^A-Za-z0-9_]", "_", word).strip("_") or "line")
        found, i = stem, 1
        while found in self._names:
            i += 1
            found = f"{stem}_{i}"
        self._names.add(found)
        return found

    def intro(self, line: Line) -> str:
        env = {**self.fixed, **{index: name(index) for index in line.free}}
        words = list(line.free)
        if "K" in words:
            return ""
        for index, condition in self.bounds(line, env):
            words += [f"{index}_in{j or ''}" for j, c in enumerate(condition.split(" -> ")) if c]
        return f"intros {' '.join(words)}." if words else ""

    def goal(self, line: Line) -> Said:
        return self.setting.said(line.sentence, {**self.env, **self.fixed, **dict(line.place)})

    def moved(self, sentence: Sentence, put: Mapping[str, str]) -> Sentence:
        """A sentence at other indices."""
        new = {index: parse_expression(str(text)) for index, text in put.items()}
        words = self.setting.claim.vocabulary

        def change(e: Expression, here: Mapping[str, Expression]) -> Expression:
            if isinstance(e, Name):
                if e.name in words.definitions:
                    return change(words.definitions[e.name], here)
                if index_of(e.name)[1] in here:
                    raise NotExportedError(f"{e.name} at another index is not exported yet")
                return here.get(e.name, e)
            if isinstance(e, At):
                return At(e.name, tuple(change(i, here) for i in e.indices))
            if isinstance(e, Apply):
                if e.operation in OVER:
                    here = {key: value for key, value in here.items() if key != OVER[e.operation][1]}
                return applied(e.operation, tuple(change(a, here) for a in parts(e)))
            return e

        return Sentence(change(sentence.left, new), sentence.relation, change(sentence.right, new))

    def find(self, text: str) -> Line:
        if text in self.scope:
            return self.scope[text]
        try:
            key = str(parse_sentence(text))
        except ValueError:
            key = text
        if key in self.scope:
            return self.scope[key]
        raise NotExportedError(f"there is no line {text!r}")

    def put_at(self, put: Mapping[str, str]) -> dict[str, Nat]:
        env = {**self.env, **self.fixed}
        return {index: self.setting.nat(parse_expression(str(text)), env) for index, text in put.items()}

    def expression(self, text: Any) -> Term:
        return self.setting.term(parse_expression(str(text)), {**self.env, **self.fixed})

    def turns_of_part(self, index: str, part: Written) -> Nat:
        """Up to where h or j goes in a part."""
        trees = [parse_expression(str(part[key])) for key in ("times", "of") if key in part]
        if "line" in part:
            sentence = self.find(part["line"]).sentence
            trees += [sentence.left, sentence.right]
        return self.setting.turns_of(index, *trees)

    def inner_type(self, sentence: Sentence, free: tuple[str, ...], on: str, k: Nat) -> str:
        kept = self.fixed
        self.fixed = {**self.fixed, on: k}
        try:
            return self.type_of(Line("", sentence, free))
        finally:
            self.fixed = kept
