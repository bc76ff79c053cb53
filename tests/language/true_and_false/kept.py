"""Gradients of which few coordinates are kept."""

from theory import Paper, algorithm, claim


@algorithm
def kept(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x), m))


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
    # TRUE because E norm2(keep(g, m)) = d/m norm2(g), and a gradient is cocoercive.
    claim("kept-any", NEARER, of=kept, assuming=(*BASE, "eta <= 2*m/(d*L)")),
)
PAPER = Paper("kept", "Few coordinates", "a reader", CLAIMS)
