"""Open-fl's claims about Adam on played states: true ones never break, false ones have certificates."""

from __future__ import annotations

import copy
from decimal import Decimal, localcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from validate.papers.open_fl import adam, adam_communication, adam_states
from validate.papers.open_fl.adam_states import AdamScenario

from theory.catalog import claim
from theory.papers.open_fl import adam as claims
from theory.stability.adam_region import required_ratio
from validate import checking, replay
from validate.bounds import compare
from validate.certificate import verify
from validate.survey import Pool, survey

MODULE = SimpleNamespace(cases=adam.cases, special=adam.special)
FALSE = ("lemma-5/after-communication", "eq22/after-communication", "eq25", "eq26")
TRUE = tuple(
    c.label
    for c in claims.CLAIMS
    if c.label not in (*FALSE, "theorem-3/everywhere", "theorem-3/papers-settings", "eq19")
)
VERDICTS = {
    **dict.fromkeys(TRUE, "supported or undecided"),
    "eq20": "proved",
    **dict.fromkeys(FALSE, "refuted"),
    "eq19": "supported or undecided",
    "theorem-3/everywhere": "vacuous",
    "theorem-3/papers-settings": "vacuous",
    "theorem-3/on-the-ball": "supported or undecided",
}


@pytest.fixture(scope="module")
def fresh() -> list[AdamScenario]:
    """States that are not those of the pool."""
    return [
        *adam_states.played(32, 4711),
        *adam_states.contracting(12, 4712),
        *adam_states.in_region(6, 4713),
    ]


@pytest.mark.parametrize("label", TRUE)
def test_true_lines_do_not_break(label: str, fresh: list[AdamScenario]) -> None:
    """Where all hypotheses hold; and the survey is not empty."""
    one = claim(f"open-fl/{label}")
    seen = survey(one, MODULE, Pool((), tuple(fresh)))  # type: ignore[arg-type]
    assert seen.seen >= 6
    assert seen.others == ()


def test_a_line_that_is_too_strong_breaks(fresh: list[AdamScenario]) -> None:
    """The check can fail: (20) with a smaller L, and lemma-5 with a smaller sigma."""
    from dataclasses import replace

    for label, name, factor in (("eq20", "L", 0.9), ("eq22", "L", 0.8), ("eq24", "sigma", 0.3)):
        one, broken = claim(f"open-fl/{label}"), 0
        for scenario in fresh:
            found = adam.cases(one, scenario)
            if found is not None:
                less = replace(found, parameters={**found.parameters, name: found.parameters[name] * factor})
                broken += compare(one, less).broken
        assert broken > 0, label


def test_lemma_5_by_hand(fresh: list[AdamScenario]) -> None:
    """Both sides of (14) on one state, coordinate by coordinate, in plain Python."""
    scenario = next(s for s in fresh if not s.communicated and s.problem.dim > 1 and s.problem.samples > 1)
    found = adam.cases(claim("open-fl/lemma-5"), scenario)
    assert found is not None
    p, rule, state = scenario.parameters, scenario.client.rule, scenario.states.at(5)
    b, c = p["eta"] * p["sigma"] ** 2 / (1 - p["beta1"]), p["eta"] * p["beta1"] / (1 - p["beta1"])
    hessians, linears = scenario.problem.hessian[0], scenario.problem.linear[0]
    mean, aim = hessians.mean(axis=0), linears.mean(axis=0)
    best = np.linalg.solve(mean, aim)

    def value(x: np.ndarray, h: np.ndarray, vhat: np.ndarray, before: np.ndarray) -> float:
        total = float((x - best) @ mean @ (x - best)) / 2
        slope = mean @ before - aim
        for i in range(len(x)):
            root = (rule.eps + vhat[i]) ** 0.5
            total += b / root - c * slope[i] * h[i] / root
        return total

    nexts = []
    for hessian, linear in zip(hessians, linears, strict=True):
        g = hessian @ state.x - linear
        h = rule.beta1 * state.h + (1 - rule.beta1) * g
        vhat = np.maximum(rule.beta2 * state.vhat + (1 - rule.beta2) * g**2, state.vhat)
        nexts.append(value(state.x - rule.step * h / np.sqrt(rule.eps + vhat), h, vhat, state.x))
    assert found.left[5] == pytest.approx(np.mean(nexts), rel=1e-9)
    assert found.parameters["lyapunov"][5] == pytest.approx(
        value(state.x, state.h, state.vhat, state.previous), rel=1e-9
    )


