"""Remembered vectors in terms of Rocq: functions of round, place and outcome, the newest at place 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import Env, safe
from theory.derivation.export.terms import App, Bind, Nat, Term, Vec, VOp, count, name, nat_text, text_of
from theory.program import Instruction

if TYPE_CHECKING:
    from theory.derivation.export.rounds import Round

REMEMBERED = frozenset({"combine", "shift"})


def state_of(made: Round, word: str) -> str:
    """The state that a value of the program is."""
    states = {w: s.name for w, s in zip(made.program.inputs, made.program.state, strict=True)}
    if word not in states:
        raise NotExportedError("remembered vectors that were shifted in this round are not exported yet")
    return states[word]


def at(made: Round, state: str, env: Env) -> Vec:
    """A remembered vector, at env["k"], at place env["j"]."""
    return Vec(safe(state), (env["k"], env["j"], *([env["w"]] if made.setting.random else [])))


def combination(made: Round, step: Instruction, env: Env) -> Term:
    """The sum of weighted remembered vectors."""
    var, lags = made.setting.fresh("j", env), made.setting.lags
    assert lags is not None
    one = at(made, state_of(made, step.of[0]), {**env, "j": name(var)})
    return Bind("vsum", lags, var, VOp("scal", (App(safe(step.label), (name(var),)), one)))


def put_in_front(made: Round, state: str) -> str:
    """The value that a round puts in front of the others."""
    position = [s.name for s in made.program.state].index(state)
    step, path = made.steps.get(made.program.result[position], (None, ()))
    if step is None or step.op != "shift" or path or state_of(made, step.of[0]) != state:
        raise NotExportedError("remembered vectors that a round does not shift are not exported yet")
    return step.of[1]


def unfolded(made: Round, v: Vec, state: str) -> tuple[Term, str] | None:
    """What was remembered before the first round; what a round puts in front; the rest, one place further."""
    k, j, *w = (a for a in v.args if isinstance(a, Nat))
    env = {"w": w[0]} if w else {}
    if k == count(0):
        return made.setting.start(state, {}), cited(made, f"{v.head}_start", {"j": j, **env})
    if k.constant < 1:
        return None
    env["k"] = k.shifted(-1)
    if j.constant >= 1:
        env["j"] = j.shifted(-1)
        return at(made, state, env), cited(made, f"{v.head}_older", env)
    if j == count(0):
        return made.value(put_in_front(made, state), env, ()), cited(made, f"{v.head}_newest", env)
    return None


def cited(made: Round, word: str, env: Env) -> str:
    """A hypothesis about what is remembered; its places have no bound."""
    found = [word]
    for x in (x for x in "kjw" if x in env):
        found.append(nat_text(env[x]))
        found += ["ltac:(side)"] if x == "w" or (x == "k" and made.setting.random) else []
    return f"({' '.join(found)})"


def hypotheses(made: Round, state: str, given: str, rounds: str, outcome: str) -> list[tuple[str, str]]:
    """What is remembered before the first round, and what a round puts in front; `given` has what a hypothesis about
    rounds and outcomes begins with, `rounds` and `outcome` have its two parts."""
    word, w = safe(state), {"w": name("w")} if made.setting.random else {}
    env = {"k": name("t"), **w}

    def now(k: Nat, j: Nat) -> str:
        return text_of(at(made, state, {"k": k, "j": j, **w}))

    start, later = text_of(made.setting.start(state, {})), name("t").shifted(1)
    new = text_of(made.value(put_in_front(made, state), env, ()))
    return [
        (f"{word}_start", f"forall j, {outcome}{now(count(0), name('j'))} = {start}"),
        (f"{word}_newest", f"{given}{now(later, count(0))} = {new}"),
        (
            f"{word}_older",
            f"{rounds}forall j, {outcome}{now(later, name('j').shifted(1))} = {now(name('t'), name('j'))}",
        ),
    ]
