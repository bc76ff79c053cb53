"""Gradient descent with strong convexity or the Polyak-Lojasiewicz inequality."""

from theory import Paper, algorithm, claim
from theory.derivation import at, cases, combined, induction, step


@algorithm
def steepest(w, x, *, s):
    return x - s * w.full_gradient(x)


SC = ("smooth(f, beta)", "strongly_convex(f, alpha)")
PL = ("smooth(f, beta)", "pl(f, alpha)")
# Where s alpha > 1 nothing can fall any more: f is least from the start.
FALLS = (
    step("along", "dot(grad(f, x[k]), x[k+1] - x[k]) == -s*norm2(grad(f, x[k]))"),
    step("length", "norm2(x[k+1] - x[k]) == s**2*norm2(grad(f, x[k]))"),
    combined(
        "falls",
        "f(x[k+1]) - fstar <= (1 - s*alpha)*(f(x[k]) - fstar)",
        "above f (x[k], x[k+1]); along; length times beta/2; s <= 1/beta times s*beta/2*norm2(grad(f, x[k]));"
        " pl f (x[k]) times s/2",
    ),
    cases(
        "all",
        None,
        "s*alpha <= 1",
        [
            induction(
                "on and on",
                None,
                base=[combined("begin")],
                step=[combined("next", None, "falls; IH times 1 - s*alpha")],
            )
        ],
        [
            combined(
                "least",
                "f(x[k]) - fstar <= 0",
                "falls times 1/(s*alpha - 1); infimum f (x[k+1]) times 1/(s*alpha - 1)",
            ),
            at("least at first", "least", None, k="0"),
            cases(
                "still",
                None,
                "0 <= (1 - s*alpha)**k",
                [combined("even", None, "least; infimum f (x0) times (1 - s*alpha)**k")],
                [combined("odd", None, "least; least at first times -(1 - s*alpha)**k")],
            ),
        ],
    ),
)

CLAIMS = (
    # TRUE because x - s grad f is a contraction with max(|1 - s alpha|, |1 - s beta|) = 1 - s alpha for s <= 2/(alpha + beta).
    claim(
        "squeeze",
        "norm2(x[k] - xstar) <= (1 - s*alpha)**(2*k)*norm2(x0 - xstar)",
        of=steepest,
        assuming=(*SC, "s <= 2/(alpha + beta)"),
    ),
    # FALSE because of f = beta x^2/2 and s = 2/beta (alpha = beta/2): |x[1]| = |x0|, the factor is (1 - 1)^2 = 0.
    claim(
        "squeeze-lax",
        "norm2(x[k] - xstar) <= (1 - s*alpha)**(2*k)*norm2(x0 - xstar)",
        of=steepest,
        assuming=(*SC, "s <= 2/beta"),
    ),
    # TRUE because of Taylor, Hendrickx, Glineur 2018, Theorem 3.3: the exact rate of the values is max((1-s alpha)^2, (1-s beta)^2), too.
    claim(
        "values", "f(x[k]) - fstar <= (1 - s*alpha)**(2*k)*(f(x0) - fstar)", of=steepest, assuming=(*SC, "s <= 1/beta")
    ),
    # TRUE because g+ = (1 - sB) g with alpha <= B <= beta.
    claim(
        "gradients",
        "norm2(grad(f, x[k])) <= (1 - s*alpha)**(2*k)*norm2(grad(f, x0))",
        of=steepest,
        assuming=(*SC, "s <= 1/beta"),
    ),
    # TRUE because f+ <= f - s/2 |g|^2 <= f - s alpha (f - f*).
    claim(
        "dominated",
        "f(x[k]) - fstar <= (1 - s*alpha)**k*(f(x0) - fstar)",
        of=steepest,
        assuming=(*PL, "s <= 1/beta"),
        proof=FALLS,
    ),
    # FALSE because of f = beta x^2/2 (alpha = beta), s = 1/(2 beta), k = 1: the left side is a quarter, the right 0.
    claim(
        "dominated-twice",
        "f(x[k]) - fstar <= (1 - 2*s*alpha)**k*(f(x0) - fstar)",
        of=steepest,
        assuming=(*PL, "s <= 1/(2*beta)"),
    ),
    # FALSE because with many minimisers (f = x_1^2/2 in the plane, x* = (0, 5)) the distance to a far one does not contract.
    claim(
        "dominated-distance",
        "norm2(x[k] - xstar) <= (1 - s*alpha)**k*norm2(x0 - xstar)",
        of=steepest,
        assuming=(*PL, "s <= 1/beta"),
    ),
    # FALSE because alpha stands for beta: f = x^2/2 with alpha = 1/2, k = 0: 1/2 <= 1/4.
    claim(
        "exchanged",
        "f(x[k]) - fstar <= alpha/2*(1 - s*alpha)**(2*k)*norm2(x0 - xstar)",
        of=steepest,
        assuming=(*SC, "s <= 1/beta"),
    ),
    # VACUOUS because s <= 1/beta <= 1/alpha (alpha <= beta for every strongly convex smooth function) and s >= 2/alpha.
    claim(
        "impatient",
        "norm2(x[k] - xstar) <= (1 - s*alpha)**(2*k)*norm2(x0 - xstar)",
        of=steepest,
        assuming=(*SC, "s <= 1/beta", "s >= 2/alpha"),
    ),
)
PAPER = Paper("contraction", "Contraction", "a reader", CLAIMS)
