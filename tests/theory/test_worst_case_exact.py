"""Exact sums over programs against plain Fractions, and what the interior-point method and the steps inside give."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import descent
from theory import claim
from theory.worst_case import attained, interior
from theory.worst_case.attained import attain
from theory.worst_case.certificate import certify
from theory.worst_case.exactly import imbalance, products, residual
from theory.worst_case.program import Family, Program, single
from theory.worst_case.solver import EFFORTS, INSIDE, relaxations
from validate.worst_case import worst_case_of

THIRDS = st.fractions(-2, 2, max_denominator=6)


@st.composite
def small(draw: st.DrawFn) -> Program:
    """Two blocks, rows that are basis vectors and others, conditions of two shapes, a value that is 0."""
    sizes, values = draw(st.tuples(st.integers(1, 2), st.integers(1, 2))), draw(st.integers(1, 3))
    size = sum(sizes)
    rows = [{j: Fraction(1)} for j in range(size)]
    rows += [{j: draw(THIRDS) for j in range(size) if draw(st.booleans())} for _ in range(3)]
    count = draw(st.integers(1, 4))
    form = [[draw(THIRDS) for _ in range(2)] for _ in range(2)]
    form[1][0] = form[0][1]
    places = st.integers(0, len(rows) - 1)
    family = Family(
        "some",
        tuple(map(tuple, form)),
        np.array([[draw(places), draw(places)] for _ in range(count)]),
        (Fraction(-1), draw(THIRDS)),
        np.array([[draw(st.integers(-1, values - 1)) for _ in range(2)] for _ in range(count)]),
        draw(THIRDS),
        np.ones(count, dtype=bool),
    )
    lone = single("one", {(draw(places), draw(places)): draw(THIRDS)}, {0: draw(THIRDS)}, draw(THIRDS))
    goal = single("objective", {(draw(places), draw(places)): draw(THIRDS)}, {values - 1: draw(THIRDS)})
    names = tuple([tuple([f"{b}{j}" for j in range(n)]) for b, n in enumerate(sizes)])
    return Program(names, tuple(rows), values, (family, lone), goal)


def matrix_of(program: Program, family: Family, k: int) -> list[list[Fraction]]:
    """A condition as a matrix in the basis, term by term."""
    total = [[Fraction(0)] * program.size for _ in range(program.size)]
    support = family.supports[k].tolist()
    for a, row in enumerate(family.form):
        for b, c in enumerate(row):
            for i, p in program.rows[support[a]].items():
                for j, q in program.rows[support[b]].items():
                    total[i][j] += c * p * q
    return total


def level_of(
    program: Program, family: Family, k: int, vectors: Sequence[Sequence[Fraction]], F: Sequence[Fraction]
) -> Fraction:
    matrix, known = matrix_of(program, family, k), [*F, Fraction(0)]
    products = [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in vectors] for u in vectors]
    total = sum((c * products[i][j] for i, row in enumerate(matrix) for j, c in enumerate(row)), family.constant)
    return total + sum(
        (s * known[v] for s, v in zip(family.slopes, family.values[k].tolist(), strict=True)), Fraction(0)
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(small(), st.data())
def test_exact_sums(program: Program, data: st.DataObject) -> None:
    every = [(f, k) for f in program.families for k in range(len(f))]
    multipliers = tuple([(place, data.draw(THIRDS)) for place in range(len(every))])
    blocks = []
    for own in program.blocks:
        width = data.draw(st.integers(1, 2))
        blocks.append(tuple([tuple([data.draw(THIRDS) for _ in range(width)]) for _ in own]))
    F = tuple([data.draw(THIRDS) for _ in range(program.values)])
    widths = [len(block[0]) for block in blocks]
    vectors = []  # of all blocks, orthogonal between blocks
    for b, block in enumerate(blocks):
        before, after = [Fraction(0)] * sum(widths[:b]), [Fraction(0)] * sum(widths[b + 1 :])
        vectors += [[*before, *v, *after] for v in block]

    known = products(program, tuple(blocks), F)
    for family in (*program.families, program.objective):
        numbers, unit = known.levels(family)
        levels = [Fraction(int(n), unit) for n in numbers]
        assert levels == [level_of(program, family, k, vectors, F) for k in range(len(family))]

    weights = [*[y for _, y in multipliers], Fraction(-1)]
    matrices = [matrix_of(program, f, k) for f, k in [*every, (program.objective, 0)]]
    wanted = [
        [
            sum((y * (m[i][j] + m[j][i]) for y, m in zip(weights, matrices, strict=True)), Fraction(0))
            for j in range(program.size)
        ]
        for i in range(program.size)
    ]
    found = residual(program, multipliers)
    ratios = set()
    for block, place in zip(found, program.slices, strict=True):
        for i, row in enumerate(block.tolist(), place.start):
            for j, c in enumerate(row, place.start):
                assert bool(c) == bool(wanted[i][j])
                ratios |= {Fraction(int(c)) / wanted[i][j]} if c else set()
    assert len(ratios) <= 1
    assert all(ratio > 0 for ratio in ratios)

    totals = [Fraction(0)] * (program.values + 1)
    for y, (family, k) in zip(weights, [*every, (program.objective, 0)], strict=True):
        for slope, value in zip(family.slopes, family.values[k].tolist(), strict=True):
            totals[value] += y * slope
    assert imbalance(program, multipliers) == totals[: program.values]


def test_a_point_inside() -> None:
    """Maximise x subject to [[1, x], [x, 1]] >= 0 in effect: 1. Both values, and the equations of the dual, hold."""
    forms = np.zeros((1, 2, 2, 2))
    forms[0, 0, 0, 0] = forms[0, 1, 1, 1] = 1.0
    goal = np.array([[[0.0, 0.5], [0.5, 0.0]]])
    data = interior.Data(forms, goal, np.zeros((2, 0)), np.zeros(0), np.ones(2))
    found = interior.solve(data, 1e-7, lambda X, F: None)
    assert found is not None
    assert (goal * found.X).sum() == pytest.approx(1, abs=1e-6)
    assert found.y.sum() == pytest.approx(1, abs=1e-6)
    assert found.y.min() > 0
    assert np.linalg.eigvalsh(found.Z).min() > 0
    assert np.abs((found.y[:, None, None] * forms[0]).sum(axis=0) - goal[0] - found.Z[0]).max() < 1e-12


def test_conditions_are_taken_in_on_the_way() -> None:
    """Without the second one the value is infinite."""
    forms = np.zeros((1, 2, 2, 2))
    forms[0, 0, 0, 0] = forms[0, 1, 1, 1] = 1.0
    goal = np.array([[[0.0, 0.5], [0.5, 0.0]]])
    few = interior.Data(forms[:, :1], goal, np.zeros((1, 0)), np.zeros(0), np.ones(1))
    asked = []

    def violated(X: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        asked.append(float(X[0, 1, 1]))
        return (forms[:, 1:], np.zeros((1, 0)), np.ones(1)) if len(asked) == 1 else None

    found = interior.solve(few, 1e-7, violated)
    assert asked[0] > 1
    assert found is not None
    assert (goal * found.X).sum() == pytest.approx(1, abs=1e-6)
    assert interior.solve(few, 1e-7, lambda X, F: None) is None


def test_the_least_step() -> None:
    """The projection onto a half-plane, onto a corner, and onto nothing."""
    half = attained._least(np.array([[1.0, 1.0]]), np.array([-2.0]))
    assert half == pytest.approx([-1, -1])
    corner = attained._least(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1.0, -3.0, 5.0]))
    assert corner == pytest.approx([-1, -3])
    assert attained._least(np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0])) is None


GAP = claim("c", "f(x[k]) - fstar <= L*norm2(x0 - xstar)", of=descent, assuming=("smooth(f, L)", "convex(f)"))


@pytest.mark.parametrize("rounds", [3, 12])
def test_a_narrow_enclosure_without_another_solver(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 1e-6 of each other, both checked, on one line; Clarabel is not asked."""
    monkeypatch.setattr("theory.worst_case.solver._solve", None)
    found = worst_case_of(GAP, {"L": 1, "eta": 1}, rounds=rounds)
    assert found.status == "proved"
    assert found.check()
    assert found.upper is not None
    assert found.lower is not None
    assert found.lower <= Fraction(1, 4 * rounds + 2) <= found.upper
    assert found.upper - found.lower <= found.upper / 10**6
    assert found.attained is not None
    assert found.attained.dimension == 1


def test_a_wrong_point_is_no_proof() -> None:
    """What the interior-point method says counts for nothing: other multipliers, or coordinates, fall."""
    program = worst_case_of(GAP, {"L": 1, "eta": 1}, rounds=2).problem.program
    (solved,) = relaxations(program, EFFORTS[0])
    assert solved.status == INSIDE
    assert certify(program, solved) is not None
    assert certify(program, replace(solved, multipliers=solved.multipliers * 0.9)) is None
    one = attain(program, solved)
    assert one is not None
    assert one.check(program)
    longer = tuple([tuple([tuple([c * 2 for c in v]) for v in block]) for block in one.vectors])
    assert not replace(one, vectors=longer).check(program)
    assert not replace(one, value=one.value + Fraction(1, 10**9)).check(program)
