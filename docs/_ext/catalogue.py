"""The directive ``{claims} PAPER``: every claim of a paper of `theory.catalog`, one section each."""

from __future__ import annotations

from collections.abc import Iterable
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


class Claims(SphinxDirective):
    """The claims of one paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        paper = catalog.paper(self.arguments[0])
        known = {c.id: c for c in paper}
        return [_section(claim, known) for claim in paper]


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
    if amends:
        section += _paragraph("Repairs ", _link(amends, known), ".")
    return section


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
        group += kind("", *(nodes.row("", *(nodes.entry("", _paragraph(c)) for c in line)) for line in lines))
    return nodes.table("", group, classes=["colwidths-auto"])


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
