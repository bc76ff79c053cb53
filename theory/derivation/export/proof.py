"""A derivation as a proof script: every line becomes an assertion, proved from those before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from theory.derivation.export import schemas
from theory.derivation.export.normal import Lines, Normal, NotExportedError, Poly, block, poly_term, under
from theory.derivation.export.rounds import after
from theory.derivation.export.laws import Laws
from theory.derivation.export.signs import Fact, Signs, ratio, vanishes
from theory.derivation.export.statement import Env, Said, Setting, safe
from theory.derivation.export.terms import (
    ONE, ZERO, App, Bind, Inv, Ip, Nat, Num, Op, Pow, Term, Vec, VOp, add, count, everything, minus, name, nat_text,
    text_of, times,
)  # fmt: skip
from theory.formula import Name, Number
from theory.predicates import predicate
from theory.program import Program
from theory.sentence import (
    At, Expression, Sentence, applied, index_of, parse_call, parse_expression, parse_sentence, read, replaced,
)
from theory.sentence import everything as all_of
from theory.sentence import everything_meant, text_of as sentence_text

INDICES = ("k", "h", "n", "i", "w")
Written = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """A line in scope.

    Attributes:
        coq: its name in the script.
        sentence: what it says.
        free: the indices for all of which it says it, the outcome ``w`` among them.
        start: the first k for which it is said.
    """

    coq: str
    sentence: Sentence
    free: tuple[str, ...]
    start: int = 0
    counter: str = ""


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
        self.normal = Normal(self._no_unfolding, self._nonzero, lambda _: None)
        self.unfolding = Normal(self._unfold, self._nonzero, self.laws.apply)
        self.unfolding._used = 100_000
        self.signs = Signs(self.normal, self._low, self._facts, self.equation)
        for one, relation in zip(self.setting.claim.assumptions, self.setting.claim.assumptions, strict=True):
            if isinstance(relation, Sentence):
                free = self._free(relation)
                self.scope[str(relation)] = Line(self.setting.hypothesis_of(one), relation, free)

    # what the algorithm makes of a state

    def _no_unfolding(self, v: Vec) -> tuple[Term, str] | None:
        return self._unfold(v) if v.args and v.args[0] == count(0) else None

    def _unfold(self, v: Vec) -> tuple[Term, str] | None:
        program = self.setting.program
        if program is None or v.head not in {safe(s.name) for s in program.state}:
            return None
        (state,) = (s for s in program.state if safe(s.name) == v.head)
        k = v.args[0]
        assert isinstance(k, Nat)
        rest = list(v.args[1:])
        env: dict[str, Nat] = {}
        if state.kind == "client":
            env["n"] = rest.pop(0)  # type: ignore[assignment]
        if self.setting.random:
            env["w"] = rest.pop(0)  # type: ignore[assignment]
        sides = "".join(f" {nat_text(env[x])} ltac:(side)" for x in ("n", "w") if x in env)
        if k == count(0):
            return self.setting.start(state.name, env), f"({v.head}_start{sides})"
        if k.constant < 1:
            return None
        before = k.shifted(-1)
        rounds = " ltac:(side)" if self.setting.random else ""
        return after(self.setting, state.name, {**env, "k": before}), f"({v.head}_step {nat_text(before)}{rounds}{sides})"

    # what is known of signs

    def _low(self, t: App) -> tuple[str, str] | None:
        for symbol in self.setting.symbols:
            base, index = index_of(symbol)
            domain = self.setting.claim.domains[base]
            if safe(base) != t.head or domain.integer or domain.lower is None or domain.lower < 0:
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
            return any(safe(s) == word and self.setting.integer(s) and (self.setting.claim.domains[s].lower or 0) >= 1
                       for s in self.setting.symbols)  # fmt: skip
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
        lines = [f"assert ({c} : {head}{given}{text_of(form, heavy)} = 0).", "{ intros. field. repeat split; nonzero. }"]
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
        for side in self._claimed_divisors():
            found = ratio(self.normal, d, side)
            if found:
                raise NotExportedError(f"that {text_of(d)} is not 0, which the claim divides by, is not exported yet")
        raise NotExportedError(f"that {text_of(d)} is not 0 is not proved")

    def _claimed_divisors(self) -> list[Term]:
        return []

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

    def reach(self, sentence: Sentence) -> int:
        """How many rounds after round k the sentence looks."""
        words = self.setting.claim.vocabulary
        found = 0
        for side in (sentence.left, sentence.right):
            for part in everything_meant(side, words):
                if isinstance(part, At):
                    nat = self.setting.nat(part.indices[0], {"k": name("k")}) if "k" in str(part.indices[0]) else count(0)
                    found = max(found, nat.constant if nat.terms else 0)
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
            elif index == "h":
                conditions = []
            else:
                bound = {"n": name("N"), "i": name(f"samples {nat_text(env['n'])}") if index == "i" else "", "w": "Pr"}[index]
                conditions = [under("E" if index == "w" else "mean", bound, at)]  # type: ignore[arg-type]
            found.append((index, " -> ".join(conditions)))
        return found

    def at(self, line: Line, given: Env) -> tuple[Said, str]:
        """A line at indices, those that are not given as they are here, and a term of Rocq that proves it."""
        env = {**self.env, **self.fixed, **given}
        missing = [index for index in line.free if index not in env]
        if missing:
            raise NotExportedError(f"{line.sentence} is for every {missing[0]}, which is not there")
        words = [line.coq]
        words += [nat_text(env[index]) for index in line.free]
        for index, condition in self.bounds(line, env):
            words += ["ltac:(side)"] * len([c for c in condition.split(" -> ") if c])
        if line.counter and line.counter in given:
            words = [line.coq, nat_text(given[line.counter]), "ltac:(side)", *words[1:]]
        here = {**env}
        return self.setting.said(line.sentence, here), f"({' '.join(words)})" if len(words) > 1 else line.coq

    def type_of(self, line: Line) -> str:
        env = {**self.fixed, **{index: name(index) for index in line.free}}
        bounds = self.bounds(line, env)
        head = f"forall {' '.join(line.free)} : nat, " if line.free else ""
        return head + "".join(f"{c} -> " for _, c in bounds if c) + self.setting.said(line.sentence, env).text

    def fresh_name(self, word: str) -> str:
        stem = "l_" + (re.sub(r"[^A-Za-z0-9_]", "_", word).strip("_") or "line")
        found, i = stem, 1
        while found in self._names:
            i += 1
            found = f"{stem}_{i}"
        self._names.add(found)
        return found

    def lines(self, written: Sequence[Written], last: Sentence | None) -> Lines:
        """The script of a list of lines; the last one is `last` where it says no sentence."""
        out: Lines = []
        for i, one in enumerate(written):
            text = one.get("sentence")
            if text is None and (last is None or i + 1 < len(written)):
                raise NotExportedError(f"the line {one.get('name')!r} has no sentence")
            sentence = last if text is None else parse_sentence(text)
            assert sentence is not None
            line, proof = self.line(one, sentence)
            label = str(one.get("name", f"line {i + 1}"))
            line = Line(self.fresh_name(label), line.sentence, line.free, line.start)
            out.append(f"(* {_comment(label)}: {_comment(str(sentence))}; {one['by']} *)")
            out += [f"assert ({line.coq} : {self.type_of(line)}).", *block(proof)]
            self.scope[label] = line
            self.last = line
        return out

    def line(self, one: Written, sentence: Sentence) -> tuple[Line, Lines]:
        rule = getattr(self, f"_by_{one['by'].replace(' ', '_')}", None)
        if rule is None:
            raise NotExportedError(f"the rule {one['by']} is not exported yet (line {one.get('name')!r})")
        line = Line("", sentence, self._free(sentence), self._start(one, sentence))
        kept = self.env
        self.env = {**self.env, **{index: name(index) for index in line.free}}
        intro = self._intro(line)
        try:
            proof = rule(one, line)
        finally:
            self.env = kept
        return line, [*([intro] if intro and one["by"] != "induction" else []), *proof]

    def _start(self, one: Written, sentence: Sentence) -> int:
        return int(one.get("from", 0)) if one["by"] == "induction" and one.get("on", "k") == "k" else 0

    def _intro(self, line: Line) -> str:
        env = {**self.fixed, **{index: name(index) for index in line.free}}
        words = list(line.free)
        for index, condition in self.bounds(line, env):
            words += [f"{index}_in{j or ''}" for j, c in enumerate(condition.split(" -> ")) if c]
        return f"intros {' '.join(words)}." if words else ""

    def goal(self, line: Line) -> Said:
        return self.setting.said(line.sentence, {**self.env, **self.fixed})

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
        return d, [f"apply {'part_lt_le' if said.relation == '<' else 'part_le'}.", *block(sign), f"exact {proof}."], False

    def _by_domain(self, one: Written, line: Line) -> Lines:
        facts = []
        for symbol in self.setting.symbols:
            base, index = index_of(symbol)
            if index:
                continue
            domain = self.setting.claim.domains[base]
            word = safe(base)
            ends = [e for e, v in (("dom", domain.integer), ("low", not domain.integer and domain.lower is not None)) if v]
            ends += ["top"] if domain.upper is not None else []
            for end in ends:
                facts.append(f"pose proof (le_INR _ _ {word}_{end})." if domain.integer else f"pose proof {word}_{end}.")
        said = self.goal(line)
        for word in sorted({text_of(t.args[0]) for side in (said.left, said.right) for t in everything(side)
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
        return times(by, whole), ["apply Rmult_le_pos.", *block(sign), f"apply {'ip_nonneg' if vector else 'pow2_ge_0'}."], False

    def _over(self, part: Written, core: Any, relation: str) -> tuple[Term, Lines, bool]:
        """A part under its means and expectations, from the outside in."""
        kept = self.env
        opened: list[tuple[str, Nat | str, str]] = []
        try:
            for over in part.get("over", ()):
                if over == "E":
                    if not self.setting.random:
                        continue
                    var = self.setting.fresh("w")
                    opened.append(("E", "Pr", var))
                    self.env = {**self.env, "w": name(var)}
                elif over == "mean_n":
                    var = self.setting.fresh("n")
                    opened.append(("mean", name("N"), var))
                    self.env = {**self.env, "n": name(var)}
                elif over == "mean_i":
                    var = self.setting.fresh("i")
                    opened.append(("mean", name(f"samples {nat_text(self.env['n'])}"), var))
                    self.env = {**self.env, "i": name(var)}
                else:
                    raise NotExportedError(f"a part over {over} is not exported yet")
            term, lines, strict = core()
        finally:
            self.env = kept
        for kind, bound, var in reversed(opened):
            term = Bind(kind, bound, var, term)
            lt = self.normal.fresh("lt")
            if relation == "==":
                lines = [f"apply {kind}_eq_zero; intros {var} {lt}.", *lines]
            else:
                lines = [f"apply {kind}_nonneg;{' [counts|];' if kind == 'mean' else ''} intros {var} {lt}.", *lines]
            strict = False
        return term, lines, strict

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
        claim = self.setting.claim
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
        given = [self.expression(text) for text in one.get("of", ())]
        goal = self.goal(line)
        return schemas.axiom(one["schema"], given, goal, self)

    def _by_induction(self, one: Written, line: Line) -> Lines:
        on, start = one.get("on", "k"), int(one.get("from", 0))
        if on != "k":
            raise NotExportedError(f"induction on {on} is not exported yet")
        if "k" not in line.free:
            raise NotExportedError("an induction on k of a sentence without k")
        sentences = [parse_sentence(s) for s in one.get("sentences", ())] or [line.sentence]
        if len(sentences) > 1 or str(sentences[0]) != str(line.sentence):
            raise NotExportedError("an induction on several sentences, or another than the line's, is not exported yet")
        kept = dict(self.scope), self.env, self.fixed
        rest = tuple(i for i in line.free if i != "k")
        self.env, self.fixed = {}, {**kept[2], "k": count(start)}
        base = self._ending(one["base"], line, count(start), rest)
        self.scope, self.fixed = dict(kept[0]), {**kept[2], "k": name("k")}
        self.scope["IH"] = Line("IH", line.sentence, rest)
        step = self._ending(one["step"], line, name("k").shifted(1), rest)
        self.scope, self.env, self.fixed = kept
        room = "room" if self.setting.random else ""
        q = self._property(line)
        if room:
            before = self._inner_type(line, name("k"))
            step = [f"intros k k_from Before room. assert (IH : {before}) by (apply Before; lia).", *step]
        else:
            step = ["intros k k_from IH.", *step]
        base = [f"intros {room}.", *base] if room else base
        script = [
            f"assert (Q : forall k : nat, ({start} <= k)%nat -> {q}).",
            *block([f"apply (from_nat {start} (fun k : nat => {q})).", *block(base), *block(step)]),
        ]
        intro = self._intro(Line("", line.sentence, line.free, start))
        words = " ".join(["Q", "k", "ltac:(lia)", *(["ltac:(lia)"] if room else [])])
        words += "".join(f" {index}" for index in rest) + " ltac:(side)" * len([i for i in rest if i != "h"])
        return [*script, intro, f"exact ({words})."]

    def _ending(self, written: Sequence[Written], line: Line, k: Nat, rest: tuple[str, ...]) -> Lines:
        """Lines that end with the induction's sentence at k."""
        moved = _at_k(line.sentence, k)
        inner = self.lines(written, moved)
        here, last = Line("", line.sentence, rest), self.last
        kept = self.env
        self.env = {**self.env, **{index: name(index) for index in rest}}
        try:
            said, proof = self.at(last, {})
            goal = self.setting.said(line.sentence, {**self.env, **self.fixed, "k": k})
            intro = self._intro(here)
            if said == goal:
                return [*inner, *([intro] if intro else []), f"exact {proof}."]
            return [
                *inner, *([intro] if intro else []), *self._close(goal, [self._part(said, proof, ONE, goal.relation)]),
            ]  # fmt: skip
        finally:
            self.env = kept

    def _inner_type(self, line: Line, k: Nat) -> str:
        kept = self.fixed
        self.fixed = {**self.fixed, "k": k}
        try:
            rest = Line("", line.sentence, tuple(i for i in line.free if i != "k"))
            return self.type_of(rest)
        finally:
            self.fixed = kept

    def _property(self, line: Line) -> str:
        room = f"({nat_text(name('k').shifted(self.reach(line.sentence)))} <= rounds)%nat -> " if self.setting.random else ""
        return f"({room}{self._inner_type(line, name('k'))})"


def _at_k(sentence: Sentence, k: Nat) -> Sentence:
    """The sentence at 0, 1, ..., or at k + 1."""
    tree: Expression = Number(Fraction(k.constant))
    if k.terms:
        tree = applied("+", (Name("k"), tree)) if k.constant else Name("k")
    return Sentence(replaced(sentence.left, {"k": tree}), sentence.relation, replaced(sentence.right, {"k": tree}))


def _comment(text: str) -> str:
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
