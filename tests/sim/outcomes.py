"""Every outcome of a program on a quadratic problem, one after another, in Fractions: what moments are held against.

Nothing here is shared with `sim.moments` but the program and `theory.program.walk`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.program import Apply, Formula, Instruction, Name, Number, Program, walk

Matrix = Any


class TooMany(Exception):
    """More outcomes than are gone through."""


class Chances:
    """Draws that are taken from a list, and beyond it always the first outcome; `following` is the next list."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.sizes: list[int] = []
        self.place = 0
        self.probability = Fraction(1)

    def draw(self, probabilities: Sequence[Fraction]) -> int:
        if self.place == len(self.taken):
            self.taken.append(0)
            self.sizes.append(len(probabilities))
        self.sizes[self.place] = len(probabilities)
        index = self.taken[self.place]
        self.place += 1
        self.probability *= probabilities[index]
        return index

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.draw([Fraction(1, len(items))] * len(items))]

    def advance(self) -> bool:
        while self.taken and self.taken[-1] + 1 == self.sizes[-1]:
            self.taken.pop()
            self.sizes.pop()
        if not self.taken:
            return False
        self.taken[-1] += 1
        self.place, self.probability = 0, Fraction(1)
        return True


def vector(values: Any) -> Matrix:
    out = np.empty(len(values), dtype=object)
    out[:] = [Fraction(v) for v in values]
    return out


