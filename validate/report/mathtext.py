"""The parser of matplotlib's mathtext, with a reader of its own in front, some fifteen times as fast.

Nearly all of the time that mathtext takes goes into its grammar, which tries twenty alternatives for each letter. What
formulas mostly consist of is read here in one pass, and laid out by the same methods; all else, and whatever goes
wrong, is left to the grammar. The boxes are the same, which the tests see for every formula of the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from matplotlib._mathtext import Hlist, Parser, ParserState
from matplotlib._mathtext_data import tex2uni
from pyparsing import ParseResults

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\\\s]")
FONT = re.compile(r"math(bb|rm|cal|frak|bf|it|sf|tt)\Z")


class Unread(Exception):
    """Something that only the grammar reads."""


class Quick(Parser):
    """Reads in one pass what it can, and all else as mathtext does."""

    def parse(self, s: str, fonts_object: Any, fontsize: float, dpi: float) -> Any:
        """The boxes of a formula between dollars."""
        try:
            return self._read(s, ParserState(fonts_object, "default", "rm", fontsize, dpi))
        except (Unread, LookupError, AttributeError, TypeError, ValueError):
            self._needs_space_after_subsuper = False
            return super().parse(s, fonts_object, fontsize, dpi)

    def _read(self, s: str, state: Any) -> Any:
        if not re.fullmatch(r"\$[^$'~]*\$", s):
            raise Unread
        self._state_stack = [state]
        self._em_width_cache: dict[Any, float] = {}
        self._text = s[1:-1]
        self._tokens = [*((m.start(), m.group()) for m in TOKEN.finditer(self._text)), (len(self._text), "")]
        self._at = 0
        before = self.non_math([""])
        inner = Hlist(self._several(("",)))
        self.pop_state()
        after = self.non_math([""])
        self._needs_space_after_subsuper = False
        return Hlist([*before, inner, *after])

    def _next(self) -> tuple[int, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        if self._next()[1] != token:
            raise Unread

    def _several(self, ends: Sequence[str]) -> list[Any]:
        """All up to an end, which is taken."""
        found: list[Any] = []
        while self._tokens[self._at][1] not in ends:
            if not self._tokens[self._at][1]:
                raise Unread
            found.append(self._with_scripts())
        self._at += 1
        return found

    def _group(self) -> Any:
        self._expect("{")
        return self.required_group({"group": self._several("}")})

    def _with_scripts(self) -> Any:
        where, token = self._tokens[self._at]
        if token in self._space_widths:
            self._at += 1
            return self.space({"space": token})[0]
        found = {} if token in "_^" else {"nucleus": self._one()}
        scripts: list[Any] = []
        while self._tokens[self._at][1] in ("_", "^"):
            scripts += [self._next()[1], self._one()]
        set_ = self.subsuper(self._text, where, {**found, "subsuper": scripts})
        return set_[0] if isinstance(set_, list) else set_

    def _one(self) -> Any:
        """A letter, a command with its arguments, or a group."""
        where, token = self._next()
        name = token[1:]
        font = FONT.match(name)
        if token == "{" or (token[0] == "\\" and font):
            if font:
                self._expect("{")
            self.start_group({"font": font[1] if font else None})
            inner = self._several("}")
            self.end_group()
            return self.group({"group": inner})[0]
        if token in ("\\frac", "\\dfrac"):
            return getattr(self, name)({"num": self._group(), "den": self._group()})[0]
        if token == "\\sqrt":
            return self.sqrt({"value": self._group()})[0]
        if token == "\\left":
            left = self._next()[1]
            mid = ParseResults(self._several(("\\right",)))
            return self.auto_delim({"left": left, "mid": mid, "right": self._next()[1]})
        if token == "\\operatorname":
            self._expect("{")
            return self.operatorname(self._text, where, {"name": ParseResults(self._several("}"))})
        if token[0] == "\\" and name in self._function_names:
            return self.function(self._text, where, {"name": name})
        known = name in tex2uni if name.isalpha() else name in ("", *"%${}[]_|")
        if not known or token in ("}", "") or name in (*self._accent_map, *self._wide_accents):
            raise Unread
        return self.symbol(self._text, where, {"sym": token})[0]
