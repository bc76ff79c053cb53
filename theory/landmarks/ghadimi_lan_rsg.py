"""Ghadimi, Lan: Stochastic First- and Zeroth-Order Methods for Nonconvex Stochastic Programming (arXiv 1309.5549v1)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import combined, step, telescope
from theory.program import algorithm


@algorithm
def rsg(w, x, *, gamma, sigma2):
    """A step along the gradient with noise."""
    return x - gamma * (w.full_gradient(x) + w.mean(w.noise(sigma2)))


SQUARED, WEIGHTS = "E(norm2(grad(f, x[k])))", "sum_k(2*gamma_k - L*gamma_k**2)"
DESCENT = (
    step("angle", f"E(dot(grad(f, x[k]), x[k+1] - x[k])) == -gamma_k*{SQUARED}"),
    step("length", f"E(norm2(x[k+1] - x[k])) == gamma_k**2*{SQUARED} + gamma_k**2*sigma2/N"),
    combined(
        "descent",
        f"E(f(x[k+1])) <= E(f(x[k])) - (gamma_k - L*gamma_k**2/2)*{SQUARED} + L*gamma_k**2*sigma2/2",
        "E: above f (x[k], x[k+1]); angle; length times L/2",
        "1 times L*gamma_k**2*sigma2*(N - 1)/(2*N)",
    ),
    telescope("run", "E(f(x[k]))", "sum_k", "K"),
    combined("each", "0 <= 2*gamma_k - L*gamma_k**2", "gamma_k*L < 2 times gamma_k"),
    combined("weights", f"0 <= {WEIGHTS}", "sum_k: each"),
    combined(
        "all",
        None,
        f"sum_k: descent times 2/(L*{WEIGHTS}); run times -2/(L*{WEIGHTS}); E: infimum (x[K]) times 2/(L*{WEIGHTS})",
    ),
)

CLAIMS = (
    claim(
        "theorem-2-1a",
        "sum_k((2*gamma_k - L*gamma_k**2)*E(norm2(grad(f, x[k]))))/(L*S) "
        "<= (2*(f(x0) - fstar)/L + sigma2*sum_k(gamma_k**2))/S",
        of=rsg, where={"S": "sum_k(2*gamma_k - L*gamma_k**2)"},
        assuming=("smooth(f, L)", "bounded_below(f)", "gamma_k*L < 2", "N <= 1"),
        equation="(2.4)", proof=DESCENT, title="SGD with a random output, not convex", sure="transcribed",
        source="Ghadimi, Lan, Stochastic First- and Zeroth-Order Methods, 2013, Theorem 2.1 (a)",
        remarks=("the random output is a weighted mean over the rounds",),
    ),
)  # fmt: skip

PAPER = Paper(
    "ghadimi-lan-rsg", "Stochastic First- and Zeroth-Order Methods", "Ghadimi, Lan", CLAIMS, family="stochastic"
)
