"""What is claimed: `fedproof claims`, `show` and `bound`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import completion, messages, own, parameters_of
from validate.commands.options import AsJson, ClaimId
from validate.commands.output import number, plain, print_json, table

if TYPE_CHECKING:
    from theory.bound import Bound
    from theory.claim import Claim
    from theory.evaluate import Enclosure
    from validate.kept import Entry

WIDTH = 48
"""Characters of a left side in the list of claims."""


def remembered(one: Entry) -> str:
    """The verdict that a check left, in a word or two."""
    from validate.verdict import refuted_as

    word = str(one["verdict"])
    if word == "undecided" and one.get("broken"):
        word = "undecided: broken"
    elif word == "refuted":
        word = refuted_as(one["sure"] or "")
    return f"{word} (quick)" if one.get("quick") else word


def claims(
    named: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]", help="The same as --paper.", autocompletion=completion.collections, show_default=False
        ),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(
            "--paper",
            help="Only the claims of this paper, or of a collection of papers; paper.py for one of your own.",
            autocompletion=completion.collections,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder in which `check` left its verdicts.")] = Path(
        "fedproof-out"
    ),
    as_json: AsJson = False,
) -> None:
    """List the claims, with the verdicts that are known.

    A verdict of a quick check says so. One on a claim that has changed since is not shown. Papers of a collection, such
    as landmarks, are listed when they are asked for, by family.

    Example: fedproof claims textbook
    """
    from theory import catalog
    from validate import kept

    if named is not None and paper is not None:
        raise ValueError(f"PAPER={named} and --paper={paper} are two papers; give one")
    found = kept.known(out)
    paper = named if paper is None else paper
    chosen = None if paper is None else own.known([paper])[0]
    shown = catalog.claims(chosen)
    verdicts = {c.id: found[c.id] for c in shown if c.id in found and kept.current(found[c.id], c)}
    changed = [c.id for c in shown if c.id in found and c.id not in verdicts]
    if changed:
        what = f"{len(changed)} claim{'s' * (len(changed) > 1)}, such as {changed[0]}"
        typer.echo(f"{out / kept.VERDICTS} has verdicts on other versions of {what}: check again", err=True)
    families = {p.name: p.family for p in map(catalog.paper, dict.fromkeys(c.paper for c in shown))}
    rows = [
        _row(claim, families[claim.paper])
        | {name: verdicts.get(claim.id, {}).get(name) for name in ("verdict", "quick", "broken")}
        for claim in shown
    ]
    if as_json:
        print_json(rows)
        return
    by_family = ["family"] if any(families.values()) else []
    cells = [
        [*(row[name] for name in by_family), row["id"], row["kind"], row["equation"], shortened(row["quantity"]),
         "yes" if row["has_bound"] else "", row["amends"] or "", remembered(row) if row["verdict"] else ""]
        for row in rows
    ]  # fmt: skip
    table([*by_family, "id", "kind", "equation", "quantity", "bound", "amends", "verdict"], cells)


def _row(claim: Claim, family: str) -> dict[str, Any]:
    """What the list says of a claim: its left side is what it bounds."""
    from theory.sentence import text_of

    return {
        "id": claim.id,
        "kind": claim.kind,
        "equation": claim.equation,
        "quantity": text_of(claim.sentence.left) if claim.has_sentence else "",
        "has_bound": claim.has_bound,
        "amends": claim.amended,
        "family": family or None,
        "sure": claim.sure or None,
    }


def shortened(text: str) -> str:
    """A left side as a table has it."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3].rstrip()}..."


