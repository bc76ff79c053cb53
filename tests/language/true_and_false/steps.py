"""Steps of gradient descent and of its stochastic kin."""

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


CLAIMS = (
    # TRUE: the descent lemma
    claim("desc", "f(x[k+1]) <= f(x[k]) - eta/2*norm2(grad(f,x[k]))", of=gd, assuming=("smooth(f, L)", "eta <= 1/L")),
    # FALSE: left side -61/311904 > right side -1/1368 at k=0 (3 clients, 1 dimension, 1 round, eta=1/76, L=395/3)
    claim("desc2", "f(x[k+1]) <= f(x[k]) - eta/2*norm2(grad(f,x[k]))", of=gd, assuming=("smooth(f, L)", "eta <= 2/L")),
    # TRUE: the descent lemma, 1 - L*eta/2 being at least 0
    claim("desc3", "f(x[k+1]) <= f(x[k])", of=gd, assuming=("smooth(f, L)", "eta <= 2/L")),
    # FALSE: at minimiser equal
    claim("desc3s", "f(x[k+1]) < f(x[k])", of=gd, assuming=("smooth(f, L)", "eta < 2/L")),
    # FALSE: left side 21/200 > right side 0 at k=0 (1 client, 1 dimension, 1 round, eta=21/10, L=1)
    claim("desc4", "f(x[k+1]) <= f(x[k])", of=gd, assuming=("smooth(f, L)", "eta <= 21/(10*L)")),
    # TRUE: the descent lemma
    claim("desc5", "f(x[k+1]) <= f(x[k]) - eta*(1 - L*eta/2)*norm2(grad(f,x[k]))", of=gd, assuming=("smooth(f, L)",)),
    # FALSE: left side -1/2 > right side -2/3 at k=0 (1 client, 1 dimension, 1 round, eta=1, L=1)
    claim("desc6", "f(x[k+1]) <= f(x[k]) - eta*(1 - L*eta/3)*norm2(grad(f,x[k]))", of=gd, assuming=("smooth(f, L)",)),
    # TRUE: gradients of smooth convex functions are cocoercive
    claim(
        "dist",
        "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "convex(f)", "eta <= 2/L"),
    ),
    # FALSE: non convex: concave part moves away
    claim("dist-nc", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", of=gd, assuming=("smooth(f, L)", "eta <= 1/L")),
    # TRUE: (1 - eta*mu)**2 is at most 1 - eta*mu
    claim(
        "dist-c",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
    ),
    # FALSE: eta=2/L,h=L: 1 vs (1-2mu/L)^2
    claim(
        "dist-c2",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)**2*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 2/L"),
    ),
    # TRUE: up to 2/(L + mu) the least curvature decides
    claim(
        "dist-c3",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)**2*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 2/(L + mu)"),
    ),
    # FALSE: left side 49/12960000 > right side 1/518400 at k=0 (1 client, 1 dimension, piecewise quadratic
    # functions, 1 round, eta=1/225, L=400, mu=100)
    claim(
        "dist-c4",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)**2*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 2/(L + mu/2)"),
    ),
    # FALSE: no smoothness
    claim(
        "dist-ns",
        "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)",
        of=gd,
        assuming=("strongly_convex(f, mu)", "eta <= 1/mu"),
    ),
    # FALSE: left side 1/16 > right side 99/1600 at k=0 (1 client, 1 dimension, 1 round, eta=1/400, L=4, mu=4)
    claim(
        "dist-k",
        "norm2(x[k] - xstar) <= (1 - eta*mu)**(k+1)*norm2(x0 - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
    ),
    # TRUE: k=0: 1/(1-..)>=1; if eta*mu=1, k=0: 0**-1 undefined
    claim(
        "dist-km",
        "norm2(x[k] - xstar) <= (1 - eta*mu)**(k-1)*norm2(x0 - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
    ),
    # TRUE: the step contracts by 1 - eta*mu, in each of k rounds
    claim(
        "dist-2k",
        "norm2(x[k] - xstar) <= (1 - eta*mu)**(2*k)*norm2(x0 - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
    ),
    # TRUE: the step is 1 - eta*h at a curvature h between mu and L
    claim(
        "dist-max",
        "norm2(x[k+1] - xstar) <= max((1 - eta*mu)**2,(1 - eta*L)**2)*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)"),
    ),
    # FALSE: left side 576 > right side 225 at k=0 (1 client, 1 dimension, 1 round, eta=1, L=2/5, mu=1/25)
    claim(
        "dist-min",
        "norm2(x[k+1] - xstar) <= min((1 - eta*mu)**2,(1 - eta*L)**2)*norm2(x[k] - xstar)",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 2/(L+mu)"),
    ),
    # TRUE: the textbook rate of gradient descent
    claim(
        "gap",
        "f(x[K]) - fstar <= norm2(x0 - xstar)/(2*eta*K)",
        of=gd,
        assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L"),
    ),
    # TRUE: the tight bound L*norm2/(4*K*L*eta + 2) is less than it
    claim(
        "gap4",
        "f(x[K]) - fstar <= norm2(x0 - xstar)/(4*eta*K)",
        of=gd,
        assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L"),
    ),
    # TRUE: the least is at most the mean, and the descent lemma telescopes
    claim(
        "avg", "min_k(norm2(grad(f,x[k]))) <= 2*(f(x0) - fstar)/(eta*K)", of=gd, assuming=("smooth(f, L)", "eta <= 1/L")
    ),
    # FALSE: eta=1/L quad: sum=|g0|^2 = 2L(f-f*) > L
    claim("avg2", "sum_k(norm2(grad(f,x[k]))) <= (f(x0) - fstar)/eta", of=gd, assuming=("smooth(f, L)", "eta <= 1/L")),
    # TRUE: k=0..K-1 of x[k+1]
    claim(
        "last",
        "sum_k(norm2(grad(f,x[k+1]))) <= 2*(f(x[1]) - fstar)/eta",
        of=gd,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    ),
    # TRUE: the one-step inequality of SGD
    claim(
        "sgd",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 2405485207/44168675328 > right side 86939/1597536 at k=0 (4 clients of 2 samples, 1
    # dimension, 1 round, eta=1/8, L=23/6, mu=43/48)
    claim(
        "sgd1",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 160001/2 > right side 159205/2 at k=0 (1 client of 2 samples, 1 dimension, 1 round, eta=1,
    # L=1, mu=1/2)
    claim(
        "sgd2",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/L"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 13577971079/356843520000 > right side 6756357077/178421760000 at k=0 (2 clients of 2
    # samples, 1 dimension, 1 round, eta=1/160000, L=40000, mu=20625)
    claim(
        "sgd3",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N**2",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 283/1822500000000 > right side 11/91125000000 at k=0 (1 client of 3 samples, 1 dimension, 1
    # round, eta=1/50000, L=22500, mu=22500)
    claim(
        "sgd4",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 507/8192 > right side 125/2048 at k=0 (2 clients of 2 samples, 1 dimension, 1 round,
    # eta=1/8, L=3, mu=1/4)
    claim(
        "sgd5",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # TRUE: the same with s2 of the other sign
    claim(
        "sgdneg",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) - 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "0 - mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 5/8 > right side 1/4 at k=0 (1 client of 2 samples, 1 dimension, 1 round, eta=1/2, L=1,
    # mu=1/2)
    claim(
        "sgdneg2",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "0 - mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # TRUE: the one-step inequality, unrolled
    claim(
        "sgdball",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*s2/(mu*N)",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # FALSE: left side 1.012490888e-10 > right side 8.099990888e-11 at k=5 (1 client of 2 samples, 1 dimension, 5
    # rounds, eta=9/2000000, L=1, mu=1/2)
    claim(
        "sgdball2",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta**2*(1 + (1 - eta*mu))*s2/N",
        of=sgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        where={"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
    ),
    # TRUE: the samples of different clients are independent
    claim(
        "var", "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/N", of=sgd, assuming=("bounded_variance(s2)",)
    ),
    # FALSE: left side 9/8 > right side 9/16 at k=0 (2 clients of 2 samples, 1 dimension, 1 round, eta=3, s2=1/4)
    claim(
        "var2",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/N**2",
        of=sgd,
        assuming=("bounded_variance(s2)",),
    ),
    # TRUE: and b of them divide the variance by b
    claim(
        "varb",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/(N*b)",
        of=batch,
        assuming=("bounded_variance(s2)",),
    ),
    # FALSE: left side 1/8 > right side 1/16 at k=0 (1 client of 2 samples, 1 dimension, 1 round, b=2, eta=1,
    # s2=1/4)
    claim(
        "varb2",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/(N*b**2)",
        of=batch,
        assuming=("bounded_variance(s2)",),
    ),
    # TRUE: (b + 1)/2 <= b, so that it is weaker than with b
    claim(
        "varb3",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2/(N*(b+1)/2)",
        of=batch,
        assuming=("bounded_variance(s2)",),
    ),
    # FALSE: one curvature, and a constant L that is larger by a hundredth: 1/10000 <= 1/10300
    claim(
        "nearly",
        "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)/10300",
        of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "mu >= 99/100*L", "eta == 1/L"),
    ),
    # FALSE: b=2: 0
    claim(
        "varb4",
        "E(norm2(x[k+1] - x[k] + eta*grad(f, x[k]))) <= eta**2*s2*(2-b)/N",
        of=batch,
        assuming=("bounded_variance(s2)", "b <= 2"),
    ),
)

PAPER = Paper("steps", "Steps of gradient descent and of its stochastic kin.", "a reader", CLAIMS)
