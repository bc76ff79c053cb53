"""Many problems with unknown points at once, in floats: the spaces of `validate.satisfied.spaces` with arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.for_every import ForEvery
from theory.operations import UndecidedError
from validate import satisfied
from validate.batch.hinges import Hinges
from validate.batch.recorded import Array
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.problems import which_of
from validate.satisfied.spaces import Space

if TYPE_CHECKING:
    from validate.batch.bests import Problems

Where: TypeAlias = "tuple[Array, Array] | None"
"""Between which numbers the only unknown lies, of each form; None for anywhere."""
EQUAL = 1e-14
"""Part of two numbers by which they differ that are the same."""


@dataclass(frozen=True)
class _Sizes:
    """What a sentence asks of a problem besides its functions."""

    clients: int
    counts: tuple[int, ...]
    dim: int


class Arrays(Space):
    """Vectors of many problems, (..., d, size + 1); numbers are floats, or arrays (..., 1, 1)."""

    exact = False
    weight = 1.0
    many: tuple[int, ...]

    def zeros(self, *shape: int) -> Any:
        return np.zeros((*self.many, *shape))

    def element(self, value: Any) -> Any:
        return value if isinstance(value, np.ndarray) else float(value)

    def difference(self, one: Any, two: Any) -> Any:
        found = one - two
        return np.where(np.abs(found) <= EQUAL * np.maximum(np.abs(one), np.abs(two)), 0.0, found)

    def unknown(self, place: int) -> Any:
        found = self.zeros(self.dim, self.size + 1)
        for j in range(self.dim):
            found[..., j, place + j] = 1.0
        return found


class ManyQuadratics(Arrays):
    """Around the minimiser of f where there is one and the sentence does not hang on the origin: so little cancels."""

    def __init__(self, one: ForEvery, of: Problems) -> None:
        count, N, n, self.dim = of.linear.shape
        self.many, self.of, self.problem = (count,), of, _Sizes(N, (n,) * N, self.dim)
        self.size = len(one.points) * self.dim
        self.places = {name: j * self.dim for j, name in enumerate(one.points)}
        self.curved = of.spectra("f")[:, 0].min(axis=1) > 0
        safe = np.where(self.curved[:, None, None], of.hessian.mean(axis=(1, 2)), np.eye(self.dim))
        found = np.linalg.solve(safe, of.linear.mean(axis=(1, 2))[..., None])[..., 0]
        self.minimiser = np.where(self.curved[:, None], found, 0.0)
        self.centred = is_the_same_elsewhere(one)

    def point(self, name: str, n: int) -> Any:
        if name in self.places:
            return self.unknown(self.places[name])
        if name != "xstar":
            raise UndecidedError("a client's minimiser")
        found = self.zeros(self.dim, self.size + 1)
        if not self.centred:
            found[..., -1] = self.minimiser
        found[~self.curved] = np.nan
        return found

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        own: Any = (slice(None), *which_of(name, at))
        over = tuple(range(1, 1 + 3 - len(own)))
        hessian, linear = self.of.hessian[own].mean(axis=over), self.of.linear[own].mean(axis=over)
        if not self.centred:
            return hessian, linear, 0.0
        still = (hessian @ self.minimiser[..., None])[..., 0]
        constant = ((still / 2 - linear) * self.minimiser).sum(axis=1)
        if name == "f":
            return hessian, np.where(self.curved[:, None], 0.0, linear), self._lowest
        return hessian, linear - still, constant

    @cached_property
    def _lowest(self) -> Array:
        return -(self.of.linear.mean(axis=(1, 2)) * self.minimiser).sum(axis=1) / 2

    @property
    def infimum(self) -> Any:
        return np.where(self.curved, self._lowest, np.nan)[:, None, None]


class Stretches(Arrays):
    """One point of piecewise quadratics, in each stretch between knots: (B, M + 1) of them."""

    dim = size = 1

    def __init__(self, of: Hinges) -> None:
        self.many, self.of = (len(of), of.at.shape[1] + 1), of
        N, n = of.which.shape
        self.problem = _Sizes(N, (n,) * N, 1)

    def point(self, name: str, n: int) -> Any:
        if name == "xstar_n" or (name == "xstar" and not self.of.least):
            raise UndecidedError("a minimiser that is not known")
        return self.zeros(1, 2) if name == "xstar" else self.unknown(0)

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        own: Any = self.of.which[which_of(name, at)]
        share = np.bincount(np.ravel(own), minlength=self.of.which.max() + 1) / np.size(own)
        if not v[..., 0, 0].any():  # at the centre
            return self.zeros(1, 1), self.zeros(1) + (self.of.linear @ share)[:, None, None], 0.0
        curved, steep, value = (one[:, 0] for one in self.of.combined(share[None]))
        knot = self.of.at
        knot, steep, value = (np.concatenate([one[:, :1], one], axis=1) for one in (knot, steep, value))
        linear = curved * knot - steep
        constant = value + linear * knot - curved * knot**2 / 2
        return curved[..., None, None], linear[..., None], constant

    @property
    def infimum(self) -> Any:
        return self.of.lowest("f")[0][:, :1, None, None]

    @property
    def where(self) -> Where:
        """The ends of each stretch, (B, M + 1)."""
        far = np.full((len(self.of), 1), np.inf)
        return np.concatenate([-far, self.of.at], axis=1), np.concatenate([self.of.at, far], axis=1)


@lru_cache(maxsize=256)
def is_the_same_elsewhere(one: ForEvery) -> bool:
    """Whether a sentence says the same of a function that is moved: seen on one."""
    there, moved = (Piecewise((t - 1, t), (F(1), F(2), F(1))).still_at(t) for t in (F(0), F(7)))
    found = satisfied.best(one, Pieces(((there,),)))
    return found is not None and found == satisfied.best(one, Pieces(((moved,),)))


__all__ = ["Arrays", "ManyQuadratics", "Stretches", "Where", "is_the_same_elsewhere"]
