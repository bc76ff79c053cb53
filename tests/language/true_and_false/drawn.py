"""What draws of clients, coins, coordinates and noise add."""

from tests.language.true_and_false.steps import coinstep, gd, kept, noisy, onecoin, part
from theory import Paper, algorithm, claim


@algorithm
def twenty(w, x, *, eta):
    return x - eta * w.average(w.gradient(x), w.choose(20))


CLAIMS = (
    # FALSE from N = 21 on, and nothing is said of fewer than 20 clients.
    claim("all-of-twenty", "norm2(x[k+1] - x[k] + eta*grad(f, x[k])) <= 0", of=twenty),
    # TRUE because the draw is uniform.
    claim("mean-of-twenty", "norm2(E(x[1]) - x0 + eta*grad(f, x0)) <= 0", of=twenty),
    # TRUE: (N-S)/(N-1)<=1; N=1: 0
    claim(
        "part",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
        of=part,
    ),
    # FALSE: exact has N-1: larger
    claim(
        "part2",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(N-S)/(S*N)*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
        of=part,
    ),
    # TRUE: undefined N=1
    claim(
        "part3",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(N-S)/(S*(N-1))*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
        of=part,
    ),
    # TRUE: the variance of a mean of S of N
    claim(
        "part4",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k])))*(N-1) == eta**2*(N-S)/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
        of=part,
    ),
    # FALSE: N=1: 0<0
    claim(
        "part5",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) < eta**2/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k])))) + eta**2*(N-1)",
        of=part,
    ),
    # TRUE: (N - S)/(N - 1) is at most 1
    claim(
        "part6",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2/S",
        of=part,
        assuming=("dissimilar(zeta)",),
    ),
    # FALSE: left side 1/18 > right side 0.03703703711 at k=0 (3 clients, 1 dimension, 1 round, S=2, eta=1,
    # zeta=0.4714045213)
    claim(
        "part7",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2*(N-S)/(S*N)",
        of=part,
        assuming=("dissimilar(zeta)",),
    ),
    # FALSE: N large S=1: ->zeta^2
    claim(
        "part8",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2/(S+1)",
        of=part,
        assuming=("dissimilar(zeta)",),
    ),
    # TRUE: (N-S)/(S(N-1)) <= (N-S)/N iff N<=S(N-1): S>=2,N>=2 ok
    claim(
        "part9",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2*(N-S)/N",
        of=part,
        assuming=("dissimilar(zeta)", "S >= 2"),
    ),
    # TRUE: all clients take part
    claim("part10", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= 0", of=part, assuming=("S >= N",)),
    # TRUE: E of c/p is 1, and of its square 1/p
    claim(
        "coin",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(1/p - 1)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=coinstep,
    ),
    # FALSE: left side 81 > right side 0 at k=0 (1 client, 1 dimension, 1 round, p=1/2, eta=3)
    claim(
        "coin2",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(1/p - 1)/N*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
        of=coinstep,
    ),
    # FALSE: at grad 0: 0<0
    claim(
        "coin3",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) < eta**2/p/N*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=coinstep,
    ),
    # FALSE: left side 3 > right side 3/4 at k=0 (1 client, 1 dimension, 1 round, p=1/4, eta=1)
    claim(
        "coin4",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(1-p)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=coinstep,
    ),
    # TRUE: with p the step is one of gradient descent, else none
    claim(
        "onecoin",
        "E(f(x[k+1])) <= E(f(x[k])) - p*eta/2*E(norm2(grad(f,x[k])))",
        of=onecoin,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # FALSE: left side -1/4 > right side -1/2 at k=0 (1 client, 1 dimension, 1 round, p=1/2, eta=1, L=1)
    claim(
        "onecoin2",
        "E(f(x[k+1])) <= E(f(x[k])) - eta/2*E(norm2(grad(f,x[k])))",
        of=onecoin,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # FALSE: left side -1/3 > right side -1/2 at k=0 (1 client, 1 dimension, 1 round, p=3/4, eta=4/3, L=1)
    claim(
        "onecoin3",
        "E(f(x[k+1])) <= E(f(x[k])) - p*eta/2*E(norm2(grad(f,x[k])))",
        of=onecoin,
        assuming=("smooth(f, L)", "eta <= 1/(p*L)"),
    ),
    # FALSE: outcome no step
    claim(
        "onecoin4",
        "f(x[k+1]) <= f(x[k]) - p*eta/2*norm2(grad(f,x[k]))",
        of=onecoin,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # TRUE: whatever the coin says, f gets no larger
    claim("onecoin5", "f(x[k+1]) <= f(x[k])", of=onecoin, assuming=("smooth(f, L)", "eta <= 1/L")),
    # TRUE: E norm2 of what is kept is d/m times norm2
    claim(
        "keep",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(d/m - 1)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=kept,
    ),
    # FALSE: m=1,d large: d-1 > d/2
    claim(
        "keep2",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/(m+1) - 0)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=kept,
    ),
    # TRUE: (d-1)/m >= (d-m)/m  TRUE
    claim(
        "keep3",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/m)*(d-1)/(d*N)*E(mean_n(norm2(grad(f_n, x[k]))))",
        of=kept,
    ),
    # TRUE: all coordinates are kept
    claim("keep4", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= 0", of=kept, assuming=("m >= d",)),
    # FALSE: left side 9/4 > right side 9/8 at k=0 (2 clients, 2 dimensions, 1 round, m=1, eta=3)
    claim("keep5", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/m - 1)/N*E(norm2(grad(f,x[k])))", of=kept),
    # TRUE: the noise of N clients is independent
    claim("noise", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*s2/N", of=noisy),
    # FALSE: left side 1/2 > right side 1/4 at k=0 (2 clients, 1 dimension, 1 round, eta=1, s2=1)
    claim("noise2", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/N**2", of=noisy),
    # FALSE: eta=3/L, N=1,h=L: 4 <= (1-3mu/L)
    claim(
        "min",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar) + eta*L*mean_n(norm2(xstar_n - xstar))",
        of=gd,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 3/L"),
    ),
    # FALSE: left side 1/2 > right side 0 (2 clients, 1 dimension, 1 round, eta=1, L=1, mu=1)
    claim("min2", "sum_n(norm2(grad(f_n,xstar))) <= 0", of=gd, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)")),
    # TRUE: the gradient of f_n is 0 at xstar_n, and L-Lipschitz
    claim(
        "min3",
        "mean_n(norm2(grad(f_n,xstar))) <= L**2*mean_n(norm2(xstar_n - xstar))",
        of=gd,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
    ),
    # FALSE: left side 1/4 > right side 4/81 (2 clients, 2 dimensions, 1 round, eta=1, L=1, mu=4/9)
    claim(
        "min4",
        "mean_n(norm2(grad(f_n,xstar))) <= mu**2*mean_n(norm2(xstar_n - xstar))",
        of=gd,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
    ),
)

PAPER = Paper("drawn", "What draws of clients, coins, coordinates and noise add.", "a reader", CLAIMS)
