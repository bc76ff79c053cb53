"""Numbers alone: false for large integers only, or by little."""

from theory import Paper, claim

CLAIMS = (
    # FALSE for K > 1.6 million: (1 + 1/K)**K grows to e = 2.71828182... True up to there.
    claim("e-limit", "(1 + 1/K)**K <= 2.718281"),
    # TRUE because (1 + 1/K)**K < e < 2.7182819.
    claim("e-limit-right", "(1 + 1/K)**K <= 2.7182819"),
    # FALSE for K >= e**20 = 4.9e8.
    claim("logarithm", "log(K) <= 20"),
    # FALSE for H > 10**9, which is no number of terms.
    claim("count", "H/(H + 1) <= 1 - 1/10**9"),
    # FALSE from K = 9622 on, by less than 1e-9, as Euler's constant is 0.5772156649... True up to there.
    claim("harmonic-late", "sum_k(1/(k + 1)) <= log(K) + 0.577215664 + 1/(2*K)"),
    # TRUE because H_K < log(K) + gamma + 1/(2*K).
    claim("harmonic-right", "sum_k(1/(k + 1)) <= log(K) + 0.57721567 + 1/(2*K)"),
)
PAPER = Paper("beyond", "Beyond", "a reader", CLAIMS)
