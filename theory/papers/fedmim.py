"""Federated multi-step inertial momentum (FedMIM), by Liu, Sun, Ding, Shen, Liu and Tao: every result as printed.

K of the paper, the local steps, is H here, and its T, the rounds, is K; bounds take them under the paper's names
(`PRINTED`). x_t is x[k], delta_{t-j} is past[k, j] with the lags j = 0, ..., J-1; x_{i,h}^t is z[k, h], the point after
the step is after[k, h], y_{i,h,2}^t is y[k, h], (1/S) sum_{i in S_t} grad f_i(y2) is chosen[k, h], and (1/(SK)) sum g
is moved[k]. Every client has them in every round, also one that is not selected: the sums of the lemmas are over all.
A is 1 - sum alpha, rho is sum beta, and u_t = x_t - (K/A) sum_j (sum_{s>=j} alpha_s) delta_{t-j}.
"""

from functools import partial

from theory.claim import Paper, claim
from theory.derivation import combined, root
from theory.domain import INDEX, NONNEGATIVE, PROBABILITY, Domain
from theory.papers import fedmim_proofs as proofs
from theory.program import algorithm


@algorithm(x="x0", past="J times 0")
def fedmim(w, x, past, *, eta_l, alpha, beta, A, H, S):
    """Liu, Sun, Ding, Shen, Liu, Tao: FedMIM, Algorithm 1; A is 1 - sum_j alpha_j, past the increments delta_{t-j}."""
    active, shift, ahead = w.choose(S), w.combine(alpha, past), w.combine(beta, past)
    z, total = w.each(x), w.each(0 * x)
    for _ in w.repeat(H):
        w.tap("z", z)
        y = z - ahead
        w.tap("y", y)
        w.tap("chosen", w.average(w.gradient(y), active))
        g = w.gradient(y, w.sample())
        total = total + g
        z = z - shift - A * eta_l * g
        w.tap("after", z)
    w.tap("moved", w.average(total, active) / H)
    new = w.average(z, active)
    return new, w.shift(past, (x - new) / H)


@algorithm(x="x0", last="0", past="J times 0")
def lags_from_one(w, x, last, past, *, eta_l, alpha, beta, A, H, S):
    """The same with the lags 1, ..., J of Table III: past has delta_{t-1}, ..., delta_{t-J}."""
    active, shift, ahead = w.choose(S), w.combine(alpha, past), w.combine(beta, past)
    z, total = w.each(x), w.each(0 * x)
    for _ in w.repeat(H):
        g = w.gradient(z - ahead, w.sample())
        total = total + g
        z = z - shift - A * eta_l * g
    w.tap("moved", w.average(total, active) / H)
    new = w.average(z, active)
    return new, (x - new) / H, w.shift(past, last)


# --- what claims share -----------------------------------------------------------------------------------------------

PRINTED = {"K": "H", "T": "K"}
OF_A_STEP = {**PRINTED, "k": "m"}
WEIGHTS = {"alpha": Domain(0, 1, upper_open=True), "beta": NONNEGATIVE, "A": PROBABILITY}
CONSTANTS = {"G": NONNEGATIVE, "B": NONNEGATIVE}
NOISE = {"sigma2": NONNEGATIVE}
LAMBDA = {"lam": Domain(0, 0.5, lower_open=True, upper_open=True)}
REMAINDER = "A == 1 - sum_j(alpha_j)"
A1, A2, A3, A4 = "smooth(f_n, L)", "pl(f, mu)", "bounded_variance(sigma2)", "dissimilar(G, B)"

LAGS = {"rho": "sum_j(beta_j)", "J": "sum_j(0*alpha_j + 1)"}
P_J = {**LAGS, "P": "rho*beta_j + H**2*J*(1 - A)**2/A**2"}
M_J = {**P_J, "M": "alpha_j + 4*A*L**2*eta_l**2*P"}
V = "6*(1 - A)*H**2 + (27/32*A + 1)*(rho**2 + H**2*J**2*(1 - A)**2/A**2)"
DRIFT_STEP, DESCENT_STEP = "eta_l <= 1/(4*L*H*sqrt(A))", "eta_l <= 3/(16*H*L)"
LIMIT = "1/2 - 32*H*eta_l*L*B**2 - 36*eta_l**2*A*H**2*B**2*L**2"
LIMIT_CORRECTED = "1/2 - 4*H*eta_l*L - 16*H*eta_l*L*B**2 - 36*eta_l**2*A*H**2*B**2*L**2"
LIMIT_KEPT = "1/2 - 8*H*eta_l*L*B**2/S - 36*eta_l**2*A*H**2*B**2*L**2"


def u(k="k"):
    """u_t, (15): the sum over s = j, ..., J-1 is over h >= j."""
    return f"x[{k}] - H/A*sum_j(sum_h(max(0, min(1, h + 1 - j))*alpha_h)*past[{k}, j])"


DELTA_SQ = {"delta_sq": "E(norm2(past[k, j]))"}
U = {"u": u()}
GRAD_U2 = {**U, "grad_u2": "E(norm2(grad(f, u)))"}
GAP = {"gap": "E(f(u)) - fstar"}
C = {"C": "max_k(E(norm2(moved[k])))"}
DRIFT = "mean_n(E(norm2({point} - x[k])))"
DESCENT, AFTER = "E(f(u_next)) - E(f(u))", {"u_next": u("k+1")}
# the right side of (33)(d) without its first term, over eta = K eta_l; `lags` is the sum over the lags
ROUND = (
    "eta_l*L*sigma2/S + 4*eta_l*H*L*G**2/S + 3*eta_l**2*L**2*lags*C + 9*eta_l**2*H*A**2*L**2*sigma2"
    " + 72*eta_l**2*A*H**2*L**2*G**2"
)


def result(label, statement, *assuming, of=fedmim, parameters=None, **fields):
    """A claim about the algorithm, whose A is 1 - sum alpha."""
    fields = {"kind": "equation", "printed": PRINTED, **fields}
    parameters = {**WEIGHTS, **(parameters or {})}
    if "proof" in fields:
        fields["proof"] = proofs.derivation(fields.get("where", {}), fields["proof"])
    return claim(label, statement, of=of, assuming=(*assuming, REMAINDER), parameters=parameters, **fields)


