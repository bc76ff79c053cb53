"""Kind "chain": SGD that is stable in one step at the radius R, and whose second moment nevertheless exceeds R^2.

f is the function of one variable with f'(x) = L (x - a) below its minimiser a and f'(x) = mu (x - a) above it. A step
goes from x to x - eta g with E g = f'(x) and E(g - f'(x))^2 <= sigma2. The certificate gives the law of the next
iterate at every point that an iterate can reach; at all other points there may as well be no noise.

Checked, in exact fractions:
  0 < mu <= L, so that f is mu-strongly convex and L-smooth; 0 < eta <= 1/L; |a| <= r; |start| <= R;
  at every listed point: probabilities are positive and sum to 1, the mean of the next iterate is x - eta f'(x), its
  variance is at most eta^2 sigma2; every point that is reached before the last step is listed, and no other;
  one-step stability (Definition 1) at R: E[(x+)^2 | x] <= R^2 for every x with |x| <= R and for every noise of variance
  at most sigma2, because (x - eta f'(x))^2 + eta^2 sigma2 <= R^2 there;
  E (x^K)^2 > R^2 for K = steps, by following the law of the iterate.
R^2 is a fraction; R itself need not be one, and is never rounded.

What remains for the reader: the statement and the hypotheses are those of the paper, and the claim says that the second
moment stays below R^2 where one step from the ball does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .conditions import HEAD, Condition, check_conditions, introduce
from .formulas import lookup
from .intervals import root
from .reading import FormatError, bits, fields, integer, limit_length, list_of, number, shown

MAX_CHAIN = 20_000  # steps times outcomes
MAX_LAW_BITS = 20_000  # of a probability in the law of an iterate

Outcomes = tuple[tuple[Fraction, Fraction], ...]  # (probability, next iterate)


@dataclass(frozen=True)
class PiecewiseQuadratic:
    """f, with f' of slope L below the minimiser and of slope mu above it."""

    minimiser: Fraction
    mu: Fraction
    L: Fraction

    def gradient(self, x: Fraction) -> Fraction:
        return (self.L if x < self.minimiser else self.mu) * (x - self.minimiser)


