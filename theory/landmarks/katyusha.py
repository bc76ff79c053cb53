"""Allen-Zhu: Katyusha (JMLR 2018; arXiv 1603.05953v6): Algorithm 2 with psi = 0.

Theorem 2.1, of Algorithm 1, is printed with O(.): in words, and with the constants of its proof for psi = mu/2*norm2,
which is in the functions: f_ni = (component i) + psi, L is of the components.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Allen-Zhu, Katyusha, JMLR 2018"


@algorithm(s="x0", y="x0", z="x0")
def katyusha_ns(w, s, y, z, *, L, H):
    """Algorithm 2, option I, psi = 0, H inner steps."""
    tau = 2 / (w.k + 4)
    full = w.full_gradient(s)
    total = 0 * y
    for _ in w.repeat(H):
        x = tau * (z - y) + (s + y) / 2
        i = w.sample()
        g = w.mean(w.gradient(x, i) - w.gradient(s, i)) + full
        z = z - g / (3 * tau * L)
        y = x - g / (3 * L)
        w.tap("inner", y)
        total = total + y
    return total / H, y, z


def first_algorithm(w, s, y, z, tau, L, mu, H):
    """An epoch of Algorithm 1, option I, psi = mu/2*norm2."""
    full = w.full_gradient(s) - mu * s
    alpha = 1 / (3 * tau * L)
    total = 0 * y
    for h in w.repeat(H):
        x = tau * (z - y) + (s + y) / 2
        i = w.sample()
        g = w.mean(w.gradient(x, i) - w.gradient(s, i)) - mu * (x - s) + full
        z = (z - alpha * g) / (1 + alpha * mu)
        y = (3 * L * x - g) / (3 * L + mu)
        total = total + (1 + alpha * mu) ** h * y
    return total * (alpha * mu) / ((1 + alpha * mu) ** H - 1), y, z


@algorithm(s="x0", y="x0", z="x0")
def katyusha_small(w, s, y, z, *, L, mu, H):
    """Algorithm 1 where H*mu/L <= 3/4."""
    return first_algorithm(w, s, y, z, w.sqrt(H * mu / (3 * L)), L, mu, H)


@algorithm(s="x0", y="x0", z="x0")
def katyusha_large(w, s, y, z, *, L, mu, H):
    """Algorithm 1 where H*mu/L > 3/4."""
    return first_algorithm(w, s, y, z, 1 / 2, L, mu, H)


PROX = ("smooth(f_ni, M)", "M == L + mu", "strongly_convex(f_ni, mu)", "N <= 1", "H == 2*max_n(sum_i(1))")

CLAIMS = (
    claim(
        "theorem-2-1", title="Katyusha, psi strongly convex", source=f"{SOURCE}, Theorem 2.1", sure="transcribed",
        remarks=(
            "m*sigma/L <= 3/4: E F(xt^S) - F(x*) <= O((1 + sqrt(sigma/(3*L*m)))**(-S*m))*(F(x0) - F(x*)), constant 4",
            "m*sigma/L > 3/4: E F(xt^S) - F(x*) <= O(1.5**(-S))*(F(x0) - F(x*)), constant 3",
        ),
    ),
    claim(
        "theorem-2-1/four",
        "E(f(s[k])) - fstar <= 4*(1 + sqrt(mu/(3*L*H)))**(-k*H)*(f(x0) - fstar)",
        of=katyusha_small, assuming=(*PROX, "H*mu/L <= 3/4"),
        title="Katyusha, psi strongly convex, small mu", source=f"{SOURCE}, Theorem 2.1 with the constant of its proof",
        sure="transcribed", remarks=("psi = mu/2*norm2",),
    ),
    claim(
        "theorem-2-1/three",
        "E(f(s[k])) - fstar <= 3*(3/2)**(-k)*(f(x0) - fstar)",
        of=katyusha_large, assuming=(*PROX, "H*mu/L > 3/4"),
        title="Katyusha, psi strongly convex, large mu", source=f"{SOURCE}, Theorem 2.1 with the constant of its proof",
        sure="transcribed", remarks=("psi = mu/2*norm2",),
    ),
    claim(
        "theorem-4-1",
        "E(f(s[k])) - fstar <= 16*(f(x0) - fstar)/(k + 3)**2 + 12*L*norm2(x0 - xstar)/(H*(k + 3)**2)",
        of=katyusha_ns, assuming=("smooth(f_ni, L)", "convex(f_ni)", "N <= 1"),
        rests_on=("eq-c4",),
        title="Katyusha, convex", source=f"{SOURCE}, Theorem 4.1 with the constants of its proof (C.1)",
        sure="transcribed",
    ),
    claim(
        "eq-c4",
        "E(f(y[k+1]) - fstar)/tau**2 + (tau + 1/2)/tau**2*(sum_h(E(f(inner[k, h]) - fstar)) - E(f(y[k+1]) - fstar)) "
        "+ 3*L/2*E(norm2(z[k+1] - xstar)) <= (1 - 1/2 - 1/2)/(1/2)**2*(f(x0) - fstar) "
        "+ 1/2*H/(1/2)**2*(f(x0) - fstar) + 3*L/2*norm2(x0 - xstar)",
        of=katyusha_ns, where={"tau": "2/(k + 4)"}, assuming=("smooth(f_ni, L)", "convex(f_ni)", "N <= 1"),
        kind="equation", equation="(C.4)", title="Katyusha, convex, all epochs", source=f"{SOURCE}, p. 27",
        sure="transcribed", remarks=("S = k + 1 epochs; inner[k, h] is y after inner step h, the last one y[k+1]",),
    ),
)  # fmt: skip

PAPER = Paper("katyusha", "Katyusha", "Allen-Zhu", CLAIMS, family="variance reduction")