numbers = partial(claim, printed=PRINTED, kind="equation")
ROUNDED = {**CONSTANTS, **NOISE}

# --- the recursion: (2), Lemmas 5 and 6 ------------------------------------------------------------------------------

STEP_2 = "norm2(-(1 - A)*eta_l*g - A*eta_l*c + eta_l*(c {sign} (1 - A)*(c - g))) <= 0"
EQ2 = partial(
    claim,
    vectors=("g", "c"),
    parameters={"A": PROBABILITY},
    kind="equation",
    title="the local update read as a corrected gradient step",
)
LEMMA_5 = "norm2(u_next - u + H*eta_l*moved[k]) <= 0"
FROM_ONE = "x[{k}] - H/A*sum_j(sum_h(max(0, min(1, h + 1 - j))*min(1, J - 1 - h)*alpha_h)*past[{k}, j])"
RECURSION = (
    EQ2(
        "eq2", STEP_2.format(sign="+"), equation="(2)", source="(2), Section III-B",
        remarks=(
            "With delta = eta_l grad f(x_t), of which the paper says that it is close, the step is -(1-A) eta_l g - A "
            "eta_l c with g = grad f(x_t) and c the client's gradient at x_{i,k} - rho g; the last line of (2) writes "
            "it as -eta_l [c + (1-A)(c - g)]. What is tested is that these are the same.",
            "In the first line delta stands for delta/eta_l; the following lines use delta = eta_l grad f.",
        ),
    ),
    EQ2(
        "eq2/corrected", STEP_2.format(sign="-"), equation="(2), corrected", source="repair of (2)", amends="eq2",
        remarks=("A = 1 - (1-A): with a minus the correction turns the step to the global one, as the text says.",),
    ),
    result(
        "lemma-5", LEMMA_5, where={**U, **AFTER}, kind="lemma", equation="Lemma 5",
        title="the auxiliary sequence moves by a plain step", source="Lemma 5, (16), appendix B", proof=proofs.LEMMA_5,
        remarks=(
            "The lags are 0, ..., J-1 here; Table III counts them from 1, see lemma-5/lags-from-one.",
            "Algorithm 1 computes delta_t in the client, from x_{t-1}: with partial participation a client that was "
            "not selected in round t-1 does not have it, so that it has to be sent or recovered (the paper counts it "
            "as free).",
        ),
    ),
    result(
        "lemma-5/lags-from-one", LEMMA_5, of=lags_from_one,
        where={"J": LAGS["J"], "u": FROM_ONE.format(k="k"), "u_next": FROM_ONE.format(k="k+1")}, kind="lemma",
        equation="Lemma 5, I = {1, ..., J}", title="the auxiliary sequence, lags counted from 1",
        source="Lemma 5 with the indices of Table III",
        remarks=("With j in I = {1, ..., J} the inner sum, up to J-1, leaves alpha_J out.",),
    ),
    result(
        "lemma-6",
        "max(eta_l**2*C + E(norm2(past[k+1, 0] - A*eta_l*moved[k] - sum_j(alpha_j*past[k, j]))), "
        "E(norm2(past[k, 0]))) <= eta_l**2*C",
        where=C, kind="lemma", equation="Lemma 6", title="the increments average the gradients",
        source="Lemma 6, (19), appendix B", proof=proofs.LEMMA_6,
        remarks=(
            "Both of its statements: (19), and that E||delta_t||^2 <= eta_l^2 C for every t if ||dtilde_t||^2 <= "
            "eta_l^2 C. C is assumed there, not derived; here it is the least C of the run, in the mean.",
        ),
    ),
    result(
        "eq21", "E(norm2(past[k+1, 0])) <= A*dtilde_sq + sum_j(alpha_j*delta_sq)",
        where={"dtilde_sq": "E(norm2(eta_l*moved[k]))", **DELTA_SQ}, equation="(21)",
        title="the increments, in mean square", source="(21), appendix B", proof=proofs.EQ_21,
    ),
)  # fmt: skip

# --- a client's gradients and its drift: Lemmas 7 and 8 --------------------------------------------------------------

