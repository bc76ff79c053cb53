"""Kind "floor": at a scheduled step a run stays above a claimed rate, whatever the rate's constant.

The run: two clients, f = x^2/2 + x and x^2/2 - x, S = 1 of them a round, chosen evenly; K steps x - eta (x +- 1) from
x_t give x_{t+1}; no noise, no inertia. So f = x^2/2, u_t = x_t, the squared gradient is x_t^2, and L = mu = G = B = 1,
as the mean of (x+-1)^2 is 1 + x^2. With q = (1-eta)^K a round is x -> q x +- (1-q), and

    E x_t^2 = s + q^(2t) (x_0^2 - s),  s = (1-q)/(1+q).

For 0 < eta, K eta <= 1 and x_0^2 >= 1 >= s that is at least s >= (1-q)/2. By induction (1-eta)^K (1 + K eta) <= 1, as

    1 + K eta - (1-eta) (1 + (K+1) eta) = (K+1) eta^2 >= 0,

so 1-q >= K eta/(1 + K eta) >= K eta/2: every E||grad f(u_t)||^2, and every mean of them, is at least K eta/4.

Checked: the formula for E x_t^2, against all outcomes of rounds that are played step by step, and the induction's
identity, on exact numbers; x_0^2 >= 1; and for each listed constant c, K and T, with eta the value of the formula
`step`: eta > 0, K eta <= 1, every relation among `conditions`, and K eta/4 > c times the value of the formula `rate`,
the printed quotient of the two included.

What remains for the reader: the step and the rate are the paper's; each c is a constant that the rate hides, which is
not to depend on K and T (nor on S, for S = 1); and a larger c needs only a larger K or T, by the printed quotients.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, check_conditions, introduce
from .formulas import evaluate, lookup, parse, relation_holds
from .intervals import Interval, Number, certainly
from .reading import FormatError, fields, integer, list_of, number, shown, text_of

CONSTANTS = {"S": 1, "N": 2, "L": 1, "mu": 1, "G": 1, "B": 1, "A": 1, "sigma2": 0}
SAMPLES = ((1, Fraction(1, 3)), (2, Fraction(2, 5)), (3, Fraction(1, 7)))  # K and eta, K eta <= 1
STARTS = (Fraction(1), Fraction(-7, 3))
ROUNDS = 3


def second_moment(start: Fraction, eta: Fraction, local_steps: int, rounds: int) -> Fraction:
    """E x_t^2 after so many rounds, over all choices of the clients, played step by step."""
    total = Fraction(0)
    for signs in product((1, -1), repeat=rounds):
        x = start
        for sign in signs:
            for _ in range(local_steps):
                x -= eta * (x + sign)
        total += x**2
    return total / 2**rounds


def formula(start: Fraction, eta: Fraction, local_steps: int, rounds: int) -> Fraction:
    """The same by the formula above."""
    q = (1 - eta) ** local_steps
    s = (1 - q) / (1 + q)
    return s + q ** (2 * rounds) * (start**2 - s)


def induction(K: Fraction, eta: Fraction) -> bool:
    """The identity of the induction; it is of degree 1 in K and 2 in eta."""
    return 1 + K * eta - (1 - eta) * (1 + (K + 1) * eta) == (K + 1) * eta**2


def verify_floor(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    fields(data, "the certificate", HEAD + " start lam step rate conditions instances", "note")
    start, lam = number(data["start"], "start"), number(data["lam"], "lam", 0, open_low=True)
    trees = {name: parse(data[name], name) for name in ("step", "rate")}
    conditions = [text_of(item, "a condition") for item in list_of(data["conditions"], "conditions")]
    instances = list_of(data["instances"], "instances")
    if not 1 <= len(instances) <= 20 or len(conditions) > 20:
        raise FormatError("instances are not 1 to 20, or conditions are more than 20")

    checks = Checks()
    introduce(data)
    check_conditions(checks, data["hypotheses"], {}, lookup({}), words=True)
    played = all(
        second_moment(x, eta, K, t) == formula(x, eta, K, t)
        for K, eta in SAMPLES
        for x in (*STARTS, start)
        for t in range(ROUNDS + 1)
    )
    checks.check(played, f"E x_t^2 = s + q^(2t) (x_0^2 - s), on {len(SAMPLES)} pairs of K and eta, up to t = {ROUNDS}")
    # a polynomial of these degrees that vanishes on 2 x 3 points is 0
    identity = all(induction(Fraction(K), Fraction(eta)) for K in range(2) for eta in range(3))
    checks.check(identity, "1 + K eta - (1-eta) (1 + (K+1) eta) = (K+1) eta^2")
    checks.check(start**2 >= 1, f"x_0 = {shown(start)}, x_0^2 >= 1")
    for item in instances:
        fields(item, "an instance", "c K T quotient")
        c = number(item["c"], "c", 0, open_low=True)
        K, T = (integer(item[name], name, 1, 2**310) for name in ("K", "T"))
        given: dict[str, Any] = {name: Fraction(value) for name, value in CONSTANTS.items()}
        given |= {"lam": lam, "K": Fraction(K), "T": Fraction(T), "f0_gap": start**2 / 2}
        look = lookup(given, roots=True)
        where = f"c = {shown(c)}, K = {shown(K)}, T = {shown(T)}"

        def value(name: str, look: Callable[[str], Any] = look) -> Number:
            found: Number = evaluate(trees[name], look, True)
            return found

        eta, rate = (checks.attempt(f"{where}: the {name}", value, name) for name in ("step", "rate"))
        if eta is None or rate is None:
            continue
        known = lookup({**given, "eta_l": eta}, roots=True)
        for relation in ("eta_l > 0", "K*eta_l <= 1", *conditions):
            holds = checks.attempt(f"{where}: {shown(relation)}", relation_holds, relation, known, 1, True)
            if holds is not None:
                checks.check(holds, f"{where}: {shown(relation)}")
        least = K * eta / 4
        checks.check(certainly(c * rate, "<", least), f"{where}: K eta/4 exceeds c times {shown(data['rate'])}")
        if not certainly(rate, ">", Fraction(0)):
            checks.check(False, f"{where}: the rate is not positive")
            continue
        check_rounded(checks, f"{where}: the quotient", item["quotient"], Interval.of(least) / (c * rate))
    return Report(checks.valid, tuple(checks.lines))
