"""Claims that say what they mean on an instance: measured, certified, asserted; by play, by runs, by one's own code.

The runs have fixed seeds; over seeds a true claim fails a test here with probability at most 1e-6.
"""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language import noise_ball, scaffold, schedules, vectors
from tests.rounds import descent
from theory import claim
from theory.domain import Domain
from validate import ClaimBroken, HypothesisViolated, assert_claim, certificate, certify, measure
from validate.instances.occasion import occasion
from validate.instances.pool import drawn

LANGUAGE = Path(__file__).parents[1] / "language"
ONE_STEP, LOST = noise_ball.ONE_STEP, noise_ball.LOST_FACTOR
SGD: dict[str, Any] = {
    "parameters": {"eta": "1/4"},
    "problem": {"clients": [[{"h": 1, "a": 1}, {"h": 1, "a": -1}], [{"h": 2, "a": 3}]]},
    "start": 5,
    "rounds": 2,
}
# at the minimiser of f where the samples differ: x stays there in the mean only
NOISE = {
    "parameters": {"eta": "1/8"},
    "problem": {"clients": [[{"h": 1, "a": 1}, {"h": 1, "a": -1}]]},
    "start": 0,
    "rounds": 9,
}
DRIFT = {
    "parameters": {"eta": "1/4", "H": 2, "S": 1},
    "problem": {"clients": [[{"h": 1, "a": 1}], [{"h": 1, "a": -1}]]},
    "start": 0,
    "rounds": 1,
}


DESCENT = claim(
    "descent", "norm2(x[k] - xstar) <= (1 - eta*mu)**k*norm2(x0 - xstar)", of=descent, paper="tests",
    assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
)  # fmt: skip
STEPS = {
    "parameters": {"eta": "1/2"}, "problem": {"clients": [[{"H": [[1, 0], [0, 2]], "b": [0, 0]}]]}, "start": [1, 1],
    "rounds": 3,
}  # fmt: skip


# --- both sides ------------------------------------------------------------------------------------------------------


def test_both_sides_by_hand() -> None:
    """x_k = (2^-k, 0) for k >= 1, against (1 - 1/2)^k 2."""
    found = measure(DESCENT, STEPS)
    assert found.left.tolist() == [Fraction(2), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64)]
    assert found.right.tolist() == [Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 4)]
    assert found.index["k"].tolist() == [0, 1, 2, 3]
    assert found.parameters == {"eta": Fraction(1, 2), "L": 2, "mu": 1}
    assert (found.claim, found.tightness, found.index_at(found.worst)) == ("tests/descent", 1.0, {"k": 0})
    assert not found.broken.any()


def test_worse_constants_and_ids_and_text() -> None:
    worse = measure(DESCENT, {**STEPS, "constants": {"mu": "1/2"}})
    assert worse.right[1] == Fraction(3, 2)
    assert measure(f"{LANGUAGE / 'noise_ball.py'}:one-step", json.dumps(SGD)).left.tolist() == (
        measure(ONE_STEP, SGD).left.tolist()
    )


def test_a_root_is_rounded_in_the_claims_favour() -> None:
    for relation, up in (("<=", True), (">=", False)):
        root = claim("root", f"norm(x) {relation} sqrt(2)", vectors=("x",))
        found = measure(root, {"vectors": {"x": [1, 1]}})
        assert not found.broken.any()
        assert (found.right[0] ** 2 > 2) is up
        assert (found.left[0] ** 2 < 2) is up
        assert abs(float(found.right[0]) - 2**0.5) < 1e-15


def test_all_instances_of_the_pool_are_measured_as_the_pool_has_them() -> None:
    for one in (ONE_STEP, scaffold.STAYS, vectors.YOUNG, vectors.COCOERCIVE, *schedules.PAPER.claims[:1]):
        for seed in range(12):
            here = drawn(one, seed)
            if here is None:
                continue
            at = occasion(one, here)
            assert at.unmet == (), (one.id, seed)
            constants = {n: _json(v) for n, v in here.constants.items() if n not in ("K", "N", "d")}
            again = occasion(one, {**here.instance.to_json(), "constants": constants})
            assert again.sides().left.tolist() == at.sides().left.tolist()
            assert again.sides().right.tolist() == at.sides().right.tolist()


def _json(value: Any) -> Any:
    entries = getattr(value, "values", value)
    if isinstance(entries, tuple):
        return {"k": list(map(str, entries))} if entries is not value else [_json(v) for v in entries]
    return str(value)


