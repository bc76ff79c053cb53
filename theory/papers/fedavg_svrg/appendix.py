"""Lemmas A.1 and A.2 of the appendix, their proofs line by line as displayed, and their repairs.

Each display of a proof is a chain ``x_0 <= x_1 = x_2 <= ...``: a step compares two neighbours, and its `chain` is x_0
against what the line has reached.
"""

from __future__ import annotations

from theory.claim import Claim, Relation, Rule, Step
from theory.papers.fedavg_svrg.lines import AGGREGATE_AS_STATED, aggregate, inner_product
from theory.papers.fedavg_svrg.words import (
    BASE,
    NEGATIVE_INNER_PRODUCT,
    SCALED_AGGREGATE,
    V2,
    V2_PRIME,
    L,
    M,
    N,
    S,
    delta,
    drift_round,
    identifier,
    lexicographic_drift_round,
    m_index,
    s_index,
    squared_gradient_norm,
    weighted_round,
)

_SUM = r"\sum_{s,m}v_{n,s,m}^k"
_A1 = (
    r"\mathbb{E}\Vert\sum_n\frac{1_n^k}{p_n^k}" + _SUM + r"\Vert^2",
    r"N\sum_n\mathbb{E}\Vert\frac{1_n^k}{p_n^k}" + _SUM + r"\Vert^2",
    r"N\sum_n\frac{\mathbb{E}1_n^k}{(p_n^k)^2}\mathbb{E}\Vert" + _SUM + r"\Vert^2",
    r"NS\sum_n\frac{\mathbb{E}1_n^k}{(p_n^k)^2}\sum_s\mathbb{E}\Vert\sum_mv_{n,s,m}^k\Vert^2",
    r"NSM\sum_n\frac{\mathbb{E}1_n^k}{(p_n^k)^2}\sum_{s,m}\mathbb{E}\Vert v_{n,s,m}^k\Vert^2",
    r"NSM\sum_n\frac{1}{p_n^k}\sum_{s,m}\mathbb{E}\Vert v_{n,s,m}^k\Vert^2",
)
_A1_LINES: tuple[tuple[Relation, Rule, str], ...] = (
    ("<=", "inequality", "Jensen over the clients"),
    ("=", "moment identity", "1_n^k is 0 or 1, and independent of the gradients"),
    ("<=", "inequality", "Jensen over the snapshots"),
    ("<=", "inequality", "Jensen over the steps"),
    ("<=", "moment identity", "E 1_n^k = p_n^k"),
)

