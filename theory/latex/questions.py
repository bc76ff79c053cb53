"""What LaTeX leaves open, as questions in a file: which of several readings is meant."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HEAD = """\
# What the LaTeX leaves open. After `answer =` write one of the readings (the word before the colon), and read again.
# Beside those that are listed, a symbol may be `as NAME`, a name of the program or of the language, or
# `means FORMULA`, which is put in its place. An answer holds wherever in this paper the same thing is asked.
"""


@dataclass(frozen=True)
class Question:
    """Something with more than one reading.

    Attributes:
        about: the piece of LaTeX; in a file it is the key.
        asks: in words.
        readings: what may be answered, with what it means.
        at: offset of the piece in the text.
    """

    about: str
    asks: str
    readings: tuple[tuple[str, str], ...]
    at: int


def file_of(questions: Iterable[Question], answers: Mapping[str, str]) -> str:
    """A file of questions, with the answers that there are; those that are no longer asked stay at its end."""
    pieces, told = [HEAD], set()
    for question in questions:
        if question.about in told:
            continue
        told.add(question.about)
        lines = [f"# {question.asks}", *(f"#   {key}: {words}" for key, words in question.readings)]
        pieces.append(
            "\n".join(
                [f"\n[{_quoted(question.about)}]", *lines, f"answer = {_quoted(answers.get(question.about, ''))}\n"]
            )
        )
    for about, answer in answers.items():
        if about not in told and answer:
            pieces.append(f"\n[{_quoted(about)}]\nanswer = {_quoted(answer)}\n")
    return "".join(pieces)


def answers_in(text: str) -> dict[str, str]:
    """The answers of a file of questions, by what they are about; those that are left empty are left out.

    Raises:
        ValueError: for what is no such file, naming the key.
    """
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"a file of questions cannot be read: {error}") from None
    found = {}
    for about, table in read.items():
        answer = table.get("answer", "") if isinstance(table, dict) and set(table) <= {"answer"} else None
        if not isinstance(answer, str):
            raise ValueError(f"a file of questions: [{about!r}] has no text after answer =, or has more than that")
        if answer.strip():
            found[about] = " ".join(answer.split())
    return found


def _quoted(text: str) -> str:
    """As TOML writes it: as it stands where it can, so that backslashes are single."""
    if "'" not in text and "\n" not in text:
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
