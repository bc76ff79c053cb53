"""What sentences say of all clients at once, and of outcomes: first_n, simplex_n, argmin_n, quantile."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from tests.rounds import sgd
from tests.validate.test_verifier_moments import sides_by
from theory import algorithm, claim
from theory.domain import NONNEGATIVE
from theory.mixing import exact_weights
from theory.operations import to_fraction
from theory.sentence import SentenceError, parse_sentence, simplex_weights
from validate import verifier
from validate.both_sides import quantile, sides, words_of
from validate.breaks import certificate_of
from validate.examine import examine
from validate.instances import read_instance
from validate.instances.by_moments import by_moments, lines_in_floats
from validate.instances.pool import Drawn
from validate.instances.seen import Seen, measured
from validate.verifier.intervals import Interval
from validate.verifier.problems import read_any_problem
from validate.verifier.reading import Uncheckable
from validate.verifier.scalars import Work
from validate.verifier.simplex import simplex
from validate.worst_case.reading import refusal

F = Fraction


@algorithm
def chosen_mean(w, x, *, S):
    return w.average(w.gradient(x), w.choose(S))


THREE = {"clients": [[{"h": 1, "b": 0}], [{"h": 2, "b": 6}], [{"h": 1, "b": -4}]]}


def at_rest(start="1", problem=THREE, **vectors):
    return read_instance({"problem": problem, "start": start, "vectors": vectors})


def value(text, one=None, **constants):
    one = at_rest() if one is None else one
    found = sides(parse_sentence(f"{text} <= 0"), words_of(one), one, constants).rows
    return found[0].left if len(found) == 1 else [row.left for row in found]


# --- values by hand --------------------------------------------------------------------------------------------------


def test_the_first_client() -> None:
    # the gradients at 1 are 1, -4 and 5
    assert value("first_n(f_n(x0))") == F(1, 2)
    assert value("sum_n(norm2(first_n(grad(f_n, x0)) - grad(f_n, x0)))") == 25 + 16
    assert value("norm2(first_n(grad(f_n, x0)) - grad(f_n, x0))") == [0, 25, 16]


def test_weights_on_the_simplex() -> None:
    z = (F(0), F(1), F(5))
    # nu = (2 + 0 + 1)/2 with two that take part: 3/4, 1/4
    assert value("simplex_n(z_n, 1)", z=z) == [F(3, 4), F(1, 4), 0]
    assert value("sum_n(simplex_n(z_n, 1)*z_n)", z=z) == F(1, 4)


def test_the_minimiser_of_a_weighted_sum() -> None:
    q = (F(1, 2), F(1, 2), F(0))
    # (x^2/2 + x^2 - 6 x)/2 is least at 2
    assert value("norm2(argmin_n(q_n))", q=q) == 4
    assert value("norm2(argmin_n(q_n, r))", q=q, r=F(1, 2)) == F(1, 4)
    assert value("norm2(argmin_n(q_n, r))", q=q, r=F(3)) == 4
    assert value("norm2(argmin_n(1/N) - xstar)") == 0


def test_no_minimiser_says_nothing() -> None:
    flat = {"clients": [[{"h": 1, "b": 0}], [{"h": 0, "b": 1}]]}
    one = at_rest(problem=flat)
    found = sides(parse_sentence("norm2(argmin_n(q_n)) <= 0"), words_of(one), one, {"q": (F(0), F(1))})
    assert found.rows[0].status == "undefined"
    plane = {"clients": [[{"H": [[1, 0], [0, 2]], "b": [3, 3]}]]}
    one = at_rest(start=[0, 0], problem=plane)
    found = sides(parse_sentence("norm2(argmin_n(1, r)) <= 0"), words_of(one), one, {"r": F(1)})
    assert found.rows[0].status == "undefined"
    assert "ball" in found.rows[0].why


def of_pairs(p):
    """The quantile of the mean of two of the three gradients at 1, whose squares are 9/4, 9, 1/4."""
    data = {"parameters": {"S": 2}, "problem": THREE, "start": "1", "rounds": 1}
    one = read_instance(data, chosen_mean)
    return sides(parse_sentence("quantile(norm2(x[1]), 1 - p) <= 0"), words_of(one), one, {"p": p}).rows[0].left


def test_a_quantile_over_the_draws() -> None:
    squares = sorted((F(a + b, 2)) ** 2 for a, b in combinations((1, -4, 5), 2))
    assert [of_pairs(p) for p in (F(9, 10), F(1, 2), F(1, 10))] == squares
    # exactly a third of the probability lies above the second value
    assert of_pairs(F(1, 3)) == squares[1]
    assert of_pairs(F(1, 3) - F(1, 10**9)) == squares[2]


def test_a_quantile_of_balls_holds_the_true_one() -> None:
    from flint import arb, fmpq

    law = [(arb(fmpq(1, 3)), fmpq(1, 2)), (fmpq(1, 4), fmpq(1, 4)), (arb(2).sqrt(), fmpq(1, 4))]
    assert quantile(law, fmpq(1, 2)).contains(arb(fmpq(1, 3)))
    assert quantile(law, fmpq(9, 10)).contains(arb(2).sqrt())


# --- three computations of the same weights --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_weights_solve_the_program_and_agree_with_the_calculator_and_the_verifier(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 7)
    z = [F(rng.randint(0, 12), rng.choice([1, 2, 5])) for _ in range(size)]
    n = [F(rng.randint(1, 40)) for _ in range(size)]
    lam = F(rng.randint(1, 200), rng.choice([1, 10, 100]))
    curvatures = [lam / m for m in n]
    found = simplex_weights(z, curvatures)
    assert sum(found) == 1
    assert min(found) >= 0
    slopes = [c + 2 * q * a for c, q, a in zip(z, curvatures, found, strict=True)]
    assert all(s == min(slopes) for s, a in zip(slopes, found, strict=True) if a > 0)
    assert list(found) == list(exact_weights(z, n, lam).weights) == simplex(z, curvatures)


@pytest.mark.parametrize("seed", range(40))
def test_weights_of_intervals_hold_those_of_all_their_numbers(seed: int) -> None:
    """For any numbers within them, also where two costs are the same, or the cost is the level."""
    rng = random.Random(seed)
    size = rng.randint(1, 6)
    around = F(rng.choice([0, 1, 10**3]), 2**200)
    costs = [F(rng.randint(0, 4), rng.choice([1, 2, 3])) for _ in range(size)]
    curvatures = [F(rng.randint(1, 40), 7) for _ in range(size)]

    def enclosed(x: F) -> Interval:
        return Interval(Interval.of(x - around).low, Interval.of(x + around).high)

    found = simplex([enclosed(c) for c in costs], [enclosed(q) for q in curvatures])
    for _ in range(10):
        within = [[x + around * F(rng.randint(-8, 8), 8) for x in numbers] for numbers in (costs, curvatures)]
        for exact, box in zip(simplex(*within), found, strict=True):
            assert isinstance(box, Interval)
            low, high = box.ends
            assert low <= exact <= high
            assert high - low < F(1, 2**100)
    mixed = simplex([enclosed(costs[0]), *costs[1:]], curvatures)
    assert all(isinstance(box, Interval) for box in mixed)


def test_intervals_that_are_too_wide_tell_no_weights() -> None:
    wide = Interval(Interval.of(F(1)).low, Interval.of(F(2)).high)
    with pytest.raises(Uncheckable, match="not known well enough"):
        simplex([wide, F(1)], [F(1), F(1)])
    with pytest.raises(Uncheckable, match="not positive"):
        simplex([F(1), F(1)], [Interval.of(F(0)), F(1)])


# --- what is refused, certificates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("argmin_n", "needs its arguments"),
        ("simplex_n(z_n)", "takes 2 argument"),
        ("norm2(argmin_n(xstar)) <= 1", "xstar is a vector"),
        ("norm2(argmin_n(q_n, r_n)) <= 1", "not one a client"),
        ("quantile(x0, p) <= 1", "x0 is a vector"),
    ],
)
def test_what_says_nothing(text: str, message: str) -> None:
    with pytest.raises(SentenceError, match=message):
        claim("it", text if "<=" in text else f"{text} <= 1")


def broken(one, given, constants):
    """The certificate of an instance that breaks a claim."""
    instance = read_instance(given, one.of)
    seen = measured(one, Drawn(instance, constants, {**instance.parameters, **constants}))
    assert seen is not None
    assert seen.measured.broken
    return certificate_of(one, Seen(seen.drawn, seen.measured), seen.measured.broken[0], "given", True)


FALSE = {
    "quantile": (
        claim(
            "quantile", "quantile(norm(x[1]), 1 - p) <= norm(grad(f, x0))", of=chosen_mean, assuming=("smooth(f_n, L)",)
        ),
        {"algorithm": "a/chosen_mean", "parameters": {"S": 2}, "problem": THREE, "start": "1", "rounds": 1},
        {"p": F(1, 2), "L": F(2)},
    ),
    "weights": (
        claim(
            "weights",
            "sum_n(a_n*z_n) + norm2(argmin_n(a_n, r)) <= 1",
            vectors=("x",),
            where={"z_n": "norm2(first_n(grad(f_n, x)) - grad(f_n, x))", "a_n": "simplex_n(z_n, lam)"},
            assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
        ),
        {"problem": THREE, "start": "0", "vectors": {"x": ["1"]}},
        {"lam": F(100), "L": F(2), "mu": F(1), "r": F(10)},
    ),
    "weights of roots": (
        claim(
            "roots",
            "sum_n(simplex_n(z_n, lam)*z_n) <= 1",
            vectors=("x",),
            where={"z_n": "sqrt(2 + norm2(first_n(grad(f_n, x)) - grad(f_n, x)))"},
            assuming=("smooth(f_n, L)",),
        ),
        {"problem": THREE, "start": "0", "vectors": {"x": ["1"]}},
        {"lam": F(3), "L": F(2)},
    ),
}


@pytest.mark.parametrize("which", FALSE)
def test_the_verifier_agrees_and_refuses_another_value(which: str) -> None:
    made = broken(*FALSE[which])
    assert verifier.verify(made).valid
    for side in ("left", "right"):
        for moved in (F(1, 10), F(-1, 10)):
            shown = made[side]
            ends = shown if isinstance(shown, dict) else {"it": shown}
            ends = {name: str(F(x) + moved) for name, x in ends.items()}
            shifted = ends if isinstance(shown, dict) else ends["it"]
            assert not verifier.verify({**made, side: shifted}).valid


def test_a_false_claim_about_weights(tmp_path) -> None:
    where = {"a_n": "simplex_n(z_n, lam/m_n)"}
    left = "sum_n(a_n*z_n) + lam*sum_n(a_n**2/m_n)"
    fields = {"where": where, "assuming": ("sum_n(b_n) == 1",), "parameters": {"z_n": NONNEGATIVE, "b_n": NONNEGATIVE}}
    right = "sum_n(b_n*z_n) + lam*sum_n(b_n**2/m_n)"
    false = claim("false", f"{left} + lam*sum_n((a_n - b_n)**2) <= {right}", paper="weights", **fields)
    result = examine(false, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.evidence[0].origin in ("pool", "search")
    assert verifier.verify(verifier_data(result.certificate)).valid


def verifier_data(path):
    import json
    from pathlib import Path

    return json.loads(Path(path).read_text())


def test_elements_are_fractions() -> None:
    assert to_fraction(value("simplex_n(z_n, 1)", z=(F(0), F(0), F(9)))[0]) == F(1, 2)


def test_of_what_stands_in_words_nothing_is_measured(tmp_path) -> None:
    one = claim("hidden", "risk <= c*eta", in_words={"risk": "the risk of an estimator"}, assuming=("eta <= 1",))
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    assert "risk is the risk of an estimator" in result.evidence[-1].detail
    empty = claim("empty", "risk <= c*eta", in_words={"risk": "the risk"}, assuming=("eta <= 1", "eta >= 2"))
    assert examine(empty, quick=True, out=tmp_path).verdict == "vacuous"


# --- by moments, on functions given by points, in the worst case -----------------------------------------------------


ASSUMED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L")
TWO_SAMPLES = {"clients": [[{"h": 1, "b": 0}, {"h": 2, "b": 3}], [{"h": 2, "b": 6}, {"h": 1, "b": -4}]]}


def stepping(text):
    data = {"algorithm": "a/sgd", "parameters": {"eta": "1/3"}, "problem": TWO_SAMPLES, "start": "1", "rounds": 2}
    one = claim("it", f"{text} <= c", of=sgd, assuming=ASSUMED)
    instance = read_instance(data, sgd)
    constants = {"L": F(3), "mu": F(1), "c": F(0)}
    return one, Drawn(instance, constants, {**instance.parameters, **constants})


CERTAIN = "simplex_n(norm2(grad(f_n, x0))/99, 1)"
RANDOM = "simplex_n(norm2(grad(f_n, x[k])), 1)"


@pytest.mark.parametrize(
    "text",
    [
        "E(norm2(first_n(grad(f_n, x[k]))))",
        f"E(norm2(sum_n({CERTAIN}*grad(f_n, x[k]))))",
        f"E(norm2(x[k] - argmin_n({CERTAIN})))",
        "max_k(E(norm2(x[k])))*E(norm2(x[k]))",
        "sum_n(E(norm2(grad(f_n, x[k])))) + max_k(sum_n(E(norm2(grad(f_n, x[k])))))",
        "mean_k(k*sum_n(E(norm2(grad(f_n, x[k]))))) + sum_n(E(norm2(grad(f_n, x[k+0]))))",
    ],
)
def test_moments_agree_with_play_on_what_is_certain_and_on_the_first_client(text: str) -> None:
    one, instance = stepping(text)
    played = [row.left for row in sides(one.sentence, one.vocabulary, instance.instance, instance.constants).rows]
    assert len(played) == 3
    assert len(set(played)) == 3
    told = by_moments(one, instance)
    assert told is not None
    assert [row.left for row in told.rows] == played
    far = lines_in_floats(one, instance)
    assert far is not None
    assert [line.left for line in far] == pytest.approx([float(x) for x in played])


@pytest.mark.parametrize("text", [f"E(max_n({RANDOM}))", f"E(norm2(argmin_n({RANDOM})))", "quantile(norm2(x[k]), 1/2)"])
def test_what_moments_do_not_tell(text: str) -> None:
    one, instance = stepping(text)
    assert by_moments(one, instance) is None
    assert lines_in_floats(one, instance) is None
    made = broken_sgd(one)
    assert verifier.verify(made).valid
    with pytest.raises(Uncheckable):
        sides_by(made, "moments")


def broken_sgd(one):
    """The certificate that the claim with c = 0 breaks at the end of two rounds."""
    instance = stepping(one.statement.removesuffix(" <= c"))[1].instance
    false = replace(one, statement=one.statement.replace("<= c", "<= 0"), paper="a")
    values = {"L": F(3), "mu": F(1)}
    seen = measured(false, Drawn(instance, values, {**instance.parameters, **values}))
    assert seen is not None
    return certificate_of(false, Seen(seen.drawn, seen.measured), seen.measured.broken[-1], "given", True)


def test_the_verifier_takes_the_first_client_by_moments_as_when_it_plays() -> None:
    made = broken_sgd(stepping("E(norm2(first_n(grad(f_n, x[k]))))")[0])
    assert sides_by(made, "moments") == sides_by(made, "play")


def test_of_functions_given_by_points_no_weighted_sum_is_told() -> None:
    points = [{"x": 0, "g": 0, "f": 0}, {"x": 1, "g": 1, "f": "1/2"}]
    given = {"clients": [[{"points": points, "L": 2, "mu": 0}], [{"points": points, "L": 2, "mu": 0}]]}
    one = at_rest(problem=given)
    assert value("norm2(first_n(grad(f_n, x0)))", one) == 1
    (row,) = sides(parse_sentence("norm2(argmin_n(1/N)) <= 0"), words_of(one), one, {}).rows
    assert row.status == "undefined"
    assert "given by points" in row.why
    lists = [{"x": ["0"], "g": ["0"], "f": "0"}, {"x": ["1"], "g": ["1"], "f": "1/2"}]
    sample = {"points": lists, "L": "2", "mu": "0"}
    problem = read_any_problem({"clients": [[sample], [sample]]}, Work(10**6))
    with pytest.raises(Uncheckable, match="given by points"):
        problem.weighted((F(1, 2), F(1, 2)))


@pytest.mark.parametrize("text", ["norm2(argmin_n(1/N))", "quantile(norm2(x[k]), 1/2)", f"max_n({CERTAIN})"])
def test_no_worst_case_is_sought(text: str) -> None:
    assert "is not linear in inner products" in refusal(stepping(text)[0])
