"""Instances by the thousand: what one exact play recorded says in floats what exact measuring says in fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.rounds import local as local_descent
from tests.rounds import sgd
from tests.shares import share
from theory import algorithm, claim
from theory.claim import Claim
from theory.domain import POSITIVE, REAL, Domain
from theory.for_every import ForEvery, assumption
from theory.formula import UndefinedError
from theory.operations import operations
from validate import satisfied
from validate.batch import population, searched, traced
from validate.batch.bests import Problems, best_of_all, knows
from validate.batch.bests_of_sentences import best as best_of_sentence
from validate.batch.bests_of_sentences import knows as knows_sentence
from validate.batch.hinges import Hinges
from validate.batch.population import NONE, STEEPEST, Population
from validate.batch.recorded import Recorded, Straight, Tape, TooLongError
from validate.batch.starts import lean, starts
from validate.batch.tracing import Traced
from validate.instances.candidates import candidate_of, realised
from validate.instances.constants import best_constants
from validate.instances.longer import CLIENTS, SAMPLES, longer, ways
from validate.instances.piece_shapes import made_pieces
from validate.instances.pieces import Pieces
from validate.instances.pool import drawn
from validate.instances.problems import Quadratics
from validate.instances.seen import Hunt, measured
from validate.instances.shapes import Size, made, shape_of

F = Fraction


@algorithm(x="x0", m="0")
def clipped(w: Any, x: Any, m: Any, *, eta: Any, beta: Any, c: Any, S: Any) -> Any:
    g = w.average(w.clip(w.gradient(x), c), w.choose(S))
    m = beta * m + (1 - beta) * g
    return x - eta * m, m


@algorithm
def proximal(w: Any, x: Any, *, t: Any) -> Any:
    return w.mean(w.prox(x, t))


@algorithm(x="each grad(f_n, x0)")
def gossip(w: Any, x: Any, *, W: Any) -> Any:
    return w.mix(x, W)


NOISE = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}
CONVEX = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)")
STEP = "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2"
CLAIMS = {
    "step": claim("step", STEP, of=sgd, assuming=(*CONVEX, "eta <= 1/(2*L)"), where=NOISE),
    "tied": claim("tied", "E(f(x[k]) - fstar) <= f(x0) - fstar + mu", of=sgd, assuming=(*CONVEX, "eta == 1/(3*L)")),
    "turns": claim(
        "turns",
        "f(x[k+1]) <= f(x[k]) - eta/4*norm2(grad(f, x[k])) + eta**3*H**3*L**2*max_n(norm2(grad(f_n, x[k])))",
        of=local_descent,
        assuming=("smooth(f_n, L)", "eta <= 1/(2*L*H)"),
    ),
    "variance": claim(
        "variance",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "bounded_variance(s2)", "eta <= 1/L"),
    ),
    "apart": claim(
        "apart",
        "mean_n(norm(grad(f_n, a) - grad(f, b))) <= G + B*norm(grad(f, a)) + L*norm(a - b)",
        vectors=("a", "b"),
        assuming=("smooth(f_n, L)", "dissimilar(G, B)"),
    ),
    "clipped": claim(
        "clipped",
        "E(norm(x[k+1] - x[k])) <= eta*c",
        of=clipped,
        assuming=("smooth(f_n, L)", "eta <= 1/L", "beta < 1"),
    ),
    "network": claim(
        "network",
        "mean_n(norm2(x[k+1])) <= rho**2*mean_n(norm2(x[k])) + norm2(mean_n(x[k]))",
        of=gossip,
        assuming=("smooth(f_n, L)", "connected(W)"),
    ),
    "numbers": claim("numbers", "(a + b)**2/4 <= max(a**2, b**2) - abs(a - b)/2", assuming=("a <= 3*b",)),
}


def recorded(one: Claim, seed: int) -> Traced | None:
    made = drawn(one, seed)
    return None if made is None else traced(one, made)


def columns(here: Traced, seed: int, count: int = 12) -> Any:
    """Numbers around those that were played, short enough for fractions."""
    rng = np.random.default_rng(seed)
    base = np.array([float(x) for x in here.layout.numbers(here.base)])[:, None]
    factors = rng.choice(
        [1.0, 1.0, 0.5, 1.25, 0.0, -1.0], size=(len(base), count), p=[0.3, 0.3, 0.15, 0.15, 0.05, 0.05]
    )
    return base * factors


def exactly(here: Traced, column: Any) -> Any:
    """The instance of these numbers, which floats have exactly; None where the claim does not speak of it."""
    try:
        c = here.layout.candidate(here.base, [F(float(x)) for x in column])
    except ValueError:  # knots that are not in their order
        return None
    return realised(here.claim, c)


@pytest.mark.parametrize("label", CLAIMS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 300))
def test_both_sides_are_those_of_exact_measuring(label: str, seed: int) -> None:
    here = recorded(CLAIMS[label], seed)
    assume(here is not None)
    assert here is not None
    numbers = columns(here, seed)
    everything, fits = here.fits(numbers)
    gaps = here.gaps(everything)
    told = 0
    for i in np.flatnonzero(fits & np.isfinite(gaps).any(axis=0)):
        one = exactly(here, numbers[:, i])
        seen = None if one is None else measured(here.claim, one)
        if seen is None or any(row.left is None for row in seen.measured.rows):
            continue
        if isinstance(here.base.functions, tuple) and not isinstance(one.instance.problem, Pieces):
            continue  # its last knot is gone, and of quadratics G is rounded up
        sides = [(float(row.left), float(row.right)) for row in seen.measured.rows]
        turned = -1 if here.claim.sentence.relation in (">=", ">") else 1
        expected = [turned * (a - b) / (abs(a) + abs(b)) for a, b in sides if abs(a) + abs(b) > 1e-9]
        if expected:
            assert np.nanmax(gaps[:, i]) == pytest.approx(max(expected), abs=1e-4 if label == "apart" else 1e-6)
            told += 1
    assert told or not fits.any() or label == "clipped" or not np.isfinite(gaps[:, fits]).any()


@pytest.mark.parametrize("label", CLAIMS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 300))
def test_what_fits_in_floats_is_an_instance(label: str, seed: int) -> None:
    """But for what meets a relation to all digits, of which either may say otherwise."""
    here = recorded(CLAIMS[label], seed)
    assume(here is not None)
    assert here is not None
    numbers = columns(here, seed, 8)
    _, fits = here.fits(numbers)
    _, nearly = here.fits(numbers * (1 + 1e-9 * np.random.default_rng(seed).normal(size=numbers.shape)))
    for i in np.flatnonzero(fits == nearly):
        if exactly(here, numbers[:, i]) is not None:
            assert fits[i]
        elif fits[i]:  # G and B of `dissimilar` are floats there, what is assumed is asked with roots; a weight of 0
            assert label in ("apart", "step", "tied", "turns", "variance", "clipped", "network")


@pytest.mark.parametrize("label", ["step", "moment"])
def test_steps_that_are_asked_together_are_those_of_a_bisection(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = next(one for one in (recorded(FALSE[label], seed) for seed in range(300)) if one is not None)
    numbers = columns(here, 0)
    first = numbers[:, here.fits(numbers)[1]]

    def climbed() -> Population:
        one = Population(here, first, np.random.default_rng(0))
        one.climb(5)
        return one

    together = climbed()
    monkeypatch.setattr(population, "AT_ONCE", 0)  # one by one
    alone = climbed()
    assert (together.numbers == alone.numbers).all()
    assert (together.scores == alone.scores).all()


@pytest.mark.parametrize("label", ["step", "turns"])
def test_no_score_is_missed_that_is_above_those_beside_it(label: str) -> None:
    here = next(one for one in (recorded(CLAIMS[label], seed) for seed in range(300)) if one is not None)
    numbers = columns(here, 1)
    one = Population(here, numbers[:, here.fits(numbers)[1]], np.random.default_rng(0))
    gaps, scores = one._judged(one.numbers)
    beside = gaps / STEEPEST * np.random.default_rng(1).choice([0.1, 1.0, 2.0], size=len(scores))
    _, found = one._judged(one.numbers, beside=beside)
    assert (found[scores > beside] == scores[scores > beside]).all()
    assert ((found == scores) | (found == NONE)).all()
    assert (found == NONE).any()


PIECES = {
    **{label: CLAIMS[label] for label in ("step", "turns", "variance", "apart")},
    "proximal": claim(
        "proximal",
        "mean_n(norm2(x[1] - xstar_n)) + f(x[1]) - fstar <= norm2(x0 - xstar) + mean_n(norm2(xstar - xstar_n))*L*t",
        of=proximal,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
    ),
    "pl": claim(
        "pl",
        "E(f(x[1]) - fstar) <= (1 - mu*eta)*(f(x0) - fstar) + G*eta",
        of=sgd,
        assuming=("smooth(f, L)", "pl(f, mu)", "dissimilar(G)", "eta <= 1/L"),
    ),
    "four in space": claim("four", "f(x[1]) <= f(x0)", of=sgd, assuming=("smooth(f, L)", "N >= 4", "d >= 2")),
    "flat": claim(
        "flat",
        "f(a) - f(b) <= 2*G*norm(a - b)",
        vectors=("a", "b"),
        assuming=("convex(f_ni)", "bounded_gradients(f_n, G)", "d == 3"),
    ),
}


@pytest.mark.parametrize("label", PIECES)
def test_pieces_start_and_say_what_exact_measuring_says(label: str) -> None:
    """But where there is more than one minimiser: the one that is recorded need not be the nearest."""
    told = 0
    for here, first in starts(PIECES[label]):
        everything, fits = here.fits(first)
        gaps = here.gaps(everything)
        assert fits.mean() > 0.99
        for i in range(0, first.shape[1], 1 + first.shape[1] // 12):
            one = exactly(here, first[:, i])
            seen = None if one is None else measured(here.claim, one)
            if seen is None or not np.isfinite(gaps[:, i]).any() or not seen.measured.every_minimiser:
                continue
            sides = [(float(row.left), float(row.right)) for row in seen.measured.rows if row.left is not None]
            expected = [(a - b) / (abs(a) + abs(b)) for a, b in sides if abs(a) + abs(b) > 1e-9]
            if expected:
                assert np.nanmax(gaps[:, i]) == pytest.approx(max(expected), abs=1e-4 if label == "apart" else 1e-6)
                told += 1
    assert told > 5


@settings(max_examples=20, deadline=None)
@given(label=st.sampled_from(sorted(CLAIMS)), seed=st.integers(0, 400))
def test_the_best_constants_are_those_of_one_problem(label: str, seed: int) -> None:
    one = CLAIMS[label]
    made = drawn(one, seed)
    assume(made is not None and isinstance(made.instance.problem, Quadratics))
    assert made is not None
    problem: Any = made.instance.problem
    assume(len(set(problem.quadratic.counts)) == 1 and knows(one, problem.dim))
    arrays = [np.asarray(a, dtype=float)[None] for a in (problem.quadratic.hessian, problem.quadratic.linear)]
    found, true = best_of_all(one, Problems(*arrays))
    bests = [(p, satisfied.best(p, problem.quadratic)) for p in one.predicates if p.binds and p.about != "network"]
    assert bool(true[0]) == all(numbers is not None for _, numbers in bests)
    if true[0]:
        near = 1e-5 * (1 + float(np.max(np.abs(arrays[1]))))
        for name, value in best_constants(one, bests).items():  # type: ignore[arg-type]
            each = {(name, n): v for n, v in enumerate(value)} if isinstance(value, list) else {(name, None): value}
            for bound, number in each.items():
                assert found[bound][0] == pytest.approx(float(number), rel=1e-4, abs=near)


@settings(max_examples=15, deadline=None)
@given(label=st.sampled_from(sorted(CLAIMS)), seed=st.integers(0, 400))
def test_free_numbers_are_all_that_changes(label: str, seed: int) -> None:
    here = recorded(CLAIMS[label], seed)
    assume(here is not None)
    assert here is not None
    again = here.layout.candidate(here.base, here.layout.numbers(here.base))
    for name in ("hessian", "linear", "start"):
        one, two = getattr(again, name), getattr(here.base, name)
        assert (one is None and two is None) or np.array_equal(one, two)
    assert again.values == here.base.values


def test_a_tape_says_what_its_operations_say() -> None:
    tape = Tape()
    a, b = tape.number(2.0), tape.number(-3.0)
    apply = operations(4096, False)
    wanted = [
        a * b - (a + 1) / b,
        apply["sqrt"](a * a + b * b),
        apply["max"](a, b, 3 * a),
        apply["**"](a, _rational(3)),
        apply["**"](a, _rational(-2)),
        apply["exp"](b) + abs(b),
        0 * a + 1,
        a - a,
    ]
    points = np.array([[2.0, 5.0, 0.5], [-3.0, 1.0, 4.0]])
    x, y = points
    expected = [x * y - (x + 1) / y, np.hypot(x, y), np.maximum(3 * x, y), x**3, x**-2.0, np.exp(y) + abs(y), 1 + 0 * x]
    found = Straight(tape, wanted).run(points)
    assert found == pytest.approx(np.array([*expected, 0 * x]))


def test_what_is_lost_beside_much_larger_numbers_shows_where_results_are_rounded_at_random() -> None:
    """Numbers that are centred first lose the same in any precision."""
    tape = Tape()
    free = [tape.number(x) for x in (3e8, -5e8, 2e8, 1e-14)]
    mean = (free[0] + free[1] + free[2]) / 3
    moved = free[3] + sum((0 * a + b - mean + free[3]) for a, b in zip(free, free[:3], strict=False))
    straight = Straight(tape, [moved])
    numbers = np.array([[3e8], [-5e8], [2e8], [1e-14]])
    assert straight.run(numbers)[0, 0] == straight.run(numbers.astype(np.longdouble))[0, 0] == 1e-14  # and not 4e-14
    rng = np.random.default_rng(0)
    rounded = [float(straight.run(numbers.astype(np.longdouble), rng)[0, 0]) for _ in range(5)]
    assert max(abs(x - 1e-14) for x in rounded) > 1e-12


def test_lean_quadratics_are_recorded_for_what_speaks_of_several_clients() -> None:
    told = [(here.layout.dim, first.shape[1]) for here, first in lean(CLAIMS["clipped"])]
    assert [d for d, _ in told] == [2, 3]
    assert all(count > 100 for _, count in told)
    assert not list(lean(CLAIMS["numbers"]))


def _rational(value: int) -> Any:
    from theory.arithmetic import to_element

    return to_element(F(value))


def test_a_comparison_is_a_condition() -> None:
    tape = Tape()
    a, b = tape.number(2.0), tape.number(3.0)
    assert a < b
    assert b >= a
    assert not a > 5 * b
    assert [strictly for _, strictly in tape.conditions] == [True, False, False]
    found = Straight(tape, [Recorded(tape, place, 0.0) for place, _ in tape.conditions]).run(np.array([[1.0], [7.0]]))
    assert found[:, 0] == pytest.approx([7 - 1, 7 - 1, 5 * 7 - 1])


def test_divisions_by_0_and_roots_of_negative_numbers_are_undefined() -> None:
    tape = Tape()
    a = tape.number(0.0)
    for wrong in (lambda: 1 / a, lambda: a / 0, lambda: (a - 1).operate("sqrt", (a - 1,))):
        with pytest.raises(UndefinedError):
            wrong()


def test_a_play_that_is_too_long_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.batch.recorded.MOST", 5)
    tape = Tape()
    a = tape.number(2.0)
    for _ in range(2):
        a = a * a + 1
    with pytest.raises(TooLongError):
        abs(a + a)


def pooled(one: Claim, seeds: int = 40) -> Hunt:
    found = Hunt()
    for seed in range(seeds):
        made = drawn(one, seed)
        seen = None if made is None else measured(one, made)
        if seen is not None:
            assert not seen.measured.broken
            found.seen.append(seen)
    return found


class Passes:
    """A budget: so many times it is asked whether all of it is spent."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, part: float) -> bool:
        if part < 1:
            return False
        self.left -= 1
        return self.left < 0


