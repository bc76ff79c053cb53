"""Wang et al.: A Field Guide to Federated Optimization (arXiv 2107.06917v1), section 6.1.

M clients are N here, tau is H, T is K; D = norm(x0 - xstar). v[k, h] is the average after local step h of round k,
y the clients' points.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Wang et al., A Field Guide to Federated Optimization, 2021, section 6.1"


@algorithm
def local_sgd(w, x, *, eta, H):
    """H local steps along sampled gradients, then the average."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
        w.tap("y", y)
        w.tap("v", w.mean(y))
    return w.mean(y)


APART = "for every n, x: norm(grad(f_n, x) - grad(f, x)) <= zeta"
ASSUMED = (
    "smooth(f_n, L)",
    "convex(f_n)",
    "bounded_variance(sigma2)",
    APART,
)
TUNED = (
    "2*L*D**2/(H*K) + 2*sigma*D/sqrt(N*H*K) + 5*(L*sigma**2*D**4/H)**(1/3)/K**(2/3) "
    "+ 19*(L*zeta**2*D**4)**(1/3)/K**(2/3)"
)
STEP = (
    "min(1/(4*L), min(sqrt(N)*D/(sqrt(H*K)*sigma), min((D**2/(H**2*K*L*sigma**2))**(1/3), "
    "(D**2/(H**3*K*L*zeta**2))**(1/3))))"
)
GAP = "mean_k(mean_h(E(f(v[k, h])) - fstar))"

CLAIMS = (
    claim(
        "lemma-2",
        "E(norm2(y[k, h] - v[k, h])) <= 18*H**2*eta**2*zeta**2 + 4*H*eta**2*sigma2",
        of=local_sgd, assuming=(*ASSUMED, "eta <= 1/(4*L)"),
        kind="lemma", title="the clients' distance from their mean", source=f"{SOURCE}, Lemma 2", sure="transcribed",
    ),
    claim(
        "theorem-1",
        f"{GAP} <= norm2(x0 - xstar)/(2*eta*H*K) + eta*sigma2/N + 4*H*eta**2*L*sigma2 + 18*H**2*eta**2*L*zeta**2",
        of=local_sgd, assuming=(*ASSUMED, "eta <= 1/(4*L)"),
        equation="(15)", rests_on=("lemma-2",),
        title="local SGD, convex", source=f"{SOURCE}, Theorem 1", sure="transcribed",
    ),
    claim(
        "theorem-1-tuned",
        f"{GAP} <= {TUNED}",
        of=local_sgd,
        assuming=(
            "smooth(f_n, L)", "convex(f_n)", "bounded_variance(sigma**2)", APART,
            f"eta == {STEP}", "norm(x0 - xstar) > 0",
        ),
        where={"D": "norm(x0 - xstar)"},
        equation="(17)", rests_on=("theorem-1",),
        title="local SGD, the step that balances the terms", source=f"{SOURCE}, Theorem 1",
        sure="transcribed",
    ),
    claim(
        "theorem-1-tuned/numbers",
        "D**2/(2*eta*H*K) + eta*sigma**2/N + 4*H*eta**2*L*sigma**2 + 18*H**2*eta**2*L*zeta**2 "
        f"<= {TUNED}",
        where={"eta": STEP},
        equation="(17)", title="the bound (15) at that step", source=f"{SOURCE}, Theorem 1", sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper("field-guide", "A Field Guide to Federated Optimization", "Wang et al.", CLAIMS, family="local SGD")