Q_J = {**LAGS, "Q": "4*rho*L**2*beta_j + 4*L**2*H**2*J*(1 - A)**2/A**2"}
LEMMA_7 = " + sum_j(Q*delta_sq) + 4*G**2 + 4*B**2*grad_u2"
SQUARES = {**DELTA_SQ, **GRAD_U2}
EQ25 = "(1 + 1/(m - 1))*{before} + 2*m*sum_j(M*delta_sq) + 8*A*m*eta_l**2*(G**2 + B**2*grad_u2) + A**2*eta_l**2*sigma2"
EQ26 = "3*A**2*{k}*eta_l**2*sigma2 + 6*{k}**2*sum_j(M*delta_sq) + 24*A*{k}**2*eta_l**2*(G**2 + B**2*grad_u2)"
DRIFTING = partial(result, parameters=ROUNDED)
SINGLE = "Of every client as printed, like Lemma 7."
DRIFTS = (
    DRIFTING(
        "lemma-7", f"E(norm2(grad(f_n, y[k, h]))) <= 4*L**2*x_sq{LEMMA_7}", A1, A4, parameters=CONSTANTS,
        where={**Q_J, **SQUARES, "x_sq": "E(norm2(z[k, h-1] - x[k]))"}, kind="lemma", equation="Lemma 7",
        title="a client's gradient", source="Lemma 7, (22), appendix B",
        remarks=(
            "The index k-1 on the right is a slip: y_{i,k,2} stands at x_{i,k}. It is read as printed, so that the "
            "lemma speaks of the second step and later ones.",
            "Assumption 4 bounds the mean over the clients, a single client up to N times as much. Lemmas 8 and 9 use "
            "the mean over clients only.",
        ),
    ),
    DRIFTING(
        "lemma-7/corrected", f"mean_n(E(norm2(grad(f_n, y[k, h])))) <= 4*L**2*drift{LEMMA_7}", A1, A4,
        parameters=CONSTANTS, where={**Q_J, **SQUARES, "drift": DRIFT.format(point="z[k, h]")}, kind="lemma",
        equation="Lemma 7, corrected", title="the clients' gradients, on average", source="repair of Lemma 7",
        proof=proofs.LEMMA_7, amends="lemma-7",
        remarks=(
            "||grad f_i(y2)||^2 is at most 4 times the sum of ||grad f_i(y2) - grad f_i(x_k)||^2 <= L^2 rho sum_j "
            "beta_j ||delta_{t-j}||^2 (Jensen), L^2 ||x_k - x_t||^2, L^2 ||x_t - u_t||^2 <= L^2 K^2 J (1-A)^2/A^2 "
            "sum_j ||delta_{t-j}||^2 (Cauchy-Schwarz) and ||grad f_i(u_t)||^2, whose mean over i Assumption 4 bounds.",
        ),
    ),
    DRIFTING(
        "eq25", f"E(norm2(after[k, m-1] - x[k])) <= {EQ25.format(before='x_sq')}",
        *(A1, A3, A4, DRIFT_STEP, "m >= 2", "m <= H"), printed=OF_A_STEP,
        where={**M_J, **SQUARES, "x_sq": "E(norm2(after[k, m-2] - x[k]))"}, equation="(25)",
        title="one local step's drift", source="(25), appendix B",
        remarks=(SINGLE, "m is the paper's k; at k = 1 the printed factor divides by 0."),
    ),
    DRIFTING(
        "eq25/corrected", f"{DRIFT.format(point='after[k, m-1]')} <= {EQ25.format(before='drift')}",
        *(A1, A3, A4, DRIFT_STEP, "m >= 2", "m <= H"), printed=OF_A_STEP,
        where={**M_J, **SQUARES, "drift": DRIFT.format(point="after[k, m-2]")}, equation="(25), corrected",
        title="one local step's drift, on average", source="repair of (25)", proof=proofs.EQ_25, amends="eq25",
        remarks=(
            "Noise, Young and Jensen as printed, then lemma-7/corrected: the factor of the drift before is 1 + "
            "1/(2k-1) "
            "+ 8kAL^2 eta_l^2 <= 1 + 1/(2k-1) + 1/(2k) <= 1 + 1/(k-1), as k <= K. `drift` is that after k-1 steps.",
        ),
    ),
    DRIFTING(
        "eq26", f"E(norm2(after[k, m-1] - x[k])) <= {EQ26.format(k='m')}", *(A1, A3, A4, DRIFT_STEP, "m <= H"),
        printed=OF_A_STEP, where={**M_J, **SQUARES}, equation="(26)", title="the drift after k local steps",
        source="(26), appendix B",
        remarks=(
            SINGLE,
            "The recursion (25), whose factor at step m is m/(m-1), gives k (1 + 1/2 + ... + 1/k) A^2 eta_l^2 "
            "sigma_l^2, which exceeds the printed 3k from k = 11 on. The proof is good with one factor 1 + 1/(k-1) for "
            "all steps.",
        ),
    ),
    DRIFTING(
        "eq26/corrected", f"{DRIFT.format(point='after[k, m-1]')} <= {EQ26.format(k='m')}",
        *(A1, A3, A4, DRIFT_STEP, "m <= H"), printed=OF_A_STEP, where={**M_J, **SQUARES}, equation="(26), corrected",
        title="the drift after k local steps, on average", source="repair of (26)", proof=proofs.EQ_26, amends="eq26",
        remarks=(
            "Young with 1/(2k-1) in every step m <= k: the factor is 1 + 1/(2k-1) + 8kAL^2 eta_l^2 <= 1 + 1/(k-1) and "
            "what is added the same each time, so that the sum is at most (k-1)((1+1/(k-1))^k - 1) <= 3k times it (k = "
            "1: once).",
        ),
    ),
    DRIFTING(
        "lemma-8", f"mean_n(mean_h(E(norm2(after[k, h] - x[k])))) <= {EQ26.format(k='H')}", *(A1, A3, A4, DRIFT_STEP),
        where={**M_J, **SQUARES}, kind="lemma", equation="Lemma 8", title="how far the clients drift within a round",
        source="Lemma 8, (24), appendix B", proof=proofs.LEMMA_8,
        remarks=(
            "It needs Lemma 7 and (26) for the mean over clients only; (26) does not follow from (25), see eq26",
        ),
    ),
)  # fmt: skip

# --- the average gradient of the selected clients: Lemma 9 -----------------------------------------------------------

