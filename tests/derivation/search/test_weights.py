"""Numbers of clients: squares beside sums, weights that add up to 1, the largest; and nothing of what is false."""

import pytest

from theory import claim
from theory.derivation.search.searching import search
from validate.shown import shown

ONE, SHARE = ("sum_n(p_n) == 1",), ("mean_n(p_n) == 1/N",)
TRUE = [
    ("mean_n(p_n**2) >= mean_n(p_n)**2", ()),
    ("sum_n(p_n)**2 <= N*sum_n(p_n**2)", ()),
    ("sum_n(p_n**2) >= 1/N", ONE),
    ("mean_n(p_n**2) >= 1/N**2", SHARE),
    ("sum_n(p_n**2) >= 1/N", ("sum_n(p_n) >= 1",)),
    ("sum_n(p_n*b_n) <= max_n(b_n)", ONE),
    ("sum_n(p_n*b_n) >= min_n(b_n)*sum_n(p_n)", ()),
    ("sum_n(p_n*norm2(a_n)) <= max_n(norm2(a_n))", ONE),
    ("sum_n(b_n**2) <= sum_n(b_n)*max_n(b_n)", ()),
    ("sum_n(p_n**2) <= max_n(p_n)", ONE),
]
FALSE = [
    ("mean_n(p_n**2) <= mean_n(p_n)**2", ()),
    ("sum_n(p_n)**2 <= (N - 1/10)*sum_n(p_n**2)", ()),
    ("sum_n(p_n**2) >= 21/(20*N)", ONE),
    ("sum_n(p_n**2) >= 1/N", ("sum_n(p_n) >= 9/10",)),
    ("sum_n(p_n*b_n) <= 9/10*max_n(b_n)", ONE),
    ("sum_n(p_n*b_n) <= mean_n(b_n)", ONE),
    ("sum_n(b_n**2) <= 9/10*sum_n(b_n)*max_n(b_n)", ()),
    ("sum_n(p_n**2) <= max_n(p_n)/2", ONE),
]


def _said(text, assuming):
    return claim("said", text, assuming=assuming, vectors=("a_n",) if "a_n" in text else ())


@pytest.mark.parametrize(("text", "assuming"), TRUE)
def test_weights_and_squares(text, assuming):
    assert shown(_said(text, assuming), 1000) is not None  # kernel and verifier accept it


@pytest.mark.parametrize(("text", "assuming"), FALSE)
def test_nothing_is_found_of_what_is_false(text, assuming):
    assert search(_said(text, assuming), 1000).lines is None
