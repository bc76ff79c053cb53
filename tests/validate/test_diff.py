"""An implementation held against a claim's program: agreement, the first difference, its line, and clear refusals."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate import written_rounds as written
from tests.validate.command_line import call
from theory import claim
from theory.catalog import claim as known
from theory.claim import Claim
from theory.papers import algorithms
from theory.program import Algorithm, algorithm
from validate import assert_implements, diff
from validate.implementations import fedjax, flower

ROOT = Path(__file__).resolve().parents[2]


def of(one: Algorithm) -> Claim:
    """Some claim of an algorithm."""
    side = "E(norm2(x[k]))" if one.state[0].kind == "server" else "mean_n(E(norm2(x[k])))"
    return claim("some", f"{side} <= 1", of=one)


PLANTED = [
    (of(algorithms.fedavg), "fedavg", "fedavg_divided_by_all", "next x = average of"),
    (of(algorithms.scaffold), "scaffold", "scaffold_with_the_correction_turned_round", "y3_n = y2_n - eta*grad"),
    (of(algorithms.proxskip), "proxskip", "proxskip_of_the_old_iterate", "next h_n ="),
    (of(algorithms.fedprox), "fedprox", "fedprox_with_mu_upside_down", "prox of 1/mu"),
    (of(algorithms.lsvrg), "lsvrg", "lsvrg_with_the_new_iterate", "next s = x if s2 else s"),
    (of(algorithms.saga), "saga", "saga_with_the_new_table", "next x ="),
    (of(algorithms.heavy_ball), "heavy_ball", "heavy_ball_with_nesterovs_point", "next x ="),
    (of(algorithms.diana), "diana", "diana_unscaled", "next h_n ="),
    (known("fedavg-svrg/theorem-v1-eq8"), "fedavg_svrg", "fedavg_svrg_with_a_stale_snapshot", "full_n = grad f_n(y_n)"),
    (of(algorithms.local_sgd), "local_sgd", "local_sgd_from_the_start", "y3_n = y2_n - eta*grad"),
    (known("fedmim/theorem-iv1-eq7"), "fedmim", "fedmim_without_looking_ahead", "g_n = grad f_{n,i_n}(y_n)"),
]


LONG = ("fedavg_svrg", "fedmim", "scaffold")  # the last two are the subject of other tests here, too


@pytest.mark.parametrize(
    ("one", "right", "wrong", "line"),
    [pytest.param(*case, id=case[1], marks=[pytest.mark.slow] if case[1] in LONG else []) for case in PLANTED],
)
def test_a_planted_error_is_found_and_its_line_is_named(one: Claim, right: str, wrong: str, line: str) -> None:
    good = diff(one, getattr(written, right))
    assert good.agrees, str(good)
    assert good.worst < 1e-13
    bad = diff(one, getattr(written, wrong))
    assert not bad.agrees
    assert bad.line is not None
    assert line in bad.code[bad.line]


def test_a_program_and_code_of_the_same_name_are_told_apart() -> None:
    one = of(algorithms.local_sgd)

    def local_sgd(x: Any) -> Any:
        return x

    assert str(diff(one, local_sgd)).startswith(f"your local_sgd is not the algorithm local_sgd of {one.id}")
    assert str(diff(one, written.local_sgd)).startswith(
        f"your local_sgd agrees with the algorithm local_sgd of {one.id}"
    )


def test_what_is_said_of_a_slip() -> None:
    found = diff(of(algorithms.local_sgd), written.local_sgd_from_the_start)
    assert found.first is not None
    assert (found.first.client, found.first.step, found.first.round) == (0, 1, 0)
    # in words clients and samples are counted from 1, as papers do; rounds and steps from 0, as the program does
    assert " of client 1 " in found.first.words
    assert "sample 0" not in found.first.words
    assert found.smallest is not None
    assert "H = 1" in found.smallest.agrees  # the first step is taken from the start by both
    assert found.slip is not None
    assert all("y_n" in new or "x" in new for _, _, new in found.slip.reads)


def test_the_first_recorded_value_that_differs_is_named() -> None:
    """z[0, 0] is the server's x for both; in round 0 there is no past, so that the first difference is in round 1."""
    found = diff(known("fedmim/theorem-iv1-eq7"), written.fedmim_without_looking_ahead)
    assert found.first is not None
    assert (found.first.state, found.first.client, found.first.step, found.first.round) == ("z", 0, 1, 1)
    assert "z3_n" in found.first.text or "z_n" in found.first.text


def fedavg_by(draw: Callable[..., Any], local: Callable[..., Any]) -> Callable[..., Any]:
    def round_(x: Any, problem: Any, rng: Any, eta: float, H: int, S: int) -> Any:
        ends = []
        for n in draw(rng, problem.clients, S):
            y = x.copy()
            for _ in range(H):
                y = y - eta * problem.gradient(n, y, local(rng, problem.samples[n]))
            ends.append(y)
        return np.mean(ends, axis=0)

    return round_


