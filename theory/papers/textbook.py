"""Results that are known to be true, with their sources: what the toolkit must never call false.

A checker that raises false alarms is of no use, so every claim here has to come out proved or supported. The results
are of the kinds that federated optimisation uses; where a constant was changed, a case left out, or a result put in
other words than in print, source and remarks say so.
"""

from __future__ import annotations

from functools import partial

from theory.claim import Paper, claim
from theory.derivation import assumed, at, axiom, cases, combined, domain, induction, step, telescope, zero
from theory.domain import NONNEGATIVE, OPEN_UNIT, Domain
from theory.program import algorithm

NESTEROV = "Nesterov, Lectures on Convex Optimization (2018)"
BAUSCHKE = "Bauschke, Combettes, Convex Analysis and Monotone Operator Theory in Hilbert Spaces (2017)"
JOHNSON_ZHANG = (
    "Johnson, Zhang, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction, NIPS 2013"
)
GOWER = "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik, SGD: General Analysis and Improved Rates, ICML 2019"
KARIMI = (
    "Karimi, Nutini, Schmidt, Linear Convergence of Gradient and Proximal-Gradient Methods Under the "
    "Polyak-Lojasiewicz Condition, ECML 2016"
)
SCAFFOLD = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, SCAFFOLD, ICML 2020"
RESHUFFLING = "Mishchenko, Khaled, Richtarik, Random Reshuffling: Simple Analysis with Vast Improvements, NeurIPS 2020"
LOCAL_SGD = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019"
BOTTOU = "Bottou, Curtis, Nocedal, SIAM Review 60 (2018)"
COCHRAN = "Cochran, Sampling Techniques (1977), Theorem 2.2"

lemma = partial(claim, kind="lemma")
theorem = partial(claim, kind="theorem")

# --- algorithms ------------------------------------------------------------------------------------------------------


@algorithm
def gradient_descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def proximal_point(w, x, *, eta):
    """x[k+1] minimises f(x) + norm2(x - x[k])/(2*eta), f the one client's."""
    return w.mean(w.prox(x, eta))


@algorithm
def sgd(w, x, *, eta):
    """One sample of each client, drawn afresh in every step."""
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def minibatch_sgd(w, x, *, eta, b):
    """b samples of each client, drawn with replacement."""
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def with_coins(w, x, *, eta, p):
    """Client n takes part with chance p_n, and counts 1/p_n."""
    return x - eta * w.mean(w.coins(p) / p * w.gradient(x))


@algorithm
def with_chosen(w, x, *, eta, S):
    """S of the N clients, without replacement."""
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def mean_of_chosen(w, x, *, S):
    """The mean of S of the N vectors grad f_n(x), drawn without replacement."""
    return w.average(w.gradient(x), w.choose(S))


@algorithm
def prefix_sums(w, x):
    """Sums of the first of the N vectors grad f_n(x), less their mean, in random order."""
    full = w.full_gradient(x)

    def turn(v, one):
        v = v + one.gradient(x) - full
        one.tap("prefix", v)
        return v

    return w.visit(0 * x, turn)


@algorithm
def svrg(w, x, *, eta, H):
    """Johnson, Zhang (2013): x the snapshot, y the inner iterates, H steps an epoch."""
    full, y = w.full_gradient(x), x
    for _ in w.repeat(H):
        w.tap("y", y)
        i = w.sample()
        y = y - eta * (w.mean(w.gradient(y, i) - w.gradient(x, i)) + full)
    return y


@algorithm
def local_sgd(w, x, *, eta, H):
    """Every client takes H steps along sampled gradients v of its own function, the server averages."""
    y = w.each(x)
    for _ in w.repeat(H):
        v = w.gradient(y, w.sample())
        w.tap("y", y)
        w.tap("v", v)
        y = y - eta * v
    return w.mean(y)


# --- inequalities and identities of a Hilbert space, and the variances of sampling -----------------------------------

WEIGHTS = ("sum_n(q_n) == 1",)
OUTCOMES = ("X has the N values a_n with the probabilities q_n, N and q free",)
SPREAD = {"spread": "mean_n(norm2(grad(f_n, x0) - grad(f, x0)))"}

