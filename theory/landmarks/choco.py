"""Koloskova, Stich, Jaggi: Decentralized Stochastic Optimization and Gossip Algorithms with Compressed Communication.

ICML 2019, Theorem 2, with the m largest coordinates, omega = m/d. norm(I - W) is 1 less the least eigenvalue of W.
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

CLAIMS = (
    claim(
        "theorem-2",
        f"{E_T.format('k')} <= (1 - delta**2*omega/82)**k*{E_T.format('0')}",
        of=choco_gossip,
        where={"delta": "1 - rho", "omega": "m/d"},
        assuming=(
            "connected(W)", "m <= d", "beta == 1 + rho",
            "gamma == delta**2*omega/(16*delta + delta**2 + 4*beta**2 + 2*delta*beta**2 - 8*delta*omega)",
        ),
        title="CHOCO gossip", sure="memory",
        source="Koloskova, Stich, Jaggi, Decentralized Stochastic Optimization and Gossip Algorithms, 2019, Theorem 2",
        remarks=("beta = norm(I - W) is at most 1 + rho, which stands in its place here",),
    ),
)  # fmt: skip

PAPER = Paper("choco", "Decentralized Stochastic Optimization and Gossip Algorithms", "Koloskova, Stich, Jaggi", CLAIMS)
