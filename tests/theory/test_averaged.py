"""Sentences in an abstract space, held against vectors and quadratics with numbers in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from theory import claim
from theory.claim import Claim
from theory.inequality.averaged import Reader, Scalar
from theory.sentence import parse_expression

POINTS = ("x", "y", "a_n", "xstar")
ASSUMED = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)")


class Numbers:
    """Clients with quadratics of their own, not all with as many samples, and points with coordinates.

    Attributes:
        at: (N, d) for each point, the same for every client where it does not differ.
    """

    def __init__(self, seed: int, clients: int, dim: int) -> None:
        rng = np.random.default_rng(seed)
        self.mu, self.L, self.N, self.d = 0.5, 3.0, clients, dim
        self.samples = [int(rng.integers(1, 4)) for _ in range(clients)]
        self.H, self.b = [], []
        for n in range(clients):
            turns = [np.linalg.qr(rng.normal(size=(dim, dim)))[0] for _ in range(self.samples[n])]
            self.H.append([q @ np.diag(rng.uniform(self.mu, self.L, dim)) @ q.T for q in turns])
            self.b.append([rng.normal(size=dim) for _ in turns])
        H = sum(sum(own) / len(own) for own in self.H) / clients
        b = sum(sum(own) / len(own) for own in self.b) / clients
        shared = {"x": rng.normal(size=dim), "y": rng.normal(size=dim), "xstar": np.linalg.solve(H, b)}
        self.at = {name: np.tile(v, (clients, 1)) for name, v in shared.items()}
        self.at["a_n"] = rng.normal(size=(clients, dim))

    def gradient(self, function: str, where: Any, n: int, i: int) -> Any:
        if function == "f_ni":
            return self.H[n][i] @ where - self.b[n][i]
        if function == "f_n":
            return sum(self.gradient("f_ni", where, n, j) for j in range(self.samples[n])) / self.samples[n]
        return sum(self.gradient("f_n", where, m, 0) for m in range(self.N)) / self.N

    def value(self, function: str, where: Any, n: int, i: int) -> float:
        if function == "f_ni":
            return float(where @ self.H[n][i] @ where / 2 - self.b[n][i] @ where)
        if function == "f_n":
            return sum(self.value("f_ni", where, n, j) for j in range(self.samples[n])) / self.samples[n]
        return sum(self.value("f_n", where, m, 0) for m in range(self.N)) / self.N

    def each(self) -> list[tuple[int, int, float]]:
        """Client, sample, and what it weighs in the mean over clients of the mean over their samples."""
        return [(n, i, 1 / self.N / self.samples[n]) for n in range(self.N) for i in range(self.samples[n])]

    def parts(self, vectors: dict[tuple[int, int], Any]) -> dict[str, dict[tuple[int, int], Any]]:
        """A vector a sample as its mean, its client's distance from that, and its own from its client's."""
        mean = sum(w * vectors[n, i] for n, i, w in self.each())
        own = [sum(vectors[n, i] for i in range(s)) / s for n, s in enumerate(self.samples)]
        return {
            "": {(n, i): mean for n, i, _ in self.each()},
            "n": {(n, i): own[n] - mean for n, i, _ in self.each()},
            "i": {(n, i): vectors[n, i] - own[n] for n, i, _ in self.each()},
        }

    def atoms(self, reader: Reader) -> tuple[dict[str, Any], dict[str, float]]:
        """The parts of every vector, and the mean of every value, by the names that the reader has for them."""
        vectors = {p: self.parts({(n, i): self.at[p][n] for n, i, _ in self.each()}) for p in POINTS}
        values = {}
        for p in POINTS:
            at = reader.vector(parse_expression(p))
            for function in ("f", "f_n", "f_ni"):
                gradient, value = reader._family(function, at)
                own = {(n, i): self.gradient(function, self.at[p][n], n, i) for n, i, _ in self.each()}
                if gradient not in vectors or function == "f_ni":
                    vectors[gradient] = self.parts(own)
                values[value] = sum(w * self.value(function, self.at[p][n], n, i) for n, i, w in self.each())
        return vectors, values

    def worth(self, form: Scalar, reader: Reader) -> float:
        vectors, values = self.atoms(reader)
        at = {sympy.Symbol("L"): self.L, sympy.Symbol("mu"): self.mu, sympy.Symbol("N"): self.N}
        total = 0.0
        for key, coefficient in form.terms.items():
            factor = float(sympy.sympify(coefficient).subs(at))
            if key[0] == "G":
                u, v = vectors[key[2]][key[1]], vectors[key[3]][key[1]]
                total += factor * sum(w * float(u[n, i] @ v[n, i]) for n, i, w in self.each())
            else:
                total += factor * (values[key[1]] if key[0] == "F" else 1.0)
        return total


SEEN = [Numbers(seed, clients, dim) for seed, (clients, dim) in enumerate([(1, 1), (2, 2), (3, 2), (4, 3), (5, 1)])]


def about(statement: str, **rest: Any) -> Claim:
    return claim("a", statement, vectors=("x", "y", "a_n"), **rest)


@pytest.mark.parametrize("numbers", SEEN, ids=lambda s: f"{s.N} clients")
def test_what_assumptions_imply_holds_of_quadratics(numbers: Numbers) -> None:
    """At every two points, also where a client has a point of its own; for f, f_n and f_ni."""
    reader = Reader(about("norm2(x - xstar) + norm2(y) + mean_n(norm2(a_n)) >= 0", assuming=ASSUMED))
    kinds = ("smooth", "convex", "strongly_convex", "smooth convex", "smooth strongly_convex")
    tight = 0
    for function in ("f", "f_n", "f_ni"):
        for one in POINTS:
            for other in POINTS:
                for kind in kinds if one != other else ():
                    found = numbers.worth(reader.condition(f"{kind} {function} ({one}, {other})").form, reader)
                    assert found <= 1e-9, (kind, function, one, other)
                    tight += found > -0.5
    assert tight > 5
    for one in POINTS:
        assert numbers.worth(reader.condition(f"infimum f ({one})").form, reader) <= 1e-9


@pytest.mark.parametrize("numbers", SEEN, ids=lambda s: f"{s.N} clients")
@pytest.mark.parametrize(
    "text",
    [
        "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_ni, y))))",
        "mean_n(norm2(grad(f_n, x) - grad(f, x)))",
        "mean_n(mean_i(norm2(grad(f_ni, a_n) - grad(f_n, x))))",
        "mean_n(dot(grad(f_n, a_n), a_n - mean_n(a_n)))",
        "norm2(mean_n(a_n - grad(f_n, a_n)) - xstar)",
        "mean_n(norm2(grad(f, a_n)))",
        "mean_n(mean_i(dot(grad(f_ni, xstar), grad(f_ni, x))))",
        "sum_n(norm2(a_n - x))",
        "mean_n(mean_i(f_ni(x))) - f(y)",
        "mean_n(f_n(a_n)) - mean_n(f(a_n))",
    ],
)
def test_means_are_what_they_are(numbers: Numbers, text: str) -> None:
    """Against sums over clients and samples, one by one."""
    reader = Reader(about(f"{text} <= mu*L", assuming=ASSUMED))
    assert numbers.worth(reader.scalar(parse_expression(text)), reader) == pytest.approx(
        by_hand(numbers, text), rel=1e-9
    )


def by_hand(numbers: Numbers, text: str) -> float:
    """The formula with Python's own sums."""
    g, at, N = numbers.gradient, numbers.at, numbers.N
    x, y, star, a = at["x"][0], at["y"][0], at["xstar"][0], at["a_n"]
    own = range(N)

    def over(term: Any) -> float:
        return sum(w * term(n, i) for n, i, w in numbers.each())

    def square(v: Any) -> float:
        return float(v @ v)

    values = {
        "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_ni, y))))": lambda: over(
            lambda n, i: square(g("f_ni", x, n, i) - g("f_ni", y, n, i))
        ),
        "mean_n(norm2(grad(f_n, x) - grad(f, x)))": lambda: (
            sum(square(g("f_n", x, n, 0) - g("f", x, n, 0)) for n in own) / N
        ),
        "mean_n(mean_i(norm2(grad(f_ni, a_n) - grad(f_n, x))))": lambda: over(
            lambda n, i: square(g("f_ni", a[n], n, i) - g("f_n", x, n, 0))
        ),
        "mean_n(dot(grad(f_n, a_n), a_n - mean_n(a_n)))": lambda: (
            sum(float(g("f_n", a[n], n, 0) @ (a[n] - a.mean(axis=0))) for n in own) / N
        ),
        "norm2(mean_n(a_n - grad(f_n, a_n)) - xstar)": lambda: square(
            sum(a[n] - g("f_n", a[n], n, 0) for n in own) / N - star
        ),
        "mean_n(norm2(grad(f, a_n)))": lambda: sum(square(g("f", a[n], n, 0)) for n in own) / N,
        "mean_n(mean_i(dot(grad(f_ni, xstar), grad(f_ni, x))))": lambda: over(
            lambda n, i: float(g("f_ni", star, n, i) @ g("f_ni", x, n, i))
        ),
        "sum_n(norm2(a_n - x))": lambda: sum(square(a[n] - x) for n in own),
        "mean_n(mean_i(f_ni(x))) - f(y)": lambda: numbers.value("f", x, 0, 0) - numbers.value("f", y, 0, 0),
        "mean_n(f_n(a_n)) - mean_n(f(a_n))": lambda: (
            sum(numbers.value("f_n", a[n], n, 0) - numbers.value("f", a[n], n, 0) for n in own) / N
        ),
    }
    return values[text]()
