"""Certificates of kind "chain": valid ones, every number changed, rubbish, and the arithmetic by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from tests.validate.tampering import (
    at_path,
    edit,
    json_values,
    open_claim,
    other_numbers,
    same_number,
    strings,
    verdict,
)
from theory.assumptions import BoundedVariance, MinimisersInBall, ShortStep, Smooth, StronglyConvex, UnbiasedSampling
from theory.claim import Hypothesis
from validate import certificate, verifier
from validate.verifier.chain import PiecewiseQuadratic, check_one_step, check_run, sign
from validate.verifier.checks import Checks

F = Fraction
CLAIM = open_claim(
    "definition-1/for-all-time",
    (
        Hypothesis("strongly convex", "", assumption=StronglyConvex("mu")),
        Hypothesis("smooth", "", assumption=Smooth("L")),
        Hypothesis("order", "", relation="mu <= L"),
        Hypothesis("ball", "", assumption=MinimisersInBall("r")),
        Hypothesis("unbiased", "", assumption=UnbiasedSampling()),
        Hypothesis("variance", "", assumption=BoundedVariance("sigma")),
        Hypothesis("step", "", assumption=ShortStep("L")),
        Hypothesis("irrational", "", relation="r < R <= 2*sqrt(kappa)*sigma"),
    ),
)
FUNCTION = {"minimiser": 1, "mu": F(1, 4), "L": 1}
START = F(3507, 1000)
NUMBERS = ("function", "eta", "R", "R2", "r", "sigma2", "start", "noise", "steps", "left_value", "right_value")
BOUNDS = (("r",), ("sigma2",))  # if they are wider, the certificate is still true


def step(x: Fraction) -> Fraction:
    """x - f'(x), with eta = 1/L = 1 and the slopes of FUNCTION."""
    return F(1) if x < 1 else 1 + F(3, 4) * (x - 1)


def chain(rational: bool = True, start: Fraction = START) -> dict[str, Any]:
    """From about R to {0, y}, and from there with noise of standard deviation 2: E (x^2)^2 > R^2."""
    square = START**2 if rational else F(123, 10)
    mean = step(start)
    y = (mean**2 + 4) / mean  # so that the variance is 4
    noise = {
        start: [(1 - mean / y, F(0)), (mean / y, y)],
        **{x: [(F(1, 2), step(x) - 2), (F(1, 2), step(x) + 2)] for x in (F(0), y)},
    }
    left = (1 - mean / y) * (step(F(0)) ** 2 + 4) + mean / y * (step(y) ** 2 + 4)
    radius = {"R": START} if rational else {"R2": square}
    return certificate.chain_certificate(CLAIM, FUNCTION, 1, 1, 4, start, noise, 2, left, **radius)


CHAINS = {"rational": chain(), "irrational": chain(rational=False, start=F(7, 2))}


@pytest.mark.parametrize("name", CHAINS)
def test_valid_certificates(name: str) -> None:
    report = verifier.verify(CHAINS[name])
    assert report.valid, report.lines
    assert sum("hypothesis" in line for line in report.lines) == len(CLAIM.hypotheses)
    assert certificate.differences(CHAINS[name], CLAIM) == ()
    assert F(CHAINS[name]["left_value"]) > F(CHAINS[name]["right_value"]) > 12


@pytest.mark.parametrize("name", CHAINS)
def test_no_number_can_be_changed(name: str) -> None:
    original = CHAINS[name]
    for path, text in strings(original):
        for other in other_numbers(str(text)) if path[0] in NUMBERS else ():
            if same_number(other, str(text)) or (path in BOUNDS and F(other) > F(text)):
                continue
            assert verdict(edit(original, path, other)) in ("invalid", "malformed"), (path, other)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("function", "mu"), "0", "0 < mu = 0"),
        (("function", "mu"), "2", "0 < mu = 2 <= L"),
        (("function", "L"), "2", "0 < eta = 1 <= 1/L"),
        (("function", "minimiser"), "2", "|minimiser| = 2 <= r"),
        (("sigma2",), "3", "the variance 4 <= eta^2 sigma2 = 3"),
        (("sigma2",), "5", "at x = R"),
        (("start",), "4", "satisfies x^2 <= R^2"),
        (("steps",), 1, "every listed point is reached"),
        (("steps",), 3, "every point reached before the last step is listed, but not"),
        (("noise", 1, "outcomes", 0, 0), "1/3", "the probabilities are positive and sum to 1"),
        (("noise", 1, "outcomes"), [["1", "1"], ["1/2", "1"], ["-1/2", "1"]], "the probabilities are positive"),
        (("noise", 1, "outcomes", 0, 1), "-2", "the mean"),
        (("noise", 1, "outcomes"), [], "the probabilities are positive"),
        (("left_value",), "13", "left_value"),
        (("hypotheses", 0, "assumption"), "Convex", "unknown here"),
        (("hypotheses", 0, "assumption"), None, "neither a relation nor an assumption"),
        (("hypotheses", 0, "constant"), "L", "unknown here"),
        (("hypotheses", 0, "of"), "sample", "unknown here"),
        (("hypotheses", 2, "relation"), "mu >= L", "mu >= L"),
        (("hypotheses", 2, "relation"), "nothing >= L", "has no value"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(CHAINS["rational"], path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_a_run_that_stays_inside_refutes_nothing() -> None:
    still = certificate.chain_certificate(CLAIM, FUNCTION, 1, 1, 4, 1, {1: [(1, 1)]}, 5, 1, R=4)
    report = verifier.verify(still)
    assert [line for line in report.lines if line.startswith("FAIL")] == ["FAIL  E (x^5)^2 = 1 <= R^2 = 16"]


def test_no_field_can_be_left_out_or_added() -> None:
    for original in CHAINS.values():
        for field in original:
            assert verdict({k: v for k, v in original.items() if k != field}) == "malformed", field
        for more in ({"more": 1}, {"R": "4", "R2": "16"}, {"instance": {}}, {"note": 3}):
            assert verdict({**original, **more}) == "malformed"
        for path in (("function",), ("noise", 0), ("hypotheses", 0)):
            assert verdict(edit(original, path, {**at_path(original, path), "more": 1})) == "malformed"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("noise",), {}),
        (("noise", 0, "outcomes", 0), ["1/2"]),
        (("noise", 0, "outcomes", 0), {"p": 1}),
        (("noise", 1, "at"), "3507/1000"),
        (("steps",), 10**9),
        (("steps",), 0),
        (("R",), "-1"),
        (("noise", 0, "outcomes"), [["1/2", "9" * 4000]] * 20),
        (("noise", 0, "outcomes"), [["1/20001", "1"]] * 20001),
    ],
)
def test_malformed_fields(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(CHAINS["rational"], path, value)) == "malformed"


