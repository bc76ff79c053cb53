"""What is false only where a number is close to an end that it does not reach: a weight near 1, a step near 2/L."""

from theory import Paper, algorithm, claim


@algorithm(x="x0", m="0")
def moving(w, x, m, *, eta, beta, p):
    m = beta * m + w.coin(p) * w.full_gradient(x)
    return x - eta * m, m


@algorithm(x="x0", m="0")
def signed(w, x, m, *, eta, beta, p):
    m = beta * m + w.coin(p) * w.sign(w.full_gradient(x))
    return x - eta * m, m


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


BOUNDED = ("bounded_gradients(f, G)", "beta < 1")
STEP = ("smooth(f, L)", "convex(f)", "eta < 2/L")
CLAIMS = (
    # FALSE: with p = 1 and one gradient the mean remembers G/(1 - beta) in the end, more than this from beta = 3/4 on.
    claim("lengths", "E(norm(x[k+1] - x[k])) <= 2*eta*G/sqrt(1 - beta)", of=moving, assuming=BOUNDED),
    # TRUE: it is at most the sum of beta**j*G.
    claim("lengths-whole", "E(norm(x[k+1] - x[k])) <= eta*G/(1 - beta)", of=moving, assuming=BOUNDED),
    # FALSE: likewise of signs, which have the length sqrt(d), where steps are so short that they stay the same.
    claim("signs", "E(norm2(x[k+1] - x[k])) <= 6*eta**2*d/(1 - beta)", of=signed, assuming=("beta < 1",)),
    # TRUE: it is at most the sum of beta**j*sqrt(d).
    claim("signs-whole", "E(norm2(x[k+1] - x[k])) <= eta**2*d/(1 - beta)**2", of=signed, assuming=("beta < 1",)),
    # FALSE: of L*x**2/2 it falls by eta*(1 - eta*L/2) times the square of the gradient, which is less near 2/L.
    claim("falls", "f(x[k+1]) <= f(x[k]) - eta/50*norm2(grad(f, x[k]))", of=descent, assuming=STEP),
    # TRUE: the step is less than 2/L.
    claim("falls-at-all", "f(x[k+1]) <= f(x[k])", of=descent, assuming=STEP),
)
PAPER = Paper("remembered", "Close to an end", "a reader", CLAIMS)
