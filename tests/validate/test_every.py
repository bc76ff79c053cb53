"""Sentences for every point: their best constants against eigenvalues and what is seen at many points, on all kinds of
problems; the verifier decides them alike; instances satisfy them, and proofs need them."""

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.problems import Quadratic
from tests.derivation.both import accepted, check
from tests.validate.assumptions import text_of as text_of_numbers
from tests.validate.assumptions import told
from theory import algorithm, claim
from theory.arithmetic import to_element
from theory.derivation import combined, step
from theory.derivation.named import lines
from theory.derivation.statements import NotProvedError
from theory.for_every import assumption
from theory.operations import to_fraction
from theory.sentence import Vocabulary, evaluate, text_of
from validate import check as checked
from validate import satisfied
from validate.instances.altered import altered
from validate.instances.piece_shapes import made_pieces
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import drawn
from validate.instances.ridge_functions import RidgeFunction
from validate.instances.ridge_shapes import made_ridges
from validate.instances.ridges import Ridges
from validate.instances.setting import Setting
from validate.instances.shapes import SIZES, Size, made, shape_of
from validate.on_instance import hypotheses_of, setting_of
from validate.satisfied.conditions import least_of
from validate.satisfied.every import simplest
from validate.verifier.problems import read_any_problem
from validate.verifier.reading import Uncheckable
from validate.verifier.scalars import Work
from validate.verifier.stretches import least_value as least_in_the_verifier

F = Fraction
QUASI = "for every x: dot(grad(f, x), x - xstar) >= f(x) - fstar + mu/2*norm2(x - xstar)"
EXPECTED = "for every x: mean_n(norm2(grad(f_n, x) - grad(f_n, xstar))) <= 2*A*(f(x) - fstar)"
GROWTH = "for every x: mean_n(norm2(grad(f_n, x))) <= G2 + B2*norm2(grad(f, x))"
WEAK = "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x) - rho/2*norm2(x - y)"
APART = "for every n, x: norm2(grad(f_n, x) - grad(f, x)) <= zeta2"
STEEP = "for every x: norm(grad(f_ni, x) - grad(f_ni, xstar)) <= L*norm(x - xstar)"
ALL = (QUASI, EXPECTED, GROWTH, WEAK, APART, STEEP)


def quadratic(hessians, linear) -> Quadratic:
    """From (N, d, d) and (N, d)."""
    H = np.array([[[[F(x) for x in row] for row in h]] for h in hessians], dtype=object)
    b = np.array([[[F(x) for x in v]] for v in linear], dtype=object)
    return Quadratic(H, b, np.full(H.shape[:2], F(0), dtype=object), np.full(len(H), 1))


TWO = quadratic([[[2, 0], [0, 3]], [[4, 0], [0, 1]]], [[3, 0], [-3, 2]])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (QUASI, (F(2),)),  # f is 3/2 x^2 + y^2: for quadratics it is the least curvature
        (EXPECTED, (F(10, 3),)),  # (2^2 + 4^2)/2 <= 2 A 3/2, (3^2 + 1)/2 <= 2 A 2/2
        (WEAK, (F(0),)),
        (APART, None),
        (EXPECTED.replace("2*A*(f(x) - fstar)", "B**2*norm2(grad(f, x))"), (F(5, 4) ** F(1, 2),)),
    ],
)
def test_best_constants_of_two_quadratics(text, values):
    found = satisfied.best(assumption(text), TWO)
    assert found == values or found[0] == pytest.approx(float(values[0]), rel=1e-12)


def test_concave_directions_and_minimisers_that_are_not_unique():
    saddle = quadratic([[[2, 0], [0, -3]]], [[1, 1]])
    assert satisfied.best(assumption(WEAK), saddle) == (F(3),)
    assert satisfied.best(assumption(QUASI), saddle) is None  # there is no minimiser
    valley = quadratic([[[2, 0], [0, 0]]], [[2, 0]])
    # the points (1, t) are all minimisers, and the sentence is meant for each of them
    assert satisfied.best(assumption("for every x: norm2(grad(f, x)) >= m*norm2(x - xstar)"), valley) is None
    assert satisfied.best(assumption("for every x: norm2(grad(f, x)) <= m*norm2(x - xstar)"), valley) == (F(4),)


def test_constants_that_trade():
    one = assumption(GROWTH)
    G2, B2 = satisfied.best(one, TWO)
    assert satisfied.true(one, TWO, (G2, B2)) is True
    assert satisfied.true(one, TWO, (G2 * F(99, 100), B2)) is False
    assert satisfied.true(one, TWO, (G2, F(1))) is False
    larger = satisfied.best(one, TWO, {"B2": F(3)})
    assert larger[1] == 3
    assert larger[0] < G2


