"""The rounds that engines of `sim` compute faster than the general ones, as programs.

An instance is theirs where its program is equal to one of these (`theory.program.renaming`: whatever its names are); no
name is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.program import Program, renaming
from validate.instances import engine_rounds as rounds
from validate.instances.instance import Instance
from validate.instances.problems import Quadratics
from validate.instances.scalars import Schedule

if TYPE_CHECKING:
    from sim.problems import Quadratic
    from validate.scenario import Scenario


@dataclass(frozen=True)
class Values:
    """An instance's parameters under the names of an engine's program.

    Attributes:
        given: numbers, tuples of them, or a `Schedule`, in fractions.
    """

    given: Mapping[str, Any]

    def plain(self, name: str) -> Any:
        """A number; a list of one a round where it is a schedule.

        Raises:
            ValueError: where it is one number a client.
        """
        value = self.given[name]
        if isinstance(value, tuple):
            raise ValueError(f"{name} is one number a client")
        return [*map(float, value.values)] if isinstance(value, Schedule) else float(value)

    def count(self, name: str) -> int:
        """An integer.

        Raises:
            ValueError: for anything else.
        """
        value = self.given[name]
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise ValueError(f"{name} is no integer")
        return int(value)

    def chances(self, name: str, clients: int) -> Any:
        """p: one for all, (N,), or (K, N)."""
        value = self.given[name]
        if isinstance(value, Schedule):
            return [[float(v)] * clients for v in value.values]
        return [*map(float, value)] if isinstance(value, tuple) else float(value)


Made: TypeAlias = Callable[[Values, int], "tuple[Any, Any] | None"]


@dataclass(frozen=True)
class Engine:
    """A round that an engine of `sim` computes.

    Attributes:
        program: the round.
        made: of its parameters and N, the engine's algorithm and who takes part; a ValueError or None where the engine
            does not take these parameters.
    """

    program: Program
    made: Made


def scenario_of(instance: Instance) -> Scenario | None:
    """The scenario that an engine computes in place of this instance; None where no engine has its round.

    Args:
        instance: any.
    """
    if instance.program is None or not isinstance(instance.problem, Quadratics):
        return None
    found = _engine(instance.program)
    if found is None:
        return None
    engine, names = found
    values = Values({mine: _cut(instance.parameters[theirs], instance.rounds) for mine, theirs in names.items()})
    try:
        made = engine.made(values, instance.problem.clients)
        if made is None:
            return None
        return _scenario(*made, instance)
    except ValueError:  # the general engine says what is wrong with them, if anything is
        return None


def engine_for(program: Program, parameters: Mapping[str, Any], clients: int) -> tuple[Any, Any] | None:
    """The algorithm and participation with which `sim.run` computes a program; None where no engine has its round.

    Args:
        program: any.
        parameters: by its names: floats, integers, or one float a client.
        clients: N.
    """
    found = _engine(program)
    if found is None:
        return None
    engine, names = found
    given = {mine: parameters[theirs] for mine, theirs in names.items()}
    given = {k: Fraction(v) if isinstance(v, int) else tuple(v) if np.ndim(v) else v for k, v in given.items()}
    return engine.made(Values(given), clients)


def _cut(given: Any, rounds: int) -> Any:
    """A schedule of just so many rounds; anything else as it is."""
    return Schedule(given.values[:rounds]) if isinstance(given, Schedule) else given


def _scenario(algorithm: Any, participation: Any, instance: Instance) -> Scenario:
    from validate.scenario import Scenario

    assert isinstance(instance.problem, Quadratics)
    return Scenario(
        name=instance.algorithm or algorithm.name,
        algorithm=algorithm,
        problem=in_floats(instance.problem.quadratic),
        participation=participation,
        rounds=instance.rounds,
        start=np.array(instance.start, dtype=np.float64),
    )


def in_floats(problem: Quadratic) -> Quadratic:
    """The same problem in float64."""
    from sim.problems import Quadratic

    hessian, linear, offset = (np.asarray(a, dtype=float) for a in (problem.hessian, problem.linear, problem.offset))
    return Quadratic(hessian, linear, offset, problem.counts)


@lru_cache(maxsize=64)
def _engine(program: Program) -> tuple[Engine, Mapping[str, str]] | None:
    for engine in engines():
        names = renaming(program, engine.program)
        if names is not None:
            return engine, names
    return None


@lru_cache(maxsize=1)
def engines() -> tuple[Engine, ...]:
    """All of them."""
    found = []
    for (aggregation, empty), rule in rounds.RULES.items():
        found.append(Engine(rounds.svrg_round(rule).program, _svrg(aggregation, empty)))
        found.append(Engine(rounds.local_round(rule).program, _local(aggregation, empty)))
    for everybody in (rounds.mean, rounds.moves):
        found.append(Engine(rounds.svrg_of_all(everybody).program, _svrg("unbiased", "keep")))
        found.append(Engine(rounds.local_of_all(everybody).program, _local("unbiased", "keep")))
    for some in (rounds.average, rounds.average_move):
        found.append(Engine(rounds.local_of_some(some).program, _local("normalised", "keep")))
    return (*found, Engine(rounds.shuffled.program, _in_order), Engine(rounds.pulled.program, _pulled))


# --- an instance's parameters as the engine takes them ---------------------------------------------------------------


def _present(values: Values, clients: int) -> Any:
    """Who takes part: by coins with chances p, S of them, or everybody."""
    from sim.participation import Bernoulli, UniformChoice

    if "p" in values.given:
        return Bernoulli(values.chances("p", clients))
    return UniformChoice(values.count("S")) if "S" in values.given else Bernoulli(1)


def _svrg(aggregation: Any, empty: Any) -> Made:
    def made(values: Values, clients: int) -> tuple[Any, Any]:
        from sim.algorithms import FedAvgSVRG
        from sim.participation import Bernoulli

        chances = values.chances("p", clients) if "p" in values.given else 1
        method = FedAvgSVRG(values.plain("delta"), values.count("S"), values.count("M"), aggregation, empty)
        return method, Bernoulli(chances)

    return made


def _local(aggregation: Any, empty: Any) -> Made:
    def made(values: Values, clients: int) -> tuple[Any, Any]:
        from sim.algorithms import FedAvg

        method = FedAvg(values.plain("eta"), values.count("H"), aggregation, empty)
        return method, _present(values, clients)

    return made


def _in_order(values: Values, clients: int) -> tuple[Any, Any]:
    """The engine steps with step alpha_n N: with equal weights it takes the steps of the program."""
    from sim.algorithms import ShufflingSGD

    share = float(Fraction(1, clients))
    return ShufflingSGD(values.plain("eta"), values.count("H"), (share,) * clients), None


def _pulled(values: Values, clients: int) -> tuple[Any, Any] | None:
    from sim.algorithms import FedMIM
    from sim.participation import UniformChoice

    alpha, beta = (values.given[name] for name in ("alpha", "beta"))
    if values.given["A"] != 1 - sum(alpha):
        return None
    lags = [tuple(map(float, weights)) for weights in (alpha, beta)]
    method = FedMIM(values.plain("eta"), values.count("H"), alpha=lags[0], beta=lags[1])
    return method, UniformChoice(values.count("S"))
