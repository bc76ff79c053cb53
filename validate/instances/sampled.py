"""Problems that are lists of functions: of each client, its samples, all of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np


class _Function(Protocol):
    @property
    def dim(self) -> int: ...


T = TypeVar("T", bound=_Function)


@dataclass(frozen=True)
class Sampled(Generic[T]):
    """A problem whose samples are functions of one kind.

    Attributes:
        functions: of each client, its samples.

    Raises:
        ValueError: where clients or samples are missing, or numbers of coordinates differ.
    """

    functions: tuple[tuple[T, ...], ...]

    FORMS: ClassVar[tuple[frozenset[str], ...]] = ()
    """The keys of a sample in the JSON form, for each way to write it."""

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
    def counts(self) -> Any:
        """(N,) int, the samples of each client."""
        return np.array([len(own) for own in self.functions])


@dataclass(frozen=True)
class Averaged(Sampled[T], ABC):
    """Functions whose means are functions of the same kind."""

    @staticmethod
    @abstractmethod
    def mean_of(functions: Sequence[T]) -> T:
        """The mean of functions."""

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
