"""Kind "permutations": a bound on an epoch of shuffling local SGD fails for too many orders of the clients.

The epoch is that of `epoch`: scalar quadratics, weights alpha on the simplex, v^r = start in W = `domain`. `noise` is
the spread e of the sampled gradients: every one is f_j' + e or f_j' - e with equal chances, independently.

The named quantity is computed for each of the N! orders s, in exact fractions, with g_j = f_j'(v^r):

    partial_sum     |sum of alpha_s(j) g_s(j) over the first n+1 clients|; n is a parameter of the claim
    epoch_bias_sum  (sum_j Q_s(j) g_s(j) - eta N K sum_j alpha_j g_j)^2
    epoch_part      |sum of Q_s(j) g_s(j) over the first N'-1 clients|; left.last is N' < N
    epoch_cross     (sum_{n=1}^{N-1} P_n Q_s(n+1) h_s(n+1) sum_{j<=n} Q_s(j) g_s(j))^2, where
                    P_n = prod_{j=N}^{n+2} (1 - Q_s(j) h_s(j))
    epoch_noise     E |sum_j prod_{j'>j} (1 - Q_s(j') h_s(j')) delta_j|, over the noise
    next_model_squared_distance
                    E (P_W(v^{r+1}) - v*)^2, over the noise; v* minimises sum_j alpha_j f_j on W

A claim "with probability at least 1-p" (p is among the parameters) is false if the quantity exceeds the right side for
more than p N! of the orders; left_value is its (1-p)-quantile: the least value that at most p N! orders exceed. Where
p is no parameter, left_value is the mean over the orders. The right side may hold square roots, logarithms and
exponentials; it is then an interval, and left > right counts only where it is certain.

Checked: the parameters are those of the epoch (mu <= h_j <= L, |f_j'| <= G on W, the variance e^2 at most delta^2, the
width of W at most D; R is any number of epochs), 0 < p < 1, the weights are a point of the simplex, v^r lies in W, the
hypotheses, the printed values, and the claimed relation is false.

What remains for the reader: the statement, the formula, its definitions and the hypotheses are those of the paper, and
the quantity is the one that the claim bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, Condition, check_conditions, hypothesis, introduce
from .epoch import FIELDS, Epoch, Order, read_epoch
from .formulas import evaluate, lookup, parse
from .intervals import Interval, certainly
from .reading import FormatError, fields, integer, list_of, number, read_numbers, shown, text_of

MOST_OUTCOMES = 50_000  # orders times outcomes of the noise, where it is played
STEP_CONDITION = "step size of the epochs"  # a hypothesis of that name without a relation is eta <= 1/(4NKRL)


@dataclass(frozen=True)
class Setting:
    """An epoch with its domain, its noise, and which part of it a quantity is about."""

    epoch: Epoch
    low: Fraction
    high: Fraction
    spread: Fraction
    last: int  # n of partial_sum, N' of epoch_part

    def noises(self) -> Iterator[list[list[Fraction]]]:
        """All outcomes of the noise, equally likely."""
        turns, steps = self.epoch.clients, self.epoch.local_steps
        if self.spread == 0:
            yield self.epoch.silent()
            return
        for signs in product((-1, 1), repeat=turns * steps):
            yield [[self.spread * s for s in signs[i * steps : (i + 1) * steps]] for i in range(turns)]

    def largest_gradient(self) -> Fraction:
        """sup over W of every |f_j'|, which is attained at an end."""
        return max(abs(self.epoch.gradient(j, v)) for j in range(self.epoch.clients) for v in (self.low, self.high))


def partial_sum(at: Setting, order: Order) -> Fraction:
    e = at.epoch
    return abs(sum((e.alpha[j] * e.gradient(j, e.start) for j in order[: at.last + 1]), Fraction(0)))


def moved(at: Setting, order: Order) -> Fraction:
    """The sum of Q_j g_j over these clients."""
    return sum((at.epoch.move(j) * at.epoch.gradient(j, at.epoch.start) for j in order), Fraction(0))


def epoch_bias_sum(at: Setting, order: Order) -> Fraction:
    e = at.epoch
    return (moved(at, order) - e.step * e.clients * e.local_steps * e.weighted_gradient) ** 2


