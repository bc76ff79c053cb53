"""Claims chosen, examined one by one, and their verdicts kept.

What the verdict on a claim is, `validate.examine` says; here are targets, processes, and the files of the folder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from theory import catalog
from theory.claim import Claim
from validate import kept
from validate.files import knowing, sources
from validate.files import targets as loaded
from validate.memory import MOST, bounded
from validate.parallel import over_processes, tell
from validate.verdict import Evidence, Result, decide

if TYPE_CHECKING:
    from validate.instances.seen import Seen

log = logging.getLogger(__name__)

Progress = Callable[[str], None]


def check(
    target: str | Claim, *, quick: bool = False, out: str | Path = "fedproof-out", seed: int = 0
) -> Result | list[Result]:
    """The verdict on one claim; of a paper or a file, a list of them.

    Args:
        target: the id of a claim, the name of a paper, ``my_paper.py`` or ``my_paper.py:label``; or a claim itself,
            which need not be the catalogue's: nothing is looked up by its id.
        quick, out, seed: as in `check_all`.

    Raises:
        ValueError, OSError: as `check_all`.
    """
    if isinstance(target, Claim):
        return check_one(target, quick=quick, out=out, seed=seed)
    results = check_all([target], quick=quick, out=out, seed=seed)
    named_one = ("/" in target and not target.endswith(".py")) or ".py:" in target
    return results[0] if named_one else results


def check_one(
    claim: Claim,
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    progress: Progress = log.debug,
    given_up: Callable[[], bool] = lambda: False,
    met: Callable[[Seen], None] = lambda _: None,
    twice: bool = True,
) -> Result:
    """The verdict on a claim as it stands, known to the catalogue or not; arguments as in `check_all` and `examine`.

    Its certificate, or its derivation, is kept in `out`, its verdict is not. A check that ends with an error leaves
    evidence that says so.

    Raises:
        OSError: when the certificate cannot be written.
        GivenUpError: where `given_up`, which is asked between instances, says so, or `met`, which is told of breaks.
    """
    from validate.examine import GivenUpError, examine

    with TemporaryDirectory() as folder:
        try:
            with bounded():
                result = examine(
                    claim, quick=quick, out=folder, seed=seed, tell=progress, given_up=given_up, met=met, twice=twice
                )  # fmt: skip
        except (OSError, GivenUpError):  # files that cannot be written are no matter of the claim
            raise
        except MemoryError:
            result = _ended(claim, f"the check could not be made: it needs more than {MOST >> 30} GiB of memory", quick)
        except ValueError as error:
            result = _ended(claim, f"the check could not be made: {error}", quick)
        except Exception as error:
            log.exception("%s", claim.id)
            text = f"the check ended with a defect of fedproof: {type(error).__name__}: {error}"
            result = _ended(claim, text, quick)
        moved = kept.keep(claim, Path(folder), Path(out), "quick" if quick else "")
    now = {path: moved.get(path, path) for path in (result.certificate, result.proof) if path is not None}
    certificate, proof = now.get(result.certificate or ""), now.get(result.proof or "")
    return replace(result, certificate=certificate, proof=proof, sure=claim.sure)


def _ended(claim: Claim, text: str, quick: bool) -> Result:
    return replace(decide(claim.id, [Evidence("exact", "undecided", text)], quick=quick), sure=claim.sure)


def check_all(
    targets: Sequence[str],
    *,
    quick: bool = False,
    out: str | Path = "fedproof-out",
    seed: int = 0,
    progress: Progress | None = None,
    processes: int | None = 1,
    finished: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """The verdicts on claims, with all their evidence; certificates and verdicts.json are written to `out`.

    Args:
        targets: ids of claims, names of papers or of collections (`theory.catalog.COLLECTIONS`), or ``"all"``, which is
            all papers that are in none; ``my_paper.py`` or ``my_paper.py:label``, a file that is run.
        quick: smaller budgets.
        out: directory of the results; certificates go to its subdirectory ``certificates``.
        seed: of what is drawn.
        progress: called with one line of text.
        processes: claims are shared out over at most as many, those that take longest first; None for one a core, fewer
            where that would not be sooner. A program that asks for more than one must be importable, as
            `multiprocessing` wants it. The verdicts do not depend on it.
        finished: called with each verdict as soon as it is there.

    Returns:
        The verdicts, a paper's together, in the order of the targets.

    Raises:
        ValueError: for a target that is not known, processes < 1; nothing is computed then.
        OSError: for a file that cannot be read.
    """
    chosen: dict[str, list[Claim]] = {}
    for claim in resolve(targets):
        chosen.setdefault(claim.paper, []).append(claim)
    claims = [claim for of_paper in chosen.values() for claim in of_paper]
    effort = efforts(claims, Path(out))
    ordered = sorted(claims, key=lambda claim: -effort[claim.id])
    if processes is None and sum(effort.values()) - max(effort.values()) < WORTH_A_PROCESS:
        processes = 1
    told, number, verdicts = listener(progress), count(1), dict[str, str]()

    def hear(message: Any) -> None:
        if not isinstance(message, str):
            verdicts[message[0]["id"]] = message[0]["verdict"]
        told(message)

    def done(at: int, result: Result) -> None:
        finished(result)
        if len(claims) > 1:
            id = ordered[at].id
            hear(f"{id}: {verdicts.get(id, 'finished')}, {next(number)} of {len(claims)} claims")

    def lost(at: int, how: str) -> Result:
        return without_process(ordered[at].id, quick, Path(out), how, hear)

    tasks = [(sources([claim.paper]), check_by_id, (claim.id, quick, Path(out), seed)) for claim in ordered]
    found = over_processes(knowing, tasks, processes=processes, done=done, heard=hear, lost=lost)
    by_id = {result.id: result for result in found}
    return [by_id[claim.id] for claim in claims]


WORTH_A_PROCESS = 2
"""Effort beside the claim that takes most of it, from which on other processes are begun: that takes a second, too."""


def efforts(claims: Iterable[Claim], out: Path) -> dict[str, int]:
    """How much the check of each will take, by id: nothing in words alone, about a second with its derivation.

    Without one it may be many, and most for what was neither broken nor proved when `out` was last written to.
    """
    try:
        last = kept.known(out)
    except (ValueError, OSError):
        last = {}
    found = {}
    for claim in claims:
        open_still = last.get(claim.id, {}).get("verdict") in ("supported", "undecided")
        said = claim.has_sentence and not claim.in_words
        found[claim.id] = (4 if open_still else 1 if claim.proof is not None else 3) if said else 0
    return found


def check_by_id(id: str, quick: bool, out: Path, seed: int) -> Result:
    """The verdict on a claim of the catalogue.

    Everything goes by name, and what is found by `tell`, so that it can happen in another process: `listener` is to
    hear it.

    Args:
        id: of the claim.
        quick: smaller budgets.
        out: certificates go to its subdirectory ``certificates``.
        seed: of what is drawn.
    """
    claim = catalog.claim(id)
    tell(id)
    result = check_one(claim, quick=quick, out=out, seed=seed, progress=tell)
    tell((kept.entry(result, claim), out))
    return result


def without_process(id: str, quick: bool, out: Path, how: str, hear: Callable[[Any], None]) -> Result:
    """The verdict on a claim whose process ended over it, killed or crashed; it is kept, as others are."""
    claim = catalog.claim(id)
    result = _ended(claim, f"the check could not be made: its process {how}", quick)
    hear((kept.entry(result, claim), out))
    return result


def listener(progress: Progress | None) -> Callable[[Any], None]:
    """For what `check_by_id` tells: its progress is passed on, its verdicts are kept.

    A quick verdict is not kept where there is a full one of the same sentence; that is progress too, once a claim.
    """
    said: set[str] = set()

    def hear(message: Any) -> None:
        if not isinstance(message, str):
            new, out = message
            stays = kept.remember(new, out)
            if stays is None or new["id"] in said:
                return
            said.add(new["id"])
            where = out / kept.VERDICTS
            message = (
                f"{new['id']}: {new['verdict']} by this quick check; {where} keeps {stays['verdict']}, by a full one"
            )
        if progress is not None:
            progress(message)

    return hear


def resolve(targets: Sequence[str]) -> list[Claim]:
    """The claims that ids, names of papers and collections and ``"all"`` stand for, in their order, each once.

    A paper may be in a file, ``my_paper.py``, a claim too, ``my_paper.py:label``; `validate.files.load` runs it.

    Raises:
        ValueError: for a target that is none of these, or no target; for a file as `validate.files.load`.
        OSError: for a file that cannot be read.
    """
    if not targets:
        raise ValueError("targets is empty: give ids of claims, names of papers, or all")
    targets = loaded(targets)
    names = {*catalog.names(), *catalog.COLLECTIONS}
    chosen: dict[str, Claim] = {}
    for target in targets:
        if target == "all":
            found: Iterable[Claim] = catalog.claims()
        elif target in names:
            found = catalog.claims(target)
        elif "/" in target:
            found = [catalog.claim(target)]
        else:
            hint = catalog.suggestion(target, [*sorted(names), "all", *(c.id for c in catalog.claims())])
            raise ValueError(f"target={target!r} is neither the id of a claim nor a paper nor 'all'{hint}")
        chosen |= {c.id: c for c in found}
    return list(chosen.values())
