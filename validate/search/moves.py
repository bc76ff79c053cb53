"""Single moves from an instance of FedAvg-SVRG or local SGD to smaller ones, and which moves an instance has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from validate.scenario import Spec, fraction_text, rational
from validate.search.simple import simpler


@dataclass(frozen=True)
class Moves:
    """How instances of an algorithm are made smaller.

    Attributes:
        stages: each gives instances one move away; tried in this order.
        negative: how many numbers of an instance are negative.
        bare: an instance without what is not free.
    """

    stages: tuple[Callable[[Spec], Iterator[Spec]], ...]
    negative: Callable[[Spec], int]
    bare: Callable[[Spec], Spec] = lambda spec: spec


def moves_of(spec: Spec, *, still: bool) -> Moves:
    """The moves of a SPEC; `still` of one at its fixed point, where the start and K are not free."""
    stages = tuple(partial(stage, still=still) for stage in (_structural, _jointly, _numbers))
    return Moves(stages, partial(_negative, still=still), _without_start if still else lambda spec: spec)


def _without_start(spec: Spec) -> Spec:
    return {**spec, "theta0": "0"}


def _negative(spec: Spec, still: bool) -> int:
    numbers = [entry for client in spec["clients"] for key in ("h", "a") for entry in client[key]]
    return sum(rational(entry, "number") < 0 for entry in [*numbers, *([] if still else [spec["theta0"]])])


def _structural(spec: Spec, still: bool) -> Iterator[Spec]:
    clients = list(spec["clients"])
    for n in range(len(clients) if len(clients) > 1 else 0):
        yield {**spec, "clients": clients[:n] + clients[n + 1 :]}
    for n, client in enumerate(clients):
        for i in range(len(client["h"]) if len(client["h"]) > 1 else 0):
            fewer = {key: client[key][:i] + client[key][i + 1 :] for key in ("h", "a")}
            yield {**spec, "clients": [*clients[:n], {**client, **fewer}, *clients[n + 1 :]]}
    for key in ("K", "S", "M", "local_steps"):
        if key in spec and not (still and key == "K"):
            for value in range(1, min(int(spec[key]), 13)):
                yield {**spec, key: value}
            for part in (4, 2):
                if int(spec[key]) // part > 12:
                    yield {**spec, key: int(spec[key]) // part}
            if int(spec[key]) > 13:
                yield {**spec, key: int(spec[key]) - 1}


def _jointly(spec: Spec, still: bool) -> Iterator[Spec]:
    """Several numbers at once: everybody present, the same centre, the same curvature, and other units."""
    clients = spec["clients"]
    for key, value in (("p", "1"), ("a", "0"), ("h", "1")):
        same = [{**c, key: value if key == "p" else [value] * len(c[key])} for c in clients]
        yield {**spec, "clients": same}
    centres = [rational(a, "a") for c in clients for a in c["a"]]
    start = rational(spec["theta0"], "theta0")
    for origin in dict.fromkeys([*centres, start]):
        yield {**_mapped(spec, "a", lambda a, o=origin: a - o), "theta0": fraction_text(start - origin)}
    for unit in dict.fromkeys(abs(x) for x in [*centres, start] if x):
        yield {**_mapped(spec, "a", lambda a, u=unit: a / u), "theta0": fraction_text(start / unit)}
    yield {**_mapped(spec, "a", lambda a: -a), "theta0": fraction_text(-start)}
    step = rational(spec["step"], "step")
    for unit in dict.fromkeys([*(abs(rational(h, "h")) for c in clients for h in c["h"]), 1 / step]):
        if unit:
            yield {**_mapped(spec, "h", lambda h, u=unit: h / u), "step": fraction_text(step * unit)}


def _mapped(spec: Spec, key: str, change: Callable[..., Fraction]) -> dict[str, Any]:
    return {
        **spec,
        "clients": [{**c, key: [fraction_text(change(rational(v, key))) for v in c[key]]} for c in spec["clients"]],
    }


def _numbers(spec: Spec, still: bool) -> Iterator[Spec]:
    """Each number by itself made simpler."""
    clients = spec["clients"]
    for n, client in enumerate(clients):
        for key in ("h", "a"):
            for i, text in enumerate(client[key]):
                for value in simpler(rational(text, key)):
                    entries = [*client[key][:i], fraction_text(value), *client[key][i + 1 :]]
                    yield {**spec, "clients": [*clients[:n], {**client, key: entries}, *clients[n + 1 :]]}
        for value in simpler(rational(client["p"], "p")):
            if 0 < value <= 1:
                yield {**spec, "clients": [*clients[:n], {**client, "p": fraction_text(value)}, *clients[n + 1 :]]}
    for value in simpler(rational(spec["step"], "step")):
        if value > 0:
            yield {**spec, "step": fraction_text(value)}
    if not still:
        for value in simpler(rational(spec["theta0"], "theta0")):
            yield {**spec, "theta0": fraction_text(value)}
