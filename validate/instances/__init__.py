"""Instances: a problem, an algorithm's parameters, a start and a number of rounds, in one JSON form.

from validate.instances import read_instance
instance = read_instance({"algorithm": "my.py:gd", "parameters": {"eta": "1/3"}, "problem": {"clients":
    [[{"h": 1, "b": 0}], [{"h": 2, "a": 3}]]}, "start": 1, "rounds": 4}, gd)
"""

from __future__ import annotations

from validate.instances.instance import Instance, instance_of, read_instance
from validate.instances.kinds import read_problem
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.points import Point, PointFunction, Points
from validate.instances.problems import Quadratics
from validate.instances.ridges import RidgeFunction, Ridges
from validate.instances.scalars import Schedule

__all__ = [
    "Instance",
    "Pieces",
    "Piecewise",
    "Point",
    "PointFunction",
    "Points",
    "Quadratics",
    "RidgeFunction",
    "Ridges",
    "Schedule",
    "instance_of",
    "read_instance",
    "read_problem",
]
