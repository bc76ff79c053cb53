"""Simpler candidates in which many numbers change at once, where one alone leads to none that breaks the claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.program import Program
from validate.instances.candidates import Candidate, minimiser_of
from validate.instances.roles import roles_of

F = Fraction
SHARE = F(1, 2)
"""Of a mixing matrix that is the mean over all clients; the rest stays."""


def starts_at_minimiser(c: Candidate) -> bool:
    """Whether a run begins where f is least."""
    if c.hessian is None:
        return False
    there = minimiser_of(c)
    return there is not None and len(there) == len(c.start) and all(there == c.start)


def with_its_start(c: Candidate) -> Candidate | None:
    """The candidate with its start moved to the minimiser; None where it is there, or there is none."""
    there = minimiser_of(c)
    if there is None or (len(there) == len(c.start) and all(there == c.start)):
        return None
    return replace(c, start=there)


def together(c: Candidate, program: Program | None) -> Iterator[Candidate]:
    """Quadratics in other units, all alike, or with short entries; one client less of a mixing matrix."""
    if c.hessian is None:
        return
    top = max(map(abs, c.hessian.ravel()))
    if top not in (0, 1):
        yield replace(c, hessian=c.hessian / top, linear=c.linear / top)
        yield replace(c, hessian=c.hessian / top)
    far = max(map(abs, c.linear.ravel()))
    if far not in (0, 1):
        yield replace(c, linear=c.linear / far, start=c.start / far)
    yield replace(c, hessian=_alike(c.hessian), linear=signs(c.linear))
    yield replace(c, hessian=_alike(c.hessian))
    yield replace(c, linear=signs(c.linear))
    for short in (1, 4):
        yield replace(
            c, linear=np.vectorize(lambda v, m=short: v.limit_denominator(m), otypes=[object])(c.linear)
        )  # fmt: skip
    yield from _of_fewer_neighbours(c, program)


def signs(numbers: Any) -> Any:
    """1, 0 or -1 for each."""
    return np.vectorize(lambda v: F((v > 0) - (v < 0)), otypes=[object])(numbers)


def _alike(hessian: Any) -> Any:
    """The identity for every sample of every client."""
    new = np.full(hessian.shape, F(0), dtype=object)
    for i in range(hessian.shape[2]):
        new[:, :, i, i] = F(1)
    return new


def _of_fewer_neighbours(c: Candidate, program: Program | None) -> Iterator[Candidate]:
    matrices = roles_of(program).matrices
    clients = len(c.hessian)
    if not matrices or clients < 2:
        return
    for left_out in range(clients):
        keep = [n for n in range(clients) if n != left_out]
        size = len(keep)
        network = [[(1 - SHARE if i == j else F(0)) + SHARE / size for j in range(size)] for i in range(size)]
        values = {
            name: network if name in matrices else [v[n] for n in keep] if isinstance(v, list) else v
            for name, v in c.values.items()
        }
        if "rho" in values and size > 1:
            values["rho"] = 1 - SHARE
        yield replace(c, hessian=c.hessian[keep], linear=c.linear[keep], values=values)
