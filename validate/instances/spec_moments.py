"""The exact moments of a first specification, under the names that it has always had in JSON.

They are those of its instance. Where all that a round leaves behind is one number x, a round is known by what it makes
of three starts: E x and E x^2 after it, and all that is asked of the round, are polynomials in x of degree 2. So rounds
of which each is an instance, but which together are none (chances that differ both between clients and between rounds;
rounds that are drawn again until somebody takes part), have their moments too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, TypeAlias

from theory.claim import claim
from theory.formula import Name
from theory.papers.specs import SPECS
from validate.expected import side_of, world_of
from validate.instances.instance import Instance
from validate.instances.kinds import read_problem
from validate.instances.named import algorithm_named
from validate.instances.problems import Quadratics, in_floats
from validate.instances.runs import moments_of_instance
from validate.instances.specs import one_round_of, spoken
from validate.on_instance import setting_of, valued

LISTS = ("mean", "second_moment", "squared_gradient_norm", "suboptimality")
DIGITS = 60
"""With which floats are worked out, so that what was flung out and came back has digits."""
MOST_STEPS = 64
"""Steps of a client in a round over which sums are taken, in fractions; in floats four times as many."""

Polynomial: TypeAlias = "tuple[Any, Any, Any]"
"""Of degree 2, constant first."""


def moments_of_spec(spec: Mapping[str, Any], *, exact: bool) -> dict[str, Any]:
    """What is printed of a specification that `validate.scenario.read_scenario` accepts, by name.

    Args:
        spec: the specification.
        exact: in Fractions, else in floats.

    Returns:
        Lists over the rounds and numbers; None for one that does not exist, or is a sum over too many steps.

    Raises:
        ValueError: where there are no such moments, and why.
    """
    table = SPECS[spec["algorithm"]]
    return _by_rounds(spec, table, exact) if "sums" in table else _of_instance(spec, table, exact)


def _of_instance(spec: Mapping[str, Any], table: Mapping[str, Any], exact: bool) -> dict[str, Any]:
    rounds = int(spec[table["rounds"]])
    instance = spoken(spec) if rounds else one_round_of(spec)
    if instance is None:
        instance = one_round_of(spec)  # says what is wrong with it
    found = moments_of_instance(instance, exact=exact)
    lists = {name: getattr(found, name) for name in (*LISTS, *table.get("lists", ()))}
    result = {name: None if v is None else [*v[: rounds + 1].ravel()] for name, v in lists.items()}
    also: Mapping[str, tuple[str, int]] = table.get("also", {})
    bounded = result["suboptimality"] is not None
    texts = {name: text for name, (text, _) in also.items() if bounded or "fstar" not in text}
    if texts:
        told = _told(texts, table["where"], instance, exact)
        for name, (_, last) in also.items():
            result[name] = [told(name, k) for k in range(rounds + last)] if name in texts else None
    return result


def _told(
    texts: Mapping[str, str], where: Mapping[str, str], instance: Instance, exact: bool
) -> Callable[[str, int], Any]:
    """What gives the value of each of some formulas in round k."""
    every = f"{' + '.join(texts)} <= 0"
    asked = claim("asked", every, of=algorithm_named(instance.algorithm), where={**where, **texts})
    assert isinstance(instance.problem, Quadratics)
    problem = instance.problem.quadratic if exact else in_floats(instance.problem.quadratic)
    world = world_of(asked, problem, setting_of(asked, valued(asked, instance, {})))
    return lambda name, k: side_of(Name(name), world, {"k": k})


# --- round by round --------------------------------------------------------------------------------------------------


def _by_rounds(spec: Mapping[str, Any], table: Mapping[str, Any], exact: bool) -> dict[str, Any]:
    rounds = int(spec[table["rounds"]])
    first = one_round_of(spec)
    assert isinstance(first.problem, Quadratics)
    quadratic, names = first.problem.quadratic, tuple(table["sums"])
    if prod(int(spec[old]) for old in table["parameters"] if old != "step") > (MOST_STEPS if exact else 4 * MOST_STEPS):
        names = ()
    H, b = quadratic.mean_hessian[0, 0], quadratic.mean_linear[0]
    centre = b / H if H != 0 else Fraction(0)
    again = spec.get("empty") == "condition"

    @cache
    def known(step: Any, chances: tuple[Any, ...]) -> tuple[Any, list[Polynomial]]:
        one = one_round_of(spec, step, chances)
        present: Any = one.parameters["p"]
        empty = prod((1 - p for p in present), start=Fraction(1)) if again else Fraction(0)
        return empty, _polynomials(one, centre, table, names, exact)

    def at(value: Any, k: int) -> Any:
        return value[k] if isinstance(value, list | tuple) else value

    with localcontext(Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))):
        z = first.start[0] - centre
        state = tuple(_number(x, exact) for x in (1, z, z * z))  # E of 1, z, z^2 with z = x - centre
        states, sums = [state], {name: _number(Fraction(0), exact) for name in names}
        for k in range(rounds):
            chances = tuple(at(client.get("p", 1), k) for client in spec["clients"])
            empty, polynomials = known(at(spec["step"], k), chances)
            e, (mean, square, *others) = (
                _number(empty, exact),
                [tuple(_number(c, exact) for c in one) for one in polynomials],
            )
            for name, one in zip(sums, others, strict=True):
                sums[name] += _at(one, state)
            after = (state[0], _at(mean, state), _at(square, state))
            state = tuple((new - e * old) / (1 - e) for new, old in zip(after, state, strict=True)) if again else after
            states.append(state)
        c, H, slope = (_number(x, exact) for x in (centre, H, H * centre - b))
        lists = {
            "mean": [c + z for _, z, _ in states],
            "second_moment": [z2 + 2 * c * z + c * c for _, z, z2 in states],
            "squared_gradient_norm": [H * H * z2 + 2 * H * slope * z + slope * slope for _, z, z2 in states],
            "suboptimality": [H * z2 / 2 for _, _, z2 in states] if H > 0 or (H == 0 and slope == 0) else None,
        }
        every = {**lists, **dict.fromkeys(table["sums"]), **sums}
        return {name: None if value is None else _printed(value) for name, value in every.items()}


def _polynomials(
    one: Instance, centre: Fraction, table: Mapping[str, Any], names: Sequence[str], exact: bool
) -> list[Polynomial]:
    """Of z = x - centre at the start of a round: E z and E z^2 after it, exactly, and the sums over what is in it."""
    rows = []
    for z in (0, 1, -1):
        start = replace(one, start=(centre + z,))
        found = moments_of_instance(start, exact=True)
        mean = found.mean[1][0]
        row = [mean - centre, found.second_moment[1][0, 0] - 2 * centre * mean + centre * centre]
        if names:
            told = [_told(table["sums"], {}, client, exact) for client in _alone(start, table["tapped"])]
            row += [sum(value(name, 0) for value in told) for name in names]
        rows.append(row)
    return [(v, (up - down) / 2, (up + down) / 2 - v) for v, up, down in zip(*rows, strict=True)]


def _alone(one: Instance, tapped: str) -> list[Instance]:
    """Each client alone: what is asked of a round is summed over the clients, and none knows of the others in it."""
    assert one.problem is not None
    program, chances, found = algorithm_named(tapped).program, list[Any](), list[Instance]()
    chances.extend(one.parameters["p"])  # type: ignore[arg-type]
    for n, samples in enumerate(one.problem.to_json()["clients"]):
        own = {**one.parameters, "p": (chances[n],)}
        problem = read_problem({"clients": [samples]})
        found.append(replace(one, program=program, algorithm=tapped, parameters=own, problem=problem))
    return found


def _at(polynomial: Sequence[Any], state: Sequence[Any]) -> Any:
    return sum(c * m for c, m in zip(polynomial, state, strict=True))


def _number(value: Any, exact: bool) -> Any:
    return Fraction(value) if exact else Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)


def _printed(value: Any) -> Any:
    """Decimals as floats.

    Raises:
        ValueError: beyond their range.
    """
    if isinstance(value, list):
        return [_printed(v) for v in value]
    if not isinstance(value, Decimal):
        return value
    found = float(value)
    if found in (float("inf"), float("-inf")):
        raise ValueError("the moments leave the range of float64: the iterates diverge in mean square, or are large")
    return found
