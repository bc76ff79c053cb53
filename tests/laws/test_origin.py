"""Law: nothing is fed. What somebody wrote by hand is tried last, and evidence from it says `given`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from theory import Paper, catalog
from validate import papers
from validate.bounds import Cases
from validate.checking import EVALUATIONS, check_claim
from validate.own import claim, parameters, run
from validate.own.module import OwnModule
from validate.survey import Pool, pool_of
from validate.verdict import Origin, Result

PAPERS = ("fedavg-svrg", "fedmim", "open-fl", "perm", "textbook")


def spec(h: list[str], a: list[str], start: str) -> dict[str, Any]:
    clients = [{"h": h, "a": a}]
    return {"algorithm": "local-sgd", "clients": clients, "step": "1/4", "local_steps": 1, "K": 1, "theta0": start}


QUIET, NOISY = spec(["1"], ["0"], "1"), spec(["1", "1"], ["1", "-1"], "0")
# true without noise, where it is attained, and false with noise
WITHOUT_NOISE = claim(
    "fed/without-noise",
    "words",
    "squared_distance",
    "(1-delta*mu)**(2*k)*R2",
    parameters=parameters(delta="step", mu="strong_convexity", k="round", R2="start_distance"),
)


class Measures(ModuleType):
    """A paper's module with the instances that it is given; it writes down on which of them it is asked."""

    SAMPLED: dict[str, Any] = {}

    def __init__(self, pool: list[dict[str, Any]], by_hand: list[dict[str, Any]]) -> None:
        super().__init__("measures")
        self.pool, self.by_hand, self.asked = pool, by_hand, list[str]()

    def cases(self, one: Any, scenario: Any) -> Cases | None:
        self.asked.append(scenario.name)
        return run.cases(one, scenario)

    def instances(self, quick: bool = False) -> Iterator[dict[str, Any]]:
        return iter(self.pool)

    def scenarios(self, quick: bool = False) -> Iterator[Any]:
        return iter(())

    def given(self) -> Iterator[dict[str, Any]]:
        return iter(self.by_hand)

    def special(self, one: Any, out: Path) -> tuple[list[Any], None]:
        self.asked.append("special")
        return [], None


@pytest.fixture
def fed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Result, Measures]]:
    """The verdict on `WITHOUT_NOISE` with a pool and with what is given."""

    def found(pool: list[dict[str, Any]], by_hand: list[dict[str, Any]], evaluations: int) -> tuple[Result, Measures]:
        module = Measures(pool, by_hand)
        monkeypatch.setattr(papers, "_added", {"fed": module})
        made = pool_of(module, True, lambda text: None, "fed")
        return check_claim(WITHOUT_NOISE, module, made, (), tmp_path, evaluations), module

    return found


def test_what_is_given_says_so_and_comes_last(fed: Callable[..., tuple[Result, Measures]]) -> None:
    result, module = fed([QUIET], [NOISY], 0)
    assert result.verdict == "refuted"
    assert result.origin == "given"
    assert all(e.origin == "given" for e in result.evidence if e.outcome in ("refuted", "fails"))
    assert any(e.origin == "pool" and e.outcome == "holds" for e in result.evidence)
    assert module.asked.index("instance 1") < module.asked.index("given instance 1") < module.asked.index("special")


def test_what_the_pool_breaks_needs_nothing_given(fed: Callable[..., tuple[Result, Measures]]) -> None:
    result, module = fed([QUIET, NOISY], [NOISY], 0)
    assert result.verdict == "refuted"
    assert result.origin == "pool"
    assert "given instance 1" not in module.asked


def test_the_search_comes_first(fed: Callable[..., tuple[Result, Measures]]) -> None:
    result, module = fed([QUIET, NOISY], [NOISY], EVALUATIONS[True])
    assert result.verdict == "refuted"
    assert result.origin == "search"
    assert "given instance 1" not in module.asked


def test_what_is_given_supports_nothing(fed: Callable[..., tuple[Result, Measures]]) -> None:
    result, _ = fed([], [QUIET], 0)
    assert result.verdict == "undecided"
    assert not any(e.outcome == "holds" and e.kind == "exact" for e in result.evidence)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_was_made_for_a_claim_is_not_in_the_pool(paper: str) -> None:
    module = papers.module(paper)
    assert module is not None
    by_hand = [str(sorted(one.items(), key=str)) for one in getattr(module, "given", lambda: iter(()))()]
    pool = {str(sorted(one.items(), key=str)) for one in module.instances()}
    assert not pool.intersection(by_hand)
    assert bool(by_hand) == (paper in ("fedavg-svrg", "fedmim", "perm"))


@pytest.mark.parametrize(
    ("id", "origin"),
    [
        ("fedavg-svrg/lemma-a1", "search"),
        ("fedmim/lemma-7", "search"),
        ("perm/lemma-5", "search"),
        ("fedmim/eq2", "given"),
        ("perm/proposition-1", "given"),
    ],
)
def test_every_refutation_has_its_origin(id: str, origin: str, tmp_path: Path) -> None:
    one = catalog.claim(id)
    result = check_claim(one, papers.module(one.paper), Pool((), ()), (), tmp_path, EVALUATIONS[True])
    assert result.verdict == "refuted"
    assert result.origin == origin
    assert all(e.origin in get_args(Origin) for e in result.evidence)
    assert all("origin" in entry for entry in result.to_json()["evidence"])


def test_a_readers_file_has_the_budget_of_a_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both survive their search, and used all of it."""
    theirs = catalog.claim("textbook/sgd-strongly-convex")
    names = parameters(
        delta="step", mu="strong_convexity", k="round", R2="start_distance", noise="noise_at_minimiser", H="local_steps"
    )
    ours = claim(
        "mine/ball", "words", "squared_distance", "R2*10**k + 100*noise*10**k*(delta+1/mu)**2", parameters=names
    )
    module = OwnModule(Paper("mine", "Mine", "me", (ours,)))
    monkeypatch.setattr(papers, "_added", {"mine": module})
    asked = []
    for one in (theirs, ours):
        result = check_claim(one, papers.module(one.paper), Pool((), ()), (), tmp_path, EVALUATIONS[True])
        [searched] = [e for e in result.evidence if e.kind == "search"]
        assert searched.data is not None
        asked.append(searched.data["budget"])
        assert (
            searched.outcome == "fails"
            or searched.data["evaluations"] >= EVALUATIONS[True]
            or result.verdict == "refuted"
        )
        assert f"{searched.data['evaluations']} evaluations" in searched.detail
    assert asked == [EVALUATIONS[True]] * 2
