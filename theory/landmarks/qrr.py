"""Sadiev, Malinovsky, Gorbunov, Sokolov, Khaled, Burlachenko, Richtarik: Random Reshuffling and Gradient Compression.

Theorem 2.1 with one function a client (n = 1): compressed gradient descent; m random coordinates, omega = d/m - 1.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import assumed, combined, domain, induction, step
from theory.program import algorithm


@algorithm
def compressed(w, x, *, gamma, m):
    """The mean of the clients' compressed gradients."""
    return x - gamma * w.mean(w.keep(w.gradient(x), m))


OM = "(d/m - 1)"
D2 = "mean_n(norm2(grad(f_n, xstar)))"
F = f"2*gamma*{OM}/(mu*N)*{D2}"
R = "E(norm2(x[k] - xstar))"
RAT = "(1 + 2*(d/m - 1)/N)"
RATE = (
    step(
        "turn",
        "E(norm2(x[k+1] - xstar)) == E(norm2(x[k] - gamma*grad(f, x[k]) - xstar)) + "
        f"gamma**2*{OM}/N*E(mean_n(norm2(grad(f_n, x[k]))))",
    ),
    domain("kept", "m <= d"),
    combined("omega", f"{OM} >= 0", "kept times 1/m"),
    combined("short", f"gamma*L*{RAT} <= 1", f"gamma <= 1/((1 + 2*omega/N)*L) times L*{RAT}"),
    assumed("curvature", "mu <= L", ("smooth(f_n, L)", "strongly_convex(f_n, mu)"), "curvature"),
    combined("shrinks", "gamma*mu <= 1", "short; curvature times gamma; omega times 2*gamma*L/N"),
    combined(
        "nearer",
        f"E(norm2(x[k+1] - xstar)) <= (1 - gamma*mu)*{R} + 2*gamma**2*{OM}/N*{D2}",
        f"turn; E: strongly_convex f (x[k], xstar) times 2*gamma; E: infimum (x[k]) times 2*gamma*(1 - gamma*L*{RAT}); "
        f"E mean_n: smooth convex f_n (x[k], xstar) times 2*L*gamma**2*{RAT}; E: zero (x[k] - xstar) times "
        f"-2*L*gamma**2*{RAT}; "
        f"minimiser times 2*gamma - 2*L*gamma**2*{RAT}; E: zero (grad(f, x[k])) times 2*gamma**2; zero "
        "(grad(f, xstar)) times -gamma**2",
        f"E mean_n: grad(f_n, x[k]) - 2*grad(f_n, xstar) times gamma**2*{OM}/N; "
        f"E mean_n: grad(f_n, x[k]) - grad(f_n, xstar) - (grad(f, x[k]) - grad(f, xstar)) times gamma**2",
    ),
    induction(
        "run",
        f"{R} - {F} <= (1 - gamma*mu)**k*(norm2(x0 - xstar) - {F})",
        [combined("start")],
        [combined("next", None, "nearer; IH times 1 - gamma*mu")],
    ),
    combined("all", None, "run", f"1 times (1 - gamma*mu)**k*{F}"),
)

CLAIMS = (
    claim(
        "theorem-2-1",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**k*norm2(x0 - xstar) "
        "+ 2*gamma*omega/(mu*N)*mean_n(norm2(grad(f_n, xstar)))",
        of=compressed, where={"omega": "d/m - 1"},
        assuming=(
            "smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/((1 + 2*omega/N)*L)", "m <= d",
        ),
        equation="(5)", proof=RATE, title="compressed gradient descent", sure="read",
        source="Sadiev et al., Federated Optimization Algorithms with Random Reshuffling and Gradient Compression, "
        "Theorem 2.1, n = 1",
    ),
)  # fmt: skip

PAPER = Paper("qrr", "Random Reshuffling and Gradient Compression", "Sadiev et al.", CLAIMS, family="compression")
