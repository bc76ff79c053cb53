"""A claim made concrete: problem, algorithm, participation, rounds and start.

A scenario on scalar quadratics can be read from and written to a plain dictionary of strings (SPEC), which is also
what a certificate carries:

    {"algorithm": "fedavg-svrg", "clients": [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}], "step": "1/5",
     "S": 2, "M": 3, "K": 3, "theta0": "3"}

with f_{n,i}(t) = h_i/2 (t-a_i)^2. "local-sgd" has "local_steps" in place of "S" and "M". Both take "aggregation"
("unbiased" | "normalised") and "empty" ("keep" | "zero" | "condition"). "p" is 1 when absent, and may be a list of K
values; "step" may be a list of K values. Shuffling local SGD and FedMIM have a SPEC and a class of their own
(`validate.shuffling_scenario`, `validate.inertial_scenario`); `read_scenario` reads any.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.participation import Bernoulli
from sim.problems import Quadratic, scalar

if TYPE_CHECKING:
    from sim.trace import Trace
    from validate.inertial_scenario import InertialScenario
    from validate.shuffling_scenario import ShufflingScenario

Algorithm = FedAvgSVRG | FedAvg
Spec = Mapping[str, Any]

LARGEST_COUNT = 10**9
"""Of rounds, and of steps of each kind: far beyond what can be computed, and within what a machine can count."""

_RULES = ("aggregation", "empty")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9_]+)\s*$")
_LARGEST_EXPONENT = 30_000  # of a decimal


def _svrg(spec: Spec, step: Any, rules: dict[str, Any]) -> FedAvgSVRG:
    return FedAvgSVRG(step=step, snapshots=count(spec, "S"), inner=count(spec, "M"), **rules)


def _local_sgd(spec: Spec, step: Any, rules: dict[str, Any]) -> FedAvg:
    return FedAvg(step=step, local_steps=count(spec, "local_steps"), **rules)


ALGORITHMS: dict[str, tuple[tuple[str, ...], Callable[[Spec, Any, dict[str, Any]], Algorithm]]] = {
    "fedavg-svrg": (("S", "M"), _svrg),
    "local-sgd": (("local_steps",), _local_sgd),
}


class OfRounds:
    """What scenarios share that the simulator of rounds repeats."""

    problem: Quadratic
    algorithm: Any
    participation: Any
    rounds: int
    start: Any

    def simulate(self, runs: int, seed: int = 0, **options: Any) -> Trace:
        """R runs by the simulator; `options` are those of `sim.run`, such as metrics, first_run, device, progress."""
        from sim import run

        return run(
            self.algorithm,
            self.problem,
            self.participation,
            rounds=self.rounds,
            runs=runs,
            seed=seed,
            start=self.start,
            **options,
        )


@dataclass(frozen=True, eq=False)
class Scenario(OfRounds):
    """An algorithm on a problem, for a number of rounds from a start.

    Attributes:
        name: a few words for the reader.
        algorithm: what the clients and the server do.
        problem: N clients in d dimensions.
        participation: who takes part.
        rounds: K >= 0.
        start: theta^0, shape (d,).
    """

    name: str
    algorithm: Algorithm
    problem: Quadratic
    participation: Any
    rounds: int
    start: Any

    @classmethod
    def from_spec(cls, spec: Spec, *, exact: bool, name: str = "") -> Scenario:
        """Read a SPEC.

        Args:
            spec: the dictionary described at the top of this module; numbers may be integers, decimals or strings
                such as "1/5". A decimal means what it says: 0.1 is 1/10.
            exact: keep every number a Fraction; else float64.
            name: for the reader.

        Raises:
            ValueError: naming the entry, its value and what it may be.
        """
        if not isinstance(spec, Mapping):
            raise ValueError(f"the specification is a {type(spec).__name__}, not an object with named entries")
        kind = spec.get("algorithm")
        if kind not in ALGORITHMS:
            raise ValueError(f"algorithm={shown(kind)} is not one of {sorted(ALGORITHMS)}")
        own, build = ALGORITHMS[kind]
        check_keys(spec, required=("clients", "step", "K", "theta0", *own), optional=("algorithm", *_RULES))
        number: Callable[[Any, str], Any] = rational if exact else floating
        rounds = count(spec, "K", least=0)
        step = number_or_list(spec["step"], "step", number)
        if isinstance(step, list) and len(step) != rounds:
            raise ValueError(f"step has {len(step)} entries; it needs one a round, K={rounds}")
        curvatures, centres, chances = _clients(spec["clients"], number, rounds)
        rules = {key: spec[key] for key in _RULES if key in spec}
        import numpy as np

        return cls(
            name=name or kind,
            algorithm=build(spec, step, rules),
            problem=scalar(curvatures, centres, exact=exact),
            participation=Bernoulli(chances),
            rounds=rounds,
            start=np.array([number(spec["theta0"], "theta0")], dtype=object if exact else np.float64),
        )


def read_scenario(spec: Spec, *, exact: bool, name: str = "") -> Scenario | ShufflingScenario | InertialScenario:
    """The scenario of a SPEC of any algorithm; arguments and errors as in `Scenario.from_spec`."""
    from validate import inertial_scenario, shuffling_scenario

    kind = spec.get("algorithm") if isinstance(spec, Mapping) else None
    if kind == shuffling_scenario.ALGORITHM:
        return shuffling_scenario.ShufflingScenario.from_spec(spec, exact=exact, name=name)
    if kind == inertial_scenario.ALGORITHM:
        return inertial_scenario.InertialScenario.from_spec(spec, exact=exact, name=name)
    if isinstance(spec, Mapping) and not (isinstance(kind, str) and kind in ALGORITHMS):
        known = sorted([*ALGORITHMS, shuffling_scenario.ALGORITHM, inertial_scenario.ALGORITHM])
        raise ValueError(f"algorithm={shown(kind)} is not one of {known}")
    return Scenario.from_spec(spec, exact=exact, name=name)


def rational(value: Any, name: str) -> Fraction:
    """A number as a Fraction; a decimal means what it says (0.1 is 1/10).

    Raises:
        ValueError: for anything that is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ValueError(f"{name}={shown(value)} is not a number or a fraction such as '1/8'")
    if isinstance(value, str) and len(value) > 10_000:
        raise ValueError(f"{name} has {len(value)} characters; a number here has at most 10000")
    exponent = _EXPONENT.search(value) if isinstance(value, str) else None
    if exponent and (len(exponent[1]) > 10 or abs(int(exponent[1])) > _LARGEST_EXPONENT):
        limits = f"[-{_LARGEST_EXPONENT}, {_LARGEST_EXPONENT}]"
        raise ValueError(f"{name}={shown(value)} is too large to be written out: its exponent is outside {limits}")
    try:
        if isinstance(value, str) and len(value) <= SHORT:
            result = _fraction(value)
        else:
            result = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name}={shown(value)} is not a finite number or a fraction such as '1/8'") from None
    if max(abs(result.numerator), result.denominator).bit_length() > 100_000:
        raise ValueError(f"{name}={shown(value)} is too large")
    return result


