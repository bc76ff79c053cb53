"""Where plain implementations of algorithms get their draws from: a simulated run, or all outcomes one after another.

Both have the same methods; a draw is asked for by its round, and by the client and turn that it is for.
"""

from itertools import combinations, permutations, product

import numpy as np

from sim.simulate import simulate


class Recorded:
    """The draws of one simulated run."""

    def __init__(self):
        self._found = {}

    def watch(self, k, op, value):
        """For `sim.simulate.simulate`, with one run."""
        value = np.moveaxis((value.index if op == "sample" else value).numpy(), -1, 0)[0]
        self._found.setdefault((k, op), []).append(value)

    def sample(self, k, n, turn, count, b=1, replace=True):
        return [int(i) for i in self._found[k, "sample"][turn][:, n]]

    def choose(self, k, clients, size, replace=False):
        return [int(c) for c in self._found[k, "choose"][0][:, 0]]

    def coins(self, k, p):
        return [int(c) for c in self._found[k, "coins"][0][:, 0]]

    def coin(self, k, p):
        return int(self._found[k, "coin"][0][0, 0])

    def keep(self, k, n, dim, m):
        kept = np.flatnonzero(self._found[k, "keep"][0][n])
        assert len(kept) == m
        return [int(j) for j in kept]

    def visit(self, k, clients):
        return [int(n) for n in self._found[k, "visit"][0]]

    def passes(self, k, n, count):
        return [int(i) for i in self._found[k, "pass"][0][:count, n]]

    def noise(self, k, n, dim, sigma2):
        return self._found[k, "noise"][0][n]


class Outcome:
    """One outcome; `Outcomes` goes through all. A noise has independent coordinates of two values."""

    def __init__(self, script):
        self.script, self.sizes, self.weight, self._drawn = script, [], 1.0, {}

    def _one(self, key, options):
        """One of (value, probability), the same for the same key."""
        if key not in self._drawn:
            at = len(self.sizes)
            if at == len(self.script):
                self.script.append(0)
            self.sizes.append(len(options))
            self._drawn[key], chance = options[self.script[at]]
            self.weight *= chance
        return self._drawn[key]

    def _uniform(self, key, options):
        options = list(options)
        return self._one(key, [(option, 1 / len(options)) for option in options])

    def sample(self, k, n, turn, count, b=1, replace=True):
        options = product(range(count), repeat=b) if replace else combinations(range(count), b)
        return self._uniform(("sample", k, n, turn), options)

    def choose(self, k, clients, size, replace=False):
        options = product(range(clients), repeat=size) if replace else combinations(range(clients), size)
        chosen = self._uniform(("choose", k), options)
        return [sum(c == n for c in chosen) for n in range(clients)]

    def coins(self, k, p):
        return [self._one(("coins", k, n), [(1, q), (0, 1 - q)]) for n, q in enumerate(p)]

    def coin(self, k, p):
        return self._one(("coin", k), [(1, p), (0, 1 - p)])

    def keep(self, k, n, dim, m):
        return self._uniform(("keep", k, n), combinations(range(dim), m))

    def visit(self, k, clients):
        return self._uniform(("visit", k), permutations(range(clients)))

    def passes(self, k, n, count):
        return self._uniform(("pass", k, n), permutations(range(count)))

    def noise(self, k, n, dim, sigma2):
        signs = self._uniform(("noise", k, n), product((-1, 1), repeat=dim))
        return np.sqrt(sigma2 / dim) * np.array(signs)


def outcomes():
    """Every outcome of what is drawn between two turns of the loop over them."""
    script = []
    while True:
        one = Outcome(script)
        yield one
        while script and script[-1] == one.sizes[len(script) - 1] - 1:
            script.pop()
        if not script:
            return
        script[-1] += 1


def expectation(run):
    """E of run(draw), an array; and how many outcomes there are."""
    total, weight, count = 0.0, 0.0, 0
    for one in outcomes():
        value = np.asarray(run(one), dtype=float)
        total, weight, count = total + one.weight * value, weight + one.weight, count + 1
    assert abs(weight - 1) < 1e-9
    return total, count


def recorded(algorithm, problem, parameters, start, rounds, seed=0, run=0):
    """States after every round of one simulated run, by name, and its draws."""
    draws = Recorded()
    all_rounds = range(rounds + 1)
    result = simulate(
        algorithm, problem, parameters, start, rounds, 1, seed, first_run=run, record=all_rounds, watch=draws.watch
    )
    return {name: values[0] for name, values in result.states.items()}, draws