def epoch_part(at: Setting, order: Order) -> Fraction:
    return abs(moved(at, order[: at.last - 1]))


def epoch_cross(at: Setting, order: Order) -> Fraction:
    e, total = at.epoch, Fraction(0)
    for n in range(1, e.clients):
        after = Fraction(1)
        for j in order[n + 1 :]:
            after *= e.factor(j)
        total += after * e.move(order[n]) * e.h[order[n]] * moved(at, order[:n])
    return total**2


def epoch_noise(at: Setting, order: Order) -> Fraction:
    silent = at.epoch.play(order, at.epoch.silent())
    values = [abs(at.epoch.play(order, noise) - silent) for noise in at.noises()]
    return sum(values, Fraction(0)) / len(values)


def next_model_squared_distance(at: Setting, order: Order) -> Fraction:
    best = at.epoch.minimiser(at.low, at.high)
    ends = [min(max(at.epoch.play(order, noise), at.low), at.high) for noise in at.noises()]
    return sum(((v - best) ** 2 for v in ends), Fraction(0)) / len(ends)


QUANTITIES: dict[str, Callable[[Setting, Order], Fraction]] = {
    "partial_sum": partial_sum,
    "epoch_bias_sum": epoch_bias_sum,
    "epoch_part": epoch_part,
    "epoch_cross": epoch_cross,
    "epoch_noise": epoch_noise,
    "next_model_squared_distance": next_model_squared_distance,
}


def verify_permutations(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    own = " domain noise parameters left relation right left_value right_value"
    fields(data, "the certificate", HEAD + FIELDS + own, "definitions note")
    given = read_numbers(data["parameters"], "parameters")
    quantity, at = read_setting(data, given)
    if data["relation"] != "<=":
        raise FormatError(f"relation={shown(data['relation'])} is not <=")

    checks = Checks()
    introduce(data)
    epoch = at.epoch
    checks.check(sum(epoch.alpha) == 1, "the weights are a point of the simplex")
    checks.check(at.low <= epoch.start <= at.high, f"v^r = {shown(epoch.start)} lies in W")
    values = check_parameters(checks, at, given)
    look = lookup(values, data.get("definitions"), roots=True)
    check_hypotheses(checks, data["hypotheses"], at, values, look)
    right = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look, True)
    if right is None or not checks.valid:
        return Report(False, tuple(checks.lines))
    found = [QUANTITIES[quantity](at, order) for order in permutations(range(epoch.clients))]
    check_rounded(checks, "right_value", data["right_value"], Interval.of(right))
    if "p" in given:
        allowed = given["p"] * len(found)
        left = min(value for value in found if sum(other > value for other in found) <= allowed)
        checks.equal("left_value", data["left_value"], left)
        above = sum(certainly(right, "<", value) for value in found)
        says = f"{quantity} exceeds the right side, {shown(right)}, for {above} of {len(found)} orders"
        checks.check(above > allowed, f"{says}, p = {shown(given['p'])}")
    else:
        left = sum(found, Fraction(0)) / len(found)
        checks.equal("left_value", data["left_value"], left)
        checks.check(certainly(right, "<", left), f"{quantity}: {shown(left)} > {shown(right)} with certainty")
    return Report(checks.valid, tuple(checks.lines))


