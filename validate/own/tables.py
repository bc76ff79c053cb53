"""What a claim of one's own may speak of: quantities for its left side, constants for its parameters, algorithms.

The names here are the whole vocabulary of a paper in one file (`validate.own`). `validate.own.run` computes them with
the exact oracle. For the algorithms in `CERTIFIED` the verifier knows them too, under the name `counterpart`, so that a
break becomes a certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from theory.domain import COUNT, INDEX, NONNEGATIVE, POSITIVE, Domain

WHOLE_RUN, AFTER_ROUNDS, ONE_ROUND = (
    "over the whole run",
    "after each k rounds, k >= 1",
    "after the round that follows k",
)
"""What a quantity is of: one number a run, one for each k = 1..K, or one for each k = 0..K-1."""


@dataclass(frozen=True)
class Measured:
    """A quantity that the oracle knows.

    Attributes:
        meaning: one line.
        latex: for the report.
        of: `WHOLE_RUN`, `AFTER_ROUNDS` or `ONE_ROUND`.
        units: powers of the unit of curvature, and of the unit of length.
    """

    meaning: str
    latex: str
    of: str
    units: tuple[int, int]


QUANTITIES: Mapping[str, Measured] = {
    "squared_distance": Measured("E||x_k - x*||^2", r"\mathbb{E}\Vert x_k-x^*\Vert^2", AFTER_ROUNDS, (0, 2)),
    "suboptimality": Measured("E f(x_k) - f*", r"\mathbb{E}f(x_k)-f^*", AFTER_ROUNDS, (1, 2)),
    "squared_gradient_norm": Measured(
        "E||grad f(x_k)||^2", r"\mathbb{E}\Vert\nabla f(x_k)\Vert^2", AFTER_ROUNDS, (2, 2)
    ),
    "next_distance": Measured("E||x_{k+1} - x*||^2", r"\mathbb{E}\Vert x_{k+1}-x^*\Vert^2", ONE_ROUND, (0, 2)),
    "mean_suboptimality": Measured(
        "average over k=0..K-1 of E f(x_k) - f*",
        r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}f(x_k)-f^*",
        WHOLE_RUN,
        (1, 2),
    ),
    "mean_squared_gradient_norm": Measured(
        "average over k=0..K-1 of E||grad f(x_k)||^2",
        r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}\Vert\nabla f(x_k)\Vert^2",
        WHOLE_RUN,
        (2, 2),
    ),
}


@dataclass(frozen=True)
class Measure:
    """A constant of a scenario that the oracle knows.

    Attributes:
        domain: its values; where it is outside, a claim says nothing.
        meaning: one line.
        counterpart: its name in the verifier's PARAMETERS; "" where it has none.
        of: the kinds of quantities beside which it has a meaning.
        algorithms: that have it.
        units: powers of the unit of curvature, and of the unit of length.
    """

    domain: Domain
    meaning: str
    counterpart: str
    of: tuple[str, ...] = (WHOLE_RUN, AFTER_ROUNDS, ONE_ROUND)
    algorithms: tuple[str, ...] = ("local-sgd", "fedavg-svrg", "shuffling", "fedmim")
    units: tuple[int, int] = (0, 0)


ALGORITHMS: Mapping[str, str] = {
    "local-sgd": "N clients take local steps with sampled gradients, the server averages (FedAvg, local SGD, SGD)",
    "fedavg-svrg": "the same with variance-reduced gradients, S snapshots a round",
    "shuffling": "a round visits all clients one after another in a random order, local steps at each",
    "fedmim": "local steps with inertial momentum over the rounds",
}
CERTIFIED = ("local-sgd", "fedavg-svrg")
PARTICIPATION: Mapping[str, str] = {
    "everybody": "all clients in every round",
    "independent": "each client with its own probability p_n, independently, or all; what it sends is divided by p_n "
    "(local-sgd, fedavg-svrg)",
    "independent-mean": "the same, undivided: the server takes the mean over those that take part (local-sgd, "
    "fedavg-svrg)",
    "uniform": "a number of clients, drawn uniformly without replacement, or all; never certified (not shuffling)",
}
SERVER: Mapping[str, str] = {
    "everybody": "the server's next model is the mean of all clients' models",
    "independent": "the server divides by p_n, x + (1/N) sum over those that take part of (x_n - x)/p_n, which is "
    "unbiased; for the mean over those that take part, undivided, say participation='independent-mean'",
    "independent-mean": "the server's next model is the mean over those that take part, undivided (a round in which "
    "nobody does changes nothing); where what they send is divided by p_n, say participation='independent'",
    "uniform": "the server's next model is the mean of the models of those that were drawn",
}
"""What the server makes of what clients send, by the kind of participation."""

_LOCAL = ("local-sgd",)
MEASURES: Mapping[str, Measure] = {
    "step": Measure(POSITIVE, "step size", "step", units=(-1, 0)),
    "local_steps": Measure(
        COUNT, "local steps of a client", "local_steps", algorithms=("local-sgd", "shuffling", "fedmim")
    ),
    "snapshots": Measure(COUNT, "snapshots of a round", "S", algorithms=("fedavg-svrg",)),
    "inner_steps": Measure(COUNT, "inner steps of a snapshot", "M", algorithms=("fedavg-svrg",)),
    "clients": Measure(COUNT, "number of clients", "N"),
    "chosen_clients": Measure(
        COUNT, "number of clients in a round, of uniform participation", "", algorithms=(*CERTIFIED, "fedmim")
    ),
    "rounds": Measure(COUNT, "rounds of the run", "K", (WHOLE_RUN,)),
    "round": Measure(INDEX, "rounds taken so far", "round", (AFTER_ROUNDS, ONE_ROUND)),
    "strong_convexity": Measure(
        POSITIVE, "smallest strong convexity modulus of a client's function", "mu", units=(1, 0)
    ),
    "smoothness": Measure(POSITIVE, "largest Lipschitz constant of a client's gradient", "L", units=(1, 0)),
    "sample_smoothness": Measure(POSITIVE, "largest Lipschitz constant of a sample's gradient", "L", units=(1, 0)),
    "start_distance": Measure(NONNEGATIVE, "||x_0 - x*||^2", "start_distance", units=(0, 2)),
    "start_gap": Measure(NONNEGATIVE, "f(x_0) - f*", "f0_gap", units=(1, 2)),
    "distance": Measure(NONNEGATIVE, "E||x_k - x*||^2, before the round", "round_distance", (ONE_ROUND,), units=(0, 2)),
    "gap": Measure(NONNEGATIVE, "E f(x_k) - f*, before the round", "round_gap", (ONE_ROUND,), units=(1, 2)),
    "squared_gradient": Measure(
        NONNEGATIVE,
        "E||grad f(x_k)||^2, before the round",
        "squared_gradient_norm",
        (ONE_ROUND,),
        units=(2, 2),
    ),
    "noise_at_minimiser": Measure(
        NONNEGATIVE,
        "variance of a sampled gradient at x*, mean over the clients",
        "noise_at_minimiser",
        units=(2, 2),
    ),
    "largest_noise": Measure(
        NONNEGATIVE,
        "largest variance of a sampled gradient of any client where the run may go",
        "sample_variance",
        algorithms=_LOCAL,
        units=(2, 2),
    ),
    "heterogeneity": Measure(NONNEGATIVE, "mean over the clients of ||grad f_n(x*)||^2", "heterogeneity", units=(2, 2)),
    "largest_dissimilarity": Measure(
        NONNEGATIVE,
        "largest ||grad f_n(x) - grad f(x)||^2 of any client where the run may go",
        "dissimilarity",
        algorithms=_LOCAL,
        units=(2, 2),
    ),
    "largest_second_moment": Measure(
        NONNEGATIVE,
        "largest E||v||^2 of a gradient estimator along the run",
        "G2",
        algorithms=CERTIFIED,
        units=(2, 2),
    ),
    "mean_inverse_participation": Measure(
        Domain(lower=1), "mean of 1/p_n over clients and rounds", "mean_inv_p", algorithms=CERTIFIED
    ),
    "alpha_sum": Measure(NONNEGATIVE, "sum of the weights alpha of the lags", "", algorithms=("fedmim",)),
    "beta_sum": Measure(NONNEGATIVE, "sum of the weights beta of the lags", "", algorithms=("fedmim",)),
}


def known(kind: str, name: str, table: Mapping[str, object]) -> str:
    """The name, when it is in the table.

    Raises:
        ValueError: when it is not; the message has the names that there are.
    """
    if not isinstance(name, str) or name not in table:
        close = get_close_matches(str(name), list(table), n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        article = "an" if kind[0] in "aeiou" else "a"
        raise ValueError(f"{name!r} is not {article} {kind}; {hint}there are {', '.join(table)}")
    return name
