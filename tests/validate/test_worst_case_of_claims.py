"""Worst cases of claims: tight rates, false claims refuted beyond quadratics and one dimension, what is refused."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.rounds import chosen as some
from tests.rounds import descent, local
from tests.rounds import sgd as sampled
from theory import algorithm, claim
from theory.claim import Claim
from validate import verifier
from validate.breaks import accepted, certificate_of, worst_evidence
from validate.examine import examine
from validate.falsified import falsified
from validate.files import forgetting, load
from validate.instances import read_instance
from validate.instances.points import Points
from validate.instances.seen import measured
from validate.worst_case import NoReadingError, numbers_of, worst_case_of
from validate.worst_case.reading import read_claim
from validate.worst_case.stage import Worst, _rooted, worst

EXAMPLES = Path(__file__).parents[1] / "language"


@algorithm(x="x0", y="x0")
def fast(w, x, y, *, L):  # type: ignore[no-untyped-def]
    """Nesterov's method with weights k/(k + 3)."""
    ahead = y - w.full_gradient(y) / L
    return ahead, ahead + w.k / (w.k + 3) * (ahead - x)


@algorithm
def proximal(w, x, *, t):  # type: ignore[no-untyped-def]
    return w.mean(w.prox(x, t))


@algorithm
def clipped(w, x, *, eta):  # type: ignore[no-untyped-def]
    return x - eta * w.clip(w.full_gradient(x), 1)


SMOOTH = ("smooth(f, L)", "convex(f)", "N <= 1")
TUNED = (*SMOOTH, "eta == 1/L")
GAP = claim("gap", "f(x[k]) - fstar <= L*norm2(x0 - xstar)", of=descent, assuming=SMOOTH)


def _samples(data: Any) -> list[Any]:
    """The samples in a certificate, wherever they are."""
    if isinstance(data, dict):
        return [data] if "points" in data else [s for value in data.values() for s in _samples(value)]
    return [s for value in data for s in _samples(value)] if isinstance(data, list) else []


def broken(one: Claim) -> Worst:
    """The worst cases of a claim that they are to break, with a certificate that the verifier accepts."""
    found = worst(one, quick=True, accepted=lambda seen: accepted(one, seen, True))
    assert found.broken is not None, (found.refused, len(found.tried), len(found.suspects))
    assert isinstance(found.broken.drawn.instance.problem, Points)
    return found


def unbroken(one: Claim) -> Worst:
    """The worst cases of a claim that they are not to break."""
    found = worst(one, quick=True)
    assert found.broken is None
    assert not found.suspects
    assert found.tried, found.refused
    return found


# --- values


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5])
def test_gradient_descent(rounds: int) -> None:
    """L R^2/(4 K + 2), proved and attained (Drori and Teboulle 2014); the same in any units."""
    for L in (1, 225):
        found = worst_case_of(GAP, {"L": L, "eta": Fraction(1, L)}, rounds=rounds)
        assert found.status == "proved"
        assert found.check()
        assert found.value == pytest.approx(1 / (4 * rounds + 2), abs=1e-6)


def test_the_attaining_functions_attain() -> None:
    """What attains the lower bound is played like any instance."""
    found = worst_case_of(GAP, {"L": 2, "eta": "1/2"}, rounds=2)
    assert found.instance is not None
    seen = measured(GAP, found.instance)
    assert seen is not None
    row = next(row for row in seen.measured.rows if row.at == {"k": 2})
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= row.left / row.right <= found.upper
    again = read_instance(found.instance.instance.to_json(), descent)
    assert again.problem == found.instance.instance.problem


def test_not_convex() -> None:
    """One step of 1/L: the least squared gradient of x0 and x1 is 4 L/(3 K + ..) (f(x0) - f*); of x0 alone 2 L."""
    one = claim("c", "norm2(grad(f, x[0])) <= L*(f(x0) - fstar)", of=descent, assuming=("smooth(f, L)", "N <= 1"))
    found = worst_case_of(one, {"L": 3, "eta": "1/3"})
    assert found.upper is not None
    assert found.upper == pytest.approx(2, abs=1e-5)


