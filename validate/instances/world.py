"""An instance as a sentence sees it that speaks of no round: its parameters, points and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from theory.arithmetic import to_element
from theory.formula import UndefinedError
from theory.operations import Element, operations, to_fraction
from theory.sentence import TURNS, Expression, SentenceError, Vocabulary, evaluate, index_of, remembered
from validate.instances.instance import Instance
from validate.instances.problems import Minimisers, Problem, Vector, which_of
from validate.instances.scalars import LONGEST_RATIONAL, Given, Schedule

MOST_SUMMED = 10**5
"""Terms that are gone through."""


class SilentError(UndefinedError):
    """The sentence does not speak of this instance: f has no minimiser, or is unbounded below."""


def _norm2(v: Vector) -> Element:
    total = v[0] * v[0]
    for x in v[1:]:
        total = total + x * x
    return total


def _dot(u: Vector, v: Vector) -> Element:
    _same(u, v)
    total = u[0] * v[0]
    for x, y in zip(u[1:], v[1:], strict=True):
        total = total + x * y
    return total


def _same(u: Vector, v: Vector) -> None:
    if len(u) != len(v):
        raise ValueError(f"vectors of {len(u)} and of {len(v)} coordinates meet")


def _plus(u: Vector, v: Vector) -> Vector:
    _same(u, v)
    return tuple([x + y for x, y in zip(u, v, strict=True)])


def _minus(u: Vector, v: Vector) -> Vector:
    _same(u, v)
    return tuple([x - y for x, y in zip(u, v, strict=True)])


class Still:
    """The part of a world (`theory.sentence.worlds.World`) that needs no run: numbers, points, functions.

    Args:
        instance: which.
        constants: values of names that the algorithm's parameters do not give (``L``, ``mu``): Fractions, tuples of
            them for one a client, or a `Schedule`.
        words: the names that sentences may use.

    Attributes:
        scalar_functions: the operations on numbers, by name.
        vector_functions: those on vectors.
        kept: what `theory.sentence.worlds.evaluate` has found, as nothing changes.
        choice: which of the minimisers is meant where there are more than one.

    Raises:
        ValueError: for a constant that has another value as a parameter of the algorithm.
    """

    def __init__(
        self, instance: Instance, constants: Mapping[str, Given] | None = None, words: Vocabulary | None = None
    ) -> None:
        self.instance = instance
        self.words = words or Vocabulary(vectors=tuple(instance.vectors))
        self.choice = 0
        self.kept: dict[Any, Any] = {}
        given: dict[str, Given] = dict(instance.parameters)
        given["K"] = Fraction(instance.rounds)
        for name, size in (("N", instance.clients), ("d", instance.dim)):
            if size is not None:
                given[name] = Fraction(size)
        for name, value in (constants or {}).items():
            if name in given and given[name] != value:
                raise ValueError(f"{name}={value}, and the instance has {name}={given[name]}")
            given[name] = value
        self.given = {name: _elements(value) for name, value in given.items()}
        self.scalar_functions: Mapping[str, Callable[..., Any]] = operations(LONGEST_RATIONAL, False)
        over = self.scalar_functions["/"]

        def quotient(v: Vector, c: Element) -> Vector:
            return tuple([over(x, c) for x in v])

        root = self.scalar_functions["sqrt"]
        self.vector_functions: Mapping[str, Callable[..., Any]] = {
            "+": _plus,
            "-": _minus,
            "neg": lambda v: tuple([-x for x in v]),
            "*": lambda v, c: tuple([x * c for x in v]),
            "/": quotient,
            "norm2": _norm2,
            "norm": lambda v: root(_norm2(v)),
            "dot": _dot,
        }
        self._points: dict[Any, Any] = {}

    @property
    def problem(self) -> Problem:
        """The problem.

        Raises:
            SentenceError: where there is none.
        """
        if self.instance.problem is None:
            raise SentenceError("the sentence speaks of functions, and the instance has no problem")
        return self.instance.problem

    def constant(self, value: Fraction) -> Element:
        """A number that is written."""
        return to_element(value)

    def parameter(self, name: str, at: Mapping[str, int]) -> Element:
        """A parameter, N, d, K or fstar; of ``p_n`` that of client ``at["n"]``."""
        if name == "fstar":
            found = self.problem.infimum()
            if found is None:
                raise SilentError("f is unbounded below")
            return found
        written, index = (name, "") if name in self.given else index_of(name)
        if written not in self.given:
            raise SentenceError(f"{name} has no value")
        value = self.given[written]
        if isinstance(value, Schedule):
            # a schedule that is named without its index is meant in every round, as is one a client for every client
            k = at["k" if name.endswith("_k") else "*k"]
            if k >= len(value.values):
                raise SentenceError(f"{name} has no value in round {k}")
            return value.values[k]
        if isinstance(value, tuple):
            if value and isinstance(value[0], tuple):
                if index == "ni" or name.endswith("_ni"):
                    return value[at["n"]][at["i"]]
                raise SentenceError(f"{name} is a matrix, and a number is needed")
            last = name.rpartition("_")[2] if index == "" else index
            return value[at[last if last in ("n", "i", *TURNS) else "*n"]]
        return value

    def many(self, name: str) -> str:
        """``"*n"`` or ``"*k"`` where a name without index is one number a client, or a round; else empty."""
        value = self.given.get(name)
        if index_of(name)[1]:
            return ""
        if isinstance(value, Schedule):
            return "*k"
        if name in self.weights:
            return ""
        return "*n" if isinstance(value, tuple) and not (value and isinstance(value[0], tuple)) else ""

    def minimisers(self, *which: int) -> Minimisers:
        """Where f, or f_n, is least.

        Raises:
            SilentError: where it is nowhere.
        """
        if which not in self._points:
            self._points[which] = self.problem.minimisers(tuple(map(to_element, self.instance.start)), *which)
        found: Minimisers = self._points[which]
        if not found.points:
            raise SilentError(found.why or f"{f'f_n of client {which[0] + 1}' if which else 'f'} has no minimiser")
        return found

    def point(self, name: str, at: Mapping[str, int]) -> Vector:
        """x0, xstar, xstar_n, or a free vector."""
        if name in self.instance.vectors:
            if name not in self._points:
                value = self.instance.vectors[name]
                self._points[name] = _elements(value)
            found = self._points[name]
            return found[at["n"]] if name.endswith("_n") else found
        if name == "x0":
            if self.instance.problem is None:
                raise SentenceError("the sentence speaks of x0, and the instance has no start")
            return tuple(map(to_element, self.instance.start))
        if name not in ("xstar", "xstar_n"):
            raise SentenceError(f"the vector {name} has no value")
        points = self.minimisers(*((at["n"],) if name == "xstar_n" else ())).points
        return points[self.choice if self.choice < len(points) else 0]

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """A state or a tap: there is none without a run."""
        raise SentenceError(f"{name}[...]: there is no run")

    def function(self, name: str, v: Vector, at: Mapping[str, int]) -> Element:
        """f, f_n or f_ni at v."""
        return self.problem.value(v, *which_of(name, at))

    def gradient(self, name: str, v: Vector, at: Mapping[str, int]) -> Vector:
        return self.problem.gradient(v, *which_of(name, at))

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Element:
        """The operations of formulas on numbers."""
        return self.scalar_functions[operation](*arguments)

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """The operations on vectors."""
        return self.vector_functions[operation](*arguments)

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """The values of an index that is bound."""
        if index == "n":
            if self.instance.clients is None and "N" not in self.given:
                raise SentenceError("nothing says how many clients there are")
            return range(self.instance.clients or int(to_fraction(self.given["N"])))
        if index == "i":
            return range(self.problem.samples(at["n"]))
        if index == "k":
            return range(few_terms(self.instance.rounds))
        return range(self.remembers(e, index))

    @property
    def weights(self) -> frozenset[str]:
        """The parameters that are one number for each remembered vector."""
        program = self.instance.program
        return frozenset() if program is None else program.weights

    def remembers(self, e: Expression, index: str) -> int:
        """How many vectors are remembered, of those that have the index in a tree.

        Raises:
            SentenceError: where nothing has it, or they are not equally many.
        """
        states, names = self.words.kept.about(e, ("remembered", index), lambda: remembered(e, index, self.words))
        sizes = {len(value) for value in (self.given.get(name) for name in names) if isinstance(value, tuple)}
        if states and self.instance.program is not None:
            lengths = zip(self.instance.program.state, self.instance.lengths, strict=True)
            sizes |= {length for s, length in lengths if s.name in states and length is not None}
        if len(sizes) != 1:
            raise SentenceError(f"the index {index} has no range: there is no turn and no remembered vector with it")
        return int(sizes.pop())

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """E of a tree: nothing is random without a run."""
        return evaluate(e, self, at, self.words)

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """A quantile of what is not random."""
        return evaluate(e, self, at, self.words)

    def least(self, weights: tuple[Any, ...], radius: Element | None = None) -> Vector:
        """The minimiser of sum_n(q_n*f_n), or that over a ball.

        Raises:
            UndefinedError: where there is none or more than one; where a weight is irrational.
        """
        from flint import fmpq

        if not all(isinstance(q, fmpq) for q in weights):
            raise UndefinedError("argmin_n of weights that are not rational")
        key = ("argmin_n", weights)
        if key not in self._points:
            problem = self.problem.weighted(tuple(map(to_fraction, weights)))
            self._points[key] = problem.minimisers(tuple(map(to_element, self.instance.start)))
        found: Minimisers = self._points[key]
        if not found.unique:
            raise UndefinedError("sum_n(q_n*f_n) has no minimiser, or more than one")
        point = found.points[0]
        if radius is None or _norm2(point) <= radius * radius:
            return point
        if len(point) > 1 or not _norm2(point) > radius * radius:
            raise UndefinedError("the minimiser over a ball that binds, in several dimensions")
        return (radius if point[0] > 0 else -radius,)


def few_terms(rounds: int) -> int:
    """K, where each of so many rounds may be gone through.

    Raises:
        UndefinedError: where there are too many.
    """
    if rounds > MOST_SUMMED:
        raise UndefinedError(f"there are {rounds} terms, more than {MOST_SUMMED}")
    return rounds


def _elements(value: Any) -> Any:
    if isinstance(value, Schedule):
        return Schedule(tuple(map(to_element, value.values)))
    return tuple(map(_elements, value)) if isinstance(value, tuple) else to_element(_rational(value))


def _rational(value: Any) -> Any:
    """The fraction that a float is, as the second eigenvalue of a network may be one; others as they are."""
    return Fraction(value) if isinstance(value, float) else value
