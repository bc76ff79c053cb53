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


@dataclass(frozen=True)
class BoundedVariance(Assumption):
    """The variance of a sampled gradient about the client's gradient is at most `constant` squared."""

    constant: str = "sigma"

    def describe(self) -> str:
        return f"E||g - grad f_n(x)||^2 <= {self.constant}^2 for a sampled gradient g at x"


@dataclass(frozen=True)
class BoundedStochasticGradient(Assumption):
    """The norm of every sampled gradient is at most `constant`, at the points that `at` names."""

    constant: str = "sigma"
    at: Literal["iterates", "ball", "everywhere"] = "iterates"

    def describe(self) -> str:
        where = {"iterates": "at the iterates", "ball": "in the ball of radius R", "everywhere": "at every x in R^d"}
        return f"||g|| <= {self.constant} for every sampled gradient g, {where[self.at]}"


@dataclass(frozen=True)
class MinimisersInBall(Assumption):
    """Every client's function has its minimiser within distance `constant` of the origin."""

    constant: str = "r"

    def describe(self) -> str:
        return f"||x_n*|| <= {self.constant} for the minimiser x_n* of every client's function"


@dataclass(frozen=True)
class ShortStep(Assumption):
    """The step size is positive and at most one over the smoothness constant."""

    smoothness: str = "L"

    def describe(self) -> str:
        return f"the step size is in (0, 1/{self.smoothness}]"


@dataclass(frozen=True)
class HalfStep(Assumption):
    """The step size is positive and at most half of one over the smoothness constant."""

    smoothness: str = "L"

    def describe(self) -> str:
        return f"the step size is in (0, 1/(2{self.smoothness})]"


@dataclass(frozen=True)
class VarianceAtMost(Assumption):
    """The variance of a sampled gradient about the client's gradient is at most `constant` (a square, as delta2 is)."""

    constant: str = "delta2"
    at: Literal["domain", "iterates"] = "domain"

    def describe(self) -> str:
        where = {"domain": "w in W", "iterates": "every iterate w, local ones included"}
        return f"E||g - grad f_n(w)||^2 <= {self.constant} for a sampled gradient g at {where[self.at]}"


@dataclass(frozen=True)
class BoundedDomain(Assumption):
    """Models are kept in a convex set W of diameter at most `constant`."""

    constant: str = "D"

    def describe(self) -> str:
        return f"W is convex and ||w - w'|| <= {self.constant} for w, w' in W"


@dataclass(frozen=True)
class BoundedGradient(Assumption):
    """The norm of every client's gradient is at most `constant` on W."""

    constant: str = "G"

    def describe(self) -> str:
        return f"||grad f_n(w)|| <= {self.constant} for every client and every w in W"


@dataclass(frozen=True)
class BoundedDissimilarity(Assumption):
    """The squared distance of a client's gradient from the average gradient is at most `constant` (a square)."""

    constant: str = "zeta"
    at: Literal["domain", "iterates"] = "domain"

    def describe(self) -> str:
        where = {"domain": "w in W", "iterates": "every iterate w, local ones included"}
        return f"||grad f_n(w) - grad F(w)||^2 <= {self.constant} for every client and {where[self.at]}"


@dataclass(frozen=True)
class InteriorMinimiser(Assumption):
    """The minimiser over W of the function of that name is a stationary point: W does not bind there."""

    function: str = "F"

    def describe(self) -> str:
        return f"grad {self.function}(w*) = 0 for the minimiser w* of {self.function} over W"


@dataclass(frozen=True)
class RelativeDissimilarity(Assumption):
    """The clients' gradients are bounded in mean square by `constant` and `relative`, both printed without squares."""

    constant: str = "G"
    relative: str = "B"

    def describe(self) -> str:
        bound = f"{self.constant}^2 + {self.relative}^2 ||grad f(x)||^2"
        return f"the mean over the clients of ||grad f_n(x)||^2 is at most {bound} at every x"


@dataclass(frozen=True)
class PolyakLojasiewicz(Assumption):
    """The Polyak-Lojasiewicz inequality with `constant`, of the average f of the clients' functions."""

    constant: str = "mu"

    def describe(self) -> str:
        return f"||grad f(x)||^2 / 2 >= {self.constant} (f(x) - f_*) at every x"


@dataclass(frozen=True)
class UniformParticipation(Assumption):
    """S of the N clients take part in a round, uniformly without replacement."""

    def describe(self) -> str:
        return "S of the N clients take part, uniformly without replacement, independent of the sampling"


@dataclass(frozen=True)
class BoundedAverageStep(Assumption):
    """The second moment of dtilde_t, the scaled average step of a round, is at most `step` squared times `constant`."""

    constant: str = "C"
    step: str = "eta_l"

    def describe(self) -> str:
        return f"E||dtilde_t||^2 <= {self.step}^2 {self.constant} in every round of the run"


@dataclass(frozen=True)
class BoundedBelow(Assumption):
    """The average of the clients' functions is bounded below."""

    def describe(self) -> str:
        return "f is bounded below: f_* is finite"
