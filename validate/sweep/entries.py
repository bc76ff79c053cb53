"""How one entry of a specification is read: its canonical value, or all the values of an axis.

Canonical values are plain JSON: integers, text, lists of these; a number that need not be an integer is the text of a
fraction in lowest terms ("1/10"), so that 0.1, "0.10" and "1/10" are the same value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NoReturn

from theory.domain import Domain

MOST_CELLS = 1_000_000
MOST_CHARACTERS = 100  # of a number
LARGEST = 2**62  # of an integer
RANGE = (Fraction(1, 10**30), Fraction(10**30))
"""Bounds of the size of numbers other than 0: beyond these, products of a few of them leave float64."""

_EXPONENT = re.compile(r"[eE]([+-]?[0-9_]+)$")
_REQUIRED = object()

Read = Callable[[Any, str], Any]


class Decimal(str):
    """A TOML float as it was written, which is what it means: 0.1 is 1/10."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Entry:
    """An entry of a table.

    Attributes:
        read: from a value and its name to the canonical value; ValueError for one outside the domain.
        default: the canonical value of an absent entry.
        listed: whether one value is a list by nature; then an axis is a list of lists.
        single: whether it may not be an axis.
    """

    read: Read
    default: Any = _REQUIRED
    listed: bool = False
    single: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be there."""
        return self.default is _REQUIRED

    def values(self, given: Any, name: str) -> tuple[Any, ...]:
        """The canonical values of an axis in the order given, each once; one value is an axis of one.

        Raises:
            ValueError: naming the entry, its value and what it may be.
        """
        if self.single:
            return (self.read(given, name),)
        if isinstance(given, Mapping) and set(given) & {"from", "to", "by"}:
            return self._integers(_range(given, name), name)
        if not isinstance(given, list) or (self.listed and not _is_list_of_lists(given)):
            return (self.read(given, name),)
        if not given:
            raise ValueError(f"{name}=[] has no value; an axis has at least one")
        found: dict[str, Any] = {}
        for i, value in enumerate(given):
            canonical = self.read(value, f"{name}[{i}]")
            found[json.dumps(canonical)] = canonical
        return tuple(found.values())

    def _integers(self, given: range, name: str) -> tuple[Any, ...]:
        """The values of a range; domains are intervals, so the ends tell of all that is between."""
        ends = [self.read(end, name) for end in (given[0], given[-1])]
        return tuple(map(type(ends[0]), given))


def _is_list_of_lists(given: list[Any]) -> bool:
    return bool(given) and all(isinstance(value, list) for value in given)


def _range(given: Mapping[str, Any], name: str) -> range:
    """{from, to, by}: the integers from, from + by, ... up to `to`."""
    check_names(given, ("from", "to", "by"), name)
    for key in ("from", "to"):
        if key not in given:
            raise ValueError(f"{name} lacks {key}: a range is {{ from = a, to = b }}, with both ends, and maybe by = c")
    first, last = (integer(-LARGEST)(given[key], f"{name}.{key}") for key in ("from", "to"))
    by = integer(1)(given.get("by", 1), f"{name}.by")
    if last < first:
        raise ValueError(f"{name}.to={last} is outside the integers in [{first}, inf), from..")
    if (last - first) // by >= MOST_CELLS:
        raise ValueError(f"{name} has {(last - first) // by + 1} values; a sweep has at most {MOST_CELLS} cells")
    return range(first, last + 1, by)


def integer(least: int, most: int = LARGEST) -> Read:
    """Reads an integer in [least, most]."""
    upper = "inf)" if most == LARGEST else f"{most}]"

    def read(value: Any, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{name}={shown(value)} is not an integer in [{least}, {upper}")
        if not least <= value <= most:
            raise ValueError(f"{name}={shown(value)} is outside the integers in [{least}, {upper}")
        return value

    return read


def number(domain: Domain) -> Read:
    """Reads a number: an integer, a decimal, or text such as "1/8"; the canonical value is the fraction's text."""

    def read(value: Any, name: str) -> str:
        found = fraction(value, name)
        if not domain.contains(found):
            raise ValueError(f"{name}={shown(value)} is outside {domain}")
        return str(found)

    return read


def fraction(value: Any, name: str) -> Fraction:
    """A number as a Fraction, its length bounded before it is computed.

    Raises:
        ValueError: for anything that is not a number, or one beyond `RANGE`.
    """
    from validate.scenario import rational

    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{name}={shown(value)} is not a number or a fraction such as '1/8'")
    if isinstance(value, str):
        exponent = _EXPONENT.search(value.strip())
        if len(value) > MOST_CHARACTERS:
            raise ValueError(f"{name} has {len(value)} characters; a number here has at most {MOST_CHARACTERS}")
        if exponent is not None and (len(exponent[1]) > 5 or abs(int(exponent[1])) > 2 * MOST_CHARACTERS):
            raise _size_error(value, name)
        value = str(value)  # of a `Decimal`
    elif isinstance(value, int) and abs(value) > RANGE[1]:
        raise _size_error(value, name)
    found = rational(value, name)
    if found and not RANGE[0] <= abs(found) <= RANGE[1]:
        raise _size_error(value, name)
    return found


def _size_error(value: Any, name: str) -> ValueError:
    return ValueError(f"{name}={shown(value)} is neither 0 nor between 1e-30 and 1e30 in size")


def choice(*options: str) -> Read:
    """Reads one of a few words."""

    def read(value: Any, name: str) -> str:
        if type(value) is not str or value not in options:
            close = suggestion(value, options) if isinstance(value, str) else ""
            raise ValueError(f"{name}={shown(value)} is not one of {', '.join(map(repr, options))}{close}")
        return value

    return read


def either(one: Read, many: Read) -> Read:
    """Reads a list by `many`, and anything else by `one`."""

    def read(value: Any, name: str) -> Any:
        return (many if isinstance(value, list) else one)(value, name)

    return read


def sequence(of: Read, what: str, least: int = 0) -> Read:
    """Reads a list of at least `least` values, each by `of`; `what` describes it, as in "one number a client"."""

    def read(value: Any, name: str) -> list[Any]:
        if not isinstance(value, list) or len(value) < least:
            raise ValueError(f"{name}={shown(value)} is not a list of {what}")
        return [of(part, f"{name}[{i}]") for i, part in enumerate(value)]

    return read


def check_names(given: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    """Refuse entries that are not allowed.

    Raises:
        ValueError: naming the first of them and all that is allowed, with what comes close.
    """
    for name in given:
        if name not in allowed:
            text = f"{where} has the unknown entry {shown(name)}; it may have {', '.join(allowed)}"
            raise ValueError(text + suggestion(name, allowed))


def table(value: Any, where: str) -> dict[str, Any]:
    """A table as it is.

    Raises:
        ValueError: for anything else.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{where}={shown(value)} is not a table of named entries")
    return value


def shown(value: Any) -> str:
    """A value for an error message, cut where it is long."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "an integer of more than 40 digits"
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:110]}... ({len(text)} characters)"


def suggestion(name: str, known: Sequence[str]) -> str:
    """What to say of the known name that comes closest, or nothing."""
    close = get_close_matches(name[:100], known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def refuse(where: str, text: str) -> NoReturn:
    """Raise a ValueError that begins with the place."""
    raise ValueError(f"{where}: {text}")
