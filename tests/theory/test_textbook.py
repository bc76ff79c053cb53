"""The textbook results as written: labels, sources, values worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.textbook_results import LABELS
from theory import claim, claims
from theory.calculator import calculator
from theory.claim import Claim
from theory.evaluate import exact

CLAIMS = claims("textbook")


def test_every_result_has_its_label_and_a_source() -> None:
    assert [c.label for c in CLAIMS] == LABELS
    assert all(isinstance(c, Claim) for c in CLAIMS)
    assert all(c.title and any(character.isdigit() for character in c.source) for c in CLAIMS)
    assert all(c.amends is None and not c.given for c in CLAIMS)


def test_sources_of_proofs_that_were_narrowed_or_put_otherwise_say_so() -> None:
    said = {c.label for c in CLAIMS if c.remarks}
    assert {"jensen-expectation", "without-replacement", "reshuffling", "projection-firm", "prox-firm"} <= said
    assert {"gradient-lipschitz-convex", "subgradient-method", "proximal-point", "recursion"} <= said


BY_HAND = {
    "young": ({"t": "2", "norm2_a": "3", "norm2_b": "8"}, "5"),
    "strong-cocoercivity": ({"mu": "1", "L": "3", "norm2_x_y": "4", "norm2_grad_f_x_grad_f_y": "8"}, "5"),
    "gradient-step-contraction": ({"eta": "1", "mu": "1/10", "L": "3", "norm2_x_y": "2"}, "8"),
    "gradient-descent-linear": ({"eta": "1/2", "mu": "1", "L": "2", "k": "3", "f_x0_fstar": "8"}, "1"),
    "gradient-descent-tight": ({"eta": "1", "L": "1", "k": "3", "norm2_x0_xstar": "28"}, "2"),
    "sgd-strongly-convex": (
        {"eta": "1/4", "mu": "1", "L": "2", "k": "2", "norm2_x0_xstar": "16", "sigma2": "3"},
        "21/2",
    ),
    "minibatch-sgd": (
        {"eta": "1/4", "mu": "1", "L": "2", "b": "3", "N": "1", "k": "2", "norm2_x0_xstar": "16", "sigma2": "3"},
        "19/2",
    ),
    "svrg-contraction": ({"mu": "1", "L": "1", "eta": "1/10", "H": "50", "E_f_x_k_f_xstar": "4"}, "2"),
    "without-replacement": ({"N": "5", "S": "2", "spread": "8"}, "3"),
    "reshuffling": ({"N": "4", "spread": "3"}, "10"),
    "recursion": ({"q": "1/2", "c": "1", "r0": "8", "K": "3"}, "11/4"),
}


@pytest.mark.parametrize("label", BY_HAND)
def test_right_sides_by_hand(label: str) -> None:
    values, right = BY_HAND[label]
    bound = calculator(claim(f"textbook/{label}")).bound
    assert exact(bound, {name: Fraction(text) for name, text in values.items()}) == Fraction(right)
