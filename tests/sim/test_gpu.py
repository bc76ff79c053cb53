"""Kernels in Triton give what torch gives, with the same draws: in Triton's interpreter, on a GPU where there is one.

What Triton makes of them for an H100 is compiled here too, for which no GPU is needed, and run by NumPy (`_ptx`).
"""

import importlib
import logging
import pkgutil
import sys
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from sim.gpu import kernel
from sim.population import OpenPopulation
from sim.problems import ridge_logistic
from sim.simulate import simulate
from sim.simulate.parameters import Parameters
from sim.streams import Streams, seed_key
from tests.sim._ptx import Kernel
from tests.sim.test_generated import CASES as PROGRAMS
from tests.sim.test_generated import METRICS, PROBLEMS, W, batches
from tests.sim.test_simulate_programs import softmax, squares
from theory.papers import algorithms
from theory.program import Algorithm, Instruction, Loop, algorithm, names_in

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
REGRESSIONS = {"logistic": ridge_logistic(3, 4, 3, 0.5, 0.1, 0), "softmax": softmax(3, 4, 2)}
REFUSED = {"all_draws"}
INTERPRETED = {
    "fedavg_svrg", "scaffold", "saga", "diana", "fedmim", "heavy_ball", "fedavg", "fedavg_with_replacement", "fedadam",
    "proxskip", "reshuffled_clients",
}  # fmt: skip
"""The interpreter is slow."""
SLOW = {"ones_own_draws", "one_after_another"}
START = [1.0, -1.0, 0.5, 0.2, 0.2, 0.2]

CASES = [
    (one, parameters, problem)
    for j, (one, parameters) in enumerate(PROGRAMS)
    if one.name not in REFUSED
    for problem in (PROBLEMS["quadratic" if j % 2 else "least squares"],)
] + [
    (algorithms.fedavg, {"eta": 0.1, "H": 2, "S": 2}, REGRESSIONS["logistic"]),
    (algorithms.saga, {"eta": 0.1}, REGRESSIONS["softmax"]),
    (algorithms.svrg, {"eta": 0.1, "H": 2}, REGRESSIONS["softmax"]),
]
IDS = [f"{one.name}-{j}" for j, (one, _, _) in enumerate(CASES)]


LOOP = """@triton.jit
def advance(count, BLOCK: tl.constexpr):
    for _ in range(0, count):
        pass
"""


@cache
def interpreter_fails():
    """Triton 3.6's has no loops with NumPy 2.4: it makes an integer of an array of one."""
    from sim.gpu.loading import kernel_of, source_of

    try:
        kernel_of(source_of(LOOP, "quadratics", ("DIM=2", "FEATURES=0")))[(1,)](3, BLOCK=32)
    except Exception as error:
        return repr(error)
    return ""


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    if why := interpreter_fails():
        pytest.skip(f"Triton's interpreter does not go with this NumPy: {why}")


def numbers(one, parameters, problem):
    defaults = {name: float(value) for name, value in one.defaults.items() if name not in parameters}
    return Parameters(one.program, {**defaults, **parameters}, problem.clients, problem.dim, 6)


def same(mine, theirs):
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert value.shape == theirs[name].shape
        np.testing.assert_allclose(value, theirs[name], rtol=1e-12, atol=1e-13)


@needs_triton
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("one", "parameters", "problem"), [case for case in CASES if case[0].name in INTERPRETED])
def test_as_in_torch(one, parameters, problem):
    shared, options = (one, problem, parameters, START[: problem.dim], 2, 33, 5), {"metrics": METRICS, "record": (2, 0)}
    slow, fast = (simulate(*shared, backend=name, **options) for name in ("torch", "triton"))
    same(fast.final, slow.final)
    same(fast.states, slow.states)
    same(fast.values, slow.values)


