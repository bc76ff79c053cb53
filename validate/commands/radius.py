"""How far can the iterates get: `fedproof radius`."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theory.papers import radii
from validate.commands import parameters_of
from validate.commands.options import AsJson
from validate.commands.output import number, plain, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from theory.bound import Bound
    from theory.claim import Claim


class Method(StrEnum):
    """The local optimisers."""

    sgd = "sgd"
    adam = "adam"


SGD_CONDITIONS = ("mu <= L", "eta <= 1/L")
TAKEN = {
    Method.sgd: ("mu", "L", "r", "sigma", "eta"),
    Method.adam: ("mu", "L", "eta", "beta1", "beta2", "eps", "sigma", "d", "r"),
}


def bounded(claim: Claim, parameters: Mapping[str, Any]) -> float | None:
    """The claim's right side at those of the parameters that it has, or None where it has no real value."""
    from theory.calculator import calculator
    from theory.evaluate import UndefinedError

    names = {p.name for p in calculator(claim).bound.parameters}
    try:
        value = float(claim.bound(**{name: value for name, value in parameters.items() if name in names}))
    except UndefinedError:
        return None
    return value if math.isfinite(value) else None


def conditions(claim: Bound, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The theorem's conditions on numbers: name, whether it holds, and what it says.

    The repaired claim also leaves out kappa = 1 with eta = 1/L, where its formula is 0/0; the radii exist there too.
    """
    from theory.evaluate import hypotheses

    return [
        {"name": hypothesis.name, "holds": found["holds"], "why": hypothesis.statement}
        for hypothesis, found in zip(claim.conditions, hypotheses(claim, dict(parameters)), strict=True)
        if hypothesis.relation in SGD_CONDITIONS
    ]


def of_sgd(numbers: Bound, parameters: dict[str, Any], dim: int) -> dict[str, Any]:
    """The radii of stochastic gradient descent, `numbers` being `radii.SGD_WITH_STEP` in numbers."""
    from theory import catalog
    from theory.floats import Floats
    from theory.stability import exact_radius, uniform_radius

    found = conditions(numbers, parameters)
    environment = Floats(numbers, parameters).environment
    constants = {name: float(environment[name]) for name in parameters}
    applies = all(c["holds"] is True for c in found)
    printed = bounded(catalog.claim(radii.SGD), parameters)
    exact = _finite(exact_radius, **constants, dim=dim) if applies else None
    return {
        "printed": printed,
        "exact": exact,
        "uniform": (_finite(uniform_radius, **constants) if dim == 1 else exact) if applies else None,
        "ratio": printed / exact if printed and exact else None,
        "applies": applies,
        "conditions": found,
        "parameters": parameters,
    }


def _finite(radius: Callable[..., Any], **constants: Any) -> float:
    """A radius in float64.

    Raises:
        ValueError: where its formula leaves the range of float64.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        found = float(radius(**constants))
    if not math.isfinite(found):
        values = ", ".join(f"{name}={constants[name]:g}" for name in ("mu", "L", "r", "sigma"))
        raise ValueError(f"the radius at {values} leaves the range of float64; choose other units of length and of f")
    return found


def of_adam(parameters: dict[str, Any]) -> dict[str, Any]:
    """The radii of Adam, and every condition of Theorem 3."""
    from theory import catalog
    from theory.stability.adam_region import applicable

    found = applicable(**parameters)
    return {
        "printed": found.radius if math.isfinite(found.radius) else None,
        "repaired": bounded(catalog.claim(radii.ADAM_REPAIRED), parameters),
        "applies": found.holds,
        "conditions": [{"name": c.name, "holds": c.holds, "why": c.why} for c in found.conditions],
        "terms": dict(found.terms),
        "parameters": parameters,
    }


WORDS = {
    "printed": "as printed",
    "exact": "least radius that one step cannot leave",
    "uniform": "radius for all time",
    "ratio": "printed / exact",
    "repaired": "repaired (r + sigma/mu + eta*sigma/sqrt(eps))",
}


def text(result: dict[str, Any]) -> str:
    """The radii for a reader."""
    lines = [
        f"{words}: {'has no real value, or does not apply' if result[key] is None else number(result[key])}"
        for key, words in WORDS.items()
        if key in result
    ]
    lines += [f"  {name} = {number(value)}" for name, value in result.get("terms", {}).items()]
    marks = {True: "holds", False: "VIOLATED", None: "not decided by these values"}
    lines += [f"  {c['name']}: {marks[c['holds']]}: {c['why']}" for c in result["conditions"]]
    lines.append("the theorem applies" if result["applies"] else "the theorem does not apply")
    return "\n".join(lines)


def radius(
    method: Annotated[Method, typer.Argument(metavar="METHOD", help="sgd or adam.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="sgd: mu, L, r, sigma and, if it is not 1/L, eta; adam: mu, L, eta, beta1, beta2, eps, sigma, d, r.",
        ),
    ] = None,
    dim: Annotated[int, typer.Option("--dim", min=1, help="Dimension, for sgd: one, or two and more.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Print stability radii: printed, exact, for all time.

    The ball that local SGD or local Adam does not leave in mean square: the theorem's radius, the exact worst
    one over the class (for SGD), and whether the theorem applies at these values; exit status 3 when it does not.

    Example: fedproof radius sgd --set mu=0.1 --set L=1 --set r=1 --set sigma=1/2
    """
    from theory import catalog

    claim = catalog.claim(radii.SGD_WITH_STEP if method is Method.sgd else radii.ADAM)
    given = list(assignments or ())
    if method is Method.sgd and not any(text.partition("=")[0].strip() == "eta" for text in given):
        given.append("eta=1/L")
    read, parameters = parameters_of.of_calculator(claim, given, f"fedproof radius {method.value}")
    for name in parameters:
        if name not in TAKEN[method]:  # one that the claim knows and no radius depends on
            raise ValueError(
                f"--set {name}: no radius of {method.value} depends on it; it takes {', '.join(TAKEN[method])}"
            )
    found = of_sgd(read.bound, parameters, dim) if method is Method.sgd else of_adam(parameters)
    result = plain({"method": method.value, **found})
    if as_json:
        print_json(result)
    else:
        typer.echo(text(result))
    if not result["applies"]:
        raise typer.Exit(3)
