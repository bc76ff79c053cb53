"""Kind "inertial": rounds of FedMIM on an instance, on which a bound about them fails.

The instance is that of `inertial_rounds`: scalar quadratics, S of N clients, K local steps ("local_steps") of length
"step", the weights alpha and beta of the lags, x_0, and T rounds ("K"). The verifier plays every outcome of a round and
follows the second moments of the state through the rounds, in fractions. With u_t = x_t - (K/A) sum_j (sum_{s>=j}
alpha_s) delta_{t-j}, x_{n,0} = x_t, and y_{n,k} at x_{n,k}, from which the local step k+1 is taken, the quantities are

    min_squared_gradient            min over t < T of E||grad f(u_t)||^2
    output_squared_gradient         E||grad f(u_t)||^2, averaged over t < T with weights p^-t, p = 1 - mu K eta_l lam
    squared_gradient                E||grad f(u_t)||^2
    descent                         E[f(u_{t+1}) - f(u_t)]
    next_delta_squared              E||delta_{t+1}||^2
    average_gradient_squared        E||(1/(SK)) sum over those who take part and k < K of g_{n,k}||^2
    selected_gradient_squared       E||(1/S) sum over those who take part of grad f_n(y_{n,k})||^2
    client_squared_gradient         E||grad f_n(y_{n,k})||^2
    mean_client_squared_gradient    its mean over the N clients
    one_client_drift, mean_drift    E||x_{n,k} - x_t||^2, and its mean over the clients
    client_drift                    the mean of mean_drift over k = 1, ..., K

Client n's local iterates are what it computes if it takes part. left.index gives t and n from 0, and k, where needed.

Checked: each parameter has the value that the instance gives it: alpha, beta and delta_sq (one entry a lag, J of them,
filled up with zeros), J, A, rho, K, k, S, N, T, eta_l, f0_gap, gap, next_gap, grad_u2, dtilde_sq, gradients_sq and
mean_sq (at y_{n,k}), selected_sq (the mean over k), x_sq (E||x_{n,k-1} - x_t||^2), drift (its mean over the clients: at
k-1 for mean_drift, else at k); L >= |f_n''|; sigma2 at least the variance of the sampled gradients, which must be the
same at every x; C at least E||(1/(SK)) sum g||^2 in every round; G and B with (6) at every x; 0 < mu <= f''; 0 < lam <
1/2. The hypotheses hold, the printed values are the computed ones, and the claimed relation is false. The right side
may hold square roots and exponentials; it is then an interval, and the relation must be false with certainty.

What remains for the reader: the statement, the formula, its definitions and the hypotheses are those of the paper, and
the names mean what is said here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .checks import Checks, Report, check_rounded
from .conditions import HEAD, Condition, check_conditions, introduce
from .formulas import COMPARE, Uncheckable, evaluate, lookup, parse
from .inertial_measures import PARAMETERS, QUANTITIES, VECTORS, Context, Value, polyak_lojasiewicz, relation_six
from .inertial_rounds import MOST_CLIENTS, MOST_LAGS, MOST_ROUNDS, play_run, read_instance
from .intervals import Interval, Number, certainly
from .reading import FormatError, fields, integer, number, read_numbers, shown, text_of
from .vectors import Vector

CONTRARY = {"<=": (">",), "<": (">=",), "=": ("<", ">"), ">=": ("<",), ">": ("<=",)}
FIELDS = " instance parameters left relation right left_value right_value"


def verify_inertial(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    fields(data, "the certificate", HEAD + FIELDS, "definitions note")
    left = fields(data["left"], "left", "quantity index")
    quantity, relation = text_of(left["quantity"], "quantity"), data["relation"]
    if not isinstance(relation, str) or relation not in COMPARE:
        raise FormatError(f"relation={shown(relation)} is none of {list(COMPARE)}")
    if quantity not in QUANTITIES:
        raise FormatError(f"quantity={shown(quantity)} is none of {list(QUANTITIES)}")
    most = max(MOST_ROUNDS, MOST_CLIENTS)
    index = {k: integer(v, f"index {k}", 0, most) for k, v in fields(left["index"], "index", "", "t k n").items()}
    given, formula = read_parameters(data["parameters"]), parse(data["right"], "right")
    checks = Checks()
    introduce(data)
    context = Context(play_run(read_instance(data["instance"])), index, given, quantity)
    look = named(context, data.get("definitions"))
    check_parameters(checks, context)
    check_conditions(checks, data["hypotheses"], conditions(context), look)
    value = checks.attempt(f"the left side {quantity}", QUANTITIES[quantity], context)
    bound = checks.attempt("the right side", evaluate, formula, look, True)
    if isinstance(bound, Vector):
        raise FormatError("the right side is a vector")
    if value is not None and bound is not None:
        checks.equal("left_value", data["left_value"], value)
        if isinstance(bound, Interval):
            check_rounded(checks, "right_value", data["right_value"], bound)
        else:
            checks.equal("right_value", data["right_value"], bound)
        where = "".join(f" {key}={i}" for key, i in index.items())
        checks.note(f"left side: {quantity}{where}; claimed: {relation} {shown(data['right'])}")
        broken = certainly_false(value, relation, bound)
        says = "false" if broken else "true, or not certainly false"
        checks.check(broken, f"{shown(value)} {relation} {shown(bound)} is {says}")
    return Report(checks.valid, tuple(checks.lines))


def certainly_false(left: Number, relation: str, right: Number) -> bool:
    """Whether the relation is false for all numbers of an interval."""
    return any(certainly(left, contrary, right) for contrary in CONTRARY[relation])


def read_parameters(data: Any) -> dict[str, Value]:
    """Numbers, and lists of numbers where the parameter has an entry a lag."""
    if not isinstance(data, dict):
        raise FormatError("parameters is not an object of named numbers")
    lists = {key: value for key, value in data.items() if isinstance(value, list)}
    given: dict[str, Value] = dict(read_numbers({k: v for k, v in data.items() if k not in lists}, "parameters"))
    for key, values in lists.items():
        if key not in VECTORS or not 1 <= len(values) <= MOST_LAGS:
            raise FormatError(f"parameter {shown(key)} is a list, and none of {VECTORS} with 1 to {MOST_LAGS} entries")
        given[key] = tuple(number(v, f"parameters.{key}") for v in values)
    if wrong := [key for key in VECTORS if isinstance(given.get(key), Fraction)]:
        raise FormatError(f"the parameters {wrong} are no lists")
    return given


def named(context: Context, definitions: Any) -> Callable[[str], Any]:
    """Looks names up in the parameters, the definitions, and what the instance fixes, in this order."""

    def entry(value: Value) -> Any:
        return Vector(value) if isinstance(value, tuple) else value

    def fixed(name: str) -> Any:
        relation, compute = PARAMETERS.get(name, ("", None))
        return entry(compute(context)) if compute is not None and relation == "=" else None

    return lookup({name: entry(v) for name, v in context.given.items()}, definitions, fixed, roots=True)


def check_parameters(checks: Checks, context: Context) -> None:
    """That every parameter has the value that the instance gives it, or one that its meaning allows."""
    for name, value in context.given.items():
        if name in ("G", "B", "mu", "lam"):
            continue
        if name not in PARAMETERS:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
            continue
        relation, compute = PARAMETERS[name]
        computed = checks.attempt(f"parameter {name}", compute, context)
        if computed is not None:
            holds = COMPARE[relation](value, computed) and (name != "L" or value != 0)
            checks.check(holds, f"parameter {name} = {words(value)} {relation} {words(computed)}, from the instance")
    given, curvature = context.given, shown(context.instance.curvature)
    if "mu" in given:
        mu = context.scalar("mu")
        holds = polyak_lojasiewicz(context.instance, mu)
        checks.check(holds, f"parameter mu = {shown(mu)} > 0 is a constant of the PL inequality, f'' = {curvature}")
    if "lam" in given:
        lam = context.scalar("lam")
        checks.check(0 < lam < Fraction(1, 2), f"parameter lam = {shown(lam)} is in (0, 1/2)")
    if "G" in given or "B" in given:
        says = ", ".join(f"{name} = {words(given[name])}" for name in ("G", "B") if name in given)
        checks.check(similar(context), f"{says}: (1/N) sum f_n'(x)^2 <= G^2 + B^2 f'(x)^2 at every x")


def words(value: Value) -> str:
    return f"({', '.join(map(shown, value))})" if isinstance(value, tuple) else shown(value)


def similar(context: Context) -> bool:
    """(6), for the G and B of the certificate; both must be there."""
    G, B = context.given.get("G"), context.given.get("B")
    if not isinstance(G, Fraction) or not isinstance(B, Fraction):
        return False
    return G >= 0 and B >= 0 and relation_six(context.instance, G, B)


def conditions(context: Context) -> dict[str, Condition]:
    """What the assumptions come to; a constant that is no parameter is one that exists, as it does on a finite run."""
    instance, given = context.instance, context.given

    def reached(name: str) -> bool:
        """Whether the parameter is as large as the instance asks for."""
        value = given.get(name)
        try:
            return value is None or COMPARE[">="](value, PARAMETERS[name][1](context))
        except Uncheckable:
            return False

    strong = polyak_lojasiewicz(instance, context.scalar("mu")) if "mu" in given else instance.bounded_below
    return {
        "Smooth": Condition("L", reached("L"), "every |f_n''| is at most L"),
        "UnbiasedSampling": Condition("", True, "a sample is drawn uniformly among the client's own"),
        "VarianceAtMost": Condition("sigma2", reached("sigma2"), "the variance of a gradient is at most sigma2"),
        "UniformParticipation": Condition("", True, "S of the N clients, all subsets equally likely"),
        "RelativeDissimilarity": Condition("G", similar(context), "(6) holds at every x", relative="B"),
        "PolyakLojasiewicz": Condition("mu", strong, "f'^2/2 >= mu (f - f_*) at every x"),
        "BoundedAverageStep": Condition("C", reached("C"), "E||dtilde_t||^2 <= eta_l^2 C in all rounds", step="eta_l"),
        "BoundedBelow": Condition("", instance.bounded_below, "f is bounded below"),
    }
