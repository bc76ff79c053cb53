"""What constants a problem has: `fedproof audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from validate.commands.output import print_json, read_object


def audit(
    spec: Annotated[str, typer.Argument(metavar="SPEC.json", help="The scenario, or - for stdin.")],
    ball: Annotated[
        str | None, typer.Option("--ball", metavar="RADIUS", help="Radius of a ball about the minimiser, for suprema.")
    ] = None,
    relative: Annotated[
        str | None, typer.Option("--relative", metavar="B", help="B, for the least G of (G, B)-dissimilarity.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the constants of a scenario's problem.

    In fractions: strong convexity, smoothness, PL constant, minima, variance and dissimilarity of gradients. Each says
    how well it is known: exact, a proved bound, or a sample. SPEC.json is as for `fedproof moments`; f is the plain
    mean of the clients' functions, whatever weights the algorithm gives them.

    Example: fedproof audit SPEC.json --ball 1 --json
    """
    from validate.audit import audit as measure
    from validate.commands.oracle import any_number_of_digits
    from validate.scenario import rational, read_scenario

    scenario = read_scenario(read_object(spec), exact=True)
    found = measure(
        scenario.problem,
        start=scenario.start,
        ball=None if ball is None else rational(ball, "ball"),
        relative=None if relative is None else rational(relative, "relative"),
    )
    with any_number_of_digits():
        if as_json:
            print_json(found.to_json())
        else:
            typer.echo(str(found))
