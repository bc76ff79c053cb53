"""Proofs of what is true among the claims about weights and about local SGD, line by line, by algebra.

Besides these lines a proof uses what holds by definition or for all vectors: smoothness and strong convexity between
two points, cocoercivity of the gradients of smooth convex functions, Cauchy-Schwarz, the convexity of squares, and that
independent noise of mean zero adds its variance. Names in the lines are non-negative; `r`, `rest` and `more` stand for
the slack of an inequality between parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial

from theory.mixing import exact_projected_gradient, exact_weights
from validate.algebra import at_most, same
from validate.proving import at_settings

Lines = dict[str, bool]


# --- weights ---------------------------------------------------------------------------------------------------------


@cache
def _lemma_1() -> bool:
    """Lemma 1 by the prover, for every mu and L by scaling."""
    from theory.catalog import claim

    line = claim("perm/lemma-1").vectors
    assert line is not None
    return at_settings(line)[0].outcome == "holds"


def _modulus() -> Lines:
    """a*(z) is n_max/(2 lam)-Lipschitz."""
    return {
        "the modulus of (2) is 2 lam/n_max": at_most("2*lam/(nj+more)", "2*lam/nj"),
        "Lemma 1 with modulus 2 lam/n_max and L = 1, by the prover": _lemma_1(),
    }


def _difference_is_smooth() -> Lines:
    """The gradients of f_i - mu/2 ||.||^2 change by p, ||p||^2 <= l <p, d>, l = L - mu: two points of one ball."""
    return {
        "p lies in the ball of centre l d/2 and radius l ||d||/2, so f_i - f_j is l-smooth": same(
            "pp - l*pd", "(pp - l*pd + l**2*dd/4) - l**2*dd/4"
        )
    }


def observation_lines() -> Lines:
    """||a*(w) - a*(w*)||^2 <= 9/16 of the bound; d = ||w - w*||, b = ||y||, x = L d, rest = L - mu."""
    return {
        **_difference_is_smooth(),
        "z changes by <x-y, x+y>, at most l d (2 b + l d) for l = L-mu; and l <= L": at_most(
            "rest**2*d**2*(2*b+rest*d)**2", "(mu+rest)**2*d**2*(2*b+(mu+rest)*d)**2"
        ),
        "9/16 (8 b^2 + 16 x^2) - (2b + x)^2 is a square": same("9/16*(8*b**2+16*x**2) - (2*b+x)**2", "(b-4*x)**2/2"),
        "9/16 of the bound": at_most("L**2*d**2*9/16*(8*b**2+16*L**2*d**2)", "4*L**2*d**2*(2*b**2+4*L**2*d**2)"),
        **_modulus(),
    }


def _projection() -> Lines:
    """<u-p, q-p> <= 0 and <v-q, p-q> <= 0 for the projections p of u and q of v; products as of numbers."""
    return {"projections do not expand": same("(u-p)*(p-q) - (v-q)*(p-q)", "(u-v)*(p-q) - (p-q)**2")}


def rate_lines() -> Lines:
    """A step of the projected descent shrinks the distance to a* by 1 - n_min/n_max; nj = least + a, most = nj + b."""
    z, n, lam = [Fraction(0), Fraction(1), Fraction(5)], [Fraction(2), Fraction(3), Fraction(7)], Fraction(3)
    still = exact_weights(z, n, lam).weights
    return {
        "the step on one weight": same("1-least/(2*lam)*2*lam/nj", "1-least/nj"),
        "its factor is not negative": at_most("0", "1-least/(least+a)"),
        "and largest for the largest n_j": at_most("1-least/(least+a)", "1-least/(least+a+b)"),
        **_projection(),
        "a* is a fixed point": exact_projected_gradient(z, n, lam, 1, still)[-1] == still,
    }


def _descent() -> Lines:
    """The error of T_a steps is at most 2 q^{2 T_a}."""
    return {
        **rate_lines(),
        # <a, b> >= 0 and ||a||^2 <= sum_j a_j = 1 on the simplex
        "two points of the simplex are at most sqrt(2) apart": same("aa - 2*ab + bb", "(1+1) - 2*ab - (1-aa) - (1-bb)"),
    }


def _twice() -> Lines:
    return {"||a+b||^2 <= 2 ||a||^2 + 2 ||b||^2": same("2*a**2 + 2*b**2 - (a+b)**2", "(a-b)**2")}


def _weights_from_model() -> Lines:
    """||ahat - a*||^2 from the descent and from ||w - w*||^2 = e <= D^2."""
    return {
        **_twice(),
        **_descent(),
        **observation_lines(),
        "the descent's term": same("2*2*q", "4*q"),
        "the model's term, with sum_j zeta_ij = N zbar": same(
            "2*4*L**2*k2*(2*N*zbar + 4*N*L**2*D**2)*e", "16*L**2*k2*N*(zbar + 2*L**2*D**2)*e"
        ),
    }


# --- local SGD -------------------------------------------------------------------------------------------------------


def one_step_lines() -> Lines:
    """Lemma 4 put right, for any number of clients; m, e the squared distances of w_i from w* and from the mean."""
    return {
        "one client: strong convexity from w_i to w*, smoothness from w_i to the mean": same(
            "(fs - fi - mu/2*m) + (fi - fw + L/2*e)", "fs - fw - mu/2*m + L/2*e"
        ),
        # the mean over i of ||w_i - w*||^2 is dist + drift
        "the mean is nearer to w* than the clients": at_most("mu/2*dist", "mu/2*(dist + drift)"),
        **_twice(),
        "all terms": same(
            "dist + 2*gamma*(-gap - mu/2*dist + L/2*drift) + gamma**2*(2*L**2*drift + 2*2*L*gap) + gamma**2*delta2/N",
            "(1-mu*gamma)*dist - (2*gamma-4*gamma**2*L)*gap + (gamma*L+2*gamma**2*L**2)*drift + gamma**2*delta2/N",
        ),
    }


def drift_lines() -> Lines:
    """Lemma 5 put right; K = m + 1, c = 1/m."""
    e_above = sum(Fraction(1, factorial(k)) for k in range(12)) + Fraction(1, factorial(11))
    return {
        # ||x - gamma a||^2 with <x, a> >= ||a||^2/L, gamma = 2/(L+r)
        "a gradient step on F does not expand": at_most("4*aa/(L+r)**2", "2*2/(L+r)*aa/L"),
        "Young": same("(1+c)*a**2 + (1+1/c)*b**2 - (a+b)**2", "(c*a-b)**2/c"),
        "its factors are K/(K-1) and K": same("1+1/m", "(m+1)/m"),
        "||d_i - d_j||^2 <= 4 zeta": same("2*a**2 + 2*b**2 - (a-b)**2", "(a+b)**2"),
        "m steps, with P = (1+1/m)^m <= e": same("(P-1)/((1+1/m)-1)", "m*(P-1)"),
        "(e-1)/2 <= 7/8": e_above <= Fraction(11, 4),
        "the stated sum": at_most(
            "7/8*m*gamma**2*(4*(m+1)*zeta+2*delta2)", "3*(m+1)*gamma**2*delta2 + 6*(m+1)**2*gamma**2*zeta"
        ),
    }


def last_iterate_lines() -> Lines:
    """Lemma 6 put right: RK steps of V' <= (1-m) V + c, with projections in between."""
    return {
        **one_step_lines(),
        **drift_lines(),
        **_projection(),
        "gamma <= 1/(2L): the gap's term may be dropped": at_most("0", "2/(2*L+r)-4*L/(2*L+r)**2"),
        "one more step": same("(1-m)*(q*d + c/m) + c", "(1-m)*q*d + c/m"),
        "c/m": same(
            "((gamma*L+2*gamma**2*L**2)*S + gamma**2*d/N)/(mu*gamma)",
            "(gamma*L+2*gamma**2*L**2)/(mu*gamma)*S + gamma*d/(mu*N)",
        ),
    }