FALSE = {
    # the sharp step is 1/(2L): it takes one curved sample beside six flat ones, and a start that fits them
    "step": claim("step", STEP, of=sgd, assuming=(*CONVEX, "eta <= 11/(20*L)"), where=NOISE),
    # the sharp constant is 4
    "moment": claim(
        "moment",
        "mean_n(mean_i(norm2(grad(f_ni, a)))) <= 19/5*L*(f(a) - fstar) + 2*mean_n(mean_i(norm2(grad(f_ni, xstar))))",
        vectors=("a",),
        assuming=("smooth(f_ni, L)", "convex(f_ni)"),
    ),
}


ROOM = {"C": "1 - 2*a*b/sqrt(c + b**2)"}
FALSE |= {
    # where C is next to nothing; where both are, which alone leave room on the right
    "end": claim("end", "1 <= 10**4*C", assuming=("C > 0",), where=ROOM),
    "ends": claim(
        "ends", "1 <= 1000*C + 1000*D", assuming=("C > 0", "D > 0"), where={**ROOM, "D": "1 - e**2*g/(1 + e)"}
    ),
}


FALSE |= {  # within a window of second eigenvalues, named by the claim or not, in which no network was drawn
    "window": claim(
        "window",
        "mean_n(norm2(x[k+1])) <= (rho**2 + (rho - 97/100)**2 - 1/10**5)*mean_n(norm2(x[k])) + norm2(mean_n(x[k]))",
        of=gossip,
        assuming=("smooth(f_n, L)", "connected(W)"),
    ),
    "unnamed": claim(
        "unnamed",
        "(V_1 - (97/100)**2*V_0)**2 >= V_0**2/10**5",
        of=gossip,
        assuming=("smooth(f_n, L)", "connected(W)"),
        where={f"V_{k}": f"mean_n(norm2(x[{k}])) - norm2(mean_n(x[{k}]))" for k in (0, 1)},
    ),
}


