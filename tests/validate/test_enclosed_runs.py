"""Long runs without draws, whose fractions outgrow what can be checked: enclosed, and certified as such."""

from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import local
from theory import claim
from theory.arithmetic import balls, to_element
from validate import verifier
from validate.breaks import certificate_of, valid_certificate
from validate.instances import read_instance
from validate.instances.pool import Drawn
from validate.instances.seen import enclosed, measured
from validate.play import ENCLOSED, Play

CURVED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/(4*L*H)")
RESTS = claim("rests", "norm(x[k] - xstar) <= 10*eta*max_n(norm(grad(f_n, xstar)))", of=local, assuming=CURVED)
"""False: clients of curvatures 1 and 1/2 lead t/6 away, t = eta*H, which is more if there are many turns."""
EQUAL = claim("equal", "norm2(x[k] - xstar) <= norm2(x[k] - xstar)", of=local, assuming=CURVED)
"""True by nothing: both sides are equal."""


def run(turns: int, rounds: int, curvature: F = F(1, 2)) -> Drawn:
    """Two clients that are least on either side of 0, from 0, with the longest step."""
    eta, L, mu = F(1, 4 * turns), F(1), min(F(1), curvature)
    data = {
        "algorithm": "local",
        "parameters": {"eta": str(eta), "H": turns},
        "problem": {"clients": [[{"h": "1", "b": "1"}], [{"h": str(curvature), "b": "-1"}]]},
        "start": ["0"],
        "rounds": rounds,
    }
    return Drawn(read_instance(data, local), {"L": L, "mu": mu}, {"eta": eta, "H": F(turns), "L": L, "mu": mu})


def test_a_break_in_a_long_run_is_certified_by_intervals_and_only_so():
    one = run(1024, 12)
    assert measured(RESTS, one) is None  # its fractions are too long
    seen = enclosed(RESTS, one)
    assert seen is not None
    made = valid_certificate(RESTS, seen, seen.measured.broken[-1], "pool", True)
    assert made["by"] == "intervals"
    assert verifier.verify(made).valid
    played = {**made, "by": "play"}
    with pytest.raises(ValueError, match=r"too long|too many"):
        verifier.verify(played)
    assert not verifier.verify({**made, "left": {"lower": "1", "upper": "1"}}).valid
    moved = {**made, "parameters": {**made["parameters"], "eta": "1/4000"}}  # longer than 1/(4*L*H)
    assert not verifier.verify(moved).valid


def test_a_shorter_run_is_the_same_by_fractions_and_by_intervals():
    one = run(400, 1)
    seen = measured(RESTS, one)
    assert seen is not None
    row = seen.measured.broken[0]
    for by in ("play", "intervals"):
        assert verifier.verify(certificate_of(RESTS, seen, row, "pool", True, by)).valid


def test_intervals_never_break_what_is_equal():
    one = run(1024, 12)
    assert enclosed(EQUAL, one) is None
    seen = enclosed(RESTS, one)
    assert seen is not None
    made = certificate_of(RESTS, seen, seen.measured.broken[-1], "pool", True, "intervals")
    equal = {**made, "claim": EQUAL.id, "statement": EQUAL.statement, "right": made["left"]}
    assert not verifier.verify(equal).valid


@settings(max_examples=30, deadline=None)
@given(
    turns=st.integers(1, 40),
    rounds=st.integers(1, 30),
    curvature=st.fractions(F(1, 8), F(1), max_denominator=16),
)
def test_what_is_enclosed_has_the_exact_run_in_it(turns, rounds, curvature):
    one = run(turns, rounds, curvature)
    exact, loose = Play(one.instance), Play(one.instance, precision=128, enclosed=True)
    ((_, state),) = exact.law(rounds)
    ((_, ball),) = loose.law(rounds)
    with balls(4000):
        inside = to_element(ball[0][0])
        number = state[0][0]
        assert inside == number or inside.contains(number)
        long = number.height_bits() > ENCLOSED
        assert (type(ball[0][0]) is type(number)) or long


def test_a_random_run_is_not_enclosed():
    from tests.rounds import local_sgd

    noisy = claim("noisy", "E(norm2(x[1] - x0)) <= eta", of=local_sgd, assuming=("smooth(f_ni, L)",))
    made = run(3, 1)
    data = {**made.instance.to_json(), "algorithm": "local_sgd"}
    one = Drawn(read_instance(data, local_sgd), {"L": F(1)}, dict(made.values))
    assert enclosed(noisy, one) is None