def seen_at(text, problem, values, point):
    """Left and right side at points, as instances evaluate them."""
    one = assumption(text)
    claimed = claim("c", "1 <= 2", assuming=(text,), vectors=one.points)
    free = {name: np.array(p, dtype=object) for name, p in zip(one.points, point, strict=True)}
    world = Setting(problem, point[0], values, 1, claimed, free)
    words = Vocabulary(vectors=one.points)
    sides = []
    for n in range(problem.clients):
        sides += [tuple(float(evaluate(s, world, {"n": n, "i": 0}, words)) for s in one.sentence.sides)]
    return sides, one.sentence.relation


def problems(seed):
    rng = random.Random(seed)
    shape = shape_of([assumption("strongly_convex(f_n, mu)")], True)
    yield made(shape, SIZES[seed % len(SIZES)], rng)
    yield made_pieces(shape, Size(1 + seed % 3, 1, 1), rng)
    yield made_ridges(shape, Size(1 + seed % 2, 1, 2), rng, slanted=False)


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_is_seen_at_points_and_a_better_constant_is_not_true(text, seed):
    one, rng = assumption(text), random.Random(seed)
    for problem in problems(seed):
        best = satisfied.best(one, problem)
        if best is None:
            assert text in (APART, WEAK)
            continue
        values = {str(text_of(c)): v for c, v in zip(one.constants, best, strict=True)}
        for _ in range(30):
            point = [[F(rng.randint(-60, 60), 10) for _ in range(problem.dim)] for _ in one.points]
            sides, relation = seen_at(text, problem, values, point)
            for left, right in sides:
                low, high = (left, right) if relation == "<=" else (right, left)
                assert low <= high + 1e-9 * (1 + abs(high))
        for place, direction in enumerate(one.directions):
            better = list(best)
            better[place] = F(better[place]) * (F(999, 1000) if direction == "up" else F(1001, 1000))
            if best[place] > 0 and len(best) == 1:
                assert satisfied.true(one, problem, better) is False


def plain(problem):
    """Quadratics and pieces as certificates have them."""
    if isinstance(problem, Pieces):
        return problem.to_json()
    samples = zip(problem.hessian, problem.linear, problem.offset, strict=True)
    each = [list(zip(*own, strict=True)) for own in samples]
    return {"clients": [[{"H": H.tolist(), "b": b.tolist(), "c": c} for H, b, c in own] for own in each]}


def told_by_the_verifier(text, problem, numbers):
    """The verifier's answer; None where it cannot tell."""
    data = problem.to_json() if isinstance(problem, Ridges) else plain(problem)
    read = read_any_problem(text_of_numbers(data), Work())
    try:
        return told(assumption(text), read, numbers)
    except Uncheckable:
        return None


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("seed", range(6))
def test_the_verifier_tells_the_same(text, seed):
    one = assumption(text)
    answers = set()
    for problem in problems(seed):
        best = satisfied.best(one, problem)
        for factor in (F(1), F(1000, 1001), F(1001, 1000), F(1, 3)):
            numbers = tuple(F(b) * factor for b in best or (F(1),) * len(one.constants))
            if not all(numbers):
                continue
            seen = told_by_the_verifier(text, problem, numbers)
            assert seen == satisfied.true(one, problem, numbers)
            answers.add(seen)
    assert {True, False} <= answers or text in (APART, WEAK, GROWTH)


def test_pieces_are_decided_on_their_stretches():
    # slope 4 between 0 and 1, else 1, least at 0: f' is 4 there, and f is 2
    one = Pieces(((Piecewise((F(0), F(1)), (F(1), F(4), F(1))),),))
    assert satisfied.best(assumption("for every x: norm2(grad(f, x)) <= 2*A*(f(x) - fstar)"), one) == (F(4),)
    assert satisfied.best(assumption("for every x: norm2(grad(f, x)) >= 2*m*(f(x) - fstar)"), one) == (F(1),)
    # f'(t)*t >= m*t^2 is worst far away, where f' is t + 3
    assert satisfied.best(assumption("for every x: dot(grad(f, x), x - xstar) >= m*norm2(x - xstar)"), one) == (F(1),)
    plane = Ridges(((RidgeFunction((((F(3), F(4)), one.mean), ((F(4), F(-3)), one.mean)), (F(0), F(0))),),))
    assert satisfied.best(assumption("for every x: norm2(grad(f, x)) >= 2*m*(f(x) - fstar)"), plane) == (F(25),)