def test_local_steps_and_clients() -> None:
    """The reference value of FedAvg with 2 clients, 5 local steps and 2 rounds, in the other program."""
    one = claim(
        "c",
        "norm2(x[k] - xstar) <= 1",
        of=local,
        assuming=(
            "smooth(f_n, L)",
            "strongly_convex(f_n, mu)",
            "norm2(x0 - xstar) <= 1",
            "mean_n(norm2(grad(f_n, xstar))) <= 1",
        ),
    )
    found = worst_case_of(one, {"L": 1, "mu": "0.1", "eta": "0.1", "H": 5}, clients=2, rounds=2)
    assert found.status == "proved"
    assert found.value == pytest.approx(0.8385414, abs=1e-5)


SPREAD = claim(
    "spread",
    "norm2(x[k] - xstar) <= norm2(x0 - xstar) + mean_n(norm2(grad(f_n, xstar)))",
    of=local,
    assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
)


def test_merged_clients() -> None:
    """Clients that cannot be told apart: the same value, and a program that does not grow with their number."""
    values = {"L": 1, "mu": "0.1", "eta": "0.1", "H": 2}
    alone = worst_case_of(SPREAD, values, clients=3, rounds=2, alike=False)
    together = worst_case_of(SPREAD, values, clients=3, rounds=2)
    assert not alone.problem.merged
    assert together.problem.merged
    assert together.problem.program.size < alone.problem.program.size
    assert together.value == pytest.approx(alone.value, abs=1e-5)
    assert together.check()
    assert together.instance is None
    many = worst_case_of(SPREAD, values, clients=20, rounds=2, room=200)
    assert many.problem.program.size == together.problem.program.size
    assert many.value == pytest.approx(alone.value, abs=1e-5)


@pytest.mark.parametrize("one", [{"L": (1, 2), "mu": "0.1", "H": 2}, {"L": 1, "mu": ("0.1", "0.2"), "H": 1}])
def test_clients_that_differ_are_not_merged(one: dict[str, Any]) -> None:
    assumed = ("smooth(f_n, L_n)", "strongly_convex(f_n, mu_n)")
    L, mu = (one[name] if isinstance(one[name], tuple) else (one[name],) * 2 for name in ("L", "mu"))
    found = worst_case_of(
        replace(SPREAD, assuming=assumed), {**one, "L": L, "mu": mu, "eta": "0.1"}, clients=2, rounds=1
    )
    assert not found.problem.merged
    assert found.status == "proved"


def test_clients_are_chosen_at_random() -> None:
    """Two steps of one of three clients, proved and attained: the value of a program that was written by hand."""
    one = claim(
        "c",
        "E(norm2(x[k] - xstar)) <= 1",
        of=some,
        assuming=(
            "smooth(f_n, L)",
            "strongly_convex(f_n, mu)",
            "norm2(x0 - xstar) <= 1",
            "mean_n(norm2(grad(f_n, xstar))) <= 1/2",
        ),
    )
    found = worst_case_of(one, {"L": 1, "mu": "0.1", "eta": "0.2", "S": 1}, clients=3, rounds=2)
    assert found.status == "proved"
    assert found.value == pytest.approx(0.9642317, abs=1e-5)


def test_proximal_point() -> None:
    """Of the proximal point method, f(x_K) - f* <= R^2/(4 K t) (Taylor, Hendrickx and Glineur 2017), as L grows."""
    one = claim("c", "f(x[k]) - fstar <= norm2(x0 - xstar)", of=proximal, assuming=SMOOTH)
    found = worst_case_of(one, {"L": 1000, "t": 1}, rounds=2)
    assert found.value == pytest.approx(1 / 8, abs=2e-3)


def test_a_smaller_class_has_no_upper_bound() -> None:
    """f alone is strongly convex: a mean of functions that are not each, of which points tell nothing."""
    one = claim(
        "c",
        "norm2(x[k] - xstar) <= norm2(x0 - xstar)",
        of=local,
        assuming=("smooth(f_n, L)", "convex(f_n)", "strongly_convex(f, mu)", "same_minimiser(f_n)"),
    )
    found = worst_case_of(one, {"L": 1, "mu": "0.1", "eta": "1/2", "H": 1}, clients=2)
    assert found.status == "attained"
    assert found.upper is None
    assert not found.whole
    assert "strongly_convex(f, mu)" in found.notes[0]
    alone = worst_case_of(one, {"L": 1, "mu": "0.1", "eta": "1/2", "H": 1}, clients=1)
    assert alone.status == "proved"


