"""Certificates of several kinds about fedavg-svrg, to be read, re-checked and changed."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from theory.assumptions import (
    BoundedEstimatorSecondMoment,
    Convex,
    IndependentParticipation,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Claim, Hypothesis, Quantity
from validate import certificate as certificates
from validate.scenario import Scenario

F = Fraction
# the right sides of (7) and (14), as printed
SEVEN = "2*f0_gap/(delta*K*S*M) + delta**2*L**2*(M-1)/(K*S*M*N)*drift_sum + delta*L/(K*N)*weighted_sum"
ALPHA = "1/(mu*delta*(1-2*L*delta)*M) + 2*L*delta/(1-2*L*delta)"
FOURTEEN = (
    "2*f0_gap/(delta*K*M) + 8*D*delta**2*L**3*(M-1)**2*(1-alpha**K)/(K*(1-alpha))"
    " + 8*D*delta*L**2*(M-1)/(K*N)*(1-alpha**K)/(1-alpha)*sum_inv_p"
)


def some_claim(label: str, right: str | None, quantity: str = "mean_squared_gradient_norm", **more: Any) -> Claim:
    from theory.claim import Parameter
    from theory.domain import REAL

    names = re.findall(r"[A-Za-z]\w*", " ".join([right or "", *more.get("definitions", {}).values()]))
    known = dict.fromkeys(n for n in names if n not in ("min", "max", *more.get("definitions", {})))
    return Claim(
        id=f"fedavg-svrg/{label}",
        kind="equation",
        title="a claim",
        equation="(0)",
        statement="The claim in words.",
        latex="",
        quantity=Quantity(quantity, "", ""),
        source="a test",
        parameters=tuple(Parameter(n, REAL, "") for n in known),
        right=right,
        **({"relation": "<="} | more),
    )


BASE = (
    Hypothesis("smooth", "", assumption=Smooth("L")),
    Hypothesis("unbiased", "", assumption=UnbiasedSampling()),
    Hypothesis("independent", "", assumption=IndependentParticipation()),
)
ONE = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1"], "a": ["0"], "p": "1"}],
    "step": "1/2",
    "S": 8,
    "M": 1,
    "K": 1,
    "theta0": "1",
}
TWO = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1", "2"], "a": ["3", "1"], "p": "1/2"}, {"h": ["1/2"], "a": ["-1"], "p": "1/3"}],
    "step": "1/5",
    "S": 2,
    "M": 3,
    "K": 2,
    "theta0": "3",
}
NOISY = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1"], "a": ["1"], "p": "1/2"}, {"h": ["1"], "a": ["-1"], "p": "1/2"}],
    "S": 1,
    "M": 1,
}


def known_certificate() -> dict[str, Any]:
    """The one that was known beforehand: f = theta^2/2, S = 8, M = 1, step 1/2, K = 1."""
    parameters = {"delta": "1/2", "L": 1, "K": 1, "S": 8, "M": 1, "N": 1, "f0_gap": F(1, 2), "drift_sum": 0}
    weighted = sum((F(1, 4) ** s for s in range(8)), F(0))  # w is halved at each step, v = w
    parameters |= {"weighted_sum": weighted}
    claim = some_claim("theorem-v1-eq7", SEVEN, hypotheses=BASE)
    return certificates.instance_certificate(claim, ONE, {}, parameters, F(1), F(30037, 32768))


def rich_certificate() -> dict[str, Any]:
    """Chance, several rounds, samples and snapshots, indices, a definition and every kind of hypothesis."""
    moments = Scenario.from_spec(TWO, exact=True).moments()
    right = "min(share, 1)*cost/(K*M) + min(G2, 0)"
    hypotheses = (
        *BASE,
        Hypothesis("strong", "", assumption=StronglyConvex("mu")),
        Hypothesis("convex", "", assumption=Convex("sample")),
        Hypothesis("smooth samples", "", assumption=Smooth("L", of="sample")),
        Hypothesis("bounded", "", assumption=BoundedEstimatorSecondMoment("G2")),
        Hypothesis("step", "", relation="0 < delta < 1/L"),
        Hypothesis("share", "", relation="share < 1"),
    )
    claim = some_claim(
        "made-up",
        right,
        "estimator_second_moment",
        hypotheses=hypotheses,
        definitions={"share": "delta*L*mu"},
    )
    parameters = {
        "delta": "1/5",
        "L": 2,
        "mu": "1/2",
        "K": 2,
        "M": 3,
        "cost": moments.cost[1],
        "G2": moments.estimator.max(),
    }
    left = moments.estimator[1, 0, 1, 2]
    bound = F(1, 5) * moments.cost[1] / 6
    return certificates.instance_certificate(
        claim, TWO, {"k": 1, "n": 0, "s": 1, "m": 2}, parameters, left, bound, note="made up"
    )


def fixed_point(M: int, K: int, compare: bool) -> dict[str, Any]:
    """Two clients whose M local steps hold theta away from the minimiser 1/3 for ever."""
    q1, q2 = F(7, 8) ** M, F(15, 16) ** M
    theta = ((1 - q1) - (1 - q2)) / (2 - q1 - q2)
    clients = [{"h": ["1"], "a": ["1"], "p": "1"}, {"h": ["1/2"], "a": ["-1"], "p": "1"}]
    spec = {"algorithm": "fedavg-svrg", "clients": clients, "step": "1/8", "S": 1, "M": M, "K": 7, "theta0": str(theta)}
    gradient = F(3, 4) * theta - F(1, 4)
    cost = (F(1, 2) * (theta - 1) ** 2 + F(1, 4) * (theta + 1) ** 2) / 2
    best = (F(1, 2) * F(4, 9) + F(1, 4) * F(16, 9)) / 2
    parameters: dict[str, Any] = {"mu": "1/2", "L": 1, "delta": "1/8", "M": M, "D": "1/2", "f0_gap": cost - best}
    parameters |= {"sum_inv_p": 2, "N": 2, "K": K}
    strong = Hypothesis("strong", "", assumption=StronglyConvex("mu"))
    contraction = Hypothesis("contraction", "", relation="alpha < 1")
    hypotheses = (*BASE, strong, contraction, Hypothesis("one snapshot", "", relation="S = 1"))
    claim = some_claim("lemma-v1-eq14", FOURTEEN, hypotheses=hypotheses, definitions={"alpha": ALPHA})
    return certificates.fixed_point_certificate(claim, spec, gradient**2, F(1, 3), parameters, compare=compare)


def order() -> dict[str, Any]:
    bounded = Hypothesis("bounded", "", assumption=BoundedEstimatorSecondMoment("G2"))
    claim = some_claim("remark-rate", None, "convergence_order", hypotheses=(*BASE, bounded))
    return certificates.order_certificate(claim, NOISY, "2/3", "1/3", {"eps": "1/3", "L": 1, "G2": 2})


BUILDERS = {
    "known": known_certificate,
    "rich": rich_certificate,
    "fixed point": lambda: fixed_point(40, 5, False),
    "fixed point compared": lambda: fixed_point(100, 24000, True),
    "order": order,
}
CERTIFICATES = {name: build() for name, build in BUILDERS.items()}
