"""Law 6, of long runs: a sentence about rounds far apart is never supported, as runs may turn farther than is tried."""

from pathlib import Path
from typing import Any

import pytest

from tests.laws.turning import FALSE, FARTHER, TRUE, averaged
from tests.rounds import descent
from theory import algorithm, claim
from validate.batch import turned
from validate.examine import examine
from validate.instances.far_rounds import compares_far_rounds, turns
from validate.instances.seen import Hunt

FALLING = ("smooth(f, L)", "convex(f)", "eta <= 1/L")


@algorithm(x="each x0")
def alone(w: Any, x: Any, *, eta: Any) -> Any:
    return x - eta * w.gradient(x)


QUICK = ("behind", "half", "more-clients", "last-heavier")


@pytest.mark.parametrize("label", QUICK)
def test_runs_that_turn_are_met(label: str) -> None:
    seen = next(turned(FALSE[label], Hunt(), lambda: False))
    assert seen.measured.broken
    assert seen.drawn.instance.dim == 2


@pytest.mark.slow
@pytest.mark.parametrize("label", FALSE)
def test_what_runs_that_turn_break_is_refuted(label: str, tmp_path: Path) -> None:
    assert examine(FALSE[label], quick=True, out=tmp_path).verdict == "refuted"


@pytest.mark.parametrize("label", TRUE)
def test_what_is_true_is_not_broken(label: str) -> None:
    assert compares_far_rounds(TRUE[label])
    assert list(turned(TRUE[label], Hunt(), lambda: False)) == []


@pytest.mark.parametrize("label", ["away", "away-less", "there-and-back", "length", "slow-beside"])
def test_what_runs_break_that_turn_farther_is_not_supported(label: str) -> None:
    """On (1, 0), projected on half-planes at angles i*t/n for i up to n: r = cos(t/n)^n at the angle t in the end."""
    assert turns(FARTHER[label])


def test_what_does_not_turn_is_supported() -> None:
    assert not turns(claim("near", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", of=descent, assuming=FALLING))
    assert not turns(claim("squares", "sum_k(norm2(x[k+1] - x[k])) <= norm2(x0 - xstar)", of=descent, assuming=FALLING))
    far = "sum_k(norm(x[k+1] - x[k])) <= 2*eta*L*K*norm(x0 - xstar)"
    assert not turns(claim("all", far, of=descent, assuming=FALLING))
    assert not turns(claim("mixed", "dot(x[k] - xstar, z[k] - xstar) >= -norm2(x0)", of=averaged, assuming=FALLING))


def test_states_of_clients_may_turn_too() -> None:
    """Local steps without a server: each client's own descent, begun alike."""
    one = claim("one", "mean_n(norm2(x[k] - xstar)) <= norm2(x0 - xstar)/4", of=alone, assuming=FALLING)
    assert next(turned(one, Hunt(), lambda: False)).measured.broken
