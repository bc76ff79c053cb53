"""A law: what is false anywhere is false with its start, or its minimiser, at 0, where nothing else says where 0 is."""

from dataclasses import replace

import pytest

from tests.laws.test_true_and_false import CLAIMS
from validate.examine import examine
from validate.instances.anywhere import anywhere

QUICK = ("knees/proximal-root", "knees/slope", "knees/four-each")


def _moved(name):
    """A false claim about a run, with a point that it names at 0."""
    claim = CLAIMS[name][1]
    text = " ".join((claim.statement, *claim.where.values(), *claim.assuming, *claim.standing))
    return replace(claim, assuming=(*claim.assuming, f"norm2({'xstar' if 'xstar' in text else 'x0'}) <= 0"))


FALSE = [name for name, (truth, claim) in CLAIMS.items() if truth == "FALSE" and claim.program is not None]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in FALSE]
)
def test_a_false_claim_is_refuted_with_a_point_at_0(name, tmp_path):
    claim = _moved(name)
    if anywhere(claim) is None:
        pytest.skip("where it is 0 matters to it, so that it may be true there")
    assert examine(claim, quick=True, out=tmp_path).verdict == "refuted"
