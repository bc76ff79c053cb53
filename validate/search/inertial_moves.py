"""Single moves from an instance of FedMIM to smaller ones, for `validate.search.moves`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from validate.scenario import Spec, fraction_text, rational
from validate.search.simple import simpler

_LAGS = ("alpha", "beta")


def negative(spec: Spec) -> int:
    """How many numbers are negative."""
    numbers = [entry for client in spec["clients"] for key in ("h", "b") for entry in client[key]]
    return sum(rational(entry, "number") < 0 for entry in [*numbers, spec["x0"]])


def structural(spec: Spec) -> Iterator[Spec]:
    """Without a client, a sample or a lag, with fewer taking part, fewer rounds or local steps."""
    clients, size = list(spec["clients"]), int(spec["S"])
    for n in range(len(clients) if len(clients) > 1 else 0):
        fewer = clients[:n] + clients[n + 1 :]
        for selected in sorted({min(size, len(fewer)), max(1, size - 1)}):
            yield {**spec, "clients": fewer, "S": selected}
    single = [{key: client[key][:1] for key in ("h", "b")} for client in clients]
    yield {**spec, "clients": single}
    for key in _LAGS:
        yield {**spec, key: []}
        yield {**spec, key: spec[key][:-1]}
    for key in ("K", "local_steps"):
        value = int(spec[key])
        for less in dict.fromkeys([1, 2, value // 4, value // 2, value * 3 // 4, value * 15 // 16, value - 1]):
            if 1 <= less < value:
                yield {**spec, key: less}
    for selected in range(1, size):
        yield {**spec, "S": selected}


def jointly(spec: Spec) -> Iterator[Spec]:
    """Several numbers at once: the same curvature or slope everywhere, the same clients, a reflection."""
    clients = spec["clients"]
    for key, value in (("b", "0"), ("h", "0"), ("h", "1")):
        yield {**spec, "clients": [{**c, key: [value] * len(c[key])} for c in clients]}
    for key in ("h", "b"):
        for old in dict.fromkeys(entry for c in clients for entry in c[key]):
            for new in simpler(rational(old, key)):
                yield _replaced(spec, key, old, fraction_text(new))
    for unit in dict.fromkeys(abs(rational(h, "h")) for c in clients for h in c["h"]):
        if unit not in (0, 1):
            step = rational(spec["step"], "step") * unit
            yield {**_mapped(spec, "h", lambda h, u=unit: h / u), "step": fraction_text(step)}
    start = rational(spec["x0"], "x0")
    for unit in dict.fromkeys([start, Fraction(-1)]):
        if unit not in (0, 1):
            yield {**_mapped(spec, "b", lambda b, u=unit: b / u), "x0": fraction_text(start / unit)}


def numbers(spec: Spec) -> Iterator[Spec]:
    """Each number by itself made simpler."""
    clients = spec["clients"]
    for n, client in enumerate(clients):
        for key in ("h", "b"):
            values = [rational(entry, key) for entry in client[key]]
            for i, value in enumerate(values):
                for new in simpler(value):
                    # Samples keep the same curvature: the noise is then the same everywhere.
                    changed = [new] * len(values) if key == "h" else [*values[:i], new, *values[i + 1 :]]
                    own = {**client, key: [fraction_text(v) for v in changed]}
                    yield {**spec, "clients": [*clients[:n], own, *clients[n + 1 :]]}
    for key in _LAGS:
        for j, weight in enumerate(spec[key]):
            for new in simpler(rational(weight, key)):
                weights = [*spec[key][:j], fraction_text(new), *spec[key][j + 1 :]]
                if new >= 0 and (key == "beta" or sum(rational(w, key) for w in weights) < 1):
                    yield {**spec, key: weights}
    for new in simpler(rational(spec["step"], "step")):
        if new > 0:
            yield {**spec, "step": fraction_text(new)}
    for new in simpler(rational(spec["x0"], "x0")):
        yield {**spec, "x0": fraction_text(new)}


STAGES = (structural, jointly, numbers)


def _replaced(spec: Spec, key: str, old: str, new: str) -> dict[str, Any]:
    """One value in all clients that have it."""
    swapped = [{**c, key: [new if entry == old else entry for entry in c[key]]} for c in spec["clients"]]
    return {**spec, "clients": swapped}


def _mapped(spec: Spec, key: str, change: Callable[..., Fraction]) -> dict[str, Any]:
    return {
        **spec,
        "clients": [{**c, key: [fraction_text(change(rational(v, key))) for v in c[key]]} for c in spec["clients"]],
    }
