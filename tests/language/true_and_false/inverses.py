"""Inverses of differences, whose sign nobody says."""

from theory import Paper, claim

CLAIMS = (
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("inv-ge", "1/(1-a) >= 1/(1-b)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("inv-le", "1/(1-b) <= 1/(1-a)", assuming=("b <= a",)),
    # FALSE: a=3,b=1
    claim("inv-2", "1/(2-b) <= 1/(2-a)", assuming=("b <= a",)),
    # FALSE: a=3,b=1,c=2
    claim("inv-c", "1/(c-b) <= 1/(c-a)", assuming=("b <= a",)),
    # FALSE: left side -1 > right side -2 (a=2, b=2, K=1)
    claim("inv-3", "1/(1-b) <= 2/(1-a)", assuming=("b <= a",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i1", "1/(1-a) >= 1/(1-b)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i2", "1/(1-b) <= 1/(1-a)", assuming=("b < a",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i3", "a/(1-a) >= b/(1-b)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i4", "1/(1-a)**3 >= 1/(1-b)**3", assuming=("a >= b",)),
    # FALSE: left side -2 < right side 4 (c=3/4, a=2, b=1, K=1)
    claim("i5", "1/(1-a*c) >= 1/(1-b*c)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i6", "(1-b)*(1-a) >= 0", assuming=("a >= b",)),
    # FALSE: left side -1/9 <= right side 0 (a=10, b=5, K=1)
    claim("i7", "1/(1-a) > 0", assuming=("a >= b",)),
    # TRUE: the right side is the sum of the powers of b, and each power of a is at least that of b
    claim("i8", "sum_k(a**k) >= (1 - b**K)/(1 - b)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i9", "1/(a-1) <= 1/(b-1)", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i10", "1/(1-a) >= 1/(1-b)", assuming=("a == 2*b",)),
    # FALSE: a=2? -1/.5=-2<=1; a=3,b=2: -2/-1=2 false
    claim("i11", "(1-a)/(1-b) <= 1", assuming=("a >= b",)),
    # TRUE: b is an integer, at least 1; where it is 1 a side has no value, or is 0
    claim("i12", "1/(1-a) >= 1/(1-b)", assuming=("a >= b", "b <= 3")),
    # FALSE: left side -1 < right side 10/9 (eta=2, L=1, mu=1/20, K=1)
    claim("i13", "1/(1-eta*L) >= 1/(1-eta*mu)", assuming=("mu <= L",)),
    # FALSE: left side -1 < right side 5/4 (L=10, eta=1/5, mu=1, K=1)
    claim("i14", "1/(1-eta*L) >= 1/(1-eta*mu)", assuming=("mu <= L", "eta <= 2/L")),
)

PAPER = Paper("inverses", "Inverses of differences, whose sign nobody says.", "a reader", CLAIMS)
