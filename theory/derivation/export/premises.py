"""What a theorem assumes of an algorithm's rounds: states, what loops hand on, taps, draws and their laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theory.derivation.export.draws import SPELLED, Before, Draw, Path, law
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import Env, safe
from theory.derivation.export.rounds import Carried, Round, Tap, round_of, within
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import Nat, Vec, count, name, nat_text, put, text_of
from theory.formula import names_in
from theory.program import Instruction, Loop
from theory.sentence import TURNS


class Premises:
    """The hypotheses about rounds of one theorem."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.round: Round = round_of(setting)

    # what is there before a draw

    def before(self, draw: Draw) -> list[Before]:
        """What is there before a draw: states, what its turns begin with, earlier loops' ends, earlier draws; and
        what is made later, and not of it, turn by turn."""
        found = []
        for s in self.round.program.state:
            found.append(self._vector(safe(s.name), s.kind == "client", (name("k"),)))
        found += self._in(self.round.program.body, draw, ())
        names = [b.head for b in found]
        return [
            replace(b, name=b.head if names.count(b.head) == 1 else f"{b.head}_{names[:i].count(b.head) + 1}")
            for i, b in enumerate(found)
        ]

    def _in(self, body: Sequence[Instruction | Loop], draw: Draw, path: Path) -> list[Before]:
        """What is there before a draw of what a body makes."""
        found: list[Before] = []
        past = False
        for step in body:
            if isinstance(step, Instruction):
                past = past or self.round.draws.get(step.to) == draw
                found += [] if past else self._earlier(step)
                continue
            inner = (*path, step)
            if within(inner, draw.path):
                found += [self._handed(c, name(TURNS[len(path)])) for c in self._of(inner)]
                found += self._in(step.body, draw, inner)
                past = True
            elif not past:
                found += [self._handed(c, self.setting.turns(step)) for c in self._of(inner)]
            if past and not draw.path and not within(inner, draw.path):
                found += [self._any_turn(c) for c in self._of(inner, True) if not self._made_of(draw, c)]
        return found

    def _of(self, path: Path, inside: bool = False) -> list[Carried]:
        """What a loop hands on, and those inside it."""
        found = [c for c in self.round.carried.values() if c.path == path or (inside and within(path, c.path))]
        return [c for c in found if not (inside and c.begins)]

    def _made_of(self, draw: Draw, c: Carried) -> bool:
        """Whether what a loop hands on hangs on a draw."""
        (to,) = [word for word, one in self.round.draws.items() if one == draw]
        return {c.first, c.following} & made_of(to, self.round.program.body) != set()

    def _vector(self, head: str, client: bool, at: tuple[Nat, ...], more: str = "") -> Before:
        """A vector, or one of every client; `more` has turns for all of which it is given."""
        free = [*more, *(["n"] if client else [])]
        words = " ".join([head, *(nat_text(put(a, {"k": name("t")})) for a in at), *free, *self._outcome])  # type: ignore[arg-type]
        kind = "".join("nat -> " for _ in free) + "V"
        text = f"(fun {' '.join(free)} => {words})" if free else f"({words})"
        return Before(head, head, f"({kind})" if free else kind, text, at)

    @property
    def _outcome(self) -> list[str]:
        return ["w"] if self.setting.random else []

    def _handed(self, c: Carried, turn: Nat) -> Before:
        turns = [*(name(TURNS[i]) for i in range(len(c.path) - 1)), turn, *([count(0)] if c.begins else [])]
        return self._vector(c.name, c.client, (name("k"), *turns))

    def _any_turn(self, c: Carried) -> Before:
        return self._vector(c.name, c.client, (name("k"),), "".join(TURNS[: len(c.path)]))

    def _earlier(self, step: Instruction) -> list[Before]:
        one = self.round.draws.get(step.to)
        if one is None:
            return []
        own = [x for x in one.indices if x in "nbc"]
        at = [x for x in one.indices if x in "khj"]
        words = [SPELLED.get(x, x) for x in own]
        inner = f"{one.name} {' '.join('t' if x == 'k' else x for x in at)} {' '.join([*words, 'w'])}"
        text = f"(fun {' '.join(words)} => {inner})" if own else f"({inner})"
        kind = "".join("nat -> " for _ in own) + one.type
        return [Before(one.name, one.name, f"({kind})" if own else kind, text, tuple(map(name, at)))]

    # hypotheses

    def hypotheses(self) -> list[tuple[str, str]]:
        """The chances, states, what loops hand on and taps, the draws and their law, and what becomes of it all."""
        random = self.setting.random
        found: list[tuple[str, str]] = []
        if random:
            found += [("Pr", "chances"), ("rounds", "nat")]
            if self.setting.furthest:
                found.append(("rounds_dom", f"({self.setting.furthest} <= rounds)%nat"))
        outcome = "nat -> " if random else ""
        for s in self.round.program.state:
            if s.kind not in ("server", "client"):
                raise NotExportedError(f"a state that is a {s.kind} is not exported yet")
            found.append((safe(s.name), f"nat -> {'nat -> ' if s.kind == 'client' else ''}{outcome}V"))
        shown: dict[str, Carried | Tap] = {c.name: c for c in self.round.carried.values()}
        shown |= self.round.taps
        for one in shown.values():
            turns = "nat -> " * len(one.path)
            found.append((one.name, f"nat -> {turns}{'nat -> ' if one.client else ''}{outcome}V"))
        for s in self.round.program.state:
            env = self._symbols(s.kind == "client")
            start = text_of(self.setting.start(s.name, env))
            left = Vec(safe(s.name), (count(0), *(env[x] for x in "nw" if x in env)))
            found.append((f"{safe(s.name)}_start", f"{self._given(env)}{text_of(left)} = {start}"))
        for draw in self.round.draws.values():
            found += law(self.setting, draw, self.before(draw))
        for c in self.round.carried.values():
            found += self._handing(c)
        for tap in self.round.taps.values():
            env = {"k": name("t"), **self._symbols(tap.client), **self._turns(tap.path)}
            at = text_of(Vec(tap.name, self.round.indices(tap.client, env, [env[x] for x in TURNS[: len(tap.path)]])))
            value = text_of(self.round.value(tap.value, env, tap.path))
            found.append((f"{tap.name}_is", f"{self._given(env, tap.path)}{at} = {value}"))
        for s in self.round.program.state:
            env = {"k": name("t"), **self._symbols(s.kind == "client")}
            left = Vec(safe(s.name), self.round.indices(s.kind == "client", {**env, "k": name("t").shifted(1)}))
            after = text_of(self.round.after(s.name, env))
            found.append((f"{safe(s.name)}_step", f"{self._given(env)}{text_of(left)} = {after}"))
        return found

    def _handing(self, c: Carried) -> list[tuple[str, str]]:
        """What a loop hands on is in its first turn, and in the turn after each."""
        outer, last = c.path[:-1], TURNS[len(c.path) - 1]
        env = {"k": name("t"), **self._symbols(c.client), **self._turns(outer)}
        found = []
        if not any(other.begins and other.name == c.name and other is not c for other in self.round.carried.values()):
            first = text_of(self.round.value(c.first, env, outer))
            at = text_of(self.round.handed(c, count(0), env))
            found.append((f"{c.name}_first", f"{self._given(env, outer)}{at} = {first}"))
        env = {**env, last: name(last)}
        following = text_of(self.round.value(c.following, env, c.path))
        at = text_of(self.round.handed(c, name(last).shifted(1), env))
        word = "next" if c.begins else "turn"
        return [*found, (f"{c.name}_{word}", f"{self._given(env, c.path)}{at} = {following}")]

    def _turns(self, path: Path) -> dict[str, Nat]:
        return {x: name(x) for x in TURNS[: len(path)]}

    def _symbols(self, client: bool) -> dict[str, Nat]:
        return {**({"n": name("n")} if client else {}), **({"w": name("w")} if self.setting.random else {})}

    def _given(self, env: Env, path: Path = ()) -> str:
        """The indices for all of which a hypothesis is, and their bounds."""
        bounds = {"k": "(t < rounds)%nat -> " if self.setting.random else "", "n": "(n < N)%nat -> "}
        bounds["w"] = "(w < outcomes Pr)%nat -> "
        for x, loop in zip(TURNS, path, strict=False):
            bounds[x] = f"({x} < {nat_text(self.setting.turns(loop))})%nat -> "
        return "".join(f"forall {nat_text(env[x])}, {bounds[x]}" for x in "khjnw" if x in env)


def made_of(to: str, body: Sequence[Instruction | Loop]) -> set[str]:
    """The values of a program that hang on one, itself among them."""
    found = {to}
    while True:
        more = found | _next(found, body)
        if more == found:
            return found
        found = more


def _next(known: set[str], body: Sequence[Instruction | Loop]) -> set[str]:
    found: set[str] = set()
    for step in body:
        if isinstance(step, Loop):
            found |= _next(known, step.body) | {c.name for c in step.carried if {c.first, c.following} & known}
            continue
        words = [word for number in step.numbers for word in names_in(number)]
        if known & {*step.of, *words}:
            found.add(step.to)
    return found
