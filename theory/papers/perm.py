"""PERM, by Deng, Kamani, Mahdavinia and Mahdavi: every numbered result as printed.

The paper's K local steps are H, its R rounds or epochs the K rounds of a run; `printed` gives the bounds back the
paper's names. F = f is the mean of the f_n; "client i" is the first client; a_n, b_n and alpha_n are mixing weights.
W is the ball of radius r around 0, so D = 2r: one of the convex sets of which the paper speaks.

Two readings of Phi are kept apart. With (3) as printed grad_phi is ||grad Phi||; grad_sum is ||sum_j a_j grad f_j(v)||,
N times as much, which is what the proofs use: claims that are read so have ids that end in `unnormalised`, and repairs
say so. Matrices H_j (mean Hessians) are constants on quadratics, and there only they have a meaning off their path.
"""

import re
from functools import partial

from theory.claim import Paper, claim
from theory.derivation import at, combined, induction, root
from theory.derivation import step as by_round
from theory.domain import COUNT, INDEX, NONNEGATIVE, OPEN_UNIT, POSITIVE, REAL
from theory.papers import perm_proofs as proofs
from theory.papers.perm_proofs import LOCAL_MEAN, NEXT, solved
from theory.program import algorithm

# --- algorithms ------------------------------------------------------------------------------------------------------


