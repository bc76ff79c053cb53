"""What constants a problem has, and what can be told of a claim: `fedproof audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from validate.commands import completion, own
from validate.commands.options import AsJson
from validate.commands.output import print_json, progress, read_object, table


def audit(
    target: Annotated[
        str,
        typer.Argument(
            metavar="SPEC.json|ID",
            help="An instance or a scenario, or - for stdin; or a claim: its id, or paper.py:LABEL.",
            autocompletion=completion.claim_ids,
        ),
    ],
    ball: Annotated[
        str | None, typer.Option("--ball", metavar="RADIUS", help="Radius of a ball about the minimiser, for suprema.")
    ] = None,
    relative: Annotated[
        str | None, typer.Option("--relative", metavar="B", help="B, for the least G of (G, B)-dissimilarity.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Of a claim: fewer instances.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of a claim: of the instances.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Print a problem's constants, or look at a claim.

    Of a problem, in fractions: strong convexity, smoothness, PL constant, minima, variance and dissimilarity of
    gradients. Each says how well it is known: exact, a proved bound, or a sample. SPEC.json is as for `fedproof
    moments`; f is the plain mean of the clients' functions, whatever weights the algorithm gives them.

    Of a claim that says what it means: do both sides scale alike in other units, is every name used, is every
    hypothesis needed, does it say no more for worse constants, what does it say at k = 0? A suspicion refutes nothing.

    Example: fedproof audit SPEC.json --ball 1 --json
    """
    if _is_claim(target):
        if ball is not None or relative is not None:
            raise ValueError(
                f"--{'ball' if ball is not None else 'relative'} is for a problem, and {target} is a claim"
            )
        _claim(target, quick, seed, as_json)
        return
    from validate.audit import audit as measure
    from validate.commands.oracle import any_number_of_digits
    from validate.scenario import rational

    problem, start = _problem(read_object(target))
    found = measure(
        problem,
        start=start,
        ball=None if ball is None else rational(ball, "ball"),
        relative=None if relative is None else rational(relative, "relative"),
    )
    with any_number_of_digits():
        if as_json:
            print_json(found.to_json())
        else:
            typer.echo(str(found))


def _is_claim(target: str) -> bool:
    """Whether a target is an id, or a label of a file, rather than a file with data."""
    if target.endswith(".py") or ".py:" in target:
        return True
    return "/" in target and not target.endswith(".json") and not Path(target).exists()


def _problem(data: dict[str, Any]) -> tuple[Any, Any]:
    """The problem and the start of an instance, or of a scenario's specification.

    Raises:
        ValueError: for what is neither, or functions of which there are no closed forms.
    """
    if "problem" not in data:
        from validate.scenario import read_scenario

        scenario = read_scenario(data, exact=True)
        return scenario.problem, scenario.start
    from validate.instances import Quadratics, read_problem
    from validate.instances.numbers import entries

    problem = read_problem(data["problem"])
    if not isinstance(problem, Quadratics):
        raise ValueError("problem: its functions are not all quadratics, of which alone an audit has closed forms")
    start = data.get("start")
    given = None if start is None else entries("start", start if isinstance(start, list) else [start])
    return problem.quadratic, given


def _claim(target: str, quick: bool, seed: int, as_json: bool) -> None:
    from validate.audit.claims import audit_claim

    with own.speaking_aside([target]):
        found = audit_claim(own.one(target), quick=quick, seed=seed, tell=progress)
    if as_json:
        print_json(found.to_json())
        return
    table(["looked at", "outcome", "what was found"], [[c.name, c.outcome, c.detail] for c in found.checks])
    for name, unit in found.units.items():
        typer.echo(f"unit of {name}: {unit}")
    typer.echo(found.summary)
