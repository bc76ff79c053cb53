"""Ghadimi, Lan: Accelerated Gradient Methods for Nonconvex Nonlinear and Stochastic Programming (arXiv 1310.3787v1).

Round k is the paper's step k + 1; one client. Where a run is spoken of, alpha_k = 2/(k + 1), so that Gamma_k =
2/(k*(k + 1)), and, where (2.10) is assumed, lam_k = k*lam_1: products over the rounds, and a schedule in the next
round, have no formula. beta_k is free. The random output is a weighted sum over the rounds.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import PROBABILITY
from theory.program import algorithm

SOURCE = "Ghadimi, Lan, Accelerated Gradient Methods for Nonconvex Nonlinear and Stochastic Programming, 2016"


@algorithm(x="x0", ag="x0")
def rsag(w, x, ag, *, beta, lam, sigma2):
    """Algorithm 3 with alpha_k = 2/(k + 1)."""
    alpha = 2 / (w.k + 2)
    md = (1 - alpha) * ag + alpha * x
    w.tap("md", md)
    g = w.full_gradient(md) + w.mean(w.noise(sigma2))
    w.tap("g", g)
    return x - lam * g, md - beta * g


@algorithm(x="x0", ag="x0")
def rsag_rising(w, x, ag, *, beta, lam, sigma2):
    """The same with lam_k = k*lam."""
    alpha = 2 / (w.k + 2)
    md = (1 - alpha) * ag + alpha * x
    w.tap("md", md)
    g = w.full_gradient(md) + w.mean(w.noise(sigma2))
    return x - (w.k + 1) * lam * g, md - beta * g


MD = {"md": "(1 - alpha)*a + alpha*b"}
GAMMA = "2/((k + 1)*(k + 2))"
SUMMED = {
    "delta": "g[k] - grad(f, md[k])",
    "tail": f"2*(1/(k + 1) - 1/(K + 1))/(2/(k + 2)*{GAMMA})",
    "C": "1 - L*lam_k - L*(lam_k - beta_k)**2/(2*lam_k)*tail",
    "b": "dot(lam_k*grad(f, x[k]) - (L*lam_k**2 + L*(lam_k - beta_k)**2*tail)*grad(f, md[k]), delta)",
}
CONVEX = ("smooth(f, L)", "convex(f)", "N <= 1", "2*(k + 1)/(k + 2)*lam <= L*beta_k**2")
SHARE = f"beta_k*(1 - L*beta_k)/({GAMMA})"
PICKED = ("alpha_k = 2/(k + 1) and lam_k = k*lam_1, for which (2.10) holds",)

CLAIMS = (
    claim(
        "eq-3-10",
        "f(md - beta*(grad(f, md) + delta)) <= (1 - alpha)*f(a) + alpha*f(x) + alpha*dot(grad(f, md), b - x) "
        "- beta*norm2(grad(f, md)) + beta*dot(grad(f, md), delta) + L*beta**2/2*norm2(grad(f, md) + delta)",
        vectors=("a", "b", "delta", "x"), where=MD, parameters={"alpha": PROBABILITY},
        assuming=("smooth(f, L)", "convex(f)"),
        kind="equation", equation="(3.10)", title="a step, convex", source=f"{SOURCE}, (3.10)", sure="transcribed",
    ),
    claim(
        "eq-3-10/as-added",
        "f(md - beta*(grad(f, md) + delta)) <= (1 - alpha)*f(a) + alpha*f(x) + alpha*dot(grad(f, md), b - x) "
        "- beta*norm2(grad(f, md)) - beta*dot(grad(f, md), delta) + L*beta**2/2*norm2(grad(f, md) + delta)",
        vectors=("a", "b", "delta", "x"), where=MD, parameters={"alpha": PROBABILITY}, amends="eq-3-10",
        assuming=("smooth(f, L)", "convex(f)"),
        kind="equation", title="the same with the sign that the step has", source=f"{SOURCE}, (3.10)",
        sure="transcribed",
    ),
    claim(
        "eq-summed",
        "f(x[K]) <= f(x0) - sum_k(lam_k*C*norm2(grad(f, md[k]))) "
        "+ L/2*sum_k((lam_k**2 + (lam_k - beta_k)**2*tail)*norm2(delta)) - sum_k(b)",
        of=rsag, where=SUMMED, assuming=("smooth(f, L)", "N <= 1"),
        kind="equation", title="all steps, not convex", source=f"{SOURCE}, pp. 16-17, after 'Summing up'",
        sure="transcribed", remarks=("alpha_k = 2/(k + 1)", "tail is Gamma_k + ... + Gamma_N, over alpha_k*Gamma_k"),
    ),
    claim(
        "eq-3-11",
        "K*(K + 1)/2*(E(f(ag[K])) - fstar) <= norm2(x0 - xstar)/(2*lam) "
        f"- sum_k({SHARE}*E(norm2(grad(f, md[k])))) + sigma2*sum_k(L*beta_k**2/({GAMMA}))",
        of=rsag_rising, assuming=CONVEX,
        kind="equation", equation="(3.11)", rests_on=("eq-3-10",),
        title="all steps, convex", source=f"{SOURCE}, (3.11)", sure="transcribed",
        remarks=(*PICKED, "x is a minimiser; printed for every x"),
    ),
    claim(
        "theorem-3b",
        f"sum_k({SHARE}*E(norm2(grad(f, md[k]))))/S <= (norm2(x0 - xstar)/(2*lam) "
        f"+ L*sigma2*sum_k(beta_k**2/({GAMMA})))/S",
        of=rsag_rising, where={"S": f"sum_k({SHARE})"}, assuming=(*CONVEX, "beta_k < 1/L"),
        equation="(3.8)", rests_on=("eq-3-11",),
        title="the gradient at a random output, convex", source=f"{SOURCE}, Theorem 3 (b)",
        sure="transcribed", remarks=PICKED,
    ),
    claim(
        "theorem-3b/values",
        f"sum_k(beta*(1 - L*beta)/({GAMMA})*E(f(ag[k+1]) - fstar))/S <= sum_k(beta*(1 - L*beta)"
        "*(norm2(x0 - xstar)/(2*lam) + L*sigma2*beta**2*(k + 1)*(k + 2)*(k + 3)/6))/S",
        of=rsag_rising, where={"S": f"sum_k(beta*(1 - L*beta)/({GAMMA}))"},
        assuming=("smooth(f, L)", "convex(f)", "N <= 1", "2*lam <= L*beta**2", "beta < 1/L"),
        equation="(3.9)", title="the value at a random output, convex", source=f"{SOURCE}, Theorem 3 (b)",
        sure="transcribed", remarks=(*PICKED, "all beta_k are beta: a sum up to k within a sum over k has no formula"),
    ),
)  # fmt: skip

PAPER = Paper("ghadimi-lan-ag", "Accelerated Gradient Methods", "Ghadimi, Lan", CLAIMS, family="momentum")
