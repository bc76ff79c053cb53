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
FALSE = {
    "cosine": claim(
        "cosine",
        "dot(grad(f, x0), grad(f, x[k])) >= -1/3*norm(grad(f, x0))*norm(grad(f, x[k]))",
        of=descent,
        assuming=(*WHOLE, "eta <= 1/(10*L)"),
    ),
    "steps": claim("steps", "dot(x[1] - x0, x[k+1] - x[k]) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(20*L)")),
    "behind": claim("behind", "dot(x[k] - xstar, x0 - xstar) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(10*L)")),
    "nearer": claim(
        "nearer", "norm2(x[k] - x0) <= norm2(x0 - xstar)", of=descent, assuming=(*WHOLE, "eta <= 1/(10*L)")
    ),
    "ahead": claim(
        "ahead", "dot(grad(f, x[k]), grad(f, x[k+30])) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(4*L)")
    ),
    "ahead-far": claim(
        "ahead-far", "dot(grad(f, x[k]), grad(f, x[k+200])) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(20*L)")
    ),
    "strong": claim(
        "strong",
        "dot(grad(f, x0), grad(f, x[k])) >= 0",
        of=descent,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/(10*L)", "mu <= L/1000"),
    ),
    "locally": claim("locally", "dot(x[1] - x0, x[k+1] - x[k]) >= 0", of=local, assuming=(*EACH, "eta*H*L <= 1/10")),
    "locally-away": claim(
        "locally-away",
        "norm2(x[k] - x0) <= norm2(x[k+1] - x0)",
        of=local,
        assuming=(*EACH, "eta*H*L <= 1/10", "N >= 2"),
    ),
    "half": claim("half", "dot(grad(f, x0), grad(f, x[k])) >= 0", of=half, assuming=(*WHOLE, "eta <= 1/(10*L)")),
    "heavy": claim(
        "heavy", "dot(x[k+1] - x[k], x0 - xstar) <= 0", of=heavy, assuming=(*WHOLE, "eta <= 1/(50*L)", "beta <= 1/10")
    ),
    "fading": claim(
        "fading", "dot(grad(f, x0), grad(f, x[k])) >= 0", of=fading, assuming=(*WHOLE, "eta_k <= 1/(10*L)")
    ),
    "cubic": claim(
        "cubic",
        "norm(x0 - xstar)*dot(x[k+1] - x[k], x0 - xstar) <= 0",
        of=descent,
        assuming=(*WHOLE, "eta <= 1/(10*L)"),
    ),
    "slow": claim("slow", "norm2(x[k] - x0) <= norm2(x0 - xstar)", of=descent, assuming=(*WHOLE, "eta <= 1/(60*L)")),
    "more-largest": claim(
        "more-largest", "max_k(norm2(x[k] - x0)) <= norm2(x0 - xstar)", of=descent, assuming=(*WHOLE, "eta <= 1/(5*L)")
    ),
    "more-down": claim(
        "more-down", "dot(x[k] - x0, grad(f, x[k])) <= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(15*L)")
    ),
    "more-tenth": claim(
        "more-tenth",
        "dot(grad(f, x[1]), grad(f, x[k+1])) >= -1/10*norm2(grad(f, x[k+1]))",
        of=descent,
        assuming=(*WHOLE, "eta <= 1/(10*L)"),
    ),
    "more-clients": claim(
        "more-clients", "dot(x[k] - xstar, x0 - xstar) >= 0", of=local, assuming=(*EACH, "eta*H*L <= 1/10", "N <= 1")
    ),
    "more-ahead-far": claim(
        "more-ahead-far", "norm2(x[k] - x0) <= norm2(x0 - xstar)", of=half, assuming=(*WHOLE, "eta <= 1/(10*L)")
    ),
    "more-momentum": claim(
        "more-momentum",
        "dot(x[1] - x0, x[k+1] - x[k]) >= 0",
        of=heavy,
        assuming=(*WHOLE, "eta <= 1/(10*L)", "beta <= 1/20"),
    ),
    "more-strongly": claim(
        "more-strongly",
        "dot(x[k] - xstar, x0 - xstar) >= -1/20*norm2(x0 - xstar)",
        of=descent,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "mu <= L/500", "eta <= 1/(10*L)"),
    ),
    "more-strict": claim(
        "more-strict",
        "norm2(x0 - xstar)**2*dot(x[k] - xstar, x0 - xstar) >= -1/100*norm2(x0 - xstar)**3",
        of=descent,
        assuming=(*WHOLE, "eta <= 1/(10*L)"),
    ),
    "more-beside": claim(
        "more-beside",
        "dot(z[k+1] - z[k], x0 - xstar) <= 0",
        of=averaged,
        assuming=(*WHOLE, "eta <= 1/(10*L)", "eta <= 1/10"),
    ),
    "last-half": claim(
        "last-half",
        "dot(grad(f, x0), grad(f, x[k])) >= -1/2*norm(grad(f, x0))*norm(grad(f, x[k]))",
        of=half,
        assuming=(*WHOLE, "eta <= 1/(10*L)"),
    ),
    "last-two": claim(
        "last-two", "dot(x[k] - xstar, x0 - xstar) >= 0", of=local, assuming=(*EACH, "eta*H*L <= 1/20", "N >= 2")
    ),
    "last-seven": claim(
        "last-seven", "norm(x[k] - x0) <= norm(x[k+7] - x0)", of=descent, assuming=(*WHOLE, "eta <= 1/(30*L)")
    ),
    "last-heavier": claim(
        "last-heavier",
        "dot(x[k] - xstar, x0 - xstar) >= -1/50*norm2(x0 - xstar)",
        of=heavy,
        assuming=(*WHOLE, "eta <= 1/(30*L)", "beta <= 1/2"),
    ),
    "last-fading": claim(
        "last-fading", "norm2(x[k] - x0) <= norm2(x0 - xstar)", of=fading, assuming=(*WHOLE, "eta_k <= 1/(8*L)")
    ),
    "last-strongly": claim(
        "last-strongly",
        "dot(x[1] - x0, x[k+1] - x[k]) >= 0",
        of=descent,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "mu <= L/300", "eta <= 1/(5*L)"),
    ),
    "last-five": claim(
        "last-five", "dot(grad(f, x[5]), grad(f, x[k+5])) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(25*L)")
    ),
}
TRUE = {
    # no step leads away from xstar, so that x[k] and x0 are within norm(x0 - xstar) of it
    "ball": claim("ball", "norm2(x[k] - x0) <= 4*norm2(x0 - xstar)", of=descent, assuming=(*WHOLE, "eta <= 1/L")),
    # f(x[k]) >= f(x0) + dot(grad(f, x0), x[k] - x0), and f falls
    "half-space": claim("half-space", "dot(grad(f, x0), x[k] - x0) <= 0", of=descent, assuming=(*WHOLE, "eta <= 1/L")),
}
