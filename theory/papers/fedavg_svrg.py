"""FedAvg-SVRG for probabilistically activated agents, by Rostami and Kia: every numbered result as printed.

theta^k is x[k]; client n's inner iterate w_{n,s,m}^k is w[k, s, m], its substituted gradient v_{n,s,m}^k is v[k, s, m],
and (1_n^k/p_n^k) v_{n,s,m}^k is u[k, s, m]. Every client has them in every round, also one that does not take part:
the proofs sum over all n. Assumption 2 is `w.sample()`; that activations are independent is `w.coins(p)`.
"""

from dataclasses import replace

from theory.claim import Paper, claim
from theory.domain import COUNT, INDEX, PROBABILITY
from theory.papers import fedavg_svrg_proofs as proofs
from theory.program import algorithm


@algorithm
def fedavg_svrg(w, x, *, delta, p, S, M):
    """Rostami, Kia: Federated Learning Using Variance Reduced Stochastic Gradient, Algorithm 1 (FedAvg-SVRG)."""
    active, snapshot = w.coins(p), w.each(x)
    for _ in w.repeat(S):
        full, y = w.gradient(snapshot), snapshot
        for _ in w.repeat(M):
            i = w.sample()
            w.tap("w", y)
            v = w.gradient(y, i) - w.gradient(snapshot, i) + full
            w.tap("v", v)
            w.tap("u", active / p * v)
            y = y - delta * v
        snapshot = y
    return x + w.mean(active / p * (snapshot - x))


# What claims share. A sum over m of a sum over m' < m counts m' once for every larger m (DRIFT); SINCE is the sum over
# (s, m) of sM+m times the sum over (s', m') < (s, m), the steps of earlier snapshots included.
LHS = "mean_k(E(norm2(grad(f, x[k]))))"
DRIFT = "sum_n(sum_h(sum_j((M - 1 - j)*E(norm2(v[k, h, j])))))"
SINCE = "sum_n(sum_h(sum_j((S*M*(S*M - 1) - (h*M + j)*(h*M + j + 1))/2*E(norm2(v[k, h, j])))))"
WEIGHTED = "sum_n(1/p_n*sum_h(sum_j(E(norm2(v[k, h, j])))))"
INNER = "sum_h(sum_j(E(dot(grad(f, x[k]), mean_n(grad(f_n, w[k, h, j]))))))"
AGGREGATE = "E(norm2(sum_n(sum_h(sum_j(u[k, h, j])))))"
GAP = {"f0_gap": "f(x0) - fstar"}
SUMS = {"drift_sum": f"sum_k({DRIFT})", "weighted_sum": f"sum_k({WEIGHTED})"}
SINCE_SUM = {"lexicographic_drift_sum": f"sum_k({SINCE})", "weighted_sum": SUMS["weighted_sum"]}
BOUNDED = {**GAP, "G2": "max_k(max_n(max_h(max_j(E(norm2(v[k, h, j]))))))", "mean_inv_p": "mean_n(1/p_n)"}
OPTIMISATION, NOISE = "2*f0_gap/(delta*K*S*M)", "delta*L/(K*N)*weighted_sum"
NOISE_8 = "delta*L*S*M*G2*mean_inv_p"
SMOOTH, DOMAINS = ("smooth(f_n, L)",), {"M": COUNT, "p": PROBABILITY}
EACH = "p_n <= 1"
CHANCES = "The chances are the same in every round: p_n for p_n^k."
ONE_ROUND = "Given theta^k: a statement about one round from any start, here the first; k and k+1 are 0 and 1."


def at_start(text):
    """A formula of round k as one of the first round."""
    return text.replace("[k+1", "[1").replace("[k", "[0")


def theorem(label, right, where, **fields):
    fields = {"kind": "theorem", "remarks": (CHANCES,), **fields}
    return claim(label, f"{LHS} <= {right}", of=fedavg_svrg, assuming=SMOOTH, where=where, parameters=DOMAINS, **fields)


