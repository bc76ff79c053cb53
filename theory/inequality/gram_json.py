"""Spaces, forms and conditions as plain data (JSON): entries by index, fractions as strings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory.inequality.vectors import Condition, Form, Space


def space_to_json(space: Space) -> dict[str, Any]:
    """A space as plain data."""
    return {"vectors": list(space.vectors), "values": list(space.values)}


def space_from_json(data: Mapping[str, Any]) -> Space:
    """The space that `space_to_json` wrote."""
    return Space(tuple(data["vectors"]), tuple(data["values"]))


def form_to_json(form: Form) -> dict[str, Any]:
    """A form as plain data: entries by index, fractions as strings."""
    return {
        "gram": [[i, j, str(c)] for (i, j), c in sorted(form.gram.items())],
        "values": [[j, str(c)] for j, c in sorted(form.values.items())],
        "constant": str(form.constant),
    }


def form_from_json(space: Space, data: Mapping[str, Any]) -> Form:
    """The form that `form_to_json` wrote.

    Raises:
        ValueError: an index outside the space.
    """
    n, m = space.dimension, len(space.values)
    gram = {(int(i), int(j)): Fraction(c) for i, j, c in data["gram"]}
    values = {int(j): Fraction(c) for j, c in data["values"]}
    if any(not 0 <= i <= j < n for i, j in gram) or any(not 0 <= j < m for j in values):
        raise ValueError(f"indices of {data!r} are outside a space of {n} vectors and {m} values")
    return Form(
        space, {k: c for k, c in gram.items() if c}, {j: c for j, c in values.items() if c}, Fraction(data["constant"])
    )


def condition_to_json(condition: Condition) -> dict[str, Any]:
    """A condition as plain data."""
    return {"name": condition.name, "form": form_to_json(condition.form), "relation": condition.relation}


def condition_from_json(space: Space, data: Mapping[str, Any]) -> Condition:
    """The condition that `condition_to_json` wrote."""
    return Condition(data["name"], form_from_json(space, data["form"]), data["relation"])