@needs_triton
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["saga", "heavy_ball"])
def test_the_same_bits_in_any_batch(name):
    one, parameters = next(case for case in PROGRAMS if case[0].name == name)
    shared = (one, PROBLEMS["least squares"], parameters, START[:3], 3)
    options = {"metrics": METRICS[:1], "backend": "triton"}
    whole = simulate(*shared, 50, 5, **options)
    narrow, part = simulate(*shared, 50, 5, chunk=17, **options), simulate(*shared, 9, 5, first_run=40, **options)
    first = simulate(*shared[:4], 1, 50, 5, backend="triton")
    resumed = simulate(*shared[:3], rounds=2, resume=first, **options)
    for state, value in whole.final.items():
        assert np.array_equal(value, narrow.final[state])
        assert np.array_equal(value[40:49], part.final[state])
        assert np.array_equal(value, resumed.final[state])
    for metric, value in whole.values.items():
        assert np.array_equal(value, narrow.values[metric])
        assert np.array_equal(value[40:49], part.values[metric])
        assert np.array_equal(value[:, 1:], resumed.values[metric])


WORDS = """@triton.jit
def advance(out, runs, low: tl.int64, high: tl.int64, purpose: tl.int64, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    run = tl.load(runs + lane).to(tl.uint32)
    key = (tl.cast(low, tl.uint32), tl.cast(high, tl.uint32))
    first = tl.cast(3, tl.int64)
    at = first
    words = no_words(run)
    for j in range(0, 10):
        word, words, at = take(words, at, first, counter(run, 4000000000, 3000000000, purpose), key)
        tl.store(out + j * BLOCK + lane, word.to(tl.int64))
"""


def words_of(seed, purpose, first_run, device):
    """(10, 32), words 3..12 of 32 runs."""
    from sim.gpu.loading import BLOCK, OPTIONS, kernel_of, source_of

    out = torch.zeros((10, BLOCK), dtype=torch.int64, device=device)
    runs = torch.arange(first_run, first_run + BLOCK, device=device)
    advance = kernel_of(source_of(WORDS, "quadratics", ("DIM=2", "FEATURES=0")))
    advance[(1,)](out, runs, *seed_key(seed), purpose, BLOCK=BLOCK, **OPTIONS)
    return out.cpu()


def words_expected(seed, purpose, first_run):
    streams = Streams(seed, np.arange(first_run, first_run + 32))
    return streams.words(purpose, np.array([4_000_000_000]), range(3_000_000_000, 3_000_000_001), 13)[0, 3:, 0]


@needs_triton
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("seed", "purpose", "first_run"), [(5, 16, 0), (2**64 - 1, 255, 2**32 - 32), (2**31, 6, 7)])
def test_words_are_those_of_the_streams(seed, purpose, first_run):
    assert torch.equal(words_of(seed, purpose, first_run, "cpu"), words_expected(seed, purpose, first_run))


# --- the compiler


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("triton")


@pytest.fixture
def compiling(monkeypatch, cache_folder):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache_folder))


