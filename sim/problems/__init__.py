"""Federated problems: quadratics in general, least squares, generators with prescribed constants, data.

The functions `quadratic` and `rand_hie` hide the modules of the same name as attributes of this package; import from
the modules by ``from sim.problems.quadratic import ...``.
"""

from __future__ import annotations

from sim.problems.generators import from_samples, least_squares, quadratic, scalar
from sim.problems.quadratic import Quadratic
from sim.problems.rand_hie import rand_hie

__all__ = ["Quadratic", "from_samples", "least_squares", "quadratic", "rand_hie", "scalar"]
