"""Exact worst cases of first-order and federated methods over classes of functions, proved on both sides.

    worst_case(GradientDescent(10, step=1), L=1, distance=1, metric="suboptimality")
    worst_case(FedAvg(clients=8, rounds=2, local_steps=5, step="0.1"), L=1, mu="0.1", distance=1, heterogeneity=1)

The worst case over all dimensions is the value of a semidefinite program (Drori and Teboulle 2014; Taylor, Hendrickx
and Glineur 2017). Its dual is solved in floats and turned into a proof of an upper bound; its primal into an explicit
instance that attains a lower bound. Both are checked exactly. What the solver says counts for nothing by itself:
without a certificate the outcome is `undecided`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from theory.worst_case.certificate import Instance, UpperBound, attain, certify
from theory.worst_case.inputs import (
    FedAvg,
    GradientDescent,
    Method,
    Real,
    StochasticGradientDescent,
    each,
    non_negative,
    number,
    positive,
    schedule,
)
from theory.worst_case.methods import LARGEST, METRICS, Group, Model, program, tree_size
from theory.worst_case.program import Program
from theory.worst_case.solver import EFFORTS, Effort, relaxations
from theory.worst_case.unbounded import lifted, widened, without_start

TOLERANCE = Fraction(1, 50_000)
_AIM = Fraction(1, 10**6)  # relative width at which the search for a narrower enclosure ends,
_REACH = Fraction(1, 10**7)  # or the width in normalised units: the margins of the solves
_RESCALED = 2  # times that the objective may be scaled anew, once its size is known
_PATIENT = 2  # efforts that are made for a narrower gap; the others only for a bound at all


@dataclass(frozen=True)
class WorstCase:
    """The worst case of a method over a class, enclosed.

    Attributes:
        status: "proved" (both sides, as close as was asked), "bounded" (a proved upper bound; the instance is further
            away or missing), or "undecided" (no proof of any bound).
        value: the middle of the enclosure as a float, the upper bound where there is no instance, nan if undecided.
        upper: proved upper bound, or None.
        lower: attained by `instance`, or None.
        certificate: of the upper bound, in normalised units.
        instance: that attains the lower bound, in normalised units.
        model: the problem in normalised units (largest L and the bounded initial length are 1).
        unit: one unit of the metric, `upper = certificate.bound * unit`.
        reduced: whether clients were merged: equivalence classes of clients that the code has found to be alike.
        seconds: wall-clock time.
        message: what was found, and what to do next where that helps.
    """

    status: str
    value: float
    upper: Fraction | None
    lower: Fraction | None
    certificate: UpperBound | None
    instance: Instance | None
    model: Model
    unit: Fraction
    reduced: bool
    seconds: float = field(compare=False)
    message: str

    @cached_property
    def program(self) -> Program:
        """The performance estimation problem, rebuilt from the model."""
        return program(self.model)

    def check(self) -> bool:
        """Re-checks both certificates exactly, from the model alone; True also where there are none to check."""
        upper = self.certificate is None or (
            self.upper == self.certificate.bound * self.unit and self.certificate.check(self.program)
        )
        lower = self.instance is None or (
            self.lower == self.instance.value * self.unit and self.instance.check(self.program)
        )
        return upper and lower

    def decimals(self, digits: int = 12) -> tuple[str | None, str | None]:
        """The lower bound rounded down and the upper bound rounded up, as text of so many significant digits."""

        def text(number: Fraction | None, rounding: str) -> str | None:
            if number is None:
                return None
            context = Context(prec=digits, rounding=rounding)
            return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))

        return text(self.lower, ROUND_FLOOR), text(self.upper, ROUND_CEILING)

    def to_json(self) -> dict[str, Any]:
        """As plain data, fractions as text."""
        return {
            "status": self.status,
            "value": self.value if math.isfinite(self.value) else None,
            "upper": None if self.upper is None else str(self.upper),
            "lower": None if self.lower is None else str(self.lower),
            "unit": str(self.unit),
            "reduced": self.reduced,
            "certificate": self.certificate and self.certificate.to_json(),
            "instance": self.instance and self.instance.to_json(),
            "message": self.message,
        }

    def __str__(self) -> str:
        lower, upper = self.decimals(9)
        if upper is None:
            return f"{self.status}: {self.message}"
        return f"{self.status}: {'' if lower is None else f'{lower} <= '}worst case <= {upper}"


def worst_case(
    method: Method,
    *,
    L: Real | Sequence[Real],
    mu: Real | Sequence[Real] = 0,
    metric: str = "squared_distance",
    distance: Real | None = None,
    gap: Real | None = None,
    heterogeneity: Real | None = None,
    variance: Real | None = None,
    reduce: bool = True,
    tolerance: Real = TOLERANCE,
) -> WorstCase:
    """The worst value of a metric that a method can end with, over all functions of a class in all dimensions.

    Numbers are read exactly: "0.1" and "1/10" are one tenth, a float is its binary value.

    Args:
        method: `GradientDescent`, `FedAvg` or `StochasticGradientDescent`.
        L: smoothness, above 0, of every client or of each.
        mu: strong convexity, in [0, L), of every client or of each; 0 is convex.
        metric: after the last step or round, "squared_distance" |x_K - x*|^2, "suboptimality" f(x_K) - f*,
            "squared_gradient_norm" |grad f(x_K)|^2; or "mean_squared_gradient_norm", the mean of |grad f(x_k)|^2 over
            k < K. Expected values where the method is random.
        distance: |x0 - x*|^2 is at most this; above 0.
        gap: f(x0) - f* is at most this; above 0. One of `distance` and `gap` is needed.
        heterogeneity: (1/N) sum_i |grad f_i(x*)|^2 is at most this; at least 0. Without it the clients' gradients at
            x* are not bounded, and with several clients no finite bound may be found.
        variance: of the noise of `StochasticGradientDescent`, which needs it; at least 0.
        reduce: merge clients that are alike (same mu and L, same local steps, all taking part in every round). The
            value is the same either way: `theory.worst_case.methods` says why.
        tolerance: relative width of the enclosure up to which it is "proved"; above 0.

    Raises:
        ValueError: an argument is outside of its domain, or the program would be too large.
    """
    started = time.perf_counter()
    wanted = positive("tolerance", tolerance)
    model, unit, reduced = _normalised(method, L, mu, metric, distance, gap, heterogeneity, variance, reduce)
    problem = program(model)
    upper, lower, words = enclose(problem, wanted, model.start_is_free)
    return _result(model, unit, reduced, upper, lower, wanted, words, time.perf_counter() - started)


def enclose(
    problem: Program,
    wanted: Fraction = TOLERANCE,
    free: bool = False,
    scale: float = 1.0,
    attained: bool = True,
) -> tuple[UpperBound | None, Instance | None, list[str]]:
    """A proved upper bound and an instance that attains a lower one, with growing effort, and the solver's words.

    Args:
        problem: with a bounded value.
        wanted: relative width of the enclosure at which no more effort is made.
        free: whether the start is bounded by its gap alone (`theory.worst_case.unbounded`).
        scale: what the objective is multiplied by at first.
        attained: whether an instance is wanted; without, one effort that gives a bound is enough.
    """
    upper: UpperBound | None = None
    lower: Instance | None = None
    words: list[str] = []
    efforts, rescaled = list(EFFORTS), 0
    while efforts:
        effort = efforts.pop(0)
        upper, lower, word = _improved(problem, free, replace(effort, scale=scale), upper, lower, wanted, attained)
        words.append(word)
        if _done(upper, lower, wanted) or "Infeasible" in word or (upper is not None and not attained):
            break
        if upper is None or upper.bound <= 0:
            continue
        efforts = [e for e in efforts if e in EFFORTS[:_PATIENT]]
        fit = 2.0 ** -round(math.log2(upper.bound))
        if rescaled < _RESCALED and not 1 / 8 < fit / scale < 8:
            scale, rescaled, efforts = fit, rescaled + 1, list(EFFORTS[:_PATIENT])
    return upper, lower, words


def _improved(
    problem: Program,
    free: bool,
    effort: Effort,
    upper: UpperBound | None,
    lower: Instance | None,
    wanted: Fraction,
    attained: bool,
) -> tuple[UpperBound | None, Instance | None, str]:
    """The better of what is known and what one effort finds, and the solver's last word."""
    word = ""
    small, places = without_start(problem) if free else (problem, None)
    for solved in relaxations(small, effort):
        word = solved.status
        if not solved.gram:
            break
        proof, instance = certify(small, solved), attain(small, solved) if attained else None
        if places is not None:
            proof = widened(proof, places) if proof is not None else None
            proof = proof if proof is not None and proof.check(problem) else None
            instance = lifted(problem, instance) if instance is not None else None
        if proof is not None and (upper is None or proof.bound < upper.bound):
            upper = proof
        if instance is not None and (lower is None or instance.value > lower.value):
            lower = instance
        if _done(upper, lower, wanted):
            break
    return upper, lower, word


