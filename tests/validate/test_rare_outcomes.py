"""One rare outcome of many, beside the level of a quantile or by itself; every small pair that a relation binds."""

import pytest

from tests.rounds import local_sgd
from theory import algorithm, claim
from theory.claim import Claim
from theory.program import work
from validate.examine import examine
from validate.instances.outliers import with_one_far_away
from validate.instances.seen import Seen
from validate.instances.small_pairs import small_pairs, with_small_pairs
from validate.instances.stages import Budget


@algorithm
def sgd(w, x, *, eta):
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    return x - eta * w.mean(g)


@algorithm
def one_client(w, x, *, eta):
    g = w.average(w.gradient(x), w.choose(1))
    w.tap("g", g)
    return x - eta * g


@algorithm
def some_clients(w, x, *, eta, S):
    g = w.average(w.gradient(x), w.choose(S))
    w.tap("g", g)
    return x - eta * g


@algorithm
def lazy(w, x, *, eta, q):
    return w.where(w.coin(q), x - eta * w.mean(w.gradient(x)), x)


@algorithm
def one_coordinate(w, x, *, eta, m):
    g = w.keep(w.full_gradient(x), m)
    w.tap("g", g)
    return x - eta * g


@algorithm
def top(w, x, *, m):
    return w.top(x, m)


