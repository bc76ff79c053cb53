"""The textbook results as encoded: formulas, sources, values worked out by hand, and what the prover makes of them."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import Claim, claim, claims
from theory.evaluate import exact
from theory.expression import check
from theory.inequality.interpolation import smooth
from theory.inequality.prover import Proof, Refutation, prove
from theory.inequality.vectors import Condition, Form, Space, inner, square

CLAIMS = claims("textbook")
LINES = [c for c in CLAIMS if c.vectors is not None]


def built(c: Claim, setting: int = 0) -> tuple[Space, Condition, list[Condition]]:
    assert c.vectors is not None
    return c.vectors.build({name: Fraction(text) for name, text in c.vectors.settings[setting].items()})


def test_there_are_enough_results_and_each_has_a_source():
    assert len(CLAIMS) >= 40
    assert all(any(character.isdigit() for character in c.source) for c in CLAIMS)
    assert all(c.amends is None for c in CLAIMS)


@pytest.mark.parametrize("c", CLAIMS, ids=lambda c: c.label)
def test_formulas_parse_and_use_only_known_names(c):
    check(c)
    assert c.right is not None


@pytest.mark.parametrize("c", LINES, ids=lambda c: c.label)
def test_every_vector_statement_is_proved_at_its_settings(c):
    assert c.vectors.settings
    for i in range(len(c.vectors.settings)):
        space, statement, hypotheses = built(c, i)
        proof = prove(statement, hypotheses, space)
        assert isinstance(proof, Proof)
        assert proof.check()


@pytest.mark.parametrize("c", LINES, ids=lambda c: c.label)
def test_hypotheses_and_claim_hold_for_a_quadratic_at_rest(c):
    """All vectors and values 0 satisfy every hypothesis and the claim: nothing is proved from a contradiction."""
    for i in range(len(c.vectors.settings)):
        space, statement, hypotheses = built(c, i)
        n, m = space.dimension, len(space.values)
        nothing = [[Fraction(0)] * n for _ in range(n)], [Fraction(0)] * m
        assert all(condition.holds(*nothing) for condition in (*hypotheses, statement))


def extra(left: str, right: str | None = None) -> Callable[[Space], Form]:
    """|left - right|^2."""
    return lambda s: square(s.vector(left) - s.vector(right)) if right else square(s.vector(left))


# what is added to the left side, one percent of it: more than the slack that these bounds have
TIGHT: dict[str, Callable[[Space], Form]] = {
    "young": extra("a"),
    "relaxed-triangle": extra("b"),
    "convex-combination": extra("a"),
    "jensen-three": extra("a"),
    "jensen-expectation": extra("a"),
    "variance-decomposition": extra("z"),
    "minibatch-variance": extra("b", "a"),
    "participation-variance": extra("a2"),
    "three-point": lambda s: inner(s.vector("gx"), s.vector("z")),
    "descent-lemma": extra("x", "y"),
    "gradient-bound": extra("gx"),
    "convex-lower-bound": extra("gx", "gy"),
    "cocoercivity": extra("gx", "gy"),
    "strong-cocoercivity": extra("x", "y"),
    "strong-monotonicity": extra("x", "y"),
    "polyak-lojasiewicz": lambda s: s.value("fx") - s.value("fmin"),
    "quadratic-growth": extra("x"),
    "variance-transfer": extra("g1", "h1"),
    "projection-angle": extra("z", "p"),
    "projection-nonexpansive": extra("x", "y"),
    "projection-firm": extra("p", "q"),
    "projection-pythagoras": extra("x", "p"),
    "prox-firm": extra("p", "q"),
    "gradient-lipschitz-convex": extra("x", "y"),
    "gradient-step-contraction": extra("x", "y"),
    "gradient-step-nonexpansive": extra("x", "y"),
    "sufficient-decrease": extra("g0"),
    "gradient-descent-tight": extra("x"),
    "subgradient-method": extra("x"),
    "proximal-point": extra("x"),
}


@pytest.mark.parametrize("label", TIGHT)
def test_a_slightly_stronger_statement_is_refuted(label):
    space, statement, hypotheses = built(claim(f"textbook/{label}"))
    stronger = Condition("stronger", statement.form + TIGHT[label](space) / 100, statement.relation)
    answer = prove(stronger, hypotheses, space)
    assert isinstance(answer, Refutation)
    assert answer.check()
    assert answer.excess > 0


def test_cocoercivity_needs_convexity():
    space, statement, _ = built(claim("textbook/cocoercivity"))
    x, y, g, h = space.vectors_of()
    points = ((x, g, space.value("fx")), (y, h, space.value("fy")))
    assert isinstance(prove(statement, smooth(space, points, 1), space), Refutation)


def test_a_step_beyond_two_over_L_expands():
    c = claim("textbook/gradient-step-nonexpansive")
    assert c.violated(delta="201/100", L=1, distance2=1) == ("step size",)
    space, statement, hypotheses = c.vectors.build({"delta": Fraction(201, 100), "L": Fraction(1)})
    x, y, g, h = space.vectors_of()
    nonexpansive = square(x - Fraction(201, 100) * g - (y - Fraction(201, 100) * h)) <= square(x - y)
    assert isinstance(prove(nonexpansive, hypotheses, space), Refutation)
    assert isinstance(prove(statement, hypotheses, space), Proof)


BY_HAND = {
    "young": ({"t": "2", "a2": "3", "b2": "8"}, "5"),
    "strong-cocoercivity": ({"mu": "1", "L": "3", "distance2": "4", "gradient_distance2": "8"}, "5"),
    "gradient-step-contraction": ({"delta": "1", "mu": "1/10", "L": "3", "distance2": "2"}, "8"),
    "gradient-descent-linear": ({"delta": "1/2", "mu": "1", "L": "2", "k": "3", "f0_gap": "8"}, "1"),
    "gradient-descent-tight": ({"delta": "1", "L": "1", "k": "3", "R2": "28"}, "2"),
    "sgd-strongly-convex": (
        {"delta": "1/4", "mu": "1", "L": "2", "k": "2", "R2": "16", "sigma_star2": "3"},
        "21/2",
    ),
    "minibatch-sgd": (
        {"delta": "1/4", "mu": "1", "L": "2", "N": "3", "k": "2", "R2": "16", "sigma_star2": "3"},
        "19/2",
    ),
    "svrg-contraction": ({"mu": "1", "L": "1", "delta": "1/10", "M": "50", "start_gap": "4"}, "2"),
    "without-replacement": ({"count": "5", "size": "2", "sigma2": "8"}, "3"),
    "reshuffling": ({"count": "4", "sigma2": "3"}, "10"),
    "participation-variance": ({"delta": "1/2", "N": "2", "weighted_squares": "16"}, "1"),
    "recursion": ({"q": "1/2", "c": "1", "r0": "8", "K": "3"}, "11/4"),
}


@pytest.mark.parametrize("label", BY_HAND)
def test_right_sides_by_hand(label):
    values, right = BY_HAND[label]
    assert exact(claim(f"textbook/{label}"), {k: Fraction(v) for k, v in values.items()}) == Fraction(right)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=9, max_size=9),
    st.sampled_from([c for c in LINES if not built(c)[2]]),
)
def test_statements_without_hypotheses_hold_for_any_vectors(entries, c):
    """Vectors of integers, put in directly: no prover involved."""
    for i in range(len(c.vectors.settings)):
        space, statement, _ = built(c, i)
        size = space.dimension
        coordinates = np.array((entries * 6)[: 3 * size], dtype=object).reshape(size, 3)
        gram = (coordinates @ coordinates.T).tolist()
        assert statement.holds(gram, [Fraction(x) for x in entries[: len(space.values)]])
