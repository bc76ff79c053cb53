"""A round of an algorithm in terms of Rocq: what states become, what loops hand on, what taps show."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from theory.derivation.export.draws import DRAWN, SPELLED, Before, Draw, drawn_by, flip, indexed, law, sample
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import Env, safe
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    ONE,
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Term,
    Vec,
    VOp,
    count,
    minus,
    name,
    nat_text,
    rebuilt,
    text_of,
    times,
)  # fmt: skip
from theory.formula import Formula
from theory.formula import text_of as formula_text
from theory.program import Instruction, Loop, Program

READ = frozenset({"linear", "gradient", "full gradient", "each", "mean", "sum", "where", "average", "tap", *DRAWN})


@dataclass(frozen=True)
class Carried:
    """What a loop hands on: a function of round, turn, client and outcome.

    Attributes:
        name: in Rocq: a tap's that shows it.
        loop: which.
        client: whether each client has its own.
        first, following: the program's values in the first turn, and in the turn after this one.
    """

    name: str
    loop: Loop
    client: bool
    first: str
    following: str


@dataclass(frozen=True)
class Tap:
    """What a tap shows where no loop hands it on: a function of round, turn, client and outcome."""

    name: str
    loop: Loop | None
    client: bool
    value: str


@dataclass
class Round:
    """What a claim's algorithm does in a round.

    Raises:
        NotExportedError: for what is not exported yet.
    """

    setting: Setting
    _steps: dict[str, tuple[Instruction, Loop | None]] = field(default_factory=dict)
    draws: dict[str, Draw] = field(default_factory=dict)
    carried: dict[str, Carried] = field(default_factory=dict)
    taps: dict[str, Tap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown: dict[str, str] = {}
        for step, loop in self._all():
            if step.op not in READ:
                raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")
            if step.op in DRAWN:
                self.draws[step.to] = drawn_by(self.setting, step, loop)
            if step.op == "tap":
                self._tapped(step, loop, shown)
            else:
                self._steps[step.to] = step, loop
        for loop in self.loops:
            for c in loop.carried:
                if c.kind not in ("server", "client"):
                    raise NotExportedError(f"a loop that hands on a {c.kind} is not exported yet")
                word = shown.get(c.name, f"loop{c.name}")
                self.carried[c.name] = Carried(word, loop, c.kind == "client", c.first, c.following)

    def _tapped(self, step: Instruction, loop: Loop | None, shown: dict[str, str]) -> None:
        (value,) = step.of
        handed = loop is not None and any(c.name == value for c in loop.carried)
        if safe(step.label) in {*self.taps, *shown.values()} or value in shown:
            raise NotExportedError("a value that is tapped twice, or two taps with one name, is not exported yet")
        if handed:
            shown[value] = safe(step.label)
        else:
            client = self.program.kinds[value] == "client"
            self.taps[safe(step.label)] = Tap(safe(step.label), loop, client, value)

    @property
    def program(self) -> Program:
        assert self.setting.program is not None
        return self.setting.program

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(step for step in self.program.body if isinstance(step, Loop))

    def _all(self) -> list[tuple[Instruction, Loop | None]]:
        found: list[tuple[Instruction, Loop | None]] = []
        for step in self.program.body:
            if isinstance(step, Instruction):
                found.append((step, None))
                continue
            if step.op != "repeat":
                raise NotExportedError(f"a loop of an algorithm ({step.op}) is not exported yet")
            for inner in step.body:
                if not isinstance(inner, Instruction):
                    raise NotExportedError("a loop inside a loop is not exported yet")
                found.append((inner, step))
        return found

    # values

    def indices(self, client: bool, env: Env, turn: Nat | None = None) -> tuple[Nat, ...]:
        """Round, turn where there is one, client and outcome."""
        own = [env["k"], *([] if turn is None else [turn])]
        return (*own, *([env["n"]] if client else []), *([env["w"]] if self.setting.random else []))

    def after(self, state: str, at: Env) -> Term:
        """A state after round at["k"], of client at["n"], at outcome at["w"], in terms of what was before it."""
        position = [s.name for s in self.program.state].index(state)
        return self.value(self.program.result[position], at, None)

    def value(self, word: str, env: Env, loop: Loop | None) -> Term:
        """A value of the program, in a turn env["h"] of a loop, or outside of loops."""
        inputs = dict(zip(self.program.inputs, self.program.state, strict=True))
        if word in inputs:
            one = inputs[word]
            return Vec(safe(one.name), self.indices(one.kind == "client", env))
        if word in self.carried:
            c = self.carried[word]
            return self.handed(c, env["h"] if loop is c.loop else self._last(c, word), env)
        if word not in self._steps:
            raise NotExportedError(f"the value {word} is not exported yet")
        step, within = self._steps[word]
        if within is not None and within is not loop:
            for c in self.carried.values():
                if c.following == word and c.loop is within:
                    return self.handed(c, self.setting.turns(within), env)
            raise NotExportedError("what a loop's last turn made, and does not hand on, is not exported yet")
        return self._made(step, env, loop if within is not None else None)

    def _last(self, c: Carried, word: str) -> Nat:
        """After a loop what it carries is what it was in the last turn."""
        raise NotExportedError(f"{word}, in the last turn of its loop, is not exported yet")

    def handed(self, c: Carried, turn: Nat, env: Env) -> Term:
        """What a loop hands on at a turn."""
        return Vec(c.name, self.indices(c.client, env, turn))

    def number(self, f: Formula, env: Env, loop: Loop | None) -> Term:
        """A number of the program, with draws in it."""
        turns = {step.index: App("INR", (env["h"],)) for step in (loop,) if step is not None and step.index}

        def change(part: Term) -> Term:
            if isinstance(part, App) and part.head in turns:
                return turns[part.head]
            if isinstance(part, App) and part.head in self.draws:
                own = self.draws[part.head]
                if own.op == "sample":
                    raise NotExportedError("a sample as a number")
                return flip(own, env)
            return rebuilt(part, change)

        return change(indexed(self.setting, self.setting.term(f, env), env))

    def _made(self, step: Instruction, env: Env, loop: Loop | None) -> Term:
        def value(word: str, here: Env = env) -> Term:
            return self.value(word, here, loop)

        match step.op:
            case "linear":
                return self._linear(step, env, loop)
            case "each":
                return value(step.of[0])
            case "mean" | "sum":
                var = self.setting.fresh("n", env)
                return Bind(f"v{step.op}", name("N"), var, value(step.of[0], {**env, "n": name(var)}))
            case "full gradient":
                return self.setting.gradient("f", value(step.of[0]), {})
            case "gradient":
                point = value(step.of[0])
                if len(step.of) == 1:
                    return self.setting.gradient("f_n", point, env)
                own = self.draws[step.of[1]]
                if own.batch is None:
                    return self.setting.gradient("f_ni", point, {**env, "i": sample(own, env)})
                var = self.setting.fresh("j", env)
                one = self.setting.gradient("f_ni", point, {**env, "i": sample(own, {**env, "j": name(var)})})
                return Bind("vmean", own.batch, var, one)
            case "where":
                mask = self.number(step.numbers[0], env, loop)
                if not (isinstance(mask, App) and mask.head in {d.name for d in self.draws.values()}):
                    raise NotExportedError("a choice by other than one draw is not exported yet")
                weights = (mask, minus(ONE, mask))
                return VOp("add", tuple(VOp("scal", (c, value(v))) for c, v in zip(weights, step.of, strict=True)))
            case "average":
                return self._average(step, env, loop)
            case "keep":
                return self._kept(self.draws[step.to], value(step.of[0]), env)
        raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")

    def _linear(self, step: Instruction, env: Env, loop: Loop | None) -> Term:
        found: Term | None = None
        for source, coefficient in zip(step.of, step.numbers, strict=True):
            text = formula_text(coefficient)
            one = self.value(source, env, loop)
            if text == "1":
                found = one if found is None else VOp("add", (found, one))
            elif text == "(-1)" and found is not None:
                found = VOp("sub", (found, one))
            else:
                one = VOp("scal", (self.number(coefficient, env, loop), one))
                found = one if found is None else VOp("add", (found, one))
        assert found is not None
        return found

    def _kept(self, draw: Draw, v: Term, env: Env) -> Term:
        """The coordinates of a vector that are kept, times d/m."""
        assert draw.number is not None
        d, m = App("INR", (name("d"),)), self.setting.term(draw.number, env)
        var = self.setting.fresh("c", env)
        one = Vec("basis", (name(var),))
        own = VOp("scal", (times(flip(draw, {**env, "c": name(var)}), Ip(v, one)), one))
        return VOp("scal", (times(d, Inv(m)), Bind("vsum", name("d"), var, own)))

    def _average(self, step: Instruction, env: Env, loop: Loop | None) -> Term:
        (mask,) = step.numbers
        draw = self.draws.get(formula_text(mask))
        if draw is None or draw.op != "choose" or draw.number is None:
            raise NotExportedError("an average over other than chosen clients is not exported yet")
        var = self.setting.fresh("n", env)
        inner = {**env, "n": name(var)}
        chosen = VOp("scal", (self.number(mask, inner, loop), self.value(step.of[0], inner, loop)))
        return VOp("scal", (Inv(self.setting.term(draw.number, env)), Bind("vsum", name("N"), var, chosen)))

    # what a value at its indices is, with the hypothesis that says so

    def unfolded(self, v: Vec) -> tuple[Term, str] | None:
        """A state after a round, what a loop hands on, a tap: what they are, and a term of Rocq that proves it."""
        states = {safe(s.name): s for s in self.program.state}
        if v.head in states:
            return self._state(v, states[v.head].name, states[v.head].kind == "client")
        handed = next((c for c in self.carried.values() if c.name == v.head), None)
        if handed is not None:
            return self._turn(v, handed)
        tap = next((t for t in self.taps.values() if t.name == v.head), None)
        if tap is None:
            return None
        env = self._env(v, tap.client, tap.loop is not None)
        return self.value(tap.value, env, tap.loop), self._cited(f"{v.head}_is", env, True)

    def _env(self, v: Vec, client: bool, turn: bool) -> dict[str, Nat]:
        words = ["k", *(["h"] if turn else []), *(["n"] if client else []), *(["w"] if self.setting.random else [])]
        return dict(zip(words, v.args, strict=True))  # type: ignore[arg-type]

    def _cited(self, word: str, env: Env, bounded: bool) -> str:
        """A hypothesis at indices; of those of round and turn, whether they are bounded."""
        found = [word]
        for x in "khnw":
            if x in env:
                found.append(nat_text(env[x]))
                if x in "nw" or (x == "k" and self.setting.random) or (x == "h" and bounded):
                    found.append("ltac:(side)")
        return f"({' '.join(found)})"

    def _state(self, v: Vec, state: str, client: bool) -> tuple[Term, str] | None:
        env = self._env(v, client, False)
        k = env.pop("k")
        if k == count(0):
            return self.setting.start(state, env), self._cited(f"{v.head}_start", env, False)
        if k.constant < 1:
            return None
        env["k"] = k.shifted(-1)
        return self.after(state, env), self._cited(f"{v.head}_step", env, True)

    def _turn(self, v: Vec, c: Carried) -> tuple[Term, str] | None:
        env = self._env(v, c.client, True)
        turn = env.pop("h")
        if turn == count(0):
            return self.value(c.first, env, None), self._cited(f"{v.head}_first", env, True)
        if turn.constant < 1:
            return None
        env["h"] = turn.shifted(-1)
        return self.value(c.following, env, c.loop), self._cited(f"{v.head}_turn", env, True)

    # what a theorem assumes

    def before(self, draw: Draw) -> list[Before]:
        """What is there before a draw: states, what its turn begins with, earlier loops' ends, earlier draws."""
        w = "w" if self.setting.random else ""
        found = []
        for s in self.program.state:
            word = safe(s.name)
            client = s.kind == "client"
            text = f"(fun n => {word} t n {w})" if client else f"({word} t {w})"
            found.append(Before(word, "(nat -> V)" if client else "V", text, (name("k"),)))
        for step in self.program.body:
            if isinstance(step, Loop):
                inside = step is draw.loop
                for c in (c for c in self.carried.values() if c.loop is step):
                    turn = name("h") if inside else self.setting.turns(step)
                    at = f"t {'h' if inside else nat_text(turn)}"
                    text = f"(fun n => {c.name} {at} n {w})" if c.client else f"({c.name} {at} {w})"
                    found.append(Before(c.name, "(nat -> V)" if c.client else "V", text, (name("k"), turn)))
                if inside:
                    found += self._earlier(draw, [s for s in step.body if isinstance(s, Instruction)])
                    return found
            elif step.to in self.draws:
                if self.draws[step.to] == draw:
                    return found
                found += self._earlier(draw, [step])
        return found

    def _earlier(self, draw: Draw, steps: list[Instruction]) -> list[Before]:
        found = []
        for step in steps:
            one = self.draws.get(step.to)
            if one == draw:
                break
            if one is None:
                continue
            own = [x for x in one.indices if x in "njc"]
            at = [x for x in one.indices if x in "kh"]
            words = [SPELLED.get(x, x) for x in own]
            inner = f"{one.name} {' '.join('t' if x == 'k' else x for x in at)} {' '.join([*words, 'w'])}"
            text = f"(fun {' '.join(words)} => {inner})" if own else f"({inner})"
            kind = "".join("nat -> " for _ in own) + one.type
            found.append(Before(one.name, f"({kind})" if own else kind, text, tuple(map(name, at))))
        return found

    def hypotheses(self) -> list[tuple[str, str]]:
        """The chances, states, what loops hand on and taps, the draws and their law, and what becomes of it all."""
        random = self.setting.random
        found: list[tuple[str, str]] = []
        if random:
            found += [("Pr", "chances"), ("rounds", "nat")]
            if self.setting.furthest:
                found.append(("rounds_dom", f"({self.setting.furthest} <= rounds)%nat"))
        outcome = "nat -> " if random else ""
        for s in self.program.state:
            if s.kind not in ("server", "client"):
                raise NotExportedError(f"a state that is a {s.kind} is not exported yet")
            found.append((safe(s.name), f"nat -> {'nat -> ' if s.kind == 'client' else ''}{outcome}V"))
        shown: list[Carried | Tap] = [*self.carried.values(), *self.taps.values()]
        for one in shown:
            turn = "nat -> " if one.loop is not None else ""
            found.append((one.name, f"nat -> {turn}{'nat -> ' if one.client else ''}{outcome}V"))
        for s in self.program.state:
            env = self._symbols(s.kind == "client")
            start = text_of(self.setting.start(s.name, env))
            left = Vec(safe(s.name), (count(0), *(env[x] for x in "nw" if x in env)))
            found.append((f"{safe(s.name)}_start", f"{self._given(env)}{text_of(left)} = {start}"))
        for draw in self.draws.values():
            found += law(self.setting, draw, self.before(draw))
        for c in self.carried.values():
            env = {"k": name("t"), **self._symbols(c.client)}
            first = text_of(self.value(c.first, env, None))
            at = text_of(self.handed(c, count(0), env))
            found.append((f"{c.name}_first", f"{self._given(env)}{at} = {first}"))
            env = {**env, "h": name("h")}
            following = text_of(self.value(c.following, env, c.loop))
            at = text_of(self.handed(c, name("h").shifted(1), env))
            found.append((f"{c.name}_turn", f"{self._given(env, c.loop)}{at} = {following}"))
        for tap in self.taps.values():
            env = {"k": name("t"), **self._symbols(tap.client), **({"h": name("h")} if tap.loop is not None else {})}
            at = text_of(Vec(tap.name, self.indices(tap.client, env, env.get("h"))))
            value = text_of(self.value(tap.value, env, tap.loop))
            found.append((f"{tap.name}_is", f"{self._given(env, tap.loop)}{at} = {value}"))
        for s in self.program.state:
            env = {"k": name("t"), **self._symbols(s.kind == "client")}
            left = Vec(safe(s.name), self.indices(s.kind == "client", {**env, "k": name("t").shifted(1)}))
            after = text_of(self.after(s.name, env))
            found.append((f"{safe(s.name)}_step", f"{self._given(env)}{text_of(left)} = {after}"))
        return found

    def _symbols(self, client: bool) -> dict[str, Nat]:
        return {**({"n": name("n")} if client else {}), **({"w": name("w")} if self.setting.random else {})}

    def _given(self, env: Env, loop: Loop | None = None) -> str:
        """The indices for all of which a hypothesis is, and their bounds."""
        bounds = {"k": "(t < rounds)%nat -> " if self.setting.random else "", "n": "(n < N)%nat -> "}
        bounds["w"] = "(w < outcomes Pr)%nat -> "
        if loop is not None:
            bounds["h"] = f"(h < {nat_text(self.setting.turns(loop))})%nat -> "
        return "".join(f"forall {nat_text(env[x])}, {bounds[x]}" for x in "khnw" if x in env)


def round_of(setting: Setting) -> Round:
    """The round of the setting's algorithm, made once."""
    if "round" not in setting.kept:
        setting.kept["round"] = Round(setting)
    found = setting.kept["round"]
    assert isinstance(found, Round)
    return found
