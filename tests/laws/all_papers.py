"""A quick check of the papers, made once for all tests of a run: a few sentences always, all of them in slow tests."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.laws.shared import folder, shared
from validate.checking import check_all
from validate.verdict import Result

PAPERS = ("fedavg-svrg", "open-fl", "perm", "fedmim")
FEW = {
    "fedavg-svrg/lemma-v1-eq10": "refuted with a standing condition; a mean over clients that take part at random",
    "fedavg-svrg/lemma-v1-eq13": "proved, a sum over the rounds",
    "fedavg-svrg/remark-rate": "refuted, a sentence about numbers with a logarithm",
    "fedmim/eq30": "refuted, a strict relation: the sides of a break may be equal",
    "fedmim/remark-iv1": "refuted, roots: its sides are enclosed",
    "open-fl/theorem-3/everywhere": "vacuous",
    "open-fl/eq25": "refuted, clients that join and leave",
    "perm/theorem-1": "refuted with a standing condition, a rate in rounds",
    "perm/lemma-4": "refuted with a standing condition, local steps in any order",
    "perm/proposition-4-eq17": "refuted with a standing condition, matrices",
    "perm/lemma-15": "refuted, mixing weights",
    "perm/eq1": "supported, within two seconds",
}
"""One of each kind, and why; together they take a few seconds."""
SIZES = ["few", pytest.param("all", marks=pytest.mark.slow)]
"""What tests of the papers are run on: values of their argument `size`."""


@cache
def checked(size: str) -> tuple[list[Result], Path]:
    """What a quick check finds, and the folder with its certificates."""
    out = folder() / size
    return shared(size, lambda: check_all(list(FEW) if size == "few" else PAPERS, quick=True, out=out)), out


@cache
def certificates(size: str) -> dict[str, dict[str, Any]]:
    """The certificates of the refuted claims, by id."""
    found, _ = checked(size)
    return {
        r.id: json.loads(Path(r.certificate).read_text(encoding="utf-8")) for r in found if r.certificate is not None
    }
