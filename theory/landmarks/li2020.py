"""Li, Huang, Yang, Wang, Zhang: On the Convergence of FedAvg on Non-IID Data (ICLR 2020), Theorems 1 to 4.

The devices' weights are p_k = 1/N, E is H, K of the paper S, its T = H*K local steps. Assumption 4 bounds gradients
along the iterates of the run, so G2 is the largest E norm2 of them; the F_k^* are the minima f_n(xstar_n).
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

PAPER_NAME = "Li, Huang, Yang, Wang, Zhang, On the Convergence of FedAvg on Non-IID Data, ICLR 2020"


@algorithm
def fedavg(w, x, *, mu, gamma, H):
    """H local steps of size 2/(mu*(gamma + t)), everybody takes part."""
    y = w.each(x)
    for h in w.repeat(H):
        grad = w.gradient(y, w.sample())
        w.tap("grad", grad)
        y = y - 2 / (mu * (gamma + H * w.k + h)) * grad
        w.tap("v", w.mean(y))
    return w.mean(y)


@algorithm
def fedavg_scheme_1(w, x, *, mu, gamma, H, S):
    """The mean of S clients drawn with replacement."""
    y = w.each(x)
    for h in w.repeat(H):
        grad = w.gradient(y, w.sample())
        w.tap("grad", grad)
        y = y - 2 / (mu * (gamma + H * w.k + h)) * grad
        w.tap("v", w.mean(y))
    return w.average(y, w.choose(S, replace=True))


@algorithm
def fedavg_scheme_2(w, x, *, mu, gamma, H, S):
    """The mean of S clients drawn without replacement."""
    y = w.each(x)
    for h in w.repeat(H):
        grad = w.gradient(y, w.sample())
        w.tap("grad", grad)
        y = y - 2 / (mu * (gamma + H * w.k + h)) * grad
        w.tap("v", w.mean(y))
    return w.average(y, w.choose(S))


ASSUMED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "bounded_variance(sigma2)", "gamma == max(8*L/mu, H)")
NUMBERS = {
    "kappa": "L/mu",
    "Gamma": "fstar - mean_n(f_n(xstar_n))",
    "G2": "max_k(max_h(max_n(E(norm2(grad[k, h])))))",
    "B": "sigma2/N + 6*L*Gamma + 8*(H - 1)**2*G2",
}
LEFT = "E(f(x[K])) - fstar"
FIRST = "mu*gamma/2*E(norm2(v[0, 0] - xstar))"
READ = {"sure": "read"}

CLAIMS = (
    claim(
        "theorem-1",
        f"{LEFT} <= kappa/(gamma + H*K - 1)*(2*B/mu + {FIRST})",
        of=fedavg, assuming=ASSUMED, where=NUMBERS,
        equation="(4)", title="FedAvg, full participation", source=f"{PAPER_NAME}, Theorem 1",
        remarks=("w_1 is the average after the first local step, v[0, 0]",), **READ,
    ),
    claim(
        "theorem-2",
        f"{LEFT} <= kappa/(gamma + H*K - 1)*(2*(B + C)/mu + {FIRST})",
        of=fedavg_scheme_1, assuming=ASSUMED, where={**NUMBERS, "C": "4/S*H**2*G2"},
        equation="(6)", title="FedAvg, clients drawn with replacement", source=f"{PAPER_NAME}, Theorem 2", **READ,
    ),
    claim(
        "theorem-3",
        f"{LEFT} <= kappa/(gamma + H*K - 1)*(2*(B + C)/mu + {FIRST})",
        of=fedavg_scheme_2, assuming=ASSUMED, where={**NUMBERS, "C": "(N - S)/(N - 1)*4/S*H**2*G2"},
        title="FedAvg, clients drawn without replacement", source=f"{PAPER_NAME}, Theorem 3", **READ,
    ),
    claim(
        "theorem-4",
        title="FedAvg with a fixed step has a limit of distance Omega((E - 1)*eta) from the minimiser",
        source=f"{PAPER_NAME}, Theorem 4",
        remarks=(
            "there is a strongly convex and smooth distributed problem such that with full batches, E > 1 and any "
            "fixed step eta, small enough, the limit w of FedAvg has norm(w - xstar) = Omega((E - 1)*eta)*norm(xstar)",
        ),
        **READ,
    ),
)  # fmt: skip

PAPER = Paper(
    "li2020", "On the Convergence of FedAvg on Non-IID Data", "Li, Huang, Yang, Wang, Zhang", CLAIMS, family="FedAvg"
)
