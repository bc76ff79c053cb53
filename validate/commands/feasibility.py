"""Can it hold at all: `fedproof feasible`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import missing, own
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import print_json

if TYPE_CHECKING:
    from theory.feasible.decide import Feasibility

WORDS = {
    "feasible": "its hypotheses can hold together",
    "empty": "its hypotheses cannot hold together",
    "undecided": "not decided whether its hypotheses can hold together",
}


def text(result: dict[str, Any], found: Feasibility) -> str:
    """What was found, for a reader."""
    lines = [f"{result['id']}: {WORDS[result['outcome']]}"]
    if result["witness"] is not None and result["outcome"] == "feasible":
        for name, value in result["witness"].items():
            lines.append(f"  {name} = {', '.join(value) if isinstance(value, list) else value}")
    if result["outcome"] == found.outcome:  # otherwise it is about the numbers alone
        lines.append(f"  {found.detail}")
        if found.outcome == "undecided":
            lines.append("  more may be tried with a larger --effort, or with --set, which leaves less to look through")
    if found.proof is not None:
        lines.append(f"  proved by {' and, independently, '.join(found.proof.by)}")
    for conflict in result["conflicts"]:
        lines.append(f"  {conflict['first']!r} excludes {conflict['second']!r}: {conflict['proof']}")
    return "\n".join(lines)


def feasible(
    claim_id: ClaimId,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Value of a parameter that is to be kept; vectors with commas."
        ),
    ] = None,
    supposed: Annotated[
        list[str] | None,
        typer.Option("--suppose", metavar="RELATION", help="A further hypothesis, such as 'M <= 8'."),
    ] = None,
    effort: Annotated[
        float,
        typer.Option("--effort", help="How much may be computed; 1 is ten seconds or so, of whatever machine."),
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Ask whether a claim's hypotheses can hold together.

    Prints parameters that satisfy all of them, or proves that there are none, or says what was tried. Exit status 1
    when they cannot hold together.

    Example: fedproof feasible textbook/sgd-strongly-convex --set L=2
    """
    from theory import catalog, evaluate
    from theory.calculator import ROUNDS, calculator
    from theory.feasible.compatible import compatible
    from theory.feasible.limits import Limits
    from theory.formula import parse_relation

    claim = catalog.claim(own.one(claim_id))
    numbers = calculator(claim, all_relations=True)  # what its relations say in numbers
    split = [text.partition("=") for text in assignments or ()]
    given = [f"{numbers.named(name.strip())}{equals}{value}" for name, equals, value in split]
    for relation in supposed or ():
        try:
            parse_relation(relation)
        except ValueError as error:
            raise ValueError(f"--suppose {relation!r} is not a relation such as 'M <= 8': {error}") from error
    values = evaluate.parse_assignments(given, numbers.bound)
    limits = Limits(effort=effort)
    missing.tell()
    found = compatible(claim, supposed or (), values, limits=limits)
    result = {"id": claim.id, **found.to_json()}
    if result["witness"] is not None:
        result["witness"] = {name: value for name, value in result["witness"].items() if name != ROUNDS}
    if as_json:
        print_json(result)
    else:
        typer.echo(text(result, found.numbers))
    if found.outcome == "empty":
        raise typer.Exit(1)
