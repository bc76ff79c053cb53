"""The Triton kernel: against torch by Triton's interpreter, through its compiler, and on a GPU where there is one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.engine import run
from sim.participation import Bernoulli
from sim.problems import least_squares

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed (extra gpu)")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
ROOT = Path(__file__).resolve().parents[2]


def quick(dim=2):
    """Least squares of three clients."""
    rng = np.random.default_rng(4)
    return least_squares([rng.standard_normal((4, dim)) for _ in range(3)], [rng.standard_normal(4) for _ in range(3)])


def python(arguments, **environment):
    """Run Python in another process, for triton reads TRITON_INTERPRET when it is imported."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run(
        [sys.executable, *arguments], env=kept | environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


@needs_triton
def test_interpreted():
    """The tests of `_triton_interpreted.py`, of which each must have passed."""
    file = Path(__file__).with_name("_triton_interpreted.py")
    done = python(["-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", str(file)], TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d\d passed in", done.stdout, re.M), done.stdout


COMPILE = """
import sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from sim.kernels.quadratic_triton_kernel import advance

kind = sys.argv[1]
constants = {"D": 3, "BLOCK": 32, "FEATURES": kind == "fp64", "REDUCES_VARIANCE": kind == "fp64", "DIVIDES": False}
types = {"stream": "*i64", "counts": "*i64", "thresholds": "*i64", **dict.fromkeys(constants, "constexpr")}
numbers = ("path", "theta", "hessian", "linear", "curvature", "slope", "steps", "scale")
types |= dict.fromkeys(numbers, "*" + kind)
signature = {name: types.get(name, "i32") for name in advance.arg_names}
made = triton.compile(
    ASTSource(fn=advance, signature=signature, constexprs=constants),
    target=GPUTarget("cuda", 90, 32),
    options={"num_warps": 1, "enable_fp_fusion": True},
)
print(len(made.asm["cubin"]), ".f64" in made.asm["ptx"], made.metadata.shared)
"""


@needs_triton
@pytest.mark.parametrize("kind", ["fp64", pytest.param("fp32", marks=pytest.mark.slow)])
def test_compiles_for_a_gpu(kind, tmp_path):
    """For an H100, which need not be there; in float32 nothing is computed in float64, and nothing is shared."""
    done = python(["-W", "error", "-c", COMPILE, kind], TRITON_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    size, doubles, shared = done.stdout.split()
    assert int(size) > 0
    assert doubles == str(kind == "fp64")
    assert int(shared) == 0


@needs_triton
@needs_gpu
@pytest.mark.parametrize("dim", [1, 5, 16])
@pytest.mark.parametrize("algorithm", [FedAvgSVRG(0.02, 3, 4), FedAvg(0.02, 5, "normalised", batch=3)])
def test_on_a_gpu(dim, algorithm):
    """The GPU's results against the CPU's, and those of "auto"."""
    common = {"rounds": 20, "runs": 70, "seed": 2**63 + 1, "metrics": ("suboptimality", "iterate")}
    arguments = (algorithm, quick(dim), Bernoulli(0.6))
    cpu = run(*arguments, backend="torch", **common)
    for backend in ("triton", "torch", "auto"):
        gpu = run(*arguments, backend=backend, device="cuda", **common)
        for name in common["metrics"]:
            assert np.allclose(gpu[name], cpu[name], rtol=1e-9, atol=1e-11), (backend, name)
    single = run(*arguments, backend="triton", dtype="float32", device="cuda", **common)
    assert np.allclose(single["iterate"], cpu["iterate"], rtol=1e-4, atol=1e-4)


def test_on_the_cpu_it_wants_the_interpreter(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match="backend='triton' needs device='cuda'"):
        run(FedAvg(0.1, 2), quick(), rounds=2, runs=2, backend="triton")


def test_without_triton_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr("sim.kernels.quadratic_triton.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"fedproof\[gpu\]"):
        run(FedAvg(0.1, 2), quick(), rounds=2, runs=2, backend="triton")


def test_the_precision_is_checked():
    with pytest.raises(ValueError, match="dtype='float16' is not one of"):
        run(FedAvg(0.1, 2), quick(), rounds=2, runs=2, dtype="float16")
    with pytest.raises(ValueError, match="dtype='float32' needs backend='triton'"):
        run(FedAvg(0.1, 2), quick(), rounds=2, runs=2, dtype="float32")


@needs_gpu
def test_a_gpu_that_is_not_there():
    with pytest.raises(ValueError, match="is not available here"):
        run(FedAvg(0.1, 2), quick(), rounds=2, runs=2, device=f"cuda:{torch.cuda.device_count()}")
