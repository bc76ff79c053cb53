"""What a certificate says of its claim: printed for the reader, who has the paper; and where it contradicts itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .formulas import Uncheckable, evaluate, parse
from .reading import FormatError, shown

OPTIONAL = ("origin", "quick", "unconditional")
"""Fields of any kind of certificate that no check rests on: where the instance comes from, whether the check that made
it was a quick one, and that the claim has no hypothesis."""

ORIGINS = ("search", "pool", "worst case", "given")
# Kinds whose claims may have no hypothesis without the certificate saying so.
WITHOUT = ("relation", "finite")
# Fields with formulas or numbers of the claim, of the kinds that have them.
FURTHER = ("claimed_exponent", "epsilon", "coefficient", "ratio", "rate", "conditions")
COMPARE_IT = "the claim that this certificate is about; compare it with your paper:"


def printed(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Statement, formula, definitions, hypotheses and parameters, one a line; of a certificate that could be read."""
    left = data.get("left", {})
    entries = [("claim", data["claim"]), ("statement", data["statement"])]
    if left:
        index = "".join(f", {key}={i}" for key, i in left.get("index", {}).items())
        formula = f" = {left['formula']}" if "formula" in left else ""
        entries.append(("left side", f"{left.get('quantity', '')}{index}{formula}"))
        if "meaning" in left:
            entries.append(("", f"which is {left['meaning']}"))
    if "relation" in data:
        entries.append(("relation", data["relation"]))
    entries += [("right side", data[key]) for key in ("right", "right_formula") if key in data]
    needed = reached(data)
    for name, formula in data.get("definitions", {}).items():
        entries.append(("definition", f"{name} = {formula}" + ("" if name in needed else "   (nothing uses it)")))
    entries += [(key, words(data[key])) for key in FURTHER if key in data]
    entries += [("name", f"{name} is {meaning}") for name, meaning in data.get("names", {}).items()]
    if not data["hypotheses"]:
        entries.append(("hypotheses", "NONE: the claim is taken to hold without any"))
    said = data.get("words", {})
    for item in data["hypotheses"]:
        more = f" ({said[item['name']]})" if item["name"] in said else ""
        entries.append(("hypothesis", hypothesis(item) + more))
    entries += [("parameter", f"{name} = {words(value)}") for name, value in data.get("parameters", {}).items()]
    if "note" in data:
        entries.append(("note", data["note"]))
    made = [f"a {'quick' if data['quick'] else 'full'} check"] if "quick" in data else []
    made += [f"the instance is from: {data['origin']}"] if "origin" in data else []
    if made:
        entries.append(("made by", f"{', '.join(made)} (as the file says)"))
    return (COMPARE_IT, *(f"  {key:11} {shown(text, 4000)}" for key, text in entries))


def hypothesis(item: Mapping[str, Any]) -> str:
    """A hypothesis in a line."""
    parts = [item["relation"]] if item["relation"] is not None else []
    if item["assumption"] is not None:
        details = [item[key] for key in ("constant", "relative", "step", "of", "at") if item.get(key)]
        parts.append(f"{item['assumption']}({', '.join(details)})")
    return f"{item['name']}: {'; '.join(parts) or 'in words only'}"


def words(value: Any) -> str:
    """Numbers and lists of them."""
    return f"({', '.join(map(words, value))})" if isinstance(value, list) else str(value)


def reached(data: Mapping[str, Any]) -> set[str]:
    """The definitions that the formulas and hypotheses use, directly or not."""
    definitions = data.get("definitions", {})
    texts = [data.get("right"), data.get("right_formula"), data.get("left", {}).get("formula")]
    texts += [h["relation"] for h in data["hypotheses"]]
    texts += [data.get("coefficient"), data.get("ratio")]
    found: set[str] = set()
    while texts:
        text = texts.pop()
        if not isinstance(text, str):
            continue
        new = set(re.findall(r"[A-Za-z]\w*", text)) & set(definitions) - found
        found |= new
        texts += [definitions[name] for name in new]
    return found


def metadata(certificate: Mapping[str, Any]) -> None:
    """That the fields of `OPTIONAL` are what they are to be.

    Raises:
        FormatError: otherwise.
    """
    if "origin" in certificate and certificate["origin"] not in ORIGINS:
        raise FormatError(f"origin={shown(certificate['origin'])} is none of {list(ORIGINS)}")
    listed = certificate.get("hypotheses", [])
    if not isinstance(listed, list) or not all(
        isinstance(h, dict) and {"name", "relation"} <= h.keys() for h in listed
    ):
        raise FormatError(f"hypotheses={shown(listed)} is no list of hypotheses")
    for key in ("quick", "unconditional"):
        if key in certificate and not isinstance(certificate[key], bool):
            raise FormatError(f"{key}={shown(certificate[key])} is neither true nor false")


def contradictions(certificate: Mapping[str, Any]) -> Iterator[str]:
    """What in a certificate cannot be said of a claim, whatever the paper says."""
    said = certificate.get("unconditional", False)
    if certificate["hypotheses"] and said:
        yield "the certificate lists hypotheses, and says that there are none"
    if not certificate["hypotheses"] and not said and certificate["kind"] not in WITHOUT:
        yield "no hypothesis is listed, and the certificate does not say that the claim has none"
    if about_numbers(certificate["statement"]):
        yield "the statement is a relation between numbers, and no claim"
    formulas = {key: certificate[key] for key in ("right", "right_formula") if key in certificate}
    formulas |= {f"definition of {shown(k)}": text for k, text in certificate.get("definitions", {}).items()}
    for name, text in formulas.items():
        if any(vanishes(term) for term in terms(parse(text, name))):
            yield f"{name} has a term times 0, which no printed formula has: {shown(text)}"


def about_numbers(statement: str) -> bool:
    """Whether a statement is nothing but a relation between numbers, such as 1+1=2; it may be empty."""
    return bool(statement.strip()) and bool(re.fullmatch(r"[\s0-9.()+*/^=<>-]*", statement))


def terms(tree: ast.expr) -> Iterator[ast.expr]:
    """The summands of a formula."""
    match tree:
        case ast.BinOp(left=x, op=ast.Add() | ast.Sub(), right=y):
            yield from terms(x)
            yield from terms(y)
        case ast.UnaryOp(operand=x):
            yield from terms(x)
        case _:
            yield tree


def vanishes(term: ast.expr) -> bool:
    """Whether a summand that has names has a factor of numbers only, which is 0."""
    factors: list[ast.expr] = []
    left = [term]
    while left:
        match left.pop():
            case ast.BinOp(left=x, op=ast.Mult(), right=y):
                left += [x, y]
            case ast.BinOp(left=x, op=ast.Div()):
                left.append(x)
            case ast.UnaryOp(operand=x):
                left.append(x)
            case ast.BinOp(op=ast.Add() | ast.Sub()) as bracket:
                factors.append(bracket)
                if all(vanishes(inner) for inner in terms(bracket)):
                    return True
            case factor:
                factors.append(factor)
    if not any(isinstance(node, ast.Name) for node in ast.walk(term)):
        return False
    return any(is_zero(factor) for factor in factors)


def is_zero(factor: ast.expr) -> bool:
    """Whether it has no names and is 0."""
    if any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(factor)):
        return False

    def none(name: str) -> Any:
        raise Uncheckable(name)

    try:
        return bool(evaluate(factor, none) == 0)
    except (Uncheckable, FormatError):
        return False


def plain(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate without the fields that no check rests on."""
    return {key: value for key, value in certificate.items() if key not in OPTIONAL}
