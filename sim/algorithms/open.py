"""The local optimisers of an open federated system: SGD and Adam, with minibatches or the full batch."""

from __future__ import annotations

from dataclasses import dataclass

from sim.algorithms.schedule import Step, checked_count, checked_step
from sim.arguments import real
from sim.streams import BLOCK_BITS, WORDS


@dataclass(frozen=True)
class LocalSGD:
    """Local SGD: w <- w - step g, `local_steps` times a round, from the model that the server has broadcast.

    Source: Sun, Fernando, Chen, Shahrampour, "On the Stability Analysis of Open Federated Learning Systems",
    equation (2) and Algorithm 1.

    Attributes:
        step: the step size > 0; a number, or a sequence of K numbers (one a round).
        local_steps: steps that a client takes in a round, >= 1.
        batch: samples a gradient, >= 1, drawn with replacement; None for the client's full gradient.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    batch: int | None = None

    def __post_init__(self) -> None:
        _check_common(self)

    @property
    def draws(self) -> int:
        """J, the samples that a client draws in a round."""
        return self.local_steps * (self.batch or 0)


@dataclass(frozen=True)
class LocalAdam:
    """Local Adam with the running maximum inside the recursion and without bias correction:

        h <- beta1 h + (1 - beta1) g
        v <- beta2 vhat + (1 - beta2) g^2
        vhat <- max(v, vhat)
        w <- w - step h / sqrt(eps + vhat)

    all by coordinates. h and vhat are 0 when the client enters. They are the client's own and outlast communications,
    also in rounds in which the server does not select it.

    Source: Sun, Fernando, Chen, Shahrampour, equation (3) and Algorithm 1. (AMSGrad has v <- beta2 v + ... instead, and
    eps beside the root.)

    Attributes:
        step: as for `LocalSGD`.
        local_steps: as for `LocalSGD`.
        batch: as for `LocalSGD`.
        beta1: in [0, 1).
        beta2: in [0, 1).
        eps: in (0, inf).
        reset: whether h and vhat are set to 0 at each broadcast.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    batch: int | None = None
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    reset: bool = False

    def __post_init__(self) -> None:
        _check_common(self)
        for name in ("beta1", "beta2"):
            value = real(name, getattr(self, name), "[0, 1)")
            if not 0 <= value < 1:
                raise ValueError(f"{name}={value} is outside [0, 1)")
            object.__setattr__(self, name, value)
        eps = real("eps", self.eps, "(0, inf)")
        if eps <= 0:
            raise ValueError(f"eps={eps} is outside (0, inf)")
        object.__setattr__(self, "eps", eps)
        if not isinstance(self.reset, bool):
            raise ValueError(f"reset={self.reset!r} is not one of (False, True)")

    @property
    def draws(self) -> int:
        """J, the samples that a client draws in a round."""
        return self.local_steps * (self.batch or 0)


OpenAlgorithm = LocalSGD | LocalAdam


def _check_common(algorithm: OpenAlgorithm) -> None:
    object.__setattr__(algorithm, "step", checked_step(algorithm.step))
    object.__setattr__(algorithm, "local_steps", checked_count(algorithm.local_steps, "local_steps"))
    if algorithm.batch is not None:
        object.__setattr__(algorithm, "batch", checked_count(algorithm.batch, "batch"))
    if algorithm.draws > WORDS << BLOCK_BITS:
        raise ValueError(f"local_steps*batch={algorithm.draws} is outside [0, 2^26]")
