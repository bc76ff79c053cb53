"""One name, one thing: what an assumption or an algorithm says of a number, no definition says otherwise.

`proved` was once said of a claim that defines rho as 9999/10000, while `connected(W)` takes it for an eigenvalue of W.
"""

from dataclasses import replace

import pytest

from tests.rounds import gossip, local
from theory import algorithm, claim, derivation
from theory.domain import PROBABILITY, Domain
from theory.sentence import SentenceError
from validate.certificate.derivation import derivation_certificate
from validate.examine import examine
from validate.instances.hunt import POOL, hunt
from validate.verifier.derivation import verify_derivation
from validate.verifier.reading import FormatError


@algorithm(x="each x0", y="each x0")
def two(w, x, y, *, W, V):
    return w.mix(x, W), w.mix(y, V)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


BEFORE = "x[k] - eta*grad(f_n, x[k])"
MIXED = f"mean_n(norm2(x[k+1] - mean_n({BEFORE}))) <= rho**2*mean_n(norm2({BEFORE} - mean_n({BEFORE})))"
APART = "mean_n(norm2(y[k+1] - mean_n(y[k]))) <= rho**2*mean_n(norm2(y[k] - mean_n(y[k])))"
NETWORK = ("connected(W)",)
SMOOTH = ("smooth(f, L)",)


@pytest.mark.parametrize(
    ("statement", "rest", "told"),
    [
        (MIXED, {"of": gossip, "assuming": NETWORK, "where": {"rho": "9999/10000"}}, "where defines rho"),
        ("norm2(grad(f, x)) <= L", {"vectors": ("x",), "assuming": SMOOTH, "where": {"L": "2"}}, "where defines L"),
        ("norm2(x[k+1] - x[k]) <= 0", {"of": local, "where": {"H": "1"}}, "where defines H, a parameter"),
        (MIXED.replace("rho", "rho_n"), {"of": gossip, "assuming": NETWORK}, "rho is one number"),
        (MIXED, {"of": gossip, "assuming": (*NETWORK, "smooth(f_n, rho)")}, "rho is the second eigenvalue of a matrix"),
        (APART, {"of": two, "assuming": (*NETWORK, "connected(V)")}, "rho is the second eigenvalue of one matrix"),
    ],
)
def test_a_name_that_means_two_things_is_refused(statement, rest, told):
    with pytest.raises(SentenceError, match=told):
        claim("two-things", statement, **rest)


def test_two_networks_may_be_assumed_where_nothing_is_said_of_rho():
    claim("two-networks", "mean_n(dot(x[k], y[k])) >= 0", of=two, assuming=(*NETWORK, "connected(V)"))


def test_the_verifier_refuses_a_file_in_which_rho_means_two_things():
    one = claim("mixed", MIXED, of=gossip, assuming=NETWORK)
    from theory.derivation.search.searching import search

    lines = search(one).lines
    assert lines is not None
    written = derivation_certificate(one, derivation.lines(one, lines))
    assert verify_derivation(written).valid
    for changed in (
        {**written, "definitions": {"rho": "0"}},
        {**written, "relations": [*written["relations"], "rho_n <= 1"]},
    ):
        with pytest.raises(FormatError, match="rho is the second eigenvalue"):
            verify_derivation(changed)


def test_an_eigenvalue_is_in_its_domain():
    one = claim("mixed", MIXED, of=gossip, assuming=NETWORK, parameters={"rho": Domain(0.5, 1)})
    seen = hunt(one, pool=60, evaluations=0, last=POOL).seen
    assert seen
    assert all(0.5 <= one.drawn.values["rho"] <= 1 for one in seen)
    beyond = replace(one, parameters={"rho": Domain(1, None)})
    assert hunt(beyond, pool=60, evaluations=0, last=POOL).seen == []


@pytest.mark.parametrize("level", ["1 - p", "2", "p - 1"])
def test_a_quantile_of_a_level_that_is_no_probability_says_nothing(level, without_search, few_instances, tmp_path):
    one = claim(
        "level", f"quantile(norm2(x[1]), {level}) <= 0", of=sgd,
        assuming=(*SMOOTH, "p == 1"), parameters={"p": PROBABILITY},
    )  # fmt: skip
    assert examine(one, quick=True, out=tmp_path).verdict == "undecided"


def test_the_largest_value_is_a_quantile(without_search, few_instances, tmp_path):
    one = claim("largest", "quantile(norm2(x[1]), p) <= 0", of=sgd, assuming=(*SMOOTH, "p == 1"))
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"
