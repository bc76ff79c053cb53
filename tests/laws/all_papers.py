"""A quick check of the papers, made once for all tests of a run: of the sentences those that take little work."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.laws.shared import folder, shared
from validate.checking import check_all
from validate.verdict import Result

PAPERS = ("fedavg-svrg", "open-fl", "perm", "fedmim")
SENTENCES = ("lemma-v1-eq13", "lemma-a1", "lemma-a2", "eq-a24", "eq-a25", "lemma-v1-eq10", "remark-rate")
OF_ROUNDS = ("eq2", "eq2/corrected", "lemma-5/lags-from-one", "lemma-7", "eq30", "eq33/from-step")
REMARKS = ("remark-iv1", "remark-iv2", "remark-iv3")
TARGETS = (
    *(f"fedavg-svrg/{label}" for label in SENTENCES),
    *PAPERS[1:3],
    *(f"fedmim/{label}" for label in (*OF_ROUNDS, *REMARKS)),
)


@cache
def checked() -> tuple[list[Result], Path]:
    """What a quick check finds, and the folder with its certificates."""
    out = folder() / "papers"
    return shared("papers", lambda: check_all(TARGETS, quick=True, out=out)), out


@cache
def certificates() -> dict[str, dict[str, Any]]:
    """The certificates of the refuted claims, by id."""
    found, _ = checked()
    return {
        r.id: json.loads(Path(r.certificate).read_text(encoding="utf-8")) for r in found if r.certificate is not None
    }
