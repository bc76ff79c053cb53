"""Functions that curve against one another: what is assumed of their mean stays, and what needs more of each breaks."""

from typing import Any

import numpy as np
import pytest

from tests.rounds import local as local_descent
from theory import algorithm, claim
from theory.claim import Claim
from validate.breaks import accepted
from validate.instances.against import set_against, with_opposed_functions
from validate.instances.candidates import candidate_of
from validate.instances.pool import Drawn, drawn, fitting_sizes
from validate.instances.seen import Hunt, measured
from validate.instances.stages import Budget


@algorithm
def local_sgd(w: Any, x: Any, *, eta: Any) -> Any:
    y = w.each(x)
    for _ in w.repeat(2):
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y)


DESCENT = "f(x[k+1]) <= f(x[k]) - eta/4*norm2(grad(f, x[k])) + eta**3*H**3*L**2*max_n(norm2(grad(f_n, x[k])))"


def descent(*assumed: str, of: Any = local_descent, statement: str = DESCENT) -> Claim:
    return claim("descent", statement, of=of, assuming=assumed)


def instances(one: Claim, count: int) -> list[Drawn]:
    sizes = [size for size in fitting_sizes(one) if size.clients > 1 and size.samples > 1]
    found = (drawn(one, seed, sizes=sizes) for seed in range(200))
    return [d for d in found if d is not None and candidate_of(d).hessian is not None][:count]


def test_the_mean_stays_as_it_is() -> None:
    one = descent("smooth(f, L)", "eta <= 1/(2*L*H)")
    made = 0
    for first in instances(one, 6):
        before: Any = candidate_of(first)
        for other in set_against(one, first):
            after: Any = candidate_of(other)
            assert np.array_equal(after.hessian.mean(axis=(0, 1)), before.hessian.mean(axis=(0, 1)))
            assert np.array_equal(after.linear.mean(axis=(0, 1)), before.linear.mean(axis=(0, 1)))
            assert abs(after.hessian[0]).max() > abs(before.hessian[0]).max()
            assert other.constants["L"] <= first.constants["L"]
            made += 1
    assert made >= 12


def test_samples_stand_against_each_other_where_clients_do_not() -> None:
    one = descent("smooth(f_n, L)", of=local_sgd, statement="E(f(x[k])) <= f(x0) + L*norm2(x0)")
    made = 0
    for first in instances(one, 4):
        before: Any = candidate_of(first)
        for other in set_against(one, first):
            after: Any = candidate_of(other)
            assert np.array_equal(after.hessian.mean(axis=1), before.hessian.mean(axis=1))
            made += 1
    assert made >= 4


@pytest.mark.parametrize("assumed", ["smooth(f_ni, L)", "convex(f_ni)"])
def test_what_bounds_each_function_leaves_no_room(assumed: str) -> None:
    one = descent("smooth(f, L)", assumed)
    assert [list(set_against(one, first)) for first in instances(one, 4)] == [[]] * 4


def test_a_bound_on_drift_that_needs_each_client_smooth_breaks() -> None:
    """True with smooth(f_n, L), of which the drift in the last term is made; false of f alone."""
    for assumed, breaks in (("smooth(f, L)", True), ("smooth(f_n, L)", False)):
        one = descent(assumed, "eta <= 1/(2*L*H)")
        found = Hunt()
        found.seen = [seen for seen in (measured(one, first) for first in instances(one, 12)) if seen is not None]
        broken = [s for s in with_opposed_functions(one, found, lambda: False, Budget(None)) if s.measured.broken]
        assert bool(broken) == breaks
        assert all(accepted(one, seen, True) for seen in broken[:2])
