"""Law: a certificate refutes the claim that it names, and no other; its numbers say what the verifier says of them.

Whatever is changed in what a certificate says of its claim (id, statement, hypotheses, both sides, relation,
definitions, index), `fedproof verify` calls it INVALID where the claim is at hand, and says that it compared nothing
where it is not. Whatever is changed in the numbers of a certificate of vectors, it is accepted if and only if another
computation finds the vectors to satisfy the hypotheses and to break the claim.
"""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.seeds import certificates as seeds
from tests.laws import vector_lemmas
from tests.validate.command_line import call
from tests.validate.tampering import edit, strings
from tests.validate.test_verifier_vectors import broken
from theory import catalog
from theory.claim import Claim
from validate import certificate as certificates
from validate import verifier
from validate.certificate.parts import hypotheses_of
from validate.checking import check_all

Certificate = dict[str, Any]
CORRUPTIONS = 2000


def known(made: Certificate) -> Claim | None:
    """The claim that it is about, where its text is that claim's; fixtures have some that are made up."""
    try:
        claim = catalog.claim(made["claim"])
    except ValueError:
        return None
    return claim if not certificates.differences(made, claim) else None


@cache
def fixtures() -> dict[str, Certificate]:
    """Certificates about claims of the catalogue, of every kind that the tests have."""
    return {name: made for name, made in seeds().items() if known(made) is not None}


def forgeries(made: Certificate, claim: Claim) -> Iterator[tuple[str, Certificate]]:
    """What the certificate says of the claim, changed in one place."""
    other = next(c.id for c in catalog.claims() if c.id != claim.id)
    yield "another claim's id", {**made, "claim": other}
    yield "statement", {**made, "statement": "1+1=2"}
    yield "statement, by a letter", {**made, "statement": f"{claim.statement} "}
    if made["hypotheses"]:
        yield "no hypotheses", {**made, "hypotheses": []}
        yield "no hypotheses, and says so", {**made, "hypotheses": [], "unconditional": True}
    printed = hypotheses_of(claim, silent=False)
    for i, hypothesis in enumerate(made["hypotheses"]):
        yield f"hypothesis {i} renamed", edit(made, ("hypotheses", i, "name"), "another")
        yield f"hypothesis {i} easier", edit(made, ("hypotheses", i), {**hypothesis, "relation": "0 < 1"})
        if hypothesis in printed:
            rest = [h for h in made["hypotheses"] if h != hypothesis]
            yield f"without hypothesis {i}", {**made, "hypotheses": rest, "unconditional": not rest}
    if "right" in made:
        yield "a term times 0", {**made, "right": f"{made['right']} + 0*x"}
        yield "right side halved", {**made, "right": f"({made['right']})/2"}
        for name, formula in made.get("definitions", {}).items():
            yield f"definition of {name}", edit(made, ("definitions", name), f"({formula})/2")
            yield (
                f"without {name}",
                {
                    **made,
                    "definitions": {k: v for k, v in made["definitions"].items() if k != name},
                },
            )
        yield "a further definition", {**made, "definitions": {**made.get("definitions", {}), "zzz": "1"}}
    if "relation" in made:
        for relation in ("<=", "<", "=", ">=", ">"):
            if relation != made["relation"]:
                yield f"relation {relation}", {**made, "relation": relation}
    if "left" in made:
        yield "quantity", edit(made, ("left", "quantity"), "suboptimality")
        index = made["left"].get("index", {})
        for key, i in index.items():
            yield f"index {key} beyond the run", edit(made, ("left", "index", key), i + 10_000)
            rest = {k: v for k, v in index.items() if k != key}
            if not verifier.verify(edit(made, ("left", "index"), rest)).valid:  # else neither side depends on it
                yield f"index {key}", edit(made, ("left", "index", key), i + 1)
    for key in made.get("names", {}):
        yield f"name {key}", edit(made, ("names", key), "L")
    if made["kind"] == "vectors":
        yield "claimed condition", edit(made, ("condition", "constant"), "1/7")
        for i in range(len(made["given"])):
            yield f"without condition {i}", {**made, "given": made["given"][:i] + made["given"][i + 1 :]}