def verify_chain(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    own = " function eta r sigma2 start noise steps left_value right_value"
    fields(data, "the certificate", HEAD + own, "R R2 note")
    if ("R" in data) == ("R2" in data):
        raise FormatError("exactly one of the fields R and R2 is needed")
    square = number(data["R"], "R", 0) ** 2 if "R" in data else number(data["R2"], "R2", 0)
    given = fields(data["function"], "function", "minimiser mu L")
    f = PiecewiseQuadratic(*(number(given[key], key) for key in ("minimiser", "mu", "L")))
    eta, r, sigma2, start = (number(data[key], key) for key in ("eta", "r", "sigma2", "start"))
    steps = integer(data["steps"], "steps", 1, MAX_CHAIN)
    noise = read_noise(data["noise"], steps)

    checks = Checks()
    introduce(data)
    checks.check(0 < f.mu <= f.L, f"0 < mu = {shown(f.mu)} <= L = {shown(f.L)}")
    checks.check(eta > 0 and eta * f.L <= 1, f"0 < eta = {shown(eta)} <= 1/L")
    checks.check(abs(f.minimiser) <= r, f"|minimiser| = {shown(abs(f.minimiser))} <= r = {shown(r)}")
    checks.check(sigma2 >= 0, f"sigma2 = {shown(sigma2)} >= 0")
    checks.check(start**2 <= square, f"the start {shown(start)} satisfies x^2 <= R^2 = {shown(square)}")
    for x, outcomes in noise.items():
        check_noise(checks, x, outcomes, x - eta * f.gradient(x), eta**2 * sigma2)
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    check_one_step(checks, f, eta, sigma2, square)
    names = {"mu": f.mu, "L": f.L, "kappa": f.L / f.mu, "eta": eta, "r": r, "R": root(square), "sigma": root(sigma2)}
    known = {
        "StronglyConvex": Condition("mu", f.mu > 0, "every slope of f' is at least mu > 0"),
        "Smooth": Condition("L", f.mu <= f.L, "every slope of f' is at most L"),
        "MinimisersInBall": Condition("r", abs(f.minimiser) <= r, "|minimiser| <= r"),
        "UnbiasedSampling": Condition("", True, "the means of the next iterates are those checked above"),
        "BoundedVariance": Condition("sigma", True, "the variances checked above are at most eta^2 sigma2"),
        "ShortStep": Condition("L", eta * f.L <= 1, "0 < eta <= 1/L"),
    }
    check_conditions(checks, data["hypotheses"], known, lookup(names))
    moment = check_run(checks, noise, start, steps)
    checks.equal("left_value", data["left_value"], moment)
    checks.equal("right_value", data["right_value"], square)
    exceeds = moment > square
    checks.check(exceeds, f"E (x^{steps})^2 = {shown(moment)} {'>' if exceeds else '<='} R^2 = {shown(square)}")
    return Report(checks.valid, tuple(checks.lines))


def read_noise(data: Any, steps: int) -> dict[Fraction, Outcomes]:
    """The law of the next iterate at each listed point."""
    noise: dict[Fraction, Outcomes] = {}
    for item in list_of(data, "noise"):
        fields(item, "an entry of noise", "at outcomes")
        x = number(item["at"], "at")
        if x in noise:
            raise FormatError(f"noise is given twice at {shown(x)}")
        outcomes = []
        for pair in list_of(item["outcomes"], f"outcomes at {shown(x)}"):
            if not isinstance(pair, list) or len(pair) != 2:
                raise FormatError(f"an outcome at {shown(x)} is not a pair [probability, next iterate]")
            outcomes.append((number(pair[0], "a probability"), number(pair[1], "a next iterate")))
        noise[x] = tuple(outcomes)
    if steps * sum(len(outcomes) for outcomes in noise.values()) > MAX_CHAIN:
        raise FormatError("the chain is too long to be checked")
    limit_length(value for outcomes in noise.values() for pair in outcomes for value in pair)
    return noise


def check_noise(checks: Checks, x: Fraction, outcomes: Outcomes, mean: Fraction, variance: Fraction) -> None:
    """That the law at x is one, with this mean and at most this variance."""
    positive = all(p > 0 for p, _ in outcomes) and sum(p for p, _ in outcomes) == 1
    checks.check(positive, f"at {shown(x)}: the probabilities are positive and sum to 1")
    found = sum((p * y for p, y in outcomes), Fraction(0))
    checks.check(found == mean, f"at {shown(x)}: the mean {shown(found)} is x - eta f'(x) = {shown(mean)}")
    spread = sum((p * (y - mean) ** 2 for p, y in outcomes), Fraction(0))
    checks.check(spread <= variance, f"at {shown(x)}: the variance {shown(spread)} <= eta^2 sigma2 = {shown(variance)}")


def check_one_step(checks: Checks, f: PiecewiseQuadratic, eta: Fraction, sigma2: Fraction, square: Fraction) -> None:
    """That (x - eta f'(x))^2 + eta^2 sigma2 <= R^2 for |x| <= R, with R^2 = square.

    x - eta f'(x) is linear on either side of the minimiser a, so its square is largest at R, at -R or at a. At x = s R
    (s = 1 or -1) it is c s R + (1 - c) a with c = 1 - eta times the slope of f' there, and its square is
    c^2 R^2 + (1 - c)^2 a^2 + 2 c (1 - c) a s R.
    """
    a = f.minimiser
    for s in (1, -1):
        below = sign(-a, Fraction(s), square) < 0  # s R < a
        c = 1 - eta * (f.L if below else f.mu)
        rest = c**2 * square + (1 - c) ** 2 * a**2 + eta**2 * sigma2 - square
        holds = sign(rest, 2 * c * (1 - c) * a * s, square) <= 0
        checks.check(holds, f"at x = {'' if s > 0 else '-'}R: (x - eta f'(x))^2 + eta^2 sigma2 <= R^2")
    if a**2 <= square:
        holds = a**2 + eta**2 * sigma2 <= square
        checks.check(holds, f"at x = {shown(a)}, the minimiser: x^2 + eta^2 sigma2 <= R^2")
    checks.note("so E[(x+)^2 | x] <= R^2 for every x with |x| <= R, whatever the noise of that variance")


def sign(p: Fraction, q: Fraction, square: Fraction) -> int:
    """The sign of p + q sqrt(square), for square >= 0."""
    one, two = (p > 0) - (p < 0), ((q > 0) - (q < 0)) * (square > 0)
    if one * two >= 0:
        return one or two
    gap = p**2 - q**2 * square  # of different signs: the larger one in absolute value decides
    return 0 if gap == 0 else one if gap > 0 else two


def check_run(checks: Checks, noise: dict[Fraction, Outcomes], start: Fraction, steps: int) -> Fraction:
    """E (x^steps)^2, and that exactly the points reached before the last step are listed."""
    law = {start: Fraction(1)}
    reached: set[Fraction] = set()
    unlisted: set[Fraction] = set()
    for _ in range(steps):
        after: dict[Fraction, Fraction] = {}
        reached |= law.keys()
        for x, mass in law.items():
            if x not in noise:
                unlisted.add(x)
            for p, y in noise.get(x, ()):
                after[y] = after.get(y, Fraction(0)) + mass * p
        law = after
        if max(map(bits, law.values()), default=0) > MAX_LAW_BITS:
            raise FormatError("the probabilities grow too long to be checked")
    checks.check(not unlisted, f"every point reached before the last step is listed{but(sorted(unlisted))}")
    unused = sorted(noise.keys() - reached)
    checks.check(not unused, f"every listed point is reached before the last step{but(unused)}")
    return sum((mass * x**2 for x, mass in law.items()), Fraction(0))


def but(points: Sequence[Fraction]) -> str:
    return f", but not {', '.join(shown(x) for x in points[:5])}" if points else ""