THEOREM = (
    theorem(
        "theorem-v1-eq7", f"{OPTIMISATION} + delta**2*L**2*(M - 1)/(K*S*M*N)*drift_sum + {NOISE}", {**GAP, **SUMS},
        equation="(7)", title="average squared gradient norm, in terms of the substituted gradients",
        source="Theorem V.1, equation (7); proof in the appendix",
        remarks=(
            "No restriction on the step size is stated.",
            "The drift sum counts the steps since the last snapshot; the proof needs those since the round began.",
            CHANCES,
        ),
    ),
    theorem(
        "theorem-v1-eq7/corrected", f"{OPTIMISATION} + delta**2*L**2/(K*S*M*N)*lexicographic_drift_sum + {NOISE}",
        {**GAP, **SINCE_SUM}, proof=proofs.BOUND_7, equation="(7), corrected",
        title="(7) with the drift since the beginning of the round", source="repair of (7)", amends="theorem-v1-eq7",
        remarks=(
            "theta^k - w_{n,s,m}^k is delta times the sum of ALL sM+m earlier substituted gradients of the round "
            "(lemma-a2/corrected): the drift sum is over n, s, m of (sM+m) times the sum over (s',m') < (s,m) of "
            "E||v_{n,s',m'}^k||^2. The rest of the printed proof stands.",
            CHANCES,
        ),
    ),
    theorem(
        "theorem-v1-eq8", f"{OPTIMISATION} + delta**2*L**2*(M - 1)**2*G2 + {NOISE_8}", BOUNDED,
        proof=proofs.BOUND_8_AS_PRINTED, equation="(8)",
        title="average squared gradient norm, with bounded substituted gradients", source="Theorem V.1, equation (8)",
        remarks=(
            "G2 is the least G^2 of Assumption 3 along the run. 'For all w' it cannot hold for strongly convex f_n, "
            "nor in the paper's own experiments: their gradients are unbounded.",
            "Its printed derivation goes through (7), which is false for S >= 3; theorem-v1-eq8/corrected-3 implies "
            "it.",
            CHANCES,
        ),
    ),
    theorem(
        "theorem-v1-eq8/corrected", f"{OPTIMISATION} + delta**2*L**2*(S*M - 1)*(2*S*M - 1)/6*G2 + {NOISE_8}", BOUNDED,
        proof=proofs.BOUND_8, equation="(8), corrected", title="(8) as it follows from the corrected (7)",
        source="repair of (8)", amends="theorem-v1-eq8",
        remarks=("With t = sM+m the drift term is delta^2 L^2/(SM) times the sum of t^2 over t = 0..SM-1.", CHANCES),
    ),
    theorem(
        "theorem-v1-eq8/corrected-2", f"{OPTIMISATION} + {NOISE_8}", BOUNDED, proof=proofs.WITHOUT_DRIFT,
        equation="(8), sharpened", title="(8) without its drift term, which implies (8) as printed",
        source="a proof of (8) that does not use (7)", amends="theorem-v1-eq8",
        remarks=("theorem-v1-eq8/corrected-3 implies it, as 1/p_n >= 1.", CHANCES),
    ),
    theorem(
        "theorem-v1-eq8/corrected-3", "f0_gap/(delta*K*S*M) + delta*L*G2*(S*M - 1 + S*M*mean_inv_p)/2", BOUNDED,
        proof=proofs.SHARPEST, equation="(8), sharpened again",
        title="(8) with half of its first term, less than its last, and without its drift term",
        source="a proof of (8) that does not use (7)", amends="theorem-v1-eq8",
        remarks=(
            "Let T = SM, t = sM+m, g = grad f(theta^k), b_t = (1/N) sum_n grad f_n(w_{n,t}), q = (1/N) sum_n 1/p_n. "
            "By smoothness E f(theta^{k+1}) <= E f(theta^k) - delta sum_t E<g,b_t> + (L/2) "
            "E||theta^{k+1}-theta^k||^2, and the last square is at most delta^2 T^2 q G^2. The printed proof has "
            "2<g,b> = ||g||^2 + ||b||^2 - ||g-b||^2 and throws ||b||^2 away, which costs half of ||g||^2. Instead, "
            "<g,b> = ||g||^2 - <g,g-b>, where E||g||^2 <= G^2 and E||g-b_t||^2 <= (delta L t)^2 G^2, so that "
            "E<g,g-b_t> <= delta L t G^2. The sum of t is T(T-1)/2. Sum over k.",
            CHANCES,
        ),
    ),
)  # fmt: skip

