"""Kind "mixing": how the mixing weights of one client follow a model, and what a claim says of it.

Clients j = 0..N-1 have f_j(w) = h_j/2 w^2 - b_j w in one dimension, and no noise. From `start` they take `rounds`
rounds of `local_steps` gradient steps of size `step` each, with their average after each round: w^0, w^1, .., w^R.
Client i is `client`; z_j(w) = (f_i'(w) - f_j'(w))^2, and a*(w) is the point of the simplex that minimises

    sum_j a_j z_j(w) + lam sum_j a_j^2/n_j.

It is found from the optimality conditions, a_j = n_j max(0, nu - z_j)/(2 lam) with sum_j a_j = 1, and they are checked.
T_a = `weight_steps` steps of projected gradient descent on it, of size n_min/(2 lam), each projected in the same way,
lead from weights a to D(w, a). Everything is a fraction; w* = sum b/sum h. Quantities:

    weight_change          ||a*(w^R) - a*(w*)||, a square root
    squared_weight_change  its square
    weight_descent_error   ||D(w^R, uniform) - a*(w^R)||^2
    weight_error, weight_end   ||D(w^R, uniform) - a*(w*)||^2
    weight_step            ||a^R - a^{R-1}||^2, where a^r = D(w^r, a^{r-1}) and a^0 is uniform; R >= 2

Names that formulas may use: mu, L (the extreme h), N, R, K, T_a, lam, gamma, dist2 = (w^R - w*)^2, zbar = (1/N) sum_j
z_j(w*), and the vectors n and zeta = (z_j(w*))_j; the parameters; the definitions.

With the field `right` the claim has a formula. Checked: 0 < mu <= h_j <= L; the parameters have these values; the
hypotheses hold; the printed values are the computed ones; left > right.

Without it the claim is an order, whose right side is, up to constants and logarithms,

    coefficient ratio^T_a + terms, each of which has the factor zbar_i(w*) or the variance delta^2.

Then these terms are 0: checked are zbar_i(w*) = 0, and that there is no noise. Checked further: all n_j are equal, so
that one step of the descent leads to a*(w) from everywhere, and the left side is the same for every T_a >= 1; it is
positive; 0 <= ratio < 1. So C ratio^T_a is below the left side from some T_a on, whatever C is; and so it is for
C = coefficient at the printed T_a, which is checked too.

What remains for the reader: the statement, the formula and the hypotheses are those of the paper, those in words only
among them; and, without a formula, that the right side has this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, Condition, check_conditions, introduce
from .formulas import evaluate, lookup, parse
from .intervals import Interval, Number, certainly, root
from .reading import FormatError, bits, fields, integer, limit_length, list_of, number, shown, text_of
from .vectors import Vector

MAX_STEPS = 2_000  # rounds times local steps times clients, and rounds times steps of the descent times clients
MAX_PLAYED_BITS = 20_000

Weights = tuple[Fraction, ...]


@dataclass(frozen=True)
class Instance:
    """What is played; see the top of this file."""

    h: tuple[Fraction, ...]
    b: tuple[Fraction, ...]
    n: tuple[Fraction, ...]
    lam: Fraction
    client: int
    start: Fraction
    step: Fraction
    local_steps: int
    rounds: int
    weight_steps: int

    @property
    def minimiser(self) -> Fraction:
        return sum(self.b, Fraction(0)) / sum(self.h, Fraction(0))

    def gradient(self, j: int, w: Fraction) -> Fraction:
        return self.h[j] * w - self.b[j]

    def z(self, w: Fraction) -> Weights:
        own = self.gradient(self.client, w)
        return tuple((own - self.gradient(j, w)) ** 2 for j in range(len(self.h)))

    def path(self) -> list[Fraction]:
        """w^0..w^R."""
        points = [self.start]
        for _ in range(self.rounds):
            arrived = []
            for j in range(len(self.h)):
                w = points[-1]
                for _ in range(self.local_steps):
                    w -= self.step * self.gradient(j, w)
                arrived.append(w)
            points.append(sum(arrived, Fraction(0)) / len(arrived))
            if bits(points[-1]) > MAX_PLAYED_BITS:
                raise FormatError("the instance's fractions grow too long to be checked")
        return points

    def best(self, w: Fraction) -> Weights:
        """a*(w)."""
        return solve(self.z(w), self.n, self.lam)

    def uniform(self) -> Weights:
        return (Fraction(1, len(self.h)),) * len(self.h)

    def descend(self, w: Fraction, a: Weights) -> Weights:
        """D(w, a)."""
        z, size = self.z(w), min(self.n) / (2 * self.lam)
        ones = (Fraction(1),) * len(self.h)
        for _ in range(self.weight_steps):
            moved = [x - size * (z_j + 2 * self.lam * x / n_j) for x, z_j, n_j in zip(a, z, self.n, strict=True)]
            a = solve([-x for x in moved], ones, Fraction(1, 2))  # the nearest point of the simplex
            if max(map(bits, a)) > MAX_PLAYED_BITS:
                raise FormatError("the instance's fractions grow too long to be checked")
        return a


def solve(z: Sequence[Fraction], n: Sequence[Fraction], lam: Fraction) -> Weights:
    """The minimiser of sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex, by its optimality conditions.

    With the k smallest z active, nu = (2 lam + sum n_j z_j)/sum n_j over them; the right k is the one for which all of
    these are below nu and no other is.
    """
    order = sorted(range(len(z)), key=lambda j: z[j])
    for k in range(1, len(z) + 1):
        active = order[:k]
        nu = (2 * lam + sum(n[j] * z[j] for j in active)) / sum(n[j] for j in active)
        if z[order[k - 1]] < nu and (k == len(z) or z[order[k]] >= nu):
            a = tuple(n_j * max(Fraction(0), nu - z_j) / (2 * lam) for z_j, n_j in zip(z, n, strict=True))
            assert sum(a) == 1  # with min a >= 0 these are the conditions of Karush, Kuhn and Tucker
            return a
    raise AssertionError("no set of active clients satisfies the optimality conditions")


def square(x: Weights, y: Weights) -> Fraction:
    """||x - y||^2."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


