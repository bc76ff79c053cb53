"""The catalogue of algorithms: each does what its paper says, in a few lines of the language."""

import ast
import inspect
import subprocess
import sys

import numpy as np
import pytest

from sim.problems import Quadratic, ridge_logistic
from tests.outcomes import recorded
from tests.theory import by_hand
from theory.papers import algorithms
from theory.program import Algorithm, from_json

LONGEST = 15
CATALOGUE = {name: value for name, value in vars(algorithms).items() if isinstance(value, Algorithm)}
N, D = 4, 3
RING = [[0.5, 0.25, 0, 0.25], [0.25, 0.5, 0.25, 0], [0, 0.25, 0.5, 0.25], [0.25, 0, 0.25, 0.5]]
CHANCES = [0.5, 1.0, 0.3, 0.8]
# parameters under which every algorithm does all that it can do
PARAMETERS = {
    "gradient_descent": {"eta": 0.1},
    "heavy_ball": {"alpha": 0.1, "beta": 0.6},
    "nesterov": {"eta": 0.1, "beta": [0.0, 0.25, 0.4, 0.5, 0.6, 0.7]},
    "sgd": {"eta": 0.1, "b": 2},
    "clipped_sgd": {"eta": 0.2, "radius": 1.5},
    "svrg": {"eta": 0.1, "H": 3},
    "lsvrg": {"eta": 0.1, "p": 0.5},
    "saga": {"eta": 0.1},
    "random_reshuffling": {"eta": 0.1},
    "reshuffled_clients": {"eta": 0.1},
    "local_sgd": {"eta": 0.1, "H": 3},
    "fedavg": {"eta": 0.1, "H": 3, "S": 2},
    "fedavg_with_replacement": {"eta": 0.1, "H": 3, "S": 3},
    "fedavg_coins": {"eta": 0.1, "H": 3, "p": CHANCES},
    "fedavg_svrg": {"delta": 0.05, "p": CHANCES, "S": 2, "M": 3},
    "scaffold": {"eta": 0.1, "eta_g": 0.8, "H": 3, "S": 2},
    "fedprox": {"mu": 0.7, "S": 3},
    "fedlin": {"eta": 0.1, "H": 4, "tau": [1, 4, 2, 3]},
    "feddyn": {"alpha": 0.5, "S": 2},
    "fedmim": {"eta_l": 0.1, "alpha": [0.3, 0.2, 0.1], "beta": [0.5, 0.0, 0.4], "A": 0.4, "H": 3, "S": 2},
    "fedadam": {"eta": 0.1, "eta_g": 0.3, "beta1": 0.6, "beta2": 0.9, "tau": 0.1, "H": 3, "S": 2},
    "proxskip": {"gamma": 0.1, "p": 0.5},
    "diana": {"eta": 0.1, "alpha": 0.4, "m": 2},
    "ef21": {"eta": 0.1, "m": 1},
    "dgd": {"eta": 0.1, "W": RING},
    "gradient_tracking": {"eta": 0.05, "W": RING},
    "extra": {"eta": 0.05, "W": RING},
}
NEED_QUADRATICS = ("fedprox", "feddyn")  # by hand their prox is solved in closed form


def quadratics(seed: int) -> Quadratic:
    """Strongly convex samples, other numbers of them at each client."""
    rng = np.random.default_rng(seed)
    counts = np.array([3, 1, 4, 2])
    root = rng.standard_normal((N, 4, D, D)) / 2
    hessian = root @ np.swapaxes(root, -1, -2) + 0.3 * np.eye(D)
    linear, offset = rng.standard_normal((N, 4, D)), rng.standard_normal((N, 4))
    for array in (hessian, linear, offset):
        array[np.arange(4)[None, :] >= counts[:, None]] = 0
    return Quadratic(hessian, linear, offset, counts)


def test_the_tables_are_complete():
    assert set(PARAMETERS) == set(CATALOGUE)
    assert all(name == one.name == name.lower() for name, one in CATALOGUE.items())


@pytest.mark.parametrize("kind", ["quadratic", "logistic"])
@pytest.mark.parametrize("name", CATALOGUE)
def test_each_is_what_its_paper_says(name: str, kind: str):
    if kind == "logistic" and name in NEED_QUADRATICS:
        problem = quadratics(5)
    else:
        problem = quadratics(2) if kind == "quadratic" else ridge_logistic(N, 4, D, 0.5, 0.1, seed=3)
    start, rounds = np.array([1.0, -2.0, 0.5]), 5
    for run in (0, 7):
        states, draws = recorded(CATALOGUE[name], problem, PARAMETERS[name], start, rounds, seed=11, run=run)
        for k in range(1, rounds + 1):
            expected = getattr(by_hand, name)(by_hand.Plain(problem), PARAMETERS[name], start, k, draws)
            np.testing.assert_allclose(states["x"][k], expected, rtol=0, atol=1e-10)
        assert np.max(np.abs(states["x"][1] - start)) > 1e-3  # it moves: the comparison means something


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_is_short_and_says_where_it_is_from(name: str):
    (node,) = ast.parse(inspect.getsource(CATALOGUE[name].function)).body
    assert isinstance(node, ast.FunctionDef)
    text = ast.get_docstring(node)
    assert text is not None
    first = text.split("\n")[0]
    assert any(year in text for year in map(str, range(1847, 2030))) or "Algorithm" in first
    assert CATALOGUE[name].program.about == first
    assert (node.end_lineno or 0) - node.body[1].lineno + 2 <= LONGEST  # the def line and the body


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_prints_and_survives_a_file(name: str):
    program = CATALOGUE[name].program
    lines = str(program).splitlines()
    assert lines[0].startswith(f"{name}({', '.join(program.parameters)}), from ")
    assert sum(line.startswith("    next ") for line in lines) == len(program.state)
    assert from_json(program.to_json()) == program


def test_the_catalogue_loads_nothing_of_weight():
    heavy = "('torch', 'sympy', 'cvxpy', 'sim')"
    code = f"import sys; import theory.papers.algorithms; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
