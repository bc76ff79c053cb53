"""What a problem is for the simulator: the gradients of many clients at the points of many runs.

Tensors are laid out (clients, coordinates, runs), the runs being the fastest dimension: N clients, d coordinates, R
runs, n samples of the client that has most. A value of the server, or of the one client of each run whose turn it is in
a visit, has one row, (1, d, R).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor

T = TypeVar("T")

_STEPS = 100
_HALVINGS = 60
_TOLERANCE = 1e-12
UNROLLED = 16
"""Up to so many summands a product of matrices is written out, term by term: then a run's numbers do not depend on the
runs beside it, to the last bit."""


class Sample:
    """What `sample` and `pass_over` give: for every run, B samples of every client, or of the one whose turn it is.

    Attributes:
        index: (B, N or 1, R) int64.
        has: (N or 1, 1, R or 1) bool, which clients have a sample in this turn; None when all have.
    """

    def __init__(self, index: Tensor, has: Tensor | None = None) -> None:
        self.index, self.has = index, has
        self._kept: dict[Any, Any] = {}

    def keep(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` gives, made once: the data of samples that are used more than once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


class Functions(ABC):
    """f_n, the mean of its samples' f_ni, and f, the mean of the f_n, on one device.

    A subclass says what the gradients are; for `prox`, also values and Hessians. `who` is (R,) int64, in each run the
    client that is meant, or None for all clients: then results have N rows, else one.

    Attributes:
        clients: N.
        dim: d.
        counts: (N,) int64, each client's samples.
    """

    clients: int
    dim: int
    counts: NDArray[np.int64]
    pad: int = 1
    """Chunks of runs are a multiple of this wide."""
    _scratch: Tensor | None = None

    @abstractmethod
    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        """(N or 1, d, R), grad f_n at v (N or 1, d, R)."""

    @abstractmethod
    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        """(N or 1, d, R), the mean of grad f_ni at v over the batch."""

    @abstractmethod
    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        """(N or 1, R), f_n at v."""

    def hessian(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        """(N or 1, d, d, R), the Hessian of f_n at v.

        Raises:
            ValueError: where the problem has none to offer.
        """
        raise ValueError(f"{type(self).__name__} has no Hessians, which `prox` needs")

    def full_gradient(self, v: Tensor) -> Tensor:
        """(1, d, R), grad f at v (1, d, R)."""
        return self.gradient(v).mean(0, keepdim=True)

    def dot(self, a: Tensor, b: Tensor) -> Tensor:
        """(N or 1, 1, R), the products of vectors (N or 1, d, R), in memory that is kept for the next time."""
        import torch

        shape = torch.broadcast_shapes(a.shape, b.shape)
        if self._scratch is None or self._scratch.shape != shape:
            self._scratch = a.new_empty(shape)
        return torch.mul(a, b, out=self._scratch).sum(1, keepdim=True)

    @property
    def work(self) -> int:
        """How many numbers a run needs, at most, for a gradient of all clients."""
        return 4 * self.clients * self.dim

    def prox(self, v: Tensor, t: Any, who: Tensor | None = None) -> Tensor:
        """(N or 1, d, R), the minimiser of f_n(u) + norm2(u - v)/(2t), by damped Newton steps.

        A step is halved until the function falls by a quarter of what its gradient promises, or, where rounding hides
        the fall, until the gradient shrinks. Every client of every run stops by itself, when its gradient is 1e-12 of
        that at v, or of what rounding leaves.

        Args:
            v: (N or 1, d, R).
            t: a number > 0, or (N or 1, 1, R or 1).
            who: as everywhere.

        Raises:
            ValueError: for t outside (0, inf), and where the Newton steps meet a direction of no curvature: then there
                is no minimiser, or none that is known to be the only one.
        """
        import torch

        rows = self.clients if who is None else 1
        v = v.expand(rows, *v.shape[1:])
        weight = 1 / positive("prox", t, v)  # (N or 1, 1, R or 1)

        def parts(u: Tensor) -> tuple[Tensor, Tensor]:
            away = u - v
            return self.value(u, who) + ((away * away).sum(1) * weight[:, 0]) / 2, self.gradient(u, who) + weight * away

        u = v.clone()
        value, slope = parts(u)
        size = slope.square().sum(1).sqrt()  # (rows, R)
        goal = _TOLERANCE * torch.maximum(size, torch.ones_like(size))
        eye = torch.eye(self.dim, dtype=v.dtype, device=v.device)
        extra = weight.expand(rows, 1, v.shape[2])[:, 0, :, None, None] * eye
        for _ in range(_STEPS):
            todo = size > goal
            if not bool(todo.any()):
                return u
            curved = self.hessian(u, who).permute(0, 3, 1, 2) + extra
            factor, bad = torch.linalg.cholesky_ex(curved)
            if bool((bad[todo] != 0).any()):
                break
            step = torch.cholesky_solve(slope.transpose(1, 2)[..., None], factor)[..., 0].transpose(1, 2)
            promised = (slope * step).sum(1)
            scale = torch.ones_like(size)
            waiting = todo.clone()
            for _ in range(_HALVINGS):
                trial = torch.where(waiting[:, None], u - scale[:, None] * step, u)
                new_value, new_slope = parts(trial)
                new_size = new_slope.square().sum(1).sqrt()
                fell = new_value <= value - scale * promised / 4
                hidden = (promised <= 1e-10 * torch.maximum(value.abs(), torch.ones_like(value))) & (new_size < size)
                done = waiting & (fell | hidden)
                u = torch.where(done[:, None], trial, u)
                value, slope = torch.where(done, new_value, value), torch.where(done[:, None], new_slope, slope)
                size = torch.where(done, new_size, size)
                waiting &= ~done
                if not bool(waiting.any()):
                    break
                scale = torch.where(waiting, scale / 2, scale)
            goal = torch.where(waiting, torch.maximum(goal, 1e4 * goal), goal)  # no way further down: this is rounding
            if bool((waiting & (size > goal)).any()):
                break
        raise ValueError(
            "prox: no minimiser of f_n(u) + norm2(u - v)/(2t) was found that is known to be the only one; t has to be "
            "below 1/c where the Hessians of f_n are above -c"
        )


def positive(what: str, t: Any, like: Tensor) -> Tensor:
    """A number, or numbers, as (N or 1, 1, R or 1).

    Raises:
        ValueError: outside (0, inf).
    """
    import torch

    found = torch.as_tensor(t, dtype=like.dtype, device=like.device)
    if not bool((found > 0).all()) or not bool(torch.isfinite(found).all()):
        raise ValueError(f"{what}: t={float(found.min()):g} is outside (0, inf)")
    return found.reshape(1, 1, 1) if found.ndim == 0 else found


def of_each_run(values: Tensor, who: Tensor) -> Tensor:
    """(1, ..., R): of values (N, ...) those of one client in each run."""
    return values.index_select(0, who).movedim(0, -1)[None]


def of_samples(values: Tensor, index: Tensor, who: Tensor | None) -> Tensor:
    """(N or 1, ..., R): of values (N, ..., n) those of one sample, index (N or 1, R), of each client, or of who."""
    import torch

    if who is None:
        middle = values.shape[1:-1]
        index = index.reshape(index.shape[0], *(1,) * len(middle), index.shape[1])
        return torch.gather(values, -1, index.expand(index.shape[0], *middle, index.shape[-1]))
    flat = values.movedim(0, -2).flatten(-2)
    return flat.index_select(-1, who * values.shape[-1] + index[0])[None]


def tensor_of(values: Any, device: torch.device) -> Tensor:
    """A copy of an array, as a tensor."""
    import torch

    return torch.from_numpy(np.array(values, order="C")).to(device)


def product(matrix: Tensor, v: Tensor) -> Tensor:
    """(N or 1, p, R): matrices (N or 1, p, q) times vectors (N or 1, q, R)."""
    import torch

    q = v.shape[1]
    if q > UNROLLED:
        return torch.matmul(matrix, v)
    columns, rows = matrix.split(1, dim=2), v.split(1, dim=1)
    found = columns[0] * rows[0]
    for column, row in zip(columns[1:], rows[1:], strict=True):
        found.addcmul_(column, row)
    return found


def product_of_each(matrix: Tensor, v: Tensor) -> Tensor:
    """(N or 1, p, R): matrices (N or 1, p, q, R), others in each run, times vectors (N or 1, q, R)."""
    return (matrix * v[:, None]).sum(2)


def batch_mean(parts: Sequence[Tensor]) -> Tensor:
    """Their mean, summed in their order; the parts are given up."""
    total = parts[0]
    for part in parts[1:]:
        total = total.add_(part)
    return total if len(parts) == 1 else total.div_(len(parts))


def functions_of(problem: Any, device: Any = "cpu") -> Functions:
    """A problem for the simulator.

    Args:
        problem: a `sim.problems.Quadratic` (an exact one in float64), `RidgeLogistic`, `RidgeSoftmax`, `TorchLoss`, or
            an object with a method ``functions(device)`` that gives `Functions`.
        device: where its tensors are to live.

    Raises:
        ValueError: for anything else.
    """
    import torch

    from sim.problems.logistic import RidgeLogistic
    from sim.problems.quadratic import Quadratic
    from sim.problems.softmax import RidgeSoftmax
    from sim.simulate import quadratics, regressions

    place = torch.device(device)
    if isinstance(problem, Quadratic):
        return quadratics.QuadraticFunctions(problem, place)
    if isinstance(problem, RidgeLogistic):
        return regressions.LogisticFunctions(problem, place)
    if isinstance(problem, RidgeSoftmax):
        return regressions.SoftmaxFunctions(problem, place)
    made = getattr(problem, "functions", None)
    if callable(made):
        found = made(place)
        if isinstance(found, Functions):
            return found
    raise ValueError(
        f"problem={problem!r} is not a Quadratic, RidgeLogistic, RidgeSoftmax or TorchLoss, and has no method "
        "functions(device)"
    )
