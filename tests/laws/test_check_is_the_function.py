"""Law: `from validate import check` is the function, whatever was imported before.

It costs nothing until it is asked for: importing `theory` or `validate` loads the standard library alone.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import validate
from theory import catalog


def run(program: str) -> str:
    """What a program prints in a fresh process."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "before",
    ["", "import validate", "import validate.checking as check", "import validate.report, validate.commands.evidence"],
)
def test_check_is_the_function_whatever_was_imported_before(before: str) -> None:
    asked = "from validate import check; import validate; assert validate.check is check; print(type(check).__name__)"
    assert run(f"{before}\n{asked}") == "function"


def test_there_is_no_module_of_its_name() -> None:
    assert not Path(validate.__file__).with_name("check.py").exists()
    assert run("import validate; print(hasattr(validate, 'nonsense'), 'check' in validate.__all__)") == "False True"


@pytest.mark.parametrize("package", ["theory", "validate", "theory.catalog"])
def test_an_import_loads_the_standard_library_alone(package: str) -> None:
    program = f"import sys; before = set(sys.modules); import {package}; print(*(set(sys.modules) - before))"
    loaded = {name.split(".")[0] for name in run(program).split()}
    assert loaded - set(sys.stdlib_module_names) - {"theory", "validate", "sim"} == set()
    assert "sim" not in loaded


def test_claims_are_looked_up_in_the_catalogue() -> None:
    for one in catalog.claims():
        assert catalog.claim(one.id) is one
