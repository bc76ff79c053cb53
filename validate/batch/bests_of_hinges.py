"""The best constants of assumptions on many problems of piecewise quadratics, in floats: as `bests` of quadratics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from theory import predicates as p
from theory.for_every import ForEvery
from validate.batch import bests_of_sentences
from validate.batch.hinges import SLACK, Hinges
from validate.batch.recorded import Array

ROUNDED = 1e-14
"""Part of the square of the steepest derivative: a G^2 that is as little is taken for 0."""
Best: TypeAlias = "tuple[tuple[Array, ...], Array]"


def _smooth(one: p.Predicate, of: Hinges) -> Best:
    return (np.abs(of.shown(one.function)[0]).max(axis=(1, 2)),), np.ones(len(of), bool)


def _convex(one: p.Predicate, of: Hinges) -> Best:
    return (), np.asarray(of.shown(one.function)[0].min(axis=(1, 2)) >= 0)


def _strongly(one: p.Predicate, of: Hinges) -> Best:
    least = of.shown(one.function)[0].min(axis=(1, 2))
    return (least,), least > 0


def _below(one: p.Predicate, of: Hinges) -> Best:
    return (), np.asarray(of.lowest(one.function)[3].all(axis=1))


def _growth(one: p.Predicate, of: Hinges) -> Best:
    """The least of f'^2/(2 (f - inf f)): at knots, at stationary points, far away, and next to a minimiser."""
    _, steep, value = of.shown(one.function)
    infimum, still, curved, bounded = of.lowest(one.function)
    above = value - infimum[..., None]
    high = above > SLACK * np.abs(above).max(axis=(1, 2), keepdims=True)
    beside = np.minimum(*(np.where(s > 0, s, np.inf) for s in (curved[..., :-1], curved[..., 1:])))
    ratios = np.where(high, steep**2 / (2 * above), beside)
    stays = still - infimum[..., None] > SLACK * np.abs(above).max(axis=(1, 2), keepdims=True)
    inner = np.where(stays, 0.0, np.where(np.isnan(still), np.inf, curved))
    outer = np.minimum(*(np.where((s != 0) | (d != 0) | h, s, np.inf) for s, d, h in (
        (curved[..., 0], steep[..., 0], high[..., 0]), (curved[..., -1], steep[..., -1], high[..., -1]))))  # fmt: skip
    least = np.minimum(np.minimum(ratios.min(axis=2), inner.min(axis=2)), outer).min(axis=1)
    return (least,), np.asarray(bounded.all(axis=1) & (least > 0) & np.isfinite(least))


def _same_minimiser(one: p.Predicate, of: Hinges) -> Best:
    return (), np.asarray((of.shown(one.function)[0].min(axis=(1, 2)) >= 0) & (of.linear == 0).all(axis=1))


def _bounded(one: p.Predicate, of: Hinges) -> Best:
    curved, steep, _ = of.shown(one.function)
    return (np.abs(steep).max(axis=(1, 2)),), (curved[..., [0, -1]] == 0).all(axis=(1, 2))


def _apart(curved: Array, steep: Array) -> tuple[Array, Array]:
    """Of groups of functions, (B, groups, members, ...), sup over x of the mean of norm2(f_m' - mean), (B, groups), and
    whether it is finite."""
    outer = curved[..., [0, -1]]
    largest = np.abs(curved).max(axis=(1, 2, 3))[:, None]
    alike = np.abs(outer - outer.mean(axis=2, keepdims=True)).max(axis=(2, 3)) <= SLACK * largest
    return steep.var(axis=2).max(axis=2), np.asarray(alike)


def _variance(one: p.Predicate, of: Hinges) -> Best:
    curved, steep, _ = of.shown("f_ni")
    most, alike = _apart(curved[:, of.which], steep[:, of.which])
    return (most.max(axis=1),), np.asarray(alike.all(axis=1))


def _clients(of: Hinges, values: Array) -> Array:
    """Of each client, (B, N, ...), from those of the different functions."""
    return np.asarray(values[:, of.which].mean(axis=2))


def _dissimilar(one: p.Predicate, of: Hinges) -> Best:
    curved, steep, _ = of.shown("f_ni")
    own, there = _clients(of, curved), _clients(of, steep)
    if isinstance(one, p.Dissimilar) and one.spread:
        most, alike = _apart(own[:, None], there[:, None])
        return (np.sqrt(most[:, 0]),), alike[:, 0]
    mean, second, edge = own.mean(axis=1), (own**2).mean(axis=1), there.mean(axis=1)
    far, square = mean[:, [0, -1]], second[:, [0, -1]]
    B = np.sqrt(np.maximum(1.0, np.where(far != 0, square / far**2, 0.0).max(axis=1))) * (1 + 1e-6)
    possible = ((far != 0) | (square == 0)).all(axis=1)
    # on each stretch the mean of norm2(f_n') - B^2 norm2(f') is a quadratic a y^2 + 2 h y + e from the knot beside it
    B2 = B[:, None] ** 2
    beside = np.concatenate([there[..., :1], there], axis=2)
    a, e = second - B2 * mean**2, (beside**2).mean(axis=1) - B2 * beside.mean(axis=1) ** 2
    h = (own * beside).mean(axis=1) - B2 * mean * np.concatenate([edge[:, :1], edge], axis=1)
    width = np.concatenate([np.diff(of.at), np.full((len(of), 1), np.inf)], axis=1)
    away = -h / a
    inside = np.concatenate([away[:, :1] < 0, (away[:, 1:] > 0) & (away[:, 1:] < width)], axis=1) & (a < 0)
    most = np.maximum(e.max(axis=1), np.where(inside, e - h**2 / a, 0.0).max(axis=1))
    most[most < ROUNDED * (there**2).max(axis=(1, 2))] = 0.0
    return (np.sqrt(np.maximum(most, 0.0)) * (1 + 1e-6), B), possible


def _always(one: p.Predicate, of: Hinges) -> Best:
    return (), np.ones(len(of), bool)


RULES: Mapping[type[p.Predicate], Callable[[p.Predicate, Hinges], Best]] = {
    p.Smooth: _smooth,
    p.Convex: _convex,
    p.StronglyConvex: _strongly,
    p.PolyakLojasiewicz: _growth,
    p.BoundedBelow: _below,
    p.SameMinimiser: _same_minimiser,
    p.Lipschitz: _bounded,
    p.BoundedGradients: _bounded,
    p.BoundedVariance: _variance,
    p.Dissimilar: _dissimilar,
    p.Connected: _always,
    ForEvery: bests_of_sentences.best,
}