INEQUALITIES = (
    lemma(
        "young", "dot(a, b) <= t/2*norm2(a) + norm2(b)/(2*t)", vectors=("a", "b"),
        title="Young's inequality with a parameter",
        source="Hardy, Littlewood, Polya, Inequalities (1952), section 4.8",
    ),
    lemma(
        "relaxed-triangle", "norm2(a + b) <= (1 + t)*norm2(a) + (1 + 1/t)*norm2(b)", vectors=("a", "b"),
        title="relaxed triangle inequality", source=f"{SCAFFOLD}, Lemma 3",
    ),
    lemma(
        "convex-combination",
        "norm2(weight*a + (1 - weight)*b) == weight*norm2(a) + (1 - weight)*norm2(b) "
        "- weight*(1 - weight)*norm2(a - b)",
        vectors=("a", "b"), parameters={"weight": Domain(0, 1)}, title="the square of a convex combination",
        source=f"{BAUSCHKE}, Corollary 2.15",
    ),
    lemma(
        "jensen-three", "norm2(a + b + c) <= 3*(norm2(a) + norm2(b) + norm2(c))", vectors=("a", "b", "c"),
        title="Jensen's inequality for three vectors", source=f"{SCAFFOLD}, Lemma 3, second part",
    ),
    lemma(
        "jensen-expectation", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))", vectors=("a_n",), assuming=WEIGHTS,
        title="Jensen's inequality for an expectation",
        source="Jensen (1906); Durrett, Probability: Theory and Examples (2019), Theorem 1.6.2", remarks=OUTCOMES,
    ),
    lemma(
        "variance-decomposition", "sum_n(q_n*norm2(a_n - z)) == norm2(centre - z) + sum_n(q_n*norm2(a_n - centre))",
        vectors=("a_n", "z"), assuming=WEIGHTS, where={"centre": "sum_n(q_n*a_n)"},
        title="mean squared error is bias squared plus variance",
        source=f"{RESHUFFLING}, appendix (variance decomposition)", remarks=OUTCOMES,
    ),
    lemma(
        "three-point",
        "(f(z) - f(x) - dot(grad(f, x), z - x)) + (f(x) - f(y) - dot(grad(f, y), x - y)) "
        "- (f(z) - f(y) - dot(grad(f, y), z - y)) == dot(grad(f, y) - grad(f, x), z - x)",
        vectors=("x", "y", "z"), title="three-point identity of Bregman divergences",
        source="Chen, Teboulle, SIAM J. Optim. 3 (1993), Lemma 3.1; Beck, First-Order Methods in Optimization (2017), "
        "Lemma 9.11",
    ),
    lemma(
        "minibatch-variance", "E(norm2(x[1] - E(x[1]))) == eta**2*sigma2/(N*b)", of=minibatch_sgd,
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0))))"},
        title="a batch of independent samples divides the variance by their number", source=f"{BOTTOU}, section 4.2",
    ),
    lemma(
        "participation-variance", "E(norm2(x[1] - E(x[1]))) == eta**2/N**2*sum_n((1/p_n - 1)*norm2(grad(f_n, x0)))",
        of=with_coins, assuming=("p_n <= 1",), title="variance of unbiased participation",
        source="Horvitz, Thompson, J. Am. Stat. Assoc. 47 (1952), for independent inclusions (Poisson sampling)",
    ),
    lemma(
        "client-sampling-variance", "E(norm2(x[1] - E(x[1]))) == eta**2*(N - S)/(S*(N - 1))*spread", of=with_chosen,
        assuming=("S <= N", "N >= 2"), where=SPREAD, title="variance of choosing S of N clients", source=COCHRAN,
    ),
    lemma(
        "without-replacement", "E(norm2(x[1] - grad(f, x0))) == (N - S)/(S*(N - 1))*spread", of=mean_of_chosen,
        assuming=("S <= N", "N >= 2"), where=SPREAD,
        title="variance of the mean of a sample drawn without replacement",
        source=f"{RESHUFFLING}, Lemma 1; {COCHRAN}", remarks=("the N vectors are grad(f_n, x0), which may be any",),
    ),
    lemma(
        "reshuffling", "sum_h(E(norm2(prefix[0, h]))) == N*(N + 1)/6*spread", of=prefix_sums, where=SPREAD,
        title="prefix sums of a random order",
        source=f"{RESHUFFLING}, Lemma 1 summed over the prefixes, as in the bound of the shuffling variance",
        remarks=("the N vectors are grad(f_n, x0), which may be any; the last of the prefix sums is 0",),
    ),
)  # fmt: skip

# --- consequences of smoothness and convexity, projections and proximal steps ----------------------------------------

SMOOTH = ("smooth(f, L)",)
SMOOTH_CONVEX = ("smooth(f, L)", "convex(f)")
STRONG = ("strongly_convex(f, mu)",)
BOTH = ("smooth(f, L)", "strongly_convex(f, mu)")
PRODUCT = "dot(grad(f, x) - grad(f, y), x - y)"
DISTANCE = "norm2(grad(f, x) - grad(f, y))"
FIRST_ORDER = "f(x) + dot(grad(f, x), y - x)"
TWICE = "both angles at a projection p of x, q of y onto a convex set, which say no more than that it has p and q"
ANGLES = ("dot(x - p, q - p) <= 0", "dot(y - q, p - q) <= 0")
points = partial(lemma, vectors=("x", "y"))

