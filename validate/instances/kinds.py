"""The kinds of problems that can be played on exactly, and the one JSON form of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from validate.instances.pieces import Pieces
from validate.instances.points import Points
from validate.instances.problems import Problem, Quadratics
from validate.instances.ridges import Ridges

MOST_SAMPLES = 100_000  # of all clients together
KINDS: tuple[type[Quadratics] | type[Pieces] | type[Points] | type[Ridges], ...] = (Quadratics, Pieces, Points, Ridges)
"""The kinds of problems. The first whose forms all samples are written in reads them."""


def problem_of(problem: Any) -> Problem:
    """A problem to be played on, from itself or from what one is made of, such as `sim.problems.Quadratic`.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(problem, KINDS):
        return problem
    for kind in KINDS:
        if isinstance(problem, kind.made_of()):
            made: Any = problem
            return kind(made)
    raise ValueError(f"problem is a {type(problem).__name__}, and no problem that can be played on exactly")


def read_problem(data: Any) -> Problem:
    """A problem from ``{"clients": [[sample, ...], ...]}``.

    Raises:
        ValueError: for data that are no problem.
    """
    if not isinstance(data, Mapping) or set(data) != {"clients"}:
        raise ValueError(f"problem is to be {{'clients': [[sample, ...], ...]}}, not {_brief(data)}")
    clients = data["clients"]
    if not isinstance(clients, Sequence) or isinstance(clients, str) or not clients:
        raise ValueError("problem: clients is to be a list of at least one client")
    count = 0
    for n, own in enumerate(clients):
        if not isinstance(own, Sequence) or isinstance(own, str) or not own:
            raise ValueError(f"problem: clients[{n}] is to be a list of at least one sample, not {_brief(own)}")
        count += len(own)
        if count > MOST_SAMPLES:
            raise ValueError(f"problem has more than {MOST_SAMPLES} samples")
        for i, sample in enumerate(own):
            if not isinstance(sample, Mapping):
                raise ValueError(f"problem: clients[{n}][{i}] is to be a sample function, not {_brief(sample)}")
    for kind in KINDS:
        if all(kind.reads(sample) for own in clients for sample in own):
            return kind.read(clients)
    unread = (
        (n, i, s) for n, own in enumerate(clients) for i, s in enumerate(own) if not any(k.reads(s) for k in KINDS)
    )
    n, i, sample = next(unread, (0, 0, None))
    if sample is None:
        raise ValueError(
            "problem: some samples are given by points, or as ridges, and others are not; all are to be, or none"
        )
    known = "; ".join(", ".join(sorted(form)) for kind in KINDS for form in kind.FORMS)
    raise ValueError(
        f"problem: clients[{n}][{i}] has {', '.join(map(str, sample))}; a sample function has one of: {known}"
    )


def _brief(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 80 else f"{text[:77]}..."
