"""Assumptions with constants of each client, as ``smooth(f_n, L_n)``: true of each client's functions with its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sim.problems import Quadratic
from theory import predicates as p
from theory.for_every import ForEvery
from theory.sentence import index_of, text_of
from validate.instances.sampled import Sampled
from validate.satisfied.rules import Numbers


def indexed(predicate: p.Predicate) -> bool:
    """Whether some of an assumption's constants are one a client; a sentence for every point says itself of whom."""
    return not isinstance(predicate, ForEvery) and any(
        index_of(text_of(constant))[1] == "n" for constant in predicate.constants
    )


def _alone(problem: Any, n: int) -> Any:
    """The problem of client n alone.

    Raises:
        TypeError: for a kind of problem that is no list of functions.
    """
    if isinstance(problem, Sampled):
        return replace(problem, functions=(problem.functions[n],))
    if isinstance(problem, Quadratic):
        arrays = {name: getattr(problem, name)[n : n + 1] for name in ("hessian", "linear", "offset")}
        return replace(problem, **arrays, counts=problem.counts[n : n + 1], features=None, targets=None)
    raise TypeError(f"functions of a client are not told apart in a {type(problem).__name__}")


def _of_each(predicate: p.Predicate, problem: Any) -> Iterator[Any]:
    """Of each client the problem of which the assumption speaks with the client's constants."""
    for n in range(problem.clients):
        yield problem if predicate.function == "f" else _alone(problem, n)


def true(
    predicate: p.Predicate,
    problem: Any,
    constants: Sequence[Any],
    decide: Callable[[p.Predicate, Any, Numbers], bool | None],
) -> bool | None:
    """Whether an assumption is true with constants of which some are lists, one number a client.

    Args:
        predicate: about f, f_n or f_ni, or about the gradients of a client; not `Dissimilar`, which speaks of all.
        problem: of several clients.
        constants: numbers, and lists of them.
        decide: whether it is true with these numbers.
    """
    if isinstance(predicate, p.Dissimilar):
        return None
    told = [
        decide(predicate, one, tuple(c[n] if isinstance(c, list) else c for c in constants))
        for n, one in enumerate(_of_each(predicate, problem))
    ]
    return False if False in told else None if None in told else True


def best(
    predicate: p.Predicate, problem: Any, look: Callable[[p.Predicate, Any], Numbers | None]
) -> tuple[list[Any], ...] | None:
    """The best constants, a list for each, one number a client; None where some client has none.

    Args:
        predicate: all of whose constants are one a client; no other has best ones here.
        problem: of several clients.
        look: the best constants of a problem.
    """
    if isinstance(predicate, p.Dissimilar) or not all(index_of(text_of(c))[1] == "n" for c in predicate.constants):
        return None
    found = [look(predicate, one) for one in _of_each(predicate, problem)]
    if any(numbers is None for numbers in found):
        return None
    return tuple([list(numbers) for numbers in zip(*found, strict=True)])
