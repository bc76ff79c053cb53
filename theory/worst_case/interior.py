"""Small semidefinite programs by a primal-dual interior-point method, whose points satisfy their equations to rounding.

Maximise <C, X> + c.F subject to <A_k, X> + a_k.F + s_k = r_k, s >= 0, X >= 0; its dual is to minimise r.y subject to
Z = sum_k y_k A_k - C >= 0, sum_k y_k a_k = c, y >= 0. Steps are those of Nesterov and Todd, with Mehrotra's corrector
(Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010). The equations of the dual are linear, so
they hold from the first full step on; from then on y and Z lie strictly inside of their cones, and make a proof as they
are. Conditions that a point violates are taken in on the way. Nothing here is proved.

Blocks are of one size: what a smaller one lacks is filled up with -1 in C and with 0 in the A_k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from theory.worst_case.program import Array

STEPS = 50
"""At most."""
_TO_BORDER = 0.95
"""Of the way to the border of a cone that a step goes."""
_MEETS = 1e-13
"""What the equations of the dual may be off, and"""
_NEAR = 1e-7
"""those of X."""
_NOTHING = 1e-10
"""A distance of both values that is none."""
_FARTHEST = 1e12
"""A number of a point beyond which there is no solution."""
_MOVED = 0.5
"""Of s and Z, up to which they are changed to meet their equations at once."""
_CENTRAL = 0.1
"""Of the distance, to which it is reduced while equations are not met."""
_LOOKS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Relative distances of both values at which it is asked what is violated."""
_LOST = (6, 12, 18)
"""Steps after which it is asked where the dual has no point yet: without a condition the value may be infinite."""
_MORE = 1e-13
"""Of its diagonal that is added to a matrix of which a root is taken."""


@dataclass(frozen=True, eq=False)
class Data:
    """A program.

    Attributes:
        forms: (B, C, m, m), the A_k in each block.
        goal: (B, m, m), C.
        slopes: (C, V), the a_k.
        goal_slopes: (V,), c.
        right: (C,), r.
    """

    forms: Array
    goal: Array
    slopes: Array
    goal_slopes: Array
    right: Array

    def with_conditions(self, forms: Array, slopes: Array, right: Array) -> Data:
        """With more of them."""
        return replace(
            self,
            forms=np.concatenate([self.forms, forms], axis=1),
            slopes=np.concatenate([self.slopes, slopes]),
            right=np.concatenate([self.right, right]),
        )


@dataclass(frozen=True, eq=False)
class Point:
    """X and Z, (B, m, m), F, (V,), s and y, (C,)."""

    X: Array
    Z: Array
    F: Array
    s: Array
    y: Array

    @property
    def gap(self) -> float:
        """The distance of both values, where all equations hold."""
        return float((self.X * self.Z).sum() + self.s @ self.y)


Violated = Callable[[Array, Array], tuple[Array, Array, Array] | None]
"""Of X and F: forms, slopes and right sides of conditions that were left out and do not hold there; None for none."""


def solve(data: Data, width: float, violated: Violated) -> Point | None:
    """A point at which both values differ by no more than a part of the larger, strictly inside for the dual, or None.

    Args:
        data: the program.
        width: that part.
        violated: asked on the way.
    """
    B, C, m, _ = data.forms.shape
    one = np.broadcast_to(np.eye(m), (B, m, m))
    p = Point(one, one, np.zeros(len(data.goal_slopes)), np.ones(C), np.ones(C))
    looks, room = list(_LOOKS), _Room(data)
    for step in range(STEPS):
        p, residual = _met(data, p)
        value, gap = abs(float(data.right @ p.y)), p.gap
        met = residual.dual < _MEETS
        if met and gap <= max(width * value, _NOTHING) and np.abs(residual.s).max() < _NEAR:
            return p
        if (met and looks and gap <= looks[0] * value) or (not met and step in _LOST):
            looks = [look for look in looks if gap > look * value]
            more = violated(p.X, p.F)
            if more is not None:
                data, p = data.with_conditions(*more), _with_room(p, gap / (B * m + len(p.s)), more)
                residual, room = _Residual(data, p), _Room(data)
        if max(p.X.max(), p.y.max(), p.s.max()) > _FARTHEST:
            return None
        try:
            with np.errstate(all="raise", under="ignore"):
                p = _Step(data, p, residual, room).taken()
        except (np.linalg.LinAlgError, FloatingPointError):
            return None
    return None


