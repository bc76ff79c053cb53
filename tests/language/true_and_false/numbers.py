"""Numbers and sums."""

from theory import Paper, claim

CLAIMS = (
    # TRUE because H_K <= 1 + log K.
    claim("harmonic", "sum_k(1/(k + 1)) <= 1 + log(K)"),
    # FALSE because H_31 = 4.027. True for K <= 30.
    claim("harmonic-bounded", "sum_k(1/(k + 1)) <= 4"),
    # TRUE because 1/(k+1)^2 <= 1/k - 1/(k+1).
    claim("basel", "sum_k(1/(k + 1)**2) <= 2 - 1/K"),
    # FALSE because of K = 8: 1.527 <= 1.5125. True for K <= 7.
    claim("basel-late", "sum_k(1/(k + 1)**2) <= 3/2 + 1/(10*K)"),
    # TRUE because (1 - a)^K (1 + a)^K <= 1 and Bernoulli.
    claim("bernoulli", "(1 - a)**K <= 1/(1 + a*K)", assuming=("a <= 1",)),
    # FALSE because a K may be large: a = 1/2, K = 5: 1/32 <= -1/4. True for a K <= 1.
    claim("half-linear", "(1 - a)**K <= 1 - a*K/2", assuming=("a <= 1",)),
    # TRUE because (1-a)^K <= exp(-aK) <= 1 - aK/2 for aK <= 1.
    claim("half-linear-short", "(1 - a)**K <= 1 - a*K/2", assuming=("a*K <= 1",)),
    # FALSE because of a = 3, K = 2: 4 <= exp(-6). True for a <= 1.
    claim("exponential-any", "(1 - a)**K <= exp(-a*K)"),
    # TRUE because the infinite series is q/(1-q)^2.
    claim("weighted-geometric", "sum_k(k*q**k) <= q/(1 - q)**2", assuming=("q < 1",)),
    # FALSE because of q = 1/4, K = 3: 3/8 <= 1/3. True for K <= 2.
    claim("weighted-geometric-lost", "sum_k(k*q**k) <= q/(1 - q)", assuming=("q < 1",)),
    # VACUOUS because of u*v <= (u + v)^2/4 <= 1/4.
    claim("product", "u <= v", assuming=("u*v >= 1", "u + v <= 1")),
    # FALSE at a = 617/500 only, by strictness.
    claim("one-point", "(a - 617/500)**2 > 0"),
    # FALSE only within 1/10000 of a = 617/500.
    claim("thin", "(a - 617/500)**2 >= 1/10**8"),
    # FALSE because of N = 97 only.
    claim("one-size", "(N - 97)**2*sum_n(q_n) >= 1/1000*sum_n(q_n)"),
    # FALSE because 9^3 + 10^3 = 12^3 + 1, and of what is like it.
    claim("cubes", "abs(m**3 + b**3 - H**3 - 1) >= 1 - max(0, 2 - abs(m - 1)) - max(0, 2 - abs(b - 1))"),
    # TRUE because a square is not negative.
    claim("square", "(a - 617/500)**2 >= 0"),
)
PAPER = Paper("numbers", "Numbers", "a reader", CLAIMS)
