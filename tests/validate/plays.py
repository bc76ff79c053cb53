"""Certificates of kind "play" recomputed: every path of a run, played with `theory.program.walk`, in the plainest way.

Nothing is merged and nothing is left out: the paths of all K rounds are listed, and a sentence is evaluated on each. It
shares the readers of `theory` with whoever makes certificates, and no code with the verifier.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from sim.problems import Quadratic
from sim.problems.linear_algebra import minimise
from theory.domain import COUNT, POSITIVE, Domain
from theory.formula import Apply, Formula, Name, Number, names_in, text_of
from theory.inequality.psd import is_psd
from theory.predicates import predicate
from theory.program import Instruction, Loop, Program, from_json, walk
from theory.sentence import (
    INTEGERS,
    At,
    Expression,
    Vocabulary,
    evaluate,
    everything,
    index_of,
    parse_call,
    parse_expression,
    parse_sentence,
    read,
)  # fmt: skip
from theory.sentence import text_of as written
from validate import satisfied
from validate.satisfied.network import connected

PER_CLIENT = ("client", "table", "client past", "numbers", "sample")


class NoInstance(Exception):
    """There is no such instance, or the sentence says nothing of it."""


def need(holds: Any, what: str) -> None:
    if not holds:
        raise NoInstance(what)


@dataclass
class Chooser:
    """A way through all draws, told by its first choices."""

    told: list[int]
    taken: list[tuple[int, int]] = field(default_factory=list)
    probability: Any = Fraction(1)

    def choose(self, choices: Sequence[tuple[Any, Any]]) -> Any:
        choices = [c for c in choices if c[0] != 0]
        which = self.told[len(self.taken)] if len(self.taken) < len(self.told) else 0
        self.taken.append((which, len(choices)))
        self.probability *= choices[which][0]
        return choices[which][1]

    def following(self) -> list[int] | None:
        left = list(self.taken)
        while left and left[-1][0] + 1 == left[-1][1]:
            left.pop()
        return None if not left else [*(w for w, _ in left[:-1]), left[-1][0] + 1]


def all_ways(run: Callable[[Chooser], Any]) -> Iterator[tuple[Any, Any]]:
    told: list[int] | None = []
    while told is not None:
        chooser = Chooser(told)
        result = run(chooser)
        yield chooser.probability, result
        told = chooser.following()


def two_values(variance: Any) -> list[tuple[Any, Any]]:
    """The law of a noise along its coordinate."""
    if variance == 0:
        return [(Fraction(1), Fraction(0))]
    if not isinstance(variance, Fraction):
        return [(0.5, math.sqrt(variance)), (0.5, -math.sqrt(variance))]
    top = variance.numerator * variance.denominator
    scale = 1 if math.isqrt(top) ** 2 == top else 16
    a = Fraction(max(1, math.isqrt(top * scale**2)), variance.denominator * scale)
    b = variance / a
    return [(b / (a + b), a), (a / (a + b), -b)]


class Player:
    """A machine for `walk`. A vector is a list, of the clients a list of lists, of a table one more."""

    def __init__(self, world: Recomputed, program: Program, k: int, chooser: Chooser) -> None:
        self.world, self.program, self.k, self.chooser = world, program, k, chooser
        self.client: int | None = None
        self.own: set[str] = set()
        self.kinds: dict[str, Any] = dict(program.kinds)
        for step in program.steps:
            if isinstance(step, Loop) and step.op == "pass":
                self.kinds[step.index] = "sample"
            if isinstance(step, Loop) and step.op == "visit":
                self.own |= {c.name for c in step.carried} | set(step.defines)
                self.own |= {s.index for s in step.body if isinstance(s, Loop)}
        self.taps: dict[Any, Any] = {}
        self.env: dict[str, Any] = {}

    # numbers

    def split(self, name: str) -> bool:
        return self.kinds[name] in PER_CLIENT and not (self.client is not None and name in self.own)

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        """A number, or a list of them."""
        if isinstance(formula, Number):
            return self.world.constant(formula.value)
        if isinstance(formula, Name):
            name = formula.name
            if name in env and name != "k":
                value = env[name]
                if name[0] != "_":
                    return self.world.constant(Fraction(value))
                return value[self.client] if self.client is not None and self.split(name) else value
            if name == "k":
                return self.world.constant(Fraction(self.k))
            if name in ("N", "d"):
                return self.world.constant(Fraction(self.world.N if name == "N" else self.world.d))
            value = self.world.parameters[name]
            if isinstance(value, dict):
                return value["k"][self.k]
            return value[self.client] if isinstance(value, list) and self.client is not None else value
        assert isinstance(formula, Apply)
        values = [self.number(a, env) for a in formula.arguments]
        if any(isinstance(v, list) for v in values):
            columns = zip(*(v if isinstance(v, list) else [v] * self.world.N for v in values), strict=True)
            return [self.world.numbers(formula.operation, column) for column in columns]
        return self.world.numbers(formula.operation, tuple(values))

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        value = self.number(formula, env)
        need(not isinstance(value, list) and value == int(value) and value >= 1, "the number of turns")
        return int(value)

    # loops

    def visits(self) -> Iterator[None]:
        order = self.chooser.choose(self.orders(self.world.N))
        for n in order:
            self.client = n
            yield
        self.client = None

    def passes(self) -> Iterator[Any]:
        if self.client is not None:
            for i in self.chooser.choose(self.orders(len(self.world.samples[self.client]))):
                yield (i,)
            return
        orders = [self.chooser.choose(self.orders(len(own))) for own in self.world.samples]
        for turn in range(max(map(len, orders))):
            yield [(order[turn],) if turn < len(order) else (order[-1],) for order in orders]
            self.turn = turn

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        if self.client is not None:
            return after
        turn = getattr(self, "turn", -1) + 1
        return [a if turn < len(own) else b for own, b, a in zip(self.world.samples, before, after, strict=True)]

    def orders(self, size: int) -> list[tuple[Any, Any]]:
        return [(Fraction(1, math.factorial(size)), order) for order in permutations(range(size))]

    # instructions

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        world, N = self.world, self.world.N
        if step.op == "tap":
            return None  # seen by `Recomputed.taps`, where they are wanted
        if step.op in ("mean", "sum", "average", "mix"):
            return self.over_clients(step, of[0], numbers)
        if step.op == "coin":
            return self.chooser.choose(self.coin(numbers[0]))
        if step.op == "choose" and self.client is None:
            S = self.integer(numbers[0], 10**6 if step.flag else N)
            ways = list(product(range(N), repeat=S)) if step.flag else list(combinations(range(N), S))
            way = self.chooser.choose([(Fraction(1, len(ways)), way) for way in ways])
            return [world.constant(Fraction(way.count(n))) for n in range(N)]
        if self.client is not None:
            picked = [v[self.client] if self.split(name) else v for v, name in zip(of, step.of, strict=True)]
            return self.one(step, picked, list(numbers), self.client)
        if step.kind not in PER_CLIENT:
            return self.one(step, list(of), list(numbers), None)
        return [
            self.one(
                step,
                [self.part(v, name, n) for v, name in zip(of, step.of, strict=True)],
                [c[n] if isinstance(c, list) else c for c in numbers],
                n,
            )
            for n in range(N)
        ]

    def part(self, v: Any, name: str, n: int) -> Any:
        """Client n's part; a loop may have put a server's value in the place of a client's, which is copied."""
        kind = self.kinds[name]
        copied = kind == "client" and not isinstance(v[0], list)
        return v[n] if kind in PER_CLIENT and not copied else v

    def integer(self, value: Any, most: int) -> int:
        need(not isinstance(value, list) and value == int(value) and 1 <= value <= most, "an integer")
        return int(value)

    def coin(self, p: Any) -> list[tuple[Any, Any]]:
        need(not isinstance(p, list) and 0 < p <= 1, "a probability")
        return [(p, self.world.constant(Fraction(1))), (1 - p, self.world.constant(Fraction(0)))]

    def over_clients(self, step: Instruction, v: Any, numbers: Sequence[Any]) -> Any:
        N = self.world.N
        need(self.client is None, "a mean in a visit")
        vectors = [self.part(v, step.of[0], n) for n in range(N)]
        if step.op == "mix":
            W = self.world.parameters[step.label]
            return [self.sum([(W[n][m], vectors[m]) for m in range(N)]) for n in range(N)]
        weights = [1] * N
        if step.op == "average":
            weights = numbers[0] if isinstance(numbers[0], list) else [numbers[0]] * N
        total = sum(weights)
        if step.op == "sum":
            return self.sum(list(zip(weights, vectors, strict=True)))
        if total == 0:
            return [self.world.constant(Fraction(0))] * self.world.d
        return self.sum(
            [
                (self.world.numbers("/", (self.world.constant(Fraction(w)), total)), u)
                for w, u in zip(weights, vectors, strict=True)
            ]
        )

    def sum(self, terms: Sequence[tuple[Any, Any]]) -> list[Any]:
        return [sum((c * v[j] for c, v in terms), self.world.constant(Fraction(0))) for j in range(self.world.d)]

    def one(self, step: Instruction, of: list[Any], c: list[Any], n: int | None) -> Any:
        """An instruction of one client, or of the server."""
        world, op, d = self.world, step.op, self.world.d
        need(not any(isinstance(number, list) for number in c), "one number")
        tables = [self.kinds[name] == "table" for name in step.of]
        if op in ("linear", "where") and (any(tables) or step.kind == "table"):
            size = len(world.samples[n])  # type: ignore[index]
            entries = [[v[i] if t else v for v, t in zip(of, tables, strict=True)] for i in range(size)]
            return [self.one_vector(step, entry, c, n) for entry in entries]
        if op == "sample":
            own = len(world.samples[n])  # type: ignore[index]
            b = self.integer(c[0], 10**6 if step.flag or c[0] == 1 else own)
            ways = list(product(range(own), repeat=b)) if step.flag else list(combinations(range(own), b))
            return self.chooser.choose([(Fraction(1, len(ways)), way) for way in ways])
        if op == "coins":
            return self.chooser.choose(self.coin(c[0]))
        if op == "choose":
            S, N = self.integer(c[0], 10**6 if step.flag else world.N), world.N
            ways = list(product(range(N), repeat=S)) if step.flag else list(combinations(range(N), S))
            return world.constant(Fraction(self.chooser.choose([(Fraction(1, len(ways)), w) for w in ways]).count(n)))
        if op == "noise":
            need(c[0] >= 0, "a variance")
            at = self.chooser.choose([(Fraction(1, d), j) for j in range(d)])
            value = self.chooser.choose(two_values(c[0]))
            return [value if j == at else 0 * value for j in range(d)]
        if op == "keep":
            m = self.integer(c[0], d)
            ways = list(combinations(range(d), m))
            way = self.chooser.choose([(Fraction(1, len(ways)), way) for way in ways])
            return [x * world.constant(Fraction(d, m)) if j in way else 0 * x for j, x in enumerate(of[0])]
        if op == "shift":
            return [of[1], *of[0][:-1]]
        if op == "combine":
            weights = world.parameters[step.label]
            need(len(weights) == len(of[0]), "the weights")
            return self.sum(list(zip(weights, of[0], strict=True)))
        if op == "get":
            which = range(len(of[0])) if len(of) == 1 else of[1]
            return self.sum([(world.constant(Fraction(1, len(which))), of[0][i]) for i in which])
        if op == "put":
            return [of[2] if i in of[1] else entry for i, entry in enumerate(of[0])]
        return self.one_vector(step, of, c, n)

    def one_vector(self, step: Instruction, of: list[Any], c: list[Any], n: int | None) -> Any:
        world, op = self.world, step.op
        if op == "linear":
            return self.sum(list(zip(c, of, strict=True)))
        if op == "where":
            return of[0] if c[0] != 0 else of[1]
        if op == "each":
            return of[0]
        if op == "gradient":
            functions = [world.f_n(n)] if len(of) == 1 else [world.samples[n][i] for i in of[1]]  # type: ignore[index,arg-type]
            return self.sum([(world.constant(Fraction(1, len(functions))), world.slope(f, of[0])) for f in functions])
        if op == "full gradient":
            return world.slope(world.f(), of[0])
        if op == "prox":
            return world.prox(n, of[0], c[0])  # type: ignore[arg-type]
        if op == "before":
            need(c[1] == int(c[1]) and c[1] >= 0, "a delay")
            return world.constant(Fraction(int(c[0] < c[1])))
        if op == "ones":
            return [world.constant(Fraction(1))] * world.d
        if op == "top":
            m = self.integer(c[0], world.d)
            kept = sorted(range(world.d), key=lambda j: (-abs(of[0][j]), j))[:m]
            return [x if j in kept else 0 * x for j, x in enumerate(of[0])]
        if op in ("project", "clip"):
            need(c[0] >= 0, "a radius")
            square = sum(x * x for x in of[0])
            if square <= c[0] ** 2:
                return of[0]
            return [x * c[0] / world.numbers("sqrt", (square,)) for x in of[0]]
        if op == "norm":
            return world.numbers("sqrt", (sum(x * x for x in of[0]),))
        coordinate = {
            "times": lambda a, b: a * b,
            "over": lambda a, b: world.numbers("/", (a, b)),
            "larger": max,
            "sqrt": lambda a: world.numbers("sqrt", (a,)),
            "sign": lambda a: a * 0 + (a > 0) - (a < 0),
        }[op]
        return [coordinate(*entries) for entries in zip(*of, strict=True)]