_GRADIENT = r"\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2"
_MEAN = r"\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)"
_NORMS = _GRADIENT + r"-\delta\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2+\frac{\delta}{2}\mathbb{E}\Vert "
_A2 = (
    r"-\delta\mathbb{E}\langle\nabla f(\theta^k)," + _MEAN + r"\rangle",
    r"-\delta\mathbb{E}\langle\nabla f(\theta^k)," + _MEAN + r"-\nabla f(\theta^k)+\nabla f(\theta^k)\rangle",
    r"\delta\mathbb{E}\langle\nabla f(\theta^k),-"
    + _MEAN
    + r"+\nabla f(\theta^k)\rangle-\delta\mathbb{E}\langle\nabla f(\theta^k),\nabla f(\theta^k)\rangle",
    _NORMS + r"\nabla f(\theta^k)-" + _MEAN + r"\Vert^2",
    _NORMS + r"\frac{1}{N}\sum_n[\nabla f_n(\theta^k)-\nabla f_n(w_{n,s,m}^k)]\Vert^2",
    r"\frac{\delta}{2N}\sum_n\mathbb{E}\Vert\nabla f_n(\theta^k)-\nabla f_n(w_{n,s,m}^k)\Vert^2-" + _GRADIENT,
    r"\frac{\delta L^2}{2N}\sum_n\mathbb{E}\Vert\theta^k-w_{n,s,m}^k\Vert^2-" + _GRADIENT,
    r"\frac{\delta L^2}{2N}\sum_n\mathbb{E}\Vert\sum_{m'=0}^{m-1}\delta v_{n,s,m'}^k\Vert^2-" + _GRADIENT,
    r"\frac{\delta^3L^2}{2N}\sum_n\mathbb{E}\Vert\sum_{m'=0}^{m-1}v_{n,s,m'}^k\Vert^2-" + _GRADIENT,
    r"\frac{\delta^3L^2(M-1)}{2N}\sum_n\sum_{m'=0}^{m-1}\mathbb{E}\Vert v_{n,s,m'}^k\Vert^2-" + _GRADIENT,
)
_A2_LINES: tuple[tuple[Relation, Rule, str], ...] = (
    ("=", "identity", "the gradient subtracted and added"),
    ("=", "identity", "linearity"),
    ("<=", "inequality", "Young"),
    ("=", "definition", "f = (1/N) sum_n f_n"),
    ("<=", "inequality", "Jensen over the clients"),
    ("<=", "hypothesis", "every f_n is L-smooth"),
    (
        "=",
        "identity",
        "true for s = 0 only: w_{n,s,m} is s M + m steps away from theta^k, and those of the earlier snapshots are "
        "forgotten",
    ),
    ("<=", "identity", "delta taken out of the norm"),
    ("<=", "inequality", "Jensen over m <= M-1 terms"),
)
_FORGETS = 6  # the line of Lemma A.2's proof that forgets the earlier snapshots

PROOF_OF_LEMMA_A1 = (
    *(
        Step(
            f"line {i + 1}",
            _A1[i],
            relation,
            _A1[i + 1],
            rule,
            note,
            vectors=aggregate(i, relation, i + 1),
            chain=aggregate(0, "<=", i + 1),
            uses=(f"line {i}",) if i else (),
        )
        for i, (relation, rule, note) in enumerate(_A1_LINES)
    ),
    Step(
        "(A.16)",
        r"\frac{\delta^2L}{2N^2}" + _A1[0],
        "<=",
        _A1[-1],
        "substitution",
        "the lines before have no factor delta^2 L/(2N^2), and with it on the left only it does not follow from them",
        vectors=AGGREGATE_AS_STATED,
        uses=(f"line {len(_A1_LINES)}",),
    ),
)

PROOF_OF_LEMMA_A2 = tuple(
    Step(
        f"line {i + 1}",
        _A2[i],
        relation,
        _A2[i + 1],
        rule,
        note,
        vectors=inner_product(i, relation, i + 1, drifts=i == _FORGETS),
        chain=inner_product(0, "<=", i + 1, drifts=i >= _FORGETS),
        uses=(f"line {i}",) if i else (),
    )
    for i, (relation, rule, note) in enumerate(_A2_LINES)
)

LEMMA_A1 = Claim(
    id=identifier("lemma-a1"),
    kind="lemma",
    title="second moment of the aggregate",
    equation="(A.16)",
    statement=(
        "(delta^2 L/(2N^2)) E[||sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k||^2 | theta^k] <= N S M sum_n (1/p_n^k) "
        "sum_{s,m} E[||v_{n,s,m}^k||^2 | theta^k]."
    ),
    latex=SCALED_AGGREGATE.latex + r"\leq NSM\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
    quantity=SCALED_AGGREGATE,
    source="Lemma A.1, (A.16)",
    parameters=(N, S, M, weighted_round),
    hypotheses=BASE,
    relation="<=",
    right="N*S*M*weighted_round",
    steps=PROOF_OF_LEMMA_A1,
    remarks=("The proof bounds the expectation without the factor delta^2 L/(2N^2), and (A.21) uses it so.",),
)