PATHS = sorted({path[:cut] for path, _ in strings(CHAINS["rational"]) for cut in range(1, len(path) + 1)}, key=repr)


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=200, deadline=None)
def test_rubbish_never_raises(path: tuple[Any, ...], value: Any) -> None:
    outcome = verdict(edit(CHAINS["rational"], path, value))
    if path[0] not in ("claim", "statement", "hypotheses", "r", "sigma2"):
        old = at_path(CHAINS["rational"], path)
        assert outcome != "valid" or same_number(str(value), str(old))


fractions = rationals(-4, 4, 12)


@given(fractions, fractions, fractions.map(abs))
@settings(max_examples=300, deadline=None)
def test_the_sign_of_a_sum_with_a_root(p: Fraction, q: Fraction, square: Fraction) -> None:
    found = sign(p, q, square)
    scale = 10**60
    low, high = sorted(q * F(math.isqrt(int(square * scale**2)) + i, scale) for i in (0, 1))
    if p + low > 0 or p + high < 0:
        assert found == (1 if p + low > 0 else -1)
    else:  # within 1e-59 of zero, with small numbers: it is zero
        assert (found == 0) == (p * p == q * q * square and p * q <= 0)
    if q * q * square == p * p and p * q <= 0:
        assert found == 0


@given(
    fractions,
    rationals(F(1, 8), 1, 8),
    rationals(1, 2, 8),
    rationals(F(1, 8), F(1, 2), 8),
    fractions.map(abs),
    rationals(0, 16, 6),
)
@settings(max_examples=150, deadline=None)
def test_one_step_stability_is_that_of_a_fine_grid(
    a: Fraction, mu: Fraction, L: Fraction, eta: Fraction, sigma2: Fraction, square: Fraction
) -> None:
    f, checks = PiecewiseQuadratic(a, mu, L), Checks()
    check_one_step(checks, f, eta, sigma2, square)
    R = F(math.isqrt(int(square * 10**24)), 10**12)  # just below the root
    grid = [R * F(i, 8) for i in range(-8, 9)] + ([a] if abs(a) <= R else [])
    worst = max((x - eta * f.gradient(x)) ** 2 for x in grid) + eta**2 * sigma2
    if checks.valid:
        assert worst <= square
    elif worst <= square:  # the exact maximum is at R itself, out of the grid's reach by 1e-12
        assert worst > square - F(1, 10**9)


@given(st.integers(1, 4), st.lists(st.integers(-3, 3), min_size=2, max_size=3, unique=True))
@settings(max_examples=40, deadline=None)
def test_the_second_moment_is_that_of_every_path(steps: int, moves: list[int]) -> None:
    """On f with mu = L = 1 and eta = 1 the next iterate is the minimiser 0 plus noise, or here any law at all."""
    points = {F(m) for m in moves} | {F(0)}
    law = tuple((F(i + 1, sum(range(1, len(moves) + 1))), F(m)) for i, m in enumerate(moves))
    noise = {x: tuple((p, y if x != y else -y) for p, y in law) for x in points | {-x for x in points}}
    expected = F(0)
    for choice in itertools.product(range(len(law)), repeat=steps):
        x, mass = F(0), F(1)
        for c in choice:
            p, x_next = noise[x][c]
            x, mass = x_next, mass * p
        expected += mass * x**2
    assert check_run(Checks(), noise, F(0), steps) == expected
