"""Thousands of runs of any program at once, in torch, on a CPU or a GPU.

    from sim.simulate import simulate
    result = simulate(scaffold.program, problem, {"eta": 0.1, ...}, start=[1.0, 0.0], rounds=100, runs=2000, seed=0)
    result.states["x"]  # (2000, 1, d): the server's models after the last round

Importing this package loads no torch; it is loaded when something is simulated.
"""

from sim.simulate.functions import Sample, functions_of
from sim.simulate.kept import Simulated
from sim.simulate.run import simulate

__all__ = ["Sample", "Simulated", "functions_of", "simulate"]
