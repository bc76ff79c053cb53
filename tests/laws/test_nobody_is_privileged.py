"""Law: nobody is privileged. A claim of the catalogue that is written again in a file of one's own, with other names,
gets the catalogue's verdict with the same budget; so it does on a pool whose clients are permuted or each taken twice.

What a paper comes with and a reader's file has not is what was written by hand for a claim, and its evidence says so:
`given`. A certificate that only these have is a privilege, so verdicts are compared without what is given, and
`test_a_verdict_that_rests_on_what_is_given_says_so` has the ones for which that makes a difference here.

What a file of one's own cannot say is not here: left sides that `validate.own.tables` does not have (FedMIM's
min_t E||grad f(u_t)||^2, stability radii, epochs of shuffling, mixing weights), and constants such as (7)'s drift sum.
Their measures are tables of the papers' modules, by label; so such a claim is only given another paper's name, and with
it the same table, and keeps its label.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from validate.own import MeasuredClaim, load
from validate.own.module import OwnModule

from sim.participation import Bernoulli
from sim.problems import Quadratic
from tests.laws import written_again
from theory import catalog
from theory.claim import Claim
from validate import check, papers
from validate.checking import EVALUATIONS, check_claim
from validate.scenario import Scenario, read_scenario
from validate.survey import Pool, pool_of
from validate.verdict import Result

OF = {
    "printed-with-a-square-too-many": "perm/lemma-6",
    "mended": "perm/lemma-6/corrected",
    "batches-gradient": "perm/proposition-4-eq15",
    "batches": "perm/proposition-4-eq17",
    "substituted": "fedavg-svrg/theorem-v1-eq8",
    "substituted-without-drift": "fedavg-svrg/theorem-v1-eq8/corrected-2",
    "geometric": "fedavg-svrg/lemma-v1-eq13",
    "noise-ball": "textbook/sgd-strongly-convex",
    "one-step": "textbook/sgd-step",
    "average-iterate": "textbook/sgd-convex",
    "small-gradients": "textbook/average-gradient",
    "small-gradients-with-noise": "textbook/sgd-nonconvex",
    "downhill": "textbook/gradient-descent-linear",
    "downhill-slowly": "textbook/gradient-descent-tight",
    "local-steps": "textbook/local-sgd-strongly-convex",
    "product": "textbook/young",
    "both-moduli": "open-fl/eq6",
    "moved": "open-fl/eq8",
    "terms": "fedmim/remark-iv1/terms",
    "load": "fedmim/eq33/from-step",
}
FEW = ("printed-with-a-square-too-many", "batches", "one-step", "downhill", "geometric", "product", "both-moduli",
       "moved", "terms", "load")  # fmt: skip
"""Ten that are checked in every run of the tests; the others take longer."""
SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in OF if one not in FEW]


def without_given(of: ModuleType) -> Any:
    """A paper's module, with nothing that was written by hand for a claim."""
    names = ("SAMPLED", "BATCHED", "SEARCH_SPACE", "structures", "for_claim", "cases", "instances", "scenarios")
    kept = {name: getattr(of, name) for name in names if hasattr(of, name)}
    return SimpleNamespace(**kept, sampled=of.sampled, special=lambda claim, out: ([], None))


def verdict(claim: Claim, out: Path, pooled: bool = True) -> Result:
    """By a quick check without what is given; without a pool where the claim is not about runs."""
    module = papers.module(claim.paper)
    assert module is not None
    pool = replace(pool_of(module, True, lambda text: None, claim.paper), given=()) if pooled else Pool((), ())
    known: Any = module if isinstance(module, OwnModule) else without_given(module)
    return check_claim(claim, known, pool, (), out, EVALUATIONS[True], quick=True)


@pytest.fixture(scope="module")
def mine() -> dict[str, Claim]:
    """The claims of the reader's file, by label."""
    return {claim.label: claim for claim in load(written_again.__file__)}


@pytest.mark.parametrize("label", [*FEW, *SLOW])
def test_what_is_written_again_gets_the_same_verdict(label: str, mine: dict[str, Claim], tmp_path: Path) -> None:
    runs = isinstance(mine[label], MeasuredClaim)
    ours, theirs = (verdict(one, tmp_path, runs) for one in (mine[label], catalog.claim(OF[label])))
    assert ours.verdict == theirs.verdict
    assert ours.origin == theirs.origin
    assert ours.verdict != "undecided"


def test_all_verdicts_are_there() -> None:
    """The ten are of five papers."""
    assert {OF[label].split("/")[0] for label in FEW} == {"perm", "fedavg-svrg", "textbook", "open-fl", "fedmim"}
    assert {claim.label for claim in written_again.PAPER} == set(OF)


