"""Law: a certificate refutes the claim that it names, and no other.

Whatever is changed in what a certificate says of its claim (id, statement, assumptions, relations, definitions,
algorithm, index), `fedproof verify` calls it INVALID where the claim is at hand, and says that it compared nothing
where it is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.validate import known_plays
from tests.validate.command_line import call
from tests.validate.tampering import edit
from theory import catalog
from theory.written import Claim
from validate import certificate as certificates
from validate import verifier
from validate.checking import check_all

Certificate = dict[str, Any]
FALSE = ("lost-factor", "fedavg-stays", "no-spread", "skips-too-fast", "loopless-too-fast", "unit-steps", "wrong-way")


def forgeries(made: Certificate, claim: Claim) -> Iterator[tuple[str, Certificate]]:
    """What the certificate says of the claim, changed in one place."""
    other = next(c.id for c in catalog.claims() if c.id != claim.id)
    yield "another claim's id", {**made, "claim": other}
    yield "statement", {**made, "statement": "1 >= 2"}
    yield "statement, by a letter", {**made, "statement": f"{claim.statement} "}
    for key in ("assumptions", "relations"):
        for i in range(len(made.get(key, ()))):
            yield f"without {key} {i}", {**made, key: made[key][:i] + made[key][i + 1 :]}
    yield "a further relation", {**made, "relations": [*made.get("relations", ()), "0 < 1"]}
    for i in range(len(made.get("relations", ()))):
        yield f"relation {i} easier", edit(made, ("relations", i), "0 < 1")
    for name, formula in made.get("definitions", {}).items():
        yield f"definition of {name}", edit(made, ("definitions", name), f"({formula})/2")
        rest = {k: v for k, v in made["definitions"].items() if k != name}
        yield f"without {name}", {**made, "definitions": rest}
    yield "a further definition", {**made, "definitions": {**made.get("definitions", {}), "zzz": "1"}}
    for key in made["at"]:
        yield f"index {key} beyond the run", edit(made, ("at", key), made["rounds"] + 10)
    if "program" in made:
        yield "another name of the algorithm", edit(made, ("program", "name"), "another")
        yield "no algorithm", {key: value for key, value in made.items() if key != "program"}


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
    for count, (name, forged) in enumerate(forgeries(made, claim), 1):
        path = folder / f"{count}.json"
        path.write_text(json.dumps(forged), encoding="utf-8")
        found = call("verify", path)
        last = (found.stdout or "malformed").splitlines()[-1].split(":")[0]
        assert (found.exit_code, last) in ((1, "INVALID"), (2, "malformed")), (made["claim"], name, found.output)
    return count


@pytest.mark.parametrize("label", FALSE)
def test_no_forgery_about_a_paper_of_ones_own_is_valid(label: str, tmp_path: Path) -> None:
    with catalog.forgetting():
        catalog.add(known_plays.PAPER)
        assert check_law(known_plays.certificate(label), tmp_path) >= 5


def test_no_forgery_of_what_a_check_writes_is_valid(tmp_path: Path) -> None:
    results = check_all(["fedavg-svrg/lemma-a2", "fedavg-svrg/eq-a24"], quick=True, out=tmp_path / "out")
    written = [certificates.read(r.certificate) for r in results if r.certificate is not None]
    assert written
    for i, made in enumerate(written):
        folder = tmp_path / str(i)
        folder.mkdir()
        assert made["quick"] is True
        assert made["origin"] in ("search", "pool", "worst case")
        assert made["format"] == verifier.FORMAT
        assert check_law(made, folder) >= 5


def test_differences_are_named_and_nothing_is_compared_without_the_claim(tmp_path: Path) -> None:
    made = known_plays.certificate("lost-factor")
    path, forged = tmp_path / "made.json", tmp_path / "forged.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    eased = {**made, "relations": [], "definitions": {"sigma2": f"2*({made['definitions']['sigma2']})/2"}}
    forged.write_text(json.dumps(eased), encoding="utf-8")
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
        catalog.add(known_plays.PAPER)
        found = call("verify", path, forged)
        assert found.exit_code == 1
        said = found.stdout.splitlines()[-1]
        assert said == "INVALID: it differs from known/lost-factor of the catalogue in: relations, definitions"
        one, two = json.loads(call("verify", path, forged, "--json").stdout)
        assert (one["valid"], one["compared"], one["differences"]) == (True, "the catalogue", [])
        assert (two["valid"], two["compared"]) == (False, "the catalogue")
        assert two["differences"] == ["relations", "definitions"]


def test_the_stand_alone_verifier_says_what_to_compare(tmp_path: Path) -> None:
    made = known_plays.certificate("lost-factor")
    certificates.write(made, tmp_path, "made")
    (tmp_path / "false.json").write_text(json.dumps({**made, "statement": "1 <= 2"}), encoding="utf-8")
    for name in ("made", "false"):
        program = [sys.executable, "-I", "-S", "verify.py", f"{name}.json"]
        done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
        assert done.returncode == (0 if name == "made" else 1), (name, done.stdout)
        said = done.stdout.splitlines()
        assert said[0] == "the claim that this certificate is about; compare it with your paper:"
        assert said[-1].startswith("VALID for the claim as printed above" if name == "made" else "INVALID")
