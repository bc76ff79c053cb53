"""What the command line shows on a terminal, and that nothing of it comes through a pipe."""

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.validate.command_line import command
from validate.commands import output

pytestmark = pytest.mark.usefixtures("folder")

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ROWS = [
    ["fedavg-svrg/theorem-v1-eq7/corrected", "supported", "0.97", "never broken on three thousand instances, as said"],
    ["perm/lemma-5", "refuted", "", "an instance with two clients"],
]
HEADS = ["id", "verdict", "tightness", "evidence"]


def environment(**entries: str) -> dict[str, str]:
    """This process's, without what says something about terminals."""
    dropped = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "OMP_NUM_THREADS": "1", **entries}


def on_terminal(arguments: list[str], columns: int = 80, **entries: str) -> str:
    """What a command writes to a terminal that is its stdout and its stderr."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(arguments, stdin=follower, stdout=follower, stderr=follower, env=environment(**entries))
    os.close(follower)
    said = b""
    try:
        while chunk := os.read(leader, 65536):
            said += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(leader)
        process.wait(timeout=60)
    return said.decode().replace("\r\n", "\n")


def drawn(columns: int, **entries: str) -> str:
    """The table of ROWS on a terminal."""
    program = f"from validate.commands.output import table; table({HEADS!r}, {ROWS!r})"
    return on_terminal([sys.executable, "-c", program], columns, PYTHONPATH=str(Path(__file__).parents[2]), **entries)


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_a_table_fits_the_terminal_and_breaks_no_word(columns: int) -> None:
    said = drawn(columns, TERM="xterm", NO_COLOR="1")
    assert ESCAPE not in said
    assert max(map(len, said.splitlines())) <= columns
    words = {word.strip(",;") for word in said.split()}
    assert {word.strip(",") for row in ROWS for cell in row for word in cell.split()} <= words


def test_colours_are_on_a_terminal_alone_and_can_be_refused() -> None:
    coloured = drawn(200, TERM="xterm-256color")
    assert f"{ESCAPE}[31mrefuted" in coloured
    assert f"{ESCAPE}[1mid" in coloured
    plain = COLOUR.sub("", coloured)
    assert ESCAPE not in plain
    for entries in ({"TERM": "dumb"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}):
        assert drawn(200, **entries) == plain
    assert drawn(200, TERM="dumb", FORCE_COLOR="1") == plain


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["bound", "--help"], ["bond"], ["claims", "--paper", "perm"], ["show", "nonsense"], ["doctor", "x"]],
    ids=" ".join,
)
def test_nothing_but_text_comes_through_a_pipe(arguments: list[str]) -> None:
    done = subprocess.run(
        [command(), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(TERM="xterm-256color", FORCE_COLOR="1", CLICOLOR_FORCE="1", PY_COLORS="1", TTY_COMPATIBLE="1"),
    )
    assert done.stdout + done.stderr
    assert ESCAPE not in done.stdout + done.stderr


def test_progress_is_drawn_on_a_terminal_that_can() -> None:
    program = "from validate.commands.output import bar\nwith bar(8) as tell:\n    tell(4)\n    tell(8)"
    here = str(Path(__file__).parents[2])
    running = [sys.executable, "-c", program]
    assert "100%" in on_terminal(running, TERM="xterm", PYTHONPATH=here)
    uncoloured = on_terminal(running, TERM="xterm", NO_COLOR="1", PYTHONPATH=here)
    assert "100%" in uncoloured
    assert not re.search(r"\x1b\[[0-9;]*[34][0-8]m", uncoloured)
    assert on_terminal(running, TERM="dumb", PYTHONPATH=here) == ""


def test_through_a_pipe_each_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(HEADS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(ROWS)
    assert lines[1].endswith(ROWS[0][3])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_progress_that_cannot_be_shown_ends_nothing() -> None:
    with open("/dev/full", "w") as full:
        arguments = [command(), "check", "textbook/young", "--quick"]
        ended = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=full, env=environment())
    assert ended.returncode == 0
    assert b"proved" in ended.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_bad_input_keeps_its_status_where_no_error_can_be_shown() -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run([command(), "moments", "-"], stdin=subprocess.DEVNULL, stderr=full, env=environment())
    assert ended.returncode == 2
