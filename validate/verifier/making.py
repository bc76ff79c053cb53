"""What the steps of a round make: of vectors and numbers, for every client, or for one in a visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from .arguments import check, nothing, whole
from .draws import Choices, Draws, batches, batches_of_kinds, coin, coordinates, noises, share
from .later import IDLE, Later, now, when_asked
from .reading import Uncheckable
from .scalars import (
    ONE,
    ZERO,
    Number,
    Vector,
    below,
    combined,
    divided,
    into_ball,
    is_zero,
    largest,
    norm2,
    root,
    sign,
    top,
)
from .steps import OF_CLIENTS, Scalar, Step

if TYPE_CHECKING:
    from .playing import Game


class Maker:
    """One way through a round: what its steps make.

    Attributes:
        client: whose turn it is in a visit, and `outer`, the values that there are outside of it.
        turn: the numbers of the turns of loops, by their names.
    """

    def __init__(self, game: Game, k: int, draws: Draws) -> None:
        self.game, self.k, self.draws = game, k, draws
        self.problem, self.work = game.problem, game.work
        self.N, self.d = game.problem.N, game.problem.d
        self.turn: dict[str, int] = {}
        self.client: int | None = None
        self.outer: Mapping[str, Any] = {}

    # values

    def number(self, scalar: Scalar, env: Mapping[str, Any], n: int | None) -> Number:
        """A formula as it stands now, for client n."""
        return self.bound(scalar, env, n)()

    def bound(self, scalar: Scalar, env: Mapping[str, Any], n: int | None) -> Callable[[], Number]:
        """A formula with the values and turns as they are now, whenever its value is asked for."""
        game, k = self.game, self.k
        if scalar.fixed:
            key = (id(scalar), k, n)

            def fixed() -> Number:
                if key not in game.fixed:
                    self.work.spend(scalar.tree.depth + 2)
                    game.fixed[key] = game.number(scalar.tree, k, n, {}, nothing)
                return game.fixed[key]

            return fixed
        cells = {name: env[name][n] if each else env[name] for name, each in scalar.values.items()}
        turns = dict(self.turn)

        def look(name: str) -> Any:
            found = now(cells[name])
            if found is IDLE:
                raise Uncheckable("a number of a client that has gone through its samples")
            return found

        def asked() -> Number:
            self.work.spend(scalar.tree.depth + 2)
            return game.number(scalar.tree, k, n, turns, look)

        return asked

    def parts(self, step: Step, env: Mapping[str, Any], n: int | None) -> list[Any]:
        """What a value hangs on."""
        found = [env[name][n] if each else env[name] for name, each in zip(step.of, step.each, strict=True)]
        for scalar in step.numbers:
            found += [env[name][n] if each else env[name] for name, each in scalar.values.items()]
        return found

    def later(self, choices: Callable[[], Choices], parts: Sequence[Any]) -> Any:
        """A draw, made when somebody asks for it."""
        depth = max((p.depth + 1 for p in parts if type(p) is Later and p.make is not None), default=1)
        return Later(lambda: self.draws.draw(choices()), depth)

    def value(self, step: Step, env: dict[str, Any]) -> Any:
        """What a step makes."""
        if step.op in ("mean", "sum", "average", "mix"):
            return self.collective(step, env)
        if step.op == "coin" or (step.op == "choose" and self.client is None):
            number = self.number(step.numbers[0], env, self.client)
            check(self.problem, step, step.numbers[0], 0, number, 0)
            if step.op == "coin":
                return self.single(lambda: coin(number))
            S = int(whole(number, "S", 1, 10_000))
            chosen = self.draws.draw(batches(self.N, S, step.replace))
            return [Fraction(chosen.count(n)) for n in range(self.N)]
        if step.kind in OF_CLIENTS and self.client is None:
            return [self.part(step, env, n) for n in range(self.N)]
        return self.part(step, env, self.client)

    def single(self, choices: Callable[[], Choices]) -> Any:
        found = choices()
        return found[0][1] if len(found) == 1 else self.later(lambda: found, ())

    def part(self, step: Step, env: Mapping[str, Any], n: int | None) -> Any:
        """One client's part, or the server's value."""
        op = step.op
        self.work.spend(12)
        if step.kind in ("table", "row") and op != "put":
            return self.row(step, env, n)
        parts = self.parts(step, env, n)
        if any(part is IDLE for part in parts):
            return IDLE
        if op in ("sample", "noise", "coins", "keep", "choose"):
            return self.drawn(step, env, n, parts)
        if op in ("get", "put"):
            table = parts[0]
            if op == "put":
                return self.put(parts)
            return when_asked(lambda: self.entry(table, parts), [*table, *parts[1:]])
        if op in ("shift", "combine"):
            if op == "shift":
                return [parts[1], *parts[0][:-1]]
            return when_asked(lambda: self.memory(step, parts[0]), parts[0])
        numbers = [self.bound(scalar, env, n) for scalar in step.numbers]
        return when_asked(lambda: self.made(step, numbers, n, parts), parts)

    def drawn(self, step: Step, env: Mapping[str, Any], n: int | None, parts: Sequence[Any]) -> Any:
        """The draw of one client, or the server's."""
        op, given = step.op, self.bound(step.numbers[0], env, n)

        def choices() -> Choices:
            number = given()
            if not step.numbers[0].fixed:
                check(self.problem, step, step.numbers[0], 0, number, n or 0)
            if op == "sample":
                assert n is not None
                return batches_of_kinds(self.game.kinds(n), int(whole(number, "b", 1, 10_000)), step.replace)
            if op == "noise":
                return noises(number, self.d)
            if op == "coins":
                return coin(number)
            if op == "choose":
                return share(self.N, int(whole(number, "S", 1, 10_000)), step.replace)
            return coordinates(self.d, int(whole(number, "m", 1, self.d)))

        if step.numbers[0].values:
            draw: Any = self.later(choices, parts)
        else:
            draw = self.single(choices)
        if op != "keep":
            return draw

        def kept() -> Vector:
            v, which = now(parts[0]), now(draw)
            scale = divided(Fraction(self.d), given())
            return tuple([x * scale if j in which else ZERO for j, x in enumerate(v)])

        return when_asked(kept, [draw, *parts])

    def row(self, step: Step, env: Mapping[str, Any], n: int | None) -> Any:
        """A client's part of a table, each entry by itself."""
        cells = [env[name][n] if each else env[name] for name, each in zip(step.of, step.each, strict=True)]
        if any(cell is IDLE for cell in cells):
            return IDLE
        assert n is not None
        found = []
        numbers = [self.bound(scalar, env, n) for scalar in step.numbers]
        more = self.parts(step, env, n)[len(cells) :]
        for i in range(len(self.problem.samples[n])):
            entries = [
                cell[i] if kind in ("table", "row") else cell for cell, kind in zip(cells, step.kinds, strict=True)
            ]
            parts = [*entries, *more]
            found.append(when_asked(partial(self.made, step, numbers, n, parts), parts))
        return found

    def entry(self, table: Sequence[Any], parts: Sequence[Any]) -> Vector:
        """The mean of the entries of a batch, or of all."""
        which = range(len(table)) if len(parts) == 1 else now(parts[1])
        return self.mean_of(which, lambda i: now(table[i]))

    def put(self, parts: Sequence[Any]) -> Any:
        """A client's part of a table with the entries of a batch replaced."""
        table, drawn, value = parts
        if type(drawn) is Later and drawn.make is not None:

            def put(i: int, entry: Any) -> Any:
                return now(value) if i in now(drawn) else now(entry)

            return [when_asked(partial(put, i, entry), (drawn, value, entry)) for i, entry in enumerate(table)]
        which = now(drawn)
        return [value if i in which else entry for i, entry in enumerate(table)]

    def memory(self, step: Step, past: Sequence[Any]) -> Vector:
        weights = self.game.parameters[step.label]
        assert isinstance(weights, tuple)
        if len(weights) != len(past):
            raise Uncheckable(f"{step.label} has {len(weights)} weights for {len(past)} remembered vectors")
        return self.weighted(list(weights), list(past))

    def weighted(self, factors: Sequence[Number], cells: Sequence[Any]) -> Vector:
        """sum c v; a vector with the factor 0 is not looked at."""
        there = [j for j, c in enumerate(factors) if not (isinstance(c, Fraction) and c == 0)]
        vectors = [now(cells[j]) for j in there]
        if any(v is IDLE for v in vectors):
            raise Uncheckable("a value of a client that has gone through its samples")
        found = combined([factors[j] for j in there], vectors, self.d)
        self.work.spend(5 * self.d * len(there))
        return self.work.kept(found)

    def mean_of(self, batch: Sequence[int], vector: Callable[[int], Vector]) -> Vector:
        """The mean of a vector over a batch, in which samples may be more than once."""
        counts = dict.fromkeys(batch, 0)
        for i in batch:
            counts[i] += 1
        return self.weighted([Fraction(c, len(batch)) for c in counts.values()], [vector(i) for i in counts])

    def collective(self, step: Step, env: Mapping[str, Any]) -> Any:
        """What is taken over the clients."""
        if self.client is not None:
            env = self.outer
        (name,) = step.of
        cells = env[name] if self.game.program.kinds[name] in OF_CLIENTS else [env[name]] * self.N
        N = self.N
        if step.op == "mix":
            matrix = self.game.parameters[step.label]
            assert isinstance(matrix, tuple)
            wanted = range(N) if self.client is None else [self.client]
            rows = [when_asked(partial(self.weighted, matrix[n], cells), cells) for n in wanted]
            return rows if self.client is None else rows[0]
        if step.op == "average":
            scalar = step.numbers[0]
            parts = [*cells]
            for value, each in scalar.values.items():
                parts += env[value] if each else [env[value]]

            given = [self.bound(scalar, env, n) for n in range(N)]

            def average() -> Vector:
                weights = [number() for number in given]
                total: Number = ZERO
                for w in weights:
                    total = total + w
                if is_zero(total):
                    return (ZERO,) * self.d
                return self.weighted([divided(w, total) for w in weights], cells)

            if IDLE in parts:
                raise Uncheckable("an average over clients of which one has gone through its samples")
            return when_asked(average, parts)
        factor = Fraction(1, N) if step.op == "mean" else ONE
        return when_asked(lambda: self.weighted([factor] * N, cells), cells)

    def made(self, step: Step, given: Sequence[Callable[[], Number]], n: int | None, parts: Sequence[Any]) -> Any:
        """The operations on one client's vectors, or the server's."""
        op, of = step.op, parts[: len(step.of)]
        if op == "linear":
            return self.weighted([number() for number in given], of)
        if op == "where":
            return now(of[1] if is_zero(given[0]()) else of[0])
        values = [now(cell) for cell in of]
        numbers = []
        for position, (scalar, asked) in enumerate(zip(step.numbers, given, strict=True)):
            number = asked()
            if not scalar.fixed:
                check(self.problem, step, scalar, position, number, n or 0)
            numbers.append(number)
        found = self.operation(op, values, numbers, n)
        self.work.spend(self.d * (self.d if op in ("gradient", "full gradient", "prox") else 4))
        return self.work.kept(found) if isinstance(found, tuple) else self.work.kept((found,))[0]

    def operation(self, op: str, v: Sequence[Any], c: Sequence[Number], n: int | None) -> Any:
        """What remains, by name."""
        if op == "gradient":
            assert n is not None
            if len(v) == 1:
                return self.problem.own[n].gradient(v[0])
            self.work.spend(4 * self.d**2 * len(set(v[1])) + len(v[1]))
            return self.mean_of(v[1], lambda i: self.problem.samples[n][i].gradient(v[0]))
        if op == "full gradient":
            return self.problem.mean.gradient(v[0])
        if op == "prox":
            assert n is not None
            return self.problem.prox(n, v[0], c[0])
        if op == "before":
            return ONE if below(c[0], c[1]) else ZERO
        if op == "ones":
            return (ONE,) * self.d
        if op == "top":
            return top(v[0], whole(c[0], "m", 1, self.d))
        if op in ("project", "clip"):
            return into_ball(v[0], c[0])
        if op == "norm":
            return root(norm2(v[0]))
        by_coordinate: dict[str, Callable[..., Number]] = {
            "each": lambda a: a,
            "times": lambda a, b: a * b,
            "over": divided,
            "larger": largest,
            "sqrt": root,
            "sign": sign,
        }
        return tuple([by_coordinate[op](*entries) for entries in zip(*v, strict=True)])
