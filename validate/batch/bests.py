"""The best constants of a claim's assumptions on many problems of one size at once, in floats.

What `validate.satisfied` says of one problem, for arrays of them; of what breaks a claim it is asked again. Here are
the rules for quadratics; those for piecewise ones are in `bests_of_hinges`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from theory import predicates as p
from theory.claim import Claim
from theory.for_every import ForEvery
from theory.predicates import base_of
from theory.sentence import index_of
from validate.batch import bests_of_hinges, bests_of_sentences
from validate.batch.hinges import SLACK, Hinges
from validate.batch.recorded import Array
from validate.satisfied.each import indexed

Best: TypeAlias = "tuple[tuple[Array, ...], Array]"
"""The best value of each constant, (B,), and where there are any."""
Bound: TypeAlias = "tuple[str, int | None]"
"""A constant's name without index, and the client whose it is; None where it is one for all."""


def spectra(hessian: Array) -> Array:
    """Eigenvalues, (..., d), of symmetric matrices, (..., d, d)."""
    if hessian.shape[-1] == 1:
        return hessian[..., 0]
    if hessian.shape[-1] == 2:
        middle, half = (hessian[..., 0, 0] + hessian[..., 1, 1]) / 2, (hessian[..., 0, 0] - hessian[..., 1, 1]) / 2
        away = np.hypot(half, hessian[..., 0, 1])
        return np.stack([middle - away, middle + away], axis=-1)
    diagonal = np.diagonal(hessian, axis1=-2, axis2=-1)
    if not (hessian * (1 - np.eye(hessian.shape[-1]))).any():
        return np.sort(diagonal)
    return np.linalg.eigvalsh(hessian)


class Problems:
    """Many problems.

    Args:
        hessian: (B, N, n, d, d).
        linear: (B, N, n, d).
        different: the clients, and of all samples one after another those, whose Hessians are all that there are; all.
    """

    def __init__(self, hessian: Array, linear: Array, different: Any = (slice(None), slice(None))) -> None:
        self.hessian, self.linear = hessian, linear
        self._different = different
        self._spectra: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.hessian)

    @property
    def clients(self) -> int:
        """N."""
        return self.hessian.shape[1]

    def alone(self, n: int) -> Problems:
        """Those of client n alone."""
        return Problems(self.hessian[:, n : n + 1], self.linear[:, n : n + 1])

    def spectra(self, function: str) -> Array:
        """The curvatures of each function that a name stands for, those that are the same once, (B, functions, d)."""
        if function not in self._spectra:
            clients, samples = self._different
            values = self.hessian[:, clients] if function == "f_n" else self.hessian
            values = _of(function, values)
            self._spectra[function] = spectra(values[:, samples] if function == "f_ni" else values)
        return self._spectra[function]


def _of(function: str, values: Array) -> Array:
    """Of each function that a name stands for, (B, functions, ...), from those of all samples, (B, N, n, ...)."""
    if function == "f":
        return values.mean(axis=(1, 2))[:, None]
    return values.mean(axis=2) if function == "f_n" else values.reshape(len(values), -1, *values.shape[3:])


def _smooth(one: p.Predicate, of: Problems) -> Best:
    return (np.abs(of.spectra(one.function)).max(axis=(1, 2)),), np.ones(len(of), bool)


def _convex(one: p.Predicate, of: Problems) -> Best:
    found = of.spectra(one.function)
    return (), found.min(axis=(1, 2)) >= -SLACK * np.abs(found).max(axis=(1, 2))


def _strongly(one: p.Predicate, of: Problems) -> Best:
    least = of.spectra(one.function).min(axis=(1, 2))
    return (least,), least > 0


def _below(one: p.Predicate, of: Problems) -> Best:
    return (), _strongly(one, of)[1]


def _flat(one: p.Predicate, of: Problems) -> Best:
    curved = np.abs(of.hessian).max(axis=(1, 2, 3, 4))
    return (np.sqrt((_of(one.function, of.linear) ** 2).sum(axis=2).max(axis=1)),), curved == 0


def _variance(one: p.Predicate, of: Problems) -> Best:
    away = of.linear - of.linear.mean(axis=2, keepdims=True)
    alike = np.abs(of.hessian - of.hessian[:, :, :1]).max(axis=(1, 2, 3, 4)) == 0
    return ((away**2).sum(axis=3).mean(axis=2).max(axis=1),), alike


