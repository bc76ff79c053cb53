"""What an algorithm holds back at nothing short, majorities of many, and ridges in numbers alone.

Plain gradient descent turns its gradient by 60 degrees a step at most, with functions of two variables that are neither
quadratic nor sums over coordinates; an algorithm that clips, projects or damps is that one wherever all is short.
"""

from theory import Paper, algorithm, claim


@algorithm
def clipped(w, x, *, eta, r):
    return x - eta * w.clip(w.full_gradient(x), r)


@algorithm
def projected(w, x, *, eta, r):
    return w.project(x - eta * w.full_gradient(x), r)


@algorithm
def topped(w, x, *, eta, m):
    return x - eta * w.top(w.full_gradient(x), m)


@algorithm
def damped(w, x, *, eta, c):
    g = w.full_gradient(x)
    return x - eta / (c + w.norm(g)) * g


@algorithm
def voted(w, x, *, eta):
    v = w.sign(w.mean(w.sign(w.gradient(x))))
    w.tap("v", v)
    return x - eta * v


@algorithm
def partial(w, x, *, eta, S):
    g = w.average(w.gradient(x), w.choose(S))
    w.tap("g", g)
    return x - eta * g


CONVEX = ("smooth(f, L)", "convex(f)")
TWO = "dot(grad(f, x[k]), grad(f, x[k+2])) >= 0"
VARIANCE = "mean_n(E(norm2(grad(f_n, x[k]) - grad(f, x[k]))))"

CLAIMS = (
    # FALSE because two turns of 60 degrees are 120, and close to the minimiser nothing is clipped.
    claim("clipped", TWO, of=clipped, assuming=(*CONVEX, "eta <= 1/L")),
    # FALSE because two turns of 60 degrees are 120, and inside of the ball nothing is projected.
    claim("projected", TWO, of=projected,
          assuming=(*CONVEX, "eta <= 1/L", "norm2(x0) <= r**2/100", "norm2(xstar) <= r**2/100")),
    # FALSE because two turns of 60 degrees are 120, and the d largest of d coordinates are all of them.
    claim("topped", TWO, of=topped, assuming=(*CONVEX, "eta <= 1/L", "m == d")),
    # FALSE because two turns of 60 degrees are 120, and close to the minimiser the step is eta/c.
    claim("damped", TWO, of=damped, assuming=(*CONVEX, "eta <= c/L")),
    # TRUE because a shorter step along the gradient decreases f, too.
    claim("clipped-decreases", "f(x[k+1]) <= f(x[k])", of=clipped, assuming=(*CONVEX, "eta <= 1/L")),
    # FALSE because 20 of 39 clients outvote 19: (N - 1)/(2 N) is beyond exp(-0.72) = 0.4868 from there on.
    claim("voted", "dot(v[k], grad(f, x[k])) >= -exp(-0.72)*max_n(norm(grad(f_n, x[k])))", of=voted,
          assuming=("d <= 1",)),
    # TRUE because a majority is more than a half.
    claim("voted-half", "dot(v[k], grad(f, x[k])) >= -1/2*max_n(norm(grad(f_n, x[k])))", of=voted,
          assuming=("d <= 1",)),
    # FALSE because (N - S)/(S (N - 1)) is beyond 0.4975 at S = 2 from N = 202 on.
    claim("partial", f"E(norm2(g[k] - grad(f, x[k]))) <= 0.4975*{VARIANCE}", of=partial,
          assuming=("S <= N", "S >= 2")),
    # TRUE because (N - S)/(S (N - 1)) is at most 1/S.
    claim("partial-half", f"E(norm2(g[k] - grad(f, x[k]))) <= 1/2*{VARIANCE}", of=partial,
          assuming=("S <= N", "S >= 2")),
    # FALSE because at p = 1/(K + 1) it goes to 1/e = 0.367879 as K grows.
    claim("ridge", "K*p*(1 - p)**K <= 0.3678", assuming=("p < 1",)),
    # TRUE because it is below 1/e = 0.367879.
    claim("ridge-beyond", "K*p*(1 - p)**K <= 0.3679", assuming=("p < 1",)),
    # FALSE because 170**2 - 19*39**2 is 1.
    claim("pell", "abs(m**2 - 19*b**2 - 1) >= 1", assuming=("m >= 2",)),
    # TRUE because no square is 2 more than four times a square.
    claim("no-pell", "abs(m**2 - 4*b**2 - 2) >= 1"),
)  # fmt: skip

PAPER = Paper("unheld", "What is held back at nothing short", "readers", CLAIMS)