def local_steps(w, x, gamma, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - gamma * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm
def local_sgd(w, x, *, gamma, H, r):
    """Algorithm 3, first part: local SGD to the common optimum, projected after each round."""
    return w.project(local_steps(w, x, gamma, H), r)


@algorithm
def one_round(w, x, *, gamma, H):
    """A round of it, before the projection."""
    return local_steps(w, x, gamma, H)


@algorithm
def exact_rounds(w, x, *, gamma, H):
    """It without noise and where W does not bind."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - gamma * w.gradient(y)
    return w.mean(y)


@algorithm
def minibatch_sgd(w, x, *, gamma, M):
    """The global model of Algorithm 2: a mini-batch of M samples of every client, where W does not bind."""
    return x - gamma * w.mean(w.gradient(x, w.sample(M)))


@algorithm
def projected_minibatch_sgd(w, x, *, gamma, M, r):
    """The same with its projection."""
    moved = x - gamma * w.mean(w.gradient(x, w.sample(M)))
    w.tap("moved", moved)
    return w.project(moved, r)


@algorithm
def gradient_steps(w, x, *, gamma):
    """The same without noise."""
    return x - gamma * w.full_gradient(x)


def visits(w, x, step, H, noisy=True):
    """H local steps at one client after another, in random order."""

    def turn(v, one):
        for _ in one.repeat(H):
            v = v - step * (one.gradient(v, one.sample()) if noisy else one.gradient(v))
        return v

    return w.visit(x, turn)


@algorithm
def shuffling(w, x, *, eta, alpha, H, N, r):
    """Algorithm 1, and Algorithm 4, which is it as one client sees it: an epoch visits all clients in random order."""
    return w.project(visits(w, x, eta * alpha * N, H), r)


@algorithm
def exact_shuffling(w, x, *, eta, alpha, H, N, r):
    """The same without noise."""
    return w.project(visits(w, x, eta * alpha * N, H, noisy=False), r)


@algorithm
def shuffling_local_sgd(w, x, *, eta, H):
    """Algorithm 4 where W does not bind, for functions N alpha_n f_n, of which Phi = sum_n alpha_n f_n is the mean."""
    return visits(w, x, eta, H)


def curved(w, v, i=None):
    """H v for a quadratic: how the gradient differs from that at 0."""
    return w.gradient(v, i) - w.gradient(v - v, i) if i is not None else w.gradient(v) - w.gradient(v - v)


def moves(w, x, eta, alpha, H, N):
    """Q_n grad f_n(x) for every client, Q_n = (sum_{t<K} (I - c H_n)^{K-1-t}) c, c = eta alpha_n N."""
    g = w.gradient(x)
    s = g - g
    for _ in w.repeat(H):
        w.tap("s", s)
        s = s - eta * alpha * N * curved(w, s) + eta * alpha * N * g
    return s


@algorithm
def unhindered(w, x, *, eta, alpha, H, N):
    """sum_j Q_j grad f_s(j)(x), the move of an epoch in which no client's step changes another's."""
    return w.sum(moves(w, x, eta, alpha, H, N))


@algorithm
def partly(w, x, *, eta, alpha, H, N, S):
    """The sum over the first S clients of a random order."""
    part = w.choose(S) * moves(w, x, eta, alpha, H, N)
    w.tap("part", part)
    return w.sum(part)


@algorithm(x="x0", m="0")
def epoch_and_moves(w, x, m, *, eta, alpha, H, N):
    """An epoch without noise, and beside it the sum of all Q_j grad f_s(j)(x)."""
    return visits(w, x, eta * alpha * N, H, noisy=False), w.sum(moves(w, x, eta, alpha, H, N))


@algorithm(x="0")
def epoch_noise(w, x, *, eta, alpha, H, N):
    """sum_j prod_{j'>j} (I - Q_j' H_j') delta_j: the noise of an epoch, on its own."""

    def turn(v, one):
        for _ in one.repeat(H):
            i = one.sample()
            v = v - eta * alpha * N * (one.gradient(v, i) - one.gradient(v - v))
        return v

    return w.visit(x, turn)


@algorithm
def sampled_mean(w, x, *, S):
    """The mean of S of the N vectors grad f_n(x), without replacement."""
    return w.average(w.gradient(x), w.choose(S))


@algorithm
def sampled_sum(w, x, *, alpha, S):
    """The sum of alpha_n grad f_n(x) over the first S clients of a random order."""
    part = w.choose(S) * alpha * w.gradient(x)
    w.tap("part", part)
    return w.sum(part)


def steps_and_noise(w, x, c, H, printed):
    """H+1 local steps, and w^0 less the two sums of Proposition 1; with `printed`, the last noise in all places."""
    y, g, sums = x, w.mean(w.gradient(x)), x - x
    i = w.sample()
    for _ in w.repeat(H):
        w.tap("y", y)
        w.tap("sums", sums)
        j = w.sample()
        noise = w.mean(w.gradient(y, j) - w.gradient(y))
        sums = sums - c * w.mean(curved(w, sums)) + c * (g if printed else g + noise)
        y = y - c * w.mean(w.gradient(y, j))
    noise = w.mean(w.gradient(y, i) - w.gradient(y))
    sums = sums - c * w.mean(curved(w, sums)) + c * (g if printed else g + noise)
    if printed:
        last = x - x
        for _ in w.repeat(H):
            last = last - c * w.mean(curved(w, last)) + c * noise
        sums = sums + last - c * w.mean(curved(w, last)) + c * noise
    return y - c * w.mean(w.gradient(y, i)), x - sums


@algorithm(x="x0", u="x0")
def unrolled_as_printed(w, x, u, *, c, H):
    """H+1 local steps of length c = eta alpha N, and beside them the formula of Proposition 1."""
    return steps_and_noise(w, x, c, H, True)


@algorithm(x="x0", u="x0")
def unrolled(w, x, u, *, c, H):
    """The same with delta^tau in the last sum."""
    return steps_and_noise(w, x, c, H, False)


def client_and_formula(w, x, s, z, sign, eta, alpha, H, N):
    """A random client's H noisy local steps, and its part of the formula of Lemma 7, which is z - s, z the start."""
    c, active = eta * alpha * N, w.choose(1)
    y, noise, q = w.each(x), w.each(x - x), w.each(x - x)
    for _ in w.repeat(H):
        w.tap("y", y)
        w.tap("noise", noise)
        w.tap("q", q)
        i = w.sample()
        noise = noise - c * curved(w, noise) + c * (w.gradient(y, i) - w.gradient(y))
        q = q - c * curved(w, q) + c * (w.gradient(z) - curved(w, s))
        y = y - c * w.gradient(y, i)
    return w.average(y, active), w.average(s + q + sign * noise, active), z


@algorithm(x="x0", s="0", z="x0")
def clients_unrolled_as_printed(w, x, s, z, *, eta, alpha, H, N):
    """One client after another, and beside it the formula of Lemma 7."""
    return client_and_formula(w, x, s, z, -1, eta, alpha, H, N)


@algorithm(x="x0", s="0", z="x0")
def clients_unrolled(w, x, s, z, *, eta, alpha, H, N):
    """The same with the other sign of the noise."""
    return client_and_formula(w, x, s, z, 1, eta, alpha, H, N)


@algorithm(x="x0", s="0", t="0", u="0", last="0")
def by_parts(w, x, s, t, u, last):
    """Sums of B_k and A_k B_k with a random matrix A_k and B_k = x[k], and sum_k (A_{k+1} - A_k) (B_0 + ... + B_k)."""
    i = w.sample()
    total = s + x
    turned = w.mean(curved(w, total, i))
    return (
        w.mean(w.gradient(x, w.sample())), total, t + w.mean(curved(w, x, i)), u + w.mean(curved(w, s, i)) - last,
        turned,
    )  # fmt: skip


@algorithm(x="x0", y="x0")
def products(w, x, y, *, a, b):
    """prod (I - a A_t) x0 and prod (I - b B_t) x0, A_t and B_t the Hessians of samples."""
    one, other = curved(w, x, w.sample()), curved(w, y, w.sample())
    w.tap("one", one)
    w.tap("other", other)
    return x - a * w.mean(one), y - b * w.mean(other)


@algorithm(x="x0", q="each 0")
def turned(w, x, q, *, eta, alpha, H, N):
    """Q_n x for every client, with another Hessian, that of a sample, in every local step."""
    s = w.each(x - x)
    for _ in w.repeat(H):
        bent = curved(w, s, w.sample())
        w.tap("s", s)
        w.tap("bent", bent)
        s = s - eta * alpha * N * bent + eta * alpha * N * x
    return x, s


# --- what claims share -----------------------------------------------------------------------------------------------

A1 = ("smooth(f_n, L)", "strongly_convex(f_n, mu)")
ALIKE_AT_OPTIMUM = (*A1, "same_minimiser(f_n)")
A2 = "bounded_variance(delta2)"
SIMPLEX = "sum_n(alpha_n) == 1"
STEPS = {"K": "H"}
DOMAINS = {
    **dict.fromkeys(("alpha", "G", "delta", "delta2", "b_n", "z_n", "c_n", "vc_n", "da2"), NONNEGATIVE),
    **dict.fromkeys(("m_n", "T_a", "R"), COUNT), "p": OPEN_UNIT,
}  # fmt: skip
"""Of names that are not simply positive, wherever claims speak of them and do not say what they are."""
KAPPA_G = {"kappa_g": "max_n(m_n)/(2*lam)"}
CONDITION = {"condition_number": "max_n(m_n)/min_n(m_n)"}
HALF_STEP = "gamma <= 1/(2*L)"
INSIDE = ("norm2(x0) <= r**2", "norm2(xstar) <= r**2")
SHORT = "4*eta*N*H*L <= 1"
OF_LEMMA_11 = "eta <= 1/(4*N*H*R*L)"
FIRST = "The client whose weights are meant, i, is the first; f_n are printed as sums, and used as averages."
TWO_STEPS = "A sentence has no loop: one and two gradient steps are written out, the first from the uniform weights."


def distances(point):
    """z_j = ||grad f_i - grad f_j||^2 at a point."""
    return f"norm2(first_n(grad(f_n, {point})) - grad(f_n, {point}))"


def best(costs):
    """The weights that solve (2) for these costs."""
    return f"simplex_n({costs}, lam/m_n)"


def result(label, statement, title, source, **fields):
    """A claim; what it amends and its equation are read off its label and its source, where they are not given."""
    printed, corrected, _ = label.partition("/corrected")
    place = source.removeprefix("repair of ").split(":")[0].split(",")[0] + (", corrected" if corrected else "")
    place += ", read with Phi = sum a_j f_j" if source.endswith("reads (3)") else ""
    fields = {"kind": "equation", "equation": place, "amends": printed if corrected else None, "assuming": (), **fields}
    of, where = fields.get("of"), fields.get("where", {})
    texts = (statement, *fields["assuming"], *fields.get("standing", ()), *where, *where.values())
    words = {*re.findall(r"[A-Za-z]\w*", " ".join(texts)), *(of.parameters if of is not None else ())}
    named = {n: d for n, d in DOMAINS.items() if {n, f"{n}_n"} & words and (n == "G" or n not in where)}
    fields["parameters"] = {**named, **fields.get("parameters", {})}
    return claim(label, statement, title=title, source=source, **fields)


lemma, theorem, proposition = (partial(result, kind=kind) for kind in ("lemma", "theorem", "proposition"))

# --- what PERM sets out to solve -------------------------------------------------------------------------------------


def solves(costs, weight):
    """a_n solves (1) or (2): at any b_n of the simplex the objective is larger, but for b_n = a_n."""
    left = f"sum_n(a_n*{costs}) + {weight}*sum_n(a_n**2/m_n) + {weight}*sum_n((b_n - a_n)**2/m_n)"
    return f"{left} <= sum_n(b_n*{costs}) + {weight}*sum_n(b_n**2/m_n)"


PROBLEMS = (
    result(
        "gen", "risk <= risk_star + complexity + discrepancy + deviation", "risk of a mixture of empirical losses",
        "Section 2, (GEN)", equation="(GEN)", assuming=(SIMPLEX,), where={
            "complexity": "sum_n(alpha_n*rad_n)", "discrepancy": "2*sum_n(alpha_n*disc_n)",
            "deviation": "C*sqrt(sum_n(alpha_n**2/m_n))",
        },
        printed={"alpha": "alpha_n", "rad": "rad_n", "disc": "disc_n", "n": "m_n"},
        parameters={**dict.fromkeys(("rad_n", "disc_n", "C"), NONNEGATIVE), "risk_star": REAL},
        in_words={
            "risk": "the true risk of client i at the minimiser of the mixture of empirical losses",
            "rad_n": "the empirical Rademacher complexity of the models on the samples of client n",
            "disc_n": "the discrepancy of the distributions of client n and client i",
            "C": "a constant with the failure probability in it, which the paper does not give",
        },
        remarks=("Informal and cited: it holds with high probability only.",),
    ),
    result(
        "eq1", solves("c_n", "1"), "weights from pairwise discrepancies", "Section 3.1, (1)", equation="(1)",
        assuming=("sum_n(b_n) == 1",), where={"a_n": "simplex_n(c_n, 1/m_n)"}, proof=solved("c_n", "1"),
        remarks=(
            "c_n stands for max over w of |f_i(w) - f_n(w)|, of which nothing but c_n >= 0 is used.",
            "(GEN) has C times the square root of the last sum; here it has neither the root nor a weight.", FIRST,
        ),
    ),
    result(
        "eq2", solves("z_n", "lam"), "weights from gradients at the common optimum", "Section 3.1, (2)", equation="(2)",
        assuming=(*A1, "sum_n(b_n) == 1"), where={"z_n": distances("xstar"), "a_n": best("z_n")},
        printed={"z": "z_n", "n": "m_n"}, proof=solved("z_n", "lam"),
        remarks=("The minimiser is a_j = n_j max(0, nu - z_j)/(2 lam): later proofs divide by weights.", FIRST),
    ),
    result(
        "eq2-heterogeneous", solves("c_n", "lam"), "weights for clients with models of their own", "Section 3.3",
        vectors=("y_n",), assuming=("smooth(f_n, L)", "sum_n(b_n) == 1"),
        where={"z_n": distances("y_n"), "c_n": "z_n + sqrt(vc_n/m_n)", "a_n": best("c_n")},
        printed={"z": "z_n", "n": "m_n", "vc": "vc_n"}, proof=solved("c_n", "lam"),
        remarks=("y_n is the model of client n, w* with its mask m_n; the gradients are those at y_n.", FIRST),
    ),
)  # fmt: skip

# --- how the weights move with w -------------------------------------------------------------------------------------

AT_TWO_POINTS = {
    "zeta_n": distances("xstar"), "z_n": distances("x"), "a_n": best("z_n"), "b_n": best("zeta_n"),
    "dist2": "norm2(x - xstar)", **KAPPA_G,
}  # fmt: skip
DISSIMILAR = {"dissimilarity": "sum_n(2*zeta_n + 4*L**2*dist2)"}
TWO_POINTS = {
    "vectors": ("x",), "assuming": A1, "where": {**AT_TWO_POINTS, **DISSIMILAR},
    "printed": {"n": "m_n", "zeta": "zeta_n"},
}  # fmt: skip
CHANGE2 = "sum_n((a_n - b_n)**2)"
OBSERVATION = result(
    "lipschitz-observation", f"{CHANGE2} <= 4*L**2*kappa_g**2*dissimilarity*dist2",
    "the weights move less the closer w is to w*", "Section 3.1, before Assumption 1",
    **TWO_POINTS
    | {"where": {**AT_TWO_POINTS, **CONDITION, "kappa_of_theorem_1": "1/(lam*min_n(m_n))", **DISSIMILAR}},
    proof=(*proofs.observed("x", "a_n", "zeta_n", "b_n"), combined("all", None, "observation")),
    remarks=("x is w^R. kappa_g is called a condition number; it is the Lipschitz modulus of a*(z).", FIRST),
)  # fmt: skip
LEMMA_3 = (
    lemma(
        "lemma-3", f"sqrt({CHANGE2}) <= kappa_g**2*dissimilarity*4*L*dist2", "how the weights move with w",
        "Lemma 3, appendix B.2", **TWO_POINTS,
        remarks=("The derivation bounds the square of the left side, and shows 4L^2 where 4L is printed.", FIRST),
    ),
    lemma(
        "lemma-3/corrected", f"sqrt({CHANGE2}) <= 2*L*kappa_g*sqrt(dissimilarity*dist2)",
        "how the weights move with w", "repair of Lemma 3: the observation of section 3.1", **TWO_POINTS,
        proof=(*proofs.observed("x", "a_n", "zeta_n", "b_n"), root("all", "observation")),
        remarks=("a*(z) is kappa_g-Lipschitz (Lemma 1), and f_i - f_j is L-smooth.",),
    ),
)  # fmt: skip

# --- gradient steps on the weights, Theorem 1 ------------------------------------------------------------------------

THREE = (
    "kappa_g is n_max/(2 lam), 'the condition number', in section 3.1, Lemma 3 and Theorems 2 and 3; 1/(lam n_min) in "
    "Theorem 1. The condition number of g_i in alpha is n_max/n_min, without lam."
)
KAPPAS = {"kappa_g": "max_n(m_n)/(2*lam)", "kappa_1": "1/(lam*min_n(m_n))", **CONDITION}


def step(before, costs):
    """A gradient step of length n_min/(2 lam) on g_i, projected onto the simplex."""
    return f"simplex_n({proofs.ahead(before, costs)}, 1)"


def descended(costs, name="d", start="1/N"):
    """The weights after one and after two steps from the start, as definitions."""
    return {f"{name}one_n": step(start, costs), f"{name}two_n": step(f"{name}one_n", costs)}


def after_steps(term):
    """A term in which `_steps_` stands for one or two, for T_a = 1 or 2; no value for other T_a."""
    return proofs.taken(*(term.replace("_steps_", f"{steps}_") for steps in ("one", "two")))


ERROR = after_steps("sum_n((d_steps_n - a_n)**2)")
RATES = {"a_n": best("z_n"), **descended("z_n"), **KAPPAS}
OF_PROOF_1 = "The step is 1/L_g = n_min/(2 lam), as the proof of Theorem 1 says."
ALPHA_RATES = (
    result(
        "theorem-1-alpha-rate", f"{ERROR} <= exp(-T_a/kappa_1)",
        "gradient steps on the weights, with Theorem 1's kappa_g", "Theorem 1 and its proof, appendix B.2",
        equation="proof of Theorem 1", where=RATES, printed={"n": "m_n"}, remarks=(THREE, OF_PROOF_1, TWO_STEPS),
    ),
    result(
        "theorem-1-alpha-rate/corrected", f"{ERROR} <= (1 - min_n(m_n)/max_n(m_n))**(2*T_a)*start2",
        "gradient steps on the weights", "repair of the rate in Theorem 1 and Lemmas 14 and 15",
        equation="proof of Theorem 1, corrected", printed={"n": "m_n"},
        where={**RATES, "start2": "sum_n((1/N - a_n)**2)"},
        proof=(*proofs.descended_to("a_n"), combined("all", None, "descent")),
        remarks=("A step multiplies distances by at most 1 - n_min/n_max; projections do not expand.", TWO_STEPS),
    ),
    result(
        "lemma-14-alpha-rate", f"{ERROR} <= (1 - 1/kappa_g)**T_a",
        "gradient steps on the weights, with Lemma 14's kappa_g", "Lemmas 14 and 15, appendix C.1",
        where=RATES, printed={"n": "m_n"}, remarks=(THREE, OF_PROOF_1, TWO_STEPS),
    ),
)  # fmt: skip

SPREAD = "3*H*gamma**2*delta2 + 6*H**2*gamma**2*{zeta}"
W_ERROR = {
    "spread": SPREAD.format(zeta="zeta"),
    "w_error": "(1 - mu*gamma)**(K*H)*dist0 + (gamma*L + 2*gamma**2*L**2)/(mu*gamma)*spread + gamma*delta2/(mu*N)",
}
BEGIN = {"dist0": "norm2(x0 - xstar)"}
# at each client's own local iterates, the largest over all draws
APART = {"zeta": "max_k(max_h(quantile(max_n(norm2(grad(f_n, y[k, h]) - grad(f, y[k, h]))), 1)))"}
# at every point of the smallest W that has all local iterates and w*, or more
APART_ON_W = {
    "zeta": f"max(max_n(norm2(grad(f_n, xstar))), max_k(max_h(quantile((max_n(norm(grad(f_n, {LOCAL_MEAN}) - grad(f, "
    f"{LOCAL_MEAN}))) + 2*L*max_n(norm(y[k, h] - {LOCAL_MEAN})))**2, 1))))"
}
DEFINITION_2 = (
    "Definition 2: zeta = sup over W of max_i ||grad f_i - grad F||^2, a squared norm. W is the hull of w* and the "
    "local iterates: zeta is at most what it is at w* and, with 2L times the distance from it, at the iterates' mean."
)
ALONG = "zeta is the largest ||grad f_i - grad F||^2 at the local iterates of client i, over all draws."
RUN = {"K": "H", "R": "K"}
HIDDEN = (
    "O~ hides constants. What is tested follows, whatever they are: where all gradients agree at w* and there is no "
    "noise, the right side tends to 0 with T_a, and the weights to those of (2) at w^R, so that these are those at w*."
)
AT_BOTH_ENDS = {"a_n": best(distances("x[K]")), "b_n": best(distances("xstar"))}
THEOREM_1 = (
    theorem(
        "theorem-1", f"{CHANGE2} <= 0", "the estimated weights converge", "Theorem 1, section 3.1", of=exact_rounds,
        assuming=ALIKE_AT_OPTIMUM, standing=(HALF_STEP,), where=AT_BOTH_ENDS,
        remarks=(
            "Printed: Algorithm 3 with gamma = Theta(log(RK)/(mu RK)), kappa_g = 1/(lam n_min): E||alpha_i^R - "
            "alpha_i*||^2 <= O~(exp(-T_a/kappa_g) + kappa_g^2 zbar_i(w*) L^2 (D^2/(RK) + kappa zeta^2/(mu^2 R^2) + "
            "delta^2/(mu^2 N R K))). gamma is any positive number at a given R and K. A factor N and, in the "
            "statement, kappa delta^2/(mu^2 R^2 K) are lost; zeta^2 has the wrong dimension.",
            HIDDEN, THREE, FIRST,
        ),
    ),
    theorem(
        "theorem-1/corrected", f"E({ERROR}) <= descent_term + model_term",
        "the estimated weights converge, with constants", "repair of Theorem 1", of=local_sgd,
        assuming=(*A1, A2, HALF_STEP, *INSIDE),
        where={
            "z_n": distances("x[K]"), **descended("z_n"), "a_n": best(distances("xstar")), **BEGIN, **APART,
            "zbar": f"mean_n({distances('xstar')})", **KAPPA_G, **CONDITION, **W_ERROR,
            "descent_term": "4*(1 - 1/condition_number)**(2*T_a)",
            "model_term": "16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error", "D": "2*r",
        },
        printed={**RUN, "n": "m_n", "D": "D"},
        proof=(*proofs.in_ball(), *proofs.last_local(projected=True), *proofs.estimated("x[K]")),
        remarks=("grad F(w*) = 0. At gamma = log(RK)/(mu RK) w_error begins with dist0/(RK).", TWO_STEPS, ALONG),
    ),
)  # fmt: skip

# --- the objective, and its minimisers -------------------------------------------------------------------------------

EQ3 = result(
    "eq3", "mean_n(alpha_n*f_n(v)) == sum_n(alpha_n*f_n(v))/N", "the objective of a personalised model",
    "Section 3.1, (3)", kind="definition", equation="(3)", vectors=("v",), assuming=(SIMPLEX,),
    remarks=(
        "Lemma 2's proof, Lemmas 10 to 12 and Theorems 2 and 3 use Phi = sum_j a_j f_j. An epoch moves by about eta N "
        "K sum_j a_j grad f_j, which is eta N^2 K grad Phi with (3).",
    ),
)  # fmt: skip

LEAST = ("dot(grad(f, u), v - u) >= 0", "dot(q, u - v) >= 0", "norm2(grad(f, v) - q) <= L**2*moved")


def lemma_2(label, share, source, remarks):
    """Lemma 2, Phi(a*, .) being the mean of the alpha_j f_j (share N), or their sum (share 1)."""
    by, more = ("/N", "w - t times (N - 1)*L/(2*N); ") if share == "N" else ("", "")
    error = "norm2(e) <= N*G**2*da2" if share == "1" else "norm2(e) <= G**2*da2/N"
    projection = "dot(w - v, L*(w - t) + grad(f, t) + e) <= 0"
    own = "norm2(u - v) <= N*G**2/mu**2*da2"
    slack = "7/2*N*G**2/L" if share == "1" else "(8*(N - 1)*(N + 1) + 7)*G**2/(2*L*N)"
    return lemma(
        label, "f(w) - f(v) <= 2*L*dv2 + (2*kappa_phi2*L + 4*N*G**2/L)*da2",
        "the gap at the best weights of a model made with others", source,
        vectors=("t", "w", "v", "u", "e"),
        assuming=(f"smooth(f, L{by})", f"strongly_convex(f, mu{by})", "mu <= L", projection, error, own),
        where={"kappa_phi2": "N*G**2/mu**2", "dv2": "norm2(t - u)"},
        proof=(
            combined(
                "gap", None,
                f"above f (t, w); strongly_convex f (t, v); {projection}; {error} times 1/(2*L); {own} times L",
                f"w - v + e/L times L/2; v - 2*u + t times L/2; v - t times mu{by}/2; {more}t - u times L; "
                f"1 times da2*(L*N*G**2/mu**2 + {slack})",
            ),
        ),
        remarks=(
            "f is Phi(a*, .), t the given point, w = vhat its projected step, v = v*(a*), u = v*(ahat), e = grad "
            "Phi(ahat, t) - grad Phi(a*, t), da2 = ||ahat - a*||^2. Of w, e and u is assumed what the projection, "
            "Assumption 4 and Lemma 1 say.",
            *remarks,
        ),
    )  # fmt: skip


MINIMISERS = (
    lemma(
        "lemma-1", "norm2(u - v) <= (L/mu)**2*moved", "the minimiser is Lipschitz in the weights",
        "Lemma 1, appendix B.1", vectors=("u", "v", "q"), assuming=("strongly_convex(f, mu)", *LEAST),
        parameters={"moved": NONNEGATIVE},
        remarks=(
            "f is Phi(a, .), u = v*(a) its minimiser over W, v = v*(a') that of Phi(a', .), q = grad Phi(a', v), "
            "moved = ||a - a'||^2. L is here the modulus of grad Phi in a, elsewhere the smoothness in v.",
        ),
    ),
    lemma_2(
        "lemma-2", "N", "Lemma 2, appendix B.1",
        (
            "The proof has Phi = sum_j a_j f_j, and loses L/2 in one line and a factor 2 in another. With (3) Phi is "
            "(mu/N)-strongly convex, (L/N)-smooth and its gradient (G/sqrt(N))-Lipschitz in a; kPhi is the same.",
        ),
    ),
    lemma_2("lemma-2/unnormalised", "1", "Lemma 2, as its proof reads (3)", ()),
)  # fmt: skip

# --- Algorithm 3, first part: local SGD (Lemmas 4 to 6) --------------------------------------------------------------


def one_step(label, sign, best_point, title, source, **fields):
    return lemma(
        label,
        f"E(norm2({NEXT} - {best_point})) <= (1 - mu*gamma)*dist {sign} (2*gamma - 4*gamma**2*L)*gap"
        " + (gamma*L + 2*gamma**2*L**2)*drift + gamma**2*delta2/N",
        title, source, of=one_round,
        where={
            "dist": f"E(norm2({LOCAL_MEAN} - {best_point}))", "gap": f"E(f({LOCAL_MEAN})) - f({best_point})",
            "drift": f"mean_n(E(norm2(y[k, h] - {LOCAL_MEAN})))",
        },
        **fields,
    )  # fmt: skip


def drift(label, power, left, where, **fields):
    title = "how far the clients drift apart within a round"
    return lemma(
        label, f"{left} <= {SPREAD.format(zeta=power)}", title, of=one_round, where=where, printed=STEPS, **fields
    )  # fmt: skip


def last_iterate(label, power, where, **fields):
    return lemma(
        label, "E(norm2(x[K] - xstar)) <= start_term + drift_term + noise_term", "last iterate of local SGD",
        of=one_round,
        where={
            **where, **BEGIN, "spread": SPREAD.format(zeta=power), "start_term": "(1 - mu*gamma)**(K*H)*dist0",
            "drift_term": "(gamma*L + 2*gamma**2*L**2)/(mu*gamma)*spread", "noise_term": "gamma*delta2/(mu*N)",
        },
        printed=RUN, **fields,
    )  # fmt: skip


ONE_AVERAGE = "w^t is the mean of the clients' local iterates y, in the middle of a round too."
LOCAL = (
    one_step(
        "lemma-4", "+", "argmin_n(1/N, r)", "one step of local SGD", "Lemma 4, appendix B.2",
        assuming=(*A1, A2, "norm2(x0) <= r**2"), standing=(HALF_STEP,),
        remarks=(
            "Printed with -(2 gamma - 4 gamma^2 L) E(F(w*) - F(w^t)). The step is fixed in the proof of Lemma 6.",
            "w* minimises F over W, where grad F(w*) need not be 0; inside a round nothing is projected. The variance "
            "is bounded on W only, which local iterates may leave; here it is bounded everywhere.",
            ONE_AVERAGE,
        ),
    ),
    one_step(
        "lemma-4/corrected", "-", "xstar", "one step of local SGD", "repair of Lemma 4", assuming=(*A1, A2),
        proof=proofs.local_step(),
        remarks=("For every gamma > 0, if grad F(w*) = 0: the printed proof, its last sum carried out.", ONE_AVERAGE),
    ),
    drift(
        "lemma-5", "zeta**2", f"mean_n(norm2(y[k, h] - {LOCAL_MEAN}))", APART_ON_W,
        source="Lemma 5, appendix B.2; Woodworth, Patel, Srebro, NeurIPS 2020, Lemma 8",
        assuming=(*A1, A2, "quadratic(f_n)"), standing=(HALF_STEP,),
        remarks=("No expectation stands on the left. The step is fixed in the proof of Lemma 6.", DEFINITION_2),
    ),
    drift(
        "lemma-5/corrected", "zeta", f"mean_n(E(norm2(y[k, h] - {LOCAL_MEAN})))", APART, source="repair of Lemma 5",
        assuming=(*A1, A2, "gamma <= 2/L"), proof=proofs.drifted(),
        remarks=("Gradient steps on F bring clients nearer for gamma <= 2/L; zeta and noise drive them apart.", ALONG),
    ),
    last_iterate(
        "lemma-6", "zeta**2", APART_ON_W, source="Lemma 6, appendix B.2",
        assuming=(*A1, A2, HALF_STEP, "quadratic(f_n)"),
        remarks=("gamma <= 1/(2L) stands in the proof, which takes F(w*) - F(w) for not negative.", DEFINITION_2),
    ),
    last_iterate(
        "lemma-6/corrected", "zeta", APART, source="repair of Lemma 6", assuming=(*A1, A2, HALF_STEP),
        proof=proofs.last_local(), remarks=("lemma-4/corrected with lemma-5/corrected, over RK steps.", ALONG),
    ),
)  # fmt: skip

# --- Algorithms 1 and 4, the tools: unrolled updates, products of matrices -------------------------------------------

ON_QUADRATICS = "H_t is a mean Hessian, which no mean value theorem gives; on quadratics H u = grad f(u) - grad f(0)."
OF_QUADRATICS = ("smooth(f_ni, L)", "quadratic(f_ni)")
ONE_CLIENT = (*OF_QUADRATICS, "N <= 1")
UNROLLED = "norm2(x[k] - (x0 - s[k])) <= 0"
OF_CLIENTS = "norm2(y[k, {0}] - (z[k] - s[k] - q[k, {0}] - noise[k, {0}])) <= 0"
LONGEST_SUM = 12  # terms of Proposition 2's sum that are written out


def expansion(factor):
    """sum_{m=1}^{h-l} (e (h-l)/m)^m factor^m for h-l <= 12; min(1, max(0, h-l-m+1)) is 1 for m <= h-l, else 0."""
    terms = range(1, LONGEST_SUM + 1)
    return " + ".join(f"min(1, max(0, last - l - {m - 1}))*(exp(1)*(last - l)/{m}*{factor})**{m}" for m in terms)


def product_distance(label, right, where, **fields):
    return proposition(
        label, f"norm(x[K] - y[K])/norm(x0) <= {right}", "products of matrices near the identity", of=products,
        assuming=(*ONE_CLIENT, "K == last - l + 1", "l <= last"), where=where, printed={"h": "last"},
        parameters={"a": NONNEGATIVE, "b": NONNEGATIVE, "l": INDEX, "last": INDEX}, **fields,
    )  # fmt: skip


TOOLS = (
    proposition(
        "proposition-1", "norm2(x[1] - u[1]) <= 0", "local steps, unrolled", "Proposition 1, appendix B.3",
        of=unrolled_as_printed, assuming=ONE_CLIENT,
        remarks=(
            "w^{t+1} = w^0 - (sum_tau prod_{t'=t}^{tau+1} (I - c H_t')) c grad f(w^0) - sum_tau prod_{t'=t}^{tau+1} "
            "(I - c H_t') c delta^t, c = eta a N, 0 <= t <= K-1; here t = K-1 = H, and x[1] is w^{t+1}, u[1] the "
            "right side.",
            ON_QUADRATICS,
        ),
    ),
    proposition(
        "proposition-1/corrected", "norm2(x[1] - u[1]) <= 0", "local steps, unrolled", "repair of Proposition 1",
        of=unrolled, assuming=ONE_CLIENT,
        proof=(
            induction(
                "turns", "norm2(y[k, h] - (x[k] - sums[k, h])) <= 0", [by_round("begin")],
                [by_round("go on", using=["IH"])], on="h",
            ),
            at("last turn", "turns", "norm2(y[0, H] - (x[0] - sums[0, H])) <= 0", k="0", h="H"),
            by_round("all", using=["last turn"]),
        ),
        remarks=("The same with delta^tau in the last sum.", ON_QUADRATICS),
    ),
    lemma(
        "lemma-7", "norm2(x[k] - (x0 - s[k])) <= 0", "an epoch, unrolled", "Lemma 7, appendix B.3; Q_j again in (11)",
        of=clients_unrolled_as_printed, assuming=(*OF_QUADRATICS, SIMPLEX),
        remarks=(
            "v^{r+1} = v^r - sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') (Q_j grad f_s(j)(v^r) - delta_j), Q_j = "
            "(sum_{tau<K} prod_{t'=K-1}^{tau+1} (I - eta a_s(j) N H_t')) eta a_s(j) N. A client a round, drawn anew: "
            "that the clients s(j) differ is not used.",
            "delta_j's products run from t' = t, which is not bound (K-1), with delta^t for delta^tau; N' in (11) is "
            "N; v^{r+1} is what the epoch leaves before the projection.",
            ON_QUADRATICS,
        ),
    ),
    lemma(
        "lemma-7/corrected", "norm2(x[k] - (x0 - s[k])) <= 0", "an epoch, unrolled", "repair of Lemma 7",
        of=clients_unrolled, assuming=(*OF_QUADRATICS, SIMPLEX),
        proof=(
            induction(
                "all", UNROLLED, [combined("begin")],
                [
                    induction(
                        "turns", OF_CLIENTS.format("h"), [by_round("first", using=["IH 2", "IH 1"])],
                        [by_round("turn", using=["IH"])], on="h",
                    ),
                    at("last turn", "turns", OF_CLIENTS.format("H"), h="H"),
                    by_round("still", "norm2(z[k+1] - x0) <= 0", using=["IH 1"]),
                    by_round("go on", using=["last turn", "IH 1"]),
                ],
                sentences=["norm2(z[k] - x0) <= 0", UNROLLED],
            ),
        ),
        remarks=("The same with Q_j grad f_s(j)(v^r) + delta_j, before the projection.", ON_QUADRATICS),
    ),
    lemma(
        "lemma-8", "norm2(t[k] - (last[k] - u[k])) <= 0", "summation by parts", "Lemma 8, appendix B.3", of=by_parts,
        assuming=ONE_CLIENT,
        proof=(induction("all", None, [combined("begin")], [by_round("go on", using=["IH"])]),),
        remarks=(
            "sum_{j=1}^N A_j B_j = A_N sum_{j=1}^N B_j - sum_{n=1}^{N-1} (A_{n+1}-A_n) sum_{j<=n} B_j: t is the left "
            "side, last and u the terms of the right. A_j are Hessians of samples, B_j vectors.",
        ),
    ),
    product_distance(
        "proposition-2", "written_out*(expansion_a + expansion_b)",
        {
            "expansion_a": expansion("a*L"), "expansion_b": expansion("b*L"),
            "written_out": f"max(1, 1 - sqrt({LONGEST_SUM} - (last - l)))",
        },
        source="Proposition 2, appendix B.3",
        remarks=(
            "A product from l to h, here `last`, has h-l+1 factors. A_t <= L I does not bound A_t from below; the "
            "proof uses ||A_t|| <= L, and so does the sentence. b = 0 is the first statement.",
            f"The sums are written out for h - l <= {LONGEST_SUM}, where written_out is 1; beyond, it has no value.",
        ),
    ),
    product_distance(
        "proposition-2/corrected", "expansion_a + expansion_b",
        {"expansion_a": "(1 + a*L)**(last - l + 1) - 1", "expansion_b": "(1 + b*L)**(last - l + 1) - 1"},
        proof=proofs.near_identity(), source="repair of Proposition 2",
        remarks=("(1+aL)^d - 1, d = h-l+1, is attained by A_t = -L I; it is at most sum_{m=1}^d (e d/m)^m (aL)^m.",),
    ),
)  # fmt: skip

# --- sampling without replacement, and the norm of Q_j ---------------------------------------------------------------

AT_START = {"G": "max_n(norm(grad(f_n, x0)))"}
WEIGHTED = "sum_n(alpha_n*grad(f_n, x0))"
GRADIENTS = {"grad_phi": {"grad_phi": f"norm({WEIGHTED})/N"}, "grad_sum": {"grad_sum": f"norm({WEIGHTED})"}}
A4 = "Assumption 4 bounds the gradients on W, which may be as small as one likes; G is their largest norm at the point."


def partial_sum(label, size, gradient, chance, source, **fields):
    """Lemma 10, for the first `size` clients of a random order."""
    return lemma(
        label, "quantile(norm(x[1]), 1 - p) <= deviation + mean_term", "partial sums of weighted gradients", source,
        of=sampled_sum, assuming=("smooth(f_n, L)", SIMPLEX, f"S == {size}", "S <= N"),
        where={
            **AT_START, **GRADIENTS[gradient], "deviation": f"G*sqrt(8*m*log({chance}/p))",
            "mean_term": f"m/N*{gradient}",
        },
        printed={"n": "m"}, parameters={"m": INDEX if "+" in size else COUNT}, **fields,
    )  # fmt: skip


CERTAIN = "The weights sum to 1, so the partial sum is at most G with certainty."
SAMPLING = (
    lemma(
        "lemma-9", "quantile(norm(x[1] - grad(f, x0)), 1 - p) <= G*sqrt(8*(1 - (S - 1)/N)*log(2/p)/S)",
        "sampling without replacement", "Lemma 9, appendix B.3; Schneider, AISTATS 2016, Theorem 2", of=sampled_mean,
        assuming=("smooth(f_n, L)", "N >= 2", "S <= N"), where=AT_START, printed={"i": "S", "n": "N"},
        remarks=(
            "g_j are the gradients of N functions at a point, which may be any vectors. For one i that is fixed in "
            "advance; Lemma 11 uses it for every i of every epoch at once.",
        ),
    ),
    partial_sum(
        "lemma-10", "m + 1", "grad_phi", "1", "Lemma 10, appendix B.3",
        remarks=(
            "Phi as in (3). The sum has n+1 terms; the probability, not stated, is read as 1-p. Lemma 9 has log(2/p).",
            CERTAIN, A4,
        ),
    ),
    partial_sum("lemma-10/unnormalised", "m + 1", "grad_sum", "1", "Lemma 10, as its proof reads (3)", remarks=(A4,)),
    partial_sum(
        "lemma-10/corrected", "m", "grad_sum", "2", "repair of Lemma 10, Phi = sum a_j f_j",
        remarks=("For a fixed n: n/N times Lemma 9 for g_j = N a_j grad f_j, of which ||g_j|| <= N G.", CERTAIN),
    ),
    lemma(
        "lemma-10/corrected-2", "norm(x[1]) <= G", "partial sums of weighted gradients, without probability",
        "repair of Lemma 10", of=sampled_sum, assuming=("smooth(f_n, L)", SIMPLEX, "S <= N"), where=AT_START,
        proof=proofs.part_of_weights(), remarks=("For every permutation and every n.",),
    ),
    proposition(
        "proposition-3", "norm(q[1])/norm(x0) <= eta*alpha_n*N*H*(1 + eta*N*L)**H", "norm of Q_j",
        "Proposition 3, appendix B.3", of=turned, assuming=(*OF_QUADRATICS, "alpha_n <= 1"),
        printed={"alpha": "alpha_n", "K": "H"}, proof=proofs.turned_by(),
        remarks=("As ||Q_j x|| for all x. eta N L <= 1/K, named for the last step, is not needed.", ON_QUADRATICS),
    ),
)  # fmt: skip

# --- what an epoch does: bias and size of its move (Lemma 11), summation by parts and noise (Lemmas 12, 13) ----------

E_R = {"e_R": "exp(1)/(4*R - exp(1))"}
EPOCH = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "quadratic(f_n)", SIMPLEX)
ROUTE = "The printed route put right, with log(2N/p) for all partial sums together; by `corrected-2`, too, for every p."


def epoch_lemma(label, left, right, gradient, of, title, source, condition, *, where=(), **fields):
    remarks = (*fields.pop("remarks", ()), ON_QUADRATICS, A4)
    return lemma(
        label, f"{left} <= {right}", title, source, of=of,
        where={**AT_START, **GRADIENTS.get(gradient, {}), **dict(where)}, printed=STEPS,
        remarks=remarks, **{"assuming": (*EPOCH, *condition), **fields},
    )  # fmt: skip


# two clients of two samples each, whose gradients cancel, with a chance next to 1
NEXT_TO_ONE = {
    "algorithm": "perm/unhindered", "parameters": {"alpha": ["1/2", "1/2"], "H": 2, "eta": 1},
    "problem": {"clients": [
        [{"h": "2/3", "b": 1}, {"h": "-50/77", "b": 1}], [{"h": 1, "b": -1}, {"h": "-73/77", "b": -1}],
    ]},
    "start": 0, "rounds": 1, "constants": {"L": "2/77", "mu": "2/231", "R": 2, "p": "999999999/1000000000"},
}  # fmt: skip


def bias(label, factor, gradient, chance, source, **fields):
    """Lemma 11 (a) with a factor of the gradient's term."""
    terms = {
        **E_R, "gradient_term": f"{factor}*eta**2*N**2*H**2*e_R**2*{gradient}**2",
        "deviation_term": f"128*eta**2*N**3*H**2*e_R**2*G**2*log({chance}/p)",
    }  # fmt: skip
    return epoch_lemma(
        label, f"quantile(norm2(x[1] - eta*N*H*{WEIGHTED}), 1 - p)", "gradient_term + deviation_term", gradient,
        unhindered, "an epoch is nearly a gradient step", source, (OF_LEMMA_11,), where=terms, **fields,
    )  # fmt: skip


def part(label, gradient, chance, source, condition, **fields):
    """Lemma 11 (b) for parts of an epoch."""
    return epoch_lemma(
        label, "quantile(norm(x[1]), 1 - p)", f"3*exp(1)*eta*N*H*({gradient} + deviation)", gradient, partly,
        "part of an epoch", source, condition, where={"deviation": f"G*sqrt(8*N*log({chance}/p))"}, **fields,
    )  # fmt: skip


def cross(label, power, gradient, chance, source, condition, **fields):
    """Lemma 12: an epoch without noise is -sum Q_j grad f_s(j) and what is bounded here."""
    return epoch_lemma(
        label, "quantile(norm2(x[1] - x0 + m[1]), 1 - p)",
        f"18*exp(6)*eta**4*N**4*H**4*L**{power}*({gradient}**2 + 8*G**2*N*log({chance}/p))", gradient, epoch_and_moves,
        "what summation by parts leaves", source, condition, **fields,
    )  # fmt: skip


FOR_SOME_R = "The proof of Lemma 11 (a), before (12): 'Since we choose eta <= 1/(4NKRL)'; here for some R >= 1."
PRINTED = {"standing": (SHORT,), "remarks": (FOR_SOME_R,)}
EPOCHS = (
    bias(
        "lemma-11a", 10, "grad_phi", "1", "Lemma 11 (a), appendix B.3",
        remarks=(
            "Phi as in (3). Printed with eta N K sum_j a(j) grad f_s(j), which pairs the weight of client j with the "
            "gradient of client s(j); its proof has a(j) grad f_j, and that is read here.",
            "The proof divides by a_s(j), which is 0 for the sparse weights of (2); has Q_{N-1} for Q_N; and uses "
            "Lemma 10, for one n, for all n < N and all epochs at once.",
        ),
    ),
    bias("lemma-11a/unnormalised", 10, "grad_sum", "1", "Lemma 11 (a), as its proof reads (3)", given=(NEXT_TO_ONE,)),
    bias(
        "lemma-11a/corrected", 18, "grad_sum", "2*N", "repair of Lemma 11 (a), Phi = sum a_j f_j",
        remarks=("2 (1 + 2*2^2) = 18. No division by a_j, and Q_N for Q_{N-1}.", ROUTE),
    ),
    epoch_lemma(
        "lemma-11a/corrected-2", f"norm2(x[1] - eta*N*H*{WEIGHTED})", "eta**2*N**2*H**2*e_R**2*G**2", "", unhindered,
        "an epoch is nearly a gradient step, without probability", "repair of Lemma 11 (a), Phi = sum a_j f_j",
        (OF_LEMMA_11,), where=E_R, proof=proofs.near_a_step(),
        remarks=("||Q_j - eta N K a_j I|| <= eta N K a_j e_R, and the weights sum to 1.",),
    ),
    part(
        "lemma-11b", "grad_phi", "1", "Lemma 11 (b), appendix B.3", ("S <= N - 2",), standing=(SHORT,),
        remarks=("Phi as in (3). S = N'-1 terms, N' < N. Stated for N'-1 terms and proved for N'.", FOR_SOME_R),
    ),
    part("lemma-11b/unnormalised", "grad_sum", "1", "Lemma 11 (b), as its proof reads (3)", ("S <= N - 2",), **PRINTED),
    part(
        "lemma-11b/corrected", "grad_sum", "2*N", "repair of Lemma 11 (b), Phi = sum a_j f_j", ("S <= N", SHORT),
        remarks=(ROUTE,),
    ),
    epoch_lemma(
        "lemma-11b/corrected-2", "norm(x[1])", "exp(1)*eta*N*H*G", "", partly, "part of an epoch, without probability",
        "repair of Lemma 11 (b)", ("S <= N", "eta*N*H*L <= 1"), proof=proofs.part_of_epoch(),
        remarks=("By Proposition 3, as the weights sum to 1.",),
    ),
    cross(
        "lemma-12", 4, "grad_phi", "1", "Lemma 12, appendix B.3", (), standing=(SHORT,),
        remarks=("Phi as in (3). The proof's (1 + eta N K + eta^2 N^2 K L)^{2N} is not at most e^2.", FOR_SOME_R),
    ),
    cross("lemma-12/unnormalised", 4, "grad_sum", "1", "Lemma 12, as its proof reads (3)", (), **PRINTED),
    cross(
        "lemma-12/corrected", 2, "grad_sum", "2*N", "repair of Lemma 12, Phi = sum a_j f_j", (SHORT,),
        remarks=("One factor L, prod (1+||Q_j|| L) <= e, and lemma-11b/corrected.", ROUTE),
    ),
    epoch_lemma(
        "lemma-12/corrected-2", "norm2(x[1] - x0 + m[1])", "exp(2)*eta**4*N**4*H**4*L**2*G**2", "", epoch_and_moves,
        "what summation by parts leaves, without probability", "repair of Lemma 12", (SHORT,),
        remarks=(
            "With s = eta N K: sum_j ||Q_j|| <= s e^{1/4}, products of factors I - Q_j H_j are at most exp(s L "
            "e^{1/4}) <= e^{1/3} in norm, and partial sums of Q_j grad f_s(j) at most s e^{1/4} G.",
        ),
    ),
    lemma(
        "lemma-13", "E(norm(x[1])) <= eta*N*H*exp(2)*delta", "the noise of an epoch", "Lemma 13, appendix B.3",
        of=epoch_noise, assuming=(*EPOCH, A2, "delta2 <= delta**2"), standing=(SHORT,), printed=STEPS,
        remarks=(
            "Printed 'with probability at least 1-p'. Theorem 2 needs the second moment. (1 + eta a_s(j) N K (1+eta N "
            "L)^K L)^N <= e is false for a weight near 1 and many clients; the product of 1 + ||Q_j|| L is at most e.",
            FOR_SOME_R,
        ),
    ),
    lemma(
        "lemma-13/corrected", "E(norm2(x[1])) <= eta**2*N**2*H**2*exp(4)*delta**2",
        "the noise of an epoch, second moment", "repair of Lemma 13", of=epoch_noise,
        assuming=(*EPOCH, A2, "delta2 <= delta**2", SHORT), printed=STEPS,
        remarks=(
            "By Minkowski's inequality: ||delta_j|| <= eta a_j N sum_tau (1+eta N L)^K ||delta^tau||, of root mean "
            "square eta a_j N K e^{1/4} delta; the matrices before it are at most e^{1/3}.",
        ),
    ),
)  # fmt: skip

# --- Theorem 2: shuffling local SGD on estimated weights; s = eta N K ------------------------------------------------

V_STAR = "argmin_n(alpha_n, r)"
S = {"s": "eta*N*H"}
ON_W = {"G": "max_n(norm(grad(f_n, x0 - x0))) + L*r"}
A4_ON_W = "Assumption 4: G is a bound of the gradients on W, their largest norm in its middle plus L times its radius."
V_ONE = {"V": f"norm2(x0 - {V_STAR})"}
V_FIRST = {"V0": f"norm2(x0 - {V_STAR})"}
START_IN_W = "norm2(x0) <= r**2"
STRONG = (*A1, "mu <= L")
OF_EPOCHS = (*STRONG, A2, SIMPLEX, START_IN_W)


def epochs_of_2(R):
    """R >= max{(40/mu+1) e, 16 log(sqrt(NK) R), 64 kappa log(sqrt(NK) R)}"""
    log = f"log(sqrt(N*H)*{R})"
    return (
        f"eta == 4*{log}/(mu*N*H*{R})", f"eta <= 1/(4*N*H*{R}*L)", f"{R} >= (40/mu + 1)*exp(1)", f"{R} >= 16*{log}",
        f"mu*{R} >= 64*L*{log}",
    )  # fmt: skip


THE_STEPS = "Step and number of epochs stand in the proof, eta <= 1/(4NKRL) in that of Lemma 11; 40/mu + 1 mixes units."
BRACKET = "(244*exp(6)*s**4*L**4 + 256*eta**2*N**3*H**2*e_R**2)*G**2*N*log(1/p)"
PRINTED_TERMS = {
    **S, **E_R, "T1": "s - 4*s**2*L - (1/(2*mu*s) + 2)*(20*s**2*e_R**2 - 36*exp(6)*s**4*L**4)",
    "contraction_term": "(1 - mu*s/2)*V", "noise_term": "s**2*exp(4)*delta2",
    "bias_term": f"(1/(2*mu*s) + 2)*{BRACKET}",
}  # fmt: skip
DRIFT = "4*L**2*s**4*(G**2 + delta2/H)"
DERIVATION_STEP = (
    "Let v_k be the local iterates of the epoch, c_k = eta N a_j their steps, sum_k c_k = s, and n_k the noise, a "
    "martingale difference. v^{r+1} = P_W(v - s grad Phi(v) - B - M) with Phi = sum_j a_j f_j, M = sum_k c_k n_k, "
    "E||M||^2 <= eta^2 N^2 K sum_j a_j^2 delta^2 <= s^2 delta^2/K, and ||B|| <= sum_k c_k L ||v_k - v||. In root mean "
    "square, ||v_k - v|| <= (s G + s delta/sqrt(K)) exp(sL) (Gronwall), so for sL <= 1/4 E||B||^2 <= L^2 s^2 e^{1/2} "
    "(s G + s delta/sqrt(K))^2 <= 4 L^2 s^4 (G^2 + delta^2/K). v* = P_W(v* - s grad Phi(v*)) and P_W does not expand, "
    "so with a = v - v* - s (grad Phi(v) - grad Phi(v*)), which does not depend on the noise of the epoch, V' <= E||a "
    "- B - M||^2 <= (1+mu s/2)||a||^2 + (2/(mu s)+2) E||B||^2 + 2 E||M||^2, and ||a|| <= (1 - mu s)||v - v*||."
)
ALL_ORDERS = "E is over the orders too; the derivation has it for each of them."
ONE_EPOCH = (
    theorem(
        "theorem-2-step", f"E(norm2(x[1] - {V_STAR})) <= contraction_term + noise_term + bias_term", "one epoch",
        "proof of Theorem 2, appendix B.4", of=shuffling, assuming=(*OF_EPOCHS, *epochs_of_2("R")),
        where={**ON_W, **V_ONE, **PRINTED_TERMS}, printed=STEPS,
        remarks=(
            "Printed with - T1 gap in it, and 'T1 <= 0', so that this term is dropped. The bounds on the bias hold on "
            "an event, their expectation is not taken; E||delta^r||^2 is bounded through Lemma 13, on E||delta^r||.",
            THE_STEPS, A4_ON_W,
        ),
    ),
    theorem(
        "theorem-2-step/unnormalised",
        f"quantile(norm2(x[1] - {V_STAR}), 1 - p) <= contraction_term + noise_term - gap_term + bias_term",
        "one epoch, before the step size is chosen", "proof of Theorem 2, as it reads (3)",
        equation="proof of Theorem 2, read with Phi = sum a_j f_j", of=exact_shuffling,
        assuming=(*STRONG, SIMPLEX, START_IN_W, OF_LEMMA_11),
        where={
            **ON_W, **V_ONE, "gap": f"sum_n(alpha_n*f_n(x0)) - sum_n(alpha_n*f_n({V_STAR}))", **PRINTED_TERMS,
            "gap_term": "T1*gap",
        },
        printed=STEPS,
        remarks=("The same line before eta and R are put in; without noise, so delta2 is any number.", A4_ON_W),
    ),
    theorem(
        "theorem-2-step/corrected", f"E(norm2(x[1] - {V_STAR})) <= contraction_term + noise_term + bias_term",
        "one epoch, with the printed route's constants put right",
        "repair of the epoch in the proof of Theorem 2, Phi = sum a_j f_j", equation="proof of Theorem 2, corrected",
        of=shuffling, assuming=(*OF_EPOCHS, OF_LEMMA_11, "R >= L/mu"),
        where={
            **ON_W, **V_ONE, **S, **E_R,
            "T1": "s - 4*s**2*L - (2/(mu*s) + 2)*2*L*(36*s**2*e_R**2 + 36*exp(6)*s**4*L**2)",
            "contraction_term": "(1 - mu*s/2)*V", "noise_term": "s**2*exp(4)*delta2",
            "bias_term": "(2/(mu*s) + 2)*(288*exp(6)*s**4*L**2 + 256*s**2*e_R**2)*G**2*N*log(2*N/p)",
        },
        printed=STEPS,
        remarks=(
            "By theorem-2-step/corrected-2, as sL <= 1/(4R) and R >= kappa. The constants are those of the printed "
            "route with 2/(mu s) from Young, 2 * 18 * 8 = 288, one factor L in Lemma 12, 2L from smoothness and "
            "log(2N/p) from Lemma 9; T1, the factor of the gap, is dropped where it is at least 0.",
            ALL_ORDERS, A4_ON_W,
        ),
    ),
    theorem(
        "theorem-2-step/corrected-2", f"E(norm2(x[1] - {V_STAR})) <= contraction_term + noise_term + bias_term",
        "one epoch, without probability", "repair of the epoch in the proof of Theorem 2, Phi = sum a_j f_j",
        equation="proof of Theorem 2, corrected", of=shuffling, assuming=(*OF_EPOCHS, SHORT),
        where={
            **ON_W, **V_ONE, **S, "contraction_term": "(1 - mu*s)*V", "noise_term": "2*s**2*delta2/H",
            "bias_term": f"(2/(mu*s) + 2)*{DRIFT}",
        },
        printed=STEPS, remarks=(DERIVATION_STEP, ALL_ORDERS, A4_ON_W),
    ),
)  # fmt: skip


def deviation(fourth, second):
    """The deviation after all epochs, with the constants of its two terms."""
    terms = f"{fourth}*exp(6)*eta**3*N**3*H**3*L**4 + {second}*eta*N**2*H*e_R**2"
    return f"(1/(2*mu*s) + 2)*({terms})*G**2*N*log(1/p)"


V_TERMS = {
    **S, "start_term": "(1 - mu*s)**K*V0", "noise_term": "2*s*delta2/(mu*H)",
    "bias_term": "(2/(mu*s) + 2)*4*L**2*s**3*(G**2 + delta2/H)/mu",
}  # fmt: skip
ALPHA_PART = {
    **KAPPA_G, **CONDITION, **W_ERROR,
    "weight_error": "4*(1 - 1/condition_number)**(2*T_a) + 16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
    "weights_term": "(2*N*G**2/mu**2*L + 4*N*G**2/L)*weight_error",
}  # fmt: skip
PERSONAL_GAP = {"personal_gap": "E[Phi(a*, vhat) - Phi(a*, v*(a*))], with Phi = sum_j a_j f_j"}
ON_ALL = {
    "zbar": "(1/N) sum_j zeta_ij(w*)", "G": "a bound of the gradients' norms on W", "D": "the diameter of W",
}  # fmt: skip
WHOLE = {"dist0": "E||w^0 - w*||^2", "zeta": "sup over the run of max_i ||grad f_i - grad F||^2", **ON_ALL}
NO_STATE = "No algorithm of the language computes weights from a model, so the left side stands in words."
THEOREM_2 = (
    theorem(
        "theorem-2-unrolled", f"E(norm2(x[K] - {V_STAR})) <= start_term + noise_term + bias_term", "all epochs",
        "proof of Theorem 2, appendix B.4", of=shuffling, assuming=(*OF_EPOCHS, *epochs_of_2("K")),
        where={
            **ON_W, **V_FIRST, **S, "e_R": "exp(1)/(4*K - exp(1))", "start_term": "(1 - mu*s/2)**K*V0",
            "noise_term": "2/mu*s*exp(4)*delta2", "bias_term": f"1/mu*{deviation(488, 512)}",
        },
        printed=RUN, remarks=(THE_STEPS, A4_ON_W),
    ),
    theorem(
        "theorem-2-unrolled/corrected", f"E(norm2(x[K] - {V_STAR})) <= start_term + noise_term + bias_term",
        "all epochs", "repair of the recursion in the proof of Theorem 2, Phi = sum a_j f_j",
        equation="proof of Theorem 2, corrected", of=shuffling, assuming=(*OF_EPOCHS, SHORT),
        where={**ON_W, **V_FIRST, **V_TERMS}, printed=RUN,
        remarks=("theorem-2-step/corrected-2 over R epochs.", A4_ON_W),
    ),
    theorem(
        "theorem-2", "personal_gap <= rate", "personalised models by shuffling",
        "Theorem 2, section 3.1; proof in appendix B.4",
        assuming=("mu <= L", "eta == c_eta*log_of_statement/(mu*R)", *epochs_of_2("R")),
        where={"kappa": "L/mu", "log_of_statement": "log(N*H*R**3)", "log_of_proof": "log(sqrt(N*H)*R)"},
        printed=STEPS, parameters={"personal_gap": NONNEGATIVE, "c_eta": POSITIVE},
        in_words={
            **PERSONAL_GAP,
            "rate": "O~(D^2 L/(NKR^2)) + L delta^2/(mu^2 R) + ((L^4+N)/(mu^4 R^2)) L G^2 N log(1/p) + kPhi^2 L "
            "O~(exp(-T_a/kappa_g) + kappa_g^2 zbar L^2 (kappa zeta^2/(mu^2 R^2) + delta^2/(mu^2 N R K))), kappa_g = "
            "n_max/(2 lam), with probability at least 1-p",
        },
        remarks=(
            "Printed for Algorithm 1 on Algorithm 3's weights with eta = Theta(log(NKR^3)/(mu R)), that hides c_eta. "
            "It lacks the factor 1/(NK) of the proof's step, and has log(NKR^3) for 4 log(sqrt(NK) R).",
            THE_STEPS,
            "The term D^2/(RK) of the proof's last line is missing; L delta^2/(mu^2 R) has lost its logarithm. The "
            "last sentence's R = O(L delta^2/(mu eps)) has mu for mu^2. The proof's gap is of sum a_j f_j.",
        ),
    ),
    theorem(
        "theorem-2/corrected", "personal_gap <= model_term + weights_term",
        "personalised models by shuffling, with constants", "repair of Theorem 2, Phi = sum a_j f_j",
        assuming=("mu <= L", HALF_STEP, SHORT),
        where={
            **{name: text.replace("V0", "D**2") for name, text in V_TERMS.items()},
            "model_term": "2*L*(start_term + noise_term + bias_term)", **ALPHA_PART,
        },
        printed={**RUN, "n": "m_n"}, parameters=dict.fromkeys(WHOLE, NONNEGATIVE), in_words={**PERSONAL_GAP, **WHOLE},
        remarks=("By lemma-2/unnormalised, theorem-2-unrolled/corrected and theorem-1/corrected.", NO_STATE),
    ),
    theorem(
        "theorem-2/corrected-2", "personal_gap <= model_term + weights_term",
        "personalised models by shuffling, with a step that exists",
        "repair of Theorem 2's step size, Phi = sum a_j f_j", equation="Theorem 2, corrected",
        assuming=("mu <= L", HALF_STEP, "K >= 8*L/mu*log(sqrt(N*H)*K)"),
        where={
            "ell": "log(sqrt(N*H)*K)", "kappa": "L/mu", "start_term": "D**2/(N*H*K**2)",
            "noise_term": "4*ell*delta2/(mu**2*H*K)", "bias_term": "40*kappa**2*ell**2*(G**2 + delta2/H)/(mu**2*K**2)",
            "model_term": "2*L*(start_term + noise_term + bias_term)", **ALPHA_PART,
        },
        printed={**RUN, "n": "m_n"}, parameters=dict.fromkeys(WHOLE, NONNEGATIVE), in_words={**PERSONAL_GAP, **WHOLE},
        remarks=(
            "theorem-2/corrected with eta = 2 l/(mu N K R), l = log(sqrt(NK) R), N K R > 1: sL <= 1/4 is R >= 8 kappa "
            "l, which holds for R >= 16 kappa log(16 kappa sqrt(NK)); (1-mu s)^R <= exp(-2 l) = 1/(N K R^2).",
            NO_STATE,
        ),
    ),
)  # fmt: skip

# --- mini-batch SGD on the global model: Proposition 4 ---------------------------------------------------------------

OF_F = ("smooth(f, L)", "strongly_convex(f, mu)", "mu <= L", A2)
SGD_NOISE = (
    "E F(w^T) - F* <= (1-mu gamma)^T (F(w^0)-F*) + gamma L delta^2/(2 mu M) for gamma <= 1/L; then ||grad F||^2 <= 2L "
    "(F-F*), E||w^{T+1}-w^T||^2 <= gamma^2 E||grad F||^2 + gamma^2 delta^2/M, ||w-w*||^2 <= (2/mu)(F-F*)."
)


def minibatch(number, left, start, printed_noise, noise, rest=""):
    """(15), (16) or (17), as printed and put right."""

    def one(label, equation, source, noise, **fields):
        terms = {"kappa": "L/mu", "start_term": f"{start}*(1 - mu*gamma)**k*F_gap", "noise_term": noise}
        return proposition(
            label, f"{left} <= start_term + noise_term{' + sampling_term' if rest else ''}", "mini-batch SGD", source,
            equation=equation, of=minibatch_sgd,
            where={"F_gap": "f(x0) - fstar", **terms, **({"sampling_term": rest} if rest else {})}, printed={"T": "k"},
            **fields,
        )  # fmt: skip

    label = f"proposition-4-eq{number}"
    return (
        one(
            label, f"Proposition 4 ({number})", f"Proposition 4, ({number}), appendix C.1", printed_noise,
            assuming=OF_F, standing=("gamma <= 1/L",),
            remarks=("No proof is printed. The step is fixed in Theorem 3, where it is at most 1/L for all large R.",),
        ),
        one(
            f"{label}/corrected", f"Proposition 4 ({number}), corrected", f"repair of ({number})", noise, amends=label,
            assuming=(*OF_F, "gamma <= 1/L"), remarks=(SGD_NOISE,),
        ),
    )  # fmt: skip


PROPOSITION_4 = (
    *minibatch(15, "E(norm2(grad(f, x[k])))", "2*L", "2*gamma*kappa*delta2/M", "gamma*kappa*L*delta2/M"),
    *minibatch(
        16, "E(norm2(x[k+1] - x[k]))", "2*gamma**2*L", "2*gamma**3*kappa*delta2/M", "gamma**3*kappa*L*delta2/M",
        "gamma**2*delta2/M",
    ),
    *minibatch(17, "E(norm2(x[k] - xstar))", "2/mu", "2*gamma*delta2/(mu**2*M)", "gamma*L*delta2/(mu**2*M)"),
)  # fmt: skip

# --- how the weights of Algorithm 2 move and converge: Lemmas 14 and 15 ----------------------------------------------

NO_RATE = "kappa_g = n_max/(2 lam) stands for the condition number n_max/n_min, by which the steps contract."
AFTER_STEPS = {"zbar": f"mean_n({distances('xstar')})", **KAPPA_G, "D": "2*r"}
MOTION = {
    "descent_term": "12*(1 - min_n(m_n)/max_n(m_n))**(2*T_a)",
    "motion_factor": "24*L**2*kappa_g**2*N*(zbar + L**2*D**2)*gamma**2",
}
MOVING = (
    lemma(
        "lemma-14", f"{CHANGE2} <= 0", "the weights move little from epoch to epoch", "Lemma 14, appendix C.1",
        of=gradient_steps, assuming=(*ALIKE_AT_OPTIMUM, "gamma <= 1/L"),
        where={"a_n": best(distances("x[k+2]")), "b_n": best(distances("x[k+1]"))},
        remarks=(
            "Printed: ||a^r - a^{r-1}||^2 <= 6 (1-1/kappa_g)^{T_a} + O(kappa_g^2 L^2 zbar_i(w*)) (gamma^2 L (1-mu "
            "gamma)^r (F(w^0)-F(w*)) + gamma^3 kappa delta^2/M + gamma^2 delta^2/M). r = k+2: at r = 1 the weights "
            "a^0 = 1/N have taken no gradient step.",
            HIDDEN, NO_RATE,
            "A factor N is lost; the terms 8 L^2 ||w^r-w*||^2 are dropped; no expectation on the left.", FIRST,
        ),
    ),
    lemma(
        "lemma-14/corrected", f"E({after_steps('sum_n((e_steps_n - d_steps_n)**2)')}) <= descent_term + motion_term",
        "the weights move little from epoch to epoch, with constants", "repair of Lemma 14",
        of=projected_minibatch_sgd, assuming=(*STRONG, A2, "gamma <= 1/L", *INSIDE),
        where={
            **AFTER_STEPS, "y_n": distances("x[k]"), "z_n": distances("x[k+1]"), **descended("y_n"),
            "eone_n": step("done_n", "z_n"), "etwo_n": step(step("dtwo_n", "z_n"), "z_n"), **MOTION,
            "motion_term": "motion_factor*(L**2*((1 - mu*gamma)**k*D**2 + gamma*delta2/(mu*M)) + delta2/M)",
        },
        printed={"n": "m_n", "D": "D"}, proof=proofs.weights_of_epochs(),
        remarks=("r = k+1.", TWO_STEPS),
    ),
    lemma(
        "lemma-15", f"{CHANGE2} <= 0", "the weights converge", "Lemma 15, appendix C.1", of=gradient_steps,
        assuming=(*ALIKE_AT_OPTIMUM, "gamma <= 1/L"), where=AT_BOTH_ENDS,
        remarks=(
            "Printed: ||ahat - a*||^2 <= 2 (1-1/kappa_g)^{T_a} + O(kappa_g^2 zbar_i(w*) L^2 (2/mu) (1-mu gamma)^T + 2 "
            "gamma delta^2/(mu^2 M)). Lost are F(w^0)-F(w*), N, N L^2 ||w^R-w*||^4 and, in the second term, kappa_g^2 "
            "zbar L^2. T is R here.",
            HIDDEN, NO_RATE, FIRST,
        ),
    ),
    lemma(
        "lemma-15/corrected", f"E({ERROR}) <= descent_term + model_term", "the weights converge, with constants",
        "repair of Lemma 15", of=projected_minibatch_sgd, assuming=(*STRONG, A2, "gamma <= 1/L", *INSIDE),
        where={
            **AFTER_STEPS, "z_n": distances("x[k]"), **descended("z_n"), "a_n": best(distances("xstar")),
            "w_error": "(1 - mu*gamma)**k*D**2 + gamma*delta2/(mu*M)",
            "descent_term": "4*(1 - min_n(m_n)/max_n(m_n))**(2*T_a)",
            "model_term": "16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
        },
        printed={"n": "m_n", "T": "k", "D": "D"},
        proof=(*proofs.in_ball(), *proofs.last_minibatch(), *proofs.estimated("x[k]")),
        remarks=("As theorem-1/corrected, with projected mini-batch SGD in place of local SGD.", TWO_STEPS),
    ),
)  # fmt: skip

# --- Algorithm 2, the single loop: Theorem 3 -------------------------------------------------------------------------

MODEL_DISTANCE = {"model_distance": "E||v^R - v*(a^R)||^2, a^R the weights of the last epoch"}
SINGLE = (
    theorem(
        "theorem-3-explicit", f"E(norm2(x[K] - {V_STAR})) <= start_term + noise_term + bias_term",
        "the single loop, the part without the weights", "proof of Theorem 3, appendix C.2", of=shuffling,
        assuming=(
            *STRONG, A2, SIMPLEX, START_IN_W, "eta == 4*log(N*H*K**3)/(mu*N*H*K)", "eta <= 1/(4*N*H*K*L)",
            "K >= 3*exp(1)/8", "9*mu**3*K**3 >= 64*L**2*log(sqrt(N*H)*K)*exp(6)",
        ),
        where={
            **ON_W, **V_FIRST, **S, "e_R": "exp(1)/(4*K - exp(1))", "start_term": "(1 - mu*s/4)**K*V0",
            "noise_term": "s*exp(4)*delta2/mu", "bias_term": f"8/mu*{deviation(244, 256)}",
        },
        printed=RUN,
        remarks=(
            "To it the motion of the weights adds an O(.): here they do not move. The step is put in after the "
            "recursion; before it eta = 4 log(sqrt(NK) R)/(mu N K R) is named. eta <= 1/(4NKRL) is Lemma 11's.",
            "R's condition is another one than Theorem 2's for the same recursion.", A4_ON_W,
        ),
    ),
    theorem(
        "theorem-3-explicit/corrected", "model_distance <= start_term + noise_term + bias_term + weights_term",
        "the single loop, with the motion of the weights",
        "repair of the recursion in the proof of Theorem 3, Phi = sum a_j f_j",
        equation="proof of Theorem 3, corrected", assuming=("mu <= L", SHORT),
        where={
            **S, "start_term": "(1 - mu*s/2)**K*V0", "noise_term": "8*s*delta2/(mu*H)",
            "bias_term": f"4/(mu*s)*(2/(mu*s) + 2)*{DRIFT}", "weights_term": "4*N*G**2/(mu**4*s**2)*weight_drift2",
        },
        printed=RUN, parameters=dict.fromkeys(("V0", "weight_drift2"), NONNEGATIVE),
        in_words={
            **MODEL_DISTANCE, "weight_drift2": "the largest E||a^{r+1} - a^r||^2 over the epochs r < R",
            "V0": "E||v^0 - v*(a^0)||^2",
        },
        remarks=(
            "theorem-2-step/corrected-2 holds for a^r, which does not depend on the epoch's noise: U = "
            "E||v^{r+1} - v*(a^r)||^2 <= (1-x) V_r + c, x = mu s. Young with t = x/(2(1-x)) and Lemma 1 (v* is "
            "kPhi-Lipschitz): V_{r+1} <= (1+t) U + (1+1/t) kPhi^2 A <= (1-x/2) V_r + 2c + (2/x) kPhi^2 A.",
            "A step: eta = 2 log(NKR^3)/(mu N K R) for R >= 8 kappa log(NKR^3).", NO_STATE,
        ),
    ),
    theorem(
        "theorem-3", "personal_gap <= rate", "the single loop", "Theorem 3, section 3.2; proof in appendix C.2",
        parameters={"personal_gap": NONNEGATIVE},
        in_words={
            **PERSONAL_GAP,
            "rate": "O(L D^2/(NKR^3)) + O~((kappa^4 L/R^2 + N L/(mu^2 R^2)) G^2 N log(1/p) + L delta^2/(mu R)) + "
            "kPhi^2 L O~(kappa^2 kappa_g^2 L^2 zbar D G/R + R^2 exp(-T_a/kappa_g) + L kappa^2 kappa_g^2 zbar delta^2/"
            "(mu^2 M)), with probability at least 1-p",
        },
        remarks=(
            "Printed for Algorithm 2 with eta = gamma = Theta(log(NKR^3)/(mu R)). The proof's step is log(NKR^3)/(mu "
            "N K R), the statement's lacks 1/(NK).",
            "delta^2/(mu R) is delta^2/(mu^2 R) by the proof's own terms, and kappa^4, from L^4/mu^4, has the wrong "
            "dimension. (1 - log/R)^{R-r} (1 - mu gamma)^r is replaced by (1 - log/R)^R. Algorithm 2's last step vhat "
            "= P_W(v^R - (1/L) grad Phi) is forgotten where the proof sets vhat = v^R.",
            NO_STATE,
        ),
    ),
    theorem(
        "theorem-3/corrected", "personal_gap <= model_term + weights_term", "the single loop, with constants",
        "repair of Theorem 3, Phi = sum a_j f_j", assuming=("mu <= L", SHORT, "gamma <= 1/L"),
        where={
            **S, "x": "mu*s", **KAPPA_G, "kappa_phi2": "N*G**2/mu**2", **MOTION,
            "steady_motion": "descent_term + motion_factor*(L**2*gamma*delta2/(mu*M) + delta2/M)",
            "first_motion": "motion_factor*L**2*D**2", "epoch_term": f"4/x*(2*s**2*delta2/H + (2/x + 2)*{DRIFT})",
            "motion_term": "2/x*kappa_phi2*(2*(1 - x/2)**(K - 1) + 2*steady_motion/x "
            "+ first_motion*K*max(1 - x/2, 1 - mu*gamma)**(K - 1))",
            "model_term": "2*L*((1 - x/2)**K*D**2 + epoch_term + motion_term)",
            "w_error": "(1 - mu*gamma)**K*D**2 + gamma*delta2/(mu*M)", **CONDITION,
            "weight_error": ALPHA_PART["weight_error"], "weights_term": "(2*kappa_phi2*L + 4*N*G**2/L)*weight_error",
        },
        printed={**RUN, "n": "m_n"}, parameters={**dict.fromkeys(ON_ALL, NONNEGATIVE), "M": COUNT},
        in_words={**PERSONAL_GAP, **ON_ALL},
        remarks=(
            "grad F(w*) = 0. As theorem-3-explicit/corrected with A_0 <= 2 (the first weights are uniform) and "
            "A_r <= a_0 + a_1 (1-mu gamma)^r for r >= 1 (lemma-14/corrected at r+1), so sum_r (1-x/2)^{R-1-r} A_r <= 2 "
            "(1-x/2)^{R-1} + 2 a_0/x + a_1 R q^{R-1}, q = max(1-x/2, 1-mu gamma). Then lemma-2/unnormalised with "
            "lemma-15/corrected at T = R.",
            NO_STATE,
        ),
    ),
)  # fmt: skip

# From which lines the paper has its results, as its proofs cite them.
RESTS_ON = {
    "lemma-2": "lemma-1", "lemma-3": "lemma-1", "lemma-6": "lemma-4 lemma-5",
    "theorem-1": "lemma-3 lemma-6 theorem-1-alpha-rate", "lemma-7": "proposition-1", "lemma-10": "lemma-9",
    "lemma-11a": "lemma-8 proposition-2 lemma-10", "lemma-11b": "proposition-2 proposition-3 lemma-10",
    "lemma-12": "lemma-11b", "theorem-2-step": "lemma-7 lemma-8 lemma-11a lemma-12 lemma-13",
    "theorem-2-unrolled": "theorem-2-step", "theorem-2": "theorem-2-unrolled lemma-2 theorem-1",
    "lemma-14": "lemma-3 lemma-14-alpha-rate proposition-4-eq16",
    "lemma-15": "lemma-3 lemma-14-alpha-rate proposition-4-eq17",
    "theorem-3-explicit": "lemma-2 lemma-7 lemma-8 lemma-11a lemma-12 lemma-14",
    "theorem-3": "theorem-3-explicit lemma-15 lemma-2",
}  # fmt: skip

PAPER = Paper(
    name="perm", title="Distributed Personalized Empirical Risk Minimization",
    authors="Yuyang Deng, Mohammad Mahdi Kamani, Pouria Mahdavinia, Mehrdad Mahdavi",
    claims=(
        *PROBLEMS, OBSERVATION, *THEOREM_1, *ALPHA_RATES, EQ3, *MINIMISERS, *LEMMA_3, *LOCAL, *TOOLS, *SAMPLING,
        *EPOCHS, *ONE_EPOCH, *THEOREM_2, *PROPOSITION_4, *MOVING, *SINGLE,
    ),
    experiments="examples.perm",
    rests_on=RESTS_ON,
)  # fmt: skip
