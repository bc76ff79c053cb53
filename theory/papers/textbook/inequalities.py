"""Inequalities and identities of a Hilbert space, and the variances of sampling."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from theory.claim import Given, Hypothesis, Parameter, Quantity, Step, VectorLine, VectorSentence
from theory.domain import COUNT, NONNEGATIVE, PROBABILITY, REAL, Domain
from theory.inequality.vectors import Condition, Form, Space, Vector, combination, expectation, inner, mean, square
from theory.papers.textbook.words import (
    BAUSCHKE,
    PARTICIPATION,
    RESHUFFLING,
    SCAFFOLD,
    UNBIASED,
    N,
    Values,
    a2,
    b2,
    delta,
    result,
    sigma2,
    t,
)

Built = tuple[Space, Condition, list[Condition]]
UNIT = Domain(0, 1)
SCALES = ({"t": "1/10"}, {"t": "1"}, {"t": "7/3"})
ALL_T = "these t; every t > 0 by the sum of squares in the proof's line"


def _two() -> tuple[Space, Vector, Vector]:
    space = Space(("a", "b"))
    return space, *space.vectors_of()  # type: ignore[return-value]  # two of them


def young(values: Values) -> Built:
    """<a,b> <= t/2 |a|^2 + |b|^2/(2t)."""
    space, a, b = _two()
    scale = values["t"]
    return space, inner(a, b) <= scale / 2 * square(a) + square(b) / (2 * scale), []


def relaxed_triangle(values: Values) -> Built:
    """|a+b|^2 <= (1+t) |a|^2 + (1+1/t) |b|^2."""
    space, a, b = _two()
    scale = values["t"]
    return space, square(a + b) <= (1 + scale) * square(a) + (1 + 1 / scale) * square(b), []


def convex_combination(values: Values) -> Built:
    """|w a + (1-w) b|^2 = w |a|^2 + (1-w) |b|^2 - w (1-w) |a-b|^2."""
    space, a, b = _two()
    w = values["weight"]
    right = w * square(a) + (1 - w) * square(b) - w * (1 - w) * square(a - b)
    return space, square(w * a + (1 - w) * b).equals(right), []


def _outcomes(values: Values) -> tuple[Space, list[Fraction], list[Vector]]:
    """Three outcomes a, b, c with probabilities p1, p2, 1-p1-p2, and a further vector z."""
    space = Space(("a", "b", "c", "z"))
    p1, p2 = values["p1"], values["p2"]
    return space, [p1, p2, 1 - p1 - p2], [space.vector(name) for name in "abc"]


def jensen(values: Values) -> Built:
    """|E X|^2 <= E |X|^2."""
    space, chances, outcomes = _outcomes(values)
    return space, square(mean(chances, outcomes)) <= expectation(chances, [square(x) for x in outcomes]), []


def jensen_sum(values: Values) -> Built:
    """|a+b+c|^2 <= 3 (|a|^2 + |b|^2 + |c|^2)."""
    space = Space(("a", "b", "c"))
    a, b, c = space.vectors_of()
    return space, square(a + b + c) <= 3 * (square(a) + square(b) + square(c)), []


def variance_decomposition(values: Values) -> Built:
    """E |X-z|^2 = |E X - z|^2 + E |X - E X|^2."""
    space, chances, outcomes = _outcomes(values)
    centre, z = mean(chances, outcomes), space.vector("z")
    left = expectation(chances, [square(x - z) for x in outcomes])
    return space, left.equals(square(centre - z) + expectation(chances, [square(x - centre) for x in outcomes])), []


def batch_variance(values: Values) -> Built:
    """E |(X_1+...+X_N)/N - E X|^2 = E |X - E X|^2/N for N independent copies: all tuples of outcomes."""
    space, chances, outcomes = _outcomes(values)
    size, centre = int(values["N"]), mean(chances, outcomes)
    left = Form(space)
    for drawn in product(range(3), repeat=size):
        probability = Fraction(1)
        for i in drawn:
            probability *= chances[i]
        average = combination([Fraction(1, size)] * size, [outcomes[i] for i in drawn])
        left = left + probability * square(average - centre)
    return space, left.equals(expectation(chances, [square(x - centre) for x in outcomes]) / size), []


def participation(values: Values) -> Built:
    """E |sum_n (1_n/p_n - 1) a_n|^2 = sum_n (1/p_n - 1) |a_n|^2 for three independent 1_n: all eight outcomes."""
    space = Space(("a1", "a2", "a3"))
    chances = [values["p1"], values["p2"], values["p3"]]
    left = Form(space)
    for present in product((0, 1), repeat=3):
        probability = Fraction(1)
        for p, here in zip(chances, present, strict=True):
            probability *= p if here else 1 - p
        weights = [here / p - 1 for p, here in zip(chances, present, strict=True)]
        left = left + probability * square(combination(weights, space.vectors_of()))
    right = sum([(1 / p - 1) * square(a) for p, a in zip(chances, space.vectors_of(), strict=True)], Form(space))
    return space, left.equals(right), []


def bregman(values: Values) -> Built:
    """D(z,x) + D(x,y) - D(z,y) = <grad f(y) - grad f(x), z - x>, D(u,v) = f(u) - f(v) - <grad f(v), u-v>."""
    space = Space(("x", "y", "z", "gx", "gy"), ("fx", "fy", "fz"))
    x, y, z, gx, gy = space.vectors_of()
    f, e, d = (space.value(name) for name in space.values)
    left = (d - f - inner(gx, z - x)) + (f - e - inner(gy, x - y)) - (d - e - inner(gy, z - y))
    return space, left.equals(inner(gy - gx, z - x)), []


INNER_PRODUCT = Quantity("inner_product", "<a, b>", r"\langle a,b\rangle")
SUM_SQUARED = Quantity("sum_squared", "||a+b||^2", r"\Vert a+b\Vert^2")
THREE_SQUARED = Quantity("three_squared", "||a+b+c||^2", r"\Vert a+b+c\Vert^2")
MEAN_SQUARED = Quantity("mean_squared", "||E X||^2", r"\Vert\mathbb{E}X\Vert^2")
MIXTURE_SQUARED = Quantity("mixture_squared", "||w a + (1-w) b||^2", r"\Vert wa+(1-w)b\Vert^2")
ABOUT_A_POINT = Quantity("about_a_point", "E||X - z||^2", r"\mathbb{E}\Vert X-z\Vert^2")
NEXT_VARIANCE = Quantity(
    "next_variance", "E||x_1 - E x_1||^2 after one step", r"\mathbb{E}\Vert x_1-\mathbb{E}x_1\Vert^2"
)
DIVERGENCES = Quantity("divergences", "D(z,x) + D(x,y) - D(z,y)", "D(z,x)+D(x,y)-D(z,y)")
SUBSET_VARIANCE = Quantity(
    "subset_variance", "E||mean of the chosen - mean of all||^2", r"\mathbb{E}\Vert\overline{X}_S-\overline{X}\Vert^2"
)
PREFIX_SUM = Quantity(
    "prefix_sum",
    "sum over j=1..n-1 of E||sum of the first j of (X_i - mean) in random order||^2",
    r"\sum_{j=1}^{n-1}\mathbb{E}\Vert\sum_{i=1}^{j}(X_{\pi(i)}-\overline{X})\Vert^2",
)

weight = Parameter("weight", UNIT, "weight w of a")
ab2 = Parameter("ab2", NONNEGATIVE, "||a-b||^2")
sum_squares = Parameter("sum_squares", NONNEGATIVE, "||a||^2 + ||b||^2 + ||c||^2")
second_moment = Parameter("second_moment", NONNEGATIVE, "E||X||^2")
mean_distance2 = Parameter("mean_distance2", NONNEGATIVE, "||E X - z||^2")
size = Parameter("size", COUNT, "S, how many are chosen")
count = Parameter("count", Domain(2, None, integer=True), "n, how many there are")
p1 = Parameter("p1", PROBABILITY, "first probability")
p2 = Parameter("p2", PROBABILITY, "second probability")
weighted_squares = Parameter("weighted_squares", NONNEGATIVE, "sum over n of (1/p_n - 1) ||grad f_n(x_0)||^2")
product_of_three = Parameter("product_of_three", REAL, "<grad f(y) - grad f(x), z - x>")
spread = Parameter("spread", NONNEGATIVE, "mean over n of ||grad f_n(x_0) - grad f(x_0)||^2")

MEAN = Hypothesis("mean", "X is a random vector with E||X||^2 < inf, and E X its mean")
CONSTANT = Hypothesis("constant", "z is not random")

CHANCES = ({"p1": "1/3", "p2": "1/3"}, {"p1": "1/2", "p2": "1/7"}, {"p1": "99/100", "p2": "1/200"})

CLAIMS = (
    result(
        "young",
        "Young's inequality with a parameter",
        "<a,b> <= t/2 ||a||^2 + ||b||^2/(2t) for every t > 0.",
        INNER_PRODUCT.latex + r"\leq\frac{t}{2}\Vert a\Vert^2+\frac{1}{2t}\Vert b\Vert^2",
        INNER_PRODUCT,
        "Hardy, Littlewood, Polya, Inequalities (1952), section 4.8",
        parameters=(t, a2, b2),
        relation="<=",
        right="t/2*a2 + b2/(2*t)",
        vectors=VectorLine(young, SCALES, ALL_T),
        steps=(
            Step(
                "sum of squares",
                r"\frac{t}{2}\Vert a\Vert^2+\frac{1}{2t}\Vert b\Vert^2-\langle a,b\rangle",
                "=",
                r"\frac{1}{2t}\Vert ta-b\Vert^2",
                "identity",
                identity=("t/2*a2 + b2/(2*t) - ab", "(t**2*a2 - 2*t*ab + b2)/(2*t)"),
            ),
        ),
        sentence=VectorSentence(
            ("a", "b"), {"inner_product": "dot(a, b)", "a2": "norm2(a)", "b2": "norm2(b)"}, multipliers={}
        ),
    ),
    result(
        "relaxed-triangle",
        "relaxed triangle inequality",
        "||a+b||^2 <= (1+t) ||a||^2 + (1+1/t) ||b||^2 for every t > 0.",
        SUM_SQUARED.latex + r"\leq(1+t)\Vert a\Vert^2+(1+\frac{1}{t})\Vert b\Vert^2",
        SUM_SQUARED,
        f"{SCAFFOLD}, Lemma 3",
        parameters=(t, a2, b2),
        relation="<=",
        right="(1+t)*a2 + (1+1/t)*b2",
        vectors=VectorLine(relaxed_triangle, SCALES, ALL_T),
        steps=(
            Step(
                "sum of squares",
                r"(1+t)\Vert a\Vert^2+(1+\frac{1}{t})\Vert b\Vert^2-\Vert a+b\Vert^2",
                "=",
                r"\frac{1}{t}\Vert ta-b\Vert^2",
                "identity",
                identity=("(1+t)*a2 + (1+1/t)*b2 - (a2 + 2*ab + b2)", "(t**2*a2 - 2*t*ab + b2)/t"),
            ),
        ),
        sentence=VectorSentence(
            ("a", "b"), {"sum_squared": "norm2(a + b)", "a2": "norm2(a)", "b2": "norm2(b)"}, multipliers={}
        ),
    ),
    result(
        "convex-combination",
        "the square of a convex combination",
        "||w a + (1-w) b||^2 = w ||a||^2 + (1-w) ||b||^2 - w (1-w) ||a-b||^2.",
        MIXTURE_SQUARED.latex + r"=w\Vert a\Vert^2+(1-w)\Vert b\Vert^2-w(1-w)\Vert a-b\Vert^2",
        MIXTURE_SQUARED,
        f"{BAUSCHKE}, Corollary 2.15",
        relation="=",
        parameters=(weight, a2, b2, ab2),
        right="weight*a2 + (1-weight)*b2 - weight*(1-weight)*ab2",
        vectors=VectorLine(convex_combination, ({"weight": "1/2"}, {"weight": "2/7"}), "these weights; see the line"),
        steps=(
            Step(
                "multiplied out",
                MIXTURE_SQUARED.latex,
                "=",
                r"w\Vert a\Vert^2+(1-w)\Vert b\Vert^2-w(1-w)\Vert a-b\Vert^2",
                "identity",
                identity=(
                    "weight**2*a2 + 2*weight*(1-weight)*ab + (1-weight)**2*b2",
                    "weight*a2 + (1-weight)*b2 - weight*(1-weight)*(a2 - 2*ab + b2)",
                ),
            ),
        ),
        sentence=VectorSentence(
            ("a", "b"),
            {
                "mixture_squared": "norm2(weight*a + (1 - weight)*b)",
                "a2": "norm2(a)",
                "b2": "norm2(b)",
                "ab2": "norm2(a - b)",
            },
            multipliers={},
        ),
    ),
    result(
        "jensen-three",
        "Jensen's inequality for three vectors",
        "||a+b+c||^2 <= 3 (||a||^2 + ||b||^2 + ||c||^2).",
        THREE_SQUARED.latex + r"\leq 3(\Vert a\Vert^2+\Vert b\Vert^2+\Vert c\Vert^2)",
        THREE_SQUARED,
        f"{SCAFFOLD}, Lemma 3, second part",
        parameters=(sum_squares,),
        relation="<=",
        right="3*sum_squares",
        vectors=VectorLine(jensen_sum, scope="all vectors"),
        sentence=VectorSentence(
            ("a", "b", "c"), {"three_squared": "norm2(a + b + c)", "sum_squares": "norm2(a) + norm2(b) + norm2(c)"}
        ),
    ),
    result(
        "jensen-expectation",
        "Jensen's inequality for an expectation",
        "||E X||^2 <= E||X||^2.",
        MEAN_SQUARED.latex + r"\leq\mathbb{E}\Vert X\Vert^2",
        MEAN_SQUARED,
        "Jensen (1906); Durrett, Probability: Theory and Examples (2019), Theorem 1.6.2",
        parameters=(second_moment,),
        hypotheses=(MEAN,),
        relation="<=",
        right="second_moment",
        vectors=VectorLine(jensen, CHANCES, "three outcomes with these probabilities"),
        sentence=VectorSentence(
            ("X", "m"),
            {"mean_squared": "norm2(m)", "second_moment": "norm2(X)"},
            given=(Given("X - E X and E X", (MEAN,), "dot(X - m, m) == 0"),),
        ),
    ),
    result(
        "variance-decomposition",
        "mean squared error is bias squared plus variance",
        "E||X-z||^2 = ||E X - z||^2 + E||X - E X||^2.",
        ABOUT_A_POINT.latex + r"=\Vert\mathbb{E}X-z\Vert^2+\mathbb{E}\Vert X-\mathbb{E}X\Vert^2",
        ABOUT_A_POINT,
        f"{RESHUFFLING}, appendix (variance decomposition)",
        relation="=",
        parameters=(mean_distance2, sigma2),
        hypotheses=(MEAN, CONSTANT),
        right="mean_distance2 + sigma2",
        vectors=VectorLine(variance_decomposition, CHANCES, "three outcomes with these probabilities"),
        sentence=VectorSentence(
            ("X", "m", "z"),
            {"about_a_point": "norm2(X - z)", "mean_distance2": "norm2(m - z)", "sigma2": "norm2(X - m)"},
            given=(
                Given("X - E X and E X", (MEAN,), "dot(X - m, m) == 0"),
                Given("X - E X and z", (MEAN, CONSTANT), "dot(X - m, z) == 0"),
            ),
            multipliers={"X - E X and E X": "2", "X - E X and z": "-2"},
        ),
    ),
    result(
        "three-point",
        "three-point identity of Bregman divergences",
        "D(z,x) + D(x,y) - D(z,y) = <grad f(y) - grad f(x), z - x>, D(u,v) = f(u) - f(v) - <grad f(v), u - v>.",
        DIVERGENCES.latex + r"=\langle\nabla f(y)-\nabla f(x),z-x\rangle",
        DIVERGENCES,
        "Chen, Teboulle, SIAM J. Optim. 3 (1993), Lemma 3.1; Beck, First-Order Methods in Optimization (2017), "
        "Lemma 9.11",
        relation="=",
        parameters=(product_of_three,),
        right="product_of_three",
        vectors=VectorLine(bregman, scope="all differentiable functions"),
        sentence=VectorSentence(
            ("x", "y", "z", "gx", "gy"),
            {
                "divergences": "(fz - fx - dot(gx, z - x)) + (fx - fy - dot(gy, x - y)) - (fz - fy - dot(gy, z - y))",
                "product_of_three": "dot(gy - gx, z - x)",
            },
            ("fx", "fy", "fz"),
            multipliers={},
        ),
    ),
    result(
        "minibatch-variance",
        "a batch of N independent samples divides the variance by N",
        "One step of size delta along the average of N independent sampled gradients: E||x_1 - E x_1||^2 = delta^2 "
        "sigma^2/N, sigma^2 = E||grad f_i(x_0) - grad f(x_0)||^2.",
        NEXT_VARIANCE.latex + r"=\frac{\delta^2\sigma^2}{N}",
        NEXT_VARIANCE,
        "Bottou, Curtis, Nocedal, SIAM Review 60 (2018), section 4.2",
        relation="=",
        parameters=(delta, N, sigma2),
        hypotheses=(UNBIASED,),
        right="delta**2*sigma2/N",
        vectors=VectorLine(
            batch_variance,
            tuple({**chances, "N": n} for chances in CHANCES[:2] for n in ("2", "3")),
            "three outcomes, N = 2 and 3, before the multiplication by delta",
        ),
    ),
    result(
        "participation-variance",
        "variance of unbiased participation",
        "One full step of size delta on every client, x_1 - x_0 = -(delta/N) sum_n (1_n/p_n) grad f_n(x_0), "
        "independent 1_n ~ Bernoulli(p_n): E||x_1 - E x_1||^2 = (delta^2/N^2) sum_n (1/p_n - 1) ||grad f_n(x_0)||^2.",
        NEXT_VARIANCE.latex + r"=\frac{\delta^2}{N^2}\sum_n(\frac{1}{p_n}-1)\Vert\nabla f_n(x_0)\Vert^2",
        NEXT_VARIANCE,
        "Horvitz, Thompson, J. Am. Stat. Assoc. 47 (1952), for independent inclusions (Poisson sampling)",
        relation="=",
        parameters=(delta, N, weighted_squares),
        hypotheses=(PARTICIPATION,),
        right="delta**2/N**2*weighted_squares",
        vectors=VectorLine(
            participation,
            ({"p1": "1/2", "p2": "1/2", "p3": "1/2"}, {"p1": "1/10", "p2": "2/3", "p3": "1"}),
            "three clients with these probabilities, before the multiplication by delta^2/N^2",
        ),
        steps=(
            Step(
                "one client",
                r"\mathbb{E}(\frac{1_n}{p}-1)^2",
                "=",
                r"\frac{1}{p}-1",
                "moment identity",
                "cross terms vanish, since E 1_n/p = 1 and the 1_n are independent",
                identity=("p*(1/p-1)**2 + (1-p)", "1/p - 1"),
            ),
        ),
    ),
    result(
        "client-sampling-variance",
        "variance of choosing S of N clients",
        "One full step of size delta on S of the N clients, chosen uniformly without replacement, and averaged: "
        "E||x_1 - E x_1||^2 = delta^2 (N-S)/(S(N-1)) (1/N) sum_n ||grad f_n(x_0) - grad f(x_0)||^2.",
        NEXT_VARIANCE.latex
        + r"=\delta^2\frac{N-S}{S(N-1)}\cdot\frac{1}{N}\sum_n\Vert\nabla f_n(x_0)-\nabla f(x_0)\Vert^2",
        NEXT_VARIANCE,
        "Cochran, Sampling Techniques (1977), Theorem 2.2",
        relation="=",
        parameters=(delta, count, size, spread),
        hypotheses=(Hypothesis("size", "S <= N", relation="size <= count"),),
        right="delta**2*(count-size)/(size*(count-1))*spread",
    ),
    result(
        "without-replacement",
        "variance of the mean of a sample drawn without replacement",
        "S of n vectors, drawn uniformly without replacement: E||mean of the chosen - mean of all||^2 = "
        "(n-S)/(S(n-1)) sigma^2, sigma^2 = (1/n) sum_i ||X_i - mean||^2.",
        SUBSET_VARIANCE.latex + r"=\frac{n-S}{S(n-1)}\sigma^2",
        SUBSET_VARIANCE,
        f"{RESHUFFLING}, Lemma 1; Cochran, Sampling Techniques (1977), Theorem 2.2",
        relation="=",
        parameters=(count, size, sigma2),
        hypotheses=(Hypothesis("size", "S <= n", relation="size <= count"),),
        right="(count-size)/(size*(count-1))*sigma2",
        steps=(
            Step(
                "second moments",
                r"\frac{1}{S^2}(\frac{S}{n}-\frac{S(S-1)}{n(n-1)})n\sigma^2",
                "=",
                r"\frac{n-S}{S(n-1)}\sigma^2",
                "moment identity",
                "P(i chosen) = S/n, P(i and j chosen) = S(S-1)/(n(n-1)), and sum over i != j of <X_i,X_j> = "
                "-sum ||X_i||^2 for centred X",
                identity=(
                    "(size/count - size*(size-1)/(count*(count-1)))*count*sigma2/size**2",
                    "(count-size)/(size*(count-1))*sigma2",
                ),
            ),
        ),
    ),
    result(
        "reshuffling",
        "prefix sums of a random order",
        "In a uniformly random order, sum over j=1..n-1 of E||sum of the first j of (X_i - mean)||^2 = "
        "n(n+1)/6 sigma^2.",
        PREFIX_SUM.latex + r"=\frac{n(n+1)}{6}\sigma^2",
        PREFIX_SUM,
        f"{RESHUFFLING}, Lemma 1 summed over the prefixes, as in the bound of the shuffling variance",
        relation="=",
        parameters=(count, sigma2),
        right="count*(count+1)/6*sigma2",
        steps=(
            Step(
                "one prefix",
                r"j^2\frac{n-j}{j(n-1)}\sigma^2",
                "=",
                r"\frac{j(n-j)}{n-1}\sigma^2",
                "substitution",
                "without-replacement with S = j",
                claim="textbook/without-replacement",
                identity=("size**2*(count-size)/(size*(count-1))*sigma2", "size*(count-size)/(count-1)*sigma2"),
            ),
        ),
    ),
)
