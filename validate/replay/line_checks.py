"""The ways of checking one line of a proof: algebra, the Gram prover, orders, the ordinary check, citations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from theory.claim import Claim, Hypothesis, Step
from theory.domain import Domain
from validate.algebra import holds
from validate.files import target_of
from validate.proving import contradiction
from validate.replay.inference import Facts, counterexample
from validate.verdict import Result

if TYPE_CHECKING:
    from theory.claim import OrderLine, VectorLine

LineOutcome = Literal["proved", "holds", "fails", "refuted", "undecided", "cited"]

# Which of several findings about a line decides: a refutation, then what is certain, then what is likely.
DECIDES: tuple[LineOutcome, ...] = ("refuted", "fails", "proved", "holds", "cited", "undecided")
_SHOWN = 8  # vectors of a counterexample that are written out


@dataclass(frozen=True)
class Finding:
    """What one way of checking says of a line.

    Attributes:
        outcome: ``proved`` (exactly, for all parameters), ``holds`` (never broken; a vector line, proved at its
            settings only), ``fails`` (broken, but without a certificate), ``refuted``, ``cited`` (nothing but a
            citation), ``undecided``.
        method: the way.
        detail: a sentence or two.
        counterexample: plain data, with a ``text``; None unless refuted.
    """

    outcome: LineOutcome
    method: str
    detail: str
    counterexample: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "outcome": self.outcome,
            "method": self.method,
            "detail": self.detail,
            "counterexample": None if self.counterexample is None else dict(self.counterexample),
        }


def by_algebra(step: Step, domains: Mapping[str, Domain], facts: Facts | None = None) -> Finding:
    """A scalar line: proved for all values in their domains that satisfy the claim's relations, or refuted by some."""
    assert step.identity is not None
    facts = facts or Facts()
    try:
        shown = holds(step, domains, facts.relations) is True
    except ValueError as error:  # a side that has no value at all, such as 1/0
        return Finding("undecided", "algebra", f"algebra does not tell: {error}")
    if shown:
        which = "" if not facts.relations or holds(step, domains) is True else " that satisfy the claim's hypotheses"
        return Finding("proved", "algebra", f"by algebra, for all values in their domains{which}")
    found = counterexample(step, domains, facts)
    if found is None:
        return Finding("undecided", "algebra", "algebra does not tell")
    values, left, right = found
    where = ", ".join(f"{name}={value}" for name, value in values.items())
    text = f"at {where} the left side is {left}, the right side {right}"
    return Finding(
        "refuted",
        "algebra",
        "not an identity" if step.relation == "=" else "not true of all values that the claim's hypotheses allow",
        {"kind": "values", "text": text, "values": values, "left": left, "right": right},
    )


def by_vectors(line: VectorLine) -> Finding:
    """A line about vectors, at each of its settings.

    Raises:
        ValueError: when a setting is not a rational number.
    """
    return _by_vectors(line.build, tuple(tuple(setting.items()) for setting in line.settings), line.scope)


@lru_cache(256)  # a claim and its repairs share lines
def _by_vectors(build: Callable[..., Any], settings: tuple[tuple[tuple[str, str], ...], ...], scope: str) -> Finding:
    from theory.inequality.prover import Proof, Refutation, prove
    from theory.inequality.vectors import exact

    at = "; ".join(", ".join(f"{name}={value}" for name, value in setting) for setting in settings if setting)
    at = f"{len(settings)} {'setting' if len(settings) == 1 else 'settings'} ({at or 'all vectors'})"
    at += f", of which its author notes: {scope}" if scope and any(settings) else ""
    open_, empty = [], []
    for setting in map(dict, settings):
        space, claim, given = build({name: exact(value, name) for name, value in setting.items()})
        contradictory = contradiction(given, space, ", ".join(map("=".join, setting.items())) or "for all vectors", {})
        if contradictory is not None:
            empty.append(contradictory.detail)
            continue
        answer = prove(claim, given, space)
        if isinstance(answer, Refutation):
            where = ", ".join(f"{name}={value}" for name, value in setting.items())
            data = {"kind": "vectors", "text": _vectors_in_words(answer, where), "setting": setting}
            return Finding(
                "refuted",
                "Gram prover",
                f"false at {where}: explicit vectors satisfy the hypotheses and break it",
                {**data, "refutation": answer.to_json()},
            )
        if not isinstance(answer, Proof):
            open_.append(answer.reason)
    if open_:
        return Finding("undecided", "Gram prover", f"of {at}, {len(open_)} not decided: {open_[0]}")
    if empty:
        return Finding("undecided", "Gram prover", f"of {at}, {empty[0]}")
    if any(settings):
        return Finding("holds", "Gram prover", f"proved by multipliers at {at}, and at these only")
    return Finding("proved", "Gram prover", "proved by multipliers, for all vectors")


