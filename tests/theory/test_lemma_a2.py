"""Lemma A.2 of fedavg-svrg by the prover: true in the first snapshot, false in the second, and its repair."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.theory.proving import proved, refuted
from theory.inequality.interpolation import Interpolated
from theory.inequality.vectors import Space, combination, expectation, inner, mean, square

F = Fraction
PERCENT = F(99, 100)


def lemma_a2(clients, inner_steps, s, m, step, L, *, convex_functions, corrected):
    """(A.17) with exact gradients: -d <grad f, mean grad f_n(w)> + (d/2)|grad f|^2 <= drift, theta at the origin."""
    done = s * inner_steps + m
    names = [(n, t) for n in range(clients) for t in range(done + 1)]
    space = Space(tuple(f"g{n},{t}" for n, t in names), tuple(f"f{n},{t}" for n, t in names))
    functions = []
    for n in range(clients):
        w, points = space.zero(), []
        for t in range(done + 1):
            g = space.vector(f"g{n},{t}")
            points.append((w, g, space.value(f"f{n},{t}")))
            w = w - step * g
        functions.append(Interpolated(f"f{n}", tuple(points), F(0) if convex_functions else -L, L))
    shares = [F(1, clients)] * clients
    start = combination(shares, [space.vector(f"g{n},0") for n in range(clients)])
    now = combination(shares, [space.vector(f"g{n},{done}") for n in range(clients)])
    drift = space.constant(0)
    for n in range(clients):
        for t in range(0 if corrected else s * inner_steps, done):
            drift = drift + square(space.vector(f"g{n},{t}"))
    factor = step**3 * L**2 * (done if corrected else inner_steps - 1) / (2 * clients)
    return space, -step * inner(start, now) <= factor * drift - step / 2 * square(start), functions


@pytest.mark.parametrize("convex_functions", [True, False])
@pytest.mark.parametrize(("m", "inner_steps"), [(0, 2), (1, 2), (2, 3)])
def test_lemma_a2_as_printed_holds_in_the_first_snapshot(m, inner_steps, convex_functions):
    for clients in (1, 2):
        space, claim, functions = lemma_a2(
            clients, inner_steps, 0, m, F(1, 10), F(1), convex_functions=convex_functions, corrected=False
        )
        proved(claim, (), space, functions)


@pytest.mark.parametrize("convex_functions", [True, False])
@pytest.mark.parametrize("m", [0, 1])
def test_lemma_a2_as_printed_fails_in_the_second_snapshot_and_the_repair_holds(m, convex_functions):
    for corrected in (False, True):
        space, claim, functions = lemma_a2(
            2, 2, 1, m, F(1, 10), F(1), convex_functions=convex_functions, corrected=corrected
        )
        if corrected:
            proved(claim, (), space, functions)
            continue
        found = refuted(claim, (), space, functions)
        assert len(found.functions) == 2  # two scalar quadratics, one a client
        assert len(found.configuration.weights) == 1
        lowest = F(0) if convex_functions else F(-1)
        assert all(lowest <= q.curvature <= 1 for q in found.functions)


def test_lemma_a2_with_one_stochastic_step():
    """N = 1, s = 0, m = 1, M = 2, v one of two vectors with mean grad f: proved, and false with 9/10 of the drift."""
    step, L, p = F(1, 10), F(1), ["1/3", "2/3"]
    space = Space(("v0", "v1", "g0", "g1"), ("f", "f0", "f1"))
    v0, v1, g0, g1 = space.vectors_of()
    gradient = mean(p, [v0, v1])
    points = (
        (space.zero(), gradient, space.value("f")),
        (-step * v0, g0, space.value("f0")),
        (-step * v1, g1, space.value("f1")),
    )
    function = Interpolated("f", points, -L, L)
    left = -step * inner(gradient, mean(p, [g0, g1])) + step / 2 * square(gradient)
    drift = step**3 * L**2 / 2 * expectation(p, [square(v0), square(v1)])
    proved(left <= drift, (), space, [function])
    refuted(left <= F(9, 10) * drift, (), space, [function])


@pytest.mark.parametrize("convex_functions", [True, False])
def test_lemma_a2_over_two_snapshots_with_two_outcomes(convex_functions):
    """N = 2, M = 2, s = 1, m = 0. The step (0, 0) is exact (SVRG at its snapshot), (0, 1) has two outcomes a client."""
    step, L, p = F(1, 10), F(1), ["1/4", "3/4"]
    clients, outcomes = range(2), range(2)
    space = Space(
        tuple(f"{v}{n}" for n in clients for v in ("g", "va", "vb", "ga", "gb")),
        tuple(f"{f}{n}" for n in clients for f in ("f", "e", "fa", "fb")),
    )
    functions, ends, printed, repaired = [], [], space.constant(0), space.constant(0)
    for n in clients:
        g, va, vb, ga, gb = [space.vector(f"{v}{n}") for v in ("g", "va", "vb", "ga", "gb")]
        w, gradient = -step * g, mean(p, [va, vb])
        later = [(w - step * (va, vb)[i], (ga, gb)[i], space.value(f"f{'ab'[i]}{n}")) for i in outcomes]
        points = ((space.zero(), g, space.value(f"f{n}")), (w, gradient, space.value(f"e{n}")), *later)
        functions.append(Interpolated(f"f{n}", points, F(0) if convex_functions else -L, L))
        ends.append(mean(p, [ga, gb]))
        repaired = repaired + square(g) + expectation(p, [square(va), square(vb)])
    start, now = (combination(["1/2", "1/2"], u) for u in ([space.vector("g0"), space.vector("g1")], ends))
    left = -step * inner(start, now) + step / 2 * square(start)
    refuted(left <= step**3 * L**2 / 4 * printed, (), space, functions)
    proved(left <= step**3 * L**2 * 2 / 4 * repaired, (), space, functions)
