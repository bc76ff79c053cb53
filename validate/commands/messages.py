"""What a user is told who has mistyped something: one line that names it, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.claim import Claim

EXAMPLE = "Example: "
# What is wrong with a number, by the kind of pydantic's errors, whose own words do not show the number.
WRONG = {
    "int_parsing": "is not a whole number",
    "int_from_float": "is not a whole number",
    "float_parsing": "is not a number",
    "greater_than_equal": "is below {ge}",
    "less_than_equal": "is above {le}",
}
NAMELESS = dict.fromkeys((errno.ENOSPC, errno.EFBIG, errno.EDQUOT), "what was to be kept cannot be written: ")
NAMELESS[errno.ENOENT] = "the working folder is gone: "
"""What an error of the system's is about that names no file, by its number."""


def one_line(text: str) -> str:
    """A text in one line that a terminal may show: what is not printable, escape sequences above all, as its code."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in " ".join(text.split()))


def misuse(error: Exception, command: str) -> str | None:
    """What there is to say about a misused command in one line, or None when `error` is not of that kind.

    Args:
        error: whatever was raised.
        command: which was called, for errors that do not know it.
    """
    describe = getattr(error, "format_message", None)
    if describe is None:
        return None
    message = one_line(_unread(error) or str(describe()).replace(" Value error, ", " ")).rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None:
        return f"{message} (see `{command} --help`)"
    more = f"see `{context.command_path} --help`"
    example = _example(context.command.help)
    if example and message.startswith("Missing"):
        more += f", or try: {example}"
    return f"{message} ({more})"


def _unread(error: Exception) -> str | None:
    """What is wrong with the number that an option was given."""
    errors: Any = getattr(error.__cause__, "errors", None)
    param = getattr(error, "param", None)
    if errors is None or param is None:
        return None
    first: dict[str, Any] = errors()[0]
    if first["type"] not in WRONG:
        return None
    limits: dict[str, Any] = first.get("ctx") or {}
    return f"{param.opts[0]}={str(first['input'])[:80]} {WRONG[first['type']].format(**limits)}"


def _example(help: str | None) -> str | None:
    """The example in a command's help."""
    _, there, example = (help or "").partition(EXAMPLE)
    return " ".join(example.split("\n\n")[0].split()) if there else None


def bad_input(error: ValueError | OSError) -> str:
    """A bad input in one line."""
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return one_line(f"{NAMELESS.get(error.errno or 0, '')}{error.strerror}")
        name = str(error.filename)
        return one_line(f"{name}: {error.strerror}{_beside(name) if isinstance(error, FileNotFoundError) else ''}")
    return one_line(str(error)) or type(error).__name__


def _beside(name: str) -> str:
    """For a file that is not there, the files of its folder whose names come close, or the folder that is not there."""
    path = Path(name)
    if path.suffix == ".py":
        return f"; `fedproof new {path}` writes one to begin with"
    try:
        near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=2, cutoff=0.75)
    except OSError:
        return f"; there is no folder {path.parent}"
    return did_you_mean([str(path.parent / other) for other in near])


def did_you_mean(close: Sequence[str]) -> str:
    """``"; did you mean 'mu'?"``, or nothing."""
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def lacking(claim: Claim, what: str, has: Callable[[Claim], bool]) -> ValueError:
    """The error for a claim that a command can do nothing with, naming the nearest of its paper's that it can.

    Args:
        claim: the claim.
        what: it has not, as in "no proof to replay".
        has: whether another claim has it.
    """
    from theory import catalog
    from validate.files import target_of

    others = [other.id for other in catalog.claims(claim.paper) if has(other)]
    family = [id for id in others if id.startswith(claim.id) or claim.id.startswith(id)]
    near = list(dict.fromkeys([*family, *get_close_matches(claim.id, others, n=3, cutoff=0)]))[:3]
    advice = f"; others of its paper have, such as {', '.join(map(target_of, near))}" if near else ""
    return ValueError(f"ID={claim.id} has {what}{advice}")


def doubtful(claim: Claim) -> list[str]:
    """Parameters of a claim that one relation has and nothing else, not even a domain, and nearly have another's name.

    A name that is nothing else is a parameter, so no slip of the pen is an error; but a relation with one says nothing
    of what is claimed, and the claim may well be refuted for want of it.
    """
    from theory.sentence import everything, index_of

    if not claim.has_sentence:
        return []

    def names(*sides: Any) -> set[str]:
        return {index_of(part.name)[0] for side in sides for part in everything(side) if hasattr(part, "name")}

    relations = {str(one): names(*one.sides) for one in claim.relations}
    elsewhere = names(*claim.sentence.sides, *claim.definitions.values()) | set(claim.constants)
    elsewhere |= set(claim.of.parameters if claim.of is not None else ())
    elsewhere |= {index_of(name)[0] for name in claim.parameters}
    elsewhere |= {name for one in claim.predicates for name in names(*one.constants)}
    parameters = {index_of(symbol)[0] for symbol in claim.symbols}
    found = []
    for text, used in relations.items():
        others = set().union(*(more for other, more in relations.items() if other != text))
        for name in sorted(used & parameters - elsewhere - others - {"K"}):
            close = get_close_matches(name, sorted(parameters - {name}), n=1, cutoff=0.6)
            if close:
                stands = f"{name} stands in {text} and nowhere else, so it is a parameter of its own"
                found.append(f"{claim.id}: {stands}; did you mean {close[0]}?")
    return found