BUDGET = {"step": 60, "moment": 30, "end": 6, "ends": 6, "window": 6, "unnamed": 6}


@pytest.mark.parametrize("label", [pytest.param(x, marks=[pytest.mark.slow] if x == "step" else []) for x in FALSE])
def test_constants_that_are_a_little_too_sharp_are_refuted(label: str) -> None:
    found = pooled(FALSE[label])
    broken = next(searched(FALSE[label], found, 10**4, 0, lambda: False, Passes(BUDGET[label])), None)
    assert broken is not None
    assert broken.measured.broken
    assert realised(FALSE[label], candidate_of(broken.drawn)) is not None


LINEAR = "norm2(x[1] - x0) <= (98/100 + (H - {0})**2/40)*H**2*eta**2*mean_n(norm2(grad(f_n, x0)))"
LARGER = {
    # H steps of a linear function: the window is around one number of turns that the text names
    "turns": claim(
        "turns", LINEAR.format(7), of=local_descent, assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L")
    ),
    # a product in which each of the rounds counts
    "rounds": claim(
        "rounds",
        "norm2(x[K] - xstar) >= (1 - eta*L)**(2*K)*norm2(x0 - xstar) + (K - 40)*norm2(x0 - xstar)/10**9",
        of=local_descent,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "H == 1"),
    ),
}