LEMMA_A1_CORRECTED = Claim(
    id=identifier("lemma-a1/corrected"),
    kind="lemma",
    title="second moment of the aggregate, with its factor on both sides",
    equation="(A.16), corrected",
    statement=(
        "(delta^2 L/(2N^2)) E[||sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k||^2 | theta^k] <= (delta^2 L S M/(2N)) sum_n "
        "(1/p_n^k) sum_{s,m} E[||v_{n,s,m}^k||^2 | theta^k]."
    ),
    latex=SCALED_AGGREGATE.latex + r"\leq\frac{\delta^2LSM}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
    quantity=SCALED_AGGREGATE,
    source="what the proof of Lemma A.1 shows",
    parameters=(delta, L, N, S, M, weighted_round),
    hypotheses=BASE,
    relation="<=",
    right="delta**2*L*S*M/(2*N)*weighted_round",
    amends=identifier("lemma-a1"),
    derivation="Jensen over the N S M terms, and E (1_n/p_n)^2 = 1/p_n; multiply by delta^2 L/(2N^2).",
)

LEMMA_A2 = Claim(
    id=identifier("lemma-a2"),
    kind="lemma",
    title="the inner product with the gradients at the inner iterates",
    equation="(A.17)",
    statement=(
        "-delta E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> <= (delta^3 L^2 (M-1)/(2N)) sum_n sum_{m'<m} "
        "E||v_{n,s,m'}^k||^2 - (delta/2) E||grad f(theta^k)||^2."
    ),
    latex=NEGATIVE_INNER_PRODUCT.latex
    + r"\leq\frac{\delta^3L^2(M-1)}{2N}\sum_n\sum_{m'=0}^{m-1}"
    + V2_PRIME
    + r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
    quantity=NEGATIVE_INNER_PRODUCT,
    source="Lemma A.2, (A.17)",
    parameters=(delta, L, M, N, drift_round, squared_gradient_norm),
    hypotheses=BASE,
    relation="<=",
    right="delta**3*L**2*(M-1)/(2*N)*drift_round - delta/2*squared_gradient_norm",
    steps=PROOF_OF_LEMMA_A2,
    remarks=("True for s=0; for s >= 1 the drift of the earlier snapshots is forgotten.",),
)

LEMMA_A2_CORRECTED = Claim(
    id=identifier("lemma-a2/corrected"),
    kind="lemma",
    title="the inner product, with the drift since the beginning of the round",
    equation="(A.17), corrected",
    statement=(
        "-delta E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> <= (delta^3 L^2 (sM+m)/(2N)) sum_n sum over "
        "(s',m')<(s,m) of E||v_{n,s',m'}^k||^2 - (delta/2) E||grad f(theta^k)||^2."
    ),
    latex=NEGATIVE_INNER_PRODUCT.latex
    + r"\leq\frac{\delta^3L^2(sM+m)}{2N}\sum_n\sum_{(s',m')<(s,m)}\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2"
    r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
    quantity=NEGATIVE_INNER_PRODUCT,
    source="repair of Lemma A.2",
    parameters=(delta, L, M, N, s_index, m_index, lexicographic_drift_round, squared_gradient_norm),
    hypotheses=BASE,
    relation="<=",
    right="delta**3*L**2*(s*M+m)/(2*N)*lexicographic_drift_round - delta/2*squared_gradient_norm",
    amends=identifier("lemma-a2"),
    derivation=(
        "-<a,b> = -(||a||^2 + ||b||^2 - ||a-b||^2)/2 with a = grad f(theta^k); Jensen over n and smoothness give "
        "||a-b||^2 <= (L^2/N) sum_n ||theta^k - w_{n,s,m}^k||^2, and theta^k - w_{n,s,m}^k is delta times the sum of "
        "the sM+m earlier substituted gradients."
    ),
)


CLAIMS: tuple[Claim, ...] = (
    LEMMA_A1,
    LEMMA_A1_CORRECTED,
    LEMMA_A2,
    LEMMA_A2_CORRECTED,
)
