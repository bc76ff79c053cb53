"""Every known claim, by id.

The built-in papers are loaded when they are asked for. Others come from installed distributions through the entry
point group ``fedproof.papers``, whose entries are a `Paper`, or a module with one under the name ``PAPER``. Papers of a
collection are known by their names as well, and come together under the collection's; a paper of the same name from
elsewhere takes the place of one of them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache

from theory.claim import Claim, Paper, unread
from theory.landmarks import FAMILIES, LANDMARKS
from theory.papers import BUILT_IN

GROUP = "fedproof.papers"
COLLECTIONS: Mapping[str, Mapping[str, str]] = {"landmarks": LANDMARKS}
"""By its name, the modules of a collection's papers, by the papers' names."""

logger = logging.getLogger(__name__)

_added: dict[str, Paper] = {}  # by `add`


def names() -> tuple[str, ...]:
    """The names of all papers, those of collections last; no paper that comes with fedproof is loaded for that."""
    listed = (*BUILT_IN, *(other.name for other in _others()), *_added)
    return tuple(dict.fromkeys((*listed, *(name for modules in COLLECTIONS.values() for name in modules))))


def papers(collection: str | None = None) -> tuple[Paper, ...]:
    """All papers: the built-in ones, those of other distributions by their entry points' names, and what was added.

    A distribution whose paper cannot be loaded is left out, with a warning in the log that names it.

    Args:
        collection: the papers of this one instead, by family.

    Raises:
        ValueError: when another distribution gives a paper the name of a built-in one or of another's.
    """
    if collection is not None:
        return tuple(sorted(map(paper, COLLECTIONS[collection]), key=lambda one: FAMILIES.index(one.family)))
    return (*(_built_in(name, module) for name, module in BUILT_IN.items()), *_others(), *_added.values())


def add(paper: Paper) -> None:
    """Make a paper known for as long as this process runs; it takes the place of one that was added under its name.

    Raises:
        ValueError: when a built-in paper or one of another distribution has the name.
    """
    if paper.name in BUILT_IN or any(other.name == paper.name for other in _others()):
        raise ValueError(f"there is a paper {paper.name!r} already; give yours another name")
    _added[paper.name] = paper


@contextmanager
def forgetting() -> Iterator[None]:
    """What is added within is forgotten afterwards, and what was known before is known again."""
    before = dict(_added)
    try:
        yield
    finally:
        _added.clear()
        _added.update(before)


def paper(name: str) -> Paper:
    """The paper of that name.

    Raises:
        ValueError: when there is none; it says which come close.
    """
    if name in BUILT_IN:
        return _built_in(name, BUILT_IN[name])
    for known in (*_others(), *_added.values()):
        if known.name == name:
            return known
    for modules in COLLECTIONS.values():
        if name in modules:
            return _built_in(name, modules[name])
    raise ValueError(f"unknown paper {name!r}{suggestion(name, [*names(), *COLLECTIONS])}")


def chosen(name: str) -> tuple[Paper, ...]:
    """The papers of the collection of that name, or the paper of it.

    Raises:
        ValueError: when there is neither.
    """
    return papers(name) if name in COLLECTIONS else (paper(name),)


def claims(paper: str | None = None) -> tuple[Claim, ...]:
    """The claims of one paper, of the papers of a collection, or of all that are in none, in the papers' order.

    Raises:
        ValueError: for an unknown paper.
    """
    return tuple(c for p in (papers() if paper is None else chosen(paper)) for c in p.claims)


def claim(id: str) -> Claim:
    """The claim of that id, such as ``"textbook/sgd-step"``.

    Raises:
        ValueError: when there is none; it says which come close.
    """
    name, _, label = str(id).partition("/")
    known = name in BUILT_IN or name in names()
    for c in paper(name).claims if known else ():
        if c.id == id:
            return c
    if not label and (known or name in COLLECTIONS):
        raise ValueError(f"{id!r} is a paper, not a claim; `fedproof claims --paper {id}` lists its claims")
    every = (c.id for name in (None, *COLLECTIONS) for c in claims(name))
    raise ValueError(f"unknown claim {id!r}{suggestion(str(id), list(every))}")


@cache
def _built_in(name: str, module: str) -> Paper:
    with unread():
        found = _paper_in(importlib.import_module(module))
    if found.name != name:
        raise ValueError(f"{module} holds the paper {found.name!r}, not {name!r}")
    return found


@cache
def _others() -> tuple[Paper, ...]:
    found: dict[str, Paper] = {}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: e.name):
        origin = f"the paper plug-in {entry.name!r} ({entry.value})"
        try:
            new = _paper_in(entry.load())
        except Exception as error:  # whatever a third party's module raises
            logger.warning("%s cannot be loaded and is left out: %s: %s", origin, type(error).__name__, error)
            continue
        if new.name in BUILT_IN and new is _built_in(new.name, BUILT_IN[new.name]):
            continue  # an entry point for what is there anyway
        if new.name in BUILT_IN:
            raise ValueError(f"{origin} has the name of the built-in paper {new.name!r}; rename or uninstall it")
        if new.name in found:
            raise ValueError(f"{origin} has the name of another plug-in's paper, {new.name!r}; uninstall one")
        found[new.name] = new
    return tuple(found.values())


def _paper_in(thing: object) -> Paper:
    found = getattr(thing, "PAPER", thing)
    if not isinstance(found, Paper):
        raise ValueError(f"{thing!r} is neither a Paper nor a module with one under the name PAPER")
    return found


def suggestion(name: str, known: list[str]) -> str:
    """What a message says after an unknown name of a claim or paper: the names that come close, or the first of all.

    A label without its paper, such as ``lemma-a2``, stands for the claims of that label.
    """
    lowered = {k.lower(): k for k in known}
    labels = {k: k.split("/", 1)[1] for k in lowered if "/" in k and "/" not in name}
    close = [k for k, label in labels.items() if label == name.lower()][:3]
    if not close:
        close = get_close_matches(name.lower(), [k for k in lowered if ("/" in k) == ("/" in name)], n=3, cutoff=0.5)
    if not close:
        near = get_close_matches(name.lower(), list(labels.values()), n=3, cutoff=0.6)
        close = [k for label in dict.fromkeys(near) for k in labels if labels[k] == label][:3]
    close = [lowered[k] for k in close or get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)]
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    # many plug-ins make a long list
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"; there are {shown}" if known else "; there are none"
