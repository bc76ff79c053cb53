"""Answers computed a second time, by code that the first computation does not use.

Formulas by the verifier and by `theory`, exact moments by `sim` and by playing every outcome, bounds in floats and
in balls.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

F = Fraction
PRECISION = 512
CLOSE = 1e-6  # of computations in floats, relative


# --- formulas --------------------------------------------------------------------------------------------------------


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Bounds on a Fraction or a ball."""
    if isinstance(value, Fraction | int):
        return F(value), F(value)
    low, high = value.lower(), value.upper()
    return _exactly(low), _exactly(high)


def _exactly(point: Any) -> Fraction:
    mantissa, exponent = point.man_exp()
    return F(int(mantissa)) * F(2) ** int(exponent)


def by_the_verifier(text: str, values: Mapping[str, Fraction]) -> Any:
    """A formula's value by the verifier's own reader: a Fraction, or an interval.

    Raises:
        FormatError, Uncheckable: for what it does not read, or has no value.
    """
    from validate.verifier.scalars import Work
    from validate.verifier.sentences import read_formula
    from validate.verifier.spoken import World
    from validate.verifier.vocabulary import Vocabulary

    world = World(Vocabulary(), values, None, (), int(values["K"]), {}, Work(), None, None)
    return world.value(read_formula(text, "it"), {}, None)


def formulas_agree(text: str, tree: Any, values: Mapping[str, Fraction]) -> bool:
    """Whether both packages' formulas give the same rational; False when one of them gives none.

    Raises:
        AssertionError: when they differ.
    """
    from theory import arithmetic, formula
    from validate import verifier

    with suppress(RecursionError):
        assert formula.parse(formula.text_of(tree)) is not None or len(text) > 1000
    try:
        one = by_the_verifier(text, values)
    except (verifier.FormatError, verifier.Uncheckable):
        one = None
    try:
        formula.length(tree, {})  # refuses what takes vectors, as every caller of `theory` does first
        with arithmetic.balls(PRECISION) as reals:
            two = reals.evaluate(tree, {**values, **dict.fromkeys(formula.names_in(tree) - set(values), F(5))})
    except (ValueError, ArithmeticError):
        two = None
    if not isinstance(one, Fraction) or two is None or not formula.names_in(tree) <= set(values):
        return False
    low, high = ends(two)
    assert low <= one <= high, f"{text!r}: {one} by the verifier, {two} by theory"
    return True


def bound_is_enclosed(found: Mapping[str, Any]) -> None:
    """That the float of `fedproof bound` lies in the enclosure that `--rigorous` gives.

    Raises:
        AssertionError: otherwise.
    """
    value, lower, upper = (found[name] for name in ("value", "lower", "upper"))
    if value is None or lower is None or isinstance(value, list):
        return
    slack = CLOSE * abs(float(value)) + 1e-300
    assert float(lower) - slack <= float(value) <= float(upper) + slack, found


# --- moments ---------------------------------------------------------------------------------------------------------

SMALL = 400  # clients times local steps times rounds


def moments_agree(spec: Mapping[str, Any], exact: Any) -> bool:
    """Whether the exact moments of a small SPEC were found again by playing it.

    Raises:
        AssertionError: when they differ.
    """
    from validate.instances.spec_moments import moments_of_spec

    kind = spec.get("algorithm")
    steps = [spec.get(name, 1) for name in ("S", "M", "local_steps")]
    if not all(str(step).strip().isdecimal() for step in steps):
        return False
    if exact.problem.clients * max(exact.rounds, 1) * prod(map(int, steps)) > SMALL:
        return False
    arrays = (exact.problem.hessian, exact.problem.linear, exact.start)
    numbers = [*(v for array in arrays for v in array.reshape(-1)), *_numbers(list(exact.parameters.values()))]
    lengths = sum(_bits(F(value)) for value in numbers)
    if lengths * max(exact.rounds, 1) > 20_000:
        return False
    try:
        found = moments_of_spec(spec, exact=True)
    except ValueError:
        return False
    with suppress(ValueError, FloatingPointError, OverflowError):
        floats = moments_of_spec(spec, exact=False)
        for k, value in enumerate(found["second_moment"]):
            scale = max(abs(value), max(map(abs, found["second_moment"])), F(1))
            assert abs(F(float(floats["second_moment"][k])) - value) <= F(1, 10**4) * scale, (k, value)
    if exact.rounds == 0 or kind == "shuffling-local-sgd":
        return kind == "shuffling-local-sgd" and shuffling_mean(exact, found)
    ours = played(spec, exact.rounds)
    if ours is None:
        return False
    theirs = list(zip(found["mean"], found["second_moment"], strict=True))
    assert ours == theirs, (ours, theirs)
    return True


def played(spec: Mapping[str, Any], rounds: int) -> list[tuple[Fraction, Fraction]] | None:
    """E x_k and E x_k^2 of a scalar SPEC, k = 0..K, every outcome played; None where they are too many to be played,
    and for what no instance of the language says."""
    from theory.operations import to_fraction
    from validate.instances.specs import instance_from
    from validate.play import Play
    from validate.rounds import TooManyOutcomesError

    found = []
    try:
        play = Play(instance_from({**spec, "K": rounds}), 2000)
        for k in range(rounds + 1):
            law = [
                (to_fraction(p), to_fraction(outcome["x", (k,)][0]))
                for p, outcome in play.joint(frozenset({("x", (k,))}))
            ]
            found.append((sum(p * x for p, x in law), sum(p * x * x for p, x in law)))
    except (ValueError, TooManyOutcomesError):
        return None
    return found


def _numbers(value: Any) -> Iterator[Any]:
    """The numbers of a scenario's parameters: alone, in lists, one a round."""
    if isinstance(value, dict):
        value = value["k"]
    if isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    else:
        yield value


def _bits(value: Fraction) -> int:
    return max(abs(value.numerator), value.denominator).bit_length()


def shuffling_mean(scenario: Any, found: Any) -> bool:
    """Whether E v^r is that over all orders; True when it was compared.

    Raises:
        AssertionError: when it differs.
    """
    h, b = (getattr(scenario.problem, name) for name in ("hessian", "linear"))
    N, steps, H = scenario.problem.clients, scenario.parameters["eta"], scenario.parameters["H"]
    mean = F(scenario.start[0])
    for r in range(scenario.rounds):
        step = F(steps["k"][r] if isinstance(steps, dict) else steps)
        ends_ = []
        for order in permutations(range(N)):
            v = mean  # every order maps v affinely, so the mean of what it maps to is where it maps the mean
            for j in order:
                curvature, B = (sum(map(F, part[j].reshape(-1))) / part[j].size for part in (h, b))
                for _ in range(H):
                    v -= step * F(scenario.shares[j]) * (curvature * v - B)
            ends_.append(v)
        mean = sum(ends_, F(0)) / len(ends_)
        assert mean == found["mean"][r + 1]
    return True
