"""Gradients of which few coordinates are kept."""

from theory import Paper, algorithm, claim


@algorithm
def kept(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x), m))


@algorithm(x="x0", g="each grad(f_n, x0)")
def ef21(w, x, g, *, eta, m):
    new = x - eta * w.mean(g)
    return new, g + w.top(w.gradient(new) - g, m)


EF21 = (
    "mean_n(norm2(grad(f_n, x[k+1]) - g[k+1])) <= {}*(1 - m/d)*((1 + s)*mean_n(norm2(grad(f_n, x[k]) - g[k]))"
    " + (1 + 1/s)*L**2*norm2(x[k+1] - x[k]))"
)
NEARER = "E(norm2(x[k+1] - xstar)) <= E(norm2(x[k] - xstar))"
BASE = ("smooth(f, L)", "convex(f)", "N <= 1", "m <= d")

CLAIMS = (
    # FALSE only from d = 5 m on: f = L/2 norm2: 1 - 2/2 + (d/m)/2**2.
    claim("kept-five", NEARER, of=kept, assuming=(*BASE, "eta == 1/(2*L)")),
    # FALSE only from d = 9 m on: f = L/2 norm2: 1 - 2/4 + (d/m)/4**2.
    claim("kept-nine", NEARER, of=kept, assuming=(*BASE, "eta == 1/(4*L)")),
    # FALSE only from d = 21 m on: f = L/2 norm2: 1 - 2/10 + (d/m)/10**2.
    claim("kept-twenty-one", NEARER, of=kept, assuming=(*BASE, "eta == 1/(10*L)")),
    # FALSE only from d = 41 m on: f = L/2 norm2: 1 - 2/20 + (d/m)/20**2.
    claim("kept-forty-one", NEARER, of=kept, assuming=(*BASE, "eta == 1/(20*L)")),
    # FALSE: f = norm2/2, m = 1, d = 2, x0 = (1, 1), eta = 1, s = 100: 1 <= 98/100*101/100. However the number is written.
    claim("ef21-fraction", EF21.format("49/50"), of=ef21, assuming=("smooth(f_n, L)", "m <= d")),
    # FALSE likewise.
    claim("ef21-decimal", EF21.format("0.98"), of=ef21, assuming=("smooth(f_n, L)", "m <= d")),
    # TRUE because top keeps m/d at least of the square, and by Young.
    claim("ef21", EF21.format("1"), of=ef21, assuming=("smooth(f_n, L)", "m <= d")),
    # TRUE because E norm2(keep(g, m)) = d/m norm2(g), and a gradient is cocoercive.
    claim("kept-any", NEARER, of=kept, assuming=(*BASE, "eta <= 2*m/(d*L)")),
)
PAPER = Paper("kept", "Few coordinates", "a reader", CLAIMS)
