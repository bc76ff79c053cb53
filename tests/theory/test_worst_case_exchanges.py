"""Programs in which things are alike, solved in small blocks and whole: the same value, and proofs of the whole."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import algorithm, claim
from theory.worst_case import solver
from theory.worst_case.bound import enclose
from theory.worst_case.certificate import certify
from theory.worst_case.program import Alike, Family, Program, single
from theory.worst_case.reduced import reduced
from theory.worst_case.solver import EFFORTS, Solved, relaxations
from validate.worst_case import WorstRatio, worst_case_of


@algorithm(x="x0", c="each 0")
def scaffold(w, x, c, *, eta, H, S):  # type: ignore[no-untyped-def]
    active, cbar = w.choose(S), w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + w.average(y - x, active), w.where(active, plus, c)


@algorithm
def proximal(w, x, *, mu, S):  # type: ignore[no-untyped-def]
    return w.average(w.prox(x, 1 / mu), w.choose(S))


@algorithm(x="x0", table="table grad(f_ni, x0)")
def saga(w, x, table, *, eta):  # type: ignore[no-untyped-def]
    i = w.sample()
    g = w.gradient(x, i)
    return x - eta * w.mean(g - w.get(table, i) + w.get(table)), w.put(table, i, g)


START = "norm2(x0 - xstar)"
STRONG = ("smooth(f_n, L)", "strongly_convex(f_n, mu)")
OF_SAMPLES = f"{START} + mean_n(mean_i(norm2(grad(f_ni, xstar))))/L**2"
NUMBERS: dict[str, Any] = {"L": 1, "mu": "1/10"}


def largest(of: Any, left: str, right: str, assuming: tuple[str, ...], values: dict[str, Any], **sizes: Any) -> Any:
    """Solved with what is alike and without."""
    one = claim("c", f"{left} <= {right}", of=of, assuming=assuming)
    found = [worst_case_of(one, {**NUMBERS, **values}, room=200, alike=alike, **sizes) for alike in (True, False)]
    for each in found:
        assert each.upper is not None
        assert each.lower is not None
        assert each.check()
    return found


def same(one: WorstRatio, other: WorstRatio) -> None:
    """Two enclosures of one number, and the program of the first is the whole."""
    assert one.lower is not None
    assert one.upper is not None
    assert other.lower is not None
    assert other.upper is not None
    assert one.lower <= other.upper
    assert other.lower <= one.upper
    assert one.upper - other.upper == pytest.approx(0, abs=1e-5)
    assert one.problem.program.blocks == other.problem.program.blocks
    assert one.problem.program.conditions == other.problem.program.conditions


def blocks(one: WorstRatio) -> list[int]:
    return [s.stop - s.start for s in reduced(one.problem.program).slices]


def test_clients_that_are_chosen() -> None:
    """N = 3: the trivial and the standard representation, and the sign where a draw tells the other two apart."""
    distance = "E(norm2(x[k] - xstar))"
    right = f"{START} + mean_n(norm2(grad(f_n, xstar)))/L**2"
    values = {"eta": "1/5", "H": 1, "S": 2}
    one, other = largest(scaffold, distance, right, STRONG, values, clients=3, rounds=2)
    same(one, other)
    assert sorted(blocks(one)) == [1, 4, 5]  # of dimensions 1, 1 and 2: 15 vectors
    assert blocks(other) == [15]


def test_samples_of_one_client() -> None:
    assumed = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)")
    one, other = largest(saga, "E(norm2(x[k] - xstar))", OF_SAMPLES, assumed, {"eta": "3/10"}, samples=3, rounds=2)
    same(one, other)
    assert max(blocks(one)) < max(blocks(other))


def test_points_of_a_prox_that_was_drawn() -> None:
    """Such a point hangs on its own gradient."""
    convex = ("smooth(f_n, L)", "convex(f_n)")
    sum_of = f"{START} + mean_n(norm2(grad(f_n, xstar)))/L**2"
    one, other = largest(proximal, "E(norm2(x[k] - xstar))", sum_of, convex, {"mu": 1, "S": 2}, clients=3, rounds=2)
    same(one, other)
    assert max(blocks(one)) < max(blocks(other))


def test_clients_of_other_classes_are_told_apart() -> None:
    """Two of three are alike; nothing is, where the sentence speaks of one of them."""
    apart = ("smooth(f_n, L_n)", "strongly_convex(f_n, mu)")
    values = {"eta": "1/5", "H": 1, "S": 1, "L": [1, 1, 2]}
    right = f"{START} + mean_n(norm2(grad(f_n, xstar)))"
    one, other = largest(scaffold, "E(norm2(x[k] - xstar))", right, apart, values, clients=3, rounds=1)
    same(one, other)
    alike = one.problem.program.alike
    assert alike is not None
    assert len(alike.actions) == 1
    values["L"] = [1, 2, 3]
    one, other = largest(scaffold, "E(norm2(x[k] - xstar))", right, apart, values, clients=3, rounds=1)
    assert one.problem.program.alike is None


# --- programs without a claim


QUARTERS = st.integers(-4, 4).map(lambda a: Fraction(a, 4))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """N alike parts, each with its vectors and a value, and one more vector; strictly feasible and bounded."""
    parts, own = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    place = [[1 + n * own + a for a in range(own)] for n in range(parts)]
    size = 1 + parts * own

    def form(count: int) -> tuple[tuple[Fraction, ...], ...]:
        entries = {(a, b): draw(QUARTERS) for a in range(count) for b in range(a + 1)}
        return tuple([tuple([entries[max(a, b), min(a, b)] for b in range(count)]) for a in range(count)])

    pairs = [(n, m) for n in range(parts) for m in range(parts) if n != m]
    lone = Family(
        "a value", form(1 + own), np.array([[0, *p] for p in place]), (Fraction(1),),
        np.arange(parts).reshape(-1, 1), Fraction(0), np.ones(parts, dtype=bool),
    )  # fmt: skip
    both = Family(
        "two of them", form(2 * own), np.array([[*place[n], *place[m]] for n, m in pairs]),
        (Fraction(1), Fraction(-1)), np.array(pairs), Fraction(-1, 10), np.ones(len(pairs), dtype=bool),
    )  # fmt: skip
    trace = single("trace", {(i, i): Fraction(1) for i in range(size)}, constant=Fraction(-1))
    square, cross, mixed = draw(QUARTERS), draw(QUARTERS), draw(QUARTERS)
    goal = {(p[0], p[0]): square for p in place} | {(0, p[0]): mixed for p in place}
    goal |= {(place[n][0], place[m][0]): cross for n, m in pairs if n < m}
    objective = single("objective", goal, {n: Fraction(1, parts) for n in range(parts)})
    labels = np.repeat([0, 1, 2], [parts, len(pairs), 1])
    actions = []
    for n in range(parts - 1):
        order = np.arange(size)
        order[place[n] + place[n + 1]] = place[n + 1] + place[n]
        actions.append(np.eye(size)[:, order])
    alike = Alike(labels, np.zeros(parts, dtype=int), tuple(actions))
    rows = tuple([{i: Fraction(1)} for i in range(size)])
    return Program((tuple(map(str, range(size))),), rows, parts, (lone, both, trace), objective, alike)


def last(program: Program) -> Solved:
    *_, solved = relaxations(program, EFFORTS[0])
    return solved


@settings(max_examples=40, deadline=None, derandomize=True)
@given(programs())
def test_the_value_is_the_same(program: Program) -> None:
    whole = replace(program, alike=None)
    one, other = last(program), last(whole)
    assert len(reduced(program).slices) > 1
    assert one.value == pytest.approx(other.value, abs=2e-6)
    assert np.max(program.levels(one.gram, one.values)) < 1e-6
    proof = certify(program, one)
    assert proof is not None
    assert proof.check(whole)
    assert float(proof.bound) == pytest.approx(other.value, abs=2e-6)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(programs(), st.randoms(use_true_random=False))
def test_no_proof_rests_on_what_is_alike(program: Program, random: Any) -> None:
    """Told what is wrong, the solver may find no bound; one that it finds is a bound."""
    whole = replace(program, alike=None)
    assert program.alike is not None
    labels = np.array([random.randrange(2) for _ in range(program.conditions)])
    labels[:2] = 0, 1
    wrong = replace(program, alike=replace(program.alike, conditions=labels))
    value = last(whole).value
    upper, lower, _ = enclose(wrong)
    assert upper is None or (upper.check(whole) and upper.bound >= value - 1e-6)
    assert lower is None or (lower.check(whole) and lower.value <= value + 1e-6)


def test_a_worst_case_goes_on_where_the_solver_panics(monkeypatch: pytest.MonkeyPatch) -> None:
    @algorithm
    def descent(w, x, *, eta):  # type: ignore[no-untyped-def]
        return x - eta * w.full_gradient(x)

    one = claim("c", f"norm2(x[1] - xstar) <= {START}", of=descent, assuming=("smooth(f, L)", "strongly_convex(f, mu)"))
    values = {**NUMBERS, "eta": 1}
    plain = worst_case_of(one, values, room=200)
    monkeypatch.setattr(solver, "_inside", lambda *_: None)
    left, real = [2], solver.minimised

    def panics_twice(*given: Any, **options: Any) -> Any:
        left[0] -= 1
        return None if left[0] >= 0 else real(*given, **options)

    monkeypatch.setattr(solver, "minimised", panics_twice)
    found = worst_case_of(one, values, room=200)
    assert left[0] < 0
    assert found.upper is not None
    assert plain.upper is not None
    assert float(found.upper) == pytest.approx(float(plain.upper), rel=1e-5)
