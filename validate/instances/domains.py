"""The arguments of the primitives: what they may be. Outside of it there is no instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theory.formula import UndefinedError
from theory.operations import Element, UndecidedError
from theory.program import Instruction, Loop
from validate.instances.problems import Problem

MOST_TURNS = 100_000
ONE_FOR_ALL = frozenset({"choose", "coin", "repeat"})
"""The primitives whose argument is one number for all clients."""


def integer(name: str, value: Element, least: int, most: int | None, because: str = "") -> int:
    """The value of an argument that is an integer.

    Raises:
        ValueError: where it is none, or outside [least, most].
        UndecidedError: where a ball does not tell.
    """
    from flint import fmpq

    if type(value) is not fmpq and not value.is_exact():
        raise UndecidedError(f"whether {name} is an integer")
    whole = int(value)
    if whole != value or whole < least or (most is not None and whole > most):
        upper = "inf)" if most is None else f"{most}]"
        raise ValueError(f"{name}={value} is outside the integers in [{least}, {upper}{because}")
    return whole


def _interval(name: str, value: Element, good: Callable[[Any], bool], bad: Callable[[Any], bool], domain: str) -> None:
    if bad(value):
        raise ValueError(f"{name}={value} is outside {domain}")
    if not good(value):
        raise UndecidedError(f"whether {name} is in {domain}")


def _probability(name: str, p: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    _interval(name, p, lambda p: 0 < p <= 1, lambda p: p <= 0 or p > 1, "(0, 1]")


def _not_negative(name: str, value: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    _interval(name, value, lambda v: v >= 0, lambda v: v < 0, "[0, inf)")


Check = Callable[[str, Element, "Instruction | Loop", Problem, int], None]


def _choose(name: str, S: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    with_replacement = isinstance(step, Instruction) and step.flag
    most = None if with_replacement else problem.clients
    integer(name, S, 1, most, "" if with_replacement else " (S of the N clients, without replacement)")


def _sample(name: str, b: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    with_replacement = isinstance(step, Instruction) and step.flag
    most = None if with_replacement or b == 1 else problem.samples(n)
    integer(name, b, 1, most, "" if most is None else f" (client {n + 1} has {most} samples, without replacement)")


def _prox(name: str, t: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    from flint import fmpq

    try:
        problem.prox((fmpq(0),) * problem.dim, t, n)
    except UndefinedError:  # there is one, of functions that are known elsewhere
        return


def _turns(name: str, H: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    integer(name, H, 1, MOST_TURNS)


def _coordinates(name: str, m: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    integer(name, m, 1, problem.dim, " (m of the d coordinates)")


def _delay(name: str, tau: Element, step: Instruction | Loop, problem: Problem, n: int) -> None:
    integer(name, tau, 0, None)


CHECKS: Mapping[str, tuple[Check | None, ...]] = {
    "repeat": (_turns,),
    "choose": (_choose,),
    "sample": (_sample,),
    "keep": (_coordinates,),
    "top": (_coordinates,),
    "coin": (_probability,),
    "coins": (_probability,),
    "noise": (_not_negative,),
    "project": (_not_negative,),
    "clip": (_not_negative,),
    "before": (None, _delay),
    "prox": (_prox,),
}
"""By operation, the check of each of its numbers: name, value, step, problem, client."""


def check(step: Instruction | Loop, position: int, text: str, value: Any, per_client: bool, problem: Problem) -> None:
    """Refuse an argument outside of its domain.

    Args:
        step: whose argument it is.
        position: which of its arguments.
        text: the argument as formula, for messages.
        value: a number, or one a client.
        per_client: which.
        problem: whose sizes are the limits.

    Raises:
        ValueError: naming argument, value and domain.
    """
    checks = CHECKS.get(step.op, ())
    one = checks[position] if position < len(checks) else None
    if one is None:
        return
    primitive = {"full gradient": "full_gradient", "pass": "pass_over"}.get(step.op, step.op)
    where = f" (line {step.line})" if step.line else ""
    if per_client and step.op in ONE_FOR_ALL:
        raise ValueError(f"w.{primitive}({text}){where} takes one number for all clients, not one a client")
    for n in range(problem.clients):
        number = value[n] if per_client else value
        try:
            one(f"{text}" if not per_client else f"{text} of client {n + 1}", number, step, problem, n)
        except ValueError as error:
            raise ValueError(f"w.{primitive}({text}){where}: {error}") from None
        if not per_client and step.op not in ("sample", "prox"):
            break
