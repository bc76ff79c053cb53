"""Karimireddy, Kale, Mohri, Reddi, Stich, Suresh: SCAFFOLD (ICML 2020; arXiv 1910.06378v4).

beta of the paper is L here, K is H, R is K; D is norm2(x0 - x*), F is f(x0) - f*. Its Theorems I, III and IV hide
constants behind O: there is no sentence.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, SCAFFOLD, ICML 2020"
READ, TRANSCRIBED = {"sure": "read"}, {"sure": "transcribed"}


@algorithm(x="x0", c="each 0")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    """Algorithm 1, option II; the server's control is the mean of the clients'."""
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold_warm(w, x, c, *, eta, eta_g, H, S):
    """The same, the controls started at the clients' gradients."""
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


def in_orders(label, title, *remarks):
    """What is claimed with a constant that no sentence names."""
    return claim(label, title=title, source=f"{SOURCE}, {title.split(':')[0]}", remarks=remarks, **READ)


CLAIMS = (
    in_orders(
        "theorem-1", "Theorem I: rounds of FedAvg for an error of eps",
        "mu-strongly convex: R = O~(sigma**2/(mu*K*S*eps) + (1 - S/N)*G**2/(mu*S*eps) + sqrt(beta)*G/(mu*sqrt(eps)) "
        "+ B**2*beta/mu)",
        "convex: R = O(sigma**2*D**2/(K*S*eps**2) + (1 - S/N)*G**2*D**2/(S*eps**2) + sqrt(beta)*G/eps**(3/2) "
        "+ B**2*beta*D**2/eps)",
        "not convex: R = O(beta*sigma**2*F/(K*S*eps**2) + (1 - S/N)*G**2*F/(S*eps**2) + sqrt(beta)*G/eps**(3/2) "
        "+ B**2*beta*F/eps)",
    ),
    in_orders(
        "theorem-2", "Theorem II: a lower bound for FedAvg",
        "for any G, mu > 0 there are mu-strongly convex functions with (G, B)-bounded dissimilarity for which FedAvg "
        "with K >= 2, sigma = 0, N = S has an error of at least Omega(G**2/(mu*R**2))",
    ),
    in_orders(
        "theorem-3", "Theorem III: rounds of SCAFFOLD for an error of eps",
        "mu-strongly convex: R = O~(sigma**2/(mu*K*S*eps) + beta/mu + N/S)",
        "convex: R = O~(sigma**2*D**2/(K*S*eps**2) + beta*D**2/eps + N*F/S)",
        "not convex: R = O(beta*sigma**2*F/(K*S*eps**2) + (N/S)**(2/3)*beta*F/eps)",
    ),
    in_orders(
        "theorem-4", "Theorem IV: rounds of SCAFFOLD on quadratics that are alike",
        "strongly convex: R = O~(beta*sigma**2/(mu*K*N*eps) + (beta + delta*K)/(mu*K))",
        "weakly convex: R = O(beta*sigma**2*F/(K*N*eps**2) + (beta + delta*K)*F/(K*eps))",
    ),
    claim(
        "eq-9",
        "mean_n(norm2(grad(f_n, x) - grad(f_n, xstar))) <= 2*L*(f(x) - fstar)",
        vectors=("x",), assuming=("smooth(f_n, L)", "convex(f_n)"),
        kind="equation", equation="(9)", title="gradients at a point and at the minimiser",
        source=f"{SOURCE}, appendix B.1", **TRANSCRIBED,
    ),
    claim(
        "lemma-5",
        "dot(grad(f, x), z - y) >= f(z) - f(y) + mu/4*norm2(y - z) - L*norm2(z - x)",
        vectors=("x", "y", "z"), assuming=("smooth(f, L)", "strongly_convex(f, mu)"),
        kind="lemma", title="perturbed strong convexity", source=f"{SOURCE}, Lemma 5", **TRANSCRIBED,
    ),
    claim(
        "lemma-15-finite",
        "sum_k(q**(-(k+1))*(E(f(x[k])) - fstar))/WT <= V0/(s*WT) + 12*s*sigma2/(H*S)*(1 + S/eta_g**2)",
        of=scaffold,
        where={
            "s": "H*eta*eta_g", "q": "1 - mu*s/2", "WT": "sum_k(q**(-(k+1)))",
            "V0": "norm2(x0 - xstar) + 9*N*s**2/S*mean_n(E(norm2(c[0] - grad(f_n, xstar))))",
        },
        assuming=(
            "smooth(f_n, L)", "strongly_convex(f_n, mu)", "bounded_variance(sigma2)", "eta_g >= 1",
            "H*eta*eta_g <= 1/(81*L)", "mu*H*eta*eta_g <= S/(15*N)",
        ),
        kind="lemma", title="SCAFFOLD, strongly convex, all constants",
        source=f"{SOURCE}, Lemma 15, summed over the rounds",
        remarks=("a third party's formulation, not printed in this form", "the controls start at 0"),
        **TRANSCRIBED,
    ),
    claim(
        "lemma-19-finite",
        "mean_k(E(norm2(grad(f, x[k])))) <= 14*(f(x0) - fstar)/(s*K) + 70*L*s*sigma2/(H*S)*(1 + S/eta_g**2)",
        of=scaffold_warm, where={"s": "H*eta*eta_g"},
        assuming=(
            "smooth(f_n, L)", "bounded_below(f)", "bounded_variance(sigma2)", "eta_g >= 1",
            "H*eta*eta_g <= (S/N)**(2/3)/(24*L)",
        ),
        kind="lemma", title="SCAFFOLD, not convex, all constants", source=f"{SOURCE}, Lemma 19, summed over the rounds",
        remarks=("a third party's formulation, not printed in this form; the controls start without noise",),
        **TRANSCRIBED,
    ),
)  # fmt: skip

PAPER = Paper("scaffold", "SCAFFOLD", "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh", CLAIMS, family="SCAFFOLD")
