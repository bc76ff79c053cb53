"""The lemmas of fedmim by algebra, line by line, for any numbers of clients, lags and local steps.

Besides these lines a proof uses what holds by definition or for all vectors: Lipschitz gradients between two points,
Assumption 4, that squares are convex, that noise of mean zero adds its variance, and sums over lags, clients or steps
of what is shown for each of them. Squares of norms are sums of squares of coordinates: an identity between squares of
numbers is one between squares of norms. Names in the lines are non-negative; `r`, `rest`, `more` and `m` stand for the
slack of an inequality between parameters, so that A = 1/(1+m) is in (0, 1].
"""

from __future__ import annotations

from functools import cache
from typing import Any

from theory.claim import Claim
from validate.algebra import at_most, holds, same

Lines = dict[str, bool]
_LAGS_WRITTEN = 4


def steps(claim: Claim, *labels: str) -> Lines:
    """The scalar lines of a claim's own proof; only these labels, where some are given."""
    domains = {p.name: p.domain for p in claim.parameters}
    return {
        f"{claim.label}, {s.label}": holds(s, domains) is True
        for s in claim.steps
        if s.identity is not None and (not labels or s.label in labels)
    }


def find(label: str) -> Claim:
    """A claim of the paper."""
    from theory.catalog import claim

    return claim(f"fedmim/{label}")


# --- the recursion ---------------------------------------------------------------------------------------------------


@cache
def increments() -> Lines:
    """Lemma 6: P is the sum of the gradients so far, i the inertia sum_j alpha_j delta_{t-j}."""
    return {
        "one more local step": same("(x - k*i - A*e*P) - i - A*e*g", "x - (k+1)*i - A*e*(P+g)"),
        "after K steps, with the clients' mean P": same("(x - (x - K*i - A*e*P))/K", "i + A*(e/K*P)"),
        "A + sum alpha = 1 keeps the bound": same("A*c + (1-A)*c", "c"),
    }


@cache
def auxiliary() -> Lines:
    """Lemma 5: c = sum alpha, and c_j - c_{j+1} = alpha_j for the partial sums c_j = sum_{s>=j} alpha_s."""
    written = {f"{lags} lags, written out": _auxiliary(lags) for lags in range(1, _LAGS_WRITTEN + 1)}
    return {
        **increments(),
        "x_{t+1}-x_t and delta_{t+1} collected": same("-K*d - K/(1-c)*(c*d - i)", "-K/(1-c)*(d - i)"),
        "by Lemma 6": same("-K/(1-c)*((1-c)*dtilde + i - i)", "-K*dtilde"),
        **written,
    }


def _auxiliary(lags: int) -> bool:
    """u_{t+1} - u_t + K eta_l g = 0 with symbols for x_t, delta_t, ..., and the mean gradient g."""
    import sympy

    x, K, eta, g = sympy.symbols("x K eta g")
    alpha = sympy.symbols(f"a0:{lags}")
    delta = sympy.symbols(f"d0:{lags}")
    A = 1 - sum(alpha)

    def u(at: Any, past: tuple[Any, ...]) -> Any:
        return at - K / A * sum(sum(alpha[j:]) * d for j, d in enumerate(past))

    inertia = sum(a * d for a, d in zip(alpha, delta, strict=True))
    following = x - K * inertia - A * K * eta * g
    moved = u(following, ((x - following) / K, *delta[:-1])) - u(x, delta) + K * eta * g
    return bool(sympy.simplify(moved) == 0)


@cache
def convex() -> Lines:
    """(21): a mean of weights 1-a and a; more points one by one."""
    return {"Jensen": same("(1-a)*p**2 + a*q**2 - ((1-a)*p + a*q)**2", "a*(1-a)*(p-q)**2")}


# --- gradients and drift ---------------------------------------------------------------------------------------------


@cache
def clients_gradients() -> Lines:
    """Lemma 7 for the mean over clients: y2 to x_k to x_t to u_t."""
    return {
        "four terms": same(
            "4*(a**2+b**2+c**2+d**2) - (a+b+c+d)**2",
            "(a-b)**2 + (a-c)**2 + (a-d)**2 + (b-c)**2 + (b-d)**2 + (c-d)**2",
        ),
        "||sum beta_j v_j||^2 <= rho sum beta_j ||v_j||^2": same(
            "(p+q)*(p*x**2+q*y**2) - (p*x+q*y)**2", "p*q*(x-y)**2"
        ),
        "||sum of J terms||^2, J = 3": same("3*(x**2+y**2+z**2) - (x+y+z)**2", "(x-y)**2 + (x-z)**2 + (y-z)**2"),
        "sum_{s>=j} alpha_s <= 1-A": at_most("(K/A*c)**2", "(K/A*(c+rest))**2"),
        "Q_j = 4 L^2 P_j": same("4*rho*L**2*b + 4*L**2*K**2*J*(1-A)**2/A**2", "4*L**2*(rho*b + K**2*J*(1-A)**2/A**2)"),
    }


