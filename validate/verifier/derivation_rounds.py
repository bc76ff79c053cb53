"""One round of an algorithm in terms of derivations: what states after it are made of, with the round's draws."""

from __future__ import annotations

from typing import Any

from .derivation_draws import HERE, Expectation
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_terms import ONE, UNIT, Atom, Poly
from .reading import Uncheckable
from .sentences import index_of, names_in
from .steps import Loop, Scalar, Step

MOST_TURNS = 40


class Round:
    """The round that begins at the states of index `at`, or, with `turn`, one turn of a loop in it.

    Attributes:
        labels: of each tap of the round, the draws that it hangs on.
    """

    def __init__(self, normal: Normal, at: Poly, turn: Poly | None, loop: Loop | None) -> None:
        self.normal, self.algebra, self.at, self.turn, self.loop = normal, normal.algebra, at, turn, loop
        assert normal.claimed.program is not None
        self.program = normal.claimed.program
        self.values: dict[str, tuple[str, Any]] = {}
        self.draws = 0
        self.kinds: dict[int, tuple[Any, ...]] = {}
        self.labels: dict[str, frozenset[int]] = {}
        self.tapped: dict[str, Poly] = {}
        self.begun: dict[str, Poly] = {}
        self.turned: dict[str, Poly] = {}
        self.expectation = Expectation(self)
        self.turns: dict[str, Poly] = {}
        self._run()

    # what a sentence asks

    def unfolded(self, name: str, index: list[Poly], where: list[Atom]) -> Poly | None:
        """What a state or tap is, or None where it stays."""
        al = self.algebra
        found: Poly | None = None
        shift = al.sub(index[0], self.at)
        if name in self.labels:
            if shift:
                return None
            if len(index) == 1:
                found = self.tapped.get(name)
            elif not index[1]:
                found = self.begun.get(name)
            elif self.turn is not None and not al.sub(index[1], al.add(self.turn, UNIT)):
                found = self.turned.get(name)
        elif shift == UNIT and self.turn is None:
            position = [s.name for s in self.program.state].index(name)
            kind, value = self.values[self.program.result[position]]
            if kind not in ("server", "client"):
                raise Uncheckable(f"the state {name} is of a kind that is not read in derivations")
            found = value
        if found is None:
            return None
        return al.renamed(found, {HERE: where[0].parts[0]}) if where else found

    def only_coins(self, p: Poly) -> bool:
        """Whether no draw stands in it but coins that are one for all."""
        return all(self.kinds[draw][0] == "coin" for m in p for a, _ in m for draw, _ in a.dr)

    def expected(self, p: Poly) -> Poly:
        """E over the draws of the round."""
        return self.expectation.of(p)

    # the round

    def _run(self) -> None:
        env = Env()
        for place, s in enumerate(self.program.state):
            if s.kind not in ("server", "client"):
                self.values[f"_{place}"] = ("unread", s.name)
                continue
            al = self.algebra
            if not self.at:
                value = self.normal.value(s.initial, env.with_names(n=HERE))
            else:
                where = [al.var(HERE)] if s.kind == "client" else []
                value = al.of(al.atom("x", s.name, al.frozen(self.at), *where, vec=True))
            self.values[f"_{place}"] = (s.kind, value)
        self._steps(self.program.body, True)

    def _steps(self, steps: tuple[Step | Loop, ...], outer: bool) -> None:
        for step in steps:
            if isinstance(step, Loop):
                self._repeat(step, outer)
            elif step.op == "tap":
                if outer:
                    self.labels[step.label] = frozenset(self.kinds)
                    if self.values[step.of[0]][0] in ("server", "client"):
                        self.tapped[step.label] = self._vector(step.of[0])
            else:
                try:
                    self.values[step.to] = (step.kind, self._made(step))
                except Uncheckable as reason:
                    self.values[step.to] = ("unread", str(reason))

    def _get(self, name: str) -> tuple[str, Any]:
        kind, value = self.values[name]
        if kind == "unread":
            raise Uncheckable(value)
        return kind, value

    def _vector(self, name: str) -> Poly:
        kind, value = self._get(name)
        if kind not in ("server", "client"):
            raise Uncheckable(f"a value of kind {kind} is not read in derivations")
        found: Poly = value
        return found

    def _scalar(self, scalar: Scalar) -> Poly:
        """A number of the program, that of client HERE where it is one for each."""
        al, given = self.algebra, dict(self.turns)
        for name in names_in(scalar.tree):
            if name in scalar.values:
                given[name] = self._get(name)[1]
            elif name in self.program.parameters:
                index = self.normal.indexed.get(index_of(name)[0], "")
                places: list[Any] = [al.var(HERE) if c == "n" else al.frozen(self.at) for c in index if c in "nk"]
                if len(places) != len(index):
                    raise Uncheckable(f"{name} is no number, or one for each sample or turn")
                given[name] = al.of(al.atom("p", name, *places))
            elif name == "k":
                given[name] = self.at
        return self.normal.value(scalar.tree, Env(given=given))

    def _draw(self, *what: Any) -> int:
        self.draws += 1
        self.kinds[self.draws] = what
        return self.draws

    def _made(self, step: Step) -> Any:
        al, op = self.algebra, step.op
        here: Any = al.var(HERE)
        if op == "linear":
            terms = zip(step.numbers, step.of, strict=True)
            return al.add({}, *(al.mul(self._scalar(c), self._vector(v)) for c, v in terms))
        if op == "sample":
            return self._draw("sample", self._scalar(step.numbers[0]), step.replace)
        if op in ("coin", "coins", "choose"):
            number = self._scalar(step.numbers[0])
            if self.expectation.drawn(number):
                raise Uncheckable(f"the argument of {op} is drawn")
            kind = "counts" if op == "choose" and step.replace else op
            draw = self._draw(kind, number)
            return al.of(al.atom("draw", kind, draw, here if op != "coin" else ""))
        if op == "noise":
            number = self._scalar(step.numbers[0])
            if self.expectation.drawn(number):
                raise Uncheckable("the variance of noise is drawn")
            return al.of(al.atom("noise", "noise", self._draw("noise", number), here, vec=True))
        if op == "keep":
            number = self._scalar(step.numbers[0])
            if self.expectation.drawn(number):
                raise Uncheckable("the argument of keep is drawn")
            client = here if step.kind == "client" else ""
            return al.keep("keep", self._draw("keep", number), client, al.frozen(number), self._vector(step.of[0]))
        if op == "gradient":
            return self._gradient(step)
        if op == "full gradient":
            return self.normal.of_function(0, al.frozen(self._vector(step.of[0])), True, HERE, "")
        if op == "each":
            return self._vector(step.of[0])
        if op in ("mean", "sum"):
            mean = self._mean(self._vector(step.of[0]))
            return mean if op == "mean" else al.mul(al.of(al.atom("p", "N")), mean)
        if op == "where":
            mask = self._scalar(step.numbers[0])
            one, two = (self._vector(v) for v in step.of)
            if not self._zero_or_one(mask):
                raise Uncheckable("where is read with a mask of 0 and 1 that is drawn")
            return al.add(al.mul(mask, one), al.mul(al.sub(UNIT, mask), two))
        if op == "average":
            weights = self._scalar(step.numbers[0])
            ((mono, c),) = weights.items() if len(weights) == 1 else (((), 0),)
            if c != 1 or len(mono) != 1 or mono[0][0].tag != "draw" or mono[0][0].parts[0] not in ("choose", "counts"):
                raise Uncheckable("average is read over clients that are chosen")
            count = self.kinds[mono[0][0].parts[1]][1]
            total = self._mean(al.mul(weights, self._vector(step.of[0])))
            return al.mul(al.mul(al.of(al.atom("p", "N")), al.inverse(count)), total)
        raise Uncheckable(f"{op} is not read in derivations")

    def _mean(self, p: Poly) -> Poly:
        name = self.algebra.fresh("n")
        return self.algebra.bind(self.algebra.renamed(p, {HERE: name}), ("n", name, ""))

    def _zero_or_one(self, mask: Poly) -> bool:
        """A drawn 0 or 1, or 1 less it."""
        for p in (mask, self.algebra.sub(UNIT, mask)):
            if len(p) == 1:
                ((mono, c),) = p.items()
                if c == 1 and mono and all(a.tag == "draw" and a.parts[0] != "counts" for a, _ in mono):
                    return True
        return False

    def _gradient(self, step: Step) -> Poly:
        al = self.algebra
        at = al.frozen(self._vector(step.of[0]))
        if len(step.of) == 1:
            return self.normal.of_function(1, at, True, HERE, "")
        _, draw = self._get(step.of[1])
        if self.normal.level < 2:
            raise Uncheckable("the samples of a program that is read without them")
        which = al.atom("drawn", "sample", draw, al.var(HERE))
        return al.of(al.atom("grad", "f_ni", at, al.var(HERE), which, vec=True))

    # loops

    def _repeat(self, loop: Loop, outer: bool) -> None:
        """A loop: its turns one by one, where their number is given, else by the taps of what it hands on."""
        try:
            if loop.op != "repeat" or loop.count is None:
                raise Uncheckable(f"{loop.op} is not read in derivations")
            count = self._scalar(loop.count)
            number = count.get((), ONE - 1)
            if set(count) <= {()} and number.denominator == 1 and 0 < number <= MOST_TURNS:
                self._turn_by_turn(loop, int(number))
            elif outer:
                self._by_taps(loop, count)
            else:
                raise Uncheckable("a loop in a loop")
        except Uncheckable as reason:
            for value in self._all_values(loop):
                self.values[value] = ("unread", str(reason))
        for label, (_, loops) in self.program.taps.items():
            if loop in loops:
                self.labels.setdefault(label, frozenset(self.kinds))

    def _all_values(self, loop: Loop) -> list[str]:
        names = [c.name for c in loop.carried]
        for step in loop.body:
            names += self._all_values(step) if isinstance(step, Loop) else [step.to]
        return [name for name in names if name]

    def _turn_by_turn(self, loop: Loop, number: int) -> None:
        if any(isinstance(s, Step) and s.op == "tap" for s in loop.body) and self.loop is loop:
            raise Uncheckable("a turn of a loop that is written out")
        for c in loop.carried:
            self.values[c.name] = self._get(c.first)
        for h in range(number):
            self.turns[loop.index] = {(): ONE * h} if h else {}
            self._steps(loop.body, False)
            following = [self.values[c.following] for c in loop.carried]
            for c, value in zip(loop.carried, following, strict=True):
                self.values[c.name] = value
        del self.turns[loop.index]

    def _by_taps(self, loop: Loop, count: Poly) -> None:
        """What is handed on is that of its tap: at the end that of the turn after the last."""
        al = self.algebra
        if self.expectation.drawn(count) or any(a.frees for m in count for a, _ in m):
            raise Uncheckable("a loop of a length that is drawn, or one for each client")
        labels = {s.of[0]: s.label for s in loop.body if isinstance(s, Step) and s.op == "tap"}
        if self.turn is not None and self.loop is loop:
            self._one_turn(loop, labels)
        first = {c.name: self.values[c.first] for c in loop.carried}
        before, draws = dict(self.values), set(self.kinds)
        self.turns[loop.index] = al.of(al.var("turn$"))
        for c in loop.carried:
            self.values[c.name] = self._tap(labels, c.name, self.program.kinds[c.name], al.of(al.var("turn$")))
        self._steps(loop.body, False)  # for what it hangs on
        del self.turns[loop.index]
        own = set(self.kinds) - draws
        hangs = self._draws_in([*first.values(), *(self.values[c.following] for c in loop.carried)], own)
        for label in labels.values():
            self.labels[label] = frozenset(hangs - own if self.turn is not None and self.loop is loop else hangs | own)
        self.values = before
        for c in loop.carried:
            kind = self.program.kinds[c.name]
            value = self._tap(labels, c.name, kind, count)
            self.values[c.name] = value
            self.values[c.following] = value
            if c.name in labels and first[c.name][0] in ("server", "client"):
                self.begun[labels[c.name]] = first[c.name][1]
        handed = {c.following for c in loop.carried} | {c.name for c in loop.carried}
        for name in self._all_values(loop):
            if name not in handed:
                self.values[name] = ("unread", "a value of the last turn of a loop that is not handed on")

    def _draws_in(self, values: list[tuple[str, Any]], own: set[int]) -> set[int]:
        """The draws on which values hang."""
        found: set[int] = set()
        for kind, value in values:
            if kind not in ("server", "client"):
                return set(self.kinds)
            for m in value:
                for a, _ in m:
                    found |= {draw for draw, _ in a.dr}
                    for leaf in a.leaves:
                        if leaf.tag == "tap":
                            found |= self.labels.get(leaf.parts[0], frozenset(own))
        return found

    def _tap(self, labels: dict[str, str], name: str, kind: str, turn: Poly) -> tuple[str, Any]:
        al = self.algebra
        if name not in labels or kind not in ("server", "client"):
            return "unread", "what a loop hands on has no tap in it"
        where = [al.var(HERE)] if kind == "client" else []
        indices = (al.frozen(self.at), al.frozen(turn))
        return kind, al.of(al.atom("tap", labels[name], *indices, *where, vec=True))

    def _one_turn(self, loop: Loop, labels: dict[str, str]) -> None:
        assert self.turn is not None
        before = dict(self.values)
        self.turns[loop.index] = self.turn
        for c in loop.carried:
            tap = self._tap(labels, c.name, self.program.kinds[c.name], self.turn)
            self.values[c.name] = tap if self.turn else self.values[c.first]
        self._steps(loop.body, False)
        for c in loop.carried:
            kind, value = self.values[c.following]
            if c.name in labels and kind in ("server", "client"):
                self.turned[labels[c.name]] = value
        del self.turns[loop.index]
        self.values = before
