"""The proof of Theorem V.1, (7), as displayed in the appendix."""

from __future__ import annotations

from theory.claim import Inference, Step, Use
from theory.papers.fedavg_svrg.lines import DESCENT, UPDATE
from theory.papers.fedavg_svrg.words import LHS, NEGATIVE_INNER_PRODUCT, SCALED_AGGREGATE, V2, V2_PRIME, identifier

GAP = r"\frac{2}{\delta KSM}(f(\theta^0)-f^*)"
DRIFT_7 = (
    r"\frac{\delta^2L^2(M-1)}{KSMN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\sum_{s=0}^{S-1}\sum_{m=0}^{M-1}\sum_{m'=0}^{m-1}"
    + V2_PRIME
)
NOISE_7 = r"\frac{\delta L}{KN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\frac{1}{p_n^k}\sum_{s=0}^{S-1}\sum_{m=0}^{M-1}" + V2

PROOF_OF_THEOREM = (
    Step(
        "(A.18)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)+\langle\nabla f(\theta^k),\mathbb{E}[\theta^{k+1}-\theta^k|\theta^k]\rangle"
        r"+\frac{L}{2}\mathbb{E}[\Vert\theta^{k+1}-\theta^k\Vert^2|\theta^k]",
        "inequality",
        "smoothness of f, which follows from (3)",
        vectors=DESCENT,
    ),
    Step(
        "(A.19)",
        r"\theta^{k+1}-\theta^k",
        "=",
        r"-\frac{\delta}{N}\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k",
        "identity",
        "line 14 and line 20 of Algorithm 1, telescoped",
        claim=identifier("eq-a19"),
        vectors=UPDATE,
    ),
    Step(
        "(A.20)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)-\delta\sum_{s,m}\mathbb{E}[\langle\nabla f(\theta^k),\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)"
        r"\rangle|\theta^k]+\frac{\delta^2L}{2N^2}\mathbb{E}[\Vert\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k\Vert^2"
        r"|\theta^k]",
        "moment identity",
        "(A.18) with (A.19); E 1_n^k = p_n^k and E v = E grad f_n(w)",
        claim=identifier("eq-a20"),
        uses=("(A.18)", "(A.19)"),
    ),
    Step(
        "(A.16)",
        SCALED_AGGREGATE.latex,
        "<=",
        r"NSM\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "inequality",
        "Lemma A.1; the factor delta^2 L/(2N^2) of the left side is missing on the right",
        claim=identifier("lemma-a1"),
        slip=identifier("lemma-a1/corrected"),
    ),
    Step(
        "(A.21)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)-\delta\sum_{s,m}\mathbb{E}[\langle\nabla f(\theta^k),\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)"
        r"\rangle|\theta^k]+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "inequality",
        "what the proof of Lemma A.1 shows, not what the lemma states",
        claim=identifier("eq-a21"),
        uses=("(A.20)", "(A.16)"),
        inference=Inference(
            (
                Use("(A.20)"),
                Use("(A.16)", at={"scaled_aggregate": "delta**2*L/(2*N**2)*aggregate_second_moment"}),
            )
        ),
    ),
    Step(
        "(A.22)",
        r"\mathbb{E}f(\theta^{k+1})",
        "<=",
        r"\mathbb{E}f(\theta^k)-\delta\sum_{s,m}\mathbb{E}\langle\nabla f(\theta^k),\frac{1}{N}\sum_n"
        r"\nabla f_n(w_{n,s,m}^k)\rangle+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "moment identity",
        "total expectation of (A.21)",
        claim=identifier("eq-a22"),
        uses=("(A.21)",),
        inference=Inference((Use("(A.21)"),)),
    ),
    Step(
        "(A.17)",
        NEGATIVE_INNER_PRODUCT.latex,
        "<=",
        r"\frac{\delta^3L^2(M-1)}{2N}\sum_n\sum_{m'=0}^{m-1}"
        + V2_PRIME
        + r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
        "inequality",
        "Lemma A.2; its proof replaces theta^k - w_{n,s,m} by the steps since the last snapshot only",
        claim=identifier("lemma-a2"),
    ),
    Step(
        "(A.23)",
        r"\mathbb{E}f(\theta^{k+1})",
        "<=",
        r"\mathbb{E}f(\theta^k)+\frac{\delta^3L^2(M-1)}{2N}\sum_{n,s,m}\sum_{m'=0}^{M-1}"
        + V2_PRIME
        + r"-\frac{\delta SM}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}"
        r"\sum_{s,m}" + V2,
        "substitution",
        "(A.17) summed over s and m into (A.22); the inner sum is printed up to M-1, which is weaker",
        claim=identifier("eq-a23"),
        uses=("(A.22)", "(A.17)"),
        inference=Inference(
            (
                Use("(A.22)"),
                Use(  # summed over s and m
                    "(A.17)",
                    at={
                        "negative_inner_product": "-delta*inner_product_sum",
                        "drift_round": "drift_within",
                        "squared_gradient_norm": "S*M*squared_gradient_norm",
                    },
                ),
            ),
            at={"full_drift_round": "drift_within + drift_after"},
        ),
    ),
    Step(
        "(A.24)",
        LHS,
        "<=",
        r"\frac{2}{\delta KSM}(\mathbb{E}f(\theta^0)-"
        r"\mathbb{E}f(\theta^k))+\frac{\delta^2L^2(M-1)}{KSMN}[\sum_{k,n,s,m}"
        r"\sum_{m'=0}^{m-1}" + V2_PRIME + "+" + NOISE_7 + "]",
        "summation",
        "(A.23) summed over k; the bracket is closed after the last term, and theta^k stands for theta^K",
        claim=identifier("eq-a24"),
        uses=("(A.23)",),
        inference=Inference(
            (
                Use(  # summed over k
                    "(A.23)",
                    factor="2/(delta*K*S*M)",
                    at={
                        "expected_next_cost": "-f_drop",
                        "cost": "0",
                        "squared_gradient_norm": "K*mean_squared_gradient_norm",
                        "full_drift_round": "drift_sum + drift_after",
                        "weighted_round": "weighted_sum",
                    },
                ),
            )
        ),
    ),
    Step(
        "(A.25)",
        LHS,
        "<=",
        GAP + r"+\frac{\delta^2L^2(M-1)}{KSMN}[\sum_{k,n,s,m}\sum_{m'=0}^{m-1}" + V2_PRIME + "+" + NOISE_7 + "]",
        "substitution",
        "f(theta^K) >= f*; the bracket as in (A.24)",
        claim=identifier("eq-a25"),
        uses=("(A.24)",),
        inference=Inference((Use("(A.24)", at={"f_drop": "f0_gap - f_rest"}),)),
    ),
    Step(
        "(7)",
        LHS,
        "<=",
        GAP + "+" + DRIFT_7 + "+" + NOISE_7,
        "substitution",
        "(A.25), with the bracket closed after the drift sum",
        claim=identifier("theorem-v1-eq7"),
        uses=("(A.25)",),
        inference=Inference((Use("(A.25)"),)),
    ),
)
