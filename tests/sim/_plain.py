"""Algorithm 1 and local SGD in plain Python, with random words from a plain Philox: what the engine must reproduce."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

MASK = 0xFFFFFFFF
PARTICIPATION, SAMPLING = 0, 1


def philox(counter, key):
    """Philox4x32-10, word by word."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def word(seed, run, client, round, purpose, draw):
    """Draw number `draw` of a stream."""
    return philox((run, client, round, (purpose << 24) + draw // 4), (seed & MASK, seed >> 32))[draw % 4]


def pick(seed, run, client, round, draw, count):
    """Index of a sample."""
    return (word(seed, run, client, round, SAMPLING, draw) * count) >> 32


def present(seed, run, round, clients, p=None, size=None, attempt=0):
    """Who takes part: Bernoulli(p) or `size` of all."""
    words = [word(seed, run, attempt, round, PARTICIPATION, n) for n in range(clients)]
    if size is not None:
        chosen = sorted(range(clients), key=lambda n: (words[n], n))[:size]
        return [n in chosen for n in range(clients)]
    return [words[n] < max(1, nearest(Fraction(p[n]) * 2**32)) for n in range(clients)]


def nearest(value):
    """The nearest integer."""
    return round(value)


def weights(seed, run, round, clients, aggregation, empty, p=None, size=None):
    """Aggregation weights of a round."""
    attempt = 0
    active = present(seed, run, round, clients, p, size)
    while empty == "condition" and not any(active):
        attempt += 1
        active = present(seed, run, round, clients, p, size, attempt)
    if aggregation == "normalised":
        return [a / max(1, sum(active)) for a in active]
    return [a / (clients * p[n]) if size is None else a / size for n, a in enumerate(active)]


def svrg_round(problem, algorithm, step, seed, run, round, n, theta):
    """What client n makes of theta, as Algorithm 1 is printed."""
    snapshot = theta
    for s in range(algorithm.snapshots):
        full = problem.client_hessian[n] @ snapshot - problem.client_linear[n]
        w = snapshot
        for m in range(algorithm.inner):
            # at m = 0 every sample gives the same v
            draw = s * (algorithm.inner - 1) + m - 1
            i = pick(seed, run, n, round, draw, int(problem.counts[n])) if m else 0
            gradient = [problem.hessian[n, i] @ x - problem.linear[n, i] for x in (w, snapshot)]
            w = w - step * (gradient[0] - gradient[1] + full)
        snapshot = w
    return snapshot


def sgd_round(problem, algorithm, step, seed, run, round, n, theta):
    """Local SGD of client n."""
    w = theta
    for m in range(algorithm.local_steps):
        i = pick(seed, run, n, round, m, int(problem.counts[n]))
        w = w - step * (problem.hessian[n, i] @ w - problem.linear[n, i])
    return w


def simulate(algorithm, problem, rounds, run, seed=0, start=None, p=None, size=None):
    """(K+1, d), the server's models of one run; p is (N,) or (K, N)."""
    local = svrg_round if hasattr(algorithm, "snapshots") else sgd_round
    clients = problem.clients
    theta = np.zeros(problem.dim) if start is None else np.array(start, dtype=float)
    path = [theta]
    p = np.ones(clients) if p is None and size is None else p
    for k in range(rounds):
        row = None if p is None else np.broadcast_to(p, (rounds, clients))[k]
        step = float(algorithm.step[k] if isinstance(algorithm.step, tuple) else algorithm.step)
        c = weights(seed, run, k, clients, algorithm.aggregation, algorithm.empty, row, size)
        if algorithm.empty == "zero" and not any(c):
            theta = np.zeros(problem.dim)
        else:
            move = sum(c[n] * (local(problem, algorithm, step, seed, run, k, n, theta) - theta) for n in range(clients))
            theta = theta + move
        path.append(theta)
    return np.array(path)
