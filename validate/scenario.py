"""What the fast engines of `sim` run: problem, algorithm, participation, rounds and start.

A scenario on scalar quadratics can be read from a plain dictionary of numbers and strings, a SPEC
(`theory.papers.specs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM, ShufflingSGD
from sim.participation import Bernoulli, UniformChoice
from sim.problems import Quadratic, from_samples, scalar
from theory.papers.specs import SPECS

if TYPE_CHECKING:
    from sim.trace import Trace

Spec = Mapping[str, Any]
Number = Callable[[Any, str], Any]

LARGEST_COUNT = 10**9
"""Of rounds, and of steps of each kind: far beyond what can be computed, and within what a machine can count."""

METRICS = ("suboptimality", "squared_gradient_norm")
"""Recorded unless others are asked for."""

_EXPONENT = re.compile(r"[eE]([+-]?[0-9_]+)\s*$")
_LARGEST_EXPONENT = 30_000  # of a decimal


@dataclass(frozen=True, eq=False)
class Scenario:
    """An algorithm on a problem, for a number of rounds from a start.

    Attributes:
        name: a few words for the reader.
        algorithm: what the clients and the server do.
        problem: N clients in d dimensions.
        participation: who takes part; None where every client does, one after another.
        rounds: K >= 0, or epochs.
        start: (d,).
        factor: > 0, of the objective where clients have weights: factor sum_n alpha_n f_n.
    """

    name: str
    algorithm: Any
    problem: Quadratic
    participation: Any
    rounds: int
    start: Any
    factor: Any = 1

    def simulate(self, runs: int, seed: int = 0, **options: Any) -> Trace:
        """R runs by the simulator; `options` are those of `sim.run`, such as metrics, first_run, device, progress."""
        if isinstance(self.algorithm, ShufflingSGD):
            return self._in_orders(runs, seed, **options)
        from sim import run

        return run(
            self.algorithm, self.problem, self.participation, rounds=self.rounds, runs=runs, seed=seed,
            start=self.start, **options,
        )  # fmt: skip

    def _in_orders(
        self, runs: int, seed: int, *, metrics: Sequence[str] = METRICS, device: str = "cpu", **options: Any
    ) -> Trace:
        """By `sim.run_shuffling`, with metrics of the objective; also cost, squared_iterate_norm, squared_distance
        (to its minimiser) and iterate.

        Raises:
            ValueError: for a metric that does not exist here, or a device that is not "cpu".
        """
        from sim import run_shuffling
        from sim.trace import Trace
        from validate.instances.engines import in_floats
        from validate.instances.problems import weighted_quadratic

        if device != "cpu":
            raise ValueError(f"device={device!r} is not 'cpu', where visits in random order are simulated")
        objective = weighted_quadratic(
            in_floats(self.problem), [float(self.factor * w) for w in self.algorithm.weights]
        )
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
            self.algorithm, self.problem, epochs=self.rounds, runs=runs, seed=seed, start=self.start,
            metrics=("iterate",), **options,
        )  # fmt: skip
        values = {name: known[name](trace["iterate"]) for name in metrics}
        return Trace(values=values, final=trace.final, seed=trace.seed, first_run=trace.first_run)


def read_scenario(spec: Spec, *, exact: bool, name: str = "") -> Scenario:
    """Read a SPEC.

    Args:
        spec: a dictionary as `theory.papers.specs` describes it; numbers may be integers, decimals or strings such as
            "1/5". A decimal means what it says: 0.1 is 1/10.
        exact: keep every number a Fraction; else float64.
        name: for the reader.

    Raises:
        ValueError: naming the entry, its value and what it may be.
    """
    if not isinstance(spec, Mapping):
        raise ValueError(f"the specification is a {type(spec).__name__}, not an object with named entries")
    kind = spec.get("algorithm")
    if not isinstance(kind, str) or kind not in SPECS:
        raise ValueError(f"algorithm={shown(kind)} is not one of {sorted(SPECS)}")
    table, number = SPECS[kind], rational if exact else floating
    own = [old for old in table["parameters"] if old != "step"]
    length, start, absent = table["rounds"], table["start"], table.get("absent", ())
    weights, lags, factor = table.get("weights", ()), table.get("lags", ()), table.get("factor", ())
    check_keys(
        spec,
        required=("clients", "step", length, start, *_listed(weights), *(old for old in own if old not in absent)),
        optional=("algorithm", *absent, *lags, *_listed(factor), *(rule for rule, _ in table["rules"])),
    )
    rounds = count(spec, length, least=0)
    step = number_or_list(spec["step"], "step", number)
    if isinstance(step, list) and len(step) != rounds:
        unit = "a round" if length == "K" else f"an {length.removesuffix('s')}"
        raise ValueError(f"step has {len(step)} entries; it needs one {unit}, {length}={rounds}")
    curvatures, others, chances = _clients(spec["clients"], table, number, rounds)
    counts = {old: count(spec, old) for old in own if old in spec}
    share: Any = 1
    participation: Any = Bernoulli(chances)
    method: Any
    if weights:
        participation = None
        share = number(spec.get(factor, 1), factor)
        if share <= 0:
            raise ValueError(f"{factor}={shown(spec[factor])} is outside (0, inf)")
        method = ShufflingSGD(step, counts["local_steps"], _weights(spec, weights, number, len(curvatures)))
    elif lags:
        size = counts.get("S", len(curvatures))
        if size > len(curvatures):
            raise ValueError(f"S={size} is outside the integers in [1, {len(curvatures)}], 1..N")
        participation = UniformChoice(size)
        alpha, beta = (_lags(spec, lag, number) for lag in lags)
        method = FedMIM(step, counts["local_steps"], alpha=alpha, beta=beta)
    else:
        rules: Any = {rule: spec[rule] for rule, _ in table["rules"] if rule in spec}
        if "S" in counts:
            method = FedAvgSVRG(step, counts["S"], counts["M"], **rules)
        else:
            method = FedAvg(step, counts["local_steps"], **rules)
    linear = table["sample"][1] == "b"
    return Scenario(
        name=name or kind,
        algorithm=method,
        problem=_linear(curvatures, others, exact) if linear else scalar(curvatures, others, exact=exact),
        participation=participation,
        rounds=rounds,
        start=np.array([number(spec[start], start)], dtype=object if exact else np.float64),
        factor=share,
    )


def _listed(name: Any) -> tuple[str, ...]:
    return (name,) if name else ()


def _linear(curvatures: list[Any], slopes: list[Any], exact: bool) -> Quadratic:
    """With f_{n,i}(v) = h_i/2 v^2 - b_i v."""
    hessian = [[[[value]] for value in own] for own in curvatures]
    return from_samples(hessian, [[[value] for value in own] for own in slopes], exact=exact)


def _weights(spec: Spec, key: str, number: Number, clients: int) -> tuple[Any, ...]:
    """One a client."""
    found = number_or_list(spec[key], key, number)
    if not isinstance(found, list) or len(found) != clients:
        raise ValueError(f"{key}={shown(spec[key])} is not a list of one weight a client, N={clients}")
    for n, weight in enumerate(found):
        if weight < 0:
            raise ValueError(f"{key}[{n}]={shown(spec[key][n])} is outside [0, inf)")
    return tuple(found)


def _lags(spec: Spec, key: str, number: Number) -> tuple[Any, ...]:
    """The weights of the lags."""
    found = number_or_list(spec.get(key, []), key, number)
    if not isinstance(found, list):
        raise ValueError(f"{key}={shown(spec[key])} is not a list of one weight a lag")
    return tuple(found)


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


def _clients(clients: Any, table: Mapping[str, Any], number: Number, rounds: int) -> tuple[list[Any], list[Any], Any]:
    """The two numbers of each sample by client; participation probabilities (N,) or (K, N)."""
    if not isinstance(clients, list | tuple) or not clients:
        raise ValueError(f"clients={shown(clients)} is not a list of at least one client")
    names, present = table["sample"], tuple(table["clients"])
    firsts, seconds, chances = [], [], []
    for n, client in enumerate(clients):
        where = f"clients[{n}]"
        if not isinstance(client, Mapping):
            entries = ", ".join((*names, *present))
            raise ValueError(f"{where}={shown(client)} is not an object with the entries {entries}")
        check_keys(client, required=names, optional=present, where=where)
        one, two = (as_list(number_or_list(client[name], f"{where}.{name}", number)) for name in names)
        if len(one) != len(two) or not one:
            raise ValueError(
                f"{where} has {len(one)} values of {names[0]} and {len(two)} of {names[1]}; it needs as many, at least"
                " one"
            )
        p = number_or_list(client.get("p", 1), f"{where}.p", number)
        if isinstance(p, list) and len(p) != rounds:
            raise ValueError(f"{where}.p has {len(p)} entries; it needs one a round, K={rounds}")
        for value in as_list(p):
            if not 0 < value <= 1:
                raise ValueError(f"{where}.p={rational(value, 'p')} is outside (0, 1]")
        firsts.append(one)
        seconds.append(two)
        chances.append(p)
    if any(isinstance(p, list) for p in chances):
        by_client = [p if isinstance(p, list) else [p] * rounds for p in chances]
        return firsts, seconds, [list(row) for row in zip(*by_client, strict=True)]
    return firsts, seconds, chances


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]