@pytest.mark.parametrize(("label", "name"), share([("turns", "H"), ("rounds", "K")], 2))
def test_integers_are_made_larger(label: str, name: str) -> None:
    one = LARGER[label]
    broken = next(searched(one, pooled(one), 10**4, 0, lambda: False, Passes(150)), None)
    assert broken is not None
    assert broken.measured.broken
    assert (broken.drawn.instance.rounds if name == "K" else broken.drawn.values[name]) >= 7


def with_copies(one: Claim, seed: int) -> tuple[Traced, Traced] | None:
    """An instance with a client, or a sample, twice more; recorded with all that is free, and with kinds of them."""
    made = drawn(one, seed)
    if made is None or not isinstance(made.instance.problem, Quadratics):
        return None
    c = candidate_of(made)
    for way in ways(one, c):
        grown = longer(one, c, way, way.now + 2) if way.name in (CLIENTS, SAMPLES) else None
        both = [None if grown is None else traced(one, grown, kinds) for kinds in (False, True)]
        if both[0] is not None and both[1] is not None:
            return both[0], both[1]
    return None


@pytest.mark.parametrize("label", ["step", "variance", "apart", "turns"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 300))
def test_what_is_the_same_stays_the_same(label: str, seed: int) -> None:
    """Of kinds as much is free as one of each has; sides, constants and instances are those without kinds."""
    both = with_copies(CLAIMS[label], seed)
    assume(both is not None)
    assert both is not None
    every, kinds = both
    assert kinds.layout.size < every.layout.size
    numbers = columns(kinds, seed, 6)
    made = [kinds.layout.candidate(kinds.base, [F(float(x)) for x in column]) for column in numbers.T]
    spread = np.array([[float(x) for x in every.layout.numbers(c)] for c in made]).T
    (few, fits), (many, also) = kinds.fits(numbers), every.fits(spread)
    assert np.array_equal(fits, also)
    assert kinds.gaps(few)[:, fits] == pytest.approx(every.gaps(many)[:, fits], abs=1e-7, nan_ok=True)
    for c in made:
        assert len({str(own.tolist()) for own in c.hessian}) < len(c.hessian) or c.samples > 1