FUNCTIONS = (
    points(
        "descent-lemma", f"f(y) <= {FIRST_ORDER} + L/2*norm2(y - x)", assuming=SMOOTH,
        title="descent lemma, convex or not", source=f"{NESTEROV}, Lemma 1.2.3",
    ),
    lemma(
        "gradient-bound", "norm2(grad(f, x)) <= 2*L*(f(x) - fstar)", vectors=("x",), assuming=SMOOTH,
        title="the gradient is small where the value is, convex or not",
        source=f"{NESTEROV}, Theorem 2.1.5, (2.1.10) at a minimiser, for convex f; without it by the descent lemma at "
        "x - grad f(x)/L",
    ),
    points(
        "convex-lower-bound", f"f(y) >= {FIRST_ORDER} + {DISTANCE}/(2*L)", assuming=SMOOTH_CONVEX,
        title="convexity and smoothness in one inequality", source=f"{NESTEROV}, Theorem 2.1.5, (2.1.10)",
    ),
    points(
        "cocoercivity", f"{PRODUCT} >= {DISTANCE}/L", assuming=SMOOTH_CONVEX,
        title="gradients of smooth convex functions are cocoercive (Baillon and Haddad)",
        source=f"{NESTEROV}, Theorem 2.1.5, (2.1.11)",
    ),
    points(
        "strong-cocoercivity", f"{PRODUCT} >= mu*L/(mu + L)*norm2(x - y) + {DISTANCE}/(mu + L)", assuming=BOTH,
        title="gradients of smooth strongly convex functions", source=f"{NESTEROV}, Theorem 2.1.12",
    ),
    points(
        "strong-monotonicity", f"{PRODUCT} >= mu*norm2(x - y)", assuming=STRONG,
        title="gradients of strongly convex functions are strongly monotone", source=f"{NESTEROV}, Theorem 2.1.9",
    ),
    lemma(
        "polyak-lojasiewicz", "norm2(grad(f, x)) >= 2*mu*(f(x) - fstar)", vectors=("x",), assuming=STRONG,
        title="strong convexity implies the Polyak-Lojasiewicz inequality",
        source=f"{NESTEROV}, Theorem 2.1.10; {KARIMI}, Theorem 2",
    ),
    lemma(
        "quadratic-growth", "f(x) - fstar >= mu/2*norm2(x - xstar)", vectors=("x",), assuming=STRONG,
        title="quadratic growth", source=f"{NESTEROV}, Theorem 2.1.8",
    ),
    lemma(
        "variance-transfer", "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_ni, xstar)))) <= 2*L*(f(x) - fstar)",
        vectors=("x",), assuming=("smooth(f_ni, L)", "convex(f_ni)"),
        title="sampled gradients are near those at the minimiser where the value is small",
        source=f"{JOHNSON_ZHANG}, (8)",
    ),
    theorem(
        "projection-angle", "dot(x - p, z - p) <= t/2*norm2(z - p)", vectors=("x", "p", "z"),
        assuming=("t <= 1", "norm2(x - p) <= norm2(x - (p + t*(z - p)))"), title="the angle at a projection is obtuse",
        source=f"{BAUSCHKE}, Theorem 3.16 and its proof",
        remarks=("p is the nearest to x in a convex set that z lies in too, so p + t (z - p) is no nearer; t to 0",),
    ),
    lemma(
        "projection-nonexpansive", "norm2(p - q) <= norm2(x - y)", vectors=("x", "y", "p", "q"), assuming=ANGLES,
        title="projections are nonexpansive", source=f"{BAUSCHKE}, Proposition 4.16", remarks=(TWICE,),
    ),
    lemma(
        "projection-firm", "norm2(p - q) <= dot(p - q, x - y)", vectors=("x", "y", "p", "q"), assuming=ANGLES,
        title="projections are firmly nonexpansive", source=f"{BAUSCHKE}, Proposition 4.16", remarks=(TWICE,),
    ),
    lemma(
        "projection-pythagoras", "norm2(p - z) <= norm2(x - z) - norm2(x - p)", vectors=("x", "p", "z"),
        assuming=("dot(x - p, z - p) <= 0",), title="a projection brings every point of the set nearer",
        source=f"{NESTEROV}, Lemma 2.2.8",
        remarks=("the angle at the projection p of x onto a convex set that has z",),
    ),
    lemma(
        "prox-firm", "norm2(p - q) <= dot(p - q, x - y)", vectors=("p", "q"), assuming=("convex(f)",),
        where={"x": "p + t*grad(f, p)", "y": "q + t*grad(f, q)"}, title="proximal steps are firmly nonexpansive",
        source=f"{BAUSCHKE}, Proposition 12.28",
        remarks=("p = prox(x), q = prox(y) with step t, f differentiable; in print f is closed, proper and convex",),
    ),
    theorem(
        "gradient-lipschitz-convex", f"{DISTANCE} <= L**2*norm2(x - y)", vectors=("x", "y"),
        assuming=(
            "convex(f)", "f(u) <= f(y) + dot(grad(f, y), u - y) + L/2*norm2(u - y)",
            "f(v) <= f(x) + dot(grad(f, x), v - x) + L/2*norm2(v - x)",
        ),
        where={"u": "y - (grad(f, y) - grad(f, x))/L", "v": "x - (grad(f, x) - grad(f, y))/L"},
        title="convexity and the descent lemma give Lipschitz gradients", source=f"{NESTEROV}, Theorem 2.1.5",
        remarks=("the descent lemma's inequality is assumed at u and v only, which is all that the proof uses",),
    ),
)  # fmt: skip

