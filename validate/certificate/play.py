"""Certificates of an instance on which an algorithm is played, and the claim is false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from theory.claim import Claim
from theory.domain import Domain
from theory.for_every import predicate_of
from theory.sentence import index_of
from validate import verifier
from validate.both_sides import Reading
from validate.certificate.exact_text import MOST_DIGITS, Certificate, as_text, is_long

Side: TypeAlias = "Fraction | int | str | tuple[Fraction, Fraction]"
DIGITS = 25
_ORIGINS = ("search", "pool", "worst case", "given")
_READINGS = ("play", "moments", "intervals")
_MOST_DECIMALS = 40  # that the verifier reads


def play_certificate(
    claim: Claim,
    instance: Mapping[str, Any],
    at: Mapping[str, int],
    left: Side,
    right: Side,
    *,
    origin: str,
    quick: bool,
    constants: Mapping[str, Any] | None = None,
    xstar: Sequence[Any] | None = None,
    xstar_n: Sequence[Sequence[Any]] | None = None,
    by: Reading = "play",
    note: str = "",
) -> Certificate:
    """A certificate of kind ``"play"``; `validate.verifier.play` says what is checked.

    Args:
        claim: as its author wrote it; all that it says is copied.
        instance: ``{"parameters", "problem", "start", "rounds"}`` as instances are written everywhere, and ``vectors``
            where the claim has free ones. A list among the parameters is one number a client, weights, or, where the
            claim writes ``eta_k``, one a round (``{"k": [...]}`` in any case).
        at: the free indices of the sentence (k, n, i, h, j) at which it breaks.
        left: the left side's value by the caller's own computation: exact, or (lower, upper) where roots occur.
        right: likewise.
        origin: where the instance is from: search, pool, worst case or given.
        quick: whether the check that found it was a quick one.
        constants: values of names that are no parameters of the algorithm (L, mu, ...), as among the parameters.
        xstar: the minimiser of f that is meant, where it has more than one.
        xstar_n: likewise, one for each client.
        by: how the verifier is to find expectations: from all outcomes, or, for a program that is linear given its
            draws on quadratics, by moments, which take no longer where outcomes are many; or as "play" does, with an
            interval in the place of each number that grows long ("intervals").
        note: a remark for the reader.

    Raises:
        ValueError: for what is no exact number, a value given twice, or an origin or a reading that is none.
    """
    if by not in _READINGS:
        raise ValueError(f"by={by!r} is none of {', '.join(_READINGS)}")
    if origin not in _ORIGINS:
        raise ValueError(f"origin={origin!r} is none of {', '.join(_ORIGINS)}")
    schedules = {base for base, index in map(index_of, claim.symbols) if index == "k"}
    given: dict[str, Any] = {} if claim.of is None else dict(claim.of.defaults)
    given |= dict(instance.get("parameters", {}))
    for name, value in (constants or {}).items():
        if name in given and _plain(given[name], name) != _plain(value, name):
            raise ValueError(f"constants: {name}={value!r}, and the parameters have {name}={given[name]!r}")
        given[name] = value
    problem = instance.get("problem")
    start = instance.get("start", [])
    certificate: Certificate = {
        "format": verifier.FORMAT,
        "kind": "play",
        **said(claim),
        "parameters": {
            name: _by_round(value, name)
            if name in schedules and not isinstance(value, Mapping)
            else _plain(value, name)
            for name, value in given.items()
            if name != "K"
        },
        "problem": None if problem is None else _problem(problem),
        "start": []
        if problem is None
        else _plain(start if isinstance(start, Sequence) and not isinstance(start, str) else [start], "start"),
        "rounds": int(instance.get("rounds", 1)),
        "at": {key: int(value) for key, value in at.items()},
        "left": _side(left, "left"),
        "right": _side(right, "right"),
        "origin": origin,
        "quick": bool(quick),
    }
    if instance.get("vectors"):
        certificate["vectors"] = {name: _plain(value, name) for name, value in instance["vectors"].items()}
    for key, points in (("xstar", xstar), ("xstar_n", xstar_n)):
        if points is not None:
            certificate[key] = _plain(points, key)
    if by != "play":
        certificate["by"] = by
    if note:
        certificate["note"] = note
    return certificate


def said(claim: Claim) -> Certificate:
    """What a certificate says of the claim: all that the claim says of itself."""
    assumptions, relations = _assumed(claim)
    found: Certificate = {
        "claim": claim.id,
        "statement": claim.statement,
        "assumptions": assumptions,
        "relations": relations,
        "definitions": {name: claim.where[name] for name in claim.definitions},  # each after those that it speaks of
        "program": None if claim.program is None else claim.program.to_json(),
    }
    if claim.standing:
        found["standing"] = list(claim.standing)
    if claim.parameters:
        found["domains"] = {index_of(name)[0]: _domain(domain) for name, domain in claim.parameters.items()}
    if claim.over:
        found["over"] = claim.over
    return found


def differences(certificate: Certificate, claim: Claim) -> tuple[str, ...]:
    """The fields in which a certificate departs from the claim that it says it refutes, or proves.

    The verifier cannot know the printed claim. Empty when the certificate says of it what the claim says of itself, and
    nothing more: a domain or a standing condition that the claim has not would be another claim.
    """
    expected = said(claim)
    keys = [*expected, *(key for key in ("standing", "domains", "over") if key not in expected)]
    found = [key for key in keys if certificate.get(key) != expected.get(key)]
    if set(certificate.get("vectors", {})) != set(claim.vectors):
        found.append("vectors")
    return tuple(found)


def _assumed(claim: Claim) -> tuple[list[dict[str, Any]], list[str]]:
    """Assumptions, as text and as data, and relations."""
    assumptions: list[dict[str, Any]] = []
    relations: list[str] = []
    for text in (*claim.assuming, *claim.standing):
        one = predicate_of(text)
        if one is None:
            relations.append(text)
        else:
            assumptions.append({"text": text, **one.to_json()})
    return assumptions, relations


def _exact(value: Any, name: str) -> str:
    """As `as_text`; a float counts as the shortest decimal that is read as it."""
    return as_text(repr(value) if isinstance(value, float) else value, name)


def _plain(value: Any, name: str) -> Any:
    """A number, or lists of them, or a schedule."""
    if isinstance(value, Mapping):
        if set(value) != {"k"}:
            raise ValueError(f"{name}={value!r} is no number, list, or schedule {{'k': [...]}}")
        return _by_round(value["k"], name)
    if not callable(getattr(value, "values", len)):  # a schedule as an object
        return _by_round(value, name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(entry, name) for entry in value]
    return _exact(value, name)


def _by_round(values: Any, name: str) -> Any:
    values = values if callable(getattr(values, "values", len)) else values.values  # a schedule as an object
    if isinstance(values, Sequence) and not isinstance(values, str):
        return {"k": [_exact(value, name) for value in values]}
    return _exact(values, name)


def _problem(data: Mapping[str, Any]) -> dict[str, Any]:
    """Every sample as points, L, mu, as ridges, b, as knots, slopes, b or as H, b, and where it is needed c."""
    return {"clients": [[_sample(sample) for sample in own] for own in data["clients"]]}


def _sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    if "points" in sample:
        return _points(sample)
    constant = Fraction(_exact(sample.get("c", 0), "c"))
    found: dict[str, Any]
    if "ridges" in sample:
        terms = [{key: _plain(one[key], key) for key in ("a", "knots", "slopes")} for one in sample["ridges"]]
        found = {"ridges": terms, "b": _plain(sample["b"], "b")}
    elif "knots" in sample:
        found = {key: _plain(sample[key], key) for key in ("knots", "slopes", "b")}
    elif "H" in sample:
        found = {"H": _plain(sample["H"], "H"), "b": _plain(sample["b"], "b")}
    elif "b" in sample:
        found = {"H": [[_exact(sample["h"], "h")]], "b": [_exact(sample["b"], "b")]}
    else:
        h, a = Fraction(_exact(sample["h"], "h")), Fraction(_exact(sample["a"], "a"))
        found = {"H": [[str(h)]], "b": [str(h * a)]}
        constant += h * a * a / 2
    return {**found, "c": str(constant)} if constant else found


def _points(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Each point once, with lists for x and g."""
    points: dict[tuple[str, ...], dict[str, Any]] = {}
    for point in sample["points"]:
        x, g = (_plain(point[key] if isinstance(point[key], list | tuple) else [point[key]], key) for key in "xg")
        points.setdefault(tuple(x), {"x": x, "g": g, "f": _exact(point["f"], "f")})
    return {
        "points": list(points.values()),
        **{key: _exact(sample[key], key) for key in ("L", "mu", "G") if key in sample},
    }


