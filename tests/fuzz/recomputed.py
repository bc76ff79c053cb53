"""Answers computed a second time, by code that the first computation does not use.

Formulas by the verifier and by `theory`, exact moments by the verifier and by `sim`, bounds in floats and in balls.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

F = Fraction
PRECISION = 512
CLOSE = 1e-6  # of computations in floats, relative


# --- formulas --------------------------------------------------------------------------------------------------------


class Unknown(Exception):
    """Something that is not computed here."""


def balls(text: str, names: Mapping[str, Any], definitions: Mapping[str, str] | None = None) -> Any:
    """A formula's value by `theory`: a Fraction, or a ball around it.

    Raises:
        Unknown: for a name without a value.
    """
    from theory import arithmetic, formula

    trees = {name: formula.parse(own) for name, own in (definitions or {}).items()}
    known: dict[str, Any] = dict(names)
    with arithmetic.balls(PRECISION) as reals:

        def value(tree: Any, within: tuple[str, ...] = ()) -> Any:
            for name in formula.names_in(tree):
                if name not in known:
                    if name not in trees or name in within:
                        raise Unknown(name)
                    known[name] = value(trees[name], (*within, name))
            return reals.evaluate(tree, known)

        return value(formula.parse(text))


def numbers(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as fractions, lists of them as tuples."""
    return {k: tuple(map(F, v)) if isinstance(v, list) else F(v) for k, v in given.items()}


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Bounds on a Fraction or a ball."""
    if isinstance(value, Fraction | int):
        return F(value), F(value)
    low, high = value.lower(), value.upper()
    return _exactly(low), _exactly(high)


def _exactly(point: Any) -> Fraction:
    mantissa, exponent = point.man_exp()
    return F(int(mantissa)) * F(2) ** int(exponent)


def false_between(left: Any, relation: str, right: Any) -> bool:
    """Whether the relation is false for some numbers of both, and for all that a rounding error leaves."""
    (a, b), (c, d) = ends(left), ends(right)
    return {"<=": b > c, "<": b >= c, ">=": a < d, ">": a <= d, "=": a != c or b != d}[relation]


def is_rounded(printed: str, value: Any, close: float = 0.0) -> bool:
    """Whether a printed number is this one, or this one rounded to as many decimals.

    Args:
        printed: as a certificate has it.
        value: a Fraction or a ball.
        close: relative error of the value, where it comes from floats.
    """
    low, high = ends(value)
    low, high = low - F(close) * abs(low), high + F(close) * abs(high)
    if "/" in printed or ("." not in printed and low == high):
        return low <= F(printed) <= high and (low == high or close > 0)
    half = F(1, 2 * 10 ** len(printed.partition(".")[2]))
    return F(printed) - half <= high and low <= F(printed) + half


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
        one = verifier.evaluate(verifier.parse(text, "it"), values.__getitem__)
    except (verifier.FormatError, verifier.Uncheckable, KeyError):
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


def moments_agree(spec: Mapping[str, Any], exact: Any, rounded: Any) -> bool:
    """Whether the exact moments of a small SPEC were found again by the verifier's own code.

    Raises:
        AssertionError: when they differ.
    """
    from sim.exact_moments import DivergenceError
    from validate import verifier

    kind = spec.get("algorithm")
    steps = [spec.get(name, 1) for name in ("S", "M", "local_steps")]
    if not all(str(step).strip().isdecimal() for step in steps):
        return False
    if exact.problem.clients * max(exact.rounds, 1) * prod(map(int, steps)) > SMALL:
        return False
    arrays = (exact.problem.hessian, exact.problem.linear, exact.start, np.array(exact.algorithm.step, dtype=object))
    lengths = sum(_bits(F(value)) for array in arrays for value in array.reshape(-1))
    if lengths * max(exact.rounds, 1) > 20_000:
        return False
    try:
        found = exact.moments()
    except (ValueError, DivergenceError):
        return False
    with suppress(ValueError, DivergenceError, FloatingPointError, OverflowError):
        floats = rounded.moments()
        for k, value in enumerate(found.squared_iterate_norm):
            scale = max(abs(value), max(map(abs, found.squared_iterate_norm)), F(1))
            assert abs(F(float(floats.squared_iterate_norm[k])) - value) <= F(1, 10**4) * scale, (k, value)
    if exact.rounds == 0 or kind == "shuffling-local-sgd":
        return kind == "shuffling-local-sgd" and shuffling_mean(exact, found)
    plain = as_certificate(spec, exact.rounds)
    try:
        if kind == "fedmim":
            ours = played(spec, exact.rounds)
        else:
            instance = verifier.read_instance(plain)
            ours = [(instance.theta0, instance.theta0**2)]
            for k in range(instance.K):
                ours.append(verifier.play_round(instance, k, ours[-1]).end)
    except verifier.FormatError:
        return False
    theirs = [(found.mean[k][0], found.second_moment[k][0][0]) for k in range(exact.rounds + 1)]
    assert ours == theirs, (ours, theirs)
    return True


def played(spec: Mapping[str, Any], rounds: int) -> list[tuple[Fraction, Fraction]]:
    """E x_k and E x_k^2 of a scalar SPEC, k = 0..K, every outcome played.

    Raises:
        FormatError: where there are too many outcomes.
    """
    from theory.operations import to_fraction
    from validate import verifier
    from validate.instances.specs import instance_from
    from validate.play import Play
    from validate.rounds import TooManyOutcomesError

    play = Play(instance_from({**spec, "K": rounds}), 2000)
    found = []
    try:
        for k in range(rounds + 1):
            law = [
                (to_fraction(p), to_fraction(outcome["x", (k,)][0]))
                for p, outcome in play.joint(frozenset({("x", (k,))}))
            ]
            found.append((sum(p * x for p, x in law), sum(p * x * x for p, x in law)))
    except TooManyOutcomesError as error:
        raise verifier.FormatError(str(error)) from None
    return found


def _bits(value: Fraction) -> int:
    return max(abs(value.numerator), value.denominator).bit_length()


def as_certificate(spec: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    """A SPEC in the words that a certificate has for it: every number as text, one sample as a list of one."""

    def text(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [text(entry) for entry in value]
        return str(F(repr(value) if isinstance(value, float) else value)) if not isinstance(value, dict) else value

    def listed(value: Any) -> Any:
        return value if isinstance(value, list) else [value]

    words = ("algorithm", "aggregation", "empty")
    found = {key: value if key in words else text(value) for key, value in spec.items() if key != "clients"}
    found["K"] = rounds
    lists = ("h", "a", "b")
    found["clients"] = [
        {key: text(listed(value) if key in lists else value) for key, value in client.items()}
        for client in spec["clients"]
    ]
    if spec["algorithm"] == "fedmim":
        found = {"S": len(spec["clients"]), "alpha": [], "beta": [], **found}
    else:
        found["clients"] = [{"p": "1", **client} for client in found["clients"]]
    return found


def shuffling_mean(scenario: Any, found: Any) -> bool:
    """Whether E v^r is that over all orders; True when it was compared.

    Raises:
        AssertionError: when it differs.
    """
    h, b = (getattr(scenario.problem, name) for name in ("hessian", "linear"))
    N, weights = scenario.problem.clients, scenario.algorithm.weights
    steps = scenario.algorithm.step
    mean = F(scenario.start[0])
    for r in range(scenario.rounds):
        step = F(steps[r] if isinstance(steps, tuple | list | np.ndarray) else steps)
        ends_ = []
        for order in permutations(range(N)):
            v = mean  # every order maps v affinely, so the mean of what it maps to is where it maps the mean
            for j in order:
                H, B = (sum(map(F, part[j].reshape(-1))) / part[j].size for part in (h, b))
                for _ in range(scenario.algorithm.local_steps):
                    v -= step * F(weights[j]) * N * (H * v - B)
            ends_.append(v)
        mean = sum(ends_, F(0)) / len(ends_)
        assert mean == found.mean[r + 1][0]
    return True
