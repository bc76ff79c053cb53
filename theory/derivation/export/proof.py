"""A derivation as a proof script: every line becomes an assertion, proved from those before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from theory.derivation.export import schemas
from theory.derivation.export.laws import Laws
from theory.derivation.export.normal import Lines, Normal, NotExportedError, Poly, block, poly_term, under
from theory.derivation.export.rounds import round_of
from theory.derivation.export.signs import Fact, Signs, ratio, vanishes
from theory.derivation.export.statement import Env, Said, Setting, safe
from theory.derivation.export.terms import (
    ONE,
    ZERO,
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Num,
    Op,
    Pow,
    Term,
    Vec,
    add,
    count,
    minus,
    name,
    nat_text,
    put,
    text_of,
    times,
)  # fmt: skip
from theory.derivation.export.terms import everything as all_parts
from theory.formula import Name
from theory.predicates import predicate
from theory.sentence import (
    At,
    Expression,
    Sentence,
    everything,
    everything_meant,
    index_of,
    parse_call,
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
class Proof:
    """The script of one derivation."""

    setting: Setting
    scope: dict[str, Line] = field(default_factory=dict)
    env: dict[str, Nat] = field(default_factory=dict)
    fixed: dict[str, Nat] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.laws = Laws(self.setting)
        batches = frozenset(d.batch for d in self.laws.draws.values() if d.batch is not None)
        self.normal = Normal(self._no_unfolding, self._nonzero, lambda _: None, self._flip, self._sign, batches)
        self.unfolding = Normal(self._unfold, self._nonzero, self.laws.apply, self._flip, self._sign, batches)
        self.unfolding._used = 100_000
        self.signs = Signs(self.normal, self._low, self._facts, self.equation)
        for one, relation in zip(self.setting.claim.assumptions, self.setting.claim.assumptions, strict=True):
            if isinstance(relation, Sentence):
                free = self._free(relation)
                self.scope[str(relation)] = Line(self.setting.hypothesis_of(one), relation, free)

    # what the algorithm makes of a state

    def _no_unfolding(self, v: Vec) -> tuple[Term, str] | None:
        return self._unfold(v) if v.args and v.args[0] == count(0) and self._is_state(v) else None

    def _is_state(self, v: Vec) -> bool:
        program = self.setting.program
        return program is not None and v.head in {safe(s.name) for s in program.state}

    def _unfold(self, v: Vec) -> tuple[Term, str] | None:
        return None if self.setting.program is None else round_of(self.setting).unfolded(v)

    def _flip(self, t: Term) -> str | None:
        if not isinstance(t, App) or not t.head.startswith("drawn_"):
            return None
        at = [nat_text(a) for a in t.args]  # type: ignore[arg-type]
        return f"({t.head}_range {' '.join(at)}{' ltac:(side)' * len(at)})"

    # what is known of signs

    def _sign(self, t: Term, strict: bool) -> Lines | None:
        return self.signs.prove(t, strict)

    def _low(self, t: App) -> tuple[str, str] | None:
        for symbol in self.setting.symbols:
            base, index = index_of(symbol)
            domain = self.setting.claim.domains[base]
            if safe(base) != t.head or self.setting.whole(symbol) or domain.lower is None or domain.lower < 0:
                continue
            at = f" {nat_text(t.args[0])}" + (" ltac:(side)" if index == "n" else "") if index else ""  # type: ignore[arg-type]
            strict = domain.lower > 0 or domain.lower_open
            proof = f"({safe(base)}_low{at})"
            if domain.lower > 0:
                proof = f"ltac:(pose proof {proof}; lra)"
            return ("<" if strict else "<="), proof
        return None

    def _nonzero(self, t: Term) -> bool:
        if isinstance(t, App) and t.head == "INR":
            nat = t.args[0]
            assert isinstance(nat, Nat)
            if len(nat.terms) != 1 or nat.constant < 0:
                return nat.constant > 0 and all(n > 0 for _, n in nat.terms)
            word = nat.terms[0][0].split()[0]
            if nat.constant > 0 or word in ("N", "samples", "d") or (word == "K" and "K" not in self.fixed):
                return True
            return any(
                safe(s) == word and (s in self.setting.counts or (self.setting.claim.domains[s].lower or 0) >= 1)
                for s in self.setting.symbols
                if self.setting.integer(s)
            )
        return isinstance(t, App) and (self._low(t) or ("", ""))[0] == "<"

    def _facts(self) -> Sequence[Fact]:
        found = []
        for line in self.scope.values():
            if all(index in self.env for index in line.free):
                try:
                    said, proof = self.at(line, {})
                except NotExportedError:
                    continue
                found.append(Fact(said.left, said.relation, said.right, proof))
        return [*found, *self._domains()]

    def _domains(self) -> list[Fact]:
        """What the domains of parameters say."""
        found = []
        for word, type_ in self.setting.hypotheses:
            if word.endswith("_dom") and type_.startswith("(1 <= "):
                nat = App("INR", (name(word.removesuffix("_dom")),))
                found.append(Fact(ONE, "<=", nat, f"(one_le_INR _ {word})"))
        for symbol in self.setting.symbols:
            base, index = index_of(symbol)
            domain = self.setting.claim.domains[base]
            if self.setting.whole(symbol) or index not in ("", "n", "k") or (index and index not in self.env):
                continue
            at = self.env.get(index)
            number = App(safe(base), () if at is None else (at,))
            proof = safe(base), "" if at is None else f" {nat_text(at)}" + (" ltac:(side)" if index == "n" else "")
            for end, strict, suffix in (
                (domain.lower, domain.lower_open, "low"),
                (domain.upper, domain.upper_open, "top"),
            ):
                if end is not None and not (suffix == "low" and end == 0):
                    value = Num(Fraction(end))
                    pair: tuple[Term, Term] = (value, number) if suffix == "low" else (number, value)
                    found.append(Fact(pair[0], "<" if strict else "<=", pair[1], f"({proof[0]}_{suffix}{proof[1]})"))
        return found

    # equations

    def equation(self, left: Term, right: Term, unfold: bool = False) -> Lines | None:
        """The script that proves ``left = right``; None where it is not so."""
        proof = self.zero(minus(left, right), unfold)
        return None if proof is None else ["apply Rminus_diag_uniq.", *proof]

    def zero(self, t: Term, unfold: bool = False) -> Lines | None:
        """The script that proves ``t = 0``; None where it is not so."""
        normal = self.unfolding if unfold else self.normal
        poly, lines = normal.alone(t)
        if not vanishes(poly):
            return None
        if not poly:
            return lines
        return [f"transitivity ({text_of(poly_term(poly))}).", *block(lines), *self._vanishing(poly)]

    def _vanishing(self, poly: Poly) -> Lines:
        """``form = 0`` of a rational function that is 0."""
        form = poly_term(poly)
        heavy: dict[Term, str] = {}
        divisors: dict[Term, None] = {}

        def collect(t: Term) -> None:
            if isinstance(t, Inv):
                divisors.setdefault(t.of)
                collect(t.of)
            elif isinstance(t, Op) or (isinstance(t, Pow) and not t.exponent.terms):
                for part in t.args if isinstance(t, Op) else (t.base,):
                    collect(part)
            elif not isinstance(t, Num):
                heavy.setdefault(t, f"a{len(heavy)}")

        collect(form)
        c = self.normal.fresh("C")
        given = "".join(f"{text_of(d, heavy)} <> 0 -> " for d in divisors)
        head = f"forall {' '.join(heavy.values())} : R, " if heavy else ""
        lines = [
            f"assert ({c} : {head}{given}{text_of(form, heavy)} = 0).",
            "{ intros. field. repeat split; nonzero. }",
        ]
        if not divisors:
            lines[1] = "{ intros. field. }"
        proofs = []
        for d in divisors:
            h = self.normal.fresh("D")
            lines += [f"assert ({h} : {text_of(d)} <> 0).", *block(self._not_zero(d))]
            proofs.append(h)
        values = [text_of(a, outer=9) for a in heavy]
        return [*lines, f"exact ({' '.join([c, *values, *proofs])})."]

    def _not_zero(self, d: Term) -> Lines:
        if self._nonzero(d):
            return ["nonzero."]
        proof = self.signs.prove(d, True)
        if proof is not None:
            return ["apply Rgt_not_eq.", *(["unfold Rgt."]), *proof]
        negative = minus(ZERO, d)
        proof = self.signs.prove(negative, True)
        if proof is not None:
            return [f"apply Rlt_not_eq, (Rminus_lt_0_rev {text_of(d, outer=9)}).", *proof]
        for origin in (*self.normal.origins.get(d, ()), *self.unfolding.origins.get(d, ())):
            proof, equal = self.signs.prove(origin, True), self.equation(d, origin)
            if proof is not None and equal is not None:
                h = self.normal.fresh("E")
                return [f"assert ({h} : {text_of(d)} = {text_of(origin)}).", *block(equal),
                        f"rewrite {h}. apply Rgt_not_eq. unfold Rgt.", *proof]  # fmt: skip
        raise NotExportedError(f"that {text_of(d)} is not 0 is not proved")

    # lines

    def _free(self, sentence: Sentence) -> tuple[str, ...]:
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
            elif last is not None and i + 1 == len(written):
                sentence, here = last, place
            else:
                raise NotExportedError(f"the line {one.get('name')!r} has no sentence")
            line, proof = self.line(one, sentence, here)
            label = str(one.get("name", f"line {i + 1}"))
            line = replace(line, coq=self.fresh_name(label))
            out.append(f"(* {_comment(label)}: {_comment(str(sentence))}; {one['by']} *)")
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
        rule = getattr(self, f"_by_{one['by'].replace(' ', '_')}", None)
        if rule is None:
            raise NotExportedError(f"the rule {one['by']} is not exported yet (line {one.get('name')!r})")
        free = self._free(sentence)
        if one["by"] == "induction" and one.get("on") == "K" and "K" not in self.fixed:
            free = ("K", *free)
        within = str(one["over"])[-1] if one["by"] == "axiom" and str(one.get("over"))[:3] in ("max", "min") else ""
        line = Line("", sentence, free, within=within if within in "kh" and within in free else "", place=place)
        kept = self.env
        self.env = {**self.env, **{index: name(index) for index in line.free if index != "K"}}
        intro = self._intro(line)
        try:
            proof = rule(one, line)
        finally:
            self.env = kept
        return line, [*([intro] if intro and one["by"] != "induction" else []), *proof]

    def _intro(self, line: Line) -> str:
        env = {**self.fixed, **{index: name(index) for index in line.free}}
        words = list(line.free)
        if "K" in words:
            return ""
        for index, condition in self.bounds(line, env):
            words += [f"{index}_in{j or ''}" for j, c in enumerate(condition.split(" -> ")) if c]
        return f"intros {' '.join(words)}." if words else ""

    def goal(self, line: Line) -> Said:
        return self.setting.said(line.sentence, {**self.env, **self.fixed, **dict(line.place)})

    # rules

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

    def _close(self, goal: Said, parts: Sequence[tuple[Term, Lines, bool]], unfold: bool = False) -> Lines:
        """The goal from terms that are not negative (positive; 0 for an equation), with what proves each."""
        total: Term = parts[0][0] if parts else ZERO
        for d, _, _ in parts[1:]:
            total = add(total, d)
        lemma = {"<=": "close_le", "<": "close_lt", "==": "close_eq"}[goal.relation]
        lines = [f"apply {lemma} with (d := {text_of(total)})."]
        whole = minus(minus(goal.right, goal.left), total)
        proof = self.zero(whole, unfold)
        if proof is None:
            form = text_of(poly_term((self.unfolding if unfold else self.normal).norm(whole)[0]))
            raise NotExportedError(f"the parts of {goal.text} do not add up: {form[:300]} is left")
        if goal.relation == "<" and not any(strict for _, _, strict in parts):
            raise NotExportedError(f"no part of {goal.text} is strict")
        return [*lines, *block(proof), *self._sum(goal.relation, parts)]

    def _sum(self, relation: str, parts: Sequence[tuple[Term, Lines, bool]]) -> Lines:
        if not parts:
            return ["right. reflexivity." if relation == "<=" else "reflexivity."]
        if len(parts) == 1:
            return list(parts[0][1])
        *most, last = parts
        if relation == "==":
            total = most[0][0]
            for d, _, _ in most[1:]:
                total = add(total, d)
            lines = ["rewrite <- (Rplus_0_r 0). apply f_equal2."]
            return [*lines, *block(self._sum(relation, most)), *last[1]]
        if relation == "<":
            if any(strict for _, _, strict in most):
                return ["apply Rplus_lt_le_0_compat.", *block(self._sum("<", most)), *last[1]]
            return ["apply Rplus_le_lt_0_compat.", *block(self._sum("<=", most)), *last[1]]
        return ["apply Rplus_le_le_0_compat.", *block(self._sum(relation, most)), *last[1]]

    def _by_hypothesis(self, one: Written, line: Line) -> Lines:
        said, proof = self.at(self.find(str(line.sentence)), {})
        if said == self.goal(line):
            return [f"exact {proof}."]
        return self._from([(said, proof)], line)

    def _from(self, given: Sequence[tuple[Said, str]], line: Line) -> Lines:
        goal = self.goal(line)
        parts = [self._part(said, proof, ONE, goal.relation) for said, proof in given]
        return self._close(goal, parts)

    def _part(self, said: Said, proof: str, by: Term, relation: str) -> tuple[Term, Lines, bool]:
        d = times(by, minus(said.right, said.left))
        if relation == "==":
            if said.relation != "==":
                raise NotExportedError(f"an equation from {said.text}")
            return d, [f"apply part_eq. exact {proof}."], False
        if said.relation == "==":
            return d, [f"apply part_eq_le. exact {proof}."], False
        if relation == "<" and said.relation == "<":
            positive = self.signs.prove(by, True)
            if positive is not None:
                return d, ["apply part_lt.", *block(positive), f"exact {proof}."], True
        sign = self.signs.prove(by)
        if sign is None:
            raise NotExportedError(f"that {text_of(by)} is not negative is not exported yet")
        return (
            d,
            [f"apply {'part_lt_le' if said.relation == '<' else 'part_le'}.", *block(sign), f"exact {proof}."],
            False,
        )

    def _by_domain(self, one: Written, line: Line) -> Lines:
        facts = []
        for symbol in self.setting.symbols:
            base, index = index_of(symbol)
            if index:
                continue
            domain = self.setting.claim.domains[base]
            word, whole = safe(base), self.setting.whole(symbol)
            ends = [e for e, v in (("dom", whole), ("low", not whole and domain.lower is not None)) if v]
            ends += ["top"] if domain.upper is not None else []
            for end in ends:
                facts.append(f"pose proof (le_INR _ _ {word}_{end})." if whole else f"pose proof {word}_{end}.")
        said = self.goal(line)
        for word in sorted({text_of(t.args[0]) for side in (said.left, said.right) for t in all_parts(side)
                            if isinstance(t, App) and t.head == "INR"}):  # fmt: skip
            facts.append(f"pose proof (pos_INR {word}).")
            facts.append(f"try (pose proof (le_INR 1 {word} ltac:(counts))).")
        return [*facts, "simpl INR in *; lra."]

    def _by_combination(self, one: Written, line: Line) -> Lines:
        goal = self.goal(line)
        parts = []
        for part in one.get("parts", ()):
            parts.append(self._over(part, lambda part=part: self._one(part, goal.relation), goal.relation))
        for square in one.get("squares", ()):
            parts.append(self._over(square, lambda square=square: self._square(square), goal.relation))
        return self._close(goal, parts)

    def _one(self, part: Written, relation: str) -> tuple[Term, Lines, bool]:
        line = self.find(part["line"])
        said, proof = self.at(line, self._put(part.get("put", {})))
        return self._part(said, proof, self.expression(part.get("times", "1")), relation)

    def _put(self, put: Mapping[str, str]) -> dict[str, Nat]:
        env = {**self.env, **self.fixed}
        return {index: self.setting.nat(parse_expression(str(text)), env) for index, text in put.items()}

    def expression(self, text: Any) -> Term:
        return self.setting.term(parse_expression(str(text)), {**self.env, **self.fixed})

    def _square(self, square: Written) -> tuple[Term, Lines, bool]:
        tree = parse_expression(square["of"])
        of = self.setting.term(tree, {**self.env, **self.fixed})
        vector = read(tree, self.setting.claim.vocabulary).shape == "vector"
        whole = Ip(of, of) if vector else Pow(of, count(2))
        by = self.expression(square.get("times", "1"))
        sign = self.signs.prove(by)
        if sign is None:
            raise NotExportedError(f"that {text_of(by)} is not negative is not exported yet")
        return (
            times(by, whole),
            ["apply Rmult_le_pos.", *block(sign), f"apply {'ip_nonneg' if vector else 'pow2_ge_0'}."],
            False,
        )

    def _over(self, part: Written, core: Any, relation: str) -> tuple[Term, Lines, bool]:
        """A part under its means and expectations, from the outside in."""
        kept = self.env
        opened: list[tuple[str, Nat | str, str]] = []
        try:
            for over in part.get("over", ()):
                if over == "E":
                    if not self.setting.random:
                        continue
                    var = self.setting.fresh("w", {**self.env, **self.fixed})
                    opened.append(("E", "Pr", var))
                    self.env = {**self.env, "w": name(var)}
                elif over == "mean_n":
                    var = self.setting.fresh("n", {**self.env, **self.fixed})
                    opened.append(("mean", name("N"), var))
                    self.env = {**self.env, "n": name(var)}
                elif over == "mean_i":
                    var = self.setting.fresh("i", {**self.env, **self.fixed})
                    opened.append(("mean", name(f"samples {nat_text(self.env['n'])}"), var))
                    self.env = {**self.env, "i": name(var)}
                elif over in ("sum_n", "sum_k", "mean_k", "sum_h", "mean_h"):
                    how, index = over.split("_")
                    var = self.setting.fresh(index, {**self.env, **self.fixed})
                    bound = name("N") if index == "n" else {"K": name("K"), **self.env, **self.fixed}["K"]
                    bound = self._turns_of_part(part) if index == "h" else bound
                    opened.append((how, bound, var))
                    self.env = {**self.env, index: name(var)}
                else:
                    raise NotExportedError(f"a part over {over} is not exported yet")
            term, lines, strict = core()
        finally:
            self.env = kept
        for kind, end, var in reversed(opened):
            term = Bind(kind, end, var, term)
            lt = self.normal.fresh("lt")
            if relation == "==":
                lines = [f"apply {kind}_eq_zero; intros {var} {lt}.", *lines]
            else:
                lines = [f"apply {kind}_nonneg;{' [counts|];' if kind == 'mean' else ''} intros {var} {lt}.", *lines]
            strict = False
        return term, lines, strict

    def _turns_of_part(self, part: Written) -> Nat:
        """Up to where h goes in a part."""
        trees = [parse_expression(str(part[key])) for key in ("times", "of") if key in part]
        if "line" in part:
            sentence = self.find(part["line"]).sentence
            trees += [sentence.left, sentence.right]
        return self.setting.turns_of(*trees)

    def _by_at(self, one: Written, line: Line) -> Lines:
        other = self.find(one["line"])
        vectors = [key for key in one.get("put", {}) if key not in ("k", "n", "i", "h", "K")]
        if vectors:
            raise NotExportedError(f"a line at another {vectors[0]} is not exported yet")
        return self._from([self.at(other, self._put(one.get("put", {})))], line)

    def _by_mean(self, one: Written, line: Line) -> Lines:
        return self._by_combination({"parts": [{"line": one["line"], "over": one["over"]}]}, line)

    def _by_step(self, one: Written, line: Line) -> Lines:
        goal = self.goal(line)
        lines = self.equation(goal.left, goal.right, True)
        if lines is None:
            form = text_of(poly_term(self.unfolding.norm(minus(goal.left, goal.right))[0]))
            raise NotExportedError(f"{goal.text} is not what the round says: {form[:300]} is left")
        start = [] if goal.relation == "==" else ["right."]
        return [*start, *lines]

    def _by_assumption(self, one: Written, line: Line) -> Lines:
        given = one.get("at", {})
        env = {**self.env, **self.fixed}
        points = {key: self.setting.term(parse_expression(text), env) for key, text in given.items() if key in "xyv"}
        of = []
        for text in one.get("of", ()):
            call = parse_call(text)
            assert call is not None
            of.append(predicate(*call))
        said, proof = schemas.instance(self.setting, one["schema"], of, one.get("on", ""), points, env)
        return self._scaled(said, proof, line)

    def _scaled(self, said: Said, proof: str, line: Line) -> Lines:
        """A line that is an instance, up to a positive rational."""
        goal = self.goal(line)
        h = self.normal.fresh("H")
        lines = [f"assert ({h} : {said.text}).", *block([f"exact {proof}." if not proof.endswith(".") else proof])]
        c = ratio(self.normal, minus(goal.right, goal.left), minus(said.right, said.left))
        if c is None or (c <= 0 and said.relation != "=="):
            raise NotExportedError(f"{line.sentence} is not the schema's sentence {said.text}")
        return [*lines, *self._close(goal, [self._part(said, h, Num(c), goal.relation)])]

    def _by_axiom(self, one: Written, line: Line) -> Lines:
        if one["schema"] in ("telescope", "extreme"):
            how, index = str(one["over"]).split("_")
            return self._over_index(line, parse_expression(str(one["of"][0])), how, index)
        given = [self.expression(text) for text in one.get("of", ())]
        goal = self.goal(line)
        return schemas.axiom(one["schema"], given, goal, self)

    def _over_index(self, line: Line, e: Expression, how: str, index: str) -> Lines:
        """A sum that telescopes, or one of the numbers of which a maximum is taken."""
        env = {"K": name("K"), **self.env, **self.fixed}
        bound = {"n": name("N"), "k": env["K"]}.get(index)
        if index == "h":
            bound = self.setting.turns_of(e)
        if bound is None or (how == "sum" and index not in "kh"):
            raise NotExportedError(f"{how}_{index} of an axiom is not exported yet")
        var = self.setting.fresh(index, env)

        def at(k: Nat) -> Term:
            return self.setting.term(e, {**env, index: k})

        body, h = at(name(var)), self.normal.fresh("H")
        if how == "sum":
            each = Bind("sum", bound, var, minus(at(name(var).shifted(1)), body))
            said = Said(each, "==", minus(at(bound), at(count(0))))
            proof = f"exact (sum_telescope {nat_text(bound)} (fun {var} => {text_of(body)}))."
        else:
            whole = Bind({"max": "maxi", "min": "mini"}[how], bound, var, body)
            one = at(env[index])
            said = Said(one, "<=", whole) if how == "max" else Said(whole, "<=", one)
            of = f"{nat_text(bound)} (fun {var} => {text_of(body)}) {nat_text(env[index])}"
            proof = f"exact ({whole.kind}_le {of} ltac:(side))."
        script = self._scaled_from(self.goal(line), said, h)
        if script is None:
            raise NotExportedError(f"{line.sentence} is not what its axiom says")
        return [f"assert ({h} : {said.text}).", *block([proof]), *script]

    def _by_induction(self, one: Written, line: Line) -> Lines:
        on = one.get("on", "k")
        if on not in ("k", "h", "K"):
            raise NotExportedError(f"induction on {on} is not exported yet")
        if on not in line.free:
            raise NotExportedError(f"an induction on {on} of a sentence without it, or inside another")
        start, var = (1, "Kc") if on == "K" else (0, on)
        sentences = [parse_sentence(s) for s in one.get("sentences") or ()] or [line.sentence]
        frees = [tuple(i for i in self._free(s) if i != on) for s in sentences]
        kept = dict(self.scope), self.env, self.fixed
        self.env, self.fixed = {}, {**kept[2], on: count(start)}
        base = self._ending(one["base"], sentences, frees, line, on, count(start))
        self.scope, self.fixed = dict(kept[0]), {**kept[2], on: name(var)}
        hypotheses = ["IH"] if len(sentences) == 1 else [f"IH {j + 1}" for j in range(len(sentences))]
        for text, s, free in zip(hypotheses, sentences, frees, strict=True):
            self.scope[text] = Line(text.replace(" ", "_"), s, free)
        if len(sentences) > 1:
            self.scope["IH"] = self.scope["IH 1"]
        step = self._ending(one["step"], sentences, frees, line, on, name(var).shifted(1))
        self.scope, self.env, self.fixed = kept
        reach = max(self.reach(s, on) for s in sentences) if on != "K" else 0
        trees = [side for s in sentences for side in (s.left, s.right)]
        end = nat_text(self.setting.turns_of(*trees)) if on == "h" else "rounds"
        room = f"({nat_text(name(var).shifted(reach))} <= {end})%nat -> " if self.setting.random or on == "h" else ""
        before = [self._inner_type(s, free, on, name(var)) for s, free in zip(sentences, frees, strict=True)]
        q = " /\\ ".join(f"({text})" for text in before)
        names = [text.replace(" ", "_") for text in hypotheses]
        pattern = names[-1]
        for word in names[-2::-1]:
            pattern = f"[{word} {pattern}]"
        if room:
            opened = f"assert (Now : {q}) by (apply Before; lia)."
            step = [f"intros {var} {var}_from Before room.", opened, f"destruct Now as {pattern}." if len(names) > 1
                    else "rename Now into IH.", *step]  # fmt: skip
        else:
            step = [f"intros {var} {var}_from Before.",
                    f"destruct Before as {pattern}." if len(names) > 1 else "rename Before into IH.",
                    *step]  # fmt: skip
        base = ["intros room.", *base] if room else base
        property_ = f"fun {var} : nat => {room}({q})"
        script = [
            f"assert (Q : forall {var} : nat, ({start} <= {var})%nat -> {room}({q})).",
            *block([f"apply (from_nat {start} ({property_})).", *block(base), *block(step)]),
        ]
        which = next((j for j, s in enumerate(sentences) if str(s) == str(line.sentence)), None)
        if which is None:
            raise NotExportedError("an induction whose line is none of its sentences is not exported yet")
        words = ["intros", *(VARIABLE.get(i, i) for i in line.free)]
        proof = f"(Q {VARIABLE.get(on, on)} ltac:(lia){' ltac:(lia)' if room else ''})"
        for _ in range(which):
            proof = f"(proj2 {proof})"
        if which < len(sentences) - 1:
            proof = f"(proj1 {proof})"
        rest = [i for i in line.free if i != on]
        tail = "".join(" " + i for i in rest) + " ltac:(side)" * len([i for i in rest if i != "h"])
        return [*script, " ".join(words) + "; intros.", f"exact ({proof}{tail})."]

    def _ending(
        self, written: Sequence[Written], sentences: Sequence[Sentence], frees: Sequence[tuple[str, ...]], line: Line,
        on: str, k: Nat,
    ) -> Lines:  # fmt: skip
        """Lines that end with the induction's sentences at k."""
        inner = self.lines(written, line.sentence, ((on, k),))
        made = list(self.made)
        kept = self.env
        proofs: list[Lines] = []
        for s, rest in zip(sentences, frees, strict=True):
            here = Line("", s, rest, place=((on, k),))
            self.env = {**kept, **{index: name(index) for index in rest}}
            intro = self._intro(here)
            try:
                proofs.append([*([intro] if intro else []), *self._from_any(made, here)])
            finally:
                self.env = kept
        if len(proofs) == 1:
            return [*inner, *proofs[0]]
        return [*inner, "repeat apply conj.", *(text for one in proofs for text in block(one))]

    def _from_any(self, made: Sequence[Line], here: Line) -> Lines:
        """A line from one of these."""
        goal = self.goal(here)
        why: NotExportedError | None = None
        for one in reversed(made):
            try:
                said, proof = self.at(one, {})
                if said == goal:
                    return [f"same {proof}."]
                return self._close(goal, [self._part(said, proof, ONE, goal.relation)])
            except NotExportedError as error:
                why = why or error
        raise why or NotExportedError("there is no line")

    def _inner_type(self, sentence: Sentence, free: tuple[str, ...], on: str, k: Nat) -> str:
        kept = self.fixed
        self.fixed = {**self.fixed, on: k}
        try:
            return self.type_of(Line("", sentence, free))
        finally:
            self.fixed = kept

    def _by_cases(self, one: Written, line: Line) -> Lines:
        on = parse_sentence(one["on"])
        if on.relation != "<=":
            raise NotExportedError(f"cases on {on}")
        said = self.setting.said(on, {**self.env, **self.fixed})
        kept = dict(self.scope), self.env, self.fixed
        out = [f"destruct (Rle_or_lt {text_of(said.left, outer=9)} {text_of(said.right, outer=9)}) as [Case|Case]."]
        strict, weak = (Sentence(on.right, relation, on.left) for relation in ("<", "<="))
        for key, known in (("first", {"Case": on}), ("second", {"Case": strict, "Weak": weak})):
            self.fixed = {**kept[2], **{index: name(index) for index in line.free}}
            self.env = {}
            self.scope = dict(kept[0])
            for called, relation in known.items():
                self.scope[str(relation)] = Line(called, relation, ())
            inner = self.lines(one[key], line.sentence, line.place)
            here = Line("", line.sentence, (), place=line.place)
            ending = self._from_any(list(self.made), here)
            weaker = ["assert (Weak := Rlt_le _ _ Case)."] if key == "second" else []
            out += block([*weaker, *inner, *ending])
        self.scope, self.env, self.fixed = kept
        return out

    def _by_single(self, one: Written, line: Line) -> Lines:
        goal = self.goal(line)
        if goal.relation == "<" or "n" in line.free:
            raise NotExportedError(f"one client, of {line.sentence}, is not exported yet")
        clients = App("INR", (name("N"),))
        sign = self.signs.prove(minus(ONE, clients))
        new = {"N": count(1)}
        equal = self.equation(put(goal.left, new), put(goal.right, new))
        if sign is None or equal is None:
            raise NotExportedError(f"one client: {line.sentence} is not shown for one")
        start = ["right."] if goal.relation == "<=" else []
        return [
            f"assert (Least : 0 <= {text_of(minus(ONE, clients))}).",
            *block(sign),
            "assert (One : N = 1%nat) by (apply one_client; assumption).",
            *start,
            "rewrite One.",
            *equal,
        ]

    def _by_zero(self, one: Written, line: Line) -> Lines:
        goal = self.goal(line)
        if goal.relation == "<" or one.get("over"):
            raise NotExportedError("that an inner product is 0 on average is not exported yet")
        said, proof = self.at(self.find(one["line"]), {})
        of, with_ = self.expression(one["of"]), self.expression(one["with"])
        square = Said(Ip(of, of), said.relation, ZERO)
        script = self._scaled_from(square, said, proof)
        if script is None or said.relation == "<":
            raise NotExportedError(f"the line {one['line']} does not say that {text_of(of)} is 0")
        h, z = self.normal.fresh("H"), self.normal.fresh("Z")
        null = Said(Ip(of, with_), "==", ZERO)
        lines = [f"assert ({h} : {square.text}).", *block(script), f"assert ({z} : {null.text})."]
        weak = f"(Req_le _ _ {h})" if said.relation == "==" else h
        lines.append(f"{{ exact (ip_null _ _ {weak}). }}")
        last = self._scaled_from(goal, null, z)
        if last is None:
            raise NotExportedError(f"{line.sentence} is another sentence")
        return [*lines, *last]

    def _by_root(self, one: Written, line: Line) -> Lines:
        goal = self.goal(line)
        said, proof = self.at(self.find(one["line"]), self._put(one.get("put", {})))
        squares = Said(times(goal.left, goal.left), goal.relation, times(goal.right, goal.right))
        signs = [self.signs.prove(side) for side in (goal.right, goal.left)]
        if goal.relation == "<=":
            signs = signs[:1]
        if None in signs or goal.relation == "<":
            raise NotExportedError(f"the root {line.sentence} is not exported yet")
        script = self._scaled_from(squares, said, proof)
        if script is None:
            raise NotExportedError(f"the root {line.sentence} is of another line")
        lemma = "root_le" if goal.relation == "<=" else "root_eq"
        return [f"apply {lemma}.", *block(script), *(text for sign in signs for text in block(sign or []))]

    def _scaled_from(self, goal: Said, said: Said, proof: str) -> Lines | None:
        """A sentence from one that is the same up to a positive rational."""
        if goal.relation == "==" and (script := self.equation(goal.left, goal.right)) is not None:
            return script
        c = ratio(self.normal, minus(goal.right, goal.left), minus(said.right, said.left))
        if c is None or (c <= 0 and said.relation != "=="):
            return None
        return self._close(goal, [self._part(said, proof, Num(c), goal.relation)])

    def _by_power(self, one: Written, line: Line) -> Lines:
        said, proof = self.at(self.find(one["line"]), {})
        exponent = parse_expression(str(one["exponent"]))
        env = {"K": name("K"), **self.env, **self.fixed}
        powers = [self.setting._power(side, exponent, env) for side in (said.left, said.right)]
        sign = self.signs.prove(said.left)
        if sign is None or any(not isinstance(p, Pow) for p in powers):
            raise NotExportedError(f"the power {line.sentence} is not exported yet")
        raised = Said(powers[0], "==" if said.relation == "==" else "<=", powers[1])
        goal = self.goal(line)
        h = self.normal.fresh("H")
        how = (
            [f"rewrite {proof}. reflexivity."]
            if said.relation == "=="
            else ["apply pow_incr. split.", *block(sign), f"apply {'Rlt_le, ' if said.relation == '<' else ''}{proof}."]
        )
        lines = [f"assert ({h} : {raised.text}).", *block(how)]
        c = ratio(self.normal, minus(goal.right, goal.left), minus(raised.right, raised.left))
        if c is None or c <= 0:
            raise NotExportedError(f"the power {line.sentence} is another sentence")
        return [*lines, *self._close(goal, [self._part(raised, h, Num(c), goal.relation)])]


def _comment(text: str) -> str:
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
