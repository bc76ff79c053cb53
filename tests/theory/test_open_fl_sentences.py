"""The claims of open-fl as sentences: ids, parameters, and the numbers that the packages' forms gave."""

from fractions import Fraction

import pytest

from theory import catalog
from theory.papers.open_fl import PAPER

CLAIMS = {c.label: c for c in PAPER.claims}
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


def test_the_claims_are_those_of_the_packages_in_their_order():
    assert [c.label for c in PAPER.claims] == [c.label for c in catalog.paper("open-fl").claims]
    old = {c.label: c.amends for c in catalog.paper("open-fl").claims}
    assert {c.label: c.amended for c in PAPER.claims} == old


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
