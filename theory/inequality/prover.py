"""Prove or refute a statement about vectors of a Hilbert space, with evidence that anybody can re-check.

A statement is linear in inner products and function values; hypotheses are of the same kind, and may be the
interpolation conditions of function classes (`theory.inequality.interpolation`), expectations over
finitely many outcomes (`theory.inequality.vectors.expectation`), or plain norms. It holds if and only if it holds for
every Gram matrix, so a semidefinite program decides it, up to rounding. What is returned has been checked in exact
arithmetic:

- `Proof`: rational multipliers of the hypotheses and a residual that is a sum of squares;
- `Refutation`: explicit vectors with rational coordinates, a quadratic through them where one was found;
- `Undecided`: neither, with the solver's status.

    space = Space(("a", "b"))
    a, b = space.vectors_of()
    prove(square(a + b) <= 2 * square(a) + 2 * square(b), (), space)          # Proof
    prove(square(a + b) <= "1.9" * square(a) + 2 * square(b), (), space)      # Refutation, with vectors
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.inequality.configuration import Configuration
from theory.inequality.counterexample import exact_counterexample, worst
from theory.inequality.exact_dual import exact_proof
from theory.inequality.gram import Certificate, residual
from theory.inequality.interpolation import Interpolated
from theory.inequality.psd import ldl
from theory.inequality.quadratic_witness import Coordinates, QuadraticWitness, quadratic_counterexample
from theory.inequality.vectors import Condition, Form, Space, Vector

logger = logging.getLogger(__name__)

CLEAR = 1e-3  # a normalised violation above which no proof is looked for
LIKELY = 1e-6  # below which the claim is more likely true than false
SMALL = 1e-9  # and below which no counterexample is


@dataclass(frozen=True)
class Proof:
    """Multipliers that prove a claim.

    For ``claim.form <= 0``: claim.form = sum_i y_i (condition i) - <R, G> - slack with y_i >= 0 where condition i is an
    inequality, R positive semidefinite and slack >= 0. An equation has two such certificates.

    Attributes:
        claim: what is proved.
        given: p hypotheses, those of the functions last.
        certificates: one for ``claim.form <= 0``, and for an equation a second one for ``-claim.form <= 0``; or one for
            ``1 <= 0``, where the hypotheses contradict each other and so imply everything.
    """

    claim: Condition
    given: tuple[Condition, ...]
    certificates: tuple[Certificate, ...]

    def __bool__(self) -> bool:
        return True

    @property
    def multipliers(self) -> tuple[Fraction, ...]:
        """Those of the first certificate, (p,)."""
        return self.certificates[0].multipliers

    @property
    def used(self) -> dict[str, Fraction]:
        """The hypotheses that the first certificate uses, by name, with their multipliers."""
        pairs = enumerate(zip(self.given, self.multipliers, strict=True))
        return {c.name or f"hypothesis {i}": y for i, (c, y) in pairs if y}

    @property
    def contradictory(self) -> bool:
        """Whether what is proved is that the hypotheses cannot hold together."""
        return len(self.certificates) == 1 and self.certificates[0].objective == self.claim.form.space.constant(1)

    def check(self) -> bool:
        """Whether it proves the claim, computed afresh from claim, hypotheses and multipliers."""
        forms = [self.claim.form.space.constant(1)] if self.contradictory else sides(self.claim)
        return len(self.certificates) == len(forms) and all(
            c.objective == form and c.conditions == self.given and c.bound <= 0 and c.check()
            for c, form in zip(self.certificates, forms, strict=True)
        )

    def squares(self, side: int = 0) -> list[tuple[Fraction, Vector]]:
        """The residual of a certificate as a sum of squares: weights > 0 and vectors.

        certificate.objective = sum_i y_i (condition i) - sum_k weight_k |vector_k|^2 + bound, with bound <= 0.
        """
        certificate = self.certificates[side]
        matrix, _, _ = residual(certificate.objective, certificate.conditions, certificate.multipliers)
        factors, space = ldl(matrix), self.claim.form.space
        if factors is None:
            raise ValueError(f"multipliers={certificate.multipliers!r} are outside those that prove the claim")
        return [
            (d, Vector(space, {i: row[k] for i, row in enumerate(factors.lower) if row[k]}))
            for k, d in enumerate(factors.diagonal)
            if d
        ]


@dataclass(frozen=True)
class Refutation:
    """Explicit vectors that satisfy the hypotheses and break the claim.

    Attributes:
        claim: what is refuted.
        given: p hypotheses, those of the functions last.
        configuration: coordinates of the basis vectors, and the values.
        functions: for each function given to `prove`, the quadratic through its points; empty if none was found. (The
            points then satisfy the interpolation conditions, so a function of the class exists all the same.)
    """

    claim: Condition
    given: tuple[Condition, ...]
    configuration: Configuration
    functions: tuple[QuadraticWitness, ...] = ()

    def __bool__(self) -> bool:
        return False

    @property
    def excess(self) -> Fraction:
        """How far the claim's form is from what is claimed (above 0; in absolute value for an equation)."""
        left = Fraction(self.claim.form.at(self.configuration.gram(), self.configuration.values))
        return abs(left) if self.claim.relation == "==" else left

    @property
    def vectors(self) -> dict[str, tuple[Fraction, ...]]:
        """Coordinates by name; coordinate k is in units of sqrt(configuration.weights[k])."""
        return dict(zip(self.claim.form.space.vectors, self.configuration.coordinates, strict=True))

    @property
    def values(self) -> dict[str, Fraction]:
        """Function values by name."""
        return dict(zip(self.claim.form.space.values, self.configuration.values, strict=True))

    def points(self, function: Interpolated) -> list[tuple[Coordinates, Coordinates, Fraction]]:
        """Positions, gradients and values of a function at its points, in coordinates."""
        point = self.configuration
        gram = point.gram()
        return [(point.at(x), point.at(g), Fraction(f.at(gram, point.values))) for x, g, f in function.points]

    def check(self) -> bool:
        """Whether it is a counterexample, computed afresh from the coordinates."""
        point = self.configuration
        space = self.claim.form.space
        shape = len(point.coordinates) == len(space.vectors) and len(point.values) == len(space.values)
        if (
            not shape
            or any(len(row) != len(point.weights) for row in point.coordinates)
            or min(point.weights, default=1) <= 0
        ):
            return False
        return any(point.breaks(form, self.given) for form in sides(self.claim)) and all(
            f.check(point) for f in self.functions
        )


