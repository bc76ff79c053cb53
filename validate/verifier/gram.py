"""Kind "vectors": vectors that satisfy the conditions of a lemma about vectors, and not what it claims.

The certificate names vectors and numbers (function values) and gives both explicitly: coordinate k of every vector is a
fraction in units of sqrt(weights[k]), so <u, v> = sum_k weights[k] u_k v_k is a fraction too. A form is a sum of
`products` [u, v, coefficient of <u, v>] and `values` [name, coefficient] and a `constant`; a condition says that a form
is <= 0, < 0 or == 0. `condition` is what is claimed, `given` are the conditions under which it is: hypotheses on
functions stand there as the inequalities between points, gradients and values that a function of the class satisfies,
those on convex sets as the inequalities of their points.

Checked, in exact fractions: every weight is positive; every given condition holds for the vectors and values, strict
ones strictly; the claimed condition does not; the hypotheses that are relations hold for the parameters; there is a
given condition where a hypothesis is on functions or in words; the claim's printed relation is no weaker than the
condition (an inequality says less than an equation, <= less than <).

What remains for the reader: the claimed condition is the claim's formula, and the given conditions are its hypotheses,
at these parameters. Both stand side by side above the checks. Where hypotheses are about functions: from points that
satisfy the given conditions there is a function of the class, which is so for the interpolation conditions of smooth
or convex functions, and not for a few of their consequences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .conditions import HEAD, introduce
from .formulas import lookup, relation_holds
from .reading import FormatError, fields, limit_length, list_of, number, read_numbers, shown, text_of

MOST = 400  # vectors, values, coordinates of a vector, conditions, terms of a form
# the conditions that a claim with this relation implies, so that it is false where one of them is
IMPLIED = {"<=": ("<=",), ">=": ("<=",), "<": ("<", "<="), ">": ("<", "<="), "=": ("==", "<=")}
# assumptions on what is drawn: they are in the coefficients of the forms, not among the conditions
ON_DRAWS = ("UnbiasedSampling", "IndependentParticipation", "UniformParticipation")


@dataclass(frozen=True)
class Configuration:
    """Explicit vectors and values, by name."""

    vectors: Mapping[str, tuple[Fraction, ...]]
    weights: tuple[Fraction, ...]
    values: Mapping[str, Fraction]

    def product(self, one: str, other: str) -> Fraction:
        """<one, other>."""
        terms = zip(self.weights, self.vectors[one], self.vectors[other], strict=True)
        return sum((w * a * b for w, a, b in terms), Fraction(0))


@dataclass(frozen=True)
class Condition:
    """A form that is <= 0, < 0 or == 0."""

    name: str
    products: tuple[tuple[str, str, Fraction], ...]
    values: tuple[tuple[str, Fraction], ...]
    constant: Fraction
    relation: str

    def at(self, point: Configuration) -> Fraction:
        """The form's value."""
        total = self.constant
        for one, other, c in self.products:
            total += c * point.product(one, other)
        for name, c in self.values:
            total += c * point.values[name]
        return total

    def holds(self, value: Fraction) -> bool:
        """Whether a value of the form satisfies it."""
        return {"<=": value <= 0, "<": value < 0, "==": value == 0}[self.relation]

    def __str__(self) -> str:
        terms = [(c, f"|{a}|^2" if a == b else f"<{a}, {b}>") for a, b, c in self.products]
        terms += [(c, name) for name, c in self.values]
        if self.constant or not terms:
            terms.append((self.constant, ""))
        text = ""
        for c, what in terms:
            size = what if abs(c) == 1 and what else f"{shown(abs(c))}*{what}" if what else shown(abs(c))
            text += ("-" if c < 0 else "") + size if not text else f" {'-' if c < 0 else '+'} {size}"
        return f"{shown(text, 2000)} {self.relation} 0"


