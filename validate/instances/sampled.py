"""Problems that are lists of functions: of each client, its samples, all of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from theory.operations import Element, to_fraction
from validate.instances.problems import first_equals


class _Function(Protocol):
    @property
    def dim(self) -> int: ...
    def to_json(self) -> dict[str, Any]: ...


T = TypeVar("T", bound=_Function)


@dataclass(frozen=True)
class Sampled(Generic[T], ABC):
    """A problem whose samples are functions of one kind.

    Attributes:
        functions: of each client, its samples.

    Raises:
        ValueError: where clients or samples are missing, or numbers of coordinates differ.
    """

    functions: tuple[tuple[T, ...], ...]

    FORMS: ClassVar[tuple[frozenset[str], ...]] = ()
    """The keys of a sample in the JSON form, for each way to write it."""
    LACKING: ClassVar[type[ValueError]] = ValueError

    def __post_init__(self) -> None:
        if not self.functions or not all(self.functions):
            raise ValueError("functions is to have at least one client, and each client at least one sample")
        sizes = sorted({f.dim for own in self.functions for f in own})
        if len(sizes) > 1:
            raise ValueError(f"the samples have different dimensions: {', '.join(map(str, sizes))}")

    @classmethod
    def made_of(cls) -> type:
        """Its own type: it is made of nothing else."""
        return cls

    @classmethod
    def reads(cls, sample: Mapping[str, Any]) -> bool:
        """Whether a sample is written in the form of this kind."""
        return frozenset(sample) - {"c"} in cls.FORMS

    @property
    def clients(self) -> int:
        """N."""
        return len(self.functions)

    @property
    def dim(self) -> int:
        """d."""
        return self.functions[0][0].dim

    def samples(self, n: int) -> int:
        """The number of samples of client n."""
        return len(self.functions[n])

    @cached_property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """Of each client, for each of its samples the first that is the same function."""
        return first_equals(self.functions)

    @cached_property
    def counts(self) -> Any:
        """(N,) int, the samples of each client."""
        return np.array([len(own) for own in self.functions])

    def to_json(self) -> dict[str, Any]:
        """Every sample in a form of its kind, ``c`` only where it is needed."""
        return {"clients": [[f.to_json() for f in own] for own in self.functions]}

    @abstractmethod
    def only(self, *which: int) -> Sequence[Fraction] | None:
        """(d,), the minimiser of f, f_n or f_ni, where just one is known."""

    @cached_property
    def minimiser(self) -> Any:
        """(d,), the minimiser of f.

        Raises:
            ValueError: where none is known, or more than one; of points an UndefinedError.
        """
        found = self.only()
        if found is None:
            raise self.LACKING("f has no unique minimiser that is known")
        return np.array(found, dtype=object)

    @cached_property
    def client_minimisers(self) -> Any:
        """(N, d), the minimiser of each f_n; None unless every client has exactly one."""
        found = [self.only(n) for n in range(self.clients)]
        return None if None in found else np.array(found, dtype=object)

    @abstractmethod
    def infimum(self, *which: int) -> Element | None:
        """The infimum; None where the function is unbounded below."""

    @cached_property
    def optimal_value(self) -> Fraction:
        """inf f.

        Raises:
            ValueError: where f is unbounded below, or its infimum is not known.
        """
        found = self.infimum()
        if found is None:
            raise ValueError("f is unbounded below")
        value: Fraction = to_fraction(found)
        return value


@dataclass(frozen=True)
class Averaged(Sampled[T]):
    """Functions whose sums are functions of the same kind."""

    @staticmethod
    @abstractmethod
    def read_sample(name: str, sample: Mapping[str, Any]) -> T:
        """A sample from its form; ValueError for what is no number or has the wrong shape."""

    @staticmethod
    @abstractmethod
    def mean_of(functions: Sequence[T]) -> T:
        """The mean of functions."""

    @staticmethod
    @abstractmethod
    def summed(terms: Iterable[tuple[Fraction, T]], /) -> T:
        """The sum of factor * f."""

    @classmethod
    def read(cls, clients: Sequence[Sequence[Mapping[str, Any]]]) -> Self:
        """The problem with these samples.

        Raises:
            ValueError: for what is no number or has the wrong shape.
        """
        each = enumerate(clients)
        return cls(tuple(tuple(cls.read_sample(f"clients[{n}][{i}]", s) for i, s in enumerate(own)) for n, own in each))

    def weighted(self, weights: Sequence[Fraction]) -> Self:
        """The problem whose f is sum_n(q_n*f_n)."""
        each = zip(self.functions, [self.clients * q for q in weights], strict=True)
        return type(self)(tuple(tuple(self.summed([(q, f)]) for f in own) for own, q in each))

    @cached_property
    def own(self) -> tuple[T, ...]:
        """f_n."""
        return tuple(map(self.mean_of, self.functions))

    @cached_property
    def mean(self) -> T:
        """f."""
        return self.mean_of(self.own)

    def function(self, *which: int) -> T:
        """f, f_n or f_ni."""
        if not which:
            return self.mean
        return self.own[which[0]] if len(which) == 1 else self.functions[which[0]][which[1]]

    def named(self, name: str) -> tuple[T, ...]:
        """All functions that ``f``, ``f_n`` or ``f_ni`` stands for."""
        if name == "f":
            return (self.mean,)
        return self.own if name == "f_n" else tuple(f for own in self.functions for f in own)