# --- claims


def test_the_tight_rate_is_not_broken_and_a_better_one_is() -> None:
    rate = "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + {})"
    found = unbroken(claim("tight", rate.format(2), of=descent, assuming=TUNED))
    assert any(bound.upper is not None and bound.upper < 1 + Fraction(1, 10**5) for _, bound in found.bounds)
    broken(claim("better", rate.format(3), of=descent, assuming=TUNED))


def test_nesterov() -> None:
    """2 L R^2/(K + 1)^2 holds (Beck and Teboulle's rate); half of it does not."""
    rate = "f(x[K]) - fstar <= {}*L*norm2(x0 - xstar)/(K + 1)**2"
    unbroken(claim("true", rate.format(2), of=fast, assuming=SMOOTH))
    broken(claim("false", rate.format("1/2"), of=fast, assuming=SMOOTH))


def test_the_heavy_ball_cycles_off_quadratics() -> None:
    one = next(c for c in load(EXAMPLES / "heavy_ball.py").claims if c.label == "anywhere")
    broken(one)


def test_local_steps_are_not_descent() -> None:
    """Two clients with one minimiser: a round of local steps decreases f on quadratics, and not always."""
    assumed = ("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "eta <= 1/L")
    found = broken(claim("descent", "f(x[k+1]) <= f(x[k])", of=local, assuming=assumed))
    assert found.broken is not None
    assert found.broken.drawn.instance.clients == 2


def test_lemmas_about_functions() -> None:
    lemma = "dot(grad(f, x) - grad(f, y), x - y) >= {}*norm2(grad(f, x) - grad(f, y))/L"
    unbroken(claim("cocoercive", lemma.format(1), vectors=("x", "y"), assuming=SMOOTH))
    broken(claim("too much", lemma.format("11/10"), vectors=("x", "y"), assuming=SMOOTH))


def test_lengths() -> None:
    """Both sides are squared where they are lengths, in the sentence and in an assumption."""
    rate = "norm(x[k] - xstar) <= (1 - {}*eta*mu)**k*norm(x0 - xstar)"
    assumed = (*SMOOTH, "strongly_convex(f, mu)", "eta <= 1/L")
    unbroken(claim("true", rate.format(1), of=descent, assuming=assumed))
    broken(claim("false", rate.format("11/10"), of=descent, assuming=assumed))
    gap = "f(x[K]) - fstar <= L*R**2/(4*K + {})"
    unbroken(claim("true", gap.format(2), of=descent, assuming=(*TUNED, "norm(x0 - xstar) <= R")))
    broken(claim("false", gap.format(3), of=descent, assuming=(*TUNED, "norm(x0 - xstar) <= R")))


PAIR, CONVEX = ("x", "y"), ("smooth(f, L)", "convex(f)")
MIDDLE, DISTANCES = "norm(grad(f, (x + y)/2))", "norm(x - xstar) + norm(y - xstar)"


@pytest.mark.parametrize(
    ("left", "false", "true"),
    [
        (MIDDLE, "3*max(norm(grad(f, x)), norm(grad(f, y)))", "L*max(norm(x - xstar), norm(y - xstar))"),
        (MIDDLE, "2*(norm(grad(f, x)) + norm(grad(f, y)))", "L/2*norm(x - xstar) + L/2*norm(y - xstar)"),
        ("norm(grad(f, x) - grad(f, y))", f"9/10*L*({DISTANCES})", f"L*({DISTANCES})"),
        ("norm(grad(f, x)) - norm(grad(f, y))", "19/20*L*norm(x - y)", "L*norm(x - y)"),
        ("min(norm(grad(f, x)), norm(grad(f, y)))", "9/10*L*max(norm(x - xstar), norm(y))", "L*norm(x - xstar)"),
    ],
)  # fmt: skip
def test_largest_and_sums_of_lengths(left: str, false: str, true: str) -> None:
    broken(claim("false", f"{left} <= {false}", vectors=PAIR, assuming=CONVEX))
    found = unbroken(claim("true", f"{left} <= {true}", vectors=PAIR, assuming=CONVEX))
    assert len(found.tried) > 20
    assert not found.bounds, "of squares, and at some shares only"


def test_four_turns_of_a_loop_turn_back() -> None:
    """Each of three steps of length 1/L leads away from the last point, and the fourth back towards the first."""

    @algorithm
    def tapped(w, x, *, eta, H):  # type: ignore[no-untyped-def]
        y = w.each(x)
        for _ in w.repeat(H):
            w.tap("y", y)
            y = y - eta * w.gradient(y)
        return w.mean(y)

    away = "norm(y[k, h+1] - x[k]) >= {}norm(y[k, h] - x[k])"
    each = ("convex(f_n)", "smooth(f_n, L)", "eta <= 1/L")
    broken(claim("away", away.format(""), of=tapped, assuming=each))
    unbroken(claim("not-far-back", away.format("1/2*"), of=tapped, assuming=each))


def test_bounded_gradients() -> None:
    """The mean of the values of subgradient descent, of functions that have no constant of smoothness."""
    rate = "mean_k(f(x[k])) - fstar <= R**2/(2*eta*K) + eta*G**2/{}"
    assumed = ("bounded_gradients(f, G)", "convex(f)", "N <= 1", "norm2(x0 - xstar) <= R**2")
    unbroken(claim("true", rate.format(2), of=descent, assuming=assumed))
    broken(claim("false", rate.format(3), of=descent, assuming=assumed))


def test_samples() -> None:
    """The noise ball with a lost factor, from two samples of one client."""
    bound = "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + {}*eta**2*sigma2/N"
    assumed = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)")
    where = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
    unbroken(claim("true", bound.format(2), of=sampled, assuming=assumed, where=where))
    broken(claim("false", bound.format("1/2"), of=sampled, assuming=assumed, where=where))