ORDERS = "max(1/(delta*K), delta**2, delta)"
REMARK = (
    claim(
        "remark-rate", f"{ORDERS} <= min(1/(delta*K), delta**2, delta/K)", where={"delta": "K**(-eps)"}, kind="remark",
        equation="Remark after Theorem V.1", title="the rate K^-2/3 at delta = K^-1/3",
        source="Remark after Theorem V.1",
        remarks=(
            "Left: the order in K of the right side of (8), the largest of its terms' orders, read off (8) by hand; "
            "powers of K are of an order if and only if they are at most that power, at every K. Right: as printed.",
            "A sum is of the order of its largest term, so min should be max. The third term of (8) is delta times an "
            "average over k of 1/p_n^k: of order delta, not delta/K.",
            "Read with max for min the remark is false too at its eps = 1/3: the left side is K^(-1/3), not K^(-2/3).",
            "That runs of the algorithm are O(K^(-2/3)), with any constant, is no sentence of the language: it has no "
            "'there is a constant', and no step size that changes with the length of the run.",
        ),
    ),
    claim(
        "remark-rate/corrected", f"max(1/(best*K), best**2, best) <= {ORDERS}",
        where={"best": "K**(-1/2)", "delta": "K**(-eps)"}, proof=proofs.BEST_RATE, kind="remark",
        equation="Remark, corrected", title="the rate K^-1/2 at delta = K^-1/2", source="repair of the remark",
        amends="remark-rate",
        remarks=(
            "The order of (8) is that of max[1/(delta K), delta^2, delta]; no exponent eps gives a better one than "
            "1/2, at which it is K^(-1/2): the largest of K^(eps-1), K^(-2 eps), K^(-eps) is smallest where 1-eps = "
            "eps.",
        ),
    ),
)  # fmt: skip

# --- Lemma V.1, S = 1 ------------------------------------------------------------------------------------------------

LOCAL = "E(f_n(w[k, 0, j])) - f_n(xstar_n)"
START = "E(f_n(x[k])) - f_n(xstar_n)"
SAMPLES = ("smooth(f_ni, L)", "convex(f_ni)")
ALPHA = {"alpha": "1/(mu*delta*(1 - 2*L*delta)*M) + 2*L*delta/(1 - 2*L*delta)"}
D_ = {"D": "max_k(max_n(E(f_n(x[k])) - f_n(xstar_n)))"}
STRONG, ONE_SNAPSHOT, STEP = "strongly_convex(f_n, mu)", "S == 1", "delta < 1/(2*L)"
BEFORE = "sum_j(max(0, min(1, m - j))*E(norm2(v[k, 0, j])))"
AVERAGED = {**ALPHA, **GAP, **D_, "sum_inv_p": "sum_n(1/p_n)"}


def line(label, statement, assuming, **fields):
    assuming = (ONE_SNAPSHOT, *assuming)
    fields = {"kind": "equation", "parameters": DOMAINS, **fields}
    return claim(label, statement, of=fedavg_svrg, assuming=assuming, **fields)


def contracting(label, statement, assuming=(), **fields):
    """A line that has alpha = h(mu, L, delta, M) < 1, the factor of a contraction: Theorem 1 of [19], for its steps."""
    return line(label, statement, (*SMOOTH, STRONG, "alpha < 1", *assuming), standing=(STEP,), **fields)


def with_samples(one):
    """The claim with what Theorem 1 of Johnson and Zhang (2013), which its proof cites, needs of the samples."""
    return replace(
        one, label=f"{one.label}/with-samples", title=f"{one.title}, samples convex and smooth",
        assuming=(*one.assuming, *SAMPLES),
        remarks=(
            "Assumptions 1 and 4 are about f_n; the theorem that the proof cites is about every f_{n,i}. With its "
            "hypotheses the line is false all the same.",
        ),
    )  # fmt: skip


