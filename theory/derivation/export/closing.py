"""Equations and inequalities from what is known: what each is taken apart into, and what ends its script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from theory.derivation.export.forms import Lines, NotExportedError, Poly, block, poly_term
from theory.derivation.export.laws import Laws
from theory.derivation.export.names import Said, safe
from theory.derivation.export.normal import Normal
from theory.derivation.export.rounds import round_of
from theory.derivation.export.scope import BeyondError, Line, Scope
from theory.derivation.export.signs import Fact, Signs, ratio, vanishes
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
    VOp,
    add,
    count,
    everything,
    minus,
    name,
    names_of,
    nat_text,
    text_of,
    times,
)  # fmt: skip
from theory.sentence import Sentence

if TYPE_CHECKING:
    from theory.derivation.export.replacing import Equality


def exactly(said: Said, proof: str) -> str:
    """What proves a sentence by a proof of it, with exponents that may be written otherwise: 2*(h + 1), 2*h + 2."""
    powers = (t.exponent for side in (said.left, said.right) for t in everything(side) if isinstance(t, Pow))
    otherwise = any(e.constant and any(by != 1 for _, by in e.terms) for e in powers)
    return f"{'same' if otherwise else 'exact'} {proof}."


@dataclass
class Closing(Scope):
    """Scripts that end a line, in one derivation."""

    _used: int = 0

    def __post_init__(self) -> None:
        self.laws = Laws(self.setting)
        batches = frozenset(d.batch for d in self.laws.draws.values() if d.batch is not None)
        self.normal = Normal(
            self._no_unfolding, self._nonzero, lambda _: None, self._flip, self._sign, self._total, batches
        )
        self.unfolding = Normal(
            self._unfold, self._nonzero, self.laws.apply, self._flip, self._sign, self._total, batches
        )
        self.unfolding._used = 100_000
        self.signs = Signs(self.normal, self._low, self._facts, self.equation, replace(self.normal))
        for one, relation in zip(self.setting.claim.assumptions, self.setting.claim.assumptions, strict=True):
            if isinstance(relation, Sentence):
                free = self.free_in(relation)
                self.scope[str(relation)] = Line(self.setting.hypothesis_of(one), relation, free)

    def with_equalities(self, given: Sequence[Equality], unfold: bool) -> Normal:
        """Normal forms with vectors replaced by what they are equal to, and where `unfold`, by what a round makes."""
        env = {**self.env, **self.fixed}

        def change(v: Vec) -> tuple[Term, str] | None:
            for one in given:
                found = one.at(v, env)
                if found is not None:
                    return found
            return self._unfold(v) if unfold else self._no_unfolding(v)

        law = self.laws.apply if unfold else lambda _: None
        own = Normal(change, self._nonzero, law, self._flip, self._sign, self._total, self.normal.batches)
        self._used += 100_000
        own._used = 200_000 + self._used
        return own

    def with_one(self, number: Nat) -> Normal:
        """Normal forms where a whole number is 1, as One says, with what a round makes."""
        own = self._of_round(self.laws)
        own.ones = frozenset({number})
        return own

    def with_turns(self, one: str, two: str) -> Normal:
        """Normal forms with what a round makes, of two turns, one before two."""
        return self._of_round(replace(self.laws, turns=(one, two)))

    def _of_round(self, laws: Laws) -> Normal:
        own = Normal(self._unfold, self._nonzero, laws.apply, self._flip, self._sign, self._total, self.normal.batches)
        self._used += 100_000
        own._used = 200_000 + self._used
        return own

    def _no_unfolding(self, v: Vec) -> tuple[Term, str] | None:
        if not v.args or v.head not in self._states:
            return None
        older = self.setting.claim.vocabulary.states[self._states[v.head]] == "past" and v.args[1] != count(0)
        return self._unfold(v) if v.args[0] == count(0) or older else None

    @cached_property
    def _states(self) -> dict[str, str]:
        """States by their names in Rocq."""
        program = self.setting.program
        return {} if program is None else {safe(s.name): s.name for s in program.state}

    def _unfold(self, v: Vec) -> tuple[Term, str] | None:
        return None if self.setting.program is None else round_of(self.setting).unfolded(v)

    def _flip(self, t: Term) -> str | None:
        if not isinstance(t, App) or not t.head.startswith("drawn_"):
            return None
        at = [nat_text(a) for a in t.args]  # type: ignore[arg-type]
        return f"({t.head}_range {' '.join(at)}{' ltac:(side)' * len(at)})"

    def _total(self, t: Bind) -> tuple[Term, str] | None:
        """The mean over all clients of whether they are chosen: so many of them are."""
        draw = self.laws.draws.get(t.body.head) if isinstance(t.body, App) else None
        if draw is None or draw.op != "choose" or draw.number is None or t.bound != name("N"):
            return None
        env = dict(zip(draw.indices, t.body.args, strict=True))  # type: ignore[union-attr]
        at = [nat_text(a) for x, a in env.items() if x != "n"]
        if env["n"] != name(t.var) or any(t.var in names_of(a) for x, a in env.items() if x != "n"):
            return None
        value = times(self.setting.term(draw.number, {}), Inv(App("INR", (t.bound,))))
        return value, f"(mean_of_total _ _ _ ({draw.name}_total {' '.join(at)}{' ltac:(side)' * len(at)}))"

    def _sign(self, t: Term, strict: bool) -> Lines | None:
        return self.signs.prove(t, strict)

    def _low(self, t: App) -> tuple[str, str] | None:
        for symbol in self.setting.symbols:
            base, index = self.setting.placed(symbol)
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
            if nat.constant > 0 or word in ("N", "samples", "d", "Kc") or (word == "K" and "K" not in self.fixed):
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
                except BeyondError as error:
                    self.skipped = error
                    continue
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
            base, index = self.setting.placed(symbol)
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

    def equation(self, left: Term, right: Term, normal: Normal | None = None) -> Lines | None:
        """The script that proves ``left = right``, with its normal forms; None where it is not so."""
        proof = self.zero(minus(left, right), normal)
        return None if proof is None else ["apply Rminus_diag_uniq.", *proof]

    def null(self, goal: Said, normal: Normal | None = None) -> Lines | None:
        """The script of ``norm2 v <= 0``, or ``== 0``, of a vector that is 0; None for another sentence or vector."""
        square = goal.left
        if not isinstance(square, Ip) or square.left != square.right or goal.right != ZERO or goal.relation == "<":
            return None
        found, lines = (normal or self.normal).vector_alone(square.left)
        if found != VOp("zero"):
            return None
        z = self.normal.fresh("Z")
        return [
            f"assert ({z} : {text_of(square.left)} = zero).",
            *block(lines or ["reflexivity."]),
            *(["right."] if goal.relation == "<=" else []),
            f"rewrite {z}. apply ip_zero_l.",
        ]

    def zero(self, t: Term, normal: Normal | None = None) -> Lines | None:
        """The script that proves ``t = 0``; None where it is not so."""
        poly, lines = (normal or self.normal).alone(t)
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

    def close(self, goal: Said, parts: Sequence[tuple[Term, Lines, bool]]) -> Lines:
        """The goal from terms that are not negative (positive; 0 for an equation), with what proves each."""
        total: Term = parts[0][0] if parts else ZERO
        for d, _, _ in parts[1:]:
            total = add(total, d)
        lemma = {"<=": "close_le", "<": "close_lt", "==": "close_eq"}[goal.relation]
        lines = [f"apply {lemma} with (d := {text_of(total)})."]
        whole = minus(minus(goal.right, goal.left), total)
        proof = self.zero(whole)
        if proof is None:
            form = text_of(poly_term(self.normal.norm(whole)[0]))
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

    def from_lines(self, given: Sequence[tuple[Said, str]], line: Line) -> Lines:
        goal = self.goal(line)
        parts = [self.part(said, proof, ONE, goal.relation) for said, proof in given]
        return self.close(goal, parts)

    def part(self, said: Said, proof: str, by: Term, relation: str) -> tuple[Term, Lines, bool]:
        d = times(by, minus(said.right, said.left))
        if relation == "==":
            if said.relation != "==":
                raise NotExportedError(f"an equation from {said.text}")
            return d, [f"apply part_eq. {exactly(said, proof)}"], False
        if said.relation == "==":
            return d, [f"apply part_eq_le. {exactly(said, proof)}"], False
        if relation == "<" and said.relation == "<":
            positive = self.signs.prove(by, True)
            if positive is not None:
                return d, ["apply part_lt.", *block(positive), exactly(said, proof)], True
        sign = self.signs.prove(by)
        if sign is None:
            raise NotExportedError(f"that {text_of(by)} is not negative is not exported yet")
        return (
            d,
            [f"apply {'part_lt_le' if said.relation == '<' else 'part_le'}.", *block(sign), exactly(said, proof)],
            False,
        )

    def scaled_from(self, goal: Said, said: Said, proof: str) -> Lines | None:
        """A sentence from one that is the same up to a positive rational."""
        if goal.relation == "==" and (script := self.equation(goal.left, goal.right)) is not None:
            return script
        c = ratio(self.normal, minus(goal.right, goal.left), minus(said.right, said.left))
        if c is None or (c <= 0 and said.relation != "=="):
            return None
        return self.close(goal, [self.part(said, proof, Num(c), goal.relation)])

    def scaled(self, said: Said, proof: str, line: Line) -> Lines:
        """A line that is an instance, up to a positive rational."""
        goal = self.goal(line)
        h = self.normal.fresh("H")
        lines = [f"assert ({h} : {said.text}).", *block([f"exact {proof}." if not proof.endswith(".") else proof])]
        c = ratio(self.normal, minus(goal.right, goal.left), minus(said.right, said.left))
        if c is None or (c <= 0 and said.relation != "=="):
            raise NotExportedError(f"{line.sentence} is not the schema's sentence {said.text}")
        return [*lines, *self.close(goal, [self.part(said, h, Num(c), goal.relation)])]
