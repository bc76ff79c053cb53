"""Programs from plain data, which are checked; nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.formula import names_in, parse
from theory.program.algorithm import state_of
from theory.program.data import (
    OPERATIONS,
    STACKS,
    VALUE,
    VECTORS,
    Carried,
    Instruction,
    Kind,
    Loop,
    Program,
    ProgramError,
    Step,
)


def from_json(data: Mapping[str, Any]) -> Program:
    """A program from `Program.to_json`.

    Raises:
        ProgramError: for data that are no program; nothing is executed.
    """
    try:
        state = tuple(state_of(str(s["name"]), str(s["initial"])) for s in data["state"])
        parameters = tuple(map(str, data["parameters"]))
        body = tuple(_step_from(step, 0) for step in data["round"])
        program = Program(str(data.get("name", "")), state, parameters, body, tuple(map(str, data["result"])))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ProgramError(f"the data are no program: {error}") from None
    known = _check_names(body, set(program.inputs), set(parameters) | {"k", "N", "d"})
    missing = [name for name in program.result if name not in known]
    if missing or len(program.result) != len(state):
        raise ProgramError(f"the data are no program: its result {list(program.result)} is not its state")
    return program


def _step_from(data: Mapping[str, Any], depth: int) -> Step:
    op: Any = str(data["do"])
    if op not in OPERATIONS:
        raise ProgramError(f"the operation {op!r} is none of {', '.join(sorted(OPERATIONS))}")
    if depth > 20:
        raise ProgramError("the loops are nested too deeply")
    if "body" in data:
        if op != "repeat" and op != "visit" and op != "pass":
            raise ProgramError(f"the operation {op!r} has no body")
        carried = tuple(
            Carried(str(c["name"]), _kind(c["kind"]), str(c["first"]), str(c["next"])) for c in data["carry"]
        )
        body = tuple(_step_from(inner, depth + 1) for inner in data["body"])
        count = parse(data["count"]) if op == "repeat" else None
        return Loop(op, str(data.get("index", "")), count, carried, body)
    of, numbers = tuple(map(str, data["of"])), tuple(parse(text) for text in data["numbers"])
    if op == "linear" and len(of) != len(numbers):
        raise ProgramError(f"a sum of {len(of)} vectors has {len(numbers)} factors")
    flag = data.get("replace")
    label = str(data.get("label", ""))
    return Instruction(
        op, str(data["to"]), _kind(data["kind"]), of, numbers, label, None if flag is None else bool(flag)
    )


def _kind(text: object) -> Kind:
    kinds = (*VECTORS, *STACKS, "number", "numbers", "sample")
    if text not in kinds:
        raise ProgramError(f"the kind {text!r} is none of {', '.join(kinds)}")
    return text


def _check_names(steps: Sequence[Step], known: set[str], numbers: set[str]) -> set[str]:
    """The names that are there after the steps."""

    def need(names: Sequence[str], there: set[str]) -> None:
        for name in names:
            if name not in there:
                raise ProgramError(f"the data are no program: {name!r} is used before it is there")

    for step in steps:
        new = list(step.defines)
        if len(set(new)) < len(new) or any(not VALUE.match(name) or name in known for name in new):
            raise ProgramError(f"the data are no program: the values {', '.join(new)} are there already, or no values")
        if isinstance(step, Instruction):
            need(step.of, known)
            for formula in step.numbers:
                need(sorted(names_in(formula)), known | numbers)
            known = known | set(new)
            continue
        need([c.first for c in step.carried], known)
        if step.count is not None:
            need(sorted(names_in(step.count)), known | numbers)
        inside = known | {c.name for c in step.carried} | ({step.index} if step.op == "pass" else set())
        turn = {step.index} if step.op == "repeat" else set()
        known = _check_names(step.body, inside, numbers | turn)
        need([c.following for c in step.carried], known)
    return known
