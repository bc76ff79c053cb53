"""FedMIM made concrete: the scenario of Algorithm 1 of its paper on scalar quadratics, and its SPEC.

    {"algorithm": "fedmim", "clients": [{"h": "1", "b": "1"}, {"h": ["1", "2"], "b": ["0", "3"]}], "S": 1,
     "local_steps": 2, "step": "1/8", "alpha": ["3/5", "3/10"], "beta": ["1/2"], "x0": "3", "K": 3}

with f_{n,i}(x) = h_i/2 x^2 - b_i x, f_n their average (lists: several samples a client), f = (1/N) sum_n f_n. "S" of
the clients take part, N when it is absent. "K" counts rounds, "local_steps" is the paper's K; "step" may be a list of
one number a round. "alpha" and "beta" list the weights of the lags 0, 1, ... and are empty when absent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sim.algorithms import FedMIM
from sim.participation import UniformChoice
from sim.problems import Quadratic, from_samples
from validate.scenario import OfRounds, Spec, check_keys, count, floating, number_or_list, rational, shown
from validate.shuffling_scenario import linear_clients

ALGORITHM = "fedmim"


@dataclass(frozen=True, eq=False)
class InertialScenario(OfRounds):
    """FedMIM on a problem, for a number of rounds from a start. It is used as `validate.scenario.Scenario` is.

    Attributes:
        name: a few words for the reader.
        algorithm: step, local steps and the weights of the lags.
        problem: N clients in d dimensions.
        participation: S of the N clients.
        rounds: T >= 0.
        start: x_0, shape (d,).
    """

    name: str
    algorithm: FedMIM
    problem: Quadratic
    participation: UniformChoice
    rounds: int
    start: Any

    @classmethod
    def from_spec(cls, spec: Spec, *, exact: bool, name: str = "") -> InertialScenario:
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
            spec,
            required=("clients", "local_steps", "step", "x0", "K"),
            optional=("algorithm", "S", "alpha", "beta"),
        )
        if spec.get("algorithm", ALGORITHM) != ALGORITHM:
            raise ValueError(f"algorithm={shown(spec['algorithm'])} is not {ALGORITHM!r}")
        number: Callable[[Any, str], Any] = rational if exact else floating
        rounds = count(spec, "K", least=0)
        step = number_or_list(spec["step"], "step", number)
        if isinstance(step, list) and len(step) != rounds:
            raise ValueError(f"step has {len(step)} entries; it needs one a round, K={rounds}")
        curvatures, slopes = linear_clients(spec["clients"], number)
        size = count(spec, "S") if "S" in spec else len(curvatures)
        if size > len(curvatures):
            raise ValueError(f"S={size} is outside the integers in [1, {len(curvatures)}], 1..N")
        return cls(
            name=name or ALGORITHM,
            algorithm=FedMIM(
                step=step,
                local_steps=count(spec, "local_steps"),
                alpha=_lags(spec, "alpha", number),
                beta=_lags(spec, "beta", number),
            ),
            problem=from_samples(
                [[[[value]] for value in own] for own in curvatures],
                [[[value] for value in own] for own in slopes],
                exact=exact,
            ),
            participation=UniformChoice(size),
            rounds=rounds,
            start=np.array([number(spec["x0"], "x0")], dtype=object if exact else np.float64),
        )


def _lags(spec: Spec, key: str, number: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    """The weights of the lags."""
    values: Sequence[Any] = number_or_list(spec.get(key, []), key, number)
    if not isinstance(values, list):
        raise ValueError(f"{key}={shown(spec[key])} is not a list of one weight a lag")
    return tuple(values)
