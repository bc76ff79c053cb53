"""Numbers between bounds that are near, constants that are a number times others, sizes that are large together."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", m="0")
def momentum(w, x, m, *, eta, beta):
    m = beta * m + (1 - beta) * w.full_gradient(x)
    return x - eta * m, m


@algorithm(x="x0", e="0")
def fed_back(w, x, e, *, eta, m):
    p = eta * w.full_gradient(x) + e
    q = w.top(p, m)
    return x - q, p - q


CONVEX = ("smooth(f, L)", "convex(f)")
CURVED = ("smooth(f, L)", "strongly_convex(f, mu)")
SHARES = ("sum_n(q_n) == 1", "q_n > 3/10", "q_n < 4/10")
CLAIMS = (
    # TRUE: a < 1.
    claim("square", "a**2 <= a", assuming=("9/10 < a", "a < 1")),
    # FALSE: 0.81 is more than 0.45.
    claim("half", "a**2 <= a/2", assuming=("9/10 < a", "a < 1")),
    # TRUE: 2*99/100 is more.
    claim("twice", "K*a >= 1", assuming=("99/100 < a", "a < 1", "K >= 2")),
    # FALSE: of K == 2 it is less than 1/10,000.
    claim("powers", "(1 - a)**K >= 1/100", assuming=("99/100 < a", "a < 1")),
    # FALSE: momentum overshoots.
    claim("heavy", "f(x[k+1]) <= f(x[k])", of=momentum,
          assuming=(*CONVEX, "beta > 9/10", "beta < 1", "eta <= 1/L")),
    # TRUE: a step below 2/L descends.
    claim("long-step", "f(x[k+1]) <= f(x[k])", of=descent, assuming=(*CONVEX, "eta > 19/(10*L)", "eta < 2/L")),
    # FALSE: of L*z**2/2 it falls by eta*(1 - L*eta/2) times the square of the gradient, at most 19/400.
    claim("long-step-falls", "f(x[k+1]) <= f(x[k]) - norm2(grad(f, x[k]))/(10*L)", of=descent,
          assuming=(*CONVEX, "eta > 19/(10*L)", "eta < 2/L")),
    # FALSE: 0.999 of both is nearly 1.
    claim("near-each-other", "a*b <= 9/10", assuming=("a < b", "b < 21/20*a", "a + b < 2")),
    # FALSE: with three clients that are not alike it is more.
    claim("shares", "sum_n(q_n**2) <= 1/3", assuming=SHARES),
    # TRUE: there are three clients, and 0.4**2 + 2*0.3**2 is 0.34.
    claim("shares-apart", "sum_n(q_n**2) <= 17/50", assuming=SHARES),
    # TRUE: mu/L is 1/10.
    claim("condition", "norm2(x[k+1] - xstar) <= (1 - 1/10)*norm2(x[k] - xstar)", of=descent,
          assuming=(*CURVED, "L == 10*mu", "eta == 1/L")),
    # TRUE: so it is.
    claim("condition-turned", "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)", of=descent,
          assuming=(*CURVED, "10*mu == L", "eta == 1/L")),
    # FALSE: (1 - 1/10)**2 is attained.
    claim("condition-sharper", "norm2(x[k+1] - xstar) <= 4/5*norm2(x[k] - xstar)", of=descent,
          assuming=(*CURVED, "L == 10*mu", "eta == 1/L")),
    # FALSE: on a slope alike in all coordinates each waits d rounds: about d**2/3 from d = 63 on.
    claim("waiting", "norm2(e[k]) <= (d - 1)*(d + 20)/4*eta**2*G**2", of=fed_back,
          assuming=("m == 1", "bounded_gradients(f, G)", "d >= 2")),
)  # fmt: skip
PAPER = Paper("narrow", "Numbers that have little room", "everybody", CLAIMS)