# --- gradient, subgradient and proximal methods ----------------------------------------------------------------------

STEPS = {"image": "x - eta*grad(f, x) - (y - eta*grad(f, y))"}
FACTORS = ("(1 - eta*mu)**2", "(1 - eta*L)**2")

# with 1/L for 0 it is the proof for the proximal point method
AHEAD, FOUR = "x[k] - eta*grad(f, x[k])", "(4*k*eta + 2/L)"
AT_ONCE, AT_XSTAR = "smooth convex f (xstar, x[k])", "zero f (2*grad(f, x[k]) - grad(f, xstar))"
TIGHT = (
    step("value", f"f(x[k+1]) == f({AHEAD})"),
    step("slope", f"norm2(grad(f, x[k+1])) == norm2(grad(f, {AHEAD}))"),
    step("nearer", f"norm2(x[k+1] - xstar) == norm2({AHEAD} - xstar)"),
    induction(
        "potential",
        "2*k*eta*(f(x[k]) - fstar) + k*eta*(k*eta + 1/L)*norm2(grad(f, x[k])) + norm2(x[k] - xstar)"
        " <= norm2(x0 - xstar)",
        [combined("at first")],
        [
            combined(
                "next",
                None,
                "IH; nearer; value times 2*(k + 1)*eta; slope times (k + 1)*eta*((k + 1)*eta + 1/L); "
                f"{AT_ONCE} times 2*eta; minimiser times 2*eta; {AT_XSTAR} times eta/L; "
                f"smooth convex f (x[k], {AHEAD}) times 2*(k + 1)*(k*eta + 1/L + eta); "
                f"smooth convex f ({AHEAD}, x[k]) times 2*(k + 1)*(k*eta + 1/L)",
                f"grad(f, {AHEAD}) - grad(f, x[k]) times (k + 1)*((k + 1)*eta*(1/L + (1/L - eta)) + 2/L*(1/L - eta))",
            )
        ],
    ),
    combined(
        "all",
        None,
        f"potential times 1/{FOUR}; {AT_ONCE} times 2*(k*eta + 1/L)/{FOUR}; minimiser times 2*(k*eta + 1/L)/{FOUR}; "
        f"{AT_XSTAR} times (k*eta + 1/L)/(L*{FOUR})",
        f"x[k] - xstar - (k*eta + 1/L)*grad(f, x[k]) times 1/{FOUR}",
    ),
)

