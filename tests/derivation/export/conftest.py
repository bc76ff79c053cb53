"""The prelude is compiled once for all processes of a test run."""

from pathlib import Path
from shutil import copytree

import pytest

from tests.laws.shared import folder as common
from tests.laws.shared import shared
from theory.derivation.export import kernels


def prelude() -> Path:
    made = common() / "rocq"
    made.mkdir()
    kernels.compile_prelude(made)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the module's own, with the compiled prelude."""
    return copytree(shared("prelude", prelude), tmp_path_factory.mktemp("rocq"), dirs_exist_ok=True)