CHOICES = {
    "choice": lambda rng, N, S: rng.choice(N, size=S, replace=False),
    "of a list": lambda rng, N, S: rng.choice(list(range(N)), S, replace=False),
    "permutation": lambda rng, N, S: rng.permutation(N)[:S],
}
SAMPLES = {
    "integers": lambda rng, n: rng.integers(n),
    "between": lambda rng, n: int(rng.integers(0, n, size=1)[0]),
    "closed": lambda rng, n: rng.integers(0, n - 1, endpoint=True),
    "choice": lambda rng, n: rng.choice(n),
}


@pytest.mark.parametrize("draw", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("local", SAMPLES.values(), ids=SAMPLES)
def test_a_generator_hands_out_the_programs_draws(draw: Any, local: Any) -> None:
    assert diff(of(algorithms.fedavg), fedavg_by(draw, local)).agrees


@pytest.mark.parametrize(
    ("draw", "local", "told"),
    [
        (lambda rng, N, S: rng.choice(N, S), SAMPLES["integers"], "with replacement"),
        (CHOICES["choice"], lambda rng, n: rng.integers(n - 1), "the program draws one of"),
        (CHOICES["choice"], lambda rng, n: rng.choice(n, p=np.arange(1, n + 1) / (n * (n + 1) / 2)), "unequal weights"),
        (lambda rng, N, S: rng.choice(N, S + 1, replace=False), SAMPLES["integers"], "of 3 clients without"),
    ],
)  # fmt: skip
def test_another_draw_is_named(draw: Any, local: Any, told: str) -> None:
    found = diff(of(algorithms.fedavg), fedavg_by(draw, local))
    assert not found.agrees
    assert found.first is not None
    assert told in found.first.words


def test_a_code_may_draw_step_by_step() -> None:
    def all_at_once(x: Any, problem: Any, rng: Any, eta: float, H: int) -> Any:
        ys = np.tile(x, (problem.clients, 1))
        for _ in range(H):
            for n in range(problem.clients):
                ys[n] -= eta * problem.gradient(n, ys[n], rng.integers(problem.samples[n]))
        return ys.mean(axis=0)

    found = diff(of(algorithms.local_sgd), all_at_once)
    assert found.agrees
    assert any("step by step" in note for note in found.notes)


def test_visits_passes_and_noise() -> None:
    @algorithm
    def noisy(w: Any, x: Any, *, eta: Any, sigma2: Any) -> Any:
        return x - eta * w.mean(w.gradient(x) + w.noise(sigma2))

    def mine(x: Any, problem: Any, rng: Any, eta: float, sigma2: float) -> Any:
        each = [
            problem.gradient(n, x) + rng.normal(0, np.sqrt(sigma2 / x.size), x.size) for n in range(problem.clients)
        ]
        return x - eta * np.mean(each, axis=0)

    def visiting(x: Any, problem: Any, rng: Any, eta: float) -> Any:
        for n in rng.permutation(problem.clients):
            x = x - eta * problem.gradient(n, x)
        return x

    def shuffled(x: Any, problem: Any, rng: Any, eta: float) -> Any:
        ends = []
        for n in range(problem.clients):
            y = x
            for i in rng.permutation(problem.samples[n]):
                y = y - eta * problem.gradient(n, y, i)
            ends.append(y)
        return np.mean(ends, axis=0)

    assert diff(of(noisy), mine).agrees
    assert diff(of(algorithms.reshuffled_clients), visiting).agrees
    assert diff(of(algorithms.random_reshuffling), shuffled).agrees
    wrong = diff(of(noisy), lambda x, problem, rng, eta, sigma2: mine(x, problem, rng, eta, sigma2 / 4))
    assert not wrong.agrees


def test_networks_have_their_matrix() -> None:
    def mine(x: Any, problem: Any, eta: float, W: Any) -> Any:
        return W @ x - eta * np.array([problem.gradient(n, v) for n, v in enumerate(x)])

    assert diff(of(algorithms.dgd), mine).agrees
    assert not diff(of(algorithms.dgd), lambda x, problem, eta, W: mine(x, problem, eta, W @ W)).agrees


def test_single_precision_has_a_tolerance_of_its_own() -> None:
    import torch

    def single(x: torch.Tensor, problem: Any, eta: float) -> torch.Tensor:
        y = x.float()
        return y - eta * problem.full_gradient(y)

    found = diff(of(algorithms.gradient_descent), single)
    assert found.agrees
    assert found.tolerance == 1e-4
    assert 1e-9 < found.worst < 1e-6
    strict = diff(of(algorithms.gradient_descent), single, tolerance=1e-10)
    assert not strict.agrees
    assert any("single precision" in note for note in strict.notes)


def test_equations_between_parameters_hold() -> None:
    """fedmim's A is 1 - sum_j alpha_j by its claims: a code may compute it."""

    def mine(x: Any, past: Any, problem: Any, draws: Any, record: Any, **parameters: Any) -> Any:
        parameters["A"] = 1 - parameters["alpha"].sum()
        del parameters["J"]
        return written.fedmim(x, past, problem, draws, record, **parameters)

    assert diff(known("fedmim/theorem-iv1-eq7"), mine).agrees


@pytest.mark.slow
def test_equations_may_count_samples() -> None:
    """Katyusha's loop has H = 2 max_n n turns by its claim: a code may take them from the problem."""
    one = known("katyusha/theorem-2-1/three")
    assert one.of is not None
    seen = []

    def mine(state: Any, problem: Any, H: int) -> Any:
        seen.append(2 * max(problem.samples) == H)
        return state

    assert not diff(one, mine).agrees
    assert seen
    assert all(seen)


# --- strategies ------------------------------------------------------------------------------------------------------


@dataclass
class FitIns:
    """flwr's, as a strategy would make it."""

    parameters: Any
    config: dict[str, Any]


class Averaging:
    """A strategy with the interface of flwr 1.x."""

    def __init__(self, S: int, weighted: bool = False) -> None:
        self.S, self.weighted = S, weighted

    def configure_fit(self, server_round: int, parameters: Any, client_manager: Any) -> list[Any]:
        assert client_manager.num_available() >= self.S
        return [(proxy, FitIns(parameters, {"round": server_round})) for proxy in client_manager.sample(self.S)]

    def aggregate_fit(self, server_round: int, results: list[Any], failures: list[Any]) -> tuple[Any, dict[str, Any]]:
        arrays = [np.load(io.BytesIO(result.parameters.tensors[0])) for _, result in results]
        weights = [result.num_examples if self.weighted else 1 for _, result in results]
        buffer = io.BytesIO()
        np.save(buffer, np.average(arrays, axis=0, weights=weights))
        return type(results[0][1].parameters)([buffer.getvalue()]), {}


class Client:
    """A client with the interface of flwr's NumPyClient."""

    def __init__(self, n: int, problem: Any, rng: Any, eta: float, H: int) -> None:
        self.n, self.problem, self.rng, self.eta, self.H = n, problem, rng, eta, H

    def fit(self, parameters: list[Any], config: dict[str, Any]) -> tuple[list[Any], int, dict[str, Any]]:
        (y,) = parameters
        for _ in range(self.H):
            i = self.rng.integers(self.problem.samples[self.n])
            y = y - self.eta * self.problem.gradient(self.n, y, i)
        return [y], self.problem.samples[self.n], {}


def test_a_strategy_with_flwrs_interface() -> None:
    assert diff(of(algorithms.fedavg), flower(Averaging, Client)).agrees
    by_samples = diff(of(algorithms.fedavg), flower(lambda S: Averaging(S, weighted=True), Client))
    assert not by_samples.agrees  # the program's mean does not weigh clients by their samples
    assert by_samples.smallest is not None
    assert {"as many samples at every client", "one sample a client"} & set(by_samples.smallest.agrees)


@dataclass
class ServerState:
    """As a fedjax algorithm has it."""

    params: Any


def test_an_algorithm_with_fedjaxs_interface() -> None:
    class Algorithm_:
        def __init__(self, problem: Any, eta: float, H: int, scale: float = 1.0) -> None:
            self.problem, self.eta, self.H, self.scale = problem, eta, H, scale

        def init(self, params: Any) -> ServerState:
            return ServerState(params)

        def apply(self, state: ServerState, clients: Any) -> tuple[ServerState, dict[str, Any]]:
            ends = []
            for _, data, key in clients:
                y = state.params
                for _ in range(self.H):
                    y = y - self.eta * self.scale * self.problem.gradient(data.n, y, key.integers(len(data)))
                ends.append(y)
            return ServerState(np.mean(ends, axis=0)), {}

    assert diff(of(algorithms.fedavg), fedjax(lambda problem, eta, H: Algorithm_(problem, eta, H))).agrees
    found = diff(of(algorithms.fedavg), fedjax(lambda problem, eta, H: Algorithm_(problem, eta, H, 2.0)))
    assert found.slip is not None
    assert found.slip.reads[0][2] == "y3_n = y2_n - 2*eta*grad f_{n,i_n}(y2_n)"


# --- what is refused -------------------------------------------------------------------------------------------------


def raising(x: Any, problem: Any, eta: float) -> Any:
    raise KeyError("weights")


def random_of_its_own(x: Any, problem: Any, eta: float) -> Any:
    return x - eta * problem.full_gradient(x) + np.random.default_rng().normal(size=x.shape)


def in_place(x: Any, problem: Any, eta: float) -> Any:
    x -= eta * problem.full_gradient(x)
    return x


REFUSED = [
    (raising, r"raising raised KeyError: 'weights' \(test_diff.py, line \d+\)"),
    (random_of_its_own, "returned something else when it was called again"),
    (lambda x, eta: None, "returned None"),
    (lambda x, eta: x[:1], r"returned x of shape \(1,\), not \(3,\) = \(d,\)"),
    (lambda x, eta: {"y": x}, "returned y, and not x"),
    (lambda x, eta: {"x": x, "y": x}, "returned 'y', which is no state"),
    (lambda x, eta: "text", "is no array of numbers"),
    (lambda x, learning_rate: x, "asks for 'learning_rate'"),
    (lambda problem, eta: 0, "asks neither for a state"),
    (lambda x, problem: problem.gradient(7, x), "client=7 is outside the integers in"),
    (lambda x, problem: problem.gradient(0, x, []), "samples is empty"),
    (lambda x, rng: x + rng.exponential(), "rng.exponential is not among"),
    (lambda x0, rounds: [x0], r"returned x of shape \(1, 3\), not \(4, 3\)"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_what_is_no_implementation_is_refused(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        diff(of(algorithms.gradient_descent), function)


def test_what_is_not_a_number_differs() -> None:
    found = diff(of(algorithms.gradient_descent), lambda x: x * np.nan)
    assert not found.agrees
    assert found.first is not None
    assert "nan" in found.first.words


def test_a_state_that_is_changed_in_place_is_told() -> None:
    found = diff(of(algorithms.gradient_descent), in_place)
    assert found.agrees
    assert any("changes its argument x in place" in note for note in found.notes)


def test_names_and_numbers_that_are_given() -> None:
    def mine(w: Any, problem: Any, lr: float) -> Any:
        assert lr == 0.25
        return w - lr * problem.full_gradient(w)

    one = of(algorithms.gradient_descent)
    assert diff(one, mine, rename={"w": "x", "lr": "eta"}, given={"eta": 0.25}).agrees
    assert diff(one, lambda x, problem: x - problem.full_gradient(x) / 4, given={"eta": 0.25}).agrees
    with pytest.raises(ValueError, match="--rename rate=eta: mine has no argument 'rate'; it has w, problem, lr"):
        diff(one, mine, rename={"w": "x", "lr": "eta", "rate": "eta"})
    with pytest.raises(ValueError, match="--rename lr=zeta: the program has no 'zeta'; it has x, eta, state"):
        diff(one, mine, rename={"w": "x", "lr": "zeta"})
    with pytest.raises(ValueError, match="--set gamma: the parameters are eta"):
        diff(one, mine, given={"gamma": 1})
    with pytest.raises(ValueError, match="speaks of no algorithm"):
        diff("textbook/young", mine)
    with pytest.raises(ValueError, match=r"tolerance=2 is outside \(0, 1\)"):
        diff(one, mine, tolerance=2)


def test_the_assertion_fails_with_the_line() -> None:
    assert assert_implements(of(algorithms.fedprox), written.fedprox).agrees
    with pytest.raises(AssertionError, match="prox of mu f_n at x"):
        assert_implements(of(algorithms.fedprox), written.fedprox_with_mu_upside_down)


# --- the command -----------------------------------------------------------------------------------------------------


SCAFFOLD = "scaffold/lemma-15-finite"


def test_the_command_prints_what_the_documentation_shows() -> None:
    docs = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "my_scaffold.py").read_text(encoding="utf-8")
    (function,) = re.findall(r"```python\n(def scaffold.*?)```", docs, re.DOTALL)
    assert function in re.sub(r": (Any|float|int)|( -> Any)", "", example)  # the page leaves out the types
    shown = call("diff", SCAFFOLD, "--implementation", f"{ROOT / 'examples' / 'my_scaffold.py'}:scaffold")
    assert shown.exit_code == 1
    assert f"```text\n{shown.stdout}```" in docs


def test_the_command() -> None:
    code = str(ROOT / "examples" / "my_scaffold.py")
    good = call("diff", SCAFFOLD, "--implementation", f"{code}:mended", "--json")
    assert good.exit_code == 0, good.stderr
    assert json.loads(good.stdout)["agrees"] is True
    for text, message in (
        ("nowhere:f", "there is no module 'nowhere' here"),
        (f"{code}:nothing", "has no 'nothing'; it has scaffold, mended"),
        ("nowhere.py:f", "there is no file nowhere.py"),
        ("plain", "is not module:function"),
    ):
        done = call("diff", SCAFFOLD, "--implementation", text)
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in done.stderr
    done = call("diff", SCAFFOLD, "--implementation", f"{code}:mended", "--rename", "x")
    assert done.exit_code == 2
    assert "is not YOURS=THEIRS" in done.stderr
