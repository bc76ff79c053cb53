"""Schmidt, Le Roux, Bach: Minimizing Finite Sums with the Stochastic Average Gradient (arXiv 1309.2388v2).

The n components are the N clients. Theorem 1 has two starts of the memory and two classes: four claims.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import axiom, combined, zero
from theory.program import algorithm

SOURCE = "Schmidt, Le Roux, Bach, Minimizing Finite Sums with the Stochastic Average Gradient, 2017"


@algorithm(x="x0", y="each 0")
def sag(w, x, y, *, alpha):
    """One component's gradient anew, a step along the mean of all that is remembered."""
    y = w.where(w.choose(1), w.gradient(x), y)
    return x - alpha * w.mean(y), y


@algorithm(x="x0", y="each grad(f_n, x0) - grad(f, x0)")
def sag_centred(w, x, y, *, alpha):
    """The same from another start of the memory."""
    y = w.where(w.choose(1), w.gradient(x), y)
    return x - alpha * w.mean(y), y


CONVEX = ("smooth(f_n, L)", "convex(f_n)", "alpha == 1/(16*L)")
STRONG = (*CONVEX, "strongly_convex(f, mu)")
ZERO = {"C0": "f(x0) - fstar + 4*L/N*norm2(x0 - xstar) + mean_n(norm2(grad(f_n, xstar)))/(16*L)"}
CENTRED = {"C0": "3/2*(f(x0) - fstar) + 4*L/N*norm2(x0 - xstar)"}
SUBLINEAR = "E(f(mean_k(x[k]))) - fstar <= 32*N/K*C0"
LINEAR = "E(f(x[k])) - fstar <= (1 - min(mu/(16*L), 1/(8*N)))**k*C0"
THEOREM = {"source": f"{SOURCE}, Theorem 1", "sure": "transcribed"}
LYAPUNOV = (
    "2*w0*(f(x0 + step*sum_n(y_n)) - fstar) + a1*norm2(sum_n(y_n - grad(f_n, xstar))) "
    "+ a2*sum_n(norm2(y_n - grad(f_n, xstar))) + 2*b*dot(sum_n(y_n - grad(f_n, xstar)), x0 - xstar) "
    "+ c*norm2(x0 - xstar)"
)
CONSTANTS = {
    "a1": "1/(32*N*L)*(1 - 1/(2*N))",
    "a2": "1/(16*N*L)*(1 - 1/(2*N))",
    "b": "-1/(4*N)*(1 - 1/N)",
    "c": "4*L/N",
    "w0": "1/2 - 1/N",
    "step": "1/(16*L*N)",
}
CENTRE = ("smooth(f_n, L)", "convex(f_n)", "norm2(sum_n(y_n)) <= 0", "N >= 2")

A2 = "1/(16*N*L)*(1 - 1/(2*N))"
A1 = "1/(32*N*L)*(1 - 1/(2*N))"
B = "(-1/(4*N)*(1 - 1/N))"
T = "1/(16*L*N)"
NONE = "norm2(sum_n(y_n)) <= 0"
P = "x0 + sum_n(y_n)/(16*L*N)"
E_ = "y_n - grad(f_n, x0) + grad(f, x0)"
D_ = "grad(f_n, x0) - grad(f, x0) - grad(f_n, xstar)"
CENTRED_BOUND = (
    combined("several", "1 - 2/N >= 0", "N >= 2 times 1/N"),
    combined("half", "1 - 1/(2*N) >= 0", "N >= 2 times 1/(4*N)", "1 times 3/4"),
    zero("no square", NONE, "sum_n(y_n)", "sum_n(y_n)"),
    zero("no slope", NONE, "sum_n(y_n)", "grad(f, xstar)"),
    zero("no rise", NONE, "sum_n(y_n)", "grad(f, x0)"),
    zero("no angle", NONE, "sum_n(y_n)", "x0 - xstar"),
    axiom("extreme", f"norm2({E_}) <= max_n(norm2({E_}))", "extreme", f"norm2({E_})", over="max_n"),
    combined("each", f"norm2({E_}) <= 0", f"extreme; max_n(norm2({E_})) <= 0"),
    combined(
        "all",
        None,
        f"above f (x0, {P}) times 1 - 2/N; no rise times {T}*(1 - 2/N); no square times L/2*({T})**2*(1 - "
        f"2/N) + {A1}; no slope times -2*N*{A1}; "
        f"zero (grad(f, xstar)) times {A1}*N**2; no angle times 2*{B}; zero (x0 - xstar) times -2*{B}*N - 4*L*{A2}*N; "
        f"sum_n: each times 2*{A2}; zero (grad(f, x0)) times 4*{A2}*N; mean_n: smooth convex f_n (x0, "
        f"xstar) times 4*L*{A2}*N; "
        f"minimiser times -4*L*{A2}*N; infimum (x0) times 1/4 + 17/(8*N)",
        f"sum_n: {D_} - ({E_}) times {A2}; grad(f, x0) times 2*{A2}*N",
    ),
)

