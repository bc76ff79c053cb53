"""The heavy ball with a step that is safe for every function."""

from theory import Paper, algorithm, claim


@algorithm(x="x0", old="x0")
def ball(w, x, old, *, a, beta):
    return x - a * w.full_gradient(x) + beta * (x - old), x


@algorithm(x="x0", past="J times x0")
def stale(w, x, past, *, a, alpha):
    """Gradients at a mean of iterates that are up to J rounds old."""
    new = x - a * w.full_gradient(w.combine(alpha, past))
    return new, w.shift(past, new)


CONVEX = ("smooth(f, L)", "convex(f)", "beta < 1", "a <= (1 - beta)/L")

CLAIMS = (
    # TRUE because z = x + beta/(1-beta) (x - old) does z+ = z - a/(1-beta) g; summed, with <g, x - x*> >= f - f* + |g|^2/(2L), <g, x - old> >= f(x) - f(old)
    # (Ghadimi, Feyzmahdavian, Johansson 2015, Theorem 1).
    claim(
        "mean-point",
        "f(mean_k(x[k])) - fstar <= ((1 - beta)/(2*a)*norm2(x0 - xstar) + beta/(1 - beta)*(f(x0) - fstar))/K",
        of=ball,
        assuming=CONVEX,
    ),
    # FALSE because the second term is lost: f = x^2/2, a = 1/10, beta = 9/10, K = 2, x0 = 1: x1 = 9/10, f(19/20) = 0.451 > 0.25.
    claim(
        "mean-point-lost", "f(mean_k(x[k])) - fstar <= (1 - beta)/(2*a*K)*norm2(x0 - xstar)", of=ball, assuming=CONVEX
    ),
    # FALSE because the ball overshoots: f = x^2/2, a = 1/10, beta = 9/10 passes the minimiser and climbs. True for the first steps.
    claim("downhill", "f(x[k+1]) <= f(x[k])", of=ball, assuming=CONVEX),
    # TRUE because f(x+) + (1/a - L/2 - beta/(2a))|x+ - x|^2 <= f(x) + beta/(2a)|x - old|^2, and the bracket is at least beta/(2a).
    claim(
        "energy",
        "f(x[k+1]) + beta/(2*a)*norm2(x[k+1] - old[k+1]) <= f(x[k]) + beta/(2*a)*norm2(x[k] - old[k])",
        of=ball,
        assuming=("smooth(f, L)", "beta < 1", "a <= 2*(1 - beta)/L"),
    ),
    # FALSE because the factor 1 - beta is lost: f = x^2/2, a = 2, beta = 1/2, x0 = 1: x1 = -1, 1/2 + 1/2 <= 1/2.
    claim(
        "energy-lax",
        "f(x[k+1]) + beta/(2*a)*norm2(x[k+1] - old[k+1]) <= f(x[k]) + beta/(2*a)*norm2(x[k] - old[k])",
        of=ball,
        assuming=("smooth(f, L)", "beta < 1", "a <= 2/L"),
    ),
    # FALSE because old gradients overshoot: f = x^2/2, a = 1/2, alpha = (1/100, 1/100, 1/100, 97/100), x0 = 1, within 60 rounds.
    claim(
        "stale",
        "mean_k(norm2(grad(f, x[k]))) <= 2*(f(x0) - fstar)/(a*K)",
        of=stale,
        assuming=("smooth(f, L)", "convex(f)", "a <= 1/(2*L)", "sum_j(alpha_j) == 1"),
    ),
)
PAPER = Paper("inertia", "The safe heavy ball", "a reader", CLAIMS)
