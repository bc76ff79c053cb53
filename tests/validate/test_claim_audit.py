"""What an audit tells of a claim: units, dead names and hypotheses, constants, the start; and of an instance."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.language import heavy_ball, lsvrg, noise_ball, proxskip, scaffold, vectors
from tests.validate.command_line import call, complaint, printed
from theory import catalog, claim
from theory.claim import Claim
from theory.papers import algorithms
from theory.program import Algorithm
from theory.sentence import index_of
from validate.audit.claims import audit_claim
from validate.instances.occasion import occasion
from validate.instances.pool import drawn
from validate.instances.units import Unit, units_of

LANGUAGE = Path(__file__).parents[1] / "language"
F = Fraction
EXAMPLES = [
    one
    for paper in (heavy_ball.PAPER, lsvrg.PAPER, noise_ball.PAPER, proxskip.PAPER, scaffold.PAPER, vectors.PAPER)
    for one in paper
]


# --- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.id)
def test_claims_that_anybody_states_scale_alike(one: Claim) -> None:
    found = units_of(one)
    assert (found.conflicts, found.unknown) == ([], [])
    for symbol, unit in {"eta": "x^2 f^-1", "gamma": "x^2 f^-1", "L": "x^-2 f", "mu": "x^-2 f", "beta": "1"}.items():
        if symbol in one.symbols:
            assert str(found.of(symbol)) == unit


def test_sides_that_are_alike_only_if_one_name_has_no_unit_are_not_alike() -> None:
    """With g_k and G in metres, a length is bounded by an area; what may be a chance, or is compared to 1, is not."""
    bounded = ("max_k(abs(g_k)) <= G",)
    (told,) = units_of(claim("area", "sum_k(abs(g_k)) <= G*sum_k(abs(g_k))", assuming=bounded)).conflicts
    assert told.endswith("[g] meets [g]^2")
    for sentence in ("sum_k(abs(g_k)) <= K*G", "sum_k(abs(g_k)) <= a*c*G", "c <= 1", "c <= c*(1 + c)", "c <= 2*a**2"):
        assert not units_of(claim("alike", sentence, assuming=bounded)).conflicts


def test_a_hessian_times_a_gradient_is_no_gradient_at_a_point() -> None:
    """Of quadratics: units tell the lemma whose right side has L**4 for L**2, and neither its repairs nor others."""
    (told,) = units_of(catalog.claim("perm/lemma-12")).conflicts
    assert told.endswith("x^2 meets x^-2 f^2")
    for id in ("perm/lemma-12/corrected", "perm/lemma-11a", "perm/lemma-11b", "perm/proposition-3"):
        assert not units_of(catalog.claim(id)).conflicts


def test_units_of_algorithms() -> None:
    """Of all algorithms that come with the package; Adam's steps are lengths, FedDyn's alpha a curvature."""
    units = {}
    for name in dir(algorithms):
        one = getattr(algorithms, name)
        if isinstance(one, Algorithm):
            found = units_of(claim("none", "norm2(x0) >= 0", of=one))
            assert (found.conflicts, found.unknown) == ([], []), name
            units[name] = {p: str(found.of(p)) for p in one.parameters}
    assert units["fedadam"] == {
        "eta": "x^2 f^-1", "eta_g": "x", "beta1": "1", "beta2": "1", "tau": "x", "H": "1", "S": "1"
    }  # fmt: skip
    assert units["feddyn"]["alpha"] == "x^-2 f"
    assert units["clipped_sgd"]["radius"] == "x^-1 f"


def test_units_are_what_scaling_an_instance_shows() -> None:
    """Points times s, functions times c: both sides move by their units, exactly, on every instance."""
    s, c = F(3), F(2)
    for one in (noise_ball.ONE_STEP, lsvrg.THEOREM, proxskip.THEOREM, vectors.COCOERCIVE):
        found = units_of(one)
        factor = {
            index_of(symbol)[0]: _worth(found.of(index_of(symbol)[0]), s, c)
            for symbol in one.symbols
        }  # fmt: skip
        moved = set()
        for seed in range(1, 30):
            here = drawn(one, seed)
            if here is None or not hasattr(here.instance.problem, "quadratic"):
                continue
            data = here.instance.to_json()
            for client in data["problem"]["clients"]:
                for sample in client:
                    _scale(sample, s, c)
            data["start"] = _times(data["start"], s)
            data["vectors"] = {name: _times(v, s) for name, v in data.get("vectors", {}).items()}
            if "parameters" in data:
                data["parameters"] = {n: _times(v, factor.get(n, F(1))) for n, v in data["parameters"].items()}
            constants = {n: v * factor[n] for n, v in here.constants.items() if isinstance(v, F) and n in factor}
            before = occasion(one, here).sides()
            after = occasion(one, {**data, "constants": {n: str(v) for n, v in constants.items()}})
            assert after.unmet == ()
            sides = after.sides()
            ratios = {
                b / a for a, b in zip([*before.left, *before.right], [*sides.left, *sides.right], strict=True) if a
            }
            moved |= ratios
        assert len(moved) == 1, one.id
        assert moved <= {s**2, s**2 * (c / s**2), c}


def _worth(unit: Unit, s: Fraction, c: Fraction) -> Fraction:
    assert not unit.unknown
    assert unit.x.denominator == unit.f.denominator == 1
    return s**unit.x.numerator * c**unit.f.numerator


def _times(value: object, factor: Fraction) -> object:
    return [_times(v, factor) for v in value] if isinstance(value, list) else str(F(str(value)) * factor)


def _scale(sample: dict[str, object], s: Fraction, c: Fraction) -> None:
    """c f(x/s): of h x^2/2 - b x, or of h (x - a)^2/2."""
    for key in ("H", "h"):
        if key in sample:
            sample[key] = _times(sample[key], c / s**2)
    if "b" in sample:
        sample["b"] = _times(sample["b"], c / s)
    if "a" in sample:
        sample["a"] = _times(sample["a"], s)


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("E(norm2(x[k+1] - xstar)) <= (1 - eta)*E(norm2(x[k] - xstar))", "x^2 f^-1"),
        ("E(norm2(x[k+1] - xstar)) <= E(norm2(x[k] - xstar)) + eta*sigma2/N", "x^2"),
        ("E(f(x[k])) <= norm2(x0)", "f meets x^2"),
        ("E(norm2(x[k])) <= exp(eta)*norm2(x0)", "exp(eta)"),
    ],
)
def test_a_lost_factor_with_a_unit_is_seen(statement: str, place: str) -> None:
    found = audit_claim(replace(noise_ball.ONE_STEP, statement=statement), quick=True)["units"]
    assert found.outcome == "suspicious"
    assert place in found.detail


def test_a_step_that_is_a_number_has_one_unit_only() -> None:
    fixed = replace(noise_ball.ONE_STEP, assuming=(*noise_ball.ASSUMED[:3], "eta <= 1/(2*L)", "eta <= 1"))
    assert "eta <= 1: x^2 f^-1 meets 1" in units_of(fixed).conflicts


# --- names, hypotheses, constants, the start -------------------------------------------------------------------------


def test_an_audit_of_a_true_claim() -> None:
    found = audit_claim(noise_ball.ONE_STEP, quick=True)
    assert found.suspicions == ()
    assert found["hypothesis eta <= 1/(2*L)"].detail.startswith("needed")
    assert found["hypothesis strongly_convex(f, mu)"].outcome == "consistent"
    assert found["constant mu"].detail.startswith("it says no more for a smaller mu: less in ")
    assert found["the start"].outcome == "consistent"
    assert found.units == {"eta": "x^2 f^-1", "L": "x^-2 f", "mu": "x^-2 f"}
    with pytest.raises(KeyError):
        found["the end"]


def test_what_nobody_uses_is_seen() -> None:
    idle = replace(noise_ball.ONE_STEP, where={**noise_ball.NOISE, "rho": "eta*mu"})
    assert audit_claim(idle, quick=True)["names"].detail == "the definition rho is used nowhere"


def test_a_hypothesis_that_follows_from_the_others_is_seen() -> None:
    twice = replace(noise_ball.ONE_STEP, assuming=(*noise_ball.ASSUMED, "eta <= 1/L"))
    found = audit_claim(twice, quick=True)
    assert found["hypothesis eta <= 1/L"].outcome == "suspicious"
    assert found["hypothesis eta <= 1/(2*L)"].outcome != "suspicious"


def test_a_hypothesis_that_nothing_needs_is_not_decided() -> None:
    more = replace(vectors.YOUNG, assuming=("c <= 10",))
    assert audit_claim(more, quick=True)["hypothesis c <= 10"].outcome == "undecided"


def test_a_claim_that_says_more_for_worse_constants_is_seen() -> None:
    """A smaller mu makes this step longer, and the claim with it stronger."""
    odd = claim(
        "odd", "norm2(x[k+1] - xstar) <= eta*mu*norm2(x[k] - xstar)", of=algorithms.gradient_descent,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
    )  # fmt: skip
    found = audit_claim(odd, quick=True)["constant mu"]
    assert found.outcome == "suspicious"
    assert "smaller mu is a constant too" in found.detail


def test_a_claim_that_fails_before_the_first_round_is_seen() -> None:
    odd = replace(noise_ball.NOISE_BALL, statement="E(norm2(x[k] - xstar)) <= (1 - eta*mu)**(k+1)*norm2(x0 - xstar)")
    assert audit_claim(odd, quick=True)["the start"].outcome == "suspicious"


def test_the_command_on_a_claim() -> None:
    target = f"{LANGUAGE / 'vectors.py'}:cocoercive"
    document = printed("audit", target, "--quick")
    assert set(document) == {"id", "units", "checks"}
    assert document["id"] == "vectors/cocoercive"
    assert {entry["outcome"] for entry in document["checks"]} <= {"consistent", "suspicious", "undecided"}
    result = call("audit", target, "--quick")
    assert "unit of L: x^-2 f" in result.stdout
    assert "--ball is for a problem" in complaint(call("audit", target, "--ball", "1"))
    assert "is no sentence" in complaint(call("audit", "fedmim/remark-iv3"))


# --- instances -------------------------------------------------------------------------------------------------------


def test_the_command_on_an_instance() -> None:
    instance = {"problem": {"clients": [[{"h": 1, "a": 1}], [{"h": 3, "a": 0}]]}, "start": 2, "rounds": 1}
    document = printed("audit", "-", given=json.dumps(instance))
    values = {entry["symbol"]: entry["value"] for entry in document["constants"]}
    assert (values["L_client"], values["mu"]) == ("3", "2")
    bent = {"problem": {"clients": [[{"knots": [0], "slopes": [1, 2], "b": 0}]]}, "start": 0}
    assert "quadratics" in complaint(call("audit", "-", given=json.dumps(bent)))


def test_a_vector_with_the_name_of_a_size_has_the_unit_of_points() -> None:
    one = claim("between", "f(a) <= f(b) + dot(grad(f, a), a - b)", vectors=("a", "b"), assuming=("convex(f)",))
    assert not units_of(one).conflicts
