"""Instances at random, and instances near a given one: probes that know nothing of any claim.

They have the algorithm and the rules of a paper's own instances, and numbers of their own, all rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from validate.scenario import Spec, rational

if TYPE_CHECKING:
    import numpy as np

COUNTS = ("S", "M", "local_steps")
MOST_CLIENTS = 4
MOST_SAMPLES = 16
MOST_ROUNDS = 8
MOST_STEPS = 128  # local steps of a round
LARGEST_DENOMINATOR = 64
_CHANCES = ("1", "1", "3/4", "1/2", "1/2", "1/4", "1/10", "9/10")
_FACTORS = (Fraction(1, 2), Fraction(3, 4), Fraction(7, 8), Fraction(8, 7), Fraction(4, 3), Fraction(2))
_SHIFTS = (Fraction(-1), Fraction(-1, 4), Fraction(1, 4), Fraction(1))


def at_random(templates: Sequence[Spec], rng: np.random.Generator) -> Spec:
    """A scalar instance of the kind of the templates, with numbers drawn anew.

    Args:
        templates: instances of the paper; one, drawn at random, gives algorithm, rules and the size of its counts.
        rng: where the numbers come from.

    Raises:
        ValueError: for no template.
    """
    if not templates:
        raise ValueError("templates is empty: there is no instance to take the algorithm from")
    template = templates[int(rng.integers(len(templates)))]
    clients = int(rng.choice((1, 1, 2, 2, 3, 4)))
    samples = int(rng.choice((1, 1, 2, 2, 3, 4, 8)))
    alike_h, alike_a, alike_p = (bool(rng.random() < 0.4) for _ in range(3))
    flat, centred = bool(rng.random() < 0.2), bool(rng.random() < 0.3)
    concave = bool(rng.random() < 0.1)
    drawn: list[dict[str, Any]] = []
    for _ in range(clients):
        h = [str(_positive(rng)) for _ in range(samples)]
        if alike_h:
            h = [h[0]] * samples
        if flat and samples > 1:
            h = [h[0]] + ["0"] * (samples - 1)
        if concave and samples > 1:
            h[-1] = str(-_positive(rng) / 4)
        a = ["0"] * samples if centred else [str(_signed(rng)) for _ in range(samples)]
        drawn.append({"h": h, "a": a, "p": str(rng.choice(_CHANCES))})
    for client in drawn[1:]:
        if alike_h:
            client["h"] = drawn[0]["h"]
        if alike_a:
            client["a"] = drawn[0]["a"]
        if alike_p:
            client["p"] = drawn[0]["p"]
    top = max(sum((Fraction(h) for h in c["h"]), Fraction(0)) / samples for c in drawn)
    product = Fraction(int(rng.integers(1, 33)), int(rng.choice((8, 16, 32, 64, 128))))
    spec: dict[str, Any] = {**template, "clients": drawn, "step": _text(product / top if top > 0 else product)}
    spec["K"] = int(rng.integers(1, MOST_ROUNDS + 1)) if rng.random() < 0.7 else 1
    for key in COUNTS:
        if key in template:
            spec[key] = _count(int(template[key]) * float(rng.choice((0.5, 0.75, 1, 1, 1.5, 2))), MOST_STEPS)
    spec["theta0"] = str(rng.choice(("0", "1", "-1", "2", "1/2"))) if rng.random() < 0.6 else _text(_signed(rng))
    return _bounded(spec)


def varied(spec: Spec, rng: np.random.Generator) -> Spec:
    """An instance that differs from a given one in one or two numbers, a client or a sample."""
    changed: dict[str, Any] = {**spec, "clients": [_client(c) for c in spec["clients"]]}
    for _ in range(int(rng.integers(1, 3))):
        _vary(changed, rng)
    return _bounded(changed)


def _vary(spec: dict[str, Any], rng: np.random.Generator) -> None:
    clients = spec["clients"]
    client = clients[int(rng.integers(len(clients)))]
    samples = len(client["h"])
    i = int(rng.integers(samples))
    what = str(rng.choice(("step", "start", "h", "a", "p", "rounds", "count", "count", "client", "sample", "scale")))
    if what == "step" and not isinstance(spec["step"], list):
        spec["step"] = _text(rational(spec["step"], "step") * _pick(_FACTORS, rng))
    elif what == "start":
        spec["theta0"] = _text(_near(spec["theta0"], rng))
    elif what == "h":
        client["h"][i] = _text(rational(client["h"][i], "h") * _pick(_FACTORS, rng))
    elif what == "scale":  # a whole client, more or less curved
        factor = _pick(_FACTORS, rng)
        client["h"] = [_text(rational(h, "h") * factor) for h in client["h"]]
    elif what == "a":
        client["a"][i] = _text(_near(client["a"][i], rng))
    elif what == "p" and not isinstance(client["p"], list):
        moved = rational(client["p"], "p") * _pick(_FACTORS, rng)
        client["p"] = _text(min(Fraction(1), max(Fraction(1, 64), moved)))
    elif what == "rounds" and not isinstance(spec["step"], list):
        spec["K"] = _count(int(spec["K"]) + int(rng.choice((-1, 1, 2))), MOST_ROUNDS)
    elif what == "count":
        key = str(rng.choice([key for key in COUNTS if key in spec]))
        moved_by = int(rng.choice((-1, 1)))
        value = int(spec[key]) + moved_by if rng.random() < 0.5 else int(spec[key]) * 2.0**moved_by
        spec[key] = _count(value, MOST_STEPS)
    elif what == "client":
        _vary_clients(clients, client, rng)
    elif what == "sample" and (samples > 1 or rng.random() < 0.5):
        if samples > 1 and rng.random() < 0.5:
            del client["h"][i], client["a"][i]
        elif samples < MOST_SAMPLES:
            client["h"].append(client["h"][i])
            client["a"].append(_text(_near(client["a"][i], rng)))


def _vary_clients(clients: list[dict[str, Any]], client: dict[str, Any], rng: np.random.Generator) -> None:
    """One client less, one more, or one that becomes like another."""
    draw = rng.random()
    if draw < 0.4 and len(clients) > 1:
        clients.remove(client)
    elif draw < 0.7 and len(clients) < MOST_CLIENTS:
        clients.append({**_client(client), "a": [_text(_near(a, rng)) for a in client["a"]]})
    else:
        other = _client(clients[int(rng.integers(len(clients)))])
        clients[clients.index(client)] = other


def _client(client: Spec) -> dict[str, Any]:
    """A copy with lists of samples."""
    h, a = (list(v) if isinstance(v, list | tuple) else [v] for v in (client["h"], client["a"]))
    return {"h": h, "a": a, "p": client.get("p", "1")}


def _bounded(spec: dict[str, Any]) -> Spec:
    """Not so many local steps that an exact evaluation takes long."""
    keys = [key for key in COUNTS if key in spec]
    while keys:
        total = 1
        for key in keys:
            total *= int(spec[key])
        if total <= MOST_STEPS:
            break
        largest = max(keys, key=lambda key: int(spec[key]))
        spec[largest] = max(1, int(spec[largest]) // 2)
    return spec


def _count(value: float, most: int) -> int:
    return min(most, max(1, round(value)))


def _positive(rng: np.random.Generator) -> Fraction:
    return Fraction(int(rng.integers(1, 9)), int(rng.choice((1, 2, 4, 8))))


def _signed(rng: np.random.Generator) -> Fraction:
    return Fraction(int(rng.integers(-8, 9)), int(rng.choice((1, 2, 3, 4))))


def _near(value: Any, rng: np.random.Generator) -> Fraction:
    number = rational(value, "number")
    if rng.random() < 0.15:
        return Fraction(0)
    return number * _pick(_FACTORS, rng) if rng.random() < 0.5 else number + _pick(_SHIFTS, rng)


def _pick(values: Sequence[Fraction], rng: np.random.Generator) -> Fraction:
    return values[int(rng.integers(len(values)))]


def _text(value: Fraction) -> str:
    """With a short denominator; never 0 for a number that is not."""
    short = value.limit_denominator(LARGEST_DENOMINATOR)
    return str(short if short or not value else Fraction(1 if value > 0 else -1, LARGEST_DENOMINATOR))
