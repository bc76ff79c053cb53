"""What is false at one size alone, which no text names, or far out."""

from itertools import pairwise

import pytest

from tests.rounds import descent
from theory import claim
from theory.claim import Claim
from theory.domain import COUNT
from validate.instances.every_size import _integers, far_out, of_every_size
from validate.instances.hunt import POOL, hunt
from validate.instances.seen import Hunt
from validate.instances.stages import Budget

STEP = "norm2(x[1] - x0) <= (d*d - 34*d + 289)*eta**2*norm2(grad(f, x0))"
AT_ONE_SIZE = {
    "d": (claim("d", "(d**2 - 289)**2*norm2(u) >= norm2(u)", vectors=("u",)), 17),
    "N": (claim("N", "(N*N - 46*N + 529)*mean_n(norm2(u_n)) >= norm2(mean_n(u_n))", vectors=("u_n",)), 23),
    "f": (claim("f", STEP, of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L")), 17),
}


@pytest.mark.parametrize("name", AT_ONE_SIZE)
def test_a_size_that_no_text_names_is_met(name: str) -> None:
    one, size = AT_ONE_SIZE[name]
    found = hunt(one, pool=40, evaluations=0, last=POOL)
    assert found.broken is None
    broken = of_every_size(one, found, lambda: False, Budget(None))
    assert broken is not None
    instance = broken.drawn.instance
    assert size == (instance.clients if name == "N" else instance.dim)


def numbers(statement: str) -> Claim:
    """A claim about two numbers."""
    return claim("far", statement, parameters={"r": COUNT, "q": COUNT})


@pytest.mark.parametrize("statement", ["sqrt(r) + 1/q <= 900", "r*q <= 10**15 + r + q", "1 <= 10**11*(1/r + 1/q)"])
def test_numbers_far_out_are_met(statement: str) -> None:
    seen = next(far_out(numbers(statement), Hunt(), 0, lambda: False))
    assert seen.measured.broken


def test_true_sentences_are_not_broken_there() -> None:
    assert list(far_out(numbers("r <= r*q"), Hunt(), 0, lambda: False)) == []


def test_of_sums_few_large_sizes_are_taken():
    """A sum takes longer with each; what is none goes through all of them."""
    sums = [int(one["K"]) for one in _integers(claim("sums", "sum_k(1/(k + 1)) <= 1 + log(K)"))]
    assert sums[:64] == [*range(1, 65)]
    assert len(sums) < 120
    assert max(sums) == 2000
    assert max(b / a for a, b in pairwise(sums[63:])) <= 1.1
    one = [int(one["r"]) for one in _integers(claim("one", "r <= 3000", parameters={"r": COUNT}))]
    assert one[:2000] == [*range(1, 2001)]
