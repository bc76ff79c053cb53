"""Functions of hinges in slanted directions in floats, held against the same ones in fractions."""

from fractions import Fraction as F

import numpy as np

from theory.arithmetic import to_element
from theory.operations import operations
from validate.batch.many import Many, values_of
from validate.batch.slanted import _Slanted
from validate.instances.pieces import Piecewise
from validate.instances.ridge_functions import RidgeFunction
from validate.instances.ridges import Ridges


def test_gradients_and_values_are_those_of_exact_functions() -> None:
    rng = np.random.default_rng(0)
    N, J, d, B = 2, 3, 2, 20
    a, b, tilt, x = (rng.integers(-8, 9, shape) / 4 + 1 / 64 for shape in ((N, J, d, B), (N, J, B), (N, d, B), (d, B)))
    tilt -= tilt.mean(axis=0)
    many = _Slanted(a, b, tilt, 0.25, 2.0)
    point = tuple(map(Many, x))
    for i in range(B):
        functions = []
        for n in range(N):
            terms = [(tuple(map(F, a[n, j, :, i])), Piecewise((-F(b[n, j, i]),), (F(0), F(2)))) for j in range(J)] + [
                ((F(1), F(0)), Piecewise((), (F(1, 2),))),
                ((F(0), F(1)), Piecewise((), (F(1, 2),))),
            ]
            functions.append((RidgeFunction(tuple(terms), tuple(2 * F(t) for t in tilt[n, :, i])),))
        exact = Ridges(tuple(functions))
        at = tuple(to_element(F(y)) for y in x[:, i])
        for which in ((), (0,), (1, 0)):
            gradient = [float(g) for g in exact.gradient(at, *which)]
            assert np.allclose([values_of(g)[i] for g in many.gradient(point, *which)], gradient)
            assert np.isclose(values_of(many.value(point, *which))[i], float(exact.value(at, *which)))


def test_a_sum_of_products_knows_its_terms() -> None:
    one, two = (Many(np.array(values)) for values in ([3.0, 1.0], [2.0, -1.0]))
    assert (one - two).terms is None
    product = one * two - two * two
    assert product.values.tolist() == [2.0, -2.0]
    assert product.size.tolist() == [10.0, 2.0]
    numbers = operations(4096, False)
    half = to_element(F(1, 2))
    assert numbers["*"](half, product).size.tolist() == [5.0, 1.0]
    assert numbers["max"](one, to_element(F(2))).values.tolist() == [3.0, 2.0]
    assert numbers["**"](two, to_element(F(2))).size.tolist() == [4.0, 1.0]
