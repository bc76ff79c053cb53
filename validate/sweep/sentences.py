"""What comes of a cell: both sides by moments, and by exact play where moments do not tell.

In a sampled cell the left side is that of runs, and the right side is by moments.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.moments.runs import DivergenceError
from theory.claim import Claim
from theory.papers.specs import SPECS
from theory.program import LINEAR_GIVEN_DRAWS
from validate.certificate.exact_text import in_digits
from validate.expected import Line, NoPolynomialError, lines
from validate.instances.by_runs import left_by_runs, why_not_from_above
from validate.instances.instance import Instance
from validate.instances.named import algorithm_named
from validate.instances.problems import Quadratics
from validate.instances.scalars import Schedule
from validate.instances.setting import Setting, schedules_of
from validate.instances.specs import translated
from validate.on_instance import OnInstance, hypotheses_of, on_instance, values_of
from validate.sweep.kinds import SPEC_OF

if TYPE_CHECKING:
    from sim.problems import Quadratic
    from validate.sweep.cell import Cell, Result

MOST_EXACT = 256
"""Samples times rounds up to which a break is looked at in fractions."""


class ElsewhereError(ValueError):
    """The claim does not speak of this cell."""


def of_sentence(cell: Cell, claim: Claim) -> Result:
    """What comes of a cell of such a claim; as `validate.sweep.cell.run_cell` gives it."""
    from validate.sweep.cell import result

    if cell.method == "sampled" and (why := why_not_from_above(claim)) is not None:
        return result("inapplicable", f"runs are not held against this claim: {why}")
    problem = problem_of(json.dumps(cell.problem, sort_keys=True))
    try:
        own = parameters_of(cell, claim, problem.clients)
        start = np.array([Fraction(cell.start)] * problem.dim, dtype=object)
        values, _ = values_of(claim, problem, own, {})
    except ValueError as error:
        return result("inapplicable", str(error))
    world = Setting(problem, start, values, cell.rounds, claim)
    in_floats = Setting(problem, start.astype(float), values, cell.rounds, claim)
    failed = [text for text, true in hypotheses_of(in_floats) if true is not True]
    if failed:
        return result("violated", f"hypotheses that do not hold: {', '.join(failed)}")
    assert claim.program is not None
    try:
        if not claim.program.operations <= LINEAR_GIVEN_DRAWS:
            raise NoPolynomialError("the algorithm is not linear given its draws")
        with np.errstate(over="ignore", invalid="ignore"):
            found = lines(claim, problem, world)
    except DivergenceError:
        return result("diverged", "the moments leave the range of float64: the iterates diverge in mean square")
    except NoPolynomialError as error:
        if cell.method == "sampled":
            return result("inapplicable", f"moments do not tell the right side: {error}")
        exact = _in_fractions(cell, claim, own)
        return result("inapplicable", f"moments do not tell: {error}") if exact is None else _told(exact)
    return _sampled(cell, claim, in_floats, found) if cell.method == "sampled" else _of_lines(cell, claim, own, found)


def _sampled(cell: Cell, claim: Claim, world: Setting, found: list[Line]) -> Result:
    """The left side by runs, against the right side by moments."""
    from validate.sweep.adaptive import sampled_sides
    from validate.sweep.cell import result

    told = {tuple(line.at.items()): float(line.right) for line in found if line.status != "undefined"}
    if not told:
        return result("inapplicable", "the claim says nothing there: no index lies in the run, or a side is undefined")
    sides, cases = np.array(list(told.values())), list(told)
    if not np.isfinite(sides).all():
        return result("undecided", "the right side leaves the range of float64, or is undefined")

    def draw(start: int, size: int) -> Any:
        rows = {tuple(at.items()): left for at, left in left_by_runs(claim, world, size, cell.seed, start)}
        return np.stack([rows[at] for at in cases], axis=1)

    return sampled_sides(cell, draw, sides, world, lambda case: dict(cases[case]))


def parameters_of(cell: Cell, claim: Claim, clients: int) -> dict[str, Any]:
    """The parameters of the claim's algorithm, under its names, in fractions.

    Raises:
        ElsewhereError: where the cell has another algorithm, or other parameters.
    """
    from validate.instances.specs import renaming_of

    if claim.program is None:
        raise ElsewhereError("the claim is about no algorithm")
    table = dict(cell.algorithm)
    if table.pop("kind") == "program":
        given: Mapping[str, Any] = table
    else:
        form = translated(_specification(cell, clients))
        shares = [] if form is None else form["problem"]["clients"]
        if form is None or any(share != shares[0] for share in shares):
            raise ElsewhereError("no instance of the language says this algorithm, or who takes part in it")
        names = renaming_of(algorithm_named(form["algorithm"]).program, claim)
        if names is None:
            raise ElsewhereError("the claim is about another algorithm")
        given = {mine: form["parameters"][theirs] for mine, theirs in names.items()}
    known = [name for name in claim.program.parameters if name not in ("N", "d")]
    other = [name for name in given if name not in known] or [name for name in known if name not in given]
    if other:
        raise ElsewhereError(f"parameters: {other[0]}, and the claim's algorithm has {', '.join(known)}")
    schedules = schedules_of(claim)
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping) and name not in schedules:
            raise ElsewhereError(f"{name} is one number a round, and the claim's is not")
        numbers = value["k"] if isinstance(value, Mapping) else value
        if isinstance(numbers, list):
            size = cell.rounds if name in schedules else clients
            if len(numbers) < size:
                raise ElsewhereError(f"{name} has {len(numbers)} numbers; it needs {size}")
            found[name] = list(map(Fraction, numbers))
        else:
            found[name] = [Fraction(numbers)] * cell.rounds if name in schedules else Fraction(numbers)
    return found


def _specification(cell: Cell, clients: int) -> dict[str, Any]:
    """The cell's algorithm in a specification with clients of which nothing is asked."""
    algorithm, part = dict(cell.algorithm), cell.participation
    name = SPEC_OF[algorithm.pop("kind")]
    if "clients" in part and ("p" in SPECS[name]["clients"] or "S" not in SPECS[name]["parameters"].values()):
        raise ElsewhereError("no instance of the language says who takes part in this algorithm")
    second = SPECS[name]["sample"][1]
    chances = part.get("p", "1")
    chances = chances if isinstance(chances, list) else [chances] * clients
    each = [{"h": "1", second: "0", **({"p": p} if SPECS[name]["clients"] else {})} for p in chances]
    sizes = {"S": part["clients"]} if "clients" in part else {}
    ends = {SPECS[name]["start"]: cell.start, SPECS[name]["rounds"]: cell.rounds}
    return {"algorithm": name, **algorithm, "clients": each, **sizes, **ends}