def verify_vectors(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    own = " left relation parameters names words vectors weights values condition given value"
    fields(data, "the certificate", HEAD + own, "right definitions note")
    introduce(data)
    left = fields(data["left"], "left", "quantity meaning")
    quantity, meaning = text_of(left["quantity"], "quantity"), text_of(left["meaning"], "meaning")
    read_texts(data["names"], "names")
    read_texts(data["words"], "words")
    relation = text_of(data["relation"], "relation")
    if relation not in IMPLIED:
        raise FormatError(f"relation={shown(relation)} is none of {list(IMPLIED)}")
    point = read_configuration(data)
    claimed = read_condition(data["condition"], "condition", point)
    if not claimed.products and not claimed.values:
        raise FormatError("the claimed condition is about no vector and no value")
    listed = list_of(data["given"], "given")
    if len(listed) > MOST:
        raise FormatError(f"given has more than {MOST} conditions")
    given = [read_condition(item, "a given condition", point) for item in listed]

    checks = Checks()
    right = data.get("right")
    formula = f"{shown(quantity)} {relation} {shown(text_of(right, 'right'), 2000)}" if right is not None else "none"
    checks.note(f"the claim's formula: {formula}, where {shown(quantity)} is {shown(meaning)}")
    checks.note(f"what is refuted:     {claimed}")
    checks.check(claimed.relation in IMPLIED[relation], f"a claim with {relation} says that the form is so")
    rooted = not set(point.weights) <= {1}
    for name, entries in point.vectors.items():
        units = f", in units of the roots of ({', '.join(map(shown, point.weights))})" if rooted else ""
        checks.note(f"{name} = ({', '.join(map(shown, entries))}){units}")
    for name, value in point.values.items():
        checks.note(f"{name} = {shown(value)}")
    checks.check(all(w > 0 for w in point.weights), "every weight of a coordinate is positive")
    for condition in given:
        value = condition.at(point)
        checks.check(condition.holds(value), f"given {shown(condition.name)}: {condition}; it is {shown(value)}")
    check_hypotheses(checks, data, bool(given))
    value = claimed.at(point)
    checks.equal("value", data["value"], value)
    holds = claimed.holds(value)
    checks.check(not holds, f"{shown(value)} {claimed.relation} 0 is {'true' if holds else 'false'}")
    return Report(checks.valid, tuple(checks.lines))


def check_hypotheses(checks: Checks, data: Mapping[str, Any], conditions: bool) -> None:
    """Relations at the parameters; all others are to be among the given conditions."""
    look = lookup(read_numbers(data["parameters"], "parameters"), data.get("definitions"))
    for item in list_of(data["hypotheses"], "hypotheses"):
        fields(item, "a hypothesis", "name assumption relation", "constant of at relative step")
        name = f"hypothesis {shown(text_of(item['name'], 'a name'))}"
        assumption, relation = item["assumption"], item["relation"]
        if relation is not None:
            holds = checks.attempt(name, relation_holds, text_of(relation, "a relation"), look, 1, True)
            if holds is not None:
                checks.check(holds, f"{name}: {shown(relation)}")
        if assumption is not None and text_of(assumption, "an assumption") in ON_DRAWS:
            checks.note(f"{name} is left to the reader: it is in the coefficients")
        elif assumption is not None or relation is None:
            if conditions:
                checks.note(f"{name} is left to the reader: it is to be among the given conditions")
            else:
                checks.check(False, f"{name} cannot be checked: no condition is given")


def read_configuration(data: Mapping[str, Any]) -> Configuration:
    """The vectors, all of as many coordinates as there are weights, and the values."""
    weights = tuple(number(w, "a weight") for w in list_of(data["weights"], "weights"))
    given = data["vectors"]
    if not isinstance(given, dict) or max(len(given), len(weights)) > MOST:
        raise FormatError(f"vectors is not an object of at most {MOST} vectors of at most {MOST} coordinates")
    vectors = {}
    for name, entries in given.items():
        check_name(name)
        vectors[name] = tuple(number(x, f"vectors.{name}") for x in list_of(entries, f"vectors.{name}"))
        if len(vectors[name]) != len(weights):
            raise FormatError(f"the vector {name} has not one coordinate a weight")
    values = data["values"]
    if not isinstance(values, dict) or len(values) > MOST:
        raise FormatError(f"values is not an object of at most {MOST} numbers")
    numbers = {check_name(name): number(value, f"values.{name}") for name, value in values.items()}
    if set(numbers) & set(vectors):
        raise FormatError("a vector and a value have one name")
    limit_length(x for row in (weights, numbers.values(), *vectors.values()) for x in row)
    return Configuration(vectors, weights, numbers)


def read_texts(data: Any, name: str) -> None:
    """That it is an object of texts."""
    if not isinstance(data, dict) or len(data) > MOST:
        raise FormatError(f"{name} is not an object of at most {MOST} texts")
    for value in data.values():
        text_of(value, name)


def check_name(name: str) -> str:
    """A name that can be shown as it is, and cannot be taken for a sum or a number."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.*'()^{}]{0,60}", name):
        raise FormatError(f"{shown(name)} is not a name: a letter, then letters, digits and _ . * ' ( ) ^ {{ }}")
    return name


def read_condition(data: Any, what: str, point: Configuration) -> Condition:
    """A condition about the vectors and values that there are."""
    item = fields(data, what, "name products values constant relation")
    relation = text_of(item["relation"], "relation")
    if relation not in ("<=", "<", "=="):
        raise FormatError(f"relation={shown(relation)} of {what} is none of <=, <, ==")
    products, values = list_of(item["products"], "products"), list_of(item["values"], "values")
    if max(len(products), len(values)) > MOST**2:
        raise FormatError(f"{what} has too many terms")

    def term(entry: Any, names: int, known: Mapping[str, Any]) -> tuple[Any, ...]:
        if not isinstance(entry, list) or len(entry) != names + 1:
            raise FormatError(f"a term of {what} is not a list of {names} names and a coefficient")
        for name in entry[:-1]:
            if text_of(name, "a name") not in known:
                raise FormatError(f"a term of {what} has the unknown name {shown(name)}")
        return (*entry[:-1], number(entry[-1], "a coefficient"))

    made = Condition(
        text_of(item["name"], "a condition's name"),
        tuple(term(entry, 2, point.vectors) for entry in products),
        tuple(term(entry, 1, point.values) for entry in values),
        number(item["constant"], "constant"),
        relation,
    )
    limit_length((made.constant, *(c for *_, c in made.products), *(c for _, c in made.values)))
    return made
