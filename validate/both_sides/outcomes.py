"""Values that hang on the outcome: functions of what states and taps turn out to be, and their quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from theory.operations import UndecidedError
from validate.play import Item

Outcome: TypeAlias = Mapping[Item, Any]


@dataclass(frozen=True)
class OfOutcome:
    """A tree with its indices put in: a value, or a function of what states and taps turn out to be.

    Attributes:
        value: where it hangs on no outcome.
        function: of an outcome; None where there is a value.
        items: the states and taps that it needs.
    """

    value: Any = None
    function: Callable[[Outcome], Any] | None = None
    items: frozenset[Item] = frozenset()

    def at(self, outcome: Outcome) -> Any:
        """The value in an outcome."""
        return self.value if self.function is None else self.function(outcome)


def together(parts: Sequence[OfOutcome], apply: Callable[..., Any]) -> OfOutcome:
    """A function of several."""
    if all(part.function is None for part in parts):
        return OfOutcome(apply(*[part.value for part in parts]))
    items = frozenset[Item]().union(*(part.items for part in parts))
    if len(parts) == 1:
        one = parts[0].function
        assert one is not None
        return OfOutcome(None, lambda outcome: apply(one(outcome)), items)
    pairs = [(part.function, part.value) for part in parts]
    return OfOutcome(None, lambda outcome: apply(*[v if f is None else f(outcome) for f, v in pairs]), items)


def remembering(function: Callable[[Outcome], Any]) -> Callable[[Outcome], Any]:
    """The function, worked out once for an outcome that is asked for several times in a row."""
    last: list[Any] = [None, None]

    def remembered(outcome: Outcome) -> Any:
        if last[0] is not outcome:
            last[1] = function(outcome)
            last[0] = outcome
        return last[1]

    return remembered


def quantile(law: list[tuple[Any, Any]], q: Any) -> Any:
    """The least of the values that is exceeded with probability at most 1 - q.

    Args:
        law: values with their probabilities, rational or balls. Of balls it is a ball around the quantile of the lower
            and of the upper ends, as it does not fall when a value rises.
        q: a probability.

    Raises:
        UndecidedError: where balls do not tell how much probability is left.
    """
    from flint import arb

    if not any(isinstance(value, arb) for value, _ in law):
        return _quantile(law, q)
    balls_ = [(arb(value), p) for value, p in law]
    lower, upper = (_quantile([(getattr(v, end)(), p) for v, p in balls_], q) for end in ("lower", "upper"))
    return lower.union(upper)


def _quantile(law: list[tuple[Any, Any]], q: Any) -> Any:
    """Of values that can be ordered."""
    so_far = q - q
    found = law[0][0]
    for found, p in sorted(law, key=lambda pair: _Ordered(pair[0])):
        so_far = so_far + p
        if so_far >= q:
            return found
        if not so_far < q:
            raise UndecidedError("whether the outcomes up to here have the probability of the quantile")
    return found


class _Ordered:
    """A number for `sorted`, which wants nothing but <."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Ordered) -> bool:
        return bool(self.value < other.value)
