"""Reddi, Kale, Kumar: On the Convergence of Adam and Beyond (AMSGrad; ICLR 2018).

A function that changes with t has no counterpart here: f_t = f for every t, of one variable, for which the theorem is
claimed too. The feasible set is [-R, R], of diameter Dinf = 2*R; round k is t = k + 1, T is K. beta_{1,t} is beta_1 for
t = 1, and beta_1*c_k from then on.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import Domain
from theory.program import algorithm

SOURCE = "Reddi, Kale, Kumar, On the Convergence of Adam and Beyond, ICLR 2018"
UNIT, OPEN = Domain(0, 1, upper_open=True), Domain(0, 1, lower_open=True, upper_open=True)


def stepped(w, x, m, v, vhat, b, alpha, beta2, R):
    """A round with beta_{1,t} = b."""
    g = w.full_gradient(x)
    m = b * m + (1 - b) * g
    v = beta2 * v + (1 - beta2) * w.times(g, g)
    vhat = w.larger(vhat, v)
    w.tap("g", g)
    moved = x - alpha / (w.k + 1) ** (1 / 2) * w.over(m, w.sqrt(vhat))
    return w.project(moved, R), m, v, vhat


@algorithm(x="x0", m="0", v="0", vhat="0")
def amsgrad(w, x, m, v, vhat, *, alpha, beta1, c, beta2, R):
    """Algorithm 2; in one coordinate every norm has the same projection."""
    b = beta1 * (c + (1 - c) * 0**w.k)
    return stepped(w, x, m, v, vhat, b, alpha, beta2, R)


@algorithm(x="x0", m="0", v="0", vhat="0")
def amsgrad_falling(w, x, m, v, vhat, *, alpha, beta1, lam, beta2, R):
    """The same with beta_{1,t} = beta_1*lam**(t - 1)."""
    b = beta1 * lam**w.k
    return stepped(w, x, m, v, vhat, b, alpha, beta2, R)


REGRET = "sum_k(f(x[k]) - f(argmin_n(1/N, R)))"
FIRST = "D**2*sqrt(K)/(1 - beta1)*sqrt(norm(vhat[K]))"
SCHEDULE = "D**2/(2*(1 - beta1))*sum_k(beta1*(c_k + (1 - c_k)*0**k)*sqrt(norm(vhat[k+1]))*sqrt(k + 1)/alpha)"
FALLING = "beta1*D**2*Ginf/(2*(1 - beta1)*(1 - lam)**2)"
LAST = "alpha*sqrt(1 + log(K))/((1 - beta1)**2*(1 - gamma)*sqrt(1 - beta2))*sqrt(sum_k(norm2(g[k])))"
GIVEN = {"gamma": "beta1/sqrt(beta2)", "D": "2*R"}
RUN = ("convex(f)", "d <= 1", "N <= 1", "norm(x0) <= R", "beta1/sqrt(beta2) < 1")
ANY = {
    "of": amsgrad, "where": GIVEN, "assuming": RUN, "parameters": {"beta1": UNIT, "c_k": Domain(0, 1), "beta2": OPEN},
}  # fmt: skip
CHOSEN = {
    "of": amsgrad_falling, "where": GIVEN, "assuming": (*RUN, "bounded_gradients(f, Ginf, R)"),
    "parameters": {"beta1": UNIT, "lam": OPEN, "beta2": OPEN}, "kind": "corollary",
}  # fmt: skip
LOST = ("the first term over alpha, as the step has it",)

CLAIMS = (
    claim(
        "theorem-4", f"{REGRET} <= {FIRST} + {SCHEDULE} + {LAST}", **ANY,
        title="the regret of AMSGrad", source=f"{SOURCE}, Theorem 4", sure="read",
    ),
    claim(
        "theorem-4/corrected", f"{REGRET} <= {FIRST}/alpha + {SCHEDULE} + {LAST}", **ANY, amends="theorem-4",
        title="the same with alpha in the first term", source=f"{SOURCE}, Theorem 4", sure="read", remarks=LOST,
    ),
    claim(
        "corollary-1", f"{REGRET} <= {FIRST} + {FALLING} + {LAST}", **CHOSEN,
        rests_on=("theorem-4",),
        title="the regret of AMSGrad, beta_1 falling", source=f"{SOURCE}, Corollary 1", sure="read",
    ),
    claim(
        "corollary-1/corrected", f"{REGRET} <= {FIRST}/alpha + {FALLING}/alpha + {LAST}", **CHOSEN,
        amends="corollary-1", title="the same with alpha in the first two terms", source=f"{SOURCE}, Corollary 1",
        sure="read", remarks=LOST,
    ),
)  # fmt: skip

PAPER = Paper("amsgrad", "On the Convergence of Adam and Beyond", "Reddi, Kale, Kumar", CLAIMS, family="adaptive")