CLIENTS = {"mean_sq": "E(norm2(mean_n(grad(f_n, y[k, h]))))", "gradients_sq": "mean_n(E(norm2(grad(f_n, y[k, h]))))"}
LEMMA_9 = (
    "16*L**2*sum_j((6*H**2*M + P)*delta_sq) + 8*G**2/S + 2*sigma2/(H*S) + 48*H*L**2*A**2*eta_l**2*sigma2"
    " + 384*A*L**2*H**2*eta_l**2*G**2 + {factor}*grad_u2"
)
AVERAGE = (
    result(
        "eq29", "E(norm2(moved[k])) <= 2*selected_sq + 2*sigma2/(H*S)", A3, parameters=NOISE,
        where={"selected_sq": "mean_h(E(norm2(chosen[k, h])))"}, equation="(29)",
        title="noise and mean of the average gradient", source="(29), appendix B", proof=proofs.NOISE,
        remarks=(
            "Lemma 4, which it uses, is printed without the expectation on the right, where zeta_i may be random.",
        ),
    ),
    result(
        "eq30", "E(norm2(chosen[k, h])) < mean_sq + gradients_sq/S", "S < N", where=CLIENTS, equation="(30)",
        title="sampling without replacement", source="(30), appendix B",
        remarks=("Strict as printed; with <=, S = N included, it is a line of Lemma 9's proof.",),
    ),
    result(
        "eq30/corrected", "E(norm2(chosen[k, h])) == (S - 1)*N/(S*(N - 1))*mean_sq + (N - S)/(S*(N - 1))*gradients_sq",
        where=CLIENTS, equation="(30), corrected", title="sampling without replacement", source="repair of (30)",
        amends="eq30",
        remarks=(
            "The indicators have the moments S/N and S(S-1)/(N(N-1)); N^2 ||mean||^2 = cross terms + squares. At most "
            "the printed right side.",
        ),
    ),
    DRIFTING(
        "eq31", "E(norm2(chosen[k, h])) <= 8*L**2*drift + 8*L**2*sum_j(P*delta_sq) + 4*G**2/S + 4*(B**2 + 1)*grad_u2",
        A1, A4, parameters=CONSTANTS, where={**P_J, **SQUARES, "drift": DRIFT.format(point="z[k, h]")},
        equation="(31)", title="the selected clients' gradients", source="(31), appendix B", proof=proofs.EQ_31,
        remarks=(
            "The free index i is read as the mean over clients. 4G^2/S and 4B^2/S come from the second term of (30), 4 "
            "from the first.",
        ),
    ),
    DRIFTING(
        "lemma-9", f"E(norm2(moved[k])) <= {LEMMA_9.format(factor='64*B**2')}", *(A1, A3, A4), standing=(DRIFT_STEP,),
        where={**M_J, **SQUARES}, kind="lemma", equation="Lemma 9", title="the average gradient of a round",
        source="Lemma 9, (28), appendix B",
        remarks=(
            "The step size of Lemma 8, through which its proof goes, is stated there only.",
            "The proof's factor of the last term is 8(B^2+1) + 24B^2, which is at most 64B^2 for B >= 1/2. B < 1 "
            "forces bounded gradients, ||grad f||^2 <= G^2/(1-B^2), as (6) has ||grad f||^2 on its left.",
        ),
    ),
    DRIFTING(
        "lemma-9/corrected", f"E(norm2(moved[k])) <= {LEMMA_9.format(factor='(32*B**2 + 8)')}",
        *(A1, A3, A4, DRIFT_STEP), where={**M_J, **SQUARES}, kind="lemma", equation="Lemma 9, corrected",
        title="the average gradient of a round", source="repair of Lemma 9", proof=proofs.LEMMA_9, amends="lemma-9",
        remarks=(
            "(29), (31) for the mean over clients, and Lemma 8: the factor of E||grad f(u_t)||^2 is 8(B^2+1) + 16L^2 "
            "24AK^2 eta_l^2 B^2 <= 8(B^2+1) + 24B^2 by eta_l <= 1/(4LK sqrt A). At most the printed one for B >= 1/2.",
        ),
    ),
)  # fmt: skip

# --- a round's descent, and what the proof asks of lambda: (33), (34), (37) -------------------------------------------

LAG_SUM = {**M_J, "lags": "sum_j(6*H**2*M + P)"}
LARGEST = {**LAG_SUM, **GRAD_U2, **AFTER, **C, "round": ROUND, "lam": f"(round - ({DESCENT})/(H*eta_l))/grad_u2"}
LARGEST_LAMBDA = (
    "lam is the largest number with which (33)(d), E[f(u_{t+1}) - f(u_t)] <= -eta lambda E||grad f(u_t)||^2 + ..., "
    "holds in round t; the right side is what lambda is to stay below. C is the least C of the run."
)
EQ33 = (
    numbers(
        "eq33", f"{LIMIT} > 0", assuming=("64*H*eta_l*L*B**2 + 72*eta_l**2*A*H**2*B**2*L**2 < 1",),
        parameters={"A": PROBABILITY, "B": NONNEGATIVE}, equation="(33)(d)", title="the lambda of the proof",
        source="(33), appendix C",
        remarks=(
            "There is lambda with 1/2 - 32 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2 > lambda > 0, if 64 eta L B^2 + 72 "
            "eta_l^2 A K^2 B^2 L^2 < 1. The theorem asks for eta_l <= min(1/(4LK sqrt A), 3/(16KL)) and lambda in (0, "
            "1/2) alone; whether its step sizes imply the condition is eq33/from-step.",
            "sqrt A <= 1 makes 1/(4LK sqrt A) larger than 3/(16KL): the first of the two step sizes never binds.",
        ),
    ),
    numbers(
        "eq33/from-step", "32*H*eta_l*L*B**2 + 36*eta_l**2*A*H**2*B**2*L**2 < 1/2", assuming=(DESCENT_STEP,),
        parameters={"A": PROBABILITY, "B": NONNEGATIVE}, equation="(33)(d) under the conditions of Theorem IV.1",
        title="the condition on lambda from the step size", source="reading of (33) with Theorem IV.1",
        remarks=("At eta_l = 3/(16KL) it is B^2 < 1/(12 + 81A/32).",),
    ),
    DRIFTING(
        "eq33/corrected", f"lam >= {LIMIT_CORRECTED}", *(A1, A3, A4, DESCENT_STEP), where=LARGEST,
        equation="(33)(d), corrected", title="the lambda of the proof", source="repair of (33)",
        proof=proofs.largest("corrected"), amends="eq33",
        remarks=(
            "(33)(b) with lemma-9/corrected: (eta^2 L/2)(32B^2+8) = eta (16 eta L B^2 + 4 eta L).", LARGEST_LAMBDA,
        ),
    ),
    result(
        "eq34", f"sum_j(6*H**2*M + P) <= {V}", DESCENT_STEP, where=M_J, equation="(34)", title="the sum over the lags",
        source="(34), appendix C", proof=proofs.EQ_34,
        remarks=("V has K^2 in it already: the factor K^2 before VC in (8), (10) and (41) is one too many.",),
    ),
    DRIFTING(
        "eq37", f"{DESCENT} <= H*eta_l*(-lam/2*grad_u2 - mu*lam*gap + round)", *(A1, A2, A3, A4),
        parameters={**ROUNDED, **LAMBDA}, standing=(DESCENT_STEP, "lam < lam_max"),
        where={**LAG_SUM, **GRAD_U2, **AFTER, **GAP, **C, "lam_max": LIMIT, "round": ROUND}, equation="(37)",
        title="one round's descent under PL", source="(37), appendix D", proof=proofs.EQ_37,
        remarks=(
            "'Similar to the general nonconvex case': the step of Theorem IV.1, and lambda as (33)(d) introduces it.",
        ),
    ),
)  # fmt: skip

