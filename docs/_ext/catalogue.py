"""The directives ``{claims} PAPER``, every claim of a paper of `theory.catalog`, one section each, and ``{verdicts}``,
how many of each paper's claims have which verdict; both say what tests/catalogue keeps of a quick check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from theory import catalog
from theory.bound import Bound, Parameter
from theory.calculator import ROUNDS, calculator
from theory.claim import Claim
from theory.predicates import Predicate
from theory.program import pseudo_code
from theory.typeset import latex_of_assumption, latex_of_claim, latex_of_definitions

KEPT = Path(__file__).resolve().parents[2] / "tests" / "catalogue"
WORDS = ("proved", "refuted", "supported", "undecided", "vacuous")
LONGEST = 40  # characters of a number


@cache
def verdicts() -> Mapping[str, str]:
    """By the claim's id."""
    return {one["id"]: one["verdict"] for one in json.loads((KEPT / "claims.json").read_text(encoding="utf-8"))}


@cache
def certificates() -> Mapping[str, Mapping[str, Any]]:
    """Of what is refuted, by the claim's id."""
    return {one["claim"]: one for one in json.loads((KEPT / "refuted.json").read_text(encoding="utf-8"))}


class Verdicts(SphinxDirective):
    """A table of papers."""

    def run(self) -> list[nodes.Node]:
        rows: list[tuple[Any, ...]] = []
        every: Counter[str] = Counter()
        for paper in catalog.papers():
            counts = Counter(verdicts()[claim.id] for claim in paper)
            every += counts
            rows.append((paper.name, *(str(counts[word]) for word in WORDS)))
        return [_table(("", *WORDS), [*rows, ("together", *(str(every[word]) for word in WORDS))])]


class Claims(SphinxDirective):
    """The claims of one paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        paper = catalog.paper(self.arguments[0])
        known = {c.id: c for c in paper}
        rows: list[tuple[Any, ...]] = [
            (verdicts()[claim.id], _paragraph(_link(claim.id, known), f" {claim.title or claim.label}"))
            for claim in paper
        ]
        return [_table(("verdict", "claim"), rows), *(_section(claim, known) for claim in paper)]


def anchor(id: str) -> str:
    """The id of a claim's section in its page."""
    return nodes.make_id(id)


def _section(claim: Claim, known: dict[str, Any]) -> nodes.section:
    section = _headed(claim, claim.title or claim.label, claim.amended, known)
    latex = latex_of_claim(claim)
    section += nodes.math_block(latex, latex, spoken=claim.statement)
    free = f" for every {', '.join(sorted(claim.free))}" if claim.free else ""
    section += _paragraph(nodes.literal("", claim.statement), f"{free}.")
    for name, formula in latex_of_definitions(claim).items():
        section += nodes.math_block(formula, formula, spoken=f"{name} = {claim.where[name]}")
    section += _remarks(claim.remarks)
    assumed = list(zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True))
    for group, heading in (
        (assumed[: len(claim.assuming)], "Hypotheses as printed"),
        (assumed[len(claim.assuming) :], "Standing (fixed elsewhere in the paper)"),
    ):
        if group:
            section += nodes.rubric("", heading)
            section += _list(_assumption(text, one, claim) for text, one in group)
    if claim.program is not None:
        section += nodes.rubric("", "Algorithm")
        text = pseudo_code(claim.program)
        section += nodes.literal_block(text, text, language="text")
    numbers = calculator(claim).bound
    section += _parameters(p for p in numbers.parameters if p.name != ROUNDS)
    section += _evaluated(numbers, f"{numbers.relation} {numbers.right}")
    return section


def _assumption(text: str, one: Any, claim: Claim) -> nodes.paragraph:
    if isinstance(one, Predicate):
        return _paragraph(nodes.literal("", text), f": {str(one).partition(': ')[2]}")
    latex = latex_of_assumption(one, claim.vocabulary)
    return _paragraph(nodes.literal("", text), ": ", nodes.math(latex, latex, spoken=text))


def _headed(claim: Any, title: str, amends: str | None, known: dict[str, Any]) -> nodes.section:
    section = nodes.section(ids=[anchor(claim.id)], names=[claim.id])
    section += nodes.title("", f"{claim.equation}: {title}" if claim.equation else title)
    told = " · ".join(part for part in (claim.kind, claim.source) if part)
    section += _paragraph(nodes.literal("", claim.id), f" · {told}", classes=["claim-meta"])
    verdict = verdicts().get(claim.id)
    if verdict is not None:
        section += _paragraph(
            nodes.strong("", verdict), _instance(claim.id), classes=["claim-verdict", f"claim-{verdict}"]
        )
    if amends:
        section += _paragraph("Repairs ", _link(amends, known), ".")
    return section


def _instance(id: str) -> str:
    """Of what is refuted, both sides on the instance that tests/catalogue keeps."""
    found = certificates().get(id)
    if found is None:
        return ""
    left, right = (_number(found[side]) for side in ("left", "right"))
    at = ", ".join(f"{name} = {value}" for name, value in found["at"].items())
    return f": the left side is {left}, the right side {right}" + (f" at {at}." if at else ".")


def _number(value: Any) -> str:
    """A fraction, or the ends of an interval; a long one as a decimal."""
    if isinstance(value, Mapping):
        value = str((Fraction(value["lower"]) + Fraction(value["upper"])) / 2)
        return f"{float(Fraction(value)):.10g}..."
    return value if len(value) <= LONGEST else f"{float(Fraction(value)):.10g}..."


def _remarks(remarks: Iterable[str]) -> list[nodes.Node]:
    found = [_paragraph(remark) for remark in remarks]
    return [nodes.rubric("", "Remarks"), _list(found)] if found else []


def _parameters(parameters: Iterable[Parameter]) -> list[nodes.Node]:
    rows: list[tuple[Any, ...]] = [(nodes.literal("", p.name), str(p.domain), p.shape, p.meaning) for p in parameters]
    return [nodes.rubric("", "Parameters"), _table(("Name", "Domain", "Shape", "Meaning"), rows)] if rows else []


def _evaluated(claim: Bound, last: str) -> list[nodes.Node]:
    """The right side with what it defines, as text."""
    text = "\n".join([*(f"{name} = {formula}" for name, formula in claim.definitions.items()), last])
    block = nodes.literal_block(text, text, language="text", classes=["wrap"])
    return [nodes.rubric("", "As the command line evaluates it"), block]


def _link(id: str, known: dict[str, Claim]) -> nodes.Node:
    if id not in known:
        return nodes.literal("", id)
    reference = nodes.reference("", "", refid=anchor(id), internal=True)
    reference += nodes.literal("", id)
    return reference


def _paragraph(*parts: Any, classes: Any = ()) -> nodes.paragraph:
    paragraph = nodes.paragraph(classes=list(classes))
    paragraph += [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    return paragraph


def _list(items: Any) -> nodes.bullet_list:
    bullets = nodes.bullet_list()
    bullets += [nodes.list_item("", item) for item in items]
    return bullets


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> nodes.table:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    for kind, lines in ((nodes.thead, [head]), (nodes.tbody, rows)):
        group += kind(
            "",
            *(
                nodes.row("", *(nodes.entry("", c if isinstance(c, nodes.paragraph) else _paragraph(c)) for c in line))
                for line in lines
            ),
        )
    return nodes.table("", group, classes=["colwidths-auto"])


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("claims", Claims)
    app.add_directive("verdicts", Verdicts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
