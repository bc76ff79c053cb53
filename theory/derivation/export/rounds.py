"""A round of an algorithm in terms of Rocq: what states become, what loops hand on, what taps show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from theory.derivation.export.draws import DRAWN, Draw, Path, drawn_by, flip, indexed, sample
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
    times,
)  # fmt: skip
from theory.formula import Formula
from theory.formula import text_of as formula_text
from theory.program import Instruction, Loop, Program
from theory.sentence import TURNS

READ = frozenset({"linear", "gradient", "full gradient", "each", "mean", "sum", "where", "average", "tap", *DRAWN})


@dataclass(frozen=True)
class Carried:
    """What a loop hands on: a function of round, turns, client and outcome.

    Attributes:
        name: in Rocq: a tap's that shows it.
        path: the loops around it, the outermost first; the last one hands it on.
        client: whether each client has its own.
        first, following: the program's values in the first turn, and in the turn after this one.
        begins: whether a loop inside this one begins with it, of whose function it then is the value at turn 0.
    """

    name: str
    path: Path
    client: bool
    first: str
    following: str
    begins: bool = False


@dataclass(frozen=True)
class Tap:
    """What a tap shows where no loop hands it on: a function of round, turns, client and outcome."""

    name: str
    path: Path
    client: bool
    value: str


@dataclass
class Round:
    """What a claim's algorithm does in a round.

    Raises:
        NotExportedError: for what is not exported yet.
    """

    setting: Setting
    _steps: dict[str, tuple[Instruction, Path]] = field(default_factory=dict)
    draws: dict[str, Draw] = field(default_factory=dict)
    carried: dict[str, Carried] = field(default_factory=dict)
    taps: dict[str, Tap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown: dict[str, str] = {}
        for step, path in self._all(self.program.body, ()):
            if step.op not in READ:
                raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")
            if step.op in DRAWN:
                self.draws[step.to] = drawn_by(self.setting, step, path)
            if step.op == "tap":
                self._tapped(step, path, shown)
            else:
                self._steps[step.to] = step, path
        for path in self.paths:
            inner = {c.first: c.name for step in path[-1].body if isinstance(step, Loop) for c in step.carried}
            for c in path[-1].carried:
                if c.kind not in ("server", "client"):
                    raise NotExportedError(f"a loop that hands on a {c.kind} is not exported yet")
                begins = c.name in inner
                word = inner.get(c.name, c.name)
                self.carried[c.name] = Carried(
                    shown.get(word, f"loop{word}"), path, c.kind == "client", c.first, c.following, begins
                )

    def _tapped(self, step: Instruction, path: Path, shown: dict[str, str]) -> None:
        (value,) = step.of
        handed = bool(path) and any(c.name == value for c in path[-1].carried)
        if safe(step.label) in {*self.taps, *shown.values()} or value in shown:
            raise NotExportedError("a value that is tapped twice, or two taps with one name, is not exported yet")
        if handed:
            shown[value] = safe(step.label)
        else:
            client = self.program.kinds[value] == "client"
            self.taps[safe(step.label)] = Tap(safe(step.label), path, client, value)

    @property
    def program(self) -> Program:
        assert self.setting.program is not None
        return self.setting.program

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every loop with those around it, an inner one after its outer one."""
        outer = [(step,) for step in self.program.body if isinstance(step, Loop)]
        return tuple(
            path
            for one in outer
            for path in (one, *((*one, inner) for inner in one[0].body if isinstance(inner, Loop)))
        )

    def _all(self, body: tuple[Instruction | Loop, ...], path: Path) -> list[tuple[Instruction, Path]]:
        found: list[tuple[Instruction, Path]] = []
        for step in body:
            if isinstance(step, Instruction):
                found.append((step, path))
                continue
            if step.op != "repeat":
                raise NotExportedError(f"a loop of an algorithm ({step.op}) is not exported yet")
            if len(path) == len(TURNS):
                raise NotExportedError("a loop inside two loops is not exported yet")
            found += self._all(step.body, (*path, step))
        return found

    # values

    def indices(self, client: bool, env: Env, turns: Sequence[Nat] = ()) -> tuple[Nat, ...]:
        """Round, turns where there are any, client and outcome."""
        own = [env["k"], *turns]
        return (*own, *([env["n"]] if client else []), *([env["w"]] if self.setting.random else []))

    def after(self, state: str, at: Env) -> Term:
        """A state after round at["k"], of client at["n"], at outcome at["w"], in terms of what was before it."""
        position = [s.name for s in self.program.state].index(state)
        return self.value(self.program.result[position], at, ())

    def value(self, word: str, env: Env, path: Path) -> Term:
        """A value of the program, in turns env["h"], env["j"] of the loops of a path."""
        inputs = dict(zip(self.program.inputs, self.program.state, strict=True))
        if word in inputs:
            one = inputs[word]
            return Vec(safe(one.name), self.indices(one.kind == "client", env))
        if word in self.carried and within(self.carried[word].path, path):
            c = self.carried[word]
            return self.handed(c, env[TURNS[len(c.path) - 1]], env)
        if word in self._steps and within(self._steps[word][1], path):
            step, own = self._steps[word]
            return self._made(step, env, own)
        for c in self.carried.values():
            if c.following == word and within(c.path[:-1], path) and not within(c.path, path):
                return self.handed(c, self.setting.turns(c.path[-1]), env)
        raise NotExportedError(f"{word}, in a loop's last turn, which it does not hand on, is not exported yet")

    def handed(self, c: Carried, turn: Nat, env: Env) -> Term:
        """What a loop hands on at a turn."""
        turns = [env[TURNS[i]] for i in range(len(c.path) - 1)]
        return Vec(c.name, self.indices(c.client, env, [*turns, turn, *([count(0)] if c.begins else [])]))

    def number(self, f: Formula, env: Env, path: Path) -> Term:
        """A number of the program, with draws in it."""
        turns = {step.index: App("INR", (env[at],)) for step, at in zip(path, TURNS, strict=False) if step.index}

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

    def _made(self, step: Instruction, env: Env, path: Path) -> Term:
        def value(word: str, here: Env = env) -> Term:
            return self.value(word, here, path)

        match step.op:
            case "linear":
                return self._linear(step, env, path)
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
                one = self.setting.gradient("f_ni", point, {**env, "i": sample(own, {**env, "b": name(var)})})
                return Bind("vmean", own.batch, var, one)
            case "where":
                mask = self.number(step.numbers[0], env, path)
                if not (isinstance(mask, App) and mask.head in {d.name for d in self.draws.values()}):
                    raise NotExportedError("a choice by other than one draw is not exported yet")
                weights = (mask, minus(ONE, mask))
                return VOp("add", tuple(VOp("scal", (c, value(v))) for c, v in zip(weights, step.of, strict=True)))
            case "average":
                return self._average(step, env, path)
            case "keep":
                return self._kept(self.draws[step.to], value(step.of[0]), env)
        raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")

    def _linear(self, step: Instruction, env: Env, path: Path) -> Term:
        found: Term | None = None
        for source, coefficient in zip(step.of, step.numbers, strict=True):
            text = formula_text(coefficient)
            one = self.value(source, env, path)
            if text == "1":
                found = one if found is None else VOp("add", (found, one))
            elif text == "(-1)" and found is not None:
                found = VOp("sub", (found, one))
            else:
                one = VOp("scal", (self.number(coefficient, env, path), one))
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

    def _average(self, step: Instruction, env: Env, path: Path) -> Term:
        (mask,) = step.numbers
        draw = self.draws.get(formula_text(mask))
        if draw is None or draw.op != "choose" or draw.number is None:
            raise NotExportedError("an average over other than chosen clients is not exported yet")
        var = self.setting.fresh("n", env)
        inner = {**env, "n": name(var)}
        chosen = VOp("scal", (self.number(mask, inner, path), self.value(step.of[0], inner, path)))
        return VOp("scal", (Inv(self.setting.term(draw.number, env)), Bind("vsum", name("N"), var, chosen)))

    # what a value at its indices is, with the hypothesis that says so

    def unfolded(self, v: Vec) -> tuple[Term, str] | None:
        """A state after a round, what a loop hands on, a tap: what they are, and a term of Rocq that proves it."""
        states = {safe(s.name): s for s in self.program.state}
        if v.head in states:
            return self._state(v, states[v.head].name, states[v.head].kind == "client")
        handed = [c for c in self.carried.values() if c.name == v.head]
        if handed:
            return self._turn(v, handed)
        tap = next((t for t in self.taps.values() if t.name == v.head), None)
        if tap is None:
            return None
        env = self._env(v, tap.client, tap.path)
        return self.value(tap.value, env, tap.path), self._cited(f"{v.head}_is", env)

    def _env(self, v: Vec, client: bool, path: Path) -> dict[str, Nat]:
        words = ["k", *TURNS[: len(path)], *(["n"] if client else []), *(["w"] if self.setting.random else [])]
        return dict(zip(words, v.args, strict=True))  # type: ignore[arg-type]

    def _cited(self, word: str, env: Env, bounded: bool = True) -> str:
        """A hypothesis at indices; of those of a state before the first round, none is of a round."""
        found = [word]
        for x in "khjnw":
            if x in env:
                found.append(nat_text(env[x]))
                if x != "k" or (self.setting.random and bounded):
                    found.append("ltac:(side)")
        return f"({' '.join(found)})"

    def _state(self, v: Vec, state: str, client: bool) -> tuple[Term, str] | None:
        env = self._env(v, client, ())
        k = env.pop("k")
        if k == count(0):
            return self.setting.start(state, env), self._cited(f"{v.head}_start", env)
        if k.constant < 1:
            return None
        env["k"] = k.shifted(-1)
        return self.after(state, env), self._cited(f"{v.head}_step", env)

    def _turn(self, v: Vec, own: Sequence[Carried]) -> tuple[Term, str] | None:
        """What loops hand on under this name, at these turns: `own` has the innermost last."""
        c = own[-1]
        env = self._env(v, c.client, c.path)
        at = TURNS[len(c.path) - 1]
        turn = env.pop(at)
        if turn == count(0) and len(own) > 1:
            return self._between(v, own[0], env)
        if turn == count(0):
            return self.value(c.first, env, c.path[:-1]), self._cited(f"{v.head}_first", env)
        if turn.constant < 1:
            return None
        env[at] = turn.shifted(-1)
        return self.value(c.following, env, c.path), self._cited(f"{v.head}_turn", env)

    def _between(self, v: Vec, c: Carried, env: dict[str, Nat]) -> tuple[Term, str] | None:
        """What an outer loop hands on, with which an inner one begins."""
        turn = env.pop("h")
        if turn == count(0):
            return self.value(c.first, env, ()), self._cited(f"{v.head}_first", env)
        if turn.constant < 1:
            return None
        env["h"] = turn.shifted(-1)
        return self.value(c.following, env, c.path), self._cited(f"{v.head}_next", env)


def within(path: Path, other: Path) -> bool:
    """Whether the loops of a path are the outer ones of another."""
    return other[: len(path)] == path


def round_of(setting: Setting) -> Round:
    """The round of the setting's algorithm, made once."""
    if "round" not in setting.kept:
        setting.kept["round"] = Round(setting)
    found = setting.kept["round"]
    assert isinstance(found, Round)
    return found
