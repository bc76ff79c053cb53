"""Both sides of a claim on one instance: `fedproof measure`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import own
from validate.commands.options import AsJson, ClaimId
from validate.commands.oracle import any_number_of_digits
from validate.commands.output import number, print_json, progress, read_object, table

if TYPE_CHECKING:
    from theory.claim import Claim

SAID = {
    "holds": "the claim holds on this instance",
    "broken": "this instance breaks the claim",
    "violated": "a hypothesis is violated, so the instance says nothing about the claim",
    "silent": "the claim says nothing about this instance",
    "undecided": "it is not decided whether the claim holds on this instance",
}


def measure(
    name: ClaimId,
    spec: Annotated[str, typer.Argument(metavar="INSTANCE.json", help="The instance, or - for stdin.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A constant of the claim; else the best of the instance."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print both sides of a claim on an instance, exactly.

    INSTANCE.json is as for `moments`; its "algorithm" may be left out, as it is the claim's. A claim about vectors or
    functions has "vectors" ({"x": [1, 0], "a_n": [[1, 0], [0, 1]]}) beside its "problem", or none. A certificate is an
    instance too. Constants of assumptions (L of smooth, mu of strongly_convex) are the best of the instance unless
    its "parameters" or --set give them; of a claim about numbers, --set gives K, N and d too. Each line is one value of
    the claim's free indices. Exit status 1 when the instance breaks the claim, 3 when it violates a
    hypothesis.

    Example: fedproof measure my_paper.py:noise-ball INSTANCE.json
    """
    from theory.catalog import claim as find

    data = read_object(spec)
    claim = find(own.one(name))
    with any_number_of_digits():
        status = _measured(claim, data, assignments or (), as_json)
    if status:
        raise typer.Exit(status)


def _measured(claim: Claim, data: dict[str, Any], assignments: Sequence[str], as_json: bool) -> int:
    from validate.instances.specs import instance_from, with_constants
    from validate.on_instance import on_instance

    form, constants = with_constants(data, claim)
    found = on_instance(claim, instance_from(form, claim), {**constants, **assigned(assignments)})
    measured = found.measured
    rows = [
        {"at": dict(row.at), "left": exact(row.left), "right": exact(row.right), "ratio": row.ratio,
         "status": row.status, **({"why": row.why} if row.why else {})}
        for row in measured.rows
    ]  # fmt: skip
    shown = {
        "id": claim.id,
        "verdict": found.verdict,
        "how": found.how,
        "detail": measured.silent or SAID[found.verdict],
        "constants": {name: plainly(value) for name, value in found.drawn.constants.items()},
        "hypotheses": [{"name": text, "holds": true} for text, true in found.hypotheses],
        "relation": claim.sentence.relation,
        "rows": rows,
        "instance": found.drawn.instance.to_json(),
    }
    _print(shown, as_json)
    return {"broken": 1, "violated": 3}.get(found.verdict, 0)


def _print(shown: dict[str, Any], as_json: bool) -> None:
    for entry in shown["hypotheses"]:
        if entry["holds"] is not True:
            what = "is violated" if entry["holds"] is False else "is not decided"
            progress(f"hypothesis {entry['name']} {what}")
    if as_json:
        print_json(shown)
        return
    from validate.both_sides import as_printed

    printed = [as_printed(row["at"]) for row in shown["rows"]]
    indices = list(dict.fromkeys(name for at in printed for name in at))
    cells = [
        [*(str(at.get(name, "")) for name in indices), _side(row["left"]), _side(row["right"]), number(row["ratio"]),
         row["status"]]
        for row, at in zip(shown["rows"], printed, strict=True)
    ]  # fmt: skip
    if cells:
        table([*indices, "left", "right", "ratio", ""], cells)
    for name, value in shown["constants"].items():
        typer.echo(f"{name} = {value}")
    how = {"floats": " (in floats)"}.get(shown["how"], "")
    typer.echo(f"{shown['id']}: {shown['detail']}{how}")


LONGEST = 40
"""Characters of a fraction in a table; JSON has all of them."""


def _side(value: Any) -> str:
    """A side in a table: a long fraction in decimals."""
    text = str(value)
    if len(text) <= LONGEST or not isinstance(value, str):
        return text
    try:
        return f"about {number(float(Fraction(value)))}"
    except OverflowError:
        return text


def assigned(assignments: Sequence[str]) -> dict[str, Any]:
    """Values by name, of texts NAME=VALUE; several numbers, separated by commas, are one a client or a round.

    Raises:
        ValueError: naming the text.
    """
    from validate.instances.numbers import number as exactly

    found: dict[str, Any] = {}
    for text in assignments:
        name, equal, value = text.partition("=")
        name = name.strip()
        if not equal or not name or not value.strip():
            raise ValueError(f"--set {text!r} is not NAME=VALUE")
        if name in found:
            raise ValueError(f"--set gives {name} twice")
        parts = [exactly(name, part.strip()) for part in value.split(",")]
        found[name] = parts[0] if len(parts) == 1 else tuple(parts)
    return found


def exact(value: Any) -> Any:
    """A side for JSON: a fraction as text, a ball as its middle, None where it is undefined."""
    return value if value is None or isinstance(value, float) else plainly(value)


def plainly(value: Any) -> Any:
    """Numbers and lists of them: fractions as text, what is no fraction as a float."""
    if hasattr(value, "values") and not callable(value.values):
        return [plainly(v) for v in value.values]
    if isinstance(value, tuple | list):
        return [plainly(v) for v in value]
    return str(Fraction(value)) if isinstance(value, Fraction | int) else float(value)
