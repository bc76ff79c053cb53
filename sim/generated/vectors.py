"""Lines of a stretch for more vectors of runs than one, and for lanes of different clients."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LANEWISE = re.compile(r"\b(?:[vwtdp]_\w+|s\d+_\d+|at)\b")


def twice(body: Sequence[str]) -> list[str]:
    """The lines for two vectors of runs in turn, loops around both."""
    lines = []
    for line in body:
        if line.startswith("{") or line == "}" or line.endswith("{") or "{ (void)" in line:
            lines.append(line)
        else:
            lines += [_LANEWISE.sub(rf"\g<0>_{which}", line) for which in "ab"]
    return lines


def one_client(line: str) -> bool:
    """Whether a line is written for one client in all lanes: it looks up a number, or an entry of a table."""
    return any(part in line for part in ("[n]", "+ n]", "* samples + b", "load_each", "store_each", "prox("))
