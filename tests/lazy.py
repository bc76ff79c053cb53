"""Test data that takes a while to make, by names that are known before."""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lazy(Mapping[str, Value], Generic[Value]):
    """Each value is made when it is first asked for, so that tests can be collected by the names alone."""

    def __init__(self, makers: Mapping[str, Callable[[], Value]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
