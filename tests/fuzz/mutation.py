"""Plain data, JSON text and bytes that are nearly right: something valid, changed in a few places."""

import copy
import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Path = tuple[Any, ...]

NUMBERS = (
    *("0", "1", "-1", "2", "1/2", "-1/2", "3/8", "0.5", "1e3", "1/0", "0/0", "-0", "+1", " 1", "1_000", "٣", "²"),
    *("9" * 100, "9" * 4001, "1/" + "7" * 300, "1e-400", "1e400", "1e99999999", "nan", "inf", "-inf", "0x10", "1j"),
    *(0, 1, -1, 2, 7, 24, 10**18, -(10**18), 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324, 1e400, True, False, None),
)
TEXTS = (
    *(
        "",
        " ",
        "K",
        "2**K",
        "sqrt(2)",
        "1/(K-K)",
        "9**9**9",
        "L" * 5000,
        "(" * 300,
        "-" * 3000 + "1",
        "\x00",
        "\x1b[2J",
    ),
    *("é", "\ud800", "__import__('os')", "lambda: 0", "a.b", "x[0]", "f'{x}'", "<=", "1 < 2 < 3", "min()", "max(1)"),
)
rubbish = st.recursive(
    st.sampled_from(NUMBERS)
    | st.sampled_from(TEXTS)
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def paths(value: Any, path: Path = ()) -> list[Path]:
    """Every place of plain data, the whole included."""
    found = [path]
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += paths(item, (*path, key))
    return found


def at(value: Any, path: Path) -> Any:
    """What stands at a place."""
    for key in path:
        value = value[key]
    return value


def _is_number(value: Any) -> bool:
    return (type(value) is int) or (
        isinstance(value, str) and re.fullmatch(r"-?[0-9]+(/[0-9]+|\.[0-9]+)?", value) is not None
    )


@st.composite
def near(draw: st.DrawFn, value: Any) -> Any:
    """A number or text close to this one."""
    text = value if isinstance(value, str) else str(value)
    try:
        number = Fraction(text) if len(text) < 300 and "e" not in text.lower() else None
    except (ValueError, ZeroDivisionError):
        number = None
    if number is not None:
        by = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10**6), Fraction(1, 7)]))
        moved: Fraction = draw(
            st.sampled_from([number + by, number - by, number * by, number * 2, -number, 1 - number])
        )
        return int(moved) if isinstance(value, int) and moved.denominator == 1 else str(moved)
    return draw(edited(text))


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """A text with one stretch taken out, put in or repeated."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 6)))
    piece = draw(
        st.sampled_from(["", text[start:end] * 2, "0", "9", "-", "/", "(", ")", "*", "<", "=", "K", ",", '"', "é"])
    )
    return text[:start] + piece + text[end:]


KINDS = ("near", "near", "near", "number", "text", "copy", "rubbish", "remove", "repeat")


@st.composite
def changed(draw: st.DrawFn, original: Any, most: int = 3) -> Any:
    """Plain data with one to `most` changes."""
    value = copy.deepcopy(original)
    kinds = draw(st.sampled_from([("near",), ("near",), KINDS, KINDS]))
    for _ in range(draw(st.integers(1, most))):
        places = paths(value)
        path = draw(st.sampled_from(places))
        if kinds == ("near",):  # numbers only, so that most of what is made can be read
            numeric = [path for path in places if _is_number(at(value, path))]
            path = draw(st.sampled_from(numeric or places))
        if not path:
            path = places[-1]
        if not path:  # a scalar already
            return draw(rubbish)
        place, key = at(value, path[:-1]), path[-1]
        kind = draw(st.sampled_from(kinds))
        if kind == "near" and isinstance(place[key], str | int) and not isinstance(place[key], bool):
            place[key] = draw(near(place[key]))
        elif kind == "number":
            place[key] = draw(st.sampled_from(NUMBERS))
        elif kind == "text":
            place[key] = draw(st.sampled_from(TEXTS))
        elif kind == "copy":
            place[key] = copy.deepcopy(at(value, draw(st.sampled_from(places))))
        elif kind == "rubbish":
            place[key] = draw(rubbish)
        elif kind == "remove":
            del place[key]
        elif isinstance(place, list):
            place.insert(key, copy.deepcopy(place[key]))
        else:
            place[draw(st.text(max_size=5))] = copy.deepcopy(place[key])
    return value


def json_text(value: Any) -> str:
    """JSON, with NaN and the infinities as Python writes them."""
    return json.dumps(value)


_PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"NaN",
        b"-Infinity",
        b"1e400",
        b"1E+2",
        b"-0.0",
        b"null",
        b"true",
        b"\\",
    ),
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\x00",
        b"9" * 5000,
        b"[" * 500 + b"]" * 500,
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b"\\ud800",
    ),
    *(b'"by": "moments",', b'"rounds": 1, "rounds": 2,', b"//", b"'", b"01"),
)


@st.composite
def damaged(draw: st.DrawFn, content: bytes, pieces: Sequence[bytes] = _PIECES) -> bytes:
    """Bytes with one to three stretches replaced, or cut short."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 0, 1, 1, 2, 8, 10**9])))
        piece = draw(st.sampled_from(pieces) | st.binary(max_size=4))
        content = content[:start] + piece + content[end:]
    return content


def mostly(first: st.SearchStrategy[Any], other: st.SearchStrategy[Any], times: int = 4) -> st.SearchStrategy[Any]:
    """`first` so many times as often as `other`."""
    return st.integers(0, times).flatmap(lambda i: other if i == 0 else first)


def documents(originals: Sequence[Any], write: Callable[[Any], str] = json_text) -> st.SearchStrategy[bytes]:
    """Files of plain data: valid ones changed in places, damaged ones, and rubbish."""

    def encoded(value: Any) -> bytes:
        return write(value).encode("utf-8", "surrogatepass")

    valid = st.sampled_from(originals)
    return mostly(
        valid.flatmap(changed).map(encoded),
        valid.map(encoded).flatmap(damaged) | rubbish.map(encoded) | st.binary(max_size=40) | valid.map(encoded),
    )