def _done(upper: UpperBound | None, lower: Instance | None, wanted: Fraction) -> bool:
    """Whether the enclosure is narrow enough, and more effort is unlikely to narrow it by much."""
    if upper is None or lower is None:
        return False
    return upper.bound - lower.value <= max(_AIM * upper.bound, min(_REACH, wanted * upper.bound))


def _result(
    model: Model,
    unit: Fraction,
    reduced: bool,
    upper: UpperBound | None,
    lower: Instance | None,
    wanted: Fraction,
    words: Sequence[str],
    seconds: float,
) -> WorstCase:
    top = None if upper is None else upper.bound * unit
    bottom = None if lower is None else lower.value * unit
    if top is None:
        status, value = "undecided", math.nan
        message = f"no bound could be certified; the solver ended with {', '.join(words)}"
        if any("Infeasible" in w for w in words):
            message += "; the worst case may be infinite: bound what is free (distance, heterogeneity)"
    elif bottom is not None and top - bottom <= wanted * top:
        status, value, message = "proved", float(top + bottom) / 2, "upper bound certified, lower attained"
    else:
        status, value = "bounded", float(top) if bottom is None else float(top + bottom) / 2
        message = "the upper bound is certified; the best instance found lies further below it than was asked"
    return WorstCase(status, value, top, bottom, upper, lower, model, unit, reduced, seconds, message)


