"""FedAvg-SVRG (Rostami and Kia, Algorithm 1): variance-reduced local steps, clients that take part at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import Step, checked_count, checked_rules, checked_step

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class FedAvgSVRG(Algorithm):
    """FedAvg-SVRG for probabilistically activated agents.

    In round k each active client n starts from the server's model and, S times, takes a snapshot and M steps

        v_m = grad f_#(w_m) - grad f_#(snapshot) + grad f_n(snapshot),   w_{m+1} = w_m - step v_m,

    with # uniform on its own samples. The server adds sum_n c_n (w_n - theta).

    Source: Rostami and Kia, Algorithm 1 (aggregation "unbiased": c_n = 1_n/(N p_n)).

    Attributes:
        step: the step size delta > 0; a number, or a sequence of K numbers (one a round). Fractions stay exact.
        snapshots: S >= 1.
        inner: M >= 1.
        aggregation: "unbiased" (c_n = 1_n/(N p_n)) or "normalised" (c_n = 1_n/|A|).
        empty: what a round does in which nobody takes part: "keep" the model, set it to "zero", or "condition" on
            somebody taking part.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    snapshots: int
    inner: int
    aggregation: Literal["unbiased", "normalised"] = "unbiased"
    empty: Literal["keep", "zero", "condition"] = "keep"
    name: str = "fedavg-svrg"

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", checked_step(self.step))
        object.__setattr__(self, "snapshots", checked_count(self.snapshots, "snapshots"))
        object.__setattr__(self, "inner", checked_count(self.inner, "inner"))
        checked_rules(self.aggregation, self.empty)

    @property
    def draws(self) -> int:
        """S (M - 1): at m = 0 the iterate is the snapshot, and whatever is drawn cancels."""
        return self.snapshots * (self.inner - 1)

    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """S snapshots of M steps. Shapes: w (N, d, R). See `Algorithm.local_update`.

        With e_m = w_m - snapshot, Algorithm 1 reads e_1 = -step grad f_n(snapshot) and, from there on,
        e_{m+1} = e_m + e_1 - step (grad f_#(snapshot + e_m) - grad f_#(snapshot)).
        """
        import torch

        first, moves = clients.buffer("first"), (clients.buffer("move"), clients.buffer("next move"))
        for s in range(self.snapshots):
            move = clients.gradient(w, -step, out=first)
            for m in range(1, self.inner):
                following = moves[m % 2]
                torch.add(move, first, out=following)
                clients.add_sample_change(s * (self.inner - 1) + m - 1, w, move, -step, out=following)
                move = following
            w.add_(move)
        return w
