"""Lemma 9 and Proposition 2 measured: vectors drawn without replacement, and products of matrices near the identity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.bounds import Cases
from validate.description import number
from validate.papers.perm.shuffling_epochs import quantile
from validate.papers.perm.shuffling_measures import CHANCES

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Vectors:
    """n vectors, in floats.

    Attributes:
        name: for the reader.
        vectors: (n, d).
    """

    name: str
    vectors: Array

    exact = False

    def description(self) -> str:
        """What they are, for a reader."""
        n, d = self.vectors.shape
        lengths = np.linalg.norm(self.vectors, axis=1)
        return f"{n} vectors, d={d}, lengths {number(lengths.min())} to {number(lengths.max())}"

    def stays_finite(self) -> bool:
        """They do."""
        return True


@dataclass(frozen=True, eq=False)
class Products:
    """Symmetric matrices A_l .. A_h and B_l .. B_h of norm at most L, and the factors a and b, in floats.

    Attributes:
        name: for the reader.
        first: (h-l+1, d, d), A.
        second: the same for B.
        a, b: >= 0.
        L: > 0.
        low: l.
    """

    name: str
    first: Array
    second: Array
    a: float
    b: float
    L: float
    low: int

    exact = False

    def description(self) -> str:
        """What they are, for a reader."""
        n, d = self.first.shape[:2]
        return f"{n} factor{'s' * (n > 1)}, d={d}, L={number(self.L)}, a={number(self.a)}, b={number(self.b)}"

    def stays_finite(self) -> bool:
        """They do."""
        return True

    def distance(self) -> float:
        """||prod (I - a A_t) - prod (I - b B_t)||."""
        one = np.eye(len(self.first[0]))
        products = []
        for factor, matrices in ((self.a, self.first), (self.b, self.second)):
            total = one
            for m in matrices:
                total = total @ (one - factor * m)
            products.append(total)
        return float(np.linalg.norm(products[0] - products[1], 2))


def tool_cases(claim: Claim, scenario: Any) -> Cases | None:
    """The two sides of Lemma 9 or of Proposition 2, or None for any other claim or scenario."""
    if claim.label == "lemma-9" and isinstance(scenario, Vectors):
        return _lemma_9(scenario.vectors)
    if claim.label.startswith("proposition-2") and isinstance(scenario, Products):
        s = scenario
        parameters = {"a": s.a, "b": s.b, "L": s.L, "l": s.low, "h": s.low + len(s.first) - 1}
        return Cases(np.array([s.distance()]), parameters, {})
    return None


def _lemma_9(g: Array) -> Cases | None:
    """Every i and p; the first i of a random order are a random subset of i."""
    total, mean = len(g), g.mean(axis=0)
    if total < 2:
        return None
    left, drawn, chances = [], [], []
    for i in range(1, total + 1):
        away = [float(np.linalg.norm(g[list(own)].mean(axis=0) - mean)) for own in combinations(range(total), i)]
        for p in CHANCES:
            left.append(quantile(away, p))
            drawn.append(i)
            chances.append(float(p))
    parameters = {"G": float(np.linalg.norm(g, axis=1).max()), "i": np.array(drawn), "n": total, "p": np.array(chances)}
    return Cases(np.array(left), parameters, {"n": np.array(drawn)})