def test_nothing_of_the_file_is_that_of_the_catalogue(mine: dict[str, Claim]) -> None:
    """Another paper, another label, other names of parameters."""
    for label, theirs in OF.items():
        ours, known = mine[label], catalog.claim(theirs)
        assert ours.paper == "again" != known.paper
        assert ours.label != known.label
        assert {p.name for p in ours.parameters} != {p.name for p in known.parameters}


@pytest.mark.slow
def test_the_function_that_the_command_line_calls_says_the_same(tmp_path: Path) -> None:
    """By name, from the file, as a reader types it."""
    found = check(written_again.__file__, quick=True, out=tmp_path)
    assert isinstance(found, list)
    refuted = {"printed-with-a-square-too-many", "batches", "batches-gradient", "load"}
    assert {one.id.split("/")[1] for one in found if one.verdict == "refuted"} == refuted
    assert {one.verdict for one in found} == {"refuted", "proved", "supported"}


# --- clients permuted, and each taken twice ---------------------------------------------------------------------------


def other_clients(spec: dict[str, Any], twice: bool) -> dict[str, Any]:
    """The instance with its clients from the last to the first, or with each of them twice."""
    clients = [client for client in spec["clients"] for _ in range(2)] if twice else spec["clients"][::-1]
    return {**spec, "clients": clients}


def moved(pool: Pool, twice: bool) -> Pool:
    """A pool of the instances so changed; of other scenarios those whose clients can be."""
    instances = []
    for i, (spec, _) in enumerate(pool.instances):
        changed = other_clients(spec, twice)
        instances.append((changed, read_scenario(changed, exact=False, name=f"instance {i}")))
    scenarios = [permuted(one) for one in pool.scenarios if not twice]
    return Pool(tuple(instances), tuple(one for one in scenarios if one is not None), (), pool.quick)


def permuted(one: Any) -> Any:
    """The scenario with its clients from the last to the first; None for what is not rounds of independent clients."""
    if type(one) is not Scenario or not isinstance(one.participation, Bernoulli):
        return None
    p, chances = one.problem, one.participation.p
    problem = Quadratic(p.hessian[::-1], p.linear[::-1], p.offset[::-1], p.counts[::-1])
    return replace(one, problem=problem, participation=Bernoulli(chances[..., ::-1] if np.ndim(chances) else chances))


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(
    "id", ["perm/lemma-6", "perm/lemma-6/corrected", "fedavg-svrg/theorem-v1-eq7", "again/batches"]
)
def test_clients_have_no_names(id: str, twice: bool, mine: dict[str, Claim], tmp_path: Path) -> None:
    """What the pool refutes it refutes with its clients permuted or doubled, and nothing else."""
    claim = mine[id.split("/", 1)[1]] if id.startswith("again/") else catalog.claim(id)
    module: Any = papers.module(claim.paper)
    pool = pool_of(module, True, lambda text: None, claim.paper)
    instances = pool.instances[::5]
    few = Pool(instances, pool.scenarios[:20], (), True)
    known = module if isinstance(module, OwnModule) else without_given(module)
    before = check_claim(claim, known, few, (), tmp_path, quick=True)
    after = check_claim(claim, known, moved(few, twice), (), tmp_path, quick=True)
    assert before.broken == after.broken
    assert before.origin == after.origin


# --- another paper's name ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["fedmim/lemma-7", "fedmim/lemma-9", "fedmim/eq34", "open-fl/eq15"])
def test_the_name_of_a_paper_decides_nothing(id: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    theirs = catalog.claim(id)
    module: Any = without_given(papers.module(theirs.paper))
    monkeypatch.setattr(papers, "_added", {"somebody": module})
    ours = replace(theirs, id=f"somebody/{theirs.label}")
    pool = Pool((), tuple(list(module.scenarios(True))[:30]), (), True)
    results = [check_claim(one, module, pool, (), tmp_path, 300, quick=True) for one in (ours, theirs)]
    assert results[0].verdict == results[1].verdict
    assert results[0].origin == results[1].origin


# --- what is given ----------------------------------------------------------------------------------------------------

GIVEN = ("fedmim/eq2", "fedmim/lemma-5/lags-from-one", "perm/proposition-1", "fedavg-svrg/remark-rate")
"""Some of the claims that what was written by hand for them refutes; in a reader's file they would be undecided."""


@pytest.mark.parametrize("id", GIVEN)
def test_a_verdict_that_rests_on_what_is_given_says_so(id: str, tmp_path: Path) -> None:
    claim = catalog.claim(id)
    module: Any = papers.module(claim.paper)
    with_it = check_claim(claim, module, Pool((), ()), (), tmp_path, quick=True)
    without = check_claim(claim, without_given(module), Pool((), ()), (), tmp_path, quick=True)
    assert (with_it.verdict, with_it.origin) == ("refuted", "given")
    assert without.verdict == "undecided"