@pytest.mark.parametrize(
    ("named", "instance", "words"),
    [
        (DESCENT, {**STEPS, "parameters": {"eta": 1}}, "violates 'eta <= 1/L'"),
        (DESCENT, {**STEPS, "algorithm": "tests/other"}, "algorithm"),
        (DESCENT, {**STEPS, "parameters": {}}, "eta"),
        (DESCENT, {**STEPS, "constants": {"nu": 1}}, "nu"),
        (DESCENT, 5, "not to a int"),
        (DESCENT, "{", "no JSON"),
        (vectors.YOUNG, {"vectors": {"a": [1]}, "constants": {"c": 1}}, "free vector b"),
        (vectors.YOUNG, {"vectors": {"a": [1], "b": [1]}}, "c in"),
        (vectors.YOUNG, {"vectors": {"a": [1], "b": [1]}, "constants": 3}, "constants"),
    ],
)  # fmt: skip
def test_bad_instances_are_refused_in_a_word(named: Any, instance: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        measure(named, instance)


# --- certificates ----------------------------------------------------------------------------------------------------


def test_an_instance_that_breaks_a_claim_becomes_a_certificate(tmp_path: Path) -> None:
    path = certify(scaffold.LEAVES, DRIFT, tmp_path)
    assert certificate.verify(path).valid
    assert certificate.differences(certificate.read(path), scaffold.LEAVES) == ()
    with pytest.raises(ValueError, match="not broken"):
        certify(scaffold.STAYS, {**DRIFT, "parameters": {"eta": "1/4", "eta_g": 1, "H": 2, "S": 1}}, tmp_path)
    with pytest.raises(ValueError, match="violates"):
        certify(scaffold.LEAVES, {**DRIFT, "start": 1}, tmp_path)


# --- assertions ------------------------------------------------------------------------------------------------------


def test_an_assertion_passes_and_says_what_it_compared(assert_claim: Any) -> None:
    held = assert_claim(ONE_STEP, SGD)
    assert (held.claim, held.cases, held.exact) == ("noise-ball/one-step", 2, True)
    assert held.tightness == pytest.approx(max(113 / 181, (2857 / 2048) / (573 / 256)))


def test_a_break_shows_both_sides_the_instance_and_the_hypotheses() -> None:
    with pytest.raises(ClaimBroken) as caught:
        assert_claim(scaffold.LEAVES, DRIFT)
    text = str(caught.value)
    for part in ("exact arithmetic", "claimed: ", "left side:  49/256", "right side: 0", "index: k = 1", "H = 2"):
        assert part in text
    for assumption in scaffold.LEAVES.assuming:
        assert f"holds: {assumption}" in text


def test_violated_hypotheses() -> None:
    long = {**SGD, "parameters": {"eta": 1}}
    with pytest.raises(HypothesisViolated, match=r"VIOLATED: eta <= 1/\(2\*L\)"):
        assert_claim(ONE_STEP, long)
    with pytest.raises(pytest.skip.Exception, match="violates"):
        assert_claim(ONE_STEP, long, on_violation="skip")
    flat = {"parameters": {"eta": 1}, "problem": {"clients": [[{"h": 0, "b": 0}]]}, "start": 1, "rounds": 1}
    with pytest.raises(HypothesisViolated, match="strongly_convex"):
        assert_claim(DESCENT, flat)
    standing = replace(DESCENT, assuming=DESCENT.assuming[:2], standing=("eta <= 1/L",))
    with pytest.raises(HypothesisViolated, match="fixed elsewhere"):
        assert_claim(standing, {**STEPS, "parameters": {"eta": 1}})


@settings(max_examples=25, deadline=None)
@given(eta=st.fractions(Fraction(1, 50), 1), a=st.integers(-5, 5), start=st.integers(-5, 5))
def test_a_property_of_everything_that_satisfies_the_hypotheses(eta: Fraction, a: int, start: int) -> None:
    clients = [[{"h": 1, "a": a}, {"h": 2, "a": -a}], [{"h": 1, "a": 3}]]
    instance = {"parameters": {"eta": str(eta)}, "problem": {"clients": clients}, "start": start, "rounds": 2}
    assert_claim(ONE_STEP, instance, on_violation="reject")


# --- runs ------------------------------------------------------------------------------------------------------------


def sgd(*, problem: Any, parameters: Any, start: Any, rounds: int, seed: int, scale: float = 1.0) -> Any:
    """Parallel SGD as a reader might have written it."""
    rng, x = np.random.default_rng(seed), start
    found = [x]
    for _ in range(rounds):
        gradients = []
        for n, count in enumerate(problem.counts):
            i = rng.integers(count)
            gradients.append(problem.hessian[n, i] @ x - problem.linear[n, i])
        x = x - scale * parameters["eta"] * np.mean(gradients, axis=0)
        found.append(x)
    return np.array(found)


def test_runs_of_the_simulator_and_of_ones_own_code_agree_with_what_is_exact() -> None:
    exact = assert_claim(ONE_STEP, SGD)
    for implementation in (None, sgd):
        held = assert_claim(ONE_STEP, SGD, runs=3000, implementation=implementation)
        assert (held.cases, held.exact) == (2, False)
        assert held.tightness == pytest.approx(exact.tightness, rel=0.05)


def test_an_implementation_with_a_slip_is_found() -> None:
    def backwards(**given: Any) -> Any:
        return {"x": sgd(**given, scale=-1.0)}

    with pytest.raises(ClaimBroken, match="runs of the implementation"):
        assert_claim(ONE_STEP, SGD, runs=300, implementation=backwards)
    with pytest.raises(ClaimBroken, match="3 runs of the implementation"):
        assert_claim(ONE_STEP, SGD, runs=3, implementation=lambda **given: np.full((3, 1), np.nan))


def test_a_false_claim_is_found_by_runs() -> None:
    """The noise stays about eta sigma2/2 = 1/16, and 2 eta^2 sigma2 = 1/32 is claimed."""
    with pytest.raises(ClaimBroken, match="limits of the difference"):
        assert_claim(LOST, NOISE, runs=4000)
    with pytest.raises(ClaimBroken, match="exact"):
        assert_claim(LOST, {**NOISE, "rounds": 4})


def test_few_runs_do_not_tell() -> None:
    with pytest.raises(ClaimBroken, match="more of them may"):
        assert_claim(ONE_STEP, SGD, runs=2)


def test_an_algorithm_that_draws_nothing_needs_one_run() -> None:
    def mine(*, problem: Any, parameters: Any, start: Any, rounds: int, seed: int) -> Any:
        states = [start]
        for _ in range(rounds):
            states.append(states[-1] - parameters["eta"] * problem.gradient(states[-1]))
        return states

    assert assert_claim(DESCENT, STEPS, implementation=mine).cases == 4
    with pytest.raises(ClaimBroken, match="is broken by 1 runs"):
        assert_claim(DESCENT, STEPS, implementation=lambda **given: [2 * x for x in mine(**given)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 1}, "runs"),
        ({"implementation": sgd}, "runs=None"),
        ({"runs": 10, "error_probability": 0.7}, "error_probability"),
        ({"runs": 10, "implementation": lambda **_: np.zeros((2, 1))}, "shape"),
        ({"runs": 10, "implementation": lambda **_: {"y": 1}}, "not x"),
        ({"on_violation": "perhaps"}, "on_violation"),
    ],
)
def test_bad_arguments_of_assertions(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        assert_claim(ONE_STEP, SGD, **options)


def test_what_runs_do_not_decide_is_refused() -> None:
    equal = replace(ONE_STEP, statement="E(norm2(x[k])) == 1")
    with pytest.raises(ValueError, match="equality"):
        assert_claim(equal, SGD, runs=10)
    rooted = replace(ONE_STEP, statement="sqrt(E(norm2(x[k]))) <= 100")
    with pytest.raises(ValueError, match="single numbers"):
        assert_claim(rooted, SGD, runs=10)
    with pytest.raises(ValueError, match="nothing to run"):
        assert_claim(vectors.YOUNG, {"vectors": {"a": [1], "b": [1]}, "constants": {"c": 1}}, runs=10)
    flat = {**SGD, "problem": {"clients": [[{"H": [[1, 0], [0, 0]], "b": [0, 0]}]]}, "start": [1, 1]}
    near = claim("near", "E(norm2(x[k] - xstar)) <= 100", of=ONE_STEP.of)
    assert assert_claim(near, flat).exact
    with pytest.raises(ValueError, match=r"speaks of xstar, of which runs need one value.*leave out runs"):
        assert_claim(near, flat, runs=10)


def test_what_is_claimed_of_every_outcome_has_to_hold_in_every_run() -> None:
    inside = replace(ONE_STEP, statement="norm2(x[k]) <= R**2", assuming=())
    assert assert_claim(inside, {**SGD, "constants": {"R": 100}}, runs=50).cases == 3
    with pytest.raises(ClaimBroken):
        assert_claim(inside, {**SGD, "constants": {"R": 4}}, runs=50)


def test_domains_that_the_claim_gives() -> None:
    narrow = replace(DESCENT, parameters={"eta": Domain(0, Fraction(1, 4))})
    with pytest.raises(ValueError, match="violates 'eta in "):
        measure(narrow, STEPS)
