"""Certificates re-checked by our own play: the claim is read from the certificate, and held against its instance.

It shares no code with the verifier, and tests/validate/test_play.py holds it against values worked out by hand.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim, claim
from theory.domain import Domain
from theory.operations import to_fraction
from theory.program import Algorithm, from_json
from theory.sentence import parse_expression, text_of
from validate.both_sides import Row, World, in_outcomes, relation_holds
from validate.certificate.play import said
from validate.instances import read_instance
from validate.on_instance import OnInstance, on_instance
from validate.play import Play

Certificate = Mapping[str, Any]


def algorithm_of(data: Certificate | None) -> Algorithm | None:
    """An algorithm of which the program alone is known."""
    if data is None:
        return None
    program = from_json(data)
    made = Algorithm("one", lambda w: None, program.state, program.parameters, {})
    made.__dict__["program"] = program  # where the function's trace would be kept
    return made


def claim_of(certificate: Certificate) -> Claim:
    """What the certificate says that it refutes."""
    domains = {
        name: Domain(
            *(None if d[end] is None else float(Fraction(d[end])) for end in ("lower", "upper")),
            d["lower_open"], d["upper_open"], d["integer"],
        )
        for name, d in certificate.get("domains", {}).items()
    }  # fmt: skip
    standing = certificate.get("standing", ())
    texts = [*(one["text"] for one in certificate["assumptions"]), *certificate["relations"]]
    found = claim(
        "c", certificate["statement"], of=algorithm_of(certificate["program"]),
        assuming=[text for text in texts if text not in standing], standing=standing, where=certificate["definitions"],
        vectors=tuple(certificate.get("vectors", ())), over=certificate.get("over", ""),
    )  # fmt: skip
    names = {name: next((s for s in found.symbols if s.partition("_")[0] == name), name) for name in domains}
    return claim(
        "c", found.statement, of=found.of, assuming=found.assuming, standing=found.standing, where=found.where,
        vectors=found.vectors, over=found.over, parameters={names[name]: domain for name, domain in domains.items()},
    )  # fmt: skip


def on(certificate: Certificate) -> OnInstance:
    """The claim on the instance; ValueError where there is no such instance."""
    one = claim_of(certificate)
    data = {
        "rounds": int(certificate["rounds"]),
        "parameters": dict(certificate["parameters"]),
        "start": certificate["start"],
    }
    data |= {"problem": certificate["problem"], "vectors": certificate.get("vectors", {})}
    own = () if one.program is None else one.program.parameters
    constants = {name: exact(v) for name, v in data["parameters"].items() if name not in own}
    data["parameters"] = {name: v for name, v in data["parameters"].items() if name in own}
    data = {name: value for name, value in data.items() if value not in (None, {}, [])}
    if one.program is not None:
        data["algorithm"] = "a.py:one"
    return on_instance(one, read_instance(data, one.of), constants)


def exact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"k": exact(value["k"])}
    return [exact(v) for v in value] if isinstance(value, list) else Fraction(value)


def row_of(certificate: Certificate, found: OnInstance) -> Row | None:
    at = {index: int(value) for index, value in certificate["at"].items()}
    return next((row for row in found.measured.rows if row.at == at), None)


def recomputed(certificate: Certificate) -> bool:
    """Whether a certificate is right: what it says is read as it is meant, and its sides are those of a break."""
    try:
        found = on(certificate)
    except ValueError:
        return False
    if [spelled(one) for one in said(found.claim)["assumptions"]] != list(map(spelled, certificate["assumptions"])):
        return False  # as data they are others than as text
    row = row_of(certificate, found)
    if row is None or row.status != "broken" or not all(true for _, true in found.hypotheses):
        return False
    return any(
        agree(certificate["left"], left) and agree(certificate["right"], right) for left, right in broken(found, row)
    )


def broken(found: OnInstance, row: Row) -> list[tuple[Any, Any]]:
    """Both sides at a row, in every outcome in which the claim is broken there: the verifier may name any of them."""
    sentence, instance = found.claim.sentence, found.drawn.instance
    if row.probability is None:
        return [(row.left, row.right)]
    world = World(instance, found.drawn.constants, found.claim.vocabulary, Play(instance))
    world.choice = row.minimiser
    every = [(a, b) for _, a, b in in_outcomes(sentence, world, row.at)]
    return [(to_fraction(a), to_fraction(b)) for a, b in every if not relation_holds(a, sentence.relation, b)]


def spelled(assumption: Certificate) -> dict[str, Any]:
    """With what is left out, and its constants in one spelling."""
    constants = [text_of(parse_expression(str(c))) for c in assumption.get("constants", ())]
    return {"function": "", "matrix": "", **assumption, "constants": constants}


def agree(printed: Any, value: Any) -> bool:
    if isinstance(printed, Mapping):  # an interval far narrower than a float is exact
        low, high = float(Fraction(printed["lower"])), float(Fraction(printed["upper"]))
        slack = 1e-14 * max(abs(low), abs(high))
        return bool(low - slack <= float(value) <= high + slack)
    return isinstance(value, Fraction) and Fraction(printed) == value


def sides(certificate: Certificate) -> tuple[Any, Any]:
    """Both sides at the printed indices; where there are roots, in floats."""
    row = row_of(certificate, on(certificate))
    assert row is not None
    exact = isinstance(row.left, Fraction) and isinstance(row.right, Fraction)
    return (row.left, row.right) if exact else (float(row.left), float(row.right))
