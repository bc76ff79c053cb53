"""FedMIM in plain Python: what the engine must reproduce.

Each runs one run of a seed with S of N clients, on the random words of a plain Philox (`_plain`).
"""

from __future__ import annotations

import numpy as np

from tests.sim import _plain as plain


class Plain:
    """One run. A subclass says what a client and the server do; its attributes are what is remembered."""

    def __init__(self, algorithm, problem, run, seed, start, size):
        self.algorithm, self.problem, self.run, self.seed, self.size = algorithm, problem, run, seed, size
        self.clients = problem.clients
        self.x = np.array(start, dtype=float)
        self.local = algorithm.local_steps
        self.prepare()

    def prepare(self):
        """What is remembered, at first."""

    def gradient(self, t, n, k):
        """The stochastic gradient of local step k, a function of the point."""
        i = plain.pick(self.seed, self.run, n, t, k, int(self.problem.counts[n]))
        return lambda x: self.problem.hessian[n, i] @ x - self.problem.linear[n, i]

    def path(self, rounds):
        """(T+1, d) models, and (T+1,) local consistency."""
        path, consistency = [self.x], [0.0]
        for t in range(rounds):
            step = self.algorithm.step
            step = float(step[t] if isinstance(step, tuple) else step)
            present = plain.present(self.seed, self.run, t, self.clients, size=self.size)
            chosen = [n for n in range(self.clients) if present[n]]
            ends = {n: self.client(t, n, step) for n in chosen}
            self.x = self.server(t, chosen, ends, step)
            path.append(self.x)
            consistency.append(np.mean([np.sum((ends[n] - self.x) ** 2) for n in chosen]))
        return np.array(path), np.array(consistency)

    def client(self, t, n, step):
        w = self.x
        for k in range(self.local):
            w = w - step * self.gradient(t, n, k)(w)
        return w

    def server(self, t, chosen, ends, step):
        return sum(ends.values()) / len(chosen)


class MIM(Plain):
    """Algorithm 1, with the history of models rather than increments."""

    def prepare(self):
        self.history = [self.x] * (self.algorithm.lags + 1)  # x_t, x_{t-1}, ...

    def increment(self, j):
        return -(self.history[j] - self.history[j + 1]) / self.local

    def client(self, t, n, step):
        alpha, beta = self.algorithm.alpha, self.algorithm.beta
        w = self.x
        for k in range(self.local):
            y1 = w - sum(float(a) * self.increment(j) for j, a in enumerate(alpha))
            y2 = w - sum(float(b) * self.increment(j) for j, b in enumerate(beta))
            w = y1 - (1 - float(sum(alpha))) * step * self.gradient(t, n, k)(y2)
        return w

    def server(self, t, chosen, ends, step):
        new = super().server(t, chosen, ends, step)
        self.history = [new, *self.history[:-1]]
        return new
