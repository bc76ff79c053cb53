"""What a search may choose for rounds of FedAvg-SVRG and local SGD: discrete structures, each with a box of numbers.

Other algorithms have spaces of their own (`validate.search.spaces`), made of other subclasses of `Shape`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, get_args

import numpy as np

from sim.participation import Aggregation
from theory.assumptions import Convex, StronglyConvex
from theory.claim import Claim
from validate.scenario import ALGORITHMS, Scenario, Spec, fraction_text
from validate.search.rounds_recursion import Batch
from validate.search.simple import TOLERANCES, simplest_near

Point = Mapping[str, Any]

# A claim whose two sides have the same units is not changed by rescaling (curvatures by c, steps by 1/c; lengths by r)
# or by moving the line, so that it does not matter in which units a structure is searched: each takes the next of
# these. A claim with a slip in its units is broken in some of them only.
UNITS = ((1.0, 1.0), (8.0, 1.0), (1.0, 1 / 8), (1 / 8, 1.0), (1.0, 8.0))
"""Of curvature and of length."""
STEPS = (0.01, 4.0)
CHANCES = (0.05, 1.0)
CENTRES = (-1.0, 1.0)
STARTS = (-2.0, 2.0)
LEAST_CURVATURE = 0.05
"""Of the most curved client: with less, the search would climb rounding errors."""
FEW_STEPS = 12
"""Up to so many inner steps, a refutation is sought with one step fewer, too."""


EXACT_STEPS = 80
"""Up to so many local steps of all clients, fractions of 53 binary digits are no burden."""


class Shape(ABC):
    """What a search needs of a structure: everything about a scalar instance that is not a number to be tuned.

    Attributes:
        rounds: how many there are.
        stationary: whether the start is the fixed point of a round, with as many rounds as a certificate may have.
        units: of curvature (one over that of steps) and of length, in which its numbers are.
        probes: how many instances are looked at to see whether a claim speaks of such instances at all.
    """

    rounds: int
    stationary: bool
    probes: ClassVar[int]

    units: tuple[float, float]

    @property
    @abstractmethod
    def least_curvature(self) -> float:
        """Of the most curved client, so that a step is a step."""

    @abstractmethod
    def in_units(self, curvature: float, length: float) -> Shape:
        """The same structure with other units."""

    @property
    @abstractmethod
    def curvatures(self) -> int:
        """How many of the numbers, the first ones, are curvatures."""

    @property
    @abstractmethod
    def work(self) -> int:
        """How long an instance takes, roughly in local steps; small structures are searched first."""

    @property
    @abstractmethod
    def short(self) -> bool:
        """Whether an instance may be measured in fractions of 53 binary digits."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers there are to tune."""

    @abstractmethod
    def decode(self, unit: Any, convex: bool) -> dict[str, Any]:
        """Points of the unit cube as numbers of instances.

        Args:
            unit: (B, `dimension`), entries in [0, 1].
            convex: whether every curvature is to be non-negative.

        Returns:
            Arrays by name, each (B, ...).
        """

    @abstractmethod
    def specification(self, point: Point, i: int, tolerance: float | None = None) -> Spec:
        """Instance i of decoded points as a SPEC of fractions.

        Args:
            point: from `decode`, numpy.
            i: which one.
            tolerance: take the simplest rational this near to each number; None keeps the floats to the last bit.
        """

    @abstractmethod
    def scenarios(self, point: Point) -> Sequence[Any]:
        """Decoded points as scenarios in floats."""

    @abstractmethod
    def roundings(self, point: Point, i: int) -> Iterator[Spec]:
        """Instance i in simple and then in ever more exact numbers."""

    def variants(self) -> Iterator[Shape]:
        """This structure, and others of its size that are tried where a claim does not speak of it."""
        yield self

    @abstractmethod
    def smaller(self, spec: Spec) -> Sequence[Shape]:
        """Structures of this class that are one smaller than a refutation that was found in this one."""


