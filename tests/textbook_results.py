"""The results of the textbook paper, and what a check is to say of each: the one list from which tests take them.

By label: whether its derivation is written in the paper's file, or found by a check, or there is none and it is
supported; and the share of the right side that the left side attains on few instances, so that a lowered constant is
noticed: of all that are not proved, and of some that are.
"""

from typing import Literal

How = Literal["written", "found", "supported"]
RESULTS: dict[str, tuple[How, float | None]] = {
    "young": ("found", None),
    "relaxed-triangle": ("found", None),
    "convex-combination": ("found", None),
    "jensen-three": ("found", None),
    "jensen-expectation": ("found", None),
    "variance-decomposition": ("found", None),
    "three-point": ("found", None),
    "minibatch-variance": ("found", None),
    "participation-variance": ("found", 1.0),
    "client-sampling-variance": ("found", None),
    "without-replacement": ("found", None),
    "reshuffling": ("supported", 1.0),
    "descent-lemma": ("found", None),
    "gradient-bound": ("found", None),
    "convex-lower-bound": ("found", None),
    "cocoercivity": ("found", None),
    "strong-cocoercivity": ("found", None),
    "strong-monotonicity": ("found", None),
    "polyak-lojasiewicz": ("found", None),
    "quadratic-growth": ("found", None),
    "variance-transfer": ("found", None),
    "projection-angle": ("found", None),
    "projection-nonexpansive": ("found", None),
    "projection-firm": ("found", None),
    "projection-pythagoras": ("found", None),
    "prox-firm": ("found", None),
    "gradient-lipschitz-convex": ("found", None),
    "gradient-step-contraction": ("written", 0.99),
    "gradient-step-nonexpansive": ("found", None),
    "sufficient-decrease": ("found", None),
    "average-gradient": ("found", 0.99),
    "gradient-descent-linear": ("found", 0.99),
    "gradient-descent-tight": ("written", 0.99),
    "subgradient-method": ("written", 0.99),
    "proximal-point": ("supported", 0.99),
    "sgd-step": ("found", None),
    "sgd-strongly-convex": ("found", 0.99),
    "minibatch-sgd": ("found", 0.99),
    "sgd-convex": ("found", 0.2),
    "sgd-nonconvex": ("found", 0.99),
    "svrg-estimator": ("found", None),
    "svrg-contraction": ("written", 0.1),
    "local-gradient-step": ("found", None),
    "local-sgd-round": ("written", 0.9),
    "local-sgd-strongly-convex": ("written", 0.9),
    "recursion": ("written", None),
}
LABELS = [*RESULTS]
PROVED = [label for label, (how, _) in RESULTS.items() if how != "supported"]
SUPPORTED = [label for label, (how, _) in RESULTS.items() if how == "supported"]
ATTAINED = {label: share for label, (_, share) in RESULTS.items() if share is not None}
