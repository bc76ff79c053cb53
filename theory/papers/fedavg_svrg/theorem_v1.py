"""Theorem V.1, equations (7) and (8), and their repairs."""

from __future__ import annotations

from theory.claim import Claim, Step
from theory.papers.fedavg_svrg.theorem_v1_proof import DRIFT_7, GAP, NOISE_7, PROOF_OF_THEOREM
from theory.papers.fedavg_svrg.words import (
    A3,
    BASE,
    G2,
    LHS,
    MEAN_SQUARED_GRADIENT_NORM,
    K,
    L,
    M,
    N,
    S,
    delta,
    drift_sum,
    f0_gap,
    identifier,
    lexicographic_drift_sum,
    mean_inv_p,
    weighted_sum,
)

NOISE_8 = r"\frac{\delta LSMG^2}{KN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\frac{1}{p_n^k}"

THEOREM_7 = Claim(
    id=identifier("theorem-v1-eq7"),
    kind="theorem",
    title="average squared gradient norm, in terms of the substituted gradients",
    equation="(7)",
    statement=(
        "Under Assumptions 1 and 2, for convex and non-convex costs alike, (1/K) sum_k E||grad f(theta^k)||^2 <= "
        "2 f0_gap/(delta K S M) + delta^2 L^2 (M-1)/(K S M N) drift_sum + delta L/(K N) weighted_sum."
    ),
    latex=LHS + r"\leq " + GAP + "+" + DRIFT_7 + "+" + NOISE_7,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="Theorem V.1, equation (7); proof in the appendix",
    parameters=(delta, L, K, S, M, N, f0_gap, drift_sum, weighted_sum),
    hypotheses=BASE,
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(M-1)/(K*S*M*N)*drift_sum",
        "noise_term": "delta*L/(K*N)*weighted_sum",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    steps=PROOF_OF_THEOREM,
    remarks=(
        "No restriction on the step size is stated.",
        "The drift sum counts the steps since the last snapshot; the proof needs those since the round began.",
    ),
)

THEOREM_7_CORRECTED = Claim(
    id=identifier("theorem-v1-eq7/corrected"),
    kind="theorem",
    title="(7) with the drift since the beginning of the round",
    equation="(7), corrected",
    statement=(
        "Under Assumptions 1 and 2, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + delta^2 L^2/(K S "
        "M N) sum over k,n,s,m of (sM+m) sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2 + delta L/(K N) weighted_sum."
    ),
    latex=LHS
    + r"\leq "
    + GAP
    + r"+\frac{\delta^2L^2}{KSMN}\sum_{k,n,s,m}(sM+m)\sum_{(s',m')<(s,m)}\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2+"
    + NOISE_7,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (7)",
    parameters=(delta, L, K, S, M, N, f0_gap, lexicographic_drift_sum, weighted_sum),
    hypotheses=BASE,
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2/(K*S*M*N)*lexicographic_drift_sum",
        "noise_term": "delta*L/(K*N)*weighted_sum",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    amends=identifier("theorem-v1-eq7"),
    derivation=(
        "theta^k - w_{n,s,m}^k is delta times the sum of ALL sM+m earlier substituted gradients of the round, so by "
        "Jensen E||theta^k - w_{n,s,m}^k||^2 <= delta^2 (sM+m) sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2 "
        "(lemma-a2/corrected). The rest of the printed proof stands: put it into (A.22), sum over s, m and k, multiply "
        "by 2/(delta K S M), and use f(theta^K) >= f*."
    ),
)

PRINTED_7 = Step(
    "(7)",
    LHS,
    "<=",
    GAP + "+" + DRIFT_7 + "+" + NOISE_7,
    "substitution",
    "the first half of the theorem, into which Assumption 3 is put",
    claim=identifier("theorem-v1-eq7"),
)

THEOREM_8 = Claim(
    id=identifier("theorem-v1-eq8"),
    kind="theorem",
    title="average squared gradient norm, with bounded substituted gradients",
    equation="(8)",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta^2 L^2 (M-1)^2 G^2 + delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + r"+\delta^2L^2(M-1)^2G^2+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="Theorem V.1, equation (8)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(M-1)**2*G2",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    steps=(
        PRINTED_7,
        Step(
            "(7) to (8), drift",
            r"\frac{\delta^2L^2(M-1)}{KSMN}\cdot KNS\frac{M(M-1)}{2}G^2",
            "<=",
            r"\delta^2L^2(M-1)^2G^2",
            "substitution",
            "the sum over m and m'<m has M(M-1)/2 terms, so half of the printed term suffices",
            identity=("delta**2*L**2*(M-1)/(K*S*M*N)*K*N*S*M*(M-1)/2*G2", "delta**2*L**2*(M-1)**2*G2"),
        ),
        Step(
            "(7) to (8), noise",
            r"\frac{\delta L}{KN}\cdot KN\,SM\,G^2\,\overline{p^{-1}}",
            "=",
            r"\delta LSMG^2\,\overline{p^{-1}}",
            "substitution",
            identity=("delta*L/(K*N)*K*N*S*M*G2*mean_inv_p", "delta*L*S*M*G2*mean_inv_p"),
        ),
        Step(
            "(8)",
            LHS,
            "<=",
            GAP + r"+\delta^2L^2(M-1)^2G^2+" + NOISE_8,
            "substitution",
            "E||v||^2 <= G^2 in (7), term by term",
            claim=identifier("theorem-v1-eq8"),
            uses=("(7)", "(7) to (8), drift", "(7) to (8), noise"),
        ),
    ),
    remarks=(
        "Its printed derivation goes through (7), which is false for S >= 3; the claim needs, and has, another proof: "
        "see theorem-v1-eq8/corrected-2.",
        "Assumption 3 'for all w' cannot hold for strongly convex f_n (the gradient is unbounded), so it does not hold "
        "in the paper's own least-squares experiments; along the run it can, and that is what is tested here.",
    ),
)

