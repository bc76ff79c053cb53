"""An instance, and its one JSON form."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from theory.arithmetic import balls
from theory.formula import Formula, Name, UndefinedError, names_in, text_of
from theory.program import VALUE, Algorithm, Instruction, Loop, Program, Step
from validate.instances.domains import check, integer
from validate.instances.kinds import problem_of, read_problem
from validate.instances.numbers import entries, number, number_json
from validate.instances.problems import Problem
from validate.instances.scalars import Given, Scalars, Schedule

MOST_ROUNDS, MOST_TERMS = 100_000, 10**12
"""K of a run; and where there is none, so that it is a number only."""
LONGEST_TEXT = 20_000_000  # characters of an instance as text
PRECISION = 128  # bits in which arguments with roots are checked
KEYS = ("algorithm", "parameters", "problem", "start", "rounds", "vectors")
Use: TypeAlias = Literal["number", "matrix", "weights", "length"]
Resolver: TypeAlias = "Callable[[str], Algorithm | Program]"


@dataclass(frozen=True)
class Instance:
    """Everything that is to be known to play: all numbers are Fractions.

    A list of numbers is one a client, or the J weights of ``w.combine``, as the program uses it.

    Attributes:
        program: what is played; None for sentences without an algorithm.
        parameters: of the program, by name: a number, one a client, a `Schedule`, the rows of a matrix, or weights.
        problem: the clients' functions; None for sentences about vectors or numbers alone.
        start: x0, of d entries; empty where there is no problem.
        rounds: K, at least 1; up to 10^12 where there is no program.
        vectors: the free vectors of a sentence, by name; of ``a_n`` a tuple of N of them.
        algorithm: how the algorithm is called, ``paper/name`` or ``file.py:name``.

    Raises:
        ValueError: where an argument of the program is outside its domain: there is no such instance.
    """

    program: Program | None = None
    parameters: Mapping[str, Given] = field(default_factory=dict)
    problem: Problem | None = None
    start: tuple[Fraction, ...] = ()
    rounds: int = 1
    vectors: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    algorithm: str = ""

    def __post_init__(self) -> None:
        most = MOST_TERMS if self.program is None else MOST_ROUNDS
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int) or not 1 <= self.rounds <= most:
            raise ValueError(f"rounds={self.rounds!r} is outside the integers in [1, {most}]")
        if self.problem is not None and len(self.start) != self.problem.dim:
            raise ValueError(
                f"start has {len(self.start)} entries, and the problem has d={self.problem.dim} coordinates"
            )
        if self.problem is None and self.start:
            raise ValueError("start is given, and no problem")
        if self.program is None:
            if self.parameters:
                raise ValueError(
                    f"parameters has {', '.join(self.parameters)}, and there is no algorithm that has parameters"
                )
            return
        if self.problem is None:
            raise ValueError("problem is missing: an algorithm is played on one")
        _check_parameters(self)
        with balls(PRECISION):
            _check_arguments(self)

    @property
    def clients(self) -> int | None:
        """N; None where nothing says it."""
        if self.problem is not None:
            return self.problem.clients
        return next((len(v) for name, v in self.vectors.items() if name.endswith("_n")), None)

    @property
    def dim(self) -> int | None:
        """d; None where nothing says it."""
        if self.problem is not None:
            return self.problem.dim
        for name, v in self.vectors.items():
            return len(v[0]) if name.endswith("_n") else len(v)
        return None

    @cached_property
    def lengths(self) -> tuple[int | None, ...]:
        """Of each state variable, how many vectors are remembered; None for a variable that remembers none."""
        if self.program is None:
            return ()
        with balls(PRECISION):
            return tuple(_length(self, s.length, s.name) for s in self.program.state)

    def scalars(self) -> Scalars:
        """The compiler of the program's scalars on this instance."""
        assert self.problem is not None
        uses = {} if self.program is None else uses_of(self.program)
        numbers = {name: given for name, given in self.parameters.items() if uses.get(name, "number") == "number"}
        return Scalars(numbers, self.problem.clients, self.problem.dim)

    def to_json(self) -> dict[str, Any]:
        """As plain data; `read_instance` reads it."""
        found: dict[str, Any] = {}
        if self.program is not None:
            found["algorithm"] = self.algorithm or self.program.name
            found["parameters"] = {name: _given_json(given) for name, given in self.parameters.items()}
        if self.problem is not None:
            found["problem"] = self.problem.to_json()
            found["start"] = [number_json(x) for x in self.start] if len(self.start) > 1 else number_json(self.start[0])
        if self.vectors:
            found["vectors"] = {name: _given_json(v) for name, v in self.vectors.items()}
        found["rounds"] = self.rounds
        return found


