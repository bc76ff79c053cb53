"""Local gradient steps."""

from theory import Paper, algorithm, claim


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        w.tap("hat", w.mean(y))
        y = y - eta * w.gradient(y)
        w.tap("nxt", w.mean(y))
    return w.mean(y)


FN = ("smooth(f_n, L)", "convex(f_n)")
AT = "norm2(x0 - xstar) <= 0"

CLAIMS = (
    # FALSE because the clients drift to minimisers of their own: f = x^2/2 - x, 3x^2/2 + x, H = 2. True for H = 1.
    claim("rests", "norm2(x[k] - xstar) <= 0", of=local, assuming=(*FN, "eta <= 1/L", AT)),
    # TRUE because every gradient is 0 at a common minimiser.
    claim("rests-common", "norm2(x[k] - xstar) <= 0", of=local, assuming=("smooth(f_n, L)", "same_minimiser(f_n)", AT)),
    # TRUE because the gradients of a convex client do not grow along its steps.
    claim("drift", "norm(y[k, h] - x[k]) <= h*eta*norm(grad(f_n, x[k]))", of=local, assuming=(*FN, "eta <= 2/L")),
    # FALSE because f convex does not make the clients convex: f_1 = -x^2/2, f_2 = x^2, h = 2: y = (1 + eta)^2 x.
    claim(
        "drift-mean",
        "norm(y[k, h] - x[k]) <= h*eta*norm(grad(f_n, x[k]))",
        of=local,
        assuming=("smooth(f_n, L)", "convex(f)", "eta <= 1/L"),
    ),
    # TRUE because of Khaled, Mishchenko, Richtarik 2019, Lemma 1 (checked line by line).
    claim(
        "one-turn",
        "norm2(nxt[k, h] - xstar) <= norm2(hat[k, h] - xstar) + eta*L*(1 + 2*eta*L)*mean_n(norm2(y[k, h] - hat[k, h])) - 2*eta*(1 - 2*eta*L)*(f(hat[k, h]) - fstar)",
        of=local,
        assuming=FN,
    ),
    # FALSE because the drift is lost: start at x*, turn h = 1 leaves it (clients of different curvature). True for h = 0.
    claim(
        "one-turn-lost",
        "norm2(nxt[k, h] - xstar) <= norm2(hat[k, h] - xstar) - 2*eta*(1 - 2*eta*L)*(f(hat[k, h]) - fstar)",
        of=local,
        assuming=(*FN, "eta <= 1/(2*L)"),
    ),
    # TRUE because the turn h deviates by at most eta L |y - x| <= eta L h eta |g_n|.
    claim(
        "big-step",
        "norm(x[1] - x0 + H*eta*grad(f, x0)) <= H*(H - 1)/2*L*eta**2*max_n(norm(grad(f_n, x0)))",
        of=local,
        assuming=(*FN, "eta <= 2/L"),
    ),
    # FALSE because at the minimiser of f the clients still drift. True for identical clients.
    claim(
        "big-step-mean",
        "norm(x[1] - x0 + H*eta*grad(f, x0)) <= H*(H - 1)/2*L*eta**2*norm(grad(f, x0))",
        of=local,
        assuming=(*FN, "eta <= 2/L"),
    ),
)
PAPER = Paper("local", "Local steps", "a reader", CLAIMS)
