"""Certificates on disk, with the verifier beside them; and held against the printed claim."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theory.claim import Claim
from theory.written import Claim as Written
from validate import verifier
from validate.certificate.parts import Certificate, failures, hypotheses_of, meanings
from validate.certificate.vectors import measured_names, outside_domains, vector_statement
from validate.verifier import FormatError, Report

_PACKAGE = Path(verifier.__file__).parent
_PACKAGE_NAME = "verifier"  # the launcher expects it under this name
_LAUNCHER = _PACKAGE / "launcher.py"
LONGEST = 100  # of the letters that a file name has of a claim's id


def verify(certificate: Certificate | str | Path) -> Report:
    """Checks a certificate, or the file of one, with the stand-alone verifier.

    Raises:
        FormatError: (a ValueError) when it cannot be read or is malformed.
    """
    return verifier.verify(read(certificate) if isinstance(certificate, str | Path) else certificate)


def read(path: str | Path) -> Certificate:
    """Reads a certificate; nothing in it is executed.

    Raises:
        FormatError: (a ValueError) when the file cannot be read or is not JSON of an object.
    """
    data = verifier.load(str(path))
    if not isinstance(data, dict):
        raise FormatError(f"{path} is not a certificate")
    return data


def write(certificate: Certificate, directory: str | Path, name: str | None = None) -> Path:
    """Writes a valid certificate, and the verifier beside it: ``verify.py`` and the folder ``verifier``.

    Args:
        certificate: as made by the functions above.
        directory: where to; made if need be.
        name: the file's stem; by default the claim's id with ``/`` as ``.``, and, where it has other characters than
            letters, digits, ``.``, ``-`` and ``_``, with ``_`` for these and eight digits that are the id's alone.

    Returns:
        The path of the JSON file.

    Raises:
        ValueError: when the certificate is malformed or not valid; nothing is written then.
    """
    report = verifier.verify(certificate)
    if not report.valid:
        raise ValueError(f"the certificate for {certificate['claim']} is not valid: {failures(report)}")
    stem = name if name is not None else _stem(certificate["claim"])
    if not stem or stem.startswith(".") or not all(map(_plain, stem)):
        raise ValueError(f"name={stem!r} is not a file name of letters, digits, '.', '-' and '_'")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    _replace(path, (json.dumps(certificate, indent=2) + "\n").encode())
    copy_verifier(folder)
    return path


def _plain(c: str) -> bool:
    return c.isascii() and (c.isalnum() or c in ".-_")


def _stem(id: str) -> str:
    """A file name for a claim: a label may be any text, and no break is lost for its sake."""
    stem = id.replace("/", ".").lstrip(".")
    if all(map(_plain, stem)) and len(stem) <= LONGEST:
        return stem
    kept = "".join(c if _plain(c) else "_" for c in stem[:LONGEST])
    return f"{kept}.{hashlib.sha256(id.encode()).hexdigest()[:8]}"


def copy_verifier(folder: Path) -> None:
    """Copies the stand-alone verifier to a folder, so that ``python -I -S verify.py`` runs there.

    Each file is replaced at once and only where it differs; modules of an older version go.
    """
    target = folder / _PACKAGE_NAME
    target.mkdir(parents=True, exist_ok=True)
    modules = {path.name: path.read_bytes() for path in _PACKAGE.glob("*.py") if path != _LAUNCHER}
    for name, content in modules.items():
        _replace(target / name, content)
    for path in target.glob("*.py"):
        if path.name not in modules:
            path.unlink(missing_ok=True)
    _replace(folder / "verify.py", _LAUNCHER.read_bytes())


def _replace(path: Path, content: bytes) -> None:
    """Makes this the file's content; no reader ever sees half of it."""
    if path.is_file() and path.read_bytes() == content:
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def record(path: Path, origin: str | None, quick: bool) -> None:
    """Writes into a certificate where its instance comes from, and whether the check that made it was a quick one.

    No check of the verifier rests on either.

    Args:
        path: of a certificate that was written.
        origin: as `validate.verdict.Evidence.origin`; None where it is not known.
        quick: as `validate.verdict.Result.quick`.

    Raises:
        ValueError: when the file cannot be read, or would not be valid with them; it is left as it is then.
    """
    certificate = read(path)
    made = {**certificate, **({} if origin is None else {"origin": origin}), "quick": quick}
    if not verifier.verify(made).valid:
        raise ValueError(f"{path} would not be a valid certificate with origin={origin!r}")
    _replace(path, (json.dumps(made, indent=2) + "\n").encode())


