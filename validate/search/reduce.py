"""From a break seen in floats to the smallest exact instance: rounding, confirmation, and reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, TypeVar

from theory.claim import Claim
from validate.assumptions import unmet
from validate.certificate import Certificate, fixed_point_certificate, instance_certificate
from validate.falsify import CasesOf, Counterexample, confirm, size, suspects
from validate.scenario import Spec, fraction_text, rational
from validate.search.landscape import at_fixed_point
from validate.search.space import TOLERANCES, simplest_near
from validate.verifier import MAX_EXPONENT, MAX_WORK

SMALL = 9
"""All rationals p/q with |p| + q up to this are tried in place of each number."""
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
    if claim.relation not in ("<=", "<"):
        return None
    found = at_fixed_point(claim, spec, cases_of, exact=True)
    if found is None:
        return None
    scenario, cases = found
    left = Fraction(cases.left[0])
    parameters = {name: Fraction(value) for name, value in cases.parameters_at(0).items()}
    # Whatever does not vanish at a fixed point is there for ever; 0 is.
    if left <= 0:
        return None
    steps = int(spec.get("local_steps", 0)) or int(spec["S"]) * int(spec["M"])
    most = min(most, MAX_EXPONENT, 25 * MAX_WORK // (len(spec["clients"]) * steps))
    rounds = _first_break(claim, parameters, left, most)
    if rounds is None:
        return None
    parameters["K"] = Fraction(rounds)
    if unmet(claim, scenario, parameters):
        return None
    right = Fraction(claim.enclose(**parameters).upper)
    if right >= left:
        return None
    stays = {**spec, "theta0": fraction_text(Fraction(scenario.start[0])), "K": 1}
    return FixedPoint(stays, parameters, left, right, Fraction(scenario.problem.minimiser[0]))


def _first_break(claim: Claim, parameters: Mapping[str, Fraction], left: Fraction, most: int) -> int | None:
    """The first K at which the right side, in floats, is well below `left`, found by doubling and halving."""
    floats = {name: float(value) for name, value in parameters.items()}
    target = float(left) * (1 - 1e-9)

    def broken(rounds: int) -> bool:
        return float(claim.bound(**{**floats, "K": rounds})) < target

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
            return confirm(claim, spec, cases_of) if suspects(claim, [spec], cases_of) else None
        except ValueError:  # outside a domain, beyond floats, or not rational
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
    still = isinstance(found, FixedPoint)
    left = checks
    moved = True
    while moved and left > 0:
        moved = False
        for moves in (_structural, _jointly, _numbers):
            tried = iter(moves(_bare(found.spec, still), still))
            while (spec := next(tried, None)) is not None and left > 0:
                if _order(spec, still) >= _order(found.spec, still):
                    continue
                left -= 1
                smaller = check(spec)
                if smaller is not None:
                    found, moved = smaller, True
                    tried = iter(moves(_bare(found.spec, still), still))
    return found


def certificate_of(claim: Claim, found: Counterexample | FixedPoint) -> Certificate:
    """The certificate of what a search found; `validate.certificate.write` checks and writes it."""
    if isinstance(found, Counterexample):
        return instance_certificate(
            claim, found.spec, found.index, found.parameters, found.left, found.right, silent=True
        )
    return fixed_point_certificate(
        claim, found.spec, found.left, found.minimiser, found.parameters, compare=True, silent=True
    )


def _bare(spec: Spec, still: bool) -> Spec:
    """Without the start, where that is not free."""
    return {**spec, "theta0": "0"} if still else spec


def _order(spec: Spec, still: bool) -> tuple[int, ...]:
    """`size`, then how many numbers are negative."""
    numbers = [entry for client in spec["clients"] for key in ("h", "a") for entry in client[key]]
    negative = sum(rational(entry, "number") < 0 for entry in [*numbers, *([] if still else [spec["theta0"]])])
    return (*size(_bare(spec, still)), negative)


def _structural(spec: Spec, still: bool) -> Iterator[Spec]:
    clients = list(spec["clients"])
    for n in range(len(clients) if len(clients) > 1 else 0):
        yield {**spec, "clients": clients[:n] + clients[n + 1 :]}
    for n, client in enumerate(clients):
        for i in range(len(client["h"]) if len(client["h"]) > 1 else 0):
            fewer = {key: client[key][:i] + client[key][i + 1 :] for key in ("h", "a")}
            yield {**spec, "clients": [*clients[:n], {**client, **fewer}, *clients[n + 1 :]]}
    for key in ("K", "S", "M", "local_steps"):
        if key in spec and not (still and key == "K"):
            for value in range(1, min(int(spec[key]), 13)):
                yield {**spec, key: value}
            for part in (4, 2):
                if int(spec[key]) // part > 12:
                    yield {**spec, key: int(spec[key]) // part}
            if int(spec[key]) > 13:
                yield {**spec, key: int(spec[key]) - 1}


def _jointly(spec: Spec, still: bool) -> Iterator[Spec]:
    """Several numbers at once: everybody present, the same centre, the same curvature, and other units."""
    clients = spec["clients"]
    for key, value in (("p", "1"), ("a", "0"), ("h", "1")):
        same = [{**c, key: value if key == "p" else [value] * len(c[key])} for c in clients]
        yield {**spec, "clients": same}
    centres = [rational(a, "a") for c in clients for a in c["a"]]
    start = rational(spec["theta0"], "theta0")
    for origin in dict.fromkeys([*centres, start]):
        yield {**_mapped(spec, "a", lambda a, o=origin: a - o), "theta0": fraction_text(start - origin)}
    for unit in dict.fromkeys(abs(x) for x in [*centres, start] if x):
        yield {**_mapped(spec, "a", lambda a, u=unit: a / u), "theta0": fraction_text(start / unit)}
    yield {**_mapped(spec, "a", lambda a: -a), "theta0": fraction_text(-start)}
    step = rational(spec["step"], "step")
    for unit in dict.fromkeys([*(abs(rational(h, "h")) for c in clients for h in c["h"]), 1 / step]):
        if unit:
            yield {**_mapped(spec, "h", lambda h, u=unit: h / u), "step": fraction_text(step * unit)}


def _mapped(spec: Spec, key: str, change: Callable[..., Fraction]) -> dict[str, Any]:
    return {
        **spec,
        "clients": [{**c, key: [fraction_text(change(rational(v, key))) for v in c[key]]} for c in spec["clients"]],
    }


def _numbers(spec: Spec, still: bool) -> Iterator[Spec]:
    """Each number by itself made simpler."""
    clients = spec["clients"]
    for n, client in enumerate(clients):
        for key in ("h", "a"):
            for i, text in enumerate(client[key]):
                for value in _simpler(rational(text, key)):
                    entries = [*client[key][:i], fraction_text(value), *client[key][i + 1 :]]
                    yield {**spec, "clients": [*clients[:n], {**client, key: entries}, *clients[n + 1 :]]}
        for value in _simpler(rational(client["p"], "p")):
            if 0 < value <= 1:
                yield {**spec, "clients": [*clients[:n], {**client, "p": fraction_text(value)}, *clients[n + 1 :]]}
    for value in _simpler(rational(spec["step"], "step")):
        if value > 0:
            yield {**spec, "step": fraction_text(value)}
    if not still:
        for value in _simpler(rational(spec["theta0"], "theta0")):
            yield {**spec, "theta0": fraction_text(value)}


def height(value: Fraction) -> int:
    """|p| + q of p/q in lowest terms."""
    return abs(value.numerator) + value.denominator


def _simpler(value: Fraction) -> list[Fraction]:
    """The simplest first: all of height up to `SMALL`, then those on the way to the value, and its absolute value."""
    small = [
        Fraction(sign * p, total - p)
        for total in range(1, SMALL + 1)
        for p in range(total)
        if gcd(p, total - p) == 1
        for sign in ((1, -1) if p else (1,))
    ]
    near = [simplest_near(float(value), tolerance) for tolerance in TOLERANCES]
    own = height(value)
    found = {v for v in (*small, *near, abs(value)) if height(v) < own or 0 < -value == v}
    return sorted(found, key=lambda v: (height(v), abs(v - value), v))
