"""Vectors and weights."""

from theory import Paper, claim

AN = ("a_n",)
ONE = ("sum_n(q_n) == 1",)
# TRUE because of Cauchy and Schwarz.
C1 = claim("sum", "norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n))", vectors=AN)
# FALSE because N is lost: two equal vectors, 4 <= 2. True for N = 1.
C2 = claim("sum-lost", "norm2(sum_n(a_n)) <= sum_n(norm2(a_n))", vectors=AN)
# TRUE because it is the variance.
C3 = claim(
    "variance",
    "mean_n(norm2(a_n - abar)) == mean_n(norm2(a_n)) - norm2(abar)",
    vectors=AN,
    where={"abar": "mean_n(a_n)"},
)
# TRUE because the norm's square is convex and the weights add up to 1.
C4 = claim("weighted", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", vectors=AN, assuming=ONE)
# FALSE because the weights need not add up to 1: N = 1, q = 2: 4 <= 2.
C5 = claim("weighted-anyhow", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", vectors=AN)
# FALSE because of q = (9/10, 1/10), a = (1, 0): 81/100 <= 1/2. True for equal weights.
C6 = claim("weighted-mean", "norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))", vectors=AN, assuming=ONE)
# TRUE because sum q|a|^2 <= max q * sum |a|^2.
C7 = claim("weighted-largest", "norm2(sum_n(q_n*a_n)) <= N*max_n(q_n)*mean_n(norm2(a_n))", vectors=AN, assuming=ONE)
# TRUE because 0 <= |c a - b|^2/(2c).
C8 = claim("young", "dot(a, b) <= c/2*norm2(a) + norm2(b)/(2*c)", vectors=("a", "b"))
# FALSE because 4*c*1/(8c) = 1/2 < 1: a = 1, b = sqrt(8) c.
C9 = claim("young-cheap", "dot(a, b) <= c*norm2(a) + norm2(b)/(8*c)", vectors=("a", "b"))
# FALSE because (1 + s, 1 + 1/s) cannot be (2, 1): a - b = b - c = 1: 4 <= 3.
C10 = claim("triangle", "norm2(a - c) <= 2*norm2(a - b) + norm2(b - c)", vectors=("a", "b", "c"))
PAPER = Paper("weights", "Vectors", "a reader", (C1, C2, C3, C4, C5, C6, C7, C8, C9, C10))
