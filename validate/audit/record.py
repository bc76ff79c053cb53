"""What an audit found: constants, each with how well it is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from validate.certificate.exact_text import in_digits

Status = Literal["exact", "bound", "sample"]
Side = Literal["", "at least", "at most"]

MEANING: dict[str, str] = {
    "exact": "a closed form: a Fraction, or float64 up to its rounding",
    "bound": "proved ends of an interval that holds the constant, in float64 up to its rounding",
    "sample": "seen at some points only; what the constant is elsewhere is not known",
}


_BALL = "supremum over {ball} of {}, over the clients"
_VARIANCE, _GAP = "the variance of a sample's gradient", "||grad f_n - grad f||^2"
_BEST = "at the minimiser x* of f"
_OF = {"": "f", "_client": "every f_n", "_sample": "every sample's function"}
NAMES: dict[str, str] = {
    **{f"mu{suffix}": f"strong convexity of {words}" for suffix, words in _OF.items()},
    **{f"L{suffix}": f"smoothness of {words}" for suffix, words in _OF.items()},
    **{f"mu{suffix}_ball": f"strong convexity of {words} in {{ball}}" for suffix, words in _OF.items()},
    **{f"L{suffix}_ball": f"smoothness of {words} in {{ball}}" for suffix, words in _OF.items()},
    "PL": "Polyak-Lojasiewicz constant of f",
    "f_min": "minimum of f",
    "f_n_min": "mean over the clients of the minima of f_n",
    "sigma2_min": f"variance of a sample's gradient {_BEST}, largest over the clients",
    "zeta2_min": f"{_GAP} {_BEST}, largest over the clients",
    "heterogeneity_min": f"mean over the clients of ||grad f_n||^2 {_BEST}",
    "sigma2_all": _BALL.format(_VARIANCE, ball="R^d"),
    "zeta2_all": _BALL.format(_GAP, ball="R^d"),
    "sigma2_ball": _BALL.format(_VARIANCE, ball="{ball}"),
    "zeta2_ball": _BALL.format(_GAP, ball="{ball}"),
    "B2": "infimum of B^2 with mean ||grad f_n||^2 <= G^2 + B^2 ||grad f||^2 for some G",
    "G2": "least G^2 for that B^2",
    "f0_gap": "f(start) - f_min",
    "distance2": "||start - x*||^2",
}
"""What the symbols stand for."""


@dataclass(frozen=True)
class Measured:
    """One constant of a problem.

    Attributes:
        symbol: as in `Audit`.
        status: see `MEANING`.
        how: what was computed, in a line.
        source: where the fact is from.
        value: for "exact", the constant: a number, an infinity, or None when there is no such constant (`how` says
            why); for "sample", the extreme value that was seen.
        interval: for "bound", (lower, upper); None for an end that is not known.
        side: for "sample", how the constant compares with `value`: it is "at least" or "at most" that. A sample bounds
            nothing from the other side.
        each: the constant of each client, in their order, where it is known; None otherwise.
        ball: over which a supremum is, in words.
    """

    symbol: str
    status: Status
    how: str
    source: str
    value: Any = None
    interval: tuple[Any, Any] | None = None
    side: Side = ""
    each: tuple[Any, ...] | None = None
    ball: str = "the ball"

    @property
    def name(self) -> str:
        """The constant in words."""
        return NAMES[self.symbol].format(ball=self.ball)

    def __post_init__(self) -> None:
        if self.status not in MEANING:
            raise ValueError(f"{self.symbol}: status={self.status!r} is not one of {list(MEANING)}")
        given = {"value": self.value is not None, "interval": self.interval is not None, "side": self.side != ""}
        wanted = {"exact": ("value",), "bound": ("interval",), "sample": ("value", "side")}[self.status]
        wrong = [name for name, there in given.items() if there != (name in wanted)]
        if wrong and not (self.status == "exact" and wrong == ["value"]):  # there may be no such constant
            raise ValueError(f"{self.symbol}: {wrong[0]}={getattr(self, wrong[0])!r} with status={self.status!r}")

    @property
    def lower(self) -> Any:
        """What the constant is proved not to be below; None where nothing is, as for every sample."""
        return self.interval[0] if self.interval is not None else self.value if self.status == "exact" else None

    @property
    def upper(self) -> Any:
        """What the constant is proved not to be above; None where nothing is, as for every sample."""
        return self.interval[1] if self.interval is not None else self.value if self.status == "exact" else None

    @property
    def shown(self) -> str:
        """The constant in a few characters."""
        if self.status == "exact":
            return "none" if self.value is None else _brief(self.value)
        if self.status == "sample":
            return f"{'>=' if self.side == 'at least' else '<='} {_brief(self.value)} (seen)"
        lower, upper = self.interval or (None, None)
        return f"[{'?' if lower is None else _brief(lower)}, {'?' if upper is None else _brief(upper)}]"

    def to_json(self) -> dict[str, Any]:
        """Plain data; numbers as they are."""
        return {
            "symbol": self.symbol,
            "name": self.name,
            "status": self.status,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "side": self.side or None,
            "each": None if self.each is None else list(self.each),
            "how": self.how,
            "source": self.source,
        }


@dataclass(frozen=True)
class Audit:
    """The constants of a problem.

    Symbols: ``mu``, ``L`` of f; with ``_client`` the worst over the clients' f_n, with ``_sample`` over all samples'
    functions; ``PL`` of f; ``f_min``, ``f_n_min`` the minima; ``sigma2`` the largest variance over the clients of one
    sample's gradient, ``zeta2`` the largest ||grad f_n - grad f||^2 over the clients, ``heterogeneity`` the mean of
    ||grad f_n||^2, these with ``_min`` at the minimiser of f and with ``_ball`` the supremum over the ball; ``B2`` the
    infimum of B^2 with mean_n ||grad f_n||^2 <= G^2 + B^2 ||grad f||^2 for some G, and ``G2`` the least G^2 for the B^2
    that its `how` names; ``f0_gap`` and ``distance2`` are f(start) - f_min and ||start - x*||^2.

    Attributes:
        problem: what was measured.
        entries: what was found; a symbol may occur twice, with different status.
        omitted: symbols of what was not measured, each with the reason.
    """

    problem: str
    entries: tuple[Measured, ...]
    omitted: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.entries)

    def __contains__(self, symbol: object) -> bool:
        return any(entry.symbol == symbol for entry in self.entries)

    def __getitem__(self, symbol: str) -> Measured:
        """The entry of that symbol that says most: an exact one before a bound before a sample.

        Raises:
            KeyError: when there is none, with the reason where one is known.
        """
        for status in MEANING:
            for entry in self.entries:
                if entry.symbol == symbol and entry.status == status:
                    return entry
        reasons = dict(self.omitted)
        known = ", ".join(dict.fromkeys(entry.symbol for entry in self.entries))
        raise KeyError(f"{symbol}: {reasons[symbol]}" if symbol in reasons else f"{symbol} is not one of {known}")

    def to_json(self) -> dict[str, Any]:
        """Plain data; numbers as they are."""
        return {
            "problem": self.problem,
            "constants": [entry.to_json() for entry in self.entries],
            "omitted": [{"symbol": symbol, "reason": reason} for symbol, reason in self.omitted],
        }

    def __str__(self) -> str:
        rows = [(entry.symbol, entry.shown, entry.status, entry.name) for entry in self.entries]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)), row[3]])
            for row in rows
        ]
        return "\n".join([self.problem, *lines, *(f"{symbol}: not measured, {why}" for symbol, why in self.omitted)])


def _brief(value: Any) -> str:
    text = str(value)
    return text if isinstance(value, int | Fraction) and len(text) <= 16 else in_digits(value)
