"""Random changes of derivations: a multiplier, a sign, a relation, an index, a name, a part, a hypothesis."""

import copy
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]
LISTS = ("lines", "base", "step", "first", "second")
CLAIM = ("statement", "relations", "assumptions", "definitions", "program", "vectors", "domains")


def all_lines(data: Data) -> Iterator[tuple[list[Data], int]]:
    """Every line, in the list in which it stands."""
    left = [data[key] for key in LISTS if key in data]
    while left:
        items = left.pop()
        for place, item in enumerate(items):
            yield items, place
            left += [item[key] for key in LISTS if isinstance(item.get(key), list)]
            if isinstance(item.get("derivation"), dict):
                left.append(item["derivation"]["lines"])


def changed_text(text: str, source: random.Random) -> str:
    """A formula with one thing changed."""
    how = source.randrange(8)
    if how == 0:
        return _one(
            text, r"<=|>=|==", lambda m: source.choice([r for r in ("<=", ">=", "==", "<", ">") if r != m]), source
        )
    if how == 1:
        return _one(text, r"(?<![A-Za-z_\[*])\d+", lambda m: str(int(m) + source.choice((-1, 1, 2))), source)
    if how == 2:
        return _one(text, r" [+-] ", lambda m: " - " if m == " + " else " + ", source)
    if how == 3:
        return _one(text, r"\*\*\d", lambda m: f"**{int(m[2:]) + 1}", source)
    if how == 4:
        return _one(text, r"\[k\]|\[k\+1\]", lambda m: "[k+1]" if m == "[k]" else "[k]", source)
    if how == 5:
        names = sorted(set(re.findall(r"(?<![A-Za-z_])[A-Za-z][A-Za-z0-9_]*", text)))
        if len(names) < 2:
            return text
        one, two = source.sample(names, 2)
        return _one(text, rf"(?<![A-Za-z_]){one}(?![A-Za-z0-9_])", lambda m: two, source)
    if how == 6:
        return _one(
            text, r"f_ni|f_n|\bf\b", lambda m: source.choice([f for f in ("f", "f_n", "f_ni") if f != m]), source
        )
    return _one(text, r"\*|/", lambda m: "/" if m == "*" else "*", source)


def _one(text: str, pattern: str, new: Callable[[str], str], source: random.Random) -> str:
    """One match of a pattern, at random, replaced."""
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    m = source.choice(places)
    return text[: m.start()] + new(m.group()) + text[m.end() :]


