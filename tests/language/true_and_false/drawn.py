"""What draws of clients, coins, coordinates and noise add."""

from theory import Paper, algorithm, claim


@algorithm
def gd(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def batch(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def part(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def coinstep(w, x, *, eta, p):
    return x - eta * w.mean(w.where(w.coins(p), w.gradient(x) / p, 0 * w.gradient(x)))


@algorithm
def onecoin(w, x, *, eta, p):
    return w.where(w.coin(p), x - eta * w.full_gradient(x), x)


@algorithm
def kept(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x), m))


@algorithm
def noisy(w, x, *, eta, s2):
    return x - eta * (w.full_gradient(x) + w.mean(w.noise(s2)))


# TRUE: (N-S)/(N-1)<=1; N=1: 0
C1 = claim(
    "part",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    of=part,
)
# FALSE: exact has N-1: larger
C2 = claim(
    "part2",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(N-S)/(S*N)*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    of=part,
)
# TRUE: undefined N=1
C3 = claim(
    "part3",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(N-S)/(S*(N-1))*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    of=part,
)
# TRUE: the variance of a mean of S of N
C4 = claim(
    "part4",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k])))*(N-1) == eta**2*(N-S)/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    of=part,
)
# FALSE: N=1: 0<0
C5 = claim(
    "part5",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) < eta**2/S*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k])))) + eta**2*(N-1)",
    of=part,
)
# TRUE: (N - S)/(N - 1) is at most 1
C6 = claim(
    "part6", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2/S", of=part, assuming=("dissimilar(zeta)",)
)
# FALSE: left side 1/18 > right side 0.03703703711 at k=0 (3 clients, 1 dimension, 1 round, S=2, eta=1,
# zeta=0.4714045213)
C7 = claim(
    "part7",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2*(N-S)/(S*N)",
    of=part,
    assuming=("dissimilar(zeta)",),
)
# FALSE: N large S=1: ->zeta^2
C8 = claim(
    "part8",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2/(S+1)",
    of=part,
    assuming=("dissimilar(zeta)",),
)
# TRUE: (N-S)/(S(N-1)) <= (N-S)/N iff N<=S(N-1): S>=2,N>=2 ok
C9 = claim(
    "part9",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*zeta**2*(N-S)/N",
    of=part,
    assuming=(
        "dissimilar(zeta)",
        "S >= 2",
    ),
)
# TRUE: all clients take part
C10 = claim("part10", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= 0", of=part, assuming=("S >= N",))
# TRUE: E of c/p is 1, and of its square 1/p
C11 = claim(
    "coin",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(1/p - 1)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
    of=coinstep,
)
# FALSE: left side 81 > right side 0 at k=0 (1 client, 1 dimension, 1 round, p=1/2, eta=3)
C12 = claim(
    "coin2",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(1/p - 1)/N*E(mean_n(norm2(grad(f_n, x[k]) - grad(f, x[k]))))",
    of=coinstep,
)
# FALSE: at grad 0: 0<0
C13 = claim(
    "coin3", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) < eta**2/p/N*E(mean_n(norm2(grad(f_n, x[k]))))", of=coinstep
)
# FALSE: left side 3 > right side 3/4 at k=0 (1 client, 1 dimension, 1 round, p=1/4, eta=1)
C14 = claim(
    "coin4",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(1-p)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
    of=coinstep,
)
# TRUE: with p the step is one of gradient descent, else none
C15 = claim(
    "onecoin",
    "E(f(x[k+1])) <= E(f(x[k])) - p*eta/2*E(norm2(grad(f,x[k])))",
    of=onecoin,
    assuming=(
        "smooth(f, L)",
        "eta <= 1/L",
    ),
)
# FALSE: left side -1/4 > right side -1/2 at k=0 (1 client, 1 dimension, 1 round, p=1/2, eta=1, L=1)
C16 = claim(
    "onecoin2",
    "E(f(x[k+1])) <= E(f(x[k])) - eta/2*E(norm2(grad(f,x[k])))",
    of=onecoin,
    assuming=(
        "smooth(f, L)",
        "eta <= 1/L",
    ),
)
# FALSE: left side -1/3 > right side -1/2 at k=0 (1 client, 1 dimension, 1 round, p=3/4, eta=4/3, L=1)
C17 = claim(
    "onecoin3",
    "E(f(x[k+1])) <= E(f(x[k])) - p*eta/2*E(norm2(grad(f,x[k])))",
    of=onecoin,
    assuming=(
        "smooth(f, L)",
        "eta <= 1/(p*L)",
    ),
)
# FALSE: outcome no step
C18 = claim(
    "onecoin4",
    "f(x[k+1]) <= f(x[k]) - p*eta/2*norm2(grad(f,x[k]))",
    of=onecoin,
    assuming=(
        "smooth(f, L)",
        "eta <= 1/L",
    ),
)
# TRUE: whatever the coin says, f gets no larger
C19 = claim(
    "onecoin5",
    "f(x[k+1]) <= f(x[k])",
    of=onecoin,
    assuming=(
        "smooth(f, L)",
        "eta <= 1/L",
    ),
)
# TRUE: E norm2 of what is kept is d/m times norm2
C20 = claim(
    "keep",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*(d/m - 1)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
    of=kept,
)
# FALSE: m=1,d large: d-1 > d/2
C21 = claim(
    "keep2",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/(m+1) - 0)/N*E(mean_n(norm2(grad(f_n, x[k]))))",
    of=kept,
)
# TRUE: (d-1)/m >= (d-m)/m  TRUE
C22 = claim(
    "keep3",
    "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/m)*(d-1)/(d*N)*E(mean_n(norm2(grad(f_n, x[k]))))",
    of=kept,
)
# TRUE: all coordinates are kept
C23 = claim("keep4", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= 0", of=kept, assuming=("m >= d",))
# FALSE: left side 9/4 > right side 9/8 at k=0 (2 clients, 2 dimensions, 1 round, m=1, eta=3)
C24 = claim(
    "keep5", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*(d/m - 1)/N*E(norm2(grad(f,x[k])))", of=kept
)
# TRUE: the noise of N clients is independent
C25 = claim("noise", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) == eta**2*s2/N", of=noisy)
# FALSE: left side 1/2 > right side 1/4 at k=0 (2 clients, 1 dimension, 1 round, eta=1, s2=1)
C26 = claim("noise2", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/N**2", of=noisy)
# FALSE: eta=3/L, N=1,h=L: 4 <= (1-3mu/L)
C27 = claim(
    "min",
    "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar) + eta*L*mean_n(norm2(xstar_n - xstar))",
    of=gd,
    assuming=(
        "smooth(f_n, L)",
        "strongly_convex(f_n, mu)",
        "eta <= 3/L",
    ),
)
# FALSE: left side 1/2 > right side 0 (2 clients, 1 dimension, 1 round, eta=1, L=1, mu=1)
C28 = claim(
    "min2",
    "sum_n(norm2(grad(f_n,xstar))) <= 0",
    of=gd,
    assuming=(
        "smooth(f_n, L)",
        "strongly_convex(f_n, mu)",
    ),
)
# TRUE: the gradient of f_n is 0 at xstar_n, and L-Lipschitz
C29 = claim(
    "min3",
    "mean_n(norm2(grad(f_n,xstar))) <= L**2*mean_n(norm2(xstar_n - xstar))",
    of=gd,
    assuming=(
        "smooth(f_n, L)",
        "strongly_convex(f_n, mu)",
    ),
)
# FALSE: left side 1/4 > right side 4/81 (2 clients, 2 dimensions, 1 round, eta=1, L=1, mu=4/9)
C30 = claim(
    "min4",
    "mean_n(norm2(grad(f_n,xstar))) <= mu**2*mean_n(norm2(xstar_n - xstar))",
    of=gd,
    assuming=(
        "smooth(f_n, L)",
        "strongly_convex(f_n, mu)",
    ),
)

PAPER = Paper(
    "drawn",
    "What draws of clients, coins, coordinates and noise add.",
    "a reader",
    (
        C1,
        C2,
        C3,
        C4,
        C5,
        C6,
        C7,
        C8,
        C9,
        C10,
        C11,
        C12,
        C13,
        C14,
        C15,
        C16,
        C17,
        C18,
        C19,
        C20,
        C21,
        C22,
        C23,
        C24,
        C25,
        C26,
        C27,
        C28,
        C29,
        C30,
    ),
)
