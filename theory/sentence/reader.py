"""The reader of sentences: text becomes trees, and nothing of it is executed."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from theory.formula import SCALAR_FUNCTIONS, Apply, Formula, Name, Number, Reader, Takes, short
from theory.sentence.trees import (
    ALL_CLIENTS,
    COORDINATE,
    FUNCTION_NAMES,
    GIVEN_THE_PAST,
    NUMBERS_OF_VECTORS,
    OVER,
    At,
    Expression,
    Relation,
    Sentence,
    SentenceError,
)

CHANCE = "that e <= B with probability at least 1 - p is written quantile(e, 1 - p) <= B"
WHOLE = "of an integer K, K >= e says what K >= ceil(e) does, and K <= e what K <= floor(e) does"
ELSEWHERE: Mapping[str, str] = {
    "inner": "the inner product is dot(u, v)",
    "nabla": "a gradient is written grad(f, v)",
    "Var": "the variance of v is E(norm2(v - E(v)))",
    "ln": "the natural logarithm is log",
    **dict.fromkeys(("P", "Pr", "Prob"), CHANCE),
    **dict.fromkeys(("ceil", "floor"), WHOLE),
}
"""Functions of other notations, and what is written here."""


class _Sentences(Reader):
    error = SentenceError
    called = ""
    needed = "one side"
    first = "A-Za-z"
    open, close = "([", ")]"
    functions: Mapping[str, Takes] = {
        **dict.fromkeys((*OVER, *FUNCTION_NAMES, "E", COORDINATE), (1, 1)),
        **{name: (count, count) for name, count in NUMBERS_OF_VECTORS.items()},
        **ALL_CLIENTS,
        **SCALAR_FUNCTIONS,
        "grad": (2, 2),
        "quantile": (2, 2),
    }
    known = ""
    largest = None
    signs: Mapping[str, str] = {
        **Reader.signs,
        "|": " (norm(v) is the length of a vector, norm2(v) its square, abs(a) an absolute value)",
        "^": " (powers are written **, the minimiser xstar)",
    }
    between: Mapping[str, str] = {
        "and": "; each relation is a sentence of its own, in assuming an entry of the tuple",
        "in": "; an interval is written with relations, each an entry of assuming, such as eta <= 1/L; names are "
        "positive unless parameters= says otherwise",
        "if": "; a condition is an entry of assuming",
        "forall": "; a sentence is for all values of the indices that are free in it, and an assumption for all points "
        "is written for every x: ...",
        "for": "; an assumption for all points is written for every x: ...",
        "grad": "; a gradient is written grad(f, v)",
    }

    def unknown(self, name: str) -> str:
        """What to write instead of a function that is not known."""
        words = [word for word in self.functions if word != COORDINATE]
        if name in ELSEWHERE:
            return f"; {ELSEWHERE[name]}"
        if name.startswith("E_"):
            return f"; {GIVEN_THE_PAST}"
        if name.startswith("norm"):
            return "; norm(v) is the Euclidean norm, norm2(v) its square, and there is no other"
        if name.startswith("f_"):
            return "; f_n is the function of client n, f_ni that of its sample i"
        close = difflib.get_close_matches(name, words, 1, 0.65) or difflib.get_close_matches(
            name.lower(), words, 1, 0.9
        )
        if close:
            return f"; did you mean {close[0]}?"
        told = sorted(word for word in words if word not in OVER or word == "first_n")
        over = "mean_n, sum_n, max_n, min_n, also with _i, _k, _h, _j"
        return f"; there are {', '.join(told)}, and {over}; states and taps are written x[k]"

    def unread(self, text: str) -> str:
        """What to write instead of a text that is no expression, where that is seen."""
        if re.search(r"<[^<>=,]+,[^<>=]+>", text):
            return "; the inner product is dot(u, v)"
        if re.search(r"(?<!\w)[xf]\*\s*(?:[])+,<>=-]|$)", text):
            return "; the minimiser is xstar, the least value fstar"
        return ""

    def tree(self, text: str, node: ast.expr, depth: int = 0) -> Formula:
        """The tree; ``norm(v)**2`` is ``norm2(v)``, which has no root."""
        found = super().tree(text, node, depth)
        match found:
            case Apply("**", (Apply("norm", v), Number(value=2))):
                return Apply("norm2", v)
        return found

    def other(self, text: str, node: ast.expr, depth: int) -> Formula | None:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return cast("Formula", At(node.value.id, tuple(self.tree(text, entry, depth + 1) for entry in entries)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "grad":
            of = node.args[0] if len(node.args) == 2 and not node.keywords else None
            if isinstance(of, ast.Name) and of.id in FUNCTION_NAMES:
                return Apply(f"grad {of.id}", (self.tree(text, node.args[1], depth + 1),))
            piece = text.strip()[node.col_offset : node.end_col_offset]
            raise self.refusal(text, f": {piece}: a gradient is written grad(f_n, v), of f, f_n or f_ni at a point")
        return None

    def argument(self, text: str, node: ast.expr) -> Expression:
        """An argument of an assumption, which may be a function."""
        bare = isinstance(node, ast.Name) and node.id not in (*SCALAR_FUNCTIONS, *NUMBERS_OF_VECTORS)
        return Name(node.id) if bare else self.tree(text, node)  # type: ignore[attr-defined]


_READER = _Sentences()


@lru_cache(4096)
def parse_sentence(text: str) -> Sentence:
    """The tree of ``left relation right``.

    Raises:
        SentenceError: for text that is no such thing, naming the text and the piece.
    """
    sides, relations = _READER.relation(text)
    if len(relations) > 1:
        raise SentenceError(f"{short(text)} has {len(relations)} relations: write a sentence for each")
    if not relations:
        several = isinstance(sides[0], ast.Tuple)
        hint = "; each part of a list is a sentence of its own, in assuming an entry of the tuple" if several else ""
        raise SentenceError(f"{short(text)} is no sentence: it has no relation (< <= > >= ==){hint}")
    left, right = (_READER.tree(text, side) for side in sides)
    return Sentence(left, cast("Relation", relations[0]), right)


@lru_cache(4096)
def parse_expression(text: str) -> Expression:
    """The tree of one side, or of a definition.

    Raises:
        SentenceError: as `parse_sentence`.
    """
    return _READER.tree(text, _READER.python(text))


def parse_call(text: str) -> tuple[str, tuple[Expression, ...]] | None:
    """Name and arguments where the text is one call such as ``smooth(f_n, L)``; None where it is not.

    Raises:
        SentenceError: as `parse_sentence`.
    """
    tree = _READER.python(text)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.keywords:
        return None
    return tree.func.id, tuple(_READER.argument(text, a) for a in tree.args)
