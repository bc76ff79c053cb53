"""From the trees of sentences to terms of derivations: definitions unfolded, everything expanded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .derivation_binders import Binder
from .derivation_coordinates import COORDINATE, entry
from .derivation_places import Env
from .derivation_powers import Powers
from .derivation_ranges import meant
from .derivation_replacing import Algebra
from .derivation_terms import FIRST, UNIT, Atom, Poly, exact
from .reading import Uncheckable
from .sentences import FUNCTIONS, ONE_NUMBER, OVER, Node, index_of, names_in
from .stated import Claimed

if TYPE_CHECKING:
    from .derivation_rounds import Round

LEVELS = ("f", "f_n", "f_ni")
MOST_WRITTEN_OUT = 60
CLIENTS = {"server": "", "past": "", "client": "n", "client past": "n", "table": "ni"}
"""The indices that a state or tap has beside those of rounds and turns."""


class Normal(Powers):
    """Values of trees, as polynomials.

    Attributes:
        level: the finest functions, 0 for f, 1 for f_n, 2 for f_ni. affine: whether these are quadratics.
        one_client: where there is one client, what a polynomial is then.
        round: how states after a round are unfolded, where they are. minimisers: those over balls that the claim names.
    """

    def __init__(self, claimed: Claimed, level: int, may: frozenset[str], algebra: Algebra) -> None:
        super().__init__(claimed, may, algebra)
        self.level = level
        self.affine = any(a.name == "quadratic" and a.function == LEVELS[level] for a in claimed.assumptions)
        self.round: Round | None = None
        self.one_client: Callable[[Poly], Poly] | None = None
        self.minimisers: set[Atom] | None = None

    # values

    def value(self, tree: Node, env: Env) -> Poly:
        """A tree as a polynomial.

        Raises:
            Uncheckable: for what derivations do not speak of.
        """
        if tree.op == "number" or self.round is not None or self.one_client is not None:
            return self._value(tree, env)
        key, asked = (self.number(tree), env.key), self.asked
        found = self.kept.get(key)
        if found is None:
            found = self._value(tree, env)
            if self.asked == asked:
                self.kept[key] = found
        return found

    def _value(self, tree: Node, env: Env) -> Poly:
        al, op = self.algebra, tree.op
        al.spend(2)
        if op == "number":
            return {(): exact(tree.value)} if tree.value else {}
        if op == "name":
            return self.name(tree.name, env)
        if op == "at":
            return self.state(tree, env)
        if op in ("+", "-", "*"):
            one, two = (self.value(a, env) for a in tree.args)
            return al.mul(one, two) if op == "*" else al.add(one, two) if op == "+" else al.sub(one, two)
        if op == "neg":
            return al.scale(self.value(tree.args[0], env), -1)
        if op == "/":
            return al.mul(self.value(tree.args[0], env), al.inverse(self.inner(tree.args[1], env)))
        if op == "**":
            return self.power(tree, env)
        if op == "norm2":
            v = self.value(tree.args[0], env)
            return al.dot(v, v)
        if op == "coordinate":
            return entry(al, self.value(tree.args[0], env), al.var(COORDINATE))
        if op == "dot":
            return al.dot(*(self.value(a, env) for a in tree.args))
        if op == "norm":
            v = self.inner(tree.args[0], env)
            return al.root(al.dot(v, v))
        if op == "sqrt":
            return al.root(self.inner(tree.args[0], env))
        if op in ONE_NUMBER:
            if op == "abs":
                return al.absolute(self.inner(tree.args[0], env))
            return al.applied(op, self.inner(tree.args[0], env))
        if op in ("min", "max"):
            return al.extreme(op, [al.frozen(self.inner(a, env)) for a in tree.args])
        if op in FUNCTIONS or op == "grad":
            return self.function(tree.name if op == "grad" else op, tree.args[0], op == "grad", env)
        if op == "E":
            inside = self.value(tree.args[0], env)
            if self.one_client is not None:
                inside = self.one_client(inside)
            return al.expect(inside if self.round is None else self.round.expected(inside))
        if op in OVER:
            return self.over(tree, env)
        if op == "simplex_n":
            return self.weight(tree, env)
        if op == "argmin_n":
            return self.least_over_ball(tree, env)
        if op == "quantile":
            return self.largest(tree, env)
        raise Uncheckable(f"{op} is not read in derivations")

    def inner(self, tree: Node, env: Env) -> Poly:
        """What stands in a function that is not linear: states stay where draws other than of 0 and 1 would come in."""
        if self.round is None:
            return self.value(tree, env)
        found = self.value(tree, env)
        if self.round.deep or self.round.tossed(found):
            return found
        unfolding, self.round = self.round, None
        try:
            return self.value(tree, env)
        finally:
            self.round = unfolding

    def function(self, name: str, point: Node, gradient: bool, env: Env) -> Poly:
        """f, f_n or f_ni at a point, or its gradient, as means of the finest ones."""
        linear = gradient and self.affine
        at = self.algebra.frozen(self.value(point, env) if linear else self.inner(point, env))
        return self.of_function(LEVELS.index(name), at, gradient, env.names["n"], env.names["i"])

    def of_function(self, level: int, at: Atom, gradient: bool, n: str, i: str) -> Poly:
        """The function of a level at a point."""
        al, mark = self.algebra, self.algebra.count
        binders: list[Binder] = []
        if self.level >= 1 and level == 0:
            n = al.fresh("n")
            binders.append(("n", n, ""))
        if self.level == 2 and level < 2:
            i = al.fresh("i")
            binders.append(("i", i, al.var(n)))
        where = [al.var(name) for name in (n, i)[: self.level]]
        found = self.at_point(at, gradient, where)
        for binder in reversed(binders):
            found = al.bind(found, binder)
        return al.done(found, mark)

    def at_point(self, at: Atom, gradient: bool, where: Sequence[Atom]) -> Poly:
        """The finest function of a client and sample at a point; the gradient of a quadratic as what is affine."""
        al, name = self.algebra, LEVELS[self.level]
        if not gradient:
            return al.of(al.atom("value", name, at, *where))
        if not self.affine:
            return al.of(al.atom("grad", name, at, *where, vec=True))
        return al.add(
            al.of(al.atom("grad", name, al.frozen({}), *where, vec=True)), al.hess(name, al.thawed(at), where)
        )

    def state(self, tree: Node, env: Env) -> Poly:
        """A state or a tap, with its indices."""
        al, program = self.algebra, self.claimed.program
        assert program is not None
        kinds = {s.name: s for s in program.state}
        index = [self.value(a, env) for a in tree.args]
        if not all(map(self.counting, index)):
            raise Uncheckable(f"an index of {tree.name} is not of the form k + 1, or not certainly at least 0")
        s = kinds.get(tree.name)
        kind = s.kind if s is not None else program.taps[tree.name][0]
        if s is None and any(names_in(a) & ({"h", "j"} - {("", "h", "j")[p]}) for p, a in enumerate(tree.args[:3])):
            raise Uncheckable(f"in {tree.name} h is the turn of a loop, and j of one inside it")
        if kind not in CLIENTS or len(tree.args) > 3:
            raise Uncheckable(f"{tree.name} is of a kind that is not read in derivations")
        where = [al.var(env.names[c]) for c in CLIENTS[kind]]
        if tree.name in self.shifted:  # what is remembered goes on with every round
            back = min(p.get((), Fraction(0)) for p in index)
            before = [al.sub(p, {(): back}) for p in index]
            index = before if back > 0 and all(map(self.certainly, before)) else index
        if self.round is not None:
            found = self.round.unfolded(tree.name, index, where)
            if found is not None:
                return found
        if s is not None and not index[0]:
            return self.value(s.initial, replace(env, given={}, trees={}))
        tag = "tap" if s is None else "x"
        return al.of(al.atom(tag, tree.name, *map(al.frozen, index), *where, vec=True))

    # binders

    def over(self, tree: Node, env: Env) -> Poly:
        """A mean, sum, max or min over an index."""
        how, index = OVER[tree.op]
        al, body, mark = self.algebra, tree.args[0], self.algebra.count
        if how == "first":
            self.no_samples(env, body)
            return self.value(body, env.with_names(n=FIRST))
        if index == "n":
            self.no_samples(env, body)
        name = al.fresh(index)
        within = env.with_names(**{index: name}) if index in "ni" else env
        more: Any = ""
        if index == "i":
            more = al.var(env.names["n"])
        elif index in "khj":
            end = env.nums["K"] if index == "k" else self.range_of(index, body, env)
            if how in ("mean", "sum"):
                total = self.added(body, index, end, env)
                return al.mul(total, al.inverse(end)) if how == "mean" else total
            within, more = env.with_nums(**{index: al.of(al.var(name))}), al.frozen(end)
        if how not in ("mean", "sum"):
            inside = al.frozen(self.inner(body, within))
            level = inside.level + 1
            closed = al.rename(inside, {name: f"{index}@{level}.0"})
            return al.done(al.of(al.atom("O", tree.op, more, closed, level=level)), mark)
        found = al.done(al.bind(self.value(body, within), (index, name, more)), mark)
        if how == "mean":
            return found
        count = al.atom("p", "N") if index == "n" else al.atom("count", more)
        return al.mul(al.of(count), found)

    def no_samples(self, env: Env, *trees: Node) -> None:
        """Nothing where no sample of client n stands in what is meant of other clients."""
        for tree in trees:
            for node, again in meant(tree, "i", env, self.claimed):
                own = FUNCTIONS.get(node.name if node.op == "grad" else node.op, "")
                own += node.name if node.name == "i" else index_of(node.name)[1]
                if "i" in own and not again:
                    raise Uncheckable("a sample of a client in what is meant of another one")

    def weight(self, tree: Node, env: Env) -> Poly:
        """The weight of client n in the minimiser over the simplex: of the costs and curvatures of all clients."""
        al, mark = self.algebra, self.algebra.count
        name = al.fresh("n")
        self.no_samples(env, *tree.args)
        inside = [al.frozen(self.inner(a, env.with_names(n=name))) for a in tree.args]
        level = 1 + max(a.level for a in inside)
        closed = [al.rename(a, {name: f"n@{level}.0"}) for a in inside]
        return al.done(al.of(al.atom("weight", *closed, al.var(env.names["n"]), level=level)), mark)

    def least_over_ball(self, tree: Node, env: Env) -> Poly:
        """The minimiser over a ball, of which the claim speaks: where it has none, or several, it says nothing."""
        if self.minimisers is None:
            self.minimisers = set()
            unfolding, self.round = self.round, None
            for part in self.of_claim("argmin_n"):
                try:
                    self.minimisers.add(self._minimiser(part, self.start))
                except Uncheckable:  # one that is not read is none of them
                    continue
            self.round = unfolding
        found = self._minimiser(tree, env)
        if found not in self.minimisers:
            raise Uncheckable("a minimiser of which the claim does not speak need not be there")
        return self.algebra.of(found)

    def _minimiser(self, tree: Node, env: Env) -> Atom:
        if len(tree.args) != 2:
            raise Uncheckable("argmin_n is read over a ball")
        al, name = self.algebra, self.algebra.fresh("n")
        self.no_samples(env, tree.args[0])
        weights, radius = tree.args
        inside = al.frozen(self.inner(weights, env.with_names(n=name)))
        of = al.frozen(self.inner(radius, env))
        level = 1 + max(inside.level, of.level)
        found = al.atom("least", al.rename(inside, {name: f"n@{level}.0"}), of, vec=True, level=level)
        if found.frees or found.rand or found.dr:
            raise Uncheckable("argmin_n of what is drawn, or one for each client, sample, round or turn")
        return found

    def largest(self, tree: Node, env: Env) -> Poly:
        """The least number that it exceeds with a probability of 1 - q at most: a number that is certain."""
        q = self.value(tree.args[1], env)
        if any(a.frees or a.rand for m in q for a, _ in m):
            raise Uncheckable("quantile is read of one probability, and not of one that is drawn")
        unfolding, self.round = self.round, None
        try:
            inside = self.value(tree.args[0], env)
        finally:
            self.round = unfolding
        if q == UNIT and not any(a.rand for m in inside for a, _ in m):
            return inside
        level = () if q == UNIT else (self.algebra.frozen(q),)
        return self.algebra.of(self.algebra.atom("quantile", self.algebra.frozen(inside), *level))

    def added(self, body: Node, index: str, end: Poly, env: Env) -> Poly:
        """A sum over k or h: up to a number, or up to a symbol and what is beyond it, written out."""
        al = self.algebra
        last = end.get((), Fraction(0))
        if not self.integer_form(end) or last > MOST_WRITTEN_OUT:
            raise Uncheckable("a sum's upper end is no formula in integers, or too large")
        symbols = {m: c for m, c in end.items() if m}
        total: Poly = {}
        if symbols:
            kind = self.kind_of(index, end)
            mark, name = al.count, al.fresh(kind)
            stop = symbols if last >= 0 else end
            inside = self.value(body, env.with_nums(**{index: al.of(al.var(name))}))
            total = al.done(al.bind(inside, (kind, name, al.frozen(stop))), mark)
        for place in range(int(last)):
            at = al.add(symbols, {(): Fraction(place)} if place else {})
            total = al.add(total, self.value(body, env.with_nums(**{index: at})))
        return total

    def difference(self, left: Node, relation: str, right: Node, env: Env) -> Poly:
        """right - left of `left <= right`; of `>=` turned."""
        one, two = self.value(left, env), self.value(right, env)
        return self.algebra.sub(one, two) if relation in (">", ">=") else self.algebra.sub(two, one)