ANGLE = """
from theory import Paper, algorithm, claim

@algorithm
def gd(w, x, *, eta):
    return x - eta * w.full_gradient(x)

A = ("smooth(f, L)", "convex(f)", "eta == 1/L")
ANGLE = claim("angle", "dot(grad(f, x[k]), grad(f, x[k+2])) >= 0", of=gd, assuming=A)
PAPER = Paper("angles", "Angles", "a reader", (ANGLE,))
"""


def angle(folder: Path) -> Claim:
    path = folder / "angles.py"
    path.write_text(ANGLE, encoding="utf-8")
    with forgetting():
        return load(path).claims[0]


def test_a_readers_file_is_refuted_by_the_worst_case(tmp_path: Path) -> None:
    """No quadratic and no function in one dimension breaks it."""
    (item,), path, _ = worst_evidence(angle(tmp_path), tmp_path, quick=True)
    assert (item.outcome, item.origin) == ("refuted", "worst case")
    assert path is not None
    assert verifier.verify(json.loads(path.read_text(encoding="utf-8"))).valid


@pytest.mark.slow
def test_what_the_worst_case_breaks_a_check_and_falsify_refute(tmp_path: Path) -> None:
    one = angle(tmp_path)
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"
    found = falsified(one, seconds=60, out=tmp_path)
    assert found.certificate is not None
    assert found.broken is not None
    assert verifier.verify(json.loads(found.certificate.read_text(encoding="utf-8"))).valid


