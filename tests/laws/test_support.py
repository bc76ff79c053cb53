"""Law 6: support is earned. `supported` means that a claim was never broken where it could have been."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.laws import powers
from theory import Hypothesis, Paper, Smooth, StronglyConvex, catalog
from theory.claim import Claim
from validate import papers
from validate.checking import check_all
from validate.coverage import coverage
from validate.own import claim, parameters
from validate.own.module import OwnModule
from validate.scenario import Spec, read_scenario
from validate.survey import Pool, for_claim, pool_of, survey
from validate.verdict import Coverage, Result

SYMBOLS = parameters(
    delta="step", mu="strong_convexity", L="sample_smoothness", N="clients", H="local_steps", k="round",
    R2="start_distance", noise="noise_at_minimiser", het="heterogeneity",
)  # fmt: skip
SMOOTH = Hypothesis("smooth", "", assumption=Smooth("L", "sample"))
STRONG = Hypothesis("strongly convex", "", assumption=StronglyConvex("mu"))
FILE = Path(powers.__file__)


def relations(*texts: str) -> tuple[Hypothesis, ...]:
    return tuple(Hypothesis(text, text, relation=text) for text in texts)


def made(right: str, *texts: str, quantity: str = "squared_distance", algorithm: str = "local-sgd") -> Any:
    symbols = SYMBOLS if algorithm == "local-sgd" else parameters(R2="start_distance", mu="strong_convexity")
    return claim(
        "law/one", "words", quantity, right, parameters=symbols,
        hypotheses=(SMOOTH, STRONG, *relations(*texts)) if algorithm == "local-sgd" else (), algorithm=algorithm,
    )  # fmt: skip


def module_of(one: Claim) -> OwnModule:
    return OwnModule(Paper("law", "Law", "me", (one,)))


def earned(one: Claim, specs: Sequence[Spec] = (), scenarios: Sequence[Any] = ()) -> Coverage:
    """Of a claim on these instances and scenarios, and no others."""
    pool = Pool(tuple((spec, read_scenario(spec, exact=False)) for spec in specs), tuple(scenarios))
    return coverage(one, survey(one, module_of(one), pool), quick=True)


def on_its_pool(one: Claim, extended: bool = True) -> Coverage:
    module = module_of(one)
    pool = pool_of(module, True, lambda text: None, "law")
    return coverage(one, survey(one, module, for_claim(pool, one, module) if extended else pool), quick=True)


def spec(h: str = "1", step: str = "1/4", start: str = "3", steps: int = 2, clients: int = 3, **more: Any) -> Spec:
    client = {"h": [h, h], "a": ["1", "-1"]}
    shape = {"local_steps": steps, "K": 3, "theta0": start}
    return {"algorithm": "local-sgd", "clients": [client] * clients, "step": step, **shape, **more}


CONTRACTION = "(1-delta*mu)**(H*k)*R2 + 2*delta*noise/mu"
NOT_HETEROGENEOUS = ("delta <= 1/(2*L)", "het <= 0")


def test_one_scenario_is_no_support() -> None:
    one = made(CONTRACTION, *NOT_HETEROGENEOUS)
    found = earned(one, [spec()])
    assert not found.earned
    assert "compared on one scenario only" in found.detail
    assert not earned(one).earned  # and none at all
    assert on_its_pool(one).earned


def test_sides_that_are_all_0_are_no_support() -> None:
    """Whoever starts at the minimiser, without noise, stays there, whatever the right side says."""
    one = made("R2", "noise <= 0", "het <= 0")
    still = [
        {**spec(h, step, "0", steps, clients), "clients": [{"h": [h], "a": ["0"]}] * clients}
        for h in ("1", "2", "1/4") for step in ("1/4", "1/8") for steps in (1, 3) for clients in (1, 4)
    ]  # fmt: skip
    found = earned(one, still)
    assert not found.earned
    assert "the left side was 0 throughout" in found.detail


def test_a_side_that_is_0_by_hypothesis_counts_where_another_start_moves() -> None:
    """R2 <= 0 says that the start is the minimiser; from elsewhere the same left side is not 0."""
    one = made("R2", "noise <= 0", "het <= 0", "R2 <= 0", "delta <= 1/L")
    assert on_its_pool(one).earned


def test_a_parameter_that_never_varied_is_no_support() -> None:
    one = made(CONTRACTION, *NOT_HETEROGENEOUS)
    several = [spec(h, "1/8", start, steps, clients) for h in ("1", "2", "1/2") for start in ("3", "-1", "0")
               for steps in (1, 4) for clients in (1, 3)]  # fmt: skip
    found = earned(one, several)
    assert not found.earned
    assert "delta was 0.125 throughout" in found.detail
    assert "mu and L were equal throughout" not in found.detail  # L is not in the formula
    assert "two dimensions or more was not in the pool" in found.detail


def test_a_value_that_the_hypotheses_fix_need_not_vary() -> None:
    """H <= 1 leaves one local step, and noise <= 0 no noise: that is the claim's, not the pool's, doing."""
    one = made("(1-delta*mu)**(H*k)*R2 + 2*delta*noise/mu", "delta <= 1/(2*L)", "het <= 0", "H <= 1", "noise <= 0")
    assert on_its_pool(one).earned


def test_parameters_that_were_equal_throughout_are_no_support() -> None:
    one = made("(1-delta*mu)**(2*H*k)*R2 + 2*delta*noise/mu + 0*L", *NOT_HETEROGENEOUS)
    several = [spec(h, step, start, steps, clients) for h in ("1", "2") for start in ("3", "0")
               for step in ("1/8", "1/4") for steps in (1, 4) for clients in (1, 3)]  # fmt: skip
    assert "mu and L were equal throughout, which the hypotheses do not say" in earned(one, several).detail


def test_a_tied_step_is_solved_for() -> None:
    """delta == 1/L holds in a generated pool where mu = L only, in one dimension, and all sides are then 0."""
    tied = made("(1-delta*mu)**(2*k)*R2", "delta == 1/L", "H <= 1", "noise <= 0", "het <= 0")
    assert not on_its_pool(tied, extended=False).earned
    found = on_its_pool(tied)
    assert found.earned, found.detail
    module = module_of(tied)
    specs, scenarios = module.for_claim(tied, True)
    steps = [(s.algorithm.step * s.problem.sample_smoothness, s.problem.strong_convexity) for s in scenarios]
    assert specs
    assert all(step == pytest.approx(1, rel=1e-12) for step, _ in steps)
    assert any(mu < 0.5 * s.problem.smoothness for (_, mu), s in zip(steps, scenarios, strict=True))


def test_a_bounded_step_goes_to_its_end() -> None:
    one = made(CONTRACTION, "3*delta*L*H <= 1", "het <= 0")
    _, scenarios = module_of(one).for_claim(one, True)
    shares = {round(3 * s.algorithm.step * s.problem.sample_smoothness * s.algorithm.local_steps, 9) for s in scenarios}
    assert {1.0, 0.1} <= shares
    assert max(shares) == 1


def test_a_claim_about_momentum_is_not_supported_without() -> None:
    """All that is seen of fedmim has weights 0, which makes it local SGD."""
    one = made("R2/mu*1000", algorithm="fedmim")
    module = module_of(one)
    _, scenarios = module.for_claim(one, True)
    still = [replace(s, algorithm=replace(s.algorithm, alpha=(), beta=())) for s in scenarios]
    found = earned(one, scenarios=still)
    assert not found.earned
    assert "inertia that is not 0 was not in the pool" in found.detail
    assert "inertia" not in earned(one, scenarios=scenarios).detail


def test_hypotheses_pick_rounds_out_of_a_run() -> None:
    one = made(CONTRACTION, *NOT_HETEROGENEOUS, "k >= 2")
    looked = survey(one, module_of(one), Pool(((spec(), read_scenario(spec(), exact=False)),), ()))
    assert [list(seen.cases.index["k"]) for seen in looked.each] == [[2, 3]]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Result]]:
    """Those of the file, by label."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "_added", {})
        patch.setattr(papers, "_added", {})
        patch.chdir(FILE.parent)
        found = check_all([FILE.name], quick=True, out=tmp_path_factory.mktemp("powers"))
        yield {result.id.split("/")[1]: result for result in found}