EQ9 = "E(norm2(v[k, 0, j])) <= 4*L*(local_gap + snapshot_gap)"
GAPS = {"local_gap": LOCAL, "snapshot_gap": START}
EQ10 = contracting(
    "lemma-v1-eq10", f"{LOCAL} <= alpha**k*start_gap", (EACH,), where={**ALPHA, "start_gap": START}, equation="(10)",
    title="geometric decay of the local suboptimality over the rounds", source="proof of Lemma V.1, (10) and (11)",
    remarks=("At m=0 the left side is E f_n(theta^k) - f_n* itself, so for k >= 1 the line says that it is 0.",),
)  # fmt: skip
EQ12 = contracting(
    "lemma-v1-eq12",
    f"{BEFORE} <= 8*L*m*alpha**k*D",
    (EACH, "m <= M"),
    where={**ALPHA, **D_},
    equation="(12)",
    title="geometric decay of the drift over the rounds",
    source="proof of Lemma V.1, (12)",
)
EQ14 = contracting(
    "lemma-v1-eq14",
    f"{LHS} <= 2*f0_gap/(delta*K*M) + 8*D*delta**2*L**3*(M - 1)**2*(1 - alpha**K)/(K*(1 - alpha))"
    " + 8*D*delta*L**2*(M - 1)/(K*N)*(1 - alpha**K)/(1 - alpha)*sum_inv_p",
    where=AVERAGED, equation="(14)", title="average squared gradient norm of order 1/K",
    source="proof of Lemma V.1, (14)",
    remarks=(
        "From (12) the drift term would be half of the printed one, and the noise term would have M in place of M-1.",
    ),
)  # fmt: skip
LEMMA = (
    claim(
        "lemma-v1", "norm2(x0 - xstar) <= sqrt(-E(norm2(x[1] - x0)))", of=fedavg_svrg,
        assuming=(*SMOOTH, STRONG, EACH), standing=(STEP, "alpha < 1"), where=ALPHA, parameters=DOMAINS, kind="lemma",
        equation="Lemma V.1", title="convergence to the optimal point at rate O(1/K) with a constant step",
        source="Lemma V.1",
        remarks=(
            "Printed: with a constant step Algorithm 1 converges to the optimal point at a rate of no less than "
            "O(1/K). O(1/K) leaves its constant open, and of the language's sentences none says 'there is a "
            "constant'. What is tested follows from convergence at any rate: a start that no round moves is the "
            "optimum. The right side is the root of a number that is not positive: the sentence speaks of starts that "
            "do not move, and says 0. With the constant of its proof the rate is lemma-v1-eq14.",
            "With different clients, local steps have a fixed point other than the optimum (client drift), whatever K; "
            "with p_n < 1 the participation noise does not vanish at the optimum.",
            "What is true: a decay of order 1/K down to a floor, lemma-v1-eq14/corrected.",
        ),
    ),
    line(
        "lemma-v1-eq9", EQ9, (*SMOOTH, STRONG, EACH), where=GAPS, equation="(9)",
        title="substituted gradient bounded by suboptimality",
        source="proof of Lemma V.1, the lines before (9) and (9)",
        remarks=(
            "Assumption 1 bounds the curvature of f_n, an average; the cited theorem needs that of every f_{n,i}, and "
            "their convexity.",
            "In (9) itself m' runs to m-1, but the random iterate is drawn from 0..m-2.",
        ),
    ),
    line(
        "lemma-v1-eq9/corrected", EQ9, (*SAMPLES, STRONG, EACH), where=GAPS, proof=proofs.VARIANCE,
        equation="(9), corrected", title="(9) under the hypotheses of the theorem that it cites",
        source="Johnson and Zhang (2013), proof of Theorem 1", amends="lemma-v1-eq9",
        remarks=(
            "For convex L-smooth f_i: ||grad f_i(w) - grad f_i(w*)||^2 <= 2L (f_i(w) - f_i(w*) - <grad f_i(w*), "
            "w-w*>), averaged over i. Then E||v||^2 <= 2E||grad f_#(w)-grad f_#(w*)||^2 + 2E||X-EX||^2, E||X-EX||^2 "
            "<= E||X||^2.",
        ),
    ),
    EQ10,
    with_samples(EQ10),
    line(
        "lemma-v1-eq10/corrected", f"mean_j({LOCAL}) <= alpha*start_gap", (*SAMPLES, STRONG, STEP, EACH),
        where={**ALPHA, "start_gap": START}, proof=proofs.ONE_SNAPSHOT, equation="(10), corrected",
        title="one contraction a snapshot, for the average inner iterate",
        source="Johnson and Zhang (2013), Theorem 1", amends="lemma-v1-eq10",
        remarks=(
            "Johnson and Zhang's Theorem 1 for client n within one round: its inner iterates start at the snapshot "
            "theta^k, and it bounds the iterate drawn at random from w_0..w_{M-1}, whose expectation is the average.",
        ),
    ),
    EQ12,
    with_samples(EQ12),
    line(
        "lemma-v1-eq12/corrected", f"{BEFORE} <= 4*L*(m + distance_term + variance_term)*D",
        (*SAMPLES, STRONG, STEP, EACH, "m <= M"),
        where={"distance_term": "1/(mu*delta*(1 - 2*L*delta))", "variance_term": "2*L*delta*m/(1 - 2*L*delta)", **D_},
        proof=proofs.FIRST_STEPS, equation="(12), corrected",
        title="the drift of a round, in terms of where the round starts", source="repair of (12)",
        amends="lemma-v1-eq12",
        remarks=(
            "Sum lemma-v1-eq9/corrected over m' < m; the snapshot's part is m D, and Johnson and Zhang's recursion "
            "summed over the first m steps bounds the iterates' part by (1/(mu delta (1-2L delta)) + 2L delta m/"
            "(1-2L delta)) D.",
        ),
    ),
    claim(
        "lemma-v1-eq13", "sum_k(alpha**k) == (1 - alpha**K)/(1 - alpha)", assuming=("alpha < 1",), kind="equation",
        equation="(13)", title="geometric sum", source="proof of Lemma V.1, (13)",
    ),
    EQ14,
    with_samples(EQ14),
    line(
        "lemma-v1-eq14/corrected",
        f"{LHS} <= 2*f0_gap/(delta*K*M) + 2*D*delta**2*L**3*(M - 1)**2*(1 + 2*alpha)"
        " + 4*D*delta*L**2*M*(1 + alpha)*sum_inv_p/N",
        (*SAMPLES, STRONG, STEP), where=AVERAGED, proof=proofs.FLOOR, equation="(14), corrected",
        title="decay of order 1/K down to a floor", source="repair of (14)", amends="lemma-v1-eq14",
        remarks=(
            "(7) is true for S=1 (there is only one snapshot). Put lemma-v1-eq12/corrected into it. With beta = "
            "1/(mu delta (1-2L delta)) and gamma = 2L delta/(1-2L delta), alpha = beta/M + gamma: the noise sum is at "
            "most 4 L M (1+alpha) D a client and round, and the drift term 4 D delta^2 L^3 (M-1)^2 ((1+gamma)/2 + "
            "beta/M), where (1+gamma)/2 + beta/M <= 1/2 + alpha. It does not go to 0 with K, and it cannot: "
            "lemma-v1.",
        ),
    ),
)  # fmt: skip

