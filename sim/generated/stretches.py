"""What a stretch is, and which steps of a block belong to which.

A *stretch* is the most that can be done for one client, or by the server, before the others' results are needed. The
steps of a block (a round, or the body of a loop that is no client's own) get levels: the server works at even ones, the
clients at odd ones; a step is done at the first level of its kind at which all is there that it reads, and what is
averaged over the clients of level L is there at L + 1. So a round of local steps is one stretch of the clients, from
loading the models to adding up.

Where all that a stretch leaves behind vanishes for clients that a draw leaves out, they are not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sim.generated.reading import OF_ALL, REDUCTIONS, Facts, NotGenerated, reads, vanishes
from theory.program import Instruction, Loop, Name, Step


@dataclass(frozen=True)
class Item:
    """A step at its level.

    Attributes:
        step: which.
        what: "clients", "server", "loop", "visit", "mix", "shift", or half of a mean: "add" or "share".
        level: even for the server, odd for the clients.
    """

    step: Step
    what: str
    level: int


def items_of(facts: Facts, steps: Sequence[Step]) -> list[Item]:
    level: dict[str, int] = {}
    found: list[Item] = []
    for step in steps:
        at = max((level.get(name, 0) for name in reads(step)), default=0)
        odd, even = at + 1 - at % 2, at + at % 2
        if isinstance(step, Loop):
            what = "clients" if facts.pure(step) else "loop"
            if step.op == "visit":
                what = "visit"
            if step.op == "pass" and what != "clients":
                raise NotGenerated("passes over the samples in which the clients meet")
        elif step.op in REDUCTIONS:
            found.append(Item(step, "add", odd))
            what, even = "share", odd + 1
        elif step.op == "mix":
            what = "mix"
        elif step.op == "shift":
            what = "shift"
        else:
            what = "clients" if facts.of_clients(step.to) and step.op not in OF_ALL else "server"
        item = Item(step, what, odd if what == "clients" else even)
        found.append(item)
        level |= dict.fromkeys(step.defines, item.level)
    return found


def segments_of(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What is done in one go, in order."""
    for level in sorted({item.level for item in items}):
        here: list[Item] = []
        for item in items:
            if item.level != level or item.what == "shift":
                continue
            alone = item.what in ("loop", "mix", "visit")
            if alone and here:
                yield here
                here = []
            if alone:
                yield [item]
            else:
                here.append(item)
        if here:
            yield here


def read_by(item: Item) -> frozenset[str]:
    if item.what == "share":
        return frozenset()
    return reads(item.step)


def mask_of(facts: Facts, replaced: Mapping[str, str], segment: Sequence[Item], later: frozenset[str]) -> str | None:
    """The draw without which a client's work in this stretch comes to nothing."""
    draws = [name for name, step in facts.made.items() if step.op in ("coins", "choose")]
    made = {name for item in segment if item.what == "clients" for name in item.step.defines}
    for mask in draws:
        if mask in made or not any(_of_work(item.step) for item in segment):
            continue
        sums = all(_sum_vanishes(facts, item.step, mask) for item in segment if item.what == "add")
        if sums and all(_stays(facts, replaced, name, mask) for name in made & later):
            return mask
    return None


def _of_work(step: Step) -> bool:
    return isinstance(step, Loop) or step.op in ("gradient", "prox")


def _sum_vanishes(facts: Facts, step: Step, mask: str) -> bool:
    assert isinstance(step, Instruction)
    if step.op == "average":
        return vanishes(step.numbers[0], mask)
    return _zero(facts, step.of[0], mask)


def _zero(facts: Facts, name: str, mask: str) -> bool:
    step = facts.made.get(name)
    if step is None or step.op != "linear":
        return False
    return all(vanishes(c, mask) or _zero(facts, v, mask) for v, c in zip(step.of, step.numbers, strict=True))


def _stays(facts: Facts, replaced: Mapping[str, str], name: str, mask: str) -> bool:
    """Whether a value that is kept is what its state was, for clients left out."""
    step = facts.made.get(name)
    return (
        step is not None and step.op == "where" and step.numbers[0] == Name(mask)
        and replaced.get(name) == step.of[1]
    )  # fmt: skip
