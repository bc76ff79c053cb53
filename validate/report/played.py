"""The instance of a certificate on which an algorithm is played, in words: functions, start, rounds, parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from validate.counted import counted
from validate.report.readable import SUBSCRIPTS, equal, fraction, letter
from validate.worked import indexed

MOST_DIGITS = 16
"""Significant ones, of a float64."""
MOST_FUNCTIONS = 4
"""Different functions that are written out."""
MOST_SHORT = 64
"""Characters of functions in a few words."""
MOST_POINTS = 4
"""Points of a function that are written out."""
MOST_ENTRIES = 9
"""Entries of a matrix that are written out."""


def values(certificate: Mapping[str, Any]) -> tuple[str, str]:
    """Both sides, an enclosed one by its middle; in digits that tell them apart."""
    for digits in range(4, MOST_DIGITS + 1):
        left, right = (_value(certificate[name], digits) for name in ("left", "right"))
        if left.split("≈")[-1] != right.split("≈")[-1]:
            break
    return left, right


def where(certificate: Mapping[str, Any]) -> str:
    """Where in the run both sides are taken, and of which client where there are several; may be empty."""
    several = len((certificate.get("problem") or {"clients": ()})["clients"]) > 1
    return _unbroken(indexed({name: at for name, at in certificate.get("at", {}).items() if name != "n" or several}))


def _value(side: Any, digits: int) -> str:
    if isinstance(side, Mapping):
        low, high = Fraction(side["lower"]), Fraction(side["upper"])
        if low == high:
            return fraction(str(low), digits)
        return f"≈ {fraction(str((low + high) / 2), digits).split('≈')[-1].strip()}"
    return fraction(str(side), digits)


def in_words(certificate: Mapping[str, Any]) -> str:
    """The instance in one or two lines.

    Example:
        >>> in_words({"problem": {"clients": [[{"H": [["1"]], "b": ["1"]}]]}, "start": ["0"], "rounds": 2,
        ...           "program": {"name": "gd"}, "parameters": {"eta": "1/2"}}).replace(chr(160), " ")
        'One client, f(x) = ½x² − x; 2 rounds from x⁰ = 0; η = 1/2.'
    """
    said = []
    if certificate.get("problem") is not None:
        said.append(_functions(certificate["problem"]["clients"]))
    if certificate.get("program") is not None:
        rounds = int(certificate["rounds"])
        start = certificate.get("start") or []
        beginning = f" from x⁰ {equal(_entry(start))}" if start else ""
        said.append(f"{counted(rounds, 'round')}{beginning}")
    vectors = [f"{letter(name)} {equal(_entry(value))}" for name, value in certificate.get("vectors", {}).items()]
    numbers = [f"{letter(name)} {_parameter(value)}" for name, value in certificate.get("parameters", {}).items()]
    said += [", ".join(some) for some in (vectors, numbers)]
    return _unbroken(f"{'; '.join(part for part in said if part)}.")


def in_short(certificate: Mapping[str, Any]) -> str:
    """The instance in a few words: its functions where they are short, else how many clients there are.

    Example:
        >>> in_short({"problem": {"clients": [[{"H": [["1"]], "b": ["1"]}]]}}).replace(chr(160), " ")
        'one client, f(x) = ½x² − x'
    """
    if certificate.get("problem") is None:
        return in_words(certificate).rstrip(".")
    clients = certificate["problem"]["clients"]
    text = _functions(clients)
    if len(text) > MOST_SHORT:
        return "one client" if len(clients) == 1 else f"{len(clients)} clients"
    return _unbroken(text[:1].lower() + text[1:])


def _unbroken(text: str) -> str:
    """No line ends between a number and what it is of."""
    return re.sub(r"(?<=[=≈]) | (?=[=≈])|(?<=\d) (?=clients|equal|rounds?\b|samples)", "\N{NO-BREAK SPACE}", text)


def _parameter(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{equal(value['k'])} round by round" if isinstance(value["k"], list) else equal(value["k"])
    if isinstance(value, list) and value and isinstance(value[0], list):
        return f"= {_matrix(value)}"
    return equal(value)


def _entry(value: Any) -> Any:
    """A vector, or its entry where it has one only."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _functions(clients: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    words = [_client(samples) for samples in clients]
    kinds = Counter(words)
    if len(words) == 1:
        return f"One client, f(x) = {words[0]}"
    if len(kinds) == 1:
        return f"{len(words)} equal clients, fₙ(x) = {words[0]}"
    shown = []
    for text, times in list(kinds.items())[:MOST_FUNCTIONS]:
        first = words.index(text) + 1
        name = f"f{str(first).translate(SUBSCRIPTS)}"
        shown.append(f"{name} = {text}" if times == 1 else f"{times} times {text}")
    more = f"; {len(kinds) - MOST_FUNCTIONS} more kinds" if len(kinds) > MOST_FUNCTIONS else ""
    return f"{len(words)} clients: {'; '.join(shown)}{more}"


