"""False theorems of gradient methods, written as a reader would, are refuted; true ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from theory.claim import Paper
from validate.examine import examine

FILES = [Path(__file__).parent.parent / "language" / f"{name}.py" for name in ("gradient_methods", "schedules")]


def claims():
    found = {}
    for path in FILES:
        names: dict[str, object] = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        paper = names["PAPER"]
        assert isinstance(paper, Paper)
        found |= {f"{c.label}" if path == FILES[0] else f"{c.label}-{path.stem}": c for c in paper}
    return found


CLAIMS = claims()
QUICK = ("t3", "t5", "t7", "t10")


@pytest.mark.parametrize("label", [label for label in CLAIMS if label.startswith("f")])
def test_a_false_theorem_is_refuted(label, tmp_path):
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.covered
    assert result.origin in ("pool", "search")


@pytest.mark.parametrize(
    "label", [pytest.param(x, marks=[] if x in QUICK else [pytest.mark.slow]) for x in CLAIMS if x.startswith("t")]
)
def test_a_true_theorem_is_supported(label, tmp_path):
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict == "supported", (result.covered, result.evidence[0].detail)
