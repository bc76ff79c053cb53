"""What the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.command_line import changed
from validate import survey

# A process of tests asks for the scenarios of one paper and another, in any order: all of them stay.
survey.KEPT = 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with SPEC in spec.json."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.json").write_text(changed(), encoding="utf-8")
    return tmp_path
