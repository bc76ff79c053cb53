"""Kind "fixed-point": an instance without chance that a round maps to itself away from the optimum.

Nothing changes then, for every number of rounds K: the gradient at the fixed point is a floor under any bound that
would tend to 0. Checked: nothing is random, one round maps the start to itself, the gradient there is not 0, the
parameters, the hypotheses; and that the claimed right side, where it is given, lies below the floor at the parameter
K. What remains for the reader: the statement, the formula and the hypotheses are those of the paper; and, where the
field `names` is there, that each name of the claim means what the name in PARAMETERS beside it does.
"""

from __future__ import annotations

from typing import Any

from .checks import Checks, Report
from .formulas import MAX_EXPONENT, evaluate, parse
from .hypotheses import HEAD, bounded_along, check_hypotheses, check_parameters, head, named, smooth_samples
from .instance import read_names
from .measures import PARAMETERS, Context
from .quadratic_rounds import Client, Instance, play_round, read_instance
from .reading import MAX_WORK, FormatError, fields, integer, shown


def verify_fixed_point(data: dict[str, Any]) -> Report:
    """An instance without chance that a round maps to itself away from the optimum: nothing changes, for every K."""
    required = HEAD + " fixed_point squared_gradient_norm minimiser"
    fields(data, "the certificate", required, "definitions right right_value note names")
    checks = Checks()
    given = head(data)
    instance = read_instance(data["instance"], rounds=1)
    chance = [n for n, c in enumerate(instance.clients) if len(c.h) != 1 or c.p != (1,)]
    checks.check(not chance, "every client has one sample and takes part in every round, so nothing is random")
    theta = instance.theta0
    played = play_round(instance, 0, (theta, theta**2))
    checks.check(played.end == (theta, theta**2), f"one round maps theta0 = {shown(theta)} to itself")
    gradient = instance.curvature * theta - instance.linear
    checks.equal("fixed_point", data["fixed_point"], theta)
    checks.equal("squared_gradient_norm", data["squared_gradient_norm"], gradient**2)
    checks.check(gradient != 0, "it is more than 0 and the same at every round, so it does not tend to 0")
    if instance.curvature > 0:
        checks.equal("minimiser", data["minimiser"], instance.linear / instance.curvature)
    else:
        checks.check(False, "f has no single minimiser")
    K = integer(data["parameters"].get("K", 1), "K", 1, MAX_EXPONENT)
    if K * len(instance.clients) * instance.S * instance.M > 25 * MAX_WORK:
        raise FormatError(f"K={K} is too large to be checked here")
    clients = tuple(Client(c.h, c.a, c.p * K, c.curvature, c.linear, c.offset) for c in instance.clients)
    settings = (instance.S, instance.M, K, theta, instance.aggregation, instance.empty)
    whole = (instance.curvature, instance.linear, instance.offset)
    repeated = Instance(instance.algorithm, clients, instance.step * K, *settings, *whole)
    by_sample = smooth_samples(data["hypotheses"])
    names = read_names(checks, data.get("names", {}))
    # every round is the first one again
    context = Context(repeated, [played] * K, {}, given, tuple(PARAMETERS), by_sample, names)
    look = named(context, data.get("definitions"))
    check_parameters(checks, context)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded_along(context))
    if "right" in data:
        bound = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look)
        if bound is not None:
            if "right_value" in data:
                checks.equal("right_value", data["right_value"], bound)
            broken = gradient**2 > bound
            checks.note(f"claimed at K = {K}: <= {shown(data['right'])}")
            checks.check(broken, f"{shown(gradient**2)} <= {shown(bound)} is {'false' if broken else 'true'}")
    return Report(checks.valid, tuple(checks.lines))