def left_side(instance: Instance, quantity: str) -> Number:
    """The quantity; a root may be an interval."""
    points, best = instance.path(), instance.best(instance.minimiser)
    if quantity in ("weight_change", "squared_weight_change"):
        change = square(instance.best(points[-1]), best)
        return root(change) if quantity == "weight_change" else change
    if quantity == "weight_descent_error":
        return square(instance.descend(points[-1], instance.uniform()), instance.best(points[-1]))
    if quantity in ("weight_error", "weight_end"):
        return square(instance.descend(points[-1], instance.uniform()), best)
    before = now = instance.uniform()
    for w in points[1:]:
        before, now = now, instance.descend(w, now)
    return square(now, before)


QUANTITIES = (
    *("weight_change", "squared_weight_change", "weight_descent_error", "weight_error", "weight_end", "weight_step"),
)
_INSTANCE = "functions n lam client start step local_steps rounds weight_steps"


def verify_mixing(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    formula = isinstance(data, dict) and "right" in data
    own = f" {_INSTANCE} parameters left left_value right_value" + (
        " right relation" if formula else " coefficient ratio"
    )
    fields(data, "the certificate", HEAD + own, "definitions note")
    instance = read_mixing(data)
    quantity = text_of(fields(data["left"], "left", "quantity")["quantity"], "quantity")
    if quantity not in QUANTITIES:
        raise FormatError(f"quantity={shown(quantity)} is none of {list(QUANTITIES)}")
    if quantity == "weight_step" and instance.rounds < 2:
        raise FormatError("weight_step needs two rounds")
    if formula and data["relation"] != "<=":
        raise FormatError(f"relation={shown(data['relation'])} is not <=")

    checks = Checks()
    introduce(data)
    checks.check(min(instance.h) > 0, f"0 < mu = {shown(min(instance.h))} <= h_j <= L = {shown(max(instance.h))}")
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    values = measured(instance)
    check_given(checks, data["parameters"], values)
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    given = read_given(data["parameters"])
    look = lookup({**values, **given}, data.get("definitions"), roots=True)
    check_conditions(checks, data["hypotheses"], CONDITIONS, look, words=True)
    left = left_side(instance, quantity)
    if formula:
        right = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look, True)
    else:
        right = check_order(checks, data, instance, quantity, left, values, look)
    if isinstance(right, Vector):
        raise FormatError("the right side is a vector")
    if right is not None:
        check_value(checks, "left_value", data["left_value"], left)
        check_value(checks, "right_value", data["right_value"], right)
        broken = certainly(left, ">", right)
        says = f"left side {shown(left)} > right side {shown(right)}"
        checks.check(broken, says + ("" if broken else ": not certainly"))
    return Report(checks.valid, tuple(checks.lines))


CONDITIONS = {
    "Smooth": Condition("L", True, "every h_j is at most L"),
    "StronglyConvex": Condition("mu", True, "every h_j is at least mu > 0"),
    "UnbiasedSampling": Condition("", True, "there is no noise"),
    "VarianceAtMost": Condition("delta2", True, "there is no noise", ("domain",)),
    "BoundedDomain": Condition("D", True, "W is any interval that holds w* and all iterates"),
    "BoundedGradient": Condition("G", True, "G is the largest |f_j'| on W"),
    "BoundedDissimilarity": Condition("zeta", True, "zeta is the largest (f_j' - f')^2 on W", ("domain",)),
}


