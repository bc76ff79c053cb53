"""Proofs by algebra of the claims about shuffling that are true.

Matrices are symbols that do not commute. Norms are numbers: each proof bounds them by the triangle inequality, by
Minkowski or by 1 + y <= e^y, and what is left are comparisons of numbers, every one a line that is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from validate.algebra import at_most, same

Lines = dict[str, bool]


def _above(formula: str, least: Fraction | int) -> bool:
    """Whether a number without names is at least another one, in balls."""
    from theory.arithmetic import balls, decimals
    from theory.formula import parse

    with balls(128) as reals:
        return Fraction(decimals(reals.evaluate(parse(formula), {}))[0]) >= least


# --- identities ------------------------------------------------------------------------------------------------------


def _matrices(*names: str) -> list[Any]:
    import sympy

    return [sympy.Symbol(name, commutative=False) for name in names]


def _numbered(name: str, count: int) -> list[Any]:
    return _matrices(*(f"{name}{i}" for i in range(count)))


def _zero(expression: Any) -> bool:
    return bool(expression.expand() == 0)


@cache
def summation_by_parts() -> Lines:
    """Lemma 8, by induction over N, A and B in this order."""
    last, new, total, b = _matrices("A", "C", "T", "B")
    lines = {"from N to N+1": _zero(new * (total + b) - (last * total + (new - last) * total + new * b))}
    for size in (1, 2, 5):
        A, B = _numbered("A", size), _numbered("B", size)
        right = A[-1] * sum(B) - sum(((A[n] - A[n - 1]) * sum(B[:n]) for n in range(1, size)), 0 * A[0])
        lines[f"N = {size}, written out"] = _zero(sum(a * b for a, b in zip(A, B, strict=True)) - right)
    return lines


@cache
def unrolled_steps() -> Lines:
    """Proposition 1 with delta^tau; the mean Hessian H turns grad f(w) into g + H (w - w^0)."""
    w, start, g, d, H, c = _matrices("w", "w0", "g", "d", "H", "c0")
    import sympy

    c = sympy.Symbol("c")
    step = w - c * (g + H * (w - start) + d) - start
    lines = {"one step": _zero(step - ((1 - c * H) * (w - start) - c * g - c * d))}
    for size in (1, 2, 4):
        hessians, noise = _numbered("H", size), _numbered("d", size)
        at, right = start, start
        for t in range(size):
            at = at - c * (g + hessians[t] * (at - start) + noise[t])
        for tau in range(size):
            product = sympy.Integer(1)
            for t in range(size - 1, tau, -1):
                product = product * (1 - c * hessians[t])
            right = right - product * c * (g + noise[tau])
        lines[f"t = {size - 1}, written out"] = _zero(at - right)
    return lines


@cache
def unrolled_epoch() -> Lines:
    """Lemma 7 with the right sign: a turn moves v_j by -Q_j grad f_j(v_j) - delta_j, by Proposition 1."""
    import sympy

    v, start, g, d, H, Q = _matrices("v", "v0", "g", "d", "H", "Q")
    turn = v - Q * (g + H * (v - start)) - d - start
    lines = {"one turn": _zero(turn - ((1 - Q * H) * (v - start) - Q * g - d))}
    for size in (1, 2, 4):
        Qs, Hs, gs, ds = (_numbered(name, size) for name in ("Q", "H", "g", "d"))
        at, right = start, start
        for j in range(size):
            at = at - Qs[j] * (gs[j] + Hs[j] * (at - start)) - ds[j]
            product = sympy.Integer(1)
            for k in range(size - 1, j, -1):
                product = product * (1 - Qs[k] * Hs[k])
            right = right - product * (Qs[j] * gs[j] + ds[j])
        lines[f"N = {size}, written out"] = _zero(at - right)
    return lines


# --- norms -----------------------------------------------------------------------------------------------------------


@cache
def products_near_identity() -> Lines:
    """Proposition 2 corrected: X_d = (1+y)^d - 1 bounds d factors, y = aL; P = (1+y)^d."""
    import sympy

    one, A = _matrices("P", "A")
    a = sympy.Symbol("a")
    return {
        "one more factor": _zero(one * (1 - a * A) - 1 - ((one - 1) * (1 - a * A) - a * A)),
        "its norm": same("(P-1)*(1+y) + y", "P*(1+y) - 1"),
        "one factor": same("y", "(1+y) - 1"),
    }


@cache
def norm_of_a_turn() -> Lines:
    """Proposition 3: sum_{t<K} (1+x)^t <= K (1+x+rest)^K, x = eta alpha N L and x + rest = eta N L."""
    lines = {"a power is at most the next": at_most("P", "P*(1+x)"), "alpha <= 1": at_most("y/(1+r)", "y")}
    for K in (1, 2, 3, 4, 5):
        total = " + ".join(f"(1+x)**{t}" for t in range(K))
        lines[f"K = {K}"] = at_most(total, f"{K}*(1+x+rest)**{K}")
    return lines


@cache
def simplex() -> Lines:
    """A part of the weights is at most all of them, which is 1."""
    return {"the weights sum to 1": at_most("part*G", "(part+rest)*G")}


@cache
def _deviation_is_large() -> Lines:
    return simplex() | {"8 log(2/p) >= 8 log 2 >= 1, n >= 1": _above("8*log(2)", 1)}


@cache
def epoch_bias() -> Lines:
    """||Q_j - eta N K a_j I|| <= eta N K a_j e_R; x = eta N K L = 1/(4R+r), and e = 1 + u < 4R."""
    return {
        **products_near_identity(),
        # (1-x/K)^K >= 1-x by induction, and (1+x/K)(1-x/K) <= 1, so that (1+x/K)^K <= 1/(1-x)
        "Bernoulli, from k to k+1": at_most("1 - (k+1)*y", "1 - (k+1)*y + k*y**2"),
        "Bernoulli, its step": same("(1-k*y)*(1-y)", "1 - (k+1)*y + k*y**2"),
        "(1+y)(1-y) <= 1": at_most("1 - y**2", "1"),
        "1/(1-x) - 1 = x/(1-x)": same("1/(1-x) - 1", "x/(1-x)"),
        "x <= 1/(4R): x/(1-x) <= 1/(4R-1), 4R = 1+v": at_most("1/(v+r)", "1/v"),
        "1/(4R-1) <= e/(4R-e), 4R = 1+u+v": at_most("1/(u+v)", "(1+u)/v"),
        "e < 4": _above("4-exp(1)", Fraction(1)),
        **simplex(),
    }


def _above_bias() -> Lines:
    return epoch_bias() | {"128 N log(2N/p) >= 128 log 2 >= 1": _above("128*log(2)", 1)}


def _part() -> Lines:
    return norm_of_a_turn() | simplex()


def _above_part() -> Lines:
    return _part() | {"3 sqrt(8N log(2N/p)) >= 1": _above("3*sqrt(8*log(2))", 1)}


@cache
def cross() -> Lines:
    """With sL <= 1/4 the factors are at most s e^{1/4}, e^{1/3}, s e^{1/4} G and L; squared: e^2 s^4 L^2 G^2."""
    return _part() | {
        "e^{1/4}/4 <= 1/3": _above("1/3 - exp(1/4)/4", 0),
        "1/3+1/4+1/4 <= 1": _above("1 - 1/3 - 1/4 - 1/4", 0),
    }


def _above_cross() -> Lines:
    return cross() | {"18 e^4 8 log 2 >= 1": _above("18*exp(4)*8*log(2)", 1)}


def _noise() -> Lines:
    return _part() | {
        "e^{1/4}/4 <= 1/3": _above("1/3 - exp(1/4)/4", 0),
        "1/3+1/4 <= 2": _above("2 - 1/3 - 1/4", 0),
    }


# --- one epoch and all of them ---------------------------------------------------------------------------------------


@cache
def one_epoch() -> Lines:
    """theorem-2-step/corrected-2, coordinate by coordinate, for all mu, L, s, K; x = mu s."""
    gap = "(1-mu*s)**2*u**2 - (u-s*g)**2"
    coercive = "2*s*(g*u - (mu*L*u**2+g**2)/(mu+L)) + s*(2/(mu+L)-s)*(g**2-mu**2*u**2)"
    return {
        "a gradient step contracts by 1 - mu s": same(gap, coercive),
        "s <= 2/(mu+L) as 4 s L <= 1 and mu <= L = mu + r": at_most("1/(4*(mu+r))", "2/(2*mu+r)"),
        "Young, x": same("x/2*a**2 + 2/x*b**2 + 2*a*b", "x/2*(a + 2*b/x)**2"),
        "||B+M||^2 <= 2||B||^2 + 2||M||^2": same("2*b**2 + 2*m**2 - (b+m)**2", "(b-m)**2"),
        "(1+x/2)(1-x)^2 <= 1-x, x = 1/(1+r)": at_most("(1+1/(2*(1+r)))*(1-1/(1+r))**2", "1-1/(1+r)"),
        "sum_j a_j^2 <= (sum_j a_j)^2 = 1, two clients": at_most("a**2 + b**2", "(a+b)**2"),
        "E||M||^2 <= s^2 delta^2/K": same("(s/(N*K))**2*N**2*K*d", "s**2*d/K"),
        "Gronwall, one step": same("A*P + c*L*A*P", "A*P*(1+c*L)"),
        "(p+q)^2 <= 2p^2 + 2q^2": same("2*p**2 + 2*q**2 - (p+q)**2", "(p-q)**2"),
        "2 e^{1/2} <= 4": _above("4 - 2*exp(1/2)", 0),
    }


def _printed_route() -> Lines:
    """theorem-2-step/corrected: each term is at least that of corrected-2; sL <= 1/(4R), R >= kappa."""
    noise = "2 + 8*k/(4*(k+r)) + 8/(16*(k+r)**2)"  # kappa = k = 1 + q, R = k + r
    return one_epoch() | {
        "noise": at_most(noise.replace("k", "(1+q)"), "54"),
        "54 <= e^4": _above("exp(4)", 54),
        "288 e^6 N log(2N/p) >= 4": _above("288*exp(6)*log(2)", 4),
        "1 - mu s <= 1 - mu s/2": at_most("1/2*x", "x"),
    }


def _all_epochs() -> Lines:
    return one_epoch() | {
        "V' <= (1-x) V + c keeps V <= q V0 + c/x": same("(1-x)*(q*V0 + c/x) + c", "(1-x)*q*V0 + c/x"),
        "noise": same("(2*s**2*d/K)/(mu*s)", "2*s*d/(mu*K)"),
        "bias": same("(2/(mu*s)+2)*4*L**2*s**4*g/(mu*s)", "(2/(mu*s)+2)*4*L**2*s**3*g/mu"),
    }


def _moving_weights() -> Lines:
    """theorem-3-explicit/corrected: x = mu s <= 1/4, t = x/(2(1-x)), v* is kPhi-Lipschitz in the weights."""
    return one_epoch() | {
        "Young, t": same("(1+t)*u**2 + (1+1/t)*w**2 - (u+w)**2", "(t*u-w)**2/t"),
        "(1+t)(1-x) = 1-x/2": same("(1+x/(2*(1-x)))*(1-x)", "1-x/2"),
        "1+1/t = 2/x-1": same("1+2*(1-x)/x", "2/x-1"),
        "1+t <= 2, x = 1/(4+r)": at_most("1+1/(2*(3+r))", "2"),
        "|sum b_j g_j| <= G sum |b_j| <= G sqrt(N) ||b||, two clients": same("2*(b**2+c**2) - (b+c)**2", "(b-c)**2"),
        "V' <= (1-x/2) V + c keeps V <= q V0 + 2c/x": same("(1-x/2)*(q*V + 2*c/x) + c", "(1-x/2)*q*V + 2*c/x"),
        "noise": same("2/(mu*s)*2*2*s**2*d/K", "8*s*d/(mu*K)"),
        "weights": same("2/(mu*s)*2/(mu*s)*N*G**2/mu**2*A", "4*N*G**2/(mu**4*s**2)*A"),
    }


PROOFS: Mapping[str, tuple[Callable[[], Lines], str]] = {
    "lemma-8": (summation_by_parts, "by induction over N, for matrices that need not commute"),
    "proposition-1/corrected": (
        unrolled_steps,
        "by induction over t: grad f(w^t) = grad f(w^0) + H_t (w^t-w^0) with the mean Hessian H_t",
    ),
    "lemma-7/corrected": (unrolled_epoch, "by induction over the clients, each turn by proposition-1/corrected"),
    "proposition-2/corrected": (
        products_near_identity,
        "by induction over the factors, P(I-aA) - I = (P-I)(I-aA) - aA, and by the triangle inequality for two",
    ),
    "proposition-3": (
        norm_of_a_turn,
        "a sum of K products of factors of norm at most 1 + eta alpha N L, each at most (1+eta N L)^K, for any step",
    ),
    "lemma-10/corrected": (_deviation_is_large, "the sum is at most G, as the weights sum to 1; the bound is more"),
    "lemma-10/corrected-2": (simplex, "by the triangle inequality, as the weights are not negative and sum to 1"),
    "lemma-11a/corrected": (_above_bias, "lemma-11a/corrected-2, and the right side is larger"),
    "lemma-11a/corrected-2": (
        epoch_bias,
        "every Q_j differs from eta N K alpha_j I by at most eta N K alpha_j e_R, and the weights sum to 1",
    ),
    "lemma-11b/corrected": (_above_part, "lemma-11b/corrected-2, and the right side is larger"),
    "lemma-11b/corrected-2": (_part, "Proposition 3, (1+eta N L)^K <= exp(eta N K L) <= e, and the weights sum to 1"),
    "lemma-12/corrected": (_above_cross, "lemma-12/corrected-2, and the right side is larger"),
    "lemma-12/corrected-2": (
        cross,
        "the norms of Q_j add up to s e^{1/4} at most, products of I - Q_j H_j have norm at most exp(sL e^{1/4}), and "
        "every part of the epoch moves at most s e^{1/4} G",
    ),
    "lemma-13/corrected": (_noise, "Minkowski: the roots of the second moments of the delta_j add up"),
    "theorem-2-step/corrected": (_printed_route, "every term is at least that of theorem-2-step/corrected-2"),
    "theorem-2-step/corrected-2": (
        one_epoch,
        "the contraction is the interpolation inequality, P_W does not expand, the noise is a martingale difference, "
        "and in root mean square the local iterates leave v by (sG + s delta/sqrt(K)) e^{sL} at most (Gronwall)",
    ),
    "theorem-2-unrolled/corrected": (_all_epochs, "theorem-2-step/corrected-2 over R epochs, by induction"),
    "theorem-3-explicit/corrected": (
        _moving_weights,
        "theorem-2-step/corrected-2 with the weights of the epoch, then Young, as mu ||v*(a)-v*(a')|| <= ||sum_j "
        "(a_j-a'_j) grad f_j|| <= sqrt(N) G ||a-a'|| by strong monotonicity (Lemma 1)",
    ),
}  # fmt: skip
