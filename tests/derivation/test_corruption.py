"""Random corruptions of proof files: none is accepted, by kernel or verifier, unless what it says is still right.

The files are those of all claims that are proved, and of the derivations written for tests; `make fuzz` puts several
changes into one of them.
"""

import json
from collections import Counter
from math import inf

import pytest

from tests.derivation.judging import (
    by_kernel,
    by_verifier,
    claim_of,
    files,
    instances,
    judge,
    says_the_same,
    what_is_false,
)  # fmt: skip
from tests.verifier.corruptions import corrupted


def judged(name: str, seed: int) -> str:
    """What becomes of a corruption: rejected, the same, or another derivation that is right.

    Raises:
        AssertionError: for one that is accepted, and wrong.
    """
    c, data = files()[name]
    other = corrupted(data, seed)
    found = judge(c, data, other, by_verifier(other))
    assert not found.false, (name, seed, found)
    if not (found.kernel or found.verifier):
        return "rejected"
    return "the same" if found.same else "another, right"


SHORT = 20
"""Lines of a derivation whose corruptions are judged always."""


def counted(seeds: range, most: float = inf) -> Counter[str]:
    names = sorted(name for name, (_, data) in files().items() if len(data["lines"]) <= most)
    return Counter(judged(names[seed % len(names)], seed) for seed in seeds)


def test_of_a_hundred_corruptions_of_short_derivations_none_is_accepted_that_is_wrong() -> None:
    """Of the long ones too, and more, in slow tests."""
    found = counted(range(10500, 10600), SHORT)
    assert found["rejected"] >= 75
    assert found["another, right"] <= 8


def test_a_sample_that_no_round_draws_is_refused() -> None:
    """It stands under E, with what hangs on draws of a round."""
    assert judged("fedavg-svrg/lemma-a1/corrected", 30862) == "rejected"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_of_ten_thousand_corruptions_none_is_accepted_that_is_wrong(part: int) -> None:
    found = counted(range(1000 + 500 * part, 1500 + 500 * part))
    assert found["rejected"] >= 400
    assert found["another, right"] <= 25


@pytest.mark.slow
def test_the_verifier_accepts_what_the_kernel_accepts() -> None:
    for name, (c, data) in files().items():
        assert by_kernel(c, data), name
        assert by_verifier(data), name


@pytest.mark.slow
def test_every_file_says_what_it_says() -> None:
    for name, (c, data) in files().items():
        assert says_the_same(c, data, data), name
        assert instances(c), name
        assert what_is_false(c, data["lines"]) == "", name


def test_a_gradient_at_what_is_no_sample_is_refused() -> None:
    c, data = files()["open-fl/definition-1"]
    other = json.loads(json.dumps(data))
    (gradient,) = [step for step in other["program"]["round"] if step["do"] == "gradient"]
    gradient["of"][1] = gradient["of"][0]
    assert by_kernel(c, data)
    assert not by_kernel(claim_of(c, other), other)
    assert not by_verifier(other)
