"""How much several refutations matter: a search for each, shared out over processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from theory import catalog
from validate import files
from validate.parallel import over_processes, tell
from validate.repairs.search import repair
from validate.verdict import Result


@dataclass(frozen=True)
class Instead:
    """What came of the search for a repair of one claim.

    Attributes:
        severity: how much it matters that it is false; None where no repair says it.
        line: what to write instead, in a line.
    """

    severity: str | None
    line: str


def instead_of(
    results: Sequence[Result],
    seconds: float,
    processes: int | None = None,
    hear: Callable[[Any], None] = lambda _: None,
) -> dict[str, Instead]:
    """What to write instead of the claims that are refuted, by id.

    Args:
        results: of claims of the catalogue, or of files that are known to this process.
        seconds: of process time for each search.
        processes: at most as many; None for one a core.
        hear: called with what the searches tell.
    """
    ids = [result.id for result in results if result.verdict == "refuted"]
    found = over_processes(
        files.knowing,
        [(files.sources([id.split("/")[0]]), _one, (id, seconds)) for id in ids],
        processes=processes,
        done=lambda at, _: hear(f"{ids[at]}: the search for a repair is over"),
        heard=hear,
        lost=lambda _, how: Instead(None, f"severity not determined: the process of the search {how}"),
    )
    return dict(zip(ids, found, strict=True))


def _one(id: str, seconds: float) -> Instead:
    found = repair(catalog.claim(id), seconds=seconds, tell=tell)
    return Instead(found.severity, found.line)
