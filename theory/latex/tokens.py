"""LaTeX as tokens: every one with its place in the text, and none lost but for comments and blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

LONGEST_DISPLAY = 20_000
_TOKEN = re.compile(r"\\[A-Za-z@]+|\\.|\S", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")


class LatexError(ValueError):
    """LaTeX that cannot be read: the place in the text, what was expected, and the line with a caret below it.

    Attributes:
        why: without the place.
        at: offset in the text.
        place: its line and column.
        picture: the line, and a caret below the place.
    """

    def __init__(self, why: str, text: str, at: int) -> None:
        self.why, self.at = why, max(0, min(at, len(text)))
        line = text.count("\n", 0, self.at) + 1
        begin = text.rfind("\n", 0, self.at) + 1
        end = text.find("\n", self.at)
        whole = text[begin : len(text) if end < 0 else end]
        first = max(0, self.at - begin - 60)
        shown = whole[first : first + 100].replace("\t", " ")
        self.place = f"line {line}, column {self.at - begin + 1}"
        self.picture = f"  {shown}\n  {' ' * (self.at - begin - first)}^"
        super().__init__(f"{self.place}: {why}\n{self.picture}")


@dataclass(frozen=True, slots=True)
class Token:
    """A command (``\\frac``), a command of one sign (``\\,``), or a sign.

    Attributes:
        text: as it stands.
        at: offset in the text; of what a macro stands for, that of the macro.
        side: of a delimiter, whether the text says that it opens or closes (``\\left``); else empty.
    """

    text: str
    at: int
    side: str = ""


def uncommented(text: str) -> str:
    """The text with blanks in place of comments, so that offsets stay."""
    return _COMMENT.sub(lambda m: m[1] + " " * (len(m[0]) - len(m[1])), text)


def tokenise(text: str, first: int = 0, last: int | None = None) -> list[Token]:
    """The tokens of a part of a text, comments left out."""
    clean = uncommented(text)
    return [Token(m[0], m.start()) for m in _TOKEN.finditer(clean, first, len(clean) if last is None else last)]


_BLANKS = (
    r"\, \; \: \! \> \quad \qquad ~ & \displaystyle \textstyle \scriptstyle \small \footnotesize \scriptsize \tiny "
    r"\normalsize \nonumber \notag \limits \nolimits \allowbreak \linebreak \noindent \hfill \hfil \centering \strut "
    r"\thinspace \medspace \negthinspace \enspace \ignorespaces \mathstrut"
)
BLANK = frozenset(_BLANKS.split()) | {"\\ ", "\\\n", "\\\t"}
"""What is set as a blank, or as nothing."""
_WITH_ARGUMENT = frozenset({r"\label", r"\tag", r"\vspace", r"\hspace"})
_BRACED = {r"\underbrace": "_", r"\overbrace": "^"}
"""With the sign before its note."""
_ALIGNED = frozenset({"aligned", "split", "gathered", "multlined"})
_SIZED = {
    **dict.fromkeys((r"\left", r"\mleft", r"\bigl", r"\Bigl", r"\biggl", r"\Biggl"), "open"),
    **dict.fromkeys((r"\right", r"\mright", r"\bigr", r"\Bigr", r"\biggr", r"\Biggr"), "close"),
    **dict.fromkeys((r"\big", r"\Big", r"\bigg", r"\Bigg"), ""),
}
_DELIMITERS = {
    "(": ("(", ""), ")": (")", ""), "[": ("[", ""), "]": ("]", ""), r"\{": (r"\{", ""), r"\}": (r"\}", ""),
    "|": ("|", ""), r"\vert": ("|", ""), r"\lvert": ("|", "open"), r"\rvert": ("|", "close"),
    r"\|": (r"\|", ""), r"\Vert": (r"\|", ""), r"\lVert": (r"\|", "open"), r"\rVert": (r"\|", "close"),
    r"\langle": (r"\langle", ""), r"\rangle": (r"\rangle", ""), r"\lbrace": (r"\{", ""), r"\rbrace": (r"\}", ""),
    r"\lbrack": ("[", ""), r"\rbrack": ("]", ""),
}  # fmt: skip
LENGTH = r"\[\s*-?[0-9.]+\s*(?:pt|em|ex|mm|cm|in|\\baselineskip)\s*\]"
"""After the end of a line."""
_LENGTH = re.compile(LENGTH)


def without_layout(tokens: Sequence[Token], text: str) -> list[Token]:
    """The tokens that mean something: blanks, labels and sizes of delimiters are taken out, each by its name.

    Raises:
        LatexError: for a size with no delimiter after it, and environments that are no aligned lines.
    """
    found: list[Token] = []
    at = 0

    def braced(start: int) -> int:
        """Where what begins with a brace ends."""
        if start >= len(tokens) or tokens[start].text != "{":
            place = tokens[min(start, len(tokens) - 1)].at
            raise LatexError("a brace is expected", text, place)
        deep = 0
        for place in range(start, len(tokens)):
            deep += {"{": 1, "}": -1}.get(tokens[place].text, 0)
            if deep == 0:
                return place + 1
        raise LatexError("this brace is not closed", text, tokens[start].at)

    notes: dict[int, int] = {}
    while at < len(tokens):
        token = tokens[at]
        here = token.text
        if at in notes:
            at = notes.pop(at)
        elif here in BLANK:
            at += 1
        elif here in _BRACED:  # \underbrace{X}_{Q}: what is braced is read, and the note says what it is called
            end = braced(at + 1)
            if end < len(tokens) and tokens[end].text == _BRACED[here]:
                sign = tokens[end + 1].text if end + 1 < len(tokens) else ""
                notes[end] = braced(end + 1) if sign == "{" else end + 2
            at += 1
        elif here == "\\\\":
            at += 1
            length = _LENGTH.match(text, token.at + 2) if at < len(tokens) and tokens[at].text == "[" else None
            while length and at < len(tokens) and tokens[at].at < length.end():
                at += 1
        elif here in _WITH_ARGUMENT:
            at = braced(at + 1 + (at + 1 < len(tokens) and tokens[at + 1].text == "*"))
        elif here in (r"\begin", r"\end"):
            end = braced(at + 1)
            name = "".join(t.text for t in tokens[at + 2 : end - 1])
            if name not in _ALIGNED:
                raise LatexError(f"the environment {name} cannot be read inside of a display", text, token.at)
            at = end
        elif here in _SIZED:
            after = at + 1
            inner = after < len(tokens) and tokens[after].text == "{"
            after += inner
            known = _DELIMITERS.get(tokens[after].text) if after < len(tokens) else None
            if known is None or (inner and (after + 1 >= len(tokens) or tokens[after + 1].text != "}")):
                raise LatexError(f"after {here} a delimiter is expected", text, token.at)
            found.append(Token(known[0], tokens[after].at, known[1] or _SIZED[here]))
            at = after + 1 + inner
        else:
            name, side = _DELIMITERS.get(here, (here, ""))
            doubled = here == "|" and at + 1 < len(tokens) and tokens[at + 1] == Token("|", token.at + 1)
            found.append(replace(token, text=r"\|" if doubled else name, side=side))
            at += 1 + doubled
    return found
