"""Who is tightest where: over a grid of numbers, the least bound of each quantity, beside what its algorithm does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from theory.claim import Claim
from theory.quantity import Measure, Where
from validate.compare.comparison import QUANTITIES, Row, compare, seen
from validate.compare.numbers import Numbers


@dataclass(frozen=True)
class Tightest:
    """The bounds of one quantity at one point of the grid.

    Attributes:
        numbers: the point.
        measure, where: the quantity.
        sampled: whether algorithms that see gradients of samples are meant, or those that see the clients'.
        row: the least promise, measured.
        others: the ids of the other claims that promise something, the least first.
        margin: the second promise over the first; None where there is no second.
    """

    numbers: Numbers
    measure: Measure
    where: Where
    sampled: bool
    row: Row
    others: tuple[str, ...]
    margin: float | None

    def to_json(self) -> dict[str, Any]:
        point = dict(vars(self.numbers))
        return {"numbers": point, "best": self.row.to_json(), "others": list(self.others), "margin": self.margin}


def grid(
    kappas: Sequence[float] = (10, 100, 1000),
    clients: Sequence[int] = (1, 10),
    base: Numbers | None = None,
) -> Iterator[Numbers]:
    """The points: L = 1, mu = 1/kappa, and the rest as in `base`. With the
    usual ones `tightest` takes some 20 s.

    Args:
        kappas: L/mu.
        clients: N; of several, the distance of their gradients is 1.
        base: the other numbers; 50 rounds of 5 local steps, 4 samples a client, where it is None.
    """
    base = base or Numbers(L=1.0, N=1, rounds=50, H=5, n=4, d=3)
    for kappa, N in product(kappas, clients):
        yield replace(base, L=1.0, mu=1 / kappa, N=N, sigma2=1.0, zeta=1.0 if N > 1 else None)


def tightest(
    claims: Iterable[Claim], points: Iterable[Numbers], verdicts: Mapping[str, str] | None = None
) -> tuple[Tightest, ...]:
    """The least promise of each quantity at each point; what is not ranked there does not count.

    Args:
        claims: those that are asked.
        points: the reader's numbers.
        verdicts: as of `validate.compare.comparison.compare`.
    """
    asked, verdicts = tuple(claims), verdicts or {}
    found = []
    for numbers in points:
        for measure in QUANTITIES:
            by: dict[tuple[Where, bool], list[Row]] = {}
            for row in compare(asked, numbers, measure, verdicts=verdicts, only=True).rows:
                by.setdefault((row.promise.quantity.where, row.sampled), []).append(row)
            for (where, sampled), rows in by.items():
                looked = ((seen(row, numbers), rows[at + 1 :]) for at, row in enumerate(rows))
                best, rest = next(((row, rest) for row, rest in looked if not row.struck), (None, []))
                if best is None:
                    continue
                margin = rest[0].value / best.value if rest and best.value > 0 else None
                others = tuple(row.promise.claim.id for row in rest)
                found.append(Tightest(numbers, measure, where, sampled, best, others, margin))
    return tuple(found)
