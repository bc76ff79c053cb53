"""Every known claim, by id.

The built-in papers are loaded when they are asked for. Others come from installed distributions through the entry
point group ``fedproof.papers``, whose entries are a `Paper`, or a module with one under the name ``PAPER``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from theory.claim import Claim, Paper

GROUP = "fedproof.papers"
BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "fedavg-svrg": "theory.papers.fedavg_svrg",
        "fedmim": "theory.papers.fedmim",
        "open-fl": "theory.papers.open_fl",
        "perm": "theory.papers.perm",
        "textbook": "theory.papers.textbook",
    }
)

logger = logging.getLogger(__name__)

_added: dict[str, Paper] = {}  # by `add`


def papers() -> tuple[Paper, ...]:
    """All papers: the built-in ones, those of other distributions by their entry points' names, and what was added.

    A distribution whose paper cannot be loaded is left out, with a warning in the log that names it.

    Raises:
        ValueError: when another distribution gives a paper the name of a built-in one or of another's.
    """
    return (*(_built_in(name, module) for name, module in BUILT_IN.items()), *_others(), *_added.values())


def add(paper: Paper) -> None:
    """Make a paper known for as long as this process runs; it takes the place of one that was added under its name.

    Raises:
        ValueError: when a built-in paper or one of another distribution has the name.
    """
    if paper.name in BUILT_IN or any(other.name == paper.name for other in _others()):
        raise ValueError(f"there is a paper {paper.name!r} already; give yours another name")
    _added[paper.name] = paper


def paper(name: str) -> Paper:
    """The paper of that name.

    Raises:
        ValueError: when there is none; it says which come close.
    """
    if name in BUILT_IN:
        return _built_in(name, BUILT_IN[name])
    known = {p.name: p for p in papers()}
    if name not in known:
        raise ValueError(f"unknown paper {name!r}{_suggestion(name, list(known))}")
    return known[name]


def claims(paper: str | None = None) -> tuple[Claim, ...]:
    """The claims of one paper, or of all, in the papers' order.

    Raises:
        ValueError: for an unknown paper.
    """
    chosen = papers() if paper is None else (_paper(paper),)
    return tuple(c for p in chosen for c in p.claims)


def claim(id: str) -> Claim:
    """The claim of that id, such as ``"fedavg-svrg/theorem-v1-eq8"``.

    Raises:
        ValueError: when there is none; it says which come close.
    """
    name = str(id).split("/", 1)[0]
    candidates = _built_in(name, BUILT_IN[name]).claims if name in BUILT_IN else claims()
    for c in candidates:
        if c.id == id:
            return c
    raise ValueError(f"unknown claim {id!r}{_suggestion(str(id), [c.id for c in claims()])}")


_paper = paper  # `claims` has an argument of that name


@cache
def _built_in(name: str, module: str) -> Paper:
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


def _suggestion(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    # many plug-ins make a long list
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"; there are {shown}" if known else "; there are none"