def check_law(made: Certificate, folder: Path, *options: str) -> int:
    """That the certificate is valid by the command line, and none of its forgeries."""
    claim = catalog.claim(made["claim"])
    path = folder / "original.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    held = call("verify", path, *options)
    assert held.exit_code == 0, held.output
    assert held.stdout.splitlines()[-1] == "VALID: the claim is false as stated"
    assert held.stderr == ""
    names, paths = [], []
    for i, (name, forged) in enumerate(forgeries(made, claim)):
        names.append(name)
        paths.append(folder / f"{i}.json")
        paths[-1].write_text(json.dumps(forged), encoding="utf-8")
        found = call("verify", paths[-1], *options)
        last = (found.stdout or "malformed").splitlines()[-1]
        assert (found.exit_code, last.split(":")[0]) == (1, "INVALID") or (found.exit_code, last) == (2, "malformed"), (
            made["claim"],
            name,
            found.output,
        )
    return len(names)


@pytest.mark.parametrize("name", sorted(fixtures()))
def test_no_forgery_of_a_fixture_is_valid(name: str, tmp_path: Path) -> None:
    assert check_law(fixtures()[name], tmp_path) >= 3


def test_the_fixtures_have_most_kinds() -> None:
    kinds = {made["kind"] for made in fixtures().values()}
    assert kinds >= {"instance", "mixing", "permutations", "unrolled", "products"}


@pytest.mark.parametrize("label", ["descent-wrong", "young-wrong", "sum-of-two-wrong", "projection-wrong"])
def test_no_forgery_about_a_paper_of_ones_own_is_valid(label: str, tmp_path: Path) -> None:
    with catalog.forgetting():
        catalog.add(vector_lemmas.PAPER)
        made = broken(label)
        assert check_law(made, tmp_path) >= 8


def test_no_forgery_of_what_a_check_writes_is_valid(tmp_path: Path) -> None:
    results = check_all(["open-fl"], quick=True, out=tmp_path / "out")
    written = [certificates.read(r.certificate) for r in results if r.certificate is not None]
    assert len(written) >= 3
    for i, made in enumerate(written):
        folder = tmp_path / str(i)
        folder.mkdir()
        assert made["quick"] is True
        assert made["origin"] in ("search", "pool", "given")
        assert made["format"] == verifier.FORMAT
        assert check_law(made, folder) >= 3


def test_differences_are_named_and_nothing_is_compared_without_the_claim(tmp_path: Path) -> None:
    made = broken("descent-wrong")
    path, forged = tmp_path / "made.json", tmp_path / "forged.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    forged.write_text(json.dumps({**made, "statement": "Another.", "right": "2*m"}), encoding="utf-8")
    with catalog.forgetting():
        found = call("verify", path)
        assert found.exit_code == 0
        assert found.stdout.splitlines()[0].startswith(
            f"{path}: not compared with any catalogue: compare the statement"
        )
        assert found.stdout.splitlines()[-1] == "VALID for the claim as printed above: compare it with your paper"
        assert found.stderr.startswith(f"warning: {path}: not compared with any catalogue")
        (entry,) = json.loads(call("verify", path, "--json").stdout)
        assert (entry["valid"], entry["compared"], entry["differences"]) == (True, None, [])
        catalog.add(vector_lemmas.PAPER)
        found = call("verify", path, forged)
        assert found.exit_code == 1
        last = found.stdout.splitlines()[-1]
        assert last == "INVALID: it differs from lemmas/descent-wrong of the catalogue in: statement, right"
        one, two = json.loads(call("verify", path, forged, "--json").stdout)
        assert (one["valid"], one["compared"], one["differences"]) == (True, "the catalogue", [])
        assert (two["valid"], two["compared"], two["differences"]) == (False, "the catalogue", ["statement", "right"])
        assert "  right side  2*m" in two["claim"]


def test_a_certificate_of_the_first_format_is_still_read(tmp_path: Path) -> None:
    made = fixtures()["lemma-5"]
    old = {key: value for key, value in made.items() if key not in ("origin", "quick")}
    old["format"] = "fedproof-certificate-1"
    assert verifier.verify(old).valid
    path = certificates.write({**old, "origin": "search", "quick": False}, tmp_path)
    certificates.record(path, "given", True)
    changed = certificates.read(path)
    assert (changed["origin"], changed["quick"]) == ("given", True)
    with pytest.raises(ValueError, match="origin"):
        certificates.record(path, "heaven", True)
    assert certificates.read(path) == changed


