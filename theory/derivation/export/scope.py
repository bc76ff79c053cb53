"""Lines in scope: for which indices each is said, and how Rocq is told which is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from theory.derivation.export.forms import NotExportedError, under
from theory.derivation.export.names import Env, Said
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    Nat,
    Term,
    name,
    nat_text,
)  # fmt: skip
from theory.formula import Name
from theory.sentence import (
    At,
    Sentence,
    everything,
    everything_meant,
    parse_expression,
    parse_sentence,
    read,
)

INDICES = ("K", "k", "h", "n", "i", "w")
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
    """

    coq: str
    sentence: Sentence
    free: tuple[str, ...]
    start: int = 0
    within: str = ""
    place: tuple[tuple[str, Nat], ...] = ()


@dataclass
class Scope:
    """The lines of one derivation that are there, at indices that are there."""

    setting: Setting
    scope: dict[str, Line] = field(default_factory=dict)
    env: dict[str, Nat] = field(default_factory=dict)
    fixed: dict[str, Nat] = field(default_factory=dict)
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

    def reach(self, sentence: Sentence, index: str = "k") -> int:
        """How many rounds after round k the sentence looks: those that have ended, of states, or have begun, of taps;
        or how many turns after turn h."""
        words = self.setting.claim.vocabulary
        found = 0
        for side in (sentence.left, sentence.right):
            for part in everything_meant(side, words):
                if not isinstance(part, At) or len(part.indices) <= "kh".index(index):
                    continue
                at = part.indices["kh".index(index)]
                if Name(index) in everything(at):
                    nat = self.setting.nat(at, {index: name(index)})
                    found = max(found, nat.constant + int(index == "k" and part.name in words.taps))
        return found

    def bounds(self, line: Line, env: Env) -> list[tuple[str, str]]:
        """The free indices with what is assumed of each, as types."""
        found = []
        for index in line.free:
            at = nat_text(env[index])
            if index == "k":
                conditions = []
                if self.setting.random:
                    conditions.append(f"({nat_text(env['k'].shifted(self.reach(line.sentence)))} <= rounds)%nat")
                if line.start:
                    conditions.append(f"({line.start} <= {at})%nat")
                if "k" in line.within:
                    conditions.append(f"({at} < {nat_text({'K': name('K'), **env}['K'])})%nat")
            elif index == "h":
                turns = nat_text(self.setting.turns_of(line.sentence.left, line.sentence.right))
                furthest = nat_text(env["h"].shifted(self.reach(line.sentence, "h")))
                conditions = [f"({furthest} {'<' if 'h' in line.within else '<='} {turns})%nat"]
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
        if missing:
            raise NotExportedError(f"{line.sentence} is for every {missing[0]}, which is not there")
        if any(env[index] == name(index) for index in line.within if index not in given):
            raise NotExportedError(f"{line.sentence}, for {line.within} beyond the sum, is not exported yet")
        words = [line.coq]
        words += [nat_text(env[index]) for index in line.free]
        for _, condition in self.bounds(line, env):
            words += ["ltac:(side)"] * len([c for c in condition.split(" -> ") if c])
        here = {**env, **dict(line.place)}
        return self.setting.said(line.sentence, here), f"({' '.join(words)})" if len(words) > 1 else line.coq

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
        """What a theorem says that ends with this line, and what proves it: turns of a loop end before its count."""
        if "h" not in line.free:
            return self.type_of(line), f"exact {line.coq}."
        own = replace(line, within=line.within + "h")
        return self.type_of(own), f"intros {' '.join(line.free)}; intros; apply {line.coq}; side."

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

    def turns_of_part(self, part: Written) -> Nat:
        """Up to where h goes in a part."""
        trees = [parse_expression(str(part[key])) for key in ("times", "of") if key in part]
        if "line" in part:
            sentence = self.find(part["line"]).sentence
            trees += [sentence.left, sentence.right]
        return self.setting.turns_of(*trees)

    def inner_type(self, sentence: Sentence, free: tuple[str, ...], on: str, k: Nat) -> str:
        kept = self.fixed
        self.fixed = {**self.fixed, on: k}
        try:
            return self.type_of(Line("", sentence, free))
        finally:
            self.fixed = kept
