"""The programs that a claim's formulas are written out as: they find what the formulas say, bit for bit."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.theory.toys import VALUES, bounded, in_numbers
from theory import claims
from theory.arithmetic import PRECISIONS, NotRationalError, Reals, UndecidedError, balls, decimals, is_tight
from theory.bound import Bound, Parameter
from theory.domain import REAL
from theory.evaluate import TIGHT, UndefinedError, bound, enclose, exact, exact_terms, hypotheses
from theory.floats import BLOCK
from theory.formula import parse
from theory.values import read

WITH_BOUND = [claim for claim in map(in_numbers, claims()) if claim.right is not None]


def drawn(parameter: Parameter, rng: random.Random) -> Fraction:
    """A value in the parameter's domain, with short and with long numerators."""
    domain = parameter.domain
    low = Fraction(domain.lower if domain.lower is not None else -3)
    high = Fraction(domain.upper if domain.upper is not None else low + rng.choice([1, 3, 40]))
    if domain.integer:
        return Fraction(rng.randint(int(low) + domain.lower_open, int(high) - domain.upper_open))
    parts = rng.choice([4, 10, 10**9 + 7])
    return low + (high - low) * Fraction(rng.randint(1, parts - 1), parts)


def instance(claim: Bound, rng: random.Random) -> dict[str, Any]:
    size = rng.choice([1, 3])
    return {
        p.name: [drawn(p, rng) for _ in range(size)] if p.shape == "vector" else drawn(p, rng) for p in claim.parameters
    }


def tree_by_tree(claim: Bound, values: dict[str, Any], reals: Reals) -> list[Any]:
    """The definitions and the right side, each tree walked on its own with what came before."""
    environment: dict[str, Any] = dict(read(claim, values))
    for name, text in claim.definitions.items():
        environment[name] = reals.evaluate(parse(text), environment)
    assert claim.right is not None
    return [*(environment[name] for name in claim.definitions), reals.evaluate(parse(claim.right), environment)]


def enclosed(claim: Bound, values: dict[str, Any]) -> list[tuple[str, str]] | None:
    """Decimals around the definitions' entries and the right side; None where they have no value."""
    found = None
    for precision in PRECISIONS:
        with balls(precision) as reals:
            try:
                rows = [v if isinstance(v, tuple) else (v,) for v in tree_by_tree(claim, values, reals)]
            except UndecidedError:
                continue
            except UndefinedError:
                return None
            found = [v for row in rows for v in row]
            if all(is_tight(v, TIGHT) for v in found):
                break
    return None if found is None else [decimals(v) for v in found]


@pytest.mark.parametrize("claim", WITH_BOUND, ids=lambda claim: claim.id)
def test_a_program_finds_what_the_trees_say(claim: Bound) -> None:
    rng = random.Random(claim.id)
    for _ in range(3):
        values = instance(claim, rng)
        expected = enclosed(claim, values)
        if expected is None:
            with pytest.raises(UndefinedError):
                enclose(claim, values)
            continue
        found = enclose(claim, values)
        assert [*found.terms.values(), (found.lower, found.upper)] == expected
        try:
            fractions = tree_by_tree(claim, values, Reals(None))
        except NotRationalError:
            continue
        assert exact(claim, values) == fractions[-1]
        assert list(exact_terms(claim, values).values()) == fractions[:-1]


def test_a_written_number_that_has_no_value_is_refused_when_it_is_evaluated() -> None:
    claim = bounded("a + 1/(2 - 2)")
    for function in (bound, enclose, exact):
        with pytest.raises(UndefinedError, match="toy/x"):
            function(claim, VALUES)


def test_a_claim_keeps_its_programs_and_not_its_values() -> None:
    claim = bounded("a*K", relations=("a < 1",))
    assert exact(claim, VALUES) == Fraction(5, 3)
    assert exact(claim, VALUES | {"a": 2, "K": 7}) == 14
    assert [hypotheses(claim, VALUES | {"a": a})[0]["holds"] for a in (2, "1/2", "sqrt(2)/2")] == [False, True, True]
    assert claim.formulas is claim.formulas
    vectors = bounded("sum(z*y)", vectors={"z": REAL, "y": REAL})
    for size in (2, 3, 2):
        assert exact(vectors, VALUES | {"z": [1] * size, "y": [2] * size}) == 2 * size
    with pytest.raises(ValueError, match="lengths 2 and 3"):
        exact(vectors, VALUES | {"z": [1, 1], "y": [1, 1, 1]})
    assert exact(vectors, VALUES | {"z": [1, 1], "y": [1, 1]}) == 2


@pytest.mark.parametrize("text", ["-3/7", "0.125", "007", "1e2", "+4", " 5 ", "3/-4", "2**3", "1_0", "1/0", "5."])
def test_texts_are_read_as_formulas_are(text: str) -> None:
    claim = bounded("x")
    try:
        expected = Reals(None).evaluate(parse(text), {})
    except ValueError:
        with pytest.raises(ValueError, match="x="):
            exact(claim, VALUES | {"x": text})
        return
    assert exact(claim, VALUES | {"x": text}) == expected


def test_long_arrays_are_computed_as_short_ones() -> None:
    rng = np.random.default_rng(0)
    claim = bounded("exp(-a)*sum(z**3) + b/K", {"t": "a*z"}, vectors={"z": REAL})
    rows, columns = 3, BLOCK
    values: dict[str, Any] = {
        "a": rng.random((rows, 1)) + 1,
        "b": rng.random(columns) + 1,
        "K": 3,
        "x": 0,
        "z": rng.normal(size=(rows, 1, 4)),
    }
    found = np.asarray(bound(claim, values))
    assert found.shape == (rows, columns)
    for i, j in ((0, 0), (1, 17), (2, columns - 1)):
        alone = values | {"a": values["a"][i, 0], "b": values["b"][j], "z": values["z"][i, 0]}
        assert found[i, j] == pytest.approx(bound(claim, alone), rel=1e-14)
    assert np.array_equal(bound(bounded("7/K", vectors={"z": REAL}), values), np.full((rows, columns), 7 / 3))