def test_the_stand_alone_verifier_refuses_what_contradicts_itself(tmp_path: Path) -> None:
    """Without any catalogue: no hypotheses, a statement about numbers, a term times 0."""
    made = fixtures()["lemma-5"]
    certificates.write(made, tmp_path, "made")
    forged = {
        "hypotheses": {**made, "hypotheses": []},
        "statement": {**made, "statement": "1+1=2"},
        "zero": {**made, "right": f"{made['right']} + 0*L"},
        "nested": {**made, "right": f"{made['right']} + (3 - 3)*(L + 1)/2"},
    }
    for name, one in forged.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(one), encoding="utf-8")
    for name in ("made", *forged):
        program = [sys.executable, "-I", "-S", "verify.py", f"{name}.json"]
        done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
        assert done.returncode == (0 if name == "made" else 1), (name, done.stdout)
        said = done.stdout.splitlines()
        assert said[0] == "the claim that this certificate is about; compare it with your paper:"
        assert said[-1].startswith("VALID for the claim as printed above" if name == "made" else "INVALID")
        assert sum(line.startswith("  hypothesis ") for line in said) == len(made["hypotheses"]) * (
            name != "hypotheses"
        )


@pytest.mark.parametrize(
    ("statement", "valid"), [("", True), ("words", True), ("1+1=2", False), ("0", False), (" (3) ", False)]
)
def test_a_statement_may_be_missing_and_is_nothing_about_numbers(statement: str, valid: bool) -> None:
    """An author's own claim may have none; formulas and hypotheses are there to be compared."""
    report = verifier.verify({**fixtures()["lemma-5"], "statement": statement})
    assert report.valid == valid
    assert any("relation between numbers" in line for line in report.lines) == (not valid)


# --- numbers of certificates of vectors, corrupted -------------------------------------------------------------------


def recomputed(made: Certificate) -> bool:
    """Whether the vectors satisfy all conditions and hypotheses and break the claim, by NumPy's objects."""
    names = list(made["vectors"])
    rows = np.array([[Fraction(x) for x in made["vectors"][name]] for name in names], dtype=object)
    weights = np.array([Fraction(w) for w in made["weights"]], dtype=object)
    if not (weights > 0).all():
        return False
    gram = (rows * weights) @ rows.T
    values = {name: Fraction(x) for name, x in made["values"].items()}

    def form(condition: Certificate) -> Fraction:
        total = Fraction(condition["constant"])
        for a, b, c in condition["products"]:
            total += Fraction(c) * gram[names.index(a), names.index(b)]
        return total + sum((Fraction(c) * values[name] for name, c in condition["values"]), Fraction(0))

    def holds(condition: Certificate) -> bool:
        return {"<=": form(condition) <= 0, "==": form(condition) == 0, "<": form(condition) < 0}[condition["relation"]]

    numbers = {name: Fraction(x) for name, x in made["parameters"].items()}
    for hypothesis in made["hypotheses"]:
        if hypothesis["relation"] is not None and not eval(hypothesis["relation"], {}, dict(numbers)):  # our own text
            return False
    if not all(map(holds, made["given"])) or holds(made["condition"]):
        return False
    return form(made["condition"]) == Fraction(made["value"])


def places(made: Certificate) -> list[tuple[Any, ...]]:
    """Where the numbers of a certificate stand."""
    found = []
    for path, _ in strings(made):
        last_of = {"products": 2, "values": 1}  # the coefficient, after the names
        stated = path[0] in ("condition", "given")
        number = path[0] in ("vectors", "weights", "values", "value", "parameters")
        number = number or (stated and path[-1] == "constant")
        if number or (stated and len(path) > 2 and last_of.get(path[-3]) == path[-1]):
            found.append(path)
    return found


def test_corrupted_numbers_are_accepted_only_if_they_are_true() -> None:
    draw = random.Random(20240607)
    originals = [broken(label) for label in vector_lemmas.FALSE]
    accepted = refused = 0
    for _ in range(CORRUPTIONS):
        made = copy.deepcopy(draw.choice(originals))
        for path in draw.sample(places(made), draw.choice((1, 1, 2))):
            before = made
            for key in path:
                before = before[key]
            other = Fraction(draw.randint(-6, 6), draw.choice((1, 1, 2, 3, 1000)))
            changed = draw.choice((other, Fraction(str(before)) * other, Fraction(str(before)) + other))
            made = edit(made, path, str(changed))
        if draw.random() < 0.3:  # the printed value mended, so that conditions decide
            lines = verifier.verify(made).lines
            said = next((line for line in lines if line.startswith("FAIL  value is ")), "")
            if said:
                made = edit(made, ("value",), said.removeprefix("FAIL  value is ").split(",")[0])
        valid = verifier.verify(made).valid
        assert valid == recomputed(made), made
        accepted, refused = accepted + valid, refused + (not valid)
    assert min(accepted, refused) > CORRUPTIONS // 20, (accepted, refused)
