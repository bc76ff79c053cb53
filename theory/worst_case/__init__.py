"""The exact worst case of a method over a class of functions, proved from above and attained from below."""

from __future__ import annotations

from theory.worst_case.bound import WorstCase, unreduced, worst_case
from theory.worst_case.inputs import FedAvg, GradientDescent, StochasticGradientDescent

__all__ = ["FedAvg", "GradientDescent", "StochasticGradientDescent", "WorstCase", "unreduced", "worst_case"]
