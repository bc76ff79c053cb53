"""Clients that are the same, and samples: one free number stands for all of a kind, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from validate.batch.layout import NO, Layout
from validate.instances.candidates import Candidate


def with_kinds(layout: Layout, c: Candidate) -> Layout:
    """The layout in which clients that are the same in a candidate, and samples, stay the same.

    What they have as lists of numbers (`p_n`) is not free. A candidate whose clients all differ, and whose samples do,
    has the layout that it had.
    """
    if c.hessian is None:
        return layout
    N, n = c.hessian.shape[:2]
    clients = _firsts([_of_client(c, i) for i in range(N)])
    samples = _firsts([(c.hessian[:, i].tolist(), c.linear[:, i].tolist()) for i in range(n)])
    if clients == [*range(N)] and samples == [*range(n)]:
        return layout
    vectors = {name: v[clients] if v.ndim == 2 and len(v) == N else v for name, v in layout.vectors.items()}
    lists = {name for name, v in c.values.items() if isinstance(v, list) and len(v) == N and clients != [*range(N)]}
    values = {place: of for place, of in layout.values.items() if of[0] not in lists}
    hessian, linear = (a[clients][:, samples] if a.size else a for a in (layout.hessian, layout.linear))
    arrays = (hessian, linear, layout.centre, layout.start, *vectors.values())
    kept = np.unique(np.concatenate([*(a.ravel() for a in arrays), np.array([*values], int)]))
    kept = kept[kept != NO]
    to = np.full(layout.size + 1, NO)  # the last is that of `NO`
    to[kept] = range(len(kept))
    return replace(
        layout,
        size=len(kept),
        hessian=to[hessian],
        linear=to[linear],
        centre=to[layout.centre],
        start=to[layout.start],
        values={int(to[place]): of for place, of in values.items()},
        vectors={name: to[v] for name, v in vectors.items()},
    )


def _of_client(c: Candidate, n: int) -> Any:
    """All that one client has."""
    own = [v[n] for v in c.values.values() if isinstance(v, list) and len(v) == c.clients]
    vectors = [v[n].tolist() for v in c.vectors.values() if isinstance(v, list) and len(v) == c.clients]
    return c.hessian[n].tolist(), c.linear[n].tolist(), own, vectors


def _firsts(things: Sequence[Any]) -> list[int]:
    """For each the place of the first that is equal to it."""
    return [things.index(one) for one in things]
