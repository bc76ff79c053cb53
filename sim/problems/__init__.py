"""Federated problems: quadratics in general, least squares, logistic and softmax regression, generators, data.

The functions `quadratic` and `rand_hie` hide the modules of the same name as attributes of this package; import from
the modules by ``from sim.problems.quadratic import ...``.
"""

from __future__ import annotations

from sim.problems.generators import from_samples, least_squares, quadratic, scalar
from sim.problems.handwriting import digits
from sim.problems.label_skew import balanced_test_set, dirichlet_label_skew
from sim.problems.logistic import RidgeLogistic, ridge_logistic
from sim.problems.quadratic import Quadratic
from sim.problems.rand_hie import rand_hie, scaled_to_unit
from sim.problems.softmax import RidgeSoftmax
from sim.problems.two_populations import one_class_each, split_samples, two_population_logistic

__all__ = [
    "Quadratic",
    "RidgeLogistic",
    "RidgeSoftmax",
    "balanced_test_set",
    "digits",
    "dirichlet_label_skew",
    "from_samples",
    "least_squares",
    "one_class_each",
    "quadratic",
    "rand_hie",
    "ridge_logistic",
    "scalar",
    "scaled_to_unit",
    "split_samples",
    "two_population_logistic",
]