# --- Theorems IV.1 and IV.2 ------------------------------------------------------------------------------------------

PSI = (
    "(eta_l*L*sigma2/S + 4*eta_l*H*L*G**2/S + 9*eta_l**2*A**2*H*L**2*sigma2 + 72*eta_l**2*A*H**2*L**2*G**2"
    " + 3*eta_l**2*L**2*{square}V*C)/lam"
)
BODY, APPENDIX = "H**2*", ""
COMMON = (A1, A3, A4)
WEIGHT = "(1 - mu*H*eta_l*lam)**(-k)"
LONG_RUN = "eta_l >= 1/(mu*lam*H*K)"
PART = "mu*H*eta_l*lam < 1"
KEPT_MEAN = (
    "eq33/corrected-2 gives (33)(d), with all printed constants, for this lambda; from there on as in /corrected. "
    "Lemma 9 is not used."
)
NEEDED = (
    "The proof needs (33), which is not among the theorem's conditions, any lambda in (0, 1/2): see {0}/with-lambda "
    "and eq33.",
    "C is introduced inside the proof of Lemma 6 as an assumption on the run, not defined: the least one is meant.",
)
WITH_LAMBDA = ("The theorem with (33), which its proof needs at (33)(d) and the theorem does not state.",)


def in_theorem(square, limit, factor=""):
    terms = {**U, **LAGS, "V": V, "lam_max": limit, "f0_gap": "f(x0) - fstar", **C}
    return {**terms, "Psi": factor + PSI.format(square=square)}


def first(label, square, *conditions, limit=LIMIT, **fields):
    """Theorem IV.1, with the body's factor K^2 in the last term or without it."""
    fields = {"kind": "theorem", "title": "smooth non-convex functions", **fields}
    return result(
        label,
        "min_k(E(norm2(grad(f, u)))) <= f0_gap/(eta_l*lam*H*K) + Psi",
        *COMMON,
        *conditions,
        parameters={**ROUNDED, **LAMBDA},
        where=in_theorem(square, limit),
        **fields,
    )


def second(label, square, *conditions, limit=LIMIT, **fields):
    """Theorem IV.2, likewise; u_out is u_t, t < T, with probability proportional to (1 - mu eta lambda)^-t."""
    fields = {"kind": "theorem", "title": "under the PL inequality", **fields}
    return result(
        label,
        f"sum_k({WEIGHT}*E(norm2(grad(f, u))))/sum_k({WEIGHT}) <= 4*mu*f0_gap*exp(-mu*eta_l*lam*H*K) + Psi",
        *(A1, A2, A3, A4, LONG_RUN),
        *conditions,
        parameters={**ROUNDED, **LAMBDA},
        where=in_theorem(square, limit, "2*"),
        **fields,
    )


PRINTED_2 = {"standing": (DESCENT_STEP, PART)}
OUTPUT = (
    "Theorem IV.1's step size, as its proof is taken over ('Similar to the general nonconvex case'), and that the "
    "weights of u_out are positive, stand elsewhere. Without the former, one client, f = x^2/2, K = 1, eta_l = 3, "
    "lambda = 1/4, T = 2 has x_1 = -2 x_0.",
    "The displays of (39) lose the factor 1 - mu eta lambda, without which the sum does not telescope; with it 4 mu is "
    "right.",
)
DERIVED_1 = (
    "(33)(b) with lemma-8 and lemma-9/corrected: the factor of E||grad f(u_t)||^2 is -eta (1/2 - 4 eta L - 16 eta L "
    "B^2 "
    "- 36 eta_l^2 A K^2 B^2 L^2) < -eta lambda; eta <= 3/(16L) merges the other terms as printed, (34) bounds the sum "
    "over the lags, E||delta_t||^2 <= eta_l^2 C by Lemma 6, and the sum over t < T telescopes from u_0 = x_0."
)
DERIVED_2 = (
    "As for Theorem IV.1 up to (33)(d); (37) and (38) as printed. With p = 1 - mu eta lambda in (0, 1), as eta lambda "
    "< "
    "3/(32L) and mu <= L, the weighted sum over t < T is at most 2p (f_0-f_*)/(eta lambda), and p/sum_{t<T} p^{-t} = "
    "mu eta lambda p^T/(1-p^T) <= 2 mu eta lambda exp(-mu eta lambda T)."
)
LARGER = "The printed K^2 makes the last term larger than necessary."
THEOREM_1 = (
    first(
        "theorem-iv1-eq7", BODY, DRIFT_STEP, DESCENT_STEP, equation="(7)", source="Theorem IV.1, (7) and (8)",
        remarks=(
            "The appendix proves the last term without K^2: (36); as V contains K^2, (8) has K^4.",
            *(text.format("theorem-iv1-eq7") for text in NEEDED),
        ),
    ),
    first(
        "theorem-iv1-eq7/with-lambda", BODY, *(DRIFT_STEP, DESCENT_STEP, "lam < lam_max"), equation="(7) with (33)",
        title="smooth non-convex functions, with (33)", source="Theorem IV.1 with what (33)(d) asks of lambda",
        proof=proofs.first("", True), remarks=WITH_LAMBDA,
    ),
    first(
        "theorem-iv1-eq7/corrected", BODY, *(DESCENT_STEP, "lam < lam_max"), limit=LIMIT_CORRECTED,
        equation="(7), corrected", source="repair of Theorem IV.1", proof=proofs.first("corrected", True),
        amends="theorem-iv1-eq7", remarks=(DERIVED_1, LARGER),
    ),
    first(
        "theorem-iv1-eq35", APPENDIX, DRIFT_STEP, DESCENT_STEP, equation="(35)",
        source="Theorem IV.1, (35) and (36), appendix C",
        remarks=(
            "The body prints another last term: (8).",
            "The theorem once more, as the proof ends with it: under the theorem's conditions.",
            *(text.format("theorem-iv1-eq35") for text in NEEDED),
        ),
    ),
    first(
        "theorem-iv1-eq35/with-lambda", APPENDIX, *(DRIFT_STEP, DESCENT_STEP, "lam < lam_max"),
        equation="(35) with (33)", title="smooth non-convex functions, with (33)",
        source="Theorem IV.1, (35), with what (33)(d) asks of lambda", proof=proofs.first("", False),
        remarks=WITH_LAMBDA,
    ),
    first(
        "theorem-iv1-eq35/corrected", APPENDIX, *(DESCENT_STEP, "lam < lam_max"), limit=LIMIT_CORRECTED,
        equation="(35), corrected", source="repair of Theorem IV.1, appendix", proof=proofs.first("corrected", False),
        amends="theorem-iv1-eq35", remarks=(DERIVED_1,),
    ),
)  # fmt: skip
THEOREM_2 = (
    second(
        "theorem-iv2-eq9", BODY, equation="(9)", source="Theorem IV.2, (9) and (10)",
        remarks=(*OUTPUT, *(text.format("theorem-iv2-eq9") for text in NEEDED)), **PRINTED_2,
    ),
    second(
        "theorem-iv2-eq9/with-lambda", BODY, "lam < lam_max", equation="(9) with (33)",
        title="under the PL inequality, with (33)", source="Theorem IV.2 with what (33)(d) asks of lambda",
        proof=proofs.second("", True), remarks=WITH_LAMBDA, **PRINTED_2,
    ),
    second(
        "theorem-iv2-eq9/corrected", BODY, *("mu <= L", DESCENT_STEP, "lam < lam_max"), limit=LIMIT_CORRECTED,
        equation="(9), corrected", source="repair of Theorem IV.2", proof=proofs.second("corrected", True),
        amends="theorem-iv2-eq9", remarks=(DERIVED_2, LARGER),
    ),
    second(
        "theorem-iv2-eq39", APPENDIX, equation="(39)", source="Theorem IV.2, (39), appendix D",
        remarks=(
            "(41), which sums it up, prints K^2 again.", *OUTPUT,
            *(text.format("theorem-iv2-eq39") for text in NEEDED),
        ),
        **PRINTED_2,
    ),
    second(
        "theorem-iv2-eq39/with-lambda", APPENDIX, "lam < lam_max", equation="(39) with (33)",
        title="under the PL inequality, with (33)", source="Theorem IV.2, (39), with what (33)(d) asks of lambda",
        proof=proofs.second("", False), remarks=WITH_LAMBDA, **PRINTED_2,
    ),
    second(
        "theorem-iv2-eq39/corrected", APPENDIX, *("mu <= L", DESCENT_STEP, "lam < lam_max"), limit=LIMIT_CORRECTED,
        equation="(39), corrected", source="repair of Theorem IV.2, appendix", proof=proofs.second("corrected", False),
        amends="theorem-iv2-eq39", remarks=(DERIVED_2,),
    ),
    second(
        "eq40", BODY, equation="(40)", source="(40) and (41), appendix D",
        remarks=(
            "As (9) and (10); (39), from which it is drawn, has no K^2 in the last term.", *OUTPUT,
            *(text.format("theorem-iv2-eq9") for text in NEEDED),
        ),
        **PRINTED_2,
    ),
)  # fmt: skip

