"""Sums, powers, logarithms and extremes of numbers."""

from theory import Domain, Paper, claim

CLAIMS = (
    # FALSE: K=1: 1 vs 0
    claim("geo-last", "sum_k(q**k) == (1 - q**(K-1))/(1 - q)", assuming=("q < 1",)),
    # TRUE: identity for all q!=1
    claim("geo-big", "sum_k(q**k) == (1 - q**K)/(1 - q)", assuming=("q > 1",)),
    # TRUE: q=1 undefined, says nothing -> true
    claim("geo-noassume", "sum_k(q**k) == (1 - q**K)/(1 - q)"),
    # TRUE: q>0 -> strict
    claim("geo-lt", "sum_k(q**k) < 1/(1 - q)", assuming=("q < 1",)),
    # FALSE: q=0 : 1<1 false if 0 in domain
    claim("geo-lt0", "sum_k(q**k) < 1/(1 - q)", assuming=("q < 1",), parameters={"q": Domain(0, 1)}),
    # FALSE: q=2: negative rhs
    claim("geo-le-noq", "sum_k(q**k) <= 1/(1 - q)"),
    # TRUE: K terms, each at most 1
    claim("geo-half", "sum_k(q**k) <= K", assuming=("q <= 1",)),
    # FALSE: K=1: 1<1
    claim("geo-half-s", "sum_k(q**k) < K", assuming=("q < 1",)),
    # TRUE: the series of k*q**k has this sum
    claim("geo-k", "sum_k(k*q**k) <= q/(1 - q)**2", assuming=("q < 1",)),
    # FALSE: sum = q/(1-q)^2 in limit > q/(1-q); q=.5: 2 vs 1
    claim("geo-k2", "sum_k(k*q**k) <= q/(1 - q)", assuming=("q < 1",)),
    # TRUE: 1/sqrt(k + 1) is at most 2*sqrt(k + 1) - 2*sqrt(k)
    claim("harm-sqrt", "sum_k(1/sqrt(k+1)) <= 2*sqrt(K)"),
    # TRUE: known: <= 2sqrt K -1, equality K=1
    claim("harm-sqrt1", "sum_k(1/sqrt(k+1)) <= 2*sqrt(K) - 1"),
    # FALSE: eq. K=1
    claim("harm-sqrt1s", "sum_k(1/sqrt(k+1)) < 2*sqrt(K) - 1"),
    # FALSE: K=1: 1<=0
    claim("harm-log", "sum_k(1/(k+1)) <= log(K)"),
    # TRUE: 1/(k + 1) is at most log(k + 1) - log(k) for k >= 1
    claim("harm-log1", "sum_k(1/(k+1)) <= 1 + log(K)"),
    # FALSE: K=1 equal
    claim("harm-log1s", "sum_k(1/(k+1)) < 1 + log(K)"),
    # TRUE: 1/(k + 1) is at least log(k + 2) - log(k + 1)
    claim("harm-lower", "sum_k(1/(k+1)) >= log(K + 1)"),
    # FALSE: gamma=.577 <.667 for K large: K=6: 2.45 vs 2.458 ; false
    claim("harm-lower2", "sum_k(1/(k+1)) >= log(K) + 2/3"),
    # TRUE: Bernoulli
    claim("bern-neg", "(1 + a)**K >= 1 + K*a"),
    # TRUE: Bernoulli
    claim("bern-m", "(1 - a)**K >= 1 - K*a", assuming=("a <= 1",)),
    # FALSE: true for a<=2(x>=-1) indeed for x>=-2; a=4: (-3)^3=-27 >= 1-12=-11 false
    claim("bern-m2", "(1 - a)**K >= 1 - K*a", assuming=("a <= 4",)),
    # TRUE: -a>=-2 Bernoulli for integers holds
    claim("bern-m3", "(1 - a)**K >= 1 - K*a", assuming=("a <= 2",)),
    # FALSE: convex -> >=
    claim("bern-inv", "(1 + a)**(-K) <= 1 - K*a"),
    # TRUE: (1 + a)**(-K) is at least (1 - a)**K where a <= 1, and else the right side is at most 0
    claim("bern-inv2", "(1 + a)**(-K) >= 1 - K*a"),
    # TRUE: (1 - a)**(K - 1) is at least 1 - (K - 1)*a
    claim("bern-pow", "(1 - a)**(K-1) >= 1 - K*a", assuming=("a <= 1",)),
    # FALSE: K=1: (1-a)^2>=1-a false
    claim("bern-pow2", "(1 - a)**(K+1) >= 1 - K*a", assuming=("a <= 1",)),
    # TRUE: 1 - a is at most exp(-a)
    claim("exp1", "(1 - a)**K <= exp(-a*K)", assuming=("a <= 1",)),
    # FALSE: a=4,K=2: 9 <= e^-8 false
    claim("exp2", "(1 - a)**K <= exp(-a*K)", assuming=("a <= 4",)),
    # FALSE: k=0: 1<=e^-a
    claim("exp3", "(1 - a)**k <= exp(-a*(k+1))", assuming=("a <= 1",)),
    # FALSE: fails k=2: 4<=3
    claim("ind2", "2**k <= k + 1"),
    # TRUE: Bernoulli
    claim("ind2b", "2**k >= k + 1"),
    # FALSE: fails only at k=3: 8<9
    claim("ind2c", "2**k >= k**2"),
    # FALSE: k=0:1<=1,1:2<=2,2:4<=5,3:8<=10,4:16<=17,5: 32<=26 false
    claim("ind2d", "2**k <= k**2 + 1"),
    # TRUE: by induction
    claim("sqk", "sum_k(k) == K*(K - 1)/2"),
    # FALSE: left side 0 != right side 1 (K=1)
    claim("sqk2", "sum_k(k) == K*(K + 1)/2"),
    # TRUE: by induction
    claim("sqk3", "sum_k(k**2) == (K-1)*K*(2*K-1)/6"),
    # TRUE: both are (K*(K - 1)/2)**2
    claim("sqk4", "sum_k(k**3) == sum_k(k)**2"),
    # FALSE: left side 17 != right side 9 (K=3)
    claim("sqk5", "sum_k(k**4) == sum_k(k)**2"),
    # TRUE: one is a, the other b
    claim("maxmin", "max(a, b) + min(a, b) == a + b"),
    # FALSE: left side 3 > right side 1 (a=1, b=3, K=1)
    claim("maxmin2", "max(a, b)*min(a, b) <= a*b - abs(a-b)"),
    # FALSE: a,b big
    claim("maxmin3", "max(1 - a, 1 - b) <= 1 - a*b"),
    # TRUE: a*b is at most a and at most b
    claim("maxmin4", "max(1 - a, 1 - b) <= 1 - a*b", assuming=("a <= 1", "b <= 1")),
    # FALSE: a=b=4,K=2: 9<=-3
    claim("maxmin5", "max(1-a,1-b)**K <= 1 - min(a,b)", assuming=("a<=4", "b<=4")),
    # TRUE: (sqrt(a) - sqrt(b))**2 is at least 0
    claim("amgm", "sqrt(a*b) <= (a+b)/2"),
    # TRUE: (a - b)**2 is at least 0
    claim("amgmr", "a*b/(a+b) <= (a+b)/4"),
    # FALSE: a=b
    claim("amgms", "a*b/(a+b) < (a+b)/4"),
    # TRUE: inverses of positive numbers turn their order round
    claim("inv", "1/a <= 1/b", assuming=("b <= a",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("inv2", "1/(1-a) >= 1/(1-b)", assuming=("a >= b",)),
    # FALSE: a=-3,b=-1: 3<=1
    claim("inv3", "a/b <= 1", assuming=("a <= b",), parameters={"a": Domain(-3, 3), "b": Domain(-3, 3)}),
    # FALSE: left side 3 != right side -3 (a=-3, K=1)
    claim("sqrtab", "sqrt(a**2) == a", parameters={"a": Domain(-3, 3)}),
    # TRUE: a is positive
    claim("sqrtab2", "sqrt(a**2) == a"),
    # VACUOUS: vacuous
    claim("contra", "a <= 0 - 1", assuming=("a*b <= 1", "a >= 2", "b >= 1")),
    # TRUE: the terms are 1/(k + 1) - 1/(k + 2)
    claim("tele", "sum_k(1/((k+1)*(k+2))) == 1 - 1/(K+1)"),
    # FALSE: left side 1/2 != right side 0 (K=1)
    claim("tele2", "sum_k(1/((k+1)*(k+2))) == 1 - 1/K"),
    # TRUE: every term is 0
    claim("tele3", "sum_k(eta_k - eta_k) <= 0"),
    # TRUE: Cauchy-Schwarz
    claim("sched", "sum_k(eta_k)**2 <= K*sum_k(eta_k**2)"),
    # FALSE: left side 1 > right side 0 (eta=[1], K=1)
    claim("sched2", "sum_k(eta_k)**2 <= (K-1)*sum_k(eta_k**2)"),
    # TRUE: Jensen
    claim("clients", "mean_n(p_n)**2 <= mean_n(p_n**2)"),
    # TRUE: the arithmetic mean is at least the harmonic one
    claim("clients2", "mean_n(p_n)*mean_n(1/p_n) >= 1"),
    # FALSE: N=1
    claim("clients3", "mean_n(p_n)*mean_n(1/p_n) > 1"),
    # FALSE: N=1
    claim("clients4", "mean_n(p_n) < sum_n(p_n)"),
    # FALSE: left side 1 > right side 1/2 (N=2, p=[1, 1], K=1)
    claim("clients5", "mean_n(p_n)**2 <= mean_n(p_n**2)/N"),
    # TRUE: products of positive numbers are positive
    claim("clients6", "sum_n(p_n)**2 >= sum_n(p_n**2)"),
    # FALSE: left side 1 < right side 5 (N=7, p=[-2, 0 5 times, 1], K=1)
    claim("clients7", "sum_n(p_n)**2 >= sum_n(p_n**2)", parameters={"p": Domain(-2, 2)}),
    # TRUE: a sum of positive numbers is at least each of them
    claim("clients8", "max_n(p_n) <= mean_n(p_n)*N"),
    # FALSE: N=2: .  max <= .75*sum false
    claim("clients9", "max_n(p_n) <= mean_n(p_n)*(N+1)/2"),
    # FALSE: p=(1,.1,.1..) mean small: p=(1,.1 x9): .1 <= .19^2=.036 false
    claim("minmax", "min_n(p_n)*max_n(p_n) <= mean_n(p_n)**2"),
)

PAPER = Paper("sums", "Sums, powers, logarithms and extremes of numbers.", "a reader", CLAIMS)
