"""Shuffling local SGD made concrete: the scenario of Algorithm 4 of PERM on scalar quadratics, and its SPEC.

    {"algorithm": "shuffling-local-sgd", "clients": [{"h": "1", "b": "1"}, {"h": ["1", "2"], "b": ["0", "3"]}],
     "alpha": ["1/2", "1/2"], "step": "1/8", "local_steps": 2, "epochs": 3, "v0": "3"}

with f_{n,i}(v) = h_i/2 v^2 - b_i v, f_n their average (lists: several samples a client), Phi = sum_n alpha_n f_n.
"step" may be a list of one number an epoch. With "factor" the moments are those of the objective factor Phi, such as
"1/2" for the Phi of the paper's (3) with two clients, which has 1/N in front; the iterates are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.algorithms import ShufflingSGD
from sim.problems import Quadratic, from_samples
from validate.scenario import Spec, as_list, check_keys, count, floating, number_or_list, rational, shown

if TYPE_CHECKING:
    from sim.trace import Trace

ALGORITHM = "shuffling-local-sgd"

METRICS = ("suboptimality", "squared_gradient_norm")
"""Recorded unless others are asked for; also cost, squared_iterate_norm, squared_distance (to v*), iterate."""


@dataclass(frozen=True, eq=False)
class ShufflingScenario:
    """Shuffling local SGD of one model on a problem, for a number of epochs from a start.

    It is used as `validate.scenario.Scenario` is: `rounds` are its epochs.

    Attributes:
        name: a few words for the reader.
        algorithm: step, local steps and weights alpha.
        problem: N clients in d dimensions.
        rounds: R >= 0 epochs.
        start: v^0, shape (d,).
        factor: > 0; the objective is factor sum_n alpha_n f_n.
    """

    name: str
    algorithm: ShufflingSGD
    problem: Quadratic
    rounds: int
    start: Any
    factor: Any = 1

    def simulate(
        self, runs: int, seed: int = 0, *, metrics: Sequence[str] = METRICS, device: str = "cpu", **options: Any
    ) -> Trace:
        """R runs by the simulator, with metrics of the objective factor Phi.

        Args:
            runs: R.
            seed: of the random numbers.
            metrics: names; see `METRICS`.
            device: "cpu", the only one.
            options: those of `sim.run_shuffling`, such as ball, first_run, progress.

        Raises:
            ValueError: for an argument outside its domain, or a metric that does not exist here.
        """
        from sim import run_shuffling
        from sim.trace import Trace
        from validate.instances.engines import in_floats
        from validate.instances.problems import weighted_quadratic

        if device != "cpu":
            raise ValueError(f"device={device!r} is not 'cpu', where shuffling local SGD is simulated")
        weights = [float(self.factor * w) for w in self.algorithm.weights]
        objective = weighted_quadratic(in_floats(self.problem), weights)
        known: dict[str, Callable[[Any], Any]] = {
            "suboptimality": objective.suboptimality,
            "cost": objective.cost,
            "squared_gradient_norm": lambda v: (objective.gradient(v) ** 2).sum(axis=-1),
            "squared_iterate_norm": lambda v: (v**2).sum(axis=-1),
            "squared_distance": lambda v: ((v - objective.minimiser) ** 2).sum(axis=-1),
            "iterate": lambda v: v,
        }
        for name in metrics:
            if name not in known:
                raise ValueError(f"metrics has {name!r}, which is not one of {sorted(known)}")
        trace = run_shuffling(
            self.algorithm,
            self.problem,
            epochs=self.rounds,
            runs=runs,
            seed=seed,
            start=self.start,
            metrics=("iterate",),
            **options,
        )
        values = {name: known[name](trace["iterate"]) for name in metrics}
        return Trace(values=values, final=trace.final, seed=trace.seed, first_run=trace.first_run)

    @classmethod
    def from_spec(cls, spec: Spec, *, exact: bool, name: str = "") -> ShufflingScenario:
        """Read a SPEC.

        Args:
            spec: the dictionary described at the top of this module; numbers may be integers, decimals or strings
                such as "1/5". A decimal means what it says: 0.1 is 1/10.
            exact: keep every number a Fraction; else float64.
            name: for the reader.

        Raises:
            ValueError: naming the entry, its value and what it may be.
        """
        import numpy as np

        check_keys(
            spec, required=("clients", "alpha", "step", "local_steps", "epochs", "v0"), optional=("algorithm", "factor")
        )
        if spec.get("algorithm", ALGORITHM) != ALGORITHM:
            raise ValueError(f"algorithm={shown(spec['algorithm'])} is not {ALGORITHM!r}")
        number: Callable[[Any, str], Any] = rational if exact else floating
        epochs = count(spec, "epochs", least=0)
        step = number_or_list(spec["step"], "step", number)
        if isinstance(step, list) and len(step) != epochs:
            raise ValueError(f"step has {len(step)} entries; it needs one an epoch, epochs={epochs}")
        curvatures, slopes = linear_clients(spec["clients"], number)
        alpha = number_or_list(spec["alpha"], "alpha", number)
        if not isinstance(alpha, list) or len(alpha) != len(curvatures):
            raise ValueError(f"alpha={shown(spec['alpha'])} is not a list of one weight a client, N={len(curvatures)}")
        for n, weight in enumerate(alpha):
            if weight < 0:
                raise ValueError(f"alpha[{n}]={shown(spec['alpha'][n])} is outside [0, inf)")
        factor = number(spec.get("factor", 1), "factor")
        if factor <= 0:
            raise ValueError(f"factor={shown(spec['factor'])} is outside (0, inf)")
        return cls(
            name=name or ALGORITHM,
            algorithm=ShufflingSGD(step=step, local_steps=count(spec, "local_steps"), weights=tuple(alpha)),
            problem=from_samples(
                [[[[value]] for value in own] for own in curvatures],
                [[[value] for value in own] for own in slopes],
                exact=exact,
            ),
            rounds=epochs,
            start=np.array([number(spec["v0"], "v0")], dtype=object if exact else np.float64),
            factor=factor,
        )


def linear_clients(clients: Any, number: Callable[[Any, str], Any]) -> tuple[list[list[Any]], list[list[Any]]]:
    """h and b by client and sample, of f_{n,i}(v) = h_i/2 v^2 - b_i v; a single number stands for one sample.

    Args:
        clients: the entry of a SPEC.
        number: reads a number, given its value and its name.

    Raises:
        ValueError: naming the entry, its value and what it may be.
    """
    if not isinstance(clients, list | tuple) or not clients:
        raise ValueError(f"clients={shown(clients)} is not a list of at least one client")
    curvatures, slopes = [], []
    for n, client in enumerate(clients):
        if not isinstance(client, Mapping):
            raise ValueError(f"clients[{n}]={shown(client)} is not an object with entries h and b")
        check_keys(client, required=("h", "b"), optional=(), where=f"clients[{n}]")
        h, b = (as_list(number_or_list(client[key], f"clients[{n}].{key}", number)) for key in ("h", "b"))
        if len(h) != len(b) or not h:
            raise ValueError(f"clients[{n}] has {len(h)} values of h and {len(b)} of b; it needs as many, at least one")
        curvatures.append(h)
        slopes.append(b)
    return curvatures, slopes
