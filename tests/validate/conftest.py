"""What the tests of this folder share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.validate.command_line import changed
from validate import files


@pytest.fixture(autouse=True)
def forgetting() -> Iterator[None]:
    """Papers in files that a test loads are known to that test only, as they are to a command's own process."""
    with files.forgetting():
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder with SPEC in spec.json; papers in files that are read there are forgotten after."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.json").write_text(changed(), encoding="utf-8")
    with files.forgetting():
        yield tmp_path
