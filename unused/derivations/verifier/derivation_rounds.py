"""One round of an algorithm in terms of derivations: what states after it, and taps, are made of, with its draws.

A loop hands on what taps show at the beginning of a turn: of a loop in it, its own value is what the inner loop begins
with. What is tapped there is unfolded in the turns that are asked for; elsewhere only where no draw of a turn is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from .derivation_atoms import ZERO_OR_ONE
from .derivation_binders import Swap
from .derivation_depends import Depends, Path, taps_of
from .derivation_draws import ENTRY, HERE, Expectation
from .derivation_making import VECTORS
from .derivation_normal import Normal
from .derivation_terms import UNIT, Atom, Poly, all_atoms
from .reading import Uncheckable
from .steps import Carried, Loop, Step
from .vocabulary import PASTS

MOST_TURNS = 40
Place = tuple[str, tuple[Atom, ...]]
"""A tap, and its turns."""


class Round(Depends):
    """The round that begins at the states of index `at`; with a path, that turn in it.

    Attributes:
        deep: whether states are unfolded in functions too where draws come in that are no coins.
        known: taps at certain turns. formulas: taps at any turns, in variables of these, without draws of turns.
        turning: where they are unfolded, taps in which a sample of the turn is, and how many turns later they show it.
    """

    def __init__(self, normal: Normal, at: Poly, path: Path = (), shares: bool = False, turning: bool = False) -> None:
        super().__init__(normal, at, path)
        self.shares = {} if shares else None
        self.deep = False
        self.known: dict[Place, Poly] = {}
        self.formulas: dict[str, Poly] = {}
        self.turning: dict[str, tuple[int, Poly]] | None = {} if turning else None
        self.where: tuple[Poly, ...] = ()
        self.along = 0
        self.symbolic = False
        self.own: set[int] = set()
        self.around: list[Loop] = []
        self.expectation = Expectation(self)
        self._steps(self.program.body)

    # what a sentence asks

    def unfolded(self, name: str, index: list[Poly], where: list[Atom]) -> Poly | None:
        """What a state or tap is, or None where it stays."""
        al = self.algebra
        found: Poly | None = None
        shift = al.sub(index[0], self.at)
        if name in self.program.taps:
            found = None if shift else self._tapped(name, index[1:])
        elif shift == UNIT and not self.path:
            position = [s.name for s in self.program.state].index(name)
            kind, value = self._get(self.program.result[position])
            if kind not in (*VECTORS, *PASTS, "table"):
                raise Uncheckable(f"the state {name} is of a kind that is not read in derivations")
            found = self.remembered(value, index[1]) if kind in PASTS else value
        if found is None:
            return None
        own = zip((HERE, ENTRY), where, strict=False)
        return al.renamed(found, {name: at.parts[0] for name, at in own}) if where else found

    def _tapped(self, name: str, turns: Sequence[Poly]) -> Poly | None:
        al = self.algebra
        key = name, tuple(map(al.frozen, turns))
        later, formula = (self.turning or {}).get(name, (0, self.formulas.get(name)))
        if key in self.known or formula is None or (later and turns[0].get((), 0) < 1):
            return self.known.get(key)
        if later:
            turns = [al.sub(turns[0], UNIT)]
        if not all(map(self.normal.certainly, turns)):
            return None
        variables = {_variable(depth): turn for depth, turn in enumerate(turns)}

        def turned(a: Atom) -> Poly | None:
            return variables.get(a.parts[0]) if a.tag == "v" else None

        def shown(a: Atom) -> Poly | None:
            if a.tag != "tap" or a.parts[1] is not now:
                return None
            found = self.known.get((a.parts[0], self.turns_at(a)))
            clients = a.parts[2 + len(self.program.taps[a.parts[0]][1]) :]
            return found if found is None or not clients else al.renamed(found, {HERE: clients[0].parts[0]})

        now = al.frozen(self.at)
        found = al.swapped(formula, Swap(lambda a: not a.frees.isdisjoint(variables), turned))
        return al.swapped(found, Swap(lambda a: any(leaf.tag == "tap" for leaf in a.leaves), shown))

    def tossed(self, p: Poly) -> bool:
        """Whether no draw stands in it but of 0 and 1, and of no client that a mean in it is over."""
        drawn = [a for a in all_atoms(p) if a.tag in ("draw", "noise", "keep", "drawn")]
        return all(a.tag == "draw" and a.parts[0] in ZERO_OR_ONE and not a.bound for a in drawn)

    def expected(self, p: Poly) -> Poly:
        """E over the draws of the round."""
        return self.expectation.of(p)

    # the round

    def _steps(self, steps: tuple[Step | Loop, ...]) -> None:
        for step in steps:
            if isinstance(step, Loop):
                self._repeat(step)
            elif step.op == "tap":
                self._tap(step)
            else:
                try:
                    self.values[step.to] = (step.kind, self._made(step))
                except Uncheckable as reason:
                    self.values[step.to] = ("unread", str(reason))

    def _draw(self, *what: Any) -> int:
        draw = super()._draw(*what)
        self.depth[draw] = -1 if self.symbolic else self.along
        if self.symbolic:
            self.own.add(draw)
            self.turns_of[draw] = self.around[-1], self.where
        return draw

    def _share(self, active: int) -> int:
        share = super()._share(active)
        self.depth[share] = self.depth[active]
        if active not in self.own:
            self.own.discard(share)
        return share

    def _tap(self, step: Step) -> None:
        """What a tap shows: for good, or in a turn that stands for any, in which what is drawn in it stays a tap."""
        label, name = step.label, step.of[0]
        kind, value = self.values[name]
        if not self.symbolic:
            if not self.where:
                self.direct[label] = frozenset(self.kinds), frozenset()
            if kind in VECTORS:
                self.known[label, tuple(map(self.algebra.frozen, self.where))] = value
            return
        if any(c.name == name for c in self.around[-1].carried):
            return
        if self.general():
            self.direct[label] = self.draws_in([(kind, value)])
        following = [c for c in self.around[-1].carried if c.following == name]
        if following and self.program.kinds[following[0].name] == self.program.taps[label][0]:
            kind, value = self._shown(self.around[-1], following[0], 1)
        if kind not in VECTORS:
            return
        if {draw for m in value for a, _ in m for draw, _ in a.dr} & self.own:
            self._turns(label, 0, value)
            self.values[name] = kind, self._atom(label, kind, self.where)
        elif self.general():
            self.formulas[label] = value

    def _turns(self, label: str, later: int, value: Poly) -> None:
        """What a tap shows of a turn, where nothing but samples is drawn in it."""
        drawn = {draw for m in value for a, _ in m for draw, _ in a.dr} & self.own
        own = len(self.where) == 1 - later and all(self.kinds[draw][0] == "sample" for draw in drawn)
        if self.turning is not None and not self.path and own and (later or self.general()):
            self.turning[label] = later, value

    def general(self) -> bool:
        """Whether the turns are those that stand for any."""
        variables = [self.algebra.of(self.algebra.var(_variable(depth))) for depth in range(len(self.where))]
        return list(self.where) == variables

    # loops

    def _repeat(self, loop: Loop) -> None:
        """A loop: by the taps of what it hands on, else its turns one by one, where their number is given."""
        kept = self.where, self.symbolic, self.along, list(self.around), dict(self.turns)
        try:
            if loop.op != "repeat" or loop.count is None:
                raise Uncheckable(f"{loop.op} is not read in derivations")
            count = self._scalar(loop.count)
            number = count.get((), Fraction(-1))
            whole = set(count) <= {()} and number.denominator == 1 and 0 < number <= MOST_TURNS
            if whole and not all(any(self._places(loop, c)) for c in loop.carried):
                self._turn_by_turn(loop, int(number))
            else:
                self._bytaps_of(loop, count)
        except Uncheckable as reason:
            self.where, self.symbolic, self.along, self.around, self.turns = kept
            for value in _all_values(loop):
                self.values[value] = ("unread", str(reason))

    def _places(self, loop: Loop, c: Carried) -> Iterator[tuple[str, int]]:
        """The taps that show what a loop hands on at the beginning of a turn, and how many loops inside they are."""
        for step in taps_of(loop):
            if step.of[0] == c.name:
                yield step.label, 0
        for inner in loop.body:
            if isinstance(inner, Loop) and inner.op == "repeat":
                for other in inner.carried:
                    if other.first == c.name and self.program.kinds[other.name] == self.program.kinds[c.name]:
                        yield from ((label, more + 1) for label, more in self._places(inner, other))

    def _key(self, loop: Loop, c: Carried, turn: Poly) -> tuple[str, tuple[Poly, ...]] | None:
        """The tap that shows what a loop hands on at the beginning of a turn, and its turns."""
        found = next(self._places(loop, c), None)
        return None if found is None else (found[0], (*self.where, turn, *[Poly() for _ in range(found[1])]))

    def _at(self, loop: Loop, c: Carried, turn: Poly) -> tuple[str, Any]:
        """What a loop hands on, at the beginning of a turn."""
        key, kind = self._key(loop, c, turn), self.program.kinds[c.name]
        if key is None or kind not in VECTORS:
            return "unread", "what a loop hands on has no tap in it"
        return kind, self._atom(key[0], kind, key[1])

    def _shown(self, loop: Loop, c: Carried, later: int) -> tuple[str, Any]:
        """What the loop of which this is a turn hands on, some turns later."""
        before, self.where = self.where, self.where[:-1]
        try:
            return self._at(loop, c, self.algebra.add(before[-1], {(): Fraction(later)}))
        finally:
            self.where = before

    def _atom(self, label: str, kind: str, turns: Sequence[Poly]) -> Poly:
        al = self.algebra
        where = [al.var(HERE)] if kind == "client" else []
        return al.of(al.atom("tap", label, al.frozen(self.at), *map(al.frozen, turns), *where, vec=True))

    def _bytaps_of(self, loop: Loop, count: Poly) -> None:
        """What is handed on is that of its tap: at the end that of the turn after the last."""
        outer = self.where
        if self.expectation.drawn(count) or any(a.frees for m in count for a, _ in m):
            raise Uncheckable("a loop of a length that is drawn, or one for each client or turn")
        first = {c.name: self.values[c.first] for c in loop.carried}
        before = dict(self.values)
        added = self._any_turn(loop, first, count)
        self.values = dict(before)
        if not self.symbolic:
            self._know(loop, {}, [(c, first[c.name]) for c in loop.carried])
            if self.along < len(self.path) and self.path[self.along][0] is loop and self.along == len(outer):
                self._one_turn(loop, self.path[self.along][1], first)
            self.values = before
        for name in _all_values(loop):
            self.values[name] = ("unread", "a value of the last turn of a loop that is not handed on")
        for c in loop.carried:
            self.values[c.name] = self.values[c.following] = added.get(c.name) or self._at(loop, c, count)

    def _any_turn(self, loop: Loop, first: dict[str, tuple[str, Any]], count: Poly) -> dict[str, tuple[str, Any]]:
        """A turn that stands for any: what its taps are, and on what they hang; what turns add up that no tap shows."""
        al, outer, symbolic = self.algebra, self.where, self.symbolic
        if not symbolic:
            self.own = set()
        variable = al.of(al.var(_variable(len(outer))))
        for c in loop.carried:
            self.values[c.name] = self._at(loop, c, variable)
        self.symbolic = True
        self._in_turn(loop, variable)
        self.symbolic = symbolic
        for c in loop.carried if self.general() else ():
            for label, inside in self._places(loop, c):
                # what a loop inside begins with is what this one hands on: both hang on the same
                draws, taps = self.draws_in([first[c.name], self.values[c.following]])
                old = self.direct.get(label, (frozenset[int](), frozenset[str]()))
                self.direct[label] = draws | old[0], taps | old[1]
                if c.following in self.values and self.values[c.following][0] in VECTORS and not inside:
                    self._turns(label, 1, self.values[c.following][1])
        found = {}
        for c in loop.carried if not outer and not self.path else ():
            if not any(self._places(loop, c)) and first[c.name][0] in VECTORS:
                try:
                    total = self._added(loop, c, variable, count)
                except Uncheckable:
                    continue
                found[c.name] = self.program.kinds[c.name], al.add(first[c.name][1], total)
        return found

    def _added(self, loop: Loop, c: Carried, variable: Poly, count: Poly) -> Poly:
        """The sum over the turns of what is added to a value in each.

        Raises:
            Uncheckable: where something else is done to it.
        """
        al, made = self.algebra, [s for s in loop.body if isinstance(s, Step) and s.to == c.following]
        if not made or made[0].op != "linear" or made[0].of.count(c.name) != 1:
            raise Uncheckable("a loop does something else than add to a value")
        terms = dict(zip(made[0].of, made[0].numbers, strict=True))
        if len(terms) != len(made[0].of) or self._scalar(terms.pop(c.name)) != UNIT:
            raise Uncheckable("a loop does something else than add to a value")
        self.turns[loop.index] = variable
        try:
            total = al.add({}, *(al.mul(self._scalar(x), self._vector(v)) for v, x in terms.items()))
        finally:
            del self.turns[loop.index]
        if any(self.kinds[draw][0] != "sample" for m in total for a, _ in m for draw, _ in a.dr if draw in self.own):
            raise Uncheckable("a loop adds up what is drawn in its turns, and not at samples")
        mark, name = al.count, al.fresh("h")
        of_turns = al.swapped(total, al.putting({_variable(0): al.of(al.var(name))}))
        return al.done(al.bind(of_turns, ("h", name, al.frozen(count))), mark)

    def _in_turn(self, loop: Loop, turn: Poly) -> None:
        outer = self.where
        self.where, self.turns[loop.index] = (*outer, turn), turn
        self.around.append(loop)
        self._steps(loop.body)
        self.around.pop()
        self.where = outer
        del self.turns[loop.index]

    def _one_turn(self, loop: Loop, turn: Poly, first: dict[str, tuple[str, Any]]) -> None:
        for c in loop.carried:
            self.values[c.name] = self._at(loop, c, turn) if turn else first[c.name]
        self.along += 1
        self._in_turn(loop, turn)
        self.along -= 1
        following = [(c, self.values[c.following]) for c in loop.carried]
        self._know(loop, self.algebra.add(turn, UNIT), following)

    def _know(self, loop: Loop, turn: Poly, values: Sequence[tuple[Carried, tuple[str, Any]]]) -> None:
        """What taps show at the beginning of a turn."""
        for c, (kind, value) in values:
            for label, more in self._places(loop, c):
                if kind in VECTORS:
                    turns = (*self.where, turn, *[Poly() for _ in range(more)])
                    self.known[label, tuple(map(self.algebra.frozen, turns))] = value

    def _turn_by_turn(self, loop: Loop, number: int) -> None:
        for c in loop.carried:
            self.values[c.name] = self._get(c.first)
        for h in range(number):
            self._in_turn(loop, {(): Fraction(h)} if h else {})
            following = [self.values[c.following] for c in loop.carried]
            for c, value in zip(loop.carried, following, strict=True):
                self.values[c.name] = value


def _variable(depth: int) -> str:
    return f"turn${depth}"


def _all_values(loop: Loop) -> list[str]:
    names = [c.name for c in loop.carried]
    for step in loop.body:
        names += _all_values(step) if isinstance(step, Loop) else [step.to]
    return [name for name in names if name]