# --- a weaker condition on lambda: the mean gradient is kept in the descent ------------------------------------------

KEPT = (
    DRIFTING(
        "eq33/kept-mean",
        f"{DESCENT} <= H*eta_l*(-grad_u2/2 + eta_l*L*sigma2/S + 4*e/S*(G**2 + B**2*grad_u2)"
        " + (4*e/S + 3/2)*L**2*(D + sum_j(P*delta_sq)))",
        *(A1, A3, A4, DESCENT_STEP), where={**M_J, **SQUARES, **AFTER, "e": "H*eta_l*L", "D": EQ26.format(k="H")},
        equation="(33)(c), the mean gradient kept", title="one round's descent, with the mean gradient kept",
        source="repair of (33), appendix C", proof=proofs.KEPT_MEAN, amends="eq33",
        remarks=(
            "The printed proof drops -(eta/2) (1/K) sum_k E||m_k||^2, m_k = (1/N) sum_i grad f_i(y2), where it "
            "multiplies out -<grad f(u_t), m_k>. Kept, it pays for what m_k adds to the term of second order.",
            "-<grad f(u_t), m_k> = (||grad f(u_t)-m_k||^2 - ||grad f(u_t)||^2 - ||m_k||^2)/2. By (29) and (30) the "
            "second-order term is at most eta^2 L (1/K) sum_k (||m_k||^2 + (1/(SN)) sum_i ||grad f_i(y2)||^2) + eta^2 "
            "L "
            "sigma_l^2/(KS), and with eta L <= 1/2 the ||m_k||^2 cancel. lemma-7/corrected and lemma-8 bound the rest.",
        ),
    ),
    DRIFTING(
        "eq33/corrected-2", f"lam >= {LIMIT_KEPT}", *(A1, A3, A4, DESCENT_STEP), where=LARGEST,
        equation="(33)(d), corrected again", title="the lambda of the proof", source="repair of (33)",
        proof=proofs.largest("corrected-2"), amends="eq33",
        remarks=(
            "In eq33/kept-mean the factor of E||grad f(u_t)||^2 is -eta (1/2 - 4 eta L B^2/S - (4 eta L/S + 3/2) 24 "
            "eta_l^2 A K^2 L^2 B^2), and 96 (eta L)^3 <= 4 eta L. The other constants are below the printed ones.",
            "The printed limit, with 32 eta L B^2 for 8 eta L B^2/S, is lower, so that whatever satisfies (33) "
            "satisfies this.",
            LARGEST_LAMBDA,
        ),
    ),
    first(
        "theorem-iv1-eq7/corrected-2", BODY, *(DESCENT_STEP, "lam < lam_max"), limit=LIMIT_KEPT,
        equation="(7), corrected again", source="repair of Theorem IV.1", proof=proofs.first("corrected-2", True),
        amends="theorem-iv1-eq7", remarks=(KEPT_MEAN,),
    ),
    first(
        "theorem-iv1-eq35/corrected-2", APPENDIX, *(DESCENT_STEP, "lam < lam_max"), limit=LIMIT_KEPT,
        equation="(35), corrected again", source="repair of Theorem IV.1, appendix",
        proof=proofs.first("corrected-2", False), amends="theorem-iv1-eq35", remarks=(KEPT_MEAN,),
    ),
    second(
        "theorem-iv2-eq9/corrected-2", BODY, *("mu <= L", DESCENT_STEP, "lam < lam_max"), limit=LIMIT_KEPT,
        equation="(9), corrected again", source="repair of Theorem IV.2", proof=proofs.second("corrected-2", True),
        amends="theorem-iv2-eq9", remarks=(KEPT_MEAN,),
    ),
    second(
        "theorem-iv2-eq39/corrected-2", APPENDIX, *("mu <= L", DESCENT_STEP, "lam < lam_max"), limit=LIMIT_KEPT,
        equation="(39), corrected again", source="repair of Theorem IV.2, appendix",
        proof=proofs.second("corrected-2", False), amends="theorem-iv2-eq39", remarks=(KEPT_MEAN,),
    ),
    result(
        "theorem-iv1-eq35/without-c", "min_k(E(norm2(grad(f, u)))) <= f0_gap/(eta_l*lam*H*K) + Psi",
        *(*COMMON, DESCENT_STEP, "32*L**2*eta_l**2*V <= 1", "lam < lam_max"), parameters={**ROUNDED, **LAMBDA},
        where={
            **U, **LAGS, "V": V, "curved": "H*eta_l*L + 3*eta_l**2*L**2*V",
            "lam_max": "1/2 - 36*eta_l**2*A*H**2*B**2*L**2 - 8*(4*B**2 + 1)*curved",
            "R": "8*G**2/S + 2*sigma2/(H*S) + 48*H*L**2*A**2*eta_l**2*sigma2 + 384*A*L**2*H**2*eta_l**2*G**2",
            "Psi": "(curved*R + 9/2*eta_l**2*A**2*H*L**2*sigma2 + 36*eta_l**2*A*H**2*L**2*G**2)/lam",
            "f0_gap": "f(x0) - fstar",
        },
        kind="theorem", equation="(35) without C", title="smooth non-convex functions, without a bound of dtilde",
        source="repair of Theorem IV.1, appendix", proof=proofs.WITHOUT_C, amends="theorem-iv1-eq35",
        remarks=(
            "Sum (21) over t: D = sum E||delta_t||^2 <= eta_l^2 Gamma, Gamma = sum E||(1/(SK)) sum g||^2. Sum "
            "lemma-9/corrected, with sum_j (6K^2M_j+P_j) <= V: Gamma <= 16L^2V eta_l^2 Gamma + TR + (32B^2+8) sum "
            "E||grad f(u_t)||^2, and 16L^2V eta_l^2 <= 1/2. Put Gamma and lemma-8 into the sum of (33)(b): the factor "
            "of sum E||grad f(u_t)||^2 over eta is at least lambda, the rest is T lambda Psi + (f_0-f_*)/eta.",
        ),
    ),
)  # fmt: skip

