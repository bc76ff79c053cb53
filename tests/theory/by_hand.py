"""The algorithms of the catalogue in plain Python, client by client, from the pseudo-code of their papers.

Each is ``name(p, q, x0, K, draw)``: a problem, parameters, the start, rounds, where draws come from (`tests.outcomes`);
it gives what the paper calls the model after K rounds: (d,), or (N, d) where every client has its own.
"""

import numpy as np


class Plain:
    """A problem as functions of one client and one sample.

    Args:
        problem: a `sim.problems.Quadratic` or `RidgeLogistic`.
    """

    def __init__(self, problem):
        self.problem, self.N, self.d = problem, problem.clients, problem.dim
        self.counts = [int(problem.samples)] * self.N if not hasattr(problem, "counts") else list(problem.counts)

    def sample(self, n, x, i):
        """grad f_ni(x)."""
        if hasattr(self.problem, "hessian") and hasattr(self.problem, "linear"):
            return self.problem.hessian[n, i] @ x - self.problem.linear[n, i]
        a = self.problem.labels[n, i] * self.problem.features[n, i]
        return self.problem.ridge * x - a / (1 + np.exp(a @ x))

    def batch(self, n, x, indices):
        return np.mean([self.sample(n, x, i) for i in indices], axis=0)

    def client(self, n, x):
        """grad f_n(x)."""
        return self.batch(n, x, range(self.counts[n]))

    def full(self, x):
        """grad f(x)."""
        return np.mean([self.client(n, x) for n in range(self.N)], axis=0)

    def prox(self, n, v, t):
        """argmin f_n(u) + |u - v|^2/(2t), on quadratics."""
        hessian = np.mean([self.problem.hessian[n, i] for i in range(self.counts[n])], axis=0)
        linear = np.mean([self.problem.linear[n, i] for i in range(self.counts[n])], axis=0)
        return np.linalg.solve(t * hessian + np.eye(self.d), v + t * linear)


def gradient_descent(p, q, x0, K, draw):
    x = x0
    for _ in range(K):
        x = x - q["eta"] * p.full(x)
    return x


def heavy_ball(p, q, x0, K, draw):
    xs = [x0, x0]
    for _ in range(K):
        xs.append(xs[-1] - q["alpha"] * p.full(xs[-1]) + q["beta"] * (xs[-1] - xs[-2]))
    return xs[-1]


def nesterov(p, q, x0, K, draw):
    x, y = x0, x0
    for k in range(K):
        new = y - q["eta"] * p.full(y)
        x, y = new, new + q["beta"][k + 1] * (new - x)  # beta[0] multiplies x0 - x0
    return x


