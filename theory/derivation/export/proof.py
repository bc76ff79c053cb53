"""A derivation as a proof script: every line becomes an assertion, proved from those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from theory.derivation.export import axioms, inductions, rules
from theory.derivation.export.closing import Closing
from theory.derivation.export.combining import by_combination
from theory.derivation.export.forms import Lines, NotExportedError, block
from theory.derivation.export.replacing import by_replace
from theory.derivation.export.scope import BeyondError, Line, Written
from theory.derivation.export.terms import (
    Nat,
    name,
)  # fmt: skip
from theory.sentence import (
    Sentence,
    parse_expression,
    parse_sentence,
)

RULES: Mapping[str, Callable[[Proof, Written, Line], Lines]] = {
    "hypothesis": rules.by_hypothesis,
    "domain": rules.by_domain,
    "assumption": rules.by_assumption,
    "axiom": axioms.by_axiom,
    "combination": by_combination,
    "step": rules.by_step,
    "replace": by_replace,
    "at": rules.by_at,
    "mean": rules.by_mean,
    "induction": inductions.by_induction,
    "cases": inductions.by_cases,
    "zero": rules.by_zero,
    "single": rules.by_single,
    "root": rules.by_root,
    "power": rules.by_power,
}


@dataclass
class Proof(Closing):
    """The script of one derivation."""

    def lines(
        self, written: Sequence[Written], last: Sentence | None, place: tuple[tuple[str, Nat], ...] = ()
    ) -> Lines:
        """The script of a list of lines; the last one is `last` at `place` where it says no sentence."""
        out: Lines = []
        self.made: list[Line] = []
        made: list[Line] = []
        for i, one in enumerate(written):
            text = one.get("sentence")
            here: tuple[tuple[str, Nat], ...] = ()
            if text is not None:
                sentence = parse_sentence(text)
            elif one["by"] == "assumption" and i + 1 < len(written):
                sentence = self._said_by_assumption(one)
            elif one["by"] == "at" and i + 1 < len(written):
                sentence = self.moved(self.find(one["line"]).sentence, one.get("put", {}))
            elif last is not None and i + 1 == len(written):
                sentence, here = last, place
            else:
                raise NotExportedError(f"the line {one.get('name')!r} has no sentence")
            line, proof = self.line(one, sentence, here)
            label = str(one.get("name", f"line {i + 1}"))
            line = replace(line, coq=self.fresh_name(label))
            out.append(f"(* {in_comment(label)}: {in_comment(str(sentence))}; {one['by']} *)")
            out += [f"assert ({line.coq} : {self.type_of(line)}).", *block(proof)]
            self.scope[label] = line
            made.append(line)
        self.made = made
        self.last = made[-1]
        return out

    def _said_by_assumption(self, one: Written) -> Sentence:
        from theory.derivation.schemas import instance

        at = {key: parse_expression(str(text)) for key, text in one.get("at", {}).items()}
        return instance(self.setting.claim, one["schema"], list(one.get("of", ())), at, one.get("on", ""))[0]

    def line(self, one: Written, sentence: Sentence, place: tuple[tuple[str, Nat], ...] = ()) -> tuple[Line, Lines]:
        rule = RULES.get(one["by"])
        if rule is None:
            raise NotExportedError(f"the rule {one['by']} is not exported yet (line {one.get('name')!r})")
        free = self.free_in(sentence)
        if one["by"] == "induction" and one.get("on") == "K" and "K" not in self.fixed:
            free = ("K", *free)
        within = str(one["over"])[-1] if one["by"] == "axiom" and str(one.get("over"))[:3] in ("max", "min") else ""
        within = "j" if one["by"] == "axiom" and one["schema"] == "tail" else within
        line = Line("", sentence, free, within=within if within in "khj" and within in free else "", place=place)
        while True:
            self.skipped = None
            try:
                return line, self._ruled(rule, one, line)
            except NotExportedError as error:  # a line that it uses is said no further: then neither is this one
                beyond = error if isinstance(error, BeyondError) else self.skipped
                if beyond is None or beyond.index not in free or further(line, beyond) == line:
                    raise
                line = further(line, beyond)

    def _ruled(self, rule: Callable[[Proof, Written, Line], Lines], one: Written, line: Line) -> Lines:
        kept = self.scope, self.env, self.fixed, self.current, self.below
        self.current = line
        self.env = {**self.env, **{index: name(index) for index in line.free if index != "K"}}
        intro = self.intro(line)
        try:
            proof = rule(self, one, line)
        finally:
            self.scope, self.env, self.fixed, self.current, self.below = kept
        return [*([intro] if intro and one["by"] != "induction" else []), *proof]


def further(line: Line, error: BeyondError) -> Line:
    """A line that is said as far as one that it uses."""
    if error.to_the_end:
        return replace(line, to_the_end=True)
    if not error.further:
        return replace(line, within="".join(dict.fromkeys(line.within + error.index)))
    return replace(line, further=tuple({**dict(line.further), error.index: error.further}.items()))


def in_comment(text: str) -> str:
    """Words as they may stand in a comment of Rocq."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