def _of_lines(cell: Cell, claim: Claim, own: Mapping[str, Any], found: list[Line]) -> Result:
    from validate.sweep.cell import result

    told = [line for line in found if line.status != "undefined"]
    if not told:
        return result("inapplicable", "the claim says nothing there: no index lies in the run, or a side is undefined")
    relation = claim.sentence.relation

    def closeness(line: Line) -> float:
        gap = float(line.left) - float(line.right)
        gap = abs(gap) if relation == "==" else gap if relation in ("<=", "<") else -gap
        scale = abs(float(line.left)) + abs(float(line.right))
        return gap / scale if scale > 0 and math.isfinite(scale) else 0.0 if math.isfinite(scale) else math.inf

    broken = [line for line in told if line.status == "broken"]
    worst = max(broken or told, key=closeness)
    left, right = float(worst.left), float(worst.right)
    sides: dict[str, Any] = {
        "left": left if math.isfinite(left) else None,
        "right": right if math.isfinite(right) else None,
        "ratio": left / right if right > 0 and math.isfinite(left / right) else None,
        "index": dict(worst.at),
    }
    if not (math.isfinite(left) and math.isfinite(right)):
        return result("diverged", "a side leaves the range of float64", **sides)
    sides["guarantee"] = "exact"
    if not broken:
        many = "one index" if len(told) == 1 else f"{len(told)} indices"
        return result("holds", f"compared at {many}", **sides)
    exact = _in_fractions(cell, claim, own)
    if exact is None or exact.verdict == "undecided":
        detail = f"in floats; `fedproof falsify {cell.claim}` finds a certificate, if there is one"
        return result("fails", detail, **sides)
    return _told(exact)


def _in_fractions(cell: Cell, claim: Claim, own: Mapping[str, Any]) -> OnInstance | None:
    """The cell as an instance, where it is a scalar one that is small enough."""
    if cell.problem["kind"] != "scalar":
        return None
    clients = cell.problem["clients"]
    if cell.rounds * sum(len(client["h"]) for client in clients) > MOST_EXACT:
        return None
    samples = [[{"h": h, "a": a} for h, a in zip(client["h"], client["a"], strict=True)] for client in clients]
    schedules = schedules_of(claim)
    given = {
        name: Schedule(tuple(v)) if name in schedules else tuple(v) if isinstance(v, list) else v
        for name, v in own.items()
    }
    try:
        instance = Instance(
            claim.program, given, Quadratics.read(samples), (Fraction(cell.start),), cell.rounds, {}, cell.claim
        )
        return on_instance(claim, instance)
    except ValueError:
        return None


def _told(found: OnInstance) -> Result:
    """An exact instance as the result of a cell."""
    from validate.sweep.cell import result

    outcome = {"holds": "holds", "broken": "fails", "violated": "violated"}.get(found.verdict, "undecided")
    rows = found.measured.broken or [row for row in found.measured.rows if row.left is not None]
    if not rows:
        return result(outcome, found.measured.silent or "a side is undefined at every index")
    row = rows[0] if found.measured.broken else max(rows, key=lambda row: _ratio(row) or -1.0)
    sides = {"left": float(row.left), "right": float(row.right), "ratio": _ratio(row), "index": dict(row.at)}
    details = {
        "fails": f"in fractions: left side {_brief(row.left)}, right side {_brief(row.right)}",
        "holds": f"in fractions, at {len(found.measured.rows)} indices",
        "violated": "hypotheses that do not hold: " + ", ".join(t for t, true in found.hypotheses if true is False),
    }
    return result(outcome, details.get(outcome, "intervals do not decide it"), **sides, guarantee="exact")


def _ratio(row: Any) -> float | None:
    return float(row.left) / float(row.right) if float(row.right) > 0 else None


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else in_digits(value)


@lru_cache(maxsize=32)
def problem_of(text: str) -> Quadratic:
    """The problem of a canonical text (`validate.sweep.kinds.PROBLEMS`), in float64; the last ones are kept."""
    from sim.problems import quadratic, rand_hie, scalar, scaled_to_unit

    given = json.loads(text)
    if given["kind"] == "scalar":
        h, a = ([list(map(_float, client[name])) for client in given["clients"]] for name in ("h", "a"))
        return scalar(h, a)
    if given["kind"] == "insurance":
        problem = rand_hie()
        return scaled_to_unit(problem) if given["columns"] == "unit" else problem
    reals: dict[str, Any] = {name: _float(given[name]) for name in ("mu", "L", "heterogeneity", "sample_spread")}
    sizes = {name: given[name] for name in ("clients", "dim", "samples", "seed")}
    return quadratic(**sizes, **reals)


def _float(text: str) -> float:
    return float(Fraction(text))