METHODS = (
    theorem(
        "gradient-step-contraction", f"norm2(image) <= max({', '.join(FACTORS)})*norm2(x - y)", vectors=("x", "y"),
        assuming=BOTH, where=STEPS,
        proof=(
            combined(
                "monotone", f"{PRODUCT} >= mu*norm2(x - y)", "strongly_convex f (x, y); strongly_convex f (y, x)",
            ),
            combined("bounded", f"{PRODUCT} <= L*norm2(x - y)", "above f (x, y); above f (y, x)"),
            combined(
                "between", f"(mu + L)*{PRODUCT} >= {DISTANCE} + mu*L*norm2(x - y)",
                "smooth strongly_convex f (x, y) times 1/2; smooth strongly_convex f (y, x) times 1/2",
            ),
            axiom("short", f"{FACTORS[0]} <= max({', '.join(FACTORS)})", "max", *FACTORS),
            axiom("long", f"{FACTORS[1]} <= max({', '.join(FACTORS)})", "max", *FACTORS),
            cases(
                "contraction", None, "eta*(mu + L) <= 2",
                [
                    combined(
                        "short steps", None,
                        "between times eta**2; monotone times eta*(2 - eta*(mu + L)); short times norm2(x - y)",
                    ),
                ],
                [
                    combined(
                        "long steps", None,
                        "between times eta**2; bounded times eta*(eta*(mu + L) - 2); long times norm2(x - y)",
                    ),
                ],
            ),
        ),
        title="a gradient step contracts",
        source="Polyak, Introduction to Optimization (1987), section 1.4, Theorem 3; Taylor, Hendrickx, Glineur, "
        "J. Optim. Theory Appl. 178 (2018), Theorem 2.1",
    ),
    points(
        "gradient-step-nonexpansive", "norm2(image) <= norm2(x - y)", assuming=(*SMOOTH_CONVEX, "eta <= 2/L"),
        where=STEPS, title="a gradient step of length up to 2/L does not expand",
        source=f"{BAUSCHKE}, Corollary 18.17 with Proposition 4.39",
    ),
    lemma(
        "sufficient-decrease", "f(y) <= f(x) - eta*(1 - L*eta/2)*norm2(grad(f, x))", vectors=("x",), assuming=SMOOTH,
        where={"y": "x - eta*grad(f, x)"}, title="a gradient step decreases the value, convex or not",
        source=f"{NESTEROV}, section 1.2.3, (1.2.19)",
    ),
    theorem(
        "average-gradient", "mean_k(norm2(grad(f, x[k]))) <= (f(x0) - fstar)/(K*eta*(1 - L*eta/2))",
        of=gradient_descent, assuming=(*SMOOTH, "eta < 2/L"),
        title="gradient descent finds points of small gradient, convex or not", source=f"{NESTEROV}, section 1.2.3",
    ),
    theorem(
        "gradient-descent-linear", "f(x[k]) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar)", of=gradient_descent,
        assuming=(*BOTH, "eta <= 1/L"), title="gradient descent under strong convexity: function values",
        source=f"{KARIMI}, Theorem 1",
    ),
    theorem(
        "gradient-descent-tight", "f(x[k]) - fstar <= L*norm2(x0 - xstar)/(4*k*L*eta + 2)", of=gradient_descent,
        assuming=(*SMOOTH_CONVEX, "eta <= 1/L"), proof=TIGHT,
        title="gradient descent under convexity, with the tight constant",
        source="Drori, Teboulle, Math. Program. 145 (2014), Theorem 3.1",
    ),
    theorem(
        "subgradient-method", "mean_k(f(x[k]) - fstar) <= norm2(x0 - xstar)/(2*eta*K) + eta*G2/2", of=gradient_descent,
        assuming=("convex(f)",), where={"G2": "max_k(norm2(grad(f, x[k])))"},
        proof=(
            step(
                "step",
                "norm2(x[k+1] - xstar) == norm2(x[k] - xstar) - 2*eta*dot(grad(f, x[k]), x[k] - xstar) "
                "+ eta**2*norm2(grad(f, x[k]))",
            ),
            telescope("telescope", "norm2(x[k] - xstar)", "sum_k", "K"),
            axiom(
                "largest", "norm2(grad(f, x[k])) <= max_k(norm2(grad(f, x[k])))", "extreme", "norm2(grad(f, x[k]))",
                over="max_k",
            ),
            combined(
                "on average", None,
                "sum_k: convex f (x[k], xstar) times 1/K; minimiser; sum_k: step times 1/(2*eta*K); "
                "telescope times -1/(2*eta*K); sum_k: largest times eta/(2*K)",
                "x[K] - xstar times 1/(2*eta*K)",
            ),
        ),
        title="the subgradient method", source=f"{NESTEROV}, Theorem 3.2.2 and its proof",
        remarks=(
            "for differentiable f, whose gradients are the only subgradients; in print f is convex",
            "the gradients are bounded along the run, which is all that the proof uses",
        ),
    ),
    theorem(
        "proximal-point", "f(x[k]) - fstar <= norm2(x0 - xstar)/(4*k*eta)", of=proximal_point,
        assuming=("convex(f)", "N <= 1"), title="the proximal point method, with the tight constant",
        source="Taylor, Hendrickx, Glineur, Exact Worst-Case Performance of First-Order Methods for Composite Convex "
        "Optimization, SIAM J. Optim. 27 (2017), Theorem 4.1",
        remarks=("for differentiable f; in print f is closed, proper and convex",),
    ),
)  # fmt: skip

# --- stochastic gradients, minibatches, variance reduction and local SGD ---------------------------------------------

SAMPLES = ("smooth(f_ni, L)", "convex(f_ni)")
CURVED = (*SAMPLES, "strongly_convex(f, mu)")
HALF = "eta <= 1/(2*L)"
AT_MINIMISER = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}
CLIENTS = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", HALF)
PARALLEL = ("with one client it is plain SGD; the mean over several clients, one sample of each, varies no more",)

SHARE = "1/(2*eta*(1 - 2*L*eta)*H)"
SVRG_EPOCH = (
    step(
        "turn",
        "E(norm2(y[k, h+1] - xstar)) == E(norm2(y[k, h] - xstar)) "
        "- 2*eta*E(dot(grad(f, y[k, h]), y[k, h] - xstar)) + eta**2*E(norm2(grad(f, y[k, h]))) "
        "+ eta**2/N*E(mean_n(mean_i(norm2(grad(f_ni, y[k, h]) - grad(f_ni, x[k]))) "
        "- norm2(grad(f_n, y[k, h]) - grad(f_n, x[k]))))",
    ),
    combined("short", "1 - 2*L*eta > 0", "eta < 1/(2*L) times 2*L"),
    combined(
        "nearer",
        "E(norm2(y[k, h+1] - xstar)) <= E(norm2(y[k, h] - xstar)) "
        "- 2*eta*(1 - 2*L*eta)*(E(f(y[k, h])) - fstar) + 4*L*eta**2*(E(f(x[k])) - fstar)",
        "turn; E: convex f (y[k, h], xstar) times 2*eta; minimiser times 2*eta - 8*L*eta**2; "
        "E mean_n mean_i: smooth convex f_ni (y[k, h], xstar) times 4*L*eta**2; "
        "E mean_n mean_i: smooth convex f_ni (x[k], xstar) times 4*L*eta**2; "
        "E: zero (y[k, h] - xstar) times -4*L*eta**2; E: zero (x[k] - xstar) times -4*L*eta**2; "
        "E: zero (grad(f, y[k, h])) times 2*eta**2; zero (grad(f, xstar)) times -eta**2",
        "E mean_n mean_i: grad(f_ni, y[k, h]) + grad(f_ni, x[k]) - 2*grad(f_ni, xstar) - (grad(f, y[k, h]) + "
        "grad(f, x[k]) - 2*grad(f, xstar)) times eta**2; "
        "E mean_n mean_i: grad(f_ni, y[k, h]) - grad(f_ni, x[k]) - (grad(f_n, y[k, h]) - grad(f_n, x[k])) times "
        "eta**2*(N - 1)/N; "
        "E mean_n: grad(f_n, y[k, h]) - grad(f_n, x[k]) - (grad(f, y[k, h]) - grad(f, x[k])) times eta**2; "
        "E: grad(f, y[k, h]) - grad(f, xstar) times eta**2; E: grad(f, x[k]) - grad(f, xstar) times 2*eta**2",
    ),
    telescope("epoch", "E(norm2(y[k, h] - xstar))", "sum_h", "H"),
    step("start", "E(norm2(y[k, 0] - xstar)) == E(norm2(x[k] - xstar))"),
    combined(
        "contraction",
        None,
        f"sum_h: nearer times {SHARE}; epoch times -{SHARE}; start times {SHARE}; "
        f"E: strongly_convex f (xstar, x[k]) times 2/mu*{SHARE}; E: zero (x[k] - xstar) times -2/mu*{SHARE}; "
        "minimiser times 2*L*eta/(1 - 2*L*eta)",
        f"E: y[k, H] - xstar times {SHARE}",
    ),
)


