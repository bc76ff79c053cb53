"""A claim with its derivation as a file for Lean 4, without Mathlib.

For a reader, and for whoever has Lean: no Lean is asked here. It is for claims about numbers and vectors: an ordered
field and an inner product space over it are structures of the file itself, vectors are taken apart by their laws, and
what is left of each line is for `grind`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.claim import Claim
from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import Said
from theory.derivation.export.rocq import formulas, identifier, told
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import App, Inv, Ip, Nat, Num, Op, Pow, Term, Vec, VOp, name
from theory.sentence import Sentence, index_of, parse_expression, parse_sentence, read

HEADER = """\
/- Core Lean 4 (2025 or later, for `grind` over ordered fields). This file was not compiled where it was written. -/

section
open Lean.Grind

class InnerSpace (R : Type) (V : Type) [Field R] [LE R] where
  add : V → V → V
  scal : R → V → V
  ip : V → V → R
  ip_comm : ∀ u v, ip u v = ip v u
  ip_add : ∀ u v w, ip (add u v) w = ip u w + ip v w
  ip_add_right : ∀ u v w, ip w (add u v) = ip w u + ip w v
  ip_scal : ∀ a u v, ip (scal a u) v = a * ip u v
  ip_scal_right : ∀ a u v, ip v (scal a u) = a * ip v u
  ip_nonneg : ∀ u, 0 ≤ ip u u

variable {R : Type} [Field R] [LE R] [LT R] [Std.LawfulOrderLT R] [Std.IsLinearOrder R] [OrderedRing R]
variable {V : Type} [InnerSpace R V]
open InnerSpace
"""
_STRENGTH = {"+": 65, "-": 65, "*": 70, "neg": 75}


def theorem(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> str:
    """The file of a claim about numbers and vectors, and its derivation.

    Raises:
        NotExportedError: for a claim about functions or an algorithm, sums, or a rule other than combinations.
    """
    setting = Setting(claim, tuple(formulas(lines)))
    if setting.program is not None or setting.level or claim.predicates or setting.clients:
        raise NotExportedError("claims about functions, algorithms and clients are not exported to Lean yet")
    given = [f"({word} : V)" for word in claim.vectors]
    for symbol in setting.symbols:
        domain = claim.domains[symbol]
        if index_of(symbol)[1] or domain.integer:
            raise NotExportedError(f"{symbol}: integers, and numbers with an index, are not exported to Lean yet")
        given.append(f"({symbol} : R)")
        for end, open_, low in ((domain.lower, domain.lower_open, True), (domain.upper, domain.upper_open, False)):
            if end is not None:
                sign = "<" if open_ else "≤"
                sides = (f"{end:g}", symbol) if low else (symbol, f"{end:g}")
                given.append(f"({symbol}_{'low' if low else 'top'} : {sides[0]} {sign} {sides[1]})")
    for i, relation in enumerate(claim.relations):
        given.append(f"(assumed_{i} : {_said(setting, relation)})")
    script: list[str] = []
    for i, one in enumerate(lines):
        text = one.get("sentence")
        script += _line(setting, one, claim.sentence if text is None else parse_sentence(text), f"l{i + 1}")
    arguments = "\n    ".join(given)
    return "\n".join(
        [
            f"/- {claim.id}: {claim.statement}",
            *told(claim),
            "-/",
            HEADER,
            f"theorem {identifier(claim)}",
            f"    {arguments} :",
            f"    {_said(setting, claim.sentence)} := by",
            *("  " + text for text in script),
            f"  exact l{len(lines)}",
            "end",
            "",
        ]
    )


def _said(setting: Setting, sentence: Sentence) -> str:
    said: Said = setting.said(sentence, {"K": name("K")})
    sign = {"<=": "≤", "<": "<", "==": "="}[said.relation]
    return f"{lean_text(said.left)} {sign} {lean_text(said.right)}"


def _line(setting: Setting, one: Mapping[str, Any], sentence: Sentence, label: str) -> list[str]:
    if one["by"] != "combination":
        raise NotExportedError(f"the rule {one['by']} is not exported to Lean yet (line {one.get('name')!r})")
    if one.get("parts"):
        raise NotExportedError(f"parts of a combination are not exported to Lean yet (line {one.get('name')!r})")
    found = [f"-- {one.get('name')}: {sentence}", f"have {label} : {_said(setting, sentence)} := by"]
    for j, square in enumerate(one.get("squares", ())):
        tree = parse_expression(str(square["of"]))
        of = setting.term(tree, {})
        vector = read(tree, setting.claim.vocabulary).shape == "vector"
        whole = lean_text(Ip(of, of) if vector else Op("*", (of, of)), 71)
        by = lean_text(setting.term(parse_expression(str(square.get("times", "1"))), {}), 71)
        fact = f"ip_nonneg {lean_text(of, 100)}" if vector else "by grind"
        found += [
            f"  have q{j} : 0 ≤ {whole} := {fact}",
            f"  have t{j} : 0 ≤ {by} := by grind",
            f"  have p{j} : 0 ≤ {by} * {whole} := OrderedRing.mul_nonneg t{j} q{j}",
        ]
    places = " ".join(["at *"]) if one.get("squares") else ""
    found.append(f"  simp only [ip_add, ip_add_right, ip_scal, ip_scal_right] {places}".rstrip())
    return [*found, "  grind [ip_comm]"]


def lean_text(t: Term, outer: int = 0) -> str:
    """A term as Lean writes it.

    Raises:
        NotExportedError: for what is not exported to Lean.
    """
    strength = 100
    if isinstance(t, Num):
        text, strength = (str(t.value), 100 if t.value.denominator == 1 and t.value >= 0 else 70)
    elif isinstance(t, App | Vec) and not t.args:
        text = t.head
    elif isinstance(t, Op) and t.op == "neg":
        text, strength = f"-{lean_text(t.args[0], 76)}", _STRENGTH["neg"]
    elif isinstance(t, Op):
        strength = _STRENGTH[t.op]
        text = f"{lean_text(t.args[0], strength)} {t.op} {lean_text(t.args[1], strength + 1)}"
    elif isinstance(t, Inv):
        text, strength = f"{lean_text(t.of, 100)}⁻¹", 99
    elif isinstance(t, Pow) and isinstance(t.exponent, Nat) and not t.exponent.terms:
        text, strength = f"{lean_text(t.base, 100)} ^ {t.exponent.constant}", 80
    elif isinstance(t, Ip):
        text, strength = f"ip {lean_text(t.left, 100)} {lean_text(t.right, 100)}", 90
    elif isinstance(t, VOp) and t.op == "sub":
        text, strength = f"add {lean_text(t.args[0], 100)} (scal (-1) {lean_text(t.args[1], 100)})", 90
    elif isinstance(t, VOp) and t.op in ("add", "scal"):
        text, strength = f"{t.op} {' '.join(lean_text(a, 100) for a in t.args)}", 90
    else:
        raise NotExportedError(f"{t} is not exported to Lean yet")
    return f"({text})" if strength < outer else text