def show(
    claim_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Id of the claim, as `claims` lists it; or paper.py:LABEL.",
            autocompletion=completion.claim_ids,
        ),
    ],
    latex: Annotated[bool, typer.Option("--latex", help="Print the formulas in LaTeX.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a claim: statement, hypotheses, parameters, proof.

    Example: fedproof show textbook/sgd-strongly-convex
    """
    from theory.catalog import claim as find
    from validate.commands import written

    claim = find(own.one(claim_id))
    if as_json:
        print_json(written.as_json_of(claim))
    else:
        typer.echo(written.as_latex(claim) if latex else written.as_text(claim))


def print_bound(result: Mapping[str, Any], standing: frozenset[str]) -> None:
    """A bound for a reader; `standing` are the names of the conditions that the paper fixes elsewhere."""
    typer.echo(f"{result['id']} = {'no real value' if result['value'] is None else repr(result['value'])}")
    if result["lower"] is not None:
        typer.echo(f"enclosed in [{result['lower']}, {result['upper']}]")
    for name, value in result["terms"].items():
        typer.echo(f"  {name} = {number(value)}")
    if "left" in result:
        value, lower, upper = (result["left"][key] for key in ("value", "lower", "upper"))
        enclosed = "" if lower is None else f", enclosed in [{lower}, {upper}]"
        typer.echo(f"its left side = {'no real value' if value is None else repr(value)}{enclosed}")
    words = {True: "holds", False: "VIOLATED", None: "not decided by these values"}
    for hypothesis in result["hypotheses"]:
        kind = "standing condition" if hypothesis["name"] in standing else "hypothesis"
        typer.echo(f"  {kind} {hypothesis['name']}: {words[hypothesis['holds']]}")


def terms_at(claim: Bound, parameters: Mapping[str, Any], enclosure: Enclosure | None) -> dict[str, Any]:
    """The claim's definitions in float64; with an enclosure, each within its own bounds."""
    import numpy as np

    from theory import evaluate

    terms: dict[str, Any] = dict(evaluate.terms(claim, parameters))
    if enclosure is None:
        return terms
    for name, value in terms.items():
        if np.ndim(value):
            terms[name] = np.array([enclosure.term(f"{name}[{i}]", float(v)) for i, v in enumerate(value)])
        else:
            terms[name] = enclosure.term(name, float(value))
    return terms


def _left(left: Bound, parameters: Mapping[str, Any], rigorous: bool) -> dict[str, Any]:
    """The left side of a claim about numbers alone, which a calculator knows as well as the right one."""
    from theory import evaluate

    try:
        if not rigorous:
            return {"value": evaluate.bound(left, parameters), "lower": None, "upper": None}
        enclosure = evaluate.enclose(left, parameters)
    except evaluate.UndefinedError:
        return {"value": None, "lower": None, "upper": None}
    return {"value": enclosure.midpoint, "lower": enclosure.lower, "upper": enclosure.upper}


def bound(
    claim_id: ClaimId,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Value of a parameter, or of an expression of the sentence: decimal, fraction or expression in the "
            "others; vectors with commas.",
        ),
    ] = None,
    rigorous: Annotated[bool, typer.Option("--rigorous", help="Enclose the exact value by ball arithmetic.")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate the right side of a claim.

    Exit status 3 when the values violate one of its hypotheses; the value, if there is one, is printed all the same.

    Example: fedproof bound textbook/sgd-strongly-convex --set L=2 --set eta=1/(2*L) --set mu=1 --set k=10
    --set sigma2=3 --set norm2_x0_xstar=4 --rigorous
    """
    from theory import evaluate
    from theory.calculator import ROUNDS
    from theory.catalog import claim as find

    known = find(own.one(claim_id))
    if not known.has_bound:
        raise messages.lacking(known, "no right side that can be evaluated", lambda other: other.has_bound)
    found, parameters = parameters_of.of_calculator(known, assignments or [], f"fedproof bound {claim_id}")
    claim, left = found.bound, found.left
    hypotheses = [{"name": h["name"], "holds": h["holds"]} for h in evaluate.hypotheses(claim, parameters)]
    violated = [h["name"] for h in hypotheses if h["holds"] is False]
    value, enclosure = None, None
    try:
        value = evaluate.bound(claim, parameters)
        if rigorous:
            enclosure = evaluate.enclose(claim, parameters)
            value = enclosure.midpoint  # the evaluation in floats may have lost every digit
    except evaluate.UndefinedError:
        if not violated:  # otherwise that is why, and the terms may say more
            raise
    result = plain(
        {
            "id": claim.id,
            "value": value,
            "lower": enclosure.lower if enclosure else None,
            "upper": enclosure.upper if enclosure else None,
            "parameters": {name: value for name, value in parameters.items() if name != ROUNDS},
            "hypotheses": hypotheses,
            "terms": terms_at(claim, parameters, enclosure),
            **({} if left is None else {"left": _left(left, parameters, rigorous)}),
        }
    )
    if as_json:
        print_json(result)
    else:
        print_bound(result, frozenset(h.name for h in claim.standing))
    if violated:
        typer.echo(f"warning: the values violate: {', '.join(violated)}", err=True)
        raise typer.Exit(3)