@pytest.mark.parametrize("label", powers.FALSE)
def test_a_wrong_power_is_never_supported(verdicts: dict[str, Result], label: str) -> None:
    result = verdicts[label]
    assert result.verdict in ("refuted", "undecided")
    assert result.broken, "nothing broke it"


@pytest.mark.parametrize("label", powers.TRUE)
def test_its_true_neighbour_is_supported(verdicts: dict[str, Result], label: str) -> None:
    result = verdicts[label]
    assert result.verdict == "supported", result.covered
    assert "N up to 100" in result.covered


def test_what_cannot_hold_is_not_said_to_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """mu and L that are equal in floats pass mu >= (1 + 1e-13) L by rounding; a proof says that nothing does."""
    monkeypatch.setattr(catalog, "_added", {})
    monkeypatch.setattr(papers, "_added", {})
    text = FILE.read_text(encoding="utf-8").replace('"powers', '"other').replace("powers/", "other/")
    text = text.replace('ONE = ("delta <= 1/(2*L)", "H <= 1")', 'ONE = ("mu >= 1.0000000000001*L", "H <= 1")')
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.py").write_text(text, encoding="utf-8")
    (result,) = check_all(["other.py:step"], quick=True, out=tmp_path)
    assert result.verdict == "vacuous"
    assert all(item.outcome == "vacuous" for item in result.evidence if item.kind == "hypotheses")
    assert not any(item.outcome == "holds" for item in result.evidence)
