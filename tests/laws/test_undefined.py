"""Law: where a side is undefined the instance says nothing, and is counted; no claim ends the check of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theory import Convex, Hypothesis, Paper, Smooth, catalog
from theory.claim import Claim
from validate import papers
from validate.bounds import Cases, compare, compare_all, defined
from validate.checking import check_all
from validate.own import claim, parameters
from validate.own.module import OwnModule
from validate.search import search
from validate.survey import Pool, pool_of, survey

NAMES = parameters(delta="step", L="smoothness", R2="start_distance", noise="noise_at_minimiser", k="round")
RUN = parameters(delta="step", L="smoothness", K="rounds", gap="start_gap")
STEP = (
    Hypothesis("smooth", "every sample", assumption=Smooth("L", "sample")),
    Hypothesis("convex", "every sample", assumption=Convex("sample")),
    Hypothesis("step size", "delta <= 1/L", relation="delta <= 1/L"),
)
AFTER = {
    "root": "10 + sqrt(1-L) + R2",
    "log": "10 + log(delta-1)**2 + R2 + 100*noise",
    "power": "2**k*10**6*(1+R2)*(1+noise)*(1+1/delta)",
    "largest": "max(R2, 1)*10**9*(1+noise)",
    "size": "abs(R2-1/2)*10**9 + 10**9*(1+R2)*(1+noise)",
    "overflow": "exp(10**4*(1+R2))",
    "pole": "10**6*(1+noise)*(1+R2) + 1/(1-L)**2",
}
LABELS = ("pole-at-one-round", *AFTER, "fine")


def own(label: str, quantity: str, right: str, names: Sequence[Any]) -> Claim:
    return claim(f"odd/{label}", "words", quantity, right, parameters=tuple(names), hypotheses=STEP)


def bare(right: str) -> Claim:
    return claim("odd/bare", "words", "squared_distance", right, parameters=NAMES)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> OwnModule:
    """A paper of one's own, all of whose right sides but the last are undefined or too large somewhere."""
    made = [own("pole-at-one-round", "mean_squared_gradient_norm", "10**6*(L+1)**2*(gap+1)/(K-1)**2", RUN)]
    made += [own(label, "squared_distance", right, NAMES) for label, right in AFTER.items()]
    made.append(own("fine", "squared_distance", "10**6*(1+R2)*(1+noise)", NAMES))
    paper = Paper("odd", "Odd", "me", tuple(made))
    monkeypatch.setattr(catalog, "_added", {})
    monkeypatch.setattr(papers, "_added", {})
    catalog.add(paper)
    papers.add("odd", module := OwnModule(paper))
    return module


@pytest.mark.usefixtures("odd")
def test_every_claim_has_its_verdict(tmp_path: Path) -> None:
    results = {r.id.split("/")[1]: r for r in check_all(["odd"], quick=True, out=tmp_path)}
    assert tuple(results) == LABELS
    for label, result in results.items():
        assert not any("defect" in e.detail for e in result.evidence), label
    assert not results["fine"].broken
    exact = {label: [e.data for e in r.evidence if e.kind == "exact" and e.data] for label, r in results.items()}
    counted = {label: [data for data in found if "undefined" in data] for label, found in exact.items()}
    for label in ("pole-at-one-round", "root", "pole"):
        [data] = counted[label]
        assert data["undefined"] > 0
        assert any(f"undefined in {data['undefined']} scenarios" in e.detail for e in results[label].evidence)
    [data] = counted["fine"]
    assert data["undefined"] == 0


def test_what_is_undefined_everywhere_supports_nothing(odd: OwnModule, tmp_path: Path) -> None:
    one = own("never", "squared_distance", "R2 + sqrt(-1-L)", NAMES)
    looked = survey(one, odd, Pool((), tuple(odd.scenarios(True))))
    assert looked.seen == looked.cases == 0
    assert looked.undefined > 0
    assert [e.outcome for e in looked.evidence(0)] == ["undecided"]
    found = search(one, odd.cases, evaluations=300)
    assert found.found is found.suspect is found.excess is None


@pytest.mark.parametrize(
    "relation", ["factor < 10**9", "factor <= 10**9", "k*factor < 10**9", "k <= factor", "L >= -factor"]
)
def test_a_scenario_whose_hypothesis_is_undefined_is_left_out(relation: str, odd: OwnModule) -> None:
    """In floats a division by zero is infinite: no relation holds there, whichever side it is on."""
    where = Hypothesis("contraction", "", relation=relation)
    given: dict[str, Any] = {"parameters": NAMES, "definitions": {"factor": "1/(1-L)**2"}}
    one = claim("odd/pole", "", "squared_distance", "R2 + 1", hypotheses=(*STEP, where), **given)
    looked = survey(one, odd, pool_of(odd, True, lambda text: None, "odd"))
    assert looked.seen > 0
    assert all(seen.cases.parameters["L"] != 1 for seen in looked.each)
    assert any(cases.parameters["L"] == 1 for _, cases in looked.excluded)


def test_a_part_that_fails_ends_neither_the_claim_nor_the_others(
    odd: OwnModule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def sentence(one: Claim) -> list[Any]:
        if one.label == "fine":
            raise TypeError("this is no number")
        return []

    monkeypatch.setattr("validate.checking.proving.evidence", sentence)
    monkeypatch.setattr("validate.checking.EVALUATIONS", {True: 200})
    results = {r.id.split("/")[1]: r for r in check_all(["odd/fine", "odd/largest"], quick=True, out=tmp_path)}
    said = [e for e in results["fine"].evidence if "this is no number" in e.detail]
    assert [e.outcome for e in said] == ["undecided"]
    assert {e.kind for e in results["fine"].evidence} >= {"search", "exact", "hypotheses"}
    assert not any("this is no number" in e.detail for e in results["largest"].evidence)


def test_cases_that_are_undefined_are_left_out() -> None:
    one = bare("R2/(k-2)**2")
    cases = Cases(np.array([1.0, 9.0, 5.0]), {"R2": 2.0, "k": np.array([1, 2, 3])}, {"k": np.array([1, 2, 3])})
    found = compare(one, cases)
    assert (found.cases, found.undefined, found.worst, found.left, found.right) == (2, 1, 2, 5.0, 2.0)
    assert found.broken
    kept = defined(one, cases)
    assert kept is not None
    assert kept.left.tolist() == [1.0, 5.0]
    assert kept.index["k"].tolist() == [1, 3]
    assert kept.parameters["R2"] == 2.0
    nowhere = Cases(np.array([9.0]), {"R2": 2.0, "k": np.array([2])}, {"k": np.array([2])})
    assert defined(one, nowhere) is None
    both = compare_all(one, [nowhere, cases])
    assert (both[0].cases, both[0].undefined, both[0].broken) == (0, 1, False)
    assert both[1] == found
    assert compare(bare("1/(1-1)"), Cases(np.array([1.0]), {}, {})).undefined == 1
