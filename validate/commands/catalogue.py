"""What is claimed: `fedproof claims`, `show` and `bound`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands import completion, messages, own, parameters_of
from validate.commands.output import number, plain, print_json, table

if TYPE_CHECKING:
    from theory.claim import Claim, Hypothesis
    from theory.evaluate import Enclosure
    from validate.kept import Entry

WIDTH = 48
"""Characters of a left side in the list of claims."""
STANDING = "Standing (fixed elsewhere in the paper)"


def remembered(one: Entry) -> str:
    """The verdict that a check left, in a word or two."""
    word = str(one["verdict"])
    if word == "undecided" and one.get("broken"):
        word = "undecided: broken"
    return f"{word} (quick)" if one.get("quick") else word


def claims(
    paper: Annotated[
        str | None,
        typer.Option(
            "--paper",
            help="Only the claims of this paper; paper.py for one of your own.",
            autocompletion=completion.papers,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder in which `check` left its verdicts.")] = Path(
        "fedproof-out"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the claims, with the verdicts that are known.

    A verdict of a quick check says so. One on a claim that has changed since is not shown.

    Example: fedproof claims --paper fedavg-svrg
    """
    from theory import catalog
    from validate import kept

    found = kept.known(out)
    chosen = None if paper is None else own.known([paper])[0]
    shown = catalog.claims(chosen)
    verdicts = {c.id: found[c.id] for c in shown if c.id in found and kept.current(found[c.id], c)}
    changed = [c.id for c in shown if c.id in found and c.id not in verdicts]
    if changed:
        what = f"{len(changed)} claim{'s' * (len(changed) > 1)}, such as {changed[0]}"
        typer.echo(f"{out / kept.VERDICTS} has verdicts on other versions of {what}: check again", err=True)
    rows = [
        _row(claim) | {name: verdicts.get(claim.id, {}).get(name) for name in ("verdict", "quick", "broken")}
        for claim in shown
    ]
    if as_json:
        print_json(rows)
        return
    cells = [
        [row["id"], row["kind"], row["equation"], shortened(row["quantity"]), "yes" if row["has_bound"] else "",
         row["amends"] or "", remembered(row) if row["verdict"] else ""]
        for row in rows
    ]  # fmt: skip
    table(["id", "kind", "equation", "quantity", "bound", "amends", "verdict"], cells)


def _row(claim: Any) -> dict[str, Any]:
    """What the list says of a claim: of one that says what it means, its left side is what it bounds."""
    from theory.written import Claim as Written

    own = {"id": claim.id, "kind": claim.kind, "equation": claim.equation}
    if isinstance(claim, Written):
        from theory.sentence import text_of

        quantity = text_of(claim.sentence.left) if claim.has_sentence else ""
        return own | {"quantity": quantity, "has_bound": claim.has_bound, "amends": claim.amended}
    return own | {"quantity": claim.quantity.name, "has_bound": claim.has_bound, "amends": claim.amends}


