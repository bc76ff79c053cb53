"""The quick check, which the quick report shows, says of every claim what the full one says."""

from pathlib import Path

import pytest

from validate.checking import check_all


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["fedavg-svrg", "open-fl", "perm", "fedmim"])
def test_a_quick_verdict_is_the_full_one(paper: str, tmp_path: Path) -> None:
    quick, full = (
        {r.id: r.verdict for r in check_all([paper], quick=quick, out=tmp_path / str(quick))} for quick in (True, False)
    )
    assert quick == full
