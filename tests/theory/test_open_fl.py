"""The claims of open-fl: ids, right sides as numbers, by hand and by other code, and how its readings differ."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theory import catalog
from theory.calculator import calculator
from theory.papers.open_fl import PAPER
from theory.stability import exact_radius, uniform_radius

CLAIMS = {c.label: c for c in PAPER.claims}
OF_SGD = (
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
    *(f"eq{n}" for n in range(6, 12)),
)
OF_ADAM = (
    "theorem-3",
    "theorem-3/with-moment-factors",
    "theorem-3/everywhere",
    "theorem-3/on-the-ball",
    "theorem-3/papers-settings",
    "theorem-3/corrected",
    "lemma-5",
    "lemma-5/with-moment-factors",
    "lemma-5/after-communication",
    "eq15",
    "eq16",
    "eq17",
    "eq17/with-moment-factors",
    "eq18",
    "eq19",
    "eq20",
    "eq21",
    "eq22",
    "eq22/after-communication",
    "eq23",
    "eq24",
    "eq25/step-length",
    "eq25",
    "eq25/with-moment-factors",
    "eq26",
    "eq26/with-moment-factors",
)
AMENDS = {
    **dict.fromkeys((f"theorem-2/corrected{end}" for end in ("", "-2", "-3")), "theorem-2"),
    "theorem-3/corrected": "theorem-3",
}
RECORDED = (
    ("definition-1/for-all-time", "R=2", 4.0),
    ("proposition-1", "R=1", 1.0),
    ("proposition-1/second-moments", "R2=3", 3.0),
    ("proposition-1/dependent-weights", "R2=1/2", 0.5),
    ("theorem-2", "mu=1/10 L=4 r=0 sigma=1", 1.5811388300841898),
    ("theorem-2", "mu=1/10 L=4 r=0 sigma=1/2", 0.7905694150420949),
    ("theorem-2", "mu=1/10 L=2 r=1 sigma=1/2", 7.422616289332565),
    ("theorem-2/corrected", "mu=1/3 L=1 r=3/2 sigma=1", 2.5495097567963922),
    ("theorem-2/corrected", "mu=1/10 L=4 r=0 sigma=1/2", 0.5659615711335886),
    ("theorem-2/corrected", "mu=1/10 L=4 r=3/2 sigma=1", 6.885219676960205),
    ("theorem-2/corrected-2", "mu=1/10 L=1 r=0 sigma=3", 7.035623639735144),
    ("theorem-2/corrected-2", "mu=1/3 L=2 r=1 sigma=1/2", 1.928406077567689),
    ("theorem-2/corrected-2", "mu=1/10 L=4 r=1 sigma=3", 5.659615711335886),
    ("theorem-2/corrected-3", "mu=1/3 L=1 r=3/2 sigma=3 eta=1/8", 2.3061183443574222),
    ("theorem-2/corrected-3", "mu=1/3 L=2 r=0 sigma=3 eta=1/8", 1.403121520040228),
    ("theorem-2/corrected-3", "mu=1/10 L=4 r=0 sigma=3 eta=1/10", 2.147673159491453),
    ("lemma-4", "R=3 L=4 eta=1/8", 3.0),
    ("eq6", "mu=9/10 L=2 gradient_norm=3 distance2=3", 4.9655172413793105),
    ("eq7", "mu=1 L=2 r=0 gradient_norm=1 distance2=1", 1.0),
    ("eq8", "L=1 iterate_norm=2 iterate_product=3 sampled_gradient2=2", 0.0),
    ("eq9", "sigma=3 gradient_norm=3", 18.0),
    ("eq10", "mu=1 L=4 r=0 sigma=1/2 iterate_norm=3 gradient_norm=1 distance2=2", 8.178125),
    ("eq11", "mu=1/3 L=2 r=1 sigma=1/2 iterate_norm=1/2 minimiser_norm=2", 1.9375),
    ("theorem-3", "mu=1 L=1 eta=1/4 beta1=1/2 beta2=999/1000 eps=1/4 sigma=1 d=100 r=1", 240.71533552708544),
    ("theorem-3", "mu=9/10 L=1 eta=1/10 beta1=0 beta2=9/10 eps=1/4 sigma=1/2 d=1 r=1", 21.554726807129768),
    ("theorem-3", "mu=9/10 L=1 eta=1/4 beta1=1/4 beta2=1/2 eps=1 sigma=3 d=1 r=1", 85.37149857461822),
    (
        "theorem-3/with-moment-factors",
        "mu=1 L=1 eta=1/10 beta1=9/10 beta2=999/1000 eps=1/100 sigma=1/2 d=3 r=1",
        92.20321002937195,
    ),
    (
        "theorem-3/with-moment-factors",
        "mu=1 L=1 eta=1/8 beta1=1/4 beta2=1/2 eps=1/100 sigma=1/2 d=100 r=1",
        16.52430838136581,
    ),
    (
        "theorem-3/with-moment-factors",
        "mu=9/10 L=2 eta=1/4 beta1=1/4 beta2=1/2 eps=1/4 sigma=1/2 d=100 r=1",
        30.778973445511916,
    ),
    ("theorem-3/everywhere", "mu=1 L=1 eta=1/4 beta1=0 beta2=1/2 eps=1 sigma=1 d=3 r=3/2", 14.415719972791308),
    (
        "theorem-3/everywhere",
        "mu=9/10 L=4 eta=1/4 beta1=1/2 beta2=999/1000 eps=1/100 sigma=1/2 d=3 r=0",
        83.68133785353514,
    ),
    ("theorem-3/everywhere", "mu=9/10 L=1 eta=1/4 beta1=1/2 beta2=1/2 eps=1 sigma=1 d=1 r=0", 3.059830711764006),
    (
        "theorem-3/papers-settings",
        "mu=9/10 L=1 eta=1/8 beta1=1/2 beta2=999/1000 eps=1 sigma=1/2 d=1 r=1",
        46.91621896059344,
    ),
    (
        "theorem-3/papers-settings",
        "mu=1 L=1 eta=1/8 beta1=1/4 beta2=9/10 eps=1/100 sigma=1 d=3 r=0",
        6.9239471736048745,
    ),
    (
        "theorem-3/papers-settings",
        "mu=1 L=1 eta=1/10 beta1=9/10 beta2=1/2 eps=1/100 sigma=3 d=100 r=1",
        560.0409243518122,
    ),
    ("theorem-3/corrected", "mu=1/10 eta=1/8 eps=1 sigma=3 r=0", 30.375),
    ("theorem-3/corrected", "mu=1/3 eta=1/8 eps=1/4 sigma=3 r=0", 9.75),
    ("theorem-3/corrected", "mu=9/10 eta=1/10 eps=1 sigma=1/2 r=0", 0.6055555555555556),
    ("lemma-5", "mu=9/10 L=4 eta=1/10 beta1=9/10 beta2=1/2 eps=1/100 sigma=1/2 d=1 lyapunov=1", 1.0979774605698394),
    (
        "lemma-5/with-moment-factors",
        "mu=1/10 L=4 eta=1/8 beta1=0 beta2=999/1000 eps=1/4 sigma=1/2 d=3 lyapunov=3",
        96.65056310889555,
    ),
    (
        "lemma-5/after-communication",
        "mu=1 L=4 eta=1/4 beta1=1/2 beta2=999/1000 eps=1/100 sigma=1 d=3 lyapunov=2",
        1512.6997987563934,
    ),
    ("eq15", "mu=9/10 eta=1/8 beta1=9/10 eps=1/100 sigma=1/2 d=1 lyapunov=3", 11.55474906154039),
    ("eq16", "L=2 eta=1/10 beta1=9/10 eps=1 sigma=1 d=1 lyapunov=3", 1.0999999999999994),
    ("eq17", "mu=9/10 L=1 eta=1/10 beta1=1/4 beta2=1/2 eps=1/4 sigma=1 d=1 squared_distance=3", 3.4628784859503394),
    (
        "eq17/with-moment-factors",
        "mu=1/10 L=1 eta=1/8 beta1=1/4 beta2=9/10 eps=1 sigma=1 d=100 squared_distance=1/2",
        385.5185052616899,
    ),
    ("eq18", "kappa=1 C1=0 offset=1/2 r=0 R=1", 1.0),
    ("eq19", "mu=9/10 L=2 C1=0 C2=1 C3=1/2 C4=2 r=3/2", 3.862907813126304),
    ("eq20", "L=2 eta=1/10 next_squared_step=2 expected_descent=2", 2.2),
    ("eq21", "I1=3 I2=1 I3=2", 6.0),
    ("eq22", "L=4 eta=1/4 beta1=1/4 A_previous=2 squared_step=1", 4.5),
    ("eq22/after-communication", "L=2 eta=1/4 beta1=0 A_previous=1 squared_step=1", 0.0),
    ("eq23", "beta1=9/10 weighted_gradient=1", -0.09999999999999998),
    ("eq24", "sigma=3 inverse_root_drop=2", 18.0),
    ("eq25/step-length", "eta=1/8 beta1=1/2 beta2=1/2 d=1", 0.0625),
    (
        "eq25",
        "L=2 eta=1/10 beta1=0 beta2=999/1000 sigma=1 d=3 b=1/2 c=2 A_previous=3 "
        "weighted_gradient=2 inverse_root_drop=2",
        22.99999999999998,
    ),
    (
        "eq25/with-moment-factors",
        "L=2 eta=1/4 beta1=1/4 beta2=1/2 sigma=1 d=1 b=3 c=1 A_previous=1 weighted_gradient=1/2 inverse_root_drop=2",
        -4.156250000000001,
    ),
    ("eq26", "L=4 eta=1/4 beta1=1/2 beta2=999/1000 sigma=3 d=100 lyapunov=2 weighted_gradient=1/2", 50018.56391855803),
    (
        "eq26/with-moment-factors",
        "L=4 eta=1/10 beta1=1/4 beta2=9/10 sigma=1 d=100 lyapunov=3 weighted_gradient=3",
        38.520895522388074,
    ),
)
"""Label, parameters, right side: three settings of each theorem, one of every other claim."""


def values(text):
    return dict(part.split("=") for part in text.split())


def test_every_claim_is_there_in_the_papers_order():
    assert catalog.paper("open-fl") is PAPER
    assert tuple(CLAIMS) == (*OF_SGD, *OF_ADAM)
    assert {c.label: c.amends for c in PAPER.claims if c.amends} == AMENDS
    for label, names in (("theorem-2", "mu L r sigma"), ("theorem-3", "mu L eta beta1 beta2 eps sigma d r")):
        bound = calculator(CLAIMS[label], ()).bound
        assert {p.name for p in bound.parameters} == set(names.split())


@pytest.mark.parametrize(("label", "given", "expected"), RECORDED)
def test_bounds_are_what_they_were(label, given, expected):
    assert float(CLAIMS[label].bound(**values(given))) == pytest.approx(expected, rel=1e-12)


def test_the_constants_of_theorem_3_are_terms_of_its_bound():
    given = "mu=1 L=1 eta=1/4 beta1=1/2 beta2=999/1000 eps=1/4 sigma=1 d=100 r=1"
    found = CLAIMS["theorem-3"].terms(**values(given))
    expected = {
        "kappa": 1.0,
        "C1": 0.5527864045000421,
        "C2": 12571.254268964502,
        "C3": -44.22135954999579,
        "C4": 100.5,
        "C5": 3.47213595499958,
        "one_minus_kappa_C1": 0.44721359549995787,
    }
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, rel=1e-12)


def test_values_that_violate_a_hypothesis_are_told():
    given = {"mu": "1/100", "L": 16, "eta": "1/10", "beta1": "9/10", "beta2": "999/1000", "eps": "1/1000", "sigma": 28}
    told = CLAIMS["theorem-3"].violated(**given, d=100, r=0)
    assert "one_minus_kappa_C1 > 0" in told
    assert "eta <= 1/L" in told
    assert CLAIMS["theorem-2/corrected-3"].violated(mu=1, L=1, r=1, sigma=1, eta=1) == ("eta*(mu + L) < 2",)


def test_the_least_radius_by_hand():
    # kappa = 4: sqrt(5/2 (1 + 9/4))
    found = CLAIMS["theorem-2/corrected"].bound(mu="1/2", L=2, r=1, sigma=3)
    assert float(found) ** 2 == pytest.approx(float(Fraction(5, 2) * Fraction(13, 4)), rel=1e-14)


# --- SGD -------------------------------------------------------------------------------------------------------------


def test_values_worked_out_by_hand():
    of = CLAIMS
    assert of["theorem-2"].bound(mu=1, L=1, r=1, sigma=1) == pytest.approx(4)  # 1 + sqrt(3) sqrt(3)
    assert of["theorem-2"].bound(mu=1, L=16, r=2, sigma=16) == pytest.approx(14)  # 2 + 4 sqrt(9)
    assert of["theorem-2/corrected"].bound(mu=1, L=3, r=1, sigma=3) == pytest.approx(2)
    assert of["theorem-2/corrected-2"].bound(mu=1, L=7, r=3, sigma=0) == pytest.approx(6)
    # mu = 1, L = 3, eta = 1/6: A = 2, A (A - 1/2)/((1 - 1/3) 3) = 3/2, eta A/(mu L) = 1/9
    assert of["theorem-2/corrected-3"].bound(mu=1, L=3, r=2, sigma=3, eta=1 / 6) == pytest.approx(np.sqrt(7))
    assert of["eq6"].bound(mu=1, L=3, gradient_norm=3, distance2=4) == pytest.approx(3 / (4 / 3) + 4 / (4 / 3))
    assert of["eq7"].bound(mu=1, L=3, r=2, gradient_norm=3, distance2=4) == pytest.approx(21 / 4 - 6)
    assert of["eq8"].bound(L=2, iterate_norm=3, iterate_product=4, sampled_gradient2=8) == pytest.approx(7)
    assert of["eq9"].bound(sigma=3, gradient_norm=4) == pytest.approx(25)
    # 4 + 2 - 1/2 - 1 + 1
    values = {"mu": 1, "L": 3, "r": 1, "sigma": 3, "iterate_norm": 2, "gradient_norm": 3, "distance2": 2}
    assert of["eq10"].bound(**values) == pytest.approx(5.5)
    assert of["eq11"].bound(mu=1, L=4, r=1, sigma=4, iterate_norm=3, minimiser_norm=1) == pytest.approx(11)
    corrected = of["theorem-3/corrected"].bound(mu=0.5, eta=0.1, eps=0.04, sigma=2, r=1)
    assert corrected == pytest.approx(1 + 4 + 0.1 * 2 / 0.2)


SIZES = st.just(0.0) | st.floats(1e-100, 5)  # squares of less underflow


@given(st.floats(1, 1000), st.sampled_from([0.5, 1.0, 4.0]), SIZES, SIZES)
def test_the_repairs_are_the_calculators_and_below_the_printed_radius(kappa, L, r, noise):
    own = {"mu": L / kappa, "L": L, "r": r, "sigma": noise * L}
    corrected = CLAIMS["theorem-2/corrected"].bound(**own)
    assert corrected == pytest.approx(float(uniform_radius(**own)), rel=1e-9)
    assert CLAIMS["theorem-2/corrected-2"].bound(**own) == corrected
    assert float(exact_radius(**own)) <= corrected * (1 + 1e-9)
    assert corrected <= CLAIMS["theorem-2"].bound(**own) * (1 + 1e-12)
    eta = 0.37 / L
    at_eta = CLAIMS["theorem-2/corrected-3"].bound(**own, eta=eta)
    assert at_eta == pytest.approx(float(uniform_radius(**own, eta=eta)))


def test_the_printed_radius_over_the_least_one():
    """3.4495 at kappa = 1 without noise, towards 2 as kappa grows; between 1.29 and 3.45 on the whole grid."""
    printed = CLAIMS["theorem-2"].bound
    kappa, sigma = np.geomspace(1, 1000, 200)[:, None], np.concatenate([[0], np.geomspace(1e-3, 1e3, 101)])
    ratio = printed(mu=1 / kappa, L=1.0, r=1.0, sigma=sigma) / exact_radius(1 / kappa, 1.0, 1.0, sigma)
    assert 1.29 < ratio.min() < 1.30
    assert ratio.max() == pytest.approx(1 + np.sqrt(6))
    far = printed(mu=1e-8, L=1.0, r=1.0, sigma=0.0) / exact_radius(1e-8, 1.0, 1.0, 0.0)
    assert far == pytest.approx(2, abs=1e-3)


def test_hypotheses_exclude_what_the_formulas_cannot_do():
    assert CLAIMS["theorem-2"].violated(mu=2, L=1, r=1, sigma=1)
    assert CLAIMS["eq11"].violated(mu=1, L=2, r=1, sigma=1, iterate_norm=1, minimiser_norm=1)
    assert CLAIMS["theorem-2/corrected-3"].violated(mu=1, L=1, r=1, sigma=1, eta=0.9999) == ()
    assert CLAIMS["theorem-2/corrected-3"].violated(mu=1, L=2, r=1, sigma=1, eta=0.6)


# --- Adam ------------------------------------------------------------------------------------------------------------

VALUES = st.fixed_dictionaries(
    {
        "mu": st.floats(0.1, 1),
        "L": st.floats(1, 1.3),
        "eta": st.floats(0.05, 0.7),
        "beta1": st.floats(0, 0.9),
        "beta2": st.floats(0.85, 0.999),
        "eps": st.floats(0.01, 1),
        "sigma": st.floats(0.05, 1),
        "d": st.integers(1, 10),
        "r": st.floats(0, 2),
    }
)


def constants(mu, L, eta, beta1, beta2, eps, sigma, d):
    """C1..C4, computed as (12) prints them."""
    power = (eps + sigma**2) ** -0.5
    C1 = 1 - 2 * mu * eta * power
    C2 = 2 * mu * eta**2 * power * sigma**2 * d * eps**-0.5 * ((1 + beta1) / (1 - beta1))
    C2 += (L / 2 + L * beta1 / (1 - beta1)) * (eta**2 * d) / ((1 - beta2) * (1 - beta1**2 / beta2))
    C3 = eta * beta1 / (1 - beta1) * sigma**2 * eps**-0.5 - eta * sigma**2 / (1 - beta1) * d * power
    C4 = eta * beta1 / (1 - beta1) * sigma**2 * eps**-0.5 + eta * sigma**2 / (1 - beta1) * d * eps**-0.5
    return C1, C2, C3, C4


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_theorem_3_is_the_larger_root_of_18(values):
    values = dict(values)
    r = values.pop("r")
    C1, C2, C3, C4 = constants(**values)
    mu, L = values["mu"], values["L"]
    assume(C1 >= 0)
    assume(1 - L / mu * C1 > 0.01)
    offset = 2 / mu * (C2 + C3 + C1 * C4)
    a = L / mu * C1
    roots = np.roots([1 - a, -2 * (1 + a) * r, -(a * r**2 + offset)])
    found = CLAIMS["theorem-3"].bound(**values, r=r)
    assert found == pytest.approx(max(roots.real), rel=1e-9, abs=1e-9)
    terms = CLAIMS["theorem-3"].terms(**values, r=r)
    for name, expected in zip(("C1", "C2", "C3", "C4"), (C1, C2, C3, C4), strict=True):
        assert terms[name] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert terms["C5"] == pytest.approx((1 + a) / (1 - a))
    assert terms["one_minus_kappa_C1"] == pytest.approx(1 - a)
    printed = CLAIMS["eq19"].bound(mu=mu, L=L, C1=C1, C2=C2, C3=C3, C4=C4, r=r)
    assert printed == pytest.approx(float(found), rel=1e-12)


def test_a_negative_C1_may_leave_no_radius():
    """1 - kappa C1 > 0 holds, and (5) has no real value: 1 + 3 kappa C1 is negative, and r is large."""
    values = {"mu": 1, "L": 2, "eta": 0.5, "beta1": 0, "beta2": 0.5, "eps": 0.01, "sigma": 0.1, "d": 1, "r": 100}
    theorem = CLAIMS["theorem-3"]
    assert theorem.violated(**values) == ("C1 > 0",)
    assert 1 - 2 * constants(**{n: v for n, v in values.items() if n != "r"})[0] > 0
    with pytest.raises(ValueError, match="undefined"):
        theorem.bound(**values)


def test_the_readings_differ_in_assumption_4():
    """At the iterates, everywhere, and on the ball; the other conditions on functions are the same."""
    read = {label: CLAIMS[f"theorem-3{label}"] for label in ("", "/everywhere", "/on-the-ball")}
    bounded = {label: [str(p.text) for p in c.predicates if "bounded_gradients" in p.text] for label, c in read.items()}
    assert bounded == {
        "": [],
        "/everywhere": ["bounded_gradients(f_ni, sigma)"],
        "/on-the-ball": ["bounded_gradients(f_ni, sigma, R)"],
    }
    assert "max_i(norm(grad(f_ni, x[k]))) <= sigma" in read[""].assuming
    for one in read.values():
        assert {"smooth(f_n, L)", "strongly_convex(f_n, mu)", "norm(xstar_n) <= r"} <= set(one.assuming)


def test_the_bound_exceeds_the_minimisers_ball():
    """R >= 2r wherever (5) exists with C1 >= 0, which (18)'s proof uses."""
    rng = np.random.default_rng(0)
    a, r, offset = rng.uniform(0, 0.99, 500), rng.uniform(0, 3, 500), rng.uniform(0, 3, 500)
    values = {"mu": 1.0, "L": 1.0, "C1": a, "C2": offset / 2, "C3": 0.0, "C4": 0.0, "r": r}
    assert (CLAIMS["eq19"].bound(**values) >= 2 * r - 1e-12).all()
