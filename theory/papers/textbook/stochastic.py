"""Stochastic gradients, minibatches, variance reduction and local SGD."""

from __future__ import annotations

from theory.claim import (
    FunctionAt,
    Given,
    Hypothesis,
    Parameter,
    Quantity,
    Recursion,
    Step,
    VectorLine,
    VectorSentence,
)
from theory.domain import NONNEGATIVE, OPEN_UNIT
from theory.inequality.interpolation import smooth_convex, smooth_strongly_convex
from theory.inequality.vectors import Condition, Form, Space, Vector, combination, inner, square
from theory.papers.textbook.words import (
    CONVEX_SAMPLES,
    G2,
    GOWER,
    JOHNSON_ZHANG,
    LOCAL_SGD,
    MEAN_SQUARED_GRADIENT_NORM,
    MODULI,
    PAPER_NAME,
    R2,
    SMOOTH,
    SMOOTH_SAMPLES,
    SQUARED_DISTANCE,
    STEP_1,
    STEP_HALF,
    STRONGLY_CONVEX,
    UNBIASED,
    K,
    L,
    M,
    N,
    Values,
    delta,
    distance2,
    f0_gap,
    k,
    mu,
    result,
    sigma2,
    sigma_star2,
)

Built = tuple[Space, Condition, list[Condition]]


def _pair(names: tuple[str, ...]) -> tuple[Space, list[Vector], dict[str, tuple[list[Vector], list[Form]]]]:
    """Two functions at the named points and at the minimiser 0 of their average, where their gradients cancel.

    Returns:
        The space, whose first vectors are those points; the points; by point ("*" is the minimiser), the gradients and
        the values of both functions.
    """
    gradients = [f"g{i}{name}" for name in names for i in (1, 2)]
    values = [f"f{i}{name}" for name in (*names, "*") for i in (1, 2)]
    space = Space((*names, *gradients, "h"), tuple(values))
    h = space.vector("h")
    known = {
        name: ([space.vector(f"g{i}{name}") for i in (1, 2)], [space.value(f"f{i}{name}") for i in (1, 2)])
        for name in names
    }
    known["*"] = ([h, -h], [space.value("f1*"), space.value("f2*")])
    return space, [space.vector(name) for name in names], known


def _smooth_pair(
    space: Space, places: dict[str, Vector], known: dict[str, tuple[list[Vector], list[Form]]], L: object
) -> list[Condition]:
    """Both functions convex with L-Lipschitz gradients through their points."""
    given: list[Condition] = []
    for i in range(2):
        points = [(x, known[name][0][i], known[name][1][i]) for name, x in places.items()]
        given += smooth_convex(space, points, L, f"f{i + 1}")  # type: ignore[arg-type]  # an exact number
    return given


def sgd_step(values: Values) -> Built:
    """E|x_1 - x*|^2 <= (1 - delta mu) |x-x*|^2 + 2 delta^2 sigma_*^2, two functions."""
    space, (x,), known = _pair(("x",))
    step, m = values["delta"], values["mu"]
    gradients, at_x = known["x"]
    given = _smooth_pair(space, {"x": x, "*": space.zero()}, known, values["L"])
    average = combination(["1/2", "1/2"], gradients)
    f, least = (at_x[0] + at_x[1]) / 2, (known["*"][1][0] + known["*"][1][1]) / 2
    given.append(f - inner(average, x) + m / 2 * square(x) <= least)
    after = (square(x - step * gradients[0]) + square(x - step * gradients[1])) / 2
    return space, after <= (1 - step * m) * square(x) + 2 * step**2 * square(space.vector("h")), given


def svrg_estimator(values: Values) -> Built:
    """E|v|^2 <= 4L (f(w) - f* + f(u) - f*), v = grad f_i(w) - grad f_i(u) + grad f(u), two functions."""
    space, (w, u), known = _pair(("w", "u"))
    given = _smooth_pair(space, {"w": w, "u": u, "*": space.zero()}, known, values["L"])
    full = combination(["1/2", "1/2"], known["u"][0])
    left = sum([square(g - s + full) for g, s in zip(known["w"][0], known["u"][0], strict=True)], Form(space)) / 2
    f, e, least = ((known[name][1][0] + known[name][1][1]) / 2 for name in ("w", "u", "*"))
    return space, left <= 4 * values["L"] * (f + e - 2 * least), given


