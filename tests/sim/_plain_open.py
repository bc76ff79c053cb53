"""An open federated system in plain Python, one run at a time, from the rules: what the simulator must reproduce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.sim._plain import word

POPULATION, POOL, SAMPLING, SELECTION = 2, 3, 16, 17


@dataclass(frozen=True)
class Local:
    """Local SGD, or Adam where there is beta1; `select`: how many of those who take part are averaged."""

    step: float
    local_steps: int
    batch: int | None = None
    beta1: float | None = None
    beta2: float = 0.0
    eps: float = 0.0
    select: int | None = None


def logistic(problem, n, j, w):
    """Value and gradient of the log-loss of sample j of client n."""
    x, y = problem.features[n, j], problem.labels[n, j]
    t = y * float(x @ w)
    return np.logaddexp(0, -t), -y * x * np.exp(-np.logaddexp(0, t))


def softmax(problem, n, j, w):
    """The same for the cross-entropy."""
    x, y = problem.features[n, j], problem.labels[n, j]
    logits = w.reshape(problem.classes, -1) @ x
    log_p = logits - np.logaddexp.reduce(logits)
    p = np.exp(log_p)
    p[y] -= 1
    return -log_p[y], np.outer(p, x).ravel()


def sample(problem, n, j, w):
    """Value and gradient of one sample's loss."""
    return (softmax if hasattr(problem, "classes") else logistic)(problem, n, j, w)


def loss(problem, n, w):
    """f_n(w)."""
    m = problem.features.shape[1]
    return problem.ridge / 2 * float(w @ w) + sum(sample(problem, n, j, w)[0] for j in range(m)) / m


def gradient(problem, n, chosen, w):
    """The mean gradient of these samples, the ridge's included."""
    return problem.ridge * w + sum(sample(problem, n, j, w)[1] for j in chosen) / len(chosen)


def coin(seed, run, round, draw, p):
    """A coin of the population."""
    return word(seed, run, 0, round, POPULATION, draw) < round_to_words(p)


def round_to_words(p):
    """The threshold of a coin."""
    return 0 if p == 0 else max(1, round(p * 2**32))


class Client:
    """Somebody present: its number in the pool, its slot and its optimiser's memory."""

    def __init__(self, number, slot, dim):
        self.number, self.slot = number, slot
        self.h, self.vhat = np.zeros(dim), np.zeros(dim)


def local_work(algorithm, problem, client, theta, seed, run, k):
    """The client's model after its local steps."""
    w = theta.copy()
    adam = algorithm.beta1 is not None
    count = problem.features.shape[1]
    for m in range(algorithm.local_steps):
        chosen = range(count)
        if algorithm.batch is not None:
            draws = range(m * algorithm.batch, (m + 1) * algorithm.batch)
            chosen = [(word(seed, run, client.number, k, SAMPLING, j) * count) >> 32 for j in draws]
        g = gradient(problem, client.number, chosen, w)
        if adam:
            client.h = algorithm.beta1 * client.h + (1 - algorithm.beta1) * g
            v = algorithm.beta2 * client.vhat + (1 - algorithm.beta2) * g * g
            client.vhat = np.maximum(v, client.vhat)
            w = w - algorithm.step * client.h / np.sqrt(algorithm.eps + client.vhat)
        else:
            w = w - algorithm.step * g
    return w


def simulate(algorithm, problem, population, rounds, run, seed, start=None):
    """One run: a dictionary of the path (K+1, d), the losses, who is present, and how many take part."""
    dim = problem.dim
    queue = sorted(range(population.pool), key=lambda n: (word(seed, run, n, 0, POOL, 0), n))
    present = [Client(queue.pop(0), s, dim) for s in range(population.initial)]
    theta = np.zeros(dim) if start is None else np.array(start, dtype=float)
    seen = {"iterate": [theta], "taking part": [], "present": [], "cost": [], "members": []}

    def look():
        seen["present"].append(len(present))
        seen["members"].append([c.number for c in present])
        seen["cost"].append(np.mean([loss(problem, c.number, theta) for c in present]) if present else np.nan)

    look()
    for k in range(rounds):
        models = {c.slot: local_work(algorithm, problem, c, theta, seed, run, k) for c in present}
        if coin(seed, run, k, 0, population.leave) and len(present) > (population.last == "stays"):
            present.pop((word(seed, run, 0, k, POPULATION, 1) * len(present)) >> 32)
        seen["taking part"].append(len(present))
        chosen = list(present)
        if algorithm.select is not None:
            words = {c.slot: word(seed, run, c.number, k, SELECTION, 0) for c in chosen}
            chosen = sorted(chosen, key=lambda c: (words[c.slot], c.slot))[: algorithm.select]
        if coin(seed, run, k, 2, population.join) and queue:
            slot = min(set(range(len(present) + 1)) - {c.slot for c in present})
            present.append(Client(queue.pop(0), slot, dim))
            present.sort(key=lambda c: c.slot)
        if chosen:
            theta = np.mean([models[c.slot] for c in chosen], axis=0)
        seen["iterate"].append(theta)
        look()
    return seen