def sgd(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        gradients = [p.batch(n, x, draw.sample(k, n, 0, p.counts[n], q["b"])) for n in range(p.N)]
        x = x - q["eta"] * np.mean(gradients, axis=0)
    return x


def clipped_sgd(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        g = np.mean([p.batch(n, x, draw.sample(k, n, 0, p.counts[n])) for n in range(p.N)], axis=0)
        x = x - min(q["eta"], q["eta"] * q["radius"] / np.linalg.norm(g)) * g
    return x


def svrg(p, q, x0, K, draw):
    snapshot = x0
    for k in range(K):
        mu = p.full(snapshot)
        w = snapshot
        for t in range(q["H"]):
            step = np.zeros(p.d)
            for n in range(p.N):
                (i,) = draw.sample(k, n, t, p.counts[n])
                step += (p.sample(n, w, i) - p.sample(n, snapshot, i)) / p.N
            w = w - q["eta"] * (step + mu)
        snapshot = w
    return snapshot


def lsvrg(p, q, x0, K, draw):
    x, w = x0, x0
    for k in range(K):
        g = p.full(w)
        for n in range(p.N):
            (i,) = draw.sample(k, n, 0, p.counts[n])
            g = g + (p.sample(n, x, i) - p.sample(n, w, i)) / p.N
        w = x if draw.coin(k, q["p"]) else w
        x = x - q["eta"] * g
    return x


def saga(p, q, x0, K, draw):
    x = x0
    phi = [[p.sample(n, x0, i) for i in range(p.counts[n])] for n in range(p.N)]
    for k in range(K):
        g = np.zeros(p.d)
        for n in range(p.N):
            (i,) = draw.sample(k, n, 0, p.counts[n])
            new = p.sample(n, x, i)
            g += (new - phi[n][i] + np.mean(phi[n], axis=0)) / p.N
            phi[n][i] = new
        x = x - q["eta"] * g
    return x


def random_reshuffling(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        ends = []
        for n in range(p.N):
            v = x
            for i in draw.passes(k, n, p.counts[n]):
                v = v - q["eta"] * p.sample(n, v, i)
            ends.append(v)
        x = np.mean(ends, axis=0)
    return x


def reshuffled_clients(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        for n in draw.visit(k, p.N):
            x = x - q["eta"] * p.client(n, x)
    return x


def _local(p, q, x, k, n, draw):
    """H local steps of client n from x."""
    for t in range(q["H"]):
        x = x - q["eta"] * p.batch(n, x, draw.sample(k, n, t, p.counts[n]))
    return x


def local_sgd(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        x = np.mean([_local(p, q, x, k, n, draw) for n in range(p.N)], axis=0)
    return x


def fedavg(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        there = [n for n, c in enumerate(draw.choose(k, p.N, q["S"])) if c]
        x = np.mean([_local(p, q, x, k, n, draw) for n in there], axis=0)
    return x


def fedavg_with_replacement(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        often = draw.choose(k, p.N, q["S"], replace=True)
        assert sum(often) == q["S"]
        x = sum(c * _local(p, q, x, k, n, draw) for n, c in enumerate(often) if c) / q["S"]
    return x


def fedavg_coins(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        there = [n for n, c in enumerate(draw.coins(k, q["p"])) if c]
        if there:
            x = np.mean([_local(p, q, x, k, n, draw) for n in there], axis=0)
    return x


def fedavg_svrg(p, q, x0, K, draw):
    theta = x0
    for k in range(K):
        there = draw.coins(k, q["p"])
        total = np.zeros(p.d)
        for n in range(p.N):
            if not there[n]:
                continue
            snapshot = theta
            for s in range(q["S"]):
                mu = p.client(n, snapshot)
                w = snapshot
                for m in range(q["M"]):
                    (i,) = draw.sample(k, n, s * q["M"] + m, p.counts[n])
                    w = w - q["delta"] * (p.sample(n, w, i) - p.sample(n, snapshot, i) + mu)
                snapshot = w
            total += (snapshot - theta) / q["p"][n]
        theta = theta + total / p.N
    return theta


def scaffold(p, q, x0, K, draw):
    x, c, own = x0, np.zeros(p.d), [np.zeros(p.d)] * p.N
    for k in range(K):
        there = [n for n, chosen in enumerate(draw.choose(k, p.N, q["S"])) if chosen]
        moves, changes = [], []
        for n in there:
            y = x
            for t in range(q["H"]):
                y = y - q["eta"] * (p.batch(n, y, draw.sample(k, n, t, p.counts[n])) - own[n] + c)
            new = own[n] - c + (x - y) / (q["H"] * q["eta"])
            moves.append(y - x)
            changes.append(new - own[n])
            own[n] = new
        x = x + q["eta_g"] * np.mean(moves, axis=0)
        c = c + len(there) / p.N * np.mean(changes, axis=0)
    return x


def fedprox(p, q, x0, K, draw):
    w = x0
    for k in range(K):
        often = draw.choose(k, p.N, q["S"], replace=True)
        w = sum(c * p.prox(n, w, 1 / q["mu"]) for n, c in enumerate(often)) / q["S"]
    return w


def fedlin(p, q, x0, K, draw):
    x = x0
    for _ in range(K):
        g = np.mean([p.client(n, x) for n in range(p.N)], axis=0)
        ends = []
        for n in range(p.N):
            y = x
            for _ in range(int(q["tau"][n])):
                y = y - q["eta"] / q["tau"][n] * (p.client(n, y) - p.client(n, x) + g)
            ends.append(y)
        x = np.mean(ends, axis=0)
    return x


def feddyn(p, q, x0, K, draw):
    theta, h, slope, alpha = x0, np.zeros(p.d), [np.zeros(p.d)] * p.N, q["alpha"]
    for k in range(K):
        there = [n for n, c in enumerate(draw.choose(k, p.N, q["S"])) if c]
        models = {}
        for n in there:  # argmin L_n(u) - <slope, u> + alpha/2 |u - theta|^2
            hessian, linear = p.problem.client_hessian[n], p.problem.client_linear[n]
            models[n] = np.linalg.solve(hessian + alpha * np.eye(p.d), linear + slope[n] + alpha * theta)
            slope[n] = slope[n] - alpha * (models[n] - theta)
        h = h - alpha / p.N * sum(models[n] - theta for n in there)
        theta = np.mean([models[n] for n in there], axis=0) - h / alpha
    return theta


def fedmim(p, q, x0, K, draw):
    alpha, beta, H = q["alpha"], q["beta"], q["H"]
    x, before, deltas = x0, x0, []
    for k in range(K):
        deltas.insert(0, -(x - before) / H)
        past = [deltas[j] if j < len(deltas) else np.zeros(p.d) for j in range(len(alpha))]
        ends = []
        for n, chosen in enumerate(draw.choose(k, p.N, q["S"])):
            y = x
            for t in range(H if chosen else 0):
                y1 = y - sum(a * d for a, d in zip(alpha, past, strict=True))
                y2 = y - sum(b * d for b, d in zip(beta, past, strict=True))
                g = p.batch(n, y2, draw.sample(k, n, t, p.counts[n]))
                y = y1 - (1 - sum(alpha)) * q["eta_l"] * g
            if chosen:
                ends.append(y)
        before, x = x, np.mean(ends, axis=0)
    return x


def fedadam(p, q, x0, K, draw):
    x, m, v = x0, np.zeros(p.d), np.full(p.d, q["tau"] ** 2)
    for k in range(K):
        there = [n for n, c in enumerate(draw.choose(k, p.N, q["S"])) if c]
        move = np.mean([_local(p, q, x, k, n, draw) - x for n in there], axis=0)
        m = q["beta1"] * m + (1 - q["beta1"]) * move
        v = q["beta2"] * v + (1 - q["beta2"]) * move**2
        x = x + q["eta_g"] * m / (np.sqrt(v) + q["tau"])
    return x


def proxskip(p, q, x0, K, draw):
    gamma, chance = q["gamma"], q["p"]
    x, h = [x0] * p.N, [np.zeros(p.d)] * p.N
    for k in range(K):
        hat = [x[n] - gamma * (p.client(n, x[n]) - h[n]) for n in range(p.N)]
        if draw.coin(k, chance):
            common = np.mean([hat[n] - gamma / chance * h[n] for n in range(p.N)], axis=0)
            new = [common] * p.N
        else:
            new = hat
        h = [h[n] + chance / gamma * (new[n] - hat[n]) for n in range(p.N)]
        x = new
    return np.array(x)


def diana(p, q, x0, K, draw):
    x, h = x0, [np.zeros(p.d)] * p.N
    for k in range(K):
        estimates = []
        for n in range(p.N):
            delta = p.batch(n, x, draw.sample(k, n, 0, p.counts[n])) - h[n]
            sent = np.zeros(p.d)
            for j in draw.keep(k, n, p.d, q["m"]):
                sent[j] = delta[j] * p.d / q["m"]
            estimates.append(h[n] + sent)
            h[n] = h[n] + q["alpha"] * sent
        x = x - q["eta"] * np.mean(estimates, axis=0)
    return x


def ef21(p, q, x0, K, draw):
    x, g = x0, [p.client(n, x0) for n in range(p.N)]
    for _ in range(K):
        x = x - q["eta"] * np.mean(g, axis=0)
        for n in range(p.N):
            missing = p.client(n, x) - g[n]
            for j in np.argsort(-np.abs(missing), kind="stable")[: q["m"]]:
                g[n] = g[n] + missing[j] * np.eye(p.d)[j]
    return x


def dgd(p, q, x0, K, draw):
    x = [x0] * p.N
    for _ in range(K):
        x = [sum(q["W"][n][m] * x[m] for m in range(p.N)) - q["eta"] * p.client(n, x[n]) for n in range(p.N)]
    return np.array(x)


def gradient_tracking(p, q, x0, K, draw):
    W = np.array(q["W"])
    x = np.array([x0] * p.N)
    gradients = np.array([p.client(n, x[n]) for n in range(p.N)])
    y = gradients
    for _ in range(K):
        x = W @ x - q["eta"] * y
        new = np.array([p.client(n, x[n]) for n in range(p.N)])
        y, gradients = W @ y + new - gradients, new
    return x


def extra(p, q, x0, K, draw):
    W = np.array(q["W"])
    half = (np.eye(p.N) + W) / 2
    slopes = lambda x: np.array([p.client(n, x[n]) for n in range(p.N)])  # noqa: E731
    xs = [np.array([x0] * p.N)]
    xs.append(W @ xs[0] - q["eta"] * slopes(xs[0]))
    for _ in range(K - 1):
        x, new = xs[-2:]
        xs.append((np.eye(p.N) + W) @ new - half @ x - q["eta"] * (slopes(new) - slopes(x)))
    return xs[K]
