"""The largest of what clients have, from what each has."""

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from theory import REAL, claim

TRUE = {
    "a sum": "max_n(p_n) <= sum_n(p_n)",
    "a mean": "max_n(p_n) <= N*mean_n(p_n)",
    "squares": "max_n(p_n**2) <= sum_n(p_n**2)",
    "lengths": "max_n(norm2(a_n)) <= sum_n(norm2(a_n))",
    "the least": "0 <= min_n(p_n)",
}
FALSE = {
    "a mean": "max_n(p_n) <= 2*mean_n(p_n)",
    "squares": "max_n(p_n) <= sum_n(p_n**2)",
    "lengths": "max_n(norm2(a_n)) <= mean_n(norm2(a_n))",
    "the least": "mean_n(p_n) <= min_n(p_n)",
}


@pytest.mark.parametrize("name", TRUE)
def test_it_follows_from_what_is_so_of_each(name: str) -> None:
    is_found(claim("extremes", TRUE[name], vectors=("a_n",) if "a_n" in TRUE[name] else ()))


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    is_not_found(claim("extremes", FALSE[name], vectors=("a_n",) if "a_n" in FALSE[name] else ()))


def test_of_weights_that_add_up_to_1() -> None:
    is_found(claim("weights", "max_n(q_n) <= 1", assuming=("sum_n(q_n) == 1",)))
    is_not_found(claim("weights", "max_n(q_n) <= 1/2", assuming=("sum_n(q_n) == 1",)))


def test_of_numbers_of_either_sign_nothing_is_found() -> None:
    """-1 and 1 add up to 0."""
    is_not_found(claim("either", "max_n(q_n) <= sum_n(q_n)", parameters={"q_n": REAL}))
