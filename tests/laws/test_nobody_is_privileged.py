"""Law 1: nobody is privileged. A claim that a reader writes again gets the same verdict with the same budget.

Written with other symbols, the program in other steps, the sentence in other words; and on instances whose clients are
permuted or each taken twice, both sides are what they were.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.problems import Quadratic
from tests.laws import written_again
from tests.laws.test_language import CLAIMS, FALSE
from tests.validate.command_line import call, printed
from theory.claim import Claim
from validate import files
from validate.examine import examine
from validate.instances.hunt import hunt
from validate.instances.pool import Drawn, drawn, instance_of_values
from validate.instances.problems import Quadratics
from validate.instances.seen import measured

MINE = {one.label: one for one in written_again.PAPER}
QUICK = ("skip-fast", "uncontrolled-stays", "loopless-fast", "two", "turned", "curved", "bent")
LABELS = [pytest.param(label, marks=[] if label in QUICK else [pytest.mark.slow]) for label in written_again.OF]


@pytest.mark.parametrize("label", LABELS)
def test_what_is_written_again_gets_the_same_verdict(label: str, tmp_path: Path) -> None:
    theirs = CLAIMS[written_again.OF[label]]
    one, other = (examine(c, quick=True, out=tmp_path / c.label) for c in (MINE[label], theirs))
    words = ("refuted",) if theirs.id in FALSE else ("supported", "proved")
    assert one.verdict == other.verdict
    assert one.verdict in words
    assert "given" not in (one.origin, other.origin)


def test_nothing_of_the_file_is_that_of_the_examples() -> None:
    """Fifteen; other labels, other symbols, other sentences and programs."""
    assert len(written_again.OF) == len(set(written_again.OF.values())) == 15
    for label, id in written_again.OF.items():
        ours, theirs = MINE[label], CLAIMS[id]
        assert ours.label != theirs.label
        assert ours.statement != theirs.statement
        assert set(ours.symbols) - {"N", "d", "K"} != set(theirs.symbols) - {"N", "d", "K"} or ours.vectors
        if ours.program is not None:
            assert theirs.program is not None
            assert ours.program.to_json() != theirs.program.to_json()


# --- clients permuted, and each taken twice --------------------------------------------------------------------------


def with_clients(claim: Claim, one: Drawn, order: list[int]) -> Drawn | None:
    """The instance with its clients in this order, its parameters as they are."""
    problem = one.instance.problem
    assert isinstance(problem, Quadratics)
    q = problem.quadratic
    moved = Quadratic(q.hessian[order], q.linear[order], q.offset[order], q.counts[order])
    start = np.array(one.instance.start, dtype=object)
    values = {n: [v[i] for i in order] if isinstance(v, list) else v for n, v in one.values.items()}
    return instance_of_values(claim, moved, start, one.instance.rounds, values, {})


def rows(claim: Claim, one: Drawn | None) -> Any:
    seen = None if one is None else measured(claim, one)
    return None if seen is None else [(row.at, row.left, row.right, row.status) for row in seen.measured.rows]


PERMUTED = ("next", "short", "skip-fast", "uncontrolled-stays", "sparse-alone", "follows", "follows-without-the-factor")


@pytest.mark.parametrize("label", PERMUTED)
def test_clients_have_no_names(label: str) -> None:
    """Both sides of a sentence are the same to the last digit when its clients are permuted."""
    claim, compared = MINE[label], 0
    for seed in range(120):
        one = drawn(claim, seed)
        if one is None or not isinstance(one.instance.problem, Quadratics) or (one.instance.clients or 1) < 2:
            continue
        known = rows(claim, one)
        other = rows(claim, with_clients(claim, one, list(range(one.instance.clients or 1))[::-1]))
        assert known == other
        compared += known is not None
        if compared == 12:
            break
    assert compared > 5


@pytest.mark.parametrize("label", ["skip", "skip-fast"])
def test_clients_that_are_there_twice_change_nothing(label: str) -> None:
    """ProxSkip tosses one coin for all, so that two clients with the same function do the same."""
    claim, compared = MINE[label], 0
    for seed in range(120):
        one = drawn(claim, seed)
        if one is None or not isinstance(one.instance.problem, Quadratics) or (one.instance.clients or 1) > 3:
            continue
        order = [n for n in range(one.instance.clients or 1) for _ in range(2)]
        known, other = rows(claim, one), rows(claim, with_clients(claim, one, order))
        assert known == other
        compared += known is not None
        if compared == 10:
            break
    assert compared > 5


# --- a planted error -------------------------------------------------------------------------------------------------


def test_a_factor_lost_in_scaffold_is_refuted_by_several_clients(tmp_path: Path) -> None:
    path = Path(written_again.__file__)
    with files.forgetting():
        [found] = printed("check", f"{path}:follows-without-the-factor", "--quick", "--out", tmp_path, status=1)
        assert (found["verdict"], found["id"]) == ("refuted", "again/follows-without-the-factor")
        assert {e["origin"] for e in found["evidence"] if e["outcome"] == "refuted"} <= {"pool", "search"}
        assert call("verify", found["certificate"], "--claims", path).exit_code == 0
    certificate = Path(found["certificate"])
    data = found["evidence"][0]["detail"]
    assert "2 clients" in data or "3 clients" in data
    run = [sys.executable, "-I", "-S", "verify.py", certificate.name]
    done = subprocess.run(run, cwd=certificate.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("VALID")


def test_with_the_factor_no_instance_of_the_pool_breaks_it(tmp_path: Path) -> None:
    """Nor what a check tries, in slow tests."""
    assert hunt(written_again.FOLLOWS, pool=100, evaluations=0).broken is None
    assert examine(replace(written_again.LOST), quick=True, out=tmp_path).verdict == "refuted"


@pytest.mark.slow
def test_with_the_factor_nothing_breaks_it(tmp_path: Path) -> None:
    result = examine(written_again.FOLLOWS, quick=True, out=tmp_path)
    assert not result.broken
    assert result.verdict in ("supported", "undecided")
