"""Algorithm 3, first part: local SGD to the common optimum (Lemmas 4 to 6)."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Hypothesis, Step
from theory.papers.perm.local_sgd_lines import TWO_CLIENTS_PART, one_step
from theory.papers.perm.words import (
    A1,
    A2,
    A2_RUN,
    A3,
    CLIENT_DRIFT,
    DISSIMILARITY,
    DISSIMILARITY_RUN,
    DISTANCE_NEXT,
    GLOBAL_DISTANCE,
    HALF_STEP,
    HALF_STEP_OF_6,
    INTERIOR,
    UNBIASED,
    UNLISTED_HALF_STEP,
    K,
    L,
    N,
    R,
    delta2,
    dist,
    dist0,
    drift,
    gamma,
    gap,
    identifier,
    mu,
    result,
    zeta,
)

_DIST = r"\mathbb{E}\Vert w^{r,t}-w^*\Vert^2"
_DRIFT = r"\frac{1}{N}\sum_i\Vert w_i^{r,t}-w^{r,t}\Vert^2"
_STEP = r"\frac{1}{N}\sum_i\nabla f_i(w_i^{r,t})"
_BACK = r"F(w^*)-F(w^{r,t})"
_TAIL = r"+(\gamma L+2\gamma^2L^2)" + _DRIFT + r"+\frac{\gamma^2\delta^2}{N}"
ONE_STEP = "(1-mu*gamma)*dist {sign} (2*gamma-4*gamma**2*L)*gap + (gamma*L+2*gamma**2*L**2)*drift + gamma**2*delta2/N"


def _lemma_4(sign: str, steps: str) -> tuple[Step, ...]:
    return (
        Step(
            "(9)",
            DISTANCE_NEXT.latex,
            "=",
            _DIST
            + r"-2\gamma\mathbb{E}\langle "
            + _STEP
            + r",w^{r,t}-w^*\rangle+\gamma^2\mathbb{E}\Vert "
            + _STEP
            + r"\Vert^2+\frac{\gamma^2\delta^2}{N}",
            "moment identity",
            "with <=: the noise is independent and has mean zero; T2 is printed with the sampled gradients, which "
            "would count the noise twice",
        ),
        Step(
            "T1",
            r"-2\gamma\langle " + _STEP + r",w^{r,t}-w^*\rangle",
            "<=",
            r"\frac{2\gamma}{N}\sum_i(f_i(w^*)-f_i(w^{r,t})-\frac{\mu}{2}\Vert w_i^{r,t}-w^*\Vert^2"
            r"+\frac{L}{2}\Vert w_i^{r,t}-w^{r,t}\Vert^2)",
            "inequality",
            "strong convexity between w_i and w*, smoothness between w_i and the mean",
            vectors=one_step("T1", "<=", "T1 convex", steps=steps),
        ),
        Step(
            "T1, Jensen",
            r"-2\gamma\langle " + _STEP + r",w^{r,t}-w^*\rangle",
            "<=",
            r"2\gamma(" + _BACK + r"-\frac{\mu}{2}\Vert w^{r,t}-w^*\Vert^2+\frac{L}{2}" + _DRIFT + ")",
            "inequality",
            "Jensen; its display has lost a minus sign",
            vectors=one_step("T1 convex", "<=", "T1 Jensen", steps=steps),
            uses=("T1",),
        ),
        Step(
            "T2",
            r"\Vert " + _STEP + r"\Vert^2",
            "=" if sign == "+" else "<=",
            r"2\Vert " + _STEP + r"-\nabla F(w^{r,t})\Vert^2+2\Vert\nabla F(w^{r,t})\Vert^2",
            "inequality",
            "printed with =; true with <=" if sign == "+" else "",
            vectors=one_step("T2", "=" if sign == "+" else "<=", "T2 split", steps="short"),
            chain=one_step("T2", "<=", "T2 split", steps=steps),
        ),
        Step(
            "T2, smooth",
            r"2\Vert " + _STEP + r"-\nabla F(w^{r,t})\Vert^2+2\Vert\nabla F(w^{r,t})\Vert^2",
            "<=",
            r"2L^2" + _DRIFT + r"+4L(F(w^{r,t})-F(w^*))",
            "inequality",
            "||grad F||^2 <= 2L (F - F*) needs grad F(w*) = 0",
            vectors=one_step("T2 split", "<=", "T2 bound", steps="binding" if sign == "+" else steps),
            chain=one_step("T2", "<=", "T2 bound", steps=steps),
            uses=("T2",),
        ),
        Step(
            "Lemma 4",
            DISTANCE_NEXT.latex,
            "<=",
            r"(1-\mu\gamma)"
            + _DIST
            + r"-(2\gamma-4\gamma^2L)\mathbb{E}("
            + (_BACK if sign == "+" else r"F(w^{r,t})-F(w^*)")
            + ")"
            + _TAIL,
            "substitution",
            "2 gamma (F(w*)-F(w)) + 4 gamma^2 L (F(w)-F(w*)) is -(2 gamma - 4 gamma^2 L)(F(w)-F(w*)): the sign of the "
            "printed difference is wrong"
            if sign == "+"
            else "",
            identity=(
                "-2*gamma*gap + 4*gamma**2*L*gap",
                f"{sign}(2*gamma-4*gamma**2*L)*gap".removeprefix("+"),
            )
            if sign == "-"
            else None,
            vectors=one_step("next", "<=", "printed" if sign == "+" else "right", steps="any"),
            uses=("(9)", "T1, Jensen", "T2, smooth"),
        ),
    )


_LEMMA_4_TEXT = (
    "E||w^{t+1}-w*||^2 <= (1 - mu gamma) E||w^t-w*||^2 - (2 gamma - 4 gamma^2 L) E(%s) + (gamma L + 2 gamma^2 L^2) "
    "(1/N) sum_i ||w_i-w||^2 + gamma^2 delta^2/N."
)
LEMMA_4 = result(
    "lemma-4",
    "lemma",
    "one step of local SGD",
    "Lemma 4",
    _LEMMA_4_TEXT % "F(w*) - F(w^t)",
    DISTANCE_NEXT.latex + r"\leq(1-\mu\gamma)" + _DIST + r"-(2\gamma-4\gamma^2L)\mathbb{E}(" + _BACK + ")" + _TAIL,
    DISTANCE_NEXT,
    "Lemma 4, appendix B.2",
    parameters=(mu, L, N, gamma, delta2, dist, gap, drift),
    hypotheses=(*A1, UNBIASED, A2),
    standing=(HALF_STEP_OF_6,),
    relation="<=",
    right=ONE_STEP.format(sign="+"),
    steps=_lemma_4("+", "any"),
    remarks=(
        "The sign of F(w*) - F(w^t) is wrong. For gamma <= 1/(2L) the printed bound is therefore weaker than what is "
        "shown; for larger steps it is false. The step is fixed in the proof of Lemma 6 only.",
        "w* minimises F over W; where W binds, grad F(w*) is not 0, and a step from w* leaves it although every term "
        "on the right is 0 (inside a round nothing is projected).",
        "The variance is bounded on W only, and local iterates may leave W.",
    ),
)
LEMMA_4_CORRECTED = result(
    "lemma-4/corrected",
    "lemma",
    "one step of local SGD",
    "Lemma 4, corrected",
    _LEMMA_4_TEXT % "F(w^t) - F(w*)" + " For every gamma > 0, if grad F(w*) = 0.",
    DISTANCE_NEXT.latex + r"\leq(1-\mu\gamma)" + _DIST + r"-(2\gamma-4\gamma^2L)\mathbb{E}(F(w^{r,t})-F(w^*))" + _TAIL,
    DISTANCE_NEXT,
    "repair of Lemma 4",
    parameters=(mu, L, N, gamma, delta2, dist, gap, drift),
    hypotheses=(*A1, UNBIASED, A2_RUN, INTERIOR),
    relation="<=",
    right=ONE_STEP.format(sign="-"),
    steps=_lemma_4("-", "any"),
    amends="lemma-4",
    derivation=(
        "The printed proof, with grad F(w*) = 0 where it uses ||grad F||^2 <= 2L (F - F*), and with the last sum "
        "carried out: -2 gamma (F - F*) + 4 gamma^2 L (F - F*) = -(2 gamma - 4 gamma^2 L)(F - F*)."
    ),
)

SPREAD = "3*K*gamma**2*delta2 + 6*K**2*gamma**2*{zeta}"
_SPREAD = r"3K\gamma^2\delta^2+6K^2\gamma^2\zeta"
LEMMA_5 = result(
    "lemma-5",
    "lemma",
    "how far the clients drift apart within a round",
    "Lemma 5",
    "(1/N) sum_i ||w_i^{r,t}-w^{r,t}||^2 <= 3 K gamma^2 delta^2 + 6 K^2 gamma^2 zeta^2 (cited, without a step size).",
    CLIENT_DRIFT.latex + r"\leq " + _SPREAD + "^2",
    CLIENT_DRIFT,
    "Lemma 5, appendix B.2; Woodworth, Patel, Srebro, NeurIPS 2020, Lemma 8",
    parameters=(K, gamma, delta2, zeta),
    hypotheses=(A1[0], A1[1], UNBIASED, A2, DISSIMILARITY),
    standing=(UNLISTED_HALF_STEP,),
    relation="<=",
    right=SPREAD.format(zeta="zeta**2"),
    steps=(
        Step(
            "Lemma 5",
            CLIENT_DRIFT.latex,
            "<=",
            _SPREAD + "^2",
            "cited",
            "there zeta bounds the norm of the difference of gradients, here zeta is its square already",
            claim=identifier("lemma-5"),
            needs=(
                Hypothesis("step size", "gamma <= 2/L", relation="gamma <= 2/L"),
                Hypothesis(
                    DISSIMILARITY_RUN.name, DISSIMILARITY_RUN.statement, assumption=DISSIMILARITY_RUN.assumption
                ),
            ),
        ),
    ),
    remarks=(
        "Definition 2's zeta is a squared norm; zeta^2 has the wrong dimension, and the bound is false for small "
        "gradients. Theorems 1 and 2 have the same slip.",
        "No expectation on the left: the noise of one run exceeds its mean.",
        "Beyond gamma = 2/L differences grow geometrically in K; the step is fixed in the proof of Lemma 6.",
        "zeta is a supremum over W, and local iterates may leave W.",
    ),
)
LEMMA_5_CORRECTED = result(
    "lemma-5/corrected",
    "lemma",
    "how far the clients drift apart within a round",
    "Lemma 5, corrected",
    "For gamma <= 2/L: (1/N) sum_i E||w_i^{r,t}-w^{r,t}||^2 <= 3 K gamma^2 delta^2 + 6 K^2 gamma^2 zeta, t < K.",
    r"\frac{1}{N}\sum_{i}\mathbb{E}\Vert w_i^{r,t}-w^{r,t}\Vert^2\leq " + _SPREAD,
    CLIENT_DRIFT,
    "repair of Lemma 5",
    parameters=(L, K, gamma, delta2, zeta),
    hypotheses=(
        A1[0],
        A1[1],
        UNBIASED,
        A2_RUN,
        DISSIMILARITY_RUN,
        Hypothesis("step size", "gamma <= 2/L", relation="gamma <= 2/L"),
    ),
    relation="<=",
    right=SPREAD.format(zeta="zeta"),
    steps=(
        Step(
            "two clients, one step",
            r"\mathbb{E}\Vert w_i^{t+1}-w_j^{t+1}\Vert^2",
            "<=",
            r"\frac{K}{K-1}\Vert w_i^t-w_j^t\Vert^2+\gamma^2(4K\zeta+2\delta^2)",
            "inequality",
            "a gradient step on F with gamma <= 2/L does not expand; Young with 1/(K-1)",
            vectors=TWO_CLIENTS_PART,
        ),
        Step(
            "K-1 steps",
            r"\frac{1}{N}\sum_i\mathbb{E}\Vert w_i^t-w^t\Vert^2",
            "<=",
            r"\frac{7}{8}(K-1)\gamma^2(4K\zeta+2\delta^2)",
            "summation",
            "(1/N) sum_i ||w_i-w||^2 is half the mean over i, j of ||w_i-w_j||^2; sum_{s<K-1} (K/(K-1))^s <= "
            "(e-1)(K-1), and (e-1)/2 <= 7/8",
            uses=("two clients, one step",),
        ),
        Step(
            "Lemma 5",
            r"\frac{7}{8}(K-1)\gamma^2(4K\zeta+2\delta^2)",
            "<=",
            _SPREAD,
            "inequality",
            identity=("7/8*(K-1)*gamma**2*(4*K*zeta+2*delta2)", SPREAD.format(zeta="zeta")),
            uses=("K-1 steps",),
        ),
    ),
    amends="lemma-5",
    derivation=(
        "w_i^{t+1} - w_j^{t+1} = (w_i - gamma grad F(w_i)) - (w_j - gamma grad F(w_j)) - gamma (d_i - d_j) - noise, "
        "d_i = (grad f_i - grad F)(w_i), ||d_i||^2 <= zeta. The first difference is at most ||w_i - w_j|| for gamma <= "
        "2/L. Young with 1/(K-1), K-1 steps from 0, and (1/N) sum ||w_i-w||^2 = (1/(2N^2)) sum_ij ||w_i-w_j||^2 give "
        "(e-1)(K-1) gamma^2 (2 K zeta + delta^2), which is below the stated sum."
    ),
)

REMAINDER = "(gamma*L+2*gamma**2*L**2)/(mu*gamma)*spread"


def _lemma_6(zeta_power: str) -> dict[str, Any]:
    return {
        "parameters": (mu, L, N, K, R, gamma, delta2, zeta, dist0),
        "definitions": {
            "spread": SPREAD.format(zeta=zeta_power),
            "start_term": "(1-mu*gamma)**(R*K)*dist0",
            "drift_term": REMAINDER,
            "noise_term": "gamma*delta2/(mu*N)",
        },
        "right": "start_term + drift_term + noise_term",
    }


_LEMMA_6 = (
    GLOBAL_DISTANCE.latex
    + r"\leq(1-\mu\gamma)^{RK}\mathbb{E}\Vert w^0-w^*\Vert^2+\frac{\gamma L+2\gamma^2L^2}{\mu\gamma}("
)
_UNROLLED = Step(
    "unrolled",
    GLOBAL_DISTANCE.latex,
    "<=",
    r"(1-\mu\gamma)^{RK}\mathbb{E}\Vert w^0-w^*\Vert^2+\frac{c}{\mu\gamma}",
    "summation",
    "V' <= (1-m) V + c keeps V <= q + c/m where q decays; the printed powers K-t are one too high, harmlessly",
    identity=("(1-m)*(c/m) + c", "c/m"),
    uses=("dropped sum", "Lemma 5"),
)
LEMMA_6 = result(
    "lemma-6",
    "lemma",
    "last iterate of local SGD",
    "Lemma 6",
    "E||w^R-w*||^2 <= (1-mu gamma)^{RK} E||w^0-w*||^2 + (gamma L + 2 gamma^2 L^2)/(mu gamma) (3 K gamma^2 delta^2 + "
    "6 K^2 gamma^2 zeta^2) + gamma delta^2/(mu N); gamma <= 1/(2L) in the proof.",
    _LEMMA_6 + _SPREAD + r"^2)+\frac{\gamma\delta^2}{\mu N}",
    GLOBAL_DISTANCE,
    "Lemma 6, appendix B.2",
    relation="<=",
    hypotheses=(*A1, UNBIASED, A2, A3, DISSIMILARITY, HALF_STEP),
    **_lemma_6("zeta**2"),
    steps=(
        Step("Lemma 4", DISTANCE_NEXT.latex, "<=", r"\dots", "cited", "as printed", claim=identifier("lemma-4")),
        Step(
            "dropped sum",
            r"\sum_t(1-\mu\gamma)^{K-t}(2\gamma-4\gamma^2L)\mathbb{E}(F(w^*)-F(w^{r,t}))",
            ">=",
            "0",
            "inequality",
            "false: F(w*) <= F(w); with the sign of lemma-4/corrected the sum may be dropped",
            identity=("-gap", "0"),
            uses=("Lemma 4",),
        ),
        Step("Lemma 5", CLIENT_DRIFT.latex, "<=", _SPREAD + "^2", "cited", "", claim=identifier("lemma-5")),
        _UNROLLED,
        Step(
            "Lemma 6",
            GLOBAL_DISTANCE.latex,
            "<=",
            r"(1-\mu\gamma)^{RK}\mathbb{E}\Vert w^0-w^*\Vert^2+\frac{\gamma L+2\gamma^2L^2}{\mu\gamma}("
            + _SPREAD
            + r"^2)+\frac{\gamma\delta^2}{\mu N}",
            "substitution",
            "Lemma 5 in what is unrolled",
            claim=identifier("lemma-6"),
            uses=("unrolled",),
        ),
    ),
    remarks=(
        "Two wrong signs cancel: Lemma 4's, and 'the sum is >= 0', which is false.",
        "False for small gradients (zeta^2), and, where W binds at w*, even with one client and exact gradients.",
    ),
)
LEMMA_6_CORRECTED = result(
    "lemma-6/corrected",
    "lemma",
    "last iterate of local SGD",
    "Lemma 6, corrected",
    "For gamma <= 1/(2L), grad F(w*) = 0 and zeta along the run: E||w^R-w*||^2 <= (1-mu gamma)^{RK} E||w^0-w*||^2 + "
    "(gamma L + 2 gamma^2 L^2)/(mu gamma) (3 K gamma^2 delta^2 + 6 K^2 gamma^2 zeta) + gamma delta^2/(mu N).",
    _LEMMA_6 + _SPREAD + r")+\frac{\gamma\delta^2}{\mu N}",
    GLOBAL_DISTANCE,
    "repair of Lemma 6",
    relation="<=",
    hypotheses=(*A1, UNBIASED, A2_RUN, A3, DISSIMILARITY_RUN, INTERIOR, HALF_STEP),
    **_lemma_6("zeta"),
    steps=(
        Step("Lemma 4", DISTANCE_NEXT.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-4/corrected")),
        Step(
            "dropped sum",
            r"(2\gamma-4\gamma^2L)\mathbb{E}(F(w^{r,t})-F(w^*))",
            ">=",
            "0",
            "inequality",
            "1/gamma = 2L + rest",
            identity=("(2/(2*L+rest)-4*L/(2*L+rest)**2)*gap", "0"),
            uses=("Lemma 4",),
        ),
        Step("Lemma 5", CLIENT_DRIFT.latex, "<=", _SPREAD, "cited", "", claim=identifier("lemma-5/corrected")),
        _UNROLLED,
    ),
    amends="lemma-6",
    derivation=(
        "lemma-4/corrected without its non-positive term and with lemma-5/corrected: V' <= (1-mu gamma) V + c, c = "
        "(gamma L + 2 gamma^2 L^2) spread + gamma^2 delta^2/N, over RK steps; projections do not expand."
    ),
)

CLAIMS: tuple[Claim, ...] = (
    LEMMA_4,
    LEMMA_4_CORRECTED,
    LEMMA_5,
    LEMMA_5_CORRECTED,
    LEMMA_6,
    LEMMA_6_CORRECTED,
)