# --- mini-batch SGD --------------------------------------------------------------------------------------------------


def minibatch_lines() -> Lines:
    """(15) to (17) put right, from E F(w+) - F* <= (1 - mu gamma) (F - F*) + gamma^2 L delta^2/(2M)."""
    gap = "gamma*L*delta2/(2*mu*M)"
    return {
        # the descent lemma leaves gamma (1 - gamma L/2) ||grad F||^2, and ||grad F||^2 >= 2 mu (F - F*)
        "gamma <= 1/L: gamma (1 - gamma L/2) >= gamma/2": at_most("1/(2*(L+r))", "(1-L/(2*(L+r)))/(L+r)"),
        "the gap's stationary value": same(f"(1-mu*gamma)*{gap} + gamma**2*L*delta2/(2*M)", gap),
        "(15): 2L times the gap": same(f"2*L*{gap}", "gamma*L/mu*L*delta2/M"),
        "(16): gamma^2 times (15), and the variance": same(f"gamma**2*2*L*{gap}", "gamma**3*L/mu*L*delta2/M"),
        "(17): 2/mu times the gap": same(f"2/mu*{gap}", "gamma*L*delta2/(mu**2*M)"),
    }


def _projected_sgd() -> Lines:
    """E||w^T - w*||^2 <= (1-mu g)^T D^2 + g delta^2/(mu M) for g <= 1/L; w* = P(w* - g grad F(w*))."""
    return {
        **_projection(),
        # cocoercivity of F - mu/2 ||.||^2, then ||grad F(x) - grad F(y)|| >= mu ||x - y||
        "a gradient step contracts by 1 - mu g": same("1 - 2*g*mu*L/(L+mu) + (g**2 - 2*g/(L+mu))*mu**2", "(1-g*mu)**2"),
        "g <= 1/L <= 2/(L+mu); L = mu + rest": at_most("1/(mu+rest)", "2/(2*mu+rest)"),
        "the stationary value": same("(1-mu*g)*(g*d/(mu*M)) + g**2*d/M", "g*d/(mu*M)"),
    }