# --- the remarks -----------------------------------------------------------------------------------------------------

SCALARS = {
    "A": PROBABILITY, "rho": NONNEGATIVE, "J": INDEX, "C": NONNEGATIVE, "f0_gap": NONNEGATIVE, **CONSTANTS, **NOISE,
    **LAMBDA,
}  # fmt: skip
WITHOUT_B = {name: domain for name, domain in SCALARS.items() if name != "B"}
START_1, START_2 = "f0_gap/(eta_l*lam*H*K)", "4*mu*f0_gap*exp(-mu*eta_l*lam*H*K)"
ORDERS = "1/(eta_l*H*K), eta_l/S, eta_l*H/S"
PER_STEP = "6*(1 - A) + (27/32*A + 1)*(rho**2 + J**2*(1 - A)**2/A**2)"


def by_terms(label, number, start, factor, square, **fields):
    """The right side of a theorem, with names for A, rho and J, as a sum of named terms."""
    psi = PSI.format(square=square).replace("V", f"({V})")
    return numbers(
        label,
        f"{start} + {factor}{psi} == "
        "start_term + noise_term + heterogeneity_term + drift_noise_term + drift_heterogeneity_term + inertia_term",
        where={
            "start_term": start, "noise_term": f"{factor}eta_l*L*sigma2/(lam*S)",
            "heterogeneity_term": f"{factor}4*eta_l*H*L*G**2/(lam*S)",
            "drift_noise_term": f"{factor}9*eta_l**2*A**2*H*L**2*sigma2/lam",
            "drift_heterogeneity_term": f"{factor}72*eta_l**2*A*H**2*L**2*G**2/lam",
            "inertia_term": f"{factor}3*eta_l**2*L**2*{square}({V})*C/lam",
        },
        parameters=WITHOUT_B, kind="remark", equation=number, title=f"the bound {number}, term by term",
        source=f"reading of {number}", remarks=("It serves the orders.",), **fields,
    )  # fmt: skip


