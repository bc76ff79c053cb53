"""Scalar instances that the claims about rounds of FedMIM are held against, in the SPEC of `inertial_scenario`.

A grid that knows nothing of the claims, and `given`, which somebody made for one of them.

Samples of a client have the same curvature, so that the variance of a sampled gradient is the same everywhere, as
Assumption 3 asks for; without curvature in any client, gradients are bounded, and B may be below 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from validate.scenario import Spec

Client = dict[str, Any]
Lags = tuple[tuple[str, ...], tuple[str, ...]]


def clients(h: Sequence[str], b: Sequence[str] | None = None, spread: str | None = None) -> list[Client]:
    """Clients of curvatures h and linear terms b (0 by default), with samples that pull `spread` to either side."""
    own = b or ["0"] * len(h)
    if spread is None:
        return [{"h": x, "b": y} for x, y in zip(h, own, strict=True)]
    return [{"h": [x, x], "b": [f"{y}", spread]} for x, y in zip(h, own, strict=True)]


POPULATIONS: tuple[list[Client], ...] = (
    clients(["1"]),
    clients(["1"], ["-1"], spread="1"),
    clients(["1", "1"], ["1", "-1"]),
    clients(["1", "1/2"]),
    clients(["1", "1/2", "1/5"], ["-3/10", "1/10", "1/5"]),
    clients(["1", "-1/5", "2/5", "3/10"]),
    clients(["1", "-9/10"]),
    clients(["1", "3/10"], ["1", "-1/2"], spread="2"),
    clients(["5", "0", "0", "0", "0"]),
    clients(["0", "0"], ["1", "0"]),
    clients(["0", "0", "0"], ["1", "-1", "1"], spread="-1"),
    clients(["2", "2", "2"], ["1", "0", "-3"], spread="1"),
)
STEPS = ("1/1024", "1/256", "1/64", "1/16", "1/4", "1", "4")
LOCAL_STEPS = (1, 2, 5)
LAGS: tuple[Lags, ...] = (
    ((), ()),
    (("1/2",), ()),
    (("3/5", "3/10"), ("1/2", "1/4")),
    ((), ("1/2",)),
    (("1/10",), ("1/5",)),
)
ROUNDS = (3, 1, 8)
STARTS = ("1", "-3", "0")
# theorem-iv1-eq7: h = 1 and -1, so many of each, one client a round, the longest step; local steps, rounds
OPPOSITE = ((6, 5, 1, "3/16", 60), (4, 3, 2, "3/32", 40), (4, 3, 3, "1/16", 39), (7, 5, 8, "3/128", 33))
# Runs that are long: their local steps, steps times local steps, rounds; claims about the end of a run may ask for
# eta_l >= 1/(mu lambda K T).
LONG_LOCAL_STEPS = (1, 2)
LONG_STEPS = (80, 128)  # 1/(K eta_l)
LONG_ROUNDS = (600, 400)
LONG_POPULATIONS = (clients(["1"]), clients(["1", "1"], ["1/10", "-1/10"]))


def instances(quick: bool = False) -> Iterator[Spec]:
    """SPEC dictionaries: long runs, then three fifths of a grid, a fifth when `quick`."""
    yield from long_runs(quick)
    for i, population in enumerate(POPULATIONS):
        for j, step in enumerate(STEPS):
            for k, local_steps in enumerate(LOCAL_STEPS):
                for n, lags in enumerate(LAGS):
                    turn = i + j + k + n
                    if turn % len(LAGS) >= (1 if quick else 3):
                        continue
                    # the other settings take turns, so that each meets many of the others
                    size = 1 + (turn + j) % len(population)
                    rounds, start = ROUNDS[(i + j + n) % 3], STARTS[(j + k) % 3 if i else 0]
                    yield _spec(population, size, local_steps, step, rounds, lags, start)


def long_runs(quick: bool = False) -> Iterator[Spec]:
    """A small grid of runs of many rounds, with and without inertia; half of it when `quick`."""
    for local_steps in LONG_LOCAL_STEPS:
        for inverse in LONG_STEPS:
            for rounds in LONG_ROUNDS[:1] if quick else LONG_ROUNDS:
                for lags in LAGS[:2]:
                    for population in LONG_POPULATIONS:
                        yield _spec(population, 1, local_steps, f"1/{inverse * local_steps}", rounds, lags)


def given() -> Iterator[Spec]:
    """Instances that were made by hand for a claim; they are tried last, and are no support."""
    for up, down, local_steps, step, rounds in OPPOSITE:
        yield _spec(clients(["1"] * up + ["-1"] * down), 1, local_steps, step, rounds)
    for rounds in (109, 220):
        yield _spec(clients(["1", "-9/10"]), 1, 1, "3/16", rounds)
    yield _spec(clients(["1"]), 1, 1, "3", 2)
    yield _spec(clients(["1"]), 1, 2, "4", 1)
    for count, local_steps in ((5, 2), (9, 2), (25, 1)):
        # one client has all the curvature; a step that hardly moves
        yield _spec(clients([str(count), *["0"] * (count - 1)]), 1, local_steps, "1/100000", 1)
    yield _spec(clients(["0"] * 10, ["1"] * 10), 9, 1, "1/100", 1)
    yield _spec(clients(["0", "0"], ["1", "-1"]), 1, 1, "1", 1, start="0")


def _spec(
    population: list[Client],
    size: int,
    local_steps: int,
    step: str,
    rounds: int,
    lags: Lags = ((), ()),
    start: str = "1",
) -> Spec:
    alpha, beta = (list(weights) for weights in lags)
    settings = {"S": size, "local_steps": local_steps, "step": step, "alpha": alpha, "beta": beta}
    return {"algorithm": "fedmim", "clients": population, **settings, "x0": start, "K": rounds}
