"""Ctrl-C in the compiled back ends: the simulation ends with KeyboardInterrupt, and the process goes on."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sim.native import build
from tests.shares import share

PATIENCE = 120  # seconds; about 5 are needed on an idle machine
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")

# Each `simulate` takes half an hour with `many` rounds, and no time with one. It says "started" in its fifth call of
# the library, so that the signal comes while the compiled code is at work on all threads.
OPEN = """
from sim.generated.task import NativeRounds as Kernel
from sim.population import OpenPopulation
from sim.problems import ridge_logistic
from sim.simulate import simulate as run
from theory.papers.open_fl import rounds_of_whole_sgd

problem, population = ridge_logistic(20, 1000, 8, 1.0, 0.1, 0), OpenPopulation(20, 10, leave=1, join=1)
called, many = "_advance", 10_000

def simulate(rounds, threads):
    options = {"rounds": rounds, "runs": 4, "backend": "native", "threads": threads}
    return run(rounds_of_whole_sgd, problem, {"eta": 0.01, "H": 1000}, population=population, **options)
"""
PROGRAM = """
import numpy
from sim.generated.task import NativeRounds as Kernel
from sim.problems import least_squares
from sim.simulate import simulate as run
from theory.papers.algorithms import fedavg_svrg

q = numpy.random.default_rng(0).standard_normal((50, 20, 5))
problem = least_squares(list(q), list(q.sum(2)))
called, many = "_advance", 20_000

def simulate(rounds, threads):
    given = {"delta": 1e-3, "p": 0.9, "S": 50, "M": 50}
    return run(fedavg_svrg, problem, given, rounds=rounds, runs=300, backend="native", threads=threads)
"""
COMMON = """
import itertools, os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests' own process does with it
call = getattr(Kernel, called)

def loudly(self, *arguments):
    if next(calls) == 4:
        os.write(1, b"started\\n")
    return call(self, *arguments)

before = simulate(1, 1).final["x"]
setattr(Kernel, called, loudly)
for threads in (1, 2):
    calls = itertools.count()
    try:
        simulate(many, threads)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
    assert (simulate(1, threads).final["x"] == before).all()
os.write(1, b"usable\\n")
"""


@pytest.mark.parametrize("source", share([OPEN, PROGRAM], 2), ids=["open", "program"])
def test_an_interrupt_ends_the_simulation_and_the_process_goes_on(source):
    told, status = interrupted(source + COMMON, 1)
    assert told == ["started", "interrupted"] * 2 + ["usable"]
    assert status == 0


@pytest.mark.parametrize("source", share([PROGRAM, OPEN], 2), ids=["program", "open"])
def test_impatience_does_not_crash_the_process(source):
    told, status = interrupted(source + COMMON.replace("(1, 2)", "(2,)"), 3)
    assert told[0] == "started"
    # the later signals may come when nothing expects them any more
    assert status in (0, 1, -signal.SIGINT)


def interrupted(program, times):
    """What it says, and its exit status, with so many interrupts a twentieth of a second apart at each start."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        told = []
        try:
            for line in process.stdout:
                told.append(line.strip())
                if told[-1] == "started":
                    for _ in range(times):
                        process.send_signal(signal.SIGINT)
                        time.sleep(0.05 if times > 1 else 0)
            process.wait()
        finally:
            patience.cancel()
            process.kill()
    return told, process.returncode