SPEED_UP = (
    combined("squares", "S/K == S*K/K**2"),
    root("roots", "squares", "sqrt(S/K) == sqrt(S*K)/K"),
    combined(
        "all", None, "roots times (L*sigma2/H + 4*L*G**2)/(lam*S) - f0_gap/(lam*sqrt(S/K)*sqrt(S*K))",
        "1 times (H - 1)/(lam*H)*(L*sigma2/sqrt(S*K) + 9*A**2*L**2*sigma2*S/K); "
        "rho times 3*L**2*C*S/(lam*K)*(27/32*A + 1)*(H - 1)*(H + 1)/H**2",
    ),
)  # fmt: skip
REMARKS = (
    numbers(
        "remark-iv1", f"max({ORDERS}) <= 1/sqrt(S*H*K)", where={"eta_l": "sqrt(S/(H*K))"}, kind="remark",
        equation="Remark IV.1", title="linear speed-up in S and K", source="Remark IV.1 and abstract",
        remarks=(
            "Printed: for eta_l = O(sqrt(S/(KT))), N fixed and a proper K, the rate is at least O(1/sqrt(SKT)), and "
            "the stochastic variance dominates the bound.",
            "Left: the orders in S, K and T of the terms of (7) that are of first order in eta_l, read off by hand: "
            "start, noise and heterogeneity; the others are of higher order in 1/T. Monomials are of an order if and "
            "only if they are at most that monomial, at every S, K and T. That there is a constant is no sentence of "
            "the language.",
        ),
    ),
    by_terms("remark-iv1/terms", "(7)", START_1, "", BODY),
    by_terms("remark-iv1/appendix-terms", "(35)", START_1, "", APPENDIX),
    numbers(
        "remark-iv1/corrected",
        f"{START_1} + {PSI.format(square='').replace('V', f'({V})')} <= (f0_gap + L*sigma2 + 4*L*G**2)/(lam*sqrt(S*K)) "
        f"+ "
        f"S/(lam*K)*(9*A**2*L**2*sigma2 + 72*A*L**2*G**2 + 3*L**2*C*({PER_STEP}))",
        where={"eta_l": "sqrt(S/K)/H"}, parameters=WITHOUT_B, kind="remark", equation="Remark IV.1, corrected",
        title="speed-up in S alone", source="repair of Remark IV.1", amends="remark-iv1", proof=SPEED_UP,
        remarks=(
            "The bound of (35) at eta_l = sqrt(S/T)/K is O(1/sqrt(ST) + S/T), with constants that do not grow with K: "
            "(f_0-f_*)/(lambda sqrt(ST)), L sigma_l^2/(lambda K sqrt(ST)), 4LG^2/(lambda sqrt(ST)), and S/(lambda T) "
            "times 9A^2L^2 sigma_l^2/K, 72AL^2G^2 and 3L^2VC/K^2. V is of order K^2; C is taken not to grow with K.",
        ),
    ),
    numbers(
        "remark-iv2", "max(mu*exp(-mu*eta_l*lam*H*K), eta_l*lam/S, eta_l*lam*H/S) <= 1/(mu*S*K)",
        assuming=("log(mu**2*S*K) >= 1",), where={"eta_l": "log(mu**2*S*K)/(mu*lam*H*K)"}, parameters=LAMBDA,
        kind="remark", equation="Remark IV.2", title="rate 1/(mu S T) under PL", source="Remark IV.2",
        remarks=(
            "Printed: the initial term vanishes exponentially; for eta_l = O(log(mu^2 ST)/(mu lambda KT)) >= 1/(mu "
            "lambda KT) the rate is at least O(1/(mu ST)).",
            "Left: the orders in mu, S and T of the terms of (9) that are of first order in eta_l, times lambda. That "
            "there is a constant is no sentence of the language: the last of them is log(mu^2 ST) times the right "
            "side, and that has no bound.",
        ),
    ),
    by_terms("remark-iv2/terms", "(9)", START_2, "2*", BODY),
    numbers(
        "remark-iv2/corrected",
        f"4*mu*f0_gap/(mu**2*S*K) + 2*{PSI.format(square='').replace('V', f'({V})')} <= "
        "(1 + ell)/(mu*S*K)*(4*f0_gap + 2*L/lam**2*(sigma2 + 4*G**2)) + ell**2/(mu*K)**2*2*L**2/lam**3*"
        f"(9*A**2*sigma2 + 72*A*G**2 + 3*C*({PER_STEP}))",
        where={"eta_l": "ell/(mu*lam*H*K)"}, parameters=WITHOUT_B, kind="remark", equation="Remark IV.2, corrected",
        title="rate log(mu^2 S T)/(mu S T) + (log(mu^2 S T)/(mu T))^2 under PL", source="repair of Remark IV.2",
        amends="remark-iv2",
        remarks=(
            "For eta_l = ell/(mu lambda K T) with ell = log(mu^2 ST) the bound of (39) is O((1+ell)/(mu ST) + "
            "ell^2/(mu "
            "T)^2), with constants that do not grow with K: exp(-mu eta_l lambda K T) = 1/(mu^2 ST), put in on the "
            "left; "
            "the terms with eta_l have ell/(mu ST), those with eta_l^2 have ell^2/(mu T)^2, and V is of order K^2.",
        ),
    ),
    claim(
        "remark-iv3", kind="remark", equation="Remark IV.3", title="B influences the bounds weakly",
        source="Remark IV.3",
        remarks=(
            "Printed: B weakly influences the bounds of Theorems IV.1 and IV.2; the heterogeneity acts through G.",
            "'Weakly' is no relation between numbers, so that no sentence says it.",
            "B is in no term of Psi, but in the condition (33): eta_l K L < 1/(64 B^2), so that with lambda < 1/2 the "
            "first term of (7) is at least 128 L B^2 (f_0-f_*)/T. eq33/corrected-2 lowers this to 32 L B^2 "
            "(f_0-f_*)/(S T).",
        ),
    ),
)  # fmt: skip

# From which lines the paper has its results, as its proofs cite them.
RESTS_ON = {
    "eq21": "lemma-6", "eq25": "lemma-7", "eq26": "eq25", "lemma-8": "eq26", "eq31": "eq30 lemma-7",
    "lemma-9": "eq29 eq31 lemma-8", "eq33": "lemma-5 lemma-7 lemma-8 lemma-9 eq21",
    "theorem-iv1-eq35": "eq33 eq34", "theorem-iv1-eq7": "theorem-iv1-eq35", "eq37": "eq33",
    "theorem-iv2-eq39": "eq37 eq34", "eq40": "theorem-iv2-eq39", "theorem-iv2-eq9": "eq40",
    "remark-iv1": "theorem-iv1-eq7", "remark-iv2": "theorem-iv2-eq9",
}  # fmt: skip

PAPER = Paper(
    name="fedmim",
    title="Enhance Local Consistency in Federated Learning: A Multi-Step Inertial Momentum Approach",
    authors="Yixing Liu, Yan Sun, Zhengtao Ding, Li Shen, Bo Liu, Dacheng Tao",
    claims=(*RECURSION, *DRIFTS, *AVERAGE, *EQ33, *THEOREM_1, *THEOREM_2, *KEPT, *REMARKS),
    experiments="examples.fedmim",
    rests_on=RESTS_ON,
)