def test_scenarios_satisfy_what_they_say(fresh: list[AdamScenario]) -> None:
    """sigma bounds every sampled gradient where a state has been; in the region, on the whole ball too."""
    rng = np.random.default_rng(0)
    seen = 0
    for scenario in fresh:
        client, dim = scenario.client, scenario.problem.dim
        points = np.vstack([scenario.states.x, scenario.states.previous])
        assert client.largest_gradient(points) <= scenario.sigma * (1 + 1e-12)
        assert scenario.client.rule.step * client.smoothness <= 1 + 1e-9
        if scenario.in_the_ball:
            seen += 1
            p = scenario.parameters
            root = p["eps"] + p["sigma"] ** 2
            ratio = required_ratio(
                p["L"] / p["mu"], p["beta1"], p["beta2"], dim, 2 * p["mu"] * p["eta"] / root**0.5, p["eps"] / root
            )
            assert ratio <= 1
            ball = rng.normal(size=(200, dim))
            ball *= scenario.radius / np.linalg.norm(ball, axis=1, keepdims=True)
            assert client.largest_gradient(ball) <= scenario.sigma * (1 + 1e-12)
            assert (np.linalg.norm(scenario.states.x, axis=1) <= scenario.radius).all()
    assert seen == 6


@pytest.mark.parametrize("label", FALSE)
def test_a_communication_refutes(label: str, tmp_path: Path) -> None:
    one = claim(f"open-fl/{label}")
    evidence, path = adam.special(one, tmp_path)
    assert [e.outcome for e in evidence] == ["refuted"]
    assert path is not None
    assert verify(path).valid
    made = adam_communication.certificate(one)
    for change in ({"local_steps": 3 if label.startswith("lemma") else 40}, {"selected": [0]}, {"left_value": "7"}):
        wrong = {**copy.deepcopy(made), **change}
        assert not verify(wrong).valid, change


def test_the_refutation_of_lemma_5_in_fifty_digits() -> None:
    """The instance played anew, in decimals; x^{k-1} read as the iterate before the average, and as the one before."""
    with localcontext(prec=50):
        _in_decimals()


def _in_decimals() -> None:
    one = claim("open-fl/lemma-5/after-communication")
    instance = adam_communication.INSTANCES[one.label]
    number = {k: Decimal(v.numerator) / Decimal(v.denominator) for k, v in instance.parameters.items()}
    eta, b1, b2, eps, sigma = (number[k] for k in ("eta", "beta1", "beta2", "eps", "sigma"))
    h_of, a_of = (
        [Decimal(v.numerator) / Decimal(v.denominator) for v in values]
        for values in (instance.curvatures, instance.minimisers)
    )
    zero = Decimal(0)
    state = [(zero, zero, zero)] * 2
    before_last = zero

    def step(i: int, x: Decimal, h: Decimal, v: Decimal) -> tuple[Decimal, Decimal, Decimal]:
        g = h_of[i] * (x - a_of[i])
        h, v = b1 * h + (1 - b1) * g, max(b2 * v + (1 - b2) * g * g, v)
        return x - eta * h / (eps + v).sqrt(), h, v

    for _ in range(instance.local_steps):
        before_last = state[0][0]
        state = [step(i, *state[i]) for i in range(2)]
    average = state[1][0]
    after = step(0, average, *state[0][1:])
    b, c = eta * sigma**2 / (1 - b1), eta * b1 / (1 - b1)

    def lyapunov(x: Decimal, h: Decimal, v: Decimal, previous: Decimal) -> Decimal:
        root = (eps + v).sqrt()
        return h_of[0] / 2 * (x - a_of[0]) ** 2 + b / root - c * h_of[0] * (previous - a_of[0]) * h / root

    s = (eps + sigma**2).sqrt()
    C1 = 1 - 2 * number["mu"] * eta / s
    C2 = 2 * number["mu"] * eta**2 * sigma**2 / (eps.sqrt() * s) * (1 + b1) / (1 - b1)
    C2 += (number["L"] / 2 + number["L"] * b1 / (1 - b1)) * eta**2 / ((1 - b2) * (1 - b1**2 / b2))
    left = lyapunov(*after, average)
    for previous in (state[0][0], before_last):
        assert left > C1 * lyapunov(average, *state[0][1:], previous) + C2
    played = adam_communication.play(one, instance)
    assert float(left) == pytest.approx(played.left, rel=1e-12)
    assert float(C1 * lyapunov(average, *state[0][1:], state[0][0]) + C2) == pytest.approx(played.right, rel=1e-12)
    assert played.largest_gradient <= float(instance.sigma)


