"""One epoch of Algorithm 4 on quadratics, and what Lemmas 10 to 13 speak of, for every order of the clients.

f_j(v) = v'H_j v/2 - b_j'v. In its turn client j takes K steps v <- v - c_j (H_j v - b_j + noise), c_j = eta alpha_j N.
The Hessians are constant, so Q_j = c_j sum_{t<K} (I - c_j H_j)^(K-1-t) and I - Q_j H_j = (I - c_j H_j)^K.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np

from sim.problems import Quadratic, from_samples
from theory.assumptions import Assumption, BoundedDomain, BoundedGradient, VarianceAtMost
from validate.description import number, of_problem, of_step

Array = np.ndarray
Order = tuple[int, ...]

MOST_DRAWS = 10  # N K, of noise that is enumerated


@dataclass(frozen=True, eq=False)
class Epoch:
    """Clients, weights, step, start and domain of one epoch; all rational, or all floats.

    Attributes:
        name: for the reader.
        hessian: (N, d, d), symmetric and positive definite.
        linear: (N, d), the b_j.
        alpha: (N,), a point of the simplex.
        step: eta > 0.
        local_steps: K >= 1.
        epochs: R >= 1, of which this is one; it enters the condition on the step alone.
        start: (d,), v^r.
        width: W is the cube of the points that differ from the start by at most this in every coordinate.
        spread: e >= 0; a sampled gradient is off by +e or -e along one coordinate, drawn at random.
    """

    name: str
    hessian: Array
    linear: Array
    alpha: Array
    step: Any
    local_steps: int
    epochs: int
    start: Array
    width: Any
    spread: Any = 0

    @property
    def exact(self) -> bool:
        """Whether everything is rational."""
        return self.start.dtype == object

    @property
    def clients(self) -> int:
        """N."""
        return len(self.hessian)

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.start)

    @cached_property
    def problem(self) -> Quadratic:
        """The clients with their samples, 2 d each."""
        moves = [sign * self.spread * unit for unit in self.identity for sign in (1, -1)] if self.spread else [None]
        hessians = [[h.tolist()] * len(moves) for h in self.hessian]
        slopes = [[(b if move is None else b + move).tolist() for move in moves] for b in self.linear]
        return from_samples(hessians, slopes, exact=self.exact)

    def description(self) -> str:
        """What it is, for a reader."""
        method = f"local_steps={self.local_steps}, one epoch of {self.epochs}, {of_step(self.step)}"
        noise = f", noise {number(self.spread)}" if self.spread else ""
        return f"shuffling SGD, {of_problem(self.problem)}{noise}, {method}"

    def stays_finite(self) -> bool:
        """An epoch never leaves the range of floats here."""
        return True

    def least_constant(self, assumption: Assumption) -> Any:
        """The smallest constant with which an assumption about W holds, or None when it is not known."""
        if isinstance(assumption, VarianceAtMost):
            return self.spread**2
        if isinstance(assumption, BoundedGradient):
            return self.G
        return self.diameter if isinstance(assumption, BoundedDomain) else None

    # constants

    @cached_property
    def identity(self) -> Array:
        one, zero = (Fraction(1), Fraction(0)) if self.exact else (1.0, 0.0)
        d = self.dimension
        return np.array([[one if i == j else zero for j in range(d)] for i in range(d)], dtype=self.start.dtype)

    @property
    def L(self) -> Any:
        return self.problem.smoothness

    @property
    def mu(self) -> Any:
        return self.problem.strong_convexity

    @property
    def diameter(self) -> Any:
        """D, the cube's diagonal."""
        return 2 * self.width if self.dimension == 1 else 2 * self.width * self.dimension**0.5

    @cached_property
    def G(self) -> Any:
        """sup over W of every ||grad f_j||: convex, so attained at a corner."""
        corners = [self.start + self.width * np.array(signs) for signs in product((-1, 1), repeat=self.dimension)]
        return max(norm(h @ v - b) for h, b in zip(self.hessian, self.linear, strict=True) for v in corners)

    @property
    def length(self) -> Any:
        """s = eta N K."""
        return self.step * self.clients * self.local_steps

    @cached_property
    def best(self) -> Array | None:
        """v*, the minimiser of sum_j alpha_j f_j over W; None in several dimensions where W binds."""
        h, b = (sum(a * x for a, x in zip(self.alpha, xs, strict=True)) for xs in (self.hessian, self.linear))
        if self.dimension == 1:
            free = np.array([b[0] / h[0, 0]], dtype=self.start.dtype)
            return self.project(free)
        free = np.linalg.solve(h, b)
        return free if bool((abs(free - self.start) <= self.width).all()) else None

    def project(self, v: Array) -> Array:
        """P_W."""
        return np.minimum(np.maximum(v, self.start - self.width), self.start + self.width)

    def cost(self, v: Array) -> Any:
        """sum_j alpha_j f_j(v)."""
        parts = zip(self.alpha, self.hessian, self.linear, strict=True)
        return sum(a * ((h @ v / 2 - b) @ v) for a, h, b in parts)

    # what a turn does

    @cached_property
    def gradients(self) -> list[Array]:
        """grad f_j(v^r)."""
        return [h @ self.start - b for h, b in zip(self.hessian, self.linear, strict=True)]

    @cached_property
    def weighted_gradient(self) -> Array:
        """sum_j alpha_j grad f_j(v^r)."""
        return sum((a * g for a, g in zip(self.alpha, self.gradients, strict=True)), 0 * self.start)

    @cached_property
    def powers(self) -> list[list[Array]]:
        """(I - c_j H_j)^t for t = 0..K."""
        found = []
        for a, h in zip(self.alpha, self.hessian, strict=True):
            once, own = self.identity - self.step * a * self.clients * h, [self.identity]
            for _ in range(self.local_steps):
                own.append(own[-1] @ once)
            found.append(own)
        return found

    @cached_property
    def moves(self) -> list[Array]:
        """Q_j."""
        rates = [self.step * a * self.clients for a in self.alpha]
        return [c * sum(own[: self.local_steps], 0 * self.identity) for c, own in zip(rates, self.powers, strict=True)]

    @cached_property
    def shifts(self) -> list[Array]:
        """Q_j grad f_j(v^r)."""
        return [q @ g for q, g in zip(self.moves, self.gradients, strict=True)]

    # orders

    @cached_property
    def orders(self) -> list[Order]:
        """All of them."""
        return list(permutations(range(self.clients)))

    def partial_sums(self, order: Order) -> list[Any]:
        """||sum of alpha_s(j) grad f_s(j)(v^r)|| over the first 1..N clients."""
        return _cumulative([self.alpha[j] * self.gradients[j] for j in order])

    def parts(self, order: Order) -> list[Any]:
        """||sum of Q_s(j) grad f_s(j)(v^r)|| over the first 1..N clients."""
        return _cumulative([self.shifts[j] for j in order])

    def bias(self) -> Any:
        """||sum_j Q_j grad f_j(v^r) - eta N K sum_j alpha_j grad f_j(v^r)||^2, the same for every order."""
        away = sum(self.shifts, 0 * self.start) - self.length * self.weighted_gradient
        return away @ away

    def cross(self, order: Order) -> Any:
        """The square of what summation by parts leaves, as in Lemma 12."""
        total, part = 0 * self.start, 0 * self.start
        for n in range(1, self.clients):
            part = part + self.shifts[order[n - 1]]
            own = self.moves[order[n]] @ self.hessian[order[n]] @ part
            for j in order[n + 1 :]:
                own = self.powers[j][-1] @ own
            total = total + own
        return total @ total

    def end(self, order: Order) -> Array:
        """v^{r+1} without noise, before the projection."""
        v = self.start
        for j in order:
            for _ in range(self.local_steps):
                v = v - self.step * self.alpha[j] * self.clients * (self.hessian[j] @ v - self.linear[j])
        return v

    def noise_factors(self, order: Order) -> list[Array]:
        """The matrices by which the noise of the N K steps enters v^{r+1}."""
        found: list[Array] = []
        after = self.identity
        for j in reversed(order):
            rate = self.step * self.alpha[j] * self.clients
            found += [rate * after @ self.powers[j][t] for t in range(self.local_steps)]
            after = after @ self.powers[j][-1]
        return found

    def noise_squared(self, order: Order) -> Any:
        """E||the noise of the epoch||^2."""
        total = sum((m * m).sum() for m in self.noise_factors(order))
        return total * self.spread**2 / self.dimension

    def noise_sums(self, order: Order) -> Array | None:
        """The noise of the epoch for all its outcomes, in one dimension; None where they are too many."""
        factors = [m[0, 0] for m in self.noise_factors(order)]
        if self.dimension > 1 or len(factors) > MOST_DRAWS:
            return None
        signs = np.array(list(product((-1, 1), repeat=len(factors))), dtype=self.start.dtype)
        return signs @ (self.spread * np.array(factors, dtype=self.start.dtype))

    def next_distance(self, order: Order) -> Any:
        """E||P_W(v^{r+1}) - v*||^2 over the noise; None where it is not known exactly."""
        end = self.end(order)
        if self.best is None:
            return None
        if self.spread == 0:
            away = self.project(end) - self.best
            return away @ away
        noise = self.noise_sums(order)
        if noise is not None:
            reached = self.project((end[0] + noise)[:, None]) - self.best
            return (reached * reached).sum() / len(noise)
        reach = sum(abs(m).sum() for m in self.noise_factors(order)) * self.spread
        if bool((abs(end - self.start) + reach > self.width).any()):
            return None
        away = end - self.best
        return away @ away + self.noise_squared(order)


def norm(v: Array) -> Any:
    """||v||; in one dimension exact."""
    return abs(v[0]) if len(v) == 1 else float(np.sqrt(float(v @ v)))


def _cumulative(vectors: list[Array]) -> list[Any]:
    total, found = 0 * vectors[0], []
    for v in vectors:
        total = total + v
        found.append(norm(total))
    return found


def quantile(values: list[Any], p: Any) -> Any:
    """The (1-p)-quantile of equally likely values: the least of them that a share of at most p exceeds.

    ``||.|| <= c with probability at least 1-p`` holds for c at or above it, and for no smaller c.
    """
    allowed = int(Fraction(p) * len(values))
    return sorted(values, reverse=True)[allowed]
