"""Which back end simulates an algorithm: what doctor says is what a simulation does."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest

from sim.gpu import loading
from sim.native import build
from sim.problems import ridge_logistic
from sim.simulate import simulate
from tests.validate.command_line import call, complaint, printed
from theory.papers import algorithms
from theory.program import Algorithm
from validate.back_ends import back_ends_of


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "compiler", lambda: build.Compiler(("c++",), "c++ 99.1"))


def taken(algorithm: Algorithm) -> dict[str, tuple[str, str]]:
    return {one.problem: (one.taken, one.why) for one in back_ends_of(algorithm)}


@pytest.mark.usefixtures("compiler")
def test_what_no_cpp_is_made_of_is_named() -> None:
    found = taken(algorithms.fedprox)
    assert found["least squares"][0] == found["quadratics"][0] == "native"
    assert found["ridge logistic regression"] == ("torch", "prox is there for quadratics alone")
    assert [one for one, _ in taken(algorithms.scaffold).values()] == ["native"] * 4 + ["torch"]


def test_without_a_compiler_it_is_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "compiler", lambda: None)
    assert set(taken(algorithms.scaffold).values()) == {
        ("torch", "there is no C++ compiler; set CXX"),
        ("torch", "C++ is there for quadratics and ridge regressions alone"),
    }


def on_a_gpu(algorithm: Algorithm) -> dict[str, tuple[str, str]]:
    return {one.problem: (one.on_gpu, one.why_on_gpu) for one in back_ends_of(algorithm)}


def test_on_a_gpu_a_kernel_is_generated_or_it_is_said_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "missing", lambda: "")
    found = on_a_gpu(algorithms.fedprox)
    assert found["least squares"] == ("triton", "a kernel is generated")
    assert found["ridge logistic regression"] == ("torch", "prox is there for quadratics alone")
    assert [one for one, _ in on_a_gpu(algorithms.scaffold).values()] == ["triton"] * 4 + ["torch"]
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "triton", None)
    assert {why.split(" (")[0] for _, why in on_a_gpu(algorithms.scaffold).values()} == {"triton cannot be imported"}


@pytest.mark.usefixtures("compiler")
def test_a_simulation_gives_the_same_reason(caplog: pytest.LogCaptureFixture) -> None:
    problem = ridge_logistic(2, 4, 2, 0.5, 0.1, 0)
    (why,) = {one.why for one in back_ends_of(algorithms.fedprox) if one.problem == "ridge logistic regression"}
    with caplog.at_level(logging.DEBUG, "sim.simulate.run"):
        simulate(algorithms.fedprox, problem, {"mu": 1.0, "S": 1}, np.zeros(2), 2, 2)
    assert why in caplog.text
    with pytest.raises(ValueError, match=why):
        simulate(algorithms.fedprox, problem, {"mu": 1.0, "S": 1}, np.zeros(2), 2, 2, backend="native")


@pytest.mark.usefixtures("compiler")
def test_doctor_tells_it() -> None:
    (first, *_) = printed("doctor", "algorithms/scaffold", "--no-self-test")["choices"]
    assert (first["problem"], first["back_end"]) == ("least squares", "native")
    assert first["gpu_back_end"] in ("triton", "torch")
    assert first["why"] in call("doctor", "algorithms/scaffold", "--no-self-test").stdout
    assert printed("doctor", "--no-self-test")["choices"] is None
    assert "did you mean 'algorithms/scaffold'" in complaint(call("doctor", "algorithms/scafold"))
