"""What a pool seldom has: sizes that the text names, one of many far larger, rare chances, other pairs of constants."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sim.problems import Quadratic
from theory import algorithm, claim
from validate.examine import examine
from validate.instances.candidates import candidate_of, realised, smaller
from validate.instances.longer import named
from validate.instances.pool import drawn, instance_of_values
from validate.instances.rare import _rare
from validate.instances.seen import Hunt, measured

F = Fraction


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm(x="x0", z="x0")
def anchored(w, x, z, *, eta, p):
    i = w.sample()
    g = w.mean(w.gradient(x, i) - w.gradient(z, i)) + w.full_gradient(z)
    return x - eta * g, w.where(w.coin(p), x, z)


@algorithm(x="each grad(f_n, x0)")
def gossip(w, x, *, W):
    return w.mix(x, W)


FALSE = {
    # equal q_n, not large, of 37 clients
    "thirty-seven": claim(
        "thirty-seven", "sum_n(q_n)**2 + max(0, N - 36)*max(0, 38 - N) <= N*sum_n(q_n**2)*(1 + 10**-3)"
    ),
    # vectors of 0 in four dimensions
    "four": claim("four", "sum_n(norm2(a_n)) >= -1 + max(0, d - 3)*2", vectors=("a_n",)),
    # 37 steps from the minimiser of a single client
    "steps": claim(
        "steps",
        "norm2(y[k, h] - x[k]) >= 0 - max(0, 37 - H) + max(0, H - 36)*max(0, h - 35)",
        of=local,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L"),
    ),
    # 401 clients, one of them far larger
    "one-of-many": claim("one-of-many", "max_n(q_n) <= 400*mean_n(q_n)"),
    "one-vector-of-many": claim("one-vector-of-many", "norm2(a_n) <= 300*mean_n(norm2(a_n))", vectors=("a_n",)),
    # linear f of one client: the square of its slope is G^2/(1 - B^2)
    "other-pair": claim(
        "other-pair",
        "norm2(grad(f, x)) <= G**2",
        vectors=("x",),
        assuming=("dissimilar(G, B)", "B < 1", "convex(f)"),
    ),
    # the anchor stays far for a hundred rounds, and its variance with it
    "rare": claim(
        "rare",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar))",
        of=anchored,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(6*L)"),
    ),
}
V = "mean_n(norm2(x[{0}] - mean_n(x[{0}])))"
AGREE = claim("agree", f"{V.format('k')} <= rho**(2*k)*{V.format('0')}", of=gossip, assuming=("connected(W)",))


LONG = ("rare", "other-pair", "steps")


@pytest.mark.parametrize("label", [pytest.param(x, marks=[pytest.mark.slow] if x in LONG else []) for x in FALSE])
def test_what_is_false_there_is_refuted(label, tmp_path):
    result = examine(FALSE[label], quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.covered


def test_the_text_names_integers():
    assert named(FALSE["thirty-seven"]) == [3, 4, 10, 11, 36, 37, 38, 39]
    assert named(claim("none", "a <= 2*a + 1/7")) == [7, 8]


def test_the_second_eigenvalue_is_that_of_the_matrix():
    one = next(d for d in (drawn(AGREE, seed) for seed in range(50)) if d is not None and d.values["rho"] > 0)
    candidate = candidate_of(one)
    assert realised(AGREE, candidate) is not None
    assert realised(AGREE, replace(candidate, values={**candidate.values, "rho": F(0)})) is None


@pytest.mark.slow
def test_a_true_claim_about_networks_is_not_broken(tmp_path):
    result = examine(AGREE, quick=True, out=tmp_path)
    assert result.verdict in ("supported", "proved"), [e.detail for e in result.evidence]


def test_long_runs_are_made_shorter_by_parts():
    numbers = claim("numbers", "k**2 <= 10**6*a + 1000*k", assuming=("a >= 10**3",))
    one = instance_of_values(numbers, None, np.array([], dtype=object), 100_000, {"a": F(1000)}, {})
    assert one is not None
    rounds = [c.rounds for c in smaller(candidate_of(one), numbers) if c.rounds < 100_000]
    assert rounds[:4] == [1, 50_000, 87_500, 98_438]
    assert rounds[-1] == 99_999


def test_clients_with_other_numbers_of_samples_have_rare_chances_too() -> None:
    """Such quadratics are no arrays of linear terms."""
    one = claim("any", "E(f(x[k])) <= f(x0)", of=anchored, assuming=("smooth(f_ni, L)", "p <= 1"))
    hessian, linear = (np.vectorize(F, otypes=[object])(rows) for rows in ([[1, 2], [3, 0]], [[1, 0], [2, 0]]))
    problem = Quadratic(hessian[..., None, None], linear[..., None], 0 * linear, np.array([2, 1]))
    start = np.array([F(1)], dtype=object)
    made = instance_of_values(one, problem, start, 1, {"L": F(3), "eta": F(1, 6), "p": F(1, 2)}, {})
    assert made is not None
    seen = measured(one, made)
    assert seen is not None
    assert candidate_of(seen.drawn).linear is None
    assert all(rare.instance.rounds in (100, 200, 600) for rare in _rare(one, Hunt(seen=[seen])))
