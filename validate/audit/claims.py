"""What can be told of a claim without a verdict on it: units, dead names and hypotheses, constants, what k = 0 says.

    from validate.audit.claims import audit_claim

    found = audit_claim("my_paper.py:noise-ball", quick=True)
    print(found)                       # a table
    found["units"].outcome             # consistent, suspicious or undecided

Everything is read off the claim, or seen on instances made from it. A suspicion is a place to look at: it refutes
nothing, and a claim without any may be false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from theory.comparison import OPPOSITE
from theory.formula import Name
from theory.predicates import Predicate
from theory.program import Loop
from theory.sentence import SentenceError, everything, index_of
from validate.breaks import accepted
from validate.counted import counted
from validate.in_words import described
from validate.instances.candidates import candidate_of, realised
from validate.instances.hunt import hunt
from validate.instances.pool import drawn, fitting_sizes
from validate.instances.seen import Seen, measured
from validate.instances.units import units_of
from validate.measurement import sentence_of

Outcome = Literal["consistent", "suspicious", "undecided"]
INSTANCES = {True: 40, False: 200}
"""Instances on which a claim is looked at, quick and full."""
POOL = {True: (60, 60), False: (300, 400)}
"""Instances and evaluations that a claim without one of its hypotheses is tried on, quick and full."""
_ROUNDING = 1e-12  # of sides with roots, relative
WORSE = Fraction(2)
"""By which constants are made worse."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: ``units``, ``names``, ``hypothesis TEXT``, ``constant NAME``, ``the start``.
        outcome: what was found; ``undecided`` where it cannot be told.
        detail: why, in words.
    """

    name: str
    outcome: Outcome
    detail: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "outcome": self.outcome, "detail": self.detail}


@dataclass(frozen=True)
class ClaimAudit:
    """What was found of a claim.

    Attributes:
        id: of the claim.
        checks: in order.
        units: of its parameters, as far as they are known: powers of x and f.
    """

    id: str
    checks: tuple[Check, ...]
    units: Mapping[str, str]

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    @property
    def suspicions(self) -> tuple[Check, ...]:
        """The checks that found something to look at."""
        return tuple(check for check in self.checks if check.outcome == "suspicious")

    @property
    def summary(self) -> str:
        """How many of its checks found something to look at."""
        return f"{self.id}: {counted(len(self.suspicions), 'suspicion')} in {counted(len(self.checks), 'check')}"

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "units": dict(self.units), "checks": [check.to_json() for check in self.checks]}

    def __str__(self) -> str:
        lines = [self.summary]
        lines += [f"  {check.outcome:10}  {check.name}: {check.detail}" for check in self.checks]
        return "\n".join(lines)


def audit_claim(
    claim: Claim | str, *, quick: bool = False, seed: int = 0, tell: Callable[[str], None] = lambda _: None
) -> ClaimAudit:
    """What can be told of a claim that is a sentence.

    Args:
        claim: the claim, its id, or ``my_paper.py:label``.
        quick: fewer instances.
        seed: of the instances.
        tell: called with one line of text.

    Raises:
        ValueError: for a claim that is not known, or is no sentence.
        OSError: for a file that cannot be read.
    """
    named = sentence_of(claim)
    units = _units(named)
    tell(f"{named.id}: instances")
    seen = _seen(named, INSTANCES[quick], seed)
    checks = [units, _names(named), _start(named, seen)]
    checks += [_constant(named, name, seen) for name in named.constants]
    for text in (*named.assuming, *named.standing):
        tell(f"{named.id}: without {text}")
        checks.append(_hypothesis(named, text, quick, seed))
    found = units_of(named)
    shown = {symbol: str(found.of(index_of(symbol)[0])) for symbol in named.symbols}
    return ClaimAudit(named.id, tuple(checks), shown)


def _seen(claim: Claim, count: int, seed: int) -> list[Seen]:
    sizes = fitting_sizes(claim)
    tried = (drawn(claim, seed + i, sizes=sizes) for i in range(count))
    found = (measured(claim, one) for one in tried if one is not None)
    return [seen for seen in found if seen is not None]


# --- the texts -------------------------------------------------------------------------------------------------------


def _units(claim: Claim) -> Check:
    found = units_of(claim)
    if found.unknown:
        return Check("units", "undecided", "; ".join(found.unknown))
    if found.conflicts:
        text = f"{'; '.join(found.conflicts)} (x is the unit of points, f that of the functions)"
        return Check("units", "suspicious", f"it depends on the units that are chosen: {text}")
    return Check("units", "consistent", "both sides scale alike when points and functions are given in other units")


def _names(claim: Claim) -> Check:
    """Definitions that nobody uses, and parameters of the algorithm that do nothing in it."""
    trees: list[Any] = [*claim.sentence.sides]
    trees += [side for relation in claim.relations for side in relation.sides]
    trees += [constant for one in claim.predicates for constant in one.constants]
    used = claim.definitions_in(trees)
    idle = [f"the definition {name} is used nowhere" for name in claim.where if name not in used]
    if claim.program is not None:
        acting = _acting(claim)
        idle += [f"the algorithm does nothing with {name}" for name in claim.program.parameters if name not in acting]
    if idle:
        return Check("names", "suspicious", "; ".join(idle))
    return Check("names", "consistent", "every definition and every parameter is used")


def _acting(claim: Claim) -> set[str]:
    """The names that instructions of the algorithm use."""
    from theory.program import names_in

    program = claim.program
    assert program is not None
    found: set[str] = set()
    for step in program.steps:
        if isinstance(step, Loop):
            found |= names_in(step.count) if step.count is not None else frozenset()
        else:
            found |= {step.label, *(name for number in step.numbers for name in names_in(number))}
    for state in program.state:
        found |= names_in(state.length) if state.length is not None else frozenset()
        found |= {part.name for part in everything(_initial(state.initial)) if isinstance(part, Name)}
    return found


def _initial(text: str) -> Any:
    from theory.sentence import parse_expression

    return parse_expression(text)


# --- instances -------------------------------------------------------------------------------------------------------


def _start(claim: Claim, seen: list[Seen]) -> Check:
    """What the claim says at k = 0, where nothing has happened yet."""
    if "k" not in claim.free:
        return Check("the start", "undecided", "it does not speak of every round k")
    rows = [row for one in seen for row in one.measured.rows if row.at.get("k") == 0 and row.left is not None]
    if claim.of is not None and any(row.status == "broken" for row in rows):
        return Check("the start", "suspicious", "at k = 0 it is broken on an instance")
    if not rows:
        return Check("the start", "undecided", "no instance says anything at k = 0")
    same = sum(row.left == row.right for row in rows)
    how = "both sides are the same" if same == len(rows) else f"both sides are the same in {same}"
    return Check("the start", "consistent", f"at k = 0 it holds in {len(rows)} cases; {how}")


def _constant(claim: Claim, name: str, seen: list[Seen]) -> Check:
    """Whether the claim says less where a constant of its assumptions is worse, as it says it of every constant."""
    direction, label = claim.constants[name], f"constant {name}"
    if claim.of is not None and name in claim.of.parameters:
        return Check(label, "undecided", f"the algorithm runs with {name}: another value is another run")
    if direction == "exact":
        return Check(label, "undecided", "it has one value on an instance")
    weaker = stronger = same = 0
    for one in seen:
        value = one.drawn.values.get(name)
        if not isinstance(value, Fraction):
            continue
        bound = {other: one.drawn.values[other] for other in claim.constants if other in one.drawn.values}
        worse = value * WORSE if direction == "up" else value / WORSE
        again = realised(claim, candidate_of(one.drawn), {**bound, name: worse})
        other = None if again is None else measured(claim, again)
        for change in _changes(claim, one, other):
            weaker, stronger, same = weaker + (change > 0), stronger + (change < 0), same + (change == 0)
    count = weaker + stronger + same
    way = "larger" if direction == "up" else "smaller"
    if not count:
        return Check(label, "undecided", f"no instance leaves room for a {way} {name}")
    if stronger:
        text = f"a {way} {name} is a constant too, and makes it say more in {stronger} of {count} cases"
        return Check(label, "suspicious", text)
    text = f"it says no more for a {way} {name}: less in {weaker} of {count} cases, the same in {same}"
    return Check(label, "consistent", text)


def _changes(claim: Claim, one: Seen, other: Seen | None) -> Iterator[int]:
    """By how the room between both sides changes: 1 for more, -1 for less."""
    if other is None or claim.sentence.relation == "==":
        return
    sign = 1 if claim.sentence.relation in ("<=", "<") else -1
    rows = {tuple(row.at.items()): row for row in other.measured.rows if row.left is not None}
    for row in one.measured.rows:
        there = rows.get(tuple(row.at.items()))
        if row.left is None or there is None:
            continue
        sides = (row.left, row.right, there.left, there.right)
        exact = all(isinstance(side, Fraction) for side in sides)
        one_left, one_right, left, right = sides if exact else map(float, sides)
        before, after = sign * (one_right - one_left), sign * (right - left)
        slack = 0 if exact else _ROUNDING * (abs(one_left) + abs(one_right) + abs(left) + abs(right))
        yield 1 if after > before + slack else -1 if after < before - slack else 0


def _hypothesis(claim: Claim, text: str, quick: bool, seed: int) -> Check:
    """Whether a hypothesis is needed: without it the claim is refuted; or it follows from the others."""
    label = f"hypothesis {text}"
    less = replace(
        claim,
        assuming=tuple(one for one in claim.assuming if one != text),
        standing=tuple(one for one in claim.standing if one != text),
        given=(),
    )
    try:
        _ = less.symbols, less.constants
    except SentenceError as error:
        return Check(label, "undecided", f"without it the claim says nothing: {error}")
    if _implied(claim, less, text):
        return Check(label, "suspicious", "it follows from the other relations and the domains of the parameters")
    pool, evaluations = POOL[quick]
    found = hunt(
        less,
        pool=pool,
        evaluations=evaluations,
        seed=seed,
        accepted=lambda one: accepted(less, one, True),
        smallest=False,
    )
    if found.broken is not None:
        return Check(label, "consistent", f"needed: without it the claim is broken ({described(found.broken.drawn)})")
    if not found.seen:
        return Check(label, "undecided", "without it no instance says anything")
    text = f"without it nothing broke the claim on {len(found.seen)} instances: it may not be needed"
    return Check(label, "undecided", text)


def _implied(claim: Claim, less: Claim, text: str) -> bool:
    """Whether a relation between numbers follows from the others, by a proof that its opposite contradicts them."""
    from validate.contradiction import contradictions

    one = claim.assumptions[(*claim.assuming, *claim.standing).index(text)]
    if isinstance(one, Predicate) or one.relation == "==":
        return False
    denied = replace(less, assuming=(*less.assuming, str(replace(one, relation=OPPOSITE[one.relation]))))  # type: ignore[arg-type]
    together = contradictions(denied)
    alone = contradictions(less)
    return any(item.outcome == "vacuous" for item in together) and not any(item.outcome == "vacuous" for item in alone)
