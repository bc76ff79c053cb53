"""Indices and lengths of runs that are tied."""

from theory import Domain, Paper, algorithm, claim


@algorithm
def gds(w, x, *, eta):
    return x - eta * w.full_gradient(x)


CLAIMS = (
    # VACUOUS: k = 0 is a round of every run, and not at least 3
    claim("kas", "2**k >= k**2", assuming=("k >= 3",)),
    # VACUOUS: k = 0 is a round of every run, and not at least 3
    claim("kas-noproof", "2**k >= k**2", assuming=("k >= 3",)),
    # FALSE: 2**k grows, and 2**2 is 4
    claim("kas-le", "2**k <= 3", assuming=("k <= 2",)),
    # TRUE: 2**k grows, and 2**2 is 4
    claim("kas-le-kas", "2**k <= 4", assuming=("k <= 2",)),
    # FALSE: 8 >= 9 at K = 3
    claim("kdom", "2**K >= K**2", assuming=("K >= 3",)),
    # FALSE: left side 8 < right side 9 (H=3, K=1)
    claim("hdom", "2**H >= H**2", parameters={"H": Domain(3, None, integer=True)}),
    # TRUE: k goes up to K
    claim("K", "K <= 2", assuming=("k <= 2",)),
    # FALSE: false K=2
    claim("Kp1", "K + 1 <= 2", assuming=("k <= 2",)),
    # FALSE: left side 2 > right side 1 (K=2)
    claim("K1", "K <= 1", assuming=("k <= 2",)),
    # TRUE: a sum of K numbers that are at most 1
    claim("eta", "sum_k(eta_k) <= K", assuming=("eta_k <= 1",)),
    # FALSE: a sum of K numbers that are at most 1
    claim("eta-reach", "sum_k(eta_k) <= K - 1", assuming=("eta_k <= 1",)),
    # FALSE: the descent lemma, as each step is at most 1/L
    claim(
        "sch",
        "f(x[k+1]) <= f(x[k]) - eta_k/2*norm2(grad(f,x[k]))",
        of=gds,
        assuming=("smooth(f, L)", "eta_k*(k+1) <= 2/L"),
    ),
    # TRUE: the descent lemma, as each step is at most 1/L
    claim(
        "sch-reach",
        "f(x[k+1]) <= f(x[k]) - eta_k/2*norm2(grad(f,x[k]))",
        of=gds,
        assuming=("smooth(f, L)", "eta_k <= 1/(L*(k+1))"),
    ),
    # FALSE: k=1: eta = 2/L
    claim(
        "sch2",
        "f(x[k+1]) <= f(x[k]) - eta_k/2*norm2(grad(f,x[k]))",
        of=gds,
        assuming=("smooth(f, L)", "eta_k <= (k+1)/L"),
    ),
    # FALSE: K=1 true; K=2: x^2/2, eta=1: f=0 vs 1/2-1 <0 false
    claim(
        "sch3",
        "f(x[K]) <= f(x0) - sum_k(eta_k)/2*norm2(grad(f,x0))",
        of=gds,
        assuming=("smooth(f, L)", "convex(f)", "eta_k <= 1/L"),
    ),
    # TRUE: gradient steps of length at most 2/L are nonexpansive
    claim(
        "sch4",
        "norm2(x[k] - xstar) <= norm2(x0 - xstar)",
        of=gds,
        assuming=("smooth(f, L)", "convex(f)", "eta_k <= 2/L"),
    ),
    # FALSE: nonconvex: negative curvature grows
    claim("mono", "norm2(grad(f,x[k+1])) <= norm2(grad(f,x[k]))", of=gds, assuming=("smooth(f, L)", "eta <= 1/L")),
)

PAPER = Paper("counted", "Indices and lengths of runs that are tied.", "a reader", CLAIMS)
