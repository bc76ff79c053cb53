"""Mutants: well-formed, in a fixed order, each another claim than the original."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theory import claim
from theory.claim import Claim, Hypothesis, Parameter, Quantity
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL
from theory.formula import names_in, parse
from validate.mutate.mutants import RIGHT, Mutant, Place, mutants, scaled, terms

# those that instances measure
WITH_RIGHT = [
    f"perm/{label}{form}"
    for label in ("lemma-4", "lemma-5", "lemma-6", *(f"proposition-4-eq{i}" for i in (15, 16, 17)))
    for form in ("", "/corrected")
]
WITH_RIGHT += ["open-fl/theorem-2", "open-fl/theorem-2/corrected", *(f"open-fl/eq{i}" for i in range(6, 12))]


def small(right: str, **definitions: str) -> Claim:
    """A claim in a few parameters."""
    parameters = (
        Parameter("L", POSITIVE, "smoothness"),
        Parameter("mu", POSITIVE, "strong convexity"),
        Parameter("M", COUNT, "steps"),
        Parameter("gap", NONNEGATIVE, "start"),
        Parameter("c", REAL, "a real number"),
    )
    hypothesis = Hypothesis("ordered", "mu <= L", relation="mu <= L")
    return Claim(
        id="toy/lemma-1",
        kind="lemma",
        title="a bound",
        equation="(1)",
        statement="x <= bound",
        latex="x",
        quantity=Quantity("x", "x", "x"),
        source="here",
        parameters=parameters,
        hypotheses=(hypothesis,),
        definitions=definitions,
        relation="<=",
        right=right,
    )


def rights(c: Claim) -> set[str]:
    """The mutants' right sides, without blanks and parentheses."""
    return {"".join(ch for ch in str(m.claim.right) if ch not in " ()") for m in mutants(c)}


@pytest.mark.parametrize("label", WITH_RIGHT)
def test_mutants_are_well_formed_and_none_is_the_original_or_another(label: str) -> None:
    original = claim(label)
    made = mutants(original)  # which takes longer than all that is asked of them
    assert len(made) >= 10
    assert len({m.name for m in made}) == len(made)
    for m in made:
        assert m.name.startswith(f"{label}/mutant-")
        changed = m.claim
        assert (changed.id, changed.relation, changed.quantity) == (original.id, original.relation, original.quantity)
        assert changed.parameters == original.parameters
        assert list(changed.definitions) == list(original.definitions)
        known = [*(p.name for p in changed.parameters), *changed.definitions]
        for text in (*changed.definitions.values(), changed.right):
            assert names_in(parse(text or "", known)) <= set(known)
        if m.kind == "hypothesis dropped":
            assert (changed.right, changed.definitions) == (original.right, original.definitions)
            assert len(changed.conditions) == len(original.conditions) - 1
            assert set(changed.conditions) < set(original.conditions)
        else:
            assert changed.conditions == original.conditions
        assert m.stated().id == m.name
        assert m.description in m.stated().statement
    assert_distinct(original, made)


def assert_distinct(original: Claim, made: list[Mutant]) -> None:
    """Each is another function than the original and the others, at points by which duplicates are not recognised."""
    rng = np.random.default_rng(1)
    values = {}
    for p in original.parameters:
        lower = 0.0 if p.domain.lower is None else p.domain.lower
        upper = p.domain.upper
        drawn = rng.uniform(0.2, 3.0, 20) if upper is None else rng.uniform(0.1, 0.9, 20) * (upper - lower)
        values[p.name] = lower + (rng.integers(1, 9, 20) if p.domain.integer else drawn)
    changed = [m for m in made if m.kind != "hypothesis dropped"]
    bounds = [np.asarray(c.bound(**values)) for c in (original, *(m.claim for m in changed))]
    seen = np.array([np.broadcast_to(bound, 20) for bound in bounds])
    for at, m in enumerate(changed, start=1):
        same = np.isclose(seen[at], seen[:at], rtol=1e-10, atol=0, equal_nan=True).all(axis=1)
        assert not same.any(), m


def test_mutants_are_the_same_every_time() -> None:
    original = claim("perm/theorem-2-step")
    assert mutants(original) == mutants(original)


def test_every_kind_of_move() -> None:
    found = rights(small("L**2*(M-1)*gap - c/mu"))
    assert "1/2*L**2*M-1*gap-c/mu" in found  # a coefficient
    assert "L**2*M-1*gap-2*c/mu" in found  # of a negative term, the other way
    assert "L**2*M-1*gap" in found  # a term dropped
    assert "-c/mu" in found
    assert "L**3*M-1*gap-c/mu" in found  # an exponent
    assert "L**1*M-1*gap-c/mu" in found
    assert len({"L**2*M-0*gap-c/mu", "L**2*M+1-1*gap-c/mu"} & found) == 1, "M-1 to M, in one of two ways"
    assert "L**2*-1*gap-c/mu" not in found, "an index keeps its name"
    assert "mu**2*M-1*gap-c/L" in found  # L and mu swapped
    assert [m.kind for m in mutants(small("L*gap"))][-1] == "hypothesis dropped"


def test_products_lose_factors_and_definitions_are_moved_where_they_stand() -> None:
    made = mutants(small("4*a", a="M*L*gap", unused="mu*gap"))
    assert {m.claim.definitions["unused"] for m in made} == {"mu*gap"}, "what is not used is not moved"
    assert any("the factor M in a dropped" in m.description for m in made)
    assert any(m.claim.definitions["a"] == "((1 * L) * gap)" for m in made)


def test_terms_are_seen_through_definitions() -> None:
    assert terms(small("a + L - b", a="gap + c", b="2*mu")) == [
        Place(RIGHT),
        Place("a", (0,)),
        Place("a", (1,)),
        Place(RIGHT, (0, 1)),
        Place("b"),
    ]
    assert terms(small("L*gap")) == [Place(RIGHT)]


def test_a_term_is_scaled_by_an_exact_factor() -> None:
    c = small("a + L", a="gap/mu")
    values = {"L": 2, "mu": "1/3", "M": 1, "gap": 5, "c": 0}
    from theory.evaluate import exact

    assert exact(scaled(c, Place("a"), Fraction(2, 7)), values) == Fraction(15) * Fraction(2, 7) + 2
    assert exact(scaled(c, Place(RIGHT), Fraction(0)), values) == 0
    moved = mutants(c, [(Place("a"), Fraction(2, 7))])[0]
    assert moved.kind == "scaled below what is attained"
    assert exact(moved.claim, values) == Fraction(15) * Fraction(2, 7) + 2


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="perm/theorem-2' has no right side"):
        mutants(claim("perm/theorem-2"))
    with pytest.raises(ValueError, match="perm/eq3' has no right side"):
        terms(claim("perm/eq3"))
    with pytest.raises(ValueError, match=r"attained=-1 is outside \(0, inf\)"):
        mutants(small("L"), [(Place(RIGHT), Fraction(-1))])