class Recomputed:
    """A certificate as a world for `theory.sentence.worlds.evaluate`; in Fractions, or with `floats` in float64."""

    def __init__(self, certificate: Mapping[str, Any], floats: bool = False) -> None:
        self.data, self.floats = certificate, floats
        self.K = int(certificate["rounds"])
        self.program = None if certificate["program"] is None else from_json(certificate["program"])
        self.parameters = {name: self.read(value) for name, value in certificate["parameters"].items()}
        self.vectors = {name: self.read(value) for name, value in certificate.get("vectors", {}).items()}
        self.samples: list[list[Any]] = []
        if certificate["problem"] is not None:
            self.samples = [
                [(self.read(s["H"]), self.read(s["b"]), self.read(s.get("c", 0))) for s in own]
                for own in certificate["problem"]["clients"]
            ]
        vectors = list(self.vectors.items())
        self.N = len(self.samples) or next((len(v) for name, v in vectors if name.endswith("_n")), 0)
        self.start = self.read(certificate["start"])
        self.d = len(self.samples[0][0][1]) if self.samples else len(vectors[0][1]) if vectors else 0
        self.definitions: dict[str, Expression] = {}
        for name, text in certificate["definitions"].items():
            self.definitions[name] = parse_expression(text)
        states = {} if self.program is None else {s.name: s.kind for s in self.program.state}
        taps = {} if self.program is None else dict(self.program.taps)
        need(not set(taps) & set(states), "names")
        self.words = Vocabulary(states, taps, tuple(self.vectors), self.definitions)
        self.path: dict[Any, Any] = {}
        self.paths: list[tuple[Any, dict[Any, Any]]] = []

    def read(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.read(v) for v in value]
        if isinstance(value, dict):
            return {key: self.read(v) for key, v in value.items()}
        return self.constant(Fraction(value))

    # functions

    def mean(self, functions: Sequence[Any]) -> Any:
        share = self.constant(Fraction(1, len(functions)))
        d = self.d
        H = [[sum(f[0][i][j] for f in functions) * share for j in range(d)] for i in range(d)]
        return H, [sum(f[1][i] for f in functions) * share for i in range(d)], sum(f[2] for f in functions) * share

    def f_n(self, n: int) -> Any:
        return self.mean(self.samples[n])

    def f(self) -> Any:
        return self.mean([self.f_n(n) for n in range(self.N)])

    def which(self, name: str, at: Mapping[str, int]) -> Any:
        return self.f() if name == "f" else self.f_n(at["n"]) if name == "f_n" else self.samples[at["n"]][at["i"]]

    def slope(self, f: Any, v: Sequence[Any]) -> list[Any]:
        return [sum(h * x for h, x in zip(row, v, strict=True)) - y for row, y in zip(f[0], f[1], strict=True)]

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        H, b, c = self.which(name, at)
        square = sum(v[i] * H[i][j] * v[j] for i in range(self.d) for j in range(self.d))
        return square / 2 - sum(y * x for y, x in zip(b, v, strict=True)) + c

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        return self.slope(self.which(name, at), v)

    def prox(self, n: int, v: Any, t: Any) -> list[Any]:
        need(t != 0, "a step")
        H, b, _ = self.f_n(n)
        matrix = [[h + (1 / t if i == j else 0) for j, h in enumerate(row)] for i, row in enumerate(H)]
        curved = np.linalg.eigvalsh(np.array(matrix, float))[0] > -1e-9 if self.floats else is_psd(matrix)
        need(curved, "a proximal point")
        found = self.minimum(matrix, [y + x / t for y, x in zip(b, v, strict=True)])
        need(found is not None and found[1], "one proximal point")
        return found[0]  # type: ignore[index,no-any-return]

    def minimum(self, H: Any, b: Any) -> tuple[list[Any], bool] | None:
        kind = float if self.floats else object
        found = minimise(np.array(H, dtype=kind), np.array(b, dtype=kind))
        return None if found is None else (list(found[0]), found[1] == len(b))

    # the world

    def constant(self, value: Fraction) -> Any:
        return float(value) if self.floats else value

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        a = arguments
        if operation == "/":
            need(a[1] != 0, "a division by 0")
            return a[0] / a[1]
        if operation == "**":
            need(a[0] > 0 or a[1] == int(a[1]), "a power")
            need(a[0] != 0 or a[1] >= 0, "a division by 0")
            if not self.floats and a[1] == int(a[1]):
                return Fraction(a[0] ** int(a[1]))
            need(self.floats, "a root")
            return a[0] ** a[1]
        if operation == "sqrt" and not self.floats:
            need(a[0] >= 0, "a root")
            root = Fraction(math.isqrt(a[0].numerator), math.isqrt(a[0].denominator))
            need(root**2 == a[0], "a rational root")
            return root
        if operation in ("sqrt", "exp", "log"):
            need(self.floats or (operation, a[0]) in (("exp", 0), ("log", 1)), "a rational number")
            need(operation != "log" or a[0] > 0, "a logarithm")
            need(operation != "sqrt" or a[0] >= 0, "a root")
            return (
                self.constant(Fraction(0)) + getattr(math, operation)(a[0]) if self.floats else Fraction(int(a[0] == 0))
            )
        return {
            "+": lambda: a[0] + a[1],
            "-": lambda: a[0] - a[1],
            "*": lambda: a[0] * a[1],
            "neg": lambda: -a[0],
            "abs": lambda: abs(a[0]),
            "min": lambda: min(a),
            "max": lambda: max(a),
        }[operation]()

    def vectors_(self, operation: str, a: tuple[Any, ...]) -> Any:
        if operation == "norm2":
            return sum(x * x for x in a[0])
        if operation == "norm":
            return self.numbers("sqrt", (sum(x * x for x in a[0]),))
        if operation == "dot":
            return sum(x * y for x, y in zip(*a, strict=True))
        if operation == "neg":
            return [-x for x in a[0]]
        if operation in ("+", "-"):
            return [x + y if operation == "+" else x - y for x, y in zip(*a, strict=True)]
        return [self.numbers(operation, (x, a[1])) for x in a[0]]

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        if name == "fstar":
            H, b, _ = self.f()
            found = self.minimum(H, b)
            need(found is not None, "an infimum")
            return self.function("f", found[0], at)  # type: ignore[index]
        if name in ("K", "N", "d"):
            return self.constant(Fraction({"K": self.K, "N": self.N, "d": self.d}[name]))
        base, index = index_of(name)
        value = self.parameters[name] if name in self.parameters else self.parameters[base]
        if isinstance(value, dict):
            return value["k"][at["k" if index == "k" else "every k"]]
        if isinstance(value, list):
            return value[at["n" if index == "n" else "every n"]]
        return value

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        if name in self.vectors:
            return self.vectors[name][at["n"]] if name.endswith("_n") else self.vectors[name]
        if name == "x0":
            return self.start
        H, b, _ = self.f() if name == "xstar" else self.f_n(at["n"])
        found = self.minimum(H, b)
        need(found is not None, "a minimiser")
        given = self.data.get(name)
        if given is not None:
            v = self.read(given if name == "xstar" else given[at["n"]])
            need(all(x == 0 for x in self.slope((H, b, 0), v)), "a minimiser")
            return v
        need(found[1], "one minimiser")  # type: ignore[index]
        return found[0]  # type: ignore[index]

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        self.within(name, indices)
        found = self.path[name, indices]
        kind = self.words.states[name] if name in self.words.states else self.words.taps[name][0]
        if kind == "client":
            return found[at["n"]]
        return found[at["n"]][at["i"]] if kind == "table" else found

    def within(self, name: str, indices: tuple[int, ...]) -> None:
        if (name, indices) not in self.path:
            raise OutsideRun(f"{name}{indices}")

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Sequence[int]:
        if index in "nik":
            return range({"n": self.N, "i": len(self.samples[at["n"]]) if index == "i" else 0, "k": self.K}[index])
        turns = {
            key[1][1]
            for key in self.path
            if key[0] in {p.name for p in everything(e) if isinstance(p, At)} and len(key[1]) > 1
        }
        return range(max(turns) + 1)

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        mine = self.path
        total: Any = None
        for p, path in self.paths:
            self.path = path
            value = evaluate(e, self._as_world(), at, self.words)
            value = [p * x for x in value] if isinstance(value, list) else p * value
            if total is None:
                total = value
            else:
                total = [x + y for x, y in zip(total, value, strict=True)] if isinstance(value, list) else total + value
        self.path = mine
        return total

    def _as_world(self) -> Any:
        return _World(self)

    # runs

    def run(self) -> None:
        """All paths."""
        if self.program is None:
            self.paths = [(self.constant(Fraction(1)), {})]
            self.path = {}
            return
        program = self.program
        missing = [p for p in program.parameters if p not in self.parameters and p not in ("N", "d")]
        need(not missing, "parameters")
        begin = [self.first(s) for s in program.state]
        rounds = self.needed()

        def once(chooser: Chooser) -> dict[Any, Any]:
            path: dict[Any, Any] = {}
            state = begin
            for k in range(rounds):
                path |= {(s.name, (k,)): v for s, v in zip(program.state, state, strict=True)}
                player = Tapping(self, program, k, chooser)
                env: dict[str, Any] = {"k": k, **dict(zip(program.inputs, state, strict=True))}
                walk(player.marked(program.body), env, player)
                path |= {(label, (k, *turns)): v for (label, turns), v in player.taps.items()}
                after = []
                for name, s in zip(program.result, program.state, strict=True):
                    copied = s.kind == "client" and program.kinds[name] == "server"
                    after.append([env[name]] * self.N if copied else env[name])
                state = after
            path |= {(s.name, (rounds,)): v for s, v in zip(program.state, state, strict=True)}
            return path

        self.paths = list(all_ways(once))
        if self.floats:
            self.paths = [(float(p), path) for p, path in self.paths]
        self.path = self.paths[0][1]

    def needed(self) -> int:
        """How many of the rounds are spoken of."""
        texts = [self.data["statement"], *self.data["definitions"].values()]
        if any(re.search(r"\bK\b|_k\b", text) for text in texts) or any("[" in text for text in self.data["relations"]):
            return self.K
        return min(self.K, int(self.data["at"].get("k", self.K)) + 2)

    def first(self, s: Any) -> Any:
        tree, words = parse_expression(s.initial), Vocabulary()
        world = self._as_world()

        def at(where: Mapping[str, int]) -> Any:
            value = evaluate(tree, world, where, words)
            if isinstance(value, list):
                return value
            need(value == 0, "a vector")
            return [self.constant(Fraction(0))] * self.d

        J = 1
        if s.length is not None:
            J = int(self.parameters[text_of(s.length)]) if text_of(s.length) in self.parameters else self.weights()
        if s.kind == "table":
            return [[at({"n": n, "i": i}) for i in range(len(own))] for n, own in enumerate(self.samples)]
        if s.kind in ("client", "client past"):
            return [[at({"n": n})] * J if s.kind == "client past" else at({"n": n}) for n in range(self.N)]
        return [at({})] * J if s.kind == "past" else at({})

    def weights(self) -> int:
        assert self.program is not None
        return next(len(self.parameters[s.label]) for s in self.program.steps if s.op == "combine")  # type: ignore[union-attr]

    # what is to be true

    def false(self) -> bool:
        """Whether it is right: hypotheses hold, both sides are the printed ones, the relation is false."""
        self.run()
        self.check_domains()
        for item in self.data["assumptions"]:
            call = parse_call(item["text"])
            need(call is not None, "an assumption")
            assert call is not None
            one = predicate(*call)
            empty = {} if one.name == "connected" else {"function": "", "constants": []}
            said = {**empty, **item}
            said |= {} if one.name == "connected" else {"constants": [str_of(c) for c in said["constants"]]}
            need({"text": item["text"], **one.to_json()} == said, "an assumption as text and as data")
            if not self.assumed(one):
                return False
        for text in self.data["relations"]:
            if not all(holds(s, left, right) for s, left, right in self.everywhere(text)):
                return False
        sentence = parse_sentence(self.data["statement"])
        at = {key: int(value) for key, value in self.data["at"].items()}
        free = read(sentence.left, self.words).free | read(sentence.right, self.words).free
        need(free == set(at), "indices")
        printed = (self.side("left"), self.side("right"))
        for pair in self.pairs(sentence, at):
            if all(agree(p, value) for p, value in zip(printed, pair, strict=True)) and not holds(sentence, *pair):
                return True
        return False

    def side(self, name: str) -> Any:
        value = self.data[name]
        return (Fraction(value["lower"]), Fraction(value["upper"])) if isinstance(value, dict) else Fraction(value)

    def pairs(self, sentence: Any, at: Mapping[str, int]) -> Iterator[tuple[Any, Any]]:
        """Both sides on every path; once where neither is random."""
        random = any(read(side, self.words).random for side in (sentence.left, sentence.right))
        for _, path in self.paths if random else self.paths[:1]:
            self.path = path
            yield tuple(evaluate(side, self._as_world(), at, self.words) for side in (sentence.left, sentence.right))  # type: ignore[misc]

    def everywhere(self, text: str) -> Iterator[tuple[Any, Any, Any]]:
        sentence = parse_sentence(text)
        free = sorted(read(sentence.left, self.words).free | read(sentence.right, self.words).free)
        need(set(free) <= {"n", "k"}, "indices")
        names = {p.name for side in (sentence.left, sentence.right) for p in everything(side) if isinstance(p, Name)}
        ranges = [range(self.N if index == "n" else self.K + 1) for index in free]
        lists = [name for name in names if isinstance(self.parameters.get(name), list)]
        rounds = [name for name in names if isinstance(self.parameters.get(name), dict)]
        some = False
        for values in product(*ranges, range(self.N if lists else 1), range(self.K if rounds else 1)):
            at = dict(zip([*free, "every n", "every k"], values, strict=True))
            try:
                for pair in self.pairs(sentence, at):
                    some = True
                    yield sentence, *pair
            except (OutsideRun, IndexError):
                continue
        need(some, "a relation of which nothing is in the run")

    def assumed(self, one: Any) -> bool:
        assert self.samples
        network = self.parameters.get(one.matrix) if one.name == "connected" else None
        if network is not None:
            need(len(network) == self.N, "a matrix")
            return bool(connected(network, self.parameters.get("rho")))
        d = self.d
        most = max(map(len, self.samples))
        hessian = np.full((self.N, most, d, d), Fraction(0), dtype=object)
        linear = np.full((self.N, most, d), Fraction(0), dtype=object)
        for n, own in enumerate(self.samples):
            for i, (H, b, _) in enumerate(own):
                hessian[n, i] = np.array(H, dtype=object)
                linear[n, i] = np.array(b, dtype=object)
        problem = Quadratic(
            hessian,
            linear,
            np.full((self.N, most), Fraction(0), dtype=object),
            np.array([len(own) for own in self.samples]),
        )
        constants = [evaluate(c, self._as_world(), {}, self.words) for c in one.constants]
        return bool(satisfied.true(one, problem, constants))

    def check_domains(self) -> None:
        domains = {}
        for name, data in self.data.get("domains", {}).items():
            ends = [None if data[key] is None else float(Fraction(data[key])) for key in ("lower", "upper")]
            domains[name] = Domain(*ends, data["lower_open"], data["upper_open"], data["integer"])
        weights = (
            []
            if self.program is None
            else [s.label for s in self.program.steps if isinstance(s, Instruction) and s.op == "combine"]
        )
        for name, value in self.parameters.items():
            default = COUNT if name in INTEGERS else Domain(0, None) if name in weights else POSITIVE
            domain = domains.get(name, default)
            values = value["k"] if isinstance(value, dict) else value if isinstance(value, list) else [value]
            if values and isinstance(values[0], list):
                continue
            need(all(domain.contains(v) for v in values), f"the domain of {name}")
        if self.program is not None:
            self.check_unread_arguments()

    def check_unread_arguments(self) -> None:
        """Arguments that hang on parameters alone are in their domains even where nobody draws."""
        assert self.program is not None
        for step in self.program.steps:
            formulas = step.numbers if isinstance(step, Instruction) else () if step.count is None else (step.count,)
            for formula in formulas:
                for name in names_in(formula):
                    need(
                        name[0] == "_" or name in (*self.program.parameters, "k", "N", "d") or name[0] == "h", "a name"
                    )