CLAIMS = (
    claim("theorem-1", SUBLINEAR, of=sag, assuming=CONVEX, where=ZERO, title="SAG, convex", **THEOREM),
    claim(
        "theorem-1/strongly-convex", LINEAR, of=sag, assuming=STRONG, where=ZERO, title="SAG, strongly convex",
        **THEOREM,
    ),
    claim(
        "theorem-1/centred", SUBLINEAR, of=sag_centred, assuming=CONVEX, where=CENTRED,
        rests_on=("b-8-2",), title="SAG, convex, centred start", **THEOREM,
    ),
    claim("theorem-1/centred-strongly-convex", LINEAR, of=sag_centred, assuming=STRONG, where=CENTRED,
          rests_on=("b-8-2",), title="SAG, strongly convex, centred start", **THEOREM),
    claim(
        "b-8-2-identity",
        f"{LYAPUNOV} == (1 - 2/N)*(f(x0) - fstar) + 1/(16*N*L)*(1 - 2/N)*sum_n(norm2(y_n - grad(f_n, xstar))) "
        "+ 4*L/N*norm2(x0 - xstar)",
        vectors=("y_n",), where=CONSTANTS, assuming=CENTRE,
        kind="equation", title="the Lyapunov function at the centred start", source=f"{SOURCE}, appendix B.8.2, p. 47",
        sure="transcribed", remarks=("transcribed in part",),
    ),
    claim(
        "b-8-2-identity/corrected",
        f"{LYAPUNOV} == (1 - 2/N)*(f(x0) - fstar) + 1/(16*N*L)*(1 - 1/(2*N))*sum_n(norm2(y_n - grad(f_n, xstar))) "
        "+ 4*L/N*norm2(x0 - xstar)",
        vectors=("y_n",), where=CONSTANTS, assuming=CENTRE, amends="b-8-2-identity",
        kind="equation", title="the same with the factor that a2 has in (B.5)",
        source=f"{SOURCE}, appendix B.8.2, p. 47", sure="transcribed",
    ),
    claim(
        "b-8-2",
        f"{LYAPUNOV} <= 3/2*(f(x0) - fstar) + 4*L/N*norm2(x0 - xstar)",
        vectors=("y_n",), where=CONSTANTS,
        assuming=(*CENTRE, "max_n(norm2(y_n - grad(f_n, x0) + grad(f, x0))) <= 0"),
        kind="equation", proof=CENTRED_BOUND, rests_on=("b-8-2-identity",),
        title="the Lyapunov function at the centred start, bounded",
        source=f"{SOURCE}, appendix B.8.2, p. 48", sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "sag",
    "Minimizing Finite Sums with the Stochastic Average Gradient",
    "Schmidt, Le Roux, Bach",
    CLAIMS,
    family="variance reduction",
)