def centre(h):
    """How far the clients' mean is from xstar after h turns."""
    return f"E(norm2(mean_n(y[k, {h}]) - xstar))"


SHRINKS, NEAR_X = "(1 - eta*mu)", "mean_n(E(norm2(y[k, h] - x[k])))"
ADDED = f"2*eta*L*{NEAR_X} + eta**2/N*mean_n(E(norm2(v[k, h])))"
LOCAL_TURN = (
    assumed("curvature", "mu <= L", CLIENTS[:2], "curvature"),
    combined("half", "L*eta <= 1/2", f"{HALF} times L"),
    combined("short", "L*eta <= 1", "half", "1 times 1/2"),
    domain("turns", "0 < H"),
    combined("shrinks", f"{SHRINKS} > 0", "half; curvature times eta; turns times 1/(2*H)"),
    combined("more", "0 <= L**2 + 2*L*mu - mu**2", "curvature times mu", "1 times L*(L + mu)"),
    step(
        "sampled",
        f"{centre('h+1')} == E(norm2(mean_n(y[k, h] - eta*grad(f_n, y[k, h])) - xstar))"
        " + eta**2/N*mean_n(E(norm2(v[k, h])) - E(norm2(grad(f_n, y[k, h]))))",
    ),
    combined(
        "turn",
        f"{centre('h+1')} <= {SHRINKS}*{centre('h')} + {ADDED}",
        "sampled; E mean_n: smooth strongly_convex f_n (xstar, y[k, h]) times eta/L; "
        "E mean_n: strongly_convex f_n (xstar, y[k, h]) times 2*eta*(L - mu)/L; "
        "E: zero (mean_n(grad(f_n, y[k, h]))/L + xstar - mean_n(y[k, h])) times 2*eta",
        "E: mean_n(y[k, h]) - xstar times eta*mu*(L - mu)/L; E: mean_n(grad(f_n, y[k, h])) times eta*(1 - L*eta)/L; "
        "E mean_n: L*(y[k, h] - mean_n(y[k, h])) + grad(f_n, xstar) - grad(f_n, y[k, h]) + mean_n(grad(f_n, y[k, "
        "h])) times eta/L; E mean_n: y[k, h] - mean_n(y[k, h]) times eta*(L**2 + 2*L*mu - mu**2)/L; "
        "E: mean_n(y[k, h]) - x[k] times 2*eta*L; E mean_n: grad(f_n, y[k, h]) times eta**2/N",
    ),
    step("begins", f"{centre('0')} == E(norm2(x[k] - xstar))"),
    step("ends", f"E(norm2(x[k+1] - xstar)) == {centre('H')}"),
    domain("in the loop", "h <= H - 1"),
)
LOCAL_ROUND = (
    *LOCAL_TURN,
    axiom("falls", f"{SHRINKS}**(H - 1 - h) <= {SHRINKS}**0", "exponents", SHRINKS, "0", "H - 1 - h"),
    combined(
        "weighted",
        f"{SHRINKS}**(H - 1 - h)*{centre('h+1')} <= {SHRINKS}**(H - h)*{centre('h')} + {ADDED}",
        f"turn times {SHRINKS}**(H - 1 - h); falls times {ADDED}",
    ),
    telescope("all turns", f"{SHRINKS}**(H - h)*{centre('h')}", "sum_h", "H"),
    combined("round", None, f"sum_h: weighted; all turns times -1; begins times {SHRINKS}**H; ends"),
)
SQUARED, FLOOR = "E(norm2(v[k, h]))", "(eta*G2/(mu*N) + 2*eta**2*L*(H - 1)**2*G2/mu)"
LOCAL_SGD_RUN = (
    *LOCAL_TURN,
    axiom("of turns", f"{SQUARED} <= max_h({SQUARED})", "extreme", SQUARED, over="max_h"),
    axiom("of all", f"max_h({SQUARED}) <= max_n(max_h({SQUARED}))", "extreme", f"max_h({SQUARED})", over="max_n"),
    axiom("ever", f"max_n(max_h({SQUARED})) <= G2", "extreme", f"max_n(max_h({SQUARED}))", over="max_k"),
    combined("bounded", f"{SQUARED} <= G2", "of turns; of all; ever"),
    step("starts", "E(norm2(y[k, 0] - x[k])) == 0"),
    step("moves", "E(norm2(y[k, h+1] - x[k])) == E(norm2(y[k, h] - x[k] - eta*v[k, h]))"),
    induction(
        "drift", "E(norm2(y[k, h] - x[k])) <= eta**2*h**2*G2", [combined("at first", None, "starts")],
        [
            cases(
                "moved", None, "h <= 0",
                [
                    combined("nowhere", "E(norm2(y[k, h] - x[k])) <= 0", "IH; h <= 0 times eta**2*h*G2"),
                    zero("no angle", "nowhere", "y[k, h] - x[k]", "v[k, h]", "E"),
                    combined(
                        "first turn", None, "moves; nowhere; no angle times -2*eta; bounded times eta**2",
                        "1 times eta**2*G2*(h**2 + 2*h)",
                    ),
                ],
                [
                    combined(
                        "later turn", None, "moves; IH times 1 + 1/h; bounded times eta**2*(1 + h)",
                        "E: y[k, h] - x[k] + h*eta*v[k, h] times 1/h",
                    ),
                ],
            ),
        ],
        on="h",
    ),
    combined(
        "near", "E(norm2(y[k, h] - x[k])) <= eta**2*(H - 1)**2*G2", "drift; in the loop times eta**2*G2*(H - 1 + h)",
    ),
    induction(
        "loop", f"{centre('h')} - {FLOOR} <= {SHRINKS}**h*(E(norm2(x[k] - xstar)) - {FLOOR})",
        [combined("no turn", None, "begins")],
        [
            combined(
                "one more", None,
                f"turn; IH times {SHRINKS}; mean_n: near times 2*eta*L; mean_n: bounded times eta**2/N",
            ),
        ],
        on="h",
    ),
    at("whole loop", "loop", h="H"),
    induction(
        "run", f"E(norm2(x[k] - xstar)) - {FLOOR} <= {SHRINKS}**(k*H)*(norm2(x0 - xstar) - {FLOOR})",
        [combined("no round")], [combined("next round", None, f"ends; whole loop; IH times {SHRINKS}**H")],
    ),
    at("whole run", "run", k="K"),
    combined("all", None, "whole run", f"1 times {SHRINKS}**(K*H)*{FLOOR}"),
)  # fmt: skip

