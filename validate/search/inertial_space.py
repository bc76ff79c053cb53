"""What a search may choose for FedMIM: structures, and for each a box of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from theory.claim import Claim
from validate.inertial_scenario import ALGORITHM
from validate.scenario import Spec, fraction_text
from validate.search.inertial_recursion import Batch, Played, scenarios
from validate.search.simple import TOLERANCES, simplest_near
from validate.search.space import EXACT_STEPS, Point, Shape

Terms = Literal["both", "curvature", "slope"]

# L is the unit of curvature throughout; steps are given in units of 1/(K L).
STEPS = (3e-4, 4.0)
SLOPES = (-1.0, 1.0)
NOISE = 1.0
STARTS = (-2.0, 2.0)
MOST_INERTIA = 0.95
"""Of the sum of alpha, and of each beta."""


@dataclass(frozen=True, order=True)
class InertialStructure(Shape):
    """Everything about a scalar instance of FedMIM that is not a number to be tuned.

    Attributes:
        copies: how often each of the different clients occurs; N is the sum.
        selected: S in 1..N.
        local_steps: K >= 1.
        rounds: T >= 1.
        lags: J >= 0 of alpha and beta.
        terms: of the clients' functions h/2 x^2 - b x: "both"; only their "curvature", so that all have the minimiser
            0; or only their "slope": linear functions, the only quadratics whose dissimilarity (G, B) may have B < 1.
        samples: 1, or 2 of equal curvature: noise with the same variance everywhere.
        units: of curvature, L, and of length.
    """

    copies: tuple[int, ...] = (1,)
    selected: int = 1
    local_steps: int = 1
    rounds: int = 1
    lags: int = 0
    terms: Terms = "both"
    samples: int = 1
    units: tuple[float, float] = (1.0, 1.0)
    stationary: ClassVar[bool] = False  # type: ignore[misc]
    probes: ClassVar[int] = 24

    def __post_init__(self) -> None:
        if not self.copies or not all(type(c) is int and c >= 1 for c in self.copies):
            raise ValueError(f"copies={self.copies!r} is not a tuple of integers in [1, inf), at least one")
        ranges = {
            "selected": (1, self.clients),
            "local_steps": (1, None),
            "rounds": (1, None),
            "lags": (0, None),
            "samples": (1, 2),
        }
        for name, (least, most) in ranges.items():
            value = getattr(self, name)
            if type(value) is not int or value < least or (most is not None and value > most):
                top = "inf)" if most is None else f"{most}]"
                raise ValueError(f"{name}={value!r} is outside the integers in [{least}, {top}")
        if self.terms not in get_args(Terms):
            raise ValueError(f"terms={self.terms!r} is not one of {list(get_args(Terms))}")

    @property
    def clients(self) -> int:
        """N."""
        return sum(self.copies)

    @property
    def least_curvature(self) -> float:
        """See `Shape.least_curvature`."""
        return 0.0

    def in_units(self, curvature: float, length: float) -> InertialStructure:
        """See `Shape.in_units`."""
        return replace(self, units=(curvature, length))

    @property
    def curvatures(self) -> int:
        """See `Shape.curvatures`."""
        return 0 if self.terms == "slope" else len(self.copies)

    @property
    def work(self) -> int:
        """Numbers to tune, times local steps, and the digits of T: to the search, rounds cost next to nothing."""
        return self.dimension * self.local_steps + self.rounds.bit_length()

    @property
    def short(self) -> bool:
        """See `Shape.short`."""
        return self.clients * self.local_steps * self.rounds <= EXACT_STEPS

    @property
    def dimension(self) -> int:
        """See `Shape.dimension`."""
        own = (2 if self.terms == "both" else 1) + (self.samples - 1)
        return len(self.copies) * own + 1 + 2 * self.lags + (self.terms == "both")

    def __str__(self) -> str:
        size = f"N={self.clients} S={self.selected} K={self.local_steps} T={self.rounds} J={self.lags}"
        kinds = len(self.copies)
        same = f" of {kinds} kinds" if kinds < self.clients else ""
        return f"{ALGORITHM} {size}{same}, {self.terms}" + (", noisy" if self.samples > 1 else "")

    def decode(self, unit: Any, convex: bool) -> dict[str, Any]:
        """See `Shape.decode`.

        Returns:
            ``h``, ``b`` and ``spread`` (B, N), with the samples' slopes b + spread and b - spread; ``step`` and
            ``start`` (B,), ``alpha`` and ``beta`` (B, J).
        """
        kinds, at = len(self.copies), 0

        def take(width: int) -> Any:
            nonlocal at
            at += width
            return unit[:, at - width : at]

        h, b, spread = np.zeros((3, len(unit), kinds))
        if self.terms != "slope":
            h = take(kinds) if convex else 2 * take(kinds) - 1
            h = h / np.maximum(np.abs(h).max(axis=1, keepdims=True), 1e-9)
        if self.terms != "curvature":
            b = SLOPES[0] + (SLOPES[1] - SLOPES[0]) * take(kinds)
        if self.samples > 1:
            spread = NOISE * take(kinds)
        scaled = STEPS[0] * np.exp(float(np.log(STEPS[1] / STEPS[0])) * take(1)[:, 0])
        alpha = np.zeros((len(unit), self.lags))
        for j, share in enumerate(take(self.lags).T):
            alpha[:, j] = share * (MOST_INERTIA - alpha.sum(axis=1))
        beta = MOST_INERTIA * take(self.lags)
        start = np.full(len(unit), 0.0 if self.terms == "slope" else 1.0)
        if self.terms == "both":
            start = STARTS[0] + (STARTS[1] - STARTS[0]) * take(1)[:, 0]
        every = np.repeat(np.arange(kinds), self.copies)
        curvature, length = self.units
        return {
            "h": h[:, every] * curvature,
            "b": b[:, every] * curvature * length,
            "spread": spread[:, every] * curvature * length,
            "step": scaled / (self.local_steps * curvature),
            "alpha": alpha,
            "beta": beta,
            "start": start * length,
        }

    def specification(self, point: Point, i: int, tolerance: float | None = None) -> Spec:
        """See `Shape.specification`; the tolerance of the step is relative."""

        def near(value: float, least: int | None = None, most: Fraction | None = None, scale: float = 1.0) -> Fraction:
            if tolerance is None:
                return Fraction(float(value))
            low = None if least is None else Fraction(least)
            return simplest_near(float(value), tolerance * scale, low, most)

        clients: list[dict[str, Any]] = []
        for h, b, spread in zip(point["h"][i], point["b"][i], point["spread"][i], strict=True):
            middle, half = near(b), near(spread, 0) if self.samples > 1 else Fraction(0)
            slopes = [middle] if self.samples == 1 else [middle + half, middle - half]
            clients.append({"h": [fraction_text(near(h))] * self.samples, "b": [fraction_text(s) for s in slopes]})
        alpha: list[Fraction] = []
        for weight in point["alpha"][i]:
            alpha.append(near(weight, 0, max(Fraction(0), Fraction(99, 100) - sum(alpha))))
        step = float(point["step"][i])
        return {
            "algorithm": ALGORITHM,
            "clients": clients,
            "S": self.selected,
            "local_steps": self.local_steps,
            "step": fraction_text(max(near(step, 0, scale=step), Fraction(1, 10**6))),
            "alpha": [fraction_text(weight) for weight in alpha],
            "beta": [fraction_text(near(weight, 0)) for weight in point["beta"][i]],
            "x0": fraction_text(near(point["start"][i])),
            "K": self.rounds,
        }

    def scenarios(self, point: Point) -> list[Played]:
        """See `Shape.scenarios`."""
        return scenarios(Batch(**point, selected=self.selected, local_steps=self.local_steps, rounds=self.rounds))

    def roundings(self, point: Point, i: int) -> Iterator[Spec]:
        """See `Shape.roundings`."""
        for tolerance in TOLERANCES:
            yield self.specification(point, i, tolerance)

    def smaller(self, spec: Spec) -> list[InertialStructure]:
        """One client of a kind, lag, round or local step less than a refutation that was found in this structure."""
        kinds: dict[str, int] = {}
        for client in spec["clients"]:
            kinds[str(client)] = kinds.get(str(client), 0) + 1
        copies = tuple(kinds.values())
        lags = max(len(spec["alpha"]), len(spec["beta"]))
        now = replace(
            self,
            copies=copies,
            selected=int(spec["S"]),
            local_steps=int(spec["local_steps"]),
            rounds=int(spec["K"]),
            lags=lags,
            samples=max(len(client["h"]) for client in spec["clients"]),
        )
        less = []
        for n in range(len(copies)):
            fewer = tuple(c - (m == n) for m, c in enumerate(copies) if c > (m == n))
            if fewer:
                less.append(replace(now, copies=fewer, selected=min(now.selected, sum(fewer))))
        for rounds in (now.rounds // 2, now.rounds * 3 // 4, now.rounds - 1):
            less.append(replace(now, rounds=max(1, rounds)))
        for name, least in (("local_steps", 1), ("lags", 0), ("samples", 1)):
            less.append(replace(now, **{name: max(least, getattr(now, name) - 1)}))
        return [structure for structure in dict.fromkeys(less) if structure != now]


_SMALL = ((1,), (1, 1), (1, 1, 1))
_GROUPS = ((1, 4), (1, 11), (1, 24))
"""One client against many that are alike."""
_HALVES = ((2, 1), (4, 3), (6, 5))
"""Two groups of about the same size: the average is all but flat where they are opposite."""
_ALIKE = ((1,), (1, 1), (12,))
_LONG = 400


def structures(claim: Claim) -> list[InertialStructure]:
    """The structures that are searched unless others are given, by growing work; none knows anything of the claim.

    Many rounds are among them when the claim's right side contains T.
    """
    every = "T" in {p.name for p in claim.parameters}
    few = 6 if every else 3
    runs: tuple[tuple[int, Terms], ...] = (
        (1, "both"),
        (few, "both"),
        (1, "curvature"),
        (_LONG if every else few, "curvature"),
    )
    found = {
        InertialStructure(copies, selected, local_steps, T, 0, kind)
        for copies in (*_SMALL, *(_HALVES if every else _GROUPS))
        for selected in {1, sum(copies)}
        for local_steps in ((1, 2, 5) if copies in _SMALL else (1, 2))
        for T, kind in runs
        if T < _LONG or local_steps < 5
    }
    more: tuple[tuple[int, int, Terms], ...] = (
        (1, 1, "curvature"),
        (1, 1, "both"),
        (2, 1, "curvature"),
        (0, 2, "both"),
    )
    found |= {
        InertialStructure(copies, selected, local_steps, T, lags, kind, samples)
        for copies in _SMALL[:2]
        for selected in {1, sum(copies)}
        for local_steps in (1, 2)
        for T in (1, few)
        for lags, samples, kind in more
        if lags < T
    }
    found |= {
        InertialStructure(copies, selected, local_steps, 1, 0, "slope")
        for copies in _ALIKE
        for selected in {1, sum(copies)}
        for local_steps in (1, 2)
    }
    return sorted(found, key=lambda s: (s.work, s))
