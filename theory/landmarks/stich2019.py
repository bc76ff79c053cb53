"""Stich: Local SGD Converges Fast and Communicates Little (ICLR 2019), Theorem 2.2.

K of the paper is N, its T = H*K steps in all; the workers have the same f, and their samples are drawn
independently.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import NONNEGATIVE
from theory.program import algorithm


@algorithm
def local_sgd(w, x, *, mu, a, H):
    """H local steps of size 4/(mu*(a + t)), then the average."""
    y = w.each(x)
    for h in w.repeat(H):
        grad = w.gradient(y, w.sample())
        w.tap("y", w.mean(y))
        w.tap("grad", grad)
        y = y - 4 / (mu * (a + H * w.k + h)) * grad
    return w.mean(y)


CLAIMS = (
    claim(
        "theorem-2-2",
        "E(f(sum_k(sum_h((a + H*k + h)**2*y[k, h]))/S_T)) - fstar <= mu*a**3/(2*S_T)*norm2(x0 - xstar) "
        "+ 4*T*(T + 2*a)/(mu*N*S_T)*sigma2 + 256*T/(mu**2*S_T)*G2*H**2*L",
        of=local_sgd,
        assuming=(
            "smooth(f, L)", "strongly_convex(f, mu)", "dissimilar(zeta)", "zeta <= 0", "bounded_variance(sigma2)",
            "a > max(16*L/mu, H)",
        ),
        where={
            "T": "H*K", "S_T": "T*a**2 + a*T*(T - 1) + T*(T - 1)*(2*T - 1)/6",
            "G2": "max_k(max_h(max_n(E(norm2(grad[k, h])))))",
        },
        parameters={"zeta": NONNEGATIVE}, title="local SGD, strongly convex",
        source="Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019, Theorem 2.2", sure="memory",
        remarks=("G2 is the least G**2 that bounds the mean squares of the gradients along the run",),
    ),
)  # fmt: skip

PAPER = Paper("stich2019", "Local SGD Converges Fast and Communicates Little", "Stich", CLAIMS, family="local SGD")