STOCHASTIC = (
    lemma(
        "sgd-step", "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2", of=sgd,
        assuming=(*CURVED, HALF), where=AT_MINIMISER, title="one step of SGD under strong convexity",
        source=f"{GOWER}, proof of Theorem 3.1", remarks=PARALLEL,
    ),
    theorem(
        "sgd-strongly-convex", "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/mu", of=sgd,
        assuming=(*CURVED, HALF), where=AT_MINIMISER, title="SGD under strong convexity: linear down to a noise ball",
        source=f"{GOWER}, Theorem 3.1", remarks=PARALLEL,
    ),
    theorem(
        "minibatch-sgd", "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*b)",
        of=minibatch_sgd, assuming=(*CURVED, HALF, "N <= 1"), where=AT_MINIMISER,
        title="minibatch SGD under strong convexity",
        source=f"{GOWER}, Theorem 3.1 with its minibatches, here with replacement",
        remarks=(
            "a batch of independent samples has an expected smoothness of L/b + (1 - 1/b) L_f <= L, L_f that of f, and "
            "the variance sigma2/b at xstar",
        ),
    ),
    theorem(
        "sgd-convex",
        "mean_k(E(f(x[k])) - fstar) <= norm2(x0 - xstar)/(2*eta*(1 - 2*eta*L)*K) + eta*sigma2/(1 - 2*eta*L)", of=sgd,
        assuming=(*SAMPLES, "eta < 1/(2*L)"), where=AT_MINIMISER,
        title="SGD under convexity, on average over the iterates",
        source="Garrigos, Gower, Handbook of Convergence Theorems for (Stochastic) Gradient Methods (2023), section 5, "
        "convex case with a constant step",
        remarks=PARALLEL,
    ),
    theorem(
        "sgd-nonconvex", "mean_k(E(norm2(grad(f, x[k])))) <= 2*(f(x0) - fstar)/(eta*K) + eta*L*sigma2", of=sgd,
        assuming=("smooth(f, L)", "bounded_variance(sigma2)", "eta <= 1/L"),
        title="SGD on smooth functions, convex or not",
        source=f"{BOTTOU}, Theorem 4.8; Ghadimi, Lan, SIAM J. Optim. 23 (2013), Theorem 2.1", remarks=PARALLEL,
    ),
    lemma(
        "svrg-estimator",
        "mean_n(mean_i(norm2(grad(f_ni, w) - grad(f_ni, u) + grad(f, u)))) <= 4*L*(f(w) - fstar + f(u) - f(xstar))",
        vectors=("w", "u"), assuming=SAMPLES, title="the variance-reduced gradient is small near the minimiser",
        source=f"{JOHNSON_ZHANG}, proof of Theorem 1",
        remarks=("at any iterate w and snapshot u, the index drawn uniformly; along a run by taking the expectation",),
    ),
    theorem(
        "svrg-contraction", "mean_h(E(f(y[k, h])) - fstar) <= alpha*(E(f(x[k])) - f(xstar))", of=svrg,
        assuming=(*CURVED, "eta < 1/(2*L)"), where={"alpha": "1/(mu*eta*(1 - 2*L*eta)*H) + 2*L*eta/(1 - 2*L*eta)"},
        proof=SVRG_EPOCH, title="one epoch of SVRG contracts", source=f"{JOHNSON_ZHANG}, Theorem 1",
        remarks=(
            "the mean over h is the expectation of an inner iterate that is drawn uniformly",
            "where alpha < 1, for which H has to be large, it is a contraction; the inequality holds without",
        ),
    ),
    lemma(
        "local-gradient-step",
        "norm2(mean_n(y_n - eta*grad(f_n, y_n)) - xstar) <= (1 - eta*mu)*norm2(centre - xstar) "
        "+ 2*eta*L*mean_n(norm2(y_n - centre))",
        vectors=("y_n",), assuming=CLIENTS, where={"centre": "mean_n(y_n)"},
        title="one local gradient step of all clients", source=f"{LOCAL_SGD}, Lemma 3.1, with exact gradients",
    ),
    lemma(
        "local-sgd-round",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)**H*E(norm2(x[k] - xstar)) + 2*eta*L*drift + eta**2*noise",
        of=local_sgd, assuming=CLIENTS,
        where={"drift": "sum_n(sum_h(E(norm2(y[k, h] - x[k]))))/N", "noise": "sum_n(sum_h(E(norm2(v[k, h]))))/N**2"},
        proof=LOCAL_ROUND, title="one round of local SGD under strong convexity",
        source=f"{LOCAL_SGD}, Lemma 3.1 summed over the H steps of a round",
        remarks=(
            "local-gradient-step at each of the H steps, with the sampling noise, whose variance is at most the second "
            "moment and is divided by N; the mean of the y_n is nearer to them than x[k] is",
        ),
    ),
    theorem(
        "local-sgd-strongly-convex",
        "E(norm2(x[K] - xstar)) <= (1 - eta*mu)**(K*H)*norm2(x0 - xstar) + eta*G2/(mu*N) + 2*eta**2*L*(H - 1)**2*G2/mu",
        of=local_sgd, assuming=CLIENTS, where={"G2": "max_k(max_n(max_h(E(norm2(v[k, h])))))"}, proof=LOCAL_SGD_RUN,
        title="local SGD under strong convexity",
        source=f"{LOCAL_SGD}, Lemmas 3.1 and 3.3 with a constant step, constants by the remark",
        remarks=(
            "after h local steps E norm2(y_n - x[k]) <= eta^2 h^2 G2, so each step adds at most 2 eta L eta^2 (H-1)^2 "
            "G2 + eta^2 G2/N (local-sgd-round); divided by eta mu, the sum of the geometric series",
        ),
    ),
    lemma(
        "recursion", "r <= q**K*r0 + c*(1 - q**K)/(1 - q)", where={"r": "q**K*r0 + sum_k(q**(K - 1 - k)*(c - s_k))"},
        parameters={"q": OPEN_UNIT, "r0": NONNEGATIVE, "c": NONNEGATIVE, "s_k": NONNEGATIVE},
        proof=(
            induction(
                "geometric", "sum_k(q**(K - 1 - k)) == (1 - q**K)/(1 - q)", [combined("one round", None)],
                [combined("one more", None, "IH times q")], on="K",
            ),
            combined("unrolled", None, "geometric times c", "1 times sum_k(q**(K - 1 - k)*s_k)"),
        ),
        title="a linear recursion unrolled",
        source="Polyak, Introduction to Optimization (1987), section 2.2.1, Lemma 1",
        remarks=("r[k+1] = q r[k] + c - s_k with any s_k >= 0, that is r[k+1] <= q r[k] + c: r is r[K]",),
    ),
)  # fmt: skip

PAPER = Paper(
    "textbook", "Textbook results that are known to be true", "various; each claim names its source",
    (*INEQUALITIES, *FUNCTIONS, *METHODS, *STOCHASTIC),
)  # fmt: skip
