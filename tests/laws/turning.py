"""False sentences about long runs that turn: each is true on quadratics and along a line, or nearly so.

They were written before the search for such runs was, or when it was done, and were not chosen by what it refutes.
"""

from tests.rounds import descent, local
from theory import algorithm, claim


@algorithm
def half(w, x, *, eta):
    """The gradient at a point ahead."""
    y = x - eta * w.full_gradient(x)
    return x - eta * w.full_gradient(y)


@algorithm
def fading(w, x, *, eta):
    """Steps that change."""
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", m="0")
def heavy(w, x, m, *, eta, beta):
    """A mean of gradients."""
    g = (1 - beta) * w.full_gradient(x) + beta * m
    return x - eta * g, g


@algorithm(x="x0", z="x0")
def averaged(w, x, z, *, eta):
    """A mean of the iterates beside them."""
    y = x - eta * w.full_gradient(x)
    return y, (1 - eta) * z + eta * y


WHOLE = ("smooth(f, L)", "convex(f)")
EACH = ("smooth(f_n, L)", "convex(f_n)")


def said(label, statement, of, *assuming):
    return claim(label, statement, of=of, assuming=assuming)


def by_label(*claims):
    return {one.label: one for one in claims}


FALSE = by_label(
    said(
        "cosine", "dot(grad(f, x0), grad(f, x[k])) >= -1/3*norm(grad(f, x0))*norm(grad(f, x[k]))",
        descent, *WHOLE, "eta <= 1/(10*L)",
    ),
    said("steps", "dot(x[1] - x0, x[k+1] - x[k]) >= 0", descent, *WHOLE, "eta <= 1/(20*L)"),
    said("behind", "dot(x[k] - xstar, x0 - xstar) >= 0", descent, *WHOLE, "eta <= 1/(10*L)"),
    said("nearer", "norm2(x[k] - x0) <= norm2(x0 - xstar)", descent, *WHOLE, "eta <= 1/(10*L)"),
    said("ahead", "dot(grad(f, x[k]), grad(f, x[k+30])) >= 0", descent, *WHOLE, "eta <= 1/(4*L)"),
    said("ahead-far", "dot(grad(f, x[k]), grad(f, x[k+200])) >= 0", descent, *WHOLE, "eta <= 1/(20*L)"),
    said(
        "strong", "dot(grad(f, x0), grad(f, x[k])) >= 0",
        descent, "smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/(10*L)", "mu <= L/1000",
    ),
    said("locally", "dot(x[1] - x0, x[k+1] - x[k]) >= 0", local, *EACH, "eta*H*L <= 1/10"),
    said("locally-away", "norm2(x[k] - x0) <= norm2(x[k+1] - x0)", local, *EACH, "eta*H*L <= 1/10", "N >= 2"),
    said("half", "dot(grad(f, x0), grad(f, x[k])) >= 0", half, *WHOLE, "eta <= 1/(10*L)"),
    said("heavy", "dot(x[k+1] - x[k], x0 - xstar) <= 0", heavy, *WHOLE, "eta <= 1/(50*L)", "beta <= 1/10"),
    said("fading", "dot(grad(f, x0), grad(f, x[k])) >= 0", fading, *WHOLE, "eta_k <= 1/(10*L)"),
    said("cubic", "norm(x0 - xstar)*dot(x[k+1] - x[k], x0 - xstar) <= 0", descent, *WHOLE, "eta <= 1/(10*L)"),
    said("slow", "norm2(x[k] - x0) <= norm2(x0 - xstar)", descent, *WHOLE, "eta <= 1/(60*L)"),
    said("more-largest", "max_k(norm2(x[k] - x0)) <= norm2(x0 - xstar)", descent, *WHOLE, "eta <= 1/(5*L)"),
    said("more-down", "dot(x[k] - x0, grad(f, x[k])) <= 0", descent, *WHOLE, "eta <= 1/(15*L)"),
    said(
        "more-tenth", "dot(grad(f, x[1]), grad(f, x[k+1])) >= -1/10*norm2(grad(f, x[k+1]))",
        descent, *WHOLE, "eta <= 1/(10*L)",
    ),
    said("more-clients", "dot(x[k] - xstar, x0 - xstar) >= 0", local, *EACH, "eta*H*L <= 1/10", "N <= 1"),
    said("more-ahead-far", "norm2(x[k] - x0) <= norm2(x0 - xstar)", half, *WHOLE, "eta <= 1/(10*L)"),
    said("more-momentum", "dot(x[1] - x0, x[k+1] - x[k]) >= 0", heavy, *WHOLE, "eta <= 1/(10*L)", "beta <= 1/20"),
    said(
        "more-strongly", "dot(x[k] - xstar, x0 - xstar) >= -1/20*norm2(x0 - xstar)",
        descent, "smooth(f, L)", "strongly_convex(f, mu)", "mu <= L/500", "eta <= 1/(10*L)",
    ),
    said(
        "more-strict", "norm2(x0 - xstar)**2*dot(x[k] - xstar, x0 - xstar) >= -1/100*norm2(x0 - xstar)**3",
        descent, *WHOLE, "eta <= 1/(10*L)",
    ),
    said("more-beside", "dot(z[k+1] - z[k], x0 - xstar) <= 0", averaged, *WHOLE, "eta <= 1/(10*L)", "eta <= 1/10"),
    said(
        "last-half", "dot(grad(f, x0), grad(f, x[k])) >= -1/2*norm(grad(f, x0))*norm(grad(f, x[k]))",
        half, *WHOLE, "eta <= 1/(10*L)",
    ),
    said("last-two", "dot(x[k] - xstar, x0 - xstar) >= 0", local, *EACH, "eta*H*L <= 1/20", "N >= 2"),
    said("last-seven", "norm(x[k] - x0) <= norm(x[k+7] - x0)", descent, *WHOLE, "eta <= 1/(30*L)"),
    said(
        "last-heavier", "dot(x[k] - xstar, x0 - xstar) >= -1/50*norm2(x0 - xstar)",
        heavy, *WHOLE, "eta <= 1/(30*L)", "beta <= 1/2",
    ),
    said("last-fading", "norm2(x[k] - x0) <= norm2(x0 - xstar)", fading, *WHOLE, "eta_k <= 1/(8*L)"),
    said(
        "last-strongly", "dot(x[1] - x0, x[k+1] - x[k]) >= 0",
        descent, "smooth(f, L)", "strongly_convex(f, mu)", "mu <= L/300", "eta <= 1/(5*L)",
    ),
    said("last-five", "dot(grad(f, x[5]), grad(f, x[k+5])) >= 0", descent, *WHOLE, "eta <= 1/(25*L)"),
)  # fmt: skip
TRUE = by_label(
    # no step leads away from xstar, so that x[k] and x0 are within norm(x0 - xstar) of it
    said("ball", "norm2(x[k] - x0) <= 4*norm2(x0 - xstar)", descent, *WHOLE, "eta <= 1/L"),
    # f(x[k]) >= f(x0) + dot(grad(f, x0), x[k] - x0), and f falls
    said("half-space", "dot(grad(f, x0), x[k] - x0) <= 0", descent, *WHOLE, "eta <= 1/L"),
)


