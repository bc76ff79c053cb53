"""The parameters and the hypotheses of a claim about rounds, held against the instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .checks import Checks
from .conditions import hypothesis, introduce
from .domain import domain, largest_dissimilarity, largest_variance, minimiser
from .formulas import COMPARE, lookup, relation_holds
from .measures import PARAMETERS, Context
from .quadratic_rounds import Instance
from .reading import FormatError, fields, list_of, read_numbers, shown, text_of

HEAD = "format kind claim statement instance parameters hypotheses"


def head(data: Mapping[str, Any]) -> dict[str, Fraction]:
    introduce(data)
    return read_numbers(data["parameters"], "parameters")


def check_parameters(checks: Checks, context: Context, done: Sequence[str] = ()) -> None:
    """That every parameter has the value that the instance gives it."""
    for name, value in context.given.items():
        if name in done:
            continue
        if context.meant(name) not in context.known:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
            continue
        relation, compute = PARAMETERS[context.meant(name)]
        computed = checks.attempt(f"parameter {name}", compute, context)
        if computed is not None:
            holds = COMPARE[relation](value, computed) and (name != "mu" or value > 0)
            checks.check(holds, f"parameter {name} = {shown(value)} {relation} {shown(computed)}, from the instance")


def named(context: Context, formulas: Any = None, extra: Mapping[str, Any] | None = None) -> Callable[[str], Any]:
    """Looks names up in `extra`, the parameters, the definitions, and what the instance fixes, in this order."""

    def fixed(name: str) -> Fraction | None:
        relation, compute = PARAMETERS[context.meant(name)] if context.meant(name) in context.known else ("", None)
        return compute(context) if compute is not None and relation == "=" else None

    return lookup({**context.given, **(extra or {})}, formulas, fixed)


def check_hypotheses(
    checks: Checks,
    data: Any,
    context: Context,
    look: Callable[[str], Any],
    bounded: Callable[[Fraction | None], bool],
    j0: int = 1,
) -> None:
    """That every hypothesis holds; `bounded` says whether E||v||^2 stays below a number (None: any number)."""
    clients, given = context.instance.clients, context.given
    for item in list_of(data, "hypotheses"):
        fields(item, "a hypothesis", "name assumption relation", "constant of at standing")
        name = hypothesis(item)
        assumption, relation, of = item["assumption"], item["relation"], item.get("of")
        if of not in (None, "client", "sample", "average"):
            raise FormatError(f"of={shown(of)} is none of client, sample, average")
        if assumption is None and relation is None:
            checks.check(False, f"{name} cannot be checked: it has neither a relation nor an assumption")
        if relation is not None:
            text_of(relation, "a relation")
            holds = checks.attempt(name, relation_holds, relation, look, j0)
            if holds is not None:
                checks.check(holds, f"{name}: {shown(relation)}")
        if assumption is None:
            continue
        of = of or ("sample" if assumption == "Convex" else "client")
        by = {
            "client": [c.curvature for c in clients],
            "sample": [h for c in clients for h in c.h],
            "average": [context.instance.curvature],
        }[of]
        default = {"Smooth": "L", "StronglyConvex": "mu", "BoundedEstimatorSecondMoment": "G2"}
        if item.get("at") not in (None, "domain", "iterates"):
            raise FormatError(f"at={shown(item['at'])} is neither domain nor iterates")
        symbol = item.get("constant") or default.get(str(assumption), "")
        bound = given.get(text_of(symbol, "constant"))
        symbol = shown(symbol)  # from here on for the reader
        if assumption == "Smooth":  # a constant that is no parameter is one that exists, as it does for every quadratic
            holds, says = bound is None or bound >= max(map(abs, by)), f"every |h| of a {of} is at most {symbol}"
        elif assumption == "StronglyConvex":
            holds, says = (
                0 < (min(by) if bound is None else bound) <= min(by),
                f"every h of a {of} is at least {symbol}",
            )
        elif assumption == "Convex":
            holds, says = min(by) >= 0, f"every h of a {of} is at least 0"
        elif assumption == "UnbiasedSampling":
            holds, says = True, "a sample is drawn uniformly among the client's own"
        elif assumption == "IndependentParticipation":
            holds = context.instance.empty != "condition"
            says = "clients take part independently, each with its own probability p > 0"
        elif assumption == "HalfStep":
            least = max(map(abs, by)) if bound is None else bound
            holds = all(step > 0 and 2 * step * least <= 1 for step in context.instance.step)
            says = f"the step is at most 1/(2 {symbol})"
        elif assumption == "BoundedEstimatorSecondMoment":
            holds, says = bounded(bound), f"E||v||^2 is at most {symbol} all along the run"
        elif isinstance(assumption, str) and assumption in ON_DOMAIN:
            says, compute = ON_DOMAIN[assumption]
            computed = checks.attempt(name, compute, context.instance)
            if computed is None:
                continue
            holds, says = bound is None or computed <= bound, says.format(symbol)
        else:
            holds, says = False, f"the assumption {shown(assumption)} is unknown, so it cannot be checked"
        checks.check(holds, f"{name}: {says}")


def width(instance: Instance) -> Fraction:
    low, high = domain(instance)
    return high - low


# assumption -> what it says of W (see `domain`), and what its constant has to reach
ON_DOMAIN: dict[str, tuple[str, Callable[[Instance], Fraction]]] = {
    "VarianceAtMost": ("a sampled gradient has variance at most {} on W, which holds all iterates", largest_variance),
    "BoundedDissimilarity": ("(f_n' - f')^2 is at most {} on W, which holds all iterates", largest_dissimilarity),
    "BoundedDomain": ("W is an interval", width),
    "InteriorMinimiser": ("f'(w*) = 0 at the minimiser of f over W", lambda instance: 0 * minimiser(instance)),
}


def smooth_samples(hypotheses: Any) -> bool:
    """Whether a hypothesis makes L a constant of every sample's function."""
    listed = [h for h in list_of(hypotheses, "hypotheses") if isinstance(h, dict)]
    return any(h.get("assumption") == "Smooth" and h.get("of") == "sample" for h in listed)


def bounded_along(context: Context) -> Callable[[Fraction | None], bool]:
    return lambda bound: bound is None or PARAMETERS["G2"][1](context) <= bound