def read_instance(
    data: Mapping[str, Any] | str,
    algorithm: Algorithm | Program | Resolver | None = None,
    schedules: Collection[str] = (),
) -> Instance:
    """An instance from its JSON form.

    A list among the parameters is one number a client where it has N entries, else a schedule where it has at least K;
    ``{"k": [...]}`` is a schedule in any case.

    Args:
        data: the form as plain data, or as text.
        algorithm: what the instance's text ``algorithm`` stands for, or a function that finds it.
        schedules: names of parameters that are schedules for certain, as a claim's ``eta_k`` says.

    Raises:
        ValueError: naming argument, value and domain.
    """
    if isinstance(data, str):
        if len(data) > LONGEST_TEXT:
            raise ValueError(f"the instance has {len(data)} characters; the limit is {LONGEST_TEXT}")
        try:
            data = json.loads(data, parse_float=str)  # a decimal keeps all its digits
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the instance is no JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise ValueError(f"an instance is to be an object with {', '.join(KEYS[:5])}, not {type(data).__name__}")
    unknown = [str(key) for key in data if key not in KEYS]
    if unknown:
        raise ValueError(f"the instance has {unknown[0]!r}; it may have {', '.join(KEYS)}")
    called = data.get("algorithm", "")
    if not isinstance(called, str):
        raise ValueError(f"algorithm={called!r} is outside the texts paper/name and file.py:name")
    found = _resolved(called, algorithm)
    program = found.program if isinstance(found, Algorithm) else found
    rounds = data.get("rounds", 1 if program is None else None)
    if isinstance(rounds, bool) or not isinstance(rounds, int):
        raise ValueError(f"rounds={rounds!r} is outside the integers in [1, {MOST_ROUNDS}]")
    problem = read_problem(data["problem"]) if data.get("problem") is not None else None
    if program is not None and problem is None:
        raise ValueError("problem is missing: an algorithm is played on one")
    start: tuple[Fraction, ...] = ()
    if "start" in data:
        given = data["start"]
        start = tuple(entries("start", given)) if isinstance(given, list | tuple) else (number("start", given),)
    elif problem is not None:
        raise ValueError("start is missing: a vector of d numbers")
    parameters = _read_parameters(data.get("parameters", {}), program, problem, rounds, schedules)
    if isinstance(found, Algorithm):
        parameters = {**{n: v for n, v in found.defaults.items() if n not in parameters}, **parameters}
    vectors = _read_vectors(data.get("vectors", {}))
    return Instance(program, parameters, problem, start, rounds, vectors, called)


def instance_of(
    algorithm: Algorithm | Program | None,
    problem: Any,
    start: Sequence[Any],
    values: Mapping[str, Any],
    rounds: int,
    schedules: Collection[str] = (),
    called: str = "",
) -> Instance:
    """An instance from Python's numbers.

    Args:
        algorithm: what is played.
        problem: a `Problem`, or what one is made of: an exact `sim.problems.Quadratic`.
        start: x0, (d,).
        values: by name, numbers and lists (nested for a matrix) as `read_instance` takes them; names that the program
            does not have (a claim's constants) are left out.
        rounds: K.
        schedules: as of `read_instance`.
        called: ``paper/name`` or ``file.py:name``.

    Raises:
        ValueError: as `read_instance`.
    """
    found = problem_of(problem)
    program = algorithm.program if isinstance(algorithm, Algorithm) else algorithm
    used = {} if program is None else uses_of(program)
    known = set() if program is None else {*program.parameters, *used}
    own = {name: _nested(value) for name, value in values.items() if name in known}
    parameters = _read_parameters(own, program, found, rounds, schedules)
    if isinstance(algorithm, Algorithm):
        parameters = {**{n: v for n, v in algorithm.defaults.items() if n not in parameters}, **parameters}
    return Instance(program, parameters, found, tuple(entries("start", list(start))), rounds, {}, called)


def _nested(value: Any) -> Any:
    """Arrays and tuples as lists, NumPy's numbers as Python's; a `Schedule` as it is written."""
    if isinstance(value, Schedule):
        return {"k": list(value.values)}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_nested(v) for v in value] if isinstance(value, list | tuple) else value


def _resolved(called: str, algorithm: Algorithm | Program | Resolver | None) -> Algorithm | Program | None:
    if algorithm is None:
        if called:
            raise ValueError(f"algorithm={called!r}: no such algorithm is known here; it is to be handed over")
        return None
    if isinstance(algorithm, Algorithm | Program):
        return algorithm
    if not called:
        raise ValueError("algorithm is missing: paper/name or file.py:name")
    return algorithm(called)