def shortened(text: str) -> str:
    """A left side as a table has it."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3].rstrip()}..."


def _hypothesis(h: Hypothesis) -> dict[str, Any]:
    return {
        "name": h.name,
        "statement": h.statement,
        "relation": h.relation,
        "assumption": type(h.assumption).__name__ if h.assumption is not None else None,
        "printed": h.printed,
    }


def description(claim: Claim) -> dict[str, Any]:
    """A claim as a dictionary for JSON."""
    return {
        "id": claim.id,
        "kind": claim.kind,
        "title": claim.title,
        "equation": claim.equation,
        "statement": claim.statement,
        "latex": claim.latex,
        "quantity": asdict(claim.quantity),
        "source": claim.source,
        "parameters": [
            {"name": p.name, "domain": str(p.domain), "meaning": p.meaning, "shape": p.shape} for p in claim.parameters
        ],
        "hypotheses": [_hypothesis(h) for h in claim.hypotheses],
        "standing": [{**_hypothesis(h), "where": h.where} for h in claim.standing],
        "definitions": dict(claim.definitions),
        "relation": claim.relation,
        "right": claim.right,
        "steps": [asdict(step) for step in claim.steps],
        "amends": claim.amends,
        "derivation": claim.derivation or None,
        "remarks": list(claim.remarks),
    }


def text(claim: Claim) -> str:
    """A claim for a reader."""
    lines = [f"{claim.id}: {claim.title}", f"{claim.kind} {claim.equation}; {claim.source}".rstrip("; ")]
    if claim.amends is not None:
        lines.append(f"amends {claim.amends}")

    def part(title: str, entries: list[str]) -> None:
        if entries:
            lines.extend(["", title])
            for entry in entries:
                lines.append(textwrap.fill(entry, 100, initial_indent="  ", subsequent_indent="    "))

    part("Statement", [claim.statement])
    if claim.right is not None:
        sides = [f"{claim.quantity.name} {claim.relation} {claim.right}"]
        part("Bound", sides + [f"with {name} = {formula}" for name, formula in claim.definitions.items()])
    part(
        "Hypotheses",
        [
            f"{h.name}: {h.statement}" + ("" if h.printed else " (used by the proof; not printed)")
            for h in claim.hypotheses
        ],
    )
    part(STANDING, [f"{h.name}: {h.statement} ({h.where})" for h in claim.standing])
    part(
        "Parameters",
        [f"{p.name} in {p.domain}: {p.meaning}" + " (vector)" * (p.shape == "vector") for p in claim.parameters],
    )
    part(
        "Proof",
        [
            f"{step.label} {step.left} {step.relation} {step.right}  [{step.rule}]"
            + (f" {step.note}" if step.note else "")
            + (f" (see {step.claim})" if step.claim else "")
            for step in claim.steps
        ],
    )
    part("Derivation", [claim.derivation] if claim.derivation else [])
    part("Remarks", list(claim.remarks))
    return "\n".join(lines)


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a claim: statement, hypotheses, parameters, proof.

    Example: fedproof show fedavg-svrg/theorem-v1-eq8
    """
    from theory import catalog
    from theory.written import Claim as Written

    claim: Any = catalog.claim(own.one(claim_id))
    if isinstance(claim, Written):
        from validate.commands import written

        if as_json:
            print_json(written.as_json_of(claim))
        else:
            typer.echo(written.as_latex(claim) if latex else written.as_text(claim))
        return
    if as_json:
        print_json(description(claim))
    elif latex:
        lines = [claim.latex, *(f"{step.left} {step.relation} {step.right}" for step in claim.steps)]
        typer.echo("\n".join(lines))
    else:
        typer.echo(text(claim))


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


def terms_at(claim: Claim, parameters: Mapping[str, Any], enclosure: Enclosure | None) -> dict[str, Any]:
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


def _left(left: Claim, parameters: Mapping[str, Any], rigorous: bool) -> dict[str, Any]:
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
    claim_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of the claim; or paper.py:LABEL.", autocompletion=completion.claim_ids),
    ],
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Evaluate the right side of a claim.

    Exit status 3 when the values violate one of its hypotheses; the value, if there is one, is printed all the same.

    Example: fedproof bound fedavg-svrg/theorem-v1-eq8 --set L=2 --set delta=1/sqrt(K) --set S=5 --set M=2
    --set K=100 --set G2=3 --set f0_gap=7 --set mean_inv_p=13/3 --rigorous
    """
    from theory import catalog, evaluate
    from theory.written import Claim as Written

    known: Any = catalog.claim(own.one(claim_id))
    command = f"fedproof bound {claim_id}"
    left: Claim | None = None
    hidden = ""
    if isinstance(known, Written):
        from theory.calculator import ROUNDS

        found, parameters = parameters_of.of_calculator(known, assignments or [], command)
        claim, left, hidden = found.bound, found.left, ROUNDS
    else:
        claim = known
        if not claim.has_bound:
            raise messages.lacking(claim, "no right side that can be evaluated", lambda other: other.has_bound)
        parameters = parameters_of.all_of(claim, assignments or [], command)
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
            "parameters": {name: value for name, value in parameters.items() if name != hidden},
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