def _met(data: Data, p: Point) -> tuple[Point, _Residual]:
    """A point that is moved to where it meets its equations, as far as that is near, and what these are off there."""
    residual = _Residual(data, p)
    if (np.abs(residual.s) < _MOVED * p.s).all():
        p, residual.s = replace(p, s=p.s + residual.s), np.zeros(len(p.s))
    if residual.dual >= _MEETS:
        try:
            weighted = data.slopes * (p.y * p.y)[:, None]
            y = p.y + weighted @ np.linalg.solve(data.slopes.T @ weighted, residual.F)
            Z = (y @ residual.flat).reshape(p.Z.shape) - data.goal
            np.linalg.cholesky(Z - _MOVED * p.Z)
        except np.linalg.LinAlgError:
            return p, residual
        if (y > _MOVED * p.y).all():
            p = replace(p, y=y, Z=Z)
            residual = _Residual(data, p)
    return p, residual


def _with_room(p: Point, mu: float, more: tuple[Array, Array, Array]) -> Point:
    """A point in which new conditions have something to spare, and multipliers that fit to it."""
    forms, slopes, right = more
    levels = (forms * p.X[:, None]).sum(axis=(0, 2, 3)) + slopes @ p.F - right
    s = np.maximum(np.abs(levels), np.sqrt(mu))
    return replace(p, s=np.concatenate([p.s, s]), y=np.concatenate([p.y, mu / s]))


class _Residual:
    """What the equations are off at a point, to be made up for."""

    def __init__(self, data: Data, p: Point) -> None:
        B, C, m, _ = data.forms.shape
        self.flat = data.forms.reshape(B, C, m * m)
        self.Z = p.Z - (p.y @ self.flat).reshape(B, m, m) + data.goal
        self.F = data.goal_slopes - p.y @ data.slopes
        self.s = data.right - (self.flat @ p.X.reshape(B, m * m, 1)).sum(axis=0)[:, 0] - data.slopes @ p.F - p.s
        self.dual = max(float(np.abs(self.Z).max()), float(np.abs(self.F).max(initial=0)))


class _Room:
    """Arrays that every step fills anew: to ask for such sizes again and again costs more than to compute in them."""

    def __init__(self, data: Data) -> None:
        B, C, m, _ = data.forms.shape
        self.row, self.column = np.tril_indices(m)
        self.weights = np.where(self.row == self.column, 1.0, np.sqrt(2.0))
        self.half, self.forms = np.empty((B, C * m, m)), np.empty((B, C, m, m))
        self.packed, self.products = np.empty((C, B, len(self.row))), np.empty((C, C))


