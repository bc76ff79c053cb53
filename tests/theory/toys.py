"""Small claims to try the theory on, and the catalogue's in numbers."""

from fractions import Fraction

from theory.bound import Bound, Hypothesis, Parameter
from theory.calculator import calculator
from theory.claim import Claim
from theory.domain import COUNT, POSITIVE, REAL, Domain

SCALARS = {"a": POSITIVE, "b": POSITIVE, "K": COUNT, "x": REAL}
VALUES = {"a": "1/3", "b": 2, "K": 5, "x": Fraction(-1, 7)}


def toy(
    relations: tuple[str | None, ...] = (),
    parameters: dict[str, Domain] | None = None,
    definitions: dict[str, str] | None = None,
    right: str | None = None,
    vectors: dict[str, Domain] | None = None,
) -> Bound:
    """A bound; a relation that is None stands for a hypothesis that numbers do not decide."""
    held = tuple(Hypothesis(f"h{i}", "s", text) for i, text in enumerate(relations))
    given = [Parameter(name, domain, "") for name, domain in (parameters or {}).items()]
    given += [Parameter(name, domain, "", "vector") for name, domain in (vectors or {}).items()]
    return Bound("toy/x", right, tuple(given), held, definitions or {})


def bounded(
    right: str | None,
    definitions: dict[str, str] | None = None,
    relations: tuple[str | None, ...] = (),
    scalars: dict[str, Domain] = SCALARS,
    vectors: dict[str, Domain] | None = None,
) -> Bound:
    """A bound with this right side, in the parameters `SCALARS` unless others are given."""
    return toy(relations, scalars, definitions, right, vectors)


def in_numbers(claim: Claim) -> Bound:
    """A claim of the catalogue with its right side and its relations in numbers."""
    return calculator(claim, all_relations=True).bound
