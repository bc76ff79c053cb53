"""The remark after Theorem V.1 on the rate in K, and its repair."""

from __future__ import annotations

from theory.claim import Claim, OrderLine, Step
from theory.papers.fedavg_svrg.words import A3, BASE, CONVERGENCE_ORDER, K, eps, identifier


def _orders(noise: str, extra: str, best: str, rate: str) -> tuple[Step, Step]:
    """The remark's lines: the orders of the terms of (8), and the best exponent of the step.

    Args:
        noise: the third term's order in delta and K, in LaTeX.
        extra: what it adds to eps in the exponent of 1/K, "" or "1+".
        best: the best eps.
        rate: the exponent of 1/K there.
    """
    bound, schedule = identifier("theorem-v1-eq8"), {"delta": "K**(-eps)"}
    given = {"optimisation_term": "eps-1", "drift_term": "-2*eps", "noise_term": f"-({extra}eps)"}
    return (
        Step(
            "orders of the terms",
            r"\frac{1}{\delta K},\delta^2," + noise,
            "=",
            r"K^{-(1-\epsilon)},K^{-2\epsilon},K^{-(" + extra + r"\epsilon)}",
            "order",
            "the terms of (8) with delta = K^-eps",
            order=OrderLine(bound, schedule, given),
        ),
        Step(
            "best exponent",
            r"\epsilon",
            "=",
            best + r"\Rightarrow O(K^{-" + rate + r"})",
            "order",
            "the eps at which the largest term is smallest",
            order=OrderLine(bound, schedule, best=(best, f"-{rate}")),
            uses=("orders of the terms",),
        ),
    )


REMARK = Claim(
    id=identifier("remark-rate"),
    kind="remark",
    title="the rate K^-2/3 at delta = K^-1/3",
    equation="Remark after Theorem V.1",
    statement=(
        "By (8) the rate is determined by min[1/(delta K), delta^2, delta/K]; with delta = K^-eps the best choice is "
        "eps = 1/3, which gives convergence of order O(K^-2/3) for convex and non-convex costs alike."
    ),
    latex=r"\min[K^{-(1-\epsilon)},K^{-2\epsilon},K^{-(1+\epsilon)}],\quad \epsilon=\frac{1}{3}\Rightarrow O(K^{-2/3})",
    quantity=CONVERGENCE_ORDER,
    source="Remark after Theorem V.1",
    parameters=(K, eps),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_order": "K**(eps-1)",
        "drift_order": "K**(-2*eps)",
        "noise_order": "K**(-1-eps)",
        "claimed_best": "K**(-2/3)",
    },
    relation="<=",
    right="min(optimisation_order, drift_order, noise_order)",
    steps=_orders(r"\frac{\delta}{K}", "1+", "1/3", "2/3"),
    remarks=(
        "A sum is of the order of its largest term, so min should be max.",
        "The third term of (8) is delta times an average over k of 1/p_n^k: of order delta, not delta/K.",
        "The remark's own three orders have the minimum K^-(1+eps), which is neither attained nor K^-2/3.",
    ),
)

REMARK_CORRECTED = Claim(
    id=identifier("remark-rate/corrected"),
    kind="remark",
    title="the rate K^-1/2 at delta = K^-1/2",
    equation="Remark, corrected",
    statement=(
        "By (8) the rate is of the order of max[1/(delta K), delta^2, delta]; with delta = K^-eps the best choice is "
        "eps = 1/2, which gives O(K^-1/2)."
    ),
    latex=r"\max[K^{-(1-\epsilon)},K^{-2\epsilon},K^{-\epsilon}],\quad \epsilon=\frac{1}{2}\Rightarrow O(K^{-1/2})",
    quantity=CONVERGENCE_ORDER,
    source="repair of the remark",
    parameters=(K, eps),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_order": "K**(eps-1)",
        "drift_order": "K**(-2*eps)",
        "noise_order": "K**(-eps)",
        "claimed_best": "K**(-1/2)",
    },
    relation="<=",
    right="max(optimisation_order, drift_order, noise_order)",
    steps=_orders(r"\delta", "", "1/2", "1/2"),
    amends=identifier("remark-rate"),
    derivation=(
        "The mean of 1/p_n^k over k and n does not shrink with K, so the third term of (8) is of order delta. The "
        "largest of K^(eps-1), K^(-2 eps), K^(-eps) is smallest where 1-eps = eps."
    ),
)

CLAIMS: tuple[Claim, ...] = (
    REMARK,
    REMARK_CORRECTED,
)