@pytest.mark.parametrize("label", ["step", "variance"])
def test_what_is_true_is_not_broken(label: str) -> None:
    found = pooled(CLAIMS[label], 20)
    before = len(found.seen)
    assert not list(searched(CLAIMS[label], found, 10**4, 0, lambda: False, Passes(6)))
    assert len(found.seen) > before  # what was nearest was measured exactly


SENTENCES = (
    "for every x: fstar >= f(x) + dot(grad(f, x), xstar - x) + mu/2*norm2(xstar - x)",
    "for every x: mean_n(norm2(grad(f_n, x) - grad(f_n, xstar))) <= 2*A*(f(x) - fstar)",
    "for every x: mean_n(norm2(grad(f_n, x))) <= G2 + B2*norm2(grad(f, x))",
    "for every n, x: norm2(grad(f_n, x)) <= 2*A*(f(x) - fstar) + B*norm2(grad(f, x)) + C",
    "for every n, x: norm(grad(f_n, x) - grad(f, x)) <= zeta",
    "for every x: dot(grad(f, x), x - xstar) >= c*norm2(x - xstar)",
    "for every x: mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_n, x)))) <= s + r*norm2(grad(f, x))",
    "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x) - rho/2*norm2(x - y)",
)


@pytest.mark.parametrize("where", [POSITIVE, REAL], ids=["positive", "real"])
@pytest.mark.parametrize("text", SENTENCES)
def test_best_constants_of_sentences_in_arrays_are_those_in_fractions(text: str, where: Domain) -> None:
    """On quadratics and on piecewise ones; two constants that trade may be rounded to other near fractions."""
    one = assumption(text)
    assert isinstance(one, ForEvery)
    one = one.within((), {str(c): where for c in one.constants})
    shape, seen = shape_of([assumption("strongly_convex(f, mu)")], True), 0
    for seed in range(12):
        rng = random.Random(seed)
        quadratics = made(shape, (Size(1, 1, 1), Size(2, 1, 1), Size(2, 2, 2), Size(3, 1, 2))[seed % 4], rng)
        pieces = made_pieces(shape, Size(1 + seed % 3, 1, 1), rng)
        many: list[tuple[Any, Any]] = [
            (quadratics, Problems(*(x.astype(float)[None] for x in (quadratics.hessian, quadratics.linear))))
        ]
        many += [(pieces, _hinges(pieces))] if pieces.mean.least is not None and knows_sentence(one, True) else []
        for problem, arrays in many:
            if not knows_sentence(one, isinstance(arrays, Hinges)):
                continue
            exact = satisfied.best(one, problem)
            numbers, true = best_of_sentence(one, arrays)
            assert bool(true[0]) == (exact is not None)
            if exact is not None:
                seen += 1
                assert [float(x) for x in exact] == pytest.approx([x[0] for x in numbers], rel=1e-4, abs=1e-7)
    assert seen >= 6 or where is REAL


def _hinges(problem: Pieces) -> Hinges:
    """The same functions in floats, around the minimiser."""
    centre = problem.mean.least[1][0][0]  # type: ignore[index]
    assert centre is not None
    functions = [own[0] for own in problem.functions]
    most = max(1, *(len(f.knots) for f in functions))
    knots, slopes = [], []
    for f in functions:
        at, steep = [float(t - centre) for t in f.knots], [float(s) for s in f.slopes]
        more = most - len(at)
        knots.append(at + [(at or [0.0])[-1] + i + 1 for i in range(more)])
        slopes.append(steep + steep[-1:] * more)
    linear = [-float(f.derivative(centre)) for f in functions]
    which = np.arange(len(functions))[:, None]
    return Hinges(np.array([knots]), np.array([slopes]), np.array([linear]), which, True)
