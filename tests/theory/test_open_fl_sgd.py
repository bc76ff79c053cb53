"""The SGD side of open-fl as encoded: formulas, hand-worked values, the prover, and neighbours that are false."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import claim
from theory.expression import check
from theory.inequality.prover import Proof, Refutation, prove
from theory.inequality.vectors import Condition
from theory.papers.open_fl import sgd, sgd_lines
from theory.stability import exact_radius, uniform_radius

IDS = [
    "definition-1",
    "definition-1/for-all-time",
    "proposition-1",
    "proposition-1/second-moments",
    "proposition-1/dependent-weights",
    "theorem-2",
    "theorem-2/corrected",
    "theorem-2/corrected-2",
    "theorem-2/corrected-3",
    "lemma-4",
    *[f"eq{n}" for n in range(6, 12)],
]
VECTOR_LINES = {name: line for name, line in vars(sgd_lines).items() if isinstance(line, sgd_lines.VectorLine)}


def of(label):
    return claim(f"open-fl/{label}")


def built(line, setting):
    return line.build({name: Fraction(text) for name, text in setting.items()})


def test_every_claim_is_there_in_the_papers_order():
    assert [c.label for c in sgd.CLAIMS] == IDS
    assert [c.label for c in sgd.CLAIMS if c.amends] == [f"theorem-2/corrected{n}" for n in ("", "-2", "-3")]
    assert [p.name for p in of("theorem-2").parameters] == ["mu", "L", "r", "sigma"]
    assert [p.name for p in of("theorem-2/corrected-3").parameters] == ["mu", "L", "r", "sigma", "eta"]


@pytest.mark.parametrize("c", sgd.CLAIMS, ids=lambda c: c.label)
def test_formulas_parse_and_latex_is_set(c):
    from matplotlib.mathtext import MathTextParser

    check(c)
    parser = MathTextParser("agg")
    for text in (c.latex, c.quantity.latex, *[side for s in c.steps for side in (s.left, s.right)]):
        parser.parse(f"${text}$")


def test_values_worked_out_by_hand():
    assert of("theorem-2").bound(mu=1, L=1, r=1, sigma=1) == pytest.approx(4)  # 1 + sqrt(3) sqrt(3)
    assert of("theorem-2").bound(mu=1, L=16, r=2, sigma=16) == pytest.approx(14)  # 2 + 4 sqrt(9)
    assert of("theorem-2/corrected").bound(mu=1, L=3, r=1, sigma=3) == pytest.approx(2)
    assert of("theorem-2/corrected-2").bound(mu=1, L=7, r=3, sigma=0) == pytest.approx(6)
    # mu = 1, L = 3, eta = 1/6: A = 2, A (A - 1/2)/((1 - 1/3) 3) = 3/2, eta A/(mu L) = 1/9
    assert of("theorem-2/corrected-3").bound(mu=1, L=3, r=2, sigma=3, eta=1 / 6) == pytest.approx(np.sqrt(7))
    # 2 (2/3 - 1/3 + 4/3)/(4/3) and so on: kappa = 3, mu = 1
    assert of("eq6").bound(mu=1, L=3, gradient_norm=3, distance2=4) == pytest.approx(3 / (4 / 3) + 4 / (4 / 3))
    assert of("eq7").bound(mu=1, L=3, r=2, gradient_norm=3, distance2=4) == pytest.approx(21 / 4 - 6)
    assert of("eq8").bound(L=2, iterate_norm=3, iterate_product=4, sampled_gradient2=8) == pytest.approx(7)
    assert of("eq9").bound(sigma=3, gradient_norm=4) == pytest.approx(25)
    assert of("eq10").bound(mu=1, L=3, r=1, sigma=3, iterate_norm=2, gradient_norm=3, distance2=2) == pytest.approx(
        4 + 2 - 1 / 2 - 1 + 1
    )
    assert of("eq11").bound(mu=1, L=4, r=1, sigma=4, iterate_norm=3, minimiser_norm=1) == pytest.approx(11)


@given(st.floats(1, 1000), st.sampled_from([0.5, 1.0, 4.0]), st.floats(0, 5), st.floats(0, 5))
def test_the_repairs_are_the_calculators_and_below_the_printed_radius(kappa, L, r, noise):
    own = {"mu": L / kappa, "L": L, "r": r, "sigma": noise * L}
    corrected = of("theorem-2/corrected").bound(**own)
    assert corrected == pytest.approx(float(uniform_radius(**own)), rel=1e-9)
    assert of("theorem-2/corrected-2").bound(**own) == corrected
    assert float(exact_radius(**own)) <= corrected * (1 + 1e-9)
    assert corrected <= of("theorem-2").bound(**own) * (1 + 1e-12)
    eta = 0.37 / L
    assert of("theorem-2/corrected-3").bound(**own, eta=eta) == pytest.approx(float(uniform_radius(**own, eta=eta)))


def test_the_printed_radius_over_the_least_one():
    """3.4495 at kappa = 1 without noise, towards 2 as kappa grows; between 1.29 and 3.45 on the whole grid."""
    kappa, sigma = np.geomspace(1, 1000, 200)[:, None], np.concatenate([[0], np.geomspace(1e-3, 1e3, 101)])
    ratio = of("theorem-2").bound(mu=1 / kappa, L=1.0, r=1.0, sigma=sigma) / exact_radius(1 / kappa, 1.0, 1.0, sigma)
    assert 1.29 < ratio.min() < 1.30
    assert ratio.max() == pytest.approx(1 + np.sqrt(6))
    far = of("theorem-2").bound(mu=1e-8, L=1.0, r=1.0, sigma=0.0) / exact_radius(1e-8, 1.0, 1.0, 0.0)
    assert far == pytest.approx(2, abs=1e-3)


@pytest.mark.parametrize("name", VECTOR_LINES)
def test_every_vector_line_is_proved_at_its_settings(name):
    for setting in VECTOR_LINES[name].settings:
        space, statement, hypotheses = built(VECTOR_LINES[name], setting)
        proof = prove(statement, hypotheses, space)
        assert isinstance(proof, Proof), setting
        assert proof.check()
        assert not proof.contradictory


def times(factor, radius2):
    return sgd_lines.stable(lambda values: Fraction(factor) * radius2(values))


@pytest.mark.parametrize("mu", ["1/2", "1/10", "1/1000"])
@pytest.mark.parametrize("sigma", ["0", "1"])
def test_a_slightly_smaller_radius_is_refuted_by_vectors(mu, sigma):
    setting = {"mu": mu, "L": "1", "r": "1", "sigma": sigma, "eta": "1"}
    line = sgd_lines.VectorLine(times("99/100", sgd_lines.full_step_radius2), (setting,))
    space, statement, hypotheses = built(line, setting)
    found = prove(statement, hypotheses, space)
    assert isinstance(found, Refutation)
    assert found.check()


@pytest.mark.parametrize(
    ("line", "slack"),
    [
        (sgd_lines.EQ6, lambda space, values: "x*"),
        (sgd_lines.EQ9, lambda space, values: "v"),
        (sgd_lines.AFFINE, lambda space, values: "x"),
    ],
    ids=["eq6", "eq9", "affine"],
)
def test_a_neighbour_with_a_little_less_on_the_right_is_refuted(line, slack):
    """Each of these lines is attained, so nothing can be taken off its right side."""
    from theory.inequality.vectors import square

    setting = line.settings[-2] if line is sgd_lines.EQ6 else line.settings[0]
    space, statement, hypotheses = built(line, setting)
    vector = space.vector(slack(space, setting))
    worse = Condition("claim", statement.form + square(vector) / 50, "<=")
    assert isinstance(prove(worse, hypotheses, space), Refutation)


def test_the_printed_radius_needs_the_room_below_kappa_3():
    """At kappa = 1 with r = sigma/L = 1 the printed R^2 is 16 and the least is 2, an eighth of it."""
    setting = {"mu": "1", "L": "1", "r": "1", "sigma": "1", "eta": "1"}
    for factor, expected in (("12/100", Refutation), ("13/100", Proof)):
        space, statement, hypotheses = built(
            sgd_lines.VectorLine(times(factor, sgd_lines.printed_radius2), (setting,)), setting
        )
        assert isinstance(prove(statement, hypotheses, space), expected)


def test_a_printed_radius_that_is_not_rational_is_refused():
    with pytest.raises(ValueError, match="rational"):
        sgd_lines.printed_radius2({name: Fraction(1, 2) for name in ("mu", "L", "r", "sigma", "eta")})


def test_hypotheses_exclude_what_the_formulas_cannot_do():
    assert of("theorem-2").violated(mu=2, L=1, r=1, sigma=1)
    assert of("eq11").violated(mu=1, L=2, r=1, sigma=1, iterate_norm=1, minimiser_norm=1)
    assert of("theorem-2/corrected-3").violated(mu=1, L=1, r=1, sigma=1, eta=0.9999) == ()
    assert of("theorem-2/corrected-3").violated(mu=1, L=2, r=1, sigma=1, eta=0.6)
