"""Lines of proofs by algebra, and sampling by enumerating every outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.algebra import checked_lines, holds, same
from validate.verdict import Evidence

# Numbers to draw from; every outcome is enumerated, so the list is short.
POPULATION = tuple(Fraction(x) for x in ("3", "-1/2", "0", "7/3", "1", "-4"))
LARGEST_ORDER = 5


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """The proof of a claim, where it has one here; never a certificate."""
    evidence: list[Evidence] = []
    find = _SPECIAL.get(claim.label)
    if find is not None:
        evidence += find(claim)
    return evidence, None


def _by_algebra(claim: Claim, how: str, more: Mapping[str, bool] | None = None) -> Evidence:
    """The claim's scalar lines, all of which have to be identities."""
    domains = {p.name: p.domain for p in claim.parameters}
    lines = {s.label: bool(holds(s, domains)) for s in claim.steps if s.identity is not None} | dict(more or {})
    return checked_lines(lines, how)


def _right(claim: Claim, **parameters: Any) -> Fraction:
    from theory.evaluate import exact

    return exact(claim, parameters)


def _enumerated(claim: Claim, pairs: Sequence[tuple[str, Fraction, Fraction]], what: str) -> Evidence:
    """Two sides that have to be equal, in fractions."""
    wrong = [name for name, left, right in pairs if left != right]
    if wrong:
        return Evidence("exact", "fails", f"{what}: the two sides differ at {wrong[0]}", data={"broken": wrong})
    return Evidence("exact", "holds", f"{what}: equal in all {len(pairs)} cases, in fractions", tightness=1.0)


def _centred(numbers: Sequence[Fraction]) -> tuple[list[Fraction], Fraction]:
    """Numbers minus their mean, and their variance."""
    middle = sum(numbers, Fraction(0)) / len(numbers)
    away = [x - middle for x in numbers]
    return away, sum([x * x for x in away], Fraction(0)) / len(numbers)


def _subsets(claim: Claim) -> list[Evidence]:
    """Every subset of every size; and how often one, and two, given numbers are in it."""
    pairs, often = [], []
    for n in range(2, len(POPULATION) + 1):
        away, sigma2 = _centred(POPULATION[:n])
        for size in range(1, n + 1):
            chosen = list(combinations(range(n), size))
            left = sum([(sum([away[i] for i in s], Fraction(0)) / size) ** 2 for s in chosen], Fraction(0))
            right = _right(claim, count=n, size=size, sigma2=sigma2)
            pairs.append((f"n={n}, S={size}", left / len(chosen), right))
            once = Counter(i for s in chosen for i in s)
            twice = Counter(pair for s in chosen for pair in combinations(s, 2))
            often += [Fraction(c, len(chosen)) == Fraction(size, n) for c in once.values()]
            often += [Fraction(c, len(chosen)) == Fraction(size * (size - 1), n * (n - 1)) for c in twice.values()]
    how = "second moments of the inclusions, for every n and S"
    same_side = {"the claim": same(claim.right or "0", "(count-size)/(size*(count-1))*sigma2")}
    return [
        _by_algebra(claim, how, {**same_side, "inclusion probabilities, enumerated": all(often)}),
        _enumerated(claim, pairs, f"every subset of up to {len(POPULATION)} numbers"),
    ]


def _orders(claim: Claim) -> list[Evidence]:
    """Every order; and the sum over the prefixes in closed form."""
    import sympy

    pairs = []
    for n in range(2, LARGEST_ORDER + 1):
        away, sigma2 = _centred(POPULATION[:n])
        orders = list(permutations(away))
        left = sum([sum(order[:j], Fraction(0)) ** 2 for order in orders for j in range(1, n)], Fraction(0))
        pairs.append((f"n={n}", left / len(orders), _right(claim, count=n, sigma2=sigma2)))
    j, n, s = sympy.symbols("j count sigma2", positive=True)
    total = sympy.summation(j * (n - j) / (n - 1) * s, (j, 1, n - 1))
    from theory.expression import right_side

    symbols = {p.symbol: {"count": n, "sigma2": s}[p.name] for p in claim.parameters}
    closed = bool(sympy.simplify(total - right_side(claim).subs(symbols, simultaneous=True)) == 0)
    return [
        _by_algebra(claim, "without-replacement at every prefix, summed", {"sum over the prefixes": closed}),
        _enumerated(claim, pairs, f"every order of up to {LARGEST_ORDER} numbers"),
    ]


_SPECIAL: dict[str, Callable[[Claim], list[Evidence]]] = {
    "without-replacement": _subsets,
    "reshuffling": _orders,
}
