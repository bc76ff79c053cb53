"""Quantiles: they jump where their level is a chance, and hardly anything is tight elsewhere."""

from theory import Paper, algorithm, claim


@algorithm
def cohort(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


MARKOV = "quantile(norm2(x[1] - xstar), 1 - p) <= E(norm2(x[1] - xstar))/{}"

CLAIMS = (
    # FALSE by a hundredth, with p just below 1 and everybody chosen: nothing is random there. True for p <= 100/101.
    claim("markov-sharper", MARKOV.format("(1.01*p)"), of=cohort, assuming=("smooth(f_n, L)", "p < 1")),
    # TRUE because of Markov's inequality.
    claim("markov", MARKOV.format("p"), of=cohort, assuming=("smooth(f_n, L)", "p < 1")),
)
PAPER = Paper("quantiles", "Quantiles", "a reader", CLAIMS)
