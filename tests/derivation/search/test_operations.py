"""Proximal steps, the largest coordinates, signs, clipping and gossip: theorems on them, found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from theory import algorithm
from theory.claim import claim


@algorithm
def proximal(w, x, *, t):
    return w.mean(w.prox(x, t))


@algorithm
def by_clients(w, x, *, t):
    u = w.prox(x, t)
    w.tap("u", u)
    return w.mean(u)


@algorithm
def largest(w, x, *, eta, m):
    return x - eta * w.top(w.full_gradient(x), m)


@algorithm
def signs(w, x, *, eta):
    return x - eta * w.sign(w.full_gradient(x))


@algorithm
def clipped(w, x, *, eta, C):
    return x - eta * w.clip(w.full_gradient(x), C)


@algorithm
def projected(w, x, *, eta, R):
    return w.project(x - eta * w.full_gradient(x), R)


@algorithm(x="x0", e="each 0")
def with_memory(w, x, e, *, eta, m):
    v = e + eta * w.gradient(x)
    p = w.top(v, m)
    w.tap("p", p)
    return x - w.mean(p), v - p


@algorithm(x="x0", e="0")
def at_the_server(w, x, e, *, eta, m):
    v = e + eta * w.full_gradient(x)
    p = w.top(v, m)
    return x - p, v - p


@algorithm(x="x0", g="each grad(f_n, x0)")
def differences(w, x, g, *, eta, m):
    y = x - eta * w.mean(g)
    return y, g + w.top(w.gradient(y) - g, m)


@algorithm(x="each x0")
def gossip(w, x, *, W):
    return w.mix(x, W)


@algorithm(x="each x0")
def decentralised(w, x, *, eta, W):
    return w.mix(x, W) - eta * w.gradient(x)


@algorithm(x="each x0", s="each grad(f_n, x0)")
def tracking(w, x, s, *, eta, W):
    y = w.mix(x, W) - eta * s
    return y, w.mix(s, W) + w.gradient(y) - w.gradient(x)


ONE = ("N == 1",)
SHORT = ("smooth(f, L)", "eta <= 1/L")
W = ("connected(W)",)
STEP = claim(
    "step",
    "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)/(1 + t*mu)**2",
    of=proximal,
    assuming=("strongly_convex(f, mu)", *ONE),
)
LAST = claim("last", "f(x[K]) - fstar <= norm2(x0 - xstar)/(2*t*K)", of=proximal, assuming=("convex(f)", *ONE))
SHARED = claim(
    "shared",
    "norm2(x[k] - xstar) <= norm2(x0 - xstar)/(1 + 2*t*mu)**k",
    of=by_clients,
    assuming=("strongly_convex(f_n, mu)", "same_minimiser(f_n)"),
)
SPREAD = claim(
    "spread",
    "norm2(u[k] - x[k]) <= t**2*G**2",
    of=by_clients,
    assuming=("smooth(f_n, L)", "bounded_gradients(f_n, G)"),
)
TOP = claim("top", "f(x[k+1]) <= f(x[k]) - eta*m/(2*d)*norm2(grad(f, x[k]))", of=largest, assuming=SHORT)
TOP_RATE = claim(
    "top-rate",
    "f(x[k]) - fstar <= (1 - eta*mu*m/d)**k*(f(x0) - fstar)",
    of=largest,
    assuming=(*SHORT, "strongly_convex(f, mu)"),
)
SIGNS = claim(
    "signs",
    "mean_k(norm(grad(f, x[k]))) <= (f(x0) - fstar)/(eta*K) + L*eta*d/2",
    of=signs,
    assuming=SHORT[:1],
)
MEMORY = claim(
    "memory",
    "mean_n(norm2(e[k])) <= 4*(1 - m/d)*(d/m)**2*eta**2*G**2",
    of=with_memory,
    assuming=("bounded_gradients(f_n, G)",),
)
DIFFERENCES = claim(
    "differences",
    "norm2(g[k+1] - grad(f_n, x[k+1])) <= (1 - m/d)*(1 + c)*norm2(g[k] - grad(f_n, x[k]))"
    " + (1 + 1/c)*L**2*norm2(x[k+1] - x[k])",
    of=differences,
    assuming=("smooth(f_n, L)",),
)
NEARER = claim("nearer", "mean_n(norm2(x[k+1] - xstar)) <= mean_n(norm2(x[k] - xstar))", of=gossip, assuming=W)
CONSENSUS = claim(
    "consensus",
    "mean_n(norm2(x[k] - mean_n(x[k]))) <= 4*eta**2*G**2/(1 - rho)**2",
    of=decentralised,
    assuming=(*W, "bounded_gradients(f_n, G)"),
)
TRACKING = claim("tracking", "norm2(mean_n(s[k]) - mean_n(grad(f_n, x[k]))) <= 0", of=tracking, assuming=W)
FOUND = {
    "a proximal step": STEP,
    "proximal steps": replace(STEP, statement="norm2(x[k] - xstar) <= (1/(1 + t*mu))**(2*k)*norm2(x0 - xstar)"),
    "the last of them": LAST,
    "of clients with one minimiser": SHARED,
    "how far clients go": SPREAD,
    "what clients lose": claim("lose", "mean_n(f_n(u[k])) <= f(x[k])", of=by_clients),
    "largest coordinates": TOP,
    "a rate with them": TOP_RATE,
    "signs": SIGNS,
    "a clipped step": claim("clipped", "norm(x[k+1] - x[k]) <= eta*C", of=clipped),
    "a memory of errors": MEMORY,
    "a memory that no tap shows": claim(
        "memory",
        "norm2(e[k]) <= 4*(1 - m/d)*(d/m)**2*eta**2*G**2",
        of=at_the_server,
        assuming=("bounded_gradients(f, G)",),
    ),
    "compressed differences": DIFFERENCES,
    "gossip": NEARER,
    "consensus": CONSENSUS,
    "a tracked gradient": TRACKING,
}
FALSE = {
    "a proximal step, a power more": replace(STEP, statement=STEP.statement.replace("mu)**2", "mu)**3")),
    "of two clients": replace(STEP, assuming=STEP.assuming[:1]),
    "the last of them, a sixth": replace(LAST, statement=LAST.statement.replace("(2*t", "(6*t")),
    "of clients with minimisers of their own": replace(SHARED, assuming=SHARED.assuming[:1]),
    "of f alone": replace(SPREAD, assuming=("smooth(f, L)", "bounded_gradients(f, G)")),
    "largest coordinates, all of them": replace(TOP, statement=TOP.statement.replace("m/(2*d)", "1/2")),
    "signs, without d": replace(SIGNS, statement=SIGNS.statement.replace("eta*d/2", "eta/2")),
    "a memory of errors, a quarter": replace(MEMORY, statement=MEMORY.statement.replace("4*(1", "(1")),
    "compressed differences, not smooth": replace(DIFFERENCES, assuming=()),
    "gossip of each": replace(NEARER, statement="norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)"),
    "gossip with any matrix": replace(NEARER, assuming=()),
    "consensus, a first power": replace(CONSENSUS, statement=CONSENSUS.statement.replace("(1 - rho)**2", "(1 - rho)")),
    "a tracked gradient with any matrix": replace(TRACKING, assuming=()),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    """Its neighbours have no derivation."""
    is_not_found(FALSE[name])
