"""Derivations as files are: of a claim, and line by line."""

from typing import Any

from tests.language.gradient_methods import gd
from tests.language.noise_ball import parallel_sgd
from validate.verifier import FORMAT

SGD, DESCENT = parallel_sgd.program.to_json(), gd.program.to_json()

Line = dict[str, Any]


def derivation(
    claim: str,
    statement: str,
    lines: list[Line],
    assuming: tuple[str, ...] = (),
    relations: tuple[str, ...] = (),
    where: dict[str, str] | None = None,
    vectors: tuple[str, ...] = (),
    program: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """A file of kind "derivation"."""
    assumptions = []
    for text in assuming:
        name, inside = text.rstrip(")").split("(", 1)
        function, *constants = [part.strip() for part in inside.split(",")]
        if name in ("dissimilar", "bounded_variance"):
            assumptions.append({"text": text, "predicate": name, "constants": [function, *constants]})
        else:
            assumptions.append({"text": text, "predicate": name, "function": function, "constants": constants})
    return {
        "format": FORMAT,
        "kind": "derivation",
        "claim": claim,
        "statement": statement,
        "assumptions": assumptions,
        "relations": list(relations),
        "definitions": where or {},
        "vectors": list(vectors),
        "program": program,
        "lines": lines,
        **more,
    }


def combination(name: str, sentence: str | None, *parts: Any, squares: Any = ()) -> Line:
    """A line by combination; parts are names, or (name, times), or (name, times, over)."""
    read = []
    for part in parts:
        line, *rest = (part,) if isinstance(part, str) else part
        item: Line = {"line": line}
        if rest:
            item["times"] = rest[0]
        if len(rest) > 1:
            item["over"] = list(rest[1])
        read.append(item)
    found: Line = {"name": name, "by": "combination", "parts": read}
    if squares:
        found["squares"] = [dict(zip(("of", "times", "over"), square, strict=False)) for square in squares]
    if sentence is not None:
        found["sentence"] = sentence
    return found


def line(name: str, sentence: str | None, by: str, **more: Any) -> Line:
    """A line."""
    found: Line = {"name": name, "by": by, **more}
    if sentence is not None:
        found["sentence"] = sentence
    return found