def _normalised(
    method: Method,
    L: Any,
    mu: Any,
    metric: str,
    distance: Real | None,
    gap: Real | None,
    heterogeneity: Real | None,
    variance: Real | None,
    reduce: bool,
) -> tuple[Model, Fraction, bool]:
    """The model in units in which the largest L and the bounded initial length are 1, and one unit of the metric.

    f(x) -> f(s x)/(L s^2) maps the class of (mu, L) onto that of (mu/L, 1) and the method with step h onto the one with
    step h L; metrics and bounds scale as below. Only s^2 appears, which is rational.
    """
    if not isinstance(method, GradientDescent | FedAvg | StochasticGradientDescent):
        raise ValueError(f"method={method!r} is outside {{GradientDescent, FedAvg, StochasticGradientDescent}}")
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is outside {{{', '.join(METRICS)}}}")
    clients = method.clients if isinstance(method, FedAvg) else 1
    smooth = [positive("L", x) for x in each("L", L, clients)]
    convex = [number("mu", x) for x in each("mu", mu, clients)]
    for m, bound in zip(convex, smooth, strict=True):
        if not 0 <= m < bound:
            raise ValueError(f"mu={m} is outside [0, L={bound})")
    r2 = None if distance is None else positive("distance", distance)
    delta = None if gap is None else positive("gap", gap)
    zeta2 = None if heterogeneity is None else non_negative("heterogeneity", heterogeneity)
    sigma2 = None if variance is None else non_negative("variance", variance)
    noisy = isinstance(method, StochasticGradientDescent)
    outcomes = method.outcomes if isinstance(method, StochasticGradientDescent) and sigma2 else None
    if noisy and sigma2 is None:
        raise ValueError("variance=None is outside [0, inf): StochasticGradientDescent needs a bound on its noise")
    if not noisy and sigma2 is not None:
        raise ValueError(f"variance={variance} is for StochasticGradientDescent; {type(method).__name__} has no noise")
    top = max(smooth)
    if r2 is not None:
        area = r2
    elif delta is not None:
        area = delta / top
    else:
        raise ValueError("distance=None and gap=None: one of the two is to bound the start")
    local = each("local_steps", method.local_steps, clients) if isinstance(method, FedAvg) else [1]
    drawn = method.participating if isinstance(method, FedAvg) and method.participating != clients else None
    kinds = list(zip([m / top for m in convex], [x / top for x in smooth], local, strict=True))
    groups = [Group(1, *kind) for kind in kinds]
    if reduce and drawn is None:
        groups = [Group(kinds.count(kind), *kind) for kind in dict.fromkeys(kinds)]
    count = method.rounds if isinstance(method, FedAvg) else method.steps
    model = Model(
        groups=tuple(groups),
        steps=tuple([h * top for h in schedule(method.step, count)]),
        participating=drawn,
        outcomes=outcomes,
        distance=None if r2 is None else r2 / area,
        gap=None if delta is None else delta / (top * area),
        heterogeneity=None if zeta2 is None else zeta2 / (top**2 * area),
        variance=Fraction(0) if sigma2 is None else sigma2 / (top**2 * area),
        metric=metric,
    )
    if tree_size(model) > LARGEST:
        raise ValueError(
            f"the outcomes of {method!r} make a tree of {tree_size(model)} models, outside [1, {LARGEST}]; "
            "take fewer rounds, clients or outcomes"
        )
    power = {"squared_distance": 0, "suboptimality": 1}.get(metric, 2)
    return model, top**power * area, any(g.clients > 1 for g in groups)


def unreduced(case: WorstCase) -> Model:
    """The model of a case with every client on its own: what the reduced one stands for."""
    groups = [replace(g, clients=1) for g in case.model.groups for _ in range(g.clients)]
    return replace(case.model, groups=tuple(groups))
