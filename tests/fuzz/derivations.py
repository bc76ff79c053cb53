"""Derivations as files, changed in one to three places: their claim's too, with the last line or without it.

What kernel and verifier accept is no failure, nor what one of them accepts, if it says the same as before, or if
nothing that it says, its claim among it, is false on exact instances (`tests.derivation.judging`).
"""

import json
import random

from hypothesis import strategies as st

from tests.derivation.judging import files, judge
from tests.fuzz.confirmed import reported
from tests.fuzz.mutation import documents, mostly
from tests.fuzz.target import ACCEPTED, NOT_VALID, RECOMPUTED, REFUSED
from tests.verifier.corruptions import Data, changed_text, corrupted

Example = tuple[str, tuple[tuple[str, int], ...] | bytes]
"""The name of a derivation, and its changes, each with the seed of its draws; or a file made of it."""


def moved(data: Data, seed: int) -> Data:
    """The same lines for another sentence: the claim's is changed, and the last line's with it."""
    statement = changed_text(data["statement"], random.Random(seed))
    *lines, last = data["lines"]
    return {**data, "statement": statement, "lines": [*lines, {**last, "sentence": statement}]}


CHANGES = {"corrupted": corrupted, "moved": moved}


def derivation_files() -> st.SearchStrategy[Example]:
    """One derivation as often as any other."""
    names = st.sampled_from(sorted(files()))
    change = st.tuples(st.sampled_from(("corrupted", "corrupted", "moved")), st.integers(0, 2**32))
    changes = st.lists(change, min_size=1, max_size=3).map(tuple)
    rubbish = names.flatmap(lambda name: st.tuples(st.just(name), documents([files()[name][1]])))
    return mostly(st.tuples(names, changes), rubbish)


def judged(example: Example) -> str:
    """A derivation through both judges.

    Returns:
        `RECOMPUTED` for what both accept, `ACCEPTED` for what one of them does.
    """
    name, changes = example
    claim, data = files()[name]
    if isinstance(changes, bytes):
        content = changes
    else:
        other = data
        for how, seed in changes:
            other = CHANGES[how](other, seed) if other["lines"] else other
        content = json.dumps(other).encode()
    read, report = reported(content)
    accepted = report is not None and report.valid
    if isinstance(changes, bytes) and not accepted:  # the kernel reads no files
        return REFUSED if report is None else NOT_VALID
    found = judge(claim, data, read if accepted else other, accepted)
    assert not found.false, found
    if found.kernel and found.verifier:
        return RECOMPUTED
    if found.kernel or found.verifier:
        return ACCEPTED
    return REFUSED if report is None else NOT_VALID
