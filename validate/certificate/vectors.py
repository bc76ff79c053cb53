"""Certificates of explicit vectors that break a lemma about vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from validate.certificate.parts import Certificate, about, as_text


def vectors_certificate(
    claim: Claim, refutation: Mapping[str, Any], setting: Mapping[str, str], *, note: str = ""
) -> Certificate:
    """A certificate of kind ``"vectors"``; `validate.verifier.gram` says what is checked.

    Args:
        claim: the claim as printed; its quantity, relation, right side, definitions and hypotheses are copied, those
            that its proof uses silently too.
        refutation: `theory.inequality.prover.Refutation.to_json` of the claim's `VectorLine` at the setting.
        setting: the values of the parameters there, as texts.
        note: a remark for the reader.

    Raises:
        ValueError: when a value is outside its parameter's domain, or not exact.
    """
    outside = outside_domains(claim, setting)
    if outside:
        raise ValueError(f"setting={dict(setting)!r}: {', '.join(outside)} outside the domain that {claim.id} allows")
    names, numbers = refutation["space"]["vectors"], refutation["space"]["values"]
    sides = {} if claim.right is None else {"right": claim.right}
    return {
        **about(claim, "vectors", True, note),
        "left": {"quantity": claim.quantity.name, "meaning": claim.quantity.meaning},
        "relation": claim.relation,
        **sides,
        "definitions": dict(claim.definitions),
        "parameters": {name: as_text(value, name) for name, value in setting.items()},
        "names": measured_names(claim, setting),
        "words": {h.name: h.statement for h in claim.conditions if h.statement},
        "condition": _named(refutation["claim"], names, numbers),
        "given": [_named(item, names, numbers) for item in refutation["given"]],
        "vectors": dict(zip(names, refutation["coordinates"], strict=True)),
        "weights": list(refutation["weights"]),
        "values": dict(zip(numbers, refutation["values"], strict=True)),
        "value": str(_value(refutation)),
    }


def vector_statement(claim: Claim, setting: Mapping[str, str]) -> dict[str, Any]:
    """The condition that the claim claims of vectors at a setting and those under which, as certificates have them.

    It is read from the claim's own sentence where it has one in vectors, else from its author's `VectorLine`.

    Raises:
        ValueError: when the claim has neither, or none at this setting.
    """
    from theory.inequality.sentence import written

    from theory.inequality.gram_json import condition_to_json
    from theory.inequality.vectors import Condition, Form

    build: Callable[[Mapping[str, Fraction]], tuple[Any, Any, Any]]
    if claim.sentence is not None and claim.right is not None:
        build = written(claim).at
    elif claim.vectors is not None:
        build = claim.vectors.build
    else:
        raise ValueError(f"{claim.id} is no statement about vectors")
    try:
        space, stated, given = build({name: Fraction(text) for name, text in setting.items()})
    except (KeyError, ZeroDivisionError) as error:
        raise ValueError(f"setting={dict(setting)!r} is none of {claim.id}: {error!r}") from None
    stated = Condition("", stated, "<=") if isinstance(stated, Form) else stated
    listed = [_named(condition_to_json(item), space.vectors, space.values) for item in (stated, *given)]
    return {
        "condition": listed[0],
        "given": listed[1:],
        "vectors": list(space.vectors),
        "values": list(space.values),
    }


def measured_names(claim: Claim, setting: Mapping[str, Any]) -> dict[str, str]:
    """What the parameters mean that have no value at a setting, because the vectors give them one."""
    return {p.name: p.meaning for p in claim.parameters if p.name not in setting}


def outside_domains(claim: Claim, numbers: Mapping[str, Any]) -> list[str]:
    """The parameters of a claim whose numbers are outside their domains; others are not looked at."""
    domains = {p.name: p.domain for p in claim.parameters if p.shape == "scalar"}
    return [
        name
        for name, value in numbers.items()
        if name in domains and isinstance(value, int | str) and not domains[name].contains(Fraction(value))
    ]


def _named(condition: Mapping[str, Any], vectors: Any, values: Any) -> dict[str, Any]:
    """A condition with names in place of indices."""
    form = condition["form"]
    return {
        "name": condition["name"],
        "products": [[vectors[i], vectors[j], c] for i, j, c in form["gram"]],
        "values": [[values[j], c] for j, c in form["values"]],
        "constant": form["constant"],
        "relation": condition["relation"],
    }


def _value(refutation: Mapping[str, Any]) -> Fraction:
    """The claimed form at the vectors, by the prover's own classes."""
    from theory.inequality.prover import Refutation

    found = Refutation.from_json(refutation)
    point = found.configuration
    return Fraction(found.claim.form.at(point.gram(), point.values))
