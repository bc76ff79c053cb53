"""What a SPEC says: a plain dictionary of numbers and strings about scalar quadratics (`theory.papers.specs`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.problems import Quadratic, from_samples, scalar
from theory.papers.specs import SPECS

if TYPE_CHECKING:
    from sim.trace import Trace
    from theory.program import Program

Spec = Mapping[str, Any]
Number = Callable[[Any, str], Any]

LARGEST_COUNT = 10**9
"""Of rounds, and of steps of each kind: far beyond what can be computed, and within what a machine can count."""

_EXPONENT = re.compile(r"[eE]([+-]?[0-9_]+)\s*$")
_LARGEST_EXPONENT = 30_000  # of a decimal
_AGAIN = "condition"


@dataclass(frozen=True, eq=False)
class Scenario:
    """An algorithm on a problem, for a number of rounds from a start.

    Attributes:
        name: a few words for the reader.
        algorithm: the name of its round, as `validate.instances.named.algorithm_named` reads it.
        parameters: by the round's names; numbers, lists of one a client or a lag, or ``{"k": [...]}``, one a round (or
            a list of one a client in each).
        problem: N clients in one dimension, without weights.
        shares: (N,), what each client's function is multiplied by: 1, or N times its weight and the factor.
        rounds: K >= 0, or epochs.
        start: (1,).
        steps: gradients that a client takes in a round.
        again: whether a round in which nobody takes part is drawn again.
    """

    name: str
    algorithm: str
    parameters: Mapping[str, Any]
    problem: Quadratic
    shares: tuple[Any, ...]
    rounds: int
    start: Any
    steps: int
    again: bool = False

    @property
    def program(self) -> Program:
        """Its round."""
        from theory.program import Algorithm
        from validate.instances.named import algorithm_named

        found = algorithm_named(self.algorithm)
        return found.program if isinstance(found, Algorithm) else found

    @property
    def objective(self) -> Quadratic:
        """In float64 the clients' functions, each times its share; f is their mean."""
        p, shares = self.problem, np.array([float(s) for s in self.shares])
        hessian, linear, offset = (np.asarray(a, dtype=float) for a in (p.hessian, p.linear, p.offset))
        by_client = shares[:, None]
        return Quadratic(
            hessian * by_client[..., None, None], linear * by_client[..., None], offset * by_client, p.counts
        )

    def simulate(self, runs: int, seed: int = 0, **options: Any) -> Trace:
        """R runs by `sim.simulate`; `options` are those of `validate.scenario_runs.simulated`."""
        from validate.scenario_runs import simulated

        return simulated(self, runs, seed, **options)


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
    step = _steps(spec["step"], number, rounds, length)
    curvatures, others, chances = _clients(spec["clients"], table, number, rounds)
    clients = len(curvatures)
    counts = {old: count(spec, old) if old in spec else clients for old in own}
    if "S" in absent and counts["S"] > clients:
        raise ValueError(f"S={counts['S']} is outside the integers in [1, {clients}], 1..N")
    algorithm, again = _algorithm(spec, table)
    names = table["parameters"]
    shares: tuple[Any, ...] = (1,) * clients
    divided: Any = 1
    if weights:
        divided = number(spec.get(factor, 1), factor)
        if divided <= 0:
            raise ValueError(f"{factor}={shown(spec[factor])} is outside (0, inf)")
        shares = tuple(divided * clients * weight for weight in _weights(spec, weights, number, clients))
    parameters: dict[str, Any] = {names[old]: value for old, value in counts.items()}
    parameters[names["step"]] = {"k": [v / divided for v in step]} if isinstance(step, list) else step / divided
    for old, new in table["clients"].items():
        assert old == "p"
        parameters[new] = {"k": chances} if isinstance(chances[0], list) else chances
    if lags:
        parameters |= _lags(spec, lags, number)
        parameters[table["rest"]] = 1 - sum(parameters[lags[0]])
    inner = [counts[old] for old in own if old not in absent]
    linear = table["sample"][1] == "b"
    return Scenario(
        name=name or kind,
        algorithm=algorithm,
        parameters=parameters,
        problem=_linear(curvatures, others, exact) if linear else scalar(curvatures, others, exact=exact),
        shares=shares,
        rounds=rounds,
        start=np.array([number(spec[start], start)], dtype=object if exact else np.float64),
        steps=math.prod(inner),
        again=again,
    )


def _steps(value: Any, number: Number, rounds: int, length: str) -> Any:
    """One number, or one a round."""
    step = number_or_list(value, "step", number)
    if isinstance(step, list) and len(step) != rounds:
        unit = "a round" if length == "K" else f"an {length.removesuffix('s')}"
        raise ValueError(f"step has {len(step)} entries; it needs one {unit}, {length}={rounds}")
    for k, one in enumerate(as_list(step)):
        if not one > 0:
            where = f"step[{k}]" if isinstance(step, list) else "step"
            raise ValueError(f"{where}={one} is outside (0, inf)")
    return step


def _algorithm(spec: Spec, table: Mapping[str, Any]) -> tuple[str, bool]:
    """The round by the rules that a SPEC gives, and whether rounds are drawn again."""
    rules, again = [], False
    for j, (rule, otherwise) in enumerate(table["rules"]):
        known = dict.fromkeys(key[j] for key in table["algorithms"])
        value = spec.get(rule, otherwise)
        if value == _AGAIN and rule == "empty":
            value, again = otherwise, True
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{rule}={shown(value)} is not one of {(*known, *([_AGAIN] if rule == 'empty' else []))}")
        rules.append(value)
    return table["algorithms"][tuple(rules)], again


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


def _lags(spec: Spec, keys: Sequence[str], number: Number) -> dict[str, list[Any]]:
    """The weights of the lags, filled up to one length."""
    found = {}
    for key in keys:
        own = number_or_list(spec.get(key, []), key, number)
        if not isinstance(own, list):
            raise ValueError(f"{key}={shown(spec[key])} is not a list of one weight a lag")
        for j, weight in enumerate(own):
            if weight < 0:
                raise ValueError(f"{key}[{j}]={weight} is outside [0, inf)")
        found[key] = own
    if not sum(found[keys[0]]) < 1:
        raise ValueError(f"{keys[0]}={shown(spec[keys[0]])} has the sum {sum(found[keys[0]])}, outside [0, 1)")
    longest = max(1, *map(len, found.values()))
    return {key: [*own, *[number(0, key)] * (longest - len(own))] for key, own in found.items()}


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