def differences(certificate: Certificate, claim: Claim | Written) -> tuple[str, ...]:
    """The fields in which a certificate departs from the claim that it says it refutes.

    The verifier cannot know the printed claim; the catalogue does. Empty when statement, formula, definitions,
    relation, quantity and hypotheses are those of the claim (all the printed ones, and no other than the claim's), the
    parameters are in their domains, a statement about vectors is the claim's at these parameters, and the instance is
    one that the claim speaks of.

    Args:
        certificate: one that the verifier could read.
        claim: as printed.
    """
    if isinstance(claim, Written):
        from validate.certificate.play import play_differences

        return play_differences(certificate, claim)
    found = []
    expected: dict[str, Any] = {"claim": claim.id, "statement": claim.statement}
    if "right" in certificate:
        expected["right"] = claim.right
    rates = certificate.get("kind") in ("fixed-point", "order")  # which may have definitions without a right side
    if "right" in certificate or (rates and "definitions" in certificate):
        expected["definitions"] = dict(claim.definitions)
    if "right_formula" in certificate and claim.right is not None:
        found.append("right_formula")
    if "relation" in certificate:
        expected["relation"] = claim.relation
    left = certificate.get("left", {})
    quantity = {"quantity": claim.quantity.name, "meaning": claim.quantity.meaning}
    if any(left[key] != value for key, value in quantity.items() if key in left):
        found.append("left")
    if certificate.get("kind") in ("instance", "fixed-point"):
        names = meanings(claim, certificate["parameters"])
        expected |= {"names": names} if names or "names" in certificate else {}
    found += [key for key, value in expected.items() if certificate.get(key) != value]
    listed, allowed = certificate.get("hypotheses", []), hypotheses_of(claim, silent=True)
    if any(h not in listed for h in hypotheses_of(claim, silent=False)) or any(h not in allowed for h in listed):
        found.append("hypotheses")
    if outside_domains(claim, certificate.get("parameters", {})):
        found.append("parameters")
    if certificate.get("kind") == "vectors":
        found += _vector_differences(certificate, claim)
    if certificate.get("kind") == "instance" and not _speaks_of(claim, certificate["instance"]):
        found.append("instance")
    return tuple(found)


def _speaks_of(claim: Claim, instance: Mapping[str, Any]) -> bool:
    """Whether the claim is about runs such as this one: its algorithm, and who takes part, are in no formula of it."""
    from validate import papers
    from validate.scenario import read_scenario

    module = papers.module(claim.paper)
    return module is None or module.cases(claim, read_scenario(instance, exact=False)) is not None


def _vector_differences(certificate: Certificate, claim: Claim) -> list[str]:
    """The same of what is said of vectors; the names of what is claimed and given do not matter."""
    if claim.right is not None and "right" not in certificate:
        return ["right"]
    try:
        stated = vector_statement(claim, certificate["parameters"])
    except ValueError:
        return ["parameters"]
    stated["names"] = measured_names(claim, certificate["parameters"])
    stated["words"] = {h.name: h.statement for h in claim.conditions if h.statement}
    held = {key: certificate[key] for key in ("condition", "given", "names", "words")}
    held |= {key: list(certificate[key]) for key in ("vectors", "values")}
    return [key for key in stated if _nameless(stated[key]) != _nameless(held[key])]


def _nameless(part: Any) -> Any:
    """Conditions without their names; names of vectors and values as they are."""
    if isinstance(part, dict):
        return {key: value for key, value in part.items() if key != "name"}
    return [_nameless(item) if isinstance(item, dict) else item for item in part]