@dataclass(frozen=True, order=True)
class Structure(Shape):
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
        aggregation: "unbiased", or "normalised": the server averages over those who take part.
        alike: whether the samples of a client have the same curvature, so that their noise is the same everywhere.
        copies: whether all clients are copies of one another, as the draws of a minibatch are.
        units: of curvature and of length.
    """

    clients: int = 1
    samples: int = 1
    snapshots: int = 1
    inner: int = 1
    rounds: int = 1
    present: bool = False
    stationary: bool = False
    algorithm: str = "fedavg-svrg"
    aggregation: str = "unbiased"
    alike: bool = False
    copies: bool = False
    units: tuple[float, float] = (1.0, 1.0)
    probes: ClassVar[int] = 3

    def __post_init__(self) -> None:
        for name in ("clients", "samples", "snapshots", "inner", "rounds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={value!r} is outside the integers in [1, inf)")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm={self.algorithm!r} is not one of {sorted(ALGORITHMS)}")
        if self.algorithm == "local-sgd" and self.snapshots != 1:
            raise ValueError(f"snapshots={self.snapshots} is outside {{1}}: local SGD takes none")
        if self.aggregation not in get_args(Aggregation):
            raise ValueError(f"aggregation={self.aggregation!r} is not one of {list(get_args(Aggregation))}")
        if self.stationary and (self.samples != 1 or not self.present or self.rounds != 1):
            raise ValueError("stationary=True needs samples=1, present=True and rounds=1: nothing may be random")

    @property
    def least_curvature(self) -> float:
        """See `Shape.least_curvature`."""
        return LEAST_CURVATURE * self.units[0]

    def in_units(self, curvature: float, length: float) -> Structure:
        """See `Shape.in_units`."""
        return replace(self, units=(curvature, length))

    @property
    def curvatures(self) -> int:
        """See `Shape.curvatures`."""
        return self._kinds * (1 if self.alike else self.samples)

    @property
    def _kinds(self) -> int:
        """Clients that differ."""
        return 1 if self.copies else self.clients

    @property
    def work(self) -> int:
        """Inner steps of all clients in all rounds, times samples."""
        return self.clients * self.samples * self.snapshots * self.inner * self.rounds

    @property
    def short(self) -> bool:
        """See `Shape.short`."""
        return self.work <= EXACT_STEPS and not self.stationary

    @property
    def dimension(self) -> int:
        """How many numbers there are to tune."""
        own = self.samples + (not self.present)
        return self.curvatures + self._kinds * own + 1 + (not self.stationary)

    def __str__(self) -> str:
        kind = "" if self.algorithm == "fedavg-svrg" else f"{self.algorithm} "
        size = f"N={self.clients} n={self.samples} S={self.snapshots} M={self.inner}"
        rules = (", everybody" if self.present else "") + ("" if self.aggregation == "unbiased" else ", normalised")
        rules += ", one curvature a client" if self.alike else ""
        rules += ", copies of one client" if self.copies else ""
        return f"{kind}{size} " + ("at its fixed point" if self.stationary else f"K={self.rounds}{rules}")

    def decode(self, unit: Any, convex: bool) -> dict[str, Any]:
        """See `Shape.decode`.

        Returns:
            ``h`` and ``a`` (B, N, n), ``p`` (B, N), ``step`` and ``start`` (B,); no p when everybody is present, no
            start at a fixed point.
        """
        clients, samples = self._kinds, self.samples
        many, curved = clients * samples, self.curvatures
        # One sample may carry the curvature of all, and others may be concave, where only the average is bounded.
        one = samples == 1 or self.alike
        low, high = (0.0, 1.0) if convex else (-1.0, 1.0) if one else (-float(samples), 2.0 * samples)
        h = (low + (high - low) * unit[:, :curved]).reshape(-1, clients, 1 if self.alike else samples)
        centres = unit[:, curved : curved + many]
        point = {
            "h": np.repeat(h, samples, axis=2) if self.alike else h,
            "a": (CENTRES[0] + (CENTRES[1] - CENTRES[0]) * centres).reshape(-1, clients, samples),
            "step": STEPS[0] * np.exp(float(np.log(STEPS[1] / STEPS[0])) * unit[:, curved + many]),
        }
        at = curved + many + 1
        if not self.present:
            point["p"] = CHANCES[0] + (CHANCES[1] - CHANCES[0]) * unit[:, at : at + clients]
            at += clients
        if not self.stationary:
            point["start"] = STARTS[0] + (STARTS[1] - STARTS[0]) * unit[:, at]
        if self.copies:
            point |= {name: np.repeat(point[name], self.clients, axis=1) for name in ("h", "a", "p") if name in point}
        scales = {"h": self.units[0], "step": 1 / self.units[0], "a": self.units[1], "start": self.units[1]}
        return {name: values * scales.get(name, 1.0) for name, values in point.items()}

    def specification(self, point: Point, i: int, tolerance: float | None = None) -> Spec:
        """See `Shape.specification`; the tolerance is relative for curvatures and steps below 1."""

        def text(value: float, least: Fraction | None = None, most: Fraction | None = None, scale: float = 1.0) -> str:
            if tolerance is None:
                return fraction_text(Fraction(float(value)))
            return fraction_text(simplest_near(float(value), tolerance * min(1.0, scale), least, most))

        tiny = Fraction(1, 10**6)
        size = float(np.max(np.abs(point["h"][i])))
        clients: list[dict[str, Any]] = []
        for n in range(self.clients):
            client: dict[str, Any] = {
                "h": [text(h, scale=size) for h in point["h"][i, n]],
                "a": [text(a) for a in point["a"][i, n]],
                "p": "1" if self.present else text(point["p"][i, n], tiny, Fraction(1)),
            }
            clients.append(client)
        step = float(point["step"][i])
        own = {"local_steps": self.inner}
        if self.algorithm == "fedavg-svrg":
            own = {"S": self.snapshots, "M": self.inner}
        rules = {} if self.aggregation == "unbiased" else {"aggregation": self.aggregation}
        return {
            "algorithm": self.algorithm,
            "clients": clients,
            "step": text(step, tiny, scale=step),
            **own,
            **rules,
            "K": self.rounds,
            "theta0": "0" if self.stationary else text(point["start"][i]),
        }

    def scenarios(self, point: Point) -> Sequence[Scenario]:
        """See `Shape.scenarios`."""
        return Batch(
            h=point["h"],
            a=point["a"],
            p=point["p"] if "p" in point else np.ones(point["h"].shape[:2]),
            step=point["step"],
            start=point["start"],
            snapshots=self.snapshots,
            inner=self.inner,
            rounds=self.rounds,
            variance_reduced=self.algorithm == "fedavg-svrg",
            normalised=self.aggregation == "normalised",
        ).scenarios()

    def variants(self) -> Iterator[Structure]:
        """This structure and others of its size: a claim is searched over the first of which it speaks."""
        averages = ("unbiased",) if self.algorithm == "fedavg-svrg" or self.stationary else get_args(Aggregation)
        for present in (self.present,) if self.present else (False, True):
            for aggregation in averages if not present else averages[:1]:
                for alike in (False, True) if self.samples > 1 else (False,):
                    yield replace(self, present=present, aggregation=aggregation, alike=alike)
        if self.clients > 1 and not self.stationary:
            yield replace(self, present=True, copies=True)

    def roundings(self, point: Point, i: int) -> Iterator[Spec]:
        """Instance i, brought to unit scales, in simple and then in ever more exact numbers; then in its own units.

        A claim whose sides have not the same unit may be broken in some units only.
        """
        for moved in (normalised(point, i), {name: values[i : i + 1] for name, values in point.items()}):
            for tolerance in TOLERANCES:
                yield self.specification(moved, 0, tolerance)

    def smaller(self, spec: Spec) -> list[Structure]:
        """One client, sample, round or step less than a refutation that was found in this structure."""
        now = replace(
            self,
            clients=len(spec["clients"]),
            samples=max(len(client["h"]) for client in spec["clients"]),
            snapshots=int(spec.get("S", 1)),
            inner=int(spec["M"] if "M" in spec else spec["local_steps"]),
            rounds=int(spec["K"]),
        )
        names = ["clients", "samples", "rounds"]
        if now.snapshots * now.inner <= FEW_STEPS:
            names += ["snapshots", "inner"]
        less = [replace(now, **{name: max(1, getattr(now, name) - 1)}) for name in names]
        return [structure for structure in less if structure != now]


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


def wants_convex(claim: Claim) -> bool:
    """Whether a hypothesis makes every curvature non-negative, so that the box may be halved."""
    return any(isinstance(h.assumption, Convex | StronglyConvex) for h in claim.conditions)


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
