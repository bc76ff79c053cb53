"""What `test_triton.py` runs in a process of its own, with TRITON_INTERPRET=1 set before triton is imported."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.engine import run
from sim.participation import Bernoulli, UniformChoice
from sim.problems import from_samples, least_squares
from sim.streams import Streams, thresholds
from tests.sim import _plain as plain

assert os.environ.get("TRITON_INTERPRET") == "1"

METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm", "iterate")
FULL = 2**32 - 1
# Random123, kat_vectors: philox4x32 with 10 rounds
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((FULL,) * 4, (FULL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@triton.jit
def philox_words(out, numbers):
    """The four words of a seed and a counter: numbers (5) int64 to out (4) int64."""
    c0 = tl.load(numbers + 1).to(tl.uint32)
    c1 = tl.load(numbers + 2).to(tl.uint32)
    c2 = tl.load(numbers + 3).to(tl.uint32)
    c3 = tl.load(numbers + 4).to(tl.uint32)
    w0, w1, w2, w3 = tl.philox(tl.load(numbers), c0, c1, c2, c3)
    tl.store(out, w0.to(tl.int64))
    tl.store(out + 1, w1.to(tl.int64))
    tl.store(out + 2, w2.to(tl.int64))
    tl.store(out + 3, w3.to(tl.int64))


def words(counter, key):
    """The words of Triton's Philox, with the key that `sim.streams` makes of a seed."""
    seed = np.array([key[0] | key[1] << 32], dtype=np.uint64).view(np.int64)
    out = torch.zeros(4, dtype=torch.int64)
    philox_words[(1,)](out, torch.from_numpy(np.append(seed, counter)))
    return tuple(out.tolist())


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter, key, answer):
    assert words(counter, key) == answer


@settings(max_examples=8, deadline=None)
@given(st.tuples(*[st.integers(0, FULL)] * 4), st.tuples(*[st.integers(0, FULL)] * 2))
def test_philox_is_that_of_the_contract(counter, key):
    assert words(counter, key) == plain.philox(counter, key)


