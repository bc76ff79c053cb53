"""What the steps of an algorithm make in terms of derivations: functions of the client HERE, of states, taps, draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .derivation_binders import Swap
from .derivation_coordinates import COORDINATE, each, entry
from .derivation_draws import ENTRY, HERE, Expectation
from .derivation_normal import CLIENTS, Normal
from .derivation_places import Env
from .derivation_terms import UNIT, Atom, Poly
from .reading import Uncheckable
from .sentences import index_of, names_in, read_formula
from .steps import Scalar, Step
from .vocabulary import PASTS

VECTORS = ("server", "client")


class Made(ABC):
    """The values of a round that begins at the states of index `at`.

    Attributes:
        values: of each the kind, and what it is; `unread` with the reason. kinds: of the draws. turns: their numbers.
        by_coordinates: whether vectors are made so. partial: whether something in it may have no value.
        shares: of draws of clients, the draws of their weights in averages, where these are meant.
    """

    def __init__(self, normal: Normal, at: Poly) -> None:
        self.normal, self.algebra, self.at = normal, normal.algebra, at
        assert normal.claimed.program is not None
        self.program = normal.claimed.program
        self.values: dict[str, tuple[str, Any]] = {}
        self.kinds: dict[int, tuple[Any, ...]] = {}
        self.shares: dict[int, int] | None = None
        self.partial = self.by_coordinates = False
        self.turns: dict[str, Poly] = {}
        self.expectation: Expectation
        for place, s in enumerate(self.program.state):
            self.values[f"_{place}"] = (s.kind, self._begun(s.name, s.kind, s.initial))

    def _begun(self, name: str, kind: str, initial: Any) -> Any:
        """A state before the round; of one that remembers vectors its name, and what was put in front of them."""
        if kind in PASTS:
            return name, ()
        if kind not in (*VECTORS, "table"):
            return None
        return self._state(name, kind, initial)

    def _state(self, name: str, kind: str, initial: Any, *place: Poly) -> Poly:
        al = self.algebra
        if not self.at:
            return self.normal.value(initial, Env().with_names(n=HERE, i=ENTRY))
        where = [al.var({"n": HERE, "i": ENTRY}[index]) for index in CLIENTS[kind]]
        return al.of(al.atom("x", name, al.frozen(self.at), *map(al.frozen, place), *where, vec=True))

    def remembered(self, stack: tuple[str, tuple[Poly, ...]], place: Poly) -> Poly | None:
        """What a state remembers at a place; None where that cannot be told."""
        (name, front), (s,) = stack, [s for s in self.program.state if s.name == stack[0]]
        if set(place) <= {()} and 0 <= place.get((), 0) < len(front):
            return front[int(place.get((), 0))]
        rest = self.algebra.sub(place, {(): UNIT[()] * len(front)} if front else {})
        low = self.normal.least(rest)
        return self._state(name, s.kind, s.initial, rest) if low is not None and low >= 0 else None

    def _get(self, name: str) -> tuple[str, Any]:
        kind, value = self.values[name]
        if kind == "unread" or value is None:
            raise Uncheckable(value or "a table, which is not read in derivations")
        return kind, value

    def _vector(self, name: str) -> Poly:
        kind, value = self._get(name)
        if kind not in VECTORS:
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
        self.kinds[len(self.kinds) + 1] = what
        return len(self.kinds)

    @abstractmethod
    def drawn_at(self, draw: int) -> tuple[Atom, ...]:
        """The turns of a draw that is one for each turn."""

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
        if op in ("get", "put"):
            return self._entries(step)
        if op == "average":
            weights = self._scalar(step.numbers[0])
            ((mono, c),) = weights.items() if len(weights) == 1 else (((), 0),)
            active = mono[0][0] if c == 1 and len(mono) == 1 else None
            if active is None or active.tag != "draw" or active.parts[0] == "coin":
                raise Uncheckable("average is read over clients that are drawn")
            if self.shares is not None:
                weighed = al.mul(
                    al.of(al.atom("draw", "share", self._share(active.parts[1]), here)), self._vector(step.of[0])
                )
                return al.mul(al.of(al.atom("p", "N")), self._mean(weighed))
            if active.parts[0] == "coins":
                raise Uncheckable("average is read over clients that are chosen")
            count = self.kinds[active.parts[1]][1]
            total = self._mean(al.mul(weights, self._vector(step.of[0])))
            return al.mul(al.mul(al.of(al.atom("p", "N")), al.inverse(count)), total)
        if op == "shift":
            _, (name, front) = self._get(step.of[0])
            return name, (self._vector(step.of[1]), *front)
        if op == "combine":
            return self._combined(step)
        if op in ("project", "clip"):
            radius = self._scalar(step.numbers[0])
            if self.expectation.drawn(radius):
                raise Uncheckable("the radius of a projection is drawn")
            of = al.frozen(self._vector(step.of[0]))
            return al.of(al.atom("projected", al.frozen(radius), of, vec=True))
        if op in ("top", "prox"):
            number = self._scalar(step.numbers[0])
            if self.expectation.drawn(number):
                raise Uncheckable(f"the argument of {op} is drawn")
            of = al.frozen(self._vector(step.of[0]))
            if op == "top":
                return al.of(al.atom("largest", al.frozen(number), of, vec=True))
            if self.turns:
                raise Uncheckable("prox in a loop, where there need be none after the last turn")
            self.partial = True
            return al.of(al.atom("proximal", al.frozen(number), of, here, vec=True))
        if op == "mix":
            inside = al.frozen(self._vector(step.of[0]))
            level = 1 + inside.level
            row = al.rename(inside, {HERE: f"n@{level}.0"})
            return al.of(al.atom("mixed", step.label, row, here, vec=True, level=level))
        if op == "sign":
            return al.of(al.atom("signs", al.frozen(self._vector(step.of[0])), vec=True))
        if op in ("times", "over", "larger", "sqrt", "ones"):
            return self._by_coordinates(op, [self._vector(v) for v in step.of])
        raise Uncheckable(f"{op} is not read in derivations")

    def _entries(self, step: Step) -> Poly:
        """The mean of a table over the samples of client HERE, its entry at the drawn one, or it with that replaced."""
        al, (kind, table) = self.algebra, self._get(step.of[0])
        if kind != "table":
            raise Uncheckable(f"a value of kind {kind} is not read in derivations")
        if len(step.of) == 1:
            mark, name = al.count, al.fresh("i")
            return al.done(al.bind(al.renamed(table, {ENTRY: name}), ("i", name, al.var(HERE))), mark)
        draw = self._get(step.of[1])[1]
        if self.turns:
            raise Uncheckable("a drawn entry of a table in a loop")
        if step.op == "put":
            hit = al.of(al.atom("draw", "hit", draw, al.var(HERE), al.var(ENTRY)))
            return al.add(al.mul(hit, self._vector(step.of[2])), al.mul(al.sub(UNIT, hit), table))
        if any(a.dr for m in table for a, _ in m):
            raise Uncheckable("a drawn entry of a table that the round has replaced an entry of")
        which = al.of(al.atom("drawn", "sample", draw, al.var(HERE), *self.drawn_at(draw)))
        return al.swapped(table, Swap(lambda a: ENTRY in a.frees, lambda a: which if a == al.var(ENTRY) else None))

    def _by_coordinates(self, op: str, of: Sequence[Poly]) -> Poly:
        """A vector that is made of others, coordinate by coordinate."""
        al, mark = self.algebra, self.algebra.count
        name = al.fresh(COORDINATE)
        parts = [entry(al, v, al.var(name)) for v in of]
        self.by_coordinates = True
        if op in ("over", "sqrt"):
            self.partial = True
            if self.turns:
                raise Uncheckable(f"{op} in a loop, where it may have no value after the last turn")
        if op == "times":
            q = al.mul(*parts)
        elif op == "over":
            q = al.mul(parts[0], al.inverse(parts[1]))
        elif op == "larger":
            q = al.extreme("max", map(al.frozen, parts))
        else:
            q = al.root(parts[0]) if parts else UNIT
        return al.done(each(al, q, name), mark)

    def carries(self) -> dict[str, int]:
        """How far what is made in the round carries, where it may have no value after the run.

        Raises:
            Uncheckable: where it need not be a round of the run.
        """
        al, now = self.algebra, self.normal.start.nums
        for base in (Poly(), now["k"], now["K"]) if self.partial else ():
            shift = al.sub(self.at, base)
            c = shift.get((), Fraction(0))
            if set(shift) <= {()} and c.denominator == 1:
                if base is now["k"]:
                    return {"k": max(int(c) + 1, 0)}
                if (base and c <= -1) or (not base and not c):
                    return {}
        if self.partial:
            raise Uncheckable("what may have no value in a round that need not be one of the run")
        return {}

    def _share(self, active: int) -> int:
        """The draw that weights of clients in averages are; of the same clients the same."""
        assert self.shares is not None
        if active not in self.shares:
            al, (kind, number, *_) = self.algebra, self.kinds[active]
            likely = UNIT
            if kind == "coins":
                if any(HERE in a.frees for m in number for a, _ in m):
                    raise Uncheckable("average over clients that are drawn with a chance for each")
                given = Env(given={"none_": al.sub(UNIT, number)})
                likely = al.sub(UNIT, self.normal.value(read_formula("none_**N", "a chance"), given))
            share = self._draw("share", al.mul(likely, al.inverse(al.of(al.atom("p", "N")))))
            self.shares[active] = share
        return self.shares[active]

    def _combined(self, step: Step) -> Poly:
        """The sum of remembered vectors with their weights."""
        al, (_, stack), end = self.algebra, self._get(step.of[0]), self.normal.lags()
        if stack[1]:
            raise Uncheckable("combine of what is remembered is read before something is put in front")

        def term(place: Poly) -> Poly:
            v = self.remembered(stack, place)
            assert v is not None
            return al.mul(al.of(al.atom("p", step.label, al.frozen(place))), v)

        if set(end) <= {()}:
            return al.add({}, *(term({(): UNIT[()] * j} if j else {}) for j in range(int(end[()]))))
        mark, name = al.count, al.fresh("j")
        return al.done(al.bind(term(al.of(al.var(name))), ("j", name, al.frozen(end))), mark)

    def _mean(self, p: Poly) -> Poly:
        al, mark = self.algebra, self.algebra.count
        name = al.fresh("n")
        return al.done(al.bind(al.renamed(p, {HERE: name}), ("n", name, "")), mark)

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
        which = al.atom("drawn", "sample", draw, al.var(HERE), *self.drawn_at(draw))
        return self.normal.at_point(at, True, (al.var(HERE), which))
