"""Instances a second: a one-round claim with N = 2 and d = 2, measured exactly and in batches of floats.

The claim is one step of SGD, each client drawing one of its two samples. Exact measuring makes the instance in
fractions, asks its hypotheses and plays it; a batch asks the hypotheses of arrays of instances, and computes both sides
and how far they are apart, by the program that one exact play left. The last line is the search itself: generations of
a population, each instance with the slopes by which it is judged.

    python -m benchmarks.search
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from theory import algorithm, claim
from validate.batch import Traced, traced
from validate.batch.population import Population
from validate.instances.candidates import candidate_of, realised
from validate.instances.pool import Drawn, drawn
from validate.instances.seen import measured
from validate.instances.shapes import Size

INSTANCES = 40_960


@algorithm
def sgd(w: Any, x: Any, *, eta: Any) -> Any:
    return x - eta * w.mean(w.gradient(x, w.sample()))


ONE_STEP = claim(
    "one-step",
    "E(norm2(x[1] - xstar)) <= (1 - eta*mu)*norm2(x0 - xstar) + 2*eta**2*sigma2",
    of=sgd,
    assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"},
)


def recorded() -> tuple[Drawn, Traced]:
    """The first instance of the pool of this size whose curvatures are turned against the axes, and its program."""
    for seed in range(1000):
        one = drawn(ONE_STEP, seed, sizes=[Size(2, 2, 2)])
        here = None if one is None or one.instance.rounds > 1 else traced(ONE_STEP, one)
        if one is not None and here is not None and here.layout.hessian[0, 0, 0, 1] >= 0:
            return one, here
    raise ValueError("the pool has no instance of one round with N = 2, d = 2")


def main() -> None:
    one, here = recorded()
    start, count = time.process_time(), 0
    while time.process_time() - start < 2:
        made = realised(ONE_STEP, candidate_of(one))
        assert made is not None
        measured(ONE_STEP, made)
        count += 1
    print(f"exactly                     {count / (time.process_time() - start):>12,.0f} instances/s")
    column = np.array([float(x) for x in here.layout.numbers(here.base)])
    rng = np.random.default_rng(0)
    numbers = column[:, None] * (1 + 0.01 * rng.normal(size=(len(column), INSTANCES)))
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        everything, _ = here.fits(numbers)
        here.gaps(everything)
        best = min(best, time.process_time() - start)
    print(f"in batches                  {INSTANCES / best:>12,.0f} instances/s, {len(here.rows)} operations each")
    start = time.process_time()
    population = Population(here, column[:, None], rng)
    population.climb(30)
    seconds = time.process_time() - start
    print(f"in the search, with slopes  {population.tried / seconds:>12,.0f} instances/s")


if __name__ == "__main__":
    main()