def _vectors_in_words(answer: Any, where: str) -> str:
    vectors = [f"{name} = ({', '.join(map(str, row))})" for name, row in answer.vectors.items()]
    more = f" and {len(vectors) - _SHOWN} more" if len(vectors) > _SHOWN else ""
    units = "" if all(w == 1 for w in answer.configuration.weights) else ", coordinates in units of square roots"
    what = "the sides differ by" if answer.claim.relation == "==" else "the left side exceeds the right by"
    return f"{where}: {', '.join(vectors[:_SHOWN])}{more}{units}; {what} {answer.excess}"


def by_order(line: OrderLine, find: Callable[[str], Claim]) -> Finding:
    """A line about the orders of a bound's terms, or about the best exponent of a schedule."""
    import sympy

    from theory.expression import names_in, parse, to_sympy
    from theory.order import best_exponent, exponents

    def read(text: str) -> sympy.Expr:
        formula = parse(text)
        return to_sympy(formula, {name: sympy.Symbol(name, positive=True) for name in names_in(formula)})

    grows = line.variable
    found = exponents(find(line.bound), line.schedule, grows)
    wrong = [
        (name, text, found.get(name))
        for name, text in line.exponents.items()
        if name not in found or sympy.simplify(found[name] - read(text)) != 0
    ]
    if wrong:
        text = "; ".join(f"{name} is of order {grows}^({true}), not {grows}^({said})" for name, said, true in wrong)
        terms = {name: {"claimed": said, "true": str(true)} for name, said, true in wrong}
        return Finding("refuted", "order", text, {"kind": "orders", "text": text, "terms": terms})
    if line.best is not None:
        best, order = best_exponent(found)
        if (best, order) != tuple(sympy.Rational(text) for text in line.best):
            claimed = f", {grows}^".join(f"({text})" for text in line.best)
            text = f"the best exponent is {best}, where the bound is of order {grows}^({order}); claimed: {claimed}"
            data = {"claimed": list(line.best), "true": [str(best), str(order)]}
            return Finding("refuted", "order", text, {"kind": "orders", "text": text, "best": data})
    return Finding("proved", "order", "by algebra, for every exponent of the step")


def by_claim(encoded: Claim, claim: Claim, results: Mapping[str, Result]) -> Finding:
    """A line that a claim encodes, by that claim's verdict.

    Args:
        encoded: what the line says.
        claim: whose proof is replayed.
        results: verdicts by id.
    """
    result = results.get(encoded.id)
    method = "check"
    if result is None:
        return Finding("undecided", method, f"{encoded.id} was not checked")
    inner = ""
    if encoded.steps and encoded.id != claim.id:
        inner = f" (its own proof: fedproof replay {target_of(encoded.id)})"
    outcomes: dict[str, LineOutcome] = {"proved": "proved", "supported": "holds", "refuted": "refuted"}
    outcome = outcomes.get(result.verdict, "undecided")
    if outcome == "undecided" and any(e.outcome == "fails" for e in result.evidence):
        outcome = "fails"
    telling = [e for e in result.evidence if e.outcome == outcome and e.kind not in ("hypotheses", "algebra")]
    telling = telling or [e for e in result.evidence if e.outcome == outcome] or list(result.evidence)
    detail = f"{encoded.id} is {result.verdict}: {telling[0].detail if telling else 'no evidence'}{inner}"
    if outcome != "refuted":
        return Finding(outcome, method, detail)
    data = {"kind": "instance", "text": telling[0].detail, "certificate": result.certificate}
    return Finding(outcome, method, detail, {**data, **(telling[0].data or {})})


def missing(step: Step, claim: Claim) -> tuple[Hypothesis, ...]:
    """The hypotheses of what a line cites that the claim does not print."""
    printed = [h for h in claim.conditions if h.printed]

    def assumed(needed: Hypothesis) -> bool:
        if needed.assumption is not None:
            return any(h.assumption == needed.assumption for h in printed)
        if needed.relation is not None:
            return any(h.relation == needed.relation for h in printed)
        return any(h.name == needed.name for h in printed)

    return tuple(h for h in step.needs if not assumed(h))
