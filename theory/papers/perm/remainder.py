"""What summation by parts leaves of an epoch, and the noise of an epoch: Lemmas 12 and 13."""

from __future__ import annotations

from dataclasses import replace

from theory.assumptions import BoundedVariance
from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.epochs import NORM, SMALLER, UNION
from theory.papers.perm.words import (
    A1,
    A4,
    EPOCH_STEP_OF_11,
    SHORT_EPOCH,
    UNBIASED,
    G,
    K,
    L,
    N,
    delta,
    eta,
    grad_phi,
    grad_sum,
    identifier,
    p,
    result,
)

EPOCH_CROSS = Quantity(
    "epoch_cross",
    "||sum_{n<N} (prod_{j'=N}^{n+2} (I - Q_j' H_j')) Q_{n+1} H_{n+1} sum_{j<=n} Q_j grad f_s(j)(v^r)||^2, the "
    "(1-p)-quantile over the permutation",
    r"\Vert\sum_{n=1}^{N-1}(\prod_{j'=N}^{n+2}(I-Q_{j'}H_{j'}))Q_{n+1}H_{n"
    r"+1}\sum_{j=1}^nQ_j\nabla f_{\sigma(j)}(v^r)\Vert^2",
)
EPOCH_NOISE = Quantity(
    "epoch_noise",
    "E||sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') delta_j||",
    r"\mathbb{E}\Vert\sum_{j=1}^N\prod_{j'=N}^{j+1}(I-Q_{j'}H_{j'})\delta_j\Vert",
)
EPOCH_NOISE_SQUARED = Quantity(
    "epoch_noise_squared",
    "E||sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') delta_j||^2",
    r"\mathbb{E}\Vert\sum_{j=1}^N\prod_{j'=N}^{j+1}(I-Q_{j'}H_{j'})\delta_j\Vert^2",
)
_BOUND_12 = r"18e^6\eta^4N^4K^4L^%s(%s^2+8G^2N\log(%s))"
_STEP_SOME_R = replace(EPOCH_STEP_OF_11, statement="eta <= 1/(4NKRL), for an R >= 1", relation=SHORT_EPOCH.relation)

LEMMA_12 = result(
    "lemma-12",
    "lemma",
    "what summation by parts leaves",
    "Lemma 12",
    "With probability at least 1-p: ||sum_{n<N} (prod_{j'=N}^{n+2} (I - Q_j' H_j')) Q_{n+1} H_{n+1} sum_{j<=n} Q_j "
    "grad f_s(j)||^2 <= 18 e^6 eta^4 N^4 K^4 L^4 (||grad Phi||^2 + 8 G^2 N log(1/p)); Phi as in (3).",
    EPOCH_CROSS.latex + r"\leq " + _BOUND_12 % ("4", NORM["grad_phi"], "1/p"),
    EPOCH_CROSS,
    "Lemma 12, appendix B.3",
    parameters=(eta, N, K, L, G, p, grad_phi),
    hypotheses=(*A1[:2], A4),
    standing=(_STEP_SOME_R,),
    relation="<=",
    right="18*exp(6)*eta**4*N**4*K**4*L**4*(grad_phi**2 + 8*G**2*N*log(1/p))",
    steps=(
        Step(
            "one factor L",
            r"\Vert Q_{n+1}H_{n+1}\Vert",
            "<=",
            r"\eta\hat\alpha NK(1+\eta NL)^KL",
            "inequality",
            "Proposition 3 and ||H|| <= L: one L, where the display has L twice",
            identity=("q*L*h/(h+rest)", "q*L"),
        ),
        Step(
            "powers of L",
            r"(e^2\eta NKL\cdot3e\eta NK)^2",
            "=",
            r"9e^6\eta^4N^4K^4L^4",
            "substitution",
            "L^2 for L^4",
            identity=("(s*L*3*s)**2", "9*s**4*L**4"),
            uses=("one factor L",),
        ),
    ),
    remarks=(
        "L^4 stands for L^2: false for small L, and the bound has the wrong dimension.",
        "The factor (1 + eta N K + eta^2 N^2 K L)^{2N} is not at most e^2; prod_j (1 + ||Q_j|| L) <= exp(e^{1/4} eta "
        "N K L) is.",
    ),
)
LEMMA_12_UNNORMALISED = replace(
    LEMMA_12,
    id=identifier("lemma-12/unnormalised"),
    equation="Lemma 12, read with Phi = sum a_j f_j",
    statement=LEMMA_12.statement.replace("||grad Phi||^2", "||sum_j a_j grad f_j||^2").replace("; Phi as in (3)", ""),
    latex=EPOCH_CROSS.latex + r"\leq " + _BOUND_12 % ("4", NORM["grad_sum"], "1/p"),
    source="Lemma 12, as its proof reads (3)",
    parameters=(eta, N, K, L, G, p, grad_sum),
    right="18*exp(6)*eta**4*N**4*K**4*L**4*(grad_sum**2 + 8*G**2*N*log(1/p))",
    remarks=LEMMA_12.remarks[:1],
)
LEMMA_12_CORRECTED = result(
    "lemma-12/corrected",
    "lemma",
    "what summation by parts leaves",
    "Lemma 12, corrected",
    "eta N K L <= 1/4: with probability at least 1-p it is at most 18 e^6 eta^4 N^4 K^4 L^2 (||sum_j a_j grad "
    "f_j||^2 + 8 G^2 N log(2N/p)).",
    EPOCH_CROSS.latex + r"\leq " + _BOUND_12 % ("2", NORM["grad_sum"], "2N/p"),
    EPOCH_CROSS,
    "repair of Lemma 12, Phi = sum a_j f_j",
    parameters=(eta, N, K, L, G, p, grad_sum),
    hypotheses=(*A1[:2], A4, SHORT_EPOCH),
    relation="<=",
    right="18*exp(6)*eta**4*N**4*K**4*L**2*(grad_sum**2 + 8*G**2*N*log(2*N/p))",
    steps=(
        LEMMA_12.steps[0],
        replace(
            LEMMA_12.steps[1],
            right=r"9e^6\eta^4N^4K^4L^2",
            note="then (x+y)^2 <= 2x^2 + 2y^2",
            identity=("(s*L*3*s)**2", "9*s**4*L**2"),
        ),
    ),
    amends="lemma-12",
    derivation=(
        "The printed route with one factor L, prod (1+||Q_j|| L) <= e, and lemma-11b/corrected. Also by "
        "lemma-12/corrected-2, as 18 e^4*8 N log(2N/p) >= 1."
    ),
    remarks=(UNION, SMALLER),
)
LEMMA_12_CORRECTED_2 = result(
    "lemma-12/corrected-2",
    "lemma",
    "what summation by parts leaves, without probability",
    "Lemma 12, corrected",
    "eta N K L <= 1/4: for every permutation it is at most e^2 eta^4 N^4 K^4 L^2 G^2.",
    EPOCH_CROSS.latex + r"\leq e^2\eta^4N^4K^4L^2G^2",
    EPOCH_CROSS,
    "repair of Lemma 12",
    parameters=(eta, N, K, L, G),
    hypotheses=(*A1[:2], A4, SHORT_EPOCH),
    relation="<=",
    right="exp(2)*eta**4*N**4*K**4*L**2*G**2",
    amends="lemma-12",
    derivation=(
        "With s = eta N K, sL <= 1/4, (1+eta N L)^K <= e^{1/4}: sum_j ||Q_j|| <= s e^{1/4} (the weights sum to 1), "
        "every product of factors I - Q_j H_j is at most exp(s L e^{1/4}) <= e^{1/3} in norm, and every partial sum "
        "of Q_j grad f_s(j) at most s e^{1/4} G. Together at most e^{1/3+1/4+1/4} s^2 L G <= e s^2 L G."
    ),
)

