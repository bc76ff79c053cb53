"""A law: what is false anywhere is false with its start, or its minimiser, at 0, where nothing else says where 0 is."""

from dataclasses import replace

import pytest

from tests.laws.test_true_and_false import CLAIMS
from validate.examine import examine
from validate.instances.anywhere import anywhere

OPEN = {
    "contraction/dominated-distance": "what breaks it has many minimisers, and which of them is 0 is not asked",
    "knees/in-the-plane": "so has what breaks this",
    "outsiders/clipped": "as where it is anywhere: a quick check climbs from lean quadratics, not far enough",
}
QUICK = ("knees/proximal-root", "knees/slope", "knees/four-each")


def _moved(name):
    """A false claim about a run, with a point that it names at 0."""
    claim = CLAIMS[name][1]
    text = " ".join((claim.statement, *claim.where.values(), *claim.assuming, *claim.standing))
    return replace(claim, assuming=(*claim.assuming, f"norm2({'xstar' if 'xstar' in text else 'x0'}) <= 0"))


FALSE = [name for name, (truth, claim) in CLAIMS.items() if truth == "FALSE" and claim.program is not None]


def _marked(name):
    if name in OPEN:
        return pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xfail(reason=OPEN[name], strict=True)])
    return pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])


@pytest.mark.parametrize("name", [*map(_marked, FALSE)])
def test_a_false_claim_is_refuted_with_a_point_at_0(name, tmp_path):
    claim = _moved(name)
    if anywhere(claim) is None:
        pytest.skip("where it is 0 matters to it, so that it may be true there")
    assert examine(claim, quick=True, out=tmp_path).verdict == "refuted"