@cache
def one_more_step() -> Lines:
    """(25) for the mean over clients, at k = 2 + m <= K; e = eta_l, H = G^2 + B^2 E||grad f(u_t)||^2."""
    return {
        **clients_gradients(),
        **convex(),
        "noise of two outcomes": same("((z-v-n)**2 + (z-v+n)**2)/2", "(z-v)**2 + n**2"),
        "Young": same("(1+c)*z**2 + (1+1/c)*v**2 - (z-v)**2", "(c*z+v)**2/c"),
        "with c = 1/(2k-1)": same("1 + 1/(1/(2*k-1))", "2*k"),
        "8kAL^2 eta_l^2 at the limit, a = sqrt A": same("8*k*a**2*L**2*(1/(4*L*K*a))**2", "k/(2*K**2)"),
        "the factor": at_most("1/(2*m+3) + (m+2)/(2*(m+2+rest)**2)", "1/(m+1)"),
        "M_j": same("2*k*(A*e**2*4*L**2*P + a)", "2*k*(a + 4*A*L**2*e**2*P)"),
        "what is added": same("2*k*A*e**2*4*H", "8*A*k*e**2*H"),
    }


@cache
def unrolled() -> Lines:
    """(26): the factor q = 1 + 1/m, m = k-1, in all k steps; (1+1/m)^(m+1) falls with m from 4, at m = 1."""
    return {
        **one_more_step(),
        "k = 1: the move alone": at_most("A*H+i+n", "3*(2*(A*H+i)+n)"),
        "the sum of the powers": same("q*(F-1)/(q-1) + 1", "(q*F-1)/(q-1)"),
        "its factor": same("(F-1)/((1+1/m)-1)", "m*(F-1)"),
        "two powers compared": same("(1+1/m)/(1+1/(m+1))", "1+1/(m*(m+2))"),
        "Bernoulli, m = n+1": at_most("1/(n+2)", "(n+2)/((n+1)*(n+3))"),
        "at m = 1": same("(1+1)**2", "4"),
        "(k-1) 3 <= 3k": at_most("m*(4-1)", "3*(m+1)"),
        "3k times what is added": same(
            "3*k*(2*k*M + 8*A*k*e**2*H + A**2*e**2*s)", "3*A**2*k*e**2*s + 6*k**2*M + 24*A*k**2*e**2*H"
        ),
    }


@cache
def mean_drift() -> Lines:
    """Lemma 8: (26) at k <= K."""
    return {
        **unrolled(),
        "k <= K = k+r, once": at_most("3*A**2*k*e**2*s", "3*A**2*(k+r)*e**2*s"),
        "k <= K = k+r, squared": at_most("6*k**2*M + 24*A*k**2*e**2*H", "6*(k+r)**2*M + 24*A*(k+r)**2*e**2*H"),
    }


# --- the average gradient --------------------------------------------------------------------------------------------


@cache
def noise_apart() -> Lines:
    """(29)."""
    return {
        "||a+b||^2 <= 2||a||^2 + 2||b||^2": same("2*a**2 + 2*b**2 - (a+b)**2", "(a-b)**2"),
        "SK noises, uncorrelated": same("2*S*K*s/(S*K)**2", "2*s/(K*S)"),
        "the mean over two steps": same("(a**2+b**2)/2 - ((a+b)/2)**2", "(a-b)**2/4"),
    }


@cache
def without_replacement() -> Lines:
    """(30) with equality: M = ||mean||^2, Q the mean of the squares; N = S + r clients."""
    return {
        "cross terms are N^2 M - N Q": same(
            "(S*(S-1)/(N*(N-1))*(N**2*M - N*Q) + S/N*N*Q)/S**2", "(S-1)*N/(S*(N-1))*M + (N-S)/(S*(N-1))*Q"
        ),
    }


@cache
def at_most_printed() -> Lines:
    """The right side of (30), S = 1+s, N = 1+s+r; one client is its own mean."""
    return {
        **without_replacement(),
        "(S-1)N <= S(N-1)": at_most("s*(1+s+r)", "(1+s)*(s+r)"),
        "N-S <= N-1": at_most("r", "s+r"),
    }


@cache
def selected_gradients() -> Lines:
    """(31): X is L^2 times drift and lags, b = B^2, S = 1+s."""
    return {
        **clients_gradients(),
        **at_most_printed(),
        "drift and lags": at_most("4*X*(1+1/(1+s))", "8*X"),
        "the gradient": at_most("4 + 4*b/(1+s)", "4*(b+1)"),
    }


@cache
def lag_sum() -> Lines:
    """(34)."""
    return {
        **steps(find("eq34")),
        "M_j and P_j summed": same("6*K**2*(1-A + 4*A*L**2*e**2*P) + P", "6*(1-A)*K**2 + (24*K**2*A*L**2*e**2+1)*P"),
    }


@cache
def average_gradient() -> Lines:
    """Lemma 9 put right; a = sqrt A."""
    return {
        **noise_apart(),
        **selected_gradients(),
        **mean_drift(),
        "16 L^2 times Lemma 8": same(
            "16*L**2*(3*K*A**2*e**2*s + 6*K**2*M + 24*A*K**2*e**2*(G2+b*g))",
            "48*K*L**2*A**2*e**2*s + 16*L**2*6*K**2*M + 384*A*L**2*K**2*e**2*(G2+b*g)",
        ),
        "384 A L^2 K^2 eta_l^2 <= 24": at_most("384*a**2*L**2*K**2/(4*L*K*a+r)**2", "24"),
        "the factor of the gradient": same("8*(b+1) + 24*b", "32*b+8"),
    }