def local_step(values: Values) -> Built:
    """One local gradient step of two clients: |y_1|^2 <= (1 - delta mu) |y|^2 + 2 delta L V, y their mean, x* = 0."""
    space = Space(("y", "e", "g1", "g2", "a1", "a2", "h"), ("w1", "w2", "m1", "m2", "s1", "s2"))
    y, e, h = (space.vector(name) for name in ("y", "e", "h"))
    step, m, s = values["delta"], values["mu"], values["L"]
    given: list[Condition] = []
    for i, (place, star) in enumerate(((y + e, h), (y - e, -h)), start=1):
        points = (
            (place, space.vector(f"g{i}"), space.value(f"w{i}")),
            (y, space.vector(f"a{i}"), space.value(f"m{i}")),
            (space.zero(), star, space.value(f"s{i}")),
        )
        given += smooth_strongly_convex(space, points, m, s, f"f{i}")
    after = y - step / 2 * (space.vector("g1") + space.vector("g2"))
    return space, square(after) <= (1 - step * m) * square(y) + 2 * step * s * square(e), given


NEXT_DISTANCE = Quantity("next_distance", "E||x_{k+1} - x*||^2", r"\mathbb{E}\Vert x_{k+1}-x^*\Vert^2")
MEAN_SUBOPTIMALITY = Quantity(
    "mean_suboptimality", "average over k=0..K-1 of E f(x_k) - f*", r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}f(x_k)-f^*"
)
ESTIMATOR = Quantity("estimator_second_moment", "E||v_m||^2", r"\mathbb{E}\Vert v_m\Vert^2")
EPOCH_MEAN = Quantity(
    "mean_local_suboptimality",
    "average over the M inner iterates of one epoch of E f(w_m) - f*",
    r"\frac{1}{M}\sum_{m=0}^{M-1}\mathbb{E}f(w_m)-f^*",
)
UNROLLED = Hypothesis("recursion", "r_{k+1} <= q r_k + c")
RECURSION = Quantity("recursion", "r_K", "r_K", recursion=Recursion("K", 0, "r0", "q*recursion + c", "<=", UNROLLED))

local_gap = Parameter("local_gap", NONNEGATIVE, "E f(w_m) - f*")
snapshot_gap = Parameter("snapshot_gap", NONNEGATIVE, "E f(u) - f* at the snapshot u")
start_gap = Parameter("start_gap", NONNEGATIVE, "E f(w_0) - f* where the epoch begins")
drift = Parameter("drift", NONNEGATIVE, "(1/N) sum over clients n and local steps m of E||w_{n,m} - x_k||^2")
noise = Parameter("noise", NONNEGATIVE, "(1/N^2) sum over clients n and local steps m of E||v_{n,m}||^2")
drift2 = Parameter("drift2", NONNEGATIVE, "mean over the clients of ||w_n - y||^2")
q = Parameter("q", OPEN_UNIT, "factor of the recursion")
r0 = Parameter("r0", NONNEGATIVE, "r_0")
c = Parameter("c", NONNEGATIVE, "constant of the recursion")

BELOW_HALF = Hypothesis("step size", "delta < 1/(2L)", relation="delta < 1/(2*L)")
EVERY_CLIENT = Hypothesis("clients", "every f_n is mu-strongly convex and its gradient is L-Lipschitz")

ALPHA = "1/(mu*delta*(1-2*L*delta)*M) + 2*L*delta/(1-2*L*delta)"


def _each(name: str, values: tuple[str, ...], **fixed: str) -> tuple[dict[str, str], ...]:
    return tuple({**fixed, name: value} for value in values)