@pytest.mark.parametrize(
    "text",
    [
        "for every x, y, z: f(x) + f(y) + f(z) >= -A",
        "for every x, y: f((x + y)/2) <= A",
        "for every x: norm2(grad(f, x))**2 <= A",
        "for every x: norm(x) <= A + f(x)",
    ],
)
def test_what_cannot_be_told_is_not_true(text):
    piece = Pieces(((Piecewise((F(0),), (F(1), F(2))),),))
    assert satisfied.best(assumption(text), piece) is None
    assert satisfied.true(assumption(text), piece, (F(10**6),)) is None


def test_float_problems():
    rough = Quadratic(*(x.astype(float) for x in (TWO.hessian, TWO.linear, TWO.offset)), TWO.counts)
    assert satisfied.best(assumption(EXPECTED), rough)[0] == pytest.approx(10 / 3, rel=1e-7)
    assert satisfied.true(assumption(EXPECTED), rough, (3.4,)) is True
    assert satisfied.true(assumption(EXPECTED), rough, (3.3,)) is False


def ends(rng):
    low, high = sorted(rng.sample(range(-3, 4), 2))
    return rng.choice([(F(low), F(high)), (None, F(high)), (F(low), None), (None, None)])


def test_least_values_on_rectangles_are_those_of_many_points():
    """Of random forms: no point is below, some point is near; where there is none, points far away are far below."""
    rng, unbounded = random.Random(5), 0
    for _ in range(400):
        a, h, b, p, q, c = (F(rng.randint(-2, 2)) for _ in range(6))
        if rng.random() < 0.5:  # semidefinite, and often singular
            u, v, w = (rng.randint(-2, 2) for _ in range(3))
            a, h, b = F(u * u), F(u * v), F(v * v + (w if w > 0 else 0))
        where = ends(rng), ends(rng)
        form = np.array([[to_element(e) for e in row] for row in ((a, h, p), (h, b, q), (p, q, c))], dtype=object)
        found = least_of(form, where)
        found = None if found is None else to_fraction(found)
        terms = {(0, 0): a, (0, 1): 2 * h, (1, 1): b, (0,): 2 * p, (1,): 2 * q}
        assert least_in_the_verifier(terms, [0, 1], c, where) == found
        grids = []
        for start, end in where:
            low, high = float(-2000 if start is None else start), float(2000 if end is None else end)
            near = np.linspace(max(low, -9), min(high, 9), 361)
            far = np.linspace(-2000, 2000, 401)
            grids.append(np.unique(np.concatenate([near, far[(low <= far) & (far <= high)]])))
        x, y = np.meshgrid(*grids)
        a, h, b, p, q, c = map(float, (a, h, b, p, q, c))
        seen = a * x * x + 2 * h * x * y + b * y * y + 2 * p * x + 2 * q * y + c
        if found is None:
            unbounded += 1
            assert seen.min() < -100
        else:
            assert seen.min() >= float(found) - 1e-9
            assert seen.min() <= float(found) + 0.1
    assert 50 < unbounded < 350


@pytest.mark.parametrize(("low", "high", "value"), [("1/3", "1/2", "1/2"), ("7/5", "10/7", "7/5"), ("2", "3", "2")])
def test_the_simplest_fraction(low, high, value):
    assert simplest(F(low), F(high)) == F(value)


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


CONTRACTS = claim(
    "contracts",
    "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)",
    of=descent,
    assuming=(QUASI, "smooth(f, L)", "eta <= 1/(2*L)"),
    proof=(
        step(
            "moved",
            "norm2(x[k+1] - xstar) == norm2(x[k] - xstar) - 2*eta*dot(grad(f, x[k]), x[k] - xstar)"
            " + eta**2*norm2(grad(f, x[k]))",
        ),
        combined(
            "steep",
            "norm2(grad(f, x[k])) <= 2*L*(f(x[k]) - fstar)",
            "above f (x[k], x[k] - grad(f, x[k])/L) times 2*L; infimum (x[k] - grad(f, x[k])/L) times 2*L",
        ),
        combined("gap", "0 <= f(x[k]) - fstar", "infimum (x[k])"),
        combined(
            "all",
            None,
            "moved; every (x[k]) times 2*eta; steep times eta**2; gap times eta;"
            " eta <= 1/(2*L) times 2*eta*L*(f(x[k]) - fstar)",
        ),
    ),
)


