"""Runs `fedproof` in this process, and reads what it says."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from validate.cli import app

EQ7 = "fedavg-svrg/theorem-v1-eq7"
EQ8 = "fedavg-svrg/theorem-v1-eq8"
SETTINGS = ["L=2", "delta=0.01", "S=5", "M=2", "K=100", "G2=3", "f0_gap=7", "mean_inv_p=13/3"]
SPEC: dict[str, Any] = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1"], "a": ["0"], "p": "1/2"}],
    "step": "1/2",
    "S": 1,
    "M": 1,
    "K": 2,
    "theta0": "4",
}


def call(*arguments: object, given: str | None = None) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


def printed(*arguments: object, given: str | None = None, status: int = 0) -> Any:
    """The JSON on stdout of a command that ends with `status`."""
    result = call(*arguments, "--json", given=given)
    assert result.exit_code == status, result.stderr

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(result.stdout, parse_constant=refuse)


def assigned(*assignments: str) -> list[str]:
    """As options of `bound`."""
    return [word for assignment in assignments for word in ("--set", assignment)]


def changed(**entries: object) -> str:
    """SPEC as text, with other entries; None leaves one out."""
    spec = {**SPEC, **entries}
    return json.dumps({name: value for name, value in spec.items() if value is not None})


def client(**entries: object) -> list[dict[str, object]]:
    """The one client of SPEC, with other entries."""
    return [{**SPEC["clients"][0], **entries}]


def complaint(result: Result) -> str:
    """The one line on stderr of a command that refused its input."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


def command() -> str:
    """The installed console script."""
    found = shutil.which("fedproof", path=str(Path(sys.executable).parent))
    assert found is not None
    return found
