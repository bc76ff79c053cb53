"""Some of the clients, uniformly: what it costs in one round."""

from theory import Paper, algorithm, claim


@algorithm
def cohort(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def lottery(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S, replace=True))


@algorithm
def both(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x, w.sample()), w.choose(S))


LEFT = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
W = {"Z": "mean_n(norm2(grad(f_n, x0) - grad(f, x0)))", "V": "mean_n(mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0))))"}

CLAIMS = (
    # TRUE because it is the variance of the mean of a simple random sample of a finite population (N = 1: undefined, says nothing).
    claim("finite", f"{LEFT} == eta**2*(N - S)/(S*(N - 1))*Z", of=cohort, where={"Z": W["Z"]}),
    # FALSE because N/(N-1) is lost: N = 2, S = 1, gradients 1 and -1: 1 <= 1/2.
    claim("finite-lost", f"{LEFT} <= eta**2*(1 - S/N)/S*Z", of=cohort, where={"Z": W["Z"]}),
    # TRUE because draws with replacement are independent.
    claim("replaced", f"{LEFT} == eta**2/S*Z", of=lottery, where={"Z": W["Z"]}),
    # FALSE because the finite population factor belongs to draws without replacement: N = S = 2: 1/2 Z <= 0. True for S = 1.
    claim("replaced-finite", f"{LEFT} <= eta**2*(N - S)/(S*(N - 1))*Z", of=lottery, where={"Z": W["Z"]}),
    # TRUE because given the cohort the samples are independent, mean variance V/S.
    claim("two-sources", f"{LEFT} == eta**2*((N - S)/(S*(N - 1))*Z + V/S)", of=both, where=W),
    # FALSE because S samples are averaged and not N: S = 1, N = 2, no spread of the clients, V > 0.
    claim("two-sources-all", f"{LEFT} <= eta**2*((N - S)/(S*(N - 1))*Z + V/N)", of=both, where=W),
    # VACUOUS because no S clients can be chosen without replacement.
    claim("crowd", f"{LEFT} <= eta**2/S*Z", of=cohort, where={"Z": W["Z"]}, assuming=("S >= N + 1",)),
)
PAPER = Paper("cohort", "Cohorts", "a reader", CLAIMS)
