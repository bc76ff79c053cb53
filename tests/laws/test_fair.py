"""Law 7, fair to the author: a condition that the paper fixes elsewhere for a result is in the claim as `standing`, and
a refutation satisfies it too; what a printed claim has is printed, or stands somewhere that is named.

The relations are evaluated here by Python and mpmath, not by `theory.evaluate`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from tests.laws.all_papers import certificates, checked
from theory.catalog import claim as find
from theory.catalog import claims
from theory.claim import Claim, Hypothesis
from theory.evaluate import hypotheses
from theory.written import Claim as Written
from validate.assumptions import unmet
from validate.certificate import differences, verify

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


class Number:
    """A number at 60 digits, with the operators of the formulas; a list is a vector, entry by entry."""

    def __init__(self, value: Any) -> None:
        self.value = [Number(v).value for v in value] if isinstance(value, list) else _mpf(value)

    def _with(self, other: Any, what: Callable[[Any, Any], Any], turned: bool = False) -> Number:
        one, two = self.value, other.value if isinstance(other, Number) else _mpf(other)
        one, two = (two, one) if turned else (one, two)
        if not isinstance(one, list) and not isinstance(two, list):
            return Number(what(one, two))
        length = len(one) if isinstance(one, list) else len(two)
        pairs = zip(*(v if isinstance(v, list) else [v] * length for v in (one, two)), strict=True)
        return Number([what(a, b) for a, b in pairs])

    def __add__(self, other: Any) -> Number:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Number:
        return self._with(other, operator.add, True)

    def __sub__(self, other: Any) -> Number:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Number:
        return self._with(other, operator.sub, True)

    def __mul__(self, other: Any) -> Number:
        return self._with(other, operator.mul)

    def __rmul__(self, other: Any) -> Number:
        return self._with(other, operator.mul, True)

    def __truediv__(self, other: Any) -> Number:
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: Any) -> Number:
        return self._with(other, operator.truediv, True)

    def __pow__(self, other: Any) -> Number:
        return self._with(other, operator.pow)

    def __neg__(self) -> Number:
        return 0 - self


def _mpf(value: Any) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction | int) else value


def _single(function: Callable[[Any], Any]) -> Callable[[Number], Number]:
    return lambda x: Number([function(v) for v in x.value] if isinstance(x.value, list) else function(x.value))


def _several(function: Callable[..., Any]) -> Callable[..., Number]:
    def of(*arguments: Any) -> Number:
        values = [a.value if isinstance(a, Number) else _mpf(a) for a in arguments]
        return Number(function(values[0] if isinstance(values[0], list) else values))

    return of


FUNCTIONS: dict[str, Any] = {
    **{name: _single(getattr(mpmath, name)) for name in ("exp", "log", "sqrt")},
    "abs": _single(abs),
    **{name: _several(f) for name, f in (("sum", sum), ("max", max), ("min", min), ("amax", max), ("amin", min))},
}


def value(formula: str, names: Mapping[str, Number]) -> Any:
    """A formula's value; literals are fractions."""
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])", r"Number(Fraction('\1'))", formula)
    found = eval(text, {"__builtins__": {}, "Number": Number, "Fraction": Fraction, **FUNCTIONS, **names})
    return found.value if isinstance(found, Number) else found


def holds(relation: str, names: Mapping[str, Number]) -> bool:
    """A chain of relations, all of which have to hold; between vectors, for all entries."""
    sides = re.split(r"(<=|>=|==|<|>)", relation)
    values = [value(side.strip(), names) for side in sides[::2]]
    answers = []
    for left, sign, right in zip(values, sides[1::2], values[1:], strict=False):
        pairs = [(left, right)]
        if isinstance(left, list) or isinstance(right, list):
            length = len(left) if isinstance(left, list) else len(right)
            pairs = list(zip(*(v if isinstance(v, list) else [v] * length for v in (left, right)), strict=True))
        # values that are equal in exact arithmetic may differ in the last of 60 digits
        close = [abs(a - b) <= mpmath.mpf(10) ** -50 * (1 + abs(a) + abs(b)) for a, b in pairs]
        answers += [("=" in sign) if near else COMPARE[sign](a, b) for near, (a, b) in zip(close, pairs, strict=True)]
    return all(answers)


