"""Koloskova, Stich, Jaggi: Decentralized Stochastic Optimization and Gossip Algorithms with Compressed Communication.

ICML 2019, Theorem 2, with the m largest coordinates, omega = m/d. norm(I - W) is 1 less the least eigenvalue of W, of
which no sentence speaks.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm(x="each grad(f_n, x0)", hat="each 0")
def choco_gossip(w, x, hat, *, gamma, m, W):
    """Gossip on what has been sent; the start is some vector of each client."""
    hat = hat + w.top(x - hat, m)
    w.tap("hat_after", hat)
    return x + gamma * (w.mix(hat, W) - hat), hat


E_T = "sum_n(norm2(x[{0}] - mean_n(x[{0}])) + norm2(x[{0}] - hat_after[{0}]))"

TOLD = {
    "source": "Koloskova, Stich, Jaggi, Decentralized Stochastic Optimization and Gossip Algorithms, 2019, Theorem 2",
    "sure": "memory",
}

CLAIMS = (
    claim(
        "theorem-2", title="CHOCO gossip", **TOLD,
        remarks=(
            "e_t <= (1 - delta**2*omega/82)**t*e_0 with beta = norm(I - W) in gamma: of W a sentence has rho alone",
        ),
    ),
    claim(
        "theorem-2/largest-beta",
        f"{E_T.format('k')} <= (1 - delta**2*omega/82)**k*{E_T.format('0')}",
        of=choco_gossip,
        where={"delta": "1 - rho", "omega": "m/d"},
        assuming=(
            "connected(W)", "m <= d", "beta == 1 + rho",
            "gamma == delta**2*omega/(16*delta + delta**2 + 4*beta**2 + 2*delta*beta**2 - 8*delta*omega)",
        ),
        title="CHOCO gossip, the largest that beta can be", **TOLD,
        remarks=(
            "beta = norm(I - W) is at most 1 + rho, and is that where -rho is an eigenvalue; for other W gamma is less "
            "here than the theorem has it",
        ),
    ),
)  # fmt: skip

PAPER = Paper(
    "choco",
    "Decentralized Stochastic Optimization and Gossip Algorithms",
    "Koloskova, Stich, Jaggi",
    CLAIMS,
    family="decentralised",
)
