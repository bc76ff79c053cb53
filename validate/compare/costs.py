"""What a round costs, read off the program: gradients of samples, and how often clients' vectors are put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from theory.arithmetic import to_element
from theory.formula import Formula, Name, Number
from theory.operations import operations, to_fraction
from theory.program import Instruction, Loop, Program, Step, uses
from theory.sentence import parts

TOGETHER = frozenset({"mean", "sum", "average", "mix", "full gradient"})
"""Operations in which the clients' vectors meet."""


@dataclass(frozen=True)
class Costs:
    """Of one round, as the program is written.

    Attributes:
        gradients: of samples, a client that takes part; one of all samples counts n.
        communications: how often clients' vectors are put together, in expectation over coins that decide on it; a pass
            through the clients, one after another, hands on one vector N times.
    """

    gradients: float
    communications: float


def costs(program: Program, parameters: Mapping[str, float], clients: int, samples: int) -> Costs:
    """The costs of a round.

    Args:
        program: of the algorithm.
        parameters: of the program, with a value for each.
        clients: N.
        samples: of a client.
    """
    batches = {
        step.to: step.numbers[0] for step in program.steps if isinstance(step, Instruction) and step.op == "sample"
    }
    values = {**parameters, "N": float(clients)}
    guarded = _guarded(program)
    share = 1.0
    for step in program.steps:
        if isinstance(step, Instruction) and step.op == "choose":
            share = min(1.0, _number(step.numbers[0], values) / clients)
    gradients = communications = 0.0

    def count(steps: Iterable[Step], times: float, passing: bool) -> None:
        nonlocal gradients, communications
        for step in steps:
            if isinstance(step, Loop):
                turns = {"visit": 1.0, "pass": float(samples)}.get(step.op)
                communications += times * clients * (step.op == "visit")
                turns = _number(step.count, values) if turns is None and step.count is not None else turns or 1.0
                count(step.body, times * turns, passing or step.op == "pass")
                continue
            if step.op == "gradient" and len(step.of) > 1:
                gradients += times * (1.0 if passing else _number(batches[step.of[1]], values))
            elif step.op in ("gradient", "full gradient", "prox"):
                gradients += times * samples
            if step.op in TOGETHER:
                chance = guarded.get(step.to)
                communications += times * (1.0 if chance is None else _number(chance, values))

    count(program.body, 1.0, False)
    return Costs(gradients * share, communications)


def _guarded(program: Program) -> dict[str, Formula]:
    """The values that are used where a coin falls, and nowhere else, with its chance."""
    made = {step.to: step for step in program.steps if isinstance(step, Instruction) and step.to}
    used = uses(program.body, program.result)
    found: dict[str, Formula] = {}
    for step in made.values():
        mask = step.numbers[0] if step.op == "where" else None
        coin = made.get(mask.name) if isinstance(mask, Name) else None
        if coin is None or coin.op != "coin":
            continue
        left = [step.of[0]]
        while left:
            name = left.pop()
            if name in made and used[name] == 1:
                found[name] = coin.numbers[0]
                left += made[name].of
    return found


def _number(formula: Formula, values: Mapping[str, float]) -> float:
    """A formula in parameters, as a float."""
    if isinstance(formula, Number):
        return float(formula.value)
    if isinstance(formula, Name):
        return float(values[formula.name])
    of = tuple(to_element(_number(part, values)) for part in parts(formula))  # type: ignore[arg-type]
    return float(to_fraction(operations(4096, False)[formula.operation](*of)))