def _weights_at_end() -> Lines:
    return {**_weights_from_model(), **_projected_sgd()}


def _weights_step() -> Lines:
    """Lemma 14 put right: two descents, and the way from w^{r-1} to w^r; s = sqrt(zeta_ij), x = L D, e = ||move||^2."""
    return {
        **_descent(),
        **_difference_is_smooth(),
        **_modulus(),
        **_projected_sgd(),
        "||a+b+c||^2 <= 3 (||a||^2 + ||b||^2 + ||c||^2)": same(
            "3*(a**2+b**2+c**2) - (a+b+c)**2", "(a-b)**2 + (b-c)**2 + (a-c)**2"
        ),
        "the descents' terms": same("3*2*q + 3*2*q", "12*q"),
        "(2 s + 2 x)^2 <= 8 s^2 + 8 x^2": same("8*s**2 + 8*x**2 - (2*s+2*x)**2", "4*(s-x)**2"),
        "the motion's term": same("3*k2*L**2*(8*N*zbar + 8*N*L**2*D**2)*e", "24*L**2*k2*N*(zbar + L**2*D**2)*e"),
    }


_MINIBATCH = (
    minibatch_lines,
    "descent lemma, strong convexity and induction over T, for every mu <= L and gamma <= 1/L, with the variance "
    "bounded along the run",
)
_OBSERVATION = (
    observation_lines,
    "for every mu <= L, with a factor 16/9 to spare: (z_j - z_j*)^2 <= L^2 d^2 (2b + Ld)^2, and Lemma 1",
)
PROOFS: dict[str, tuple[Callable[[], Lines], str]] = {
    "lipschitz-observation": _OBSERVATION,
    "lemma-3/corrected": _OBSERVATION,
    "theorem-1-alpha-rate/corrected": (
        rate_lines,
        "for every n, lam and start: the step contracts each weight, the projection does not expand",
    ),
    "lemma-4/corrected": (one_step_lines, "for every N, mu <= L and gamma > 0"),
    "lemma-5/corrected": (drift_lines, "pairs of clients, Young's inequality with 1/(K-1), and induction over t < K"),
    "lemma-6/corrected": (last_iterate_lines, "Lemmas 4 and 5 put right, and induction over the steps"),
    "theorem-1/corrected": (
        lambda: {**_weights_from_model(), **last_iterate_lines()},
        "Lemmas 3 and 6 and the descent's rate, all put right",
    ),
    "proposition-4-eq15/corrected": _MINIBATCH,
    "proposition-4-eq16/corrected": _MINIBATCH,
    "proposition-4-eq17/corrected": _MINIBATCH,
    "lemma-14/corrected": (_weights_step, "two descents, and the motion of w through Lemma 1"),
    "lemma-15/corrected": (_weights_at_end, "Lemma 3 and the descent's rate, put right, and projected SGD"),
}
