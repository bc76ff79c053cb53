"""FedMIM, FedCM, SCAFFOLD, FedAdam, FedDyn and FedSAM in plain Python: what the engine must reproduce.

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


class CM(Plain):
    """FedCM as its paper has it: v = weight g + (1 - weight) D, D the average direction of the last round."""

    def prepare(self):
        self.direction = np.zeros_like(self.x)
        self.own = 1 - float(self.algorithm.alpha[0])

    def client(self, t, n, step):
        w = self.x
        for k in range(self.local):
            w = w - step * (self.own * self.gradient(t, n, k)(w) + (1 - self.own) * self.direction)
        return w

    def server(self, t, chosen, ends, step):
        self.direction = -sum(end - self.x for end in ends.values()) / (step * self.local * len(chosen))
        return self.x - self.local * step * self.direction


class Controlled(Plain):
    """SCAFFOLD, option II."""

    def prepare(self):
        self.c = np.zeros_like(self.x)
        self.controls = [np.zeros_like(self.x) for _ in range(self.clients)]

    def client(self, t, n, step):
        w = self.x
        for k in range(self.local):
            w = w - step * (self.gradient(t, n, k)(w) - self.controls[n] + self.c)
        return w

    def server(self, t, chosen, ends, step):
        changes = {n: -self.c + (self.x - ends[n]) / (self.local * step) for n in chosen}
        for n in chosen:
            self.controls[n] = self.controls[n] + changes[n]
        self.c = self.c + sum(changes.values()) / self.clients
        return self.x + float(self.algorithm.server_step) * sum(ends[n] - self.x for n in chosen) / len(chosen)


class Adam(Plain):
    """FedAdam."""

    def prepare(self):
        self.m, self.v = np.zeros_like(self.x), np.full_like(self.x, float(self.algorithm.tau) ** 2)

    def server(self, t, chosen, ends, step):
        a = self.algorithm
        move = sum(end - self.x for end in ends.values()) / len(chosen)
        self.m = a.beta1 * self.m + (1 - a.beta1) * move
        self.v = a.beta2 * self.v + (1 - a.beta2) * move**2
        return self.x + a.server_step * self.m / (np.sqrt(self.v) + a.tau)


class Dynamic(Plain):
    """FedDyn, with gradient steps on the regularised objective."""

    def prepare(self):
        self.h = np.zeros_like(self.x)
        self.own = [np.zeros_like(self.x) for _ in range(self.clients)]

    def client(self, t, n, step):
        w = self.x
        for k in range(self.local):
            w = w - step * (self.gradient(t, n, k)(w) - self.own[n] + self.algorithm.weight * (w - self.x))
        return w

    def server(self, t, chosen, ends, step):
        weight = self.algorithm.weight
        for n in chosen:
            self.own[n] = self.own[n] - weight * (ends[n] - self.x)
        self.h = self.h - weight * sum(end - self.x for end in ends.values()) / self.clients
        return sum(ends.values()) / len(chosen) - self.h / weight


class Sharp(Plain):
    """FedSAM."""

    def client(self, t, n, step):
        w = self.x
        for k in range(self.local):
            gradient = self.gradient(t, n, k)
            g = gradient(w)
            length = np.linalg.norm(g)
            w = w - step * gradient(w + (self.algorithm.radius * g / length if length else 0))
        return w
