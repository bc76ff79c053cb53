"""Khaled, Mishchenko, Richtarik: First Analysis of Local GD on Heterogeneous Data (arXiv 1909.04715), as printed.

Epochs of H local gradient steps begin at the average. hat[k, h] is the average of the devices before step h of
epoch k, next[k, h] the one after it, y the devices' points.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import combined, step
from theory.domain import NONNEGATIVE
from theory.program import algorithm

SOURCE = "Khaled, Mishchenko, Richtarik, First Analysis of Local GD on Heterogeneous Data, 2019"


@algorithm
def local_gd(w, x, *, gamma, H):
    """H local gradient steps, then the average (Algorithm 1)."""
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        w.tap("hat", w.mean(y))
        y = y - gamma * w.gradient(y)
        w.tap("next", w.mean(y))
    return w.mean(y)


ASSUMED = ("smooth(f_n, L)", "convex(f_n)")
SMALL = "gamma <= 1/(4*L*H)"
SIGMA = {"sigma2": "mean_n(norm2(grad(f_n, xstar)))"}
V = "mean_n(norm2(y[k, h] - hat[k, h]))"
GAP = "(f(hat[k, h]) - fstar)"

M, SLOPE = "mean_n(y[k, h])", "mean_n(grad(f_n, y[k, h]))"
ONE_STEP = (
    step("moved", f"norm2(next[k, h] - xstar) == norm2({M} - gamma*{SLOPE} - xstar)"),
    step("from", f"norm2(hat[k, h] - xstar) == norm2({M} - xstar)"),
    step("spread", f"mean_n(norm2(y[k, h] - hat[k, h])) == mean_n(norm2(y[k, h] - {M}))"),
    step("value", f"f(hat[k, h]) == f({M})"),
    combined(
        "all",
        None,
        "moved; from times -1; spread times -gamma*L*(1 + 2*gamma*L); value times 2*gamma*(1 - 2*gamma*L); "
        f"mean_n: above f_n (y[k, h], {M}) times 2*gamma; mean_n: convex f_n (y[k, h], xstar) times 2*gamma; "
        f"minimiser times 2*gamma; above f ({M}, {M} - grad(f, {M})/L) times 4*gamma**2*L; "
        f"infimum ({M} - grad(f, {M})/L) times 4*gamma**2*L; mean_n: lipschitz-gradient f_n (y[k, h], {M}) "
        "times 2*gamma**2",
        f"mean_n: grad(f_n, y[k, h]) - grad(f_n, {M}) - ({SLOPE} - grad(f, {M})) times 2*gamma**2; {SLOPE} "
        f"- 2*grad(f, {M}) times gamma**2",
    ),
)

CLAIMS = (
    claim(
        "lemma-1",
        f"norm2(next[k, h] - xstar) <= norm2(hat[k, h] - xstar) + gamma*L*(1 + 2*gamma*L)*{V} "
        f"- 2*gamma*(1 - 2*gamma*L)*{GAP}",
        of=local_gd, assuming=ASSUMED, parameters={"gamma": NONNEGATIVE},
        kind="lemma", equation="(4)", proof=ONE_STEP, title="one local step", source=f"{SOURCE}, Lemma 1", sure="read",
    ),
    claim(
        "lemma-1/small-steps",
        f"norm2(next[k, h] - xstar) <= norm2(hat[k, h] - xstar) + 3/2*gamma*L*{V} - gamma*{GAP}",
        of=local_gd, assuming=(*ASSUMED, "gamma <= 1/(4*L)"), parameters={"gamma": NONNEGATIVE},
        kind="lemma", title="one local step, small steps", source=f"{SOURCE}, Lemma 1", sure="read",
    ),
    claim(
        "lemma-2",
        f"sum_h({V}) <= 5*L*gamma**2*H**2*sum_h(f(hat[k, h]) - fstar) + 8*gamma**2*H**3*sigma2",
        of=local_gd, assuming=(*ASSUMED, SMALL), where=SIGMA,
        kind="lemma", title="the devices' distance in an epoch", source=f"{SOURCE}, Lemma 2", sure="read",
    ),
    claim(
        "lemma-2/weighted",
        f"sum_h(3/2*L*{V} - {GAP}) <= -1/2*sum_h(f(hat[k, h]) - fstar) + 12*L*gamma**2*H**3*sigma2",
        of=local_gd, assuming=(*ASSUMED, SMALL), where=SIGMA,
        kind="lemma", title="the same, as the theorem uses it", source=f"{SOURCE}, Lemma 2", sure="read",
    ),
    claim(
        "theorem-1",
        "f(mean_k(mean_h(hat[k, h]))) - fstar <= 2*norm2(x0 - xstar)/(gamma*H*K) + 24*gamma**2*sigma2*H**2*L",
        of=local_gd, assuming=(*ASSUMED, SMALL), where=SIGMA,
        equation="(5)", rests_on=("lemma-1", "lemma-2"),
        title="local gradient descent, convex", source=f"{SOURCE}, Theorem 1", sure="read",
    ),
    claim(
        "corollary-1",
        "f(mean_k(mean_h(hat[k, h]))) - fstar <= 8*L*norm2(x0 - xstar)/sqrt(N*T) + 3*N*sigma2*H**2/(2*L*T)",
        of=local_gd, where={**SIGMA, "T": "H*K"},
        assuming=(*ASSUMED, "H <= sqrt(H*K)/sqrt(N)", "gamma == sqrt(N)/(4*L*sqrt(H*K))"),
        kind="corollary", rests_on=("theorem-1",),
        title="the step sqrt(N/T)/(4 L)", source=f"{SOURCE}, Corollary 1", sure="read",
    ),
)  # fmt: skip

PAPER = Paper(
    "khaled2019",
    "First Analysis of Local GD on Heterogeneous Data",
    "Khaled, Mishchenko, Richtarik",
    CLAIMS,
    family="local SGD",
)