class Player:
    """A machine for `walk`: server's values are (d,), clients' lists of N, tables lists of lists."""

    def __init__(self, problem: Quadratic, parameters: Mapping[str, Any], k: int, chances: Chances) -> None:
        self.problem, self.parameters, self.k, self.chances = problem, parameters, k, chances
        self.N, self.d = problem.clients, problem.dim
        self.visiting: int | None = None
        self.taps: dict[str, list[Any]] = {}

    # functions

    def sample_gradient(self, n: int, i: int, x: Matrix) -> Matrix:
        return self.problem.hessian[n, i] @ x - self.problem.linear[n, i]

    def client_gradient(self, n: int, x: Matrix) -> Matrix:
        count = int(self.problem.counts[n])
        total = sum((self.sample_gradient(n, i, x) for i in range(count)), vector([0] * self.d))
        return total / Fraction(count)

    # walk

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        if isinstance(formula, Number):
            return formula.value
        if isinstance(formula, Name):
            if formula.name in env:
                return env[formula.name]
            if formula.name == "k":
                return Fraction(self.k)
            if formula.name in ("N", "d"):
                return Fraction(getattr(self, formula.name))
            value = self.parameters[formula.name]
            if callable(value):
                value = value(self.k)
            if isinstance(value, list):
                value = [Fraction(v) for v in value]
                return value if self.visiting is None else value[self.visiting]
            return Fraction(value)
        assert isinstance(formula, Apply)
        parts = [self.number(a, env) for a in formula.arguments]
        many = any(isinstance(p, list) for p in parts)
        columns = [p if isinstance(p, list) else [p] * self.N for p in parts] if many else [[p] for p in parts]
        found = [self.operate(formula.operation, *row) for row in zip(*columns, strict=True)]
        return found if many else found[0]

    def operate(self, op: str, *a: Any) -> Any:
        return {
            "+": lambda: a[0] + a[1],
            "-": lambda: a[0] - a[1],
            "*": lambda: a[0] * a[1],
            "/": lambda: Fraction(a[0]) / a[1],
            "**": lambda: Fraction(a[0]) ** int(a[1]),
            "neg": lambda: -a[0],
            "abs": lambda: abs(a[0]),
            "min": lambda: min(a),
            "max": lambda: max(a),
        }[op]()

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        return int(self.number(formula, env))

    def visits(self) -> Iterator[None]:
        remaining = list(range(self.N))
        while remaining:
            self.visiting = self.chances.pick(remaining)
            remaining.remove(self.visiting)
            yield None
        self.visiting = None

    def passes(self) -> Iterator[Any]:
        orders = []
        for n in self.everyone():
            remaining = list(range(int(self.problem.counts[n])))
            order = []
            while remaining:
                order.append(self.chances.pick(remaining))
                remaining.remove(order[-1])
            orders.append(order)
        for turn in range(max(map(len, orders))):
            samples = [([order[turn]] if turn < len(order) else None) for order in orders]
            yield samples if self.visiting is None else samples[0]

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        if self.visiting is not None:
            return after
        before, after = self.clients(before), self.clients(after)
        return [b if s is None else a for s, b, a in zip(samples, before, after, strict=True)]

    def everyone(self) -> list[int]:
        return list(range(self.N)) if self.visiting is None else [self.visiting]

    def clients(self, value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value] * self.N

    def scalars(self, value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value] * self.N

    def each(self, function: Any, *values: Any) -> Any:
        """Client by client, or for the one that is visited."""
        if self.visiting is not None:
            return function(
                self.visiting, *[v[self.visiting] if isinstance(v, list) and self.outer(v) else v for v in values]
            )
        columns = [v if isinstance(v, list) else [v] * self.N for v in values]
        return [function(n, *row) for n, row in enumerate(zip(*columns, strict=True))]

    def outer(self, value: list[Any]) -> bool:
        """Whether a list is over the clients (a batch of samples of the one that is visited is not)."""
        return len(value) == self.N and (not value or not isinstance(value[0], int))

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        return getattr(self, "do_" + step.op.replace(" ", "_"))(step, of, numbers)

    # draws

    def do_sample(self, step: Instruction, of: Any, numbers: Any) -> Any:
        found = []
        for n in self.everyone():
            own, b = range(int(self.problem.counts[n])), int(numbers[0])
            if step.flag:
                found.append([self.chances.pick(own) for _ in range(b)])
            else:
                found.append(list(self.chances.pick(list(itertools.combinations(own, b)))))
        return found if self.visiting is None else found[0]

    def do_noise(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return self.each(lambda n, s2: self.signs(s2), numbers[0])

    def signs(self, variance: Fraction) -> Matrix:
        size = Fraction(variance) / self.d
        root = Fraction(math.isqrt(size.numerator), math.isqrt(size.denominator))
        assert root * root == size
        return vector([self.chances.pick([root, -root]) if root else 0 for _ in range(self.d)])

    def do_choose(self, step: Instruction, of: Any, numbers: Any) -> Any:
        S = int(numbers[0])
        if step.flag:
            chosen = [self.chances.pick(range(self.N)) for _ in range(S)]
        else:
            chosen = list(self.chances.pick(list(itertools.combinations(range(self.N), S))))
        return [Fraction(chosen.count(n)) for n in range(self.N)]

    def do_coins(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return self.each(lambda n, p: self.toss(p), numbers[0])

    def do_coin(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return self.toss(numbers[0])

    def toss(self, p: Fraction) -> Fraction:
        return Fraction(1) if p == 1 else Fraction(self.chances.draw([1 - p, Fraction(p)]))

    def do_keep(self, step: Instruction, of: Any, numbers: Any) -> Any:
        m = int(numbers[0])

        def one(n: int, v: Matrix) -> Matrix:
            chosen = self.chances.pick(list(itertools.combinations(range(self.d), m)))
            return vector([v[a] * Fraction(self.d, m) if a in chosen else 0 for a in range(self.d)])

        if step.kind == "server":
            return one(0, of[0])
        return self.each(one, of[0])

    # linear

    def do_linear(self, step: Instruction, of: Any, numbers: Any) -> Any:
        zero = vector([0] * self.d)
        if step.kind == "table":

            def entry(n: int, i: int) -> Matrix:
                return sum((self.at(c, n) * self.entry(v, n, i) for c, v in zip(numbers, of, strict=True)), zero)

            return [[entry(n, i) for i in range(self.problem.samples)] for n in range(self.N)]
        many = self.visiting is None and any(isinstance(a, list) for a in (*of, *numbers))
        if not many:
            here = [v[self.visiting] if isinstance(v, list) else v for v in of]
            return sum((c * v for c, v in zip(numbers, here, strict=True)), vector([0] * self.d))
        return [
            sum((self.at(c, n) * self.at(v, n) for c, v in zip(numbers, of, strict=True)), vector([0] * self.d))
            for n in range(self.N)
        ]

    def at(self, value: Any, n: int) -> Any:
        return value[n] if isinstance(value, list) else value

    def entry(self, value: Any, n: int, i: int) -> Any:
        own = self.at(value, n)
        return own[i] if isinstance(own, list) else own

    def do_where(self, step: Instruction, of: Any, numbers: Any) -> Any:
        if step.kind == "table":
            return [
                [self.entry(of[0] if self.at(numbers[0], n) != 0 else of[1], n, i) for i in range(self.problem.samples)]
                for n in range(self.N)
            ]
        if self.visiting is not None or not any(isinstance(a, list) for a in (*of, *numbers)):
            here = [v[self.visiting] if isinstance(v, list) else v for v in of]
            return here[0] if numbers[0] != 0 else here[1]
        return [self.at(of[0] if self.at(numbers[0], n) != 0 else of[1], n) for n in range(self.N)]

    def do_gradient(self, step: Instruction, of: Any, numbers: Any) -> Any:
        if len(of) == 1:
            return self.each(self.client_gradient, of[0])

        def one(n: int, x: Matrix, batch: Any) -> Matrix:
            if batch is None:
                return vector([0] * self.d)
            total = sum((self.sample_gradient(n, i, x) for i in batch), vector([0] * self.d))
            return total / Fraction(len(batch))

        return self.each(one, of[0], of[1])

    def do_full_gradient(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return sum((self.client_gradient(n, of[0]) for n in range(self.N)), vector([0] * self.d)) / Fraction(self.N)

    def do_each(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return of[0] if self.visiting is not None else self.clients(of[0])

    def do_sum(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return sum(self.clients(of[0]), vector([0] * self.d))

    def do_mean(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return self.do_sum(step, of, numbers) / Fraction(self.N)

    def do_average(self, step: Instruction, of: Any, numbers: Any) -> Any:
        weights = self.scalars(numbers[0])
        total = sum(weights)
        if total == 0:
            return vector([0] * self.d)
        return sum((a * v for a, v in zip(weights, self.clients(of[0]), strict=True)), vector([0] * self.d)) / total

    def do_mix(self, step: Instruction, of: Any, numbers: Any) -> Any:
        W, v = self.parameters[step.label], self.clients(of[0])
        return [sum((Fraction(W[n][m]) * v[m] for m in range(self.N)), vector([0] * self.d)) for n in range(self.N)]

    def do_before(self, step: Instruction, of: Any, numbers: Any) -> Any:
        h, tau = (self.scalars(a) for a in numbers)
        return [Fraction(int(a < b)) for a, b in zip(h, tau, strict=True)]

    def do_ones(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return vector([1] * self.d)

    def do_prox(self, step: Instruction, of: Any, numbers: Any) -> Any:
        def one(n: int, v: Matrix, t: Fraction) -> Matrix:
            count = int(self.problem.counts[n])
            H = sum(self.problem.hessian[n, i] for i in range(count)) / Fraction(count)
            b = sum(self.problem.linear[n, i] for i in range(count)) / Fraction(count)
            unit = np.array([[Fraction(int(a == c)) for c in range(self.d)] for a in range(self.d)], dtype=object)
            return solved(H + unit / Fraction(t), b + v / Fraction(t))

        return self.each(one, of[0], numbers[0])

    # memory

    def do_get(self, step: Instruction, of: Any, numbers: Any) -> Any:
        def one(n: int, table: Any, batch: Any) -> Matrix:
            chosen = range(int(self.problem.counts[n])) if batch is None else batch
            return sum((table[i] for i in chosen), vector([0] * self.d)) / Fraction(len(chosen))

        return [one(n, of[0][n], of[1][n] if len(of) > 1 else None) for n in range(self.N)]

    def do_put(self, step: Instruction, of: Any, numbers: Any) -> Any:
        return [
            [self.at(of[2], n) if i in of[1][n] else of[0][n][i] for i in range(self.problem.samples)]
            for n in range(self.N)
        ]

    def do_shift(self, step: Instruction, of: Any, numbers: Any) -> Any:
        if step.kind == "past":
            return (of[1], *of[0][:-1])
        return [(self.at(of[1], n), *of[0][n][:-1]) for n in range(self.N)]

    def do_combine(self, step: Instruction, of: Any, numbers: Any) -> Any:
        alpha = self.parameters[step.label]

        def one(past: Any) -> Matrix:
            return sum((Fraction(a) * v for a, v in zip(alpha, past, strict=True)), vector([0] * self.d))

        return one(of[0]) if step.kind == "server" else [one(past) for past in of[0]]

    def do_tap(self, step: Instruction, of: Any, numbers: Any) -> Any:
        self.taps.setdefault(step.label, []).append(of[0])


def solved(A: Matrix, b: Matrix) -> Matrix:
    """A x = b by elimination."""
    d = len(b)
    rows = [[*A[i], b[i]] for i in range(d)]
    for j in range(d):
        pivot = next(i for i in range(j, d) if rows[i][j] != 0)
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(d):
            if i != j:
                rows[i] = [v - rows[i][j] * u for v, u in zip(rows[i], rows[j], strict=True)]
    return vector([row[-1] for row in rows])


def starting(program: Program, problem: Quadratic, parameters: Mapping[str, Any], x0: Matrix) -> tuple[Any, ...]:
    """The state before the first round; knows the formulas that the tests use."""
    machine = Player(problem, parameters, 0, Chances())
    N, n = problem.clients, problem.samples
    found: list[Any] = []
    for state in program.state:
        text = state.initial
        server = {
            "0": vector([0] * problem.dim),
            "x0": x0,
            "grad(f, x0)": sum((machine.client_gradient(m, x0) for m in range(N)), 0 * x0) / Fraction(N),
        }
        if state.kind == "server":
            found.append(server[text])
        elif state.kind == "client":
            of_clients = [machine.client_gradient(m, x0) for m in range(N)]
            found.append(of_clients if text == "grad(f_n, x0)" else [server[text]] * N)
        elif state.kind == "table":
            zero = 0 * x0
            own = [
                [machine.sample_gradient(m, i, x0) if i < problem.counts[m] else zero for i in range(n)]
                for m in range(N)
            ]
            found.append(
                own
                if text == "grad(f_ni, x0)"
                else [[server[text] if i < problem.counts[m] else zero for i in range(n)] for m in range(N)]
            )
        else:
            assert state.length is not None
            length = int(machine.number(state.length, {}))
            past = (server[text],) * length
            found.append(past if state.kind == "past" else [past] * N)
    return tuple(found)


def flat(kinds: Sequence[str], state: Sequence[Any], problem: Quadratic) -> list[Fraction]:
    """1, the server's values, then those of client 0, of client 1, ..."""
    out = [Fraction(1)]
    for kind, value in zip(kinds, state, strict=True):
        if kind == "server":
            out += list(value)
        elif kind == "past":
            out += [c for v in value for c in v]
    for n in range(problem.clients):
        for kind, value in zip(kinds, state, strict=True):
            if kind == "client":
                out += list(value[n] if isinstance(value, list) else value)
            elif kind == "table":
                out += [c for i, v in enumerate(value[n]) for c in v]
            elif kind == "client past":
                out += [c for v in value[n] for c in v]
    return out


def frozen(value: Any) -> Any:
    return tuple(map(frozen, value)) if isinstance(value, list | tuple | np.ndarray) else value


def played(
    program: Program, problem: Quadratic, parameters: Mapping[str, Any], state: Sequence[Any], k: int, most: int
) -> Iterator[tuple[Fraction, tuple[Any, ...], dict[str, list[Any]]]]:
    """All outcomes of round k from a state: probability, state after it, taps."""
    chances = Chances()
    for count in itertools.count():
        if count == most:
            raise TooMany
        machine = Player(problem, parameters, k, chances)
        env: dict[str, Any] = dict(zip(program.inputs, state, strict=True))
        walk(program.body, env, machine)
        yield chances.probability, tuple(env[name] for name in program.result), machine.taps
        if not chances.advance():
            return


def brute_moments(
    program: Program, problem: Quadratic, parameters: Mapping[str, Any], x0: Any, rounds: int, most: int = 3000
) -> list[Matrix]:
    """E[yy'], y = (1, state), after every round.

    Raises:
        TooMany: with more outcomes than `most`.
    """
    kinds = [s.kind for s in program.state]
    law: dict[Any, tuple[Fraction, tuple[Any, ...]]] = {}
    first = starting(program, problem, parameters, vector(x0))
    law[frozen(first)] = (Fraction(1), first)
    found = []
    total = 0
    for k in range(rounds + 1):
        y = [(p, vector(flat(kinds, state, problem))) for p, state in law.values()]
        found.append(sum(p * np.outer(v, v) for p, v in y))
        if k == rounds:
            break
        following: dict[Any, tuple[Fraction, tuple[Any, ...]]] = {}
        for p, state in law.values():
            for q, after, _ in played(program, problem, parameters, state, k, most):
                total += 1
                if total > most:
                    raise TooMany
                key = frozen(after)
                following[key] = (following[key][0] + p * q if key in following else p * q, after)
        assert sum(p for p, _ in following.values()) == 1
        law = following
    return found