def _texts(item: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The formulas and names in a line, and where they are."""
    if isinstance(item, str):
        yield path, item
    elif isinstance(item, dict):
        for key, value in item.items():
            if key not in (*LISTS, "name", "by", "derivation"):
                yield from _texts(value, (*path, key))
    elif isinstance(item, list):
        for place, value in enumerate(item):
            yield from _texts(value, (*path, place))


def _put(item: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        item = item[key]
    item[path[-1]] = value


def change_text(data: Data, source: random.Random) -> None:
    """A formula or a name in a line."""
    items, place = source.choice(list(all_lines(data)))
    texts = list(_texts(items[place]))
    if texts:
        path, text = source.choice(texts)
        _put(items[place], path, changed_text(text, source))


def change_multiplier(data: Data, source: random.Random) -> None:
    """A multiplier: scaled, turned, or left out."""
    parts = [p for items, place in all_lines(data) for key in ("parts", "squares") for p in items[place].get(key, [])]
    if parts:
        part = source.choice(parts)
        times = part.get("times", "1")
        new = [f"2*({times})", f"-({times})", f"({times})/3", f"({times}) + 1"]
        part["times"] = source.choice(new if times == "1" else [*new, "1", f"1/({times})"])


def change_parts(data: Data, source: random.Random) -> None:
    """A part or a square: away, twice, over something else."""
    places = [
        (items[place], key) for items, place in all_lines(data) for key in ("parts", "squares") if items[place].get(key)
    ]
    if not places:
        return
    item, key = source.choice(places)
    which = source.randrange(len(item[key]))
    how = source.randrange(4)
    if how == 0:
        del item[key][which]
    elif how == 1:
        item[key].append(copy.deepcopy(item[key][which]))
    elif how == 2 and item[key][which].get("over"):
        del item[key][which]["over"][source.randrange(len(item[key][which]["over"]))]
    else:
        item[key][which].setdefault("over", []).append(source.choice(("E", "mean_n", "mean_i")))


def change_lines(data: Data, source: random.Random) -> None:
    """A line: away, at another place, another rule, another reference."""
    every = list(all_lines(data))
    items, place = source.choice(every)
    how = source.randrange(5)
    if how == 0:
        del items[place]
    elif how == 1:
        other = source.randrange(len(items))
        items[place], items[other] = items[other], items[place]
    elif how == 2:
        items[place]["by"] = source.choice(("step", "domain", "hypothesis", "at", "combination", "mean"))
    elif how == 3:
        named = [p for its, at in every for p in [its[at], *its[at].get("parts", [])] if isinstance(p.get("line"), str)]
        if named:
            its, at = source.choice(every)
            source.choice(named)["line"] = its[at].get("name", "")
    else:
        items[place]["name"] = source.choice(every)[0][0].get("name", "x")


def change_schema(data: Data, source: random.Random) -> None:
    """An assumption's schema, points, or what it is of."""
    found = [items[place] for items, place in all_lines(data) if items[place]["by"] == "assumption"]
    if not found:
        return
    item = source.choice(found)
    how = source.randrange(3)
    if how == 0:
        item["schema"] = source.choice(
            ("smooth", "convex", "smooth convex", "above", "below", "zero", "infimum", "minimiser")
        )
    elif how == 1 and item.get("of"):
        del item["of"][source.randrange(len(item["of"]))]
    elif len(item.get("at", {})) == 2:
        one, two = item["at"]
        item["at"][one], item["at"][two] = item["at"][two], item["at"][one]


def change_claim(data: Data, source: random.Random) -> None:
    """The claim's part: its statement, a hypothesis, a definition, the algorithm."""
    how = source.randrange(6)
    if how == 0:
        data["statement"] = changed_text(data["statement"], source)
    elif how == 1 and data["relations"]:
        place = source.randrange(len(data["relations"]))
        data["relations"][place] = changed_text(data["relations"][place], source)
    elif how == 2 and data["relations"]:
        del data["relations"][source.randrange(len(data["relations"]))]
    elif how == 3 and data["assumptions"]:
        del data["assumptions"][source.randrange(len(data["assumptions"]))]
    elif how == 4 and data["definitions"]:
        name = source.choice(sorted(data["definitions"]))
        data["definitions"][name] = changed_text(data["definitions"][name], source)
    elif data["program"] is not None:
        steps = [s for s in _steps(data["program"]["round"]) if s["numbers"] or s["of"]]
        chosen = source.choice(steps)
        if chosen["numbers"] and source.random() < 0.7:
            which = source.randrange(len(chosen["numbers"]))
            chosen["numbers"][which] = source.choice(
                (f"2*({chosen['numbers'][which]})", f"-({chosen['numbers'][which]})")
            )
        elif chosen["of"]:
            which = source.randrange(len(chosen["of"]))
            chosen["of"][which] = source.choice([v for s in steps for v in [*s["of"], s["to"]] if v])


def _steps(steps: list[Data]) -> Iterator[Data]:
    for s in steps:
        if "body" in s:
            yield from _steps(s["body"])
        else:
            yield s


SWAPS = (
    ("eta", "mu"), ("mu", "L"), ("L", "mu"), ("N", "1"), ("0", "1"), ("xstar", "x0"), ("x0", "xstar"),
    ("mean_n", "sum_n"), ("mean_i", "mean_n"), ("E(", "("), ("x", "y"), ("y", "x"), ("p", "p**2"),
    ("q", "1"), ("S", "N"), ("h", "0"),
    ("K", "k"), ("norm2", "norm"), ("IH", "IH 1"), ("smooth", "convex"), ("convex", "strongly_convex"), ("**2", ""),
    ("first", "last"), ("k+1", "k"), ("[k]", "[k+1]"), ("<=", "<"), ("==", "<="), ("<=", "=="),
)  # fmt: skip


def swap(data: Data, source: random.Random) -> None:
    """A piece of any text of a line, its rule and its name among them."""
    items, place = source.choice(list(all_lines(data)))
    texts = [(("name",), items[place].get("name", "")), (("by",), items[place]["by"]), *_texts(items[place])]
    path, text = source.choice(texts)
    fitting = [(old, new) for old, new in SWAPS if old in text]
    if fitting:
        old, new = source.choice(fitting)
        at = source.choice([m.start() for m in re.finditer(re.escape(old), text)])
        _put(items[place], path, text[:at] + new + text[at + len(old) :])


CHANGES = (
    swap,
    swap,
    change_text,
    change_text,
    change_multiplier,
    change_multiplier,
    change_parts,
    change_lines,
    change_schema,
    change_claim,
)


def corrupted(data: Data, seed: int) -> Data:
    """A derivation with one random change; the same again if the change changes nothing."""
    source = random.Random(seed)
    for _ in range(500):
        found = copy.deepcopy(data)
        source.choice(CHANGES)(found, source)
        if found != data:
            return found
    raise AssertionError("nothing was changed")


def claim_part(data: Data) -> Data:
    """What a derivation says of its claim."""
    return {key: data.get(key) for key in CLAIM}
