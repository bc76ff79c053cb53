"""Random changes of derivations: a number, a sign, a relation, an index, a name, a part, an order."""

from __future__ import annotations

import random
import re
from copy import deepcopy
from typing import Any

SWAPS = (
    ("+", "-"), ("-", "+"), ("*", "+"), ("<=", ">="), (">=", "<="), ("==", "<="), ("<=", "=="), ("<=", "<"),
    ("2", "1"), ("2", "3"), ("1", "2"), ("0", "1"), ("eta", "mu"), ("mu", "L"), ("L", "mu"), ("N", "1"),
    ("k+1", "k"), ("[k]", "[k+1]"), ("f_ni", "f_n"), ("f_n", "f"), ("f", "f_n"), ("xstar", "x0"), ("x0", "xstar"),
    ("mean_n", "sum_n"), ("mean_i", "mean_n"), ("E(", "("), ("x", "y"), ("y", "x"), ("p", "p**2"), ("q", "1"),
    ("S", "N"), ("(1 - ", "(1 + "), ("h", "0"), ("K", "k"), ("norm2", "norm"), ("IH", "IH 1"), ("one", "other"),
    ("smooth", "convex"), ("convex", "strongly_convex"), ("**2", ""), ("/", "*"), ("first", "last"),
)  # fmt: skip


def leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all texts."""
    if isinstance(data, str):
        return [path]
    if isinstance(data, dict):
        return [p for key, value in data.items() for p in leaves(value, (*path, key))]
    if isinstance(data, list | tuple):
        return [p for j, value in enumerate(data) for p in leaves(value, (*path, j))]
    return []


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def corrupted(lines: list[dict[str, Any]], source: random.Random) -> list[dict[str, Any]]:
    """The same with one change; perhaps none."""
    found = deepcopy(lines)
    how = source.random()
    if how < 0.75:
        path = source.choice(leaves(found))
        text = at(found, path)
        fitting = [(old, new) for old, new in SWAPS if old in text]
        if not fitting:
            return found
        old, new = source.choice(fitting)
        places = [m.start() for m in re.finditer(re.escape(old), text)]
        place = source.choice(places)
        at(found, path[:-1])[path[-1]] = text[:place] + new + text[place + len(old) :]
    elif how < 0.85:
        several = [p[:-1] for p in leaves(found) if isinstance(p[-1], int)] + [
            p[: j + 1]
            for p in leaves(found)
            for j, key in enumerate(p[:-1])
            if key in ("parts", "squares", "base", "step")
        ]
        if several:
            some = at(found, source.choice(several))
            if isinstance(some, list) and some:
                some.pop(source.randrange(len(some)))
    elif how < 0.95 and len(found) > 1:
        j = source.randrange(len(found) - 1)
        if source.random() < 0.5:
            found.pop(j)
        else:
            found[j], found[j + 1] = found[j + 1], found[j]
    else:
        path = source.choice(leaves(found))
        inner = at(found, path[:-1])
        if isinstance(inner, dict):
            inner.pop(path[-1])
    return found
