"""Proofs by algebra of what is true in fedmim: a round's descent, the theorems, and what the lemmas give.

The conventions are those of `lemmas`. The printed theorems with (33), which they do not state, are implied by their
second repairs: these ask for less and claim as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from validate.algebra import at_most, same
from validate.papers.fedmim.lemmas import (
    Lines,
    at_most_printed,
    auxiliary,
    average_gradient,
    clients_gradients,
    convex,
    find,
    increments,
    lag_sum,
    mean_drift,
    noise_apart,
    one_more_step,
    selected_gradients,
    steps,
    unrolled,
    without_replacement,
)


@cache
def product() -> Lines:
    """-<grad f(u), m>, for the mean gradient m at y2; a drift of three parts."""
    return {
        "-<a, m>": same("-a*m", "-a**2/2 - m**2/2 + (a-m)**2/2"),
        "three parts": same("3*(x**2+y**2+z**2) - (x+y+z)**2", "(x-y)**2 + (x-z)**2 + (y-z)**2"),
    }


@cache
def descent() -> Lines:
    """(33)(d) put right, by Lemma 9 put right: e = eta L = 3/(16+r), over eta."""
    e = "(3/(16+r))"
    return {
        **product(),
        **average_gradient(),
        "the factor of the gradient": same("1/2 - e/2*(32*b+8) - 36*A*e**2*b", "1/2 - 4*e - 16*e*b - 36*A*e**2*b"),
        "8 eta L <= 3/2": at_most(f"8*{e}", "3/2"),
        "24 eta L <= 9/2": at_most(f"24*{e}", "9/2"),
        "192 eta L <= 36": at_most(f"192*{e}", "36"),
    }


@cache
def descent_kept() -> Lines:
    """(33)(d) with the mean gradient kept; Lemma 9 is not used."""
    return {
        **product(),
        **noise_apart(),
        **at_most_printed(),
        **clients_gradients(),
        **mean_drift(),
        **steps(find("eq33/corrected-2")),
    }


@cache
def _bounded_run() -> Lines:
    """C bounds the increments (Lemma 6), V the sum over the lags."""
    return {**auxiliary(), **convex(), **lag_sum()}


def _square() -> Lines:
    return {"K^2 >= 1, K = 1+rest": at_most("3*V*C", "3*(1+rest)**2*V*C")}


@cache
def _first() -> Lines:
    """Theorem IV.1, (35), for the weakest lambda; R is the right side of (33)(d) without its first term over eta."""
    (last,) = (s.inference for s in find("theorem-iv1-eq35/corrected-2").steps if s.inference is not None)
    assert last.remains is not None
    return {
        **descent_kept(),
        **_bounded_run(),
        "the sum over the rounds": same("(F + T*eta*R)/(eta*lam*T)", "F/(eta*lam*T) + R/lam"),
        "(33)(d) over eta lambda": same(*last.remains),
    }


@cache
def _second() -> Lines:
    """Theorem IV.2, (39): p = 1 - mu eta lambda, q = p^-(T-1), P = p^T; eta L = 3/(16+r).

    Assumptions 1 and 2 imply mu <= L unless f is constant, and then the left side is 0.
    """
    claim = find("theorem-iv2-eq39/corrected-2")
    (last,) = (s.inference for s in claim.steps if s.inference is not None)
    assert last.remains is not None
    return {
        **_first(),
        **steps(claim),
        **steps(find("eq37"), "PL"),
        "mu eta lambda < 1, mu <= L": at_most("mu/(mu+more)*3/(16+r)*1/2", "3/32"),
        "the weighted sum, one more round": same("p*F0 - q*F + q/p*(p*F - H)", "p*F0 - q/p*H"),
        "the sum of the weights, one more round": same("(q-1)/(1/p-1) + q", "(q/p-1)/(1/p-1)"),
        "the first term": same("2*(1-mu*el)/el*(1/(1-mu*el)-1)/(1/P-1)", "2*mu*P/(1-P)"),
        "e >= 2, so P <= 1/e <= 1/2: 1/(1-P) <= 2": at_most("1/(1-1/(2+rest))", "2"),
        "(33)(d) over eta lambda, twice": same(*last.remains),
    }


def _with(lines: Callable[[], Lines], *, square: bool, limit: str = "") -> Callable[[], Lines]:
    """The same with K^2 in the last term, or with a lambda below another limit (8 eta L B^2/S is what is needed)."""

    def found() -> Lines:
        lower = {"lambda is below its limit, S = 1+s": at_most("8*e*b/(1+s)", limit)} if limit else {}
        return {**lines(), **lower, **(_square() if square else {})}

    return found


_PRINTED, _CORRECTED = "32*e*b", "4*e + 16*e*b"


def _descent_pl() -> Lines:
    return {
        **_with(descent_kept, square=False, limit=_PRINTED)(),
        **_bounded_run(),
        **steps(find("eq37"), "PL"),
    }


def _without_c() -> Lines:
    return {
        **product(),
        **average_gradient(),
        **_bounded_run(),
        **steps(find("theorem-iv1-eq35/without-c")),
        "D <= A eta_l^2 Gamma + (1-A) D, A > 0": same("(A*X + (1-A)*X)", "X"),
        "16 L^2 V eta_l^2 is half of 32 L^2 eta_l^2 V": same("16*L**2*V*e**2", "(32*L**2*e**2*V)/2"),
        "(33)(b), over eta: what Gamma is multiplied by": same(
            "K*e*L/2 + 3*L**2/2*e**2*V", "(K*e*L + 3*e**2*L**2*V)/2"
        ),
        "Lemma 8, over eta": same(
            "3*L**2/2*(3*K*A**2*e**2*s + 24*A*K**2*e**2*G2)", "9/2*e**2*A**2*K*L**2*s + 36*e**2*A*K**2*L**2*G2"
        ),
    }


_IMPLIED = (
    "implied by {}, whose condition on lambda is weaker, although Lemma 9 does not carry its printed proof for B < 1/2"
)
_BY_KEPT = "the mean gradient is kept in the descent, for every B >= 0; then as printed"
_BY_9 = "implied by {}, whose condition on lambda is weaker"
PROOFS: Mapping[str, tuple[Callable[[], Lines], str]] = {
    "eq2/corrected": (lambda: steps(find("eq2/corrected")), "A = 1 - (1-A)"),
    "lemma-5": (auxiliary, "Lemma 6, and the partial sums of alpha telescope"),
    "lemma-6": (increments, "by induction over the local steps, and over the rounds for the bound"),
    "eq21": (convex, "Lemma 6 and the convexity of squares"),
    "lemma-7/corrected": (clients_gradients, "four terms, Lipschitz gradients, and Assumption 4 after averaging"),
    "eq25/corrected": (one_more_step, "noise, Young, Jensen, and lemma-7/corrected"),
    "eq26/corrected": (unrolled, "the step of (25) with one factor for all k steps"),
    "lemma-8": (mean_drift, "eq26/corrected for every k <= K"),
    "eq29": (noise_apart, "noise apart from its mean, over clients and steps"),
    "eq30/corrected": (without_replacement, "the moments of the indicators"),
    "eq31": (selected_gradients, "(30) with <=, lemma-7/corrected, and its four terms for the mean gradient"),
    "lemma-9/corrected": (average_gradient, "(29), (31) and lemma-8"),
    "eq33": (
        lambda: steps(find("eq33")),
        "as the conditional that it is: under its condition such a lambda exists. That the theorem's step sizes give "
        "the condition is another matter: eq33/from-step",
    ),
    "eq33/corrected": (descent, "(33)(a) to (d) with lemma-9/corrected: this lambda gives the descent"),
    "eq33/kept-mean": (
        descent_kept,
        "(29), (30), lemma-7/corrected and lemma-8, and eta L <= 1/2 for the mean gradient",
    ),
    "eq33/corrected-2": (descent_kept, "this lambda gives the descent (33)(d): the mean gradient is kept"),
    "eq34": (lag_sum, "the sums of alpha and of P_j"),
    "eq37": (_descent_pl, "eq33/corrected-2, which needs less of lambda than (33), and PL for half of the first term"),
    "theorem-iv1-eq35/corrected-2": (_first, _BY_KEPT),
    "theorem-iv1-eq7/corrected-2": (_with(_first, square=True), _BY_KEPT),
    "theorem-iv1-eq35/corrected": (
        _with(_first, square=False, limit=_CORRECTED),
        _BY_9.format("theorem-iv1-eq35/corrected-2"),
    ),
    "theorem-iv1-eq7/corrected": (
        _with(_first, square=True, limit=_CORRECTED),
        _BY_9.format("theorem-iv1-eq7/corrected-2"),
    ),
    "theorem-iv1-eq35/with-lambda": (
        _with(_first, square=False, limit=_PRINTED),
        _IMPLIED.format("theorem-iv1-eq35/corrected-2"),
    ),
    "theorem-iv1-eq7/with-lambda": (
        _with(_first, square=True, limit=_PRINTED),
        _IMPLIED.format("theorem-iv1-eq7/corrected-2"),
    ),
    "theorem-iv1-eq35/without-c": (_without_c, "(21), lemma-9/corrected and (33)(b), summed over the rounds"),
    "theorem-iv2-eq39/corrected-2": (_second, _BY_KEPT),
    "theorem-iv2-eq9/corrected-2": (_with(_second, square=True), _BY_KEPT),
    "theorem-iv2-eq39/corrected": (
        _with(_second, square=False, limit=_CORRECTED),
        _BY_9.format("theorem-iv2-eq39/corrected-2"),
    ),
    "theorem-iv2-eq9/corrected": (
        _with(_second, square=True, limit=_CORRECTED),
        _BY_9.format("theorem-iv2-eq9/corrected-2"),
    ),
    "theorem-iv2-eq39/with-lambda": (
        _with(_second, square=False, limit=_PRINTED),
        _IMPLIED.format("theorem-iv2-eq39/corrected-2"),
    ),
    "theorem-iv2-eq9/with-lambda": (
        _with(_second, square=True, limit=_PRINTED),
        _IMPLIED.format("theorem-iv2-eq9/corrected-2"),
    ),
}