class OutsideRun(NoInstance):
    """An index that is not in the run."""


class _World:
    """A `Recomputed` under the names of `theory.sentence.worlds.World`."""

    def __init__(self, one: Recomputed) -> None:
        self.one = one

    def __getattr__(self, name: str) -> Any:
        return getattr(self.one, "vectors_" if name == "vectors" else name)


class Tapping(Player):
    """A player that sees taps: they are rewritten as copies that it can note, with the turns of the loops around."""

    def marked(self, steps: Sequence[Any]) -> Sequence[Any]:
        self.around: list[int] = []
        self.depth = {label: loops for label, (_, loops) in self.program.taps.items()}
        return steps

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        if step.op == "tap":
            loops = self.depth[step.label]
            before = [turns for label, turns in self.taps if label == step.label]
            value = of[0][self.client] if self.client is not None and self.split(step.of[0]) else of[0]
            if loops == 0:
                turns: tuple[int, ...] = ()
            elif loops == 1:
                turns = (len(before),)
            else:
                need(False, "a tap in two loops")
                turns = ()
            self.taps[step.label, turns] = value
            return None
        return super().apply(step, of, numbers)


def str_of(text: str) -> str:
    return written(parse_expression(text))


def agree(printed: Any, value: Any) -> bool:
    if isinstance(printed, tuple):
        return bool(float(printed[0]) <= float(value) <= float(printed[1]))
    return bool(printed == value)


def holds(sentence: Any, left: Any, right: Any) -> bool:
    return {
        "<=": left <= right, "<": left < right, ">=": left >= right, ">": left > right, "==": left == right,
    }[sentence.relation]  # fmt: skip


def recomputed(certificate: Mapping[str, Any], floats: bool = False) -> bool:
    """Whether a certificate is right, by brute force."""
    try:
        return Recomputed(certificate, floats).false()
    except NoInstance:
        return False


def sides(certificate: Mapping[str, Any], floats: bool = False) -> tuple[Any, Any]:
    """Both sides at the printed indices; of what is random on its worst path (most of left minus right)."""
    one = Recomputed(certificate, floats)
    one.run()
    sentence = parse_sentence(certificate["statement"])
    at = {key: int(value) for key, value in certificate["at"].items()}
    sign = -1 if sentence.relation in (">=", ">") else 1
    return max(one.pairs(sentence, at), key=lambda pair: sign * (pair[0] - pair[1]))
