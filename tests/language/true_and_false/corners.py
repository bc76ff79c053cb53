"""Signs, clips and projections."""

from theory import Paper, algorithm, claim


@algorithm
def signs(w, x, *, eta):
    return x - eta * w.sign(w.full_gradient(x))


@algorithm
def tapped_signs(w, x, *, eta):
    s = w.sign(w.full_gradient(x))
    w.tap("s", s)
    return x - eta * s


@algorithm
def clipped(w, x, *, eta, R):
    return x - eta * w.mean(w.clip(w.gradient(x), R))


@algorithm
def projected(w, x, *, t, R):
    return w.project(x - t * w.full_gradient(x), R)


BASE = ("smooth(f, L)", "convex(f)", "t <= 1/L")

CLAIMS = (
    # FALSE because the sign of 0 is 0: f = x^2/2 at the minimiser. True wherever no partial derivative is 0.
    claim("every-coordinate", "norm2(x[k+1] - x[k]) == eta**2*d", of=signs),
    # TRUE because no sign is longer than 1.
    claim("at-most", "norm2(x[k+1] - x[k]) <= eta**2*d", of=signs),
    # FALSE because of three clients: gradients 10, -1, -1, R = 1: the mean is 8/3, the clipped one -1/3. True for N <= 2.
    claim("downhill", "dot(x[1] - x0, grad(f, x0)) <= 0", of=clipped),
    # TRUE because of two clients: (a + b).(clip a + clip b) >= (|a| - |b|)(R - |b|)/.. >= 0 in every case.
    claim("downhill-two", "dot(x[1] - x0, grad(f, x0)) <= 0", of=clipped, assuming=("N <= 2",)),
    # FALSE because the minimiser may be outside of the ball. True for minimisers within.
    claim("nearer", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", of=projected, assuming=BASE),
    # TRUE because the projection is nonexpansive and fixes xstar.
    claim(
        "nearer-within",
        "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)",
        of=projected,
        assuming=(*BASE, "norm(xstar) <= R"),
    ),
    # FALSE because x0 may be outside: f = 0, R = 1, x0 = 2 moves by 1. True from k = 1 on.
    claim("short", "norm2(x[k+1] - x[k]) <= t**2*norm2(grad(f, x[k]))", of=projected, assuming=BASE),
    # FALSE only for d >= 41: f = L/2 norm2, x0 all ones: d/2 <= 20.
    claim(
        "signs-forty",
        "f(x[k+1]) <= f(x[k]) - eta*dot(grad(f, x[k]), s[k]) + eta**2*L*20",
        of=tapped_signs,
        assuming=("smooth(f, L)",),
    ),
    # TRUE because norm2 of a vector of signs is at most d.
    claim(
        "signs-any",
        "f(x[k+1]) <= f(x[k]) - eta*dot(grad(f, x[k]), s[k]) + eta**2*L*d/2",
        of=tapped_signs,
        assuming=("smooth(f, L)",),
    ),
)
PAPER = Paper("corners", "Corners", "a reader", CLAIMS)
