"""The claim and its hypotheses, for the kinds whose certificates give the constants themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .checks import Checks
from .formulas import relation_holds
from .reading import fields, list_of, shown, text_of

HEAD = "format kind claim statement hypotheses"


@dataclass(frozen=True)
class Condition:
    """What an assumption comes to here.

    Attributes:
        constant: the name of its constant, "" for none.
        holds: whether it holds.
        says: in words.
        at: the points for which that is so, as an assumption names them.
        relative, step: the names of its further constants, "" for none.
    """

    constant: str
    holds: bool
    says: str
    at: tuple[str, ...] = ("iterates",)
    relative: str = ""
    step: str = ""


def introduce(data: Mapping[str, Any]) -> None:
    """That what the certificate says of the claim is text; `claimed` prints it."""
    for key in ("claim", "statement"):
        text_of(data[key], key)
    text_of(data.get("note", ""), "note")


def hypothesis(item: Mapping[str, Any]) -> str:
    """What a hypothesis is called; of a condition that the paper fixes elsewhere for the result, where it does."""
    name = f"hypothesis {shown(text_of(item['name'], 'a name'))}"
    where = text_of(item.get("standing", ""), "standing")
    return f"{name} (fixed elsewhere in the paper: {shown(where)})" if where else name


def check_conditions(
    checks: Checks, data: Any, known: Mapping[str, Condition], look: Callable[[str], Any], words: bool = False
) -> None:
    """That every hypothesis holds: its relation, and its assumption, which must be among those `known` here.

    Hypotheses in words only, without either, fail, or with `words` are left to the reader.
    """
    for item in list_of(data, "hypotheses"):
        fields(item, "a hypothesis", "name assumption relation", "constant of at relative step standing")
        name = hypothesis(item)
        assumption, relation = item["assumption"], item["relation"]
        if assumption is None and relation is None:
            says = "it has neither a relation nor an assumption"
            if words:
                checks.note(f"{name} is left to the reader: {says}")
            else:
                checks.check(False, f"{name} cannot be checked: {says}")
        if relation is not None:
            holds = checks.attempt(name, relation_holds, text_of(relation, "a relation"), look, 1, True)
            if holds is not None:
                checks.check(holds, f"{name}: {shown(relation)}")
        if assumption is None:
            continue
        condition = known.get(text_of(assumption, "an assumption"))
        constant = text_of(item.get("constant", ""), "constant")
        of, at = text_of(item.get("of", "client"), "of"), text_of(item.get("at", "iterates"), "at")
        further = {key: text_of(item.get(key, ""), key) for key in ("relative", "step")}
        named = condition is not None and constant in ("", condition.constant)
        named = named and all(value in ("", getattr(condition, key)) for key, value in further.items())
        if condition is None or not named or of != "client" or at not in condition.at:
            what = " ".join(filter(None, (assumption, constant, *further.values(), of, at)))
            checks.check(False, f"{name}: the assumption {shown(what)} is unknown here, so it cannot be checked")
        else:
            checks.check(condition.holds, f"{name}: {condition.says}")
