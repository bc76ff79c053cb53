"""A claim with its derivation as a file for Rocq."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from theory.claim import Claim
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.laws import NeededError
from theory.derivation.export.proof import Proof, in_comment
from theory.derivation.export.satisfiable import example
from theory.derivation.export.statement import Setting
from theory.formula import Name
from theory.sentence import Expression, SentenceError, parse_expression, parse_sentence

PRELUDE = "Fedproof.v"
LARGEST = 9_100_000
"""Characters of a file: the largest that coqc has accepted is a little smaller, and takes it more than two minutes."""
POINTS_OF = {
    "infimum": ("fstar",), "minimiser": ("xstar", "fstar"), "minimiser least": ("xstar",), "zero": ("xstar",),
    "zero n": ("xstar_n",), "minimiser n": ("xstar_n",),
}  # fmt: skip
"""Points of which a schema speaks."""


def prelude() -> str:
    """What every exported proof stands on."""
    return files("theory.derivation.export").joinpath(PRELUDE).read_text(encoding="utf-8")


def theorem(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> str:
    """The file of a claim and its derivation; it needs `prelude`, compiled as Fedproof.

    Raises:
        NotExportedError: where something in it is not exported yet.
    """
    needs: frozenset[str] = frozenset()
    while True:
        try:
            return _theorem(claim, lines, needs)
        except NeededError as error:
            if error.what in needs:
                raise
            needs |= {error.what}


def _theorem(claim: Claim, lines: Sequence[Mapping[str, Any]], needs: frozenset[str]) -> str:
    setting = Setting(claim, tuple(formulas(lines)), "curvature" in str(lines), needs)
    proof = Proof(setting)
    hypotheses = list(setting.hypotheses)
    words = [word for word, _ in hypotheses]
    twice = sorted({word for word in words if words.count(word) > 1})
    if twice:
        raise NotExportedError(f"{twice[0]} would be the name of two things")
    script = proof.lines(lines, claim.sentence)
    last = proof.last
    if str(last.sentence) != str(claim.sentence):
        raise NotExportedError(f"the last line is {last.sentence}, which is not the claim")
    conclusion, end = proof.conclusion(last)
    label = identifier(claim)
    given = "\n".join(f"    ({word} : {type_})" for word, type_ in hypotheses)
    satisfied = example(setting, label, hypotheses)
    if setting.random and any(word == "K" for word, _ in hypotheses):
        given += "\n    (K_room : (K <= rounds)%nat)"
    out = [
        f"(* {in_comment(claim.id)}: {in_comment(claim.statement)}", *told(claim), "*)",
        "Require Import Reals Lra Lia Arith.", "Require Import Fedproof.", "Open Scope R_scope.", "",
        f"Theorem {label} :", *([f"  forall\n{given},"] if given else []), f"    {conclusion}.", "Proof.",
        f"intros {' '.join(word for word, _ in hypotheses)}{' K_room' if 'K_room' in given else ''}.",
        *script, end, "Qed.", "", *([satisfied, ""] if satisfied else []),
        f"Print Assumptions {label}.", "",
    ]  # fmt: skip
    text = "\n".join(out)
    if len(text) > LARGEST:
        raise NotExportedError(f"a proof of more than {LARGEST / 1e6:g} million characters is not written")
    return text


def alone(text: str) -> str:
    """A file of `theorem` with the prelude in it, so that it needs no other."""
    body = prelude().removesuffix("\n")
    return text.replace("Require Import Fedproof.\n", f"Module Fedproof.\n{body}\nEnd Fedproof.\nImport Fedproof.\n", 1)


def identifier(claim: Claim) -> str:
    """A name of Rocq, and of a file, for a claim."""
    return "claim_" + re.sub(r"[^A-Za-z0-9]", "_", claim.id)


def told(claim: Claim) -> list[str]:
    """The claim in LaTeX, and what it assumes, as lines of a comment."""
    from theory.typeset import latex_of_claim

    found = [f"   LaTeX: {in_comment(latex_of_claim(claim))}"]
    if claim.assuming or claim.standing:
        found.append(f"   assuming: {in_comment('; '.join((*claim.assuming, *claim.standing)))}")
    if claim.where:
        found.append(f"   where: {in_comment('; '.join(f'{key} = {text}' for key, text in claim.where.items()))}")
    return found


def formulas(value: Any) -> list[Expression]:
    """Every formula in a derivation."""
    found: list[Expression] = []
    if isinstance(value, Mapping):
        found += [Name(word) for word in POINTS_OF.get(str(value.get("schema")), ())]
        for key, one in value.items():
            if key in ("name", "by", "source", "schema", "over", "on", "line"):
                continue
            found += formulas(one)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            found += formulas(one)
    elif isinstance(value, str):
        try:
            sentence = parse_sentence(value)
            return [sentence.left, sentence.right]
        except (SentenceError, ValueError):
            try:
                return [parse_expression(value)]
            except (SentenceError, ValueError):
                return []
    return found
