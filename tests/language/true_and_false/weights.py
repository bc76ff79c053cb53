"""Vectors and weights."""

from theory import Paper, claim

AN = ("a_n",)
ONE = ("sum_n(q_n) == 1",)

CLAIMS = (
    # TRUE because of Cauchy and Schwarz.
    claim("sum", "norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n))", vectors=AN),
    # FALSE because N is lost: two equal vectors, 4 <= 2. True for N = 1.
    claim("sum-lost", "norm2(sum_n(a_n)) <= sum_n(norm2(a_n))", vectors=AN),
    # TRUE because it is the variance.
    claim(
        "variance",
        "mean_n(norm2(a_n - abar)) == mean_n(norm2(a_n)) - norm2(abar)",
        vectors=AN,
        where={"abar": "mean_n(a_n)"},
    ),
    # TRUE because the norm's square is convex and the weights add up to 1.
    claim("weighted", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", vectors=AN, assuming=ONE),
    # FALSE because the weights need not add up to 1: N = 1, q = 2: 4 <= 2.
    claim("weighted-anyhow", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", vectors=AN),
    # FALSE because of q = (9/10, 1/10), a = (1, 0): 81/100 <= 1/2. True for equal weights.
    claim("weighted-mean", "norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))", vectors=AN, assuming=ONE),
    # TRUE because sum q|a|^2 <= max q * sum |a|^2.
    claim("weighted-largest", "norm2(sum_n(q_n*a_n)) <= N*max_n(q_n)*mean_n(norm2(a_n))", vectors=AN, assuming=ONE),
    # TRUE because 0 <= |c a - b|^2/(2c).
    claim("young", "dot(a, b) <= c/2*norm2(a) + norm2(b)/(2*c)", vectors=("a", "b")),
    # FALSE because 4*c*1/(8c) = 1/2 < 1: a = 1, b = sqrt(8) c.
    claim("young-cheap", "dot(a, b) <= c*norm2(a) + norm2(b)/(8*c)", vectors=("a", "b")),
    # FALSE because (1 + s, 1 + 1/s) cannot be (2, 1): a - b = b - c = 1: 4 <= 3.
    claim("triangle", "norm2(a - c) <= 2*norm2(a - b) + norm2(b - c)", vectors=("a", "b", "c")),
    # FALSE only for N >= 25 and d >= 25: all a_n equal to the vector of ones: min(N, d) <= 24.
    claim("fewer-of-both", "norm2(mean_n(a_n))*min(N, d) <= 24*mean_n(norm2(a_n))", vectors=AN),
    # FALSE only for d >= 3: the corners of a simplex; of four vectors in the plane two are within 90 degrees.
    claim(
        "four-obtuse",
        "max(dot(a, b), dot(b, c), dot(a, c), dot(a, e), dot(b, e), dot(c, e)) >= 0",
        vectors=("a", "b", "c", "e"),
    ),
    # FALSE only for d >= 4: the corners of a simplex.
    claim(
        "five-obtuse",
        "max(max(dot(a, b), dot(b, c), dot(a, c), dot(a, e), dot(b, e)), "
        "max(dot(c, e), dot(a, g), dot(b, g), dot(c, g), dot(e, g))) >= 0",
        vectors=("a", "b", "c", "e", "g"),
    ),
    # FALSE only close to a = 2 b/3 = e.
    claim("thin-line", "norm2(a - 2*b/3) + norm2(a - e) >= norm2(b)/10**6", vectors=("a", "b", "e")),
    # TRUE because norm2(u - v) <= 2*norm2(u) + 2*norm2(v).
    claim("no-line", "norm2(a - 2*b/3) + norm2(a - e) >= norm2(e - 2*b/3)/2", vectors=("a", "b", "e")),
)
PAPER = Paper("weights", "Vectors", "a reader", CLAIMS)