def test_verdicts(tmp_path: Path) -> None:
    """All claims, over a small pool; then the two proofs line by line."""
    scenarios = (*adam_states.played(8, 1), *adam_states.contracting(3, 2), *adam_states.in_region(8, 3))
    pool = Pool((), scenarios)
    results = {c.id: checking.check_claim(c, MODULE, pool, (), tmp_path) for c in claims.CLAIMS}  # type: ignore[arg-type]
    open_ = {one.id: "supported or undecided" for one in results.values() if one.verdict in ("supported", "undecided")}
    assert {one.id.split("/", 1)[1]: open_.get(one.id, one.verdict) for one in results.values()} == VERDICTS
    assert not any(one.broken for one in results.values() if one.id in open_)
    for label in ("theorem-3/with-moment-factors", "lemma-5/with-moment-factors"):
        found = replay.replay(claim(f"open-fl/{label}"), results=results)
        assert {line.outcome for line in found.lines} <= {"proved", "holds", "undecided"}
        assert found.first_false is None
        follows = [line.follows.answer for line in found.lines if line.follows is not None]
        assert follows
        assert set(follows) == {"follows"}


def test_theorem_3_names_its_three_readings(tmp_path: Path) -> None:
    evidence, _ = adam.special(claim("open-fl/theorem-3"), tmp_path)
    text = " ".join(e.detail for e in evidence)
    for label in ("everywhere", "on-the-ball", "papers-settings", "corrected"):
        assert f"theorem-3/{label}" in text
    assert "'step size', " in text
    assert "(5) has no real value" in text


def test_no_state_in_the_region_breaks_theorem_3() -> None:
    """Reading (b), one dimension, kappa = 1: also for any h and vhat that a run may leave, as after a communication.

    The radius is that of (5), sigma the least that bounds mu (R + r) + noise; x, h, vhat are at their worst corners.
    """
    rng = np.random.default_rng(5)
    size = 200_000
    beta1 = rng.uniform(0, 0.333, size)
    beta2 = beta1**2 + (1 - beta1**2) * rng.uniform(0.001, 0.99, size)
    tau, theta = 10 ** rng.uniform(-3, 0, size), rng.uniform(0.05, 0.999, size)
    ratio = required_ratio(1, beta1, beta2, 1, tau, theta)
    beta1, beta2, tau, theta, ratio = (v[ratio <= 1] for v in (beta1, beta2, tau, theta, ratio))
    assert len(beta1) > 1000
    sigma, eps, eta = np.sqrt(1 - theta), theta, tau / 2  # mu = s = 1
    radius = np.sqrt(ratio) * sigma
    noise = (sigma - radius) * rng.integers(0, 2, len(beta1))
    for x in (radius, 0.9 * radius, 0 * radius):
        for vhat in (0 * sigma, sigma**2, sigma**2 * rng.uniform(size=len(beta1))):
            most = (1 - beta1) ** 2 / ((1 - beta2) * (1 - beta1**2 / beta2))
            h = -np.minimum(sigma, np.sqrt(most * vhat))
            total = np.zeros_like(x)
            for g in (x + noise, x - noise):
                momentum = beta1 * h + (1 - beta1) * g
                second = np.maximum(vhat, beta2 * vhat + (1 - beta2) * g**2)
                total += (x - eta * momentum / np.sqrt(eps + second)) ** 2 / 2
            assert (total <= radius**2 * (1 + 1e-12)).all()