def test_what_holds_is_told_with_its_proofs(tmp_path: Path) -> None:
    one = claim("tight", "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 2)", of=descent, assuming=TUNED)
    (item,), path, _ = worst_evidence(one, tmp_path, quick=True)
    assert item.outcome == "holds"
    assert "proved by exact multipliers: left is at most right times" in item.detail
    assert path is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f(x[K]) - fstar >= 0", "left is not below 0 at N=1"),
        ("f(x0) - f(x[K]) >= eta/2*norm2(grad(f, x0))", "right is at most left times"),
    ],
)
def test_a_bound_from_below_is_told_the_other_way_round(text: str, told: str, tmp_path: Path) -> None:
    one = claim("below", text, of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L"))
    (item,), _, _ = worst_evidence(one, tmp_path, quick=True)
    assert f"proved by exact multipliers: {told}" in item.detail


def test_a_certificate_of_the_worst_case_that_is_tampered_with_falls() -> None:
    """A value that the class does not allow."""
    one = claim("better", "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 3)", of=descent, assuming=TUNED)
    found = broken(one).broken
    assert found is not None
    data = certificate_of(one, found, found.measured.broken[0], "worst case", True)
    assert verifier.verify(data).valid
    for sample in _samples(data):
        sample["points"][-1]["f"] = "10"
    assert not verifier.verify(data).valid


# --- what is refused


@pytest.mark.parametrize(
    ("text", "of", "assuming", "why"),
    [
        ("norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", clipped, SMOOTH, "clip"),
        ("norm(x[k+1] - xstar) + norm(x0) <= norm(x[k] - xstar)", descent, SMOOTH, "to be small"),
        ("norm(x[k+1] - xstar) <= norm2(x[k] - xstar)/L", descent, SMOOTH, "not squared"),
        ("f(x[k+1]) <= f(x[k])", descent, ("quadratic(f)",), "quadratics"),
        ("norm2(x[k+1] - xstar)*norm2(x0) <= L", descent, SMOOTH, "product"),
        ("f(x[k+1]) <= f(x[k])", descent, ("bounded_below(f)",), r"convex; with smooth\(f_ni, L\) or"),
        ("norm2(x[k+1] - xstar)*f(x0) <= L*norm2(x[k] - xstar)", descent, SMOOTH, "product"),
    ],
)
def test_refused(text: str, of: Any, assuming: tuple[str, ...], why: str) -> None:
    one = claim("c", text, of=of, assuming=assuming)
    values = {"eta": "1/2", **({"L": 1} if "L" in one.symbols else {})}
    with pytest.raises(NoReadingError, match=why):
        read_claim(one, numbers_of(one, values), (1,), 1, law="on a line")


def test_a_schedule() -> None:
    """Two steps of different length: |x_2 - x*|^2 on the worse of the curvatures."""
    one = claim(
        "c", "norm2(x[k] - xstar) <= norm2(x0 - xstar)", of=descent, assuming=(*SMOOTH, "strongly_convex(f, mu)")
    )
    found = worst_case_of(one, {"L": 1, "mu": "0.1", "eta": {"k": ["1/2", "1"]}}, rounds=2)
    assert found.value == pytest.approx((0.95 * 0.9) ** 2, abs=1e-6)


def test_names_of_numbers() -> None:
    with pytest.raises(ValueError, match="eta is missing"):
        worst_case_of(GAP, {"L": 1})
    with pytest.raises(ValueError, match="values has 'gamma'"):
        worst_case_of(GAP, {"L": 1, "eta": 1, "gamma": 1})
    with pytest.raises(ValueError, match="rounds=0"):
        worst_case_of(GAP, {"L": 1, "eta": 1}, rounds=0)


LAST = "f(x[K]) - fstar <= 3/2*G*R/sqrt(K)"
"""False from K = 8 on: the last of subgradient steps of one size loses a logarithm."""
TUNED_TO_K = ("lipschitz(f, G)", "convex(f)", "eta == R/(G*sqrt(K))", "norm(x0 - xstar) <= R")


@pytest.mark.parametrize(
    ("statement", "assuming"), [(LAST, TUNED_TO_K), (LAST.replace("3/2", "8/5"), TUNED_TO_K)], ids=["4", "9"]
)
def test_where_roots_of_the_rounds_are_spoken_of_these_are_fractions(statement, assuming):  # type: ignore[no-untyped-def]
    found = worst(claim("last", statement, of=descent, assuming=assuming), quick=True)
    assert found.broken is not None
    assert found.broken.drawn.instance.rounds in (4, 9)


@pytest.mark.parametrize(
    ("statement", "rounds"),
    [
        ("sqrt(K)*a <= 2", [9, 4]),
        ("a*K**(-1/3) <= 1", [8]),
        ("sqrt(K + 1) <= a", [8, 3]),
        ("sqrt(2*K) <= a", [8, 2]),
        ("sqrt(K - 5) <= a", [9, 6]),
        ("sqrt(1/(K - 4)) <= a", [5]),
        ("a**K <= 2", []),
        ("a <= K**2", []),
    ],
)
def test_rounds_of_which_a_claim_s_roots_are_fractions(statement, rounds):  # type: ignore[no-untyped-def]
    assert _rooted(claim("roots", statement)) == rounds
