"""A handful of checks that the installation computes what it should, each against something independent.

They are quick (some seconds in all, and some more the first time, when machine code is built), and each can fail.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Literal

PATIENCE = 120
"""Seconds that the stand-alone verifier may take; it takes a fraction of one."""
ROUNDING = 1e-12
"""How far back ends may differ, relative to the largest number: they add up in other orders."""
RUNS = 4000
"""Of a program that is simulated."""
BackEnd = Literal["native", "triton"]
WITHOUT = 'take backend="torch" until this is ok'
BACK_ENDS: tuple[tuple[BackEnd, str], ...] = (
    ("native", "try another compiler (CXX), after deleting the cache's folder"),
    ("triton", "update torch, which brings Triton, and the GPU's driver"),
)
"""Of the simulator, besides torch, with what to do when one fails."""


class SelfTestError(Exception):
    """A check came out wrong; the message says what was found."""


class UnavailableError(Exception):
    """A check cannot be made here; the message says why."""


@dataclass(frozen=True)
class Check:
    """What is checked.

    Attributes:
        name: a few words.
        run: makes the check, and says in a few words what was compared.
        remedy: what to do when it fails.
    """

    name: str
    run: Callable[[], str]
    remedy: str


@dataclass(frozen=True)
class Outcome:
    """What came of a check.

    Attributes:
        name: of the check.
        outcome: ok; FAILED; or skipped, where it cannot be made.
        seconds: that it took.
        detail: what was compared, what was found instead, or why it was skipped.
        remedy: what to do, where it failed.
    """

    name: str
    outcome: Literal["ok", "FAILED", "skipped"]
    seconds: float
    detail: str
    remedy: str | None = None

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return asdict(self)


def self_test() -> Iterator[Outcome]:
    """The outcomes of all checks, one after the other; whatever goes wrong in one of them is its outcome."""
    for check in checks():
        begun = time.perf_counter()
        outcome: Literal["ok", "FAILED", "skipped"] = "ok"
        try:
            detail = check.run()
        except UnavailableError as reason:
            outcome, detail = "skipped", str(reason)
        except SelfTestError as found:
            outcome, detail = "FAILED", str(found)
        except Exception as error:  # an installation can be broken in any way
            outcome, detail = "FAILED", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        seconds = round(time.perf_counter() - begun, 3)
        yield Outcome(check.name, outcome, seconds, detail, check.remedy if outcome == "FAILED" else None)


def checks() -> list[Check]:
    """All checks, the quick ones first."""
    return [
        Check("bounds", bounds, "reinstall python-flint and numpy: pip install --force-reinstall python-flint numpy"),
        Check("exact play", play, "reinstall python-flint, and fedproof itself"),
        Check("moments of programs", program_moments, "reinstall python-flint and numpy, and fedproof itself"),
        Check("simulated programs", simulated_programs, "reinstall torch: pip install --force-reinstall torch"),
        Check("certificates", certificates, "reinstall fedproof: do not trust `fedproof verify` before this is ok"),
        Check("mixing weights", mixing, "reinstall cvxpy and clarabel: pip install --force-reinstall cvxpy clarabel"),
        Check("proofs", proofs, "reinstall clarabel: pip install --force-reinstall clarabel"),
        Check("z3", z3, "reinstall z3: pip install --force-reinstall z3-solver"),
        Check("cache", cache, "make the folder writable, or set XDG_CACHE_HOME to one that is"),
        *(Check(f"back end {name}", partial(back_end, name), f"{WITHOUT}; {remedy}") for name, remedy in BACK_ENDS),
    ]


def expect(right: bool, found: str) -> None:
    """Fail with what was found unless it is right."""
    if not right:
        raise SelfTestError(found)


def bounds() -> str:
    """A bound in floats, enclosed by ball arithmetic, and once known by hand."""
    from theory import claim

    average = claim("textbook/subgradient-method")  # R2/(2 eta K) + eta G2/2
    values = {"K": "100", "G2": "3", "norm2_x0_xstar": "7"}
    for eta, by_hand in (("1/100", Fraction(3515, 1000)), ("1/sqrt(K*2)", None)):
        value = float(average.bound(**values, eta=eta))
        enclosure = average.enclose(**values, eta=eta)
        lower, upper = Fraction(enclosure.lower), Fraction(enclosure.upper)
        slack = 8 * Fraction(math.ulp(value))
        expect(lower - slack <= Fraction(value) <= upper + slack, f"{value!r} is outside [{lower}, {upper}]")
        expect(0 <= upper - lower < Fraction(1, 10**15), f"the enclosure [{lower}, {upper}] is too wide")
        expect(by_hand is None or lower <= by_hand <= upper, f"{by_hand} is outside [{lower}, {upper}]")
    return "a bound in floats lies in its enclosure, and the enclosure holds what is found by hand"


ROUNDS, STEP = 2, Fraction(1, 4)
SLOPES, POINTS, START = ((1, 1), (1, 2)), ((1, -1), (3, 0)), Fraction(2)
"""Of the small problem for programs: two clients with two samples h/2 (x - a)^2 each."""


def _instance() -> dict[str, Any]:
    """Parallel SGD on the small problem, as instances are written."""
    clients = [
        [{"h": h, "a": a} for h, a in zip(slopes, points, strict=True)]
        for slopes, points in zip(SLOPES, POINTS, strict=True)
    ]
    return {
        "parameters": {"eta": str(STEP), "b": 1},
        "problem": {"clients": clients},
        "start": str(START),
        "rounds": ROUNDS,
    }


def _enumerated() -> Fraction:
    """E x^2 after the rounds: every outcome of the samples, enumerated here."""
    total = Fraction(0)
    for outcome in product(product((0, 1), repeat=2), repeat=ROUNDS):
        x = START
        for first, second in outcome:
            gradients = (SLOPES[n][i] * (x - POINTS[n][i]) for n, i in ((0, first), (1, second)))
            x -= STEP * sum(gradients, Fraction(0)) / 2
        total += x**2
    return total / 4**ROUNDS


def play() -> str:
    """Exact play of a program against every outcome, enumerated here."""
    from theory import claim
    from theory.papers.algorithms import sgd
    from validate import measurement

    second = claim("second-moment", f"E(norm2(x[{ROUNDS}])) >= 0", of=sgd)
    found, by_hand = measurement.measure(second, _instance()).left[0], _enumerated()
    expect(found == by_hand, f"E x^2 is {found}, not {by_hand}")
    return f"E x^2 = {by_hand} after {ROUNDS} rounds, as by enumeration"


def program_moments() -> str:
    """Moments of a program by linear recursions against every outcome, enumerated here; in Fractions and in floats."""
    import numpy as np

    from sim import moments
    from sim.problems import scalar
    from theory.papers.algorithms import sgd

    by_hand = _enumerated()
    exact = scalar(*([list(map(Fraction, own)) for own in some] for some in (SLOPES, POINTS)), exact=True)
    at: dict[Any, Any] = {moments.Point("x", ROUNDS): 1}
    in_fractions = moments.moments_of(sgd.program, exact, {"eta": STEP, "b": 1}, start=[START], rounds=ROUNDS)
    expect(in_fractions.norm2(at) == by_hand, f"E x^2 is {in_fractions.norm2(at)} in fractions, not {by_hand}")
    floats = scalar([list(map(float, own)) for own in SLOPES], [list(map(float, own)) for own in POINTS])
    in_floats = moments.moments_of(
        sgd.program, floats, {"eta": float(STEP), "b": 1}, start=np.array([float(START)]), rounds=ROUNDS
    )
    found = float(in_floats.norm2(at))
    expect(abs(found - float(by_hand)) <= ROUNDING * float(by_hand), f"E x^2 is {found!r} in floats, not {by_hand}")
    return f"E x^2 = {by_hand} in fractions, and in floats, as by enumeration"


def simulated_programs() -> str:
    """Runs of a program against what is enumerated here, from a fixed seed, within six standard errors."""
    import numpy as np

    from sim import simulate as simulator
    from sim.problems import scalar
    from theory.papers.algorithms import sgd

    floats = scalar([list(map(float, own)) for own in SLOPES], [list(map(float, own)) for own in POINTS])
    done = simulator.simulate(
        sgd.program, floats, {"eta": float(STEP), "b": 1}, start=[float(START)], rounds=ROUNDS, runs=RUNS, seed=0
    )
    squares = np.square(done.final["x"][:, 0])
    mean, error = float(squares.mean()), float(squares.std(ddof=1) / math.sqrt(RUNS))
    by_hand = float(_enumerated())
    # the seed is fixed; over seeds the normal law leaves such a distance with probability 2e-9
    expect(abs(mean - by_hand) <= 6 * error, f"E x^2 is {mean:.6g} +- {error:.1g} by {RUNS} runs, not {by_hand:.6g}")
    expect(error > 0, "all runs are the same")
    return f"the mean of x^2 over {RUNS} runs is within six standard errors of what is enumerated"


def certificates() -> str:
    """A certificate is made, accepted by the verifier in a process of its own, and rejected once altered."""
    from theory import claim
    from theory.papers.algorithms import sgd
    from validate import measurement

    # where the samples differ, SGD does not stay at the minimiser
    stays = claim(
        "stays",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar)",
        of=sgd,
        assuming=("smooth(f_ni, L)", "strongly_convex(f_n, mu)", "eta <= 1/(2*L)"),
        paper="self-test",
    )
    client = [{"h": 1, "a": 1}, {"h": 1, "a": -1}]
    instance = {"parameters": {"eta": "1/4", "b": 1}, "problem": {"clients": [client]}, "start": 0, "rounds": 1}
    with tempfile.TemporaryDirectory(prefix="fedproof-") as name:
        folder = Path(name)
        try:
            path = measurement.certify(stays, instance, folder)
        except ValueError as error:
            raise SelfTestError(f"a false claim is not refuted by the instance that breaks it: {error}") from None
        altered = folder / "altered.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        right = Fraction(data["right"]) + Fraction(1, 10**6)
        altered.write_text(json.dumps({**data, "right": str(right)}), encoding="utf-8")
        for file, status in ((path, 0), (altered, 1)):
            command = [sys.executable, "-I", "-S", str(folder / "verify.py"), str(file)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            what = "a true certificate" if status == 0 else "an altered certificate"
            said = " ".join((done.stderr or done.stdout).split())[-200:]
            expect(done.returncode == status, f"{what} has the status {done.returncode}, not {status}: {said}")
    return "one is accepted by the stand-alone verifier, and rejected with 1/1000000 added to a number"


def mixing() -> str:
    """Mixing weights in floats, in Fractions, and by cvxpy."""
    import numpy as np

    from theory.mixing import exact_weights, mixing_weights, model

    z, n, lam = (0, Fraction(1, 2), 2), (500, 100, 1000), 200
    exact = np.array(exact_weights(z, n, lam).weights, dtype=float)
    floats = mixing_weights([float(cost) for cost in z], n, lam).weights
    expect(bool(np.allclose(floats, exact, rtol=ROUNDING, atol=ROUNDING)), f"{floats} in floats, {exact} in fractions")
    problem = model([float(cost) for cost in z], n, lam)
    problem.solve(solver="CLARABEL")
    solved = problem.variables()[0].value
    expect(solved is not None and bool(np.allclose(solved, exact, atol=1e-5)), f"{solved} by cvxpy, {exact} exactly")
    return f"the weights {', '.join(f'{weight:g}' for weight in exact)} in floats, in fractions and by cvxpy"


def proofs() -> str:
    """A true inequality between vectors is proved, which the verifier accepts, and a false one is not."""
    from theory import claim
    from theory.derivation.search.searching import search
    from validate import certificate

    told = "norm2(u + v) <= {}*(norm2(u) + norm2(v))"
    true, false = (claim("sum", told.format(factor), vectors=("u", "v"), paper="self-test") for factor in (2, 1))
    lines = search(true).lines
    expect(lines is not None, f"no derivation of {true.statement} is found")
    for one, right in ((true, True), (false, False)):
        report = certificate.verified(certificate.derivation_certificate(one, lines or ()))
        expect(report.valid is right, f"to the verifier a derivation of {one.statement} is {report.valid}, not {right}")
    expect(search(false, 100).lines is None, f"{false.statement} is called proved")
    return "|u+v|^2 <= c|u|^2 + c|v|^2 is proved for c = 2, and not for c = 1"


def z3() -> str:
    """Relations that can hold together, and some that cannot."""
    if find_spec("z3") is None:
        raise UnavailableError("z3 is not installed: pip install 'fedproof[smt]'")
    from theory.domain import Domain
    from theory.feasible import smt
    from theory.feasible.constraints import read_system
    from theory.formula import parse_relation

    domains = {"x": Domain(0, None), "y": Domain(0, None)}
    for bound, status in (("3", "sat"), ("1/2", "unsat")):
        texts = ("x*y >= 1", f"x + y <= {bound}")
        answer = smt.decide(read_system([(text, parse_relation(text)) for text in texts], domains, {})).status
        expect(answer == status, f"{' and '.join(texts)} with x, y >= 0 is {answer}, not {status}")
    return "with x*y >= 1, x + y <= 3 is possible and x + y <= 1/2 is not"


def cache() -> str:
    """Compiled code can be kept."""
    from sim.native import build

    try:
        folder = build.cache_directory()
    except RuntimeError as error:
        raise UnavailableError(f"{error}; compiled code lasts as long as a process") from error
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(b"fedproof")
            file.flush()
            kept = Path(file.name).read_bytes()
    except OSError as error:
        raise SelfTestError(f"{folder} cannot be written to: {error.strerror}") from error
    expect(kept == b"fedproof", f"{folder} does not keep what is written there")
    return str(folder)


def back_end(name: BackEnd) -> str:
    """One back end of the simulators against torch, on the same streams of random numbers."""
    import numpy as np

    from sim.native import build
    from sim.population import OpenPopulation
    from sim.problems import RidgeLogistic, from_samples

    if name == "native" and build.compiler() is None:
        raise UnavailableError("no C++ compiler; install one, or name it with CXX")
    if name == "triton":
        _with_gpu()
    random = np.random.default_rng(0)
    rows = random.standard_normal((3, 4, 2))
    signs = random.choice([-1.0, 1.0], (3, 4))
    hessians = np.einsum("nic,nid->nicd", rows, rows) + 0.3 * np.eye(2)
    quadratics = from_samples(list(hessians), list(rows * signs[..., None]))
    regression = RidgeLogistic(rows, signs, 0.1)
    cases: list[tuple[Any, Any]] = [(quadratics, None), (regression, None)]
    if name == "native":
        cases.append((regression, OpenPopulation(3, 2, 0.5, 0.5)))
    worst = 0.0
    for these, others in (_runs(name, problem, population) for problem, population in cases):
        worst = max(worst, float(np.max(np.abs(these - others)) / np.max(np.abs(others))))
    expect(worst <= ROUNDING, f"differs from torch by {worst:.1e}, relative to the largest number")
    return f"the iterates of torch, to {worst:.0e}"


def _with_gpu() -> None:
    """Raise what says why kernels do not run here."""
    import torch

    from sim.simulate.kernels import missing

    if not torch.cuda.is_available():
        raise UnavailableError("no GPU that torch can use")
    if why := missing():
        raise UnavailableError(why)


def _runs(name: BackEnd, problem: Any, population: Any) -> tuple[Any, Any]:
    """Runs of a program by the back end and by torch."""
    from sim import simulate as simulator
    from theory.papers.algorithms import scaffold

    given: Any = {"eta": 0.1, "eta_g": 1.0, "H": 3, "S": 2}
    options: Any = {"rounds": 4, "runs": 8, "seed": 1, "start": [1.0, 1.0], "population": population}
    device = "cuda" if name == "triton" else "cpu"
    these = simulator.simulate(scaffold, problem, given, backend=name, device=device, **options).final["x"]
    return these, simulator.simulate(scaffold, problem, given, backend="torch", **options).final["x"]
