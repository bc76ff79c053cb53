"""The verifier's reading by moments: the same sides as when it plays, and as our own moments where nothing is played."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest

from sim.moments import Schedule
from sim.problems import Quadratic
from tests.sim.test_moments_of_programs import at_random
from theory.program import Program
from validate.verifier.formulas import Uncheckable
from validate.verifier.play import read_world, set_up
from validate.verifier.reading import FormatError
from validate.verifier.scalars import Work


def plain(value: Any) -> Any:
    """Numbers as certificates have them."""
    if isinstance(value, Schedule):
        return {"k": plain(value.values)}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(Fraction(value))


def problem_of(problem: Quadratic) -> dict[str, Any]:
    counts = [int(c) for c in problem.counts]
    return {
        "clients": [
            [
                {"H": plain(problem.hessian[n, i].tolist()), "b": plain(problem.linear[n, i].tolist())}
                for i in range(counts[n])
            ]
            for n in range(len(counts))
        ]
    }


def certificate(
    program: Program, problem: Quadratic, parameters: dict[str, Any], start: Any, rounds: int, statement: str, **at: int
) -> dict[str, Any]:
    return {
        "format": "fedproof-certificate-2", "kind": "play", "claim": "a/b", "statement": statement, "assumptions": [],
        "relations": [], "definitions": {}, "program": program.to_json(),
        "parameters": {name: plain(value) for name, value in parameters.items() if name != "J"},
        "problem": problem_of(problem), "start": plain(start.tolist()), "rounds": rounds, "at": at, "left": "0",
        "right": "0",
    }  # fmt: skip


def sides_by(data: dict[str, Any], by: str) -> tuple[Any, Any]:
    """Both sides, by the verifier's reading of this name."""
    claimed, world = read_world({**data, "by": by}, Work())
    assert claimed.program is not None
    set_up(claimed.program, world)
    (pair,) = world.both(claimed.sentence, dict(data["at"]))
    return pair


SPOKEN = {
    "server": ("E(norm2({0}[K]))", "dot(E({0}[K]), x0)", "E(f({0}[K]) + dot(grad(f, {0}[K]), {0}[1]))"),
    "client": ("mean_n(E(norm2({0}[K])))", "E(norm2(mean_n({0}[K]) - x[1]))", "mean_n(E(f_n({0}[1])))"),
    "table": ("mean_n(mean_i(E(norm2({0}[K]))))", "E(dot(x[K], mean_n(mean_i({0}[1]))))"),
}  # fmt: skip
WANTED, PARTS = 144, 6


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_at_random_are_as_when_they_are_played(part: int) -> None:
    done, seed, operations, refused = 0, 200_000 + 100_000 * part, set[str](), 0
    while done < WANTED // PARTS:
        seed += 1
        program, problem, parameters, start = at_random(seed)
        if not program.random:
            continue
        texts = [text.format(s.name) for s in program.state for text in SPOKEN.get(s.kind, ())]
        for rounds in (2, 1):
            data = [certificate(program, problem, parameters, start, rounds, f"{text} <= 0") for text in texts]
            try:
                played = [sides_by(one, "play") for one in data]
            except FormatError:  # too many outcomes
                continue
            try:
                known = [sides_by(one, "moments") for one in data]
            except Uncheckable as reason:
                assert "in random order" in str(reason)
                refused += 1
                break
            assert known == played, (seed, rounds)
            assert all(isinstance(value, Fraction) for pair in known for value in pair)
            operations |= program.operations
            done += 1
            break
    assert len(operations) > 12
    assert refused < done