class _Step:
    """A step from a point, in coordinates in which X and Z are the same diagonal matrix."""

    def __init__(self, data: Data, p: Point, residual: _Residual, room: _Room) -> None:
        from scipy.linalg import lapack

        self.data, self.p, self.residual, self.roots = data, p, residual, lapack.dpotrs
        B, C, m, _ = data.forms.shape
        L = np.linalg.cholesky(p.X)
        squares, axes = np.linalg.eigh(L.transpose(0, 2, 1) @ p.Z @ L)
        if squares.min() <= 0:
            raise np.linalg.LinAlgError("outside")
        self.d = np.sqrt(squares)
        root = np.sqrt(self.d)
        self.edge = 1 / (root[:, :, None] * root[:, None, :])
        self.G = L @ axes / root[:, None, :]
        self.T = np.ascontiguousarray(self.G.transpose(0, 2, 1))
        np.matmul(data.forms.reshape(B, C * m, m), self.G, out=room.half)
        np.matmul(self.T[:, None], room.half.reshape(B, C, m, m), out=room.forms)
        self.forms = room.forms.reshape(B, C, m * m)
        for b, own in enumerate(room.forms):
            np.multiply(own[:, room.row, room.column], room.weights, out=room.packed[:, b])
        packed = room.packed.reshape(C, -1)
        H = np.matmul(packed, packed.T, out=room.products)
        self.ratio = p.s / p.y
        each = np.arange(C)
        H[each, each] += self.ratio + _MORE * H[each, each]
        self.L, info = lapack.dpotrf(H.T, lower=1, overwrite_a=1)
        if info:
            raise np.linalg.LinAlgError("no root")
        self.rest = self.T @ residual.Z @ self.G
        self.by_value = self.roots(self.L, data.slopes, lower=1)[0] if data.slopes.shape[1] else data.slopes
        inner = data.slopes.T @ self.by_value
        self.inner, info = lapack.dpotrf(inner, lower=1) if len(inner) else (inner, 0)
        if info:
            raise np.linalg.LinAlgError("no root")

    def taken(self) -> Point:
        """The point that it leads to."""
        data, p, d = self.data, self.p, self.d
        B, m = d.shape
        gap, each = p.gap, np.arange(m)
        D = np.zeros((B, m, m))
        D[:, each, each] = d
        X, Z, F, s, y = self._direction(-D, -p.s * p.y)
        a, b = self._lengths(X, Z, s, y, 1.0)
        left = float(((D + a * X) * (D + b * Z)).sum() + (p.s + a * s) @ (p.y + b * y)) / gap
        least = _CENTRAL if self.residual.dual >= _MEETS or self.residual.s.any() else 0.0
        aim = min(1.0, max(left**3, least)) * gap / (B * m + len(p.s))
        K = X @ Z
        K = (K + K.transpose(0, 2, 1)) / -2
        K[:, each, each] += aim - d * d
        K *= 2 / (d[:, :, None] + d[:, None, :])
        X, Z, F, s, y = self._refined(*self._direction(K, aim - p.s * p.y - s * y))
        a, b = self._lengths(X, Z, s, y, _TO_BORDER)
        new_X, new_y = p.X + a * (self.G @ X @ self.T), p.y + b * y
        new_Z = (new_y @ self.residual.flat).reshape(B, m, m) - data.goal + (1 - b) * self.residual.Z
        return Point((new_X + new_X.transpose(0, 2, 1)) / 2, new_Z, p.F + a * F, p.s + a * s, new_y)

    def _solved(self, h: Array, F: Array) -> tuple[Array, Array]:
        """Multipliers and values that a right side takes."""
        y = self.roots(self.L, h, lower=1)[0]
        if not len(F):
            return y, F
        F = self.roots(self.inner, F - y @ self.data.slopes, lower=1)[0]
        return y + self.by_value @ F, F

    def _along(self, y: Array) -> Array:
        return (y @ self.forms).reshape(self.edge.shape)

    def _direction(self, K: Array, rest: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Of X, Z, F, s and y: X + Z is to be K, and y s + s y the rest."""
        B, m = self.d.shape
        h = (self.forms @ (K + self.rest).reshape(B, m * m, 1)).sum(axis=0)[:, 0]
        y, F = self._solved(h + rest / self.p.y - self.residual.s, self.residual.F)
        Z = self._along(y) - self.rest
        return K - Z, Z, F, rest / self.p.y - self.ratio * y, y

    def _refined(self, X: Array, Z: Array, F: Array, s: Array, y: Array) -> tuple[Array, Array, Array, Array, Array]:
        """With what the first equations were still off."""
        B, m = self.d.shape
        moved = (self.residual.flat @ (self.G @ X @ self.T).reshape(B, m * m, 1)).sum(axis=0)[:, 0]
        off = self.residual.s - self.data.slopes @ F - s - moved
        more, values = self._solved(-off, self.residual.F - y @ self.data.slopes)
        along = self._along(more)
        return X - along, Z + along, F + values, s - self.ratio * more, y + more

    def _lengths(self, X: Array, Z: Array, s: Array, y: Array, part: float) -> tuple[float, float]:
        """How far X and s, and Z and y, are moved: a part of the way to the border, and not beyond 1."""
        lowest = np.linalg.eigvalsh(np.concatenate([X, Z]) * np.concatenate([self.edge, self.edge]))[:, 0]
        ways = (lowest[: len(X)].min(), (s / self.p.s).min()), (lowest[len(X) :].min(), (y / self.p.y).min())
        first, second = (float(part / max(part, -min(way))) for way in ways)
        return first, second
