"""Algorithms of open populations: steps and counts that are checked when they are made, and a cheap import."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from sim.algorithms import LocalAdam, LocalSGD, step_at


def test_steps_are_numbers_or_one_a_round():
    algorithm = LocalSGD([Fraction(1, 2), 0.25], np.int64(2))
    assert algorithm.step == (Fraction(1, 2), 0.25)
    assert type(algorithm.local_steps) is int
    assert LocalSGD(np.array([0.1, 0.2]), 1).step == (0.1, 0.2)
    assert step_at(algorithm.step, 1) == 0.25
    assert step_at(0.3, 99) == 0.3
    with pytest.raises(ValueError, match="round=2"):
        step_at((0.1, 0.2), 2)


def test_import_needs_no_torch():
    code = "import sys, sim.algorithms; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", [LocalSGD, LocalAdam])
@pytest.mark.parametrize(
    ("step", "message"),
    [
        (-1, r"step=-1 is outside \(0, inf\)"),
        (0, "step=0 "),
        (math.nan, "step=nan"),
        (math.inf, "step=inf"),
        ("0.1", "step='0.1'"),
        (True, "step=True"),
        (None, "step=None"),
        ((), r"step=\(\)"),
        ((0.1, -0.1), r"step\[1\]=-0.1"),
    ],
)
def test_bad_steps(kind, step, message):
    with pytest.raises(ValueError, match=message):
        kind(step, 1)


@pytest.mark.parametrize("value", [0, -3, 1.5, True, "2", None])
def test_bad_counts(value):
    with pytest.raises(ValueError, match="local_steps"):
        LocalSGD(0.1, value)
