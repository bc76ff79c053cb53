"""The directive ``{commands}``: every command of `fedproof`, with arguments, options, defaults and examples."""

from __future__ import annotations

import re
from typing import Any

from catalogue import _paragraph, _table
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def commands() -> dict[str, Any]:
    """The commands by name, in the order in which `fedproof --help` lists them."""
    import typer

    from validate.cli import app

    group: Any = typer.main.get_command(app)
    return dict(group.commands)


class Commands(SphinxDirective):
    """One section a command."""

    def run(self) -> list[nodes.Node]:
        return [_section(name, command) for name, command in commands().items()]


def _section(name: str, command: Any) -> nodes.section:
    section = nodes.section(ids=[f"fedproof-{name}"], names=[f"fedproof {name}"])
    section += nodes.title("", f"fedproof {name}")
    context = command.make_context(f"fedproof {name}", [], resilient_parsing=True)
    section += _literal(" ".join([f"fedproof {name}", *command.collect_usage_pieces(context)]))
    examples = []
    for text in re.split(r"\n\s*\n", (command.help or "").strip()):
        text = " ".join(text.replace("\b", "").split())
        if text.startswith("Example"):
            examples.append(text.partition(": ")[2])
        else:
            section += _paragraph(*_with_code(text))
    for example in examples:
        section += nodes.rubric("", "Example")
        section += _literal(example)
    for kind, heading in (("argument", "Argument"), ("option", "Option")):
        parameters = [p for p in command.params if p.param_type_name == kind and not getattr(p, "hidden", False)]
        if parameters:
            rows = [_row(p.get_help_record(context)) for p in parameters]
            shown = [0, 1, 2] if any(default for _, default, _ in rows) else [0, 2]
            head = (heading, "Default", "Meaning")
            section += _table(tuple(head[i] for i in shown), [tuple(_cells(row)[i] for i in shown) for row in rows])
    return section


def _row(record: tuple[str, str]) -> tuple[str, str, str]:
    """Name, default and meaning, from what `--help` prints: the meaning, then "[default: ...; x>=0]"."""
    name, text = record
    found = re.fullmatch(r"(.*?)(?:\s*\[((?:default|required|[^\[\]]*[<>])[^\[\]]*)\])?", text, re.DOTALL)
    assert found is not None
    notes = (found[2] or "").split("; ")
    default = "".join(n.removeprefix("default: ") for n in notes if n.startswith("default: "))
    others = ", ".join(n for n in notes if n and not n.startswith("default: "))
    return name, default, " ".join(found[1].split()) + (f" ({others})" if others else "")


def _cells(row: tuple[str, str, str]) -> tuple[Any, ...]:
    name, default, meaning = row
    shown = nodes.literal("", default) if default else ""
    return nodes.literal("", name), shown, nodes.inline("", "", *_nodes(_with_code(meaning)))


def _nodes(parts: list[Any]) -> list[nodes.Node]:
    return [nodes.Text(part) if isinstance(part, str) else part for part in parts]


def _with_code(text: str) -> list[Any]:
    """The text with what stands between backquotes as code."""
    return [nodes.literal("", part) if i % 2 else part for i, part in enumerate(text.split("`"))]


def _literal(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text", classes=["wrap"])


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
