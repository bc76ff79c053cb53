"""From a break seen in floats to the smallest exact instance: rounding, confirmation, and reduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from theory.claim import Claim
from theory.formula import UndefinedError
from validate.assumptions import unmet
from validate.bounds import compare
from validate.certificate import Certificate, fixed_point_certificate
from validate.falsify import CasesOf, Counterexample, confirm, rounds_certificate, size
from validate.scenario import Spec, fraction_text
from validate.search.landscape import at_fixed_point, measured
from validate.search.moves import Moves, moves_of
from validate.verifier import MAX_EXPONENT, MAX_WORK

ENOUGH_ROUNDS = 2000
"""Below this, the K at which a fixed point breaks a claim is not made smaller at the cost of longer numbers."""
CHECKS = 4000
"""How many instances a reduction tries."""


@dataclass(frozen=True)
class FixedPoint:
    """A deterministic instance that one round maps to itself, and that breaks a claim at K rounds.

    Attributes:
        spec: the instance; ``theta0`` is the fixed point.
        parameters: the claim's parameters there, K among them.
        left: the left side, the same for every K.
        right: an upper bound on the right side at K, below `left`; exact where that is rational.
        minimiser: x* of f.
    """

    spec: Spec
    parameters: Mapping[str, Fraction]
    left: Fraction
    right: Fraction
    minimiser: Fraction

    @property
    def rounds(self) -> int:
        """K."""
        return int(self.parameters["K"])


Found = TypeVar("Found", Counterexample, FixedPoint)


def confirm_fixed_point(claim: Claim, spec: Spec, cases_of: CasesOf, most: int = MAX_EXPONENT) -> FixedPoint | None:
    """The instance at its fixed point as an exact refutation of a claim about every K, or None.

    Args:
        claim: a claim of the form left <= right whose right side contains K.
        spec: a scalar instance; its start and K are not used.
        cases_of: measures the claim's two sides.
        most: the largest K to try; also limited by what the verifier takes.
    """
    return settle_fixed_point(claim, spec, cases_of, most)[1]


def settle_fixed_point(
    claim: Claim, spec: Spec, cases_of: CasesOf, most: int = MAX_EXPONENT
) -> tuple[bool, FixedPoint | None]:
    """`confirm_fixed_point`, after whether exact arithmetic could tell at all.

    Raises:
        ValueError: for numbers that are too long.
    """
    if claim.relation not in ("<=", "<"):
        return False, None
    found = at_fixed_point(claim, spec, cases_of, exact=True)
    if found is None:
        return True, None
    scenario, cases = found
    left = Fraction(cases.left[0])
    parameters = {name: Fraction(value) for name, value in cases.parameters_at(0).items()}
    # Whatever does not vanish at a fixed point is there for ever; 0 is.
    if left <= 0:
        return True, None
    steps = int(spec.get("local_steps", 0)) or int(spec["S"]) * int(spec["M"])
    most = min(most, MAX_EXPONENT, 25 * MAX_WORK // (len(spec["clients"]) * steps))
    rounds = _first_break(claim, parameters, left, most)
    if rounds is None:
        return True, None
    parameters["K"] = Fraction(rounds)
    if unmet(claim, scenario, parameters):
        return True, None
    right = Fraction(claim.enclose(**parameters).upper)
    if right >= left:
        return True, None
    stays = {**spec, "theta0": fraction_text(Fraction(scenario.start[0])), "K": 1}
    return True, FixedPoint(stays, parameters, left, right, Fraction(scenario.problem.minimiser[0]))


def _first_break(claim: Claim, parameters: Mapping[str, Fraction], left: Fraction, most: int) -> int | None:
    """The first K at which the right side, in floats, is well below `left`, found by doubling and halving."""
    floats = {name: float(value) for name, value in parameters.items()}
    target = float(left) * (1 - 1e-9)

    def broken(rounds: int) -> bool:
        try:
            return float(claim.bound(**{**floats, "K": rounds})) < target
        except UndefinedError:
            return False

    high = 1
    while not broken(high):
        if high == most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if broken(middle) else (middle, high)
    return high


def check_instance(claim: Claim, cases_of: CasesOf) -> Callable[[Spec], Counterexample | None]:
    """Confirms instances in fractions, after a look in floats, which is cheaper."""

    def check(spec: Spec) -> Counterexample | None:
        try:
            found = measured(claim, spec, cases_of)
            if found is None or not compare(claim, found[1]).broken:
                return None
            return None if unmet(claim, found[0], found[1].parameters_at(0)) else confirm(claim, spec, cases_of)
        except ValueError:  # outside a domain, beyond floats, or not rational
            return None

    return check


def check_exactly(claim: Claim, cases_of: CasesOf) -> Callable[[Spec], Counterexample | None]:
    """As `check_instance`, without the look in floats: for breaks that are smaller than their rounding."""

    def check(spec: Spec) -> Counterexample | None:
        try:
            return confirm(claim, spec, cases_of)
        except ValueError:
            return None

    return check


def check_fixed_point(claim: Claim, cases_of: CasesOf, most: int) -> Callable[[Spec], FixedPoint | None]:
    """As `check_instance`, at the fixed point, with K at most `most`."""

    def check(spec: Spec) -> FixedPoint | None:
        try:
            return confirm_fixed_point(claim, spec, cases_of, most)
        except ValueError:
            return None

    return check


def reduced(found: Found, check: Callable[[Spec], Found | None], checks: int = CHECKS) -> Found:
    """The smallest instance that breaks the claim too, among those that single moves lead to.

    Moves drop a client, a sample or a round, take fewer steps, or put a simpler number in place of one; each is taken
    if `validate.falsify.size` falls (or fewer numbers are negative) and the instance still breaks the claim, until
    none is left.

    Args:
        found: an instance that breaks the claim.
        check: exact; gives what an instance proves, or None.
        checks: how many instances to try.
    """
    family = moves_of(found.spec, still=isinstance(found, FixedPoint))
    left = checks
    moved = True
    while moved and left > 0:
        moved = False
        for moves in family.stages:
            tried = iter(moves(family.bare(found.spec)))
            while (spec := next(tried, None)) is not None and left > 0:
                if _order(spec, family) >= _order(found.spec, family):
                    continue
                left -= 1
                smaller = check(spec)
                if smaller is not None:
                    found, moved = smaller, True
                    tried = iter(moves(family.bare(found.spec)))
    return found


def _order(spec: Spec, family: Moves) -> tuple[int, ...]:
    """`size`, then how many numbers are negative."""
    bare = family.bare(spec)
    return (*size(bare), family.negative(bare))


def certificate_of(claim: Claim, found: Counterexample | FixedPoint) -> Certificate:
    """The certificate of what a search found; `validate.certificate.write` checks and writes it."""
    if isinstance(found, Counterexample):
        return rounds_certificate(claim, found)
    return fixed_point_certificate(
        claim, found.spec, found.left, found.minimiser, found.parameters, compare=True, silent=True
    )
