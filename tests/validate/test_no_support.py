"""What did not break a claim, and is no support for it."""

from typing import Any

import pytest

from theory.claim import Claim, claim
from theory.program import algorithm
from validate.examine import examine
from validate.instances.covered import closed

STEP = "norm2(x[K] - xstar) <= (1 - mu/L + 1/200)*norm2(x0 - xstar)"
ROOT = ("smooth(f, L)", "strongly_convex(f, mu)", "eta == 1/(L*sqrt(K))")


@algorithm
def descent(w: Any, x: Any, *, eta: Any) -> Any:
    return x - eta * w.full_gradient(x)


@algorithm
def projected(w: Any, x: Any, *, eta: Any, r: Any) -> Any:
    return w.project(x - eta * w.full_gradient(x), r)


def words(one: Claim, tmp_path: Any) -> tuple[str, str]:
    result = examine(one, quick=True, out=tmp_path)
    broken = next((item.detail for item in result.evidence if item.outcome == "fails"), "")
    return result.verdict, broken or result.covered


@pytest.mark.slow
def test_an_equation_that_no_fractions_solve_may_hide_a_break(tmp_path: Any) -> None:
    """x^2/2, K = 2: (1 - 1/sqrt(2))^4 = 0.0074 > 1/200; of K = 1, 4, 9, whose roots are fractions, it is true."""
    verdict, why = words(claim("one", STEP, of=descent, assuming=ROOT), tmp_path)
    assert verdict == "undecided"
    assert "satisfied up to rounding" in why


@pytest.mark.slow
def test_a_true_claim_with_such_an_equation_keeps_its_support(tmp_path: Any) -> None:
    true = claim("one", "norm2(x[K] - xstar) <= norm2(x0 - xstar)", of=descent, assuming=(*ROOT, "K >= 2"))
    assert words(true, tmp_path)[0] in ("proved", "supported")


def test_a_ball_that_binds_is_known_in_one_dimension(tmp_path: Any) -> None:
    """<v, x>^2/2 - <b, x> with v = (4/5, -3/5) and b = (41/25, -12/25), r = eta = 1, x0 = (4/5, 1/10): -0.0016."""
    z = "argmin_n(1, r)"
    assuming = ("smooth(f, L)", "convex(f)", "eta <= 1/L", "norm(x0) <= r")
    one = claim("one", f"dot(x[k+1] - {z}, x[k] - {z}) >= 0", of=projected, assuming=assuming)
    verdict, why = words(one, tmp_path)
    assert verdict == "undecided"
    assert "its minimiser is known in one dimension only" in why


AT_X0 = "norm(grad(f, x0)) == 2*norm(x0 - xstar)"
TIED = {
    "gradient": claim("one", "f(x0) - fstar <= norm(grad(f, x0))*norm(x0 - xstar)*(9/20 + (L/mu - 1))", of=descent,
                      assuming=("smooth(f, L)", "strongly_convex(f, mu)", AT_X0, "eta <= 1/L")),
    "value": claim("one", "norm2(grad(f, x0)) <= 19/10*L*(f(x0) - fstar)", of=descent,
                   assuming=("smooth(f, L)", "convex(f)", "f(x0) - fstar == norm2(x0 - xstar)")),
    "mean": claim("one", "norm2(x[1] - x0) <= eta**2*mean_n(norm2(grad(f_n, x0)))/5", of=descent,
                  assuming=("smooth(f_n, L)", "norm(grad(f_n, x0)) == 2*norm(grad(f, x0))")),
}  # fmt: skip


@pytest.mark.parametrize("tied", TIED)
def test_sides_that_are_0_because_the_start_is_the_minimiser(tied: str, tmp_path: Any) -> None:
    """x^2 from 1 breaks the first two, four gradients 1, 1, 1, -1 the last; what is drawn satisfies them as 0 == 0."""
    verdict, why = words(TIED[tied], tmp_path)
    assert verdict == "undecided"
    assert "its text says no 0" in why


@algorithm
def sampled(w: Any, x: Any, *, eta: Any) -> Any:
    return x - eta * w.mean(w.gradient(x, w.sample()))


@pytest.mark.slow
def test_draws_turn_quadratics_too(tmp_path: Any) -> None:
    """Rows (3/5, 4/5) and (84/85, -13/85) through (1, 0), eta = 1: the second step is 1.12 from 0."""
    classes = ("smooth(f_ni, L)", "strongly_convex(f, mu)", "convex(f_ni)", "same_minimiser(f_ni)", "quadratic(f_ni)")
    assuming = (*classes, "eta <= 1/L", "norm(x0) <= 0", "N == 1")
    verdict, why = words(claim("one", "norm(x[k]) <= norm(xstar)", of=sampled, assuming=assuming), tmp_path)
    assert verdict in ("undecided", "refuted")
    assert verdict == "refuted" or "vectors of rounds far apart" in why


LAST = "f(x[K]) - fstar <= 5/4*G*norm(x0 - xstar)/sqrt(K)"
TO_THE_START = ("lipschitz(f, G)", "convex(f)", "eta*G*sqrt(K) == norm(x0 - xstar)")


def test_an_equation_with_a_distance_is_satisfied_along_an_axis_only() -> None:
    """False from K = 2 on, in two coordinates and more: the sharp constant grows as a logarithm (PEPit: 1.285)."""
    (why,) = closed(claim("last", LAST, of=descent, assuming=TO_THE_START))
    assert "begins on an axis only" in why


@pytest.mark.parametrize(
    "assuming",
    [
        ("lipschitz(f, G)", "convex(f)", "eta == R/(G*sqrt(K))", "norm(x0 - xstar) <= R"),
        ("lipschitz(f, G)", "convex(f)", "eta*norm(grad(f, x0)) == R", "norm2(x0 - xstar) <= R**2"),
        ("smooth(f, G)", "quadratic(f)", "eta*G*R == norm(x0 - xstar)"),
    ],
)
def test_other_relations_close_nothing(assuming: tuple[str, ...]) -> None:
    assert closed(claim("last", "f(x[K]) - fstar <= 2*G*R/sqrt(K)", of=descent, assuming=assuming)) == []