def test_a_proof_is_accepted_and_rests_on_the_assumption():
    check(CONTRACTS)
    written = lines(CONTRACTS, CONTRACTS.proof)
    for changed in (
        replace(CONTRACTS, assuming=CONTRACTS.assuming[1:]),
        replace(CONTRACTS, assuming=(QUASI.replace("mu/2", "mu/3"), *CONTRACTS.assuming[1:])),
        replace(CONTRACTS, statement="norm2(x[k+1] - xstar) <= (1 - 2*eta*mu)*norm2(x[k] - xstar)"),
        replace(CONTRACTS, assuming=(QUASI.replace(">=", "<="), *CONTRACTS.assuming[1:])),
    ):
        assert not accepted(changed, written)


@pytest.mark.parametrize(
    ("point", "words"),
    [("grad(f_n, xstar)", "no vector at which"), ("mu", "no vector"), ("x[k], xstar", "for every 2 points")],
)
def test_points_at_which_nothing_is_said(point, words):
    one = claim(
        "c",
        "mean_n(norm2(grad(f_n, xstar))) <= G2",
        assuming=("for every x: mean_n(norm2(grad(f_n, x))) <= G2 + 0*mu",),
        of=descent,
        proof=(combined("all", None, f"every ({point})"),),
    )
    with pytest.raises(NotProvedError, match=words):
        check(one)


def test_of_several_sentences_one_is_meant_by_its_number():
    texts = ("for every x: f(x) >= 0", "for every y: f(y) <= c")
    one = claim("c", "f(v) <= c", vectors=("v",), assuming=texts, proof=(combined("all", None, "every 2 (v)"),))
    check(one)
    with pytest.raises(NotProvedError, match="write every 1"):
        check(replace(one, proof=(combined("all", None, "every (v)"),)))
    with pytest.raises(NotProvedError):
        check(replace(one, proof=(combined("all", None, "every 1 (v)"),)))


@pytest.mark.parametrize(
    "text", [*ALL, "for every x: mean_n(q_n*norm2(grad(f_n, x))) <= B*norm2(mean_n(q_n*grad(f_n, x))) + G"]
)
def test_instances_of_the_pool_satisfy_it(text):
    one = claim("c", "norm2(x[k]) >= 0", of=descent, assuming=(text, "eta <= 1"))
    found = [made for seed in range(12) if (made := drawn(one, seed)) is not None]
    assert len(found) >= 6
    for made_ in found:
        hypotheses = dict(hypotheses_of(setting_of(one, made_)))
        assert all(value is True for value in hypotheses.values())


def test_constants_of_one_sentence_are_traded_for_one_another():
    one = claim("c", "norm2(x[k]) >= 0", of=descent, assuming=(GROWTH, "eta <= 1"))
    instances = [made_ for seed in range(6) if (made_ := drawn(one, seed)) is not None]
    pairs = [{(seen.values["G2"], seen.values["B2"]) for seen in altered(one, each)} for each in instances]
    assert any(sum(B2 > 1 for _, B2 in some) >= 4 for some in pairs)  # more than one client


@pytest.mark.parametrize(
    ("statement", "text", "verdict"),
    [
        ("norm2(grad(f_n, x)) <= zeta2 + norm2(grad(f, x))", APART, "refuted"),
        pytest.param("norm2(grad(f_n, x)) <= 2*zeta2 + 2*norm2(grad(f, x))", APART, "proved", marks=pytest.mark.slow),
        ("dot(grad(f, x) - grad(f, y), x - y) >= -rho/2*norm2(x - y)", WEAK, "refuted"),
        ("dot(grad(f, x) - grad(f, y), x - y) >= -rho*norm2(x - y)", WEAK, "proved"),
    ],
)
def test_verdicts(statement, text, verdict, tmp_path):
    one = claim("c", statement, vectors=("x", "y") if "y" in statement else ("x",), assuming=(text,))
    assert checked(one, quick=True, out=tmp_path).verdict == verdict


def test_a_constant_in_a_divisor_is_no_defect(tmp_path: Path) -> None:
    one = claim(
        "divided", "norm2(grad(f, x)) <= (a*b)**2*norm2(x - xstar)", vectors=("x",),
        assuming=("for every x: norm2(grad(f, x))/(a*b)**2 <= norm2(x - xstar)",),
    )  # fmt: skip
    result = checked(one, quick=True, out=tmp_path)
    assert result.verdict not in ("refuted", "vacuous")