def names_at(claim: Claim, certificate: Mapping[str, Any]) -> dict[str, Number]:
    """The claim's parameters as the certificate has them, and its definitions there."""

    def read(text: Any) -> Any:
        return [read(t) for t in text] if isinstance(text, list) else Fraction(text)

    found = {name: Number(read(text)) for name, text in certificate.get("parameters", {}).items()}
    for name, formula in claim.definitions.items():
        if set(re.findall(r"[A-Za-z_]\w*", formula)) <= {*found, *FUNCTIONS}:
            found[name] = Number(value(formula, found))
    return found


def test_the_evaluation_here_can_say_no() -> None:
    with mpmath.workdps(60):
        names = {"a": Number(Fraction(1, 3)), "v": Number([Fraction(1, 4), Fraction(1, 2)])}
        assert holds("a <= 1/3", names)
        assert not holds("a < 1/3", names)
        assert holds("sum(v) < 1", names)
        assert not holds("v < 1/2", names)
        assert holds("exp(log(2)) == 2", {})
        assert not holds("0 < a < 1/4", names)


def test_refutations_satisfy_every_hypothesis_and_every_standing_condition() -> None:
    refuted = [r.id for r in checked()[0].results if r.verdict == "refuted"]
    assert len(refuted) > 40
    relations = standing = 0
    for id in refuted:
        claim, certificate = find(id), certificates()[id]
        if isinstance(claim, Written):  # the verifier evaluates all that it assumes itself
            assert verify(certificate).valid, id
            assert differences(certificate, claim) == (), id
            assert len(certificate["assumptions"]) + len(certificate["relations"]) == len(claim.assumptions)
            continue
        listed = {h["name"]: h for h in certificate["hypotheses"]}
        assert verify(certificate).valid, id
        with mpmath.workdps(60):
            names = names_at(claim, certificate)
            for h in claim.conditions:
                assert h.name in listed, (id, h.name)
                assert listed[h.name].get("standing", "") == (h.where if h in claim.standing else "")
                standing += h in claim.standing
                if h.relation is not None and claim.parameters:
                    assert holds(h.relation, names), (id, h.name, h.relation)
                    relations += 1
        assert differences(certificate, claim) == (), id
    assert relations >= 20
    assert standing >= 13


PRINTED = [c for c in claims() if "/" not in c.label and not isinstance(c, Written)]


@pytest.mark.parametrize("claim", PRINTED, ids=lambda c: c.id)
def test_printed_claims_have_printed_or_standing_hypotheses_only(claim: Claim) -> None:
    assert [h.name for h in claim.hypotheses if not h.printed] == []
    for h in claim.standing:
        assert h.printed, h.name
        assert h.where, h.name


def test_a_standing_condition_says_where_it_stands() -> None:
    claim = find("perm/lemma-13")
    with pytest.raises(ValueError, match="do not say where the paper fixes them"):
        replace(claim, standing=(Hypothesis("step", "short"),))


def test_standing_conditions_are_asked_for_like_hypotheses() -> None:
    """By the evaluation, by `Claim.violated`, and by what a scenario is held against."""
    claim = find("perm/lemma-4")
    at = {"mu": 1, "L": 1, "N": 2, "delta2": 0, "dist": 1, "gap": 1, "drift": 0}
    assert claim.violated(**at, gamma=Fraction(51, 100)) == ("step size",)
    assert claim.violated(**at, gamma=Fraction(1, 2)) == ()
    assert hypotheses(claim, {**at, "gamma": 1})[-1] == {"name": "step size", "holds": False}
    from validate.papers import module

    from validate.scenario import Scenario

    perm = module("perm")
    seen = set()
    for spec in perm.instances(True):
        scenario = Scenario.from_spec(spec, exact=True)
        cases = perm.cases(claim, scenario)
        if cases is None:
            continue
        long = "step size" in unmet(claim, scenario, cases.parameters_at(0))
        assert long == (2 * Fraction(spec["step"]) * scenario.problem.smoothness > 1)
        seen.add(long)
        if len(seen) == 2:
            break
    assert seen == {True, False}
