"""Can Theorem 3's hypotheses hold together? The three readings of its Assumption 4, each with proof or witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from theory.claim import Claim
from validate.verdict import Evidence

# mu = L = 1, d = 1: C1 = 1/2, and R = 0.5066 is below sigma/mu = 0.6
WITNESS: Mapping[str, str] = MappingProxyType(
    {
        "mu": "1",
        "L": "1",
        "eta": "1/4",
        "beta1": "0",
        "beta2": "1/4",
        "eps": "16/25",
        "sigma": "3/5",
        "d": "1",
        "r": "0",
    }
)
# Section IV-A: d = 100, lambda = 0.01. Its data with standard deviation 2 have, in 20 draws, lambda + the largest
# eigenvalue of X'X/(4n) from 14 to 18, which is the smoothness, and feature vectors of norm up to 28, which bounds the
# sampled gradients of the logistic loss (their regularisation left out).
PAPERS_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "mu": "1/100",
        "L": "16",
        "eta": "1/10",
        "beta1": "9/10",
        "beta2": "999/1000",
        "eps": "1/1000",
        "sigma": "28",
        "d": "100",
        "r": "0",
    }
)


def _iterates(claim: Claim) -> list[Evidence]:
    """The printed theorem: what each reading leaves of it."""
    failed = ", ".join(map(repr, claim.violated(**PAPERS_SETTINGS)))
    terms = {name: float(value) for name, value in claim.terms(**PAPERS_SETTINGS).items()}
    return [
        Evidence(
            "hypotheses",
            "holds",
            "Assumption 4 is read as it is printed, at the iterates. Read everywhere it contradicts strong convexity "
            "(theorem-3/everywhere); read on the ball of Definition 1 it needs beta1 < 1/3 and a condition number "
            "near 1 "
            "(theorem-3/on-the-ball), so never the paper's beta1 = 0.9 (theorem-3/papers-settings); at the iterates it "
            "gives the radius r + sigma/mu + eta sigma/sqrt(eps) at once (theorem-3/corrected)",
        ),
        Evidence(
            "hypotheses",
            "undecided",
            "says nothing of the paper's experiments: at section IV-A's eta=0.1, beta1=0.9, beta2=0.999, eps=0.001, "
            f"d=100, mu=lambda=0.01, with L=16 and sigma=28 as its data have, its conditions do not hold: {failed}; C1 "
            f"= {terms['C1']:.6f}, kappa C1 = {terms['kappa'] * terms['C1']:.1f}, and (5) has no real value",
            data={"parameters": dict(PAPERS_SETTINGS), "terms": {k: f"{v:.10g}" for k, v in terms.items()}},
        ),
    ]


def _everywhere(claim: Claim) -> list[Evidence]:
    from theory.feasible import function_conflicts

    conflicts = function_conflicts(claim)
    if not conflicts:
        return [Evidence("hypotheses", "undecided", "no conflict between its assumptions was found")]
    first = conflicts[0]
    text = f"{first.first!r} excludes {first.second!r}: {first.proof}"
    return [Evidence("hypotheses", "vacuous", text, data={"conflict": [first.first, first.second, first.proof]})]


def _on_the_ball(claim: Claim) -> list[Evidence]:
    """A witness, and what is necessary."""
    from theory.stability.adam_necessary import LEMMAS, prove
    from theory.stability.adam_region import applicable, largest_condition_number

    at = applicable(**WITNESS)
    if not at.holds:
        names = ", ".join(c.name for c in at.failed)
        return [Evidence("hypotheses", "undecided", f"the witness does not satisfy: {names}")]
    values = ", ".join(f"{name}={value}" for name, value in WITNESS.items())
    witness = Evidence(
        "hypotheses",
        "holds",
        f"its hypotheses hold together, checked exactly: {values}, f = x^2/2, R = {at.radius:.4f} with sigma/mu = "
        f"3/5. For "
        "r = 0 and kappa = 1 some eta, eps and sigma satisfy them exactly when beta1 < 1/3 (and beta1^2 < beta2)",
        data={"witness": dict(WITNESS), "radius": at.radius},
    )
    proofs = [prove(lemma) for lemma in LEMMAS]
    if not all(proof.holds for proof in proofs):
        return [witness, Evidence("hypotheses", "undecided", "a necessary condition was not proved again")]
    table = {
        f"beta1={one}, beta2={two}, d={d}": float(largest_condition_number(one, two, d))
        for one, two, d in ((0.0, 0.25, 1), (0.0, 0.999, 1), (0.1, 0.999, 1), (0.3, 0.999, 100))
    }
    shown = "; ".join(f"{name}: {value:.10g}" for name, value in table.items())
    necessary = Evidence(
        "hypotheses",
        "holds",
        "they need beta1 < 1/3 and kappa < dG/(dG-1), G = (1+beta1)/((1-beta1)(1-beta2)(1-beta1^2/beta2)): proved by "
        f"sums of terms that are never negative, and by z3 or branch and bound. Largest condition numbers: {shown}",
        data={"proofs": [proof.to_json() for proof in proofs], "largest_condition_number": table},
    )
    return [witness, necessary]


def _papers_settings(claim: Claim) -> list[Evidence]:
    from theory.stability.adam_necessary import MOMENTUM, NEGATIVE_CONTRACTION, empty_at, prove

    proofs, empty = [prove(MOMENTUM), prove(NEGATIVE_CONTRACTION)], empty_at("9/10", "999/1000")
    shown = all(proof.holds for proof in proofs)
    if not shown and empty.outcome != "empty":
        return [Evidence("hypotheses", "undecided", f"not proved empty: {empty.detail}")]
    by = [text for text, found in (("sums of terms", shown), (empty.method, empty.outcome == "empty")) if found]
    text = (
        "sigma >= mu R needs beta1 < 1/3: (mu R/sigma)^2 exceeds 2 beta1/(1-beta1) for every kappa >= 1, d >= 1, eta, "
        "eps "
        "and sigma with 1 - kappa C1 > 0 and C1 >= 0, at r = 0 and so for every r, with which R grows (at r = 0, C1 < "
        "0 "
        "does not help: it exceeds d G/4 > 1 there). 9/10 is not below 1/3; proved by "
        + " and, independently, by ".join(by)
    )
    data = {"lemmas": [proof.to_json() for proof in proofs], "empty": empty.to_json()}
    return [Evidence("hypotheses", "vacuous", text, data=data)]


EVIDENCE: Mapping[str, Callable[[Claim], list[Evidence]]] = MappingProxyType(
    {
        "theorem-3": _iterates,
        "theorem-3/everywhere": _everywhere,
        "theorem-3/on-the-ball": _on_the_ball,
        "theorem-3/papers-settings": _papers_settings,
    }
)