@dataclass(frozen=True)
class Undecided:
    """Neither proved nor refuted.

    Attributes:
        claim: the claim.
        status: the solver's.
        violation: the largest violation on the normalised cone, as the solver has it; about 0 suggests that it is true.
        reason: what was tried.
    """

    claim: Condition
    status: str
    violation: float
    reason: str

    def __bool__(self) -> bool:
        return False


def prove(
    claim: Condition | Form, given: Sequence[Condition], space: Space, *, functions: Sequence[Interpolated] = ()
) -> Proof | Refutation | Undecided:
    """Prove or refute a claim.

    Args:
        claim: a condition, or a form that is claimed to be at most 0.
        given: the hypotheses.
        space: n vectors and m values; any dimension is meant, so n always suffices.
        functions: functions known at points; their interpolation conditions are added to the hypotheses, and a
            counterexample is sought among quadratics first.

    Returns:
        A `Proof` or a `Refutation`, checked, or `Undecided`. Contradictory hypotheses
        prove everything, and the proof says so where it uses that.

    Raises:
        ValueError: a form of another space.
    """
    stated = Condition("claim", claim, "<=") if isinstance(claim, Form) else claim
    hypotheses = (*given, *[c for f in functions for c in f.conditions()])
    for form in (stated.form, *[c.form for c in hypotheses]):
        if form.space != space:
            raise ValueError(f"space={space!r} is outside the space of a form, {form.space!r}")
    certificates = []
    for form in sides(stated):
        outcome = _decide(stated, form, hypotheses, tuple(functions))
        if isinstance(outcome, Undecided) and (contradiction := contradicted(hypotheses, space)) is not None:
            certificates = [contradiction]
            break
        if not isinstance(outcome, Certificate):
            return outcome
        certificates.append(outcome)
    proof = Proof(stated, hypotheses, tuple(certificates))
    return proof if proof.check() else Undecided(stated, "optimal", 0.0, "the certificate failed its own check")


def contradicted(given: tuple[Condition, ...], space: Space) -> Certificate | None:
    """A proof that hypotheses cannot hold together, if one is found."""
    absurd = space.constant(1)
    solution = worst(absurd, given)
    if not solution.status.startswith("optimal") or solution.value > CLEAR:
        return None
    return exact_proof(absurd, given, solution.multipliers[: len(given) + 1])


def sides(claim: Condition) -> list[Form]:
    """The forms that have to be at most 0."""
    return [claim.form] if claim.relation == "<=" else [claim.form, -claim.form]


def _decide(
    claim: Condition, form: Form, given: tuple[Condition, ...], functions: tuple[Interpolated, ...]
) -> Certificate | Refutation | Undecided:
    solution = worst(form, given)
    violation = solution.value if solution.status.startswith("optimal") else float("nan")
    logger.debug("normalised violation %.3e (%s)", violation, solution.status)
    likely_true = not violation > LIKELY
    for proving in (likely_true, not likely_true):  # the likelier answer first; each is checked exactly
        if proving and not violation > CLEAR:
            certificate = exact_proof(form, given, solution.multipliers[: len(given) + 1])
            if certificate is not None:
                return certificate
        if not proving and violation > SMALL:
            refutation = _refuted(claim, form, given, functions, violation)
            if refutation is not None:
                return refutation
    tried = "no rational multipliers found" if not violation > CLEAR else "no exact counterexample found"
    return Undecided(claim, solution.status, violation, tried)


def _refuted(
    claim: Condition, form: Form, given: tuple[Condition, ...], functions: tuple[Interpolated, ...], violation: float
) -> Refutation | None:
    quadratic = quadratic_counterexample(form, given, functions)
    if quadratic is not None:
        refutation = Refutation(claim, given, *quadratic)
        if refutation.check():
            return refutation
    point = exact_counterexample(form, given, violation)
    if point is None:
        return None
    refutation = Refutation(claim, given, point)
    return refutation if refutation.check() else None
