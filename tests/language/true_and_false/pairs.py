"""Vectors, weights and functions at points."""

from theory import Domain, Paper, claim

CLAIMS = (
    # TRUE: Jensen
    claim("w1", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", assuming=("sum_n(q_n) == 1",), vectors=("a_n",)),
    # TRUE: |sum|^2 <= (sum q)(sum q|a|^2)
    claim("w2", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", assuming=("sum_n(q_n) <= 1",), vectors=("a_n",)),
    # FALSE: left side 36 > right side 18 (q=[2], a_n=[[3]])
    claim("w3", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", assuming=("sum_n(q_n) <= 2",), vectors=("a_n",)),
    # FALSE: left side 625/2572816 > right side -25/1604 (q=[815/802, -1/1604, -25/1604], a_n=[[0], [0], [1]])
    claim(
        "w4",
        "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))",
        assuming=("sum_n(q_n) == 1",),
        vectors=("a_n",),
        parameters={"q": Domain(-5, 5)},
    ),
    # FALSE: left side 0 >= right side 0 (q=[1], a_n=[[0]])
    claim("w5", "norm2(sum_n(q_n*a_n)) < sum_n(q_n*norm2(a_n))", assuming=("sum_n(q_n) == 1",), vectors=("a_n",)),
    # FALSE: left side 17/64 > right side 9/64 (q=[3/8, 1/8, 1/2], a_n=[[0], [-1], [1]])
    claim("w6", "sum_n(q_n**2*norm2(a_n)) <= norm2(sum_n(q_n*a_n))", assuming=("sum_n(q_n) == 1",), vectors=("a_n",)),
    # TRUE: the left side is a weighted mean of the q_n
    claim("w7", "sum_n(q_n**2) <= max_n(q_n)", assuming=("sum_n(q_n) == 1",)),
    # FALSE: equal weights: 1/N = 1/N
    claim("w8", "sum_n(q_n**2) < max_n(q_n)", assuming=("sum_n(q_n) == 1",)),
    # FALSE: c<0
    claim(
        "y1",
        "norm2(u + v) <= (1 + c)*norm2(u) + (1 + 1/c)*norm2(v)",
        vectors=("u", "v"),
        parameters={"c": Domain(-3, 3)},
    ),
    # FALSE: left side 1 > right side 1/2 (c=2, u=[0], v=[1])
    claim("y2", "norm2(u + v) <= (1 + c)*norm2(u) + 1/c*norm2(v)", vectors=("u", "v")),
    # TRUE: twice the parallelogram law
    claim("y3", "norm2(u - v) <= 2*norm2(u) + 2*norm2(v)", vectors=("u", "v")),
    # TRUE: the triangle inequality, twice
    claim("y4", "norm(u + v) >= abs(norm(u) - norm(v))", vectors=("u", "v")),
    # FALSE: left side 0 >= right side 0 (u=[0], v=[0])
    claim("y5", "dot(u, v) < norm(u)*norm(v)", vectors=("u", "v")),
    # TRUE: the mean of strongly convex functions is strongly convex
    claim(
        "sc1",
        "f(y) >= f(x) + dot(grad(f,x), y - x) + mu/2*norm2(y - x)",
        assuming=("strongly_convex(f_n, mu)",),
        vectors=("x", "y"),
    ),
    # FALSE: left side 0 < right side 1/4 at n=1 (2 clients, 1 dimension, mu=1/2, L=1, x=[0], y=[1])
    claim(
        "sc2",
        "f_n(y) >= f_n(x) + dot(grad(f_n,x), y - x) + mu/2*norm2(y - x)",
        assuming=("strongly_convex(f, mu)", "smooth(f_n, L)"),
        vectors=("x", "y"),
    ),
    # FALSE: left side 1 >= right side 1 (1 client, 1 dimension, mu=1, L=1)
    claim("sc3", "mu < L", assuming=("strongly_convex(f, mu)", "smooth(f, L)")),
    # TRUE: |g|^2>=2mu(f-f*) and f-f*>=mu/2|.|^2: 2mu(f-f*) >= mu(f-f*)+mu^2/2 ok
    claim(
        "pl",
        "norm2(grad(f,x)) >= mu*(f(x) - fstar) + mu**2/2*norm2(x - xstar)",
        assuming=("strongly_convex(f, mu)",),
        vectors=("x",),
    ),
    # FALSE: left side 4 < right side 6 (1 client, 1 dimension, mu=3, x=[1])
    claim(
        "pl2",
        "norm2(grad(f,x)) >= 2*mu*(f(x) - fstar)",
        assuming=("strongly_convex(f_n, mu/2)", "convex(f)"),
        vectors=("x",),
    ),
    # VACUOUS: vacuous
    claim("con", "norm2(x) <= 0", assuming=("strongly_convex(f, mu)", "smooth(f, L)", "mu > L"), vectors=("x",)),
)

PAPER = Paper("pairs", "Vectors, weights and functions at points.", "a reader", CLAIMS)
