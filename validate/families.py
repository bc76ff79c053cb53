"""Families of quadratics from extreme to extreme, for pools: many clients, ill conditioned, with noise and without.

Every number is a power of two or a small multiple of one wherever that is possible, so that constants measured in
float64 are the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from sim.problems import Quadratic, from_samples
from validate.scenario import fraction_text

Level = TypeVar("Level")


@dataclass(frozen=True)
class Levels:
    """One choice of everything that a pool varies.

    Attributes:
        clients: N.
        dim: d.
        samples: of a client, 1 without noise.
        kappa: L/mu of the clients' Hessians.
        L: their largest curvature.
        apart: how far the clients' linear terms are from those of clients alike; 0 for one minimiser.
        noise: of a sampled gradient; 0 without.
        alike: whether all clients have the same Hessian.
        spiky: whether a client's curvature is all in one of its samples.
        local_steps: of a client in a round.
        rounds: of the run.
        start: "at" the minimiser, "flat" (off it along the least curvature), "steep", or "off" it in any direction.
        share: of the longest step that the hypotheses allow.
        turn: another number, for what else is to vary.
    """

    clients: int
    dim: int
    samples: int
    kappa: int
    L: float
    apart: float
    noise: float
    alike: bool
    spiky: bool
    local_steps: int
    rounds: int
    start: str
    share: float
    turn: int


CLIENTS = (1, 2, 3, 5, 20, 100, 100)
DIMS = (1, 2, 3)
KAPPAS = (1, 2, 16, 1000)
SMOOTHNESS = (1.0, 1.0, 4.0, 0.25)
APART = (0.0, 0.0, 1.0, 8.0)
NOISE = (0.0, 1.0, 4.0)
LOCAL_STEPS = (1, 1, 2, 5, 10, 50)
ROUNDS = (1, 3, 10, 40)
LONG = 1200  # rounds times local steps times the square root of the clients, at most
STARTS = ("at", "flat", "steep", "off")
SHARES = (1.0, 1.0, 0.1)
UNITS = (Fraction(1), Fraction(1, 1024))
"""Of length: a claim with a slip in its units, a square too many, say, is broken in some of them only."""


def levels(seed: int, **fixed: tuple[Any, ...]) -> Iterator[Levels]:
    """Choices without end, each level drawn for itself; `fixed` has other levels for some of them, by name."""
    rng = np.random.default_rng([20250305, seed])

    def one(name: str, several: tuple[Level, ...]) -> Level:
        among = fixed.get(name, several)
        found: Level = among[int(rng.integers(len(among)))]
        return found

    while True:
        noise, clients = one("noise", NOISE), one("clients", CLIENTS)
        made = Levels(
            clients=clients,
            dim=one("dim", DIMS),
            samples=1 if noise == 0 else one("samples", (2, 2, 4)),
            kappa=one("kappa", KAPPAS),
            L=one("L", SMOOTHNESS),
            apart=one("apart", APART) if clients > 1 else 0.0,
            noise=noise,
            alike=one("alike", (True, False)),
            spiky=one("spiky", (False, False, False, True)),
            local_steps=one("local_steps", LOCAL_STEPS),
            rounds=one("rounds", ROUNDS),
            start=one("start", STARTS),
            share=one("share", SHARES),
            turn=int(rng.integers(1 << 30)),
        )
        longest = max(1, int(LONG / (made.local_steps * made.clients**0.5)))
        yield made if made.rounds <= longest else replace(made, rounds=longest)


def in_units(clients: Sequence[Mapping[str, Any]], length: Fraction) -> list[dict[str, Any]]:
    """Scalar clients of a SPEC (``h``, ``a``), their centres in another unit of length."""
    return [{**client, "a": [fraction_text(Fraction(a) * length) for a in client["a"]]} for client in clients]


def curvatures(of: Levels) -> np.ndarray:
    """(N, d): the diagonals of the clients' Hessians; L and L/kappa are among the first client's where d >= 2."""
    rng = np.random.default_rng(of.turn)
    ends = np.array([of.L, of.L / of.kappa])
    found = rng.choice([*ends, of.L / of.kappa**0.5], size=(of.clients, of.dim))
    found[0] = ends[np.arange(of.dim) % 2]
    if of.dim == 1 and of.clients > 1 and not of.alike:
        found[1:, 0] = of.L / of.kappa
    if of.clients > 2 and not of.alike and of.turn // 128 % 2:  # curvature goes with the side of the linear term
        found[::2], found[1::2] = of.L, of.L / of.kappa
    return np.repeat(found[:1], of.clients, axis=0) if of.alike else found


def slopes(of: Levels) -> np.ndarray:
    """(N, n, d): the linear terms of the samples; the clients' have mean 0, and so have the samples' about them."""
    rng = np.random.default_rng([of.turn, 1])
    sides = np.where(np.arange(of.clients) % 2 == 0, 1.0, -1.0)
    if of.clients % 2:
        sides[-1] = 0.0
    own = of.apart * sides[:, None] * rng.choice([0.5, 1.0], size=of.dim)
    around = np.where(np.arange(of.samples) % 2 == 0, 1.0, -1.0) * of.noise
    return np.asarray(own[:, None, :] + around[None, :, None] * np.ones(of.dim))


def problem(of: Levels) -> Quadratic:
    """The clients, in float64: sample i of client n is x'Hx/2 - b'x with the diagonal Hessian of its client.

    Of `spiky` ones, sample 0 has n times the client's Hessian and the others none.
    """
    diagonals, linear = curvatures(of), slopes(of)
    spread = np.ones(of.samples)
    if of.spiky:
        spread = np.where(np.arange(of.samples) == 0, float(of.samples), 0.0)
    hessians = [[np.diag(share * own) for share in spread] for own in diagonals]
    return from_samples(hessians, [list(own) for own in linear])


def usual_step(of: Levels) -> float:
    """The choice's share of 1/L, or of 1/(L H) for its H local steps."""
    return of.share / (of.L * (1 if of.turn % 2 else of.local_steps))


def away(of: Levels) -> float:
    """How far from the minimiser the run begins."""
    return 0.0 if of.start == "at" else (0.5, 3.0, 3.0, 16.0)[of.turn // 8 % 4]


def start(of: Levels, quadratic: Quadratic) -> np.ndarray:
    """(d,): where the run begins; `away` off the minimiser, but for "at"."""
    rng = np.random.default_rng([of.turn, 2])
    direction = rng.normal(size=of.dim)
    mean = np.diagonal(np.asarray(quadratic.mean_hessian, dtype=np.float64))
    if of.start in ("flat", "steep"):
        direction = np.eye(of.dim)[int(np.argmin(mean) if of.start == "flat" else np.argmax(mean))]
    return np.asarray(quadratic.minimiser + away(of) * direction / np.linalg.norm(direction))


def minimiser(clients: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """That of f, where there is one, of scalar clients as a SPEC has them (``{"h": [..], "a": [..]}``)."""
    curvature = slope = Fraction(0)
    for client in clients:
        h, a = (list(map(Fraction, client[key])) for key in ("h", "a"))
        curvature += sum(h, Fraction(0)) / len(h)
        slope += sum((x * y for x, y in zip(h, a, strict=True)), Fraction(0)) / len(h)
    if curvature > 0:
        yield fraction_text(slope / curvature)
