"""What a search may choose: discrete structures, and for each the box of numbers; and rounding to simple rationals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from typing import Any

import numpy as np

from theory.assumptions import Convex, StronglyConvex
from theory.claim import Claim
from validate.scenario import ALGORITHMS, Spec, fraction_text

Point = Mapping[str, Any]

# Rescaling (curvatures by c, steps by 1/c) and moving the line change no claim: unit scales lose only extremes.
STEPS = (0.01, 4.0)
CHANCES = (0.05, 1.0)
CENTRES = (-1.0, 1.0)
STARTS = (-2.0, 2.0)
LEAST_CURVATURE = 0.05
"""Of the most curved client: with less, steps are no steps, and the search would climb rounding errors."""

# Half-widths of the intervals in which the simplest rational is taken, from coarse to fine.
TOLERANCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-9)


@dataclass(frozen=True, order=True)
class Structure:
    """Everything about a scalar instance that is not a number to be tuned.

    Attributes:
        clients: N >= 1.
        samples: n >= 1, of every client.
        snapshots: S >= 1 (1 for local SGD).
        inner: M >= 1, inner steps a snapshot, or local steps.
        rounds: K >= 1.
        present: whether everybody takes part in every round (p = 1), so that p is not tuned.
        stationary: whether the start is the fixed point of a round, with K as large as a certificate may have it:
            the instance for claims whose right side falls with K. Needs one sample a client and `present`.
        algorithm: one of `validate.scenario.ALGORITHMS`.
    """

    clients: int = 1
    samples: int = 1
    snapshots: int = 1
    inner: int = 1
    rounds: int = 1
    present: bool = False
    stationary: bool = False
    algorithm: str = "fedavg-svrg"

    def __post_init__(self) -> None:
        for name in ("clients", "samples", "snapshots", "inner", "rounds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={value!r} is outside the integers in [1, inf)")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm={self.algorithm!r} is not one of {sorted(ALGORITHMS)}")
        if self.algorithm == "local-sgd" and self.snapshots != 1:
            raise ValueError(f"snapshots={self.snapshots} is outside {{1}}: local SGD takes none")
        if self.stationary and (self.samples != 1 or not self.present or self.rounds != 1):
            raise ValueError("stationary=True needs samples=1, present=True and rounds=1: nothing may be random")

    @property
    def work(self) -> int:
        """Inner steps of all clients in all rounds, times samples."""
        return self.clients * self.samples * self.snapshots * self.inner * self.rounds

    @property
    def dimension(self) -> int:
        """How many numbers there are to tune."""
        own = 2 * self.samples + (not self.present)
        return self.clients * own + 1 + (not self.stationary)

    def __str__(self) -> str:
        kind = "" if self.algorithm == "fedavg-svrg" else f"{self.algorithm} "
        size = f"N={self.clients} n={self.samples} S={self.snapshots} M={self.inner}"
        return f"{kind}{size} " + ("at its fixed point" if self.stationary else f"K={self.rounds}")


def structures(claim: Claim) -> list[Structure]:
    """The structures that are searched unless others are given, by growing work; none knows anything of the claim.

    Fixed points are among them when the claim's right side contains K.
    """
    found: list[Structure] = []
    for kind in ALGORITHMS:
        for clients in (1, 2, 3):
            for samples in (1, 2):
                for snapshots in (1, 2, 3, 4, 6) if kind == "fedavg-svrg" else (1,):
                    for inner in (1, 2, 3, 5, 40, 100):
                        for rounds in (1, 2, 3, 6):
                            one = Structure(clients, samples, snapshots, inner, rounds, algorithm=kind)
                            long = inner >= 40 and snapshots == 1 and clients * rounds <= (6 if samples == 1 else 2)
                            if (inner < 40 and one.work <= 12) or long:
                                found.append(one)
        if "K" in {p.name for p in claim.parameters}:
            for snapshots in (1, 3) if kind == "fedavg-svrg" else (1,):
                for inner in (1, 2, 5, 10, 40, 100) if snapshots == 1 else (2,):
                    found.append(Structure(2, 1, snapshots, inner, present=True, stationary=True, algorithm=kind))
    return sorted(found, key=lambda s: (s.work, s.algorithm, s))


def decode(structure: Structure, unit: Any, convex: bool, exp: Any = np.exp) -> dict[str, Any]:
    """Points of the unit cube as numbers of instances.

    Args:
        structure: the structure.
        unit: (B, `structure.dimension`), entries in [0, 1]; numpy or torch.
        convex: whether every curvature is to be non-negative.
        exp: the exponential that goes with `unit`.

    Returns:
        ``h`` and ``a`` (B, N, n), ``p`` (B, N), ``step`` and ``start`` (B,); no p when everybody is present, no start
        at a fixed point.
    """
    clients, samples = structure.clients, structure.samples
    many = clients * samples
    # One sample may carry the curvature of all, and others may be concave, where only the average is bounded.
    low, high = (0.0, 1.0) if convex else (-1.0, 1.0) if samples == 1 else (-float(samples), 2.0 * samples)
    point = {
        "h": (low + (high - low) * unit[:, :many]).reshape(-1, clients, samples),
        "a": (CENTRES[0] + (CENTRES[1] - CENTRES[0]) * unit[:, many : 2 * many]).reshape(-1, clients, samples),
        "step": STEPS[0] * exp(float(np.log(STEPS[1] / STEPS[0])) * unit[:, 2 * many]),
    }
    at = 2 * many + 1
    if not structure.present:
        point["p"] = CHANCES[0] + (CHANCES[1] - CHANCES[0]) * unit[:, at : at + clients]
        at += clients
    if not structure.stationary:
        point["start"] = STARTS[0] + (STARTS[1] - STARTS[0]) * unit[:, at]
    return point


def wants_convex(claim: Claim) -> bool:
    """Whether a hypothesis makes every curvature non-negative, so that the box may be halved."""
    return any(isinstance(h.assumption, Convex | StronglyConvex) for h in claim.hypotheses)


def specification(structure: Structure, point: Point, i: int, tolerance: float | None = None) -> Spec:
    """Instance i of decoded points as a SPEC of fractions.

    Args:
        structure: the structure.
        point: from `decode`, numpy.
        i: which one.
        tolerance: take the simplest rational this near to each number (relative for curvatures and steps below 1);
            None keeps the floats to the last bit.
    """

    def text(value: float, least: Fraction | None = None, most: Fraction | None = None, scale: float = 1.0) -> str:
        if tolerance is None:
            return fraction_text(Fraction(float(value)))
        return fraction_text(simplest_near(float(value), tolerance * min(1.0, scale), least, most))

    tiny = Fraction(1, 10**6)
    size = float(np.max(np.abs(point["h"][i])))
    clients: list[dict[str, Any]] = []
    for n in range(structure.clients):
        client: dict[str, Any] = {
            "h": [text(h, scale=size) for h in point["h"][i, n]],
            "a": [text(a) for a in point["a"][i, n]],
            "p": "1" if structure.present else text(point["p"][i, n], tiny, Fraction(1)),
        }
        clients.append(client)
    step = float(point["step"][i])
    own = {"local_steps": structure.inner}
    if structure.algorithm == "fedavg-svrg":
        own = {"S": structure.snapshots, "M": structure.inner}
    return {
        "algorithm": structure.algorithm,
        "clients": clients,
        "step": text(step, tiny, scale=step),
        **own,
        "K": structure.rounds,
        "theta0": "0" if structure.stationary else text(point["start"][i]),
    }


def roundings(structure: Structure, point: Point, i: int) -> Iterator[Spec]:
    """Instance i, brought to unit scales, in simple and then in ever more exact numbers."""
    moved = normalised(point, i)
    for tolerance in TOLERANCES:
        yield specification(structure, moved, 0, tolerance)


def normalised(point: Point, i: int) -> dict[str, Any]:
    """Instance i alone, its largest client curvature scaled to 1 and its first centre moved to 0; (1, ...) arrays."""
    one = {name: np.asarray(values[i : i + 1], dtype=np.float64) for name, values in point.items()}
    size = float(np.max(np.abs(one["h"].mean(axis=-1))))
    if size > 1e-6:
        one["h"], one["step"] = one["h"] / size, one["step"] * size
    origin = float(one["a"][0, 0, 0])
    one["a"] = one["a"] - origin
    spread = float(np.max(np.abs(one["a"])))
    if "start" in one:
        one["start"] = one["start"] - origin
        spread = max(spread, float(np.max(np.abs(one["start"]))))
    if spread > 1e-6:
        one["a"] = one["a"] / spread
        if "start" in one:
            one["start"] = one["start"] / spread
    return one


def simplest_near(
    value: float, tolerance: float, least: Fraction | None = None, most: Fraction | None = None
) -> Fraction:
    """The simplest rational within `tolerance` of a float, and within [least, most].

    Raises:
        ValueError: for a value that is not finite, or a negative tolerance.
    """
    if not isfinite(value):
        raise ValueError(f"value={value!r} is not a finite number")
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r} is outside [0, inf)")
    low, high = Fraction(value) - Fraction(tolerance), Fraction(value) + Fraction(tolerance)
    low = low if least is None else min(max(low, least), most if most is not None else max(low, least))
    high = high if most is None else max(min(high, most), low)
    return simplest_between(low, max(low, high))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational in [low, high] with the smallest denominator, and of those the one of smallest size.

    Walks down the continued fraction that the two ends share.

    Raises:
        ValueError: for an empty interval.
    """
    if low > high:
        raise ValueError(f"low={low} is above high={high}: nothing lies between")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = floor(low)
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