@st.composite
def cases(draw):
    """Keyword arguments of `run`, apart from the back end: tiny, for the interpreter takes 50 us an operation."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    clients, dim, rounds = draw(st.integers(3, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    counts = rng.integers(1, 5, clients)
    counts[0] = dim + 1  # enough for f to have one minimiser
    q = [rng.standard_normal((count, dim)) / dim**0.5 for count in counts]
    y = [rng.standard_normal(count) for count in counts]
    if draw(st.booleans()):
        made = least_squares(q, y)
    else:
        hessians = [np.einsum("ni,nj->nij", x, x) + 0.3 * np.eye(dim) for x in q]
        made = from_samples(hessians, [x * t[:, None] for x, t in zip(q, y, strict=True)])
    step = draw(st.sampled_from([0.1, tuple(rng.uniform(0.05, 0.2, rounds).tolist())]))
    aggregation = draw(st.sampled_from(["unbiased", "normalised"]))
    kind = draw(st.sampled_from([FedAvg, FedAvgSVRG]))
    if kind is FedAvg:
        algorithm = FedAvg(step, draw(st.integers(1, 3)), aggregation, batch=draw(st.integers(1, 2)))
    else:
        algorithm = FedAvgSVRG(step, draw(st.integers(1, 2)), draw(st.integers(1, 4)), aggregation)
    shape = draw(st.sampled_from([(), (clients,), (rounds, clients)]))
    return {
        "algorithm": algorithm,
        "problem": made,
        "participation": draw(st.sampled_from([None, Bernoulli(rng.uniform(0.2, 1, shape))])),
        "rounds": rounds,
        "runs": draw(st.integers(5, 20)),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "first_run": draw(st.sampled_from([0, 5, 2**32 - 20])),
        "start": rng.standard_normal(dim),
    }


@settings(max_examples=6, deadline=None)
@given(cases())
def test_equals_the_torch_back_end(case):
    torch, triton = (run(metrics=METRICS, backend=backend, **case) for backend in ("torch", "triton"))
    assert np.allclose(triton.final, torch.final, rtol=1e-11, atol=1e-12)
    for name in METRICS:
        assert triton[name].shape == torch[name].shape
        assert np.allclose(triton[name], torch[name], rtol=1e-9, atol=1e-11), name
    assert np.array_equal(triton["iterate"][:, -1], triton.final)


@settings(max_examples=2, deadline=None)
@given(cases())
def test_in_float32_the_draws_are_the_same(case):
    """Another sample or another client would change a model by far more than 7 digits allow."""
    torch, triton = (
        run(metrics=["iterate"], **case, **kind) for kind in ({}, {"backend": "triton", "dtype": "float32"})
    )
    assert np.allclose(triton["iterate"], torch["iterate"], rtol=1e-5, atol=1e-5)
    assert np.array_equal(triton.final, triton.final.astype(np.float32))
    assert not np.array_equal(triton.final, torch.final)


def quick():
    """A small problem, an algorithm and a participation."""
    rng = np.random.default_rng(4)
    made = least_squares([rng.standard_normal((3, 2)) for _ in range(3)], [rng.standard_normal(3) for _ in range(3)])
    return FedAvgSVRG(0.1, 1, 3), made, Bernoulli(0.6)


def test_a_run_does_not_depend_on_its_batch_and_stretch(monkeypatch):
    """More than one block of 32 runs; then one round a call, and chunks that are not multiples of anything."""
    common = {"rounds": 3, "metrics": METRICS, "backend": "triton", "seed": 8}
    whole = run(*quick(), runs=40, **common)
    monkeypatch.setattr("sim.kernels.quadratic_triton._PATH_BYTES", 1)
    told = {}
    some = run(*quick(), runs=9, first_run=30, chunk=5, progress=told.__setitem__, **common)
    assert told[27] == 27
    assert np.array_equal(some.final, whole.final[30:39])
    for name in METRICS:
        assert np.array_equal(some[name], whole[name][30:39]), name


def test_an_absent_client_whose_steps_would_overflow_changes_nothing():
    clients = from_samples([[[[1e200]]], [[[1.0]]]], [[[1.0]], [[1.0]]])
    common = {"rounds": 1, "runs": 40, "seed": 2, "metrics": ["iterate"], "backend": "triton"}
    with np.errstate(all="ignore"):
        trace = run(FedAvg(1.0, 3), clients, Bernoulli([0.3, 1.0]), **common)
    words = Streams(2, np.arange(40)).participation(2, range(1)).numpy()
    present = words[0, 0] < thresholds(0.3)
    assert 0 < present.sum() < 40
    assert np.array_equal(np.isfinite(trace.final[:, 0]), ~present)


def test_what_it_does_not_know_is_refused():
    algorithm, made, presence = quick()
    wide = least_squares([np.eye(17)], [np.ones(17)])
    for arguments, options in (
        ((algorithm, wide), {}),
        ((algorithm, from_samples([[np.eye(9)]], [[np.ones(9)]])), {}),
        ((algorithm, made, UniformChoice(2)), {}),
        ((FedAvg(0.1, 2, empty="zero"), made, presence), {}),
        ((FedAvg(0.1, 2, empty="condition"), made, presence), {}),
        ((algorithm, made), {"metrics": ["local_consistency"]}),
    ):
        with pytest.raises(ValueError, match="backend='triton' does not know"):
            run(*arguments, rounds=2, runs=2, backend="triton", **options)
    # where no round is empty the rule does not matter
    run(FedAvg(0.1, 1, empty="zero"), made, rounds=1, runs=2, backend="triton")


def test_auto_does_not_interpret():
    algorithm, made, presence = quick()
    auto, torch = (run(algorithm, made, presence, rounds=2, runs=2, backend=b) for b in ("auto", "torch"))
    assert np.array_equal(auto.final, torch.final)