# --- the appendix ----------------------------------------------------------------------------------------------------

INNER_PRODUCT = "-delta*E(dot(grad(f, x[k]), mean_n(grad(f_n, w[k, s, m]))))"
WITHIN = "sum_n(sum_j(max(0, min(1, m - j))*E(norm2(v[k, s, j]))))"
SINCE_ROUND = "sum_n(sum_h(sum_j(max(0, min(1, s*M + m - h*M - j))*E(norm2(v[k, h, j])))))"
COST, SQUARED = {"cost": "E(f(x[k]))"}, {"squared_gradient_norm": "E(norm2(grad(f, x[k])))"}
PLACE = {"assuming": (*SMOOTH, EACH, "s <= S - 1", "m <= M - 1"), "parameters": {**DOMAINS, "s": INDEX, "m": INDEX}}


def display(label, statement, **fields):
    fields = {"kind": "equation", "assuming": SMOOTH, "parameters": DOMAINS, **fields}
    return claim(label, statement, of=fedavg_svrg, **fields)


APPENDIX = (
    display(
        "lemma-a1", at_start(f"delta**2*L/(2*N**2)*{AGGREGATE} <= N*S*M*weighted_round"),
        where={"weighted_round": at_start(WEIGHTED)}, kind="lemma", equation="(A.16)",
        title="second moment of the aggregate", source="Lemma A.1, (A.16)",
        remarks=(
            "The proof bounds the expectation without the factor delta^2 L/(2N^2), and (A.21) uses it so.", ONE_ROUND,
        ),
    ),
    display(
        "lemma-a1/corrected", at_start(f"delta**2*L/(2*N**2)*{AGGREGATE} <= delta**2*L*S*M/(2*N)*weighted_round"),
        where={"weighted_round": at_start(WEIGHTED)}, kind="lemma", proof=proofs.SECOND_MOMENT,
        equation="(A.16), corrected", title="second moment of the aggregate, with its factor on both sides",
        source="what the proof of Lemma A.1 shows", amends="lemma-a1",
        remarks=("Jensen over the N S M terms, and E (1_n/p_n)^2 = 1/p_n; multiply by delta^2 L/(2N^2).", ONE_ROUND),
    ),
    display(
        "lemma-a2", f"{INNER_PRODUCT} <= delta**3*L**2*(M - 1)/(2*N)*drift_round - delta/2*squared_gradient_norm",
        where={"drift_round": WITHIN, **SQUARED}, kind="lemma", equation="(A.17)",
        title="the inner product with the gradients at the inner iterates", source="Lemma A.2, (A.17)",
        remarks=("True for s=0; for s >= 1 the drift of the earlier snapshots is forgotten.",), **PLACE,
    ),
    display(
        "lemma-a2/corrected",
        f"{INNER_PRODUCT} <= delta**3*L**2*(s*M + m)/(2*N)*lexicographic_drift_round - delta/2*squared_gradient_norm",
        where={"lexicographic_drift_round": SINCE_ROUND, **SQUARED}, kind="lemma", proof=proofs.DRIFT,
        equation="(A.17), corrected", title="the inner product, with the drift since the beginning of the round",
        source="repair of Lemma A.2", amends="lemma-a2",
        remarks=(
            "-<a,b> = -(||a||^2 + ||b||^2 - ||a-b||^2)/2 with a = grad f(theta^k); Jensen over n and smoothness give "
            "||a-b||^2 <= (L^2/N) sum_n ||theta^k - w_{n,s,m}^k||^2, and theta^k - w_{n,s,m}^k is delta times the sum "
            "of the sM+m earlier substituted gradients.",
        ),
        **PLACE,
    ),
    display(
        "eq-a19", "norm2(x[k+1] - x[k] + delta/N*sum_n(sum_h(sum_j(u[k, h, j])))) <= 0", assuming=(EACH,),
        proof=proofs.UPDATE, equation="(A.19)", title="the server's update as a sum of substituted gradients",
        source="proof of Theorem V.1, (A.19)",
    ),
    display(
        "eq-a20",
        at_start("E(f(x[k+1])) <= cost - delta*inner_product_sum + delta**2*L/(2*N**2)*aggregate_second_moment"),
        assuming=(*SMOOTH, EACH),
        where={
            "cost": "f(x[0])", "inner_product_sum": at_start(INNER), "aggregate_second_moment": at_start(AGGREGATE),
        },
        proof=proofs.DESCENT_AT_START, equation="(A.20)", title="descent, expectation taken",
        source="proof of Theorem V.1, (A.20)", remarks=(ONE_ROUND,),
    ),
    display(
        "eq-a21", at_start("E(f(x[k+1])) <= cost - delta*inner_product_sum + L*S*M*delta**2/(2*N)*weighted_round"),
        where={"cost": "f(x[0])", "inner_product_sum": at_start(INNER), "weighted_round": at_start(WEIGHTED)},
        proof=proofs.ROUND_DESCENT, equation="(A.21)", title="descent, with the aggregate bounded",
        source="proof of Theorem V.1, (A.21)",
        remarks=(
            "It uses what the proof of Lemma A.1 shows; from the lemma as stated it would not follow.", ONE_ROUND,
        ),
    ),
    display(
        "eq-a22", "E(f(x[k+1])) <= cost - delta*inner_product_sum + L*S*M*delta**2/(2*N)*weighted_round",
        where={**COST, "inner_product_sum": INNER, "weighted_round": WEIGHTED}, proof=proofs.TOTAL_DESCENT,
        equation="(A.22)", title="descent, in total expectation", source="proof of Theorem V.1, (A.22)",
    ),
    display(
        "eq-a23",
        "E(f(x[k+1])) <= cost + delta**3*L**2*(M - 1)/(2*N)*full_drift_round"
        " - delta*S*M/2*squared_gradient_norm + L*S*M*delta**2/(2*N)*weighted_round",
        where={
            **COST, **SQUARED, "full_drift_round": "M*sum_n(sum_h(sum_j(E(norm2(v[k, h, j])))))",
            "weighted_round": WEIGHTED,
        },
        equation="(A.23)", title="descent, with Lemma A.2", source="proof of Theorem V.1, (A.23)",
        remarks=("The inner sum is printed up to M-1; Lemma A.2 gives m-1, which is stronger.",),
    ),
    display(
        "eq-a23/corrected",
        "E(f(x[k+1])) <= cost + delta**3*L**2/(2*N)*weighted_drift_round"
        " - delta*S*M/2*squared_gradient_norm + L*S*M*delta**2/(2*N)*weighted_round",
        where={**COST, **SQUARED, "weighted_drift_round": SINCE, "weighted_round": WEIGHTED}, proof=proofs.ROUND,
        equation="(A.23), corrected", title="descent, with the corrected Lemma A.2", source="repair of (A.23)",
        amends="eq-a23", remarks=("lemma-a2/corrected, summed over s and m, in (A.22).",),
    ),
)  # fmt: skip

