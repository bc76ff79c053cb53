"""Claims that say what they mean, as `fedproof show` prints them."""

from __future__ import annotations

import textwrap
from typing import Any

from theory.bound import Parameter
from theory.calculator import ROUNDS, Calculator, calculator
from theory.claim import Claim
from theory.predicates import Predicate
from theory.program import pseudo_code
from theory.sentence import Sentence, text_of
from theory.typeset import latex_of_assumption, latex_of_claim, latex_of_definitions
from validate.severity import severity_of
from validate.verdict import KNOWN


def in_numbers(claim: Claim) -> Calculator:
    """The claim in numbers, with all its parameters, those that its bound does not depend on as well."""
    first = calculator(claim).bound
    names = {p.name for p in first.parameters}
    return calculator(claim, {*names, *(symbol for symbol in claim.symbols if symbol not in first.definitions)})


def parameters(found: Calculator) -> list[Parameter]:
    """The parameters that a reader gives."""
    return [p for p in found.bound.parameters if p.name != ROUNDS]


def as_text(claim: Claim) -> str:
    """The sentence, what it assumes, what its names are, and the algorithm in words."""
    lines = [f"{claim.id}: {claim.title}" if claim.title else claim.id]
    told = claim.equation and claim.equation in claim.source
    lines.append(
        f"{claim.kind}: {claim.source}" if told else f"{claim.kind} {claim.equation}; {claim.source}".rstrip("; ")
    )
    lines += [KNOWN[claim.sure]] if claim.sure else []
    lines += [f"amends {claim.amended}"] if claim.amended is not None else []
    lines += ["", f"  {claim.statement or 'no sentence says it; see the remarks'}"]
    lines += [_printed(claim)] if any(name != here for name, here in claim.printed.items()) else []
    lines += [f"for every {', '.join(sorted(claim.free))}"] if claim.free else []
    lines += [f"free vectors: {', '.join(claim.vectors)}"] if claim.vectors else []

    def part(title: str, entries: list[str]) -> None:
        if entries:
            lines.extend(["", title])
            for entry in entries:
                lines.append(textwrap.fill(entry, 100, initial_indent="  ", subsequent_indent="    "))

    part("Where", [f"{name} = {text}" for name, text in claim.where.items()])
    count = len(claim.assuming)
    part("Assuming", list(map(_meaning, claim.assuming, claim.assumptions[:count])))
    part("Standing (fixed elsewhere in the paper)", list(map(_meaning, claim.standing, claim.assumptions[count:])))
    part("Over", [claim.over] if claim.over else [])
    part("Parameters", [f"{p.name} {p.domain.membership}: {p.meaning}" for p in parameters(in_numbers(claim))])
    if claim.program is not None:
        lines += ["", "Algorithm", textwrap.indent(pseudo_code(claim.program), "  ")]
    part("Remarks", list(claim.remarks))
    matters = severity_of(claim)
    part("Refuted; how much it matters, by the nearest claim that stands", [] if matters is None else [matters.line])
    return "\n".join(lines)


def as_latex(claim: Claim) -> str:
    """The sentence, its definitions and what it assumes in LaTeX, one a line."""
    assumed = (latex_of_assumption(one, claim.vocabulary) for one in claim.assumptions)
    return "\n".join([latex_of_claim(claim), *latex_of_definitions(claim).values(), *assumed])


def _printed(claim: Claim) -> str:
    """The paper's names of what has others here."""
    names = (f"{here} is {name}" for name, here in claim.printed.items() if name != here)
    return "in the paper, and among the parameters, " + ", ".join(names)


def _meaning(text: str, one: Predicate | Sentence) -> str:
    return str(one) if isinstance(one, Predicate) else text


def _hypothesis(text: str, one: Predicate | Sentence) -> dict[str, Any]:
    known = isinstance(one, Predicate)
    return {
        "name": text,
        "statement": str(one).partition(": ")[2] if known else text,
        "relation": None if known else text,
        "assumption": type(one).__name__ if known else None,
        "printed": True,
    }


def as_json_of(claim: Claim) -> dict[str, Any]:
    """The same as plain data; ``bound`` is what `fedproof bound` evaluates, in its parameters."""
    found, count, matters = in_numbers(claim), len(claim.assuming), severity_of(claim)
    hypotheses = [
        _hypothesis(text, one) for text, one in zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True)
    ]
    return {
        "id": claim.id,
        "kind": claim.kind,
        "title": claim.title,
        "equation": claim.equation,
        "statement": claim.statement,
        "latex": latex_of_claim(claim),
        "quantity": text_of(claim.sentence.left) if claim.has_sentence else None,
        "source": claim.source,
        "parameters": [
            {"name": p.name, "domain": str(p.domain), "meaning": p.meaning, "shape": p.shape} for p in parameters(found)
        ],
        "hypotheses": hypotheses[:count],
        "standing": [{**one, "where": "elsewhere in the paper"} for one in hypotheses[count:]],
        "definitions": dict(claim.where),
        "relation": claim.sentence.relation if claim.has_sentence else None,
        "right": text_of(claim.sentence.right) if claim.has_sentence else None,
        "bound": {"right": found.bound.right, "definitions": dict(found.bound.definitions)},
        "vectors": list(claim.vectors),
        "free": sorted(claim.free),
        "over": claim.over or None,
        "algorithm": None if claim.program is None else claim.program.to_json(),
        "amends": claim.amended,
        "sure": claim.sure or None,
        "remarks": list(claim.remarks),
        "refuted": None if matters is None else matters.to_json(),
    }