@algorithm(x="x0", z="x0")
def beside(w, x, z, *, eta, gamma):
    """Two descents that know nothing of each other."""
    return x - eta * w.full_gradient(x), z - gamma * w.full_gradient(z)


FARTHER = by_label(
    # 6 half-planes, t = 0.85 pi: 2.09 > 2 (played in doubles); 30 of them, t = 0.97 pi: r = 0.856, 1.85 away
    said("away", "norm2(x[k] - x0) <= 2*norm2(x0 - xstar)", descent, *WHOLE, "eta <= 1/L"),
    said("away-less", "norm(x[k] - x0) <= 1.5*norm(x0 - xstar)", descent, *WHOLE, "eta <= 1/L"),
    said(
        "there-and-back", "norm2(x[k] - x0) + norm2(x[k] - xstar) <= 4*norm2(x0 - xstar)",
        descent, *WHOLE, "eta <= 1/L",
    ),
    # 7 half-planes, t = 0.88 pi: 2.012
    said("length", "sum_k(norm(x[k+1] - x[k])) <= 2*norm(x0 - xstar)", descent, *WHOLE, "eta <= 1/L"),
    # a tiny gamma leaves z at x0, while x turns
    said(
        "slow-beside", "dot(x[k] - xstar, z[k] - xstar) >= -norm(x0 - xstar)*norm(z[k] - xstar)/2",
        beside, *WHOLE, "eta <= 1/L", "gamma <= 1/L",
    ),
)  # fmt: skip
"""False of convex functions, but only of runs longer than any that is played."""