SHORT = 64  # characters; longer numbers are not kept, as they may be as long as they like


@lru_cache(maxsize=4096)
def _fraction(text: str) -> Fraction:
    """The number that a text stands for: the instances of a paper have few different ones, and each very often."""
    return Fraction(text)


def shown(value: Any) -> str:
    """A value for a message, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of very many digits; lists in lists
        return f"a very long {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:150]}... ({len(text)} characters)"


def floating(value: Any, name: str) -> float:
    """A number as a float64; values and errors as of `rational`, and an error for what is beyond float64."""
    if type(value) is float and math.isfinite(value):
        return value + 0.0  # -0.0 is 0
    try:
        return float(rational(value, name))
    except OverflowError:
        raise ValueError(f"{name}={shown(value)} is beyond the range of float64") from None


def check_keys(spec: Spec, required: Sequence[str], optional: Sequence[str], where: str = "the specification") -> None:
    """Refuse an object that lacks a required entry, or has one that is neither required nor optional.

    Raises:
        ValueError: naming the entries.
    """
    missing = [key for key in required if key not in spec]
    if missing:
        raise ValueError(f"{where} lacks {', '.join(missing)}")
    unknown = [str(key) for key in spec if key not in (*required, *optional)]
    if unknown:
        allowed = ", ".join([*required, *optional])
        raise ValueError(f"{where} has unknown entries {', '.join(unknown)}; it may have {allowed}")


def count(spec: Spec, key: str, least: int = 1) -> int:
    """An integer of at least `least`, or text that is one.

    Raises:
        ValueError: for anything else, and beyond `LARGEST_COUNT`.
    """
    value = spec[key]
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,100}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{key}={shown(value)} is not an integer in [{least}, inf)")
    if value > LARGEST_COUNT:
        raise ValueError(f"{key}={shown(value)} is more than {LARGEST_COUNT}, which nothing here can do")
    return value


def number_or_list(value: Any, key: str, number: Callable[[Any, str], Any]) -> Any:
    """A number, or a list of numbers, read by `number`."""
    if isinstance(value, list | tuple):
        return [number(entry, f"{key}[{i}]") for i, entry in enumerate(value)]
    return number(value, key)


def _clients(clients: Any, number: Callable[[Any, str], Any], rounds: int) -> tuple[list[Any], list[Any], Any]:
    """Curvatures and centres by client and sample; participation probabilities (N,) or (K, N)."""
    if not isinstance(clients, list | tuple) or not clients:
        raise ValueError(f"clients={shown(clients)} is not a list of at least one client")
    curvatures, centres, chances = [], [], []
    for n, client in enumerate(clients):
        if not isinstance(client, Mapping):
            raise ValueError(f"clients[{n}]={shown(client)} is not an object with entries h, a and p")
        check_keys(client, required=("h", "a"), optional=("p",), where=f"clients[{n}]")
        h, a = (as_list(number_or_list(client[key], f"clients[{n}].{key}", number)) for key in ("h", "a"))
        if len(h) != len(a) or not h:
            raise ValueError(f"clients[{n}] has {len(h)} values of h and {len(a)} of a; it needs as many, at least one")
        p = number_or_list(client.get("p", 1), f"clients[{n}].p", number)
        if isinstance(p, list) and len(p) != rounds:
            raise ValueError(f"clients[{n}].p has {len(p)} entries; it needs one a round, K={rounds}")
        for value in as_list(p):
            if not 0 < value <= 1:
                raise ValueError(f"clients[{n}].p={rational(value, 'p')} is outside (0, 1]")
        curvatures.append(h)
        centres.append(a)
        chances.append(p)
    if any(isinstance(p, list) for p in chances):
        by_client = [p if isinstance(p, list) else [p] * rounds for p in chances]
        return curvatures, centres, [list(row) for row in zip(*by_client, strict=True)]
    return curvatures, centres, chances


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]
