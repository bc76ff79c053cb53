"""One spacing for what is written in many."""

import re

from theory.sentence.trees import RELATIONS

_TOKEN = re.compile(r"\s*(\*\*|[<>=!]=|[^\w\s.]|[\w.]+)")


def respaced(text: str) -> str:
    """A sentence with spaces around relations and, but in indices, around the signs of a sum, and after commas.

    Example:
        >>> respaced("f(x[k + 1])-fstar<=(1-eta*mu) ** k * -2")
        'f(x[k+1]) - fstar <= (1 - eta*mu)**k*-2'
    """
    written, brackets, before = "", 0, ""
    for token in _TOKEN.findall(text):
        brackets += (token == "[") - (token == "]")
        binary = token in ("+", "-") and bool(re.fullmatch(r"[\w.]+|[)\]]", before))
        word = before[-1:].isalnum() and token[0].isalnum()
        if token in RELATIONS or (binary and not brackets):
            written += f" {token} "
        else:
            written += f"{token} " if token == "," else f" {token}" if word else token
        before = token
    return written.strip()