THEOREM_8_CORRECTED = Claim(
    id=identifier("theorem-v1-eq8/corrected"),
    kind="theorem",
    title="(8) as it follows from the corrected (7)",
    equation="(8), corrected",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta^2 L^2 (SM-1)(2SM-1)/6 G^2 + delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + r"+\delta^2L^2\frac{(SM-1)(2SM-1)}{6}G^2+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (8)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(S*M-1)*(2*S*M-1)/6*G2",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    amends=identifier("theorem-v1-eq8"),
    derivation=(
        "Put E||v||^2 <= G^2 into the corrected (7): with t = sM+m the drift term is delta^2 L^2/(SM) times the sum of "
        "t^2 over t = 0..SM-1, which is SM(SM-1)(2SM-1)/6."
    ),
    steps=(
        Step(
            "drift",
            r"\frac{1}{T}\sum_{t=0}^{T-1}t^2",
            "=",
            r"\frac{(T-1)(2T-1)}{6}",
            "summation",
            "T = SM; the sum of squares",
            identity=("(S*M-1)*(S*M)*(2*S*M-1)/6/(S*M)", "(S*M-1)*(2*S*M-1)/6"),
        ),
    ),
)

THEOREM_8_SHARPER = Claim(
    id=identifier("theorem-v1-eq8/corrected-2"),
    kind="theorem",
    title="(8) without its drift term, which implies (8) as printed",
    equation="(8), sharpened",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + "+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="a proof of (8) that does not use (7)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    relation="<=",
    right="optimisation_term + noise_term",
    amends=identifier("theorem-v1-eq8"),
    derivation=(
        "Let T = SM, h = delta L T, t = sM+m, g = grad f(theta^k), b_t = (1/N) sum_n grad f_n(w_{n,t}), V_{n,t} the "
        "sum of the first t substituted gradients of client n, V_n = V_{n,T}. "
        "If h > 1 the noise term exceeds G^2, and E||g||^2 <= (1/N) sum_n E||v_{n,0,0}||^2 <= G^2. Let h <= 1. "
        "Smoothness and 2<g,b> = ||g||^2 + ||b||^2 - ||g-b||^2 give E||g||^2 <= (2/(delta T)) (E f(theta^k) - "
        "E f(theta^{k+1})) + X - B + (L/(delta T)) E||theta^{k+1}-theta^k||^2, with B = (1/T) sum_t E||b_t||^2 and "
        "X = (1/T) sum_t E||g-b_t||^2 <= (L^2 delta^2/T) max_n sum_t E||V_{n,t}||^2 <= h^2 (T-1)(2T-1)/(6T^2) G^2. "
        "The printed proof throws B away; it pays for the drift. "
        "N >= 2: clients are independent given theta^k, so E||theta^{k+1}-theta^k||^2 <= delta^2 (T^2 B + (1/N^2) "
        "sum_n T^2 G^2/p_n); the last term is at most h B + (h/N) G^2 q, where q = (1/N) sum_n 1/p_n >= 1, and "
        "h^2/3 + h q/N <= h q because h/3 <= 1/3 <= 1 - 1/N. "
        "N = 1: the last term is (h/p) E||V_T||^2/T^2 with E||V_T||^2 <= T^2 G^2, so it is enough that "
        "X <= h (G^2 - E||V_T||^2/T^2) + B. As v_t - b_t has mean zero given the past, E||V_T||^2 = sum_t "
        "(E||v_t||^2 + 2 E<V_t,b_t>) <= T G^2 + (1/T) sum_t E||V_t||^2 + T^2 B; with C = (1/T^3) sum_t E||V_t||^2 <= "
        "(T-1)(2T-1)/(6T^2) G^2 and X <= h^2 C, h <= 1, it is enough that 2C <= (1-1/T) G^2, that is (2T-1)/(3T) <= 1. "
        "Sum over k."
    ),
    steps=(
        Step(
            "N >= 2",
            r"\frac{h^2}{3}+\frac{hq}{N}",
            "<=",
            r"hq",
            "inequality",
            "for 0 < h <= 1, q >= 1, N >= 2; with h = 1/(1+a), q = 1+b, N = 2+c",
            identity=("1/3/(1+a)**2 + (1+b)/((1+a)*(2+c))", "(1+b)/(1+a)"),
        ),
        Step(
            "N = 1",
            r"2\frac{(T-1)(2T-1)}{6T^2}",
            "<=",
            r"1-\frac{1}{T}",
            "inequality",
            "T = 1+a",
            identity=("2*a*(2*a+1)/(6*(1+a)**2)", "1-1/(1+a)"),
        ),
    ),
)


CLAIMS: tuple[Claim, ...] = (
    THEOREM_7,
    THEOREM_7_CORRECTED,
    THEOREM_8,
    THEOREM_8_CORRECTED,
    THEOREM_8_SHARPER,
)