BRACKET = (
    "As printed, the bracket opened before the drift sum closes after the noise term, so the factor (M-1) multiplies "
    "both, and for M=1 both vanish."
)
BRACKETED = f"delta**2*L**2*(M - 1)/(K*S*M*N)*(drift_sum + {NOISE})"
DROP = {"f_drop": "f(x0) - E(f(x[K]))"}
SUMMED = (
    theorem(
        "eq-a24", f"2*f_drop/(delta*K*S*M) + {BRACKETED}", {**DROP, **SUMS}, kind="equation", equation="(A.24)",
        title="the sum over the rounds, with the bracket as printed", source="proof of Theorem V.1, (A.24)",
        remarks=(BRACKET, "theta^k outside the sum over k is read as theta^K, which the summation gives.", CHANCES),
    ),
    theorem(
        "eq-a24/corrected", f"2*f_drop/(delta*K*S*M) + delta**2*L**2/(K*S*M*N)*lexicographic_drift_sum + {NOISE}",
        {**DROP, **SINCE_SUM}, kind="equation", proof=proofs.SUM_OF_ROUNDS, equation="(A.24), corrected",
        title="the sum over the rounds, with the bracket and the drift mended", source="repair of (A.24)",
        amends="eq-a24",
        remarks=(
            "eq-a23/corrected summed over k and multiplied by 2/(delta K S M). With f(theta^K) >= f* it gives "
            "theorem-v1-eq7/corrected, which is also the repair of (A.25).",
            CHANCES,
        ),
    ),
    theorem(
        "eq-a25", f"{OPTIMISATION} + {BRACKETED}", {**GAP, **SUMS}, kind="equation", equation="(A.25)",
        title="the sum over the rounds, with the bracket as printed", source="proof of Theorem V.1, (A.25)",
        remarks=(BRACKET, CHANCES),
    ),
)  # fmt: skip

# From which lines the paper has its results, as its proofs cite them.
RESTS_ON = {
    "eq-a20": "eq-a19", "eq-a21": "eq-a20 lemma-a1", "eq-a22": "eq-a21", "eq-a23": "eq-a22 lemma-a2",
    "eq-a24": "eq-a23", "eq-a25": "eq-a24", "theorem-v1-eq7": "eq-a25", "theorem-v1-eq8": "theorem-v1-eq7",
    "remark-rate": "theorem-v1-eq8", "lemma-v1-eq12": "lemma-v1-eq9 lemma-v1-eq10",
    "lemma-v1-eq14": "theorem-v1-eq7 lemma-v1-eq12 lemma-v1-eq13", "lemma-v1": "lemma-v1-eq14",
}  # fmt: skip

PAPER = Paper(
    name="fedavg-svrg",
    title="Federated Learning Using Variance Reduced Stochastic Gradient for Probabilistically Activated Agents",
    authors="Mohammadreza Rostami, Solmaz S. Kia",
    claims=(*THEOREM, *REMARK, *LEMMA, *APPENDIX, *SUMMED),
    experiments="examples.fedavg_svrg",
    rests_on=RESTS_ON,
)
