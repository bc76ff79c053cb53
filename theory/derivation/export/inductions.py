"""Inductions, and lines by cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theory.derivation.export.forms import Lines, NotExportedError, block
from theory.derivation.export.scope import VARIABLE, Line, Written
from theory.derivation.export.terms import (
    ONE,
    Nat,
    count,
    name,
    nat_text,
    text_of,
)  # fmt: skip
from theory.sentence import (
    TURNS,
    Sentence,
    parse_sentence,
)

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof


def by_induction(derivation: Proof, one: Written, line: Line) -> Lines:
    on = one.get("on", "k")
    if on not in ("k", "K", *TURNS):
        raise NotExportedError(f"induction on {on} is not exported yet")
    if on not in line.free:
        raise NotExportedError(f"an induction on {on} of a sentence without it, or inside another")
    start, var = (1, "Kc") if on == "K" else (0, on)
    sentences = [parse_sentence(s) for s in one.get("sentences") or ()] or [line.sentence]
    frees = [tuple(i for i in derivation.free_in(s) if i != on) for s in sentences]
    kept = dict(derivation.scope), derivation.env, derivation.fixed
    derivation.env, derivation.fixed = {}, {**kept[2], on: count(start)}
    base = ending(derivation, one["base"], sentences, frees, line, on, count(start))
    derivation.scope, derivation.fixed = dict(kept[0]), {**kept[2], on: name(var)}
    hypotheses = ["IH"] if len(sentences) == 1 else [f"IH {j + 1}" for j in range(len(sentences))]
    fresh = derivation.normal.fresh
    names, room_, before_, now = [fresh("IH") for _ in sentences], fresh("room"), fresh("Before"), fresh("Now")
    for text, word, s, free in zip(hypotheses, names, sentences, frees, strict=True):
        derivation.scope[text] = Line(word, s, free)
    if len(sentences) > 1:
        derivation.scope["IH"] = derivation.scope["IH 1"]
    step = ending(derivation, one["step"], sentences, frees, line, on, name(var).shifted(1))
    derivation.scope, derivation.env, derivation.fixed = kept
    reach = max(derivation.reach(s, on) for s in sentences) if on != "K" else 0
    trees = [side for s in sentences for side in (s.left, s.right)]
    end = nat_text(derivation.setting.turns_of(on, *trees)) if on in TURNS else "rounds"
    bounded = derivation.setting.random or on in TURNS
    room = f"({nat_text(name(var).shifted(reach))} <= {end})%nat -> " if bounded else ""
    before = [derivation.inner_type(s, free, on, name(var)) for s, free in zip(sentences, frees, strict=True)]
    q = " /\\ ".join(f"({text})" for text in before)
    pattern = names[-1]
    for word in names[-2::-1]:
        pattern = f"[{word} {pattern}]"
    opened = f"destruct {now} as {pattern}." if len(names) > 1 else f"rename {now} into {names[0]}."
    if room:
        started = [f"intros {var} {var}_from {before_} {room_}.", f"assert ({now} : {q}) by (apply {before_}; lia)."]
    else:
        started = [f"intros {var} {var}_from {now}."]
    step = [*started, opened, *step]
    base = [f"intros {room_}.", *base] if room else base
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
    env = {**derivation.fixed, **{index: name(index) for index in line.free}}
    bounds = [text for index, text in derivation.bounds(line, env) if index in rest]
    tail = "".join(" " + i for i in rest) + " ltac:(side)" * sum(len(t.split(" -> ")) for t in bounds if t)
    return [*script, " ".join(words) + "; intros.", f"exact ({proof}{tail})."]


def ending(
    derivation: Proof, written: Sequence[Written], sentences: Sequence[Sentence], frees: Sequence[tuple[str, ...]],
    line: Line, on: str, k: Nat,
) -> Lines:  # fmt: skip
    """Lines that end with the induction's sentences at k."""
    inner = derivation.lines(written, line.sentence, ((on, k),))
    made = list(derivation.made)
    kept = derivation.env
    proofs: list[Lines] = []
    for s, rest in zip(sentences, frees, strict=True):
        here = Line("", s, rest, place=((on, k),))
        derivation.env = {**kept, **{index: name(index) for index in rest}}
        intro = derivation.intro(here)
        try:
            proofs.append([*([intro] if intro else []), *from_any(derivation, made, here)])
        finally:
            derivation.env = kept
    if len(proofs) == 1:
        return [*inner, *proofs[0]]
    return [*inner, "repeat apply conj.", *(text for one in proofs for text in block(one))]


def from_any(derivation: Proof, made: Sequence[Line], here: Line) -> Lines:
    """A line from one of these."""
    goal = derivation.goal(here)
    why: NotExportedError | None = None
    for one in reversed(made):
        try:
            said, proof = derivation.at(one, {})
            if said == goal:
                return [f"same {proof}."]
            return derivation.close(goal, [derivation.part(said, proof, ONE, goal.relation)])
        except NotExportedError as error:
            why = why or error
    raise why or NotExportedError("there is no line")


def by_cases(derivation: Proof, one: Written, line: Line) -> Lines:
    on = parse_sentence(one["on"])
    if on.relation != "<=":
        raise NotExportedError(f"cases on {on}")
    said = derivation.setting.said(on, {**derivation.env, **derivation.fixed})
    kept = dict(derivation.scope), derivation.env, derivation.fixed
    out = [f"destruct (Rle_or_lt {text_of(said.left, outer=9)} {text_of(said.right, outer=9)}) as [Case|Case]."]
    strict, weak = (Sentence(on.right, relation, on.left) for relation in ("<", "<="))
    for key, known in (("first", {"Case": on}), ("second", {"Case": strict, "Weak": weak})):
        derivation.fixed = {**kept[2], **{index: name(index) for index in line.free}}
        derivation.env = {}
        derivation.scope = dict(kept[0])
        for called, relation in known.items():
            derivation.scope[str(relation)] = Line(called, relation, ())
        inner = derivation.lines(one[key], line.sentence, line.place)
        here = Line("", line.sentence, (), place=line.place)
        last = from_any(derivation, list(derivation.made), here)
        weaker = ["assert (Weak := Rlt_le _ _ Case)."] if key == "second" else []
        out += block([*weaker, *inner, *last])
    derivation.scope, derivation.env, derivation.fixed = kept
    return out
