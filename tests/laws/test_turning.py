"""Law 6, of long runs: a sentence about rounds far apart is supported only where runs that turn were looked for."""

from pathlib import Path
from typing import Any

import pytest

from tests.laws.turning import FALSE, TRUE
from theory import algorithm, claim
from validate.batch import turned
from validate.examine import examine
from validate.instances.covered import compares_far_rounds
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
    found = Hunt()
    assert compares_far_rounds(TRUE[label])
    assert list(turned(TRUE[label], found, lambda: False)) == []
    assert found.turned


def test_states_of_clients_may_turn_too() -> None:
    """Local steps without a server: each client's own descent, begun alike."""
    one = claim("one", "mean_n(norm2(x[k] - xstar)) <= norm2(x0 - xstar)/4", of=alone, assuming=FALLING)
    assert next(turned(one, Hunt(), lambda: False)).measured.broken