NOISE, SPREAD = "norm2(g[k] - grad(f_n, x[k]))", "norm2(g[k] - grad(f, x[k]))"
BOUNDED, ALIKE = ("bounded_variance(sigma2)", "p < 1"), ("dissimilar(zeta)", "p < 1")
BALL = "((1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*N))"
FALSE = {
    "iterate": claim(
        "iterate",
        f"quantile(norm2(x[k] - xstar), 1 - p) <= {BALL}*(1 + log(1/p))",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)", "p < 1"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    "samples": claim("samples", f"quantile({NOISE}, 1 - p) <= 3*sigma2*log(2/p)", of=sgd, assuming=BOUNDED),
    "level": claim("level", f"quantile({NOISE}, 1 - p/3) <= 3*sigma2*log(6/p)", of=sgd, assuming=BOUNDED),
    "clients": claim("clients", f"quantile({SPREAD}, 1 - p) <= 3*zeta**2*log(2/p)", of=one_client, assuming=ALIKE),
    "some": claim("some", f"quantile({SPREAD}, 1 - p) <= 3*zeta**2*log(2/p)", of=some_clients, assuming=ALIKE),
    "coin": claim(
        "coin",
        "quantile(norm2(x[k + 1] - x[k]), 1 - p) <= 3*log(2/p)*E(norm2(x[k + 1] - x[k]))",
        of=lazy,
        assuming=("smooth(f, L)", "q <= 1", "p < 1"),
    ),
    "keep": claim(
        "keep",
        f"quantile({SPREAD}, 1 - p) <= 3*log(2/p)*norm2(grad(f, x[k]))",
        of=one_coordinate,
        assuming=("smooth(f, L)", "m <= d", "p < 1"),
    ),
}
APART = "mean_n(norm2(y[k, h] - mean_n(y[k, h])))"
IN_EVERY_OUTCOME = {
    "samples": claim("samples", f"{NOISE} <= 20*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "clients": claim("clients", f"{SPREAD} <= 20*zeta**2", of=one_client, assuming=ALIKE[:1]),
    "a number in the text": claim("text", f"{NOISE} <= exp(5)*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "both at once": claim(
        "both",
        f"min({NOISE} - 8*sigma2, norm2(grad(f_n, x[k]) - grad(f, x[k])) - 8*zeta**2) <= 0",
        of=sgd,
        assuming=("bounded_variance(sigma2)", "dissimilar(zeta)"),
    ),
    "short steps": claim(
        "short-steps",
        f"{APART} <= 3*H*eta**2*sigma2 + 6*H**2*eta**2*zeta",
        of=local_sgd,
        assuming=("smooth(f_n, L)", "convex(f_n)", "bounded_variance(sigma2)", "quadratic(f_n)", "eta <= 1/(2*L)"),
        where={
            "zeta": "max_k(max_h(quantile((max_n(norm(grad(f_n, mean_n(y[k, h])) - grad(f, mean_n(y[k, h]))))"
            " + 2*L*max_n(norm(y[k, h] - mean_n(y[k, h]))))**2, 1)))"
        },
    ),
}
"""A variance says little of what happens: the first has sigma2*(m - 1) on the left, for m samples."""
LEFT_OUT = "norm2(x[k + 1] - x[k])"
PAIR = claim("pair", f"{LEFT_OUT} <= 3*(1 - m/d)**2*norm2(x[k])", of=top, assuming=("m <= d",))
TRUE = {
    "samples": claim("samples", f"quantile({NOISE}, 1 - p) <= sigma2/p", of=sgd, assuming=BOUNDED),
    "clients": claim("clients", f"quantile({SPREAD}, 1 - p) <= zeta**2/p", of=one_client, assuming=ALIKE),
    "pair": claim("pair", f"{LEFT_OUT} <= (1 - m/d)*norm2(x[k])", of=top, assuming=("m <= d",)),
    "every outcome": claim("every", f"{SPREAD} <= N*zeta**2", of=one_client, assuming=ALIKE[:1]),
}
PLAIN = claim("plain", "E(f(x[k + 1])) <= E(f(x[k]))", of=lazy, assuming=("smooth(f, L)", "eta <= 1/L", "q <= 1"))


def _never() -> bool:
    return False


def _breaks(one: Claim, budget: Budget) -> Seen | None:
    """The first break of both stages."""
    some = (*with_one_far_away(one, _never, budget), *with_small_pairs(one, _never, budget))
    return next((seen for seen in some if seen.measured.broken), None)


@pytest.mark.parametrize("one", [*FALSE.values(), *IN_EVERY_OUTCOME.values()], ids=lambda one: one.label)
def test_one_far_away_breaks_what_has_a_logarithm_or_is_about_every_outcome(one: Claim) -> None:
    some = with_one_far_away(one, _never, Budget(500_000))
    assert any(seen.measured.broken for seen in some)


IN_THE_MEAN = {
    "of each client one": claim("one-each", f"E(max_n({NOISE})) <= 4*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "of 13 clients": claim("of-13", f"E(max_n({NOISE})) <= 12*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "lengths": claim("lengths", f"E(max_n(sqrt({NOISE}))) <= 2*sqrt(sigma2)", of=sgd, assuming=BOUNDED[:1]),
    "nine of ten": claim("ninety", f"quantile({NOISE}, 0.9) <= 9.6*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "two of three": claim("thirds", f"quantile({NOISE}, 2/3) <= 29/10*sigma2", of=sgd, assuming=BOUNDED[:1]),
    "of clients": claim("of-clients", f"quantile({SPREAD}, 3/4) <= 39/10*zeta**2", of=one_client, assuming=ALIKE[:1]),
}


@pytest.mark.parametrize("one", IN_THE_MEAN.values(), ids=lambda one: one.label)
def test_what_is_seldom_for_one_client_is_not_for_many_and_levels_are_beside_a_chance(one: Claim) -> None:
    some = with_one_far_away(one, _never, Budget(500_000))
    assert any(seen.measured.broken for seen in some)


@pytest.mark.parametrize(("many", "level", "least"), [(10, "9.6", "10"), (3, "29/10", "3"), (4, "39/10", "4")])
def test_markov_s_bound_is_not_broken(many: int, level: str, least: str) -> None:
    one = claim("markov", f"quantile({NOISE}, 1 - 1/{many}) <= {least}*sigma2", of=sgd, assuming=BOUNDED[:1])
    seen = [seen for seen in with_one_far_away(one, _never, Budget(500_000)) if seen is not None]
    assert seen
    assert not any(seen.measured.broken for seen in seen)


def test_three_of_four_coordinates_are_kept() -> None:
    broken = _breaks(PAIR, Budget(500_000))
    assert broken is not None
    assert (broken.drawn.instance.dim, broken.drawn.values["m"]) == (4, 3)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_stands(name: str) -> None:
    assert _breaks(TRUE[name], Budget(500_000)) is None


def test_every_small_pair_is_gone_through() -> None:
    pairs = [(pair["d"], pair["m"]) for pair in small_pairs(PAIR)]
    assert pairs[:3] == [(1, 1), (2, 2), (2, 1)]
    assert sorted(pairs) == [(d, m) for d in range(1, 7) for m in range(1, d + 1)]
    assert not [*small_pairs(PLAIN)]


def test_a_claim_about_expectations_takes_no_work() -> None:
    before = work.operations()
    assert not [*with_one_far_away(PLAIN, _never, Budget(None)), *with_small_pairs(PLAIN, _never, Budget(None))]
    assert work.operations() == before


def test_a_hunt_that_is_to_stop_stops() -> None:
    assert not [*with_one_far_away(FALSE["samples"], lambda: True, Budget(None))]
    assert not [*with_small_pairs(PAIR, lambda: True, Budget(None))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize(
    "one",
    [FALSE["iterate"], FALSE["samples"], FALSE["clients"], PAIR, IN_EVERY_OUTCOME["short steps"]],
    ids=lambda one: one.label,
)
def test_a_check_refutes_it(one: Claim, seed: int, tmp_path) -> None:
    result = examine(one, quick=True, out=tmp_path, seed=seed)
    assert result.verdict == "refuted", result.covered


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUE)
def test_a_check_leaves_what_is_true(name: str, tmp_path) -> None:
    result = examine(TRUE[name], quick=True, out=tmp_path)
    assert result.verdict in ("supported", "proved"), result.covered
