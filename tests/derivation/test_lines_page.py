"""The page of what lines are written with: its examples are accepted, and it has every writer, schema and axiom."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from tests.derivation.both import check
from theory import claim, derivation
from theory.claim import Claim
from theory.derivation import combined, rules, writing
from theory.derivation.schemas import SCHEMAS, Schema

PAGE = Path(__file__).parents[2] / "docs" / "derivation-lines.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
VECTORS = ("u", "v", "x", "y", "a_n")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, what is written in backquotes."""
    table = TEXT.partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    return [line.strip("| ").split(" | ") for line in lines]


def texts(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def vectors_in(*some: str) -> tuple[str, ...]:
    return tuple(v for v in VECTORS if any(re.search(rf"\b{v}\b", text) for text in some))


def instances() -> list[tuple[str, Schema]]:
    """Each schema as the page writes it: of f, or of the function of which it holds."""
    found = []
    for name, schemas in SCHEMAS.items():
        for schema in schemas:
            shared = any(kind == "same_minimiser" for kind, _ in schema.needs)
            function = "f_ni" if shared else schema.only[0] if schema.only else "f"
            points = f"({', '.join(schema.points)})" if schema.points else ""
            found.append((" ".join(text for text in (name, function, points) if text), schema))
    return found


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_examples_are_accepted(number: int) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(BLOCKS[number], str(PAGE), "exec"), names)
    claims = [value for value in names.values() if isinstance(value, Claim)]
    assert claims
    for one in claims:
        check(one)


def test_every_writer_has_an_example() -> None:
    called = {
        node.func.id
        for block in BLOCKS
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    made = vars(writing)
    writers = {name for name in derivation.__all__ if name in made and inspect.isfunction(made[name])} - {"lines"}
    assert writers
    assert writers <= called


def test_the_table_of_schemas_is_of_all() -> None:
    said = [(texts(written)[0], texts(needs), texts(sentence)[0]) for written, needs, sentence in rows("Schemas")]
    assert [one for one, _, _ in said] == [written for written, _ in instances()]
    for (_, needs, sentence), (_, schema) in zip(said, instances(), strict=True):
        assert [need.partition("(")[0] for need in needs][: len(schema.needs)] == [kind for kind, _ in schema.needs]
        assert re.sub(r"\bf_ni\b", "f", sentence) == re.sub(r"\bf_ni\b", "f", schema.sentence)


@pytest.mark.parametrize("row", rows("Schemas"), ids=lambda row: texts(row[0])[0])
def test_a_schema_says_what_the_table_has(row: list[str]) -> None:
    (written,), needs, (sentence,) = map(texts, row)
    check(claim("row", sentence, vectors=vectors_in(sentence), assuming=needs, proof=(combined("all", None, written),)))


ONE_THING = ("cauchy", "triangle", "jensen", "exp", "exp sum", "exp power")
ONE_THING += ("log product", "log quotient", "exp log", "log exp", "markov", "quantile norm")
ONE_THING += ("power sum", "power product", "power power")
"""Axioms that say one thing, so that their sentence may be left out."""


@pytest.mark.parametrize("row", rows("Axioms"), ids=lambda row: texts(row[0])[0])
def test_an_axiom_says_what_the_table_has(row: list[str]) -> None:
    (written,), (sentence,), where = texts(row[0]), texts(row[1]), texts(row[2]) if len(row) > 2 else []
    call = ast.parse(f"axiom({written})", mode="eval").body
    assert isinstance(call, ast.Call)
    schema, *of = [ast.literal_eval(one) for one in call.args]
    over = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    line = derivation.axiom("all", None, schema, *of, **over)
    if schema in ONE_THING:
        line = {**line, "name": "said"}
        proof: Any = (line, combined("all", None, "said"))
    else:
        proof = (line,)
    check(claim("row", sentence, vectors=vectors_in(sentence), assuming=where, proof=proof))


def test_every_axiom_is_on_the_page() -> None:
    known = set(re.findall(r'schema == "([a-z ]+)"|case ((?:"[a-z ]+"(?: \| )?)+)', inspect.getsource(rules)))
    names = {one for pair in known for text in pair for one in re.findall(r"[a-z]+(?: [a-z]+)?", text)}
    names |= {"cauchy", "coordinate"}
    assert len(names) > 15
    shown = {texts(row[0])[0].split('"')[1] for row in rows("Axioms")}
    shown |= set(re.findall(r'axiom\("[^"]*", None, "([a-z ]+)"', TEXT))
    assert names <= shown, names - shown