# --- parameters ------------------------------------------------------------------------------------------------------


def uses_of(program: Program) -> dict[str, Use]:
    """How the program uses each of its parameters: as a number, a matrix, weights, or the length of a memory.

    Raises:
        ValueError: for a parameter that is used as more than one of these.
    """
    return dict(program.kept.once("uses", lambda: _uses_of(program)))


def _uses_of(program: Program) -> dict[str, Use]:
    found: dict[str, Use] = {}

    def use(name: str, how: Use) -> None:
        if found.setdefault(name, how) != how:
            if {found[name], how} == {"number", "length"}:
                found[name] = "number"
                return
            raise ValueError(f"{name} is used as a {found[name]} and as a {how}")

    for s in program.state:
        for name in () if s.length is None else names_in(s.length):
            use(name, "length")
    for step in program.steps:
        if isinstance(step, Instruction) and step.op in ("mix", "combine"):
            use(step.label, "matrix" if step.op == "mix" else "weights")
        for name in (name for formula in _numbers(step) for name in names_in(formula)):
            if name in program.parameters:
                use(name, "number")
    return found


def _numbers(step: Step) -> tuple[Formula, ...]:
    """The scalars of an instruction, or of a loop."""
    if isinstance(step, Instruction):
        return step.numbers
    return () if step.count is None else (step.count,)


def _read_parameters(
    data: Any, program: Program | None, problem: Problem | None, rounds: int, schedules: Collection[str]
) -> dict[str, Given]:
    if not isinstance(data, Mapping):
        raise ValueError(f"parameters is to be an object with a value for each name, not {type(data).__name__}")
    if program is None or problem is None:
        if data:
            raise ValueError(
                f"parameters has {', '.join(map(str, data))}, and there is no algorithm that has parameters"
            )
        return {}
    uses = uses_of(program)
    found: dict[str, Given] = {}
    for name, value in data.items():
        name, use = str(name), uses.get(str(name), "number")
        where = f"parameters: {name}"
        if isinstance(value, Mapping):
            if set(value) != {"k"}:
                raise ValueError(f"{where} is to be a number, a list, or the schedule {{'k': [...]}}")
            found[name] = Schedule(tuple(entries(where, value["k"])))
        elif not isinstance(value, list | tuple):
            found[name] = number(where, value)
        elif value and isinstance(value[0], list | tuple):
            found[name] = tuple(tuple(entries(f"{where}[{i}]", row)) for i, row in enumerate(value))
        else:
            numbers = tuple(entries(where, value))
            by_round = name in schedules or (len(numbers) != problem.clients and len(numbers) >= rounds)
            found[name] = Schedule(numbers) if use == "number" and by_round else numbers
    return found


def _check_parameters(instance: Instance) -> None:
    program, problem, parameters = instance.program, instance.problem, instance.parameters
    assert program is not None
    assert problem is not None
    uses = uses_of(program)
    for name, size in (("N", problem.clients), ("d", problem.dim)):
        if name in program.parameters and name not in parameters:
            parameters = {**parameters, name: Fraction(size)}
        if name in parameters and parameters[name] != size:
            raise ValueError(f"parameters: {name}={_shown(parameters[name])}, and the problem has {name}={size}")
    object.__setattr__(instance, "parameters", parameters)
    known = [*program.parameters, *(n for n, use in uses.items() if use == "length" and n not in program.parameters)]
    for name in parameters:
        if name not in known:
            raise ValueError(f"parameters has {name!r}; {program.name} has {', '.join(known) or 'none'}")
    missing = [name for name in program.parameters if name not in parameters]
    if missing:
        raise ValueError(f"parameters: {missing[0]} is missing; {program.name} has {', '.join(program.parameters)}")
    for name, given in parameters.items():
        _check_shape(name, given, uses.get(name, "number"), problem, instance.rounds)


def _check_shape(name: str, given: Given, use: Use, problem: Problem, rounds: int) -> None:
    N, where = problem.clients, f"parameters: {name}"
    matrix = isinstance(given, tuple) and bool(given) and isinstance(given[0], tuple)
    if use == "matrix":
        rows: Any = given
        if not matrix or len(rows) != N or any(len(row) != N for row in rows):
            raise ValueError(f"{where} is to be a matrix of {N} rows and columns, one for each client")
    elif use == "weights":
        if not isinstance(given, tuple) or matrix or not given:
            raise ValueError(f"{where} is to be a list of weights")
    elif matrix or (use == "length" and not isinstance(given, Fraction)):
        raise ValueError(
            f"{where} is to be a number" + ("" if use == "length" else ", a list of N of them, or a schedule")
        )
    elif isinstance(given, Schedule):
        if len(given.values) < rounds:
            raise ValueError(f"{where} has values for {len(given.values)} rounds, and there are K={rounds}")
    elif isinstance(given, tuple) and len(given) != N:
        raise ValueError(f"{where} has {len(given)} numbers; there are N={N} clients and K={rounds} rounds")