LEMMA_13 = result(
    "lemma-13",
    "lemma",
    "the noise of an epoch",
    "Lemma 13",
    "E||sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') delta_j|| <= eta N K e^2 delta ('with probability at least 1-p').",
    EPOCH_NOISE.latex + r"\leq\eta NKe^2\delta",
    EPOCH_NOISE,
    "Lemma 13, appendix B.3",
    parameters=(eta, N, K, delta),
    hypotheses=(
        *A1[:2],
        UNBIASED,
        Hypothesis("bounded variance", "Assumption 2", assumption=BoundedVariance("delta")),
    ),
    standing=(EPOCH_STEP_OF_11,),
    relation="<=",
    right="eta*N*K*exp(2)*delta",
    remarks=(
        "Theorem 2 needs the second moment, E||.||^2 <= (eta N K e^2 delta)^2, which a bound of E||.|| does not give.",
        "(1 + eta a_s(j) N K (1+eta N L)^K L)^N <= e is not true for a weight near 1 and many clients; the product "
        "over j' of 1 + ||Q_j'|| L is at most e all the same, as the weights sum to 1.",
        "The step is fixed in the proof of Lemma 11; a long one amplifies the noise without limit. That the noise of "
        "different steps is independent is not used.",
    ),
)
LEMMA_13_CORRECTED = result(
    "lemma-13/corrected",
    "lemma",
    "the noise of an epoch, second moment",
    "Lemma 13, corrected",
    "eta N K L <= 1/4: E||sum_j prod_{j'=N}^{j+1} (I - Q_j' H_j') delta_j||^2 <= eta^2 N^2 K^2 e^4 delta^2.",
    EPOCH_NOISE_SQUARED.latex + r"\leq\eta^2N^2K^2e^4\delta^2",
    EPOCH_NOISE_SQUARED,
    "repair of Lemma 13",
    parameters=(eta, N, K, L, delta),
    hypotheses=(*LEMMA_13.hypotheses, SHORT_EPOCH),
    relation="<=",
    right="eta**2*N**2*K**2*exp(4)*delta**2",
    amends="lemma-13",
    derivation=(
        "Minkowski: the root of the second moment of a sum is at most the sum of the roots. Each ||delta_j|| is at "
        "most eta a_j N sum_tau (1+eta N L)^K ||delta^tau||, of root mean square eta a_j N K e^{1/4} delta; the "
        "matrices before it are at most e^{1/3}; the weights sum to 1."
    ),
)
CLAIMS: tuple[Claim, ...] = (
    LEMMA_12,
    LEMMA_12_UNNORMALISED,
    LEMMA_12_CORRECTED,
    LEMMA_12_CORRECTED_2,
    LEMMA_13,
    LEMMA_13_CORRECTED,
)
