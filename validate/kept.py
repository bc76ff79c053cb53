"""What a check leaves in its folder: verdicts.json, certificates and derivations, which say what check they are from.

A quick verdict takes the place of no full one of the same sentence: an entry has the digest of the claim's sentence, so
that the verdict on a claim that was changed since is not taken for a verdict on the claim as it stands. A certificate's
name says what wrote it: ``LABEL.json`` a full check, ``LABEL.quick.json`` a quick one, ``LABEL.falsify.json`` a search
of `fedproof falsify`; the first digits of the digest stand in it where the claim is not the catalogue's.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory import catalog
from theory.claim import Claim
from theory.program import Algorithm
from validate.certificate.files import write_whole

if TYPE_CHECKING:
    from validate.verdict import Result

log = logging.getLogger(__name__)

# Of a claim and its parts, what does not change what it says.
TOLD = ("kind", "title", "equation", "source", "sure", "amends", "rests_on", "remarks", "beside")
VERDICTS, CERTIFICATES, DERIVATIONS = "verdicts.json", "certificates", "derivations"
Entry = dict[str, Any]


def digest(claim: Claim) -> str:
    """SHA-256 of what a claim says: everything but what is told about it, such as its title and remarks."""
    return hashlib.sha256(json.dumps(_content(claim)).encode()).hexdigest()


def _content(value: Any) -> Any:
    """A claim, or a part of it, as JSON; the same in every process."""
    if isinstance(value, Algorithm):
        return value.program.to_json()
    if is_dataclass(value):
        said = {f.name: _content(getattr(value, f.name)) for f in fields(value) if f.name not in TOLD}
        return [type(value).__name__, said]
    if isinstance(value, Mapping):
        return [[str(key), _content(entry)] for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return [_content(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


# --- verdicts --------------------------------------------------------------------------------------------------------


def entry(result: Result, claim: Claim) -> Entry:
    """What verdicts.json says of a claim."""
    names = ("id", "verdict", "tightness", "certificate", "covered", "origin", "broken", "quick")
    return {name: getattr(result, name) for name in names} | {"digest": digest(claim)}


def known(folder: Path) -> dict[str, Entry]:
    """The entries that `fedproof check --out FOLDER` left there, by id; none without the file.

    Raises:
        ValueError: when the file is not what `fedproof check` writes.
    """
    path = folder / VERDICTS
    try:
        found = {one["id"]: dict(one) for one in json.loads(path.read_text(encoding="utf-8"))}
        if not all(isinstance(one["verdict"], str) for one in found.values()):
            raise TypeError("a verdict is no text")
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is not a list of verdicts; delete it and run `fedproof check` again") from error
    return found


def current(one: Entry, claim: Claim) -> bool:
    """Whether an entry is about the claim as it stands."""
    return one.get("digest") == digest(claim)


def remember(new: Entry, out: Path) -> Entry | None:
    """Keep a verdict, for `fedproof claims` to show; the file is written whole or not at all, in the catalogue's order.

    Returns:
        The full verdict of the same sentence that stays in place of a quick one; None where the new one is kept.
    """
    path = out / VERDICTS
    try:
        entries = known(out)
    except (ValueError, OSError):
        log.warning("%s is not readable; it is made anew", path)
        entries = {}
    old = entries.get(new["id"])
    if old is not None and new["quick"] and old.get("quick") is False and old.get("digest") == new["digest"]:
        return old
    entries[new["id"]] = new
    names = {str(id).partition("/")[0] for id in entries}
    place = {
        c.id: at for at, c in enumerate(c for name in catalog.names() if name in names for c in catalog.paper(name))
    }
    ordered = sorted(entries.values(), key=lambda one: place.get(str(one["id"]), len(place)))
    out.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(ordered, indent=1).encode())
    return None


# --- certificates ----------------------------------------------------------------------------------------------------


def keep(claim: Claim, folder: Path, out: Path, by: str = "") -> dict[str, str]:
    """Move the certificates of one check, and its derivations, to where they are found.

    Args:
        claim: of which they speak.
        folder: with the files, in its subfolders ``certificates`` and ``derivations``.
        out: they go to its subfolders of these names, and the stand-alone verifier too.
        by: what their names are marked with: "quick", "falsify", or nothing for a full check.

    Returns:
        By where each was, where it is now.
    """
    from validate.certificate import copy_verifier

    marks = [mark for mark in (_changed(claim), by) if mark]
    moved = {}
    for kind in (CERTIFICATES, DERIVATIONS):
        found = sorted((folder / kind).glob("*.json"))
        if found:
            (out / kind).mkdir(parents=True, exist_ok=True)
            copy_verifier(out / kind)
        for path in found:
            target = out / kind / f"{'.'.join([path.stem, *marks])}.json"
            beside = target.with_suffix(".tmp")
            beside.write_bytes(path.read_bytes())
            beside.replace(target)
            moved[str(path)] = str(target)
    return moved


def _changed(claim: Claim) -> str:
    """The first digits of the digest of a claim that is not what the catalogue has under its id; else nothing."""
    try:
        of_the_catalogue = catalog.claim(claim.id)
        same = of_the_catalogue is claim or digest(of_the_catalogue) == digest(claim)
    except ValueError:  # the catalogue has none of that id
        return ""
    return "" if same else digest(claim)[:8]
