"""What the steps of a round make by moments, of values that are sums of random quantities.

A vector is a list of forms (`quantities`), of the clients a list of vectors; a number that is drawn is a form of counts
alone; a batch is a list of them, the share of each sample. A draw that does not enter as a polynomial of its counts (a
quotient by a number of clients that is drawn itself) asks for its outcomes one by one: `Fork`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .arguments import CHECKED, check, nothing, whole
from .chances import Chance, Drawn, Fork, heads
from .quantities import NUMBER, Form, Quantities, certain, draws_of, form_of
from .reading import Uncheckable
from .scalars import ONE, OPERATIONS, ZERO
from .sentences import Node, names_in
from .steps import OF_CLIENTS, Scalar, Step

if TYPE_CHECKING:
    from .moments import Moments

FRESH = ("coin", "coins", "choose", "sample")
HEADS = "heads"
Real = Fraction | Form


class Steps:
    """The values of a round, and what its steps make of them.

    Attributes:
        plan: outcomes of draws that are told apart.
        env: values by name.
        turn: the numbers of the turns of loops, by their names; `around`, in order.
        open: draws that may still be read.
    """

    def __init__(self, game: Moments, k: int, room: Quantities, plan: Mapping[Drawn, Any]) -> None:
        self.game, self.k, self.room, self.plan = game, k, room, plan
        self.problem, self.work = game.problem, game.work
        self.N, self.d = game.problem.N, game.problem.d
        self.turn: dict[str, int] = {}
        self.around: list[int] = []
        self.env: dict[str, Any] = {}
        self.open: set[int] = set()

    # numbers

    def exact(self, scalar: Scalar, n: int | None) -> Fraction:
        """A number that is not drawn."""
        value = self.number(scalar, n)
        return value if isinstance(value, Fraction) else self.settled(value)

    def settled(self, value: Form) -> Fraction:
        """A number that is not drawn, though it is made of what is.

        Raises:
            Fork: where it is drawn.
        """
        value = self.without_totals(value)
        for draw in sorted(draws_of(value)):
            chance = self.room.chances[draw]
            raise Fork(chance.key, chance.outcomes())
        return value.get(NUMBER, ZERO)

    def without_totals(self, value: Form) -> Form:
        """Without the sums of all counts of a draw, which are not drawn."""
        for draw in draws_of(value):
            chance = self.room.chances[draw]
            terms = [(((draw, (i,)),), 0) for i in range(chance.size)]
            if chance.p is None and len({value.get(term) for term in terms}) == 1 and terms[0] in value:
                value = {term: c for term, c in value.items() if term not in terms}
        return value

    def number(self, scalar: Scalar, n: int | None) -> Real:
        """A formula as it stands now, for client n."""
        if scalar.fixed:
            key = (id(scalar), self.k, n)
            if key not in self.game.fixed:
                self.work.spend(scalar.tree.depth + 2)
                self.game.fixed[key] = self.game.number(scalar.tree, self.k, n, {}, nothing)
            return _rational(self.game.fixed[key], scalar.text)
        return self.tree(scalar, scalar.tree, n)

    def tree(self, scalar: Scalar, tree: Node, n: int | None) -> Real:
        self.work.spend(3)
        if tree.op == "name" and tree.name.startswith("_"):
            value = self.env[tree.name]
            return value[n] if scalar.values[tree.name] else value
        if not any(name.startswith("_") for name in names_in(tree)):
            return _rational(self.game.number(tree, self.k, n, self.turn, nothing), scalar.text)
        parts = [self.tree(scalar, a, n) for a in tree.args]
        if all(isinstance(part, Fraction) for part in parts):
            return _rational(OPERATIONS[tree.op](*parts), scalar.text)
        op, one, two = tree.op, parts[0], parts[-1]
        if op in ("+", "-", "neg"):
            signs = (-ONE,) if op == "neg" else (ONE, ONE if op == "+" else -ONE)
            return self.room.combined(zip(signs, map(form_of, parts), strict=True))
        if op == "*":
            return self.times(one, form_of(two))
        if op == "/" and isinstance(two, Fraction):
            if two == 0:
                raise Uncheckable("a division by 0")
            return self.times(1 / two, form_of(one))
        if op == "**" and isinstance(two, Fraction) and two in (1, 2, 3, 4):
            found = form_of(one)
            for _ in range(int(two) - 1):
                found = self.room.product(form_of(one), found)
            return found
        return _rational(OPERATIONS[op](*[p if isinstance(p, Fraction) else self.settled(p) for p in parts]), "")

    def times(self, scalar: Real, form: Form) -> Form:
        if isinstance(scalar, Fraction):
            return form if scalar == 1 else self.room.combined([(scalar, form)])
        return self.room.product(scalar, form)

    def weighted(self, factors: Sequence[Real], vectors: Sequence[Any]) -> list[Form]:
        """sum c v."""
        plain = [(c, v) for c, v in zip(factors, vectors, strict=True) if isinstance(c, Fraction)]
        drawn = [(c, v) for c, v in zip(factors, vectors, strict=True) if not isinstance(c, Fraction)]
        found = []
        for j in range(self.d):
            terms = [(c, v[j]) for c, v in plain] + [(ONE, self.room.product(c, v[j])) for c, v in drawn]
            found.append(terms[0][1] if len(terms) == 1 and terms[0][0] == 1 else self.room.combined(terms))
        return found

    def is_indicator(self, value: Form) -> bool:
        """Whether a number is 0 or 1 in every outcome."""
        return self.room.product(value, value) == value

    # steps

    def value(self, step: Step) -> Any:
        """What a step makes."""
        self.work.spend(10)
        if step.op in FRESH:
            return self.fresh(step)
        if step.op in ("mean", "sum", "average", "mix"):
            return self.collective(step)
        if step.kind in OF_CLIENTS:
            return [self.part(step, n) for n in range(self.N)]
        return self.part(step, None)

    def part(self, step: Step, n: int | None) -> Any:
        """One client's part, or the server's value."""
        cells = [self.env[name][n] if each else self.env[name] for name, each in zip(step.of, step.each, strict=True)]
        numbers = [self.number(scalar, n) for scalar in step.numbers]
        if step.op in CHECKED:
            for position, scalar in enumerate(step.numbers):
                if not scalar.fixed:
                    numbers[position] = value = self.exact(scalar, n)
                    check(self.problem, step, scalar, position, value, n or 0)
        if step.kind == "table" and step.op != "put":
            assert n is not None
            rows = range(len(self.problem.samples[n]))
            entries = [
                [cell[i] if kind == "table" else cell for cell, kind in zip(cells, step.kinds, strict=True)]
                for i in rows
            ]
            return [self.made(step, own, numbers, n) for own in entries]
        return self.made(step, cells, numbers, n)

    def made(self, step: Step, v: Sequence[Any], c: Sequence[Any], n: int | None) -> Any:
        """What an operation makes of vectors and numbers."""
        op = step.op
        if op == "linear":
            return self.weighted(c, v)
        if op == "where":
            return self.where(c[0], v[0], v[1])
        if op == "gradient":
            assert n is not None
            if len(v) == 1:
                return self.gradient(self.problem.own[n], v[0])
            return self.weighted(v[1], [self.gradient(f, v[0]) for f in self.problem.samples[n]])
        if op == "full gradient":
            return self.gradient(self.problem.mean, v[0])
        if op == "get":
            count = len(v[0])
            return self.weighted(v[1] if len(v) > 1 else [Fraction(1, count)] * count, v[0])
        if op == "put":
            return [self.where(self.marked(share), v[2], old) for share, old in zip(v[1], v[0], strict=True)]
        if op == "shift":
            return [v[1], *v[0][:-1]]
        if op == "combine":
            weights = self.game.parameters[step.label]
            if not isinstance(weights, tuple) or len(weights) != len(v[0]):
                raise Uncheckable(f"{step.label} has not as many weights as there are remembered vectors")
            return self.weighted(weights, v[0])
        if op == "each":
            return v[0]
        if op == "ones":
            return [certain(ONE)] * self.d
        if op == "before":
            return ONE if c[0] < c[1] else ZERO
        if op == "noise":
            return self.noise(c[0])
        if op == "keep":
            return self.keep(step, v[0], int(whole(c[0], "m", 1, self.d)), n)
        if op == "prox":
            return self.prox(v[0], c[0], n)
        if op in ("times", "over"):
            return self.by_coordinate(op, v[0], v[1])
        raise Uncheckable(f"moments of what is not linear in the state ({op})")

    def gradient(self, function: Any, v: Sequence[Form]) -> list[Form]:
        one = certain(ONE)
        return [
            self.room.combined([(-b, one), *((h, v[j]) for j, h in row)])
            for row, b in zip(function.rows, function.b, strict=True)
        ]

    def prox(self, v: Sequence[Form], t: Fraction, n: int | None) -> list[Form]:
        assert n is not None
        b = self.problem.own[n].b
        right = [self.room.combined([(y, certain(ONE)), (1 / t, x)]) for y, x in zip(b, v, strict=True)]
        inverse = [[_rational(a, "prox") for a in row] for row in self.problem.proximal(n, t)]
        return [self.room.combined(zip(row, right, strict=True)) for row in inverse]

    def where(self, mask: Real, one: Any, two: Any) -> Any:
        if isinstance(mask, Fraction):
            return one if mask else two
        if not self.is_indicator(mask):
            return one if self.settled(mask) else two
        other = self.room.combined([(ONE, certain(ONE)), (-ONE, mask)])
        return self.weighted([mask, other], [one, two])

    def marked(self, share: Real) -> Real:
        """Of the share of a sample in a batch, whether it is in it."""
        if isinstance(share, Fraction):
            return ONE if share else ZERO
        (draw,) = draws_of(share)
        found = self.times(Fraction(self.room.chances[draw].taken), share)
        return found if self.is_indicator(found) else (ONE if self.settled(share) else ZERO)

    def by_coordinate(self, op: str, one: Sequence[Form], two: Sequence[Form]) -> list[Form]:
        """Products and quotients of coordinates, one factor of which is not drawn."""
        found = []
        for a, b in zip(one, two, strict=True):
            if op == "times" and set(a) <= {NUMBER}:
                a, b = b, a
            if not set(b) <= {NUMBER}:
                raise Uncheckable(f"moments of what is not linear in the state ({op})")
            value = b.get(NUMBER, ZERO)
            if op == "over" and not value:
                raise Uncheckable("a division by 0")
            found.append(self.times(value if op == "times" else 1 / value, a))
        return found

    # draws

    def counts(
        self, step: Step, n: int | None, size: int, taken: int, replace: bool, p: Fraction | None = None, how: str = ""
    ) -> list[Real]:
        """The counts of a draw: forms, or numbers where they are planned or certain."""
        key = Drawn(id(step), n, tuple(self.around), self.k, how)
        if key in self.plan:
            return [Fraction(value) for value in self.plan[key]]
        if p == 1 or (p is None and (size == 1 or (taken == size and not replace))):
            return [Fraction(taken if size == 1 else 1)] * size
        found = self.room.drawn(Chance(size, taken, replace, p, key))
        self.open.add(len(self.room.chances) - 1)
        return list(found)

    def fresh(self, step: Step) -> Any:
        """What is drawn for numbers, or batches."""
        (scalar,) = step.numbers
        if step.op in ("coin", "choose"):
            value = self.exact(scalar, None)
            check(self.problem, step, scalar, 0, value, 0)
            if step.op == "coin":
                return self.counts(step, None, 1, 1, False, value)[0]
            return self.counts(step, None, self.N, int(whole(value, "S", 1, 10_000)), step.replace)
        values = [self.exact(scalar, n) for n in range(self.N)]
        for n, value in enumerate(values):
            check(self.problem, step, scalar, 0, value, n)
        if step.op == "coins":
            number = self.plan.get(Drawn(id(step), None, tuple(self.around), self.k, HEADS))
            if number is None:
                return [self.counts(step, n, 1, 1, False, p)[0] for n, p in enumerate(values)]
            return self.counts(step, None, self.N, number, False) if number else [ZERO] * self.N
        found = []
        for n, value in enumerate(values):
            size, taken = len(self.problem.samples[n]), int(whole(value, "b", 1, 10_000))
            shares = self.counts(step, n, size, taken, step.replace)
            found.append([self.times(Fraction(1, taken), c) if isinstance(c, dict) else c / taken for c in shares])
        return found

    def noise(self, sigma2: Fraction) -> list[Form]:
        found: list[Form] = []
        for _ in range(self.d):
            if sigma2:
                quantity = self.room.new()
                self.room.relate(quantity, quantity, sigma2 / self.d)
                found.append({((), quantity): ONE})
            else:
                found.append({})
        return found

    def keep(self, step: Step, v: Sequence[Form], m: int, n: int | None) -> list[Form]:
        kept = self.counts(step, n, self.d, m, False)
        scale = Fraction(self.d, m)
        return [self.times(scale, self.times(c, x)) for c, x in zip(kept, v, strict=True)]

    # over the clients

    def collective(self, step: Step) -> Any:
        (name,), (each,) = step.of, step.each
        cells = self.env[name] if each else [self.env[name]] * self.N
        if step.op == "mix":
            matrix = self.game.parameters[step.label]
            assert isinstance(matrix, tuple)
            return [self.weighted(row, cells) for row in matrix]
        if step.op != "average":
            return self.weighted([Fraction(1, self.N) if step.op == "mean" else ONE] * self.N, cells)
        weights = [self.number(step.numbers[0], n) for n in range(self.N)]
        whole_weight = self.without_totals(self.room.combined([(ONE, form_of(w)) for w in weights]))
        if set(whole_weight) <= {NUMBER}:
            total = whole_weight.get(NUMBER, ZERO)
            if total == 0:
                return [{}] * self.d
            shares = [w / total if isinstance(w, Fraction) else self.times(1 / total, w) for w in weights]
            return self.weighted(shares, cells)
        self.by_heads(whole_weight)
        self.settled(whole_weight)
        raise Uncheckable("an average whose weights add up to what is drawn")

    def by_heads(self, total: Form) -> None:
        """Where the total is a number of equal coins of one step: all that is to be told is how many show 1.

        Raises:
            Fork: there.
        """
        chances = [self.room.chances[draw] for draw in draws_of(total)]
        kinds = {(chance.p, chance.key.step, chance.key.turns) for chance in chances}
        factors = {c for term, c in total.items() if term != NUMBER}
        if len(chances) == self.N > 1 and len(kinds) == len(factors) == 1 and all(len(tags) < 2 for tags, _ in total):
            p, key = chances[0].p, chances[0].key
            if p is not None:
                raise Fork(key._replace(client=None, how=HEADS), heads(self.N, p))


def _rational(value: Any, text: str) -> Fraction:
    if not isinstance(value, Fraction):
        raise Uncheckable(f"moments with {text or 'a number'}, which is no fraction")
    return value
