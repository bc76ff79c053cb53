"""Mixing with neighbours."""

from theory import Paper, algorithm, claim


@algorithm(x="each grad(f_n, x0)")
def gossip(w, x, *, W):
    return w.mix(x, W)


@algorithm(x="each x0")
def dgd(w, x, *, a, W):
    return w.mix(x, W) - a * w.gradient(x)


@algorithm(x="each x0", g="each grad(f_n, x0)")
def tracking(w, x, g, *, a, W):
    new = w.mix(x, W) - a * g
    return new, w.mix(g, W) + w.gradient(new) - w.gradient(x)


VAR = "(mean_n(norm2(x[{k}])) - norm2(mean_n(x[{k}])))"

CLAIMS = (
    # TRUE because W is doubly stochastic.
    claim(
        "mean-kept",
        "norm2(mean_n(x[k+1]) - mean_n(x[k]) + a*mean_n(grad(f_n, x[k]))) <= 0",
        of=dgd,
        assuming=("connected(W)",),
    ),
    # TRUE because W contracts by rho off the mean.
    claim("agree", f"{VAR.format(k='k')} <= rho**(2*k)*{VAR.format(k='0')}", of=gossip, assuming=("connected(W)",)),
    # FALSE because of the exponent 3: W = [[3/4, 1/4], [1/4, 3/4]], rho = 1/2: 1/4 <= 1/8.
    claim(
        "agree-faster", f"{VAR.format(k='k+1')} <= rho**3*{VAR.format(k='k')}", of=gossip, assuming=("connected(W)",)
    ),
    # FALSE because the spectral gap says nothing of the largest: on a path of four clients with x = (1, 1, -1, -1) the
    # ends stay where they are in the first round.
    claim(
        "agree-largest",
        "max_n(norm2(x[k+1] - mean_n(x[k+1]))) <= rho*max_n(norm2(x[k] - mean_n(x[k])))",
        of=gossip,
        assuming=("connected(W)",),
    ),
    # FALSE because a step has to be at most (1 + the least eigenvalue of W)/L: W = [[1/10, 9/10], [9/10, 1/10]], a = L = 1
    # and two functions of which one is 0.
    claim(
        "stays-near",
        "mean_n(norm2(x[k] - xstar)) <= norm2(x0 - xstar)",
        of=dgd,
        assuming=("connected(W)", "smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "a <= 1/L"),
    ),
    # FALSE because the spectral gap bounds the mean square alone: W = J/3 + u u'/28, u = (3, -1, -2), gradients 1, 0, -1.
    claim(
        "agree-largest-squared",
        "max_n(norm2(x[k+1] - mean_n(x[k+1]))) <= rho**2*max_n(norm2(x[k] - mean_n(x[k])))",
        of=gossip,
        assuming=("connected(W)",),
    ),
    # FALSE because the step is of the order of the gap, not of its square: W = [[3/20, 17/20], [17/20, 3/20]], x^2/2 and 0.
    claim(
        "tracking",
        "mean_n(norm2(x[k] - xstar)) <= 4*norm2(x0 - xstar)",
        of=tracking,
        assuming=("smooth(f_n, L)", "convex(f_n)", "a <= (1 - rho)/(2*L)", "same_minimiser(f_n)", "connected(W)"),
    ),
    # FALSE because the clients leave the common minimiser of f along their own gradients. True for N = 1.
    claim(
        "rests",
        "mean_n(norm2(x[k] - xstar)) <= 0",
        of=dgd,
        assuming=("connected(W)", "smooth(f_n, L)", "strongly_convex(f_n, mu)", "a <= 1/L", "norm2(x0 - xstar) <= 0"),
    ),
)
PAPER = Paper("gossip", "Gossip", "a reader", CLAIMS)