def check_order(
    checks: Checks, data: dict[str, Any], instance: Instance, quantity: str, left: Number, values: Any, look: Any
) -> Number | None:
    """That the right side tends to 0 with T_a and the left side does not; the right side's value at T_a."""
    if quantity not in ("weight_error", "weight_end", "weight_step"):
        raise FormatError(f"an order of {shown(quantity)} is not checked")
    checks.check(values["zbar"] == 0, f"zbar_i(w*) = {shown(values['zbar'])} is 0, and so is delta^2, without noise")
    checks.check(len(set(instance.n)) == 1, "all n_j are equal: one step on the weights leads to a*(w) from everywhere")
    points = instance.path()
    if quantity == "weight_step":
        settled = square(instance.best(points[-1]), instance.best(points[-2]))
    else:
        settled = square(instance.best(points[-1]), instance.best(instance.minimiser))
    checks.check(left == settled, f"the left side, {shown(settled)}, is that of the exact weights, for every T_a >= 1")
    checks.check(settled > 0, "it is positive")
    factor = checks.attempt("the ratio", evaluate, parse(data["ratio"], "ratio"), look, True)
    most = checks.attempt("the coefficient", evaluate, parse(data["coefficient"], "coefficient"), look, True)
    if isinstance(factor, Vector) or isinstance(most, Vector):
        raise FormatError("the ratio or the coefficient is a vector")
    if factor is None or most is None:
        return None
    falls = certainly(Fraction(0), "<=", factor) and certainly(factor, "<", Fraction(1))
    checks.check(falls, f"0 <= ratio = {shown(factor)} < 1: the right side tends to 0 as T_a grows")
    return most * factor**instance.weight_steps if falls else None


def measured(instance: Instance) -> dict[str, Any]:
    """The names that the instance gives values to."""
    away = instance.path()[-1] - instance.minimiser
    zeta = instance.z(instance.minimiser)
    return {
        "mu": min(instance.h),
        "L": max(instance.h),
        "N": Fraction(len(instance.h)),
        "R": Fraction(instance.rounds),
        "K": Fraction(instance.local_steps),
        "T_a": Fraction(instance.weight_steps),
        "lam": instance.lam,
        "gamma": instance.step,
        "dist2": away**2,
        "zbar": sum(zeta, Fraction(0)) / len(zeta),
        "n": Vector(instance.n),
        "zeta": Vector(zeta),
    }


def read_given(data: Any) -> dict[str, Any]:
    """The claim's parameters, numbers and vectors."""
    if not isinstance(data, dict) or len(data) > 100:
        raise FormatError("parameters is not an object of numbers and vectors")
    return {
        key: Vector([number(x, f"parameter {shown(key)}") for x in value])
        if isinstance(value, list)
        else number(value, shown(key))
        for key, value in data.items()
    }


def check_given(checks: Checks, data: Any, values: dict[str, Any]) -> None:
    """That every parameter has the value that the instance gives it."""
    for name, value in read_given(data).items():
        if name not in values:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
        elif isinstance(value, Vector) or isinstance(values[name], Vector):
            same = getattr(value, "entries", None) == getattr(values[name], "entries", None)
            checks.check(same, f"parameter {shown(name)} is the instance's vector")
        else:
            computed = values[name]
            holds = {"mu": 0 < value <= computed, "L": value >= computed}.get(name, value == computed)
            sign = {"mu": "<=", "L": ">="}.get(name, "=")
            checks.check(holds, f"parameter {name} = {shown(value)} {sign} {shown(computed)}, from the instance")


def check_value(checks: Checks, name: str, printed: Any, computed: Number) -> None:
    """That a printed number is the computed one: exactly, or rounded where it is an interval."""
    if isinstance(computed, Interval):
        check_rounded(checks, name, printed, computed)
    else:
        checks.equal(name, printed, computed)


def read_mixing(data: dict[str, Any]) -> Instance:
    """The instance in a certificate."""
    listed = [fields(item, "a function", "h b") for item in list_of(data["functions"], "functions")]
    h = tuple(number(item["h"], "h") for item in listed)
    b = tuple(number(item["b"], "b") for item in listed)
    n = tuple(number(x, "n", 0, open_low=True) for x in list_of(data["n"], "n"))
    if not h or len(n) != len(h):
        raise FormatError(f"there are {len(h)} functions and {len(n)} entries of n")
    lam, step = number(data["lam"], "lam", 0, open_low=True), number(data["step"], "step", 0, open_low=True)
    start = number(data["start"], "start")
    local_steps = integer(data["local_steps"], "local_steps", 1, MAX_STEPS)
    rounds = integer(data["rounds"], "rounds", 0, MAX_STEPS)
    steps = integer(data["weight_steps"], "weight_steps", 1, MAX_STEPS)
    if len(h) * max(rounds, 1) * max(local_steps, steps) > MAX_STEPS:
        raise FormatError(f"the clients' steps, or those on the weights, are more than {MAX_STEPS}")
    limit_length([*h, *b, *n, lam, start, step])
    client = integer(data["client"], "client", 0, len(h) - 1)
    return Instance(h, b, n, lam, client, start, step, local_steps, rounds, steps)
