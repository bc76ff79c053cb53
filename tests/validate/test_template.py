"""What the file that `fedproof new` writes says of itself is so."""

import re
from pathlib import Path

import pytest

from validate import files
from validate.examine import examine
from validate.template import TEMPLATE, written

SAID = {
    label: word
    for word, label in re.findall(r'^# A quick check says: (\w+)[^"]*?claim\(\s*"([a-z-]+)"', TEMPLATE, re.M | re.S)
} | {"jensen": re.findall(r"any number of them. A quick check says: (\w+)", TEMPLATE)[0]}
"""The verdicts by the labels of claims."""
QUICK = ("jensen", "young")


def test_every_claim_of_the_template_has_its_verdict_beside_it() -> None:
    labels = re.findall(r'claim\(\s*"([a-z-]+)"', TEMPLATE)
    assert sorted(SAID) == sorted(labels)
    assert set(SAID.values()) == {"supported", "proved"}


@pytest.mark.parametrize(
    "label", [pytest.param(label, marks=() if label in QUICK else pytest.mark.slow) for label in sorted(SAID)]
)
def test_a_quick_check_says_so(label: str, tmp_path: Path) -> None:
    path = tmp_path / "my_paper.py"
    written(path)
    with files.forgetting():
        claim = next(one for one in files.load(path) if one.label == label)
        result = examine(claim, quick=True, out=tmp_path)
    assert (result.verdict, result.refused) == (SAID[label], "")