def _client(samples: Sequence[Mapping[str, Any]]) -> str:
    kinds = Counter(map(_sample, samples))
    if len(samples) == 1:
        return next(iter(kinds))
    if len(kinds) == 1:
        return f"{next(iter(kinds))} ({len(samples)} equal samples)"
    shown = [text if times == 1 else f"{times} times {text}" for text, times in list(kinds.items())[:MOST_FUNCTIONS]]
    more = f", … ({len(samples)} samples)" if len(kinds) > MOST_FUNCTIONS else ""
    listed = ", ".join(shown) if more else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"the mean of {listed}{more}"


def _shape(data: Mapping[str, Any]) -> str:
    """The slopes of a derivative, and where each ends."""
    knots, slopes = ([equal(v).removeprefix("= ") for v in data[key]] for key in ("knots", "slopes"))
    below = [f"{slope} up to {knot}" for slope, knot in zip(slopes, knots, strict=False)]
    return ", ".join([*below, f"{slopes[-1]} beyond" if knots else slopes[-1]])


def _ridges(sample: Mapping[str, Any]) -> str:
    """A sum of functions along directions: the slopes of their derivatives, and the gradient at 0."""
    shown = [f"φ″ = {_shape(one)} along {equal(one['a']).removeprefix('= ')}" for one in sample["ridges"]]
    most = shown[:MOST_FUNCTIONS] + ([f"{len(shown) - MOST_FUNCTIONS} more"] if len(shown) > MOST_FUNCTIONS else [])
    start = equal([_negative(b) for b in sample["b"]])
    return f"[{'; '.join([*most, f'∇f(0) {start}'])}]"


def _sample(sample: Mapping[str, Any]) -> str:
    if "points" in sample:
        return _any_function(sample)
    constant = str(sample.get("c", 0))
    if "ridges" in sample:
        return _ridges(sample)
    if "knots" in sample:
        return f"[f″ = {_shape(sample)}; f′(0) {equal(_negative(sample['b']))}]"
    b = sample["b"] if isinstance(sample["b"], list) else [sample["b"]]
    H = sample["H"] if "H" in sample else [[sample["h"]]]
    if len(b) == 1:
        return _sum(
            [
                _times(Fraction(str(H[0][0])) / 2, "x²"),
                _times(-Fraction(str(b[0])), "x"),
                _times(Fraction(constant), ""),
            ]
        )
    tail = "" if Fraction(constant) == 0 else f" + {equal(constant).removeprefix('= ')}"
    return f"½xᵀHx − bᵀx{tail} with H = {_matrix(H)}, b {equal(b)}"


def _any_function(sample: Mapping[str, Any]) -> str:
    """A function that is given by its values and gradients at points."""
    mu, L = (equal(sample[key]).removeprefix("= ") for key in ("mu", "L"))
    words = f"any function with curvature between {mu} and {L}"
    if "G" in sample:
        words += f", gradients of norm at most {equal(sample['G']).removeprefix('= ')}"
    shown = []
    for point in sample["points"][:MOST_POINTS]:
        x = equal(_entry(point["x"])).removeprefix("= ").removeprefix("(").removesuffix(")")
        slope = "∇f" if isinstance(point["g"], list) and len(point["g"]) > 1 else "f′"
        shown.append(f"f({x}) {equal(point['f'])}, {slope}({x}) {equal(_entry(point['g']))}")
    count = len(sample["points"])
    more = f"; … ({count} points)" if count > MOST_POINTS else ""
    return f"[{words} and {'; '.join(shown)}{more}]"


def _negative(value: Any) -> str:
    return str(-Fraction(str(_entry(value))))


def _matrix(rows: Sequence[Sequence[Any]]) -> str:
    if sum(map(len, rows)) > MOST_ENTRIES:
        return f"a {len(rows)}×{len(rows[0])} matrix"
    return f"[{'; '.join(' '.join(equal(v).removeprefix('= ') for v in row) for row in rows)}]"


def _times(factor: Fraction, power: str) -> tuple[bool, str]:
    """Whether a term is negative, and its size; empty where it is 0."""
    size = abs(factor)
    if size == 0:
        return False, ""
    if not power:
        return factor < 0, equal(size).removeprefix("= ")
    if size in (Fraction(1), Fraction(1, 2), Fraction(1, 4)):
        return factor < 0, {1: "", 2: "½", 4: "¼"}[size.denominator] + power
    text = equal(size).removeprefix("= ")
    return factor < 0, f"{text if size.denominator == 1 else f'({text})'}{power}"


def _sum(terms: Sequence[tuple[bool, str]]) -> str:
    text = ""
    for negative, size in terms:
        if size:
            text += (" − " if negative else " + ") + size if text else ("−" if negative else "") + size
    return text or "0"