CLAIMS = (
    result(
        "sgd-step",
        "one step of SGD under strong convexity",
        "x_{k+1} = x_k - delta grad f_i(x_k), i drawn afresh in every step; delta <= 1/(2L): E||x_{k+1}-x*||^2 <= (1 -"
        " delta mu) E||x_k-x*||^2 + 2 delta^2 sigma_*^2, "
        "sigma_*^2 = E||grad f_i(x*)||^2.",
        NEXT_DISTANCE.latex + r"\leq(1-\delta\mu)\mathbb{E}\Vert x_k-x^*\Vert^2+2\delta^2\sigma_*^2",
        NEXT_DISTANCE,
        f"{GOWER}, proof of Theorem 3.1",
        parameters=(delta, mu, L, distance2, sigma_star2),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, STRONGLY_CONVEX, MODULI, UNBIASED, STEP_HALF),
        relation="<=",
        right="(1-delta*mu)*distance2 + 2*delta**2*sigma_star2",
        vectors=VectorLine(
            sgd_step, _each("delta", ("1/2", "1/5"), mu="1/10", L="1"), "two functions; these mu/L and delta L"
        ),
        sentence=VectorSentence(
            ("x", "G", "g", "h"),
            {
                "next_distance": "norm2(x - delta*G)",
                "distance2": "norm2(x)",
                "sigma_star2": "norm2(h)",
            },
            ("fx", "fmin"),
            (
                FunctionAt("f_i", {"x": ("x", "G", "fx"), "*": ("0", "h", "fmin")}, "sample"),
                FunctionAt("f", {"x": ("x", "g", "fx"), "*": ("0", "0", "fmin")}),
            ),
            (
                Given("E grad f_i(x) = grad f(x)", (UNBIASED,), "dot(G - g, x) == 0"),
                Given("E grad f_i(x*) = 0", (UNBIASED,), "dot(h, x) == 0"),
            ),
            {
                "f_i smooth convex(x,*)": "4*L*delta**2",
                "E grad f_i(x*) = 0": "-4*L*delta**2",
                "f strongly convex(*,x)": "2*delta",
                "E grad f_i(x) = grad f(x)": "-2*delta",
                "f strongly convex(x,*)": "2*delta*(1 - 2*L*delta)",
            },
        ),
    ),
    result(
        "sgd-strongly-convex",
        "SGD under strong convexity: linear down to a noise ball",
        "x_{k+1} = x_k - delta grad f_i(x_k), i drawn afresh in every step; delta <= 1/(2L): E||x_k-x*||^2 <= (1 - "
        "delta mu)^k ||x_0-x*||^2 + 2 delta sigma_*^2/mu.",
        SQUARED_DISTANCE.latex + r"\leq(1-\delta\mu)^k\Vert x_0-x^*\Vert^2+\frac{2\delta\sigma_*^2}{\mu}",
        SQUARED_DISTANCE,
        f"{GOWER}, Theorem 3.1",
        kind="theorem",
        parameters=(delta, mu, L, k, R2, sigma_star2),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, STRONGLY_CONVEX, MODULI, UNBIASED, STEP_HALF),
        definitions={"transient": "(1-delta*mu)**k*R2", "noise_ball": "2*delta*sigma_star2/mu"},
        relation="<=",
        right="transient + noise_ball",
    ),
    result(
        "minibatch-sgd",
        "minibatch SGD under strong convexity",
        "x_{k+1} = x_k - (delta/N) sum of grad f_i(x_k) over N independent i; delta <= 1/(2L): E||x_k-x*||^2 <= (1 - "
        "delta mu)^k ||x_0-x*||^2 + "
        "2 delta sigma_*^2/(mu N).",
        SQUARED_DISTANCE.latex + r"\leq(1-\delta\mu)^k\Vert x_0-x^*\Vert^2+\frac{2\delta\sigma_*^2}{\mu N}",
        SQUARED_DISTANCE,
        f"{GOWER}, Theorem 3.1 with its minibatches, here with replacement",
        kind="theorem",
        parameters=(delta, mu, L, N, k, R2, sigma_star2),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, STRONGLY_CONVEX, MODULI, UNBIASED, STEP_HALF),
        definitions={"transient": "(1-delta*mu)**k*R2", "noise_ball": "2*delta*sigma_star2/(mu*N)"},
        relation="<=",
        right="transient + noise_ball",
        remarks=(
            "A batch of independent samples has an expected smoothness of L/N + (1-1/N) L_f <= L, L_f that of f, and "
            "the variance sigma_*^2/N at x*.",
        ),
    ),
    result(
        "sgd-convex",
        "SGD under convexity, on average over the iterates",
        "x_{k+1} = x_k - delta grad f_i(x_k), i drawn afresh in every step; delta < 1/(2L): (1/K) sum_{k<K} E f(x_k) -"
        " f* <= ||x_0-x*||^2/(2 delta (1-2 delta L) K) + "
        "delta sigma_*^2/(1-2 delta L).",
        MEAN_SUBOPTIMALITY.latex
        + r"\leq\frac{\Vert x_0-x^*\Vert^2}{2\delta(1-2\delta L)K}+\frac{\delta\sigma_*^2}{1-2\delta L}",
        MEAN_SUBOPTIMALITY,
        "Garrigos, Gower, Handbook of Convergence Theorems for (Stochastic) Gradient Methods (2023), section 5, "
        "convex case with a constant step",
        kind="theorem",
        parameters=(delta, L, K, R2, sigma_star2),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, UNBIASED, BELOW_HALF),
        definitions={"transient": "R2/(2*delta*(1-2*delta*L)*K)", "noise_ball": "delta*sigma_star2/(1-2*delta*L)"},
        relation="<=",
        right="transient + noise_ball",
    ),
    result(
        "sgd-nonconvex",
        "SGD on smooth functions, convex or not",
        "x_{k+1} = x_k - delta grad f_i(x_k), i drawn afresh in every step; delta <= 1/L, E||v_k - grad f(x_k)||^2 <= "
        "sigma^2: (1/K) sum_k E||grad f(x_k)||^2 <= "
        "2 (f(x_0) - f*)/(delta K) + delta L sigma^2.",
        MEAN_SQUARED_GRADIENT_NORM.latex + r"\leq\frac{2(f(x_0)-f^*)}{\delta K}+\delta L\sigma^2",
        MEAN_SQUARED_GRADIENT_NORM,
        "Bottou, Curtis, Nocedal, SIAM Review 60 (2018), Theorem 4.8; Ghadimi, Lan, SIAM J. Optim. 23 (2013), "
        "Theorem 2.1",
        kind="theorem",
        parameters=(delta, L, K, f0_gap, sigma2),
        hypotheses=(SMOOTH, UNBIASED, STEP_1),
        definitions={"optimisation_term": "2*f0_gap/(delta*K)", "noise_term": "delta*L*sigma2"},
        relation="<=",
        right="optimisation_term + noise_term",
    ),
    result(
        "svrg-estimator",
        "the variance-reduced gradient is small near the minimiser",
        "v_m = grad f_i(w_m) - grad f_i(u) + grad f(u), w_{m+1} = w_m - delta v_m, w_0 = u: E||v_m||^2 <= 4 L (E "
        "f(w_m) - f* + E f(u) - f*).",
        ESTIMATOR.latex + r"\leq 4L(\mathbb{E}f(w_m)-f^*+\mathbb{E}f(u)-f^*)",
        ESTIMATOR,
        f"{JOHNSON_ZHANG}, proof of Theorem 1",
        parameters=(L, local_gap, snapshot_gap),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, UNBIASED),
        relation="<=",
        right="4*L*(local_gap + snapshot_gap)",
        vectors=VectorLine(svrg_estimator, ({"L": "1"},), "two functions; every L, by scaling f"),
        sentence=VectorSentence(
            ("w", "u", "G", "S", "s", "h"),
            {
                "estimator_second_moment": "norm2(G - S + s)",
                "local_gap": "fw - fmin",
                "snapshot_gap": "fu - fmin",
            },
            ("fw", "fu", "fmin"),
            (FunctionAt("f_i", {"w": ("w", "G", "fw"), "u": ("u", "S", "fu"), "*": ("0", "h", "fmin")}, "sample"),),
            (
                Given("E grad f_i(x*) = 0 at w", (UNBIASED,), "dot(h, w) == 0"),
                Given("E grad f_i(x*) = 0 at u", (UNBIASED,), "dot(h, u) == 0"),
                Given("s = E (grad f_i(u) - grad f_i(x*))", (UNBIASED,), "dot(S - h - s, s) == 0"),
            ),
            {
                "f_i smooth convex(w,*)": "4*L",
                "f_i smooth convex(u,*)": "4*L",
                "E grad f_i(x*) = 0 at w": "-4*L",
                "E grad f_i(x*) = 0 at u": "-4*L",
                "s = E (grad f_i(u) - grad f_i(x*))": "-4",
            },
        ),
    ),
    result(
        "svrg-contraction",
        "one epoch of SVRG contracts",
        "v_m = grad f_i(w_m) - grad f_i(u) + grad f(u), w_{m+1} = w_m - delta v_m, w_0 = u, an inner iterate drawn "
        "uniformly from w_0..w_{M-1}: E f - f* <= alpha (E f(w_0) - f*), alpha = "
        "1/(mu delta (1-2 L delta) M) + 2 L delta/(1-2 L delta) < 1.",
        EPOCH_MEAN.latex + r"\leq(\frac{1}{\mu\delta(1-2L\delta)M}+\frac{2L\delta}{1-2L\delta})(\mathbb{E}f(w_0)-f^*)",
        EPOCH_MEAN,
        f"{JOHNSON_ZHANG}, Theorem 1",
        kind="theorem",
        parameters=(mu, L, delta, M, start_gap),
        hypotheses=(
            SMOOTH_SAMPLES,
            CONVEX_SAMPLES,
            STRONGLY_CONVEX,
            MODULI,
            UNBIASED,
            BELOW_HALF,
            Hypothesis("contraction", "M is so large that alpha < 1", relation="alpha < 1"),
        ),
        definitions={"alpha": ALPHA},
        relation="<=",
        right="alpha*start_gap",
    ),
    result(
        "local-gradient-step",
        "one local gradient step of all clients",
        "y the mean of the local iterates w_n, V = (1/N) sum_n ||w_n-y||^2, delta <= 1/(2L): "
        "||y_1-x*||^2 <= (1 - delta mu) ||y-x*||^2 + 2 delta L V.",
        r"\Vert y_1-x^*\Vert^2\leq(1-\delta\mu)\Vert y-x^*\Vert^2+2\delta LV",
        NEXT_DISTANCE,
        f"{LOCAL_SGD}, Lemma 3.1, with exact gradients",
        parameters=(delta, mu, L, distance2, drift2),
        hypotheses=(EVERY_CLIENT, MODULI, STEP_HALF),
        relation="<=",
        right="(1-delta*mu)*distance2 + 2*delta*L*drift2",
        vectors=VectorLine(
            local_step, _each("delta", ("1/2", "1/4"), mu="1/10", L="1"), "two clients; these mu/L and delta L"
        ),
    ),
    result(
        "local-sgd-round",
        "one round of local SGD under strong convexity",
        "N clients take M steps each with sampled gradients v of their own f_n, the server averages; delta <= 1/(2L): "
        "E||x_{k+1}-x*||^2 <= (1 - delta mu)^M E||x_k-x*||^2 + 2 delta L drift + delta^2 noise, "
        "drift = (1/N) sum_{n,m} E||w_{n,m}-x_k||^2, noise = (1/N^2) sum_{n,m} E||v_{n,m}||^2.",
        NEXT_DISTANCE.latex
        + r"\leq(1-\delta\mu)^M\mathbb{E}\Vert x_k-x^*\Vert^2+\frac{2\delta L}{N}\sum_{n,m}\mathbb{E}\Vert w_{n,m}-x_k"
        r"\Vert^2+\frac{\delta^2}{N^2}\sum_{n,m}\mathbb{E}\Vert v_{n,m}\Vert^2",
        NEXT_DISTANCE,
        f"{LOCAL_SGD}, Lemma 3.1 summed over the M steps of a round",
        parameters=(delta, mu, L, M, distance2, drift, noise),
        hypotheses=(SMOOTH, STRONGLY_CONVEX, MODULI, UNBIASED, STEP_HALF),
        definitions={
            "transient": "(1-delta*mu)**M*distance2",
            "drift_term": "2*delta*L*drift",
            "noise_term": "delta**2*noise",
        },
        relation="<=",
        right="transient + drift_term + noise_term",
        remarks=(
            "local-gradient-step at each of the M steps, with the sampling noise, whose variance is at most the second "
            "moment and is divided by N; the mean y of the w_n is nearer to them than x_k is.",
        ),
    ),
    result(
        "local-sgd-strongly-convex",
        "local SGD under strong convexity",
        "N clients take M steps each with sampled gradients v of their own f_n, the server averages; delta <= 1/(2L), "
        "E||v||^2 <= G2: E||x_k-x*||^2 <= (1 - delta mu)^(kM) ||x_0-x*||^2 + delta G2/(mu N) + "
        "2 delta^2 L (M-1)^2 G2/mu.",
        SQUARED_DISTANCE.latex
        + r"\leq(1-\delta\mu)^{kM}\Vert x_0-x^*\Vert^2+\frac{\delta G^2}{\mu N}+\frac{2\delta^2L(M-1)^2G^2}{\mu}",
        SQUARED_DISTANCE,
        f"{LOCAL_SGD}, Lemmas 3.1 and 3.3 with a constant step, constants by the remark",
        kind="theorem",
        parameters=(delta, mu, L, M, N, k, R2, G2),
        hypotheses=(SMOOTH, STRONGLY_CONVEX, MODULI, UNBIASED, STEP_HALF),
        definitions={
            "transient": "(1-delta*mu)**(k*M)*R2",
            "noise_ball": "delta*G2/(mu*N)",
            "drift_ball": "2*delta**2*L*(M-1)**2*G2/mu",
        },
        relation="<=",
        right="transient + noise_ball + drift_ball",
        remarks=(
            "After m local steps E||w_{n,m}-x_k||^2 <= delta^2 m^2 G2, so each step adds at most 2 delta L delta^2 "
            "(M-1)^2 G2 + delta^2 G2/N (local-sgd-round); divided by delta mu, the sum of the geometric series.",
        ),
        steps=(
            Step(
                "geometric series",
                r"\frac{2\delta^3L(M-1)^2G^2+\delta^2G^2/N}{\delta\mu}",
                "=",
                r"\frac{\delta G^2}{\mu N}+\frac{2\delta^2L(M-1)^2G^2}{\mu}",
                "summation",
                claim=f"{PAPER_NAME}/recursion",
                identity=(
                    "(2*delta*L*delta**2*(M-1)**2*G2 + delta**2*G2/N)/(delta*mu)",
                    "delta*G2/(mu*N) + 2*delta**2*L*(M-1)**2*G2/mu",
                ),
            ),
        ),
    ),
    result(
        "recursion",
        "a linear recursion unrolled",
        "r_{k+1} <= q r_k + c for all k, 0 < q < 1: r_K <= q^K r_0 + c (1-q^K)/(1-q) <= q^K r_0 + c/(1-q).",
        r"r_K\leq q^Kr_0+\frac{c(1-q^K)}{1-q}",
        RECURSION,
        "Polyak, Introduction to Optimization (1987), section 2.2.1, Lemma 1",
        parameters=(q, c, r0, K),
        hypotheses=(UNROLLED,),
        relation="<=",
        right="q**K*r0 + c*(1-q**K)/(1-q)",
        steps=(
            Step(
                "K = 1",
                r"qr_0+c",
                "=",
                r"qr_0+\frac{c(1-q)}{1-q}",
                "identity",
                identity=("q*r0 + c", "q*r0 + c*(1-q)/(1-q)"),
            ),
            Step(
                "K to K+1",
                r"q(q^Kr_0+\frac{c(1-q^K)}{1-q})+c",
                "=",
                r"q^{K+1}r_0+\frac{c(1-q^{K+1})}{1-q}",
                "identity",
                "a stands for q^K",
                identity=("q*(a*r0 + c*(1-a)/(1-q)) + c", "q*a*r0 + c*(1-q*a)/(1-q)"),
            ),
        ),
    ),
)
