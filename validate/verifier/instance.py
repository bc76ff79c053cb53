"""Kind "instance": one instance, on which the left side does not stand in the claimed relation to the right side.

The algorithm is played on the instance and both sides are computed as fractions. Checked: the indices lie in the run,
also one that neither side depends on; the parameters have the
values that the instance gives them, the hypotheses hold, the printed values are the computed ones, and the claimed
relation is false. What remains for the reader: the statement, the formula and the hypotheses are those of the paper;
and, where the field `names` is there, that each name of the claim means what the name in PARAMETERS beside it does.
For claims on a bounded domain, W is the interval of `domain`.
"""

from __future__ import annotations

from typing import Any

from .checks import Checks, Report
from .formulas import COMPARE, evaluate, parse
from .hypotheses import HEAD, bounded_along, check_hypotheses, check_parameters, head, named, smooth_samples
from .measures import PARAMETERS, QUANTITIES, Context
from .quadratic_rounds import Round, play_round, read_instance
from .reading import MAX_WORK, FormatError, fields, integer, shown, text_of


def verify_instance(data: dict[str, Any]) -> Report:
    """One instance, on which the left side does not stand in the claimed relation to the right side."""
    fields(data, "the certificate", HEAD + " relation left right left_value right_value", "definitions note names")
    checks = Checks()
    given = head(data)
    left = fields(data["left"], "left", "quantity", "index")
    quantity, relation = text_of(left["quantity"], "quantity"), data["relation"]
    if not isinstance(relation, str) or relation not in COMPARE:
        raise FormatError(f"relation={shown(relation)} is none of {list(COMPARE)}")
    index = fields(left.get("index", {}), "index", "", "k n s m")
    numbers = {key: integer(value, f"index {key}", 0, MAX_WORK) for key, value in index.items()}
    instance = read_instance(data["instance"])
    ends = {"k": instance.K, "n": len(instance.clients) - 1, "s": instance.S - 1, "m": instance.M - 1}
    for key, i in numbers.items():
        checks.check(i <= ends[key], f"the index {key} = {i} is in 0..{ends[key]}")
    rounds: list[Round] = []
    for k in range(instance.K):
        start = rounds[-1].end if rounds else (instance.theta0, instance.theta0**2)
        rounds.append(play_round(instance, k, start))
    by_sample = smooth_samples(data["hypotheses"])
    names = read_names(checks, data.get("names", {}))
    context = Context(instance, rounds, numbers, given, tuple(PARAMETERS), by_sample, names)
    look = named(context, data.get("definitions"))
    check_parameters(checks, context)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded_along(context))
    if quantity not in QUANTITIES:
        checks.check(False, f"quantity {shown(quantity)} cannot be checked: the verifier does not know it")
        return Report(False, tuple(checks.lines))
    value = checks.attempt(f"the left side {quantity}", QUANTITIES[quantity], context)
    bound = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look)
    if value is not None and bound is not None:
        where = "".join(f" {key}={i}" for key, i in numbers.items())
        checks.equal("left_value", data["left_value"], value)
        checks.equal("right_value", data["right_value"], bound)
        checks.note(f"left side: {quantity}{where}; claimed: {relation} {shown(data['right'])}")
        broken = not COMPARE[relation](value, bound)
        checks.check(broken, f"{shown(value)} {relation} {shown(bound)} is {'false' if broken else 'true'}")
    return Report(checks.valid, tuple(checks.lines))


def read_names(checks: Checks, data: Any) -> dict[str, str]:
    """Which names of the claim mean which parameters of the verifier."""
    if not isinstance(data, dict) or len(data) > 100:
        raise FormatError("names is not an object of names")
    names = {key: text_of(value, f"the meaning of {shown(key)}") for key, value in data.items()}
    unknown = [value for value in names.values() if value not in PARAMETERS]
    if unknown:
        raise FormatError(f"names has meanings that the verifier does not know: {shown(unknown)}")
    if names:
        checks.note("names of the claim: " + ", ".join(f"{shown(key)} is {value}" for key, value in names.items()))
    return names
