"""`fedproof radius`: printed, exact and uniform radii, and whether a theorem applies."""

import math

import pytest

from tests.validate.command_line import call, complaint, printed

pytestmark = pytest.mark.usefixtures("folder")


def settings(**values: object) -> list[str]:
    """The --set options."""
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


SGD = settings(mu="0.1", L=1, r=1, sigma="1/2")
ADAM = {"mu": "1/100", "L": 20, "eta": "1/20", "beta1": "9/10", "beta2": "999/1000", "eps": "1/1000", "sigma": 30}


def test_sgd_at_the_longest_step() -> None:
    found = printed("radius", "sgd", *SGD)
    assert found["applies"] is True
    assert found["printed"] == pytest.approx(1 + math.sqrt(10 * 2.25))
    assert found["exact"] == found["uniform"] == pytest.approx(math.sqrt(5.5 * 1.25))
    assert found["ratio"] == pytest.approx(found["printed"] / found["exact"])
    assert [c["holds"] for c in found["conditions"]] == [True, True]


@pytest.mark.parametrize(
    "values", [{"mu": 2, "L": 1, "r": 1, "sigma": 0}, {"mu": 1, "L": 2, "r": 1, "sigma": 1, "eta": 7}]
)
def test_a_violated_condition_is_said_and_makes_the_status_3(values) -> None:
    found = printed("radius", "sgd", *settings(**values), status=3)
    assert found["applies"] is False
    assert found["exact"] is None
    assert "VIOLATED" in call("radius", "sgd", *settings(**values)).stdout


def test_adam_at_the_paper_s_settings() -> None:
    found = printed("radius", "adam", *settings(**ADAM, d=100, r=1), status=3)
    assert found["applies"] is False
    assert found["printed"] is None
    failed = {c["name"] for c in found["conditions"] if c["holds"] is not True}
    assert {"beta1 < 1/3", "one_minus_kappa_C1 > 0"} <= failed
    assert found["terms"]["C1"] == pytest.approx(1 - 2 * 0.01 / 20 / math.hypot(math.sqrt(1e-3), 30))
    assert found["repaired"] == pytest.approx(1 + 30 / 0.01 + 30 / 20 / math.sqrt(1e-3))


def test_adam_where_the_theorem_applies() -> None:
    inside = {"mu": 1, "L": 1, "eta": 1, "beta1": 0, "beta2": "1/10", "eps": "21/10", "sigma": "7/5", "d": 1, "r": 0}
    found = printed("radius", "adam", *settings(**inside))
    assert found["applies"] is True
    assert found["printed"] <= 1.4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sgd", *settings(mu=1, L=2, r=1)], "sigma"),
        (["sgd", *settings(mu=1, L=2, r=1, sigma=1, nu=3)], "nu"),
        (["sgd", *settings(mu=1, L=2, r=1, sigma=1, N=3)], "N: no radius of sgd depends on it"),
        (["sgd", *settings(mu=1, L=2, r=-1, sigma=1)], "r=-1"),
        (["sgd", *settings(mu=1, L=2, r=1, sigma=1, eta=0)], "eta=0"),
        (["momentum"], "momentum"),
    ],
)
def test_bad_input(arguments: list[str], words: str) -> None:
    assert words in complaint(call("radius", *arguments))


@pytest.mark.parametrize("scale", ["1e300", "1e-300"])
def test_radii_scale_with_their_units_to_the_ends_of_float64(scale: str) -> None:
    one = printed("radius", "sgd", *settings(mu="0.1", L=1, r=1, sigma=3))
    far = printed("radius", "sgd", *settings(mu="0.1", L=1, r=scale, sigma=f"3{scale[1:]}"))
    assert far["exact"] == pytest.approx(one["exact"] * float(scale), rel=1e-14)


def test_a_radius_beyond_float64_is_an_error_without_warnings() -> None:
    said = complaint(call("radius", "sgd", *settings(mu="1e-300", L="1e300", r=1, sigma=1)))
    assert said == (
        "error: the radius at mu=1e-300, L=1e+300, r=1, sigma=1 leaves the range of float64; "
        "choose other units of length and of f"
    )
