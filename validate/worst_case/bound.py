"""How large the left side of a claim can be against its right side, over a class of functions: proved and attained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from theory.worst_case.assembly import Estimation, estimation
from theory.worst_case.bound import TOLERANCE, enclose
from theory.worst_case.certificate import Instance, UpperBound
from theory.worst_case.forms import Extreme, Form, Linear, NotLinearError
from theory.worst_case.rounded import scale_of, size_of
from validate.instances.pool import Drawn
from validate.worst_case.attack import instance_of
from validate.worst_case.numbers import Numbers, numbers_of
from validate.worst_case.reading import ROOM, Case, LargeReadingError, NoReadingError, Reading, read_claim

START = 1
"""The place of x0 - x* among the basis vectors of a reading; in the program, it is the first."""
LITTLE = 24
"""Basis vectors that a reading is given at first, and"""
MORE = 3
"""how many times as many when that was too little."""
Status = Literal["proved", "bounded", "attained", "undecided"]


@dataclass(frozen=True)
class WorstRatio:
    """The largest ratio of the left side to the right side, enclosed.

    Attributes:
        status: "proved" (both sides, as close as was asked), "bounded" (a proved upper bound), "attained" (a lower
            bound alone), or "undecided".
        upper: left is at most this times right on every instance at these numbers, in every dimension; or None.
        lower: the ratio on `instance` is at least this; or None.
        whole: whether the class is all that the assumptions allow; without it there is no `upper`.
        notes: in what the class is smaller.
        case: the values of the indices.
        squared: whether it is the ratio of the squares of both sides, as they are lengths.
        certificate: of the upper bound, for `problem`.
        attained: of the lower bound.
        problem: the semidefinite program.
        unit: one unit of its value in the ratio.
        reading: of the claim.
        message: the solver's words.
    """

    status: Status
    upper: Fraction | None
    lower: Fraction | None
    whole: bool
    notes: tuple[str, ...]
    case: Mapping[str, int]
    squared: bool
    certificate: UpperBound | None
    attained: Instance | None
    problem: Estimation
    unit: Fraction
    reading: Reading
    message: str

    @property
    def value(self) -> float:
        """The middle of the enclosure, or the bound that there is; nan without one."""
        known = [float(side) for side in (self.lower, self.upper) if side is not None]
        return sum(known) / len(known) if known else math.nan

    @property
    def instance(self) -> Drawn | None:
        """The functions that attain the lower bound, as exact points; None where clients were merged."""
        if self.attained is None or self.problem.merged:
            return None
        return instance_of(self.reading, self.problem, self.attained)

    def check(self) -> bool:
        """Re-checks both sides exactly."""
        program = self.problem.program
        upper = self.certificate is None or self.certificate.check(program)
        return upper and (self.attained is None or self.attained.check(program))

    def __str__(self) -> str:
        lower = "" if self.lower is None else f"{float(self.lower):.9g} <= "
        upper = "" if self.upper is None else f" <= {float(self.upper):.9g}"
        return f"{self.status}: {lower}left/right{upper}" if lower or upper else f"{self.status}: {self.message}"


def worst_case_of(
    claim: Claim,
    values: Mapping[str, Any] | Numbers,
    *,
    clients: int = 1,
    samples: int | tuple[int, ...] = 1,
    rounds: int = 1,
    at: Mapping[str, int] | None = None,
    room: int = ROOM,
    tolerance: Fraction = TOLERANCE,
    alike: bool = True,
) -> WorstRatio:
    """The largest ratio of a claim's left side to its right side (of ``>=``, of right to left), over all instances.

    Both sides have to be linear in inner products and values of functions, or the right side a number. The worst case
    is over all functions that the assumptions allow, in every dimension, and all starts.

    Args:
        claim: which. A right side such as ``norm2(x0 - xstar)`` gives the worst case of the left side alone.
        values: numbers for all its names but N, K and d; or as `validate.worst_case.reading.numbers_of` gives them.
        clients: N.
        samples: of every client, or of each.
        rounds: K.
        at: values of the sentence's free indices; those of the last round by default.
        room: basis vectors that the run may need.
        tolerance: relative width of the enclosure up to which it is "proved".
        alike: whether it is solved with less where clients or samples cannot be told apart; the value is the same.

    Raises:
        ValueError: for names that are missing; `NoReadingError` where the claim has no Gram reading.
    """
    counts = (samples,) * clients if isinstance(samples, int) else tuple(samples)
    if clients < 1 or len(counts) != clients or min(counts) < 1 or rounds < 1:
        raise ValueError(f"clients={clients}, samples={samples}, rounds={rounds} are outside the integers from 1 on")
    numbers = values if isinstance(values, Numbers) else numbers_of(claim, values)
    reading = _in_little_room(claim, numbers, counts, rounds, room, at or {})
    return ratio(reading, reading.cases[0], tolerance, alike=alike)


def _in_little_room(
    claim: Claim, numbers: Numbers, samples: tuple[int, ...], rounds: int, room: int, at: Mapping[str, int]
) -> Reading:
    """A case of a claim at numbers: vectors are not much longer than they have to be, and no longer than `room`."""
    size = min(LITTLE, room)
    while True:
        try:
            return read_claim(claim, numbers, samples, rounds, size, at=at)
        except LargeReadingError:
            if size >= room:
                raise
            size = min(MORE * size, room)


def ratio(
    reading: Reading,
    case: Case,
    tolerance: Fraction = TOLERANCE,
    attained: bool = True,
    largest: int | None = None,
    alike: bool = True,
) -> WorstRatio:
    """The same for one case of a sentence that was read.

    Args:
        reading: of the claim.
        case: which.
        tolerance: relative width of the enclosure up to which it is "proved".
        attained: whether an instance is wanted beside the bound. There is none where more is read than the claim
            allows, or something is constant.
        alike: whether it is solved with less where clients or samples cannot be told apart.
        largest: the size of a program (`theory.worst_case.rounded.size_of`) above which it is not solved.
    """
    try:
        problem, unit = _problem(reading, case, alike)
    except NotLinearError as error:
        raise NoReadingError(str(error)) from None
    if not problem.program.families:
        raise NoReadingError("no two points of a function are looked at, so that its class says nothing")
    if largest is not None and size_of(problem.program) > largest:
        raise NoReadingError("its program is too large")
    free = _start_is_free(reading, case)
    attained = attained and not reading.larger and problem.scaled is None
    upper, lower, words = enclose(problem.program, tolerance, free, scale_of(problem.program), attained)
    whole = reading.classes.whole
    top = upper.bound * unit if upper is not None and whole else None
    bottom = None if lower is None else lower.value * unit
    status: Status = "undecided"
    if top is not None:
        near = bottom is not None and top - bottom <= tolerance * max(abs(top), abs(bottom))
        status = "proved" if near else "bounded"
    elif bottom is not None:
        status = "attained"
    return WorstRatio(
        status,
        top,
        bottom,
        whole,
        reading.classes.notes,
        case.at,
        case.squared,
        upper if whole else None,
        lower,
        problem,
        unit,
        reading,
        f"the solver ended with {', '.join(words)}",
    )


def _problem(reading: Reading, case: Case, alike: bool) -> tuple[Estimation, Fraction]:
    """Maximise left subject to right <= unit, where both are homogeneous; or left, where right is a number."""
    left, right = case.left, case.right
    if isinstance(left, Extreme) and left.how == "max":
        raise NoReadingError("a ratio of a greatest")
    if isinstance(right, Extreme):
        raise NoReadingError("a ratio to a least or a greatest")
    met = reading.met
    if right.is_number:
        size = Fraction(int(right.constant.p), int(right.constant.q)) if right.constant else Fraction(0)
        if size <= 0:
            raise NoReadingError("a ratio to a number that is not positive")
        return estimation(met, left, None, alike=alike), 1 / size
    if right.constant or not met.homogeneous or _has_constant(left):
        return estimation(met, left, None, alike=alike, bounded=right), Fraction(1)
    length = _size(reading, right)
    return estimation(met, left, None, [("the right side", Form(right.gram, right.values, -length))], alike), 1 / length


def _start_is_free(reading: Reading, case: Case) -> bool:
    """Whether nothing bounds x0 - x*, which matters only for x* to exist (`theory.worst_case.unbounded`)."""
    met, sides = reading.met, (case.left, case.right)
    if not met.minimiser or met.conditions or reading.unknown.start == reading.unknown.origin:
        return False
    forms = [form for side in sides for form in (side.forms if isinstance(side, Extreme) else (side,))]
    if any(START in key for form in forms for key in form.gram) or any(own.mu > 0 for own in met.classes.values()):
        return False
    return not any(any(points[0].g) for points in met.functions.values())


def _has_constant(side: Linear) -> bool:
    return any(form.constant for form in (side.forms if isinstance(side, Extreme) else (side,)))


def _size(reading: Reading, form: Form) -> Fraction:
    """The largest coefficient in the program's units."""
    scale, unit = reading.met.scale, reading.met.unit
    sizes = [abs(Fraction(int(c.p), int(c.q))) * scale[i] * scale[j] for (i, j), c in form.gram.items()]
    sizes += [abs(Fraction(int(c.p), int(c.q))) * unit for c in form.values.values()]
    return max(sizes)
