"""Exact moments of any program that is linear given its draws, on quadratic problems: computed, not estimated.

`moments_of` carries E[yy'], y = (1, state), through the rounds; `Moments` answers for E of quadratic forms of states
and taps. Numbers are float64, or Fractions throughout when the problem is exact.

How: a draw that enters linearly needs its first two moments only; one whose effect is over is summed out at once;
clients that do not meet are independent given what they all know (`sim.moments.law`, `sim.moments.rounds`,
`sim.moments.meeting`, `sim.moments.turns`). Of `noise` only the trace of the covariance is given: the multiple of the
identity is taken.
"""

from sim.moments.results import Affine, Layout, Moments, Point
from sim.moments.runs import means_after_a_round, moments_of
from sim.moments.scalars import Schedule

__all__ = ["Affine", "Layout", "Moments", "Point", "Schedule", "means_after_a_round", "moments_of"]