def _domain(domain: Domain) -> dict[str, Any]:
    ends = {
        key: None if end is None else str(Fraction(end))
        for key, end in (("lower", domain.lower), ("upper", domain.upper))
    }
    flags = {"lower_open": domain.lower_open, "upper_open": domain.upper_open, "integer": domain.integer}
    return {**ends, **flags}


def _side(value: Side, name: str) -> Any:
    if isinstance(value, Fraction) and is_long(value):  # digits that tell nothing more: between two decimals
        value = (value, value)
    if isinstance(value, tuple):
        low, high = value
        if low > high:
            raise ValueError(f"{name}: the lower end {low} is above the upper end {high}")
        return {"lower": _rounded(low, name, False), "upper": _rounded(high, name, True)}
    return as_text(value, name)


def _rounded(value: Fraction, name: str, up: bool) -> str:
    """As a decimal, rounded outwards."""
    exact = Fraction(value)
    decimals = 0
    while decimals < _MOST_DECIMALS and abs(exact) * 10**decimals < 10 ** (DIGITS - 1):
        decimals += 1
    scaled = exact * 10**decimals
    whole = -((-scaled.numerator) // scaled.denominator) if up else scaled.numerator // scaled.denominator
    if abs(whole) >= 10**MOST_DIGITS:
        raise ValueError(f"{name} has more than {MOST_DIGITS} digits: take a smaller instance")
    head, tail = divmod(abs(whole), 10**decimals)
    return ("-" if whole < 0 else "") + str(head) + (f".{tail:0{decimals}d}" if decimals else "")
