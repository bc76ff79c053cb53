"""What the exact oracle of FedMIM finds: moments of the server's models, of u_t and of what happens in a round."""

from __future__ import annotations

from dataclasses import dataclass

from sim.exact_numbers import Array


@dataclass(frozen=True, eq=False)
class InertialMoments:
    """Moments of FedMIM; arrays of float64, or of Fractions when the problem is exact.

    u_t = x_t - (K/A) sum_j (sum_{s>=j} alpha_s) delta_{t-j}; g_{i,k} are stochastic gradients at y_{i,k,2}. The local
    iterates are those of every client i, also of one that does not take part in round t: the expectations are over the
    samples and over the state of the round, which does not depend on who takes part in it.

    Attributes:
        mean: (T+1, d), E x_t.
        second_moment: (T+1, d, d), E x_t x_t'.
        squared_gradient_norm: (T+1,), E||grad f(x_t)||^2.
        suboptimality: (T+1,), E f(x_t) - f*; None when f is unbounded below.
        cost: (T+1,), E f(x_t).
        squared_iterate_norm: (T+1,), E||x_t||^2.
        auxiliary_mean: (T+1, d), E u_t.
        auxiliary_squared_gradient_norm: (T+1,), E||grad f(u_t)||^2.
        auxiliary_suboptimality: (T+1,), E f(u_t) - f*; None when f is unbounded below.
        squared_increment: (T+1,), E||delta_t||^2.
        squared_average_step: (T,), E||dtilde_t||^2, dtilde_t = (eta_l/(SK)) sum_{i in S_t, k<K} g_{i,k}.
        inner_product: (T,), E<grad f(u_t), dtilde_t>.
        displacement: (T, N, K+1), E||x_{i,k} - x_t||^2 for k = 0..K.
        local_gradient: (T, N, K), E||grad f_i(y_{i,k,2})||^2 for k = 0..K-1.
        noise: (T, N, K), E||g_{i,k} - grad f_i(y_{i,k,2})||^2 for k = 0..K-1.
        mean_gradient: (T, K), E||(1/N) sum_i grad f_i(y_{i,k,2})||^2 for k = 0..K-1.
        selected_gradient: (T, K), E||(1/S) sum_{i in S_t} grad f_i(y_{i,k,2})||^2 for k = 0..K-1.
    """

    mean: Array
    second_moment: Array
    squared_gradient_norm: Array
    suboptimality: Array | None
    cost: Array
    squared_iterate_norm: Array
    auxiliary_mean: Array
    auxiliary_squared_gradient_norm: Array
    auxiliary_suboptimality: Array | None
    squared_increment: Array
    squared_average_step: Array
    inner_product: Array
    displacement: Array
    local_gradient: Array
    noise: Array
    mean_gradient: Array
    selected_gradient: Array

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.mean) - 1

    @property
    def drift(self) -> Array:
        """(T,), (1/(KN)) sum_{i, k<K} E||x_{i,k} - x_t||^2, the left side of (24) with k = 0..K-1."""
        _, clients, points = self.displacement.shape
        return self.displacement[:, :, :-1].sum(axis=(1, 2)) / (clients * (points - 1))
