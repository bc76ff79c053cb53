"""What docs/getting-started.md and docs/verdicts.md show is what the commands on them print."""

import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.validate.command_line import call

DOCS = Path(__file__).resolve().parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8").replace("\\\n", " ")


def shown(name: str, first: str) -> str:
    """The block of text on a page that begins with these words."""
    blocks = re.findall(r"^```text\n(.*?)^```$", page(name), flags=re.DOTALL | re.MULTILINE)
    (block,) = [block for block in blocks if block.lstrip().startswith(first)]
    return str(block)


def command(name: str, first: str) -> list[str]:
    """The arguments of the command on a page that begins with these words."""
    lines = [line.strip().partition("#")[0] for line in page(name).splitlines() if line.startswith("    fedproof ")]
    (line,) = [line for line in lines if line.startswith(f"fedproof {first}")]
    return shlex.split(line)[1:]


def test_the_bound_to_begin_with(folder: Path) -> None:
    result = call(*command("getting-started.md", "bound "))
    assert result.exit_code == 0
    assert result.stdout == shown("getting-started.md", "fedavg-svrg/theorem-v1-eq8 =")


def test_the_verdict_to_begin_with_and_its_certificate(folder: Path) -> None:
    """The stand-alone verifier prints the lines of docs/verdicts.md in their order, and more where that has `...`."""
    arguments = command("getting-started.md", "check ")
    assert arguments == command("verdicts.md", "check ")
    result = call(*arguments)
    assert result.exit_code == 1
    assert result.stdout == shown("getting-started.md", "id ")

    file = Path(command("verdicts.md", "verify ")[1])
    assert call("verify", file).exit_code == 0
    (alone,) = [line.split() for line in page("verdicts.md").splitlines() if line.startswith("    python -I -S ")]
    assert alone[-1] == file.name
    said = subprocess.run(
        [sys.executable, *alone[1:]], cwd=file.parent, capture_output=True, text=True, check=True
    ).stdout
    parts = shown("verdicts.md", "claim fedavg-svrg/").split("...\n")
    assert len(parts) > 2
    assert re.fullmatch("(?:.*\n)+".join(map(re.escape, parts)), said)


def test_the_arithmetic_by_hand() -> None:
    """docs/verdicts.md: f = x^2/2, steps of 1 from 1, the second snapshot."""
    if "f(x) = x^2/2 (" not in page("verdicts.md"):
        pytest.fail("the page has another instance")

    def gradient(x: int) -> int:
        return x

    second = 1 - 1 * gradient(1)
    assert second == 0
    block = shown("verdicts.md", "claim fedavg-svrg/")
    assert f"the left side is {-1 * gradient(1) * gradient(second)}\n" in block
    assert f"the right side is {Fraction(-1, 2) * gradient(1) ** 2}\n" in block
