"""Law: a certificate refutes the claim that it names, and no other.

Whatever is changed in what a certificate says of its claim (id, sentence, assumptions, relations, definitions, domains,
the algorithm), `fedproof verify` calls it INVALID where the claim is at hand, and says that it compared nothing where
it is not. What is valid after its numbers were changed is right: tests/validate/test_verifier_play.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.language import vectors
from tests.validate import known_plays as known
from tests.validate.command_line import EQ7, call
from tests.validate.tampering import edit
from tests.validate.test_pytest_plugin import BROKEN
from theory import Paper, catalog
from theory.claim import Claim
from validate import certificate as certificates
from validate import certify, check, verifier

Certificate = dict[str, Any]
LABELS = tuple(label for label in known.WHERE if label != "variates")  # in whose algorithm an error is planted
WIDE = {"lower": None, "upper": None, "lower_open": False, "upper_open": False, "integer": False}


def forgeries(made: Certificate, claim: Claim) -> Iterator[tuple[str, Certificate]]:
    """What the certificate says of the claim, changed in one place."""
    other = next(c.id for c in catalog.claims() if c.id != claim.id)
    yield "another claim's id", {**made, "claim": other}
    yield "another sentence", {**made, "statement": "0 <= 0 - 1"}
    yield "the sentence, by a letter", {**made, "statement": f"{claim.statement} "}
    left, relation, right = claim.sentence.left, claim.sentence.relation, claim.sentence.right
    for turned in ("<=", "<", "==", ">=", ">"):
        if turned != relation:
            yield f"relation {turned}", {**made, "statement": claim.statement.replace(relation, turned, 1)}
    yield "the right side halved", {**made, "statement": f"{left} {relation} ({right})/2"}
    yield "a term times 0", {**made, "statement": f"{claim.statement} + 0*{right}"}
    for i in range(len(made["assumptions"])):
        yield f"without assumption {i}", {**made, "assumptions": _without(made["assumptions"], i)}
    for i in range(len(made["relations"])):
        yield f"without relation {i}", {**made, "relations": _without(made["relations"], i)}
        yield f"relation {i} easier", edit(made, ("relations", i), "0 < 1")
    yield "a further relation", {**made, "relations": [*made["relations"], "0 < 1"]}
    for name, formula in made["definitions"].items():
        yield f"definition of {name}", edit(made, ("definitions", name), f"({formula})/2")
        yield f"without {name}", {**made, "definitions": {k: v for k, v in made["definitions"].items() if k != name}}
    yield "a further definition", {**made, "definitions": {**made["definitions"], "zzz": "1"}}
    yield "another domain", {**made, "domains": {**made.get("domains", {}), "zzz": WIDE}}
    yield "asked at some x only", {**made, "over": "norm(x) <= 1"}
    yield "a further vector", {**made, "vectors": {**made.get("vectors", {}), "zzz": ["1"]}}
    if made["program"] is not None:
        yield "no algorithm", {**made, "program": None}
        yield "a step less", edit(made, ("program", "round"), made["program"]["round"][:-1])
        yield "another start", edit(made, ("program", "state", 0, "initial"), "2*x0")
        last = len(made["program"]["round"]) - 1
        yield (
            "a step twice",
            edit(made, ("program", "round"), [*made["program"]["round"], made["program"]["round"][last]]),
        )


def _without(listed: list[Any], i: int) -> list[Any]:
    return [*listed[:i], *listed[i + 1 :]]


def check_law(made: Certificate, folder: Path) -> int:
    """That the certificate is valid by the command line, and none of its forgeries."""
    claim = catalog.claim(made["claim"])
    path = folder / "original.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    held = call("verify", path)
    assert held.exit_code == 0, held.output
    assert held.stdout.splitlines()[-1] == "VALID: the claim is false as stated"
    assert held.stderr == ""
    count = 0
    for name, forged in forgeries(made, claim):
        count += 1
        path.write_text(json.dumps(forged), encoding="utf-8")
        found = call("verify", path)
        last = (found.stdout or "malformed").splitlines()[-1]
        refused = (found.exit_code, last.split(":")[0]) == (1, "INVALID") or (found.exit_code, last) == (2, "malformed")
        assert refused, (made["claim"], name, found.output)
    return count


@pytest.mark.parametrize("label", LABELS)
def test_no_forgery_about_a_paper_of_ones_own_is_valid(label: str, tmp_path: Path) -> None:
    with catalog.forgetting():
        catalog.add(known.PAPER)
        assert check_law(known.certificate(label), tmp_path) >= 9


def test_no_forgery_about_a_claim_of_the_catalogue_is_valid(tmp_path: Path) -> None:
    made = certificates.read(certify(EQ7, BROKEN, tmp_path / "out"))
    assert (made["origin"], made["quick"]) == ("given", False)
    assert check_law(made, tmp_path) >= 12


def test_no_forgery_of_what_a_check_writes_is_valid(tmp_path: Path) -> None:
    with catalog.forgetting():
        catalog.add(Paper("vectors", "Vectors", "a test", (vectors.WRONG_WAY,)))
        result = check("vectors/wrong-way", quick=True, out=tmp_path / "out")
        made = certificates.read(result.certificate)  # type: ignore[union-attr, arg-type]
        assert made["quick"] is True
        assert made["origin"] in ("search", "pool", "worst case")
        assert made["format"] == verifier.FORMAT
        assert check_law(made, tmp_path) >= 9


def test_differences_are_named_and_nothing_is_compared_without_the_claim(tmp_path: Path) -> None:
    made = known.certificate("wrong-way")
    path, forged = tmp_path / "made.json", tmp_path / "forged.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    statement = "norm2(mean_n(a_n)) >= 2*mean_n(norm2(a_n))"
    other = {**made, "statement": statement, "definitions": {"zzz": "1"}}
    forged.write_text(json.dumps(other), encoding="utf-8")
    with catalog.forgetting():
        found = call("verify", path)
        assert found.exit_code == 0
        assert found.stdout.splitlines()[0].startswith(
            f"{path}: not compared with any catalogue: compare the statement"
        )
        assert found.stdout.splitlines()[-1] == "VALID for the claim as it stands above: compare it with your paper"
        assert found.stderr.startswith(f"warning: {path}: not compared with any catalogue")
        (entry,) = json.loads(call("verify", path, "--json").stdout)
        assert (entry["valid"], entry["compared"], entry["differences"]) == (True, None, [])
        catalog.add(known.PAPER)
        found = call("verify", path, forged)
        assert found.exit_code == 1
        last = found.stdout.splitlines()[-1]
        assert last == "INVALID: it differs from known/wrong-way of the catalogue in: statement, definitions"
        one, two = json.loads(call("verify", path, forged, "--json").stdout)
        assert (one["valid"], one["compared"], one["differences"]) == (True, "the catalogue", [])
        assert (two["valid"], two["compared"]) == (False, "the catalogue")
        assert two["differences"] == ["statement", "definitions"]
        assert any(statement in line for line in two["claim"])
        assert not any(line.startswith(("ok", "FAIL")) for line in two["claim"])
