"""Gradient descent with noise of the clients."""

from theory import Paper, algorithm, claim


@algorithm
def noisy(w, x, *, eta, sigma2):
    return x - eta * (w.full_gradient(x) + w.mean(w.noise(sigma2)))


SC = ("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 2/(L + mu)")

CLAIMS = (
    # TRUE because of the descent lemma, and the mean of N independent noises has sigma2/N.
    claim(
        "descent",
        "E(f(x[k+1])) <= E(f(x[k])) - eta/2*E(norm2(grad(f, x[k]))) + L*eta**2*sigma2/(2*N)",
        of=noisy,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # FALSE because of f = L x^2/2 at the minimiser: L eta^2 sigma2/(2N).
    claim(
        "descent-half",
        "E(f(x[k+1])) <= E(f(x[k])) - eta/2*E(norm2(grad(f, x[k]))) + L*eta**2*sigma2/(4*N)",
        of=noisy,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # TRUE because E|x+ - x*|^2 <= (1 - eta mu)^2 E|x - x*|^2 + eta^2 sigma2/N; the sum of the series.
    claim(
        "floor",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**(2*k)*norm2(x0 - xstar) + eta*sigma2/(mu*N*(2 - eta*mu))",
        of=noisy,
        assuming=SC,
    ),
    # FALSE because 2 - eta mu < 2: f = x^2/2, eta = mu = 1, k = 1, x0 = x*: sigma2/N <= sigma2/(2N).
    claim(
        "floor-low",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**(2*k)*norm2(x0 - xstar) + eta*sigma2/(2*mu*N)",
        of=noisy,
        assuming=SC,
    ),
    # FALSE because N**2 for N: the mean of N independent vectors has sigma2/N. True for N = 1.
    claim("move", "E(norm2(x[1] - x0)) == eta**2*(norm2(grad(f, x0)) + sigma2/N**2)", of=noisy),
)
PAPER = Paper("noise", "Noise", "a reader", CLAIMS)