@pytest.fixture
def emulated(monkeypatch, compiling):
    """Kernels are compiled for an H100, and the compiler's PTX is run by NumPy."""
    from sim.gpu.compiling import compiled
    from sim.gpu.running import KernelRounds

    made = {}

    def call(self, blocks, arguments):
        if self._text.text not in made:
            made[self._text.text] = Kernel(compiled(self._text, self._functions).asm["ptx"])
        ptx = made[self._text.text]
        numbers, tensors, end = [], {}, 4096
        for one in arguments:
            if isinstance(one, torch.Tensor):
                tensors[end] = one.view(-1)
                numbers.append(end)
                end += -(-one.numel() * 8 // 512) * 512
            else:
                numbers.append(one)
        memory = np.zeros(end // 8 + 256, np.uint64)
        for place, one in tensors.items():
            memory[place // 8 : place // 8 + len(one)] = one.numpy().view(np.uint64)
        for block in range(blocks):
            ptx.run([*numbers, 0, 0], memory, block)
        for place, one in tensors.items():
            one.numpy().view(np.uint64)[:] = memory[place // 8 : place // 8 + len(one)]

    monkeypatch.setattr(KernelRounds, "_call", call)
    monkeypatch.setattr("sim.simulate.native.why_not_here", lambda device: "")


@needs_triton
@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(("one", "parameters", "problem"), CASES, ids=IDS)
def test_what_is_compiled_does_as_torch_does(one, parameters, problem):
    shared, options = (one, problem, parameters, START[: problem.dim], 2, 40, 5), {"metrics": METRICS, "record": (2, 0)}
    slow = simulate(*shared, backend="torch", **options)
    try:
        fast = simulate(*shared, backend="triton", **options)
    except NotImplementedError as error:
        pytest.skip(f"this Triton's PTX has {error}, which _ptx.py does not know")
    same(fast.final, slow.final)
    same(fast.states, slow.states)
    same(fast.values, slow.values)
    if one.name not in SLOW:
        part = simulate(*shared[:5], 9, 5, first_run=31, backend="triton", **options)
        assert all(np.array_equal(value[31:], part.final[name]) for name, value in fast.final.items())


@needs_triton
@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("n", [1, 2, 7, 21])
def test_batches_without_replacement_are_sorted_or_looked_for(n):
    for b in sorted({1, 2, -(-n // 8), n // 2, n} & set(range(1, n + 1))):
        shared = (batches, squares(2, n, 2, 3), {"eta": 0.1, "b": b}, [1.0, -1.0], 2, 20, 5)
        slow, fast = (simulate(*shared, backend=name).final for name in ("torch", "triton"))
        same(fast, slow)


def algorithms_of_the_catalogue():
    """All that its modules define."""
    for name in ("theory.landmarks", "theory.papers"):
        for found in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(found.name)
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("theory.")]
    return {id(one): one for module in modules for one in vars(module).values() if isinstance(one, Algorithm)}.values()


def some_numbers(program):
    """2 where a number counts something, else 0.3."""
    steps = [step for step in program.steps if isinstance(step, Instruction)]
    labels = {s.label: {"mix": W, "combine": [0.6, 0.3]}[s.op] for s in steps if s.op in ("mix", "combine")}
    counted = [s.count for s in program.steps if isinstance(s, Loop) and s.count is not None]
    counted += [s.numbers[0] for s in steps if s.op in ("sample", "choose", "keep", "top")]
    lengths = {name for s in program.state if s.length is not None for name in names_in(s.length)}
    counts = lengths.union(*map(names_in, counted))
    named = {*program.parameters, *lengths} - {*labels, "N", "d"}
    return {**labels, **{name: 2.0 if name in counts else 0.3 for name in named}}


@pytest.mark.slow
@needs_triton
@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("problem", [squares(3, 4, 3, 1), REGRESSIONS["logistic"]], ids=["squares", "logistic"])
def test_all_of_the_catalogue_that_has_a_kernel(problem):
    compared = 0
    for one in algorithms_of_the_catalogue():
        given = some_numbers(one.program)
        if isinstance(kernel(one.program, problem, Parameters(one.program, given, 3, 3, 2)), str):
            continue
        shared, options = (one.program, problem, given, START[:3], 2, 34, 2**63 + 5), {"metrics": METRICS[1:4:2]}
        slow, fast = (simulate(*shared, backend=name, **options) for name in ("torch", "triton"))
        for name, value in {**slow.final, **slow.values}.items():
            found = {**fast.final, **fast.values}[name]
            np.testing.assert_allclose(found, value, rtol=1e-11, atol=1e-13, err_msg=one.name)
        compared += 1
    assert compared >= 100


@needs_triton
@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("metrics", [(), METRICS])
def test_compiled_for_an_h100(metrics):
    from sim.gpu.compiling import compiled, taken

    problem, one = squares(18, 50, 5, 0), algorithms.fedavg_svrg
    parameters = {"delta": 0.01, "p": np.linspace(0.3, 0.9, 18), "S": 5, "M": 2}
    made = compiled(*kernel(one.program, problem, numbers(one, parameters, problem), metrics))
    assert "fma.rn.f64" in made.asm["ptx"]
    assert "bar.sync" not in made.asm["ptx"]  # a block is a warp
    assert taken(made).registers < 255


@needs_triton
@pytest.mark.usefixtures("compiling")
def test_a_block_is_spread_over_threads_one_run_each():
    """So that a thread reads what it wrote itself, and no run waits for another."""
    from sim.gpu.compiling import compiled

    one, parameters = next(case for case in PROGRAMS if case[0].name == "saga")
    made = compiled(*kernel(one.program, PROBLEMS["quadratic"], numbers(one, parameters, PROBLEMS["quadratic"])))
    layouts = [line for line in made.asm["ttgir"].splitlines() if "ttg.blocked" in line and line.startswith("#")]
    assert len(layouts) == 1
    assert "sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1]" in layouts[0]
    assert "convert_layout" not in made.asm["ttgir"]


# --- which back end is taken


@algorithm
def drawn_powers(w, x, *, eta):
    """A power that is drawn."""
    return x - eta * 2 ** w.coin(0.5) * w.full_gradient(x)


@pytest.mark.parametrize(
    ("one", "parameters", "problem", "why"),
    [
        (algorithms.gradient_descent, {"eta": 0.1}, squares(2, 3, 17, 0), "d=17 is more than the 16 coordinates"),
        (algorithms.fedprox, {"mu": 1.0, "S": 2}, REGRESSIONS["logistic"], "prox is there for quadratics alone"),
        (drawn_powers, {"eta": 0.1}, PROBLEMS["quadratic"], "a power that is not one number for a whole round"),
        (*next(case for case in PROGRAMS if case[0].name == "all_draws"), PROBLEMS["quadratic"], "with coins"),
    ],
)
def test_what_no_kernel_is_made_of_is_named(one, parameters, problem, why):
    assert why in kernel(one.program, problem, numbers(one, parameters, problem))


@needs_triton
@pytest.mark.usefixtures("interpreted")
def test_what_is_asked_for_and_not_there_is_refused():
    shared = (algorithms.local_sgd, REGRESSIONS["logistic"], {"eta": 0.1, "H": 2}, None, 2, 3)
    with pytest.raises(ValueError, match="no kernel for an open population"):
        simulate(*shared, backend="triton", population=OpenPopulation(3, 2, 0.5, 0.5))
    with pytest.raises(ValueError, match="measure is served by torch alone"):
        simulate(*shared, backend="triton", measure=lambda moment: {})


@needs_triton
def test_the_cpu_is_for_the_interpreter(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match="TRITON_INTERPRET=1"):
        simulate(algorithms.gradient_descent, PROBLEMS["quadratic"], {"eta": 0.1}, backend="triton")


def test_without_triton_it_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ImportError, match="triton cannot be imported"):
        simulate(algorithms.gradient_descent, PROBLEMS["quadratic"], {"eta": 0.1}, backend="triton")


@needs_triton
@pytest.mark.parametrize("name", ["gradient_descent", "all_draws"])
def test_on_a_gpu_it_is_taken_where_there_is_a_kernel(name, monkeypatch):
    from sim.gpu import KernelText
    from sim.simulate.native import decided

    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    one, parameters = next(case for case in PROGRAMS if case[0].name == name)
    given = (
        one.program,
        PROBLEMS["quadratic"],
        numbers(one, parameters, PROBLEMS["quadratic"]),
        (),
        range(2),
        "cuda:0",
    )
    found = decided("auto", *given, {})
    if name == "gradient_descent":
        assert isinstance(found[0], KernelText)
    else:
        assert "with coins" in found


# --- a GPU


@needs_triton
@needs_gpu
@pytest.mark.parametrize(("one", "parameters", "problem"), CASES, ids=IDS)
def test_on_a_gpu_as_in_torch(one, parameters, problem, caplog):
    shared, options = (
        (one, problem, parameters, START[: problem.dim], 6, 70, 5),
        {"metrics": METRICS, "record": (6, 0, 3)},
    )
    slow = simulate(*shared, backend="torch", **options)
    with caplog.at_level(logging.DEBUG, "sim.simulate.run"):
        fast = simulate(*shared, device="cuda", **options)
    assert "torch, for" not in caplog.text
    for mine, theirs in ((fast.final, slow.final), (fast.states, slow.states), (fast.values, slow.values)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, atol=1e-9)
    narrow = simulate(*shared, device="cuda", chunk=33, **options)
    assert all(np.array_equal(value, narrow.final[name]) for name, value in fast.final.items())


@needs_triton
@needs_gpu
def test_words_on_a_gpu_are_those_of_the_streams():
    for case in ((5, 16, 0), (2**64 - 1, 255, 2**32 - 32), (2**31, 6, 7)):
        assert torch.equal(words_of(*case, "cuda"), words_expected(*case))
