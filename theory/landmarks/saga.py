"""Defazio, Bach, Lacoste-Julien: SAGA (NeurIPS 2014; arXiv 1407.0202v3), h = 0.

The n components are the N clients. In Lemma 3 the minimiser may be any point z.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Defazio, Bach, Lacoste-Julien, SAGA, NeurIPS 2014"


@algorithm(x="x0", phi="each x0")
def saga(w, x, phi, *, gamma):
    """Equation (1): one component, uniformly."""
    active = w.choose(1)
    step = w.average(w.gradient(x) - w.gradient(phi), active) + w.mean(w.gradient(phi))
    return x - gamma * step, w.where(active, w.each(x), phi)


def lyapunov(k):
    """T after k rounds."""
    return (
        f"mean_n(E(f_n(phi[{k}]))) - fstar - mean_n(E(dot(grad(f_n, xstar), phi[{k}] - xstar))) "
        f"+ c*E(norm2(x[{k}] - xstar))"
    )


STRONG = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma == 1/(2*(mu*N + L))")

CLAIMS = (
    claim(
        "theorem-1",
        f"{lyapunov('k+1')} <= (1 - gamma*mu)*({lyapunov('k')})",
        of=saga, assuming=STRONG, where={"c": "1/(2*gamma*(1 - gamma*mu)*N)"},
        rests_on=("lemma-3",),
        title="SAGA, strongly convex components", source=f"{SOURCE}, Theorem 1", sure="transcribed",
    ),
    claim(
        "corollary-1",
        "E(norm2(x[k] - xstar)) <= (1 - mu/(2*(mu*N + L)))**k*(norm2(x0 - xstar) "
        "+ N/(mu*N + L)*(f(x0) - dot(grad(f, xstar), x0 - xstar) - f(xstar)))",
        of=saga, assuming=STRONG,
        kind="corollary", rests_on=("theorem-1",),
        title="SAGA, strongly convex components, distance", source=f"{SOURCE}, Corollary 1",
        sure="transcribed",
    ),
    claim(
        "lemma-3",
        "mean_n(norm2(-gamma*(grad(f_n, x) - grad(f_n, phi_n) + table) - gamma*grad(f, z))) "
        "<= gamma**2*(1 + 1/beta)*mean_n(norm2(grad(f_n, phi_n) - grad(f_n, z))) "
        "+ gamma**2*(1 + beta)*mean_n(norm2(grad(f_n, x) - grad(f_n, z))) "
        "- gamma**2*beta*norm2(grad(f, x) - grad(f, z))",
        vectors=("x", "z", "phi_n"), where={"table": "mean_n(grad(f_n, phi_n))"},
        kind="lemma", title="the second moment of a step", source=f"{SOURCE}, Lemma 3", sure="transcribed",
    ),
    claim(
        "lemma-3/corrected",
        "mean_n(norm2(-gamma*(grad(f_n, x) - grad(f_n, phi_n) + table) + gamma*grad(f, z))) "
        "<= gamma**2*(1 + 1/beta)*mean_n(norm2(grad(f_n, phi_n) - grad(f_n, z))) "
        "+ gamma**2*(1 + beta)*mean_n(norm2(grad(f_n, x) - grad(f_n, z))) "
        "- gamma**2*beta*norm2(grad(f, x) - grad(f, z))",
        vectors=("x", "z", "phi_n"), where={"table": "mean_n(grad(f_n, phi_n))"}, amends="lemma-3",
        kind="lemma", title="the same with the other sign of gamma*f'(x*)", source=f"{SOURCE}, Lemma 3",
        sure="transcribed",
    ),
    claim(
        "theorem-2",
        "E(f(mean_k(x[k+1]))) - fstar <= 4*N/K*(2*L/N*norm2(x0 - xstar) + f(x0) - fstar)",
        of=saga, assuming=("smooth(f_n, L)", "convex(f_n)", "gamma == 1/(3*L)"),
        rests_on=("lemma-3",), title="SAGA, convex components", source=f"{SOURCE}, Theorem 2", sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper("saga", "SAGA", "Defazio, Bach, Lacoste-Julien", CLAIMS, family="variance reduction")
