"""The assumptions on functions, sampling and participation that papers share, as named classes.

An assumption is a statement about functions, so it cannot be decided from the numbers of a claim alone; validators
measure the constants of a concrete problem and compare. Each names the claim's parameters that hold its constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Assumption:
    """Base of the assumptions. Subclasses give `describe`."""

    def describe(self) -> str:
        """The assumption in one line of text."""
        raise TypeError("Assumption is a base class; use one of its subclasses")


@dataclass(frozen=True)
class Smooth(Assumption):
    """Gradients are Lipschitz with constant `constant`; of each client's function, each sample's, or the average."""

    constant: str = "L"
    of: Literal["client", "sample", "average"] = "client"

    def describe(self) -> str:
        return f"the gradient of every {self.of} function is {self.constant}-Lipschitz"


@dataclass(frozen=True)
class StronglyConvex(Assumption):
    """Strong convexity with modulus `constant`."""

    constant: str = "mu"
    of: Literal["client", "sample", "average"] = "client"

    def describe(self) -> str:
        return f"every {self.of} function is {self.constant}-strongly convex"


@dataclass(frozen=True)
class Convex(Assumption):
    """Convexity."""

    of: Literal["client", "sample", "average"] = "sample"

    def describe(self) -> str:
        return f"every {self.of} function is convex"


@dataclass(frozen=True)
class UnbiasedSampling(Assumption):
    """A sampled gradient has the client's gradient as its conditional expectation."""

    def describe(self) -> str:
        return "E[grad f_#(w) | w] = grad f_n(w)"


@dataclass(frozen=True)
class BoundedEstimatorSecondMoment(Assumption):
    """The second moment of the gradient estimator is at most `constant` (a square, such as G2)."""

    constant: str = "G2"

    def describe(self) -> str:
        return f"E||v||^2 <= {self.constant} for the gradient estimator v of every client, snapshot and inner step"


@dataclass(frozen=True)
class IndependentParticipation(Assumption):
    """Clients take part by independent Bernoulli draws, independent of the sampling."""

    def describe(self) -> str:
        return "1_n^k ~ Bernoulli(p_n^k), p_n^k > 0, independent over n and k and of the sampling"