def _length(instance: Instance, formula: Formula | None, name: str) -> int | None:
    if formula is None:
        return None
    assert instance.program is not None
    parameters = dict(instance.parameters)
    if isinstance(formula, Name) and formula.name not in parameters:  # then the weights say it
        weights = [parameters[name] for name in instance.program.weights]
        sizes = {len(given) for given in weights if isinstance(given, tuple)}
        if len(sizes) != 1:
            raise ValueError(f"parameters: {formula.name} is missing: how many vectors {name} remembers")
        parameters[formula.name] = Fraction(sizes.pop())
    assert instance.problem is not None
    scalars = Scalars(parameters, instance.problem.clients, instance.problem.dim)
    value = scalars.compiled(formula, {})
    if value.per_client or value.by_round:
        raise ValueError(f"{name} remembers {text_of(formula)} vectors, which is to be one number")
    return integer(f"{name}: {text_of(formula)}", value.value(()), 1, 10_000)


def _check_arguments(instance: Instance) -> None:
    """Refuse arguments that are outside their domain; those that hang on draws and turns are seen when played."""
    program, problem = instance.program, instance.problem
    assert program is not None
    assert problem is not None
    scalars = instance.scalars()
    for step, position, formula, text in _arguments(program):
        compiled = scalars.compiled(formula, {})
        for k in range(instance.rounds if compiled.by_round else 1):
            scalars.k = k
            try:
                value = compiled.value(())
            except UndefinedError:
                continue  # says nothing, which whoever measures counts
            check(step, position, text, value, compiled.per_client, problem)
    lengths = {s.name: length for s, length in zip(program.state, instance.lengths, strict=True) if length is not None}
    kinds = dict(zip(program.inputs, program.state, strict=True))
    for step in program.steps:  # a combine of what came in; one of what a shift made is seen when played
        if isinstance(step, Instruction) and step.op == "combine" and step.of[0] in kinds:
            weights: Any = instance.parameters[step.label]
            name = kinds[step.of[0]].name
            if len(weights) != lengths[name]:
                raise ValueError(
                    f"parameters: {step.label} has {len(weights)} weights, and {name} remembers {lengths[name]} vectors"
                )


def _arguments(program: Program) -> list[tuple[Step, int, Formula, str]]:
    """Steps with the places of those of their numbers that hang on no draw and on no turn, and these as text."""

    def found() -> list[tuple[Step, int, Formula, str]]:
        turns = _turns(program)
        return [
            (step, position, formula, text_of(formula))
            for step in program.steps
            for position, formula in enumerate(_numbers(step))
            if not any(VALUE.match(name) or name in turns for name in names_in(formula))
        ]

    return program.kept.once("arguments", found)


def _turns(program: Program) -> frozenset[str]:
    return frozenset(step.index for step in program.steps if isinstance(step, Loop) and step.op == "repeat")


# --- vectors and writing ---------------------------------------------------------------------------------------------


def _read_vectors(data: Any) -> dict[str, tuple[Any, ...]]:
    if not isinstance(data, Mapping):
        raise ValueError(f"vectors is to be an object with a vector for each name, not {type(data).__name__}")
    found: dict[str, tuple[Any, ...]] = {}
    for name, value in data.items():
        where = f"vectors: {name}"
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise ValueError(f"{where} is to be a list of numbers, or a list of vectors for {name} with _n")
        if str(name).endswith("_n"):
            found[str(name)] = tuple(tuple(entries(f"{where}[{n}]", v)) for n, v in enumerate(value))
        else:
            found[str(name)] = tuple(entries(where, value))
    rows = [v for name, value in found.items() for v in (value if name.endswith("_n") else (value,))]
    if len({len(v) for v in rows}) > 1:
        raise ValueError("vectors: they have different numbers of coordinates")
    if len({len(value) for name, value in found.items() if name.endswith("_n")}) > 1:
        raise ValueError("vectors: there are different numbers of clients")
    return found


def _given_json(given: Any) -> Any:
    if isinstance(given, Schedule):
        return {"k": [number_json(v) for v in given.values]}
    return [_given_json(v) for v in given] if isinstance(given, tuple) else number_json(given)


def _shown(given: Given) -> str:
    return str(given) if isinstance(given, Fraction) else "a list"
