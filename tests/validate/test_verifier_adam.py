"""Certificates of kind "open-adam": valid ones, numbers changed, rubbish, and the run in another arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from theory.assumptions import (
    BoundedStochasticGradient,
    MinimisersInBall,
    ShortStep,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Hypothesis
from validate import certificate, verifier
from validate.verifier import open_adam
from validate.verifier.checks import Checks
from validate.verifier.intervals import Interval

F = Fraction
HYPOTHESES = (
    Hypothesis("strongly convex", "", assumption=StronglyConvex("mu")),
    Hypothesis("smooth", "", assumption=Smooth("L")),
    Hypothesis("ball", "", assumption=MinimisersInBall("r")),
    Hypothesis("unbiased", "", assumption=UnbiasedSampling()),
    Hypothesis("bounded", "", assumption=BoundedStochasticGradient("sigma")),
    Hypothesis("step", "", assumption=ShortStep("L")),
    Hypothesis("betas", "", relation="beta1**2 < beta2"),
)
DEFINITIONS = {
    "kappa": "L/mu",
    "s": "sqrt(eps + sigma**2)",
    "C1": "1 - 2*mu*eta/s",
    "C2": "2*mu*eta**2*sigma**2*d/(s*sqrt(eps))*(1+beta1)/(1-beta1)"
    " + (L/2 + L*beta1/(1-beta1))*eta**2*d/((1-beta2)*(1-beta1**2/beta2))",
}
PARAMETERS = ("mu", "L", "eta", "beta1", "beta2", "eps", "sigma", "d", "r")
CONTRACTION = open_claim(
    "lemma-5/after-communication",
    (*HYPOTHESES, Hypothesis("C1", "", relation="0 < C1 < 1"), Hypothesis("kappa", "", relation="kappa >= 1")),
    "lyapunov_next",
    right="C1*lyapunov + C2",
    definitions=DEFINITIONS,
    parameters=PARAMETERS,
)
INNER = open_claim(
    "eq22/after-communication",
    HYPOTHESES,
    "I1",
    right="beta1*A_previous + beta1*L/eta*squared_step",
    parameters=PARAMETERS,
)
BOTH_WALK_LEFT = [{"h": 1, "a": F(-1, 2)}, {"h": 1, "a": -1}]


def in_decimals(
    algorithm: dict[str, Any],
    clients: list[dict[str, Any]],
    sigma: Fraction,
    steps: int,
    start: Fraction,
    tested: int = 0,
) -> dict[str, Decimal]:
    """The same run and names in 60 decimals; client 1 alone is selected."""
    with localcontext() as context:
        context.prec = 60

        def number(value: Any) -> Decimal:
            return Decimal(F(value).numerator) / Decimal(F(value).denominator)

        eta, beta1, beta2, eps = (number(algorithm[key]) for key in ("eta", "beta1", "beta2", "eps"))
        h, a = ([number(c[key]) for c in clients] for key in ("h", "a"))
        x, m, v = [number(start)] * len(h), [Decimal(0)] * len(h), [Decimal(0)] * len(h)

        def walk(i: int) -> None:
            g = h[i] * (x[i] - a[i])
            m[i] = beta1 * m[i] + (1 - beta1) * g
            v[i] = max(v[i], beta2 * v[i] + (1 - beta2) * g * g)
            x[i] -= eta * m[i] / (eps + v[i]).sqrt()

        for _ in range(steps):
            for i in range(len(h)):
                walk(i)
        n, b, c = tested, eta * number(sigma) ** 2 / (1 - beta1), eta * beta1 / (1 - beta1)
        before, now = x[n], x[1]

        def energy(at: Decimal, previous: Decimal) -> Decimal:
            root = (eps + v[n]).sqrt()
            return h[n] / 2 * (at - a[n]) ** 2 + b / root - c * h[n] * (previous - a[n]) * m[n] / root

        scaled = m[n] / (eps + v[n]).sqrt()
        found = {
            "lyapunov": energy(now, before),
            "A_previous": -h[n] * (before - a[n]) * scaled,
            "I1": -beta1 * h[n] * (now - a[n]) * scaled,
            "squared_step": (now - before) ** 2,
            "weighted_gradient": (h[n] * (now - a[n])) ** 2 / (eps + v[n]).sqrt(),
        }
        root = 1 / (eps + v[n]).sqrt()
        x[n] = now
        walk(n)
        found["lyapunov_next"] = energy(x[n], now)
        found["lyapunov_increase"] = found["lyapunov_next"] - found["lyapunov"]
        found["inverse_root_drop"] = root - 1 / (eps + v[n]).sqrt()
        return found


def contraction() -> dict[str, Any]:
    """Lemma 5: the tested client still moves left when the average has put it at its minimiser."""
    algorithm = {"eta": F(1, 256), "beta1": F(1, 2), "beta2": F(1, 2), "eps": 1}
    names = in_decimals(algorithm, BOTH_WALK_LEFT, F(1), 240, F(0))
    eta = Decimal(1) / 256
    C1, C2 = 1 - 2 * eta / Decimal(2).sqrt(), 2 * eta**2 / Decimal(2).sqrt() * 3 + Decimal("1.5") * 4 * eta**2
    return certificate.open_adam_certificate(
        CONTRACTION, algorithm, BOTH_WALK_LEFT, 0, 240, [1], 0,
        {"mu": 1, "L": 1, "sigma": 1, "d": 1, "r": 1, **algorithm},
        F(names["lyapunov_next"]), F(C1 * names["lyapunov"] + C2),
    )  # fmt: skip


def inner() -> dict[str, Any]:
    """(22): the average moves the tested client by less than its own step, in the direction of its own step."""
    algorithm = {"eta": F(1, 3), "beta1": F(2, 5), "beta2": F(1, 2), "eps": F(1, 3)}
    names = in_decimals(algorithm, BOTH_WALK_LEFT, F(1), 2, F(0))
    right = Decimal("0.4") * names["A_previous"] + Decimal("1.2") * names["squared_step"]
    return certificate.open_adam_certificate(
        INNER, algorithm, BOTH_WALK_LEFT, 0, 2, [1], 0,
        {"mu": 1, "L": 1, "sigma": 1, "d": 1, "r": 1, **algorithm}, F(names["I1"]), F(right),
    )  # fmt: skip


CONTRACTED, SHORT = contraction(), inner()


@pytest.mark.parametrize("made", [CONTRACTED, SHORT], ids=["lemma 5", "(22)"])
def test_valid_certificates(made: dict[str, Any]) -> None:
    report = verifier.verify(made)
    assert report.valid, report.lines
    assert report.lines[-1].endswith("is false")
    claim = CONTRACTION if made is CONTRACTED else INNER
    assert sum("hypothesis" in line for line in report.lines) == len(claim.hypotheses)
    assert certificate.differences(made, claim) == ()
    assert certificate.differences({**made, "relation": "<"}, claim) == ("relation",)


def test_no_number_can_be_changed() -> None:
    numeric = ("algorithm", "clients", "start", "local_steps", "selected", "client", "parameters", "left_value")
    for path, text in strings(SHORT):
        for other in other_numbers(str(text)) if path[0] in (*numeric, "right_value") else ():
            if not same_number(other, str(text)):
                outcome = verdict(edit(SHORT, path, other))
                # mu and sigma are in none of its formulas, r bounds: wider ones leave a true certificate
                free = path in (("parameters", "sigma"), ("parameters", "r")) and F(other) > 1
                free = free or (path == ("parameters", "mu") and 0 < F(other) < 1)
                assert outcome in ("invalid", "malformed") or free, (path, other)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("parameters", "mu"), "0", "0 < mu = 0"),
        (("parameters", "mu"), "2", "0 < mu = 2 <= every h_i"),
        (("parameters", "L"), "1/2", "every h_i <= L = 1/2"),
        (("parameters", "sigma"), "9/10", "at every point that client i visits"),
        (("parameters", "r"), "1/2", "r = 1/2 >= every |a_i|"),
        (("parameters", "d"), "2", "d = 2 is 1"),
        (("parameters", "eta"), "1/2", "eta = 1/2 is that of the algorithm"),
        (("parameters", "lyapunov"), "1", "does not know it"),
        (("algorithm", "eta"), "2", "0 < eta = 2 <= 1/L"),
        (("algorithm", "beta1"), "3/4", "is that of the algorithm"),
        (("algorithm", "beta1"), "-1/4", "0 <= beta1"),
        (("algorithm", "beta2"), "1", "0 < beta2 = 1 < 1"),
        (("algorithm", "eps"), "0", "eps = 0 > 0"),
        (("left_value",), "0.1", "left_value"),
        (("right",), "I1", "not certainly false"),
        (("right",), "1/(I1 - I1)", "divides by zero"),
        (("right",), "sqrt(-1)", "the square root of a negative number"),
        (("right",), "sqrt(missing)", "has no value"),
        (("selected",), [0], "not certainly false"),
        (("hypotheses", 4, "at"), "ball", "unknown here"),
        (("hypotheses", 6, "relation"), "beta1**2 < beta2 - 1/2", "beta1**2 < beta2 - 1/2"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, says: str) -> None:
    report = verifier.verify(edit(SHORT, path, value))
    assert not report.valid
    assert any(line.startswith("FAIL") and says in line for line in report.lines), report.lines


def test_the_contraction_factor_must_be_between_zero_and_one() -> None:
    wide = {**SHORT, "algorithm": {**SHORT["algorithm"], "eta": "1", "eps": "1/100"}}
    wide["parameters"] = {**SHORT["parameters"], "eta": "1", "eps": "1/100"}
    lines = verifier.verify(wide).lines
    assert [line for line in lines if line.startswith("FAIL")] == [lines[-1]]
    assert "0 < C1 < 1" in lines[-1]


def test_a_gradient_may_attain_its_bound_at_the_start() -> None:
    """At 1/3, which no binary fraction is."""
    thirds = edit(edit(SHORT, ("algorithm", "eps"), "1"), ("parameters", "eps"), "1")
    thirds = {**thirds, "clients": [{"h": "1", "a": "-1/6"}, {"h": "1", "a": "-1/3"}]}
    for sigma, holds in (("1/3", True), ("33333/100000", False)):
        report = verifier.verify(edit(thirds, ("parameters", "sigma"), sigma))
        line = next(line for line in report.lines if "every point" in line)
        assert line.startswith("ok") is holds


@pytest.mark.parametrize(("tested", "steps"), [(0, 1), (0, 7), (1, 4)])
def test_the_names_are_those_of_another_arithmetic(tested: int, steps: int) -> None:
    algorithm = {"eta": F(1, 7), "beta1": F(1, 3), "beta2": F(2, 3), "eps": F(1, 10)}
    clients = [{"h": F(3, 2), "a": F(-1, 2)}, {"h": F(5, 7), "a": F(2, 3)}, {"h": 1, "a": 1}]
    expected = in_decimals(algorithm, clients, F(3), steps, F(2), tested)
    made = [open_adam.Client(F(c["h"]), F(c["a"])) for c in clients]
    settled = open_adam.Algorithm(**algorithm)
    run = open_adam.play(settled, made, F(2), steps, [1], tested)
    found = open_adam.measures(settled, made[tested], run, *open_adam.weights(settled, {"sigma": F(3)}))
    assert set(found) == set(expected)
    for name, value in expected.items():
        low, high = found[name].ends
        assert high - low < F(1, 10**80), name
        assert abs(low - F(value)) < F(1, 10**50), name


def test_the_average_is_that_of_the_selected_clients() -> None:
    made = [open_adam.Client(F(1), F(a)) for a in (0, 1, 5)]
    run = open_adam.play(open_adam.Algorithm(F(1, 2), F(0), F(1, 2), F(1)), made, F(2), 1, [0, 2], 1)
    ends = [path[-1] for path in run.paths]
    both = (ends[0] + ends[2]) / 2
    assert abs(run.now.x.low - both.low) <= 2
    assert (run.now.h, run.now.vhat) == (run.before.h, run.before.vhat)
    assert run.before.x == ends[1]


def test_no_field_can_be_left_out_or_added() -> None:
    for path in ((), ("algorithm",), ("clients", 0), ("left",), ("hypotheses", 0)):
        place = at_path(SHORT, path)
        for field in place:
            if field not in ("definitions", "constant", "of", "at"):
                without = {k: v for k, v in place.items() if k != field}
                assert verdict(edit(SHORT, path, without) if path else without) == "malformed", field
        more = {**place, "more": "1"}
        assert verdict(edit(SHORT, path, more) if path else more) == "malformed"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("clients",), []),
        (("client",), 2),
        (("selected",), [1, 1]),
        (("selected",), [2]),
        (("local_steps",), 0),
        (("local_steps",), 5001),
        (("left", "quantity"), "lyapunov"),
        (("relation",), ">="),
        (("relation",), []),
        (("parameters",), {"mu": "1", "L": "1"}),
        (("definitions",), {"lyapunov": "1"}),
        (("definitions",), {"eta": "1"}),
        (("right",), "sqrt(2, 3)"),
        (("right",), "sqrt(2)**1000"),
        (("right",), "__import__('os')"),
        (("start",), "9" * 4000),
        (("left_value",), "1/2"),
        (("left_value",), 1),
    ],
)
def test_malformed_fields(path: tuple[Any, ...], value: Any) -> None:
    assert verdict(edit(SHORT, path, value)) == "malformed"


PATHS = sorted({path[:cut] for path, _ in strings(SHORT) for cut in range(1, len(path) + 1)}, key=repr)


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rubbish_never_raises(path: tuple[Any, ...], value: Any) -> None:
    outcome = verdict(edit(SHORT, path, value))
    if path[0] not in ("claim", "statement", "hypotheses", "definitions", "parameters", "right"):
        assert outcome != "valid" or same_number(str(value), str(at_path(SHORT, path)))


@given(st.fractions(max_denominator=10**6), st.integers(6, 12))
@settings(max_examples=200, deadline=None)
def test_decimals_are_printed_as_the_verifier_reads_them(value: Fraction, digits: int) -> None:
    checks = Checks()
    printed = certificate.as_decimal(value, "x", digits)
    open_adam.check_rounded(checks, "x", printed, Interval.of(value))
    assert checks.valid or (abs(value - F(printed)) * 2 * 10 ** len(printed.partition(".")[2])) == 1  # a tie
    assert abs(value - F(printed)) <= abs(value) / 10 ** (digits - 1)


@given(st.fractions(max_denominator=10**6), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_a_number_printed_with_few_digits_is_refused_unless_it_is_exact(value: Fraction, digits: int) -> None:
    checks = Checks()
    printed = certificate.as_decimal(value, "x", digits)
    open_adam.check_rounded(checks, "x", printed, Interval.of(value))
    significant = len(printed.replace(".", "").lstrip("-0"))  # 6 where 9.99999 is rounded to 10.0000
    assert not checks.valid or F(printed) == value or significant >= 6


@pytest.mark.parametrize(
    ("value", "printed", "valid"),
    [
        ("1/3", "0.333333", True),
        ("1/3", "0.33333", False),
        ("1/3", "0", False),
        ("1234567/2", "617284", True),
        ("1234567/2", "620000", False),
        ("-1/300000", "-0.00000333333", True),
        ("-1/300000", "-0.000003", False),
        ("1/1000000000000000", "0.0000000000", False),
        ("0", "0", True),
        ("0", "0.000", True),
        ("1/4", "0.25", True),
    ],
)
def test_six_digits_are_needed(value: str, printed: str, valid: bool) -> None:
    checks = Checks()
    open_adam.check_rounded(checks, "x", printed, Interval.of(F(value)))
    assert checks.valid == valid


@pytest.mark.parametrize("side", ["left_value", "right_value"])
def test_a_certificate_may_not_round_its_sides_away(side: str) -> None:
    for digits in range(1, 10):
        value = certificate.as_decimal(F(SHORT[side]), side, digits)
        expected = digits >= 6 or F(value) == F(SHORT[side])
        assert verdict(edit(SHORT, (side,), value)) == ("valid" if expected else "invalid"), value