def read_setting(data: dict[str, Any], given: dict[str, Fraction]) -> tuple[str, Setting]:
    """What is measured, and where."""
    epoch = read_epoch(data)
    ends = [number(end, "domain") for end in list_of(data["domain"], "domain")]
    if len(ends) != 2 or ends[0] > ends[1]:
        raise FormatError("domain is not [low, high] with low <= high")
    spread = number(data["noise"], "noise", 0)
    left = fields(data["left"], "left", "quantity", "last")
    quantity = text_of(left["quantity"], "quantity")
    if quantity not in QUANTITIES:
        raise FormatError(f"quantity={shown(quantity)} is none of {list(QUANTITIES)}")
    if ("last" in left) != (quantity == "epoch_part"):
        raise FormatError("left.last is N' of epoch_part, and of nothing else")
    last = integer(left["last"], "left.last", 1, epoch.clients - 1) if "last" in left else 0
    if quantity == "partial_sum":
        last = integer(str(given.get("n", "")), "parameter n", 0, epoch.clients - 1)
    outcomes = 2 ** (epoch.clients * epoch.local_steps) if spread else 1
    if quantity in ("epoch_noise", "next_model_squared_distance") and outcomes * epoch.clients > MOST_OUTCOMES:
        raise FormatError("the outcomes of the noise are too many to be played")
    if outcomes > 1 and outcomes * factorial(epoch.clients) > MOST_OUTCOMES:
        raise FormatError("the outcomes of the noise and the orders are too many to be played")
    return quantity, Setting(epoch, ends[0], ends[1], spread, last)


def check_parameters(checks: Checks, at: Setting, given: dict[str, Fraction]) -> dict[str, Fraction]:
    """That every parameter is that of the epoch; with the constants that are not given at their best."""
    e = at.epoch
    best = e.minimiser(at.low, at.high)
    equal = {
        "eta": e.step,
        "N": Fraction(e.clients),
        "K": Fraction(e.local_steps),
        "grad_phi": abs(e.weighted_gradient) / e.clients,
        "grad_sum": abs(e.weighted_gradient),
        "V": (e.start - best) ** 2,
        "gap": e.cost(e.start) - e.cost(best),
        "n": Fraction(at.last),
    }
    least = {
        "L": max(e.h),
        "G": at.largest_gradient(),
        "D": at.high - at.low,
        "delta": at.spread,
        "delta2": at.spread**2,
    }
    for name, value in given.items():
        if name in equal:
            checks.check(value == equal[name], f"parameter {name} = {shown(value)} is {shown(equal[name])}")
        elif name in least:
            checks.check(value >= least[name], f"parameter {name} = {shown(value)} >= {shown(least[name])}")
        elif name == "mu":
            checks.check(0 < value <= min(e.h), f"parameter mu = {shown(value)} is in (0, {shown(min(e.h))}]")
        elif name == "p":
            checks.check(0 < value < 1, f"parameter p = {shown(value)} is in (0, 1)")
        elif name == "R":
            checks.check(value >= 1 and value.denominator == 1, f"parameter R = {shown(value)} is a number of epochs")
        else:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
    return {**least, "mu": min(e.h), **given}


def check_hypotheses(
    checks: Checks, data: Any, at: Setting, values: dict[str, Fraction], look: Callable[[str], Any]
) -> None:
    """The step condition where it has no relation, and all others."""
    e, everywhere = at.epoch, ("iterates", "domain")
    rest = []
    for item in list_of(data, "hypotheses"):
        plain = isinstance(item, dict) and item.get("relation") is None and item.get("assumption") is None
        if not (plain and item.get("name") == STEP_CONDITION):
            rest.append(item)
            continue
        fields(item, "a hypothesis", "name assumption relation", "standing")
        R = values.get("R", Fraction(1))
        short = 4 * e.step * e.clients * e.local_steps * R * values["L"] <= 1
        checks.check(short, f"{hypothesis(item)}: eta <= 1/(4NKRL), R = {shown(R)}")
    large = at.largest_gradient() <= values["G"]
    noise = at.spread**2 <= values["delta2"] and at.spread <= values["delta"]
    known = {
        "Smooth": Condition("L", max(e.h) <= values["L"], "every h is at most L"),
        "StronglyConvex": Condition("mu", 0 < values["mu"] <= min(e.h), "every h is at least mu > 0"),
        "UnbiasedSampling": Condition("", True, "the noise is +e or -e with equal chances"),
        "BoundedVariance": Condition("delta", noise, "e <= delta, everywhere"),
        "VarianceAtMost": Condition("delta2", noise, "e^2 <= delta^2, everywhere", everywhere),
        "BoundedDomain": Condition("D", at.high - at.low <= values["D"], "W is an interval, not longer than D"),
        "BoundedGradient": Condition("G", large, "|f_j'| <= G on W"),
    }
    check_conditions(checks, rest, known, look)