def _dissimilar(one: p.Predicate, of: Problems) -> Best:
    own, b = of.hessian.mean(axis=2), of.linear.mean(axis=2)
    if isinstance(one, p.Dissimilar) and one.spread:
        away = b - b.mean(axis=1, keepdims=True)
        alike = np.abs(own - own[:, :1]).max(axis=(1, 2, 3)) == 0
        return (np.sqrt((away**2).sum(axis=2).mean(axis=1)),), alike
    h, b = own[:, :, 0, 0], b[:, :, 0]  # in one dimension: the least B, a little more, and the least G beside it
    curved, second = h.mean(axis=1), (h * h).mean(axis=1)
    B = np.sqrt(np.where(curved != 0, second / curved**2, 0.0)) * (1 + 1e-6)
    block, edge = B**2 * curved**2 - second, (h * b).mean(axis=1) - B**2 * curved * b.mean(axis=1)
    needed = np.where(second > 0, edge**2 / block, 0.0) - B**2 * b.mean(axis=1) ** 2 + (b * b).mean(axis=1)
    return (np.sqrt(np.maximum(needed, 0.0)) * (1 + 1e-6) + 1e-9, B), (curved != 0) | (second == 0)


def _always(one: p.Predicate, of: Problems) -> Best:
    return (), np.ones(len(of), bool)


RULES: Mapping[type[p.Predicate], Callable[[p.Predicate, Problems], Best]] = {
    p.Smooth: _smooth,
    p.Convex: _convex,
    p.StronglyConvex: _strongly,
    p.PolyakLojasiewicz: _strongly,
    p.BoundedBelow: _below,
    p.SameMinimiser: _convex,
    p.Lipschitz: _flat,
    p.BoundedGradients: _flat,
    p.BoundedVariance: _variance,
    p.Dissimilar: _dissimilar,
    p.Quadratic: _always,
    p.Connected: _always,
    ForEvery: bests_of_sentences.best,
}


def knows(claim: Claim, dim: int, pieces: bool = False) -> bool:
    """Whether all assumptions of a claim can be told of problems of d coordinates, quadratic or piecewise so."""
    for one in claim.predicates:
        on_ball = isinstance(one, p.Lipschitz | p.BoundedGradients) and len(one.constants) > 1
        several = isinstance(one, p.Dissimilar) and not one.spread and dim > 1
        if type(one) not in (bests_of_hinges.RULES if pieces else RULES) or on_ball or several:
            return False
        if isinstance(one, ForEvery) and ((pieces and dim > 1) or not bests_of_sentences.knows(one, pieces)):
            return False
        if not isinstance(one, p.Connected) and any(base_of(constant) is None for constant in one.constants):
            return False
        if indexed(one) and (isinstance(one, p.Dissimilar) or not all(index_of(c)[1] == "n" for c in one.binds)):
            return False
    return True


def best_of_all(claim: Claim, problems: Problems | Hinges) -> tuple[dict[Bound, Array], Array]:
    """The best constants, (B,), and where all assumptions are true with them.

    They are by name and client, None where a constant is one for all.

    Args:
        claim: one whose assumptions it `knows`.
        problems: many.
    """
    rules: Mapping[type[p.Predicate], Callable[[Any, Any], Best]] = RULES
    true = np.ones(len(problems), bool)
    if isinstance(problems, Hinges):
        rules, true = bests_of_hinges.RULES, problems.true.copy()
    ends: dict[Bound, dict[bool, list[Array]]] = {}
    with np.errstate(all="ignore"):
        for one in claim.predicates:
            each = indexed(one)
            for n in range(problems.clients) if each else (None,):
                own = problems if n is None or one.function == "f" else problems.alone(n)
                values, there = rules[type(one)](one, own)
                true &= there
                for constant, value, direction in zip(one.constants, values, one.directions, strict=False):
                    base = base_of(constant)
                    assert base is not None
                    root = value if base[1] == 1 else np.maximum(value, 0) ** (1 / base[1])
                    ends.setdefault((index_of(base[0])[0], n), {}).setdefault(direction == "up", []).append(root)
    found = {}
    for bound, by_way in ends.items():
        least = np.max(by_way[True], axis=0) if True in by_way else None
        most = np.min(by_way[False], axis=0) if False in by_way else None
        if least is not None and most is not None:
            true &= least <= most * (1 + 1e-9)
        found[bound] = least if least is not None else most
        assert found[bound] is not None
    return found, true  # type: ignore[return-value]
