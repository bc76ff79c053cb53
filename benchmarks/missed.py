"""False sentences of which a quick check once said `supported`, each with what breaks it: the search's open cases.

    fedproof check benchmarks/missed.py --quick

All are false. What is not `refuted` is still missed: functions that are no quadratics and have to fit a step, and
some counts of clients or samples that have to fit a ratio.
"""

from __future__ import annotations

from theory import Paper, algorithm, claim
from theory.domain import NONNEGATIVE


@algorithm
def descent(w, x, *, eta):
    """Gradient descent."""
    return x - eta * w.mean(w.gradient(x))


@algorithm
def proximal(w, x, *, t):
    """The proximal point method."""
    return w.mean(w.prox(x, t))


@algorithm
def one_client(w, x, *, eta):
    """One client's gradient a step."""
    return x - eta * w.average(w.gradient(x), w.choose(1))


@algorithm
def one_sample(w, x, *, eta):
    """One sample's gradient a step."""
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def local(w, x, *, eta, H):
    """H local gradient steps, then the mean."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


R = "norm2(x0 - xstar)"
ONE, EACH = ("smooth(f, L)", "convex(f)"), ("smooth(f_n, L)", "convex(f_n)")
WINDOW = f"f(x[1]) - fstar <= L*{R}*(1/(4*eta*L + 2) + (eta*L - {{0}})**2 - {{1}})"
STEP = f"E(norm2(x[1] - xstar)) <= (1 - eta*mu*(2 - 2*eta*L + eta*mu))*{R} + {{0}}*eta**2*s2"
STRONG = (*EACH, "strongly_convex(f, mu)", "eta <= 1/L")
NOISE = {"s2": "mean_n(norm2(grad(f_n, xstar)))"}
SPREAD = {"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
HUBER = "f' = L*x up to a knee, then flat, x0 = 1, every client the same: "
SHAPIRO = " + ".join(f"u{i}/(u{(i + 1) % 14} + u{(i + 2) % 14})" for i in range(14))


def huber(label, statement, knee, *assuming, of=descent):
    """A claim that a function with one knee breaks."""
    return claim(label, statement, of=of, assuming=assuming, remarks=(f"{HUBER}knee {knee}",))


CLAIMS = (
    huber("window-3", WINDOW.format("3/10", "1/2000"), "5/8, eta = 3/(10*L)", *ONE, "eta <= 1/L"),
    huber("window-3-wide", WINDOW.format("3/10", "1/25"), "5/8, eta = 3/(10*L)", *ONE, "eta <= 1/L"),
    huber("window-6", WINDOW.format("3/5", "1/100"), "5/11, eta = 3/(5*L)", *ONE, "eta <= 1/L"),
    huber("four", f"f(x[1]) - fstar <= L/3.3*{R}", "5/8", *ONE, "eta == 3/(10*L)", "N >= 4"),
    huber("four-each", f"f(x[1]) - fstar <= L/3.4*{R}", "5/8", *EACH, "eta == 3/(10*L)", "N >= 4"),
    huber("slope", "norm2(grad(f, x[1])) <= 1.22*L*(f(x0) - fstar)", "10/13", *ONE, "eta == 3/(10*L)", "N >= 4"),
    huber("prox-root", "sqrt(f(x[1]) - fstar) <= sqrt(L/7.5)*norm(x0 - xstar)", "1/3.6", *ONE, "N == 1",
          "t == 13/(10*L)", of=proximal),
    huber("last", f"f(x[K]) - fstar <= L*{R}/(4.15*K + 2)", "1/3, K = 1", *EACH, "N >= 4", "eta == 1/L"),
    huber("last-of-four", f"f(x[1]) - fstar <= L*{R}/6.5", "1/3", *EACH, "N == 4", "eta == 1/L"),
    huber("average", f"f(mean_k(x[k+1])) - fstar <= L*{R}/(2.2*K + 3.7)", "1/12, K = 10", *EACH, "N >= 4",
          "eta == 1/L"),
    huber("third", f"f(x[1]) - fstar <= L*{R}/3.5", "3/5", *EACH, "N >= 4", "eta == 1/(3*L)"),
    huber("subgradient", f"mean_k(f(x[k]) - fstar) <= 0.97*({R}/(2*eta*K) + eta*G**2/2)", "1/50, K = G = eta = 1",
          "convex(f_n)", "bounded_gradients(f_n, G)", "N >= 4"),
    claim("clients-5", STEP.format("(1.97 + 10*(mu/L - 1/5)**2)"), of=one_client, assuming=STRONG, where=NOISE,
          remarks=("five clients, one with curvature L, the others flat, eta = 1/L",)),
    claim("clients-5-two", STEP.format("(1.97 + 10*(mu/L - 2/5)**2)"), of=one_client, assuming=STRONG, where=NOISE,
          remarks=("five clients, two with curvature L, the others flat, eta = 1/L",)),
    claim("samples-5", STEP.format("(1.97 + 5*(eta*L - 0.37)**2 + 10*(mu/L - 1/5)**2)"), of=one_sample, where=SPREAD,
          assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "N == 1", "eta <= 1/L"),
          remarks=("five samples, one with curvature L, the others flat, eta = 0.37/L",)),
    claim("interpolation", f"E(norm2(x[1] - xstar)) <= (1 - 2*eta*mu + eta**2*L*mu "
          f"+ eta**2*((mu - 2/5*L)**2 - L**2/1000))*{R}", of=one_client, assuming=(*STRONG, "same_minimiser(f_n)"),
          remarks=("five clients, two with curvature L, the others flat, eta = 1/L",)),
    claim("seven", "norm2(x[1] - x0) <= (0.98 + (H - 7)**2/40)*H**2*eta**2*mean_n(norm2(grad(f_n, x0)))", of=local,
          assuming=(*EACH, "eta <= 1/L"), remarks=("H = 7, a linear function",)),
    claim("thirteen", "norm2(x[1] - x0) <= (0.98 + (H - 13)**2/40)*H**2*eta**2*mean_n(norm2(grad(f_n, x0)))", of=local,
          assuming=(*EACH, "eta <= 1/L"), remarks=("H = 13, a linear function",)),
    claim("shapiro", f"{SHAPIRO} >= 7", parameters={f"u{i}": NONNEGATIVE for i in range(14)},
          remarks=("0, 42, 2, 42, 4, 41, 5, 39, 4, 38, 2, 38, 0, 40",)),
)  # fmt: skip

PAPER = Paper("missed", "False sentences that a quick check missed", "outsiders", CLAIMS)
